//! The file: who may open it, who may see it, how it is put away, what a full disk does.

use super::*;
use crate::{
    page::Given,
    store::{GivenUrl, Giving, conformance::discovery},
};

#[test]
fn an_empty_file_is_a_new_state() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(state(&folder), b"").unwrap();
    make_state(&state(&folder));
    assert_eq!(
        SqliteStore::open(&state(&folder))
            .unwrap()
            .queue_len()
            .unwrap(),
        1
    );
}

/// A crash while a state is begun leaves a database without tables.
#[test]
fn a_state_that_was_barely_begun_is_a_new_state() {
    let folder = tempfile::tempdir().unwrap();
    meddle(
        &state(&folder),
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x); DROP TABLE t",
    );
    make_state(&state(&folder));
}

/// The state of an arpent that knew neither images nor languages nor inputs.
#[test]
fn a_file_without_the_later_columns_gets_them() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(
        &state(&folder),
        "ALTER TABLE page DROP COLUMN images;
         ALTER TABLE page DROP COLUMN alternates;
         ALTER TABLE page DROP COLUMN selected_values;
         ALTER TABLE page DROP COLUMN noimageindex;
         ALTER TABLE page DROP COLUMN given_lastmod;
         ALTER TABLE page DROP COLUMN given_changefreq;
         ALTER TABLE page DROP COLUMN given_priority;
         ALTER TABLE page DROP COLUMN given_extensions;
         DROP VIEW listed;
         CREATE VIEW listed AS SELECT url FROM page WHERE state = 'listed';
         ALTER TABLE page DROP COLUMN body_hash;
         ALTER TABLE page DROP COLUMN sitemap_lastmod;
         ALTER TABLE page DROP COLUMN likeness;
         ALTER TABLE ledger DROP COLUMN source;
         ALTER TABLE ledger DROP COLUMN time_element",
    );
    for _ in 0..2 {
        let store = SqliteStore::open(&state(&folder)).unwrap();
        let view = "SELECT lastmod, source FROM listed";
        store.connection.prepare(view).unwrap();
        let queued = store.queued(None, 1).unwrap();
        assert!(store.page(&queued[0].key).unwrap().is_some());
    }
}

#[test]
fn a_path_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"").unwrap();
    fs::create_dir(folder.path().join("folder.db")).unwrap();
    for path in ["file/site.db", "folder.db"] {
        let path = folder.path().join(path);
        let error = open_error(&path);
        assert_eq!(error.kind(), StoreErrorKind::Open);
        assert!(
            error
                .to_string()
                .contains(&*folder.path().to_string_lossy()),
            "{error}"
        );
    }
}

#[test]
fn numbers_beyond_what_the_file_holds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let most = i64::MAX.unsigned_abs();
    let mut put = |sequence| {
        let discovered = vec![discovery(&format!("/{sequence}"), sequence)];
        store.commit(&Commit {
            run: 1,
            discovered,
            ..Commit::default()
        })
    };
    put(most).unwrap();
    assert_eq!(put(most + 1).unwrap_err().kind(), StoreErrorKind::Io);
    assert_eq!(store.last_sequence().unwrap(), most);
    assert_eq!(store.queue_len().unwrap(), 1);
}

#[test]
fn a_state_is_held_by_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&state(&folder)).unwrap();
    let error = open_error(&state(&folder));
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    let message = error.to_string();
    let holder = format!(
        "{} is in use by process {} on {}, started 20",
        state(&folder).display(),
        std::process::id(),
        crate::machine::host_name().unwrap()
    );
    assert!(message.contains(&holder), "{message}");
    assert_eq!(
        set_aside(&state(&folder), "now").unwrap_err().kind(),
        StoreErrorKind::Busy
    );
    drop(store);
    SqliteStore::open(&state(&folder)).unwrap();
}

#[test]
fn the_lock_file_of_a_dead_process_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("site.db.lock");
    fs::write(
        &lock,
        "process 1, started 2026-01-01T00:00:00Z, and a tail that is longer than any other line\n",
    )
    .unwrap();
    let _store = SqliteStore::open(&state(&folder)).unwrap();
    let text = fs::read_to_string(&lock).unwrap();
    assert!(
        text.starts_with(&format!("process {} on ", std::process::id())),
        "{text}"
    );
    assert!(text.ends_with("Z\n") && text.lines().count() == 1, "{text}");
}

#[cfg(unix)]
#[test]
fn new_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/site.db");
    let mut store = SqliteStore::open(&path).unwrap();
    store.begin_run(1).unwrap();
    let mode = |path: &str| {
        fs::metadata(folder.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    for made in ["a", "a/b"] {
        assert_eq!(mode(made), 0o700, "{made}");
    }
    for made in [
        "a/b/site.db",
        "a/b/site.db-wal",
        "a/b/site.db-shm",
        "a/b/site.db.lock",
    ] {
        assert_eq!(mode(made), 0o600, "{made}");
    }
}

#[test]
fn a_closed_state_is_one_file_and_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["site.db", "site.db.lock"]);
}

