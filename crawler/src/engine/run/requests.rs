//! The requests for pages: sent while their result has room, one lease and one turn each, and taken back with what they
//! came to. Says whether there is another try, and hands every end on to be decided; it decides nothing itself, and
//! never waits.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::{task::AbortHandle, time::Instant};
use tracing::Instrument as _;

use super::{
    Done, Run,
    decide::Work,
    page_sink::{Found, PageSink},
    recrawl::{FetchedFacts, MAX_RECALLS, is_answer_to, is_server_error},
};
use crate::{
    engine::{
        Ending, Limit,
        door::{BUSY_POLL, HeldTurn, retry_delay},
        signal,
    },
    fetch::{FetchErrorKind, Validators},
    frontier::{Lease, Next},
    page::{Outcome, Reason},
    parse::PageParser,
    politeness::{NextTurn, Signal, Weight},
};

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
        self.page_waits = false;
        if self.ending.is_some() {
            return None;
        }
        self.refresh_robots(now);
        if self.config.limits.max_depth.is_some() && !self.seeding.is_idle() {
            // Depths are the fewest hops only if nothing comes in later that is nearer to the start.
            return None;
        }
        loop {
            if !self.has_room() || self.recrawl.recalled() >= MAX_RECALLS {
                return None;
            }
            if self.trouble.is_asking() {
                return None;
            }
            if self.door.is_awaited(&self.host) {
                return Some(now + BUSY_POLL);
            }
            if self.frontier.is_hurried() {
                // The store tells at once what comes next.
                return None;
            }
            let mut lease = match self.frontier.lease(now) {
                Next::Lease(lease) => lease,
                Next::WaitUntil(due) => return Some(due),
                Next::Nothing => return None,
            };
            let before = self.judge.before_fetch(lease.url(), lease.depth());
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
            if lease.earlier_tries() == 0 && self.first_tries() >= self.config.limits.max_pages {
                self.frontier.give_back(lease);
                lease = match self.frontier.lease_another_try(now) {
                    Next::Lease(lease) => lease,
                    Next::WaitUntil(due) => return Some(due),
                    Next::Nothing => {
                        if self.out.is_empty() {
                            self.ending = Some(Ending::LimitReached);
                            self.limit = Some(Limit::Pages);
                        }
                        return None;
                    }
                };
            }
            let next = self.door.clocks().next(&self.host, now);
            match next {
                NextTurn::Ready(turn) => {
                    let turn = self.door.hold(turn);
                    self.spawn(lease, turn);
                }
                NextTurn::WaitUntil(due) => {
                    self.page_waits = true;
                    self.frontier.give_back(lease);
                    return Some(due);
                }
                NextTurn::Busy => {
                    self.page_waits = true;
                    self.frontier.give_back(lease);
                    return self.out.is_empty().then(|| now + BUSY_POLL);
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
        self.fetched + self.out.len() as u64 + self.frontier.tries_waiting() as u64
    }

    fn spawn(&mut self, lease: Lease, turn: HeldTurn) {
        self.seeding.owes_page = false;
        let door = self.door.clone();
        let reader = Arc::clone(&self.reader);
        let url = lease.url().clone();
        let wanted = self.wanted_at(&url);
        let validators = self.validators_for(&lease);
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
            Done::Page(PageDone {
                result,
                found,
                signal,
                passing,
            })
        };
        let handle = self.tasks.spawn(work.in_current_span());
        self.out.insert(
            handle.id(),
            Out {
                lease,
                turn,
                task: handle,
                validators,
                begun: self.door.clock.now(),
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
        self.health.note(signal, begun);
        self.note_failure(lease.url(), &done.result, signal);
        if let Ok((fetched, _)) = &done.result {
            self.bytes_in += fetched.wire_bytes;
        }
        let tries = lease.earlier_tries() + 1;
        if signal == Signal::Local {
            self.frontier.give_back(lease);
            return;
        }
        let is_long_wait = self.door.is_long_wait(signal);
        if done.passing && tries < self.config.limits.max_tries && !is_long_wait {
            let due = now + retry_delay(&self.config.limits, lease.url(), tries);
            tracing::debug!(target: "engine", url = %lease.url(), tries, "another try");
            self.watch_failure(lease.url(), validators.is_some(), &done.result);
            let is_doubtful = validators.is_some() && is_server_error(&done.result);
            if is_doubtful && weight == Weight::Counted {
                // Nobody knows whether the page fails, or the server has no answer to the condition.
                self.frontier.retry_soon(lease, due);
            } else {
                self.frontier.retry(lease, due);
            }
            return;
        }
        let validators = validators.filter(|_| !is_long_wait);
        if let Some(validators) = &validators
            && !is_answer_to(validators, lease.url(), &done.result)
        {
            let doubt = self.doubt_by(lease.url(), &done.result);
            self.ask_whole(lease, doubt);
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
                self.take_not_modified(lease, tries, facts);
                return;
            }
            Ok((_, mut facts)) => {
                facts.read_as = self.judge.read_as();
                Outcome::Answered(facts)
            }
            Err(error) => Outcome::NoAnswer {
                error: error.to_string(),
            },
        };
        self.fetched += 1;
        if validators.is_some() {
            self.recrawl.answered(lease.url());
            self.end_work(lease, tries, outcome);
        } else {
            self.end_whole(lease, tries, outcome);
        }
    }

    /// The work on a URL has ended: it is decided, or waits for what is known of it from earlier runs.
    pub(super) fn end_work(&mut self, lease: Lease, tries: u32, outcome: Outcome) {
        let Some((lease, outcome)) = self.recall_if_kept(lease, tries, outcome) else {
            return;
        };
        let work = Work::of(&lease, tries);
        self.frontier.finish(lease);
        self.decide(&work, outcome);
    }
}
