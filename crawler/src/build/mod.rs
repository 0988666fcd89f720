//! A site from inputs instead of from requests: lists of URLs, sitemaps, folders of HTML files. It
//! fills a store with visits, and the set is published from that store as after a crawl;
//! nothing here sorts, writes sitemaps or touches the network.
//!
//! ```text
//! list     -> gzip, format -> rows -> checked values | other thread -> store (sorts, keeps the best of each URL)
//! folder   -> walk -> one record per file, judged like a crawled page -> store
//! ```
//!
//! A line that cannot be used is left out, and a value that cannot be used is left out of its entry; each is
//! reported with file and line. An input that breaks off ends the build: a part of a list is not used. Memory is
//! bounded by the longest lines, a few dozen of them, never by the number of lines.

mod address;
mod draft;
mod folder;
mod input;
mod list;
mod media_type;
mod ndjson;
mod rows;
mod sitemap;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    fmt,
    fs::File,
    io::{self, Read},
    panic,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, SyncSender},
    },
    thread,
};

use encoding_rs::UTF_8;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;
use sitemap_core::{
    LastMod, Loc,
    extension::{Element, Extensions, Namespaces},
    read::{ListError, has_web_scheme},
};
use url::Url;

use self::{
    draft::Draft,
    input::open_list,
    rows::{EntryRows, InputRow},
};
use crate::{
    config::{Config, ElementValue, Namespace},
    notes::Note,
    outcome::SessionOutcome,
    page::{Outcome, Reason, extensions_from_json},
    parse::ParseConfigError,
    robots::Rules,
    scope::{Judgement, Scope, ScopeError},
    site::Site,
    store::{InputBatch, Store, StoreError, SuppliedUrl},
    url_key::UrlKey,
    verdict::{self, Policy},
};

/// An input that a site is built from.
#[expect(missing_debug_implementations, reason = "it holds an open input")]
pub enum BuildSource {
    /// A file, or a folder of HTML files.
    Path(PathBuf),
    /// An open list, e.g. standard input, and what it is called.
    Open {
        /// For messages.
        name: String,
        /// The bytes.
        bytes: Box<dyn Read + Send>,
    },
}

/// The site and the settings for reading its inputs.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct LoadRequest<'a> {
    /// The site: its directory is the scope, and what relative URLs are relative to.
    pub site: &'a Site,
    /// Scope, identity and page rules as for a crawl, and the settings of [`Config::build`].
    pub config: &'a Config,
    /// The time of this build: what changed later did not change.
    pub now: Timestamp,
    /// Asked from time to time: whether to give up.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// The loaded input; as JSON its counts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Loaded {
    /// Entries of lists and sitemaps that name a URL, usable or not.
    pub entries: u64,
    /// Files of folders that were looked at.
    pub files: u64,
    /// Entries for a URL that has another one, which counts.
    pub repeated: u64,
    /// Entries outside the site's directory.
    pub outside: u64,
    /// Lines, entries and files that were left out because they cannot be used.
    pub left_out: u64,
    /// Values that were left out of entries that are otherwise used.
    pub values_left_out: u64,
    /// Bytes that were read, after decompression.
    #[serde(skip)]
    pub bytes: u64,
    /// The rules of the first folder with a `robots.txt` that counts: it was obeyed, and images may be
    /// disallowed by it too.
    #[serde(skip)]
    pub robots: Option<Rules>,
    /// Notes for the user.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

impl Loaded {
    /// Returns whether something that was given could not be used as it is.
    pub fn has_faults(&self) -> bool {
        self.left_out > 0 || self.values_left_out > 0
    }
}

/// The result for a line that is not used as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind {
    /// The line, or the entry, is left out.
    LeftOut,
    /// A value of it is left out.
    ValueLeftOut,
    /// A value of it is used, but not as it is written.
    ValueCorrected,
    /// The line is about a page outside the site's directory.
    Outside,
}

