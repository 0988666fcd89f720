//! Live sitemaps: from a URL, or from the robots.txt of a site, through indexes to all their sitemaps. Every request is made
//! under the clocks and the robots.txt of its host; the calls block until there is an answer.
//!
//! ```text
//! URL -> robots.txt of its origin -> document -> robots.txt of the origins it lists -> check
//!    a page? -> what its robots.txt names          an index? -> its sitemaps, three indexes deep
//! ```

mod answers;
mod pages;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use sitemap_core::{
    Loc,
    limits::MAX_BYTES,
    read::{Item, Kind, Reader},
    validate::{Child, DocumentId, READING_LIMITS, Unavailable},
};
use tokio::runtime::Handle;

use self::{
    answers::{answer_of, content_type_of, reason},
    pages::ListedPage,
};
use super::{
    Check, CheckEvent, CheckOutcome, CheckedDocument, DocumentParts, MAX_DOCUMENTS, facts,
    folder::sniff, place::has_ending, progress::Watched, queue::Queue, sample::Sample,
};
use crate::{
    client::{ConnectError, DownloadError, DownloadedDocument, Downloader, Shutdown},
    parse::PageReader,
    url_key::{Identity, Origin, UrlKey},
};

/// Indexes that may lead to a sitemap. The protocol wants one (R40); more are followed to find other problems.
pub(crate) const MAX_INDEXES: u32 = 3;

/// The most bytes of a document that are fetched: twice the limit of the protocol, so that problems of a larger one can be
/// reported, and no document fills the disk.
pub(crate) const MAX_FETCHED_BYTES: u64 = 2 * MAX_BYTES;

/// The most origins whose robots.txt is requested only because a document lists their URLs. A sitemap may list the URLs of one
/// (R66), so a document with more is broken, and other servers are spared. Origins of checked documents do not count.
const MAX_ORIGINS: usize = 100;

/// The URL of a table ends so, or its media type is one of these: RFC 4180, and the one that is registered for tabs.
const TABLE_ENDINGS: [&str; 2] = [".csv", ".tsv"];
const TABLE_TYPES: [&str; 2] = ["text/csv", "text/tab-separated-values"];

/// The way to the network of a check.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Network<'n> {
    /// Makes the client for a typed URL, by its origin. The permissions of that URL (addresses of its kind, credentials for its
    /// origin) hold for all URLs reached from it.
    pub connect: &'n mut dyn FnMut(&Origin) -> Result<Downloader, ConnectError>,
    /// The identity of URLs.
    pub identity: Identity,
    /// Reads pages.
    pub reader: Arc<PageReader>,
    /// Runtime for requests.
    pub runtime: Handle,
    /// Ends the check early.
    pub shutdown: Shutdown,
}

/// Number of listed pages that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// At most so many, and at most [`MAX_SAMPLED_PAGES`](super::MAX_SAMPLED_PAGES).
    Some(usize),
    /// Every one.
    All,
}

/// The work was stopped.
#[derive(Debug)]
pub(crate) struct Stopped;

/// A check of URLs, and of files beside them. Its methods block: they are for a thread that may.
#[expect(missing_debug_implementations, reason = "the network holds a function")]
pub struct Live<'n, 'e> {
    check: Check<'e>,
    network: Network<'n>,
    /// One for each URL that was typed.
    downloaders: Vec<Downloader>,
    /// The number of the one that is used.
    current: usize,
    queue: Queue<WantedDocument>,
    /// Origins whose robots.txt was requested only because URLs of them are listed.
    strangers: usize,
    pages: Pages,
    sample: Sample<ListedPage>,
    /// Fingerprints of pages that were requested.
    asked: HashSet<u64>,
    /// Hosts that get no further request for a page.
    closed: BTreeSet<String>,
}

/// A document that is to be checked.
struct WantedDocument {
    loc: Loc,
    /// The index that lists it, and where.
    listed: Option<(DocumentId, Child)>,
    /// Indexes that lead to it.
    indexes: u32,
    /// The answer, if it was requested already.
    answer: Option<Box<Result<DownloadedDocument, DownloadError>>>,
}

impl WantedDocument {
    /// A document that no index lists.
    fn new(loc: Loc) -> Self {
        Self {
            loc,
            listed: None,
            indexes: 0,
            answer: None,
        }
    }

    fn index(&self) -> Option<DocumentId> {
        self.listed.as_ref().map(|(index, _)| *index)
    }

