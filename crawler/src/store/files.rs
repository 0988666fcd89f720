//! The files around a state: its folder, its lock, and setting a state aside. The lock is the
//! kernel's, so that it ends with the process. Nothing here looks into the database.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::{StoreError, StoreErrorKind};
pub(super) use crate::machine::private::with_suffix;
use crate::machine::{Lock, NotTaken, open_regular, private};

/// Files that `SQLite` keeps beside a database, by what they add to its name.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// The suffix of the name of a lock after that of its state.
const LOCK: &str = ".lock";

/// The suffix of the name of a state for the one that will take its place.
const NEXT: &str = ".new";

/// States set aside with one and the same timestamp.
const MAX_SAME_NAME: u32 = 100;

/// Takes the lock of the state `database` at once: `<database>.lock`, which stays when the lock is given back.
///
/// # Errors
/// [`StoreErrorKind::Busy`] names the holder; [`StoreErrorKind::Open`]: no such file can be made.
pub(super) fn lock(database: &Path) -> Result<Lock, StoreError> {
    let path = with_suffix(database, LOCK);
    loop {
        let file = open_private(&path)?;
        let lock = Lock::take(file).map_err(|error| match error {
            NotTaken::Held(holder) => StoreError::new(
                StoreErrorKind::Busy,
                format!("the state {} is in use by {holder}", database.display()),
            ),
            NotTaken::Failed(error) => io_failure("lock", &path, error),
        })?;
        // One that was removed with its state after it was opened here keeps nobody out.
        if is_file_at(lock.file(), &path) {
            return Ok(lock);
        }
    }
}

#[cfg(unix)]
fn is_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        (_, _) => false,
    }
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn is_file_at(_: &File, _: &Path) -> bool {
    true
}

/// Since when a session, or another program, uses the state `database`; `None` when nobody does, or that cannot be known.
/// Nothing is opened or changed, so it can be asked at any time.
pub fn held_since(database: &Path) -> Option<Timestamp> {
    let file = open_regular(&with_suffix(database, LOCK)).ok()?;
    Lock::held_since(&file)
}

/// Makes sure that `database` exists, empty when it is new. It and the folders that have to be made
/// for it are for their owner alone: a state can hold what a site shows only to some.
///
/// # Errors
/// [`StoreErrorKind::Open`].
pub(super) fn create_file(database: &Path) -> Result<(), StoreError> {
    for companion in COMPANIONS {
        // `SQLite` waits for the other end of a pipe.
        let path = with_suffix(database, companion);
        match open_regular(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_failure("open", &path, error));
            }
            Ok(_) | Err(_) => {}
        }
    }
    open_private(database).map(drop)
}

/// Makes the folder that `database` is in.
///
/// # Errors
/// [`StoreErrorKind::Open`].
pub(super) fn create_folder(database: &Path) -> Result<(), StoreError> {
    let Some(folder) = database.parent() else {
        return Ok(());
    };
    private::create_folder(folder).map_err(|error| io_failure("create the folder", folder, error))
}

fn open_private(path: &Path) -> Result<File, StoreError> {
    private::open(path).map_err(|error| io_failure("open", path, error))
}

/// Renames the state `database` to `<name>.old-<timestamp>`, with the files that belong to it, and returns where
/// it is now; `None` when there is no state. Nothing is ever replaced: `.2` and so on is added to a name that is taken.
/// `timestamp` must be fit for a file name. The state can still be opened there.
///
/// # Errors
/// [`StoreErrorKind::Busy`]: a session holds it. [`StoreErrorKind::Open`] and [`StoreErrorKind::Io`]: it cannot be renamed.
pub fn set_aside(database: &Path, timestamp: &str) -> Result<Option<PathBuf>, StoreError> {
    if !exists(database)? {
        return Ok(None);
    }
    let lock = lock(database)?;
    set_aside_locked(database, &old(timestamp), &lock).map(Some)
}

/// The suffix of the name of a state that is set aside because it was asked to be.
pub(super) fn old(timestamp: &str) -> String {
    format!(".old-{timestamp}")
}

/// The suffix of the name of a state that is set aside because it is damaged.
pub(super) fn corrupt(timestamp: &str) -> String {
    format!(".corrupt-{timestamp}")
}

/// Sets aside a state that is there and held, under its name with `suffix`.
pub(super) fn set_aside_locked(
    database: &Path,
    suffix: &str,
    _held: &Lock,
) -> Result<PathBuf, StoreError> {
    let aside = free_name(&with_suffix(database, suffix))?;
    // The database goes first: beside a missing or empty database SQLite takes no log for its own, so
    // that a crash between the renames does not mix two states.
    rename(database, &aside)?;
    for companion in COMPANIONS {
        let from = with_suffix(database, companion);
        if exists(&from)? {
            rename(&from, &with_suffix(&aside, companion))?;
        }
    }
    Ok(aside)
}

