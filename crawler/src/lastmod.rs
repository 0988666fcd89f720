//! `lastmod` of a page with its source, and its history: plain functions over the facts of one crawl and the published
//! `lastmod`. Reads no store and no clock.
//!
//! `lastmod` is never the time of the crawl by itself. The evidence, of which the first that holds decides:
//! 1. a date that a page rule selected;
//! 2. own history: while the content hash has not changed, the published value stays, whatever dates are stated. Without
//!    a published value, a stated date is taken only if it is not later than the first time that this content was seen.
//!    When the content changed between two fetches, a stated date counts if it lies between them and was not stated
//!    before; otherwise the time of the second fetch, unless pages of its first-level directory differ from one request to the
//!    next, so that the published value stays;
//! 3. stated dates: structured data, metas and microdata, a sitemap of the site, `Last-Modified`. Each only if it is
//!    earlier than the host's own clock at the start of the crawl (a day: than its day) and not before the date of
//!    publication, and if the source is trusted on the host and in the directory.
//!
//! A hash of another version does not show a change: the value stays, unless a trusted date has moved. In a crawl in which
//! the clock of this machine and that of the host are more than a day apart nothing new is dated, and the history stays as it
//! is, so that the next crawl finds the change again.

mod evidence;
mod restless;
mod trust;

use jiff::Timestamp;
use sitemap_core::LastMod;

use self::evidence::{History, Stated};
pub(crate) use self::restless::Restless;
pub(crate) use self::trust::{DateTrust, Statistics};
use crate::{
    config::FileDates,
    page::{
        Basis, ContentHash, DateSource, LedgerDates, LedgerEntry, Mark, Outcome, PageFacts,
        PageRecord, State,
    },
    url_key::UrlKey,
};

/// No page is older than this: the year in which search engines began to read the web.
const EARLIEST: Timestamp = Timestamp::constant(788_918_400, 0);

/// When a page changed, and the source of that date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dated {
    pub(crate) value: LastMod,
    pub(crate) source: DateSource,
}

/// The rules by which one crawl dates its pages.
#[derive(Debug)]
pub(crate) struct Dating {
    /// The host's clock at the start of the crawl.
    pub(crate) start: Option<Timestamp>,
    /// The latest date that is plausible.
    pub(crate) latest: Timestamp,
    /// The clocks of this machine and of the host agree. Without that nothing new is dated.
    pub(crate) clocks_agree: bool,
    /// `true` if `Last-Modified` counts.
    pub(crate) file_dates: FileDates,
    pub(crate) trust: DateTrust,
    pub(crate) restless: Restless,
}

