//! The obvious implementation of [`Store`]: maps in memory. It is the model that the durable store
//! is checked against, and the store of tests that run the engine. It never touches a disk, so
//! nothing in it outlives the process.

mod outbox;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::{Bound, ControlFlow},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;

use self::outbox::Outbox;
use crate::{
    page::{Basis, Outcome, PageFacts, PageRecord, Reason, RunId, SitemapDate, State, Via},
    store::{
        Commit, Discovery, Earlier, EarlierAnswer, Finished, Forgotten, Gave, GivenUrl, Giving,
        KeptDocument, KeptNote, LedgerEntry, NextGiven, QueuedUrl, Rejudged, Store, StoreError,
        StoreErrorKind, Version, VisitPage,
        outbox::{Difference, Listing, OutboxStep, Waiting},
    },
    url_key::UrlKey,
};

/// A store in memory. A clone is a second handle on the same contents, so that a test can look at
/// what the engine has committed so far; [`MemoryStore::snapshot`] copies the contents.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    contents: Arc<Mutex<Contents>>,
}

/// What a store knows.
#[derive(Debug, Clone, Default)]
struct Contents {
    pages: BTreeMap<UrlKey, Known>,
    /// Keys with their hops, by sequence number. Depths are those of the records.
    queue: BTreeMap<u64, (UrlKey, u8)>,
    orphans: BTreeSet<UrlKey>,
    links: BTreeMap<UrlKey, Vec<UrlKey>>,
    ledger: BTreeMap<UrlKey, LedgerEntry>,
    kept: BTreeMap<UrlKey, KeptDocument>,
    values: BTreeMap<String, String>,
    outbox: Outbox,
    last_sequence: u64,
    /// The last run whose set was published; 0: what there is was refused.
    published_run: Option<RunId>,
    /// What was known of pages, and their links, before a run decided about them that is not published yet.
    stood: BTreeMap<UrlKey, (Known, Option<Vec<UrlKey>>)>,
}

/// What is known of one URL.
#[derive(Debug, Clone)]
struct Known {
    record: PageRecord,
    /// The answer of an earlier run, while there is none in the record's run.
    earlier: Option<PageFacts>,
    history: History,
}

/// What was before the record, as far as it matters for it.
#[derive(Debug, Clone, Copy, Default)]
struct History {
    was_listed: bool,
    failing_since: Option<Timestamp>,
    gone_since: Option<Timestamp>,
}

impl MemoryStore {
    /// A store of its own with the contents of this instant: what a crash now would leave behind.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        Self {
            contents: Arc::new(Mutex::new(self.contents().clone())),
        }
    }

    /// The contents. A panic elsewhere cannot have left them half changed in a way that matters
    /// more than that panic, so a poisoned lock is taken as it is.
    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What it is to a run that finds the URL again, when run `published` was published last.
    fn history(&self, published: Option<RunId>) -> History {
        let is_unpublished = published.is_some_and(|published| self.record.run > published);
        let was_listed = match self.record.reason.state() {
            // It did not come to a decision.
            State::Queued => self.history.was_listed,
            // ... or to one that does not count yet.
            State::Listed | State::Excluded | State::Failed if is_unpublished => {
                self.history.was_listed
            }
            State::Listed => true,
            State::Excluded | State::Failed => false,
        };
        match &self.record.basis {
            Basis::Kept(kept) => History {
                was_listed,
                failing_since: Some(kept.since),
                gone_since: kept.gone_since,
            },
            Basis::Own | Basis::Confirmed => History {
                was_listed,
                ..self.history
            },
        }
    }

    /// The record as it counts.
    fn counting(&self) -> PageRecord {
        let History {
            failing_since,
            gone_since,
            ..
        } = self.history;
        let record = self.record.clone();
        record.listed_by(self.earlier.as_ref(), failing_since, gone_since)
    }

    /// What the queue tells of it.
    fn outlines(&self) -> Option<Box<Earlier>> {
        let History {
            was_listed,
            failing_since,
            gone_since,
        } = self.history;
        Earlier {
            was_listed,
            failing_since,
            gone_since,
            answer: self.earlier.as_ref().map(EarlierAnswer::of),
        }
        .if_any()
    }

    /// Whether `record` lists the page with the same content and the same validators.
    fn is_said_again_by(&self, record: &PageRecord) -> bool {
        let before = match &self.record.outcome {
            Some(Outcome::Answered(facts)) => Some(&**facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
                self.earlier.as_ref()
            }
        };
        let is_kept = matches!(record.basis, Basis::Kept(_));
        record.reason.state() == State::Listed
            && !is_kept
            && record.facts().zip(before).is_some_and(|(now, before)| {
                before.content_hash.is_some()
                    && now.content_hash == before.content_hash
                    && now.etag == before.etag
                    && now.last_modified == before.last_modified
            })
    }

    /// The last answer, whatever its run.
    fn into_facts(self) -> Option<PageFacts> {
        match self.record.outcome {
            Some(Outcome::Answered(facts)) => Some(*facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
                self.earlier
            }
        }
    }
}

