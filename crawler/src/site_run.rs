//! A session of one site: the state is opened, the site is crawled, what is known is published, and the phase of the crawl
//! follows from how that ended. The program, the daemon, `publish`, `build` and tests call it. It prints nothing and reads
//! no settings file: the caller says where the files of a site are, shows progress, and notifies others of the set.

mod opening;
mod outcome;
mod stored;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::{sync::watch, task::spawn_blocking};

use self::opening::{Opening, opener};
pub use self::{
    opening::{OpenRequest, Opened, open_state},
    outcome::{Outcome, SessionError},
    stored::{StoredRequest, publish_built, publish_stored, restore},
};
use crate::{
    clock::Clock,
    config::Config,
    engine::{Crawled, Ending, Limit, Progress, Seams, Shutdown, crawl},
    fetch::Fetch,
    holds::Holds,
    notes::Note,
    notify::adopt,
    politeness::SharedPoliteness,
    publish::{OutputHold, PublishError, PublishRequest, Published, Publishing, publish},
    report::Report,
    robots::Rules,
    seeds::SeedList,
    site::Site,
    store::{Store, StoreError, StoreErrorKind, with_causes},
    url_key::UrlKey,
    verdict::Mode,
};

/// How long URLs may be counted after requests in flight were dropped; a million take about a second.
const COUNT_GRACE: Duration = Duration::from_secs(1);

/// Where the files of a site are.
#[derive(Debug, Clone)]
pub struct Places {
    /// The file of its state.
    pub state: PathBuf,
    /// The folder that the locks of outputs are in.
    pub locks: PathBuf,
    /// The folder of its published set.
    pub output: PathBuf,
    /// The folder for copies of the sets that can be restored.
    pub generations: PathBuf,
    /// URL of the directory where the output is served; `None`: the directory of the site.
    pub public_url: Option<String>,
}

/// Says where the files of a site are, once it is known which site it is.
///
/// # Errors
/// The settings do not fit the site ([`SessionError::Settings`]), or its output cannot be written.
pub type PlacesOf = Arc<dyn Fn(&Site) -> Result<Places, SessionError> + Send + Sync>;

/// What a session is given.
#[derive(Clone)]
pub struct Session {
    /// The settings. Output, public URL and generations are those of [`Session::places`].
    pub config: Config,
    /// The URL that was typed.
    pub start: UrlKey,
    /// Where the files of the site are.
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
    pub holds: Holds,
    /// URL lists of the user.
    pub lists: Vec<SeedList>,
    /// Work on a copy of the state, and write no files.
    pub dry_run: bool,
    /// Ends the session from outside.
    pub shutdown: Shutdown,
    /// Called when the crawl is over and publishing begins.
    pub on_publish: Arc<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("start", &self.start)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}

/// What a session came to. What is not known when it ends is missing.
#[derive(Debug)]
pub struct Ended {
    /// The site.
    pub site: Option<Site>,
    /// Where its files are.
    pub places: Option<Places>,
    /// How its state was opened.
    pub opened: Option<Opened>,
    /// What the crawl did.
    pub crawl: Option<CrawlFacts>,
    /// The URLs that are known, by reason.
    pub report: Option<Report>,
    /// The set that is published now, or why none is.
    pub published: Result<Published, SessionError>,
    /// The word for all of it.
    pub outcome: Outcome,
    /// The state and the output, held until others are notified of the set.
    pub held: Option<Held>,
}

/// What nobody else may work with meanwhile.
#[derive(Debug)]
pub struct Held {
    /// The state.
    pub store: Store,
    /// The output.
    pub output: Option<OutputHold>,
}

