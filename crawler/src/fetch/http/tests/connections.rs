//! Connections: kept, lost and opened again.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use super::{
    CAP, Collector, HELLO, SHORT, Script, failure, get_text, impatient, key, server::Server,
    settings,
};
use crate::{
    config::FetchConfig,
    fetch::{BodyWish, Fetch, FetchErrorKind, Request, http::HttpFetch},
    page::BodyEnd,
};

/// Asks for `url` and stops when `bytes` of the body have come.
async fn stop_after(fetch: &HttpFetch, url: &str, bytes: usize) -> (BodyEnd, usize) {
    let request = Request::get(&key(url), CAP);
    let mut sink = Collector::with(move |seen| {
        if seen >= bytes {
            BodyWish::Stop
        } else {
            BodyWish::Read
        }
    });
    let fetched = fetch.fetch(&request, &mut sink).await.unwrap();
    (fetched.end, sink.body.len())
}

#[tokio::test]
async fn connection_is_used_again() {
    let server = Server::always(HELLO);
    let fetch = HttpFetch::new(&settings()).unwrap();
    for _ in 0..2 {
        assert_eq!(get_text(&fetch, &server.url("/")).await, "hello");
        // An unwanted small body keeps the connection.
        let skipped = stop_after(&fetch, &server.url("/"), 0).await;
        assert_eq!(skipped, (BodyEnd::Skipped, 0));
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn unwanted_large_body_is_not_read() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let server = Server::start(move |connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        while connection.send(vec![b'x'; 65536]) {
            counter.fetch_add(65536, Ordering::SeqCst);
        }
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    assert_eq!(
        stop_after(&fetch, &server.url("/"), 0).await,
        (BodyEnd::Skipped, 0)
    );
    let (end, seen) = stop_after(&fetch, &server.url("/"), 1).await;
    assert_eq!(end, BodyEnd::TooLarge, "its length is announced");
    assert_eq!(seen, 0);
    assert!(sent.load(Ordering::SeqCst) < 100_000_000, "{sent:?}");
}

#[tokio::test]
async fn sink_may_stop_inside_a_body() {
    let server = Server::always(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
    );
    let fetch = HttpFetch::new(&settings()).unwrap();
    for _ in 0..2 {
        let (end, seen) = stop_after(&fetch, &server.url("/"), 1).await;
        assert_eq!(end, BodyEnd::Skipped);
        assert!((1..=6).contains(&seen));
    }
    assert_eq!(
        server.connections(),
        1,
        "what was left was small, so the connection lives"
    );
}

/// The keep-alive race: the server may have seen a request that was lost, so the owner of the clocks decides about sending it
/// again.
#[tokio::test]
async fn requests_lost_on_reused_connections_are_sent_once() {
    // The end of the second exchange of a connection.
    let ends: [(Script, FetchErrorKind); 3] = [
        (
            |connection| {
                connection.request();
            },
            FetchErrorKind::Reset,
        ),
        (
            |connection| {
                // The request stays unread, so closing resets the connection.
                let _ = connection.stream.peek(&mut [0; 1]);
            },
            FetchErrorKind::Reset,
        ),
        (
            |connection| {
                connection.request();
                connection.hold();
            },
            FetchErrorKind::Timeout,
        ),
    ];
    for (end, expected) in ends {
        let server = Server::start(move |connection| {
            connection.request();
            connection.send(HELLO);
            end(connection);
        });
        let config = impatient(|config| config.head_timeout = 2 * SHORT);
        let fetch = HttpFetch::new(&config).unwrap();
        assert_eq!(get_text(&fetch, &server.url("/1")).await, "hello");
        let (kind, message) = failure(&fetch, &server.url("/2")).await;
        assert_eq!(kind, expected, "{message}");
        assert_eq!(server.connections(), 1);
        assert_eq!(get_text(&fetch, &server.url("/2")).await, "hello");
    }
}

#[tokio::test]
async fn fresh_connection_that_closes_is_not_tried_again() {
    let server = Server::start(|connection| {
        connection.request();
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    let (kind, message) = failure(&fetch, &server.url("/")).await;
    assert_eq!(kind, FetchErrorKind::Reset);
    assert_eq!(
        message,
        format!(
            "{} closed the connection before the head was complete",
            server.address
        )
    );
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn surplus_bytes_never_become_the_next_answer() {
    let server = Server::start(|connection| {
        while connection.request().is_some() {
            let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
            connection.send(format!("{HELLO}{forged}"));
        }
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    for _ in 0..3 {
        assert_eq!(get_text(&fetch, &server.url("/")).await, "hello");
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn refused_connection_names_host_and_reason() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let fetch = HttpFetch::new(&settings()).unwrap();
    let (kind, message) = failure(&fetch, &format!("http://{address}/")).await;
    assert_eq!(kind, FetchErrorKind::Connect);
    assert_eq!(message, format!("connection refused by {address}"));
}

#[tokio::test]
async fn fixed_address_applies_to_its_port_only() {
    let server = Server::always(HELLO);
    let port = server.address.port();
    let fixed = |port| crate::config::Resolve {
        host: "site.invalid".to_owned(),
        port,
        address: server.address.ip(),
    };
    let config = FetchConfig {
        resolve: vec![fixed(port)],
        start_host: "site.invalid".to_owned(),
        ..settings()
    };
    let fetch = HttpFetch::new(&config).unwrap();
    assert_eq!(
        get_text(&fetch, &format!("http://site.invalid:{port}/")).await,
        "hello"
    );
    assert!(server.requests()[0].contains(&format!("host: site.invalid:{port}\r\n")));
    let (kind, message) = failure(&fetch, "http://site.invalid:1/").await;
    assert_eq!(kind, FetchErrorKind::Dns);
    assert!(
        message.starts_with("no address found for site.invalid (DNS): "),
        "{message}"
    );
}

#[tokio::test]
async fn body_is_handed_on_while_it_arrives() {
    let (seen, waits) = mpsc::channel();
    let waits = Mutex::new(waits);
    let server = Server::start(move |connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
        for (sent, part) in [(0, "one"), (3, "two"), (6, "six")] {
            // Goes on only when the client's sink has received the bytes sent before.
            while waits.lock().unwrap().recv().unwrap() < sent {}
            connection.send(part);
        }
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    let request = Request::get(&key(&server.url("/")), CAP);
    let mut sink = Collector::with(move |bytes| {
        seen.send(bytes).unwrap();
        BodyWish::Read
    });
    let fetched = fetch.fetch(&request, &mut sink).await.unwrap();
    assert_eq!(fetched.end, BodyEnd::Complete);
    assert_eq!(sink.body, b"onetwosix");
}
