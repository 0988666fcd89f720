//! `arpent build`: inputs become the records of one run, and the set is published from them as after a
//! crawl. The store is a temporary one, unless there is something in it to be remembered.

mod place;

use std::{fs, io, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use crawler::{
    build::{BuildError, LoadRequest, News, Source, load},
    clock::Clock,
    config::{Config, ScopeWidth},
    engine::Shutdown,
    publish::OutputHold,
    report::Report,
    runs,
    site::{Site, settle},
    site_run::{OpenRequest, Outcome, Places, StoredRequest, open_state, publish_built},
    store::Store,
};
use tokio::time::Instant;

use self::place::Place;
use super::{
    crawl::{begin_telling, check_site, foresee_log, read_settings_file, site::places_of},
    print,
    published::print_published,
    runtime::{self, Threads},
    seams, tell,
};
use crate::{
    args::BuildArgs,
    attend::Attendant,
    exit_code::{ExitCode, FaultyInput, Misuse, error_of},
    fault::Faults,
    human,
    output::Output,
    panicked::Panicked,
    settings::{BuildSettings, Environment, settled, typed},
    summary::{RobotsFile, Summary, of_failure},
};

/// Lines about faulty inputs that are shown; the others are counted.
const MAX_REMARKS: u64 = 20;

/// Runs `arpent build`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails later is told and only changes
/// the exit code.
pub(super) fn run(
    args: &BuildArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    foresee_log(&typed(args), environment, output);
    let settings = BuildSettings::load(args, environment, read_settings_file)?;
    let common = &settings.common;
    begin_telling(common, output);
    let site = common
        .urls
        .first()
        .and_then(|base| settle(base, &[], ScopeWidth::Directory).ok())
        .context("the base URL is no site")?;
    let mut summary = Summary::of_build(&format!("{}{}", site.origin, site.directory));
    let format = common.summary;
    let began = Instant::now();
    // Outlives the work, also when that waits for an input that does not come.
    let place =
        check_site(common, &site).and_then(|()| Ok(Place::choose(&settings, &site, environment)?));
    let place = match place {
        Ok(place) => place,
        Err(error) => {
            let code = ExitCode::of_error(&error);
            tell(&error, output);
            summary.outcome = of_failure(code);
            print(&summary, format, output);
            return Ok(code);
        }
    };
    // Nobody waits for a read of standard input that still runs.
    let code = runtime::run(Threads::One, async {
        let mut attendant = Attendant::new(output)
            .context("failed to listen to signals")?
            .of_work_without_requests();
        let job = Job {
            clock: seams::clock(environment),
            faults: Faults::new(environment),
            output: output.clone(),
            shutdown: attendant.stop().shutdown.clone(),
            store: place.path.clone(),
            is_kept: place.is_kept(),
            settings,
            site,
        };
        let (mut done, work) = (summary.clone(), job);
        let work = tokio::task::spawn_blocking(move || {
            let code = work.build(&mut done);
            (done, code)
        });
        let stopping = attendant.stop().shutdown.clone();
        let work = async {
            tokio::select! {
                // Dropped is only the handle: the work is not waited for.
                joined = work => Some(joined),
                // Cancel safe: it only looks.
                () = stopping.aborted() => None,
            }
        };
        let result = match attendant.during(work, None).await? {
            Some(Ok((done, result))) => {
                summary = done;
                result
            }
            Some(Err(error)) => Err(Panicked::from_join(error).into()),
            None => Err(BuildError::Stopped.into()),
        };
        let signal = attendant.stop().asked_by();
        Ok(result.unwrap_or_else(|error| {
            let code = match (ExitCode::of_error(&error), signal) {
                (ExitCode::Interrupted, Some(signal)) => signal.into(),
                (code, _) => {
                    tell(&error, output);
                    code
                }
            };
            summary.outcome = if is_unusable_input(&error) {
                Outcome::Refused
            } else {
                of_failure(code)
            };
            code
        }))
    })?;
    summary.set_duration(began.elapsed());
    print(&summary, format, output);
    Ok(code)
}

/// Whether an input was opened and read, and nothing can be made of it: the work had begun.
fn is_unusable_input(error: &anyhow::Error) -> bool {
    // The other errors have their outcomes by their exit codes.
    let unusable = |error: &BuildError| {
        matches!(
            error,
            BuildError::Format { .. } | BuildError::TooMuch { .. }
        )
    };
    error.is::<FaultyInput>() || error.downcast_ref::<BuildError>().is_some_and(unusable)
}

/// Everything that the work needs, away from the thread that listens to signals.
struct Job {
    settings: BuildSettings,
    site: Site,
    clock: Arc<dyn Clock>,
    faults: Faults,
    output: Output,
    shutdown: Shutdown,
    /// The file of the store.
    store: PathBuf,
    /// The next build finds it again.
    is_kept: bool,
}

impl Job {
    fn build(&self, summary: &mut Summary) -> anyhow::Result<ExitCode> {
        self.faults.pass("panic-in-build");
        let common = &self.settings.common;
        let output = common.output_of(&self.site.name());
        if self.is_kept && settled(&output) == settled(&common.state) {
            return Err(Misuse(format!(
                "{} is the output, and the state is kept in it; expected a folder that has nothing in it but what is served",
                output.display()
            ))
            .into());
        }
        let mut places = places_of(common, &self.site)?;
        places.state.clone_from(&self.store);
        let mut config = common.config.clone();
        config.publish.output.clone_from(&places.output);
        config.publish.public_url.clone_from(&places.public_url);
        config.publish.remembers = self.is_kept;
        let mut store = self.open_store(&places, &config)?;
        // Whatever an earlier build left open, this one begins with nothing.
        let now = self.clock.now();
        runs::open(&mut store, "build", now, true)?;
        let request = LoadRequest {
            site: &self.site,
            config: &config,
            now,
            is_stopped: &|| self.shutdown.is_stopping(),
        };
        let mut talk = Talk {
            output: &self.output,
            remarks: 0,
        };
        let loaded = load(&mut store, self.sources()?, &request, &mut |news| {
            talk.hear(&news);
        })?;
        talk.end();
        for note in &loaded.notes {
            self.output.warn(&note.text);
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
        summary.output = Some(places.output.clone());
        self.output.show(&["  writing the sitemaps".to_owned()]);
        // Not before: an input may be waited for as long as it likes.
        let _hold = (!common.dry_run)
            .then(|| {
                let state = self.is_kept.then_some(common.state.as_path());
                OutputHold::take(&config.publish.output, state, &config.publish)
            })
            .transpose()?;
        let is_stopped = || self.shutdown.is_stopping();
        let request = StoredRequest {
            site: &self.site,
            config: &config,
            places: &places,
            dry_run: common.dry_run,
            clock: &self.clock,
            is_stopped: &is_stopped,
        };
        let ended = publish_built(store, &request, loaded.robots.as_ref());
        let outcome = match ended.outcome {
            Outcome::Published | Outcome::Unchanged if loaded.has_faults() => Outcome::Partial,
            outcome => outcome,
        };
        print_published(
            summary,
            ended.report,
            ended.published,
            outcome,
            &RobotsFile::unread(&self.site),
            &self.output,
        )
    }

    /// The store, which knows the published set.
    fn open_store(&self, places: &Places, config: &Config) -> anyhow::Result<Store> {
        let opened = open_state(
            &OpenRequest {
                site: &self.site,
                places,
                config,
                clock: &self.clock,
                dry_run: false,
            },
            None,
        );
        let (store, opened) = opened.map_err(error_of)?;
        seams::report_opened(&opened, &self.site.url(), &self.output);
        Ok(store)
    }

    fn sources(&self) -> Result<Vec<Source>, BuildError> {
        let sources = self.settings.inputs.iter().map(|input| {
            if input == "-" {
                return Ok(Source::Open {
                    name: "standard input".to_owned(),
                    bytes: Box::new(io::stdin()),
                });
            }
            // Told before anything is read, not after an hour.
            let path = PathBuf::from(input);
            match fs::metadata(&path) {
                Ok(_) => Ok(Source::Path(path)),
                Err(source) => Err(BuildError::Open {
                    name: input.clone(),
                    source,
                }),
            }
        });
        sources.collect()
    }
}

/// What is said while inputs are read.
struct Talk<'a> {
    output: &'a Output,
    remarks: u64,
}

impl Talk<'_> {
    fn hear(&mut self, news: &News<'_>) {
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
                "{} more lines are not used as they are; -v names them",
                human::number(more)
            ));
        }
    }
}
