//! `arpent publish`: a set is made of what the state of a site knows, or an earlier one is restored, and others are
//! notified of it as after a crawl. Nothing is asked of the site but what that needs.

use crawler::{
    driver::{Crawler, SiteResult, publish_site},
    politeness::Politeness,
};
use tracing::Instrument as _;

use super::{
    SummaryForm,
    crawl::{begin_log, load},
    dependencies,
    runtime::{self, Threads},
};
use crate::{
    args::PublishArgs,
    exit_code::ExitCode,
    failure,
    output::Output,
    settings::{CrawlSettings, Environment, Purpose},
    supervisor::Supervisor,
};

/// Runs `arpent publish`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is reported and only changes the exit
/// code.
pub(super) fn run(
    args: &PublishArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let CrawlSettings { sites, shared, .. } = load(Purpose::Crawl, args.typed(), environment)?;
    begin_log(&shared, output);
    output.begin_log(sites.len() > 1);
    let form = SummaryForm::of(&shared, output);
    runtime::run(Threads::One, async {
        let supervisor = Supervisor::new(output)?;
        let mut supervisor = supervisor.of_work_without_requests();
        let politeness = Politeness::new(&shared.session.config.politeness);
        let stop = supervisor.stop().clone();
        let clock = dependencies::clock(environment);
        let crawler = Crawler::new(&output.messenger(), politeness, stop, clock, environment);
        let work = async {
            let mut worst = ExitCode::Success;
            for site in &sites {
                let run = if crawler.stop.asked_by().is_some() {
                    SiteResult::not_begun(site, &crawler.stop)
                } else {
                    publish_site(&crawler.for_site(site), site, args.rollback)
                        .instrument(output.span_of_site(&site.name))
                        .await
                };
                form.print(&run.summary, output);
                worst = worst.worse(run.code);
            }
            worst
        };
        Ok(supervisor.run(work, None).await?)
    })
}
