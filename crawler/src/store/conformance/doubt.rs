//! Answers that are doubted.

use super::{Bench, discover, discovery, finish, finished, publish, record};
use crate::{
    page::{Reason, RunId},
    store::{Commit, Doubt, Forgotten, Store, doubt},
    url_key::UrlKey,
};

fn doubt_of(run: RunId, times: u32) -> Doubt {
    Doubt {
        run,
        at: "2026-03-01T12:00:00.5Z".parse().unwrap(),
        sign: "target".to_owned(),
        key: u64::MAX - u64::from(times),
        example: "https://example.com/login".to_owned(),
        times,
    }
}

fn set(store: &mut dyn Store, key: &UrlKey, doubt: Option<Doubt>) {
    let commit = Commit {
        run: 1,
        doubts: vec![(key.clone(), doubt)],
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
}

pub(crate) fn a_doubt_outlives_its_run_until_it_is_forgotten<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    assert!(!doubt::is_any(bench.store()).unwrap());
    discover(bench.store(), 1, &[a.clone(), b.clone()]);
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    set(bench.store(), &a.key, Some(doubt_of(1, 1)));
    set(bench.store(), &b.key, Some(doubt_of(1, 1)));
    set(bench.store(), &a.key, Some(doubt_of(1, 2)));
    publish(bench.store(), 1);
    bench.store().begin_run(2).unwrap();
    bench.crash();
    let both = [
        (a.key.clone(), doubt_of(1, 2)),
        (b.key.clone(), doubt_of(1, 1)),
    ];
    assert_eq!(bench.store().doubts(None, 5).unwrap(), both);
    assert_eq!(bench.store().doubts(None, 1).unwrap(), both[..1]);
    let behind = bench.store().doubts(Some(&a.key), 5).unwrap();
    assert_eq!(behind, both[1..]);
    assert_eq!(bench.store().doubt(&a.key).unwrap(), Some(doubt_of(1, 2)));
    set(bench.store(), &b.key, None);
    bench.reopen();
    assert_eq!(bench.store().doubt(&b.key).unwrap(), None);
    assert!(doubt::is_any(bench.store()).unwrap());
    doubt::forget_all(bench.store(), 2).unwrap();
    assert!(!doubt::is_any(bench.store()).unwrap());
}

pub(crate) fn a_doubt_is_forgotten_with_its_page<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    discover(bench.store(), 1, &[a.clone(), b.clone()]);
    finish(bench.store(), 1, finished(&a, record(1, Reason::Listed)));
    finish(bench.store(), 1, finished(&b, record(1, Reason::Gone)));
    for page in [&a, &b] {
        set(bench.store(), &page.key, Some(doubt_of(1, 1)));
    }
    bench.store().begin_run(2).unwrap();
    let commit = Commit {
        run: 2,
        forgotten: Some(Forgotten {
            before: 2,
            seen_before: "2026-01-01T00:00:00Z".parse().unwrap(),
        }),
        ..Commit::default()
    };
    bench.store().commit(&commit).unwrap();
    bench.reopen();
    let left = bench.store().doubts(None, 5).unwrap();
    assert_eq!(left, [(a.key, doubt_of(1, 1))]);
}
