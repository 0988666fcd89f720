//! The one gate to the network: every request waits here for a permit of its host, so that
//! robots.txt, the start URL and its redirects have the same clocks as pages.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{cookies::Cookies, signal};
use crate::{
    clock::Clock,
    config::{Config, LimitsConfig},
    fetch::{
        BodySink, BodyWish, Fetch, FetchError, FetchErrorKind, Fetched, Request, ResponseHead,
    },
    notes::Note,
    politeness::{
        Closed, HostState, NextPermit, Permit, Politeness, SharedPoliteness, Signal, Weight,
        end_of_wait,
    },
    retry_after::{RetryAfterError, RetryAfterFile},
    robots::{self, RobotsSink, Rules},
    url_key::{HostKey, Identity, Origin, PublishAs, SiteNames, UrlKey},
};

/// How often a host without a free permit is looked at again: its permits may be held by another crawl.
pub(crate) const BUSY_POLL: Duration = Duration::from_millis(50);

/// A robots.txt is used for at most this long (RFC 9309 section 2.4).
pub(crate) const ROBOTS_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The purpose of the requests through a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To crawl.
    Crawl,
    /// To find the way to the start page.
    Start,
    /// Other questions, see [`Gate::aside`].
    Aside,
}

/// Everything needed to ask one question politely.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) fetch: Arc<dyn Fetch>,
    pub(crate) politeness: SharedPoliteness,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) limits: Arc<LimitsConfig>,
    /// Longer waits than this are not obeyed at once.
    pub(crate) max_retry_after: Duration,
    /// `true` if `Retry-After` is read at all.
    pub(crate) obeys_retry_after: bool,
    pub(crate) max_body_bytes: u64,
    /// `None`: none is sent.
    pub(crate) cookies: Option<Arc<Cookies>>,
    pub(crate) purpose: Purpose,
    /// Product token that selects the robots.txt group.
    pub(crate) agent: Arc<str>,
    /// The first `Date` that an answer brought: the host's own clock at the start of the session.
    pub(crate) first_date: Arc<OnceLock<Timestamp>>,
    /// `Retry-After` across starts.
    pub(crate) retry_after: RetryAfterFile,
    /// Writes to it that are under way.
    pub(crate) writes: Arc<Mutex<JoinSet<()>>>,
    /// How many requests that are not for pages wait for a permit, by host.
    pub(crate) waiting: Arc<Mutex<HashMap<HostKey, usize>>>,
}

/// A request that waits for a permit; pages let it go first, or it would wait for all of them.
struct Waiter<'a> {
    gate: &'a Gate,
    host: &'a HostKey,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut waiting = self.gate.waiting();
        if let Some(count) = waiting.get_mut(self.host) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(self.host);
            }
        }
    }
}

/// A permit that finds its way back: dropped, it counts as used by a request without a result.
#[must_use]
pub(crate) struct HeldPermit {
    permit: Option<Permit>,
    gate: Gate,
}

impl HeldPermit {
    /// The request ended now with `signal`. A `Retry-After` is written down beside the work, within moments: a kill in
    /// these makes the next start forget it, a later one does not. [`Gate::settle`] waits for it.
    pub(crate) fn finish(mut self, signal: Signal, weight: Weight) {
        self.end(signal, weight);
    }

    fn end(&mut self, signal: Signal, weight: Weight) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        let host = permit.host().clone();
        let now = Instant::now();
        let waits_until = {
            let mut clocks = self.gate.clocks();
            clocks.finish(permit, signal, weight, now);
            clocks.waits_until(&host)
        };
        if let (Some(_), Some(until)) = (signal.retry_after(), waits_until) {
            self.gate.remember_wait(host, until, now);
        }
    }
}

impl Drop for HeldPermit {
    fn drop(&mut self) {
        self.end(Signal::Neutral, Weight::Ignored);
    }
}

/// A request, answered or not.
pub(crate) struct Asked {
    pub(crate) result: Result<Fetched, FetchError>,
    /// The evidence about the host.
    pub(crate) signal: Signal,
    /// From sending it to the end of the answer, in whole milliseconds.
    pub(crate) duration: Duration,
    /// The request was sent with cookies of the site.
    pub(crate) has_cookies: bool,
}

impl Asked {
    /// Returns whether the next try uses HTTP/1.1 in the place of HTTP/2.
    fn wants_http1(&self) -> bool {
        let is_next = |error: &FetchError| error.kind() == FetchErrorKind::Http1Next;
        self.result.as_ref().is_err_and(is_next)
    }
}

