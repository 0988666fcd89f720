//! What is told of a site at the end: one line of JSON for scripts, a page of text for people. It
//! holds what others counted; it counts nothing itself but the sums.

mod extensions;

use std::{cmp::Reverse, collections::BTreeMap, path::PathBuf, time::Duration};

use crawler::{
    build::Loaded,
    config::Config,
    engine::Crawled,
    page::Reason,
    publish::{Published, PublishedFile},
    report::Report,
    seeds::Tally,
    site::Site,
    url_key::{Identity, Origin, UrlKey},
};
use serde::Serialize;

use self::extensions::ExtensionLines;
use crate::{exit_code::ExitCode, human};

/// Files named in the text; the JSON names all.
const MAX_FILES_SHOWN: usize = 20;

/// Sitemaps, feeds and lists with a problem that are named in the text.
const MAX_SEEDS_SHOWN: usize = 10;

/// How the work on a site ended. The words are stable: scripts compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// A new set stands.
    Published,
    /// Nothing changed: every file stands untouched.
    Unchanged,
    /// A set stands (new or unchanged), but some URLs failed or were not reached.
    Partial,
    /// Nothing was written because `--dry-run` said so.
    DryRun,
    /// Nothing was published, the old set stands.
    Refused,
    /// The site could not be crawled.
    Unreachable,
    /// Another run holds the state or the output.
    Busy,
    /// Settings that do not fit this site.
    Settings,
    /// A signal stopped the run; nothing was published, progress is kept.
    Interrupted,
    /// A bug of arpent.
    Internal,
}

impl Outcome {
    /// The word for work that ended without a set.
    pub(crate) fn of_failure(code: ExitCode) -> Self {
        match code {
            ExitCode::Usage => Self::Settings,
            ExitCode::Refused => Self::Refused,
            ExitCode::NotCrawled => Self::Unreachable,
            ExitCode::Busy => Self::Busy,
            ExitCode::Interrupted | ExitCode::Terminated => Self::Interrupted,
            // The first three are no failures; a caller that says otherwise has a bug.
            ExitCode::Success | ExitCode::Partial | ExitCode::Invalid | ExitCode::Internal => {
                Self::Internal
            }
        }
    }

    /// A few words for people.
    fn text(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::Partial => "published, but partial",
            Self::DryRun => "dry run, nothing written",
            Self::Refused => "not published, the old sitemaps stand",
            Self::Unreachable => "could not be crawled",
            Self::Busy => "busy",
            Self::Settings => "not begun: a setting, or what it names, cannot be used",
            Self::Interrupted => {
                "interrupted, nothing published; the same command goes on from here"
            }
            Self::Internal => "internal error",
        }
    }
}

/// Everything that is told of one site. The serialised fields are the line of JSON.
#[derive(Debug, Clone, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a run, each told in words of its own"
)]
pub(crate) struct Summary {
    /// The site's directory as a URL, or the start URL while the site is not known.
    pub(crate) site: String,
    /// How it ended.
    pub(crate) outcome: Outcome,
    #[serde(skip)]
    is_build: bool,
    /// Known URLs: the sum of the next four.
    known: u64,
    listed: u64,
    /// By reason; their sum is the number of excluded URLs.
    excluded: BTreeMap<&'static str, u64>,
    failed: u64,
    queued: u64,
    /// Finished page requests of this start of the program.
    fetched: u64,
    not_modified: u64,
    files: Vec<FileLine>,
    /// What became of the extensions that were asked for.
    #[serde(skip_serializing_if = "ExtensionLines::is_empty")]
    extensions: ExtensionLines,
    /// Wall time of this start, in seconds.
    duration_s: f64,
    /// Bytes received.
    bytes_in: u64,
    /// Of a build: what its inputs were.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<InputLine>,
    /// The URL of the directory that the site is written as, when that is another one.
    #[serde(rename = "as")]
    written_as: Option<String>,
    /// What the site says and was not listened to.
    ignored: Vec<&'static str>,
    /// The lines that robots.txt should have.
    robots_txt: Vec<RobotsLine>,
    /// Known URLs that only sitemaps, feeds or lists name.
    orphans: u64,
    /// The sitemaps, feeds and lists themselves.
    seeds: SeedLine,
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
    /// Where the files are.
    #[serde(skip)]
    pub(crate) output: Option<PathBuf>,
    /// Where what is known is kept.
    #[serde(skip)]
    pub(crate) state: Option<PathBuf>,
    /// Whether a set stood there before.
    #[serde(skip)]
    pub(crate) has_old_set: bool,
    /// Whether links were followed; otherwise nobody knows what no page leads to.
    #[serde(skip)]
    followed_links: bool,
    /// What ended the run before everything was decided, as a sentence.
    #[serde(skip)]
    pub(crate) stopped_by: Option<String>,
    /// What the user should know, each a sentence.
    #[serde(skip)]
    pub(crate) notices: Vec<String>,
}

