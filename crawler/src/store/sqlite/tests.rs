//! The durable store on real files: the contract of every store, and what is its own.

mod damage;
mod file;
mod kill;
mod readable;
mod sound;

use std::{fs, path::PathBuf};

use tempfile::TempDir;

use super::*;
use crate::store::conformance::{Bench, conformance_tests, discovery, finished, record};

/// A state in a folder of its own.
struct SqliteBench {
    store: Option<SqliteStore>,
    folder: TempDir,
}

fn state(folder: &TempDir) -> PathBuf {
    folder.path().join("site.db")
}

impl Bench for SqliteBench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Some(SqliteStore::open(&state(&folder)).unwrap());
        Self { store, folder }
    }

    fn store(&mut self) -> &mut dyn Store {
        self.store.as_mut().expect("it is open")
    }

    fn reopen(&mut self) {
        drop(self.store.take());
        self.store = Some(SqliteStore::open(&state(&self.folder)).unwrap());
    }

    /// Closing would bring the database and its log together, so both are copied while open.
    fn crash(&mut self) {
        let folder = tempfile::tempdir().unwrap();
        for file in ["site.db", "site.db-wal"] {
            fs::copy(self.folder.path().join(file), folder.path().join(file)).unwrap();
        }
        self.store = Some(SqliteStore::open(&state(&folder)).unwrap());
        self.folder = folder;
    }
}

conformance_tests!(SqliteBench);

fn open_error(path: &Path) -> StoreError {
    match SqliteStore::open(path) {
        Ok(_) => panic!("{} can be opened", path.display()),
        Err(error) => error,
    }
}

/// A closed state with one listed and one queued URL.
fn make_state(path: &Path) {
    let mut store = SqliteStore::open(path).unwrap();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    let commit = Commit {
        run: 1,
        discovered: vec![a.clone(), b],
        finished: vec![finished(&a, record(1, Reason::Listed))],
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
}

/// Changes the closed state `path` by hand.
fn meddle(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}
