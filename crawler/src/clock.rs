//! Wall time, and the CPU time of a thread. Only things that outlive the process use wall time (records, `lastmod`,
//! `Retry-After` across restarts); waiting uses tokio's monotonic clock, which tests can pause.

use std::time::Duration;

use jiff::Timestamp;

/// Gives the wall-clock time.
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
