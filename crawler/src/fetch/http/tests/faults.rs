//! Answers that break off, stall, or are not HTTP.

use std::time::Duration;

use super::{
    SHORT, failure, fetcher, get, get_text, impatient,
    server::{Connection, Server},
};
use crate::{
    config::FetchConfig,
    fetch::{FetchErrorKind, http::HttpFetch},
    page::BodyEnd::{self, Complete, CutShort},
};

/// `answer`, then the end of the connection: no usable head.
async fn check_refused(answer: impl Into<Vec<u8>>, expected: FetchErrorKind) {
    let answer = answer.into();
    let shown = String::from_utf8_lossy(&answer)
        .chars()
        .take(80)
        .collect::<String>();
    let server = Server::start(move |connection| {
        connection.request();
        connection.send(&answer);
        connection.finish();
        connection.hold();
    });
    let (kind, message) = failure(&fetcher(), &server.url("/")).await;
    assert_eq!(kind, expected, "{shown:?}: {message}");
    assert!(message.contains(&server.address.to_string()), "{message}");
    let first = message.chars().next().unwrap();
    assert!(
        !first.is_uppercase() && !message.ends_with('.'),
        "{message}"
    );
}

/// `answer`, then the end of the connection: the body so far, and how it ended.
async fn check_body(answer: impl Into<Vec<u8>>, body: &str, end: BodyEnd) {
    let answer = answer.into();
    let shown = String::from_utf8_lossy(&answer)
        .chars()
        .take(120)
        .collect::<String>();
    let server = Server::once(answer);
    let answer = get(&fetcher(), &server.url("/")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer.body), body, "{shown:?}");
    assert_eq!(answer.fetched.end, end, "{shown:?}");
}

/// A server that runs `script` after each request.
fn after_request(script: fn(&mut Connection)) -> Server {
    Server::start(move |connection| {
        connection.request();
        script(connection);
    })
}

async fn check_timeout(config: FetchConfig, script: fn(&mut Connection), expected: &str) {
    let server = after_request(script);
    let fetch = HttpFetch::new(&config).unwrap();
    let (kind, message) = failure(&fetch, &server.url("/")).await;
    assert_eq!(kind, FetchErrorKind::Timeout, "{message}");
    assert_eq!(message, expected.replace("URL", &server.url("/")));
}

#[tokio::test]
async fn incomplete_heads_end_with_the_limits() {
    // Silence, a byte at a time, and endless informational answers.
    let scripts: [fn(&mut Connection); 3] = [
        Connection::hold,
        |connection| {
            connection.send("HTTP/1.1 200 OK\r\nX: ");
            while connection.send("x") && connection.pause(Duration::from_millis(5)) {}
        },
        |connection| {
            while connection.send("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n") {}
        },
    ];
    for script in scripts {
        let config = impatient(|config| config.head_timeout = SHORT);
        check_timeout(config, script, "no complete head from URL within 150ms").await;
    }
    let config = impatient(|config| config.total_timeout = SHORT);
    check_timeout(config, Connection::hold, "no answer from URL within 150ms").await;
}

#[tokio::test]
async fn stalled_body_is_cut_short() {
    let server = after_request(|connection| {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
        connection.hold();
    });
    let fetch = HttpFetch::new(&impatient(|config| config.idle_timeout = SHORT)).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(answer.fetched.end, CutShort);
    assert_eq!(answer.body, b"hello");
    assert_eq!(answer.fetched.wire_bytes, 5);
}

#[tokio::test]
async fn trickling_body_does_not_disable_the_total_limit() {
    let server = after_request(|connection| {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while connection.send("x") && connection.pause(Duration::from_millis(5)) {}
    });
    let config = impatient(|config| {
        config.total_timeout = 2 * SHORT;
        config.idle_timeout = 100 * SHORT;
    });
    let fetch = HttpFetch::new(&config).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(answer.fetched.end, CutShort);
    assert!(answer.body.len() > 1);
}

#[tokio::test]
async fn bodies_end_with_their_length_or_the_connection() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n".repeat(5);
    let hinted = format!("{hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    check_body(hinted, "ok", Complete).await;
    check_body("HTTP/1.0 200 OK\r\n\r\nhello", "hello", Complete).await;
    for (answer, body, end) in [
        ("100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok", "ok", Complete),
        ("200 OK\r\n\r\nhello", "hello", Complete),
        ("200 OK\r\nContent-Length: 0\r\n\r\n", "", Complete),
        ("204 No Content\r\n\r\n", "", Complete),
        ("304 Same\r\nContent-Length: 99999999\r\n\r\n", "", Complete),
        ("200 OK\r\nContent-Length: 9\r\n\r\nhell", "hell", CutShort),
        ("200 OK\r\nContent-Length: 10\r\n\r\n", "", CutShort),
        ("200 OK\r\nContent-Length: 4\r\n\r\nhello", "hell", Complete),
    ] {
        check_body(format!("HTTP/1.1 {answer}"), body, end).await;
    }
}

