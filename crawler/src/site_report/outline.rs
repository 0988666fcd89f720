//! A report in outline: counts with the first URLs of each, and the targets of links with the first pages that hold them. Takes the
//! rows as they come; its memory is bounded.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ConflictKind, ConflictRow, LinkRow, PatternRow, ReportHead, ReportRow, UrlRow};
use crate::store::StoredSession;

/// Examples of one kind.
pub(super) const MAX_EXAMPLES: usize = 3;

/// Sections, targets of links and pages with copies that are counted apart.
const MAX_KINDS: usize = 10_000;

/// The slowest and the heaviest pages that are named, and orphans.
const MAX_NAMED: usize = 10;

/// URLs of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReasonOutline {
    /// All of them.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<String>,
}

impl ReasonOutline {
    pub(super) fn add(&mut self, url: &str, most: usize) {
        self.count += 1;
        add_example(&mut self.examples, most, url);
    }
}

/// A first-level directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionOutline {
    /// Listed URLs.
    pub listed: u64,
    /// Known URLs.
    pub known: u64,
    /// URLs that are not listed, by the code of their reason.
    pub reasons: BTreeMap<&'static str, u64>,
}

/// A target of links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetOutline {
    /// The code of its reason.
    pub reason: &'static str,
    /// The target redirects; `false`: it is broken.
    pub is_redirect: bool,
    /// Pages that link to it.
    pub pages: u64,
    /// The first of them, with the text of the link.
    pub examples: Vec<(String, Option<String>)>,
}

/// The copies of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DuplicateOutline {
    /// All of them.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<String>,
}

/// Conflicts of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConflictOutline {
    /// All of them.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<ConflictRow>,
}

/// Pages that were rendered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RenderedOutline {
    /// All of them.
    pub pages: u64,
    /// Those to which scripts add links.
    pub with_links: u64,
    /// The links that scripts add.
    pub links: u64,
}

/// A report in outline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportOutline {
    /// The first row, when it was shown.
    pub head: Option<ReportHead>,
    /// The sessions, the oldest first.
    pub sessions: Vec<StoredSession>,
    /// Known URLs.
    pub known: u64,
    /// Listed ones.
    pub listed: u64,
    /// URLs that failed.
    pub failed: u64,
    /// Requests for all of them, further tries included.
    pub requests: u64,
    /// By state and code of the reason.
    pub reasons: BTreeMap<(&'static str, &'static str), ReasonOutline>,
    /// By first-level directory.
    pub sections: BTreeMap<String, SectionOutline>,
    /// Targets of broken and redirected links.
    pub targets: BTreeMap<String, TargetOutline>,
    /// Pages that have copies.
    pub duplicates: BTreeMap<String, DuplicateOutline>,
    /// Places that were cut, and parameters that were left out.
    pub patterns: Vec<PatternRow>,
    /// URLs that were not asked for because of their pattern.
    pub not_requested: u64,
    /// Listed URLs that no page links to.
    pub orphans: ReasonOutline,
    /// By kind.
    pub conflicts: BTreeMap<ConflictKind, ConflictOutline>,
    /// Versions in other languages were looked for.
    pub has_languages: bool,
    /// Listed URLs by the source of their `lastmod`.
    pub lastmod_sources: BTreeMap<&'static str, u64>,
    /// The slowest pages with their milliseconds, the slowest first.
    pub slow: Vec<(u64, String)>,
    /// The largest pages with their bytes, the largest first.
    pub heavy: Vec<(u64, String)>,
    /// Pages that were rendered.
    pub rendered: RenderedOutline,
    /// Pages by the milliseconds of their answer, of which two digits count.
    durations: BTreeMap<u64, u64>,
}

impl ReportOutline {
    /// Takes a row.
    pub fn add(&mut self, row: &ReportRow) {
        match row {
            ReportRow::Report(head) => self.head = Some(head.clone()),
            ReportRow::Session(session) => self.sessions.push(StoredSession::clone(session)),
            ReportRow::Pattern(pattern) => self.patterns.push(pattern.clone()),
            ReportRow::Url(url) => self.add_url(url),
            ReportRow::Link(link) => self.add_link(link),
            ReportRow::Conflict(conflict) => {
                let kind = self.conflicts.entry(conflict.kind).or_default();
                kind.count += 1;
                if kind.examples.len() < MAX_NAMED {
                    kind.examples.push(conflict.clone());
                }
            }
        }
    }

