//! Options of every command that sends requests: pace, identity and route.

use serde::Serialize;

/// Options of requests.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
pub(super) struct RequestArgs {
    /// Requests per second and host, at most [default: 10]
    #[arg(long, value_name = "N|unlimited", help_heading = "Requests")]
    rate: Option<String>,

    /// Send one request at a time, and wait this long after each answer, e.g. 2s
    #[arg(
        long,
        value_name = "T",
        help_heading = "Requests",
        hide_short_help = true
    )]
    delay: Option<String>,

    /// User-Agent header [default: arpent/VERSION]
    ///
    /// Its first word is the name that robots.txt groups are looked up by.
    #[arg(
        long,
        value_name = "S",
        help_heading = "Requests",
        hide_short_help = true
    )]
    user_agent: Option<String>,

    /// Your URL or mail address, sent in User-Agent
    #[arg(long, value_name = "URL|MAIL", help_heading = "Requests")]
    contact: Option<String>,

    /// Header for requests, e.g. 'Accept-Language: fr'
    ///
    /// arpent sends the header only to the origin of the start URL. Repeatable.
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

    /// Send requests through this proxy; proxy variables are ignored
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Requests",
        hide_short_help = true
    )]
    proxy: Option<String>,

    /// Also trust the certificate authorities in this PEM file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Requests",
        hide_short_help = true
    )]
    ca_file: Option<String>,
}