/// The last of several tries.
pub(crate) struct Answered<S> {
    pub(crate) result: Result<Fetched, FetchError>,
    /// The receiver of the answer.
    pub(crate) receiver: S,
    /// Tries made, this one included.
    pub(crate) tries: u32,
    /// The evidence about the host.
    pub(crate) signal: Signal,
    /// The value of [`Asked`].
    pub(crate) duration: Duration,
    /// The value of [`Asked`].
    pub(crate) has_cookies: bool,
}

/// Why no request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The host is closed for this session.
    Closed(Closed),
    /// The session is stopping.
    Stopping,
}

/// The data on an origin's robots.txt.
pub(crate) enum Robots {
    /// Rules to obey (which may allow everything).
    Rules(Rules),
    /// The file could not be read: nothing may be fetched. Returns why, and what failed when there was no answer.
    Unreachable(String, Option<FetchError>),
    /// The file must not be asked for, so nothing may be fetched. Returns why.
    Forbidden(String),
    /// The file asks for a longer `Crawl-delay` than [`robots::MAX_CRAWL_DELAY`].
    TooSlow(Duration),
    /// No request could be sent.
    Refused(Refused),
}

impl Gate {
    /// A gate with `config`'s tries, delays and bytes of a page.
    pub(crate) fn new(
        config: &Config,
        fetch: Arc<dyn Fetch>,
        clock: Arc<dyn Clock>,
        politeness: SharedPoliteness,
        retry_after: RetryAfterFile,
    ) -> Self {
        Self {
            fetch,
            politeness,
            clock,
            identity: Arc::new(config.identity.clone()),
            limits: Arc::new(config.limits.clone()),
            max_retry_after: config.politeness.max_retry_after,
            obeys_retry_after: !config.ignore.retry_after,
            max_body_bytes: config.fetch.max_body_bytes,
            cookies: Cookies::new(&config.fetch).map(Arc::new),
            purpose: Purpose::Crawl,
            agent: robots::agent_token(&config.fetch.user_agent).into(),
            first_date: Arc::default(),
            retry_after,
            writes: Arc::default(),
            waiting: Arc::default(),
        }
    }

    /// The same gate for a site that represents another, whose URLs are then the site's own.
    pub(crate) fn standing_in(&self, stand_in: Option<PublishAs>) -> Self {
        let identity = Identity {
            stand_in,
            ..Identity::clone(&self.identity)
        };
        Self {
            identity: Arc::new(identity),
            ..self.clone()
        }
    }

    /// The same gate for a site with these names.
    pub(crate) fn named(&self, names: SiteNames) -> Self {
        let identity = Identity {
            names: Some(names).filter(|names| !names.names().is_empty()),
            ..Identity::clone(&self.identity)
        };
        Self {
            identity: Arc::new(identity),
            ..self.clone()
        }
    }

    /// The same gate for requests on the way to the start page.
    pub(crate) fn on_the_way(&self) -> Self {
        Self {
            purpose: Purpose::Start,
            ..self.clone()
        }
    }

    /// The same gate for requests without cookies.
    pub(crate) fn without_cookies(&self) -> Self {
        Self {
            cookies: None,
            ..self.clone()
        }
    }

    /// The same gate for questions that a crawl can do without: one try, no credentials and no cookies, and a failure is no
    /// evidence about the host.
    pub(crate) fn aside(&self) -> Self {
        let limits = LimitsConfig {
            max_tries: 1,
            ..LimitsConfig::clone(&self.limits)
        };
        Self {
            limits: Arc::new(limits),
            cookies: None,
            purpose: Purpose::Aside,
            ..self.clone()
        }
    }

    /// Returns whether an answer that sets a cookie may be another one when it is asked for again.
    pub(crate) fn keeps_session(&self) -> bool {
        self.cookies
            .as_ref()
            .is_some_and(|cookies| cookies.are_of_session())
    }

    /// Waits until no request to `host` is out, and lets it be asked again when it counts as down.
    pub(crate) async fn reopen(&self, host: &HostKey) {
        while !self.clocks().reopen(host) {
            tokio::time::sleep(BUSY_POLL).await;
        }
    }

