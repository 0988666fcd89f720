//! The data of inputs on URLs.

use sitemap_core::LastMod;

use super::*;

/// Gives `urls` one after the other, and then returns `end`.
fn give(store: &mut Store, urls: &[SuppliedUrl], end: InputBatch) -> InputCounts {
    let mut urls = urls.iter().cloned().map(InputBatch::Url).chain([end]);
    let mut next = || urls.next().expect("nothing is asked for after the end");
    store.take_supplied(&mut next).unwrap()
}

fn supplied(path: &str, lastmod: Option<&str>, priority: Option<u8>) -> SuppliedUrl {
    SuppliedUrl {
        key: discovery(path, 0).key,
        supplied: Supplied {
            lastmod: lastmod.map(|text| LastMod::parse(text).unwrap()),
            priority: priority.map(|tenths| sitemap_core::Priority::from_tenths(tenths).unwrap()),
            ..Supplied::default()
        },
        reason: Reason::FromInput,
    }
}

fn stored(store: &Store, url: &SuppliedUrl) -> Option<Supplied> {
    match store.visit(&url.key)?.record.outcome {
        Some(Outcome::Supplied(supplied)) => Some(*supplied),
        _ => None,
    }
}

#[test]
fn a_given_url_is_a_finished_visit() {
    let mut store = Store::in_memory().unwrap();
    let urls = [
        supplied("/b", None, Some(3)),
        supplied("/a", Some("2026-01-02"), None),
    ];
    let gave = give(&mut store, &urls, InputBatch::End);
    assert_eq!((gave.urls, gave.repeated), (2, 0));
    let keys: Vec<UrlKey> = rows(&store, None)
        .into_iter()
        .map(|(key, ..)| key)
        .collect();
    assert_eq!(keys, [url("/a"), url("/b")]);
    for url in &urls {
        assert_eq!(stored(&store, url).as_ref(), Some(&url.supplied));
        let record = store.visit(&url.key).unwrap().record;
        assert_eq!((record.reason, record.via), (Reason::FromInput, Via::Input));
    }
    assert_eq!(queue(&store), []);
}

#[test]
fn best_entry_counts_in_any_order() {
    let day = Some("2026-01-02");
    for (worse, better) in [
        ((None, Some(9)), (Some("1999-12-31"), None)),
        ((day, Some(9)), (Some("2026-01-03"), None)),
        ((Some("2026-01-02T22:00:00Z"), None), (day, None)),
        ((None, None), (None, Some(1))),
        ((None, Some(2)), (None, Some(1))),
        // The same instant, written at greater length.
        (
            (Some("2026-01-02T23:59:59Z"), None),
            (Some("2026-01-03T00:59:59+01:00"), None),
        ),
    ] {
        let [worse, better] =
            [worse, better].map(|(lastmod, priority)| supplied("/a", lastmod, priority));
        for urls in [[&worse, &better], [&better, &worse]] {
            let mut store = Store::in_memory().unwrap();
            let gave = give(&mut store, &urls.map(Clone::clone), InputBatch::End);
            assert_eq!((gave.urls, gave.repeated), (1, 1));
            assert_eq!(stored(&store, &better).as_ref(), Some(&better.supplied));
        }
    }
}

#[test]
fn earlier_visits_stay() {
    let mut store = Store::in_memory().unwrap();
    let found = discovery("/known", 1);
    commit(&mut store, |commit| {
        commit.finished = vec![finished(&found, record(Reason::Noindex))];
    });
    let urls = [supplied("/known", None, None), supplied("/new", None, None)];
    let gave = give(&mut store, &urls, InputBatch::End);
    assert_eq!((gave.urls, gave.repeated), (1, 1));
    let known = store.visit(&found.key).unwrap();
    assert_eq!(known.record.reason, Reason::Noindex);
}

#[test]
fn abandoned_input_leaves_no_row() {
    let mut store = Store::in_memory().unwrap();
    let urls = [supplied("/a", None, None)];
    assert_eq!(
        give(&mut store, &urls, InputBatch::GiveUp),
        InputCounts::default()
    );
    assert_eq!(stored(&store, &urls[0]), None);
    // The next one begins with nothing.
    let others = [supplied("/b", None, None)];
    assert_eq!(give(&mut store, &others, InputBatch::End).urls, 1);
    assert_eq!(stored(&store, &urls[0]), None);
}
