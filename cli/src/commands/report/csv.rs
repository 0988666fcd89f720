//! A report as CSV (RFC 4180): one file of URLs, one of links, one of closed patterns.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use crawler::site_report::ReportRow;

use super::{RowSink, file::WholeFile};

/// The files of a report.
pub(super) struct CsvFolder {
    urls: WholeFile,
    links: WholeFile,
    patterns: WholeFile,
}

/// Columns of `urls.csv`.
const URL_COLUMNS: [&str; 21] = [
    "url",
    "state",
    "reason",
    "section",
    "depth",
    "via",
    "found_on",
    "status",
    "error",
    "content_type",
    "bytes",
    "title",
    "fetched_at",
    "attempts",
    "noindex",
    "canonical",
    "redirects_to",
    "duplicate_of",
    "pattern",
    "lastmod",
    "lastmod_source",
];

/// Columns of `links.csv`.
const LINK_COLUMNS: [&str; 4] = ["target", "reason", "is_redirect", "page"];

/// Columns of `patterns.csv`.
const PATTERN_COLUMNS: [&str; 6] = ["name", "kind", "pages", "new", "example", "exclude"];

impl CsvFolder {
    /// Begins the files in `folder`, which is made.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let create = |name: &str, columns: &[&str]| {
            let mut file = WholeFile::create(&folder.join(name))?;
            file.write_all(columns.join(",").as_bytes())?;
            file.write_all(b"\r\n")?;
            io::Result::Ok(file)
        };
        Ok(Self {
            urls: create("urls.csv", &URL_COLUMNS)?,
            links: create("links.csv", &LINK_COLUMNS)?,
            patterns: create("patterns.csv", &PATTERN_COLUMNS)?,
        })
    }
}

impl RowSink for CsvFolder {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        let (file, columns): (_, &[&str]) = match row {
            ReportRow::Report(_) => return Ok(()),
            ReportRow::Url(_) => (&mut self.urls, &URL_COLUMNS),
            ReportRow::Link(_) => (&mut self.links, &LINK_COLUMNS),
            ReportRow::Pattern(_) => (&mut self.patterns, &PATTERN_COLUMNS),
        };
        let row = serde_json::to_value(row)?;
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                file.write_all(b",")?;
            }
            let value = match &row[*column] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            file.write_all(field(&value).as_bytes())?;
        }
        file.write_all(b"\r\n")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.urls.finish()?;
        self.links.finish()?;
        self.patterns.finish()
    }
}

/// A field. Spreadsheets run what begins like a formula, so that gets an apostrophe before it.
fn field(value: &str) -> String {
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let value = if is_formula {
        format!("'{value}")
    } else {
        value.to_owned()
    };
    if value.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", value.replace('"', "\"\""));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_where_it_has_to_be_and_never_a_formula() {
        assert_eq!(field("a b"), "a b");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(field("@a,b"), "\"'@a,b\"");
        assert_eq!(field("line\nend"), "\"line\nend\"");
    }
}
