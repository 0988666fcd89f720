//! One document at a URL (a sitemap, an index, a feed), fetched as politely as a page: under the clocks
//! and the robots.txt of each host that a redirect leads through, to addresses that the address guard allows.
//!
//! A small body stays in memory; a larger one streams into a temporary file without a name, which ends
//! with the process. The caller interprets the bytes, and reads them where blocking is allowed.
//!
//! ```text
//! URL -> robots.txt of its origin -> a permit at its host -> answer -> redirect: the next URL
//!                                                                 -> Document -> sitemap_core::read
//! ```

use std::{
    collections::{HashMap, HashSet},
    io::{self, BufRead, BufReader, Seek, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tempfile::SpooledTempFile;
use tokio::time::Instant;

use super::{
    gate::{
        Answered, Gate, ROBOTS_LIFETIME, Refused, Robots, Unread, location, sets_cookie, too_slow,
    },
    shutdown::Shutdown,
    signal,
};
use crate::{
    clock::Clock,
    config::Config,
    fetch::{
        BodySink, BodyWish, Fetch, FetchError, FetchErrorKind, Fetched, Headers, ResponseHead,
    },
    machine::hex,
    outcome::SessionOutcome,
    page::{BodyEnd, PageFacts},
    parse::{PageParser, PageReader},
    politeness::{Closed, SharedPoliteness, Signal},
    retry_after::{RetryAfterError, RetryAfterFile},
    robots::Rules,
    url_key::{HostKey, Identity, Origin, UrlKey},
    verdict::MAX_HOPS,
};

/// The most bytes of one document that are read, over the wire and after its content coding: what the
/// [sitemap protocol](https://www.sitemaps.org/protocol.html#index) allows a file to have.
pub const MAX_DOCUMENT_BYTES: u64 = 52_428_800;

/// The types of sitemaps, indexes, feeds and lists, plain or gzipped: a server that can answer a URL in several
/// forms must not choose its page.
const DOCUMENT_TYPES: &str = "application/xml,text/xml,application/atom+xml,application/rss+xml,application/gzip,text/plain;q=0.9,*/*;q=0.1";

/// Bytes up to which a document stays in memory.
const MAX_BYTES_IN_MEMORY: usize = 256 * 1024;

/// The name in robots.txt whose rules are for everybody (RFC 9309 section 2.2.1).
const EVERYBODY: &str = "*";

/// Origins whose robots.txt is kept. A crawl meets a handful; one that is forgotten is asked for again.
const MAX_ORIGINS: usize = 256;

/// Fetches documents, each under the rules of the host it is on. Clones share what they know.
///
/// ```no_run
/// use std::sync::{Arc, Mutex};
///
/// use crawler::{
///     clock::SystemClock,
///     config::Config,
///     client::{Downloader, Shutdown},
///     fetch::http::HttpFetch,
///     retry_after::RetryAfterFile,
///     politeness::Politeness,
///     url_key::UrlKey,
/// };
/// use sitemap_core::{Limits, read::Reader};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::default();
/// let downloader = Downloader::new(
///     &config,
///     Arc::new(HttpFetch::new(&config.fetch)?),
///     Arc::new(SystemClock),
///     Arc::new(Mutex::new(Politeness::new(&config.politeness))),
///     RetryAfterFile::default(),
/// );
/// let url = UrlKey::from_normalised("https://example.com/sitemap.xml")?;
/// let document = downloader.download(&url, &Shutdown::default()).await?;
/// println!("{} answered {}", document.url, document.status);
/// for item in Reader::new(document.into_body()?, Limits::default()) {
///     println!("{item:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Downloader {
    pub(super) gate: Gate,
    /// The most bytes of a page.
    max_page_bytes: u64,
    known: Arc<Mutex<HashMap<Origin, KnownRobots>>>,
    /// The origin whose robots.txt disallows nothing, by a setting of its owner.
    unruled: Option<Origin>,
    /// The hosts that were contacted, when there may be only so many.
    hosts: Option<Arc<Mutex<Hosts>>>,
    /// The URLs that may be asked for, redirects too; `None`: all.
    allowed: Option<AllowedUrls>,
    /// The types that are asked for.
    accepted: &'static str,
    /// The hosts of services that were called.
    pub(super) called: Arc<Mutex<HashSet<HostKey>>>,
}

/// Whether a URL may be asked for.
type AllowedUrls = Arc<dyn Fn(&UrlKey) -> bool + Send + Sync>;

/// Hosts that documents, and the robots.txt of their hosts, are fetched from.
struct Hosts {
    contacted: HashSet<HostKey>,
    most: usize,
}

/// The data on an origin's robots.txt.
#[derive(Clone)]
struct KnownRobots {
    rules: Result<Arc<Rules>, Unreachable>,
    /// The rules for user agents that it does not name, where it was read.
    everybody: Option<Everybody>,
    since: Instant,
}

/// The rules of a robots.txt for all user agents.
#[derive(Debug, Clone)]
struct Everybody {
    rules: Arc<Rules>,
    /// The status of the answer.
    status: u16,
}

/// Why a robots.txt cannot be read.
#[derive(Debug, Clone)]
enum Unreachable {
    /// The URL does not answer, or not with a file.
    Trouble(Arc<str>),
    /// The URL must not be asked for.
    Forbidden(Arc<str>),
    /// The URL redirects to a host that is one too many.
    TooManyHosts { host: HostKey, most: usize },
}

impl Unreachable {
    fn of(self, origin: &Origin) -> DownloadError {
        let origin = origin.clone();
        match self {
            Self::Trouble(why) => DownloadError::RobotsUnreachable {
                origin,
                why: why.to_string(),
            },
            Self::Forbidden(why) => DownloadError::Forbidden {
                origin,
                why: why.to_string(),
            },
            Self::TooManyHosts { host, most } => DownloadError::TooManyHosts { host, most },
        }
    }
}

/// A document that was answered, whatever the status.
#[derive(Debug)]
pub struct DownloadedDocument {
    /// The URL that answered, after all redirects.
    pub url: UrlKey,
    /// Redirects that led to it.
    pub redirects: usize,
    /// HTTP status: never a redirect that could be followed. Only of 200 the body is read.
    pub status: u16,
    /// The headers of the answer.
    pub headers: Headers,
    /// `Last-Modified`, when readable.
    pub last_modified: Option<Timestamp>,
    /// How the body ended; what arrived before an early end can be read.
    pub end: BodyEnd,
    /// Body bytes that came over the wire, of all answers on the way.
    pub wire_bytes: u64,
    /// Bytes of the body, without its content coding.
    pub body_bytes: u64,
    /// SHA-256 of these bytes, hex.
    pub sha256: String,
    body: SpooledTempFile,
}

impl DownloadedDocument {
    /// A document that was asked for as a page, whose bytes on the wire are counted already.
    pub(crate) fn of_page(url: &UrlKey, fetched: &Fetched, spool: Spool) -> Self {
        Self::new(url.clone(), 0, fetched.clone(), 0, spool)
    }

    fn new(url: UrlKey, redirects: usize, fetched: Fetched, wire_bytes: u64, spool: Spool) -> Self {
        let headers = fetched.head.headers;
        let last_modified = headers.text("last-modified").and_then(signal::http_date);
        Self {
            url,
            redirects,
            status: fetched.head.status,
            last_modified,
            headers,
            end: fetched.end,
            wire_bytes,
            body_bytes: spool.bytes,
            sha256: hex(spool.hash),
            body: spool.body,
        }
    }

    /// The body, from its beginning; to be read as often as one likes. Reading it may block.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn body(&mut self) -> io::Result<impl BufRead + '_> {
        self.body.rewind()?;
        Ok(BufReader::new(&mut self.body))
    }

    /// The body, from its beginning. Reading it may block.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn into_body(mut self) -> io::Result<impl BufRead + Send + 'static> {
        self.body.rewind()?;
        Ok(BufReader::new(self.body))
    }
}