#[test]
fn a_state_that_is_set_aside_can_be_opened_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    assert_eq!(set_aside(&path, "20260501T100000Z").unwrap(), None);
    assert!(!folder.path().join("site.db.lock").exists());
    for name in [
        "site.db.old-20260501T100000Z",
        "site.db.old-20260501T100000Z.2",
        "site.db.old-20260501T100000Z.3",
    ] {
        make_state(&path);
        let aside = set_aside(&path, "20260501T100000Z").unwrap();
        assert_eq!(aside, Some(folder.path().join(name)));
        assert!(!path.exists());
        assert_eq!(
            SqliteStore::open(&aside.unwrap())
                .unwrap()
                .counts(1)
                .unwrap()
                .len(),
            2
        );
        assert_eq!(
            SqliteStore::open(&path).unwrap().counts(1).unwrap().len(),
            0
        );
        fs::remove_file(&path).unwrap();
    }
}

/// After a crash the last commits are only in the log.
#[test]
fn a_state_is_set_aside_with_its_log() {
    let mut bench = SqliteBench::new();
    let discovered = vec![discovery("/a", 1)];
    bench
        .store()
        .commit(&Commit {
            run: 1,
            discovered,
            ..Commit::default()
        })
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    for file in ["site.db", "site.db-wal"] {
        fs::copy(bench.folder.path().join(file), folder.path().join(file)).unwrap();
    }
    let aside = set_aside(&state(&folder), "then").unwrap().unwrap();
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "database, log and the lock"
    );
    assert_eq!(SqliteStore::open(&aside).unwrap().queue_len().unwrap(), 1);
    assert_eq!(
        SqliteStore::open(&state(&folder))
            .unwrap()
            .queue_len()
            .unwrap(),
        0
    );
}

/// A state with one ledger entry, or one that is being opened anew.
fn make_ledger(path: &Path) {
    let mut store = SqliteStore::open(path).unwrap();
    store.set_ledger(&[entry()]).unwrap();
}

fn entry() -> (UrlKey, LedgerEntry) {
    let entry = LedgerEntry {
        content_hash: 7,
        hash_version: 1,
        lastmod: None,
        last_modified_seconds: None,
        ..LedgerEntry::default()
    };
    (discovery("/a", 1).key, entry)
}

fn carry(old: &dyn Store, new: &mut dyn Store) -> Result<(), StoreError> {
    let (key, _) = entry();
    let known = old.ledger(&key)?;
    new.set_ledger(
        &known
            .map(|known| (key, known))
            .into_iter()
            .collect::<Vec<_>>(),
    )
}

fn knows_the_entry(store: &SqliteStore) -> bool {
    store.ledger(&entry().0).unwrap().is_some()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.split('.').next_back() != Some("lock"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_state_that_is_opened_anew_has_what_was_carried_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    let store = SqliteStore::open_anew(&path, "then", |_, _| panic!("there is none")).unwrap();
    drop(store);
    make_ledger(&path);
    make_state(&path);
    let store = SqliteStore::open_anew(&path, "then", carry).unwrap();
    assert!(knows_the_entry(&store));
    assert_eq!(store.counts(1).unwrap().len(), 0);
    assert_eq!(open_error(&path).kind(), StoreErrorKind::Busy);
    drop(store);
    assert_eq!(names(&folder), ["site.db", "site.db.old-then"]);
    let old = SqliteStore::open(&folder.path().join("site.db.old-then")).unwrap();
    assert_eq!(old.counts(1).unwrap().len(), 2);
}

#[test]
fn a_state_that_cannot_be_carried_over_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_ledger(&path);
    for _ in 0..2 {
        let full = || StoreError::new(StoreErrorKind::Io, "no space left");
        let result = SqliteStore::open_anew(&path, "then", |old, new| {
            carry(old, new)?;
            Err(full())
        });
        assert_eq!(result.unwrap_err().kind(), StoreErrorKind::Io);
        assert!(knows_the_entry(&SqliteStore::open(&path).unwrap()));
        assert_eq!(names(&folder), ["site.db"], "half of a copy is discarded");
    }
}

#[test]
fn a_state_whose_replacement_was_killed_is_the_old_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (path, next) = (state(&folder), folder.path().join("site.db.new"));
    // While carrying over.
    make_ledger(&path);
    SqliteStore::open(&next).unwrap();
    fs::write(folder.path().join("site.db.new-wal"), "half").unwrap();
    let store = SqliteStore::open_anew(&path, "then", carry).unwrap();
    assert!(knows_the_entry(&store));
    drop(store);
    // After the old one was set aside, all but its log.
    fs::rename(&path, &next).unwrap();
    fs::write(folder.path().join("site.db-wal"), "log of the old one").unwrap();
    assert!(knows_the_entry(&SqliteStore::open(&path).unwrap()));
    assert_eq!(names(&folder), ["site.db", "site.db.old-then"]);
    fs::rename(&path, &next).unwrap();
    assert!(knows_the_entry(
        &SqliteStore::open_anew(&path, "later", carry).unwrap()
    ));
}

