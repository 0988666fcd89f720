//! The blocks of text that pages had so far. Bounded: when there is no room for more, all comparisons are made by half of the blocks,
//! chosen by their hashes.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::BuildHasherDefault,
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

/// The frame of the site: blocks of more pages than this, and of more than a quarter of them.
const MIN_PAGES: u32 = 4;

/// The blocks of all pages.
#[derive(Debug)]
pub(super) struct BlockTable {
    seen: HashMap<u32, Seen, BuildHasherDefault<FingerprintHasher>>,
    pages: u32,
    /// Blocks of single pages, in order: those whose hashes have no bit of the mask.
    alone: HashMap<u64, AlonePage, BuildHasherDefault<FingerprintHasher>>,
    max_entries: usize,
    /// Only blocks whose hashes have no such bit are compared.
    mask: u32,
}

/// The blocks of a page, with their numbers, as far as their hashes have no bit of the mask.
type AlonePage = (u32, Box<[(u32, u16)]>);

/// The pages with a block.
#[derive(Debug, Clone, Copy)]
struct Seen {
    pages: u16,
    /// The fewest parameters of one of them.
    parameters: u8,
}

impl BlockTable {
    /// A table that takes about so many bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            seen: HashMap::default(),
            pages: 0,
            alone: HashMap::default(),
            max_entries: max_bytes / ENTRY_BYTES,
            mask: 0,
        }
    }

    /// Takes a page whose URL has so many parameters. Returns whether at least half of its text, the frame of the site left out, was on
    /// no page before that has as many parameters or fewer.
    pub(super) fn add_page(&mut self, text: &PageText, parameters: usize) -> bool {
        let parameters = u8::try_from(parameters).unwrap_or(u8::MAX);
        let frame = self.frame();
        let (mut new, mut all) = (0, 0);
        for block in sample(text, self.mask) {
            let weight = u32::from(block.weight);
            match self.seen.entry(block.hash) {
                Entry::Occupied(mut entry) => {
                    let seen = entry.get_mut();
                    if u32::from(seen.pages) <= frame {
                        all += weight;
                        new += weight * u32::from(seen.parameters > parameters);
                    }
                    seen.pages = seen.pages.saturating_add(1);
                    seen.parameters = seen.parameters.min(parameters);
                }
                Entry::Vacant(entry) => {
                    entry.insert(Seen {
                        pages: 1,
                        parameters,
                    });
                    all += weight;
                    new += weight;
                }
            }
        }
        self.pages += 1;
        while self.seen.len() > self.max_entries && self.mask != SAMPLE_BITS {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.seen.retain(|hash, _| hash & mask == 0);
        }
        all > 0 && new * 2 >= all
    }

    /// Returns whether at least four fifths of the text of a page, the frame of the site left out, are on the page `other`, with the same
    /// numbers; `None`: that page is not known.
    pub(super) fn is_on_page(&self, other: u64, text: &PageText) -> Option<bool> {
        let (mask, blocks) = self.alone.get(&other)?;
        let (mut known, mut all) = (0, 0);
        for block in self.without_frame(text) {
            if block.hash & mask == 0 {
                let weight = u32::from(block.weight);
                all += weight;
                let block = (block.hash, block.numbers);
                known += weight * u32::from(blocks.binary_search(&block).is_ok());
            }
        }
        Some(all > 0 && known * 5 >= all * 4)
    }

    /// Takes the page `page` for [`BlockTable::is_on_page`], while there is room.
    pub(super) fn take_alone(&mut self, page: u64, text: &PageText) {
        if self.alone.len() * MAX_ALONE >= self.max_entries {
            return;
        }
        let mask = mask_of(text, self.mask, MAX_ALONE);
        let blocks = sample(text, mask).map(|block| (block.hash, block.numbers));
        self.alone.insert(page, (mask, blocks.collect()));
    }

    /// The blocks of a page that are compared, but for the frame of the site.
    pub(super) fn without_frame<'a>(
        &'a self,
        text: &'a PageText,
    ) -> impl Iterator<Item = &'a TextBlock> {
        let frame = self.frame();
        sample(text, self.mask).filter(move |block| {
            let seen = self.seen.get(&block.hash);
            seen.is_none_or(|seen| u32::from(seen.pages) <= frame)
        })
    }

    /// A block of more pages is of the frame of the site.
    fn frame(&self) -> u32 {
        let most = u32::from(u16::MAX - 1);
        MIN_PAGES.max(self.pages / 4).min(most)
    }
}

/// The mask, of `mask` or more bits, by which at most `limit` blocks are left.
fn mask_of(text: &PageText, mut mask: u32, limit: usize) -> u32 {
    if text.blocks.len() > limit {
        while sample(text, mask).count() > limit && mask != u32::MAX {
            mask = mask << 1 | 1;
        }
    }
    mask
}

/// The blocks whose hashes have no bit of `mask`.
fn sample(text: &PageText, mask: u32) -> impl Iterator<Item = &TextBlock> {
    let blocks = text.blocks.iter();
    blocks.filter(move |block| block.hash & mask == 0)
}
