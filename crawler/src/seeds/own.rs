//! The files that arpent itself published for the site, of all times: read back, they would keep every
//! URL alive that was ever listed. They are known by their content, because their names and places are
//! those that other programs use as well, and because what is served may be an older set than the newest.

use std::collections::HashSet;

use crate::store::{MetaValue, Store, StoreError};

/// Name of the store's value with the hashes, one a line, the oldest first.
const VALUE: &str = crate::store::names::SEEDS_PUBLISHED_BY_ARPENT;

/// Files that are remembered; the oldest are forgotten first.
pub const MAX_OWN_FILES: usize = 100_000;

/// Hex digits of a SHA-256 that are kept: 64 bits distinguish a hundred thousand files.
const DIGITS: usize = 16;

/// Contents of our files, as they are and unpacked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFiles {
    known: HashSet<Box<str>>,
    /// In the order of their publication.
    order: Vec<Box<str>>,
}

impl OwnFiles {
    /// The record of the store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let mut own = Self::default();
        for line in store.value(VALUE)?.unwrap_or_default().lines() {
            own.add(line);
        }
        Ok(own)
    }

    /// Adds the SHA-256 (hex) of a file; whether it was new.
    pub fn add(&mut self, sha256: &str) -> bool {
        let Some(hash) = sha256.get(..DIGITS) else {
            return false;
        };
        let is_new = self.known.insert(hash.into());
        if is_new {
            self.order.push(hash.into());
        }
        is_new
    }

    /// Returns whether arpent never published anything for the site, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns whether a document with this SHA-256 (hex) is one of ours.
    pub fn contains(&self, sha256: &str) -> bool {
        sha256
            .get(..DIGITS)
            .is_some_and(|hash| self.known.contains(hash))
    }

    /// The value of a commit that remembers them.
    pub fn value(&self) -> MetaValue {
        let first = self.order.len().saturating_sub(MAX_OWN_FILES);
        let text = self.order[first..].join("\n");
        (VALUE.to_owned(), Some(text).filter(|text| !text.is_empty()))
    }
}
