//! Answers that break off, stall, or are not HTTP.

use std::time::Duration;

use super::{CAP, SHORT, failure, get, get_text, impatient, server::Server, settings};
use crate::{
    config::FetchConfig,
    fetch::{FetchErrorKind, http::HttpFetch},
    page::BodyEnd,
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
    let fetch = HttpFetch::new(&settings()).unwrap();
    let (kind, message) = failure(&fetch, &server.url("/")).await;
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
    let fetch = HttpFetch::new(&settings()).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer.body), body, "{shown:?}");
    assert_eq!(answer.fetched.end, end, "{shown:?}");
}

async fn check_timeout(config: FetchConfig, server: &Server, expected: &str) {
    let fetch = HttpFetch::new(&config).unwrap();
    let (kind, message) = failure(&fetch, &server.url("/")).await;
    assert_eq!(kind, FetchErrorKind::Timeout, "{message}");
    assert_eq!(message, expected.replace("URL", &server.url("/")));
}

#[tokio::test]
async fn silence_ends_with_the_head_limit() {
    let server = Server::start(|connection| {
        connection.request();
        connection.hold();
    });
    let config = impatient(|config| config.head_timeout = SHORT);
    check_timeout(config, &server, "no complete head from URL within 150ms").await;
}

#[tokio::test]
async fn head_a_byte_at_a_time_ends_with_the_head_limit() {
    let server = Server::start(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nX: ");
        while connection.send("x") && connection.pause(Duration::from_millis(5)) {}
    });
    let config = impatient(|config| config.head_timeout = SHORT);
    check_timeout(config, &server, "no complete head from URL within 150ms").await;
}

#[tokio::test]
async fn endless_informational_answers_end_with_the_head_limit() {
    let server = Server::start(|connection| {
        connection.request();
        while connection.send("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n") {}
    });
    let config = impatient(|config| config.head_timeout = SHORT);
    check_timeout(config, &server, "no complete head from URL within 150ms").await;
}

#[tokio::test]
async fn total_limit_holds_before_the_head() {
    let server = Server::start(|connection| {
        connection.request();
        connection.hold();
    });
    let config = impatient(|config| config.total_timeout = SHORT);
    check_timeout(config, &server, "no answer from URL within 150ms").await;
}

#[tokio::test]
async fn few_informational_answers_are_skipped() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n".repeat(5);
    check_body(
        format!("{hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        "ok",
        BodyEnd::Complete,
    )
    .await;
    check_body(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok",
        "ok",
        BodyEnd::Complete,
    )
    .await;
}

#[tokio::test]
async fn stalled_body_is_cut_short() {
    let server = Server::start(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
        connection.hold();
    });
    let fetch = HttpFetch::new(&impatient(|config| config.idle_timeout = SHORT)).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::CutShort);
    assert_eq!(answer.body, b"hello");
    assert_eq!(answer.fetched.wire_bytes, 5);
}

#[tokio::test]
async fn trickling_body_does_not_disable_the_total_limit() {
    let server = Server::start(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while connection.send("x") && connection.pause(Duration::from_millis(5)) {}
    });
    let config = impatient(|config| {
        config.total_timeout = 2 * SHORT;
        config.idle_timeout = 100 * SHORT;
    });
    let answer = get(&HttpFetch::new(&config).unwrap(), &server.url("/"))
        .await
        .unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::CutShort);
    assert!(answer.body.len() > 1);
}

#[tokio::test]
async fn body_without_a_length_ends_with_the_connection() {
    check_body("HTTP/1.1 200 OK\r\n\r\nhello", "hello", BodyEnd::Complete).await;
    check_body("HTTP/1.0 200 OK\r\n\r\nhello", "hello", BodyEnd::Complete).await;
    check_body(
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "",
        BodyEnd::Complete,
    )
    .await;
    check_body("HTTP/1.1 204 No Content\r\n\r\n", "", BodyEnd::Complete).await;
    check_body(
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 99999999\r\n\r\n",
        "",
        BodyEnd::Complete,
    )
    .await;
}

#[tokio::test]
async fn body_shorter_than_its_length_is_cut_short() {
    check_body(
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
        "hello",
        BodyEnd::CutShort,
    )
    .await;
    check_body(
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        "",
        BodyEnd::CutShort,
    )
    .await;
}

#[tokio::test]
async fn body_longer_than_its_length_is_taken_to_its_length() {
    check_body(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world",
        "hello",
        BodyEnd::Complete,
    )
    .await;
}

#[tokio::test]
async fn unusable_lengths_are_refused() {
    let with = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\nhello");
    check_refused(
        with("Content-Length: 5\r\nContent-Length: 6"),
        FetchErrorKind::Protocol,
    )
    .await;
    check_refused(with("Content-Length: 5, 6"), FetchErrorKind::Protocol).await;
    check_refused(with("Content-Length: -5"), FetchErrorKind::Protocol).await;
    check_refused(with("Content-Length: +5"), FetchErrorKind::Protocol).await;
    check_refused(
        with("Content-Length: 99999999999999999999"),
        FetchErrorKind::Protocol,
    )
    .await;
    check_refused(with("Content-Length: 0x5"), FetchErrorKind::Protocol).await;
}

#[tokio::test]
async fn length_does_not_matter_beside_chunks() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    check_body(answer, "hello", BodyEnd::Complete).await;
}