/// A line of an input that is not used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The input.
    pub source: Arc<str>,
    /// Line of it, from 1, after decompression.
    pub line: u64,
    /// The result.
    pub kind: RemarkKind,
    /// The defect, and the expected form.
    pub message: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            line,
            kind,
            message,
        } = self;
        let what = match kind {
            RemarkKind::LeftOut => "left out",
            RemarkKind::ValueLeftOut => "value left out",
            RemarkKind::ValueCorrected => "value corrected",
            RemarkKind::Outside => "not listed",
        };
        write!(f, "{source}:{line}: {what}: {message}")
    }
}

/// The reports while inputs are read.
#[derive(Debug)]
pub enum News<'a> {
    /// Something is not used as it is.
    Remark(&'a Remark),
    /// So much was read so far; comes every few thousand entries or files.
    Progress(&'a Loaded),
}

/// Why nothing can be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An input cannot be opened.
    #[error("failed to open {name}")]
    Open {
        /// The input.
        name: String,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// An input broke off; the part that was read is not used.
    #[error(
        "failed to read {name} after line {line}; arpent publishes nothing from a part of an input"
    )]
    Broken {
        /// The input.
        name: String,
        /// The last line that was read.
        line: u64,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// An input is none of the formats that are read.
    #[error("{name}:{line}: {problem}")]
    Format {
        /// The input.
        name: String,
        /// The line of the defect.
        line: u64,
        /// The text that was found, and the expected form.
        problem: String,
    },
    /// A folder holds more than is walked through.
    #[error("{} {problem}", path.display())]
    TooMuch {
        /// The folder.
        path: PathBuf,
        /// The bound that it is over.
        problem: String,
    },
    /// A rule of the scope cannot be used.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A page rule cannot be used.
    #[error(transparent)]
    Rules(#[from] ParseConfigError),
    /// [`LoadRequest::is_stopped`] returned `true`.
    #[error("stopped before anything was published")]
    Stopped,
    /// The store failed.
    #[error("failed to store the entries of the inputs")]
    Store(#[from] StoreError),
}

impl BuildError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Open { .. } | Self::Scope(_) | Self::Rules(_) => SessionOutcome::Settings,
            Self::Broken { .. } | Self::Format { .. } | Self::TooMuch { .. } => {
                SessionOutcome::Refused
            }
            Self::Stopped => SessionOutcome::Interrupted,
            Self::Store(error) => error.outcome(),
        }
    }

    /// The file or folder at `path` cannot be opened.
    fn open(path: &Path, source: io::Error) -> Self {
        let name = path.display().to_string();
        Self::Open { name, source }
    }

    /// The result for a list, of which so many lines were read.
    fn of_list(name: &str, read: u64, error: ListError) -> Self {
        let name = name.to_owned();
        match error {
            ListError::Io(source) => Self::Broken {
                name,
                line: read,
                source,
            },
            ListError::Refused { line, problem } => Self::Format {
                name,
                line,
                problem: problem.to_string(),
            },
        }
    }
}

/// Entries or files between two words about the progress, and two looks at whether to stop.
const PROGRESS_STEP: u64 = 4_096;

/// URLs that are handed to the store at once, and how many such groups are read ahead.
const GROUP: usize = 32;
const READ_AHEAD: usize = 1;

/// How much later than now a page may have changed: clocks and zones differ.
const MAX_AHEAD_HOURS: i64 = 24;

/// The first year in which a page can have changed; the web began in 1990. Programs write earlier dates for "never".
const FIRST_YEAR: u16 = 1990;

