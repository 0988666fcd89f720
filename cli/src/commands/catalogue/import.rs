//! Sites of settings files on their way into the catalogue.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use arpent_fleet::catalogue::{Catalogue, NewSite, next_run};

use crate::{
    args::AddArgs,
    commands::dependencies,
    exit_code::ExitCode,
    failure::{self, Failure, Misuse},
    human,
    output::Output,
    settings::{Environment, FileText, MAX_SITES_FILE_BYTES, SettingsError, StoredSites, Typed},
};

/// Warnings that are printed; the others are counted.
const MAX_WARNINGS: usize = 20;

/// Sites with their settings.
#[derive(Debug, Default)]
pub(super) struct Entered {
    sites: Vec<NewSite>,
    warnings: Vec<String>,
    /// The sites replace sites of the same names.
    replaces: bool,
}

/// The site of `arpent catalogue add`.
///
/// # Errors
/// The settings make no sense for a catalogue, or there are several sites.
pub(super) fn site(
    of_command: &Typed,
    args: &AddArgs,
    environment: &Environment,
) -> failure::Result<Entered> {
    let name = args.name.as_deref();
    let StoredSites { sites, warnings } =
        StoredSites::load(args.typed(of_command), name, environment, read)?;
    if sites.len() > 1 {
        let message = "the settings file has several sites with this URL; arpent catalogue import FILE adds all sites of a file";
        return Err(Misuse(message.to_owned()).into());
    }
    Ok(Entered {
        sites,
        warnings,
        replaces: false,
    })
}

/// The sites of `arpent catalogue import`.
///
/// # Errors
/// The settings of a file make no sense for a catalogue.
pub(super) fn sites(files: &[PathBuf], environment: &Environment) -> failure::Result<Entered> {
    let mut entered = Entered {
        replaces: true,
        ..Entered::default()
    };
    for file in files {
        let found = StoredSites::load(Typed::of_file(file), None, environment, read);
        let mut found = found.map_err(|error| match error {
            SettingsError::Unreadable { path, source } => Failure::from(Misuse(format!(
                "FILE: failed to read {}: {source}; expected a settings file with sites",
                path.display()
            ))),
            error @ SettingsError::Problems(_) => error.into(),
        })?;
        entered.sites.append(&mut found.sites);
        entered.warnings.append(&mut found.warnings);
    }
    Ok(entered)
}

fn read(path: &Path) -> std::io::Result<FileText> {
    FileText::read(path, MAX_SITES_FILE_BYTES)
}

impl Entered {
    /// Enters the sites into the catalogue.
    ///
    /// # Errors
    /// Another site has a name or an output, or the database fails. Then nothing has changed.
    pub(super) async fn enter(
        self,
        catalogue: &Catalogue,
        environment: &Environment,
        output: &Output,
    ) -> failure::Result<ExitCode> {
        for warning in self.warnings.iter().take(MAX_WARNINGS) {
            output.warn(warning);
        }
        if let Some(more) = self.warnings.len().checked_sub(MAX_WARNINGS + 1) {
            output.warn(&format!("and {} more warnings", more + 1));
        }
        let now = dependencies::clock(environment).now();
        if self.replaces {
            let count = catalogue.import(&self.sites, now).await?;
            output.data(&format!(
                "{} added, {} changed, {} unchanged",
                human::count(count.added, "site"),
                human::number(count.changed),
                human::number(count.unchanged)
            ));
            let outputs = self
                .sites
                .iter()
                .map(|site| (&site.name, &site.output))
                .collect::<HashMap<_, _>>();
            let is_complete = count.names.len() as u64 == count.added + count.changed;
            for name in count.names.iter().filter(|_| is_complete) {
                output.data(&format!("  {name}: {}", outputs[name]));
            }
            return Ok(ExitCode::Success);
        }
        for site in &self.sites {
            catalogue.add(site, now).await?;
            let next = match next_run(site.schedule.as_ref(), now) {
                Some(next) => format!("the next crawl is at {}", human::minute(next)),
                None => format!(
                    "it has no schedule; arpent catalogue run-now {} crawls it",
                    site.name
                ),
            };
            output.data(&format!("added: {}; {next}", site.name));
            output.data(&format!("  {}: {}", site.name, site.output));
        }
        Ok(ExitCode::Success)
    }
}
