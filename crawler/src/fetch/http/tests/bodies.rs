//! Codings and caps, seen from outside. The decoders have tables of their own.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::{get, get_capped, server::Server, settings};
use crate::{fetch::http::HttpFetch, page::BodyEnd};

const TEXT: &str = "hello, hello, hello world";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn gzip_stored(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

async fn check(headers: &str, body: &[u8], expected: &str, end: BodyEnd) {
    let server = Server::always(answer(headers, body));
    let fetch = HttpFetch::new(&settings()).unwrap();
    let answer = get(&fetch, &server.url("/")).await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&answer.body),
        expected,
        "{headers:?}"
    );
    assert_eq!(answer.fetched.end, end, "{headers:?}");
    if answer.fetched.end == BodyEnd::Complete {
        assert_eq!(answer.fetched.wire_bytes, body.len() as u64);
    }
}

#[tokio::test]
async fn codings_are_undone() {
    let undecodable = |name: &str| BodyEnd::Undecodable(name.to_owned());
    let zipped = gzip(TEXT.as_bytes());
    check(
        "Content-Encoding: gzip\r\n",
        &zipped,
        TEXT,
        BodyEnd::Complete,
    )
    .await;
    check(
        "Content-Encoding: X-GZip\r\n",
        &zipped,
        TEXT,
        BodyEnd::Complete,
    )
    .await;
    check(
        "Content-Encoding: identity, gzip\r\nContent-Encoding:\r\n",
        &zipped,
        TEXT,
        BodyEnd::Complete,
    )
    .await;
    check("Content-Encoding: gzip\r\n", b"", "", BodyEnd::Complete).await;
    check(
        "Content-Encoding: gzip\r\n",
        TEXT.as_bytes(),
        "",
        undecodable("gzip"),
    )
    .await;
    check("", TEXT.as_bytes(), TEXT, BodyEnd::Complete).await;
    check(
        "Content-Encoding: gzip\r\n",
        zipped.split_at(20).0,
        "hello, h",
        BodyEnd::CutShort,
    )
    .await;
    check(
        "Content-Encoding: gzip\r\nContent-Encoding: BR\r\n",
        &zipped,
        "",
        undecodable("br"),
    )
    .await;
    check(
        "Content-Encoding: compress\r\n",
        &zipped,
        "",
        undecodable("compress"),
    )
    .await;
}

#[tokio::test]
async fn gzip_named_twice_is_undone_as_often_as_it_was_applied() {
    let once = gzip(TEXT.as_bytes());
    let twice = gzip(&once);
    for headers in [
        "Content-Encoding: gzip, gzip\r\n",
        "Content-Encoding: gzip\r\nContent-Encoding: x-gzip\r\n",
    ] {
        check(headers, &once, TEXT, BodyEnd::Complete).await;
        check(headers, &twice, TEXT, BodyEnd::Complete).await;
        let cut = twice.split_at(twice.len() - 12).0;
        let server = Server::always(answer(headers, cut));
        let fetch = HttpFetch::new(&settings()).unwrap();
        let answer = get(&fetch, &server.url("/")).await.unwrap();
        assert_eq!(answer.fetched.end, BodyEnd::CutShort);
    }
    // Few bytes on the wire, and many between the codings.
    let large = gzip(&gzip_stored(&vec![0; 3_000_000]));
    let server = Server::always(answer("Content-Encoding: gzip, gzip\r\n", &large));
    let fetch = HttpFetch::new(&settings()).unwrap();
    let answer = get_capped(&fetch, &server.url("/"), 1_000_000)
        .await
        .unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::TooLarge);
}

#[tokio::test]
async fn names_that_are_no_codings_leave_the_body_as_it_is() {
    for name in ["none", "UTF-8", "text/html", "8bit", "x-own"] {
        let headers = format!("Content-Encoding: {name}\r\n");
        check(&headers, TEXT.as_bytes(), TEXT, BodyEnd::Complete).await;
    }
    let zipped = gzip(TEXT.as_bytes());
    check(
        "Content-Encoding: utf-8, gzip\r\n",
        &zipped,
        TEXT,
        BodyEnd::Complete,
    )
    .await;
}

