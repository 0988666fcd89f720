//! The shortest ways to the URLs that wait at a distance from new text: how many pages in a row said nothing new, and which page led
//! there first.

use std::{collections::HashMap, hash::BuildHasherDefault};

use crate::url_key::{FingerprintHasher, UrlKey, short};

/// Ways that are held at most: what a table of 2^20 takes, 13 bytes each. Of a further URL the first way counts that was found, and
/// what led to it stays counted.
const MAX_WAYS: usize = 917_504;

/// The shortest way to a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// Pages in a row that said nothing new.
    pub(super) distance: u16,
    /// The page on which the URL was found first, by half of its fingerprint; 0: there is none.
    pub(super) finder: u32,
}

/// The ways to all URLs that wait and are, or were, at a distance.
#[derive(Debug, Default)]
pub(super) struct Ways {
    by_url: HashMap<u32, Way, BuildHasherDefault<FingerprintHasher>>,
}

impl Ways {
    /// Takes a URL that begins to wait.
    pub(super) fn add(&mut self, url: &UrlKey, distance: u16, found_on: Option<&UrlKey>) {
        if distance > 0 && self.by_url.len() < MAX_WAYS {
            let finder = found_on.map_or(0, |page| short(page.fingerprint()));
            let way = Way { distance, finder };
            self.by_url.insert(short(url.fingerprint()), way);
        }
    }

    /// Takes another way to a URL; returns whether it is shorter.
    pub(super) fn find_again(&mut self, url: &UrlKey, distance: u16) -> bool {
        match self.by_url.get_mut(&short(url.fingerprint())) {
            Some(way) if distance < way.distance => {
                way.distance = distance;
                true
            }
            _ => false,
        }
    }

    /// Returns whether the URL with this fingerprint waits, and there may be a shorter way to it.
    pub(super) fn may_be_shorter(&self, url: u64) -> bool {
        let way = self.by_url.get(&short(url));
        way.is_some_and(|way| way.distance > 0)
    }

    /// The way to a URL that waits.
    pub(super) fn of(&self, url: &UrlKey) -> Option<Way> {
        self.by_url.get(&short(url.fingerprint())).copied()
    }

    /// The URL does not wait any more.
    pub(super) fn end(&mut self, url: &UrlKey) {
        if !self.by_url.is_empty() {
            self.by_url.remove(&short(url.fingerprint()));
        }
    }
}
