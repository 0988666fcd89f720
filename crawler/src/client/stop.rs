//! Signals that stop the work of a program: the first asks for a clean stop, the second drops what is in flight, after the third the
//! process ends at once. It only counts and translates.

use std::sync::{Arc, OnceLock};

use super::Shutdown;
use crate::outcome::ExitCode;

/// A signal that stops the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: service managers, `kill`.
    Terminate,
}

/// Result of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// No new requests.
    Stopping,
    /// Requests in flight are dropped.
    Aborting,
    /// Nothing helped so far: the process ends now.
    Dying,
}

/// The signals so far, and their requests to the crawls. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Handed to the engines.
    pub shutdown: Shutdown,
    first: Arc<OnceLock<StopSignal>>,
}

impl Stop {
    /// A part of the work: it stops with all of it, or alone by its own [`Stop::shutdown`].
    #[must_use]
    pub fn of_part(&self) -> Self {
        Self {
            shutdown: self.shutdown.of_part(),
            first: Arc::clone(&self.first),
        }
    }

    /// The first signal, if any.
    pub fn asked_by(&self) -> Option<StopSignal> {
        self.first.get().copied()
    }

    /// Obeys a signal.
    pub fn obey(&self, signal: StopSignal) -> Reaction {
        self.first.get_or_init(|| signal);
        if self.shutdown.is_aborting() {
            Reaction::Dying
        } else if self.shutdown.is_stopping() {
            self.shutdown.abort();
            Reaction::Aborting
        } else {
            self.shutdown.stop();
            Reaction::Stopping
        }
    }
}

/// Requests of the outside to a program that runs until it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalRequest {
    /// To stop.
    Stop(StopSignal),
    /// To read the settings again: SIGHUP, where there is one.
    Reload,
}

impl From<StopSignal> for ExitCode {
    fn from(signal: StopSignal) -> Self {
        match signal {
            StopSignal::Interrupt => Self::Interrupted,
            StopSignal::Terminate => Self::Terminated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_asks_harder() {
        let stop = Stop::default();
        assert_eq!(stop.asked_by(), None);
        assert_eq!(stop.obey(StopSignal::Terminate), Reaction::Stopping);
        assert!(stop.shutdown.is_stopping() && !stop.shutdown.is_aborting());
        assert_eq!(stop.obey(StopSignal::Interrupt), Reaction::Aborting);
        assert!(stop.shutdown.is_aborting());
        assert_eq!(stop.obey(StopSignal::Interrupt), Reaction::Dying);
        assert_eq!(stop.asked_by(), Some(StopSignal::Terminate));
    }

    #[test]
    fn a_signal_after_the_grace_ends_the_process() {
        let stop = Stop::default();
        assert_eq!(stop.obey(StopSignal::Interrupt), Reaction::Stopping);
        stop.shutdown.abort();
        assert_eq!(stop.obey(StopSignal::Interrupt), Reaction::Dying);
    }
}
