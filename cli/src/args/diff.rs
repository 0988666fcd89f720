//! Arguments of `arpent diff`.

use super::options::SettingOptions;
use crate::settings::options::DIFF;

/// Arguments of `arpent diff`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct DiffArgs {
    /// The older set
    #[arg(value_name = "A")]
    pub(crate) first: String,

    /// The newer set
    #[arg(value_name = "B")]
    pub(crate) second: String,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<DIFF>,
}

/// Shown above the options by `--help`.
pub(super) const DIFF_HELP: &str = "\
Compare two published sets: URLs that were added or removed, and URLs whose lastmod changed

A and B are each one of these:
  - a folder
  - a sitemap or an index: a file, plain or gzipped, or a URL
  - SITE@N, the set of a crawled site N publishes ago; SITE@0 is the published set

In a folder that arpent published, the current files are read. In another folder, arpent reads the files that its only index lists, \
or otherwise all sitemaps. A feed is read only if it is named itself. A URL of a sitemap is fetched with all sitemaps that it \
lists, with the pace of arpent check.

URLs are compared byte by byte. A lastmod that only one of the sets has counts as changed. arpent also prints the counts for each \
first-level directory, with its first URLs.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent diff https://www.example.com/@1 https://www.example.com/@0
  arpent diff old/sitemap.xml.gz https://www.example.com/sitemap.xml";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    compared: the sets are the same, or they differ
  2    wrong usage or settings
  4    the temporary file cannot be written
  5    a set cannot be read: a file is missing or damaged, or a URL did not answer
  6    busy: a session uses the state of SITE
  130  stopped by SIGINT (143: SIGTERM)";