/// What a build was made from, in the line of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct InputLine {
    /// Entries of lists and sitemaps.
    entries: u64,
    /// Files of folders.
    files: u64,
    /// Entries for a URL that has a better one.
    repeated: u64,
    /// Entries outside the site's directory.
    outside: u64,
    /// Lines and entries that cannot be used.
    left_out: u64,
    /// Values that cannot be used, of entries that are.
    values_left_out: u64,
}

/// One line that robots.txt should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct RobotsLine {
    /// URL of the robots.txt.
    url: String,
    /// The line.
    line: String,
    /// Without the line engines do not accept the set, because it is not of the site's own origin.
    required: bool,
    /// Whether this run saw the line there; `null` when it did not read that file.
    present: Option<bool>,
}

/// The robots.txt of the site that the set is of, as far as a run has seen it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RobotsFile {
    origin: Origin,
    /// The sitemaps it names; `None` when it was not read.
    sitemaps: Option<Vec<String>>,
}

impl RobotsFile {
    /// As `crawled` has seen it. That of the site which a crawled one stands for is not read.
    pub(crate) fn of(crawled: &Crawled) -> Self {
        let origin = crawled.site.written().origin;
        let is_read = origin == crawled.site.origin;
        Self {
            origin,
            sitemaps: is_read.then(|| {
                let robots_url =
                    UrlKey::from_normalised(&format!("{}/robots.txt", crawled.site.origin));
                let urls = robots_url.map(|url| crawled.robots.sitemap_urls(&url.to_url()));
                urls.unwrap_or_default()
                    .into_iter()
                    .map(String::from)
                    .collect()
            }),
        }
    }

    /// That of `site`, when nothing was fetched.
    pub(crate) fn unread(site: &Site) -> Self {
        Self {
            origin: site.written().origin,
            sitemaps: None,
        }
    }

    /// The line for the sitemap at `url`.
    fn line_for(&self, url: &str) -> RobotsLine {
        let identity = Identity::default();
        let key = identity.parse(url).ok();
        let names = |named: &String| key.is_some() && identity.parse(named).ok() == key;
        RobotsLine {
            url: format!("{}/robots.txt", self.origin),
            line: format!("Sitemap: {url}"),
            required: key.as_ref().is_some_and(|key| !key.is_on(&self.origin)),
            present: self
                .sitemaps
                .as_ref()
                .map(|sitemaps| sitemaps.iter().any(names)),
        }
    }
}

/// One file in the line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct FileLine {
    name: String,
    entries: u64,
    bytes: u64,
    changed: bool,
}

/// The sitemaps, feeds and lists of a run in the line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct SeedLine {
    /// Read to the end.
    read: u64,
    /// Of these, those that were not fetched again, because their index says that they did not change.
    kept: u64,
    /// Published by arpent itself, so they were not read.
    own: u64,
    /// Not read yet.
    waiting: u64,
    /// Not, or not wholly, read, or with something wrong that was forgiven.
    troubled: u64,
    /// The first of these.
    troubles: Vec<SeedTrouble>,
}

/// One of them that something is wrong with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SeedTrouble {
    /// URL or file.
    name: String,
    /// Code of the problem.
    problem: &'static str,
    detail: Option<String>,
    named_by: Option<String>,
}

impl From<&Tally> for SeedLine {
    fn from(tally: &Tally) -> Self {
        let troubles = tally.troubles.iter().filter_map(|document| {
            Some(SeedTrouble {
                name: document.name.clone(),
                problem: document.problem?.code(),
                detail: document.detail.clone(),
                named_by: document.named_by.clone(),
            })
        });
        Self {
            read: tally.read,
            kept: tally.kept,
            own: tally.own,
            waiting: tally.waiting,
            troubled: tally.troubled,
            troubles: troubles.collect(),
        }
    }
}

impl From<&PublishedFile> for FileLine {
    fn from(file: &PublishedFile) -> Self {
        Self {
            name: file.name.clone(),
            entries: file.entries,
            bytes: file.bytes,
            changed: file.changed,
        }
    }
}

