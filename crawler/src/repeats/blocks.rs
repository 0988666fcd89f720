//! Blocks of text and how many pages have each: on the site, and in each place. Bounded: when there is no room for more, all
//! comparisons are made by half of the blocks, chosen by their hashes.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::places::UrlPlaces;
use crate::{
    page::{PageText, TextBlock},
    url_key::FingerprintHasher,
};

/// Memory of an entry, with the free places of the table.
const ENTRY_BYTES: usize = 16;

/// The sample of the blocks is chosen by this part of their hashes.
const SAMPLE_BITS: u32 = 0xff;

/// Pages of a place from which on it has a frame: blocks of more than half of them.
const MIN_PAGES_OF_PLACE: u32 = 5;

/// Pages of the site from which on it has a frame: blocks of more than a quarter of them.
const MIN_PAGES_OF_SITE: u32 = 40;

/// The blocks of all pages.
#[derive(Debug)]
pub(super) struct BlockTable {
    /// Number of pages, by place and block.
    counts: HashMap<u32, u16, BuildHasherDefault<KeyHasher>>,
    /// Pages of each place.
    pages: HashMap<u64, u32, BuildHasherDefault<FingerprintHasher>>,
    max_entries: usize,
    /// Only blocks whose hashes have no such bit are compared.
    mask: u32,
}

/// Where pages are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockScope {
    Site,
    /// The directory with this hash.
    Directory(u64),
}

/// A part of the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextShare {
    part: u32,
    all: u32,
}

impl TextShare {
    /// Whether it is at least half.
    pub(super) fn is_half(self) -> bool {
        self.part * 2 >= self.all
    }
}

/// The place of the whole site.
pub(super) const SITE: u64 = 0;

impl BlockTable {
    /// A table that takes about so many bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            counts: HashMap::default(),
            pages: HashMap::default(),
            max_entries: max_bytes / ENTRY_BYTES,
            mask: 0,
        }
    }

    /// The part of a page, the frame left out, that no page has in `scope`; `None`: all of it is frame, or outside of the
    /// sample. `path` is the place of a page with a query.
    pub(super) fn new_share(
        &self,
        scope: BlockScope,
        path: Option<u64>,
        text: &PageText,
    ) -> Option<TextShare> {
        let place = match scope {
            BlockScope::Site => SITE,
            BlockScope::Directory(directory) => directory,
        };
        let own = path.filter(|_| scope == BlockScope::Site).unwrap_or(place);
        self.share(text, own, |block| self.count(place, *block) == 0)
    }

    /// The blocks of a page that are compared, but for the frame of the site.
    pub(super) fn without_frame<'a>(
        &'a self,
        text: &'a PageText,
    ) -> impl Iterator<Item = &'a TextBlock> {
        let pages = self.pages.get(&SITE).copied().unwrap_or_default();
        self.sample(text).filter(move |block| {
            pages < MIN_PAGES_OF_SITE || self.count(SITE, **block) * 4 <= pages
        })
    }

    /// The part of a page with the frames of the site and of `place` left out.
    fn share(
        &self,
        text: &PageText,
        place: u64,
        is_of_part: impl Fn(&TextBlock) -> bool,
    ) -> Option<TextShare> {
        let pages_of = |place| self.pages.get(&place).copied().unwrap_or_default();
        let (of_place, of_site) = (pages_of(place), pages_of(SITE));
        let is_frame = |block: &TextBlock| {
            of_site >= MIN_PAGES_OF_SITE && self.count(SITE, *block) * 4 > of_site
                || of_place >= MIN_PAGES_OF_PLACE && self.count(place, *block) * 2 > of_place
        };
        let mut share = TextShare { part: 0, all: 0 };
        let mut has_sample = text.blocks.is_empty();
        for block in self.sample(text) {
            has_sample = true;
            if !is_frame(block) {
                share.all += u32::from(block.weight);
                share.part += u32::from(block.weight) * u32::from(is_of_part(block));
            }
        }
        if share.all == 0 {
            // A page of nothing but frame says nothing.
            let all = TextShare { part: 0, all: 1 };
            return has_sample.then_some(all);
        }
        Some(share)
    }

    /// Takes a page.
    pub(super) fn take(&mut self, places: &UrlPlaces, text: &PageText) {
        let mut of_page = vec![SITE];
        of_page.extend(places.path);
        if places.path.is_none() {
            of_page.extend(&places.directories);
        }
        for place in of_page {
            *self.pages.entry(place).or_default() += 1;
            for block in text
                .blocks
                .iter()
                .filter(|block| block.hash & self.mask == 0)
            {
                let count = self.counts.entry(key(place, *block)).or_default();
                *count = count.saturating_add(1);
            }
        }
        while self.counts.len() > self.max_entries && self.mask != SAMPLE_BITS {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.counts.retain(|key, _| key & mask == 0);
        }
    }

    fn sample<'t>(&self, text: &'t PageText) -> impl Iterator<Item = &'t TextBlock> {
        let mask = self.mask;
        text.blocks
            .iter()
            .filter(move |block| block.hash & mask == 0)
    }

    /// Pages of a place with a block.
    pub(super) fn count(&self, place: u64, block: TextBlock) -> u32 {
        let count = self.counts.get(&key(place, block)).copied();
        count.unwrap_or_default().into()
    }
}

/// The key of a block in a place. The bits that samples are chosen by stay as they are.
fn key(place: u64, block: TextBlock) -> u32 {
    let mixed = (place ^ u64::from(block.hash)).wrapping_mul(MIXER);
    let high = upper_half(mixed);
    high & !SAMPLE_BITS | block.hash & SAMPLE_BITS
}

/// The upper half of a hash.
fn upper_half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// Odd, with half of its bits set.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes keys that are hashes themselves, some of whose bits are alike.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = (self.0 ^ u64::from(key)).wrapping_mul(MIXER);
    }
}
