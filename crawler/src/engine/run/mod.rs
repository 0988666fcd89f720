//! The loop over one site: one `select!` over [`Event`], which hands each event to the part that owns it. The single
//! writer of all state: every part is touched by this loop only, and nothing here waits but the loop itself.
//!
//! | part | owns |
//! | --- | --- |
//! | `commits` | the store and the next commit; the store is *moved* into a blocking task and comes back with its answers |
//! | `requests` | requests for pages; sends them, and takes their answers |
//! | `decide` | nothing: judges an answer, follows its links, adds both to the next commit |
//! | `revalidation` | conditional requests, answers 304 that wait for their page rows, tests of the server |
//! | `known`, `unvisited` | known URLs; listed pages that nothing led to |
//! | `seeding` | sitemaps, feeds and lists that are read beside the pages |
//! | `rules` | the rules, and robots.txt as they are read again |
//! | `outage`, `trouble` | the health of the host, and what slows it down |
//! | `bounds`, `hints`, `display` | what is not recorded; what is reported at the end; what the user sees |
//!
//! `resume` and `requeue` work on the store before the loop begins.

mod bounds;
mod commits;
mod decide;
mod display;
mod hints;
mod known;
mod outage;
pub(super) mod page_sink;
mod requests;
mod requeue;
pub(super) mod resume;
mod revalidation;
mod rules;
pub(super) mod seeding;
mod trouble;
mod unvisited;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tracing::Instrument as _;

pub use self::commits::COMMIT_INTERVAL;
use self::{
    bounds::Bounds,
    commits::{Commits, Committed, Questions},
    display::Display,
    hints::Hints,
    known::Known,
    outage::Health,
    requests::{Out, PageDone, Requests},
    resume::Memory,
    revalidation::{Revalidation, TestEnd},
    rules::{Change, SiteRules},
    seeding::{SeedEnd, Seeding},
    trouble::HostTrouble,
    unvisited::Unvisited,
};
use super::{
    CrawlError, Crawled, Ending, Limit, Progress, Resumed, Shutdown, USING_STATE,
    door::{Door, Robots},
    download::Downloader,
    start::too_slow,
};
use crate::{
    config::Config, frontier::Frontier, notes::Note, page::Reason, parse::PageReader,
    runs::OpenRun, site::Site, store::Store, url_key::HostKey, verdict::Judge,
};

/// The loop looks around at least this often, so that the screen shows waits running down.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A commit is sent as soon as this part of [`max_pending_bytes`](crate::config::LimitsConfig::max_pending_bytes) has come
/// together.
const COMMIT_PART: usize = 4;

/// Everything a run is built from.
pub(super) struct Setup<'a> {
    pub(super) config: &'a Config,
    pub(super) site: Site,
    pub(super) judge: Judge,
    pub(super) memory: Memory,
    pub(super) reader: Arc<PageReader>,
    pub(super) door: Door,
    pub(super) downloader: Downloader,
    pub(super) shutdown: &'a Shutdown,
    pub(super) progress: watch::Sender<Progress>,
    pub(super) store: Store,
    pub(super) open: OpenRun,
    /// Whether the robots.txt of the site was read.
    pub(super) is_robots_read: bool,
    /// Where the set will be served, when somebody said so.
    pub(super) public_url: Option<String>,
    /// When the run has to end.
    pub(super) deadline: Instant,
}

/// One session of a crawl.
pub(super) struct Run<'a> {
    context: Context<'a>,
    rules: SiteRules,
    commits: Commits,
    display: Display,
    counts: Counts,
    known: Known,
    end: End,
    tasks: JoinSet<Event>,
    requests: Requests,
    frontier: Frontier,
    seeding: Seeding,
    revalidation: Revalidation,
    trouble: HostTrouble,
    bounds: Bounds,
    hints: Hints,
}

/// What stays as it is.
struct Context<'a> {
    config: &'a Config,
    site: Site,
    host: HostKey,
    reader: Arc<PageReader>,
    door: Door,
    shutdown: &'a Shutdown,
    open: OpenRun,
}

