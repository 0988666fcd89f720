//! A report for the terminal.

use std::{cmp::Reverse, time::Duration};

use crawler::{
    page::Reason,
    site_report::{ReportOutline, TargetOutline},
};

use super::sections;
use crate::human;

/// Sections, targets and patterns that are printed.
const MAX_LINES: usize = 20;

/// Sessions that are printed.
const MAX_RUNS: usize = 10;

/// The lines of the report on `site`.
pub(super) fn lines(site: &str, outline: &ReportOutline) -> Vec<String> {
    let number = human::number;
    let mut lines = vec![format!(
        "{site}: {} of {} listed",
        number(outline.listed),
        human::count(outline.known, "known URL")
    )];
    let others = outline
        .reasons
        .iter()
        .filter(|((state, _), _)| *state != "listed");
    for ((state, code), urls) in others {
        let text = Reason::from_code(code).map_or("", Reason::text);
        let failed = if *state == "failed" { "failed: " } else { "" };
        lines.extend([
            String::new(),
            format!("{} {code}: {failed}{text}", number(urls.count)),
        ]);
        lines.extend(urls.examples.iter().map(|url| format!("  {url}")));
        add_more(urls.count - urls.examples.len() as u64, "  ", &mut lines);
    }
    for (is_redirect, name) in [
        (false, "broken links"),
        (true, "links to URLs that redirect"),
    ] {
        add_targets(outline, is_redirect, name, &mut lines);
    }
    add_conflicts(outline, &mut lines);
    add_duplicates(outline, &mut lines);
    if outline.orphans > 0 {
        let count = human::count(outline.orphans, "URL");
        lines.extend([
            String::new(),
            format!("orphans: {count} that no page links to"),
        ]);
        lines.extend(outline.first_orphans.iter().map(|url| format!("  {url}")));
        let more = outline.orphans - outline.first_orphans.len() as u64;
        add_more(more, "  ", &mut lines);
    }
    if !outline.patterns.is_empty() {
        lines.extend([
            String::new(),
            "parts without end, and parameters without effect".to_owned(),
        ]);
        for pattern in outline.patterns.iter().take(MAX_LINES) {
            lines.push(format!(
                "  {} ({}): {} requested, {} of them not listed; {} not requested",
                pattern.name,
                pattern.kind,
                human::count(pattern.asked, "page"),
                number(pattern.left_out),
                human::count(pattern.not_asked, "URL"),
            ));
        }
        let line = sections::exclude_line(outline);
        lines.extend(
            line.map(|line| format!("  {line} ends those with a rule; no listed page matches")),
        );
    }
    lines.extend([String::new(), "by directory: listed of known".to_owned()]);
    let mut sections: Vec<_> = outline.sections.iter().collect();
    sections.sort_by_key(|(_, section)| Reverse(section.known));
    for (name, section) in sections.iter().take(MAX_LINES) {
        let reasons = Some(sections::reasons_of(section)).filter(|reasons| !reasons.is_empty());
        lines.push(format!(
            "  {name} {} of {}{}",
            number(section.listed),
            number(section.known),
            reasons.map_or_else(String::new, |reasons| format!(" ({reasons})")),
        ));
    }
    add_more(
        sections.len().saturating_sub(MAX_LINES) as u64,
        "  ",
        &mut lines,
    );
    let sources = outline.lastmod_sources.iter();
    let sources: Vec<String> = sources
        .map(|(source, count)| match *source {
            "none" => format!("{} without", number(*count)),
            source => format!("{} from {source}", number(*count)),
        })
        .collect();
    if !sources.is_empty() {
        lines.extend([String::new(), format!("lastmod: {}", sources.join(", "))]);
    }
    if let Some(shares) = sections::shares_of(outline) {
        lines.extend([String::new(), format!("slow pages: {shares}")]);
        lines.extend(outline.slow.iter().map(|(milliseconds, url)| {
            let time = human::duration(Duration::from_millis(*milliseconds));
            format!("  {time} {url}")
        }));
    }
    if !outline.heavy.is_empty() {
        lines.extend([String::new(), "heavy pages".to_owned()]);
        let heavy = outline.heavy.iter();
        lines.extend(heavy.map(|(bytes, url)| format!("  {} {url}", human::bytes(*bytes))));
    }
    add_runs(outline, &mut lines);
    lines
}

