//! A report for the terminal.

use crawler::{
    page::Reason,
    site_report::{ReportOutline, TargetOutline},
};

use crate::human;

/// Sections, targets and patterns that are printed.
const MAX_LINES: usize = 20;

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
    if !outline.patterns.is_empty() {
        lines.extend([String::new(), "closed patterns".to_owned()]);
        for pattern in outline.patterns.iter().take(MAX_LINES) {
            lines.push(format!(
                "  {} ({}): {} read, {} new",
                pattern.name,
                pattern.kind,
                human::count(pattern.pages.into(), "page"),
                number(pattern.new.into()),
            ));
        }
        let pages: u64 = outline
            .patterns
            .iter()
            .map(|pattern| u64::from(pattern.pages))
            .sum();
        let rules = outline
            .patterns
            .iter()
            .map(|pattern| format!("'{}'", pattern.exclude));
        lines.push(format!(
            "  exclude = [{}]",
            rules.collect::<Vec<_>>().join(", ")
        ));
        lines.push(format!(
            "  saves {}; {} were not asked for already",
            human::count(pages, "request"),
            human::count(outline.not_asked, "URL"),
        ));
    }
    lines.extend([String::new(), "by directory: listed of known".to_owned()]);
    let mut sections: Vec<_> = outline.sections.iter().collect();
    sections.sort_by_key(|(_, (_, known))| std::cmp::Reverse(*known));
    for (section, (listed, known)) in sections.iter().take(MAX_LINES) {
        lines.push(format!(
            "  {section} {} of {}",
            number(*listed),
            number(*known)
        ));
    }
    add_more(
        sections.len().saturating_sub(MAX_LINES) as u64,
        "  ",
        &mut lines,
    );
    let sources = outline.lastmod_sources.iter();
    let sources: Vec<String> = sources
        .map(|(source, count)| format!("{} from {source}", number(*count)))
        .collect();
    if !sources.is_empty() {
        lines.extend([String::new(), format!("lastmod: {}", sources.join(", "))]);
    }
    if !outline.heavy.is_empty() {
        lines.extend([String::new(), "largest pages".to_owned()]);
        let heavy = outline.heavy.iter();
        lines.extend(heavy.map(|(bytes, url)| format!("  {} {url}", human::bytes(*bytes))));
    }
    lines
}

fn add_targets(outline: &ReportOutline, is_redirect: bool, name: &str, lines: &mut Vec<String>) {
    let of_kind = |(_, target): &(&String, &TargetOutline)| target.is_redirect == is_redirect;
    let mut targets: Vec<_> = outline.targets.iter().filter(of_kind).collect();
    if targets.is_empty() {
        return;
    }
    targets.sort_by_key(|(_, target)| std::cmp::Reverse(target.pages));
    let count = human::count(targets.len() as u64, "URL");
    lines.extend([String::new(), format!("{name}: {count}")]);
    for (url, target) in targets.iter().take(MAX_LINES) {
        let pages = human::count(target.pages, "page");
        lines.push(format!("  {url} ({}) on {pages}:", target.reason));
        lines.extend(target.examples.iter().map(|page| format!("    {page}")));
        add_more(target.pages - target.examples.len() as u64, "    ", lines);
    }
    add_more(targets.len().saturating_sub(MAX_LINES) as u64, "  ", lines);
}

fn add_more(count: u64, indent: &str, lines: &mut Vec<String>) {
    if count > 0 {
        lines.push(format!("{indent}and {} more", human::number(count)));
    }
}
