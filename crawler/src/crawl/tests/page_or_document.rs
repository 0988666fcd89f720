//! Pages and documents: feeds that pages link to, pages that others call feeds, documents that are
//! sent as pages or typed as the start URL. Each is asked for once, in whatever order that is found out.

use super::{
    random,
    seeding::{asked, discovering, orphans, problems, urlset},
    *,
};
use crate::{
    page::Via,
    seeds::{SeedProblem, Tally},
};

/// 150 pages that each call a page a feed, to which only a page after it links.
fn pages_called_feeds() -> FixtureSite {
    const PAGES: usize = 150;
    let start: Vec<String> = (0..PAGES).map(|number| format!("/p/{number}")).collect();
    let mut pages = vec![(
        "/".to_owned(),
        FixturePage::linking(start.iter().map(String::as_str)),
    )];
    for number in 0..PAGES {
        let calls = format!(
            "<link rel=alternate type=application/rss+xml href=/t/{number}><a href=/q/{number}>on</a>"
        );
        let target = format!("/t/{number}");
        pages.push((format!("/p/{number}"), FixturePage::html(calls)));
        pages.push((format!("/q/{number}"), FixturePage::linking([&*target])));
        pages.push((target, FixturePage::html(format!("<p>page {number}"))));
    }
    site(
        pages
            .iter()
            .map(|(path, page)| (path.as_str(), page.clone())),
    )
}

