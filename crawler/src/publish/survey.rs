//! What became of the pages of the published set, and which listed pages are alike: the numbers of the guard,
//! gathered in the pass of the last judgement, in bounded memory.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{
    guard::{Alike, Figures, Group, OldSet, Remembered},
    journal::Known,
    manifest::Manifest,
};
use crate::{
    config::Share,
    export::content_mark,
    page::{Basis, BodyEnd, ContentHash, PageFacts, PageRecord, Reason, RunId, State, Via},
    site::Site,
    store::{Commit, Store, StoreError, StoreErrorKind},
    url_key::UrlKey,
};

/// Name of the state's value with what is remembered of the run that was published last.
const REMEMBERED: &str = crate::store::names::PUBLISH_GUARD;

/// Groups that are counted at once, of each kind. A group that has more than 1 in 1,000 of the pages is found,
/// and counted too low by so many at most (Misra and Gries, "Finding repeated elements", 1982).
const MAX_GROUPS: usize = 1_000;

/// Groups of each kind that are told of and remembered.
const MAX_TOLD: usize = 8;

/// Redirects that are followed from a page to what readers see, as engines do.
const MAX_HOPS: usize = 10;

/// What pages share that ask for a password, whatever else they say.
const ANY_FORM: u64 = 0;

/// Counts how many pages share something.
#[derive(Debug, Default)]
struct Groups(HashMap<u64, (u64, String)>);

impl Groups {
    fn add(&mut self, key: u64, example: &str) {
        if let Some((count, _)) = self.0.get_mut(&key) {
            *count += 1;
        } else if self.0.len() < MAX_GROUPS {
            self.0.insert(key, (1, example.to_owned()));
        } else {
            self.0.retain(|_, (count, _)| {
                *count -= 1;
                *count > 0
            });
        }
    }

    /// Counts what `other` counted.
    fn add_all(&mut self, other: Self) {
        for (key, (pages, example)) in other.0 {
            let known = self.0.entry(key).or_insert((0, example));
            known.0 += pages;
        }
    }

    /// The largest of them.
    fn largest(self, alike: Alike) -> impl Iterator<Item = Group> {
        let groups = self.0.into_iter();
        let groups = groups.map(move |(key, (pages, example))| Group {
            alike,
            key,
            pages,
            example,
        });
        let mut groups: Vec<Group> = groups.filter(|group| group.pages > 1).collect();
        groups.sort_unstable_by_key(|group| (Reverse(group.pages), group.key));
        groups.truncate(MAX_TOLD);
        groups.into_iter()
    }
}

/// The same for everything that pages can share.
#[derive(Debug, Default)]
struct Kinds {
    targets: Groups,
    contents: Groups,
    texts: Groups,
    forms: Groups,
    titles: Groups,
}

impl Kinds {
    /// Counts an answer by where it redirects to, or by what it says.
    fn add(&mut self, key: &UrlKey, facts: &PageFacts) {
        match target_of(key, facts) {
            Some(target) => self.add_target(target),
            None => self.add_content(key, facts),
        }
    }

    /// Counts a redirect that leads to the page `target`, which answered with `facts`: with those that lead to the same URL, its
    /// query aside, and to a page that looks the same. One URL may show as many pages as it has queries.
    fn add_page(&mut self, target: &UrlKey, facts: &PageFacts) {
        let content = facts
            .content_hash
            .map(|ContentHash(hash)| xxh3_64(&hash.to_le_bytes()));
        let look = if facts.warnings.password_field {
            ANY_FORM
        } else {
            facts.likeness.or(content).unwrap_or(ANY_FORM)
        };
        let target = without_query(target);
        let key = xxh3_64_with_seed(target.as_bytes(), look);
        self.targets.add(key, target);
    }

    /// Counts a redirect that leads to `target`, its query aside.
    fn add_target(&mut self, target: &UrlKey) {
        let target = without_query(target);
        self.targets.add(xxh3_64(target.as_bytes()), target);
    }

    fn add_content(&mut self, key: &UrlKey, facts: &PageFacts) {
        self.add_text(key, facts);
        self.add_looks(key, facts);
    }

    /// Counts a page by what it says.
    fn add_text(&mut self, key: &UrlKey, facts: &PageFacts) {
        if facts.status != 200 || facts.end != BodyEnd::Complete {
            return;
        }
        let page = key.as_str();
        if let Some(ContentHash(hash)) = facts.content_hash {
            self.contents.add(xxh3_64(&hash.to_le_bytes()), page);
        }
        if let Some(likeness) = facts.likeness {
            self.texts.add(likeness, page);
        }
    }

