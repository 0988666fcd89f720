//! What a run finds out about those before it.

use super::{Bench, discover, discovery, finish, finished, record, requeue};
use crate::{
    page::{Basis, Kept, PageRecord, Reason},
    store::{Discovery, Earlier, EarlierAnswer, Store},
    url_key::UrlKey,
};

fn earlier(store: &dyn Store) -> Vec<Option<Earlier>> {
    let queued = store.queued(None, usize::MAX).unwrap().into_iter();
    queued
        .map(|queued| queued.earlier.map(|earlier| *earlier))
        .collect()
}

fn answer_of(run: u64) -> Option<EarlierAnswer> {
    record(run, Reason::Listed).facts().map(EarlierAnswer::of)
}

fn kept(run: u64) -> PageRecord {
    PageRecord {
        basis: Basis::Kept(Kept {
            reason: Reason::ServerError,
            since: "2026-05-01T10:00:00Z".parse().unwrap(),
            gone_since: Some("2026-05-02T10:00:00Z".parse().unwrap()),
            error: "status 503".to_owned(),
        }),
        ..record(run, Reason::KeptUnreachable)
    }
}

/// Begins run `run`, which finds everything again.
fn find_again(store: &mut dyn Store, run: u64, found: &[Discovery]) {
    store.begin_run(run).unwrap();
    discover(store, run, found);
}

pub(crate) fn the_queue_tells_what_was_known_before<B: Bench>() {
    let mut bench = B::new();
    let [a, b, c] = [discovery("/a", 1), discovery("/b", 2), discovery("/c", 3)];
    let found = [a.clone(), b.clone(), c];
    discover(bench.store(), 1, &found);
    assert_eq!(earlier(bench.store()), [None, None, None]);
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    finish(bench.store(), 1, finished(&b, record(1, Reason::Noindex)));
    find_again(bench.store(), 2, &found);
    bench.reopen();
    let known = |was_listed| {
        Some(Earlier {
            was_listed,
            answer: answer_of(1),
            ..Earlier::default()
        })
    };
    assert_eq!(earlier(bench.store()), [known(true), known(false), None]);
}

pub(crate) fn what_failed_is_remembered_until_a_good_answer<B: Bench>() {
    let mut bench = B::new();
    let found = [discovery("/a", 1)];
    discover(bench.store(), 1, &found);
    finish(bench.store(), 1, finished(&found[0], kept(1)));
    bench.crash();
    assert_eq!(bench.store().page(&found[0].key).unwrap(), Some(kept(1)));
    find_again(bench.store(), 2, &found);
    let known = Earlier {
        was_listed: true,
        failing_since: Some("2026-05-01T10:00:00Z".parse().unwrap()),
        gone_since: Some("2026-05-02T10:00:00Z".parse().unwrap()),
        answer: answer_of(1),
    };
    assert_eq!(earlier(bench.store()), [Some(known)]);
    finish(
        bench.store(),
        2,
        finished(&found[0], record(2, Reason::Listed)),
    );
    find_again(bench.store(), 3, &found);
    let known = Earlier {
        was_listed: true,
        answer: answer_of(2),
        ..Earlier::default()
    };
    assert_eq!(earlier(bench.store()), [Some(known)]);
}

pub(crate) fn an_abandoned_run_forgets_nothing<B: Bench>() {
    let mut bench = B::new();
    let found = [discovery("/a", 1)];
    discover(bench.store(), 1, &found);
    finish(bench.store(), 1, finished(&found[0], kept(1)));
    find_again(bench.store(), 2, &found);
    let known = earlier(bench.store());
    // Nobody worked on it.
    find_again(bench.store(), 3, &found);
    assert_eq!(earlier(bench.store()), known);
    assert!(known[0].as_ref().is_some_and(|known| known.was_listed));
    bench.store().begin_run(4).unwrap();
    let left = bench.store().left_behind(4, None, 10).unwrap();
    assert_eq!(left, [(found[0].key.clone(), 1)]);
    // A decision is one.
    let excluded = Discovery {
        reason: Reason::RobotsDisallowed,
        ..found[0].clone()
    };
    find_again(bench.store(), 4, &[excluded]);
    find_again(bench.store(), 5, &found);
    let known = earlier(bench.store()).remove(0).unwrap();
    assert_eq!((known.was_listed, known.answer), (false, answer_of(1)));
}

pub(crate) fn what_was_listed_and_is_not_found_is_left_behind<B: Bench>() {
    let mut bench = B::new();
    let found: Vec<Discovery> = (0..7)
        .map(|number| Discovery {
            depth: number,
            ..discovery(&format!("/{number}"), u64::from(number))
        })
        .collect();
    discover(bench.store(), 1, &found);
    let reasons = [
        Reason::Listed,
        Reason::Noindex,
        Reason::KeptGoneOnce,
        Reason::ListOnly,
        Reason::NetworkError,
        Reason::Listed,
    ];
    for (found, reason) in found.iter().zip(reasons) {
        finish(bench.store(), 1, finished(found, record(1, reason)));
    }
    assert_eq!(bench.store().left_behind(1, None, 10).unwrap(), []);
    find_again(bench.store(), 2, &found[5..6]);
    let mut left: Vec<(UrlKey, u32)> = Vec::new();
    loop {
        let after = left.last().map(|(key, _)| key.clone());
        let portion = bench.store().left_behind(2, after.as_ref(), 2).unwrap();
        if portion.is_empty() {
            break;
        }
        assert!(portion.len() <= 2);
        left.extend(portion);
    }
    left.sort();
    // The depth of a record is that of its discovery or its own, whichever is smaller.
    let expected: Vec<(UrlKey, u32)> = [0, 2, 3]
        .map(|number: usize| (found[number].key.clone(), found[number].depth.min(1)))
        .to_vec();
    assert_eq!(left, expected);
}

pub(crate) fn confirmed_answers_are_found_until_they_are_asked_again<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    discover(bench.store(), 1, &[a.clone(), b.clone()]);
    let confirmed = PageRecord {
        basis: Basis::Confirmed,
        ..record(1, Reason::Listed)
    };
    finish(bench.store(), 1, finished(&a, confirmed.clone()));
    finish(bench.store(), 1, finished(&b, record(1, Reason::Listed)));
    bench.reopen();
    assert_eq!(bench.store().page(&a.key).unwrap(), Some(confirmed));
    let known = bench.store().confirmed(1, None, 10).unwrap();
    assert_eq!(known, [(a.key.clone(), 1)]);
    assert_eq!(bench.store().confirmed(1, Some(&a.key), 10).unwrap(), []);
    requeue(bench.store(), 1, &a, 3, 1);
    assert_eq!(bench.store().confirmed(1, None, 10).unwrap(), []);
    let known = Earlier {
        was_listed: true,
        answer: answer_of(1),
        ..Earlier::default()
    };
    assert_eq!(earlier(bench.store()), [Some(known)]);
    // In the next run it is the past.
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    find_again(bench.store(), 2, &[a]);
    assert_eq!(bench.store().confirmed(2, None, 10).unwrap(), []);
}
