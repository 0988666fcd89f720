//! The URLs that the crawl already knows: 64-bit fingerprints in memory, in front of the store, rebuilt
//! when a session continues a crawl.
//!
//! Of two URLs with the same fingerprint the second is missed. Among 100 million URLs the expected
//! number of missed ones is 0.0003 (n²/2⁶⁵). The key in the store decides about every URL that
//! passes the filter.

use crate::url_key::UrlKey;

/// Number of sets that the URLs are divided into: a set that grows has two tables in memory for a moment.
const SETS: usize = 64;

/// Places of a set that are taken at most, of [`OF_PLACES`].
const TAKEN: usize = 4;

/// See [`TAKEN`].
const OF_PLACES: usize = 5;

/// The set of known fingerprints: 10 to 13 bytes for each.
#[derive(Debug)]
pub struct SeenUrls {
    sets: Vec<FingerprintSet>,
    /// Number of URLs in all sets.
    urls: usize,
}

/// Fingerprints in one table, which grows by a quarter: those of the standard library double, and have a tag for each place. A fingerprint
/// is in the first free place from the one that its highest bits name.
#[derive(Debug, Clone, Default)]
struct FingerprintSet {
    /// 0: the place is free.
    places: Vec<u64>,
    taken: usize,
}

impl FingerprintSet {
    /// The place of `fingerprint`, or the free one where it would be.
    fn place(&self, fingerprint: u64) -> Option<usize> {
        let home = self.home(fingerprint)?;
        let (before, after) = self.places.split_at(home);
        let is_end = |place: &u64| *place == fingerprint || *place == 0;
        let at = after.iter().position(is_end).map(|place| home + place);
        at.or_else(|| before.iter().position(is_end))
    }

    /// The first place of `fingerprint`; `None`: there are no places.
    fn home(&self, fingerprint: u64) -> Option<usize> {
        let places = self.places.len() as u128;
        let home = (u128::from(fingerprint) * places) >> u64::BITS;
        usize::try_from(home).ok().filter(|_| places > 0)
    }

    fn contains(&self, fingerprint: u64) -> bool {
        let place = self.place(stored(fingerprint));
        place.is_some_and(|place| self.places[place] != 0)
    }

    fn insert(&mut self, fingerprint: u64) -> bool {
        let fingerprint = stored(fingerprint);
        if (self.taken + 1) * OF_PLACES > self.places.len() * TAKEN {
            self.grow();
        }
        let place = self.place(fingerprint);
        let Some(place) = place.filter(|place| self.places[*place] == 0) else {
            return false;
        };
        self.places[place] = fingerprint;
        self.taken += 1;
        true
    }

    fn grow(&mut self) {
        let places = (self.places.len() + self.places.len() / 4).max(2 * OF_PLACES);
        let before = std::mem::replace(&mut self.places, vec![0; places]);
        for fingerprint in before.into_iter().filter(|place| *place != 0) {
            if let Some(place) = self.place(fingerprint) {
                self.places[place] = fingerprint;
            }
        }
    }

    fn remove(&mut self, fingerprint: u64) -> bool {
        let place = self.place(stored(fingerprint));
        let Some(mut free) = place.filter(|place| self.places[*place] != 0) else {
            return false;
        };
        self.places[free] = 0;
        self.taken -= 1;
        // What follows moves into the free place, unless its own first place is after it.
        let places = self.places.len();
        let mut next = (free + 1) % places;
        while self.places[next] != 0 {
            let home = self.home(self.places[next]).unwrap_or_default();
            let from_home = (next + places - home) % places;
            let from_free = (next + places - free) % places;
            if from_home >= from_free {
                self.places.swap(free, next);
                free = next;
            }
            next = (next + 1) % places;
        }
        true
    }
}

/// A fingerprint as it is stored: 0 marks a free place.
fn stored(fingerprint: u64) -> u64 {
    fingerprint.max(1)
}

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
        self.sets[place_of(fingerprint)].contains(fingerprint)
    }

    /// Forgets `key`; whether it was known.
    pub fn remove(&mut self, key: &UrlKey) -> bool {
        let fingerprint = key.fingerprint();
        let was_known = self.sets[place_of(fingerprint)].remove(fingerprint);
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

/// The place of its set, by other bits than those that name a place in it.
fn place_of(fingerprint: u64) -> usize {
    usize::from(fingerprint.to_le_bytes()[5]) % SETS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_has_what_was_put_and_not_taken(
            steps in prop::collection::vec((0..200_u64, any::<bool>()), 0..600),
            spread in prop::sample::select(vec![1_u64, 0x9e37_79b9_7f4a_7c15, u64::MAX / 7]),
        ) {
            let (mut set, mut expected) = (FingerprintSet::default(), HashSet::new());
            for (number, is_put) in steps {
                // 0 and 1 are one fingerprint.
                let fingerprint = (number + 1).wrapping_mul(spread);
                if is_put {
                    prop_assert_eq!(set.insert(fingerprint), expected.insert(fingerprint));
                } else {
                    prop_assert_eq!(set.remove(fingerprint), expected.remove(&fingerprint));
                }
            }
            prop_assert_eq!(set.taken, expected.len());
            for number in 0..201 {
                let fingerprint = (number + 1_u64).wrapping_mul(spread);
                prop_assert_eq!(set.contains(fingerprint), expected.contains(&fingerprint));
            }
        }
    }

    #[test]
    fn fingerprints_take_few_bytes() {
        let mut urls = SeenUrls::default();
        for number in 0..100_000_u64 {
            let fingerprint = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            urls.sets[place_of(fingerprint)].insert(fingerprint);
        }
        let places: usize = urls.sets.iter().map(|set| set.places.len()).sum();
        assert!(places * 8 <= 100_000 * 13, "{places}");
    }
}
