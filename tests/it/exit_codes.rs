//! The end of `arpent crawl` and its effect on the published set: every exit code, by a situation that leads to it.

mod internal;
mod partial;
mod refused;
mod settings;
mod signals;

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
    site::{Response, Site},
    state::assert_adds_up,
};

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