    /// Locks the clocks of the hosts.
    pub(crate) fn clocks(&self) -> MutexGuard<'_, Politeness> {
        self.politeness
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of `host`, and the time that one request to it needs.
    pub(crate) fn pace_at(&self, host: &HostKey, now: Instant) -> (HostState, Option<Duration>) {
        let clocks = self.clocks();
        (clocks.state(host, now), clocks.pace(host))
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<HostKey, usize>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_at<'a>(&'a self, host: &'a HostKey) -> Waiter<'a> {
        *self.waiting().entry(host.clone()).or_default() += 1;
        Waiter { gate: self, host }
    }

    /// Returns whether a request that is not for a page waits for a permit at `host`.
    pub(crate) fn is_awaited(&self, host: &HostKey) -> bool {
        self.waiting().contains_key(host)
    }

    /// Makes sure that a permit comes back.
    pub(crate) fn hold(&self, permit: Permit) -> HeldPermit {
        HeldPermit {
            permit: Some(permit),
            gate: self.clone(),
        }
    }

    /// Sets the clocks to the waits that hosts asked earlier sessions and other programs for, and returns notes for the user
    /// of it. Blocks for a file.
    ///
    /// # Errors
    /// The waits are not known; then no request may be sent.
    pub(crate) fn load_waits(&self) -> Result<Option<String>, RetryAfterError> {
        if !self.obeys_retry_after {
            return Ok(None);
        }
        let wall = self.clock.now();
        let now = Instant::now();
        let pause = self.clocks().pause();
        let waits = self.retry_after.load(wall, pause)?;
        let end = |until: Timestamp| {
            now + Duration::try_from(until.duration_since(wall)).unwrap_or_default()
        };
        let mut clocks = self.clocks();
        for (host, until) in waits.hosts {
            clocks.wait_until(&host, end(until), now);
        }
        if let Some(until) = waits.everybody {
            clocks.let_everybody_wait_until(end(until));
        }
        Ok(waits.damage)
    }

    fn remember_wait(&self, host: HostKey, until: Instant, now: Instant) {
        let wall = self.clock.now();
        let until = wall
            .checked_add(until.saturating_duration_since(now))
            .unwrap_or(Timestamp::MAX);
        let retry_after = self.retry_after.clone();
        let span = tracing::Span::current();
        self.writes().spawn_blocking(move || {
            let _entered = span.entered();
            if let Err(error) = retry_after.remember(&host, until, wall) {
                tracing::warn!(target: "crawl", %host, "cannot store that the host asked for no request before {until}: {error}");
            }
        });
    }

    fn writes(&self) -> MutexGuard<'_, JoinSet<()>> {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        while writes.try_join_next().is_some() {}
        writes
    }

    /// Waits until everything that has to be remembered is written.
    pub(crate) async fn finish_writes(&self) {
        let mut writes = std::mem::take(&mut *self.writes());
        while writes.join_next().await.is_some() {}
    }

