//! CSV by RFC 4180: a header line names the columns, fields may be quoted and then hold anything, line
//! ends too. The delimiter is the one with which the header names a URL: comma, semicolon, tab or bar.

use std::{
    collections::BTreeSet,
    io::{self, BufRead},
};

use sitemap_core::{
    ChangeFreq, LastMod, Priority,
    read::{Columns, UrlColumn},
};

use super::{
    BuildError,
    draft::{Draft, Field},
    input::Row,
    lines::{LineError, Lines, MAX_LINE_BYTES},
    quoted,
    text::is_silent,
};

/// Columns of a table; a header with more is none.
const MAX_COLUMNS: usize = 1_000;

/// The rows of a table.
pub(super) struct CsvRows<R> {
    pub(super) lines: Lines<R>,
    /// `None` when there is one column only: its values may have any of them.
    delimiter: Option<char>,
    columns: Vec<Option<Field>>,
    /// The name of the column of URLs, when other columns may be called so too.
    doubtful: Option<String>,
    /// Names of columns that nothing is known of.
    pub(super) unused: Vec<String>,
}

/// The delimiter with which a header line names a column of URLs, `None` if that column is the only one, and how
/// sure that name is.
pub(super) fn delimiter_of(header: &str) -> Option<(Option<char>, UrlColumn)> {
    [UrlColumn::Certain, UrlColumn::Possible]
        .into_iter()
        .find_map(|wanted| {
            Columns::DELIMITERS.into_iter().find_map(|delimiter| {
                let mut record = Record::default();
                record.add(header, Some(delimiter));
                let is_header = record.is_complete()
                    && record.fields.len() <= MAX_COLUMNS
                    && record
                        .fields
                        .iter()
                        .any(|name| UrlColumn::named(name) == Some(wanted));
                let delimiter = (record.fields.len() > 1).then_some(delimiter);
                is_header.then_some((delimiter, wanted))
            })
        })
}

/// Whether a line with a name that other columns have too, or that begins a relative URL, is a header line: the
/// line behind it has a URL in that column, or at least nothing shows a plain list.
pub(super) fn is_possible_header(
    header: &str,
    delimiter: Option<char>,
    next_line: Option<&str>,
) -> bool {
    let Some(delimiter) = delimiter else {
        // Alone, such a name may be a relative URL itself.
        return next_line.is_some_and(is_address);
    };
    let Some(next_line) = next_line else {
        return !has_marks_of_url(header);
    };
    let names = fields_of(header, delimiter);
    let mut row = Record::default();
    row.add(next_line, Some(delimiter));
    if !row.is_complete() {
        // A quoted field that goes on in the next line.
        return true;
    }
    let has_columns = row.fields.len() > 1;
    let values = || {
        let columns = names.iter().zip(&row.fields);
        columns.filter(|(name, _)| UrlColumn::named(name).is_some())
    };
    if values().any(|(_, value)| is_address(value.trim())) {
        return has_columns || !has_marks_of_url(header);
    }
    has_columns && !has_marks_of_url(header) && values().all(|(name, value)| name != value)
}

/// Whether a line is the first row of a table that has no header line: a URL, a delimiter, and values among
/// which one is of a kind that tables have. Such a line can be read as one URL, with commas in it; one that has a URL
/// within is a row only if the next line has columns too.
pub(super) fn is_row_without_header(line: &str, next_line: Option<&str>) -> bool {
    Columns::DELIMITERS.into_iter().any(|delimiter| {
        let fields = fields_of(line, delimiter);
        let mut fields = fields.iter().map(|field| field.trim());
        let is_date =
            |field: &str| field.len() >= "2026-01-02".len() && LastMod::parse(field).is_ok();
        let is_priority = |field: &str| field.contains('.') && Priority::parse(field).is_ok();
        let goes_on = || next_line.is_none_or(|next| fields_of(next, delimiter).len() > 1);
        fields.next().is_some_and(|url| {
            // A query may have other URLs in it.
            let has_query = url.contains('?');
            is_address(url)
                && fields.any(|field| {
                    is_date(field)
                        || is_priority(field)
                        || ChangeFreq::parse(field).is_ok()
                        || (is_absolute(field) && !has_query && goes_on())
                })
        })
    })
}

