//! The requests for pages that are out: one lease and one permit each, sent and taken back with their results. Decides
//! whether there is another try and nothing else, and never waits.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use tokio::{
    task::{AbortHandle, Id},
    time::Instant,
};

use super::{FetchedFacts, session::CookieSession, validators::is_answer_to};
use crate::{
    client::{
        DownloadError,
        gate::{Gate, HeldPermit, OwnLocation, own_location, retry_delay},
        page_sink::{Found, PageSink, WantedBody},
        signal,
        start::CookieChain,
    },
    config::LimitsConfig,
    fetch::{FetchError, FetchErrorKind, Fetched, Request, Validators},
    frontier::Lease,
    page::PageFacts,
    parse::{PageParser, PageReader},
    politeness::Signal,
    url_key::UrlKey,
};

/// Pages at most that wait for the answer of another name of the site.
const MAX_ELSEWHERE: usize = 16;

/// Requests for pages.
#[derive(Default)]
pub(super) struct Requests {
    /// Requests that are out, by their tasks.
    out: HashMap<Id, PageRequest>,
    /// Memory that each answer in flight is expected to take: as much as the largest of the last ones.
    of_answer: usize,
    session: CookieSession,
    /// Requests for what redirects of pages name by another name of the site.
    elsewhere: usize,
}

/// A page request that is out.
pub(super) struct PageRequest {
    pub(super) lease: Lease,
    pub(super) permit: HeldPermit,
    pub(super) task: AbortHandle,
    /// The validators of the request.
    pub(super) validators: Option<Validators>,
    /// When it was sent.
    pub(super) begun: Timestamp,
}

/// The result of a page request.
pub(super) struct PageDone {
    pub(super) result: FetchedFacts,
    /// The URL that was requested as a page is this instead.
    pub(super) found: Option<Found>,
    pub(super) signal: Signal,
    /// The body of a page, when it may be rendered.
    pub(super) body: Option<Vec<u8>>,
    passing: bool,
    has_cookies: bool,
    /// The page redirects to itself in another form of writing.
    own_location: Option<OwnLocation>,
}

/// A page that redirects to itself by another name of the site, with the answer there.
pub(super) struct Elsewhere {
    pub(super) lease: Lease,
    pub(super) is_conditional: bool,
    pub(super) done: PageDone,
    pub(super) named: UrlKey,
    pub(super) answer: Result<(u16, Option<UrlKey>), DownloadError>,
}

impl Elsewhere {
    /// The page, with what the other name of it answered.
    pub(super) fn into_done(self) -> (Lease, bool, PageDone) {
        let Self {
            lease,
            is_conditional,
            mut done,
            named,
            answer,
        } = self;
        if let Ok((_, facts)) = &mut done.result {
            match answer {
                // The page is there, and not on the site; or a rule keeps it from being asked for.
                Ok((200, _))
                | Err(
                    DownloadError::Disallowed(_)
                    | DownloadError::RobotsUnreachable { .. }
                    | DownloadError::Forbidden { .. }
                    | DownloadError::TooManyHosts { .. },
                ) => facts.location = Some(named),
                Ok((_, Some(target))) => facts.location = Some(target),
                Ok((status, None)) => {
                    facts.status = status;
                    facts.location = None;
                }
                Err(error) => {
                    let message = error.to_string();
                    done.result = Err(FetchError::new(FetchErrorKind::Connect, message));
                }
            }
        }
        (lease, is_conditional, done)
    }
}

/// The consequence of the end of a request.
pub(super) enum AfterRequest {
    /// The failure is the fault of this machine: the URL is first in its line again.
    GiveBack,
    /// Another try, from this instant.
    Retry(Instant),
    /// Another try, without validators.
    RetrySoon,
    /// The result counts.
    Decide,
}

impl Requests {
    /// None is out; `cookie_chain` are the redirects of a start page that answers only with their cookies.
    pub(super) fn new(cookie_chain: Option<CookieChain>) -> Self {
        Self {
            session: CookieSession::new(cookie_chain),
            ..Self::default()
        }
    }

    /// The session of a site that needs cookies.
    pub(super) fn session(&mut self) -> &mut CookieSession {
        &mut self.session
    }

    /// How many are out.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// The URL that was asked for last, of those that are out.
    pub(super) fn newest(&self) -> Option<&UrlKey> {
        let newest = self.out.values().max_by_key(|request| request.begun);
        newest.map(|request| request.lease.url())
    }

    /// Returns whether none is out, and none waits for new cookies, or for the answer of another name of the site.
    pub(super) fn is_empty(&self) -> bool {
        self.out.is_empty() && self.elsewhere == 0 && !self.session.is_renewing()
    }

    /// Returns whether so many pages wait for another name of the site that no other page is asked for.
    pub(super) fn is_full_elsewhere(&self) -> bool {
        self.elsewhere >= MAX_ELSEWHERE
    }

    /// Takes note of a question to another name of the site.
    pub(super) fn ask_elsewhere(&mut self) {
        self.elsewhere += 1;
    }

    /// The same, at the end of it.
    pub(super) fn answered_elsewhere(&mut self) {
        self.elsewhere = self.elsewhere.saturating_sub(1);
    }

