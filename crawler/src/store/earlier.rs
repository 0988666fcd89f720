//! The data on a queued URL from before its request: validators for a conditional request, the facts that a 304 confirms, and the
//! times of earlier failures, which decide whether a page may leave the set.

use crate::page::PageFacts;

/// The data of the page row of a queued URL.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// The page is listed.
    pub was_listed: bool,
    /// The last good answer without long lists: links, feeds and the blocks of its text are empty ([`Store::lists`](super::Store::lists) has them),
    /// and so are images and versions in other languages where they were looked for.
    pub answer: Option<Box<PageFacts>>,
}
