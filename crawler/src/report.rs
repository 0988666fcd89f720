//! Counts of URLs by state and reason: the numbers of the summary, the terminal
//! report and `arpent report`. Reads the store, which is the only one that counts; it keeps no
//! counter of its own, so that the numbers cannot drift from the records. It never prints.

mod changes;

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use crate::{
    config::Share,
    crawl_state,
    page::{ClosedPattern, Mark, PatternKind, Reason, State},
    seeds::Tally,
    store::{Shown, Store, StoreError},
    url_key::UrlKey,
};

pub use self::changes::{ChangedUrls, SetChange, SetChanges};

/// The known URLs of one crawl, each counted once, under the one state that it is in.
///
/// The parts are counted, never the whole: [`Report::known`] adds them up, so
/// `known = listed + excluded + failed + queued` cannot be untrue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// URLs in the sitemap.
    pub listed: u64,
    /// Listed URLs that stay in the sitemap although they did not answer well this time, by the code of their reason.
    pub retained: BTreeMap<&'static str, u64>,
    /// URLs that are not, by the code of their reason ([`Reason::code`]); no reason with a count of 0.
    pub excluded: BTreeMap<&'static str, u64>,
    /// URLs that could not be fetched after all tries, by the code of their reason.
    pub failed_reasons: BTreeMap<&'static str, u64>,
    /// The first URLs of each reason that is a fault ([`Reason::is_fault`]), by its code.
    pub examples: BTreeMap<&'static str, Vec<String>>,
    /// URLs that are not decided yet.
    pub queued: u64,
    /// Links that were not recorded, because a bound of the settings was reached; each as often as it was found. What
    /// they lead to is not known.
    pub not_recorded: u64,
    /// Known URLs, in whatever state, that only sitemaps, feeds or lists name: no page leads to them.
    pub orphans: u64,
    /// The sitemaps, feeds and lists of the crawl.
    pub seeds: Tally,
    /// Places that were cut, those with the most missing pages first.
    pub cut: Vec<ClosedPattern>,
    /// The share of failed URLs up to which a crawl counts as whole.
    pub partial_above: Share,
}

/// URLs by reason, with the first ones of each fault.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReasonCounts {
    pub(crate) counts: BTreeMap<Reason, u64>,
    examples: BTreeMap<Reason, Vec<String>>,
}

/// Pages that a place counts for at least that was cut.
const MIN_BEHIND_CUT: u64 = 1_000;

/// Examples of one reason at most.
const MAX_EXAMPLES: usize = 3;

impl ReasonCounts {
    /// Counts the URL `key`.
    pub(crate) fn add(&mut self, reason: Reason, key: &UrlKey) {
        *self.counts.entry(reason).or_default() += 1;
        if reason.is_fault() {
            let examples = self.examples.entry(reason).or_default();
            if examples.len() < MAX_EXAMPLES {
                examples.push(key.to_string());
            }
        }
    }
}

fn cut_places(store: &Store) -> Result<Vec<ClosedPattern>, StoreError> {
    let mut places = store.patterns()?;
    places.retain(|pattern| pattern.kind == PatternKind::Place);
    places.sort_by_key(|place| Reverse(place.left_out + place.not_requested));
    Ok(places)
}

