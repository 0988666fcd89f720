//! The printers: one for text, one for pages, one for CSV and one for JSON. Whatever a command shows of its result goes through
//! one of them.

mod csv;
mod html;
mod text;

use crawler::view::View;
use serde::Serialize;

pub(crate) use self::{csv::CsvFile, html::sections_of, text::print_view};
use crate::{
    failure::{self, Context as _},
    output::Output,
};

/// Prints a result: as one line of JSON, or as a view.
///
/// # Errors
/// The result cannot be JSON, which is a bug.
pub(crate) fn print_result(
    is_json: bool,
    json: &impl Serialize,
    view: impl FnOnce() -> View,
    output: &Output,
) -> failure::Result<()> {
    if is_json {
        let json = serde_json::to_string(json).context("failed to print the result")?;
        output.data_json(&json);
    } else {
        print_view(&view(), output);
    }
    Ok(())
}
