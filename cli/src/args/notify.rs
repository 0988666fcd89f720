//! Arguments of `arpent notify`.

use super::options::SettingOptions;
use crate::settings::options::{NOTIFY, Typed};

/// Arguments of `arpent notify`.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each switch")]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct NotifyArgs {
    /// URLs of crawled sites
    #[arg(value_name = "SITE")]
    urls: Vec<String>,

    /// Print where to submit the sitemaps by hand, and send nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// Notify engines of every URL, not only of changes
    ///
    /// Only with IndexNow.
    #[arg(long = "all")]
    pub(crate) submit_all: bool,

    /// Notify now, although the set is not served yet
    ///
    /// Otherwise arpent reads the set back from where it is served, and notifies once readers get it.
    #[arg(long, conflicts_with = "list")]
    pub(crate) now: bool,

    /// Send each recipient of messages a test message, and notify nobody
    ///
    /// Recipients are those of the setting message.
    #[arg(long, conflicts_with_all = ["list", "now", "submit_all", "json"])]
    pub(crate) test_messages: bool,

    /// Print one JSON object for each site
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<NOTIFY>,
}

impl NotifyArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        self.settings.0.with_all("urls", &self.urls)
    }
}

/// Shown above the options by `--help`.
pub(super) const NOTIFY_HELP: &str = "\
Notify search engines of the published set

arpent prints the Sitemap line that robots.txt should have, and looks for it in the live robots.txt. The options, or the table \
[notify] of the settings, add these notifications:
  - IndexNow: an engine gets the URLs that were added, changed or removed since the last notification.
  - Ping: engines that still support it get a request with the URL of the sitemap.

A crawl with the same settings sends these notifications itself after a change. A notification does not make an engine index a URL.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent notify https://www.example.com/ --dry-run
  arpent notify https://www.example.com/ --indexnow";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    everything was sent, or there was nothing to send
  2    wrong usage or settings, or there is no published set
  3    a notification failed, or the set is not served; the next arpent notify or crawl sends it again
  6    busy: a session uses the state
  130  stopped by SIGINT (143: SIGTERM)";
