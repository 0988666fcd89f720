//! The page that a site shows for URLs that do not exist, where it does not answer 404: known by the blocks that its answers to
//! such URLs share, as far as they are neither on the start page nor on most pages that the start page leads to.

use crate::page::{PageText, TextBlock};

/// Pages that the start page leads to and that are looked at.
const REFERENCES: usize = 8;

/// References that are needed while the crawl goes on.
const MIN_REFERENCES: usize = 5;

/// The data on that page.
#[derive(Debug, Default)]
pub(super) struct NotFoundText {
    start: Option<PageText>,
    references: Vec<Vec<TextBlock>>,
    answers: Option<[PageText; 3]>,
    /// The blocks that all answers have and other pages do not.
    blocks: Vec<u32>,
    /// The start page answers for URLs that do not exist.
    is_start: bool,
}

impl NotFoundText {
    /// Takes the text of the start page.
    pub(super) fn take_start(&mut self, text: &PageText) {
        self.start = Some(text.clone());
        self.update();
    }

    /// Takes a page that the start page leads to.
    pub(super) fn take_reference(&mut self, text: &PageText) {
        if self.references.len() < REFERENCES {
            self.references.push(text.blocks.clone());
            self.update();
        }
    }

    /// Takes the answers to URLs that cannot exist.
    pub(super) fn take_answers(&mut self, answers: [PageText; 3]) {
        self.answers = Some(answers);
        self.update();
    }

    /// Returns whether a page is one of them, as far as that is sure while the crawl goes on.
    pub(super) fn is_like(&self, text: &PageText) -> bool {
        (self.is_start || self.references.len() >= MIN_REFERENCES) && self.is_like_at_end(text)
    }

    /// Returns whether a page is one of them.
    pub(super) fn is_like_at_end(&self, text: &PageText) -> bool {
        if self.is_start {
            return self
                .start
                .as_ref()
                .is_some_and(|start| start.whole == text.whole);
        }
        // One of many may be what all answers showed by chance.
        let shared = self.blocks.iter();
        let shared = shared.filter(|block| has(&text.blocks, **block)).count();
        shared > 0 && shared * 4 >= self.blocks.len() * 3
    }

    fn update(&mut self) {
        let (Some(answers), Some(start)) = (&self.answers, &self.start) else {
            return;
        };
        self.is_start = answers.iter().all(|answer| answer.whole == start.whole);
        let [first, others @ ..] = answers;
        let shared = first.blocks.iter().map(|block| block.hash);
        let shared = shared.filter(|block| {
            others.iter().all(|other| has(&other.blocks, *block)) && !has(&start.blocks, *block)
        });
        let references = &self.references;
        let is_of_most = |block: u32| {
            let pages = references.iter().filter(|blocks| has(blocks, block));
            pages.count() * 2 > references.len()
        };
        self.blocks = shared.filter(|block| !is_of_most(*block)).collect();
    }
}

/// Returns whether a page has a block.
fn has(blocks: &[TextBlock], hash: u32) -> bool {
    blocks
        .binary_search_by_key(&hash, |block| block.hash)
        .is_ok()
}
