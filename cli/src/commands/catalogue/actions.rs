//! One action on the catalogue: the connection, and the changes of sites by their names.

use std::{fs, path::Path};

use arpent_fleet::{
    catalogue::{Catalogue, CatalogueError, VERSION},
    restore_checkpoint,
};
use crawler::{machine::private, storage::StateStorage};

use super::{
    import::{self, Entered},
    listing,
};
use crate::{
    args::{CatalogueAction, CatalogueArgs},
    commands::{
        crawl::read_settings_file,
        report_error,
        runtime::{self, Threads},
    },
    exit_code::ExitCode,
    failure::{self, Context as _, Failure, Misuse},
    output::Output,
    settings::{Environment, Typed, fleet_places, site_of_text},
};

/// Runs `arpent catalogue`.
///
/// # Errors
/// The settings make no sense, or the catalogue cannot be reached or has other tables. A name that is wrong is printed and only
/// changes the exit code.
pub(in crate::commands) fn run(
    args: &CatalogueArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = &args.settings.0;
    let (url, storage) = places_of(typed.clone(), environment, output)?;
    // Files are read before the database is asked.
    let entered = match &args.action {
        CatalogueAction::Add(add) => import::site(typed, add, environment)?,
        CatalogueAction::Import { files } => import::sites(files, environment)?,
        CatalogueAction::Init
        | CatalogueAction::List { .. }
        | CatalogueAction::Show { .. }
        | CatalogueAction::Fetch { .. }
        | CatalogueAction::Remove { .. }
        | CatalogueAction::RunNow { .. } => Entered::default(),
    };
    runtime::run(Threads::One, async {
        let catalogue = Catalogue::connect(&url).await?;
        if !matches!(args.action, CatalogueAction::Init) {
            catalogue.check_version().await?;
        }
        match &args.action {
            CatalogueAction::Init => init(&catalogue, output).await,
            CatalogueAction::Add(_) | CatalogueAction::Import { .. } => {
                entered.enter(&catalogue, environment, output).await
            }
            CatalogueAction::List { state, json } => {
                listing::list(&catalogue, *state, *json, output).await
            }
            CatalogueAction::Show { name, json } => {
                listing::show(&catalogue, name, *json, output).await
            }
            CatalogueAction::Fetch { name, folder } => {
                fetch(&catalogue, storage, name, folder, environment, output).await
            }
            CatalogueAction::Remove { names } => {
                let change = async |name: &str| {
                    catalogue.remove(name).await?;
                    Ok(format!("removed: {name}"))
                };
                each(names, change, output).await
            }
            CatalogueAction::RunNow { names, force } => {
                let change = async |name: &str| {
                    Ok(match (catalogue.run_now(name, *force).await?, force) {
                        (false, _) => format!("due now: {name}"),
                        (true, false) => {
                            format!("a session of {name} is under way, and run-now adds no other")
                        }
                        (true, true) => format!(
                            "a session of {name} is under way, and run-now adds no other; the next one, by the schedule or a later \
                             run-now, publishes in spite of the guard"
                        ),
                    })
                };
                each(names, change, output).await
            }
        }
    })
}

/// Brings the last checkpoint of a site to a folder of this machine.
async fn fetch(
    catalogue: &Catalogue,
    storage: Option<String>,
    name: &str,
    folder: &Path,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let storage = storage.ok_or_else(|| {
        let message = "there is no URL of the storage of the states; expected --storage URL, the variable ARPENT_STORAGE, or storage \
                       in the table [fleet] of the settings file";
        Misuse(message.to_owned())
    })?;
    let states =
        StateStorage::open(&storage).map_err(|error| Misuse(format!("storage: {error}")))?;
    let site = catalogue.site(name).await?;
    let Some(checkpoint) = site.state_object else {
        let message = format!("{name} has no checkpoint yet: no session of it stored one");
        return Err(Misuse(message).into());
    };
    private::create_folder(folder).context(format!("failed to create {}", folder.display()))?;
    if fs::read_dir(folder)?.next().is_some() {
        let message = format!("{} is not empty; expected a new folder", folder.display());
        return Err(Misuse(message).into());
    }
    if !restore_checkpoint(&states, &checkpoint, folder).await? {
        let message = format!(
            "{storage} does not have {checkpoint}, the last checkpoint of {name}; check the URL of the storage"
        );
        return Err(Misuse(message).into());
    }
    let shown = folder.display();
    let settings = site_of_text(name, &site.settings, folder, environment);
    // Secrets of its settings may be missing here.
    let url = settings.map_or_else(|_| "URL".to_owned(), |site| site.start.to_string());
    output.data(&format!(
        "fetched: {name}, to {shown}; arpent report {url} --state {shown}, and why, show what it knows"
    ));
    Ok(ExitCode::Success)
}

/// The URL of the catalogue by what was typed for a command.
///
/// # Errors
/// The settings make no sense, or have no catalogue.
pub(in crate::commands) fn url_of(
    typed: Typed,
    environment: &Environment,
    output: &Output,
) -> failure::Result<String> {
    places_of(typed, environment, output).map(|(url, _)| url)
}

/// The same, with the URL of the storage of the states, if there is one.
fn places_of(
    typed: Typed,
    environment: &Environment,
    output: &Output,
) -> failure::Result<(String, Option<String>)> {
    let places = fleet_places(typed, environment, read_settings_file)?;
    for warning in places.warnings {
        output.warn(&warning);
    }
    let storage = places.storage;
    places.catalogue.map(|url| (url, storage)).ok_or_else(|| {
        let message = "there is no URL of a catalogue; expected --catalogue URL, the variable ARPENT_CATALOGUE, or catalogue in the \
                       table [fleet] of the settings file";
        Misuse(message.to_owned()).into()
    })
}

/// Connects to a catalogue that has the tables of this program.
///
/// # Errors
/// There is no connection, or the tables have another version.
pub(in crate::commands) async fn open(url: &str) -> Result<Catalogue, CatalogueError> {
    let catalogue = Catalogue::connect(url).await?;
    catalogue.check_version().await?;
    Ok(catalogue)
}

async fn init(catalogue: &Catalogue, output: &Output) -> failure::Result<ExitCode> {
    let before = catalogue.migrate().await?;
    let now = VERSION;
    let place = catalogue.place();
    output.data(&match before {
        0 => format!("made the tables in {place}, version {now}"),
        _ if before == now => format!("the tables in {place} are up to date, version {now}"),
        _ => format!("brought the tables in {place} from version {before} to {now}"),
    });
    Ok(ExitCode::Success)
}

/// Changes sites one after the other, and prints the line of each. A site that cannot be changed does not stop the others.
pub(in crate::commands) async fn each(
    names: &[String],
    change: impl AsyncFn(&str) -> Result<String, CatalogueError>,
    output: &Output,
) -> failure::Result<ExitCode> {
    let mut worst = ExitCode::Success;
    for name in names {
        match change(name).await {
            Ok(line) => output.data(&line),
            Err(error @ (CatalogueError::UnknownSite(_) | CatalogueError::NotRunnable(_))) => {
                let error = Failure::from(error);
                worst = worst.worse(error.code());
                report_error(&error, output);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(worst)
}
