//! The end of work that may have published: prints the set, made by a crawl, a build or a publish.

use std::path::PathBuf;

use super::{messages::Messenger, settings::is_storage};
use crate::{
    failure, human,
    outcome::{ExitCode, SessionOutcome},
    site_run::{Ended, Held, Opened},
    summary::{RobotsFile, Summary},
};

/// Prints all of it, and puts it into the summary of the site. What is locked is handed back.
///
/// # Errors
/// Nothing was published.
pub fn print_published(
    summary: &mut Summary,
    ended: Ended,
    robots: &RobotsFile,
    output: &Messenger,
) -> failure::Result<(ExitCode, Option<Held>)> {
    if let Some(report) = ended.report {
        summary.set_report(report);
    }
    let published = ended
        .published
        .inspect_err(|error| summary.set_unpublished(error))?;
    // The set is in place whatever failed after it; the next session does that again.
    for problem in &published.problems {
        output.error(&format!("{}: {problem}", summary.site));
    }
    for note in &published.notes {
        output.note(&note.text);
    }
    summary.set_published(&published, robots);
    summary.outcome = ended.outcome;
    let is_partial = ended.outcome == SessionOutcome::Partial || summary.is_partial();
    let code = if is_partial || !published.problems.is_empty() {
        ExitCode::Partial
    } else {
        ExitCode::Success
    };
    Ok((code, ended.held))
}

/// Sets the place of the set: a folder, or the URL of object storage.
pub fn set_output(summary: &mut Summary, place: PathBuf) {
    summary.surroundings.is_in_storage = is_storage(&place);
    summary.surroundings.output = Some(place);
}

/// Prints what opening the state of the site at `url` found: a state that was damaged, or that did not know the published set.
pub fn report_opened(opened: &Opened, url: &str, output: &Messenger) {
    let imported = opened.imported.as_ref().map(|imported| {
        format!(
            "arpent imported the published set: {} in {}",
            human::count(imported.pages, "page"),
            human::count(imported.files, "file"),
        )
    });
    match (&opened.damaged, imported) {
        (Some(damaged), imported) => {
            let imported = imported.map_or_else(String::new, |imported| format!("; {imported}"));
            output.error(&format!(
                "{url}: {}; arpent renamed it to {} and starts a new state{imported}",
                damaged.problem,
                damaged.aside.display()
            ));
        }
        (None, Some(imported)) => output.warn(&format!(
            "{url}: the state does not have the published set, or is older than the set (a copy, or the state of another user?); {imported}"
        )),
        (None, None) => {}
    }
    for warning in &opened.warnings {
        output.warn(&format!("{url}: {warning}"));
    }
}
