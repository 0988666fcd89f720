//! Second and further runs over a site, in virtual time, and the bench that they run on.

mod confirmed;
mod honesty;
mod in_vain;
mod resumed;
mod stays;

use std::collections::BTreeMap;

use super::*;
use crate::{engine::honesty::is_sample, page::Via, testing::SeenRequest};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What the site says now, by path; everything else is gone.
#[derive(Clone, Default)]
pub(super) struct Says(pub(super) Arc<Mutex<BTreeMap<String, FixturePage>>>);

impl Says {
    pub(super) fn set(&self, path: &str, page: FixturePage) {
        self.0.lock().unwrap().insert(path.to_owned(), page);
    }

    fn remove(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }

    /// A page that links to `targets`, with a validator that is right.
    pub(super) fn link(&self, path: &str, targets: &[&str]) {
        let page = FixturePage::linking(targets.iter().copied());
        self.set(path, tagged(page));
    }

    pub(super) fn html(&self, path: &str, body: &str) {
        self.set(path, tagged(FixturePage::html(body)));
    }
}

fn tagged(page: FixturePage) -> FixturePage {
    let etag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(&page.body));
    page.with_header("etag", &etag)
}

pub(super) fn bench() -> (Bench, Says) {
    let says = Says::default();
    let said = says.clone();
    let site = FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        said.0.lock().unwrap().get(path).cloned()
    });
    let mut bench = Bench::new(site);
    bench.config.limits.max_tries = 1;
    bench.config.politeness.failures_before_pause = 1_000;
    (bench, says)
}

/// What a run did.
pub(super) struct Ran {
    pub(super) requests: Vec<SeenRequest>,
    pub(super) reasons: BTreeMap<String, Reason>,
    pub(super) via: BTreeMap<String, Via>,
    pub(super) not_modified: u64,
    pub(super) number: RunId,
    pub(super) notices: Vec<String>,
}

impl Ran {
    /// Paths that were asked conditionally, or as a whole; robots.txt left out.
    pub(super) fn asked(&self, conditionally: bool) -> Vec<&str> {
        let requests = self.requests.iter();
        let mut asked: Vec<&str> = requests
            .filter(|request| request.validators.is_some() == conditionally)
            .filter_map(|request| request.url.strip_prefix("https://site.example"))
            .filter(|path| *path != "/robots.txt")
            .collect();
        asked.sort_unstable();
        asked
    }

    pub(super) fn listed(&self) -> Vec<&str> {
        let reasons = self.reasons.iter();
        reasons
            .filter(|(_, reason)| reason.state() == State::Listed)
            .map(|(path, _)| path.as_str())
            .collect()
    }
}

/// One start of the program, a day after the last one.
pub(super) async fn run(bench: &mut Bench) -> Ran {
    run_from(bench, START).await
}

/// One start of the program from the URL `start`, a day after the last one.
pub(super) async fn run_from(bench: &mut Bench, start: &str) -> Ran {
    let before = bench.site.requests().len();
    let crawled = bench.crawl(start, &Shutdown::default()).await;
    let mut crawled = crawled.unwrap();
    let mut ran = Ran {
        requests: bench.site.requests().split_off(before),
        reasons: reasons(&crawled).into_iter().collect(),
        via: BTreeMap::new(),
        not_modified: crawled.not_modified,
        number: crawled.run,
        notices: texts(&crawled),
    };
    let mut visit = |key: &UrlKey, record: crate::page::PageRecord| {
        ran.via.insert(key.path().to_owned(), record.via);
        std::ops::ControlFlow::Continue(())
    };
    crawled
        .store
        .visit_pages(crawled.run, None, &mut visit)
        .unwrap();
    if crawled.ending == Ending::Drained {
        runs::finish(&mut *crawled.store, crawled.run).unwrap();
    }
    bench.keep(crawled);
    bench.now += DAY;
    ran
}

/// Whether a path is one of those that are asked for as a whole to test the server.
pub(super) fn is_tested(path: &str, run: RunId) -> bool {
    is_sample(&UrlKey::from_normalised(&url(path)).unwrap(), run)
}

/// A site of `count` pages in each of some directories.
fn directories(says: &Says, count: usize, body: &str) {
    let mut links = Vec::new();
    for directory in ["a", "b"] {
        for number in 0..count {
            let path = format!("/{directory}/{number}");
            says.html(&path, &format!("<title>{path}</title>{body}"));
            links.push(path);
        }
    }
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    says.link("/", &links);
}