#[tokio::test(start_paused = true)]
async fn a_link_to_what_was_left_out_as_a_feed_leads_to_a_page() {
    let bench = discovering(pages_called_feeds());
    let whole = bench.run().await;
    assert_eq!(with_reason(&whole, Reason::Listed).len(), 1 + 3 * 150);
    let told = |notice: &String| notice.contains("50 more feeds");
    assert!(texts(&whole).iter().any(told), "{:?}", texts(&whole));
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
async fn a_feed_is_asked_for_once_whoever_links_to_it() {
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
        let bench = discovering(site([
            ("/", FixturePage::html(start.as_str())),
            ("/late", FixturePage::html(format!("<p>late{late}"))),
            ("/feed", feed(&["/from-feed"])),
            ("/from-feed", FixturePage::linking(["/feed"])),
        ]));
        let crawled = bench.run().await;
        assert_eq!(asked(&bench, "/feed"), 1, "{start} {late}");
        assert_eq!(known_and_listed(&crawled), (3, 3), "{start} {late}");
        assert_eq!(Tally::read(&crawled.store).unwrap().read, 1);
        assert_eq!(visits(&crawled)["/from-feed"].via, Via::Feed);
        assert_eq!(orphans(&crawled), BTreeSet::from(["/from-feed".to_owned()]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_named_as_a_feed_is_a_page_when_something_links_to_it() {
    let page = || FixturePage::html("<!doctype html><title>News</title><p>All of it");
    for (late, expected) in [(LINKS_FEED, 3), ("", 2)] {
        let bench = discovering(site([
            ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
            // It comes after the feed was read, or before: the outcome is the same.
            ("/late", FixturePage::html(format!("<p>late{late}"))),
            ("/feed", page()),
        ]));
        let crawled = bench.run().await;
        assert_eq!(known_and_listed(&crawled), (expected, expected));
        let problems = problems(&crawled);
        let not_a_feed = (url("/feed"), Some(SeedProblem::NotASitemap));
        assert!(problems.contains(&not_a_feed), "{problems:?}");
    }
}

/// The data on a page.
fn page(crawled: &Crawled, path: &str) -> PageRecord {
    visits(crawled).remove(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_taken_for_a_document_keeps_how_it_was_found() {
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
async fn a_list_that_names_a_document_is_no_reason_to_ask_for_it_as_a_page() {
    let mut bench = discovering(site([
        ("/", FixturePage::linking([])),
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
async fn a_link_to_a_feed_that_does_not_answer_is_a_page_that_failed() {
    for (fault, reason) in [
        (FixturePage::status(503), Reason::ServerError),
        (
            FixturePage::failing(FetchErrorKind::Timeout),
            Reason::NetworkError,
        ),
    ] {
        for late in [LINKS_FEED, ""] {
            let mut bench = discovering(site([
                ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
                ("/late", FixturePage::html(format!("<p>late{late}"))),
                ("/feed", fault.clone()),
            ]));
            bench.config.limits.max_tries = 1;
            let crawled = bench.run().await;
            let tally = Tally::read(&crawled.store).unwrap();
            assert_eq!((tally.with_problems, tally.passing), (1, 1));
            let failed = visits(&crawled)
                .into_values()
                .filter(|visit| visit.reason.state() == State::Failed);
            assert_eq!(failed.count(), usize::from(!late.is_empty()), "{late}");
            if !late.is_empty() {
                assert_eq!(page(&crawled, "/feed").reason, reason);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_to_a_document_that_may_not_be_asked_for_has_a_state() {
    let bench = discovering(site([
        ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_FEED}"))),
        (
            "/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /feed"),
        ),
    ]));
    let crawled = bench.run().await;
    assert_eq!(page(&crawled, "/feed").reason, Reason::RobotsDisallowed);
    assert_eq!(asked(&bench, "/feed"), 0);
}

#[tokio::test(start_paused = true)]
async fn feeds_are_pages_like_any_other_when_they_are_not_wanted() {
    let mut bench = discovering(site([
        ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_FEED}"))),
        ("/feed", feed(&["/from-feed"])),
    ]));
    bench.config.discover.feeds = false;
    let crawled = bench.run().await;
    assert_eq!(asked(&bench, "/feed"), 1);
    assert_eq!(with_reason(&crawled, Reason::NotAPage).len(), 1);
}

fn sent_as(content_type: &str, mut page: FixturePage) -> FixturePage {
    page.headers = vec![("content-type".into(), content_type.into())];
    page
}

#[tokio::test(start_paused = true)]
async fn a_document_that_is_sent_as_a_page_is_no_page() {
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
async fn a_feed_that_answers_when_it_is_asked_for_as_a_page_is_read_after_all() {
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
async fn feeds_that_are_left_out_are_reported_also_when_links_lead_to_them() {
    let paths: Vec<String> = (0..120).map(|number| format!("/feed/{number}")).collect();
    let news = feed(&["/from-feed"]);
    let site = site([
        ("/", FixturePage::linking(paths.iter().map(String::as_str))),
        ("/from-feed", FixturePage::linking([])),
    ])
    .scripted(move |asked, _| asked.contains("/feed/").then(|| news.clone()));
    let bench = discovering(site);
    let crawled = bench.run().await;
    let told = |notice: &String| notice.contains("20 more feeds");
    assert!(texts(&crawled).iter().any(told), "{:?}", texts(&crawled));
    assert_eq!(with_reason(&crawled, Reason::NotAPage).len(), 20);
}

#[tokio::test(start_paused = true)]
async fn the_start_url_may_be_a_sitemap_or_a_feed() {
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
        let crawled = bench
            .crawl(&url(start), &Shutdown::default())
            .await
            .unwrap();
        assert_eq!(known_and_listed(&crawled), (2, 2), "{start}");
        assert_eq!(asked(&bench, start), 1, "{start}");
        let found = UrlKey::from_normalised(&url("/a")).unwrap();
        assert_eq!(
            crawled.store.visit(&found).unwrap().unwrap().record.via,
            via
        );
    }
}

#[tokio::test(start_paused = true)]
async fn other_rdf_is_no_feed() {
    let mut rdf = FixturePage::text(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><x>1</x></rdf:RDF>",
    );
    rdf.headers = vec![("content-type".into(), "application/rdf+xml".into())];
    let bench = discovering(site([("/", FixturePage::linking(["/rdf"])), ("/rdf", rdf)]));
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::NotAPage).len(), 1);
}
