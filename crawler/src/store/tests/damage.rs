//! Files that are refused because they are not a state of this version, and the message on a damaged one.

use std::error::Error;

use super::*;
use crate::page::ContentHash;

/// The bytes of a state after `sql`.
fn state_with(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_state(&path);
    meddle(&path, sql);
    fs::read(&path).unwrap()
}

/// Files that are no state of this version, each with its kind and words of the message.
pub(super) fn unreadable_files() -> Vec<(Vec<u8>, StoreErrorKind, &'static str)> {
    let foreign = {
        let folder = tempfile::tempdir().unwrap();
        meddle(&state(&folder), "CREATE TABLE page (url TEXT)");
        fs::read(state(&folder)).unwrap()
    };
    let corrupt = StoreErrorKind::Corrupt;
    let [no_state, other_program] = [
        "damaged, or is not a state of arpent",
        "database of another program",
    ];
    let mut files = vec![
        (b"https://example.com/\n".to_vec(), corrupt, no_state),
        (vec![0; 5_000], corrupt, no_state),
        (foreign, corrupt, other_program),
    ];
    for (sql, kind, words) in [
        ("application_id = 7", corrupt, other_program),
        (
            "user_version = 0",
            corrupt,
            "the format 0, which does not exist",
        ),
        (
            "user_version = 2",
            StoreErrorKind::Version,
            "has format 2, written by a newer arpent; this one reads format 1",
        ),
    ] {
        files.push((state_with(&format!("PRAGMA {sql}")), kind, words));
    }
    let whole = state_with("");
    let half = whole.len() / 2;
    for length in [
        100,
        5_000,
        half,
        half.next_multiple_of(PAGE),
        whole.len() - PAGE,
        whole.len() - 1,
    ] {
        files.push((whole[..length].to_vec(), corrupt, " is damaged"));
    }
    files
}

#[test]
fn unreadable_file_is_refused_and_unchanged() {
    for (contents, kind, words) in unreadable_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = state(&folder);
        fs::write(&path, &contents).unwrap();
        let error = open_error(&path);
        assert_eq!(error.kind(), kind, "{error}");
        let message = error.to_string();
        assert!(message.contains(words), "{words}: {message}");
        assert!(message.contains(&*path.to_string_lossy()), "{message}");
        assert!(fs::read(&path).unwrap() == contents, "{words}: changed");
    }
}

#[test]
fn damage_is_an_error_where_it_is_read() {
    let check = |sql: &str, least: usize, cause: &str| {
        let folder = tempfile::tempdir().unwrap();
        make_state(&state(&folder));
        meddle(&state(&folder), sql);
        let store = Store::open(&state(&folder)).unwrap();
        let read = [
            store.rows(&url("/a")).map(drop),
            store.each(None, Shown::Whole, &mut |rows| {
                rows.page().and(rows.visit())?;
                Ok(ControlFlow::Continue(()))
            }),
            store.each(None, Shown::Whole, &mut |rows| {
                rows.note()?;
                Ok(ControlFlow::Continue(()))
            }),
            store.lists(&url("/a"), ListsOf::Page).map(drop),
        ];
        let errors: Vec<StoreError> = read.into_iter().filter_map(Result::err).collect();
        assert!(errors.len() >= least, "{sql}: {errors:?}");
        for error in errors {
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{sql}");
            let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
            assert!(
                cause.is_empty() || causes.any(|error| error.to_string() == cause),
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
        ("dated_hash = printf('%032x', 1)", ""),
        ("images = x'00'", "links cannot be unpacked"),
        // Numbers that cannot be.
        ("status = 'two hundred'", ""),
        ("status = 70000", ""),
        ("depth = -1", ""),
    ] {
        check(&format!("UPDATE page SET {changed}"), 2, cause);
    }
    check("UPDATE visit SET reason = 'from-the-future'", 1, "");
    check("DROP TABLE link", 1, "");
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
        let sql = format!("UPDATE visit SET content_hash = '{version}:{:032x}'", 7);
        meddle(&state(&folder), &sql);
        let store = Store::open(&state(&folder)).unwrap();
        let visit = store.visit(&found.key).unwrap();
        visit.record.facts().unwrap().content_hash
    };
    assert_eq!(hash_of(ContentHash::VERSION), Some(ContentHash(7)));
    assert_eq!(hash_of(ContentHash::VERSION + 1), None);
}
