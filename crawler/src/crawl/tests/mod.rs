//! The engine on a fixture site, a store in memory and paused time.

mod bounds;
mod challenges;
mod changes;
mod ends;
mod hints;
mod names;
mod outage;
mod page_or_document;
mod random;
mod recrawl;
mod rendering;
mod second;
mod seeding;
mod start;
mod trouble;
mod waits;
mod year;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use jiff::Timestamp;
use tokio::sync::watch;

use super::*;
use crate::{
    config::{DiscoverConfig, GuardConfig, PublishConfig, Rate},
    crawl_state::{self, Phase},
    export::MergedView,
    fetch::FetchErrorKind,
    page::{Basis, PageRecord, Reason, State},
    politeness::Politeness,
    publish::{PublishRequest, publish},
    site_run::{self, Ended, Places, Session},
    store::{Fault, Store},
    testing::{FixturePage, FixtureSite, TestClock},
    url_key::Identity,
    verdict::Mode,
};

const START: &str = "https://site.example/";

/// The place of a store while no crawl has it.
type Home = Arc<Mutex<Option<Store>>>;

/// The input of a crawl in a test.
struct Bench {
    config: Config,
    site: FixtureSite,
    store: Home,
    retry_after: RetryAfterFile,
    lists: Vec<SeedList>,
    public_url: Option<String>,
    politeness: Option<SharedPoliteness>,
    render: Option<Arc<dyn Render>>,
    /// When the next start of the program is.
    now: Timestamp,
    /// The place of the files.
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(site: FixtureSite) -> Self {
        let mut config = Config::default();
        config.politeness.rate = Rate::Unlimited;
        config.discover = DiscoverConfig::LINKS;
        // The pages of most tests have the same text.
        config.repeats.close_patterns = false;
        let store = Store::in_memory().unwrap();
        Self {
            config,
            site,
            store: Arc::new(Mutex::new(Some(store))),
            retry_after: RetryAfterFile::default(),
            lists: Vec::new(),
            public_url: None,
            politeness: None,
            render: None,
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Runs one start of the program; the store goes back into the bench.
    async fn crawl(&self, start: &str, shutdown: &Shutdown) -> Result<Crawled, CrawlError> {
        let start = Identity::default().parse(start).unwrap();
        let home = Arc::clone(&self.store);
        let public_url = self.public_url.clone();
        let clock = Arc::new(TestClock::starting_at(self.now));
        let politeness = self
            .politeness
            .clone()
            .unwrap_or_else(|| Arc::new(Mutex::new(Politeness::new(&self.config.politeness))));
        let dependencies = Dependencies {
            fetch: Arc::new(self.site.clone()),
            clock,
            politeness,
            progress: watch::Sender::new(Progress::default()),
            open_store: Box::new(move |_| {
                let store = home.lock().unwrap().take();
                Some((store.expect("the store is at home"), public_url))
            }),
            retry_after: self.retry_after.clone(),
            lists: self.lists.clone(),
            render: self.render.clone(),
        };
        crawl(&self.config, &start, dependencies, shutdown).await
    }

    async fn run(&self) -> Crawled {
        self.run_from("/").await
    }

    /// Runs one start whose start URL has this path.
    async fn run_from(&self, path: &str) -> Crawled {
        let crawled = self.crawl(&url(path), &Shutdown::default()).await;
        crawled.unwrap()
    }

    /// Runs one start that has to fail.
    async fn fail(&self) -> CrawlError {
        let crawled = self.crawl(START, &Shutdown::default()).await;
        crawled.unwrap_err()
    }

    /// Publishes a crawl that is over, whatever it came to, and puts the store back.
    fn finish(&self, mut crawled: Crawled) {
        let config = PublishConfig {
            output: self.folder.path().join("out"),
            guard: GuardConfig::OFF,
            force: true,
            ..self.config.publish.clone()
        };
        let request = PublishRequest {
            site: &crawled.site,
            judge: &crawled.judge,
            mode: Mode::of(&crawled.store, false).unwrap(),
            is_drained: true,
            config: &config,
            robots: crawled.robots.as_ref(),
            dry_run: false,
            now: crawled.judge.our_time(),
            is_stopped: &|| false,
        };
        let published = publish(&mut crawled.store, &request).result.unwrap();
        assert_eq!(published.problems, [""; 0]);
        self.keep(crawled);
    }

    /// A session of the program, from the opening of the state to the end of its publish.
    async fn session(&self) -> Ended {
        let place = |name: &str| self.folder.path().join(name);
        let places = Places {
            state: Some(place("state.db")),
            output: place("out"),
            storage: None,
            generations: Some(place("sets")),
            public_url: None,
        };
        let politeness = Politeness::new(&self.config.politeness);
        let mut config = self.config.clone();
        config.publish.gzip = false;
        Box::pin(site_run::run(Session {
            config,
            start: Identity::default().parse(START).unwrap(),
            places: Arc::new(move |_| Ok(places.clone())),
            fetch: Arc::new(self.site.clone()),
            clock: Arc::new(TestClock::starting_at(self.now)),
            politeness: Arc::new(Mutex::new(politeness)),
            progress: watch::Sender::new(Progress::default()),
            retry_after: self.retry_after.clone(),
            lists: Vec::new(),
            render: self.render.clone(),
            dry_run: false,
            shutdown: Shutdown::default(),
            on_publish: Arc::new(|| Box::pin(async {})),
            send_fence: None,
        }))
        .await
    }

    /// The published URLs by path, with their `lastmod`.
    fn published(&self) -> BTreeMap<String, Option<String>> {
        let mut names = vec!["sitemap.xml".to_owned()];
        let mut found = BTreeMap::new();
        while let Some(name) = names.pop() {
            let file = self.folder.path().join("out").join(name);
            let text = std::fs::read_to_string(file).unwrap();
            let parts = text.split("<sitemap>").skip(1);
            names.extend(parts.map(|part| path(&element(part, "loc").unwrap())[1..].to_owned()));
            let entries = text.split("<url>").skip(1);
            let entry = |entry| {
                (
                    path(&element(entry, "loc").unwrap()),
                    element(entry, "lastmod"),
                )
            };
            found.extend(entries.map(entry));
        }
        found
    }

    fn begin_anew(&self) {
        *self.store.lock().unwrap() = Some(Store::in_memory().unwrap());
    }

    fn keep(&self, crawled: Crawled) {
        *self.store.lock().unwrap() = Some(crawled.store);
    }

    /// Page requests, without robots.txt, as paths.
    fn pages(&self) -> Vec<String> {
        let paths = self.site.requests().into_iter().filter_map(|request| {
            let path = request.url.strip_prefix("https://site.example")?.to_owned();
            (path != "/robots.txt").then_some(path)
        });
        paths.collect()
    }
}

fn url(path: &str) -> String {
    format!("https://site.example{path}")
}

fn path(url: &str) -> String {
    url.strip_prefix("https://site.example").unwrap().to_owned()
}

/// The text of the first element of this name.
fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    Some(rest.split_once("</")?.0.to_owned())
}

/// A site of these pages, by path or whole URL.
fn site<P: AsRef<str>>(pages: impl IntoIterator<Item = (P, FixturePage)>) -> FixtureSite {
    let whole = |path: &str| match path.strip_prefix('/') {
        Some(_) => url(path),
        None => path.to_owned(),
    };
    let pages: Vec<(String, FixturePage)> = pages
        .into_iter()
        .map(|(path, page)| (whole(path.as_ref()), page))
        .collect();
    FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())))
}

