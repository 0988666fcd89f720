//! Options of every command that sends requests: pace, identity and route.

use serde::Serialize;

/// Options of requests.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
pub(super) struct RequestArgs {
    /// Requests per second and host, at most [default: 10]
    #[arg(long, value_name = "N|unlimited", help_heading = "Requests")]
    rate: Option<String>,

    /// One request at a time, each this long after the last answer ended, e.g. 2s
    #[arg(
        long,
        value_name = "T",
        help_heading = "Requests",
        hide_short_help = true
    )]
    delay: Option<String>,

    /// The User-Agent header; its first word is the name robots.txt rules are looked up by [default: arpent/VERSION]
    #[arg(
        long,
        value_name = "S",
        help_heading = "Requests",
        hide_short_help = true
    )]
    user_agent: Option<String>,

    /// URL or mail address for the site's operator, sent in User-Agent
    #[arg(long, value_name = "URL|MAIL", help_heading = "Requests")]
    contact: Option<String>,

    /// A header for requests to the site, e.g. 'Accept-Language: fr'
    ///
    /// It is sent to the origin of the URL alone. Repeatable.
    #[arg(
        short = 'H',
        long,
        value_name = "NAME:VALUE",
        help_heading = "Requests"
    )]
    header: Vec<String>,

    /// Connect to ADDRESS for HOST:PORT instead of asking DNS (repeatable)
    #[arg(
        long,
        value_name = "HOST:PORT:ADDRESS",
        help_heading = "Requests",
        hide_short_help = true
    )]
    resolve: Vec<String>,

    /// Send requests through this proxy; proxy variables of the environment are ignored
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Requests",
        hide_short_help = true
    )]
    proxy: Option<String>,

    /// Trust the certificate authorities in this PEM file as well
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Requests",
        hide_short_help = true
    )]
    ca_file: Option<String>,
}
