//! One small site, from the command line to the published files.

use crate::support::{
    program::Bench,
    site::{Response, Site},
};

#[test]
fn a_small_site_is_crawled_and_published() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\n"),
        "/" => Response::linking(["/a.html", "/b.html", "/private/c.html"]),
        "/a.html" | "/b.html" => {
            Response::linking(["/"]).with("Last-Modified", "Sun, 01 Mar 2020 10:00:00 GMT")
        }
        _ => Response::status(404),
    });
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    let summary = ran.summary();
    assert_eq!(summary["listed"], 3, "{summary}");
    assert_eq!(summary["excluded"]["robots-disallowed"], 1, "{summary}");
    let entries = bench.published().entries();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[&site.url("/")], None);
    assert_eq!(
        entries[&site.url("/a.html")].as_deref(),
        Some("2020-03-01T10:00:00Z")
    );
}
