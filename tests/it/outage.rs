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
fn pages_that_failed_in_an_outage_are_requested_again_after_it() {
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
        let failed = found
            .values()
            .filter(|reason| **reason == Reason::ServerError)
            .count();
        assert!(failed >= 6, "{found:?}");
        is_down.store(false, SeqCst);
        site.clear_log();
        bench.crawl(&site.url("/"), &options).expect_code(0);
        let found = reasons(&bench);
        assert_eq!(found.len(), 41);
        assert!(
            found.values().all(|reason| *reason == Reason::Listed),
            "{found:?}"
        );
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
fn a_damaged_file_of_waits_is_renamed_and_all_hosts_are_left_alone_for_a_while() {
    for damaged in ["\0\0\0", "site.example\tsoon\n"] {
        let site = Site::of_two_pages();
        let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
        let settings = bench.settings("testing.pause = \"200ms\"\n");
        let file = bench.state().join("retry-after");
        fs::create_dir_all(bench.state()).expect("created");
        fs::write(&file, damaged).expect("written");
        let began = Instant::now();
        let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
        let ran = ran.expect_code(0);
        let first = site.log()[0].begun;
        assert!(first >= began + Duration::from_millis(200));
        assert!(
            ran.stderr.contains("retry-after.corrupt-"),
            "{}",
            ran.stderr
        );
        let aside = fs::read_dir(bench.state()).expect("there");
        let aside = aside
            .map(|entry| entry.expect("read").path())
            .find(|path| path.to_string_lossy().contains("retry-after.corrupt-"));
        let kept = fs::read(aside.expect("it is kept")).expect("read");
        assert_eq!(kept, damaged.as_bytes());
        // It is reported once.
        let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
        let ran = ran.expect_code(0);
        assert!(!ran.stderr.contains("corrupt"), "{}", ran.stderr);
    }
}