impl Contents {
    /// Whether `run` knows `key` already.
    fn knows(&self, run: RunId, key: &UrlKey) -> bool {
        self.pages
            .get(key)
            .is_some_and(|known| known.record.run >= run)
    }

    /// Refuses a commit that would put two URLs at one place of the queue.
    fn check_sequences(&self, commit: &Commit) -> Result<(), StoreError> {
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

    fn discover(&mut self, run: RunId, discovery: &Discovery) {
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

    fn finish(&mut self, finished: &Finished) {
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

    fn requeue(&mut self, run: RunId, queued: &QueuedUrl) {
        self.last_sequence = self.last_sequence.max(queued.sequence);
        let Some(known) = self.pages.get_mut(&queued.key) else {
            return;
        };
        if known.record.run != run || known.record.reason == Reason::Queued {
            return;
        }
        known.history = known.history(self.published_run);
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

    fn date(&mut self, run: RunId, key: &UrlKey, date: &SitemapDate) {
        if let Some(known) = self.pages.get_mut(key)
            && known.record.run == run
        {
            known.record.sitemap_lastmod.get_or_insert(date.clone());
        }
    }

    fn set_value(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.values.insert(name.to_owned(), value.to_owned()),
            None => self.values.remove(name),
        };
    }

    fn forget(&mut self, forgotten: &Forgotten) {
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
        self.ledger.retain(|key, entry| {
            let seen = entry.seen_seconds.unwrap_or_default();
            seen >= forgotten.seen_before.as_second() || self.pages.contains_key(key)
        });
    }

    /// What was decided since the last publish counts no more.
    fn take_back(&mut self) {
        if self.published_run == Some(0) {
            self.pages.clear();
            self.links.clear();
        }
        for (key, (known, links)) in std::mem::take(&mut self.stood) {
            let run = self.pages.get(&key).map(|known| known.record.run);
            if run != Some(known.record.run) {
                continue;
            }
            match links {
                Some(links) => self.links.insert(key.clone(), links),
                None => self.links.remove(&key),
            };
            self.pages.insert(key, known);
        }
    }

    /// Whether the URL was new to the run.
    fn give(&mut self, run: RunId, url: GivenUrl) -> bool {
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
    fn portion(
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

    fn of_run(&self, run: RunId) -> impl Iterator<Item = (&UrlKey, &PageRecord)> {
        self.pages
            .iter()
            .map(|(key, known)| (key, &known.record))
            .filter(move |(_, record)| record.run == run)
    }
}

impl Store for MemoryStore {
    fn commit(&mut self, commit: &Commit) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.check_sequences(commit)?;
        for discovery in &commit.discovered {
            contents.discover(commit.run, discovery);
        }
        for finished in &commit.finished {
            contents.finish(finished);
        }
        for queued in &commit.requeued {
            contents.requeue(commit.run, queued);
        }
        for key in &commit.linked {
            contents.orphans.remove(key);
        }
        for (key, date) in &commit.dated {
            contents.date(commit.run, key, date);
        }
        for (key, document) in &commit.kept {
            match document {
                Some(document) => contents.kept.insert(key.clone(), document.clone()),
                None => contents.kept.remove(key),
            };
        }
        for (name, value) in &commit.values {
            contents.set_value(name, value.as_deref());
        }
        for step in &commit.outbox {
            if matches!(step, OutboxStep::Take { .. }) && commit.run > 0 {
                contents.published_run = Some(commit.run);
                contents.stood.clear();
            }
            if matches!(step, OutboxStep::Disown) {
                contents.published_run.get_or_insert(0);
            }
            contents.outbox.apply(step);
        }
        if let Some(forgotten) = &commit.forgotten {
            contents.forget(forgotten);
        }
        Ok(())
    }

    fn give(&mut self, run: RunId, next: &mut NextGiven<'_>) -> Result<Gave, StoreError> {
        let mut best: BTreeMap<UrlKey, GivenUrl> = BTreeMap::new();
        let mut total = 0;
        loop {
            let url = match next() {
                Giving::Url(url) => url,
                Giving::End => break,
                Giving::GiveUp => return Ok(Gave::default()),
            };
            total += 1;
            let is_better = best
                .get(&url.key)
                .is_none_or(|known| url.given.rank() < known.given.rank());
            if is_better {
                best.insert(url.key.clone(), url);
            }
        }
        let mut contents = self.contents();
        let mut urls = 0;
        for url in best.into_values() {
            urls += u64::from(contents.give(run, url));
        }
        Ok(Gave {
            urls,
            repeated: total - urls,
        })
    }

    fn begin_run(&mut self, _run: RunId) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.take_back();
        contents.queue.clear();
        contents.orphans.clear();
        contents.last_sequence = 0;
        Ok(())
    }

    fn queued(&self, after: Option<u64>, limit: usize) -> Result<Vec<QueuedUrl>, StoreError> {
        let contents = self.contents();
        let behind = |sequence: u64| after.is_none_or(|after| sequence > after);
        Ok(contents
            .queue
            .iter()
            .filter(|(sequence, _)| behind(**sequence))
            .filter_map(|(sequence, (key, hops))| {
                let known = contents.pages.get(key)?;
                Some(QueuedUrl {
                    sequence: *sequence,
                    key: key.clone(),
                    depth: known.record.depth,
                    hops: *hops,
                    earlier: known.outlines(),
                })
            })
            .take(limit)
            .collect())
    }

    fn queue_len(&self) -> Result<u64, StoreError> {
        Ok(self.contents().queue.len() as u64)
    }

    fn last_sequence(&self) -> Result<u64, StoreError> {
        Ok(self.contents().last_sequence)
    }

    fn page(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
        Ok(self.contents().pages.get(key).map(Known::counting))
    }

    fn versions(
        &self,
        run: RunId,
        of: &UrlKey,
        targets: &[&UrlKey],
    ) -> Result<Vec<Version>, StoreError> {
        let contents = self.contents();
        let record_of = |key: &UrlKey| {
            let known = contents.pages.get(key).map(Known::counting);
            known.filter(|record| record.run == run)
        };
        let said = |record: &PageRecord| record.facts().and_then(|facts| facts.alternates.clone());
        let own = record_of(of).as_ref().and_then(said);
        let version = |target: &&UrlKey| match record_of(target) {
            None => Version::Unknown,
            Some(record) if record.reason.state() != State::Listed => Version::Unlisted,
            Some(record) => match said(&record) {
                Some(versions) if own.as_ref() == Some(&versions) => Version::Alike,
                versions => Version::Other(versions.unwrap_or_default()),
            },
        };
        Ok(targets.iter().map(version).collect())
    }

    fn earlier_facts(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError> {
        Ok(self
            .contents()
            .pages
            .get(key)
            .and_then(|known| known.earlier.clone()))
    }

    fn left_behind(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        let contents = self.contents();
        let published = contents.published_run;
        Ok(contents.portion(after, limit, |known| {
            known.record.run < run && known.history(published).was_listed
        }))
    }

    fn confirmed(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        Ok(self.contents().portion(after, limit, |known| {
            known.record.run == run && known.record.basis == Basis::Confirmed
        }))
    }

    fn visit_pages(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut dyn FnMut(&UrlKey, PageRecord) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        // Copied first: the visitor may read this store again, and the lock is not reentrant.
        let records: Vec<_> = self
            .contents()
            .pages
            .iter()
            .filter(|(_, known)| known.record.run == run)
            .filter(|(key, _)| from.is_none_or(|from| *key >= from))
            .map(|(key, known)| (key.clone(), known.counting()))
            .collect();
        for (key, record) in records {
            if visit(&key, record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn visit_pages_with_ledger(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut VisitPage<'_>,
    ) -> Result<(), StoreError> {
        let ledger = self.contents().ledger.clone();
        self.visit_pages(run, from, &mut |key, record| {
            visit(key, record, ledger.get(key).cloned())
        })
    }

    fn visit_keys(
        &self,
        run: RunId,
        visit: &mut dyn FnMut(&UrlKey, Reason),
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = self
            .contents()
            .of_run(run)
            .map(|(key, record)| (key.clone(), record.reason))
            .collect();
        for (key, reason) in keys {
            visit(&key, reason);
        }
        Ok(())
    }

    fn visit_orphans(&self, visit: &mut dyn FnMut(&UrlKey)) -> Result<(), StoreError> {
        let orphans = self.contents().orphans.clone();
        orphans.iter().for_each(visit);
        Ok(())
    }

    fn orphan_count(&self) -> Result<u64, StoreError> {
        Ok(self.contents().orphans.len() as u64)
    }

    fn links(&self, key: &UrlKey) -> Result<Option<Vec<UrlKey>>, StoreError> {
        Ok(self.contents().links.get(key).cloned())
    }

    fn counts(&self, run: RunId) -> Result<BTreeMap<Reason, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        for (_, record) in self.contents().of_run(run) {
            *counts.entry(record.reason).or_default() += 1;
        }
        Ok(counts)
    }

    fn rejudge(&mut self, verdicts: &[Rejudged]) -> Result<(), StoreError> {
        let mut contents = self.contents();
        for (key, reason) in verdicts {
            if let Some(known) = contents.pages.get_mut(key) {
                known.record.reason = *reason;
            }
        }
        Ok(())
    }

    fn ledger(&self, key: &UrlKey) -> Result<Option<LedgerEntry>, StoreError> {
        Ok(self.contents().ledger.get(key).cloned())
    }

    fn set_ledger(&mut self, entries: &[(UrlKey, LedgerEntry)]) -> Result<(), StoreError> {
        self.contents().ledger.extend(entries.iter().cloned());
        Ok(())
    }

    fn visit_ledger(&self, visit: &mut dyn FnMut(&UrlKey, LedgerEntry)) -> Result<(), StoreError> {
        let ledger = self.contents().ledger.clone();
        for (key, entry) in ledger {
            visit(&key, entry);
        }
        Ok(())
    }

    fn kept(&self, key: &UrlKey) -> Result<Option<KeptDocument>, StoreError> {
        Ok(self.contents().kept.get(key).cloned())
    }

    fn visit_kept(&self, visit: &mut dyn FnMut(&UrlKey, KeptNote)) -> Result<(), StoreError> {
        let kept = self.contents().kept.clone();
        for (key, document) in &kept {
            visit(key, document.note());
        }
        Ok(())
    }

    fn published(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Listing)>, StoreError> {
        Ok(self.contents().outbox.published(after, limit))
    }

    fn staged(&self, after: Option<&UrlKey>, limit: usize) -> Result<Vec<Difference>, StoreError> {
        Ok(self.contents().outbox.staged(after, limit))
    }

    fn outbox(
        &self,
        after: Option<&(u32, UrlKey)>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        Ok(self.contents().outbox.waiting(after, limit, now))
    }

    fn outbox_len(&self) -> Result<u64, StoreError> {
        Ok(self.contents().outbox.len())
    }

    fn value(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.contents().values.get(name).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::{self, Bench, conformance_tests};

    /// Nothing to open: what was committed is there.
    struct MemoryBench(MemoryStore);

    impl Bench for MemoryBench {
        fn new() -> Self {
            Self(MemoryStore::default())
        }

        fn store(&mut self) -> &mut dyn Store {
            &mut self.0
        }

        fn reopen(&mut self) {
            self.0 = self.0.clone();
        }

        fn crash(&mut self) {
            self.0 = self.0.snapshot();
        }
    }

    conformance_tests!(MemoryBench);

    #[test]
    fn clones_share_their_contents_and_snapshots_do_not() {
        let mut store = MemoryStore::default();
        let (handle, snapshot) = (store.clone(), store.snapshot());
        let found = conformance::discovery("/a", 1);
        let commit = Commit {
            run: 1,
            discovered: vec![found.clone()],
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
        assert_eq!(handle.queue_len().unwrap(), 1);
        assert_eq!(snapshot.queue_len().unwrap(), 0);
    }
}
