//! The words for the outcome of a session.

use crawler::site_run::SessionOutcome;

/// A few words for people.
pub(super) fn text(outcome: SessionOutcome) -> &'static str {
    match outcome {
        SessionOutcome::Published => "published",
        SessionOutcome::Unchanged => "unchanged",
        SessionOutcome::Partial => "published, but partial",
        SessionOutcome::DryRun => "dry run, nothing written",
        SessionOutcome::Refused => "not published, the published sitemaps stay",
        SessionOutcome::Unreachable => "could not be crawled",
        SessionOutcome::Busy => "busy",
        SessionOutcome::Settings => "not begun: a setting, or what it names, cannot be used",
        SessionOutcome::Interrupted => {
            "interrupted, nothing published; the same command goes on from here"
        }
        SessionOutcome::Internal => "internal error",
    }
}
