//! Copies of sitemaps that are kept for later runs.

use std::collections::BTreeMap;

use super::{Bench, discovery, key};
use crate::{
    store::{Commit, KeptDocument, KeptNote, Store},
    url_key::UrlKey,
};

fn document(lastmod: &str, body: &[u8]) -> KeptDocument {
    KeptDocument {
        lastmod: lastmod.to_owned(),
        read_at: "2026-03-01T12:00:00.5Z".parse().unwrap(),
        sha256: format!("{:064x}", body.len()),
        body: body.to_vec(),
    }
}

fn keep(store: &mut dyn Store, kept: &[(&UrlKey, Option<KeptDocument>)]) {
    let kept = kept
        .iter()
        .map(|(key, document)| ((*key).clone(), document.clone()))
        .collect();
    let commit = Commit {
        run: 1,
        kept,
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
}

fn notes(store: &dyn Store) -> BTreeMap<UrlKey, KeptNote> {
    let mut notes = BTreeMap::new();
    store
        .visit_kept(&mut |key, note| assert_eq!(notes.insert(key.clone(), note), None))
        .unwrap();
    notes
}

pub(crate) fn a_kept_document_comes_back_until_it_is_dropped<B: Bench>() {
    let mut bench = B::new();
    let [a, b] = ["a", "b"].map(|name| key(&format!("https://example.com/{name}.xml")));
    assert_eq!(bench.store().kept(&a).unwrap(), None);
    let (first, empty) = (document("2026-02-28", b"\0\xff packed"), document("", b""));
    let kept = [(&a, Some(first.clone())), (&b, Some(empty.clone()))];
    keep(bench.store(), &kept);
    bench.reopen();
    assert_eq!(bench.store().kept(&a).unwrap().as_ref(), Some(&first));
    assert_eq!(bench.store().kept(&b).unwrap().as_ref(), Some(&empty));
    let expected = BTreeMap::from([(a.clone(), first.note()), (b.clone(), empty.note())]);
    assert_eq!(notes(bench.store()), expected);

    let second = document("2026-03-01T10:00:00Z", &vec![7; 100_000]);
    keep(bench.store(), &[(&a, Some(second.clone())), (&b, None)]);
    bench.crash();
    assert_eq!(bench.store().kept(&a).unwrap().as_ref(), Some(&second));
    assert_eq!(bench.store().kept(&b).unwrap(), None);
    assert_eq!(notes(bench.store())[&a].bytes, 100_000);
    keep(bench.store(), &[(&a, None), (&b, None)]);
    assert_eq!(notes(bench.store()), BTreeMap::new());
}

pub(crate) fn a_kept_document_outlives_its_run<B: Bench>() {
    let mut bench = B::new();
    let a = key("https://example.com/a.xml");
    let copy = document("2026-02-28", b"packed");
    keep(bench.store(), &[(&a, Some(copy.clone()))]);
    bench.store().begin_run(2).unwrap();
    bench.reopen();
    assert_eq!(bench.store().kept(&a).unwrap(), Some(copy));
    assert_eq!(bench.store().page(&a).unwrap(), None, "it is no page");
}

pub(crate) fn a_refused_commit_keeps_the_older_copy<B: Bench>() {
    let mut bench = B::new();
    let a = key("https://example.com/a.xml");
    let copy = document("2026-02-28", b"packed");
    keep(bench.store(), &[(&a, Some(copy.clone()))]);
    let found = discovery("/1", 1);
    // Two URLs at one place of the queue.
    let commit = Commit {
        run: 1,
        discovered: vec![found, discovery("/2", 1)],
        kept: vec![(a.clone(), Some(document("2026-03-01", b"newer")))],
        ..Commit::default()
    };
    bench.store().commit(&commit).unwrap_err();
    assert_eq!(bench.store().kept(&a).unwrap(), Some(copy));
}
