//! A folder of HTML files as a site: each file is read by the crawler's own parser and judged by its
//! verdicts, as if a web server had answered with it. Nothing is requested; links are not followed, since
//! every file is known already.
//!
//! - `index.html` (or `index.htm`) is the page of its folder; other names stand in the URL as they are.
//! - `404.html` at the root is what servers answer with when there is no page.
//! - Hidden files, `robots.txt` and sitemaps are no pages and are not counted.
//! - A link leads no further than the folder itself.
//!
//! The time of a file is evidence of a change only when the files were not all written at once, as a
//! checkout or a build does.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{BuildError, LoadRequest, Loaded, News, PROGRESS_STEP, media_type};
use crate::{
    config::{FileDates, PageAction, PageRule, ParseConfig},
    fetch::{BodySink as _, BodyWish, Fetched, Headers, ResponseHead},
    page::{BodyEnd, Canonical, Outcome, PageFacts, PageRecord, Reason, Via},
    parse::{PageParser, PageReader},
    robots::{MAX_ROBOTS_BYTES, Rules, agent_token},
    scope::{Judgement, Scope},
    store::{Commit, Finished, Store},
    url_key::UrlKey,
    verdict::{self, Policy},
};

/// Folders inside each other: deeper paths are longer than a URL may be.
const MAX_DEPTH: usize = 1_024;

/// Names in one folder, which are sorted in memory.
const MAX_NAMES: usize = 1_000_000;

/// Files and folders of a site: as many as 100 indexes of full sitemaps can name would be, and a stop for
/// links that lead from folder to folder in ever new ways.
const MAX_FILES: u64 = 10_000_000;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Records that are kept before they are stored.
const BATCH: usize = 1_000;

/// Files that were written within this time were written by one checkout, copy or build ...
const ONE_WRITING: Duration = Duration::from_secs(10 * 60);

/// ... and when it wrote more than half of the pages, no file's time says when its page changed.
const MOST_PERCENT: usize = 50;

/// Endings of the files of a published set, in all its formats.
const SITEMAP_ENDINGS: [&str; 6] = [".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom"];

/// Where pages themselves say when they changed, in W3C form; asked behind the page rules of the user.
const DATE_SELECTORS: [&str; 5] = [
    "meta[property=\"article:modified_time\"]",
    "meta[property=\"og:updated_time\"]",
    "meta[itemprop=\"dateModified\"]",
    "meta[name=\"last-modified\"]",
    "meta[name=\"dcterms.modified\"]",
];

