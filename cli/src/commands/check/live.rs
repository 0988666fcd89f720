//! Live sitemaps: from a URL, or from what the robots.txt of a site names, through indexes to all that they
//! list. What is fetched in which order is decided here; every request goes through [`super::network`], what is
//! told of the answers is in [`answers`], and what is right and wrong is decided by the validator.
//!
//! ```text
//! URL -> robots.txt of its origin -> document -> robots.txt of the origins it lists -> check
//!    a page? -> what its robots.txt names          an index? -> its sitemaps, three indexes deep
//! ```

mod answers;
mod pages;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::BufRead,
    sync::{Arc, Mutex},
};

use anyhow::Context as _;
use crawler::{
    config::Config,
    engine::{
        Shutdown,
        download::{Document, DownloadError},
    },
    politeness::{Politeness, SharedPoliteness},
    url_key::{Identity, UrlKey},
};
use sitemap_core::{
    LastMod, Loc,
    read::{Item, Kind, Position, Reader},
    validate::{Child, DocumentId, READING_LIMITS, Unavailable},
};
use tokio::runtime::Handle;

use self::answers::reason;
use super::{
    Check,
    folder::{has_ending, sniff},
    network::{Asker, Network},
    queue::{Pushed, Queue},
    sample::{Sample, Wish},
    watch::{CheckView, Progress, Watching},
};
use crate::{
    args::CheckArgs,
    attend::Attendant,
    commands::{
        crawl::{begin_telling, read_settings_file},
        runtime::{self, Threads},
        seams,
    },
    exit_code::ExitCode,
    human,
    output::Output,
    panicked::Panicked,
    settings::{Environment, Settings},
};

/// How many indexes may lead to a sitemap. The protocol wants one (R40); more are followed to tell what
/// else is wrong.
const MAX_INDEXES: u32 = 3;

/// The most sitemaps of one check, those that wait among them: two full indexes.
const MAX_DOCUMENTS: usize = 100_000;

/// The most origins whose robots.txt is asked for only because a document lists URLs of them: a sitemap may list the URLs of one
/// (R66), so what lists more is broken, and no reason to bother everybody. Those of what is checked have no part in it.
const MAX_ORIGINS: usize = 100;

/// How the paths of tables end.
const TABLE_ENDINGS: [&str; 2] = ["csv", "tsv"];

/// The media types of tables: RFC 4180, and the one that is registered for tabs.
const TABLE_TYPES: [&str; 2] = ["text/csv", "text/tab-separated-values"];

/// Media types that hosts give to tables which they do not know as such.
const FILE_TYPES: [&str; 4] = [
    "",
    "text/plain",
    "application/octet-stream",
    "application/vnd.ms-excel",
];

/// Runs a check that has URLs among its arguments.
///
/// # Errors
/// The settings make no sense, or the program cannot start.
pub(super) fn run(
    args: &CheckArgs,
    starts: Vec<String>,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let wish = Wish::read(args.pages.as_deref())?;
    let settings = Settings::load_check(args, starts, environment, read_settings_file)?;
    begin_telling(&settings, output);
    let clock = seams::clock(environment);
    let now = clock.now();
    runtime::run(Threads::OfCores, async {
        let mut attendant = Attendant::new(output).context("failed to listen to signals")?;
        let shutdown = attendant.stop().shutdown.clone();
        let progress = Progress::default();
        let politeness = Politeness::new(&settings.config.politeness);
        let politeness: SharedPoliteness = Arc::new(Mutex::new(politeness));
        let delay = settings.config.politeness.delay;
        let mut view = CheckView::new(&progress, Arc::clone(&politeness), delay);
        let (args, output, handle) = (args.clone(), output.clone(), Handle::current());
        let work = tokio::task::spawn_blocking(move || {
            let config = &settings.config;
            let state = &settings.state;
            let network =
                Network::new(config, state, (clock, politeness), handle, shutdown.clone())?;
            let mut live = Live::new(network, config, wish, progress, shutdown);
            let mut check = Check::new(&args, &output, now)?;
            let outcome = check.all(&args, Some(&mut live));
            live.network.settle();
            anyhow::Ok(check.finish(outcome?))
        });
        let joined = attendant.during(work, Some(&mut view)).await?;
        let code = joined.map_err(Panicked::from_join)??;
        Ok(match (code, attendant.stop().asked_by()) {
            (ExitCode::Interrupted, Some(signal)) => signal.into(),
            (code, _) => code,
        })
    })
}

