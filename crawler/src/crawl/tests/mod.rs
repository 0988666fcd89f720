//! The engine on a fixture site, a store in memory and paused time.

mod bounds;
mod cached;
mod challenges;
mod changes;
mod ends;
mod hints;
mod names;
mod outage;
mod page_or_document;
mod random;
mod recrawl;
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
    page::{Basis, PageRecord, Reason, State, Visit},
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
        };
        crawl(&self.config, &start, dependencies, shutdown).await
    }

    async fn run(&self) -> Crawled {
        self.crawl(START, &Shutdown::default()).await.unwrap()
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
        site_run::run(Session {
            config,
            start: Identity::default().parse(START).unwrap(),
            places: Arc::new(move |_| Ok(places.clone())),
            fetch: Arc::new(self.site.clone()),
            clock: Arc::new(TestClock::starting_at(self.now)),
            politeness: Arc::new(Mutex::new(politeness)),
            progress: watch::Sender::new(Progress::default()),
            retry_after: self.retry_after.clone(),
            lists: Vec::new(),
            dry_run: false,
            shutdown: Shutdown::default(),
            on_publish: Arc::new(|| Box::pin(async {})),
            send_fence: None,
        })
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

fn site<'a>(pages: impl IntoIterator<Item = (&'a str, FixturePage)>) -> FixtureSite {
    let pages: Vec<(String, FixturePage)> = pages
        .into_iter()
        .map(|(path, page)| (url(path), page))
        .collect();
    FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())))
}

