//! `lastmod` comes from evidence or is absent: the headers of a site, when they are used, and the sources of dates.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use crate::support::{
    program::Bench,
    site::{Response, Site},
};

/// The time in a page's `Last-Modified`; `None`: that of the request.
type Modified = Option<SystemTime>;

/// An instant some days ago.
fn days_ago(days: u64) -> SystemTime {
    // Not on a full day, so that no part of the value could be lost unnoticed.
    SystemTime::now() - Duration::from_secs(days * 86_400 + 3_723)
}

/// An instant as a sitemap writes it.
fn as_lastmod(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let seconds = i64::try_from(seconds).expect("a time of today");
    jiff::Timestamp::from_second(seconds)
        .expect("a time of today")
        .to_string()
}

/// A site on which the start page, which has no date, links to all pages.
fn start(pages: BTreeMap<String, Modified>) -> Site {
    Site::start(move |request| {
        if request.target == "/" {
            return Response::linking(pages.keys());
        }
        let Some(modified) = pages.get(&request.target) else {
            return Response::status(404);
        };
        let time = modified.unwrap_or_else(SystemTime::now);
        Response::html(format!("<title>{}</title>", request.target))
            .with("Last-Modified", &httpdate::fmt_http_date(time))
    })
}

type Dates = BTreeMap<String, Option<String>>;

/// The published dates by path, without the start page (which has no date).
#[track_caller]
fn published(bench: &Bench, site: &Site) -> Dates {
    let mut dates = bench.published().dates(&site.origin());
    assert_eq!(dates.remove("/"), Some(None), "the start page has no date");
    dates
}

/// Crawls the pages once and compares every entry; returns the printed text.
#[track_caller]
fn check(pages: BTreeMap<String, Modified>, expected: &Dates) -> String {
    let site = start(pages);
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(&published(&bench, &site), expected);
    ran.stderr
}

/// Directories by the number of their pages that are generated on request: with three in ten no date is used, with one in ten
/// the other dates are.
#[test]
fn headers_are_trusted_by_directory() {
    let old = days_ago(30);
    let mut pages = BTreeMap::new();
    let mut expected = Dates::new();
    for (directory, count, generated) in [("docs", 40, 0), ("news", 10, 3), ("blog", 10, 1)] {
        for number in 0..count {
            let path = format!("/{directory}/{number}");
            let is_file = number >= generated;
            let is_dated = is_file && directory != "news";
            pages.insert(path.clone(), is_file.then_some(old));
            expected.insert(path, is_dated.then(|| as_lastmod(old)));
        }
    }
    check(pages, &expected);
}

#[test]
fn the_summary_counts_where_dates_came_from() {
    let site = Site::start(|request| match &*request.target {
        "/" => Response::linking(["/data", "/meta", "/header", "/map", "/none", "/r/a", "/r/b"]),
        "/robots.txt" => Response::text("Sitemap: /cms.xml\n"),
        "/cms.xml" => Response::text(format!(
            "<urlset><url><loc>http://{}/map</loc><lastmod>2026-01-03</lastmod></url></urlset>",
            request.headers["host"]
        )),
        "/data" => Response::html(
            "<script type=application/ld+json>{\"@type\":\"Article\",\"dateModified\":\"2026-01-01\"}</script>a",
        ),
        "/meta" => Response::html("<meta property=article:modified_time content=2026-01-02>b"),
        "/header" => Response::html("c").with("Last-Modified", "Sun, 04 Jan 2026 10:00:00 GMT"),
        "/map" | "/none" => Response::html("d"),
        "/r/a" => Response::html("<time class=updated datetime=2021-05-06>e</time>")
            .with("Last-Modified", "Sat, 02 Nov 2019 08:49:37 GMT"),
        // The header is the next best evidence.
        "/r/b" => Response::html("<time class=updated datetime=2999-01-01>f</time>")
            .with("Last-Modified", "Sat, 02 Nov 2019 08:49:37 GMT"),
        _ => Response::status(404),
    });
    let bench = Bench::new().discovering();
    let config = bench.settings(
        "[[page_rule]]\npages = \"/r/*\"\nselector = \"time.updated\"\naction = \"lastmod\"\nattribute = \"datetime\"\n",
    );
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let summary = ran.expect_code(0).summary();
    let expected = [
        ("/", None),
        ("/data", Some("2026-01-01")),
        ("/header", Some("2026-01-04T10:00:00Z")),
        ("/map", Some("2026-01-03")),
        ("/meta", Some("2026-01-02")),
        ("/none", None),
        ("/r/a", Some("2021-05-06")),
        ("/r/b", Some("2019-11-02T08:49:37Z")),
    ];
    let expected = expected.map(|(path, date)| (path.to_owned(), date.map(str::to_owned)));
    assert_eq!(
        bench.published().dates(&site.origin()),
        Dates::from(expected)
    );
    let counts = serde_json::json!({"header": 2, "json-ld": 1, "meta": 1, "rule": 1, "sitemap": 1});
    assert_eq!(summary["lastmod"], counts);
}
