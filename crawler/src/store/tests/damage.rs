//! Files that are refused because they are not a state of this version, and the message on a damaged one.

use std::error::Error;

use super::*;
use crate::page::ContentHash;

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
fn foreign_file_is_refused_and_left_alone() {
    let corrupt = StoreErrorKind::Corrupt;
    check_refused(
        b"https://example.com/\n",
        corrupt,
        "damaged, or is not a state of arpent",
    );
    check_refused(&[0; 5_000], corrupt, "damaged, or is not a state of arpent");
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
        "the format 0, which does not exist",
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
        let store = Store::open(&state(&folder)).unwrap();
        let errors = [
            store.page(&url("/a")).unwrap_err(),
            store
                .each(None, &mut |_, _, _| ControlFlow::Continue(()))
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
    for (changed, cause) in [
        (
            "reason = 'from-the-future'",
            "unknown reason `from-the-future`",
        ),
        ("via = 'magic'", "unknown via `magic`"),
        ("body_end = 'soon'", "unknown body_end `soon`"),
        ("canonical = 'nowhere'", "unknown canonical `nowhere`"),
        ("refresh = '3'", "unknown refresh `3`"),
        ("content_hash = '12'", "unknown hash `12`"),
        ("found_on = '/a'", "unknown URL `/a`"),
        ("last_seen = 'now'", "unknown time `now`"),
        (
            "dated_hash = printf('%032x', 1)",
            "there is a dated_hash without its version",
        ),
        ("images = x'00'", "links cannot be unpacked"),
    ] {
        check(&format!("UPDATE page SET {changed}"), cause);
    }
}

#[test]
fn numbers_that_cannot_be_are_damage() {
    for changed in ["status = 'two hundred'", "status = 70000", "depth = -1"] {
        let folder = tempfile::tempdir().unwrap();
        make_state(&state(&folder));
        meddle(&state(&folder), &format!("UPDATE page SET {changed}"));
        let store = Store::open(&state(&folder)).unwrap();
        let error = store.page(&url("/a")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{changed}");
    }
}

#[test]
fn an_unknown_reason_stops_counting() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(
        &state(&folder),
        "UPDATE visit SET reason = 'from-the-future'",
    );
    let store = Store::open(&state(&folder)).unwrap();
    let error = store.each_visit(&mut |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

#[test]
fn a_missing_table_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(&state(&folder), "DROP TABLE link");
    let store = Store::open(&state(&folder)).unwrap();
    let error = store.links(&url("/a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

#[test]
fn the_hash_of_another_algorithm_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let hash_of = |version: u32| {
        let mut store = Store::open(&state(&folder)).unwrap();
        let found = discovery("/a", 1);
        let facts = PageFacts {
            content_hash: Some(ContentHash(7)),
            ..PageFacts::default()
        };
        let answered = PageRecord {
            outcome: Some(Outcome::Answered(Box::new(facts))),
            ..record(Reason::Listed)
        };
        commit(&mut store, |commit| {
            commit.finished = vec![finished(&found, answered)];
        });
        drop(store);
        let sql = format!("UPDATE visit SET hash_version = {version}");
        meddle(&state(&folder), &sql);
        let store = Store::open(&state(&folder)).unwrap();
        let visit = store.visit(&found.key).unwrap().unwrap();
        visit.record.facts().unwrap().content_hash
    };
    assert_eq!(hash_of(ContentHash::VERSION), Some(ContentHash(7)));
    assert_eq!(hash_of(ContentHash::VERSION + 1), None);
}
