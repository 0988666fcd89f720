//! What a URL that waits was before the work on it began: what a conditional request needs, what a 304 confirms, and what
//! has to be known before a page may leave the set.

use crate::page::PageFacts;

/// What the page row of a queued URL says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// It is listed.
    pub was_listed: bool,
    /// Its last good answer without long lists: links and feeds are empty ([`Store::links`](super::Store::links) has them),
    /// and so are images and versions in other languages where they were looked for.
    pub answer: Option<Box<PageFacts>>,
}
