//! The loop over one site: one `select!` over [`Event`], which hands each event to the part that owns it, and carries out
//! the result of the part. The single writer of all state; only the loop itself waits. Code that needs two
//! parts is written here: for pages in `page_steps`, for documents in `document_steps`.
//!
//! Parts own their fields, and know neither the loop nor its tasks.
//!
//! | part | owns |
//! | --- | --- |
//! | `commits` | the store and the next commit; the store is *moved* into a blocking task and comes back with its answers |
//! | `requests` | requests for pages that are out, and the next step after each |
//! | `answers` | nothing: the end of the work on a URL in the store, and the URLs that its answer leads to |
//! | `revalidation` | conditional requests, answers 304 that wait for their page rows, tests of the server |
//! | `known`, `unlinked` | known URLs and their bounds; listed pages that no page or document led to |
//! | `documents` | sitemaps, feeds and lists that are read beside the pages |
//! | `rendering` | pages that are shown as a browser does, and the answers that wait for it |
//! | `rules` | the rules, and robots.txt as they are read again |
//! | `session` | cookies that ended, and pages that wait for new ones |
//! | `outage`, `host_trouble` | the health of the host, and its slowdowns |
//! | `hints`, `display` | notes for the end of the session; the live view |
//!
//! `resume` and `requeue` work on the store before the loop begins.

mod document_steps;
mod page_steps;
mod repeat_steps;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tracing::Instrument as _;

use super::{
    CrawlError, Crawled, Ending, Limit, Progress, Resumed, USING_STATE,
    challenges::StartAnswer,
    commits::{Commits, Committed, Questions},
    display::Display,
    documents::{DocumentEnd, Documents},
    hints::Hints,
    host_trouble::HostTrouble,
    known::KnownUrls,
    outage::Health,
    probe::NotFound,
    rendering::{RenderEnd, Renderer, Rendering},
    repetition::{Repetition, store_repeats},
    requests::{Elsewhere, PageDone, PageRequest, Requests},
    resume::Memory,
    revalidation::{Revalidation, TestEnd},
    rules::{RobotsChange, SiteRules},
    second_look::SecondAnswer,
    unlinked::StoreWalk,
};
use crate::{
    client::{
        Downloader, Shutdown,
        gate::{Gate, Robots, too_slow},
        start::CookieChain,
    },
    config::Config,
    crawl_state::{self, OpenCrawl},
    frontier::Frontier,
    notes::{Note, grouped},
    page::Reason,
    parse::PageReader,
    repeats::WatchedPlace,
    site::Site,
    store::Store,
    url_key::{HostKey, SiteNames},
    verdict::Judge,
};

/// The loop looks around at least this often, so that the screen shows waits running down.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A commit is sent as soon as this part of [`max_pending_bytes`](crate::config::LimitsConfig::max_pending_bytes) has come
/// together.
const COMMIT_PART: usize = 4;

/// The inputs of a session.
pub(super) struct Setup<'a> {
    pub(super) context: LoopContext<'a>,
    pub(super) judge: Judge,
    pub(super) memory: Memory,
    pub(super) downloader: Downloader,
    pub(super) progress: watch::Sender<Progress>,
    pub(super) store: Store,
    /// `true` if the robots.txt of the site was read.
    pub(super) is_robots_read: bool,
    /// The URL at which the set will be served, when it is set.
    pub(super) public_url: Option<String>,
    /// When the session has to end.
    pub(super) deadline: Instant,
    /// The redirects of a start page that answers only with their cookies.
    pub(super) cookie_chain: Option<CookieChain>,
    /// What shows pages; `None`: nothing does.
    pub(super) renderer: Option<Renderer>,
}

/// A session of a crawl.
pub(super) struct CrawlLoop<'a> {
    context: LoopContext<'a>,
    rules: SiteRules,
    commits: Commits,
    display: Display,
    known: KnownUrls,
    end: End,
    tasks: JoinSet<Event>,
    requests: Requests,
    frontier: Frontier,
    documents: Documents,
    revalidation: Revalidation,
    trouble: HostTrouble,
    rest: Rest,
    hints: Hints,
    repetition: Repetition,
}

/// What is looked for when the queue is drained.
struct Rest {
    /// Over the listed pages that nothing of the crawl led to.
    unvisited: StoreWalk,
    rendering: Rendering,
}

