//! Going back behind a published set.

use super::{
    Bench, TAKE, discover, discovery,
    earlier::{known, said},
    finish, steps,
};
use crate::{
    page::{ContentHash, Reason, RunId},
    store::{
        Discovery, LedgerEntry, Store,
        outbox::{ContentMark, Difference, Listing, OutboxStep},
        undo::{SetNumber, UndoStep},
    },
    url_key::UrlKey,
};

/// Publishes what run `run` knows as the set `set`.
fn publish(store: &mut dyn Store, run: RunId, set: SetNumber) {
    steps(
        store,
        run,
        vec![OutboxStep::Undo(UndoStep::KeepBefore(set)), TAKE],
    );
}

fn step_back(store: &mut dyn Store, to: SetNumber, run: Option<RunId>) {
    steps(
        store,
        0,
        vec![OutboxStep::Undo(UndoStep::StepBack { to, run })],
    );
}

/// Run `run` finds all pages; what each says is told by its mark, 0 for what is gone.
fn crawl(store: &mut dyn Store, run: RunId, found: &[Discovery], marks: &[u8]) {
    store.begin_run(run).unwrap();
    let found = &found[..marks.len()];
    discover(store, run, found);
    for (found, mark) in found.iter().zip(marks) {
        let reason = match mark {
            0 => Reason::Gone,
            _ => Reason::Listed,
        };
        finish(store, run, said(found, run, reason, *mark));
    }
}

/// What a run that begins now knows: the mark of the last answer and of the links, and whether the page was listed.
fn knows(
    store: &mut dyn Store,
    run: RunId,
    found: &[Discovery],
) -> Vec<(Option<u8>, Option<u8>, bool)> {
    let before: Vec<_> = found
        .iter()
        .map(|found| store.facts_before(&found.key).unwrap())
        .collect();
    store.begin_run(run).unwrap();
    discover(store, run, found);
    let after: Vec<_> = found
        .iter()
        .map(|found| store.earlier_facts(&found.key).unwrap())
        .collect();
    assert_eq!(before, after, "what was said before is what is so");
    known(store, found)
}

fn pages() -> [Discovery; 4] {
    [
        discovery("/a", 1),
        discovery("/b", 2),
        discovery("/c", 3),
        discovery("/d", 4),
    ]
}

const fn listed(mark: u8) -> (Option<u8>, Option<u8>, bool) {
    (Some(mark), Some(mark), true)
}

const UNKNOWN: (Option<u8>, Option<u8>, bool) = (None, None, false);

pub(crate) fn a_set_is_taken_back_as_if_it_had_been_refused<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    crawl(bench.store(), 1, &found, &[1, 1, 1]);
    publish(bench.store(), 1, 1);
    // One says something else, one is gone, one is as it was, one is new; and so once more.
    crawl(bench.store(), 2, &found, &[2, 0, 1, 2]);
    publish(bench.store(), 2, 2);
    crawl(bench.store(), 3, &found, &[3, 0, 1, 2]);
    publish(bench.store(), 3, 2);
    bench.reopen();
    step_back(bench.store(), 1, Some(1));
    // Until another run begins it is known what the last one found.
    let page = bench.store().page(&found[1].key).unwrap();
    assert_eq!(page.map(|page| page.reason), Some(Reason::Gone));
    bench.crash();
    let first = [listed(1), listed(1), listed(1), UNKNOWN];
    assert_eq!(knows(bench.store(), 4, &found), first);
    bench.store().begin_run(5).unwrap();
    let left = bench.store().left_behind(5, None, 10).unwrap();
    let left: Vec<&UrlKey> = left.iter().map(|(key, _)| key).collect();
    assert_eq!(left, [&found[0].key, &found[1].key, &found[2].key]);
}