/// Numbers of the session.
#[derive(Debug, Default)]
struct Counts {
    /// Finished page requests, retries not counted.
    fetched: u64,
    /// Answers 304.
    not_modified: u64,
    /// Bytes received.
    bytes_in: u64,
    /// URLs that were found and lead out of the scope.
    links_out_of_scope: u64,
}

/// The end of the session, once it is called.
struct End {
    deadline: Instant,
    ending: Option<Ending>,
    limit: Option<Limit>,
    aborted: bool,
}

/// What a task of the set brings back: all that the loop waits for, but for signals, time and batches of documents.
enum Event {
    Page(Box<PageDone>),
    Committed(Box<Committed>),
    Robots(Robots),
    StartPage {
        /// Whether it was answered well.
        is_well: bool,
    },
    Seed(Box<SeedEnd>),
    Test(TestEnd),
}

impl<'a> Run<'a> {
    /// Takes up the work: of a new run, or of one that was not finished.
    pub(super) fn new(setup: Setup<'a>) -> Self {
        let Memory {
            seen,
            queued,
            failed,
            next_sequence,
            documents,
            orphans,
            own,
            cached,
            trust,
            outages,
            has_earlier,
            state_bytes,
            not_recorded,
        } = setup.memory;
        let OpenRun {
            number,
            resumed,
            is_fresh,
        } = setup.open;
        let discover = setup.config.discover;
        let health = Health::new(setup.door.clock.now(), outages);
        let frontier = Frontier::new(setup.config.limits.max_depth.is_some());
        let seeding = Seeding::new(discover, setup.downloader, documents, own, cached, orphans)
            .publishing_at(setup.public_url.as_deref(), &setup.site);
        let resumed = resumed.then_some(Resumed {
            known: seen.len() as u64,
            queued,
        });
        let unvisited = Unvisited::new(has_earlier);
        Self {
            context: Context {
                config: setup.config,
                host: HostKey::new(&setup.site.origin.host),
                site: setup.site,
                reader: setup.reader,
                door: setup.door,
                shutdown: setup.shutdown,
                open: setup.open,
            },
            rules: SiteRules::new(setup.judge, setup.is_robots_read),
            commits: Commits::new(setup.store, state_bytes),
            display: Display::new(setup.progress, resumed),
            counts: Counts::default(),
            known: Known::new(seen, next_sequence, queued, failed, unvisited),
            end: End {
                deadline: setup.deadline,
                ending: None,
                limit: None,
                aborted: false,
            },
            tasks: JoinSet::new(),
            requests: Requests::default(),
            frontier: if has_earlier {
                frontier.through_store()
            } else {
                frontier
            },
            seeding,
            revalidation: Revalidation::new(number, trust, is_fresh),
            trouble: HostTrouble::new(health),
            bounds: Bounds::new(not_recorded),
            hints: Hints::new(&setup.config.scope),
        }
    }

    /// What the user should read at once, and again at the end.
    pub(super) fn say(&mut self, note: Note) {
        self.display.say(note);
    }

    /// A sentence the user should read at once.
    pub(super) fn mention(&mut self, notice: String) {
        self.display.mention(notice);
    }