/// Loads the files of the folder `root`.
pub(super) fn load(
    store: &mut dyn Store,
    root: &Path,
    request: &LoadRequest<'_>,
    scope: &Scope,
    loaded: &mut Loaded,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<(), BuildError> {
    let mut walk = Walk::new(root, request)?;
    let mut times = Vec::new();
    walk.each(&mut |file| {
        if file.is_page() {
            times.push(seconds(file.modified));
        }
        Ok(())
    })?;
    let dates_count = match request.config.build.lastmod {
        FileDates::None => false,
        FileDates::Mtime => {
            let at_once = most_at_once(&mut times);
            let is_plausible = at_once * 100 <= times.len() * MOST_PERCENT;
            if !is_plausible && !times.is_empty() {
                loaded.notices.push(format!(
                    "{}: {at_once} of {} pages were written within {} minutes, as by a checkout or a build; \
                     the times of the files are not used as lastmod",
                    root.display(),
                    times.len(),
                    ONE_WRITING.as_secs() / 60
                ));
            }
            is_plausible
        }
    };
    if walk.links_out > 0 {
        loaded.notices.push(format!(
            "{}: {} links lead out of the folder, or in circles, and are not followed",
            root.display(),
            walk.links_out
        ));
    }
    let mut reading = Reading {
        request,
        scope,
        robots: robots(root, request, loaded)?,
        reader: Arc::new(
            PageReader::new(&with_dates(&request.config.parse))?
                .with_extensions(request.config.publish.extensions),
        ),
        dates_count,
        commit: Commit {
            run: request.run,
            ..Commit::default()
        },
        sequence: 0,
    };
    let mut walk = Walk::new(root, request)?;
    walk.each(&mut |file| {
        loaded.files += 1;
        if loaded.files % PROGRESS_STEP == 1 {
            tell(News::Progress(loaded));
        }
        loaded.bytes += reading.take(file);
        if reading.commit.finished.len() >= BATCH {
            store.commit(&reading.commit)?;
            reading.commit.finished.clear();
        }
        Ok(())
    })?;
    store.commit(&reading.commit)?;
    Ok(())
}

/// The page rules, and behind them those that read what pages say of their date.
fn with_dates(config: &ParseConfig) -> ParseConfig {
    let mut config = config.clone();
    let rules = DATE_SELECTORS.map(|selector| PageRule {
        pages: "*".to_owned(),
        selector: selector.to_owned(),
        action: PageAction::Lastmod {
            attribute: Some("content".to_owned()),
        },
    });
    config.page_rules.extend(rules);
    config
}

/// The rules of a `robots.txt` in the folder; they only hold where engines look for them.
fn robots(
    root: &Path,
    request: &LoadRequest<'_>,
    loaded: &mut Loaded,
) -> Result<Rules, BuildError> {
    let path = root.join("robots.txt");
    let mut body = Vec::new();
    let read = File::open(&path).and_then(|file| {
        file.take(MAX_ROBOTS_BYTES as u64 + 1)
            .read_to_end(&mut body)
    });
    match read {
        Ok(_) if request.site.directory == "/" => {
            let agent = agent_token(&request.config.fetch.user_agent);
            let rules = Rules::parse(&body, &agent);
            loaded.robots.get_or_insert_with(|| rules.clone());
            Ok(rules)
        }
        Ok(_) => {
            loaded.notices.push(format!(
                "{} is not obeyed: of {} only the robots.txt at the root counts (RFC 9309 section 2.3)",
                path.display(),
                request.site.origin
            ));
            Ok(Rules::allow_all())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Rules::allow_all()),
        Err(source) => Err(BuildError::Open {
            name: path.display().to_string(),
            source,
        }),
    }
}

/// One file that may be a page.
struct Page<'a> {
    path: &'a Path,
    /// `None`: the name cannot stand in a URL of this site.
    url: Option<UrlKey>,
    name: &'a OsStr,
    /// Directly in the folder that was given.
    is_at_root: bool,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Page<'_> {
    fn media_type(&self) -> &'static str {
        media_type::of_name(&self.name.to_string_lossy())
    }

    fn is_page(&self) -> bool {
        matches!(self.media_type(), "text/html" | "application/xhtml+xml")
    }

    /// What a web server would answer with.
    fn head(&self, with_date: bool) -> ResponseHead {
        let mut headers = Headers::default();
        headers.push("content-type", self.media_type().as_bytes());
        headers.push("content-length", self.bytes.to_string().as_bytes());
        if let Some(modified) = self.modified.filter(|_| with_date) {
            headers.push(
                "last-modified",
                httpdate::fmt_http_date(modified).as_bytes(),
            );
        }
        let is_error_page = self.is_at_root && self.name.eq_ignore_ascii_case("404.html");
        ResponseHead {
            status: if is_error_page { 404 } else { 200 },
            headers,
        }
    }
}

/// Files become records.
struct Reading<'a> {
    request: &'a LoadRequest<'a>,
    scope: &'a Scope,
    robots: Rules,
    reader: Arc<PageReader>,
    /// The times of the files are evidence.
    dates_count: bool,
    commit: Commit,
    sequence: u64,
}

