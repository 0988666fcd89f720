//! What a run finds out about those before it.

use super::{Bench, discover, discovery, finish, finished, publish, record, requeue, steps};
use crate::{
    page::{Basis, ContentHash, Kept, Outcome, PageRecord, Reason, RunId},
    store::{
        Discovery, Earlier, EarlierAnswer, Finished, Store, outbox::OutboxStep, undo::UndoStep,
    },
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

/// The end of the work on a page whose content and validators are told by `mark`, and which links to it.
pub(super) fn said(found: &Discovery, run: RunId, reason: Reason, mark: u8) -> Finished {
    let mut record = record(run, reason);
    if let Some(Outcome::Answered(facts)) = &mut record.outcome {
        facts.content_hash = Some(ContentHash(mark.into()));
        facts.etag = Some(format!("\"{mark}\""));
    }
    Finished {
        links: Some(vec![discovery(&format!("/to/{mark}"), 0).key]),
        ..finished(found, record)
    }
}

/// The mark of the answer that a later run asks by, that of the links, and whether the page was listed.
pub(super) fn known(store: &dyn Store, found: &[Discovery]) -> Vec<(Option<u8>, Option<u8>, bool)> {
    let queued = store.queued(None, usize::MAX).unwrap();
    let number = |text: &str| text.trim_matches('"').rsplit('/').next()?.parse().ok();
    found
        .iter()
        .map(|found| {
            let waiting = queued.iter().find(|queued| queued.key == found.key);
            let earlier = waiting.and_then(|queued| queued.earlier.as_ref());
            let etag = earlier.and_then(|earlier| earlier.answer.as_ref()?.etag.clone());
            let facts = store.earlier_facts(&found.key).unwrap();
            assert_eq!(etag, facts.and_then(|facts| facts.etag));
            let links = store.links(&found.key).unwrap();
            let link = links.as_ref().and_then(|links| links.first());
            (
                etag.and_then(|etag| number(&etag)),
                link.and_then(|link| number(link.as_str())),
                earlier.is_some_and(|earlier| earlier.was_listed),
            )
        })
        .collect()
}

pub(crate) fn what_is_not_published_is_forgotten_by_the_next_run<B: Bench>() {
    let mut bench = B::new();
    let found = [
        discovery("/a", 1),
        discovery("/b", 2),
        discovery("/c", 3),
        discovery("/d", 4),
    ];
    let [a, b, c, d] = &found;
    let old = &found[..3];
    discover(bench.store(), 1, old);
    for found in old {
        finish(bench.store(), 1, said(found, 1, Reason::Listed, 1));
    }
    publish(bench.store(), 1);
    // One says something else, one is gone, one is as it was, one is new.
    find_again(bench.store(), 2, &found);
    finish(bench.store(), 2, said(a, 2, Reason::Listed, 2));
    finish(bench.store(), 2, said(b, 2, Reason::Redirected, 2));
    finish(bench.store(), 2, said(c, 2, Reason::Listed, 1));
    finish(bench.store(), 2, said(d, 2, Reason::Listed, 2));
    // A second answer does not take the place of the first.
    requeue(bench.store(), 2, a, 9, 1);
    finish(bench.store(), 2, said(a, 2, Reason::Listed, 3));
    bench.reopen();
    assert_eq!(
        bench.store().page(&b.key).unwrap().map(|page| page.reason),
        Some(Reason::Redirected)
    );
    // It is refused.
    let first = (Some(1), Some(1), true);
    let unknown = (None, None, false);
    for run in 3..5 {
        find_again(bench.store(), run, &found);
        bench.crash();
        assert_eq!(
            known(bench.store(), &found),
            [first, first, first, unknown],
            "run {run}"
        );
    }
    // A run that is published in part, gone on with, and refused then.
    finish(bench.store(), 4, said(a, 4, Reason::Listed, 4));
    publish(bench.store(), 4);
    finish(bench.store(), 4, said(b, 4, Reason::Gone, 5));
    bench.store().begin_run(5).unwrap();
    let left = bench.store().left_behind(5, None, 10).unwrap();
    let left: Vec<&UrlKey> = left.iter().map(|(key, _)| key).collect();
    assert_eq!(left, [&a.key, &b.key, &c.key]);
    discover(bench.store(), 5, &found);
    let second = (Some(4), Some(4), true);
    assert_eq!(
        known(bench.store(), &found),
        [second, first, first, unknown]
    );
    // One that is published counts.
    finish(bench.store(), 5, said(b, 5, Reason::Gone, 5));
    publish(bench.store(), 5);
    find_again(bench.store(), 6, &found);
    let gone = (Some(5), Some(5), false);
    assert_eq!(known(bench.store(), &found), [second, gone, first, unknown]);
}

pub(crate) fn of_what_was_never_published_nothing_stays<B: Bench>() {
    let mut bench = B::new();
    let found = [discovery("/a", 1)];
    bench.store().begin_run(1).unwrap();
    discover(bench.store(), 1, &found);
    finish(bench.store(), 1, said(&found[0], 1, Reason::Listed, 1));
    steps(bench.store(), 1, vec![OutboxStep::Undo(UndoStep::Disown)]);
    bench.reopen();
    assert!(bench.store().page(&found[0].key).unwrap().is_some());
    find_again(bench.store(), 2, &found);
    assert_eq!(known(bench.store(), &found), [(None, None, false)]);
    finish(bench.store(), 2, said(&found[0], 2, Reason::Listed, 2));
    publish(bench.store(), 2);
    // Once something was published this changes nothing.
    steps(bench.store(), 2, vec![OutboxStep::Undo(UndoStep::Disown)]);
    find_again(bench.store(), 3, &found);
    let known = known(bench.store(), &found);
    assert_eq!(known, [(Some(2), Some(2), true)]);
}
