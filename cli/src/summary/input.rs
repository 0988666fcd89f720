//! What a build was made from.

use std::time::Duration;

use crawler::build::Loaded;
use serde::Serialize;

use super::{Summary, files::entries};
use crate::human;

/// Its part of the line of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct InputLine {
    /// Entries of lists and sitemaps.
    entries: u64,
    /// Files of folders.
    files: u64,
    /// Entries for a URL that has a better one.
    repeated: u64,
    /// Entries outside the site's directory.
    outside: u64,
    /// Lines and entries that cannot be used.
    left_out: u64,
    /// Values that cannot be used, of entries that are.
    values_left_out: u64,
}

impl From<&Loaded> for InputLine {
    fn from(loaded: &Loaded) -> Self {
        Self {
            entries: loaded.entries,
            files: loaded.files,
            repeated: loaded.repeated,
            outside: loaded.outside,
            left_out: loaded.left_out,
            values_left_out: loaded.values_left_out,
        }
    }
}

impl InputLine {
    /// Adds its part of the text; `took` is how long the build took.
    pub(super) fn add_to(&self, summary: &Summary, took: Duration, lines: &mut Vec<String>) {
        let entries = (self.entries > 0 || self.files == 0).then(|| entries(self.entries));
        let files = (self.files > 0).then(|| human::count(self.files, "file"));
        let read: Vec<String> = entries.into_iter().chain(files).collect();
        let read = read.join(" and ");
        lines.push(format!(
            "  {} listed of {} known; {read} read in {} ({})",
            human::number(summary.listed),
            human::count(summary.known, "URL"),
            human::duration(took),
            human::bytes(summary.bytes_in),
        ));
        let parts = [
            (
                self.repeated,
                "entry that repeats",
                "entries that repeat",
                "the URL of another, of which the better one counts",
            ),
            (
                self.outside,
                "entry",
                "entries",
                "outside the site, not listed",
            ),
            (
                self.left_out,
                "line",
                "lines",
                "that cannot be used, left out",
            ),
            (
                self.values_left_out,
                "value",
                "values",
                "that cannot be used, left out",
            ),
        ];
        for (count, one, many, what) in parts.into_iter().filter(|part| part.0 > 0) {
            let noun = if count == 1 { one } else { many };
            lines.push(format!("  {} {noun} {what}", human::number(count)));
        }
    }
}
