//! The groups of facts in a summary. Their fields are keys of its JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    SeedLine,
    robots::{RobotsFile, SitemapLine},
};
use crate::{
    build::Loaded,
    export::ExtensionCounts,
    notify::GoogleReport,
    page::ClosedPattern,
    publish::{Objection, Published, PublishedFile, Refusal},
    report::{Report, SetChanges},
    served::ServedReport,
};

/// Version of the JSON: keys are added without a new one, and neither removed nor given another meaning.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FormatVersion;

impl Serialize for FormatVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

/// The known URLs.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct UrlCounts {
    /// The sum of the next four.
    pub(super) known: u64,
    pub(super) listed: u64,
    /// By reason; their sum is the number of excluded URLs.
    excluded: BTreeMap<&'static str, u64>,
    failed: u64,
    queued: u64,
    /// Links that were not recorded, because a bound was reached.
    not_recorded: u64,
    /// Parts of the site that go on without end: pages may be missing there.
    pub(super) cut: Vec<CutPlace>,
    /// Listed URLs that only sitemaps, feeds or lists name.
    orphans: u64,
    /// The sitemaps, feeds and lists themselves.
    pub(super) seeds: SeedLine,
    /// Listed URLs that stay so although they did not answer well this time, by reason.
    retained: BTreeMap<&'static str, u64>,
}

/// The work of the session.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct WorkFacts {
    /// Finished page requests of this start of the program.
    pub(super) fetched: u64,
    pub(super) not_modified: u64,
    /// Wall time of this start, in seconds.
    pub(super) duration_s: f64,
    /// Bytes received.
    pub(super) bytes_in: u64,
    /// Inputs of a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Loaded>,
}

/// The set.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct SetFacts {
    pub(super) files: Vec<PublishedFile>,
    /// Differences from the set before.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<SetChanges>,
    /// Entries with a `lastmod`, by where it came from.
    pub(super) lastmod: BTreeMap<&'static str, u64>,
    /// Counts of the extensions that were asked for.
    #[serde(skip_serializing_if = "has_no_extensions")]
    pub(super) extensions: ExtensionCounts,
    /// What is served of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) served: Option<ServedReport>,
    /// What Google has read of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) google: Option<GoogleReport>,
    /// The lines that robots.txt should have.
    pub(super) robots_txt: Vec<SitemapLine>,
    #[serde(skip)]
    pub(super) dropped: usize,
    /// Listed pages with the content of another one.
    #[serde(skip)]
    pub(super) duplicates: u64,
}

fn has_no_extensions(counts: &ExtensionCounts) -> bool {
    *counts == ExtensionCounts::default()
}

impl UrlCounts {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            known: report.known(),
            listed: report.listed,
            excluded: report.excluded.clone(),
            failed: report.failed(),
            queued: report.queued,
            not_recorded: report.not_recorded,
            cut: report.cut.iter().map(CutPlace::of).collect(),
            orphans: report.orphans,
            seeds: SeedLine::from(&report.seeds),
            retained: report.retained.clone(),
        }
    }
}

impl SetFacts {
    /// The published set, and the robots.txt that should name it.
    pub(super) fn of(published: &Published, robots: &RobotsFile) -> Self {
        let urls = published.sitemap_urls.iter();
        let sources = published.sources.iter();
        Self {
            files: published.files.clone(),
            changes: published.changes.clone(),
            lastmod: sources
                .map(|(source, count)| (source.as_str(), *count))
                .collect(),
            extensions: published.extensions.clone(),
            robots_txt: urls.map(|url| robots.line_for(url)).collect(),
            served: None,
            google: None,
            dropped: published.dropped.len(),
            duplicates: published.duplicates,
        }
    }
}

/// A part of the site that goes on without end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CutPlace {
    pub(super) name: String,
    requested: u64,
    pub(super) left_out: u64,
    pub(super) not_requested: u64,
    example: String,
    exclude: Option<String>,
}

impl CutPlace {
    fn of(place: &ClosedPattern) -> Self {
        Self {
            name: place.name.clone(),
            requested: place.requested,
            left_out: place.left_out,
            not_requested: place.not_requested,
            example: place.example.to_string(),
            exclude: place.exclude.clone(),
        }
    }
}

/// Why the guard kept the published set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct GuardLine {
    /// What speaks against the new set, each a stable word.
    objections: Vec<&'static str>,
    /// URLs in the published set.
    pub(super) published: u64,
    /// URLs that would have been listed.
    would_list: u64,
    /// The code and the text of each objection, for people.
    #[serde(skip)]
    pub(super) lines: Vec<(&'static str, String)>,
}

impl From<&Refusal> for GuardLine {
    fn from(refusal: &Refusal) -> Self {
        Self {
            objections: refusal.objections.iter().map(Objection::code).collect(),
            published: refusal.before,
            would_list: refusal.now,
            lines: refusal.lines().collect(),
        }
    }
}
