//! The requests of pages that are rendered: each is one like all others of the crawl, under robots.txt, permits and the address guard,
//! or it is not sent. What adds neither links nor text is not asked for.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::OnceCell;
use xxhash_rust::xxh3::xxh3_64;

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

/// A script or a style sheet that is asked for once; `None`: it does not come.
type Once = Arc<OnceCell<Option<Resource>>>;

/// Scripts by their URLs, with the hashes of what they are.
pub(super) type Scripts = BTreeMap<String, u64>;

/// What pages of a session ask for.
pub(super) struct PageResources {
    downloader: Downloader,
    hosts: HashSet<HostKey>,
    identity: Identity,
    shutdown: Shutdown,
    kept: Mutex<HashMap<UrlKey, Once>>,
    kept_bytes: AtomicU64,
    /// Scripts that were loaded since somebody asked, up to [`MAX_KEPT`].
    scripts: Mutex<Scripts>,
    /// Requests with other methods than GET and HEAD, which were not sent.
    refused: AtomicU64,
}

/// What one page asks for.
pub(super) struct ResourcesOfPage {
    all: Arc<PageResources>,
    /// Something did not come that may come at another time.
    is_incomplete: AtomicBool,
    /// Its scripts asked for data.
    has_data: AtomicBool,
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
            scripts: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// Requests with other methods than GET and HEAD, which were not sent.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether scripts were loaded that nobody asked for.
    pub(super) fn has_new_scripts(&self) -> bool {
        !self.scripts().is_empty()
    }

    /// The scripts that were loaded since this was asked last.
    pub(super) fn take_scripts(&self) -> Scripts {
        std::mem::take(&mut *self.scripts())
    }

    /// Returns whether one of the scripts is another one now, or could not be loaded.
    pub(super) async fn have_changed(&self, scripts: Scripts) -> bool {
        let mut have_changed = false;
        for (url, hash) in scripts {
            let now = match self.identity.parse(&url) {
                Ok(url) if self.hosts.contains(&url.host()) => self.fetch_once(&url, true).await,
                _ => Ok(None),
            };
            let body = now.ok().flatten().filter(|now| now.status == 200);
            have_changed |= body.is_none_or(|now| xxh3_64(&now.body) != hash);
        }
        have_changed
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
            // It is no smaller another time.
            Ok(document) if document.end == BodyEnd::TooLarge => Ok(None),
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
    async fn fetch_once(&self, url: &UrlKey, is_script: bool) -> Result<Option<Resource>, ()> {
        let once = {
            let mut kept = self.kept();
            if kept.len() >= MAX_KEPT || self.kept_bytes.load(Ordering::Relaxed) > MAX_KEPT_BYTES {
                self.kept_bytes.store(0, Ordering::Relaxed);
                kept.clear();
            }
            Arc::clone(kept.entry(url.clone()).or_default())
        };
        let fetched = once.get_or_try_init(|| async {
            let fetched = self.fetch(url).await?;
            let body = fetched.as_ref().map_or(&[][..], |fetched| &fetched.body);
            self.kept_bytes
                .fetch_add(body.len() as u64, Ordering::Relaxed);
            let is_found = fetched
                .as_ref()
                .is_some_and(|fetched| fetched.status == 200);
            let mut scripts = self.scripts();
            if is_script && is_found && scripts.len() < MAX_KEPT {
                scripts.insert(url.to_string(), xxh3_64(body));
            }
            drop(scripts);
            Ok(fetched)
        });
        fetched.await.cloned()
    }
}

impl ResourcesOfPage {
    /// What another page asks for.
    pub(super) fn new(all: Arc<PageResources>) -> Self {
        Self {
            all,
            is_incomplete: AtomicBool::new(false),
            has_data: AtomicBool::new(false),
        }
    }

    /// Returns whether something did not come that may come at another time.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Relaxed)
    }

    /// Returns whether its scripts asked for data.
    pub(super) fn has_data(&self) -> bool {
        self.has_data.load(Ordering::Relaxed)
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
                ResourceKind::Data => {
                    self.has_data.store(true, Ordering::Relaxed);
                    self.all.fetch(&url).await
                }
                ResourceKind::Script => self.all.fetch_once(&url, true).await,
                ResourceKind::Style => self.all.fetch_once(&url, false).await,
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
