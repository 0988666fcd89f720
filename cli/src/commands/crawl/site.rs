//! One site: crawled, published, others notified, and noted how it ended. Whoever calls it decides when, and shows the
//! progress; nothing here waits for a signal or prints a summary.

mod ended;
mod job;
mod places;

use std::sync::{Arc, Mutex};

use crawler::{
    clock::Clock,
    fetch::{BoxFuture, Fetch},
    politeness::{Politeness, SharedPoliteness},
    site_run::SessionOutcome,
    storage::SendFence,
    store::held_since,
    summary::Summary,
};
use tokio::time::Instant;

use self::job::CrawlJob;
pub(in crate::commands) use self::job::places_of;
pub(crate) use self::places::Places;
use super::{board::Watch, lists::Lists};
use crate::{
    commands::dependencies,
    exit_code::ExitCode,
    failure::{self, Cause, Failure},
    fault::Faults,
    output::Output,
    panicked::caught,
    settings::{Environment, SiteSettings},
    signal::Stop,
};

/// The parts that all sites of a program share. Clones share them.
#[derive(Clone)]
pub(crate) struct Crawler {
    /// Gets messages about what goes wrong.
    pub(crate) output: Output,
    /// The clocks of all hosts.
    pub(crate) politeness: SharedPoliteness,
    /// Clock of the computer.
    pub(crate) clock: Arc<dyn Clock>,
    /// Stops all runs.
    pub(crate) stop: Stop,
    /// For tests.
    pub(crate) faults: Faults,
    /// URL lists of the user.
    pub(crate) lists: Lists,
    /// The places that each site writes to.
    pub(crate) places: Places,
    /// Goes around the way to the network of each session.
    pub(crate) around_fetch: Option<AroundFetch>,
    /// Asked before object storage is changed, where several machines could send a set.
    pub(crate) send_fence: Option<Arc<dyn SendFence>>,
    /// Awaited when the crawl is over, before publishing begins.
    pub(crate) before_publish: Option<BeforePublish>,
}

/// Work before a set is published.
pub(crate) type BeforePublish = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Makes a way to the network of another one.
pub(crate) type AroundFetch = Arc<dyn Fn(Arc<dyn Fetch>) -> Arc<dyn Fetch> + Send + Sync>;

/// Result of the work on a site.
#[derive(Debug)]
pub(crate) struct SiteResult {
    /// Its summary.
    pub(crate) summary: Summary,
    /// The code that the parent would get if it were the only site.
    pub(crate) code: ExitCode,
    /// The error that ended the work, to be reported after its other messages.
    pub(crate) error: Option<Failure>,
}

impl SiteResult {
    /// The work never began, because a signal stopped the program before.
    pub(crate) fn not_begun(site: &SiteSettings, stop: &Stop) -> Self {
        let code = stop.asked_by().map_or(ExitCode::Interrupted, Into::into);
        Self::without_work(site, SessionOutcome::Interrupted, code)
    }

    /// The work ended by a bug outside of what is caught.
    pub(crate) fn panicked(site: &SiteSettings) -> Self {
        Self::without_work(site, SessionOutcome::Internal, ExitCode::Internal)
    }

    fn without_work(site: &SiteSettings, outcome: SessionOutcome, code: ExitCode) -> Self {
        let mut summary = summary_of(site);
        summary.outcome = outcome;
        Self {
            summary,
            code,
            error: None,
        }
    }
}

/// How the work on a site ended.
pub(in crate::commands) struct End {
    pub(in crate::commands) code: ExitCode,
    /// The error that ended it.
    message: Option<String>,
    pub(in crate::commands) error: Option<Failure>,
    /// Another session has the state, and will record its own end.
    is_beside: bool,
}

/// The summary of work on `site` that begins.
pub(in crate::commands) fn summary_of(site: &SiteSettings) -> Summary {
    let mut summary = Summary::new(site.start.as_str());
    summary.set_asked(&site.settings.config);
    summary.surroundings.state_options = site.settings.state_options();
    summary
}

impl Crawler {
    /// One whose sites share the clocks of `politeness`, until `stop`.
    pub(in crate::commands) fn new(
        output: &Output,
        politeness: Politeness,
        stop: Stop,
        environment: &Environment,
    ) -> Self {
        Self {
            output: output.clone(),
            politeness: Arc::new(Mutex::new(politeness)),
            clock: dependencies::clock(environment),
            stop,
            faults: Faults::new(environment),
            lists: Lists::default(),
            places: Places::default(),
            around_fetch: None,
            send_fence: None,
            before_publish: None,
        }
    }

    /// A copy for the session of one site: its messages have the site's name.
    pub(crate) fn for_site(&self, site: &SiteSettings) -> Self {
        Self {
            output: self.output.of_site(&site.name),
            ..self.clone()
        }
    }

    /// Crawls and publishes `site`; what it is doing goes to `watch`. What goes wrong is reported and noted, in the
    /// summary and in the file of its last run.
    pub(crate) async fn run(&self, site: &Arc<SiteSettings>, watch: Watch) -> SiteResult {
        let mut summary = summary_of(site);
        let (started, began) = (self.clock.now(), Instant::now());
        let mut job = CrawlJob {
            crawler: self,
            site,
            watch,
            summary: &mut summary,
        };
        let result = Box::pin(caught(job.crawl())).await;
        let result = result.map_err(Into::into).flatten();
        let mut end = self.ended(result, &mut summary, began);
        let run = SiteResult {
            summary,
            code: end.code,
            error: end.error.take(),
        };
        self.report_end(site, &run, started, end).await;
        run
    }

    /// The exit code for the end of the work on a site, which began at `began`.
    pub(in crate::commands) fn ended(
        &self,
        result: failure::Result<ExitCode>,
        summary: &mut Summary,
        began: Instant,
    ) -> End {
        // Another run has the state: that one notes how it ends. The output, which it has too, is asked for first.
        let is_beside = result.as_ref().is_err_and(|error| {
            let has_state = || summary.surroundings.state.as_deref().and_then(held_since);
            error.cause() == Cause::StateInUse
                || (error.outcome() == SessionOutcome::Busy && has_state().is_some())
        });
        let (code, message, error) = match result {
            Ok(code) => (code, None, None),
            Err(error) => self.failed(error, summary),
        };
        summary.set_duration(began.elapsed());
        End {
            code,
            message,
            error,
            is_beside,
        }
    }

    /// What an error that ended the work on a site means for the exit code, its message, and the error that is to be reported.
    fn failed(
        &self,
        error: Failure,
        summary: &mut Summary,
    ) -> (ExitCode, Option<String>, Option<Failure>) {
        let message = error.in_full();
        summary.set_failed(message.clone(), error.outcome());
        match (error.code(), self.stop.asked_by()) {
            // The library knows that it was stopped, but not by which signal.
            (ExitCode::Interrupted, Some(signal)) => (signal.into(), Some(message), None),
            // Most messages name the site or its start URL already.
            (code, _) if message.contains(&summary.site) => (code, Some(message), Some(error)),
            (code, _) => {
                let error = error.context(summary.site.clone());
                (code, Some(message), Some(error))
            }
        }
    }
}
