//! The readers of the crawler: lists of URLs, pages, robots.txt.

use std::{io::Cursor, ops::ControlFlow, sync::Arc, time::Duration};

use crawler::{
    build::{self, BuildSource, LoadRequest, News},
    config::{Config, Extensions, ParseConfig, ScopeWidth},
    crawl_state,
    fetch::{BodySink as _, BodyWish, Fetched, Headers, ResponseHead},
    page::{BodyEnd, PageFacts},
    parse::{PageParser, PageReader},
    robots::{MAX_ROBOTS_BYTES, Rules, cut},
    seeds::{self, SeedList},
    site::site_of_redirects,
    store::Store,
    testing::assert_tokens_of_html5ever,
    url_key::Identity,
};
use sitemap_core::Loc;

use super::parts;

/// The bytes that a document may be unpacked to.
const MAX_UNPACKED_BYTES: u64 = 4 * 1024 * 1024;

/// A list of URLs in any of its formats: what a set is built from, and what a crawl begins with.
pub(super) fn list(input: &[u8]) -> u64 {
    let identity = Identity::default();
    let base = identity
        .parse("https://example.com/")
        .expect("a good start URL");
    let site =
        site_of_redirects(&base, &[], ScopeWidth::Directory).expect("a site without redirects");
    let now = "2026-03-02T04:00:11Z".parse().expect("a good time");
    let mut store = Store::in_memory().expect("a new state in memory");
    crawl_state::open(&mut store, "", now, true).expect("memory does not fail");
    let request = LoadRequest {
        site: &site,
        config: &Config::default(),
        now,
        is_stopped: &|| false,
    };
    let source = BuildSource::Open {
        name: "list".to_owned(),
        bytes: Box::new(Cursor::new(input.to_vec())),
    };
    let mut remarks = [0; 4];
    let loaded = build::load(&mut store, vec![source], &request, &mut |news| {
        if let News::Remark(remark) = news {
            remarks[remark.kind as usize] += 1;
            assert!(!remark.message.is_empty());
        }
    });
    let mut bytes = input.len() as u64;
    if let Ok(loaded) = loaded {
        assert!(loaded.left_out + loaded.outside + loaded.repeated <= loaded.entries);
        let [left_out, values_left_out, _corrected, outside] = remarks;
        let counts = [loaded.left_out, loaded.values_left_out, loaded.outside];
        assert_eq!(
            counts,
            [left_out, values_left_out, outside],
            "every remark is counted"
        );
        bytes += loaded.bytes;
    }

    let mut taken = 0;
    let mut take = |batch: seeds::Batch| {
        taken += batch.pages.len() + batch.documents.len();
        ControlFlow::Continue(())
    };
    let place = Some(&base);
    let reading = seeds::read(input, MAX_UNPACKED_BYTES, place, &identity, &mut take);
    assert!(taken as u64 <= reading.entries);
    let told: u64 = reading.troubles.iter().map(|trouble| trouble.count).sum();
    assert!(told <= reading.findings);

    let seeds = SeedList::copy("list", input).expect("a temporary file");
    let mut take = |_| ControlFlow::Continue(());
    let is_good = seeds.check().is_ok();
    let reading = seeds.read(&identity, &mut take);
    assert_eq!(is_good, reading.problem.is_none());
    bytes + 3 * input.len() as u64
}

/// The value of a `Link` header and a page, with all that its entry can be told of it: images by `src`
/// and `srcset`, versions in other languages.
pub(super) fn page(input: &[u8]) -> u64 {
    let mut parts = parts(input, 3);
    let mut part = || parts.next().unwrap_or_default();
    let (content_type, link, body) = (part(), part(), part());
    let whole = read_page(content_type, link, body, body.len().max(1));
    let in_pieces = read_page(content_type, link, body, 3);
    assert_eq!(whole, in_pieces, "the size of the pieces matters");
    let text = String::from_utf8_lossy(body);
    assert_tokens_of_html5ever(&text, usize::MAX);
    assert_tokens_of_html5ever(&text, 3);
    for facts in [&whole, &in_pieces] {
        let images = facts.images.as_deref().unwrap_or_default();
        assert!(images.len() <= 1_000, "{} images", images.len());
    }
    4 * input.len() as u64
}

fn read_page(content_type: &[u8], link: &[u8], body: &[u8], piece_bytes: usize) -> PageFacts {
    let identity = Arc::new(Identity::default());
    let config = ParseConfig {
        // The fuzzer has a bound of its own, and without this one a page says the same on a busy machine.
        max_parse_time: Duration::MAX,
        ..ParseConfig::default()
    };
    let reader = PageReader::new(&config).expect("good settings");
    let reader = Arc::new(reader.with_extensions(Extensions {
        images: true,
        hreflang: true,
        news: true,
        video: true,
    }));
    let url = identity
        .parse("https://example.com/dir/page")
        .expect("a good URL");
    let mut parser = PageParser::new(&url, &identity, &reader);
    let mut headers = Headers::default();
    headers.push("Content-Type", content_type);
    headers.push("Link", link);
    let head = ResponseHead {
        status: 200,
        headers,
    };
    let is_wanted = parser.head(&head) == BodyWish::Read
        && body
            .chunks(piece_bytes)
            .all(|piece| parser.chunk(piece) == BodyWish::Read);
    let end = if is_wanted {
        BodyEnd::Complete
    } else {
        BodyEnd::Skipped
    };
    let mut facts = parser.finish(&Fetched {
        head,
        end,
        wire_bytes: 0,
    });
    // What it takes to see that a body is not wanted depends on the pieces.
    if !is_wanted {
        facts.body_bytes = 0;
        facts.content_hash = None;
    }
    facts
}

/// A robots.txt: its `Sitemap:` lines, and its rules for its own lines.
pub(super) fn robots(input: &[u8]) -> u64 {
    let body = cut(input);
    assert!(body.len() <= MAX_ROBOTS_BYTES);
    let rules = Rules::parse(body, "arpent");
    let place = "https://example.com/robots.txt".parse();
    for sitemap in rules.sitemap_urls(&place.expect("a good URL")) {
        // What is asked for is a URL that the protocol knows, or says why it is none.
        if let Err(error) = Loc::parse(sitemap.as_str()) {
            assert!(!error.to_string().is_empty());
        }
    }
    let text = String::from_utf8_lossy(body);
    let paths = text.lines().filter_map(|line| line.split_once(':'));
    for (_, path) in paths.take(20) {
        let decision = rules.decide(path.trim());
        assert_eq!(decision.allowed, rules.allows(path.trim()));
        assert!(decision.line.is_none_or(|line| line <= body.len() + 1));
    }
    let _ = rules.crawl_delay();
    21 * body.len() as u64
}
