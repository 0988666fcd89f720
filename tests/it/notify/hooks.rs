//! Hooks: when they are called, with what, and the effect of one that fails.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;

use super::ONE_TRY;
use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// The calls of hooks, each with its event and the summary that the program got.
fn noted(file: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .map(|line| {
            let (event, summary) = line.split_once('\t').expect("an event and a summary");
            let summary = serde_json::from_str(summary).expect("a summary");
            (event.to_owned(), summary)
        })
        .collect()
}

#[test]
fn hooks_are_called_after_success_and_failure() {
    let hook = Site::start(|_| Response::status(204));
    let state = Arc::new(AtomicUsize::new(200));
    let bench = Bench::new();
    let site = {
        let state = Arc::clone(&state);
        Site::start(move |request| match state.load(Ordering::SeqCst) {
            200 if request.target == "/" => Response::linking(["/a"]),
            200 => Response::html("<title>a</title>"),
            1 => Response::html("<meta name=robots content=noindex>"),
            _ => Response::status(503),
        })
    };
    let settings = bench.settings(&format!(
        "{ONE_TRY}requests.resolve = [\"hook.test:{port}:127.0.0.1\"]\n[notify]\n\
         hook_url = [\"http://hook.test:{port}/secret-path\"]\n\
         hook_command = [\"sh\", \"-c\", '''printf '%s\\t' \"$ARPENT_EVENT\" >> \"$0\"; cat >> \"$0\"; echo >> \"$0\"''', \"noted\"]\n",
        port = hook.port()
    ));
    let crawl = |code: i32| {
        let ran = bench.crawl(&site.url("/"), &["--config", &settings, "-vvv"]);
        let ran = ran.expect_code(code);
        assert!(!ran.stderr.contains("secret-path"), "{}", ran.stderr);
        ran
    };
    let published = crawl(0).summary();
    crawl(0);
    state.store(1, Ordering::SeqCst);
    crawl(4);
    state.store(503, Ordering::SeqCst);
    crawl(5);
    let noted = noted(&bench.path().join("noted"));
    let events: Vec<&str> = noted.iter().map(|(event, _)| event.as_str()).collect();
    // A crawl that changed nothing has no event.
    assert_eq!(events, ["published", "refused", "failed"]);
    assert_eq!(noted[0].1, published);
    assert_eq!(noted[1].1["outcome"], "refused");
    assert_eq!(noted[2].1["outcome"], "unreachable");
    let got: Vec<Value> = hook
        .log()
        .iter()
        .map(|seen| serde_json::from_str(&seen.body).expect("JSON"))
        .collect();
    let events: Vec<&Value> = got.iter().map(|body| &body["event"]).collect();
    assert_eq!(events, ["published", "refused", "failed"]);
    assert_eq!(got[0]["summary"], published);
}

#[test]
fn a_hook_inherits_no_secret() {
    let site = Site::start(|_| Response::html("<title>a page</title>"));
    let bench = Bench::new();
    let settings = bench.settings(
        "requests.header = [{ variable = \"OF_THE_HEADER\" }]\n[notify]\nhook_command = \"env > seen\"\n",
    );
    let mut command = bench.program();
    command
        .env("LANG", "C.UTF-8")
        .env("OF_THE_HEADER", "X-Key: secret-one")
        .env("ARPENT_BASIC_AUTH", "user:secret-two")
        .env("CREDENTIALS_DIRECTORY", "/run/secret-three")
        .args(["crawl", &site.url("/"), "--config", &settings, "--output"])
        .arg(bench.output())
        .arg("--state")
        .arg(bench.state());
    Ran::of(command).expect_code(0);
    let seen = fs::read_to_string(bench.path().join("seen")).expect("it was called");
    assert!(!seen.contains("secret-"), "{seen}");
    for line in [
        "LANG=C.UTF-8",
        "ARPENT_EVENT=published",
        "ARPENT_EXIT_CODE=0",
    ] {
        assert!(seen.lines().any(|known| known == line), "{line}: {seen}");
    }
}

#[test]
fn failed_hook_is_called_until_it_succeeds() {
    let is_down = Arc::new(AtomicUsize::new(0));
    let site = {
        let is_down = Arc::clone(&is_down);
        Site::start(move |_| match is_down.load(Ordering::SeqCst) {
            0 => Response::html("<title>a page</title>"),
            _ => Response::status(503),
        })
    };
    let bench = Bench::new();
    let settings = bench.settings(ONE_TRY);
    let hook =
        "echo $ARPENT_EVENT $ARPENT_OUTCOME >> called; echo the reason; test -e well || exit 9";
    let crawl = |code: i32| {
        let options = ["--config", &settings, "--hook-command", hook];
        bench.crawl(&site.url("/"), &options).expect_code(code)
    };
    let ran = crawl(0);
    assert_eq!(ran.summary()["outcome"], "published");
    let warning = "hook_command ended with exit status: 9: the reason";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    crawl(0);
    fs::write(bench.path().join("well"), "").expect("written");
    // The calls in between are not for the published set.
    is_down.store(1, Ordering::SeqCst);
    crawl(5);
    is_down.store(0, Ordering::SeqCst);
    crawl(0);
    crawl(0);
    let called = fs::read_to_string(bench.path().join("called")).expect("it was called");
    let called: Vec<&str> = called.lines().collect();
    assert_eq!(
        called,
        [
            "published published",
            "published unchanged",
            "failed unreachable",
            "published unchanged"
        ]
    );
}

#[test]
fn other_events_and_dry_runs_call_no_hook() {
    let site = Site::start(|_| Response::html("<title>a page</title>"));
    let bench = Bench::new();
    let settings =
        bench.settings("[notify]\nhook_events = [\"refused\"]\nhook_command = \"touch called\"\n");
    for (options, outcome) in [
        (
            &["--hook-command", "touch called", "--dry-run"][..],
            "dry-run",
        ),
        (&["--config", &settings][..], "published"),
    ] {
        let ran = bench.crawl(&site.url("/"), options).expect_code(0);
        assert_eq!(ran.summary()["outcome"], outcome);
        assert!(!bench.path().join("called").exists(), "{outcome}");
        assert_eq!(bench.output().exists(), outcome == "published");
    }
}
