//! Downloaders of commands that request single documents and not a site: one for each place, with the politeness that all of
//! them share.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use tokio::runtime::Handle;

use super::download::{ConnectError, Downloader};
use crate::{
    clock::Clock, config::Config, fetch::http::HttpFetch, politeness::SharedPoliteness,
    retry_after::RetryAfterFile, url_key::Origin,
};

/// The downloaders so far, each by its place. There are as many as the caller has places.
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct Downloaders<P> {
    clock: Arc<dyn Clock>,
    politeness: SharedPoliteness,
    retry_after: RetryAfterFile,
    taken: HashMap<P, Downloader>,
}

impl<P: Eq + Hash> Downloaders<P> {
    /// No downloaders yet; `retry_after` stores how long hosts asked to wait.
    pub fn new(
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
    pub fn to(
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
    pub fn write_waits(&self, handle: &Handle) {
        for downloader in self.taken.values() {
            handle.block_on(downloader.write_waits());
        }
    }
}

/// Origins that may get credentials: the origin itself and, because sites move from http to https, the same
/// host there.
pub fn with_https_twin(origin: Origin) -> Vec<Origin> {
    let twin = (&*origin.scheme == "http" && origin.port == 80).then(|| Origin {
        scheme: "https".into(),
        host: Arc::clone(&origin.host),
        port: 443,
    });
    [origin].into_iter().chain(twin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url_key::UrlKey;

    #[test]
    fn credentials_follow_a_site_to_https_only() {
        fn check(url: &str, expected: &[&str]) {
            let origins = with_https_twin(UrlKey::from_normalised(url).unwrap().origin());
            assert_eq!(
                origins.iter().map(ToString::to_string).collect::<Vec<_>>(),
                expected
            );
        }
        check(
            "http://example.com/",
            &["http://example.com", "https://example.com"],
        );
        check("https://example.com/", &["https://example.com"]);
        check("http://127.0.0.1:8080/a/", &["http://127.0.0.1:8080"]);
    }
}
