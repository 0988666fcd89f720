//! The engine: it starts the tasks of a crawl, all requests among them, and is the single writer of its state
//! as long as the crawl goes on.
//!
//! From top to bottom: [`crawl`] identifies the site by the start URL ([`find_site`]), opens the store and
//! continues the open crawl or begins one (`begin`), and drives the loop (`crawl_loop`). Every request goes through one
//! [`Gate`], under the clocks of its host.

mod answers;
mod begin;
mod bytes;
mod challenges;
mod commits;
mod crawl_loop;
mod display;
mod documents;
mod held;
mod hints;
mod host_trouble;
mod known;
mod outage;
mod page_resources;
mod probe;
mod rendering;
mod repetition;
mod requests;
mod requeue;
mod resume;
mod revalidation;
mod rules;
mod second_look;
mod session;
mod unlinked;
mod validators;
mod ways;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{sync::watch, task::JoinError, time::Instant};

pub use self::commits::COMMIT_INTERVAL;
use self::{
    begin::{CrawlOpening, OpenedCrawl, find_site},
    crawl_loop::{CrawlLoop, LoopContext, Setup},
    page_resources::PageResources,
    rendering::Renderer,
};
use crate::{
    client::{
        Downloader, Shutdown, StartError,
        gate::{Gate, rough_duration},
        names::{self, KnownNames},
        start::{Guide, Started},
    },
    clock::Clock,
    config::{Config, IgnoreConfig, RenderMode},
    crawl_state::OpenCrawl,
    fetch::{Fetch, FetchError, Fetched},
    human,
    notes::Note,
    outcome::SessionOutcome,
    page::{CrawlId, PageFacts},
    parse::PageReader,
    politeness::{HostState, HostTally, SharedPoliteness},
    render::Render,
    repeats::WatchedPlace,
    retry_after::{RetryAfterError, RetryAfterFile},
    robots,
    scope::Scope,
    seeds::{MAX_OTHER_HOSTS, SeedList},
    site::Site,
    store::{Store, StoreError},
    url_key::{HostKey, SiteNames, UrlKey},
    verdict::{Judge, identity_of, read_as},
};

/// Longer than anybody waits, and short enough for the arithmetic of instants: 30 years.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// An answer and its facts, or the reason why there is none.
type FetchedFacts = Result<(Fetched, Box<PageFacts>), FetchError>;

/// The work of a task that had the store.
const USING_STATE: &str = "using the state of this site";

/// Opens the store of a site, once the start URL has shown which site it is. Also gives the URL of the directory where the
/// set of the site will be served, if one is configured: our own index may be missing there before its first upload.
/// `None`: it cannot be opened, and the caller knows why.
pub(crate) type OpenStore = Box<dyn FnOnce(&Site) -> Option<(Store, Option<String>)> + Send>;

/// Everything the crawl touches besides its settings.
pub(crate) struct Dependencies {
    /// The gate to the network.
    pub fetch: Arc<dyn Fetch>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// The clocks of all hosts, shared by every crawl of the process.
    pub politeness: SharedPoliteness,
    /// The newest state of the session, for whoever shows it.
    pub progress: watch::Sender<Progress>,
    /// The memory of the site.
    pub open_store: OpenStore,
    /// `Retry-After` of earlier starts.
    pub retry_after: RetryAfterFile,
    /// URL lists of the user.
    pub lists: Vec<SeedList>,
    /// Runs the scripts of pages; `None`: nothing does.
    pub render: Option<Arc<dyn Render>>,
}

impl std::fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}

