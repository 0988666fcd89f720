//! Pages and documents: feeds that pages link to, pages that others call feeds, documents that are
//! sent as pages or typed as the start URL. Each is asked for once, in whatever order that is found out.

use super::{
    random,
    seeding::{asked, discovering, orphans, problems, urlset},
    *,
};
use crate::{
    page::Via,
    seeds::{MAX_FEEDS, SeedProblem, Tally},
    testing::SeenRequest,
};

/// 150 pages that each call a page a feed, to which only a page after it links.
fn pages_called_feeds() -> FixtureSite {
    const PAGES: usize = 150;
    let start: Vec<String> = (0..PAGES).map(|number| format!("/p/{number}")).collect();
    let mut pages = vec![("/".to_owned(), linking(&start))];
    for number in 0..PAGES {
        let calls = format!(
            "<link rel=alternate type=application/rss+xml href=/t/{number}><a href=/q/{number}>on</a>"
        );
        let target = format!("/t/{number}");
        pages.push((format!("/p/{number}"), FixturePage::html(calls)));
        pages.push((format!("/q/{number}"), FixturePage::linking([&*target])));
        pages.push((target, FixturePage::html(format!("<p>page {number}"))));
    }
    site(pages)
}

#[tokio::test(start_paused = true)]
async fn links_to_left_out_feeds_lead_to_pages() {
    let bench = discovering(pages_called_feeds());
    let whole = bench.run().await;
    assert_eq!(with_reason(&whole, Reason::Listed).len(), 1 + 3 * 150);
    assert_noted(&whole, "reads: 50 more");
    // Nothing is stored of what was left out, so an interrupted run must not need it.
    for seed in 0..4 {
        let bench = discovering(pages_called_feeds());
        let crawled = random::run_with_stops(&bench, seed).await;
        assert_eq!(reasons(&crawled), reasons(&whole), "seed {seed}");
    }
}

fn feed(paths: &[&str]) -> FixturePage {
    let mut entries = String::new();
    for path in paths {
        entries.extend(["<item><link>", &url(path), "</link></item>"]);
    }
    let mut page = FixturePage::text(&format!(
        "<?xml version='1.0'?><rss version='2.0'><channel>{entries}</channel></rss>"
    ));
    page.headers = vec![(
        "content-type".into(),
        "application/rss+xml; charset=utf-8".into(),
    )];
    page
}

pub(super) const NAMES_FEED: &str = "<link rel=alternate type=application/rss+xml href=/feed>";

pub(super) const LINKS_FEED: &str = "<p><a href=/feed>our news</a>";

pub(super) const LINKS_LATE: &str = "<p><a href=/late>later</a>";

