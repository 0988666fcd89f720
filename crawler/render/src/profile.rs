//! The folder of a browser: a new one for each process, which is removed with it. What a program leaves that was killed is removed by
//! the next one.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
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
        sweep(parent, &mark.metadata()?);
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
fn sweep(parent: &Path, own: &Metadata) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_profile = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_profile && is_folder && is_left(&entry.path(), own) {
            tracing::debug!(target: "render", path = %entry.path().display(), "removed what a killed program left");
            remove(&entry.path());
        }
    }
}

/// Returns whether a folder is of a user's program that ended; `own` is a mark that was made now.
fn is_left(folder: &Path, own: &Metadata) -> bool {
    let mark = folder.join(MARK);
    let Ok(about) = folder.symlink_metadata() else {
        return false;
    };
    if !is_of_same_user(&about, own) {
        return false;
    }
    match mark.symlink_metadata() {
        Ok(about) if about.is_file() => File::open(mark).is_ok_and(|mark| mark.try_lock().is_ok()),
        Ok(_) => false,
        Err(_) => {
            let times = own.modified().and_then(|now| Ok((now, about.modified()?)));
            let age = times.map(|(now, at)| now.duration_since(at).unwrap_or_default());
            age.is_ok_and(|age| age > UNMARKED)
        }
    }
}

#[cfg(unix)]
fn is_of_same_user(about: &Metadata, own: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    about.uid() == own.uid()
}

#[cfg(not(unix))]
fn is_of_same_user(_: &Metadata, _: &Metadata) -> bool {
    true
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
