//! The requests of a check, from a thread that may block: each waits here for its answer, under the
//! clocks of its host. Knows nothing of what is checked.

use std::{path::Path, sync::Arc};

use crawler::{
    clock::Clock,
    config::Config,
    engine::{
        Shutdown,
        download::{Document, DownloadError, Downloader},
    },
    fetch::FetchError,
    page::PageFacts,
    parse::{PageReader, ParseConfigError},
    politeness::SharedPoliteness,
    robots::Rules,
    url_key::{Origin, UrlKey},
};
use sitemap_core::limits::MAX_BYTES;
use tokio::runtime::Handle;

use super::super::{crawl::with_https_twin, seams, ways::Ways};

/// The most bytes of a document that are fetched: twice what the protocol allows, so that what is wrong
/// with one that is too large can be told, and none fills the disk.
pub(super) const MAX_FETCHED_BYTES: u64 = 2 * MAX_BYTES;

/// The way to the network. What a start URL allows (addresses of its kind, credentials for its origin)
/// holds for what is reached from it.
pub(super) struct Network {
    config: Config,
    reader: Arc<PageReader>,
    handle: Handle,
    shutdown: Shutdown,
    /// One for each origin that was started from.
    ways: Ways<Origin>,
}

impl Network {
    /// A network that has not been used; `state` is the folder that remembers what hosts asked to wait for.
    ///
    /// # Errors
    /// A setting of pages cannot be used.
    pub(super) fn new(
        config: &Config,
        state: &Path,
        (clock, politeness): (Arc<dyn Clock>, SharedPoliteness),
        handle: Handle,
        shutdown: Shutdown,
    ) -> Result<Self, ParseConfigError> {
        Ok(Self {
            ways: Ways::new(clock, politeness, seams::holds(state)),
            reader: Arc::new(PageReader::new(&config.parse)?),
            config: config.clone(),
            handle,
            shutdown,
        })
    }

    /// What fetches for the start URL `start`.
    ///
    /// # Errors
    /// A setting cannot be used, e.g. the file of certificate authorities.
    pub(super) fn starting_at(&mut self, start: &UrlKey) -> Result<Asker, FetchError> {
        let origin = start.origin();
        let given = &self.config;
        let downloader = self.ways.to(origin.clone(), || {
            let mut config = given.clone();
            config.fetch.start_host = origin.host.to_string();
            config.fetch.credential_origins = with_https_twin(origin);
            config
        })?;
        let downloader = downloader.with_max_bytes(MAX_FETCHED_BYTES);
        Ok(Asker {
            downloader,
            reader: Arc::clone(&self.reader),
            handle: self.handle.clone(),
            shutdown: self.shutdown.clone(),
        })
    }

    /// Writes down what hosts asked to wait for.
    pub(super) fn settle(&self) {
        self.ways.settle(&self.handle);
    }
}

/// Asks for one start URL and what is reached from it.
#[derive(Clone)]
pub(super) struct Asker {
    downloader: Downloader,
    reader: Arc<PageReader>,
    handle: Handle,
    shutdown: Shutdown,
}

impl Asker {
    /// The document at a URL.
    pub(super) fn document(&self, url: &UrlKey) -> Result<Document, DownloadError> {
        self.wait_for(self.downloader.download(url, &self.shutdown))
    }

    /// What robots.txt says to everybody: search engines are not called arpent.
    pub(super) fn robots(&self, origin: &Origin) -> Result<Arc<Rules>, DownloadError> {
        self.wait_for(self.downloader.robots_for_everybody(origin, &self.shutdown))
    }

    /// What a page says of itself.
    pub(super) fn page(&self, url: &UrlKey) -> Result<PageFacts, DownloadError> {
        self.wait_for(self.downloader.page(url, &self.reader, &self.shutdown))
    }

    fn wait_for<T>(
        &self,
        answer: impl Future<Output = Result<T, DownloadError>>,
    ) -> Result<T, DownloadError> {
        if self.shutdown.is_stopping() {
            return Err(DownloadError::Stopped);
        }
        self.handle.block_on(async {
            tokio::select! {
                answer = answer => answer,
                // Dropped is a request in flight: that is what was asked for.
                () = self.shutdown.aborted() => Err(DownloadError::Stopped),
            }
        })
    }
}
