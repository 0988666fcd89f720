//! The work on one site: the crawl, and the publish of what it knows.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crawler::{
    config::Config,
    engine::{CrawlError, Crawled, Ending, Limit, Seams, Shutdown, crawl},
    fetch::Fetch,
    notify::adopt,
    publish::{
        PublishError, PublishRequest, Published, check_names, disown, has_records, is_published,
        publish,
    },
    report::Report,
    runs,
    seeds::SeedList,
    site::Site,
    store::{Store, StoreError, StoreErrorKind},
};
use jiff::Timestamp;

use super::super::{
    board::{Stage, Watch},
    with_https_twin,
};
use super::{Crawler, opening::Opening};
use crate::{
    commands::{names, published::Ended, seams},
    exit_code::{ExitCode, SiteDown},
    human,
    panicked::{Panicked, caught},
    settings::{Settings, SiteSettings},
    summary::{RobotsFile, Summary},
};

/// How long the URLs may be counted after requests in flight were dropped; a million take about a second.
const COUNT_GRACE: Duration = Duration::from_secs(1);

/// The work on one site.
pub(super) struct Job<'j> {
    pub(super) crawler: &'j Crawler,
    pub(super) site: &'j Arc<SiteSettings>,
    pub(super) watch: Watch,
    /// Gets what is known when it ends, well or not.
    pub(super) summary: &'j mut Summary,
}

