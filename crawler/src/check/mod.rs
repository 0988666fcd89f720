//! Checks of sitemaps in files and folders and where they are served: [`Check`] reads documents, decides their order and the URL
//! of each, and reports problems; [`Live`] fetches them. [`sitemap_core::validate`] judges them; nothing is printed here.
//!
//! ```text
//! file, folder -> Check -> Validator -> Event, Outcome
//! URL -> Live (robots.txt, fetch, queue) -^
//! ```

mod folder;
mod live;
mod place;
mod progress;
mod queue;
mod sample;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::Arc,
};

use jiff::Timestamp;
use sitemap_core::{
    Loc,
    read::Kind,
    validate::{self, Child, Counts, DocumentId, Facts, Finding, Repeated, Report, Validator},
};

use self::place::place_of_file;
pub(crate) use self::{
    folder::{listed_by, sitemaps_in, sniff},
    live::{MAX_FETCHED_BYTES, MAX_INDEXES, Stopped},
    progress::Watched,
};
pub use self::{
    live::{Live, Network, Pages},
    progress::{CheckProgress, Figures},
    sample::MAX_SAMPLED_PAGES,
};
use crate::robots::{MAX_ROBOTS_BYTES, Rules};

/// The agent for which robots.txt judges listed URLs: the rules for all.
const AGENT: &str = "*";

/// The most sitemaps of one folder, and of all URLs of one check: two full indexes.
const MAX_DOCUMENTS: usize = 100_000;

/// Findings of a document that wait for its end, so that they are reported in the order of its lines. Of more, those that were found
/// first are reported first.
const MAX_WAITING: usize = 1_000;

/// Options of a [`Check`].
#[derive(Debug)]
pub struct Options {
    /// The current time.
    pub now: Timestamp,
    /// Findings of one kind that are reported for each document; more are counted.
    pub max_repeats: u64,
    /// True when one folder is all that is checked, so that it should hold all sitemaps of a site.
    pub is_whole: bool,
    /// The URL of the checked file, or with a `/` at the end of its folder.
    pub at: Option<Loc>,
    /// Contents of robots.txt files by a URL of their origin, in place of the answer of the host.
    pub robots: Vec<(Loc, Vec<u8>)>,
    /// Shows how far the check is.
    pub progress: CheckProgress,
}

/// Events of a check. `document` is the name of the document that the event is about; without one it is about all of them, or
/// about the URL of the finding.
#[derive(Debug)]
pub enum CheckEvent<'a> {
    /// Something is wrong, or worth knowing.
    Finding {
        /// The document it is in.
        document: Option<&'a str>,
        /// The finding.
        finding: &'a Finding,
    },
    /// Findings like others that were reported.
    Repeated {
        /// The document they are in.
        document: Option<&'a str>,
        /// The number that there is.
        repeated: &'a Repeated,
    },
    /// A document was read.
    Read(&'a CheckedDocument),
    /// A sentence about the work of the check.
    Info(String),
    /// A sentence about a part that the check leaves out.
    Warning(String),
    /// A sentence about an unreadable document.
    Error(String),
}

/// A document that was checked, or was to be.
#[derive(Debug, Default)]
pub struct CheckedDocument {
    /// The name in findings: a path or a URL.
    pub name: String,
    /// The URL of the document, as it was typed or requested.
    pub url: Option<String>,
    /// The URL that answered, after all redirects.
    pub final_url: Option<String>,
    /// HTTP status.
    pub status: Option<u16>,
    /// The result, without its children; `None` when it could not be read.
    pub report: Option<Report>,
}

/// Result of a check.
#[derive(Debug, Default)]
pub struct CheckOutcome {
    /// All documents, in the order in which they were read.
    pub documents: Vec<CheckedDocument>,
    /// Pages that were requested.
    pub pages: u64,
    /// All findings.
    pub counts: Counts,
    /// A file or a folder could not be read, or has no place.
    pub has_unreadable: bool,
    /// A URL did not answer, or was not requested.
    pub has_unanswered: bool,
    /// The check was stopped before its end.
    pub is_stopped: bool,
}

/// The robots.txt of an origin: its rules for all agents, and its sitemaps.
#[derive(Debug)]
struct OriginRobots {
    rules: Arc<Rules>,
    named: Vec<Loc>,
}

/// A check of files and folders. [`Live`] adds URLs.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Check<'e> {
    validator: Validator,
    at: Option<Loc>,
    /// By origin; `None` where robots.txt cannot be read.
    robots: BTreeMap<String, Option<OriginRobots>>,
    reports: Reports<'e>,
}

