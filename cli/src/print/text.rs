//! A view as text: columns are as wide as their cells, what belongs to a row is indented below it, and each URL has a line of its
//! own.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::NOTHING};
use crawler::view::{Cell, Row, Section, View};

use crate::{
    human,
    output::{Output, Tone},
    untrusted::escape,
};

/// Rows of a table that are printed, when it is a part of a view.
const MAX_ROWS: usize = 20;

/// Prints a view.
pub(crate) fn print_view(view: &View, output: &Output) {
    if !view.title.is_empty() {
        output.data_wrapped(Tone::Strong, &view.title);
    }
    let sections = view.sections.iter();
    for section in sections.filter(|section| !section.rows.is_empty()) {
        if !section.title.is_empty() {
            output.data("");
            output.data_wrapped(Tone::Strong, &section.title);
        }
        let has_head = !view.title.is_empty() || !section.title.is_empty();
        print_rows(section, if has_head { "  " } else { "" }, output);
    }
}

/// Whether a row is a line of text, without columns.
fn is_line(row: &Row) -> bool {
    row.cells.len() == 1
}

fn print_rows(section: &Section, indent: &str, output: &Output) {
    // A table without a title is the whole result.
    let is_part = !section.title.is_empty() && !section.heads.is_empty();
    let most = if is_part { MAX_ROWS } else { usize::MAX };
    let shown = &section.rows[..section.rows.len().min(most)];
    let mut aligned = aligned(section.heads, shown).into_iter();
    if shown.iter().any(|row| !is_line(row)) && !section.heads.is_empty() {
        let heads = aligned.next().unwrap_or_default();
        output.data_painted(&[(Tone::Strong, &format!("{indent}{heads}"))]);
    }
    for row in shown {
        let below = if is_line(row) { "  " } else { "    " };
        let below = format!("{indent}{below}");
        if is_line(row) {
            let text = row.cells.first().map(Cell::text).unwrap_or_default();
            output.data_wrapped(row.tone, &format!("{indent}{text}"));
        } else {
            let line = aligned.next().unwrap_or_default();
            output.data_painted(&[(row.tone, &format!("{indent}{line}"))]);
        }
        for line in &row.below {
            output.data_wrapped(Tone::Plain, &format!("{below}{line}"));
        }
        print_more(row.more, &below, output);
    }
    let left = section.rows.len() - shown.len();
    print_more(section.more + left as u64, indent, output);
}

fn print_more(more: u64, indent: &str, output: &Output) {
    if more > 0 {
        output.data(&format!("{indent}and {} more", human::number(more)));
    }
}

/// The heads, if there are some, and the rows that have columns, a line each.
fn aligned(heads: &[&str], rows: &[Row]) -> Vec<String> {
    let rows = rows.iter().filter(|row| !is_line(row));
    let mut table = Table::new();
    table
        .load_preset(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if !heads.is_empty() {
        table.add_row(heads);
    }
    for row in rows.clone() {
        // A cell is one line.
        table.add_row(
            row.cells
                .iter()
                .map(|cell| escape(&cell.text()).into_owned()),
        );
    }
    let first = rows.clone().next();
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let cell = first.and_then(|row| row.cells.get(number));
        if !heads.is_empty() && matches!(cell, Some(Cell::Number(_))) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let mut view = View::default();
        let section = view.section("a", "");
        section.heads(&["N", "NAME", "END"]);
        section.row([1_200_u64.into(), "\u{e9}t\u{e9}".into(), None::<u64>.into()]);
        section.line("a line");
        section.row([3_u64.into(), "two\nlines".into(), "x".into()]);
        let section = &view.sections[0];
        assert_eq!(
            aligned(section.heads, &section.rows),
            [
                "    N  NAME           END",
                "1,200  \u{e9}t\u{e9}            -",
                "    3  two\\u{a}lines  x",
            ]
        );
    }
}
