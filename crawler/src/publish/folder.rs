//! The output folder: temporary files, and the moves that make files visible. It does not know the content of
//! the files.
//!
//! A file appears under its name by one rename of a finished, synced file. No link in the folder is followed: a link
//! under a final name is replaced.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

#[cfg(test)]
use super::fault;
use super::{
    PublishError,
    permissions::{Rights, text_of},
};
use crate::{
    machine::hex,
    machine::{nearest, open_regular},
};

/// Folder of the temporary files inside the output, so that a rename stays on one file system.
pub(super) const TEMPORARY: &str = ".arpent-tmp";

/// An empty file that is made and removed: other files can be made when this one can.
const PROBE: &str = ".arpent-probe";

/// Backups of one file at one time.
const MAX_BACKUPS: u32 = 100;

/// The output folder.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    rights: Rights,
    next_temporary: Cell<u32>,
}

/// A finished temporary file: synced, with its modification time set.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    /// SHA-256 of the file, hex.
    pub(super) file_sha256: String,
}

impl Folder {
    /// Creates the folder when it is missing, and removes the temporary files of an interrupted session. New files in it
    /// get these rights. Sessions exclude each other by [`super::OutputLock`].
    pub(super) fn open(root: &Path, rights: Rights) -> Result<Self, PublishError> {
        create_durably(root, rights).map_err(failed("create", root))?;
        let folder = Self::at(root, rights);
        folder.clear_temporary()?;
        Ok(folder)
    }

    /// The folder for reading; it may be missing.
    pub(super) fn at(root: &Path, rights: Rights) -> Self {
        Self {
            root: root.to_owned(),
            rights,
            next_temporary: Cell::new(0),
        }
    }