/// Somebody asked to stop.
#[derive(Debug)]
pub(super) struct Stopped;

/// What a check of live sitemaps has besides that of files.
pub(super) struct Live {
    network: Network,
    /// Sitemaps are asked for as they are written.
    identity: Identity,
    wish: Wish,
    sample: Sample<Listed>,
    progress: Progress,
    shutdown: Shutdown,
    /// What waits to be checked, and what was.
    queue: Queue<Wanted>,
    /// Fingerprints of pages that were asked for.
    asked: HashSet<u64>,
    /// Origins whose robots.txt cannot be read.
    silent: BTreeSet<String>,
    /// Hosts that get no further request, and what was said about each.
    closed: BTreeSet<String>,
    /// How many origins were asked for their robots.txt only because URLs of them are listed.
    strangers: usize,
    is_origin_left_out: bool,
}

/// A page in a list.
struct Listed {
    document: DocumentId,
    loc: Loc,
    position: Position,
    lastmod: Option<LastMod>,
    asker: Asker,
}

/// A document that is to be checked.
struct Wanted {
    whence: Whence,
    /// Indexes that lead to it.
    indexes: u32,
    /// What it answered, if it was asked already.
    given: Option<Box<Result<Document, DownloadError>>>,
}

/// Who wants a document to be checked.
enum Whence {
    /// The user, who named it.
    Typed(Loc),
    /// A robots.txt.
    Named(Loc),
    /// An index, and where.
    Listed(DocumentId, Child),
}

impl Wanted {
    /// Something that no index lists.
    fn new(whence: Whence) -> Self {
        Self {
            whence,
            indexes: 0,
            given: None,
        }
    }

    fn loc(&self) -> &Loc {
        match &self.whence {
            Whence::Typed(loc) | Whence::Named(loc) => loc,
            Whence::Listed(_, child) => &child.loc,
        }
    }

    /// The index that lists it.
    fn index(&self) -> Option<DocumentId> {
        match &self.whence {
            Whence::Typed(_) | Whence::Named(_) => None,
            Whence::Listed(index, _) => Some(*index),
        }
    }

    /// What the index says of it.
    fn child(&self) -> Option<&Child> {
        match &self.whence {
            Whence::Typed(_) | Whence::Named(_) => None,
            Whence::Listed(_, child) => Some(child),
        }
    }
}

impl Live {
    fn new(
        network: Network,
        config: &Config,
        wish: Wish,
        progress: Progress,
        shutdown: Shutdown,
    ) -> Self {
        let wanted = match wish {
            Wish::Some(wanted) => wanted,
            Wish::All => 0,
        };
        Self {
            network,
            identity: config.identity.clone(),
            wish,
            sample: Sample::new(wanted),
            progress,
            shutdown,
            queue: Queue::new(MAX_DOCUMENTS),
            asked: HashSet::new(),
            silent: BTreeSet::new(),
            closed: BTreeSet::new(),
            strangers: 0,
            is_origin_left_out: false,
        }
    }

    /// Whether somebody asked to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.shutdown.is_stopping()
    }

    fn key_of(&self, loc: &Loc) -> Option<UrlKey> {
        self.identity.parse(loc.as_str()).ok()
    }
}

impl Check<'_> {
    /// Checks what is at a URL, and all that it leads to.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub(super) fn url(
        &mut self,
        typed: &str,
        live: &mut Live,
    ) -> anyhow::Result<Result<(), Stopped>> {
        let start = live.identity.parse(typed).context("a URL of no use")?;
        let asker = live.network.starting_at(&start)?;
        let mut walk = Walk {
            check: self,
            live,
            asker,
        };
        Ok(walk.begin(&start))
    }
}

