//! Snapshots of a state, with which another machine goes on: the state of one moment as one packed file. A crawl may write to the
//! state meanwhile. It does not decide when a snapshot is made, and where it is stored.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};
use tempfile::NamedTempFile;

use super::{
    Store, StoreError, StoreErrorKind,
    error::failure,
    files::{absolute, io_failure},
};

/// Level of zstd: a third of the size at 300 MB/s.
const LEVEL: i32 = 3;

impl Store {
    /// Writes the state of this moment to `target`, packed with zstd. Needs room for a copy in the folder of the state. A store of
    /// [`Store::open_to_read`] does not keep a crawl from writing.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`]: there is no room, or `target` cannot be written.
    pub fn write_snapshot(&self, target: &mut impl Write) -> Result<(), StoreError> {
        let path = &self.path;
        let folder = path.parent().unwrap_or(Path::new("."));
        let copy =
            NamedTempFile::new_in(folder).map_err(|error| io_failure("copy", path, error))?;
        let copied = || -> rusqlite::Result<StepResult> {
            let mut connection = Connection::open(copy.path())?;
            // All pages in one step: the copy is the state of one moment.
            Backup::new(&self.connection, &mut connection)?.step(-1)
        };
        let outcome = copied().map_err(|error| failure("copy", path, error))?;
        if outcome != StepResult::Done {
            let message = format!("the state {} is locked by another program", path.display());
            return Err(StoreError::new(StoreErrorKind::Busy, message));
        }
        let packed =
            File::open(copy.path()).and_then(|file| zstd::stream::copy_encode(file, target, LEVEL));
        packed.map_err(|error| io_failure("pack", path, error))
    }
}

/// Makes the state `path` of a snapshot. The state must not exist.
///
/// # Errors
/// - [`StoreErrorKind::Corrupt`]: `packed` is no snapshot, or is damaged.
/// - [`StoreErrorKind::Open`]: the state exists.
/// - [`StoreErrorKind::Io`]: it cannot be written.
pub fn restore_snapshot(packed: impl Read, path: &Path) -> Result<(), StoreError> {
    let path = absolute(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let file = NamedTempFile::new_in(folder).map_err(|error| io_failure("write", &path, error))?;
    zstd::stream::copy_decode(packed, file.as_file()).map_err(|error| {
        let is_of_system = error.raw_os_error().is_some();
        let kind = if is_of_system {
            StoreErrorKind::Io
        } else {
            StoreErrorKind::Corrupt
        };
        let message = format!("the snapshot of {} cannot be unpacked", path.display());
        StoreError::new(kind, message).with_source(error)
    })?;
    let synced: io::Result<()> = file.as_file().sync_all();
    synced.map_err(|error| io_failure("write", &path, error))?;
    let placed = file.persist_noclobber(&path);
    placed.map_err(|error| io_failure("write", &path, error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Effect;

    fn set(store: &mut Store, value: &str) {
        store
            .commit(&[Effect::value("name", Some(value.to_owned()))])
            .unwrap();
    }

    #[test]
    fn snapshot_holds_one_moment_beside_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let mut writer = Store::open(&path).unwrap();
        set(&mut writer, "before");
        let mut packed = Vec::new();
        let reader = Store::open_to_read(&path).unwrap().unwrap();
        reader.write_snapshot(&mut packed).unwrap();
        set(&mut writer, "after");
        let other = folder.path().join("other.db");
        restore_snapshot(&packed[..], &other).unwrap();
        let restored = Store::open(&other).unwrap();
        assert_eq!(restored.value("name").unwrap().as_deref(), Some("before"));
        let error = restore_snapshot(&packed[..], &other).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Open);
        assert_eq!(writer.value("name").unwrap().as_deref(), Some("after"));
    }

    #[test]
    fn a_damaged_snapshot_leaves_no_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let error = restore_snapshot(&b"no snapshot"[..], &path).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
