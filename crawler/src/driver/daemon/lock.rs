//! One daemon per folder of states.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    failure::{self, Failure},
    machine::{Lock, NotTaken, open_regular, private},
    outcome::SessionOutcome,
    store::StoreError,
};

/// A daemon holds the folder of the states already.
#[derive(Debug, thiserror::Error)]
#[error("another daemon uses the state {}: {holder}", folder.display())]
struct AnotherDaemon {
    /// The folder of the states.
    folder: PathBuf,
    /// Name that the process has given itself.
    holder: String,
}

impl From<AnotherDaemon> for Failure {
    fn from(error: AnotherDaemon) -> Self {
        Self::new(SessionOutcome::Busy, error)
    }
}

/// The file in the folder. It stays when the lock is given back, as removing it could split the lock in two.
const NAME: &str = "daemon.lock";

/// Takes the lock of `folder`, which is made when it is not there, at once.
///
/// # Errors
/// Another daemon has it; or the system refused.
pub fn acquire(folder: &Path) -> failure::Result<Lock> {
    // As with the states themselves: a disk may come back.
    let refused = |error: io::Error| {
        let message = format!("failed to lock the folder {}", folder.display());
        StoreError::of_io(message, error)
    };
    let file = private::create_folder(folder).and_then(|()| private::open(&folder.join(NAME)));
    Lock::take(file.map_err(refused)?).map_err(|error| match error {
        NotTaken::Held(holder) => AnotherDaemon {
            folder: folder.to_owned(),
            holder,
        }
        .into(),
        NotTaken::Failed(error) => refused(error).into(),
    })
}

/// Returns true if a daemon has locked `folder`.
pub fn is_held(folder: &Path) -> bool {
    open_regular(&folder.join(NAME)).is_ok_and(|file| Lock::held_since(&file).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_holder_who_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert!(!is_held(&folder));
        let lock = acquire(&folder).unwrap();
        let error = acquire(&folder).unwrap_err().to_string();
        let state = folder.display();
        let process = std::process::id();
        let expected = format!("another daemon uses the state {state}: process {process}");
        assert!(error.starts_with(&expected), "{error}");
        assert!(is_held(&folder));
        drop(lock);
        assert!(!is_held(&folder));
        acquire(&folder).unwrap();
    }
}