    /// Adds bytes that came in before the loop began.
    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.counts.bytes_in += bytes;
    }

    /// Works until nothing is left or the run has to end.
    pub(super) async fn drive(mut self) -> Result<Crawled, CrawlError> {
        loop {
            let now = Instant::now();
            self.check_ends(now);
            let wake = self.dispatch(now);
            self.dispatch_seed();
            self.dispatch_test();
            self.commit(now);
            self.show(now, false);
            if self.is_done() {
                break;
            }
            let wake = self.wake(now, wake);
            let has_room = self.has_room();
            let stopping = matches!(self.end.ending, Some(Ending::Stopped | Ending::SiteDown));
            // Nothing is lost when an arm is dropped: a finished task stays in the set, a batch in its
            // channel, time and tokens can be asked again.
            tokio::select! {
                Some(joined) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => {
                    self.take(joined)?;
                    while let Some(joined) = self.tasks.try_join_next_with_id() {
                        self.take(joined)?;
                    }
                }
                batch = self.seeding.batch(), if has_room => self.take_batch(batch),
                () = tokio::time::sleep_until(wake) => {}
                () = self.context.shutdown.stop.cancelled(), if !stopping => {}
                () = self.context.shutdown.abort.cancelled(), if !self.end.aborted => {}
            }
        }
        if self.known.waiting() == 0
            && self.seeding.is_idle()
            && self.known.unvisited.is_over()
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
        self.conclude_trouble();
        self.conclude_seeding();
        self.show(Instant::now(), true);
        let store = self
            .commits
            .into_store()
            .expect("the loop ends only when the store is at home");
        let (judge, robots) = self.rules.into_parts();
        Ok(Crawled {
            site: self.context.site,
            store,
            number: self.context.open.number,
            resumed: self.context.open.resumed,
            ending: self.end.ending.unwrap_or(Ending::Drained),
            fetched: self.counts.fetched,
            not_modified: self.counts.not_modified,
            bytes_in: self.counts.bytes_in,
            links_out_of_scope: self.counts.links_out_of_scope,
            limit: self
                .end
                .limit
                .filter(|_| self.end.ending == Some(Ending::LimitReached)),
            robots,
            notes: self.display.into_notes(),
            judge,
        })
    }

    /// Notes why the run has to end, if it has to.
    fn check_ends(&mut self, now: Instant) {
        if self.context.shutdown.is_aborting() && !self.end.aborted {
            self.end.aborted = true;
            self.end.ending = Some(Ending::Stopped);
            // Pages only: the store must come back from its task.
            self.requests.out.values().for_each(|out| out.task.abort());
        }
        match self.end.ending {
            // A signal wins over a limit: nothing is published.
            None | Some(Ending::LimitReached | Ending::Deferred)
                if self.context.shutdown.is_stopping() =>
            {
                self.end.ending = Some(Ending::Stopped);
            }
            None if now >= self.end.deadline
                && !(self.frontier_is_drained() && self.known.unvisited.is_over()) =>
            {
                self.end.ending = Some(Ending::LimitReached);
                self.end.limit = Some(Limit::Time);
            }
            None | Some(_) => {}
        }
    }

    /// Whether everything is decided that was found so far.
    fn frontier_is_drained(&self) -> bool {
        self.frontier.is_empty()
            && self.requests.out.is_empty()
            && self.seeding.is_idle()
            && self.revalidation.waiting() == 0
    }

    fn is_done(&self) -> bool {
        let idle = self.requests.out.is_empty()
            && self.commits.is_home()
            && self.commits.is_empty()
            && self.revalidation.waiting() == 0;
        let is_stopped = matches!(self.end.ending, Some(Ending::Stopped | Ending::SiteDown));
        let idle = idle && (is_stopped || !self.revalidation.is_testing());
        let is_drained = || self.frontier_is_drained() && self.known.unvisited.is_over();
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
        self.note_not_recorded();
        let wanted = self.frontier.wants().filter(|_| self.end.ending.is_none());
        let limit = self.context.config.limits.max_pending_bytes / COMMIT_PART;
        let is_due = now >= self.commits.due();
        let waits = !self.commits.is_empty() || self.revalidation.waiting() > 0;
        let is_wanted = wanted.is_some() && (is_due || self.frontier.is_starving());
        let is_worth_it = self.commits.next_bytes() >= limit
            || self.revalidation.is_full()
            || waits && (is_due || self.requests.out.is_empty())
            || self.wants_cached()
            || self.wants_unvisited()
            || is_wanted;
        if !is_worth_it || !self.commits.is_home() {
            return;
        }
        if wanted.is_some() {
            self.frontier.asked();
        }
        let wants_unvisited = self.wants_unvisited();
        let questions = Questions {
            wanted,
            copy_of: self.ask_for_cached(),
            not_modified: self.revalidation.ask(),
            unvisited: wants_unvisited
                .then(|| self.known.unvisited.ask())
                .flatten(),
        };
        self.commits.send(&mut self.tasks, questions, now);
    }

    fn take_committed(&mut self, committed: Committed) -> Result<(), CrawlError> {
        let answers = self.commits.take(committed)?;
        if let Some((wanted, urls)) = answers.refill {
            self.frontier.refill(&wanted, urls);
        }
        if let Some((url, copy)) = answers.cached {
            self.take_cached(&url, copy);
        }
        self.take_rereads(answers.rereads);
        if let Some(portion) = answers.unvisited {
            self.take_unvisited(portion);
        }
        Ok(())
    }

    /// Asks for robots.txt again when it is a day old.
    fn refresh_robots(&mut self, now: Instant) {
        if !self.rules.is_due(now) {
            return;
        }
        let (door, origin, stop) = (
            self.context.door.clone(),
            self.context.site.origin.clone(),
            self.context.shutdown.stop.clone(),
        );
        let work = async move { Event::Robots(door.robots(&origin, &stop).await) };
        let task = self.tasks.spawn(work.in_current_span());
        self.rules.read_by(task.id());
    }

    fn take(&mut self, joined: Result<(Id, Event), JoinError>) -> Result<(), CrawlError> {
        match joined {
            Ok((id, Event::Page(done))) => {
                if let Some(out) = self.requests.out.remove(&id) {
                    self.take_page(out, *done);
                }
            }
            Ok((_, Event::Committed(committed))) => self.take_committed(*committed)?,
            Ok((_, Event::Robots(robots))) => self.take_robots(robots),
            Ok((_, Event::StartPage { is_well })) => self.take_start_page(is_well),
            Ok((_, Event::Seed(end))) => self.take_seed(*end),
            Ok((_, Event::Test(end))) => self.take_test(&end),
            Err(error) => match self.requests.out.remove(&error.id()) {
                // The turn was used, so dropping it counts as an end.
                Some(Out { lease, .. }) if error.is_cancelled() => self.frontier.give_back(lease),
                Some(Out { lease, .. }) => {
                    tracing::error!(target: "engine", url = %lease.url(), "internal error while handling a page: {error}");
                    self.counts.fetched += 1;
                    self.decide_unfetched(lease, Reason::InternalError);
                }
                None if self.rules.is_task(error.id()) => {
                    let why = format!("internal error: {error}");
                    self.take_robots(Robots::Unreachable(why, None));
                }
                None if self.seeding.is_task(error.id()) => {
                    tracing::error!(target: "engine", "internal error while reading a document: {error}");
                    self.take_seed(SeedEnd::Internal(error.to_string()));
                }
                None if self.revalidation.is_test(error.id()) => {
                    tracing::error!(target: "engine", "internal error while testing validators: {error}");
                    self.take_test(&TestEnd::default());
                }
                None if self.commits.is_task(error.id()) => {
                    return Err(CrawlError::of_task(USING_STATE, error));
                }
                None if error.is_cancelled() => {}
                None => return Err(CrawlError::of_task("crawling this site", error)),
            },
        }
        Ok(())
    }

    fn take_robots(&mut self, robots: Robots) {
        match self.rules.take(robots) {
            Change::Rules(rules) => {
                self.commits.set(resume::robots_value(&rules));
                self.seeding.know(&self.context.site.origin, rules);
            }
            Change::TooSlow(delay) => {
                self.say(too_slow(&self.context.site.origin, delay));
                self.end.ending.get_or_insert(Ending::Deferred);
            }
            Change::Nothing => {}
        }
    }

    fn show(&mut self, now: Instant, is_last: bool) {
        if !is_last && !self.display.is_due(now) {
            return;
        }
        let Context {
            door, host, site, ..
        } = &self.context;
        let (host, pace) = {
            let clocks = door.clocks();
            (clocks.state(host, now), clocks.pace(host))
        };
        let progress = Progress {
            site: Some(site.clone()),
            fetched: self.counts.fetched,
            queued: self.known.waiting(),
            known: self.known.len(),
            failed: self.known.failed(),
            bytes_in: self.counts.bytes_in,
            in_flight: u32::try_from(self.requests.out.len()).unwrap_or(u32::MAX),
            host,
            trouble: self.trouble.last(),
            pace,
            ..Progress::default()
        };
        self.display.show(now, progress);
    }
}