/// The work of the session, for the live view. The counts of fetched pages and received bytes are of this start of the
/// program, what is known, waiting and failed of the whole crawl.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The site, once it is known.
    pub site: Option<Site>,
    /// Finished page requests (retries not counted).
    pub fetched: u64,
    /// URLs waiting or in flight.
    pub queued: u64,
    /// Known URLs.
    pub known: u64,
    /// URLs given up after their tries.
    pub failed: u64,
    /// Bytes received, as they came over the wire.
    pub bytes_in: u64,
    /// Pages that earlier crawls asked for, of which this one asks for about as many; `None`: there was no earlier crawl.
    pub expected: Option<u64>,
    /// The place that may go on without end, where a fifth of what cuts a place was counted, or more; else the place that most
    /// of the URLs found last are in, while thousands wait.
    pub watched: Option<WatchedPlace>,
    /// The page that was asked for last and has not answered yet.
    pub in_work: Option<UrlKey>,
    /// The last URLs that were given up, the newest first, each with the code of its reason.
    pub failures: Vec<(&'static str, UrlKey)>,
    /// The state of the host, when it is not simply being crawled.
    pub host: HostState,
    /// The last failure of the host: what happened, and at which URL.
    pub trouble: Option<String>,
    /// Time one request needs under the pauses in force, for an estimate of the time left; `None` while unknown.
    pub pace: Option<Duration>,
    /// The counts when the session continued an unfinished crawl; `None` for a new crawl.
    pub resumed: Option<Resumed>,
    /// Something the user should know at once (e.g. a page rendered by JavaScript only); grows.
    pub notices: Vec<Notice>,
}

/// A sentence to be read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// The summary has it as well.
    pub is_in_summary: bool,
}

/// An unfinished run as it was taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// Known URLs.
    pub known: u64,
    /// Known URLs that were waiting.
    pub queued: u64,
}

/// How a crawl ended. `Err` is only what makes a crawl impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every known URL was asked for.
    Drained,
    /// `max_pages` or `max_time` was reached.
    LimitReached,
    /// The host asks for a longer wait than the settings allow (`Retry-After`, `Crawl-delay`): it gets no further request
    /// in this session.
    Deferred,
    /// Too many pauses after failures in a row: nothing is published.
    SiteDown,
    /// [`Shutdown`] was used: nothing is published.
    Stopped,
}

/// The cause that ended a crawl before everything was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`crate::config::LimitsConfig::max_pages`].
    Pages,
    /// [`crate::config::LimitsConfig::max_time`].
    Time,
}

/// The result of a crawl: the store, for publishing, and this start's numbers.
pub(crate) struct Crawled {
    /// The site, after the start URL's redirects.
    pub site: Site,
    /// The memory of the site; everything is committed.
    pub store: Store,
    /// The rules, with the newest robots.txt.
    pub judge: Judge,
    /// Number of the crawl that was begun or resumed.
    pub number: CrawlId,
    /// `true` if an unfinished crawl was resumed.
    pub resumed: bool,
    /// How it ended.
    pub ending: Ending,
    /// Finished page requests of this start, retries not counted.
    pub fetched: u64,
    /// Answers 304 of this start.
    pub not_modified: u64,
    /// Bytes received, as they came over the wire.
    pub bytes_in: u64,
    /// The limit that was reached, with [`Ending::LimitReached`].
    pub limit: Option<Limit>,
    /// The current robots.txt of the site; `None` when it could not be read, and that is ignored.
    pub robots: Option<robots::Rules>,
    /// Notes for the user when the crawl is over.
    pub notes: Vec<Note>,
    /// The results of the requests to the host of the site.
    pub tally: HostTally,
    /// Time from one request to the next at the end, as the pauses in force and the time of answers allow.
    pub pace: Option<Duration>,
}

impl std::fmt::Debug for Crawled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crawled")
            .field("site", &self.site)
            .field("number", &self.number)
            .field("resumed", &self.resumed)
            .field("ending", &self.ending)
            .field("fetched", &self.fetched)
            .finish_non_exhaustive()
    }
}

