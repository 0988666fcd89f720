//! A web site on loopback: it answers by a function, and logs every request.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as the site saw it.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path and query, as sent.
    pub target: String,
    /// Headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// Number of earlier requests for this target.
    pub earlier: usize,
}

/// What the site answers.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Headers besides `Content-Length`, `Date` and `Connection`.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Time until the head is sent.
    pub delay: Duration,
    /// `Date` is sent (default).
    pub has_date: bool,
    /// Announced length, when it is not that of the body: the connection closes after the body.
    pub announced: Option<usize>,
    /// No answer: the connection is closed.
    pub is_dropped: bool,
    /// The body is sent this many times with this pause before each; the connection closes
    /// after it.
    pub repeats: Option<(usize, Duration)>,
    /// The head is never finished: the connection stays silent until the client gives up.
    pub stalls_in_head: bool,
}

impl Response {
    /// 200 with HTML.
    pub fn html(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type".into(), "text/html; charset=utf-8".into())],
            body: body.into().into_bytes(),
            delay: Duration::ZERO,
            has_date: true,
            announced: None,
            is_dropped: false,
            repeats: None,
            stalls_in_head: false,
        }
    }

    /// 200 with a page that links to `targets`.
    pub fn linking<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> Self {
        let link = |target: T| format!("<li><a href=\"{0}\">{0}</a></li>\n", target.as_ref());
        let links: String = targets.into_iter().map(link).collect();
        Self::html(format!(
            "<!doctype html>\n<title>A page</title>\n<h1>A page</h1>\n<ul>\n{links}</ul>\n"
        ))
    }

    /// 200 with plain text.
    pub fn text(body: impl Into<String>) -> Self {
        Self {
            headers: vec![("Content-Type".into(), "text/plain".into())],
            ..Self::html(body)
        }
    }

    /// A short answer with this status.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::html(format!("<!doctype html><title>{status}</title>"))
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, target: &str) -> Self {
        Self::status(status).with("Location", target)
    }

    /// No answer: the connection is closed.
    pub fn dropped() -> Self {
        Self {
            is_dropped: true,
            ..Self::html("")
        }
    }

    /// The same with a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, its body sent `times` times (`usize::MAX`: without end) with a pause before each.
    #[must_use]
    pub fn repeated(mut self, times: usize, pause: Duration) -> Self {
        self.repeats = Some((times, pause));
        self
    }

    /// The same, sent after `delay`.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

/// One line of the site's log.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Path and query, as sent.
    pub target: String,
    /// Headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// The body that was sent; empty for a GET.
    pub body: String,
    /// When the head of the request had arrived.
    pub begun: Instant,
    /// When the answer was written; `None` while it is not.
    pub ended: Option<Instant>,
    /// Requests being answered at its beginning, itself included.
    pub in_flight: usize,
    /// Status that was answered.
    pub status: u16,
    /// Headers that were answered, without those that the site adds by itself.
    pub sent: Vec<(String, String)>,
}

type Answer = dyn Fn(&Request) -> Response + Send + Sync;

struct Shared {
    answer: Box<Answer>,
    log: Mutex<Vec<Seen>>,
    counts: Mutex<HashMap<String, usize>>,
    in_flight: AtomicUsize,
    is_stopping: AtomicBool,
    tls: Option<Arc<ServerConfig>>,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running site; stops when it is dropped.
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Site {
    /// Starts a site on a free port of 127.0.0.1.
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::start_with(None, answer)
    }

    /// A site that sends no `Date`: for a program with a clock that the test changes, which the clock of the site does not follow.
    pub fn undated(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::start(move |request| Response {
            has_date: false,
            ..answer(request)
        })
    }