/// Why there is no [`Downloader`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A setting of the network cannot be used, e.g. the file of certificate authorities.
    #[error(transparent)]
    Settings(#[from] FetchError),
    /// The file of the hosts that asked to wait cannot be read, so no request may be sent.
    #[error("not requested, because the stored Retry-After times cannot be read")]
    RetryAfter(#[from] RetryAfterError),
}

impl ConnectError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Settings(_) => SessionOutcome::Settings,
            Self::RetryAfter(error) => error.outcome(),
        }
    }
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// robots.txt of the URL's origin disallows it, or the URL that it redirects to.
    #[error("{0} is disallowed by robots.txt")]
    Disallowed(UrlKey),
    /// robots.txt of the origin could not be read, so nothing may be fetched there (RFC 9309 section 2.3.1.4).
    #[error("{why}; robots.txt cannot be read")]
    RobotsUnreachable {
        /// The origin of the file.
        origin: Origin,
        /// The event.
        why: String,
    },
    /// The origin must not be contacted: its address is none that may be, or it is spared.
    #[error("{origin} is not contacted: {why}")]
    Forbidden {
        /// The origin.
        origin: Origin,
        /// The reason.
        why: String,
    },
    /// Documents came from as many other hosts as they may.
    #[error("{host} is not one of the first {most} hosts; documents are fetched from no more")]
    TooManyHosts {
        /// The host.
        host: HostKey,
        /// How many there may be.
        most: usize,
    },
    /// A redirect leads nowhere, in a loop, or is one too many.
    #[error("{url} {problem}")]
    Redirects {
        /// The last URL of the chain.
        url: UrlKey,
        /// The defect of its answer.
        problem: String,
    },
    /// No answer after all tries.
    #[error("{url} cannot be fetched: {message}")]
    NoAnswer {
        /// The URL of the chain.
        url: UrlKey,
        /// The kind of failure.
        kind: FetchErrorKind,
        /// The event.
        message: String,
    },
    /// The host gets no further request now.
    #[error("{host} gets no further request in this session")]
    Closed {
        /// The host.
        host: HostKey,
        /// Why.
        closed: Closed,
    },
    /// A network setting cannot be used.
    #[error("the network settings cannot be used")]
    Settings(#[source] ConnectError),
    /// [`Shutdown`] was used.
    #[error("stopped before the document was fetched")]
    Stopped,
    /// The temporary file cannot be made or written.
    #[error("failed to write a document to a temporary file")]
    Spool(#[source] io::Error),
}

impl DownloadError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Settings(error) => error.outcome(),
            Self::Stopped => SessionOutcome::Interrupted,
            Self::Spool(_) => SessionOutcome::Refused,
            Self::Disallowed(_)
            | Self::RobotsUnreachable { .. }
            | Self::Forbidden { .. }
            | Self::TooManyHosts { .. }
            | Self::Redirects { .. }
            | Self::NoAnswer { .. }
            | Self::Closed { .. } => SessionOutcome::Unreachable,
        }
    }
}

