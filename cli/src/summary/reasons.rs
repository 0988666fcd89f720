//! Why URLs, or parts of entries, are not in the set.

use std::{cmp::Reverse, collections::BTreeMap};

use crawler::page::Reason;

use crate::human;

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

/// Adds a total and its parts (count, code, text), the largest first.
pub(super) fn add_reasons(
    lines: &mut Vec<String>,
    word: &str,
    mut reasons: Vec<(u64, &str, &str)>,
) {
    let total: u64 = reasons.iter().map(|(count, ..)| count).sum();
    if total == 0 {
        return;
    }
    lines.push(format!("  {} {word}:", human::number(total)));
    reasons.sort_by_key(|(count, code, _)| (Reverse(*count), *code));
    let width = reasons
        .first()
        .map_or(0, |(count, ..)| human::number(*count).len());
    for (count, code, text) in reasons {
        lines.push(format!(
            "    {:>width$}  {text} ({code})",
            human::number(count)
        ));
    }
}