/// Loads `sources` into `store` as visits of the crawl that was begun last. Folders
/// first: the facts of a page of a folder go before the data of a list on its URL.
///
/// # Errors
/// The visits are not complete, and must not be published; see [`BuildError`].
pub fn load(
    store: &mut Store,
    sources: Vec<BuildSource>,
    request: &LoadRequest<'_>,
    report: &mut dyn FnMut(News<'_>),
) -> Result<Loaded, BuildError> {
    let scope = Scope::new(request.site, &request.config.scope)?;
    let mut loaded = Loaded::default();
    let (folders, lists): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .partition(|source| matches!(source, BuildSource::Path(path) if path.is_dir()));
    for folder in folders {
        if let BuildSource::Path(path) = folder {
            folder::load(store, &path, request, &scope, &mut loaded, report)?;
        }
    }
    let mut lists = Lists {
        request,
        scope: &scope,
        base: request.site.start.to_url(),
        latest: request.now + MAX_AHEAD_HOURS.hours(),
        wanted: wanted_fields(request.config),
        declared: declared(request.config),
        waiting: lists.into_iter(),
        current: None,
        loaded,
        report,
    };
    // One thread reads, another stores.
    let (sender, receiver) = mpsc::sync_channel(READ_AHEAD);
    let (outcome, gave) = thread::scope(|scope| {
        let mut given = receiver.into_iter().flatten();
        let storing = scope
            .spawn(move || store.take_supplied(&mut || given.next().unwrap_or(InputBatch::GiveUp)));
        let outcome = lists.give_to(&sender);
        drop(sender);
        let gave = storing.join();
        let gave = gave.unwrap_or_else(|cause| panic::resume_unwind(cause));
        (outcome, gave)
    });
    outcome?;
    let gave = gave?;
    let mut loaded = lists.loaded;
    loaded.repeated = gave.repeated;
    Ok(loaded)
}

/// The URLs of all lists, one after the other.
struct Lists<'a> {
    request: &'a LoadRequest<'a>,
    scope: &'a Scope,
    base: Url,
    /// No page changed later.
    latest: Timestamp,
    /// Fields of inputs that elements of own namespaces ask for.
    wanted: BTreeSet<String>,
    /// The declarations of the set for custom elements: in one set a prefix represents one namespace.
    declared: Namespaces,
    waiting: std::vec::IntoIter<BuildSource>,
    current: Option<List>,
    loaded: Loaded,
    report: &'a mut dyn FnMut(News<'_>),
}

/// A list that is being read.
struct List {
    name: Arc<str>,
    rows: Box<dyn EntryRows>,
    /// Bytes of it that are counted.
    counted: u64,
}

