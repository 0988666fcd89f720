//! Bodies, redirects and links without end. Every crawl ends, with bounded results.

use serde_json::Value;

use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::{assert_adds_up, number},
};

fn crawl(site: &Site, settings: &str) -> (Bench, Value) {
    let bench = Bench::new();
    let summary = crawl_again(&bench, site, settings, 0);
    (bench, summary)
}

/// The summary of a crawl with these settings, which ends with `code`.
fn crawl_again(bench: &Bench, site: &Site, settings: &str, code: i32) -> Value {
    let config = bench.settings(settings);
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let summary = ran.expect_code(code).summary();
    assert_adds_up(&summary);
    summary
}

fn link(target: &str) -> String {
    format!("<a href=\"{target}\">a link</a>\n")
}

#[test]
fn robots_txt_that_redirects_without_end_allows_all() {
    let site = Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(["/page"]),
        "/page" => Response::linking(["/"]),
        robots => Response::redirect(301, &format!("{robots}x")),
    });
    crawl(&site, "");
    let robots = site
        .log()
        .iter()
        .filter(|seen| seen.target.starts_with("/robots"))
        .count();
    // Five redirects are followed (RFC 9309 section 2.3.1.2).
    assert_eq!(robots, 6);
}

/// Each page has a hundred links of 1,800 bytes to pages of the same kind.
fn site_of_long_links() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        path => {
            // The name of a page is the way that leads there, cut to a limited length.
            let way = path
                .trim_start_matches('/')
                .split('/')
                .next()
                .unwrap_or_default();
            let filler = "f".repeat(1_700);
            let links = (0..100).map(|number| link(&format!("/{way}.{number}/{filler}")));
            Response::html(links.collect::<String>())
        }
    })
}

#[test]
fn bounds_last_and_remove_no_published_page() {
    let site = site_of_long_links();
    let bench = Bench::new();
    let bounds = "limits.max_pages = 20\nlimits.max_known_urls = 40";
    let first = crawl_again(&bench, &site, bounds, 3);
    let second = crawl_again(&bench, &site, bounds, 3);
    for (summary, queued) in [(&first, 20), (&second, 0)] {
        let found = (number(summary, "known"), number(summary, "queued"));
        assert_eq!(found, (40, queued));
    }
    assert_eq!(number(&second, "listed"), 40);
    assert!(number(&second, "not_recorded") > number(&first, "not_recorded"));
    let published = bench.published().urls().len();
    // A smaller bound in another crawl.
    let smaller = "limits.max_pages = 100\nlimits.max_known_urls = 5";
    let third = crawl_again(&bench, &site, smaller, 3);
    assert_eq!(number(&third, "listed"), 40, "{third}");
    assert_eq!(bench.published().urls().len(), published);
}
