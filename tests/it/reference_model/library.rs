//! A store filled by hand, and the library's publish.

use std::{path::Path, sync::Arc};

use crawler::{
    clock::Clock,
    config::{Config, GuardConfig, Layout},
    crawl_state,
    page::{
        Basis, BodyEnd, BodyKind, ContentHash, Outcome, PageFacts, PageRecord, Reading, Reason,
        Via, Visit,
    },
    publish::Published,
    site::Site,
    site_run::{Stored, StoredRequest},
    store::{Discovery, Effect, Finished, Store},
    url_key::UrlKey,
};
use jiff::{Timestamp, ToSpan as _};

use super::keys::{Change, THRESHOLDS};

/// Where the pages are.
pub(super) const ORIGIN: &str = "https://shop.example";

/// Effects of one commit.
const BATCH: usize = 5_000;

/// One site with its store and its output.
pub(super) struct Library {
    /// `None` while it is published from.
    store: Option<Store>,
    site: Site,
    config: Config,
    now: Timestamp,
    sequence: u64,
}

/// A clock that shows one time.
#[derive(Debug)]
struct Stopped(Timestamp);

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        self.0
    }
}

impl Library {
    /// A site of which nothing is known, published into `output`.
    pub(super) fn new(store: Store, layout: Layout, output: &Path) -> Self {
        let start = key("/");
        let mut config = Config::default();
        output.clone_into(&mut config.publish.output);
        config.publish.layout = layout;
        let [file_entries, min_section, min_subsection] = THRESHOLDS;
        config.publish.file_entries = file_entries;
        config.publish.min_section = min_section;
        config.publish.min_subsection = min_subsection;
        config.publish.guard = GuardConfig::OFF;
        // Dropped files leave the folder at once, so that the folder is the set.
        config.publish.grace = std::time::Duration::ZERO;
        Self {
            store: Some(store),
            site: Site {
                origin: start.origin(),
                directory: "/".to_owned(),
                start,
                stand_in: None,
            },
            config,
            now: "2026-03-02T04:00:11Z".parse().expect("a time"),
            sequence: 0,
        }
    }

    /// Stores a change, an hour later, as a crawl that reached these pages only.
    pub(super) fn change(&mut self, change: &Change) {
        self.now += 1.hour();
        let mut store = self.store.take().expect("nobody publishes");
        crawl_state::open(&mut store, "", self.now, false).expect("a crawl begins");
        let pages = change.added.iter().chain(&change.edited);
        let pages = pages.map(|path| (path, 200));
        let gone = change.removed.iter().map(|path| (path, 410));
        let visits: Vec<(&String, u16)> = pages.chain(gone).collect();
        for batch in visits.chunks(BATCH) {
            let mut commit = Vec::new();
            for (path, status) in batch {
                self.visit(path, *status, &mut commit);
            }
            store.commit(&commit).expect("the store writes");
        }
        self.store = Some(store);
    }

    /// A page with a new text, or one that is gone.
    fn visit(&mut self, path: &str, status: u16, commit: &mut Vec<Effect>) {
        self.sequence += 1;
        let sequence = self.sequence;
        let seconds = i64::try_from(sequence).expect("not that many");
        let facts = PageFacts {
            status,
            kind: BodyKind::Page,
            end: BodyEnd::Complete,
            body_bytes: 100,
            content_hash: Some(ContentHash(u128::from(sequence))),
            last_modified: Timestamp::from_second(1_600_000_000 + seconds).ok(),
            ..PageFacts::default()
        };
        commit.push(Effect::Discover(Discovery {
            distance: 0,
            key: key(path),
            sequence,
            depth: 1,
            hops: 0,
            via: Via::Link,
            found_on: None,
            reason: Reason::Queued,
        }));
        let record = PageRecord {
            reason: if status == 200 {
                Reason::Listed
            } else {
                Reason::Gone
            },
            depth: 1,
            via: Via::Link,
            found_on: None,
            attempts: 1,
            fetched_at: Some(self.now),
            sitemap_lastmod: None,
            outcome: Some(Outcome::Answered(Box::new(facts))),
            basis: Basis::Own,
            failing_since: None,
            gone_since: None,
        };
        commit.push(Effect::Finish(Box::new(Finished {
            key: key(path),
            visit: Visit::finished(sequence, record, Reading::default()),
            links: None,
        })));
    }

    /// Publishes the store.
    pub(super) fn publish(&mut self) -> Published {
        let clock: Arc<dyn Clock> = Arc::new(Stopped(self.now));
        let request = StoredRequest {
            site: &self.site,
            config: &self.config,
            state: None,
            dry_run: false,
            clock: &clock,
            is_stopped: &|| false,
            send_fence: None,
        };
        let store = self.store.take().expect("nobody publishes");
        let ended = request.run(store, Stored::Crawl);
        self.store = ended.held.map(|held| held.store);
        ended.published.expect("the set is published")
    }

    /// The folder of the set.
    pub(super) fn output(&self) -> &Path {
        &self.config.publish.output
    }
}

fn key(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("{ORIGIN}{path}")).expect("a key")
}
