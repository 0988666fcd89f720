//! Sitemaps, feeds and lists during a crawl: one document after the other is fetched and read beside the
//! pages, and its URLs are judged like any other. Its end is in the same commit as its last URLs, so
//! after a kill the next session reads only unfinished documents again.
//!
//! ```text
//! waiting document -> task: download, read where blocking is allowed -> batches (bounded) -> the loop
//!                                                                     -> its end          -> the loop
//! ```

mod document_fetch;
mod end;
mod link;

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::Arc,
};

use sitemap_core::partition::numbered_name;
use tokio::sync::mpsc;

pub(super) use self::document_fetch::DocumentEnd;
use self::document_fetch::{DocumentFetch, read_list};
use crate::{
    client::{DownloadedDocument, Downloader, Shutdown},
    config::DiscoverConfig,
    frontier::{Lease, SeenUrls},
    notes::Note,
    page::Via,
    robots::Rules,
    seeds::{
        self, Batch, Document, DocumentKind, DocumentState, IndexedDocument, MAX_DOCUMENTS,
        MAX_INDEX_DEPTH, MAX_ROBOTS_SITEMAPS, OwnFiles, SeedList, SeedProblem,
    },
    site::Site,
    store::Effect,
    url_key::{Identity, Origin, UrlKey},
};

/// Batches that wait between a reader and the loop.
const BATCHES_WAITING: usize = 2;

/// Depth of the URLs in sitemaps and lists: as if the start page linked to them.
const SEED_DEPTH: u32 = 1;

/// Bytes of sitemaps and feeds that a session reads, unpacked: entries of 50 million pages. An index may name 50,000 files of 200 MiB,
/// all of them without a page.
const MAX_SESSION_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 16 << 30 };

/// Returns whether an `exclude` rule keeps a document from being fetched.
pub(super) type Excludes<'a> = &'a mut dyn FnMut(&UrlKey) -> bool;

/// The reader of a document.
pub(super) type DocumentWork = Pin<Box<dyn Future<Output = DocumentEnd> + Send>>;

/// The documents of a crawl.
pub(super) struct Documents {
    discover: DiscoverConfig,
    /// The crawled site.
    origin: Origin,
    downloader: Downloader,
    own: Arc<OwnFiles>,
    /// The URL at which the set will be served.
    own_place: Option<OwnPlace>,
    all: Vec<Document>,
    /// The numbers of the documents by their names; of several with one name the first.
    numbers: HashMap<String, usize>,
    /// Numbers of those that are to be read.
    waiting: VecDeque<usize>,
    /// The documents by their URLs, and the places that redirects of them led to.
    known: SeenUrls,
    feeds: Feeds,
    /// Documents that a rule of the user keeps from being fetched.
    excluded: SeenUrls,
    sentences: Sentences,
    /// Bytes that were read in this session, unpacked.
    bytes_read: u64,
    reading: CurrentDocument,
    /// The changes that are to be stored.
    next: Vec<Effect>,
}

/// Sentences on documents with something wrong.
#[derive(Debug, Default)]
struct Sentences {
    /// All of them so far.
    count: usize,
    /// Those that are to be shown next.
    to_show: Vec<String>,
}

/// The source of names: the document that is being read.
pub(super) struct NamingDocument {
    pub(super) number: usize,
    pub(super) via: Via,
    pub(super) depth: u32,
    /// The place; `None`: a list.
    pub(super) url: Option<UrlKey>,
}

/// The document that is being read, and its input.
#[derive(Default)]
struct CurrentDocument {
    active: Option<Active>,
    /// The lists of the user, by their numbers.
    lists: Vec<(usize, SeedList)>,
    /// Documents that were asked for as pages and wait to be read, by their numbers.
    bodies: HashMap<usize, Box<DownloadedDocument>>,
    /// The page at whose URL the document is that is being read.
    page: Option<Lease>,
    /// Documents that are being asked for as pages, by their numbers.
    as_pages: Vec<usize>,
    /// A document was read and no page begun since: the next turn is that of a page, if one waits. Else an
    /// index of thousands would keep the pages waiting, and `max_pages` away.
    owes_page: bool,
}

/// The feeds among the documents.
#[derive(Default)]
struct Feeds {
    count: usize,
    /// Feeds beyond [`MAX_FEEDS`](crate::seeds::MAX_FEEDS), which are only counted: no documents, so a link to one leads
    /// to a page like any other.
    left_out: SeenUrls,
}