/// Whether a line that is no URL itself has an absolute one behind a delimiter, and not in its query.
pub(super) fn has_url_in_column(line: &str) -> bool {
    Columns::DELIMITERS.into_iter().any(|delimiter| {
        let fields = fields_of(line, delimiter);
        let mut fields = fields.iter().map(|field| field.trim());
        fields
            .next()
            .is_some_and(|first| !is_address(first) && !first.contains('?'))
            && fields
                .take_while(|field| !field.contains('?') || is_absolute(field))
                .any(is_absolute)
    })
}

/// Whether two lines that follow each other are a header line, of whatever names, and a row: both have as many
/// fields, several, and a field is a URL in the second only. Relative URLs may have delimiters too.
pub(super) fn are_header_and_row(header: &str, row: &str) -> bool {
    !is_address(header)
        && Columns::DELIMITERS.into_iter().any(|delimiter| {
            let names = fields_of(header, delimiter);
            let values = fields_of(row, delimiter);
            // A title has a blank behind its comma.
            let is_title = has_blank_behind(header, delimiter) && !has_blank_behind(row, delimiter);
            names.len() > 1
                && names.len() == values.len()
                && names.iter().all(|name| !is_address(name.trim()))
                && (has_url_in_column(row)
                    || (values.iter().any(|value| is_address(value.trim()))
                        && !is_title
                        && !has_marks_of_url(header)))
        })
}

fn has_blank_behind(line: &str, delimiter: char) -> bool {
    let mut parts = line.split(delimiter).skip(1);
    parts.any(|part| part.starts_with(' '))
}

/// Whether a line has what relative URLs have, and names of columns seldom: no blank, but a path, a query or the
/// ending of a file.
fn has_marks_of_url(line: &str) -> bool {
    let mut behind_dots = line.split('.').skip(1);
    !line.contains(char::is_whitespace)
        && (line.contains(['/', '=', '?'])
            || behind_dots.any(|part| part.starts_with(|next: char| next.is_ascii_alphanumeric())))
}

/// Whether a text begins like a URL, absolute or relative to the host.
pub(super) fn is_address(text: &str) -> bool {
    text.starts_with('/') || is_absolute(text)
}

