//! HTTP over real sockets, on `reqwest`; no other file uses that crate.
//!
//! The client is stripped to one request and one answer: no redirects, no cookies of its own, no referer, no
//! decoding, no proxies of the environment. What is left to do here: ask the guard, resolve, send,
//! watch the clock, and stream the body to its sink within the caps.

use std::{
    collections::HashSet,
    fmt,
    net::SocketAddr,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::{
    Client, Proxy, Response, Url, Version,
    dns::{Addrs, Name, Resolve as ReqwestResolve, Resolving},
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderMap,
        HeaderName, HeaderValue,
    },
    redirect,
};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    BodySink, BodyWish, BoxFuture, CallMethod, CallOptions, Fetch, FetchError, FetchErrorKind,
    Fetched, Headers, Request, ResponseHead, Validators,
    attempt::{Attempt, WatchLayer},
    body::BodyReader,
    fault::{self, AttemptPhase, RequestTarget},
    route::Router,
    tls,
};
use crate::{
    config::{Credentials, FetchConfig},
    page::BodyEnd,
    url_key::Origin,
};

/// `Content-Type` of JSON in requests, as `IndexNow` specifies it.
const JSON: &str = "application/json; charset=utf-8";

/// Codings that [`super::decode`] supports.
const ACCEPTED_CODINGS: &str = "gzip, br, zstd, deflate";

/// Most header lines of an answer. Real ones have twenty or thirty; browsers allow more.
const MAX_HEAD_LINES: usize = 256;

/// Most header lines that the client reads over HTTP/1.1, where its error does not name the broken limit.
const MAX_READ_LINES: usize = 16 * MAX_HEAD_LINES;

/// Most bytes of all header lines together, as in Chromium.
const MAX_HEAD_BYTES: u32 = 256 * 1024;

/// Idle connections are closed before common servers do so (Node after 5 s): a request that meets
/// the server's close on its way is lost.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Most idle connections that are kept for one host: the largest `concurrency` that may be set. There are
/// never more than requests were in flight at once, and each of those needs its connection again.
const POOL_MAX_IDLE: usize = 1_000;

/// Largest part of an unwanted body that is read when this keeps an HTTP/1.1 connection alive: the body of a redirect or an error
/// page costs both sides less than a new connection.
const DRAIN_BYTES: u64 = 16 * 1024;

/// Time for which such a body is awaited.
const DRAIN_TIME: Duration = Duration::from_millis(250);

/// Header fields that belong to the client; a setting that changed them would break the protocol or the manners.
const RESERVED_HEADERS: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// [`Fetch`] on the network.
///
/// Every finished request is one `DEBUG` event with target `fetch`: URL, status, HTTP version, bytes
/// on the wire, how the body ended, time.
///
/// ```
/// use crawler::{
///     config::FetchConfig,
///     fetch::{BodySink, BodyWish, Fetch, Request, ResponseHead, http::HttpFetch},
///     page::BodyEnd,
///     url_key::Identity,
/// };
/// use std::{io::{Read, Write}, net::TcpListener, thread};
///
/// struct Page(Vec<u8>);
///
/// impl BodySink for Page {
///     fn head(&mut self, head: &ResponseHead) -> BodyWish {
///         if head.status == 200 { BodyWish::Read } else { BodyWish::Stop }
///     }
///     fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
///         self.0.extend_from_slice(bytes);
///         BodyWish::Read
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let url = format!("http://{}/", listener.local_addr()?);
/// thread::spawn(move || {
///     let (mut stream, _) = listener.accept().unwrap();
///     stream.read(&mut [0; 1024]).unwrap();
///     stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
/// });
///
/// // The guard lets a crawl of this machine contact this machine.
/// let config = FetchConfig { start_host: "127.0.0.1".to_owned(), ..FetchConfig::default() };
/// let fetch = HttpFetch::new(&config)?;
/// let request = Request::get(&Identity::default().parse(&url)?, config.max_body_bytes);
/// let mut page = Page(Vec::new());
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// let fetched = runtime.block_on(fetch.fetch(&request, &mut page))?;
/// assert_eq!(fetched.end, BodyEnd::Complete);
/// assert_eq!(page.0, b"hello");
/// # Ok(())
/// # }
/// ```
pub struct HttpFetch {
    client: Client,
    /// Offers HTTP/1.1 alone.
    http1_client: Client,
    /// Origins that broke the rules of HTTP/2.
    http1_origins: Mutex<HashSet<Origin>>,
    router: Router,
    /// Extra headers and credentials.
    private_headers: HeaderMap,
    private_origins: Vec<Origin>,
    connect_timeout: Duration,
    head_timeout: Duration,
    idle_timeout: Duration,
    total_timeout: Duration,
}

