//! The loop over one site: what a run is made of, what it does next, and when it is over. Everything that a task
//! brings back passes through here. The single writer of all state: every field here is touched by this loop only,
//! and nothing here waits but the loop itself.
//!
//! The store is *moved* into the blocking task of a trip and comes back with its answer, so there is
//! no lock and no second writer.
//!
//! `requests` sends for pages and takes their answers, `decide` judges them, `trips` stores what came of it; `seeding`
//! reads documents beside the pages, `recrawl` and `resume` know what was before, `outage` what failed with the whole host,
//! `trouble` what slowed it down, `moved` which redirects say nothing yet, `doubt` which answers are not believed yet,
//! `bounds` what is not recorded.

mod bounds;
mod decide;
pub(super) mod doubt;
mod hints;
mod moved;
mod outage;
pub(super) mod page_sink;
pub(super) mod recrawl;
mod requests;
pub(super) mod resume;
pub(super) mod seeding;
mod trips;
mod trouble;

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tracing::Instrument as _;

pub use self::trips::COMMIT_INTERVAL;
use self::{
    bounds::Bounds,
    hints::Hints,
    outage::Health,
    recrawl::{Recrawl, TestEnd},
    requests::{Out, PageDone},
    resume::Memory,
    seeding::{SeedEnd, Seeding},
    trips::Trip,
    trouble::HostTrouble,
};
use super::{
    CrawlError, Crawled, Ending, Limit, Progress, Resumed, Shutdown, USING_STATE,
    door::{Door, Robots},
    download::Downloader,
    judge::Judge,
    start::too_slow,
};
use crate::{
    config::Config,
    frontier::{Frontier, Seen},
    notes::Note,
    page::{Reason, RunId},
    parse::PageReader,
    site::Site,
    store::{Commit, Store},
    url_key::HostKey,
};

/// The screen is told of news at most this often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The loop looks around at least this often, so that the screen shows waits running down.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A robots.txt is used for at most this long (RFC 9309 section 2.4) ...
pub(super) const ROBOTS_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// ... and when it cannot be read again, the old one is kept and the next try is due after this long.
const ROBOTS_RETRY: Duration = Duration::from_secs(60 * 60);

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
    pub(super) store: Box<dyn Store>,
    pub(super) number: RunId,
    pub(super) resumed: bool,
    /// Whether the robots.txt of the site was read.
    pub(super) is_robots_read: bool,
    /// Where the set will be served, when somebody said so.
    pub(super) public_url: Option<String>,
    /// When the run has to end.
    pub(super) deadline: Instant,
}

/// One run in progress.
pub(super) struct Run<'a> {
    config: &'a Config,
    site: Site,
    host: HostKey,
    judge: Judge,
    /// Whether the judge's rules are those of a robots.txt that was read.
    is_robots_read: bool,
    robots_due: Instant,
    /// The task that reads robots.txt again.
    robots_task: Option<Id>,
    reader: Arc<PageReader>,
    door: Door,
    shutdown: &'a Shutdown,
    progress: watch::Sender<Progress>,
    shown: Progress,
    shown_at: Instant,
    /// `None` while it is on a trip.
    store: Option<Box<dyn Store>>,
    /// The task that has it meanwhile.
    trip_task: Option<Id>,
    number: RunId,
    /// What was known at the beginning, when the run was begun before.
    resumed: Option<Resumed>,
    tasks: JoinSet<Done>,
    out: HashMap<Id, Out>,
    frontier: Frontier,
    seen: Seen,
    seeding: Seeding,
    recrawl: Recrawl,
    health: Health,
    trouble: HostTrouble,
    /// A page would be asked for if there were a turn.
    page_waits: bool,
    pending: Commit,
    bounds: Bounds,
    last_trip: Instant,
    next_sequence: u64,
    queued: u64,
    failed: u64,
    fetched: u64,
    not_modified: u64,
    bytes_in: u64,
    links_out_of_scope: u64,
    hints: Hints,
    /// Everything that was said, and what of it is still of interest at the end.
    said: Vec<String>,
    notes: Vec<Note>,
    deadline: Instant,
    ending: Option<Ending>,
    limit: Option<Limit>,
    aborted: bool,
}

