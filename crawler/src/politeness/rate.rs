//! The rate of the settings as a time between two starts, and the `governor` limiter that keeps it.

use std::{cell::Cell, ops::Add, time::Duration};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, Reference},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed},
};
use tokio::time::Instant;

use crate::config::Rate;

use super::{LONGEST_WAIT, after};

/// Time between two starts; zero for an unlimited rate. A rate that is not a positive number gives the
/// longest wait there is.
pub(super) fn interval(rate: Rate) -> Duration {
    match rate {
        Rate::PerSecond(starts) => Duration::try_from_secs_f64(starts.recip())
            .unwrap_or(LONGEST_WAIT)
            .min(LONGEST_WAIT),
        Rate::Unlimited => Duration::ZERO,
    }
}

/// One start per interval, burst 1.
#[derive(Debug)]
pub(super) struct Limiter(RateLimiter<NotKeyed, InMemoryState, SetClock, NoOpMiddleware<Moment>>);

impl Limiter {
    /// A limiter that allows its first start at once; none for a zero interval.
    pub(super) fn new(interval: Duration, now: Instant) -> Option<Self> {
        let quota = Quota::with_period(interval)?;
        Some(Self(RateLimiter::direct_with_clock(
            quota,
            SetClock(Cell::new(now)),
        )))
    }

    /// Counts a start at `now`.
    ///
    /// # Errors
    /// The start would be too early, and is not counted; the instant is the earliest that would not.
    pub(super) fn check(&self, now: Instant) -> Result<(), Instant> {
        self.0.clock().0.set(now);
        self.0
            .check()
            .map_err(|refused| refused.earliest_possible().0)
    }
}

/// A clock that shows the time that was set last, so that the limiter follows the caller's (pausable) time.
#[derive(Debug)]
struct SetClock(Cell<Instant>);

impl Clock for SetClock {
    type Instant = Moment;

    fn now(&self) -> Moment {
        Moment(self.0.get())
    }
}

/// An instant with the arithmetic that `governor` asks for; it saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(Instant);

impl Reference for Moment {
    fn duration_since(&self, earlier: Self) -> Nanos {
        self.0
            .saturating_duration_since(earlier.0)
            .min(LONGEST_WAIT)
            .into()
    }

    fn saturating_sub(&self, duration: Nanos) -> Self {
        Self(self.0.checked_sub(duration.into()).unwrap_or(self.0))
    }
}

impl Add<Nanos> for Moment {
    type Output = Self;

    fn add(self, duration: Nanos) -> Self {
        Self(after(self.0, duration.into()))
    }
}
