//! What the service manager is notified of: that the daemon is ready, reads its settings again, stops, is alive, and what it
//! is doing (`sd_notify(3)`). Without a service manager all of it does nothing.

use std::time::Duration;

#[cfg(unix)]
use sd_notify::NotifyState;
use tokio::time::Instant;

/// Longest status, in characters.
const MAX_STATUS: usize = 300;

/// The service manager, if there is one.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    /// It wants to hear at least this often that the daemon is alive.
    watchdog: Option<Duration>,
    alive_at: Option<Instant>,
    /// What it knows already.
    status: String,
}

impl ServiceManager {
    /// The one that the environment of the program names.
    pub(super) fn new() -> Self {
        #[cfg(unix)]
        let watchdog = sd_notify::watchdog_enabled().filter(|watchdog| !watchdog.is_zero());
        #[cfg(not(unix))]
        let watchdog = None;
        Self {
            watchdog,
            ..Self::default()
        }
    }

    /// What the daemon is doing, for people; sent when it is something else than before.
    pub(super) fn say(&mut self, status: &str) {
        if self.status != status {
            status.clone_into(&mut self.status);
            let line = crate::untrusted::escape(status);
            let line = crate::untrusted::shorten(&line, MAX_STATUS);
            #[cfg(unix)]
            send(&[NotifyState::Status(&line)]);
        }
    }

    /// Says that the daemon is alive, when that is due at `now`.
    pub(super) fn say_alive(&mut self, now: Instant) {
        if let Some(watchdog) = self.watchdog
            && self.alive_at.is_none_or(|due| due <= now)
        {
            // Half of what is allowed, as sd_watchdog_enabled(3) recommends.
            self.alive_at = Some(now + watchdog / 2);
            #[cfg(unix)]
            send(&[NotifyState::Watchdog]);
        }
    }

    /// When it has to hear again that the daemon is alive.
    pub(super) fn alive_at(&self) -> Option<Instant> {
        self.alive_at
    }
}

/// The daemon has begun, or has read its settings again.
pub(super) fn ready() {
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
        tracing::debug!(target: "daemon", "the service manager cannot be told: {error}");
    }
}
