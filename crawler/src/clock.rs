//! Wall time, and the CPU time of a thread. Only things that outlive the process use wall time (records, `lastmod`,
//! `Retry-After` across restarts); waiting uses tokio's monotonic clock, which tests can pause.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Two clocks that are less apart show the same day: a host that states its local time is no further off, nor is a cache.
const MIN_SKEW: SignedDuration = SignedDuration::from_hours(24);

/// So long after one of two clocks was set, what they show is how they are: longer than a page that fails is kept by default.
const USUAL_AFTER: SignedDuration = SignedDuration::from_hours(31 * 24);

/// A clock that stands still, as a cache may show it, falls behind by no more between two crawls; one that does was set.
const MAX_STEP: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The clock of a host shows whole seconds: so much later it may be than it says.
pub(crate) const HOST_SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Tells the wall time.
pub trait Clock: Send + Sync {
    /// The current instant, UTC.
    fn now(&self) -> Timestamp;
}

/// How far the clock of a host is ahead of ours, where that is a day or more. One of the two is wrong then, and nobody knows
/// which: what is counted in days is counted by the one that shows less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skew(SignedDuration);

impl Skew {
    /// The clocks show the same, or the host shows no time.
    pub const NONE: Self = Self(SignedDuration::ZERO);

    /// When our clock shows `ours` and that of the host `host`.
    pub fn between(ours: Timestamp, host: Timestamp) -> Self {
        let ahead = host.duration_since(ours);
        Self(ahead).filtered()
    }

    /// Where the host is ahead by `ahead`, and usually is by `usual`.
    fn from_usual(ahead: SignedDuration, usual: SignedDuration) -> Self {
        Self(ahead.saturating_sub(usual)).filtered()
    }

    fn filtered(self) -> Self {
        if self.0.abs() < MIN_SKEW {
            Self::NONE
        } else {
            self
        }
    }

    /// Whether the clocks show the same.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// What the two clocks show when ours shows `ours`.
    pub fn shown(self, ours: Timestamp) -> Shown {
        let host = ours.checked_add(self.0).unwrap_or(ours);
        Shown {
            earlier: ours.min(host),
            later: ours.max(host),
        }
    }

    /// The text form: whole seconds.
    pub fn to_text(self) -> String {
        self.0.as_secs().to_string()
    }

    /// Reads the text form; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let seconds = text.parse().ok()?;
        Some(Self(SignedDuration::from_secs(seconds)).filtered())
    }
}

/// How far the clock of a host is ahead of ours, from one crawl to the next. That of some hosts is always years off, and goes on
/// as time does; what counts is when one of the two was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// How it was all the time.
    usual: SignedDuration,
    /// How it was in the last crawl.
    last: SignedDuration,
    /// Since when it is not as usual, if it is not, by our clock.
    since: Timestamp,
}

impl Ahead {
    /// What is known when our clock shows `ours` and that of the host `host`, behind what was known then; and how far the clocks
    /// are from what is usual.
    pub fn next(known: Option<Self>, ours: Timestamp, host: Timestamp) -> (Self, Skew) {
        let last = host.duration_since(ours);
        let Some(known) = known else {
            let first = Self {
                usual: last,
                last,
                since: ours,
            };
            return (first, Skew::NONE);
        };
        let is_unusual = |ahead| !Skew::from_usual(ahead, known.usual).is_none();
        let was_set = !is_unusual(known.last) || last.saturating_sub(known.last).abs() > MAX_STEP;
        let next = if is_unusual(last) && was_set {
            Self {
                last,
                since: ours,
                ..known
            }
        } else if is_unusual(last) && ours.duration_since(known.since) >= USUAL_AFTER {
            Self {
                usual: last,
                last,
                ..known
            }
        } else {
            // A clock that was put back begins anew.
            let since = known.since.min(ours);
            Self {
                last,
                since,
                ..known
            }
        };
        (next, Skew::from_usual(last, next.usual))
    }

    /// The text form: whole seconds, and a time.
    pub fn to_text(self) -> String {
        let Self { usual, last, since } = self;
        format!("{} {} {since}", usual.as_secs(), last.as_secs())
    }

    /// Reads the text form; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut seconds = || Some(SignedDuration::from_secs(words.next()?.parse().ok()?));
        let (usual, last) = (seconds()?, seconds()?);
        Some(Self {
            usual,
            last,
            since: words.next()?.parse().ok()?,
        })
    }
}

/// What two clocks show at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The one that shows less.
    pub earlier: Timestamp,
    /// The one that shows more.
    pub later: Timestamp,
}

impl From<Timestamp> for Shown {
    /// Both show the same.
    fn from(time: Timestamp) -> Self {
        Self {
            earlier: time,
            later: time,
        }
    }
}

/// The clock of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Reads the CPU time that the calling thread has used; tests script it.
pub(crate) type CpuClock = fn() -> Duration;

/// The CPU time that the calling thread has used.
#[cfg(unix)]
pub(crate) fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// Zero: this system has no such clock that arpent reads, so nothing is limited by CPU time.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    /// Crawls on days of our clock and of that of the host, each with whether both are believed.
    #[track_caller]
    fn check(crawls: impl IntoIterator<Item = (i64, i64, bool)>) {
        let begin: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
        let mut known = None;
        for (ours, host, is_believed) in crawls {
            let [ours, host] = [ours, host].map(|day| begin + (24 * day).hours());
            let (next, skew) = Ahead::next(known, ours, host);
            assert_eq!(skew.is_none(), is_believed, "{ours} {host}");
            known = Ahead::parse(&next.to_text());
            assert_eq!(known, Some(next));
        }
    }

    #[test]
    fn a_clock_that_is_always_off_goes_on_as_time_does() {
        for off in [-20 * 365, -400, -2, 0, 2, 400] {
            check((0..60).map(|day| (day, day + off, true)));
        }
    }

    #[test]
    fn a_clock_that_was_set_is_not_believed_for_a_month() {
        for off in [-7_000, -400, -2, 2, 400] {
            let before = (0..3).map(|day| (day, day, true));
            let after = (3..70).map(|day| (day, day + off, day >= 3 + 31));
            check(before.chain(after));
            // Ours was.
            let before = (0..3).map(|day| (day, day, true));
            let after = (3..70).map(|day| (day + off, day, day >= 3 + 31));
            check(before.chain(after));
        }
        check([(0, 0, true), (1, 400, false), (2, 2, true), (-40, 3, false)]);
        check([(0, 0, true), (-36, 1, false), (400, 2, false), (3, 3, true)]);
    }

    #[test]
    fn a_clock_that_stands_still_is_believed_once_a_month() {
        check((0..90).map(|day| (day, 0, day % 32 == 0)));
    }

    #[test]
    fn what_is_no_value_is_none() {
        for text in ["", "1", "1 2", "1 2 3", "x 2 2026-01-01T00:00:00Z"] {
            assert_eq!(Ahead::parse(text), None, "{text}");
        }
    }
}