fn add_conflicts(outline: &ReportOutline, lines: &mut Vec<String>) {
    for (kind, conflicts) in &outline.conflicts {
        let count = human::count(conflicts.count, "time");
        lines.extend([String::new(), format!("{count}: {}", kind.text())]);
        lines.extend(conflicts.examples.iter().map(|conflict| {
            let words = [&conflict.language, &conflict.target];
            let words = words.into_iter().flatten().map(String::as_str);
            let words = words.chain(conflict.target_reason);
            let words: String = words.flat_map(|word| [" ", word]).collect();
            format!("  {}{words}", conflict.url)
        }));
        add_more(
            conflicts.count - conflicts.examples.len() as u64,
            "  ",
            lines,
        );
    }
    if !outline.has_languages {
        lines.extend([
            String::new(),
            "the crawl did not read versions in other languages; --with hreflang reads them"
                .to_owned(),
        ]);
    }
}

fn add_duplicates(outline: &ReportOutline, lines: &mut Vec<String>) {
    if outline.duplicates.is_empty() {
        return;
    }
    let mut duplicates: Vec<_> = outline.duplicates.iter().collect();
    duplicates.sort_by_key(|(_, copies)| Reverse(copies.count));
    let count = human::count(duplicates.len() as u64, "page");
    lines.extend([String::new(), format!("duplicates: {count} with copies")]);
    for (url, copies) in duplicates.iter().take(MAX_LINES) {
        lines.push(format!("  {url}"));
        lines.extend(copies.examples.iter().map(|copy| format!("    {copy}")));
        add_more(copies.count - copies.examples.len() as u64, "    ", lines);
    }
    add_more(
        duplicates.len().saturating_sub(MAX_LINES) as u64,
        "  ",
        lines,
    );
}

/// The politeness of the last session, and how the site grew.
fn add_runs(outline: &ReportOutline, lines: &mut Vec<String>) {
    let facts = sections::politeness_of(outline);
    if !facts.is_empty() {
        lines.extend([String::new(), "politeness of the last session".to_owned()]);
        lines.extend(
            facts
                .iter()
                .map(|(name, value)| format!("  {name}: {value}")),
        );
    }
    if !outline.runs.is_empty() {
        lines.extend([String::new(), "sessions, the newest first".to_owned()]);
    }
    let count = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), human::number);
    for run in outline.runs.iter().rev().take(MAX_RUNS) {
        lines.push(format!(
            "  {} {}: {} listed of {} known, {} fetched",
            run.began.strftime("%Y-%m-%d %H:%M"),
            run.outcome.as_deref().unwrap_or("no end"),
            count(run.listed),
            count(run.known),
            count(run.fetched),
        ));
    }
}

fn add_targets(outline: &ReportOutline, is_redirect: bool, name: &str, lines: &mut Vec<String>) {
    let of_kind = |(_, target): &(&String, &TargetOutline)| target.is_redirect == is_redirect;
    let mut targets: Vec<_> = outline.targets.iter().filter(of_kind).collect();
    if targets.is_empty() {
        return;
    }
    targets.sort_by_key(|(_, target)| Reverse(target.pages));
    let count = human::count(targets.len() as u64, "URL");
    lines.extend([String::new(), format!("{name}: {count}")]);
    for (url, target) in targets.iter().take(MAX_LINES) {
        let pages = human::count(target.pages, "page");
        lines.push(format!("  {url} ({}) on {pages}:", target.reason));
        lines.extend(target.examples.iter().map(|(page, text)| match text {
            Some(text) => format!("    {page} \"{text}\""),
            None => format!("    {page}"),
        }));
        add_more(target.pages - target.examples.len() as u64, "    ", lines);
    }
    add_more(targets.len().saturating_sub(MAX_LINES) as u64, "  ", lines);
}

fn add_more(count: u64, indent: &str, lines: &mut Vec<String>) {
    if count > 0 {
        lines.push(format!("{indent}and {} more", human::number(count)));
    }
}