    /// Sends one request; the caller holds a permit.
    pub(crate) async fn send(&self, request: &Request, sink: &mut (dyn BodySink + Send)) -> Asked {
        let url = &request.url;
        let sent = Instant::now();
        if let Some(stand_in) = self.identity.stand_in.as_ref()
            && stand_in.spares(&url.origin())
        {
            let message = format!(
                "not requested: the crawled site is a copy of {}, which gets no requests",
                stand_in.original_directory()
            );
            return Asked {
                result: Err(FetchError::new(FetchErrorKind::Forbidden, message)),
                signal: Signal::Neutral,
                duration: Duration::ZERO,
                has_cookies: false,
            };
        }
        let mut timed = Timed {
            sink,
            head_at: None,
        };
        let is_start = self.purpose == Purpose::Start;
        let is_aside = self.purpose == Purpose::Aside;
        let cookies = self.cookies.as_deref().filter(|_| request.call.is_none());
        let cookie = cookies.and_then(|cookies| cookies.header(url, is_start));
        let has_cookies = cookie.is_some();
        let result = if has_cookies || is_aside {
            let request = Request {
                cookie: cookie.map(Into::into),
                is_anonymous: is_aside,
                ..request.clone()
            };
            self.fetch.fetch(&request, &mut timed).await
        } else {
            self.fetch.fetch(request, &mut timed).await
        };
        if let (Some(cookies), Ok(fetched)) = (cookies, &result) {
            cookies.take_cookies(url, &fetched.head.headers, is_start);
        }
        let latency = timed
            .head_at
            .unwrap_or_else(Instant::now)
            .duration_since(sent);
        if let Some(date) = result
            .as_ref()
            .ok()
            .and_then(|fetched| signal::server_time(&fetched.head.headers))
        {
            self.first_date.get_or_init(|| date);
        }
        let mut signal = signal::signal_of(&result, latency, self.clock.now());
        if !self.obeys_retry_after {
            signal = signal.without_retry_after();
        }
        let milliseconds = u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX);
        Asked {
            result,
            signal,
            duration: Duration::from_millis(milliseconds),
            has_cookies,
        }
    }

    /// The wait that an answer asks for, if it is longer than the settings allow.
    fn long_wait(&self, signal: Signal) -> Option<Duration> {
        let wait = signal.retry_after();
        wait.filter(|wait| *wait > self.max_retry_after)
    }

    /// When that wait would be over, if an answer asks for one.
    pub(crate) fn end_of_long_wait(&self, signal: Signal) -> Option<Timestamp> {
        self.long_wait(signal).map(|wait| self.date_in(wait))
    }

    /// Leaves `host` alone for the long wait that its robots.txt or start page asks for, 24 hours at most; returns until
    /// when, if it asks for one.
    pub(crate) fn obey_long_wait(&self, host: HostKey, signal: Signal) -> Option<Closed> {
        let wait = self.long_wait(signal)?;
        let now = Instant::now();
        let until = end_of_wait(wait, now, self.max_retry_after);
        self.clocks().wait_until(&host, until, now);
        self.remember_wait(host, until, now);
        Some(Closed::RetryAfter(until))
    }

    /// Why a host gets no request now, and what to do, as the end of a sentence about it.
    pub(crate) fn closed_text(&self, closed: Closed) -> String {
        match closed {
            Closed::RetryAfter(until) => format!(
                "asks for no request before {} (Retry-After), which is longer than max_retry_after = {:?}; start again \
                 then, or use --ignore retry-after if the site is your own",
                self.date_in(until.saturating_duration_since(Instant::now())),
                self.max_retry_after
            ),
            Closed::Down => "does not answer".to_owned(),
        }
    }

    /// The wall-clock time after `wait`, to the second.
    fn date_in(&self, wait: Duration) -> Timestamp {
        let date = self.clock.now().checked_add(wait);
        let date = date.unwrap_or(Timestamp::MAX);
        date.round(jiff::Unit::Second).unwrap_or(date)
    }

    /// Waits for a permit at the host of `url`.
    async fn permit(&self, url: &UrlKey, stop: &CancellationToken) -> Result<HeldPermit, Refused> {
        let host = url.host();
        let _waiter = self.wait_at(&host);
        loop {
            let next = self.clocks().next(&host, Instant::now());
            let until = match next {
                NextPermit::Ready(permit) => return Ok(self.hold(permit)),
                NextPermit::WaitUntil(until) => until,
                NextPermit::Busy => Instant::now() + BUSY_POLL,
                NextPermit::Closed(closed) => return Err(Refused::Closed(closed)),
            };
            // Nothing is lost if either arm is dropped: no permit is out here.
            tokio::select! {
                () = tokio::time::sleep_until(until) => {}
                () = stop.cancelled() => return Err(Refused::Stopping),
            }
        }
    }

    /// Asks for `url`, with tries and pauses as the settings have them. `sink` makes the receiver of
    /// one attempt; the receiver of the last attempt comes back with its answer.
    pub(crate) async fn request<S: BodySink + Send>(
        &self,
        url: &UrlKey,
        stop: &CancellationToken,
        sink: impl FnMut() -> S,
    ) -> Result<Answered<S>, Refused> {
        let request = Request::get(url, self.max_body_bytes);
        self.ask_until(&request, stop, sink, |asked| !signal::is_passing(asked))
            .await
    }

    /// Sends any request as [`Gate::ask`] sends its own; `is_final` is true for answers after which there is no further try.
    pub(crate) async fn ask_until<S: BodySink + Send>(
        &self,
        request: &Request,
        stop: &CancellationToken,
        mut sink: impl FnMut() -> S,
        is_final: impl Fn(&Result<Fetched, FetchError>) -> bool,
    ) -> Result<Answered<S>, Refused> {
        let url = &request.url;
        let mut tries = 0;
        let mut is_http1 = false;
        loop {
            let permit = self.permit(url, stop).await?;
            let mut receiver = sink();
            let asked = self.send(request, &mut receiver).await;
            let signal = asked.signal;
            let weight = match tries {
                0 if self.purpose != Purpose::Aside => Weight::Counted,
                _ => Weight::Ignored,
            };
            permit.finish(signal, weight);
            if asked.wants_http1() && !is_http1 {
                // Asked in a way that the server understands, it is the same try.
                is_http1 = true;
                continue;
            }
            tries += 1;
            let is_last = tries >= self.limits.max_tries || self.long_wait(signal).is_some();
            if is_last || is_final(&asked.result) {
                return Ok(Answered {
                    result: asked.result,
                    receiver,
                    tries,
                    signal,
                    duration: asked.duration,
                    has_cookies: asked.has_cookies,
                });
            }
            tracing::debug!(target: "crawl", url = %request.shown(), tries, "another try");
            self.pause(url, tries, stop).await?;
        }
    }

    /// Waits as long as it is good to wait after `tries` for `url`.
    async fn pause(
        &self,
        url: &UrlKey,
        tries: u32,
        stop: &CancellationToken,
    ) -> Result<(), Refused> {
        // Nothing is lost if either arm is dropped: no permit is out here.
        tokio::select! {
            () = tokio::time::sleep(retry_delay(&self.limits, url, tries)) => Ok(()),
            () = stop.cancelled() => Err(Refused::Stopping),
        }
    }

    /// Reads the robots.txt of `origin` and sets the `Crawl-delay` in the clocks of its host.
    ///
    /// Redirects are followed to any host, five at most; the rules apply to `origin`
    /// (RFC 9309 section 2.3.1.2).
    pub(crate) async fn robots(&self, origin: &Origin, stop: &CancellationToken) -> Robots {
        let admit_all = |_: &HostKey| Ok::<(), Infallible>(());
        match self
            .robots_seen(origin, stop, &admit_all, &mut |_, _| {})
            .await
        {
            Ok(robots) => robots,
            Err(never) => match never {},
        }
    }

    /// Reads robots.txt as [`Gate::robots`] does; `admit` decides which hosts redirects may lead to, and `see` gets the status of the last answer and
    /// the file, empty when there is none to obey.
    ///
    /// # Errors
    /// The error of `admit`; the host is then not contacted.
    pub(crate) async fn robots_seen<E>(
        &self,
        origin: &Origin,
        stop: &CancellationToken,
        admit: &(dyn Fn(&HostKey) -> Result<(), E> + Sync),
        see: &mut (dyn FnMut(u16, &[u8]) + Send),
    ) -> Result<Robots, E> {
        let Ok(mut url) = UrlKey::from_normalised(&format!("{origin}/robots.txt")) else {
            let why = format!("{origin} has no robots.txt URL");
            return Ok(Robots::Unreachable(why, None));
        };
        let mut hops = 0;
        // Where a site represents another, pages are one; robots.txt is that of an origin.
        let identity = Identity {
            stand_in: None,
            names: None,
            ..Identity::clone(&self.identity)
        };
        let without_cookies = self.without_cookies();
        let rules = loop {
            let Answered {
                result,
                receiver: sink,
                signal,
                ..
            } = match without_cookies.request(&url, stop, RobotsSink::new).await {
                Ok(answered) => answered,
                Err(refused) => return Ok(Robots::Refused(refused)),
            };
            let fetched = match result {
                Ok(fetched) => fetched,
                Err(error) if error.kind() == FetchErrorKind::Forbidden => {
                    return Ok(Robots::Forbidden(error.to_string()));
                }
                Err(error) => {
                    let why = format!("{url}: {error}");
                    return Ok(Robots::Unreachable(why, Some(error)));
                }
            };
            let status = fetched.head.status;
            if (300..400).contains(&status)
                && hops < robots::MAX_REDIRECTS
                && let Some(target) = location(&identity, &url, &fetched.head)
            {
                admit(&target.host())?;
                hops += 1;
                url = target;
                continue;
            }
            match robots::judge_answer(Some(status), &fetched.end, sink.body(), &self.agent) {
                robots::RobotsAnswer::Rules(rules) => {
                    see(status, sink.body());
                    break rules;
                }
                robots::RobotsAnswer::AllowAll => {
                    see(status, b"");
                    break Rules::of_refusal(status);
                }
                robots::RobotsAnswer::Unreachable => {
                    if let Some(closed) = self.obey_long_wait(url.host(), signal) {
                        return Ok(Robots::Refused(Refused::Closed(closed)));
                    }
                    let why = format!("{url} {}", robots_trouble(&fetched));
                    return Ok(Robots::Unreachable(why, None));
                }
            }
        };
        let delay = rules.crawl_delay();
        if let Some(delay) = delay.filter(|delay| *delay > robots::MAX_CRAWL_DELAY) {
            return Ok(Robots::TooSlow(delay));
        }
        self.clocks().set_crawl_delay(origin, delay);
        Ok(Robots::Rules(rules))
    }
}

