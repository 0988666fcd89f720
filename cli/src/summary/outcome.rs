//! How the work on a site ended, in one word.

use serde::Serialize;

use crate::exit_code::ExitCode;

/// How the work on a site ended. The words are stable: scripts compare them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// A new set stands.
    Published,
    /// Nothing changed: every file stands untouched.
    Unchanged,
    /// A set stands (new or unchanged), but some URLs failed or were not reached.
    Partial,
    /// Nothing was written because `--dry-run` said so.
    DryRun,
    /// Nothing was published, the old set stands.
    Refused,
    /// The site could not be crawled.
    Unreachable,
    /// Another run holds the state or the output.
    Busy,
    /// Settings that do not fit this site.
    Settings,
    /// A signal stopped the run; nothing was published, progress is kept.
    Interrupted,
    /// A bug of arpent.
    #[default]
    Internal,
}

impl Outcome {
    /// The word for work that ended without a set.
    pub(crate) fn of_failure(code: ExitCode) -> Self {
        match code {
            ExitCode::Usage => Self::Settings,
            ExitCode::Refused => Self::Refused,
            ExitCode::NotCrawled => Self::Unreachable,
            ExitCode::Busy => Self::Busy,
            ExitCode::Interrupted | ExitCode::Terminated => Self::Interrupted,
            // The first three are no failures; a caller that says otherwise has a bug.
            ExitCode::Success | ExitCode::Partial | ExitCode::Invalid | ExitCode::Internal => {
                Self::Internal
            }
        }
    }

    /// Its word, as in the summary, and a few words for people.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Published => ("published", "published"),
            Self::Unchanged => ("unchanged", "unchanged"),
            Self::Partial => ("partial", "published, but partial"),
            Self::DryRun => ("dry-run", "dry run, nothing written"),
            Self::Refused => ("refused", "not published, the old sitemaps stand"),
            Self::Unreachable => ("unreachable", "could not be crawled"),
            Self::Busy => ("busy", "busy"),
            Self::Settings => (
                "settings",
                "not begun: a setting, or what it names, cannot be used",
            ),
            Self::Interrupted => (
                "interrupted",
                "interrupted, nothing published; the same command goes on from here",
            ),
            Self::Internal => ("internal", "internal error"),
        }
    }

    /// Its word, as in the summary.
    pub(crate) fn as_str(self) -> &'static str {
        self.words().0
    }

    /// Whether a set stands that is as it should be.
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Published | Self::Unchanged | Self::Partial)
    }

    /// A few words for people.
    pub(super) fn text(self) -> &'static str {
        self.words().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_that_of_the_summary() {
        for outcome in [
            Outcome::Published,
            Outcome::Unchanged,
            Outcome::Partial,
            Outcome::DryRun,
            Outcome::Refused,
            Outcome::Unreachable,
            Outcome::Busy,
            Outcome::Settings,
            Outcome::Interrupted,
            Outcome::Internal,
        ] {
            let word = serde_json::to_string(&outcome).unwrap();
            assert_eq!(word, format!("\"{}\"", outcome.as_str()));
        }
    }

    #[test]
    fn every_way_to_fail_has_its_word() {
        fn check(code: ExitCode, expected: &str) {
            let word = serde_json::to_string(&Outcome::of_failure(code)).unwrap();
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
