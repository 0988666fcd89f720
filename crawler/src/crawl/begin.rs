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
        names::KnownNames,
        start::{self, Guide, Started},
    },
    config::RepeatsConfig,
    crawl_state::{self, OpenCrawl},
    notes::Note,
    site::Site,
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

/// The store of a site, before its crawl goes on or begins.
pub(super) struct OpenedStore {
    pub(super) store: Store,
    /// The URL of the directory where the set will be served, if one is configured.
    pub(super) public_url: Option<String>,
    /// The crawl that goes on or begins.
    pub(super) next: OpenCrawl,
    /// The other spellings of the site that answered earlier crawls.
    pub(super) names: KnownNames,
}

/// Opens the store of `site` for a crawl under these settings; see [`crawl_state::open`].
pub(super) async fn open_store(
    open_store: OpenStore,
    site: &Site,
    identity: &str,
    fresh: bool,
    shutdown: &Shutdown,
) -> Result<OpenedStore, CrawlError> {
    let (site, identity) = (site.clone(), identity.to_owned());
    let work = move || {
        let (store, public_url) = open_store(&site).ok_or(CrawlError::Opening)?;
        Ok(OpenedStore {
            next: crawl_state::next(&store, &identity, fresh)?,
            names: crawl_state::names(&store)?,
            store,
            public_url,
        })
    };
    using_state(work, shutdown).await
}

/// Does work on the state where blocking is allowed.
async fn using_state<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CrawlError> + Send + 'static,
    shutdown: &Shutdown,
) -> Result<T, CrawlError> {
    let span = tracing::Span::current();
    let work = tokio::task::spawn_blocking(move || span.in_scope(work));
    // What was dropped would have to be checked and read to its end; the next start does it again.
    let done = tokio::select! {
        done = work => done,
        () = shutdown.aborted() => return Err(CrawlError::Stopped),
    };
    done.map_err(|error| CrawlError::of_task("opening the state of this site", error))?
}

/// The arguments for going on with the crawl of a site, or beginning one.
pub(super) struct CrawlOpening {
    pub(super) store: Store,
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
    pub(super) names: KnownNames,
}

/// A crawl that can begin.
pub(super) struct OpenedCrawl {
    pub(super) store: Store,
    pub(super) run: OpenCrawl,
    pub(super) memory: Memory,
    /// The rules, by what the clocks show.
    pub(super) judge: Judge,
}

impl CrawlOpening {
    /// Goes on with the crawl of the site that `started` found, or begins one.
    pub(super) async fn open(
        self,
        started: &Started,
        shutdown: &Shutdown,
    ) -> Result<OpenedCrawl, CrawlError> {
        let start = started.site.start.clone();
        let robots = started.is_robots_read.then(|| started.robots.clone());
        let work = move || {
            let mut store = self.store;
            // Before the crawl begins: one that goes on has them.
            crawl_state::note_names(&mut store, &self.names)?;
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
                &start,
                run,
                &judge,
                &self.repeats,
                &self.url_identity,
            )?;
            if let Some(robots) = &robots {
                crawl_state::note_robots(&mut store, robots)?;
            }
            Ok(OpenedCrawl {
                store,
                run,
                memory,
                judge,
            })
        };
        using_state(work, shutdown).await
    }
}