impl Summary {
    /// Nothing is known yet but where the crawl would begin.
    pub(crate) fn new(start: &str) -> Self {
        Self {
            site: start.to_owned(),
            outcome: Outcome::Internal,
            is_build: false,
            known: 0,
            listed: 0,
            excluded: BTreeMap::new(),
            failed: 0,
            queued: 0,
            fetched: 0,
            not_modified: 0,
            files: Vec::new(),
            extensions: ExtensionLines::default(),
            duration_s: 0.0,
            bytes_in: 0,
            input: None,
            written_as: None,
            ignored: Vec::new(),
            robots_txt: Vec::new(),
            orphans: 0,
            seeds: SeedLine::default(),
            report: Report::default(),
            dropped: 0,
            duplicates: 0,
            resumed: false,
            output: None,
            state: None,
            has_old_set: false,
            followed_links: true,
            stopped_by: None,
            notices: Vec::new(),
        }
    }

    /// The same for a site that is built from inputs.
    pub(crate) fn of_build(base_url: &str) -> Self {
        Self {
            is_build: true,
            ..Self::new(base_url)
        }
    }

    /// What the settings ask for.
    pub(crate) fn set_asked(&mut self, config: &Config) {
        self.written_as = config.written_as.as_ref().map(ToString::to_string);
        self.ignored = config.ignore.words().collect();
        self.followed_links = config.discover.links;
    }

    /// The site is known.
    pub(crate) fn set_site(&mut self, site: &Site) {
        self.site = site.url();
    }

    /// The crawl has ended.
    pub(crate) fn set_crawled(&mut self, crawled: &Crawled) {
        self.set_site(&crawled.site);
        self.fetched = crawled.fetched;
        self.not_modified = crawled.not_modified;
        self.bytes_in = crawled.bytes_in;
        self.resumed = crawled.resumed;
        self.notices.clone_from(&crawled.notices);
    }

    /// The inputs of a build were read.
    pub(crate) fn set_loaded(&mut self, loaded: &Loaded) {
        self.bytes_in = loaded.bytes;
        self.notices.clone_from(&loaded.notices);
        self.input = Some(InputLine {
            entries: loaded.entries,
            files: loaded.files,
            repeated: loaded.repeated,
            outside: loaded.outside,
            left_out: loaded.left_out,
            values_left_out: loaded.values_left_out,
        });
    }

    /// The known URLs by reason.
    pub(crate) fn set_report(&mut self, report: Report) {
        (self.known, self.listed) = (report.known(), report.listed);
        (self.failed, self.queued) = (report.failed(), report.queued);
        self.excluded.clone_from(&report.excluded);
        self.orphans = report.orphans;
        self.seeds = SeedLine::from(&report.seeds);
        self.report = report;
    }

    /// The set that stands now, and the robots.txt that should name it.
    pub(crate) fn set_published(&mut self, published: &Published, robots: &RobotsFile) {
        self.files = published.files.iter().map(FileLine::from).collect();
        self.robots_txt = published
            .sitemap_urls
            .iter()
            .map(|url| robots.line_for(url))
            .collect();
        self.dropped = published.dropped.len();
        self.duplicates = published.duplicates;
        self.extensions = ExtensionLines::new(&published.extensions);
        self.notices.extend_from_slice(&published.notices);
    }

    /// How long it took.
    pub(crate) fn set_duration(&mut self, duration: Duration) {
        // Milliseconds are precise enough, and short.
        self.duration_s = (duration.as_secs_f64() * 1_000.0).round() / 1_000.0;
    }

    /// Whether some URL failed after its tries, was not reached, or was cut short.
    pub(crate) fn is_partial(&self) -> bool {
        let cut_short = self.excluded.contains_key(Reason::CutShort.code());
        self.failed > 0 || self.queued > 0 || cut_short
    }

    /// Whether a sitemap, feed or list could not be read for a reason that may pass: what it names is then
    /// missing for no good reason.
    pub(crate) fn has_missing_seeds(&self) -> bool {
        self.report.seeds.passing > 0
    }

    /// The line of JSON.
    ///
    /// # Errors
    /// A number that JSON does not have.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The page of text.
    pub(crate) fn text(&self) -> Vec<String> {
        let written_as = self
            .written_as
            .as_ref()
            .map(|url| format!(" as {url}"))
            .unwrap_or_default();
        let mut lines = vec![format!("{}{written_as}: {}", self.site, self.ending())];
        if self.known > 0 || self.fetched > 0 || self.input.is_some() {
            self.add_counts(&mut lines);
        }
        if !self.files.is_empty() {
            self.add_files(&mut lines);
        }
        self.extensions.add_to(&mut lines);
        self.add_robots(&mut lines);
        if let Some(state) = self.state.as_ref().filter(|_| self.known > 0) {
            lines.push(format!("  state in {}", state.display()));
        }
        lines.extend(
            self.notices
                .iter()
                .map(|notice| format!("  NOTE: {notice}")),
        );
        lines
    }

