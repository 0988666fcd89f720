//! `arpent publish`: a set is made of what the state of a site knows, or an earlier one is restored. Nothing is asked
//! of the network.

use std::sync::Arc;

use crawler::{
    clock::Clock,
    config::PublishConfig,
    engine::judge_again,
    publish::{OutputHold, PublishRequest, has_records, is_published, publish, roll_back},
    report::Report,
    runs,
    site::Site,
    store::Store,
};
use tokio::time::Instant;

use super::{
    crawl::{check_site, log_level, read_settings_file},
    notify::find_state,
    print,
    published::Ended,
    seams, tell,
};
use crate::{
    args::PublishArgs,
    exit_code::{ExitCode, Misuse},
    human,
    output::Output,
    settings::{CrawlSettings, Environment, SiteSettings},
    summary::{Outcome, RobotsFile, Summary},
};

/// Runs `arpent publish`.
///
/// # Errors
/// The settings make no sense; what fails for a site is told and only changes the exit code.
pub(super) fn run(
    args: &PublishArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let CrawlSettings { sites, shared, .. } =
        CrawlSettings::load_publish(args, environment, read_settings_file)?;
    if shared.quiet {
        output.be_quiet();
    }
    output.take_log(log_level(&shared));
    for warning in &shared.warnings {
        output.warn(warning);
    }
    let clock = seams::clock(environment);
    let mut worst = ExitCode::Success;
    for site in &sites {
        let mut summary = Summary::new(site.start.as_str());
        summary.set_asked(&site.settings.config);
        let began = Instant::now();
        let job = Job {
            site,
            clock: &clock,
            output,
            back: args.rollback,
        };
        let code = job.publish(&mut summary).unwrap_or_else(|error| {
            let code = ExitCode::of_error(&error);
            summary.outcome = Outcome::of_failure(code);
            summary.set_failed(&error);
            tell(&error.context(summary.site.clone()), output);
            code
        });
        summary.set_duration(began.elapsed());
        print(&summary, shared.summary, output);
        worst = worst.worse(code);
    }
    Ok(worst)
}

/// The command, for one site.
struct Job<'j> {
    site: &'j Arc<SiteSettings>,
    clock: &'j Arc<dyn Clock>,
    output: &'j Output,
    /// Which set is restored; `None`: a new one is made.
    back: Option<u32>,
}

impl Job<'_> {
    fn publish(&self, summary: &mut Summary) -> anyhow::Result<ExitCode> {
        let settings = &self.site.settings;
        let (mut site, path) = find_state(settings, &self.site.start)?;
        if let Some(original) = &settings.config.written_as {
            let written = site.standing_for(original);
            site = written.map_err(|error| Misuse(format!("as: {error}")))?;
        }
        summary.set_site(&site);
        check_site(settings, &site)?;
        let mut store = seams::state(&path)?;
        let mut config = settings.config.publish.clone();
        config.output = settings.output_of(&site.written().name());
        config.public_url = settings.public_url_of(&site)?;
        config.generations = Some(settings.generations_of(&site));
        summary.has_old_set = is_published(&config.output);
        summary.output = Some(config.output.clone());
        summary.state = Some(path);
        let hold = (!settings.dry_run).then(|| OutputHold::take(&config.output, &config));
        // Held until the set stands.
        let _hold = hold.transpose()?;
        let ended = match self.back {
            Some(back) => self.roll_back(&mut *store, &site, &config, back, summary)?,
            None => self.publish_again(&mut *store, &site, &config, summary)?,
        };
        ended.tell(summary, self.output)
    }

    fn roll_back(
        &self,
        store: &mut dyn Store,
        site: &Site,
        config: &PublishConfig,
        back: u32,
        summary: &Summary,
    ) -> anyhow::Result<Ended> {
        let dry_run = self.site.settings.dry_run;
        let request = self.request(
            site,
            config,
            runs::newest(store)?.unwrap_or_default(),
            false,
        );
        let published = roll_back(store, &request, usize::try_from(back).unwrap_or(usize::MAX));
        Ok(Ended {
            // The records are those of a later crawl.
            report: Ok(Report {
                listed: published.as_ref().map_or(0, |published| published.listed),
                ..Report::default()
            }),
            published,
            robots: RobotsFile::unread(site),
            dry_run,
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
        let settings = &self.site.settings;
        let unfetched = judge_again(&settings.config, site, store, run, self.clock)?;
        if unfetched > 0 {
            self.output.warn(&format!(
                "{} would have to be fetched under these settings, and stay as they are; arpent crawl does so",
                human::count(unfetched, "URL")
            ));
        }
        summary.set_report(Report::read(store, run)?);
        let is_partial = summary.is_partial() || summary.is_unfinished();
        let lacks_pages = is_partial && !has_records(store)?;
        let request = self.request(site, config, run, lacks_pages);
        let published = publish(store, &request);
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
        site: &'r Site,
        config: &'r PublishConfig,
        run: u64,
        partial: bool,
    ) -> PublishRequest<'r> {
        PublishRequest {
            site,
            run,
            config,
            robots: None,
            partial,
            dry_run: self.site.settings.dry_run,
            now: self.clock.now(),
            is_stopped: &|| false,
        }
    }
}
