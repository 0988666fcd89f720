//! Random records and random work: a store does what [`MemoryStore`] does.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use proptest::{
    collection::vec,
    prop_assert_eq,
    test_runner::{Config, TestRunner},
};

use super::{
    Bench,
    arbitrary::{self, Step},
    given::give,
    key,
};
use crate::{
    page::{PageFacts, PageRecord, Reason, RunId, State},
    store::{
        Commit, Doubt, Finished, Giving, KeptDocument, LedgerEntry, QueuedUrl, Store, StoreError,
        Version,
        memory::MemoryStore,
        outbox::{Listing, Waiting},
    },
    url_key::UrlKey,
};

pub(crate) fn every_record_comes_back_as_it_was<B: Bench>() {
    let pages = vec((arbitrary::record(), arbitrary::links()), 1..24);
    runner()
        .run(&pages, |pages| {
            let mut bench = B::new();
            let mut commit = Commit::default();
            for (number, (record, links)) in pages.iter().enumerate() {
                commit.finished.push(Finished {
                    key: key(&format!("https://example.com/{number}")),
                    sequence: number as u64,
                    record: record.clone(),
                    links: links.clone(),
                });
            }
            bench.store().commit(&commit).unwrap();
            bench.reopen();
            for finished in &commit.finished {
                let stored = bench.store().page(&finished.key).unwrap();
                prop_assert_eq!(stored.as_ref(), Some(&finished.record));
                prop_assert_eq!(
                    &bench.store().links(&finished.key).unwrap(),
                    &finished.links
                );
            }
            Ok(())
        })
        .unwrap();
}

/// A failing case is shown whole, so that it can become a test; no file is kept of it.
fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    })
}

/// Everything that can be seen of a store.
#[derive(Debug, PartialEq)]
struct Seen {
    pages: Vec<(UrlKey, PageRecord)>,
    earlier: Vec<Option<PageFacts>>,
    before: Vec<Option<PageFacts>>,
    with_ledger: Vec<(UrlKey, Option<LedgerEntry>)>,
    left_behind: Vec<BTreeSet<(UrlKey, u32)>>,
    confirmed: Vec<BTreeSet<(UrlKey, u32)>>,
    moved: Vec<Vec<QueuedUrl>>,
    put_off: Vec<Option<PageRecord>>,
    links: Vec<Option<Vec<UrlKey>>>,
    keys: BTreeMap<UrlKey, Reason>,
    counts: Vec<BTreeMap<Reason, u64>>,
    queue: Vec<QueuedUrl>,
    queue_len: u64,
    last_sequence: u64,
    orphans: BTreeSet<UrlKey>,
    orphan_count: u64,
    ledger: Vec<(UrlKey, LedgerEntry)>,
    kept: BTreeMap<UrlKey, KeptDocument>,
    doubts: Vec<(UrlKey, Doubt)>,
    values: Vec<Option<String>>,
    published: Vec<(UrlKey, Listing)>,
    outbox: Vec<Waiting>,
    outbox_len: u64,
}

impl Seen {
    fn of(store: &dyn Store) -> Self {
        let mut pages = Vec::new();
        let mut keys = BTreeMap::new();
        for run in arbitrary::RUNS {
            store
                .visit_pages(run, None, &mut |key, record| {
                    pages.push((key.clone(), record));
                    ControlFlow::Continue(())
                })
                .unwrap();
            store
                .visit_keys(run, &mut |key, reason| {
                    assert_eq!(keys.insert(key.clone(), reason), None);
                })
                .unwrap();
        }
        for (key, record) in &pages {
            assert_eq!(store.page(key).unwrap().as_ref(), Some(record));
            assert_versions(store, &pages, key, record);
        }
        let mut ledger = Vec::new();
        store
            .visit_ledger(&mut |key, entry| {
                assert_eq!(store.ledger(key).unwrap().as_ref(), Some(&entry));
                ledger.push((key.clone(), entry));
            })
            .unwrap();
        let mut orphans = BTreeSet::new();
        store
            .visit_orphans(&mut |key| assert!(orphans.insert(key.clone())))
            .unwrap();
        let of_keys = arbitrary::keys();
        let (kept, doubts) = (kept(store), doubts(store));
        let asked = || arbitrary::RUNS.chain([RunId::MAX >> 1]);
        Self {
            left_behind: asked()
                .map(|run| in_portions(|after| store.left_behind(run, after, 2)))
                .collect(),
            confirmed: asked()
                .map(|run| in_portions(|after| store.confirmed(run, after, 2)))
                .collect(),
            put_off: of_keys
                .iter()
                .map(|key| store.put_off(key).unwrap())
                .collect(),
            moved: asked()
                .map(|run| {
                    pages_of(|after: Option<&QueuedUrl>, limit| {
                        let after = after.map(|moved| &moved.key);
                        store.moved(run, after, limit).unwrap()
                    })
                })
                .collect(),
            earlier: of_keys
                .iter()
                .map(|key| store.earlier_facts(key).unwrap())
                .collect(),
            before: of_keys
                .iter()
                .map(|key| store.facts_before(key).unwrap())
                .collect(),
            with_ledger: with_ledger(store),
            links: of_keys
                .iter()
                .map(|key| store.links(key).unwrap())
                .collect(),
            pages,
            keys,
            counts: arbitrary::RUNS
                .map(|run| store.counts(run).unwrap())
                .collect(),
            queue: store.queued(None, usize::MAX).unwrap(),
            queue_len: store.queue_len().unwrap(),
            last_sequence: store.last_sequence().unwrap(),
            orphans,
            orphan_count: store.orphan_count().unwrap(),
            ledger,
            kept,
            doubts,
            values: arbitrary::NAMES
                .map(|name| store.value(name).unwrap())
                .to_vec(),
            published: pages_of(|after, limit| {
                store.published(after.map(|(key, _)| key), limit).unwrap()
            }),
            outbox: pages_of(|after: Option<&Waiting>, limit| {
                let after = after.map(Waiting::place);
                store.outbox(after.as_ref(), limit, arbitrary::NOW).unwrap()
            }),
            outbox_len: store.outbox_len().unwrap(),
        }
    }
}

