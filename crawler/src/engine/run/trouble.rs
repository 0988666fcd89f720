//! What goes wrong with the host while its pages are asked for: what of it is the fault of a directory, and what of it
//! the log, the live view and the summary name. A host that fails too often is asked for its start page once more, before
//! it counts as down. `politeness` decides the pace; nothing here does.

use jiff::Timestamp;
use tracing::Instrument as _;

use super::{Ending, Event, Run, decide::Work, outage::Health};
use crate::{
    engine::{FetchedFacts, door::Unread},
    fetch::Request,
    frontier::Lease,
    notes::Note,
    page::{BodyEnd, Outcome},
    politeness::{Closed, HostState, Signal, Weight},
    url_key::UrlKey,
};

/// What went wrong with the host in this session.
#[derive(Debug)]
pub(super) struct HostTrouble {
    /// How the host answers.
    pub(super) health: Health,
    /// What the last failure was, and of which URL.
    last: Option<(String, UrlKey)>,
    /// How the host was slowed down when it was looked at last.
    state: HostState,
    /// How often its pace was halved, or it paused.
    slowdowns: u64,
    /// URLs that ask for a longer wait than the settings allow, and the first of them, with its answer.
    long_waits: u64,
    first_long_wait: Option<LongWait>,
    machine: Machine,
    /// Published pages of directories that were given up wait for the next session.
    leaves_pages: bool,
    /// The start page is being asked for.
    is_asking: bool,
}

/// Whether this machine can reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Machine {
    #[default]
    Well,
    /// It was at fault when something failed last.
    Failing,
    /// It was at fault before.
    Recovered,
}

/// An answer that asks for a long wait.
#[derive(Debug)]
struct LongWait {
    url: UrlKey,
    status: u16,
    until: Timestamp,
}

impl HostTrouble {
    /// Nothing went wrong so far.
    pub(super) fn new(health: Health) -> Self {
        Self {
            health,
            last: None,
            state: HostState::default(),
            slowdowns: 0,
            long_waits: 0,
            first_long_wait: None,
            machine: Machine::default(),
            leaves_pages: false,
            is_asking: false,
        }
    }

    /// The last failure, as `503 at https://...`.
    pub(super) fn last(&self) -> Option<String> {
        let (cause, url) = self.last.as_ref()?;
        Some(format!("{cause} at {url}"))
    }

    /// Whether the start page is being asked for, and nothing else may be.
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }
}