impl Downloader {
    /// A gate of its own. Requests share the clocks of `politeness` with everything else that uses them;
    /// of `config` the tries and delays of [`crate::config::LimitsConfig`], the identity of URLs and the
    /// user agent matter.
    pub fn new(
        config: &Config,
        fetch: Arc<dyn Fetch>,
        clock: Arc<dyn Clock>,
        politeness: SharedPoliteness,
        retry_after: RetryAfterFile,
    ) -> Self {
        Self::with_gate(&Gate::new(config, fetch, clock, politeness, retry_after))
    }

    /// Reads at most so many bytes of a document; by default [`MAX_DOCUMENT_BYTES`].
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.gate.max_body_bytes = max_bytes;
        self
    }

    /// Reads pages with this identity of URLs, as a crawl does. Redirects of documents lead to URLs of it too.
    #[must_use]
    pub fn with_identity(mut self, identity: &Identity) -> Self {
        self.gate.identity = Arc::new(identity.clone());
        self
    }

    /// A downloader through the gate of a session.
    pub(crate) fn with_gate(gate: &Gate) -> Self {
        // Nobody wrote the URLs of documents for people, so nothing is dropped from them, not even
        // where a redirect leads.
        let identity = gate.identity.verbatim();
        Self {
            gate: Gate {
                max_body_bytes: MAX_DOCUMENT_BYTES,
                identity: Arc::new(identity),
                ..gate.clone()
            },
            max_page_bytes: gate.max_body_bytes,
            known: Arc::default(),
            unruled: None,
            hosts: None,
            allowed: None,
            accepted: DOCUMENT_TYPES,
            called: Arc::default(),
        }
    }

    /// For the documents of a site: besides its own, only the first `most` hosts are contacted.
    pub(crate) fn of_site(self, origin: &Origin, most: usize) -> Self {
        let hosts = Hosts {
            contacted: HashSet::from([HostKey::new(&origin.host)]),
            most,
        };
        Self {
            hosts: Some(Arc::new(Mutex::new(hosts))),
            ..self
        }
    }

    /// Contacts these hosts alone, for URLs that are `allowed` alone, and takes any type.
    pub(crate) fn of_hosts(
        self,
        hosts: impl IntoIterator<Item = HostKey>,
        allowed: impl Fn(&UrlKey) -> bool + Send + Sync + 'static,
    ) -> Self {
        let hosts = Hosts {
            contacted: hosts.into_iter().collect(),
            most: 0,
        };
        Self {
            hosts: Some(Arc::new(Mutex::new(hosts))),
            allowed: Some(Arc::new(allowed)),
            accepted: "*/*",
            ..self
        }
    }

    /// Takes no notice of what robots.txt of `origin` disallows.
    pub(crate) fn ignoring_robots_of(self, origin: &Origin) -> Self {
        Self {
            unruled: Some(origin.clone()),
            ..self
        }
    }

    /// Remembers what somebody else read in the robots.txt of `origin`.
    pub(crate) fn know(&self, origin: &Origin, rules: Rules) {
        self.remember(origin, Ok(Arc::new(rules)), None);
    }

    /// Gives the clocks the waits that hosts asked of earlier sessions; to be called before the
    /// first request. Returns what the user should know of it, as a sentence: what was damaged and is set aside. Blocks for
    /// a file.
    ///
    /// # Errors
    /// The waits are not known; then no request may be sent.
    pub fn load_waits(&self) -> Result<Option<String>, RetryAfterError> {
        self.gate.load_waits()
    }

    /// Writes down what hosts asked to wait for (`Retry-After`), so that the next start knows it; to be
    /// called when the work is over.
    pub async fn write_waits(&self) {
        self.gate.finish_writes().await;
    }

    /// The robots.txt of `origin`, asked for once a day.
    ///
    /// # Errors
    /// The file cannot be read, its host is closed, or the work is stopping; see [`DownloadError`].
    pub async fn robots(
        &self,
        origin: &Origin,
        shutdown: &Shutdown,
    ) -> Result<Arc<Rules>, DownloadError> {
        if self.unruled.as_ref() == Some(origin) {
            return Ok(Arc::new(Rules::allow_all()));
        }
        let host = HostKey::new(&origin.host);
        self.admit(&host)
            .map_err(|unreachable| unreachable.of(origin))?;
        if let Some(known) = self.known_of(origin) {
            return known.rules.map_err(|unreachable| unreachable.of(origin));
        }
        let is_new = !self.known().keys().any(|known| known.host == origin.host);
        if is_new {
            // Trouble of an earlier session is forgotten, that of this one is not.
            self.gate.clocks().forget_trouble(&host);
        }
        let mut everybody = None;
        let mut see = |status, body: &[u8]| {
            everybody = Some(Everybody {
                rules: Arc::new(Rules::parse(body, EVERYBODY)),
                status,
            });
        };
        let asked = self
            .gate
            .robots_seen(origin, &shutdown.stop, &|hop| self.admit(hop), &mut see)
            .await;
        match asked {
            Ok(Robots::Rules(rules)) => {
                let rules = Arc::new(rules);
                self.remember(origin, Ok(Arc::clone(&rules)), everybody);
                Ok(rules)
            }
            Ok(Robots::Unreachable(why, _)) => {
                Err(self.give_up(origin, Unreachable::Trouble(why.into())))
            }
            Ok(Robots::Forbidden(why)) => {
                Err(self.give_up(origin, Unreachable::Forbidden(why.into())))
            }
            Ok(Robots::TooSlow(delay)) => Err(self.give_up(
                origin,
                Unreachable::Trouble(too_slow(origin, delay).text.into()),
            )),
            Ok(Robots::Refused(refused)) => Err(refused_at(host, refused)),
            Err(unreachable) => Err(self.give_up(origin, unreachable)),
        }
    }

    /// The robots.txt of an origin ([`Downloader::robots`]), read as those do whom it does not name.
    ///
    /// # Errors
    /// As there.
    pub async fn robots_for_everybody(
        &self,
        origin: &Origin,
        shutdown: &Shutdown,
    ) -> Result<Arc<Rules>, DownloadError> {
        let own = self.robots(origin, shutdown).await?;
        let everybody = self.known_of(origin).and_then(|known| known.everybody);
        Ok(everybody.map_or(own, |everybody| everybody.rules))
    }

    /// The robots.txt of an origin ([`Downloader::robots_for_everybody`]), for those who look for what is in the file: that it is shown to nobody without credentials
    /// allows everything (RFC 9309 section 2.3.1.3), but its lines stay unknown.
    ///
    /// # Errors
    /// As there; also when the answer is 401 or 403.
    pub async fn robots_as_shown(
        &self,
        origin: &Origin,
        shutdown: &Shutdown,
    ) -> Result<Arc<Rules>, DownloadError> {
        let rules = self.robots_for_everybody(origin, shutdown).await?;
        let everybody = self.known_of(origin).and_then(|known| known.everybody);
        match everybody.map(|everybody| everybody.status) {
            Some(status @ (401 | 403)) => Err(DownloadError::RobotsUnreachable {
                origin: origin.clone(),
                why: format!("{origin}/robots.txt answered {status}"),
            }),
            Some(_) | None => Ok(rules),
        }
    }

    /// Asks for the page at `url` and reads its facts; a redirect is not followed. Of a body at
    /// most [`crate::config::FetchConfig::max_body_bytes`] are read.
    ///
    /// # Errors
    /// See [`DownloadError`]. An answer with another status than 200 is none: see [`PageFacts::status`].
    pub async fn page(
        &self,
        url: &UrlKey,
        reader: &Arc<PageReader>,
        shutdown: &Shutdown,
    ) -> Result<PageFacts, DownloadError> {
        let answer = self.page_with_headers(url, reader, shutdown).await?;
        Ok(answer.0)
    }

    /// As [`Downloader::page`], with the headers of the answer.
    ///
    /// # Errors
    /// As there.
    pub async fn page_with_headers(
        &self,
        url: &UrlKey,
        reader: &Arc<PageReader>,
        shutdown: &Shutdown,
    ) -> Result<(PageFacts, Headers), DownloadError> {
        let rules = self.robots(&url.origin(), shutdown).await?;
        if !rules.allows(url.path_and_query()) {
            return Err(DownloadError::Disallowed(url.clone()));
        }
        let gate = self.gate_of_pages(&self.gate.identity);
        let parser = || PageParser::new(url, &gate.identity, reader);
        let asked = gate.request(url, &shutdown.stop, parser).await;
        let Answered {
            result,
            receiver,
            signal,
            duration,
            ..
        } = asked.map_err(|refused| refused_at(url.host(), refused))?;
        self.obey_long_wait(url, signal);
        let fetched = result.map_err(|error| DownloadError::NoAnswer {
            url: url.clone(),
            kind: error.kind(),
            message: error.to_string(),
        })?;
        let mut facts = receiver.finish(&fetched);
        facts.duration = Some(duration);
        Ok((facts, fetched.head.headers))
    }

    /// The status of the answer of `url`, which is on another origin than the crawled one, and where it redirects to, as `identity` has
    /// it.
    ///
    /// # Errors
    /// As [`Downloader::page`].
    pub(crate) async fn status(
        &self,
        url: &UrlKey,
        identity: &Identity,
        shutdown: &Shutdown,
    ) -> Result<(u16, Option<UrlKey>), DownloadError> {
        let rules = self.robots(&url.origin(), shutdown).await?;
        if !rules.allows(url.path_and_query()) {
            return Err(DownloadError::Disallowed(url.clone()));
        }
        let gate = Gate {
            limits: Arc::clone(&self.gate.limits),
            ..self.gate.aside()
        };
        let asked = gate.request(url, &shutdown.stop, || Unread).await;
        let answered = asked.map_err(|refused| refused_at(url.host(), refused))?;
        let fetched = answered.result.map_err(|error| DownloadError::NoAnswer {
            url: url.clone(),
            kind: error.kind(),
            message: error.to_string(),
        })?;
        let status = fetched.head.status;
        let is_redirect = matches!(status, 300..=303 | 307 | 308);
        let target = is_redirect.then(|| location(identity, url, &fetched.head));
        Ok((status, target.flatten()))
    }

    /// The gate that pages pass: URLs with `identity`, bodies up to the limit of pages.
    pub(crate) fn gate_of_pages(&self, identity: &Identity) -> Gate {
        Gate {
            identity: Arc::new(identity.clone()),
            max_body_bytes: self.max_page_bytes,
            ..self.gate.clone()
        }
    }

    /// Outside of a crawl, which judges by many answers, the first that asks for a long wait speaks for its host.
    fn obey_long_wait(&self, url: &UrlKey, signal: Signal) {
        if self.hosts.is_none() {
            self.gate.obey_long_wait(url.host(), signal);
        }
    }

    /// Fetches the document at `url`. Redirects are followed, [`MAX_HOPS`] at most, each under the
    /// rules of its own host.
    ///
    /// # Errors
    /// See [`DownloadError`]. An answer with another status than 200 is none: see [`DownloadedDocument::status`].
    pub async fn download(
        &self,
        url: &UrlKey,
        shutdown: &Shutdown,
    ) -> Result<DownloadedDocument, DownloadError> {
        let mut passed: Vec<UrlKey> = Vec::new();
        let mut url = url.clone();
        let mut wire_bytes = 0;
        let mut was_led_back = false;
        loop {
            let rules = self.robots(&url.origin(), shutdown).await?;
            let is_allowed = self.allowed.as_ref().is_none_or(|allowed| allowed(&url));
            if !is_allowed || !rules.allows(url.path_and_query()) {
                return Err(DownloadError::Disallowed(url));
            }
            let spool = || Spool {
                accepted: self.accepted,
                ..Spool::new()
            };
            let asked = self.gate.request(&url, &shutdown.stop, spool).await;
            let Answered {
                result,
                receiver,
                signal,
                ..
            } = asked.map_err(|refused| refused_at(url.host(), refused))?;
            self.obey_long_wait(&url, signal);
            let fetched = result.map_err(|error| match error.kind() {
                FetchErrorKind::Forbidden => DownloadError::Forbidden {
                    origin: url.origin(),
                    why: error.to_string(),
                },
                kind => DownloadError::NoAnswer {
                    url: url.clone(),
                    kind,
                    message: error.to_string(),
                },
            })?;
            wire_bytes += fetched.wire_bytes;
            let status = fetched.head.status;
            if !matches!(status, 300..=303 | 307 | 308) {
                if let Some(error) = receiver.failure {
                    return Err(DownloadError::Spool(error));
                }
                let redirects = passed.len();
                return Ok(DownloadedDocument::new(
                    url, redirects, fetched, wire_bytes, receiver,
                ));
            }
            let problem = match location(&self.gate.identity, &url, &fetched.head) {
                None => format!("answered {status} without a usable Location"),
                Some(target)
                    if target == url
                        && !was_led_back
                        && self.gate.keeps_session()
                        && sets_cookie(&fetched.head) =>
                {
                    // It lets in who brings the cookie.
                    was_led_back = true;
                    continue;
                }
                Some(target) if target == url || passed.contains(&target) => {
                    format!("redirects in a loop, to {target}")
                }
                Some(_) if passed.len() >= MAX_HOPS => {
                    format!("is the end of {MAX_HOPS} redirects and redirects again")
                }
                Some(target) => {
                    passed.push(std::mem::replace(&mut url, target));
                    continue;
                }
            };
            return Err(DownloadError::Redirects { url, problem });
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Origin, KnownRobots>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `host` one of those that are contacted, to which a redirect of a robots.txt may lead, too.
    fn admit(&self, host: &HostKey) -> Result<(), Unreachable> {
        let Some(hosts) = &self.hosts else {
            return Ok(());
        };
        let mut hosts = hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let Hosts { contacted, most } = &mut *hosts;
        // One more is the site's own.
        if contacted.contains(host) || contacted.len() <= *most {
            contacted.insert(host.clone());
            return Ok(());
        }
        Err(Unreachable::TooManyHosts {
            host: host.clone(),
            most: *most,
        })
    }

    fn give_up(&self, origin: &Origin, unreachable: Unreachable) -> DownloadError {
        self.remember(origin, Err(unreachable.clone()), None);
        unreachable.of(origin)
    }

    fn known_of(&self, origin: &Origin) -> Option<KnownRobots> {
        let known = self.known();
        let known = known.get(origin)?;
        (known.since.elapsed() < ROBOTS_LIFETIME).then(|| known.clone())
    }

    fn remember(
        &self,
        origin: &Origin,
        rules: Result<Arc<Rules>, Unreachable>,
        everybody: Option<Everybody>,
    ) {
        let since = Instant::now();
        let mut known = self.known();
        if known.len() >= MAX_ORIGINS && !known.contains_key(origin) {
            let oldest = known.iter().min_by_key(|(_, known)| known.since);
            if let Some(oldest) = oldest.map(|(origin, _)| origin.clone()) {
                known.remove(&oldest);
            }
        }
        let rules = KnownRobots {
            rules,
            everybody,
            since,
        };
        known.insert(origin.clone(), rules);
    }
}

impl std::fmt::Debug for Downloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Downloader").finish_non_exhaustive()
    }
}

fn refused_at(host: HostKey, refused: Refused) -> DownloadError {
    match refused {
        Refused::Closed(closed) => DownloadError::Closed { host, closed },
        Refused::Stopping => DownloadError::Stopped,
    }
}

/// Takes the body of an answer. The pieces go to the cache of the system, which is as quick as memory,
/// so they are written where they arrive.
pub(crate) struct Spool {
    body: SpooledTempFile,
    hash: Sha256,
    bytes: u64,
    failure: Option<io::Error>,
    /// The types that are asked for.
    accepted: &'static str,
}

impl Spool {
    pub(crate) fn new() -> Self {
        Self {
            body: SpooledTempFile::new(MAX_BYTES_IN_MEMORY),
            hash: Sha256::new(),
            bytes: 0,
            failure: None,
            accepted: DOCUMENT_TYPES,
        }
    }
}

impl BodySink for Spool {
    fn accepted_types(&self) -> &'static str {
        self.accepted
    }

    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        if head.status == 200 {
            BodyWish::Read
        } else {
            BodyWish::Stop
        }
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        if let Err(error) = self.body.write_all(bytes) {
            self.failure = Some(error);
            return BodyWish::Stop;
        }
        self.hash.update(bytes);
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        BodyWish::Read
    }
}
