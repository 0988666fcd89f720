//! Arguments of `arpent page`.

use super::options::SettingOptions;
use crate::settings::options::PAGE;

/// Arguments of `arpent page`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    pub(crate) settings: SettingOptions<PAGE>,
}

/// Shown above the options by `--help`.
pub(super) const PAGE_HELP: &str = "\
Show all sites in a browser, until a signal comes

The page has the sites of the settings, or of the states: how the last session of each ended, its report, and why a URL is listed or \
not. It is at http://127.0.0.1:8080/ unless --page names another address. arpent daemon --page has the same page.

With page_token_file in the settings, whoever logs in with that token can start commands from the page: crawl now, pause, publish once, \
roll back. Without it the page is read only. An address that other machines reach needs the token.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent page
  arpent page -c /etc/arpent/arpent.toml --page 127.0.0.1:9000";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  2    wrong usage or settings, or the address cannot be used
  130  stopped by SIGINT (143: SIGTERM)";