    fn child(&self) -> Option<&Child> {
        self.listed.as_ref().map(|(_, child)| child)
    }

    /// Facts of the document besides its content.
    fn described(&self, document: Option<&DownloadedDocument>) -> CheckedDocument {
        CheckedDocument {
            url: Some(self.loc.to_string()),
            final_url: document.map(|document| document.url.to_string()),
            status: document.map(|document| document.status),
            ..CheckedDocument::default()
        }
    }
}

impl Network<'_> {
    /// Waits for an answer.
    pub(crate) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, DownloadError>>,
    ) -> Result<Result<T, DownloadError>, Stopped> {
        match self.wait_for(answer)? {
            Err(DownloadError::Stopped) => Err(Stopped),
            answer => Ok(answer),
        }
    }

    /// Waits for anything.
    pub(crate) fn wait_for<T>(&self, work: impl Future<Output = T>) -> Result<T, Stopped> {
        if self.shutdown.is_stopping() {
            return Err(Stopped);
        }
        self.runtime.block_on(async {
            tokio::select! {
                result = work => Ok(result),
                // A request in flight is dropped, as requested.
                () = self.shutdown.aborted() => Err(Stopped),
            }
        })
    }
}

impl<'n, 'e> Live<'n, 'e> {
    /// A check that requests `pages` of the listed pages.
    pub fn new(check: Check<'e>, network: Network<'n>, pages: Pages) -> Self {
        let wanted = match pages {
            Pages::Some(wanted) => wanted,
            Pages::All => 0,
        };
        Self {
            check,
            network,
            downloaders: Vec::new(),
            current: 0,
            queue: Queue::new(MAX_DOCUMENTS),
            strangers: 0,
            pages,
            sample: Sample::new(wanted),
            asked: HashSet::new(),
            closed: BTreeSet::new(),
        }
    }

