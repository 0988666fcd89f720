//! The rows of a report. Their fields are those of its NDJSON, which a JSON schema documents.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    page::{
        Canonical, ClosedPattern, DateSource, Mark, Page, PageRecord, RenderedContent, Repeat,
        State,
    },
    repeats::pattern_of,
    store::StoredSession,
    url_key::UrlKey,
};

/// Version of the rows.
pub const REPORT_VERSION: u32 = 1;

/// A row of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ReportRow {
    /// The first row.
    Report(ReportHead),
    /// A session.
    Session(Box<StoredSession>),
    /// A place that was cut, or a parameter that was left out.
    Pattern(PatternRow),
    /// A link to a URL that is broken, or that redirects.
    Link(LinkRow),
    /// A known URL.
    Url(Box<UrlRow>),
    /// Something about a URL that contradicts itself or another page.
    Conflict(ConflictRow),
}

/// The subject of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportHead {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// URL of the site's directory.
    pub site: String,
    /// The rows are those of the published set; `false`: those of a crawl that is not published.
    pub is_published: bool,
    /// Beside the published set: the URLs of a crawl that was refused, stopped or is under way, by reason, the most first.
    pub unpublished: Vec<UnpublishedReason>,
}

/// URLs of one reason in a crawl that is not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnpublishedReason {
    /// The state ([`State`]).
    pub state: &'static str,
    /// The code of the reason ([`Reason::code`](crate::page::Reason::code)).
    pub reason: &'static str,
    /// All of them.
    pub count: u64,
    /// The first three.
    pub examples: Vec<String>,
}

/// A place that was cut, or a parameter that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternRow {
    /// The name, as `/agenda?` or `?visit=`.
    pub name: String,
    /// Place or parameter.
    pub kind: &'static str,
    /// Pages of it that were asked for.
    pub requested: u64,
    /// Requested pages that are not listed because of it.
    pub left_out: u64,
    /// URLs of it that were not asked for.
    pub not_requested: u64,
    /// One of these URLs.
    pub example: String,
    /// A glob for the setting `exclude` that matches the place and no listed page.
    pub exclude: Option<String>,
}

/// A known URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UrlRow {
    /// The URL.
    pub url: String,
    /// The state ([`State`]).
    pub state: &'static str,
    /// The code of its reason ([`Reason::code`](crate::page::Reason::code)).
    pub reason: &'static str,
    /// The first-level directory.
    pub section: String,
    /// Fewest known hops from the start URL.
    pub depth: u32,
    /// How it was found first.
    pub via: &'static str,
    /// The page or document on which it was found first.
    pub found_on: Option<String>,
    /// Pages that link to it.
    pub linked_from: u32,
    /// Only sitemaps, feeds or lists name it: no page links to it.
    pub is_orphan: bool,
    /// HTTP status of the answer that counts.
    pub status: Option<u16>,
    /// The error of the last attempt.
    pub error: Option<String>,
    /// Media type.
    pub content_type: Option<String>,
    /// Decoded bytes that were read.
    pub bytes: Option<u64>,
    /// Milliseconds from the request to the end of the body.
    pub duration_ms: Option<u64>,
    /// Title of the page.
    pub title: Option<String>,
    /// What a browser shows of it, beside its HTML; `None`: it was not rendered.
    pub rendered: Option<RenderedContent>,
    /// End of the last attempt.
    pub fetched_at: Option<Timestamp>,
    /// Tries of it.
    pub attempts: u32,
    /// The page has noindex.
    pub noindex: bool,
    /// The canonical URL, when that is another one.
    pub canonical: Option<String>,
    /// The target of its redirect.
    pub redirects_to: Option<String>,
    /// The URL that it is the same page as.
    pub duplicate_of: Option<String>,
    /// The pattern that it is in.
    pub pattern: Option<String>,
    /// Versions in other languages that it names; `None`: they were not looked for.
    pub languages: Option<usize>,
    /// The published `lastmod`.
    pub lastmod: Option<String>,
    /// The source.
    pub lastmod_source: Option<&'static str>,
    /// The first publish that knew it.
    pub first_seen: Option<Timestamp>,
}

/// A link of a page to a URL that is broken, or that redirects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkRow {
    /// The page with the link.
    pub page: String,
    /// The target of the link.
    pub target: String,
    /// The first text of a link to it on the page; `None`: it has none.
    pub text: Option<String>,
    /// The code of the target's reason.
    pub reason: &'static str,
    /// The target redirects; `false`: it is broken.
    pub is_redirect: bool,
}