fn robots_trouble(fetched: &Fetched) -> String {
    match fetched.head.status {
        200..=299 => "was cut short or could not be decoded".to_owned(),
        status => format!("answered {status}"),
    }
}

/// Returns whether an answer sets a cookie.
pub(crate) fn sets_cookie(head: &ResponseHead) -> bool {
    head.headers.all("set-cookie").next().is_some()
}

/// The target of a redirect of `url`, which was sent as `sent`, when it is `url` itself in another form of writing.
pub(crate) fn own_location(
    identity: &Identity,
    url: &UrlKey,
    sent: &url::Url,
    head: &ResponseHead,
) -> Option<OwnLocation> {
    if !matches!(head.status, 300..=303 | 307 | 308) || location(identity, url, head)? != *url {
        return None;
    }
    let reference = head.headers.all("location").next()?;
    let mut target = sent.join(String::from_utf8_lossy(reference).trim()).ok()?;
    target.set_fragment(None);
    let plain = Identity {
        stand_in: None,
        names: None,
        ..identity.as_written()
    };
    let written = plain.parse(target.as_str()).ok()?;
    if !written.is_on(&url.origin()) {
        let names = identity.names.as_ref();
        let is_named = names.is_some_and(|names| names.names().contains(&written.origin()));
        return is_named.then_some(OwnLocation::Named(written));
    }
    (target != *sent).then(|| OwnLocation::Written(target.as_str().into()))
}

