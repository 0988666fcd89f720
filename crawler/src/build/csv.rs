//! Tables: CSV by RFC 4180, whose header line names the columns. Which of them has the URLs, and where a record ends, is for
//! [`Records`](sitemap_core::read::Records) to say; here the other columns get their meaning.

use std::{
    collections::{BTreeSet, VecDeque},
    io::{self, BufRead},
};

use sitemap_core::read::{Part, Record, RowError, TableError, UrlColumn, is_address};

use super::{
    BuildError,
    draft::{Draft, Field},
    input::Row,
    lines::LineError,
    quoted,
    records::{LineNote, RecordLines, line_error},
};

/// What stands for bytes that are no text.
const NO_CHARACTER: char = char::REPLACEMENT_CHARACTER;

/// The rows of a table.
pub(super) struct CsvRows<R> {
    pub(super) records: RecordLines<R>,
    /// Lines in front of the header line, which are no rows.
    notes: VecDeque<Row>,
    columns: Vec<Column>,
    /// The column of URLs, when others may be called so too, or it has no name.
    doubtful: Option<String>,
    /// Names of columns that nothing is known of.
    pub(super) unused: Vec<String>,
    /// Names that own elements ask for.
    wanted: BTreeSet<String>,
}

/// What is known of a column.
struct Column {
    name: String,
    /// `None` for the column of URLs, and for one that is not used.
    field: Option<Field>,
}

impl<R: BufRead> CsvRows<R> {
    /// Reads up to the header line, if it has one; where the URLs stand is known already.
    pub(super) fn open(
        name: &str,
        mut records: RecordLines<R>,
        wanted: &BTreeSet<String>,
    ) -> Result<Self, BuildError> {
        let format = |line, problem| BuildError::Format {
            name: name.to_owned(),
            line,
            problem,
        };
        if records.columns().is_headless() {
            return Ok(Self::headless(records));
        }
        let mut notes = VecDeque::new();
        let header = loop {
            let line = records.lines().number();
            let next = records.next().map_err(|source| BuildError::Broken {
                name: name.to_owned(),
                line,
                source,
            })?;
            let Some(record) = next else {
                return Err(format(1, TableError::Unnamed.to_string()));
            };
            match record.part() {
                Part::Header => break record,
                Part::Blank | Part::Comment | Part::Separator | Part::Ruler => {}
                Part::Note | Part::Entry => notes.push_back(Row {
                    line: record.place().number,
                    said: Err(format!(
                        "a line in front of the header line, expected that first: {}",
                        quoted(record.text().trim())
                    )),
                }),
            }
        };
        let line = header.place().number;
        // Other names than that of the column of URLs may be in another encoding.
        if let Some(error @ LineError::TooLong { .. }) = line_error(&header) {
            return Err(format(line, error.to_string()));
        }
        let mut rows = Self {
            records,
            notes,
            columns: Vec::new(),
            doubtful: None,
            unused: Vec::new(),
            wanted: wanted.clone(),
        };
        rows.take_header(&header)
            .map_err(|problem| format(line, problem))?;
        Ok(rows)
    }

    /// Learns what the columns behind a header line mean.
    fn take_header(&mut self, header: &Record<LineNote>) -> Result<(), String> {
        let (url, certainty) = header
            .columns()
            .url_column()
            .ok_or_else(|| TableError::Unnamed.to_string())?;
        self.columns = header
            .fields()
            .enumerate()
            .map(|(number, name)| {
                let name = name.value().unwrap_or_default().trim().to_owned();
                let field = Field::named(&name, &self.wanted);
                // Of several columns of URLs one counts.
                let field = field.filter(|field| number != url && *field != Field::Loc);
                Column { name, field }
            })
            .collect();
        for (field, what) in [
            (Field::LastMod, "lastmod"),
            (Field::ChangeFreq, "changefreq"),
            (Field::Priority, "priority"),
        ] {
            let named = self
                .columns
                .iter()
                .filter(|column| column.field.as_ref() == Some(&field));
            if named.count() > 1 {
                return Err(format!("several columns of {what}, expected one"));
            }
        }
        self.doubtful = (certainty != UrlColumn::Certain)
            .then(|| format!("column {}", quoted(&self.columns[url].name)));
        for (number, column) in self.columns.iter().enumerate() {
            let is_unused = column.field.is_none() && number != url && !column.name.is_empty();
            if is_unused && !self.unused.contains(&column.name) {
                self.unused.push(column.name.clone());
            }
        }
        Ok(())
    }

