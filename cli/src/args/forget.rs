//! Arguments of `arpent forget`.

use super::options::SettingOptions;
use crate::settings::options::{FORGET, Typed};

/// Arguments of `arpent forget`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct ForgetArgs {
    /// URLs of crawled sites
    #[arg(value_name = "SITE", required = true)]
    urls: Vec<String>,

    /// Print one JSON object for each site
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<FORGET>,
}

impl ForgetArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        self.settings.0.with_all("urls", &self.urls)
    }
}

/// Shown above the options by `--help`.
pub(super) const FORGET_HELP: &str = "\
Remove all data of a site: its state, its names and its line in status

arpent removes:
  - the state of the crawls and of the builds, and states that were renamed because of damage
  - the sets that are archived for a rollback
  - the record of the last session
  - the start URLs that led to the site

The published sitemaps stay. The times until which hosts asked arpent to wait (Retry-After) stay, too. The next crawl of the site \
is its first.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent forget https://www.example.com/ --dry-run";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    removed
  2    wrong usage or settings, or there is no data of the site
  4    a file cannot be removed
  6    busy: a session uses the state";
