//! URLs that are found, and found again.

use std::collections::BTreeMap;

use super::{Bench, discover, discovery, finish, finished, page, queue, record};
use crate::{
    page::{Basis, Outcome, PageRecord, Reason, Via},
    store::{Commit, Discovery, QueuedUrl, Store},
    url_key::UrlKey,
};

pub(crate) fn a_discovered_url_is_put_once<B: Bench>() {
    let mut bench = B::new();
    let first = Discovery {
        hops: 2,
        ..discovery("/a", 1)
    };
    let again = Discovery {
        via: Via::Canonical,
        found_on: None,
        ..discovery("/a", 2)
    };
    discover(bench.store(), 1, &[first.clone(), again.clone()]);
    discover(
        bench.store(),
        1,
        &[Discovery {
            sequence: 3,
            ..again
        }],
    );
    let expected = PageRecord {
        run: 1,
        reason: Reason::Queued,
        depth: 1,
        via: Via::Link,
        found_on: first.found_on.clone(),
        attempts: 0,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: None,
        basis: Basis::Own,
    };
    assert_eq!(page(bench.store(), &first), expected);
    let queued = QueuedUrl {
        sequence: 1,
        key: first.key,
        depth: 1,
        hops: 2,
        earlier: None,
    };
    assert_eq!(bench.store().queued(None, 10).unwrap(), [queued]);
}

pub(crate) fn a_smaller_depth_is_kept<B: Bench>() {
    let mut bench = B::new();
    for (sequence, depth, fewest) in [(1, 5, 5), (2, 3, 3), (3, 4, 3)] {
        let found = Discovery {
            depth,
            ..discovery("/a", sequence)
        };
        discover(bench.store(), 1, std::slice::from_ref(&found));
        assert_eq!(page(bench.store(), &found).depth, fewest);
        assert_eq!(bench.store().queued(None, 10).unwrap()[0].depth, fewest);
    }
}

pub(crate) fn a_verdict_without_a_request_does_not_wait<B: Bench>() {
    let mut bench = B::new();
    let found = Discovery {
        reason: Reason::RobotsDisallowed,
        ..discovery("/a", 1)
    };
    discover(bench.store(), 1, std::slice::from_ref(&found));
    let page = page(bench.store(), &found);
    assert_eq!(page.reason, Reason::RobotsDisallowed);
    assert_eq!(
        page.outcome,
        Some(Outcome::NotFetched(Reason::RobotsDisallowed))
    );
    assert_eq!(queue(bench.store()), []);
}

pub(crate) fn a_url_of_an_earlier_run_is_put_again<B: Bench>() {
    let mut bench = B::new();
    let found = Discovery {
        depth: 1,
        ..discovery("/a", 1)
    };
    discover(bench.store(), 1, std::slice::from_ref(&found));
    finish(
        bench.store(),
        1,
        finished(&found, record(1, Reason::Noindex)),
    );
    bench.store().begin_run(2).unwrap();
    let again = Discovery {
        depth: 7,
        via: Via::Redirect,
        found_on: None,
        ..discovery("/a", 1)
    };
    discover(bench.store(), 2, std::slice::from_ref(&again));
    let expected = PageRecord {
        run: 2,
        reason: Reason::Queued,
        depth: 7,
        via: Via::Redirect,
        found_on: None,
        attempts: 0,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: None,
        basis: Basis::Own,
    };
    assert_eq!(page(bench.store(), &again), expected);
    assert_eq!(queue(bench.store()), [(1, again.key)]);
    assert_eq!(bench.store().counts(1).unwrap(), BTreeMap::new());
    assert_eq!(
        bench.store().counts(2).unwrap(),
        BTreeMap::from([(Reason::Queued, 1)])
    );
}

