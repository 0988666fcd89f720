//! What the crawls of a site know of all its URLs, as rows: each URL with its reason, the links that lead to broken or redirected URLs
//! with the pages that hold them, and the closed patterns. Reads the state alone, in two passes; never prints, judges or writes.

mod outline;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, ops::ControlFlow};

use jiff::Timestamp;
use serde::Serialize;

pub use self::outline::{ReasonOutline, ReportOutline, TargetOutline};
use crate::{
    page::{Canonical, ClosedPattern, DateSource, Page, PageRecord, Reason, Repeat, State, Visit},
    repeats::closing_pattern,
    site::Site,
    store::{LinkReader, Store, StoreError},
    url_key::UrlKey,
};

/// Version of the rows.
pub const REPORT_VERSION: u32 = 1;

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ReportRow {
    /// The first row.
    Report(ReportHead),
    /// A closed pattern.
    Pattern(PatternRow),
    /// A known URL.
    Url(Box<UrlRow>),
    /// A link to a URL that is broken, or that redirects.
    Link(LinkRow),
}

/// What a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportHead {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// URL of the site's directory.
    pub site: String,
    /// The rows are those of the published set; `false`: those of a crawl that is not published.
    pub is_published: bool,
}

/// A closed pattern, with the rule that would leave its URLs out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternRow {
    /// Its name, as `/agenda?month=`.
    pub name: String,
    /// Parameter, directory, or copies.
    pub kind: &'static str,
    /// Pages that were read before it was closed: requests that the rule would save.
    pub pages: u32,
    /// Pages among them that were new.
    pub new: u32,
    /// The last of them.
    pub example: String,
    /// A pattern for the setting `exclude`.
    pub exclude: String,
}

/// A known URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UrlRow {
    /// The URL.
    pub url: String,
    /// Its state ([`State`]).
    pub state: &'static str,
    /// The code of its reason ([`Reason::code`]).
    pub reason: &'static str,
    /// Its first-level directory.
    pub section: String,
    /// Fewest known hops from the start URL.
    pub depth: u32,
    /// How it was found first.
    pub via: &'static str,
    /// Where it was found first.
    pub found_on: Option<String>,
    /// HTTP status of the answer that counts.
    pub status: Option<u16>,
    /// The error of the last attempt.
    pub error: Option<String>,
    /// Media type.
    pub content_type: Option<String>,
    /// Decoded bytes that were read.
    pub bytes: Option<u64>,
    /// Title of the page.
    pub title: Option<String>,
    /// End of the last attempt.
    pub fetched_at: Option<Timestamp>,
    /// Tries of it.
    pub attempts: u32,
    /// It says noindex.
    pub noindex: bool,
    /// Its canonical URL, when that is another one.
    pub canonical: Option<String>,
    /// Where it redirects.
    pub redirects_to: Option<String>,
    /// The URL that it is the same page as.
    pub duplicate_of: Option<String>,
    /// The closed pattern that it is in.
    pub pattern: Option<String>,
    /// The published `lastmod`.
    pub lastmod: Option<String>,
    /// Its source.
    pub lastmod_source: Option<&'static str>,
    /// The first publish that knew it.
    pub first_seen: Option<Timestamp>,
}

/// A link of a page to a URL that is broken, or that redirects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkRow {
    /// The page with the link.
    pub page: String,
    /// Where the link leads.
    pub target: String,
    /// The code of the target's reason.
    pub reason: &'static str,
    /// The target redirects; `false`: it is broken.
    pub is_redirect: bool,
}

/// Why a report ended before its last row.
#[derive(Debug, thiserror::Error)]
pub enum ReportError<E> {
    /// The state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller did not take a row.
    #[error("{0}")]
    Refused(E),
}

/// Shows all rows of a site: the head, the closed patterns, the URLs in the order of keys, the links in the order of the pages that
/// hold them. Of a site that was never published the rows are those of the crawl under way.
///
/// # Errors
/// The state cannot be read, or `show` fails.
pub fn each_row<E>(
    store: &Store,
    site: &Site,
    show: &mut dyn FnMut(ReportRow) -> Result<(), E>,
) -> Result<(), ReportError<E>> {
    let is_published = has_pages(store)?;
    let head = ReportHead {
        version: REPORT_VERSION,
        site: site.url(),
        is_published,
    };
    show(ReportRow::Report(head)).map_err(ReportError::Refused)?;
    let patterns: Vec<ClosedPattern> = store
        .patterns()?
        .into_iter()
        .map(|(pattern, _)| pattern)
        .collect();
    for pattern in &patterns {
        show(ReportRow::Pattern(PatternRow::of(pattern))).map_err(ReportError::Refused)?;
    }
    let mut targets: HashMap<u64, Reason> = HashMap::new();
    walk(store, is_published, &mut |url, page, record| {
        if is_broken(record.reason) || is_redirect(record.reason) {
            targets.insert(url.fingerprint(), record.reason);
        }
        let row = UrlRow::of(url, page, record, &patterns);
        show(ReportRow::Url(Box::new(row))).map_err(ReportError::Refused)
    })?;
    let mut reader = LinkReader::default();
    walk(store, is_published, &mut |url, _, record| {
        if record.facts().is_none() {
            return Ok(());
        }
        let (links, _) = store.links(url)?;
        for target in reader.keys_where(links, |link| targets.contains_key(&link))? {
            let reason = targets[&target.fingerprint()];
            let row = LinkRow {
                page: url.to_string(),
                target: target.to_string(),
                reason: reason.code(),
                is_redirect: is_redirect(reason),
            };
            show(ReportRow::Link(row)).map_err(ReportError::Refused)?;
        }
        Ok(())
    })
}