#[tokio::test(start_paused = true)]
async fn a_feed_is_requested_once() {
    let orders = [
        (
            format!("{NAMES_FEED}{LINKS_FEED}{LINKS_LATE}"),
            String::new(),
        ),
        (format!("{NAMES_FEED}{LINKS_LATE}"), LINKS_FEED.to_owned()),
        (format!("{LINKS_FEED}{LINKS_LATE}"), NAMES_FEED.to_owned()),
        (format!("{LINKS_FEED}{LINKS_LATE}"), String::new()),
    ];
    for (start, late) in orders {
        let foreign = NAMES_FEED.replace("/feed", "https://feeds.example/");
        let bench = discovering(site([
            ("/", FixturePage::html(format!("{start}{foreign}"))),
            ("/late", FixturePage::html(format!("<p>late{late}"))),
            ("/feed", feed(&["/from-feed"])),
            ("/from-feed", FixturePage::linking(["/feed"])),
        ]));
        let crawled = bench.run().await;
        assert_eq!(asked(&bench, "/feed"), 1, "{start} {late}");
        let requests = bench.site.requests();
        let is_own = |request: &SeenRequest| request.url.starts_with(START);
        assert!(requests.iter().all(is_own), "{start} {late}");
        assert_eq!(known_and_listed(&crawled), (3, 3), "{start} {late}");
        assert_eq!(Tally::read(&crawled.store).unwrap().read, 1);
        assert_eq!(visits(&crawled)["/from-feed"].via, Via::Feed);
        assert_eq!(orphans(&crawled), BTreeSet::from(["/from-feed".to_owned()]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_linked_page_named_as_feed_is_judged() {
    let page = FixturePage::html("<!doctype html><title>News</title><p>All of it");
    let silence = FixturePage::failing(FetchErrorKind::Timeout);
    for (answer, problem, reason) in [
        (page, SeedProblem::NotASitemap, Reason::Listed),
        (
            FixturePage::status(503),
            SeedProblem::ServerError,
            Reason::ServerError,
        ),
        (silence, SeedProblem::NetworkError, Reason::NetworkError),
    ] {
        for late in [LINKS_FEED, ""] {
            let mut bench = discovering(site([
                ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
                // It comes after the feed was read, or before: the outcome is the same.
                ("/late", FixturePage::html(format!("<p>late{late}"))),
                ("/feed", answer.clone()),
            ]));
            bench.config.limits.max_tries = 1;
            let crawled = bench.run().await;
            let problems = problems(&crawled);
            let expected = (url("/feed"), Some(problem));
            assert!(problems.contains(&expected), "{problems:?}");
            let tally = Tally::read(&crawled.store).unwrap();
            // A feed is one of many ways to its pages.
            assert_eq!(tally.passing, 0);
            let mut found = reasons(&crawled);
            found.retain(|(path, found)| path == "/feed" && *found != Reason::SeedDocument);
            let found: Vec<Reason> = found.into_iter().map(|(_, found)| found).collect();
            let expected = (!late.is_empty()).then_some(reason);
            assert_eq!(found, Vec::from_iter(expected), "{problem:?} {late}");
        }
    }
}

/// The data on a page.
fn page(crawled: &Crawled, path: &str) -> PageRecord {
    visits(crawled).remove(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_page_read_as_document_keeps_its_source() {
    async fn check(robots: &str, start: &str, found: Option<(Via, &str)>, is_orphan: bool) {
        let dated = format!(
            "<urlset><url><loc>{}</loc><lastmod>2026-01-02</lastmod></url></urlset>",
            url("/map")
        );
        let bench = discovering(site([
            ("/", FixturePage::html(start)),
            ("/robots.txt", FixturePage::text(robots)),
            (
                "/map",
                FixturePage::html("<!doctype html><title>Map</title>"),
            ),
            ("/late", FixturePage::linking(["/map"])),
            ("/sitemap.xml", FixturePage::text(&dated)),
        ]));
        let crawled = bench.run().await;
        let map = page(&crawled, "/map");
        assert_eq!(map.reason, Reason::Listed, "{robots}");
        if let Some((via, found_on)) = found {
            assert_eq!(map.via, via, "{robots}");
            assert_eq!(map.found_on.unwrap().as_str(), url(found_on), "{robots}");
        }
        assert_eq!(orphans(&crawled).contains("/map"), is_orphan, "{robots}");
        let date = map.sitemap_lastmod.map(|date| date.lastmod);
        assert_eq!(date.as_deref(), Some("2026-01-02"), "{robots}");
        assert_eq!(asked(&bench, "/map"), 2, "as a sitemap and as a page");
    }
    // The sitemap names the page after, or before, it was asked for as a sitemap.
    let (first, last) = (
        "Sitemap: /map\nSitemap: /sitemap.xml",
        "Sitemap: /sitemap.xml\nSitemap: /map",
    );
    for robots in [first, last] {
        let found = Some((Via::Sitemap, "/sitemap.xml"));
        check(robots, "<p>", found, true).await;
    }
    // A page links to it, before or after the sitemap has been read: that is a matter of time.
    check(last, LINKS_LATE, None, false).await;
    check(first, "<a href=/map>map</a>", Some((Via::Link, "/")), false).await;
}

#[tokio::test(start_paused = true)]
async fn a_listed_document_is_requested_once() {
    let mut bench = discovering(site([
        ("/", FixturePage::linking(["/sitemap.xml"])),
        ("/sitemap.xml", urlset(["/a".to_owned()])),
        ("/a", FixturePage::linking([])),
    ]));
    let list = format!("{}\n{}\n", url("/sitemap.xml"), url("/a"));
    bench.lists = vec![SeedList::copy("list", list.as_bytes()).unwrap()];
    let crawled = bench.run().await;
    assert_eq!(asked(&bench, "/sitemap.xml"), 1);
    assert_eq!(known_and_listed(&crawled), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_unread_linked_feed_has_a_reason() {
    let disallowing = "User-agent: *\nDisallow: /feed";
    for (robots, feeds, reason, requests) in [
        (disallowing, true, Reason::RobotsDisallowed, 0),
        ("", false, Reason::NotAPage, 1),
    ] {
        let mut bench = discovering(site([
            ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_FEED}"))),
            ("/robots.txt", FixturePage::text(robots)),
            ("/feed", feed(&["/from-feed"])),
        ]));
        bench.config.discover.feeds = feeds;
        let crawled = bench.run().await;
        assert_eq!(page(&crawled, "/feed").reason, reason);
        assert_eq!(asked(&bench, "/feed"), requests, "{reason:?}");
    }
}

fn sent_as(content_type: &str, mut page: FixturePage) -> FixturePage {
    page.headers = vec![("content-type".into(), content_type.into())];
    page
}

#[tokio::test(start_paused = true)]
async fn a_document_sent_as_html_is_not_listed() {
    let bench = discovering(site([
        ("/", FixturePage::linking(["/feed", "/map", "/page"])),
        ("/feed", sent_as("text/html", feed(&["/from-feed"]))),
        (
            "/map",
            sent_as("text/html; charset=utf-8", urlset(["/from-map".to_owned()])),
        ),
        (
            "/page",
            FixturePage::html(
                "<!doctype html><title>RSS</title><rss version='2.0'><channel></channel></rss>",
            ),
        ),
        ("/from-feed", FixturePage::linking([])),
        ("/from-map", FixturePage::linking([])),
    ]));
    let crawled = bench.run().await;
    assert_eq!(
        with_reason(&crawled, Reason::Listed),
        ["/", "/from-feed", "/page"]
    );
    assert_eq!(with_reason(&crawled, Reason::NotAPage), ["/map"]);
    assert_eq!(asked(&bench, "/feed"), 1);
    // Feeds that are not wanted are not listed either.
    let mut bench = discovering(bench.site.clone());
    bench.config.discover.feeds = false;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/page"]);
}

#[tokio::test(start_paused = true)]
async fn a_feed_requested_as_a_page_is_read() {
    let news = feed(&["/from-feed"]);
    let site = site([
        ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
        ("/late", FixturePage::html(format!("<p>late{LINKS_FEED}"))),
        ("/from-feed", FixturePage::linking([])),
    ])
    .scripted(move |asked, earlier| {
        let answer = || {
            if earlier == 0 {
                FixturePage::status(503)
            } else {
                news.clone()
            }
        };
        (asked == url("/feed")).then(answer)
    });
    let mut bench = discovering(site);
    bench.config.limits.max_tries = 1;
    let crawled = bench.run().await;
    assert_eq!(known_and_listed(&crawled), (3, 3));
    let tally = Tally::read(&crawled.store).unwrap();
    assert_eq!((tally.read, tally.with_problems), (1, 0));
    assert_eq!(asked(&bench, "/feed"), 2);
}

#[tokio::test(start_paused = true)]
async fn linked_feeds_that_are_left_out_are_reported() {
    let paths: Vec<String> = (0..120).map(|number| format!("/feed/{number}")).collect();
    let news = feed(&["/from-feed"]);
    let site = site([
        ("/", linking(&paths)),
        ("/from-feed", FixturePage::linking([])),
    ])
    .scripted(move |asked, _| asked.contains("/feed/").then(|| news.clone()));
    let crawled = discovering(site).run().await;
    assert_noted(&crawled, "reads: 20 more");
    assert_eq!(with_reason(&crawled, Reason::NotAPage).len(), 20);
    let read = Tally::read(&crawled.store).unwrap().read;
    assert_eq!(usize::try_from(read).unwrap(), MAX_FEEDS);
}

#[tokio::test(start_paused = true)]
async fn the_start_url_may_be_a_document() {
    let sitemap = || urlset(["/a".to_owned()]);
    let list = FixturePage::text(&format!("{}\n", url("/a")));
    for (start, page, via) in [
        (
            "/map.xml",
            sent_as("application/xml", sitemap()),
            Via::Sitemap,
        ),
        ("/page.xml", sent_as("text/html", sitemap()), Via::Sitemap),
        ("/feed", feed(&["/a"]), Via::Feed),
        ("/news", sent_as("text/html", feed(&["/a"])), Via::Feed),
        ("/list", sent_as("text/plain", list), Via::Sitemap),
    ] {
        let bench = discovering(site([
            (start, page),
            ("/a", FixturePage::linking(["/b"])),
            ("/b", FixturePage::linking([])),
        ]));
        let crawled = bench.run_from(start).await;
        assert_eq!(known_and_listed(&crawled), (2, 2), "{start}");
        assert_eq!(asked(&bench, start), 1, "{start}");
        let found = UrlKey::from_normalised(&url("/a")).unwrap();
        assert_eq!(crawled.store.visit(&found).unwrap().record.via, via);
    }
}

#[tokio::test(start_paused = true)]
async fn a_linked_document_that_is_gone_is_broken() {
    let bench = discovering(site([("/", FixturePage::linking(["/sitemap.xml"]))]));
    let crawled = bench.run().await;
    assert_eq!(page(&crawled, "/sitemap.xml").reason, Reason::Gone);
    // A page rules out nothing: it was asked for as a sitemap first.
    assert_eq!(asked(&bench, "/sitemap.xml"), 2);
}

#[tokio::test(start_paused = true)]
async fn linked_documents_obey_max_pages() {
    let paths: Vec<String> = (0..40).map(|number| format!("/p/{number}")).collect();
    let mut sitemaps: String = paths
        .iter()
        .flat_map(|path| ["Sitemap: ", path, "\n"])
        .collect();
    sitemaps.push_str("Sitemap: /sitemap.xml");
    let mut pages = vec![
        ("/".to_owned(), linking(&paths)),
        ("/robots.txt".to_owned(), FixturePage::text(&sitemaps)),
    ];
    pages.extend(paths.iter().map(|path| (path.clone(), linking(&[]))));
    let mut bench = discovering(site(pages));
    bench.config.limits.max_pages = 8;
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, crawled.fetched), (Ending::LimitReached, 8));
    // Documents are read beside the pages, not ahead of them.
    assert!(bench.pages().len() < 30, "{:?}", bench.pages());
}

#[tokio::test(start_paused = true)]
async fn a_page_request_serves_for_its_document() {
    let list = sent_as("text/plain", FixturePage::text(&format!("{}\n", url("/a"))));
    let maps = urlset(["/a".to_owned()]);
    for (document, lines) in [(list, 2), (sent_as("text/html", maps), 4)] {
        // The first documents are read beside the pages, which come to the last one before.
        let mut robots = String::new();
        let mut pages = vec![("/".to_owned(), FixturePage::linking(["/last", "/b", "/c"]))];
        for number in 1..lines {
            let path = format!("/map-{number}.xml");
            robots.extend(["Sitemap: ", &path, "\n"]);
            pages.push((path, urlset(["/b".to_owned()])));
        }
        pages.push((
            "/robots.txt".to_owned(),
            FixturePage::text(&(robots + "Sitemap: /last")),
        ));
        pages.push(("/last".to_owned(), document));
        for path in ["/a", "/b", "/c"] {
            pages.push((path.to_owned(), linking(&[])));
        }
        let bench = discovering(site(pages));
        let crawled = bench.run().await;
        assert_eq!(page(&crawled, "/last").reason, Reason::SeedDocument);
        assert_eq!(asked(&bench, "/last"), 1, "{lines}");
        let listed = with_reason(&crawled, Reason::Listed);
        assert_eq!(listed, ["/", "/a", "/b", "/c"], "{lines}");
    }
}
