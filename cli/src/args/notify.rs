//! Arguments of `arpent notify`.

use serde::Serialize;

use super::{requests::RequestArgs, state::StateArgs};

/// Arguments of `arpent notify`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct NotifyArgs {
    /// Published sites, as they were given to arpent crawl
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// Print where to submit the sitemaps by hand, and send nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// Print the notifications, and send nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,

    /// Notify engines of every URL, not only of changes
    ///
    /// Only with IndexNow.
    #[arg(long)]
    pub(crate) submit_all: bool,

    /// Print one JSON object for each site
    #[arg(long)]
    #[serde(skip)]
    pub(crate) json: bool,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) state: StateArgs,

    /// Notify search engines of changed URLs by IndexNow
    #[arg(long, help_heading = "Notify")]
    indexnow: bool,

    /// URL of the engine [default: the engine of api.indexnow.org]
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Notify",
        hide_short_help = true
    )]
    indexnow_endpoint: Option<String>,

    /// File with the key [default: a new key, stored in the state]
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Notify",
        hide_short_help = true
    )]
    indexnow_key_file: Option<String>,

    /// URL of the file on the site that proves the key [default: KEY.txt, written to the output]
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Notify",
        hide_short_help = true
    )]
    indexnow_key_location: Option<String>,

    /// Request this URL, with the URL of the sitemap in place of {sitemap} (repeatable)
    #[arg(long, value_name = "URL", help_heading = "Notify")]
    ping: Vec<String>,

    /// Add the missing Sitemap lines to this robots.txt file
    #[arg(long, value_name = "FILE", help_heading = "Notify")]
    robots_file: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    /// Print only errors on stderr
    #[arg(short, long)]
    quiet: bool,

    /// Print more on stderr; -vv and -vvv print still more
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Shown above the options by `--help`.
pub(super) const NOTIFY_HELP: &str = "\
Notify search engines of the published set

arpent prints the Sitemap line that robots.txt should have, and looks for it in the live robots.txt. The options, or the table \
[notify] of the settings, add these notifications:
  - IndexNow: an engine gets the URLs that were added, changed or removed since the last notification.
  - Ping: engines that still support it get a request with the URL of the sitemap.
  - robots.txt file: arpent adds the missing Sitemap lines.

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
  3    a notification failed; the next arpent notify or crawl sends it again
  6    busy: a session uses the state
  130  stopped by SIGINT (143: SIGTERM)";
