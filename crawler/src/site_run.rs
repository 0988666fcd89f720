//! A session of one site: the state is opened, the site is crawled, the merged view is published, and the phase of the crawl
//! follows from the outcome. The program, the daemon, `publish`, `build` and tests call it. It prints nothing and reads
//! no settings file: the caller gives the paths of the files of a site, and shows progress. [`Notifier`] notifies others of the set and
//! ends the session: it calls the hooks, and writes the record ([`LastSession`]).

mod last_session;
mod live_session;
mod messages;
mod notifier;
mod opening;
mod outcome;
mod pauses;
mod session_row;
mod status;
mod stored;

use std::{path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{
    sync::{oneshot, watch},
    task::spawn_blocking,
};

pub use self::{
    last_session::{LastSession, PastSession, SessionRecord},
    live_session::LiveSession,
    messages::{MessageLog, MessageLogs},
    notifier::{Announce, EndOfSession, Notifier, NotifierConfig},
    opening::Opened,
    outcome::SessionError,
    pauses::{Pause, Pauses, change_pauses, read_pauses},
    status::{LastEnd, SiteStatus, StatusReport, Zone, is_name_of},
    stored::{Stored, StoredRequest},
};
use self::{
    opening::{Opening, opener},
    session_row::SessionEnd,
};
pub use crate::crawl::{COMMIT_INTERVAL, CrawlError, Ending, Limit, Progress, Resumed};
pub use crate::outcome::SessionOutcome;
use crate::{
    client::Shutdown,
    clock::Clock,
    config::Config,
    crawl::{Crawled, Dependencies, crawl},
    crawl_state,
    fetch::{BoxFuture, Fetch},
    notes::Note,
    page::CrawlId,
    politeness::{HostTally, SharedPoliteness},
    publish::{OutputLock, PublishError, Published, Publishing},
    render::Render,
    report::Report,
    retry_after::RetryAfterFile,
    robots::Rules,
    seeds::SeedList,
    site::Site,
    storage::SendFence,
    store::{Store, StoreErrorKind, find_damage, with_causes},
    url_key::UrlKey,
};

/// How long URLs may be counted after requests in flight were dropped; a million take about a second.
const COUNT_GRACE: Duration = Duration::from_secs(1);

/// The paths of the files of a site.
#[derive(Debug, Clone)]
pub struct Places {
    /// The file of its state, in the folder that the locks of outputs are in too; `None`: no state is stored.
    pub state: Option<PathBuf>,
    /// The folder of its published set.
    pub output: PathBuf,
    /// URL of the object storage that the set is sent to from the folder; `None`: readers get the folder.
    pub storage: Option<String>,
    /// The folder for copies of the sets that can be restored; `None`: none are stored.
    pub generations: Option<PathBuf>,
    /// URL of the directory where the output is served; `None`: the directory of the site.
    pub public_url: Option<String>,
}

impl Places {
    /// The settings of the site: `config` with its output, public URL and generations.
    pub fn config(&self, config: &Config) -> Config {
        let mut config = config.clone();
        config.publish.output.clone_from(&self.output);
        config.publish.storage.clone_from(&self.storage);
        config.publish.public_url.clone_from(&self.public_url);
        config.publish.generations.clone_from(&self.generations);
        config.publish.remembers = self.state.is_some();
        config
    }

    /// Locks the output against other sessions.
    ///
    /// # Errors
    /// See [`OutputLock::take`].
    pub fn lock_output(&self, config: &Config) -> Result<OutputLock, PublishError> {
        let locks = self.state.as_ref().and_then(|state| state.parent());
        OutputLock::take(&self.output, locks, &config.publish)
    }
}

/// Gives the places of the files of a site, once it is known which site it is.
///
/// # Errors
/// The settings contradict the site ([`SessionError::Settings`]), or its output cannot be written.
pub type PlacesOf = Arc<dyn Fn(&Site) -> Result<Places, SessionError> + Send + Sync>;

/// The input of a session.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct Session {
    /// The settings. Output, public URL and generations are those of [`Session::places`].
    pub config: Config,
    /// The URL that was typed.
    pub start: UrlKey,
    /// The paths of the files of the site.
    pub places: PlacesOf,
    /// The way to the network.
    pub fetch: Arc<dyn Fetch>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// The clocks of all hosts.
    pub politeness: SharedPoliteness,
    /// Gets what the crawl is doing.
    pub progress: watch::Sender<Progress>,
    /// `Retry-After` of earlier sessions.
    pub retry_after: RetryAfterFile,
    /// URL lists of the user.
    pub lists: Vec<SeedList>,
    /// Runs the scripts of pages; `None`: nothing does.
    pub render: Option<Arc<dyn Render>>,
    /// Work on a copy of the state, and write no files.
    pub dry_run: bool,
    /// Ends the session from outside.
    pub shutdown: Shutdown,
    /// Awaited when the crawl is over, before publishing begins.
    pub on_publish: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
    /// Asked before object storage is changed, where several machines could send the set.
    pub send_fence: Option<Arc<dyn SendFence>>,
}