    /// Memory that their answers are expected to take.
    pub(super) fn held_bytes(&self) -> usize {
        self.out.len() * self.of_answer
    }

    /// A page of so many bytes was answered.
    pub(super) fn answered(&mut self, bytes: usize) {
        self.of_answer = bytes.max(self.of_answer - self.of_answer / 8);
    }

    /// Takes note of a request that was sent.
    pub(super) fn add(&mut self, request: PageRequest) {
        self.out.insert(request.task.id(), request);
    }

    /// The request of the task `id`, which has ended.
    pub(super) fn take_ended(&mut self, id: Id) -> Option<PageRequest> {
        self.out.remove(&id)
    }

    /// Drops all that are out; their tasks end as cancelled.
    pub(super) fn abort(&self) {
        self.out.values().for_each(|request| request.task.abort());
    }
}

/// Asks for a page; the caller holds a permit.
pub(super) async fn request_page(
    gate: Gate,
    reader: Arc<PageReader>,
    url: UrlKey,
    written: Option<Arc<str>>,
    wanted: WantedBody,
    keeps_body: bool,
    validators: Option<Validators>,
) -> PageDone {
    let parser = PageParser::new(&url, &gate.identity, &reader);
    let mut sink = PageSink::new(parser, wanted);
    if keeps_body {
        sink = sink.keeping_body();
    }
    let request = Request {
        validators,
        sent_as: written,
        ..Request::get(&url, gate.max_body_bytes)
    };
    let asked = gate.send(&request, &mut sink).await;
    // The name was known when the session began: it is our own network that does not know it any more.
    let signal = match &asked.result {
        Err(error) if error.kind() == FetchErrorKind::Dns => Signal::Local,
        Ok(_) | Err(_) => asked.signal,
    };
    let (passing, has_cookies) = (signal::is_passing(&asked.result), asked.has_cookies);
    let own_location =
        asked.result.as_ref().ok().and_then(|fetched| {
            own_location(&gate.identity, &url, &request.sent_url(), &fetched.head)
        });
    let body = sink.take_body();
    let mut found = None;
    let result = asked.result.map(|fetched| {
        let (mut facts, instead) = sink.finish(&url, &fetched);
        facts.duration = Some(asked.duration);
        found = instead;
        (fetched, Box::new(facts))
    });
    let is_challenge = |(_, facts): &(Fetched, Box<PageFacts>)| facts.warnings.challenge;
    let signal = match signal {
        // It asks to be left alone, as an answer 503 does.
        Signal::Fine { .. } if result.as_ref().is_ok_and(is_challenge) => {
            Signal::Overloaded { retry_after: None }
        }
        signal => signal,
    };
    PageDone {
        result,
        found,
        signal,
        body,
        passing,
        has_cookies,
        own_location,
    }
}

impl PageDone {
    /// The next step for `lease`, which was asked for with `validators`; after an answer that asks for a long wait there is no
    /// other try in this session.
    pub(super) fn next(
        &self,
        lease: &Lease,
        validators: Option<&Validators>,
        limits: &LimitsConfig,
        is_long_wait: bool,
    ) -> AfterRequest {
        let (url, tries) = (lease.url(), lease.earlier_tries() + 1);
        if self.signal == Signal::Local {
            return AfterRequest::GiveBack;
        }
        if is_long_wait {
            return AfterRequest::Decide;
        }
        let is_next = |error: &FetchError| error.kind() == FetchErrorKind::Http1Next;
        let is_further = tries == 1 && self.result.as_ref().is_err_and(is_next);
        if self.passing && (tries < limits.max_tries || is_further) {
            tracing::debug!(target: "crawl", %url, tries, "another try");
            return AfterRequest::Retry(Instant::now() + retry_delay(limits, url, tries));
        }
        let is_named_otherwise = matches!(self.own_location, Some(OwnLocation::Written(_)));
        let goes_on = is_named_otherwise && lease.written().is_none();
        if !goes_on && validators.is_some_and(|sent| !is_answer_to(sent, &self.result)) {
            tracing::debug!(target: "crawl", %url, "no answer to a conditional request");
            return AfterRequest::RetrySoon;
        }
        AfterRequest::Decide
    }

    /// Returns whether a page redirects to itself and sets a cookie.
    pub(super) fn wants_cookie(&self, url: &UrlKey) -> bool {
        self.facts()
            .is_some_and(|facts| facts.location.as_ref() == Some(url) && facts.warnings.sets_cookie)
    }

    /// Returns whether the server may refuse the cookies of the request: it does not take a head of this size.
    pub(super) fn refuses_cookies(&self) -> bool {
        let refuses = |facts: &PageFacts| matches!(facts.status, 400 | 431);
        self.has_cookies && self.facts().is_some_and(refuses)
    }

    /// The other form of writing, when the page redirects to itself.
    pub(super) fn own_location(&self) -> Option<&OwnLocation> {
        self.own_location.as_ref()
    }

    /// The facts of the answer.
    pub(super) fn facts(&self) -> Option<&PageFacts> {
        self.result.as_ref().ok().map(|(_, facts)| &**facts)
    }
}
