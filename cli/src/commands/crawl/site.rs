//! One site: crawled, published, told, and noted how it ended. Whoever calls it decides when, and shows the
//! progress; nothing here waits for a signal or prints a summary.

use std::{
    collections::BTreeMap,
    mem,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use crawler::{
    clock::Clock,
    config::{Config, HookEvent},
    engine::{
        CrawlError, Crawled, Ending, Limit, OpenStore, PeekStore, PublicUrl, Seams, Shutdown, crawl,
    },
    holds::Holds,
    notify::adopt,
    politeness::SharedPoliteness,
    publish::{
        OutputHold, PublishError, PublishRequest, Published, check_disk, disown, has_records,
        hooks_know, is_published, publish, standing,
    },
    report::Report,
    runs,
    seeds::SeedList,
    site::Site,
    store::{Store, StoreError, StoreErrorKind},
    url_key::UrlKey,
};
use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    board::{Stage, Watch},
    check_site,
    last::LastRun,
    lists::Lists,
    with_https_twin,
};
use crate::{
    commands::{notify::Teller, published::Ended, seams, tell},
    exit_code::{ExitCode, Misuse, SiteDown},
    fault::Faults,
    human,
    output::Output,
    panicked::{Panicked, caught},
    settings::{SiteSettings, settled},
    signal::Stop,
    summary::{Outcome, RobotsFile, Summary},
};

/// What all sites of a program share. Clones share it.
#[derive(Clone)]
pub(crate) struct Crawler {
    /// Where is told what goes wrong.
    pub(crate) output: Output,
    /// The clocks of all hosts.
    pub(crate) politeness: SharedPoliteness,
    /// Wall time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Stops all runs.
    pub(crate) stop: Stop,
    /// For tests.
    pub(crate) faults: Faults,
    /// URL lists of the user.
    pub(crate) lists: Lists,
    /// Which site writes where.
    pub(crate) places: Places,
}

/// How the work on a site ended.
#[derive(Debug)]
pub(crate) struct SiteRun {
    /// What is told of it.
    pub(crate) summary: Summary,
    /// What the parent would be told if it were the only site.
    pub(crate) code: ExitCode,
}

impl SiteRun {
    /// The work never began, because a signal stopped the program before.
    pub(crate) fn not_begun(site: &SiteSettings, stop: &Stop) -> Self {
        let mut summary = summary_of(site);
        let code = stop.asked_by().map_or(ExitCode::Interrupted, Into::into);
        summary.outcome = Outcome::of_failure(code);
        Self { summary, code }
    }

    /// The work ended by a bug outside of what is caught.
    pub(crate) fn panicked(site: &SiteSettings) -> Self {
        let code = ExitCode::Internal;
        let mut summary = summary_of(site);
        summary.outcome = Outcome::of_failure(code);
        Self { summary, code }
    }
}

/// How the work on a site ended.
pub(in crate::commands) struct End {
    pub(in crate::commands) code: ExitCode,
    /// What made it fail.
    message: Option<String>,
    /// Another run has the state: that one notes how it ends.
    is_beside: bool,
}

/// The summary of work on `site` that begins.
pub(in crate::commands) fn summary_of(site: &SiteSettings) -> Summary {
    let mut summary = Summary::new(site.start.as_str());
    summary.set_asked(&site.settings.config);
    summary
}

impl Crawler {
    /// The same for the run of one site: what it says is said with the site's name.
    pub(crate) fn for_site(&self, site: &SiteSettings) -> Self {
        Self {
            output: self.output.of_site(&site.name),
            ..self.clone()
        }
    }

    /// Crawls and publishes `site`; what it is doing goes to `watch`. What goes wrong is told and noted, in the
    /// summary and in the file of its last run.
    pub(crate) async fn run(&self, site: &Arc<SiteSettings>, watch: Watch) -> SiteRun {
        let mut summary = summary_of(site);
        let (started, began) = (self.clock.now(), Instant::now());
        let mut job = Job {
            crawler: self,
            site,
            watch,
            summary: &mut summary,
        };
        let result = caught(job.crawl()).await;
        let result = result.map_err(Into::into).flatten();
        let end = self.ended(result, &mut summary, began);
        let code = end.code;
        let run = SiteRun { summary, code };
        self.tell_of_end(site, &run, started, end).await;
        run
    }

    /// What the end of the work on a site, which began at `began`, means for the exit code; what made it fail is told.
    pub(in crate::commands) fn ended(
        &self,
        result: anyhow::Result<ExitCode>,
        summary: &mut Summary,
        began: Instant,
    ) -> End {
        // Another run has the state: that one notes how it ends. The output, which it has too, is asked for first.
        let is_beside = result.as_ref().is_err_and(|error| {
            let has_state = || summary.state.as_deref().and_then(seams::busy_since);
            is_held(error) || (ExitCode::of_error(error) == ExitCode::Busy && has_state().is_some())
        });
        let (code, message) = match result {
            Ok(code) => (code, None),
            Err(error) => self.failed(error, summary),
        };
        summary.set_duration(began.elapsed());
        End {
            code,
            message,
            is_beside,
        }
    }