    /// The path of `name`.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Removes all temporary files, and their folder.
    pub(super) fn clear_temporary(&self) -> Result<(), PublishError> {
        let path = self.root.join(TEMPORARY);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A new temporary file, open for writing.
    pub(super) fn create_temporary(&self) -> Result<(PathBuf, File), PublishError> {
        let folder = self.root.join(TEMPORARY);
        #[cfg(test)]
        fault::pass().map_err(failed("change", &folder))?;
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed("create", &folder)(error));
            }
            Err(_) if self.astray(&format!("{TEMPORARY}/")).is_some() => {
                return Err(PublishError::NotAFolder(folder));
            }
            Ok(()) | Err(_) => {}
        }
        self.next_temporary.update(|number| number + 1);
        let path = folder.join(self.next_temporary.get().to_string());
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed("create", &path))?;
        self.rights
            .give(&path)
            .map_err(failed("set the rights of", &path))?;
        Ok((path, file))
    }

    /// Syncs a written temporary file, and sets its modification time.
    pub(super) fn finish_temporary(
        path: PathBuf,
        file: &File,
        modified: Timestamp,
    ) -> Result<Temporary, PublishError> {
        let failed = |action| failed(action, &path);
        file.set_modified(system_time(modified))
            .map_err(failed("set the time of"))?;
        file.sync_all().map_err(failed("sync"))?;
        let file_sha256 = hash_file(&path).map_err(failed("read"))?;
        Ok(Temporary { path, file_sha256 })
    }

    /// Returns whether there is anything under `name`.
    pub(super) fn exists(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    /// SHA-256 of the regular file under `name`; `None` when there is none in this output.
    pub(super) fn hash(&self, name: &str) -> Result<Option<String>, PublishError> {
        if self.astray(name).is_some() {
            return Ok(None);
        }
        let path = self.path(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                hash_file(&path).map(Some).map_err(failed("read", &path))
            }
            Ok(_) => Ok(None),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(failed("read", &path)(error)),
        }
    }

    /// Modification time of the file under `name`, whole seconds.
    pub(super) fn modified(&self, name: &str) -> Option<Timestamp> {
        let modified = fs::symlink_metadata(self.path(name))
            .ok()?
            .modified()
            .ok()?;
        Timestamp::try_from(modified)
            .ok()
            .and_then(|time| Timestamp::from_second(time.as_second()).ok())
    }

    /// Backs the file under `name` up as `<name>.bak-<time>` beside it; where that name is taken, with a number. The file
    /// stays under its own name until it is replaced, so that readers always find a file.
    pub(super) fn back_up(&self, name: &str, now: Timestamp) -> Result<PathBuf, PublishError> {
        let path = self.path(name);
        #[cfg(test)]
        fault::pass().map_err(failed("change", &path))?;
        let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        for number in 1..=MAX_BACKUPS {
            let mut backup = path.clone().into_os_string();
            backup.push(match number {
                1 => format!(".bak-{time}"),
                _ => format!(".bak-{time}.{number}"),
            });
            let backup = PathBuf::from(backup);
            match keep_as(&path, &backup) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("back up", &path)(error)),
                Ok(()) => return Ok(backup),
            }
        }
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        Err(failed("back up", &path)(error))
    }

    /// The first folder on the way from the root to `name` that is not a folder of this output: a
    /// link, which leads elsewhere, or a file.
    pub(super) fn astray(&self, name: &str) -> Option<PathBuf> {
        let mut folder = self.root.clone();
        let mut segments: Vec<&str> = name.split('/').collect();
        segments.pop();
        for segment in segments {
            folder.push(segment);
            match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Some(folder),
                // A missing folder will be made.
                Err(_) => return None,
            }
        }
        None
    }

    /// Puts a temporary file under its final name, replacing what is there.
    pub(super) fn install(&self, temporary: &Temporary, name: &str) -> Result<(), PublishError> {
        let path = self.path(name);
        #[cfg(test)]
        fault::pass().map_err(failed("change", &path))?;
        if let Some(parent) = path.parent() {
            create_folders(parent, self.rights).map_err(failed("create", parent))?;
        }
        fs::rename(&temporary.path, &path).map_err(failed("replace", &path))
    }

    /// Puts a small file under its name in one step.
    pub(super) fn write(
        &self,
        name: &str,
        content: &[u8],
        modified: Timestamp,
    ) -> Result<(), PublishError> {
        let (path, mut file) = self.create_temporary()?;
        file.write_all(content).map_err(failed("write", &path))?;
        let temporary = Self::finish_temporary(path, &file, modified)?;
        self.install(&temporary, name)?;
        self.sync_folders(std::iter::once(name))
    }

    /// Gives the rights to a published file that did not change, if it has others.
    pub(super) fn give_rights(&self, name: &str) -> Result<(), PublishError> {
        let path = self.path(name);
        if self.astray(name).is_some() {
            return Ok(());
        }
        self.rights
            .give(&path)
            .map_err(failed("set the rights of", &path))
    }

    /// Makes renames in the folders of these files durable, and the folders themselves, which may be
    /// new: a folder is an entry of the one above it.
    pub(super) fn sync_folders<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<(), PublishError> {
        let folders = self.folders_of(names);
        folders
            .iter()
            .try_for_each(|folder| sync_folder(folder).map_err(failed("sync", folder)))
    }

    /// All folders from those of these files up to the root, each once, the deepest first.
    pub(super) fn folders_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
        let mut folders = BTreeSet::new();
        for name in names {
            let mut folder = self.path(name);
            while folder.pop() && folder.starts_with(&self.root) {
                if !folders.insert(folder.clone()) {
                    break;
                }
            }
        }
        folders.into_iter().rev().collect()
    }

    /// Removes the file under `name`. A file that is missing is gone.
    pub(super) fn remove(&self, name: &str) -> Result<(), PublishError> {
        let path = self.path(name);
        #[cfg(test)]
        fault::pass().map_err(failed("change", &path))?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Removes the folders of `name` inside the output as far as they are empty.
    pub(super) fn remove_empty_folders(&self, name: &str) {
        let mut folder = self.path(name);
        while folder.pop() && folder != self.root && folder.starts_with(&self.root) {
            if fs::remove_dir(&folder).is_err() {
                return;
            }
        }
    }
}

