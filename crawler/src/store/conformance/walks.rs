//! Walks over everything: what comes, and in which order.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use super::{Bench, discover, discovery, finish, finished, key, record, walk};
use crate::{
    page::Reason,
    store::{Discovery, LedgerEntry, Store},
    url_key::UrlKey,
};

/// Keys whose order as keys is not that of their texts, and keys near the ends of what may stand
/// in a path.
fn spread_keys() -> BTreeSet<UrlKey> {
    [
        "http://example.com/",
        "https://example.com/",
        "https://example.com/!",
        "https://example.com/a",
        "https://example.com/a-b",
        "https://example.com/a/",
        "https://example.com/a/b",
        "https://example.com/a?b",
        "https://example.com/a%2Fb",
        "https://example.com/b",
        "https://example.com/B",
        "https://example.com/%E2%82%AC",
        "https://example.com/~",
        "https://example.com:8443/",
        "https://example.com:8443/a",
        "https://example.com.au/",
        "https://example.com-mail.org/",
        "https://example.co/",
    ]
    .into_iter()
    .map(key)
    .collect()
}

pub(crate) fn pages_come_in_key_order_from_the_one_asked_for<B: Bench>() {
    let mut bench = B::new();
    let keys = spread_keys();
    for (sequence, key) in keys.iter().rev().enumerate() {
        let found = Discovery {
            key: key.clone(),
            ..discovery("/", sequence as u64)
        };
        discover(bench.store(), 1 + sequence as u64 % 2, &[found]);
    }
    for run in [1, 2, 3] {
        let of_run: Vec<_> = keys
            .iter()
            .filter(|key| {
                bench
                    .store()
                    .page(key)
                    .unwrap()
                    .is_some_and(|page| page.run == run)
            })
            .cloned()
            .collect();
        assert_eq!(walk(bench.store(), run, None), of_run);
        for from in keys
            .iter()
            .chain([&key("https://example.com/az"), &key("https://example.d/")])
        {
            let rest: Vec<_> = of_run.iter().filter(|key| *key >= from).cloned().collect();
            assert_eq!(walk(bench.store(), run, Some(from)), rest, "from {from}");
        }
    }
}

pub(crate) fn pages_come_with_their_ledger_entries<B: Bench>() {
    let mut bench = B::new();
    let keys = spread_keys();
    let mut expected = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let found = Discovery {
            key: key.clone(),
            ..discovery("/", number as u64)
        };
        discover(bench.store(), 1, std::slice::from_ref(&found));
        if number % 2 == 0 {
            finish(
                bench.store(),
                1,
                finished(&found, record(1, Reason::Listed)),
            );
        }
        let entry = (number % 3 == 0).then(|| LedgerEntry {
            content_hash: number as u128,
            hash_version: 4,
            lastmod: Some(format!("2026-01-{:02}", number + 1)),
            last_modified_seconds: Some(5),
            ..LedgerEntry::default()
        });
        if let Some(entry) = &entry {
            let entries = [(key.clone(), entry.clone())];
            bench.store().set_ledger(&entries).unwrap();
        }
        let page = bench.store().page(key).unwrap().unwrap();
        expected.push((key.clone(), page, entry));
    }
    for from in std::iter::once(None).chain(keys.iter().map(Some)) {
        let mut seen = Vec::new();
        bench
            .store()
            .visit_pages_with_ledger(1, from, &mut |key, page, entry| {
                seen.push((key.clone(), page, entry));
                ControlFlow::Continue(())
            })
            .unwrap();
        let rest = expected
            .iter()
            .filter(|(key, ..)| from.is_none_or(|from| key >= from));
        assert!(seen.iter().eq(rest), "from {from:?}");
    }
    let mut seen = 0;
    bench
        .store()
        .visit_pages_with_ledger(1, None, &mut |_, _, _| {
            seen += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(seen, 1);
}

pub(crate) fn the_walk_over_pages_can_be_stopped<B: Bench>() {
    let mut bench = B::new();
    discover(
        bench.store(),
        1,
        &[discovery("/a", 1), discovery("/b", 2), discovery("/c", 3)],
    );
    let mut seen = 0;
    bench
        .store()
        .visit_pages(1, None, &mut |_, _| {
            seen += 1;
            if seen == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!(seen, 2);
}

pub(crate) fn a_visitor_may_read_the_store<B: Bench>() {
    let mut bench = B::new();
    let found = discovery("/a", 1);
    discover(bench.store(), 1, &[found, discovery("/b", 2)]);
    let store: &dyn Store = bench.store();
    let mut pages = Vec::new();
    store
        .visit_pages(1, None, &mut |key, record| {
            assert_eq!(store.page(key).unwrap(), Some(record));
            pages.push(walk(store, 1, Some(key)).len());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(pages, [2, 1]);
    let mut keys = 0;
    store
        .visit_keys(1, &mut |key, _| keys += walk(store, 1, Some(key)).len())
        .unwrap();
    assert_eq!(keys, 3);
}

pub(crate) fn keys_and_counts_are_those_of_the_run<B: Bench>() {
    let mut bench = B::new();
    let mut expected = BTreeMap::new();
    for (number, reason) in Reason::ALL.iter().enumerate() {
        let found = Discovery {
            reason: *reason,
            ..discovery(&format!("/{number}"), number as u64)
        };
        discover(bench.store(), 5, std::slice::from_ref(&found));
        expected.insert(found.key, *reason);
    }
    discover(bench.store(), 4, &[discovery("/of/another/run", 1_000)]);
    bench.reopen();
    let mut seen = BTreeMap::new();
    bench
        .store()
        .visit_keys(5, &mut |key, reason| {
            assert_eq!(seen.insert(key.clone(), reason), None);
        })
        .unwrap();
    assert_eq!(seen, expected);
    let counts: BTreeMap<_, _> = Reason::ALL.iter().map(|reason| (*reason, 1)).collect();
    assert_eq!(bench.store().counts(5).unwrap(), counts);
    assert_eq!(
        bench.store().counts(4).unwrap(),
        BTreeMap::from([(Reason::Queued, 1)])
    );
}

pub(crate) fn the_ledger_comes_in_key_order<B: Bench>() {
    let mut bench = B::new();
    let keys = spread_keys();
    let entry = |number: u32| LedgerEntry {
        content_hash: u128::MAX >> number,
        hash_version: 1,
        lastmod: number
            .is_multiple_of(2)
            .then(|| format!("2026-01-{:02}", number + 1)),
        last_modified_seconds: number.is_multiple_of(3).then_some(i64::from(number) - 5),
        ..LedgerEntry::default()
    };
    let entries: Vec<_> = keys
        .iter()
        .zip(0..)
        .map(|(key, number)| (key.clone(), entry(number)))
        .collect();
    let reversed: Vec<_> = entries.iter().cloned().rev().collect();
    bench
        .store()
        .set_ledger(&[(entries[0].0.clone(), entry(99))])
        .unwrap();
    bench.store().set_ledger(&reversed).unwrap();
    bench.reopen();
    let mut seen = Vec::new();
    bench
        .store()
        .visit_ledger(&mut |key, entry| seen.push((key.clone(), entry)))
        .unwrap();
    assert_eq!(seen, entries);
    for (key, entry) in entries {
        assert_eq!(bench.store().ledger(&key).unwrap(), Some(entry));
    }
    assert_eq!(
        bench
            .store()
            .ledger(&key("https://example.com/unknown"))
            .unwrap(),
        None
    );
}
