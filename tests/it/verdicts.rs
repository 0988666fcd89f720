//! Every kind of page on a loopback site: the listed ones, the others, and the reasons.
//!
//! Each test has a table of pages with the reason that each must get. The state, the published set and
//! the counts of the summary must equal the table.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use crawler::page::{Reason, State};
use serde_json::Value;

use self::rows::{MAX_BODY_BYTES, Row, failures, listed, pages, plain, row, ruled};
use crate::support::{
    agreement::assert_agree,
    program::Bench,
    site::{Request, Response, Site},
    state::{excluded, number, reasons},
};

/// Few tries, and no number of failures makes the host pause.
const SETTINGS: &str = "
requests.max_body_bytes = 65536
limits.max_tries = 2
testing.retry_delays = [\"10ms\"]
testing.failures_before_pause = 1000
guard.max_alike_share = 1
";

/// Puts the site's own origin in the places of `{origin}`.
fn at_home(mut answer: Response, request: &Request) -> Response {
    let origin = format!("http://{}", request.headers["host"]);
    for (_, value) in &mut answer.headers {
        *value = value.replace("{origin}", &origin);
    }
    if let Ok(text) = std::str::from_utf8(&answer.body)
        && text.contains("{origin}")
    {
        answer.body = text.replace("{origin}", &origin).into_bytes();
    }
    answer
}

/// A site of these pages, with links to those that are linked on its start page.
fn site_of(rows: &[Row]) -> Site {
    let linked = rows.iter().filter(|row| row.is_linked);
    let start = Response::linking(linked.map(|row| &row.path));
    assert!(
        start.body.len() < MAX_BODY_BYTES / 2,
        "the start page is too long"
    );
    let answers: BTreeMap<String, Response> = rows
        .iter()
        .map(|row| (row.path.clone(), row.answer.clone()))
        .collect();
    assert_eq!(answers.len(), rows.len(), "a path has two rows");
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\n"),
        "/" => start.clone(),
        path => match answers.get(path) {
            Some(answer) => at_home(answer.clone(), request),
            None => Response::status(404),
        },
    })
}

/// Crawls a site of these pages and compares every result with the table; returns the
/// summary.
#[track_caller]
fn check(rows: &[Row], options: &[&str], settings: &str, code: i32) -> Value {
    let site = site_of(rows);
    let bench = Bench::new();
    let config = bench.settings(&format!("{SETTINGS}{settings}"));
    let options = [&["--config", &config], options].concat();
    let ran = bench.crawl(&site.url("/"), &options).expect_code(code);

    let mut expected: BTreeMap<String, Reason> = rows
        .iter()
        .map(|row| (row.path.clone(), row.reason))
        .collect();
    expected.insert("/".to_owned(), Reason::Listed);
    check_reasons(&expected, &reasons(&bench));
    check_counts(&expected, &ran.summary());

    let mut published: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.reason.state() == State::Listed)
        .map(|row| site.url(row.written.as_ref().unwrap_or(&row.path)))
        .collect();
    published.insert(site.url("/"));
    let urls: BTreeSet<String> = bench.published().urls().into_iter().collect();
    assert_eq!(urls, published);

    let asked: BTreeSet<String> = site.pages().into_iter().collect();
    for Row { path, reason, .. } in rows {
        assert_eq!(asked.contains(path), needs_a_request(*reason), "{path}");
    }
    let reasons = assert_agree(&bench, &site.url("/"), &ran.summary());
    assert!(reasons.is_superset(&covered(rows)), "{reasons:?}");
    ran.summary()
}

