//! 3: a set is published, and is partial.

use std::time::Duration;

use super::assert_outcome;
use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::number,
};

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
