//! The counts of a summary as lines: URLs by reason, inputs of a build, dates and extensions.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    build::Loaded,
    export::{ExtensionCounts, KindCounts},
    human,
    page::{DateSource, Reason, with_code},
    view::{Row, Section},
};

/// Counts by reason, with the words for each.
pub(super) fn with_texts(
    reasons: &BTreeMap<&'static str, u64>,
) -> Vec<(u64, &'static str, &'static str)> {
    let with_text = |(code, count): (&&'static str, &u64)| {
        let text = Reason::from_code(code).map_or("", Reason::text);
        (*count, *code, text)
    };
    reasons.iter().map(with_text).collect()
}

/// So many entries.
pub(super) fn entries(count: u64) -> String {
    let noun = if count == 1 { "entry" } else { "entries" };
    format!("{} {noun}", human::number(count))
}

/// Adds a total and its parts (count, code, text), the largest first, each with its first URLs in `examples`, by code. Returns the row,
/// if there is one.
pub(super) fn add_reasons<'s>(
    section: &'s mut Section,
    word: &str,
    mut reasons: Vec<(u64, &str, &str)>,
    examples: &BTreeMap<&'static str, Vec<String>>,
) -> Option<&'s mut Row> {
    let total: u64 = reasons.iter().map(|(count, ..)| count).sum();
    if total == 0 {
        return None;
    }
    reasons.sort_by_key(|(count, code, _)| (Reverse(*count), *code));
    let largest = reasons.first().map_or(0, |(count, ..)| *count);
    let width = human::number(largest).len();
    let mut lines = Vec::new();
    for (count, code, text) in reasons {
        lines.push(format!(
            "{:>width$}  {}",
            human::number(count),
            with_code(text, code)
        ));
        let examples = examples.get(code).into_iter().flatten();
        lines.extend(examples.map(|url| format!("{:>width$}    {url}", "")));
    }
    let row = section.line(format!("{} {word}:", human::number(total)));
    row.below(lines, 0);
    Some(row)
}

/// A total and the codes of its parts as one line, the largest first; `None`: the total is zero.
pub(super) fn reasons_in_line(word: &str, reasons: &BTreeMap<&'static str, u64>) -> Option<String> {
    let mut reasons: Vec<_> = reasons.iter().filter(|(_, count)| **count > 0).collect();
    reasons.sort_by_key(|(code, count)| (Reverse(**count), **code));
    let total = reasons.iter().map(|(_, count)| **count).sum();
    let parts = reasons
        .iter()
        .map(|(code, count)| format!("{} {code}", human::number(**count)));
    let parts: Vec<String> = parts.collect();
    (total > 0).then(|| format!("{} {word}: {}", human::number(total), parts.join(", ")))
}

/// What was read of the inputs of a build.
pub(super) fn read_of(loaded: &Loaded) -> String {
    let files = human::count(loaded.files, "file");
    match (loaded.entries, loaded.files) {
        (count, 0) => entries(count),
        (0, _) => files,
        (count, _) => format!("{} and {files}", entries(count)),
    }
}

/// Adds what of the inputs of a build is not used as it is.
pub(super) fn add_unused(loaded: &Loaded, section: &mut Section) {
    let rows = [
        (
            loaded.repeated,
            "entry that repeats",
            "entries that repeat",
            "the URL of another, of which the better one counts",
        ),
        (
            loaded.outside,
            "entry",
            "entries",
            "outside the site, not listed",
        ),
        (
            loaded.left_out,
            "line",
            "lines",
            "that cannot be used, left out",
        ),
        (
            loaded.values_left_out,
            "value",
            "values",
            "that cannot be used, left out",
        ),
    ];
    for (count, one, many, what) in rows.into_iter().filter(|row| row.0 > 0) {
        let noun = if count == 1 { one } else { many };
        section.line(format!("{} {noun} {what}", human::number(count)));
    }
}

/// Adds how many of the `listed` entries have a date, and where these came from, the most frequent source first.
pub(super) fn add_dates(
    by_source: &BTreeMap<&'static str, u64>,
    listed: u64,
    section: &mut Section,
) {
    let dated: u64 = by_source.values().sum();
    if dated == 0 {
        if listed > 0 {
            section.line(format!(
                "no page of {} has a lastmod",
                human::number(listed)
            ));
        }
        return;
    }
    let mut sources: Vec<_> = by_source.iter().collect();
    sources.sort_by_key(|(_, count)| Reverse(**count));
    let sources = sources.iter();
    let sources: Vec<String> = sources
        .map(|(source, count)| {
            let source = DateSource::label_of(source);
            format!("{} from {source}", human::number(**count))
        })
        .collect();
    section.line(format!(
        "{} of {} with lastmod: {}",
        human::number(dated),
        human::number(listed),
        sources.join(", ")
    ));
}

/// Adds the counts of images, language versions, news and videos, where they were asked for.
pub(super) fn add_extensions(extensions: &ExtensionCounts, section: &mut Section) {
    let kinds = [
        (&extensions.images, "image"),
        (&extensions.hreflang, "language link"),
        (&extensions.news, "news article"),
        (&extensions.video, "video"),
    ];
    for (counts, thing) in kinds {
        let Some(KindCounts {
            pages,
            written,
            left_out,
            pages_cut,
            pages_not_read,
            changes_at: _,
        }) = counts
        else {
            continue;
        };
        section.line(format!(
            "{} in the entries of {}",
            human::count(*written, thing),
            human::count(*pages, "page")
        ));
        let plural = if left_out.values().sum::<u64>() == 1 {
            ""
        } else {
            "s"
        };
        let reasons = left_out.iter();
        let reasons = reasons.map(|(reason, count)| (*count, reason.code(), reason.text()));
        add_reasons(
            section,
            &format!("{thing}{plural} left out"),
            reasons.collect(),
            &BTreeMap::new(),
        );
        let rows = [
            (pages_cut, format!("with more {thing}s than are taken")),
            (
                pages_not_read,
                format!("read before {thing}s were asked for: the next crawl takes them"),
            ),
        ];
        for (count, what) in rows.into_iter().filter(|(count, _)| **count > 0) {
            section.line(format!("{} {what}", human::count(*count, "page")));
        }
    }
}
