//! The folder with the copies of the files of archived sets. A copy is named by the SHA-256 of its content, so a file that did
//! not change from one set to the next is there once. Files with other names are not touched.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

#[cfg(test)]
use crate::publish::fault;
use crate::{
    machine::open_regular,
    publish::{
        PublishError,
        folder::{failed, hash_file, sync_folder},
    },
};

/// Ends the name of a copy that is not complete.
const UNFINISHED: &str = ".new";

/// Digits of a SHA-256 in hex.
const HASH_DIGITS: usize = 64;

/// The folder.
pub(super) struct Copies {
    path: PathBuf,
}

impl Copies {
    /// The folder `path`, which is made when it is missing.
    pub(super) fn open(path: &Path) -> Result<Self, PublishError> {
        fs::create_dir_all(path).map_err(failed("create", path))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Copies the file `from`, whose SHA-256 is `hash`, unless there is such a copy.
    ///
    /// # Errors
    /// The file cannot be copied, or is another file by now.
    pub(super) fn copy_file(&self, from: &Path, hash: &str) -> Result<(), PublishError> {
        let path = self.path.join(hash);
        if path.is_file() {
            return Ok(());
        }
        let new = self.path.join(format!("{hash}{UNFINISHED}"));
        let taken = copy(from, &new, hash)
            .map_err(failed("keep a copy of", from))
            .and_then(|()| {
                pass(&path)?;
                fs::rename(&new, &path).map_err(failed("create", &path))
            });
        if taken.is_err() {
            // The failure is reported; the rest of the copy is removed later.
            let _ = fs::remove_file(&new);
        }
        taken
    }

    /// Makes the new copies durable.
    pub(super) fn sync(&self) -> Result<(), PublishError> {
        pass(&self.path)?;
        sync_folder(&self.path).map_err(failed("sync", &self.path))
    }

    /// Removes the copies whose hash is not one that `is_needed`, and those that are not complete. A copy that
    /// cannot be removed does not stop the removal of the others.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn sweep(&self, is_needed: impl Fn(&str) -> bool) -> Result<(), PublishError> {
        let mut swept = Ok(());
        for entry in fs::read_dir(&self.path).map_err(failed("read", &self.path))? {
            let entry = entry.map_err(failed("read", &self.path))?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_of_copy(name)) else {
                continue;
            };
            // A name of a copy that is not complete is not a hash.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if !is_file || is_needed(name) {
                continue;
            }
            let path = entry.path();
            let removed =
                pass(&path).and_then(|()| fs::remove_file(&path).map_err(failed("remove", &path)));
            swept = swept.and(removed);
        }
        swept
    }
}

/// Returns whether the name is one that was given here.
fn is_of_copy(name: &str) -> bool {
    let hash = name.strip_suffix(UNFINISHED).unwrap_or(name);
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    hash.len() == HASH_DIGITS && hash.bytes().all(is_digit)
}

/// Makes the file `new` be what `from` is, durably.
fn copy(from: &Path, new: &Path, hash: &str) -> io::Result<()> {
    #[cfg(test)]
    fault::pass()?;
    let mut source = open_regular(from)?;
    let mut copy = File::create(new)?;
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()?;
    if hash_file(new)? == hash {
        Ok(())
    } else {
        let problem = "it was changed by another program";
        Err(io::Error::new(io::ErrorKind::InvalidData, problem))
    }
}

/// A step that tests make fail.
#[cfg_attr(
    not(test),
    expect(clippy::unnecessary_wraps, reason = "only tests make it fail")
)]
fn pass(path: &Path) -> Result<(), PublishError> {
    #[cfg(test)]
    fault::pass().map_err(failed("change", path))?;
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_named_here_is_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::open(folder.path()).unwrap();
        let digits = |digit: &str| digit.repeat(HASH_DIGITS);
        let (needed, old, open) = (digits("a"), digits("b"), format!("{}.new", digits("c")));
        let foreign = [
            "README".to_owned(),
            digits("A"),
            digits("g"),
            "a".repeat(63),
            format!("{}.old", digits("d")),
        ];
        for name in [&needed, &old, &open].into_iter().chain(&foreign) {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let folders = ["note".to_owned(), digits("e")];
        for name in &folders {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        copies.sweep(|hash| hash == needed).unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort_unstable();
        let mut expected: Vec<String> = foreign.into_iter().chain(folders).collect();
        expected.push(needed);
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn changed_file_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::open(&folder.path().join("copies")).unwrap();
        let file = folder.path().join("sitemap.xml");
        fs::write(&file, "published").unwrap();
        let hash = hash_file(&file).unwrap();
        fs::write(&file, "edited").unwrap();
        let error = copies.copy_file(&file, &hash).unwrap_err();
        let reason = std::error::Error::source(&error).unwrap().to_string();
        assert!(reason.contains("changed by another program"), "{reason}");
        assert_eq!(fs::read_dir(&copies.path).unwrap().count(), 0);
        fs::write(&file, "published").unwrap();
        copies.copy_file(&file, &hash).unwrap();
        assert_eq!(fs::read(copies.path.join(&hash)).unwrap(), b"published");
    }
}
