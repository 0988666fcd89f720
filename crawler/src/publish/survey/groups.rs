//! How many pages share something, for any number of somethings, in bounded memory.

use std::{cmp::Reverse, collections::HashMap};

use xxhash_rust::xxh3::xxh3_64;

use crate::publish::guard::{Group, Sign};

/// Groups that are counted at once. A group that has more than 1 in 1,000 of the pages is found, and counted too low by
/// so many at most (Misra and Gries, "Finding repeated elements", 1982).
const MAX_GROUPS: usize = 1_000;

/// Groups of each sign that are told of and remembered.
const MAX_TOLD: usize = 8;

/// Counts how many pages share something.
#[derive(Debug, Default)]
pub(super) struct Groups(HashMap<u64, Tally>);

#[derive(Debug, Default)]
struct Tally {
    pages: u64,
    fresh: u64,
    example: String,
    /// Hash of the address that was counted last.
    last: u64,
}

impl Groups {
    /// Counts a page that shares `key`; `address` is an example of them, and `is_fresh` that it was another one before.
    pub(super) fn add(&mut self, key: u64, address: &str, is_fresh: bool) {
        if let Some(tally) = self.0.get_mut(&key) {
            tally.pages += 1;
            tally.fresh += u64::from(is_fresh);
        } else if self.0.len() < MAX_GROUPS {
            let tally = Tally {
                pages: 1,
                fresh: u64::from(is_fresh),
                example: address.to_owned(),
                last: 0,
            };
            self.0.insert(key, tally);
        } else {
            self.0.retain(|_, tally| {
                tally.pages -= 1;
                tally.fresh = tally.fresh.min(tally.pages);
                tally.pages > 0
            });
        }
    }

    /// Counts what stands at `address`, which several pages in a row may lead to: it is one page.
    pub(super) fn add_once(&mut self, key: u64, address: &str, is_fresh: bool) {
        self.add_once_of(key, xxh3_64(address.as_bytes()), address, is_fresh);
    }

    /// Counts one page, as `add_once` does, for an address that hashes to `hash`; it is told of as `example`.
    pub(super) fn add_once_of(&mut self, key: u64, hash: u64, example: &str, is_fresh: bool) {
        if self.0.get(&key).is_some_and(|tally| tally.last == hash) {
            return;
        }
        self.add(key, example, is_fresh);
        if let Some(tally) = self.0.get_mut(&key) {
            tally.last = hash;
        }
    }

    /// The largest of them that have at least `min` pages, as pages that show `sign`.
    pub(super) fn largest(self, sign: Sign, min: u64) -> Vec<Group> {
        let groups = self.0.into_iter();
        let groups = groups.map(|(key, tally)| Group {
            sign,
            key,
            pages: tally.pages,
            fresh: tally.fresh,
            example: tally.example,
        });
        let mut groups: Vec<Group> = groups.filter(|group| group.pages >= min).collect();
        groups.sort_unstable_by_key(|group| (Reverse(group.pages), group.key));
        groups.truncate(MAX_TOLD);
        groups
    }

    /// All pages that share something with another one, as one group that shows `sign`.
    pub(super) fn shared(self, sign: Sign) -> Option<Group> {
        let (mut pages, mut fresh) = (0, 0);
        for tally in self.0.values().filter(|tally| tally.pages > 1) {
            pages += tally.pages;
            fresh += tally.fresh;
        }
        let largest = self.largest(sign, 2).into_iter().next()?;
        Some(Group {
            key: 0,
            pages,
            fresh,
            ..largest
        })
    }

    /// How many pages the group of `key` has.
    #[cfg(test)]
    fn pages_of(&self, key: u64) -> u64 {
        self.0.get(&key).map_or(0, |tally| tally.pages)
    }

    /// How many pages the largest group has, and its key.
    pub(super) fn most(&self) -> (u64, u64) {
        let groups = self.0.iter().map(|(key, tally)| (tally.pages, *key));
        groups.max().unwrap_or_default()
    }

    /// How many pages share something with another one.
    pub(super) fn shared_pages(&self) -> u64 {
        let pages = self.0.values().map(|tally| tally.pages);
        pages.filter(|pages| *pages > 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_group_is_found_among_any_number_of_small_ones() {
        let mut groups = Groups::default();
        let all: u64 = 100_000;
        for page in 0..all {
            // Every third is the same, and half of these are fresh.
            let key = if page % 3 == 0 { 7 } else { page + 1_000 };
            groups.add(key, "example", page % 2 == 0);
        }
        assert!(groups.0.len() <= MAX_GROUPS);
        assert_eq!(groups.most().1, 7);
        let largest = groups.largest(Sign::Text, 2).swap_remove(0);
        assert_eq!(largest.key, 7);
        let third = all.div_ceil(3);
        assert!(largest.pages <= third && largest.pages >= third - all / 1_000);
        assert!(largest.fresh <= third.div_ceil(2));
    }

    #[test]
    fn one_address_is_one_page_however_many_lead_to_it() {
        let mut groups = Groups::default();
        for _ in 0..3 {
            groups.add_once(1, "/one", true);
        }
        assert_eq!(groups.pages_of(1), 1);
        groups.add_once(1, "/other", true);
        groups.add_once(1, "/one", false);
        assert_eq!(groups.pages_of(1), 3);
        groups.add(2, "/third", true);
        let shared = groups.shared(Sign::FormTitle).unwrap();
        assert_eq!((shared.pages, shared.fresh), (3, 2));
    }
}
