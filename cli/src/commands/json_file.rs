//! Small files of JSON beside the states: at every instant the old one or the new one stands there, for whoever reads
//! meanwhile.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

/// What stands in `path`, of which at most `max_bytes` are read; `None`: there is no such file.
///
/// # Errors
/// It cannot be read, or holds something else.
pub(super) fn read<T: DeserializeOwned>(path: &Path, max_bytes: u64) -> io::Result<Option<T>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let file = io::BufReader::new(io::Read::take(file, max_bytes));
    Ok(Some(serde_json::from_reader(file)?))
}

/// Puts `value` into the place of what `path` held.
///
/// # Errors
/// It cannot be written; what was there before stands.
pub(super) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private(folder)?;
    }
    // Several programs may write the same file: each has its own until then.
    let temporary = path.with_extension(format!("json.{}.tmp", std::process::id()));
    let written = write_to(&temporary, value).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // It is not there, or cannot be removed either.
        drop(fs::remove_file(&temporary));
    }
    written
}

fn write_to(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    serde_json::to_writer(&file, value)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Makes the folder of the states, for this user alone.
///
/// # Errors
/// The system refused.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