pub(crate) fn what_runs_found_is_forgotten_and_the_ledger_stays<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    let listing = |found: &Discovery| Difference {
        key: found.key.clone(),
        change: None,
        listing: Some(Listing::default()),
    };
    let dated = LedgerEntry {
        lastmod: Some("2026-01-01".to_owned()),
        ..LedgerEntry::default()
    };
    for (run, mark) in [(1, 1), (2, 2)] {
        crawl(bench.store(), run, &found, &[mark, mark, 0, 1]);
        let staged = found.iter().map(listing).collect();
        steps(bench.store(), run, vec![OutboxStep::Stage(staged)]);
        publish(bench.store(), run, run);
        let entry = (found[0].key.clone(), dated.clone());
        bench.store().set_ledger(&[entry]).unwrap();
    }
    // Some of the next run, which is not published.
    crawl(bench.store(), 3, &found, &[3]);
    discover(bench.store(), 3, &[discovery("/waits", 9)]);
    let staged = vec![listing(&found[3])];
    let forget = OutboxStep::Undo(UndoStep::ForgetRuns);
    steps(bench.store(), 0, vec![OutboxStep::Stage(staged), forget]);
    bench.reopen();
    let store = bench.store();
    for found in &found {
        assert_eq!(store.page(&found.key).unwrap(), None);
        assert_eq!(store.links(&found.key).unwrap(), None);
    }
    assert_eq!(store.published(None, 10).unwrap(), []);
    assert_eq!(
        (store.queue_len().unwrap(), store.last_sequence().unwrap()),
        (0, 0)
    );
    let known_date = store.ledger(&found[0].key).unwrap();
    assert_eq!(known_date.and_then(|entry| entry.lastmod), dated.lastmod);
    // Nothing comes back, neither by another set nor by another run.
    steps(store, 0, vec![TAKE]);
    step_back(store, 0, None);
    assert_eq!(store.published(None, 10).unwrap(), []);
    assert_eq!(knows(bench.store(), 4, &found), [UNKNOWN; 4]);
    crawl(bench.store(), 5, &found, &[1, 1, 1, 1]);
    publish(bench.store(), 5, 5);
    assert_eq!(knows(bench.store(), 6, &found), [listed(1); 4]);
}

pub(crate) fn what_was_taken_back_can_be_published_all_the_same<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    crawl(bench.store(), 1, &found, &[1, 1, 1]);
    publish(bench.store(), 1, 1);
    crawl(bench.store(), 2, &found, &[2, 0, 1, 2]);
    publish(bench.store(), 2, 2);
    step_back(bench.store(), 1, Some(1));
    publish(bench.store(), 2, 3);
    // It can be taken back again.
    let second = [listed(2), (Some(0), Some(0), false), listed(1), listed(2)];
    assert_eq!(knows(bench.store(), 3, &found), second);
    step_back(bench.store(), 1, Some(1));
    let first = [listed(1), listed(1), listed(1), UNKNOWN];
    assert_eq!(knows(bench.store(), 4, &found), first);
}

pub(crate) fn one_of_several_sets_is_gone_back_to<B: Bench>() {
    let check = |to: SetNumber, run: Option<RunId>, expected: [u8; 2]| {
        let mut bench = B::new();
        let found = pages();
        for night in 1..=3_u8 {
            let run = night.into();
            crawl(bench.store(), run, &found, &[night, night.max(2)]);
            publish(bench.store(), run, run);
        }
        step_back(bench.store(), to, run);
        let known = knows(bench.store(), 4, &found[..2]);
        assert_eq!(known, expected.map(listed), "back to {to}");
    };
    check(3, Some(3), [3, 3]);
    check(2, Some(2), [2, 2]);
    check(1, Some(1), [1, 2]);
    // By whom it was published is not known.
    check(1, None, [1, 2]);
}

pub(crate) fn a_run_that_goes_on_is_taken_back_to_where_it_was_published<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    crawl(bench.store(), 1, &found, &[1, 1, 1, 1]);
    publish(bench.store(), 1, 1);
    bench.store().begin_run(2).unwrap();
    discover(bench.store(), 2, &found);
    finish(bench.store(), 2, said(&found[0], 2, Reason::Listed, 2));
    publish(bench.store(), 2, 2);
    finish(bench.store(), 2, said(&found[1], 2, Reason::Gone, 0));
    publish(bench.store(), 2, 3);
    // This is not published.
    finish(bench.store(), 2, said(&found[2], 2, Reason::Gone, 0));
    bench.crash();
    step_back(bench.store(), 2, Some(2));
    let expected = [listed(2), listed(1), listed(1), listed(1)];
    assert_eq!(knows(bench.store(), 3, &found), expected);
}

pub(crate) fn behind_what_is_forgotten_nobody_goes_back<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    crawl(bench.store(), 1, &found, &[1, 1]);
    publish(bench.store(), 1, 1);
    set_ledger(bench.store(), &found[0], 1, "2026-01-01");
    crawl(bench.store(), 2, &found, &[2, 0]);
    publish(bench.store(), 2, 2);
    set_ledger(bench.store(), &found[0], 2, "2026-02-02");
    steps(
        bench.store(),
        2,
        vec![OutboxStep::Undo(UndoStep::ForgetBefore(2))],
    );
    step_back(bench.store(), 1, None);
    let expected = [listed(2), (Some(0), Some(0), false)];
    assert_eq!(knows(bench.store(), 3, &found[..2]), expected);
    assert_eq!(dates(bench.store(), &found[..1]), ["2026-02-02"]);
}

pub(crate) fn of_sets_of_another_store_no_record_stays<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    crawl(bench.store(), 1, &found, &[1, 1]);
    publish(bench.store(), 1, 1);
    step_back(bench.store(), 0, Some(0));
    assert_eq!(knows(bench.store(), 2, &found[..2]), [UNKNOWN, UNKNOWN]);
}

