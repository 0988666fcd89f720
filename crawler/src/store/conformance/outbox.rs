//! The published set that is remembered, and the URLs that engines are to be told of.

use jiff::Timestamp;

use super::{Bench, discovery, key};
use crate::{
    store::{
        Commit, Store,
        outbox::{ContentMark, Difference, Listing, OutboxStep, Tell, UrlChange, Waiting},
    },
    url_key::UrlKey,
};

fn url(path: &str) -> UrlKey {
    key(&format!("https://example.com{path}"))
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn listing(lastmod: &str, hash: u64) -> Listing {
    Listing {
        lastmod: Some(lastmod.to_owned()).filter(|text| !text.is_empty()),
        content: (hash > 0).then_some(ContentMark { version: 1, hash }),
    }
}

fn difference(path: &str, change: Option<UrlChange>, listing: Option<Listing>) -> Difference {
    Difference {
        key: url(path),
        change,
        listing,
    }
}

fn apply(store: &mut dyn Store, outbox: Vec<OutboxStep>) {
    let commit = Commit {
        run: 1,
        outbox,
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
}

fn take(at: &str, tell: Tell) -> OutboxStep {
    OutboxStep::Take {
        since: time(at),
        tell,
    }
}

/// Paths, changes and tries of all that may be told at `now`.
fn waiting(store: &dyn Store, now: &str) -> Vec<(String, UrlChange, u32)> {
    let waiting = store.outbox(None, usize::MAX, time(now)).unwrap();
    waiting
        .into_iter()
        .map(|url| (url.key.path().to_owned(), url.change, url.tries))
        .collect()
}

pub(crate) fn until_engines_are_told_only_the_newest_wait<B: Bench>() {
    let mut bench = B::new();
    let changed = |path, hash| {
        let staged = difference(path, Some(UrlChange::Changed), Some(listing("", hash)));
        OutboxStep::Stage(vec![staged])
    };
    let paths = |store: &dyn Store| -> Vec<String> {
        let waiting = waiting(store, "2026-03-01T13:00:00Z").into_iter();
        waiting.map(|(path, _, _)| path).collect()
    };
    let newest = || take("2026-03-01T12:00:00Z", Tell::Newest);
    apply(bench.store(), vec![changed("/a", 1), newest()]);
    apply(bench.store(), vec![changed("/b", 1), newest()]);
    assert_eq!(paths(bench.store()), ["/b"]);
    // Nothing new is no news.
    let silent = difference("/a", None, Some(listing("", 2)));
    apply(
        bench.store(),
        vec![OutboxStep::Stage(vec![silent]), newest()],
    );
    assert_eq!(paths(bench.store()), ["/b"]);
    let all = take("2026-03-01T12:00:00Z", Tell::All);
    apply(bench.store(), vec![changed("/c", 1), all]);
    assert_eq!(paths(bench.store()), ["/b", "/c"]);
    apply(bench.store(), vec![OutboxStep::Forget]);
    assert_eq!(bench.store().outbox_len().unwrap(), 0);
    assert_eq!(bench.store().published(None, 10).unwrap().len(), 3);
}

pub(crate) fn what_is_staged_counts_when_it_is_taken<B: Bench>() {
    let mut bench = B::new();
    let new = |path| difference(path, Some(UrlChange::Added), Some(listing("2026-01-01", 7)));
    apply(
        bench.store(),
        vec![OutboxStep::Stage(vec![new("/a"), new("/b")])],
    );
    bench.crash();
    assert_eq!(bench.store().published(None, 10).unwrap(), []);
    assert_eq!(bench.store().outbox_len().unwrap(), 0);
    apply(
        bench.store(),
        vec![
            OutboxStep::Unstage,
            OutboxStep::Stage(vec![new("/c"), new("/a")]),
        ],
    );
    let gone = difference("/b", None, None);
    let silent = difference("/c", None, Some(listing("", 3)));
    apply(
        bench.store(),
        vec![OutboxStep::Stage(vec![gone.clone(), silent.clone()])],
    );
    let staged = [new("/a"), gone, silent];
    assert_eq!(bench.store().staged(None, 10).unwrap(), staged);
    assert_eq!(bench.store().staged(None, 2).unwrap(), staged[..2]);
    let behind = bench.store().staged(Some(&url("/a")), 10).unwrap();
    assert_eq!(behind, staged[1..]);
    apply(bench.store(), vec![OutboxStep::Stage(vec![new("/c")])]);
    apply(bench.store(), vec![take("2026-03-01T12:00:00Z", Tell::All)]);
    bench.reopen();
    let published = bench.store().published(None, 10).unwrap();
    assert_eq!(
        published,
        [
            (url("/a"), listing("2026-01-01", 7)),
            (url("/c"), listing("2026-01-01", 7))
        ]
    );
    let behind = bench.store().published(Some(&url("/a")), 10).unwrap();
    assert_eq!(behind, published[1..]);
    assert_eq!(
        waiting(bench.store(), "2026-03-01T12:00:00Z"),
        ["/a", "/c"].map(|path| (path.to_owned(), UrlChange::Added, 0))
    );
    // Nothing is staged any more.
    assert_eq!(bench.store().staged(None, 10).unwrap(), []);
    apply(bench.store(), vec![take("2026-03-01T12:00:01Z", Tell::All)]);
    assert_eq!(bench.store().published(None, 10).unwrap(), published);
}

pub(crate) fn later_news_replace_earlier_ones<B: Bench>() {
    let mut bench = B::new();
    let stage = |path, change, listing| OutboxStep::Stage(vec![difference(path, change, listing)]);
    let added = stage("/a", Some(UrlChange::Added), Some(listing("", u64::MAX)));
    apply(
        bench.store(),
        vec![added, take("2026-03-01T12:00:00Z", Tell::All)],
    );
    apply(bench.store(), vec![OutboxStep::Tried(vec![url("/a")])]);
    let removed = stage("/a", Some(UrlChange::Removed), None);
    apply(
        bench.store(),
        vec![removed, take("2026-03-01T12:00:05.7Z", Tell::All)],
    );
    assert_eq!(bench.store().published(None, 10).unwrap(), []);
    let now = time("2026-03-01T12:00:06Z");
    assert_eq!(
        bench.store().outbox(None, 10, now).unwrap(),
        [Waiting {
            key: url("/a"),
            change: UrlChange::Removed,
            since: time("2026-03-01T12:00:05Z"),
            tries: 0
        }]
    );
    apply(
        bench.store(),
        vec![OutboxStep::GiveUp(vec![url("/a"), url("/unknown")])],
    );
    assert_eq!(bench.store().outbox(None, 10, now).unwrap(), []);
    let listed = stage("/a", Some(UrlChange::Added), Some(listing("", 7)));
    let gone = stage("/a", Some(UrlChange::Removed), None);
    for (step, at) in [
        (listed, "2026-03-01T12:00:05Z"),
        (gone, "2026-03-01T12:00:06Z"),
    ] {
        // What was given up does not rest: there are news of it.
        apply(bench.store(), vec![step, take(at, Tell::All)]);
        assert_eq!(bench.store().outbox_len().unwrap(), 1);
    }
    // What is not to be told is remembered all the same.
    let quiet = stage("/b", Some(UrlChange::Added), Some(listing("2026-01-01", 0)));
    apply(
        bench.store(),
        vec![quiet, take("2026-03-01T12:00:06Z", Tell::Nobody)],
    );
    let silent = stage("/c", None, Some(listing("2026-01-02", 0)));
    apply(
        bench.store(),
        vec![silent, take("2026-03-01T12:00:07Z", Tell::All)],
    );
    assert_eq!(bench.store().published(None, 10).unwrap().len(), 2);
    assert_eq!(bench.store().outbox_len().unwrap(), 1);
    let since = time("2026-03-01T12:00:08Z");
    apply(bench.store(), vec![OutboxStep::TellAll { since }]);
    assert_eq!(bench.store().outbox_len().unwrap(), 3);
}

pub(crate) fn a_told_url_leaves_and_rests<B: Bench>() {
    let mut bench = B::new();
    let put = |path: &str, tries| Waiting {
        key: url(path),
        change: UrlChange::Changed,
        since: time("2026-03-01T11:00:00Z"),
        tries,
    };
    apply(
        bench.store(),
        vec![OutboxStep::Put(vec![
            put("/a", 1),
            put("/b", 0),
            put("/c", 0),
        ])],
    );
    let order = |paths: &[(&str, u32)]| {
        let with_change =
            |(path, tries): &(&str, u32)| ((*path).to_owned(), UrlChange::Changed, *tries);
        paths.iter().map(with_change).collect::<Vec<_>>()
    };
    let now = "2026-03-01T12:00:00Z";
    assert_eq!(
        waiting(bench.store(), now),
        order(&[("/b", 0), ("/c", 0), ("/a", 1)])
    );
    let first = bench.store().outbox(None, 1, time(now)).unwrap();
    let rest = bench
        .store()
        .outbox(Some(&first[0].place()), 10, time(now))
        .unwrap();
    assert_eq!(rest.len(), 2);
    let told = OutboxStep::Told {
        urls: vec![url("/b")],
        at: time(now),
    };
    apply(
        bench.store(),
        vec![told, OutboxStep::Put(vec![put("/b", 0)])],
    );
    bench.crash();
    assert_eq!(
        waiting(bench.store(), "2026-03-01T12:09:59Z"),
        order(&[("/c", 0), ("/a", 1)])
    );
    assert_eq!(bench.store().outbox_len().unwrap(), 3);
    assert_eq!(
        waiting(bench.store(), "2026-03-01T12:10:00Z"),
        order(&[("/b", 0), ("/c", 0), ("/a", 1)])
    );
    // A clock that went back holds nothing up.
    assert_eq!(waiting(bench.store(), "2026-03-01T11:59:59Z").len(), 3);
}

pub(crate) fn a_refused_commit_takes_nothing<B: Bench>() {
    let mut bench = B::new();
    let added = difference("/a", Some(UrlChange::Added), Some(listing("", 1)));
    apply(bench.store(), vec![OutboxStep::Stage(vec![added])]);
    // Two URLs at one place of the queue.
    let commit = Commit {
        run: 1,
        discovered: vec![discovery("/1", 1), discovery("/2", 1)],
        outbox: vec![take("2026-03-01T12:00:00Z", Tell::All)],
        ..Commit::default()
    };
    bench.store().commit(&commit).unwrap_err();
    assert_eq!(bench.store().outbox_len().unwrap(), 0);
    assert_eq!(bench.store().published(None, 10).unwrap(), []);
}
