//! The summary of a session: one line of JSON for programs, a view for people. It holds what others counted, and counts nothing
//! itself but the sums.

mod counts;
mod facts;
mod robots;
mod seeds;
mod view;

#[cfg(test)]
mod tests;

use std::{path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::robots::RobotsFile;
use self::{
    facts::{FormatVersion, GuardLine, SetFacts, UrlCounts, WorkFacts},
    seeds::SeedLine,
};
use crate::{
    build::Loaded,
    config::Config,
    export::ExtensionCounts,
    notes::Note,
    notify::{GoogleReport, Notified},
    outcome::SessionOutcome,
    publish::{PublishError, Published},
    report::Report,
    served::ServedReport,
    site::Site,
    site_run::{CrawlError, CrawlFacts, SessionError},
};

/// Files of the set that a line of a log names; programs that collect logs cut lines of more than some 48 kB.
const MAX_FILES: usize = 100;

/// Everything that is reported of one site. The serialised fields are the line of JSON.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    version: FormatVersion,
    /// The site's directory as a URL, or the start URL while the site is not known.
    pub site: String,
    /// How the session ended.
    pub outcome: SessionOutcome,
    #[serde(flatten)]
    counts: UrlCounts,
    #[serde(flatten)]
    work: WorkFacts,
    #[serde(flatten)]
    set: SetFacts,
    /// The URL of the directory that the site is written as, when that is another one.
    #[serde(rename = "publish_as")]
    written_as: Option<String>,
    /// What the site states and the settings ignore.
    ignored: Vec<&'static str>,
    /// Receivers of notifications of the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notified: Vec<Notified>,
    /// Path of the damaged state that was set aside: the session began with a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged_state: Option<String>,
    /// The error that ended the work without a set, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Objections of the guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<GuardLine>,
    /// Notes for the user, among them the reason why a crawl did not begin.
    pub notes: Vec<Note>,
    /// Facts that are not part of the JSON.
    #[serde(skip)]
    pub surroundings: Surroundings,
    /// The counts by reason, for the view.
    #[serde(skip)]
    report: Report,
}

/// Facts about a session that only people get.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a session, each reported in words of its own"
)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct Surroundings {
    /// The session is a build from inputs.
    pub is_build: bool,
    /// Links were not followed, so it is not known which URLs no page leads to.
    pub is_without_links: bool,
    /// An earlier set was restored.
    pub is_restored: bool,
    /// The session continued a crawl.
    pub resumed: bool,
    /// A set was published there before.
    pub has_old_set: bool,
    /// Nothing is to be written.
    pub is_dry: bool,
    /// The hooks were not called for the published set, whichever session published it.
    pub awaits_hooks: bool,
    /// The set is in object storage, not in a folder.
    pub is_in_storage: bool,
    /// Folder of the files, or the URL of the storage.
    pub output: Option<PathBuf>,
    /// File of the state.
    pub state: Option<PathBuf>,
    /// Options for the commands that it names.
    pub options: CommandOptions,
    /// The reason why the session ended before everything was decided, as a sentence.
    pub stopped_by: Option<String>,
}

/// The options of a session that other commands need, each with a space before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct CommandOptions {
    /// Options with which other commands find the states.
    pub states: String,
    /// Options with which `arpent publish` makes the set of this session; `None`: they cannot be named.
    pub publish: Option<String>,
}

impl Summary {
    /// Nothing is known yet but where the crawl would begin.
    pub fn new(start: &str) -> Self {
        Self {
            site: start.to_owned(),
            ..Self::default()
        }
    }

    /// The summary of a site that is built from inputs, when its work begins.
    pub fn of_build(base_url: &str) -> Self {
        let mut summary = Self::new(base_url);
        summary.surroundings.is_build = true;
        summary
    }

    /// Takes the settings that the report names.
    pub fn set_asked(&mut self, config: &Config) {
        self.written_as = config.written_as.as_ref().map(ToString::to_string);
        self.ignored = config.ignore.words().collect();
        self.surroundings.is_without_links = !config.discover.links;
    }