/// The directory that our own index will be in.
struct OwnPlace {
    url: String,
    /// Name of the first index there.
    index_name: String,
    /// The directory is set; else it is the crawled directory.
    is_configured: bool,
    /// The document is on the crawled site, which is up.
    is_on_site: bool,
}

/// The document that is being read.
struct Active {
    number: usize,
    batches: mpsc::Receiver<Batch>,
}

impl Documents {
    /// Takes up the documents that the crawl knows. The set will be served at `public_url`, the URL of a directory, or else
    /// in that of the site, with an index of this name.
    pub(super) fn new(
        site: &Site,
        discover: DiscoverConfig,
        public_url: Option<&str>,
        index_name: &str,
        downloader: Downloader,
        documents: Vec<Document>,
        own: OwnFiles,
    ) -> Self {
        let directory = site.written().url();
        let place = Identity::default()
            .verbatim()
            .parse(public_url.unwrap_or(&directory));
        let own_place = place.ok().map(|url| OwnPlace {
            is_on_site: url.is_on(&site.origin),
            url: url.as_str().to_owned(),
            is_configured: public_url.is_some(),
            index_name: index_name.to_owned(),
        });
        let mut resumed = Self {
            discover,
            origin: site.origin.clone(),
            downloader,
            own: Arc::new(own),
            own_place,
            all: Vec::new(),
            numbers: HashMap::new(),
            waiting: VecDeque::new(),
            known: SeenUrls::default(),
            feeds: Feeds::default(),
            excluded: SeenUrls::default(),
            sentences: Sentences::default(),
            bytes_read: 0,
            reading: CurrentDocument::default(),
            next: Vec::new(),
        };
        for document in documents {
            let number = resumed.all.len();
            // Lists are read again at every start: they are at hand, and may have changed.
            let is_waiting =
                document.state == DocumentState::Waiting && document.kind != DocumentKind::List;
            if is_waiting {
                resumed.waiting.push_back(number);
            }
            resumed.feeds.count += usize::from(document.kind == DocumentKind::Feed);
            if let Some(url) = url_of(&document) {
                resumed.known.insert(&url);
            }
            resumed.push(document);
        }
        resumed
    }

    /// Returns whether the document `number` is our own index, which was not uploaded yet: robots.txt names it already,
    /// and `problem` is that it cannot be found. Where the place is not set, that counts only as long as
    /// nothing was published.
    fn is_to_come(&self, number: usize, problem: SeedProblem) -> bool {
        let Some(place) = &self.own_place else {
            return false;
        };
        let name = self.all[number].name.strip_prefix(&place.url);
        let is_missing = if place.is_configured {
            // Another host may be to come as well; the site itself is only in trouble.
            problem.is_absence() || !place.is_on_site && problem.is_unanswered()
        } else {
            problem == SeedProblem::Gone && self.own.is_empty()
        };
        is_missing && name.is_some_and(|name| place.is_index_name(name))
    }

    fn push(&mut self, document: Document) {
        let number = self.all.len();
        self.numbers.entry(document.name.clone()).or_insert(number);
        self.all.push(document);
    }

    /// The document that is, or is to be, asked for at `url`.
    fn number_of(&self, url: &UrlKey) -> Option<usize> {
        // Most URLs are not documents; a fingerprint decides this without comparing whole URLs.
        let number = || self.numbers.get(url.as_str()).copied();
        self.known.contains(url).then(number).flatten()
    }

    /// Returns whether `url` is that of what was taken for a document, or of the place where one was found.
    pub(super) fn is_document(&self, url: &UrlKey) -> bool {
        self.known.contains(url)
    }

    /// Returns whether a document was found at `url`: it is not a page.
    pub(super) fn is_found(&self, url: &UrlKey) -> bool {
        let is_found = |number: usize| {
            let document = &self.all[number];
            let problem = document.problem;
            match document.state {
                DocumentState::Read | DocumentState::Own => true,
                DocumentState::Failed => !problem.is_some_and(SeedProblem::may_be_page),
                DocumentState::Waiting | DocumentState::Absent => false,
            }
        };
        // Without a number it is where a redirect of one ended.
        self.is_document(url) && self.number_of(url).is_none_or(is_found)
    }

