//! The steps of the loop for pages: requests go out while their results have room, answers are judged, and what they lead
//! to is queued. Hands the result of one part to the next.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tracing::Instrument as _;

use super::{CrawlLoop, Ending, Event, Limit, LoopContext};
use crate::{
    client::{
        DownloadError,
        gate::{BUSY_POLL, HeldPermit, OwnLocation, Unread},
        page_sink::Found,
        start::Hop,
    },
    crawl::{
        answers::Work,
        bytes::bytes_of_facts,
        challenges::{self, StartAnswer},
        host_trouble::AfterClosing,
        known::{Discovered, FoundUrl},
        repetition::Repetition,
        requests::{self, AfterRequest, Elsewhere, PageDone, PageRequest},
        revalidation::{self, AfterNotModified, Rereads, TestEnd},
        unlinked::PORTION,
        validators::{changed_content, is_unchanged},
    },
    fetch::{Fetched, Request},
    frontier::{Lease, Next},
    notes::Note,
    page::{
        Basis, Canonical, Link, LinkTexts, Outcome, PageFacts, Reading, Reason, State, TakenLinks,
        TextNovelty, Via,
    },
    politeness::{Closed, NextPermit, Signal, Weight},
    repeats::{Passage, ReadPage},
    store::{Discovery, LinkReader, QueuedUrl, StoreError},
    url_key::{UrlKey, other_escapes},
    verdict::{Follow, Verdict},
};

/// The error of a URL that was given up with its directory.
pub(super) const GIVEN_UP: &str =
    "not requested: pages before it failed in a row while the start page answered";

/// Links of a page between two looks at the clock.
const LINKS_A_LOOK: usize = 64;

/// Time that the links of one page may take after the end of the session: those of honest pages take a few milliseconds.
const MAX_LINK_TIME: Duration = Duration::from_secs(1);

