//! Runs the work of a command that requests single documents and not a site: with a live view, and until a signal stops it.

mod view;

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use crawler::{
    check::{CheckProgress, Network},
    client::{Downloaders, Shutdown, with_https_twin},
    clock::Clock,
    config::Config,
    parse::PageReader,
    politeness::{Politeness, SharedPoliteness},
    retry_after::RetryAfterFile,
    url_key::Origin,
};
use tokio::runtime::Handle;

use self::view::CheckView;
use super::runtime::{self, Threads};
use crawler::failure::Panicked;

use crate::{exit_code::ExitCode, failure, output::Output, supervisor::Supervisor};

/// Settings of the requests, and what they share with others.
pub(super) struct RequestContext {
    config: Config,
    clock: Arc<dyn Clock>,
    /// How long hosts asked to wait.
    retry_after: RetryAfterFile,
    /// The progress that the live view shows.
    progress: CheckProgress,
}

impl RequestContext {
    /// Requests by `config`; the folder `states` has how long hosts asked to wait.
    pub(super) fn new(
        config: Config,
        clock: Arc<dyn Clock>,
        states: &Path,
        progress: CheckProgress,
    ) -> Self {
        Self {
            config,
            clock,
            retry_after: RetryAfterFile::of_states(states),
            progress,
        }
    }
}

/// Does `work`, which blocks while it waits for answers. Gives its result, or the exit code for the signal that stopped it before
/// there was one.
///
/// # Errors
/// The program cannot start, the work panicked, or it failed.
pub(super) fn with_network<T: Send + 'static>(
    context: RequestContext,
    output: &Output,
    work: impl FnOnce(Network<'_>) -> failure::Result<T> + Send + 'static,
) -> failure::Result<Result<T, ExitCode>> {
    let RequestContext {
        config,
        clock,
        retry_after,
        progress,
    } = context;
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
            with_downloaders(downloaders, &config, &runtime, &shutdown, work)
        });
        let joined = supervisor.run(work, Some(&mut view)).await?;
        match (
            joined.map_err(Panicked::from_join)?,
            supervisor.stop().asked_by(),
        ) {
            (Err(_), Some(signal)) => Ok(Err(signal.into())),
            (result, _) => result.map(Ok),
        }
    })
}

/// Does `work` on this thread of a runtime, which may block; nobody watches it, and it does not stop early.
///
/// # Errors
/// See [`with_downloaders`].
#[cfg(feature = "page")]
pub(super) fn with_network_of_thread<T>(
    context: RequestContext,
    work: impl FnOnce(Network<'_>) -> failure::Result<T>,
) -> failure::Result<T> {
    let RequestContext {
        config,
        clock,
        retry_after,
        ..
    } = context;
    let politeness = Arc::new(Mutex::new(Politeness::new(&config.politeness)));
    let downloaders = Downloaders::new(clock, politeness, retry_after);
    let shutdown = Shutdown::default();
    with_downloaders(downloaders, &config, &Handle::current(), &shutdown, work)
}

/// Does `work`, which blocks while it waits for answers, without a live view. Gives its exit code, or that of the signal that stopped it.
///
/// # Errors
/// The program cannot start, or the work panicked.
pub(super) fn until_stopped(
    output: &Output,
    work: impl FnOnce(Shutdown) -> ExitCode + Send + 'static,
) -> failure::Result<ExitCode> {
    runtime::run(Threads::One, async {
        let mut supervisor = Supervisor::new(output)?;
        let shutdown = supervisor.stop().shutdown.clone();
        let work = tokio::task::spawn_blocking(move || work(shutdown));
        let joined = supervisor.run(work, None).await?;
        let code = joined.map_err(Panicked::from_join)?;
        Ok(match supervisor.stop().asked_by() {
            Some(signal) => signal.into(),
            None => code,
        })
    })
}

/// Does work that sends requests by `config`, and writes down what hosts asked to wait for. Blocks: for a thread that may.
///
/// # Errors
/// A setting of pages cannot be used, or the work fails.
fn with_downloaders<T>(
    mut downloaders: Downloaders<Origin>,
    config: &Config,
    runtime: &Handle,
    shutdown: &Shutdown,
    work: impl FnOnce(Network<'_>) -> failure::Result<T>,
) -> failure::Result<T> {
    let network = Network {
        connect: &mut |origin| downloaders.to(origin.clone(), || config_to(config, origin)),
        identity: config.identity.verbatim(),
        reader: Arc::new(PageReader::new(&config.parse)?),
        runtime: runtime.clone(),
        shutdown: shutdown.clone(),
    };
    let result = work(network);
    downloaders.write_waits(runtime);
    result
}

/// The settings of requests for a typed URL of `origin`, and for all URLs reached from it.
fn config_to(config: &Config, origin: &Origin) -> Config {
    let mut config = config.clone();
    config.fetch.start_host = origin.host.to_string();
    config.fetch.credential_origins = with_https_twin(origin.clone());
    config
}
