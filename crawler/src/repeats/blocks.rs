//! Blocks of text and how many pages have each: on the site, and in each place. Bounded: when there is no room for more, all
//! comparisons are made by half of the blocks, chosen by their hashes.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use crate::{
    page::{PageText, TextBlock},
    url_key::FingerprintHasher,
};

/// Memory of an entry, with the free places of the table.
const ENTRY_BYTES: usize = 16;

/// The sample of the blocks is chosen by this part of their hashes.
const SAMPLE_BITS: u32 = 0xff;

/// Blocks of a page at most by which others are compared with it alone.
const MAX_ALONE: usize = 32;

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
    /// By which blocks others are compared with a page alone: those whose hashes have no bit of this.
    alone: HashMap<u64, u32, BuildHasherDefault<FingerprintHasher>>,
    max_entries: usize,
    /// Only blocks whose hashes have no such bit are compared.
    mask: u32,
}

/// The place of the whole site.
pub(super) const SITE: u64 = 0;

impl BlockTable {
    /// A table that takes about so many bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            counts: HashMap::default(),
            pages: HashMap::default(),
            alone: HashMap::default(),
            max_entries: max_bytes / ENTRY_BYTES,
            mask: 0,
        }
    }

    /// Returns whether at least half of the text of a page, the frame left out, is on no page of `place`; `None`: all of it is outside of
    /// the sample. The frame is that of the site and of the pages at `framed`. A page of nothing but frame has no new text.
    pub(super) fn is_new(&self, place: u64, framed: u64, text: &PageText) -> Option<bool> {
        let pages_of = |place| self.pages.get(&place).copied().unwrap_or_default();
        let (of_place, of_site) = (pages_of(framed), pages_of(SITE));
        let is_frame = |block: &TextBlock| {
            self.is_frame_of_site(*block, of_site)
                || of_place >= MIN_PAGES_OF_PLACE && self.count(framed, *block) * 2 > of_place
        };
        let (mut new, mut all) = (0, 0);
        let mut has_sample = text.blocks.is_empty();
        for block in self.sample(text) {
            has_sample = true;
            if !is_frame(block) {
                let weight = u32::from(block.weight);
                all += weight;
                new += weight * u32::from(self.count(place, *block) == 0);
            }
        }
        has_sample.then_some(all > 0 && new * 2 >= all)
    }

    /// Returns whether more than half of the text of a page, the frame of the site left out, is on the page `other`; `false` also when
    /// that was not taken alone.
    pub(super) fn is_on_page(&self, other: u64, text: &PageText) -> bool {
        let Some(mask) = self.alone.get(&other) else {
            return false;
        };
        let (mut known, mut all) = (0, 0);
        for block in self.without_frame(text) {
            if block.hash & mask == 0 {
                let weight = u32::from(block.weight);
                all += weight;
                known += weight * u32::from(self.count(other, *block) > 0);
            }
        }
        known * 2 > all
    }

    /// Takes the page `page` for [`BlockTable::is_on_page`], while there is room.
    pub(super) fn take_alone(&mut self, page: u64, text: &PageText) {
        if self.alone.len() * MAX_ALONE >= self.max_entries / 4 {
            return;
        }
        let mut mask = self.mask;
        while sample(text, mask).count() > MAX_ALONE && mask != u32::MAX {
            mask = mask << 1 | 1;
        }
        for block in sample(text, mask) {
            self.counts.entry(key(page, *block)).or_insert(1);
        }
        self.alone.insert(page, mask);
    }

    /// Returns whether pages of a place were taken.
    pub(super) fn has_pages(&self, place: u64) -> bool {
        self.pages.contains_key(&place)
    }

    fn is_frame_of_site(&self, block: TextBlock, pages: u32) -> bool {
        pages >= MIN_PAGES_OF_SITE && self.count(SITE, block) * 4 > pages
    }

    /// The blocks of a page that are compared, but for the frame of the site.
    pub(super) fn without_frame<'a>(
        &'a self,
        text: &'a PageText,
    ) -> impl Iterator<Item = &'a TextBlock> {
        let pages = self.pages.get(&SITE).copied().unwrap_or_default();
        self.sample(text)
            .filter(move |block| !self.is_frame_of_site(**block, pages))
    }

    /// Takes a page of the site, which is in `places`.
    pub(super) fn take<'p>(&mut self, places: impl Iterator<Item = &'p u64>, text: &PageText) {
        let mask = self.mask;
        for place in places.copied().chain([SITE]) {
            *self.pages.entry(place).or_default() += 1;
            for block in sample(text, mask) {
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
        sample(text, self.mask)
    }

    /// Pages of a place with a block.
    pub(super) fn count(&self, place: u64, block: TextBlock) -> u32 {
        let count = self.counts.get(&key(place, block)).copied();
        count.unwrap_or_default().into()
    }
}

/// The blocks whose hashes have no bit of `mask`.
fn sample(text: &PageText, mask: u32) -> impl Iterator<Item = &TextBlock> {
    text.blocks
        .iter()
        .filter(move |block| block.hash & mask == 0)
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
