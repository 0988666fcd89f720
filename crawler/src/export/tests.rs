//! Entries as they are published, and the evidence for `lastmod`, on a store in memory over several crawls.

mod evidence;

use std::{fs, sync::Arc};

use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::{
    clock::SystemClock,
    config::{Config, GuardConfig, IndexMode, PublishConfig},
    page::{Basis, BodyKind, Canonical, ContentHash, PageFacts, PageRecord, Reason},
    publish::{PublishRequest, Published, publish},
    scope::Scope,
    site::Site,
    store::{
        PageLinks, PageRow, Store,
        tests::fixture::{answered, commit, empty_answer, visited, whole_page},
    },
    url_key::Identity,
    verdict::{Judge, Mode},
};

/// The host's clock at the start of the first crawl.
const START: &str = "2026-03-01T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn key(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
}

/// A listed page: path, version of its content, `Last-Modified`.
type Found<'a> = (&'a str, u128, Option<&'a str>);

struct Bench {
    folder: TempDir,
    store: Store,
    site: Site,
    judge: Judge,
}

impl Bench {
    fn new() -> Self {
        let site = Site {
            origin: key("/").origin(),
            directory: "/".to_owned(),
            start: key("/"),
            stand_in: None,
        };
        let config = Config::default();
        let scope = Scope::new(&site, &config.scope).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            store: Store::in_memory().unwrap(),
            judge: Judge::new(&config, scope, Rules::default(), 0, Arc::new(SystemClock)),
            site,
        }
    }

    /// A new crawl that found `pages`, and the other listed pages gone, begun at [`START`] plus `hours`.
    fn crawl(&mut self, hours: i64, pages: &[Found<'_>]) {
        let found = pages.iter().map(|&(path, version, last_modified)| {
            let facts = PageFacts {
                content_hash: Some(ContentHash(version)),
                body_hash: Some(version),
                last_modified: last_modified.map(time),
                ..whole_page()
            };
            (path, answered(facts))
        });
        self.crawl_records(time(START) + hours.hours(), false, found.collect());
    }

    /// A new crawl that found these pages, and the other listed pages gone.
    fn crawl_records(&mut self, start: Timestamp, fresh: bool, found: Vec<(&str, PageRecord)>) {
        crawl_state::set_phase(&mut self.store, crawl_state::Phase::Finished).unwrap();
        crawl_state::open(&mut self.store, "", start, fresh).unwrap();
        let found = found
            .into_iter()
            .map(|(path, record)| (key(path), record))
            .collect();
        self.finish(found);
        let gone = empty_answer(410);
        let unvisited = self.store.unvisited().into_iter();
        let unvisited = unvisited.map(|(key, _)| (key, answered(gone.clone())));
        self.finish(unvisited.collect());
    }

    /// Commits the visits of these URLs.
    fn finish(&mut self, visits: Vec<(UrlKey, PageRecord)>) {
        let mut dated = Vec::new();
        let visits = visits.into_iter().map(|(key, mut record)| {
            if record.basis == Basis::Own {
                let outcome = record.outcome.as_ref().unwrap();
                record.reason = self.judge.after_fetch(&key, outcome).reason;
            }
            let date = record.sitemap_lastmod.take();
            dated.extend(date.map(|date| (key.clone(), date)));
            (key, record)
        });
        let rows = self.store.rows_from(None).into_iter();
        let sequences = rows.filter_map(|(_, _, visit)| Some(visit?.sequence));
        let last = sequences.max().unwrap_or(0);
        let mut commit = visited(last + 1, visits);
        commit.dated = dated;
        self.store.commit(&commit.effects()).unwrap();
    }

    /// Publishes what the state has; `is_drained`: the crawl is over then.
    fn publish_at(&mut self, now: Timestamp, is_drained: bool) -> Published {
        let config = PublishConfig {
            output: self.output(),
            guard: GuardConfig::OFF,
            gzip: false,
            index: IndexMode::Auto,
            ..PublishConfig::default()
        };
        let request = PublishRequest {
            site: &self.site,
            judge: &self.judge,
            mode: Mode::of(&self.store, false).unwrap(),
            is_drained,
            config: &config,
            robots: None,
            dry_run: false,
            now,
            is_stopped: &|| false,
        };
        publish(&mut self.store, &request).result.unwrap()
    }

    /// The output, one for each name that the site is written as.
    fn output(&self) -> std::path::PathBuf {
        let name = self.site.written().name();
        self.folder.path().join(name.replace(['/', ':', '%'], "_"))
    }

    /// Publishes the crawl as one that is over.
    fn publish(&mut self) -> Published {
        self.publish_at(time(START) + 48.hours(), true)
    }

    /// The published URLs with their `lastmod`.
    fn entries(&self) -> Vec<(String, Option<String>)> {
        let file = fs::read_to_string(self.output().join("sitemap.xml")).unwrap();
        let value = |entry: &str, element: &str| {
            let (_, rest) = entry.split_once(&format!("<{element}>"))?;
            Some(rest.split_once('<')?.0.to_owned())
        };
        let entries = file.split("<url>").skip(1);
        let entries = entries.map(|entry| (value(entry, "loc").unwrap(), value(entry, "lastmod")));
        entries.collect()
    }

    /// The dates of a publish, in the order of the URLs.
    fn dates(&mut self) -> Vec<Option<String>> {
        self.publish();
        let entries = self.entries().into_iter();
        entries.map(|(_, lastmod)| lastmod).collect()
    }

    fn row(&self, path: &str) -> crate::page::Page {
        self.store.page(&key(path)).unwrap()
    }

    fn reason(&self, path: &str) -> Reason {
        self.row(path).record.reason
    }

    /// Changes what is remembered of the `lastmod` of a published page.
    fn set_dates(&mut self, path: &str, change: impl FnOnce(&mut LedgerEntry)) {
        let mut page = self.row(path);
        change(page.dates.as_mut().unwrap());
        let row = PageRow {
            key: key(path),
            page,
            links: PageLinks::Own,
            promotion: None,
        };
        commit(&mut self.store, |commit| commit.pages = vec![row]);
    }
}

