//! A state that is older than the published set: restored from a copy, or one of two that publish to one output.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    kill::copy,
    support::{
        program::{Bench, Ran},
        site::{Response, Site},
        state::assert_adds_up,
    },
};

/// Pages of the first edition; the second has as many more.
const PAGES: usize = 40;

/// The message on such a state.
const MESSAGE: &str = "the state does not have the published set, or is older";

/// A site, and its edition now: the second has more pages and another text on the first ten, in the third the new
/// ones answer 404, in the fourth they redirect to the start page.
fn serve() -> (Site, impl Fn(usize)) {
    let edition = Arc::new(AtomicUsize::new(1));
    let current = Arc::clone(&edition);
    let site = Site::undated(move |request| {
        let edition = current.load(Ordering::SeqCst);
        let count = if edition == 1 { PAGES } else { 2 * PAGES };
        if request.target == "/" {
            return Response::linking((0..count).map(|number| format!("/p{number}")));
        }
        let number = request.target.strip_prefix("/p");
        match number.and_then(|text| text.parse::<usize>().ok()) {
            Some(number) if number < count => match edition {
                3 if number >= PAGES => Response::status(404),
                4 if number >= PAGES => Response::redirect(302, "/"),
                _ => {
                    let text = edition.min(2) * usize::from(number < 10);
                    let words = "of its own ".repeat(number + 1);
                    Response::html(format!(
                        "<!doctype html><title>Page {number}</title><p>Text {text} {words}</p>"
                    ))
                }
            },
            Some(_) | None => Response::status(404),
        }
    });
    (site, move |to| edition.store(to, Ordering::SeqCst))
}

fn on_day(mut command: Command, day: u32) -> Ran {
    command.env("ARPENT_CLOCK_AHEAD", format!("{}h", 24 * day));
    Ran::of(command)
}

fn crawl(bench: &Bench, site: &Site, day: u32, options: &[&str]) -> Ran {
    on_day(bench.command(&site.url("/"), options), day)
}

/// A site with two published editions and the state of the first.
fn brought_back() -> (Bench, Site, impl Fn(usize)) {
    let (site, is) = serve();
    let bench = Bench::new();
    crawl(&bench, &site, 0, &[]).expect_code(0);
    let kept = bench.path().join("kept");
    copy(&bench.state(), &kept);
    is(2);
    crawl(&bench, &site, 1, &[]).expect_code(0);
    let dated = bench.published().entries();
    assert_eq!(dated.len(), 2 * PAGES + 1);
    assert_eq!(dated.values().filter(|date| date.is_some()).count(), 11);
    copy(&kept, &bench.state());
    (bench, site, is)
}

#[test]
fn an_older_state_keeps_pages_and_dates() {
    let (bench, site, _) = brought_back();
    let before = bench.published();
    let ran = crawl(&bench, &site, 2, &["--max-pages", "15"]).expect_code(3);
    let expected = format!("{MESSAGE} than the set (a copy, or the state of another user?)");
    assert_eq!(ran.stderr.matches(&expected).count(), 1, "{}", ran.stderr);
    let summary = ran.summary();
    assert_adds_up(&summary);
    assert_eq!(summary["listed"], 2 * PAGES + 1, "{summary}");
    assert_eq!(bench.published().differences(&before), [""; 0]);
    for day in [3, 4] {
        let ran = crawl(&bench, &site, day, &[]).expect_code(0);
        assert!(!ran.stderr.contains(MESSAGE), "{}", ran.stderr);
        assert_eq!(ran.summary()["outcome"], "unchanged");
        assert_eq!(bench.published().differences(&before), [""; 0]);
    }
}

#[test]
fn pages_unknown_to_the_state_leave_on_evidence() {
    let (bench, site, is) = brought_back();
    let before = bench.published();
    is(4);
    let ran = crawl(&bench, &site, 2, &[]).expect_code(4);
    assert!(ran.stderr.contains("redirect"), "{}", ran.stderr);
    assert_eq!(bench.published().differences(&before), [""; 0]);
    is(2);
    let ran = crawl(&bench, &site, 3, &[]).expect_code(0);
    assert!(!ran.stderr.contains(MESSAGE), "{}", ran.stderr);
    assert_eq!(bench.published().differences(&before), [""; 0]);
}

#[test]
fn two_states_publish_to_one_output_in_turns() {
    let (site, is) = serve();
    let bench = Bench::new();
    let by = |state: &str, day: u32| {
        let mut command = bench.program();
        command.args(["crawl", &site.url("/"), "--json"]);
        command.args(["--discover=links", "--rate", "unlimited"]);
        command.arg("--output").arg(bench.output());
        command.arg("--state").arg(bench.path().join(state));
        on_day(command, day)
    };
    by("service", 0).expect_code(0);
    by("person", 1).expect_code(0);
    is(2);
    by("person", 2).expect_code(0);
    let dated = bench.published();
    let ran = by("service", 3).expect_code(0);
    assert!(ran.stderr.contains(MESSAGE), "{}", ran.stderr);
    assert_eq!(bench.published().differences(&dated), [""; 0]);
    by("service", 5).expect_code(0);
    by("person", 6).expect_code(0);
    assert_eq!(bench.published().differences(&dated), [""; 0]);
}

#[test]
fn one_state_publishes_to_two_outputs_in_turns() {
    let (site, is) = serve();
    let bench = Bench::new();
    let other = bench.path().join("other");
    let crawl_to = |is_other: bool, day: u32| {
        let mut command = bench.program();
        command.args(["crawl", &site.url("/"), "--discover=links"]);
        command.args(["--rate", "unlimited"]);
        command.arg("--state").arg(bench.state());
        let output = if is_other {
            other.clone()
        } else {
            bench.output()
        };
        command.arg("--output").arg(output);
        let ran = on_day(command, day).expect_code(0);
        assert!(!ran.stderr.contains(MESSAGE), "day {day}: {}", ran.stderr);
    };
    crawl_to(false, 0);
    crawl_to(true, 1);
    is(2);
    crawl_to(false, 2);
    crawl_to(true, 3);
    // By a clock that is days late, the last set is the older one.
    crawl_to(false, 1);
    crawl_to(true, 4);
}
