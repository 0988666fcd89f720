//! Messages of the daemon: which site begins, which sites came and went, what goes on. Pure.

use jiff::Timestamp;

use crate::{
    driver::{messages::MessageKind, settings::SiteSettings},
    human,
    outcome::ExitCode,
};

/// Sites that are named in one line; more are counted.
const MAX_NAMED: usize = 5;

/// A session for `slot` begins, also in place of `missed` earlier ones.
pub(super) fn begins(slot: Timestamp, missed: u32) -> String {
    let made_up = match missed {
        0 => String::new(),
        1 => ", in place of one missed crawl".to_owned(),
        more => {
            let more = human::number(more.into());
            format!(", in place of {more} missed crawls")
        }
    };
    format!("the crawl of {slot} begins{made_up}")
}

/// Kind of the message about the end of a crawl.
pub fn kind_of_end(code: ExitCode) -> MessageKind {
    match code {
        ExitCode::Success | ExitCode::Interrupted | ExitCode::Terminated => MessageKind::Plain,
        ExitCode::Partial => MessageKind::Warning,
        ExitCode::Invalid
        | ExitCode::Usage
        | ExitCode::Refused
        | ExitCode::NotCrawled
        | ExitCode::Busy
        | ExitCode::Internal => MessageKind::Error,
    }
}

/// Runs that came while another one of their site went on.
pub(super) fn skipped(count: u32) -> String {
    let runs = human::count(count.into(), "crawl");
    format!("{runs} skipped, because the crawl before was still running")
}

/// The schedule of `site`; `next` is its next crawl, of which there is none while one is under way. `None` for a site
/// without a schedule.
pub(super) fn planned(
    site: &SiteSettings,
    next: Option<Timestamp>,
    now: Timestamp,
) -> Option<String> {
    let schedule = site.schedule.as_ref()?.text();
    let next = match next {
        Some(next) if next <= now => "due now".to_owned(),
        Some(next) => format!("next crawl at {next}"),
        None => "under way".to_owned(),
    };
    let start = &site.start;
    Some(format!("{start} has the schedule {schedule}, {next}"))
}

/// Sites that a reload added and removed; both lists are in order.
pub(super) fn changes(before: &[&str], now: &[&str]) -> String {
    let without = |of: &[&str], others: &[&str]| -> Vec<String> {
        of.iter()
            .filter(|name| !others.contains(name))
            .map(|&name| name.to_owned())
            .collect()
    };
    let sites = human::count(now.len() as u64, "site");
    let mut line = format!("settings read again: {sites} with a schedule");
    for (word, names) in [
        ("new", without(now, before)),
        ("gone", without(before, now)),
    ] {
        if !names.is_empty() {
            line = format!("{line}; {word}: {}", named(&names));
        }
    }
    line
}

/// Status of the daemon: the crawls that are under way, and the `next` one with its start.
pub(super) fn status(
    is_stopping: bool,
    running: &[String],
    next: Option<(Timestamp, &String)>,
    now: Timestamp,
) -> String {
    let next = match next {
        Some((start, name)) if start <= now => format!("{name} is due"),
        Some((start, name)) => format!("next {name} at {start}"),
        None => "no crawl is due".to_owned(),
    };
    match (is_stopping, running.is_empty()) {
        (true, true) => "stopping".to_owned(),
        (true, false) => format!("stopping {}", named(running)),
        (false, true) => next,
        (false, false) => format!("crawling {}; {next}", named(running)),
    }
}

/// Names one after the other, as far as a line has room for them.
fn named(names: &[String]) -> String {
    let shown = names.len().min(MAX_NAMED);
    let text = names[..shown].join(", ");
    match names.len() - shown {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_run_names_missed_crawls() {
        fn check(missed: u32, expected: &str) {
            let line = begins(at("2026-06-01T00:30:00Z"), missed);
            let expected = format!("the crawl of 2026-06-01T00:30:00Z begins{expected}");
            assert_eq!(line, expected);
        }
        check(0, "");
        check(1, ", in place of one missed crawl");
        check(1_000, ", in place of 1,000 missed crawls");
    }

    #[test]
    fn a_reload_names_new_and_gone_sites() {
        fn check(before: &[&str], now: &[&str], expected: &str) {
            let expected = format!("settings read again: {expected}");
            assert_eq!(changes(before, now), expected);
        }
        check(&["a"], &["a"], "1 site with a schedule");
        check(
            &["a", "b"],
            &["b", "c", "d"],
            "3 sites with a schedule; new: c, d; gone: a",
        );
        check(
            &[],
            &["a", "b", "c", "d", "e", "f", "g"],
            "7 sites with a schedule; new: a, b, c, d, e and 2 more",
        );
    }

    #[test]
    fn the_status_has_running_and_next_sites() {
        fn check(is_stopping: bool, running: &[&str], next: Option<&str>, expected: &str) {
            let running: Vec<_> = running.iter().map(|&name| name.to_owned()).collect();
            let name = "shop".to_owned();
            let next = next.map(|time| (at(time), &name));
            let now = at("2026-06-01T12:00:00Z");
            assert_eq!(status(is_stopping, &running, next, now), expected);
        }
        let later = Some("2026-06-02T00:30:00Z");
        check(false, &[], later, "next shop at 2026-06-02T00:30:00Z");
        check(
            false,
            &["a", "b"],
            later,
            "crawling a, b; next shop at 2026-06-02T00:30:00Z",
        );
        check(
            false,
            &["a"],
            Some("2026-06-01T12:00:00Z"),
            "crawling a; shop is due",
        );
        check(false, &[], None, "no crawl is due");
        check(true, &["a"], later, "stopping a");
        check(true, &[], later, "stopping");
    }
}
