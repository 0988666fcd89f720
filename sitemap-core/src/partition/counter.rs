//! The first scan: keys in, plan out.
//!
//! Owns the checks of a key and its order. It keeps one key, the counts of [`super::prefixes`] and [`super::directories`], and
//! nothing that grows with the number of keys.

use super::{
    Layout, Placement, Plan, Thresholds, directories::DirectoryCounter, divide::Division, layout,
    prefixes::PrefixCounter, thresholds::Count,
};

/// Longest key: a `<loc>` has fewer than 2,048 characters (sitemaps.org protocol), and a key is a part of one.
pub const MAX_KEY_BYTES: usize = 2_047;

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// A threshold is out of its range.
    #[error("{name} is {value}: expected 1 to {maximum}")]
    Threshold {
        /// The field of [`Thresholds`].
        name: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        maximum: u64,
    },
    /// The base is not a directory.
    #[error(
        "base {base:?} is no directory: expected printable ASCII without a query, `/` at both ends"
    )]
    Base {
        /// What was given.
        base: String,
    },
    /// A key is not in normal form or lies outside of the base.
    #[error("key {key:?} is not below {base}: expected printable ASCII that begins with the base")]
    Key {
        /// The key.
        key: String,
        /// The base directory.
        base: String,
    },
    /// A key is longer than [`MAX_KEY_BYTES`].
    #[error(
        "key of {bytes} bytes is too long, it begins with {start:?}: expected at most {MAX_KEY_BYTES}"
    )]
    KeyTooLong {
        /// Its length.
        bytes: usize,
        /// Its first characters.
        start: String,
    },
    /// A key does not come after the one before it.
    #[error("key {key:?} follows {previous:?}: expected ascending order of bytes and no key twice")]
    Order {
        /// The key.
        key: String,
        /// The key before it.
        previous: String,
    },
}

/// Counts the keys of one origin in one scan, in memory that is bounded by the number of files and of large prefixes.
#[derive(Debug)]
pub struct Counter {
    base: String,
    thresholds: Thresholds,
    placement: Placement,
    previous_layout: Layout,
    /// The last key; empty before the first.
    last: String,
    directories: DirectoryCounter,
    prefixes: PrefixCounter,
}

impl Counter {
    /// A counter for the keys below `base`, a directory with `/` at both ends. `previous_layout` is [`Plan::layout`] of the last
    /// publish; with the default, an empty one, the plan depends on nothing but the keys.
    ///
    /// # Errors
    /// [`PartitionError::Base`], [`PartitionError::Threshold`].
    pub fn new(
        base: &str,
        thresholds: Thresholds,
        placement: Placement,
        previous_layout: &Layout,
    ) -> Result<Self, PartitionError> {
        thresholds.validate()?;
        if !layout::is_directory(base) {
            return Err(PartitionError::Base {
                base: base.to_owned(),
            });
        }
        let was_raised = previous_layout.is_raised();
        Ok(Self {
            base: base.to_owned(),
            thresholds,
            placement,
            previous_layout: previous_layout.clone(),
            last: String::new(),
            directories: DirectoryCounter::new(base.len(), thresholds, placement, was_raised),
            prefixes: PrefixCounter::new(base.len(), thresholds),
        })
    }

    /// Counts one key, normalised path and query; `bytes`: what its entry takes in an uncompressed file.
    ///
    /// # Errors
    /// The key is not printable ASCII below the base ([`PartitionError::Key`]), longer than [`MAX_KEY_BYTES`]
    /// ([`PartitionError::KeyTooLong`]), or not greater than the key before it ([`PartitionError::Order`]). The counter stays as
    /// it was.
    pub fn push(&mut self, key: &str, bytes: u64) -> Result<(), PartitionError> {
        if key.len() > MAX_KEY_BYTES {
            return Err(PartitionError::KeyTooLong {
                bytes: key.len(),
                start: key.chars().take(100).collect(),
            });
        }
        if !key.starts_with(&self.base) || !layout::is_printable(key) {
            return Err(PartitionError::Key {
                key: key.to_owned(),
                base: self.base.clone(),
            });
        }
        if *key <= *self.last {
            return Err(PartitionError::Order {
                key: key.to_owned(),
                previous: self.last.clone(),
            });
        }
        let pairs = key.bytes().zip(self.last.bytes());
        // Before the first key the base is what it shares with the base directory itself.
        let shared = pairs
            .take_while(|(one, other)| one == other)
            .count()
            .max(self.base.len());
        let count = Count::one(bytes);
        self.directories
            .push(&self.previous_layout, &self.last, shared, key, count);
        self.prefixes
            .push(self.last.as_bytes(), shared, key.len(), count);
        self.last.clear();
        self.last.push_str(key);
        Ok(())
    }

    /// How many counts are kept: what the memory grows with.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.directories.held() + self.prefixes.held()
    }

    /// Decides which parts there are.
    pub fn finish(self) -> Plan {
        let base_bytes = self.base.len();
        let directories = self
            .directories
            .finish(&self.previous_layout, &self.last, base_bytes);
        let prefixes = self.prefixes.finish(self.last.as_bytes(), base_bytes);
        let division = Division {
            base: &self.base,
            thresholds: self.thresholds,
            placement: self.placement,
            previous: &self.previous_layout,
            directories: &directories,
            prefixes: &prefixes,
        };
        Plan::new(
            &self.base,
            self.placement,
            division.run(),
            directories.raised,
        )
    }
}