/// Why there can be no crawl.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// The start URL leads to no site that may be crawled.
    #[error(transparent)]
    Start(StartError),
    /// Settings that only show to be wrong when the site is known.
    #[error("{0}")]
    Settings(String),
    /// The state could not be opened.
    #[error("failed to open the state of this site")]
    Opening,
    /// The store failed.
    #[error("failed to use the state of this site")]
    Store(#[from] StoreError),
    /// The file of the hosts that asked to wait cannot be read, so no request may be sent.
    #[error("failed to load the Retry-After waits of hosts; nothing is requested")]
    RetryAfter(#[from] RetryAfterError),
    /// Stopped before the crawl came to its end.
    #[error("stopped before the crawl came to its end")]
    Stopped,
    /// A task ended by a panic: a bug of arpent. What was committed stays, and the next start goes on from there.
    #[error("ended by an internal error while {work}")]
    Internal {
        /// The work of the task, as in "while opening the state".
        work: &'static str,
        /// The end of the task, with the words of the panic.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<StartError> for CrawlError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Settings(message) => Self::Settings(message),
            StartError::Stopped => Self::Stopped,
            error => Self::Start(error),
        }
    }
}

impl CrawlError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Start(error) => error.outcome(),
            Self::Settings(_) | Self::Opening => SessionOutcome::Settings,
            Self::Store(error) => error.outcome(),
            Self::RetryAfter(error) => error.outcome(),
            Self::Stopped => SessionOutcome::Interrupted,
            Self::Internal { .. } => SessionOutcome::Internal,
        }
    }

    /// A task was `work` when it ended without a result.
    fn of_task(work: &'static str, error: JoinError) -> Self {
        let source = error.into();
        Self::Internal { work, source }
    }
}

/// Crawls one site from `start`, resuming an unfinished run.
///
/// # Errors
/// See [`CrawlError`]: whatever makes the crawl impossible. A page that fails is data, not an error.
pub(crate) async fn crawl(
    config: &Config,
    start: &UrlKey,
    dependencies: Dependencies,
    shutdown: &Shutdown,
) -> Result<Crawled, CrawlError> {
    let Dependencies {
        fetch,
        clock,
        politeness,
        progress,
        open_store,
        retry_after,
        lists,
        render,
    } = dependencies;
    let reader =
        PageReader::new(&config.parse).map_err(|error| CrawlError::Settings(error.to_string()))?;
    let reader = reader.with_extensions(config.publish.extensions);
    let reader = Arc::new(reader.reading_blocks(config.repeats.close_patterns));
    let gate = Gate::new(config, fetch, Arc::clone(&clock), politeness, retry_after);
    let loading = gate.clone();
    let loaded = tokio::task::spawn_blocking(move || loading.load_waits());
    let damage = loaded
        .await
        .map_err(|error| CrawlError::of_task("loading the Retry-After waits of hosts", error))??;
    if let Some(damage) = &damage {
        // The crawl may end before it knows its site, and the wait would be lost.
        tracing::warn!(target: "crawl", "{damage}");
    }
    let dependencies = LoopDependencies {
        reader,
        progress,
        open_store,
        lists,
        render,
    };
    // What a crawl holds across its waits is too large for the stack of its caller.
    let mut crawled = Box::pin(crawl_through(config, start, &gate, dependencies, shutdown)).await;
    if let (Ok(crawled), Some(damage)) = (&mut crawled, damage) {
        crawled.notes.insert(0, Note::waits_damaged(&damage));
    }
    gate.finish_writes().await;
    crawled
}

/// The dependencies of a crawl besides the gate.
struct LoopDependencies {
    reader: Arc<PageReader>,
    progress: watch::Sender<Progress>,
    open_store: OpenStore,
    lists: Vec<SeedList>,
    render: Option<Arc<dyn Render>>,
}

