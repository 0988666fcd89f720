//! Sitemaps and feeds beside the pages, in virtual time: the order of their requests, their hosts, and the reports on them.

use std::path::Path;

use super::{
    page_or_document::{LINKS_FEED, LINKS_LATE, NAMES_FEED},
    random::Random,
    *,
};
use crate::{
    fetch::FetchErrorKind,
    page::Via,
    seeds::{self, DocumentState, MAX_OTHER_HOSTS, SeedProblem},
    store::{Commit, VisitNote},
};

pub(super) fn urlset(paths: impl IntoIterator<Item = String>) -> FixturePage {
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

pub(super) fn discovering(site: FixtureSite) -> Bench {
    let mut bench = Bench::new(site);
    bench.config.discover = DiscoverConfig::default();
    bench
}

pub(super) fn orphans(crawled: &Crawled) -> BTreeSet<String> {
    let mut orphans = BTreeSet::new();
    let mut show = |key: &UrlKey, note: VisitNote| {
        if note.is_orphan {
            orphans.insert(key.path_and_query().to_owned());
        }
    };
    crawled.store.each_visit(&mut show).unwrap();
    orphans
}

pub(super) fn problems(crawled: &Crawled) -> Vec<(String, Option<SeedProblem>)> {
    let documents = seeds::documents(&crawled.store).unwrap();
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
async fn a_document_that_asks_to_wait_too_long_is_read_by_the_next_crawl() {
    let wait = FixturePage::status(503).with_header("retry-after", "3600");
    let home = FixturePage::linking([]);
    let site = site([("/", home), ("/sitemap.xml", urlset(["/seed".to_owned()]))]).scripted(
        move |asked, earlier| (asked == url("/sitemap.xml") && earlier == 0).then(|| wait.clone()),
    );
    let bench = discovering(site);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let failed = [(url("/sitemap.xml"), Some(SeedProblem::ServerError))];
    assert_eq!(problems(&crawled), failed);
    bench.finish(crawled);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
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
    let told = [(there.to_owned(), Some(SeedProblem::ServerError))];
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

/// An index may name thousands of files that are large and name nothing.
#[tokio::test(start_paused = true)]
async fn a_session_reads_so_many_bytes_of_documents() {
    let paths: Vec<String> = (0..12).map(|number| format!("/{number}.xml")).collect();
    let mut pages = vec![
        (START.to_owned(), FixturePage::linking([])),
        (url("/sitemap.xml"), index(paths.clone())),
    ];
    for (number, path) in paths.iter().enumerate() {
        let mut map = urlset([format!("/seed{number}")]);
        map.body.resize(1 << 17, b' ');
        pages.push((url(path), map));
        pages.push((url(&format!("/seed{number}")), FixturePage::linking([])));
    }
    let site = FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())));
    let crawled = discovering(site).run().await;
    let problems = problems(&crawled);
    let unread = problems
        .iter()
        .filter(|(_, problem)| *problem == Some(SeedProblem::TooMany));
    assert_eq!(unread.count(), 4, "{problems:?}");
    assert_eq!(crawl_state::not_recorded(&crawled.store).unwrap(), 4);
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
    let tally = seeds::Tally::read(&crawled.store).unwrap();
    assert_eq!((tally.with_problems, tally.passing), (1, 0));
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
        texts(&crawled)
            .iter()
            .any(|notice| notice.contains("50 more feeds"))
    );
    let seed = UrlKey::from_normalised(&url("/seed")).unwrap();
    assert_eq!(
        crawled.store.visit(&seed).unwrap().unwrap().record.via,
        Via::Feed
    );
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
        let crawled = random::run_with_stops(&discovering(site), seed).await;
        assert_eq!(reasons(&crawled), reasons(&whole), "seed {seed}");
        assert_eq!(orphans(&crawled), orphans(&whole), "seed {seed}");
        assert_eq!(problems(&crawled), problems(&whole), "seed {seed}");
    }
}

/// Requests for the path.
pub(super) fn asked(bench: &Bench, path: &str) -> usize {
    bench.pages().iter().filter(|asked| *asked == path).count()
}

#[tokio::test(start_paused = true)]
async fn a_broken_file_is_distinguished_from_an_answer_that_broke_off() {
    const WHOLE: &str = "<urlset><url><loc>https://site.example/a</loc></url></urlset>";
    async fn check(
        answers: &'static [&'static str],
        says_length: bool,
        requests: usize,
        expected: Option<SeedProblem>,
    ) {
        let script = move |asked: &str, earlier: usize| {
            (asked == url("/sitemap.xml")).then(|| {
                let body = answers[earlier.min(answers.len() - 1)];
                let page = FixturePage::text(body);
                if says_length {
                    page.with_header("content-length", &body.len().to_string())
                } else {
                    page
                }
            })
        };
        let bench = discovering(site([("/", FixturePage::linking([]))]).scripted(script));
        let crawled = bench.run().await;
        assert_eq!(asked(&bench, "/sitemap.xml"), requests, "{answers:?}");
        assert_eq!(problems(&crawled), [(url("/sitemap.xml"), expected)]);
        assert!(orphans(&crawled).contains("/a"), "{answers:?}");
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        let is_passing = expected == Some(SeedProblem::CutShort);
        assert_eq!(tally.passing, u64::from(is_passing));
    }
    const CUT: &str = "<urlset><url><loc>https://site.example/a</loc></url><url><lo";
    const CUT_LATER: &str = "<urlset><url><loc>https://site.example/a</loc></url><url><loc>ht";
    check(&[WHOLE], false, 1, None).await;
    check(&[CUT], true, 1, Some(SeedProblem::Truncated)).await;
    check(&[CUT], false, 2, Some(SeedProblem::Truncated)).await;
    check(&[CUT, CUT_LATER], false, 2, Some(SeedProblem::CutShort)).await;
    check(&[CUT, WHOLE], false, 2, None).await;
}

