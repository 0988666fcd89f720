//! The hold of a run on its output, from before the first page until after the publish: two crawls that write to
//! one folder would take turns in replacing each other's set. The lock of [`super::folder`] beside it is held for
//! the moment of a change only, so that those who tell engines of the set need no run.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use super::{
    PublishError,
    folder::{create_folders, failed},
    rights::Rights,
};
use crate::{
    config::PublishConfig,
    machine::{Lock, NotTaken},
};

/// Stands in the output while a run is at work on it.
const LOCK: &str = ".arpent-run.lock";

/// How often a file is locked that its holder removes at the same instant.
const MAX_TRIES: u32 = 100;

/// The hold of a run on its output; given back when it is dropped or the process ends.
#[derive(Debug)]
pub struct OutputHold {
    path: PathBuf,
    /// Folders that were made for it, the deepest first.
    made: Vec<PathBuf>,
    _lock: Lock,
}

impl OutputHold {
    /// Takes the folder `output`, which is made when it is missing.
    ///
    /// # Errors
    /// - [`PublishError::Busy`]: another run holds it; the error names it.
    /// - [`PublishError::Io`], [`PublishError::Settings`]: it cannot be made with the rights that are set, or not be
    ///   written.
    pub fn take(output: &Path, config: &PublishConfig) -> Result<Self, PublishError> {
        let root = std::path::absolute(output).map_err(failed("create", output))?;
        let missing = root.ancestors().take_while(|folder| !folder.exists());
        let made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        let rights = Rights::of(config)?;
        let path = root.join(LOCK);
        for _ in 0..MAX_TRIES {
            create_folders(&root, rights).map_err(failed("create", output))?;
            let file = match open(&path) {
                // Its holder ended, and removed the folder that was made for nothing.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(failed("open", &path))?,
            };
            let lock = Lock::take(file).map_err(|error| match error {
                NotTaken::Held(holder) => PublishError::Busy {
                    output: output.to_owned(),
                    holder,
                },
                NotTaken::Failed(error) => failed("lock", &path)(error),
            })?;
            if stands_at(lock.file(), &path) {
                return Ok(Self {
                    path,
                    made,
                    _lock: lock,
                });
            }
        }
        let error = io::Error::from(io::ErrorKind::WouldBlock);
        Err(failed("lock", &path)(error))
    }
}

impl Drop for OutputHold {
    /// Leaves nothing behind: neither the lock nor, when nothing was published, the folder.
    fn drop(&mut self) {
        if cfg!(unix) {
            // While it is held: whoever opened it before finds that it does not stand there any more.
            let _ = fs::remove_file(&self.path);
            let _ = self.made.iter().try_for_each(fs::remove_dir);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Whether `path` is this file, and not another one or none.
#[cfg(unix)]
fn stands_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(own), Ok(found)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (own.dev(), own.ino()) == (found.dev(), found.ino())
}

/// Where the lock is never removed.
#[cfg(not(unix))]
fn stands_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(output: &Path) -> Result<OutputHold, PublishError> {
        OutputHold::take(output, &PublishConfig::default())
    }

    #[test]
    fn an_output_is_held_once_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("a/b");
        let hold = take(&output).unwrap();
        let error = take(&output).unwrap_err();
        assert!(matches!(error, PublishError::Busy { .. }), "{error}");
        let holder = format!("in use by process {} on ", std::process::id());
        assert!(error.to_string().contains(&holder), "{error}");
        drop(hold);
        assert!(!folder.path().join("a").exists());

        let hold = take(&output).unwrap();
        fs::write(output.join("sitemap.xml"), "published").unwrap();
        drop(hold);
        let names = fs::read_dir(&output).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["sitemap.xml"]);
    }

    #[test]
    fn what_a_killed_run_left_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "process 1 on elsewhere\n").unwrap();
        let hold = take(folder.path()).unwrap();
        drop(hold);
        assert!(folder.path().exists());
        assert!(!folder.path().join(LOCK).exists());
    }

    #[test]
    fn a_lock_that_was_removed_is_not_taken_for_one_that_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let removed = open(&path).unwrap();
        assert!(stands_at(&removed, &path));
        fs::remove_file(&path).unwrap();
        assert!(!stands_at(&removed, &path));
        let _next = open(&path).unwrap();
        assert!(!stands_at(&removed, &path));
    }
}
