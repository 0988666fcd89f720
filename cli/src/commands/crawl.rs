//! `arpent crawl`: crawls and publishes each site, and notifies others. Several sites are crawled at the same time, one per host. A
//! site that fails does not stop the others; a signal does.

pub(super) mod board;

use std::{io, path::Path, sync::Arc};

use crawler::{
    driver::{self, Crawler, crawl_all},
    politeness::Politeness,
    site_run::read_pauses,
};
use jiff::Timestamp;
use tracing::level_filters::LevelFilter;

use self::board::Board;
use super::{
    SummaryForm, dependencies,
    runtime::{self, Threads},
};
use crate::{
    args::CrawlArgs,
    exit_code::ExitCode,
    failure::{self, Context as _},
    output::Output,
    settings::{
        CrawlSettings, Environment, FileText, LogFormat, MAX_FILE_BYTES, Purpose, Settings,
        SettingsError, SiteSettings, Typed,
    },
    supervisor::Supervisor,
};

/// Runs `arpent crawl`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails on a site is reported and only
/// changes the exit code.
pub(super) fn run(
    args: &CrawlArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = args.typed();
    foresee_log(&typed, environment, output);
    let CrawlSettings {
        mut sites,
        shared,
        max_sites,
    } = load(Purpose::Crawl, typed, environment)?;
    begin_log(&shared, output);
    let now = dependencies::clock(environment).now();
    if args.urls.is_empty() {
        leave_out_paused(&mut sites, &shared.session.state, now, output)?;
    }
    output.begin_log(sites.len() > 1);
    let form = SummaryForm::of(&shared, output);
    runtime::run(Threads::OfCores, async {
        let mut supervisor = Supervisor::new(output)?;
        let politeness = Politeness::new(&shared.session.config.politeness);
        let stop = supervisor.stop().clone();
        let clock = dependencies::clock(environment);
        let mut crawler = Crawler::new(&output.messenger(), politeness, stop, clock, environment);
        crawler.open_browser = dependencies::open_browser();
        let mut board = Board::new(sites.len(), output);
        let mut worst = ExitCode::Success;
        let shown: Arc<dyn driver::Board> = Arc::new(board.clone());
        let work = crawl_all(&crawler, &sites, max_sites, &shown, |run| {
            form.print(&run.summary, output);
            worst = worst.worse(run.code);
        });
        supervisor.run(work, Some(&mut board)).await?;
        Ok(worst)
    })
}

/// Leaves out the sites that are paused: nobody named them.
fn leave_out_paused(
    sites: &mut Vec<Arc<SiteSettings>>,
    state: &Path,
    now: Timestamp,
    output: &Output,
) -> failure::Result<()> {
    let pauses = read_pauses(state, now).context("failed to read the pauses")?;
    sites.retain(|site| {
        let pause = pauses.get(&site.name);
        if let Some(pause) = pause {
            output.info(&format!("{}: {}", site.start, pause.text()));
        }
        pause.is_none()
    });
    Ok(())
}

/// The settings of the sites of a command for which this was typed.
///
/// # Errors
/// See [`CrawlSettings::load`].
pub(super) fn load(
    purpose: Purpose,
    typed: Typed,
    environment: &Environment,
) -> Result<CrawlSettings, SettingsError> {
    CrawlSettings::load(purpose, typed, environment, read_settings_file)
}

/// Makes what is wrong with the settings part of the log that they ask for, as far as that is known before they
/// are read.
pub(super) fn foresee_log(typed: &Typed, environment: &Environment, output: &Output) {
    if LogFormat::of_log(typed, environment) == LogFormat::Json {
        output.log_as_json();
    }
}

/// Sets stderr up by the settings, and prints the warnings about them.
pub(super) fn begin_log(settings: &Settings, output: &Output) {
    if settings.quiet {
        output.be_quiet();
    }
    if settings.log_format == LogFormat::Json {
        output.log_as_json();
    }
    crate::log::begin(output, log_level(settings));
    if let Some(path) = &settings.found_file {
        output.info(&format!("settings: {}", path.display()));
    }
    for warning in &settings.warnings {
        output.warn(warning);
    }
}

pub(super) fn log_level(settings: &Settings) -> LevelFilter {
    match (settings.quiet, settings.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, 2) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    }
}

/// Reads a settings file, or one with a secret, and not much more when it is none.
pub(super) fn read_settings_file(path: &Path) -> io::Result<FileText> {
    FileText::read(path, MAX_FILE_BYTES)
}
