//! Listed pages whose redirect says nothing yet, and pages that were listed before the first run.

use super::{
    Bench, discover, discovery, finish, finished, page, publish, queue, record, requeue, steps,
};
use crate::{
    page::{Basis, Outcome, PageFacts, PageRecord, Reason, RunId, State, Via},
    store::{Discovery, Store, outbox::OutboxStep, undo::UndoStep},
};

/// A record of a page that redirects.
fn moved(run: RunId) -> PageRecord {
    let facts = PageFacts {
        status: 301,
        location: Some(discovery("/to", 0).key),
        ..PageFacts::default()
    };
    PageRecord {
        outcome: Some(Outcome::Answered(Box::new(facts))),
        ..record(run, Reason::Redirected)
    }
}

/// Two pages of which the first was listed and published, and which both redirect in run 2.
fn two_moved(store: &mut dyn Store) -> [Discovery; 2] {
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    discover(store, 1, &[a.clone(), b.clone()]);
    finish(store, 1, finished(&a, record(1, Reason::Listed)));
    finish(store, 1, finished(&b, record(1, Reason::Noindex)));
    publish(store, 1);
    store.begin_run(2).unwrap();
    discover(store, 2, &[a.clone(), b.clone()]);
    finish(store, 2, finished(&a, moved(2)));
    finish(store, 2, finished(&b, moved(2)));
    [a, b]
}

fn put_off(store: &mut dyn Store, found: &[Discovery]) {
    let kept = found
        .iter()
        .map(|found| (found.key.clone(), Reason::KeptNotReached));
    store.rejudge(&kept.collect::<Vec<_>>()).unwrap();
}

/// Which pages the store tells to have moved in run 2.
fn told(store: &dyn Store) -> Vec<String> {
    let moved = store.moved(2, None, 10).unwrap().into_iter();
    moved
        .map(|moved| {
            assert!(moved.earlier.is_some_and(|earlier| earlier.was_listed));
            moved.key.path().to_owned()
        })
        .collect()
}

pub(crate) fn a_listed_page_that_is_put_off_counts_by_what_was_known<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = two_moved(bench.store());
    assert_eq!(told(bench.store()), ["/a"], "only that was listed");
    put_off(bench.store(), &[a.clone(), b.clone()]);
    bench.reopen();
    for _ in 0..2 {
        let kept = page(bench.store(), &a);
        assert_eq!(kept.reason.state(), State::Listed);
        let good = record(1, Reason::Listed);
        let title = |record: &PageRecord| record.facts().and_then(|facts| facts.title.clone());
        assert_eq!(title(&kept), title(&good));
        assert!(matches!(kept.basis, Basis::Kept(kept) if kept.reason == Reason::Queued));
        let own = bench.store().put_off(&a.key).unwrap().unwrap();
        assert_eq!(own.facts(), moved(2).facts());
        assert_eq!(bench.store().put_off(&b.key).unwrap(), None);
        assert_eq!(page(bench.store(), &b).facts(), moved(2).facts());
        assert_eq!(told(bench.store()), ["/a"]);
        // A part of the run is published.
        publish(bench.store(), 2);
        bench.crash();
    }
    // Another verdict: its own answer counts.
    let verdict = (a.key.clone(), Reason::Redirected);
    bench.store().rejudge(&[verdict]).unwrap();
    assert_eq!(page(bench.store(), &a).facts(), moved(2).facts());
    assert_eq!(told(bench.store()), ["/a"]);
    publish(bench.store(), 2);
    assert_eq!(told(bench.store()), [""; 0], "it is published so");
}

pub(crate) fn what_was_put_off_is_asked_again_as_if_it_had_not_been<B: Bench>() {
    for begins_anew in [false, true] {
        let mut bench = B::new();
        let [a, _] = two_moved(bench.store());
        put_off(bench.store(), std::slice::from_ref(&a));
        publish(bench.store(), 2);
        if begins_anew {
            bench.store().begin_run(3).unwrap();
            let left = bench.store().left_behind(3, None, 10).unwrap();
            assert_eq!(left, [(a.key.clone(), 1)]);
            discover(bench.store(), 3, std::slice::from_ref(&a));
        } else {
            requeue(bench.store(), 2, &a, 9, 1);
            assert_eq!(queue(bench.store()), [(9, a.key.clone())]);
            assert_eq!(told(bench.store()), [""; 0]);
        }
        bench.reopen();
        assert_eq!(page(bench.store(), &a).reason, Reason::Queued);
        let waiting = bench.store().queued(None, 10).unwrap().remove(0);
        let earlier = waiting.earlier.unwrap();
        assert!(earlier.was_listed);
        let answer = earlier.answer.unwrap();
        // Its links are not known: it has to be asked for as a whole.
        assert_eq!((answer.status, answer.read_as), (200, 0));
    }
}

pub(crate) fn what_was_listed_before_the_first_run_outlives_refused_ones<B: Bench>() {
    let mut bench = B::new();
    let before: Vec<Discovery> = ["/a", "/b", "/c"]
        .map(|path| Discovery {
            reason: Reason::KeptNotReached,
            via: Via::Earlier,
            ..discovery(path, 0)
        })
        .to_vec();
    discover(bench.store(), 0, &before);
    steps(bench.store(), 0, vec![OutboxStep::Undo(UndoStep::Disown)]);
    let new = discovery("/new", 3);
    for run in 1..4 {
        bench.store().begin_run(run).unwrap();
        let left = bench.store().left_behind(run, None, 10).unwrap();
        assert_eq!(left.len(), 3, "run {run}");
        let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
        discover(bench.store(), run, &[a.clone(), b.clone(), new.clone()]);
        bench.crash();
        let waiting = bench.store().queued(None, 10).unwrap();
        let known: Vec<bool> = waiting
            .iter()
            .map(|waiting| {
                waiting
                    .earlier
                    .as_ref()
                    .is_some_and(|known| known.was_listed)
            })
            .collect();
        assert_eq!(known, [true, true, false], "run {run}");
        // One is decided, one is not, and the run is refused.
        finish(bench.store(), run, finished(&a, record(run, Reason::Gone)));
        finish(
            bench.store(),
            run,
            finished(&new, record(run, Reason::Listed)),
        );
    }
    publish(bench.store(), 3);
    bench.store().begin_run(4).unwrap();
    let left = bench.store().left_behind(4, None, 10).unwrap();
    let left: Vec<&str> = left.iter().map(|(key, _)| key.path()).collect();
    assert_eq!(left, ["/b", "/c", "/new"]);
}
