//! The requests of pages that are rendered: each is one like all others of the crawl, under robots.txt, permits and the address guard,
//! or it is not sent. What adds neither links nor text is not asked for.

use std::{
    collections::HashMap,
    io::Read as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::OnceCell;

use crate::{
    client::{DownloadedDocument, Downloader, Shutdown},
    fetch::BoxFuture,
    page::BodyEnd,
    render::{Resource, ResourceKind, ResourceRequest, Resources},
    url_key::{HostKey, Identity, UrlKey},
    verdict::Judge,
};

/// Bytes of one script, style sheet or answer at most.
const MAX_RESOURCE_BYTES: u64 = 16 << 20;

/// Bytes of scripts and style sheets that are kept for the other pages of a session.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// A script or a style sheet that is asked for once.
type Once = Arc<OnceCell<Option<Resource>>>;

/// See the module.
pub(super) struct PageResources {
    downloader: Downloader,
    judge: Judge,
    identity: Arc<Identity>,
    shutdown: Shutdown,
    kept: Mutex<HashMap<UrlKey, Once>>,
    kept_bytes: AtomicU64,
    /// Requests with other methods than GET and HEAD, which were not sent.
    refused: AtomicU64,
}

impl PageResources {
    /// Requests go to `hosts` alone.
    pub(super) fn new(
        downloader: Downloader,
        hosts: impl IntoIterator<Item = HostKey>,
        judge: Judge,
        identity: Arc<Identity>,
        shutdown: Shutdown,
    ) -> Self {
        Self {
            downloader: downloader
                .of_hosts(hosts)
                .with_max_bytes(MAX_RESOURCE_BYTES),
            judge,
            identity,
            shutdown,
            kept: Mutex::default(),
            kept_bytes: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Requests with other methods than GET and HEAD, which were not sent.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<UrlKey, Once>> {
        // Each change is one step.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, url: &UrlKey) -> Option<Resource> {
        match self.downloader.download(url, &self.shutdown).await {
            Ok(document) => tokio::task::spawn_blocking(|| read(document)).await.ok()?,
            Err(error) => {
                tracing::debug!(target: "render", %url, "not loaded: {error}");
                None
            }
        }
    }

    /// The same, once for all pages.
    async fn fetch_once(&self, url: &UrlKey) -> Option<Resource> {
        if self.kept_bytes.load(Ordering::Relaxed) > MAX_KEPT_BYTES {
            self.kept_bytes.store(0, Ordering::Relaxed);
            self.kept().clear();
        }
        let once = Arc::clone(self.kept().entry(url.clone()).or_default());
        let fetched = once.get_or_init(|| async {
            let fetched = self.fetch(url).await;
            let bytes = fetched.as_ref().map_or(0, |it| it.body.len() as u64);
            self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
            fetched
        });
        fetched.await.clone()
    }
}

impl Resources for PageResources {
    fn answer(&self, request: ResourceRequest) -> BoxFuture<'_, Option<Resource>> {
        Box::pin(async move {
            if !matches!(&*request.method, "GET" | "HEAD") {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let url = self.identity.parse(&request.url).ok()?;
            if self.judge.excludes(&url) || self.judge.avoids(&url) {
                return None;
            }
            match request.kind {
                ResourceKind::Other => None,
                ResourceKind::Data => self.fetch(&url).await,
                ResourceKind::Script | ResourceKind::Style => self.fetch_once(&url).await,
            }
        })
    }
}

/// The answer as the page gets it; one that is not whole is none.
fn read(mut document: DownloadedDocument) -> Option<Resource> {
    let whole = [BodyEnd::Complete, BodyEnd::Skipped];
    if !whole.contains(&document.end) {
        return None;
    }
    let content_type = document.headers.text("content-type").unwrap_or_default();
    let content_type = content_type.to_owned();
    let mut body = Vec::new();
    document.body().ok()?.read_to_end(&mut body).ok()?;
    Some(Resource {
        status: document.status,
        content_type,
        body,
    })
}
