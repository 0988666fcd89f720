//! Sitemaps and feeds beside the pages, in virtual time.

use std::path::Path;

use super::{random::Random, *};
use crate::{
    page::Via,
    seeds::{self, DocumentState, SeedProblem},
};

fn urlset(paths: impl IntoIterator<Item = String>) -> FixturePage {
    let mut text = "<urlset>".to_owned();
    for path in paths {
        text.extend(["<url><loc>", &url(&path), "</loc></url>"]);
    }
    FixturePage::text(&(text + "</urlset>"))
}

fn index(paths: impl IntoIterator<Item = String>) -> FixturePage {
    let mut text = "<sitemapindex>".to_owned();
    for path in paths {
        text.extend(["<sitemap><loc>", &url(&path), "</loc></sitemap>"]);
    }
    FixturePage::text(&(text + "</sitemapindex>"))
}

fn discovering(site: FixtureSite) -> Bench {
    let mut bench = Bench::new(site);
    bench.config.discover = DiscoverConfig::default();
    bench
}

fn orphans(crawled: &Crawled) -> BTreeSet<String> {
    let mut orphans = BTreeSet::new();
    let mut visit = |key: &UrlKey| {
        orphans.insert(key.path_and_query().to_owned());
    };
    crawled.store.visit_orphans(&mut visit).unwrap();
    assert_eq!(crawled.store.orphan_count().unwrap(), orphans.len() as u64);
    orphans
}

