//! Plain text: one URL per line. Blank lines and lines that begin with `#` are the writer's own.

use std::io::{self, BufRead};

use super::{csv, draft::Draft, input::Row, lines::Lines, quoted};

/// The rows of a plain list.
pub(super) struct TextRows<R> {
    pub(super) lines: Lines<R>,
    /// Whether each line is one URL because the user says so.
    pub(super) is_asked_for: bool,
}

impl<R: BufRead> TextRows<R> {
    pub(super) fn next(&mut self) -> io::Result<Option<Row>> {
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            let said = match line.map(str::trim) {
                Ok(line) if is_silent(line) => continue,
                Ok(line) if !self.is_asked_for && csv::has_url_in_column(line) => Err(format!(
                    "a URL behind another value, expected one URL: {}",
                    quoted(line)
                )),
                Ok(line) => Ok(Draft {
                    loc: line.to_owned(),
                    ..Draft::default()
                }),
                Err(error) => Err(error.to_string()),
            };
            let line = self.lines.number();
            return Ok(Some(Row { line, said }));
        }
    }
}

/// Whether a trimmed line says nothing.
pub(super) fn is_silent(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}
