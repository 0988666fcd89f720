//! The obvious implementation of [`Store`]: maps in memory. It is the model that the durable store
//! is checked against, and the store of tests that run the engine. It never touches a disk, so
//! nothing in it outlives the process.

mod contents;
mod known;
mod outbox;
mod undo;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;

use self::{contents::Contents, known::Known};
use crate::{
    page::{Basis, Outcome, PageFacts, PageRecord, Reason, RunId, State},
    store::{
        Commit, Doubt, Gave, GivenUrl, Giving, KeptDocument, KeptNote, LedgerEntry, NextGiven,
        QueuedUrl, Rejudged, Store, StoreError, Version, VisitPage,
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
        for (key, doubt) in &commit.doubts {
            match doubt {
                Some(doubt) => contents.doubts.insert(key.clone(), doubt.clone()),
                None => contents.doubts.remove(key),
            };
        }
        for (name, value) in &commit.values {
            contents.set_value(name, value.as_deref());
        }
        for step in &commit.outbox {
            if let OutboxStep::Undo(step) = step {
                contents.apply_undo(*step);
            }
            if matches!(step, OutboxStep::Take { .. }) && commit.run > 0 {
                contents.published_run = Some(commit.run);
                contents.stood.clear();
                let Contents { pages, put_off, .. } = &mut *contents;
                put_off.retain(|key, before| {
                    pages.get(key).is_some_and(|known| {
                        known.record.reason == Reason::KeptNotReached
                            && known.record.run == before.record.run
                            && matches!(known.record.outcome, Some(Outcome::Answered(_)))
                    })
                });
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

    fn bytes(&self) -> Result<u64, StoreError> {
        let contents = self.contents();
        Ok(contents
            .pages
            .keys()
            .map(|key| key.as_str().len() as u64)
            .sum())
    }

    fn last_sequence(&self) -> Result<u64, StoreError> {
        Ok(self.contents().last_sequence)
    }

    fn page(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
        let contents = self.contents();
        let known = contents.pages.get(key);
        Ok(known.map(|known| contents.counting(key, known)))
    }

    fn versions(
        &self,
        run: RunId,
        of: &UrlKey,
        targets: &[&UrlKey],
    ) -> Result<Vec<Version>, StoreError> {
        let contents = self.contents();
        let record_of = |key: &UrlKey| {
            let known = contents.pages.get(key);
            let known = known.map(|known| contents.counting(key, known));
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

    fn facts_before(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError> {
        let contents = self.contents();
        let page = contents.pages.get(key);
        let counts = |page: &Known| {
            contents.published_run != Some(0) || page.record.run == 0 || page.history.was_listed
        };
        let Some(page) = page.filter(|page| counts(page)) else {
            return Ok(None);
        };
        let stood = contents.stood.get(key).map(|(stood, _)| stood);
        let stood = stood.filter(|stood| stood.record.run <= page.record.run);
        Ok(stood.unwrap_or(page).clone().into_facts())
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

    fn moved(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<QueuedUrl>, StoreError> {
        let contents = self.contents();
        let redirects = contents.of_run(run).filter(|(key, record)| {
            matches!(
                record.reason,
                Reason::Redirected | Reason::RefreshRedirect | Reason::KeptNotReached
            ) && matches!(record.outcome, Some(Outcome::Answered(_)))
                && after.is_none_or(|after| key.as_str() > after.as_str())
        });
        let mut moved: Vec<QueuedUrl> = redirects
            .filter_map(|(key, _)| {
                let put_off = contents.put_off.get(key);
                let stood = contents.stood.get(key).map(|(stood, _)| stood);
                let stood = stood.filter(|stood| stood.history.was_listed);
                let before = [put_off, stood].into_iter().flatten();
                let mut before = before.filter_map(|before| contents.before_move(key, before));
                let before = before.next()?;
                Some(QueuedUrl {
                    sequence: 0,
                    key: key.clone(),
                    depth: before.record.depth,
                    hops: 0,
                    earlier: before.outlines(),
                })
            })
            .collect();
        moved.sort_unstable_by(|one, other| one.key.as_str().cmp(other.key.as_str()));
        moved.truncate(limit);
        Ok(moved)
    }

    fn put_off(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
        let contents = self.contents();
        let known = contents.pages.get(key);
        let known = known.filter(|known| contents.is_put_off(key, known).is_some());
        Ok(known.map(|known| known.record.clone()))
    }

    fn doubt(&self, key: &UrlKey) -> Result<Option<Doubt>, StoreError> {
        Ok(self.contents().doubts.get(key).cloned())
    }

    fn doubts(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Doubt)>, StoreError> {
        let contents = self.contents();
        let mut doubts: Vec<_> = contents.doubts.iter().collect();
        doubts.sort_unstable_by_key(|(key, _)| key.as_str());
        let behind = doubts
            .into_iter()
            .filter(|(key, _)| after.is_none_or(|after| key.as_str() > after.as_str()));
        Ok(behind
            .map(|(key, doubt)| (key.clone(), doubt.clone()))
            .take(limit)
            .collect())
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
        let contents = self.contents();
        let records: Vec<_> = contents
            .pages
            .iter()
            .filter(|(_, known)| known.record.run == run)
            .filter(|(key, _)| from.is_none_or(|from| *key >= from))
            .map(|(key, known)| (key.clone(), contents.counting(key, known)))
            .collect();
        drop(contents);
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
        let (ledger, undo) = {
            let contents = self.contents();
            (contents.ledger.clone(), contents.undo.clone())
        };
        self.visit_pages(run, from, &mut |key, record| {
            let known = undo.ledger_of(key, &record, ledger.get(key).cloned());
            visit(key, record, known)
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
            if *reason == Reason::KeptNotReached {
                contents.put_off(key);
            }
        }
        Ok(())
    }

    fn ledger(&self, key: &UrlKey) -> Result<Option<LedgerEntry>, StoreError> {
        Ok(self.contents().ledger.get(key).cloned())
    }

    fn set_ledger(&mut self, entries: &[(UrlKey, LedgerEntry)]) -> Result<(), StoreError> {
        let contents = &mut *self.contents();
        for (key, entry) in entries {
            let known = contents.ledger.get(key);
            contents.undo.keep_ledger(key, known, entry);
            contents.ledger.insert(key.clone(), entry.clone());
        }
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
