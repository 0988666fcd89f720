//! The folder of a browser: a new one for each process, which is removed with it. What a program leaves that was killed is removed by
//! the next one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

/// How the names of folders begin.
const PREFIX: &str = "arpent-browser-";

/// The file in a folder that is locked as long as its program runs.
const MARK: &str = "arpent.lock";

/// A folder that is older and has no mark was never used.
const UNMARKED: Duration = Duration::from_secs(60);

/// How often, and how far apart, the removal of a folder is tried: processes that were killed still write a moment later.
const REMOVALS: u32 = 40;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(25);

/// The folder of a browser.
#[derive(Debug)]
pub(crate) struct Profile {
    path: PathBuf,
    _mark: File,
}

impl Profile {
    /// A new folder in `parent`; those of programs that were killed are removed.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Nobody sees the mark before it is locked.
        let unlocked = folder.path().join("arpent.new");
        let mark = File::create(&unlocked)?;
        mark.lock()?;
        fs::rename(unlocked, folder.path().join(MARK))?;
        sweep(parent, mark.metadata()?.modified()?);
        Ok(Self {
            path: folder.keep(),
            _mark: mark,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the folders that no program has any more. What cannot be removed is left for the next time.
fn sweep(parent: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_profile = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_profile && is_folder && is_left(&entry.path(), now) {
            tracing::debug!(target: "render", path = %entry.path().display(), "removed what a killed program left");
            remove(&entry.path());
        }
    }
}

fn is_left(folder: &Path, now: SystemTime) -> bool {
    match File::open(folder.join(MARK)) {
        Ok(mark) => mark.try_lock().is_ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let changed = folder.metadata().and_then(|about| about.modified());
            let age = changed.map(|at| now.duration_since(at).unwrap_or_default());
            age.is_ok_and(|age| age > UNMARKED)
        }
        Err(_) => false,
    }
}

fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                thread::sleep(BETWEEN_REMOVALS);
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_with_their_programs() {
        let parent = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(parent.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names
        };
        // One that was killed, one that begins, and something else.
        let killed = parent.path().join("arpent-browser-killed");
        for folder in [
            "arpent-browser-killed/Default",
            "arpent-browser-new",
            "other",
        ] {
            fs::create_dir_all(parent.path().join(folder)).unwrap();
        }
        fs::write(killed.join(MARK), "").unwrap();
        let first = Profile::new(parent.path()).unwrap();
        let second = Profile::new(parent.path()).unwrap();
        assert_eq!(names().len(), 4, "{:?}", names());
        assert!(!killed.exists() && first.path().exists() && second.path().exists());
        fs::create_dir(first.path().join("Default")).unwrap();
        drop(first);
        drop(second);
        assert_eq!(names(), ["arpent-browser-new", "other"]);
    }
}
