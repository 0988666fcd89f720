//! Looking into a state that another process may use, or that does not exist: its file is read without a lock. Nothing is
//! made or written, not even the files that `SQLite` has beside a database, and no process waits. The data may be older than
//! the state, or damaged when another process writes meanwhile: no decision may depend on them.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use url::Url;

use super::{
    Store, StoreError,
    error::failure,
    files::{absolute, io_failure},
    schema,
};

impl Store {
    /// Opens the state `path` to read what is committed, also while a crawl holds it; `None` when there is none. All reads see
    /// the state of one moment, and every write fails.
    ///
    /// # Errors
    /// As [`Store::peek`].
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let path = absolute(path)?;
        if !path.is_file() {
            return Ok(None);
        }
        let connection = schema::open_to_read(&path)?;
        Ok(Some(Self::with(connection, None, path)))
    }

    /// Looks into the state `path` without touching it; `None` when there is none. What was committed since the
    /// file was closed last is not seen, and while another process writes to it anything may be read, also damage.
    /// Every write fails.
    ///
    /// ```
    /// use crawler::store::Store;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("https_example.com.db");
    /// assert!(Store::peek(&path)?.is_none());
    /// assert!(!path.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - [`StoreErrorKind::Version`](crate::store::StoreErrorKind::Version): a newer arpent wrote it.
    /// - [`StoreErrorKind::Corrupt`](crate::store::StoreErrorKind::Corrupt): it is damaged, or no state of arpent.
    /// - [`StoreErrorKind::Open`](crate::store::StoreErrorKind::Open): it cannot be read.
    pub fn peek(path: &Path) -> Result<Option<Self>, StoreError> {
        let path = absolute(path)?;
        match path.metadata() {
            // A pipe is not read, because its reader would wait.
            Ok(found) if !found.is_file() || found.len() == 0 => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_failure("open", &path, error)),
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let name = unchanging(&path)
            .ok_or_else(|| io_failure("open", &path, std::io::ErrorKind::InvalidFilename.into()))?;
        let opened = Connection::open_with_flags(name, flags);
        let connection = opened.map_err(|error| failure("open", &path, error))?;
        schema::expect_ours(&connection, &path)?;
        Ok(Some(Self::with(connection, None, path)))
    }
}

/// The name under which `SQLite` opens a file that it takes for one that never changes
/// ([URI filenames](https://www.sqlite.org/uri.html)); `None`: no URL can name it.
fn unchanging(path: &Path) -> Option<String> {
    let mut url = Url::from_file_path(path).ok()?;
    url.set_query(Some("immutable=1"));
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use super::*;
    use crate::store::{Effect, StoreErrorKind};

    fn value(text: &str) -> [Effect; 1] {
        [Effect::value("name", Some(text.to_owned()))]
    }

    /// Every file of a folder, with its bytes.
    fn files(folder: &Path) -> BTreeMap<std::ffi::OsString, Vec<u8>> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
            .collect()
    }

    #[test]
    fn peek_reads_any_path_and_changes_nothing() {
        for name in ["a.db", "a b?c#d%20é.db", "&mode=rwc.db"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            assert!(Store::peek(&path).unwrap().is_none());
            assert!(files(folder.path()).is_empty());
            let mut store = Store::open(&path).unwrap();
            store.commit(&value("1")).unwrap();
            drop(store);
            let before = files(folder.path());
            let mut peeked = Store::peek(&path).unwrap().unwrap();
            assert_eq!(peeked.value("name").unwrap().as_deref(), Some("1"));
            assert!(peeked.commit(&value("2")).is_err());
            // Who opens it in earnest is not kept from it.
            let mut store = Store::open(&path).unwrap();
            store.commit(&value("3")).unwrap();
            drop(store);
            drop(peeked);
            let names = |files: &BTreeMap<_, _>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&files(folder.path())), names(&before));
            let peeked = Store::peek(&path).unwrap().unwrap();
            assert_eq!(peeked.value("name").unwrap().as_deref(), Some("3"));
        }
    }

    #[test]
    fn peek_reads_the_last_closed_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut store = Store::open(&path).unwrap();
        store.commit(&value("1")).unwrap();
        drop(store);
        let mut store = Store::open(&path).unwrap();
        store.commit(&value("2")).unwrap();
        let before = files(folder.path());
        let peeked = Store::peek(&path).unwrap().unwrap();
        assert_eq!(peeked.value("name").unwrap().as_deref(), Some("1"));
        drop(peeked);
        assert_eq!(files(folder.path()), before);
        store.commit(&value("3")).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.value("name").unwrap().as_deref(), Some("3"));
    }

    #[test]
    fn foreign_state_is_reported_and_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let check = |bytes: &[u8], expected| {
            fs::write(&path, bytes).unwrap();
            let peeked = Store::peek(&path);
            assert_eq!(peeked.map(drop).map_err(|error| error.kind()), expected);
            assert_eq!(fs::read(&path).unwrap(), bytes);
        };
        check(b"", Ok(()));
        check(&[b'x'; 5_000], Err(StoreErrorKind::Corrupt));
        drop(Store::open(&folder.path().join("b.db")).unwrap());
        let mut bytes = fs::read(folder.path().join("b.db")).unwrap();
        // The version of the format is after byte 60 (SQLite file format, section 1.3).
        bytes[63] = 99;
        check(&bytes, Err(StoreErrorKind::Version));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(Store::peek(&path).unwrap().is_none());
    }
}
