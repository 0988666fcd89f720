//! Arguments of `arpent notify`.

use std::path::PathBuf;

use serde::Serialize;

/// Arguments of `arpent notify`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct NotifyArgs {
    /// Sites whose sitemaps were published, as they were given to arpent crawl
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// Print where to submit the sitemaps by hand, and send nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// Print what would be sent and written, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Notify engines of every URL of the published set, not only of changes; needs IndexNow
    #[arg(long)]
    pub(crate) submit_all: bool,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    /// Notify an engine of IndexNow of changed URLs
    #[arg(long, help_heading = "Notify")]
    indexnow: bool,

    /// Engine [default: that of api.indexnow.org]
    #[arg(long, value_name = "URL", help_heading = "Notify")]
    indexnow_endpoint: Option<String>,

    /// A file with the key [default: a key is made and kept in the state]
    #[arg(long, value_name = "FILE", help_heading = "Notify")]
    indexnow_key_file: Option<String>,

    /// The URL of the file on the site that proves the key [default: KEY.txt in the output, which is written]
    #[arg(long, value_name = "URL", help_heading = "Notify")]
    indexnow_key_location: Option<String>,

    /// Ask for this URL, with the sitemap's in the place of {sitemap} (repeatable)
    #[arg(long, value_name = "URL", help_heading = "Notify")]
    ping: Vec<String>,

    /// Write the Sitemap lines that it lacks into this robots.txt file
    #[arg(long, value_name = "FILE", help_heading = "Notify")]
    robots_file: Option<String>,

    /// Requests per second and host, at most [default: 10]
    #[arg(long, value_name = "N|unlimited", help_heading = "Requests")]
    rate: Option<String>,

    /// The User-Agent header [default: arpent/VERSION]
    #[arg(long, value_name = "S", help_heading = "Requests")]
    user_agent: Option<String>,

    /// Connect to ADDRESS for HOST:PORT instead of asking DNS (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Requests")]
    resolve: Vec<String>,

    /// Send requests through this proxy; proxy variables of the environment are ignored
    #[arg(long, value_name = "URL", help_heading = "Requests")]
    proxy: Option<String>,

    /// Trust the certificate authorities in this PEM file as well
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    ca_file: Option<String>,

    /// Print only errors on stderr
    #[arg(short, long)]
    quiet: bool,

    /// Print more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Shown above the options by `--help`.
pub(super) const NOTIFY_HELP: &str = "\
Notify search engines of the published set

The line that robots.txt should have is printed, and looked for in the live robots.txt. What the settings (table \
[notify]) or the options ask for is done: an engine of IndexNow is notified of URLs that were added, changed or removed \
since the last time, which a crawl notes in its state; engines that still take it get the request of the sitemap \
protocol; a robots.txt file gets its line. A crawl with the same settings does all of this by itself when it \
changed something.

A notification makes no engine index a URL, and a URL without a sitemap is not excluded by that.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    all was sent, or there was nothing to send
  2    wrong usage or settings, or nothing was published yet
  3    a notification failed; it is sent with the next try
  6    busy: a session holds the state
  130  stopped by SIGINT (143: SIGTERM)";
