//! Sitemaps, feeds and lists while the run goes on: one document after the other is fetched and read
//! beside the pages, its URLs are judged like any other, and what became of it goes into the same
//! commit as the last of them. So a run that is killed reads again what it had not finished, no more.
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
    sync::Arc,
};

use sitemap_core::partition::index_name;
use tokio::{sync::mpsc, task::Id};
use tracing::Instrument as _;

pub(super) use self::document_fetch::SeedEnd;
use self::document_fetch::{DocumentFetch, Keep, hand_over};

use super::{Event, Run};
use crate::{
    config::DiscoverConfig,
    engine::download::{self, Downloader},
    frontier::Seen,
    notes::Note,
    page::{BodyEnd, Via},
    robots::Rules,
    seeds::{
        Batch, CachedSitemaps, Claim, Document, DocumentKind, DocumentState, IndexedDocument,
        MAX_CACHED_BYTES, MAX_DOCUMENTS, MAX_INDEX_DEPTH, MAX_ROBOTS_SITEMAPS, OwnFiles, SeedList,
        SeedProblem,
    },
    site::Site,
    store::CachedSitemap,
    url_key::{Identity, Origin, UrlKey},
};

/// Batches that wait between a reader and the loop.
const BATCHES_WAITING: usize = 2;

/// Depth of the URLs in sitemaps and lists: as if the start page linked to them.
const SEED_DEPTH: u32 = 1;

/// The documents of a run.
pub(super) struct Seeding {
    discover: DiscoverConfig,
    downloader: Downloader,
    own: Arc<OwnFiles>,
    cached: CachedSitemaps,
    documents: Vec<Document>,
    /// The numbers of the documents by their names; of several with one name the first.
    numbers: HashMap<String, usize>,
    /// Numbers of those that are to be read.
    waiting: VecDeque<usize>,
    lists: Vec<(usize, SeedList)>,
    /// The documents by their URLs, and the places that redirects of them led to.
    known: Seen,
    /// URLs that no page has led to so far.
    pub(super) orphans: Seen,
    feeds: Feeds,
    /// Documents that a rule of the user keeps from being fetched.
    excluded: Seen,
    warnings: usize,
    /// Where the set will be served.
    own_place: Option<OwnPlace>,
    reading: InHand,
}

/// What is being read, and what is at hand for it.
#[derive(Default)]
struct InHand {
    active: Option<Active>,
    loading: Option<Loading>,
    /// Documents that were asked for as pages and wait to be read, by their numbers.
    bodies: HashMap<usize, Box<download::Document>>,
    /// A document was read and no page begun since: the next turn is that of a page, if one waits. Else an
    /// index of thousands would keep the pages waiting, and `max_pages` away.
    owes_page: bool,
}

/// The feeds among the documents.
#[derive(Default)]
struct Feeds {
    count: usize,
    /// Those beyond [`MAX_FEEDS`](crate::seeds::MAX_FEEDS), which are only counted: no documents, so a link to one leads
    /// to a page like any other.
    left_out: Seen,
}

