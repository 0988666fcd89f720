//! A site that is crawled and published night after night, and whose state may be lost: the bench of the tests about what
//! stands in the set meanwhile.

use std::{collections::BTreeMap, ops::ControlFlow};

use jiff::ToSpan as _;

use super::{
    recrawl::{Says, bench},
    *,
};
use crate::{
    config::PublishConfig,
    page::{PageRecord, Via},
    publish::{self, Objection, PublishError, PublishRequest, publish},
    store::sqlite::SqliteStore,
};

/// A site and what is published of it.
pub(super) struct Nights {
    pub(super) bench: Bench,
    pub(super) says: Says,
    folder: tempfile::TempDir,
    /// States that were begun.
    states: usize,
}

/// What a night came to.
pub(super) struct Night {
    pub(super) records: BTreeMap<String, PageRecord>,
    /// Paths in the order in which they were asked for.
    pub(super) asked: Vec<String>,
    pub(super) ending: Ending,
    /// The objections, if it was refused.
    pub(super) result: Result<(), Vec<&'static str>>,
}

impl Night {
    pub(super) fn reason(&self, path: &str) -> Reason {
        self.records[path].reason
    }

    pub(super) fn via(&self, path: &str) -> Via {
        self.records[path].via
    }

    pub(super) fn with_reason(&self, reason: Reason) -> Vec<&str> {
        let records = self.records.iter();
        let paths = records.filter(|(_, record)| record.reason == reason);
        paths.map(|(path, _)| path.as_str()).collect()
    }
}

impl Nights {
    /// A site with a start page that leads to `paths`, each of which says something of its own.
    pub(super) fn new(paths: &[String]) -> Self {
        let (mut bench, says) = bench();
        let folder = tempfile::tempdir().unwrap();
        bench.config.publish = PublishConfig {
            output: folder.path().join("out"),
            ..PublishConfig::default()
        };
        let nights = Self {
            bench,
            says,
            folder,
            states: 0,
        };
        nights.lead_to(paths);
        for path in paths {
            nights.is_page(path);
        }
        nights
    }

    /// Lets the start page link to `paths`.
    pub(super) fn lead_to(&self, paths: &[String]) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        self.says.link("/", &paths);
    }

    /// Lets `path` be a page with a date.
    pub(super) fn is_page(&self, path: &str) {
        self.says.html(path, &page(path));
    }

    /// Crawls and publishes as the program does, a day after the last time.
    pub(super) async fn night(&mut self) -> Night {
        let before = self.bench.site.requests().len();
        let mut crawled = self.bench.run().await;
        let requests = self.bench.site.requests().split_off(before);
        let request = PublishRequest {
            site: &crawled.site,
            run: crawled.run,
            config: &self.bench.config.publish,
            robots: crawled.robots.as_ref(),
            partial: false,
            doubted: crawled.doubted.as_ref(),
            dry_run: false,
            now: self.bench.now,
            is_stopped: &|| false,
        };
        let result = match publish(&mut *crawled.store, &request) {
            Ok(published) => {
                assert_eq!(published.problems, [""; 0]);
                Ok(())
            }
            // Nothing changes, and the run goes on.
            Err(PublishError::Doubted(_)) => Ok(()),
            Err(PublishError::Refused(refusal)) => {
                let objections = refusal.objections.iter();
                Err(objections.map(Objection::code).collect())
            }
            Err(error) => panic!("{error}"),
        };
        let is_refused = result.is_err();
        if is_refused {
            publish::disown(&mut *crawled.store, crawled.run).unwrap();
        }
        if is_refused || crawled.ending == Ending::Drained {
            runs::finish(&mut *crawled.store, crawled.run).unwrap();
        }
        let mut records = BTreeMap::new();
        let mut visit = |key: &UrlKey, record: PageRecord| {
            records.insert(key.path_and_query().to_owned(), record);
            ControlFlow::Continue(())
        };
        let (store, run) = (&*crawled.store, crawled.run);
        store.visit_pages(run, None, &mut visit).unwrap();
        let counted: u64 = store.counts(run).unwrap().values().sum();
        assert_eq!(counted, records.len() as u64);
        let ending = crawled.ending;
        self.bench.keep(crawled);
        self.bench.now += 24.hours();
        Night {
            records,
            asked: requests
                .iter()
                .filter_map(|request| request.url.strip_prefix("https://site.example"))
                .filter(|path| *path != "/robots.txt")
                .map(str::to_owned)
                .collect(),
            ending,
            result,
        }
    }

    /// The paths of the published set with their dates.
    pub(super) fn set(&self) -> BTreeMap<String, Option<String>> {
        let store = self.bench.store.lock().unwrap();
        let store = store.as_ref().unwrap();
        let listed = store.published(None, 10_000).unwrap().into_iter();
        listed
            .map(|(key, listing)| (key.path_and_query().to_owned(), listing.lastmod))
            .collect()
    }

    /// Loses the state; the next one reads the set back by `recall`.
    pub(super) fn lose_state(
        &mut self,
        recall: fn(
            &mut dyn Store,
            &Site,
            &std::path::Path,
        ) -> Result<publish::Recalled, StoreError>,
    ) {
        self.states += 1;
        let path = self.folder.path().join(format!("{}.db", self.states));
        let mut store = SqliteStore::open(&path).unwrap();
        let start = UrlKey::from_normalised(START).unwrap();
        let site = Site {
            origin: start.origin(),
            directory: "/".to_owned(),
            start,
            stand_in: None,
        };
        let output = self.bench.config.publish.output.clone();
        let recalled = recall(&mut store, &site, &output).unwrap();
        assert!(recalled.files > 0);
        // A start that does not come to a publish does it again.
        recall(&mut store, &site, &output).unwrap();
        *self.bench.store.lock().unwrap() = Some(Box::new(store));
    }
}

/// When the page `path` changed, as it states. A date that all pages have is not believed.
pub(super) fn date(path: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_64(path.as_bytes());
    let (day, hour, minute) = (1 + hash % 28, hash / 28 % 24, hash / 1_000 % 60);
    format!("2026-01-{day:02}T{hour:02}:{minute:02}:00Z")
}

/// A page with a text of its own, and a date.
pub(super) fn page(path: &str) -> String {
    let mut random = random::Random(xxhash_rust::xxh3::xxh3_64(path.as_bytes()) | 1);
    let words: Vec<String> = (0..60)
        .map(|_| format!("w{:x}", random.below(1 << 20)))
        .collect();
    format!(
        "<!doctype html><title>{path}</title>\
         <script type='application/ld+json'>{{\"@type\":\"Article\",\"dateModified\":\"{}\"}}</script>\
         <main><h1>{path}</h1><p>{}</p></main>",
        date(path),
        words.join(" ")
    )
}

/// So many paths that begin with `prefix`.
pub(super) fn paths(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}
