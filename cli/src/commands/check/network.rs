//! The requests of a check, from a thread that may block: each waits here for its answer, under the
//! clocks of its host. Knows nothing of what is checked.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use crawler::{
    clock::{Clock, SystemClock},
    config::Config,
    engine::{
        Shutdown,
        download::{Document, DownloadError, Downloader},
    },
    fetch::FetchError,
    holds::Holds,
    page::PageFacts,
    parse::{PageReader, ParseConfigError},
    politeness::SharedPoliteness,
    robots::Rules,
    url_key::{Origin, UrlKey},
};
use sitemap_core::limits::MAX_BYTES;
use tokio::runtime::Handle;

use super::super::{crawl::with_https_twin, seams};

/// The most bytes of a document that are fetched: twice what the protocol allows, so that what is wrong
/// with one that is too large can be told, and none fills the disk.
pub(super) const MAX_FETCHED_BYTES: u64 = 2 * MAX_BYTES;

/// The way to the network. What a start URL allows (addresses of its kind, credentials for its origin)
/// holds for what is reached from it.
pub(super) struct Network {
    config: Config,
    clock: Arc<dyn Clock>,
    politeness: SharedPoliteness,
    holds: Holds,
    reader: Arc<PageReader>,
    handle: Handle,
    shutdown: Shutdown,
    /// One for each origin that was started from.
    downloaders: BTreeMap<Origin, Downloader>,
}

impl Network {
    /// A network that has not been used; `state` is the folder that remembers what hosts asked to wait for.
    ///
    /// # Errors
    /// A setting of pages cannot be used.
    pub(super) fn new(
        config: &Config,
        state: &Path,
        politeness: SharedPoliteness,
        handle: Handle,
        shutdown: Shutdown,
    ) -> Result<Self, ParseConfigError> {
        let holds = if state.as_os_str().is_empty() {
            Holds::default()
        } else {
            Holds::in_file(&state.join("retry-after"))
        };
        Ok(Self {
            politeness,
            clock: Arc::new(SystemClock),
            holds,
            reader: Arc::new(PageReader::new(&config.parse)?),
            config: config.clone(),
            handle,
            shutdown,
            downloaders: BTreeMap::new(),
        })
    }

    /// What fetches for the start URL `start`.
    ///
    /// # Errors
    /// A setting cannot be used, e.g. the file of certificate authorities.
    pub(super) fn starting_at(&mut self, start: &UrlKey) -> Result<Asker, FetchError> {
        let origin = start.origin();
        let downloader = if let Some(downloader) = self.downloaders.get(&origin) {
            downloader.clone()
        } else {
            let mut config = self.config.clone();
            config.fetch.start_host = origin.host.to_string();
            config.fetch.credential_origins = with_https_twin(origin.clone());
            let downloader = Downloader::new(
                &config,
                seams::network(&config.fetch)?,
                Arc::clone(&self.clock),
                Arc::clone(&self.politeness),
                self.holds.clone(),
            )
            .with_max_bytes(MAX_FETCHED_BYTES);
            if self.downloaders.is_empty() {
                downloader.recall().map_err(seams::held)?;
            }
            self.downloaders.insert(origin, downloader.clone());
            downloader
        };
        Ok(Asker {
            downloader,
            reader: Arc::clone(&self.reader),
            handle: self.handle.clone(),
            shutdown: self.shutdown.clone(),
        })
    }

    /// Writes down what hosts asked to wait for.
    pub(super) fn settle(&self) {
        for downloader in self.downloaders.values() {
            self.handle.block_on(downloader.settle());
        }
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
