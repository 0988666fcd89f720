//! Two sessions at the same time on one state or one output: the second ends at once, and names the first.

use std::{
    fs,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran, Running},
    site::{Response, Site},
};

/// Time between two looks at something that is about to happen.
const PAUSE: Duration = Duration::from_millis(2);

/// A site with a page that is not answered before the test allows it.
fn serve() -> (Site, Arc<AtomicBool>) {
    let is_open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&is_open);
    let site = Site::start(move |request| match request.target.as_str() {
        "/" => Response::linking(["/slow", "/quick"]),
        "/slow" => {
            while !gate.load(Ordering::SeqCst) {
                thread::sleep(PAUSE);
            }
            Response::html("<title>Slow</title>")
        }
        "/quick" => Response::html("<title>Quick</title>"),
        _ => Response::status(404),
    });
    (site, is_open)
}

/// A crawl that has requested the page that is not answered.
fn begin(bench: &Bench, site: &Site) -> Running {
    let mut running = bench.spawn(&site.url("/"), &[]);
    while !site.log().iter().any(|seen| seen.target == "/slow") {
        assert!(!running.has_ended(), "{:?}", running.wait());
        thread::sleep(PAUSE);
    }
    running
}

/// A crawl with the output, or the state, of `bench`, and the other one elsewhere.
fn crawl_beside(bench: &Bench, url: &str, what: &str, elsewhere: &str, options: &[&str]) -> Ran {
    let command = bench.command(url, options);
    let mut other = Command::new(command.get_program());
    other.env_clear().current_dir(bench.path());
    other.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let mut is_next = false;
    for argument in command.get_args() {
        if is_next {
            other.arg(bench.path().join(elsewhere));
        } else {
            other.arg(argument);
        }
        is_next = argument == what;
    }
    Ran::of(other)
}

/// Checks that another session is refused because of the lock of the output. The message names no process, because only the
/// file beside the state of the holder does.
#[track_caller]
fn assert_output_is_busy(ran: Ran) {
    let ran = ran.expect_code(6);
    for words in ["publishing to ", "in use by another process"] {
        assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
    }
    assert_eq!(ran.summary()["outcome"], "busy");
}

/// Checks that another session is refused because the process `holder` has the lock of `what`.
#[track_caller]
fn assert_busy(ran: Ran, what: &str, holder: u32) {
    let ran = ran.expect_code(6);
    let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux");
    let host: String = name
        .trim()
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || "-._".contains(*character))
        .collect();
    let used = format!(" is in use by process {holder} on {host}, started 20");
    for words in [what, &used, " ago)"] {
        assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
    }
    assert_eq!(ran.summary()["outcome"], "busy");
}

#[test]
fn a_second_process_is_refused_until_the_end() {
    let (site, is_open) = serve();
    let url = site.url("/");
    let bench = Bench::new();
    let first = begin(&bench, &site);
    let beside =
        |what, elsewhere, options: &[&str]| crawl_beside(&bench, &url, what, elsewhere, options);
    assert_busy(beside("--output", "out-2", &[]), "the state ", first.id());
    assert_output_is_busy(beside("--state", "state-2", &[]));
    let names = fs::read_dir(bench.output()).expect("an output");
    assert_eq!(names.count(), 0, "a lock is no file of the output");
    assert!(
        !bench.path().join("out-2").exists(),
        "what was made for nothing is gone"
    );
    fs::write(bench.path().join("list.txt"), &url).expect("a list");
    let build = || {
        let mut command = bench.program();
        command.args(["build", "--json", "--base-url", &url, "list.txt"]);
        command.arg("--output").arg(bench.output());
        Ran::of(command)
    };
    assert_output_is_busy(build());
    let forget = || {
        let mut command = bench.program();
        command.args(["forget", &url, "--state"]);
        command.arg(bench.state());
        Ran::of(command)
    };
    let ran = forget().expect_code(6);
    let words = " is in use by process ";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    // A dry run writes nothing and needs no lock; the set may be that of the first session by then.
    is_open.store(true, Ordering::SeqCst);
    beside("--state", "state-2", &["--dry-run", "--force"]).expect_code(0);
    first.wait().expect_code(0);
    assert_eq!(bench.published().urls().len(), 3);
    beside("--state", "state-2", &[]).expect_code(0);
    forget().expect_code(0);
    let left = fs::read_dir(bench.state()).expect("it is there");
    let names = left.map(|entry| entry.expect("an entry").file_name().into_string());
    // The lock of the output is not the site's.
    let names = names.map(|name| name.expect("a plain name"));
    let left = names.filter(|name| !name.starts_with("output-")).count();
    assert_eq!((left, bench.published().urls().len()), (0, 3));
    build().expect_code(0);
}

/// The row of `arpent status` for the only site of `bench`.
fn status(bench: &Bench) -> Value {
    let mut command = bench.program();
    command
        .args(["status", "--json", "--state"])
        .arg(bench.state());
    let ran = Ran::of(command).expect_code(0);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let sites = document["sites"].as_array().expect("a list");
    assert_eq!(sites.len(), 1, "{document}");
    sites[0].clone()
}

#[test]
fn status_shows_running_and_no_refused_sessions() {
    let (site, is_open) = serve();
    let bench = Bench::new();
    let first = begin(&bench, &site);
    let seen = status(&bench);
    assert!(seen["running_since"].is_string(), "{seen}");
    assert_eq!(seen["outcome"], Value::Null);
    // A session that finds the state locked does not write its end: the file is that of the holder.
    bench.crawl(&site.url("/"), &[]).expect_code(6);
    assert_eq!(status(&bench)["outcome"], Value::Null);
    is_open.store(true, Ordering::SeqCst);
    first.wait().expect_code(0);
    let seen = status(&bench);
    assert_eq!(seen["running_since"], Value::Null);
    assert_eq!(seen["outcome"], "published");

    // A dry run changes nothing.
    bench.crawl(&site.url("/"), &["--dry-run"]).expect_code(0);
    assert_eq!(status(&bench), seen);
    // A session that finds only the output locked writes its end.
    is_open.store(false, Ordering::SeqCst);
    site.clear_log();
    let second = begin(&bench, &site);
    crawl_beside(&bench, &site.url("/"), "--state", "state-2", &[]).expect_code(6);
    let other = bench.path().join("state-2");
    let name = format!("http_127.0.0.1_{}.last.json", site.port());
    let noted = fs::read_to_string(other.join(name)).expect("it is noted");
    assert!(noted.contains("\"busy\""), "{noted}");
    assert!(second.kill());
    let killed = status(&bench);
    assert_eq!(killed["running_since"], Value::Null);
    assert_eq!(killed["outcome"], "published");
}
