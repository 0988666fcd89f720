//! A session of one site for the program: its inputs from the settings, and its outcome in the summary.
//! [`crawler::site_run`] runs the session.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use tokio::time::Instant;

use super::{
    board::{SessionStage, SessionWatch},
    crawler::{Crawler, SiteResult, summary_of},
    look::look_before_crawl,
    names,
    published::{print_published, report_opened, set_output},
    settings::{SessionSettings, SiteSettings},
};
use crate::{
    client::with_https_twin,
    config::{Config, RenderMode},
    crawl_state,
    failure::{self, Misuse, Panicked, blocking, caught},
    fetch::{Fetch, http::HttpFetch},
    human,
    notify::service_url,
    outcome::ExitCode,
    publish::{PublishError, check_names, is_published, published_set},
    render::Render,
    retry_after::RetryAfterFile,
    seeds::SeedList,
    served::last_look,
    site::Site,
    site_run::{
        self, CrawlError, CrawlFacts, Ending, Held, Limit, PlacesOf, Session, SessionError,
    },
    store::Store,
    summary::{RobotsFile, Summary},
    url_key::UrlKey,
};

/// A session is to render pages, and the program has no code for it.
const NO_BROWSERS: &str = "pages cannot be rendered: this program was built without render; use a package of arpent, or build it with --features render";

/// Crawls and publishes `site`; what it is doing goes to `watch`. What goes wrong is reported and noted, in the
/// summary and in the file of its last run.
pub async fn session_site(
    crawler: &Crawler,
    site: &Arc<SiteSettings>,
    watch: SessionWatch,
) -> SiteResult {
    let mut summary = summary_of(site);
    let (started, began) = (crawler.clock.now(), Instant::now());
    let mut job = CrawlJob {
        crawler,
        site,
        watch,
        summary: &mut summary,
    };
    let result = Box::pin(caught(job.crawl())).await;
    let result = result.map_err(Into::into).flatten();
    let mut end = crawler.ended(result, &mut summary, began);
    let run = SiteResult {
        summary,
        code: end.code,
        error: end.error.take(),
    };
    crawler.report_end(site, &run, started, end).await;
    run
}

/// The work on one site.
struct CrawlJob<'j> {
    crawler: &'j Crawler,
    site: &'j Arc<SiteSettings>,
    watch: SessionWatch,
    /// Gets what is known when it ends, well or not.
    summary: &'j mut Summary,
}

