//! Options of the commands for sites that are, or were, crawled: where a set is written and served, and what is known
//! of the site.

use serde::Serialize;

/// Where things are.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct PlaceArgs {
    /// Where the sitemaps are written [default: sitemaps/SITE]; with several sites, DIR/SITE each
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Where progress and memory are kept, one SQLite file per site [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served, on another host too [default: the scope's directory]; with several sites, URL/SITE each
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Write the site as what is at this URL: crawl a staging copy, list production (which is never asked)
    #[arg(id = "as", long = "as", value_name = "URL", help_heading = "Output")]
    #[serde(rename = "as")]
    written_as: Option<String>,
}
