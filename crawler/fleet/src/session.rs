//! The sessions of one host under a lease, one after the other: the state of a site is fetched, the site is crawled and published as
//! on a single machine, checkpoints are stored meanwhile, and the catalogue learns how it ended. When the lease is lost, the session
//! leaves no trace but the objects that the next one replaces.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use crawler::{
    driver::{
        Crawler, Messenger, SessionStage, SessionWatch, SiteResult, SiteSettings, kind_of_end,
        session_site, site_of_start,
    },
    failure::{self, Cause, Failure, blocking},
    machine::private,
    outcome::SessionOutcome,
    retry_after::RetryAfterFile,
    storage::StorageError,
    url_key::HostKey,
};
use jiff::{SignedDuration, Timestamp};
use tokio::{
    runtime::Handle,
    sync::{RwLockReadGuard, RwLockWriteGuard, mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use tracing::Instrument as _;

use super::{
    checkpoint::{CheckpointError, Checkpoints},
    fence::{LeaseFence, LeasedFetch},
    leases::{RETRY, SessionLease},
    worker::Worker,
};
use crate::catalogue::{CatalogueError, NextSite, SiteEnd, SiteSession, next_run};

/// Begin of the names of folders in which sessions work.
pub(super) const FOLDER: &str = "site-";

/// Time between two looks at what the next worker has to know of a host.
const LOOK: Duration = Duration::from_secs(1);

/// A checkpoint is not stored before so many times as long as the one before it took.
const REST: u32 = 20;

/// When a site whose settings cannot be used is tried again.
const WRONG_SETTINGS: SignedDuration = SignedDuration::from_hours(1);

/// How the work on a host goes on after a session.
enum After {
    /// The next site of the host follows.
    Next,
    /// The host is given back: the site stays due.
    GiveBack,
}

/// Works on the sites of a host that are due, then gives the host back.
pub(super) async fn work_on_host(worker: Arc<Worker>, lease: Arc<SessionLease>) {
    let host = &lease.row.host;
    let mut is_alone = false;
    while lease.may_go_on() {
        let Some(turn) = SessionTurn::of(&worker, &lease, is_alone).await else {
            break;
        };
        let next = match worker.catalogue.begin(&lease.row, is_alone).await {
            Ok(next) => next,
            Err(CatalogueError::LeaseLost(_)) => {
                lease.lose();
                break;
            }
            Err(error) => {
                worker.warn_of(&error);
                sleep(RETRY).await;
                continue;
            }
        };
        let session = match next {
            NextSite::Session(session) => session,
            NextSite::SetAside { name, reason } => {
                let output = worker.crawler.output.of_site(&name);
                output.error(&format!(
                    "{name} is set aside: {reason}; it is tried again after a day, or by arpent resume {name}"
                ));
                continue;
            }
            NextSite::Alone => {
                is_alone = true;
                continue;
            }
            NextSite::NoneDue => break,
        };
        let span = worker.crawler.output.span_of_site(&session.name);
        let folder = worker
            .folder
            .join(format!("{FOLDER}{}-{}", lease.row.epoch, session.id));
        let work = SiteWork {
            worker: &worker,
            lease: &lease,
            output: worker.crawler.output.of_site(&session.name),
            folder: folder.clone(),
            noted: Noted::default(),
        };
        let after = work.run(session).instrument(span).await;
        drop(turn);
        is_alone = false;
        // What counts is in the storage.
        let _ = blocking(move || fs::remove_dir_all(folder)).await;
        match after {
            Ok(After::Next) | Err(CatalogueError::SiteGone(_)) => {}
            Ok(After::GiveBack) => break,
            Err(CatalogueError::LeaseLost(_)) => lease.lose(),
            Err(error) => {
                worker.warn_of(&error);
                break;
            }
        }
    }
    while lease.is_in_force() {
        match worker.catalogue.give_back(&lease.row).await {
            Ok(true) => return,
            Ok(false) => break,
            Err(error) => {
                worker.warn_of(&error);
                sleep(RETRY).await;
            }
        }
    }
    worker.lease_lost(host);
}

/// The right to a session: beside others of the worker, or alone, because the site may be what ended its last workers.
#[expect(dead_code, reason = "it is held until it is dropped")]
enum SessionTurn<'w> {
    Together(RwLockReadGuard<'w, ()>),
    Alone(RwLockWriteGuard<'w, ()>),
}

impl<'w> SessionTurn<'w> {
    /// The turn; one alone is waited for. `None`: the host is given back.
    async fn of(worker: &'w Worker, lease: &SessionLease, is_alone: bool) -> Option<Self> {
        if !is_alone {
            // While another session waits to be alone, this host is for other workers.
            return worker.together.try_read().ok().map(Self::Together);
        }
        tokio::select! {
            turn = worker.together.write() => Some(Self::Alone(turn)),
            () = lease.stop.shutdown.stopped() => None,
        }
    }
}

/// The pace of a host as the catalogue has it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Noted {
    gap: Duration,
    retry_after: Option<Timestamp>,
}

/// The work on one site of a host.
struct SiteWork<'w> {
    worker: &'w Arc<Worker>,
    lease: &'w Arc<SessionLease>,
    output: Messenger,
    /// Where the session works: the folder of its state.
    folder: PathBuf,
    noted: Noted,
}

impl SiteWork<'_> {
    /// Runs a session that has begun.
    ///
    /// # Errors
    /// The session does not count.
    async fn run(mut self, session: SiteSession) -> Result<After, CatalogueError> {
        let (worker, lease) = (self.worker, self.lease);
        if let Err(error) = self.make_folder().await {
            return Ok(self.give_back(&error).await);
        }
        let site = (worker.read_site)(&session.name, &session.settings, &self.folder);
        let mut site = match site {
            Ok(site) => (*site).clone(),
            Err(error) => return self.end_without_work(&session, &error).await,
        };
        if session.force {
            let mut settings = (*site.settings).clone();
            settings.config.publish.force = true;
            site.settings = Arc::new(settings);
        }
        let site = Arc::new(site);
        let mut checkpoints = Checkpoints::new(
            &worker.states,
            lease,
            session.id,
            &self.folder,
            session.state_object.clone(),
        );
        if let Err(error) = self.restore(&checkpoints).await {
            return Ok(self.give_back(&error).await);
        }
        let (asks, asked) = mpsc::channel(1);
        let crawler = self.crawler_for(&site, asks);
        let watch = worker.board.begin(&site);
        let observer = worker.observer.as_ref();
        let counted =
            observer.map(|observer| observer.begin(&site.name, watch.progress.subscribe()));
        let (ended, end) = oneshot::channel();
        let crawl = async {
            let run = session_site(&crawler, &site, watch.clone()).await;
            let _ = ended.send(());
            run
        };
        let (mut run, ()) = tokio::join!(
            crawl,
            self.keep_up(&site, &watch, &mut checkpoints, asked, end)
        );
        if let Some(counted) = counted {
            counted.end(run.summary.outcome);
        }
        if let Some(observer) = observer {
            observer.take_summary(&site.name, &run.summary);
        }
        worker.board.end(&site.name);
        let after = self
            .conclude(&session, &site, &mut run, &watch, &mut checkpoints)
            .await;
        if !matches!(after, Err(CatalogueError::LeaseLost(_))) {
            self.print_end(&mut run);
        }
        after
    }

    /// Makes the empty folder of the session.
    async fn make_folder(&self) -> failure::Result<()> {
        let folder = self.folder.clone();
        blocking(move || {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            private::create_folder(&folder)
        })
        .await
    }

    /// Reports what keeps this worker from the session, and leaves it to another one.
    async fn give_back(&self, error: &Failure) -> After {
        self.output.error(&format!(
            "this worker cannot begin the session: {}",
            error.in_full()
        ));
        sleep(RETRY).await;
        After::GiveBack
    }

    /// Ends a session whose settings cannot be used.
    async fn end_without_work(
        &self,
        session: &SiteSession,
        error: &Failure,
    ) -> Result<After, CatalogueError> {
        let message = error.in_full();
        self.output.error(&message);
        let now = self.worker.crawler.clock.now();
        let end = SiteEnd {
            outcome: SessionOutcome::Settings.as_str().to_owned(),
            summary: serde_json::json!({ "site": session.name, "message": message }),
            published: None,
            listed: None,
            next_run: now.checked_add(WRONG_SETTINGS).ok(),
        };
        self.end(session, &end).await
    }

    async fn end(&self, session: &SiteSession, end: &SiteEnd) -> Result<After, CatalogueError> {
        loop {
            match self
                .worker
                .catalogue
                .end(&self.lease.row, session.id, end)
                .await
            {
                Ok(()) => return Ok(After::Next),
                Err(error) => self.wait_after(error).await?,
            }
        }
    }

    /// Waits before the catalogue is asked again.
    ///
    /// # Errors
    /// The session does not count any more.
    async fn wait_after(&self, error: CatalogueError) -> Result<(), CatalogueError> {
        let is_final = matches!(
            error,
            CatalogueError::LeaseLost(_) | CatalogueError::SiteGone(_)
        );
        if is_final || !self.lease.is_in_force() {
            return Err(error);
        }
        self.worker.warn_of(&error);
        sleep(RETRY).await;
        Ok(())
    }

    /// Restores the state. A damaged or missing checkpoint is reported, and the session begins with a new state.
    ///
    /// # Errors
    /// This worker cannot write the state, or has to stop before the storage answers.
    async fn restore(&self, checkpoints: &Checkpoints) -> failure::Result<()> {
        loop {
            let error = match checkpoints.restore().await {
                Ok(true) => break,
                Ok(false) => {
                    self.output.error(
                        "the storage does not have the state of this site; check that all workers have the same storage. \
                         The session begins with a new state",
                    );
                    break;
                }
                Err(error) => error,
            };
            self.make_folder().await?;
            if let CheckpointError::Here(failure) = &error
                && failure.cause() == Cause::StateDamaged
            {
                self.output.error(&format!(
                    "the stored state is damaged, and the session begins with a new one: {}",
                    failure.in_full()
                ));
                break;
            }
            if !error.is_worth_retrying() || !self.lease.may_go_on() {
                return Err(error.into());
            }
            self.report("the state cannot be fetched", error);
            sleep(RETRY).await;
        }
        let row = &self.lease.row;
        let Some(until) = row.retry_after else {
            return Ok(());
        };
        let waits = RetryAfterFile::of_states(&self.folder);
        let now = self.worker.crawler.clock.now();
        let with_www = HostKey::new(&format!("www.{}", row.host));
        let hosts = [row.host.clone(), with_www];
        blocking(move || {
            hosts
                .iter()
                .try_for_each(|host| waits.remember(host, until, now))
        })
        .await
    }

    /// The work on `site` under the lease; `asks` for a checkpoint before it publishes.
    fn crawler_for(&self, site: &SiteSettings, asks: mpsc::Sender<oneshot::Sender<()>>) -> Crawler {
        let lease = Arc::clone(self.lease);
        let around = self.worker.crawler.around_fetch.clone();
        Crawler {
            output: self.output.clone(),
            stop: self.lease.begin_session(),
            around_fetch: Some(Arc::new(move |fetch| {
                let fetch = around
                    .as_ref()
                    .map_or_else(|| Arc::clone(&fetch), |around| around(Arc::clone(&fetch)));
                let lease = Arc::clone(&lease);
                Arc::new(LeasedFetch { fetch, lease })
            })),
            send_fence: Some(Arc::new(LeaseFence {
                lease: Arc::clone(self.lease),
                worker: Arc::clone(self.worker),
                runtime: Handle::current(),
            })),
            before_publish: Some(Arc::new(move || {
                let asks = asks.clone();
                Box::pin(async move {
                    let (stored, is_stored) = oneshot::channel();
                    // Without an answer the session goes on: its checkpoint is an older one.
                    if asks.send(stored).await.is_ok() {
                        let _ = is_stored.await;
                    }
                })
            })),
            ..self.worker.crawler.for_site(site)
        }
    }

    /// Stores checkpoints and notes the pace of the host until the crawl has ended: at intervals, and before publishing begins.
    async fn keep_up(
        &mut self,
        site: &SiteSettings,
        watch: &SessionWatch,
        checkpoints: &mut Checkpoints,
        mut asked: mpsc::Receiver<oneshot::Sender<()>>,
        mut end: oneshot::Receiver<()>,
    ) {
        let mut due = Instant::now() + self.worker.checkpoint_interval;
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Cancel safe: all arms.
            let stored = tokio::select! {
                _ = &mut end => return,
                Some(stored) = asked.recv() => Some(stored),
                _ = looks.tick() => None,
            };
            if !self.lease.is_in_force() {
                continue;
            }
            if let Err(error) = self.note_pace(watch).await {
                tracing::debug!(target: "worker", "the pace of the host cannot be noted: {error}");
            }
            let is_publishing = *watch.stage.borrow() == SessionStage::Publishing;
            if stored.is_none() && (due > Instant::now() || is_publishing) {
                continue;
            }
            let took = match self.checkpoint(site, watch, checkpoints).await {
                Ok(took) => took,
                Err(error) => {
                    self.report("no checkpoint was stored", error);
                    Duration::ZERO
                }
            };
            due = Instant::now() + self.worker.checkpoint_interval.max(took * REST);
            if let Some(stored) = stored {
                let _ = stored.send(());
            }
        }
    }

    /// Stores a checkpoint, and notes it in the catalogue. Returns how long it took.
    async fn checkpoint(
        &self,
        site: &SiteSettings,
        watch: &SessionWatch,
        checkpoints: &mut Checkpoints,
    ) -> Result<Duration, CheckpointError> {
        let known = watch.progress.borrow().site.clone();
        // A start URL that does not answer is that of the site of before.
        let known = known.or_else(|| {
            let named = site_of_start(&site.settings, &site.start);
            Some(named.ok()?.site)
        });
        let Some(known) = known else {
            return Ok(Duration::ZERO);
        };
        let Some((name, took)) = checkpoints.store(&site.settings, &known).await? else {
            return Ok(Duration::ZERO);
        };
        let (lease, id) = (&self.lease.row, checkpoints.site());
        self.worker.catalogue.checkpoint(lease, id, &name).await?;
        checkpoints.noted(name).await;
        Ok(took)
    }

    /// Notes what the next worker has to know of the host, as far as it is more than was noted before.
    async fn note_pace(&mut self, watch: &SessionWatch) -> Result<(), CheckpointError> {
        let (pace, known) = {
            let progress = watch.progress.borrow();
            (progress.pace, progress.site.clone())
        };
        let hosts = [
            Some(self.lease.row.host.clone()),
            known.map(|site| HostKey::new(&site.origin.host)),
        ];
        let waits = RetryAfterFile::of_states(&self.folder);
        let now = self.worker.crawler.clock.now();
        let pause = self
            .worker
            .crawler
            .politeness
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pause();
        let waits = blocking(move || waits.load(now, pause)).await?;
        let waits = waits
            .hosts
            .iter()
            .filter(|(host, _)| hosts.contains(&Some(host.clone())));
        let seconds = pace.unwrap_or_default().as_secs_f64().ceil();
        let newest = Noted {
            gap: self.noted.gap.max(Duration::from_secs_f64(seconds)),
            retry_after: self
                .noted
                .retry_after
                .max(waits.map(|(_, until)| *until).max()),
        };
        if newest != self.noted {
            let (gap, until) = (newest.gap, newest.retry_after);
            self.worker
                .catalogue
                .note_pace(&self.lease.row, gap, until)
                .await?;
            self.noted = newest;
        }
        Ok(())
    }

    /// Stores the last checkpoint of a session, and ends it in the catalogue.
    async fn conclude(
        &mut self,
        session: &SiteSession,
        site: &SiteSettings,
        run: &mut SiteResult,
        watch: &SessionWatch,
        checkpoints: &mut Checkpoints,
    ) -> Result<After, CatalogueError> {
        let lease = self.lease;
        let row = &lease.row;
        if !lease.is_in_force() {
            return Err(CatalogueError::LeaseLost(row.host.clone()));
        }
        if run
            .error
            .as_ref()
            .is_some_and(|failure| failure.cause() == Cause::Storage)
        {
            // The checkpoint of the crawl counts: the next session publishes the set again.
            if !lease.may_go_on() {
                return Ok(After::GiveBack);
            }
            let end = self.end_of(site, run);
            return self.end(session, &end).await;
        }
        loop {
            let noted = self.note_pace(watch).await;
            let stored = match noted {
                Ok(()) => self.checkpoint(site, watch, checkpoints).await,
                Err(error) => Err(error),
            };
            let Err(error) = stored else {
                break;
            };
            if let CheckpointError::Catalogue(CatalogueError::SiteGone(site)) = error {
                return Err(CatalogueError::SiteGone(site));
            }
            let is_worth_retrying = error.is_worth_retrying();
            self.report("the end of the session cannot be stored", error);
            if !lease.is_in_force() {
                return Err(CatalogueError::LeaseLost(row.host.clone()));
            }
            // A stop does not wait for the storage.
            if !lease.may_go_on() {
                return Ok(After::GiveBack);
            }
            // The next session goes on from the checkpoint before.
            if !is_worth_retrying {
                break;
            }
            sleep(RETRY).await;
        }
        let is_interrupted = run.summary.outcome == SessionOutcome::Interrupted;
        if is_interrupted {
            return Ok(After::GiveBack);
        }
        let end = self.end_of(site, run);
        let after = self.end(session, &end).await?;
        if !lease.is_in_force() {
            return Ok(after);
        }
        if let Err(error) = checkpoints.sweep().await {
            tracing::debug!(target: "worker", "old checkpoints stay: {error}");
        }
        Ok(after)
    }

    /// Reports an error that is not the end of the session.
    fn report(&self, what: &str, error: CheckpointError) {
        match error {
            CheckpointError::Catalogue(CatalogueError::LeaseLost(_)) => self.lease.lose(),
            CheckpointError::Catalogue(error) => self.worker.warn_of(&error),
            CheckpointError::Storage(error @ StorageError::State { .. }) => {
                self.worker.warn_of_storage(&error);
            }
            error => {
                let message = Failure::from(error).in_full();
                self.output.warn(&format!("{what}: {message}"));
            }
        }
    }

    /// What the catalogue notes of a session that came to its end.
    fn end_of(&self, site: &SiteSettings, run: &SiteResult) -> SiteEnd {
        let now = self.worker.crawler.clock.now();
        let is_good = run.summary.outcome.is_good();
        SiteEnd {
            outcome: run.summary.outcome.as_str().to_owned(),
            summary: serde_json::to_value(&run.summary).unwrap_or_default(),
            published: is_good.then_some(now),
            listed: is_good.then(|| run.summary.listed()),
            next_run: next_run(site.schedule.as_ref(), now),
        }
    }

    /// Logs how the session ended.
    fn print_end(&self, run: &mut SiteResult) {
        let is_stopped = run.summary.outcome == SessionOutcome::Interrupted;
        if let Some(error) = run.error.take().filter(|_| !is_stopped) {
            self.output.failure(&error);
        }
        let mut fields = run.summary.log_fields();
        fields.insert("exit_code".to_owned(), (run.code as u8).into());
        self.output
            .print(kind_of_end(run.code), &run.summary.line(), &fields);
    }
}
