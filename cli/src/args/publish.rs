//! Arguments of `arpent publish`.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    announcing::AnnouncingArgs, entries::EntryArgs, place::PlaceArgs, reporting::ReportingArgs,
    requests::RequestArgs,
};

/// Arguments of `arpent publish`.
#[derive(Debug, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct PublishArgs {
    /// Sites that were crawled, as they were given to arpent crawl
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// Restore the sitemaps that stood before the last publish, or N publishes ago
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) rollback: Option<u32>,

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

    /// List only URLs that match (repeatable)
    #[arg(short, long, value_name = "GLOB", help_heading = "Scope")]
    include: Vec<String>,

    /// Do not list URLs that match (repeatable)
    #[arg(short = 'x', long, value_name = "GLOB", help_heading = "Scope")]
    exclude: Vec<String>,

    /// For your own site only: ignore its noindex or canonical links (comma-separated, repeatable)
    #[arg(long, value_name = "noindex,canonical", help_heading = "Scope")]
    ignore: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    #[command(flatten)]
    #[serde(flatten)]
    announcing: AnnouncingArgs,

    #[command(flatten)]
    #[serde(flatten)]
    reporting: ReportingArgs,
}

/// Shown above the options by `--help`.
pub(super) const PUBLISH_HELP: &str = "\
Publish again what the last crawl found, without crawling

The stored pages are judged by the current settings and by the last robots.txt, and \
published as after a crawl. What would have to be fetched for that stays as it is. With --force a set is published that \
the guard refused.

The last three published sets are kept beside the state; --rollback restores the one before the last, as it was, where \
it stands. Later decisions of crawls are dropped, unchanged pages keep their dates, and changes of \
the site show with the next crawl.

The settings decide who is notified, as after a crawl: hooks, engines, a robots.txt file. After --rollback an engine of \
IndexNow is notified of every URL that comes or goes with it; the pages themselves did not change. A dry run changes \
nothing and notifies nobody.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, or there is nothing to publish or restore
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the published sitemaps stay
  6    busy: a session holds the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
