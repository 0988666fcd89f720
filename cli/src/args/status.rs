//! Arguments of `arpent status`.

use std::path::PathBuf;

use serde::Serialize;

/// Arguments of `arpent status`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct StatusArgs {
    /// Read settings from this TOML file, and show its sites; without one, all sites of the state
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 1 when a site was last published longer ago, e.g. 26h; of the sites in the settings those count that have
    /// a schedule, if any has one
    #[arg(long, value_name = "T")]
    pub(crate) max_age: Option<String>,
}

/// Shown above the options by `--help`.
pub(super) const STATUS_HELP: &str = "\
Show how the last session of each site ended, and when the next one begins

Nothing is held or changed: a crawl may go on meanwhile. The next crawl is known where arpent daemon runs by the \
same settings.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    as it should be
  1    with --max-age: the set of a site is older, or there is none
  2    wrong usage or settings, or what is known cannot be read";
