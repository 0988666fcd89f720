//! The guarantees of the store: each method in a state in memory, and files as people, crashes and disks treat them.

mod arbitrary;
mod damage;
mod file;
pub(crate) mod fixture;
mod kill;
mod outbox;
mod pages;
mod readable;
mod sound;
mod supplied;
mod visits;

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use self::fixture::{Commit, answered, commit, empty_answer, finished, queued_at, unfetched};
use super::*;
use crate::page::{Basis, Outcome, PageFacts, Promotion};

/// Bytes of a page of the file.
const PAGE: usize = 8_192;

/// A key by its text.
fn key(text: &str) -> UrlKey {
    UrlKey::from_normalised(text).unwrap()
}

/// A key on example.com.
fn url(path: &str) -> UrlKey {
    key(&format!("https://example.com{path}"))
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A discovery of `path` on example.com that will be fetched.
fn discovery(path: &str, sequence: u64) -> Discovery {
    Discovery {
        found_on: Some(url("/")),
        ..queued_at(sequence, url(path))
    }
}

/// A record that was answered.
fn record(reason: Reason) -> PageRecord {
    let facts = PageFacts {
        status: 200,
        etag: Some("\"1\"".to_owned()),
        title: Some("a title".to_owned()),
        ..PageFacts::default()
    };
    PageRecord {
        reason,
        found_on: Some(url("/")),
        fetched_at: Some(time("2026-05-01T10:00:00.25Z")),
        ..answered(facts)
    }
}

/// A record without an attempt.
fn waiting_record(reason: Reason) -> PageRecord {
    PageRecord {
        found_on: Some(url("/")),
        ..unfetched(reason)
    }
}

/// The end of the work on `found` as a listed page that links to these paths.
fn linking(found: &Discovery, paths: &[&str]) -> Finished {
    let links: Vec<UrlKey> = paths.iter().map(|path| url(path)).collect();
    Finished {
        links: Some(links.into()),
        ..finished(found, record(Reason::Listed))
    }
}

/// The visit that `discovery` makes.
fn queued_visit(discovery: &Discovery) -> Visit {
    Visit {
        hops: discovery.hops,
        is_orphan: discovery.via.is_seed(),
        is_declared: discovery.via.is_declared(),
        ..Visit::finished(
            discovery.sequence,
            PageRecord {
                depth: discovery.depth,
                via: discovery.via,
                found_on: discovery.found_on.clone(),
                ..waiting_record(discovery.reason)
            },
            Reading::default(),
        )
    }
}

/// A row of `page` that was published on the first of March.
fn page_of(record: PageRecord) -> Page {
    Page {
        record,
        crawl: Some(1),
        first_seen: time("2026-03-01T12:00:00Z"),
        last_seen: time("2026-03-01T12:00:00Z"),
        dates: None,
    }
}

fn page_row(key: UrlKey, page: Page, links: PageLinks) -> PageRow {
    PageRow {
        key,
        page,
        links,
        promotion: None,
    }
}

fn discover(store: &mut Store, discovered: &[Discovery]) {
    commit(store, |commit| commit.discovered = discovered.to_vec());
}

/// The queued URLs.
fn queue(store: &Store) -> Vec<(u64, UrlKey)> {
    let queued = store.queued(None, usize::MAX).unwrap();
    let queued = queued.into_iter();
    queued.map(|url| (url.sequence, url.key)).collect()
}

/// All rows from `from` on.
fn rows(store: &Store, from: Option<&UrlKey>) -> Vec<(UrlKey, Option<Page>, Option<Visit>)> {
    store.rows_from(from)
}

/// The links of `key`: those of its visit, or else of its page row.
fn links_of(store: &Store, key: &UrlKey) -> Option<Vec<UrlKey>> {
    let sql = "SELECT links FROM link WHERE id = ifnull(
                 (SELECT links FROM visit WHERE url = ?1), (SELECT links FROM page WHERE url = ?1))";
    let bytes: Option<Option<Vec<u8>>> = store
        .connection
        .query_row(sql, [key.as_str()], |row| row.get(0))
        .optional()
        .unwrap();
    let links = StoredLinks::new(key, &bytes??);
    let links = LinkReader::default().keys_where(links, |_| true);
    Some(links.unwrap())
}

/// Rows of the table `link`.
fn stored_links(store: &Store) -> u64 {
    let sql = "SELECT count(*) FROM link";
    let count = store.connection.query_row(sql, [], |row| row.get(0));
    count.unwrap()
}

fn state(folder: &TempDir) -> PathBuf {
    folder.path().join("site.db")
}

fn open_error(path: &Path) -> StoreError {
    match Store::open(path) {
        Ok(_) => panic!("{} can be opened", path.display()),
        Err(error) => error,
    }
}

/// Closed states with one listed and one queued URL, which both are published.
fn make_state(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    commit(&mut store, |commit| {
        commit.discovered = vec![a.clone(), b];
        commit.finished = vec![linking(&a, &["/b"])];
        let page = page_of(record(Reason::Listed));
        commit.pages = vec![page_row(a.key, page, PageLinks::OfVisit)];
        commit.values = vec![(names::NOTIFY_KEY.to_owned(), Some("secret".to_owned()))];
    });
}

/// Changes the closed state `path` by hand.
fn meddle(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}
