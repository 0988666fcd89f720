//! How a job ends that has published: what is told of the set that stands now, whatever it was made from.

use crawler::{
    publish::{PublishError, Published},
    report::Report,
    store::StoreError,
};

use crate::{
    exit_code::ExitCode,
    output::Output,
    summary::{Outcome, RobotsFile, Summary},
};

/// What publishing came to.
pub(super) struct Ended {
    /// The set that stands now.
    pub(super) published: Result<Published, PublishError>,
    /// What is known of the site behind it.
    pub(super) report: Result<Report, StoreError>,
    /// The robots.txt that should name the set.
    pub(super) robots: RobotsFile,
    /// Nothing was to be written.
    pub(super) dry_run: bool,
    /// Something is missing in the set.
    pub(super) is_partial: bool,
}

impl Ended {
    /// Tells all of it, and puts it into the summary of the site.
    ///
    /// # Errors
    /// Nothing was published.
    pub(super) fn tell(self, summary: &mut Summary, output: &Output) -> anyhow::Result<ExitCode> {
        let mut problems = Vec::new();
        match self.report {
            // Publishing may have judged again, so what it left behind is what is told.
            Ok(report) => summary.set_report(report),
            Err(error) => problems.push(format!("{:#}", anyhow::Error::from(error))),
        }
        let published = self.published?;
        // The set stands whatever failed behind it: that is told, and the next start does it again.
        problems.extend_from_slice(&published.problems);
        for problem in &problems {
            output.error(&format!("{}: {problem}", summary.site));
        }
        for note in &published.notes {
            output.warn(&note.text);
        }
        summary.set_published(&published, &self.robots);
        summary.outcome = match (self.dry_run, self.is_partial, summary.has_changed()) {
            (true, _, _) => Outcome::DryRun,
            (false, true, _) => Outcome::Partial,
            (false, false, true) => Outcome::Published,
            (false, false, false) => Outcome::Unchanged,
        };
        Ok(if self.is_partial || !problems.is_empty() {
            ExitCode::Partial
        } else {
            ExitCode::Success
        })
    }
}
