//! `arpent forget`: removes the data of a site, and nothing that is published.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crawler::{
    driver::{Named, forget_names, names_of_site, site_of_start},
    site_run::LiveSession,
    store::{self, StoreError},
};
use serde_json::{Value, json};

use super::{crawl::load, report_error};
use crate::{
    args::ForgetArgs,
    exit_code::ExitCode,
    failure::{self, Misuse},
    output::Output,
    settings::{Environment, Purpose, SiteSettings},
};

/// Runs `arpent forget`.
///
/// # Errors
/// The settings make no sense; what fails for a site is printed and only changes the exit code.
pub(super) fn run(
    args: &ForgetArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let settings = load(Purpose::Look, args.typed(), environment)?;
    let mut worst = ExitCode::Success;
    for site in &settings.sites {
        match forget(site) {
            Ok(removed) if args.json => output.data_json(&removed.document().to_string()),
            Ok(removed) => removed.print(output),
            Err(error) => {
                worst = worst.worse(error.code());
                report_error(&error.context(site.start.to_string()), output);
            }
        }
    }
    Ok(worst)
}

/// The data of a site that was removed, or would be.
struct Removed {
    site: String,
    is_dry_run: bool,
    files: Vec<PathBuf>,
    /// Start URLs that led to the site.
    names: Vec<String>,
}

impl Removed {
    fn document(&self) -> Value {
        let files = self.files.iter().map(|file| file.display().to_string());
        json!({
            "version": 1,
            "site": self.site,
            "dry_run": self.is_dry_run,
            "files": files.collect::<Vec<_>>(),
            "names": self.names,
        })
    }

    fn print(&self, output: &Output) {
        let verb = if self.is_dry_run {
            "would be removed"
        } else {
            "removed"
        };
        for file in &self.files {
            output.data(&format!("{verb}: {}", file.display()));
        }
        for name in &self.names {
            output.data(&format!("{verb}: the name {name} of {}", self.site));
        }
    }
}

/// Removes the data of a site.
fn forget(site: &SiteSettings) -> failure::Result<Removed> {
    let settings = &site.settings;
    let folder = &settings.state;
    let Named { site, is_known } = site_of_start(settings, &site.start)?;
    let failed = |path: &Path, error| {
        StoreError::of_io(format!("failed to remove {}", path.display()), error)
    };
    let state = settings.state_of(&site);
    let build_state = settings.build_state_of(&site);
    let names = names_of_site(folder, &site)?;
    let beside = [
        settings.generations_of(&site),
        settings.last_session_of(&site),
        LiveSession::beside(&state),
        settings.staged_of(&site.written().name()),
    ];
    let beside = beside.into_iter().filter(|path| path.exists());
    let mut files = store::files_of(&state)?;
    let of_builds = store::files_of(&build_state)?;
    let is_known = is_known || !of_builds.is_empty();
    files.extend(of_builds);
    files.extend(beside.clone());
    if files.is_empty() && names.is_empty() {
        let folder = folder.display();
        let message =
            format!("there is no data of the site in {folder}; arpent status lists the sites");
        return Err(Misuse(message).into());
    }
    if !is_known {
        let message = format!(
            "this is not the start URL of a crawled site; arpent forget {} removes the site that it belongs to",
            site.url()
        );
        return Err(Misuse(message).into());
    }
    if !settings.dry_run {
        // A name goes last, so that the site is still found by it after an interruption.
        store::forget(&[&state, &build_state], || {
            for path in beside {
                let removed = if path.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(|error| failed(&path, error))?;
            }
            forget_names(folder, &site).map_err(|error| failed(folder, error))
        })?;
    }
    Ok(Removed {
        site: site.url(),
        is_dry_run: settings.dry_run,
        files,
        names,
    })
}