    /// Calls the hooks, and notes how the run ended.
    pub(in crate::commands) async fn tell_of_end(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteRun,
        started: Timestamp,
        end: End,
    ) {
        self.call_hooks(site, run.code, &run.summary).await;
        if !site.settings.dry_run && !end.is_beside {
            self.note(site, run, started, end.message).await;
        }
    }

    /// Who tells others of `site`.
    fn teller(&self, site: &SiteSettings) -> Teller {
        Teller::new(
            &site.settings,
            Arc::clone(&self.politeness),
            Arc::clone(&self.clock),
            self.stop.shutdown.clone(),
        )
    }

    /// Tells whom the settings name of the set that stands. Whatever fails is a warning: the set stands.
    pub(in crate::commands) async fn tell_of(
        &self,
        site: &SiteSettings,
        mut store: Box<dyn Store>,
        summary: &mut Summary,
    ) {
        let has_changed = summary.has_changed();
        let mut teller = self.teller(site);
        let work = tokio::task::spawn_blocking(move || {
            let Some(standing) = standing(&*store)? else {
                return Ok(None);
            };
            let told = teller.tell(&mut *store, &standing, has_changed, false);
            teller.settle();
            told.map(Some)
        });
        let told: anyhow::Result<_> = match work.await {
            Ok(told) => told.map_err(anyhow::Error::from),
            Err(error) => Err(Panicked::from_join(error).into()),
        };
        let output = &self.output;
        match told {
            Ok(Some(told)) => {
                for notice in &told.notices {
                    output.say(notice);
                }
                for problem in &told.problems {
                    output.warn(&format!("{}: {problem}", summary.site));
                }
                summary.notified = told.notified;
                summary.awaits_hooks = told.awaits_hooks;
            }
            Ok(None) => {}
            Err(error) => output.warn(&format!(
                "{}: nobody was told of it: {error:#}",
                summary.site
            )),
        }
    }

    /// Calls the hooks of the settings when the run ended by something that they are for. One that fails is
    /// a warning: how the run ended stays. Those that wait to hear of a published set are called again with the next
    /// run when one fails, or the program ends before they did.
    async fn call_hooks(&self, site: &SiteSettings, code: ExitCode, summary: &Summary) {
        let notify = &site.settings.config.notify;
        let event = summary
            .hook_event()
            .filter(|event| notify.hook_events.contains(event));
        let Some(event) = event.filter(|_| notify.has_hooks() && !site.settings.dry_run) else {
            return;
        };
        let summary_json = summary.json().unwrap_or_else(|error| {
            // A hook that hears little is better than silence.
            self.output.warn(&format!(
                "{}: the hooks are called without the summary, which cannot be written as JSON: {error:#}",
                summary.site
            ));
            "{}".to_owned()
        });
        let folder = summary.output.as_deref().map(Path::display);
        let variables = [
            ("ARPENT_SITE", summary.site.clone()),
            ("ARPENT_OUTCOME", summary.outcome.as_str().to_owned()),
            ("ARPENT_EXIT_CODE", (code as i32).to_string()),
            (
                "ARPENT_SITEMAPS_DIR",
                folder.map(|folder| folder.to_string()).unwrap_or_default(),
            ),
        ];
        let mut teller = self.teller(site);
        let work = tokio::task::spawn_blocking(move || {
            let problems = teller.call_hooks(event, &variables, &summary_json);
            teller.settle();
            problems
        });
        let problems = match work.await {
            Ok(problems) => problems,
            Err(error) => vec![Panicked::from_join(error).to_string()],
        };
        if problems.is_empty() && event == HookEvent::Published {
            self.note_called(summary).await;
        }
        for problem in problems {
            self.output.warn(&format!("{}: {problem}", summary.site));
        }
    }

    /// Notes in the state that the hooks know of the set that stands. Where that fails they hear of it twice.
    async fn note_called(&self, summary: &Summary) {
        let Some(state) = summary.state.clone().filter(|_| summary.awaits_hooks) else {
            return;
        };
        let work = tokio::task::spawn_blocking(move || {
            let mut store = seams::state(&state)?;
            hooks_know(&mut *store)
        });
        let noted: anyhow::Result<()> = match work.await {
            Ok(noted) => noted.map_err(anyhow::Error::from),
            Err(error) => Err(Panicked::from_join(error).into()),
        };
        if let Err(error) = noted {
            self.output.warn(&format!(
                "{}: the hooks will be called again, because the state does not take that they were: {error:#}",
                summary.site
            ));
        }
    }

