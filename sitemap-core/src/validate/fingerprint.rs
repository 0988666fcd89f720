//! Fingerprints of 64 bits, by which documents of a set are compared.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Loc;

/// A fingerprint of a value; the same in every run.
pub(super) fn fingerprint(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The same for a URL, however it is escaped (R26).
pub(super) fn fingerprint_of(url: &Loc) -> u64 {
    fingerprint(&*url.normalised())
}
