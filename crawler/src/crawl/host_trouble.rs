//! Failures of the host while its pages are requested: those that are the fault of a directory, and those that
//! the log, the live view and the summary report. A host that fails too often is asked for its start page once more, before
//! it counts as down. `politeness` decides the pace; nothing here does.

use jiff::Timestamp;

use super::{FetchedFacts, challenges::Challenges, outage::Health};
use crate::{
    client::gate::rough_duration,
    frontier::Lease,
    notes::Note,
    page::{BodyEnd, CrawlId},
    politeness::{Closed, HostState, Signal},
    store::MetaValue,
    url_key::UrlKey,
};

/// The failures of the host in this session.
#[derive(Debug)]
pub(super) struct HostTrouble {
    /// How the host answers.
    health: Health,
    /// The last failure, and its URL.
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
    /// Challenges in a row.
    challenges: Challenges,
}

/// The connection of this machine to the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Machine {
    #[default]
    Well,
    /// The host was at fault when something failed last.
    Failing,
    /// The host was at fault before.
    Recovered,
}

/// The next step when the host gets no further request.
pub(super) enum AfterClosing {
    /// The session ends because of the host.
    End,
    /// The session ends, and the host is not at fault.
    Defer,
    /// The start page is asked for once more.
    AskStartPage,
    /// The same, because of challenges.
    LookStartAnswer,
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
            challenges: Challenges::default(),
        }
    }

    /// The last failure, as `503 at https://...`.
    pub(super) fn last(&self) -> Option<String> {
        let (cause, url) = self.last.as_ref()?;
        Some(format!("{cause} at {url}"))
    }

    /// Returns whether the start page is being asked for, and nothing else may be.
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Returns whether so many sessions of the crawl ended in an outage that what still fails is its own fault.
    pub(super) fn is_past_help(&self) -> bool {
        self.health.is_past_help()
    }

    /// The data that the next session of `run` needs, as a value of the state, if the host, or a part of it, failed now.
    pub(super) fn outage(&self, closed: &Closed, run: CrawlId) -> MetaValue {
        self.health.value(closed, run)
    }

    /// Takes the answer of `url` to a request that was sent at `begun`: `signal` is its evidence about the host, which is in `state`
    /// now. With `long_wait` it asks to be left alone until then. Gives what the user should know at once.
    pub(super) fn record_answer(
        &mut self,
        url: &UrlKey,
        answer: &FetchedFacts,
        signal: Signal,
        begun: Timestamp,
        long_wait: Option<Timestamp>,
        state: HostState,
    ) -> Option<Note> {
        self.health.note(signal, begun);
        let is_challenge = matches!(answer, Ok((_, facts)) if facts.warnings.challenge);
        if !is_challenge {
            self.challenges.end_row();
        }
        let cause = match answer {
            Err(error) => Some(error.to_string()),
            Ok((fetched, _)) if fetched.end == BodyEnd::CutShort => {
                Some("the connection broke off".to_owned())
            }
            Ok((fetched, _)) if signal.is_failure() => Some(fetched.head.status.to_string()),
            Ok(_) => None,
        };
        let note = cause.and_then(|cause| self.note_failure(url, cause, signal == Signal::Local));
        if let Some(until) = long_wait {
            self.note_long_wait(url, answer, until);
        }
        self.note_state(state, url, signal);
        note
    }

    /// Takes a challenge in the place of the page `url`; returns whether there are too many in a row.
    pub(super) fn take_challenge(&mut self, url: &UrlKey) -> bool {
        self.challenges.add(url)
    }

    /// Returns whether the crawl may wait for a start page that is a challenge.
    pub(super) fn may_wait_for_start(&self) -> bool {
        self.challenges.may_wait()
    }

    /// The crawl has waited for it.
    pub(super) fn waited_for_start(&mut self) {
        self.challenges.wait();
    }

    /// The pages of the row of challenges, which ends.
    pub(super) fn end_challenges(&mut self) -> Vec<UrlKey> {
        self.challenges.end_row()
    }

    /// Takes note that the document at `url` failed.
    pub(super) fn take_document(&mut self, url: UrlKey, cause: String) {
        self.last = Some((cause, url));
    }

    /// Takes note of a failure, which may be the fault of this machine.
    fn note_failure(&mut self, url: &UrlKey, cause: String, is_local: bool) -> Option<Note> {
        let is_new = is_local && self.machine == Machine::Well;
        let note = is_new.then(|| {
            tracing::warn!(target: "crawl", "{cause}");
            Note::machine_at_fault(&cause).naming(url)
        });
        self.machine = match self.machine {
            _ if is_local => Machine::Failing,
            Machine::Well => Machine::Well,
            Machine::Failing | Machine::Recovered => Machine::Recovered,
        };
        self.last = Some((cause, url.clone()));
        note
    }

    fn note_long_wait(&mut self, url: &UrlKey, answer: &FetchedFacts, until: Timestamp) {
        self.long_waits += 1;
        if self.first_long_wait.is_some() {
            return;
        }
        let Ok((fetched, _)) = answer else {
            return;
        };
        let status = fetched.head.status;
        tracing::warn!(target: "crawl", %url, status, "requested again by the next crawl only: Retry-After until {until}");
        self.first_long_wait = Some(LongWait {
            url: url.clone(),
            status,
            until,
        });
    }

    /// Logs what the answer of `url` changed about the pace of the host, with what did it.
    fn note_state(&mut self, state: HostState, url: &UrlKey, signal: Signal) {
        if let HostState::RetryAfter(wait) = state {
            // Answers that were on their way already have no new text.
            if signal.retry_after().is_some() {
                let last = self.last().unwrap_or_default();
                tracing::info!(target: "crawl", "waiting for {} (Retry-After): {last}", rough_duration(wait));
            }
            return;
        }
        let before = std::mem::replace(&mut self.state, state);
        match (before, state) {
            (HostState::SlowedDown(before), HostState::SlowedDown(now)) if now < before => {
                tracing::info!(target: "crawl", "the host answers well again: crawling at 1/{now} of the pace");
            }
            (HostState::SlowedDown(_), HostState::Open | HostState::Delay(_)) => {
                tracing::info!(target: "crawl", "the host answers well again: crawling at full pace");
            }
            (HostState::Pausing(_), HostState::SlowedDown(now)) => {
                tracing::info!(target: "crawl", "going on at 1/{now} of the pace");
            }
            (_, HostState::SlowedDown(now)) if before != state => {
                self.slowdowns += 1;
                if !signal.is_failure() {
                    let cause = "answers take twice as long".to_owned();
                    self.last = Some((cause, url.clone()));
                }
                let last = self.last().unwrap_or_default();
                tracing::info!(target: "crawl", "slowing down to 1/{now} of the pace: {last}");
            }
            (_, HostState::Pausing(wait)) if !matches!(before, HostState::Pausing(_)) => {
                self.slowdowns += 1;
                let last = self.last().unwrap_or_default();
                tracing::info!(target: "crawl", "pausing for {} after failures in a row: {last}", rough_duration(wait));
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

    /// The next step now that the host gets no further request. Before it counts as down its start page is asked for:
    /// when that is answered, the directories that fail are at fault.
    pub(super) fn closed(&self, closed: Closed) -> AfterClosing {
        match closed {
            Closed::RetryAfter(_) => AfterClosing::End,
            // Nothing is wrong with the host, and it is not an outage of it.
            Closed::Down if self.machine == Machine::Failing => AfterClosing::Defer,
            Closed::Down if self.challenges.is_row() => AfterClosing::LookStartAnswer,
            Closed::Down => AfterClosing::AskStartPage,
        }
    }

    /// Takes note that the start page is being asked for, or was answered.
    pub(super) fn set_asking(&mut self, is_asking: bool) {
        self.is_asking = is_asking;
    }

    /// Returns whether a URL that was given up keeps its place in the queue of the store, so that the next session asks for it: a
    /// published page that was not asked for.
    pub(super) fn leaves(&mut self, lease: &Lease) -> bool {
        let is_published = lease.earlier().is_some_and(|earlier| earlier.was_listed);
        let leaves = is_published && lease.earlier_tries() == 0 && !self.is_past_help();
        self.leaves_pages |= leaves;
        leaves
    }

    /// Returns whether published pages wait for the next session.
    pub(super) fn leaves_pages(&self) -> bool {
        self.leaves_pages
    }

    /// Notes on it for the user when the session ends.
    pub(super) fn conclude(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let count = self.long_waits;
        if let Some(LongWait { url, status, until }) = &self.first_long_wait {
            let note = Note::retry_after_long(url, status, until, &count);
            notes.push(note.counting(count).naming(url));
        }
        let count = self.slowdowns;
        if let (Some((cause, url)), 1..) = (&self.last, count) {
            let note = Note::host_slowed(&count, &format_args!("{cause} at {url}"));
            notes.push(note.counting(count).naming(url));
        }
        notes
    }
}
