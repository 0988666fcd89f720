//! A report as one JSON object: the counts of its outline, with the first URLs of each reason. The rows are in `--ndjson`.

use crawler::site_report::{ConflictKind, ReportOutline};
use serde_json::{Map, Value, json};

/// The report on `site`.
pub(super) fn document(site: &str, outline: &ReportOutline) -> Value {
    let reasons = outline.reasons.iter().map(|((state, reason), urls)| {
        json!({"state": state, "reason": reason, "count": urls.count, "examples": urls.examples})
    });
    let sections = outline.sections.iter().map(|(path, section)| {
        let (known, listed, reasons) = (section.known, section.listed, &section.reasons);
        json!({"path": path, "known": known, "listed": listed, "reasons": reasons})
    });
    let conflicts = outline.conflicts.iter();
    let conflicts: Map<String, Value> = conflicts
        .map(|(kind, conflicts)| (code_of(*kind), json!(conflicts.count)))
        .collect();
    let redirected = outline.targets.values().filter(|target| target.is_redirect);
    let redirected = redirected.count();
    json!({
        "version": 1,
        "site": site,
        "known": outline.known,
        "listed": outline.listed,
        "failed": outline.failed,
        "reasons": reasons.collect::<Vec<_>>(),
        "sections": sections.collect::<Vec<_>>(),
        "broken_targets": outline.targets.len() - redirected,
        "redirected_targets": redirected,
        "duplicates": outline.duplicates.len(),
        "patterns": outline.patterns,
        "orphans": {"count": outline.orphans, "examples": outline.first_orphans},
        "conflicts": conflicts,
        "lastmod": outline.lastmod_sources,
    })
}

/// The code of a kind, as in the rows.
fn code_of(kind: ConflictKind) -> String {
    let code = serde_json::to_value(kind).unwrap_or_default();
    code.as_str().unwrap_or_default().to_owned()
}
