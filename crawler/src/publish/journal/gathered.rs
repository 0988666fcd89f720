//! What a set changes whose entries come in no order, as those of its files do: sections and directories lie within
//! each other. The store puts them into the order of keys, so that neither the number of the files nor that of their
//! entries costs memory.

use std::collections::VecDeque;

use super::{CHUNK, Journal, Known, start};
use crate::{
    page::RunId,
    publish::PublishRequest,
    store::{
        Commit, Store, StoreError,
        outbox::{Difference, Listing, OutboxStep, UrlChange},
    },
    url_key::UrlKey,
};

/// Entries that are gathered, for the step of [`take`](super::take).
pub(in crate::publish) struct Gathered {
    run: RunId,
    journal: Journal,
    found: Vec<Difference>,
}

impl Gathered {
    /// Begins with nothing.
    ///
    /// # Errors
    /// The store failed.
    pub(in crate::publish) fn start(
        store: &mut dyn Store,
        request: &PublishRequest<'_>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            run: request.run,
            journal: start(store, request.run)?,
            found: Vec::new(),
        })
    }

    /// Takes in one entry.
    ///
    /// # Errors
    /// The store failed; what is staged counts no more than before.
    pub(in crate::publish) fn add(
        &mut self,
        store: &mut dyn Store,
        key: UrlKey,
        lastmod: Option<String>,
    ) -> Result<(), StoreError> {
        self.found.push(Difference {
            key,
            change: None,
            listing: Some(Listing {
                lastmod,
                content: None,
            }),
        });
        if self.found.len() < CHUNK {
            return Ok(());
        }
        self.stage(store)
    }

    /// Compares all with what is remembered of the set before, in the order of keys. A file says nothing of the contents
    /// of its pages: what is known of one stays, and only URLs that come and go are news.
    ///
    /// # Errors
    /// The store failed; what is staged counts no more than before.
    pub(in crate::publish) fn finish(
        mut self,
        store: &mut dyn Store,
    ) -> Result<Journal, StoreError> {
        self.stage(store)?;
        let mut known = Known::default();
        let mut staged = Staged::default();
        loop {
            let page = staged.take(store)?;
            let key = page.as_ref().map(|page| &page.key);
            while !known.remove_before(store, key, &mut self.found)? {
                self.stage(store)?;
            }
            let Some(Difference { key, listing, .. }) = page else {
                break;
            };
            let before = known.take_if(store, &key)?;
            if before.as_ref().is_some_and(|known| known.content.is_none()) {
                continue;
            }
            let change = before.is_none().then_some(UrlChange::Added);
            let known = before.unwrap_or_default();
            self.found.push(Difference {
                key,
                change,
                listing: listing.map(|listing| Listing {
                    // A list of URLs has none.
                    lastmod: listing.lastmod.or(known.lastmod),
                    content: known.content,
                }),
            });
            if self.found.len() >= CHUNK {
                self.stage(store)?;
            }
        }
        self.stage(store)?;
        Ok(self.journal)
    }

    fn stage(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        let found = std::mem::take(&mut self.found);
        let changes = found.iter().filter_map(|difference| difference.change);
        changes.for_each(|change| self.journal.count(change));
        store.commit(&Commit {
            run: self.run,
            outbox: vec![OutboxStep::Stage(found)],
            ..Commit::default()
        })
    }
}

/// What is staged, read a few thousand URLs ahead. What is staged meanwhile has to lie before what was read.
#[derive(Default)]
struct Staged {
    ahead: VecDeque<Difference>,
    last: Option<UrlKey>,
    is_over: bool,
}

impl Staged {
    fn take(&mut self, store: &dyn Store) -> Result<Option<Difference>, StoreError> {
        if self.ahead.is_empty() && !self.is_over {
            self.ahead = store.staged(self.last.as_ref(), CHUNK)?.into();
            self.is_over = self.ahead.len() < CHUNK;
            if let Some(last) = self.ahead.back() {
                self.last = Some(last.key.clone());
            }
        }
        Ok(self.ahead.pop_front())
    }
}