/// The kept documents.
fn kept(store: &dyn Store) -> BTreeMap<UrlKey, KeptDocument> {
    let mut kept = BTreeMap::new();
    store
        .visit_kept(&mut |key, note| {
            let document = store.kept(key).unwrap().expect("it is kept");
            assert_eq!(document.note(), note);
            assert_eq!(kept.insert(key.clone(), document), None);
        })
        .unwrap();
    for key in arbitrary::keys() {
        assert_eq!(store.kept(&key).unwrap().is_some(), kept.contains_key(&key));
    }
    kept
}

/// What is doubted.
fn doubts(store: &dyn Store) -> Vec<(UrlKey, Doubt)> {
    let doubts = pages_of(|after: Option<&(UrlKey, Doubt)>, limit| {
        store.doubts(after.map(|(key, _)| key), limit).unwrap()
    });
    for key in arbitrary::keys() {
        let doubted = doubts.iter().find(|(url, _)| *url == key);
        assert_eq!(
            store.doubt(&key).unwrap().as_ref(),
            doubted.map(|(_, doubt)| doubt)
        );
    }
    doubts
}

/// The pages of all runs, each with what the ledger remembers of it.
fn with_ledger(store: &dyn Store) -> Vec<(UrlKey, Option<LedgerEntry>)> {
    let mut pages = Vec::new();
    for run in arbitrary::RUNS {
        let visit = &mut |key: &UrlKey, _, known| {
            pages.push((key.clone(), known));
            ControlFlow::Continue(())
        };
        store.visit_pages_with_ledger(run, None, visit).unwrap();
    }
    pages
}

/// Everything that comes in pages, a few at a time.
fn pages_of<T>(mut next: impl FnMut(Option<&T>, usize) -> Vec<T>) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        let page = next(all.last(), 3);
        assert!(page.len() <= 3);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// Everything that comes two at a time.
fn in_portions(
    ask: impl Fn(Option<&UrlKey>) -> Result<Vec<(UrlKey, u32)>, StoreError>,
) -> BTreeSet<(UrlKey, u32)> {
    let mut found = BTreeSet::new();
    let mut after = None;
    loop {
        let portion = ask(after.as_ref()).unwrap();
        let is_last = portion.len() < 2;
        after = portion.last().map(|(key, _)| key.clone());
        for known in portion {
            assert!(found.insert(known), "each comes once");
        }
        if is_last {
            return found;
        }
    }
}

pub(crate) fn the_store_does_what_its_model_does<B: Bench>() {
    runner()
        .run(&arbitrary::steps(), |steps| {
            let mut bench = B::new();
            let mut model = MemoryStore::default();
            for step in steps {
                match &step {
                    Step::Commit(commit) => {
                        bench.store().commit(commit).unwrap();
                        model.commit(commit).unwrap();
                    }
                    Step::BeginRun(run) => {
                        bench.store().begin_run(*run).unwrap();
                        model.begin_run(*run).unwrap();
                    }
                    Step::Rejudge(verdicts) => {
                        bench.store().rejudge(verdicts).unwrap();
                        model.rejudge(verdicts).unwrap();
                    }
                    Step::SetLedger(entries) => {
                        bench.store().set_ledger(entries).unwrap();
                        model.set_ledger(entries).unwrap();
                    }
                    Step::Give(run, urls) => {
                        let gave = [
                            give(bench.store(), *run, urls, Giving::End),
                            give(&mut model, *run, urls, Giving::End),
                        ];
                        prop_assert_eq!(gave[0], gave[1]);
                    }
                    Step::Reopen => bench.reopen(),
                    Step::Crash => bench.crash(),
                }
                prop_assert_eq!(
                    Seen::of(bench.store()),
                    Seen::of(&model),
                    "after {:?}",
                    step
                );
            }
            Ok(())
        })
        .unwrap();
}

/// What the store says of all pages as versions of one of them.
fn assert_versions(
    store: &dyn Store,
    pages: &[(UrlKey, PageRecord)],
    of: &UrlKey,
    record: &PageRecord,
) {
    let said = |record: &PageRecord| record.facts().and_then(|facts| facts.alternates.clone());
    let targets: Vec<&UrlKey> = pages.iter().map(|(key, _)| key).collect();
    let versions = store.versions(record.run, of, &targets).unwrap();
    assert_eq!(versions.len(), pages.len());
    for ((_, target), version) in pages.iter().zip(versions) {
        let is_listed = target.reason.state() == State::Listed;
        match version {
            Version::Unknown => assert_ne!(target.run, record.run),
            Version::Unlisted => assert!(target.run == record.run && !is_listed),
            Version::Alike => {
                assert!(target.run == record.run && is_listed);
                assert_eq!(said(target), said(record));
            }
            Version::Other(versions) => {
                assert!(target.run == record.run && is_listed);
                assert_eq!(versions, said(target).unwrap_or_default());
            }
        }
    }
}
