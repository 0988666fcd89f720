//! `arpent publish`: a set is made of what the state of a site knows, or an earlier one is restored, and others are
//! told of it as after a crawl. Nothing is asked of the site but what telling needs.

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use crawler::{
    config::PublishConfig,
    engine::{JudgedAgain, judge_again},
    notify::adopt,
    politeness::Politeness,
    publish::{OutputHold, PublishRequest, has_records, is_published, publish, roll_back},
    report::Report,
    robots::Rules,
    runs,
    site::Site,
    store::Store,
};
use tokio::{task::spawn_blocking, time::Instant};
use tracing::Instrument as _;

use super::{
    crawl::{
        begin_telling, check_site, read_settings_file,
        site::{Crawler, SiteRun, summary_of},
    },
    names::find_state,
    print,
    published::Ended,
    runtime::{self, Threads},
    seams,
};
use crate::{
    args::PublishArgs,
    attend::Attendant,
    exit_code::{ExitCode, Misuse},
    human,
    output::Output,
    panicked::Panicked,
    settings::{CrawlSettings, Environment, Purpose, SiteSettings, typed},
    summary::{RobotsFile, Summary},
};

/// Runs `arpent publish`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is told and only changes the exit
/// code.
pub(super) fn run(
    args: &PublishArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let CrawlSettings { sites, shared, .. } = CrawlSettings::load(
        Purpose::Crawl,
        (args.config.as_deref(), typed(args)),
        environment,
        read_settings_file,
    )?;
    begin_telling(&shared, output);
    output.begin_log(sites.len() > 1);
    runtime::run(Threads::One, async {
        let attendant = Attendant::new(output).context("failed to listen to signals")?;
        let mut attendant = attendant.of_work_without_requests();
        let politeness = Politeness::new(&shared.config.politeness);
        let stop = attendant.stop().clone();
        let crawler = Crawler::new(output, politeness, stop, environment);
        let work = async {
            let mut worst = ExitCode::Success;
            for site in &sites {
                let run = if crawler.stop.asked_by().is_some() {
                    SiteRun::not_begun(site, &crawler.stop)
                } else {
                    publish_site(&crawler.for_site(site), site, args.rollback)
                        .instrument(output.span_of_site(&site.name))
                        .await
                };
                print(&run.summary, shared.summary, output);
                worst = worst.worse(run.code);
            }
            worst
        };
        Ok(attendant.during(work, None).await?)
    })
}

/// Publishes one site, or restores the set of `back` publishes ago, and tells others of it. A dry run tells nobody.
async fn publish_site(crawler: &Crawler, site: &Arc<SiteSettings>, back: Option<u32>) -> SiteRun {
    let mut summary = summary_of(site);
    let (started, began) = (crawler.clock.now(), Instant::now());
    let job = Job {
        crawler: crawler.clone(),
        site: Arc::clone(site),
        back,
    };
    let (given, span) = (summary.clone(), tracing::Span::current());
    let work = spawn_blocking(move || {
        let _entered = span.entered();
        let mut summary = given;
        let published = job.publish(&mut summary);
        (published, summary)
    });
    let is_dry = site.settings.dry_run;
    let result = match work.await {
        Ok((published, known)) => {
            summary = known;
            published
        }
        Err(error) => Err(Panicked::from_join(error).into()),
    };
    let result = match result {
        Ok(Done { code, held }) => {
            // The output is held until others are told.
            let Held { store, hold: _hold } = held;
            if !is_dry {
                crawler.tell_of(site, store, &mut summary).await;
            }
            Ok(code)
        }
        Err(error) => Err(error),
    };
    let end = crawler.ended(result, &mut summary, began);
    let code = end.code;
    let run = SiteRun { summary, code };
    // Of a site that was never crawled there is nothing to note beside.
    if !is_dry && run.summary.state.is_some() {
        crawler.tell_of_end(site, &run, started, end).await;
    }
    run
}

/// The command, for one site.
struct Job {
    crawler: Crawler,
    site: Arc<SiteSettings>,
    /// Which set is restored; `None`: a new one is made.
    back: Option<u32>,
}

/// A set stands.
struct Done {
    code: ExitCode,
    held: Held,
}

/// What nobody else may work with meanwhile.
struct Held {
    store: Box<dyn Store>,
    hold: Option<OutputHold>,
}