/// The result of a session. Values that are not known when it ends are missing.
#[derive(Debug)]
pub struct Ended {
    /// The site.
    pub site: Option<Site>,
    /// How its state was opened.
    pub opened: Option<Opened>,
    /// The work of the crawl.
    pub crawl: Option<CrawlFacts>,
    /// The URLs that are known, by reason.
    pub report: Option<Report>,
    /// The set that is published now, or why none is.
    pub published: Result<Published, SessionError>,
    /// The word for all of it.
    pub outcome: SessionOutcome,
    /// The state and the output, held until others are notified of the set.
    pub held: Option<Held>,
}

impl Ended {
    /// The end of a session of `site` whose publishing ended so, or that published nothing.
    fn new(site: Option<Site>, publishing: Result<Publishing, SessionError>) -> Self {
        let (report, published) = match publishing {
            Ok(Publishing { report, result }) => (report, result.map_err(SessionError::Publish)),
            Err(error) => (None, Err(error)),
        };
        Self {
            site,
            opened: None,
            crawl: None,
            report,
            published,
            outcome: SessionOutcome::Internal,
            held: None,
        }
    }
}

/// The locks of the session.
#[derive(Debug)]
pub struct Held {
    /// The state.
    pub store: Store,
    /// The output.
    pub output: Option<OutputLock>,
}

/// The work of a crawl in this session.
#[derive(Debug, Clone)]
pub struct CrawlFacts {
    /// `true` if it went on with a crawl of an earlier session.
    pub resumed: bool,
    /// How it ended.
    pub ending: Ending,
    /// The limit that was reached.
    pub limit: Option<Limit>,
    /// Finished page requests, retries not counted.
    pub fetched: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// robots.txt of the site, where it was read.
    pub robots: Option<Rules>,
    /// Notes for the user.
    pub notes: Vec<Note>,
    /// Number of the crawl.
    pub number: CrawlId,
    /// The results of the requests to the host of the site.
    pub tally: HostTally,
    /// Time from one request to the next at the end, as the pauses in force and the time of answers allow.
    pub pace: Option<Duration>,
}

/// Crawls a site and publishes it; once more with a new state when the one that it works with turns out to be damaged.
pub async fn run(session: Session) -> Ended {
    let mut ended = run_with(&session, None).await;
    let mut damage = ended.published.as_ref().err().and_then(damage_of);
    if damage.is_none() && ended.outcome == SessionOutcome::Internal && !session.dry_run {
        // What no look at a page of the file shows can still be a state that cannot be worked with.
        ended.held = None;
        let site = ended.site.as_ref();
        if let Some(state) = site.and_then(|site| (session.places)(site).ok()?.state) {
            let looking = spawn_blocking(move || find_damage(&state));
            damage = looking.await.ok().flatten();
        }
    }
    match damage {
        Some(damage) => {
            // The lock of the state, and the output, are taken again.
            drop(ended);
            run_with(&session, Some(damage)).await
        }
        None => ended,
    }
}

/// The same; `damage` was found in the state while it was worked with.
async fn run_with(session: &Session, damage: Option<String>) -> Ended {
    let (sender, mut opening) = oneshot::channel();
    let newest = session.progress.subscribe();
    let dependencies = Dependencies {
        fetch: Arc::clone(&session.fetch),
        clock: Arc::clone(&session.clock),
        politeness: Arc::clone(&session.politeness),
        progress: session.progress.clone(),
        open_store: opener(session, sender, damage),
        retry_after: session.retry_after.clone(),
        lists: session.lists.clone(),
        render: session.render.clone(),
    };
    // Boxed, because what a crawl holds across its waits is too large for the stack of its caller.
    let crawled = Box::pin(crawl(
        &session.config,
        &session.start,
        dependencies,
        &session.shutdown,
    ))
    .await;
    let site = newest.borrow().site.clone();
    let mut ended = match (crawled, opening.try_recv()) {
        (Ok(crawled), Ok(Ok(opening))) => after_crawl(session, crawled, opening).await,
        // The crawl failed because the state could not be opened.
        (_, Ok(Err(SessionError::Store(error)))) => {
            Ended::new(site, Err(CrawlError::Store(error).into()))
        }
        (_, Ok(Err(error))) => Ended::new(site, Err(error)),
        (Ok(_), Err(error)) => {
            let (work, source) = ("opening the state of this site", error.into());
            Ended::new(site, Err(SessionError::Internal { work, source }))
        }
        (Err(error), opening) => Ended {
            opened: opening
                .ok()
                .and_then(Result::ok)
                .map(|opening| opening.opened),
            ..Ended::new(site, Err(error.into()))
        },
    };
    ended.outcome = ended.find_outcome(session.dry_run);
    ended
}

