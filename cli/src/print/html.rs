//! A view as a part of a page. Text of a site is escaped here.

use crawler::view::{Cell, Curve, Row, Section, Tone, View};

use crate::human;

/// Width and height of a chart, which the page scales.
const CHART: (i64, u64) = (480, 160);

/// The sections of a view that have rows.
pub(crate) fn sections_of(view: &View) -> String {
    let sections = view.sections.iter();
    let sections = sections.filter(|section| !section.rows.is_empty());
    sections.map(section_of).collect()
}

/// A text, as a link where it is a URL of the web.
fn linked(text: &str) -> String {
    let html = human::html(text);
    let is_url = text.starts_with("https://") || text.starts_with("http://");
    if is_url && !text.contains(' ') {
        format!("<a href=\"{html}\" rel=\"noreferrer noopener\">{html}</a>")
    } else {
        html
    }
}

fn section_of(section: &Section) -> String {
    let mut parts = vec![format!("<section id=\"{}\">", section.name)];
    if !section.title.is_empty() {
        parts.push(format!("<h2>{}</h2>\n", human::html(&section.title)));
    }
    parts.push(chart_of(&section.curves));
    let of_one_kind = |one: &Row, other: &Row| one.cells.len() == other.cells.len();
    for rows in section.rows.chunk_by(of_one_kind) {
        let width = rows.first().map_or(0, |row| row.cells.len());
        parts.push(match (width, section.heads) {
            (1, _) => rows.iter().map(line_of).collect(),
            (2, []) => facts_of(rows),
            (_, _) => table_of(section, rows),
        });
    }
    if section.more > 0 {
        let more = human::number(section.more);
        parts.push(format!("<p class=\"quiet\">and {more} more</p>\n"));
    }
    parts.concat() + "</section>\n"
}

/// The lines below a row, each after `before`.
fn below(row: &Row, before: &str) -> String {
    let more = (row.more > 0).then(|| format!("and {} more", human::number(row.more)));
    let lines = row.below.iter().map(|line| linked(line)).chain(more);
    lines.flat_map(|line| [before.to_owned(), line]).collect()
}

fn line_of(row: &Row) -> String {
    let text = row
        .cells
        .iter()
        .map(|cell| linked(&cell.text()))
        .collect::<String>();
    format!("<p>{text}{}</p>\n", below(row, "<br>"))
}

/// Names with their values.
fn facts_of(rows: &[Row]) -> String {
    let facts = rows.iter().map(|row| {
        let below = below(row, "<br>");
        let [name, value] = [0, 1].map(|cell| linked(&row.cells[cell].text()));
        format!("<div><dt>{name}</dt><dd>{value}{below}</dd></div>")
    });
    format!("<dl class=\"tiles\">{}</dl>\n", facts.collect::<String>())
}

fn table_of(section: &Section, rows: &[Row]) -> String {
    let heads = section.heads.iter();
    let heads = heads.map(|head| format!("<th scope=\"col\">{}</th>", human::html(head)));
    let most = rows
        .iter()
        .filter_map(first_number)
        .max()
        .unwrap_or(1)
        .max(1);
    let rows = rows.iter().map(|row| {
        let mut share = section
            .has_bars
            .then(|| first_number(row).unwrap_or(0) * 100 / most);
        let last = row.cells.len().saturating_sub(1);
        let cells = row.cells.iter().enumerate().map(|(number, cell)| {
            let text = linked(&cell.text());
            let below = if number == last {
                below(row, "<br>")
            } else {
                String::new()
            };
            match cell {
                Cell::Number(_) => {
                    let style = share
                        .take()
                        .map_or_else(String::new, |share| format!(" style=\"--share: {share}%\""));
                    format!("<td class=\"number\"{style}>{text}{below}</td>")
                }
                Cell::Text(_) | Cell::Absent => format!("<td>{text}{below}</td>"),
            }
        });
        let class = match row.tone {
            Tone::Error => " class=\"bad\"",
            Tone::Strong => " class=\"good\"",
            Tone::Plain | Tone::Warning | Tone::Note => "",
        };
        format!("<tr{class}>{}</tr>\n", cells.collect::<String>())
    });
    let (heads, rows): (String, String) = (heads.collect(), rows.collect());
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>{heads}</tr></thead><tbody>\n\
         {rows}</tbody></table></div>\n",
        human::html(&section.title),
    )
}

fn first_number(row: &Row) -> Option<u64> {
    row.cells.iter().find_map(|cell| match cell {
        Cell::Number(number) => Some(*number),
        Cell::Text(_) | Cell::Absent => None,
    })
}

/// Numbers over time as lines, in the colours of the page; nothing where there are fewer than two times.
fn chart_of(curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (first, last) = (
        points().map(|point| point.0).min().unwrap_or(0),
        points().map(|point| point.0).max().unwrap_or(0),
    );
    if first >= last {
        return String::new();
    }
    let most = points().map(|point| point.1).max().unwrap_or(1).max(1);
    let ((width, height), names) = (CHART, curves.iter().map(|curve| curve.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let curves = curves.iter().enumerate().map(|(number, curve)| {
        let points = curve.points.iter().map(|(at, value)| {
            let x = (at - first) * width / (last - first);
            format!("{x},{}", height - value * height / most)
        });
        let points = points.collect::<Vec<_>>().join(" ");
        format!("<polyline class=\"curve{number}\" points=\"{points}\"/>")
    });
    format!(
        "<figure><svg role=\"img\" aria-label=\"{names} URLs of the sessions\" viewBox=\"-4 -4 {} {}\">{}</svg>\
         <figcaption>{names}; the top is {} URLs</figcaption></figure>\n",
        width + 8,
        height + 8,
        curves.collect::<String>(),
        human::number(most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_site_stays_text() {
        let expected = "&lt;a b=&#39;c&quot;&amp;&#39;&gt;";
        assert_eq!(human::html("<a b='c\"&'>"), expected);
        assert_eq!(linked("javascript:alert(1)"), "javascript:alert(1)");
        let link = linked("https://h.example/\"><x");
        assert!(link.starts_with("<a href=\"https://h.example/&quot;&gt;&lt;x\""));
    }

    #[test]
    fn sections_have_facts_tables_bars_and_charts() {
        let mut view = View::new("title");
        view.section("empty", "Empty");
        view.section("facts", "").fact("<b>", Some(1_000));
        let section = view.section("table", "Table");
        section.heads(&["URLs", "Reason"]);
        section.has_bars = true;
        section.row([10_u64.into(), "a".into()]);
        section
            .row([5.into(), "b".into()])
            .below(["https://h/x"], 3);
        section.line("a line");
        let curve = |points: &[(i64, u64)]| Curve {
            name: "listed",
            points: points.to_vec(),
        };
        section.curves = vec![curve(&[(0, 0), (10, 8)])];
        let html = sections_of(&view);
        for part in [
            "<section id=\"facts\"><dl class=\"tiles\"><div><dt>&lt;b&gt;</dt><dd>1,000</dd></div></dl>",
            "<td class=\"number\" style=\"--share: 50%\">5</td><td>b<br><a href=\"https://h/x\"",
            "<br>and 2 more</td>",
            "<p>a line</p>",
            "<polyline class=\"curve0\" points=\"0,160 480,0\"/>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("Empty"));
        assert_eq!(chart_of(&[curve(&[(5, 1)])]), "");
    }
}
