//! `arpent publish`: a set is made of what the state of a site knows, or an earlier one is restored, and others are
//! told of it as after a crawl. Nothing is asked of the site but what telling needs.

use std::sync::Arc;

use anyhow::Context as _;
use crawler::{
    politeness::Politeness,
    publish::{OutputHold, is_published},
    runs,
    site_run::{Held, OpenRequest, StoredRequest, open_state, publish_stored, restore},
};
use tokio::{task::spawn_blocking, time::Instant};
use tracing::Instrument as _;

use super::{
    crawl::{
        begin_telling, check_site, read_settings_file,
        site::{Crawler, SiteRun, places_of, summary_of},
    },
    names::find_state,
    print,
    published::print_published,
    runtime::{self, Threads},
    seams,
};
use crate::{
    args::PublishArgs,
    attend::Attendant,
    exit_code::{ExitCode, Misuse, error_of},
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
            let Held {
                store,
                output: _output,
            } = held;
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

/// A set is published.
struct Done {
    code: ExitCode,
    held: Held,
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
        let places = places_of(settings, &site)?;
        let mut config = settings.config.clone();
        config.publish.output.clone_from(&places.output);
        config.publish.public_url.clone_from(&places.public_url);
        config.publish.generations = Some(places.generations.clone());
        summary.has_old_set = is_published(&places.output);
        summary.output = Some(places.output.clone());
        self.crawler
            .places
            .take(&self.site, &site, [&path, &places.output])?;
        let state = Some(settings.state.as_path());
        let hold = (!settings.dry_run)
            .then(|| OutputHold::take(&places.output, state, &config.publish))
            .transpose()?;
        let opened = open_state(
            &OpenRequest {
                site: &site,
                places: &places,
                config: &config,
                clock: &self.crawler.clock,
                dry_run: settings.dry_run,
            },
            None,
        );
        let (store, opened) = opened.map_err(error_of)?;
        seams::report_opened(&opened, &site.url(), &self.crawler.output);
        let is_stopped = || self.crawler.stop.shutdown.is_stopping();
        let request = StoredRequest {
            site: &site,
            config: &config,
            places: &places,
            dry_run: settings.dry_run,
            clock: &self.crawler.clock,
            is_stopped: &is_stopped,
        };
        let ended = if let Some(back) = self.back {
            restore(store, &request, usize::try_from(back).unwrap_or(usize::MAX))
        } else {
            if runs::number(&store)? == 0 && opened.imported.is_none() {
                let message = "its state knows of no crawl; arpent crawl begins one";
                return Err(Misuse(message.to_owned()).into());
            }
            let (ended, robots) = publish_stored(store, &request);
            if robots.is_none() && !config.ignore.robots {
                self.crawler.output.warn(
                    "the state does not know what robots.txt said, so what it disallows now may be listed; arpent crawl asks it",
                );
            }
            ended
        };
        let code = print_published(
            summary,
            ended.report,
            ended.published,
            ended.outcome,
            &RobotsFile::unread(&site),
            &self.crawler.output,
        )?;
        let lasting = ended.held.context("a session without a state")?;
        Ok(Done {
            code,
            held: Held {
                output: hold,
                ..lasting
            },
        })
    }
}
