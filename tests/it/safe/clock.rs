//! Clocks that jump: no date moves without a change, and while the clock of the host shows another day nothing is dated.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use jiff::Timestamp;

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// Crawls with a clock that is off by `ahead`.
#[track_caller]
fn crawl(bench: &Bench, site: &Site, ahead: &str) -> Ran {
    bench.crawl_ahead(ahead, &site.url("/"), &[]).expect_code(0)
}

/// The dates that are published, by path.
fn dates(bench: &Bench, site: &Site) -> BTreeMap<String, Option<String>> {
    bench.published().dates(&site.origin())
}

/// A site with pages that state a date, pages that change with its edition, and pages that stay.
fn serve() -> (Site, impl Fn(usize)) {
    let edition = Arc::new(AtomicUsize::new(1));
    let current = Arc::clone(&edition);
    let site = Site::start(move |request| {
        let edition = current.load(Ordering::SeqCst);
        let page = |text: &str| Response::html(format!("<!doctype html><title>A</title><p>{text}"));
        match request.target.as_str() {
            "/" => Response::linking(["/stated", "/changes", "/stays"]),
            "/stated" => page("Stated.").with("Last-Modified", "Thu, 01 Jan 2026 10:00:00 GMT"),
            "/changes" => page(&format!("Edition {edition} of the text.")),
            "/stays" => page("It stays."),
            _ => Response::status(404),
        }
    });
    (site, move |to| edition.store(to, Ordering::SeqCst))
}

/// Returns whether a date is of this hour.
fn is_of_this_hour(date: Option<&str>) -> bool {
    let date: Option<Timestamp> = date.and_then(|date| date.parse().ok());
    date.is_some_and(|date| Timestamp::now().duration_since(date).abs().as_hours() < 1)
}

/// The warning when the clocks are more than a day apart.
const APART: &str = "the clock of this machine shows";

#[test]
fn a_jumping_clock_moves_no_date() {
    let (site, is) = serve();
    let bench = Bench::new();
    crawl(&bench, &site, "0s");
    for (edition, ahead) in (2..).zip(["10d", "-400d", "-3600d"]) {
        let before = bench.published();
        let ran = crawl(&bench, &site, ahead);
        assert_eq!(bench.published().differences(&before), [""; 0], "{ahead}");
        assert!(ran.stderr.contains(APART), "{}", ran.stderr);
        is(edition);
        crawl(&bench, &site, ahead);
        let known = dates(&bench, &site);
        assert_eq!(known["/stated"].as_deref(), Some("2026-01-01T10:00:00Z"));
        assert_eq!(known["/changes"], None, "{ahead}");
        let ran = crawl(&bench, &site, "0s");
        assert!(!ran.stderr.contains(APART), "{}", ran.stderr);
        let known = dates(&bench, &site);
        assert!(
            is_of_this_hour(known["/changes"].as_deref()),
            "{ahead}: {known:?}"
        );
        assert_eq!(known["/stays"], None);
    }
}

#[test]
fn failing_pages_outlast_a_jump_of_the_clock() {
    // Days of the host's clock.
    let day = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&day);
    let site = Site::start(move |request| {
        let day = current.load(Ordering::SeqCst);
        let date = SystemTime::now() + Duration::from_secs(24 * 60 * 60 * day as u64);
        let response = match request.target.as_str() {
            "/" => Response::linking(["/fails", "/gone"]),
            "/fails" if day > 0 => Response::status(503),
            "/gone" if day == 2 => Response::status(404),
            "/fails" | "/gone" => Response::html(format!("<title>{}</title>", request.target)),
            _ => Response::status(404),
        };
        Response {
            has_date: false,
            ..response.with("Date", &httpdate::fmt_http_date(date))
        }
    });
    let bench = Bench::new();
    let crawl_on = |host: usize, ours: &str, code| {
        day.store(host, Ordering::SeqCst);
        let config = bench.settings("testing.pause = \"1ms\"\ntesting.retry_delays = [\"0s\"]\n");
        bench
            .crawl_ahead(ours, &site.url("/"), &["--config", &config])
            .expect_code(code);
        bench.published().urls().len()
    };
    assert_eq!(crawl_on(0, "0d", 0), 3);
    for (host, ours) in [(1, "1d"), (2, "400d"), (2, "400d"), (2, "2d")] {
        assert_eq!(crawl_on(host, ours, 3), 3, "{ours}");
    }
    // Both clocks go on.
    assert_eq!(crawl_on(40, "40d", 3), 2);
}

#[test]
fn a_first_set_under_wrong_clocks_is_undated() {
    let (site, _) = serve();
    let bench = Bench::new();
    crawl(&bench, &site, "-3600d");
    for file in bench.published().files.values() {
        assert!(!file.xml.contains("<lastmod>"), "{}", file.xml);
    }
    crawl(&bench, &site, "0s");
    let dates = dates(&bench, &site);
    assert_eq!(dates["/stated"].as_deref(), Some("2026-01-01T10:00:00Z"));
}
