//! Sites that go down while they are crawled, and a damaged file of the `Retry-After` times.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use crawler::page::Reason;

use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::reasons,
};

/// A host that fails six times in a row is down. Requests that are sent at the same time fail together.
const IMPATIENT: &str = "testing.failures_before_pause = 3\ntesting.pause = \"10ms\"\ntesting.max_pause = \"10ms\"\n\
                         testing.max_pauses = 1\nlimits.max_tries = 1\n";

/// Pages that answer while the others are down.
const UP: usize = 10;

/// A site of 40 pages that are down, or not.
fn start() -> (Site, Arc<AtomicBool>) {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let site = Site::allowing(move |request| {
        let Some(number) = request.target.strip_prefix("/page-") else {
            let pages = (0..40).map(|number| format!("/page-{number}"));
            return Response::linking(pages);
        };
        let is_one_of_those = number.parse::<usize>().is_ok_and(|number| number >= UP);
        if is_one_of_those && down.load(SeqCst) {
            Response::status(503)
        } else {
            Response::html(format!("<!doctype html><title>{number}</title><p>page"))
        }
    });
    (site, is_down)
}

#[test]
fn pages_failed_in_an_outage_are_requested_again() {
    let (site, is_down) = start();
    for is_known in [false, true] {
        let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
        let settings = bench.settings(IMPATIENT);
        let options = ["--config", settings.as_str()];
        is_down.store(false, SeqCst);
        if is_known {
            bench.crawl(&site.url("/"), &options).expect_code(0);
        }
        is_down.store(true, SeqCst);
        let ran = bench.crawl(&site.url("/"), &options).expect_code(4);
        assert_eq!(ran.summary()["outcome"], "refused", "{}", ran.stderr);
        let found = reasons(&bench);
        let failed = found.values().filter(|it| **it == Reason::ServerError);
        assert!(failed.count() >= 6, "{found:?}");
        is_down.store(false, SeqCst);
        site.clear_log();
        bench.crawl(&site.url("/"), &options).expect_code(0);
        let found = reasons(&bench);
        assert_eq!(found.len(), 41);
        let mut all = found.values();
        assert!(all.all(|it| *it == Reason::Listed), "{found:?}");
        assert_eq!(bench.published().urls().len(), 41);
        let asked = site.pages();
        for number in UP..40 {
            let path = format!("/page-{number}");
            let times = asked.iter().filter(|asked| **asked == path).count();
            assert_eq!(times, 1, "{path}");
        }
    }
}

#[test]
fn a_damaged_retry_after_file_delays_all_requests() {
    let site = Site::of_two_pages();
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    let settings = bench.settings("testing.pause = \"200ms\"\n");
    let options = ["--config", settings.as_str()];
    fs::create_dir_all(bench.state()).expect("created");
    fs::write(bench.state().join("retry-after"), "\0\0\0").expect("written");
    let began = Instant::now();
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert!(site.log()[0].begun >= began + Duration::from_millis(200));
    let renamed = "retry-after.corrupt-";
    assert!(ran.stderr.contains(renamed), "{}", ran.stderr);
    // The damage is reported once.
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert!(!ran.stderr.contains("corrupt"), "{}", ran.stderr);
}
