//! A site and a clock for tests, without sockets and without real time. Under tokio's paused clock a crawl of hours takes milliseconds and its spacing
//! can be asserted exactly.

use std::{
    collections::HashMap,
    io::Write as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    clock::Clock,
    fetch::{
        BodySink, BodyWish, BoxFuture, Fetch, FetchError, FetchErrorKind, Fetched, Headers,
        Request, ResponseHead, Validators,
    },
    page::BodyEnd,
    url_key::{Origin, UrlKey},
};

pub use crate::html::{assert_tokens_of_html5ever, count_tags};

/// Compares a page of the guide, which is made from the code, with the file at `path`; with the variable `ARPENT_WRITE_GUIDE` writes
/// the file first.
///
/// # Panics
/// The file is another one.
pub fn assert_guide(path: &str, expected: &str) {
    if std::env::var_os("ARPENT_WRITE_GUIDE").is_some() {
        std::fs::write(path, expected).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == expected,
        "{path} is out of date; ARPENT_WRITE_GUIDE=1 cargo test writes it again"
    );
}

/// Prints in one line that the test under way is skipped. The line is printed also when the test passes.
///
/// # Panics
/// `ARPENT_REQUIRE_ALL` is set: no test may be skipped.
pub fn skip(reason: &str) {
    assert!(
        std::env::var_os("ARPENT_REQUIRE_ALL").is_none(),
        "a test may not be skipped here: {reason}"
    );
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // What the macros print is held back by the harness.
    drop(writeln!(std::io::stderr(), "skipped: {test}: {reason}"));
}

/// Whether the long tests run in full: the variable `ARPENT_FULL` is set.
pub fn is_full() -> bool {
    std::env::var_os("ARPENT_FULL").is_some()
}

/// Whether a long test takes its case `number`: each one in a full run, else one in `of`. The variable `ARPENT_SAMPLE`, for which
/// `.ci/run` takes the commit, chooses which.
pub fn is_in_sample(number: usize, of: usize) -> bool {
    let sample = std::env::var("ARPENT_SAMPLE").unwrap_or_default();
    let chosen = xxhash_rust::xxh3::xxh3_64(sample.as_bytes()) % of as u64;
    is_full() || number % of == usize::try_from(chosen).unwrap_or_default()
}

/// The cases that a long test takes ([`is_in_sample`]).
pub fn sample<T>(cases: impl IntoIterator<Item = T>, of: usize) -> impl Iterator<Item = T> {
    let cases = cases.into_iter().enumerate();
    cases.filter_map(move |(number, case)| is_in_sample(number, of).then_some(case))
}

/// Wall time that runs with tokio's clock, from a fixed instant on.
#[derive(Debug, Clone)]
pub struct TestClock {
    start: Timestamp,
    began: Instant,
}

impl TestClock {
    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            began: Instant::now(),
        }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.start
            .checked_add(self.began.elapsed())
            .unwrap_or(Timestamp::MAX)
    }
}

/// The answer of a fixture page.
#[derive(Debug, Clone)]
pub struct FixturePage {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Time from the request to the end of the answer.
    pub latency: Duration,
    /// When set, there is no answer but this failure.
    pub failure: Option<FetchErrorKind>,
}