#[tokio::test(start_paused = true)]
async fn our_own_index_may_be_missing_before_it_is_up() {
    async fn check(named: &str, public_url: Option<&str>, page: FixturePage, expected: bool) {
        let robots = FixturePage::text(&format!("Sitemap: https://files.example/maps/{named}"));
        let page = Arc::new(page);
        let script = move |asked: &str, _: usize| {
            asked
                .starts_with("https://files.example/")
                .then(|| FixturePage::clone(&page))
        };
        let pages = [("/", FixturePage::linking([])), ("/robots.txt", robots)];
        let mut bench = discovering(site(pages).scripted(script));
        bench.public_url = public_url.map(str::to_owned);
        bench.config.limits.max_tries = 1;
        let crawled = bench.run().await;
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        assert_eq!(tally.with_problems > 0, expected, "{named} {public_url:?}");
    }
    let gone = || FixturePage::status(404);
    let place = Some("https://files.example/maps/");
    check("sitemap.xml", place, gone(), false).await;
    check("sitemap-2.xml", place, gone(), false).await;
    // The host itself may be to come.
    let no_host = FixturePage::failing(FetchErrorKind::Dns);
    check("sitemap.xml", place, no_host, false).await;
    check("sitemap.xml", place, FixturePage::status(503), false).await;
    // Other files are somebody else's, and something names them.
    check("sitemap-1.xml", place, gone(), true).await;
    check("sitemap-old.xml", place, gone(), true).await;
    check("sitemap.xml", Some("https://files.example/"), gone(), true).await;
    check("sitemap.xml", None, gone(), true).await;
}

#[tokio::test(start_paused = true)]
async fn our_own_index_on_the_site_itself_is_missing_only_when_it_is_not_there() {
    for (answer, is_told) in [
        (FixturePage::status(404), false),
        (FixturePage::status(503), true),
        (FixturePage::failing(FetchErrorKind::Timeout), true),
    ] {
        let mut bench = discovering(site([
            ("/", FixturePage::linking([])),
            (
                "/robots.txt",
                FixturePage::text(&format!("Sitemap: {}", url("/sitemap.xml"))),
            ),
            ("/sitemap.xml", answer),
        ]));
        bench.public_url = Some(START.to_owned());
        bench.config.limits.max_tries = 1;
        let crawled = bench.run().await;
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        assert_eq!(tally.passing > 0, is_told);
        assert_eq!(tally.with_problems > 0, is_told);
    }
}

#[tokio::test(start_paused = true)]
async fn excluded_documents_are_not_fetched() {
    let mut bench = discovering(site([
        ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
        ("/late", FixturePage::html(format!("<p>late{LINKS_FEED}"))),
        (
            "/robots.txt",
            FixturePage::text(&format!(
                "Sitemap: {0}\nSitemap: {1}",
                url("/private.xml"),
                url("/index.xml")
            )),
        ),
        (
            "/index.xml",
            index(["/private/a.xml".to_owned(), "/b.xml".to_owned()]),
        ),
        ("/b.xml", urlset(["/b".to_owned()])),
        ("/b", FixturePage::linking([])),
    ]));
    bench.config.scope.exclude = ["/private*", "/feed"].map(str::to_owned).to_vec();
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/b", "/late"]);
    assert_eq!(with_reason(&crawled, Reason::ExcludedByRule), ["/feed"]);
    for path in ["/feed", "/private.xml", "/private/a.xml"] {
        assert_eq!(asked(&bench, path), 0, "{path}");
    }
    let told = |notice: &String| notice.contains("exclude rule");
    assert!(texts(&crawled).iter().any(told), "{:?}", texts(&crawled));
}

#[tokio::test(start_paused = true)]
async fn urls_of_documents_outside_are_counted() {
    let bench = discovering(site([
        ("/docs/", FixturePage::linking([])),
        ("/docs/a", FixturePage::linking([])),
        (
            "/sitemap.xml",
            urlset(["/blog", "/docs/a", "/news"].map(str::to_owned)),
        ),
    ]));
    let crawled = bench
        .crawl(&url("/docs/"), &Shutdown::default())
        .await
        .unwrap();
    let tally = seeds::Tally::read(&crawled.store).unwrap();
    assert_eq!((tally.outside, tally.with_problems), (2, 0));
    let outside = tally.outside_in[0].outside.clone().unwrap();
    assert_eq!((outside.count, outside.example), (2, url("/blog")));
}