impl CrawlLoop<'_> {
    /// Uses the answers that led from the typed URL to the site, as far as the crawl does not know them:
    /// the first pages of a new run.
    pub(in crate::crawl) fn seed(&mut self, hops: Vec<Hop>) {
        // All of them are known before the first is judged: otherwise its redirect would be a discovery,
        // and the page after it would be asked for again.
        let last = hops.len().saturating_sub(1);
        let mut known = Vec::with_capacity(hops.len());
        let mut found_on: Option<UrlKey> = None;
        for (position, hop) in hops.into_iter().enumerate() {
            let url = hop.url.clone();
            if self.rules.judge().is_inside(&url) && !self.known.contains(&url) {
                let is_start = found_on.is_none() || position == last && known.is_empty();
                let via = if is_start { Via::Start } else { Via::Redirect };
                let found = FoundUrl {
                    found_on: found_on.as_ref(),
                    ..FoundUrl::new(&url, via, 0)
                };
                let discovery = self.known.add(found, self.frontier.place(), Reason::Queued);
                if self.rest.rendering.wants_facts(&url, &hop.facts) {
                    // Its body was not kept.
                    self.offer(&discovery);
                } else {
                    known.push((discovery.sequence, hop));
                }
                self.record(discovery);
            } else if url == self.context.site.start {
                self.watch(&url, &hop.facts);
            }
            found_on = Some(url);
        }
        for (sequence, mut hop) in known {
            let work = Work {
                url: hop.url,
                sequence,
                depth: 0,
                hops: 0,
                tries: hop.attempts,
                was_listed: false,
                is_unchanged: false,
                changed_to: None,
                distance: 0,
                is_again: false,
            };
            let outcome = Outcome::Answered(Box::new(hop.facts.clone()));
            let found = hop.found.take();
            if self.rules.judge().after_fetch(&work.url, &outcome).reason == Reason::NotAPage
                && let Some(Found {
                    kind,
                    document: Some(document),
                }) = found
            {
                self.documents.begin_with(&work.url, document);
                if kind.is_some() {
                    self.decide(&work, Outcome::NotFetched(Reason::SeedDocument));
                    continue;
                }
            }
            self.end.counts.fetched += 1;
            hop.facts.read_as = Some(self.rules.judge().read_as());
            self.decide(&work, Outcome::Answered(Box::new(hop.facts)));
        }
    }

    /// Starts work while its result has room; returns when to look again, and whether a page waits for a
    /// permit.
    pub(super) fn dispatch(&mut self, now: Instant) -> (Option<Instant>, bool) {
        if self.end.ending.is_some() {
            return (None, false);
        }
        self.refresh_robots(now);
        if self.context.config.limits.max_depth.is_some() && !self.documents.is_idle() {
            // Depths are the fewest hops only if nothing comes in later that is nearer to the start.
            return (None, false);
        }
        loop {
            if !self.has_room() || self.revalidation.is_full() {
                return (None, false);
            }
            if self.trouble.is_asking()
                || self.repetition.probe.is_awaited()
                || self.rest.rendering.is_full()
                || self.requests.session().is_renewing()
                || self.requests.is_full_elsewhere()
            {
                return (None, false);
            }
            if self.context.gate.is_awaited(&self.context.host) {
                return (Some(now + BUSY_POLL), false);
            }
            let mut lease = match self.frontier.lease(now) {
                Next::Lease(lease) => lease,
                Next::WaitUntil(due) => return (Some(due), false),
                Next::Nothing => return (None, false),
            };
            let before = self.rules.judge().before_fetch(lease.url(), lease.depth());
            match before.unwrap_or(Reason::ExcludedByRule) {
                Reason::Queued => {}
                reason => {
                    self.decide_unfetched(lease, reason);
                    continue;
                }
            }
            if self.documents.is_found(lease.url()) {
                self.link_orphan(lease.url());
                self.decide_unfetched(lease, Reason::SeedDocument);
                continue;
            }
            if self.documents.is_reading(lease.url()) {
                // One request is enough to find out whether there is a document.
                self.documents.hold(lease);
                continue;
            }
            if let Some(redirect) = self.revalidation.take_resting(&mut lease) {
                self.decide_resting(lease, redirect);
                continue;
            }
            lease.set_distance(self.known.distance(lease.url(), lease.distance()));
            let passage = self.passage(&lease);
            if passage != Passage::Open {
                self.hold(lease, &passage);
                continue;
            }
            if self.is_given_up(&lease) {
                self.end_given_up(lease);
                continue;
            }
            if lease.earlier_tries() == 0
                && self.first_tries() >= self.context.config.limits.max_pages
            {
                self.frontier.give_back(lease);
                lease = match self.frontier.lease_another_try(now) {
                    Next::Lease(lease) => lease,
                    Next::WaitUntil(due) => return (Some(due), false),
                    Next::Nothing => {
                        if self.requests.is_empty() {
                            self.end.ending = Some(Ending::LimitReached);
                            self.end.limit = Some(Limit::Pages);
                        }
                        return (None, false);
                    }
                };
            }
            let next = self.context.gate.clocks().next(&self.context.host, now);
            match next {
                NextPermit::Ready(permit) => {
                    let permit = self.context.gate.hold(permit);
                    self.repetition.held.note_request();
                    self.send_page(lease, permit);
                }
                NextPermit::WaitUntil(due) => {
                    self.frontier.give_back(lease);
                    return (Some(due), true);
                }
                NextPermit::Busy => {
                    self.frontier.give_back(lease);
                    let poll = self.requests.is_empty().then(|| now + BUSY_POLL);
                    return (poll, true);
                }
                NextPermit::Closed(closed) => {
                    self.frontier.give_back(lease);
                    self.host_closed(closed);
                    return (None, false);
                }
            }
        }
    }

    /// Pages that were begun: finished, out, or waiting for another try.
    fn first_tries(&self) -> u64 {
        let begun = self.requests.len()
            + self.revalidation.waiting()
            + self.frontier.tries_waiting()
            + self.rest.rendering.waiting();
        self.end.counts.fetched + begun as u64
    }

    fn send_page(&mut self, lease: Lease, permit: HeldPermit) {
        self.documents.page_begun(lease.url());
        let gate = if lease.is_without_cookies() {
            self.context.gate.without_cookies()
        } else {
            self.context.gate.clone()
        };
        let url = lease.url().clone();
        let wanted = self.documents.wanted_at(&url);
        let validators = self.revalidation.validators_for(&lease, self.rules.judge());
        let asked = requests::request_page(
            gate,
            Arc::clone(&self.context.reader),
            url,
            lease.written().cloned(),
            wanted,
            self.rest.rendering.is_on(),
            validators.clone(),
        );
        let work = async move { Event::Page(Box::new(asked.await)) };
        let task = self.tasks.spawn(work.in_current_span());
        self.requests.add(PageRequest {
            lease,
            permit,
            task,
            validators,
            begun: self.context.gate.clock.now(),
        });
    }

    /// Takes what a request came to.
    pub(super) fn take_page(&mut self, request: PageRequest, done: PageDone) {
        let (lease, validators, signal) = (request.lease, request.validators, done.signal);
        self.documents.page_ended(lease.url());
        let weight = self.weigh(&lease, signal);
        request.permit.finish(signal, weight);
        let LoopContext { gate, host, .. } = &self.context;
        let long_wait = gate.end_of_long_wait(signal);
        let (state, _) = gate.pace_at(host, Instant::now());
        let trouble = &mut self.trouble;
        let note = trouble.record_answer(
            lease.url(),
            &done.result,
            signal,
            request.begun,
            long_wait,
            state,
        );
        self.report(note);
        if let Ok((fetched, _)) = &done.result {
            self.end.counts.bytes_in += fetched.wire_bytes;
        }
        let is_challenge = done.facts().is_some_and(|facts| facts.warnings.challenge);
        if is_challenge && self.trouble.take_challenge(lease.url()) {
            self.ask_because_of_challenges();
        }
        let limits = &self.context.config.limits;
        let is_long_wait = long_wait.is_some();
        match done.next(&lease, validators.as_ref(), limits, is_long_wait) {
            AfterRequest::GiveBack => self.frontier.give_back(lease),
            AfterRequest::Retry(due) => self.frontier.retry(lease, due),
            AfterRequest::RetrySoon => self.frontier.retry_soon(lease, Instant::now()),
            AfterRequest::Decide if lease.earlier_tries() == 0 && done.refuses_cookies() => {
                self.frontier.retry_without_cookies(lease, Instant::now());
            }
            AfterRequest::Decide if !is_long_wait && self.may_bring_cookie(&lease, &done) => {
                self.frontier.retry_soon(lease, Instant::now());
            }
            AfterRequest::Decide if self.is_session_over(&lease, &done) => {
                self.renew_cookies(lease);
            }
            AfterRequest::Decide if let Some(written) = self.other_writing(&lease, &done) => {
                self.frontier.retry_as(lease, written, Instant::now());
            }
            AfterRequest::Decide if self.rest.rendering.is_lost() => self.leave_unshown(lease),
            AfterRequest::Decide if self.rest.rendering.wants(lease.url(), &done) => {
                self.hold_for_browser(lease, validators.is_some(), done);
            }
            AfterRequest::Decide if self.rest.rendering.end_unrendered(lease.url()) => {
                self.keep_decision(lease);
            }
            AfterRequest::Decide if let Some(OwnLocation::Named(named)) = done.own_location() => {
                let named = named.clone();
                self.ask_elsewhere(lease, validators.is_some(), done, named);
            }
            AfterRequest::Decide => self.take_answer(lease, validators.is_some(), done),
        }
    }

    /// The form of writing in which a page is asked for once that redirects to itself, or that does not exist with its escapes as
    /// they are.
    fn other_writing(&self, lease: &Lease, done: &PageDone) -> Option<Arc<str>> {
        if lease.written().is_some() {
            return None;
        }
        let is_missing = || matches!(done.facts()?.status, 404 | 410).then_some(());
        let written = match done.own_location() {
            Some(OwnLocation::Written(written)) => Arc::clone(written),
            Some(OwnLocation::Named(_)) => return None,
            None => is_missing()
                .and_then(|()| other_escapes(lease.url().as_str()))?
                .into(),
        };
        let is_allowed = self.rules.judge().allows_written(&written);
        is_allowed.then_some(written)
    }

    /// Asks another name of the site for a page that redirects there.
    fn ask_elsewhere(&mut self, lease: Lease, is_conditional: bool, done: PageDone, named: UrlKey) {
        let downloader = self.documents.downloader().clone();
        let shutdown = self.context.shutdown.clone();
        let identity = Arc::clone(&self.context.gate.identity);
        let work = async move {
            Box::new(Elsewhere {
                answer: downloader.status(&named, &identity, &shutdown).await,
                lease,
                is_conditional,
                done,
                named,
            })
        };
        self.requests.ask_elsewhere();
        self.spawn(work, Event::Elsewhere);
    }

    /// Takes the answer of another name of the site.
    pub(super) fn take_elsewhere(&mut self, end: Elsewhere) {
        self.requests.answered_elsewhere();
        if matches!(end.answer, Err(DownloadError::Stopped)) {
            self.frontier.give_back(end.lease);
            return;
        }
        let (lease, is_conditional, done) = end.into_done();
        self.take_answer(lease, is_conditional, done);
    }

    /// Returns whether a page that redirects to itself and sets a cookie is asked for again, with that cookie: once.
    fn may_bring_cookie(&self, lease: &Lease, done: &PageDone) -> bool {
        self.context.gate.keeps_session()
            && lease.earlier_tries() == 0
            && done.wants_cookie(lease.url())
    }

    /// Returns whether the session of a site that needs cookies ended, and new cookies may help.
    fn is_session_over(&mut self, lease: &Lease, done: &PageDone) -> bool {
        let session = self.requests.session();
        done.facts()
            .is_some_and(|facts| session.is_over(lease.url(), facts))
    }

    /// Asks for new cookies, and then for a page once more.
    fn renew_cookies(&mut self, lease: Lease) {
        let Some(chain) = self.requests.session().wait(lease) else {
            return;
        };
        let LoopContext { gate, site, .. } = &self.context;
        let (gate, origin) = (gate.clone(), site.origin.clone());
        let stop = self.context.shutdown.stop.clone();
        let judge = self.rules.judge().clone();
        let work = async move {
            let is_allowed =
                |url: &UrlKey| !url.is_on(&origin) || judge.allows_written(url.as_str());
            chain.renew(&gate, &origin, &is_allowed, &stop).await;
        };
        self.spawn(work, Event::Cookies);
    }

    /// Asks once more for the pages that waited for new cookies.
    pub(super) fn take_cookies(&mut self) {
        for lease in self.requests.session().renewed() {
            self.frontier.retry_soon(lease, Instant::now());
        }
    }

    /// Returns whether an answer is about the host: other tries of a URL do not, nor does a directory that fails while URLs of
    /// others wait.
    fn weigh(&mut self, lease: &Lease, signal: Signal) -> Weight {
        if let Signal::Fine { .. } = signal {
            self.frontier.answered(lease.url());
        }
        let is_again = lease.earlier_tries() > 0 && !self.rest.rendering.is_again(lease.url());
        if signal.is_failure() && (is_again || self.frontier.failed(lease.url())) {
            Weight::Ignored
        } else {
            Weight::Counted
        }
    }

    /// Takes what the last request for a URL came to.
    pub(super) fn take_answer(&mut self, lease: Lease, is_conditional: bool, done: PageDone) {
        let tries = lease.earlier_tries() + 1;
        let found = done.found;
        let document = found.and_then(|found| self.documents.wanted_of(lease.url(), found));
        if let Some((document, kind)) = document {
            // It is counted among the documents, not among the pages.
            let work = Work::of(&lease, tries);
            self.frontier.finish(lease);
            self.add_answered(document, kind, &work.url, work.depth);
            self.decide(&work, Outcome::NotFetched(Reason::SeedDocument));
            return;
        }
        let outcome = match done.result {
            Ok((_, facts)) if is_conditional && facts.status == 304 => {
                match self.revalidation.confirm(lease, facts) {
                    AfterNotModified::Waits => {}
                    AfterNotModified::Distrusted(lease) => self.frontier.give_back(lease),
                    AfterNotModified::NotEnough(lease) => {
                        self.frontier.retry_soon(lease, Instant::now());
                    }
                }
                return;
            }
            Ok((_, mut facts)) => {
                // One that could not be rendered is asked for as a whole again, and one whose data may change without it.
                let is_read = !facts.warnings.render_failed && !facts.warnings.script_data;
                facts.read_as = is_read.then(|| self.rules.judge().read_as());
                Outcome::Answered(facts)
            }
            Err(error) => Outcome::NoAnswer {
                error: error.to_string(),
            },
        };
        // A page that is asked for once more, to be rendered, is one page.
        let is_again = self.rest.rendering.was_read(lease.url());
        self.end.counts.fetched += u64::from(!is_again);
        if !is_conditional && let Outcome::Answered(facts) = &outcome {
            self.revalidation
                .take_whole(&lease, facts, self.rules.judge());
        }
        let mut work = Work::of(&lease, tries);
        work.is_again = is_again;
        let earlier = lease
            .earlier()
            .and_then(|earlier| earlier.answer.as_deref());
        work.is_unchanged = work.was_listed
            && matches!((&outcome, earlier), (Outcome::Answered(facts), Some(earlier)) if is_unchanged(facts, earlier));
        if let (Outcome::Answered(facts), Some(earlier)) = (&outcome, earlier) {
            work.changed_to = changed_content(facts, earlier);
        }
        self.frontier.finish(lease);
        self.decide(&work, outcome);
    }

    /// The host gets no further request.
    pub(super) fn host_closed(&mut self, closed: Closed) {
        if self.end.ending.is_some() || self.trouble.is_asking() {
            return;
        }
        match self.trouble.closed(closed) {
            AfterClosing::End => self.close(closed),
            AfterClosing::Defer => {
                self.end.ending.get_or_insert(Ending::Deferred);
            }
            AfterClosing::AskStartPage => self.ask_start_page(),
            AfterClosing::LookStartAnswer => self.ask_because_of_challenges(),
        }
    }

    /// Asks for the start page once no request is out any more.
    fn ask_start_page(&mut self) {
        let LoopContext {
            gate, site, host, ..
        } = &self.context;
        let (gate, url, host) = (gate.clone(), site.start.clone(), host.clone());
        let stop = self.context.shutdown.stop.clone();
        let work = async move {
            gate.reopen(&host).await;
            let request = Request::get(&url, gate.max_body_bytes);
            let asked = gate.ask_until(&request, &stop, || Unread, |_| true).await;
            // What it answered before was a page.
            let is_well = |fetched: Fetched| fetched.head.status < 400;
            asked.is_ok_and(|answered| {
                !answered.signal.is_failure() && answered.result.is_ok_and(is_well)
            })
        };
        self.spawn(work, Event::StartPage);
        self.trouble.set_asking(true);
    }

    /// Takes the answer of the start page of a host that failed too often.
    pub(super) fn take_start_page(&mut self, is_well: bool) {
        self.trouble.set_asking(false);
        let what = if is_well && self.trouble.is_past_help() {
            self.frontier.give_up_all();
            "the rest of the site"
        } else if is_well && self.frontier.give_up_failing() > 0 {
            self.note_outage(&Closed::Down);
            "the rest of the directories that fail"
        } else {
            self.close(Closed::Down);
            return;
        };
        let last = self.trouble.last().unwrap_or_default();
        self.report([Note::given_up(&what, &last).naming(&self.context.site.start)]);
    }

    /// Asks for the start page because of challenges in a row.
    fn ask_because_of_challenges(&mut self) {
        if self.end.ending.is_some() || self.trouble.is_asking() {
            return;
        }
        let may_wait = self.trouble.may_wait_for_start();
        let LoopContext {
            gate, site, host, ..
        } = &self.context;
        let stop = self.context.shutdown.stop.clone();
        let work = challenges::ask_start_page(
            gate.clone(),
            site.start.clone(),
            host.clone(),
            may_wait,
            stop,
        );
        self.spawn(work, Event::ChallengedStart);
        self.trouble.set_asking(true);
        let notice = "answers are challenges of a protection against programs: the start page is requested, and the crawl may wait for half an hour";
        self.mention(notice.to_owned());
    }

    /// Takes the answer of the start page of a site with challenges.
    pub(super) fn take_challenged_start(&mut self, answer: StartAnswer) {
        self.trouble.set_asking(false);
        let urls = self.trouble.end_challenges();
        let start = &self.context.site.start;
        match answer {
            StartAnswer::PageLater => self.trouble.waited_for_start(),
            StartAnswer::Stopped => {}
            StartAnswer::Page => {
                let directories = self.frontier.give_up_of(&urls);
                if directories.is_empty() {
                    return;
                }
                let names = directories.join(", ");
                let example = urls.first().unwrap_or(start).clone();
                self.note_outage(&Closed::Down);
                self.report([Note::blocked_in_part(&names).naming(&example)]);
            }
            StartAnswer::Challenge => {
                let note = Note::blocked(start).naming(start);
                self.report([note]);
                self.end.ending.get_or_insert(Ending::Deferred);
            }
            StartAnswer::Failure => self.close(Closed::Down),
            StartAnswer::Closed(closed) => self.close(closed),
        }
    }

    /// The host of the site gets no further request in this session.
    fn close(&mut self, closed: Closed) {
        if self.end.ending.is_some() {
            return;
        }
        self.end.ending = Some(match closed {
            Closed::RetryAfter(_) => Ending::Deferred,
            Closed::Down => Ending::SiteDown,
        });
        self.note_outage(&closed);
    }

    /// Notes for the next session of the crawl that the host, or a part of it, failed.
    fn note_outage(&mut self, closed: &Closed) {
        let value = self.trouble.outage(closed, self.context.open.number);
        self.commits.set(value);
    }

    /// Returns whether a URL was given up, or asked for often enough: a page that was decided counts only while pages may begin.
    fn is_given_up(&self, lease: &Lease) -> bool {
        let is_full = self.end.counts.fetched >= self.context.config.limits.max_pages;
        self.frontier.is_given_up(lease.url())
            || is_full && self.rest.rendering.is_again(lease.url())
    }

    /// Ends the work on a URL that was given up.
    fn end_given_up(&mut self, lease: Lease) {
        if self.rest.rendering.end_unrendered(lease.url()) {
            self.keep_decision(lease);
            return;
        }
        if self.trouble.leaves(&lease) {
            self.frontier.finish(lease);
            return;
        }
        let tries = lease.earlier_tries();
        tracing::debug!(target: "crawl", url = %lease.url(), "given up with its directory");
        let outcome = Outcome::NoAnswer {
            error: GIVEN_UP.to_owned(),
        };
        self.end_work(lease, tries, outcome);
    }

    /// Sends the next test of the server.
    pub(super) fn dispatch_test(&mut self) {
        if self.end.ending.is_some() || self.trouble.is_asking() {
            return;
        }
        if let Some((url, validators)) = self.revalidation.next_test() {
            let stop = self.context.shutdown.stop.clone();
            let work = revalidation::test(self.context.gate.clone(), url, validators, stop);
            self.spawn(work, Event::Test);
        }
    }

    /// Takes the end of a test.
    pub(super) fn take_test(&mut self, end: &TestEnd) {
        self.end.counts.bytes_in += end.wire_bytes;
        let (value, note) = self.revalidation.take_test(end.status);
        if let Some(value) = value {
            self.commits.set(value);
        }
        self.report(note);
    }

    /// Decides the pages that answered 304 and that the store read.
    ///
    /// # Errors
    /// The stored links of one are damaged.
    pub(super) fn take_rereads(&mut self, rereads: Rereads) -> Result<(), StoreError> {
        let mut reader = LinkReader::default();
        for page in self.revalidation.take_read(rereads) {
            let mut work = Work::of(&page.lease, page.lease.earlier_tries() + 1);
            work.is_unchanged = work.was_listed;
            self.frontier.finish(page.lease);
            self.end.counts.fetched += 1;
            self.end.counts.not_modified += 1;
            let new = |fingerprint| self.known.is_news(fingerprint);
            let links = reader.keys_where(page.links, new)?;
            self.decide_confirmed(&work, *page.known, links, page.answer);
        }
        Ok(())
    }

    /// Queues a portion of the listed pages that nothing led to.
    pub(super) fn take_unvisited(&mut self, portion: Vec<(UrlKey, u32)>) {
        let last = portion.last().filter(|_| portion.len() >= PORTION);
        self.rest.unvisited.arrived(last.map(|(last, _)| last));
        for (url, depth) in portion {
            if self.known.contains(&url) {
                continue;
            }
            let Some(reason) = self.rules.judge().before_fetch(&url, depth) else {
                continue;
            };
            // That it is published is no evidence that its links lead to new text.
            let found = FoundUrl {
                distance: 1,
                ..FoundUrl::new(&url, Via::Earlier, depth)
            };
            let discovery = self.known.add(found, self.frontier.place(), reason);
            self.offer(&discovery);
            self.record(discovery);
        }
    }

    /// Decides a URL that is not fetched (any more).
    pub(super) fn decide_unfetched(&mut self, lease: Lease, reason: Reason) {
        let tries = lease.earlier_tries();
        self.end_work(lease, tries, Outcome::NotFetched(reason));
    }

    /// Decides a redirect that is not asked for by its last answer.
    fn decide_resting(&mut self, lease: Lease, redirect: Box<PageFacts>) {
        let mut work = Work::of(&lease, 0);
        work.is_unchanged = true;
        self.frontier.finish(lease);
        self.decide(&work, Outcome::Answered(redirect));
    }

    /// The work on a URL has ended: it is decided.
    fn end_work(&mut self, lease: Lease, tries: u32, outcome: Outcome) {
        let work = Work::of(&lease, tries);
        self.frontier.finish(lease);
        self.decide(&work, outcome);
    }

    /// Judges one URL, follows what may be followed, and adds it all to the next commit.
    fn decide(&mut self, work: &Work, mut outcome: Outcome) {
        if let Outcome::Answered(facts) = &mut outcome {
            self.mark(work, facts);
        }
        let verdict = self.rules.judge().after_fetch(&work.url, &outcome);
        if let Some(content) = work.changed_to.filter(|_| verdict.reason == Reason::Listed) {
            self.repetition.seconds.change(&work.url, content);
        }
        let mut reading = work.reading();
        let links = match &mut outcome {
            Outcome::Answered(facts) => {
                self.requests.answered(bytes_of_facts(facts));
                if !work.is_again {
                    self.watch(&work.url, facts);
                }
                let taken = self.follow(work, facts, verdict, &mut reading);
                (!self.is_state_full()).then_some(taken)
            }
            Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Supplied(_) => None,
        };
        self.conclude_work(work, verdict.reason, outcome, Basis::Own, links, reading);
    }

    /// Judges one URL that answered 304 by the facts of its page row, and follows the links that were taken from it.
    fn decide_confirmed(
        &mut self,
        work: &Work,
        facts: PageFacts,
        new_links: Vec<UrlKey>,
        mut answer: Box<PageFacts>,
    ) {
        let mut facts = facts;
        self.mark(work, &mut facts);
        answer.repeat.clone_from(&facts.repeat);
        let mut facts = facts.confirmed_by(&answer);
        // How each link was found is not stored; that it may be followed is, or it would not be among them.
        let link = |target| Link {
            target,
            via: Via::Link,
            nofollow: false,
        };
        facts.links = new_links.into_iter().map(link).collect();
        let confirmed = Outcome::Answered(Box::new(facts));
        let verdict = self.rules.judge().after_fetch(&work.url, &confirmed);
        let mut reading = work.reading();
        if let Outcome::Answered(mut facts) = confirmed {
            self.watch(&work.url, &facts);
            self.follow(work, &mut facts, verdict, &mut reading);
        }
        let outcome = Outcome::Answered(answer);
        let basis = Basis::Confirmed;
        self.conclude_work(work, verdict.reason, outcome, basis, None, reading);
    }

    /// Adds what became of a URL to the next commit.
    fn conclude_work(
        &mut self,
        work: &Work,
        reason: Reason,
        outcome: Outcome,
        basis: Basis,
        links: Option<TakenLinks>,
        reading: Reading,
    ) {
        self.rest.rendering.note_decided();
        let now = self.context.gate.clock.now();
        let has_failed = reason.state() == State::Failed;
        self.known.decide(&work.url, has_failed);
        if has_failed {
            self.display.fail(reason, &work.url);
        }
        tracing::debug!(target: "crawl", url = %work.url, reason = reason.code(), "decided");
        self.commits
            .finish(work.finished(reason, outcome, basis, links, reading, now));
    }

    /// Looks at what a page answered.
    fn watch(&mut self, url: &UrlKey, facts: &PageFacts) {
        let notes = self.hints.watch(
            url,
            facts,
            &self.context.site,
            self.context.config,
            self.rules.judge(),
            self.known.is_published(url),
        );
        self.report(notes);
    }

    /// Discovers what the verdict takes from a page, and fills in its `reading`; returns those links that lead into the scope,
    /// and leaves none in the facts, which go to the store.
    fn follow(
        &mut self,
        work: &Work,
        facts: &mut PageFacts,
        verdict: Verdict,
        reading: &mut Reading,
    ) -> TakenLinks {
        let config = self.context.config;
        let not_recorded = self.known.not_recorded();
        if verdict.follow == Follow::All && config.discover.links {
            self.known.leave_out(facts.links_left_out);
        }
        facts.links_left_out = 0;
        let text = facts.text.take();
        reading.novelty = text.as_ref().map(|text| match facts.repeat {
            // The page for URLs that do not exist has nothing new.
            Some(_) => TextNovelty::Nothing,
            // It would be a copy of itself.
            None if work.is_again => TextNovelty::New,
            None => self.repetition.repeats.read(&work.url, text),
        });
        let distance = match reading.novelty {
            _ if work.url == self.context.site.start => 0,
            Some(TextNovelty::New) => 0,
            Some(TextNovelty::Copy | TextNovelty::Nothing) => work.distance.saturating_add(1),
            // A redirect alone is not evidence.
            None => work.distance,
        };
        let mut taken = TakenLinks::default();
        let (mut new, mut led_to) = (Vec::new(), 0);
        let begun = Instant::now();
        let mut too_late = 0;
        for (place, found) in (work.leads_to(facts, verdict.follow, config, distance)).enumerate() {
            if too_late > 0 || place % LINKS_A_LOOK == 0 && self.is_too_late(begun) {
                too_late += 1;
                continue;
            }
            let waiting = self.known.waiting();
            if work.is_unchanged && matches!(found.via, Via::Canonical | Via::Redirect) {
                self.revalidation.rest(found.key);
            }
            if self.discover(found) {
                taken.push(found.key.clone(), found.text);
            }
            if self.known.waiting() > waiting
                && self.repetition.repeats.short_form(found.key).is_none()
            {
                new.push(found.key);
                led_to += u32::from(!self.known.is_published(found.key));
            }
        }
        self.known.leave_out(too_late);
        reading.led_to = led_to;
        let is_listed = verdict.reason == Reason::Listed;
        let Repetition { repeats, held, .. } = &mut self.repetition;
        if work.is_again {
            // Its place counted it before.
        } else if let (Some(text), Some(novelty)) = (&text, reading.novelty) {
            let page = ReadPage {
                url: &work.url,
                text,
                novelty,
                is_listed,
                is_canonical: facts.canonical == Canonical::Itself,
                is_end: held.is_end(),
            };
            let missing = repeats.add_page(&page, &new);
            self.known.leave_out(missing.into());
            if novelty == TextNovelty::Nothing {
                repeats.count(&work.url, work.distance, led_to);
            } else if let Some(finder) = self.known.finder(&work.url) {
                repeats.refund(finder);
            }
        } else {
            let missing = repeats.take_other(&work.url, is_listed, held.is_end());
            self.known.leave_out(missing.into());
        }
        facts.text = text;
        if self.known.not_recorded() > not_recorded || self.is_state_full() {
            // Its links are not all in the state, so that a later 304 would leave its links unknown.
            facts.read_as = None;
        }
        if verdict.follow == Follow::All {
            self.offer_feeds(&facts.feeds, &work.url, work.depth);
        }
        facts.links = Vec::new();
        facts.link_texts = LinkTexts::default();
        taken
    }

    /// Returns whether the links of a page, the first of which was taken at `begun`, take longer than the session may.
    fn is_too_late(&self, begun: Instant) -> bool {
        let now = Instant::now();
        now >= self.end.deadline && now.duration_since(begun) > MAX_LINK_TIME
    }

    /// Notes a URL found on a page, if it is in scope and within the bounds; whether it is.
    pub(super) fn discover(&mut self, found: FoundUrl<'_>) -> bool {
        let target = found.key;
        if self.known.contains(target) {
            if self.known.find_again(target, found.distance) {
                self.commits.shorten(target.clone(), found.distance);
            }
            // If only documents had named it so far, it is not an orphan any more.
            if found.found_on != Some(target) {
                self.link_orphan(target);
            }
            return true;
        }
        if matches!(found.via, Via::Link | Via::Alternate)
            && let Some(short) = self.repetition.repeats.short_form(target)
            && self.rules.judge().is_inside(target)
            && !self.find_written(&found, &short)
        {
            return self.discover(FoundUrl {
                key: &short,
                ..found
            });
        }
        self.discover_unknown(found)
    }

    /// Takes a URL with parameters that are left out, without which it is `short`; returns whether it is recorded.
    fn find_written(&mut self, found: &FoundUrl<'_>, short: &UrlKey) -> bool {
        let page = found.found_on.map(UrlKey::fingerprint);
        let repeats = &mut self.repetition.repeats;
        repeats.find_written(found.key, short, page)
    }

    /// Notes a URL whose short form is not looked for, as [`CrawlLoop::discover`] does. Where a document was found, it is known and not
    /// asked for.
    pub(super) fn discover_unknown(&mut self, found: FoundUrl<'_>) -> bool {
        let is_full = self.is_state_full();
        let place = self.frontier.place();
        let is_document = self.documents.is_found(found.key);
        let judge = self.rules.judge();
        match self.known.find(found, place, judge, is_document, is_full) {
            Discovered::Known => true,
            Discovered::OutOfScope => false,
            Discovered::LeftOut(note) => {
                self.report(note);
                false
            }
            Discovered::New(discovery) => {
                self.hints.find(&discovery.key, discovery.reason);
                self.offer(&discovery);
                self.record(discovery);
                true
            }
        }
    }

    /// Hands a new URL to the frontier, if it is to be asked for.
    fn offer(&mut self, discovery: &Discovery) {
        if discovery.reason == Reason::Queued {
            self.frontier.offer(QueuedUrl {
                sequence: discovery.sequence,
                key: discovery.key.clone(),
                depth: discovery.depth,
                hops: discovery.hops,
                distance: discovery.distance,
                earlier: None,
            });
        }
    }

    /// Adds a new URL to the next commit.
    fn record(&mut self, discovery: Discovery) {
        self.hints.see(&discovery.key);
        self.commits.discover(discovery);
    }
}
