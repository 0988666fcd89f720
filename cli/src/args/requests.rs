//! Options of every command that sends requests: pace, identity and route.

use serde::Serialize;

/// Options of requests.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
pub(super) struct RequestArgs {
    /// Requests per second and host, at most [default: 10]
    #[arg(long, value_name = "N|unlimited", help_heading = "Politeness")]
    rate: Option<String>,

    /// One request at a time, each this long after the last answer ended, e.g. 2s
    #[arg(long, value_name = "T", help_heading = "Politeness")]
    delay: Option<String>,

    /// The User-Agent header; its first word is the name robots.txt rules are looked up by [default: arpent/VERSION]
    #[arg(long, value_name = "S", help_heading = "Requests")]
    user_agent: Option<String>,

    /// A header for requests to the origin of the URL, e.g. 'Accept-Language: fr' (repeatable)
    #[arg(long, value_name = "NAME:VALUE", help_heading = "Requests")]
    header: Vec<String>,

    /// Connect to ADDRESS for HOST:PORT instead of asking DNS (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Requests")]
    resolve: Vec<String>,

    /// Send requests through this proxy; proxy variables of the environment are ignored
    #[arg(long, value_name = "URL", help_heading = "Requests")]
    proxy: Option<String>,

    /// Trust the certificate authorities in this PEM file as well
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    ca_file: Option<String>,
}
