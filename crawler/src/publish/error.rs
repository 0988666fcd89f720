//! The errors of a publish.

use std::path::PathBuf;

use super::guard::Refusal;
use crate::{outcome::SessionOutcome, store::StoreError};

/// Why nothing was published. The published set stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No URL can be listed.
    #[error("nothing to list: no known URL may be in a sitemap; the reasons are in the summary")]
    Empty,
    /// The guard refuses the new set.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A file that is not arpent's has a name that is needed.
    #[error("{} is not a file that arpent published for this site, and is not overwritten; choose another folder with --output", .0.display())]
    Foreign(PathBuf),
    /// A folder on the way to a file is a link, or not a folder: its target is not ours.
    #[error("{} must be a folder of the output itself, where a sitemap belongs; remove it or use another layout or output", .0.display())]
    NotAFolder(PathBuf),
    /// Another session has the lock of the output.
    #[error("another session is publishing to {}, which is in use by {holder}", output.display())]
    Busy {
        /// The folder.
        output: PathBuf,
        /// The process that has it, as far as that is known.
        holder: String,
    },
    /// The disk that the last set was written to is not there.
    #[error(
        "nothing is mounted at {}, where the disk with the published set {} was; expected it to be mounted",
        mount.display(), output.display()
    )]
    Unmounted {
        /// The folder.
        output: PathBuf,
        /// The folder at which its disk was mounted.
        mount: PathBuf,
    },
    /// The set in the output is not the one of the manifest in the state: another state published it.
    #[error(
        "the set in {} is not the one that the state of the site knows, because another state published it; expected a \
         crawl, which reads it back first",
        output.display()
    )]
    Outdated {
        /// The folder.
        output: PathBuf,
    },
    /// There is no room for the new files; those that were written are removed again.
    #[error(
        "{reason}: writing {} failed after {written} bytes of new files; {free} bytes are free in {}",
        path.display(), output.display()
    )]
    NoRoom {
        /// The folder.
        output: PathBuf,
        /// Bytes of the new files that were written so far.
        written: u64,
        /// Bytes that could still be written then.
        free: u64,
        /// The file that could not be written.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// Reading or writing a file failed.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// The action that was tried, e.g. `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// A written file did not pass our own check: a bug, because every entry was tried before.
    #[error(
        "the file {name} did not pass the check before publishing: {problem}; this is a bug of arpent, please report it"
    )]
    Check {
        /// The file.
        name: String,
        /// The defect.
        problem: String,
    },
    /// [`PublishRequest::is_stopped`](super::PublishRequest::is_stopped) returned true.
    #[error("stopped before anything was published")]
    Stopped,
    /// The settings cannot be satisfied.
    #[error("{0}")]
    Settings(String),
    /// The set is complete in its folder, and could not be sent to object storage.
    #[error(transparent)]
    Storage(#[from] crate::storage::StorageError),
    /// The store failed.
    #[error("failed to read the state of this site")]
    Store(#[from] StoreError),
}

impl PublishError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Busy { .. } => SessionOutcome::Busy,
            Self::Settings(_) => SessionOutcome::Settings,
            Self::Stopped => SessionOutcome::Interrupted,
            Self::Storage(error) => error.outcome(),
            Self::Store(error) => error.outcome(),
            Self::Check { .. } => SessionOutcome::Internal,
            Self::Empty
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::NotAFolder(_)
            | Self::Unmounted { .. }
            | Self::Outdated { .. }
            | Self::NoRoom { .. }
            | Self::Io { .. } => SessionOutcome::Refused,
        }
    }
}
