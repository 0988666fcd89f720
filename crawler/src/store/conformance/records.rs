//! What is stored of a URL, and what a commit leaves behind.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Bench, discover, discovery, finish, finished, key, page, queue, record, walk};
use crate::{
    page::{Link, Outcome, PageRecord, Reason, RunId, Via},
    store::{Commit, Discovery, Finished, Forgotten, LedgerEntry, Store},
};

pub(crate) fn a_finished_record_replaces_what_was_known<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    discover(bench.store(), 1, std::slice::from_ref(&found));
    for last in [
        record(1, Reason::Listed),
        PageRecord {
            outcome: Some(Outcome::NoAnswer {
                error: String::new(),
            }),
            fetched_at: None,
            ..record(1, Reason::NetworkError)
        },
        PageRecord {
            outcome: Some(Outcome::NotFetched(Reason::TooDeep)),
            ..record(1, Reason::Gone)
        },
        PageRecord {
            outcome: None,
            ..record(1, Reason::Queued)
        },
        record(2, Reason::Listed),
    ] {
        finish(bench.store(), last.run, finished(&found, last.clone()));
        assert_eq!(page(bench.store(), &found), last);
    }
}

pub(crate) fn a_finished_record_keeps_a_smaller_depth_of_its_run<B: Bench>() {
    let mut bench = B::new();
    let found = Discovery {
        depth: 2,
        ..discovery("/a", 1)
    };
    discover(bench.store(), 1, std::slice::from_ref(&found));
    for (run, depth, fewest) in [(1, 9, 2), (1, 1, 1), (1, 5, 1), (2, 5, 5)] {
        let last = PageRecord {
            depth,
            ..record(run, Reason::Listed)
        };
        finish(bench.store(), run, finished(&found, last));
        assert_eq!(page(bench.store(), &found).depth, fewest);
    }
}

pub(crate) fn links_stay_until_new_ones_come<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a/b", 1);
    let links = vec![
        key("https://example.com/z"),
        key("https://example.com/a/b"),
        key("http://example.org/"),
    ];
    assert_eq!(bench.store().links(&found.key).unwrap(), None);
    let end = |links| Finished {
        links,
        ..finished(&found, record(1, Reason::Listed))
    };
    for (given, kept) in [
        (None, None),
        (Some(links.clone()), Some(links.clone())),
        (None, Some(links)),
        (Some(Vec::new()), Some(Vec::new())),
    ] {
        finish(bench.store(), 1, end(given));
        assert_eq!(bench.store().links(&found.key).unwrap(), kept);
    }
}

pub(crate) fn links_in_the_facts_are_not_part_of_the_record<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    let plain = record(1, Reason::Listed);
    let link = Link {
        target: found.key.clone(),
        via: Via::Link,
        nofollow: false,
    };
    let mut with_links = plain.clone();
    let Some(Outcome::Answered(facts)) = &mut with_links.outcome else {
        unreachable!("it is answered")
    };
    facts.links.push(link);
    finish(bench.store(), 1, finished(&found, with_links));
    assert_eq!(page(bench.store(), &found), plain);
    assert_eq!(bench.store().links(&found.key).unwrap(), None);
}

pub(crate) fn a_changed_verdict_leaves_the_facts<B: Bench>() {
    let mut bench = B::new();
    let [answered, disallowed] = [
        discovery("/a", 1),
        Discovery {
            reason: Reason::RobotsDisallowed,
            ..discovery("/b", 2)
        },
    ];
    discover(bench.store(), 1, &[answered.clone(), disallowed.clone()]);
    finish(
        bench.store(),
        1,
        finished(&answered, record(1, Reason::Listed)),
    );
    let before = page(bench.store(), &disallowed);
    let verdicts = [
        (answered.key.clone(), Reason::CanonicalLoop),
        (disallowed.key.clone(), Reason::ExcludedByRule),
        (key("https://example.com/unknown"), Reason::Gone),
    ];
    bench.store().rejudge(&verdicts).unwrap();
    assert_eq!(
        page(bench.store(), &answered),
        record(1, Reason::CanonicalLoop)
    );
    let after = PageRecord {
        reason: Reason::ExcludedByRule,
        ..before
    };
    assert_eq!(page(bench.store(), &disallowed), after);
    assert_eq!(
        bench.store().counts(1).unwrap(),
        BTreeMap::from([(Reason::CanonicalLoop, 1), (Reason::ExcludedByRule, 1)])
    );
}

pub(crate) fn values_are_set_and_removed<B: Bench>() {
    let mut bench = B::new();
    let mut set = |values: &[(&str, Option<&str>)]| {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)))
            .collect();
        bench
            .store()
            .commit(&Commit {
                run: 1,
                values,
                ..Commit::default()
            })
            .unwrap();
        bench.reopen();
        ["a", "b"].map(|name| bench.store().value(name).unwrap())
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(set(&[]), [None, None]);
    assert_eq!(
        set(&[("a", Some("1")), ("b", Some(""))]),
        [text("1"), text("")]
    );
    assert_eq!(set(&[("a", Some("2")), ("b", None)]), [text("2"), None]);
    assert_eq!(
        set(&[("b", None), ("a", None), ("a", Some("l1\nl2\0"))]),
        [text("l1\nl2\0"), None]
    );
}