impl FixturePage {
    /// 200 with an HTML body.
    pub fn html(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
            body: body.into().into_bytes(),
            latency: Duration::from_millis(5),
            failure: None,
        }
    }

    /// A page that links to `targets`.
    pub fn linking<'a>(targets: impl IntoIterator<Item = &'a str>) -> Self {
        let links: Vec<String> = targets
            .into_iter()
            .map(|target| format!("<a href=\"{target}\">{target}</a>"))
            .collect();
        let links = links.join("\n");
        Self::html(format!("<!doctype html><title>page</title><p>{links}</p>"))
    }

    /// An empty answer with `status`.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            ..Self::html("")
        }
    }

    /// A redirect to `target`.
    pub fn redirect(status: u16, target: &str) -> Self {
        Self::status(status).with_header("location", target)
    }

    /// Plain text, e.g. a robots.txt.
    pub fn text(body: &str) -> Self {
        let mut page = Self::html(body);
        page.headers = vec![("content-type".into(), "text/plain".into())];
        page
    }

    /// No answer at all.
    pub fn failing(kind: FetchErrorKind) -> Self {
        Self {
            failure: Some(kind),
            ..Self::html("")
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns whether it is still what an answer with these validators was.
    fn is_as(&self, asked: &Validators) -> bool {
        let header = |name| {
            let mut lines = self.headers.iter();
            let line = lines.find(|(known, _): &&(String, String)| known == name);
            line.map(|(_, value)| value.clone())
        };
        let own = match &asked.etag {
            Some(_) => ("if-none-match", header("etag")),
            None => ("if-modified-since", header("last-modified")),
        };
        asked
            .fields()
            .any(|(name, value)| name == own.0 && Some(value) == own.1)
    }

    /// The answer to a request for changes when there is none.
    fn not_modified(self) -> Self {
        let headers = self.headers.into_iter();
        Self {
            status: 304,
            headers: headers.filter(|(name, _)| name != "content-type").collect(),
            body: Vec::new(),
            ..self
        }
    }

    /// Answers after `latency`.
    #[must_use]
    pub fn after(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }
}

/// A request that a [`FixtureSite`] saw.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// Whole URL.
    pub url: String,
    /// The validators of the request.
    pub validators: Option<Validators>,
    /// When it came in.
    pub begun: Instant,
    /// When its answer ended.
    pub ended: Option<Instant>,
    /// Requests in flight on the same host while it was out, itself included, at its beginning.
    pub in_flight: usize,
}

/// See [`FixtureSite::scripted`].
pub type Script = dyn Fn(&str, usize) -> Option<FixturePage> + Send + Sync;

/// See [`FixtureSite::answering_conditionally`].
pub type Conditionally = dyn Fn(&str, &Validators) -> Option<FixturePage> + Send + Sync;

/// A site in memory: pages by whole URL, 404 for the rest, and a log of every request. A host name with `www.`, or without, that
/// has no page, and another scheme of a host that has one, do not answer; such requests are not in the log.
#[derive(Clone, Default)]
pub struct FixtureSite {
    pages: Arc<HashMap<String, FixturePage>>,
    /// Asked first, with the URL and how often it was asked for before.
    script: Option<Arc<Script>>,
    /// Asked before it, of conditional requests.
    conditionally: Option<Arc<Conditionally>>,
    /// Every conditional request is answered 304.
    lies: Arc<AtomicBool>,
    log: Arc<Mutex<Vec<SeenRequest>>>,
}

impl std::fmt::Debug for FixtureSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FixtureSite")
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}

