//! The requests for pages: sent while their result has room, one lease and one turn each, and taken back with what they
//! came to. Says whether there is another try, and hands every end on to be decided; it decides nothing itself, and
//! never waits.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use tokio::{
    task::{AbortHandle, Id},
    time::Instant,
};
use tracing::Instrument as _;

use super::{
    Event, Run,
    decide::Work,
    page_sink::{Found, PageSink},
};
use crate::{
    engine::{
        Ending, FetchedFacts, Limit,
        door::{BUSY_POLL, HeldTurn, retry_delay},
        signal,
        validators::is_answer_to,
    },
    fetch::{FetchErrorKind, Validators},
    frontier::{Lease, Next},
    page::{Outcome, Reason},
    parse::PageParser,
    politeness::{NextTurn, Signal},
};

/// Requests for pages.
#[derive(Default)]
pub(super) struct Requests {
    /// Those that are out, by their tasks.
    pub(super) out: HashMap<Id, Out>,
    /// A page would be asked for if there were a turn.
    pub(super) page_waits: bool,
}

/// A page request that is out.
pub(super) struct Out {
    pub(super) lease: Lease,
    turn: HeldTurn,
    pub(super) task: AbortHandle,
    /// What of an earlier answer it was asked with.
    validators: Option<Validators>,
    /// When it was sent.
    begun: Timestamp,
}

pub(super) struct PageDone {
    result: FetchedFacts,
    /// What was asked for as a page is this instead.
    found: Option<Found>,
    signal: Signal,
    passing: bool,
}

