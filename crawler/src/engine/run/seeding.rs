//! Sitemaps, feeds and lists while the run goes on: one document after the other is fetched and read
//! beside the pages, its URLs are judged like any other, and what became of it goes into the same
//! commit as the last of them. So a run that is killed reads again what it had not finished, no more.
//!
//! ```text
//! waiting document -> task: download, read where blocking is allowed -> batches (bounded) -> the loop
//!                                                                     -> its end          -> the loop
//! ```

mod errand;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use sitemap_core::partition::index_name;
use tokio::{sync::mpsc, task::Id};

pub(super) use self::errand::SeedEnd;
use self::errand::{Errand, Keep, hand_over};

use super::{Done, Run};
use crate::{
    config::DiscoverConfig,
    engine::{
        Ending,
        download::{self, DownloadError, Downloader, MAX_DOCUMENT_BYTES},
    },
    frontier::Seen,
    page::{BodyEnd, Reason, Via},
    politeness::Closed,
    robots::Rules,
    seeds::{
        self, Batch, Document, DocumentKind, DocumentState, IndexedDocument, KeptDocuments,
        MAX_DOCUMENTS, MAX_FEEDS, MAX_INDEX_DEPTH, MAX_KEPT_BYTES, MAX_ROBOTS_SITEMAPS, OwnFiles,
        Reading, SeedList, SeedProblem,
    },
    store::{KeptDocument, QueuedUrl},
    url_key::{Identity, Origin, UrlKey},
};

/// Batches that wait between a reader and the loop.
const BATCHES_WAITING: usize = 2;

/// Documents with something wrong that are told of one by one while the run goes on.
const MAX_WARNINGS: usize = 20;

/// Depth of the URLs in sitemaps and lists: as if the start page linked to them.
const SEED_DEPTH: u32 = 1;

/// The documents of a run.
pub(super) struct Seeding {
    discover: DiscoverConfig,
    downloader: Downloader,
    own: Arc<OwnFiles>,
    kept: KeptDocuments,
    documents: Vec<Document>,
    /// Numbers of those that are to be read.
    waiting: VecDeque<usize>,
    lists: Vec<(usize, SeedList)>,
    /// The documents by their URLs, and the places that redirects of them led to.
    known: Seen,
    /// URLs that no page has led to so far.
    pub(super) orphans: Seen,
    feeds: usize,
    feeds_left_out: u64,
    warnings: usize,
    /// Where the set will be served, when somebody said so.
    own_place: Option<String>,
    /// Feeds that were asked for as pages, by the numbers of their documents; at most [`MAX_FEEDS`].
    bodies: HashMap<usize, Box<download::Document>>,
    /// The documents that a page is known to link to.
    linked: Seen,
    active: Option<Active>,
    loading: Option<Loading>,
    /// A document was read and no page begun since: the next turn is that of a page, if one waits. Else an
    /// index of thousands would keep the pages waiting, and `max_pages` away.
    pub(super) owes_page: bool,
}

/// The document that is being read.
struct Active {
    number: usize,
    task: Id,
    batches: mpsc::Receiver<Batch>,
}

/// The document whose copy the store is to bring.
struct Loading {
    number: usize,
    url: UrlKey,
    /// Whether the store is on its way.
    is_asked: bool,
}

impl Seeding {
    /// Takes up the documents that the run knows.
    pub(super) fn new(
        discover: DiscoverConfig,
        downloader: Downloader,
        documents: Vec<Document>,
        own: OwnFiles,
        kept: KeptDocuments,
        orphans: Seen,
    ) -> Self {
        let mut seeding = Self {
            discover,
            downloader,
            own: Arc::new(own),
            kept,
            documents: Vec::new(),
            waiting: VecDeque::new(),
            lists: Vec::new(),
            known: Seen::default(),
            orphans,
            feeds: 0,
            feeds_left_out: 0,
            warnings: 0,
            own_place: None,
            bodies: HashMap::new(),
            linked: Seen::default(),
            active: None,
            loading: None,
            owes_page: false,
        };
        for document in documents {
            let number = seeding.documents.len();
            // Lists are read again at every start: they are at hand, and may have changed.
            let is_waiting =
                document.state == DocumentState::Waiting && document.kind != DocumentKind::List;
            if is_waiting {
                seeding.waiting.push_back(number);
            }
            seeding.feeds += usize::from(document.kind == DocumentKind::Feed);
            if let Some(url) = url_of(&document) {
                seeding.known.insert(&url);
                if document.linked_from.is_some() {
                    seeding.linked.insert(&url);
                }
            }
            seeding.documents.push(document);
        }
        seeding
    }

