//! The summary as people read it.

use super::{
    Summary,
    counts::{
        add_dates, add_extensions, add_reasons, add_unused, entries, read_of, reasons_in_line,
        with_texts,
    },
    robots::{self, SitemapLine},
};
use crate::{
    human,
    notes::Note,
    notify::{Channel, Notified},
    outcome::SessionOutcome,
    served::ServedReport,
    view::{Section, Tone, View},
};

/// Files that a view names; the JSON names all.
const MAX_FILES_SHOWN: usize = 20;

impl Summary {
    /// The outcome; what is missing; the counts; the files; what to do.
    pub fn view(&self) -> View {
        let written_as = self.written_as.as_ref();
        let written_as = written_as.map_or_else(String::new, |url| format!(" as {url}"));
        let stays = self.guard.as_ref().map(|guard| guard.published);
        let stays = stays.filter(|published| *published > 0);
        let stays = stays.map_or_else(String::new, |urls| {
            format!(" ({})", human::count(urls, "URL"))
        });
        let ending = self.ending();
        let mut view = View::new(format!("{}{written_as}: {ending}{stays}", self.site));
        let section = view.section("summary", "");
        // A note has what this session cut; earlier sessions of the crawl may have cut other places.
        let is_noted = |name: &str| {
            let words = format!(": {name} goes on without end");
            self.notes.iter().any(|note| note.text.contains(&words))
        };
        for place in self
            .counts
            .cut
            .iter()
            .filter(|place| !is_noted(&place.name))
        {
            let missing = human::count(place.left_out + place.not_requested, "page");
            section.line(format!(
                "{missing} may be missing: {} goes on without end",
                place.name
            ));
        }
        self.add_notes(section, true);
        let surroundings = &self.surroundings;
        let is_refused = self.outcome == SessionOutcome::Refused;
        if let Some(guard) = &self.guard {
            for (code, text) in &guard.lines {
                section.line(format!("{code:<14}  {text}"));
            }
            if !self.surroundings.is_dry {
                section.line(if surroundings.is_build {
                    "the same command with --force publishes it all the same".to_owned()
                } else {
                    let options = surroundings.options.publish.as_deref();
                    format!(
                        "arpent publish {}{} --force publishes it all the same",
                        self.site,
                        options.unwrap_or(" with the same options and"),
                    )
                });
            }
        } else if let Some(message) = self.message.as_ref().filter(|_| is_refused) {
            section.line(message);
        }
        if self.counts.known > 0 || self.work.fetched > 0 || self.work.input.is_some() {
            self.add_counts(section);
        }
        if !self.set.files.is_empty() {
            self.add_files(section);
        }
        add_extensions(&self.set.extensions, section);
        // What the summary of the first publish had.
        let is_unchanged = self.outcome == SessionOutcome::Unchanged;
        let robots = self.set.robots_txt.iter();
        let robots = robots.filter(|line| !is_unchanged || line.is_missing());
        robots::add_to(robots, section);
        if let Some(served) = self.served() {
            section.line(served.line());
        }
        if let Some(google) = self.google() {
            for line in google.lines(google.looked_at) {
                section.line(line);
            }
        }
        for notified in &self.notified {
            section.line(notified.text());
        }
        if let Some(state) = surroundings
            .state
            .as_ref()
            .filter(|_| self.counts.known > 0 && self.outcome != SessionOutcome::DryRun)
            .filter(|_| !is_unchanged)
        {
            section.line(format!("state in {}", state.display()));
            // A refused crawl is not what the report has.
            if !surroundings.is_build && !is_refused {
                let command = format!("arpent report {}{}", self.site, surroundings.options.states);
                let row = section.line("what was left out, and broken links:");
                row.below([command], 0);
            }
        }
        self.add_notes(section, false);
        view
    }