fn entry(mark: u8, lastmod: &str) -> LedgerEntry {
    LedgerEntry {
        content_hash: mark.into(),
        hash_version: ContentHash::VERSION,
        lastmod: Some(lastmod.to_owned()),
        ..LedgerEntry::default()
    }
}

fn set_ledger(store: &mut dyn Store, found: &Discovery, mark: u8, lastmod: &str) {
    store
        .set_ledger(&[(found.key.clone(), entry(mark, lastmod))])
        .unwrap();
}

/// What the ledger itself has.
fn dates(store: &dyn Store, found: &[Discovery]) -> Vec<String> {
    let date = |found: &Discovery| {
        let entry = store.ledger(&found.key).unwrap();
        entry.and_then(|entry| entry.lastmod).unwrap_or_default()
    };
    found.iter().map(date).collect()
}

/// The date that is remembered of each page of run `run`, by what it says.
fn remembered(store: &dyn Store, run: RunId) -> Vec<String> {
    let mut dates = Vec::new();
    store
        .visit_pages_with_ledger(run, None, &mut |_, _, known| {
            dates.push(known.and_then(|known| known.lastmod).unwrap_or_default());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    dates
}

pub(crate) fn a_page_has_the_date_of_what_it_says_after_a_step_back<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    let [a, b, c, d] = &found;
    crawl(bench.store(), 1, &found, &[1, 1, 1, 1]);
    publish(bench.store(), 1, 1);
    for found in &found {
        set_ledger(bench.store(), found, 1, "2026-01-01");
    }
    for night in [2, 3_u8] {
        crawl(
            bench.store(),
            night.into(),
            &found,
            &[night, night, night, 1],
        );
        publish(bench.store(), night.into(), night.into());
        for found in [a, b, c] {
            set_ledger(bench.store(), found, night, &format!("2026-01-0{night}"));
        }
        // The same content with the same date is nothing to go back to.
        set_ledger(bench.store(), d, 1, "2026-01-01");
    }
    bench.reopen();
    step_back(bench.store(), 1, Some(1));
    assert_eq!(dates(bench.store(), &found), ["2026-01-01"; 4]);
    // What they said before, in between, last, and what nobody ever saw; 9 is another content of the last.
    crawl(bench.store(), 4, &found, &[1, 2, 3, 9]);
    let expected = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01"];
    assert_eq!(remembered(bench.store(), 4), expected);
    // Once it is noted what a page says, that alone counts.
    publish(bench.store(), 4, 4);
    set_ledger(bench.store(), b, 2, "2026-01-02");
    crawl(bench.store(), 5, &found, &[1, 3, 3, 9]);
    let expected = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01"];
    assert_eq!(remembered(bench.store(), 5), expected);
}

pub(crate) fn what_is_remembered_of_the_published_set_comes_back<B: Bench>() {
    let mut bench = B::new();
    let found = pages();
    let [a, b, c, d] = &found;
    let listing = |mark: u64| Listing {
        lastmod: Some(format!("2026-01-0{mark}")),
        content: Some(ContentMark {
            version: 1,
            hash: mark,
        }),
    };
    let stage = |changes: &[(&Discovery, Option<u64>)]| {
        let changes = changes.iter().map(|(found, mark)| Difference {
            key: found.key.clone(),
            change: None,
            listing: mark.map(listing),
        });
        OutboxStep::Stage(changes.collect())
    };
    let publish = |store: &mut dyn Store, set: SetNumber, changes: OutboxStep| {
        steps(
            store,
            set,
            vec![changes, OutboxStep::Undo(UndoStep::KeepBefore(set)), TAKE],
        );
    };
    let first = [(a, Some(1)), (b, Some(1)), (c, Some(1))];
    publish(bench.store(), 1, stage(&first));
    let before = bench.store().published(None, 10).unwrap();
    publish(
        bench.store(),
        2,
        stage(&[(a, Some(2)), (b, None), (d, Some(2))]),
    );
    publish(bench.store(), 3, stage(&[(a, Some(3))]));
    // The files of the set are read again, which say nothing of contents.
    let of_files = stage(&[(d, None), (b, Some(7))]);
    let back = OutboxStep::Undo(UndoStep::StepBack {
        to: 1,
        run: Some(1),
    });
    steps(bench.store(), 0, vec![of_files, TAKE, back]);
    bench.reopen();
    assert_eq!(bench.store().published(None, 10).unwrap(), before);
    // It is gone back to once.
    step_back(bench.store(), 1, None);
    assert_eq!(bench.store().published(None, 10).unwrap(), before);
}
