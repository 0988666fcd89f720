//! Locks of the kernel on files, each with a note of its holder in the file. A lock ends with its process.

use std::{
    fs::{File, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    process, thread,
};

use jiff::Timestamp;

use super::host_name;
use crate::clock::{Clock as _, SystemClock};

/// How often a lock is tried, with other threads in between: whoever looks whether it is held holds it for a moment.
const TRIES: u32 = 50;

/// A holder of whom nothing is noted.
const UNKNOWN_HOLDER: &str = "another process";

/// Bytes of a lock file that are read for a message; one line of ours is shorter than 160.
const MAX_NOTE_BYTES: u64 = 300;

/// The lock of a file, given back when it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum NotTaken {
    /// Somebody else has it: who, in words, as far as that is known.
    Held(String),
    /// The file cannot be locked.
    Failed(io::Error),
}

impl Drop for Lock {
    /// Closing the file is not enough: a program that is being started at this instant holds a copy
    /// of it for a moment, and would hold the lock with it. Should this fail, that is all it costs.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock of `file`, which is open for reading and writing and holds nothing else, at once.
    ///
    /// # Errors
    /// See [`NotTaken`].
    pub fn take(mut file: File) -> Result<Self, NotTaken> {
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(NotTaken::Held(holder(&mut file))),
            Err(TryLockError::Error(error)) => return Err(NotTaken::Failed(error)),
        }
        // The text only serves the message of others: a full disk is no reason not to go on.
        let _ = name_holder(&mut file);
        Ok(Self { file })
    }

    /// The file that is locked.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Takes the lock of the existing folder `path` at once, for which nothing is written; `None` where the system, or the
    /// disk, locks no folders.
    pub(crate) fn of_folder(path: &Path) -> Result<Option<Self>, NotTaken> {
        let Ok(file) = File::open(path) else {
            return Ok(None);
        };
        match try_lock(&file) {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Err(NotTaken::Held(UNKNOWN_HOLDER.to_owned())),
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }

    /// Since when somebody has the lock of `file`, which is open for reading; `None` when nobody has it, or that cannot be
    /// known.
    pub fn held_since(file: &File) -> Option<Timestamp> {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                // Whoever took it has written so.
                Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok()
            }
            Ok(()) => {
                let _ = file.unlock();
                None
            }
            Err(TryLockError::Error(_)) => None,
        }
    }
}

fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::yield_now(),
            other => return other,
        }
    }
    file.try_lock()
}

/// Writes who holds the lock. The start time is the file's own.
fn name_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    let host = host_name().map_or_else(String::new, |host| format!(" on {host}"));
    let started = Timestamp::try_from(file.metadata()?.modified()?);
    let started = started.map_or_else(|_| String::new(), |time| format!(", started {time:.0}"));
    let note = format!("process {}{host}{started}\n", process::id());
    file.write_all(note.as_bytes())
}

/// The holder of the lock, by the note in the file; unknown where locked files cannot be read.
fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let read = file.take(MAX_NOTE_BYTES).read_to_end(&mut text);
    let text: String = String::from_utf8_lossy(&text)
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    match read {
        Ok(_) if text.starts_with("process ") => match age(file) {
            Some(age) => format!("{text} ({age} ago)"),
            None => text,
        },
        Ok(_) | Err(_) => UNKNOWN_HOLDER.to_owned(),
    }
}

/// For how long it has been held, in words; `None` when a clock was put back since.
fn age(file: &File) -> Option<String> {
    let since = Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok()?;
    let seconds = SystemClock.now().as_second().checked_sub(since.as_second());
    let seconds = u64::try_from(seconds?).ok()?;
    Some(match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    })
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, OpenOptions},
        path::Path,
        time::{Duration, SystemTime},
    };

    use super::*;

    fn open(path: &Path) -> File {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        options.open(path).unwrap()
    }

    fn held(path: &Path) -> String {
        match Lock::take(open(path)) {
            Err(NotTaken::Held(holder)) => holder,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_names_its_holder_until_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(
            &path,
            "process 1, and a tail that is longer than any line of ours\n",
        )
        .unwrap();
        let lock = Lock::take(open(&path)).unwrap();
        let host = host_name().unwrap();
        let expected = format!("process {} on {host}, started 20", process::id());
        let holder = held(&path);
        assert!(holder.starts_with(&expected), "{holder}");
        assert!(holder.ends_with(" s ago)"), "{holder}");
        for (age, words) in [
            (90, "90 s ago"),
            (3_000, "50 min ago"),
            (10_000, "2 h ago"),
            (1_000_000, "11 days ago"),
        ] {
            let since = SystemTime::from(SystemClock.now()) - Duration::from_secs(age);
            lock.file.set_modified(since).unwrap();
            let holder = held(&path);
            // Time passes while this is tested.
            let number = |text: &str| text.split(' ').next().unwrap().parse::<u64>().unwrap();
            let (_, told) = holder.rsplit_once('(').unwrap();
            assert!(
                (number(words)..number(words) + 60).contains(&number(told)),
                "{holder}"
            );
            let unit = words.split_once(' ').unwrap().1;
            assert_eq!(told.split_once(' ').unwrap().1, format!("{unit})"));
        }
        drop(lock);
        Lock::take(open(&path)).unwrap();
    }

    #[test]
    fn lock_file_of_others_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::take(open(&path)).unwrap();
        fs::write(&path, "\u{1b}[31mred").unwrap();
        assert_eq!(held(&path), "another process");
        fs::write(&path, "process 7 on \u{1b}[31mred").unwrap();
        assert!(held(&path).starts_with("process 7 on [31mred ("));
        drop(lock);
    }
}