impl HttpFetch {
    /// A client for one crawl. Reads the trusted certificates; opens no connection.
    ///
    /// # Errors
    /// A setting cannot be used, the message names it: the CA file, the proxy, an extra header, the
    /// credentials, the user agent, the start host.
    pub fn new(config: &FetchConfig) -> Result<Self, FetchError> {
        let tls = tls::client_config(config.ca_file.as_deref())?;
        let mut http1_tls = tls.clone();
        http1_tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let client = client(config, tls)?;
        let http1_client = self::client(config, http1_tls)?;
        let mut private_headers = private_headers(config)?;
        if let Some(credentials) = &config.credentials
            && let Some(value) = authorization(&client, credentials)?
        {
            private_headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            client,
            http1_client,
            http1_origins: Mutex::default(),
            router: Router::new(config)?,
            private_headers,
            private_origins: config.credential_origins.clone(),
            connect_timeout: config.connect_timeout,
            head_timeout: config.head_timeout,
            idle_timeout: config.idle_timeout,
            total_timeout: config.total_timeout,
        })
    }

    async fn run(
        &self,
        request: &Request,
        sink: &mut (dyn BodySink + Send),
        deadline: Instant,
    ) -> Result<(Fetched, Version), FetchError> {
        let url = request.sent_url();
        let target = RequestTarget {
            url: request.shown(),
            host: url.host_str().unwrap_or_default(),
            port: url.port_or_known_default().unwrap_or_default(),
            proxy: self.router.proxy(),
        };
        let attempt = timeout_at(deadline, self.router.attempt(&url))
            .await
            .map_err(|_| {
                fault::timed_out(
                    &format!("{} was not resolved", target.host),
                    self.total_timeout,
                )
            })??;
        let message = self.message(request, &url, sink.accepted_types());
        let origin = request.url.origin();
        let is_http1 = self.http1_origins().contains(&origin);
        let sent = self.send(message, is_http1, target, attempt, deadline);
        let mut response = match sent.await {
            Ok(response) => response,
            Err(error) if !is_http1 && fault::breaks_http2(&error) => {
                // Browsers go on with HTTP/1.1, and so do all further requests; the next try waits for its permit.
                self.http1_origins().insert(origin);
                let message = format!("{error}; the next request uses HTTP/1.1");
                return Err(FetchError::new(FetchErrorKind::Http1Next, message).with_source(error));
            }
            Err(error) => return Err(error),
        };
        let head = read_head(&response, target)?;
        let version = response.version();
        let (end, wire_bytes) = self
            .read_body(request, &head, &mut response, sink, deadline)
            .await;
        Ok((
            Fetched {
                head,
                end,
                wire_bytes,
            },
            version,
        ))
    }

    fn http1_origins(&self) -> MutexGuard<'_, HashSet<Origin>> {
        let origins = self.http1_origins.lock();
        // It is whole also when another thread panicked.
        origins.unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the request until its head is there. A connection of the pool that breaks off before that may have been closed by
    /// the server while the request was on its way. The server may also have seen the request, so another try waits for a permit
    /// like any other.
    async fn send(
        &self,
        message: reqwest::Request,
        is_http1: bool,
        target: RequestTarget<'_>,
        attempt: Attempt,
        deadline: Instant,
    ) -> Result<Response, FetchError> {
        let attempt = Arc::new(attempt);
        let outcome = self.send_once(message, is_http1, &attempt, deadline).await;
        outcome.map_err(|failure| match failure {
            HttpFailure::Total => fault::timed_out(
                &format!("no answer from {}", target.url),
                self.total_timeout,
            ),
            HttpFailure::Head => fault::timed_out(
                &format!("no complete head from {}", target.url),
                self.head_timeout,
            ),
            HttpFailure::Client(error) if error.is_connect() => {
                self.router.mark_suspect(attempt.name());
                if error.is_timeout() {
                    let what = format!("no connection to {target}");
                    return fault::timed_out(&what, self.connect_timeout);
                }
                fault::describe(&error, AttemptPhase::Connecting, target)
                    .with_source(error.without_url())
            }
            HttpFailure::Client(error) => fault::describe(&error, AttemptPhase::Waiting, target)
                .with_source(error.without_url()),
        })
    }

    async fn send_once(
        &self,
        message: reqwest::Request,
        is_http1: bool,
        attempt: &Arc<Attempt>,
        deadline: Instant,
    ) -> Result<Response, HttpFailure> {
        let client = if is_http1 {
            &self.http1_client
        } else {
            &self.client
        };
        let sending = Arc::clone(attempt).run(client.execute(message));
        let mut sending = std::pin::pin!(sending);
        let head_deadline = || attempt.head_deadline(self.connect_timeout, self.head_timeout);
        let mut limit = head_deadline();
        loop {
            match timeout_at(limit.min(deadline), &mut sending).await {
                Ok(outcome) => return outcome.map_err(HttpFailure::Client),
                Err(_) if limit >= deadline => return Err(HttpFailure::Total),
                // The limit has moved if a connection had to be opened first.
                Err(_) if limit < head_deadline() => limit = head_deadline(),
                Err(_) => return Err(HttpFailure::Head),
            }
        }
    }

    fn message(
        &self,
        request: &Request,
        url: &Url,
        accepted_types: &'static str,
    ) -> reqwest::Request {
        let mut message = reqwest::Request::new(reqwest::Method::GET, url.clone());
        let headers = message.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(accepted_types));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED_CODINGS));
        if let Some(call) = &request.call {
            add_call(&mut message, call);
        }
        let headers = message.headers_mut();
        for (name, value) in request.validators.iter().flat_map(Validators::fields) {
            // What no header can hold is left out: the whole answer comes then.
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        if let Some(Ok(mut value)) = request.cookie.as_deref().map(HeaderValue::try_from) {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
        let is_private = |origin: &Origin| request.url.is_on(origin);
        if !request.is_anonymous && self.private_origins.iter().any(is_private) {
            for name in self.private_headers.keys() {
                headers.remove(name);
            }
            headers.extend(
                self.private_headers
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        message
    }

    /// Streams the body into `sink`; how it ended, and its bytes on the wire. A time limit that
    /// passes cuts it short.
    async fn read_body(
        &self,
        request: &Request,
        head: &ResponseHead,
        response: &mut Response,
        sink: &mut (dyn BodySink + Send),
        deadline: Instant,
    ) -> (BodyEnd, u64) {
        if sink.head(head) == BodyWish::Stop {
            return (BodyEnd::Skipped, drain(response, deadline).await);
        }
        let framing = piece_framing(head, response.version());
        let (length, most) = (response.content_length(), request.max_body_bytes);
        let mut reader = match BodyReader::new(head, framing, length, most) {
            Ok(reader) => reader,
            Err(end) => return (end, 0),
        };
        let end = loop {
            let limit = deadline.min(Instant::now() + self.idle_timeout);
            let chunk = match timeout_at(limit, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break reader.end(),
                Ok(Err(error)) => {
                    tracing::debug!(target: "fetch", url = %request.shown(), error = %innermost(&error), "body cut short");
                    break BodyEnd::CutShort;
                }
                Err(_) => {
                    tracing::debug!(target: "fetch", url = %request.shown(), "body timed out");
                    break BodyEnd::CutShort;
                }
            };
            match timeout_at(deadline, reader.take_bytes(&chunk, sink)).await {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(end)) => break end,
                Err(_) => break BodyEnd::CutShort,
            }
        };
        let drained = match end {
            BodyEnd::Skipped => drain(response, deadline).await,
            // All of it was read, or the rest is not worth reading: the connection is closed.
            BodyEnd::Complete | BodyEnd::TooLarge | BodyEnd::CutShort | BodyEnd::Undecodable(_) => {
                0
            }
        };
        (end, reader.wire_bytes() + drained)
    }
}

impl Fetch for HttpFetch {
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let started = Instant::now();
            let outcome = self.run(request, sink, started + self.total_timeout).await;
            let elapsed = started.elapsed();
            match outcome {
                Ok((fetched, version)) => {
                    let (status, bytes) = (fetched.head.status, fetched.wire_bytes);
                    tracing::debug!(
                        target: "fetch",
                        url = %request.shown(), status, ?version, bytes, end = ?fetched.end, ?elapsed, "answered"
                    );
                    Ok(fetched)
                }
                Err(error) => {
                    tracing::debug!(target: "fetch", url = %request.shown(), %error, ?elapsed, "no answer");
                    Err(error)
                }
            }
        })
    }

    fn network(&self) -> Option<&'static str> {
        self.router.network()
    }
}