impl Lists<'_> {
    /// Gives all URLs away, in groups, until there are no more, or until nobody takes them.
    fn give_to(&mut self, taker: &SyncSender<Vec<InputBatch>>) -> Result<(), BuildError> {
        loop {
            let mut group = Vec::with_capacity(GROUP);
            while group.len() < GROUP
                && let Some(url) = self.next()?
            {
                group.push(InputBatch::Url(url));
            }
            let is_last = group.len() < GROUP;
            if is_last {
                group.push(InputBatch::End);
            }
            if taker.send(group).is_err() || is_last {
                return Ok(());
            }
        }
    }

    /// The next URL of the site.
    fn next(&mut self) -> Result<Option<SuppliedUrl>, BuildError> {
        loop {
            let Some(list) = &mut self.current else {
                let Some(source) = self.waiting.next() else {
                    return Ok(None);
                };
                self.current = Some(self.open(source)?);
                continue;
            };
            let row = list.rows.next(&list.name)?;
            self.loaded.bytes += list.rows.bytes() - list.counted;
            list.counted = list.rows.bytes();
            let Some(InputRow { line, said }) = row else {
                let name = Arc::clone(&list.name);
                if list.rows.has_trailing_bytes() {
                    let note = Note::bytes_after_compressed(&name).naming(&name);
                    self.loaded.notes.push(note);
                }
                let count = list.rows.left_out();
                if count > 0 {
                    let note = Note::rows_left_out(&name, &count).naming(&name);
                    self.loaded.notes.push(note.counting(count));
                }
                let unused = list.rows.unused_columns();
                if !unused.is_empty() {
                    let names = unused.join(", ");
                    let note = Note::fields_unused(&name, &names).naming(&names);
                    self.loaded.notes.push(note.counting(unused.len() as u64));
                }
                self.current = None;
                continue;
            };
            self.loaded.entries += 1;
            if self.loaded.entries % PROGRESS_STEP == 1 {
                (self.report)(News::Progress(&self.loaded));
                if (self.request.is_stopped)() {
                    return Err(BuildError::Stopped);
                }
            }
            let url = match said {
                Ok(draft) => self.url(line, draft),
                Err(problem) => {
                    self.remark(line, RemarkKind::LeftOut, problem);
                    None
                }
            };
            if url.is_some() {
                return Ok(url);
            }
        }
    }

    fn open(&self, source: BuildSource) -> Result<List, BuildError> {
        let (name, bytes): (String, Box<dyn Read + Send>) = match source {
            BuildSource::Open { name, bytes } => (name, bytes),
            BuildSource::Path(path) => {
                let file = File::open(&path).map_err(|error| BuildError::open(&path, error))?;
                (path.display().to_string(), Box::new(file))
            }
        };
        let format = self.request.config.build.format;
        let rows = open_list(&name, bytes, format, &self.wanted)?;
        Ok(List {
            name: name.into(),
            rows,
            counted: 0,
        })
    }

    /// The URL of an entry, if it is one of the site.
    fn url(&mut self, line: u64, draft: Draft) -> Option<SuppliedUrl> {
        let identity = &self.request.config.identity;
        let checked = check_reference(&draft.loc).and_then(|text| self.check_path(text));
        let key = match checked.and_then(|reference| {
            identity
                .resolve(&self.base, reference, UTF_8)
                .map_err(|error| error.to_string())
        }) {
            Ok(key) => key,
            Err(problem) => {
                let problem = format!("{problem}: {}", quoted(&draft.loc));
                self.remark(line, RemarkKind::LeftOut, problem);
                return None;
            }
        };
        if self.scope.judge(&key) == Judgement::Outside {
            let site = self.request.site;
            let problem = format!("{key} is outside of {}{}", site.origin, site.directory);
            self.remark(line, RemarkKind::Outside, problem);
            return None;
        }
        let mut supplied = draft.supplied;
        for correction in draft.corrections {
            self.remark(line, RemarkKind::ValueCorrected, correction);
        }
        let mut problems = draft.problems;
        if !draft.extensions.is_empty() {
            let (extensions, errors) =
                extensions_from_json(&draft.extensions, &|text| self.loc(text));
            supplied.extensions = extensions;
            problems.extend(errors.iter().map(ToString::to_string));
        }
        // What contradicts the page's own address is known only now.
        if let Ok(loc) = Loc::parse(key.as_str()) {
            let refused = supplied.extensions.retain_writable(&loc);
            problems.extend(refused.iter().map(ToString::to_string));
        }
        problems.extend(self.declare(&mut supplied.extensions));
        for problem in problems {
            self.remark(line, RemarkKind::ValueLeftOut, problem);
        }
        if let Some(lastmod) = supplied
            .lastmod
            .take_if(|lastmod| lastmod.earliest_instant() > self.latest)
        {
            let problem =
                format!("lastmod {lastmod} is in the future, expected the time of a change");
            self.remark(line, RemarkKind::ValueLeftOut, problem);
        }
        if let Some(lastmod) = supplied.lastmod.take_if(|lastmod| is_ancient(lastmod)) {
            let problem =
                format!("lastmod {lastmod} is older than the web, expected the time of a change");
            self.remark(line, RemarkKind::ValueLeftOut, problem);
        }
        let published = supplied
            .extensions
            .news()
            .and_then(Element::publication_date);
        if let Some(date) = published.filter(|date| date.earliest_instant() > self.latest) {
            supplied.extensions.take_news();
            let problem = format!(
                "news.publication_date {date} is in the future, expected the time of publication"
            );
            self.remark(line, RemarkKind::ValueLeftOut, problem);
        }
        let outcome = Outcome::Supplied(Box::new(supplied));
        let reason = self.reason(&key, &outcome);
        let Outcome::Supplied(supplied) = outcome else {
            return None;
        };
        Some(SuppliedUrl {
            key,
            supplied: *supplied,
            reason,
        })
    }

    /// Refuses what a URL parser takes for a relative URL, although it is something else.
    fn check_path<'t>(&self, text: &'t str) -> Result<&'t str, String> {
        let first = text.split(['/', '?', '#']).next().unwrap_or_default();
        let first = first.to_ascii_lowercase();
        let host = self.base.host_str().unwrap_or_default();
        if text.starts_with('#') {
            Err("only a fragment, expected the URL of a page".to_owned())
        } else if first.contains(':') && !has_web_scheme(text) {
            Err("not an http or https URL".to_owned())
        } else if first.starts_with("www.") || first == host {
            let scheme = self.base.scheme();
            Err(format!("a URL without its scheme, expected {scheme}://..."))
        } else {
            Ok(text)
        }
    }

    /// Declares the namespaces of own elements; those that cannot be declared beside the others are left out.
    /// The defect.
    fn declare(&mut self, extensions: &mut Extensions) -> Vec<String> {
        let mut problems = Vec::new();
        if extensions.custom_elements().is_empty() {
            return problems;
        }
        extensions.retain_custom(|element| {
            let declared = self.declared.add_custom(element.namespace());
            if let Err(error) = &declared {
                let prefix = element.namespace().prefix();
                problems.push(format!("{prefix}:{}: {error}", element.name()));
            }
            declared.is_ok()
        });
        problems
    }

    /// The address of an image, a video or another version, absolute or relative to the base.
    fn loc(&self, text: &str) -> Result<Loc, String> {
        let text = check_reference(text)?;
        let url = self.base.join(text).map_err(|error| error.to_string())?;
        Loc::parse(url.as_str()).map_err(|error| format!("{error}: {}", quoted(text)))
    }

    fn reason(&self, key: &UrlKey, outcome: &Outcome) -> Reason {
        verdict::judge(
            key,
            outcome,
            self.scope,
            &Policy::default(),
            self.request.now,
        )
        .reason
    }

    fn remark(&mut self, line: u64, kind: RemarkKind, message: String) {
        let source = self.current.as_ref().map(|list| Arc::clone(&list.name));
        match kind {
            RemarkKind::LeftOut => self.loaded.left_out += 1,
            RemarkKind::ValueLeftOut => self.loaded.values_left_out += 1,
            RemarkKind::ValueCorrected => {}
            RemarkKind::Outside => self.loaded.outside += 1,
        }
        let remark = Remark {
            source: source.unwrap_or_default(),
            line,
            kind,
            message,
        };
        (self.report)(News::Remark(&remark));
    }
}