fn problems(crawled: &Crawled) -> Vec<(String, Option<SeedProblem>)> {
    let documents = seeds::documents(&*crawled.store).unwrap();
    documents
        .into_iter()
        .map(|document| {
            assert_ne!(document.state, DocumentState::Waiting, "{}", document.name);
            (document.name, document.problem)
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_document_does_not_wait_for_all_pages() {
    // The pages alone would take all turns of the host: there is always one more to ask for.
    let pages = 60_u32;
    let links: Vec<String> = (0..pages).map(|number| format!("/{number}")).collect();
    let mut answers = vec![
        (
            "/".to_owned(),
            FixturePage::linking(links.iter().map(String::as_str)),
        ),
        (
            "/robots.txt".to_owned(),
            FixturePage::text("Sitemap: /index.xml"),
        ),
        (
            "/index.xml".to_owned(),
            index(["/a.xml".to_owned(), "/b.xml".to_owned()]),
        ),
        ("/a.xml".to_owned(), urlset(["/seed-a".to_owned()])),
        ("/b.xml".to_owned(), urlset(["/seed-b".to_owned()])),
    ];
    answers.extend(
        links
            .iter()
            .map(|path| (path.clone(), FixturePage::linking([]))),
    );
    let mut bench = discovering(site(
        answers
            .iter()
            .map(|(path, page)| (path.as_str(), page.clone())),
    ));
    bench.config.politeness.rate = Rate::PerSecond(10.0);
    bench.run().await;
    let order = bench.pages();
    let place = |path: &str| order.iter().position(|asked| asked == path).unwrap();
    for document in ["/index.xml", "/a.xml", "/b.xml"] {
        assert!(place(document) < 10, "{document}: {order:?}");
    }
    let requests = bench.site.requests();
    for pair in requests.windows(2) {
        let gap = pair[1].begun - pair[0].begun;
        assert!(
            gap >= Duration::from_millis(100),
            "{gap:?} before {}",
            pair[1].url
        );
    }
}

#[tokio::test(start_paused = true)]
async fn pages_do_not_wait_for_all_documents() {
    let maps: Vec<String> = (0..50).map(|number| format!("/{number}.xml")).collect();
    let links: Vec<String> = (0..50).map(|number| format!("/{number}")).collect();
    let mut answers = vec![
        (
            "/".to_owned(),
            FixturePage::linking(links.iter().map(String::as_str)),
        ),
        ("/sitemap.xml".to_owned(), index(maps.clone())),
    ];
    answers.extend(maps.into_iter().map(|path| {
        let map = urlset([format!("/of{path}")]);
        (path, map)
    }));
    let delays = [None, Some(Duration::from_secs(1))];
    for delay in delays {
        let mut bench = discovering(site(
            answers
                .iter()
                .map(|(path, page)| (path.as_str(), page.clone())),
        ));
        bench.config.politeness.rate = Rate::PerSecond(10.0);
        bench.config.politeness.delay = delay;
        bench.config.limits.max_pages = 10;
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::LimitReached);
        let (documents, pages): (Vec<String>, Vec<String>) =
            bench.pages().into_iter().partition(|path| {
                Path::new(path).extension() == Some("xml".as_ref()) && !path.starts_with("/of")
            });
        assert_eq!(pages.len(), 10);
        assert!((5..=12).contains(&documents.len()), "{documents:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_that_asks_to_wait_too_long_keeps_its_documents_for_the_next_start() {
    let wait = FixturePage::status(503).with_header("retry-after", "3600");
    let home = FixturePage::linking([]);
    let site = site([("/", home), ("/sitemap.xml", urlset(["/seed".to_owned()]))]).scripted(
        move |asked, earlier| (asked == url("/sitemap.xml") && earlier == 0).then(|| wait.clone()),
    );
    let bench = discovering(site);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
    let documents = seeds::documents(&*crawled.store).unwrap();
    assert_eq!(documents[0].state, DocumentState::Waiting);
    bench.keep(crawled);
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, crawled.resumed), (Ending::Drained, true));
    assert_eq!(orphans(&crawled), BTreeSet::from(["/seed".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn another_host_that_asks_to_wait_too_long_costs_its_documents_only() {
    let there = "https://files.example/1.xml";
    let bench = discovering(FixtureSite::new([
        (START, FixturePage::linking(["/a"])),
        (url("/a").as_str(), FixturePage::linking([])),
        (
            url("/robots.txt").as_str(),
            FixturePage::text(&format!("Sitemap: {there}")),
        ),
        (
            there,
            FixturePage::status(503).with_header("retry-after", "3600"),
        ),
    ]));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
    let told = [(there.to_owned(), Some(SeedProblem::HostClosed))];
    assert_eq!(problems(&crawled), told);
}

#[tokio::test(start_paused = true)]
async fn documents_of_too_many_hosts_are_not_asked_for() {
    let hosts: Vec<String> = (0..20)
        .map(|number| format!("https://{number}.example"))
        .collect();
    let mut lines = String::new();
    for host in &hosts {
        lines.extend(["Sitemap: ", host, "/map.xml\n"]);
    }
    let mut pages = vec![
        (START.to_owned(), FixturePage::linking([])),
        (url("/robots.txt"), FixturePage::text(&lines)),
    ];
    let map = urlset(["/seed".to_owned()]);
    pages.extend(
        hosts
            .iter()
            .map(|host| (format!("{host}/map.xml"), map.clone())),
    );
    let site = FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())));
    let bench = discovering(site);
    let crawled = bench.run().await;
    let asked = bench.site.requests();
    let asked = asked
        .iter()
        .filter(|request| request.url.ends_with("/map.xml"))
        .count();
    assert_eq!(asked, MAX_OTHER_HOSTS);
    let failed = problems(&crawled)
        .into_iter()
        .filter_map(|(_, problem)| problem);
    assert_eq!(failed.collect::<Vec<_>>(), [SeedProblem::TooMany; 4]);
}

#[tokio::test(start_paused = true)]
async fn redirects_lead_to_no_more_hosts_than_documents_may_be_on() {
    let paths: Vec<String> = (0..20).map(|number| format!("/{number}.xml")).collect();
    let there = |number: usize| format!("https://{number}.example/map.xml");
    let mut pages = vec![
        (START.to_owned(), FixturePage::linking([])),
        (url("/sitemap.xml"), index(paths.clone())),
    ];
    for (number, path) in paths.iter().enumerate() {
        pages.push((url(path), FixturePage::redirect(302, &there(number))));
        pages.push((there(number), urlset([format!("/seed{number}")])));
    }
    let site = FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())));
    let bench = discovering(site);
    let crawled = bench.run().await;
    let requests = bench.site.requests();
    let hosts: BTreeSet<&str> = requests
        .iter()
        .filter_map(|request| request.url.split('/').nth(2))
        .collect();
    assert_eq!(hosts.len(), 1 + MAX_OTHER_HOSTS, "{hosts:?}");
    let failed = problems(&crawled)
        .into_iter()
        .filter_map(|(_, problem)| problem);
    assert_eq!(failed.collect::<Vec<_>>(), [SeedProblem::TooMany; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_document_that_must_not_be_fetched_is_no_reason_to_wait_for_it() {
    let inside = "https://intranet.example/map.xml";
    let bench = discovering(FixtureSite::new([
        (START, FixturePage::linking([])),
        (
            url("/robots.txt").as_str(),
            FixturePage::text(&format!("Sitemap: {inside}")),
        ),
        (
            "https://intranet.example/robots.txt",
            FixturePage::failing(FetchErrorKind::Forbidden),
        ),
    ]));
    let crawled = bench.run().await;
    let told = [(inside.to_owned(), Some(SeedProblem::Forbidden))];
    assert_eq!(problems(&crawled), told);
    let tally = seeds::Tally::read(&*crawled.store).unwrap();
    assert_eq!((tally.troubled, tally.passing), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn documents_are_read_when_robots_txt_of_the_site_is_ignored() {
    let site = || {
        FixtureSite::new([
            (START, FixturePage::linking([])),
            (url("/seed").as_str(), FixturePage::linking([])),
            (
                url("/robots.txt").as_str(),
                FixturePage::text(
                    "User-agent: *\nDisallow: /\nSitemap: /map.xml\nSitemap: https://files.example/map.xml",
                ),
            ),
            (url("/map.xml").as_str(), urlset(["/seed".to_owned()])),
            (
                "https://files.example/robots.txt",
                FixturePage::text("User-agent: *\nDisallow: /"),
            ),
        ])
    };
    let mut bench = discovering(site());
    bench.config.ignore.robots = true;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/seed"]);
    let told = [
        (url("/map.xml"), Some(SeedProblem::RelativeUrl)),
        (
            "https://files.example/map.xml".to_owned(),
            Some(SeedProblem::RobotsDisallowed),
        ),
    ];
    assert_eq!(problems(&crawled), told, "only the site's own is ignored");
}

#[tokio::test(start_paused = true)]
async fn a_feed_for_every_page_is_read_a_hundred_times() {
    let paths: Vec<String> = (0..150).map(|number| format!("/{number}")).collect();
    let page = |number: usize| {
        FixturePage::html(format!(
            "<link rel=alternate type=application/rss+xml href=/feed/{number}><link rel=alternate \
             type=application/rss+xml href=https://feeds.example/><p>{number}"
        ))
    };
    let mut pages = vec![(
        "/".to_owned(),
        FixturePage::linking(paths.iter().map(String::as_str)),
    )];
    pages.extend(
        paths
            .iter()
            .enumerate()
            .map(|(number, path)| (path.clone(), page(number))),
    );
    let item = format!("<item><link>{}</link></item>", url("/seed"));
    let feed = FixturePage::text(&format!(
        "<rss version='2.0'><channel>{item}</channel></rss>"
    ));
    let site = site(
        pages
            .iter()
            .map(|(path, page)| (path.as_str(), page.clone())),
    )
    .scripted(move |asked, _| asked.contains("/feed/").then(|| feed.clone()));
    let bench = discovering(site);
    let crawled = bench.run().await;
    let asked = bench.pages();
    let feeds = asked.iter().filter(|path| path.starts_with("/feed/"));
    assert_eq!(feeds.count(), seeds::MAX_FEEDS);
    assert!(
        bench
            .site
            .requests()
            .iter()
            .all(|request| !request.url.contains("feeds.example"))
    );
    assert!(
        crawled
            .notices
            .iter()
            .any(|notice| notice.contains("50 more feeds"))
    );
    let seed = UrlKey::from_normalised(&url("/seed")).unwrap();
    assert_eq!(crawled.store.page(&seed).unwrap().unwrap().via, Via::Feed);
}

/// A site as in [`random`], and an index of sitemaps that name some of its pages and some others.
fn random_seeds(seed: u64) -> (FixtureSite, BTreeSet<String>) {
    let (site, reachable) = random::random_site(seed);
    let mut random = Random(seed ^ 0x5eed);
    let mut maps = Vec::new();
    let mut named = BTreeSet::new();
    for number in 0..=random.below(4) {
        let paths: Vec<String> = (0..random.below(30))
            .map(|_| format!("/{}", random.below(120)))
            .map(|path| path.replace("/0", "/"))
            .collect();
        named.extend(paths.iter().cloned());
        maps.push((url(&format!("/{number}.xml")), urlset(paths)));
    }
    let children = (0..=maps.len()).map(|number| format!("/{number}.xml"));
    maps.push((url("/sitemap.xml"), index(children)));
    let maps: std::collections::HashMap<_, _> = maps.into_iter().collect();
    let script = site.script();
    let site = site.scripted(move |asked, earlier| {
        let map = maps.get(asked).cloned();
        map.or_else(|| script.as_ref().and_then(|script| script(asked, earlier)))
    });
    let orphans = named.difference(&reachable).cloned().collect();
    (site, orphans)
}

#[tokio::test(start_paused = true)]
async fn stopped_and_resumed_runs_lose_no_seed_and_no_orphan() {
    for seed in 0..60 {
        let (site, named) = random_seeds(seed);
        let whole = discovering(site).run().await;
        assert!(orphans(&whole).is_subset(&named), "seed {seed}");
        let (site, _) = random_seeds(seed);
        let bench = discovering(site);
        let mut random = Random(seed ^ 0xabcd);
        let crawled = loop {
            let shutdown = Shutdown::default();
            let after = Duration::from_millis(1 + random.below(900));
            let aborts = random.below(2) == 0;
            let crawl = bench.crawl(START, &shutdown);
            tokio::pin!(crawl);
            let crawled = tokio::select! {
                crawled = &mut crawl => crawled,
                () = tokio::time::sleep(after) => {
                    if aborts { shutdown.abort() } else { shutdown.stop() }
                    crawl.await
                }
            };
            match crawled {
                Ok(crawled) if crawled.ending == Ending::Drained => break crawled,
                Ok(crawled) => bench.keep(crawled),
                Err(CrawlError::Stopped) => *bench.store.lock().unwrap() = None,
                Err(error) => panic!("seed {seed}: {error}"),
            }
            if bench.store.lock().unwrap().is_none() {
                // Stopped before the store was opened: nothing was written yet.
                *bench.store.lock().unwrap() = Some(Box::new(MemoryStore::default()));
            }
        };
        assert_eq!(reasons(&crawled), reasons(&whole), "seed {seed}");
        assert_eq!(orphans(&crawled), orphans(&whole), "seed {seed}");
        assert_eq!(problems(&crawled), problems(&whole), "seed {seed}");
    }
}
