//! Arguments of `arpent catalogue`.

use std::path::PathBuf;

use super::options::SettingOptions;
#[cfg(feature = "catalogue")]
use crate::settings::options::Typed;
use crate::settings::options::{ADD, CATALOGUE};

/// Arguments of `arpent catalogue`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct CatalogueArgs {
    #[command(flatten)]
    pub(crate) settings: SettingOptions<CATALOGUE>,

    /// What is done.
    #[command(subcommand)]
    pub(crate) action: CatalogueAction,
}

/// What is done with a catalogue.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CatalogueAction {
    /// Make the tables, or bring them to the version of this arpent
    Init,
    /// Add one site, with the settings that arpent crawl would use
    Add(AddArgs),
    /// Add the sites of settings files, and change those that are in the catalogue
    Import {
        /// Settings files of at most 64 MiB
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// List the sites by name
    List {
        /// List only the sites in this state
        #[arg(long, value_enum, value_name = "WORD")]
        state: Option<StateWord>,

        /// Print one JSON object for each site
        #[arg(long)]
        json: bool,
    },
    /// Show the settings, the state and the last sessions of a site
    Show {
        /// Name of the site
        #[arg(value_name = "NAME")]
        name: String,

        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Bring the last checkpoint of a site to a new folder, for report and why
    Fetch {
        /// Name of the site
        #[arg(value_name = "NAME")]
        name: String,

        /// The folder, which is made
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Remove sites; their sitemaps and states stay in the object storage
    Remove {
        /// Names of the sites
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// Crawl sites as soon as their hosts are free; a session under way is not repeated
    RunNow {
        /// Names of the sites
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,

        /// The next session publishes in spite of the guard
        #[arg(long)]
        force: bool,
    },
}

/// Arguments of `arpent catalogue add`.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// Start URL of the site
    #[arg(value_name = "URL")]
    url: String,

    /// Name of the site [default: made from its URL]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    settings: SettingOptions<ADD>,
}

#[cfg(feature = "catalogue")]
impl AddArgs {
    /// What was typed, with the settings file of the command.
    pub(crate) fn typed(&self, of_command: &Typed) -> Typed {
        let typed = self
            .settings
            .0
            .with_all("urls", std::slice::from_ref(&self.url));
        Typed {
            config: of_command.config.clone(),
            ..typed
        }
    }
}

/// State of a site in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StateWord {
    /// A session is under way
    Running,
    /// Three sessions in a row did not end
    SetAside,
    /// Waits for arpent resume
    Paused,
    /// Has no schedule
    OnDemand,
    /// Waits for a worker
    Due,
    /// Waits for the time of its schedule
    Waiting,
}

/// Shown above the options by `--help`.
pub(super) const CATALOGUE_HELP: &str = "\
Manage the sites that several daemons share

A catalogue is a PostgreSQL database with sites, their settings and their schedules. Daemons that are started with --catalogue \
crawl its sites: a fleet. A URL with a password belongs in the variable ARPENT_CATALOGUE or in the table [fleet] of the settings \
file, because every user of the machine can see the options of a process.

An output above the tables of a settings file gets a folder for each site. An output in the table of a site, and that of arpent catalogue add \
--output, is used as it is.

Each site is crawled by one daemon at a time, and two sites on one host are never crawled at the same time.

The catalogue stores the settings of each site. A secret has to be a reference, { variable = \"...\" } or { file = \"...\" }. Files that \
settings name are those of the machine of the daemon. The output has to be object storage.

After three sessions in a row that did not end, a site is set aside: it is crawled again after arpent resume.

arpent status --catalogue shows the fleet.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent catalogue init --catalogue postgres://arpent@db.example.com/arpent
  arpent catalogue add https://www.example.com/ --output s3://sitemaps/example
  arpent catalogue import sites.toml
  arpent catalogue list --state set-aside";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  2    wrong usage or settings, no such site, or the tables have another version
  4    the catalogue cannot be reached";
