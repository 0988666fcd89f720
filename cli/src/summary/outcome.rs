//! The words for how the work on a site ended.

use crawler::site_run::Outcome;

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