/// Counts, and publishes where the crawl came to an end that is published.
async fn after_crawl(session: &Session, crawled: Crawled, opening: Opening) -> Ended {
    let site = Some(crawled.site.clone());
    let crawl = CrawlFacts {
        resumed: crawled.resumed,
        ending: crawled.ending,
        limit: crawled.limit,
        fetched: crawled.fetched,
        not_modified: crawled.not_modified,
        bytes_in: crawled.bytes_in,
        robots: crawled.robots.clone(),
        notes: crawled.notes.clone(),
        number: crawled.number,
        tally: crawled.tally,
        pace: crawled.pace,
    };
    let error = match crawled.ending {
        Ending::Stopped => Some(SessionError::Crawl(CrawlError::Stopped)),
        Ending::SiteDown => Some(SessionError::SiteDown),
        Ending::Drained | Ending::LimitReached | Ending::Deferred => None,
    };
    let Opening {
        places,
        opened,
        lock,
        began,
    } = opening;
    let end = SessionEnd {
        began,
        clock: Arc::clone(&session.clock),
        crawl: crawl.clone(),
    };
    let ended = match error {
        Some(error) => Ended {
            report: counted(crawled.store, &session.shutdown, end, error.outcome()).await,
            ..Ended::new(site, Err(error))
        },
        None => publish_crawled(session, crawled, &places, lock, end).await,
    };
    Ended {
        opened: Some(opened),
        crawl: Some(crawl),
        ..ended
    }
}

/// Counts the visits of a crawl that is not published. All rows are read for it, so a large state is not counted to the end
/// when the program has to end soon.
async fn counted(
    mut store: Store,
    shutdown: &Shutdown,
    end: SessionEnd,
    outcome: SessionOutcome,
) -> Option<Report> {
    let counting = spawn_blocking(move || {
        let report = Report::read(&store).ok();
        end.write(&mut store, outcome, report.as_ref());
        report
    });
    let too_late = async {
        shutdown.aborted().await;
        tokio::time::sleep(COUNT_GRACE).await;
    };
    // When it is too late the count goes on until the process ends, and changes nothing.
    tokio::select! {
        counted = counting => counted.ok()?,
        () = too_late => None,
    }
}

/// Publishes what was crawled.
async fn publish_crawled(
    session: &Session,
    crawled: Crawled,
    places: &Places,
    output: Option<OutputLock>,
    end: SessionEnd,
) -> Ended {
    (session.on_publish)().await;
    let (config, site) = (places.config(&session.config), crawled.site.clone());
    let session = session.clone();
    let span = tracing::Span::current();
    let work = spawn_blocking(move || {
        let _entered = span.entered();
        let request = StoredRequest {
            site: &crawled.site,
            config: &config,
            state: None,
            dry_run: session.dry_run,
            clock: &session.clock,
            is_stopped: &|| session.shutdown.is_stopping(),
            send_fence: session.send_fence.as_deref(),
        };
        let (mut store, robots) = (crawled.store, crawled.robots.as_ref());
        let is_drained = crawled.ending == Ending::Drained;
        let noted = crawl_state::note_drained(&mut store, is_drained).map_err(SessionError::Store);
        let publishing =
            noted.and_then(|()| request.publish(&mut store, &crawled.judge, robots, is_drained));
        let ended = Ended {
            crawl: Some(end.crawl.clone()),
            ..Ended::new(Some(crawled.site), publishing)
        };
        let outcome = ended.find_outcome(session.dry_run);
        end.write(&mut store, outcome, ended.report.as_ref());
        (ended, store)
    });
    match work.await {
        Ok((ended, store)) => Ended {
            held: Some(Held { store, output }),
            ..ended
        },
        Err(error) => {
            let error = SessionError::of_task("publishing", error);
            Ended::new(Some(site), Err(error))
        }
    }
}

/// The message of an error on a damaged state, if it is about one.
fn damage_of(error: &SessionError) -> Option<String> {
    let error = error.of_store()?;
    (error.kind() == StoreErrorKind::Corrupt).then(|| with_causes(error))
}

/// A time as a part of the name of a file.
fn file_time(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}
