//! From the URL that was typed to the site that is crawled: robots.txt first, then the start URL and
//! its redirects, each hop under the rules of its own origin and under its host's clocks. Each page on the way is fetched
//! whole.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Display,
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{
    gate::{
        Answered, Gate, OwnLocation, Refused, Robots, Unread, location, own_location, sets_cookie,
        too_slow,
    },
    page_sink::{Found, PageSink, WantedBody},
    signal,
};
use crate::{
    config::Config,
    fetch::{BodySink, BodyWish, FetchError, FetchErrorKind, Fetched, Request, ResponseHead},
    notes::Note,
    outcome::SessionOutcome,
    page::{BodyEnd, PageFacts},
    parse::{PageParser, PageReader},
    politeness::Signal,
    robots::{RobotsSink, Rules},
    site::{self, Site},
    url_key::{Identity, Origin, UrlKey},
    verdict::MAX_HOPS,
};

/// Why a crawl cannot begin with its start URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The start URL cannot be the start of a crawl: unreachable, not 200, disallowed, or it leads elsewhere.
    #[error("{}", .0.text)]
    Page(Note),
    /// robots.txt could not be read (5xx, 429, network): nothing may be fetched.
    #[error("{}", .0.text)]
    Robots(Note),
    /// A setting contradicts the site.
    #[error("{0}")]
    Settings(String),
    /// Stopped before the start URL answered.
    #[error("stopped before the crawl came to its end")]
    Stopped,
}

impl StartError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Page(_) | Self::Robots(_) => SessionOutcome::Unreachable,
            Self::Settings(_) => SessionOutcome::Settings,
            Self::Stopped => SessionOutcome::Interrupted,
        }
    }

    /// The note that explains it, for whoever shows notes.
    pub fn note(&self) -> Option<&Note> {
        match self {
            Self::Page(note) | Self::Robots(note) => Some(note),
            Self::Settings(_) | Self::Stopped => None,
        }
    }
}

/// An answer on the way from the typed URL to the site.
pub(crate) struct Hop {
    pub(crate) url: UrlKey,
    pub(crate) facts: PageFacts,
    /// The kind of document when it is not a page, or may not be one.
    pub(crate) found: Option<Found>,
    pub(crate) attempts: u32,
    /// The answer sets a cookie.
    sets_cookie: bool,
    /// The request had cookies.
    has_cookies: bool,
    /// The server asks for https in the place of http (`Strict-Transport-Security`, `upgrade-insecure-requests`).
    pub(crate) asks_for_https: bool,
    answer: KeptAnswer,
    /// The form in which the URL was sent, when it is not its own.
    written: Option<Arc<str>>,
}

impl Hop {
    /// The form of writing in which the URL redirects to itself.
    fn other_writing(&self, gate: &Gate) -> Option<Arc<str>> {
        let (head, sent) = (&self.answer.fetched.head, self.url.to_url());
        match own_location(&gate.identity, &self.url, &sent, head)? {
            OwnLocation::Written(written) => Some(written),
            OwnLocation::Named(_) => None,
        }
    }

    /// Reads the answer with another identity of URLs.
    pub(crate) fn read_again(&mut self, guide: &Guide<'_>, identity: &Identity) {
        let sink = self.answer.read(guide, &self.url, identity);
        let duration = self.facts.duration;
        (self.facts, self.found) = sink.finish(&self.url, &self.answer.fetched);
        self.facts.duration = duration;
    }

    /// The facts of the answer, read with another identity of URLs.
    pub(crate) fn facts_by(&self, guide: &Guide<'_>, identity: &Identity) -> PageFacts {
        let sink = self.answer.read(guide, &self.url, identity);
        sink.finish(&self.url, &self.answer.fetched).0
    }
}

/// An answer on the way as it came, decoded.
struct KeptAnswer {
    fetched: Fetched,
    body: Vec<u8>,
}

impl KeptAnswer {
    fn read(&self, guide: &Guide<'_>, url: &UrlKey, identity: &Identity) -> PageSink {
        let parser = PageParser::new(url, &Arc::new(identity.clone()), guide.reader);
        let mut sink = PageSink::new(parser, wanted_of_start(guide.config));
        if sink.head(&self.fetched.head) == BodyWish::Read && !self.body.is_empty() {
            sink.chunk(&self.body);
        }
        sink
    }
}

/// Keeps what it passes on.
struct KeepingSink {
    sink: PageSink,
    body: Vec<u8>,
}

