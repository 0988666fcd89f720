//! Steps that a crawl takes for each page or link.

use std::{fmt::Write as _, hint::black_box, sync::Arc};

use crawler::{
    config::ParseConfig,
    fetch::{BodySink as _, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, PageFacts, Reason, Via},
    parse::{PageParser, PageReader},
    robots::Rules,
    store::{Discovery, Effect, Store},
    url_key::Identity,
};
use divan::{Bencher, counter::BytesCount};
use encoding_rs::UTF_8;

fn main() {
    divan::main();
}

/// Bytes of a chunk, as they come from the network.
const CHUNK_BYTES: usize = 16 * 1_024;

/// A page of 31 KB with 100 links, scripts, a comment and 250 sentences.
fn page() -> String {
    let mut page = "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Parcels</title>\
        <link rel=canonical href=/docs/parcels.html><script>if (a < b) document.write('<a href=/x>')</script></head><body>\n"
        .to_owned();
    for number in 0..100 {
        let query = if number % 10 == 0 {
            "?page=2&amp;sort=up"
        } else {
            ""
        };
        writeln!(page, r#"<li class="item"><a class="link" href="../list/{number}.html{query}">Parcel {number}</a></li>"#)
            .expect("text grows");
    }
    page += "<!-- <a href=/not-a-link> -->\n<main>";
    for number in 0..250 {
        writeln!(page, "<p>Parcel <b>{number}</b> lies between the <i>road</i> and the river &amp; its mill.</p>")
            .expect("text grows");
    }
    page + "</main></body></html>"
}

fn facts(page: &[u8], reader: &Arc<PageReader>, identity: &Arc<Identity>) -> PageFacts {
    let url = identity.parse("https://example.com/docs/parcels.html");
    let mut parser = PageParser::new(&url.expect("a URL"), identity, reader);
    let headers = [("Content-Type", "text/html")].into_iter().collect();
    let head = ResponseHead {
        status: 200,
        headers,
    };
    let mut wish = parser.head(&head);
    for chunk in page.chunks(CHUNK_BYTES) {
        assert_eq!(wish, BodyWish::Read);
        wish = parser.chunk(chunk);
    }
    parser.finish(&Fetched {
        head,
        end: BodyEnd::Complete,
        wire_bytes: page.len() as u64,
    })
}

/// Of the tokenizer alone; with `--features testing`.
#[cfg(feature = "testing")]
#[divan::bench]
fn tags_of_a_page(bencher: Bencher<'_, '_>) {
    let page = page().into_bytes();
    let count = || crawler::testing::count_tags(black_box(&page), CHUNK_BYTES);
    assert_eq!(count(), 1_914);
    bencher.counter(BytesCount::of_slice(&page)).bench(count);
}

#[divan::bench]
fn facts_of_a_page(bencher: Bencher<'_, '_>) {
    let page = page().into_bytes();
    let identity = Arc::new(Identity::default());
    let reader = Arc::new(PageReader::new(&ParseConfig::default()).expect("default settings"));
    assert_eq!(facts(&page, &reader, &identity).links.len(), 100);
    bencher
        .counter(BytesCount::of_slice(&page))
        .bench(|| facts(&page, &reader, &identity));
}

#[divan::bench(args = ["next.html", "/docs/next.html", "../a/b?utm_source=x&page=2", "HTTPS://Example.com:443/%7ea#top"])]
fn key_of_a_reference(bencher: Bencher<'_, '_>, reference: &str) {
    let identity = Identity::default();
    let base = url::Url::parse("https://example.com/docs/intro/page.html").expect("a URL");
    bencher.bench(|| identity.resolve(&base, black_box(reference), UTF_8));
}

#[divan::bench(args = [1, 100, 1_000])]
fn robots_verdict(bencher: Bencher<'_, '_>, lines: usize) {
    let mut text = "User-agent: *\n".to_owned();
    for line in 0..lines {
        writeln!(text, "Disallow: /private/{line}/*/print$").expect("text grows");
    }
    let rules = Rules::parse(text.as_bytes(), "arpent");
    bencher.bench(|| rules.allows(black_box("/private/50/docs/print?page=2")));
}

/// The URLs of a page that were found for the first time.
#[divan::bench]
fn commit_of_100_urls(bencher: Bencher<'_, '_>) {
    let mut store = Store::in_memory().expect("a state");
    let identity = Identity::default();
    let mut sequence = 0;
    bencher.bench_local(|| {
        let discovered = (0..100).map(|_| {
            sequence += 1;
            Effect::Discover(Discovery {
                distance: 0,
                key: identity
                    .parse(&format!("https://example.com/docs/{sequence}.html"))
                    .expect("a URL"),
                sequence,
                depth: 1,
                hops: 0,
                via: Via::Link,
                found_on: None,
                reason: Reason::Queued,
            })
        });
        let commit: Vec<_> = discovered.collect();
        store.commit(&commit)
    });
}