#[tokio::test]
async fn broken_chunks_are_cut_short() {
    let with =
        |chunks: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    check_body(with("5\r\nhello\r\n0\r\n\r\n"), "hello", BodyEnd::Complete).await;
    check_body(
        with("5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"),
        "hello",
        BodyEnd::Complete,
    )
    .await;
    check_body(with("5\r\nhello\r\n"), "hello", BodyEnd::CutShort).await;
    check_body(with("5\r\nhel"), "hel", BodyEnd::CutShort).await;
    check_body(with("5\r\nhello\r\nzz\r\n"), "hello", BodyEnd::CutShort).await;
    check_body(with("-5\r\nhello\r\n"), "", BodyEnd::CutShort).await;
    check_body(
        with("fffffffffffffffff\r\nhello\r\n"),
        "",
        BodyEnd::CutShort,
    )
    .await;
    check_body(with("5\r\nhelloXX\r\n"), "hello", BodyEnd::CutShort).await;
    let long_extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(2 << 20));
    check_body(with(&long_extension), "", BodyEnd::CutShort).await;
    let trailers = format!(
        "5\r\nhello\r\n0\r\n{}\r\n",
        "X-Y: zzzzzzzzzz\r\n".repeat(10_000)
    );
    check_body(with(&trailers), "hello", BodyEnd::CutShort).await;
}

#[tokio::test]
async fn answer_that_is_not_http_is_a_protocol_error() {
    check_refused("<html>HTTP/0.9</html>\r\n", FetchErrorKind::Protocol).await;
    check_refused(
        "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        FetchErrorKind::Protocol,
    )
    .await;
    check_refused("220 mail.example ESMTP\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/3.0 200 OK\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/1.1 2000 OK\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/1.1 abc OK\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/1.1 -20 OK\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/1.1 999 Hello\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused("HTTP/1.1 600 Hello\r\n\r\n", FetchErrorKind::Protocol).await;
    check_refused(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        FetchErrorKind::Protocol,
    )
    .await;
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
        let fetch = HttpFetch::new(&settings()).unwrap();
        let answer = get(&fetch, &server.url("/")).await;
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
async fn incomplete_head_is_a_reset() {
    check_refused("", FetchErrorKind::Reset).await;
    check_refused("HTTP/1.1 200", FetchErrorKind::Reset).await;
    check_refused(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        FetchErrorKind::Reset,
    )
    .await;
}

#[tokio::test]
async fn connection_reset_before_the_head_is_a_reset() {
    let server = Server::start(|connection| {
        // The request stays unread, so closing resets the connection.
        connection.stream.peek(&mut [0; 1]).unwrap();
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    assert_eq!(
        failure(&fetch, &server.url("/")).await.0,
        FetchErrorKind::Reset
    );
}

#[tokio::test]
async fn connection_reset_inside_the_body_cuts_it_short() {
    let server = Server::start(|connection| {
        connection.stream.peek(&mut [0; 1]).unwrap();
        connection.send("HTTP/1.1 200 OK\r\n\r\nhello");
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    match get(&fetch, &server.url("/")).await {
        Ok(answer) => assert_eq!(answer.fetched.end, BodyEnd::CutShort),
        // The reset may overtake the head.
        Err(error) => assert_eq!(error.kind(), FetchErrorKind::Reset),
    }
}

#[tokio::test]
async fn head_limits_are_256_lines_and_256_kib() {
    let lines = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\nok", "X-A: b\r\n".repeat(count));
    let bytes = |count: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\nok", "y".repeat(count));
    check_body(lines(256), "ok", BodyEnd::Complete).await;
    check_body(bytes(260_000), "ok", BodyEnd::Complete).await;
    check_refused(lines(257), FetchErrorKind::Protocol).await;
    check_refused(lines(100_000), FetchErrorKind::Protocol).await;
    check_refused(bytes(263_000), FetchErrorKind::Protocol).await;
    check_refused(bytes(4 << 20), FetchErrorKind::Protocol).await;
}

#[tokio::test]
async fn too_many_headers_are_called_so() {
    for count in [257, 1_000, 4_000] {
        let head = format!("HTTP/1.1 200 OK\r\n{}\r\nok", "X-A: b\r\n".repeat(count));
        let server = Server::once(head.into_bytes());
        let fetch = HttpFetch::new(&settings()).unwrap();
        let (kind, message) = failure(&fetch, &server.url("/")).await;
        assert_eq!(kind, FetchErrorKind::Protocol);
        let expected = format!("{}: more than 256 response headers", server.url("/"));
        assert_eq!(message, expected);
    }
}

#[tokio::test]
async fn endless_head_is_refused() {
    let server = Server::start(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\nX: ");
        while connection.send(vec![b'y'; 65536]) {}
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    assert_eq!(
        failure(&fetch, &server.url("/")).await.0,
        FetchErrorKind::Protocol
    );
}

#[tokio::test]
async fn endless_body_is_cut_at_the_cap_and_the_connection_closed() {
    let server = Server::start(|connection| {
        connection.request();
        connection.send("HTTP/1.1 200 OK\r\n\r\n");
        while connection.send(vec![b'y'; 65536]) {}
    });
    let fetch = HttpFetch::new(&settings()).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::TooLarge);
    assert_eq!(answer.body.len() as u64, CAP);
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
    let fetch = HttpFetch::new(&settings()).unwrap();
    assert_eq!(
        get(&fetch, &server.url("/")).await.unwrap().fetched.end,
        BodyEnd::CutShort
    );
    assert_eq!(get_text(&fetch, &server.url("/")).await, "ok");
}
