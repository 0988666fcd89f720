//! The parts of the page of a report that come from its outline: numbers, charts, and the short tables. Text of a site is
//! escaped here.

use std::{cmp::Reverse, time::Duration};

use crawler::{
    page::Reason,
    site_report::{ReportOutline, SectionOutline},
    store::RunRow,
};

use super::charts;
use crate::human;

/// Bars of a chart.
const MAX_BARS: usize = 12;

/// Directories of the table.
const MAX_SECTIONS: usize = 40;

/// Rows of a table.
const MAX_ROWS: usize = 100;

/// Sessions that are shown.
const MAX_RUNS: usize = 20;

/// All of these parts.
pub(super) fn html(outline: &ReportOutline) -> String {
    let parts = [
        tiles(outline),
        reasons(outline),
        sections(outline),
        growth(&outline.runs),
        politeness(outline),
        patterns(outline),
        duplicates(outline),
        orphans(outline),
        times(outline),
        lastmod(outline),
    ];
    parts.concat()
}

/// A text as HTML, also within quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// A URL, as a link where it leads to the web.
fn link(url: &str) -> String {
    let text = escaped(url);
    if url.starts_with("https://") || url.starts_with("http://") {
        format!("<a href=\"{text}\" rel=\"noreferrer noopener\">{text}</a>")
    } else {
        text
    }
}

fn number(value: u64) -> String {
    human::number(value)
}

fn section(id: &str, title: &str, content: &str) -> String {
    format!("<section><h2 id=\"{id}\">{title}</h2>\n{content}</section>\n")
}

/// A table; of each row the cells are HTML.
fn table(name: &str, heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let cell = |tag: &str, text: &str| format!("<{tag}>{text}</{tag}>");
    let heads = heads
        .iter()
        .map(|head| format!("<th scope=\"col\">{head}</th>"));
    let rows = rows.into_iter().map(|cells| {
        let cells = cells.iter().map(|text| cell("td", text));
        cell("tr", &cells.collect::<String>())
    });
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
        heads.collect::<String>(),
        rows.collect::<Vec<_>>().join("\n"),
    )
}

fn figure(chart: Option<String>) -> String {
    chart.map_or_else(String::new, |svg| format!("<figure>{svg}</figure>\n"))
}

fn more(count: usize, most: usize) -> String {
    match count.saturating_sub(most) {
        0 => String::new(),
        more => format!("<p class=\"quiet\">and {} more</p>\n", number(more as u64)),
    }
}

fn tiles(outline: &ReportOutline) -> String {
    let queued: u64 = outline
        .reasons
        .iter()
        .filter(|((state, _), _)| *state == "queued")
        .map(|(_, reason)| reason.count)
        .sum();
    let left_out = outline.known - outline.listed - outline.failed - queued;
    let broken = outline
        .targets
        .values()
        .filter(|target| !target.is_redirect);
    let conflicts = outline.conflicts.values().map(|kind| kind.count).sum();
    let tiles = [
        ("known URLs", outline.known),
        ("listed", outline.listed),
        ("left out", left_out),
        ("failed", outline.failed),
        ("not reached", queued),
        ("broken targets", broken.count() as u64),
        ("conflicts", conflicts),
        ("orphans", outline.orphans),
    ];
    let tiles = tiles
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", number(*value)));
    format!("<dl class=\"tiles\">{}</dl>\n", tiles.collect::<String>())
}

fn reasons(outline: &ReportOutline) -> String {
    let mut reasons: Vec<_> = outline.reasons.iter().collect();
    reasons.sort_by_key(|(_, urls)| Reverse(urls.count));
    let bars: Vec<_> = reasons
        .iter()
        .take(MAX_BARS)
        .map(|((_, code), urls)| ((*code).to_owned(), urls.count))
        .collect();
    let rows = reasons.iter().map(|((state, code), urls)| {
        let text = Reason::from_code(code).map_or("", Reason::text);
        let examples: Vec<_> = urls.examples.iter().map(|url| link(url)).collect();
        vec![
            (*state).to_owned(),
            (*code).to_owned(),
            number(urls.count),
            text.to_owned(),
            examples.join("<br>"),
        ]
    });
    let heads = ["State", "Reason", "URLs", "What it means", "Examples"];
    let content =
        figure(charts::bars("URLs by reason", &bars)) + &table("URLs by reason", &heads, rows);
    section("reasons", "URLs by reason", &content)
}

