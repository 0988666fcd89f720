//! 5: no crawl, because of the start page or robots.txt.

use super::{QUICK, assert_nothing_published, assert_outcome, starting_with};
use crate::support::{
    program::Bench,
    site::{Response, Site},
};

/// Checks that there is no crawl: nothing is published, and stderr has the reason.
#[track_caller]
fn check_no_crawl(url: &str, reason: &str) {
    let bench = Bench::new();
    let config = bench.settings(QUICK);
    let ran = bench.crawl(url, &["--config", &config]).expect_code(5);
    assert_outcome(&ran, "unreachable");
    assert!(
        ran.stderr.contains(reason),
        "expected {reason:?} in {}",
        ran.stderr
    );
    assert_nothing_published(&bench);
}

#[test]
fn unusable_start_page_ends_the_crawl() {
    for (answer, reason) in [
        (Response::status(410), "answered 410"),
        (Response::status(500), "answered 500"),
        (Response::status(204), "answered 204"),
        (Response::dropped(), "closed the connection"),
        (Response::status(302), "without a usable Location"),
    ] {
        let site = starting_with(answer);
        check_no_crawl(&site.url("/"), reason);
    }
    // RFC 6761 section 6.4: this name never resolves.
    check_no_crawl(
        "http://site.invalid/",
        "no address found for site.invalid (DNS)",
    );
    let site = Site::start(|request| match request.target.as_str() {
        "/docs/" => Response::redirect(301, "/new/"),
        _ => Response::linking(["/"]),
    });
    let reason = "redirects out of its own directory";
    check_no_crawl(&site.url("/docs/"), reason);
}

#[test]
fn unreadable_or_forbidding_robots_txt_ends_the_crawl() {
    let with_robots = |answer: Response| {
        Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => answer.clone(),
            _ => Response::linking(["/"]),
        })
    };
    for answer in [
        Response::status(503),
        Response::status(429),
        Response::dropped(),
    ] {
        let site = with_robots(answer);
        check_no_crawl(&site.url("/"), "/robots.txt");
        assert!(site.pages().is_empty());
    }
    let site = with_robots(Response::text("User-agent: *\nDisallow: /\n"));
    check_no_crawl(&site.url("/"), "is disallowed by");
    assert!(site.pages().is_empty());
}
