//! Arguments of `arpent build`.

use std::path::PathBuf;

use serde::Serialize;

use super::{entries::EntryArgs, reporting::ReportingArgs};

/// Arguments of `arpent build`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct BuildArgs {
    /// Lists of URLs, sitemaps, or folders of HTML files; - is standard input
    #[arg(value_name = "FILE|DIR|-")]
    inputs: Vec<String>,

    /// The directory of the site that the sitemaps are for: it lists only what is in it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// The format of the lists [default: found out from their first bytes]
    #[arg(long, value_name = "text|csv|ndjson|sitemap", help_heading = "Input")]
    input_format: Option<String>,

    /// Publish nothing when a line or a value cannot be used [default: it is left out, exit code 3]
    #[arg(long, help_heading = "Input")]
    strict: bool,

    /// Meaning of the times of files: the change of a page, if plausible; or nothing [default: mtime]
    #[arg(
        long,
        value_name = "mtime|none",
        help_heading = "Input",
        hide_short_help = true
    )]
    lastmod: Option<String>,

    /// URL of about.html of a folder: at /about, at /about.html, or at /about if its canonical link says so [default: auto]
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

    /// Folder of the state of folders of HTML, and of lists when this is given
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served [default: the base URL]
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

A list has one URL per line; or it is a table (CSV, with a header line that names url, lastmod, \
changefreq, priority), or JSON objects with these keys, one per line; or an existing sitemap. Gzip is \
undone. Relative URLs are relative to the base URL. Of several entries for one URL the one with the \
newest lastmod counts, then the one with more metadata.

A folder is read like a site: its HTML files are judged by their content (noindex, canonical, refresh), \
index.html is its folder's page, and a robots.txt in it is obeyed. On a host that serves about.html as \
/about, use canonical links in the pages or --html-suffix drop.

Every option is also a setting of the same name (--base-url is base_url) in the settings file, and a \
variable ARPENT_<NAME>. Options win over variables, variables over the file.";

/// Shown below the options; [`crate::exit_code`] has the details.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, an input that cannot be opened, or --strict and a faulty input
  3    published, but a line or a value of an input, or a file of a folder, could not be used
  4    refused to publish, the published sitemaps stay
  6    busy: another session holds the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
