//! The numbers that decide which keys get their own file, and the tests made with them.
//!
//! Owns every threshold of the partition; the other files of this module use it and never compare a count themselves.

use super::{Layout, PartitionError};
use crate::limits::MAX_FRAME_BYTES;

/// The most entries one file may have: sitemaps.org protocol, "no more than 50,000 URLs".
const MAX_FILE_ENTRIES: u64 = 50_000;

/// The most bytes one uncompressed file may have: sitemaps.org protocol, "no larger than 50MB (52,428,800 bytes)".
const MAX_FILE_BYTES: u64 = 52_428_800;

/// With more first-level directories than this the threshold for one of them rises to [`RAISED_SECTION`]. Search Console's
/// report of an index shows 1,000 sitemaps.
const MAX_SECTIONS: u64 = 1_000;

/// Entries from which a first-level directory gets its own file on a site with more than [`MAX_SECTIONS`] of them.
const RAISED_SECTION: u64 = 1_000;

/// Number of characters that can follow a prefix: a key holds printable ASCII without space only.
const NEXT_CHARACTERS: u64 = 94;

/// Counts from which a directory gets its own file, and the size that a file aims at.
///
/// A border is crossed upwards at the value and downwards at half of it. A directory that has a file keeps it until its count
/// falls below half its threshold. A divided directory is put together again only when half a file has room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Entries from which a directory right below the base gets its own file, at least 1; default 100. On a site with more than
    /// 1,000 such directories it is 1,000 instead (unless set higher), until their number falls to 500.
    pub section: u64,
    /// Entries from which a deeper directory, or a prefix in a directory, gets its own file if the file around it is over its
    /// aim; at least 1; default 1,000.
    pub subsection: u64,
    /// Entries one file aims at, 1 to 50,000; default 10,000. No file gets more.
    pub file_entries: u64,
    /// Bytes of entries, uncompressed, one file aims at, 1 to 52,428,800; default 10,000,000. Only a single entry that is larger
    /// gets more. Of the maximum 4,096 bytes are left to the frame around the entries.
    pub file_bytes: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            section: 100,
            subsection: 1_000,
            file_entries: 10_000,
            file_bytes: 10_000_000,
        }
    }
}

impl Thresholds {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`PartitionError::Threshold`] names the first value that is zero or above the limit of the sitemaps.org protocol.
    pub fn validate(&self) -> Result<(), PartitionError> {
        for (name, value, maximum) in [
            ("section", self.section, u64::MAX),
            ("subsection", self.subsection, u64::MAX),
            ("file_entries", self.file_entries, MAX_FILE_ENTRIES),
            ("file_bytes", self.file_bytes, MAX_FILE_BYTES),
        ] {
            if value == 0 || value > maximum {
                return Err(PartitionError::Threshold {
                    name,
                    value,
                    maximum,
                });
            }
        }
        Ok(())
    }

    /// Thresholds for the tree of a section: its directories are not sections.
    pub(super) fn of_section(self) -> Self {
        Self {
            section: self.subsection,
            ..self
        }
    }

    /// Is this too much for one file? One entry alone cannot be divided.
    pub(super) fn is_over(&self, count: Count) -> bool {
        count.entries > self.file_entries || (count.bytes > self.aim_bytes() && count.entries > 1)
    }

    /// Returns whether this is too much to join a divided directory again.
    pub(super) fn is_over_half(&self, count: Count) -> bool {
        let is_over = count.entries > self.file_entries / 2 || count.bytes > self.aim_bytes() / 2;
        is_over && count.entries > 1
    }

    /// Are these more entries than one file aims at?
    pub(super) fn has_too_many(&self, count: Count) -> bool {
        count.entries > self.file_entries
    }

    /// Returns whether a directory has enough entries for its own file. Half the threshold is enough when it had one, and also
    /// when it has many bytes and was divided without rest.
    pub(super) fn is_section(
        &self,
        directory: &str,
        count: Count,
        threshold: u64,
        previous: &Layout,
    ) -> bool {
        let is_heavy = count.bytes > self.aim_bytes() / 2;
        let had_file =
            || previous.has_directory(directory) || (is_heavy && previous.was_divided(directory));
        count.entries >= threshold || (count.entries >= threshold / 2 && had_file())
    }

    /// Returns whether a prefix gets its own file whatever remains. A prefix that had a file keeps it from half the entries, or
    /// from half the bytes that as many entries have in a file that is full in both.
    pub(super) fn is_large_prefix(&self, count: Count, had_file: impl FnOnce() -> bool) -> bool {
        let may_stay =
            count.entries >= self.subsection / 2 || count.bytes >= self.large_bytes() / 2;
        count.entries >= self.subsection || (may_stay && had_file())
    }

    /// The threshold of a first-level directory.
    pub(super) fn section(&self, raised: bool) -> u64 {
        if raised {
            self.section.max(RAISED_SECTION)
        } else {
            self.section
        }
    }

    /// Is the threshold of first-level directories raised, when so many of them have at least `section` entries?
    pub(super) fn is_raised(sections: u64, was_raised: bool) -> bool {
        sections
            > if was_raised {
                MAX_SECTIONS / 2
            } else {
                MAX_SECTIONS
            }
    }

    /// Returns whether a prefix of this size can never get its own file. `exact` is the entry that ends where the prefixes part.
    ///
    /// Small prefixes get files only while the rest is too much for one file, the largest first. When a prefix with n entries
    /// comes next, at most 94 n + 1 remain; in bytes at most 94 n and the bytes of `exact`.
    pub(super) fn is_negligible(&self, count: Count, exact: Count) -> bool {
        count.entries < self.subsection / 2
            && count.bytes < self.large_bytes() / 2
            && count.entries <= (self.file_entries - 1) / (NEXT_CHARACTERS + 1)
            && count.bytes <= self.aim_bytes() / (2 * NEXT_CHARACTERS + 1)
            && exact.bytes <= self.aim_bytes() / 2
    }

    fn aim_bytes(&self) -> u64 {
        self.file_bytes.min(MAX_FILE_BYTES - MAX_FRAME_BYTES)
    }

    /// The share of a full file's bytes that `subsection` is of its entries.
    fn large_bytes(&self) -> u64 {
        let bytes = u128::from(self.aim_bytes()) * u128::from(self.subsection)
            / u128::from(self.file_entries);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// Number of keys, and bytes of their entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) entries: u64,
    pub(super) bytes: u64,
}

impl Count {
    pub(super) fn one(bytes: u64) -> Self {
        Self { entries: 1, bytes }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(other.entries),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(other.entries),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_threshold_above_the_raised_one_stays() {
        let check = |section: u64, expected: u64| {
            let thresholds = Thresholds {
                section,
                ..Thresholds::default()
            };
            assert_eq!(thresholds.section(false), section);
            assert_eq!(thresholds.section(true), expected);
        };
        check(1, 1_000);
        check(100, 1_000);
        check(2_000, 2_000);
    }
}
