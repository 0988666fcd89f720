//! Steps that a crawl takes for each page or link.

mod reading;

use std::{cell::Cell, fmt::Write as _, hint::black_box};

use crawler::{
    page::{Reason, Via},
    robots::Rules,
    store::{Discovery, Effect, Store},
    url_key::Identity,
};
use divan::{Bencher, counter::BytesCount};
use encoding_rs::UTF_8;
use html5ever::{
    buffer_queue::BufferQueue,
    tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
};
use reading::{GENERATORS, Reader, page};

fn main() {
    divan::main();
}

/// Of the tokenizer alone; with `--features testing`.
#[cfg(feature = "testing")]
#[divan::bench(args = GENERATORS)]
fn tags_of_a_page(bencher: Bencher<'_, '_>, generator: &str) {
    let page = page(generator, 0).into_bytes();
    let count = || crawler::testing::count_tags(black_box(&page), reading::CHUNK_BYTES);
    assert!(count() > 300);
    bencher.counter(BytesCount::of_slice(&page)).bench(count);
}

/// Of another tokenizer, beside ours.
#[divan::bench(args = GENERATORS)]
fn tags_of_a_page_by_html5ever(bencher: Bencher<'_, '_>, generator: &str) {
    struct Tags(Cell<u64>);

    impl TokenSink for Tags {
        type Handle = ();

        fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
            self.0
                .set(self.0.get() + u64::from(matches!(token, Token::TagToken(_))));
            TokenSinkResult::Continue
        }
    }

    let page = page(generator, 0);
    let count = || {
        let tokenizer = Tokenizer::new(Tags(Cell::new(0)), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(black_box(&*page).into());
        drop(tokenizer.feed(&input));
        tokenizer.end();
        tokenizer.sink.0.get()
    };
    assert!(count() > 300);
    bencher.counter(BytesCount::of_str(&page)).bench(count);
}

#[divan::bench(args = GENERATORS)]
fn facts_of_a_page(bencher: Bencher<'_, '_>, generator: &str) {
    let page = page(generator, 0).into_bytes();
    let reader = Reader::new();
    bencher
        .counter(BytesCount::of_slice(&page))
        .bench(|| reader.facts(&page));
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
