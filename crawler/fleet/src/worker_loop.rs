//! A worker of a fleet: it claims hosts that are due from the catalogue, at most `max_sites` at a time, and works on the sites of
//! each under a lease. Any number of workers share a catalogue; they know nothing of each other. How a site is crawled and
//! published is the same as on a single machine.
//!
//! ```text
//! claim -> begin site -> fetch state -> crawl, checkpoints -> publish -> end site -> ... -> give the host back
//!            heartbeats renew all leases meanwhile; a lease without renewal stops its session
//! ```

use std::{
    collections::HashMap,
    fs,
    hash::{BuildHasher as _, RandomState},
    path::Path,
    process,
    sync::Arc,
    time::Duration,
};

use crawler::{
    client::{SignalRequest, StopSignal},
    driver::{ServiceManager, Stopping, ready},
    failure::{self, Context as _, Misuse, Panicked, caught},
    human, machine,
    outcome::ExitCode,
    storage::StateStorage,
    store::with_causes,
};
use tokio::{
    sync::RwLock,
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    health::{self, StorageHealth},
    leases::Leases,
    session,
    worker::{Worker, WorkerParts, WorkerSettings},
};
use crate::catalogue::{Catalogue, CatalogueError, HostLease};

/// Time between two claims while hosts are due, and after an answer without hosts. A tenth of it, more or less, is chance.
const POLL: Duration = Duration::from_secs(2);
const POLL_WHEN_IDLE: Duration = Duration::from_secs(5);

/// Time between two looks at what the sessions have to report.
const NEWS: Duration = Duration::from_secs(1);

/// Time for the last request to the catalogue.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Connects a worker by the settings of a daemon, and works until a signal comes.
///
/// # Errors
/// The settings make no sense for a worker, or the catalogue cannot be reached or has other tables.
pub async fn run_worker(
    settings: WorkerSettings,
    parts: WorkerParts,
    asked: impl AsyncFnMut() -> SignalRequest,
) -> failure::Result<ExitCode> {
    let Some(storage) = &settings.storage else {
        let message = "storage: a worker needs a place for the states of its sites; expected, for example, --storage \
                       s3://BUCKET/states";
        return Err(Misuse(message.to_owned()).into());
    };
    let states =
        StateStorage::open(storage).map_err(|error| Misuse(format!("storage: {error}")))?;
    // A worker that cannot store states would keep hosts from others.
    states.list("worker").await.map_err(|error| {
        let message = with_causes(&error);
        Misuse(format!(
            "storage: {message}; expected a bucket that exists, and its keys in the environment (AWS_ACCESS_KEY_ID and others)"
        ))
    })?;
    let catalogue = Catalogue::connect(&settings.catalogue).await?;
    catalogue.check_version().await?;
    let folder = std::path::absolute(&settings.state)?;
    remove_work(&folder)?;
    let host = machine::host_name().unwrap_or_else(|| "worker".to_owned());
    let worker = Arc::new(Worker {
        catalogue: Arc::new(catalogue),
        states: Arc::new(states),
        board: parts.board,
        observer: parts.observer,
        read_site: parts.read_site,
        folder,
        checkpoint_interval: settings.checkpoint_interval,
        name: format!("{host}-{}", process::id()),
        began: parts.crawler.clock.now(),
        leases: Leases::new(settings.lease_time),
        health: StorageHealth::default(),
        together: RwLock::default(),
        reported: Default::default(),
        crawler: parts.crawler,
    });
    let ended = WorkerLoop {
        service: parts.service,
        lease_time: settings.lease_time,
        max_sites: settings.max_sites,
        stop_timeout: settings.stop_timeout,
        hosts: JoinSet::new(),
        epochs: HashMap::new(),
        claiming: JoinSet::new(),
        claim_at: Instant::now(),
        stopping: None,
        worker: Arc::clone(&worker),
    };
    let mut background = JoinSet::new();
    background.spawn(Arc::clone(&worker).beat());
    background.spawn(worker.leases.clone().watch());
    background.spawn(watch_storage(Arc::clone(&worker)));
    let code = ended.run(asked).await;
    drop(background);
    // The catalogue forgets a worker by itself, later.
    let forgotten = worker.catalogue.forget_worker(&worker.name);
    let _ = timeout(LAST_WORDS, forgotten).await;
    worker.crawler.output.info("stopped");
    Ok(code)
}

