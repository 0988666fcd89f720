//! Arguments of `arpent crawl`.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    announcing::AnnouncingArgs, entries::EntryArgs, place::PlaceArgs, reporting::ReportingArgs,
    requests::RequestArgs,
};

/// Arguments of `arpent crawl`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE_HELP)]
pub(crate) struct CrawlArgs {
    /// Sites to crawl: the directory of each URL, and everything below it
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    #[serde(flatten)]
    entries: EntryArgs,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    /// Requests in flight per host, at most [default: 4]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Requests",
        hide_short_help = true
    )]
    concurrency: Option<String>,

    /// Sources of URLs [default: links,sitemaps,feeds,list]
    ///
    /// links: links on pages. sitemaps: sitemaps that robots.txt names. feeds: feeds that pages name. list: the lists of --seeds.
    #[arg(
        long,
        value_name = "SOURCES",
        help_heading = "Scope",
        hide_short_help = true
    )]
    discover: Vec<String>,

    /// Also crawl the URLs in this file; - is standard input
    ///
    /// The file has one absolute URL per line, or is a table (CSV), a sitemap or a feed. Repeatable.
    #[arg(long, value_name = "FILE|-", help_heading = "Scope")]
    seeds: Vec<String>,

    /// Crawl the directory of the URL, or its whole origin [default: dir]
    #[arg(
        long,
        value_name = "dir|origin",
        help_heading = "Scope",
        hide_short_help = true
    )]
    scope: Option<String>,

    /// Fetch and list only URLs that match (repeatable)
    #[arg(short, long, value_name = "GLOB", help_heading = "Scope")]
    include: Vec<String>,

    /// Neither fetch nor list URLs that match (repeatable)
    #[arg(short = 'x', long, value_name = "GLOB", help_heading = "Scope")]
    exclude: Vec<String>,

    /// Fetch matching URLs for their links, but do not list them (repeatable)
    #[arg(
        long,
        value_name = "GLOB",
        help_heading = "Scope",
        hide_short_help = true
    )]
    follow_only: Vec<String>,

    /// List matching URLs without fetching them (repeatable)
    #[arg(
        long,
        value_name = "GLOB",
        help_heading = "Scope",
        hide_short_help = true
    )]
    list_only: Vec<String>,

    /// Ignore these rules of your own site (comma-separated, repeatable)
    #[arg(
        long,
        value_name = "robots,noindex,canonical,retry-after",
        help_heading = "Scope",
        hide_short_help = true
    )]
    ignore: Vec<String>,

    /// Stop after N pages [default: 1000000]
    ///
    /// The same command continues the crawl.
    #[arg(long, value_name = "N", help_heading = "Scope")]
    max_pages: Option<String>,

    /// Stop after this time; the same command continues [default: 24h]
    #[arg(long, value_name = "T", help_heading = "Scope", hide_short_help = true)]
    max_time: Option<String>,

    /// Fetch only pages that are at most N links from the start [default: unlimited]
    #[arg(long, value_name = "N", help_heading = "Scope", hide_short_help = true)]
    max_depth: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    announcing: AnnouncingArgs,

    /// Start with an empty state; the old state is renamed, not deleted
    #[arg(long, help_heading = "Run", hide_short_help = true)]
    fresh: bool,

    #[command(flatten)]
    #[serde(flatten)]
    reporting: ReportingArgs,
}

/// Shown above the options by `--help`.
pub(super) const CRAWL_HELP: &str = "\
Crawl each site and publish its sitemaps

A site is the directory of its URL and everything below it. A URL without a scheme means https. arpent obeys robots.txt, \
limits the rate of its requests, and publishes the sitemaps when the crawl ends. Ctrl-C stops the crawl; the same command \
continues it.

Most options are also settings (--max-pages is max_pages) in the settings file and variables (ARPENT_MAX_PAGES). An option \
replaces the variable, the variable replaces the file. config/default.toml documents every setting.

Without --config, arpent reads the first of these files that exists:
  - arpent.toml in the current folder
  - arpent/arpent.toml in the user's configuration folder
  - /etc/arpent/arpent.toml";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent crawl https://www.example.com/
  arpent crawl https://www.example.com/docs/ -o public/maps --max-pages 5000
  arpent crawl example.com -x '/private/*' --with images
  arpent crawl https://www.example.com/ --rate 2 --contact ops@example.com";

/// Shown below the examples by `--help`; [`crate::exit_code`] has the details.
const MORE_HELP: &str = "\
Globs:
  A glob that begins with http:// or https:// is compared with the whole URL.
  Any other glob is compared with path and query. The whole text has to match.
  * matches any characters (slashes too), ? one character, [?] a question mark.
  [a-z] matches one of these characters, {a,b} one of these texts.
    /private/*      everything below /private/
    *.pdf           every URL that ends with .pdf
    *[?]*           every URL with a query
  If several rules match, the first of these decides: exclude, follow-only, list-only, include.

Times have a unit: 500ms, 2s, 1m, 24h. A number without a unit is seconds.
arpent reads a password from the variable ARPENT_BASIC_AUTH (user:password) or the setting basic_auth.

Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the published sitemaps stay
  5    the site could not be crawled
  6    busy: another session uses the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM); the same command continues the crawl";
