//! Which URLs this run already knows: 64-bit fingerprints in memory, in front of the store, rebuilt
//! when a run is resumed.
//!
//! Two URLs with the same fingerprint would make us miss the second one. Among 100 million URLs the
//! expected number lost that way is 0.0003 (n²/2⁶⁵); the store's key is the last word for whatever
//! passes the filter.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use crate::url_key::UrlKey;

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
        self.0.contains(&key.fingerprint())
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

/// Passes a fingerprint through: it is a good hash already.
#[derive(Debug, Default)]
struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
