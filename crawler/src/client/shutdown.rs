//! The end of a session from outside.

use tokio_util::sync::CancellationToken;

/// Stops a session from outside. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    pub(crate) stop: CancellationToken,
    abort: CancellationToken,
}

impl Shutdown {
    /// That of a part of the session, which ends with it or before.
    pub(super) fn of_part(&self) -> Self {
        Self {
            stop: self.stop.child_token(),
            abort: self.abort.child_token(),
        }
    }

    /// No new requests; those in flight finish, everything is stored.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Requests in flight are dropped; what is finished is stored.
    pub fn abort(&self) {
        self.stop.cancel();
        self.abort.cancel();
    }

    /// Returns whether [`Shutdown::stop`] or [`Shutdown::abort`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns whether [`Shutdown::abort`] was called.
    pub fn is_aborting(&self) -> bool {
        self.abort.is_cancelled()
    }

    /// Waits until [`Shutdown::stop`] or [`Shutdown::abort`] is called. Cancel safe.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Waits until [`Shutdown::abort`] is called. Cancel safe.
    pub async fn aborted(&self) {
        self.abort.cancelled().await;
    }
}
