//! The listed pages that nothing of a crawl led to. The store brings them by portions when the queue is drained, and each
//! is queued: that no link leads to a page any more does not mean that the page is gone.

use std::ops::ControlFlow;

use crate::{
    store::{Shown, Store, StoreError},
    url_key::UrlKey,
};

/// URLs of one portion at most.
pub(super) const PORTION: usize = 2_048;

/// A walk over pages of the store by portions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoreWalk {
    /// After this URL, or from the start.
    After(Option<UrlKey>),
    /// A portion is on its way.
    Loading,
    /// It is over.
    Done,
}

/// The question to the store: the portion after this URL, or the first.
pub(super) struct PortionAfter(pub(super) Option<UrlKey>);

impl PortionAfter {
    /// Reads the portion of the listed pages that have no visit from `store`: URLs with their depth.
    pub(super) fn unvisited(&self, store: &Store) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        unvisited(store, self.0.as_ref(), PORTION)
    }
}

/// The first `limit` listed pages after `after` that have no visit, with their depth.
pub(super) fn unvisited(
    store: &Store,
    after: Option<&UrlKey>,
    limit: usize,
) -> Result<Vec<(UrlKey, u32)>, StoreError> {
    let mut found = Vec::new();
    store.each(after, Shown::Outline, &mut |rows| {
        if after != Some(&rows.key)
            && !rows.has_visit()
            && rows.is_listed()?
            && let Some(page) = rows.page()?
        {
            found.push((rows.key.clone(), page.record.depth));
        }
        Ok(if found.len() < limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(found)
}

impl StoreWalk {
    /// A walk from the start, or none.
    pub(super) fn new(is_needed: bool) -> Self {
        if is_needed {
            Self::After(None)
        } else {
            Self::Done
        }
    }

    /// Returns whether it is over.
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

    /// Takes note of the portion that the store brought; the next one comes after this URL, if there is one.
    pub(super) fn arrived(&mut self, last: Option<&UrlKey>) {
        *self = last.map_or(Self::Done, |last| Self::After(Some(last.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        page::{Page, PageFacts, Reason},
        store::{
            PageLinks, PageRow,
            tests::fixture::{answered, commit, queued_at},
        },
    };

    #[test]
    fn listed_pages_without_a_visit_come_in_portions() {
        let key = |path: &str| UrlKey::from_normalised(path).unwrap();
        let mut store = Store::in_memory().unwrap();
        let row = |(path, depth, reason): (&str, u32, Reason)| {
            let mut record = answered(PageFacts::default());
            (record.reason, record.depth) = (reason, depth);
            PageRow {
                key: key(path),
                page: Page {
                    record,
                    crawl: Some(1),
                    first_seen: jiff::Timestamp::UNIX_EPOCH,
                    last_seen: jiff::Timestamp::UNIX_EPOCH,
                    dates: None,
                },
                links: PageLinks::Own,
                promotion: None,
            }
        };
        commit(&mut store, |commit| {
            commit.discovered = vec![queued_at(1, key("https://a.example/visited"))];
            commit.pages = [
                ("https://a.example/", 0, Reason::Listed),
                ("https://a.example/noindex", 1, Reason::Noindex),
                ("https://a.example/visited", 1, Reason::Listed),
                ("https://a.example/x", 2, Reason::Listed),
                ("https://a.example.org/", 3, Reason::Listed),
            ]
            .map(row)
            .into();
        });
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let portion = unvisited(&store, after.as_ref(), 2).unwrap();
            let Some((last, _)) = portion.last() else {
                break;
            };
            after = Some(last.clone());
            found.extend(portion.iter().map(|(url, depth)| (url.to_string(), *depth)));
        }
        let expected = [
            "https://a.example/",
            "https://a.example/x",
            "https://a.example.org/",
        ];
        assert!(
            found.iter().map(|(url, _)| url.as_str()).eq(expected),
            "{found:?}"
        );
        assert!(found.iter().map(|(_, depth)| *depth).eq([0, 2, 3]));
    }
}
