//! The files of a set.

use super::{SessionOutcome, Summary, robots::RobotsLine};
use crate::human;

/// Files named in the text; the JSON names all.
const MAX_FILES_SHOWN: usize = 20;

/// Adds the files of a summary to its text.
pub(super) fn add_lines(summary: &Summary, lines: &mut Vec<String>) {
    let written = summary.files.iter().filter(|file| file.changed).count();
    let place = summary
        .output
        .as_ref()
        .map(|folder| format!(" in {}", folder.display()))
        .unwrap_or_default();
    let (files, written) = (summary.files.len() as u64, written as u64);
    let dropped = match summary.dropped {
        0 => String::new(),
        dropped => format!(", {} dropped", human::number(dropped as u64)),
    };
    let verb = if summary.outcome == SessionOutcome::DryRun {
        "to write"
    } else {
        "written"
    };
    lines.push(format!(
        "  {}{place}: {} {verb}, {} unchanged{dropped}",
        human::count(files, "file"),
        human::number(written),
        human::number(files - written),
    ));
    let shown = || summary.files.iter().take(MAX_FILES_SHOWN);
    let width = shown()
        .map(|file| file.name.chars().count())
        .max()
        .unwrap_or(0);
    for file in shown() {
        let word = if file.changed { verb } else { "unchanged" };
        lines.push(format!(
            "    {:<width$}  {}, {word}",
            file.name,
            entries(file.entries)
        ));
    }
    if summary.files.len() > MAX_FILES_SHOWN {
        lines.push(format!(
            "    and {} more",
            human::number((summary.files.len() - MAX_FILES_SHOWN) as u64)
        ));
    }
    let sitemap = summary.robots_txt.first().and_then(RobotsLine::sitemap);
    if let Some((directory, _)) = sitemap.and_then(|url| url.rsplit_once('/'))
        && summary.outcome != SessionOutcome::DryRun
        && !summary.is_in_storage()
    {
        lines.push(format!(
            "  copy the files to {directory}/, unless the folder is served there"
        ));
    }
}

/// So many entries.
pub(super) fn entries(count: u64) -> String {
    let noun = if count == 1 { "entry" } else { "entries" };
    format!("{} {noun}", human::number(count))
}
