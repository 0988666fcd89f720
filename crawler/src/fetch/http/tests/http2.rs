//! HTTP/2 over TLS, spoken when the server offers it.

use std::{
    io::{Read as _, Write as _},
    sync::Arc,
};

use h2::{
    Reason, RecvStream,
    server::{self, SendResponse},
};
use hyper::{Request, Response, body::Bytes};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{
    failure, get, get_text,
    server::{Connection, Server},
    tls::{Authority, HOST, client, url},
};
use crate::{
    fetch::{FetchErrorKind, http::HttpFetch},
    page::BodyEnd,
};

type Exchange = (Request<RecvStream>, SendResponse<Bytes>);
type Wire = server::Connection<TlsStream<TcpStream>, Bytes>;

/// A server that hands each request, with its number on the connection, to `answer`.
fn start(
    authority: &Authority,
    answer: impl Fn(&mut Wire, usize, Exchange) + Send + Sync + 'static,
) -> Server {
    let mut config = authority.server(&[HOST], |_| {});
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Server::start(move |connection: &mut Connection| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let stream = connection.stream.try_clone().unwrap();
            stream.set_nonblocking(true).unwrap();
            let stream = TcpStream::from_std(stream).unwrap();
            let stream = acceptor.accept(stream).await.unwrap();
            let mut wire = server::handshake(stream).await.unwrap();
            let mut number = 0;
            while let Some(Ok(exchange)) = wire.accept().await {
                answer(&mut wire, number, exchange);
                number += 1;
            }
        });
    })
}

fn hello((request, mut answer): Exchange) {
    assert_eq!(
        request.headers()["accept-encoding"],
        "gzip, br, zstd, deflate"
    );
    let head = Response::builder()
        .header("X-Path", request.uri().path())
        .body(())
        .unwrap();
    let mut body = answer.send_response(head, false).unwrap();
    body.send_data(Bytes::from_static(b"hello"), true).unwrap();
}

fn fetch(authority: &Authority, server: &Server) -> HttpFetch {
    HttpFetch::new(&client(Some(authority), server)).unwrap()
}

