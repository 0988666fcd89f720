//! How a state comes into use: as it is, for a look, anew, or after it was found damaged.

use std::path::{Path, PathBuf};

use super::schema::Care;
use super::{SqliteStore, failure, files, schema};
use crate::{
    machine::{Lock, is_remote},
    store::{Store, StoreError, StoreErrorKind, with_causes},
};

/// A state that was looked at as a whole before it was opened.
#[derive(Debug)]
pub struct Sound {
    /// It, or the new one in its place.
    pub store: SqliteStore,
    /// What was in its place and is set aside.
    pub damaged: Option<Damaged>,
}

/// A damaged state, or a file that is none of arpent, that is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is now.
    pub aside: PathBuf,
    /// What is wrong with it, a fragment that names it as it was.
    pub problem: String,
}

impl SqliteStore {
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
        Self::open_held(path, lock, Care::Trust)
    }

    /// Opens the state `path`, which must exist, to see what would come of work on it: what is written shows in what
    /// is read, and nothing of it stays when the store is dropped, or the process ends. Meanwhile no other program can
    /// write to the file. What does not fit into memory waits in the log beside the file, which goes with the store.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn rehearse(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(path)?;
        store
            .connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|error| failure("open", &store.path, error))?;
        store.is_rehearsal = true;
        Ok(store)
    }

    /// Opens a state anew: what is at `path` is set aside as by [`set_aside`](super::set_aside), and the new state knows
    /// of it only what `carry_over(old, new)` copies. However that ends, by a failure or by the end of
    /// the process, either the old state or the whole new one is at `path` (or is put there when it is
    /// opened next). Of a state that is damaged is carried over what can be read.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], but for damage; `carry_over` failed. The old state stands.
    pub fn open_anew(
        path: &Path,
        timestamp: &str,
        carry_over: impl FnOnce(&dyn Store, &mut dyn Store) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let mut lock = files::lock(&path)?;
        files::end_replacement(&path, &lock)?;
        if files::exists(&path)? {
            let carry = |old: Option<&dyn Store>, new: &mut dyn Store| match old {
                Some(old) => carry_over(old, new),
                None => Ok(()),
            };
            (lock, _) = replace(&path, lock, &files::old(timestamp), Care::Trust, carry)?;
        }
        Self::open_held(path, lock, Care::Trust)
    }

    /// Opens a state for a long time, or begins one: all of an existing one is looked at first, about a
    /// second for a million URLs. One that is damaged, or none of arpent, is set aside as
    /// `<name>.corrupt-<timestamp>`, as it is and never deleted, and a new one takes its place, which
    /// knows what `salvage(old, new)` copies; `old` is `None` when nothing of it can be read. What
    /// it cannot read of it is no failure; `salvage` has to expect it. As with
    /// [`SqliteStore::open_anew`], at every instant either the damaged state or the whole new one is there.
    ///
    /// `damage` says what was found while the state was read, which a look at it alone may not show.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], but for damage; `salvage` failed, or the state cannot be set aside.
    pub fn open_sound(
        path: &Path,
        timestamp: &str,
        damage: Option<&str>,
        salvage: impl FnOnce(Option<&dyn Store>, &mut dyn Store) -> Result<(), StoreError>,
    ) -> Result<Sound, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let lock = files::lock(&path)?;
        if path.parent().is_some_and(is_remote) {
            tracing::warn!(
                target: "store",
                "the state {} is on the disk of another machine: SQLite may lose what it writes there, and whether \
                 another run is noticed is up to that machine; a folder on a local disk is safe",
                path.display()
            );
        }
        files::end_replacement(&path, &lock)?;
        files::create_file(&path)?;
        let problem = match (damage, schema::open(&path, Care::Check)) {
            (None, Ok(connection)) => {
                let store = Self {
                    connection,
                    _lock: Some(lock),
                    path,
                    is_rehearsal: false,
                };
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
        let (lock, aside) = replace(&path, lock, &suffix, Care::Salvage, salvage)?;
        let store = Self::open_held(path, lock, Care::Trust)?;
        let damaged = Some(Damaged { aside, problem });
        Ok(Sound { store, damaged })
    }

    fn open_held(path: PathBuf, lock: Lock, care: Care) -> Result<Self, StoreError> {
        files::create_file(&path)?;
        let connection = schema::open(&path, care)?;
        Ok(Self {
            connection,
            _lock: Some(lock),
            path,
            is_rehearsal: false,
        })
    }
}

/// Makes a new state beside the one at `path`, which exists, fills it by `carry`, and puts it in the place of that
/// one, which is set aside under its name with `suffix`. Says where that is.
///
/// # Errors
/// The old state stands.
fn replace(
    path: &Path,
    lock: Lock,
    suffix: &str,
    care: Care,
    carry: impl FnOnce(Option<&dyn Store>, &mut dyn Store) -> Result<(), StoreError>,
) -> Result<(Lock, PathBuf), StoreError> {
    let mut new = SqliteStore::open(&files::next_of(path))?;
    let carried = match schema::open(path, care) {
        Ok(connection) => {
            // The lock is held on, also when this is closed.
            let old = SqliteStore {
                connection,
                _lock: None,
                path: path.to_owned(),
                is_rehearsal: false,
            };
            carry(Some(&old), &mut new)
        }
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            tracing::debug!(target: "store", "{error}");
            carry(None, &mut new)
        }
        Err(error) => Err(error),
    };
    match carried {
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            tracing::warn!(target: "store", "{error}; what it knew is lost");
        }
        carried => carried?,
    }
    // Closed, it is one file, and all of it is on the disk.
    drop(new);
    let aside = files::set_aside_locked(path, suffix, &lock)?;
    files::put_in_place(path, &lock)?;
    Ok((lock, aside))
}

/// To `SQLite` some relative names mean something else than a file.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| files::io_failure("open", path, error))
}