    /// Tells what ended the work on a site, and what that means for the exit code.
    fn failed(&self, error: anyhow::Error, summary: &mut Summary) -> (ExitCode, Option<String>) {
        let message = format!("{error:#}");
        summary.set_failed(&error);
        let code = match (ExitCode::of_error(&error), self.stop.asked_by()) {
            // The library knows that it was stopped, but not by which signal.
            (ExitCode::Interrupted, Some(signal)) => signal.into(),
            (code, _) => {
                // Most messages name the site or its start URL already.
                let error = if message.contains(&summary.site) {
                    error
                } else {
                    error.context(summary.site.clone())
                };
                tell(&error, &self.output);
                code
            }
        };
        summary.outcome = Outcome::of_failure(code);
        (code, Some(message))
    }

    /// Notes how a run ended. That it cannot be noted is told; the run is over all the same.
    async fn note(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteRun,
        started: Timestamp,
        message: Option<String>,
    ) {
        let path = site.last_run_file();
        let ended = self.clock.now();
        let text = |path: &Option<PathBuf>| Some(path.as_ref()?.display().to_string());
        let mut last = LastRun {
            name: site.name.clone(),
            start: site.start.to_string(),
            started,
            ended,
            exit_code: run.code as u8,
            message,
            last_good: run.summary.outcome.is_good().then_some(ended),
            state: text(&run.summary.state),
            output: text(&run.summary.output),
            summary: serde_json::to_value(&run.summary).unwrap_or_else(|error| {
                self.output.warn(&format!(
                    "{}: the summary of the run cannot be noted as JSON: {error}",
                    run.summary.site
                ));
                serde_json::Value::Null
            }),
        };
        let to = path.clone();
        let written = tokio::task::spawn_blocking(move || {
            if last.last_good.is_none() {
                // A file that cannot be read says nothing of an earlier run.
                let before = LastRun::read(&to).ok().flatten();
                last.last_good = before.and_then(|before| before.last_good);
            }
            last.write(&to)
        });
        let problem = match written.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => Panicked::from_join(error).to_string(),
        };
        self.output.warn(&format!(
            "{}: how the run ended could not be noted in {}: {problem}",
            run.summary.site,
            path.display()
        ));
    }
}

/// The work on one site.
struct Job<'j> {
    crawler: &'j Crawler,
    site: &'j Arc<SiteSettings>,
    watch: Watch,
    /// Gets what is known when it ends, well or not.
    summary: &'j mut Summary,
}

impl Job<'_> {
    /// Crawls and publishes; once more, and with a new state, when the one it works with turns out to be damaged.
    async fn crawl(&mut self) -> anyhow::Result<ExitCode> {
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
        let config = config_of(site);
        let opening = Arc::new(Mutex::new(Opening::default()));
        let seams = Seams {
            fetch: seams::network(&config.fetch)?,
            clock: Arc::clone(&crawler.clock),
            politeness: Arc::clone(&crawler.politeness),
            progress: watch.progress.clone(),
            peek_store: self.peek_store(damage.as_deref()),
            open_store: self.open_store(Arc::clone(&opening), damage),
            holds: Holds::in_file(&settings.state.join("retry-after")),
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
        self.summary
            .set_report(Report::read(&*crawled.store, crawled.run)?);
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

    /// Publishes what was crawled.
    async fn publish(&mut self, crawled: Crawled, mut config: Config) -> anyhow::Result<ExitCode> {
        let settings = &self.site.settings;
        let is_partial = self.summary.is_partial() || crawled.ending != Ending::Drained;
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
                "the host asked not to be contacted for longer than max_retry_after".to_owned()
            }
            (Ending::Drained | Ending::SiteDown | Ending::Stopped, _) => return None,
        };
        Some(format!("{what}; {next}"))
    }

    /// Looks into the state that a site would have. One that is not to be used, or damaged, is not looked into.
    fn peek_store(&self, damage: Option<&str>) -> PeekStore {
        let configured = Arc::clone(self.site);
        let is_wanted = damage.is_none() && !configured.settings.fresh;
        Arc::new(move |site, look| {
            if is_wanted {
                seams::peek(&configured.settings.state_of(site), look);
            }
        })
    }

    /// Opens the state of the site once the engine knows which it is. A site that the settings do not
    /// fit, and an output that cannot be written or is held by another run, are found out here, before more than the
    /// start page is fetched.
    fn open_store(&self, opening: Arc<Mutex<Opening>>, damage: Option<String>) -> OpenStore {
        let configured = Arc::clone(self.site);
        let teller = self.crawler.output.clone();
        let places = self.crawler.places.clone();
        let (now, faults) = (self.crawler.clock.now(), self.crawler.faults.clone());
        Box::new(move |site| {
            faults.pass("panic-in-opening");
            let mut opening = opening.lock().unwrap_or_else(PoisonError::into_inner);
            let settings = &configured.settings;
            let path = settings.state_of(site);
            opening.state = Some(path.clone());
            let output = settings.output_of(&site.written().name());
            let publish = &settings.config.publish;
            let fits = check_site(settings, site)
                .and_then(|()| Ok(places.take(&configured, site, [&path, &output])?))
                .and_then(|()| {
                    if !settings.dry_run {
                        opening.hold = Some(OutputHold::take(&output, publish)?);
                    }
                    Ok(())
                });
            if let Err(error) = fits {
                return Err(opening.refuse(error));
            }
            let place = (site, output.as_path());
            let opened = if settings.fresh && damage.is_none() {
                seams::fresh_state(&path, now, place)
            } else {
                seams::sound_state(&path, now, damage.as_deref(), place)
            }?;
            opened.tell(site, &teller);
            opening.aside = opened.damaged.map(|damaged| damaged.aside);
            let force = publish.force || settings.dry_run;
            match check_disk(&*opened.store, site, &output, force) {
                Ok(notices) => {
                    for notice in notices {
                        teller.warn(&format!("{}: {notice}", site.url()));
                    }
                    Ok(opened.store)
                }
                Err(error) => Err(opening.refuse(error.into())),
            }
        })
    }

    /// Where the set of the site will be served, for the engine.
    fn public_url(&self) -> PublicUrl {
        let configured = Arc::clone(self.site);
        // A setting that does not fit the site is told of where its state is opened.
        Box::new(move |site| configured.settings.public_url_of(site).ok().flatten())
    }
}

