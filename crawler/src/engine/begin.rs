//! The steps before the loop: the start URL is asked which site it is, and the store of that site is opened and says
//! which run goes on or begins. Nothing here is decided about a page.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};

use super::{
    CrawlError, OpenStore, Progress, Shutdown,
    door::Door,
    run::resume::{self, Memory},
    start::{self, Guide, Started},
};
use crate::{
    config::Config,
    notes::Note,
    parse::PageReader,
    runs::{self, OpenRun},
    store::{Store, StoreError},
    url_key::UrlKey,
    verdict::Judge,
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
    /// Asks the start URL which site it is, and shows what it is waiting for meanwhile.
    pub(super) async fn site(&self) -> Result<Started, CrawlError> {
        let Self { door, typed, .. } = *self;
        let host = typed.host();
        let guide = Guide {
            door,
            reader: self.reader,
            config: self.config,
            stop: &self.shutdown.stop,
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
}

/// What the store of a site is opened with.
pub(super) struct Opening {
    pub(super) open_store: OpenStore,
    /// See [`runs::open`].
    pub(super) identity: String,
    pub(super) fresh: bool,
    /// The host's clock when the session began.
    pub(super) host_date: Timestamp,
    /// What our clock and that of the host show now, where it shows a time.
    pub(super) clocks: Option<(Timestamp, Timestamp)>,
    pub(super) judge: Judge,
}

/// A crawl that can begin.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) run: OpenRun,
    pub(super) memory: Memory,
    /// The rules, by what the clocks show.
    pub(super) judge: Judge,
}

impl Opening {
    /// Opens the store of the site that `started` found.
    pub(super) async fn open(
        self,
        started: &Started,
        shutdown: &Shutdown,
    ) -> Result<Opened, CrawlError> {
        let site = started.site.clone();
        let robots = started.is_robots_read.then(|| started.robots.clone());
        let span = tracing::Span::current();
        let work = tokio::task::spawn_blocking(move || {
            let _entered = span.entered();
            let mut store = (self.open_store)(&site)?;
            let run = runs::open(&mut store, &self.identity, self.host_date, self.fresh)?;
            let mut judge = self.judge;
            if let Some((ours, host)) = self.clocks {
                runs::note_clocks(&mut store, ours, host)?;
            }
            if runs::clocks_apart(&store)?.is_some() {
                judge = judge.without_clock();
            }
            let memory = resume::remember(&mut store, run, &judge)?;
            if let Some(robots) = &robots {
                resume::note_robots(&mut store, robots)?;
            }
            Ok::<_, StoreError>(Opened {
                store,
                run,
                memory,
                judge,
            })
        });
        // What was dropped would have to be checked and read to its end; the next start does it again.
        let opened = tokio::select! {
            opened = work => opened,
            () = shutdown.aborted() => return Err(CrawlError::Stopped),
        };
        let opened = opened
            .map_err(|error| CrawlError::of_task("opening the state of this site", error))??;
        Ok(opened)
    }
}