    /// The same; the set will be served at this URL of a directory.
    pub(super) fn publishing_at(self, public_url: Option<&str>) -> Self {
        let place = public_url.and_then(|url| Identity::default().verbatim().parse(url).ok());
        Self {
            own_place: place.map(|url| url.as_str().to_owned()),
            ..self
        }
    }

    /// Whether the document `number` stands where our own index will be.
    fn is_own_index(&self, number: usize) -> bool {
        let name = &self.documents[number].name;
        let place = self.own_place.as_deref();
        place
            .and_then(|place| name.strip_prefix(place))
            .is_some_and(is_index_name)
    }

    /// Whether `url` is that of a document, or of the place where one was found.
    pub(super) fn is_document(&self, url: &UrlKey) -> bool {
        self.known.contains(url)
    }

    /// The rules of `origin` are these now.
    pub(super) fn know(&self, origin: &Origin, rules: Rules) {
        self.downloader.know(origin, rules);
    }

    /// Whether nothing is being read or waits to be.
    pub(super) fn is_idle(&self) -> bool {
        self.active.is_none() && self.loading.is_none() && self.waiting.is_empty()
    }

    /// Whether the task `id` works on a document.
    pub(super) fn is_task(&self, id: Id) -> bool {
        self.active.as_ref().is_some_and(|active| active.task == id)
    }

    /// The next batch of the document that is being read. Cancel safe: what is not returned stays in the
    /// channel. Never ends while there is none.
    pub(super) async fn batch(&mut self) -> Batch {
        let batch = match &mut self.active {
            Some(active) => active.batches.recv().await,
            None => None,
        };
        match batch {
            Some(batch) => batch,
            None => std::future::pending().await,
        }
    }