impl Reading<'_> {
    /// Adds the record of a file to the next commit; how many bytes of the file were read.
    fn take(&mut self, file: &Page<'_>) -> u64 {
        let Some(url) = &file.url else {
            return 0;
        };
        let outcome = match self.before_reading(url) {
            Some(reason) => Outcome::NotFetched(reason),
            None => self
                .read(url, file)
                .unwrap_or_else(|error| Outcome::NoAnswer {
                    error: error.to_string(),
                }),
        };
        let now = self.request.now;
        let verdict = verdict::judge(url, &outcome, None, self.scope, &Policy::default(), now);
        let bytes = match &outcome {
            Outcome::Answered(facts) => facts.body_bytes,
            Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_) => 0,
        };
        self.sequence += 1;
        let record = PageRecord {
            run: self.request.run,
            reason: verdict.reason,
            depth: 0,
            via: Via::File,
            found_on: None,
            attempts: 1,
            fetched_at: Some(now),
            outcome: Some(outcome),
        };
        self.commit.finished.push(Finished {
            key: url.clone(),
            sequence: self.sequence,
            record,
            links: None,
        });
        bytes
    }

    /// What decides without a look into the file.
    fn before_reading(&self, url: &UrlKey) -> Option<Reason> {
        match self.scope.judge(url) {
            Judgement::Excluded(reason) => Some(reason),
            Judgement::Outside => Some(Reason::ExcludedByRule),
            Judgement::ListOnly | Judgement::Inside | Judgement::FollowOnly
                if !self.robots.allows(url.path_and_query()) =>
            {
                Some(Reason::RobotsDisallowed)
            }
            Judgement::ListOnly => Some(Reason::ListOnly),
            Judgement::Inside | Judgement::FollowOnly => None,
        }
    }

    fn read(&self, url: &UrlKey, file: &Page<'_>) -> io::Result<Outcome> {
        let identity = Arc::new(self.request.config.identity.clone());
        let mut parser = PageParser::new(url, &identity, &self.reader);
        let head = file.head(self.dates_count);
        let mut input = File::open(file.path)?;
        let most = self.request.config.fetch.max_body_bytes;
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut total = 0;
        let mut wish = parser.head(&head);
        let end = loop {
            if wish == BodyWish::Stop {
                break BodyEnd::Skipped;
            }
            let read = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                break BodyEnd::Complete;
            }
            total += read as u64;
            if total > most {
                break BodyEnd::TooLarge;
            }
            wish = parser.chunk(buffer.split_at(read).0);
        };
        let fetched = Fetched {
            head,
            end,
            wire_bytes: total,
        };
        let mut facts = parser.finish(&fetched);
        facts.links = Vec::new();
        self.name_folders(url, &mut facts);
        Ok(Outcome::Answered(Box::new(facts)))
    }

    /// Makes what a page says of an index file be about its folder: it is the same page.
    fn name_folders(&self, url: &UrlKey, facts: &mut PageFacts) {
        let identity = &self.request.config.identity;
        let folder_of = |key: &UrlKey| {
            let path = key.path();
            let (folder, name) = path.rsplit_once('/')?;
            let is_index = self.request.site.contains(key)
                && key.path_and_query() == path
                && is_index_name(OsStr::new(name));
            is_index
                .then(|| identity.parse(&format!("{}{folder}/", key.origin())).ok())
                .flatten()
        };
        if let Canonical::Other(target) = &facts.canonical
            && let Some(folder) = folder_of(target)
        {
            facts.canonical = if folder == *url {
                Canonical::Itself
            } else {
                Canonical::Other(folder)
            };
        }
        if let Some(refresh) = &mut facts.refresh
            && let Some(folder) = folder_of(&refresh.target)
        {
            refresh.target = folder;
        }
        if let Some(versions) = &mut facts.alternates {
            for version in &mut *versions {
                if let Some(folder) = folder_of(&version.target) {
                    version.target = folder;
                }
            }
            versions.sort_unstable();
            versions.dedup();
        }
    }
}

