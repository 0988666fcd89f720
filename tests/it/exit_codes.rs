//! The end of `arpent crawl` and its effect on the published set: every exit code, by a situation that leads to it.

mod busy;
mod internal;
mod partial;
mod refused;
mod settings;
mod signals;
mod unreachable;

use std::{
    fs::{self},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
    state::assert_adds_up,
};

/// Few tries and short waits.
const QUICK: &str = "limits.max_tries = 2\ntesting.retry_delays = [\"10ms\"]\n";

/// A site of `count` pages and a start page that links to them.
fn site_of(count: usize) -> Site {
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking((0..count).map(|number| format!("/page/{number}"))),
        _ => Response::linking(["/"]),
    })
}

/// A site whose start page is answered like this.
fn starting_with(answer: Response) -> Site {
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => answer.clone(),
        _ => Response::linking(["/"]),
    })
}

#[track_caller]
fn assert_outcome(ran: &Ran, outcome: &str) {
    let summary = ran.summary();
    assert_eq!(summary["outcome"], outcome, "{summary}");
    assert_adds_up(&summary);
}

/// Fails unless nothing is published, now and before.
#[track_caller]
fn assert_nothing_published(bench: &Bench) {
    assert_eq!(
        bench.published().files.keys().collect::<Vec<_>>(),
        [] as [&String; 0]
    );
}

/// A site whose first page waits until the test releases it.
fn waiting_site() -> (Site, Arc<AtomicBool>) {
    let may_answer = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&may_answer);
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/slow"]),
        _ => {
            while !answer.load(Ordering::SeqCst) {
                thread::yield_now();
                thread::park_timeout(Duration::from_millis(5));
            }
            Response::linking(["/"])
        }
    });
    (site, may_answer)
}

/// Waits until `target` was requested.
fn wait_for(site: &Site, target: &str) {
    while !site.log().iter().any(|seen| seen.target == target) {
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn no_request_while_waits_are_unknown() {
    let site = site_of(3);
    let bench = Bench::new();
    let file = bench.state().join("retry-after");
    fs::create_dir_all(bench.state()).expect("created");
    // A folder cannot be read as a file.
    fs::create_dir(&file).expect("created");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("retry-after"), "{}", ran.stderr);
    assert_eq!(site.log().len(), 0);
    assert_nothing_published(&bench);
    fs::remove_dir(&file).expect("removed");
    bench.crawl(&site.url("/"), &[]).expect_code(0);
}

#[test]
fn worst_code_of_several_sites_counts() {
    let good = site_of(1);
    let gone = starting_with(Response::status(404));
    let empty = starting_with(Response::html("<meta name=robots content=noindex>"));
    let partial = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/bad"]),
        _ => Response::status(500),
    });
    let check = |sites: &[&Site], code: i32, outcomes: &[&str]| {
        let bench = Bench::new();
        let config = bench.settings(QUICK);
        let urls: Vec<String> = sites.iter().map(|site| site.url("/")).collect();
        let mut options = vec!["--config", config.as_str()];
        options.extend(urls[1..].iter().map(String::as_str));
        let ran = bench.crawl(&urls[0], &options).expect_code(code);
        let summaries = ran.summaries();
        let found: Vec<&str> = summaries
            .iter()
            .map(|summary| summary["outcome"].as_str().expect("a word"))
            .collect();
        assert_eq!(found, outcomes);
        let named: Vec<&str> = summaries
            .iter()
            .map(|summary| summary["site"].as_str().expect("a URL"))
            .collect();
        assert_eq!(named, urls);
        bench
    };
    let bench = check(&[&good, &partial], 3, &["published", "partial"]);
    // Each site has its own folder.
    for (site, count) in [(&good, 2), (&partial, 1)] {
        let folder = bench
            .output()
            .join(format!("http_127.0.0.1_{}", site.port()));
        assert_eq!(Published::read(&folder).urls().len(), count);
    }
    check(
        &[&partial, &empty, &good],
        4,
        &["partial", "refused", "published"],
    );
    check(
        &[&gone, &good, &empty],
        5,
        &["unreachable", "published", "refused"],
    );
}

#[test]
fn a_closed_standard_output_does_not_crash() {
    let site = site_of(1);
    let bench = Bench::new();
    let mut command: Command = bench.command(&site.url("/"), &[]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    drop(child.stdout.take());
    let status = child.wait().expect("ended");
    assert_eq!(status.code(), Some(0));
    assert_eq!(bench.published().urls().len(), 2);
}