/// The way from one start URL.
struct Walk<'w, 'c> {
    check: &'w mut Check<'c>,
    live: &'w mut Live,
    asker: Asker,
}

impl Walk<'_, '_> {
    /// Finds out what the start URL is: a sitemap, or a page of a site.
    fn begin(&mut self, start: &UrlKey) -> Result<(), Stopped> {
        // A key is a URL of the same shape.
        let Ok(loc) = Loc::parse(start.as_str()) else {
            return Ok(());
        };
        if start.path_and_query() == "/robots.txt" {
            return self.site(&loc);
        }
        self.learn(&loc)?;
        if has_ending(start.path()) {
            return self.walk([Wanted::new(Whence::Typed(loc))]);
        }
        let is_root = start.path_and_query() == "/";
        let mut answer = self.ask(&loc, start)?;
        let site = match &answer {
            Ok(document) if document.status == 200 || is_root => {
                Loc::parse(document.url.as_str()).ok()
            }
            // What may not be crawled may have sitemaps all the same.
            Err(DownloadError::Disallowed(_)) if is_root => Some(loc.clone()),
            Ok(_) | Err(_) => None,
        };
        let is_sitemap = answer.as_mut().is_ok_and(|document| {
            let is_table = is_called_table(document);
            document.status == 200
                && document.body().is_ok_and(|body| {
                    if is_table {
                        is_sitemap_or_list(body)
                    } else {
                        sniff(body).is_some()
                    }
                })
        });
        match site {
            Some(site) if !is_sitemap => self.site(&site),
            Some(_) | None => self.walk([Wanted {
                given: Some(Box::new(answer)),
                ..Wanted::new(Whence::Typed(loc))
            }]),
        }
    }

    /// Checks what the robots.txt of the site at `page` names.
    fn site(&mut self, page: &Loc) -> Result<(), Stopped> {
        let origin = page.origin();
        let Ok(robots) = Loc::parse(&format!("{origin}/robots.txt")) else {
            return Ok(());
        };
        self.learn(page)?;
        if self.live.silent.contains(origin) {
            // Asked again it answers from memory, with its reason.
            return self.walk([Wanted::new(Whence::Typed(robots))]);
        }
        let named = self.check.named.get(origin).cloned().unwrap_or_default();
        if !named.is_empty() {
            let count = human::count(named.len() as u64, "sitemap");
            self.check.output.say(&format!("{robots} names {count}"));
            let named = named.into_iter().map(Whence::Named);
            return self.walk(named.map(Wanted::new));
        }
        let Ok(usual) = Loc::parse(&format!("{origin}/sitemap.xml")) else {
            return Ok(());
        };
        self.check
            .output
            .say(&format!("{robots} names no sitemap; {usual} is taken"));
        self.walk([Wanted::new(Whence::Typed(usual))])
    }

    /// Checks documents and what they list, indexes before their sitemaps.
    fn walk(&mut self, from: impl IntoIterator<Item = Wanted>) -> Result<(), Stopped> {
        let mut left_out: u64 = 0;
        for wanted in from {
            let loc = wanted.loc().clone();
            if let Pushed::NoRoom(_) = self.live.queue.push(&loc, wanted) {
                left_out += 1;
            }
        }
        if left_out > 0 {
            self.check.worst = self.check.worst.worse(ExitCode::NotCrawled);
            self.check.output.warn(&format!(
                "only {} sitemaps are read in one check, {} more are not",
                human::number(MAX_DOCUMENTS as u64),
                human::number(left_out)
            ));
        }
        while let Some(wanted) = self.live.queue.pop() {
            self.live.progress.figures().queued = self.live.queue.len() as u64;
            self.visit(wanted)?;
            self.live.progress.figures().documents += 1;
        }
        Ok(())
    }