impl BodySink for KeepingSink {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        self.sink.head(head)
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.body.extend_from_slice(bytes);
        self.sink.chunk(bytes)
    }
}

/// The redirects of a start page that answers only with the cookies of the way to it.
#[derive(Debug, Clone)]
pub(crate) struct CookieChain {
    /// The start URL.
    start: UrlKey,
    /// Paths that it redirected to.
    paths: BTreeSet<String>,
    /// The URL redirected to itself.
    leads_to_itself: bool,
}

impl CookieChain {
    /// Returns whether the redirect of `url` to `target` is that of the start page without its cookies.
    pub(crate) fn has_redirect(&self, url: &UrlKey, target: &UrlKey) -> bool {
        if url == target {
            self.leads_to_itself
        } else {
            self.paths.contains(target.path())
        }
    }

    /// Takes a redirect on the way.
    fn add_redirect(&mut self, url: &UrlKey, target: &UrlKey) {
        self.leads_to_itself |= url == target;
        let is_other_name = url != target && url.path_and_query() == target.path_and_query();
        if *target != self.start && !is_other_name {
            self.paths.insert(target.path().to_owned());
        }
    }

    /// Asks for the start page again, for new cookies in the place of those whose time is over.
    pub(crate) async fn renew(
        &self,
        gate: &Gate,
        origin: &Origin,
        is_allowed: &(dyn Fn(&UrlKey) -> bool + Sync),
        stop: &CancellationToken,
    ) {
        let Some(cookies) = &gate.cookies else {
            return;
        };
        cookies.forget();
        let gate = gate.on_the_way();
        let mut url = self.start.clone();
        for _ in 0..=MAX_HOPS {
            if !is_allowed(&url) {
                break;
            }
            let Ok(answered) = gate.request(&url, stop, || Unread).await else {
                break;
            };
            let head = answered.result.ok().map(|fetched| fetched.head);
            let redirect = head.filter(|head| matches!(head.status, 300..=303 | 307 | 308));
            let target = redirect.and_then(|head| location(&gate.identity, &url, &head));
            match target.filter(|target| site::check_hop(&self.start, target).is_ok()) {
                Some(target) => url = target,
                None => break,
            }
        }
        cookies.end_start(Some(origin));
    }
}

/// The result of the request for the start URL.
pub(crate) struct Started {
    pub(crate) site: Site,
    /// Every answer, the start page itself last.
    pub(crate) hops: Vec<Hop>,
    /// The rules of the site's origin.
    pub(crate) robots: Rules,
    /// `true` if its robots.txt was read; otherwise it cannot be read, and that is ignored.
    pub(crate) is_robots_read: bool,
    /// Bytes that came over the wire.
    pub(crate) bytes_in: u64,
    /// The redirects of the start page, when it answers only with their cookies; these go with every request then.
    pub(crate) cookie_chain: Option<CookieChain>,
    /// Notes for the user.
    pub(crate) notes: Vec<Note>,
}

/// The arguments for finding the way from the start URL to the site.
pub(crate) struct Guide<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) reader: &'a Arc<PageReader>,
    pub(crate) config: &'a Config,
    pub(crate) stop: &'a CancellationToken,
}