    /// Counts a page by what it has whatever it says: a form, a title.
    fn add_looks(&mut self, key: &UrlKey, facts: &PageFacts) {
        if facts.status != 200 || facts.end != BodyEnd::Complete {
            return;
        }
        let page = key.as_str();
        if facts.warnings.password_field {
            self.forms.add(ANY_FORM, page);
        }
        let title = facts.title.as_deref().unwrap_or_default();
        // What a title repeats of the URL, or counts, is no other title.
        let is_text = |word: &&str| !word.contains(|c: char| c == '/' || c.is_ascii_digit());
        let words: Vec<&str> = title.split_whitespace().filter(is_text).collect();
        if !words.is_empty() {
            self.titles.add(xxh3_64(words.join(" ").as_bytes()), page);
        }
    }

    fn largest(self) -> Vec<Group> {
        let groups = [
            (self.targets, Alike::Target),
            (self.contents, Alike::Content),
            (self.texts, Alike::Text),
            (self.forms, Alike::Form),
            (self.titles, Alike::Title),
        ];
        let largest = groups
            .into_iter()
            .flat_map(|(groups, alike)| groups.largest(alike));
        largest.collect()
    }
}

/// Gathers the numbers.
#[derive(Default)]
pub(super) struct Survey {
    known: Known,
    heard: u64,
    lost: BTreeMap<Reason, u64>,
    gone_once: u64,
    gone_again: u64,
    moved: u64,
    start: Option<Reason>,
    met: u64,
    old: Kinds,
    /// Forms and titles of published pages of which nobody knows what they said then.
    unsure: Kinds,
    listed: u64,
    /// Listed pages of which it is known what they say.
    seen: u64,
    new: Kinds,
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
            if let Some(facts) = facts {
                self.seen += 1;
                self.new.add(key, facts);
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
        // What says the same as when it was published is what it was, however many others are like it.
        let is_unchanged =
            is_listed && published.content.is_some() && published.content == content_mark(facts);
        if is_unchanged {
            return Ok(());
        }
        if target_of(key, facts).is_some() {
            return self.add_end(store, key, record.run, facts, true);
        }
        if published.content.is_some() {
            self.old.add_content(key, facts);
        } else {
            self.old.add_text(key, facts);
            self.unsure.add_looks(key, facts);
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
                self.add_end(store, key, record.run, facts, false)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Counts the page `key`, which redirects by `facts` in run `run`, by the end of its redirects; when it is of the published
    /// set also by what stands there, as a wall may send each page to an address of its own.
    fn add_end(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        run: RunId,
        facts: &PageFacts,
        is_of_set: bool,
    ) -> Result<(), StoreError> {
        let Some(first) = target_of(key, facts) else {
            return Ok(());
        };
        let mut target = first.clone();
        for _ in 0..MAX_HOPS {
            let record = store.page(&target)?.filter(|record| record.run == run);
            let Some(facts) = record.as_ref().and_then(PageRecord::facts) else {
                break;
            };
            let Some(next) = target_of(&target, facts) else {
                if is_of_set {
                    self.old.add_content(&target, facts);
                }
                if facts.status == 200 {
                    self.old.add_page(&target, facts);
                    return Ok(());
                }
                break;
            };
            target = next.clone();
        }
        self.old.add_target(&target);
        Ok(())
    }

    /// What the run is judged by, which would list `listed` URLs where the set of `previous` stands, and what is to be
    /// remembered of it when it is published.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn finish(
        mut self,
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
        let groups = self.new.largest().into_iter();
        let mut alike = BTreeMap::new();
        for group in groups {
            let share = Share::of(group.pages, self.listed);
            let known: &mut Share = alike.entry(group.name()).or_default();
            *known = share.max(*known);
        }
        let last = match recall(store)? {
            Some(remembered) => remembered,
            None => previous.remembered.clone().unwrap_or_default(),
        };
        // Where nobody looked, a form in every header, or one title, may always have been there.
        if last.seen > 0 {
            self.old.forms.add_all(self.unsure.forms);
            self.old.titles.add_all(self.unsure.titles);
        }
        let old = self.old.largest();
        // What redirects is not listed, and never will be.
        for group in old.iter().filter(|group| group.alike == Alike::Target) {
            let share = Share::of(group.pages, self.heard + self.moved);
            alike.insert(group.name(), share);
        }
        let remembered = Remembered {
            is_complete: count(&|reason| {
                reason == Reason::KeptNotReached || reason.state() == State::Queued
            }) == 0,
            failing: Share::of(failing, known),
            gone_once: self.gone_once,
            seen: self.seen,
            alike,
        };
        let pages = self.known.count(store)?;
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

fn without_query(url: &UrlKey) -> &str {
    url.as_str().split('?').next().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_group_is_found_among_any_number_of_small_ones() {
        let mut groups = Groups::default();
        let all: u64 = 100_000;
        for page in 0..all {
            // Every third is the same.
            let key = if page % 3 == 0 { 7 } else { page + 1_000 };
            groups.add(key, "example");
        }
        assert!(groups.0.len() <= MAX_GROUPS);
        let largest = groups.largest(Alike::Text).next().unwrap();
        assert_eq!(largest.key, 7);
        let third = all.div_ceil(3);
        assert!(largest.pages <= third && largest.pages >= third - all / 1_000);
    }
}
