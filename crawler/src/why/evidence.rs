//! The dates that were stated for a page, and the one of them that became its `lastmod`.

use serde::Serialize;
use sitemap_core::LastMod;

use crate::{
    lastmod::DateTrust,
    page::{DateSource, Page, PageFacts, PageRecord},
    store::{Store, StoreError, names::LASTMOD_DISTRUSTED},
    url_key::UrlKey,
};

/// The `lastmod` of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastmodStory {
    /// The published value; `None`: it has none.
    pub value: Option<String>,
    /// The source ([`DateSource`]).
    pub source: Option<&'static str>,
    /// The dates that were stated for the page, the most trusted source first.
    pub evidence: Vec<StatedDate>,
}

/// A date that was stated for a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatedDate {
    /// The source ([`DateSource`]).
    pub source: &'static str,
    /// As it was stated.
    pub value: String,
    /// The value became the `lastmod`.
    pub is_used: bool,
    /// Why it did not.
    pub why_not: Option<&'static str>,
}

/// The dates of a URL; `None`: it has no `lastmod`, and none was stated.
pub(super) fn evidence_of(
    store: &Store,
    url: &UrlKey,
    page: Option<&Page>,
    record: Option<&PageRecord>,
) -> Result<Option<LastmodStory>, StoreError> {
    let Some(record) = record else {
        return Ok(None);
    };
    let dates = page.and_then(|page| page.dates.as_ref());
    let value = dates.and_then(|dates| dates.lastmod.clone());
    let source = dates.and_then(|dates| dates.source);
    let trust = DateTrust::parse(&store.value(LASTMOD_DISTRUSTED)?.unwrap_or_default());
    let nothing = PageFacts::default();
    let facts = record.facts().unwrap_or(&nothing);
    let judge = |(of, stated): (DateSource, String)| {
        let parsed = LastMod::parse(&stated).ok();
        let is_used = source == Some(of) && value.is_some() && {
            let same = |value: &String| LastMod::parse(value).ok() == parsed;
            value.as_ref().is_some_and(same)
        };
        let why_not = match parsed {
            _ if is_used => None,
            None => Some("it is not a date in W3C format"),
            Some(_) if !trust.trusts(of, url) => Some(
                "its source is not trusted here: its dates change while the pages do not, or are the same on all pages",
            ),
            Some(parsed)
                if record
                    .fetched_at
                    .is_some_and(|at| parsed.latest_instant() >= at) =>
            {
                Some("it is later than the request, or the same time")
            }
            Some(_) if source == Some(DateSource::History) => {
                Some("two crawls found different content, which dates the change")
            }
            Some(_) if source.is_some_and(|source| source < of) => {
                Some("a more trusted source decides")
            }
            Some(_) => Some(
                "it is the time of the request, contradicts the history of the page, or another value was published for the same content",
            ),
        };
        StatedDate {
            source: of.as_str(),
            value: stated,
            is_used,
            why_not,
        }
    };
    let evidence: Vec<StatedDate> = stated(record, facts).into_iter().map(judge).collect();
    Ok(
        (value.is_some() || !evidence.is_empty()).then_some(LastmodStory {
            value,
            source: source.map(DateSource::as_str),
            evidence,
        }),
    )
}

/// The dates as they were stated.
fn stated(record: &PageRecord, facts: &PageFacts) -> Vec<(DateSource, String)> {
    let of_sitemap = record.sitemap_lastmod.as_ref();
    let header = facts.last_modified.map(|time| time.to_string());
    [
        (DateSource::Rule, facts.selected_lastmod.clone()),
        (DateSource::JsonLd, facts.dates.json_ld.clone()),
        (DateSource::Meta, facts.dates.meta.clone()),
        (
            DateSource::Sitemap,
            of_sitemap.map(|date| date.lastmod.clone()),
        ),
        (DateSource::Header, header),
    ]
    .into_iter()
    .filter_map(|(source, value)| Some((source, value?)))
    .collect()
}