impl FixtureSite {
    /// A site with these pages, by whole URL.
    pub fn new<'a>(pages: impl IntoIterator<Item = (&'a str, FixturePage)>) -> Self {
        let pages = pages
            .into_iter()
            .map(|(url, page)| (url.to_owned(), page))
            .collect();
        Self {
            pages: Arc::new(pages),
            ..Self::default()
        }
    }

    /// A site with a script that may answer first: it gets the URL and how often it was asked for before.
    #[must_use]
    pub fn scripted(
        mut self,
        script: impl Fn(&str, usize) -> Option<FixturePage> + Send + Sync + 'static,
    ) -> Self {
        self.script = Some(Arc::new(script));
        self
    }

    /// Gives the site an answer of its own to conditional requests: it gets the URL and what it was asked with.
    #[must_use]
    pub fn answering_conditionally(
        mut self,
        answer: impl Fn(&str, &Validators) -> Option<FixturePage> + Send + Sync + 'static,
    ) -> Self {
        self.conditionally = Some(Arc::new(answer));
        self
    }

    /// From now on, whether the site calls everything not modified, without a word of what it has. Otherwise it does what RFC 9110
    /// section 13.2 requires, for pages with an `etag` or `last-modified`.
    pub fn lie(&self, lies: bool) {
        self.lies.store(lies, Ordering::SeqCst);
    }

    /// The argument of [`FixtureSite::scripted`].
    pub fn script(&self) -> Option<Arc<Script>> {
        self.script.clone()
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.log().clone()
    }

    fn log(&self) -> MutexGuard<'_, Vec<SeenRequest>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the origin of a URL is another spelling of one that has pages, and has none itself.
    fn is_unknown_spelling(&self, url: &UrlKey) -> bool {
        let has_pages = |origin: &Origin| {
            let start = format!("{origin}/");
            let script = self.script.as_ref();
            self.pages.keys().any(|page| page.starts_with(&start))
                || script.is_some_and(|script| script(&start, 0).is_some())
        };
        let origin = url.origin();
        origin.spellings().iter().any(has_pages) && !has_pages(&origin)
    }

    fn begin(&self, request: &Request) -> (usize, FixturePage) {
        let url = request.sent_url();
        let mut log = self.log();
        let earlier = log
            .iter()
            .filter(|request| request.url == url.as_str())
            .count();
        let host = request.url.host();
        let same_host = |request: &&SeenRequest| {
            UrlKey::from_normalised(&request.url).is_ok_and(|other| other.host() == host)
        };
        let in_flight = 1 + log
            .iter()
            .filter(|request| request.ended.is_none())
            .filter(same_host)
            .count();
        log.push(SeenRequest {
            url: url.as_str().to_owned(),
            validators: request.validators.clone(),
            begun: Instant::now(),
            ended: None,
            in_flight,
        });
        let position = log.len() - 1;
        drop(log);
        if let (Some(answer), Some(asked)) = (&self.conditionally, &request.validators)
            && let Some(page) = answer(url.as_str(), asked)
        {
            return (position, page);
        }
        let scripted = self
            .script
            .as_ref()
            .and_then(|script| script(url.as_str(), earlier));
        let page = scripted.or_else(|| self.pages.get(url.as_str()).cloned());
        let page = page.unwrap_or_else(|| FixturePage::status(404));
        let answer = match &request.validators {
            Some(_) if self.lies.load(Ordering::SeqCst) => FixturePage {
                latency: page.latency,
                ..FixturePage::status(304)
            },
            Some(asked) if page.status == 200 && page.is_as(asked) => page.not_modified(),
            Some(_) | None => page,
        };
        (position, answer)
    }
}

impl Fetch for FixtureSite {
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            if self.is_unknown_spelling(&request.url) {
                return Err(FetchError::new(FetchErrorKind::Dns, "no such host"));
            }
            let (position, page) = self.begin(request);
            let _ends = RequestEnd {
                site: self,
                position,
            };
            tokio::time::sleep(page.latency).await;
            if let Some(kind) = page.failure {
                return Err(FetchError::new(kind, "fixture failure"));
            }
            let headers: Headers = page
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let head = ResponseHead {
                status: page.status,
                headers,
            };
            let mut end = BodyEnd::Complete;
            let wish = sink.head(&head);
            if wish == BodyWish::Stop {
                end = BodyEnd::Skipped;
            } else {
                let most = usize::try_from(request.max_body_bytes).unwrap_or(usize::MAX);
                if page.body.len() > most {
                    end = BodyEnd::TooLarge;
                }
                let wanted = page.body.split_at(most.min(page.body.len())).0;
                for chunk in wanted.chunks(1_000) {
                    if sink.chunk(chunk) == BodyWish::Stop {
                        end = BodyEnd::Skipped;
                        break;
                    }
                }
            }
            Ok(Fetched {
                head,
                end,
                wire_bytes: page.body.len() as u64,
            })
        })
    }
}

/// Notes the end of a request, also when its future is dropped.
struct RequestEnd<'a> {
    site: &'a FixtureSite,
    position: usize,
}

impl Drop for RequestEnd<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.site.log().get_mut(self.position) {
            request.ended = Some(Instant::now());
        }
    }
}
