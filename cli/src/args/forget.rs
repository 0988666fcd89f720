//! Arguments of `arpent forget`.

use std::path::PathBuf;

use serde::Serialize;

/// Arguments of `arpent forget`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct ForgetArgs {
    /// Sites that were crawled: a URL that was given to arpent crawl, or that of the site
    #[arg(value_name = "SITE", required = true)]
    urls: Vec<String>,

    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,
}

/// Shown above the options by `--help`.
pub(super) const FORGET_HELP: &str = "\
Remove all data of a site: its state, its names and its line in status

The state is removed with that of builds, states that were set aside, the sets that are kept for a rollback, the record \
of the last session, and the start URLs that led to the site. The published sitemaps are not touched, and how long a host asked to \
wait stays known. The next crawl of the site is its first.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    removed
  2    wrong usage or settings, or nothing is known of the site
  4    a file cannot be removed
  6    busy: a session holds the state";