/// A walk through a folder, in the order of the names.
struct Walk<'a> {
    root: PathBuf,
    request: &'a LoadRequest<'a>,
    /// Links that are not followed.
    links_out: u64,
    /// Names that were come to, those of folders too.
    names: u64,
}

/// A folder on the way from the root to where the walk is.
struct Level {
    /// Without links.
    folder: PathBuf,
    /// What it is called in URLs, ends in a slash.
    url: String,
    /// Its names, the next one last.
    names: Vec<std::ffi::OsString>,
    /// The name that stands for the folder.
    index: Option<std::ffi::OsString>,
}

type EachFile<'a> = dyn FnMut(&Page<'_>) -> Result<(), BuildError> + 'a;

impl<'a> Walk<'a> {
    fn new(root: &Path, request: &'a LoadRequest<'a>) -> Result<Self, BuildError> {
        let canonical = fs::canonicalize(root).map_err(|source| BuildError::Open {
            name: root.display().to_string(),
            source,
        })?;
        Ok(Self {
            root: canonical,
            request,
            links_out: 0,
            names: 0,
        })
    }

    /// Visits every file.
    fn each(&mut self, visit: &mut EachFile<'_>) -> Result<(), BuildError> {
        let site = self.request.site;
        let url = format!("{}{}", site.origin, site.directory);
        let mut levels = vec![open(self.root.clone(), url)?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.names.pop() else {
                levels.pop();
                continue;
            };
            let path = level.folder.join(&name);
            self.count()?;
            let Some((path, metadata)) = self.resolve(path)? else {
                continue;
            };
            if metadata.is_dir() {
                let is_circle = levels.iter().any(|level| level.folder == path);
                if is_circle || path == self.output() {
                    self.links_out += u64::from(is_circle);
                    continue;
                }
                if levels.len() >= MAX_DEPTH {
                    return Err(too_much(
                        &path,
                        format!("is more than {MAX_DEPTH} folders deep"),
                    ));
                }
                let above = levels.last().map_or("", |level| &level.url);
                let url = format!("{above}{}/", encoded(&name));
                levels.push(open(path, url)?);
            } else if metadata.is_file() {
                let is_at_root = levels.len() == 1;
                if let Some(level) = levels.last() {
                    self.file(level, &name, &path, &metadata, is_at_root, visit)?;
                }
            }
        }
        Ok(())
    }

    /// Counts a name on the way, and gives up when there are too many or somebody asks for it.
    fn count(&mut self) -> Result<(), BuildError> {
        self.names += 1;
        if self.names > MAX_FILES {
            return Err(too_much(
                &self.root,
                format!("holds more than {MAX_FILES} files and folders"),
            ));
        }
        if self.names.is_multiple_of(PROGRESS_STEP) && (self.request.is_stopped)() {
            return Err(BuildError::Stopped);
        }
        Ok(())
    }

