//! Which entry a page becomes, or why none: the last judgement (what needs other records) and the
//! evidence for `lastmod`. Reads and writes the store only; knows no files.
//!
//! `lastmod` is never "now". Evidence, first that holds:
//! 1. a date that a page rule selected;
//! 2. the value published before, while the content hash has not changed, whatever the header says;
//! 3. `Last-Modified`, if it is earlier than the host's own clock at the start of the run and the
//!    host and its directory are trusted.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::ControlFlow,
};

use jiff::{Timestamp, ToSpan as _};
use sitemap_core::{LastMod, Loc, UrlEntry};

use crate::{
    page::{ContentHash, PageFacts, PageRecord, Reason, RunId, State},
    runs,
    store::{Commit, LedgerEntry, Rejudged, Store, StoreError},
    url_key::UrlKey,
    verdict,
};

/// `run` and the run that decided it; then directories that are not trusted, one per line; `*` is the
/// host as a whole.
const DISTRUSTED: &str = "lastmod.distrusted";

/// Begins the line of [`DISTRUSTED`] that names the run; a directory begins with a slash.
const RUN_LINE: &str = "run ";

/// Records looked at between two writes of changed verdicts.
const CHUNK: usize = 8_192;

/// First-level directories that get statistics of their own; the others count for the host only.
const MAX_DIRECTORIES: usize = 10_000;

/// Contents that are compared with each other: 160 MB at most. Further ones are not looked at.
const MAX_CONTENTS: usize = 10_000_000;

/// A share of pages above this makes a directory distrusted ...
const DISTRUST_PERCENT: u64 = 20;

/// ... and one below this lets it be trusted again.
const TRUST_PERCENT: u64 = 10;

/// No page is older than this: the year the web became public property of search engines.
const EARLIEST: Timestamp = Timestamp::constant(788_918_400, 0);

/// The judgement of a run as a whole, ready to be written.
#[derive(Debug)]
pub struct Export {
    run: RunId,
    host_date: Option<Timestamp>,
    latest: Timestamp,
    trust: Trust,
    duplicates: u64,
}

/// Receives the entries of a site one by one; says whether to go on.
pub type VisitEntry<'a, E> = dyn FnMut(&UrlKey, UrlEntry) -> Result<ControlFlow<()>, E> + 'a;

/// What one pass over the records gathers.
#[derive(Debug, Default)]
struct Gathered {
    statistics: Statistics,
    /// Fingerprints of addresses that are written in another way than they were requested.
    respelled: HashSet<u64>,
    /// Halves of the content hashes of listed pages, at most [`MAX_CONTENTS`].
    contents: HashSet<u64>,
    /// Listed pages whose content an earlier listed page has.
    duplicates: u64,
}

impl Gathered {
    fn note_content(&mut self, ContentHash(hash): ContentHash) {
        let half = u64::try_from(hash >> 64).unwrap_or_default();
        if self.contents.contains(&half) {
            self.duplicates += 1;
        } else if self.contents.len() < MAX_CONTENTS {
            self.contents.insert(half);
        }
    }
}

impl Export {
    /// Judges what needs other records (redirect and canonical chains) and decides whom to trust.
    ///
    /// # Errors
    /// The store failed.
    pub fn prepare(store: &mut dyn Store, run: RunId, now: Timestamp) -> Result<Self, StoreError> {
        let mut export = Self {
            run,
            host_date: runs::host_date(store)?,
            latest: now + 24.hours(),
            trust: Trust::read(store)?,
            duplicates: 0,
        };
        let mut gathered = Gathered::default();
        let mut from = None;
        loop {
            let (rejudged, next) = export.prepare_chunk(store, from.as_ref(), &mut gathered)?;
            if !rejudged.is_empty() {
                store.rejudge(&rejudged)?;
            }
            match next {
                Some(key) => from = Some(key),
                None => break,
            }
        }
        export.duplicates = gathered.duplicates;
        if export.trust.update(run, &gathered.statistics) {
            store.commit(&Commit {
                run,
                values: vec![(DISTRUSTED.to_owned(), export.trust.to_text())],
                ..Commit::default()
            })?;
        }
        Ok(export)
    }

