//! Arguments of `arpent crawl`.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    announcing::AnnouncingArgs, entries::EntryArgs, place::PlaceArgs, reporting::ReportingArgs,
    requests::RequestArgs,
};

/// Arguments of `arpent crawl`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CrawlArgs {
    /// Sites to crawl: the directory of each URL, and everything below it
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE")]
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
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    concurrency: Option<String>,

    /// Sources of URLs: links on pages, the sitemaps that robots.txt names, feeds that pages name, the lists of --seeds [default:
    /// links,sitemaps,feeds,list]
    #[arg(long, value_name = "SOURCES", help_heading = "Discovery")]
    discover: Vec<String>,

    /// Crawl the URLs in this file too: one absolute URL per line, a table, a sitemap or feed; - is standard input (repeatable)
    #[arg(long, value_name = "FILE|-", help_heading = "Discovery")]
    seeds: Vec<String>,

    /// Crawl the directory of the URL, or its whole origin [default: dir]
    #[arg(long, value_name = "dir|origin", help_heading = "Scope")]
    scope: Option<String>,

    /// Fetch and list only URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    include: Vec<String>,

    /// Neither fetch nor list URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    exclude: Vec<String>,

    /// Fetch matching URLs for their links, but do not list them (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    follow_only: Vec<String>,

    /// List matching URLs without fetching them (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    list_only: Vec<String>,

    /// For your own site only: ignore its robots, noindex, canonical or retry-after (comma-separated, repeatable)
    #[arg(
        long,
        value_name = "robots,noindex,canonical,retry-after",
        help_heading = "Scope"
    )]
    ignore: Vec<String>,

    /// Stop after this many pages; the same command later goes on [default: 1000000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_pages: Option<String>,

    /// Stop after this time; the same command later goes on [default: 24h]
    #[arg(long, value_name = "T", help_heading = "Limits")]
    max_time: Option<String>,

    /// Do not fetch pages that are more hops away from the start [default: unlimited]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_depth: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    announcing: AnnouncingArgs,

    /// Forget the state of the site (the old state is set aside, not deleted)
    #[arg(long, help_heading = "Run")]
    fresh: bool,

    #[command(flatten)]
    #[serde(flatten)]
    reporting: ReportingArgs,
}

/// Shown above the options by `--help`.
pub(super) const CRAWL_HELP: &str = "\
Crawl each site and publish its sitemaps

Every option is also a setting of the same name (--max-pages is max_pages) in the settings file, and \
a variable ARPENT_<NAME> (ARPENT_MAX_PAGES). Options win over variables, variables over the file. \
config/default.toml documents all settings, those without an option too.";

/// Shown below the options; [`crate::exit_code`] has the details.
const EXIT_CODES: &str = "\
Times are written like 500ms, 2s, 1m, 24h; a number alone is seconds.

Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the published sitemaps stay
  5    the site could not be crawled
  6    busy: another session holds the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM); the same command goes on where it stopped";
