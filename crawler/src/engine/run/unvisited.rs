//! The listed pages that nothing of a crawl led to. The store brings them by portions when the queue is drained, and each
//! is queued: that no link leads to a page any more does not mean that the page is gone.

use super::Run;
use crate::{
    page::{Reason, Via},
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
    Away,
    /// All of them were queued.
    Over,
}

/// What the store is asked: the portion after this URL, or the first.
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
            Self::Over
        }
    }

    /// Whether nothing is left to queue.
    pub(super) fn is_over(&self) -> bool {
        *self == Self::Over
    }

    /// The portion that the store is asked for now.
    pub(super) fn ask(&mut self) -> Option<PortionAfter> {
        match std::mem::replace(self, Self::Away) {
            Self::After(after) => Some(PortionAfter(after)),
            other => {
                *self = other;
                None
            }
        }
    }

    fn arrived(&mut self, portion: &[(UrlKey, u32)]) {
        *self = match portion.last() {
            Some((last, _)) if portion.len() >= PORTION => Self::After(Some(last.clone())),
            Some(_) | None => Self::Over,
        };
    }
}

impl Run<'_> {
    /// Whether the next portion is wanted: nothing else is left to do, and the store knows of all visits.
    pub(super) fn wants_unvisited(&self) -> bool {
        self.end.ending.is_none()
            && matches!(self.known.unvisited, Unvisited::After(_))
            && self.commits.is_empty()
            && self.frontier_is_drained()
    }

    /// Queues a portion.
    pub(super) fn take_unvisited(&mut self, portion: Vec<(UrlKey, u32)>) {
        self.known.unvisited.arrived(&portion);
        for (url, depth) in portion {
            if self.known.contains(&url) {
                continue;
            }
            let Some(reason) = self.rules.judge().before_fetch(&url, depth) else {
                continue;
            };
            let sequence = self.note(&url, reason, depth, 0, Via::Earlier, None);
            if reason == Reason::Queued {
                self.offer(sequence, url, depth, 0);
            }
        }
    }
}
