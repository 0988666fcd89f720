//! Codings and caps, seen from outside. The decoders have tables of their own.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::{Answer, CAP, fetcher, get_capped, server::Server};
use crate::page::BodyEnd;

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

/// Reads an answer, with this cap of its body.
async fn read(answer: Vec<u8>, max_body_bytes: u64) -> Answer {
    let server = Server::once(answer);
    get_capped(&fetcher(), &server.url("/"), max_body_bytes)
        .await
        .unwrap()
}

async fn check(codings: &[&str], body: &[u8], expected: &str, end: BodyEnd) {
    let lines = codings
        .iter()
        .map(|coding| format!("Content-Encoding: {coding}\r\n"));
    let headers = lines.collect::<Vec<_>>().concat();
    let answer = read(answer(&headers, body), CAP).await;
    let text = String::from_utf8_lossy(&answer.body);
    assert_eq!(text, expected, "{codings:?}");
    assert_eq!(answer.fetched.end, end, "{codings:?}");
    if answer.fetched.end == BodyEnd::Complete {
        assert_eq!(answer.fetched.wire_bytes, body.len() as u64);
    }
}

#[tokio::test]
async fn codings_are_undone() {
    let undecodable = |name: &str| BodyEnd::Undecodable(name.to_owned());
    let (text, zipped) = (TEXT.as_bytes(), gzip(TEXT.as_bytes()));
    check(&[], text, TEXT, BodyEnd::Complete).await;
    check(&["none"], text, TEXT, BodyEnd::Complete).await;
    check(&["gzip"], b"", "", BodyEnd::Complete).await;
    check(&["gzip"], text, "", undecodable("gzip")).await;
    let cut = zipped.split_at(20).0;
    check(&["gzip"], cut, "hello, h", BodyEnd::CutShort).await;
    check(&["gzip", "BR"], &zipped, "", undecodable("br")).await;
    check(&["compress"], &zipped, "", undecodable("compress")).await;
    for codings in [
        &["gzip"][..],
        &["X-GZip"],
        &["utf-8, gzip"],
        &["identity, gzip", ""],
    ] {
        check(codings, &zipped, TEXT, BodyEnd::Complete).await;
    }
}

#[tokio::test]
async fn gzip_named_twice_is_undone_as_applied() {
    let once = gzip(TEXT.as_bytes());
    let twice = gzip(&once);
    let cut = twice.split_at(twice.len() - 12).0;
    for codings in [&["gzip, gzip"][..], &["gzip", "x-gzip"]] {
        check(codings, &once, TEXT, BodyEnd::Complete).await;
        check(codings, &twice, TEXT, BodyEnd::Complete).await;
    }
    let short = read(answer("Content-Encoding: gzip, gzip\r\n", cut), CAP).await;
    assert_eq!(short.fetched.end, BodyEnd::CutShort);
    // Few bytes on the wire, and many between the codings.
    let large = gzip(&gzip_stored(&vec![0; 3_000_000]));
    let bomb = answer("Content-Encoding: gzip, gzip\r\n", &large);
    let answer = read(bomb, 1_000_000).await;
    assert_eq!(answer.fetched.end, BodyEnd::TooLarge);
}

#[tokio::test]
async fn bomb_stops_at_the_cap_in_small_pieces() {
    let bomb = gzip(&vec![0; 64 << 20]);
    let cap = 3 << 20;
    let answer = read(answer("Content-Encoding: gzip\r\n", &bomb), cap).await;
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
        let answer = read([head, &*body].concat().into_bytes(), 4_000).await;
        assert_eq!(answer.fetched.end, end, "{piece}");
        assert!(answer.fetched.wire_bytes <= 2_000);
    };
    check(1, BodyEnd::TooLarge).await;
    check(10, BodyEnd::Complete).await;
}

#[tokio::test]
async fn body_may_have_exactly_the_cap() {
    use BodyEnd::{Complete, TooLarge};
    let large = vec![b'x'; 100_000];
    let zipped = gzip(&large);
    let (large, zipped) = (large.as_slice(), zipped.as_slice());
    let length = "Content-Length: 100000\r\n";
    let coding = "Content-Encoding: gzip\r\n";
    for (headers, body, cap, seen, end) in [
        ("", large, 100_000, 100_000, Complete),
        ("", large, 99_999, 99_999, TooLarge),
        (length, large, 100_000, 100_000, Complete),
        (length, large, 99_999, 0, TooLarge),
        (coding, zipped, 100_000, 100_000, Complete),
        (coding, zipped, 99_999, 99_999, TooLarge),
        ("", &b""[..], 0, 0, Complete),
        ("", &b"x"[..], 0, 0, TooLarge),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        let answer = read([head.as_bytes(), body].concat(), cap).await;
        let found = (answer.body.len(), answer.fetched.end);
        assert_eq!(found, (seen, end), "{headers:?} {cap}");
    }
}

/// Bytes that decode to nothing are counted too.
#[tokio::test]
async fn wire_bytes_have_the_same_cap() {
    let mut padded = gzip(b"small");
    padded.resize(200_000, 0);
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let answer = read([&head[..], &padded].concat(), 100_000).await;
    assert_eq!(
        (&*answer.body, answer.fetched.end),
        (&b"small"[..], BodyEnd::TooLarge)
    );
}
