//! What became of the pages of the published set, and which listed pages are alike: the numbers of the guard,
//! gathered in the pass of the last judgement, in bounded memory.

mod groups;
mod looks;

use std::collections::{BTreeMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use self::looks::{Habit, Look, Signs};
use super::{
    guard::{Figures, OldSet, Remembered},
    journal::Known,
    manifest::Manifest,
};
use crate::{
    config::Share,
    export::content_mark,
    page::{Basis, PageFacts, PageRecord, Reason, RunId, State, Via},
    site::Site,
    store::{Commit, Store, StoreError, StoreErrorKind},
    url_key::UrlKey,
};

/// Name of the state's value with what is remembered of the run that was published last.
const REMEMBERED: &str = crate::store::names::PUBLISH_GUARD;

/// Redirects that are followed from a page to what readers see, as engines do.
const MAX_HOPS: usize = 10;

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
    /// Hashes of the listed pages that those of the set redirect to, as they are written.
    ends: HashSet<u64>,
    start: Option<Reason>,
    met: u64,
    old: Signs,
    listed: u64,
    /// Listed pages of which it is known what they look like.
    looked_at: u64,
    new: Habit,
}

impl Survey {
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
        if is_listed {
            self.listed += 1;
            if let Some(look) = facts.and_then(Look::of) {
                self.looked_at += 1;
                self.new.add(&look);
            }
        }
        let published = match &site.stand_in {
            None => self.known.find(store, key)?,
            Some(stand_in) => match stand_in.shown(key) {
                Some(shown) => self.known.find(store, &shown)?,
                None => None,
            },
        };
        let Some(published) = published else {
            return self.look_at_moved(store, key, record);
        };
        self.met += 1;
        if is_start(record) && says_nothing(reason) {
            self.start = Some(reason);
        }
        if !is_listed {
            *self.lost.entry(reason).or_default() += 1;
        }
        self.gone_once += u64::from(reason == Reason::KeptGoneOnce);
        // One answer 404 takes no page out.
        let is_missing = facts.is_some_and(|facts| facts.status == 404);
        self.gone_again += u64::from(!is_listed && is_missing);
        let has_spoken = match record.basis {
            Basis::Own | Basis::Confirmed => record.outcome.is_some(),
            Basis::Kept(_) => false,
        };
        if !has_spoken {
            return Ok(());
        }
        self.heard += 1;
        let Some(facts) = facts else {
            return Ok(());
        };
        if target_of(key, facts).is_some() {
            return self.add_end(store, key, record.run, facts, Some(site));
        }
        // What says the same as when it was published is what it was, however many others are like it.
        let is_unchanged =
            is_listed && published.content.is_some() && published.content == content_mark(facts);
        if let Some(look) = Look::of(facts) {
            self.old.add(&look, key, !is_unchanged);
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
                self.add_end(store, key, record.run, facts, None)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Counts the page `key`, which redirects by `facts` in run `run`, by the end of its redirects; when it is of the published
    /// set of `site` also by what stands there, as a wall may send each page to an address of its own.
    fn add_end(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        run: RunId,
        facts: &PageFacts,
        of: Option<&Site>,
    ) -> Result<(), StoreError> {
        let is_of_set = of.is_some();
        let Some(first) = target_of(key, facts) else {
            return Ok(());
        };
        let is_for_good = matches!(facts.status, 301 | 308);
        let mut target = first.clone();
        for _ in 0..MAX_HOPS {
            let record = store.page(&target)?.filter(|record| record.run == run);
            let Some(facts) = record.as_ref().and_then(PageRecord::facts) else {
                break;
            };
            if let Some(next) = target_of(&target, facts) {
                target = next.clone();
                continue;
            }
            if facts.status != 200 {
                break;
            }
            let is_listed = record
                .as_ref()
                .is_some_and(|record| record.reason.state() == State::Listed);
            if let Some(site) =
                of.filter(|_| is_listed && is_for_good && self.ends.len() < MAX_ENDS)
            {
                let written = match &site.stand_in {
                    None => Some(target.clone()),
                    Some(stand_in) => stand_in.shown(&target),
                };
                self.ends
                    .extend(written.map(|written| xxh3_64(written.as_str().as_bytes())));
            }
            let look = Look::of(facts);
            if let Some(look) = look.as_ref().filter(|_| is_of_set) {
                self.old.add(look, &target, true);
            }
            self.old
                .add_redirect(&target, look.as_ref(), is_for_good, is_of_set);
            return Ok(());
        }
        self.old.add_target(&target, is_of_set);
        Ok(())
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
        let old = self.old.largest();
        let pages = self.known.count(store)?;
        // Of all pages: a crawl that came to a few of them says nothing of the others.
        let redirects = old.iter().filter_map(|group| {
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
                twins,
            },
            last,
        };
        Ok((figures, remembered))
    }
}

/// Whether this is the start page: what the start URL, or what that redirects to, was answered with.
fn is_start(record: &PageRecord) -> bool {
    record.via == Via::Start || record.via == Via::Redirect && record.depth == 0
}

/// Whether a page is not listed for what is no content of its own, which nobody decided.
fn says_nothing(reason: Reason) -> bool {
    let is_unread = matches!(
        reason,
        Reason::Empty
            | Reason::NotAPage
            | Reason::TooLarge
            | Reason::CutShort
            | Reason::Undecodable
            | Reason::Unparsable
    );
    is_unread || reason.state() == State::Failed
}

/// Where an answer sends its readers, if that is another page.
fn target_of<'f>(key: &UrlKey, facts: &'f PageFacts) -> Option<&'f UrlKey> {
    let target = match (&facts.location, &facts.refresh) {
        (Some(target), _) if (300..400).contains(&facts.status) => Some(target),
        (_, Some(refresh)) if refresh.delay_seconds == 0 => Some(&refresh.target),
        _ => None,
    };
    target.filter(|target| *target != key)
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
fn recall(store: &dyn Store) -> Result<Option<Remembered>, StoreError> {
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
