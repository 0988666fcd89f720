//! Where the store of a build is: in the state folder when it is kept, otherwise in a temporary folder.
//!
//! A process that is killed leaves its temporary folder behind. Each folder has a lock that its process
//! holds as long as it lives, so that a later build knows which ones nobody needs, and removes them.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use crawler::{
    site::Site,
    store::{StoreError, StoreErrorKind},
};

use crate::settings::{BuildSettings, Environment, KeptState};

/// What the names of temporary folders begin with.
const PREFIX: &str = "arpent-build-";

/// The file in a temporary folder that its process holds a lock on.
const LOCK: &str = "lock";

/// Names that are tried for a folder; each that is taken belongs to a process that had the same number.
const MAX_TRIES: u32 = 100;

/// Names that are looked at to find folders that were left behind: many others may stand beside them.
const MAX_LOOKED_AT: usize = 100_000;

/// Where the store of a build is.
pub(super) struct Place {
    /// Its file.
    pub(super) path: PathBuf,
    /// The folder that goes with it; `None` when it is kept.
    folder: Option<TemporaryFolder>,
}

impl Place {
    /// Chooses the place, and makes the folder of a store that is not kept.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(super) fn choose(
        settings: &BuildSettings,
        site: &Site,
        environment: &Environment,
    ) -> Result<Self, StoreError> {
        let is_kept = match settings.state {
            KeptState::Always => true,
            KeptState::OfFolders => {
                let mut inputs = settings.inputs.iter();
                inputs.any(|input| Path::new(input).is_dir())
            }
            KeptState::Never => false,
        };
        if is_kept {
            // Not the state of a crawl: its open run would be lost.
            let name = format!("{}.build.db", site.name());
            return Ok(Self {
                path: settings.common.state.join(name),
                folder: None,
            });
        }
        let parent = temporary_folder(environment);
        let folder = TemporaryFolder::create(&parent).map_err(|error| {
            let message = format!("cannot create a temporary folder in {}", parent.display());
            StoreError::new(StoreErrorKind::Open, message).with_source(error)
        })?;
        folder.remove_abandoned();
        Ok(Self {
            path: folder.path.join("site.db"),
            folder: Some(folder),
        })
    }

    /// Whether the next build finds the store again.
    pub(super) fn is_kept(&self) -> bool {
        self.folder.is_none()
    }
}

/// A folder for this process alone, removed when it is dropped.
struct TemporaryFolder {
    path: PathBuf,
    /// Locked as long as the folder is needed.
    _lock: File,
}

impl TemporaryFolder {
    /// Makes a folder of a name that is free, for its owner alone.
    fn create(parent: &Path) -> io::Result<Self> {
        let process = std::process::id();
        let mut tries = 0..MAX_TRIES;
        loop {
            let Some(number) = tries.next() else {
                return Err(io::ErrorKind::AlreadyExists.into());
            };
            let path = parent.join(format!("{PREFIX}{process}-{number}"));
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            // A build that cleans up at this moment may be quicker than the lock.
            if let Some(lock) = lock(&path) {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Removes the folders beside this one that builds which were killed have left.
    fn remove_abandoned(&self) {
        let (Some(parent), Ok(own)) = (self.path.parent(), fs::symlink_metadata(&self.path)) else {
            return;
        };
        // What cannot be removed now is in a folder for such things.
        let Ok(entries) = fs::read_dir(parent) else {
            return;
        };
        for entry in entries.take(MAX_LOOKED_AT).flatten() {
            let name = entry.file_name();
            let path = entry.path();
            let is_like = is_temporary(&name.to_string_lossy()) && path != self.path;
            // Links are not followed: in a folder for everybody they lead anywhere.
            let is_ours = || {
                fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && owns(&own, &found))
            };
            if is_like && is_ours() {
                remove_unless_held(&path);
            }
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left behind is removed by another build.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether [`TemporaryFolder::create`] gives such names.
fn is_temporary(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// The lock of a folder, unless another process holds it or has removed the folder.
fn lock(folder: &Path) -> Option<File> {
    let path = folder.join(LOCK);
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true).open(&path);
    let file = file.ok()?;
    file.try_lock().ok()?;
    // Whoever had it before may have removed the file, and then the lock is of nothing.
    path.exists().then_some(file)
}

fn remove_unless_held(folder: &Path) {
    if let Some(_held) = lock(folder) {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Whether the owner of one folder owns the other one too.
#[cfg(unix)]
fn owns(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.uid() == other.uid()
}

/// Temporary folders of these systems belong to one user.
#[cfg(not(unix))]
fn owns(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// Where large temporary files belong: in many systems `/tmp` is memory. `SQLite` looks in the same order.
fn temporary_folder(environment: &Environment) -> PathBuf {
    let named = environment.get("TMPDIR").filter(|path| !path.is_empty());
    if let Some(path) = named {
        return PathBuf::from(path);
    }
    let large = Path::new("/var/tmp");
    if cfg!(unix) && large.is_dir() {
        return large.to_owned();
    }
    std::env::temp_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let held = TemporaryFolder::create(parent.path()).unwrap();
        fs::write(held.path.join("site.db"), "in use").unwrap();
        for name in [
            "arpent-build-1-0",
            "arpent-build-1-1",
            "arpent-build-mine",
            "arpent-build-1-mine",
            "page",
        ] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("site.db"), "left").unwrap();
        }
        fs::write(at("arpent-build-1-0").join(LOCK), "").unwrap();
        fs::write(at("arpent-build-2-0"), "not a folder").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("page"), at("arpent-build-3-0")).unwrap();
        let own = TemporaryFolder::create(parent.path()).unwrap();
        own.remove_abandoned();
        assert!(!at("arpent-build-1-0").exists() && !at("arpent-build-1-1").exists());
        assert!(held.path.join("site.db").exists() && own.path.exists());
        for name in [
            "arpent-build-mine/site.db",
            "arpent-build-1-mine/site.db",
            "page/site.db",
            "arpent-build-2-0",
        ] {
            assert!(at(name).exists(), "{name}");
        }
        let (held_path, own_path) = (held.path.clone(), own.path.clone());
        drop((held, own));
        assert!(!held_path.exists() && !own_path.exists());
    }
}