    /// Lets the sitemaps of an index wait for their turn; those that never get one are told once.
    fn follow(&mut self, index: DocumentId, children: Vec<Child>, indexes: u32) {
        let mut first: Option<Wanted> = None;
        let mut left_out: u64 = 0;
        for child in children {
            let loc = child.loc.clone();
            let wanted = Wanted {
                indexes,
                ..Wanted::new(Whence::Listed(index, child))
            };
            if let Pushed::NoRoom(wanted) = self.live.queue.push(&loc, wanted) {
                left_out += 1;
                first.get_or_insert(wanted);
            }
        }
        let Some(first) = first.as_ref().and_then(Wanted::child) else {
            return;
        };
        self.not_followed(index, first, left_out);
    }

    /// Checks one document.
    fn visit(&mut self, mut wanted: Wanted) -> Result<(), Stopped> {
        let Some(url) = self.live.key_of(wanted.loc()) else {
            let why = Unavailable::Because("its URL is none that can be asked for");
            self.unavailable(&wanted, &why, None);
            return Ok(());
        };
        self.learn(wanted.loc())?;
        let answer = match wanted.given.take() {
            Some(answer) => *answer,
            None => self.ask(wanted.loc(), &url)?,
        };
        match answer {
            Ok(document) if document.status == 200 => self.read(&wanted, document),
            Ok(document) => {
                let mut why = format!("status {}", document.status);
                if document.redirects > 0 {
                    why = format!("{why}, behind a redirect to {}", document.url);
                }
                self.unavailable(&wanted, &Unavailable::Because(&why), Some(&document));
                Ok(())
            }
            Err(error) => self.failed(&wanted, &error),
        }
    }

    /// Checks a document that is there.
    fn read(&mut self, wanted: &Wanted, mut document: Document) -> Result<(), Stopped> {
        let mut place = wanted.loc().clone();
        if document.redirects > 0
            && let Ok(found) = Loc::parse(document.url.as_str())
        {
            place = found;
        }
        // What waits has its turn, so that the order in which the two are listed does not matter.
        if place != *wanted.loc()
            && (self.live.queue.awaits(&place) || !self.live.queue.visit(&place))
        {
            self.unavailable(wanted, &Unavailable::Elsewhere(&place), Some(&document));
            return Ok(());
        }
        self.learn(&place)?;
        self.live.progress.turn_to(wanted.loc());
        self.learn_listed(&mut document, &place)?;
        self.live.progress.turn_to(wanted.loc());
        let Some(report) = self.judge(wanted, &mut document, &place)? else {
            return Ok(());
        };
        if report.kind != Some(Kind::Index) {
            self.choose_pages(&mut document, &place, report.document)?;
        }
        let indexes = wanted.indexes + 1;
        if indexes <= MAX_INDEXES {
            self.follow(report.document, report.children, indexes);
            return Ok(());
        }
        self.not_looked_for(report.document, &report.children, indexes);
        Ok(())
    }

    /// The answer of a URL.
    fn ask(&self, loc: &Loc, url: &UrlKey) -> Result<Result<Document, DownloadError>, Stopped> {
        self.live.progress.turn_to(loc);
        match self.asker.document(url) {
            Err(DownloadError::Stopped) => Err(Stopped),
            answer => Ok(answer),
        }
    }

    /// As [`learn`](Self::learn), for an origin that nothing is checked of, as long as there are not too many of them.
    fn learn_stranger(&mut self, loc: &Loc) -> Result<Option<DownloadError>, Stopped> {
        if self.is_known(loc) {
            return Ok(None);
        }
        if self.live.strangers >= MAX_ORIGINS {
            if !std::mem::replace(&mut self.live.is_origin_left_out, true) {
                self.check.output.warn(&format!(
                    "the robots.txt files of {MAX_ORIGINS} other hosts that are listed were asked for, and those of no further one are: nothing proves what is listed of them"
                ));
            }
            return Ok(None);
        }
        self.live.strangers += 1;
        self.learn(loc)
    }