/// Finds out which site `typed` is.
pub(crate) async fn start(guide: &Guide<'_>, typed: &UrlKey) -> Result<Started, StartError> {
    let Guide { gate, config, .. } = *guide;
    let width = config.scope.width;
    let mut known = KnownRules::default();
    let mut targets: Vec<UrlKey> = Vec::new();
    let mut hops: Vec<Hop> = Vec::new();
    let mut bytes_in = 0;
    let mut was_led_back = false;
    let mut chain = CookieChain {
        start: typed.clone(),
        paths: BTreeSet::new(),
        leads_to_itself: false,
    };
    let mut url = typed.clone();
    let mut written = None;
    loop {
        let so_far = stand_in(site::settle_so_far(typed, &targets, width), config)?;
        let gate = &gate.standing_in(so_far.stand_in.clone());
        guide.obey_robots(gate, &url, &mut known).await?;
        let (hop, wire_bytes) = match written.take() {
            // It has the session in the URL.
            Some(written) => guide.request_hop(gate, &url, Some(written)).await?,
            None => guide.request_hop(&gate.on_the_way(), &url, None).await?,
        };
        bytes_in += wire_bytes;
        let (status, location) = (hop.facts.status, hop.facts.location.clone());
        let is_empty = is_empty(&hop.facts);
        let may_want_cookie = hop.sets_cookie && !hop.has_cookies && gate.cookies.is_some();
        if let Some(other) = guide.other_writing(gate, &hop, &known) {
            // The URL is the same, so it is asked for as its redirect has it, once.
            written = Some(other);
            continue;
        }
        hops.push(hop);
        if let Some(target) = &location {
            chain.add_redirect(&url, target);
        }
        match (status, location) {
            (200, _) if is_empty => {
                return Err(StartError::Page(Note::start_empty(&url).naming(&url)));
            }
            (200, _) => break,
            (300..=303 | 307 | 308, Some(target)) => {
                let place = hops.iter().position(|hop| hop.url == target);
                let sets_cookie = hops.iter().any(|hop| hop.sets_cookie);
                if let Some(place) = place.filter(|_| sets_cookie && gate.cookies.is_some())
                    && !was_led_back
                {
                    // It lets in who brings the cookie: the way begins there again, once.
                    was_led_back = true;
                    hops.truncate(place);
                    targets.truncate(place);
                    url = target;
                    continue;
                }
                if hops.len() > MAX_HOPS || hops.iter().any(|hop| hop.url == target) {
                    return Err(loops(typed, &hops, config));
                }
                check_target(typed, &url, &target, gate)?;
                targets.push(target.clone());
                url = target;
            }
            (300..=303 | 307 | 308, None) => {
                let note = Note::start_redirect_unusable(&url, &status);
                return Err(StartError::Page(note.naming(&url)));
            }
            // It lets in who brings the cookie: it is asked again, once.
            (400 | 403, _) if may_want_cookie && !was_led_back => {
                was_led_back = true;
                hops.pop();
            }
            (status, _) => {
                let is_challenge = hops.last().is_some_and(|hop| hop.facts.warnings.challenge);
                let note = if is_challenge {
                    Note::start_blocked(&url, &status, &config.fetch.user_agent)
                } else {
                    guide.refusal(gate, &url, status).await
                };
                return Err(StartError::Page(note.naming(&url)));
            }
        }
    }
    let site = site::site_of_redirects(typed, &targets, width)
        .map_err(|error| leads_elsewhere(&error, targets.last().unwrap_or(typed)))?;
    let site = stand_in(site, config)?;
    let (is_robots_read, mut notes) = (!known.unread.contains(&site.origin), known.notes);
    let robots = known.rules.remove(&site.origin);
    let robots = robots.unwrap_or_else(Rules::allow_all);
    let settled = guide.settle_cookies(&site, &mut hops, &mut chain, was_led_back);
    let (needs_cookies, wire_bytes) = settled.await?;
    if needs_cookies {
        notes.push(Note::start_needs_cookies(&site.start).naming(&site.start));
    }
    Ok(Started {
        site,
        hops,
        robots,
        is_robots_read,
        bytes_in: bytes_in + wire_bytes,
        cookie_chain: needs_cookies.then_some(chain),
        notes,
    })
}

/// robots.txt of the origins on the way.
#[derive(Default)]
struct KnownRules {
    rules: HashMap<Origin, Rules>,
    /// The rules cannot be read, which is ignored.
    unread: HashSet<Origin>,
    notes: Vec<Note>,
}