/// Fails with every URL that is not known for the reason in the table, or is not in the table.
#[track_caller]
fn check_reasons(expected: &BTreeMap<String, Reason>, known: &BTreeMap<String, Reason>) {
    let paths: BTreeSet<&String> = expected.keys().chain(known.keys()).collect();
    let different: Vec<String> = paths
        .into_iter()
        .map(|path| (path, expected.get(path), known.get(path)))
        .filter(|(_, expected, known)| expected != known)
        .map(|(path, expected, known)| format!("{path}: expected {expected:?}, found {known:?}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Compares the numbers of a summary with the table.
#[track_caller]
fn check_counts(expected: &BTreeMap<String, Reason>, summary: &Value) {
    let mut states: BTreeMap<State, u64> = BTreeMap::new();
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    for reason in expected.values() {
        *states.entry(reason.state()).or_default() += 1;
        if reason.state() == State::Excluded {
            *left_out.entry(reason.code().to_owned()).or_default() += 1;
        }
    }
    let of_state = |state| states.get(&state).copied().unwrap_or_default();
    assert_eq!(
        ["known", "listed", "failed", "queued"].map(|name| number(summary, name)),
        [
            expected.len() as u64,
            of_state(State::Listed),
            of_state(State::Failed),
            of_state(State::Queued),
        ],
        "{summary}"
    );
    assert_eq!(excluded(summary), left_out);
}

/// Returns whether a URL gets this reason only from an answer, or from a missing one.
fn needs_a_request(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::RobotsDisallowed
            | Reason::ListOnly
            | Reason::ExcludedByRule
            | Reason::TooDeep
            | Reason::Queued
    )
}

/// The reasons of a table.
fn covered(rows: &[Row]) -> BTreeSet<Reason> {
    rows.iter().map(|row| row.reason).collect()
}

#[test]
fn every_page_has_its_reason() {
    let elsewhere = Site::start(|_| plain());
    check(&pages(&elsewhere.url("/")), &[], "", 0);
    assert!(elsewhere.log().is_empty(), "another origin was contacted");
}

#[test]
fn unreadable_pages_make_the_crawl_partial() {
    let summary = check(&failures(), &[], "", 3);
    assert_eq!(summary["outcome"], "partial");
}

#[test]
fn rules_of_the_user_come_first() {
    let settings = "
        [[page_rule]]
        pages = \"/shop/*\"
        selector = \".sold-out\"
        action = \"exclude\"
    ";
    let options = [
        "--exclude",
        "/cart",
        "--follow-only",
        "/tags/*",
        "--list-only",
        "/media/*.mp4",
        "--max-depth",
        "2",
    ];
    check(&ruled(), &options, settings, 0);
}

#[test]
fn urls_beyond_a_limit_stay_queued() {
    let rows = vec![
        listed("/1", plain()),
        row("/2", Reason::Queued, plain()),
        row("/3", Reason::Queued, plain()),
    ];
    check(&rows, &["--max-pages", "2"], "", 3);
}

#[test]
fn every_reason_has_a_page() {
    /// Reasons that no table here has. A page that takes too long has another test, and no page can cause a bug. Inputs belong
    /// to another command, and feeds to `discovery`. The values of a page can always be written into an entry. Pages that stay
    /// listed are tested in `reasons`, repetitions in `traps`, and links that are not followed with a session in `cookies`.
    const UNREACHABLE: [Reason; 14] = [
        Reason::ActionLink,
        Reason::Unparsable,
        Reason::InternalError,
        Reason::FromInput,
        Reason::SeedDocument,
        Reason::EntryRefused,
        Reason::GoneOnce,
        Reason::Unreachable,
        Reason::NotReached,
        Reason::NotInSet,
        Reason::PatternClosed,
        Reason::NothingNew,
        Reason::NotFoundPage,
        Reason::DuplicateOf,
    ];
    let mut seen = covered(&pages("http://elsewhere.example/"));
    seen.extend(covered(&failures()));
    seen.extend(covered(&ruled()));
    seen.insert(Reason::Queued);
    seen.extend(UNREACHABLE);
    let all: BTreeSet<Reason> = Reason::ALL.iter().copied().collect();
    assert_eq!(seen, all);
}