#[tokio::test(start_paused = true)]
async fn a_disallowed_document_is_reported_in_one_sentence() {
    let elsewhere = url("/private/map.xml");
    let bench = discovering(site([
        ("/", FixturePage::linking([])),
        (
            "/robots.txt",
            FixturePage::text(&format!(
                "User-agent: *\nDisallow: /private/\nSitemap: {elsewhere}\nSitemap: {}",
                url("/moved.xml")
            )),
        ),
        (
            "/moved.xml",
            FixturePage::redirect(302, "/private/other.xml"),
        ),
    ]));
    let crawled = bench.run().await;
    let told: Vec<Option<String>> = seeds::documents(&crawled.store)
        .unwrap()
        .iter()
        .map(seeds::Document::trouble)
        .collect();
    let other = url("/private/other.xml");
    let expected = [
        "is disallowed by robots.txt".to_owned(),
        format!("is disallowed by robots.txt ({other} is disallowed by robots.txt)"),
    ];
    assert_eq!(told, expected.map(Some));
}

#[tokio::test(start_paused = true)]
async fn our_own_index_may_be_missing_at_its_place_until_it_is_published() {
    async fn check(named: &str, page: FixturePage, published: bool, expected: bool) {
        let robots = FixturePage::text(&format!("Sitemap: /{named}"));
        let path = format!("/{named}");
        let mut bench = discovering(site([
            ("/", FixturePage::linking([])),
            ("/robots.txt", robots),
            (path.as_str(), page),
        ]));
        bench.config.limits.max_tries = 1;
        if published {
            let mut own = seeds::OwnFiles::default();
            own.add(&"0123456789abcdef".repeat(4));
            let values = vec![own.value()];
            let commit = Commit {
                values,
                ..Commit::default()
            };
            let mut store = bench.store.lock().unwrap();
            store.as_mut().unwrap().commit(&commit).unwrap();
        }
        let crawled = bench.run().await;
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        assert_eq!(tally.with_problems > 0, expected, "{named} {published}");
    }
    check("sitemap.xml", FixturePage::status(404), false, false).await;
    check("sitemap.xml", FixturePage::status(503), false, true).await;
    check("maps/sitemap.xml", FixturePage::status(404), false, true).await;
    check("news.xml", FixturePage::status(404), false, true).await;
}

#[tokio::test(start_paused = true)]
async fn hosts_that_a_robots_txt_redirects_to_count_among_the_hosts() {
    // Each document has a host of its own, and each robots.txt is five hosts away.
    let documents = 6;
    let lines: Vec<String> = (0..documents)
        .map(|number| format!("Sitemap: https://h{number}-0.example/map.xml"))
        .collect();
    let lines = lines.join("\n");
    let script = |asked: &str, _: usize| {
        let rest = asked.strip_prefix("https://h")?;
        let (name, path) = rest.split_once(".example")?;
        let (number, hop) = name.split_once('-')?;
        let hop: u32 = hop.parse().ok()?;
        Some(match (path, hop) {
            ("/robots.txt", 0..5) => {
                let next = hop + 1;
                let target = format!("https://h{number}-{next}.example/robots.txt");
                FixturePage::redirect(302, &target)
            }
            ("/robots.txt", _) => FixturePage::text("User-agent: *\nDisallow: /private"),
            _ => urlset([format!("/from-{number}")]),
        })
    };
    let pages = [
        ("/", FixturePage::linking([])),
        ("/robots.txt", FixturePage::text(&lines)),
    ];
    let bench = discovering(site(pages).scripted(script));
    let crawled = bench.run().await;
    let contacted: BTreeSet<String> = bench
        .site
        .requests()
        .iter()
        .map(|seen| {
            UrlKey::from_normalised(&seen.url)
                .unwrap()
                .host()
                .to_string()
        })
        .collect();
    // One more is the site's own.
    assert_eq!(contacted.len(), MAX_OTHER_HOSTS + 1, "{contacted:?}");
    let read: Vec<bool> = problems(&crawled)
        .iter()
        .map(|(_, problem)| problem.is_none())
        .collect();
    assert_eq!(read, [true, true, false, false, false, false]);
    let told = problems(&crawled);
    assert!(
        told[2..]
            .iter()
            .all(|(_, told)| *told == Some(SeedProblem::TooMany))
    );
}

#[tokio::test(start_paused = true)]
async fn rules_that_could_not_be_read_are_none() {
    async fn check(robots: FixturePage, is_read: bool) {
        let mut bench = Bench::new(site([
            ("/", FixturePage::linking([])),
            ("/robots.txt", robots),
        ]));
        bench.config.ignore.robots = true;
        bench.config.limits.max_tries = 1;
        let crawled = bench.run().await;
        assert_eq!(crawled.robots.is_some(), is_read);
    }
    check(FixturePage::text("User-agent: *\nDisallow: /"), true).await;
    check(FixturePage::status(404), true).await;
    check(FixturePage::status(503), false).await;
}