#[test]
fn a_damaged_state_can_be_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(state(&folder), b"no state").unwrap();
    let store = SqliteStore::open_anew(&state(&folder), "then", carry).unwrap();
    assert!(!knows_the_entry(&store));
    let aside = folder.path().join("site.db.old-then");
    assert_eq!(fs::read(aside).unwrap(), b"no state");
}

#[test]
fn a_damaged_state_can_be_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(state(&folder), b"no state").unwrap();
    let aside = set_aside(&state(&folder), "then").unwrap().unwrap();
    assert_eq!(fs::read(aside).unwrap(), b"no state");
}

#[test]
fn a_full_disk_refuses_a_commit_and_the_next_one_finds_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let commit = |from: u64| Commit {
        run: 1,
        discovered: (from..from + 1_000)
            .map(|n| discovery(&format!("/{n}"), n))
            .collect(),
        ..Commit::default()
    };
    let pages: u32 = store
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    store
        .connection
        .pragma_update(None, "max_page_count", pages + 10)
        .unwrap();
    let error = store.commit(&commit(1)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    assert!(
        error.to_string().contains("cannot write to the state"),
        "{error}"
    );
    assert_eq!(store.queue_len().unwrap(), 0);
    assert_eq!(store.last_sequence().unwrap(), 0);
    store
        .connection
        .pragma_update(None, "max_page_count", pages + 1_000)
        .unwrap();
    store.commit(&commit(1)).unwrap();
    assert_eq!(store.queue_len().unwrap(), 1_000);
}

#[test]
fn a_tool_that_writes_makes_the_store_busy_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    store
        .connection
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let tool = Connection::open(state(&folder)).unwrap();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.begin_run(1).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    assert!(
        error.to_string().contains("is in use by another program"),
        "{error}"
    );
    tool.execute_batch("ROLLBACK").unwrap();
    store.begin_run(1).unwrap();
}

#[test]
fn what_is_rehearsed_shows_and_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_state(&path);
    let before = fs::read(&path).unwrap();
    let key = discovery("/a", 1).key;
    let mut store = SqliteStore::rehearse(&path).unwrap();
    store.rejudge(&[(key.clone(), Reason::Noindex)]).unwrap();
    store.begin_run(7).unwrap();
    let mut left = vec![
        Giving::GiveUp,
        Giving::Url(GivenUrl {
            key: discovery("/c", 3).key,
            given: Given::default(),
            reason: Reason::Given,
        }),
    ];
    let gave = store.give(7, &mut || left.pop().unwrap()).unwrap();
    assert_eq!(gave, Gave::default());
    store
        .commit(&Commit {
            run: 7,
            values: vec![("name".to_owned(), Some("value".to_owned()))],
            ..Commit::default()
        })
        .unwrap();
    assert_eq!(store.page(&key).unwrap().unwrap().reason, Reason::Noindex);
    assert_eq!(store.value("name").unwrap().as_deref(), Some("value"));
    assert_eq!(store.queue_len().unwrap(), 0);
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), before);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.page(&key).unwrap().unwrap().reason, Reason::Listed);
    assert_eq!(store.queue_len().unwrap(), 1);
}

#[test]
fn a_state_is_forgotten_with_what_was_set_aside_of_it_and_with_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let own = [
        "h.db",
        "h.db-shm",
        "h.db-wal",
        "h.db.corrupt-20260301T120000Z.2",
        "h.db.new",
        "h.db.new-wal",
        "h.db.old-20260301T120000Z",
        "h.db.old-20260301T120000Z-wal",
        "h.db.old-20260301T120000Z.lock",
    ];
    // The last three are of sites whose hosts have such names.
    let others = [
        "a.h.db",
        "h.build.db",
        "h.last.json",
        "h.db.db",
        "h.db.new.db",
        "h.db.old-2026.db",
    ];
    for name in own.iter().chain(&others).chain(&["h.db.lock"]) {
        fs::write(path(name), "").unwrap();
    }
    let state = path("h.db");
    assert_eq!(files_of(&state).unwrap(), own.map(path));
    let held = files::lock(&state).unwrap();
    let error = forget(&state, || panic!("it is held")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    drop(held);
    forget(&state, || Ok(())).unwrap();
    let left = fs::read_dir(folder.path()).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
    left.sort();
    let mut expected = others.map(path);
    expected.sort();
    assert_eq!(left, expected);
    assert!(files_of(&path("nowhere/h.db")).unwrap().is_empty());
}