/// The form of writing of a redirect of a URL to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnLocation {
    /// The URL differs in what identity leaves out.
    Written(Arc<str>),
    /// The URL uses another name of the site.
    Named(UrlKey),
}

/// The usable target of a redirect.
pub(crate) fn location(identity: &Identity, url: &UrlKey, head: &ResponseHead) -> Option<UrlKey> {
    let reference = head.headers.all("location").next()?;
    let reference = String::from_utf8_lossy(reference);
    identity
        .resolve(&url.to_url(), reference.trim(), encoding_rs::UTF_8)
        .ok()
}

/// The note on a `Crawl-delay` beyond [`robots::MAX_CRAWL_DELAY`].
pub(crate) fn too_slow(origin: &Origin, delay: Duration) -> Note {
    let most = rough_duration(robots::MAX_CRAWL_DELAY);
    let note = Note::crawl_delay_too_long(origin, &rough_duration(delay), &delay.as_secs(), &most);
    note.naming(origin)
}

/// How long to wait before try number `tries + 1`: the settings' delay and up to a quarter more,
/// spread by the URL so that many retries do not come at once.
pub(crate) fn retry_delay(limits: &LimitsConfig, url: &UrlKey, tries: u32) -> Duration {
    let position = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let base = limits
        .retry_delays
        .get(position)
        .or(limits.retry_delays.last())
        .copied()
        .unwrap_or_default();
    let spread = u32::try_from((url.fingerprint() ^ u64::from(tries)) % 256).unwrap_or_default();
    base.saturating_add(base.saturating_mul(spread) / 1024)
}

/// A duration for people, in its largest sensible unit.
pub(crate) fn rough_duration(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Takes the head of an answer only.
pub(crate) struct Unread;

impl BodySink for Unread {
    fn head(&mut self, _: &ResponseHead) -> BodyWish {
        BodyWish::Stop
    }

    fn chunk(&mut self, _: &[u8]) -> BodyWish {
        BodyWish::Stop
    }
}

/// Notes when the head of an answer arrives, and passes everything on.
struct Timed<'a> {
    sink: &'a mut (dyn BodySink + Send),
    head_at: Option<Instant>,
}

impl BodySink for Timed<'_> {
    fn accepted_types(&self) -> &'static str {
        self.sink.accepted_types()
    }

    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        self.head_at = Some(Instant::now());
        self.sink.head(head)
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.sink.chunk(bytes)
    }
}