fn sections(outline: &ReportOutline) -> String {
    let mut sections: Vec<_> = outline.sections.iter().collect();
    sections.sort_by_key(|(_, section)| Reverse(section.known));
    let bars: Vec<_> = sections
        .iter()
        .take(MAX_BARS)
        .map(|(name, section)| ((*name).clone(), section.known))
        .collect();
    let rows = sections.iter().take(MAX_SECTIONS).map(|(name, section)| {
        vec![
            escaped(name),
            number(section.listed),
            number(section.known),
            reasons_of(section),
        ]
    });
    let heads = ["Directory", "Listed", "Known", "Left out"];
    let content = figure(charts::bars("Known URLs by directory", &bars))
        + &table("URLs by directory", &heads, rows)
        + &more(sections.len(), MAX_SECTIONS);
    section("sections", "URLs by directory", &content)
}

/// The reasons of a directory, the most frequent first.
pub(super) fn reasons_of(section: &SectionOutline) -> String {
    let mut reasons: Vec<_> = section.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| Reverse(**count));
    let reasons = reasons
        .iter()
        .map(|(code, count)| format!("{code} {}", number(**count)));
    reasons.collect::<Vec<_>>().join(", ")
}

fn growth(runs: &[RunRow]) -> String {
    let count = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), number);
    let rows = runs.iter().rev().take(MAX_RUNS).map(|run| {
        let lasted = run.ended.map(|ended| ended.duration_since(run.began));
        let lasted = lasted.and_then(|lasted| Duration::try_from(lasted).ok());
        vec![
            run.began.strftime("%Y-%m-%d %H:%M").to_string(),
            lasted.map_or_else(|| "-".to_owned(), human::duration),
            escaped(run.outcome.as_deref().unwrap_or("no end")),
            count(run.listed),
            count(run.known),
            count(run.failed),
            count(run.fetched),
        ]
    });
    let heads = [
        "Began (UTC)",
        "Took",
        "Outcome",
        "Listed",
        "Known",
        "Failed",
        "Fetched",
    ];
    let chart = charts::growth("Listed and known URLs of the sessions", runs);
    let caption = if chart.is_some() {
        "<p class=\"quiet\">Thick line: listed URLs; thin line: known URLs.</p>\n"
    } else {
        ""
    };
    let content =
        figure(chart) + caption + &table("Sessions", &heads, rows) + &more(runs.len(), MAX_RUNS);
    section("growth", "Sessions", &content)
}

/// Names and values of how polite the last session was; empty where none is known.
pub(super) fn politeness_of(outline: &ReportOutline) -> Vec<(&'static str, String)> {
    let Some(run) = outline.last_run() else {
        return Vec::new();
    };
    let milliseconds = |value: u64| human::duration(Duration::from_millis(value));
    let lasted = run.ended.map(|ended| ended.duration_since(run.began));
    let seconds = lasted
        .map(|lasted| lasted.as_secs_f64())
        .filter(|seconds| *seconds > 0.0);
    let requests = run.requests.unwrap_or_default();
    let mut facts = vec![("requests", number(requests))];
    if let Some(seconds) = seconds {
        #[expect(clippy::cast_precision_loss, reason = "a rate has two digits")]
        let rate = requests as f64 / seconds;
        facts.push(("requests per second", human::speed(rate)));
    }
    facts.extend([
        (
            "waited for the host",
            milliseconds(run.waited_ms.unwrap_or_default()),
        ),
        (
            "Retry-After obeyed",
            number(run.retry_afters.unwrap_or_default()),
        ),
        ("slowdowns", number(run.slowdowns.unwrap_or_default())),
        (
            "disallowed by robots.txt",
            human::count(run.robots_disallowed.unwrap_or_default(), "URL"),
        ),
    ]);
    if let Some(interval) = run.interval_ms {
        facts.push(("time between requests at the end", milliseconds(interval)));
    }
    facts
}

fn politeness(outline: &ReportOutline) -> String {
    let facts = politeness_of(outline);
    if facts.is_empty() {
        return String::new();
    }
    let facts = facts
        .iter()
        .map(|(name, value)| vec![(*name).to_owned(), value.clone()]);
    let content = table("Politeness of the last session", &["Fact", "Value"], facts);
    section("politeness", "Politeness of the last session", &content)
}

