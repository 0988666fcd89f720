//! What a publish changed, URL by URL: added, changed, removed. One pass over the listed pages and what is
//! remembered of the set before, both in the order of the files, in bounded memory.
//!
//! What is found is staged in the store a few thousand URLs at a time, and counts from the commit on that
//! records the manifest: a crash before it leaves nothing, one behind it loses nothing.

mod gathered;

use std::{cmp::Ordering, collections::VecDeque, ops::ControlFlow};

use jiff::Timestamp;

pub(super) use self::gathered::Gathered;
use super::{PublishError, PublishRequest};
use crate::{
    export::{Export, Listed},
    page::RunId,
    store::{
        Commit, Store, StoreError,
        outbox::{
            Difference, Listing, MAX_OUTBOX, OutboxStep, TELLS_ENGINES, Tell, UrlChange, Waiting,
        },
    },
    url_key::UrlKey,
};

/// Differences, and remembered URLs, that are in memory at once.
const CHUNK: usize = 4_096;

/// Name of the state's value that says that there was a publish to compare with: before it, everything
/// would be news.
const ADOPTED: &str = crate::store::names::PUBLISH_JOURNAL;

/// How many URLs of the published set are not as they were in the set before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Journal {
    /// Listed, and were not.
    pub added: u64,
    /// Listed before and now, with another `lastmod` or content.
    pub changed: u64,
    /// Listed no more.
    pub removed: u64,
    /// Nothing was known to compare with: every URL is new, and engines are told of none.
    pub is_first: bool,
}

impl Journal {
    /// URLs that are to be told.
    pub fn news(&self) -> u64 {
        if self.is_first {
            0
        } else {
            self.added + self.changed + self.removed
        }
    }

    fn count(&mut self, change: UrlChange) {
        match change {
            UrlChange::Added => self.added += 1,
            UrlChange::Changed => self.changed += 1,
            UrlChange::Removed => self.removed += 1,
        }
    }
}

/// Stages what the set of `export` changes, for the step of [`take`].
///
/// # Errors
/// The store failed; what is staged counts no more than before.
pub(super) fn stage(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    export: &Export,
) -> Result<Journal, PublishError> {
    let mut journal = start(store, request.run)?;
    let mut known = Known::default();
    let mut from: Option<UrlKey> = None;
    let mut has_pages = true;
    loop {
        let mut found = Vec::new();
        if has_pages {
            let reader: &dyn Store = store;
            let mut next = None;
            export.visit::<PublishError>(reader, from.as_ref(), &mut |listed| {
                if known.compare(reader, &listed, &mut found)? {
                    return Ok(ControlFlow::Continue(()));
                }
                next = Some(listed.key.clone());
                Ok(ControlFlow::Break(()))
            })?;
            has_pages = next.is_some();
            from = next;
        }
        if !has_pages {
            known.remove_before(store, None, &mut found)?;
        }
        let is_over = !has_pages && found.len() < CHUNK;
        let changes = found.iter().filter_map(|difference| difference.change);
        changes.for_each(|change| journal.count(change));
        store.commit(&Commit {
            run: request.run,
            outbox: vec![OutboxStep::Stage(found)],
            ..Commit::default()
        })?;
        if is_over {
            return Ok(journal);
        }
    }
}

/// Begins to stage: what a publish that did not come to its end left is forgotten.
fn start(store: &mut dyn Store, run: RunId) -> Result<Journal, StoreError> {
    store.commit(&Commit {
        run,
        outbox: vec![OutboxStep::Unstage],
        ..Commit::default()
    })?;
    Ok(Journal {
        is_first: store.value(ADOPTED)?.is_none(),
        ..Journal::default()
    })
}

/// What makes true what was staged, and the value that goes with it.
///
/// # Errors
/// The store failed.
pub(super) fn take(
    store: &dyn Store,
    now: Timestamp,
) -> Result<(OutboxStep, (String, Option<String>)), StoreError> {
    let is_first = store.value(ADOPTED)?.is_none();
    let tells_engines = store.value(TELLS_ENGINES)?.is_some();
    let tell = match (is_first, tells_engines) {
        (true, _) => Tell::Nobody,
        (false, false) => Tell::Newest,
        (false, true) => Tell::All,
    };
    let step = OutboxStep::Take { since: now, tell };
    Ok((step, (ADOPTED.to_owned(), Some("1".to_owned()))))
}

