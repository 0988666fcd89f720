//! Options of the commands for sites that are, or were, crawled: places of the set and of the state.

use serde::Serialize;

/// Options of places.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct PlaceArgs {
    /// Folder of the sitemaps [default: sitemaps/SITE]
    ///
    /// With several sites, each site gets the folder DIR/SITE.
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

    /// URL of the sitemaps [default: the site's directory]
    ///
    /// Search engines find the sitemaps there. On another host, robots.txt of the site has to name the sitemaps. With several sites, each site gets URL/SITE/.
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Crawl a staging copy, and write its URLs as URLs of production, below this URL
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Output",
        hide_short_help = true
    )]
    publish_as: Option<String>,
}