/// The directory that our own index will stand in.
struct OwnPlace {
    url: String,
    /// Somebody said so; else it is the crawled directory.
    is_said: bool,
    /// It is on the crawled site, which is up.
    is_on_site: bool,
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
        cached: CachedSitemaps,
        orphans: Seen,
    ) -> Self {
        let mut seeding = Self {
            discover,
            downloader,
            own: Arc::new(own),
            cached,
            documents: Vec::new(),
            numbers: HashMap::new(),
            waiting: VecDeque::new(),
            lists: Vec::new(),
            known: Seen::default(),
            orphans,
            feeds: Feeds::default(),
            excluded: Seen::default(),
            warnings: 0,
            own_place: None,
            reading: InHand::default(),
        };
        for document in documents {
            let number = seeding.documents.len();
            // Lists are read again at every start: they are at hand, and may have changed.
            let is_waiting =
                document.state == DocumentState::Waiting && document.kind != DocumentKind::List;
            if is_waiting {
                seeding.waiting.push_back(number);
            }
            seeding.feeds.count += usize::from(document.kind == DocumentKind::Feed);
            if let Some(url) = url_of(&document) {
                seeding.known.insert(&url);
            }
            seeding.push(document);
        }
        seeding
    }

    /// Says where the set will be served: at `public_url`, the URL of a directory, or else in that of the site.
    pub(super) fn publishing_at(self, public_url: Option<&str>, site: &Site) -> Self {
        let own = site.written().url();
        let place = Identity::default()
            .verbatim()
            .parse(public_url.unwrap_or(&own));
        let own_place = place.ok().map(|url| OwnPlace {
            is_on_site: url.is_on(&site.origin),
            url: url.as_str().to_owned(),
            is_said: public_url.is_some(),
        });
        Self { own_place, ..self }
    }

    /// Whether the document `number` is our own index, which was not uploaded yet: robots.txt names it already,
    /// and `problem` is that it cannot be found. Where nobody said that it will be, that counts only as long as
    /// nothing was published.
    fn is_to_come(&self, number: usize, problem: SeedProblem) -> bool {
        let Some(place) = &self.own_place else {
            return false;
        };
        let name = self.documents[number].name.strip_prefix(&place.url);
        let is_missing = if place.is_said {
            // Another host may be to come as well; the site itself is only in trouble.
            problem.is_absence() || !place.is_on_site && problem.is_unanswered()
        } else {
            problem == SeedProblem::Gone && self.own.is_empty()
        };
        is_missing && name.is_some_and(is_index_name)
    }

    fn push(&mut self, document: Document) {
        let number = self.documents.len();
        self.numbers.entry(document.name.clone()).or_insert(number);
        self.documents.push(document);
    }

    /// The document that is, or is to be, asked for at `url`.
    fn number_of(&self, url: &UrlKey) -> Option<usize> {
        // Most URLs are no document, which a fingerprint tells without looking at all of it.
        let number = || self.numbers.get(url.as_str()).copied();
        self.known.contains(url).then(number).flatten()
    }

    /// Whether `url` is that of a document, or of the place where one was found.
    pub(super) fn is_document(&self, url: &UrlKey) -> bool {
        self.known.contains(url)
    }

    /// The rules of `origin` are these now.
    pub(super) fn know(&self, origin: &Origin, rules: Rules) {
        self.downloader.know(origin, rules);
    }

    /// Takes note that a page had its turn.
    pub(super) fn page_begun(&mut self) {
        self.reading.owes_page = false;
    }

    /// Whether nothing is being read or waits to be.
    pub(super) fn is_idle(&self) -> bool {
        self.reading.active.is_none() && self.reading.loading.is_none() && self.waiting.is_empty()
    }

    /// Whether the task `id` works on a document.
    pub(super) fn is_task(&self, id: Id) -> bool {
        self.reading
            .active
            .as_ref()
            .is_some_and(|active| active.task == id)
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
        let identity = self.context.door.identity.verbatim();
        let Ok(file) = identity.parse(&format!("{}/robots.txt", self.context.site.origin)) else {
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
                    if self.excludes(&url) {
                        self.seeding.excluded.insert(&url);
                    } else {
                        self.add_url(&url, document);
                    }
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
            let note = Note::robots_sitemaps_left_out(&lines.len(), &MAX_ROBOTS_SITEMAPS);
            self.say(note.counting(lines.len() as u64));
        }
        if lines.is_empty()
            && let Ok(url) = identity.parse(&format!("{}/sitemap.xml", self.context.site.origin))
            && !self.excludes(&url)
        {
            self.add_url(
                &url,
                Document::new(url.as_str(), DocumentKind::WellKnown, SEED_DEPTH),
            );
        }
    }

    fn knows_name(&self, name: &str) -> bool {
        self.seeding.numbers.contains_key(name)
    }

    /// The start URL is no page, and may be a sitemap, a feed or a list: it is read for what it names, as who gave it
    /// expects.
    pub(super) fn begin_with_document(&mut self, url: &UrlKey, found: Box<download::Document>) {
        let document = Document::new(url.as_str(), DocumentKind::Sitemap, SEED_DEPTH);
        self.add_url(url, document);
        self.hand_over_body(url, found);
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
        self.commits.put(number, &document, number + 1);
        self.seeding.push(document);
        if is_over {
            self.warn_of(number);
        }
        Some(number)
    }

    /// Starts work on the next document when none is being read.
    pub(super) fn dispatch_seed(&mut self) {
        let is_busy =
            self.seeding.reading.active.is_some() || self.seeding.reading.loading.is_some();
        if is_busy || self.end.ending.is_some() || self.commits.copied_bytes() >= MAX_CACHED_BYTES {
            return;
        }
        if self.seeding.reading.owes_page && self.requests.page_waits {
            return;
        }
        let Some(number) = self.seeding.waiting.pop_front() else {
            return;
        };
        let document = &self.seeding.documents[number];
        match url_of(document).filter(|_| document.is_kept) {
            // The run may have been resumed after a long time.
            Some(url)
                if self
                    .seeding
                    .cached
                    .is_current(&url, self.context.door.clock.now()) =>
            {
                self.seeding.reading.loading = Some(Loading {
                    number,
                    url,
                    is_asked: false,
                });
            }
            Some(_) | None => self.start_seed(number, None),
        }
    }

    /// Whether a copy is wanted from the store that it was not asked for.
    pub(super) fn wants_cached(&self) -> bool {
        let is_new = |loading: &Loading| !loading.is_asked;
        self.end.ending.is_none() && self.seeding.reading.loading.as_ref().is_some_and(is_new)
    }

    /// The document whose copy is wanted from the store, which is asked for it now.
    pub(super) fn ask_for_cached(&mut self) -> Option<UrlKey> {
        if !self.wants_cached() {
            return None;
        }
        let loading = self.seeding.reading.loading.as_mut()?;
        loading.is_asked = true;
        Some(loading.url.clone())
    }

    /// The store brought the copy of the document at `url`, or has none.
    pub(super) fn take_cached(&mut self, url: &UrlKey, copy: Option<CachedSitemap>) {
        let Some(loading) = self
            .seeding
            .reading
            .loading
            .take_if(|loading| loading.url == *url)
        else {
            return;
        };
        if self.end.ending.is_some() {
            self.seeding.waiting.push_front(loading.number);
        } else {
            self.start_seed(loading.number, copy);
        }
    }

    /// Starts work on the document `number`, of which there may be a copy.
    fn start_seed(&mut self, number: usize, copy: Option<CachedSitemap>) {
        let (sender, batches) = mpsc::channel(BATCHES_WAITING);
        self.seeding.documents[number].outside = None;
        let identity = Arc::clone(&self.context.door.identity);
        let list = self.seeding.lists.iter().position(|(of, _)| *of == number);
        let list = list.map(|position| self.seeding.lists.swap_remove(position).1);
        let url = url_of(&self.seeding.documents[number]);
        let task = match (list, url) {
            (Some(list), _) => self.tasks.spawn_blocking(move || {
                let reading = list.read(&identity, &mut |batch| hand_over(&sender, batch));
                Event::Seed(Box::new(SeedEnd::Read {
                    reading,
                    end: BodyEnd::Complete,
                    url: None,
                    wire_bytes: 0,
                    keep: Keep::Nothing,
                }))
            }),
            (None, Some(url)) => {
                let fetch = DocumentFetch {
                    url,
                    at_hand: self.seeding.reading.bodies.remove(&number),
                    copy,
                    lastmod: self.seeding.documents[number].lastmod.clone(),
                    now: self.context.door.clock.now(),
                    downloader: self.seeding.downloader.clone(),
                    own: Arc::clone(&self.seeding.own),
                    identity,
                    sender,
                    shutdown: self.context.shutdown.clone(),
                };
                let work = async move { Event::Seed(Box::new(fetch.run().await)) };
                self.tasks.spawn(work.in_current_span())
            }
            (None, None) => {
                self.fail(number, SeedProblem::BadUrl, "");
                return;
            }
        };
        self.seeding.reading.active = Some(Active {
            number,
            task: task.id(),
            batches,
        });
    }

    /// Judges the entries of the document that is being read.
    pub(super) fn take_batch(&mut self, batch: Batch) {
        let Some(number) = self
            .seeding
            .reading
            .active
            .as_ref()
            .map(|active| active.number)
        else {
            return;
        };
        let document = &self.seeding.documents[number];
        let (via, depth) = (document.kind.via(batch.is_feed), document.depth);
        let found_on = url_of(document);
        for key in batch.pages {
            if self.known.contains(&key) {
                continue;
            }
            if self.seeding.is_document(&key) {
                let found_on = found_on.as_ref().map(|url| url.as_str().to_owned());
                let claim = Claim {
                    via,
                    found_on,
                    depth,
                    hops: 0,
                    is_linked: false,
                    date: None,
                };
                self.claim_document(&key, claim);
            } else if self.discover_page(&key, via, found_on.as_ref(), depth, 0, false) {
                self.seeding.orphans.insert(&key);
            } else if !self.rules.judge().is_inside(&key) {
                self.count_outside(number, &key);
            }
        }
        if via == Via::Sitemap {
            for (key, date) in batch.dates {
                self.date_page(key, date);
            }
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
        let is_own_index =
            url_of(index).is_some_and(|index| index.is_on(&self.context.site.origin));
        if self.seeding.leads_back(number, url) {
            self.note_trouble(number, SeedProblem::Loop, url.as_str());
        } else if self.seeding.known.contains(url) {
            // Named twice: once is enough.
        } else if self.excludes(url) {
            self.seeding.excluded.insert(url);
        } else if level > MAX_INDEX_DEPTH {
            self.note_trouble(number, SeedProblem::TooDeep, url.as_str());
        } else {
            let mut document = Document::new(url.as_str(), DocumentKind::Sitemap, depth);
            (document.level, document.parent) = (level, Some(number));
            if is_own_index && let Some(lastmod) = &entry.lastmod {
                let now = self.context.door.clock.now();
                document.lastmod = Some(lastmod.as_str().to_owned());
                document.is_kept = self.seeding.cached.serves(url, entry, now);
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
}
