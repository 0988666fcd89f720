//! SIGINT and SIGTERM: the first asks for a clean stop, the second drops what is in flight, the third ends the process at once.
//! SIGHUP asks a daemon to read its settings again, and is ignored by any other job without a terminal. It only
//! translates; the library does the stopping.

use std::io;
#[cfg(unix)]
use std::io::IsTerminal as _;

pub(crate) use crawler::client::{Reaction, SignalRequest, Stop, StopSignal};

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
    pub(crate) async fn next(&mut self) -> SignalRequest {
        #[cfg(unix)]
        let hangup = self.hangup.recv();
        #[cfg(not(unix))]
        let hangup = std::future::pending::<()>();
        // Both arms are cancel safe: neither loses anything when it is dropped.
        tokio::select! {
            signal = self.stop.next() => SignalRequest::Stop(signal),
            _ = hangup => SignalRequest::Reload,
        }
    }
}