    /// How the session ended, with the numbers that matter, as one line.
    pub fn line(&self) -> String {
        let ending = self.ending();
        if self.counts.known == 0 && self.work.fetched == 0 {
            return ending.to_owned();
        }
        format!(
            "{ending}: {}, {} fetched in {}",
            self.listed_of_known(),
            human::count(self.work.fetched, "page"),
            human::duration(self.duration()),
        )
    }

    /// The word for URLs that are in the set, or would be.
    fn listed_word(&self) -> &'static str {
        match self.outcome {
            SessionOutcome::Published | SessionOutcome::Unchanged | SessionOutcome::Partial => {
                "listed"
            }
            SessionOutcome::DryRun
            | SessionOutcome::Refused
            | SessionOutcome::Unreachable
            | SessionOutcome::Busy
            | SessionOutcome::Settings
            | SessionOutcome::Interrupted
            | SessionOutcome::Internal => "to be listed",
        }
    }

    /// The numbers of listed and known URLs.
    fn listed_of_known(&self) -> String {
        format!(
            "{} {} of {} known",
            human::number(self.counts.listed),
            self.listed_word(),
            human::count(self.counts.known, "URL")
        )
    }

    /// Adds the notes that come first, or the others. What ended the crawl is said as its error.
    fn add_notes(&self, section: &mut Section, first: bool) {
        let notes = self.notes.iter();
        let notes = notes.filter(|note| note.comes_first() == first);
        let objections = self.guard.iter().flat_map(|guard| &guard.lines);
        let has_shell = objections.clone().any(|(code, _)| *code == "script-shell");
        let is_repeated = |note: &&Note| {
            self.message.as_ref() == Some(&note.text)
                || has_shell && note.code == "start-needs-javascript"
        };
        for note in notes.filter(|note| !is_repeated(note)) {
            section
                .line(format!("NOTE: {}", note.text))
                .toned(Tone::Note);
        }
    }

    /// Returns whether the guard compared with a published set.
    fn keeps_a_set(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.published > 0)
    }

    /// The outcome in a few words.
    fn ending(&self) -> &'static str {
        match self.outcome {
            SessionOutcome::Refused if !self.surroundings.has_old_set && !self.keeps_a_set() => {
                "refused, nothing is published"
            }
            // A build reads its inputs from their beginning again.
            SessionOutcome::Interrupted if self.surroundings.is_build => {
                "interrupted, nothing published"
            }
            outcome => text_of(outcome),
        }
    }

    fn add_counts(&self, section: &mut Section) {
        let (counts, done) = (&self.counts, &self.work);
        let listed = self.listed_of_known();
        let (took, bytes) = (
            human::duration(self.duration()),
            human::bytes(done.bytes_in),
        );
        if let Some(loaded) = &done.input {
            section.line(format!(
                "{listed}; {} read in {took} ({bytes})",
                read_of(loaded)
            ));
            add_unused(loaded, section);
        } else {
            section.line(format!(
                "{listed}; {} fetched in {took} ({} not modified, {bytes})",
                human::count(done.fetched, "page"),
                human::number(done.not_modified),
            ));
            if self.surroundings.resumed {
                section.line("this session continued the crawl");
            }
        }
        let report = &self.report;
        let examples = &report.examples;
        add_reasons(
            section,
            "listed with the data of an earlier answer",
            with_texts(&report.retained),
            examples,
        );
        if self.outcome == SessionOutcome::Unchanged {
            // The summary of the first publish had it in full.
            if let Some(line) = reasons_in_line("left out", &report.excluded) {
                section.line(line);
            }
        } else {
            add_reasons(section, "left out", with_texts(&report.excluded), examples);
        }
        let failed = with_texts(&report.failed_reasons);
        if let Some(row) = add_reasons(section, "failed", failed, examples) {
            row.toned(Tone::Error);
        }
        if report.queued > 0 {
            section.line(format!("{} not reached", human::number(report.queued)));
        }
        if report.not_recorded > 0 {
            section.line(format!(
                "{} left out (not-recorded): beyond max_links or 2 MiB of a page, max_known_urls or max_state_bytes",
                human::count(report.not_recorded, "link")
            ));
        }
        if let Some(reason) = &self.surroundings.stopped_by {
            section.line(reason);
        }
        if report.orphans > 0 {
            let why = if self.surroundings.is_without_links {
                "links were not followed"
            } else {
                "no page leads there"
            };
            section.line(format!(
                "{} {}, only in sitemaps, feeds or lists: {why}",
                human::count(report.orphans, "URL"),
                self.listed_word(),
            ));
        }
        counts.seeds.add_to(&report.seeds, &self.site, section);
        // A set that was not made now, or not published, has no sources of dates here.
        if !self.set.files.is_empty() && !self.surroundings.is_restored {
            add_dates(&self.set.lastmod, counts.listed, section);
        }
        if self.set.duplicates > 0 {
            section.line(format!(
                "{} of the listed pages {} another one byte for byte; a canonical link would say which counts",
                human::number(self.set.duplicates),
                if self.set.duplicates == 1 { "repeats" } else { "repeat" }
            ));
        }
    }

    fn add_files(&self, section: &mut Section) {
        let set = &self.set;
        let written = set.files.iter().filter(|file| file.changed).count();
        let place = self.surroundings.output.as_ref();
        let place = place.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
        let (files, written) = (set.files.len() as u64, written as u64);
        let dropped = match set.dropped {
            0 => String::new(),
            dropped => format!(", {} dropped", human::number(dropped as u64)),
        };
        let is_dry = self.outcome == SessionOutcome::DryRun;
        let verb = if is_dry { "to write" } else { "written" };
        let shown = || set.files.iter().take(MAX_FILES_SHOWN);
        let width = shown()
            .map(|file| file.name.chars().count())
            .max()
            .unwrap_or(0);
        let lines = shown().map(|file| {
            let word = if file.changed { verb } else { "unchanged" };
            format!("{:<width$}  {}, {word}", file.name, entries(file.entries))
        });
        let row = section.line(format!(
            "{}{place}: {} {verb}, {} unchanged{dropped}",
            human::count(files, "file"),
            human::number(written),
            human::number(files - written),
        ));
        if written == 0 && !is_dry {
            return;
        }
        row.below(lines, files);
        let sitemap = set.robots_txt.first().and_then(SitemapLine::sitemap);
        if let Some((directory, _)) = sitemap.and_then(|url| url.rsplit_once('/'))
            && !is_dry
            && !self.surroundings.is_in_storage
            && !self.served().is_some_and(ServedReport::is_served)
        {
            section.line(format!(
                "copy the files to {directory}/, unless the folder is served there"
            ));
        }
    }
}

