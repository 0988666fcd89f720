//! 5: no crawl, because of the start page or robots.txt.

use std::net::TcpListener;

use super::{QUICK, assert_nothing_published, assert_outcome, starting_with};
use crate::support::{
    program::Bench,
    site::{Response, Site},
};

/// Checks that there is no crawl: nothing is published, and stderr has the reason.
#[track_caller]
fn check_no_crawl(url: &str, options: &[&str], reason: &str) {
    let bench = Bench::new();
    let config = bench.settings(QUICK);
    let all = [&["--config", &config], options].concat();
    let ran = bench.crawl(url, &all).expect_code(5);
    assert_outcome(&ran, "unreachable");
    assert!(
        ran.stderr.contains(reason),
        "expected {reason:?} in {}",
        ran.stderr
    );
    assert_nothing_published(&bench);
}

#[test]
fn a_start_page_that_does_not_answer_200_ends_the_crawl() {
    for status in [404, 410, 403, 500, 503, 204] {
        let site = starting_with(Response::status(status));
        check_no_crawl(&site.url("/"), &[], &format!("answered {status}"));
    }
    let site = starting_with(Response::dropped());
    check_no_crawl(&site.url("/"), &[], "closed the connection");
    let site = starting_with(Response::redirect(302, "/"));
    check_no_crawl(&site.url("/"), &[], "redirects in a loop");
    let site = starting_with(Response::status(302));
    check_no_crawl(&site.url("/"), &[], "without a usable Location");
}

#[test]
fn a_host_that_cannot_be_reached_ends_the_crawl() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    check_no_crawl(&format!("http://{address}/"), &[], "connection refused by");
    // RFC 6761 section 6.4: this name never resolves.
    check_no_crawl("http://site.invalid/", &[], "cannot resolve site.invalid");
}

#[test]
fn a_start_page_that_leads_elsewhere_ends_the_crawl() {
    let site = starting_with(Response::redirect(301, "http://other.invalid/"));
    check_no_crawl(
        &site.url("/"),
        &[],
        "redirects to another host: http://other.invalid/",
    );
    let site = Site::start(|request| match request.target.as_str() {
        "/docs/" => Response::redirect(301, "/new/"),
        _ => Response::linking(["/"]),
    });
    check_no_crawl(
        &site.url("/docs/"),
        &[],
        "redirects out of its own directory",
    );
}

#[test]
fn a_robots_txt_that_cannot_be_read_or_forbids_the_start_ends_the_crawl() {
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
        check_no_crawl(&site.url("/"), &[], "/robots.txt");
        assert!(site.pages().is_empty());
    }
    let site = with_robots(Response::text("User-agent: *\nDisallow: /\n"));
    check_no_crawl(&site.url("/"), &[], "is disallowed by");
    assert!(site.pages().is_empty());
}