impl CrawlJob<'_> {
    /// Crawls and publishes, and notifies others of the set.
    async fn crawl(&mut self) -> failure::Result<ExitCode> {
        let Self { crawler, site, .. } = *self;
        if crawler.stop.asked_by().is_some() {
            return Err(CrawlError::Stopped.into());
        }
        let lists = self.lists().await?;
        let before = self.before_requests().await?;
        self.summary.surroundings.has_old_set = before.has_old_set;
        before.checked?;
        if site.settings.config.notify.check_served {
            if before.is_not_served {
                look_before_crawl(crawler, site).await;
            }
            if let Some(index) = &before.first_index {
                self.note_other_sitemap(index).await;
            }
        }
        let mut config = config_of(site);
        config.fetch.was_public = before.was_public;
        config.fresh = site.settings.fresh;
        let state = Arc::new(OnceLock::new());
        let session = self.session(config, lists, Arc::clone(&state))?;
        let work = async {
            crawler.faults.pass("panic-in-crawl");
            site_run::run(session).await
        };
        let ended = Box::pin(caught(work)).await;
        let known = self.watch.progress.borrow().site.clone();
        if let Some(site) = &known {
            self.summary.set_site(site);
            self.set_places(site);
        }
        let ended = ended?;
        let settings = &site.settings;
        self.summary.surroundings.state = state.get().cloned().or(self
            .summary
            .surroundings
            .state
            .take());
        if let Some(opened) = &ended.opened {
            let url = ended.site.as_ref().map(Site::url).unwrap_or_default();
            report_opened(opened, &url, &crawler.output);
            let damaged = opened.damaged.as_ref();
            self.summary.damaged_state = damaged.map(|damaged| damaged.aside.display().to_string());
        }
        let (Some(site), Some(facts)) = (&ended.site, &ended.crawl) else {
            let Err(error) = ended.published else {
                return Err(Panicked::new("no crawl").into());
            };
            self.summary.set_unpublished(&error);
            return Err(error.into());
        };
        self.set_places(site);
        self.summary.set_crawled(site, facts);
        let next = if matches!(&ended.published, Err(error) if error.is_refusal()) {
            "the next crawl starts from the beginning"
        } else {
            "the same command continues the crawl"
        };
        self.summary.surroundings.stopped_by = self.stopped_by(facts, next);
        let robots = RobotsFile::of(site, facts.robots.as_ref());
        let (code, held) = print_published(self.summary, ended, &robots, &crawler.output)?;
        if let Some(Held {
            store,
            output: _output,
        }) = held.filter(|_| !settings.dry_run)
        {
            // The output is held until others are notified.
            crawler.notify_of(self.site, store, self.summary).await;
        }
        Ok(code)
    }

    /// Settings and dependencies of the session.
    fn session(
        &self,
        mut config: Config,
        lists: Vec<SeedList>,
        state: Arc<OnceLock<PathBuf>>,
    ) -> failure::Result<Session> {
        let Self { crawler, site, .. } = *self;
        let settings = &site.settings;
        let mut fetch: Arc<dyn Fetch> = Arc::new(HttpFetch::new(&config.fetch)?);
        if let Some(around) = &crawler.around_fetch {
            fetch = around(fetch);
        }
        let render = self.browser(&mut config)?;
        let (shown, faults) = (self.watch.stage.clone(), crawler.faults.clone());
        let before_publish = crawler.before_publish.clone();
        Ok(Session {
            config,
            start: site.start.clone(),
            places: self.places(state),
            fetch,
            clock: Arc::clone(&crawler.clock),
            politeness: Arc::clone(&crawler.politeness),
            progress: self.watch.progress.clone(),
            retry_after: RetryAfterFile::of_states(&settings.state),
            lists,
            dry_run: settings.dry_run,
            shutdown: crawler.stop.shutdown.clone(),
            on_publish: Arc::new(move || {
                let (shown, faults) = (shown.clone(), faults.clone());
                let before = before_publish.as_ref().map(|before| before());
                Box::pin(async move {
                    if let Some(before) = before {
                        before.await;
                    }
                    shown.send_replace(SessionStage::Publishing);
                    faults.pass("panic-in-publish");
                })
            }),
            render,
            send_fence: crawler.send_fence.clone(),
        })
    }

    /// The browser of a session that renders pages.
    fn browser(&self, config: &mut Config) -> failure::Result<Option<Arc<dyn Render>>> {
        let config = &mut config.parse.render;
        let open = self.crawler.open_browser.as_ref();
        let opened = open.map(|open| open(config));
        config.is_offered = matches!(opened, Some(Ok(_)));
        match (config.mode, opened) {
            (RenderMode::Never, _) => Ok(None),
            (_, Some(Ok(render))) => Ok(Some(render)),
            (_, Some(Err(message))) => Err(Misuse(message).into()),
            (_, None) => Err(Misuse(NO_BROWSERS.to_owned()).into()),
        }
    }

    /// Places of the files of the site; stores the site of the start URL, and reserves the places for it. `state` gets
    /// the file of the state.
    fn places(&self, state: Arc<OnceLock<PathBuf>>) -> PlacesOf {
        let configured = Arc::clone(self.site);
        let (output, places) = (self.crawler.output.clone(), self.crawler.places.clone());
        let faults = self.crawler.faults.clone();
        Arc::new(move |site| {
            faults.pass("panic-in-opening");
            let settings = &configured.settings;
            if !settings.dry_run
                && let Err(error) = names::remember(&settings.state, &configured.start, site)
            {
                output.warn(&format!(
                    "{}: other commands may not find the site by {}: {error}",
                    site.url(),
                    configured.start
                ));
            }
            state.set(settings.state_of(site)).ok();
            settings.check_site(site)?;
            let found = settings.places_of(site)?;
            places
                .reserve(&configured, site, [&settings.state_of(site), &found.output])
                .map_err(|Misuse(message)| SessionError::Settings(message))?;
            Ok(found)
        })
    }

    /// The URL lists of the site, looked through before anything is asked of the network.
    async fn lists(&self) -> failure::Result<Vec<SeedList>> {
        let lists = self.crawler.lists.clone();
        let (files, output) = (
            self.site.settings.seeds.clone(),
            self.crawler.output.clone(),
        );
        blocking(move || lists.read(&files, &output)).await
    }

    /// Facts about the site before the first request, if it is the site of the start URL.
    async fn before_requests(&self) -> failure::Result<Before> {
        let configured = Arc::clone(self.site);
        blocking(move || {
            let settings = &configured.settings;
            let site = names::foreseen(settings, &configured.start);
            let has_old_set = is_published(&settings.output_of(&site.written().name()));
            let state = settings.state_of(&site);
            let (mut was_public, mut is_not_served) = (false, false);
            let mut has_set = has_old_set || settings.dry_run;
            // With a state the names are checked once a publish that was interrupted is settled.
            let checked = if state.exists() {
                Ok(())
            } else {
                check_names_of(settings, &site)
            };
            let peeked = Store::peek(&state).unwrap_or_else(|error| {
                // Whoever opens it for work reports what is wrong with it.
                tracing::debug!(target: "store", "{error}");
                None
            });
            if let Some(store) = &peeked {
                was_public = crawl_state::was_public(store).unwrap_or_default();
                let last = last_look(store).unwrap_or_default();
                is_not_served = last.is_some_and(|last| !last.is_served());
                has_set |= published_set(store).is_ok_and(|set| set.is_some());
            }
            failure::Result::Ok(Before {
                has_old_set,
                was_public,
                is_not_served: is_not_served && !settings.dry_run,
                first_index: first_index(settings, &site).filter(|_| !has_set),
                checked,
            })
        })
        .await
    }

    /// Notes whose sitemap is in the place of the index.
    async fn note_other_sitemap(&self, index: &UrlKey) {
        let mut notifier = self.crawler.notifier(self.site);
        let url = index.clone();
        let asked = move || failure::Result::Ok(notifier.other_program_at(&url));
        if let Ok(Some(program)) = blocking(asked).await {
            self.crawler.output.warn(&format!(
                "{index} is a sitemap of {program}, and the files of this crawl would take its place: choose another name, such as \
                 index_name = \"pages.xml\", or turn off the sitemap of {program}"
            ));
        }
    }

    /// Notes where state and output of `site` are, and whether there is a set already.
    fn set_places(&mut self, site: &Site) {
        let settings = &self.site.settings;
        set_output(self.summary, settings.place_of(&site.written().name()));
        self.summary.surroundings.state = Some(settings.state_of(site));
    }

    /// The reason that a crawl ended before everything was decided, and what follows.
    fn stopped_by(&self, crawl: &CrawlFacts, next: &str) -> Option<String> {
        let limits = &self.site.settings.config.limits;
        let what = match (crawl.ending, crawl.limit) {
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
                "the host gets no further request in this session, for a reason in the notes"
                    .to_owned()
            }
            (Ending::Drained | Ending::SiteDown | Ending::Stopped, _) => return None,
        };
        Some(format!("{what}; {next}"))
    }
}

