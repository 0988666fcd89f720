//! `arpent build`: inputs become the records of one run, and the set is published from them as after a
//! crawl. The store is a temporary one, unless there is something in it to be remembered.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use crawler::{
    build::{BuildError, LoadRequest, Loaded, News, Source, load},
    clock::{Clock, SystemClock},
    config::ScopeWidth,
    engine::Shutdown,
    publish::{PublishError, PublishRequest, Published, publish},
    report::Report,
    runs,
    site::{Site, settle},
    store::StoreError,
};
use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    aborted,
    crawl::{changes, check_site, log_level, read_settings_file},
    print, seams, tell,
};
use crate::{
    args::BuildArgs,
    attend::Attendant,
    exit_code::{ExitCode, FaultyInput},
    fault::Faults,
    human,
    output::Output,
    panicked::Panicked,
    settings::{BuildSettings, Environment, KeptState},
    summary::{Outcome, RobotsFile, Summary},
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
    let settings = BuildSettings::load(args, environment, read_settings_file)?;
    let common = &settings.common;
    if common.quiet {
        output.be_quiet();
    }
    output.take_log(log_level(common));
    for warning in &common.warnings {
        output.warn(warning);
    }
    let site = common
        .urls
        .first()
        .and_then(|base| settle(base, &[], ScopeWidth::Directory).ok())
        .context("the base URL is no site")?;
    let mut summary = Summary::of_build(&format!("{}{}", site.origin, site.directory));
    let format = common.summary;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let began = Instant::now();
    // Outlives the work, also when that waits for an input that does not come.
    let place =
        check_site(common, &site).and_then(|()| Ok(Place::choose(&settings, &site, environment)?));
    let place = match place {
        Ok(place) => place,
        Err(error) => {
            let code = ExitCode::of_error(&error);
            tell(&error, output);
            summary.outcome = Outcome::of_failure(code);
            print(&summary, format, output);
            return Ok(code);
        }
    };
    let code = runtime.block_on(async {
        let mut attendant = Attendant::new(output)
            .context("failed to listen to signals")?
            .of_work_without_requests();
        let job = Job {
            now: SystemClock.now(),
            faults: Faults::new(environment),
            output: output.clone(),
            shutdown: attendant.stop().shutdown.clone(),
            store: place.path.clone(),
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
                () = aborted(&stopping) => None,
            }
        };
        let result = match attendant.during(work, None).await? {
            Some(Ok((done, result))) => {
                summary = done;
                result
            }
            Some(Err(error)) => Err(match error.try_into_panic() {
                Ok(payload) => Panicked::from_payload(&*payload),
                Err(error) => Panicked::new(error.to_string()),
            }
            .into()),
            None => Err(BuildError::Stopped.into()),
        };
        let signal = attendant.stop().asked_by();
        anyhow::Ok(result.unwrap_or_else(|error| {
            let code = match (ExitCode::of_error(&error), signal) {
                (ExitCode::Interrupted, Some(signal)) => signal.into(),
                (code, _) => {
                    tell(&error, output);
                    code
                }
            };
            summary.outcome = if error.is::<FaultyInput>() {
                Outcome::Refused
            } else {
                Outcome::of_failure(code)
            };
            code
        }))
    });
    // What still runs waits for standard input, and nobody waits for it.
    runtime.shutdown_background();
    let code = code?;
    summary.set_duration(began.elapsed());
    print(&summary, format, output);
    Ok(code)
}

/// Everything that the work needs, away from the thread that listens to signals.
struct Job {
    settings: BuildSettings,
    site: Site,
    now: Timestamp,
    faults: Faults,
    output: Output,
    shutdown: Shutdown,
    /// The file of the store.
    store: PathBuf,
}