    /// Returns whether the document at `url` is being read.
    pub(super) fn is_reading(&self, url: &UrlKey) -> bool {
        let active = self.reading.active.as_ref();
        active.is_some_and(|active| self.number_of(url) == Some(active.number))
    }

    /// Holds a page until the document at its URL is read. One document is read at a time, so there is one such page.
    pub(super) fn hold(&mut self, page: Lease) {
        self.reading.page = Some(page);
    }

    /// The page that was held.
    pub(super) fn take_held(&mut self) -> Option<Lease> {
        self.reading.page.take()
    }

    /// The way to other hosts of the site.
    pub(super) fn downloader(&self) -> &Downloader {
        &self.downloader
    }

    /// The rules of the site are these now.
    pub(super) fn know(&self, rules: Rules) {
        self.downloader.know(&self.origin, rules);
    }

    /// Takes note that the page `url` is asked for: a document that waits there is not, until there is an answer.
    pub(super) fn page_begun(&mut self, url: &UrlKey) {
        self.reading.owes_page = false;
        if let Some(number) = self.number_of(url)
            && let Some(place) = self.waiting.iter().position(|waiting| *waiting == number)
        {
            self.waiting.remove(place);
            self.reading.as_pages.push(number);
        }
    }

    /// The request for the page `url` has ended.
    pub(super) fn page_ended(&mut self, url: &UrlKey) {
        let number = self.number_of(url);
        let mut as_pages = self.reading.as_pages.iter();
        if let Some(place) = as_pages.position(|asked| Some(*asked) == number) {
            let number = self.reading.as_pages.swap_remove(place);
            self.waiting.push_front(number);
        }
    }

    /// Returns whether nothing is being read or waits to be.
    pub(super) fn is_idle(&self) -> bool {
        self.reading.active.is_none() && self.waiting.is_empty()
    }

    /// The next batch of the document that is being read. Cancel safe: what is not returned stays in the
    /// channel. Never ends while there is none.
    pub(super) async fn batch(&mut self) -> Batch {
        let batch = match &mut self.reading.active {
            Some(active) => active.batches.recv().await,
            None => None,
        };
        match batch {
            Some(batch) => batch,
            None => std::future::pending().await,
        }
    }

    /// The batches that the reader of a document had handed over before it ended; the channel bounds it.
    pub(super) fn left_batch(&mut self) -> Option<Batch> {
        self.reading.active.as_mut()?.batches.try_recv().ok()
    }

    /// Returns whether the document `number` is after an index with this URL, or is it.
    fn leads_back(&self, number: usize, url: &UrlKey) -> bool {
        let mut next = Some(number);
        while let Some(document) = next.and_then(|number| self.all.get(number)) {
            if document.name == url.as_str() {
                return true;
            }
            next = document.parent;
        }
        false
    }
}

fn url_of(document: &Document) -> Option<UrlKey> {
    match document.kind {
        DocumentKind::Sitemap | DocumentKind::WellKnown | DocumentKind::Feed => {
            UrlKey::from_normalised(&document.name).ok()
        }
        DocumentKind::List => None,
    }
}

impl OwnPlace {
    /// Returns whether a publish may give an index this name.
    fn is_index_name(&self, name: &str) -> bool {
        let digits = name.rsplit_once('-').map(|(_, rest)| rest);
        let digits = digits.and_then(|rest| rest.split('.').next());
        let number = digits.and_then(|digits| digits.parse::<usize>().ok());
        let number = number.and_then(|number| number.checked_sub(1)).unwrap_or(0);
        [0, number]
            .iter()
            .any(|number| name == numbered_name(&self.index_name, *number))
    }
}

/// A new document at `url`, and what names it.
fn named_by(url: &UrlKey, kind: DocumentKind, by: &UrlKey) -> Document {
    let mut document = Document::new(url.as_str(), kind, SEED_DEPTH);
    document.named_by = Some(by.as_str().to_owned());
    document
}

impl Documents {
    /// Finds the documents that robots.txt and the user name, as far as the crawl does not know them; gives what the user
    /// should know at once.
    pub(super) fn begin(
        &mut self,
        robots: &Rules,
        lists: Vec<SeedList>,
        identity: &Identity,
        excludes: Excludes<'_>,
    ) -> Option<Note> {
        if self.discover.list {
            for list in lists {
                self.add_list(list);
            }
        }
        let takes_sitemaps = self.discover.sitemaps;
        takes_sitemaps
            .then(|| self.add_sitemaps(robots, identity, excludes))
            .flatten()
    }

