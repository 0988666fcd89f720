//! What a session is doing, as a small file beside the state of its site: for programs that look while it runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::machine::json_file;

/// Largest file that is read, in bytes: it has one line.
const MAX_BYTES: u64 = 64 * 1024;

/// An older file is that of a session that was killed: it is written every two seconds.
const MAX_AGE: Duration = Duration::from_secs(15);

/// The progress of a session, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct LiveSession {
    /// Pages that are done, in per cent of those that are expected, 0 to 100; `None`: nobody knows how many there are.
    pub percent: Option<u64>,
    /// What is done, how fast, and what slows it down.
    pub text: String,
}

impl LiveSession {
    /// The file of a site with this state.
    pub fn beside(state: &Path) -> PathBuf {
        state.with_extension("live.json")
    }

    /// The progress of the session that uses `state`; `None`: it has not said anything yet.
    pub fn read(state: &Path) -> Option<Self> {
        let path = Self::beside(state);
        let written = fs::metadata(&path).ok()?.modified().ok()?;
        let is_old = written.elapsed().is_ok_and(|age| age > MAX_AGE);
        json_file::read(&path, MAX_BYTES).ok()?.filter(|_| !is_old)
    }

    /// Writes the progress for others. What cannot be written is not shown; the session goes on. Blocks.
    pub fn write(&self, state: &Path) {
        if let Err(error) = json_file::write(&Self::beside(state), self) {
            tracing::debug!(target: "session", "the progress was not written: {error}");
        }
    }

    /// Removes the file of a session that has ended.
    pub fn remove(state: &Path) {
        _ = fs::remove_file(Self::beside(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("site.db");
        assert_eq!(LiveSession::read(&state), None);
        let live = LiveSession {
            percent: Some(7),
            text: "12 pages done".to_owned(),
        };
        live.write(&state);
        assert_eq!(LiveSession::read(&state), Some(live));
        fs::write(LiveSession::beside(&state), "{\"per").unwrap();
        assert_eq!(LiveSession::read(&state), None, "half of a file");
        LiveSession::remove(&state);
        assert!(!LiveSession::beside(&state).exists());
    }
}