/// Returns whether nothing that is on the web can have changed then (R14).
fn is_ancient(lastmod: &LastMod) -> bool {
    let year = lastmod.as_str().get(..4);
    let year = year.and_then(|year| year.parse().ok());
    year.is_some_and(|year: u16| year < FIRST_YEAR)
}

fn wanted_fields(config: &Config) -> BTreeSet<String> {
    let namespaces = config.publish.entries.namespaces.iter();
    let values = namespaces
        .flat_map(|namespace| &namespace.elements)
        .map(|element| &element.value);
    values
        .filter_map(|value| match value {
            ElementValue::Field(name) => Some(name.clone()),
            ElementValue::Constant(_) => None,
        })
        .collect()
}

/// The declarations of the namespaces of the settings.
fn declared(config: &Config) -> Namespaces {
    let mut declared = Namespaces::default();
    let namespaces = &config.publish.entries.namespaces;
    for namespace in namespaces.iter().flat_map(Namespace::to_own) {
        // One that cannot be declared is refused with the settings, which name its line.
        let _ = declared.add_custom(&namespace);
    }
    declared
}

/// Refuses what is not a URL, absolute or relative, although a URL parser would make one of it.
fn check_reference(text: &str) -> Result<&str, String> {
    let text = text.trim();
    // A dash means in many tables that there is no value.
    if text.chars().all(|character| character == '-') {
        return Err("the URL is missing".to_owned());
    }
    if text.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err("white space inside a URL, expected one URL".to_owned());
    }
    if text.contains(['<', '>', '"']) {
        return Err("not a URL".to_owned());
    }
    let path = text.split(['?', '#']).next().unwrap_or_default();
    if path.contains('\\') {
        return Err("a backslash in the URL, expected / or %5C".to_owned());
    }
    Ok(text)
}

/// Longest text of an input that is repeated in a message, in characters.
const MAX_QUOTED: usize = 100;

/// Text of an input in a message.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("\"{}...\"", text.split_at(end).0),
        None => format!("\"{text}\""),
    }
}
