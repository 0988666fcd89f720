//! What a URL that waits was before the work on it began: what a conditional request needs, what a 304 confirms, and what
//! has to be known before a page may leave the set.

use crate::page::PageFacts;

/// What the page row of a queued URL says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// It is listed.
    pub was_listed: bool,
    /// Its last good answer. Lists of images and of versions in other languages are empty where it has one:
    /// [`Store::page`](super::Store::page) has them.
    pub answer: Option<PageFacts>,
    /// Where its links are, for [`Store::links`](super::Store::links).
    pub links: Option<i64>,
}