/// The values that do not change.
pub(super) struct LoopContext<'a> {
    pub(super) config: &'a Config,
    pub(super) site: Site,
    pub(super) host: HostKey,
    pub(super) reader: Arc<PageReader>,
    pub(super) gate: Gate,
    pub(super) shutdown: &'a Shutdown,
    pub(super) open: OpenCrawl,
}

/// Numbers of the session.
#[derive(Debug, Default)]
struct SessionCounts {
    /// Finished page requests, retries not counted.
    fetched: u64,
    /// Answers 304.
    not_modified: u64,
    /// Bytes received.
    bytes_in: u64,
}

/// The numbers of the session, and its end, once that is called.
struct End {
    counts: SessionCounts,
    deadline: Instant,
    ending: Option<Ending>,
    limit: Option<Limit>,
    aborted: bool,
}

impl End {
    /// Returns whether no further request is sent, and what waits for answers is left.
    fn is_stop(&self) -> bool {
        matches!(self.ending, Some(Ending::Stopped | Ending::SiteDown))
    }
}

/// The result of a task of the set: everything that the loop waits for, but for signals, time and batches of documents.
enum Event {
    Page(Box<PageDone>),
    Committed(Box<Committed>),
    Robots(TaskEnd<Robots>),
    /// `true` if it was answered well.
    StartPage(TaskEnd<bool>),
    /// The start page was asked for new cookies.
    Cookies(TaskEnd<()>),
    /// Another name of the site was asked for a page.
    Elsewhere(TaskEnd<Box<Elsewhere>>),
    Document(TaskEnd<Box<DocumentEnd>>),
    Test(TaskEnd<TestEnd>),
    Probe(TaskEnd<Option<[NotFound; 3]>>),
    Second(TaskEnd<SecondAnswer>),
    ChallengedStart(TaskEnd<StartAnswer>),
    Rendered(TaskEnd<Box<RenderEnd>>),
    Scripts(TaskEnd<bool>),
}

/// The result of a task, or its panic.
type TaskEnd<T> = Result<T, JoinError>;

impl<'a> CrawlLoop<'a> {
    /// Takes up the work: of a new run, or of one that was not finished.
    pub(super) fn new(setup: Setup<'a>) -> Self {
        let Setup {
            context, memory, ..
        } = setup;
        let (site, config, open) = (&context.site, context.config, context.open);
        let health = Health::new(context.gate.clock.now(), memory.outages);
        let level_by_level = config.limits.max_depth.is_some();
        let mut known = memory.known;
        known.rounds = known.rounds.level_by_level(level_by_level);
        let frontier = Frontier::new(level_by_level).from_place(known.rounds.first());
        let resumed = open.resumed.then_some(Resumed {
            known: known.seen.len() as u64,
            queued: known.queued,
        });
        let repetition = memory
            .repetition
            .of(&site.start, &setup.judge, &config.repeats);
        Self {
            rules: SiteRules::new(setup.judge, setup.is_robots_read),
            commits: Commits::new(setup.store, memory.state_bytes),
            display: Display::new(setup.progress, resumed, memory.earlier),
            known: KnownUrls::new(known, &config.limits),
            end: End {
                counts: SessionCounts::default(),
                deadline: setup.deadline,
                ending: None,
                limit: None,
                aborted: false,
            },
            tasks: JoinSet::new(),
            requests: Requests::new(setup.cookie_chain),
            frontier: if memory.earlier.is_some() {
                frontier.through_store()
            } else {
                frontier
            },
            documents: Documents::new(
                site,
                config.discover,
                setup.public_url.as_deref(),
                &config.publish.index_name,
                setup.downloader,
                memory.documents,
                memory.own,
            ),
            revalidation: Revalidation::new(open.number, memory.trust, open.is_fresh),
            trouble: HostTrouble::new(health),
            rest: Rest {
                unvisited: StoreWalk::new(memory.earlier.is_some()),
                rendering: Rendering::new(
                    setup.renderer,
                    &config.parse.render,
                    memory.rendered,
                    open.number,
                    &context.site.start,
                ),
            },
            hints: Hints::new(&config.scope, open.resumed),
            repetition,
            context,
        }
    }

    /// Notes that the user should read at once, and again at the end.
    pub(super) fn report(&mut self, notes: impl IntoIterator<Item = Note>) {
        self.display.report(notes);
    }

