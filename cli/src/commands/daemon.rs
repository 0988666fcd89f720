//! `arpent daemon`: crawls sites by their schedules until a signal comes. [`crawler::schedule`] decides which site starts
//! when; this module owns the rest: settings that may be read again, the file of the schedules, signals, and the service
//! manager.

#[cfg(feature = "metrics")]
mod metrics;

#[cfg(test)]
mod tests;

use std::{io::ErrorKind, net::SocketAddr, path::Path, sync::Arc};

use crawler::{
    clock::Clock,
    driver::{
        Crawler, DaemonParts, DaemonSettings, DaemonWork, Dispatcher, Observer, ScheduleRecord,
        ServiceManager, lock_daemon, look_at_site, publish_site, read_schedules, schedule_file_in,
        session_site, set_schedules_aside,
    },
    failure::caught,
    politeness::Politeness,
    store::StoreError,
};
#[cfg(feature = "catalogue")]
use {
    arpent_fleet::{WorkerParts, WorkerSettings, run_worker as work_in_fleet},
    crawler::failure::Failure,
};

#[cfg(feature = "metrics")]
use self::metrics::{Metrics, Responder};
#[cfg(feature = "page")]
use super::page;
use super::{
    crawl::{begin_log, board::Board, foresee_log, load},
    dependencies,
    runtime::{self, Threads},
};
#[cfg(feature = "catalogue")]
use crate::settings::site_of_text;
use crate::{
    args::DaemonArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Misuse},
    output::Output,
    settings::{CrawlSettings, Environment, Purpose},
    signal::{DaemonSignals, Stop},
};

/// The settings of the loop of a daemon.
fn settings_of(settings: &CrawlSettings) -> DaemonSettings {
    let shared = &settings.shared;
    DaemonSettings {
        sites: settings.sites.clone(),
        max_sites: settings.max_sites,
        state: shared.session.state.clone(),
        stop_timeout: shared.stop_timeout.0,
        politeness: shared.session.config.politeness.clone(),
        warnings: shared.warnings.clone(),
    }
}

/// What the loop of a daemon has, whether the sites come from a timetable or from a catalogue.
struct LoopParts {
    crawler: Crawler,
    service: ServiceManager,
    /// The lines of sessions on a terminal. Each line names its site, because others may start.
    board: Arc<Board>,
    observer: Option<Arc<dyn Observer>>,
    #[cfg(feature = "metrics")]
    metrics: Option<Metrics>,
    #[cfg(feature = "metrics")]
    _responder: Option<Responder>,
}