    /// The rows of a table whose first line is one: a URL and a date.
    fn headless(records: RecordLines<R>) -> Self {
        let column = |name: &str, field| Column {
            name: name.to_owned(),
            field,
        };
        Self {
            records,
            notes: VecDeque::new(),
            columns: vec![column("url", None), column("lastmod", Some(Field::LastMod))],
            doubtful: Some("first column".to_owned()),
            unused: Vec::new(),
            wanted: BTreeSet::new(),
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Row>> {
        if let Some(note) = self.notes.pop_front() {
            return Ok(Some(note));
        }
        while let Some(record) = self.records.next()? {
            let line = record.place().number;
            if let Some(error) = line_error(&record) {
                let said = Err(error.to_string());
                return Ok(Some(Row { line, said }));
            }
            match record.part() {
                Part::Blank | Part::Comment | Part::Separator | Part::Ruler => {}
                Part::Header => {
                    if let Err(problem) = self.take_header(&record) {
                        let said = Err(problem);
                        return Ok(Some(Row { line, said }));
                    }
                }
                Part::Note | Part::Entry => {
                    let said = self.draft(&record);
                    return Ok(Some(Row { line, said }));
                }
            }
        }
        Ok(None)
    }

    fn draft(&self, record: &Record<LineNote>) -> Result<Draft, String> {
        let loc = &*record.url().map_err(|error| error.to_string())?;
        if let Some(column) = &self.doubtful
            && !loc.is_empty()
            && !is_address(loc)
        {
            return Err(format!(
                "{} in the {column}, expected https://... or a path that begins with / (a column that is called `url` \
                 may have other relative URLs)",
                quoted(loc),
            ));
        }
        let mut draft = Draft {
            loc: loc.to_owned(),
            ..Draft::default()
        };
        let is_malformed = record
            .places()
            .any(|line| line.error == Some(LineError::NoText));
        for (column, field) in self.columns.iter().zip(record.fields()) {
            let problem = match (&column.field, field.value()) {
                (Some(_), Ok(value)) if is_malformed && value.contains(NO_CHARACTER) => {
                    let (error, name) = (LineError::NoText, quoted(&column.name));
                    draft.problems.push(format!("{error} in the column {name}"));
                    None
                }
                (Some(known), Ok(value)) => {
                    draft.set(known, &value);
                    None
                }
                (Some(_), Err(error)) => Some(error),
                // It may have swallowed other fields.
                (None, Err(error)) => record.open_quote().and(Some(error)),
                (None, Ok(_)) => None,
            };
            if let Some(error) = problem {
                let open_quote = record.open_quote();
                let open_quote = open_quote.filter(|_| error == RowError::OpenQuote);
                let error = open_quote.unwrap_or(error);
                let name = quoted(&column.name);
                draft.problems.push(format!("{error} in the column {name}"));
            }
        }
        Ok(draft)
    }
}

#[cfg(test)]
mod tests {
    use sitemap_core::read::Records;

    use super::*;
    use crate::build::lines::Lines;

    fn open(text: &[u8]) -> Result<CsvRows<&[u8]>, BuildError> {
        let mut records = RecordLines::new(Lines::new(text), Records::of_table());
        assert_eq!(records.begin().unwrap(), None);
        CsvRows::open("list.csv", records, &BTreeSet::new())
    }

    fn rows(text: &[u8]) -> Vec<(u64, Result<Draft, String>)> {
        let mut csv = open(text).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = csv.next().unwrap() {
            rows.push((row.line, row.said));
        }
        rows
    }

    fn read(text: &str) -> Vec<(u64, Result<Draft, String>)> {
        rows(text.as_bytes())
    }

    #[test]
    fn a_stray_quote_costs_its_value_only() {
        let text = b"url,priority\n/a,\"0.5\\\" disk\"\n/b,0.5\n/c,\"\xe9\nwords\"\n/d,0.4\n/e,\"0.5\n/f,0.3\n";
        let mut found = Vec::new();
        for (line, said) in rows(text) {
            found.push(match said {
                Ok(draft) => format!("{line} {}: {}", draft.loc, draft.problems.join("|")),
                Err(error) => format!("{line} {error}"),
            });
        }
        assert_eq!(
            found,
            [
                "2 /a: text behind a closing quote, expected the delimiter in the column \"priority\"",
                "3 /b: ",
                "4 /c: bytes that are no text, expected a list in UTF-8 (or UTF-16) in the column \"priority\"",
                "6 /d: ",
                "7 /e: a quoted field without its closing quote in the column \"priority\"",
                "8 /f: ",
            ]
        );
    }

    #[test]
    fn rows_of_a_url_and_a_date_need_no_header_line() {
        let found: Vec<String> = read("/a;2026-01-02\n\n/b,c;\n\"/d\";2026-01-03\n")
            .into_iter()
            .map(|(line, said)| {
                let draft = said.unwrap();
                let lastmod = draft.given.lastmod.map(|it| it.to_string());
                format!("{line} {} {}", draft.loc, lastmod.unwrap_or_default())
            })
            .collect();
        assert_eq!(found, ["1 /a 2026-01-02", "3 /b,c ", "4 /d 2026-01-03"]);
        let rows = (0..200).map(|row| format!("/{row},2026-01-02\n"));
        let mut rows = rows.collect::<Vec<_>>().concat();
        rows += "/a,soon\nTotal,2026-01-02\n/b,c,2026-01-02\n";
        let rows = read(&rows);
        let [(_, Ok(first)), (_, Err(second)), (_, Err(third))] = &rows[200..] else {
            panic!("{rows:?}");
        };
        assert_eq!((&*first.loc, first.problems.len()), ("/a", 1));
        assert!(
            second.starts_with("\"Total\" in the first column, "),
            "{second}"
        );
        assert!(
            third.starts_with("3 fields, expected 2 as in the other rows"),
            "{third}"
        );
    }

    #[test]
    fn columns_are_found_by_their_names() {
        for (header, row) in [
            ("url,lastmod,priority", "/a,2026-01-02,0.3"),
            ("Priority;LastMod;ignored;LOC", "0.3;2026-01-02;x;/a"),
            ("last_mod\tpriority\turl", "2026-01-02\t0.3\t/a"),
            ("URL,Last Modified,Priority", "/a,2026-01-02,0.3"),
            (
                "\"url\",\"lastmod\",\"priority\"",
                "\"/a\",\"2026-01-02\",\"0.3\",,",
            ),
        ] {
            let rows = read(&format!("{header}\r\n{row}\r\n"));
            let [(2, Ok(draft))] = &rows[..] else {
                panic!("{header}: {rows:?}");
            };
            assert_eq!(draft.loc, "/a");
            let texts = [
                Some("2026-01-02".to_owned()),
                None,
                Some("0.3".to_owned()),
                None,
            ];
            assert_eq!(draft.given.texts(), texts, "{header}");
        }
    }

    #[test]
    fn lines_are_counted_through_quoted_fields() {
        let rows = read("url,title\n/a,\"two\nlines\"\n\n/b,one\n/c,\"open\n/d,x\n");
        let lines: Vec<u64> = rows.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 5, 6, 7]);
    }