    /// The site is known.
    pub fn set_site(&mut self, site: &Site) {
        self.site = site.url();
    }

    /// The crawl of `site` has ended.
    pub fn set_crawled(&mut self, site: &Site, crawl: &CrawlFacts) {
        self.set_site(site);
        self.work.fetched = crawl.fetched;
        self.work.not_modified = crawl.not_modified;
        self.work.bytes_in = crawl.bytes_in;
        self.surroundings.resumed = crawl.resumed;
        self.notes.clone_from(&crawl.notes);
    }

    /// The inputs of a build were read.
    pub fn set_loaded(&mut self, loaded: &Loaded) {
        self.work.bytes_in = loaded.bytes;
        self.notes.clone_from(&loaded.notes);
        self.work.input = Some(loaded.clone());
    }

    /// URLs in the set.
    pub fn listed(&self) -> u64 {
        self.counts.listed
    }

    /// The known URLs by reason.
    pub fn set_report(&mut self, report: Report) {
        self.counts = UrlCounts::of(&report);
        self.report = report;
    }

    /// The published set, and the robots.txt that should name it.
    pub fn set_published(&mut self, published: &Published, robots: &RobotsFile) {
        self.set = SetFacts::of(published, robots);
        self.notes.extend_from_slice(&published.notes);
    }

    /// Takes the counts of the extensions of the set.
    pub fn set_extensions(&mut self, counts: ExtensionCounts) {
        self.set.extensions = counts;
    }

    /// What is served of the set; `None`: nobody looked.
    pub fn served(&self) -> Option<&ServedReport> {
        self.set.served.as_ref()
    }

    /// Takes what is served of the set.
    pub fn set_served(&mut self, served: Option<ServedReport>) {
        self.set.served = served;
    }

    /// What Google has read of the set; `None`: nobody asked, or it did not answer.
    pub fn google(&self) -> Option<&GoogleReport> {
        self.set.google.as_ref()
    }

    /// Takes what Google has read of the set.
    pub fn set_google(&mut self, google: Option<GoogleReport>) {
        self.set.google = google;
    }

    /// When the passing of time changes the published set.
    pub fn changes_at(&self) -> Option<Timestamp> {
        self.set.extensions.news.as_ref()?.changes_at
    }

    /// The work ended without a set, by an error with this message.
    pub fn set_failed(&mut self, message: String, outcome: SessionOutcome) {
        self.message = Some(message);
        self.outcome = outcome;
    }

    /// The session published nothing, for this reason.
    pub fn set_unpublished(&mut self, error: &SessionError) {
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
    pub fn set_duration(&mut self, duration: Duration) {
        // Milliseconds are precise enough, and short.
        self.work.duration_s = (duration.as_secs_f64() * 1_000.0).round() / 1_000.0;
    }

    fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.work.duration_s).unwrap_or_default()
    }

    /// Returns whether some URL failed after its tries, was not reached, or was cut short.
    pub fn is_partial(&self) -> bool {
        self.report.is_partial()
    }

    /// Returns whether readers see another set than before.
    pub fn has_changed(&self) -> bool {
        self.set.dropped > 0 || self.set.files.iter().any(|file| file.changed)
    }

    /// The line of JSON.
    pub fn json(&self) -> String {
        // Neither its keys nor its values are of a kind that JSON does not have.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What `--json` prints; of a large set the first files only, and how many more there are.
    pub fn log_value(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(files) = value.get_mut("files").and_then(Value::as_array_mut)
            && files.len() > MAX_FILES
        {
            let more = files.len() - MAX_FILES;
            files.truncate(MAX_FILES);
            value["more_files"] = more.into();
        }
        value
    }

    /// The summary as fields of a line of the log.
    pub fn log_fields(&self) -> Map<String, Value> {
        [("summary".to_owned(), self.log_value())]
            .into_iter()
            .collect()
    }
}
