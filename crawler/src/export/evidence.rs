//! The evidence for when a page changed, and what the ledger remembers of it.

use jiff::{Timestamp, ToSpan as _};
use sitemap_core::LastMod;

use super::{
    Export, is_clock_set,
    trust::{Moved, Statistics},
};
use crate::{
    clock::HOST_SECOND,
    config::FileDates,
    page::{Basis, ContentHash, DateSource, Outcome, PageFacts, PageRecord, Reason, State},
    store::{LedgerDates, LedgerEntry},
    url_key::UrlKey,
};

/// No page is older than this: the year the web became public property of search engines.
const EARLIEST: Timestamp = Timestamp::constant(788_918_400, 0);

/// A crawl each night comes to a page some minutes earlier or later than the night before, and once a year the day is an
/// hour shorter.
const ALMOST_A_DAY_SECONDS: i64 = (23 * 60 - 15) * 60;

/// When a page changed, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dated {
    pub(super) value: LastMod,
    pub(super) source: DateSource,
}

/// What the ledger tells of the content that was just seen.
#[derive(Debug, Clone, Copy)]
enum History<'a> {
    /// Nothing: the page is new.
    None,
    /// It is the same.
    Same(&'a LedgerEntry),
    /// It cannot be compared: another version hashed it, or this time nothing was hashed.
    Unknown(&'a LedgerEntry),
    /// It is another one.
    Changed(&'a LedgerEntry),
}

impl<'a> History<'a> {
    fn of(facts: &PageFacts, basis: &Basis, known: Option<&'a LedgerEntry>) -> Self {
        let Some(known) = known else {
            return Self::None;
        };
        let now = match known.hash_version {
            ContentHash::VERSION => facts.content_hash.map(|ContentHash(hash)| hash),
            // Of the same bytes it is certain; that other bytes say something else is not.
            ContentHash::OF_BODY => facts.body_hash.filter(|hash| *hash == known.content_hash),
            // Without a tag there is nothing but the word of the server.
            ContentHash::OF_DOCUMENT => facts.document_tag().filter(|tag| {
                *tag == known.content_hash && (*tag != 0 || *basis == Basis::Confirmed)
            }),
            _ => None,
        };
        match now {
            Some(hash) if hash == known.content_hash => Self::Same(known),
            Some(_) => Self::Changed(known),
            None => Self::Unknown(known),
        }
    }
}

/// A date that somebody states for a page.
struct Stated {
    source: DateSource,
    value: LastMod,
    /// The same source stated it when the page was fetched last; `None` when that is not known.
    has_moved: Option<bool>,
    /// It is the day of the crawl, and mostly that is what the source says.
    is_doubtful: bool,
}

impl Export {
    /// When a page changed: see the module.
    pub(super) fn dated(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<Dated> {
        let is_given = matches!(record.outcome, Some(Outcome::Given(_)));
        if !is_clock_set(self.now) && !is_given {
            return unmoved(record, known);
        }
        if is_as_published(record) {
            return known.and_then(|known| self.published(known));
        }
        let facts = match &record.outcome {
            Some(Outcome::Answered(facts)) => facts,
            Some(Outcome::Given(given)) => {
                let value = given.lastmod.clone()?;
                let source = DateSource::Input;
                return Some(Dated { value, source });
            }
            // Nobody looked at the page.
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. }) | None => {
                let nothing = PageFacts::default();
                return first(self.stated(key, record, &nothing, None), None);
            }
        };
        let selected = facts
            .selected_lastmod
            .as_deref()
            .and_then(|text| LastMod::parse(text).ok())
            .filter(|value| self.is_plausible(value.latest_instant()));
        if let Some(value) = selected {
            let source = DateSource::Rule;
            return Some(Dated { value, source });
        }
        let stated = self.stated(key, record, facts, known);
        match History::of(facts, &record.basis, known) {
            History::None => first(stated, None),
            History::Same(known) => self.published(known).or_else(|| {
                let mut stated = stated;
                if record.basis != Basis::Own {
                    // What the page stated when it was read was not believed then, and it was not read since. If that
                    // was because it might have been the day of every fetch, it is known now that it was not.
                    stated.retain(|stated| {
                        stated.source == DateSource::Sitemap
                            || record.basis == Basis::Confirmed && was_of_the_day(stated, known)
                    });
                }
                first(stated, Some(known))
            }),
            History::Unknown(known) => moved(stated, self.seen_at(record), known)
                .filter(|_| known.lastmod.is_some())
                .or_else(|| self.published(known))
                .or_else(|| {
                    let stated = self.stated(key, record, facts, Some(known));
                    first(stated, Some(known))
                }),
            History::Changed(known) => {
                let until = self.seen_at(record);
                between(stated, until, known).or_else(|| self.seen_change(record, known))
            }
        }
    }

    /// The date that was published, unless the clock was ahead then: what is in the future was never true. The
    /// clock of the host, where it is known, has to say so too: one of ours that was put back must cost no page its date.
    fn published(&self, known: &LedgerEntry) -> Option<Dated> {
        published(known).filter(|dated| {
            let value = dated.value.latest_instant();
            let is_past = value <= self.latest
                || self
                    .host_date
                    .is_some_and(|host| value <= host + 24.hours());
            is_past && self.counts(dated.source)
        })
    }

    /// Whether the settings let a source state dates.
    fn counts(&self, source: DateSource) -> bool {
        source != DateSource::Header || self.file_dates == FileDates::Mtime
    }

    /// What is stated of a page by those who are believed, the best first.
    fn stated(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        facts: &PageFacts,
        known: Option<&LedgerEntry>,
    ) -> Vec<Stated> {
        let before = known.map(|known| &known.stated);
        let mut stated = Vec::new();
        for (source, value) in values(record, facts) {
            let is_early = facts
                .dates
                .published
                .as_deref()
                .is_some_and(|published| is_before(value.as_str(), published));
            if !self.counts(source)
                || !self.trust.trusts(source, key)
                || is_early
                || self.is_at_request(&value)
                || !self.is_plausible(value.latest_instant())
            {
                continue;
            }
            let has_moved = match source {
                DateSource::Header => known
                    .and_then(|known| known.last_modified_seconds)
                    .map(|seconds| seconds != value.latest_instant().as_second()),
                _ => before
                    .and_then(|before| of_source(before, source))
                    .map(|before| *before != *value.as_str()),
            };
            let is_doubtful = self.trust.doubts(source, key)
                && self.may_be_today(&value, record)
                && !(has_moved == Some(false) && is_a_day_later(record, known));
            stated.push(Stated {
                source,
                value,
                has_moved,
                is_doubtful,
            });
        }
        stated
    }

    /// The time of the fetch that saw the change. A clock by which that was before the fetch that saw the content of before
    /// says nothing.
    fn seen_change(&self, record: &PageRecord, known: &LedgerEntry) -> Option<Dated> {
        let seen = self.seen_at(record)?;
        let before = known
            .seen_seconds
            .and_then(|seconds| Timestamp::from_second(seconds).ok());
        let is_later = before.is_none_or(|before| before.duration_since(seen) <= HOST_SECOND);
        (is_later && self.is_plausible(seen)).then(|| Dated {
            value: LastMod::from_timestamp(before.map_or(seen, |before| seen.max(before))),
            source: DateSource::History,
        })
    }

    /// When the content of a page was seen. One that is kept was seen before its attempts began to fail.
    fn seen_at(&self, record: &PageRecord) -> Option<Timestamp> {
        match &record.basis {
            Basis::Own | Basis::Confirmed => {
                record.fetched_at.map(|ours| self.times.believed(ours))
            }
            Basis::Kept(kept) => (kept.reason != Reason::Queued).then_some(kept.since),
        }
    }

    /// Counts what the page tells of those who state dates.
    pub(super) fn count(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
        statistics: &mut Statistics,
    ) {
        let nothing = PageFacts::default();
        let facts = record.facts().unwrap_or(&nothing);
        let is_read = record.basis == Basis::Own;
        let same = match (History::of(facts, &record.basis, known), &record.basis) {
            (History::Same(known), Basis::Own | Basis::Confirmed) => Some(known),
            // Of a page that could not be fetched nobody knows whether it still is.
            (
                History::Same(_) | History::None | History::Unknown(_) | History::Changed(_),
                Basis::Own | Basis::Confirmed | Basis::Kept(_),
            ) => None,
        };
        if record.facts().is_some() {
            let moved = same
                .filter(|known| known.last_modified_seconds.is_some())
                .zip(facts.last_modified)
                .filter(|(known, now)| known.last_modified_seconds != Some(now.as_second()))
                .map_or(Moved::No, |(known, now)| {
                    moved_to(&LastMod::from_timestamp(now), known)
                });
            let now = self.is_now(facts);
            // An answer without a body may have the header all the same.
            if is_read || moved != Moved::No || now {
                statistics.add_header(key, now, moved);
            } else {
                statistics.add_unread(DateSource::Header, key);
            }
        }
        for (source, value) in values(record, facts) {
            if source == DateSource::Header {
                continue;
            }
            if is_read || record.basis == Basis::Confirmed {
                statistics.add_dated(source, key, self.may_be_today(&value, record));
            }
            if !is_read && source != DateSource::Sitemap {
                statistics.add_unread(source, key);
                continue;
            }
            let moved = same
                .filter(|known| {
                    let before = of_source(&known.stated, source);
                    before.is_some_and(|before| *before != *value.as_str())
                })
                .map_or(Moved::No, |known| moved_to(&value, known));
            let is_of_file = source == DateSource::Sitemap
                && record
                    .sitemap_lastmod
                    .as_ref()
                    .is_some_and(|date| date.is_of_file);
            let is_now = self.is_at_request(&value) || self.is_of_the_day(&value);
            statistics.add_stated(source, key, &value, is_of_file || is_now, moved);
        }
    }

    /// Whether `Last-Modified` is not earlier than the host's own clock at the start of the run.
    fn is_now(&self, facts: &PageFacts) -> bool {
        match (facts.last_modified, self.host_date) {
            (Some(value), Some(start)) => value >= start,
            (Some(_) | None, _) => false,
        }
    }

    /// Whether an instant that anybody states is not earlier than that.
    fn is_at_request(&self, value: &LastMod) -> bool {
        is_instant(value)
            && self
                .host_date
                .is_some_and(|start| value.latest_instant() >= start)
    }

    /// Whether an instant is of the day on which the run began, in UTC. A date without a time is judged by whether it
    /// still is the same on another day.
    fn is_of_the_day(&self, value: &LastMod) -> bool {
        !is_whole_day(value)
            && self
                .host_date
                .is_some_and(|start| day(value) == day(&LastMod::from_timestamp(start)))
    }

    /// Whether a value is a day, and that of the fetch somewhere on Earth.
    fn may_be_today(&self, value: &LastMod, record: &PageRecord) -> bool {
        // By the clock of the host, as far as it is known, or by ours.
        let clocks = [self.host_date, record.fetched_at];
        clocks
            .into_iter()
            .flatten()
            .any(|time| is_day_at(value, time))
    }

    fn is_plausible(&self, value: Timestamp) -> bool {
        value >= EARLIEST && value <= self.latest
    }

    /// What the ledger has to remember of a page, if that is not what it knows.
    pub(super) fn ledger_change(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<LedgerEntry> {
        let (State::Listed, Some(facts)) = (record.reason.state(), record.facts()) else {
            return None;
        };
        if !is_clock_set(self.now) {
            // A later run that knows the time finds the change again.
            return None;
        }
        let (content_hash, hash_version) = match (facts.content_hash, facts.document_tag()) {
            (Some(ContentHash(hash)), _) => (hash, ContentHash::VERSION),
            (None, Some(tag)) => (tag, ContentHash::OF_DOCUMENT),
            (None, None) => return None,
        };
        let history = History::of(facts, &record.basis, known);
        let dated = self.dated(key, record, known);
        let fetched = self.seen_at(record).map(Timestamp::as_second);
        let since = match history {
            // The clock may have been ahead then.
            History::Same(known) => match (known.since_seconds, fetched) {
                (Some(since), Some(fetched)) => Some(since.min(fetched)),
                (since, fetched) => since.or(fetched),
            },
            History::None | History::Unknown(_) | History::Changed(_) => fetched,
        };
        let (lastmod, source) = dated
            .map(|dated| (dated.value.as_str().to_owned(), dated.source))
            .unzip();
        if let (History::Same(known), Basis::Kept(_)) = (history, &record.basis) {
            // The content was not seen this time, nor what is stated with it.
            let entry = LedgerEntry {
                lastmod,
                source,
                ..known.clone()
            };
            return (*known != entry).then_some(entry);
        }
        let entry = LedgerEntry {
            content_hash,
            hash_version,
            lastmod,
            last_modified_seconds: facts.last_modified.map(Timestamp::as_second),
            source,
            since_seconds: since,
            seen_seconds: fetched.or(known.and_then(|known| known.seen_seconds)),
            stated: LedgerDates {
                json_ld: facts.dates.json_ld.clone(),
                meta: facts.dates.meta.clone(),
                sitemap: record
                    .sitemap_lastmod
                    .as_ref()
                    .map(|date| date.lastmod.clone()),
                time_element: facts.dates.time_element.clone(),
            },
        };
        (known != Some(&entry)).then_some(entry)
    }
}

/// What it means that a date is `value` now, while the content is what is `known`.
fn moved_to(value: &LastMod, known: &LedgerEntry) -> Moved {
    match known.since_seconds {
        Some(since) if !is_after(value, since) => Moved::ToEarlier,
        Some(_) | None => Moved::ToLater,
    }
}

impl Stated {
    fn into_dated(self) -> Dated {
        Dated {
            value: self.value,
            source: self.source,
        }
    }
}

/// The best date for content that is seen for the first time, or whose date is not known yet. Of content that was
/// seen before, only a date that is not later than that can be the one.
fn first(stated: Vec<Stated>, known: Option<&LedgerEntry>) -> Option<Dated> {
    let since = known.and_then(|known| known.since_seconds);
    stated
        .into_iter()
        .filter(|stated| !stated.is_doubtful)
        .find(|stated| since.is_none_or(|since| !is_after(&stated.value, since)))
        .map(Stated::into_dated)
}

/// The best date between the last fetch and this one, `until`, for content that changed between them.
fn between(stated: Vec<Stated>, until: Option<Timestamp>, known: &LedgerEntry) -> Option<Dated> {
    let until = until.map(Timestamp::as_second);
    let is_between = |stated: &Stated| {
        // What was stated before the change is not of the change.
        stated.has_moved != Some(false)
            && known
                .seen_seconds
                .is_none_or(|seen| is_after_or_on_day(&stated.value, seen))
            && until.is_none_or(|until| !is_after(&stated.value, until))
    };
    stated.into_iter().find(is_between).map(Stated::into_dated)
}

/// The date of a change of content that cannot be compared: only a date that is known to have moved tells of a change.
fn moved(mut stated: Vec<Stated>, until: Option<Timestamp>, known: &LedgerEntry) -> Option<Dated> {
    let before = published(known).map(|known| known.value.latest_instant());
    stated.retain(|stated| {
        stated.has_moved == Some(true)
            && !stated.is_doubtful
            && before.is_none_or(|before| stated.value.latest_instant() > before)
    });
    between(stated, until, known)
}

/// What the ledger has published, with where that came from; before that was noted it was the header.
fn published(known: &LedgerEntry) -> Option<Dated> {
    let value = LastMod::parse(known.lastmod.as_deref()?).ok()?;
    let source = known.source.unwrap_or(DateSource::Header);
    Some(Dated { value, source })
}

/// Whether nothing is known of a page but that it is published.
fn is_as_published(record: &PageRecord) -> bool {
    let is_kept = matches!(
        record.reason,
        Reason::KeptNotReached | Reason::KeptUnreachable | Reason::KeptGoneOnce
    );
    is_kept && record.facts().is_none()
}

/// The date that was published, while the content is what it was: when nobody knows what time it is, nothing else
/// can be told from what is stated.
fn unmoved(record: &PageRecord, known: Option<&LedgerEntry>) -> Option<Dated> {
    if is_as_published(record) {
        return known.and_then(published);
    }
    match History::of(record.facts()?, &record.basis, known) {
        History::Same(known) | History::Unknown(known) => published(known),
        History::None | History::Changed(_) => None,
    }
}

/// Every date that is stated of a page, in the order in which they are believed.
fn values(record: &PageRecord, facts: &PageFacts) -> impl Iterator<Item = (DateSource, LastMod)> {
    let read = |source, text: Option<&str>| {
        let value = LastMod::parse(text?).ok()?;
        Some((source, value))
    };
    let of_sitemap = record.sitemap_lastmod.as_ref();
    let header = facts
        .last_modified
        .map(|value| (DateSource::Header, LastMod::from_timestamp(value)));
    [
        read(DateSource::JsonLd, facts.dates.json_ld.as_deref()),
        read(DateSource::Meta, facts.dates.meta.as_deref()),
        read(
            DateSource::Sitemap,
            of_sitemap.map(|date| date.lastmod.as_str()),
        ),
        header,
        read(DateSource::TimeElement, facts.dates.time_element.as_deref()),
    ]
    .into_iter()
    .flatten()
}

fn of_source(dates: &LedgerDates, source: DateSource) -> Option<&str> {
    match source {
        DateSource::JsonLd => dates.json_ld.as_deref(),
        DateSource::Meta => dates.meta.as_deref(),
        DateSource::Sitemap => dates.sitemap.as_deref(),
        DateSource::TimeElement => dates.time_element.as_deref(),
        DateSource::Rule | DateSource::History | DateSource::Header | DateSource::Input => None,
    }
}

fn is_instant(value: &LastMod) -> bool {
    value.as_str().contains('T')
}

/// Whether a value says no more than a day: a program that has only that may write it as its beginning.
fn is_whole_day(value: &LastMod) -> bool {
    let Some((_, time)) = value.as_str().split_once('T') else {
        return true;
    };
    let digits = time.split(['Z', '+', '-']).next().unwrap_or_default();
    digits.chars().all(|digit| matches!(digit, '0' | ':' | '.'))
}

/// Whether a value says no more than a day, and that is one that somebody's calendar shows at an instant.
fn is_day_at(value: &LastMod, time: Timestamp) -> bool {
    let day_at = |instant: Timestamp| day(&LastMod::from_timestamp(instant));
    // The calendars of Baker Island and of the Line Islands.
    let first = time.checked_sub(12.hours()).unwrap_or(time);
    let last = time.checked_add(14.hours()).unwrap_or(time);
    let stated = value.as_str().get(..10).unwrap_or_default();
    is_whole_day(value) && *day_at(first) <= *stated && *stated <= *day_at(last)
}

/// Whether a page was fetched a day ago, and is now: what said the same of today both times says something else.
fn is_a_day_later(record: &PageRecord, known: Option<&LedgerEntry>) -> bool {
    let before = known.and_then(|known| known.seen_seconds);
    let now = record.fetched_at.map(Timestamp::as_second);
    let passed = now.zip(before).map(|(now, before)| now - before);
    passed.is_some_and(|seconds| seconds >= ALMOST_A_DAY_SECONDS)
}

/// Whether a value was the day on which this content was seen first.
fn was_of_the_day(stated: &Stated, known: &LedgerEntry) -> bool {
    let since = known
        .since_seconds
        .and_then(|since| Timestamp::from_second(since).ok());
    since.is_some_and(|since| is_day_at(&stated.value, since))
}

/// The day of a value in UTC, or as it is stated.
fn day(value: &LastMod) -> String {
    let instant = LastMod::from_timestamp(value.latest_instant());
    let text = if is_instant(value) {
        instant.as_str()
    } else {
        value.as_str()
    };
    text.get(..10).unwrap_or_default().to_owned()
}

/// Whether a value is later than an instant, in seconds since 1970; a day is when it begins later, in UTC.
fn is_after(value: &LastMod, seconds: i64) -> bool {
    if is_instant(value) {
        return value.latest_instant().as_second() > seconds;
    }
    Timestamp::from_second(seconds)
        .is_ok_and(|instant| day(value) > day(&LastMod::from_timestamp(instant)))
}

/// Whether a value is later than an instant, in seconds since 1970; a day is when it ends later, in UTC.
fn is_after_or_on_day(value: &LastMod, seconds: i64) -> bool {
    value.latest_instant().as_second() > seconds
}

/// Whether a value is before a date of publication; days are compared as they are stated.
fn is_before(value: &str, published: &str) -> bool {
    if let (Ok(value), Ok(published)) = (LastMod::parse(value), LastMod::parse(published))
        && is_instant(&value)
        && is_instant(&published)
    {
        return value.latest_instant() < published.latest_instant();
    }
    value.get(..10) < published.get(..10)
}