impl Dating {
    /// The date of a page with its source.
    pub(crate) fn dated(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<Dated> {
        let facts = match &record.outcome {
            _ if is_as_published(record) => return self.published(known?),
            Some(Outcome::Supplied(supplied)) => {
                let value = supplied.lastmod.clone()?;
                let source = DateSource::Input;
                return Some(Dated { value, source });
            }
            Some(Outcome::Answered(facts)) => facts,
            // The page was not fetched.
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. }) | None => {
                let stated = self.stated(key, record, &PageFacts::default(), None);
                return evidence::first(stated, None).filter(|_| self.clocks_agree);
            }
        };
        let history = History::of(facts, &record.basis, known);
        if !self.clocks_agree {
            return match history {
                History::Same(known) | History::Unknown(known) => self.published(known),
                History::None | History::Changed(_) => None,
            };
        }
        let selected = facts.selected_lastmod.as_deref();
        let selected = selected.and_then(|text| LastMod::parse(text).ok());
        if let Some(value) = selected.filter(|value| self.is_plausible(value)) {
            let source = DateSource::Rule;
            return Some(Dated { value, source });
        }
        let mut stated = self.stated(key, record, facts, known);
        match history {
            History::None => evidence::first(stated, None),
            History::Same(known) => self.published(known).or_else(|| {
                if record.basis != Basis::Own {
                    // The page was not read again. A date that was not used when it was read is still not used, except
                    // a day: it was perhaps that of the crawl, and is not the day of every request.
                    stated.retain(|stated| {
                        stated.source == DateSource::Sitemap
                            || record.basis == Basis::Confirmed && !stated.is_instant()
                    });
                }
                evidence::first(stated, Some(known))
            }),
            History::Unknown(known) => match self.published(known) {
                Some(published) => {
                    let moved = evidence::moved(stated, &published, seen_at(record), known);
                    Some(moved.unwrap_or(published))
                }
                None => evidence::first(stated, Some(known)),
            },
            History::Changed(known) => {
                let seen = seen_at(record);
                evidence::between(stated, seen, known).or_else(|| {
                    if !self.restless.dates(key) {
                        return self.published(known);
                    }
                    let value = LastMod::from_timestamp(seen?);
                    let source = DateSource::History;
                    Some(Dated { value, source }).filter(|dated| self.is_plausible(&dated.value))
                })
            }
        }
    }

    /// The published date, unless it is in the future: then a clock was ahead when it was published.
    fn published(&self, known: &LedgerEntry) -> Option<Dated> {
        let value = LastMod::parse(known.lastmod.as_deref()?).ok()?;
        let source = known.source?;
        let is_past = value.latest_instant() <= self.latest || !self.clocks_agree;
        (is_past && self.counts(source)).then_some(Dated { value, source })
    }

    /// Returns whether the settings allow a source of dates.
    fn counts(&self, source: DateSource) -> bool {
        source != DateSource::Header || self.file_dates == FileDates::Mtime
    }

    /// The dates of a page that can be used, the best first.
    fn stated(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        facts: &PageFacts,
        known: Option<&LedgerEntry>,
    ) -> Vec<Stated> {
        let published = facts.dates.published.as_deref();
        let values = evidence::values(record, facts).filter(|(source, value)| {
            self.counts(*source)
                && self.trust.trusts(*source, key)
                && !self.is_now(value)
                && self.is_plausible(value)
                && !published.is_some_and(|published| evidence::is_before(value, published))
        });
        let stated = values.map(|(source, value)| Stated {
            has_moved: evidence::has_moved(source, &value, known),
            source,
            value,
        });
        stated.collect()
    }

    /// Returns whether a date is not earlier than the start of the crawl; a day, than its day.
    fn is_now(&self, value: &LastMod) -> bool {
        self.start
            .is_some_and(|start| value.latest_instant() >= start)
    }

    fn is_plausible(&self, value: &LastMod) -> bool {
        let instant = value.latest_instant();
        instant >= EARLIEST && instant <= self.latest
    }

    /// Counts the dates that are stated for a page.
    pub(crate) fn count(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
        statistics: &mut Statistics,
    ) {
        let nothing = PageFacts::default();
        let facts = record.facts().unwrap_or(&nothing);
        let history = History::of(facts, &record.basis, known);
        let is_same = matches!(history, History::Same(_)) && is_read(&record.basis);
        for (source, value) in evidence::values(record, facts) {
            let of_sitemap = record.sitemap_lastmod.as_ref();
            let is_of_file =
                source == DateSource::Sitemap && of_sitemap.is_some_and(|date| date.is_of_file);
            let is_wrong = is_of_file
                || self.is_now(&value) && evidence::is_instant(&value)
                || is_same && evidence::has_moved(source, &value, known) == Some(true);
            // An answer without a body may have the header all the same.
            if is_wrong || record.basis == Basis::Own || source == DateSource::Sitemap {
                statistics.add(source, key, &value, is_wrong);
            } else {
                statistics.add_unread(source, key);
            }
        }
    }

    /// The new history of a page, if it is another one than `known`.
    pub(crate) fn ledger_change(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<LedgerEntry> {
        let facts = record.facts()?;
        if record.reason.state() != State::Listed || !self.clocks_agree {
            return None;
        }
        let (content_hash, hash_version) = match facts.content_hash {
            Some(ContentHash(hash)) => (hash, ContentHash::VERSION),
            None => (facts.document_tag()?, ContentHash::OF_DOCUMENT),
        };
        let history = History::of(facts, &record.basis, known);
        let before = known.and_then(|known| known.shown_hash);
        let shown = facts.shown.map(|shown| shown.hash);
        // A page that a 304 confirmed was not rendered again.
        let is_steady = shown.is_some()
            && shown == before
            && record.basis == Basis::Own
            && matches!(history, History::Same(_));
        let dated = self.dated(key, record, known);
        let (lastmod, source) = dated
            .map(|dated| (dated.value.as_str().to_owned(), dated.source))
            .unzip();
        let seen = seen_at(record).map(Timestamp::as_second);
        let entry = match (history, &record.basis) {
            // Neither the content nor the dates that are stated with it were read in this crawl.
            (History::Same(known), basis) if !is_read(basis) => LedgerEntry {
                lastmod,
                source,
                ..known.clone()
            },
            _ => LedgerEntry {
                content_hash,
                hash_version,
                shown_hash: shown.or(before),
                is_shown_steady: is_steady || known.is_some_and(|known| known.is_shown_steady),
                lastmod,
                last_modified_seconds: facts.last_modified.map(Timestamp::as_second),
                source,
                since_seconds: match history {
                    History::Same(known) => known.since_seconds.or(seen),
                    History::None | History::Unknown(_) | History::Changed(_) => seen,
                },
                seen_seconds: seen.or(known.and_then(|known| known.seen_seconds)),
                stated: LedgerDates {
                    json_ld: facts.dates.json_ld.clone(),
                    meta: facts.dates.meta.clone(),
                    sitemap: record
                        .sitemap_lastmod
                        .as_ref()
                        .map(|date| date.lastmod.clone()),
                },
            },
        };
        (known != Some(&entry)).then_some(entry)
    }
}

/// When the content of a page was read. A page that stays listed by its last good answer was read before its attempts began
/// to fail.
fn seen_at(record: &PageRecord) -> Option<Timestamp> {
    match &record.basis {
        Basis::Own | Basis::Confirmed => record.fetched_at,
        Basis::Kept(_) => record.failing_since,
        Basis::NotReached => None,
    }
}

/// Returns whether the last attempt read the page, or confirmed it.
fn is_read(basis: &Basis) -> bool {
    match basis {
        Basis::Own | Basis::Confirmed => true,
        Basis::Kept(_) | Basis::NotReached => false,
    }
}

/// Returns whether nothing but the published entry is known of a page.
fn is_as_published(record: &PageRecord) -> bool {
    record.reason.has(Mark::Retained) && record.facts().is_none()
}