/// A page that links to these paths.
fn linking(paths: &[String]) -> FixturePage {
    FixturePage::linking(paths.iter().map(String::as_str))
}

/// The visits of a crawl by their paths.
fn visits(crawled: &Crawled) -> BTreeMap<String, PageRecord> {
    let rows = crawled.store.rows_from(None).into_iter();
    let visits =
        rows.filter_map(|(key, _, visit)| Some((key.path_and_query().to_owned(), visit?.record)));
    visits.collect()
}

fn reasons(crawled: &Crawled) -> Vec<(String, Reason)> {
    let visits = visits(crawled).into_iter();
    visits.map(|(path, visit)| (path, visit.reason)).collect()
}

/// How many URLs are known that are not those of documents, and how many of them are listed.
fn known_and_listed(crawled: &Crawled) -> (usize, usize) {
    let mut reasons = reasons(crawled);
    reasons.retain(|(_, reason)| *reason != Reason::SeedDocument);
    let listed = |(_, reason): &&(String, Reason)| reason.state() == State::Listed;
    (reasons.len(), reasons.iter().filter(listed).count())
}

/// The notes of a crawl as sentences.
fn texts(crawled: &Crawled) -> Vec<String> {
    let notes = crawled.notes.iter();
    notes.map(|note| note.text.clone()).collect()
}

#[track_caller]
fn assert_noted(crawled: &Crawled, part: &str) {
    let texts = texts(crawled);
    let is_noted = texts.iter().any(|text| text.contains(part));
    assert!(is_noted, "{part}: {texts:?}");
}