    /// How it ended, in a few words.
    fn ending(&self) -> &'static str {
        match self.outcome {
            Outcome::Refused if !self.has_old_set => "not published",
            // A build reads its inputs from their beginning again.
            Outcome::Interrupted if self.is_build => "interrupted, nothing published",
            outcome => outcome.text(),
        }
    }

    /// The lines that robots.txt should have, and those that it has.
    fn add_robots(&self, lines: &mut Vec<String>) {
        let mut title = String::new();
        for robots in &self.robots_txt {
            let url = &robots.url;
            let own_title = match (robots.present, robots.required) {
                (Some(true), _) => format!("  {url} has the line:"),
                (Some(false), false) => "  for robots.txt:".to_owned(),
                (None, false) => format!("  for {url} (not read):"),
                (Some(false), true) => format!(
                    "  {url} needs this line, or engines do not accept sitemaps that stand elsewhere:"
                ),
                (None, true) => format!(
                    "  {url} (not read) needs this line, or engines do not accept sitemaps that stand elsewhere:"
                ),
            };
            if own_title != title {
                title = own_title;
                lines.push(title.clone());
            }
            lines.push(format!("    {}", robots.line));
        }
    }

    fn add_counts(&self, lines: &mut Vec<String>) {
        let took = Duration::try_from_secs_f64(self.duration_s).unwrap_or_default();
        if let Some(input) = self.input {
            self.add_input(&input, took, lines);
        } else {
            self.add_fetched(took, lines);
        }
        add_reasons(lines, "excluded", with_texts(&self.report.excluded));
        add_reasons(lines, "failed", with_texts(&self.report.failed_reasons));
        if self.queued > 0 {
            lines.push(format!("  {} not reached", human::number(self.queued)));
        }
        lines.extend(self.stopped_by.iter().map(|reason| format!("  {reason}")));
        self.add_seeds(lines);
        if self.duplicates > 0 {
            lines.push(format!(
                "  {} of the listed pages {} another one byte for byte; a canonical link would say which counts",
                human::number(self.duplicates),
                if self.duplicates == 1 { "repeats" } else { "repeat" }
            ));
        }
    }

    fn add_input(&self, input: &InputLine, took: Duration, lines: &mut Vec<String>) {
        let entries = (input.entries > 0 || input.files == 0).then(|| entries(input.entries));
        let files = (input.files > 0).then(|| human::count(input.files, "file"));
        let read: Vec<String> = entries.into_iter().chain(files).collect();
        let read = read.join(" and ");
        lines.push(format!(
            "  {} listed of {} known; {read} read in {} ({})",
            human::number(self.listed),
            human::count(self.known, "URL"),
            human::duration(took),
            human::bytes(self.bytes_in),
        ));
        let parts = [
            (
                input.repeated,
                "entry that repeats",
                "entries that repeat",
                "the URL of another, of which the better one counts",
            ),
            (
                input.outside,
                "entry",
                "entries",
                "outside the site, not listed",
            ),
            (
                input.left_out,
                "line",
                "lines",
                "that cannot be used, left out",
            ),
            (
                input.values_left_out,
                "value",
                "values",
                "that cannot be used, left out",
            ),
        ];
        for (count, one, many, what) in parts.into_iter().filter(|part| part.0 > 0) {
            let noun = if count == 1 { one } else { many };
            lines.push(format!("  {} {noun} {what}", human::number(count)));
        }
    }

    fn add_fetched(&self, took: Duration, lines: &mut Vec<String>) {
        lines.push(format!(
            "  {} listed of {} known; {} in {} ({} not modified, {})",
            human::number(self.listed),
            human::count(self.known, "URL"),
            human::count(self.fetched, "page") + " fetched",
            human::duration(took),
            human::number(self.not_modified),
            human::bytes(self.bytes_in),
        ));
        if self.resumed {
            lines.push("  this start went on with the run before it".to_owned());
        }
    }

    fn add_seeds(&self, lines: &mut Vec<String>) {
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
        if self.seeds.kept > 0 {
            lines.push(format!(
                "  {} not fetched again: the index says that nothing changed",
                human::count(self.seeds.kept, "sitemap")
            ));
        }
        if self.seeds.own > 0 {
            lines.push(format!(
                "  {} of arpent's own on the site: no evidence, not read",
                human::count(self.seeds.own, "sitemap")
            ));
        }
        if self.seeds.waiting > 0 {
            lines.push(format!(
                "  {} of the sitemaps and feeds not read yet",
                human::number(self.seeds.waiting)
            ));
        }
        if self.seeds.troubled == 0 {
            return;
        }
        lines.push(format!(
            "  {} with a problem:",
            match self.seeds.troubled {
                1 => "1 sitemap, feed or list".to_owned(),
                many => format!("{} sitemaps, feeds and lists", human::number(many)),
            }
        ));
        let shown = self.report.seeds.troubles.iter().take(MAX_SEEDS_SHOWN);
        let before = lines.len();
        lines.extend(shown.filter_map(|document| {
            let trouble = document.trouble()?;
            let named_by = document.named_by.as_deref();
            let named_by = named_by.map_or_else(String::new, |by| format!(", named by {by}"));
            Some(format!("    {} {trouble}{named_by}", document.name))
        }));
        let more = self
            .seeds
            .troubled
            .saturating_sub((lines.len() - before) as u64);
        if more > 0 {
            lines.push(format!("    and {} more", human::number(more)));
        }
    }

    fn add_files(&self, lines: &mut Vec<String>) {
        let written = self.files.iter().filter(|file| file.changed).count();
        let place = self
            .output
            .as_ref()
            .map(|folder| format!(" in {}", folder.display()))
            .unwrap_or_default();
        let (files, written) = (self.files.len() as u64, written as u64);
        let dropped = match self.dropped {
            0 => String::new(),
            dropped => format!(", {} dropped", human::number(dropped as u64)),
        };
        let verb = if self.outcome == Outcome::DryRun {
            "to write"
        } else {
            "written"
        };
        lines.push(format!(
            "  {}{place}: {} {verb}, {} unchanged{dropped}",
            human::count(files, "file"),
            human::number(written),
            human::number(files - written),
        ));
        let shown = || self.files.iter().take(MAX_FILES_SHOWN);
        let width = shown()
            .map(|file| file.name.chars().count())
            .max()
            .unwrap_or(0);
        for file in shown() {
            let word = if file.changed { verb } else { "unchanged" };
            lines.push(format!(
                "    {:<width$}  {}, {word}",
                file.name,
                entries(file.entries)
            ));
        }
        if self.files.len() > MAX_FILES_SHOWN {
            lines.push(format!(
                "    and {} more",
                human::number((self.files.len() - MAX_FILES_SHOWN) as u64)
            ));
        }
    }
}

