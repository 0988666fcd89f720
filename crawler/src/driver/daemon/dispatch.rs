//! The loop of the daemon over a closed set of events: it asks the timetable which site starts, starts it, and waits.
//! It decides nothing about times, and knows nothing of how a site is crawled. It waits for events only: files are read
//! and written beside it, so that a disk that hangs delays no signal, no end of a session and no sign of life.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    io,
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::{
    task::{JoinError, JoinHandle},
    time::{Instant, sleep_until},
};

use super::{
    other_work::{DaemonWork, OtherWork},
    schedule_file::{self, ScheduleRecord, ScheduleStates},
    service::{self, ServiceManager},
    words,
};
use crate::{
    client::{Reaction, Shutdown, SignalRequest, Stop, StopSignal},
    clock::Clock,
    config::PolitenessConfig,
    driver::{
        board::{Board, SessionWatch},
        crawler::SiteResult,
        messages::{MessageKind, Messenger},
        sessions::Sessions,
        settings::SiteSettings,
    },
    failure::{self, Failure, Panicked},
    human,
    outcome::ExitCode,
    politeness::SharedPoliteness,
    schedule::{Planned, Timetable, TimetableStep},
    served::ServedReport,
    site_run::{Pauses, read_pauses},
};

/// Longest wait, so that a clock that was changed is noticed.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Time between two looks at what the sessions have to report.
const NEWS: Duration = Duration::from_secs(1);

/// Share of the time to stop that requests in flight get; the rest is for what was begun with them.
const SHARE_OF_REQUESTS: (u32, u32) = (2, 3);

/// Settings of a daemon.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct DaemonSettings {
    /// The sites; those without a schedule are not crawled.
    pub sites: Vec<Arc<SiteSettings>>,
    /// Sites that are crawled at the same time.
    pub max_sites: usize,
    /// Folder of the states.
    pub state: PathBuf,
    /// The longest that the daemon takes to stop.
    pub stop_timeout: Duration,
    /// Settings of the clocks of all hosts.
    pub politeness: PolitenessConfig,
    /// Warnings about the settings, each a sentence.
    pub warnings: Vec<String>,
}

/// Reads the settings again.
pub type Load = Arc<dyn Fn() -> failure::Result<DaemonSettings> + Send + Sync>;

/// The settings that were read again.
type Loaded = Result<failure::Result<DaemonSettings>, JoinError>;

/// Dependencies of the daemon.
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct DaemonParts {
    /// Gets messages.
    pub output: Messenger,
    /// Shows the sessions.
    pub board: Arc<dyn Board>,
    /// Clock of the computer.
    pub clock: Arc<dyn Clock>,
    /// Stops the sessions.
    pub stop: Stop,
    /// The clocks of all hosts, which new settings reach.
    pub politeness: SharedPoliteness,
    /// The service manager that started the program.
    pub service: ServiceManager,
    /// Reads the settings again.
    pub load: Load,
}

/// Events of the daemon.
enum DaemonEvent {
    /// A session has ended.
    Ended(Arc<SiteSettings>, Box<SiteResult>),
    /// A signal came.
    SignalRequest(SignalRequest),
    /// The settings were read again.
    Loaded(Box<Loaded>),
    /// The pauses were read, or cannot be read.
    PausesRead(Result<io::Result<Pauses>, JoinError>),
    /// The record was stored, or cannot be stored.
    Stored(Result<io::Result<ScheduleRecord>, JoinError>),
    /// Schedules may have something that is due.
    Step,
    /// Other work is due: news of the sessions, a sign of life, the end of a stop.
    Beside,
}

