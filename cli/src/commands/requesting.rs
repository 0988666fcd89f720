//! Runs the work of a command that requests single documents and not a site: with a live view, and until a signal stops it.

mod view;

use std::sync::{Arc, Mutex};

use crawler::{
    check::{CheckProgress, Network},
    clock::Clock,
    config::Config,
    politeness::{Politeness, SharedPoliteness},
    retry_after::RetryAfterFile,
};
use tokio::runtime::Handle;

use self::view::CheckView;
use super::{
    downloaders::Downloaders,
    runtime::{self, Threads},
};
use crate::{
    exit_code::ExitCode,
    failure::{self},
    output::Output,
    panicked::Panicked,
    supervisor::Supervisor,
};

/// The means of the work.
pub(super) struct Means {
    /// The settings of requests.
    pub(super) config: Config,
    pub(super) clock: Arc<dyn Clock>,
    /// How long hosts asked to wait.
    pub(super) retry_after: RetryAfterFile,
    /// The progress that the live view shows.
    pub(super) progress: CheckProgress,
}

/// Does `work`, which blocks while it waits for answers. Gives its result, and the exit code for the signal that stopped it.
///
/// # Errors
/// The program cannot start, or the work panicked.
pub(super) fn with_network<T: Send + 'static>(
    means: Means,
    output: &Output,
    work: impl FnOnce(Network<'_>) -> failure::Result<T> + Send + 'static,
) -> failure::Result<(failure::Result<T>, Option<ExitCode>)> {
    let Means {
        config,
        clock,
        retry_after,
        progress,
    } = means;
    runtime::run(Threads::OfCores, async {
        let mut supervisor = Supervisor::new(output)?;
        let shutdown = supervisor.stop().shutdown.clone();
        let delay = config.politeness.delay;
        let politeness: SharedPoliteness =
            Arc::new(Mutex::new(Politeness::new(&config.politeness)));
        let mut view = CheckView::new(&progress, Arc::clone(&politeness), delay);
        let runtime = Handle::current();
        let work = tokio::task::spawn_blocking(move || {
            let downloaders = Downloaders::new(clock, politeness, retry_after);
            downloaders.work(&config, &runtime, &shutdown, work)
        });
        let joined = supervisor.run(work, Some(&mut view)).await?;
        let result = joined.map_err(Panicked::from_join)?;
        let stopped = supervisor.stop().asked_by().map(ExitCode::from);
        Ok((result, stopped))
    })
}
