//! Arguments of `arpent diff`.

use std::path::PathBuf;

use serde::Serialize;

use super::requests::RequestArgs;

/// Arguments of `arpent diff`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct DiffArgs {
    /// The older set
    #[arg(value_name = "A")]
    #[serde(skip)]
    pub(crate) first: String,

    /// The newer set
    #[arg(value_name = "B")]
    #[serde(skip)]
    pub(crate) second: String,

    /// Print one JSON object
    #[arg(long)]
    #[serde(skip)]
    pub(crate) json: bool,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states, for SITE@N [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    /// Print only errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Shown above the options by `--help`.
pub(super) const DIFF_HELP: &str = "\
Compare two published sets: URLs that were added or removed, and URLs whose lastmod moved

A and B are each a folder, a sitemap or an index (a file, plain or gzipped, or a URL), or SITE@N. SITE@N is the set of a \
crawled site N publishes ago, as for arpent publish --rollback; SITE@0 is the published one. Of a folder that arpent \
published the current files count, of another folder what its only index lists, or else all its sitemaps. A feed counts \
only when it is named itself.

A lastmod that only one of the sets states counts as moved. URLs are compared as they are written. The counts are also \
given by first-level directory, each with its first URLs. The URL of a sitemap is fetched with all that it lists, as \
politely as arpent check does.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    compared: the sets are the same, or they differ
  2    wrong usage or settings
  4    the temporary file cannot be written
  5    a set cannot be read: a file or a sitemap of it is missing or damaged, or a URL did not answer
  6    busy: a session holds the state of SITE
  130  stopped by SIGINT (143: SIGTERM)";
