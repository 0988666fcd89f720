//! A report as CSV (RFC 4180): one file for each kind of row.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use crawler::site_report::{ReportOutline, ReportRow};

use super::{RowSink, file::WholeFile};
use crate::untrusted::escape;

/// The files of a report, in the order of [`TABLES`].
pub(super) struct CsvFolder(Vec<WholeFile>);

/// A file and its columns.
struct CsvTable {
    file: &'static str,
    columns: &'static [&'static str],
}

/// The files.
const TABLES: [CsvTable; 5] = [
    CsvTable {
        file: "urls.csv",
        columns: &[
            "url",
            "state",
            "reason",
            "section",
            "depth",
            "via",
            "found_on",
            "linked_from",
            "is_orphan",
            "status",
            "error",
            "content_type",
            "bytes",
            "duration_ms",
            "title",
            "fetched_at",
            "attempts",
            "noindex",
            "canonical",
            "redirects_to",
            "duplicate_of",
            "pattern",
            "languages",
            "lastmod",
            "lastmod_source",
            "first_seen",
        ],
    },
    CsvTable {
        file: "links.csv",
        columns: &["target", "reason", "is_redirect", "page", "text"],
    },
    CsvTable {
        file: "conflicts.csv",
        columns: &["kind", "url", "target", "target_reason", "language"],
    },
    CsvTable {
        file: "patterns.csv",
        columns: &[
            "name",
            "kind",
            "asked",
            "left_out",
            "not_asked",
            "example",
            "exclude",
        ],
    },
    CsvTable {
        file: "runs.csv",
        columns: &[
            "began",
            "ended",
            "outcome",
            "exit_code",
            "crawl",
            "known",
            "listed",
            "excluded",
            "failed",
            "queued",
            "robots_disallowed",
            "fetched",
            "not_modified",
            "bytes_in",
            "requests",
            "slowdowns",
            "retry_afters",
            "waited_ms",
            "interval_ms",
        ],
    },
];

impl CsvFolder {
    /// Begins the files in `folder`, which is made.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let create = |table: &CsvTable| {
            let mut file = WholeFile::create(&folder.join(table.file))?;
            file.write_all(table.columns.join(",").as_bytes())?;
            file.write_all(b"\r\n")?;
            io::Result::Ok(file)
        };
        TABLES
            .iter()
            .map(create)
            .collect::<io::Result<_>>()
            .map(Self)
    }
}

impl RowSink for CsvFolder {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        let table = match row {
            ReportRow::Report(_) => return Ok(()),
            ReportRow::Url(_) => 0,
            ReportRow::Link(_) => 1,
            ReportRow::Conflict(_) => 2,
            ReportRow::Pattern(_) => 3,
            ReportRow::Run(_) => 4,
        };
        let file = &mut self.0[table];
        let row = serde_json::to_value(row)?;
        for (number, column) in TABLES[table].columns.iter().enumerate() {
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

    fn finish(self: Box<Self>, _: &ReportOutline) -> io::Result<()> {
        self.0.into_iter().try_for_each(WholeFile::finish)
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
    fn a_field_is_quoted_where_it_has_to_be_and_never_a_formula() {
        assert_eq!(field("a b"), "a b");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(field("@a,b"), "\"'@a,b\"");
        assert_eq!(field("line\nend\u{1b}[31m"), "line\\u{a}end\\u{1b}[31m");
    }
}