fn is_absolute(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = text.as_bytes().get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// The fields of a line for itself.
fn fields_of(line: &str, delimiter: char) -> Vec<String> {
    let mut record = Record::default();
    record.add(line, Some(delimiter));
    record.fields
}

impl<R: BufRead> CsvRows<R> {
    /// Reads the header line, which must name a column of URLs.
    pub(super) fn open(
        name: &str,
        input: R,
        wanted: &BTreeSet<String>,
    ) -> Result<Self, BuildError> {
        let mut lines = Lines::new(input);
        loop {
            let line = lines.number() + 1;
            let broken = |source| BuildError::Broken {
                name: name.to_owned(),
                line,
                source,
            };
            let format = |problem: String| BuildError::Format {
                name: name.to_owned(),
                line,
                problem,
            };
            let header = match lines.next().map_err(broken)? {
                None => String::new(),
                Some(Ok(line)) if is_silent(line.trim()) || Columns::is_separator_line(line) => {
                    continue;
                }
                Some(Ok(line)) => line.to_owned(),
                Some(Err(error)) => return Err(format(error.to_string())),
            };
            let (delimiter, certainty) = delimiter_of(&header).ok_or_else(|| {
                format(
                    "no header line, expected one that names the columns, `url` or `loc` among them"
                        .to_owned(),
                )
            })?;
            let mut record = Record::default();
            record.add(&header, delimiter);
            let mut columns: Vec<_> = record
                .fields
                .iter()
                .map(|name| Field::named(name, wanted))
                .collect();
            let mut doubtful = None;
            if certainty == UrlColumn::Possible {
                for (name, column) in record.fields.iter().zip(&mut columns) {
                    if UrlColumn::named(name).is_some() {
                        *column = Some(Field::Loc);
                        doubtful = Some(name.trim().to_owned());
                    }
                }
            }
            for (field, what) in [
                (
                    Field::Loc,
                    "URLs, expected one that is called `url` or `loc`",
                ),
                (Field::LastMod, "lastmod, expected one"),
                (Field::ChangeFreq, "changefreq, expected one"),
                (Field::Priority, "priority, expected one"),
            ] {
                let named = columns.iter().flatten().filter(|column| **column == field);
                if named.count() > 1 {
                    return Err(format(format!("several columns of {what}")));
                }
            }
            let unused = record.fields.iter().zip(&columns);
            let unused = unused
                .filter(|(_, column)| column.is_none())
                .map(|(name, _)| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect();
            return Ok(Self {
                lines,
                delimiter,
                columns,
                doubtful,
                unused,
            });
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Row>> {
        let mut record = Record::default();
        let mut begins_at = 0;
        let mut length = 0;
        let said = loop {
            match self.lines.next()? {
                None if record.is_empty() => return Ok(None),
                None => {
                    break Err(format!(
                        "a quoted field without its closing quote; nothing up to line {} is read",
                        self.lines.number()
                    ));
                }
                Some(Ok(line)) if record.is_empty() && line.trim().is_empty() => continue,
                Some(Ok(line)) => {
                    length += line.len();
                    record.add(line, self.delimiter);
                }
                Some(Err(error @ LineError::NoText)) => {
                    // Where its fields end can be seen all the same.
                    let line = self.lines.lossy();
                    length += line.len();
                    record.add(&line, self.delimiter);
                    record.problem = Some(error.to_string());
                }
                Some(Err(error @ LineError::TooLong)) => break Err(error.to_string()),
            }
            if begins_at == 0 {
                begins_at = self.lines.number();
            }
            if record.is_complete() {
                break self.draft(&record);
            }
            if length > MAX_LINE_BYTES {
                break Err(
                    "a quoted field of more than 4 MiB, expected its closing quote".to_owned(),
                );
            }
        };
        let line = match begins_at {
            0 => self.lines.number(),
            line => line,
        };
        Ok(Some(Row { line, said }))
    }

    fn draft(&self, record: &Record) -> Result<Draft, String> {
        if let Some(problem) = &record.problem {
            return Err(problem.clone());
        }
        // Programs leave out empty fields at the end, or add some.
        let extra = record.fields.iter().skip(self.columns.len());
        if extra.clone().any(|field| !field.trim().is_empty()) {
            return Err(format!(
                "{} fields, expected {} as in the header line",
                record.fields.len(),
                self.columns.len()
            ));
        }
        let mut draft = Draft::default();
        for (column, field) in self.columns.iter().zip(&record.fields) {
            if let Some(column) = column {
                draft.set(column, field);
            }
        }
        if let Some(name) = &self.doubtful
            && !draft.loc.is_empty()
            && !is_address(&draft.loc)
        {
            return Err(format!(
                "{} in the column {}, expected https://... or a path that begins with / (a column that is called `url` \
                 may have other relative URLs)",
                quoted(&draft.loc),
                quoted(name)
            ));
        }
        Ok(draft)
    }
}

/// The fields of one record while its lines are put together.
#[derive(Debug, Default)]
struct Record {
    fields: Vec<String>,
    state: State,
    problem: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of the record was read, or its last line has ended outside quotes.
    #[default]
    Between,
    /// In a field without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote that closes a field, or is the first half of one that stands for itself.
    QuoteSeen,
}

impl Record {
    fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.state == State::Between
    }

    /// Adds a line of the record.
    fn add(&mut self, line: &str, delimiter: Option<char>) {
        if self.state == State::Quoted {
            // The line end belongs to the field.
            self.push('\n');
        } else {
            self.fields.push(String::new());
        }
        if self.state == State::Between {
            self.state = State::Plain;
        }
        for character in line.chars() {
            self.take(character, delimiter);
        }
        if self.state != State::Quoted {
            self.state = State::Between;
        }
    }

    fn take(&mut self, character: char, delimiter: Option<char>) {
        match self.state {
            State::Quoted if character == '"' => self.state = State::QuoteSeen,
            State::Quoted => self.push(character),
            State::QuoteSeen if character == '"' => {
                self.push('"');
                self.state = State::Quoted;
            }
            State::Between | State::Plain | State::QuoteSeen if Some(character) == delimiter => {
                self.fields.push(String::new());
                self.state = State::Plain;
            }
            State::QuoteSeen if character.is_whitespace() => {}
            State::QuoteSeen => {
                let problem = "text behind a closing quote, expected the delimiter";
                self.problem = Some(problem.to_owned());
                // The next quote in the field opens none: it would swallow the lines that follow.
                self.push(character);
                self.state = State::Plain;
            }
            State::Between | State::Plain => {
                let is_first = self
                    .fields
                    .last()
                    .is_some_and(|field| field.trim().is_empty());
                if character == '"' && is_first {
                    // Spaces in front of a quote are none of the field.
                    if let Some(field) = self.fields.last_mut() {
                        field.clear();
                    }
                    self.state = State::Quoted;
                } else {
                    self.push(character);
                }
            }
        }
    }

    fn push(&mut self, character: char) {
        if let Some(field) = self.fields.last_mut() {
            field.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_record(lines: &[&str], delimiter: char, expected: &[&str]) {
        let mut record = Record::default();
        for (number, line) in lines.iter().enumerate() {
            assert!(number == 0 || !record.is_complete(), "{lines:?}");
            record.add(line, Some(delimiter));
        }
        assert!(record.is_complete(), "{lines:?}");
        assert_eq!(record.fields, expected, "{lines:?}");
        assert_eq!(record.problem, None);
    }

    #[test]
    fn fields_are_read_by_rfc_4180() {
        check_record(&["a,b,c"], ',', &["a", "b", "c"]);
        check_record(&[""], ',', &[""]);
        check_record(&[",,"], ',', &["", "", ""]);
        check_record(&["\"a,b\",c"], ',', &["a,b", "c"]);
        check_record(&["\"a \"\"b\"\"\",\"\""], ',', &["a \"b\"", ""]);
        check_record(&["\"a", "b\",c"], ',', &["a\nb", "c"]);
        check_record(&["\"a", "", "\""], ',', &["a\n\n"]);
        check_record(&["a;b,c"], ';', &["a", "b,c"]);
        check_record(&["a\t\"b\t\"\t"], '\t', &["a", "b\t", ""]);
        check_record(&["5\" disk, \"quoted\" "], ',', &["5\" disk", "quoted"]);
    }

    #[test]
    fn text_behind_a_closing_quote_is_a_problem() {
        let mut record = Record::default();
        record.add("\"a\"b,c", Some(','));
        assert!(record.problem.is_some());
        assert_eq!(record.fields, ["ab", "c"]);
    }

    #[test]
    fn a_stray_quote_costs_its_line_only() {
        let mut rows = Vec::new();
        let text = b"url,title\n/a,\"5\\\" disk\"\n/b,two\n/c,\"\xe9\nwords\"\n/d,four\n";
        let mut csv = CsvRows::open("list.csv", &text[..], &BTreeSet::new()).unwrap();
        while let Some(row) = csv.next().unwrap() {
            rows.push((row.line, row.said.map(|draft| draft.loc)));
        }
        let [(2, Err(stray)), (3, Ok(b)), (4, Err(no_text)), (6, Ok(d))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert!(stray.starts_with("text behind a closing quote"), "{stray}");
        assert!(no_text.starts_with("bytes that are no text"), "{no_text}");
        assert_eq!((b.as_str(), d.as_str()), ("/b", "/d"));
    }

    fn read(text: &str) -> Vec<(u64, Result<Draft, String>)> {
        let mut rows = CsvRows::open("list.csv", text.as_bytes(), &BTreeSet::new()).unwrap();
        let mut read = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            read.push((row.line, row.said));
        }
        read
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
        let lines: Vec<(u64, bool)> = rows
            .iter()
            .map(|(line, said)| (*line, said.is_ok()))
            .collect();
        assert_eq!(lines, [(2, true), (5, true), (6, false)]);
    }

    #[test]
    fn a_row_with_more_fields_than_columns_is_left_out() {
        let rows = read("url,priority\n/a,0.5,x\n/b\n/c,,\n");
        let ok: Vec<bool> = rows.iter().map(|(_, said)| said.is_ok()).collect();
        assert_eq!(ok, [false, true, true]);
        assert_eq!(
            rows[0].1.as_ref().unwrap_err(),
            "3 fields, expected 2 as in the header line"
        );
    }

    #[test]
    fn a_row_of_a_table_without_header_is_told_from_a_url() {
        fn check(line: &str, expected: bool) {
            assert_eq!(is_row_without_header(line, None), expected, "{line}");
        }
        check("https://example.com/a,2026-01-02", true);
        check("\"https://example.com/a\";;daily", true);
        check("https://example.com/a\t0.5", true);
        check("https://example.com/a, 2026-01-02T10:00:00Z ,x", true);
        check("https://example.com/", false);
        check("https://example.com/article,1234.html", false);
        check("https://example.com/a,2026", false);
        check("https://example.com/a,1", false);
        check("/a,2026-01-02", true);
        check("https://example.com/a|https://example.com/a.png", true);
        check("https://example.com/go?to=1,https://example.com/b", false);
        check("/a,b", false);
        check("2026-01-02,https://example.com/a", false);
    }

    #[test]
    fn one_column_has_no_delimiter() {
        for header in ["url", "\"loc\"", "Address"] {
            let rows = read(&format!("{header}\n/a,b;c|d\n\"/e,f\"\n/g\n"));
            let locs = rows.into_iter().map(|(_, said)| said.unwrap().loc);
            assert_eq!(
                locs.collect::<Vec<_>>(),
                ["/a,b;c|d", "/e,f", "/g"],
                "{header}"
            );
        }
    }

    #[test]
    fn header_and_row_are_told_from_relative_urls() {
        fn check(header: &str, row: &str, expected: bool) {
            assert_eq!(are_header_and_row(header, row), expected, "{header} {row}");
        }
        check("Adresse;Titel", "https://h/a;Hallo", true);
        check("Seite,Klicks", "/a,3", true);
        check("Seite, Klicks", "/a, 3", true);
        check("Titel|Pfad", "Hallo|/a", true);
        check("v1.0,Adresse", "200,https://h/a", true);
        check("artikel,1.html", "artikel,2.html", false);
        check("artikel,1.html", "/artikel,2.html", false);
        check("docs/a;v=1", "docs/b;v=2", false);
        check("wiki/a|x", "wiki/b|y", false);
        check("Export, spring", "/a,b", false);
        check("go?u=1;b", "go?u=1;https://h/", false);
        check("about,us", "/a", false);
    }

    #[test]
    fn two_columns_for_one_value_are_refused() {
        fn check(header: &[u8], expected: &str) {
            let Err(error) = CsvRows::open("list.csv", header, &BTreeSet::new()) else {
                panic!("it was read");
            };
            assert_eq!(error.to_string(), expected);
        }
        check(
            b"loc,URL\n",
            "list.csv:1: several columns of URLs, expected one that is called `url` or `loc`",
        );
        check(
            b"\nurl;lastmod;Last Modified\n",
            "list.csv:2: several columns of lastmod, expected one",
        );
    }

    #[test]
    fn the_separator_line_of_spreadsheets_says_nothing() {
        let rows = read("sep=;\r\nurl;priority\r\n/a;0.5\r\n");
        let [(3, Ok(draft))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert_eq!(draft.loc, "/a");
    }

    #[test]
    fn a_table_without_a_column_of_urls_is_refused() {
        let Err(error) = CsvRows::open("list.csv", &b"# x\nname,lastmod\n"[..], &BTreeSet::new())
        else {
            panic!("it was read");
        };
        assert_eq!(
            error.to_string(),
            "list.csv:2: no header line, expected one that names the columns, `url` or `loc` among them"
        );
    }
    #[test]
    fn column_of_urls_may_be_called_otherwise() {
        fn check(text: &str, expected: &[Result<&str, &str>]) {
            let rows = read(text);
            let found: Vec<_> = rows
                .iter()
                .map(|(_, said)| {
                    said.as_ref()
                        .map(|draft| &*draft.loc)
                        .map_err(|error| &**error)
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        let a = "https://example.com/a";
        check(&format!("Status,Address\n200,{a}\n"), &[Ok(a)]);
        check("Top pages;Clicks\n/a,b;5\n", &[Ok("/a,b")]);
        check("Page|Link name\n/a|x\n", &[Ok("/a")]);
        check(&format!("Permalink\n{a}\n"), &[Ok(a)]);
        // A more certain name counts before them.
        check("page,url\n1,/a\n", &[Ok("/a")]);
        // What a column of that name may have as well.
        check(
            "Location,Name\nBerlin,x\n,y\n/a,z\n",
            &[
                Err(
                    "\"Berlin\" in the column \"Location\", expected https://... or a path that begins with / \
                     (a column that is called `url` may have other relative URLs)",
                ),
                Ok(""),
                Ok("/a"),
            ],
        );
        let Err(error) = CsvRows::open("list.csv", &b"Page,Link\n1,/a\n"[..], &BTreeSet::new())
        else {
            panic!("it was read");
        };
        assert_eq!(
            error.to_string(),
            "list.csv:1: several columns of URLs, expected one that is called `url` or `loc`"
        );
    }
}
