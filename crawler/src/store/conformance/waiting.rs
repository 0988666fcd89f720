//! Who waits, in which order, and who does not wait any more.

use std::collections::BTreeMap;

use super::{Bench, discover, discovery, finish, finished, page, publish, queue, record, requeue};
use crate::{
    page::{Basis, ContentHash, Outcome, PageRecord, Reason, Via},
    store::{Commit, Discovery, Earlier, EarlierAnswer, QueuedUrl},
};

pub(crate) fn a_finished_url_leaves_the_queue<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    discover(bench.store(), 1, &[a.clone(), b.clone()]);
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    assert_eq!(queue(bench.store()), [(2, b.key.clone())]);
    // Discoveries come before the finished URLs of the same commit.
    let c = discovery("/c", 3);
    let commit = Commit {
        run: 1,
        discovered: vec![c.clone()],
        finished: vec![
            finished(&b, record(1, Reason::Gone)),
            finished(&c, record(1, Reason::Empty)),
        ],
        ..Commit::default()
    };
    bench.store().commit(&commit).unwrap();
    assert_eq!(queue(bench.store()), []);
    assert_eq!(page(bench.store(), &c).reason, Reason::Empty);
}

pub(crate) fn a_requeued_url_waits_again<B: Bench>() {
    let mut bench = B::new();
    let found = Discovery {
        depth: 4,
        reason: Reason::TooDeep,
        ..discovery("/a", 1)
    };
    let answered = discovery("/b", 2);
    discover(bench.store(), 1, &[found.clone(), answered.clone()]);
    finish(
        bench.store(),
        1,
        finished(&answered, record(1, Reason::ServerError)),
    );

    requeue(bench.store(), 1, &found, 3, 2);
    requeue(bench.store(), 1, &answered, 4, 2);
    let expected = PageRecord {
        run: 1,
        reason: Reason::Queued,
        depth: 2,
        via: Via::Link,
        found_on: found.found_on.clone(),
        attempts: 0,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: None,
        basis: Basis::Own,
    };
    assert_eq!(page(bench.store(), &found), expected);
    assert_eq!(
        page(bench.store(), &answered),
        PageRecord {
            depth: 1,
            found_on: found.found_on.clone(),
            ..expected
        }
    );
    assert_eq!(
        bench.store().queued(None, 10).unwrap(),
        [
            QueuedUrl {
                sequence: 3,
                key: found.key,
                depth: 2,
                hops: 3,
                earlier: None,
            },
            QueuedUrl {
                sequence: 4,
                key: answered.key.clone(),
                depth: 1,
                hops: 3,
                earlier: Some(Box::new(Earlier {
                    answer: record(1, Reason::ServerError)
                        .facts()
                        .map(EarlierAnswer::of),
                    ..Earlier::default()
                })),
            },
        ]
    );
    assert_eq!(bench.store().last_sequence().unwrap(), 4);
    let earlier = bench.store().earlier_facts(&answered.key).unwrap();
    assert_eq!(earlier.as_ref(), record(1, Reason::ServerError).facts());
}

pub(crate) fn a_url_that_waits_or_is_unknown_is_not_requeued<B: Bench>() {
    let mut bench = B::new();
    let old = Discovery {
        reason: Reason::TooDeep,
        ..discovery("/old", 1)
    };
    discover(bench.store(), 1, std::slice::from_ref(&old));
    let waiting = discovery("/a", 2);
    discover(bench.store(), 2, std::slice::from_ref(&waiting));
    requeue(bench.store(), 2, &waiting, 3, 1);
    requeue(bench.store(), 2, &discovery("/unknown", 4), 4, 1);
    requeue(bench.store(), 2, &old, 5, 1);
    assert_eq!(queue(bench.store()), [(2, waiting.key)]);
    assert_eq!(
        bench.store().page(&discovery("/unknown", 4).key).unwrap(),
        None
    );
    assert_eq!(page(bench.store(), &old).reason, Reason::TooDeep);
}

