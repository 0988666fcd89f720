//! Arguments of `arpent report`.

use std::path::PathBuf;

use super::options::SettingOptions;
use crate::settings::options::REPORT;

/// Arguments of `arpent report`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct ReportArgs {
    /// URL of a crawled site, or of a page of it; optional if there is only one site
    #[arg(value_name = "SITE")]
    pub(crate) site: Option<String>,

    /// Write the report as one HTML page that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write urls.csv, links.csv, conflicts.csv, patterns.csv and sessions.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,

    /// Write one JSON object per URL, link, conflict, pattern and session; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) ndjson: Option<PathBuf>,

    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<REPORT>,
}

/// Shown above the options by `--help`.
pub(super) const REPORT_HELP: &str = "\
Report what the crawls of a site found: URLs by reason, broken and redirected links with the pages that hold them, conflicts, \
copies, closed patterns, slow pages, growth

arpent reads the report from the state. It sends no request, takes no lock and changes nothing. During a crawl the report shows the \
last publish.

Without --html, --csv, --ndjson and --json the report is printed as text. arpent why URL explains one URL.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent report https://www.example.com/
  arpent report https://www.example.com/ --html report.html";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    reported
  2    wrong usage or settings, there is no state of the site, or a file cannot be created
  4    the state cannot be read, or a file cannot be written";