/// The crawl itself, through a gate that knows what earlier starts were asked to wait for.
async fn crawl_through(
    config: &Config,
    start: &UrlKey,
    gate: &Gate,
    dependencies: LoopDependencies,
    shutdown: &Shutdown,
) -> Result<Crawled, CrawlError> {
    let LoopDependencies {
        reader,
        progress,
        open_store,
        lists,
        render,
    } = dependencies;
    let list_names: Vec<&str> = lists.iter().map(SeedList::name).collect();
    let identity = identity_of(config, &list_names);
    let clock = Arc::clone(&gate.clock);
    begin_at_hosts(config, start, gate);
    let began = clock.now();
    let deadline = end_of(config.limits.max_time);
    let guide = Guide {
        gate,
        reader: &reader,
        config,
        stop: &shutdown.stop,
    };
    let mut started = find_site(&guide, start, &progress, deadline).await?;
    let (name, fresh) = (identity.as_str(), config.fresh);
    let opened = begin::open_store(open_store, &started.site, name, fresh, shutdown).await?;
    let (store, public_url) = (opened.store, opened.public_url);
    let (known, next) = (opened.names, opened.next);
    let naming = name_site(&guide, &mut started, known, next, deadline);
    let (gate, names) = Box::pin(naming).await;
    let gate = &gate;
    let (site, is_robots_read) = (&started.site, started.is_robots_read);
    let rules = started.robots.clone();
    let scope =
        Scope::new(site, &config.scope).map_err(|error| CrawlError::Settings(error.to_string()))?;
    let downloader = downloader_of(site, gate, config, &rules);
    let read_as = read_as(config, site, gate.identity.names.as_ref());
    let host_date = gate.first_date.get().copied();
    let clocks = host_date.map(|host| (clock.now(), host));
    let judge = Judge::new(config, scope, rules.clone(), read_as, Arc::clone(&clock));
    let opening = CrawlOpening {
        store,
        names,
        identity,
        fresh: config.fresh,
        host_date: host_date.unwrap_or_else(|| whole_second(began)),
        clocks,
        judge,
        repeats: config.repeats,
        url_identity: Arc::clone(&gate.identity),
    };
    let OpenedCrawl {
        store,
        run: open_run,
        memory,
        judge,
    } = opening.open(&started, shutdown).await?;
    let Started {
        site,
        hops,
        bytes_in,
        notes,
        cookie_chain,
        ..
    } = started;
    let moved = (!start.is_on(&site.origin))
        .then(|| Note::start_redirected(&start.origin(), &site.origin).naming(start));
    let resources = || resources_of(config, &site, gate, &downloader, &judge, shutdown);
    let render = render.filter(|_| config.parse.render.mode != RenderMode::Never);
    let renderer = render.map(|render| Renderer::new(render, resources()));
    let mut crawl_loop = CrawlLoop::new(Setup {
        context: LoopContext {
            config,
            host: HostKey::new(&site.origin.host),
            site,
            reader,
            gate: gate.clone(),
            shutdown,
            open: open_run,
        },
        judge,
        memory,
        downloader,
        progress,
        store,
        is_robots_read,
        public_url,
        deadline,
        cookie_chain,
        renderer,
    });
    let ignored = ignored(config.ignore);
    crawl_loop.report(moved.into_iter().chain(ignored).chain(notes));
    if let Some(delay) = rules.crawl_delay().filter(|delay| !delay.is_zero()) {
        crawl_loop.mention(delay_text(delay));
    }
    crawl_loop.add_bytes(bytes_in);
    crawl_loop.seed(hops);
    crawl_loop.begin_documents(&rules, lists);
    crawl_loop.drive().await
}