    /// Whether the document `number` is behind an index with this URL, or is it.
    fn leads_back(&self, number: usize, url: &UrlKey) -> bool {
        let mut next = Some(number);
        while let Some(document) = next.and_then(|number| self.documents.get(number)) {
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

/// Whether a publish may give an index this name.
fn is_index_name(name: &str) -> bool {
    let number = name
        .strip_prefix("sitemap-")
        .and_then(|rest| rest.strip_suffix(".xml"))
        .and_then(|number| number.parse::<usize>().ok());
    let number = number.and_then(|number| number.checked_sub(1)).unwrap_or(0);
    name == index_name(number)
}

/// A new document at `url`, and what names it.
fn named_by(url: &UrlKey, kind: DocumentKind, by: &UrlKey) -> Document {
    let mut document = Document::new(url.as_str(), kind, SEED_DEPTH);
    document.named_by = Some(by.as_str().to_owned());
    document
}

impl Run<'_> {
    /// Finds the documents that robots.txt and the user name, as far as the run does not know them.
    pub(in crate::engine) fn begin_seeding(&mut self, robots: &Rules, lists: Vec<SeedList>) {
        if self.seeding.discover.list {
            for list in lists {
                self.add_list(list);
            }
        }
        if self.seeding.discover.sitemaps {
            self.add_sitemaps(robots);
        }
    }

    fn add_list(&mut self, list: SeedList) {
        let is_it = |document: &Document| {
            document.kind == DocumentKind::List && document.name == list.name()
        };
        let known = self.seeding.documents.iter().position(is_it);
        let number = known.or_else(|| {
            self.add_document(Document::new(list.name(), DocumentKind::List, SEED_DEPTH))
        });
        if let Some(number) = number {
            if known.is_some() {
                self.seeding.waiting.push_back(number);
            }
            self.seeding.lists.push((number, list));
        }
    }

    fn add_sitemaps(&mut self, robots: &Rules) {
        let identity = self.door.identity.verbatim();
        let Ok(file) = identity.parse(&format!("{}/robots.txt", self.site.origin)) else {
            return;
        };
        let lines = robots.sitemaps();
        let before = self.seeding.documents.len();
        for line in lines.iter().take(MAX_ROBOTS_SITEMAPS) {
            let is_relative = identity.parse(line).is_err();
            match identity.resolve(&file.to_url(), line, encoding_rs::UTF_8) {
                Ok(url) => {
                    let mut document = named_by(&url, DocumentKind::Sitemap, &file);
                    if is_relative {
                        document = document.with_problem(SeedProblem::RelativeUrl, line);
                    }
                    self.add_url(&url, document);
                }
                Err(error) if !self.knows_name(line) => {
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
        if lines.len() > MAX_ROBOTS_SITEMAPS && self.seeding.documents.len() > before {
            self.say(format!(
                "robots.txt names {} sitemaps; the first {MAX_ROBOTS_SITEMAPS} are read",
                lines.len()
            ));
        }
        if lines.is_empty()
            && let Ok(url) = identity.parse(&format!("{}/sitemap.xml", self.site.origin))
        {
            self.add_url(
                &url,
                Document::new(url.as_str(), DocumentKind::WellKnown, SEED_DEPTH),
            );
        }
    }

    fn knows_name(&self, name: &str) -> bool {
        self.seeding
            .documents
            .iter()
            .any(|document| document.name == name)
    }

    /// Takes note of a feed that a page names; `depth` is that of the page.
    pub(super) fn offer_feed(&mut self, url: &UrlKey, page: &UrlKey, depth: u32) {
        if !self.seeding.discover.feeds
            || !url.is_on(&self.site.origin)
            || self.seeding.known.contains(url)
        {
            return;
        }
        // It was asked for, or will be, as the page that something links to: one request is enough to find
        // out that it is a feed (`adopt_feed`).
        if self.seen.contains(url)
            && self.judge.before_fetch(url, depth + 1) == Some(Reason::Queued)
        {
            return;
        }
        if self.seeding.feeds >= MAX_FEEDS {
            self.seeding.known.insert(url);
            self.seeding.feeds_left_out += 1;
            return;
        }
        self.seeding.feeds += 1;
        let mut document = named_by(url, DocumentKind::Feed, page);
        document.depth = depth + 1;
        self.add_url(url, document);
    }

    /// Whether the answer to the request for the page `url` is wanted as a feed.
    pub(super) fn wants_feed(&self, url: &UrlKey) -> bool {
        self.seeding.discover.feeds
            && url.is_on(&self.site.origin)
            && (self.seeding.feeds < MAX_FEEDS || self.seeding.known.contains(url))
    }

    /// A feed was asked for as the page that something links to: it is a document of the run, and what
    /// arrived is read when its turn comes. `depth` is that of the page.
    pub(super) fn adopt_feed(&mut self, feed: download::Document, url: &UrlKey, depth: u32) {
        if self.seeding.orphans.remove(url) {
            // Only known URLs are orphans.
            self.pending.linked.push(url.clone());
        }
        if self.seeding.known.contains(url) {
            return;
        }
        self.seeding.feeds += 1;
        let number = self.seeding.documents.len();
        let document = Document::new(url.as_str(), DocumentKind::Feed, depth);
        self.add_url(url, document);
        if self.seeding.documents.len() > number && feed.end == BodyEnd::Complete {
            self.seeding.bodies.insert(number, Box::new(feed));
        }
    }

    /// A page links to a document, at `depth`: that is no page, unless the document turns out to be none.
    pub(super) fn link_document(&mut self, url: &UrlKey, page: &UrlKey, depth: u32) {
        if !self.seeding.linked.insert(url) {
            return;
        }
        let name = url.as_str();
        let count = self.seeding.documents.len();
        let mut documents = self.seeding.documents.iter();
        let Some(number) = documents.position(|document| document.name == name) else {
            // A document was found there behind a redirect.
            return;
        };
        let document = &mut self.seeding.documents[number];
        document.linked_from = Some((page.as_str().to_owned(), depth));
        seeds::put(&mut self.pending, number, document, count);
        if document.problem.is_some_and(SeedProblem::denies_document)
            && document.state != DocumentState::Waiting
        {
            self.hand_to_pages(number);
        }
    }

    /// What was taken for a document, and is none, is a page like any other, if one links to it.
    fn hand_to_pages(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let Some((page, depth)) = document.linked_from.clone() else {
            return;
        };
        if let (Some(url), Ok(page)) = (url_of(document), UrlKey::from_normalised(&page)) {
            self.discover_page(&url, Via::Link, &page, depth, 0);
        }
    }

    /// Adds a document that the run does not know yet.
    fn add_url(&mut self, url: &UrlKey, document: Document) {
        if !self.seeding.known.contains(url) && self.add_document(document).is_some() {
            self.seeding.known.insert(url);
        }
    }

    /// Adds a document to the run and to the next commit; `None` when there are too many.
    fn add_document(&mut self, document: Document) -> Option<usize> {
        let number = self.seeding.documents.len();
        if number >= MAX_DOCUMENTS {
            return None;
        }
        if document.state == DocumentState::Waiting {
            self.seeding.waiting.push_back(number);
        }
        let is_over = document.state == DocumentState::Failed;
        seeds::put(&mut self.pending, number, &document, number + 1);
        self.seeding.documents.push(document);
        if is_over {
            self.warn_of(number);
        }
        Some(number)
    }

    /// Starts work on the next document when none is being read.
    pub(super) fn dispatch_seed(&mut self) {
        let is_busy = self.seeding.active.is_some() || self.seeding.loading.is_some();
        if is_busy || self.ending.is_some() || self.pending_copies() >= MAX_KEPT_BYTES {
            return;
        }
        if self.seeding.owes_page && self.page_waits {
            return;
        }
        let Some(number) = self.seeding.waiting.pop_front() else {
            return;
        };
        let document = &self.seeding.documents[number];
        match url_of(document).filter(|_| document.is_kept) {
            // The run may have been resumed after a long time.
            Some(url) if self.seeding.kept.is_current(&url, self.door.clock.now()) => {
                self.seeding.loading = Some(Loading {
                    number,
                    url,
                    is_asked: false,
                });
            }
            Some(_) | None => self.start_seed(number, None),
        }
    }

    /// Bytes of the copies that wait to be stored.
    fn pending_copies(&self) -> usize {
        let copies = self.pending.kept.iter();
        copies
            .filter_map(|(_, copy)| copy.as_ref())
            .map(|copy| copy.body.len())
            .sum()
    }

    /// Whether a copy is wanted from the store that it was not asked for.
    pub(super) fn wants_kept(&self) -> bool {
        let is_new = |loading: &Loading| !loading.is_asked;
        self.ending.is_none() && self.seeding.loading.as_ref().is_some_and(is_new)
    }

    /// The document whose copy is wanted from the store, which is asked for it now.
    pub(super) fn ask_for_kept(&mut self) -> Option<UrlKey> {
        if !self.wants_kept() {
            return None;
        }
        let loading = self.seeding.loading.as_mut()?;
        loading.is_asked = true;
        Some(loading.url.clone())
    }

    /// The store brought the copy of the document at `url`, or has none.
    pub(super) fn take_kept(&mut self, url: &UrlKey, copy: Option<KeptDocument>) {
        let Some(loading) = self.seeding.loading.take_if(|loading| loading.url == *url) else {
            return;
        };
        if self.ending.is_some() {
            self.seeding.waiting.push_front(loading.number);
        } else {
            self.start_seed(loading.number, copy);
        }
    }

    /// Starts work on the document `number`, of which there may be a copy.
    fn start_seed(&mut self, number: usize, copy: Option<KeptDocument>) {
        let (sender, batches) = mpsc::channel(BATCHES_WAITING);
        let identity = Arc::clone(&self.door.identity);
        let list = self.seeding.lists.iter().position(|(of, _)| *of == number);
        let list = list.map(|position| self.seeding.lists.swap_remove(position).1);
        let url = url_of(&self.seeding.documents[number]);
        let task = match (list, url) {
            (Some(list), _) => self.tasks.spawn_blocking(move || {
                let reading = list.read(&identity, &mut |batch| hand_over(&sender, batch));
                Done::Seed(Box::new(SeedEnd::Read {
                    reading,
                    end: BodyEnd::Complete,
                    url: None,
                    wire_bytes: 0,
                    keep: Keep::Nothing,
                }))
            }),
            (None, Some(url)) => {
                let errand = Errand {
                    url,
                    at_hand: self.seeding.bodies.remove(&number),
                    copy,
                    lastmod: self.seeding.documents[number].lastmod.clone(),
                    now: self.door.clock.now(),
                    downloader: self.seeding.downloader.clone(),
                    own: Arc::clone(&self.seeding.own),
                    identity,
                    sender,
                    shutdown: self.shutdown.clone(),
                };
                self.tasks
                    .spawn(async move { Done::Seed(Box::new(errand.run().await)) })
            }
            (None, None) => {
                self.fail(number, SeedProblem::BadUrl, "");
                return;
            }
        };
        self.seeding.active = Some(Active {
            number,
            task: task.id(),
            batches,
        });
    }

    /// Judges the entries of the document that is being read.
    pub(super) fn take_batch(&mut self, batch: Batch) {
        let Some(number) = self.seeding.active.as_ref().map(|active| active.number) else {
            return;
        };
        let document = &self.seeding.documents[number];
        let (via, depth) = (document.kind.via(batch.is_feed), document.depth);
        let found_on = url_of(document);
        for key in batch.pages {
            if self.seen.contains(&key) {
                continue;
            }
            if let Some(found_on) = found_on.as_ref().filter(|_| self.seeding.is_document(&key)) {
                self.link_document(&key, found_on, depth);
                continue;
            }
            let Some(reason) = self.judge.before_fetch(&key, depth) else {
                self.links_out_of_scope += 1;
                continue;
            };
            self.seeding.orphans.insert(&key);
            let sequence = self.note(&key, reason, depth, 0, via, found_on.as_ref());
            if reason == Reason::Queued {
                self.frontier.offer(QueuedUrl {
                    sequence,
                    key,
                    depth,
                    hops: 0,
                    earlier: None,
                });
            }
        }
        if via == Via::Sitemap {
            self.pending.dated.extend(batch.dates);
        }
        for child in batch.documents {
            self.add_child(number, &child);
        }
    }

    /// A document that the index `number` names.
    fn add_child(&mut self, number: usize, child: &IndexedDocument) {
        let IndexedDocument { url, entry } = child;
        let index = &self.seeding.documents[number];
        let (level, depth) = (index.level + 1, index.depth);
        // Others do not know when a file of the site changed.
        let is_own_index = url_of(index).is_some_and(|index| index.is_on(&self.site.origin));
        if self.seeding.leads_back(number, url) {
            self.note_trouble(number, SeedProblem::Loop, url.as_str());
        } else if self.seeding.known.contains(url) {
            // Named twice: once is enough.
        } else if level > MAX_INDEX_DEPTH {
            self.note_trouble(number, SeedProblem::TooDeep, url.as_str());
        } else {
            let mut document = Document::new(url.as_str(), DocumentKind::Sitemap, depth);
            (document.level, document.parent) = (level, Some(number));
            if is_own_index && let Some(lastmod) = &entry.lastmod {
                let now = self.door.clock.now();
                document.lastmod = Some(lastmod.as_str().to_owned());
                document.is_kept = self.seeding.kept.serves(url, entry, now);
            }
            if self.add_document(document).is_some() {
                self.seeding.known.insert(url);
            } else {
                let detail =
                    format!("not read from {url} on: a run reads {MAX_DOCUMENTS} documents");
                self.note_trouble(number, SeedProblem::TooMany, &detail);
            }
        }
    }

    /// Notes the first thing that is wrong with a document.
    fn note_trouble(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.seeding.documents[number];
        if document.problem.is_none() {
            *document = document.clone().with_problem(problem, detail);
        }
    }

    /// The work on the document that is being read has ended.
    pub(super) fn take_seed(&mut self, end: SeedEnd) {
        let Some(mut active) = self.seeding.active.take() else {
            return;
        };
        let number = active.number;
        self.seeding.owes_page = true;
        // What the reader had handed over before it ended; the channel bounds it.
        while let Ok(batch) = active.batches.try_recv() {
            self.seeding.active = Some(active);
            self.take_batch(batch);
            let Some(same) = self.seeding.active.take() else {
                return;
            };
            active = same;
        }
        match end {
            SeedEnd::Read {
                reading,
                end,
                url,
                wire_bytes,
                keep,
            } => {
                self.bytes_in += wire_bytes;
                let is_document = !reading
                    .problem
                    .as_ref()
                    .is_some_and(|(problem, _)| problem.denies_document());
                if let Some(url) = url.filter(|_| is_document) {
                    self.seeding.known.insert(&url);
                }
                self.finish_seed(number, reading, &end, keep);
            }
            SeedEnd::Own { wire_bytes } => {
                self.bytes_in += wire_bytes;
                self.settle_seed(number, DocumentState::Own);
            }
            SeedEnd::Status { status, wire_bytes } => {
                self.bytes_in += wire_bytes;
                let problem = match status {
                    404 | 410 => SeedProblem::Gone,
                    429 | 500..=599 => SeedProblem::ServerError,
                    _ => SeedProblem::BadStatus,
                };
                self.fail(number, problem, &format!("status {status}"));
            }
            SeedEnd::Error(error) => self.take_seed_error(number, &error),
            SeedEnd::Internal(error) => self.fail(number, SeedProblem::Io, &error),
        }
    }

    fn finish_seed(&mut self, number: usize, reading: Reading, end: &BodyEnd, keep: Keep) {
        let document = &mut self.seeding.documents[number];
        (document.entries, document.findings) = (reading.entries, reading.findings);
        document.troubles = reading.troubles;
        document.is_kept = matches!(keep, Keep::Same);
        let cut = match end {
            BodyEnd::Complete | BodyEnd::Skipped => None,
            BodyEnd::TooLarge => Some((
                SeedProblem::TooLarge,
                format!("expected at most {MAX_DOCUMENT_BYTES} bytes"),
            )),
            BodyEnd::CutShort => Some((SeedProblem::CutShort, String::new())),
            BodyEnd::Undecodable(coding) => Some((SeedProblem::Undecodable, coding.clone())),
        };
        if let Some((problem, detail)) = cut.or(reading.problem) {
            self.fail(number, problem, &detail);
        } else {
            match keep {
                Keep::Same => {}
                Keep::Copy(copy) => self.keep(number, copy),
                Keep::Nothing => self.drop_copy(number),
            }
            self.settle_seed(number, DocumentState::Read);
        }
        let document = &self.seeding.documents[number];
        for trouble in document.troubles.iter() {
            let (name, count, example) = (&document.name, trouble.count, &trouble.example);
            tracing::info!(target: "engine", "{name}: {count} times {}, the first: {example}", trouble.rule);
        }
    }

    fn take_seed_error(&mut self, number: usize, error: &DownloadError) {
        let problem = match error {
            DownloadError::Disallowed(_) => SeedProblem::RobotsDisallowed,
            DownloadError::RobotsUnreachable { .. } => SeedProblem::RobotsUnreachable,
            DownloadError::Forbidden { .. } => SeedProblem::Forbidden,
            DownloadError::TooManyHosts { .. } => SeedProblem::TooMany,
            DownloadError::Redirects { .. } => SeedProblem::BadRedirect,
            DownloadError::NoAnswer { .. } => SeedProblem::NetworkError,
            DownloadError::Closed { host, closed } if *host == self.host => {
                // The site itself: nothing more of it in this run, and the document stays waiting.
                self.seeding.waiting.push_front(number);
                self.ending.get_or_insert(match closed {
                    Closed::RetryAfter(_) => Ending::Deferred,
                    Closed::Down => Ending::SiteDown,
                });
                return;
            }
            DownloadError::Closed { .. } => SeedProblem::HostClosed,
            DownloadError::Stopped => {
                self.seeding.waiting.push_front(number);
                return;
            }
            DownloadError::Spool(_) => SeedProblem::Io,
        };
        let detail = match error {
            DownloadError::Spool(cause) => format!("{error}: {cause}"),
            _ => error.to_string(),
        };
        self.fail(number, problem, &detail);
    }

    fn fail(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.seeding.documents[number];
        *document = document.clone().with_problem(problem, detail);
        // Nobody said that there is one; a page that stands for everything that is missing is none.
        let is_unasked = document.kind == DocumentKind::WellKnown && problem.is_absence();
        let is_to_come =
            self.seeding.is_own_index(number) && (problem.is_absence() || problem.is_unanswered());
        let state = if is_unasked || is_to_come {
            DocumentState::Absent
        } else {
            DocumentState::Failed
        };
        self.settle_seed(number, state);
        if problem.denies_document() {
            self.hand_to_pages(number);
        }
    }

    /// Keeps a copy of a document that was read, if there is room for it.
    fn keep(&mut self, number: usize, copy: KeptDocument) {
        let Some(url) = url_of(&self.seeding.documents[number]) else {
            return;
        };
        if self.seeding.kept.add(&url, &copy) {
            self.pending.kept.push((url, Some(copy)));
        } else {
            self.drop_copy(number);
        }
    }

    /// Drops the copy of a document that is not what it was.
    fn drop_copy(&mut self, number: usize) {
        if let Some(url) = url_of(&self.seeding.documents[number])
            && self.seeding.kept.remove(&url)
        {
            self.pending.kept.push((url, None));
        }
    }

    /// Drops the copies of documents that the site does not have any more; to be called when everything is read
    /// that names documents.
    fn retire_copies(&mut self) {
        let documents = &self.seeding.documents;
        let is_missing =
            |document: &Document| document.problem.is_some_and(SeedProblem::is_passing);
        let all_told = !documents.iter().any(is_missing);
        let (known, now) = (&self.seeding.known, self.door.clock.now());
        let retired = self
            .seeding
            .kept
            .retire(now, all_told, |url| known.contains(url));
        let dropped = retired.into_iter().map(|url| (url, None));
        self.pending.kept.extend(dropped);
    }

    /// Nothing more will be done with a document in this run.
    fn settle_seed(&mut self, number: usize, state: DocumentState) {
        if state != DocumentState::Read {
            self.seeding.documents[number].is_kept = false;
            self.drop_copy(number);
        }
        let count = self.seeding.documents.len();
        let document = &mut self.seeding.documents[number];
        document.state = state;
        tracing::debug!(target: "engine", name = %document.name, ?state, entries = document.entries, "document");
        seeds::put(&mut self.pending, number, document, count);
        if state != DocumentState::Absent {
            self.warn_of(number);
        }
        if self.seeding.is_idle() {
            self.retire_copies();
        }
    }

    fn warn_of(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let Some(trouble) = document.trouble() else {
            return;
        };
        self.seeding.warnings += 1;
        if self.seeding.warnings <= MAX_WARNINGS {
            tracing::warn!(target: "engine", "{} {trouble}", document.name);
        }
    }

    /// What is to be said at the end.
    pub(super) fn conclude_seeding(&mut self) {
        let left_out = self.seeding.feeds_left_out;
        if left_out > 0 {
            self.say(format!(
                "the pages name {left_out} more feeds than the {MAX_FEEDS} that a run reads"
            ));
        }
    }

    /// A page leads to `target`: if only documents had named it so far, it is no orphan any more.
    pub(super) fn link_orphan(&mut self, target: &UrlKey, page: &UrlKey) {
        if target != page && self.seeding.orphans.remove(target) {
            self.pending.linked.push(target.clone());
        }
    }
}