/// The daemon: what it knows of its sites, and the sessions that are under way.
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct Dispatcher<C> {
    dependencies: DaemonParts,
    /// The work on a site.
    crawl: C,
    timetable: Timetable,
    /// Sites that have a schedule, by name.
    sites: BTreeMap<String, Arc<SiteSettings>>,
    sessions: Sessions,
    /// When the crawls among them began, by the names of their sites.
    began: BTreeMap<String, Timestamp>,
    pauses: PausesInForce,
    /// The work beside crawls.
    others: OtherWork,
    /// The folder of what is stored.
    state: PathBuf,
    /// The record that this daemon stored last.
    stored: Option<ScheduleRecord>,
    /// Writes it, one at a time.
    storing: Option<JoinHandle<io::Result<ScheduleRecord>>>,
    loading: Loading,
    /// The message that nothing can be stored was printed.
    storing_fails: bool,
    stop_timeout: Duration,
    stopping: Option<Stopping>,
}

/// The settings that are being read again.
#[derive(Debug, Default)]
struct Loading {
    /// Reads them, one at a time.
    task: Option<JoinHandle<failure::Result<DaemonSettings>>>,
    /// They are read once more when that is over: they may have changed meanwhile.
    again: bool,
}

/// The pauses that were read last, and what they need.
#[derive(Debug, Default)]
struct PausesInForce {
    known: Pauses,
    /// Reads them, one at a time.
    reading: Option<JoinHandle<io::Result<Pauses>>>,
    /// Sites that are due start when that is over.
    steps_after: bool,
    /// The message that they cannot be read was printed.
    reading_fails: bool,
    /// Each stops one session, by the name of its site.
    stops: BTreeMap<String, Stop>,
}

/// A stop that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Stopping {
    code: ExitCode,
    /// When requests in flight are dropped.
    abort_at: Instant,
    /// When nothing is waited for any longer.
    end_at: Instant,
}

impl Stopping {
    /// A stop by `signal` that may take as long as `timeout`.
    pub fn new(signal: StopSignal, timeout: Duration) -> Self {
        let (now, (share, of)) = (Instant::now(), SHARE_OF_REQUESTS);
        Self {
            code: signal.into(),
            abort_at: now + timeout * share / of,
            end_at: now + timeout,
        }
    }

    /// Follows the reaction to a signal: this stop begins with `message`, or the one under way ends sooner.
    pub fn follow(
        self,
        reaction: Reaction,
        stopping: &mut Option<Self>,
        message: impl FnOnce() -> String,
        output: &Messenger,
    ) {
        match reaction {
            Reaction::Stopping => {
                *stopping = Some(self);
                service::stopping();
                output.info(&message());
            }
            Reaction::Aborting => output.info("stopping now: requests in flight are dropped"),
            Reaction::Dying => {
                if let Some(stopping) = stopping {
                    stopping.end_at = Instant::now();
                }
            }
        }
    }

    /// The exit code once what is waited for `is_over`, or need not be waited for any longer: then `late` is the error.
    pub fn code(
        self,
        is_over: bool,
        late: impl FnOnce() -> String,
        output: &Messenger,
    ) -> Option<ExitCode> {
        if !is_over {
            if self.end_at > Instant::now() {
                return None;
            }
            output.error(&late());
        }
        Some(self.code)
    }

    /// Returns whether requests in flight are to be dropped, and were not yet.
    pub fn aborts(self, shutdown: &Shutdown) -> bool {
        self.abort_at <= Instant::now() && !shutdown.is_aborting()
    }
}