impl Job {
    fn build(&self, summary: &mut Summary) -> anyhow::Result<ExitCode> {
        self.faults.pass("panic-in-build");
        let common = &self.settings.common;
        let mut store = seams::state(&self.store)?;
        // Whatever an earlier build left open, this one begins with nothing.
        let identity = format!("build {}", self.now);
        let run = runs::open(&mut *store, &identity, self.now, self.now)?.number;
        let mut config = common.config.clone();
        config.publish.output = common.output_of(&self.site.name());
        config.publish.public_url = common.public_url_of(&self.site)?;
        let request = LoadRequest {
            site: &self.site,
            config: &config,
            run,
            now: self.now,
            is_stopped: &|| self.shutdown.is_stopping(),
        };
        let mut talk = Talk {
            output: &self.output,
            remarks: 0,
        };
        let loaded = load(&mut *store, self.sources()?, &request, &mut |news| {
            talk.hear(&news);
        })?;
        talk.end();
        for notice in &loaded.notices {
            self.output.warn(notice);
        }
        summary.set_loaded(&loaded);
        summary.set_report(Report::read(&*store, run)?);
        if config.build.strict && loaded.has_faults() {
            return Err(FaultyInput {
                lines: loaded.left_out,
                values: loaded.values_left_out,
            }
            .into());
        }
        let is_partial = summary.is_partial() || loaded.left_out > 0;
        summary.output = Some(config.publish.output.clone());
        self.output.show(&["  writing the sitemaps".to_owned()]);
        let published = publish(
            &mut *store,
            &PublishRequest {
                site: &self.site,
                run,
                config: &config.publish,
                robots: loaded.robots.as_ref(),
                partial: is_partial,
                dry_run: common.dry_run,
                now: self.now,
                is_stopped: &|| self.shutdown.is_stopping(),
            },
        );
        let ended = runs::finish(&mut *store, run).and_then(|()| Report::read(&*store, run));
        self.end(published, ended, &loaded, is_partial, summary)
    }

    /// Tells what was published.
    fn end(
        &self,
        published: Result<Published, PublishError>,
        report: Result<Report, StoreError>,
        loaded: &Loaded,
        is_partial: bool,
        summary: &mut Summary,
    ) -> anyhow::Result<ExitCode> {
        let mut problems = Vec::new();
        match report {
            // Publishing may have judged again, so what it left behind is what is told.
            Ok(report) => summary.set_report(report),
            Err(error) => problems.push(format!("{:#}", anyhow::Error::from(error))),
        }
        let published = published?;
        problems.extend_from_slice(&published.problems);
        for problem in &problems {
            self.output.error(&format!("{}: {problem}", summary.site));
        }
        summary.set_published(&published, &RobotsFile::unread(&self.site));
        let has_faults = is_partial || loaded.has_faults();
        summary.outcome = match (
            self.settings.common.dry_run,
            has_faults,
            changes(&published),
        ) {
            (true, _, _) => Outcome::DryRun,
            (false, true, _) => Outcome::Partial,
            (false, false, true) => Outcome::Published,
            (false, false, false) => Outcome::Unchanged,
        };
        Ok(if has_faults || !problems.is_empty() {
            ExitCode::Partial
        } else {
            ExitCode::Success
        })
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

/// Where the store of a build is.
struct Place {
    /// Its file.
    path: PathBuf,
    /// The folder that goes with it; `None` when it is kept.
    _folder: Option<TemporaryFolder>,
}

impl Place {
    /// Chooses the place, and makes the folder of a store that is not kept.
    fn choose(
        settings: &BuildSettings,
        site: &Site,
        environment: &Environment,
    ) -> Result<Self, StoreError> {
        let is_kept = match settings.state {
            KeptState::Always => true,
            KeptState::OfFolders => {
                let mut inputs = settings.inputs.iter();
                inputs.any(|input| Path::new(input).is_dir())
            }
            KeptState::Never => false,
        };
        if is_kept {
            // Not the state of a crawl: its open run would be lost.
            let name = format!("{}.build.db", site.name());
            return Ok(Self {
                path: settings.common.state.join(name),
                _folder: None,
            });
        }
        let folder = TemporaryFolder::create(&temporary_folder(environment))?;
        Ok(Self {
            path: folder.0.join("site.db"),
            _folder: Some(folder),
        })
    }
}

/// A folder for this process alone, removed when it is dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder of a name that is free, for its owner alone.
    fn create(parent: &Path) -> Result<Self, StoreError> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let path = parent.join(format!("arpent-build-{process}-{number}"));
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                    number += 1;
                }
                Err(error) => {
                    let message = format!("cannot create the temporary folder {}", path.display());
                    let kind = crawler::store::StoreErrorKind::Open;
                    return Err(StoreError::new(kind, message).with_source(error));
                }
            }
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left behind is in a folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where large temporary files belong: in many systems `/tmp` is memory. `SQLite` looks in the same order.
fn temporary_folder(environment: &Environment) -> PathBuf {
    let named = environment.get("TMPDIR").filter(|path| !path.is_empty());
    if let Some(path) = named {
        return PathBuf::from(path);
    }
    let large = Path::new("/var/tmp");
    if cfg!(unix) && large.is_dir() {
        return large.to_owned();
    }
    std::env::temp_dir()
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
