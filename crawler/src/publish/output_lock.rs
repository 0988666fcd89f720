//! The lock of a session on its output, from before the first page until after the publish: two sessions that publish to
//! one folder would replace each other's set. Nothing is written to the folder, which the whole web can read: the folder
//! itself is locked, and so is a file beside the state, which names the process.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    PublishError,
    folder::{canonical, create_folders, failed},
    permissions::Rights,
};
use crate::{
    config::PublishConfig,
    machine::hex,
    machine::{Lock, NotTaken, private},
};

/// The lock of a session on its output; given back when it is dropped or the process ends.
#[derive(Debug)]
pub struct OutputLock {
    /// Folders that were made for it, the deepest first.
    made: Vec<PathBuf>,
    locks: Vec<Lock>,
}

impl OutputLock {
    /// Locks the folder `output`, which is made when it is missing, against other sessions with the same folder `state`,
    /// and, where the disk can lock folders, against all other sessions on this machine. `None`: nothing is written beside a
    /// state.
    ///
    /// # Errors
    /// - [`PublishError::Busy`]: another session has the lock; the error names the process when it has the same folder of states.
    /// - [`PublishError::Io`], [`PublishError::Settings`]: the folder cannot be made with the rights of the settings, or
    ///   the lock cannot be written.
    pub fn take(
        output: &Path,
        state: Option<&Path>,
        config: &PublishConfig,
    ) -> Result<Self, PublishError> {
        let root = std::path::absolute(output).map_err(failed("create", output))?;
        let missing = root.ancestors().take_while(|folder| !folder.exists());
        let made = missing.map(Path::to_owned).collect();
        create_folders(&root, Rights::of(config)?).map_err(failed("create", output))?;
        // A new folder is removed again when another session has the lock.
        let mut lock = Self {
            made,
            locks: Vec::new(),
        };
        let not_taken = |error| match error {
            NotTaken::Held(holder) => PublishError::Busy {
                output: output.to_owned(),
                holder,
            },
            NotTaken::Failed(error) => failed("lock", output)(error),
        };
        if let Some(state) = state {
            let path = state.join(lock_name(&root));
            let file = private::create_folder(state).and_then(|()| private::open(&path));
            let file = file.map_err(failed("open", &path))?;
            lock.locks.push(Lock::take(file).map_err(not_taken)?);
        }
        lock.locks
            .extend(Lock::of_folder(&root).map_err(not_taken)?);
        Ok(lock)
    }
}

impl Drop for OutputLock {
    /// Removes the folders that were made, if nothing was published.
    fn drop(&mut self) {
        let _ = self.made.iter().try_for_each(fs::remove_dir);
    }
}

/// The name of the file that is locked for the folder `root`: the same for every way to name that.
fn lock_name(root: &Path) -> String {
    let mut hash = Sha256::new();
    hash.update(canonical(root));
    format!("output-{:.16}.lock", hex(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(output: &Path, state: Option<&Path>) -> Result<OutputLock, PublishError> {
        OutputLock::take(output, state, &PublishConfig::default())
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[cfg(unix)]
    #[test]
    fn states_folder_and_locks_are_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("states/here");
        let _lock = take(&folder.path().join("output"), Some(&state)).unwrap();
        let lock = state.join(&names(&state)[0]);
        for (path, expected) in [(state, 0o700), (lock, 0o600)] {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, expected, "{}", path.display());
        }
    }

    #[test]
    fn output_is_locked_once_and_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (state, output) = (folder.path().join("state"), folder.path().join("a/b"));
        let lock = take(&output, Some(&state)).unwrap();
        assert_eq!(names(&output), [""; 0]);
        let error = take(&output, Some(&state)).unwrap_err();
        assert!(matches!(error, PublishError::Busy { .. }), "{error}");
        let holder = format!("in use by process {} on ", std::process::id());
        assert!(error.to_string().contains(&holder), "{error}");
        drop(lock);
        assert!(!folder.path().join("a").exists());

        let lock = take(&output, Some(&state)).unwrap();
        fs::write(output.join("sitemap.xml"), "published").unwrap();
        drop(lock);
        assert_eq!(names(&output), ["sitemap.xml"]);
        // One file for one output, whatever its path is written like.
        assert_eq!(names(&state).len(), 1);
        take(&folder.path().join("a/../a/b"), Some(&state)).unwrap();
        assert_eq!(names(&state).len(), 1);
        take(&folder.path().join("c"), Some(&state)).unwrap();
        assert_eq!(names(&state).len(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn output_is_locked_across_states() {
        let folder = tempfile::tempdir().unwrap();
        let [output, one, two] = ["out", "one", "two"].map(|name| folder.path().join(name));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&output, &link).unwrap();
        let lock = take(&output, Some(&one)).unwrap();
        for (output, state) in [(&output, Some(&*two)), (&link, Some(&*two)), (&link, None)] {
            let error = take(output, state).unwrap_err();
            assert!(error.to_string().ends_with("by another process"), "{error}");
        }
        drop(lock);
        take(&output, Some(&two)).unwrap();
    }
}
