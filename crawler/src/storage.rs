//! A published set in object storage: the bucket follows the folder that the set was published to. First the parts are sent, then the
//! indexes that name them, then the manifest; an index in the bucket never names an object that is missing. Objects that are
//! unchanged are not sent. An object that left the set is removed after its grace.
//!
//! ```text
//! fetch: manifest of the bucket -> files -> folder     when this folder did not send what the bucket has
//! publish (in the folder, see crate::publish)
//! send:  LIST -> compare with the record -> PUT parts, indexes, manifest -> LIST: all there? -> DELETE what is due
//! ```
//! The record of what was sent is a file beside the set. Without it, or after a crash, the SHA-256 in the metadata of an object
//! decides whether the object is the one that would be sent.
//!
//! This module never decides what is in a set, and never changes one: it copies files. The functions of [`Storage`] block; a
//! runtime must not be running on the thread. [`StateStorage`] has the states of a fleet.

mod bucket;
mod fence;
mod record;
mod sending;
mod states;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::bucket::Bucket;
pub use self::{
    fence::{FenceFuture, SendFence},
    states::StateStorage,
};
use crate::{config::PublishConfig, outcome::SessionOutcome};

/// Why a set could not be fetched or sent. What the bucket has stays good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The URL or a setting cannot be used.
    #[error("{url}: {problem}")]
    Settings {
        /// The URL of the output.
        url: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// An object that arpent did not write has a name that is needed.
    #[error(
        "{url} is not an object that arpent published for this site, and is not overwritten; choose another prefix with --output"
    )]
    Foreign {
        /// The URL of the object.
        url: String,
    },
    /// Another program published to the same place.
    #[error("{url} was changed by another program during this session; run the same command again")]
    Changed {
        /// The URL of the object.
        url: String,
    },
    /// Another machine has the right to change the bucket.
    #[error("{url} was not changed: {reason}")]
    Closed {
        /// The URL of the object.
        url: String,
        /// The reason of the fence.
        reason: String,
    },
    /// A request failed after its retries.
    #[error("failed to {action} {url}; the next session, or arpent publish, tries again")]
    Failed {
        /// What was tried, such as `send`.
        action: &'static str,
        /// The URL of the object.
        url: String,
        /// The error of the storage.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The same for the state of a site.
    #[error("failed to {action} {url}")]
    State {
        /// What was tried.
        action: &'static str,
        /// The URL of the object.
        url: String,
        /// The storage answered 401 or 403.
        is_refused: bool,
        /// The error of the storage.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file of the folder could not be read or written.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
}

impl StorageError {
    /// Returns whether the storage of states does not let this program in.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::State {
                is_refused: true,
                ..
            }
        )
    }

    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Changed { .. } => SessionOutcome::Busy,
            Self::Settings { .. } => SessionOutcome::Settings,
            // Another machine may change the bucket, and this one may not.
            Self::Closed { .. } => SessionOutcome::Interrupted,
            Self::Foreign { .. } | Self::Failed { .. } | Self::State { .. } | Self::Io { .. } => {
                SessionOutcome::Refused
            }
        }
    }
}

/// The file with the record of what was sent from the set in `folder`; a machine that goes on with the set needs it.
pub fn record_file(folder: &Path) -> PathBuf {
    folder.join(record::NAME)
}

/// The storage that the set of a site is sent to.
#[derive(Debug)]
pub struct Storage {
    bucket: Bucket,
}

impl Storage {
    /// The storage of the settings; `None`: the output is a folder. `site` is the URL of the site, by which its objects are known.
    /// Sends no request.
    ///
    /// # Errors
    /// [`StorageError::Settings`].
    pub fn open(config: &PublishConfig, site: &str) -> Result<Option<Self>, StorageError> {
        let Some(url) = &config.storage else {
            return Ok(None);
        };
        let bucket = Bucket::open(url, config, site)?;
        Ok(Some(Self { bucket }))
    }

    /// Makes `folder` the set that the bucket has, unless the folder sent that set, or the bucket has none. `fence`: the set of a
    /// site that several machines could send.
    ///
    /// # Errors
    /// See [`StorageError`]; the folder is complete, or is fetched again by the next call.
    pub fn fetch(&self, folder: &Path, fence: Option<&dyn SendFence>) -> Result<(), StorageError> {
        wait_for(folder, self.bucket.fetch(folder, fence))
    }

    /// Sends the set in `folder`, and removes objects that left it longer ago than the grace of the settings. `force` replaces
    /// objects of others after a copy. With a `fence` the sender goes on after failures as long as the fence allows it, and replaces what
    /// another machine sent meanwhile.
    ///
    /// # Errors
    /// See [`StorageError`]; the set in the bucket is complete, the old one or the new one.
    pub fn send(
        &self,
        folder: &Path,
        force: bool,
        now: Timestamp,
        fence: Option<&dyn SendFence>,
    ) -> Result<(), StorageError> {
        wait_for(folder, self.bucket.send(folder, force, now, fence))
    }
}

/// Waits for the requests of one step, on a runtime of its own.
fn wait_for<T>(
    folder: &Path,
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| StorageError::Io {
            action: "start requests to object storage beside",
            path: folder.to_owned(),
            source,
        })?;
    runtime.block_on(work)
}
