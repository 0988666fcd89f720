//! The listed pages that nothing of a crawl led to. The store brings them by portions when the queue is drained, and each
//! is queued: that no link leads to a page any more does not mean that the page is gone.

use crate::{
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// URLs of one portion at most.
const PORTION: usize = 2_048;

/// A walk over the listed pages without a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unvisited {
    /// After this URL, or from the start.
    After(Option<UrlKey>),
    /// A portion is on its way.
    Loading,
    /// All of them were queued.
    Done,
}

/// The question to the store: the portion after this URL, or the first.
pub(super) struct PortionAfter(Option<UrlKey>);

impl PortionAfter {
    /// Reads the portion from `store`: URLs with their depth.
    pub(super) fn read(&self, store: &Store) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        store.unvisited(self.0.as_ref(), PORTION)
    }
}

impl Unvisited {
    /// A walk from the start, or none.
    pub(super) fn new(is_needed: bool) -> Self {
        if is_needed {
            Self::After(None)
        } else {
            Self::Done
        }
    }

    /// Returns whether nothing is left to queue.
    pub(super) fn is_over(&self) -> bool {
        *self == Self::Done
    }

    /// Returns whether the store can be asked for a portion.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(self, Self::After(_))
    }

    /// The portion that the store is asked for now.
    pub(super) fn next_portion(&mut self) -> Option<PortionAfter> {
        match std::mem::replace(self, Self::Loading) {
            Self::After(after) => Some(PortionAfter(after)),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Takes note of the portion that the store brought.
    pub(super) fn arrived(&mut self, portion: &[(UrlKey, u32)]) {
        *self = match portion.last() {
            Some((last, _)) if portion.len() >= PORTION => Self::After(Some(last.clone())),
            Some(_) | None => Self::Done,
        };
    }
}
