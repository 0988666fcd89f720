//! Arguments of `arpent status`.

use super::options::SettingOptions;
use crate::settings::options::{STATUS, Typed};

/// Arguments of `arpent status`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct StatusArgs {
    /// Show only this site: its URL, or its name in the settings file
    #[arg(value_name = "SITE")]
    pub(crate) site: Option<String>,

    /// Show the fleet of the catalogue at this URL; without URL, that of the settings
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub(crate) catalogue: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 1 if the last good session of a site ended longer ago, e.g. 26h
    ///
    /// A session is good if it was published, unchanged or partial. If a site in the settings has a schedule, only sites with a schedule
    /// count. With --catalogue, only sites with a schedule that are not paused count, and a site without a good session counts from the
    /// time at which it was added.
    #[arg(long, value_name = "T")]
    pub(crate) max_age: Option<String>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<STATUS>,
}

impl StatusArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        let url = self.catalogue.as_ref().filter(|url| !url.is_empty());
        self.settings.0.with("catalogue", url)
    }
}

/// Shown above the options by `--help`.
pub(super) const STATUS_HELP: &str = "\
Show how the last session of each site ended, and when the next one begins

With --config the sites are those of the settings file, otherwise all sites of the state. The time of the next crawl is known if \
arpent daemon runs with the same settings.

With --catalogue, arpent status counts the sites of the catalogue by what they do and by how their last session ended. It lists the \
workers, and the first 20 sites that are set aside. With --max-age it lists the first 20 sites that are late.

arpent status takes no lock and changes nothing. A crawl may run at the same time.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent status
  arpent status -c arpent.toml --max-age 26h
  arpent status --catalogue postgres://arpent@db.example.com/arpent";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    the status was printed
  1    with --max-age: the last good session of a site ended longer ago, or there was none
  2    wrong usage or settings, or the stored data cannot be read
  4    the catalogue cannot be reached";