/// The path at which the state that will take the place of `database` is made. It is complete when `database` is
/// not there: that is set aside only then.
pub(super) fn next_of(database: &Path) -> PathBuf {
    with_suffix(database, NEXT)
}

/// Ends what a replacement of `database` that was killed has begun: forwards, when the old state is set
/// aside already, else back.
pub(super) fn end_replacement(database: &Path, held: &Lock) -> Result<(), StoreError> {
    let next = next_of(database);
    if !exists(&next)? {
        return Ok(());
    }
    if exists(database)? {
        discard(&next)
    } else {
        put_in_place(database, held)
    }
}

/// Puts the finished next state in the place of `database`, which is set aside.
pub(super) fn put_in_place(database: &Path, _held: &Lock) -> Result<(), StoreError> {
    // A log of the old state that was not set aside with it must not be taken for one of the new.
    for companion in COMPANIONS {
        remove(&with_suffix(database, companion))?;
    }
    let next = next_of(database);
    rename(&next, database)?;
    discard(&next)
}

/// Removes a state that nobody holds, with everything that belongs to it.
pub(super) fn discard(database: &Path) -> Result<(), StoreError> {
    let companions = COMPANIONS.into_iter().chain([LOCK]);
    for companion in companions {
        remove(&with_suffix(database, companion))?;
    }
    remove(database)
}

/// The files of the state `database`, without its lock: itself, what `SQLite` keeps beside it, and states that were set
/// aside in its place. None when it was never there.
///
/// # Errors
/// [`StoreErrorKind::Io`]: its folder cannot be read.
pub fn files_of(database: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let (Some(folder), Some(own)) = (database.parent(), database.file_name()) else {
        return Ok(Vec::new());
    };
    let failed = |error| io_failure("read the folder", folder, error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let own = own.to_string_lossy();
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&*own));
        if rest.is_some_and(|rest| rest != LOCK && is_of_state(rest)) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Returns whether a file is of a state whose name `rest` is after.
fn is_of_state(rest: &str) -> bool {
    let mut ends = COMPANIONS.iter().chain([&LOCK]);
    let rest = ends.find_map(|end| rest.strip_suffix(end)).unwrap_or(rest);
    let aside = [old(""), corrupt("")];
    let time = aside.iter().find_map(|aside| rest.strip_prefix(&**aside));
    // No name of another site has capital letters.
    rest.is_empty()
        || rest == NEXT
        || time.is_some_and(|time| {
            time.contains('T') && time.bytes().all(|byte| b"0123456789TZ.".contains(&byte))
        })
}

/// Removes the states `databases` with all of their files ([`files_of`]) and locks, and calls `also` while nobody else can
/// work with them.
///
/// # Errors
/// [`StoreErrorKind::Busy`]: a session has one of them; nothing is removed. [`StoreErrorKind::Io`]: a file cannot be removed.
/// `also` failed; what is left is removed when they are forgotten again.
pub fn forget(
    databases: &[&Path],
    also: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let locks = databases.iter().map(|database| lock(database));
    let _locks = locks.collect::<Result<Vec<_>, _>>()?;
    // A database goes first: beside a missing one SQLite takes no log for its own.
    for database in databases {
        for file in files_of(database)? {
            remove(&file)?;
        }
    }
    also()?;
    let locks = databases.iter().map(|database| with_suffix(database, LOCK));
    locks.into_iter().try_for_each(|lock| remove(&lock))
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_failure("remove", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// `path` itself or, where that is taken, with a number.
fn free_name(path: &Path) -> Result<PathBuf, StoreError> {
    if !exists(path)? {
        return Ok(path.to_owned());
    }
    for number in 2..=MAX_SAME_NAME {
        let numbered = with_suffix(path, &format!(".{number}"));
        if !exists(&numbered)? {
            return Ok(numbered);
        }
    }
    Err(StoreError::new(
        StoreErrorKind::Open,
        format!("there are too many states named {}", path.display()),
    ))
}

pub(super) fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists()
        .map_err(|error| io_failure("look for", path, error))
}

fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|error| io_failure("rename", from, error))
}

/// The error of the system for the file `path`.
pub(super) fn io_failure(action: &str, path: &Path, error: io::Error) -> StoreError {
    StoreError::of_io(format!("cannot {action} {}", path.display()), error)
}

/// To `SQLite` some relative names mean something else than a file.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| io_failure("open", path, error))
}
