//! Files and folders that only their owner may read, and their replacement in one step.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process,
};

/// Creates the folder `path`, and those above it that are missing.
///
/// # Errors
/// The system refused.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens the regular file `path` for reading and writing; creates it when it is missing. A link is not followed.
///
/// # Errors
/// The system refused; or something else is there, such as a link or a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    super::open_regular_with(&mut options, path)
}

/// Replaces the file `path` by one with this content: at every instant, also after a loss of power, one of the two is there.
///
/// # Errors
/// The system refused; what was there before stays.
pub fn replace(path: &Path, mut content: impl io::Read) -> io::Result<()> {
    // Several programs may write the same file: each has its own until then.
    let temporary = with_suffix(path, &format!(".{}.tmp", process::id()));
    let written = open(&temporary).and_then(|mut file| {
        file.set_len(0)?;
        io::copy(&mut content, &mut file)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // It is not there, or cannot be removed either.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Gives files in a folder to its owner, if that is another one: root wrote them for a service.
///
/// # Errors
/// The system refused.
#[cfg(unix)]
pub fn give_to_owner_of(folder: &Path, files: &[&Path]) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let owner = fs::metadata(folder)?;
    for file in files {
        let own = fs::metadata(file)?;
        if own.uid() != owner.uid() {
            chown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

/// The system keeps no owner that could differ.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "on Unix it asks the system")]
pub fn give_to_owner_of(_: &Path, _: &[&Path]) -> io::Result<()> {
    Ok(())
}

/// `path` with `suffix` after its name, whatever its extension.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    text.into()
}