pub(crate) fn a_new_run_has_an_empty_queue_and_keeps_the_records<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    discover(bench.store(), 1, &[a.clone(), b.clone()]);
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    bench.store().begin_run(2).unwrap();
    assert_eq!(queue(bench.store()), []);
    assert_eq!(bench.store().last_sequence().unwrap(), 0);
    assert_eq!(page(bench.store(), &a), record(1, Reason::Listed));
    assert_eq!(page(bench.store(), &b).run, 1);
    assert_eq!(bench.store().counts(2).unwrap(), BTreeMap::new());
}

pub(crate) fn the_last_sequence_outlives_the_queue<B: Bench>() {
    let mut bench = B::new();
    assert_eq!(bench.store().last_sequence().unwrap(), 0);
    let found = discovery("/a", 8);
    let disallowed = Discovery {
        reason: Reason::RobotsDisallowed,
        ..discovery("/b", 9)
    };
    discover(bench.store(), 1, &[found.clone(), disallowed]);
    finish(
        bench.store(),
        1,
        finished(&found, record(1, Reason::Listed)),
    );
    bench.reopen();
    assert_eq!(queue(bench.store()), []);
    assert_eq!(bench.store().last_sequence().unwrap(), 9);
    bench
        .store()
        .commit(&Commit {
            run: 1,
            ..Commit::default()
        })
        .unwrap();
    assert_eq!(bench.store().last_sequence().unwrap(), 9);
}

pub(crate) fn the_queue_comes_in_pages<B: Bench>() {
    let mut bench = B::new();
    // Not in the order of keys, and not without gaps.
    let found: Vec<_> = (0..10)
        .map(|number| discovery(&format!("/{}", 9 - number), number * 3))
        .collect();
    discover(bench.store(), 1, &found);
    let all: Vec<_> = found
        .iter()
        .map(|found| (found.sequence, found.key.clone()))
        .collect();
    assert_eq!(queue(bench.store()), all);
    let mut walked = Vec::new();
    let mut after = None;
    loop {
        let part = bench.store().queued(after, 4).unwrap();
        assert!(part.len() <= 4);
        let Some(last) = part.last() else { break };
        after = Some(last.sequence);
        walked.extend(part.into_iter().map(|queued| (queued.sequence, queued.key)));
    }
    assert_eq!(walked, all);
    assert_eq!(bench.store().queued(Some(u64::MAX), 4).unwrap(), []);
    assert_eq!(bench.store().queued(None, 0).unwrap(), []);
}

pub(crate) fn what_says_the_same_again_before_it_is_published_was_not_listed<B: Bench>() {
    let mut bench = B::new();
    let (first, mut second) = (discovery("/a", 1), discovery("/b", 2));
    discover(bench.store(), 1, &[first.clone(), second.clone()]);
    finish(bench.store(), 1, finished(&first, listed()));
    publish(bench.store(), 1);
    for sequence in 3..6 {
        finish(bench.store(), 1, finished(&second, listed()));
        second.sequence = sequence;
        requeue(bench.store(), 1, &second, sequence, 1);
        bench.reopen();
        let waiting = bench.store().queued(None, 10).unwrap().remove(0);
        let was_listed = waiting.earlier.is_some_and(|earlier| earlier.was_listed);
        assert!(!was_listed, "{sequence}");
    }
    requeue(bench.store(), 1, &first, 6, 1);
    let waiting = bench.store().queued(None, 10).unwrap().remove(1);
    assert!(waiting.earlier.is_some_and(|earlier| earlier.was_listed));
}

/// The record of a listed page with a content that can be compared.
fn listed() -> PageRecord {
    let mut record = record(1, Reason::Listed);
    if let Some(Outcome::Answered(facts)) = &mut record.outcome {
        facts.content_hash = Some(ContentHash(7));
    }
    record
}
