//! Walks over URLs of the store that are asked again: those that were listed and that nothing leads to any more, and
//! those that were confirmed before it was known that this means nothing. A portion at a time, and only puts URLs into the
//! queue.

use crate::{
    engine::run::Run,
    page::{Reason, Via},
    store::{QueuedUrl, Store, StoreError},
    url_key::UrlKey,
};

/// URLs that one trip brings back of those that are asked again at most.
pub(super) const WALK_URLS: usize = 2_048;

/// A walk over URLs of the store, a portion at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Walk {
    /// Behind this URL, or from the start.
    Behind(Option<UrlKey>),
    /// A portion is on its way.
    Away,
    Over,
}

/// What a walk asks for next: URLs behind this one, or from the start.
pub(super) struct Portion {
    pub(super) after: Option<UrlKey>,
}

impl Walk {
    pub(super) fn is_over(&self) -> bool {
        *self == Self::Over
    }

    /// Where the next portion begins, which is on its way from now on.
    pub(super) fn next(&mut self) -> Option<Portion> {
        match std::mem::replace(self, Self::Away) {
            Self::Behind(after) => Some(Portion { after }),
            other => {
                *self = other;
                None
            }
        }
    }

    /// A portion of `urls`, at most [`WALK_URLS`], arrived; `last` is the last of them. A walk that was begun anew meanwhile
    /// stays so.
    pub(super) fn arrived(&mut self, last: Option<&UrlKey>, urls: usize) {
        if *self == Self::Away {
            *self = match last {
                Some(last) if urls >= WALK_URLS => Self::Behind(Some(last.clone())),
                Some(_) | None => Self::Over,
            };
        }
    }
}

/// Whether nothing but the start URL of an earlier run, or its redirects, led to `url` when it was asked last.
///
/// # Errors
/// The store cannot be read.
pub(in crate::engine::run) fn was_start(
    store: &dyn Store,
    url: &UrlKey,
) -> Result<bool, StoreError> {
    Ok(store.page(url)?.is_some_and(|record| record.is_start()))
}

impl Run<'_> {
    /// Whether the store is wanted for a walk, and may be asked.
    pub(in crate::engine::run) fn wants_walk(&self) -> bool {
        self.ending.is_none()
            && (matches!(self.recrawl.confirmed, Walk::Behind(_)) || self.wants_left_behind())
    }

    /// Whether nothing more will lead to those that are left behind, and all that did is stored.
    pub(super) fn wants_left_behind(&self) -> bool {
        matches!(self.recrawl.left_behind, Walk::Behind(_))
            && self.pending_effects() == 0
            && self.frontier_is_drained()
    }

    /// Nothing of this run led to `url`, which was listed, or stands in the published set that another state made; that does
    /// not mean that it is gone.
    pub(super) fn ask_left_behind(&mut self, url: &UrlKey, depth: u32) {
        if self.seen.contains(url) {
            return;
        }
        let Some(reason) = self.judge.before_fetch(url, depth) else {
            return;
        };
        let sequence = self.note(url, reason, depth, 0, Via::Earlier, None);
        if reason == Reason::Queued {
            self.frontier.offer(QueuedUrl {
                sequence,
                key: url.clone(),
                depth,
                hops: 0,
                earlier: None,
            });
        }
    }

    /// `url` was confirmed by an answer that may mean nothing.
    pub(super) fn ask_again(&mut self, url: UrlKey, depth: u32) {
        if self.recrawl.honesty.believes(&url) {
            return;
        }
        let queued = QueuedUrl {
            sequence: self.next_sequence,
            key: url,
            depth,
            hops: 0,
            earlier: None,
        };
        self.next_sequence += 1;
        self.queued += 1;
        // A page that is fetched twice counts once.
        self.fetched = self.fetched.saturating_sub(1);
        self.frontier.offer(queued.clone());
        self.pending.requeued.push(queued);
    }
}
