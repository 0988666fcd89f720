//! The ways to the network of those who tell, for a thread that may block.

use std::sync::Arc;

use crawler::{
    config::Config,
    engine::{
        Shutdown,
        download::{Answer, Call, CallError, DownloadError, Downloader},
    },
    fetch::FetchError,
    robots::Rules,
    url_key::{Origin, UrlKey},
};
use tokio::runtime::Handle;

use crate::commands::ways::Ways;

/// The ways to the network. Each service is named by the user, so each decides which addresses may be
/// contacted for it. The credentials of the site go nowhere but to its own robots.txt.
pub(super) struct Doors {
    pub(super) config: Config,
    pub(super) handle: Handle,
    pub(super) shutdown: Shutdown,
    /// Where the credentials of the site may go.
    pub(super) own: Vec<Origin>,
    pub(super) ways: Ways<(Origin, Guise)>,
}

/// As whom an origin is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Guise {
    /// As anybody: what an engine would see.
    Anybody,
    /// As the crawler, with the headers and credentials of the site where they may go.
    Crawler,
}

impl Doors {
    /// The way to the origin of `url`.
    fn to(&mut self, url: &UrlKey, guise: Guise) -> Result<Downloader, FetchError> {
        let origin = url.origin();
        let (given, own) = (&self.config, &self.own);
        self.ways.to((origin.clone(), guise), || {
            let mut config = given.clone();
            config.fetch.start_host = origin.host.to_string();
            match guise {
                Guise::Anybody => {
                    config.fetch.headers.clear();
                    config.fetch.credentials = None;
                    config.fetch.credential_origins.clear();
                }
                Guise::Crawler => config.fetch.credential_origins.clone_from(own),
            }
            config
        })
    }

    /// Calls a service.
    pub(super) fn call(&mut self, call: &Call) -> Result<Answer, CallError> {
        let downloader = self
            .to(&call.url, Guise::Anybody)
            .map_err(CallError::Settings)?;
        let shutdown = &self.shutdown;
        if shutdown.is_stopping() {
            return Err(CallError::Stopped);
        }
        self.handle.block_on(async {
            tokio::select! {
                answer = downloader.call(call, shutdown) => answer,
                // Dropped is a request in flight: that is what was asked for.
                () = shutdown.aborted() => Err(CallError::Stopped),
            }
        })
    }

    /// What robots.txt of the site at `site` says to everybody.
    pub(super) fn robots(&mut self, site: &UrlKey) -> Result<Arc<Rules>, DownloadError> {
        let downloader = self
            .to(site, Guise::Crawler)
            .map_err(DownloadError::Settings)?;
        let shutdown = &self.shutdown;
        if shutdown.is_stopping() {
            return Err(DownloadError::Stopped);
        }
        let origin = site.origin();
        self.handle.block_on(async {
            tokio::select! {
                rules = downloader.robots_as_shown(&origin, shutdown) => rules,
                // As above.
                () = shutdown.aborted() => Err(DownloadError::Stopped),
            }
        })
    }
}
