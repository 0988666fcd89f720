//! What is refused because it is no state of this version, and what a damaged one says.

use std::error::Error;

use super::*;
use crate::{
    page::{ContentHash, Outcome},
    store::conformance::{discovery, finished, key, record},
};

/// Opening `contents` fails as `kind` with a message that holds `words` and the path, and leaves
/// the file as it was.
fn check_refused(contents: &[u8], kind: StoreErrorKind, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    fs::write(&path, contents).unwrap();
    let error = open_error(&path);
    assert_eq!(error.kind(), kind, "{error}");
    let message = error.to_string();
    assert!(message.contains(words), "{message}");
    assert!(message.contains(&*path.to_string_lossy()), "{message}");
    assert_eq!(fs::read(&path).unwrap(), contents);
}

/// The bytes of a state after `sql`.
fn state_with(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_state(&path);
    meddle(&path, sql);
    fs::read(&path).unwrap()
}

#[test]
fn what_is_no_state_is_refused_and_left_alone() {
    let corrupt = StoreErrorKind::Corrupt;
    check_refused(
        b"https://example.com/\n",
        corrupt,
        "damaged or no state of arpent",
    );
    check_refused(&[0; 5_000], corrupt, "damaged or no state of arpent");
    let foreign = {
        let folder = tempfile::tempdir().unwrap();
        let path = state(&folder);
        meddle(&path, "CREATE TABLE page (url TEXT)");
        fs::read(&path).unwrap()
    };
    check_refused(&foreign, corrupt, "database of another program");
    check_refused(
        &state_with("PRAGMA application_id = 7"),
        corrupt,
        "database of another program",
    );
    check_refused(
        &state_with("PRAGMA user_version = 0"),
        corrupt,
        "there is no format 0",
    );
}

#[test]
fn a_cut_state_is_refused_and_left_alone() {
    let whole = state_with("");
    let page = 4_096;
    let half = whole.len() / 2;
    for length in [
        100,
        5_000,
        half,
        half.next_multiple_of(page),
        whole.len() - page,
        whole.len() - 1,
    ] {
        let (kept, _) = whole.split_at(length);
        check_refused(kept, StoreErrorKind::Corrupt, " is damaged");
    }
}

#[test]
fn a_newer_state_is_refused_and_left_alone() {
    let newer = state_with("PRAGMA user_version = 2");
    check_refused(
        &newer,
        StoreErrorKind::Version,
        "has format 2, written by a newer arpent",
    );
    check_refused(&newer, StoreErrorKind::Version, "this one reads format 1");
}

#[test]
fn damage_is_an_error_where_it_is_read() {
    let check = |sql: &str, cause: &str| {
        let folder = tempfile::tempdir().unwrap();
        make_state(&state(&folder));
        meddle(&state(&folder), sql);
        let store = SqliteStore::open(&state(&folder)).unwrap();
        let errors = [
            store.page(&key("https://example.com/a")).unwrap_err(),
            store
                .visit_pages(1, None, &mut |_, _| ControlFlow::Continue(()))
                .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{sql}");
            let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
            assert!(
                causes.any(|error| error.to_string() == cause),
                "{sql}: {error:?}"
            );
        }
    };
    check(
        "UPDATE page SET reason = 'from-the-future'",
        "unknown reason `from-the-future`",
    );
    check("UPDATE page SET via = 'magic'", "unknown via `magic`");
    check(
        "UPDATE page SET body_end = 'soon'",
        "unknown body_end `soon`",
    );
    check(
        "UPDATE page SET canonical_is = 'itself', canonical = 'https://example.com/'",
        "unknown canonical_is `itself`",
    );
    check(
        "UPDATE page SET canonical_is = 'other'",
        "there is a canonical without the other half of it",
    );
    check(
        "UPDATE page SET refresh_delay = 3",
        "there is a refresh without the other half of it",
    );
    check(
        "UPDATE page SET content_hash = '12'",
        "unknown content_hash `12`",
    );
    check(
        "UPDATE page SET found_on = '/a'",
        "not an http or https URL",
    );
    check(
        "UPDATE page SET status = 'two hundred'",
        "Invalid column type Text at index: 21, name: status",
    );
}

#[test]
fn an_unknown_reason_stops_counting() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(
        &state(&folder),
        "UPDATE page SET reason = 'from-the-future'",
    );
    let store = SqliteStore::open(&state(&folder)).unwrap();
    assert_eq!(store.counts(1).unwrap_err().kind(), StoreErrorKind::Corrupt);
    assert_eq!(
        store.visit_keys(1, &mut |_, _| {}).unwrap_err().kind(),
        StoreErrorKind::Corrupt
    );
}

#[test]
fn a_missing_table_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(&state(&folder), "DROP TABLE outlinks");
    let store = SqliteStore::open(&state(&folder)).unwrap();
    assert_eq!(
        store
            .links(&key("https://example.com/a"))
            .unwrap_err()
            .kind(),
        StoreErrorKind::Corrupt
    );
}

#[test]
fn the_hash_of_another_algorithm_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let hash_of = |version: u32| {
        let mut store = SqliteStore::open(&state(&folder)).unwrap();
        let found = discovery("/a", 1);
        let mut answered = record(1, Reason::Listed);
        let Some(Outcome::Answered(facts)) = &mut answered.outcome else {
            unreachable!("it is answered")
        };
        facts.content_hash = Some(ContentHash(7));
        let commit = Commit {
            run: 1,
            finished: vec![finished(&found, answered)],
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
        drop(store);
        meddle(
            &state(&folder),
            &format!("UPDATE page SET hash_version = {version}"),
        );
        let store = SqliteStore::open(&state(&folder)).unwrap();
        store
            .page(&found.key)
            .unwrap()
            .unwrap()
            .facts()
            .unwrap()
            .content_hash
    };
    assert_eq!(hash_of(ContentHash::VERSION), Some(ContentHash(7)));
    assert_eq!(hash_of(ContentHash::VERSION + 1), None);
}
