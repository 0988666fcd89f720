//! One request, one answer: no redirect is followed, no body is read beyond the cap (after
//! decoding), no address outside the allowed networks is contacted. Decides nothing about the crawl.
//!
//! [`Fetch`] has two implementations: [`http::HttpFetch`] on real sockets, and the fixture site of
//! `testing`. The body is streamed into a [`BodySink`], so nothing here holds a whole page.

pub mod http;

mod attempt;
mod body;
mod decode;
mod dns;
mod fault;
mod guard;
mod route;
mod tls;

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use jiff::Timestamp;

use crate::{config::Secret, page::BodyEnd, url_key::UrlKey};

/// A boxed future, as in the `futures` crate.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends one request and streams the answer.
pub trait Fetch: Send + Sync {
    /// Sends `request`; offers the head to `sink`, then the decoded body piece by piece.
    ///
    /// # Errors
    /// No usable answer arrived: see [`FetchErrorKind`]. A body that broke off, or ran into a time
    /// limit, is not an error here but a [`BodyEnd`].
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>>;

    /// The kind of network that the start host is on, such as `public` or `private`; `None` while it is not known.
    fn network(&self) -> Option<&'static str> {
        None
    }
}

/// A request: GET, or POST when there is something to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The requested URL.
    pub url: UrlKey,
    /// Most decoded (and most wire) bytes of the body that are read.
    pub max_body_bytes: u64,
    /// Options of a call of a service; `None` for all requests of a crawl.
    pub call: Option<CallOptions>,
    /// Asked with, the answer is 304 without a body when nothing changed; default none.
    pub validators: Option<Validators>,
    /// The value of `Cookie`; default none. A header `Cookie` of the settings replaces it.
    pub cookie: Option<Arc<str>>,
    /// The URL in the form in which it is sent, on the same origin; default: as it is.
    pub sent_as: Option<Arc<str>>,
    /// Headers and credentials of the settings are not sent. Default: they are, to their origins.
    pub is_anonymous: bool,
}

/// Validators of an earlier answer (RFC 9110 section 8.8): the fields of a conditional request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`, as it was sent, for `If-None-Match`.
    pub etag: Option<String>,
    /// `Last-Modified`, for `If-Modified-Since`.
    pub last_modified: Option<Timestamp>,
}

impl Validators {
    /// Returns whether there is nothing to ask with.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// The fields of a request, by name and value.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let since = self.last_modified.map(|time| {
            // IMF-fixdate (RFC 9110 section 5.6.7).
            let text = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            ("if-modified-since", text)
        });
        let etag = self.etag.clone().map(|etag| ("if-none-match", etag));
        etag.into_iter().chain(since)
    }

    /// Returns whether an answer 304 with this `ETag` is about another state than the requested one, and so proves nothing about
    /// it (RFC 9111 section 4.3.4). The mark of a weak tag is ignored, and so is the mark of a coding, because an answer 304 has
    /// none.
    pub fn are_not_of(&self, etag: Option<&str>) -> bool {
        let asked = self.etag.as_deref().map(opaque_tag);
        asked
            .zip(etag.map(opaque_tag))
            .is_some_and(|(asked, answered)| asked != answered)
    }
}

/// The value of an `ETag` without its quotes and without the mark of a coding.
fn opaque_tag(etag: &str) -> &str {
    const CODINGS: [&str; 4] = ["gzip", "br", "zstd", "deflate"];
    let etag = etag.trim();
    let etag = etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"');
    let separators = ['-', ';', ':', '+'];
    let without_coding = CODINGS.iter().find_map(|coding| {
        let tag = etag.strip_suffix(coding)?;
        tag.ends_with(separators)
            .then(|| tag.trim_end_matches(separators))
    });
    without_coding.filter(|tag| !tag.is_empty()).unwrap_or(etag)
}

/// Options of the call of a service that requests of a crawl do not need.
#[derive(Clone, PartialEq, Eq)]
pub struct CallOptions {
    /// Form of the URL in messages and logs: the URL itself may have a key.
    pub shown: Arc<str>,
    /// The method.
    pub method: CallMethod,
    /// A body of JSON that is sent.
    pub json: Option<Arc<str>>,
    /// The token of `Authorization: Bearer`.
    pub bearer: Option<Secret>,
}

/// The method of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallMethod {
    /// It changes nothing.
    #[default]
    Get,
    /// It sends something.
    Post,
    /// It puts something in its place, however often it is sent.
    Put,
}

impl fmt::Debug for CallOptions {
    /// Bodies and tokens hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("shown", &self.shown)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// GET of `url`, of whose answer at most so many bytes are read.
    pub fn get(url: &UrlKey, max_body_bytes: u64) -> Self {
        Self {
            url: url.clone(),
            max_body_bytes,
            call: None,
            validators: None,
            cookie: None,
            sent_as: None,
            is_anonymous: false,
        }
    }

    /// The URL that is sent.
    pub(crate) fn sent_url(&self) -> url::Url {
        let sent_as = self.sent_as.as_deref();
        let sent_as = sent_as.and_then(|text| url::Url::parse(text).ok());
        sent_as.unwrap_or_else(|| self.url.to_url())
    }