impl Job<'_> {
    /// Crawls and publishes; once more, and with a new state, when the one it works with turns out to be damaged.
    pub(super) async fn crawl(&mut self) -> anyhow::Result<ExitCode> {
        let ended = self.crawl_with(None).await;
        match ended.as_ref().err().and_then(damage) {
            Some(damage) => self.crawl_with(Some(damage)).await,
            None => ended,
        }
    }

    /// Crawls and publishes. `damage` was found in the state while it was worked with.
    async fn crawl_with(&mut self, damage: Option<String>) -> anyhow::Result<ExitCode> {
        let Self {
            crawler,
            site,
            ref watch,
            ..
        } = *self;
        if crawler.stop.asked_by().is_some() {
            return Err(CrawlError::Stopped.into());
        }
        let settings = &site.settings;
        let lists = self.lists().await?;
        let before = self.before_requests().await?;
        self.summary.has_old_set = before.has_old_set;
        before.checked?;
        let mut config = config_of(site);
        config.fetch.was_public = before.was_public;
        let opening = Arc::new(Mutex::new(Opening::default()));
        let fetch = seams::network(&config.fetch)?;
        let seams = Seams {
            fetch: Arc::clone(&fetch) as Arc<dyn Fetch>,
            clock: Arc::clone(&crawler.clock),
            politeness: Arc::clone(&crawler.politeness),
            progress: watch.progress.clone(),
            peek_store: self.peek_store(damage.as_deref()),
            open_store: self.open_store(Arc::clone(&opening), fetch, damage),
            holds: seams::holds(&settings.state),
            lists,
            public_url: self.public_url(),
        };
        let newest = watch.progress.subscribe();
        let shutdown = &crawler.stop.shutdown;
        let work = async {
            crawler.faults.pass("panic-in-crawl");
            // Boxed, because what a crawl holds across its waits is too large for the stack of its caller.
            Box::pin(crawl(&config, &site.start, seams, shutdown)).await
        };
        let crawled = caught(work).await;
        // Held until the set stands and others are told of it.
        let Opening {
            misfit,
            aside,
            state,
            hold: _hold,
        } = mem::take(&mut *opening.lock().unwrap_or_else(PoisonError::into_inner));
        if aside.is_some() {
            self.summary.damaged_state = aside;
        }
        self.summary.state = state;
        let known = newest.borrow().site.clone();
        if let Some(site) = &known {
            self.summary.set_site(site);
            self.set_places(site);
        }
        let crawled = crawled?.map_err(|error| misfit.unwrap_or_else(|| error.into()))?;
        self.set_places(&crawled.site);
        self.summary.set_crawled(&crawled);
        let goes_on = "the same command goes on from here";
        self.summary.stopped_by = self.stopped_by(&crawled, goes_on);
        let (crawled, report) = counted(crawled, shutdown).await?;
        self.summary.set_report(report?);
        match crawled.ending {
            Ending::Stopped => Err(CrawlError::Stopped.into()),
            Ending::SiteDown => Err(SiteDown.into()),
            Ending::Drained | Ending::LimitReached | Ending::Deferred => {
                self.publish(crawled, config).await
            }
        }
    }

    /// The URL lists of the site, looked through before anything is asked of the network.
    async fn lists(&self) -> anyhow::Result<Vec<SeedList>> {
        let lists = self.crawler.lists.clone();
        let (files, output) = (
            self.site.settings.seeds.clone(),
            self.crawler.output.clone(),
        );
        let read = tokio::task::spawn_blocking(move || lists.read(&files, &output));
        Ok(read.await.map_err(Panicked::from_join)??)
    }

    /// What is known of the site before anything is asked of the network, if it is the one that the start URL names.
    async fn before_requests(&self) -> anyhow::Result<Before> {
        let configured = Arc::clone(self.site);
        let work = tokio::task::spawn_blocking(move || {
            let settings = &configured.settings;
            let site = names::foreseen(settings, &configured.start);
            let has_old_set = is_published(&settings.output_of(&site.written().name()));
            let state = settings.state_of(&site);
            let mut was_public = false;
            let mut checked = if state.exists() {
                Ok(())
            } else {
                check_names_of(settings, &site, None)
            };
            seams::peek(&state, &mut |store| {
                // Whoever opens it in earnest tells what is wrong with it.
                was_public = runs::was_public(store).unwrap_or_default();
                let found = check_names_of(settings, &site, Some(store));
                if !matches!(found, Err(PublishError::Store(_))) {
                    checked = found;
                }
            });
            Before {
                has_old_set,
                was_public,
                checked,
            }
        });
        Ok(work.await.map_err(Panicked::from_join)?)
    }

    /// Publishes what was crawled.
    async fn publish(&mut self, crawled: Crawled, mut config: Config) -> anyhow::Result<ExitCode> {
        let settings = &self.site.settings;
        // What is doubted waits, whatever ended the crawl.
        let is_partial = self.summary.is_partial()
            || self.summary.is_unfinished()
            || crawled.ending != Ending::Drained;
        // What a sitemap names that could not be read this time is missing, not gone.
        let is_guarded = self.summary.lacks_pages()
            || crawled.ending != Ending::Drained
            || self.summary.has_missing_seeds();
        let dry_run = settings.dry_run;
        let written = crawled.site.written();
        config.publish.output = settings.output_of(&written.name());
        config.publish.public_url = settings.public_url_of(&crawled.site)?;
        config.publish.generations = Some(settings.generations_of(&crawled.site));
        let robots = RobotsFile::of(&crawled);
        let if_refused = self.stopped_by(&crawled, "the next crawl begins anew");
        let (now, faults) = (self.crawler.clock.now(), self.crawler.faults.clone());
        let shutdown = self.crawler.stop.shutdown.clone();
        self.watch.stage.send_replace(Stage::Publishing);
        let span = tracing::Span::current();
        let work = tokio::task::spawn_blocking(move || {
            let _entered = span.entered();
            faults.pass("panic-in-publish");
            publish_and_count(crawled, &config, is_guarded, dry_run, now, &shutdown)
        });
        let (published, report, store) = work.await.map_err(Panicked::from_join)?;
        if matches!(published, Err(PublishError::Refused(_))) {
            self.summary.stopped_by = if_refused;
        }
        let ended = Ended {
            published,
            report,
            robots,
            dry_run,
            is_partial,
        };
        let code = ended.tell(self.summary, &self.crawler.output)?;
        if !dry_run {
            let Self { crawler, site, .. } = self;
            crawler.tell_of(site, store, self.summary).await;
        }
        Ok(code)
    }

    /// Notes where state and output of `site` are, and whether there is a set already.
    fn set_places(&mut self, site: &Site) {
        let settings = &self.site.settings;
        let output = settings.output_of(&site.written().name());
        self.summary.has_old_set = is_published(&output);
        self.summary.output = Some(output);
        self.summary.state = Some(settings.state_of(site));
    }

    /// What made a run end before everything was decided, and what follows, as a sentence.
    fn stopped_by(&self, crawled: &Crawled, next: &str) -> Option<String> {
        let limits = &self.site.settings.config.limits;
        let what = match (crawled.ending, crawled.limit) {
            (Ending::LimitReached, Some(Limit::Pages)) => {
                format!("max_pages = {} was reached", limits.max_pages)
            }
            (Ending::LimitReached, _) => {
                format!(
                    "max_time = {} was reached",
                    human::duration(limits.max_time)
                )
            }
            (Ending::Deferred, _) => {
                "nothing more was requested in this session (the notes say why)".to_owned()
            }
            (Ending::Drained | Ending::SiteDown | Ending::Stopped, _) => return None,
        };
        Some(format!("{what}; {next}"))
    }
}

/// What is known of a site before its first request.
struct Before {
    /// A set is published where this one will be.
    has_old_set: bool,
    /// The host was public in the last crawl.
    was_public: bool,
    /// Whether nothing of others is in the way.
    checked: Result<(), PublishError>,
}