    /// Listed pages that have the same content, byte for byte, as an earlier listed one. They stay: only
    /// the site can say which of them is the one.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// One chunk of records from `from` on; the changed verdicts, and where to go on.
    fn prepare_chunk(
        &self,
        store: &dyn Store,
        from: Option<&UrlKey>,
        gathered: &mut Gathered,
    ) -> Result<(Vec<Rejudged>, Option<UrlKey>), StoreError> {
        let mut rejudged = Vec::new();
        let mut left = CHUNK;
        let mut next = None;
        let mut failure = None;
        store.visit_pages_with_ledger(self.run, from, &mut |key, record, known| {
            if left == 0 {
                next = Some(key.clone());
                return ControlFlow::Break(());
            }
            left -= 1;
            let result = self.look_at(store, key, &record, known, gathered);
            match result {
                Ok(Some(reason)) => rejudged.push((key.clone(), reason)),
                Ok(None) => {}
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        match failure {
            Some(error) => Err(error),
            None => Ok((rejudged, next)),
        }
    }

    fn look_at(
        &self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<LedgerEntry>,
        gathered: &mut Gathered,
    ) -> Result<Option<Reason>, StoreError> {
        let mut failure = None;
        let settled = verdict::settle(key, record, &mut |target| {
            let found = store
                .page(target)
                .map_err(|error| failure = Some(error))
                .ok()
                .flatten()?;
            let brief = (found.run == self.run).then(|| verdict::Brief::of(&found))?;
            Some(verdict::Brief {
                reason: before_spelling(brief.reason),
                ..brief
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let mut reason = before_spelling(settled.unwrap_or(record.reason));
        if reason.state() == State::Listed {
            reason = self.spelling(store, key, reason, &mut gathered.respelled)?;
        }
        if reason.state() == State::Listed
            && let Some(facts) = record.facts()
        {
            let moved = match (same_content(facts, known), facts.last_modified) {
                (Some(known), Some(value)) => known
                    .last_modified_seconds
                    .is_some_and(|seconds| seconds != value.as_second()),
                (Some(_), None) | (None, _) => false,
            };
            gathered.statistics.add(key, self.is_now(facts), moved);
            if let Some(hash) = facts.content_hash {
                gathered.note_content(hash);
            }
        }
        Ok((reason != record.reason).then_some(reason))
    }

    /// Keeps one of several URLs that a sitemap can only write in one way.
    fn spelling(
        &self,
        store: &dyn Store,
        key: &UrlKey,
        reason: Reason,
        respelled: &mut HashSet<u64>,
    ) -> Result<Reason, StoreError> {
        let Ok(loc) = Loc::parse(key.as_str()) else {
            return Ok(Reason::Unwritable);
        };
        if loc.as_str() == key.as_str() {
            return Ok(reason);
        }
        let Ok(written) = UrlKey::from_normalised(loc.as_str()) else {
            return Ok(Reason::Unwritable);
        };
        let twin = store.page(&written)?;
        let twin_is_listed =
            twin.is_some_and(|twin| twin.run == self.run && twin.reason.state() == State::Listed);
        let is_first = respelled.insert(written.fingerprint());
        Ok(if twin_is_listed || !is_first {
            Reason::DuplicateSpelling
        } else {
            reason
        })
    }

    /// Visits the listed pages in key order, from `from` (included) on, as entries.
    ///
    /// # Errors
    /// The store failed, or `visit` did.
    pub fn visit<E: From<StoreError>>(
        &self,
        store: &dyn Store,
        from: Option<&UrlKey>,
        visit: &mut VisitEntry<'_, E>,
    ) -> Result<(), E> {
        let mut failure = None;
        store.visit_pages_with_ledger(self.run, from, &mut |key, record, known| {
            let Some(entry) = self.entry(key, &record, known) else {
                return ControlFlow::Continue(());
            };
            visit(key, entry).unwrap_or_else(|error| {
                failure = Some(error);
                ControlFlow::Break(())
            })
        })?;
        match failure {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn entry(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<LedgerEntry>,
    ) -> Option<UrlEntry> {
        if record.reason.state() != State::Listed {
            return None;
        }
        let entry = UrlEntry::new(Loc::parse(key.as_str()).ok()?);
        let lastmod = record
            .facts()
            .and_then(|facts| self.lastmod(key, facts, known));
        Some(match lastmod {
            Some(lastmod) => entry.with_lastmod(lastmod),
            None => entry,
        })
    }

    /// The evidence for when a page changed: see the module.
    fn lastmod(
        &self,
        key: &UrlKey,
        facts: &PageFacts,
        ledger: Option<LedgerEntry>,
    ) -> Option<LastMod> {
        let selected = facts
            .selected_lastmod
            .as_deref()
            .and_then(|text| LastMod::parse(text).ok());
        if let Some(selected) = selected.filter(|value| self.is_plausible(value.latest_instant())) {
            return Some(selected);
        }
        if let Some(published) =
            same_content(facts, ledger).and_then(|known| LastMod::parse(&known.lastmod?).ok())
        {
            return Some(published);
        }
        let value = facts.last_modified?;
        (!self.is_now(facts) && self.is_plausible(value) && self.trust.trusts(key))
            .then(|| LastMod::from_timestamp(value))
    }

    /// Whether `Last-Modified` is not earlier than the host's own clock at the start of the run.
    fn is_now(&self, facts: &PageFacts) -> bool {
        match (facts.last_modified, self.host_date) {
            (Some(value), Some(start)) => value >= start,
            (Some(_) | None, _) => false,
        }
    }

    fn is_plausible(&self, value: Timestamp) -> bool {
        value >= EARLIEST && value <= self.latest
    }

    /// Makes the ledger remember what was just published.
    ///
    /// # Errors
    /// The store failed; some entries may be stored.
    pub fn remember(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let mut from: Option<UrlKey> = None;
        loop {
            let mut entries = Vec::new();
            let mut left = CHUNK;
            let mut next = None;
            store.visit_pages_with_ledger(self.run, from.as_ref(), &mut |key, record, known| {
                if left == 0 {
                    next = Some(key.clone());
                    return ControlFlow::Break(());
                }
                left -= 1;
                if let Some(entry) = self.ledger_change(key, &record, known.as_ref()) {
                    entries.push((key.clone(), entry));
                }
                ControlFlow::Continue(())
            })?;
            if !entries.is_empty() {
                store.set_ledger(&entries)?;
            }
            match next {
                Some(key) => from = Some(key),
                None => return Ok(()),
            }
        }
    }

    fn ledger_change(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<LedgerEntry> {
        let (State::Listed, Some(facts)) = (record.reason.state(), record.facts()) else {
            return None;
        };
        let ContentHash(hash) = facts.content_hash?;
        let entry = LedgerEntry {
            content_hash: hash,
            hash_version: ContentHash::VERSION,
            lastmod: self
                .lastmod(key, facts, known.cloned())
                .map(|value| value.to_string()),
            last_modified_seconds: facts.last_modified.map(Timestamp::as_second),
        };
        (known != Some(&entry)).then_some(entry)
    }
}

/// The reason without what this room decided of how the URL is written, now or in an earlier publish:
/// that is decided again each time, and must not depend on what was decided before.
fn before_spelling(reason: Reason) -> Reason {
    match reason {
        Reason::DuplicateSpelling | Reason::Unwritable => Reason::Listed,
        reason => reason,
    }
}

/// The ledger's entry, if it is about the content that was just seen.
fn same_content(facts: &PageFacts, ledger: Option<LedgerEntry>) -> Option<LedgerEntry> {
    let ContentHash(hash) = facts.content_hash?;
    ledger.filter(|known| known.content_hash == hash && known.hash_version == ContentHash::VERSION)
}

/// The path of the first-level directory of `key`, if it is in one.
fn first_directory(key: &UrlKey) -> Option<&str> {
    let path = key.path();
    let below = path.strip_prefix('/')?;
    let (segment, _) = below.split_once('/')?;
    Some(path.split_at(segment.len() + 2).0)
}

/// How often `Last-Modified` was not to be believed.
#[derive(Debug, Default)]
struct Statistics {
    host: Count,
    directories: BTreeMap<String, Count>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    pages: u64,
    now: u64,
    moved: u64,
}

impl Count {
    fn add(&mut self, now: bool, moved: bool) {
        self.pages += 1;
        self.now += u64::from(now);
        self.moved += u64::from(moved);
    }

    fn is_above(self, percent: u64) -> bool {
        self.now.max(self.moved) * 100 > self.pages * percent
    }
}

impl Statistics {
    fn add(&mut self, key: &UrlKey, now: bool, moved: bool) {
        self.host.add(now, moved);
        let Some(directory) = first_directory(key) else {
            return;
        };
        if let Some(count) = self.directories.get_mut(directory) {
            count.add(now, moved);
        } else if self.directories.len() < MAX_DIRECTORIES {
            let mut count = Count::default();
            count.add(now, moved);
            self.directories.insert(directory.to_owned(), count);
        }
    }
}

/// Whom the state of a site does not trust, as a value for its fresh state, whose runs are others.
///
/// # Errors
/// The store failed.
pub(crate) fn distrusted(store: &dyn Store) -> Result<(String, Option<String>), StoreError> {
    let trust = Trust {
        run: None,
        ..Trust::read(store)?
    };
    Ok((DISTRUSTED.to_owned(), trust.to_text()))
}

/// Whose `Last-Modified` is not used as evidence, remembered between runs so that a share at the
/// border does not flip back and forth.
///
/// Within one run trust only shrinks. A publish that is done again after it was interrupted finds the
/// dates that moved already in the ledger, so that they do not look moved any more; it must not come to
/// another decision for that.
#[derive(Debug, Default, PartialEq, Eq)]
struct Trust {
    /// The run that decided it, if it is one of this state.
    run: Option<RunId>,
    host_is_distrusted: bool,
    directories: BTreeSet<String>,
}

impl Trust {
    fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let mut trust = Self::default();
        for line in store.value(DISTRUSTED)?.unwrap_or_default().lines() {
            if let Some(run) = line.strip_prefix(RUN_LINE) {
                trust.run = run.parse().ok();
            } else if line == "*" {
                trust.host_is_distrusted = true;
            } else {
                trust.directories.insert(line.to_owned());
            }
        }
        Ok(trust)
    }

    /// `None` when everybody is trusted: then there is nothing that the run could not change.
    fn to_text(&self) -> Option<String> {
        if !self.host_is_distrusted && self.directories.is_empty() {
            return None;
        }
        let run = self.run.map(|run| format!("{RUN_LINE}{run}"));
        let host = self.host_is_distrusted.then_some("*");
        let lines: Vec<&str> = run
            .as_deref()
            .into_iter()
            .chain(host)
            .chain(self.directories.iter().map(String::as_str))
            .collect();
        Some(lines.join("\n"))
    }

    /// Takes the statistics of `run` in; whether anything changed.
    fn update(&mut self, run: RunId, statistics: &Statistics) -> bool {
        let limit = |was_distrusted| {
            if was_distrusted {
                TRUST_PERCENT
            } else {
                DISTRUST_PERCENT
            }
        };
        let mut new = Self {
            run: Some(run),
            host_is_distrusted: statistics.host.is_above(limit(self.host_is_distrusted)),
            directories: statistics
                .directories
                .iter()
                .filter(|(directory, count)| {
                    count.is_above(limit(self.directories.contains(*directory)))
                })
                .map(|(directory, _)| directory.clone())
                .collect(),
        };
        if self.run == Some(run) {
            new.host_is_distrusted |= self.host_is_distrusted;
            new.directories.extend(self.directories.iter().cloned());
        }
        let changed = new.to_text() != self.to_text();
        *self = new;
        changed
    }

    fn trusts(&self, key: &UrlKey) -> bool {
        !self.host_is_distrusted
            && !first_directory(key).is_some_and(|directory| self.directories.contains(directory))
    }
}