/// Returns whether the folder can be written to, or be made where it is missing, and files in it can have these rights.
/// Leaves nothing there.
pub(super) fn probe(root: &Path, rights: Rights) -> Result<(), PublishError> {
    let absolute = std::path::absolute(root).map_err(failed("create", root))?;
    let nearest = nearest(&absolute).unwrap_or_else(|| absolute.clone());
    let metadata = fs::metadata(&nearest).map_err(failed("create", root))?;
    if !metadata.is_dir() {
        let error = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(failed("create", root)(error));
    }
    let path = nearest.join(PROBE);
    // A process that was killed may have left it there.
    let _ = fs::remove_file(&path);
    let action = if nearest == absolute {
        "write to"
    } else {
        "create"
    };
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(_) => {
            let given = rights.give(&path);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("remove", &path)(error));
                }
                // Another process may have tried at the same instant.
                Ok(()) | Err(_) => {}
            }
            given.map_err(failed("give the rights that are set to a file in", root))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(action, root)(error)),
    }
}

/// The same text for every way to name a folder, whether it exists already or not.
pub(super) fn canonical(root: &Path) -> String {
    let path = fs::canonicalize(root).or_else(|_| std::path::absolute(root));
    let path = path.unwrap_or_else(|_| root.to_owned());
    path.to_string_lossy().into_owned()
}

/// The text of a regular file, if it is one and not longer than `limit` bytes.
pub(super) fn read_text(path: &Path, limit: u64) -> Option<String> {
    text_of(open_regular(path).ok()?, limit)
}

/// Wraps an I/O error with what was tried and where.
pub(super) fn failed(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> PublishError + use<> {
    let path = path.to_owned();
    move |source| PublishError::Io {
        action,
        path,
        source,
    }
}

/// Makes `backup`, which must not exist, be what `path` is, and leaves `path` where it is. Only a folder,
/// which no reader fetches and nothing can replace, is moved.
fn keep_as(path: &Path, backup: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_dir() {
        return match fs::symlink_metadata(backup) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(path, backup),
        };
    }
    match fs::hard_link(path, backup) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links.
        Err(_) if metadata.is_file() => copy_new(path, backup),
        Err(error) => Err(error),
    }
}

/// Copies a file to a name that must be free, durably.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open_regular(from)?;
    let mut options = OpenOptions::new();
    let mut copy = options.write(true).create_new(true).open(to)?;
    let copied = io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all());
    if copied.is_err() {
        // Half a copy is not a backup; the error of the copy is reported.
        let _ = fs::remove_file(to);
    }
    copied
}

/// SHA-256 of a regular file, hex.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(hash));
        }
        hash.update(buffer.split_at(read).0);
    }
}

/// Makes a folder and those above it that are missing, and syncs the entries of the new ones.
fn create_durably(root: &Path, rights: Rights) -> io::Result<()> {
    let root = std::path::absolute(root)?;
    let missing = root.ancestors().take_while(|folder| !folder.exists());
    let above: Vec<&Path> = missing.filter_map(Path::parent).collect();
    create_folders(&root, rights)?;
    for folder in above {
        // A folder may be writable and not readable; then the system syncs it in its own time.
        let _ = sync_folder(folder);
    }
    Ok(())
}

/// Makes a folder and those above it that are missing, with these rights.
pub(super) fn create_folders(folder: &Path, rights: Rights) -> io::Result<()> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    fs::create_dir_all(folder)?;
    let mut made = missing.into_iter().rev();
    made.try_for_each(|folder| rights.give_folder(folder))
}

/// Makes the entries of a folder durable.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Only Unix can open a folder to sync it.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn system_time(time: Timestamp) -> SystemTime {
    let seconds = u64::try_from(time.as_second()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).as_deref(), Some("12345"));
        assert_eq!(read_text(&path, 4), None);
        assert_eq!(read_text(&path, u64::MAX).as_deref(), Some("12345"));
        assert_eq!(read_text(folder.path(), 5), None);
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path, 5), None);
    }
}
