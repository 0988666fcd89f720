//! Compares the crawl of a site with the URLs in its own sitemaps, its feeds and the access logs of its server. [`Audit`] reads these into a
//! temporary file and compares them with the state; nothing is crawled, printed or changed.
//!
//! ```text
//! robots.txt -> sitemaps --> SetReading -\
//! pages of the state -> feeds -> SetReading --> UrlSpool --> compare (rows and links of the state) -> AuditOutcome
//! access logs -> LoggedRequest ----------/
//! ```

mod access_log;
mod compare;
mod finding;
mod sources;
mod view;

use std::{
    collections::HashMap,
    io::{self, BufRead},
    sync::Arc,
};

use serde::Serialize;

use self::access_log::{LoggedRequest, each_request};
pub use self::finding::{AuditFinding, AuditGroup, AuditKind};
use crate::{
    check::{CheckProgress, Network},
    clock::Clock,
    config::Config,
    outcome::SessionOutcome,
    robots::agent_token,
    scope::ScopeError,
    site::Site,
    sitemap_set::SetError,
    store::{Merge, Store, StoreError, UrlSpool},
    url_key::{UrlKey, UrlKeyError},
};

/// The most findings of one kind that are shown.
pub const MAX_SHOWN: u64 = 100_000;

/// Requests from which a URL that does not exist is often asked for: fewer are mostly typing errors and scans.
pub const MIN_MISSING: u64 = 10;

/// Endings of files that are not pages, though they answer 200: what pages are made of, data, and downloads.
const ASSETS: [&str; 36] = [
    "atom",
    "avif",
    "bmp",
    "br",
    "css",
    "csv",
    "eot",
    "gif",
    "gz",
    "ico",
    "jpeg",
    "jpg",
    "js",
    "json",
    "map",
    "mjs",
    "mov",
    "mp3",
    "mp4",
    "ogg",
    "otf",
    "png",
    "rss",
    "svg",
    "tar",
    "ttf",
    "txt",
    "wasm",
    "wav",
    "webm",
    "webmanifest",
    "webp",
    "woff",
    "woff2",
    "xml",
    "zip",
];

/// A site that is audited.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct AuditedSite<'a> {
    /// The state.
    pub store: &'a Store,
    /// The site.
    pub site: &'a Site,
    /// The settings.
    pub config: &'a Config,
    /// Wall time.
    pub clock: &'a Arc<dyn Clock>,
}

/// Reason why an audit ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The state or the temporary file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A sitemap cannot be read, or the work was stopped.
    #[error(transparent)]
    Set(#[from] SetError),
    /// A setting contradicts the site.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A log cannot be read.
    #[error("failed to read the log to its end")]
    Log(#[from] io::Error),
}

impl AuditError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Store(error) => error.outcome(),
            Self::Set(error) => error.outcome(),
            Self::Scope(_) | Self::Log(_) => SessionOutcome::Settings,
        }
    }
}

/// Counts of the lines of access logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LogCounts {
    /// All lines.
    pub lines: u64,
    /// Requests for pages of the site: they count.
    pub pages: u64,
    /// Requests to other hosts.
    pub other_hosts: u64,
    /// Lines that are not a request.
    pub unreadable: u64,
}

/// Result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOutcome {
    /// URL of the site's directory.
    pub site: String,
    /// Sitemaps and feeds that were read.
    pub documents: u64,
    /// Different URLs that sitemaps list.
    pub sitemap_urls: u64,
    /// Different URLs that feeds list.
    pub feed_urls: u64,
    /// Entries of sitemaps and feeds that cannot be read.
    pub left_out: u64,
    /// Known URLs of the state.
    pub known: u64,
    /// Listed ones.
    pub listed: u64,
    /// Lines of logs.
    pub logs: LogCounts,
    /// Sitemaps and feeds that could not be read, each with its reason.
    pub unread: Vec<String>,
    /// The findings by kind.
    pub groups: Vec<AuditGroup>,
}

/// An audit while its sources are read. Its methods block: they are for a thread that may.
#[expect(missing_debug_implementations, reason = "the network holds a function")]
pub struct Audit<'a, 'n> {
    of: AuditedSite<'a>,
    network: Network<'n>,
    progress: CheckProgress,
    named: UrlSpool,
    documents: DocumentNumbers,
    outcome: AuditOutcome,
}

