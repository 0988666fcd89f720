//! The report on a site at the end: one line of JSON for scripts, a page of text for people. It
//! holds what others counted; it counts nothing itself but the sums.

mod counts;
mod cut;
mod files;
mod guard;
mod log;
mod notified;
mod outcome;
mod robots;
mod seeds;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use crawler::{
    build::Loaded,
    config::Config,
    export::ExtensionCounts,
    notes::Note,
    notify::Notified,
    publish::{PublishError, Published, PublishedFile},
    report::{Report, SetChanges},
    site::Site,
    site_run::{CrawlError, CrawlFacts, SessionError, SessionOutcome},
};
use jiff::Timestamp;
use serde::Serialize;

use self::{
    counts::{add_dates, add_extensions, add_reasons, add_unused, read_of, with_texts},
    cut::CutPlace,
    guard::GuardLine,
    robots::RobotsLine,
    seeds::SeedLine,
};
use crate::{failure::Failure, human, settings::is_storage};

pub(crate) use self::notified::text as text_of_notified;
pub(crate) use self::robots::RobotsFile;

/// Version of the JSON: keys are added without a new one, and neither removed nor given another meaning.
#[derive(Debug, Clone, Copy, Default)]
struct FormatVersion;

impl Serialize for FormatVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

/// Everything that is reported of one site. The serialised fields are the line of JSON.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a run, each reported in words of its own"
)]
pub(crate) struct Summary {
    version: FormatVersion,
    /// The site's directory as a URL, or the start URL while the site is not known.
    pub(crate) site: String,
    /// Its outcome.
    pub(crate) outcome: SessionOutcome,
    #[serde(skip)]
    is_build: bool,
    /// Known URLs: the sum of the next four.
    known: u64,
    listed: u64,
    /// By reason; their sum is the number of excluded URLs.
    excluded: BTreeMap<&'static str, u64>,
    failed: u64,
    queued: u64,
    /// Links that were not recorded, because a bound was reached.
    not_recorded: u64,
    /// Parts of the site that go on without end: pages may be missing there.
    cut: Vec<CutPlace>,
    /// Finished page requests of this start of the program.
    fetched: u64,
    not_modified: u64,
    files: Vec<PublishedFile>,
    /// Differences from the set before.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<SetChanges>,
    /// Entries with a `lastmod`, by where it came from.
    lastmod: BTreeMap<&'static str, u64>,
    /// Counts of the extensions that were asked for.
    #[serde(skip_serializing_if = "has_no_extensions")]
    extensions: ExtensionCounts,
    /// Wall time of this start, in seconds.
    duration_s: f64,
    /// Bytes received.
    bytes_in: u64,
    /// Of a build: what its inputs were.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Loaded>,
    /// The URL of the directory that the site is written as, when that is another one.
    #[serde(rename = "publish_as")]
    written_as: Option<String>,
    /// What the site states and the settings ignore.
    ignored: Vec<&'static str>,
    /// The lines that robots.txt should have.
    robots_txt: Vec<RobotsLine>,
    /// Known URLs that only sitemaps, feeds or lists name.
    orphans: u64,
    /// The sitemaps, feeds and lists themselves.
    seeds: SeedLine,
    /// Listed URLs that stay so although they did not answer well this time, by reason.
    kept: BTreeMap<&'static str, u64>,
    /// Receivers of notifications of the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notified: Vec<Notified>,
    /// Path of the damaged state that was set aside: the session began with a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damaged_state: Option<String>,
    /// The error that ended the work without a set, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Objections of the guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<GuardLine>,
    /// The counts by reason, for the text.
    #[serde(skip)]
    report: Report,
    #[serde(skip)]
    dropped: usize,
    /// Listed pages with the content of another one.
    #[serde(skip)]
    duplicates: u64,
    #[serde(skip)]
    resumed: bool,
    /// The hooks were not called for the published set, whichever session published it.
    #[serde(skip)]
    pub(crate) awaits_hooks: bool,
    /// Folder of the files.
    #[serde(skip)]
    pub(crate) output: Option<PathBuf>,
    /// Options with which other commands find the state, each with a space before it.
    #[serde(skip)]
    pub(crate) state_options: String,
    /// File of the state.
    #[serde(skip)]
    pub(crate) state: Option<PathBuf>,
    /// A set was published there before.
    #[serde(skip)]
    pub(crate) has_old_set: bool,
    /// Links were followed; otherwise it is not known which URLs no page leads to.
    #[serde(skip)]
    followed_links: bool,
    /// The reason why the session ended before everything was decided, as a sentence.
    #[serde(skip)]
    pub(crate) stopped_by: Option<String>,
    /// Notes for the user, among them the reason why a crawl did not begin.
    pub(crate) notes: Vec<Note>,
}

