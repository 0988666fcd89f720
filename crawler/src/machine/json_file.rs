//! Small files of JSON beside the states: at every instant the old or the new file is complete, for whoever reads
//! meanwhile.

use std::{fs::File, io, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use super::{open_regular, private};

/// The content of `path`, of which at most `max_bytes` are read; `None`: there is no such file.
///
/// # Errors
/// It cannot be read, or holds something else.
pub fn read<T: DeserializeOwned>(path: &Path, max_bytes: u64) -> io::Result<Option<T>> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let file = io::BufReader::new(io::Read::take(file, max_bytes));
    Ok(Some(serde_json::from_reader(file)?))
}

/// Waits until no other program changes `path`, through a file beside it, in a folder that is made. The kernel releases the lock when the
/// result is dropped.
///
/// # Errors
/// The file beside it cannot be made or locked.
pub fn lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::create_folder(folder)?;
    }
    let file = File::create(path.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

/// Puts `value` into the place of what `path` held.
///
/// # Errors
/// The file cannot be written; the old file stays.
pub fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private::create_folder(folder)?;
    }
    let mut json = serde_json::to_vec(value)?;
    json.push(b'\n');
    private::replace(path, &*json)
}