    /// Form of the URL in messages and logs.
    pub fn shown(&self) -> &str {
        let call = self.call.as_ref();
        call.map_or(self.url.as_str(), |call| &call.shown)
    }
}

/// The default types of a request: HTML first. Other types are accepted too; the type of the answer decides.
pub const PAGE_TYPES: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1";

/// Receives an answer while it arrives.
pub trait BodySink {
    /// The value of `Accept` (RFC 9110 section 12.5.1) for the types that can be received; [`PAGE_TYPES`] by default.
    fn accepted_types(&self) -> &'static str {
        PAGE_TYPES
    }
    /// The head has arrived. Returns whether the body is wanted.
    fn head(&mut self, head: &ResponseHead) -> BodyWish;
    /// The next decoded piece of the body, never empty. Returns whether more is wanted.
    fn chunk(&mut self, bytes: &[u8]) -> BodyWish;
}

/// Wish of a [`BodySink`] for (more of) the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyWish {
    /// Go on.
    Read,
    /// Stop here; the rest is not read and the answer ends as [`BodyEnd::Skipped`].
    Stop,
}

/// Status and headers of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseHead {
    /// HTTP status, 200 to 599.
    pub status: u16,
    /// Headers in order of arrival.
    pub headers: Headers,
}

/// Response headers: names in lower case, values as bytes, repeated lines kept apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(Box<str>, Box<[u8]>)>);

impl Headers {
    /// Adds a line; `name` is stored in lower case.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.0
            .push((name.to_ascii_lowercase().into(), value.into()));
    }

    /// The same headers, with this line in the place of those of `name` (given in lower case).
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(known, _)| &**known != name);
        self.push(name, value.as_bytes());
        self
    }

    /// All values of `name` (given in lower case), in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .filter(move |(known, _)| &**known == name)
            .map(|(_, value)| &**value)
    }

    /// The first value of `name` (given in lower case) as text, trimmed; `None` when absent or not UTF-8.
    pub fn text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        std::str::from_utf8(self.all(name).next()?)
            .ok()
            .map(str::trim_ascii)
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(lines: I) -> Self {
        let mut headers = Self::default();
        for (name, value) in lines {
            headers.push(name, value.as_bytes());
        }
        headers
    }
}

/// An answer after its body has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Status and headers.
    pub head: ResponseHead,
    /// End of the body.
    pub end: BodyEnd,
    /// Body bytes that came over the wire: coded as they were sent, without the framing of chunks.
    pub wire_bytes: u64,
}

/// Kind of failure without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FetchErrorKind {
    /// The host name could not be resolved.
    Dns,
    /// No connection (refused, unreachable).
    Connect,
    /// The TLS handshake or the certificate failed.
    Tls,
    /// A time limit passed.
    Timeout,
    /// The connection was reset or closed before the head was complete.
    Reset,
    /// The server broke the rules of HTTP/2, or wants HTTP/1.1: further requests to its origin use that.
    Http1Next,
    /// The answer is not HTTP, or breaks its rules or our limits for heads.
    Protocol,
    /// The address guard refused the host or every address of it.
    Forbidden,
    /// This machine is at fault: it has no network, no file descriptor left, or does not reach its proxy.
    Local,
}

impl FetchErrorKind {
    /// Returns whether another try may help: the failure is on the way, not in the answer.
    pub fn is_passing(self) -> bool {
        match self {
            Self::Dns | Self::Connect | Self::Timeout | Self::Reset | Self::Http1Next => true,
            Self::Tls | Self::Protocol | Self::Forbidden | Self::Local => false,
        }
    }
}

/// A request that got no usable answer.
#[derive(Debug)]
pub struct FetchError {
    kind: FetchErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl FetchError {
    /// A failure of `kind`; `message` is a lowercase fragment that names the thing.
    pub fn new(kind: FetchErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// A setting that cannot be used; `message` names it.
    fn bad_setting(message: impl Into<String>) -> Self {
        Self::new(FetchErrorKind::Protocol, message)
    }

    /// The kind, for callers to branch on.
    pub fn kind(&self) -> FetchErrorKind {
        self.kind
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_304_with_another_tag_is_refused() {
        #[track_caller]
        fn check(asked: Option<&str>, answered: Option<&str>, is_of: bool) {
            let validators = Validators {
                etag: asked.map(str::to_owned),
                last_modified: None,
            };
            assert_eq!(
                validators.are_not_of(answered),
                !is_of,
                "{asked:?} {answered:?}"
            );
        }
        check(Some("\"1\""), Some("\"1\""), true);
        check(Some("\"1\""), Some("\"2\""), false);
        check(Some("W/\"1\""), Some("W/\"2\""), false);
        check(Some("W/\"1\""), Some("\"1\""), true);
        check(Some("\"1\""), None, true);
        check(None, Some("\"1\""), true);
        check(Some("1"), Some("\"1\""), true);
        // What servers make of it when they compress.
        check(Some("\"1-gzip\""), Some("\"1\""), true);
        check(Some("\"1;br\""), Some("\"1--gzip\""), true);
        check(Some("\"1-gzip\""), Some("\"2-gzip\""), false);
        check(Some("\"gzip\""), Some("\"br\""), false);
        check(Some("\"-gzip\""), Some("\"-br\""), false);
    }
}