#[tokio::test]
async fn broken_coding_is_named() {
    let mut broken = gzip(TEXT.as_bytes());
    let checksum_at = broken.len() - 8;
    broken[checksum_at] ^= 0xff;
    let server = Server::always(answer("Content-Encoding: x-gzip\r\n", &broken));
    let answer = get(&HttpFetch::new(&settings()).unwrap(), &server.url("/"))
        .await
        .unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::Undecodable("gzip".to_owned()));
}

#[tokio::test]
async fn bomb_stops_at_the_cap_in_small_pieces() {
    let bomb = gzip(&vec![0; 64 << 20]);
    let server = Server::always(answer("Content-Encoding: gzip\r\n", &bomb));
    let fetch = HttpFetch::new(&settings()).unwrap();
    let cap = 3 << 20;
    let answer = get_capped(&fetch, &server.url("/"), cap).await.unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::TooLarge);
    assert_eq!(answer.body.len() as u64, cap);
    assert!(answer.largest_piece <= 65536);
}

#[tokio::test]
async fn bytes_around_pieces_have_the_same_cap() {
    let check = async |piece: usize, end: BodyEnd| {
        let chunk = format!("{piece:x}\r\n{}\r\n", "x".repeat(piece));
        let body = chunk.repeat(2_000 / piece) + "0\r\n\r\n";
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let server = Server::once([head.as_bytes(), body.as_bytes()].concat());
        let fetch = HttpFetch::new(&settings()).unwrap();
        let answer = get_capped(&fetch, &server.url("/"), 4_000).await.unwrap();
        assert_eq!(answer.fetched.end, end, "{piece}");
        assert!(answer.fetched.wire_bytes <= 2_000);
    };
    check(1, BodyEnd::TooLarge).await;
    check(10, BodyEnd::Complete).await;
}

#[tokio::test]
async fn body_may_have_exactly_the_cap() {
    let check = async |headers: &str, body: &[u8], cap: u64, seen: usize, end: BodyEnd| {
        let server =
            Server::once([format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat());
        let fetch = HttpFetch::new(&settings()).unwrap();
        let answer = get_capped(&fetch, &server.url("/"), cap).await.unwrap();
        assert_eq!(
            (answer.body.len(), answer.fetched.end),
            (seen, end),
            "{headers:?} {cap}"
        );
    };
    let large = vec![b'x'; 100_000];
    check("", &large, 100_000, 100_000, BodyEnd::Complete).await;
    check("", &large, 99_999, 99_999, BodyEnd::TooLarge).await;
    check(
        "Content-Length: 100000\r\n",
        &large,
        100_000,
        100_000,
        BodyEnd::Complete,
    )
    .await;
    check(
        "Content-Length: 100000\r\n",
        &large,
        99_999,
        0,
        BodyEnd::TooLarge,
    )
    .await;
    check(
        "Content-Encoding: gzip\r\n",
        &gzip(&large),
        100_000,
        100_000,
        BodyEnd::Complete,
    )
    .await;
    check(
        "Content-Encoding: gzip\r\n",
        &gzip(&large),
        99_999,
        99_999,
        BodyEnd::TooLarge,
    )
    .await;
    check("", b"", 0, 0, BodyEnd::Complete).await;
    check("", b"x", 0, 0, BodyEnd::TooLarge).await;
}

/// Bytes that decode to nothing are counted too.
#[tokio::test]
async fn wire_bytes_have_the_same_cap() {
    let mut padded = gzip(b"small");
    padded.resize(200_000, 0);
    let server = Server::once(
        [
            &b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"[..],
            &padded,
        ]
        .concat(),
    );
    let fetch = HttpFetch::new(&settings()).unwrap();
    let answer = get_capped(&fetch, &server.url("/"), 100_000).await.unwrap();
    assert_eq!(
        (&*answer.body, answer.fetched.end),
        (&b"small"[..], BodyEnd::TooLarge)
    );
}
