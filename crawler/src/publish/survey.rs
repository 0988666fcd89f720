//! What became of the pages of the published set, and which listed pages are alike: the numbers of the guard,
//! gathered in the pass of the last judgement, in bounded memory.

mod groups;
mod looks;
mod sights;

use std::collections::{BTreeMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

pub(super) use self::{
    looks::Signs,
    sights::{Sight, as_target},
};
use self::{
    looks::{Habit, Look},
    sights::target_of,
};
use super::{
    RUN,
    guard::{Figures, OldSet, Remembered, Young},
    journal::Known,
    manifest::Manifest,
};
use crate::{
    config::Share,
    export::content_mark,
    page::{Basis, PageFacts, PageRecord, Reason, RunId, State},
    site::Site,
    store::{Commit, Store, StoreError, StoreErrorKind, doubt, outbox::Listing},
    url_key::UrlKey,
};

/// Name of the state's value with what is remembered of the run that was published last.
pub(super) const REMEMBERED: &str = crate::store::names::PUBLISH_GUARD;

/// Pages that are a group: one is alike with nobody.
const MIN_GROUP: u64 = 2;

/// Listed pages that published ones redirect to and that are remembered until it is known whether they were published
/// too: a few megabytes. What is beyond counts as lost.
const MAX_ENDS: usize = 200_000;

/// Gathers the numbers.
#[derive(Default)]
pub(super) struct Survey {
    known: Known,
    heard: u64,
    lost: BTreeMap<Reason, u64>,
    gone_once: u64,
    gone_again: u64,
    moved: u64,
    open: u64,
    /// Hashes of the listed pages that those of the set redirect to, as they are written.
    ends: HashSet<u64>,
    start: Option<Reason>,
    met: u64,
    old: Signs,
    /// Those of them, and of the pages that moved, whose redirects are decided.
    decided: Signs,
    /// Something is doubted.
    has_doubts: bool,
    /// See [`Young`].
    young_pages: u64,
    young: Signs,
    is_first: bool,
    listed: u64,
    /// Listed pages of which it is known what they look like.
    looked_at: u64,
    new: Habit,
}

impl Survey {
    /// Of run `run`, which nothing is known of yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn new(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        Ok(Self {
            is_first: is_first(store, run)?,
            has_doubts: doubt::is_any(store)?,
            ..Self::default()
        })
    }

    /// Looks at a record of the run; `reason` is that of the last judgement. To be called in key order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn look(
        &mut self,
        store: &dyn Store,
        site: &Site,
        key: &UrlKey,
        record: &PageRecord,
        reason: Reason,
    ) -> Result<(), StoreError> {
        let is_listed = reason.state() == State::Listed;
        let facts = record.facts();
        let has_spoken = has_spoken(record);
        // It is listed by what it said before.
        let is_put_off = has_spoken && reason == Reason::KeptNotReached;
        if is_listed {
            self.listed += 1;
            if let Some(look) = facts.and_then(Look::of).filter(|_| !is_put_off) {
                self.looked_at += 1;
                self.new.add(&look);
            }
        }
        let Some(published) = published(&mut self.known, store, site, key)? else {
            if let Some(look) = facts.and_then(Look::of).filter(|_| is_listed && has_spoken) {
                self.young_pages += 1;
                self.young.add_look(&look, key, true);
            }
            return self.look_at_moved(store, key, record);
        };
        self.met += 1;
        if record.is_start() && says_nothing(reason) {
            self.start = Some(reason);
        }
        if !is_listed {
            *self.lost.entry(reason).or_default() += 1;
        }
        self.gone_once += u64::from(reason == Reason::KeptGoneOnce);
        // One answer 404 takes no page out.
        let is_missing = facts.is_some_and(|facts| facts.status == 404);
        self.gone_again += u64::from(!is_listed && is_missing);
        if !has_spoken {
            return self.look_at_doubt(store, key, record);
        }
        self.heard += 1;
        self.young_pages += u64::from(!self.is_first);
        let Some(facts) = facts else {
            return Ok(());
        };
        let is_fresh = !(is_listed && is_what_it_was(&published, facts));
        let sight = Sight::of(store, key, record.run, facts, is_fresh)?;
        self.old.add(&sight, key, is_fresh);
        match &sight {
            Sight::Page(look) if !self.is_first => self.young.add_look(look, key, is_fresh),
            Sight::Redirect(end) => {
                self.open += u64::from(!end.is_known);
                if !is_put_off {
                    self.decided.add_end(end, true);
                }
                if end.is_known && end.is_listed && end.is_for_good && self.ends.len() < MAX_ENDS {
                    let written = match &site.stand_in {
                        None => Some(end.target.clone()),
                        Some(stand_in) => stand_in.shown(&end.target),
                    };
                    self.ends
                        .extend(written.map(|written| xxh3_64(written.as_str().as_bytes())));
                }
            }
            Sight::Page(_) | Sight::Nothing => {}
        }
        Ok(())
    }

    /// Counts a page of the published set that waits by what it said earlier in this run, if that is doubted.
    fn look_at_doubt(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let waits = matches!(record.reason, Reason::Queued | Reason::KeptNotReached);
        if self.has_doubts
            && waits
            && let Some(doubt) = store.doubt(key)?.filter(|doubt| doubt.run == record.run)
        {
            self.old.add_doubt(&doubt);
        }
        Ok(())
    }

    /// Counts a page that is not of the published set by where it redirects to, if it was of an earlier one.
    fn look_at_moved(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        match record.facts() {
            Some(facts) if target_of(key, facts).is_some() && store.ledger(key)?.is_some() => {
                self.moved += 1;
                if let Sight::Redirect(end) = Sight::of(store, key, record.run, facts, false)? {
                    self.old.add_end(&end, false);
                    self.decided.add_end(&end, false);
                }
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What the run is judged by, which would list `listed` URLs where the set of `previous` stands, and what is to be
    /// remembered of it when it is published.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn finish(
        self,
        store: &dyn Store,
        run: RunId,
        previous: &Manifest,
        listed: u64,
    ) -> Result<(Figures, Remembered), StoreError> {
        let counts = store.counts(run)?;
        let count = |wanted: &dyn Fn(Reason) -> bool| -> u64 {
            let wanted = counts.iter().filter(|(reason, _)| wanted(**reason));
            wanted.map(|(_, count)| count).sum()
        };
        let known = count(&|reason| reason != Reason::SeedDocument);
        // Published pages that may not be read (401, 403) are not gone when their time is over.
        let locked = self.lost.get(&Reason::ClientError).copied();
        let failing =
            count(&|reason| reason.state() == State::Failed || reason == Reason::KeptUnreachable)
                + locked.unwrap_or_default();
        let last = match recall(store)? {
            Some(remembered) => remembered,
            None => previous.remembered.clone().unwrap_or_default(),
        };
        let old = self.old.largest(MIN_GROUP);
        let pages = self.known.count(store)?;
        // Of all pages: a crawl that came to a few of them says nothing of the others.
        let decided = self.decided.largest(MIN_GROUP);
        let redirects = decided.iter().filter_map(|group| {
            let share = Share::of(group.pages, pages + self.moved);
            Some((group.name()?, share))
        });
        let mut alike = self.new.shares(self.listed);
        alike.extend(redirects);
        let remembered = Remembered {
            is_complete: count(&|reason| {
                reason == Reason::KeptNotReached || reason.state() == State::Queued
            }) == 0,
            failing: Share::of(failing, known),
            gone_once: self.gone_once,
            looked_at: self.looked_at,
            whole: listed,
            only_run: if previous.listed == 0 || self.is_first {
                run
            } else {
                0
            },
            alike,
        };
        // A crawl that came to its end found each page under one address.
        let twins = if last.is_complete {
            0
        } else {
            published_of(store, &self.ends)?
        };
        let figures = Figures {
            before: previous.listed,
            listed,
            known,
            failing,
            is_complete: remembered.is_complete,
            young: Young {
                pages: self.young_pages,
                groups: self.young.largest(MIN_GROUP),
                is_first: self.is_first,
            },
            old: OldSet {
                pages,
                heard: self.heard,
                lost: self.lost,
                gone_once: self.gone_once,
                gone_again: self.gone_again,
                start: self.start,
                unknown: pages - self.met,
                groups: old,
                moved: self.moved,
                open: self.open,
                twins,
            },
            last,
        };
        Ok((figures, remembered))
    }
}

/// Whether a record is what a page said in its run, and not what was known of it before.
pub(super) fn has_spoken(record: &PageRecord) -> bool {
    match record.basis {
        Basis::Own | Basis::Confirmed => record.outcome.is_some(),
        Basis::Kept(_) => false,
    }
}

/// What is remembered of the page `key` of `site`, if it stands in the published set; to be asked in key order.
pub(super) fn published(
    known: &mut Known,
    store: &dyn Store,
    site: &Site,
    key: &UrlKey,
) -> Result<Option<Listing>, StoreError> {
    match &site.stand_in {
        None => known.find(store, key),
        Some(stand_in) => match stand_in.shown(key) {
            Some(shown) => known.find(store, &shown),
            None => Ok(None),
        },
    }
}

/// Whether a page says the same as when it was published: then it is what it was, however many others are like it.
pub(super) fn is_what_it_was(published: &Listing, facts: &PageFacts) -> bool {
    published.content.is_some() && published.content == content_mark(facts)
}

/// Whether the set that stands is of run `run`, from its first page on.
pub(super) fn is_first(store: &dyn Store, run: RunId) -> Result<bool, StoreError> {
    let is_published = store.value(RUN)?.as_deref() == Some(run.to_string().as_str());
    Ok(is_published && recall(store)?.is_some_and(|last| last.only_run == run))
}

/// Whether a page is not listed for what is no content of its own, which nobody decided.
fn says_nothing(reason: Reason) -> bool {
    let is_unread = matches!(
        reason,
        Reason::Empty
            | Reason::OtherSuccess
            | Reason::NotAPage
            | Reason::TooLarge
            | Reason::CutShort
    );
    is_unread || reason.state() == State::Failed
}

/// How many pages of the published set have one of these hashes.
fn published_of(store: &dyn Store, hashes: &HashSet<u64>) -> Result<u64, StoreError> {
    let mut known = Known::default();
    let mut found = 0;
    while !hashes.is_empty()
        && let Some(key) = known.next(store)?
    {
        found += u64::from(hashes.contains(&xxh3_64(key.as_str().as_bytes())));
    }
    Ok(found)
}

/// What is remembered of the run that was published last.
pub(super) fn recall(store: &dyn Store) -> Result<Option<Remembered>, StoreError> {
    let Some(text) = store.value(REMEMBERED)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let message = format!("the state's value {REMEMBERED} cannot be read");
        StoreError::new(StoreErrorKind::Corrupt, message).with_source(error)
    })
}

impl Remembered {
    /// The state's value that remembers this.
    pub(super) fn value(&self) -> (String, Option<String>) {
        let text = serde_json::to_string(self).expect("words and numbers are always JSON");
        (REMEMBERED.to_owned(), Some(text))
    }
}

/// The value that a fresh state takes from the old one.
pub(super) fn carried(old: &dyn Store) -> Result<(String, Option<String>), StoreError> {
    Ok((REMEMBERED.to_owned(), old.value(REMEMBERED)?))
}

/// Puts back what the last judgement of a run that was refused changed: what it says of the dates of the host
/// is of a host that was not itself.
pub(super) fn restore(
    store: &mut dyn Store,
    run: RunId,
    value: (String, Option<String>),
) -> Result<(), StoreError> {
    store.commit(&Commit {
        run,
        values: vec![value],
        ..Commit::default()
    })
}