    fn add_list(&mut self, list: SeedList) {
        let is_it = |document: &Document| {
            document.kind == DocumentKind::List && document.name == list.name()
        };
        let known = self.all.iter().position(is_it);
        let number = known.or_else(|| {
            self.add_document(Document::new(list.name(), DocumentKind::List, SEED_DEPTH))
        });
        if let Some(number) = number {
            if known.is_some() {
                self.waiting.push_back(number);
            }
            self.reading.lists.push((number, list));
        }
    }

    fn add_sitemaps(
        &mut self,
        robots: &Rules,
        identity: &Identity,
        excludes: Excludes<'_>,
    ) -> Option<Note> {
        let file = identity
            .parse(&format!("{}/robots.txt", self.origin))
            .ok()?;
        let lines = robots.sitemaps();
        let before = self.all.len();
        for line in lines.iter().take(MAX_ROBOTS_SITEMAPS) {
            let is_relative = identity.parse(line).is_err();
            match identity.resolve(&file.to_url(), line, encoding_rs::UTF_8) {
                Ok(url) => {
                    let mut document = named_by(&url, DocumentKind::Sitemap, &file);
                    if is_relative {
                        document = document.with_problem(SeedProblem::RelativeUrl, line);
                    }
                    if excludes(&url) {
                        self.excluded.insert(&url);
                    } else {
                        self.add_url(&url, document);
                    }
                }
                Err(error) if !self.numbers.contains_key(line) => {
                    let mut document = named_by(&file, DocumentKind::Sitemap, &file);
                    document.name.clone_from(line);
                    document.state = DocumentState::Failed;
                    self.add_document(
                        document.with_problem(SeedProblem::BadUrl, &error.to_string()),
                    );
                }
                Err(_) => {}
            }
        }
        if lines.is_empty()
            && let Ok(url) = identity.parse(&format!("{}/sitemap.xml", self.origin))
            && !excludes(&url)
        {
            self.add_url(
                &url,
                Document::new(url.as_str(), DocumentKind::WellKnown, SEED_DEPTH),
            );
        }
        let left_out = lines.len() > MAX_ROBOTS_SITEMAPS && self.all.len() > before;
        left_out.then(|| {
            let note = Note::robots_sitemaps_left_out(&lines.len(), &MAX_ROBOTS_SITEMAPS);
            note.counting(lines.len() as u64)
        })
    }

    /// The start URL is not a page, and may be a sitemap, a feed or a list: it is read for what it names, as who gave it
    /// expects.
    pub(super) fn begin_with(&mut self, url: &UrlKey, found: Box<DownloadedDocument>) {
        let document = Document::new(url.as_str(), DocumentKind::Sitemap, SEED_DEPTH);
        self.add_url(url, document);
        self.hand_over_body(url, found);
    }

    /// Adds a document that the crawl does not know yet.
    fn add_url(&mut self, url: &UrlKey, document: Document) {
        if !self.known.contains(url) && self.add_document(document).is_some() {
            self.known.insert(url);
        }
    }

    /// Adds a document to the crawl and to the next commit; `None` when there are too many.
    fn add_document(&mut self, document: Document) -> Option<usize> {
        let number = self.all.len();
        if number >= MAX_DOCUMENTS {
            return None;
        }
        if document.state == DocumentState::Waiting {
            self.waiting.push_back(number);
        }
        let is_over = document.state == DocumentState::Failed;
        self.push(document);
        self.put(number);
        if is_over {
            self.warn_of(number);
        }
        Some(number)
    }

    /// Adds the document `number` as it is now to the next commit.
    fn put(&mut self, number: usize) {
        let count = self.all.len();
        seeds::put(&mut self.next, number, &self.all[number], count);
    }

