//! How far pages without new text lead on. A part of a site comes to an end, or it has ever more pages that say nothing new, that
//! were found on such pages, and that lead to further URLs. Only these are counted, in each place that they are in; what they led to is
//! taken off again when one of the pages that were first found on them has something new.

use std::{collections::HashMap, hash::BuildHasherDefault};

use super::{GrowingPlace, places};
use crate::{
    page::PageText,
    url_key::{FingerprintHasher, UrlKey, short},
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

/// Places, pages and texts that are watched at most: what a table of 2^19 takes. A page and a text have 9 bytes each, a place 50.
const MAX_ENTRIES: usize = 458_752;

type Hashed<K, T> = HashMap<K, T, BuildHasherDefault<FingerprintHasher>>;

/// The place of a place in [`Growth::places`].
type PlaceNumber = u32;

/// The tallies of all places.
#[derive(Debug, Default)]
pub(super) struct Growth {
    places: Vec<PlaceTally>,
    /// Their numbers, by the hashes of their names.
    numbers: Hashed<u64, PlaceNumber>,
    /// What pages without new text led to, as it is counted, by the fingerprints of the pages.
    counted: Hashed<u32, Counted>,
    /// Pages by their names and texts.
    copies: Hashed<u32, u8>,
    /// A place is over its limit.
    has_cut: bool,
    growing: Option<GrowingPlace>,
}

/// A place.
#[derive(Debug, Clone, Copy)]
struct PlaceTally {
    /// The place around it; `None`: it is the site.
    around: Option<PlaceNumber>,
    /// URLs that pages without new text led to, times [`FAR`], without what is counted in places of it that are cut.
    led_to: i64,
    /// Pages that can be listed.
    listed: i64,
    limit: i64,
    /// The last crawl cut it.
    was_cut: bool,
    is_cut: bool,
}

/// The place of a page and, in the lowest byte, what the page is counted for.
#[derive(Debug, Clone, Copy)]
struct Counted(u32);

impl Counted {
    fn new(place: PlaceNumber, led_to: u8) -> Self {
        Self(place << 8 | u32::from(led_to))
    }

    fn place(self) -> PlaceNumber {
        self.0 >> 8
    }

    fn led_to(self) -> i64 {
        i64::from(self.0 & 0xff)
    }
}

impl PlaceTally {
    /// Nothing was counted yet in the place `name`.
    fn of(name: &str) -> Self {
        Self {
            around: None,
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
        if let Some(place) = self.place_named(name) {
            self.places[place as usize] = tally;
        }
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
        let key = short(text.blocks.iter().fold(places::hash(name), |key, block| {
            (key.rotate_left(23) ^ u64::from(block.hash)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        }));
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
        let counted = Counted::new(place, u8::try_from(led_to).unwrap_or(u8::MAX));
        self.counted.insert(short(url.fingerprint()), counted);
        self.add(place, counted.led_to());
        self.note_growing(url, place);
    }

    /// Returns whether the last crawl cut the place, or one around it, but for the site: pages next to new text would close it for all.
    fn was_cut(&self, place: PlaceNumber) -> bool {
        let mut tally = &self.places[place as usize];
        while let Some(around) = tally.around {
            if tally.was_cut {
                return true;
            }
            tally = &self.places[around as usize];
        }
        false
    }

    /// The place in which most was counted, compared with its limit.
    pub(super) fn growing(&self) -> Option<&GrowingPlace> {
        self.growing.as_ref()
    }

    fn note_growing(&mut self, url: &UrlKey, place: PlaceNumber) {
        let tally = &self.places[place as usize];
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
    pub(super) fn refund(&mut self, finder: u32) {
        if let Some(counted) = self.counted.remove(&finder) {
            self.add(counted.place(), -counted.led_to());
        }
    }

    /// Takes a page that can be listed.
    pub(super) fn list(&mut self, url: &UrlKey) {
        let mut next = self.places_of(url);
        while let Some(place) = next {
            let tally = &mut self.places[place as usize];
            tally.listed += 1;
            let is_freed = tally.is_cut && !tally.is_over();
            tally.is_cut &= !is_freed;
            next = tally.around;
            if let Some(around) = next.filter(|_| is_freed) {
                let led_to = tally.led_to;
                self.add(around, led_to);
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
            let place = self.numbers.get(&places::hash(name));
            place.is_some_and(|place| self.places[*place as usize].is_cut)
        };
        places::names(url).into_iter().find(is_cut)
    }

    /// The place of `url`, once it is watched with those around it; `None`: there is no room.
    fn places_of(&mut self, url: &UrlKey) -> Option<PlaceNumber> {
        let mut around = None;
        for name in places::names(url).iter().rev() {
            let place = self.place_named(name)?;
            self.places[place as usize].around = around;
            around = Some(place);
        }
        around
    }

    /// The place `name`, once it is watched; `None`: there is no room.
    fn place_named(&mut self, name: &str) -> Option<PlaceNumber> {
        let key = places::hash(name);
        if let Some(place) = self.numbers.get(&key) {
            return Some(*place);
        }
        if self.places.len() >= MAX_ENTRIES {
            return None;
        }
        let place = PlaceNumber::try_from(self.places.len()).ok()?;
        self.numbers.insert(key, place);
        self.places.push(PlaceTally::of(name));
        Some(place)
    }

    /// Counts in a place and in all around it, up to one that is cut: a few endless places make no endless site.
    fn add(&mut self, place: PlaceNumber, mut led_to: i64) {
        let mut next = Some(place);
        while led_to != 0
            && let Some(place) = next
        {
            let tally = &mut self.places[place as usize];
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
            next = tally.around;
        }
    }
}