/// Parts of a document that others need.
#[derive(Debug)]
struct DocumentParts {
    document: DocumentId,
    kind: Option<Kind>,
    children: Vec<Child>,
}

impl<'e> Check<'e> {
    /// A check that has read only the robots.txt files of `options`; `emit` takes its events.
    pub fn new(options: &Options, emit: &'e mut dyn FnMut(CheckEvent<'_>)) -> Self {
        let mut rules = validate::Options::new(options.now);
        rules.max_repeats = options.max_repeats;
        rules.is_whole = options.is_whole;
        let mut check = Self {
            validator: Validator::new(rules),
            at: options.at.clone(),
            robots: BTreeMap::new(),
            reports: Reports {
                emit,
                progress: options.progress.clone(),
                waiting: None,
                outcome: CheckOutcome::default(),
            },
        };
        for (origin, body) in &options.robots {
            check.take_robots(origin, body);
        }
        check
    }

    /// Checks a file or a folder.
    pub fn path(&mut self, path: &Path) {
        let checked = if path.is_dir() {
            self.folder(path)
        } else {
            self.place(path).map(|place| {
                self.file(path, place.as_ref(), None);
            })
        };
        self.refuse(checked);
    }

    /// Checks a document that has no name.
    pub fn input(&mut self, input: impl Read) {
        let checked = self.place(Path::new("")).map(|place| {
            let facts = facts("-", place.as_ref());
            if let Err(error) =
                self.document(BufReader::new(input), facts, CheckedDocument::default())
            {
                self.unreadable("-", &error);
            }
        });
        self.refuse(checked);
    }

    /// Reports the problems that need all documents, and returns the summary.
    pub fn finish(self) -> CheckOutcome {
        let Self {
            validator,
            mut reports,
            ..
        } = self;
        reports.close();
        let summary = if reports.outcome.is_stopped {
            let text = "stopped: the following results cover a part only";
            reports.emit(CheckEvent::Warning(text.to_owned()));
            validator.finish_early()
        } else {
            validator.finish(&mut |finding| reports.finding(finding))
        };
        reports.repeated(&summary.repeated);
        reports.outcome.counts = summary.counts;
        reports.outcome
    }

    /// The URL of a file by `at`.
    fn place(&self, path: &Path) -> Result<Option<Loc>, String> {
        let at = self.at.as_ref();
        at.map(|at| place_of_file(at, path.file_name())).transpose()
    }

    fn refuse(&mut self, checked: Result<(), String>) {
        if let Err(message) = checked {
            self.reports.outcome.has_unreadable = true;
            self.reports.emit(CheckEvent::Error(message));
        }
    }

    fn unreadable(&mut self, name: &str, error: &io::Error) {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "; expected a file, a folder or a URL",
            _ => "",
        };
        self.refuse(Err(format!("cannot read {name}: {error}{hint}")));
    }

    /// Takes in the robots.txt of an origin.
    fn take_robots(&mut self, origin: &Loc, body: &[u8]) {
        self.take_rules(origin, Arc::new(Rules::parse(body, AGENT)));
    }

    /// Takes in the rules for all agents of the robots.txt of the origin of a URL.
    fn take_rules(&mut self, url: &Loc, rules: Arc<Rules>) {
        let Ok(place) = Loc::parse(&format!("{}/robots.txt", url.origin())) else {
            return;
        };
        let lines = rules.sitemaps().iter().map(String::as_str);
        let reports = &mut self.reports;
        let sink = &mut |finding| reports.finding(finding);
        let named = self.validator.robots(&place, lines, sink);
        let robots = OriginRobots { rules, named };
        self.robots.insert(place.origin().to_owned(), Some(robots));
    }

    /// The rules for everybody of a URL's origin, where they are known.
    fn rules_for(&self, url: &Loc) -> Option<&Rules> {
        Some(&self.robots.get(url.origin())?.as_ref()?.rules)
    }

    /// Checks one file; `None` when it cannot be read, which is reported.
    fn file(
        &mut self,
        path: &Path,
        place: Option<&Loc>,
        listed_by: Option<DocumentId>,
    ) -> Option<DocumentParts> {
        let name = path.to_string_lossy();
        let mut facts = facts(&name, place);
        facts.listed_by = listed_by;
        let read = File::open(path).and_then(|file| {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            facts.modified = modified.ok().and_then(|modified| modified.try_into().ok());
            self.document(BufReader::new(file), facts, CheckedDocument::default())
        });
        read.map_err(|error| self.unreadable(&name, &error)).ok()
    }

    /// Checks a document and reports its problems.
    fn document(
        &mut self,
        input: impl BufRead,
        facts: Facts<'_>,
        mut document: CheckedDocument,
    ) -> io::Result<DocumentParts> {
        let robots = &self.robots;
        let is_blocked = |loc: &Loc| {
            let robots = robots.get(loc.origin()).and_then(Option::as_ref);
            robots.is_some_and(|robots| !robots.rules.allows(loc.path_and_query()))
        };
        let mut facts = facts;
        facts.is_blocked = Some(&is_blocked);
        let place = facts.requested.or(facts.place);
        document.url = document.url.or_else(|| place.map(Loc::to_string));
        self.reports.begin(facts.name, document);
        let reports = &mut self.reports;
        let sink = &mut |finding| reports.finding(finding);
        let mut report = self.validator.check(input, &facts, sink)?;
        let read = DocumentParts {
            document: report.document,
            kind: report.kind,
            children: std::mem::take(&mut report.children),
        };
        self.reports.end(report);
        Ok(read)
    }

    /// Reports that a sitemap which an index lists is not there, and why.
    fn missing(&mut self, index: DocumentId, child: &Child, why: &str) {
        let reports = &mut self.reports;
        let sink = &mut |finding| reports.finding(finding);
        self.validator.missing(index, child, why, sink);
    }
}