/// Something about a URL that contradicts itself or another page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictRow {
    /// The kind.
    pub kind: ConflictKind,
    /// The URL.
    pub url: String,
    /// The other URL.
    pub target: Option<String>,
    /// The code of the other URL's reason.
    pub target_reason: Option<&'static str>,
    /// The language, of versions in other languages.
    pub language: Option<String>,
}

/// Kinds of [`ConflictRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// A page names several canonical URLs.
    CanonicalSeveral,
    /// A page names a canonical URL that is not listed itself.
    CanonicalNotListed,
    /// A listed page names a version in another language that is not listed.
    HreflangNotListed,
    /// A listed page names a version in another language that does not name the page.
    HreflangNoReturn,
    /// A listed page names several URLs for one language.
    HreflangRepeated,
    /// Pages link to a page that has noindex.
    NoindexLinked,
    /// A listed page has the same bytes as another one.
    SameContent,
}

impl ConflictKind {
    /// A line for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::CanonicalSeveral => "several canonical URLs, of which none counts",
            Self::CanonicalNotListed => "the canonical URL is not listed",
            Self::HreflangNotListed => "a version in another language is not listed",
            Self::HreflangNoReturn => "a version in another language does not name the page",
            Self::HreflangRepeated => "several URLs for one language",
            Self::NoindexLinked => "noindex, but linked",
            Self::SameContent => {
                "same content as another listed page; a canonical link would decide which one counts"
            }
        }
    }
}

impl PatternRow {
    pub(super) fn of(pattern: &ClosedPattern) -> Self {
        Self {
            name: pattern.name.clone(),
            kind: pattern.kind.as_str(),
            requested: pattern.requested,
            left_out: pattern.left_out,
            not_requested: pattern.not_requested,
            example: pattern.example.to_string(),
            exclude: pattern.exclude.clone(),
        }
    }
}

impl UrlRow {
    pub(super) fn of(
        url: &UrlKey,
        page: Option<&Page>,
        record: &PageRecord,
        patterns: &[ClosedPattern],
        linked_from: u32,
    ) -> Self {
        let facts = record.facts();
        let dates = page.and_then(|page| page.dates.as_ref());
        let dates = dates.filter(|_| record.reason.state() == State::Listed);
        let is_of_pattern = record.reason.has(Mark::CutPlace);
        let pattern = pattern_of(url, patterns).filter(|_| is_of_pattern);
        let duration = facts.and_then(|facts| facts.duration);
        Self {
            url: url.to_string(),
            state: record.reason.state().as_str(),
            reason: record.reason.code(),
            section: url.first_directory().to_owned(),
            depth: record.depth,
            via: record.via.as_str(),
            found_on: record.found_on.as_ref().map(UrlKey::to_string),
            linked_from,
            is_orphan: record.via.is_seed() && linked_from == 0,
            status: facts.map(|facts| facts.status),
            error: record.error().map(str::to_owned),
            content_type: facts.and_then(|facts| facts.content_type.clone()),
            bytes: facts.map(|facts| facts.body_bytes),
            duration_ms: duration
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            title: facts.and_then(|facts| facts.title.clone()),
            rendered: facts.and_then(|facts| facts.shown),
            fetched_at: record.fetched_at,
            attempts: record.attempts,
            noindex: facts.is_some_and(|facts| facts.directives.noindex),
            canonical: facts.and_then(|facts| match &facts.canonical {
                Canonical::Other(other) => Some(other.to_string()),
                Canonical::Absent | Canonical::Itself | Canonical::Conflicting => None,
            }),
            redirects_to: facts
                .and_then(|facts| facts.location.as_ref())
                .map(UrlKey::to_string),
            duplicate_of: facts.and_then(|facts| match &facts.repeat {
                Some(Repeat::DuplicateOf(other)) => Some(other.to_string()),
                _ => None,
            }),
            pattern: pattern.map(|pattern| pattern.name.clone()),
            languages: facts.and_then(|facts| facts.alternates.as_ref().map(Vec::len)),
            lastmod: dates.and_then(|dates| dates.lastmod.clone()),
            lastmod_source: dates.and_then(|dates| dates.source).map(DateSource::as_str),
            first_seen: page.map(|page| page.first_seen),
        }
    }
}
