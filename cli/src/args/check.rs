//! Arguments of `arpent check`.

use std::path::PathBuf;

use serde::Serialize;

use super::{findings::FindingArgs, requests::RequestArgs};

/// Arguments of `arpent check`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// Documents to check: files, folders with all sitemaps in them, URLs of sitemaps or of sites, - for standard input
    #[arg(value_name = "FILE|DIR|URL|-", required_unless_present = "explain")]
    #[serde(skip)]
    pub(crate) paths: Vec<PathBuf>,

    /// URL of a file, or with a / at the end that of its folder
    #[arg(long, value_name = "URL")]
    // The setting of this name is that of `build`.
    #[serde(skip)]
    pub(crate) base_url: Option<String>,

    /// The robots.txt of a host, which is then not requested: its Sitemap lines prove that a sitemap on another host may list
    /// URLs of this one (repeatable)
    #[arg(long, value_name = "https://HOST=FILE", hide_short_help = true)]
    pub(crate) robots: Vec<String>,

    #[command(flatten)]
    #[serde(skip)]
    pub(crate) findings: FindingArgs,

    /// Explain a rule, such as R13, and check nothing
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,

    /// Ask for so many of the listed pages, spread evenly, or for all: do they answer 200, without a redirect, noindex or
    /// another canonical address? [default: 0]
    #[arg(long, value_name = "N|all", help_heading = "URLs")]
    pub(crate) pages: Option<String>,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE", help_heading = "URLs")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    /// Print only errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Shown above the options by `--help`.
pub(super) const CHECK_HELP: &str = "\
Check sitemaps, indexes, feeds and URL lists in files and folders, or where they are served

Every rule of the sitemap protocol that applies is checked, with the limits, the location rules and \
the extensions of Google. A folder is checked as a set: its indexes, what they list, and sitemaps that \
no index lists. It is served at the URL of --base-url, else where its only index lists its files, else at \
the root of the host whose sitemaps its robots.txt names; else each file is checked alone. Pages that no \
sitemap lists are not a finding: absence excludes nothing (R80), robots.txt and noindex do.

The URL of a sitemap is fetched with all that it lists; that of a page or a site means the sitemaps that \
its robots.txt names, or /sitemap.xml. The robots.txt of each host is obeyed, proves sitemaps that list \
URLs of this host from another one, and decides which listed URLs are disallowed. How requests are sent is \
set as for a crawl: by options, variables ARPENT_<NAME>, or the settings file.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    no errors (but perhaps warnings and notes; with --fail-on warning no warnings either)
  1    errors were found, or with --fail-on warning also warnings; a sitemap that answers with another status than 200 is one
  2    wrong usage, or a file could not be read
  5    a URL, or the robots.txt of its host, did not answer, or a host takes no requests now
  130  stopped by SIGINT (143: SIGTERM)
Of several, 130 goes before 2, 2 before 5, and 5 before 1: with 5, errors may have been found as well.";
