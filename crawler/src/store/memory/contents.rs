//! What a store in memory knows, and how each effect of a commit changes it.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::Bound,
};

use super::known::{History, Known};
use super::{outbox::Outbox, undo::Undo};
use crate::{
    page::{Basis, Outcome, PageRecord, Reason, RunId, SitemapDate, State, Via},
    store::{
        Commit, Discovery, Doubt, Finished, Forgotten, GivenUrl, KeptDocument, LedgerEntry,
        QueuedUrl, StoreError, StoreErrorKind,
    },
    url_key::UrlKey,
};

/// What a store knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    pub(super) pages: BTreeMap<UrlKey, Known>,
    /// Keys with their hops, by sequence number. Depths are those of the records.
    pub(super) queue: BTreeMap<u64, (UrlKey, u8)>,
    pub(super) orphans: BTreeSet<UrlKey>,
    pub(super) links: BTreeMap<UrlKey, Vec<UrlKey>>,
    pub(super) ledger: BTreeMap<UrlKey, LedgerEntry>,
    pub(super) kept: BTreeMap<UrlKey, KeptDocument>,
    pub(super) values: BTreeMap<String, String>,
    pub(super) outbox: Outbox,
    pub(super) last_sequence: u64,
    /// The last run whose set was published; 0: what there is was refused.
    pub(super) published_run: Option<RunId>,
    /// What was known of pages, and their links, before a run decided about them that is not published yet.
    pub(super) stood: BTreeMap<UrlKey, (Known, Option<Vec<UrlKey>>)>,
    /// What was known of pages whose answers do not count yet.
    pub(super) put_off: BTreeMap<UrlKey, Known>,
    pub(super) doubts: BTreeMap<UrlKey, Doubt>,
    pub(super) undo: Undo,
}

impl Contents {
    /// Whether `run` knows `key` already.
    fn knows(&self, run: RunId, key: &UrlKey) -> bool {
        self.pages
            .get(key)
            .is_some_and(|known| known.record.run >= run)
    }

