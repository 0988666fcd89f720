//! Answers requests for metrics and for the health of the daemon: HTTP/1.1, one request a connection, no body is read. Limits on
//! size, time and number keep a client from occupying the daemon.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::Metrics;
use crate::http::{self, Limits};

/// The largest head of a request; Prometheus sends some hundred bytes.
const MAX_HEAD_BYTES: u64 = 8 * 1024;

/// Of each connection, which has one request.
const LIMITS: Limits = Limits {
    connections: 16,
    time: Duration::from_secs(2),
};

/// The media type of the metrics, by its specification.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The media type of other answers.
const TEXT: &str = "text/plain; charset=utf-8";

/// Answers requests until it is dropped.
pub(super) async fn serve(listener: TcpListener, metrics: Metrics) {
    http::accept(listener, LIMITS, |stream, _| {
        respond(stream, metrics.clone())
    })
    .await;
}

/// Answers one request. Errors are the client's: it has gone.
async fn respond(mut stream: TcpStream, metrics: Metrics) -> io::Result<()> {
    let answer = match head_of(&mut stream).await? {
        Some(head) => answer(&head, &metrics),
        None => Answer::text("431 Request Header Fields Too Large"),
    };
    stream.write_all(answer.to_http().as_bytes()).await?;
    stream.shutdown().await
}

/// The head of a request; `None` when it is larger than [`MAX_HEAD_BYTES`].
async fn head_of(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut stream = stream.take(MAX_HEAD_BYTES);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.limit() == 0 {
            return Ok(None);
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Some(head))
}

/// An answer.
struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: String,
}

impl Answer {
    /// One whose body is its status.
    fn text(status: &'static str) -> Self {
        Self {
            status,
            content_type: TEXT,
            body: format!("{status}\n"),
        }
    }

    fn to_http(&self) -> String {
        let Self {
            status,
            content_type,
            body,
        } = self;
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nAllow: GET\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
        )
    }
}

/// The answer to the request with this head.
fn answer(head: &[u8], metrics: &Metrics) -> Answer {
    let line = head.split(|&byte| byte == b'\r').next();
    let line = line.and_then(|line| std::str::from_utf8(line).ok());
    let words: Vec<&str> = line.unwrap_or_default().split(' ').collect();
    let [method, target, version] = words[..] else {
        return Answer::text("400 Bad Request");
    };
    if !version.starts_with("HTTP/1.") {
        return Answer::text("400 Bad Request");
    }
    let path = target.split('?').next().unwrap_or_default();
    let of_state = |is_good| {
        Answer::text(if is_good {
            "200 OK"
        } else {
            "503 Service Unavailable"
        })
    };
    match (path, method) {
        ("/metrics", "GET") => metrics.text().map_or_else(
            |_| Answer::text("500 Internal Server Error"),
            |body| Answer {
                status: "200 OK",
                content_type: OPEN_METRICS,
                body,
            },
        ),
        ("/healthz", "GET") => of_state(metrics.is_alive()),
        ("/readyz", "GET") => of_state(metrics.is_ready()),
        ("/metrics" | "/healthz" | "/readyz", _) => Answer::text("405 Method Not Allowed"),
        _ => Answer::text("404 Not Found"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        sync::watch,
        time::{Instant, advance},
    };

    use super::{
        super::{LONGEST_ROUND, tests::metrics_of},
        *,
    };
    use crate::signal::{Stop, StopSignal};

    #[tokio::test(start_paused = true)]
    async fn paths_methods_and_states_have_their_status() {
        let (round, rounds) = watch::channel(None);
        let stop = Stop::default();
        let metrics = metrics_of(rounds, &stop);
        let check = |request: &str, expected: u16| {
            let answer = answer(format!("{request}\r\n\r\n").as_bytes(), &metrics);
            let status = answer.status.split(' ').next().unwrap();
            assert_eq!(status, expected.to_string(), "{request}");
        };
        check("GET /metrics?a=b HTTP/1.1\r\nHost: x", 200);
        check("GET /metrics HTTP/1.0", 200);
        check("HEAD /metrics HTTP/1.1", 405);
        check("POST /healthz HTTP/1.1", 405);
        check("GET / HTTP/1.1", 404);
        check("POST /metrics/ HTTP/1.1", 404);
        check("GET /metrics HTTP/2.0", 400);
        check("GET /metrics", 400);
        check("", 400);
        // There is no loop.
        check("GET /healthz HTTP/1.1", 503);
        check("GET /readyz HTTP/1.1", 503);
        round.send_replace(Some(Instant::now()));
        check("GET /healthz HTTP/1.1", 200);
        check("GET /readyz HTTP/1.1", 200);
        stop.obey(StopSignal::Terminate);
        check("GET /healthz HTTP/1.1", 200);
        check("GET /readyz HTTP/1.1", 503);
        advance(LONGEST_ROUND).await;
        check("GET /healthz HTTP/1.1", 503);
        check("GET /metrics HTTP/1.1", 200);
    }
}