pub(crate) fn a_refused_commit_leaves_nothing_behind<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    discover(bench.store(), 1, std::slice::from_ref(&found));
    let commit = Commit {
        run: 1,
        discovered: vec![discovery("/b", 2), discovery("/c", 1)],
        finished: vec![finished(&found, record(1, Reason::Listed))],
        requeued: Vec::new(),
        linked: Vec::new(),
        dated: Vec::new(),
        kept: Vec::new(),
        doubts: Vec::new(),
        values: vec![("a".to_owned(), Some("1".to_owned()))],
        outbox: Vec::new(),
        forgotten: None,
    };
    bench.store().commit(&commit).unwrap_err();
    assert_eq!(queue(bench.store()), [(1, found.key.clone())]);
    assert_eq!(
        walk(bench.store(), 1, None),
        std::slice::from_ref(&found.key)
    );
    assert_eq!(page(bench.store(), &found).outcome, None);
    assert_eq!(bench.store().value("a").unwrap(), None);
    assert_eq!(bench.store().last_sequence().unwrap(), 1);
}

pub(crate) fn a_crash_keeps_every_commit<B: Bench>() {
    let mut bench = B::new();
    for number in 1..=20 {
        let found = discovery(&format!("/{number}"), number);
        discover(bench.store(), 1, std::slice::from_ref(&found));
        if number % 2 == 0 {
            finish(
                bench.store(),
                1,
                finished(&found, record(1, Reason::Listed)),
            );
        }
        bench.crash();
        assert_eq!(walk(bench.store(), 1, None).len() as u64, number);
        assert_eq!(bench.store().queue_len().unwrap(), number.div_ceil(2));
        assert_eq!(bench.store().last_sequence().unwrap(), number);
    }
}

fn forget(before: RunId) -> Commit {
    Commit {
        run: 3,
        forgotten: Some(Forgotten {
            before,
            seen_before: Timestamp::from_second(10).unwrap(),
        }),
        ..Commit::default()
    }
}

pub(crate) fn what_no_run_found_lately_is_forgotten_unless_it_is_listed<B: Bench>() {
    let mut bench = B::new();
    let paths = [
        "/listed",
        "/noindex",
        "/waits",
        "/was-listed",
        "/again",
        "/bare",
    ];
    let found: [Discovery; 6] = std::array::from_fn(|at| discovery(paths[at], at as u64));
    let link = vec![found[0].key.clone()];
    discover(bench.store(), 1, &found);
    for (at, reason) in [
        (0, Reason::Listed),
        (1, Reason::Noindex),
        (3, Reason::Listed),
        (4, Reason::Gone),
    ] {
        let end = Finished {
            links: Some(link.clone()),
            ..finished(&found[at], record(1, reason))
        };
        finish(bench.store(), 1, end);
    }
    // The next run comes to no decision of one that was listed, and another one is found in the last.
    for (run, at) in [(2, 3), (3, 4)] {
        bench.store().begin_run(run).unwrap();
        discover(bench.store(), run, &found[at..=at]);
    }
    let known = |store: &dyn Store| {
        found.each_ref().map(|found| {
            let is_known = store.page(&found.key).unwrap().is_some();
            (is_known, store.links(&found.key).unwrap().is_some())
        })
    };
    let (whole, bare, none) = ((true, true), (true, false), (false, false));
    bench.store().commit(&forget(1)).unwrap();
    assert_eq!(
        known(bench.store()),
        [whole, whole, bare, whole, whole, bare]
    );
    bench.store().commit(&forget(3)).unwrap();
    bench.reopen();
    assert_eq!(
        known(bench.store()),
        [whole, none, none, whole, whole, none]
    );
    // What comes back is new.
    discover(bench.store(), 3, &found[1..=1]);
    assert_eq!(bench.store().earlier_facts(&found[1].key).unwrap(), None);
}

pub(crate) fn the_ledger_forgets_what_is_unknown_and_was_not_seen_lately<B: Bench>() {
    let mut bench = B::new();
    let paths = ["/known", "/lately", "/long-ago", "/never"];
    let keys = paths.map(|path| discovery(path, 1).key);
    discover(bench.store(), 1, &[discovery("/known", 1)]);
    let seen = [Some(5), Some(10), Some(9), None].map(|seen_seconds| LedgerEntry {
        seen_seconds,
        ..LedgerEntry::default()
    });
    let entries: Vec<_> = keys.iter().cloned().zip(seen).collect();
    bench.store().set_ledger(&entries).unwrap();
    bench.store().commit(&forget(1)).unwrap();
    let mut left = Vec::new();
    bench
        .store()
        .visit_ledger(&mut |key, _| left.push(key.clone()))
        .unwrap();
    assert_eq!(left, keys[..2]);
}