fn entries(count: u64) -> String {
    let noun = if count == 1 { "entry" } else { "entries" };
    format!("{} {noun}", human::number(count))
}

fn with_texts(reasons: &BTreeMap<&'static str, u64>) -> Vec<(u64, &'static str, &'static str)> {
    let with_text = |(code, count): (&&'static str, &u64)| {
        let text = Reason::from_code(code).map_or("", Reason::text);
        (*count, *code, text)
    };
    reasons.iter().map(with_text).collect()
}

/// Adds a total and its parts (count, code, text), the largest first.
fn add_reasons(lines: &mut Vec<String>, word: &str, mut reasons: Vec<(u64, &str, &str)>) {
    let total: u64 = reasons.iter().map(|(count, ..)| count).sum();
    if total == 0 {
        return;
    }
    lines.push(format!("  {} {word}:", human::number(total)));
    reasons.sort_by_key(|(count, code, _)| (Reverse(*count), *code));
    let width = reasons
        .first()
        .map_or(0, |(count, ..)| human::number(*count).len());
    for (count, code, text) in reasons {
        lines.push(format!(
            "    {:>width$}  {text} ({code})",
            human::number(count)
        ));
    }
}

#[cfg(test)]
mod tests {
    use crawler::export::{ExtensionCounts, KindCounts, LeftOut};
    use crawler::seeds::{Document, DocumentKind, SeedProblem};

    use super::*;

    fn robots_file(sitemaps: Option<&[&str]>) -> RobotsFile {
        let start = Identity::default()
            .parse("https://www.example.com/")
            .unwrap();
        RobotsFile {
            origin: start.origin(),
            sitemaps: sitemaps.map(|urls| urls.iter().copied().map(str::to_owned).collect()),
        }
    }