impl<C, W> Dispatcher<C>
where
    C: Fn(DaemonWork, Arc<SiteSettings>, SessionWatch, Stop) -> W,
    W: Future<Output = SiteResult> + Send + 'static,
{
    /// A daemon of the sites in `settings` that have a schedule, of which earlier ones left this `record`; `crawl` does the
    /// work on a site.
    pub fn new(
        dependencies: DaemonParts,
        settings: &DaemonSettings,
        record: ScheduleRecord,
        crawl: C,
    ) -> Self {
        let mut dispatcher = Self {
            crawl,
            timetable: Timetable::new(settings.max_sites),
            sites: BTreeMap::new(),
            sessions: Sessions::new(&dependencies.board, &dependencies.output),
            began: BTreeMap::new(),
            pauses: PausesInForce::default(),
            others: OtherWork::new(record.publish_at, record.look_at),
            state: settings.state.clone(),
            stored: None,
            storing: None,
            loading: Loading::default(),
            storing_fails: false,
            stop_timeout: settings.stop_timeout,
            stopping: None,
            dependencies,
        };
        dispatcher.take_settings(settings, record.sites);
        dispatcher
    }

    /// Sessions until it is asked to stop; `asked` waits for the next signal, and must lose none when it is dropped.
    pub async fn run(mut self, mut asked: impl AsyncFnMut() -> SignalRequest) -> ExitCode {
        self.print_schedules();
        service::ready();
        let mut next_step = Instant::now();
        loop {
            if let Some(code) = self.code_when_stopped() {
                return code;
            }
            self.dependencies.service.report_alive(Instant::now());
            let next_beside = self.next_beside();
            let event = tokio::select! {
                // Cancel safe: an end that was not taken stays.
                Some((site, run)) = self.sessions.next() => DaemonEvent::Ended(site, Box::new(run)),
                // Cancel safe: a signal that was not taken stays.
                asked = asked() => DaemonEvent::SignalRequest(asked),
                // Cancel safe: so are these, until they were taken.
                loaded = end_of(&mut self.loading.task) => DaemonEvent::Loaded(Box::new(loaded)),
                stored = end_of(&mut self.storing) => DaemonEvent::Stored(stored),
                read = end_of(&mut self.pauses.reading) => DaemonEvent::PausesRead(read),
                // Cancel safe: the next round asks again which site is due.
                () = sleep_until(next_step) => DaemonEvent::Step,
                // Cancel safe: so is this.
                () = sleep_until(next_beside) => DaemonEvent::Beside,
            };
            match event {
                DaemonEvent::Ended(site, run) => self.ended(&site, &run),
                DaemonEvent::SignalRequest(SignalRequest::Reload) => self.reload(),
                DaemonEvent::SignalRequest(SignalRequest::Stop(signal)) => self.obey(signal),
                DaemonEvent::Loaded(loaded) => self.loaded(*loaded),
                DaemonEvent::Stored(stored) => {
                    // What cannot be stored is tried again with the next step, not at once.
                    if self.note_stored(stored) {
                        self.store();
                    }
                    continue;
                }
                DaemonEvent::Step => {
                    self.read_pauses();
                    self.pauses.steps_after = true;
                    next_step = Instant::now() + LONGEST_WAIT;
                    continue;
                }
                DaemonEvent::PausesRead(read) => {
                    self.take_pauses(read);
                    if !std::mem::take(&mut self.pauses.steps_after) {
                        continue;
                    }
                }
                DaemonEvent::Beside => {
                    self.dependencies.board.print_news();
                    self.read_pauses();
                    continue;
                }
            }
            next_step = self.step();
        }
    }

    /// Starts the crawls that are due; returns when the next event is due.
    fn step(&mut self) -> Instant {
        let wake = self.start_due();
        self.store();
        self.report_to_service();
        let wait = wake.map_or(LONGEST_WAIT, |wake| {
            let wait = wake.duration_since(self.dependencies.clock.now());
            Duration::try_from(wait).unwrap_or_default()
        });
        Instant::now() + wait.min(LONGEST_WAIT)
    }

    /// Starts all crawls that are due; returns the time of the next one.
    fn start_due(&mut self) -> Option<Timestamp> {
        if self.stopping.is_some() {
            return None;
        }
        loop {
            let now = self.dependencies.clock.now();
            match self.timetable.step(now) {
                TimetableStep::Start { name, slot, missed } => self.start(&name, slot, missed, now),
                TimetableStep::WaitUntil(wake) => return Some(self.start_others(now).min(wake)),
                TimetableStep::Wait => return Some(self.start_others(now)),
            }
        }
    }

    /// Starts the publishes without a crawl and the looks that are due; returns the time of the next one.
    fn start_others(&mut self, now: Timestamp) -> Timestamp {
        for (work, name) in self.others.due(now) {
            // One that is busy has its turn at the end of that.
            if let Some(site) = self.sites.get(&name).cloned()
                && self.timetable.occupy(&name, now)
            {
                self.others.begin(name, work);
                self.begin(work, site);
            }
        }
        self.others.next(now)
    }

    fn start(&mut self, name: &str, slot: Timestamp, missed: u32, now: Timestamp) {
        // The timetable has the sites that are here, and no others.
        let Some(site) = self.sites.get(name).cloned() else {
            self.timetable.ended(name, now);
            return;
        };
        let fields = [("slot", slot.to_string().into()), ("missed", missed.into())];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        self.dependencies.output.of_site(name).print(
            MessageKind::Plain,
            &words::begins(slot, missed),
            &fields.into_iter().collect(),
        );
        self.began.insert(name.to_owned(), now);
        self.begin(DaemonWork::Crawl, site);
    }

    /// Begins work on a site, which can be stopped by itself.
    fn begin(&mut self, work: DaemonWork, site: Arc<SiteSettings>) {
        let stop = self.dependencies.stop.of_part();
        self.pauses.stops.insert(site.name.clone(), stop.clone());
        let own = Arc::clone(&site);
        self.sessions
            .start(site, |watch| (self.crawl)(work, own, watch, stop));
    }

    /// Begins to read the pauses.
    fn read_pauses(&mut self) {
        if self.pauses.reading.is_none() {
            let (state, now) = (self.state.clone(), self.dependencies.clock.now());
            let read = move || read_pauses(&state, now);
            self.pauses.reading = Some(tokio::task::spawn_blocking(read));
        }
    }

    /// Takes the pauses that were read: work on a site that is paused stops, and none begins. Those of before stay when they cannot
    /// be read, which is reported once.
    fn take_pauses(&mut self, read: Result<io::Result<Pauses>, JoinError>) {
        let output = &self.dependencies.output;
        let pauses = match read {
            Ok(Ok(pauses)) => pauses,
            Ok(Err(error)) => {
                if !std::mem::replace(&mut self.pauses.reading_fails, true) {
                    let state = self.state.display();
                    output.error(&format!("the pauses in {state} cannot be read: {error}"));
                }
                return;
            }
            Err(error) => return output.error(&Panicked::from_join(error).to_string()),
        };
        self.pauses.reading_fails = false;
        if pauses == self.pauses.known {
            return;
        }
        for (name, pause) in &pauses {
            let is_new = self.sites.contains_key(name) && !self.pauses.known.contains_key(name);
            if is_new {
                output.of_site(name).info(&pause.text());
            }
            let stop = self.pauses.stops.get(name).map(|stop| &stop.shutdown);
            if let Some(shutdown) = stop.filter(|shutdown| !shutdown.is_stopping()) {
                shutdown.stop();
            }
        }
        for name in self.pauses.known.keys() {
            if self.sites.contains_key(name) && !pauses.contains_key(name) {
                output.of_site(name).info("resumed");
            }
        }
        self.timetable.set_paused(pauses.keys().cloned().collect());
        self.pauses.known = pauses;
        self.pauses.steps_after = true;
    }

    fn ended(&mut self, site: &SiteSettings, run: &SiteResult) {
        let name = &site.name;
        self.pauses.stops.remove(name);
        let work = match self.began.remove(name) {
            Some(_) => DaemonWork::Crawl,
            None => self.others.end(name),
        };
        let is_crawl = work == DaemonWork::Crawl;
        let now = self.dependencies.clock.now();
        // A reload may have removed it.
        if self.sites.contains_key(name) {
            self.others.plan(site, work, run, now);
        }
        let output = self.dependencies.output.of_site(name);
        let mut fields = run.summary.log_fields();
        fields.insert("exit_code".to_owned(), (run.code as u8).into());
        let served = run.summary.served();
        let served = served.filter(|_| work == DaemonWork::Look);
        let line = served.map_or_else(|| run.summary.line(), ServedReport::line);
        output.print(words::kind_of_end(run.code), &line, &fields);
        if !is_crawl || matches!(run.code, ExitCode::Interrupted | ExitCode::Terminated) {
            self.timetable.interrupted(name);
            return;
        }
        let skipped = self.timetable.ended(name, now);
        if skipped > 0 {
            output.warn(&words::skipped(skipped));
        }
    }

    /// Begins to read the settings again.
    fn reload(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        service::reloading();
        if self.loading.task.is_some() {
            self.loading.again = true;
            return;
        }
        let load = Arc::clone(&self.dependencies.load);
        self.loading.task = Some(tokio::task::spawn_blocking(move || load()));
    }

    /// Takes settings that were read again; wrong ones are reported, and those of before stay.
    fn loaded(&mut self, loaded: Loaded) {
        if self.stopping.is_some() {
            return;
        }
        if std::mem::take(&mut self.loading.again) {
            self.reload();
            return;
        }
        let loaded = loaded
            .map_err(|error| Failure::from(Panicked::from_join(error)))
            .flatten();
        match loaded {
            Ok(settings) => self.adopt(&settings),
            Err(error) => {
                self.dependencies.output.failure(&error);
                self.dependencies
                    .output
                    .warn("the settings could not be read again; the current settings stay");
            }
        }
        service::ready();
    }

    /// New settings apply from now on; a session that is under way has those that it began with.
    fn adopt(&mut self, settings: &DaemonSettings) {
        let DaemonParts {
            output, politeness, ..
        } = &self.dependencies;
        for warning in &settings.warnings {
            output.warn(warning);
        }
        if settings.state != self.state {
            output.warn(&format!(
                "the times of the schedules stay in {} until the daemon is restarted",
                self.state.display()
            ));
        }
        politeness
            .lock()
            // The times stay valid when another thread panicked.
            .unwrap_or_else(PoisonError::into_inner)
            .set_shared_settings(&settings.politeness);
        self.timetable.set_max_running(settings.max_sites);
        self.stop_timeout = settings.stop_timeout;
        let before: Vec<String> = self.sites.keys().cloned().collect();
        // A site that was gone meanwhile begins with a new schedule.
        self.take_settings(settings, ScheduleStates::new());
        let before: Vec<_> = before.iter().map(String::as_str).collect();
        let now: Vec<_> = self.sites.keys().map(String::as_str).collect();
        self.dependencies
            .output
            .info(&words::changes(&before, &now));
        self.print_schedules();
    }

    /// The sites of `settings` that have a schedule take the place of those of before.
    fn take_settings(&mut self, settings: &DaemonSettings, mut pasts: ScheduleStates) {
        let scheduled = settings.sites.iter().filter_map(|site| {
            let planned = Planned {
                name: site.name.clone(),
                host: site.host(),
                schedule: site.schedule.clone()?,
            };
            Some((Arc::clone(site), planned))
        });
        let (sites, planned): (Vec<_>, Vec<_>) = scheduled.unzip();
        self.sites = sites
            .into_iter()
            .map(|site| (site.name.clone(), site))
            .collect();
        let now = self.dependencies.clock.now();
        self.others.retain(&self.sites);
        self.timetable
            .set_sites(planned, |name| pasts.remove(name), now);
    }

    fn obey(&mut self, signal: StopSignal) {
        let output = &self.dependencies.output;
        let reaction = self.dependencies.stop.obey(signal);
        let new = Stopping::new(signal, self.stop_timeout);
        let message = || match self.sessions.len() {
            0 => "stopping".to_owned(),
            running => format!(
                "stopping within {}; the next start continues {}",
                human::duration(self.stop_timeout),
                human::count(running as u64, "crawl"),
            ),
        };
        new.follow(reaction, &mut self.stopping, message, output);
    }

    /// The exit code once all sessions have ended after a signal, or need not be waited for any longer.
    fn code_when_stopped(&self) -> Option<ExitCode> {
        let stopping = self.stopping?;
        let (output, running) = (&self.dependencies.output, self.sessions.len());
        let shutdown = &self.dependencies.stop.shutdown;
        let late = || match running {
            0 => format!(
                "the times of the schedules were not written to {} in time; the next start may repeat a crawl",
                self.state.display()
            ),
            running => format!(
                "{} did not end in time; the next start continues as after a crash",
                human::count(running as u64, "crawl")
            ),
        };
        let code = stopping.code(running == 0 && self.storing.is_none(), late, output);
        if code.is_none() && running > 0 && stopping.aborts(shutdown) {
            shutdown.abort();
            output.info("requests in flight did not end in time and are dropped");
        }
        code
    }

    /// When what goes on beside has to be seen to again.
    fn next_beside(&self) -> Instant {
        let now = Instant::now();
        let news = (self.sessions.len() > 0).then(|| now + NEWS);
        let stopping = self.stopping.map(|stopping| {
            if stopping.abort_at > now {
                stopping.abort_at
            } else {
                stopping.end_at
            }
        });
        let dues = [news, stopping, self.dependencies.service.alive_at()];
        let longest = now + LONGEST_WAIT;
        dues.into_iter().flatten().fold(longest, Instant::min)
    }

    /// Begins to store what was done, when that is something else than before.
    fn store(&mut self) {
        if self.storing.is_some() {
            return;
        }
        let pasts = self.timetable.pasts();
        let stored = ScheduleRecord {
            sites: pasts.map(|(name, past)| (name.to_owned(), past)).collect(),
            running: self.began.clone(),
            publish_at: self.others.publish_at.clone(),
            look_at: self.others.look_at.clone(),
        };
        if self.stored.as_ref() == Some(&stored) {
            return;
        }
        let state = self.state.clone();
        let write = move || schedule_file::write(&state, &stored).map(|()| stored);
        self.storing = Some(tokio::task::spawn_blocking(write));
    }

    /// Returns true if the record was stored. A failure is reported once.
    fn note_stored(&mut self, stored: Result<io::Result<ScheduleRecord>, JoinError>) -> bool {
        let problem = match stored {
            Ok(Ok(stored)) => {
                self.stored = Some(stored);
                self.storing_fails = false;
                return true;
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => Panicked::from_join(error).to_string(),
        };
        if !self.storing_fails {
            self.storing_fails = true;
            self.dependencies.output.error(&format!(
                "the times of the schedules cannot be stored in {}: {problem}; the next start may repeat a crawl",
                self.state.display()
            ));
        }
        false
    }

    /// Logs the time of the next crawl of each site.
    fn print_schedules(&self) {
        let now = self.dependencies.clock.now();
        for (name, site) in &self.sites {
            let next = self.timetable.next_start(name, now);
            if let Some(line) = words::planned(site, next, now) {
                self.dependencies.output.of_site(name).info(&line);
            }
        }
    }

    /// Notifies the service manager of what goes on.
    fn report_to_service(&mut self) {
        let now = self.dependencies.clock.now();
        let running: Vec<_> = self.timetable.running().map(str::to_owned).collect();
        let starts = self
            .sites
            .keys()
            .filter_map(|name| Some((self.timetable.next_start(name, now)?, name)));
        let status = words::status(self.stopping.is_some(), &running, starts.min(), now);
        self.dependencies.service.report_status(&status);
    }
}

/// How `task` ends, once; for ever where there is none. Cancel safe.
async fn end_of<T>(task: &mut Option<JoinHandle<T>>) -> Result<T, JoinError> {
    let Some(running) = task else {
        return pending().await;
    };
    let ended = running.await;
    *task = None;
    ended
}
