//! Arguments of `arpent build`.

use std::path::PathBuf;

use serde::Serialize;

use super::{entries::EntryArgs, reporting::ReportingArgs};

/// Arguments of `arpent build`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct BuildArgs {
    /// Lists of URLs, sitemaps or folders of HTML files; - is standard input
    #[arg(value_name = "FILE|DIR|-")]
    inputs: Vec<String>,

    /// Directory of the site; the sitemaps list only URLs in it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Format of the lists [default: detected from their first bytes]
    #[arg(long, value_name = "text|csv|ndjson|sitemap", help_heading = "Input")]
    input_format: Option<String>,

    /// Publish nothing if a line or a value cannot be used [default: leave it out, exit code 3]
    #[arg(long, help_heading = "Input")]
    strict: bool,

    /// Use the time of a file as the lastmod of its page, if it is plausible; or never [default: mtime]
    #[arg(
        long,
        value_name = "mtime|none",
        help_heading = "Input",
        hide_short_help = true
    )]
    lastmod: Option<String>,

    /// URL of the file about.html: /about (drop), /about.html (keep), or by its canonical link (auto) [default: auto]
    #[arg(
        long,
        value_name = "drop|keep|auto",
        help_heading = "Input",
        hide_short_help = true
    )]
    html_suffix: Option<String>,

    /// List only URLs that match (repeatable)
    #[arg(short, long, value_name = "GLOB", help_heading = "Input")]
    include: Vec<String>,

    /// Do not list URLs that match (repeatable)
    #[arg(short = 'x', long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,

    /// Folder of the sitemaps [default: sitemaps/SITE]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Folder of the states; with it, arpent also stores the state of lists
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        hide_short_help = true
    )]
    state: Option<String>,

    /// URL where the sitemaps will be served [default: the base URL]
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    entries: EntryArgs,

    #[command(flatten)]
    #[serde(flatten)]
    reporting: ReportingArgs,
}

/// Shown above the options by `--help`.
pub(super) const BUILD_HELP: &str = "\
Publish the sitemaps of a site from lists and folders, without a request

A list is one of these, plain or gzipped:
  - text with one URL per line
  - CSV with a header line that names url, lastmod, changefreq and priority
  - JSON objects with these keys, one per line
  - a sitemap

Relative URLs are relative to the base URL. If several entries have the same URL, arpent uses the entry with the newest lastmod, \
then the entry with more metadata.

A folder is read like a site. arpent reads noindex, canonical links and refreshes in the HTML files, and obeys a robots.txt in the \
folder. index.html is the page of its folder. If the host serves about.html as /about, write canonical links into the pages or use \
--html-suffix drop.

Every option is also a setting (--base-url is base_url) and a variable (ARPENT_BASE_URL). An option replaces the variable, the \
variable replaces the settings file.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent build --base-url https://www.example.com/ urls.txt
  arpent build --base-url https://www.example.com/docs/ public/";

/// Shown below the examples by `--help`; [`crate::exit_code`] has the details.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, an input cannot be opened, or an input is faulty (with --strict)
  3    published, but a line, a value or a file of an input could not be used
  4    refused to publish, the published sitemaps stay
  6    busy: another session uses the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
