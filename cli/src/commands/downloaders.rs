//! Downloaders of commands that request single documents and not a site: one for each place, with the politeness that all of
//! them share.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use crawler::{
    check::Network,
    client::{ConnectError, Downloader, Shutdown},
    clock::Clock,
    config::Config,
    fetch::http::HttpFetch,
    parse::PageReader,
    politeness::SharedPoliteness,
    retry_after::RetryAfterFile,
    url_key::Origin,
};
use tokio::runtime::Handle;

use super::crawl::with_https_twin;

use crate::failure::{self};

/// The downloaders so far, each by its place. There are as many as the caller has places.
pub(super) struct Downloaders<P> {
    clock: Arc<dyn Clock>,
    politeness: SharedPoliteness,
    retry_after: RetryAfterFile,
    taken: HashMap<P, Downloader>,
}

impl<P: Eq + Hash> Downloaders<P> {
    /// No downloaders yet; `retry_after` stores how long hosts asked to wait.
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        politeness: SharedPoliteness,
        retry_after: RetryAfterFile,
    ) -> Self {
        Self {
            clock,
            politeness,
            retry_after,
            taken: HashMap::new(),
        }
    }

    /// The downloader for `place`, a new one by the settings that `config` makes. The first one reads how long hosts asked to
    /// wait.
    ///
    /// # Errors
    /// A setting cannot be used, e.g. the file of certificate authorities; or it is not known which hosts asked to wait.
    pub(super) fn to(
        &mut self,
        place: P,
        config: impl FnOnce() -> Config,
    ) -> Result<Downloader, ConnectError> {
        if let Some(downloader) = self.taken.get(&place) {
            return Ok(downloader.clone());
        }
        let config = config();
        let downloader = Downloader::new(
            &config,
            Arc::new(HttpFetch::new(&config.fetch)?),
            Arc::clone(&self.clock),
            Arc::clone(&self.politeness),
            self.retry_after.clone(),
        );
        if self.taken.is_empty()
            && let Some(damage) = downloader.load_waits()?
        {
            tracing::warn!("{damage}");
        }
        self.taken.insert(place, downloader.clone());
        Ok(downloader)
    }

    /// Writes down what hosts asked to wait for. Blocks: for a thread that may.
    pub(super) fn settle(&self, handle: &Handle) {
        for downloader in self.taken.values() {
            handle.block_on(downloader.settle());
        }
    }
}

impl Downloaders<Origin> {
    /// Does work that sends requests by `config`, and writes down what hosts asked to wait for. Blocks: for a thread that may.
    ///
    /// # Errors
    /// A setting of pages cannot be used, or the work fails.
    pub(super) fn work<T>(
        mut self,
        config: &Config,
        runtime: &Handle,
        shutdown: &Shutdown,
        work: impl FnOnce(Network<'_>) -> failure::Result<T>,
    ) -> failure::Result<T> {
        let network = Network {
            connect: &mut |origin| self.to(origin.clone(), || config_to(config, origin)),
            identity: config.identity.verbatim(),
            reader: Arc::new(PageReader::new(&config.parse)?),
            runtime: runtime.clone(),
            shutdown: shutdown.clone(),
        };
        let result = work(network);
        self.settle(runtime);
        result
    }
}

/// The settings of requests for a typed URL of `origin`, and for all URLs reached from it.
fn config_to(config: &Config, origin: &Origin) -> Config {
    let mut config = config.clone();
    config.fetch.start_host = origin.host.to_string();
    config.fetch.credential_origins = with_https_twin(origin.clone());
    config
}