/// Facts of a document before it is read.
fn facts<'a>(name: &'a str, place: Option<&'a Loc>) -> Facts<'a> {
    let mut facts = Facts::new(name);
    facts.place = place;
    facts
}

/// The part of the robots.txt in `file` that counts, and one more byte when it is longer.
///
/// # Errors
/// The file cannot be read.
pub fn read_robots(file: &Path) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let most = MAX_ROBOTS_BYTES as u64 + 1;
    File::open(file)?.take(most).read_to_end(&mut body)?;
    Ok(body)
}

/// Brings findings into the order of their documents, and hands them on. Besides those of the current document, only the parts of
/// [`CheckOutcome`] are remembered.
struct Reports<'e> {
    emit: &'e mut dyn FnMut(CheckEvent<'_>),
    progress: CheckProgress,
    /// Findings of the document that is being read; `None` between documents.
    waiting: Option<Vec<Finding>>,
    outcome: CheckOutcome,
}

impl Reports<'_> {
    fn emit(&mut self, event: CheckEvent<'_>) {
        (self.emit)(event);
    }

    /// A document is about to be read.
    fn begin(&mut self, name: &str, document: CheckedDocument) {
        self.hand_on();
        self.waiting = Some(Vec::new());
        self.outcome.documents.push(CheckedDocument {
            name: name.to_owned(),
            ..document
        });
    }

    /// The document that was begun last has been read.
    fn end(&mut self, mut report: Report) {
        self.close();
        self.progress.figures().entries += report.entries;
        self.repeated(&std::mem::take(&mut report.repeated));
        if let Some(document) = self.outcome.documents.last_mut() {
            document.report = Some(report);
            (self.emit)(CheckEvent::Read(document));
        }
    }

    fn finding(&mut self, finding: Finding) {
        self.progress.count(finding.severity, 1);
        match &mut self.waiting {
            Some(waiting) if waiting.len() < MAX_WAITING => waiting.push(finding),
            Some(_) => {
                self.hand_on();
                self.finding_now(&finding);
            }
            None => self.finding_now(&finding),
        }
    }

    /// No document is being read.
    fn close(&mut self) {
        self.hand_on();
        self.waiting = None;
    }

    /// Hands on the waiting findings, in the order of the document; those about all of it come last.
    fn hand_on(&mut self) {
        let mut waiting = self
            .waiting
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        waiting.sort_by_key(|finding| {
            let offset = finding.position.map(|position| position.offset);
            (finding.document, offset.is_none(), offset)
        });
        for finding in &waiting {
            self.finding_now(finding);
        }
    }

    fn finding_now(&mut self, finding: &Finding) {
        let document = name_of(&self.outcome, finding.document);
        (self.emit)(CheckEvent::Finding { document, finding });
    }

    fn repeated(&mut self, repeated: &[Repeated]) {
        for repeated in repeated {
            self.progress.count(repeated.severity, repeated.more);
            let document = name_of(&self.outcome, repeated.document);
            (self.emit)(CheckEvent::Repeated { document, repeated });
        }
    }
}

fn name_of(outcome: &CheckOutcome, document: Option<DocumentId>) -> Option<&str> {
    let document = outcome.documents.get(document?.index())?;
    Some(&document.name)
}