    /// Refuses a commit that would put two URLs at one place of the queue.
    pub(super) fn check_sequences(&self, commit: &Commit) -> Result<(), StoreError> {
        let discovered = commit
            .discovered
            .iter()
            .filter(|discovery| discovery.reason == Reason::Queued)
            .map(|discovery| (discovery.sequence, &discovery.key));
        let requeued = commit
            .requeued
            .iter()
            .map(|queued| (queued.sequence, &queued.key));
        let mut given = HashSet::new();
        for (sequence, key) in discovered.chain(requeued) {
            if self.queue.contains_key(&sequence) || !given.insert(sequence) {
                return Err(StoreError::new(
                    StoreErrorKind::Io,
                    format!("sequence number {sequence} is taken and cannot be given to {key}"),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn discover(&mut self, run: RunId, discovery: &Discovery) {
        self.last_sequence = self.last_sequence.max(discovery.sequence);
        if self.knows(run, &discovery.key) {
            if let Some(known) = self.pages.get_mut(&discovery.key) {
                known.record.depth = known.record.depth.min(discovery.depth);
            }
            return;
        }
        let known = self.pages.remove(&discovery.key);
        let published = self.published_run;
        let history = known.as_ref().map(|known| known.history(published));
        let history = history.unwrap_or_default();
        let earlier = known.and_then(Known::into_facts);
        let is_queued = discovery.reason == Reason::Queued;
        let record = PageRecord {
            run,
            reason: discovery.reason,
            depth: discovery.depth,
            via: discovery.via,
            found_on: discovery.found_on.clone(),
            attempts: 0,
            fetched_at: None,
            sitemap_lastmod: None,
            outcome: (!is_queued).then_some(Outcome::NotFetched(discovery.reason)),
            basis: Basis::Own,
        };
        let known = Known {
            record,
            earlier,
            history,
        };
        self.pages.insert(discovery.key.clone(), known);
        if discovery.via.is_seed() {
            self.orphans.insert(discovery.key.clone());
        }
        if is_queued {
            self.queue
                .insert(discovery.sequence, (discovery.key.clone(), discovery.hops));
        }
    }

    pub(super) fn finish(&mut self, finished: &Finished) {
        self.last_sequence = self.last_sequence.max(finished.sequence);
        self.queue.remove(&finished.sequence);
        if let Some(known) = self.pages.get(&finished.key)
            && self.published_run.is_some()
            && known.record.run == finished.record.run
            && !known.is_said_again_by(&finished.record)
            && !self.stood.contains_key(&finished.key)
        {
            let links = self.links.get(&finished.key).cloned();
            self.stood
                .insert(finished.key.clone(), (known.clone(), links));
        }
        let mut record = finished.record.clone();
        let mut history = History::default();
        if let Some(Outcome::Answered(facts)) = &mut record.outcome {
            facts.links.clear();
        }
        if let Some(known) = self.pages.get(&finished.key)
            && known.record.run == record.run
        {
            history.was_listed = known.history.was_listed;
            record.depth = record.depth.min(known.record.depth);
            record.via = known.record.via;
            record.found_on.clone_from(&known.record.found_on);
            if known.record.sitemap_lastmod.is_some() {
                record
                    .sitemap_lastmod
                    .clone_from(&known.record.sitemap_lastmod);
            }
        }
        if let Basis::Kept(kept) = &record.basis {
            history.failing_since = Some(kept.since);
            history.gone_since = kept.gone_since;
        }
        self.pages.insert(
            finished.key.clone(),
            Known {
                record,
                earlier: None,
                history,
            },
        );
        if let Some(links) = &finished.links {
            self.links.insert(finished.key.clone(), links.clone());
        }
    }

    pub(super) fn requeue(&mut self, run: RunId, queued: &QueuedUrl) {
        self.last_sequence = self.last_sequence.max(queued.sequence);
        if let Some(known) = self.pages.get(&queued.key)
            && known.record.run == run
            && self.is_put_off(&queued.key, known).is_some()
            && let Some(mut before) = self.put_off.remove(&queued.key)
        {
            before.record.reason = Reason::KeptNotReached;
            self.links.remove(&queued.key);
            self.pages.insert(queued.key.clone(), before);
        }
        let Some(known) = self.pages.get_mut(&queued.key) else {
            return;
        };
        if known.record.run != run || known.record.reason == Reason::Queued {
            return;
        }
        known.history = known.history(self.published_run);
        // What it was decided to be since the last publish does not count yet.
        let stood = self.stood.get(&queued.key).map(|(stood, _)| stood);
        if let Some(stood) = stood.filter(|stood| stood.record.run == run) {
            known.history.was_listed = stood.history.was_listed;
        }
        known.record.basis = Basis::Own;
        if let Some(Outcome::Answered(facts)) = known.record.outcome.take() {
            known.earlier = Some(*facts);
        }
        known.record.reason = Reason::Queued;
        known.record.depth = known.record.depth.min(queued.depth);
        known.record.attempts = 0;
        known.record.fetched_at = None;
        self.queue
            .insert(queued.sequence, (queued.key.clone(), queued.hops));
    }

    pub(super) fn date(&mut self, run: RunId, key: &UrlKey, date: &SitemapDate) {
        if let Some(known) = self.pages.get_mut(key)
            && known.record.run == run
        {
            known.record.sitemap_lastmod.get_or_insert(date.clone());
        }
    }

    pub(super) fn set_value(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.values.insert(name.to_owned(), value.to_owned()),
            None => self.values.remove(name),
        };
    }

    pub(super) fn forget(&mut self, forgotten: &Forgotten) {
        let queued: HashSet<&UrlKey> = self.queue.values().map(|(key, _)| key).collect();
        self.pages.retain(|key, known| {
            let may_come_back = match known.record.reason.state() {
                State::Listed => true,
                State::Queued => known.history.was_listed,
                State::Excluded | State::Failed => false,
            };
            known.record.run >= forgotten.before || may_come_back || queued.contains(key)
        });
        self.links.retain(|key, _| self.pages.contains_key(key));
        self.stood.retain(|key, _| self.pages.contains_key(key));
        self.put_off.retain(|key, _| self.pages.contains_key(key));
        self.doubts.retain(|key, _| self.pages.contains_key(key));
        self.undo.forget_pages(|key| self.pages.contains_key(key));
        self.ledger.retain(|key, entry| {
            let seen = entry.seen_seconds.unwrap_or_default();
            seen >= forgotten.seen_before.as_second() || self.pages.contains_key(key)
        });
        self.undo.forget_undone(|key| self.ledger.contains_key(key));
    }

    /// What was decided since the last publish counts no more.
    pub(super) fn take_back(&mut self) {
        if self.published_run == Some(0) {
            self.pages
                .retain(|_, known| known.record.run == 0 || known.history.was_listed);
            self.links.retain(|key, _| self.pages.contains_key(key));
            self.undo.forget_pages(|_| false);
        }
        for (key, (known, links)) in std::mem::take(&mut self.stood) {
            let run = self.pages.get(&key).map(|known| known.record.run);
            if run.is_none_or(|run| run < known.record.run) {
                continue;
            }
            match links {
                Some(links) => self.links.insert(key.clone(), links),
                None => self.links.remove(&key),
            };
            self.pages.insert(key, known);
        }
        for (key, known) in std::mem::take(&mut self.put_off) {
            if self.before_move(&key, &known).is_some() {
                self.links.remove(&key);
                self.pages.insert(key, known);
            }
        }
    }

    /// `before`, if it is what was known of the page `key` before the run of its record.
    pub(super) fn before_move<'k>(&self, key: &UrlKey, before: &'k Known) -> Option<&'k Known> {
        let known = self.pages.get(key)?;
        (before.record.run == known.record.run).then_some(before)
    }

    /// Puts off what the page `key` comes to, if it was listed before.
    pub(super) fn put_off(&mut self, key: &UrlKey) {
        let is_answered = self
            .pages
            .get(key)
            .is_some_and(|known| matches!(known.record.outcome, Some(Outcome::Answered(_))));
        let stood = self.stood.get(key).map(|(stood, _)| stood);
        let stood = stood.filter(|stood| is_answered && stood.history.was_listed);
        let Some(before) = stood.and_then(|stood| self.before_move(key, stood)) else {
            return;
        };
        let mut before = before.clone();
        if let Some(Outcome::Answered(facts)) = &mut before.record.outcome {
            facts.read_as = 0;
        }
        if let Some(facts) = &mut before.earlier {
            facts.read_as = 0;
        }
        self.put_off.entry(key.clone()).or_insert(before);
    }

    /// What was known before of the page `key`, if what it comes to is put off.
    pub(super) fn is_put_off(&self, key: &UrlKey, known: &Known) -> Option<&Known> {
        let is_waiting = known.record.reason == Reason::KeptNotReached
            && matches!(known.record.outcome, Some(Outcome::Answered(_)));
        let before = self.put_off.get(key).filter(|_| is_waiting);
        before.and_then(|before| self.before_move(key, before))
    }

    /// The record of the page `key` as it counts.
    pub(super) fn counting(&self, key: &UrlKey, known: &Known) -> PageRecord {
        let Some(before) = self.is_put_off(key, known) else {
            return known.counting();
        };
        let History {
            failing_since,
            gone_since,
            ..
        } = before.history;
        let facts = before.clone().into_facts();
        let record = known.record.clone();
        record.put_off(facts, failing_since, gone_since)
    }

    /// Whether the URL was new to the run.
    pub(super) fn give(&mut self, run: RunId, url: GivenUrl) -> bool {
        let known = self.pages.remove(&url.key);
        let (history, earlier) = match known {
            Some(known) if known.record.run >= run => {
                self.pages.insert(url.key, known);
                return false;
            }
            // That it was listed is asked of what is fetched only.
            Some(known) => (
                History {
                    was_listed: known.history.was_listed,
                    ..known.history(None)
                },
                known.into_facts(),
            ),
            None => (History::default(), None),
        };
        let record = PageRecord {
            run,
            reason: url.reason,
            depth: 0,
            via: Via::Input,
            found_on: None,
            attempts: 0,
            fetched_at: None,
            sitemap_lastmod: None,
            outcome: Some(Outcome::Given(Box::new(url.given))),
            basis: Basis::Own,
        };
        let known = Known {
            record,
            earlier,
            history,
        };
        self.pages.insert(url.key, known);
        true
    }

    /// At most `limit` URLs behind `after` that `is_meant` fits, with their depth.
    pub(super) fn portion(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
        is_meant: impl Fn(&Known) -> bool,
    ) -> Vec<(UrlKey, u32)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = self.pages.range((start, Bound::Unbounded));
        behind
            .filter(|(_, known)| is_meant(known))
            .map(|(key, known)| (key.clone(), known.record.depth))
            .take(limit)
            .collect()
    }

    pub(super) fn of_run(&self, run: RunId) -> impl Iterator<Item = (&UrlKey, &PageRecord)> {
        self.pages
            .iter()
            .map(|(key, known)| (key, &known.record))
            .filter(move |(_, record)| record.run == run)
    }
}
