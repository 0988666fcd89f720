//! The charts of a report as SVG inside a page, in the colours of the page: bars and lines.

use crawler::store::RunRow;
use jiff::Timestamp;
use plotters::{prelude::*, style::TextStyle};

/// Width of a chart; the page scales it.
const WIDTH: u32 = 480;

/// Height of a bar with its distance from the next.
const BAR_HEIGHT: u32 = 24;

/// Room for the names of bars.
const NAME_WIDTH: u32 = 210;

/// Longest name of a bar, in characters.
const MAX_NAME: usize = 30;

/// Placeholders for colours of the style of the page: a colour of SVG has no name.
const COLOURS: [(RGBColor, &str, &str); 3] = [
    (MARK, "#010203", "var(--mark)"),
    (TEXT, "#040506", "var(--text)"),
    (LINE, "#070809", "var(--line)"),
];
const MARK: RGBColor = RGBColor(1, 2, 3);
const TEXT: RGBColor = RGBColor(4, 5, 6);
const LINE: RGBColor = RGBColor(7, 8, 9);

/// The reason that there is no chart.
type ChartError = Box<dyn std::error::Error>;

/// Bars with their names, from the top down; `None` without any.
pub(super) fn bars(title: &str, rows: &[(String, u64)]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    drawn(title, |svg| draw_bars(svg, rows))
}

/// How many URLs the sessions knew and listed; `None` with fewer than two.
pub(super) fn growth(title: &str, runs: &[RunRow]) -> Option<String> {
    let points = runs.iter().filter_map(|run| {
        let (listed, known) = (run.listed?, run.known?);
        Some((run.began.as_second(), listed, known))
    });
    let points: Vec<_> = points.collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    if first >= last {
        return None;
    }
    drawn(title, |svg| draw_growth(svg, (first, last), &points))
}

/// A chart with its title for those who do not see it.
fn drawn(title: &str, draw: impl FnOnce(&mut String) -> Result<(), ChartError>) -> Option<String> {
    let mut svg = String::new();
    draw(&mut svg).ok()?;
    for (_, colour, variable) in COLOURS {
        svg = svg.replace(colour, variable);
    }
    let label = format!("<svg role=\"img\" aria-label=\"{title}\" ");
    Some(svg.replacen("<svg ", &label, 1))
}

fn label_style() -> TextStyle<'static> {
    ("sans-serif", 16).into_font().color(&TEXT)
}

fn draw_bars(svg: &mut String, rows: &[(String, u64)]) -> Result<(), ChartError> {
    let count = rows.len();
    let height = BAR_HEIGHT * u32::try_from(count)? + 8;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    let most = rows
        .iter()
        .map(|(_, value)| *value)
        .max()
        .unwrap_or(1)
        .max(1);
    let (names, plot) = root.split_horizontally(NAME_WIDTH);
    let (_, plot_height) = plot.dim_in_pixel();
    let width = u64::from(WIDTH - NAME_WIDTH - 8);
    for (number, (name, value)) in rows.iter().enumerate() {
        let top = i32::try_from(BAR_HEIGHT)? * i32::try_from(number)? + 4;
        let bottom = (top + i32::try_from(BAR_HEIGHT)? - 6).min(i32::try_from(plot_height)?);
        let length = i32::try_from(value * width / most)?.max(1);
        plot.draw(&Rectangle::new([(0, top), (length, bottom)], MARK.filled()))?;
        let name: String = name.chars().take(MAX_NAME).collect();
        let text = format!("{name} {}", crate::human::number(*value));
        names.draw(&Text::new(text, (0, top + 3), label_style()))?;
    }
    root.present()?;
    Ok(())
}

fn draw_growth(
    svg: &mut String,
    (first, last): (i64, i64),
    points: &[(i64, u64, u64)],
) -> Result<(), ChartError> {
    let root = SVGBackend::with_string(svg, (WIDTH, 240)).into_drawing_area();
    let most = points.iter().map(|(_, _, known)| *known).max().unwrap_or(1);
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(64)
        .build_cartesian_2d(first..last, 0..most.max(1) + most / 10)?;
    let day = |second: &i64| {
        let time = Timestamp::from_second(*second).unwrap_or_default();
        time.strftime("%m-%d").to_string()
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(TEXT)
        .label_style(label_style())
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&day)
        .draw()?;
    let known = points.iter().map(|(at, _, known)| (*at, *known));
    let listed = points.iter().map(|(at, listed, _)| (*at, *listed));
    chart.draw_series(LineSeries::new(known, TEXT.stroke_width(1)))?;
    chart.draw_series(LineSeries::new(listed.clone(), MARK.stroke_width(3)))?;
    chart.draw_series(listed.map(|point| Circle::new(point, 3, MARK.filled())))?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_the_colours_of_the_page_and_hostile_names_are_text() {
        let rows = [
            ("/<script>alert(1)</script>/".to_owned(), 3),
            ("b".to_owned(), 0),
        ];
        let svg = bars("URLs", &rows).unwrap();
        assert!(
            svg.starts_with("<svg role=\"img\" aria-label=\"URLs\" "),
            "{svg}"
        );
        assert!(
            svg.contains("var(--mark)") && svg.contains("var(--text)"),
            "{svg}"
        );
        assert!(
            !svg.contains("<script") && !svg.contains("#010203"),
            "{svg}"
        );
        assert_eq!(bars("URLs", &[]), None);
        let run = |second: i64, listed: u64| RunRow {
            began: Timestamp::from_second(second).unwrap(),
            listed: Some(listed),
            known: Some(listed + 5),
            ..RunRow::default()
        };
        let runs = [run(1_800_000_000, 10), run(1_800_100_000, 20)];
        let svg = growth("Growth", &runs).unwrap();
        assert!(
            svg.contains("polyline") && svg.contains("var(--line)"),
            "{svg}"
        );
        assert_eq!(growth("Growth", &runs[..1]), None);
    }
}
