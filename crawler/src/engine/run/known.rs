//! The URLs that a crawl knows: which, how many wait, and the place of the next one in the queue.

use super::unvisited::Unvisited;
use crate::{frontier::Seen, url_key::UrlKey};

/// The URLs of a crawl.
pub(super) struct Known {
    seen: Seen,
    next_sequence: u64,
    /// URLs waiting or in flight.
    waiting: u64,
    /// URLs given up after their tries.
    failed: u64,
    /// Listed pages that the crawl does not know yet.
    pub(super) unvisited: Unvisited,
}

impl Known {
    /// What the crawl knew when the session began.
    pub(super) fn new(
        seen: Seen,
        next_sequence: u64,
        waiting: u64,
        failed: u64,
        unvisited: Unvisited,
    ) -> Self {
        Self {
            seen,
            next_sequence,
            waiting,
            failed,
            unvisited,
        }
    }

    /// Whether the crawl knows `url`.
    pub(super) fn contains(&self, url: &UrlKey) -> bool {
        self.seen.contains(url)
    }

    /// Adds `url`, and gives its place in the queue.
    pub(super) fn add(&mut self, url: &UrlKey, is_queued: bool) -> u64 {
        self.seen.insert(url);
        self.waiting += u64::from(is_queued);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        sequence
    }

    /// Takes note that a URL does not wait any more.
    pub(super) fn decide(&mut self, is_failed: bool) {
        self.waiting = self.waiting.saturating_sub(1);
        self.failed += u64::from(is_failed);
    }

    /// Known URLs.
    pub(super) fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// URLs waiting or in flight.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// URLs given up after their tries.
    pub(super) fn failed(&self) -> u64 {
        self.failed
    }
}
