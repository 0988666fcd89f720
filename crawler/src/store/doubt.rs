//! What pages said that is not believed until a later start of the program hears it again. Who doubts, and why, is not
//! known here.

use jiff::Timestamp;

use super::{Commit, Store, StoreError};
use crate::page::RunId;

/// Doubts that are read at once.
const PORTION: usize = 2_048;

/// What a page said together with many others. It stays as it was, or waits, until a later start hears the same. A doubt outlives
/// its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The run that heard it last.
    pub run: RunId,
    /// When it was heard first: the end of that start.
    pub at: Timestamp,
    /// In what these pages are alike, as a word of who doubts.
    pub sign: String,
    /// What they share, as a fingerprint.
    pub key: u64,
    /// One of them, or where they lead, for people.
    pub example: String,
    /// How many starts heard it, from 1.
    pub times: u32,
}

/// Whether anything is doubted.
///
/// # Errors
/// The store cannot be read.
pub fn is_any(store: &dyn Store) -> Result<bool, StoreError> {
    Ok(!store.doubts(None, 1)?.is_empty())
}

/// Forgets what is doubted: everything was heard, or nothing of it counts.
///
/// # Errors
/// The store failed; what is left is forgotten the next time.
pub fn forget_all(store: &mut dyn Store, run: RunId) -> Result<(), StoreError> {
    loop {
        let portion = store.doubts(None, PORTION)?;
        if portion.is_empty() {
            return Ok(());
        }
        let doubts = portion.into_iter().map(|(key, _)| (key, None)).collect();
        store.commit(&Commit {
            run,
            doubts,
            ..Commit::default()
        })?;
    }
}
