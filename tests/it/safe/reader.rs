//! A reader who polls the files while sets change, grow, lose parts and get them back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::support::{
    observer::Observer,
    program::{Bench, Ran},
    random::Random,
    site::{Response, Site},
};

/// Sets that are published one after the other, in each layout.
const EDITIONS: usize = 8;

/// Directories of the site.
const DIRECTORIES: usize = 8;

/// The pages of an edition: of each directory none, a few or many, whose dates are of some edition.
fn pages(edition: usize) -> Vec<(String, u8)> {
    let mut random = Random(u64::try_from(edition).expect("a small number") + 5);
    let mut pages = Vec::new();
    for directory in 0..DIRECTORIES {
        let count = [0, 2, 12, 12, 30][random.below(5)];
        let day = u8::try_from(1 + random.below(3)).expect("a day");
        pages.extend((0..count).map(|page| (format!("/part-{directory}/{page}"), day)));
    }
    pages.push(("/always".to_owned(), 1));
    pages
}

/// Fails when the index states for a file a time before its newest entry.
#[track_caller]
fn assert_later_than_entries(bench: &Bench) {
    let published = bench.published();
    let time = |text: &str| -> jiff::Timestamp {
        let text = if text.contains('T') {
            text.to_owned()
        } else {
            format!("{text}T00:00:00Z")
        };
        text.parse().expect("a date")
    };
    let index = &published.files["sitemap.xml"];
    assert!(index.is_index);
    for (loc, lastmod) in &index.entries {
        let name = loc.splitn(4, '/').nth(3).expect("a path");
        let changed = time(lastmod.as_deref().expect("each has one"));
        let dates = published.files[name].entries.iter();
        for date in dates.filter_map(|(_, date)| date.as_deref()) {
            assert!(time(date) <= changed, "{name}: {date} after {changed}");
        }
    }
}

#[test]
fn readers_find_whole_sets_only() {
    check("root");
    check("in-place");
}

#[expect(clippy::print_stderr, reason = "what was seen is worth reading")]
fn check(layout: &str) {
    let edition = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&edition);
    let site = Site::start(move |request| {
        let pages = pages(current.load(Ordering::SeqCst));
        if request.target == "/" {
            return Response::linking(pages.iter().map(|(path, _)| path));
        }
        let page = pages.iter().find(|(path, _)| *path == request.target);
        page.map_or_else(
            || Response::status(410),
            |(path, day)| {
                let page = Response::html(format!("<!doctype html><title>{path}</title><p>{day}"));
                page.with(
                    "Last-Modified",
                    &format!("Thu, 0{day} Jan 2026 10:00:00 GMT"),
                )
            },
        )
    });
    let bench = Bench::new();
    let config = bench.settings("output.min_section = 5\n");
    let reader = Observer::watch(&bench.output(), &site.url("/"));
    for number in 1..=EDITIONS {
        edition.store(number, Ordering::SeqCst);
        // The guard would refuse the set of a site that loses many pages.
        let options = ["--config", &config, "--force", "--layout", layout];
        bench.crawl(&site.url("/"), &options).expect_code(0);
        assert_later_than_entries(&bench);
        let mut check = bench.program();
        check.arg("check").arg(bench.output());
        Ran::of(check).expect_code(0);
    }
    let seen = reader.finish();
    eprintln!("{layout}: {seen:?}");
    assert!(seen.looks > EDITIONS && seen.indexes > 1, "{seen:?}");
}