impl fmt::Debug for HttpFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpFetch").finish_non_exhaustive()
    }
}

/// Reason why there is no head.
enum HttpFailure {
    /// The whole request took too long.
    Total,
    /// The head took too long.
    Head,
    Client(reqwest::Error),
}

/// Gives the client the addresses that were checked for the current attempt, and no others.
struct CheckedAddresses;

impl ReqwestResolve for CheckedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = match Attempt::checked_addresses(name.as_str()) {
            // Port 0 is replaced by that of the URL.
            Some(addresses) => {
                let addresses = addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, 0));
                Ok(Box::new(addresses) as Addrs)
            }
            None => Err(format!("no checked address for {}", name.as_str()).into()),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Makes `message` a call of a service.
fn add_call(message: &mut reqwest::Request, call: &CallOptions) {
    *message.method_mut() = match call.method {
        CallMethod::Get => reqwest::Method::GET,
        CallMethod::Post => reqwest::Method::POST,
        CallMethod::Put => reqwest::Method::PUT,
    };
    if let Some(json) = &call.json {
        *message.body_mut() = Some(json.to_string().into());
        let headers = message.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    } else if call.method != CallMethod::Get {
        // Google answers 411 without a length.
        let headers = message.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    let bearer = call.bearer.as_ref();
    let value = bearer.map(|token| HeaderValue::try_from(format!("Bearer {}", token.reveal())));
    // What no header can hold is no token, and the service answers so.
    if let Some(Ok(mut value)) = value {
        value.set_sensitive(true);
        message.headers_mut().insert(AUTHORIZATION, value);
    }
}

fn client(config: &FetchConfig, tls: rustls::ClientConfig) -> Result<Client, FetchError> {
    let mut builder = Client::builder()
        .user_agent(&config.user_agent)
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .dns_resolver(CheckedAddresses)
        .connector_layer(WatchLayer)
        .connect_timeout(config.connect_timeout)
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(POOL_MAX_IDLE)
        .http1_max_headers(MAX_READ_LINES)
        // As browsers read heads (RFC 9112 5.1 and 5.2): a folded line is one line, and a line that is no header is skipped.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http2_max_header_list_size(MAX_HEAD_BYTES);
    if let Some(proxy) = &config.proxy {
        // The address may hold a password: it stays out of messages.
        builder = builder
            .proxy(Proxy::all(proxy).map_err(|_| FetchError::bad_setting("proxy is not a URL"))?);
    }
    builder.build().map_err(|error| {
        FetchError::bad_setting(format!("cannot use user agent {:?}", config.user_agent))
            .with_source(error)
    })
}

/// Extra headers, marked so that nothing prints them.
fn private_headers(config: &FetchConfig) -> Result<HeaderMap, FetchError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let unusable = |reason: &str| FetchError::bad_setting(format!("header {name:?} {reason}"));
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| unusable("is not a header name"))?;
        if RESERVED_HEADERS.contains(&parsed.as_str()) {
            return Err(unusable("cannot be set"));
        }
        let mut value = HeaderValue::from_str(value.reveal())
            .map_err(|_| unusable("has a value with forbidden characters"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// The `Authorization` header; encoded and marked by the client.
fn authorization(
    client: &Client,
    credentials: &Credentials,
) -> Result<Option<HeaderValue>, FetchError> {
    // The message is never sent, so any URL will do.
    let message = client.get("http://localhost/");
    let message = match credentials {
        Credentials::Basic { user, .. } if user.contains(':') => {
            return Err(FetchError::bad_setting("the user name holds a colon"));
        }
        Credentials::Basic { user, password } => message.basic_auth(user, Some(password.reveal())),
        Credentials::Bearer(token) => message.bearer_auth(token.reveal()),
    };
    let message = message
        .build()
        .map_err(|_| FetchError::bad_setting("the credentials hold forbidden characters"))?;
    Ok(message.headers().get(AUTHORIZATION).cloned())
}

/// Status and headers, when they are within the limits.
fn read_head(response: &Response, target: RequestTarget<'_>) -> Result<ResponseHead, FetchError> {
    let refused = |reason: &str| {
        Err(FetchError::new(
            FetchErrorKind::Protocol,
            format!("{}: {reason}", target.url),
        ))
    };
    let status = response.status().as_u16();
    if !(200..600).contains(&status) {
        return refused(&format!("status {status} is not an answer"));
    }
    let mut headers = Headers::default();
    let mut bytes = 0;
    for (name, value) in response.headers() {
        bytes += name.as_str().len() + value.len() + ": \r\n".len();
        headers.push(name.as_str(), value.as_bytes());
    }
    if response.headers().len() > MAX_HEAD_LINES {
        return refused(&format!("more than {MAX_HEAD_LINES} response headers"));
    }
    if bytes > MAX_HEAD_BYTES as usize {
        return refused(&format!(
            "more than {} KiB of response headers",
            MAX_HEAD_BYTES / 1024
        ));
    }
    Ok(ResponseHead { status, headers })
}

/// Bytes around each piece of a body: the header of a frame (RFC 9113 4.1), or the size of a short chunk and two line ends
/// (RFC 9112 7.1).
fn piece_framing(head: &ResponseHead, version: Version) -> u64 {
    if version == Version::HTTP_2 {
        9
    } else if head.headers.all("transfer-encoding").next().is_some() {
        5
    } else {
        0
    }
}

/// Reads the rest of a small body on HTTP/1.1, so that the connection can be used again; returns the number of bytes.
async fn drain(response: &mut Response, deadline: Instant) -> u64 {
    let is_small = response
        .content_length()
        .is_none_or(|length| length <= DRAIN_BYTES);
    if !is_small || response.version() > Version::HTTP_11 {
        return 0;
    }
    let mut bytes = 0;
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes += chunk.len() as u64;
            if bytes > DRAIN_BYTES {
                break;
            }
        }
    };
    // Whatever stopped it: the connection is closed when the answer is dropped unread.
    let _ = timeout(
        DRAIN_TIME.min(deadline.saturating_duration_since(Instant::now())),
        reading,
    )
    .await;
    bytes
}

fn innermost(error: &reqwest::Error) -> String {
    let first: &dyn std::error::Error = error;
    let last = std::iter::successors(Some(first), |error| error.source()).last();
    last.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
