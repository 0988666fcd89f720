//! Options of the commands for sites that are, or were, crawled: places of the set and of the state.

use serde::Serialize;

/// Options of places.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct PlaceArgs {
    /// Folder of the sitemaps [default: sitemaps/SITE]
    ///
    /// With several sites each gets a folder in it, DIR/SITE.
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Folder of the states, one SQLite file per site [default: arpent/ in the platform's state directory]
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        hide_short_help = true
    )]
    state: Option<String>,

    /// URL where the sitemaps will be served [default: the site's directory]
    ///
    /// It may be on another host, whose sitemaps the site's robots.txt then has to name. With several sites, URL/SITE each.
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Crawl a staging copy and list production: write the URLs of the site under this URL, which gets no requests
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Output",
        hide_short_help = true
    )]
    publish_as: Option<String>,
}