/// Whether links to a URL with this reason are broken.
pub fn is_broken(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Gone
            | Reason::KeptGoneOnce
            | Reason::KeptUnreachable
            | Reason::ClientError
            | Reason::ServerError
            | Reason::NetworkError
            | Reason::RedirectLoop
            | Reason::TooManyRedirects
            | Reason::BadRedirect
            | Reason::NotFoundPage
    )
}

/// Whether a URL with this reason redirects.
pub fn is_redirect(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Redirected | Reason::RedirectedOutOfScope | Reason::RefreshRedirect
    )
}

/// Whether a crawl was published.
pub(crate) fn has_pages(store: &Store) -> Result<bool, StoreError> {
    let mut has_pages = false;
    store.each(None, &mut |_, page, _| {
        has_pages = page.is_some();
        if has_pages {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(has_pages)
}

/// Receives a URL with its published row, if it has one, and the record that counts.
pub(crate) type EachRecord<'f, E> =
    dyn FnMut(&UrlKey, Option<&Page>, &PageRecord) -> Result<(), ReportError<E>> + 'f;

/// Shows the rows that count.
pub(crate) fn walk<E>(
    store: &Store,
    is_published: bool,
    show: &mut EachRecord<'_, E>,
) -> Result<(), ReportError<E>> {
    let mut result = Ok(());
    store.each(
        None,
        &mut |url, page: Option<Page>, visit: Option<Visit>| {
            let record = if is_published {
                page.as_ref().map(|page| &page.record)
            } else {
                visit.as_ref().map(|visit| &visit.record)
            };
            // Sitemaps and feeds are no known URLs.
            if let Some(record) = record.filter(|record| record.reason != Reason::SeedDocument) {
                result = show(url, page.as_ref(), record);
            }
            if result.is_err() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    )?;
    result
}

impl PatternRow {
    fn of(pattern: &ClosedPattern) -> Self {
        Self {
            name: pattern.name.clone(),
            kind: pattern.kind.as_str(),
            pages: pattern.pages,
            new: pattern.new,
            example: pattern.example.to_string(),
            exclude: exclude_of(&pattern.name),
        }
    }
}

/// A glob for the setting `exclude` that matches the URLs of the pattern `name`.
fn exclude_of(name: &str) -> String {
    // A sign that means something in a glob stands for any one sign.
    let literal = |text: &str| text.replace(['*', '?', '[', ']', '{', '}', '\\'], "?");
    match name.split_once('?') {
        Some((path, "*=")) => format!("{}*\\?*", literal(path)),
        Some((path, parameter)) => {
            let path = if path.is_empty() {
                "*".to_owned()
            } else {
                literal(path)
            };
            format!("{path}\\?{{,*&}}{}*", literal(parameter))
        }
        None => format!("{}*", literal(name.trim_end_matches("*/"))),
    }
}

impl UrlRow {
    fn of(
        url: &UrlKey,
        page: Option<&Page>,
        record: &PageRecord,
        patterns: &[ClosedPattern],
    ) -> Self {
        let facts = record.facts();
        let dates = page.and_then(|page| page.dates.as_ref());
        let dates = dates.filter(|_| record.reason.state() == State::Listed);
        let is_of_pattern = matches!(record.reason, Reason::PatternClosed | Reason::NothingNew);
        let pattern = closing_pattern(url, patterns).filter(|_| is_of_pattern);
        Self {
            url: url.to_string(),
            state: record.reason.state().as_str(),
            reason: record.reason.code(),
            section: section_of(url),
            depth: record.depth,
            via: record.via.as_str(),
            found_on: record.found_on.as_ref().map(UrlKey::to_string),
            status: facts.map(|facts| facts.status),
            error: record.error().map(str::to_owned),
            content_type: facts.and_then(|facts| facts.content_type.clone()),
            bytes: facts.map(|facts| facts.body_bytes),
            title: facts.and_then(|facts| facts.title.clone()),
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
            lastmod: dates.and_then(|dates| dates.lastmod.clone()),
            lastmod_source: dates.and_then(|dates| dates.source).map(DateSource::as_str),
            first_seen: page.map(|page| page.first_seen),
        }
    }
}

/// The first-level directory of a URL.
fn section_of(url: &UrlKey) -> String {
    let path = url.path();
    let end = path.match_indices('/').nth(1).map_or(1, |(at, _)| at + 1);
    path[..end].to_owned()
}