impl Summary {
    /// Nothing is known yet but where the crawl would begin.
    pub(crate) fn new(start: &str) -> Self {
        Self {
            site: start.to_owned(),
            followed_links: true,
            ..Self::default()
        }
    }

    /// The summary of a site that is built from inputs, when its work begins.
    pub(crate) fn of_build(base_url: &str) -> Self {
        Self {
            is_build: true,
            ..Self::new(base_url)
        }
    }

    /// Takes the settings that the report names.
    pub(crate) fn set_asked(&mut self, config: &Config) {
        self.written_as = config.written_as.as_ref().map(ToString::to_string);
        self.ignored = config.ignore.words().collect();
        self.followed_links = config.discover.links;
    }

    /// The site is known.
    pub(crate) fn set_site(&mut self, site: &Site) {
        self.site = site.url();
    }

    /// The crawl of `site` has ended.
    pub(crate) fn set_crawled(&mut self, site: &Site, crawl: &CrawlFacts) {
        self.set_site(site);
        self.fetched = crawl.fetched;
        self.not_modified = crawl.not_modified;
        self.bytes_in = crawl.bytes_in;
        self.resumed = crawl.resumed;
        self.notes.clone_from(&crawl.notes);
    }

    /// The inputs of a build were read.
    pub(crate) fn set_loaded(&mut self, loaded: &Loaded) {
        self.bytes_in = loaded.bytes;
        self.notes.clone_from(&loaded.notes);
        self.input = Some(loaded.clone());
    }

    /// URLs in the set.
    #[cfg(feature = "catalogue")]
    pub(crate) fn listed(&self) -> u64 {
        self.listed
    }

    /// The known URLs by reason.
    pub(crate) fn set_report(&mut self, report: Report) {
        (self.known, self.listed) = (report.known(), report.listed);
        (self.failed, self.queued) = (report.failed(), report.queued);
        self.not_recorded = report.not_recorded;
        self.cut = report.cut.iter().map(CutPlace::of).collect();
        self.excluded.clone_from(&report.excluded);
        self.orphans = report.orphans;
        self.seeds = SeedLine::from(&report.seeds);
        self.kept.clone_from(&report.kept);
        self.report = report;
    }

    /// The published set, and the robots.txt that should name it.
    pub(crate) fn set_published(&mut self, published: &Published, robots: &RobotsFile) {
        self.files.clone_from(&published.files);
        self.changes.clone_from(&published.changes);
        self.robots_txt = published
            .sitemap_urls
            .iter()
            .map(|url| robots.line_for(url))
            .collect();
        self.dropped = published.dropped.len();
        self.duplicates = published.duplicates;
        let sources = published.sources.iter();
        self.lastmod = sources
            .map(|(source, count)| (source.as_str(), *count))
            .collect();
        self.set_extensions(published.extensions.clone());
        self.notes.extend_from_slice(&published.notes);
    }

    /// Takes the counts of the extensions of the set.
    pub(crate) fn set_extensions(&mut self, counts: ExtensionCounts) {
        self.extensions = counts;
    }

    /// When the passing of time changes the published set.
    pub(crate) fn changes_at(&self) -> Option<Timestamp> {
        self.extensions.news.as_ref()?.changes_at
    }

    /// The work ended without a set, by this error.
    pub(crate) fn set_failed(&mut self, error: &Failure) {
        self.message = Some(error.in_full());
        self.outcome = error.outcome();
    }

    /// The session published nothing, for this reason.
    pub(crate) fn set_unpublished(&mut self, error: &SessionError) {
        match error {
            SessionError::Publish(PublishError::Refused(refusal)) => {
                self.guard = Some(GuardLine::from(&**refusal));
            }
            SessionError::Crawl(CrawlError::Start(error)) => {
                self.notes.extend(error.note().cloned());
            }
            _ => {}
        }
    }

    /// Takes the duration.
    pub(crate) fn set_duration(&mut self, duration: Duration) {
        // Milliseconds are precise enough, and short.
        self.duration_s = (duration.as_secs_f64() * 1_000.0).round() / 1_000.0;
    }

    fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.duration_s).unwrap_or_default()
    }

    /// Returns whether some URL failed after its tries, was not reached, or was cut short.
    pub(crate) fn is_partial(&self) -> bool {
        self.report.is_partial()
    }

    /// Returns whether readers see another set than before.
    pub(crate) fn has_changed(&self) -> bool {
        self.dropped > 0 || self.files.iter().any(|file| file.changed)
    }

    /// The line of JSON.
    pub(crate) fn json(&self) -> String {
        // Neither its keys nor its values are of a kind that JSON does not have.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The page of text.
    pub(crate) fn text(&self) -> Vec<String> {
        let written_as = self
            .written_as
            .as_ref()
            .map(|url| format!(" as {url}"))
            .unwrap_or_default();
        let mut lines = vec![format!("{}{written_as}: {}", self.site, self.ending())];
        lines.extend(self.cut.iter().map(CutPlace::text));
        lines.extend(self.note_lines(true));
        let message = self.message.iter().filter(|_| self.guard.is_some());
        lines.extend(message.map(|message| format!("  {message}")));
        if self.known > 0 || self.fetched > 0 || self.input.is_some() {
            self.add_counts(&mut lines);
        }
        if !self.files.is_empty() {
            files::add_lines(self, &mut lines);
        }
        add_extensions(&self.extensions, &mut lines);
        robots::add_lines(&self.robots_txt, &mut lines);
        let notified = self.notified.iter().map(text_of_notified);
        lines.extend(notified.map(|line| format!("  {line}")));
        if let Some(state) = self.state.as_ref().filter(|_| self.known > 0) {
            lines.push(format!("  state in {}", state.display()));
            if !self.is_build {
                lines.push("  what was left out, and broken links:".to_owned());
                lines.push(format!(
                    "    arpent report {}{}",
                    self.site, self.state_options
                ));
            }
        }
        lines.extend(self.note_lines(false));
        lines
    }

    /// The notes that come first, or the others. What ended the crawl is said as its error.
    fn note_lines(&self, first: bool) -> impl Iterator<Item = String> {
        let notes = self.notes.iter();
        notes
            .filter(move |note| note.comes_first() == first)
            .filter(|note| self.message.as_ref() != Some(&note.text))
            .map(|note| format!("  NOTE: {}", note.text))
    }

    /// The set is in object storage, not in a folder.
    fn is_in_storage(&self) -> bool {
        self.output.as_deref().is_some_and(is_storage)
    }

    /// The outcome in a few words.
    fn ending(&self) -> &'static str {
        match self.outcome {
            SessionOutcome::Refused if !self.has_old_set => "not published",
            // A build reads its inputs from their beginning again.
            SessionOutcome::Interrupted if self.is_build => "interrupted, nothing published",
            outcome => outcome::text(outcome),
        }
    }

    fn add_counts(&self, lines: &mut Vec<String>) {
        let took = self.duration();
        let word = match self.outcome {
            SessionOutcome::Interrupted => "to be listed",
            _ => "listed",
        };
        let listed = format!(
            "  {} {word} of {} known",
            human::number(self.listed),
            human::count(self.known, "URL")
        );
        let (took, bytes) = (human::duration(took), human::bytes(self.bytes_in));
        if let Some(loaded) = &self.input {
            lines.push(format!(
                "{listed}; {} read in {took} ({bytes})",
                read_of(loaded)
            ));
            add_unused(loaded, lines);
        } else {
            lines.push(format!(
                "{listed}; {} fetched in {took} ({} not modified, {bytes})",
                human::count(self.fetched, "page"),
                human::number(self.not_modified),
            ));
            if self.resumed {
                lines.push("  this session continued the crawl".to_owned());
            }
        }
        let examples = &self.report.examples;
        add_reasons(
            lines,
            "of the listed kept",
            with_texts(&self.report.kept),
            examples,
        );
        add_reasons(
            lines,
            "excluded",
            with_texts(&self.report.excluded),
            examples,
        );
        add_reasons(
            lines,
            "failed",
            with_texts(&self.report.failed_reasons),
            examples,
        );
        if self.queued > 0 {
            lines.push(format!("  {} not reached", human::number(self.queued)));
        }
        if self.not_recorded > 0 {
            lines.push(format!(
                "  {} left out (not-recorded): beyond max_links or 2 MiB of a page, max_known_urls or max_state_bytes",
                human::count(self.not_recorded, "link")
            ));
        }
        lines.extend(self.stopped_by.iter().map(|reason| format!("  {reason}")));
        if self.orphans > 0 {
            let why = if self.followed_links {
                "no page leads to them"
            } else {
                "links were not followed"
            };
            lines.push(format!(
                "  {} known by sitemaps, feeds or lists only: {why}",
                human::count(self.orphans, "URL")
            ));
        }
        self.seeds.add_to(&self.report.seeds, &self.site, lines);
        add_dates(&self.lastmod, self.listed, lines);
        if self.duplicates > 0 {
            lines.push(format!(
                "  {} of the listed pages {} another one byte for byte; a canonical link would say which counts",
                human::number(self.duplicates),
                if self.duplicates == 1 { "repeats" } else { "repeat" }
            ));
        }
    }
}

fn has_no_extensions(counts: &ExtensionCounts) -> bool {
    *counts == ExtensionCounts::default()
}