// The kinds of the values of a URL that a source names.
/// The number of the first sitemap that lists it.
const SITEMAP: u8 = 0;
/// The number of the first feed that lists it.
const FEED: u8 = 1;
/// Requests in access logs that were answered 200.
const ANSWERED: u8 = 2;
/// Requests in access logs that were answered 404 or 410.
const MISSING: u8 = 3;

/// Names of documents by their numbers.
#[derive(Debug, Default)]
struct DocumentNumbers {
    names: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl DocumentNumbers {
    fn of(&mut self, name: &str) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u64;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

impl<'a, 'n> Audit<'a, 'n> {
    /// Nothing is read yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new(
        of: AuditedSite<'a>,
        network: Network<'n>,
        progress: CheckProgress,
    ) -> Result<Self, AuditError> {
        Ok(Self {
            of,
            network,
            progress,
            named: UrlSpool::new()?,
            documents: DocumentNumbers::default(),
            outcome: AuditOutcome {
                site: of.site.url(),
                documents: 0,
                sitemap_urls: 0,
                feed_urls: 0,
                left_out: 0,
                known: 0,
                listed: 0,
                logs: LogCounts::default(),
                unread: Vec::new(),
                groups: Vec::new(),
            },
        })
    }

    /// Reads an access log. A line without a host is one of the site.
    ///
    /// # Errors
    /// The log cannot be read to its end, or the temporary file cannot be written.
    pub fn log(&mut self, input: impl BufRead) -> Result<(), AuditError> {
        // Browsers and crawlers alike call themselves Mozilla first.
        let token = agent_token(&self.of.config.fetch.user_agent);
        let token = Some(token).filter(|token| !token.eq_ignore_ascii_case("mozilla"));
        let is_own = |request: &LoggedRequest| {
            let agent = request.user_agent.as_deref().map(agent_token);
            let own = token.as_deref().zip(agent);
            own.is_some_and(|(token, agent)| agent.eq_ignore_ascii_case(token))
        };
        each_request(input, &mut |request| {
            self.outcome.logs.lines += 1;
            if self.network.shutdown.is_stopping() {
                return Err(SetError::Stopped.into());
            }
            match request {
                None => self.outcome.logs.unreadable += 1,
                Some(request) if is_own(&request) => {}
                Some(request) => self.request(&request)?,
            }
            Ok(())
        })
    }

    fn request(&mut self, request: &LoggedRequest) -> Result<(), StoreError> {
        let by = match request.status {
            200 => ANSWERED,
            404 | 410 => MISSING,
            _ => return Ok(()),
        };
        if !matches!(&*request.method, "GET" | "HEAD") {
            return Ok(());
        }
        let Ok(key) = self.key_of(request) else {
            return Ok(());
        };
        let site = self.of.site;
        if !key.is_on(&site.origin) {
            self.outcome.logs.other_hosts += 1;
        } else if site.contains(&key) && !is_asset(key.path()) {
            self.outcome.logs.pages += 1;
            self.named.add_number(key.as_str(), by, 1, Merge::Sum)?;
        }
        Ok(())
    }

    /// The URL of a request. The log does not have with which scheme and port the server was reached.
    fn key_of(&self, request: &LoggedRequest) -> Result<UrlKey, UrlKeyError> {
        let (origin, written) = (&self.of.site.origin, self.of.site.written().origin);
        let base = match &request.host {
            Some(host) if host.eq_ignore_ascii_case(&origin.host) => origin.to_string(),
            Some(host) if !host.eq_ignore_ascii_case(&written.host) => format!("http://{host}"),
            Some(_) | None => written.to_string(),
        };
        if request.target.starts_with('/') {
            self.key(&[&base, &*request.target].concat())
        } else {
            self.key(&request.target)
        }
    }

    /// The key by which the state knows a URL.
    fn key(&self, url: &str) -> Result<UrlKey, UrlKeyError> {
        let key = self.of.config.identity.parse(url)?;
        Ok(self.of.site.crawled_key(&key).unwrap_or(key))
    }
}

/// Returns whether the name at the end of a path is that of a file which is not a page.
fn is_asset(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ASSETS
            .iter()
            .any(|asset| asset.eq_ignore_ascii_case(ending))
    })
}
