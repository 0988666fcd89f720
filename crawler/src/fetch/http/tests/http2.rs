//! HTTP/2 over TLS, spoken when the server offers it.

use std::sync::Arc;

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
async fn stream_that_the_server_ends_is_a_reset() {
    let authority = Authority::new();
    for reason in [
        Reason::ENHANCE_YOUR_CALM,
        Reason::INTERNAL_ERROR,
        Reason::CANCEL,
    ] {
        let server = start(&authority, move |_, _, mut exchange| {
            exchange.1.send_reset(reason);
        });
        let (kind, message) = failure(&fetch(&authority, &server), &url(&server)).await;
        assert_eq!(kind, FetchErrorKind::Reset, "{message}");
        let port = server.address.port();
        assert!(
            message.starts_with(&format!("site.example:{port} ended the HTTP/2 stream: ")),
            "{message}"
        );
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
    let (kind, message) = check(200, 2_000).await;
    assert_eq!(kind, FetchErrorKind::Protocol, "{message}");
}
