//! The parts that the sessions of a worker share, and its heartbeats.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crawler::{
    driver::{Board, Crawler, Observer, ServiceManager, SiteSettings},
    failure,
    storage::{StateStorage, StorageError},
    store::with_causes,
    url_key::HostKey,
};
use jiff::Timestamp;
use tokio::{
    sync::RwLock,
    time::{Instant, sleep},
};

use super::{health::StorageHealth, leases::Leases};
use crate::catalogue::{Catalogue, CatalogueError};

/// Reads the settings of a site of a catalogue: its name, their text, and the folder of its session.
pub type ReadSite =
    Arc<dyn Fn(&str, &str, &Path) -> failure::Result<Arc<SiteSettings>> + Send + Sync>;

/// Settings of a worker.
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
#[expect(missing_debug_implementations, reason = "URLs may have passwords")]
pub struct WorkerSettings {
    /// URL of the database with the sites; it may have a password.
    pub catalogue: String,
    /// URL of the object storage with the states, without a last slash.
    pub storage: Option<String>,
    /// Time after which another worker may take over the sites of a worker that does not answer: from 2 s to 1 h.
    pub lease_time: Duration,
    /// Time between two copies of the state of a site that is crawled: from 1 s to 24 h.
    pub checkpoint_interval: Duration,
    /// Folder of the states.
    pub state: PathBuf,
    /// Hosts that are worked on at the same time.
    pub max_sites: usize,
    /// The longest that the worker takes to stop.
    pub stop_timeout: Duration,
}

/// The parts of a program that a worker needs.
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct WorkerParts {
    /// Common to all sessions; each gets a stop and a way to the network of its own.
    pub crawler: Crawler,
    /// Shows the sessions.
    pub board: Arc<dyn Board>,
    /// Counts the sessions.
    pub observer: Option<Arc<dyn Observer>>,
    /// Reads the settings of sites.
    pub read_site: ReadSite,
    /// The service manager that started the program.
    pub service: ServiceManager,
}

/// Time between two reports that the catalogue or the storage does not answer.
const REPORT_AGAIN: Duration = Duration::from_secs(60);

/// The parts that the sessions of a worker share.
pub(super) struct Worker {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) states: Arc<StateStorage>,
    /// Common to all sessions; each gets a stop and a way to the network of its own.
    pub(super) crawler: Crawler,
    pub(super) board: Arc<dyn Board>,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(super) read_site: ReadSite,
    /// Folder of the work of sessions.
    pub(super) folder: PathBuf,
    pub(super) checkpoint_interval: Duration,
    pub(super) name: String,
    pub(super) began: Timestamp,
    pub(super) leases: Leases,
    pub(super) health: StorageHealth,
    /// Held for reading by each session, and for writing by one that has to be alone.
    pub(super) together: RwLock<()>,
    /// When a failure of the catalogue and one of the storage were reported last.
    pub(super) reported: (Mutex<Option<Instant>>, Mutex<Option<Instant>>),
}

impl Worker {
    /// Reports a failure of the catalogue.
    pub(super) fn warn_of(&self, error: &CatalogueError) {
        self.warn_once(&self.reported.0, error);
    }

    /// Reports a failure of object storage.
    pub(super) fn warn_of_storage(&self, error: &StorageError) {
        self.health.fail(Some(error));
        self.warn_once(&self.reported.1, error);
    }

    /// Reports a failure that all sessions notice at the same time, and again when it lasts.
    pub(super) fn warn_once(&self, reported: &Mutex<Option<Instant>>, error: &dyn Error) {
        // A time is always valid.
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_none_or(|reported| reported.elapsed() >= REPORT_AGAIN) {
            *reported = Some(Instant::now());
            let message = with_causes(error);
            let output = &self.crawler.output;
            output.warn(&format!("{message}; it is tried again"));
        }
    }

    /// A lease ended before its host was given back.
    pub(super) fn lease_lost(&self, host: &HostKey) {
        self.crawler.output.warn(&format!(
            "the lease on {host} is lost: another worker continues from the last checkpoint"
        ));
        if let Some(observer) = &self.observer {
            observer.lease_lost();
        }
    }

    /// Renews all leases, again and again, and describes the worker.
    pub(super) async fn beat(self: Arc<Self>) {
        loop {
            let (leases, stop) = (self.leases.all().len(), self.crawler.stop.asked_by());
            let sites = u32::try_from(leases).unwrap_or(u32::MAX);
            let (version, began) = (env!("CARGO_PKG_VERSION"), self.began);
            let renewed = async {
                self.leases.renew(&self.catalogue).await?;
                let noted = self.catalogue.note_worker(
                    &self.name,
                    version,
                    began,
                    sites,
                    stop.is_some(),
                    self.health.is_ready(),
                );
                noted.await
            };
            if let Err(error) = renewed.await {
                self.warn_of(&error);
            }
            sleep(self.leases.beat()).await;
        }
    }
}
