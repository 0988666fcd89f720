//! The leases of a worker: their end by the clock of the machine, which also runs while the machine is suspended, and the heartbeat
//! that renews them. A lease that nobody renews stops its session before it ends: no new requests after seven tenths of the lease
//! time, none in flight after eight tenths.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crawler::{client::Stop, machine::boot_time};
use tokio::time::sleep;

use crate::catalogue::{Catalogue, CatalogueError, HostLease};

/// Heartbeats in one lease time.
const BEATS: u32 = 6;

/// Time between two tries of a request that failed.
pub(super) const RETRY: Duration = Duration::from_secs(2);

/// The right of this worker to be the only one that sends requests to a host.
pub(super) struct SessionLease {
    /// As the catalogue has it.
    pub(super) row: HostLease,
    /// Stops all sessions under the lease.
    pub(super) stop: Stop,
    /// Stops the session that is under way.
    session: Mutex<Stop>,
    /// Time from a renewal to the end.
    length: Duration,
    /// The last renewal by the clock of the machine, taken before it was sent; `None`: the lease is lost.
    renewed: Mutex<Option<Duration>>,
}

impl fmt::Debug for SessionLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.row).finish()
    }
}

impl SessionLease {
    fn renewed(&self) -> MutexGuard<'_, Option<Duration>> {
        // A time is always valid.
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> MutexGuard<'_, Stop> {
        // So is a stop.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session; returns what stops it.
    pub(super) fn begin_session(&self) -> Stop {
        let stop = self.stop.of_part();
        self.session().clone_from(&stop);
        stop
    }

    /// Tenths of the lease time that passed since the last renewal; `None`: the lease is lost.
    fn tenths(&self) -> Option<u128> {
        let renewed = (*self.renewed())?;
        let passed = boot_time().saturating_sub(renewed);
        Some(passed.as_nanos() * 10 / self.length.as_nanos().max(1))
    }

    /// Returns whether requests may be sent.
    pub(super) fn is_in_force(&self) -> bool {
        self.tenths().is_some_and(|tenths| tenths < 8)
    }

    /// Returns whether work may begin or be tried again: the lease is in force, and nobody asked to stop.
    pub(super) fn may_go_on(&self) -> bool {
        self.is_in_force() && !self.stop.shutdown.is_stopping()
    }

    /// Another worker may have the host.
    pub(super) fn lose(&self) {
        *self.renewed() = None;
        self.stop.shutdown.abort();
    }

    /// Stops the session before the lease ends.
    fn look(&self) {
        match self.tenths() {
            None | Some(8..) => self.lose(),
            Some(7) => self.stop.shutdown.stop(),
            Some(_) => {}
        }
    }
}

/// All leases of a worker. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Leases {
    lease_time: Duration,
    by_epoch: Arc<Mutex<BTreeMap<i64, Arc<SessionLease>>>>,
}

impl Leases {
    /// None yet; each lasts for `lease_time` from its last renewal.
    pub(super) fn new(lease_time: Duration) -> Self {
        let by_epoch = Arc::default();
        Self {
            lease_time,
            by_epoch,
        }
    }

    fn by_epoch(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<SessionLease>>> {
        // Each change is one step.
        self.by_epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a lease that was asked for when the clock of the machine showed `asked`.
    pub(super) fn add(&self, row: HostLease, asked: Duration) -> Arc<SessionLease> {
        let epoch = row.epoch;
        let lease = Arc::new(SessionLease {
            row,
            stop: Stop::default(),
            session: Mutex::default(),
            length: self.lease_time,
            renewed: Mutex::new(Some(asked)),
        });
        self.by_epoch().insert(epoch, Arc::clone(&lease));
        lease
    }

    /// A lease is given back, or lost.
    pub(super) fn remove(&self, epoch: i64) {
        self.by_epoch().remove(&epoch);
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<SessionLease>> {
        self.by_epoch().values().cloned().collect()
    }

    /// Time between two heartbeats.
    pub(super) fn beat(&self) -> Duration {
        self.lease_time / BEATS
    }

    /// Stops sessions whose leases come to their end, again and again.
    pub(super) async fn watch(self) {
        // Timers stand still while the machine is suspended, so they are short.
        let step = (self.lease_time / 50).min(Duration::from_secs(1));
        loop {
            for lease in self.all() {
                lease.look();
            }
            sleep(step).await;
        }
    }

    /// Renews all leases once.
    ///
    /// # Errors
    /// The catalogue does not answer: the leases end by themselves.
    pub(super) async fn renew(&self, catalogue: &Catalogue) -> Result<(), CatalogueError> {
        let mut leases = self.all();
        leases.retain(|lease| lease.is_in_force());
        if leases.is_empty() {
            return Ok(());
        }
        let asked = boot_time();
        let rows: Vec<&HostLease> = leases.iter().map(|lease| &lease.row).collect();
        let in_force = catalogue.heartbeat(&rows, self.lease_time).await?;
        for lease in &leases {
            let Some(is_paused) = in_force.get(&lease.row.host) else {
                lease.lose();
                continue;
            };
            if let Some(renewed) = &mut *lease.renewed() {
                *renewed = asked;
            }
            if *is_paused {
                lease.session().shutdown.stop();
            }
        }
        Ok(())
    }
}
