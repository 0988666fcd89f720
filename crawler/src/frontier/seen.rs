//! The URLs that the crawl already knows: 64-bit fingerprints in memory, in front of the store, rebuilt
//! when a session continues a crawl.
//!
//! Of two URLs with the same fingerprint the second is missed. Among 100 million URLs the expected
//! number of missed ones is 0.0003 (n²/2⁶⁵). The key in the store decides about every URL that
//! passes the filter.

use std::{collections::HashSet, hash::BuildHasherDefault};

use crate::url_key::{FingerprintHasher, UrlKey};

/// Number of sets that the URLs are divided into: a set that grows has two tables in memory for a moment.
const SETS: usize = 64;

/// The set of known fingerprints: 10 to 20 bytes for each.
#[derive(Debug)]
pub struct SeenUrls {
    sets: Vec<FingerprintSet>,
    /// Number of URLs in all sets.
    urls: usize,
}

type FingerprintSet = HashSet<u64, BuildHasherDefault<FingerprintHasher>>;

impl Default for SeenUrls {
    fn default() -> Self {
        Self {
            sets: vec![FingerprintSet::default(); SETS],
            urls: 0,
        }
    }
}

impl SeenUrls {
    /// Notes `key`; whether it was new.
    pub fn insert(&mut self, key: &UrlKey) -> bool {
        let fingerprint = key.fingerprint();
        let is_new = self.sets[place_of(fingerprint)].insert(fingerprint);
        self.urls += usize::from(is_new);
        is_new
    }

    /// Returns whether `key` is known.
    pub fn contains(&self, key: &UrlKey) -> bool {
        self.contains_fingerprint(key.fingerprint())
    }

    /// Returns whether the key with this [`UrlKey::fingerprint`] is known.
    pub fn contains_fingerprint(&self, fingerprint: u64) -> bool {
        self.sets[place_of(fingerprint)].contains(&fingerprint)
    }

    /// Forgets `key`; whether it was known.
    pub fn remove(&mut self, key: &UrlKey) -> bool {
        let fingerprint = key.fingerprint();
        let was_known = self.sets[place_of(fingerprint)].remove(&fingerprint);
        self.urls -= usize::from(was_known);
        was_known
    }

    /// Number of known URLs.
    pub fn len(&self) -> usize {
        self.urls
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.urls == 0
    }
}

/// The place of its set, by bits that a table takes neither for places (the lowest) nor for tags (the highest seven).
fn place_of(fingerprint: u64) -> usize {
    usize::from(fingerprint.to_le_bytes()[5]) % SETS
}