impl Run<'_> {
    /// Starts work while its result has room; says when to look again.
    pub(super) fn dispatch(&mut self, now: Instant) -> Option<Instant> {
        self.requests.page_waits = false;
        if self.end.ending.is_some() {
            return None;
        }
        self.refresh_robots(now);
        if self.context.config.limits.max_depth.is_some() && !self.seeding.is_idle() {
            // Depths are the fewest hops only if nothing comes in later that is nearer to the start.
            return None;
        }
        loop {
            if !self.has_room() || self.revalidation.is_full() {
                return None;
            }
            if self.trouble.is_asking() {
                return None;
            }
            if self.context.door.is_awaited(&self.context.host) {
                return Some(now + BUSY_POLL);
            }
            let mut lease = match self.frontier.lease(now) {
                Next::Lease(lease) => lease,
                Next::WaitUntil(due) => return Some(due),
                Next::Nothing => return None,
            };
            let before = self.rules.judge().before_fetch(lease.url(), lease.depth());
            match before.unwrap_or(Reason::ExcludedByRule) {
                Reason::Queued => {}
                reason => {
                    self.decide_unfetched(lease, reason);
                    continue;
                }
            }
            if self.frontier.is_given_up(lease.url()) {
                self.end_given_up(lease);
                continue;
            }
            if lease.earlier_tries() == 0
                && self.first_tries() >= self.context.config.limits.max_pages
            {
                self.frontier.give_back(lease);
                lease = match self.frontier.lease_another_try(now) {
                    Next::Lease(lease) => lease,
                    Next::WaitUntil(due) => return Some(due),
                    Next::Nothing => {
                        if self.requests.out.is_empty() {
                            self.end.ending = Some(Ending::LimitReached);
                            self.end.limit = Some(Limit::Pages);
                        }
                        return None;
                    }
                };
            }
            let next = self.context.door.clocks().next(&self.context.host, now);
            match next {
                NextTurn::Ready(turn) => {
                    let turn = self.context.door.hold(turn);
                    self.spawn(lease, turn);
                }
                NextTurn::WaitUntil(due) => {
                    self.requests.page_waits = true;
                    self.frontier.give_back(lease);
                    return Some(due);
                }
                NextTurn::Busy => {
                    self.requests.page_waits = true;
                    self.frontier.give_back(lease);
                    return self.requests.out.is_empty().then(|| now + BUSY_POLL);
                }
                NextTurn::Closed(closed) => {
                    self.frontier.give_back(lease);
                    self.host_closed(closed);
                    return None;
                }
            }
        }
    }

    /// Pages that were begun: finished, out, or waiting for another try.
    fn first_tries(&self) -> u64 {
        let begun =
            self.requests.out.len() + self.revalidation.waiting() + self.frontier.tries_waiting();
        self.counts.fetched + begun as u64
    }

    fn spawn(&mut self, lease: Lease, turn: HeldTurn) {
        self.seeding.page_begun();
        let door = self.context.door.clone();
        let reader = Arc::clone(&self.context.reader);
        let url = lease.url().clone();
        let wanted = self.wanted_at(&url);
        let validators = self.revalidation.validators_for(&lease, self.rules.judge());
        let asked_with = validators.clone();
        let work = async move {
            let parser = PageParser::new(&url, &door.identity, &reader);
            let mut sink = PageSink::new(parser, wanted);
            let asked = door.send(&url, asked_with, &mut sink).await;
            // The name was known when the session began: it is our own network that does not know it any more.
            let signal = match &asked.result {
                Err(error) if error.kind() == FetchErrorKind::Dns => Signal::Local,
                Ok(_) | Err(_) => asked.signal,
            };
            let passing = signal::is_passing(&asked.result);
            let mut found = None;
            let result = asked.result.map(|fetched| {
                let (facts, instead) = sink.finish(&url, &fetched);
                found = instead;
                (fetched, Box::new(facts))
            });
            Event::Page(Box::new(PageDone {
                result,
                found,
                signal,
                passing,
            }))
        };
        let handle = self.tasks.spawn(work.in_current_span());
        self.requests.out.insert(
            handle.id(),
            Out {
                lease,
                turn,
                task: handle,
                validators,
                begun: self.context.door.clock.now(),
            },
        );
    }

    pub(super) fn take_page(&mut self, out: Out, done: PageDone) {
        let Out {
            lease,
            turn,
            task: _,
            validators,
            begun,
        } = out;
        let now = Instant::now();
        let signal = done.signal;
        let weight = self.weigh(&lease, signal);
        turn.finish(signal, weight);
        self.trouble.health.note(signal, begun);
        self.note_failure(lease.url(), &done.result, signal);
        if let Ok((fetched, _)) = &done.result {
            self.counts.bytes_in += fetched.wire_bytes;
        }
        let tries = lease.earlier_tries() + 1;
        if signal == Signal::Local {
            self.frontier.give_back(lease);
            return;
        }
        let is_long_wait = self.context.door.is_long_wait(signal);
        if done.passing && tries < self.context.config.limits.max_tries && !is_long_wait {
            let due = now + retry_delay(&self.context.config.limits, lease.url(), tries);
            tracing::debug!(target: "engine", url = %lease.url(), tries, "another try");
            self.frontier.retry(lease, due);
            return;
        }
        if let Some(validators) = &validators
            && !is_long_wait
            && !is_answer_to(validators, lease.url(), &done.result)
        {
            tracing::debug!(target: "engine", url = %lease.url(), "no answer to a conditional request");
            self.frontier.retry_soon(lease, now);
            return;
        }
        if let Ok((fetched, facts)) = &done.result
            && facts.location.as_ref() == Some(lease.url())
            && fetched.head.headers.all("set-cookie").next().is_some()
        {
            self.hints.want_cookie(lease.url());
        }
        let found = done.found;
        if let Some((document, kind)) = found.and_then(|found| self.wanted_of(lease.url(), found)) {
            // It is counted among the documents, not among the pages.
            let work = Work::of(&lease, tries);
            self.frontier.finish(lease);
            self.adopt(document, kind, &work.url, work.depth);
            self.decide(&work, Outcome::NotFetched(Reason::SeedDocument));
            return;
        }
        let outcome = match done.result {
            Ok((_, facts)) if validators.is_some() && facts.status == 304 => {
                if let Some(lease) = self.revalidation.confirm(lease, tries, facts) {
                    self.frontier.give_back(lease);
                }
                return;
            }
            Ok((_, mut facts)) => {
                facts.read_as = self.rules.judge().read_as();
                Outcome::Answered(facts)
            }
            Err(error) => Outcome::NoAnswer {
                error: error.to_string(),
            },
        };
        self.counts.fetched += 1;
        if validators.is_none()
            && let Outcome::Answered(facts) = &outcome
        {
            self.revalidation
                .take_whole(&lease, facts, self.rules.judge());
        }
        self.end_work(lease, tries, outcome);
    }

    /// The work on a URL has ended: it is decided.
    pub(super) fn end_work(&mut self, lease: Lease, tries: u32, outcome: Outcome) {
        let work = Work::of(&lease, tries);
        self.frontier.finish(lease);
        self.decide(&work, outcome);
    }
}