/// Facts about a site before its first request.
struct Before {
    /// A set is published where this one will be.
    has_old_set: bool,
    /// The host was public in the last crawl.
    was_public: bool,
    /// The last look found the published set not served.
    is_not_served: bool,
    /// Where the index will be served, before the first publish.
    first_index: Option<UrlKey>,
    /// The error if a file of another program is in the way.
    checked: Result<(), PublishError>,
}

/// Where the index of `site` will be served.
fn first_index(settings: &SessionSettings, site: &Site) -> Option<UrlKey> {
    let directory = settings.public_url_of(site).ok()?;
    let directory = directory.unwrap_or_else(|| site.written().url());
    service_url(&format!(
        "{directory}{}",
        settings.config.publish.index_name
    ))
}

/// Checks that no file of another program is in the way of the set of `site`.
fn check_names_of(settings: &SessionSettings, site: &Site) -> Result<(), PublishError> {
    let mut config = settings.config.publish.clone();
    config.output = settings.output_of(&site.written().name());
    check_names(None, site, &config)
}

/// The settings for the library.
fn config_of(site: &SiteSettings) -> Config {
    let mut config = site.settings.config.clone();
    let origin = site.start.origin();
    config.fetch.start_host = origin.host.to_string();
    config.fetch.credential_origins = with_https_twin(origin);
    config
}