fn some(dates: &[&str]) -> Vec<Option<String>> {
    dates.iter().map(|date| Some((*date).to_owned())).collect()
}

#[test]
fn trust_comes_back_only_well_below_the_border() {
    let site = |nows: usize, good: &'static str| -> Vec<Found<'static>> {
        const PATHS: [&str; 20] = [
            "/00", "/01", "/02", "/03", "/04", "/05", "/06", "/07", "/08", "/09", "/10", "/11",
            "/12", "/13", "/14", "/15", "/16", "/17", "/18", "/19",
        ];
        let now = "2026-03-02T00:00:00Z";
        let header = |number| Some(if number < nows { now } else { good });
        // New content in each crawl, so that no published date stays.
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
fn trust_returns_after_equally_many_right_crawls() {
    for wrong in 1..=12 {
        let mut bench = Bench::new();
        let mut crawls = 0;
        let mut crawl = |bench: &mut Bench, date: &str| {
            let date = Some(date);
            // New content in each crawl, so that no published date stays.
            bench.crawl(
                crawls,
                &[("/a", u128::from(crawls.unsigned_abs()) + 1, date)],
            );
            crawls += 1;
            bench.dates()[0].is_some()
        };
        for _ in 0..wrong {
            assert!(!crawl(&mut bench, "2026-12-01T00:00:00Z"));
        }
        let made_up = wrong.min(10);
        for right in 1..=made_up {
            // A date that was stated before is not that of the new content.
            let good = format!("2020-01-{right:02}T00:00:00Z");
            let is_dated = crawl(&mut bench, &good);
            assert_eq!(is_dated, right == made_up, "{right} of {wrong}");
        }
    }
}

#[test]
fn spelling_and_length_follow_the_written_site() {
    let written = |bench: &mut Bench, original: &str| {
        let original = UrlKey::from_normalised(original).unwrap();
        bench.site.stand_in = Some(PublishAs::new(&key("/"), &original).unwrap());
        bench.publish();
        let urls = bench.entries().into_iter().map(|(url, _)| url);
        urls.collect::<Vec<_>>()
    };
    let mut bench = Bench::new();
    // Short enough on the host that is crawled, but not on one with a longer name.
    let long = format!("/{}", "x".repeat(2_040 - "https://h.example/".len()));
    // Too long when it is written.
    let longer = format!("/{}", "%zz".repeat(600));
    assert!(Identity::default().parse(key(&longer).as_str()).is_ok());
    // Identity makes no such keys of `|`; a `%` that starts no escape it must leave alone.
    bench.crawl(
        0,
        &[
            ("/100%", 1, None),
            ("/100%25", 2, None),
            ("/a%zz|", 3, None),
            ("/a%zz%7C", 4, None),
            (&long, 5, None),
            (&longer, 6, None),
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
    // As itself, every URL that is short enough is back, also when it is judged again.
    bench.site.stand_in = None;
    for _ in 0..2 {
        assert_eq!(bench.publish().listed, 3);
        for (path, reason) in [
            ("/100%", Reason::DuplicateSpelling),
            ("/100%25", Reason::Listed),
            ("/a%zz|", Reason::DuplicateSpelling),
            ("/a%zz%7C", Reason::Listed),
            (&*long, Reason::Listed),
            (&*longer, Reason::Unwritable),
        ] {
            assert_eq!(bench.reason(path), reason, "{path}");
        }
    }
}

#[test]
fn duplicate_pages_are_listed_and_counted() {
    let mut bench = Bench::new();
    let pages = [
        ("/a", 1 << 64, None),
        ("/b", 2 << 64, None),
        ("/c", 1 << 64, None),
    ];
    bench.crawl(0, &pages);
    let published = bench.publish();
    assert_eq!((published.listed, published.duplicates), (3, 1));
}

#[test]
fn canonical_chain_to_an_omitted_spelling_is_stable() {
    let mut bench = Bench::new();
    let long = format!("/{}", "%zz".repeat(600));
    bench.crawl(
        0,
        &[("/100%", 1, None), ("/100%25", 2, None), (&long, 3, None)],
    );
    // One source comes before its target in key order, one after it.
    let sources = [("/-", "/100%"), ("/z", "/100%"), ("/y", &*long)];
    let sources = sources.map(|(path, target)| {
        let facts = PageFacts {
            canonical: Canonical::Other(key(target)),
            ..whole_page()
        };
        (key(path), answered(facts))
    });
    bench.finish(sources.into());
    for is_drained in [false, true, true] {
        let now = time(START) + 48.hours();
        assert_eq!(bench.publish_at(now, is_drained).listed, 1);
        assert_eq!(bench.reason("/100%"), Reason::DuplicateSpelling);
        assert_eq!(bench.reason(&long), Reason::Unwritable);
        for path in ["/-", "/z", "/y"] {
            assert_eq!(bench.reason(path), Reason::CanonicalElsewhere, "{path}");
        }
    }
}

#[test]
fn fresh_crawl_keeps_dates_and_distrust() {
    let [old, moved] = ["2020-01-01T00:00:00Z", "2026-02-20T00:00:00Z"];
    let fresh = |bench: &mut Bench, hours: i64, dates: [&str; 2]| {
        let found = ["/a", "/b"].into_iter().zip(dates).map(|(path, date)| {
            let facts = PageFacts {
                content_hash: Some(ContentHash(1)),
                last_modified: Some(time(date)),
                ..whole_page()
            };
            (path, answered(facts))
        });
        bench.crawl_records(time(START) + hours.hours(), true, found.collect());
    };
    let mut bench = Bench::new();
    bench.crawl(0, &[("/a", 1, Some(old)), ("/b", 1, Some(old))]);
    assert_eq!(bench.dates(), some(&[old; 2]));
    fresh(&mut bench, 24, [moved; 2]);
    assert_eq!(bench.dates(), some(&[old; 2]));
    let distrusted = bench.store.value(LASTMOD_DISTRUSTED).unwrap();
    assert_eq!(distrusted.as_deref(), Some("run 2\nheader 1 *"));
    fresh(&mut bench, 48, [moved; 2]);
    assert_eq!(bench.dates(), some(&[old; 2]));
    assert_eq!(bench.store.value(LASTMOD_DISTRUSTED).unwrap(), None);
}
