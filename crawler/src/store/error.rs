//! The errors of the store.

use std::{io, path::Path};

use rusqlite::ErrorCode;

use crate::{machine::free_bytes, outcome::SessionOutcome};

/// The kind that callers branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There can be no such file, whatever the disk is like.
    Open,
    /// The contents are damaged or no state of arpent.
    Corrupt,
    /// Written by a newer version of arpent.
    Version,
    /// Another run holds it.
    Busy,
    /// Reading or writing failed (disk full, read-only or gone, no permission, I/O error).
    Io,
}

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self.kind {
            StoreErrorKind::Busy => SessionOutcome::Busy,
            // Another folder or another version of arpent: the user's to choose.
            StoreErrorKind::Open | StoreErrorKind::Version => SessionOutcome::Settings,
            StoreErrorKind::Corrupt | StoreErrorKind::Io => SessionOutcome::Refused,
        }
    }

    /// A failure of `kind`; `message` is a lowercase fragment that names the thing.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// The error of the system for a file; `message` as of [`StoreError::new`]. A name that can be none of a file is
    /// [`StoreErrorKind::Open`], what may pass [`StoreErrorKind::Io`]. A folder on a disk that is not mounted is one in
    /// which nothing may be made.
    pub fn of_io(message: impl Into<String>, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput => StoreErrorKind::Open,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, message).with_source(error)
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind that callers branch on.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

/// An error with its causes, on one line: for people, where the chain goes no further.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Translates an error of `SQLite` on the state `path`.
pub(super) fn failure(action: &str, path: &Path, error: rusqlite::Error) -> StoreError {
    let kind = match &error {
        rusqlite::Error::SqliteFailure(failure, _)
        | rusqlite::Error::SqlInputError { error: failure, .. } => {
            match failure.code {
                // `Unknown` is an error in SQL; as ours is fixed, the tables are not what they should be.
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::TypeMismatch
                | ErrorCode::Unknown => StoreErrorKind::Corrupt,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
                // Also what cannot be opened: the file itself was, so that it is one beside it.
                _ => StoreErrorKind::Io,
            }
        }
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => StoreErrorKind::Corrupt,
        _ => StoreErrorKind::Io,
    };
    let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    let free = path.parent().filter(|_| is_full).and_then(free_bytes);
    let path = path.display();
    let message = match kind {
        StoreErrorKind::Corrupt => format!("{path} is damaged, or is not a state of arpent"),
        StoreErrorKind::Busy => format!("the state {path} is in use by another program"),
        StoreErrorKind::Open | StoreErrorKind::Version | StoreErrorKind::Io => {
            format!("cannot {action} the state {path}")
        }
    };
    let message = match free {
        Some(free) => format!("{message} ({free} bytes are free on its disk)"),
        None => message,
    };
    let store_error = StoreError::new(kind, message);
    match error {
        // Its source repeats its words, with their number.
        rusqlite::Error::SqliteFailure(..) => store_error.with_source(error.to_string()),
        other => store_error.with_source(other),
    }
}