    fn summary() -> Summary {
        let mut summary = Summary::new("https://www.example.com/docs");
        summary.site = "https://www.example.com/docs/".to_owned();
        let mut news = Document::new("https://www.example.com/news.xml", DocumentKind::Sitemap, 1)
            .with_problem(SeedProblem::Gone, "status 404");
        news.named_by = Some("https://www.example.com/robots.txt".to_owned());
        let mut report = Report::from_counts(&BTreeMap::from([
            (Reason::Listed, 1_200),
            (Reason::ListOnly, 34),
            (Reason::Noindex, 150),
            (Reason::Gone, 50),
            (Reason::CanonicalElsewhere, 50),
            (Reason::TooDeep, 0),
            (Reason::ServerError, 2),
            (Reason::NetworkError, 1),
            (Reason::Queued, 7),
        ]));
        report.orphans = 2;
        report.seeds = Tally {
            read: 3,
            kept: 1,
            troubled: 1,
            troubles: vec![news],
            ..Tally::default()
        };
        summary.set_report(report);
        summary.fetched = 1_400;
        summary.not_modified = 100;
        summary.bytes_in = 12_900_000;
        summary.resumed = true;
        summary.set_duration(Duration::from_micros(123_456_789));
        summary.output = Some(PathBuf::from("sitemaps/https_www.example.com_docs"));
        summary.outcome = Outcome::Partial;
        let published = Published {
            files: vec![
                PublishedFile {
                    name: "sitemap.xml".to_owned(),
                    url: "https://www.example.com/docs/sitemap.xml".to_owned(),
                    entries: 1,
                    bytes: 300,
                    changed: true,
                },
                PublishedFile {
                    name: "sitemap-root.xml.gz".to_owned(),
                    url: "https://www.example.com/docs/sitemap-root.xml.gz".to_owned(),
                    entries: 1_234,
                    bytes: 98_765,
                    changed: false,
                },
            ],
            sitemap_urls: vec!["https://www.example.com/docs/sitemap.xml".to_owned()],
            listed: 1_234,
            duplicates: 0,
            dropped: vec!["sitemap.old.xml.gz".to_owned()],
            extensions: ExtensionCounts::default(),
            notices: Vec::new(),
            problems: Vec::new(),
        };
        summary.set_published(&published, &robots_file(Some(&[])));
        summary.state = Some(PathBuf::from("state/https_www.example.com_docs.db"));
        summary.stopped_by = Some("max_pages = 1400 was reached".to_owned());
        summary
            .notices
            .push("the start page looks rendered by JavaScript".to_owned());
        summary
    }

    #[test]
    fn the_line_of_json_has_exactly_the_promised_keys() {
        assert_eq!(
            summary().json().unwrap(),
            concat!(
                r#"{"site":"https://www.example.com/docs/","outcome":"partial","known":1494,"listed":1234,"#,
                r#""excluded":{"canonical-elsewhere":50,"gone":50,"noindex":150},"failed":3,"queued":7,"#,
                r#""fetched":1400,"not_modified":100,"files":["#,
                r#"{"name":"sitemap.xml","entries":1,"bytes":300,"changed":true},"#,
                r#"{"name":"sitemap-root.xml.gz","entries":1234,"bytes":98765,"changed":false}],"#,
                r#""duration_s":123.457,"bytes_in":12900000,"as":null,"ignored":[],"robots_txt":["#,
                r#"{"url":"https://www.example.com/robots.txt","#,
                r#""line":"Sitemap: https://www.example.com/docs/sitemap.xml","required":false,"present":false}],"#,
                r#""orphans":2,"seeds":{"read":3,"kept":1,"own":0,"waiting":0,"#,
                r#""troubled":1,"troubles":[{"name":"https://www.example.com/news.xml","problem":"gone","#,
                r#""detail":"status 404","named_by":"https://www.example.com/robots.txt"}]}}"#
            )
        );
    }

