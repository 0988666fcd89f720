//! `arpent build`: makes visits from the inputs, and publishes the set from them as after a crawl. The store is
//! temporary, unless the dates of a folder have to be stored.

use std::{fs, io, path::PathBuf, sync::Arc};

use crawler::{
    build::{BuildError, BuildSource, LoadRequest, News, load},
    client::Shutdown,
    clock::Clock,
    config::ScopeWidth,
    crawl_state,
    driver::{Faults, print_published, report_opened, set_output},
    report::Report,
    site::{Site, site_of_redirects},
    site_run::{Places, SessionOutcome, Stored, StoredRequest},
    summary::{RobotsFile, Summary},
};
use tokio::time::Instant;

use super::{
    SummaryForm,
    crawl::{begin_log, foresee_log, read_settings_file},
    dependencies, report_error,
    runtime::{self, Threads},
};
use crawler::failure::blocking;

use crate::{
    args::BuildArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Failure, FaultyInput, Misuse},
    human,
    output::Output,
    settings::{BuildSettings, Environment, settled},
    supervisor::Supervisor,
};

/// Lines about faulty inputs that are shown; the others are counted.
const MAX_REMARKS: u64 = 20;

/// Runs `arpent build`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails later is reported and only changes
/// the exit code.
pub(super) fn run(
    args: &BuildArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = args.typed();
    foresee_log(&typed, environment, output);
    let settings = BuildSettings::load(typed, environment, read_settings_file)?;
    let common = &settings.common;
    begin_log(common, output);
    let site = common
        .session
        .urls
        .first()
        .and_then(|base| site_of_redirects(base, &[], ScopeWidth::Directory).ok())
        .context("the base URL is no site")?;
    let mut summary = Summary::of_build(&format!("{}{}", site.origin, site.directory));
    summary.surroundings.is_dry = common.session.dry_run;
    let form = SummaryForm::of(common, output);
    let began = Instant::now();
    if let Err(error) = common.session.check_site(&site) {
        let failure = Failure::from(error);
        report_error(&failure, output);
        summary.set_failed(failure.in_full(), failure.outcome());
        form.print(&summary, output);
        return Ok(failure.code());
    }
    // Nobody waits for a read of standard input that still runs.
    let code = runtime::run(Threads::One, async {
        let mut supervisor = Supervisor::new(output)?.of_work_without_requests();
        let job = BuildJob {
            clock: dependencies::clock(environment),
            faults: Faults::new(environment),
            output: output.clone(),
            shutdown: supervisor.stop().shutdown.clone(),
            settings,
            site,
        };
        let mut done = summary.clone();
        let work = blocking(move || {
            let result = job.build(&mut done);
            failure::Result::Ok((done, result))
        });
        let stopping = supervisor.stop().shutdown.clone();
        let work = async {
            tokio::select! {
                // Only the handle is dropped: the work is not waited for.
                ended = work => ended,
                // Cancel safe: it only looks.
                () = stopping.aborted() => Err(BuildError::Stopped.into()),
            }
        };
        let ended = Box::pin(supervisor.run(work, None)).await?;
        let result = ended.and_then(|(done, result)| {
            summary = done;
            result
        });
        let signal = supervisor.stop().asked_by();
        Ok(result.unwrap_or_else(|error| {
            summary.set_failed(error.in_full(), error.outcome());
            match (error.code(), signal) {
                (ExitCode::Interrupted, Some(signal)) => signal.into(),
                (code, _) => {
                    report_error(&error, output);
                    code
                }
            }
        }))
    })?;
    summary.set_duration(began.elapsed());
    form.print(&summary, output);
    Ok(code)
}

/// Everything that the work needs, away from the thread that listens to signals.
struct BuildJob {
    settings: BuildSettings,
    site: Site,
    clock: Arc<dyn Clock>,
    faults: Faults,
    output: Output,
    shutdown: Shutdown,
}