    /// The check of files and folders beside the URLs.
    pub fn files(&mut self) -> &mut Check<'e> {
        &mut self.check
    }

    /// Checks the document at a URL, and all that it leads to.
    ///
    /// # Errors
    /// A setting of the network cannot be used.
    pub fn url(&mut self, start: &UrlKey) -> Result<(), ConnectError> {
        let downloader = (self.network.connect)(&start.origin())?;
        let downloader = downloader.with_max_bytes(MAX_FETCHED_BYTES);
        self.current = self.downloaders.len();
        self.downloaders.push(downloader);
        self.check.reports.outcome.is_stopped |= self.begin(start).is_err();
        Ok(())
    }

    /// Asks for the chosen pages, and sums up.
    pub fn finish(mut self) -> CheckOutcome {
        let is_stopped = self.chosen_pages().is_err() || self.network.shutdown.is_stopping();
        self.check.reports.outcome.is_stopped |= is_stopped;
        self.check.finish()
    }

    /// Decides the kind of the start URL: a sitemap, or a page of a site.
    fn begin(&mut self, start: &UrlKey) -> Result<(), Stopped> {
        // A key is a URL of the same shape.
        let Ok(loc) = Loc::parse(start.as_str()) else {
            return Ok(());
        };
        if start.path_and_query() == "/robots.txt" {
            return self.site(&loc);
        }
        self.learn(&loc)?;
        let path = start.path().to_ascii_lowercase();
        if has_ending(&path) || TABLE_ENDINGS.iter().any(|ending| path.ends_with(ending)) {
            return self.walk([WantedDocument::new(loc)]);
        }
        let is_root = start.path_and_query() == "/";
        let mut answer = self.request(&loc, start)?;
        let site = match &answer {
            Ok(document) if document.status == 200 || is_root => {
                Loc::parse(document.url.as_str()).ok()
            }
            // A site may have sitemaps although its root must not be crawled.
            Err(DownloadError::Disallowed(_)) if is_root => Some(loc.clone()),
            Ok(_) | Err(_) => None,
        };
        let is_sitemap = answer.as_mut().is_ok_and(|document| {
            let content_type = content_type_of(document).unwrap_or_default();
            let media_type = content_type.split(';').next().unwrap_or_default();
            let media_type = media_type.trim().to_ascii_lowercase();
            document.status == 200
                && (TABLE_TYPES.contains(&media_type.as_str())
                    || document.body().is_ok_and(|body| sniff(body).is_some()))
        });
        match site {
            Some(site) if !is_sitemap => self.site(&site),
            Some(_) | None => self.walk([WantedDocument {
                answer: Some(Box::new(answer)),
                ..WantedDocument::new(loc)
            }]),
        }
    }

    /// Checks the sitemaps of the robots.txt of the site at `page`.
    fn site(&mut self, page: &Loc) -> Result<(), Stopped> {
        let origin = page.origin();
        let place = |path| Loc::parse(&format!("{origin}/{path}"));
        let (Ok(robots), Ok(usual)) = (place("robots.txt"), place("sitemap.xml")) else {
            return Ok(());
        };
        self.learn(page)?;
        let named = match self.check.robots.get(origin) {
            Some(Some(known)) => known.named.clone(),
            // Asked again it answers from memory, with its reason.
            Some(None) | None => return self.walk([WantedDocument::new(robots)]),
        };
        if named.is_empty() {
            self.info(format!("{robots} names no sitemap; {usual} is checked"));
            return self.walk([WantedDocument::new(usual)]);
        }
        self.info(format!("sitemaps that {robots} names: {}", named.len()));
        self.walk(named.into_iter().map(WantedDocument::new))
    }

    fn info(&mut self, text: String) {
        self.check.reports.emit(CheckEvent::Info(text));
    }

    fn warn(&mut self, text: String) {
        self.check.reports.emit(CheckEvent::Warning(text));
    }

    /// Reports that a part was not checked: documents that were not requested have no faults, but are not checked either.
    fn unanswered(&mut self) {
        self.check.reports.outcome.has_unanswered = true;
    }

    /// Checks documents and the sitemaps they list, indexes before their sitemaps.
    fn walk(&mut self, from: impl IntoIterator<Item = WantedDocument>) -> Result<(), Stopped> {
        let from = from.into_iter();
        let left_out = from.filter_map(|wanted| self.queue.push(&wanted.loc.clone(), wanted));
        let left_out = left_out.count();
        if left_out > 0 {
            self.unanswered();
            self.warn(format!(
                "only {MAX_DOCUMENTS} sitemaps are read in one check, {left_out} more are not"
            ));
        }
        let progress = self.check.reports.progress.clone();
        while let Some(wanted) = self.queue.pop() {
            progress.figures().queued = self.queue.len() as u64;
            self.visit(wanted)?;
            progress.figures().documents += 1;
        }
        Ok(())
    }

    /// Puts the sitemaps of an index into the queue; those above the limit are reported once.
    fn follow(&mut self, index: DocumentId, children: Vec<Child>, indexes: u32) {
        let mut left_out: Option<(Child, u64)> = None;
        for child in children {
            let loc = child.loc.clone();
            if indexes > MAX_INDEXES {
                if !self.queue.has_seen(&loc) {
                    let why = format!("{indexes} indexes lead to it, more than are followed");
                    self.check.missing(index, &child, &why);
                }
                continue;
            }
            let wanted = WantedDocument {
                listed: Some((index, child)),
                indexes,
                ..WantedDocument::new(loc.clone())
            };
            if let Some((_, child)) = self.queue.push(&loc, wanted).and_then(|left| left.listed) {
                left_out.get_or_insert((child, 0)).1 += 1;
            }
        }
        if let Some((first, count)) = left_out {
            self.unanswered();
            let Check {
                validator, reports, ..
            } = &mut self.check;
            let sink = &mut |finding| reports.finding(finding);
            validator.not_followed(index, &first, count, MAX_DOCUMENTS, sink);
        }
    }

    /// Checks one document.
    fn visit(&mut self, mut wanted: WantedDocument) -> Result<(), Stopped> {
        let Ok(url) = self.network.identity.parse(wanted.loc.as_str()) else {
            let why = Unavailable::Because("its URL cannot be requested");
            self.unavailable(&wanted, &why, None);
            return Ok(());
        };
        self.learn(&wanted.loc)?;
        let answer = match wanted.answer.take() {
            Some(answer) => *answer,
            None => self.request(&wanted.loc, &url)?,
        };
        match answer {
            Ok(document) if document.status == 200 => self.read(&wanted, document),
            Ok(document) => {
                let mut why = format!("status {}", document.status);
                if document.redirects > 0 {
                    why = format!("{why}, after a redirect to {}", document.url);
                }
                self.unavailable(&wanted, &Unavailable::Because(&why), Some(&document));
                Ok(())
            }
            Err(error) => self.failed(&wanted, &error),
        }
    }

    /// Checks a document that is there.
    fn read(
        &mut self,
        wanted: &WantedDocument,
        mut document: DownloadedDocument,
    ) -> Result<(), Stopped> {
        let target = Loc::parse(document.url.as_str()).ok();
        let target = target.filter(|target| document.redirects > 0 && *target != wanted.loc);
        let place = target.as_ref().unwrap_or(&wanted.loc);
        // Waiting documents keep their order, so that the order in which the two are listed does not matter.
        if target.is_some() && !self.queue.see(place) {
            self.unavailable(wanted, &Unavailable::Elsewhere(place), Some(&document));
            return Ok(());
        }
        self.learn(place)?;
        self.check.reports.progress.turn_to(&wanted.loc);
        self.learn_listed(&mut document, place)?;
        self.check.reports.progress.turn_to(&wanted.loc);
        let Some(reading) = self.judge(wanted, &mut document, place)? else {
            return Ok(());
        };
        if reading.kind != Some(Kind::Index) {
            self.choose_pages(&mut document, place, reading.document)?;
        }
        self.follow(reading.document, reading.children, wanted.indexes + 1);
        Ok(())
    }

    /// Reads a document and reports its problems; `None` when it cannot be read.
    fn judge(
        &mut self,
        wanted: &WantedDocument,
        document: &mut DownloadedDocument,
        place: &Loc,
    ) -> Result<Option<DocumentParts>, Stopped> {
        let (content_type, end) = (content_type_of(document), document.end.clone());
        let mut answer = answer_of(document, content_type.as_deref(), &end);
        answer.listed_lastmod = wanted.child().and_then(|child| child.lastmod.as_ref());
        let mut facts = facts(wanted.loc.as_str(), Some(place));
        facts.requested = (*place != wanted.loc).then_some(&wanted.loc);
        facts.modified = document.last_modified;
        facts.listed_by = wanted.index();
        facts.answer = Some(answer);
        let described = wanted.described(Some(document));
        let progress = self.check.reports.progress.clone();
        let shutdown = &self.network.shutdown;
        let checked = document.body().and_then(|input| {
            let input = Watched {
                input,
                progress: &progress,
                shutdown,
            };
            self.check.document(input, facts, described)
        });
        match checked {
            Ok(reading) => Ok(Some(reading)),
            Err(_) if shutdown.is_stopping() => Err(Stopped),
            Err(error) => {
                self.check.unreadable(wanted.loc.as_str(), &error);
                Ok(None)
            }
        }
    }

    /// Reports that there is no answer.
    fn failed(&mut self, wanted: &WantedDocument, error: &DownloadError) -> Result<(), Stopped> {
        let is_itself = |url: &UrlKey| url.as_str() == wanted.loc.as_str();
        let mut why = reason(error);
        let why = match error {
            DownloadError::Disallowed(url) if !self.is_disallowed_to_all(url)? => {
                // Search engines may read it, and have other names.
                why = format!("robots.txt disallows {url} to this program, but not to everybody");
                Unavailable::NotAsked {
                    why: &why,
                    help: "allow it to arpent in robots.txt, or give the check another name (--user-agent)",
                }
            }
            DownloadError::Disallowed(url) if is_itself(url) => Unavailable::Disallowed,
            DownloadError::Disallowed(_) => {
                why = format!("redirected, {error}");
                Unavailable::Because(&why)
            }
            DownloadError::Closed { .. } => Unavailable::NotAsked {
                why: &why,
                help: "check again when its host takes requests",
            },
            DownloadError::Redirects { url, problem } if is_itself(url) => {
                Unavailable::Because(problem)
            }
            DownloadError::NoAnswer { url, message, .. } if is_itself(url) => {
                Unavailable::Because(message)
            }
            DownloadError::RobotsUnreachable { .. } => Unavailable::RobotsUnreachable(&why),
            _ => Unavailable::Because(&why),
        };
        let is_silence = matches!(
            error,
            DownloadError::RobotsUnreachable { .. } | DownloadError::NoAnswer { .. }
        );
        if matches!(why, Unavailable::NotAsked { .. }) || is_silence && wanted.listed.is_none() {
            self.unanswered();
        }
        self.unavailable(wanted, &why, None);
        Ok(())
    }

    fn unavailable(
        &mut self,
        wanted: &WantedDocument,
        why: &Unavailable<'_>,
        document: Option<&DownloadedDocument>,
    ) {
        let name = wanted.loc.as_str();
        let mut facts = facts(name, Some(&wanted.loc));
        facts.listed_by = wanted.index();
        let Check {
            validator, reports, ..
        } = &mut self.check;
        reports.begin(name, wanted.described(document));
        let sink = &mut |finding| reports.finding(finding);
        validator.unavailable(&facts, wanted.child(), why, sink);
        reports.close();
    }

    /// The answer of a URL.
    fn request(
        &self,
        loc: &Loc,
        url: &UrlKey,
    ) -> Result<Result<DownloadedDocument, DownloadError>, Stopped> {
        self.check.reports.progress.turn_to(loc);
        let shutdown = &self.network.shutdown;
        self.network.wait(self.downloader().download(url, shutdown))
    }

    fn downloader(&self) -> &Downloader {
        &self.downloaders[self.current]
    }

    /// Asks for the robots.txt of a URL's origin, once; returns why it cannot be read.
    fn learn(&mut self, loc: &Loc) -> Result<Option<DownloadError>, Stopped> {
        let origin = loc.origin();
        let (Ok(key), Ok(robots)) = (
            self.network.identity.parse(loc.as_str()),
            Loc::parse(&format!("{origin}/robots.txt")),
        ) else {
            return Ok(None);
        };
        if self.check.robots.contains_key(origin) {
            return Ok(None);
        }
        self.check.reports.progress.turn_to(&robots);
        let origin_key = key.origin();
        // Search engines are not called arpent.
        let asked = self
            .downloader()
            .robots_for_everybody(&origin_key, &self.network.shutdown);
        match self.network.wait(asked)? {
            Ok(rules) => {
                self.check.take_rules(loc, rules);
                Ok(None)
            }
            Err(error) => {
                self.check.robots.insert(origin.to_owned(), None);
                Ok(Some(error))
            }
        }
    }

    /// As [`learn`](Self::learn), for an origin of which nothing is checked, as long as there are not too many of them.
    fn learn_stranger(&mut self, loc: &Loc) -> Result<Option<DownloadError>, Stopped> {
        if self.check.robots.contains_key(loc.origin()) {
            return Ok(None);
        }
        self.strangers += 1;
        if self.strangers == MAX_ORIGINS + 1 {
            self.warn(format!(
                "the robots.txt files of {MAX_ORIGINS} listed other hosts were requested, and no more are: nothing proves that URLs of further hosts may be listed"
            ));
        }
        if self.strangers > MAX_ORIGINS {
            return Ok(None);
        }
        self.learn(loc)
    }

    /// Asks for the robots.txt of all origins that a document lists: they may prove that it may (R65).
    fn learn_listed(
        &mut self,
        document: &mut DownloadedDocument,
        place: &Loc,
    ) -> Result<(), Stopped> {
        let mut strangers: BTreeMap<String, Loc> = BTreeMap::new();
        let Ok(input) = document.body() else {
            return Ok(());
        };
        let input = Watched {
            input,
            progress: &self.check.reports.progress,
            shutdown: &self.network.shutdown,
        };
        for item in Reader::new(input, READING_LIMITS).at(place) {
            let loc = match item {
                Ok(Item::Url(entry)) => entry.loc,
                Ok(Item::Sitemap(entry)) => entry.loc,
                Err(_) => continue,
            };
            if loc.origin() != place.origin() && !strangers.contains_key(loc.origin()) {
                strangers.insert(loc.origin().to_owned(), loc);
                // One more than the limit, so that it is reported.
                if strangers.len() > MAX_ORIGINS {
                    break;
                }
            }
        }
        if self.network.shutdown.is_stopping() {
            return Err(Stopped);
        }
        for (origin, loc) in strangers {
            if let Some(error) = self.learn_stranger(&loc)? {
                self.warn(format!(
                    "{}; whether {origin} wants its URLs to be listed elsewhere, and which it disallows, is not known",
                    reason(&error)
                ));
            }
        }
        Ok(())
    }

    /// Returns whether robots.txt disallows a URL to all agents; its rules are known if they were requested.
    fn is_disallowed_to_all(&mut self, url: &UrlKey) -> Result<bool, Stopped> {
        let Ok(loc) = Loc::parse(url.as_str()) else {
            return Ok(false);
        };
        self.learn_stranger(&loc)?;
        let rules = self.check.rules_for(&loc);
        Ok(rules.is_some_and(|rules| !rules.allows(loc.path_and_query())))
    }
}
