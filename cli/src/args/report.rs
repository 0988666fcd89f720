//! Arguments of `arpent report`.

use std::path::PathBuf;

use serde::Serialize;

/// Arguments of `arpent report`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct ReportArgs {
    /// The crawled site, or a URL of it; it may be left out where there is only one
    #[arg(value_name = "SITE")]
    #[serde(skip)]
    pub(crate) site: Option<String>,

    /// Write one page that a browser shows, also offline
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) html: Option<PathBuf>,

    /// Write urls.csv, links.csv, conflicts.csv, patterns.csv and runs.csv into this folder
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) csv: Option<PathBuf>,

    /// Write one JSON object per line: every URL, link, conflict, pattern and session; - is standard output
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) ndjson: Option<PathBuf>,

    /// Print the JSON schema of --ndjson
    #[arg(long, exclusive = true)]
    #[serde(skip)]
    pub(crate) schema: bool,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,
}

/// Shown above the options by `--help`.
pub(super) const REPORT_HELP: &str = "\
Report what the crawls of a site found: URLs by reason, broken and redirected links with the pages that hold them, conflicts, \
copies, closed patterns, slow pages, growth

The report comes from the state; nothing is requested, held or changed, and a crawl may go on meanwhile: then it is that of the \
last publish. Without --html, --csv and --ndjson it is printed. arpent why URL explains one URL.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    reported
  2    wrong usage or settings, there is no state of this site, or there can be no such file
  4    the state cannot be read, or a file cannot be written now";
