//! Each test runs its own server on loopback, which sends exactly the bytes that matter.

mod bodies;
mod connections;
mod faults;
mod guarded;
mod http2;
mod requests;
mod server;
mod tls;

use std::time::Duration;

use super::HttpFetch;
use crate::{
    config::FetchConfig,
    fetch::{
        BodySink, BodyWish, Fetch, FetchError, FetchErrorKind, Fetched, Request, ResponseHead,
    },
    page::BodyEnd,
    url_key::{Identity, UrlKey},
};

/// Settings for a crawl of this machine.
fn settings() -> FetchConfig {
    FetchConfig {
        start_host: "127.0.0.1".to_owned(),
        ..FetchConfig::default()
    }
}

/// Time limits so short that a test may wait for them, and all others long.
fn impatient(change: impl FnOnce(&mut FetchConfig)) -> FetchConfig {
    let mut settings = settings();
    change(&mut settings);
    settings
}

/// The part of a server in one connection.
type Script = fn(&mut server::Connection);

const SHORT: Duration = Duration::from_millis(150);

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A client with [`settings`].
fn fetcher() -> HttpFetch {
    HttpFetch::new(&settings()).unwrap()
}

fn key(url: &str) -> UrlKey {
    Identity::default().parse(url).unwrap()
}

/// Stores everything; wants the body by default.
struct Collector {
    wishes: Box<dyn FnMut(usize) -> BodyWish + Send>,
    body: Vec<u8>,
    largest_piece: usize,
    heads: usize,
}

impl Collector {
    fn new() -> Self {
        Self::with(|_| BodyWish::Read)
    }

    /// `wishes` is called with the bytes received so far.
    fn with(wishes: impl FnMut(usize) -> BodyWish + Send + 'static) -> Self {
        Self {
            wishes: Box::new(wishes),
            body: Vec::new(),
            largest_piece: 0,
            heads: 0,
        }
    }
}

impl BodySink for Collector {
    fn head(&mut self, _head: &ResponseHead) -> BodyWish {
        self.heads += 1;
        (self.wishes)(0)
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        assert!(!bytes.is_empty());
        self.largest_piece = self.largest_piece.max(bytes.len());
        self.body.extend_from_slice(bytes);
        (self.wishes)(self.body.len())
    }
}

/// An answer, with the body as the sink saw it.
struct Answer {
    fetched: Fetched,
    body: Vec<u8>,
    largest_piece: usize,
}

const CAP: u64 = 1 << 20;

async fn get_capped(
    fetch: &HttpFetch,
    url: &str,
    max_body_bytes: u64,
) -> Result<Answer, FetchError> {
    let request = Request::get(&key(url), max_body_bytes);
    let mut sink = Collector::new();
    let fetched = fetch.fetch(&request, &mut sink).await?;
    assert_eq!(sink.heads, 1);
    Ok(Answer {
        fetched,
        body: sink.body,
        largest_piece: sink.largest_piece,
    })
}

async fn get(fetch: &HttpFetch, url: &str) -> Result<Answer, FetchError> {
    get_capped(fetch, url, CAP).await
}

/// A whole answer is expected.
async fn get_text(fetch: &HttpFetch, url: &str) -> String {
    let answer = get(fetch, url).await.unwrap();
    assert_eq!(answer.fetched.end, BodyEnd::Complete);
    String::from_utf8(answer.body).unwrap()
}

/// No answer is expected: the kind, and the message.
async fn failure(fetch: &HttpFetch, url: &str) -> (FetchErrorKind, String) {
    match get(fetch, url).await {
        Ok(answer) => panic!("{url} answered: {:?}", answer.fetched),
        Err(error) => (error.kind(), error.to_string()),
    }
}