/// What came of opening the state of a site besides the state.
#[derive(Debug, Default)]
struct Opening {
    /// Why the run does not go on, when that is no failure of the state.
    misfit: Option<anyhow::Error>,
    /// Where a damaged state is now.
    aside: Option<PathBuf>,
    /// Where the state is.
    state: Option<PathBuf>,
    hold: Option<OutputHold>,
}

impl Opening {
    /// Keeps `error`, and stands for it where a state was to be opened.
    fn refuse(&mut self, error: anyhow::Error) -> StoreError {
        self.misfit = Some(error);
        StoreError::new(
            StoreErrorKind::Open,
            "the settings do not fit the site, or its output",
        )
    }
}

/// What an error says of a damaged state, if it is about one.
fn damage(error: &anyhow::Error) -> Option<String> {
    let is_damaged = of_state(error)?.kind() == StoreErrorKind::Corrupt;
    is_damaged.then(|| format!("{error:#}"))
}

/// Whether an error says that another run has the state.
fn is_held(error: &anyhow::Error) -> bool {
    of_state(error).is_some_and(|error| error.kind() == StoreErrorKind::Busy)
}

/// What the state said, if an error comes from there.
fn of_state(error: &anyhow::Error) -> Option<&StoreError> {
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
        // What failed behind the new set is of the disk; the next run tries it again.
        Ok(_) => is_drained,
        // Of a site that was not itself nothing may count later; a run that is gone on with would not ask again.
        Err(PublishError::Refused(_)) => true,
        // With more of the site it may be otherwise.
        Err(PublishError::Empty | PublishError::Shrunk { .. } | PublishError::Check { .. }) => {
            is_drained
        }
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

/// Which site writes where, as it turned out: two start URLs may redirect to one site, which only shows when they
/// are asked. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Held by sites that are still in the settings.
    taken: Arc<Mutex<BTreeMap<PathBuf, Weak<SiteSettings>>>>,
}

impl Places {
    /// `site`, which `configured` turned out to be, writes to `paths`.
    fn take(
        &self,
        configured: &Arc<SiteSettings>,
        site: &Site,
        paths: [&Path; 2],
    ) -> Result<(), Misuse> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, holder| holder.strong_count() > 0);
        let paths = paths.map(settled);
        for path in &paths {
            let holder = taken.get(path).and_then(Weak::upgrade);
            // Settings that were read again have the same sites anew, while runs may have those of before.
            if let Some(other) = holder.filter(|holder| holder.start != configured.start) {
                return Err(already_taken(&configured.start, site, &other.start, path));
            }
        }
        for path in paths {
            taken.insert(path, Arc::downgrade(configured));
        }
        Ok(())
    }
}

fn already_taken(start: &UrlKey, site: &Site, other: &UrlKey, path: &Path) -> Misuse {
    Misuse(format!(
        "{start} is the site {}, which writes to {}, where {other} writes already; expected each site once, and \
         folders of its own for each",
        site.url(),
        path.display()
    ))
}
