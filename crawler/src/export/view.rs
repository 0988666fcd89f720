//! The merged view over the store: [`Merging`] applied to each URL.

use std::ops::ControlFlow;

use jiff::Timestamp;

use crate::{
    crawl_state::{self, Phase},
    store::{Shown, Store, StoreError},
    url_key::UrlKey,
    verdict::{Judge, Merged, Merging, Mode, Rows},
};

/// The merged view of a state.
#[derive(Debug)]
pub struct MergedView<'s> {
    store: &'s Store,
    judge: Judge,
    mode: Mode,
}

/// Receives a URL with its rows and its place in the view; returns whether to go on.
pub type EachMerged<'v, E> =
    dyn FnMut(&UrlKey, &Rows, Option<Merged>) -> Result<ControlFlow<()>, E> + 'v;

impl Mode {
    /// The mode of a state: the visits of an open crawl count; those of a refused one only when that is `forced`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(store: &Store, forced: bool) -> Result<Self, StoreError> {
        let counts = match crawl_state::phase(store)? {
            Phase::Open => true,
            Phase::Refused => forced,
            Phase::Finished => false,
        };
        Ok(if !counts {
            Self::AtRest
        } else if crawl_state::is_fresh(store)? {
            Self::Fresh
        } else {
            Self::Crawl
        })
    }
}

impl<'s> MergedView<'s> {
    /// The view of `store` by the rules of `judge` at `now`.
    pub fn new(store: &'s Store, judge: &Judge, mode: Mode, now: Timestamp) -> Self {
        Self {
            store,
            judge: judge.at(now),
            mode,
        }
    }

    /// The rules of the view.
    pub(crate) fn judge(&self) -> &Judge {
        &self.judge
    }

    /// One URL in the view; `None`: the view does not have it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(&self, key: &UrlKey) -> Result<Option<Merged>, StoreError> {
        self.merge(key, &self.rows(key)?)
    }

    /// The rows of one URL.
    pub(crate) fn rows(&self, key: &UrlKey) -> Result<Rows, StoreError> {
        let (page, visit) = self.store.rows(key)?;
        Ok(Rows { page, visit })
    }

    fn merge(&self, key: &UrlKey, rows: &Rows) -> Result<Option<Merged>, StoreError> {
        let merging = Merging {
            judge: &self.judge,
            mode: self.mode,
        };
        merging.merge(key, rows, &mut |target| self.rows(target))
    }

    /// Visits every URL that has a row, in key order from `from` (included) on.
    ///
    /// # Errors
    /// The store failed, or `show` did.
    pub fn each<E: From<StoreError>>(
        &self,
        from: Option<&UrlKey>,
        show: &mut EachMerged<'_, E>,
    ) -> Result<(), E> {
        let mut failure = None;
        self.store.each(from, Shown::Whole, &mut |stored| {
            let rows = Rows {
                page: stored.page()?,
                visit: stored.visit()?,
            };
            let merged = self.merge(&stored.key, &rows)?;
            let shown = show(&stored.key, &rows, merged);
            Ok(shown.unwrap_or_else(|error| {
                failure = Some(error);
                ControlFlow::Break(())
            }))
        })?;
        failure.map_or(Ok(()), Err)
    }
}
