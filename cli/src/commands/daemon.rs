//! `arpent daemon`: crawls sites by their schedules until a signal comes. [`crawler::schedule`] decides which site starts
//! when; this module owns the rest: settings that may be read again, the file of the schedules, signals, and the service
//! manager.

mod dispatch;
pub(super) mod lock;
#[cfg(feature = "metrics")]
mod metrics;
pub(super) mod schedule_file;
mod service;
mod words;
#[cfg(feature = "catalogue")]
mod worker;

#[cfg(test)]
mod tests;

use std::{io::ErrorKind, net::SocketAddr, path::Path, sync::Arc};

use crawler::{clock::Clock, politeness::Politeness, store::StoreError};

#[cfg(feature = "metrics")]
use self::metrics::Metrics;
#[cfg(feature = "catalogue")]
pub(super) use self::worker::restore;
use self::{
    dispatch::{Dependencies, Dispatcher, Work},
    schedule_file::ScheduleRecord,
    service::ServiceManager,
};
use super::{
    crawl::{begin_log, foresee_log, load, site::Crawler},
    dependencies,
    publish::publish_site,
    runtime::{self, Threads},
};
use crate::{
    args::DaemonArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Misuse},
    output::Output,
    panicked::caught,
    settings::{CrawlSettings, Environment, Purpose},
    signal::{DaemonSignals, Stop},
};

/// Runs `arpent daemon`.
///
/// # Errors
/// The settings make no sense or schedule nothing, another daemon uses the state, or the program cannot start; what
/// fails on a site is only reported.
pub(super) fn run(
    args: &DaemonArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = args.settings.0.clone();
    foresee_log(&typed, environment, output);
    let load_for = {
        let environment = environment.clone();
        move |purpose| load(purpose, typed.clone(), &environment)
    };
    let of_worker = load_for(Purpose::Worker)?;
    if of_worker.shared.fleet.catalogue.is_some() {
        return run_worker(&of_worker, environment, output);
    }
    let load_again = move || load_for(Purpose::Daemon);
    let settings = load_again()?;
    let address = settings.shared.metrics;
    check_metrics(address)?;
    begin_log(&settings.shared, output);
    let clock = dependencies::clock(environment);
    let state = settings.shared.state.clone();
    let lock = lock::acquire(&state)?;
    let record = read_record(&state, &*clock, output)?;
    output.begin_log(true);
    // Crawls under way were left unfinished: as after a crash, the next start continues them.
    let ended = runtime::run(Threads::OfCores, async {
        let mut signals = DaemonSignals::listen().context("failed to listen to signals")?;
        let stop = Stop::default();
        let politeness = Politeness::new(&settings.shared.config.politeness);
        let crawler = Crawler::new(output, politeness, stop.clone(), environment);
        let service = ServiceManager::new();
        #[cfg(feature = "metrics")]
        let (crawler, metrics, _responder) =
            Metrics::begin_for(&settings, crawler, &service, output).await?;
        #[cfg(feature = "metrics")]
        let shown = metrics.clone();
        let load = move || {
            let mut settings = load_again()?;
            if settings.shared.metrics != address {
                let warning =
                    "the address of the metrics stays as it is until the daemon is restarted";
                settings.shared.warnings.push(warning.to_owned());
            }
            #[cfg(feature = "metrics")]
            if let Some(metrics) = &shown {
                metrics.take(&settings);
            }
            Ok(settings)
        };
        let dependencies = Dependencies {
            output: output.clone(),
            clock,
            stop,
            politeness: Arc::clone(&crawler.politeness),
            service,
            load: Arc::new(load),
        };
        let dispatcher = Dispatcher::new(dependencies, &settings, record, |work, site, watch| {
            let crawler = crawler.for_site(&site);
            #[cfg(feature = "metrics")]
            let counted = metrics
                .as_ref()
                .filter(|_| work == Work::Crawl)
                .map(|metrics| metrics.begin(&site.name, watch.progress.subscribe()));
            async move {
                let run = match work {
                    Work::Crawl => crawler.run(&site, watch).await,
                    Work::Publish => publish_site(&crawler, &site, None).await,
                };
                #[cfg(feature = "metrics")]
                if let Some(counted) = counted {
                    counted.end(run.summary.outcome);
                }
                run
            }
        });
        // Sites that are gone from the settings, or changed there, are nobody's from now on.
        drop(settings);
        let work = dispatcher.run(async || signals.next().await);
        Ok(caught(Box::pin(work)).await?)
    });
    drop(lock);
    ended
}

/// Checks that this program can answer requests for metrics, if the settings ask for it.
fn check_metrics(address: Option<SocketAddr>) -> Result<(), Misuse> {
    if address.is_some() && cfg!(not(feature = "metrics")) {
        let message = "metrics: this program was built without metrics; remove the setting, or build arpent with \
                       --features metrics";
        return Err(Misuse(message.to_owned()));
    }
    Ok(())
}

/// Runs a daemon whose sites are those of a catalogue.
#[cfg(not(feature = "catalogue"))]
fn run_worker(_: &CrawlSettings, _: &Environment, _: &Output) -> failure::Result<ExitCode> {
    let message = "catalogue: this program was built without the catalogue; remove the setting, or build arpent with \
                   --features catalogue";
    Err(Misuse(message.to_owned()).into())
}

/// Runs a daemon whose sites are those of a catalogue.
///
/// # Errors
/// See [`worker::run`]; another daemon uses the folder of the states.
#[cfg(feature = "catalogue")]
fn run_worker(
    settings: &CrawlSettings,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let address = settings.shared.metrics;
    check_metrics(address)?;
    begin_log(&settings.shared, output);
    let lock = lock::acquire(&settings.shared.state)?;
    output.begin_log(true);
    let ended = runtime::run(Threads::OfCores, async {
        let mut signals = DaemonSignals::listen().context("failed to listen to signals")?;
        let politeness = Politeness::new(&settings.shared.config.politeness);
        let crawler = Crawler::new(output, politeness, Stop::default(), environment);
        let service = ServiceManager::new();
        #[cfg(feature = "metrics")]
        let (crawler, metrics, _responder) =
            Metrics::begin_for(settings, crawler, &service, output).await?;
        let work = worker::run(
            settings,
            crawler,
            environment,
            #[cfg(feature = "metrics")]
            metrics,
            service,
            async || signals.next().await,
        );
        caught(Box::pin(work)).await?
    });
    drop(lock);
    ended
}

/// The record of earlier daemons. A damaged file is renamed, and the schedules start again.
fn read_record(
    state: &Path,
    clock: &dyn Clock,
    output: &Output,
) -> failure::Result<ScheduleRecord> {
    let path = schedule_file::file_in(state);
    let error = match schedule_file::read(state) {
        Ok(record) => return Ok(record),
        Err(error) => error,
    };
    let path_text = path.display();
    match error.kind() {
        ErrorKind::InvalidData => {
            let aside = schedule_file::set_aside(&path, clock.now()).map_err(|source| {
                let message = format!("{path_text} is damaged ({error}), and cannot be renamed");
                StoreError::of_io(message, source)
            })?;
            output.warn(&format!(
                "{path_text} is damaged ({error}); arpent renamed it to {}, and does not start missed crawls",
                aside.display()
            ));
            Ok(ScheduleRecord::default())
        }
        ErrorKind::Unsupported => Err(Misuse(format!("{path_text}: {error}")).into()),
        _ => Err(StoreError::of_io(format!("failed to read {path_text}"), error).into()),
    }
}
