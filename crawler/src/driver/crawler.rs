//! One site: crawled, published, others notified, and noted how it ended. The caller decides when, and shows the
//! progress; nothing here waits for a signal or prints a summary.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use tokio::time::Instant;

use super::{
    faults::Faults, lists::UserLists, messages::Messenger, reserved::ReservedPlaces,
    settings::SiteSettings,
};
use crate::{
    client::Stop,
    clock::Clock,
    failure::{self, Cause, Failure},
    fetch::{BoxFuture, Fetch},
    outcome::{ExitCode, SessionOutcome},
    politeness::{Politeness, SharedPoliteness},
    render::OpenBrowser,
    storage::SendFence,
    store::held_since,
    summary::Summary,
};

/// The parts that all sites of a program share. Clones share them.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a worker makes one for each session"
)]
pub struct Crawler {
    /// Gets messages about what goes wrong.
    pub output: Messenger,
    /// The clocks of all hosts.
    pub politeness: SharedPoliteness,
    /// Clock of the computer.
    pub clock: Arc<dyn Clock>,
    /// Stops all runs.
    pub stop: Stop,
    /// For tests.
    pub faults: Faults,
    /// URL lists of the user.
    pub lists: UserLists,
    /// Opens a browser for sessions that render pages; `None`: this program has none.
    pub open_browser: Option<OpenBrowser>,
    /// The places that each site writes to.
    pub places: ReservedPlaces,
    /// Goes around the way to the network of each session.
    pub around_fetch: Option<AroundFetch>,
    /// Asked before object storage is changed, where several machines could send a set.
    pub send_fence: Option<Arc<dyn SendFence>>,
    /// Awaited when the crawl is over, before publishing begins.
    pub before_publish: Option<BeforePublish>,
}

impl fmt::Debug for Crawler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Crawler").field(&self.output).finish()
    }
}

/// Work before a set is published.
pub type BeforePublish = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Makes a way to the network of another one.
pub type AroundFetch = Arc<dyn Fn(Arc<dyn Fetch>) -> Arc<dyn Fetch> + Send + Sync>;

/// Result of the work on a site.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "tests of the daemon make it")]
pub struct SiteResult {
    /// The summary.
    pub summary: Summary,
    /// The code that the parent would get if it were the only site.
    pub code: ExitCode,
    /// The error that ended the work, to be reported after its other messages.
    pub error: Option<Failure>,
}

impl SiteResult {
    /// The work never began, because a signal stopped the program before.
    pub fn not_begun(site: &SiteSettings, stop: &Stop) -> Self {
        let code = stop.asked_by().map_or(ExitCode::Interrupted, Into::into);
        Self::without_work(site, SessionOutcome::Interrupted, code)
    }

    /// The work ended by a bug outside of what is caught.
    pub fn panicked(site: &SiteSettings) -> Self {
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
pub(crate) struct EndedWork {
    pub code: ExitCode,
    /// The error that ended it.
    pub(super) message: Option<String>,
    pub error: Option<Failure>,
    /// Another session has the state, and will record its own end.
    pub(super) is_beside: bool,
}

/// The summary of work on `site` that begins.
pub(super) fn summary_of(site: &SiteSettings) -> Summary {
    let mut summary = Summary::new(site.start.as_str());
    summary.set_asked(&site.settings.config);
    let options = &site.settings.options;
    summary.surroundings.options.clone_from(options);
    summary.surroundings.is_dry = site.settings.dry_run;
    summary
}

impl Crawler {
    /// One whose sites share the clocks of `politeness`, until `stop`.
    pub fn new(
        output: &Messenger,
        politeness: Politeness,
        stop: Stop,
        clock: Arc<dyn Clock>,
        environment: &BTreeMap<String, String>,
    ) -> Self {
        Self {
            output: output.clone(),
            politeness: Arc::new(Mutex::new(politeness)),
            clock,
            stop,
            faults: Faults::new(environment),
            lists: UserLists::default(),
            open_browser: None,
            places: ReservedPlaces::default(),
            around_fetch: None,
            send_fence: None,
            before_publish: None,
        }
    }

    /// A copy for the session of one site: its messages have the site's name.
    #[must_use]
    pub fn for_site(&self, site: &SiteSettings) -> Self {
        Self {
            output: self.output.of_site(&site.name),
            ..self.clone()
        }
    }

    /// The exit code for the end of the work on a site, which began at `began`.
    pub(crate) fn ended(
        &self,
        result: failure::Result<ExitCode>,
        summary: &mut Summary,
        began: Instant,
    ) -> EndedWork {
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
        EndedWork {
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
        match error.code() {
            // The library knows that it was stopped, but not by which signal, or by a pause.
            code @ ExitCode::Interrupted => {
                let code = self.stop.asked_by().map_or(code, Into::into);
                (code, Some(message), None)
            }
            // Most messages name the site or its start URL already.
            code if message.contains(&summary.site) => (code, Some(message), Some(error)),
            code => {
                let error = error.context(summary.site.clone());
                (code, Some(message), Some(error))
            }
        }
    }
}
