//! Rows as CSV (RFC 4180).

use std::{
    io::{self, Write as _},
    path::Path,
};

use serde::Serialize;
use serde_json::Value;

use crate::{untrusted::escape, whole_file::WholeFile};

/// A file that is being written.
pub(crate) struct CsvFile {
    file: WholeFile,
    columns: &'static str,
}

impl CsvFile {
    /// Begins the file `path` with the names of its columns, fields of the rows with commas between them.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn create(path: &Path, columns: &'static str) -> io::Result<Self> {
        let mut file = WholeFile::create(path)?;
        file.write_all(columns.as_bytes())?;
        file.write_all(b"\r\n")?;
        Ok(Self { file, columns })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn row(&mut self, row: &impl Serialize) -> io::Result<()> {
        let row = serde_json::to_value(row)?;
        let cells = self.columns.split(',').map(|column| match &row[column] {
            Value::Null => String::new(),
            Value::String(text) => field(text),
            other => field(&other.to_string()),
        });
        let cells: Vec<String> = cells.collect();
        self.file.write_all(cells.join(",").as_bytes())?;
        self.file.write_all(b"\r\n")
    }

    /// The file is complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}

/// A field without control characters. Spreadsheets run what begins like a formula, so that gets an apostrophe before it.
fn field(value: &str) -> String {
    let value = &*escape(value);
    let is_formula = value.starts_with(['=', '+', '-', '@']);
    let value = if is_formula {
        format!("'{value}")
    } else {
        value.to_owned()
    };
    if value.contains(['"', ',']) {
        return format!("\"{}\"", value.replace('"', "\"\""));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(field("a b"), "a b");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(field("@a,b"), "\"'@a,b\"");
        assert_eq!(field("line\nend\u{1b}[31m"), "line\\u{a}end\\u{1b}[31m");
    }
}