    /// A site whose pages answer by `page`; its robots.txt allows everything.
    pub fn allowing(page: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::start(move |request| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            _ => page(request),
        })
    }

    /// A site with two pages.
    pub fn of_two_pages() -> Self {
        Self::allowing(|request| match request.target.as_str() {
            "/" => Response::linking(["/a"]),
            _ => Response::html("<title>a</title>"),
        })
    }

    /// Starts a site that speaks TLS.
    pub fn start_tls(
        tls: Arc<ServerConfig>,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(tls), answer)
    }

    fn start_with(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let address = listener.local_addr().expect("the listener has an address");
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            log: Mutex::default(),
            counts: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
            tls,
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.is_stopping.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { address, shared }
    }

    /// `http://127.0.0.1:port` (or https), without a slash at the end.
    pub fn origin(&self) -> String {
        let scheme = if self.shared.tls.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}", self.address)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// Every request so far, in order of arrival.
    pub fn log(&self) -> Vec<Seen> {
        self.shared.log().clone()
    }

    /// The requested targets so far, without robots.txt.
    pub fn pages(&self) -> Vec<String> {
        self.log()
            .into_iter()
            .map(|seen| seen.target)
            .filter(|target| target != "/robots.txt")
            .collect()
    }

    /// Forgets the log.
    pub fn clear_log(&self) {
        self.shared.log().clear();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(shared: &Shared, stream: TcpStream) {
    drop(stream.set_nodelay(true));
    drop(stream.set_read_timeout(Some(Duration::from_secs(30))));
    match &shared.tls {
        None => converse(shared, stream),
        Some(config) => {
            if let Ok(connection) = ServerConnection::new(Arc::clone(config)) {
                converse(shared, StreamOwned::new(connection, stream));
            }
        }
    }
}

fn converse(shared: &Shared, stream: impl Read + Write) {
    let mut stream = BufReader::new(stream);
    while let Some((target, headers, is_last)) = read_head(&mut stream) {
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        let Some(body) = read_body(&mut stream, &headers) else {
            return;
        };
        let in_flight = shared.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        let begun = Instant::now();
        let position = {
            let mut log = shared.log();
            log.push(Seen {
                target: target.clone(),
                headers: headers.clone(),
                body,
                begun,
                ended: None,
                in_flight,
                status: 0,
                sent: Vec::new(),
            });
            log.len() - 1
        };
        let earlier = {
            let mut counts = shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(target.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let response = (shared.answer)(&Request {
            target,
            headers,
            earlier,
        });
        thread::sleep(response.delay);
        let ended = Instant::now();
        // Before the last byte leaves, so that the next request never finds this one in flight.
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
        if let Some(seen) = shared.log().get_mut(position) {
            seen.ended = Some(ended);
            seen.status = response.status;
            seen.sent.clone_from(&response.headers);
        }
        if response.is_dropped || send(stream.get_mut(), &response).is_err() {
            return;
        }
        let ends = response.announced.is_some() || response.repeats.is_some();
        if ends || is_last || response.stalls_in_head {
            return;
        }
    }
}

fn send(stream: &mut (impl Read + Write), response: &Response) -> std::io::Result<()> {
    if response.stalls_in_head {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/ht")?;
        stream.flush()?;
        // Ends when the client closes the connection.
        return stream.read(&mut [0]).map(drop);
    }
    stream.write_all(&encode(response))?;
    stream.flush()?;
    let (times, pause) = response.repeats.unwrap_or_default();
    for _ in 0..times {
        thread::sleep(pause);
        stream.write_all(&response.body)?;
        stream.flush()?;
    }
    Ok(())
}

/// Target and headers of a request, and whether it is the last one of its connection.
fn read_head(
    stream: &mut impl std::io::BufRead,
) -> Option<(String, HashMap<String, String>, bool)> {
    let mut line = String::new();
    if stream.by_ref().take(16_384).read_line(&mut line).ok()? == 0 {
        return None;
    }
    let target = line.split(' ').nth(1)?.to_owned();
    let is_last = line.trim_end().ends_with("HTTP/1.0");
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.by_ref().take(16_384).read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            return Some((target, headers, is_last));
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
}

/// The body of a request, by its length.
fn read_body(stream: &mut impl Read, headers: &HashMap<String, String>) -> Option<String> {
    let length = headers.get("content-length");
    let length = length.map_or(Some(0), |length| length.parse::<u64>().ok())?;
    let mut body = String::new();
    let read = stream.take(length).read_to_string(&mut body).ok()?;
    (read as u64 == length).then_some(body)
}

fn encode(response: &Response) -> Vec<u8> {
    let Response {
        status,
        headers,
        body,
        has_date,
        announced,
        repeats,
        ..
    } = response;
    let mut head = format!("HTTP/1.1 {status} Status\r\n");
    if *has_date {
        let now = httpdate::fmt_http_date(std::time::SystemTime::now());
        head.extend(["Date: ", &now, "\r\n"]);
    }
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    let length = announced.unwrap_or(body.len());
    let has_body = !matches!(status, 204 | 304) && repeats.is_none();
    if has_body {
        head.extend(["Content-Length: ", &length.to_string(), "\r\n"]);
    } else if repeats.is_some() {
        head.push_str("Connection: close\r\n");
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    bytes
}
