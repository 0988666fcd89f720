//! `arpent crawl`: for each site one after another crawl, publish, tell. A site that fails does not
//! stop the others; a signal does.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use crawler::{
    clock::Clock,
    config::Config,
    engine::{
        CrawlError, Crawled, Ending, Limit, OpenStore, Progress, PublicUrl, Seams, Shutdown, crawl,
    },
    holds::Holds,
    politeness::{Politeness, SharedPoliteness},
    publish::{
        PublishError, PublishRequest, Published, check_output, is_published, publish,
        recall_own_files, standing,
    },
    report::Report,
    runs,
    seeds::{SeedList, SeedListError},
    site::Site,
    store::{Store, StoreError, StoreErrorKind},
    url_key::{Origin, UrlKey},
};
use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};
use tracing::level_filters::LevelFilter;

use super::{notify::Teller, print, published::Ended, seams, tell};
use crate::{
    args::CrawlArgs,
    attend::{Attendant, ProgressView},
    exit_code::{ExitCode, SiteDown},
    fault::Faults,
    human,
    output::Output,
    panicked::Panicked,
    settings::{Environment, MAX_FILE_BYTES, Settings},
    summary::{Outcome, RobotsFile, Summary},
};

/// Runs `arpent crawl`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails on a site is told and only
/// changes the exit code.
pub(super) fn run(
    args: &CrawlArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(args, environment, read_settings_file)?;
    if settings.quiet {
        output.be_quiet();
    }
    output.take_log(log_level(&settings));
    for warning in &settings.warnings {
        output.warn(warning);
    }
    let lists = seed_lists(&settings.seeds, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let code = runtime.block_on(async {
        let mut job = Job {
            politeness: Arc::new(Mutex::new(Politeness::new(&settings.config.politeness))),
            settings: Arc::new(settings),
            lists,
            output: output.clone(),
            attendant: Attendant::new(output).context("failed to listen to signals")?,
            clock: seams::clock(environment),
            faults: Faults::new(environment),
        };
        anyhow::Ok(job.crawl_all().await)
    });
    // What still runs is a name lookup that nobody waits for.
    runtime.shutdown_background();
    code
}

/// Everything the sites of one start have in common.
struct Job {
    settings: Arc<Settings>,
    lists: Vec<SeedList>,
    output: Output,
    politeness: SharedPoliteness,
    attendant: Attendant,
    clock: Arc<dyn Clock>,
    faults: Faults,
}

impl Job {
    async fn crawl_all(&mut self) -> ExitCode {
        let settings = Arc::clone(&self.settings);
        let mut worst = ExitCode::Success;
        for start in &settings.urls {
            let mut summary = Summary::new(start.as_str());
            summary.set_asked(&settings.config);
            let began = Instant::now();
            let result = match self.attendant.stop().asked_by() {
                Some(_) => Err(CrawlError::Stopped.into()),
                None => self.crawl_site(start, &mut summary).await,
            };
            let code = result.unwrap_or_else(|error| self.failed(error, &mut summary));
            summary.set_duration(began.elapsed());
            self.call_hooks(code, &summary).await;
            print(&summary, self.settings.summary, &self.output);
            worst = worst.worse(code);
        }
        worst
    }

    /// Crawls and publishes one site; `summary` gets what is known when it ends, well or not.
    async fn crawl_site(
        &mut self,
        start: &UrlKey,
        summary: &mut Summary,
    ) -> anyhow::Result<ExitCode> {
        let config = self.config_for(start);
        let (progress, newest) = watch::channel(Progress::default());
        let misfit = Arc::new(Mutex::new(None));
        let seams = Seams {
            fetch: seams::network(&config.fetch)?,
            clock: Arc::clone(&self.clock),
            politeness: Arc::clone(&self.politeness),
            progress,
            open_store: self.open_store(Arc::clone(&misfit)),
            holds: Holds::in_file(&self.settings.state.join("retry-after")),
            lists: self.lists.clone(),
            public_url: self.public_url(),
        };
        let (shutdown, faults) = (self.attendant.stop().shutdown.clone(), self.faults.clone());
        let work = async {
            faults.pass("panic-in-crawl");
            // Boxed, because what a crawl holds across its waits is too large for the stack of its caller.
            Box::pin(crawl(&config, start, seams, &shutdown)).await
        };
        let mut view = ProgressView::new(newest, config.politeness.delay);
        let crawled = self.attendant.during(work, Some(&mut view)).await;
        if let Some(site) = &view.newest().site {
            summary.set_site(site);
            self.set_places(summary, site);
        }
        let crawled = crawled?.map_err(|error| {
            let misfit = misfit.lock().unwrap_or_else(PoisonError::into_inner).take();
            misfit.unwrap_or_else(|| error.into())
        })?;
        self.set_places(summary, &crawled.site);
        summary.set_crawled(&crawled);
        summary.stopped_by = self.stopped_by(&crawled);
        summary.set_report(Report::read(&*crawled.store, crawled.run)?);
        match crawled.ending {
            Ending::Stopped => Err(CrawlError::Stopped.into()),
            Ending::SiteDown => Err(SiteDown.into()),
            Ending::Drained | Ending::LimitReached | Ending::Deferred => {
                self.publish(crawled, config, summary).await
            }
        }
    }

    /// Publishes what was crawled.
    async fn publish(
        &mut self,
        crawled: Crawled,
        mut config: Config,
        summary: &mut Summary,
    ) -> anyhow::Result<ExitCode> {
        let is_partial = summary.is_partial() || crawled.ending != Ending::Drained;
        // What a sitemap names that could not be read this time is missing, not gone.
        let is_guarded = summary.lacks_pages()
            || crawled.ending != Ending::Drained
            || summary.has_missing_seeds();
        let dry_run = self.settings.dry_run;
        let written = crawled.site.written();
        config.publish.output = self.settings.output_of(&written.name());
        config.publish.public_url = self.settings.public_url_of(&crawled.site)?;
        let robots = RobotsFile::of(&crawled);
        let (now, faults) = (self.clock.now(), self.faults.clone());
        let shutdown = self.attendant.stop().shutdown.clone();
        let work = tokio::task::spawn_blocking(move || {
            faults.pass("panic-in-publish");
            publish_and_count(crawled, &config, is_guarded, dry_run, now, &shutdown)
        });
        self.output.show(&["  writing the sitemaps".to_owned()]);
        let joined = self.attendant.during(work, None).await?;
        let (published, report, store) = joined.map_err(Panicked::from_join)?;
        let ended = Ended {
            published,
            report,
            robots,
            dry_run,
            is_partial,
        };
        let code = ended.tell(summary, &self.output)?;
        if !dry_run {
            self.tell_of(store, summary).await;
        }
        Ok(code)
    }

    fn teller(&self) -> Teller {
        Teller::new(
            &self.settings,
            Arc::clone(&self.politeness),
            Arc::clone(&self.clock),
            self.attendant.stop().shutdown.clone(),
        )
    }

    /// Tells whom the settings name of the set that stands. Whatever fails is a warning: the set stands.
    async fn tell_of(&mut self, mut store: Box<dyn Store>, summary: &mut Summary) {
        let has_changed = summary.has_changed();
        let mut teller = self.teller();
        let work = tokio::task::spawn_blocking(move || {
            let Some(standing) = standing(&*store)? else {
                return Ok(None);
            };
            let told = teller.tell(&mut *store, &standing, has_changed, false);
            teller.settle();
            told.map(Some)
        });
        let told: anyhow::Result<_> = match self.attendant.during(work, None).await {
            Ok(Ok(told)) => told.map_err(anyhow::Error::from),
            Ok(Err(error)) => Err(error.into()),
            Err(panicked) => Err(panicked.into()),
        };
        match told {
            Ok(Some(told)) => {
                for notice in &told.notices {
                    self.output.say(notice);
                }
                for problem in &told.problems {
                    self.output.warn(&format!("{}: {problem}", summary.site));
                }
                summary.notified = told.notified;
            }
            Ok(None) => {}
            Err(error) => self.output.warn(&format!(
                "{}: nobody was told of it: {error:#}",
                summary.site
            )),
        }
    }

    /// Calls the hooks of the settings when the run ended by something that they are for. One that fails is
    /// a warning: how the run ended stays.
    async fn call_hooks(&mut self, code: ExitCode, summary: &Summary) {
        let notify = &self.settings.config.notify;
        let event = summary
            .hook_event()
            .filter(|event| notify.hook_events.contains(event));
        let Some(event) = event.filter(|_| notify.has_hooks() && !self.settings.dry_run) else {
            return;
        };
        let summary_json = summary.json().unwrap_or_else(|_| "{}".to_owned());
        let outcome = serde_json::to_value(summary.outcome);
        let outcome = outcome
            .ok()
            .and_then(|word| word.as_str().map(str::to_owned));
        let folder = summary.output.as_deref().map(Path::display);
        let variables = [
            ("ARPENT_SITE", summary.site.clone()),
            ("ARPENT_OUTCOME", outcome.unwrap_or_default()),
            ("ARPENT_EXIT_CODE", (code as i32).to_string()),
            (
                "ARPENT_SITEMAPS_DIR",
                folder.map(|folder| folder.to_string()).unwrap_or_default(),
            ),
        ];
        let mut teller = self.teller();
        let work = tokio::task::spawn_blocking(move || {
            let problems = teller.call_hooks(event, &variables, &summary_json);
            teller.settle();
            problems
        });
        let problems = match self.attendant.during(work, None).await {
            Ok(Ok(problems)) => problems,
            Ok(Err(error)) => vec![error.to_string()],
            Err(panicked) => vec![panicked.to_string()],
        };
        for problem in problems {
            self.output.warn(&format!("{}: {problem}", summary.site));
        }
    }

    /// Notes where state and output of `site` are, and whether there is a set already.
    fn set_places(&self, summary: &mut Summary, site: &Site) {
        let output = self.settings.output_of(&site.written().name());
        summary.has_old_set = is_published(&output);
        summary.output = Some(output);
        summary.state = Some(self.settings.state_of(site));
    }

    /// What made a run end before everything was decided, as a sentence.
    fn stopped_by(&self, crawled: &Crawled) -> Option<String> {
        let limits = &self.settings.config.limits;
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
        Some(format!("{what}; the same command goes on from here"))
    }

    /// The settings for the site that begins at `start`.
    fn config_for(&self, start: &UrlKey) -> Config {
        let mut config = self.settings.config.clone();
        let origin = start.origin();
        config.fetch.start_host = origin.host.to_string();
        config.fetch.credential_origins = with_https_twin(origin);
        config
    }

    /// Opens the state of the site once the engine knows which it is. A site that the settings do not
    /// fit, and an output that cannot be written, are found out here, before more than the start page is
    /// fetched: `misfit` then says why.
    fn open_store(&self, misfit: Arc<Mutex<Option<anyhow::Error>>>) -> OpenStore {
        let settings = Arc::clone(&self.settings);
        let now = self.clock.now();
        Box::new(move |site| {
            if let Err(error) = check_site(&settings, site) {
                *misfit.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return Err(StoreError::new(
                    StoreErrorKind::Open,
                    "the settings do not fit the site",
                ));
            }
            let path = settings.state_of(site);
            let mut store = if settings.fresh {
                seams::fresh_state(&path, now)
            } else {
                seams::state(&path)
            }?;
            recall_own_files(
                &mut *store,
                site,
                &settings.output_of(&site.written().name()),
            )?;
            Ok(store)
        })
    }

    /// Where the set of the site will be served, for the engine.
    fn public_url(&self) -> PublicUrl {
        let settings = Arc::clone(&self.settings);
        // A setting that does not fit the site is told of where its state is opened.
        Box::new(move |site| settings.public_url_of(site).ok().flatten())
    }

    /// Tells what ended the work on a site, and what that means for the exit code.
    fn failed(&self, error: anyhow::Error, summary: &mut Summary) -> ExitCode {
        let code = match (ExitCode::of_error(&error), self.attendant.stop().asked_by()) {
            // The library knows that it was stopped, but not by which signal.
            (ExitCode::Interrupted, Some(signal)) => signal.into(),
            (code, _) => {
                // Most messages name the site or its start URL already.
                let names_site = format!("{error:#}").contains(&summary.site);
                let error = if names_site {
                    error
                } else {
                    error.context(summary.site.clone())
                };
                tell(&error, &self.output);
                code
            }
        };
        summary.outcome = Outcome::of_failure(code);
        code
    }
}

/// Whether the set of `site` can be written to its place and served from there.
pub(super) fn check_site(settings: &Settings, site: &Site) -> anyhow::Result<()> {
    settings.public_url_of(site)?;
    if !settings.dry_run {
        check_output(&settings.output_of(&site.written().name()))?;
    }
    Ok(())
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
    let published = publish(&mut *store, &request);
    let is_over = match &published {
        Ok(published) => published.problems.is_empty() && ending == Ending::Drained,
        Err(PublishError::Empty | PublishError::Shrunk { .. }) => ending == Ending::Drained,
        // Something outside stood in the way: the next start publishes what is known without fetching it again.
        Err(_) => false,
    };
    let finished = if is_over {
        runs::finish(&mut *store, run)
    } else {
        Ok(())
    };
    let report = finished.and_then(|()| Report::read(&*store, run));
    (published, report, store)
}

/// Where credentials may go: the origin itself and, because sites move from http to https, the same
/// host there.
pub(super) fn with_https_twin(origin: Origin) -> Vec<Origin> {
    let twin = (&*origin.scheme == "http" && origin.port == 80).then(|| Origin {
        scheme: "https".into(),
        host: Arc::clone(&origin.host),
        port: 443,
    });
    [origin].into_iter().chain(twin).collect()
}

pub(super) fn log_level(settings: &Settings) -> LevelFilter {
    match (settings.quiet, settings.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, 2) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    }
}

