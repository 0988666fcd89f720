//! Notifications of the service manager: that the daemon is ready, reads its settings again, stops, is alive, and what it
//! is doing (`sd_notify(3)`). Without a service manager all of it does nothing.

use std::time::Duration;

#[cfg(unix)]
use sd_notify::NotifyState;
use tokio::{sync::watch, time::Instant};

/// Longest status, in characters.
const MAX_STATUS: usize = 300;

/// The service manager, if there is one.
#[derive(Debug, Default)]
pub struct ServiceManager {
    /// Longest time between two signs of life.
    watchdog: Option<Duration>,
    alive_at: Option<Instant>,
    /// The status that was sent last.
    status: String,
    /// The last sign of life, whether it was sent or not.
    round: watch::Sender<Option<Instant>>,
}

impl ServiceManager {
    /// The one that the environment of the program names.
    pub fn new() -> Self {
        #[cfg(unix)]
        let watchdog = sd_notify::watchdog_enabled().filter(|watchdog| !watchdog.is_zero());
        #[cfg(not(unix))]
        let watchdog = None;
        Self {
            watchdog,
            // What begins is alive.
            round: watch::Sender::new(Some(Instant::now())),
            ..Self::default()
        }
    }

    /// Sends the status of the daemon, for people, when it has changed.
    pub fn report_status(&mut self, status: &str) {
        if self.status != status {
            status.clone_into(&mut self.status);
            let is_shown = |letter: &char| !letter.is_control();
            let line: String = status.chars().filter(is_shown).take(MAX_STATUS).collect();
            #[cfg(unix)]
            send(&[NotifyState::Status(&line)]);
        }
    }

    /// Sends a sign of life, when one is due at `now`.
    pub fn report_alive(&mut self, now: Instant) {
        self.round.send_replace(Some(now));
        if let Some(watchdog) = self.watchdog
            && self.alive_at.is_none_or(|due| due <= now)
        {
            // Half of what is allowed, as sd_watchdog_enabled(3) recommends.
            self.alive_at = Some(now + watchdog / 2);
            #[cfg(unix)]
            send(&[NotifyState::Watchdog]);
        }
    }

    /// The time of the last round of the loop, which each round replaces.
    pub fn rounds(&self) -> watch::Receiver<Option<Instant>> {
        self.round.subscribe()
    }

    /// Time of the next sign of life.
    pub fn alive_at(&self) -> Option<Instant> {
        self.alive_at
    }
}

/// The daemon has begun, or has read its settings again.
pub fn ready() {
    #[cfg(unix)]
    send(&[NotifyState::Ready]);
}

/// The settings are being read again. The time lets the manager distinguish this from an earlier reload.
pub(super) fn reloading() {
    #[cfg(unix)]
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(_) => send(&[NotifyState::Reloading]),
    }
}

/// The daemon stops.
pub(super) fn stopping() {
    #[cfg(unix)]
    send(&[NotifyState::Stopping]);
}

#[cfg(unix)]
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(target: "daemon", "the service manager cannot be notified: {error}");
    }
}