impl Guide<'_> {
    /// Refuses a URL on the way that robots.txt disallows, or whose robots.txt cannot be read.
    async fn obey_robots(
        &self,
        gate: &Gate,
        url: &UrlKey,
        known: &mut KnownRules,
    ) -> Result<(), StartError> {
        let (config, origin) = (self.config, url.origin());
        if !known.rules.contains_key(&origin) {
            let robots = match read_robots(gate, &origin, config, self.stop).await {
                Err(StartError::Robots(note)) if config.ignore.robots => {
                    known.notes.push(Note::robots_ignored(&note.text));
                    known.unread.insert(origin.clone());
                    Rules::allow_all()
                }
                read => read?,
            };
            known.rules.insert(origin.clone(), robots);
        }
        if let Some(robots) = known.rules.get(&origin)
            && !config.ignore.robots
            && !robots.allows(url.path_and_query())
        {
            // A staging copy that forbids everything is what that is for.
            let advice = config.written_as.as_ref().map_or(
                "allow it in robots.txt, or use --ignore robots for a site of your own",
                |_| "if this is a staging copy of your own site, use --ignore robots",
            );
            let note = Note::start_disallowed(url, &origin, &gate.agent, &advice);
            return Err(StartError::Page(note.naming(url)));
        }
        Ok(())
    }

    /// Asks for a page on the way through `gate`; the bytes that came over the wire are counted.
    async fn request_hop(
        &self,
        gate: &Gate,
        url: &UrlKey,
        written: Option<Arc<str>>,
    ) -> Result<(Hop, u64), StartError> {
        let sink = || {
            let parser = PageParser::new(url, &gate.identity, self.reader);
            KeepingSink {
                sink: PageSink::new(parser, wanted_of_start(self.config)),
                body: Vec::new(),
            }
        };
        let request = Request {
            sent_as: written.clone(),
            ..Request::get(url, gate.max_body_bytes)
        };
        let is_final = |asked: &Result<Fetched, FetchError>| !signal::is_passing(asked);
        let asked = gate.ask_until(&request, self.stop, sink, is_final).await;
        let asked = asked.map_err(|refused| refused_start(gate, url, refused))?;
        obey_long_wait(gate, url, asked.signal)?;
        match hop_of(url, asked) {
            Ok((hop, wire_bytes)) => Ok((Hop { written, ..hop }, wire_bytes)),
            Err(error) => {
                let note = unanswered(gate, url, &error, self.stop).await;
                Err(StartError::Page(note))
            }
        }
    }

    /// The form of writing in which a URL on the way redirects to itself, if robots.txt allows it and it was not asked for so.
    fn other_writing(&self, gate: &Gate, hop: &Hop, known: &KnownRules) -> Option<Arc<str>> {
        let written = hop.other_writing(gate).filter(|_| hop.written.is_none())?;
        let url = url::Url::parse(&written).ok()?;
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        let rules = known.rules.get(&hop.url.origin());
        let is_allowed = self.config.ignore.robots || rules.is_none_or(|rules| rules.allows(&path));
        is_allowed.then_some(written)
    }

    /// Decides whether the start page, at the end of `hops`, answers only with the cookies of the way to it; one that was not asked
    /// for twice is asked for without them. Also returns the bytes that came over the wire.
    async fn settle_cookies(
        &self,
        site: &Site,
        hops: &mut Vec<Hop>,
        chain: &mut CookieChain,
        was_led_back: bool,
    ) -> Result<(bool, u64), StartError> {
        let Some(cookies) = &self.gate.cookies else {
            return Ok((false, 0));
        };
        let mut needs_cookies = was_led_back;
        let mut wire_bytes = 0;
        if let Some(start) = hops.last_mut().filter(|hop| hop.has_cookies)
            && !was_led_back
            && !cookies.are_of_session()
        {
            let gate = self.gate.standing_in(site.stand_in.clone());
            let asked = self
                .request_hop(&gate, &start.url, start.written.clone())
                .await;
            if matches!(asked, Err(StartError::Stopped)) {
                return Err(StartError::Stopped);
            }
            // A failure is no sign that it needs cookies.
            if let Ok((hop, bytes)) = asked {
                wire_bytes = bytes;
                match hop.facts.status {
                    200 if !is_empty(&hop.facts) => *start = hop,
                    300..=399 | 400 | 401 | 403 => {
                        needs_cookies = true;
                        let target = hop.facts.location.as_ref();
                        chain
                            .paths
                            .extend(target.map(|target| target.path().to_owned()));
                    }
                    _ => {}
                }
            }
        }
        if !needs_cookies && !cookies.are_of_session() {
            // They are judged without cookies, when the redirects before them lead there.
            let last = hops.len().saturating_sub(1);
            let mut place = 0..;
            hops.retain(|hop| place.next() == Some(last) || !hop.has_cookies);
        }
        cookies.end_start(needs_cookies.then_some(&site.origin));
        Ok((needs_cookies, wire_bytes))
    }

    /// Why there is no crawl when the start page `url` answered `status`.
    async fn refusal(&self, gate: &Gate, url: &UrlKey, status: u16) -> Note {
        let fetch = &self.config.fetch;
        let authorizes = |name: &str| name.eq_ignore_ascii_case("authorization");
        let has_credentials =
            fetch.credentials.is_some() || fetch.headers.iter().any(|(name, _)| authorizes(name));
        match status {
            // What most servers answer when they expect TLS.
            400 if url.scheme() == "http" => speaks_other_scheme(gate, url, self.stop)
                .await
                .unwrap_or_else(|| Note::start_status(url, &status)),
            401 if !has_credentials => Note::start_unauthorized(url),
            401 if fetch.credential_origins.contains(&url.origin()) => {
                Note::credentials_refused(url)
            }
            401 => Note::credentials_not_sent(url),
            403 => Note::start_forbidden(url, &fetch.user_agent),
            429 | 500..=599 => Note::start_fails(url, &status),
            _ => Note::start_status(url, &status),
        }
    }
}