fn with_reason(crawled: &Crawled, reason: Reason) -> Vec<String> {
    reasons(crawled)
        .into_iter()
        .filter(|&(_, found)| found == reason)
        .map(|(path, _)| path)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn every_reachable_page_is_fetched_once_and_listed() {
    let of_start = [
        "/a",
        "/b",
        "/a#top",
        "https://other.example/",
        "http://site.example/",
        "https://site.example:8443/",
    ];
    let bench = Bench::new(site([
        ("/", FixturePage::linking(of_start)),
        ("/a", FixturePage::linking(["/", "/b", "/c", "/old"])),
        ("/b", FixturePage::linking(["/missing", "/away"])),
        ("/c", FixturePage::linking([])),
        ("/old", FixturePage::redirect(301, "/new")),
        ("/new", FixturePage::linking([])),
        (
            "/away",
            FixturePage::redirect(301, "https://other.example/"),
        ),
    ]));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let expected = [
        ("/", Reason::Listed),
        ("/a", Reason::Listed),
        ("/away", Reason::RedirectedOutOfScope),
        ("/b", Reason::Listed),
        ("/c", Reason::Listed),
        ("/missing", Reason::Gone),
        ("/new", Reason::Listed),
        ("/old", Reason::Redirected),
    ];
    let expected = expected.map(|(path, reason)| (path.to_owned(), reason));
    assert_eq!(reasons(&crawled), expected);
    let mut pages = bench.pages();
    pages.retain(|path| path.starts_with('/'));
    pages.sort();
    assert_eq!(pages, expected.map(|(path, _)| path));
    assert_eq!(crawled.fetched, 8);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_requested_first_and_obeyed() {
    let elsewhere = "https://cdn.example/robots.txt";
    let bench = Bench::new(site([
        ("/robots.txt", FixturePage::redirect(301, elsewhere)),
        (
            elsewhere,
            FixturePage::text("User-agent: arpent\nDisallow: /private/\n"),
        ),
        (
            "/",
            FixturePage::linking(["/private/a", "/open", "/robots.txt"]),
        ),
        ("/open", FixturePage::linking(["/private/b"])),
    ]));
    let crawled = bench.run().await;
    let requests: Vec<String> = bench
        .site
        .requests()
        .into_iter()
        .map(|request| request.url)
        .collect();
    let expected = [
        url("/robots.txt"),
        elsewhere.to_owned(),
        url("/"),
        url("/open"),
    ];
    assert_eq!(requests, expected);
    assert_eq!(
        with_reason(&crawled, Reason::RobotsDisallowed),
        ["/private/a", "/private/b"]
    );
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/open"]);
    assert_eq!(reasons(&crawled).len(), 4, "robots.txt is no page");
}

#[tokio::test(start_paused = true)]
async fn redirects_to_https_and_www_decide_the_site() {
    let bench = Bench::new(site([
        (
            "http://site.example/",
            FixturePage::redirect(301, "https://site.example/"),
        ),
        (
            "https://site.example/",
            FixturePage::redirect(301, "https://www.site.example/"),
        ),
        (
            "https://www.site.example/",
            FixturePage::linking(["/a", "https://site.example/b"]),
        ),
        ("https://www.site.example/a", FixturePage::linking([])),
    ]));
    let crawled = bench
        .crawl("http://site.example/", &Shutdown::default())
        .await
        .unwrap();
    assert_eq!(crawled.site.origin.to_string(), "https://www.site.example");
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
    // The other one is about the link to a name of the site.
    assert_eq!(texts(&crawled).len(), 2, "{:?}", texts(&crawled));
    let requests = bench.site.requests().into_iter();
    let robots = requests.filter(|request| request.url.contains("robots"));
    assert_eq!(robots.count(), 3, "one robots.txt for each origin");
}

#[tokio::test(start_paused = true)]
async fn start_redirect_target_is_requested_once() {
    let mut bench = Bench::new(site([
        ("/", FixturePage::redirect(302, "/en/")),
        ("/en/", FixturePage::linking(["/en/a"])),
        ("/en/a", FixturePage::linking(["/en/b"])),
    ]));
    // It is where the crawl begins, so the hops are counted from there.
    bench.config.limits.max_depth = Some(1);
    let crawled = bench.run().await;
    assert_eq!(bench.pages(), ["/", "/en/", "/en/a"]);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/en/", "/en/a"]);
    assert_eq!(with_reason(&crawled, Reason::Redirected), ["/"]);
    assert_eq!(with_reason(&crawled, Reason::TooDeep), ["/en/b"]);
}
