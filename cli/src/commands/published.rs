//! How work ends that may have published: what is printed of the set, whatever it was made from.

use crawler::{
    publish::Published,
    report::Report,
    site_run::{Outcome, SessionError},
};

use crate::{
    exit_code::{ExitCode, error_of},
    output::Output,
    summary::{RobotsFile, Summary},
};

/// Prints all of it, and puts it into the summary of the site.
///
/// # Errors
/// Nothing was published.
pub(super) fn print_published(
    summary: &mut Summary,
    report: Option<Report>,
    published: Result<Published, SessionError>,
    outcome: Outcome,
    robots: &RobotsFile,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Some(report) = report {
        summary.set_report(report);
    }
    let published = published.map_err(error_of)?;
    // The set is in place whatever failed after it; the next session does that again.
    for problem in &published.problems {
        output.error(&format!("{}: {problem}", summary.site));
    }
    for note in &published.notes {
        output.warn(&note.text);
    }
    summary.set_published(&published, robots);
    summary.outcome = outcome;
    let is_partial = outcome == Outcome::Partial || summary.is_partial();
    Ok(if is_partial || !published.problems.is_empty() {
        ExitCode::Partial
    } else {
        ExitCode::Success
    })
}
