//! The steps before the loop: the start URL is asked which site it is, and the store of that site is opened and says
//! which run goes on or begins. Here a "not modified" of the start page, which was asked for by a look into the store,
//! is held against the store itself. Nothing here is decided about a page.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};

use super::{
    CrawlError, OpenStore, Progress, Shutdown,
    door::Door,
    judge::Judge,
    run::resume::{self, Memory},
    start::{self, Guide, Peek, Standing, Started},
};
use crate::{
    config::Config,
    notes::Note,
    parse::PageReader,
    runs::{self, OpenRun},
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// How often waits are shown before the site is known.
const START_HEARTBEAT: Duration = Duration::from_secs(1);

/// What the site is found with.
pub(super) struct Finding<'a> {
    pub(super) config: &'a Config,
    /// The URL that was typed.
    pub(super) typed: &'a UrlKey,
    pub(super) door: &'a Door,
    pub(super) reader: &'a Arc<PageReader>,
    pub(super) progress: &'a watch::Sender<Progress>,
    /// When the run has to end.
    pub(super) deadline: Instant,
    pub(super) shutdown: &'a Shutdown,
}

impl Finding<'_> {
    /// Asks the start URL which site it is, and shows what it is waiting for meanwhile. Pages that `peek` knows are
    /// asked whether they changed.
    pub(super) async fn site(&self, peek: Option<&Peek>) -> Result<Started, CrawlError> {
        let Self { door, typed, .. } = *self;
        let host = typed.host();
        let guide = Guide {
            door,
            reader: self.reader,
            config: self.config,
            stop: &self.shutdown.stop,
            peek,
        };
        let finding = start::start(&guide, typed);
        tokio::pin!(finding);
        loop {
            // What a stop leaves behind need not be waited for: the turn of an answer in flight comes back by
            // itself.
            tokio::select! {
                started = &mut finding => return started,
                () = self.shutdown.stop.cancelled() => return Err(CrawlError::Stopped),
                () = tokio::time::sleep_until(self.deadline) => {
                    return Err(CrawlError::Start(Note::start_without_answer(typed).naming(typed)));
                }
                () = tokio::time::sleep(START_HEARTBEAT) => {
                    let now = Instant::now();
                    let (host, pace) = {
                        let clocks = door.clocks();
                        (clocks.state(&host, now), clocks.pace(&host))
                    };
                    self.progress.send_replace(Progress { host, pace, ..Progress::default() });
                }
            }
        }
    }

    /// Asks anew, and for whole pages only: what `before` was asked with turned out to be nothing that the store knows.
    async fn again(&self, before: Started) -> Result<Started, CrawlError> {
        let again = self.site(None).await?;
        let [old, new] = [&before.site, &again.site];
        if (&old.origin, &old.directory) != (&new.origin, &new.directory) {
            let problem = format!(
                "{} was not modified (304), and leads to {} when it is asked for as a whole; start again",
                old.start, new.start
            );
            return Err(CrawlError::Start(
                Note::start_leads_elsewhere(&problem).naming(&new.start),
            ));
        }
        Ok(Started {
            bytes_in: before.bytes_in + again.bytes_in,
            ..again
        })
    }
}

/// What the store of a site is opened with.
pub(super) struct Opening {
    pub(super) open_store: OpenStore,
    /// See [`runs::open`].
    pub(super) identity: Arc<str>,
    /// The host's clock, and ours, when the run began.
    pub(super) host_date: Timestamp,
    pub(super) began: Timestamp,
    /// What our clock and that of the host show now, where it shows a time.
    pub(super) clocks: Option<(Timestamp, Timestamp)>,
    pub(super) judge: Judge,
}

/// A run that can begin.
pub(super) struct Opened {
    pub(super) store: Box<dyn Store>,
    pub(super) run: OpenRun,
    pub(super) memory: Memory,
    /// The pages that were asked, each with what stands by its answer.
    pub(super) started: Started,
    /// The rules, by what the clocks show.
    pub(super) judge: Judge,
}

impl Opening {
    /// Opens the store of the site that `finding` found by `started`.
    pub(super) async fn open(
        self,
        finding: &Finding<'_>,
        mut started: Started,
    ) -> Result<Opened, CrawlError> {
        let Self {
            open_store,
            identity,
            host_date,
            began,
            clocks,
            judge,
        } = self;
        let site = started.site.clone();
        let asked: Vec<UrlKey> = started.hops.iter().map(|hop| hop.url.clone()).collect();
        let confirmation = started.confirmation();
        let is_confirmed = confirmation.is_some();
        let read = started.is_robots_read.then(|| started.robots.clone());
        let span = tracing::Span::current();
        let work = tokio::task::spawn_blocking(move || {
            let _entered = span.entered();
            let mut store = open_store(&site)?;
            let run = runs::open(&mut *store, &identity, host_date)?;
            runs::note_start(&mut *store, run.number, began)?;
            let mut judge = judge;
            if let Some((ours, host)) = clocks
                && runs::note_clocks(&mut *store, run.number, ours, host)?
            {
                judge = judge.without_clock();
            }
            let memory = resume::remember(&mut *store, run, &judge, &asked)?;
            if let Some(robots) = &read {
                resume::note_robots(&mut *store, run.number, robots)?;
            }
            let standing: Option<Standing> = match &confirmation {
                Some(confirmation) => start::standing(&*store, run, &judge, confirmation)?,
                None => None,
            };
            Ok::<_, StoreError>((store, run, memory, standing, judge))
        });
        // What was dropped would have to be checked and read to its end; the next start does it again.
        let opened = tokio::select! {
            opened = work => opened,
            () = finding.shutdown.aborted() => return Err(CrawlError::Stopped),
        };
        let (store, run, memory, standing, judge) = opened
            .map_err(|error| CrawlError::of_task("opening the state of this site", error))??;
        if is_confirmed && standing.is_none() {
            started = finding.again(started).await?;
        } else if let Some(last) = started.hops.last_mut() {
            last.standing = standing;
        }
        Ok(Opened {
            store,
            run,
            memory,
            started,
            judge,
        })
    }
}
