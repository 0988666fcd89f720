//! The page that a site shows for URLs that do not exist: known by the blocks that its answers to such URLs share, as far as they are
//! neither on the start page nor on most pages that the start page leads to. A page is this one when it has three quarters of them: besides,
//! such a page may show something else each time. Where the answers are 404, it must have little else.

use crate::page::{PageText, TextBlock};

/// Pages that the start page leads to and that are looked at.
const REFERENCES: usize = 8;

/// References that are needed while the crawl goes on.
const MIN_REFERENCES: usize = 5;

/// Blocks from which on a text shows by which part of their hashes it was sampled.
const MIN_SAMPLE: usize = 16;

/// The data on that page.
#[derive(Debug, Default)]
pub(super) struct NotFoundText {
    start: Option<Vec<TextBlock>>,
    references: Vec<Vec<TextBlock>>,
    answers: Option<[PageText; 3]>,
    /// The answers are 200.
    are_found: bool,
    /// The blocks that all answers have and other pages do not.
    blocks: Vec<u32>,
}

impl NotFoundText {
    /// Takes the text of the start page.
    pub(super) fn take_start(&mut self, text: &PageText) {
        self.start = Some(text.blocks.clone());
        self.update();
    }

    /// Takes a page that the start page leads to.
    pub(super) fn take_reference(&mut self, text: &PageText) {
        if self.references.len() < REFERENCES {
            self.references.push(text.blocks.clone());
            self.update();
        }
    }

    /// Takes the answers to URLs that cannot exist, which are 200, or 404.
    pub(super) fn take_answers(&mut self, answers: [PageText; 3], are_found: bool) {
        self.answers = Some(answers);
        self.are_found = are_found;
        self.update();
    }

    /// Returns whether a page is one of them, as far as that is sure while the crawl goes on.
    pub(super) fn is_like(&self, text: &PageText) -> bool {
        self.references.len() >= MIN_REFERENCES && self.is_like_at_end(text)
    }

    /// Returns whether a page is one of them.
    pub(super) fn is_like_at_end(&self, text: &PageText) -> bool {
        let mask = mask_of(&text.blocks);
        let expected = self.blocks.iter().filter(|block| **block & mask == 0);
        let found = expected.clone().filter(|block| has(&text.blocks, **block));
        // One of many may be what all answers showed by chance.
        let (found, expected) = (found.count(), expected.count());
        if found == 0 || found * 4 < expected * 3 {
            return false;
        }
        if self.are_found {
            return true;
        }
        let (mut known, mut all) = (0, 0);
        for block in text.blocks.iter().filter(|it| !self.is_around(it.hash)) {
            all += u32::from(block.weight);
            known += u32::from(block.weight) * u32::from(self.blocks.contains(&block.hash));
        }
        known > 0 && known * 4 >= all * 3
    }

    /// Returns whether a block is on the start page, or on most pages that it leads to.
    fn is_around(&self, block: u32) -> bool {
        let references = &self.references;
        let with_it = references.iter().filter(|blocks| has(blocks, block));
        with_it.count() * 2 > references.len()
            || self.start.as_ref().is_some_and(|start| has(start, block))
    }

    fn update(&mut self) {
        let (Some([first, others @ ..]), Some(_)) = (&self.answers, &self.start) else {
            return;
        };
        let shared = first.blocks.iter().filter(|block| {
            let mut others = others.iter();
            let has_it = |it: &TextBlock| (it.hash, it.numbers) == (block.hash, block.numbers);
            others.all(|other| other.blocks.iter().any(has_it)) && !self.is_around(block.hash)
        });
        self.blocks = shared.map(|block| block.hash).collect();
    }
}

/// Returns whether a page has a block.
fn has(blocks: &[TextBlock], hash: u32) -> bool {
    blocks
        .binary_search_by_key(&hash, |block| block.hash)
        .is_ok()
}

/// The bits that no hash of a sample has.
fn mask_of(blocks: &[TextBlock]) -> u32 {
    if blocks.len() < MIN_SAMPLE {
        return 0;
    }
    let bits = blocks.iter().fold(0, |bits, block| bits | block.hash);
    (1_u32 << bits.trailing_zeros().min(31)) - 1
}