    #[test]
    fn a_row_with_more_fields_than_columns_is_left_out() {
        let rows = read("url,priority\n/a,0.5,x\n/b\n/c,,\n");
        let ok: Vec<bool> = rows.iter().map(|(_, said)| said.is_ok()).collect();
        assert_eq!(ok, [false, true, true]);
        let told = rows[0].1.as_ref().unwrap_err();
        assert!(
            told.starts_with("3 fields, expected 2 as in the header line"),
            "{told}"
        );
    }

    #[test]
    fn two_columns_for_one_value_are_refused() {
        let Err(error) = open(b"\nurl;lastmod;Last Modified\n") else {
            panic!("it was read");
        };
        assert_eq!(
            error.to_string(),
            "list.csv:2: several columns of lastmod, expected one"
        );
    }

    #[test]
    fn what_stands_in_front_of_the_header_line_is_told() {
        let rows = read("sep=;\r\nReport, 2026\r\nurl;priority\r\n/a;0.5\r\n");
        let [(2, Err(note)), (4, Ok(draft))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert!(
            note.starts_with("a line in front of the header line"),
            "{note}"
        );
        assert_eq!(draft.loc, "/a");
    }

    #[test]
    fn names_of_other_columns_may_be_in_another_encoding() {
        let rows = rows(b"url,Stra\xdfe\n/a,x\n");
        assert_eq!(rows[0].1.as_ref().unwrap().loc, "/a");
    }

    #[test]
    fn urls_without_a_scheme_are_told_where_the_name_is_not_certain() {
        let rows = read("Full page URL,Views\nwww.example.com/a,1\n/b,2\n");
        let found: Vec<bool> = rows.iter().map(|(_, said)| said.is_ok()).collect();
        assert_eq!(found, [false, true]);
        let rows = read("url,Views\nwww.example.com/a,1\n");
        assert_eq!(rows[0].1.as_ref().unwrap().loc, "www.example.com/a");
    }

    #[test]
    fn another_column_of_urls_is_not_used() {
        let csv = open(b"URL,Link,page\n/a,/b,1\n").unwrap();
        assert_eq!(csv.unused, ["Link", "page"]);
        let rows = read("loc,url\nBerlin,/a\n");
        assert_eq!(rows[0].1.as_ref().unwrap().loc, "/a");
    }

    #[test]
    fn a_value_that_is_no_url_is_told_where_the_name_is_in_doubt() {
        let rows = read("Location,Name\nBerlin,x\n,y\n/a,z\n");
        let found: Vec<_> = rows
            .iter()
            .map(|(_, said)| {
                said.as_ref()
                    .map(|draft| &*draft.loc)
                    .map_err(|error| &**error)
            })
            .collect();
        assert_eq!(
            found,
            [
                Err(
                    "\"Berlin\" in the column \"Location\", expected https://... or a path that begins with / \
                     (a column that is called `url` may have other relative URLs)",
                ),
                Ok(""),
                Ok("/a"),
            ]
        );
    }
}