/// Why there is no crawl when there is no answer to `url`, with which it begins.
async fn unanswered(
    gate: &Gate,
    url: &UrlKey,
    error: &FetchError,
    stop: &CancellationToken,
) -> Note {
    let other_scheme = match error.kind() {
        FetchErrorKind::Reset | FetchErrorKind::Http1Next | FetchErrorKind::Protocol => {
            speaks_other_scheme(gate, url, stop).await
        }
        // A server of plain http may wait for the end of what is not a request.
        FetchErrorKind::Timeout if url.scheme() == "https" => {
            speaks_other_scheme(gate, url, stop).await
        }
        FetchErrorKind::Dns
        | FetchErrorKind::Connect
        | FetchErrorKind::Tls
        | FetchErrorKind::Timeout
        | FetchErrorKind::Forbidden
        | FetchErrorKind::Local => None,
    };
    let note = other_scheme.unwrap_or_else(|| match error.kind() {
        FetchErrorKind::Tls => Note::tls_failed(error),
        FetchErrorKind::Dns => Note::start_unresolved(error),
        FetchErrorKind::Local => Note::start_not_sent(error),
        _ => Note::start_unreachable(error, url),
    });
    note.naming(url)
}

/// A note when the server of `url` speaks http where https was tried at the same port, or TLS where http was. It is
/// asked once, for its robots.txt.
async fn speaks_other_scheme(gate: &Gate, url: &UrlKey, stop: &CancellationToken) -> Option<Note> {
    let is_http = url.scheme() == "http";
    let server = format!("{}:{}", url.host_str(), url.port());
    let scheme = if is_http { "https" } else { "http" };
    let robots = format!("{scheme}://{server}/robots.txt");
    let robots = Identity::default().parse(&robots).ok()?;
    let request = Request::get(&robots, gate.max_body_bytes);
    let asked = gate.ask_until(&request, stop, RobotsSink::new, |_| true);
    let is_spoken = match asked.await.ok()?.result {
        // A server of TLS may answer plain http with this.
        Ok(fetched) => is_http || fetched.head.status != 400,
        Err(error) => is_http && error.kind() == FetchErrorKind::Tls,
    };
    let note = if is_http {
        Note::speaks_tls
    } else {
        Note::speaks_plain_http
    };
    is_spoken.then(|| note(&server, &robots.origin()))
}

fn is_empty(facts: &PageFacts) -> bool {
    facts.end == BodyEnd::Complete && facts.body_bytes == 0
}

fn hop_of(url: &UrlKey, answered: Answered<KeepingSink>) -> Result<(Hop, u64), FetchError> {
    let fetched = answered.result?;
    let KeepingSink { sink, body } = answered.receiver;
    let (mut facts, found) = sink.finish(url, &fetched);
    facts.duration = Some(answered.duration);
    let wire_bytes = fetched.wire_bytes;
    let hop = Hop {
        url: url.clone(),
        facts,
        found,
        attempts: answered.tries,
        sets_cookie: sets_cookie(&fetched.head),
        has_cookies: answered.has_cookies,
        asks_for_https: url.scheme() == "https" && asks_for_https(&fetched.head),
        answer: KeptAnswer { fetched, body },
        written: None,
    };
    Ok((hop, wire_bytes))
}

/// RFC 6797 section 6.1, and Upgrade Insecure Requests section 3.1.
fn asks_for_https(head: &ResponseHead) -> bool {
    let has = |name, directive: fn(&str) -> bool| {
        let values = head.headers.all(name).map(String::from_utf8_lossy);
        values
            .flat_map(|value| value.split(';').map(str::to_owned).collect::<Vec<_>>())
            .any(|part| directive(&part.trim().to_ascii_lowercase()))
    };
    let is_age = |part: &str| {
        let age = part.strip_prefix("max-age").map(str::trim_start);
        let age = age.and_then(|age| age.strip_prefix('='));
        age.is_some_and(|age| {
            age.trim()
                .trim_matches('"')
                .parse()
                .is_ok_and(|age: u64| age > 0)
        })
    };
    has("strict-transport-security", is_age)
        || has("content-security-policy", |part| {
            part == "upgrade-insecure-requests"
        })
}

