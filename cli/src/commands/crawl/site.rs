//! One site: crawled, published, told, and noted how it ended. Whoever calls it decides when, and shows the
//! progress; nothing here waits for a signal or prints a summary.

mod job;
mod places;
mod telling;

use std::sync::{Arc, Mutex};

use crawler::{
    clock::Clock,
    politeness::{Politeness, SharedPoliteness},
    store::StoreErrorKind,
};
use tokio::time::Instant;

pub(in crate::commands) use self::job::places_of;
use self::job::{Job, of_state};
pub(crate) use self::places::Places;
use super::{board::Watch, lists::Lists};
use crate::{
    advice::in_full,
    commands::{seams, tell},
    exit_code::ExitCode,
    fault::Faults,
    output::Output,
    panicked::caught,
    settings::{Environment, SiteSettings},
    signal::Stop,
    summary::{Summary, of_failure},
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
        summary.outcome = of_failure(code);
        Self { summary, code }
    }

    /// The work ended by a bug outside of what is caught.
    pub(crate) fn panicked(site: &SiteSettings) -> Self {
        let code = ExitCode::Internal;
        let mut summary = summary_of(site);
        summary.outcome = of_failure(code);
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
            clock: seams::clock(environment),
            stop,
            faults: Faults::new(environment),
            lists: Lists::default(),
            places: Places::default(),
        }
    }

    /// For the run of one site: what it says is said with the site's name.
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
        let result = Box::pin(caught(job.crawl())).await;
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

    /// Tells what ended the work on a site, and what that means for the exit code.
    fn failed(&self, error: anyhow::Error, summary: &mut Summary) -> (ExitCode, Option<String>) {
        let message = in_full(&error);
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
        summary.outcome = of_failure(code);
        (code, Some(message))
    }
}

/// Whether an error says that another run has the state.
fn is_held(error: &anyhow::Error) -> bool {
    of_state(error).is_some_and(|error| error.kind() == StoreErrorKind::Busy)
}