impl BuildJob {
    fn build(&self, summary: &mut Summary) -> failure::Result<ExitCode> {
        self.faults.pass("panic-in-build");
        let common = &self.settings.common;
        let output = common.session.output_of(&self.site.name());
        let state = self.settings.state_of(&self.site);
        if state.is_some() && settled(&output) == settled(&common.session.state) {
            return Err(Misuse(format!(
                "{} is the output, and contains the state; expected a folder that contains only files that are served",
                output.display()
            ))
            .into());
        }
        let places = Places {
            state,
            generations: None,
            ..common.session.places_of(&self.site)?
        };
        let config = places.config(&common.session.config);
        let stored = StoredRequest {
            site: &self.site,
            config: &config,
            state: places.state.as_deref(),
            dry_run: common.session.dry_run,
            clock: &self.clock,
            is_stopped: &|| self.shutdown.is_stopping(),
            send_fence: None,
        };
        let lock = || places.lock_output(&config);
        // The folder of a set in object storage is fetched before the work.
        let early = (places.storage.is_some() && !common.session.dry_run)
            .then(lock)
            .transpose()?;
        let (mut store, opened) = stored.open(None)?;
        // Without a state nothing is known of what another build published.
        if places.state.is_some() {
            report_opened(&opened, &self.site.url(), &self.output.messenger());
        }
        // Whatever an earlier build left open, this one begins with nothing.
        let now = self.clock.now();
        crawl_state::open(&mut store, "build", now, true)?;
        let request = LoadRequest {
            site: &self.site,
            config: &config,
            now,
            is_stopped: stored.is_stopped,
        };
        let mut reporter = InputReporter {
            output: &self.output,
            remarks: 0,
        };
        let loaded = load(&mut store, self.sources()?, &request, &mut |news| {
            reporter.report(&news);
        })?;
        reporter.end();
        for note in &loaded.notes {
            self.output.note(&note.text);
        }
        summary.set_loaded(&loaded);
        summary.set_report(Report::read(&store)?);
        if config.build.strict && loaded.has_faults() {
            return Err(FaultyInput {
                lines: loaded.left_out,
                values: loaded.values_left_out,
            }
            .into());
        }
        set_output(summary, common.session.place_of(&self.site.name()));
        self.output.show(&["  writing the sitemaps".to_owned()]);
        // Not before: an input may be waited for as long as it likes.
        let _lock = match early {
            None if !common.session.dry_run => Some(lock()?),
            early => early,
        };
        let mut ended = stored.run(store, Stored::Inputs(loaded.robots.as_ref()));
        if loaded.has_faults()
            && matches!(
                ended.outcome,
                SessionOutcome::Published | SessionOutcome::Unchanged
            )
        {
            ended.outcome = SessionOutcome::Partial;
        }
        let robots = RobotsFile::unread(&self.site);
        print_published(summary, ended, &robots, &self.output.messenger()).map(|(code, _)| code)
    }

    fn sources(&self) -> Result<Vec<BuildSource>, BuildError> {
        let sources = self.settings.inputs.iter().map(|input| {
            if input == "-" {
                return Ok(BuildSource::Open {
                    name: "standard input".to_owned(),
                    bytes: Box::new(io::stdin()),
                });
            }
            // Reported before anything is read, not after an hour.
            let path = PathBuf::from(input);
            match fs::metadata(&path) {
                Ok(_) => Ok(BuildSource::Path(path)),
                Err(source) => Err(BuildError::Open {
                    name: input.clone(),
                    source,
                }),
            }
        });
        sources.collect()
    }
}

/// Prints remarks and progress while inputs are read.
struct InputReporter<'a> {
    output: &'a Output,
    remarks: u64,
}

impl InputReporter<'_> {
    fn report(&mut self, news: &News<'_>) {
        match news {
            News::Remark(remark) => {
                self.remarks += 1;
                if self.remarks <= MAX_REMARKS {
                    self.output.warn(&remark.to_string());
                } else {
                    tracing::info!(target: "build", "{remark}");
                }
            }
            News::Progress(loaded) => {
                let counts = [(loaded.entries, "URL"), (loaded.files, "file")];
                let counts = counts.into_iter().filter(|(count, _)| *count > 0);
                let read: String = counts
                    .map(|(count, noun)| human::count(count, noun) + ", ")
                    .collect();
                let bytes = human::bytes(loaded.bytes);
                self.output.show(&[format!("  reading: {read}{bytes}")]);
            }
        }
    }

    fn end(&self) {
        let more = self.remarks.saturating_sub(MAX_REMARKS);
        if more > 0 {
            self.output.warn(&format!(
                "{} more lines have problems; -v prints them",
                human::number(more)
            ));
        }
    }
}