/// The gate of a site with its names, and these: of a crawl that goes on, those that it has; otherwise the spellings that are not
/// known are asked, until the `deadline` at most. The start page is read with them.
async fn name_site(
    guide: &Guide<'_>,
    started: &mut Started,
    known: KnownNames,
    next: OpenCrawl,
    deadline: Instant,
) -> (Gate, KnownNames) {
    let names = if next.resumed {
        known
    } else {
        let all = validators::is_turn_of_names(next.number);
        let asking = Box::pin(names::request_spellings(
            guide,
            &started.site,
            &started.hops[..],
            &known,
            all,
        ));
        tokio::select! {
            asked = tokio::time::timeout_at(deadline, asking) => asked.ok(),
            () = guide.stop.cancelled() => None,
        }
        .unwrap_or(known)
    };
    let gate = guide.gate.standing_in(started.site.stand_in.clone());
    let gate = gate.named(names.of(&started.site.origin));
    if gate.identity.names.is_some() {
        for hop in &mut started.hops {
            hop.read_again(guide, &gate.identity);
        }
    }
    (gate, names)
}

/// Fetches what is on the site, and the files of other hosts that belong to it.
fn downloader_of(site: &Site, gate: &Gate, config: &Config, rules: &robots::Rules) -> Downloader {
    let downloader = Downloader::with_gate(gate).of_site(&site.origin, MAX_OTHER_HOSTS);
    downloader.know(&site.origin, rules.clone());
    if config.ignore.robots {
        downloader.ignoring_robots_of(&site.origin)
    } else {
        downloader
    }
}

/// Answers the requests of pages that are rendered.
fn resources_of(
    config: &Config,
    site: &Site,
    gate: &Gate,
    downloader: &Downloader,
    judge: &Judge,
    shutdown: &Shutdown,
) -> PageResources {
    let names = gate.identity.names.iter().flat_map(SiteNames::names);
    let own = [&site.origin].into_iter().chain(names);
    let own = own.map(|origin| HostKey::new(&origin.host));
    let others = config
        .parse
        .render
        .hosts
        .iter()
        .map(|host| HostKey::new(host));
    PageResources::new(
        downloader.clone(),
        own.chain(others),
        site.origin.clone(),
        judge.clone(),
        &gate.identity,
        shutdown.clone(),
    )
}

/// The second of a time: dates in headers are no finer.
fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Notes in the clocks of the hosts that `start` may be on that a session begins.
fn begin_at_hosts(config: &Config, start: &UrlKey, gate: &Gate) {
    for host in [Some(start.host()), www_twin(start)].into_iter().flatten() {
        let mut clocks = gate.clocks();
        clocks.set_settings(&host, &config.politeness);
        clocks.forget_trouble(&host);
        clocks.take_tally(&host);
    }
}

/// The host name with `www.` added or dropped: a start URL may redirect there.
fn www_twin(start: &UrlKey) -> Option<HostKey> {
    let host = start.host();
    let name = host.as_str();
    let twin = name
        .strip_prefix("www.")
        .map_or_else(|| format!("www.{name}"), str::to_owned);
    (!twin.is_empty()).then(|| HostKey::new(&twin))
}

/// When a session that begins now has to end.
fn end_of(max_time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(max_time).unwrap_or(now + FOREVER)
}

/// The effect of a `Crawl-delay` on the duration of a crawl.
fn delay_text(delay: Duration) -> String {
    format!(
        "robots.txt asks for one request every {} (Crawl-delay): 1,000 pages take at least {}",
        human::duration(delay),
        rough_duration(delay.saturating_mul(1_000))
    )
}

/// The note on what is ignored, with the effect of each word; `None`: nothing is.
fn ignored(config: IgnoreConfig) -> Option<Note> {
    let words: Vec<&str> = config.words().collect();
    let effects: Vec<String> = words
        .iter()
        .map(|word| {
            let effect = match *word {
                "robots" => "URLs that robots.txt disallows are fetched and listed",
                "noindex" => "pages with noindex are listed (nofollow still counts)",
                "nofollow" => "links marked nofollow, ugc or sponsored are followed",
                "retry-after" => "the site gets requests before the end of its Retry-After",
                _ => "pages that name another canonical URL are listed",
            };
            format!("{word}: {effect}")
        })
        .collect();
    let example = words.first()?;
    let note = Note::ignored(&effects.join(", ")).counting(words.len() as u64);
    Some(note.naming(example))
}