/// What a task of the set brings back.
enum Done {
    Page(PageDone),
    Trip(Trip),
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
        let now = Instant::now();
        let Memory {
            seen,
            queued,
            failed,
            next_sequence,
            documents,
            orphans,
            own,
            kept,
            honesty,
            answers,
            start_test,
            outages,
            has_earlier,
            state_bytes,
            not_recorded,
        } = setup.memory;
        let discover = setup.config.discover;
        let health = Health::new(setup.door.clock.now(), outages);
        let frontier = Frontier::new(setup.config.limits.max_depth.is_some());
        let seeding = Seeding::new(discover, setup.downloader, documents, own, kept, orphans)
            .publishing_at(setup.public_url.as_deref(), &setup.site);
        Self {
            config: setup.config,
            host: HostKey::new(&setup.site.origin.host),
            site: setup.site,
            judge: setup.judge,
            is_robots_read: setup.is_robots_read,
            robots_due: now + ROBOTS_LIFETIME,
            robots_task: None,
            reader: setup.reader,
            door: setup.door,
            shutdown: setup.shutdown,
            progress: setup.progress,
            shown: Progress::default(),
            shown_at: now,
            store: Some(setup.store),
            trip_task: None,
            number: setup.number,
            resumed: setup.resumed.then_some(Resumed {
                known: seen.len() as u64,
                queued,
            }),
            tasks: JoinSet::new(),
            out: HashMap::new(),
            frontier: if has_earlier {
                frontier.through_store()
            } else {
                frontier
            },
            seen,
            seeding,
            recrawl: Recrawl::new(has_earlier, setup.resumed, honesty, answers, start_test),
            health,
            trouble: HostTrouble::default(),
            page_waits: false,
            pending: Commit {
                run: setup.number,
                ..Commit::default()
            },
            bounds: Bounds::new(state_bytes, not_recorded),
            last_trip: now,
            next_sequence,
            queued,
            failed,
            fetched: 0,
            not_modified: 0,
            bytes_in: 0,
            links_out_of_scope: 0,
            hints: Hints::new(&setup.config.scope),
            said: Vec::new(),
            notes: Vec::new(),
            deadline: setup.deadline,
            ending: None,
            limit: None,
            aborted: false,
        }
    }

    /// What the user should read at once, and again at the end.
    pub(super) fn say(&mut self, note: Note) {
        self.mention(note.text.clone());
        self.notes.push(note);
    }

    /// A sentence the user should read at once.
    pub(super) fn mention(&mut self, notice: String) {
        tracing::debug!(target: "engine", "{notice}");
        self.said.push(notice);
    }

    /// Adds bytes that came in before the loop began.
    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.bytes_in += bytes;
    }

    /// Works until nothing is left or the run has to end.
    pub(super) async fn drive(mut self) -> Result<Crawled, CrawlError> {
        loop {
            let now = Instant::now();
            self.check_ends(now);
            let wake = self.dispatch(now);
            self.dispatch_seed();
            self.dispatch_test();
            self.trip(now);
            self.show(now, false);
            if self.is_done() {
                break;
            }
            let wake = self.wake(now, wake);
            let has_room = self.has_room();
            let stopping = matches!(self.ending, Some(Ending::Stopped | Ending::SiteDown));
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
                () = self.shutdown.stop.cancelled(), if !stopping => {}
                () = self.shutdown.abort.cancelled(), if !self.aborted => {}
            }
        }
        if self.queued == 0
            && self.seeding.is_idle()
            && self.recrawl.is_over()
            && matches!(self.ending, Some(Ending::LimitReached | Ending::Deferred))
        {
            // The last answers came in after the end was called: everything is decided after all.
            self.ending = None;
            self.limit = None;
        }
        self.conclude();
        self.conclude_trouble();
        self.conclude_seeding();
        self.show(Instant::now(), true);
        let store = self
            .store
            .take()
            .expect("the loop ends only when the store is at home");
        Ok(Crawled {
            site: self.site,
            store,
            run: self.number,
            resumed: self.resumed.is_some(),
            ending: self.ending.unwrap_or(Ending::Drained),
            fetched: self.fetched,
            not_modified: self.not_modified,
            bytes_in: self.bytes_in,
            links_out_of_scope: self.links_out_of_scope,
            limit: self
                .limit
                .filter(|_| self.ending == Some(Ending::LimitReached)),
            robots: self.is_robots_read.then(|| self.judge.robots().clone()),
            doubted: None,
            notes: self.notes,
        })
    }

    /// Notes why the run has to end, if it has to.
    fn check_ends(&mut self, now: Instant) {
        if self.shutdown.is_aborting() && !self.aborted {
            self.aborted = true;
            self.ending = Some(Ending::Stopped);
            // Pages only: the store must come back from its trip.
            self.out.values().for_each(|out| out.task.abort());
        }
        match self.ending {
            // A signal wins over a limit: nothing is published.
            None | Some(Ending::LimitReached | Ending::Deferred) if self.shutdown.is_stopping() => {
                self.ending = Some(Ending::Stopped);
            }
            None if now >= self.deadline
                && !(self.frontier_is_drained() && self.recrawl.is_over()) =>
            {
                self.ending = Some(Ending::LimitReached);
                self.limit = Some(Limit::Time);
            }
            None | Some(_) => {}
        }
    }

    /// Whether everything is decided that was found so far.
    fn frontier_is_drained(&self) -> bool {
        self.frontier.is_empty()
            && self.out.is_empty()
            && self.seeding.is_idle()
            && self.recrawl.is_idle()
    }

    fn is_done(&self) -> bool {
        let idle = self.out.is_empty()
            && self.store.is_some()
            && self.pending_effects() == 0
            && !self.recrawl.recalls();
        let is_stopped = matches!(self.ending, Some(Ending::Stopped | Ending::SiteDown));
        let idle = idle && (is_stopped || !self.recrawl.is_testing());
        let is_drained = || self.frontier_is_drained() && self.recrawl.is_over();
        idle && (self.ending.is_some() || is_drained())
    }

    fn wake(&self, now: Instant, dispatch: Option<Instant>) -> Instant {
        let mut wake = now + HEARTBEAT;
        if self.ending.is_none() && self.deadline > now {
            wake = wake.min(self.deadline);
        }
        if let Some(due) = dispatch {
            wake = wake.min(due);
        }
        if self.store.is_some() && (self.pending_effects() > 0 || self.recrawl.recalls()) {
            wake = wake.min(self.last_trip + COMMIT_INTERVAL);
        }
        wake
    }

    /// Asks for robots.txt again when it is a day old.
    fn refresh_robots(&mut self, now: Instant) {
        if self.robots_task.is_some() || now < self.robots_due {
            return;
        }
        let (door, origin, stop) = (
            self.door.clone(),
            self.site.origin.clone(),
            self.shutdown.stop.clone(),
        );
        let work = async move { Done::Robots(door.robots(&origin, &stop).await) };
        let task = self.tasks.spawn(work.in_current_span());
        self.robots_task = Some(task.id());
    }

    fn take(&mut self, joined: Result<(Id, Done), JoinError>) -> Result<(), CrawlError> {
        match joined {
            Ok((id, Done::Page(done))) => {
                if let Some(out) = self.out.remove(&id) {
                    self.take_page(out, done);
                }
            }
            Ok((_, Done::Trip(trip))) => {
                self.trip_task = None;
                self.store = Some(trip.store);
                (self.bounds.in_commit, self.bounds.state) = (0, trip.result?);
                if let Some((wanted, urls)) = trip.refill {
                    self.frontier.refill(&wanted, urls);
                }
                self.frontier.bring_forward(trip.hurried);
                if let Some((url, copy)) = trip.kept {
                    self.take_kept(&url, copy);
                }
                self.take_answers(trip.earlier);
            }
            Ok((_, Done::Robots(robots))) => self.take_robots(robots),
            Ok((_, Done::StartPage { is_well })) => self.take_start_page(is_well),
            Ok((_, Done::Seed(end))) => self.take_seed(*end),
            Ok((_, Done::Test(end))) => self.take_test(&end),
            Err(error) => match self.out.remove(&error.id()) {
                // The turn was used, so dropping it counts as an end.
                Some(Out { lease, .. }) if error.is_cancelled() => self.frontier.give_back(lease),
                Some(Out { lease, .. }) => {
                    tracing::error!(target: "engine", url = %lease.url(), "internal error while handling a page: {error}");
                    self.fetched += 1;
                    self.decide_unfetched(lease, Reason::InternalError);
                }
                None if self.robots_task == Some(error.id()) => {
                    let why = format!("internal error: {error}");
                    self.take_robots(Robots::Unreachable(why, None));
                }
                None if self.seeding.is_task(error.id()) => {
                    tracing::error!(target: "engine", "internal error while reading a document: {error}");
                    self.take_seed(SeedEnd::Internal(error.to_string()));
                }
                None if self.recrawl.is_test(error.id()) => {
                    tracing::error!(target: "engine", "internal error while testing validators: {error}");
                    self.take_test(&TestEnd::default());
                }
                None if self.trip_task == Some(error.id()) => {
                    return Err(CrawlError::of_task(USING_STATE, error));
                }
                None if error.is_cancelled() => {}
                None => return Err(CrawlError::of_task("crawling this site", error)),
            },
        }
        Ok(())
    }

    fn take_robots(&mut self, robots: Robots) {
        let now = Instant::now();
        self.robots_task = None;
        match robots {
            Robots::Rules(rules) => {
                self.seeding.know(&self.site.origin, rules.clone());
                self.pending.values.push(resume::robots_value(&rules));
                self.judge = self.judge.with_robots(rules);
                self.is_robots_read = true;
                self.robots_due = now + ROBOTS_LIFETIME;
            }
            Robots::Unreachable(why, _) | Robots::Forbidden(why) => {
                tracing::warn!(target: "engine", "robots.txt cannot be read again, the rules of yesterday hold: {why}");
                self.robots_due = now + ROBOTS_RETRY;
            }
            Robots::Refused(_) => self.robots_due = now + ROBOTS_RETRY,
            Robots::TooSlow(delay) => {
                self.robots_due = now + ROBOTS_RETRY;
                self.say(too_slow(&self.site.origin, delay));
                self.ending.get_or_insert(Ending::Deferred);
            }
        }
    }

    fn show(&mut self, now: Instant, last: bool) {
        if !last && now < self.shown_at + PROGRESS_INTERVAL && self.shown.site.is_some() {
            return;
        }
        self.shown_at = now;
        let (host, pace) = {
            let clocks = self.door.clocks();
            (clocks.state(&self.host, now), clocks.pace(&self.host))
        };
        self.shown = Progress {
            site: Some(self.site.clone()),
            fetched: self.fetched,
            queued: self.queued,
            known: self.seen.len() as u64,
            failed: self.failed,
            bytes_in: self.bytes_in,
            in_flight: u32::try_from(self.out.len()).unwrap_or(u32::MAX),
            host,
            trouble: self.trouble.last(),
            pace,
            resumed: self.resumed,
            notices: self.said.clone(),
        };
        self.progress.send_replace(self.shown.clone());
    }
}