    /// Whether it is settled what the robots.txt of a URL's origin says.
    fn is_known(&self, loc: &Loc) -> bool {
        let origin = loc.origin();
        self.check.rules.contains_key(origin) || self.live.silent.contains(origin)
    }

    /// Asks for the robots.txt of a URL's origin, once; returns why it is not known. Who asks for the URL next is told the same.
    fn learn(&mut self, loc: &Loc) -> Result<Option<DownloadError>, Stopped> {
        let origin = loc.origin();
        if self.is_known(loc) {
            return Ok(None);
        }
        let (Some(key), Ok(robots)) = (
            self.live.key_of(loc),
            Loc::parse(&format!("{origin}/robots.txt")),
        ) else {
            return Ok(None);
        };
        self.live.progress.turn_to(&robots);
        match self.asker.robots(&key.origin()) {
            Ok(rules) => self.check.use_rules(loc, rules),
            Err(DownloadError::Stopped) => return Err(Stopped),
            Err(error) => {
                self.live.silent.insert(origin.to_owned());
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// Asks for the robots.txt of all origins that a document lists: they may prove that it may (R65).
    fn learn_listed(&mut self, document: &mut Document, place: &Loc) -> Result<(), Stopped> {
        let mut strangers: BTreeMap<String, Loc> = BTreeMap::new();
        let Ok(body) = document.body() else {
            return Ok(());
        };
        let body = Watching::new(body, &self.live.progress, &self.live.shutdown);
        for item in Reader::new(body, READING_LIMITS).at(place) {
            let loc = match item {
                Ok(Item::Url(entry)) => entry.loc,
                Ok(Item::Sitemap(entry)) => entry.loc,
                Err(_) => continue,
            };
            if loc.origin() != place.origin() && !strangers.contains_key(loc.origin()) {
                strangers.insert(loc.origin().to_owned(), loc);
                // One more than may be asked, so that it is told.
                if strangers.len() > MAX_ORIGINS {
                    break;
                }
            }
        }
        if self.live.is_stopping() {
            return Err(Stopped);
        }
        for loc in strangers.values() {
            if let Some(error) = self.learn_stranger(loc)? {
                let origin = loc.origin();
                self.check.output.warn(&format!(
                    "{}; whether {origin} wants its URLs to be listed elsewhere, and which it disallows, is not known",
                    reason(&error)
                ));
            }
        }
        Ok(())
    }

    /// Whether robots.txt disallows a URL not only to this program: what it says to everybody is known if its host was asked.
    fn is_disallowed_to_all(&mut self, url: &UrlKey) -> Result<bool, Stopped> {
        let Ok(loc) = Loc::parse(url.as_str()) else {
            return Ok(false);
        };
        self.learn_stranger(&loc)?;
        let rules = self.check.rules.get(loc.origin());
        Ok(rules.is_some_and(|rules| !rules.allows(loc.path_and_query())))
    }
}

/// Whether a document is a table by its media type or, where that says no more than that it is a file, by its name. A page may have a
/// URL alone in a line as well, and so may any other text.
fn is_called_table(document: &Document) -> bool {
    let content_type = document.headers.text("content-type").unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let is = |known: &&str| media_type.eq_ignore_ascii_case(known);
    let ending = document
        .url
        .path()
        .rsplit_once('.')
        .map(|(_, ending)| ending);
    let is_named = ending.is_some_and(|ending| {
        let is = |known: &&str| ending.eq_ignore_ascii_case(known);
        TABLE_ENDINGS.iter().any(is)
    });
    TABLE_TYPES.iter().any(is) || (is_named && FILE_TYPES.iter().any(is))
}

/// The same of what is called a table: there, lines may stand in front of the first URL, such as a header that nobody knows.
fn is_sitemap_or_list(body: impl BufRead) -> bool {
    let mut reader = Reader::new(body, READING_LIMITS);
    let is_begun = reader.next().is_some();
    is_begun && reader.kind().is_some()
}
