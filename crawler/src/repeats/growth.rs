//! How far pages without new text lead on. A part of a site comes to an end, or it has ever more pages that say nothing new, that
//! were found on such pages, and that lead to further URLs. Only these are counted, in each place that they are in; what they led to is
//! taken off again when one of the pages that were first found on them has something new.

use std::{collections::HashMap, hash::BuildHasherDefault};

use super::{GrowingPlace, places};
use crate::{
    page::PageText,
    url_key::{FingerprintHasher, UrlKey},
};

/// Weight of a URL that a page leads to; of a page at distance 1 it is one. Most sites have pages right behind new text that say nothing
/// new and have links of their own which lead nowhere: 1,562 URLs of 3,083 pages of groovy's documentation, where at distance 2
/// and more 39 of 40 packages of documentation have 43 URLs at most.
const FAR: i64 = 10;

/// URLs that pages in one directory, or of one path with a query, may lead to: twenty times the most of 40 packages.
const OF_DIRECTORY: i64 = 1_000;

/// The same of all pages below a directory.
const OF_BRANCH: i64 = 2_000;

/// The same of all pages of the site.
const OF_SITE: i64 = 5_000;

/// URLs of one page that count at most: one long list is no endless site.
const OF_PAGE: i64 = 20;

/// In a place that the last crawl cut, this part of the numbers above is enough, and but for the site a URL weighs [`FAR`] at every distance.
const AGAIN: i64 = 10;

/// The part of its limit from which on a place is shown to people.
const WORTH_SHOWING: i64 = 5;

/// Copies of a page, under the same name in other directories, that do not count: versions, languages, mirrors.
const MAX_COPIES: u8 = 20;

/// Places, pages and texts that are watched at most: 24 to 40 bytes each.
const MAX_ENTRIES: usize = 500_000;

type Hashed<T> = HashMap<u64, T, BuildHasherDefault<FingerprintHasher>>;

/// The tallies of all places.
#[derive(Debug, Default)]
pub(super) struct Growth {
    places: Hashed<PlaceTally>,
    /// What pages without new text led to, as it is counted, by the fingerprints of the pages.
    counted: Hashed<Counted>,
    /// Pages by their names and texts.
    copies: Hashed<u8>,
    /// A place is over its limit.
    has_cut: bool,
    growing: Option<GrowingPlace>,
}

/// A place.
#[derive(Debug, Clone, Copy)]
struct PlaceTally {
    /// The place around it; 0: it is the site.
    around: u64,
    /// URLs that pages without new text led to, times [`FAR`], without what is counted in places of it that are cut.
    led_to: i64,
    /// Pages that can be listed.
    listed: i64,
    limit: i64,
    /// The last crawl cut it.
    was_cut: bool,
    is_cut: bool,
}

/// What a page is counted for.
#[derive(Debug, Clone, Copy)]
struct Counted {
    place: u64,
    led_to: i64,
}

impl PlaceTally {
    /// Nothing was counted yet in the place `name`.
    fn of(name: &str) -> Self {
        Self {
            around: 0,
            led_to: 0,
            listed: 0,
            limit: limit_of(name),
            was_cut: false,
            is_cut: false,
        }
    }

    /// Up to a tenth of the pages that are listed of a place, pages may lead to as many URLs.
    fn is_over(&self) -> bool {
        self.led_to > self.limit.max(self.listed)
    }
}

/// What pages in the place `name` may lead to, times [`FAR`].
fn limit_of(name: &str) -> i64 {
    let urls = match name {
        "/*" => OF_SITE,
        _ if name.ends_with('*') => OF_BRANCH,
        _ => OF_DIRECTORY,
    };
    urls * FAR
}

impl Growth {
    /// Takes a place that the last crawl cut.
    pub(super) fn remember(&mut self, name: &str) {
        let tally = PlaceTally {
            limit: limit_of(name) / AGAIN,
            was_cut: true,
            ..PlaceTally::of(name)
        };
        self.places.insert(places::hash(name), tally);
    }

