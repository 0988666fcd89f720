//! Compares the results of the commands on the URLs of a site.

use std::collections::{BTreeMap, BTreeSet};

use crawler::page::{Reason, State};
use serde_json::Value;

use super::{
    program::{Bench, Ran},
    state::{excluded, number},
};

/// Fails unless the report of the site `url` is valid by its schema and agrees with the `summary` of the last crawl, and with `why` for
/// one URL of each reason; returns the reasons.
#[track_caller]
pub fn assert_agree(bench: &Bench, url: &str, summary: &Value) -> BTreeSet<Reason> {
    let urls = explained_urls(bench, url);
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    let mut states: BTreeMap<State, u64> = BTreeMap::new();
    for (reason, urls) in &urls {
        *states.entry(reason.state()).or_default() += urls.len() as u64;
        if reason.state() == State::Excluded {
            left_out.insert(reason.code().to_owned(), urls.len() as u64);
        }
    }
    assert_eq!(left_out, excluded(summary), "{url}");
    for state in [State::Listed, State::Failed, State::Queued] {
        let count = states.get(&state).copied().unwrap_or_default();
        assert_eq!(count, number(summary, state.as_str()), "{state:?} of {url}");
    }
    urls.into_keys().collect()
}

/// The URLs of a report by reason, on which `why` agrees.
#[track_caller]
pub fn explained_urls(bench: &Bench, url: &str) -> BTreeMap<Reason, Vec<String>> {
    let run = |command: &str, arguments: &[&str]| {
        let mut program = bench.program();
        program.arg(command).args(arguments);
        let ran = Ran::of({
            program.arg("--state").arg(bench.state());
            program
        });
        ran.expect_code(0).stdout
    };
    let report = run("report", &["--ndjson", "-", url]);
    let mut urls: BTreeMap<Reason, Vec<String>> = BTreeMap::new();
    for row in report.lines() {
        let row: Value = serde_json::from_str(row).expect("a row");
        if row["type"] == "url" {
            let text = |name: &str| row[name].as_str().expect("a text");
            let reason = Reason::from_code(text("reason")).expect("a reason");
            assert_eq!(text("state"), reason.state().as_str());
            let of_reason = urls.entry(reason).or_default();
            of_reason.push(text("url").to_owned());
        }
    }
    for (reason, urls) in &urls {
        let text = run("why", &["--json", &urls[0]]);
        let explained: Value = serde_json::from_str(&text).expect("one object");
        assert_eq!(explained["reason"], reason.code(), "{}", urls[0]);
        let is_explained = explained["advice"].is_string() || reason.state() == State::Listed;
        assert!(is_explained, "{explained}");
    }
    urls
}
