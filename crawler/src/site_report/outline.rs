//! A report in outline: counts by reason and section with the first URLs of each, and the targets of broken links with the first
//! pages that hold them. Takes the rows as they come.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{PatternRow, ReportRow};

/// Examples of one kind.
const MAX_EXAMPLES: usize = 3;

/// Sections and targets of links that are told apart.
const MAX_KINDS: usize = 10_000;

/// The heaviest pages that are named.
const MAX_HEAVY: usize = 5;

/// The URLs of one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReasonOutline {
    /// All of them.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<String>,
}

/// A target of links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TargetOutline {
    /// The code of its reason.
    pub reason: &'static str,
    /// It redirects; `false`: it is broken.
    pub is_redirect: bool,
    /// Pages that link to it.
    pub pages: u64,
    /// The first of them.
    pub examples: Vec<String>,
}

/// A report in outline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReportOutline {
    /// Known URLs.
    pub known: u64,
    /// Listed ones.
    pub listed: u64,
    /// By state and code of the reason.
    pub reasons: BTreeMap<(&'static str, &'static str), ReasonOutline>,
    /// Listed URLs and all URLs, by first-level directory.
    pub sections: BTreeMap<String, (u64, u64)>,
    /// Targets of broken and redirected links.
    pub targets: BTreeMap<String, TargetOutline>,
    /// Closed patterns.
    pub patterns: Vec<PatternRow>,
    /// URLs that were not asked for because of their pattern.
    pub not_asked: u64,
    /// Listed URLs by the source of their `lastmod`.
    pub lastmod_sources: BTreeMap<&'static str, u64>,
    /// The largest pages, the largest first.
    pub heavy: Vec<(u64, String)>,
}

impl ReportOutline {
    /// Takes a row.
    pub fn add(&mut self, row: &ReportRow) {
        match row {
            ReportRow::Report(_) => {}
            ReportRow::Pattern(pattern) => self.patterns.push(pattern.clone()),
            ReportRow::Url(url) => {
                self.known += 1;
                let is_listed = u64::from(url.state == "listed");
                self.listed += is_listed;
                self.not_asked += u64::from(url.reason == "pattern-closed");
                let reason = self.reasons.entry((url.state, url.reason)).or_default();
                reason.count += 1;
                add_example(&mut reason.examples, &url.url);
                if self.sections.len() < MAX_KINDS || self.sections.contains_key(&url.section) {
                    let section = self.sections.entry(url.section.clone()).or_default();
                    section.0 += is_listed;
                    section.1 += 1;
                }
                if is_listed == 1 {
                    let source = url.lastmod_source.unwrap_or("none");
                    *self.lastmod_sources.entry(source).or_default() += 1;
                }
                if let Some(bytes) = url.bytes {
                    let place = self.heavy.partition_point(|(heavier, _)| *heavier >= bytes);
                    self.heavy.insert(place, (bytes, url.url.clone()));
                    self.heavy.truncate(MAX_HEAVY);
                }
            }
            ReportRow::Link(link) => {
                if self.targets.len() >= MAX_KINDS && !self.targets.contains_key(&link.target) {
                    return;
                }
                let target = self.targets.entry(link.target.clone()).or_default();
                target.reason = link.reason;
                target.is_redirect = link.is_redirect;
                target.pages += 1;
                add_example(&mut target.examples, &link.page);
            }
        }
    }
}

fn add_example(examples: &mut Vec<String>, url: &str) {
    if examples.len() < MAX_EXAMPLES {
        examples.push(url.to_owned());
    }
}