/// Whether nothing of others is in the way of the set of `site`.
pub(super) fn check_names_of(
    settings: &Settings,
    site: &Site,
    store: Option<&dyn Store>,
) -> Result<(), PublishError> {
    let mut config = settings.config.publish.clone();
    config.output = settings.output_of(&site.written().name());
    check_names(store, site, &config)
}

/// What an error says of a damaged state, if it is about one.
fn damage(error: &anyhow::Error) -> Option<String> {
    let is_damaged = of_state(error)?.kind() == StoreErrorKind::Corrupt;
    is_damaged.then(|| format!("{error:#}"))
}

/// What the state said, if an error comes from there.
pub(super) fn of_state(error: &anyhow::Error) -> Option<&StoreError> {
    error.chain().find_map(|cause| {
        let crawl = cause.downcast_ref::<CrawlError>();
        let publish = cause.downcast_ref::<PublishError>();
        match (crawl, publish) {
            (Some(CrawlError::Store(error)), _) | (_, Some(PublishError::Store(error))) => {
                Some(error)
            }
            (_, _) => cause.downcast_ref::<StoreError>(),
        }
    })
}

/// Counts what is in which state. All rows are read for it, so a large state is not counted to the end when the program has
/// to end soon: what is known stays in it.
async fn counted(
    crawled: Crawled,
    shutdown: &Shutdown,
) -> anyhow::Result<(Crawled, Result<Report, StoreError>)> {
    let counting = tokio::task::spawn_blocking(move || {
        let report = Report::read(&*crawled.store, crawled.run);
        (crawled, report)
    });
    let too_late = async {
        shutdown.aborted().await;
        tokio::time::sleep(COUNT_GRACE).await;
    };
    // When it is too late the count goes on until the process ends, and changes nothing.
    tokio::select! {
        counted = counting => Ok(counted.map_err(Panicked::from_join)?),
        () = too_late => Err(CrawlError::Stopped.into()),
    }
}

/// The settings for the library.
fn config_of(site: &SiteSettings) -> Config {
    let mut config = site.settings.config.clone();
    let origin = site.start.origin();
    config.fetch.start_host = origin.host.to_string();
    config.fetch.credential_origins = with_https_twin(origin);
    config
}

/// Publishes, and counts what is in which state afterwards.
fn publish_and_count(
    crawled: Crawled,
    config: &Config,
    partial: bool,
    dry_run: bool,
    now: Timestamp,
    shutdown: &Shutdown,
) -> (
    Result<Published, PublishError>,
    Result<Report, StoreError>,
    Box<dyn Store>,
) {
    let Crawled {
        site,
        mut store,
        run,
        ending,
        robots,
        doubted,
        ..
    } = crawled;
    // A state that cannot be read is told of where it is published from.
    let partial = partial && !has_records(&*store).unwrap_or(false);
    let request = PublishRequest {
        site: &site,
        run,
        config: &config.publish,
        robots: robots.as_ref().filter(|_| !config.ignore.robots),
        partial,
        doubted: doubted.as_ref(),
        dry_run,
        now,
        is_stopped: &|| shutdown.is_stopping(),
    };
    let published = if config.notify.indexnow && !dry_run {
        adopt(&mut *store).map_err(PublishError::from)
    } else {
        Ok(())
    };
    let published = published.and_then(|()| publish(&mut *store, &request));
    let is_drained = ending == Ending::Drained;
    let is_over = match &published {
        // What a rehearsal was answered is nothing to go on from.
        _ if dry_run => true,
        // Of a site that was not itself nothing may count later; a run that is gone on with would not ask again.
        Err(PublishError::Refused(_)) => true,
        // What failed behind the new set is of the disk; the next run tries it again. What was not published may be
        // otherwise with more of the site.
        Ok(_)
        | Err(
            PublishError::Empty
            | PublishError::Shrunk { .. }
            | PublishError::Doubted(_)
            | PublishError::Check { .. },
        ) => is_drained,
        // Something outside stood in the way: the next start publishes what is known without fetching it again.
        Err(_) => false,
    };
    let finished = if is_over {
        let is_refused = matches!(published, Err(PublishError::Refused(_)));
        let disowned = if is_refused {
            disown(&mut *store, run)
        } else {
            Ok(())
        };
        disowned
            .and_then(|()| runs::finish(&mut *store, run))
            .and_then(|()| runs::forget(&mut *store, run, now))
    } else {
        Ok(())
    };
    let report = finished.and_then(|()| Report::read(&*store, run));
    (published, report, store)
}