impl Report {
    /// Counts the visits of the crawl under way, by what the crawl decided: the report of a session that publishes nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let (mut counts, mut orphans) = (ReasonCounts::default(), 0);
        store.each(None, Shown::Outline, &mut |rows| {
            if let Some(visit) = rows.note()? {
                counts.add(visit.reason, &rows.key);
                orphans += u64::from(visit.is_orphan && visit.reason.state() == State::Listed);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Self::of(store, &counts, orphans)
    }

    /// The report on counts by reason, with what the state knows beside them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn of(
        store: &Store,
        counts: &ReasonCounts,
        orphans: u64,
    ) -> Result<Self, StoreError> {
        let examples = counts.examples.iter();
        Ok(Self {
            examples: examples
                .map(|(reason, urls)| (reason.code(), urls.clone()))
                .collect(),
            not_recorded: crawl_state::not_recorded(store)?,
            orphans,
            seeds: Tally::read(store)?,
            cut: cut_places(store)?,
            ..Self::from_counts(&counts.counts)
        })
    }

    /// The report on counts by reason.
    pub fn from_counts(counts: &BTreeMap<Reason, u64>) -> Self {
        let mut report = Self::default();
        for (reason, count) in counts.iter().filter(|(_, count)| **count > 0) {
            if *reason == Reason::SeedDocument {
                // Sitemaps and feeds are not known URLs, whatever leads to them.
                continue;
            }
            if reason.has(Mark::Retained) {
                *report.retained.entry(reason.code()).or_default() += count;
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

    /// Returns whether more URLs failed than may fail, whether they were published or not.
    fn fails_in_part(&self) -> bool {
        let failed = self.failed() + self.retained_unreachable();
        let share = Share::of(failed, self.listed + self.failed());
        failed > 0 && (self.partial_above == Share::NONE || share > self.partial_above)
    }

    /// Returns whether too many URLs failed after their tries, or one was not reached, was cut short or not recorded. The same for a
    /// sitemap or a list that could not be read this time, and when more than a tenth of the set may be missing in places that were cut.
    pub fn is_partial(&self) -> bool {
        self.fails_in_part()
            || self.queued > 0
            || self.not_recorded > 0
            || self.seeds.passing > 0
            || self.behind_cuts() > self.listed / 10
            || self.is_much_gone()
            || self.excluded.contains_key(Reason::CutShort.code())
            || self.retained.contains_key(Reason::NotReached.code())
    }

    /// Pages of places that were cut which are not listed because of that, or were not asked for. A place counts for as many at least as
    /// a place leads to before it is cut, because nobody knows what is beyond.
    fn behind_cuts(&self) -> u64 {
        let mut behind = 0;
        for place in &self.cut {
            behind += (place.left_out + place.not_requested).max(MIN_BEHIND_CUT);
        }
        behind
    }

    /// Returns whether a tenth of the set, or more, answered 404 for the first time.
    fn is_much_gone(&self) -> bool {
        let gone = self.retained.get(Reason::GoneOnce.code());
        gone.is_some_and(|gone| gone * 10 >= self.listed)
    }

    /// Listed URLs that could not be fetched this time.
    pub fn retained_unreachable(&self) -> u64 {
        let code = Reason::Unreachable.code();
        self.retained.get(code).copied().unwrap_or_default()
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

    /// Every reason has a count of its own: the nth reason has n + 1 URLs.
    fn every_reason() -> BTreeMap<Reason, u64> {
        Reason::ALL.iter().copied().zip(1..).collect()
    }

    #[test]
    fn failures_up_to_the_share_make_no_crawl_partial() {
        for (reason, count, partial_above, expected) in [
            (Reason::ServerError, 1, Share::NONE, true),
            (Reason::ServerError, 10, Share::millionths(10_000), false),
            (Reason::ServerError, 11, Share::millionths(10_000), true),
            // Published pages that failed stay listed.
            (Reason::Unreachable, 9, Share::millionths(10_000), false),
            (Reason::Unreachable, 11, Share::millionths(10_000), true),
            (Reason::NotReached, 1, Share::ALL, true),
            (Reason::Queued, 1, Share::ALL, true),
        ] {
            let counts = BTreeMap::from([(Reason::Listed, 990), (reason, count)]);
            let report = Report {
                partial_above,
                ..Report::from_counts(&counts)
            };
            assert_eq!(report.is_partial(), expected, "{count} {reason:?}");
        }
    }

    #[test]
    fn each_reason_is_counted_under_its_state() {
        let report = Report::from_counts(&every_reason());
        let (mut known, mut listed, mut queued) = (0, 0, 0);
        let mut explained = BTreeMap::new();
        for (reason, count) in every_reason() {
            if reason == Reason::SeedDocument {
                continue;
            }
            known += count;
            match reason.state() {
                State::Listed => listed += count,
                State::Queued => queued += count,
                State::Excluded | State::Failed => {
                    explained.insert(reason.code(), count);
                }
            }
        }
        assert_eq!((report.listed, report.queued), (listed, queued));
        assert_eq!(report.known(), known);
        assert_eq!(
            known,
            listed + report.excluded_total() + report.failed() + queued
        );
        let retained: Vec<_> = report.retained.keys().copied().collect();
        assert_eq!(retained, ["gone-once", "not-reached", "unreachable"]);
        assert_eq!(
            report.retained_unreachable(),
            report.retained["gone-once"] + 1,
            "the next reason"
        );
        let mut failed = report.failed_reasons.keys();
        assert!(failed.all(|code| !report.excluded.contains_key(code)));
        let mut counted = report.excluded;
        counted.extend(report.failed_reasons);
        assert_eq!(counted, explained);
    }

    #[test]
    fn reasons_without_urls_are_not_named() {
        let report =
            Report::from_counts(&BTreeMap::from([(Reason::Noindex, 0), (Reason::Gone, 2)]));
        assert_eq!(report.excluded, BTreeMap::from([("gone", 2)]));
    }
}
