//! Where the dates of the entries came from.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::human;

/// Adds how many of the `listed` entries have a date, and where these came from, the most frequent source first.
pub(super) fn add_dates(
    by_source: &BTreeMap<&'static str, u64>,
    listed: u64,
    lines: &mut Vec<String>,
) {
    let mut sources: Vec<_> = by_source.iter().collect();
    sources.sort_by_key(|(_, count)| Reverse(**count));
    let dated: u64 = by_source.values().sum();
    if dated == 0 {
        return;
    }
    let sources: Vec<String> = sources
        .iter()
        .map(|(source, count)| format!("{} by {source}", human::number(**count)))
        .collect();
    lines.push(format!(
        "  {} of {} with lastmod: {}",
        human::number(dated),
        human::number(listed),
        sources.join(", ")
    ));
}
