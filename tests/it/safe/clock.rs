//! Clocks that jump: no date moves without a change, and a clock that is not set dates nothing.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// Crawls with a clock that is off by `ahead`.
#[track_caller]
fn crawl(bench: &Bench, site: &Site, ahead: &str) -> Ran {
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_CLOCK_AHEAD", ahead);
    Ran::of(command).expect_code(0)
}

/// The dates that are published, by path.
fn dates(bench: &Bench, site: &Site) -> BTreeMap<String, Option<String>> {
    let entries = bench.published().entries().into_iter();
    entries
        .map(|(url, lastmod)| (url.replace(&site.origin(), ""), lastmod))
        .collect()
}

#[test]
fn a_clock_that_jumps_moves_no_date_and_one_that_is_not_set_makes_none() {
    static EDITION: AtomicUsize = AtomicUsize::new(1);
    let site = Site::start(|request| {
        let edition = EDITION.load(Ordering::SeqCst);
        let page = |text: &str| Response::html(format!("<!doctype html><title>A</title><p>{text}"));
        match request.target.as_str() {
            "/" => Response::linking(["/stated", "/changes", "/stays"]),
            "/stated" => page("Stated.").with("Last-Modified", "Thu, 01 Jan 2026 10:00:00 GMT"),
            "/changes" => page(&format!("Edition {edition} of the text.")),
            "/stays" => page("It stays."),
            _ => Response::status(404),
        }
    });
    let bench = Bench::new();
    crawl(&bench, &site, "0s");
    EDITION.store(2, Ordering::SeqCst);
    // Ten days fast: the change has a date that is still to come.
    crawl(&bench, &site, "10d");
    let known = dates(&bench, &site);
    assert_eq!(known["/stated"].as_deref(), Some("2026-01-01T10:00:00Z"));
    assert!(known["/changes"].is_some());
    assert_eq!(known["/stays"], None);
    // What is still to come by the clocks of both the machine and the host goes; no other date does.
    crawl(&bench, &site, "0s");
    let right = dates(&bench, &site);
    assert_eq!(right["/changes"], None);
    assert_eq!(right["/stated"], known["/stated"]);
    let before = bench.published();
    for ahead in ["-400d", "-3600d", "0s"] {
        let ran = crawl(&bench, &site, ahead);
        assert_eq!(bench.published().differences(&before), [""; 0], "{ahead}");
        let is_told = ran.stderr.contains("the clock of this machine says 201");
        assert_eq!(is_told, ahead == "-3600d", "{}", ran.stderr);
    }

    // A change that is seen by a clock that is not set has no date, until it is.
    EDITION.store(3, Ordering::SeqCst);
    crawl(&bench, &site, "-3600d");
    let unset = dates(&bench, &site);
    assert_eq!(unset["/changes"], None);
    assert_eq!(unset["/stated"], known["/stated"]);
    crawl(&bench, &site, "0s");
    let set = dates(&bench, &site);
    assert!(
        set["/changes"].is_some() && set["/changes"] != known["/changes"],
        "{set:?}"
    );
    assert_eq!(set["/stated"], known["/stated"]);
}

#[test]
fn a_first_set_by_a_clock_that_is_not_set_has_no_dates() {
    let site = Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(["/stated"]),
        "/stated" => {
            let page = Response::html("<!doctype html><title>A</title><p>Stated.");
            page.with("Last-Modified", "Thu, 01 Jan 2026 10:00:00 GMT")
        }
        _ => Response::status(404),
    });
    let bench = Bench::new();
    crawl(&bench, &site, "-3600d");
    for file in bench.published().files.values() {
        assert!(!file.xml.contains("<lastmod>"), "{}", file.xml);
    }
    crawl(&bench, &site, "0s");
    let dates = dates(&bench, &site);
    assert_eq!(dates["/stated"].as_deref(), Some("2026-01-01T10:00:00Z"));
}