impl LoopParts {
    /// Begins to answer requests for metrics, if the settings ask for it.
    ///
    /// # Errors
    /// See `Metrics::serve`.
    #[cfg_attr(
        not(feature = "metrics"),
        expect(clippy::unused_async, reason = "only the metrics open a socket")
    )]
    async fn begin(
        settings: &CrawlSettings,
        clock: &Arc<dyn Clock>,
        environment: &Environment,
        output: &Output,
    ) -> failure::Result<Self> {
        let politeness = Politeness::new(&settings.shared.session.config.politeness);
        let messages = output.messenger();
        let clock = Arc::clone(clock);
        let mut crawler = Crawler::new(&messages, politeness, Stop::default(), clock, environment);
        crawler.open_browser = dependencies::open_browser();
        let service = ServiceManager::new();
        #[cfg(feature = "metrics")]
        let (crawler, metrics, responder) =
            Metrics::begin_for(settings, crawler, &service, output).await?;
        let observer: Option<Arc<dyn Observer>> = None;
        #[cfg(feature = "metrics")]
        let observer = observer.or_else(|| {
            metrics
                .clone()
                .map(|metrics| Arc::new(metrics) as Arc<dyn Observer>)
        });
        Ok(Self {
            crawler,
            service,
            board: Arc::new(Board::new(usize::MAX, output)),
            observer,
            #[cfg(feature = "metrics")]
            metrics,
            #[cfg(feature = "metrics")]
            _responder: responder,
        })
    }
}

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
    #[cfg(feature = "page")]
    let typed_for_page = typed.clone();
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
    check_page(settings.shared.page.address)?;
    begin_log(&settings.shared, output);
    let clock = dependencies::clock(environment);
    let state = settings.shared.session.state.clone();
    let lock = lock_daemon(&state)?;
    let record = read_record(&state, &*clock, output)?;
    output.begin_log(true);
    // Crawls under way were left unfinished: as after a crash, the next start continues them.
    let ended = runtime::run(Threads::OfCores, async {
        let mut signals = DaemonSignals::listen().context("failed to listen to signals")?;
        let parts = LoopParts::begin(&settings, &clock, environment, output).await?;
        #[cfg(feature = "page")]
        let _page = match settings.shared.page.address {
            Some(address) => {
                Some(page::begin(&settings, address, &typed_for_page, environment, output).await?)
            }
            None => None,
        };
        #[cfg(feature = "metrics")]
        let metrics = parts.metrics.clone();
        let crawler = &parts.crawler;
        let load = move || {
            let mut settings = load_again()?;
            if settings.shared.metrics != address {
                let warning =
                    "the address of the metrics stays as it is until the daemon is restarted";
                settings.shared.warnings.push(warning.to_owned());
            }
            #[cfg(feature = "metrics")]
            if let Some(metrics) = &metrics {
                metrics.take_settings(&settings);
            }
            Ok(settings_of(&settings))
        };
        let dependencies = DaemonParts {
            output: crawler.output.clone(),
            board: parts.board,
            clock: Arc::clone(&clock),
            stop: crawler.stop.clone(),
            politeness: Arc::clone(&crawler.politeness),
            service: parts.service,
            load: Arc::new(load),
        };
        let shared = settings_of(&settings);
        let dispatcher =
            Dispatcher::new(dependencies, &shared, record, |work, site, watch, stop| {
                let crawler = Crawler {
                    stop,
                    ..crawler.for_site(&site)
                };
                let observer = parts.observer.clone();
                let counting = observer.as_ref().filter(|_| work == DaemonWork::Crawl);
                let counted =
                    counting.map(|observer| observer.begin(&site.name, watch.progress.subscribe()));
                async move {
                    let run = match work {
                        DaemonWork::Crawl => session_site(&crawler, &site, watch).await,
                        DaemonWork::Publish => publish_site(&crawler, &site, None).await,
                        DaemonWork::Look => look_at_site(&crawler, &site).await,
                    };
                    if let Some(counted) = counted {
                        counted.end(run.summary.outcome);
                    }
                    if let Some(observer) = observer {
                        observer.take_summary(&site.name, &run.summary);
                    }
                    run
                }
            });
        // Sites that are gone from the settings, or changed there, are nobody's from now on.
        drop((settings, shared));
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
/// The settings make no sense for a worker, or the catalogue cannot be reached or has other tables; another daemon uses the folder of the states.
#[cfg(feature = "catalogue")]
fn run_worker(
    settings: &CrawlSettings,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let address = settings.shared.metrics;
    check_metrics(address)?;
    if settings.shared.page.address.is_some() {
        let message = "page: a worker of a catalogue has no page; expected no page in its settings";
        return Err(Misuse(message.to_owned()).into());
    }
    begin_log(&settings.shared, output);
    let lock = lock_daemon(&settings.shared.session.state)?;
    output.begin_log(true);
    let ended = runtime::run(Threads::OfCores, async {
        let mut signals = DaemonSignals::listen().context("failed to listen to signals")?;
        let clock = dependencies::clock(environment);
        let parts = LoopParts::begin(settings, &clock, environment, output).await?;
        let fleet = &settings.shared.fleet;
        let worker = WorkerSettings {
            catalogue: fleet.catalogue.clone().unwrap_or_default(),
            storage: fleet.storage.clone(),
            lease_time: fleet.lease_time,
            checkpoint_interval: fleet.checkpoint_interval,
            state: settings.shared.session.state.clone(),
            max_sites: settings.max_sites,
            stop_timeout: settings.shared.stop_timeout.0,
        };
        let environment = environment.clone();
        let parts = WorkerParts {
            crawler: parts.crawler,
            board: parts.board,
            observer: parts.observer,
            read_site: Arc::new(move |name, text, folder| {
                site_of_text(name, text, folder, &environment).map_err(Failure::from)
            }),
            service: parts.service,
        };
        let work = work_in_fleet(worker, parts, async || signals.next().await);
        caught(Box::pin(work)).await?
    });
    drop(lock);
    ended
}

/// The page needs its feature.
fn check_page(address: Option<SocketAddr>) -> Result<(), Misuse> {
    if address.is_some() && cfg!(not(feature = "page")) {
        return Err(Misuse(super::PAGE_IS_MISSING.to_owned()));
    }
    Ok(())
}

/// The record of earlier daemons. A damaged file is renamed, and the schedules start again.
fn read_record(
    state: &Path,
    clock: &dyn Clock,
    output: &Output,
) -> failure::Result<ScheduleRecord> {
    let path = schedule_file_in(state);
    let error = match read_schedules(state) {
        Ok(record) => return Ok(record),
        Err(error) => error,
    };
    let path_text = path.display();
    match error.kind() {
        ErrorKind::InvalidData => {
            let aside = set_schedules_aside(&path, clock.now()).map_err(|source| {
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