/// Copies to the fresh state of a site what is remembered of the published set, and what waits to be
/// told; the values that go with it.
///
/// # Errors
/// A store failed.
pub(super) fn carry_over(
    old: &dyn Store,
    new: &mut dyn Store,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    let mut known = Known::default();
    loop {
        let mut found = Vec::new();
        while found.len() < CHUNK
            && let Some((key, listing)) = known.take(old)?
        {
            found.push(Difference {
                key,
                change: None,
                listing: Some(listing),
            });
        }
        if found.is_empty() {
            break;
        }
        let take = OutboxStep::Take {
            since: Timestamp::UNIX_EPOCH,
            tell: Tell::Nobody,
        };
        new.commit(&Commit {
            outbox: vec![OutboxStep::Stage(found), take],
            ..Commit::default()
        })?;
    }
    let mut after = None;
    // Whatever time it is: told or not, all that waits is asked for.
    for _ in 0..=MAX_OUTBOX / CHUNK as u64 {
        let waiting = old.outbox(after.as_ref(), CHUNK, Timestamp::MIN)?;
        let Some(last) = waiting.last() else { break };
        after = Some(Waiting::place(last));
        new.commit(&Commit {
            outbox: vec![OutboxStep::Put(waiting)],
            ..Commit::default()
        })?;
    }
    let adopted = old.value(ADOPTED)?;
    Ok(adopted.map(|value| (ADOPTED.to_owned(), Some(value))))
}

/// What is remembered of the set before, read a few thousand URLs ahead.
#[derive(Debug, Default)]
pub(super) struct Known {
    ahead: VecDeque<(UrlKey, Listing)>,
    last: Option<UrlKey>,
    is_over: bool,
    /// URLs that [`Known::find`] met.
    met: u64,
}

impl Known {
    /// The key of the first that was not taken.
    fn first(&mut self, store: &dyn Store) -> Result<Option<&UrlKey>, StoreError> {
        if self.ahead.is_empty() && !self.is_over {
            self.ahead = store.published(self.last.as_ref(), CHUNK)?.into();
            self.is_over = self.ahead.len() < CHUNK;
            if let Some((key, _)) = self.ahead.back() {
                self.last = Some(key.clone());
            }
        }
        Ok(self.ahead.front().map(|(key, _)| key))
    }

    /// Takes the first.
    fn take(&mut self, store: &dyn Store) -> Result<Option<(UrlKey, Listing)>, StoreError> {
        self.first(store)?;
        Ok(self.ahead.pop_front())
    }

    /// What is remembered of the URL `key`; `None` when it does not stand in it. To be asked in the order of keys; all
    /// before it are met.
    pub(super) fn find(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
    ) -> Result<Option<Listing>, StoreError> {
        while let Some(first) = self.first(store)? {
            let place = first.cmp(key);
            if place == Ordering::Greater {
                return Ok(None);
            }
            self.met += 1;
            let listing = self.ahead.pop_front().map(|(_, listing)| listing);
            if place == Ordering::Equal {
                return Ok(listing);
            }
        }
        Ok(None)
    }

    /// The next URL, in the order of keys.
    pub(super) fn next(&mut self, store: &dyn Store) -> Result<Option<UrlKey>, StoreError> {
        Ok(self.take(store)?.map(|(key, _)| key))
    }

    /// How many URLs it has, when [`Known::find`] was asked for the last time.
    pub(super) fn count(mut self, store: &dyn Store) -> Result<u64, StoreError> {
        while self.take(store)?.is_some() {
            self.met += 1;
        }
        Ok(self.met)
    }

