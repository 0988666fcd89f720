//! 6: another session is at work.

use std::{
    fs::{self, File},
    sync::atomic::Ordering,
};

use super::{assert_outcome, site_of, wait_for, waiting_site};
use crate::support::program::Bench;

#[test]
fn a_state_that_another_session_locks_is_busy() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let first = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(6);
    assert_outcome(&ran, "busy");
    assert!(ran.stderr.contains("process "), "{}", ran.stderr);
    may_answer.store(true, Ordering::SeqCst);
    first.wait().expect_code(0);
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn an_output_that_another_session_locks_is_busy() {
    let site = site_of(1);
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    // The lock of a session with another state; nothing is written to the folder for it.
    let lock = File::open(bench.output()).expect("a folder");
    lock.lock().expect("locked");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(6);
    assert_outcome(&ran, "busy");
    assert!(
        ran.stderr.contains("another session is publishing"),
        "{}",
        ran.stderr
    );
    drop(lock);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
}
