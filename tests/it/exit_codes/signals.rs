//! 130 and 143: a signal ended the session, and its work is stored.

use std::{
    collections::BTreeMap,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{assert_nothing_published, assert_outcome, wait_for, waiting_site};
use crate::support::{
    program::{Bench, Running},
    published::Published,
    site::{Response, Site},
    state::number,
};

/// Pages of a binary tree. While it `lingers`, the pages after the sixtieth answer slowly, so that the
/// crawl can be interrupted in the middle.
fn tree(size: usize, lingers: &Arc<AtomicBool>) -> Site {
    let lingers = Arc::clone(lingers);
    Site::start(move |request| {
        let number: usize = match request.target.as_str() {
            "/robots.txt" => return Response::text(""),
            "/" => 1,
            path => path["/page/".len()..].parse().expect("a number"),
        };
        let children = [number * 2, number * 2 + 1]
            .into_iter()
            .filter(|child| *child <= size);
        let page = Response::linking(children.map(|child| format!("/page/{child}")))
            .with("Last-Modified", "Sat, 02 Nov 2019 08:49:37 GMT");
        if number > 60 && lingers.load(Ordering::SeqCst) {
            page.after(Duration::from_millis(250))
        } else {
            page
        }
    })
}

fn parts(published: &Published, site: &Site) -> BTreeMap<String, String> {
    let parts = published.parts().into_iter();
    parts
        .map(|(name, file)| (name.to_owned(), file.xml.replace(&site.origin(), "")))
        .collect()
}

#[test]
fn signal_keeps_progress_for_the_next_start() {
    let pages = 150;
    let quick = tree(pages, &Arc::new(AtomicBool::new(false)));
    let uninterrupted = Bench::new();
    uninterrupted.crawl(&quick.url("/"), &[]).expect_code(0);
    let expected = parts(&uninterrupted.published(), &quick);
    assert_eq!(uninterrupted.published().urls().len(), pages);

    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let lingers = Arc::new(AtomicBool::new(true));
        let site = tree(pages, &lingers);
        let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "2"]);
        let running = bench.spawn(&site.url("/"), &[]);
        wait_for(&site, "/page/61");
        running.signal(signal);
        let ran = running.wait().expect_code(code);
        assert_outcome(&ran, "interrupted");
        assert!(number(&ran.summary(), "queued") > 0, "{}", ran.stdout);
        assert_nothing_published(&bench);
        let first = site.pages();

        lingers.store(false, Ordering::SeqCst);
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        assert_eq!(parts(&bench.published(), &site), expected);
        let second = site.pages().split_off(first.len());
        let again: Vec<&String> = second.iter().filter(|page| first.contains(page)).collect();
        assert_eq!(again, ["/"], "what was finished is not asked for again");
    }
}

#[test]
fn a_second_signal_does_not_wait_for_answers() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let mut running = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    running.signal("TERM");
    running.wait_until_it_prints("stopping: no new requests");
    assert!(
        !running.has_ended(),
        "the first signal lets the answer come"
    );
    running.signal("INT");
    // The page never answers; only the second signal can end this.
    running.wait().expect_code(143);
    assert!(!may_answer.swap(true, Ordering::SeqCst));
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn without_a_terminal_nothing_hangs_up() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let mut running = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    running.signal("HUP");
    // Signals are handled in their order: this one comes after the first.
    running.signal("TERM");
    running.wait_until_it_prints("stopping: no new requests");
    may_answer.store(true, Ordering::SeqCst);
    running.wait().expect_code(143);
}

#[test]
#[cfg(target_os = "linux")]
fn stop_ends_a_program_waiting_for_input() {
    let site = Site::start(|_| Response::text(""));
    let bench = Bench::new().discovering();
    let mut command = bench.command(&site.url("/"), &["--seeds", "-"]);
    // Standard input stays open and empty.
    command.stdin(Stdio::piped());
    let mut running = Running::of(command);
    let status = format!("/proc/{}/status", running.id());
    let catches_term = || {
        let status = std::fs::read_to_string(&status).expect("the program runs");
        assert!(!status.contains("zombie"), "it ended by itself");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.map(|mask| u64::from_str_radix(mask.trim(), 16).expect("a mask"));
        caught.expect("the signals that are caught") & (1 << 14) != 0
    };
    while !catches_term() {
        std::thread::yield_now();
    }
    running.signal("TERM");
    running.wait_until_it_prints(
        "the work did not end in time; the next start continues as after a crash",
    );
    running.wait().expect_code(143);
}
