//! The steps before the loop: the start URL and its redirects identify the site, and the store of that site is opened; its state
//! decides which crawl goes on or begins. Nothing here is decided about a page.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};

use super::{
    CrawlError, OpenStore, Progress,
    resume::{self, Memory},
};
use crate::{
    client::{
        Shutdown, StartError,
        start::{self, Guide, Started},
    },
    config::RepeatsConfig,
    crawl_state::{self, OpenCrawl},
    notes::Note,
    store::Store,
    url_key::{Identity, UrlKey},
    verdict::Judge,
};

/// How often waits are shown before the site is known.
const START_HEARTBEAT: Duration = Duration::from_secs(1);

/// Asks the URL that was `typed` which site it is, and shows what it is waiting for meanwhile; the session ends at
/// `deadline`.
pub(super) async fn find_site(
    guide: &Guide<'_>,
    typed: &UrlKey,
    progress: &watch::Sender<Progress>,
    deadline: Instant,
) -> Result<Started, CrawlError> {
    let host = typed.host();
    let finding = start::start(guide, typed);
    tokio::pin!(finding);
    loop {
        // What a stop leaves behind need not be waited for: the permit of an answer in flight comes back by
        // itself.
        tokio::select! {
            started = &mut finding => return Ok(started?),
            () = guide.stop.cancelled() => return Err(CrawlError::Stopped),
            () = tokio::time::sleep_until(deadline) => {
                return Err(StartError::Page(Note::start_without_answer(typed).naming(typed)).into());
            }
            () = tokio::time::sleep(START_HEARTBEAT) => {
                let (host, pace) = guide.gate.pace_at(&host, Instant::now());
                progress.send_replace(Progress { host, pace, ..Progress::default() });
            }
        }
    }
}

/// The arguments for opening the store of a site.
pub(super) struct CrawlOpening {
    pub(super) open_store: OpenStore,
    /// See [`crawl_state::open`].
    pub(super) identity: String,
    pub(super) fresh: bool,
    /// The host's clock when the session began.
    pub(super) host_date: Timestamp,
    /// The times that our clock and the clock of the host show now, where it shows a time.
    pub(super) clocks: Option<(Timestamp, Timestamp)>,
    pub(super) judge: Judge,
    pub(super) repeats: RepeatsConfig,
    pub(super) url_identity: Arc<Identity>,
}

/// A crawl that can begin.
pub(super) struct OpenedCrawl {
    pub(super) store: Store,
    /// The URL of the directory where the set will be served, if one is configured.
    pub(super) public_url: Option<String>,
    pub(super) run: OpenCrawl,
    pub(super) memory: Memory,
    /// The rules, by what the clocks show.
    pub(super) judge: Judge,
}

impl CrawlOpening {
    /// Opens the store of the site that `started` found.
    pub(super) async fn open(
        self,
        started: &Started,
        shutdown: &Shutdown,
    ) -> Result<OpenedCrawl, CrawlError> {
        let site = started.site.clone();
        let robots = started.is_robots_read.then(|| started.robots.clone());
        let span = tracing::Span::current();
        let work = tokio::task::spawn_blocking(move || {
            let _entered = span.entered();
            let (mut store, public_url) = (self.open_store)(&site).ok_or(CrawlError::Opening)?;
            let run = crawl_state::open(&mut store, &self.identity, self.host_date, self.fresh)?;
            let mut judge = self.judge;
            if let Some((ours, host)) = self.clocks {
                crawl_state::note_clocks(&mut store, ours, host)?;
            }
            if crawl_state::clocks_apart(&store)?.is_some() {
                judge = judge.without_clock();
            }
            let memory = resume::remember(
                &mut store,
                (&site.start, run),
                &judge,
                &self.repeats,
                &self.url_identity,
            )?;
            if let Some(robots) = &robots {
                crawl_state::note_robots(&mut store, robots)?;
            }
            Ok::<_, CrawlError>(OpenedCrawl {
                store,
                public_url,
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
