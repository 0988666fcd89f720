//! Sites in the directories of many hosts, answered by rules, and a log of the requests to them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use crate::support::{
    random::Random,
    site::{Request, Response, Site},
};

/// The header with the name of a worker.
pub(super) const WORKER: &str = "X-Worker";

/// A site: the directory `/s1/` and so on of a host.
#[derive(Debug, Clone)]
pub(super) struct WebSite {
    /// Name in the settings.
    pub(super) name: String,
    pub(super) host: usize,
    pub(super) directory: String,
    /// Number of pages besides the start page.
    pub(super) pages: usize,
}

impl WebSite {
    /// The site `number` of a host.
    pub(super) fn new(host: usize, number: usize, pages: usize) -> Self {
        Self {
            name: format!("h{host}s{number}"),
            host,
            directory: format!("/s{number}/"),
            pages,
        }
    }

    pub(super) fn domain(&self) -> String {
        format!("h{}.test", self.host)
    }

    /// The `Crawl-delay` of its host: one of ten has one.
    pub(super) fn crawl_delay(&self) -> Option<Duration> {
        (self.host % 10 == 5).then_some(Duration::from_millis(200))
    }

    /// Whether the request is for a page of the site.
    pub(super) fn has(&self, asked: &Asked) -> bool {
        asked.path.starts_with(&self.directory) && asked.domain == self.domain()
    }

    /// Whether robots.txt of its host disallows `private/`: one of four does.
    pub(super) fn has_secrets(&self) -> bool {
        self.host.is_multiple_of(4)
    }
}

/// A request as its host saw it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Host, as in its site.
    pub(super) domain: String,
    pub(super) path: String,
    /// The value of the header [`WORKER`].
    pub(super) worker: String,
    /// When it was answered, which takes no time. The worker knows the answer later.
    pub(super) at: Instant,
}

/// The sites on one port of loopback, which the settings of a crawl name for each host.
pub(super) struct Web {
    pub(super) sites: Vec<WebSite>,
    pub(super) server: Site,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl Web {
    pub(super) fn serve(sites: Vec<WebSite>) -> Self {
        let log = Arc::<Mutex<Vec<Asked>>>::default();
        let keys = sites.iter().map(|site| (site.domain(), &*site.directory));
        let by_place: BTreeMap<(String, String), WebSite> = keys
            .map(|(domain, directory)| (domain, directory.to_owned()))
            .zip(sites.iter().cloned())
            .collect();
        let written = Arc::clone(&log);
        let server = Site::start(move |request| {
            let header = |name| request.headers.get(name).cloned().unwrap_or_default();
            let domain = header("host")
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned();
            let answer = answer(&by_place, &domain, request);
            locked(&written).push(Asked {
                domain,
                path: request.target.clone(),
                worker: header(&WORKER.to_ascii_lowercase()),
                at: Instant::now(),
            });
            answer
        });
        Self { sites, server, log }
    }

    pub(super) fn log(&self) -> MutexGuard<'_, Vec<Asked>> {
        locked(&self.log)
    }

    /// Forgets the log, and returns it.
    pub(super) fn take_log(&self) -> Vec<Asked> {
        std::mem::take(&mut self.log())
    }
}

fn locked(log: &Mutex<Vec<Asked>>) -> MutexGuard<'_, Vec<Asked>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The answer of a host. A site has a start page that leads to all pages, some of them with `Last-Modified` or `noindex`; a redirect,
/// a page that is gone and one that some hosts disallow.
fn answer(
    sites: &BTreeMap<(String, String), WebSite>,
    domain: &str,
    request: &Request,
) -> Response {
    let path = &request.target;
    if path == "/robots.txt" {
        let first = sites.values().find(|site| site.domain() == domain);
        let secrets = first.filter(|site| site.has_secrets());
        let secrets = secrets.map_or("", |_| "Disallow: /*/private/\n");
        let delay = first.and_then(WebSite::crawl_delay);
        let delay = delay.map(|delay| format!("Crawl-delay: {}\n", delay.as_secs_f64()));
        let delay = delay.unwrap_or_default();
        return Response::text(format!("User-agent: *\n{secrets}{delay}"));
    }
    let end = path[1..].find('/').map_or(path.len(), |end| end + 2);
    let (directory, name) = path.split_at(end);
    let Some(site) = sites.get(&(domain.to_owned(), directory.to_owned())) else {
        return Response::status(404);
    };
    let number = match name {
        "" => 0,
        "moved" => return Response::redirect(301, &format!("{directory}page-1")),
        "private/page" => 1_000_000,
        _ => match name.strip_prefix("page-").map(str::parse) {
            Some(Ok(number)) if (1..=site.pages).contains(&number) => number,
            _ => return Response::status(404),
        },
    };
    let key = format!("{domain}{path}");
    let seed = key
        .bytes()
        .fold(7, |seed, byte| (seed * 31 + u64::from(byte)) % 1_000_003);
    let mut random = Random(seed);
    let words: Vec<String> = (0..12).map(|_| random.word()).collect();
    let words = words.join(" ");
    let mut links: Vec<String> = match number {
        0 => ["moved", "gone", "private/page"].map(str::to_owned).into(),
        _ => Vec::new(),
    };
    let children = (4 * number + 1..=4 * number + 4).filter(|child| *child <= site.pages);
    let others = [(); 2].map(|()| 1 + random.below(site.pages));
    links.extend(children.chain(others).map(|page| format!("page-{page}")));
    let links: Vec<String> = links
        .iter()
        .map(|link| format!("<a href=\"{directory}{link}\">{link}</a>\n"))
        .collect();
    let links = links.concat();
    let noindex = match number % 7 {
        3 => "<meta name=\"robots\" content=\"noindex\">",
        _ => "",
    };
    let page = Response::html(format!(
        "<!doctype html>\n<title>{words}</title>{noindex}\n<p>{words}\n{links}"
    ));
    if number % 3 != 1 {
        return page;
    }
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000 + 100 * seed);
    page.with("Last-Modified", &httpdate::fmt_http_date(changed))
}
