//! 3: a set is published, and is partial.

use std::time::Duration;

use super::{QUICK, assert_outcome, site_of};
use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::number,
};

#[test]
fn failures_limits_and_deferrals_make_a_partial_set() {
    let failing = |answer: Response| {
        Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => Response::linking(["/good", "/bad"]),
            "/bad" => answer.clone(),
            _ => Response::linking(["/"]),
        })
    };
    let bad = [
        Response::status(500),
        Response::status(429),
        Response::dropped(),
        Response {
            announced: Some(5_000),
            ..Response::linking(["/"])
        },
    ];
    for answer in bad {
        let site = failing(answer);
        let bench = Bench::new();
        let config = bench.settings(QUICK);
        let ran = bench
            .crawl(&site.url("/"), &["--config", &config])
            .expect_code(3);
        assert_outcome(&ran, "partial");
        assert_eq!(bench.published().urls(), [site.url("/"), site.url("/good")]);
    }
    // A page that is gone is not a failure.
    let site = failing(Response::status(404));
    Bench::new().crawl(&site.url("/"), &[]).expect_code(0);

    let site = site_of(10);
    let bench = Bench::new();
    let ran = bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(3);
    assert_outcome(&ran, "partial");
    assert_eq!(number(&ran.summary(), "fetched"), 4);
    assert_eq!(number(&ran.summary(), "queued"), 7);
    assert_eq!(bench.published().urls().len(), 4);
    // The same command continues the crawl later.
    bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(3);
    bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(0);
    assert_eq!(bench.published().urls().len(), 11);

    let site = failing(Response::status(503).with("Retry-After", "600"));
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(3);
    assert_outcome(&ran, "partial");
    assert_eq!(number(&ran.summary(), "failed"), 1);
}

#[test]
fn max_time_makes_a_partial_set() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking((0..1_000).map(|number| format!("/page/{number}"))),
        own => Response::linking(["/", own]).after(Duration::from_millis(50)),
    });
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "2"]);
    let ran = bench
        .crawl(&site.url("/"), &["--max-time", "1s"])
        .expect_code(3);
    assert_outcome(&ran, "partial");
    assert!(number(&ran.summary(), "queued") > 0);
}
