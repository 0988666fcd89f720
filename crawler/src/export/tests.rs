//! The last judgement and the evidence for `lastmod`, on records in a store in memory.

use jiff::Timestamp;

mod evidence;

use super::*;
use crate::{
    page::{Basis, BodyEnd, BodyKind, Canonical, ContentHash, Outcome, PageFacts, Reason, Via},
    store::{Discovery, Finished, memory::MemoryStore},
    url_key::Identity,
};

/// The host's clock when the run began.
const START: &str = "2026-03-01T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn key(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
}

/// A listed page: path, version of its content, `Last-Modified`.
type Page<'a> = (&'a str, u128, Option<&'a str>);

struct Bench {
    store: MemoryStore,
    run: RunId,
}

impl Bench {
    fn new() -> Self {
        Self {
            store: MemoryStore::default(),
            run: 0,
        }
    }

    /// A new run that found `pages`, begun at [`START`] plus `hours`.
    fn crawl(&mut self, hours: i64, pages: &[Page<'_>]) {
        let start = time(START) + hours.hours();
        runs::open(&mut self.store, "", start).unwrap();
        self.run += 1;
        let mut commit = Commit {
            run: self.run,
            ..Commit::default()
        };
        for (number, &(path, version, last_modified)) in pages.iter().enumerate() {
            let facts = PageFacts {
                status: 200,
                kind: BodyKind::Page,
                end: BodyEnd::Complete,
                content_hash: Some(ContentHash(version)),
                body_hash: Some(version),
                last_modified: last_modified.map(time),
                ..PageFacts::default()
            };
            push(&mut commit, number as u64 + 1, path, Reason::Listed, facts);
        }
        self.store.commit(&commit).unwrap();
        runs::finish(&mut self.store, self.run).unwrap();
    }

    /// What would be published, and then counts as published.
    fn publish(&mut self) -> Vec<(String, Option<String>)> {
        let export =
            Export::prepare(&mut self.store, self.run, None, time(START) + 48.hours()).unwrap();
        let mut entries = Vec::new();
        export
            .visit::<StoreError>(&self.store, None, &mut |listed| {
                let lastmod = listed.entry.lastmod.map(|lastmod| lastmod.to_string());
                entries.push((listed.key.path_and_query().to_owned(), lastmod));
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        export.remember(&mut self.store).unwrap();
        entries
    }

    fn dates(&mut self) -> Vec<Option<String>> {
        self.publish()
            .into_iter()
            .map(|(_, lastmod)| lastmod)
            .collect()
    }

    fn reason(&self, path: &str) -> Reason {
        self.store.page(&key(path)).unwrap().unwrap().reason
    }
}

fn push(commit: &mut Commit, sequence: u64, path: &str, reason: Reason, facts: PageFacts) {
    commit.discovered.push(Discovery {
        key: key(path),
        sequence,
        depth: 1,
        hops: 0,
        via: Via::Link,
        found_on: None,
        reason: Reason::Queued,
    });
    let record = PageRecord {
        run: commit.run,
        reason,
        depth: 1,
        via: Via::Link,
        found_on: None,
        attempts: 1,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: Some(Outcome::Answered(Box::new(facts))),
        basis: Basis::Own,
    };
    commit.finished.push(Finished {
        key: key(path),
        sequence,
        record,
        links: None,
    });
}

fn some(dates: &[&str]) -> Vec<Option<String>> {
    dates.iter().map(|date| Some((*date).to_owned())).collect()
}

#[test]
fn trust_comes_back_only_well_below_the_border() {
    let site = |nows: usize, good: &'static str| -> Vec<Page<'static>> {
        const PATHS: [&str; 20] = [
            "/00", "/01", "/02", "/03", "/04", "/05", "/06", "/07", "/08", "/09", "/10", "/11",
            "/12", "/13", "/14", "/15", "/16", "/17", "/18", "/19",
        ];
        let now = "2026-03-02T00:00:00Z";
        let header = |number| Some(if number < nows { now } else { good });
        // New content in each run, so that nothing is kept from the ledger.
        let version = |number: usize| number as u128 + nows as u128 * 1_000;
        PATHS
            .iter()
            .enumerate()
            .map(|(number, path)| (*path, version(number), header(number)))
            .collect()
    };
    let mut bench = Bench::new();
    let dated = |bench: &mut Bench| bench.dates().iter().filter(|date| date.is_some()).count();
    bench.crawl(0, &site(4, "2020-01-01T00:00:00Z"));
    assert_eq!(dated(&mut bench), 16, "a fifth is not more than a fifth");
    bench.crawl(1, &site(5, "2020-01-02T00:00:00Z"));
    assert_eq!(dated(&mut bench), 0);
    bench.crawl(2, &site(3, "2020-01-03T00:00:00Z"));
    assert_eq!(dated(&mut bench), 0, "still above a tenth");
    bench.crawl(3, &site(1, "2020-01-04T00:00:00Z"));
    assert_eq!(dated(&mut bench), 19);
}

#[test]
fn a_selected_date_comes_before_the_header() {
    let mut bench = Bench::new();
    bench.crawl(0, &[]);
    for (number, (path, selected)) in [
        ("/day", "2025-05-06"),
        ("/future", "2031-01-01"),
        ("/words", "yesterday"),
    ]
    .into_iter()
    .enumerate()
    {
        let facts = PageFacts {
            status: 200,
            last_modified: Some(time("2020-01-01T00:00:00Z")),
            selected_lastmod: Some(selected.to_owned()),
            ..PageFacts::default()
        };
        let mut commit = Commit {
            run: 1,
            ..Commit::default()
        };
        push(&mut commit, number as u64 + 1, path, Reason::Listed, facts);
        bench.store.commit(&commit).unwrap();
    }
    let expected = ["2025-05-06", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"];
    assert_eq!(bench.dates(), some(&expected));
}

#[test]
fn of_several_spellings_that_a_sitemap_writes_alike_one_is_listed() {
    let mut bench = Bench::new();
    // Identity makes no such keys of `|`; a `%` that starts no escape it must leave alone.
    bench.crawl(
        0,
        &[
            ("/100%", 1, None),
            ("/100%25", 2, None),
            ("/a%zz|", 3, None),
            ("/a%zz%7C", 4, None),
        ],
    );
    let listed: Vec<String> = bench.publish().into_iter().map(|(path, _)| path).collect();
    assert_eq!(listed, ["/100%25", "/a%zz%7C"]);
    assert_eq!(bench.reason("/100%"), Reason::DuplicateSpelling);
    assert_eq!(bench.reason("/a%zz|"), Reason::DuplicateSpelling);
    // Judged again, it stays so.
    assert_eq!(bench.publish().len(), 2);
}

#[test]
fn a_url_that_grows_too_long_when_written_is_not_listed() {
    let mut bench = Bench::new();
    let path = format!("/{}", "%zz".repeat(600));
    assert!(Identity::default().parse(key(&path).as_str()).is_ok());
    bench.crawl(0, &[("/", 1, None), (&path, 2, None)]);
    assert_eq!(bench.publish().len(), 1);
    assert_eq!(bench.reason(&path), Reason::Unwritable);
}

#[test]
fn spelling_and_length_are_those_of_what_a_site_is_written_as() {
    let written = |bench: &mut Bench, original: &str| {
        let original = UrlKey::from_normalised(original).unwrap();
        let stand_in = StandIn::new(&key("/"), &original).unwrap();
        let now = time(START) + 48.hours();
        let export = Export::prepare(&mut bench.store, bench.run, Some(&stand_in), now).unwrap();
        let mut urls = Vec::new();
        export
            .visit::<StoreError>(&bench.store, None, &mut |listed| {
                assert!(listed.written.as_str().starts_with(original.as_str()));
                urls.push(listed.entry.loc.to_string());
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        urls
    };
    let mut bench = Bench::new();
    // It fits on the host that is crawled, but not on one with a longer name.
    let long = format!("/{}", "x".repeat(2_040 - "https://h.example/".len()));
    bench.crawl(
        0,
        &[
            ("/100%", 1, None),
            ("/100%25", 2, None),
            ("/a%zz|", 3, None),
            ("/a%zz%7C", 4, None),
            (&long, 5, None),
        ],
    );
    assert_eq!(
        written(&mut bench, "https://www.production.example/app/"),
        [
            "https://www.production.example/app/100%25",
            "https://www.production.example/app/a%25zz%7C"
        ]
    );
    assert_eq!(bench.reason("/100%"), Reason::DuplicateSpelling);
    assert_eq!(bench.reason(&long), Reason::Unwritable);
    // Where the directory itself is written in another way, one of each is listed too.
    let urls = written(&mut bench, "https://p.example/a%zz/");
    assert_eq!(urls.len(), 3, "{urls:?}");
    assert!(
        urls[0].starts_with("https://p.example/a%25zz/100"),
        "{urls:?}"
    );
    // And as itself, everything that fits is back.
    assert_eq!(bench.publish().len(), 3);
}

#[test]
fn pages_that_repeat_another_one_are_listed_and_counted() {
    let mut bench = Bench::new();
    let duplicates = |bench: &mut Bench| {
        let now = time(START) + 48.hours();
        Export::prepare(&mut bench.store, bench.run, None, now)
            .unwrap()
            .duplicates()
    };
    bench.crawl(
        0,
        &[
            ("/a", 1 << 64, None),
            ("/b", 2 << 64, None),
            ("/c", 1 << 64, None),
        ],
    );
    assert_eq!(duplicates(&mut bench), 1);
    assert_eq!(bench.publish().len(), 3);
}

#[test]
fn chains_are_judged_when_all_is_known() {
    let mut bench = Bench::new();
    bench.crawl(0, &[("/end", 1, None)]);
    let mut commit = Commit {
        run: 1,
        ..Commit::default()
    };
    for (number, (from, to)) in [("/a", "/b"), ("/b", "/a"), ("/c", "/end")]
        .into_iter()
        .enumerate()
    {
        let facts = PageFacts {
            status: 301,
            location: Some(key(to)),
            ..PageFacts::default()
        };
        push(
            &mut commit,
            number as u64 + 10,
            from,
            Reason::Redirected,
            facts,
        );
    }
    bench.store.commit(&commit).unwrap();
    bench.publish();
    assert_eq!(bench.reason("/a"), Reason::RedirectLoop);
    assert_eq!(bench.reason("/b"), Reason::RedirectLoop);
    assert_eq!(bench.reason("/c"), Reason::Redirected);
}

#[test]
fn a_chain_onto_a_spelling_that_is_left_out_settles_alike_each_time() {
    let mut bench = Bench::new();
    let long = format!("/{}", "%zz".repeat(600));
    bench.crawl(0, &[("/100%", 1, None), ("/100%25", 2, None)]);
    let mut commit = Commit {
        run: 1,
        ..Commit::default()
    };
    let facts = PageFacts {
        status: 200,
        ..PageFacts::default()
    };
    push(&mut commit, 8, &long, Reason::Listed, facts);
    // One stands before its target in key order, one behind.
    for (number, (path, target)) in [("/-", "/100%"), ("/z", "/100%"), ("/y", &*long)]
        .into_iter()
        .enumerate()
    {
        let facts = PageFacts {
            status: 200,
            canonical: Canonical::Other(key(target)),
            ..PageFacts::default()
        };
        let sequence = number as u64 + 10;
        let reason = Reason::CanonicalElsewhere;
        push(&mut commit, sequence, path, reason, facts);
    }
    bench.store.commit(&commit).unwrap();
    for _ in 0..3 {
        assert_eq!(bench.publish().len(), 1);
        assert_eq!(bench.reason("/100%"), Reason::DuplicateSpelling);
        assert_eq!(bench.reason(&long), Reason::Unwritable);
        for path in ["/-", "/z", "/y"] {
            assert_eq!(bench.reason(path), Reason::CanonicalElsewhere, "{path}");
        }
    }
}

#[test]
fn a_publish_that_is_done_again_comes_to_the_same_dates() {
    let old = Some("2020-01-01T00:00:00Z");
    let deploy = Some("2026-03-01T13:00:00Z");
    let mut bench = Bench::new();
    bench.crawl(0, &[("/a/1", 1, old), ("/a/2", 2, old), ("/a/3", 3, old)]);
    bench.publish();
    let deployed = [
        ("/a/1", 1, deploy),
        ("/a/2", 2, deploy),
        ("/a/3", 30, deploy),
    ];
    for hours in [24, 48] {
        bench.crawl(hours, &deployed);
        let dates = bench.dates();
        for _ in 0..2 {
            assert_eq!(bench.dates(), dates);
        }
    }
    // Another run may trust again; a fresh state begins its runs anew.
    let new = Some("2026-03-02T00:00:00Z");
    let quiet = [("/a/1", 1, deploy), ("/a/2", 2, deploy), ("/a/4", 4, new)];
    bench.crawl(72, &deployed[..1]);
    assert_eq!(bench.dates(), some(&["2020-01-01T00:00:00Z"]));
    bench.crawl(96, &quiet);
    assert_eq!(bench.dates()[2], some(&["2026-03-02T00:00:00Z"])[0]);
}

#[test]
fn a_fresh_state_keeps_distrust_but_not_the_run_that_decided_it() {
    let now = Some("2026-03-01T12:00:00Z");
    let good = Some("2020-01-01T00:00:00Z");
    let mut old = Bench::new();
    old.crawl(0, &[("/a", 1, now), ("/b", 2, good)]);
    assert_eq!(old.dates(), [None, None]);
    let mut fresh = Bench::new();
    crate::publish::carry_over(&old.store, &mut fresh.store, Timestamp::UNIX_EPOCH).unwrap();
    let value = fresh.store.value(LASTMOD_DISTRUSTED).unwrap();
    assert_eq!(value.as_deref(), Some("header *"));
    let new = Some("2020-01-02T00:00:00Z");
    fresh.crawl(24, &[("/a", 10, new), ("/b", 20, new)]);
    assert_eq!(fresh.run, old.run);
    assert_eq!(fresh.dates(), some(&["2020-01-02T00:00:00Z"; 2]));
}
