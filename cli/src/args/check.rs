//! Arguments of `arpent check`.

use std::path::PathBuf;

use super::{findings::FindingArgs, options::SettingOptions};
use crate::settings::options::CHECK;

/// Arguments of `arpent check`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// Files, folders, URLs of sitemaps or sites; - is standard input
    #[arg(value_name = "FILE|DIR|URL|-", required_unless_present = "explain")]
    pub(crate) paths: Vec<PathBuf>,

    /// URL where the file is served, or with / at its end, its folder
    #[arg(long, value_name = "URL")]
    // The setting of this name is that of `build`.
    pub(crate) base_url: Option<String>,

    /// Read robots.txt of this host from a file instead of requesting it (repeatable)
    ///
    /// The Sitemap lines of the file prove that a sitemap on another host may list URLs of this host.
    #[arg(long, value_name = "https://HOST=FILE", hide_short_help = true)]
    pub(crate) robots: Vec<String>,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Print the explanation of a rule, such as R13, and check nothing
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,

    /// Request N of the listed pages [default: 0]
    ///
    /// The pages are spread evenly over the sitemaps. A page that does not answer 200, redirects, has noindex or names another canonical URL is a finding.
    #[arg(long, value_name = "N|all", help_heading = "URLs")]
    pub(crate) pages: Option<String>,

    /// Compare what sites serve with the sets that arpent published
    ///
    /// arpent reads the index, the files that changed and some of the others, and looks for the Sitemap lines of robots.txt.
    #[arg(
        long,
        conflicts_with_all = ["pages", "base_url", "robots", "baseline"],
        help_heading = "URLs"
    )]
    pub(crate) served: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<CHECK>,
}

/// Shown above the options by `--help`.
pub(super) const CHECK_HELP: &str = "\
Check sitemaps, indexes, feeds and URL lists in files and folders, or where they are served

arpent checks the rules of the sitemap protocol, with the limits, the location rules and the extensions of Google.

A folder is checked as a set: the indexes, the files that they list, and the sitemaps that no index lists. arpent takes the URL of \
the folder from the first of these that is known:
  1. the option --base-url
  2. the URLs in the only index of the folder
  3. the root of the host whose sitemaps the robots.txt in the folder names
Otherwise each file is checked alone. A page that no sitemap lists is not a finding (R80).

The URL of a sitemap is fetched with all sitemaps that it lists. The URL of a page or a site means the sitemaps that its \
robots.txt names, or /sitemap.xml. arpent obeys robots.txt of each host and reports listed URLs that it disallows.

The options, variables (ARPENT_<NAME>) and settings of requests are those of arpent crawl.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent check sitemap.xml
  arpent check sitemaps/https_www.example.com --format github
  arpent check https://www.example.com/ --served";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    no errors (with --fail-on warning no warnings either)
  1    errors (with --fail-on warning also warnings); a sitemap whose status is not 200 is an error; with --served, a set that is
       not served
  2    wrong usage, or a file could not be read
  5    a URL or robots.txt of its host did not answer, or a host accepts no requests now
  130  stopped by SIGINT (143: SIGTERM)
If several apply, the exit code is the first of 130, 2, 5, 1. With 5, errors may have been found as well.";