    /// Returns whether a page is one of the first copies of another one, under its name in another directory; takes it.
    pub(super) fn is_copy(&mut self, url: &UrlKey, text: &PageText) -> bool {
        let path = url.path_and_query().trim_end_matches('/');
        let directory = url.path().trim_end_matches('/').rfind('/');
        let name = path.get(directory.map_or(0, |slash| slash + 1)..);
        let name = name.unwrap_or_default();
        if !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return false;
        }
        let key = text.blocks.iter().fold(places::hash(name), |key, block| {
            (key.rotate_left(23) ^ u64::from(block.hash)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        if self.copies.len() >= MAX_ENTRIES && !self.copies.contains_key(&key) {
            return false;
        }
        let count = self.copies.entry(key).or_default();
        *count = count.saturating_add(1);
        (2..=MAX_COPIES).contains(count)
    }

    /// Takes a page without new text at this distance, which led to so many unknown URLs.
    pub(super) fn add_page(&mut self, url: &UrlKey, distance: u16, led_to: u32) {
        if led_to == 0 {
            return;
        }
        let Some(place) = self.places_of(url) else {
            return;
        };
        let weight = match distance {
            _ if self.was_cut(place) => FAR,
            0 => return,
            1 => 1,
            _ => FAR,
        };
        let led_to = i64::from(led_to).min(OF_PAGE) * weight;
        if self.counted.len() >= MAX_ENTRIES {
            return;
        }
        self.counted
            .insert(url.fingerprint(), Counted { place, led_to });
        self.add(place, led_to);
        self.note_growing(url, place);
    }

    /// Returns whether the last crawl cut the place, or one around it, but for the site: pages next to new text would close it for all.
    fn was_cut(&self, mut place: u64) -> bool {
        while let Some(tally) = self.places.get(&place)
            && tally.around != 0
        {
            if tally.was_cut {
                return true;
            }
            place = tally.around;
        }
        false
    }

    /// The place in which most was counted, compared with its limit.
    pub(super) fn growing(&self) -> Option<&GrowingPlace> {
        self.growing.as_ref()
    }

    fn note_growing(&mut self, url: &UrlKey, place: u64) {
        let Some(tally) = self.places.get(&place) else {
            return;
        };
        let limit = tally.limit.max(tally.listed);
        let led_to = (tally.led_to / FAR).unsigned_abs();
        let is_most = self
            .growing
            .as_ref()
            .is_none_or(|most| most.led_to <= led_to);
        if tally.led_to >= limit / WORTH_SHOWING && is_most {
            let name = places::names(url).swap_remove(0);
            let limit = (limit / FAR).unsigned_abs();
            self.growing = Some(GrowingPlace {
                name,
                led_to,
                limit,
            });
        }
    }

    /// A page that was first found on the page `finder` has something new.
    pub(super) fn refund(&mut self, finder: u64) {
        if let Some(Counted { place, led_to }) = self.counted.remove(&finder) {
            self.add(place, -led_to);
        }
    }

    /// Takes a page that can be listed.
    pub(super) fn list(&mut self, url: &UrlKey) {
        let mut place = self.places_of(url).unwrap_or_default();
        while let Some(tally) = self.places.get_mut(&place) {
            tally.listed += 1;
            let is_freed = tally.is_cut && !tally.is_over();
            tally.is_cut &= !is_freed;
            place = tally.around;
            if is_freed {
                let led_to = tally.led_to;
                self.add(place, led_to);
            }
        }
    }

    /// Returns whether a place was cut, whatever was taken off since.
    pub(super) fn has_cut(&self) -> bool {
        self.has_cut
    }

    /// The name of the narrowest place of `url` that is cut.
    pub(super) fn cut_of(&self, url: &UrlKey) -> Option<String> {
        if !self.has_cut {
            return None;
        }
        let is_cut = |name: &String| {
            let tally = self.places.get(&places::hash(name));
            tally.is_some_and(|tally| tally.is_cut)
        };
        places::names(url).into_iter().find(is_cut)
    }

    /// The place of `url`, once it is watched with those around it; `None`: there is no room.
    fn places_of(&mut self, url: &UrlKey) -> Option<u64> {
        let mut around = 0;
        for name in places::names(url).iter().rev() {
            let key = places::hash(name);
            if self.places.len() >= MAX_ENTRIES && !self.places.contains_key(&key) {
                return None;
            }
            let tally = self.places.entry(key);
            let tally = tally.or_insert_with(|| PlaceTally::of(name));
            tally.around = around;
            around = key;
        }
        Some(around)
    }

    /// Counts in a place and in all around it, up to one that is cut: a few endless places make no endless site.
    fn add(&mut self, mut place: u64, mut led_to: i64) {
        while led_to != 0
            && let Some(tally) = self.places.get_mut(&place)
        {
            let (before, was_cut) = (tally.led_to, tally.is_cut);
            tally.led_to += led_to;
            tally.is_cut = tally.is_over();
            self.has_cut |= tally.is_cut;
            led_to = match (was_cut, tally.is_cut) {
                (false, false) => led_to,
                (true, true) => 0,
                (false, true) => -before,
                (true, false) => tally.led_to,
            };
            place = tally.around;
        }
    }
}
