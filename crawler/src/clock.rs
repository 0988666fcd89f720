//! Wall time. Only things that outlive the process use it (records, `lastmod`, `Retry-After` across
//! restarts); waiting uses tokio's monotonic clock, which tests can pause.

use jiff::Timestamp;

/// Tells the wall time.
pub trait Clock: Send + Sync {
    /// The current instant, UTC.
    fn now(&self) -> Timestamp;
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