    fn file(
        &self,
        level: &Level,
        name: &OsStr,
        path: &Path,
        metadata: &Metadata,
        is_at_root: bool,
        visit: &mut EachFile<'_>,
    ) -> Result<(), BuildError> {
        if is_no_page(name, is_at_root) {
            return Ok(());
        }
        let url = if level.index.as_deref() == Some(name) {
            level.url.clone()
        } else {
            format!("{}{}", level.url, encoded(name))
        };
        visit(&Page {
            path,
            url: self.request.config.identity.parse(&url).ok(),
            name,
            is_at_root,
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// Where a name leads, when that is inside the folder and can be seen.
    fn resolve(&mut self, path: PathBuf) -> Result<Option<(PathBuf, Metadata)>, BuildError> {
        let failed = |path: &Path, source| BuildError::Open {
            name: path.display().to_string(),
            source,
        };
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            // Removed since the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, error)),
        };
        if !metadata.is_symlink() {
            return Ok(Some((path, metadata)));
        }
        let target = fs::canonicalize(&path);
        match target {
            Ok(target) if target.starts_with(&self.root) => {
                let metadata = fs::metadata(&target).map_err(|error| failed(&target, error))?;
                Ok(Some((target, metadata)))
            }
            // Out of the folder, or to nothing.
            Ok(_) | Err(_) => {
                self.links_out += 1;
                Ok(None)
            }
        }
    }

    /// The folder that the set is written to: what is in it comes from us.
    fn output(&self) -> PathBuf {
        fs::canonicalize(&self.request.config.publish.output).unwrap_or_default()
    }
}

/// The names of a folder in order.
fn open(folder: PathBuf, url: String) -> Result<Level, BuildError> {
    let failed = |source| BuildError::Open {
        name: folder.display().to_string(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if names.len() == MAX_NAMES {
            return Err(too_much(
                &folder,
                format!("holds more than {MAX_NAMES} names"),
            ));
        }
        names.push(name);
    }
    names.sort_unstable_by(|one, other| other.cmp(one));
    let mut indexes: Vec<_> = names.iter().filter(|name| is_index_name(name)).collect();
    // `index.html` goes before `index.htm`.
    indexes.sort_unstable_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    let index = indexes.first().map(|name| (*name).clone());
    Ok(Level {
        folder,
        url,
        names,
        index,
    })
}

fn too_much(path: &Path, problem: String) -> BuildError {
    BuildError::TooMuch {
        path: path.to_owned(),
        problem,
    }
}

/// Whether a file of this name is the page of its folder.
fn is_index_name(name: &OsStr) -> bool {
    name == "index.html" || name == "index.htm"
}

/// robots.txt and sitemaps, which are counted nowhere.
fn is_no_page(name: &OsStr, is_at_root: bool) -> bool {
    let name = name.to_string_lossy();
    // What publishing keeps of a file that it replaces.
    let kept_of = name.split_once(".bak-").map_or(&*name, |(of, _)| of);
    let is_sitemap = kept_of.starts_with("sitemap")
        && SITEMAP_ENDINGS
            .iter()
            .any(|ending| kept_of.ends_with(ending));
    is_sitemap || (is_at_root && name == "robots.txt")
}

/// A name as a segment of a path: its bytes, all but the unreserved ones and those that mean nothing in
/// a segment percent-encoded (RFC 3986 section 3.3).
fn encoded(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(byte) {
            text.push(char::from(*byte));
        } else {
            text.push('%');
            text.extend([byte >> 4, byte & 15].map(hexadecimal));
        }
    }
    text
}

fn hexadecimal(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

/// Whole seconds since 1970; a file without a time has the time 0.
fn seconds(time: Option<SystemTime>) -> u64 {
    time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_secs())
}

/// How many of these times fall into one [`ONE_WRITING`], at most.
fn most_at_once(times: &mut [u64]) -> usize {
    times.sort_unstable();
    let mut most = 0;
    let mut first = 0;
    for (last, time) in times.iter().enumerate() {
        while times
            .get(first)
            .is_some_and(|earliest| time - earliest > ONE_WRITING.as_secs())
        {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_segments_of_a_path() {
        fn check(name: &str, expected: &str) {
            assert_eq!(encoded(OsStr::new(name)), expected);
        }
        check("about.html", "about.html");
        check("a b&c.html", "a%20b&c.html");
        check("100%.html", "100%25.html");
        check("a?b#c", "a%3Fb%23c");
        check("é.html", "%C3%A9.html");
        check("a\\b", "a%5Cb");
    }

    #[test]
    fn files_of_one_writing_are_counted_together() {
        fn check(times: &[u64], expected: usize) {
            assert_eq!(most_at_once(&mut times.to_vec()), expected, "{times:?}");
        }
        let minutes = |number: u64| number * 60;
        check(&[], 0);
        check(&[5], 1);
        check(&[5, 5, 5], 3);
        check(&[0, minutes(10), minutes(10) + 1, minutes(21)], 2);
        check(&[minutes(30), 0, minutes(31), minutes(32), minutes(99)], 3);
    }
}
