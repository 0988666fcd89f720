//! The words for how the work on a site ended.

use crawler::site_run::Outcome;

use crate::exit_code::ExitCode;

/// The outcome of work that ended without a set.
pub(crate) fn of_failure(code: ExitCode) -> Outcome {
    match code {
        ExitCode::Usage => Outcome::Settings,
        ExitCode::Refused => Outcome::Refused,
        ExitCode::NotCrawled => Outcome::Unreachable,
        ExitCode::Busy => Outcome::Busy,
        ExitCode::Interrupted | ExitCode::Terminated => Outcome::Interrupted,
        // The first three are no failures; a caller that says otherwise has a bug.
        ExitCode::Success | ExitCode::Partial | ExitCode::Invalid | ExitCode::Internal => {
            Outcome::Internal
        }
    }
}

/// A few words for people.
pub(super) fn text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Published => "published",
        Outcome::Unchanged => "unchanged",
        Outcome::Partial => "published, but partial",
        Outcome::DryRun => "dry run, nothing written",
        Outcome::Refused => "not published, the old sitemaps stand",
        Outcome::Unreachable => "could not be crawled",
        Outcome::Busy => "busy",
        Outcome::Settings => "not begun: a setting, or what it names, cannot be used",
        Outcome::Interrupted => {
            "interrupted, nothing published; the same command goes on from here"
        }
        Outcome::Internal => "internal error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_fail_has_its_word() {
        fn check(code: ExitCode, expected: &str) {
            let outcome = of_failure(code);
            assert_eq!(outcome.as_str(), expected);
            let word = serde_json::to_string(&outcome).unwrap();
            assert_eq!(word, format!("\"{expected}\""));
        }
        check(ExitCode::Usage, "settings");
        check(ExitCode::Refused, "refused");
        check(ExitCode::NotCrawled, "unreachable");
        check(ExitCode::Busy, "busy");
        check(ExitCode::Internal, "internal");
        check(ExitCode::Interrupted, "interrupted");
        check(ExitCode::Terminated, "interrupted");
    }
}