    /// A sentence the user should read at once.
    pub(super) fn mention(&mut self, notice: String) {
        self.display.mention(notice);
    }

    /// Adds bytes that came in before the loop began.
    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.end.counts.bytes_in += bytes;
    }

    /// Works until nothing is left or the session has to end.
    pub(super) async fn drive(mut self) -> Result<Crawled, CrawlError> {
        loop {
            let now = Instant::now();
            self.check_ends(now);
            self.dispatch_probe();
            let (wake, page_waits) = self.dispatch(now);
            self.dispatch_document(page_waits);
            self.dispatch_test();
            self.dispatch_second();
            self.dispatch_render();
            self.look_again();
            self.commit(now);
            self.show(now, false);
            if self.is_done() {
                break;
            }
            let wake = self.wake(now, wake);
            let has_room = self.has_room();
            let stopping = self.end.is_stop();
            // Nothing is lost when an arm is dropped: a finished task stays in the set, a batch in its
            // channel, time and tokens can be asked again.
            tokio::select! {
                Some(joined) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => {
                    self.take_event(joined)?;
                    while let Some(joined) = self.tasks.try_join_next_with_id() {
                        self.take_event(joined)?;
                    }
                }
                batch = self.documents.batch(), if has_room => self.take_batch(batch),
                () = tokio::time::sleep_until(wake) => {}
                () = self.context.shutdown.stopped(), if !stopping => {}
                () = self.context.shutdown.aborted(), if !self.end.aborted => {}
            }
        }
        if self.known.waiting() == 0
            && self.documents.is_idle()
            && self.rest.unvisited.is_over()
            && self.rest.rendering.is_over()
            && matches!(
                self.end.ending,
                Some(Ending::LimitReached | Ending::Deferred)
            )
        {
            // The last answers came in after the end was called: everything is decided after all.
            self.end.ending = None;
            self.end.limit = None;
        }
        self.conclude();
        self.show(Instant::now(), true);
        let mut store = self
            .commits
            .into_store()
            .expect("the loop ends only when the store is at home");
        let (repeats, start) = (self.repetition.repeats, self.context.site.start.clone());
        // What only the crawl needs has tens of bytes for each URL.
        drop((self.known, self.frontier, self.repetition.seconds));
        let number = self.context.open.number;
        let ending = self.end.ending.unwrap_or(Ending::Drained);
        let settled = tokio::task::spawn_blocking(move || {
            store.lower_cache()?;
            let settled = store_repeats(&mut store, &repeats, &start, number, ending);
            settled.map(|notes| (store, notes))
        });
        let (store, notes) = settled
            .await
            .map_err(|error| CrawlError::of_task(USING_STATE, error))??;
        self.display.report(notes);
        let (judge, robots) = self.rules.into_parts();
        let (tally, pace) = {
            let (mut clocks, host) = (self.context.gate.clocks(), &self.context.host);
            (clocks.take_tally(host), clocks.pace(host))
        };
        Ok(Crawled {
            tally,
            pace,
            site: self.context.site,
            store,
            number: self.context.open.number,
            resumed: self.context.open.resumed,
            ending,
            fetched: self.end.counts.fetched,
            not_modified: self.end.counts.not_modified,
            bytes_in: self.end.counts.bytes_in,
            limit: self
                .end
                .limit
                .filter(|_| self.end.ending == Some(Ending::LimitReached)),
            robots,
            notes: self.display.into_notes(),
            judge,
        })
    }

    /// Notes why the session has to end, if it has to.
    fn check_ends(&mut self, now: Instant) {
        if self.context.shutdown.is_aborting() && !self.end.aborted {
            self.end.aborted = true;
            self.end.ending = Some(Ending::Stopped);
            // Pages only: the store must come back from its task.
            self.requests.abort();
        }
        match self.end.ending {
            // A signal wins over a limit: nothing is published.
            None | Some(Ending::LimitReached | Ending::Deferred)
                if self.context.shutdown.is_stopping() =>
            {
                self.end.ending = Some(Ending::Stopped);
            }
            None if now >= self.end.deadline
                && (self.trouble.is_asking()
                    || !(self.frontier_is_drained()
                        && self.rest.unvisited.is_over()
                        && self.rest.rendering.is_over())) =>
            {
                self.end.ending = Some(Ending::LimitReached);
                self.end.limit = Some(Limit::Time);
            }
            None | Some(_) => {}
        }
    }

    /// Returns whether everything is decided that was found so far.
    fn frontier_is_drained(&self) -> bool {
        self.frontier.is_empty()
            && self.requests.is_empty()
            && self.documents.is_idle()
            && self.revalidation.waiting() == 0
            && self.rest.rendering.is_idle()
    }

    fn is_done(&self) -> bool {
        let idle = self.requests.is_empty()
            && self.commits.is_home()
            && self.commits.is_empty()
            && self.revalidation.waiting() == 0
            && (self.rest.rendering.is_idle() || self.end.is_stop());
        let is_drained = || {
            self.frontier_is_drained()
                && self.rest.unvisited.is_over()
                && self.rest.rendering.is_over()
                && self.repetition.held.is_empty()
                && !self.repetition.probe.is_awaited()
                && !self.revalidation.is_testing()
                && !self.repetition.seconds.is_asking()
                && !self.trouble.is_asking()
        };
        idle && (self.end.ending.is_some() || is_drained())
    }

    fn wake(&self, now: Instant, dispatch: Option<Instant>) -> Instant {
        let mut wake = now + HEARTBEAT;
        if self.end.ending.is_none() && self.end.deadline > now {
            wake = wake.min(self.end.deadline);
        }
        if let Some(due) = dispatch {
            wake = wake.min(due);
        }
        if self.commits.is_home() && (!self.commits.is_empty() || self.revalidation.waiting() > 0) {
            wake = wake.min(self.commits.due());
        }
        wake
    }

    /// Sends the store off when it is at home and there is a reason to.
    fn commit(&mut self, now: Instant) {
        self.collect();
        if !self.commits.is_home() {
            return;
        }
        let wanted = self.frontier.wants().filter(|_| self.end.ending.is_none());
        let limit = self.context.config.limits.max_pending_bytes / COMMIT_PART;
        let is_due = now >= self.commits.due();
        let waits = !self.commits.is_empty() || self.revalidation.waiting() > 0;
        let is_wanted = wanted.is_some() && (is_due || self.frontier.is_starving());
        let wants_unvisited = self.wants_unvisited();
        let wants_unrendered = self.wants_unrendered();
        let is_worth_it = self.commits.next_bytes() >= limit
            || self.revalidation.is_full()
            || waits && (is_due || self.requests.is_empty())
            || wants_unvisited
            || wants_unrendered
            || is_wanted;
        if !is_worth_it {
            return;
        }
        if wanted.is_some() {
            self.frontier.asked();
        }
        let questions = Questions {
            wanted,
            not_modified: self.revalidation.next_pages(),
            unvisited: wants_unvisited
                .then(|| self.rest.unvisited.next_portion())
                .flatten(),
            unrendered: wants_unrendered
                .then(|| self.rest.rendering.next_portion())
                .flatten(),
        };
        if let Some(work) = self.commits.send(questions, now) {
            let work = move || Event::Committed(Box::new(work()));
            self.tasks.spawn_blocking(work);
        }
    }

    /// Returns whether the next portion of the listed pages is wanted that nothing led to: nothing else is left to do, and the store
    /// knows of all visits.
    fn wants_unvisited(&self) -> bool {
        self.end.ending.is_none()
            && self.rest.unvisited.is_wanted()
            && self.commits.is_empty()
            && self.frontier_is_drained()
    }

    /// Returns whether the next portion of the pages that were not rendered is wanted: the same of these.
    fn wants_unrendered(&self) -> bool {
        self.end.ending.is_none()
            && self.rest.rendering.is_wanted()
            && self.rest.unvisited.is_over()
            && self.repetition.held.is_empty()
            && self.commits.is_empty()
            && self.frontier_is_drained()
    }

    /// Begins another pass over the URLs that are held, when nothing else is left and the store knows of all visits.
    fn look_again(&mut self) {
        if self.end.ending.is_none()
            && !self.repetition.held.is_empty()
            && !self.repetition.seconds.is_comparing()
            && !self.trouble.is_asking()
            && self.rest.unvisited.is_over()
            && self.commits.is_home()
            && self.commits.is_empty()
            && self.frontier_is_drained()
        {
            self.repetition.held.begin_pass();
            self.frontier.rewind();
        }
    }

    /// Returns whether the links of another page can be held in memory.
    fn has_room(&self) -> bool {
        let held = self.commits.held_bytes()
            + self.revalidation.held_bytes()
            + self.requests.held_bytes()
            + self.rest.rendering.held_bytes();
        held < self.context.config.limits.max_pending_bytes
    }

    /// Returns whether the state takes no further links and URLs.
    fn is_state_full(&self) -> bool {
        self.commits.state_bytes() >= self.context.config.limits.max_state_bytes
    }

    /// Adds what the parts have to store to the next commit.
    fn collect(&mut self) {
        self.commits.extend(self.documents.take_effects());
        if let Some(value) = self.known.note_not_recorded() {
            self.commits.set(value);
        }
        if let Some(value) = self.rest.rendering.take_value() {
            self.commits.set(value);
        }
    }

    fn take_committed(&mut self, committed: Committed) -> Result<(), CrawlError> {
        let answers = self.commits.take_back(committed)?;
        if let Some((wanted, urls)) = answers.refill {
            self.frontier.refill(&wanted, urls);
        }
        self.take_rereads(answers.rereads)?;
        if let Some(portion) = answers.unvisited {
            self.take_unvisited(portion);
        }
        if let Some(portion) = answers.unrendered {
            self.take_unrendered(portion);
        }
        Ok(())
    }

    /// Asks for robots.txt again when it is a day old.
    fn refresh_robots(&mut self, now: Instant) {
        if !self.rules.wants_robots(now) {
            return;
        }
        let (gate, origin, stop) = (
            self.context.gate.clone(),
            self.context.site.origin.clone(),
            self.context.shutdown.stop.clone(),
        );
        let work = async move { gate.robots(&origin, &stop).await };
        self.spawn(work, Event::Robots);
    }

    /// Starts a task whose end is an event, also when it panics.
    fn spawn<T: Send + 'static>(
        &mut self,
        work: impl Future<Output = T> + Send + 'static,
        event: fn(TaskEnd<T>) -> Event,
    ) {
        let work = work.in_current_span();
        self.tasks.spawn(async move {
            let mut task = JoinSet::new();
            task.spawn(work);
            let ended = task.join_next().await;
            event(ended.expect("the set has one task"))
        });
    }

    fn take_event(&mut self, joined: Result<(Id, Event), JoinError>) -> Result<(), CrawlError> {
        match joined {
            Ok((id, Event::Page(done))) => {
                if let Some(request) = self.requests.take_ended(id) {
                    self.take_page(request, *done);
                }
            }
            Ok((_, Event::Committed(committed))) => self.take_committed(*committed)?,
            Ok((_, Event::Robots(robots))) => {
                let of_panic = |error| format!("internal error: {error}");
                let robots = robots.map_err(of_panic);
                self.take_robots(robots.unwrap_or_else(|why| Robots::Unreachable(why, None)));
            }
            Ok((_, Event::StartPage(is_well))) => {
                let task = "crawling this site";
                self.take_start_page(is_well.map_err(|error| CrawlError::of_task(task, error))?);
            }
            Ok((_, Event::Cookies(end))) => {
                end.map_err(|error| CrawlError::of_task("crawling this site", error))?;
                self.take_cookies();
            }
            Ok((_, Event::Elsewhere(end))) => {
                let end = end.map_err(|error| CrawlError::of_task("crawling this site", error))?;
                self.take_elsewhere(*end);
            }
            Ok((_, Event::Document(end))) => self.take_document_end(end.map_or_else(
                |error| {
                    tracing::error!(target: "crawl", "internal error while reading a document: {error}");
                    DocumentEnd::Internal(error.to_string())
                },
                |end| *end,
            )),
            Ok((_, Event::Probe(pages))) => self.take_probe(pages.unwrap_or_else(|error| {
                tracing::error!(target: "crawl", "internal error while requesting URLs that do not exist: {error}");
                None
            })),
            Ok((_, Event::Test(end))) => self.take_test(&end.unwrap_or_else(|error| {
                tracing::error!(target: "crawl", "internal error while testing validators: {error}");
                TestEnd::default()
            })),
            Ok((_, Event::ChallengedStart(answer))) => {
                let task = "crawling this site";
                self.take_challenged_start(answer.map_err(|error| CrawlError::of_task(task, error))?);
            }
            Ok((_, Event::Rendered(end))) => {
                let end = end.map_err(|error| CrawlError::of_task("rendering a page", error))?;
                self.take_rendered(*end);
            }
            Ok((_, Event::Scripts(has_changed))) => {
                self.rest.rendering.take_check(has_changed.unwrap_or(true));
            }
            Ok((_, Event::Second(answer))) => self.take_second(&answer.unwrap_or_else(|error| {
                tracing::error!(target: "crawl", "internal error while requesting a page a second time: {error}");
                SecondAnswer::default()
            })),
            Err(error) => match self.requests.take_ended(error.id()) {
                // The permit was used, so dropping it counts as an end.
                Some(PageRequest { lease, .. }) if error.is_cancelled() => {
                    self.documents.page_ended(lease.url());
                    self.frontier.give_back(lease);
                }
                Some(PageRequest { lease, .. }) => {
                    self.documents.page_ended(lease.url());
                    tracing::error!(target: "crawl", url = %lease.url(), "internal error while handling a page: {error}");
                    self.end.counts.fetched += 1;
                    self.decide_unfetched(lease, Reason::InternalError);
                }
                None => return Err(CrawlError::of_task(USING_STATE, error)),
            },
        }
        Ok(())
    }

    fn take_robots(&mut self, robots: Robots) {
        match self.rules.take_robots(robots) {
            RobotsChange::Rules(rules) => {
                self.commits.set(crawl_state::robots_value(&rules));
                self.documents.know(rules);
            }
            RobotsChange::TooSlow(delay) => {
                self.report([too_slow(&self.context.site.origin, delay)]);
                self.end.ending.get_or_insert(Ending::Deferred);
            }
            RobotsChange::Nothing => {}
        }
    }

    /// Adds the notes of the parts at the end of the session.
    fn conclude(&mut self) {
        if self.trouble.leaves_pages() {
            self.end.ending.get_or_insert(Ending::Deferred);
        }
        let ending = self.end.ending.unwrap_or(Ending::Drained);
        let drained = (ending == Ending::Drained).then(|| self.known.len());
        let LoopContext { site, config, .. } = &self.context;
        let names = self.context.gate.identity.names.as_ref();
        self.display
            .report(names.and_then(|names| note_of_names(site, names)));
        let fetched = self.end.counts.fetched;
        self.display
            .report(self.hints.conclude(site, config, fetched, drained));
        self.display.report(self.trouble.conclude());
        self.display.report(self.documents.conclude());
        self.display.report(self.rest.rendering.conclude());
    }

    fn show(&mut self, now: Instant, is_last: bool) {
        for sentence in self.documents.take_sentences() {
            self.display.show_notice(sentence, true);
        }
        if !is_last && !self.display.is_due(now) {
            return;
        }
        let (host, pace) = self.context.gate.pace_at(&self.context.host, now);
        let growing = self.repetition.repeats.growing().cloned();
        let growing = growing.map(WatchedPlace::Growing);
        // A place that the site itself is in is all of it.
        let start = self.context.site.start.path_and_query();
        let crowded = self.known.crowded();
        let crowded = crowded.filter(|place| !start.starts_with(&place.name));
        let progress = Progress {
            site: Some(self.context.site.clone()),
            fetched: self.end.counts.fetched,
            queued: self.known.waiting(),
            known: self.known.len(),
            failed: self.known.failed(),
            bytes_in: self.end.counts.bytes_in,
            host,
            watched: growing.or_else(|| crowded.cloned().map(WatchedPlace::Crowded)),
            in_work: self.requests.newest().cloned(),
            trouble: self.trouble.last(),
            pace,
            ..Progress::default()
        };
        self.display.show(now, progress);
    }
}

/// The note on the other names of the site that URLs used in this session.
fn note_of_names(site: &Site, names: &SiteNames) -> Option<Note> {
    let uses: Vec<(String, u64)> = names
        .uses()
        .map(|(name, uses)| (format!("{name} ({})", grouped(uses)), uses))
        .collect();
    let (texts, counts): (Vec<String>, Vec<u64>) = uses.into_iter().unzip();
    let note = Note::other_names(&site.origin, &texts.join(", ")).counting(counts.iter().sum());
    (!texts.is_empty()).then_some(note)
}
