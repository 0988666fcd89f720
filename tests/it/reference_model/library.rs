//! A store filled by hand, and the library's publish.

use std::path::Path;

use crawler::{
    config::{Layout, PublishConfig},
    page::{
        Basis, BodyEnd, BodyKind, ContentHash, Outcome, PageFacts, PageRecord, Reason, RunId, Via,
    },
    publish::{PublishRequest, Published, publish},
    runs,
    site::Site,
    store::{Commit, Discovery, Finished, Store},
    url_key::UrlKey,
};
use jiff::{Timestamp, ToSpan as _};

use super::keys::Change;

/// Where the pages are.
pub(super) const ORIGIN: &str = "https://shop.example";

/// Effects of one commit.
const BATCH: usize = 5_000;

/// One site with its store and its output.
pub(super) struct Library {
    store: Box<dyn Store>,
    site: Site,
    config: PublishConfig,
    run: RunId,
    now: Timestamp,
    sequence: u64,
}

impl Library {
    /// A site of which nothing is known, published into `output`.
    pub(super) fn new(mut store: Box<dyn Store>, layout: Layout, output: &Path) -> Self {
        let start = key("/");
        let now: Timestamp = "2026-03-02T04:00:11Z".parse().expect("a time");
        let run = runs::open(&mut *store, "", now).expect("a run begins");
        Self {
            store,
            site: Site {
                origin: start.origin(),
                directory: "/".to_owned(),
                start,
                stand_in: None,
            },
            config: PublishConfig {
                output: output.to_owned(),
                layout,
                // What is dropped leaves the folder at once, so that the folder is the set.
                grace: std::time::Duration::ZERO,
                ..PublishConfig::default()
            },
            run: run.number,
            now,
            sequence: 0,
        }
    }

    /// Makes the store know a change, an hour later.
    pub(super) fn change(&mut self, change: &Change) {
        self.now += 1.hour();
        let gone = change.removed.iter().map(|path| (key(path), Reason::Gone));
        let gone: Vec<_> = gone.collect();
        if !gone.is_empty() {
            self.store.rejudge(&gone).expect("the store writes");
        }
        let pages: Vec<&String> = change.added.iter().chain(&change.edited).collect();
        for batch in pages.chunks(BATCH) {
            let mut commit = Commit {
                run: self.run,
                ..Commit::default()
            };
            for path in batch {
                self.page(path, &mut commit);
            }
            self.store.commit(&commit).expect("the store writes");
        }
    }

    /// A page that says what it never said before.
    fn page(&mut self, path: &str, commit: &mut Commit) {
        self.sequence += 1;
        let sequence = self.sequence;
        let seconds = i64::try_from(sequence).expect("not that many");
        let facts = PageFacts {
            status: 200,
            kind: BodyKind::Page,
            end: BodyEnd::Complete,
            body_bytes: 100,
            content_hash: Some(ContentHash(u128::from(sequence))),
            last_modified: Timestamp::from_second(1_600_000_000 + seconds).ok(),
            ..PageFacts::default()
        };
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
            run: self.run,
            reason: Reason::Listed,
            depth: 1,
            via: Via::Link,
            found_on: None,
            attempts: 1,
            fetched_at: Some(self.now),
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

    /// Publishes what the store knows.
    pub(super) fn publish(&mut self) -> Published {
        let request = PublishRequest {
            site: &self.site,
            run: self.run,
            config: &self.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: self.now,
            is_stopped: &|| false,
        };
        publish(&mut *self.store, &request).expect("the set is published")
    }

    /// The folder of the set.
    pub(super) fn output(&self) -> &Path {
        &self.config.output
    }
}

fn key(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("{ORIGIN}{path}")).expect("a key")
}