#[tokio::test]
async fn unusable_lengths_are_refused() {
    for lines in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: -5",
        "Content-Length: +5",
        "Content-Length: 99999999999999999999",
        "Content-Length: 0x5",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\nhello");
        check_refused(answer, FetchErrorKind::Protocol).await;
    }
}

#[tokio::test]
async fn broken_chunks_are_cut_short() {
    let long_extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(2 << 20));
    let trailers = "X-Y: zzzzzzzzzz\r\n".repeat(10_000);
    let long_trailers = format!("5\r\nhello\r\n0\r\n{trailers}\r\n");
    for (chunks, body, end) in [
        ("5\r\nhello\r\n0\r\n\r\n", "hello", Complete),
        ("5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n", "hello", Complete),
        ("5\r\nhello\r\n", "hello", CutShort),
        ("5\r\nhel", "hel", CutShort),
        ("5\r\nhello\r\nzz\r\n", "hello", CutShort),
        ("-5\r\nhello\r\n", "", CutShort),
        ("fffffffffffffffff\r\nhello\r\n", "", CutShort),
        ("5\r\nhelloXX\r\n", "hello", CutShort),
        (long_extension.as_str(), "", CutShort),
        (long_trailers.as_str(), "hello", CutShort),
    ] {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check_body(format!("{head}{chunks}"), body, end).await;
    }
    // A length does not matter beside chunks.
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    check_body(answer, "hello", Complete).await;
}

#[tokio::test]
async fn answer_that_is_not_http_is_refused() {
    for answer in [
        "<html>HTTP/0.9</html>\r\n",
        "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        "220 mail.example ESMTP\r\n",
        "HTTP/3.0 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 -20 OK\r\n\r\n",
        "HTTP/1.1 999 Hello\r\n\r\n",
        "HTTP/1.1 600 Hello\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ] {
        check_refused(answer, FetchErrorKind::Protocol).await;
    }
    let incomplete = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n";
    for answer in ["", "HTTP/1.1 200", incomplete] {
        check_refused(answer, FetchErrorKind::Reset).await;
    }
}

#[tokio::test]
async fn heads_are_read_as_browsers_read_them() {
    for line in [
        "X-Folded: one\r\n two\r\n\tthree",
        "X-Space : a",
        "no colon",
        "<b>Warning</b>:  Cannot modify header information in /a.php on line 2",
        "X Y: a",
        "X(Y): a",
        ": no name",
        "Set-Cookie: a=\u{1}b",
    ] {
        let answer =
            format!("HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 5\r\nX-Last: 1\r\n\r\nhello");
        let server = Server::once(answer.into_bytes());
        let answer = get(&fetcher(), &server.url("/")).await;
        let answer = answer.unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert_eq!(answer.body, b"hello", "{line:?}");
        let headers = &answer.fetched.head.headers;
        assert_eq!(headers.text("x-last"), Some("1"), "{line:?}");
        let folded = headers
            .text("x-folded")
            .map(|text| text.split_whitespace().count());
        assert_eq!(folded, line.contains("Folded").then_some(3), "{line:?}");
        assert_eq!(
            headers.text("x-space"),
            line.contains("Space").then_some("a")
        );
    }
}

#[tokio::test]
async fn connection_reset_inside_the_body_cuts_it_short() {
    let server = Server::start(|connection| {
        connection.stream.peek(&mut [0; 1]).unwrap();
        connection.send("HTTP/1.1 200 OK\r\n\r\nhello");
    });
    match get(&fetcher(), &server.url("/")).await {
        Ok(answer) => assert_eq!(answer.fetched.end, CutShort),
        // The reset may overtake the head.
        Err(error) => assert_eq!(error.kind(), FetchErrorKind::Reset),
    }
}

#[tokio::test]
async fn head_limits_are_256_lines_and_256_kib() {
    let lines = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\nok", "X-A: b\r\n".repeat(count));
    let bytes = |count: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\nok", "y".repeat(count));
    check_body(lines(256), "ok", Complete).await;
    check_body(bytes(260_000), "ok", Complete).await;
    check_refused(bytes(263_000), FetchErrorKind::Protocol).await;
    check_refused(lines(100_000), FetchErrorKind::Protocol).await;
    for count in [257, 1_000, 4_000] {
        let server = Server::once(lines(count));
        let (kind, message) = failure(&fetcher(), &server.url("/")).await;
        assert_eq!(kind, FetchErrorKind::Protocol);
        let expected = format!("{}: more than 256 response headers", server.url("/"));
        assert_eq!(message, expected);
    }
}

#[tokio::test]
async fn bad_answer_does_not_spoil_the_next_one() {
    let server = Server::start(|connection| {
        connection.request();
        if connection.number == 0 {
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
        } else {
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
        connection.hold();
    });
    let fetch = fetcher();
    let bad = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(bad.fetched.end, CutShort);
    assert_eq!(get_text(&fetch, &server.url("/")).await, "ok");
}
