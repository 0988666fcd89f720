//! Opening a state: an existing or a new one, one whose changes are dropped, and a new one in the place of a damaged one.

use std::path::{Path, PathBuf};

use super::{
    Effect, Store, StoreError, StoreErrorKind,
    error::{failure, with_causes},
    files::{self, absolute},
    names,
    schema::{self, OpenCheck},
};
use crate::machine::{Lock, is_remote};

/// A state that was looked at as a whole before it was opened.
#[derive(Debug)]
pub struct Sound {
    /// The state, or the new state in its place.
    pub store: Store,
    /// The file that was in its place and is set aside.
    pub damaged: Option<Damaged>,
}

/// A damaged state, or a file that is none of arpent, that is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The current place.
    pub aside: PathBuf,
    /// The defect, a fragment that names it as it was.
    pub problem: String,
}

impl Store {
    /// A new state that no other program sees, for tests and for sets that are built without a crawl. What does not fit
    /// into 8 MiB waits in a temporary file.
    ///
    /// # Errors
    /// There is no room.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(":memory:");
        let connection = schema::temporary().map_err(|error| failure("open", &path, error))?;
        Ok(Self::with(connection, None, path))
    }

    /// Opens the state `path`, or begins one, and locks it for as long as the store lives. Folders
    /// that have to be made, and the file, are for their owner alone.
    ///
    /// # Errors
    /// - [`StoreErrorKind::Busy`]: another process (or store) holds it; the message names it.
    /// - [`StoreErrorKind::Version`]: a newer arpent wrote it.
    /// - [`StoreErrorKind::Corrupt`]: it is damaged, or no state of arpent. It is left as it is.
    /// - [`StoreErrorKind::Open`]: there can be no such file; [`StoreErrorKind::Io`]: it cannot be opened or created now.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let lock = files::lock(&path)?;
        files::end_replacement(&path, &lock)?;
        Self::open_held(path, lock, OpenCheck::Trust)
    }

    /// Opens the state `path`, which must exist, to see what would come of work on it: what is written shows in what
    /// is read, and nothing of it stays when the store is dropped, or the process ends. Meanwhile no other program can
    /// write to the file. What does not fit into memory waits in the log beside the file, which goes with the store.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn rehearse(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(path)?;
        store
            .connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|error| failure("open", &store.path, error))?;
        store.is_rehearsal = true;
        Ok(store)
    }

    /// Opens a state for a long time, or begins one: all of an existing one is looked at first, about a
    /// second for a million URLs. One that is damaged, or no state of arpent, is set aside as
    /// `<name>.corrupt-<timestamp>`, as it is and never deleted, and a new one takes its place, which
    /// has the values of `names::SALVAGED` that could be read. At every instant either the damaged state or the whole
    /// new one is there, or the new one is put there when it is opened next.
    ///
    /// `damage` is the damage that was found while the state was read, which a look at it alone may not show.
    ///
    /// # Errors
    /// As [`Store::open`], but for damage; or the state cannot be set aside.
    pub fn open_sound(
        path: &Path,
        timestamp: &str,
        damage: Option<&str>,
    ) -> Result<Sound, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let lock = files::lock(&path)?;
        if path.parent().is_some_and(is_remote) {
            tracing::warn!(
                target: "store",
                "the state {} is on the disk of another machine: SQLite may lose writes there, and arpent may not notice \
                 a session on that machine; use a folder on a local disk",
                path.display()
            );
        }
        files::end_replacement(&path, &lock)?;
        files::create_file(&path)?;
        let problem = match (damage, schema::open(&path, OpenCheck::Check)) {
            (None, Ok(connection)) => {
                let store = Self::with(connection, Some(lock), path);
                return Ok(Sound {
                    store,
                    damaged: None,
                });
            }
            (None, Err(error)) if error.kind() == StoreErrorKind::Corrupt => with_causes(&error),
            (Some(damage), Err(error)) if error.kind() == StoreErrorKind::Corrupt => {
                tracing::debug!(target: "store", "{error}");
                damage.to_owned()
            }
            (_, Err(error)) => return Err(error),
            (Some(damage), Ok(_)) => damage.to_owned(),
        };
        let suffix = files::corrupt(timestamp);
        let aside = replace(&path, &lock, &suffix)?;
        let store = Self::open_held(path, lock, OpenCheck::Trust)?;
        let damaged = Some(Damaged { aside, problem });
        Ok(Sound { store, damaged })
    }

    fn open_held(path: PathBuf, lock: Lock, care: OpenCheck) -> Result<Self, StoreError> {
        files::create_file(&path)?;
        let connection = schema::open(&path, care)?;
        Ok(Self::with(connection, Some(lock), path))
    }
}

/// Makes a new state beside the damaged one at `path`, with what is salvaged of that, and puts it in its place. The
/// damaged one is set aside under its name with `suffix`; returns where that is.
///
/// # Errors
/// The damaged state stays in use.
fn replace(path: &Path, lock: &Lock, suffix: &str) -> Result<PathBuf, StoreError> {
    let mut new = Store::open(&files::next_of(path))?;
    new.commit(&Effect::values(salvaged(path)?))?;
    // Closed, it is one file, and all of it is on the disk.
    drop(new);
    let aside = files::set_aside_locked(path, suffix, lock)?;
    files::put_in_place(path, lock)?;
    Ok(aside)
}

/// The values of the damaged state `path` that a new one takes over, as far as they can be read.
fn salvaged(path: &Path) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let lost = |error: StoreError| {
        if error.kind() != StoreErrorKind::Corrupt {
            return Err(error);
        }
        tracing::debug!(target: "store", "{error}");
        Ok(())
    };
    let connection = match schema::open(path, OpenCheck::Salvage) {
        Ok(connection) => connection,
        Err(error) => return lost(error).map(|()| Vec::new()),
    };
    let old = Store::with(connection, None, path.to_owned());
    let mut values = Vec::new();
    for name in names::SALVAGED {
        match old.value(name) {
            Ok(value) => values.push((name.to_owned(), value)),
            Err(error) => lost(error)?,
        }
    }
    Ok(values)
}