    /// The sentences since the last call on documents with something wrong; the summary counts and names them too.
    pub(super) fn take_sentences(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sentences.to_show)
    }

    /// The changes since the last call that are to be stored.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.next)
    }

    /// The document that is to be read now, if none is being read.
    pub(super) fn next(&mut self, page_waits: bool) -> Option<usize> {
        let is_page_first = self.reading.owes_page && page_waits;
        if self.reading.active.is_some() || is_page_first {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Lets the document `number` wait, before all others.
    pub(super) fn wait_again(&mut self, number: usize) {
        self.waiting.push_front(number);
    }

    /// The work on the document `number`: a task is to do it.
    pub(super) fn start(
        &mut self,
        number: usize,
        identity: &Arc<Identity>,
        shutdown: &Shutdown,
    ) -> Option<DocumentWork> {
        let (sender, batches) = mpsc::channel(BATCHES_WAITING);
        let document = &mut self.all[number];
        document.outside = None;
        let (url, lastmod) = (url_of(document), document.lastmod.clone());
        let lists = &mut self.reading.lists;
        let list = lists.iter().position(|(of, _)| *of == number);
        let list = list.map(|position| lists.swap_remove(position).1);
        let identity = Arc::clone(identity);
        let work: DocumentWork = match (list, url) {
            (Some(list), _) => Box::pin(read_list(list, identity, sender)),
            (None, Some(url)) => {
                let fetch = DocumentFetch {
                    url,
                    at_hand: self.reading.bodies.remove(&number),
                    lastmod,
                    downloader: self.downloader.clone(),
                    own: Arc::clone(&self.own),
                    identity,
                    sender,
                    shutdown: shutdown.clone(),
                };
                Box::pin(fetch.run())
            }
            (None, None) => {
                // Nothing can lead to it as to a page.
                self.fail(number, SeedProblem::BadUrl, "");
                return None;
            }
        };
        self.reading.active = Some(Active { number, batches });
        Some(work)
    }

    /// The URL that has to be requested to read the document `number`.
    pub(super) fn url_to_request(&self, number: usize) -> Option<UrlKey> {
        let is_at_hand = self.reading.bodies.contains_key(&number);
        url_of(&self.all[number]).filter(|_| !is_at_hand)
    }

    /// Returns whether the document `number` is one too many to read.
    pub(super) fn is_beyond(&self, number: usize) -> bool {
        self.bytes_read >= MAX_SESSION_BYTES && self.all[number].kind != DocumentKind::List
    }

    /// Fails the document `number`, which is one too many to read.
    pub(super) fn leave_unread(&mut self, number: usize) {
        let most = MAX_SESSION_BYTES >> 20;
        let detail = format!("a session reads {most} MiB of sitemaps and feeds");
        self.reading.bodies.remove(&number);
        self.fail(number, SeedProblem::TooMany, &detail);
    }

    /// Fails the document `number` without a request, because of `detail`.
    pub(super) fn give_up(&mut self, number: usize, detail: &str) {
        self.fail(number, SeedProblem::ServerError, detail);
    }

    /// The document that is being read, as the source of names; a batch has whether it is a feed.
    pub(super) fn source(&self, is_feed: bool) -> Option<NamingDocument> {
        let number = self.reading.active.as_ref()?.number;
        let document = &self.all[number];
        Some(NamingDocument {
            number,
            via: document.kind.via(is_feed),
            depth: document.depth,
            url: url_of(document),
        })
    }

    /// Takes note of a document that the index `number` names.
    pub(super) fn add_child(
        &mut self,
        number: usize,
        child: &IndexedDocument,
        excludes: Excludes<'_>,
    ) {
        let IndexedDocument { url, entry } = child;
        let index = &self.all[number];
        let (level, depth) = (index.level + 1, index.depth);
        // Others do not know when a file of the site changed.
        let is_own_index = url_of(index).is_some_and(|index| index.is_on(&self.origin));
        if self.leads_back(number, url) {
            self.note_trouble(number, SeedProblem::Loop, url.as_str());
        } else if self.known.contains(url) {
            // Named twice: once is enough.
        } else if excludes(url) {
            self.excluded.insert(url);
        } else if level > MAX_INDEX_DEPTH {
            self.note_trouble(number, SeedProblem::TooDeep, url.as_str());
        } else {
            let mut document = Document::new(url.as_str(), DocumentKind::Sitemap, depth);
            (document.level, document.parent) = (level, Some(number));
            if is_own_index && let Some(lastmod) = &entry.lastmod {
                document.lastmod = Some(lastmod.as_str().to_owned());
            }
            if self.add_document(document).is_some() {
                self.known.insert(url);
            } else {
                let detail =
                    format!("not read from {url} on: a session reads {MAX_DOCUMENTS} documents");
                self.note_trouble(number, SeedProblem::TooMany, &detail);
            }
        }
    }
}