    /// The milliseconds within which this share of the pages answered, a twentieth more or less; `None`: none is known.
    pub fn duration_ms(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.durations.values().sum();
        let mut wanted = (all * percent).div_ceil(100).max(1);
        for (milliseconds, pages) in &self.durations {
            match wanted.checked_sub(*pages) {
                Some(left) if left > 0 => wanted = left,
                Some(_) | None => return Some(*milliseconds),
            }
        }
        None
    }

    /// The last session that ended.
    pub fn last_session(&self) -> Option<&StoredSession> {
        self.sessions
            .iter()
            .rev()
            .find(|session| session.ended.is_some())
    }

    /// The globs for the setting `exclude` that end places without end, and no listed page.
    pub fn excludes(&self) -> impl Iterator<Item = &str> {
        self.patterns
            .iter()
            .filter_map(|pattern| pattern.exclude.as_deref())
    }

    fn add_url(&mut self, url: &UrlRow) {
        let is_listed = u64::from(url.state == "listed");
        self.known += 1;
        self.listed += is_listed;
        self.failed += u64::from(url.state == "failed");
        self.requests += u64::from(url.attempts);
        self.not_requested += u64::from(url.reason == "pattern-closed");
        let reasons = &mut self.reasons;
        reasons
            .entry((url.state, url.reason))
            .or_default()
            .add(&url.url, MAX_EXAMPLES);
        if let Some(section) = entry(&mut self.sections, &url.section) {
            section.listed += is_listed;
            section.known += 1;
            if is_listed == 0 {
                *section.reasons.entry(url.reason).or_default() += 1;
            }
        }
        if let Some(original) = url
            .duplicate_of
            .as_ref()
            .filter(|_| url.reason == "duplicate-of")
            && let Some(duplicate) = entry(&mut self.duplicates, original)
        {
            duplicate.count += 1;
            add_example(&mut duplicate.examples, MAX_EXAMPLES, &url.url);
        }
        if url.is_orphan && is_listed == 1 {
            self.orphans.add(&url.url, MAX_NAMED);
        }
        if is_listed == 1 {
            let source = url.lastmod_source.unwrap_or("none");
            *self.lastmod_sources.entry(source).or_default() += 1;
        }
        if let Some(rendered) = &url.rendered {
            let links = u64::from(rendered.links.saturating_sub(rendered.html_links));
            self.rendered.pages += 1;
            self.rendered.with_links += u64::from(links > 0);
            self.rendered.links += links;
        }
        self.has_languages |= url.languages.is_some();
        if let Some(milliseconds) = url.duration_ms {
            *self.durations.entry(two_digits(milliseconds)).or_default() += 1;
            add_top(&mut self.slow, milliseconds, &url.url);
        }
        if let Some(bytes) = url.bytes {
            add_top(&mut self.heavy, bytes, &url.url);
        }
    }

    fn add_link(&mut self, link: &LinkRow) {
        let Some(target) = entry(&mut self.targets, &link.target) else {
            return;
        };
        target.reason = link.reason;
        target.is_redirect = link.is_redirect;
        target.pages += 1;
        if target.examples.len() < MAX_EXAMPLES {
            target.examples.push((link.page.clone(), link.text.clone()));
        }
    }
}

/// The counts of `name`; `None`: there is no room for it.
fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> Option<&'m mut T> {
    if !map.contains_key(name) {
        if map.len() >= MAX_KINDS {
            return None;
        }
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name)
}

fn add_example(examples: &mut Vec<String>, most: usize, url: &str) {
    if examples.len() < most {
        examples.push(url.to_owned());
    }
}

/// Adds a URL to those with the largest values, if it is one of them.
fn add_top(top: &mut Vec<(u64, String)>, value: u64, url: &str) {
    let place = top.partition_point(|(larger, _)| *larger >= value);
    if place < MAX_NAMED {
        top.insert(place, (value, url.to_owned()));
        top.truncate(MAX_NAMED);
    }
}

/// A number with its first two digits, and zeros.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number / unit * unit
}
