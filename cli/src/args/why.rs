//! Arguments of `arpent why`.

use super::options::SettingOptions;
use crate::settings::options::WHY;

/// Arguments of `arpent why`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct WhyArgs {
    /// URL to explain
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// The crawled site, for a URL outside of it
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,

    /// Also request the URL now, and compare the answer with the crawl
    ///
    /// arpent follows the redirects of the URL.
    #[arg(long)]
    pub(crate) live: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<WHY>,
}

/// Shown above the options by `--help`.
pub(super) const WHY_HELP: &str = "\
Show why a URL is listed or not: how it was found, what it answered, which rule decided, and what to do

arpent reads the answer from the state of the crawls. It sends no request, takes no lock and changes nothing. A crawl may run at \
the same time. If several crawled directories contain the URL, the deepest one is used.

A URL that no crawl found is judged by the scope and by the last robots.txt. If the site is crawled with a settings file, name the \
file with --config.

With --live, arpent also requests the URL now, with the pace of a crawl, and judges the answer by the same rules. It follows redirects \
inside the crawl. It does not request a URL that a crawl would not request (robots.txt, exclude, out of scope). If no crawled site \
has the URL, the site is the directory of the URL. The options of requests apply to --live only.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent why https://www.example.com/about
  arpent why https://www.example.com/about --live";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    explained
  2    wrong usage or settings, or no crawled site has this URL (without --live)
  4    the state cannot be read
  130  stopped by SIGINT during --live (143: SIGTERM)";
