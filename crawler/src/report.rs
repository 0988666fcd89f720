//! How many URLs are in which state, for which reason: the numbers of the summary, the terminal
//! report and `arpent report`. Reads the store, which is the only one that counts; it keeps no
//! counter of its own, so that the numbers cannot drift from the records. It never prints.

use std::collections::BTreeMap;

use crate::{
    page::{Reason, RunId, State},
    runs,
    seeds::Tally,
    store::{Store, StoreError},
};

/// The known URLs of one run, each counted once, under the one state that it is in.
///
/// The parts are counted, never the whole: [`Report::known`] adds them up, so
/// `known = listed + excluded + failed + queued` cannot be untrue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// URLs in the sitemap.
    pub listed: u64,
    /// Those of them that stay there although they did not answer well this time, by the code of their reason.
    pub kept: BTreeMap<&'static str, u64>,
    /// URLs that are not, by the code of their reason ([`Reason::code`]); no reason with a count of 0.
    pub excluded: BTreeMap<&'static str, u64>,
    /// URLs that could not be fetched after all tries, by the code of their reason.
    pub failed_reasons: BTreeMap<&'static str, u64>,
    /// URLs that are not decided yet.
    pub queued: u64,
    /// Links that were not recorded, because a bound of the settings was reached; each as often as it was found. What
    /// they lead to is not known.
    pub not_recorded: u64,
    /// Known URLs, in whatever state, that only sitemaps, feeds or lists name: no page leads to them.
    pub orphans: u64,
    /// The sitemaps, feeds and lists of the run.
    pub seeds: Tally,
}

impl Report {
    /// Counts the records of run `run`, which must be the last one that was begun: orphans and documents are
    /// kept of that one only.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        Ok(Self {
            not_recorded: runs::not_recorded(store)?,
            orphans: store.orphan_count()?,
            seeds: Tally::read(store)?,
            ..Self::from_counts(&store.counts(run)?)
        })
    }

    /// The report on counts by reason.
    pub fn from_counts(counts: &BTreeMap<Reason, u64>) -> Self {
        let mut report = Self::default();
        for (reason, count) in counts.iter().filter(|(_, count)| **count > 0) {
            if *reason == Reason::SeedDocument {
                // Sitemaps and feeds are no known URLs, whatever leads to them.
                continue;
            }
            if matches!(
                reason,
                Reason::KeptGoneOnce | Reason::KeptUnreachable | Reason::KeptNotReached
            ) {
                *report.kept.entry(reason.code()).or_default() += count;
            }
            match reason.state() {
                State::Listed => report.listed += count,
                State::Queued => report.queued += count,
                State::Excluded => *report.excluded.entry(reason.code()).or_default() += count,
                State::Failed => *report.failed_reasons.entry(reason.code()).or_default() += count,
            }
        }
        report
    }

    /// Listed URLs that could not be fetched this time.
    pub fn kept_unreachable(&self) -> u64 {
        let code = Reason::KeptUnreachable.code();
        self.kept.get(code).copied().unwrap_or_default()
    }

    /// URLs that were left out, for whatever reason.
    pub fn excluded_total(&self) -> u64 {
        self.excluded.values().sum()
    }

    /// URLs that failed, for whatever reason.
    pub fn failed(&self) -> u64 {
        self.failed_reasons.values().sum()
    }

    /// All known URLs.
    pub fn known(&self) -> u64 {
        self.listed + self.excluded_total() + self.failed() + self.queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        page::Via,
        store::{Commit, Discovery, memory::MemoryStore},
        url_key::UrlKey,
    };

    /// A run in which every reason has a count of its own: the nth reason has n + 1 URLs.
    fn store_with_every_reason(run: RunId) -> MemoryStore {
        let discovered = Reason::ALL
            .iter()
            .enumerate()
            .flat_map(|(number, reason)| (0..=number).map(move |copy| (number, copy, *reason)))
            .enumerate()
            .map(|(sequence, (number, copy, reason))| Discovery {
                key: UrlKey::from_normalised(&format!("https://example.com/{number}/{copy}"))
                    .unwrap(),
                sequence: sequence as u64,
                depth: 1,
                hops: 0,
                via: Via::Link,
                found_on: None,
                reason,
            })
            .collect();
        let mut store = MemoryStore::default();
        store
            .commit(&Commit {
                run,
                discovered,
                ..Commit::default()
            })
            .unwrap();
        store
    }

    #[test]
    fn every_known_url_is_counted_once() {
        let report = Report::read(&store_with_every_reason(1), 1).unwrap();
        let of_documents = Reason::ALL
            .iter()
            .position(|reason| *reason == Reason::SeedDocument)
            .map_or(0, |number| number as u64 + 1);
        let all: u64 = (1..=Reason::ALL.len() as u64).sum();
        assert_eq!(report.known(), all - of_documents);
        assert_eq!(
            report.known(),
            report.listed + report.excluded_total() + report.failed() + report.queued
        );
    }

    #[test]
    fn each_reason_is_counted_under_its_state() {
        let report = Report::read(&store_with_every_reason(1), 1).unwrap();
        let mut listed = 0;
        let mut queued = 0;
        let mut explained = BTreeMap::new();
        for (number, reason) in Reason::ALL.iter().enumerate() {
            let count = number as u64 + 1;
            match reason.state() {
                _ if *reason == Reason::SeedDocument => {}
                State::Listed => listed += count,
                State::Queued => queued += count,
                State::Excluded | State::Failed => {
                    explained.insert(reason.code(), count);
                }
            }
        }
        assert_eq!((report.listed, report.queued), (listed, queued));
        assert_eq!(
            report.kept.keys().copied().collect::<Vec<_>>(),
            ["kept-gone-once", "kept-not-reached", "kept-unreachable"]
        );
        assert_eq!(
            report.kept_unreachable(),
            report.kept["kept-gone-once"] + 1,
            "the next reason"
        );
        assert!(
            report
                .failed_reasons
                .keys()
                .all(|code| !report.excluded.contains_key(code))
        );
        let mut told = report.excluded;
        told.extend(report.failed_reasons);
        assert_eq!(told, explained);
    }

    #[test]
    fn other_runs_do_not_count() {
        assert_eq!(
            Report::read(&store_with_every_reason(1), 2).unwrap(),
            Report::default()
        );
    }

    #[test]
    fn reasons_without_urls_are_not_named() {
        let report =
            Report::from_counts(&BTreeMap::from([(Reason::Noindex, 0), (Reason::Gone, 2)]));
        assert_eq!(report.excluded, BTreeMap::from([("gone", 2)]));
    }
}
