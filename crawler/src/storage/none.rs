//! Object storage in a build without the feature `cloud`: there is none, and the settings do not allow one.

#[path = "fence.rs"]
mod fence;

use std::path::Path;

use jiff::Timestamp;

pub use self::fence::{FenceFuture, SendFence};
use crate::{config::PublishConfig, outcome::SessionOutcome};

/// No error: nothing is tried.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {}

impl StorageError {
    /// Never.
    pub fn outcome(&self) -> SessionOutcome {
        match *self {}
    }
}

/// No storage.
#[derive(Debug)]
pub enum Storage {}

impl Storage {
    /// `None`.
    ///
    /// # Errors
    /// None.
    pub fn open(_: &PublishConfig, _: &str) -> Result<Option<Self>, StorageError> {
        Ok(None)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn fetch(&self, _: &Path, _: Option<&dyn SendFence>) -> Result<(), StorageError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn send(
        &self,
        _: &Path,
        _: bool,
        _: Timestamp,
        _: Option<&dyn SendFence>,
    ) -> Result<(), StorageError> {
        match *self {}
    }
}