    #[test]
    fn extensions_are_told_of_where_they_were_asked_for() {
        let mut summary = summary();
        summary.files.clear();
        let images = KindCounts {
            pages: 2,
            written: 1_001,
            pages_cut: 1,
            pages_not_read: 3,
            ..KindCounts::default()
        };
        let left_out = [(LeftOut::OtherHost, 4), (LeftOut::NoReturnLink, 12)];
        let published = Published {
            extensions: ExtensionCounts {
                images: Some(images),
                hreflang: Some(KindCounts {
                    left_out: left_out.into(),
                    ..KindCounts::default()
                }),
            },
            ..Published::default()
        };
        summary.set_published(&published, &robots_file(None));
        let json = summary.json().unwrap();
        let (_, json) = json.split_once(r#""extensions":"#).unwrap();
        let (json, _) = json.split_once(r#","duration_s""#).unwrap();
        assert_eq!(
            json,
            concat!(
                r#"{"images":{"pages":2,"written":1001,"left_out":{},"pages_cut":1,"pages_not_read":3},"#,
                r#""hreflang":{"pages":0,"written":0,"left_out":{"no-return-link":12,"other-host":4},"#,
                r#""pages_cut":0,"pages_not_read":0}}"#
            )
        );
        let expected = "
  1,001 images in the entries of 2 pages
  1 page with more images than are taken
  3 pages read before images were asked for: the next crawl takes them
  0 language links in the entries of 0 pages
  16 language links left out:
    12  without a link back (no-return-link)
     4  on another host, where the link back cannot be seen (other-host)
";
        let text = summary.text().join("\n");
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_build_counts_what_it_read() {
        let check = |entries: u64, files: u64, expected: &str| {
            let mut summary = summary();
            summary.set_loaded(&Loaded {
                entries,
                files,
                ..Loaded::default()
            });
            let text = summary.text().join("\n");
            assert!(
                text.contains(&format!(" known; {expected} read in ")),
                "{text}"
            );
        };
        check(0, 0, "0 entries");
        check(1, 0, "1 entry");
        check(0, 1, "1 file");
        check(2, 0, "2 entries");
        check(1, 3, "1 entry and 3 files");
    }

    #[test]
    fn a_build_tells_what_its_inputs_were() {
        let mut summary = summary();
        summary.set_loaded(&Loaded {
            entries: 1_500,
            left_out: 1,
            values_left_out: 2,
            outside: 0,
            repeated: 3,
            files: 0,
            bytes: 12_345,
            ..Loaded::default()
        });
        let json = summary.json().unwrap();
        let input = concat!(
            r#""bytes_in":12345,"input":{"entries":1500,"files":0,"repeated":3,"outside":0,"#,
            r#""left_out":1,"values_left_out":2}"#
        );
        assert!(json.contains(input), "{json}");
        let text = summary.text().join("\n");
        for words in [
            "1,234 listed of 1,494 URLs known; 1,500 entries read in 2 min 3 s (12.1 KiB)\n",
            "  3 entries that repeat the URL of another, of which the better one counts\n",
            "  1 line that cannot be used, left out\n",
            "  2 values that cannot be used, left out\n",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert!(!text.contains("pages fetched"), "{text}");
    }

    #[test]
    fn the_text_tells_everything() {
        let expected = "\
https://www.example.com/docs/: published, but partial
  1,234 listed of 1,494 URLs known; 1,400 pages fetched in 2 min 3 s (100 not modified, 12.3 MiB)
  this start went on with the run before it
  250 excluded:
    150  says noindex (noindex)
     50  names another URL as canonical (canonical-elsewhere)
     50  answered 404 or 410 (gone)
  3 failed:
    2  the server answered 5xx or 429 (server-error)
    1  could not be fetched: network error or time-out (network-error)
  7 not reached
  max_pages = 1400 was reached
  2 URLs known by sitemaps, feeds or lists only: no page leads to them
  1 sitemap not fetched again: the index says that nothing changed
  1 sitemap, feed or list with a problem:
    https://www.example.com/news.xml does not exist (status 404), named by https://www.example.com/robots.txt
  2 files in sitemaps/https_www.example.com_docs: 1 written, 1 unchanged, 1 dropped
    sitemap.xml          1 entry, written
    sitemap-root.xml.gz  1,234 entries, unchanged
  for robots.txt:
    Sitemap: https://www.example.com/docs/sitemap.xml
  state in state/https_www.example.com_docs.db
  NOTE: the start page looks rendered by JavaScript";
        assert_eq!(summary().text().join("\n"), expected);
    }

    #[test]
    fn a_failed_site_has_a_summary_too() {
        let mut summary = Summary::new("https://example.com/");
        summary.outcome = Outcome::of_failure(ExitCode::NotCrawled);
        assert_eq!(
            summary.text(),
            ["https://example.com/: could not be crawled"]
        );
        assert_eq!(
            summary.json().unwrap(),
            concat!(
                r#"{"site":"https://example.com/","outcome":"unreachable","known":0,"listed":0,"excluded":{},"#,
                r#""failed":0,"queued":0,"fetched":0,"not_modified":0,"files":[],"duration_s":0.0,"bytes_in":0,"#,
                r#""as":null,"ignored":[],"robots_txt":[],"#,
                r#""orphans":0,"seeds":{"read":0,"kept":0,"own":0,"waiting":0,"troubled":0,"troubles":[]}}"#
            )
        );
    }

    #[test]
    fn what_robots_txt_lacks_is_told_by_how_much_it_matters() {
        fn check(sitemap: &str, seen: Option<&[&str]>, expected: &str) {
            let mut summary = Summary::new("https://www.example.com/");
            let published = Published {
                sitemap_urls: vec![sitemap.to_owned()],
                ..Published::default()
            };
            summary.set_published(&published, &robots_file(seen));
            let lines = summary.text();
            assert_eq!(
                lines[1..],
                [expected.to_owned(), format!("    Sitemap: {sitemap}")]
            );
        }
        let own = "https://www.example.com/sitemap.xml";
        let robots = "  https://www.example.com/robots.txt";
        check(own, Some(&[]), "  for robots.txt:");
        check(own, Some(&[own]), &format!("{robots} has the line:"));
        check(
            own,
            Some(&["HTTPS://www.Example.com:443/sitemap.xml"]),
            &format!("{robots} has the line:"),
        );
        check(
            own,
            None,
            "  for https://www.example.com/robots.txt (not read):",
        );
        for foreign in [
            "https://maps.example.net/sitemap.xml",
            "http://www.example.com/sitemap.xml",
            "https://www.example.com:8443/sitemap.xml",
        ] {
            let needs = "needs this line, or engines do not accept sitemaps that stand elsewhere:";
            check(foreign, Some(&[own]), &format!("{robots} {needs}"));
            check(foreign, None, &format!("{robots} (not read) {needs}"));
            check(
                foreign,
                Some(&[own, foreign]),
                &format!("{robots} has the line:"),
            );
        }
    }

    #[test]
    fn old_sitemaps_are_spoken_of_only_where_there_are_some() {
        fn check(has_old_set: bool, expected: &str) {
            let mut summary = Summary::new("https://example.com/");
            summary.outcome = Outcome::Refused;
            summary.has_old_set = has_old_set;
            assert_eq!(
                summary.text(),
                [format!("https://example.com/: {expected}")]
            );
        }
        check(true, "not published, the old sitemaps stand");
        check(false, "not published");
    }

    #[test]
    fn without_links_nobody_knows_what_no_page_leads_to() {
        let mut config = Config::default();
        config.discover.links = false;
        let mut summary = summary();
        summary.set_asked(&config);
        let told = "  2 URLs known by sitemaps, feeds or lists only: links were not followed";
        assert!(summary.text().contains(&told.to_owned()));
    }

    #[test]
    fn many_files_are_not_all_named_in_the_text() {
        let mut summary = summary();
        let file = summary.files[1].clone();
        summary.files = vec![file; 1_020];
        let text = summary.text();
        assert_eq!(
            text.iter().filter(|line| line.contains("entries")).count(),
            20
        );
        assert!(text.contains(&"    and 1,000 more".to_owned()), "{text:?}");
    }

    #[test]
    fn what_failed_or_was_not_reached_makes_a_run_partial() {
        fn check(reason: Reason, expected: bool) {
            let mut summary = Summary::new("x");
            summary.set_report(Report::from_counts(&BTreeMap::from([
                (Reason::Listed, 10),
                (reason, 1),
            ])));
            assert_eq!(summary.is_partial(), expected, "{reason:?}");
        }
        for reason in Reason::ALL.iter().copied() {
            let expected = matches!(
                reason,
                Reason::Queued
                    | Reason::RobotsUnreachable
                    | Reason::NetworkError
                    | Reason::ServerError
                    | Reason::InternalError
                    | Reason::CutShort
            );
            check(reason, expected);
        }
    }

    #[test]
    fn every_way_to_fail_has_its_word() {
        fn check(code: ExitCode, expected: &str) {
            let word = serde_json::to_string(&Outcome::of_failure(code)).unwrap();
            assert_eq!(word, format!("\"{expected}\""));
        }
        check(ExitCode::Usage, "settings");
        check(ExitCode::Refused, "refused");
        check(ExitCode::NotCrawled, "unreachable");
        check(ExitCode::Busy, "busy");
        check(ExitCode::Internal, "internal");
        check(ExitCode::Interrupted, "interrupted");
        check(ExitCode::Terminated, "interrupted");
    }
}
