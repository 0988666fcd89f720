//! One daemon per folder of states. The lock is the kernel's, so that no crash leaves one behind.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    process, thread,
    time::Duration,
};

use crawler::store::StoreError;
use jiff::Timestamp;

use crate::{commands::json_file::create_private, exit_code::AnotherDaemon};

/// The file in the folder. It stays when the lock is given back, as removing it could split the lock in two.
const NAME: &str = "daemon.lock";

/// Bytes of it that are read for a message; what a daemon writes is shorter than 64.
const MAX_HOLDER_BYTES: u64 = 200;

/// How often the lock is tried, and the time between two tries: whoever looks whether it is held holds it for a moment.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// The hold on a folder, given back when it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of `folder`, which is made when it is not there, at once.
    ///
    /// # Errors
    /// [`AnotherDaemon`] has it; or the system refused.
    pub(super) fn acquire(folder: &Path, now: Timestamp) -> anyhow::Result<Self> {
        create_private(folder).map_err(|error| refused("make the folder", folder, error))?;
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options
            .open(&path)
            .map_err(|error| refused("open", &path, error))?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let error = AnotherDaemon {
                    folder: folder.to_owned(),
                    holder: holder(&mut file),
                };
                return Err(error.into());
            }
            Err(TryLockError::Error(error)) => {
                return Err(refused("lock", &path, error).into());
            }
        }
        // The text only serves the message of others: a full disk is no reason not to go on.
        drop(name_holder(&mut file, now));
        Ok(Self { file })
    }
}

/// Whether a daemon holds `folder` now.
pub(in crate::commands) fn is_held(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(NAME)) else {
        return false;
    };
    match file.try_lock_shared() {
        Ok(()) => {
            drop(file.unlock());
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
    }
}

fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            other => return other,
        }
    }
    file.try_lock()
}

impl Drop for Lock {
    /// Closing the file is not enough: a hook that is being started at this instant holds a copy of it for a moment,
    /// and would hold the lock with it. Should this fail, that is all it costs.
    fn drop(&mut self) {
        drop(self.file.unlock());
    }
}

/// What the system says of a place that the user chose. As with the states themselves: a disk may come back.
fn refused(action: &str, path: &Path, error: io::Error) -> StoreError {
    StoreError::of_io(format!("failed to {action} {}", path.display()), error)
}

fn name_holder(file: &mut File, now: Timestamp) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "process {}, started {now:.0}", process::id())
}

/// Who holds the lock, as it says itself; where locked files cannot be read, nobody knows.
fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let read = file.take(MAX_HOLDER_BYTES).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    match read {
        Ok(_) if text.starts_with("process ") => text.trim_end().to_owned(),
        Ok(_) | Err(_) => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_holder_who_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert!(!is_held(&folder));
        let now = "2026-06-01T12:00:00.7Z".parse().unwrap();
        let lock = Lock::acquire(&folder, now).unwrap();
        let error = Lock::acquire(&folder, now).unwrap_err();
        let expected = format!(
            "another daemon crawls with the state {}: process {}, started 2026-06-01T12:00:00Z",
            folder.display(),
            process::id()
        );
        assert_eq!(error.to_string(), expected);
        assert!(is_held(&folder));
        drop(lock);
        assert!(!is_held(&folder));
        Lock::acquire(&folder, now).unwrap();
    }
}
