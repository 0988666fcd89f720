//! The dates that are stated for a page, compared with the history of its `lastmod`.

use jiff::Timestamp;
use sitemap_core::LastMod;

use super::Dated;
use crate::page::{Basis, ContentHash, DateSource, LedgerEntry, PageFacts, PageRecord};

/// The content of a page compared with that of its history.
#[derive(Debug, Clone, Copy)]
pub(super) enum History<'a> {
    /// There is no history: the page is new.
    None,
    /// The content is the same.
    Same(&'a LedgerEntry),
    /// The hash cannot be compared: another version hashed it, or this time nothing was hashed.
    Unknown(&'a LedgerEntry),
    /// The content changed.
    Changed(&'a LedgerEntry),
}

impl<'a> History<'a> {
    pub(super) fn of(facts: &PageFacts, basis: &Basis, known: Option<&'a LedgerEntry>) -> Self {
        let Some(known) = known else {
            return Self::None;
        };
        let now = match known.hash_version {
            ContentHash::VERSION => facts.content_hash.map(|ContentHash(hash)| hash),
            // Without a tag only a 304 shows that a document is the same.
            ContentHash::OF_DOCUMENT => facts.document_tag().filter(|tag| {
                *tag == known.content_hash && (*tag != 0 || *basis == Basis::Confirmed)
            }),
            _ => None,
        };
        // What a browser shows counts where it showed the same twice.
        let before = known.shown_hash.filter(|_| known.is_shown_steady);
        let is_shown_alike = facts
            .shown
            .zip(before)
            .is_none_or(|(now, before)| now.hash == before);
        match now {
            Some(hash) if hash == known.content_hash && is_shown_alike => Self::Same(known),
            Some(_) => Self::Changed(known),
            None => Self::Unknown(known),
        }
    }
}

/// A date that is stated for a page and can be used.
pub(super) struct Stated {
    pub(super) source: DateSource,
    pub(super) value: LastMod,
    /// `true` if the same source stated another date when the page was fetched last; `None` when that is not known.
    pub(super) has_moved: Option<bool>,
}

impl Stated {
    pub(super) fn is_instant(&self) -> bool {
        is_instant(&self.value)
    }

    fn into_dated(self) -> Dated {
        Dated {
            value: self.value,
            source: self.source,
        }
    }
}

/// The best date for content that is seen for the first time, or has no date yet. Content that was seen before can
/// only have a date that is not later than that.
pub(super) fn first(stated: Vec<Stated>, known: Option<&LedgerEntry>) -> Option<Dated> {
    let since = known.and_then(|known| known.since_seconds);
    let mut stated = stated.into_iter();
    let is_possible = |stated: &Stated| since.is_none_or(|since| !is_after(&stated.value, since));
    stated.find(is_possible).map(Stated::into_dated)
}

/// The best date between the last fetch and this one, `until`, for content that changed between them.
pub(super) fn between(
    stated: Vec<Stated>,
    until: Option<Timestamp>,
    known: &LedgerEntry,
) -> Option<Dated> {
    let until = until.map(Timestamp::as_second);
    let is_between = |stated: &Stated| {
        let value = &stated.value;
        // A date that was stated before the change is not that of the change. A day may have begun before the last fetch.
        stated.has_moved != Some(false)
            && known
                .seen_seconds
                .is_none_or(|seen| value.latest_instant().as_second() > seen)
            && until.is_none_or(|until| !is_after(value, until))
    };
    stated.into_iter().find(is_between).map(Stated::into_dated)
}

/// The date of a change of content that cannot be compared: only one that has moved on from what is `published`.
pub(super) fn moved(
    mut stated: Vec<Stated>,
    published: &Dated,
    until: Option<Timestamp>,
    known: &LedgerEntry,
) -> Option<Dated> {
    let before = published.value.latest_instant();
    stated
        .retain(|stated| stated.has_moved == Some(true) && stated.value.latest_instant() > before);
    between(stated, until, known)
}

/// Every date that is stated for a page, the most trusted source first.
pub(super) fn values(
    record: &PageRecord,
    facts: &PageFacts,
) -> impl Iterator<Item = (DateSource, LastMod)> {
    let read = |source, text: Option<&str>| Some((source, LastMod::parse(text?).ok()?));
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
    ]
    .into_iter()
    .flatten()
}

/// Returns whether `source` stated another date than `value` when the page was fetched last; `None` when it stated no date.
pub(super) fn has_moved(
    source: DateSource,
    value: &LastMod,
    known: Option<&LedgerEntry>,
) -> Option<bool> {
    let known = known?;
    let before = match source {
        DateSource::JsonLd => &known.stated.json_ld,
        DateSource::Meta => &known.stated.meta,
        DateSource::Sitemap => &known.stated.sitemap,
        DateSource::Header => {
            let seconds = known.last_modified_seconds?;
            return Some(seconds != value.latest_instant().as_second());
        }
        DateSource::Rule | DateSource::History | DateSource::Input | DateSource::Imported => {
            return None;
        }
    };
    Some(before.as_deref()? != value.as_str())
}

pub(super) fn is_instant(value: &LastMod) -> bool {
    value.as_str().contains('T')
}

/// Returns whether a value is later than an instant, in seconds since 1970; a day is when it begins later, in UTC.
fn is_after(value: &LastMod, seconds: i64) -> bool {
    if is_instant(value) {
        return value.latest_instant().as_second() > seconds;
    }
    Timestamp::from_second(seconds).is_ok_and(|instant| {
        let instant = LastMod::from_timestamp(instant);
        value.as_str().get(..10) > instant.as_str().get(..10)
    })
}

/// Returns whether a value is before a date of publication; days are compared as they are stated.
pub(super) fn is_before(value: &LastMod, published: &str) -> bool {
    if let Ok(published) = LastMod::parse(published)
        && is_instant(value)
        && is_instant(&published)
    {
        return value.latest_instant() < published.latest_instant();
    }
    value.as_str().get(..10) < published.get(..10)
}
