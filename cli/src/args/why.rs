//! Arguments of `arpent why`.

use std::path::PathBuf;

use serde::Serialize;

use super::requests::RequestArgs;

/// Arguments of `arpent why`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct WhyArgs {
    /// The URL
    #[arg(value_name = "URL")]
    #[serde(skip)]
    pub(crate) url: String,

    /// The crawled site, for a URL that lies outside of it
    #[arg(long, value_name = "SITE")]
    #[serde(skip)]
    pub(crate) site: Option<String>,

    /// Ask for the URL now, and for where it redirects: what it answers, and how that differs from what the crawl found
    #[arg(long)]
    #[serde(skip)]
    pub(crate) live: bool,

    /// Print one JSON object
    #[arg(long)]
    #[serde(skip)]
    pub(crate) json: bool,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,
}

/// Shown above the options by `--help`.
pub(super) const WHY_HELP: &str = "\
Show why a URL is listed or not: how it was found, what it answered, which rule decided, and what to do about it

The answer comes from the state that the crawls of the site left; nothing is requested, held or changed, and a crawl may go \
on meanwhile. Of several crawled directories the deepest that holds the URL counts. A URL that no crawl met is judged by the \
scope and by robots.txt as it was read last; the rules of a crawl that has a settings file are known with --config.

With --live the URL is asked for now, as politely as a crawl asks, with its redirects inside of the crawl, and judged by the same rules. A \
URL that a crawl would not ask for (robots.txt, an exclude rule, out of scope) is not asked for. It need not be that of a crawled \
site: the site is then the directory of the URL. The options of requests hold for --live only.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    explained, whether it is listed or not
  2    wrong usage or settings, or without --live there is no state of a site with this URL
  4    the state cannot be read
  130  stopped by SIGINT while --live waited (143: SIGTERM)";
