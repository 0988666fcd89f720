//! `arpent status` for people: one line per site. What is known of the sites is not decided here.

use jiff::Timestamp;

use super::{SiteStatus, relative};
use crate::{
    human,
    output::{Output, Paint},
};

/// The heads of the table.
const HEADS: [&str; 6] = [
    "SITE",
    "LAST SESSION",
    "ENDED",
    "LISTED",
    "LAST GOOD",
    "NEXT CRAWL",
];

/// Column of the last session.
const LAST_SESSION_COLUMN: usize = 1;

/// One line per site, and what went wrong below it.
pub(super) fn print(sites: &[SiteStatus], now: Timestamp, output: &Output) {
    if sites.is_empty() {
        output.info("no site was crawled with this state");
        return;
    }
    let rows: Vec<_> = sites.iter().map(|site| cells_of(site, now)).collect();
    let mut widths = HEADS.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let heads = HEADS.map(str::to_owned);
    print_row(&heads, widths, [Paint::Bold; 2], output);
    for (site, row) in sites.iter().zip(&rows) {
        let paint = if site.has_failed() {
            Paint::Error
        } else {
            Paint::Plain
        };
        print_row(row, widths, [Paint::Plain, paint], output);
        if let Some(count) = site.failed_in_a_row.filter(|count| *count > 1) {
            output.data(&format!(
                "  the last {} were refused or failed",
                human::count(count.into(), "session")
            ));
        }
        if let Some(message) = &site.message {
            output.data(&format!("  {message}"));
        }
    }
}

/// The cells of a site's line.
fn cells_of(site: &SiteStatus, now: Timestamp) -> [String; HEADS.len()] {
    let nothing = || "-".to_owned();
    let at = |time: Timestamp| format!("{} ({})", site.time_zone.minute(time), relative(time, now));
    let next = match (site.running_since, site.next) {
        (Some(since), _) => format!("under way since {}", at(since)),
        (None, Some(next)) if next <= now => {
            format!("due since {}", site.time_zone.minute(next))
        }
        (None, Some(next)) => at(next),
        (None, None) => nothing(),
    };
    [
        site.name.clone(),
        site.outcome.clone().unwrap_or_else(nothing),
        site.ended.map_or_else(nothing, at),
        site.listed.map_or_else(nothing, human::number),
        site.last_good
            .map_or_else(nothing, |good| relative(good, now)),
        next,
    ]
}

/// Prints cells as wide as their columns; the last cell ends with its text.
fn print_row<const N: usize>(
    cells: &[String; N],
    mut widths: [usize; N],
    [plain, last_session]: [Paint; 2],
    output: &Output,
) {
    widths[N - 1] = 0;
    let cells = cells.iter().zip(widths);
    let cells: Vec<_> = cells
        .map(|(cell, width)| format!("{cell:width$}"))
        .collect();
    let mut pieces = Vec::new();
    for (column, cell) in cells.iter().enumerate() {
        let is_last_session = column == LAST_SESSION_COLUMN;
        let space = if column == 0 { "" } else { "  " };
        let paint = if is_last_session { last_session } else { plain };
        pieces.extend([(plain, space), (paint, cell)]);
    }
    output.data_painted(&pieces);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_line_of_the_table_says_when() {
        let site = SiteStatus {
            name: "shop".to_owned(),
            outcome: Some("unchanged".to_owned()),
            ended: Some(at("2026-06-02T02:31:40Z")),
            last_good: Some(at("2026-06-02T02:31:40Z")),
            listed: Some(12_345),
            next: Some(at("2026-06-03T02:30:00Z")),
            ..SiteStatus::default()
        };
        let expected = [
            "shop",
            "unchanged",
            "2026-06-02 02:31Z (9 h 28 min ago)",
            "12,345",
            "9 h 28 min ago",
            "2026-06-03 02:30Z (in 14 h 30 min)",
        ];
        assert_eq!(cells_of(&site, at("2026-06-02T12:00:00Z")), expected);
        assert!(!site.has_failed());
        let late = cells_of(&site, at("2026-06-03T02:31:00Z"));
        assert_eq!(late[5], "due since 2026-06-03 02:30Z");
        let running = SiteStatus {
            running_since: Some(at("2026-06-03T02:30:00Z")),
            ..site
        };
        let cells = cells_of(&running, at("2026-06-03T02:31:00Z"));
        assert_eq!(cells[5], "under way since 2026-06-03 02:30Z (1 min ago)");
        let unknown = cells_of(&SiteStatus::default(), at("2026-06-02T12:00:00Z"));
        assert_eq!(unknown[1..], ["-"; 5]);
    }
}
