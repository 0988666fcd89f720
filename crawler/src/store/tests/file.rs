//! The file: its lock, its permissions, its removal, and a full disk.

use super::*;

/// A crash while a state is begun leaves a database without tables.
#[test]
fn empty_file_or_database_is_a_new_state() {
    for sql in [
        "",
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x); DROP TABLE t",
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(state(&folder), b"").unwrap();
        meddle(&state(&folder), sql);
        make_state(&state(&folder));
        assert_eq!(queue(&Store::open(&state(&folder)).unwrap()).len(), 1);
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

/// Nothing is read from a pipe, which would wait, and no link is followed.
#[cfg(unix)]
#[test]
fn pipe_or_link_as_file_is_refused() {
    for suffix in ["", ".lock", "-wal", "-shm"] {
        for is_pipe in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("site.db{suffix}"));
            let elsewhere = folder.path().join("elsewhere");
            if is_pipe {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            } else {
                std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
            }
            assert_eq!(held_since(&folder.path().join("site.db")), None);
            let error = open_error(&folder.path().join("site.db"));
            let message = with_causes(&error);
            assert_eq!(error.kind(), StoreErrorKind::Open, "{message}");
            assert!(message.contains("not a regular file"), "{message}");
            assert!(message.contains(&*path.to_string_lossy()), "{message}");
            assert!(!elsewhere.exists());
        }
    }
}

#[test]
fn a_state_is_held_by_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&state(&folder)).unwrap();
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
    Store::open(&state(&folder)).unwrap();
}

#[cfg(unix)]
#[test]
fn new_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/site.db");
    let mut store = Store::open(&path).unwrap();
    discover(&mut store, &[discovery("/a", 1)]);
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
fn closed_state_is_one_file_and_its_lock() {
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
fn renamed_state_can_be_opened() {
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
        assert_eq!(rows(&Store::open(&aside.unwrap()).unwrap(), None).len(), 2);
        assert_eq!(rows(&Store::open(&path).unwrap(), None).len(), 0);
        fs::remove_file(&path).unwrap();
    }
    fs::write(&path, b"damaged").unwrap();
    let aside = set_aside(&path, "then").unwrap().unwrap();
    assert_eq!(fs::read(aside).unwrap(), b"damaged");
}

/// The files that a process leaves that is killed with the state `from` open: closing would bring the database and its log
/// together.
fn crash(from: &TempDir) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["site.db", "site.db-wal"] {
        fs::copy(from.path().join(file), folder.path().join(file)).unwrap();
    }
    folder
}

/// After a crash the last commits are only in the log.
#[test]
fn a_state_is_set_aside_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&state(&folder)).unwrap();
    discover(&mut store, &[discovery("/a", 1)]);
    let folder = crash(&folder);
    let aside = set_aside(&state(&folder), "then").unwrap().unwrap();
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 3, "database, log and the lock");
    assert_eq!(queue(&Store::open(&aside).unwrap()).len(), 1);
    assert_eq!(queue(&Store::open(&state(&folder)).unwrap()), []);
}

#[test]
fn full_disk_undoes_the_whole_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&state(&folder)).unwrap();
    let commit = |from: u64| {
        Commit {
            discovered: (from..from + 1_000)
                .map(|n| discovery(&format!("/{n}"), n))
                .collect(),
            ..Commit::default()
        }
        .effects()
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
    assert_eq!(queue(&store), []);
    store
        .connection
        .pragma_update(None, "max_page_count", pages + 1_000)
        .unwrap();
    store.commit(&commit(1)).unwrap();
    assert_eq!(queue(&store).len(), 1_000);
}

#[test]
fn store_is_busy_while_another_tool_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&state(&folder)).unwrap();
    store
        .connection
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let tool = Connection::open(state(&folder)).unwrap();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.commit(&[]).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    assert!(
        error.to_string().contains("is in use by another program"),
        "{error}"
    );
    tool.execute_batch("ROLLBACK").unwrap();
    store.commit(&[]).unwrap();
}

#[test]
fn rehearsed_changes_show_and_do_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_state(&path);
    let before = fs::read(&path).unwrap();
    let mut store = Store::rehearse(&path).unwrap();
    let mut left = vec![
        InputBatch::GiveUp,
        InputBatch::Url(SuppliedUrl {
            key: url("/c"),
            supplied: Supplied::default(),
            reason: Reason::FromInput,
        }),
    ];
    let gave = store.take_supplied(&mut || left.pop().unwrap()).unwrap();
    assert_eq!(gave, InputCounts::default());
    commit(&mut store, |commit| {
        commit.clears_visits = true;
        commit.values = vec![("name".to_owned(), Some("value".to_owned()))];
        let page = page_of(record(Reason::Noindex));
        commit.pages = vec![page_row(url("/a"), page, PageLinks::Own)];
    });
    let refused = Commit {
        discovered: vec![discovery("/d", 1), discovery("/e", 1)],
        ..Commit::default()
    };
    store.commit(&refused.effects()).unwrap_err();
    let page = store.page(&url("/a")).unwrap();
    assert_eq!(page.record.reason, Reason::Noindex);
    assert_eq!(store.value("name").unwrap().as_deref(), Some("value"));
    assert_eq!(queue(&store), []);
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), before);
    let store = Store::open(&path).unwrap();
    let page = store.page(&url("/a")).unwrap();
    assert_eq!(page.record.reason, Reason::Listed);
    assert_eq!(queue(&store).len(), 1);
}

#[test]
fn forget_removes_all_files_of_one_state() {
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
    forget(&[&state], || Ok(())).unwrap();
    let left = fs::read_dir(folder.path()).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
    left.sort();
    let mut expected = others.map(path);
    expected.sort();
    assert_eq!(left, expected);
    assert!(files_of(&path("nowhere/h.db")).unwrap().is_empty());
}

#[test]
fn forget_removes_nothing_while_one_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let [state, build_state] = ["h.db", "h.build.db"].map(|name| folder.path().join(name));
    for database in [&state, &build_state] {
        fs::write(database, "").unwrap();
    }
    let lock = files::lock(&build_state).unwrap();
    let both: [&Path; 2] = [&state, &build_state];
    let error = forget(&both, || panic!("one is locked")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    assert!(state.exists() && build_state.exists());
    drop(lock);
    forget(&both, || Ok(())).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
