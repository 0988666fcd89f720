//! What was typed after `arpent check`.

use std::path::PathBuf;

use sitemap_core::validate::DEFAULT_REPEATS;

/// What was typed after `arpent check`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// What to check: files, folders with all sitemaps in them, - for standard input
    #[arg(value_name = "FILE|DIR|-", required_unless_present = "explain")]
    pub(crate) paths: Vec<PathBuf>,

    /// Where it is served: the URL of the file, or with a / at the end of its folder
    #[arg(long, value_name = "URL")]
    pub(crate) at: Option<String>,

    /// What the robots.txt of a host says: its Sitemap lines prove that a sitemap may list URLs of
    /// this host although it stands on another one (repeatable)
    #[arg(long, value_name = "https://HOST=FILE")]
    pub(crate) robots: Vec<String>,

    /// How to say it
    #[arg(long, value_name = "text|json", default_value = "text", value_parser = ["text", "json"])]
    pub(crate) format: String,

    /// How many findings of one kind are shown per file; more are counted
    #[arg(long, value_name = "N", default_value_t = DEFAULT_REPEATS)]
    pub(crate) repeats: u64,

    /// Explain a rule, such as R13, and check nothing
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,
}

/// Shown above the options by `--help`.
pub(super) const CHECK_HELP: &str = "\
Check sitemaps, indexes, feeds and URL lists in files and folders

Every rule of the sitemap protocol that applies is checked, with the limits, the location rules and \
the extensions of Google. A folder is checked as a set: its indexes, what they list, and sitemaps that \
no index lists. Without --at it is taken to be served where its index says that its files are.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    no errors (but perhaps warnings and notes)
  1    errors were found
  2    wrong usage, or something could not be read";