#[tokio::test]
async fn requests_share_one_connection() {
    let authority = Authority::new();
    let server = start(&authority, |_, _, exchange| hello(exchange));
    let (fetch, url) = (fetch(&authority, &server), url(&server));
    assert_eq!(get_text(&fetch, &url).await, "hello");
    let (first, second) = tokio::join!(get_text(&fetch, &url), get_text(&fetch, &url));
    assert_eq!([first, second], ["hello"; 2]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn refused_stream_is_repeated() {
    let authority = Authority::new();
    let server = start(&authority, |_, number, mut exchange| match number {
        0 => exchange.1.send_reset(Reason::REFUSED_STREAM),
        _ => hello(exchange),
    });
    assert_eq!(
        get_text(&fetch(&authority, &server), &url(&server)).await,
        "hello"
    );
}

#[tokio::test]
async fn connection_that_goes_away_between_requests_is_replaced() {
    let authority = Authority::new();
    let server = start(&authority, |wire, _, exchange| {
        hello(exchange);
        wire.graceful_shutdown();
    });
    let fetch = fetch(&authority, &server);
    for _ in 0..3 {
        assert_eq!(get_text(&fetch, &url(&server)).await, "hello");
    }
}

#[tokio::test]
async fn streams_that_the_server_ends_are_faults() {
    let authority = Authority::new();
    for (reason, expected) in [
        (Reason::ENHANCE_YOUR_CALM, FetchErrorKind::Reset),
        (Reason::INTERNAL_ERROR, FetchErrorKind::Reset),
        (Reason::CANCEL, FetchErrorKind::Reset),
        (Reason::HTTP_1_1_REQUIRED, FetchErrorKind::Http1Next),
        (Reason::PROTOCOL_ERROR, FetchErrorKind::Http1Next),
    ] {
        let server = start(&authority, move |_, _, mut exchange| {
            exchange.1.send_reset(reason);
        });
        let (kind, message) = failure(&fetch(&authority, &server), &url(&server)).await;
        assert_eq!(kind, expected, "{message}");
        if expected == FetchErrorKind::Reset {
            let port = server.address.port();
            let start = format!("site.example:{port} ended the HTTP/2 stream: ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}

#[tokio::test]
async fn connection_that_the_server_ends_is_a_reset() {
    let authority = Authority::new();
    let server = start(&authority, |wire, _, _| {
        wire.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
    });
    assert_eq!(
        failure(&fetch(&authority, &server), &url(&server)).await.0,
        FetchErrorKind::Reset
    );
}

#[tokio::test]
async fn broken_bodies_are_cut_short() {
    let authority = Authority::new();
    let server = start(&authority, |_, _, (_, mut answer)| {
        let mut body = answer.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"hello"), false).unwrap();
        body.send_reset(Reason::INTERNAL_ERROR);
    });
    match get(&fetch(&authority, &server), &url(&server)).await {
        Ok(answer) => assert_eq!(answer.fetched.end, BodyEnd::CutShort),
        // The reset may overtake the head.
        Err(error) => assert_eq!(error.kind(), FetchErrorKind::Reset),
    }
    let server = start(&authority, |_, _, (_, mut answer)| {
        let head = Response::builder()
            .header("Content-Length", "10")
            .body(())
            .unwrap();
        let mut body = answer.send_response(head, false).unwrap();
        body.send_data(Bytes::from_static(b"hello"), true).unwrap();
    });
    let short = get(&fetch(&authority, &server), &url(&server))
        .await
        .unwrap();
    assert_eq!(short.fetched.end, BodyEnd::CutShort);
}

#[tokio::test]
async fn head_over_the_limit_is_refused() {
    let authority = Authority::new();
    let check = async |lines: usize, bytes: usize| {
        let server = start(&authority, move |_, _, (_, mut answer)| {
            let mut head = Response::builder();
            for number in 0..lines {
                head = head.header(format!("x-{number}"), "y".repeat(bytes));
            }
            let _ = answer.send_response(head.body(()).unwrap(), true);
        });
        failure(&fetch(&authority, &server), &url(&server)).await
    };
    let (kind, message) = check(257, 1).await;
    assert_eq!(kind, FetchErrorKind::Protocol, "{message}");
    // The client does not tell it from other faults, so it is tried by HTTP/1.1.
    let (kind, message) = check(200, 2_000).await;
    assert_eq!(kind, FetchErrorKind::Http1Next, "{message}");
}

/// A field of a head in HPACK, neither indexed nor compressed (RFC 7541 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    [
        &[0, length(name)],
        name.as_bytes(),
        &[length(value)],
        value.as_bytes(),
    ]
    .concat()
}

/// A frame of this type with these flags (RFC 9113 4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Apache and others send `Upgrade: h2` also where it is spoken already, which RFC 9113 8.2.2 forbids.
#[tokio::test]
async fn faulty_servers_are_asked_by_http_1() {
    for (name, value) in [("upgrade", "h2"), ("connection", "keep-alive"), ("X", "1")] {
        let authority = Authority::new();
        let mut config = authority.server(&[HOST], |_| {});
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let config = Arc::new(config);
        let server = Server::start(move |connection: &mut Connection| {
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::Stream::new(&mut tls, &mut connection.stream);
            let mut asked = [0; 1_024];
            let count = stream.read(&mut asked).unwrap();
            let text = String::from_utf8_lossy(&asked[..count]).into_owned();
            let answer = if text.starts_with("PRI * HTTP/2.0") {
                let head = [vec![0x88], field(name, value)].concat();
                [frame(4, 0, 0, &[]), frame(1, 5, 1, &head)].concat()
            } else {
                b"HTTP/1.1 200 OK\r\nUpgrade: h2\r\nContent-Length: 5\r\n\r\nhello".to_vec()
            };
            let _ = stream.write_all(&answer);
            while matches!(stream.read(&mut asked), Ok(count) if count > 0) {}
        });
        let (fetch, url) = (fetch(&authority, &server), url(&server));
        let (kind, message) = failure(&fetch, &url).await;
        assert_eq!(kind, FetchErrorKind::Http1Next, "{message}");
        assert!(
            message.ends_with("the next request uses HTTP/1.1"),
            "{message}"
        );
        assert_eq!(get_text(&fetch, &url).await, "hello");
    }
}