/// The visits of a crawl by their paths.
fn visits(crawled: &Crawled) -> BTreeMap<String, PageRecord> {
    let mut found = BTreeMap::new();
    let mut show = |key: &UrlKey, _, visit: Option<Visit>| {
        found.extend(visit.map(|visit| (key.path_and_query().to_owned(), visit.record)));
        ControlFlow::Continue(())
    };
    crawled.store.each(None, &mut show).unwrap();
    found
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

fn with_reason(crawled: &Crawled, reason: Reason) -> Vec<String> {
    reasons(crawled)
        .into_iter()
        .filter(|&(_, found)| found == reason)
        .map(|(path, _)| path)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn every_reachable_page_is_fetched_once_and_listed() {
    let bench = Bench::new(site([
        (
            "/",
            FixturePage::linking(["/a", "/b", "/a#top", "https://other.example/"]),
        ),
        ("/a", FixturePage::linking(["/", "/b", "/c"])),
        ("/b", FixturePage::linking(["/missing"])),
        ("/c", FixturePage::linking([])),
    ]));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(
        with_reason(&crawled, Reason::Listed),
        ["/", "/a", "/b", "/c"]
    );
    assert_eq!(with_reason(&crawled, Reason::Gone), ["/missing"]);
    let mut pages = bench.pages();
    pages.sort();
    assert_eq!(pages, ["/", "/a", "/b", "/c", "/missing"]);
    assert_eq!(crawled.fetched, 5);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_read_before_anything_else_and_obeyed() {
    let bench = Bench::new(site([
        (
            "/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /private/\n"),
        ),
        (
            "/",
            FixturePage::linking(["/private/a", "/open", "/robots.txt"]),
        ),
        ("/open", FixturePage::linking(["/private/b"])),
    ]));
    let crawled = bench.run().await;
    assert_eq!(bench.site.requests()[0].url, url("/robots.txt"));
    assert_eq!(bench.pages(), ["/", "/open"]);
    assert_eq!(
        with_reason(&crawled, Reason::RobotsDisallowed),
        ["/private/a", "/private/b"]
    );
    assert_eq!(bench.site.requests().len(), 3, "robots.txt is no page");
    assert_eq!(reasons(&crawled).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_robots_txt_forbids_everything() {
    for page in [
        FixturePage::status(503),
        FixturePage::status(429),
        FixturePage::failing(FetchErrorKind::Timeout),
    ] {
        let bench = Bench::new(site([
            ("/robots.txt", page),
            ("/", FixturePage::linking(["/a"])),
        ]));
        let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
        assert!(
            matches!(error, CrawlError::Start(StartError::Robots(_))),
            "{error}"
        );
        assert_eq!(bench.pages(), [""; 0]);
        let mut tries = bench.site.requests();
        // A server that is silent may be one of plain http, which is asked once.
        tries.retain(|request| request.url.starts_with("https:"));
        assert_eq!(tries.len(), 3, "three tries");
    }
}

#[tokio::test(start_paused = true)]
async fn robots_txt_redirects_are_followed_across_hosts() {
    let pages = [
        (
            url("/robots.txt"),
            FixturePage::redirect(301, "https://cdn.example/robots.txt"),
        ),
        (
            "https://cdn.example/robots.txt".into(),
            FixturePage::text("User-agent: arpent\nDisallow: /no\n"),
        ),
        (url("/"), FixturePage::linking(["/no", "/yes"])),
        (url("/yes"), FixturePage::linking([])),
    ];
    let bench = Bench::new(FixtureSite::new(
        pages.iter().map(|(url, page)| (url.as_str(), page.clone())),
    ));
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::RobotsDisallowed), ["/no"]);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/yes"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_is_not_200_or_disallowed_is_no_start() {
    let cases = [
        vec![("/", FixturePage::status(404))],
        vec![("/", FixturePage::status(500))],
        vec![("/", FixturePage::failing(FetchErrorKind::Connect))],
        vec![(
            "/",
            FixturePage::redirect(302, "https://elsewhere.example/"),
        )],
        vec![("/", FixturePage::redirect(302, "/"))],
        vec![("/", FixturePage::status(301))],
        vec![
            (
                "/robots.txt",
                FixturePage::text("User-agent: *\nDisallow: /\n"),
            ),
            ("/", FixturePage::linking([])),
        ],
    ];
    for pages in cases {
        let bench = Bench::new(site(pages.clone()));
        let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
        assert!(
            matches!(error, CrawlError::Start(StartError::Page(_))),
            "{pages:?}: {error}"
        );
        assert!(
            bench
                .site
                .requests()
                .iter()
                .all(|request| !request.url.contains("elsewhere"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_https_and_www_decides_the_site() {
    let pages = [
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
    ];
    let bench = Bench::new(FixtureSite::new(pages));
    let crawled = bench
        .crawl("http://site.example/", &Shutdown::default())
        .await
        .unwrap();
    assert_eq!(crawled.site.origin.to_string(), "https://www.site.example");
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
    // The other one is about the link to a name of the site.
    assert_eq!(texts(&crawled).len(), 2, "{:?}", texts(&crawled));
    let robots: Vec<String> = bench
        .site
        .requests()
        .into_iter()
        .map(|request| request.url)
        .filter(|url| url.contains("robots"))
        .collect();
    assert_eq!(
        robots.len(),
        3,
        "one robots.txt for each origin: {robots:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_scripts_render_is_said_loudly() {
    let shell = "<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>";
    let crawled = Bench::new(site([("/", FixturePage::html(shell))]))
        .run()
        .await;
    assert!(
        texts(&crawled)
            .iter()
            .any(|notice| notice.contains("JavaScript")),
        "{:?}",
        texts(&crawled)
    );
    let crawled = Bench::new(site([("/", FixturePage::linking(["/a"]))]))
        .run()
        .await;
    assert_eq!(texts(&crawled), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_scope_is_the_directory_of_the_start_url() {
    let bench = Bench::new(site([
        (
            "/docs/",
            FixturePage::linking(["/docs/a", "/blog/b", "/docs", "../x"]),
        ),
        ("/docs/a", FixturePage::linking([])),
    ]));
    let crawled = bench
        .crawl(&url("/docs/"), &Shutdown::default())
        .await
        .unwrap();
    assert_eq!(reasons(&crawled).len(), 2);
    assert_eq!(bench.pages(), ["/docs/", "/docs/a"]);
}

#[tokio::test(start_paused = true)]
async fn the_page_behind_the_start_redirect_is_asked_for_once() {
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

#[tokio::test(start_paused = true)]
async fn a_redirect_target_is_a_page_of_its_own() {
    let bench = Bench::new(site([
        ("/", FixturePage::linking(["/old", "/away"])),
        ("/old", FixturePage::redirect(301, "/new")),
        (
            "/away",
            FixturePage::redirect(301, "https://other.example/"),
        ),
        ("/new", FixturePage::linking([])),
    ]));
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Redirected), ["/old"]);
    assert_eq!(
        with_reason(&crawled, Reason::RedirectedOutOfScope),
        ["/away"]
    );
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/new"]);
}

#[tokio::test(start_paused = true)]
async fn an_endless_chain_of_redirects_ends() {
    let site = FixtureSite::new([(START, FixturePage::linking(["/r/0"]))]).scripted(|url, _| {
        let number: u32 = url.strip_prefix("https://site.example/r/")?.parse().ok()?;
        Some(FixturePage::redirect(302, &format!("/r/{}", number + 1)))
    });
    let crawled = Bench::new(site).run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(reasons(&crawled).len(), 1 + 1 + crate::verdict::MAX_HOPS);
}

#[tokio::test(start_paused = true)]
async fn links_out_of_scope_are_not_recorded() {
    let away = [
        "/a",
        "https://other.example/",
        "http://site.example/",
        "https://site.example:8443/",
    ];
    let bench = Bench::new(site([
        ("/", FixturePage::linking(away)),
        ("/a", FixturePage::linking([])),
    ]));
    let crawled = bench.run().await;
    assert_eq!(reasons(&crawled).len(), 2);
}