pub(crate) fn an_answer_of_an_earlier_run_stays_until_the_work_ends<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    let first = record(1, Reason::Listed);
    discover(bench.store(), 1, std::slice::from_ref(&found));
    assert_eq!(bench.store().earlier_facts(&found.key).unwrap(), None);
    finish(bench.store(), 1, finished(&found, first.clone()));
    assert_eq!(
        bench.store().earlier_facts(&found.key).unwrap(),
        None,
        "it counts still"
    );

    bench.store().begin_run(2).unwrap();
    discover(bench.store(), 2, std::slice::from_ref(&found));
    assert_eq!(
        bench.store().earlier_facts(&found.key).unwrap().as_ref(),
        first.facts()
    );
    // A run that does not fetch the URL keeps the answer for the next one.
    bench.store().begin_run(3).unwrap();
    discover(
        bench.store(),
        3,
        &[Discovery {
            reason: Reason::TooDeep,
            ..found.clone()
        }],
    );
    bench.store().begin_run(4).unwrap();
    discover(bench.store(), 4, std::slice::from_ref(&found));
    bench.reopen();
    assert_eq!(page(bench.store(), &found).outcome, None);
    assert_eq!(
        bench.store().earlier_facts(&found.key).unwrap().as_ref(),
        first.facts()
    );

    let last = PageRecord {
        outcome: Some(Outcome::NoAnswer {
            error: "connection refused".to_owned(),
        }),
        ..record(4, Reason::NetworkError)
    };
    finish(bench.store(), 4, finished(&found, last.clone()));
    assert_eq!(page(bench.store(), &found), last);
    assert_eq!(bench.store().earlier_facts(&found.key).unwrap(), None);
}

fn orphans(store: &dyn Store) -> Vec<UrlKey> {
    let mut orphans = Vec::new();
    store
        .visit_orphans(&mut |key| orphans.push(key.clone()))
        .unwrap();
    assert_eq!(store.orphan_count().unwrap(), orphans.len() as u64);
    orphans.sort();
    orphans
}

pub(crate) fn an_orphan_is_one_until_a_page_leads_to_it<B: Bench>() {
    let mut bench = B::new();
    let by = |via, path, sequence| Discovery {
        via,
        ..discovery(path, sequence)
    };
    let found = [
        by(Via::Sitemap, "/a", 1),
        by(Via::Feed, "/b", 2),
        by(Via::List, "/c", 3),
        by(Via::Link, "/d", 4),
        // A page led to it before the sitemap did.
        by(Via::Sitemap, "/d", 5),
    ];
    discover(bench.store(), 1, &found);
    bench.reopen();
    let keys: Vec<UrlKey> = found[..3].iter().map(|found| found.key.clone()).collect();
    assert_eq!(orphans(bench.store()), keys);
    let commit = Commit {
        run: 1,
        linked: vec![keys[1].clone(), found[3].key.clone()],
        ..Commit::default()
    };
    bench.store().commit(&commit).unwrap();
    // What is decided about it does not matter.
    finish(
        bench.store(),
        1,
        finished(&found[0], record(1, Reason::Gone)),
    );
    bench.crash();
    assert_eq!(orphans(bench.store()), [keys[0].clone(), keys[2].clone()]);
}

pub(crate) fn a_new_run_has_no_orphans<B: Bench>() {
    let mut bench = B::new();
    let found = Discovery {
        via: Via::Sitemap,
        ..discovery("/a", 1)
    };
    discover(bench.store(), 1, std::slice::from_ref(&found));
    bench.store().begin_run(2).unwrap();
    assert_eq!(orphans(bench.store()), []);
    discover(bench.store(), 2, std::slice::from_ref(&found));
    assert_eq!(orphans(bench.store()), [found.key]);
}

pub(crate) fn a_discovery_of_an_older_run_changes_nothing<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    discover(bench.store(), 2, std::slice::from_ref(&found));
    let before = page(bench.store(), &found);
    discover(
        bench.store(),
        1,
        &[Discovery {
            via: Via::Start,
            sequence: 2,
            ..found.clone()
        }],
    );
    assert_eq!(page(bench.store(), &found), before);
    assert_eq!(queue(bench.store()), [(1, found.key)]);
}
