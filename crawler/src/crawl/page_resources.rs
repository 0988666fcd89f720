//! The requests of pages that are rendered: each is one like all others of the crawl, under robots.txt, permits and the address guard,
//! or it is not sent. What adds neither links nor text is not asked for.

use std::{
    collections::{HashMap, HashSet},
    io::Read as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::OnceCell;

use crate::{
    client::{DownloadError, DownloadedDocument, Downloader, Shutdown},
    fetch::BoxFuture,
    page::{BodyEnd, Reason},
    render::{Resource, ResourceKind, ResourceRequest, Resources},
    url_key::{HostKey, Identity, Origin, UrlKey},
    verdict::Judge,
};

/// Bytes of one script, style sheet or answer at most.
const MAX_RESOURCE_BYTES: u64 = 16 << 20;

/// Bytes of scripts and style sheets that are kept for the other pages of a session.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// How many of them are kept.
const MAX_KEPT: usize = 4_096;

/// A script or a style sheet that is asked for once; `None`: the next page asks again.
type Once = Arc<OnceCell<Resource>>;

/// What pages of a session ask for.
pub(super) struct PageResources {
    downloader: Downloader,
    hosts: HashSet<HostKey>,
    identity: Identity,
    shutdown: Shutdown,
    kept: Mutex<HashMap<UrlKey, Once>>,
    kept_bytes: AtomicU64,
    /// Requests with other methods than GET and HEAD, which were not sent.
    refused: AtomicU64,
}

/// What one page asks for.
pub(super) struct ResourcesOfPage {
    all: Arc<PageResources>,
    /// Something did not come that may come at another time.
    is_incomplete: AtomicBool,
}

impl PageResources {
    /// Requests go to `hosts` alone, and on the site at `origin` for nothing that `judge` keeps from being fetched.
    pub(super) fn new(
        downloader: Downloader,
        hosts: impl IntoIterator<Item = HostKey>,
        origin: Origin,
        judge: Judge,
        identity: &Identity,
        shutdown: Shutdown,
    ) -> Self {
        let hosts: HashSet<HostKey> = hosts.into_iter().collect();
        let allowed = move |url: &UrlKey| may_be_fetched(&judge, &origin, url);
        Self {
            downloader: downloader
                .of_hosts(hosts.clone(), allowed)
                .with_max_bytes(MAX_RESOURCE_BYTES),
            hosts,
            // Their URLs are written for machines.
            identity: identity.verbatim(),
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

    /// Asks for a URL.
    ///
    /// # Errors
    /// There is no answer, or one that may be another one at another time.
    async fn fetch(&self, url: &UrlKey) -> Result<Option<Resource>, ()> {
        match self.downloader.download(url, &self.shutdown).await {
            Ok(document) if matches!(document.status, 429 | 500..) => Err(()),
            Ok(document) => {
                let read = tokio::task::spawn_blocking(|| read(document)).await;
                read.unwrap_or(None).map(Some).ok_or(())
            }
            Err(error) => {
                tracing::debug!(target: "render", %url, "not loaded: {error}");
                match error {
                    DownloadError::Disallowed(_)
                    | DownloadError::Forbidden { .. }
                    | DownloadError::TooManyHosts { .. }
                    | DownloadError::Redirects { .. } => Ok(None),
                    _ => Err(()),
                }
            }
        }
    }

    /// The same, once for all pages.
    async fn fetch_once(&self, url: &UrlKey) -> Result<Option<Resource>, ()> {
        let once = {
            let mut kept = self.kept();
            if kept.len() >= MAX_KEPT || self.kept_bytes.load(Ordering::Relaxed) > MAX_KEPT_BYTES {
                self.kept_bytes.store(0, Ordering::Relaxed);
                kept.clear();
            }
            Arc::clone(kept.entry(url.clone()).or_default())
        };
        let fetched = once.get_or_try_init(|| async {
            let fetched = self.fetch(url).await.map_err(|()| None)?;
            let fetched = fetched.ok_or(Some(()))?;
            self.kept_bytes
                .fetch_add(fetched.body.len() as u64, Ordering::Relaxed);
            Ok(fetched)
        });
        match fetched.await {
            Ok(resource) => Ok(Some(resource.clone())),
            Err(Some(())) => Ok(None),
            Err(None) => Err(()),
        }
    }
}

impl ResourcesOfPage {
    /// What another page asks for.
    pub(super) fn new(all: Arc<PageResources>) -> Self {
        let is_incomplete = AtomicBool::new(false);
        Self { all, is_incomplete }
    }

    /// Returns whether something did not come that may come at another time.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Relaxed)
    }
}

impl Resources for ResourcesOfPage {
    fn answer(&self, request: ResourceRequest) -> BoxFuture<'_, Option<Resource>> {
        Box::pin(async move {
            if !matches!(&*request.method, "GET" | "HEAD") {
                self.all.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let url = self.all.identity.parse(&request.url).ok()?;
            if !self.all.hosts.contains(&url.host()) {
                return None;
            }
            let fetched = match request.kind {
                ResourceKind::Other => return None,
                ResourceKind::Data => self.all.fetch(&url).await,
                ResourceKind::Script | ResourceKind::Style => self.all.fetch_once(&url).await,
            };
            fetched.unwrap_or_else(|()| {
                self.is_incomplete.store(true, Ordering::Relaxed);
                None
            })
        })
    }
}

/// Returns whether the rules let a URL be fetched. Those of the site at `origin` count for each scheme and port of its host.
fn may_be_fetched(judge: &Judge, origin: &Origin, url: &UrlKey) -> bool {
    let is_own = HostKey::new(&origin.host) == url.host();
    let own = is_own.then(|| UrlKey::from_normalised(&format!("{origin}{}", url.path_and_query())));
    let url = own.and_then(Result::ok).unwrap_or_else(|| url.clone());
    let is_listed_only = judge.before_fetch(&url, 0) == Some(Reason::ListOnly);
    !is_listed_only && !judge.excludes(&url) && !judge.avoids(&url)
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