/// The data of an answer on the way that is not a page.
fn wanted_of_start(config: &Config) -> WantedBody {
    if config.discover.sitemaps || config.discover.feeds {
        WantedBody::Documents
    } else {
        WantedBody::Nothing
    }
}

/// Stops before a host is contacted that is none of the site's.
fn check_target(
    typed: &UrlKey,
    url: &UrlKey,
    target: &UrlKey,
    gate: &Gate,
) -> Result<(), StartError> {
    site::check_hop(typed, target).map_err(|error| leads_elsewhere(&error, target))?;
    match &gate.identity.stand_in {
        Some(stand_in) if stand_in.spares(&target.origin()) => {
            let problem = format!(
                "{url} redirects to {target}: the crawled site is a copy of {}, which gets no requests",
                stand_in.original_directory()
            );
            Err(leads_elsewhere(&problem, target))
        }
        Some(_) | None => Ok(()),
    }
}

fn leads_elsewhere(problem: &dyn Display, target: &UrlKey) -> StartError {
    StartError::Page(Note::start_leads_elsewhere(problem).naming(target))
}

fn loops(typed: &UrlKey, hops: &[Hop], config: &Config) -> StartError {
    if hops.iter().any(|hop| hop.sets_cookie) {
        return StartError::Page(Note::start_wants_cookies(typed).naming(typed));
    }
    let hint = match &config.written_as {
        Some(original) => format!("; redirects to {original} count as redirects to itself"),
        None => ": check the URL in a browser that has no cookies of the site; if the site requires a cookie, send it with \
                 --header \"Cookie: name=value\""
            .to_owned(),
    };
    let note = Note::start_redirects_in_a_loop(typed, &MAX_HOPS, &hint);
    StartError::Page(note.naming(typed))
}

/// The site as the settings want it written.
fn stand_in(site: Site, config: &Config) -> Result<Site, StartError> {
    match &config.written_as {
        Some(original) => site
            .standing_for(original)
            .map_err(|error| StartError::Settings(format!("publish_as: {error}"))),
        None => Ok(site),
    }
}

async fn read_robots(
    gate: &Gate,
    origin: &Origin,
    config: &Config,
    stop: &CancellationToken,
) -> Result<Rules, StartError> {
    match gate.robots(origin, stop).await {
        Robots::Rules(rules) => Ok(rules),
        Robots::Unreachable(_, Some(error))
            if let Some(url) = robots_of(origin)
                && !config.ignore.robots =>
        {
            let note = unanswered(gate, &url, &error, stop).await;
            Err(StartError::Robots(note))
        }
        Robots::Unreachable(why, _) | Robots::Forbidden(why) => {
            let note = Note::robots_unreadable(origin, &why);
            Err(StartError::Robots(note.naming(origin)))
        }
        Robots::Refused(Refused::Stopping) => Err(StartError::Stopped),
        Robots::Refused(Refused::Closed(closed)) => {
            let note = Note::host_closed(origin, &gate.closed_text(closed));
            Err(StartError::Robots(note.naming(origin)))
        }
        Robots::TooSlow(delay) => Err(StartError::Robots(too_slow(origin, delay))),
    }
}

fn refused_start(gate: &Gate, url: &UrlKey, refused: Refused) -> StartError {
    match refused {
        Refused::Stopping => StartError::Stopped,
        Refused::Closed(closed) => {
            let place = format!("{url} cannot be fetched: the host");
            let note = Note::host_closed(&place, &gate.closed_text(closed));
            StartError::Page(note.naming(url))
        }
    }
}

/// Ends the crawl when the start page asks for a longer wait than the settings allow.
fn obey_long_wait(gate: &Gate, url: &UrlKey, signal: Signal) -> Result<(), StartError> {
    match gate.obey_long_wait(url.host(), signal) {
        Some(closed) => {
            let note = Note::host_closed(url, &gate.closed_text(closed));
            Err(StartError::Page(note.naming(url)))
        }
        None => Ok(()),
    }
}

fn robots_of(origin: &Origin) -> Option<UrlKey> {
    UrlKey::from_normalised(&format!("{origin}/robots.txt")).ok()
}