impl Notified {
    /// What the receiver got, without what failed, which is reported as a warning.
    pub fn text(&self) -> String {
        let Self {
            channel,
            to,
            sent,
            waiting,
            ..
        } = self;
        let urls = human::count(*sent, "URL");
        let rest = match waiting {
            0 => String::new(),
            waiting => format!(", {} wait", human::number(*waiting)),
        };
        match channel {
            Channel::IndexNow => format!("{urls} sent to {to} (IndexNow){rest}"),
            Channel::Ping if *sent == 0 => format!("not received by {to} (ping)"),
            Channel::Ping => {
                format!("received by {to} (ping); an answer is no promise to read the sitemap")
            }
        }
    }
}

/// A few words for people.
fn text_of(outcome: SessionOutcome) -> &'static str {
    match outcome {
        SessionOutcome::Published => "published",
        SessionOutcome::Unchanged => "unchanged",
        SessionOutcome::Partial => "published, but partial",
        SessionOutcome::DryRun => "dry run, nothing written",
        SessionOutcome::Refused => "refused, the published sitemaps stay",
        SessionOutcome::Unreachable => "could not be crawled",
        SessionOutcome::Busy => "busy",
        SessionOutcome::Settings => "not begun",
        SessionOutcome::Interrupted => {
            "interrupted, nothing published; the same command goes on from here"
        }
        SessionOutcome::Internal => "internal error",
    }
}
