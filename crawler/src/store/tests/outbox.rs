//! URLs that engines are to be notified of.

use super::*;
use crate::store::outbox::{UrlChange, Waiting, bound};

fn apply(store: &mut Store, outbox: Vec<OutboxStep>) {
    commit(store, |commit| commit.outbox = outbox);
}

fn add(paths: &[&str], change: UrlChange, since: &str) -> OutboxStep {
    OutboxStep::Add {
        changes: paths.iter().map(|path| (url(path), change)).collect(),
        since: time(since),
    }
}

fn told(path: &str, at: &str) -> OutboxStep {
    OutboxStep::Sent {
        urls: vec![url(path)],
        at: time(at),
    }
}

/// Paths and tries of all that may be sent at `now`.
fn waiting(store: &Store, now: &str) -> Vec<(String, u32)> {
    let outbox = store.outbox(None, usize::MAX, time(now)).unwrap();
    let waiting = outbox.waiting.into_iter();
    waiting
        .map(|url| (url.key.path().to_owned(), url.tries))
        .collect()
}

fn order(paths: &[(&str, u32)]) -> Vec<(String, u32)> {
    let paths = paths.iter();
    paths
        .map(|(path, tries)| ((*path).to_owned(), *tries))
        .collect()
}

const NOON: &str = "2026-03-01T12:00:00Z";

#[test]
fn later_changes_replace_earlier_ones() {
    let mut store = Store::in_memory().unwrap();
    apply(&mut store, vec![add(&["/a"], UrlChange::Added, NOON)]);
    apply(&mut store, vec![OutboxStep::Tried(vec![url("/a")])]);
    assert_eq!(waiting(&store, NOON), order(&[("/a", 1)]));
    let removed = add(&["/a"], UrlChange::Removed, "2026-03-01T12:00:05.7Z");
    apply(&mut store, vec![removed]);
    let expected = Waiting {
        key: url("/a"),
        change: UrlChange::Removed,
        since: time("2026-03-01T12:00:05Z"),
        tries: 0,
    };
    let outbox = store.outbox(None, 10, time(NOON)).unwrap();
    assert_eq!(outbox.waiting, [expected]);
    assert_eq!(store.outbox_len(), 1);
}

#[test]
fn abandoned_urls_leave_until_they_change() {
    let mut store = Store::in_memory().unwrap();
    let added = || add(&["/a"], UrlChange::Added, NOON);
    let given_up = OutboxStep::GiveUp(vec![url("/a"), url("/unknown")]);
    apply(&mut store, vec![added(), given_up]);
    assert_eq!(store.outbox_len(), 0);
    apply(&mut store, vec![added()]);
    assert_eq!(waiting(&store, NOON), order(&[("/a", 0)]));
    apply(&mut store, vec![OutboxStep::Forget]);
    assert_eq!(store.outbox_len(), 0);
}

#[test]
fn a_url_that_was_sent_leaves_and_rests() {
    let mut store = Store::in_memory().unwrap();
    let changed = |paths| add(paths, UrlChange::Changed, "2026-03-01T11:00:00Z");
    apply(
        &mut store,
        vec![
            changed(&["/a", "/b", "/c"]),
            OutboxStep::Tried(vec![url("/a")]),
        ],
    );
    let all = order(&[("/b", 0), ("/c", 0), ("/a", 1)]);
    assert_eq!(waiting(&store, NOON), all);
    let first = store.outbox(None, 1, time(NOON)).unwrap();
    let after = first.waiting[0].place();
    let rest = store.outbox(Some(&after), 10, time(NOON)).unwrap();
    assert_eq!((rest.waiting.len(), rest.total), (2, 3));
    apply(&mut store, vec![told("/b", NOON)]);
    assert_eq!(store.outbox_len(), 2);
    // Neither a new change nor an outbox that is emptied ends its rest.
    apply(
        &mut store,
        vec![OutboxStep::Forget, changed(&["/a", "/b", "/c"])],
    );
    assert_eq!(
        waiting(&store, "2026-03-01T12:09:59Z"),
        order(&[("/a", 0), ("/c", 0)])
    );
    assert_eq!(store.outbox_len(), 3);
    assert_eq!(waiting(&store, "2026-03-01T12:10:00Z").len(), 3);
    // A clock that went back holds nothing up.
    assert_eq!(waiting(&store, "2026-03-01T11:59:59Z").len(), 3);
    // What rested long enough is forgotten.
    let later = "2026-03-01T13:00:00Z";
    apply(
        &mut store,
        vec![told("/b", NOON), told("/a", later), told("/unknown", later)],
    );
    let rows = "SELECT count(*) FROM outbox";
    let rows = store.connection.query_row(rows, [], |row| row.get(0));
    assert_eq!(rows, Ok(3), "/a, /c and the unknown one");
}

#[test]
fn beyond_the_bound_the_oldest_leave() {
    let mut store = Store::in_memory().unwrap();
    let one = |path, since| add(&[path], UrlChange::Changed, since);
    let steps = vec![
        one("/c", NOON),
        one("/b", "2026-03-01T12:00:01Z"),
        one("/a", "2026-03-01T12:00:00.9Z"),
    ];
    apply(&mut store, steps);
    bound(&store.connection, 2).unwrap();
    assert_eq!(
        waiting(&store, "2026-03-01T13:00:00Z"),
        order(&[("/b", 0), ("/c", 0)])
    );
}
