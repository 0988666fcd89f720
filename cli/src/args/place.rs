//! Options of the commands for sites that are, or were, crawled: places of the set and of the state.

use serde::Serialize;

/// Options of places.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct PlaceArgs {
    /// Folder of the sitemaps [default: sitemaps/SITE]; with several sites, DIR/SITE each
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Folder of the states, one SQLite file per site [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served, on another host too [default: the scope's directory]; with several sites, URL/SITE each
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Write the URLs of the site under this URL: crawl a staging copy, list production (which gets no requests)
    #[arg(id = "as", long = "as", value_name = "URL", help_heading = "Output")]
    #[serde(rename = "as")]
    written_as: Option<String>,
}
