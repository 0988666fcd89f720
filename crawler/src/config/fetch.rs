//! Settings for requests and for politeness.

use std::{net::IpAddr, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use crate::url_key::Origin;

/// Starts per second and host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// At most this many, spaced evenly.
    PerSecond(f64),
    /// No spacing: for one's own machines.
    Unlimited,
}

/// How a host is spared. All of it holds per host; the host's own wishes make it slower, never faster.
#[derive(Debug, Clone, PartialEq)]
pub struct PolitenessConfig {
    /// Default 10 per second.
    pub rate: Rate,
    /// Requests in flight to one host. Default 4, at least 1.
    pub concurrency: NonZeroU32,
    /// When set: one request at a time, this long after the end of the last answer. Default none.
    /// The larger of this and robots.txt's `Crawl-delay` holds.
    pub delay: Option<Duration>,
    /// A `Retry-After` up to this stops the host; a longer one stops the URL for this session, and the host when most
    /// answers ask for one. Default 120 s.
    pub max_retry_after: Duration,
    /// Requests in flight in the whole process. Default 64.
    pub max_in_flight: NonZeroU32,
    /// Failures of the host in a row that make it pause. Default 10.
    pub failures_before_pause: u32,
    /// First pause; doubles each time. Default 60 s.
    pub pause: Duration,
    /// Longest pause. Default 600 s.
    pub max_pause: Duration,
    /// Pauses after which the host counts as down. Default 3.
    pub max_pauses: u32,
}

impl Default for PolitenessConfig {
    fn default() -> Self {
        Self {
            rate: Rate::PerSecond(10.0),
            concurrency: NonZeroU32::new(4).expect("4 is not 0"),
            delay: None,
            max_retry_after: Duration::from_secs(120),
            max_in_flight: NonZeroU32::new(64).expect("64 is not 0"),
            failures_before_pause: 10,
            pause: Duration::from_secs(60),
            max_pause: Duration::from_secs(600),
            max_pauses: 3,
        }
    }
}

/// Text that is never shown: its `Debug` is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Credentials for the start origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// `Authorization: Basic`.
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: Secret,
    },
    /// `Authorization: Bearer`.
    Bearer(Secret),
}

/// `--resolve HOST:PORT:ADDRESS`: connect to `address` instead of asking the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// Host name, lower case.
    pub host: String,
    /// Port in the URL that this is for.
    pub port: u16,
    /// The address to connect to.
    pub address: IpAddr,
}

/// The requests with which cookies that the start host set are sent back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CookieUse {
    /// Cookies on the way from the start URL to the start page, and all when the start page answers only with the cookies of
    /// that way: a page is judged as search engines see it, which keep no cookies.
    #[default]
    Start,
    /// All, with one jar for the crawl, as a browser sends them.
    Session,
    /// None.
    Never,
}

/// How requests are sent.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchConfig {
    /// `User-Agent`. Default `arpent/<version>`. Its leading product token selects the robots.txt group.
    pub user_agent: String,
    /// Extra request headers, sent to [`FetchConfig::credential_origins`] only.
    pub headers: Vec<(String, Secret)>,
    /// Requests that send cookies of the start host.
    pub cookies: CookieUse,
    /// Credentials, sent to [`FetchConfig::credential_origins`] only.
    pub credentials: Option<Credentials>,
    /// The start origin, and its https twin. Filled in when the start URL is known.
    pub credential_origins: Vec<Origin>,
    /// Proxy URL (`http://`, `https://`). Proxies of the environment are never used.
    pub proxy: Option<String>,
    /// PEM file with further trusted certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// Fixed addresses for names.
    pub resolve: Vec<Resolve>,
    /// The host of the start URL: the class of its addresses decides which addresses may be contacted.
    pub start_host: String,
    /// The start host had a public address in the last crawl of the site, and needs one now. Filled in from the state.
    pub was_public: bool,
    /// A start host that was public in the last crawl may be private now. Default no.
    pub allow_private: bool,
    /// DNS lookup. Default 10 s.
    pub dns_timeout: Duration,
    /// TCP connect and TLS handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// From sending the request to the complete head. Default 30 s.
    pub head_timeout: Duration,
    /// Silence inside a body. Default 15 s.
    pub idle_timeout: Duration,
    /// A whole request. Default 60 s.
    pub total_timeout: Duration,
    /// Decoded bytes, and wire bytes, of one body. Default 15 MiB.
    pub max_body_bytes: u64,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            user_agent: concat!("arpent/", env!("CARGO_PKG_VERSION")).to_owned(),
            headers: Vec::new(),
            cookies: CookieUse::default(),
            credentials: None,
            credential_origins: Vec::new(),
            proxy: None,
            ca_file: None,
            resolve: Vec::new(),
            start_host: String::new(),
            was_public: false,
            allow_private: false,
            dns_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 15 * 1024 * 1024,
        }
    }
}

impl FetchConfig {
    /// Waits for a head for `timeout` at most, for a connection for as long, but not beyond the default, inside of a body for half of
    /// it, and for a whole request for twice of it.
    pub fn set_timeout(&mut self, timeout: Duration) {
        let default = Self::default();
        self.dns_timeout = timeout.min(default.dns_timeout);
        self.connect_timeout = timeout.min(default.connect_timeout);
        self.head_timeout = timeout;
        self.idle_timeout = timeout / 2;
        self.total_timeout = timeout.saturating_mul(2);
    }

    /// The cookies that are sent: none of the site beside a header `Cookie` of the settings, which counts then.
    pub fn cookie_use(&self) -> CookieUse {
        let mut names = self.headers.iter().map(|(name, _)| name);
        if names.any(|name| name.eq_ignore_ascii_case("cookie")) {
            CookieUse::Never
        } else {
            self.cookies
        }
    }

    /// Returns whether requests carry a session of the user: credentials, a header `Authorization` or `Cookie`, or cookies that a
    /// crawl keeps.
    pub fn carries_session(&self) -> bool {
        let is_session = |name: &str| {
            name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("authorization")
        };
        self.credentials.is_some()
            || self.cookie_use() == CookieUse::Session
            || self.headers.iter().any(|(name, _)| is_session(name))
    }
}