impl Job {
    fn publish(&self, summary: &mut Summary) -> anyhow::Result<Done> {
        let settings = &self.site.settings;
        let (mut site, path) = find_state(settings, &self.site.start)?;
        summary.state = Some(path.clone());
        if let Some(original) = &settings.config.written_as {
            let written = site.standing_for(original);
            site = written.map_err(|error| Misuse(format!("as: {error}")))?;
        }
        summary.set_site(&site);
        check_site(settings, &site)?;
        let mut store = self.open(&path)?;
        let mut config = settings.config.publish.clone();
        config.output = settings.output_of(&site.written().name());
        config.public_url = settings.public_url_of(&site)?;
        config.generations = Some(settings.generations_of(&site));
        summary.has_old_set = is_published(&config.output);
        summary.output = Some(config.output.clone());
        self.crawler
            .places
            .take(&self.site, &site, [&path, &config.output])?;
        let state = Some(settings.state.as_path());
        let hold = (!settings.dry_run).then(|| OutputHold::take(&config.output, state, &config));
        let hold = hold.transpose()?;
        if settings.config.notify.indexnow {
            adopt(&mut *store)?;
        }
        let ended = match self.back {
            Some(back) => self.roll_back(&mut *store, &site, &config, back, summary)?,
            None => self.publish_again(&mut *store, &site, &config, summary)?,
        };
        let code = ended.tell(summary, &self.crawler.output)?;
        Ok(Done {
            code,
            held: Held { store, hold },
        })
    }

    /// The state; for a dry run one that forgets what is written to it.
    fn open(&self, path: &Path) -> anyhow::Result<Box<dyn Store>> {
        Ok(if self.site.settings.dry_run {
            seams::rehearsed_state(path)?
        } else {
            seams::state(path)?
        })
    }

    fn roll_back(
        &self,
        store: &mut dyn Store,
        site: &Site,
        config: &PublishConfig,
        back: u32,
        summary: &Summary,
    ) -> anyhow::Result<Ended> {
        let run = runs::newest(store)?.unwrap_or_default();
        let published = {
            let is_stopped = || self.crawler.stop.shutdown.is_stopping();
            let request = self.request((site, config, run), None, false, &is_stopped);
            roll_back(store, &request, usize::try_from(back).unwrap_or(usize::MAX))
        };
        Ok(Ended {
            // The records are those of a later crawl.
            report: Ok(Report {
                listed: published.as_ref().map_or(0, |published| published.listed),
                ..Report::default()
            }),
            published,
            robots: RobotsFile::unread(site),
            dry_run: self.site.settings.dry_run,
            is_partial: summary.is_partial(),
        })
    }

    fn publish_again(
        &self,
        store: &mut dyn Store,
        site: &Site,
        config: &PublishConfig,
        summary: &mut Summary,
    ) -> anyhow::Result<Ended> {
        let run = runs::newest(store)?.ok_or_else(|| {
            Misuse("its state knows of no crawl; arpent crawl begins one".to_owned())
        })?;
        let (settings, output) = (&self.site.settings, &self.crawler.output);
        let judged = judge_again(&settings.config, site, store, run, &self.crawler.clock)?;
        let JudgedAgain {
            unfetched,
            robots,
            doubted,
        } = judged;
        if unfetched > 0 {
            output.warn(&format!(
                "{} would have to be fetched under these settings, and stay as they are; arpent crawl does so",
                human::count(unfetched, "URL")
            ));
        }
        let obeys_robots = !settings.config.ignore.robots;
        if obeys_robots && robots.is_none() {
            output.warn(
                "the state does not know what robots.txt said, so what it disallows now may be listed; arpent crawl asks it",
            );
        }
        summary.set_doubted(doubted.as_ref());
        summary.set_report(Report::read(store, run)?);
        let is_partial = summary.is_partial() || summary.is_unfinished();
        let lacks_pages = is_partial && !has_records(store)?;
        let published = {
            let is_stopped = || self.crawler.stop.shutdown.is_stopping();
            let robots = robots.as_ref().filter(|_| obeys_robots);
            let request = self.request((site, config, run), robots, lacks_pages, &is_stopped);
            let request = PublishRequest {
                doubted: doubted.as_ref(),
                ..request
            };
            publish(store, &request)
        };
        Ok(Ended {
            published,
            report: Report::read(store, run),
            robots: RobotsFile::unread(site),
            dry_run: settings.dry_run,
            is_partial,
        })
    }

    fn request<'r>(
        &self,
        (site, config, run): (&'r Site, &'r PublishConfig, u64),
        robots: Option<&'r Rules>,
        partial: bool,
        is_stopped: &'r dyn Fn() -> bool,
    ) -> PublishRequest<'r> {
        PublishRequest {
            site,
            run,
            config,
            robots,
            partial,
            doubted: None,
            dry_run: self.site.settings.dry_run,
            now: self.crawler.clock.now(),
            is_stopped,
        }
    }
}