/// The URL lists, each read once to find what is wrong with it before anything else is done: lines that are
/// left out are told.
fn seed_lists(files: &[String], output: &Output) -> Result<Vec<SeedList>, SeedListError> {
    let open = |file: &String| {
        let list = match file.as_str() {
            "-" => SeedList::copy("standard input", io::stdin().lock())?,
            path => SeedList::open(Path::new(path))?,
        };
        let check = list.check()?;
        for bad in &check.told {
            output.warn(&format!("{bad}; the line is left out"));
        }
        let more = check.bad_lines - check.told.len() as u64;
        if more > 0 {
            let lines = human::count(more, "line");
            output.warn(&format!("{}: {lines} more left out", list.name()));
        }
        Ok(list)
    };
    files.iter().map(open).collect()
}

/// Reads a settings file, and not much more when it is none.
pub(super) fn read_settings_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_follow_a_site_to_https_only() {
        fn check(url: &str, expected: &[&str]) {
            let origins = with_https_twin(UrlKey::from_normalised(url).unwrap().origin());
            assert_eq!(
                origins.iter().map(ToString::to_string).collect::<Vec<_>>(),
                expected
            );
        }
        check(
            "http://example.com/",
            &["http://example.com", "https://example.com"],
        );
        check("https://example.com/", &["https://example.com"]);
        check("http://127.0.0.1:8080/a/", &["http://127.0.0.1:8080"]);
    }
}