/// What a crawl did in this session.
#[derive(Debug, Clone)]
pub struct CrawlFacts {
    /// Whether it went on with a crawl of an earlier session.
    pub resumed: bool,
    /// How it ended.
    pub ending: Ending,
    /// Which limit was reached.
    pub limit: Option<Limit>,
    /// Finished page requests, retries not counted.
    pub fetched: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// robots.txt of the site, where it was read.
    pub robots: Option<Rules>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Crawls a site and publishes it; once more with a new state when the one that it works with turns out to be damaged.
pub async fn run(session: Session) -> Ended {
    let ended = run_with(&session, None).await;
    let damage = ended.published.as_ref().err().and_then(damage_of);
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
    let opening = Arc::new(Mutex::new(Opening::default()));
    let newest = session.progress.subscribe();
    let seams = Seams {
        fetch: Arc::clone(&session.fetch),
        clock: Arc::clone(&session.clock),
        politeness: Arc::clone(&session.politeness),
        progress: session.progress.clone(),
        open_store: opener(session, Arc::clone(&opening), damage),
        holds: session.holds.clone(),
        lists: session.lists.clone(),
        public_url: public_url(session),
    };
    // Boxed, because what a crawl holds across its waits is too large for the stack of its caller.
    let crawled = Box::pin(crawl(
        &session.config,
        &session.start,
        seams,
        &session.shutdown,
    ))
    .await;
    let opening = std::mem::take(&mut *opening.lock().unwrap_or_else(PoisonError::into_inner));
    let mut ended = Ended {
        site: newest.borrow().site.clone(),
        places: opening.places,
        opened: opening.opened,
        crawl: None,
        report: None,
        published: Err(SessionError::SiteDown),
        outcome: Outcome::Internal,
        held: None,
    };
    match crawled {
        Ok(crawled) => after_crawl(session, crawled, opening.hold, &mut ended).await,
        Err(error) => {
            let error = opening.misfit.unwrap_or(SessionError::Crawl(error));
            ended.published = Err(error);
        }
    }
    ended.outcome = Outcome::of(&ended, session.dry_run);
    ended
}

/// Counts, and publishes where the crawl came to an end that is published.
async fn after_crawl(
    session: &Session,
    crawled: Crawled,
    output: Option<OutputHold>,
    ended: &mut Ended,
) {
    ended.site = Some(crawled.site.clone());
    ended.crawl = Some(CrawlFacts {
        resumed: crawled.resumed,
        ending: crawled.ending,
        limit: crawled.limit,
        fetched: crawled.fetched,
        not_modified: crawled.not_modified,
        bytes_in: crawled.bytes_in,
        robots: crawled.robots.clone(),
        notes: crawled.notes.clone(),
    });
    match crawled.ending {
        Ending::Stopped => {
            ended.published = Err(SessionError::Crawl(crate::engine::CrawlError::Stopped));
            ended.report = counted(crawled.store, &session.shutdown).await;
        }
        Ending::SiteDown => {
            ended.published = Err(SessionError::SiteDown);
            ended.report = counted(crawled.store, &session.shutdown).await;
        }
        Ending::Drained | Ending::LimitReached | Ending::Deferred => {
            publish_crawled(session, crawled, output, ended).await;
        }
    }
}

/// Counts the visits of a crawl that is not published. All rows are read for it, so a large state is not counted to the end
/// when the program has to end soon.
async fn counted(store: Store, shutdown: &Shutdown) -> Option<Report> {
    let counting = spawn_blocking(move || Report::read(&store));
    let too_late = async {
        shutdown.aborted().await;
        tokio::time::sleep(COUNT_GRACE).await;
    };
    // When it is too late the count goes on until the process ends, and changes nothing.
    tokio::select! {
        counted = counting => counted.ok()?.ok(),
        () = too_late => None,
    }
}

/// Publishes what was crawled.
async fn publish_crawled(
    session: &Session,
    crawled: Crawled,
    output: Option<OutputHold>,
    ended: &mut Ended,
) {
    (session.on_publish)();
    let mut config = session.config.clone();
    if let Some(places) = &ended.places {
        config.publish.output.clone_from(&places.output);
        config.publish.public_url.clone_from(&places.public_url);
        config.publish.generations = Some(places.generations.clone());
    }
    let (now, dry_run) = (session.clock.now(), session.dry_run);
    let shutdown = session.shutdown.clone();
    let span = tracing::Span::current();
    let work = spawn_blocking(move || {
        let _entered = span.entered();
        let mut store = crawled.store;
        let mode = match Mode::of(&store, config.publish.force) {
            Ok(mode) => mode,
            Err(error) => {
                let result = Err(PublishError::Store(error));
                return (
                    Publishing {
                        report: None,
                        result,
                    },
                    store,
                );
            }
        };
        let request = PublishRequest {
            site: &crawled.site,
            judge: &crawled.judge,
            mode,
            config: &config.publish,
            robots: crawled.robots.as_ref().filter(|_| !config.ignore.robots),
            is_drained: crawled.ending == Ending::Drained,
            dry_run,
            now,
            is_stopped: &|| shutdown.is_stopping(),
        };
        let adopts = config.notify.indexnow && !dry_run;
        let publishing = publish_and_adopt(&mut store, &request, adopts);
        (publishing, store)
    });
    let (publishing, store) = match work.await {
        Ok(done) => done,
        Err(error) => {
            ended.published = Err(SessionError::of_task("publishing", error));
            return;
        }
    };
    let Publishing { report, result } = publishing;
    ended.report = report;
    ended.published = result.map_err(SessionError::Publish);
    ended.held = Some(Held { store, output });
}

/// Publishes; `adopts`: engines are notified from now on.
fn publish_and_adopt(store: &mut Store, request: &PublishRequest<'_>, adopts: bool) -> Publishing {
    if adopts && let Err(error) = adopt(store) {
        return Publishing {
            report: None,
            result: Err(PublishError::Store(error)),
        };
    }
    publish(store, request)
}

/// Where the set will be served, for the engine; settings that do not fit the site are reported where its state is opened.
fn public_url(session: &Session) -> crate::engine::PublicUrl {
    let places = Arc::clone(&session.places);
    Box::new(move |site| places(site).ok()?.public_url)
}

/// What an error says of a damaged state, if it is about one.
fn damage_of(error: &SessionError) -> Option<String> {
    let error = error.of_store()?;
    (error.kind() == StoreErrorKind::Corrupt).then(|| with_causes(error))
}

/// A time as a part of the name of a file.
fn file_time(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The store failed while a site was opened for publishing or crawling.
impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
