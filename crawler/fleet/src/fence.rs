//! What a session may do under its lease: requests to its host, and changes of the bucket of its set.

use std::{fmt, sync::Arc};

use crawler::{
    fetch::{BodySink, BoxFuture, Fetch, FetchError, Fetched, Request},
    storage::{FenceFuture, SendFence, StorageError},
};
use tokio::{runtime::Handle, time::sleep};

use super::{
    leases::{RETRY, SessionLease},
    worker::Worker,
};
use crate::catalogue::CatalogueError;

/// The way to the network under a lease: without the lease no request is sent.
pub(super) struct LeasedFetch {
    pub(super) fetch: Arc<dyn Fetch>,
    pub(super) lease: Arc<SessionLease>,
}

impl Fetch for LeasedFetch {
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            // A process that was frozen may come here before its timers stop the session.
            if !self.lease.is_in_force() {
                return std::future::pending().await;
            }
            self.fetch.fetch(request, sink).await
        })
    }

    fn network(&self) -> Option<&'static str> {
        self.fetch.network()
    }
}

/// The fence of the bucket of a site: the lease in the catalogue.
pub(super) struct LeaseFence {
    pub(super) lease: Arc<SessionLease>,
    pub(super) worker: Arc<Worker>,
    /// The runtime of the program: connections to the catalogue live there.
    pub(super) runtime: Handle,
}

impl fmt::Debug for LeaseFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseFence").field(&self.lease).finish()
    }
}

impl SendFence for LeaseFence {
    fn confirm(&self) -> FenceFuture<'_, Result<(), String>> {
        Box::pin(async {
            while self.lease.is_in_force() {
                let (worker, lease) = (Arc::clone(&self.worker), Arc::clone(&self.lease));
                let asked = self
                    .runtime
                    .spawn(async move { worker.catalogue.check_lease(&lease.row).await });
                match asked.await {
                    Ok(Ok(())) if self.lease.is_in_force() => return Ok(()),
                    Ok(Err(CatalogueError::LeaseLost(_))) => self.lease.lose(),
                    // The catalogue does not answer, which the lease may outlive.
                    Ok(_) | Err(_) => sleep(RETRY).await,
                }
            }
            Err(format!("the lease on {} has ended", self.lease.row.host))
        })
    }

    fn tries_again<'a>(&'a self, problem: &'a StorageError) -> FenceFuture<'a, bool> {
        Box::pin(async {
            // It is about the bucket of a set, and not about that of the states.
            self.worker.warn_once(&self.worker.reported.1, problem);
            sleep(RETRY).await;
            self.lease.may_go_on()
        })
    }
}