fn patterns(outline: &ReportOutline) -> String {
    if outline.patterns.is_empty() {
        return String::new();
    }
    let rows = outline.patterns.iter().take(MAX_ROWS).map(|pattern| {
        vec![
            escaped(&pattern.name),
            pattern.kind.to_owned(),
            number(pattern.asked),
            number(pattern.left_out),
            number(pattern.not_asked),
            link(&pattern.example),
        ]
    });
    let heads = [
        "Pattern",
        "Kind",
        "Requested",
        "Of these not listed",
        "Not requested",
        "Example",
    ];
    let mut content = String::new();
    if let Some(line) = exclude_line(outline) {
        content = format!(
            "<p>If the site needs none of the pages there, this line ends these places; no listed page matches:</p>\n\
             <pre><code>{}</code></pre>\n",
            escaped(&line)
        );
    }
    content += &table(
        "Parts without end, and parameters without effect",
        &heads,
        rows,
    );
    section("patterns", "Parts without end", &content)
}

/// The line of the settings that ends all places without end that hold no listed page.
pub(super) fn exclude_line(outline: &ReportOutline) -> Option<String> {
    // A glob of ours has no apostrophe but one of a URL, which TOML writes in quotes.
    let rules = outline.excludes().map(|glob| {
        if glob.contains('\'') {
            format!("{glob:?}")
        } else {
            format!("'{glob}'")
        }
    });
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| format!("exclude = [{}]", rules.join(", ")))
}

fn duplicates(outline: &ReportOutline) -> String {
    if outline.duplicates.is_empty() {
        return String::new();
    }
    let mut duplicates: Vec<_> = outline.duplicates.iter().collect();
    duplicates.sort_by_key(|(_, copies)| Reverse(copies.count));
    let rows = duplicates.iter().take(MAX_ROWS).map(|(url, copies)| {
        let examples: Vec<_> = copies.examples.iter().map(|url| link(url)).collect();
        vec![link(url), number(copies.count), examples.join("<br>")]
    });
    let content = table(
        "Duplicates",
        &["Listed page", "Copies", "The first of them"],
        rows,
    ) + &more(duplicates.len(), MAX_ROWS);
    section("duplicates", "Duplicates", &content)
}

fn orphans(outline: &ReportOutline) -> String {
    if outline.orphans == 0 {
        return String::new();
    }
    let items = outline
        .first_orphans
        .iter()
        .map(|url| format!("<li>{}</li>", link(url)));
    let content = format!(
        "<p>Sitemaps, feeds or lists name {} that no page links to. The table of URLs shows all.</p><ul>{}</ul>\n",
        human::count(outline.orphans, "URL"),
        items.collect::<String>(),
    );
    section("orphans", "Orphans", &content)
}

/// How long answers took: half, nine tenths and 99 % of the pages.
pub(super) fn shares_of(outline: &ReportOutline) -> Option<String> {
    let shares = [(50, "half"), (90, "90 %"), (99, "99 %")].map(|(percent, name)| {
        let milliseconds = outline.duration_ms(percent)?;
        let time = human::duration(Duration::from_millis(milliseconds));
        Some(format!("{name} of the pages within {time}"))
    });
    let shares: Option<Vec<String>> = shares.into_iter().collect();
    Some(shares?.join(", "))
}

fn times(outline: &ReportOutline) -> String {
    let slow = outline.slow.iter().map(|(milliseconds, url)| {
        let time = human::duration(Duration::from_millis(*milliseconds));
        vec![time, link(url)]
    });
    let heavy = outline
        .heavy
        .iter()
        .map(|(bytes, url)| vec![human::bytes(*bytes), link(url)]);
    let shares = shares_of(outline).unwrap_or_else(|| "not measured".to_owned());
    let content = format!("<p>Answers took: {shares}.</p>\n")
        + &table("Slowest pages", &["Took", "URL"], slow)
        + "<h3>Heavy pages</h3>\n"
        + &table("Heaviest pages", &["Size", "URL"], heavy);
    section("times", "Slow pages", &content)
}

fn lastmod(outline: &ReportOutline) -> String {
    let rows = outline
        .lastmod_sources
        .iter()
        .map(|(source, count)| vec![(*source).to_owned(), number(*count)]);
    let content = table(
        "Sources of lastmod",
        &["Source of lastmod", "Listed URLs"],
        rows,
    ) + "<p class=\"quiet\">arpent why URL shows the dates of one page, and the dates that were not used.</p>\n";
    section("lastmod", "Evidence for lastmod", &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_site_says_is_text() {
        assert_eq!(
            escaped("<a b='c\"&'>"),
            "&lt;a b=&#39;c&quot;&amp;&#39;&gt;"
        );
        assert_eq!(link("javascript:alert(1)"), "javascript:alert(1)");
        assert!(
            link("https://h.example/\"><x")
                .starts_with("<a href=\"https://h.example/&quot;&gt;&lt;x\"")
        );
    }
}
