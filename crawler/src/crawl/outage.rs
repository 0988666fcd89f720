//! The effects of a host that went down. Failures since its last good answer are not evidence about the pages: the
//! session that continues the crawl requests these pages again, after all URLs that wait already. A host that is down
//! cannot be distinguished from pages that always fail, so this happens at most [`MAX_OUTAGES`] times in a crawl. The
//! loop records the outage; the store is changed when a session continues the crawl.

use jiff::Timestamp;

use super::requeue::requeue;
use crate::{
    page::{CrawlId, Mark},
    politeness::{Closed, Signal},
    store::{Effect, MetaValue, Store, StoreError},
};

/// Name of the state's value with the last outage of the open crawl: words, as [`Outage::to_text`] writes them.
const OUTAGE: &str = crate::store::names::CRAWL_OUTAGE;

/// Sessions of a crawl that end in an outage and after which the failed pages are requested again. When a site is down for
/// some nights, while a cache answers for its start page, its pages stay in the crawl. A section that always fails cannot
/// keep a crawl open for ever.
const MAX_OUTAGES: u32 = 3;

/// The answers of the host in this session of the crawl.
#[derive(Debug, Clone, Copy)]
pub(super) struct Health {
    /// When the last request was sent that it answered well: what failed later, failed when it was not well any more.
    /// The start page, which is answered before the loop, is the first.
    last_good: Timestamp,
    /// A page that this session requested was answered well.
    has_good: bool,
    /// Earlier sessions of this crawl that ended in an outage.
    outages: u32,
}

impl Health {
    /// The loop begins `now`, after so many sessions of the crawl that ended in an outage.
    pub(super) fn new(now: Timestamp, outages: u32) -> Self {
        Self {
            last_good: now,
            has_good: false,
            outages,
        }
    }

    /// Returns whether so many sessions of the crawl ended in an outage that what still fails is its own fault.
    pub(super) fn is_past_help(&self) -> bool {
        self.outages >= MAX_OUTAGES
    }

    /// Takes the answer to a request for a page that was sent at `begun`.
    pub(super) fn note(&mut self, signal: Signal, begun: Timestamp) {
        match signal {
            Signal::Fine { .. } => {
                self.last_good = self.last_good.max(begun);
                self.has_good = true;
            }
            Signal::Overloaded { .. }
            | Signal::ServerError { .. }
            | Signal::Unreachable
            | Signal::Local
            | Signal::Neutral => {}
        }
    }

    /// The data that the next session of `run` needs, as a value of the state, if the host is closed now.
    pub(super) fn value(&self, closed: &Closed, run: CrawlId) -> MetaValue {
        let text = self.outage(closed).to_text(run);
        (OUTAGE.to_owned(), Some(text))
    }

    /// A pause that the host asked for is not an outage, as long as
    /// the run comes on between them.
    fn outage(&self, closed: &Closed) -> Outage {
        let counts = match closed {
            Closed::RetryAfter(_) => !self.has_good,
            Closed::Down => true,
        };
        Outage {
            number: self.outages + u32::from(counts),
            since: Some(self.last_good),
        }
    }
}

/// An outage that ended a session of the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outage {
    /// How many the crawl had with it.
    number: u32,
    /// When the last request before it was sent that was answered well; `None` once what failed since then was taken care of.
    since: Option<Timestamp>,
}

impl Outage {
    fn to_text(self, run: CrawlId) -> String {
        let since = self.since.map(|since| since.to_string());
        format!("{run} {} {}", self.number, since.as_deref().unwrap_or("-"))
    }

    /// The outage of the crawl `run` in a value; `None` when it is of another crawl, or damaged.
    fn of_run(run: CrawlId, text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let is_of_run = words.next()?.parse() == Ok(run);
        let number = words.next()?.parse().ok()?;
        let since = match words.next()? {
            "-" => None,
            since => Some(since.parse().ok()?),
        };
        is_of_run.then_some(Self { number, since })
    }
}

/// Queues what failed in the outage that ended the last session of the crawl `run`, if one did, after `next_sequence`; returns how
/// many sessions in a row ended in an outage.
pub(super) fn ask_again(
    store: &mut Store,
    run: CrawlId,
    next_sequence: &mut u64,
) -> Result<u32, StoreError> {
    let text = store.value(OUTAGE)?.unwrap_or_default();
    let Some(outage) = Outage::of_run(run, &text) else {
        return Ok(0);
    };
    let Some(since) = outage.since else {
        return Ok(outage.number);
    };
    if outage.number <= MAX_OUTAGES {
        let count = requeue(store, next_sequence, |_, _, visit| {
            let record = &visit.record;
            record.reason.has(Mark::HostTrouble)
                && record.fetched_at.is_some_and(|ended| ended >= since)
        })?;
        if count > 0 {
            tracing::info!(target: "crawl", "{count} pages failed when the site went down: they are requested again");
        }
    }
    // A session that is killed before this does the same again, which changes nothing.
    let taken_care_of = Outage {
        since: None,
        ..outage
    };
    let text = taken_care_of.to_text(run);
    store.commit(&[Effect::value(OUTAGE, Some(text))])?;
    Ok(outage.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_noted_for_its_run() {
        let outage = Outage {
            number: 2,
            since: "2026-03-01T12:00:00.5Z".parse().ok(),
        };
        let text = outage.to_text(7);
        assert_eq!(Outage::of_run(7, &text), Some(outage));
        assert_eq!(Outage::of_run(8, &text), None);
        let outage = Outage {
            since: None,
            ..outage
        };
        assert_eq!(Outage::of_run(7, &outage.to_text(7)), Some(outage));
        for damaged in ["", "7", "7 x -", "7 1", "7 1 soon", "x 1 -"] {
            assert_eq!(Outage::of_run(7, damaged), None, "{damaged}");
        }
    }

    #[test]
    fn failures_since_a_good_answer_are_requested_again() {
        let [began, later]: [Timestamp; 2] =
            ["2026-03-01T12:00:00Z", "2026-03-01T12:01:00Z"].map(|text| text.parse().unwrap());
        let mut health = Health::new(began, 2);
        health.note(Signal::Unreachable, later);
        health.note(Signal::ServerError { retry_after: None }, later);
        let third = |since| Outage {
            number: 3,
            since: Some(since),
        };
        assert_eq!(health.outage(&Closed::Down), third(began));
        let latency = std::time::Duration::ZERO;
        health.note(Signal::Fine { latency }, later);
        assert_eq!(health.outage(&Closed::Down), third(later));
    }

    #[test]
    fn a_requested_pause_is_no_outage_after_progress() {
        let began = "2026-03-01T12:00:00Z".parse().unwrap();
        let pause = Closed::RetryAfter(tokio::time::Instant::now());
        let mut health = Health::new(began, 2);
        // Failures only: they must not keep the crawl open for ever.
        assert_eq!(health.outage(&pause).number, 3);
        let latency = std::time::Duration::ZERO;
        health.note(Signal::Fine { latency }, began);
        assert_eq!(health.outage(&pause).number, 2);
        assert_eq!(health.outage(&Closed::Down).number, 3);
    }
}