    /// Takes all before `page`, or all there are: they are listed no more. `false`: there was no room in `found`, and
    /// there may be more.
    fn remove_before(
        &mut self,
        store: &dyn Store,
        page: Option<&UrlKey>,
        found: &mut Vec<Difference>,
    ) -> Result<bool, StoreError> {
        while found.len() < CHUNK
            && let Some(key) = self.first(store)?
            && page.is_none_or(|page| key < page)
        {
            found.push(Difference {
                key: key.clone(),
                change: Some(UrlChange::Removed),
                listing: None,
            });
            self.ahead.pop_front();
        }
        Ok(found.len() < CHUNK)
    }

    /// Takes the first if it is the URL `key`.
    fn take_if(&mut self, store: &dyn Store, key: &UrlKey) -> Result<Option<Listing>, StoreError> {
        match self.first(store)? {
            Some(first) if first == key => Ok(self.take(store)?.map(|(_, listing)| listing)),
            Some(_) | None => Ok(None),
        }
    }

    /// Compares a listed page with what is remembered of it; `false` when there is no room for what is
    /// found, and the page has to come again.
    fn compare(
        &mut self,
        store: &dyn Store,
        page: &Listed<'_>,
        found: &mut Vec<Difference>,
    ) -> Result<bool, StoreError> {
        let key = &page.written;
        if !self.remove_before(store, Some(key), found)? {
            return Ok(false);
        }
        let listing = Listing {
            lastmod: page.entry.lastmod.as_ref().map(ToString::to_string),
            content: page.content,
        };
        let before = self.take_if(store, key)?;
        let change = match &before {
            None => Some(UrlChange::Added),
            Some(before) => is_change(before, &listing).then_some(UrlChange::Changed),
        };
        if before.as_ref() != Some(&listing) {
            found.push(Difference {
                key: key.clone(),
                change,
                listing: Some(listing),
            });
        }
        Ok(true)
    }
}

/// Whether a page changed, by what was remembered of it and what is known now.
///
/// Another content is a change, and so is another `lastmod`. That a `lastmod` comes or goes is none where the
/// content can tell: then only the trust in the server's dates changed, or the version of the hash.
fn is_change(before: &Listing, now: &Listing) -> bool {
    let is_other_date = before.lastmod != now.lastmod;
    match (before.content, now.content) {
        (Some(old), Some(new)) => {
            let is_other_content = old.version == new.version && old.hash != new.hash;
            let has_dates = before.lastmod.is_some() && now.lastmod.is_some();
            is_other_content || (has_dates && is_other_date)
        }
        (Some(_), None) | (None, Some(_)) => {
            before.lastmod.is_some() && now.lastmod.is_some() && is_other_date
        }
        (None, None) => is_other_date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::outbox::ContentMark;

    #[test]
    fn a_page_changes_with_its_content_or_its_date() {
        let listing = |lastmod: &str, content: Option<(u32, u64)>| Listing {
            lastmod: Some(lastmod.to_owned()).filter(|text| !text.is_empty()),
            content: content.map(|(version, hash)| ContentMark { version, hash }),
        };
        let check =
            |before: (&str, Option<(u32, u64)>), now: (&str, Option<(u32, u64)>), expected| {
                let (old, new) = (listing(before.0, before.1), listing(now.0, now.1));
                assert_eq!(is_change(&old, &new), expected, "{before:?} {now:?}");
            };
        let (one, two, newer) = (Some((1, 1)), Some((1, 2)), Some((2, 9)));
        check(("", one), ("", one), false);
        check(("", one), ("", two), true);
        check(("2026-01-01", one), ("2026-01-01", two), true);
        check(("2026-01-01", one), ("2026-01-02", one), true);
        // The server's dates are trusted no more, or again.
        check(("2026-01-01", one), ("", one), false);
        check(("", one), ("2026-01-01", one), false);
        // A new version of the hash says nothing.
        check(("", one), ("", newer), false);
        check(("2026-01-01", one), ("2026-01-01", newer), false);
        check(("2026-01-01", one), ("2026-01-02", newer), true);
        check(("", one), ("2026-01-02", newer), false);
        // A list says no more than its dates.
        check(("2026-01-01", None), ("2026-01-02", None), true);
        check(("2026-01-01", None), ("", None), true);
        check(("", None), ("", None), false);
        check(("", one), ("", None), false);
        check(("2026-01-01", None), ("2026-01-02", one), true);
    }
}
