//! SIGINT and SIGTERM: the first asks for a clean stop, the second drops what is in flight, the third ends the process at once.
//! SIGHUP asks a daemon to read its settings again, and is ignored by any other job without a terminal. It only counts and
//! translates; the engine does the stopping.

#[cfg(unix)]
use std::io::IsTerminal as _;
use std::{
    io,
    sync::{Arc, OnceLock},
};

use crawler::client::Shutdown;

/// A signal that stops the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: service managers, `kill`.
    Terminate,
}

/// Result of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// No new requests.
    Stopping,
    /// Requests in flight are dropped.
    Aborting,
    /// Nothing helped so far: the process ends now.
    Dying,
}

/// The signals so far, and their requests to the crawls. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// Handed to the engines.
    pub(crate) shutdown: Shutdown,
    first: Arc<OnceLock<StopSignal>>,
}

impl Stop {
    /// The first signal, if any.
    pub(crate) fn asked_by(&self) -> Option<StopSignal> {
        self.first.get().copied()
    }

    /// Obeys a signal.
    pub(crate) fn obey(&self, signal: StopSignal) -> Reaction {
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

/// The signals of the system.
#[cfg(unix)]
mod system {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) type Interrupt = Signal;
    pub(super) type Terminate = Signal;

    pub(super) fn interrupt() -> io::Result<Interrupt> {
        signal(SignalKind::interrupt())
    }

    pub(super) fn terminate() -> io::Result<Terminate> {
        signal(SignalKind::terminate())
    }

    pub(super) fn hangup() -> io::Result<Signal> {
        signal(SignalKind::hangup())
    }
}

#[cfg(windows)]
mod system {
    pub(super) use tokio::signal::windows::{
        CtrlC as Interrupt, CtrlShutdown as Terminate, ctrl_c as interrupt,
        ctrl_shutdown as terminate,
    };
}

/// The stop signals of this process. While it exists they do not end the process by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: system::Interrupt,
    terminate: system::Terminate,
}

impl Signals {
    /// Starts listening; needs a running runtime.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: system::interrupt()?,
            terminate: system::terminate()?,
        })
    }

    /// Listens for a job that goes on when SIGHUP comes and no terminal is there that could have been closed: then SIGHUP means a
    /// request to read the settings again. With a terminal SIGHUP stays the end of the session, and the next one goes on from
    /// there. A system without SIGHUP has the stop signals alone.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn listen_beside_hangups() -> io::Result<Self> {
        #[cfg(unix)]
        {
            let has_terminal = io::stdin().is_terminal()
                || io::stdout().is_terminal()
                || io::stderr().is_terminal();
            if !has_terminal {
                // Who has listened once never gets the signal's own effect again.
                drop(system::hangup()?);
            }
        }
        Self::listen()
    }

    /// The next signal. Cancel safe: a signal that is not taken stays.
    pub(crate) async fn next(&mut self) -> StopSignal {
        // Both arms are cancel safe: `recv` loses nothing when it is dropped.
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
        }
    }
}

/// Requests of the outside to a program that runs until it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To stop.
    Stop(StopSignal),
    /// To read the settings again: SIGHUP, where there is one.
    Reload,
}

/// The signals to such a program. While it exists they do not end the process by themselves.
#[derive(Debug)]
pub(crate) struct DaemonSignals {
    stop: Signals,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl DaemonSignals {
    /// Starts listening; needs a running runtime.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            stop: Signals::listen()?,
            #[cfg(unix)]
            hangup: system::hangup()?,
        })
    }

    /// The next signal. Cancel safe: a signal that is not taken stays.
    pub(crate) async fn next(&mut self) -> Asked {
        #[cfg(unix)]
        let hangup = self.hangup.recv();
        #[cfg(not(unix))]
        let hangup = std::future::pending::<()>();
        // Both arms are cancel safe: neither loses anything when it is dropped.
        tokio::select! {
            signal = self.stop.next() => Asked::Stop(signal),
            _ = hangup => Asked::Reload,
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