impl Run<'_> {
    /// Whether an answer speaks of the host: other tries of a URL do not, nor does a directory that fails while URLs of
    /// others wait.
    pub(super) fn weigh(&mut self, lease: &Lease, signal: Signal) -> Weight {
        if let Signal::Fine { .. } = signal {
            self.frontier.answered(lease.url());
        }
        let is_again = lease.earlier_tries() > 0;
        if signal.is_failure() && (is_again || self.frontier.failed(lease.url())) {
            Weight::Ignored
        } else {
            Weight::Counted
        }
    }

    /// Takes note of a failure, and of what the host makes of it.
    pub(super) fn note_failure(&mut self, url: &UrlKey, answer: &FetchedFacts, signal: Signal) {
        let cause = match answer {
            Err(error) => Some(error.to_string()),
            Ok((fetched, _)) if fetched.end == BodyEnd::CutShort => {
                Some("the connection broke off".to_owned())
            }
            Ok((fetched, _)) if signal.is_failure() => Some(fetched.head.status.to_string()),
            Ok(_) => None,
        };
        if let Some(cause) = cause {
            let is_local = signal == Signal::Local;
            if is_local && self.trouble.machine == Machine::Well {
                tracing::warn!(target: "engine", "{cause}");
                self.say(Note::machine_at_fault(&cause).naming(url));
            }
            self.trouble.machine = match self.trouble.machine {
                _ if is_local => Machine::Failing,
                Machine::Well => Machine::Well,
                Machine::Failing | Machine::Recovered => Machine::Recovered,
            };
            self.trouble.last = Some((cause, url.clone()));
        }
        if self.context.door.is_long_wait(signal) {
            self.note_long_wait(url, answer, signal);
        }
        let state = self
            .context
            .door
            .clocks()
            .state(&self.context.host, tokio::time::Instant::now());
        self.note_host_state(state, url, signal);
    }

    fn note_long_wait(&mut self, url: &UrlKey, answer: &FetchedFacts, signal: Signal) {
        self.trouble.long_waits += 1;
        if self.trouble.first_long_wait.is_some() {
            return;
        }
        let (Ok((fetched, _)), Some(wait)) = (answer, signal.retry_after()) else {
            return;
        };
        let until = self.context.door.date_in(wait);
        let status = fetched.head.status;
        tracing::warn!(target: "engine", %url, status, "asked for again by the next crawl only: Retry-After until {until}");
        self.trouble.first_long_wait = Some(LongWait {
            url: url.clone(),
            status,
            until,
        });
    }

    /// Logs what the answer of `url` changed about the pace of the host, with what did it.
    fn note_host_state(&mut self, state: HostState, url: &UrlKey, signal: Signal) {
        if let HostState::RetryAfter(wait) = state {
            // Answers that were on their way already say nothing new.
            if signal.retry_after().is_some() {
                let last = self.trouble.last().unwrap_or_default();
                tracing::info!(target: "engine", "waiting for {wait:?} (Retry-After): {last}");
            }
            return;
        }
        let before = std::mem::replace(&mut self.trouble.state, state);
        match (before, state) {
            (HostState::SlowedDown(before), HostState::SlowedDown(now)) if now < before => {
                tracing::info!(target: "engine", "the host is well again: crawling at 1/{now} of the pace");
            }
            (HostState::SlowedDown(_), HostState::Open | HostState::Delay(_)) => {
                tracing::info!(target: "engine", "the host is well again: crawling at full pace");
            }
            (HostState::Pausing(_), HostState::SlowedDown(now)) => {
                tracing::info!(target: "engine", "going on at 1/{now} of the pace");
            }
            (_, HostState::SlowedDown(now)) if before != state => {
                self.trouble.slowdowns += 1;
                if !signal.is_failure() {
                    let cause = "answers take twice as long".to_owned();
                    self.trouble.last = Some((cause, url.clone()));
                }
                let last = self.trouble.last().unwrap_or_default();
                tracing::warn!(target: "engine", "slowing down to 1/{now} of the pace: {last}");
            }
            (_, HostState::Pausing(wait)) if !matches!(before, HostState::Pausing(_)) => {
                self.trouble.slowdowns += 1;
                let last = self.trouble.last().unwrap_or_default();
                tracing::warn!(target: "engine", "pausing for {wait:?} after failures in a row: {last}");
            }
            (
                _,
                HostState::Open
                | HostState::Delay(_)
                | HostState::SlowedDown(_)
                | HostState::RetryAfter(_)
                | HostState::Pausing(_)
                | HostState::Closed,
            ) => {}
        }
    }

    /// The host gets no further request. Before it counts as down its start page is asked for: when that is answered, the
    /// directories that fail are at fault.
    pub(super) fn host_closed(&mut self, closed: Closed) {
        if closed != Closed::Down {
            self.close(closed);
            return;
        }
        if self.trouble.machine == Machine::Failing {
            // Nothing is wrong with the host, and it is no outage of it.
            self.end.ending.get_or_insert(Ending::Deferred);
            return;
        }
        if !self.context.door.clocks().reopen(&self.context.host) {
            return;
        }
        let (door, url) = (self.context.door.clone(), self.context.site.start.clone());
        let stop = self.context.shutdown.stop.clone();
        let work = async move {
            let request = Request::get(&url, door.max_body_bytes);
            let asked = door.ask_until(&request, &stop, || Unread, |_| true).await;
            let is_well = asked
                .is_ok_and(|answered| answered.result.is_ok() && !answered.signal.is_failure());
            Event::StartPage { is_well }
        };
        self.tasks.spawn(work.in_current_span());
        self.trouble.is_asking = true;
    }

    /// Takes the answer of the start page of a host that failed too often.
    pub(super) fn take_start_page(&mut self, is_well: bool) {
        self.trouble.is_asking = false;
        let what = if is_well && self.trouble.health.is_past_help() {
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
        self.say(Note::given_up(&what, &last).naming(&self.context.site.start.clone()));
    }

    /// Ends the work on a URL that was given up. A published page that was not asked for keeps its place in the queue of the
    /// store: the next session asks for it.
    pub(super) fn end_given_up(&mut self, lease: Lease) {
        let error = "not asked for: pages before it failed in a row while the start page answered";
        let tries = lease.earlier_tries();
        let is_published = lease.earlier().is_some_and(|earlier| earlier.was_listed);
        if is_published && tries == 0 && !self.trouble.health.is_past_help() {
            self.trouble.leaves_pages = true;
            self.frontier.finish(lease);
            return;
        }
        let work = Work::of(&lease, tries);
        tracing::debug!(target: "engine", url = %work.url, "given up with its directory");
        let outcome = Outcome::NoAnswer {
            error: error.to_owned(),
        };
        self.end_work(lease, tries, outcome);
    }

    /// What the user should know of it when the session ends.
    pub(super) fn conclude_trouble(&mut self) {
        if self.trouble.leaves_pages {
            self.end.ending.get_or_insert(Ending::Deferred);
        }
        let count = self.trouble.long_waits;
        if let Some(LongWait { url, status, until }) = self.trouble.first_long_wait.take() {
            let note = Note::retry_after_long(&url, &status, &until, &count);
            self.say(note.counting(count).naming(&url));
        }
        let count = self.trouble.slowdowns;
        if let (Some((cause, url)), 1..) = (self.trouble.last.take(), count) {
            let note = Note::host_slowed(&count, &format_args!("{cause} at {url}"));
            self.say(note.counting(count).naming(&url));
        }
    }
}