/// Removes what sessions of an earlier worker left in its folder of states: what counts is in the storage.
fn remove_work(folder: &Path) -> failure::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(session::FOLDER) {
            fs::remove_dir_all(&path).context(format!("failed to remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// A claim: its hosts, and when it was asked for by the clock of the machine.
type Claimed = (Result<Vec<HostLease>, CatalogueError>, Duration);

/// The loop of a worker over its events.
struct WorkerLoop {
    worker: Arc<Worker>,
    service: ServiceManager,
    lease_time: Duration,
    max_sites: usize,
    stop_timeout: Duration,
    /// The work on hosts, one task each.
    hosts: JoinSet<()>,
    /// The leases of their tasks, by number.
    epochs: HashMap<Id, i64>,
    claiming: JoinSet<Claimed>,
    claim_at: Instant,
    stopping: Option<Stopping>,
}

impl WorkerLoop {
    async fn run(mut self, mut asked: impl AsyncFnMut() -> SignalRequest) -> ExitCode {
        let worker = Arc::clone(&self.worker);
        worker.crawler.output.info(&format!(
            "worker {} of the catalogue at {}, at most {} at a time",
            worker.name,
            worker.catalogue.place(),
            human::count(self.max_sites as u64, "host"),
        ));
        ready();
        let mut news_at = Instant::now() + NEWS;
        loop {
            if let Some(code) = self.code_when_stopped() {
                return code;
            }
            self.service.report_alive(Instant::now());
            self.claim();
            let claims = self.claiming.is_empty() && self.has_room();
            // Cancel safe: all arms; what was not taken stays.
            tokio::select! {
                Some(ended) = self.hosts.join_next_with_id() => self.ended(ended),
                asked = asked() => match asked {
                    SignalRequest::Stop(signal) => self.obey(signal),
                    SignalRequest::Reload => worker.crawler.output.info(
                        "a worker reads the settings of a site when its session begins; restart it for its own settings"
                    ),
                },
                Some(claimed) = self.claiming.join_next() => self.take_claimed(claimed),
                () = sleep_until(self.claim_at), if claims => {}
                () = sleep_until(news_at) => {
                    news_at = Instant::now() + NEWS;
                    worker.board.print_news();
                    self.report_to_service();
                }
            }
        }
    }

    fn has_room(&self) -> bool {
        self.stopping.is_none()
            && self.hosts.len() < self.max_sites
            && self.worker.health.is_ready()
            // No session begins while one waits to be alone, or is.
            && self.worker.together.try_read().is_ok()
    }

    /// Asks for hosts when there is room for some, and it is time.
    fn claim(&mut self) {
        if !self.claiming.is_empty() || !self.has_room() || self.claim_at > Instant::now() {
            return;
        }
        let room = u32::try_from(self.max_sites - self.hosts.len()).unwrap_or(u32::MAX);
        let (worker, lease_time) = (Arc::clone(&self.worker), self.lease_time);
        self.claiming.spawn(async move {
            let asked = machine::boot_time();
            let claimed = worker.catalogue.claim(&worker.name, room, lease_time).await;
            (claimed, asked)
        });
    }

    fn take_claimed(&mut self, claimed: Result<Claimed, JoinError>) {
        let worker = &self.worker;
        let (rows, asked) = match claimed {
            Ok((Ok(rows), asked)) => (rows, asked),
            Ok((Err(error), _)) => {
                worker.warn_of(&error);
                (Vec::new(), Duration::ZERO)
            }
            Err(error) => {
                let panicked = Panicked::from_join(error);
                worker.crawler.output.error(&panicked.to_string());
                (Vec::new(), Duration::ZERO)
            }
        };
        let wait = if rows.is_empty() {
            POLL_WHEN_IDLE
        } else {
            POLL
        };
        self.claim_at = Instant::now() + with_chance(wait);
        for row in rows {
            let epoch = row.epoch;
            let lease = worker.leases.add(row, asked);
            if let Some(signal) = worker.crawler.stop.asked_by() {
                lease.stop.obey(signal);
            }
            // A panic of a session is caught; one of its surroundings leaves the lease, which ends by itself.
            let work = session::work_on_host(Arc::clone(worker), lease);
            let output = worker.crawler.output.clone();
            let task = self.hosts.spawn(async move {
                if let Err(panicked) = caught(Box::pin(work)).await {
                    output.error(&panicked.to_string());
                }
            });
            self.epochs.insert(task.id(), epoch);
        }
    }

    /// The work on a host has ended.
    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        if let Some(epoch) = self.epochs.remove(&id) {
            self.worker.leases.remove(epoch);
        }
    }

    fn obey(&mut self, signal: StopSignal) {
        let output = &self.worker.crawler.output;
        let reaction = self.worker.crawler.stop.obey(signal);
        for lease in self.worker.leases.all() {
            lease.stop.obey(signal);
        }
        let message = || {
            format!(
                "stopping within {}; other workers continue with {}",
                human::duration(self.stop_timeout),
                human::count(self.hosts.len() as u64, "host"),
            )
        };
        let new = Stopping::new(signal, self.stop_timeout);
        new.follow(reaction, &mut self.stopping, message, output);
    }

    /// The exit code once all hosts were given back after a signal, or need not be waited for any longer.
    fn code_when_stopped(&self) -> Option<ExitCode> {
        let stopping = self.stopping?;
        let worker = &self.worker;
        let (output, shutdown) = (&worker.crawler.output, &worker.crawler.stop.shutdown);
        let late = || {
            let hosts = human::count(self.hosts.len() as u64, "host");
            format!("{hosts} not given back in time; other workers continue when the leases end")
        };
        let is_over = self.hosts.is_empty() && self.claiming.is_empty();
        let code = stopping.code(is_over, late, output);
        if code.is_none() && stopping.aborts(shutdown) {
            shutdown.abort();
            for lease in worker.leases.all() {
                lease.stop.shutdown.abort();
            }
        }
        code
    }

    fn report_to_service(&mut self) {
        let running = human::count(self.hosts.len() as u64, "host");
        let status = match self.stopping {
            Some(_) => format!("stopping, {running} left"),
            None => format!("working on {running}"),
        };
        self.service.report_status(&status);
    }
}

/// A time of about `span`, so that workers that were started together do not ask together.
fn with_chance(span: Duration) -> Duration {
    // Each state has keys of its own.
    let chance = RandomState::new().hash_one(0) % 200;
    span * (900 + u32::try_from(chance).unwrap_or(0)) / 1000
}

/// Looks at the storage again and again, and stops the sessions of the worker when it cannot be worked with.
async fn watch_storage(worker: Arc<Worker>) {
    let name = format!("worker/{}", worker.name);
    let output = worker.crawler.output.clone();
    let mut was_ready = true;
    loop {
        sleep(health::LOOK).await;
        worker.health.look(&worker.states, &name).await;
        let is_ready = worker.health.is_ready();
        if is_ready && !was_ready {
            output.info("the storage answers again: hosts are claimed");
        }
        if !is_ready {
            // Also those that were claimed meanwhile.
            for lease in worker.leases.all() {
                lease.stop.shutdown.stop();
            }
        }
        if !is_ready && was_ready {
            output.error(
                "the storage refuses this worker, or does not answer for 5 minutes: its hosts are given back, and none is claimed. \
                 Check its keys and its address; this worker goes on by itself when the storage answers",
            );
        }
        was_ready = is_ready;
        if let Some(observer) = &worker.observer {
            observer.set_storage(is_ready);
        }
    }
}
