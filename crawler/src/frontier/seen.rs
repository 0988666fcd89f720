//! Which URLs this run already knows: 64-bit fingerprints in memory, in front of the store, rebuilt
//! when a run is resumed.
//!
//! Two URLs with the same fingerprint would make us miss the second one. Among 100 million URLs the
//! expected number lost that way is 0.0003 (n²/2⁶⁵); the store's key is the last word for whatever
//! passes the filter.

use std::{collections::HashSet, hash::BuildHasherDefault};

use crate::url_key::{FingerprintHasher, UrlKey};

/// The set of known fingerprints: 9 to 18 bytes for each.
#[derive(Debug, Default)]
pub struct SeenUrls(HashSet<u64, BuildHasherDefault<FingerprintHasher>>);

impl SeenUrls {
    /// Notes `key`; whether it was new.
    pub fn insert(&mut self, key: &UrlKey) -> bool {
        self.0.insert(key.fingerprint())
    }

    /// Whether `key` is known.
    pub fn contains(&self, key: &UrlKey) -> bool {
        self.contains_fingerprint(key.fingerprint())
    }

    /// Whether the key with this [`UrlKey::fingerprint`] is known.
    pub fn contains_fingerprint(&self, fingerprint: u64) -> bool {
        self.0.contains(&fingerprint)
    }

    /// Forgets `key`; whether it was known.
    pub fn remove(&mut self, key: &UrlKey) -> bool {
        self.0.remove(&key.fingerprint())
    }

    /// Number of known URLs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
