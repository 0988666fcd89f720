//! [`Form`]: whether the first lines of a text file are those of a list or of a table, and where its URLs stand then.
//!
//! A name in a header line is no proof: a relative URL may be called `page,1.html`. What counts besides are the rows: as many fields,
//! and URLs in the column.

use std::{borrow::Cow, ops::Range};

use super::{
    Columns, DELIMITERS, Field, Fields, Table, TableError, UrlColumn,
    fields::{Further, OpenField},
    is_address,
};
use crate::{ChangeFreq, LastMod, Priority, read::text::has_web_scheme};

/// Columns of a table; a header line with more is none.
const MAX_COLUMNS: usize = 1_000;

/// Rows that are looked at to find the column of URLs, and whether there are rows at all.
const EVIDENCE_ROWS: usize = 20;

/// Lines that say something in front of a header line: the title of a report, its dates, its filters.
const MAX_LINES_BEFORE_HEADER: usize = 100;

/// What the reader is told of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Any,
    List,
    Table,
}

/// What a text file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// One URL in each line, but for these, from 0.
    List { notes: Vec<usize> },
    /// Rows behind a header line, which may have line ends in it.
    Table {
        header: Range<usize>,
        columns: Columns,
    },
}

/// Why it is not known what a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Nobody can know; the line that shows it, from 0.
    Refused(usize, TableError),
    /// The first row goes on behind the lines that were looked at.
    Cut,
}

/// What a file with these first lines is; `is_whole`: no further ones count.
pub(super) fn of(lines: &[&str], expected: Expected, is_whole: bool) -> Result<Form, Unknown> {
    let sample = Sample::new(lines, is_whole);
    let header = match expected {
        Expected::Any => sample.header()?,
        Expected::List => return Ok(Form::List { notes: Vec::new() }),
        Expected::Table => Some(sample.expected_header()?),
    };
    if let Some(header) = header {
        return Ok(header);
    }
    match sample.unknown_table()? {
        Some((index, error)) => Err(Unknown::Refused(index, error)),
        None => Ok(Form::List {
            notes: sample.notes(),
        }),
    }
}

/// Whether a line says nothing: it is blank, or a comment.
pub(super) fn is_silent(line: &str) -> bool {
    is_blank(line) || is_comment(line)
}

/// Whether a line is a comment, if there is no URL of a table in it.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Whether a line is what spreadsheets write in front of a table: `sep=;`, in either case, in quotation marks or not. The header line
/// tells as much.
pub(super) fn is_separator_line(line: &str) -> bool {
    let line = line.trim_matches([' ', '\u{feff}']);
    let quoted = line
        .strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'));
    let (name, separator) = quoted
        .unwrap_or(line)
        .split_at_checked(4)
        .unwrap_or_default();
    if !name.eq_ignore_ascii_case("sep=") {
        return false;
    }
    let mut separator = separator.chars();
    let is_delimiter = |character| DELIMITERS.contains(&character);
    separator.next().is_some_and(is_delimiter) && separator.next().is_none()
}

/// Whether a line is one between the rows of a drawn table: `|---|:--|`, `----+----`.
pub(super) fn is_ruler(line: &str) -> bool {
    line.contains(['-', '='])
        && line.contains(['|', '+'])
        && line.chars().all(|character| "-=+|: \t".contains(character))
}

/// The first lines of a file.
struct Sample<'a> {
    lines: &'a [&'a str],
    /// Whether a record that is open at their end ends there.
    is_whole: bool,
    /// The line in front of a table that only tells the delimiter.
    separator: Option<usize>,
    /// Those of the others that say something.
    telling: Vec<usize>,
}

impl<'a> Sample<'a> {
    fn new(lines: &'a [&'a str], is_whole: bool) -> Self {
        let mut telling: Vec<usize> = (0..lines.len())
            .filter(|index| !is_silent(lines[*index]))
            .collect();
        let separator = telling
            .first()
            .copied()
            .filter(|index| is_separator_line(lines[*index]));
        if separator.is_some() {
            telling.remove(0);
        }
        Self {
            lines,
            is_whole,
            separator,
            telling,
        }
    }

    /// The lines that say something, from this one of them on.
    fn telling_from(&self, first: usize) -> impl Iterator<Item = &'a str> {
        let telling = self.telling.get(first..).unwrap_or_default();
        telling.iter().map(|index| self.lines[*index])
    }

    /// How many lines may be header lines, as they say something and stand before the first URL.
    fn before_urls(&self) -> usize {
        let is_url = |index: &usize| begins_with_address(self.lines[*index]);
        let before = self.telling.iter().position(is_url);
        before
            .unwrap_or(self.telling.len())
            .min(MAX_LINES_BEFORE_HEADER + 1)
    }

    /// The record that begins with a line, and its lines; `None` when it goes on behind the last of them.
    fn record(
        &self,
        first: usize,
        delimiter: Option<char>,
    ) -> Option<(Cow<'a, str>, Range<usize>)> {
        let alone = Some((Cow::Borrowed(self.lines[first]), first..first + 1));
        let Some(mut open) = OpenField::of(self.lines[first], delimiter, MAX_COLUMNS) else {
            return alone;
        };
        for end in first + 1..self.lines.len() {
            match open.go_on(self.lines[end]) {
                Further::Open => {}
                Further::Closed => {
                    let lines = first..end + 1;
                    return Some((Cow::Owned(self.lines[lines.clone()].join("\n")), lines));
                }
                Further::Broken => return alone,
            }
        }
        alone.filter(|_| self.is_whole)
    }

    /// The first records from a line on that say something, as far as they are whole.
    fn rows(&self, mut next: usize, delimiter: Option<char>) -> Result<Vec<Cow<'a, str>>, Unknown> {
        let mut rows = Vec::new();
        while rows.len() < EVIDENCE_ROWS
            && let Some(line) = self.lines.get(next)
        {
            let is_row = |row: &str| {
                !is_comment(line)
                    || Fields::new(row, delimiter)
                        .any(|field| field.sound().is_some_and(is_address))
            };
            next += 1;
            if is_blank(line) || is_ruler(line) {
                continue;
            }
            match self.record(next - 1, delimiter) {
                Some((row, lines)) if is_row(&row) => {
                    rows.push(row);
                    next = lines.end;
                }
                None if !is_comment(line) && rows.is_empty() => return Err(Unknown::Cut),
                None if !is_comment(line) => break,
                Some(_) | None => {}
            }
        }
        Ok(rows)
    }

    /// The header line of a table with a column of URLs, which may stand behind a title or the like.
    fn header(&self) -> Result<Option<Form>, Unknown> {
        for number in 0..self.before_urls() {
            let Some(header) = self.header_at(number)? else {
                continue;
            };
            if header.is_like_next() {
                return Ok(None);
            }
            let is_header = if number == 0 {
                header.is_likely_first()
            } else {
                header.is_likely_behind(self.telling_from(0).take(number))
            };
            if is_header {
                return header.form().map(Some);
            }
        }
        Ok(None)
    }

    /// The same in a file that is said to be a table.
    fn expected_header(&self) -> Result<Form, Unknown> {
        if let Some(header) = self.header_at(0)? {
            return header.form();
        }
        let first = self.telling.first().copied();
        let first = first.or(self.lines.len().checked_sub(1)).unwrap_or(0);
        self.header()?
            .ok_or(Unknown::Refused(first, TableError::Unnamed))
    }

    /// A line that says something as a header line, with the delimiter that makes most of it.
    fn header_at(&self, number: usize) -> Result<Option<Header<'a>>, Unknown> {
        let Some(first) = self.telling.get(number) else {
            return Ok(None);
        };
        let mut best: Option<Header<'a>> = None;
        for delimiter in DELIMITERS {
            let Some(header) = self.header_with(*first, delimiter)? else {
                continue;
            };
            // Of equal ones the first.
            if best
                .as_ref()
                .is_none_or(|best| header.url.rank() < best.url.rank())
            {
                best = Some(header);
            }
        }
        Ok(best)
    }

    fn header_with(&self, first: usize, delimiter: char) -> Result<Option<Header<'a>>, Unknown> {
        let Some((text, lines)) = self.record(first, Some(delimiter)) else {
            return Ok(None);
        };
        let names: Vec<Field<'_>> = Fields::new(&text, Some(delimiter))
            .take(MAX_COLUMNS + 1)
            .collect();
        let is_sound = names
            .iter()
            .all(|name| name.sound().is_some_and(|name| !is_address(name)));
        if !is_sound || names.len() > MAX_COLUMNS {
            return Ok(None);
        }
        let known: Vec<(usize, UrlColumn)> = names
            .iter()
            .enumerate()
            .filter_map(|(column, name)| Some((column, UrlColumn::named(name.text())?)))
            .collect();
        if known.is_empty() {
            return Ok(None);
        }
        let delimiter = (names.len() > 1).then_some(delimiter);
        let rows = self.rows(lines.end, delimiter)?;
        let value = |row: &'_ Cow<'a, str>, column| {
            let field = Fields::new(row, delimiter).nth(column);
            field.and_then(Field::sound).map(str::to_owned)
        };
        let candidates = known.into_iter().map(|(column, certainty)| {
            let urls = rows
                .iter()
                .filter(|row| value(row, column).is_some_and(|value| is_url_of(certainty, &value)));
            Candidate {
                column,
                certainty,
                urls: urls.count(),
            }
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let Some(url) = candidates.iter().min_by_key(|it| it.rank()).copied() else {
            return Ok(None);
        };
        let is_one_of_many = candidates.iter().any(|other| {
            other.column != url.column
                && other.rank() == url.rank()
                // It does not matter which is taken while they say the same.
                && (url.urls == 0
                    || rows
                        .iter()
                        .any(|row| value(row, other.column) != value(row, url.column)))
        });
        let columns = names.len();
        let name = names[url.column].text().to_owned();
        Ok(Some(Header {
            lines,
            text,
            delimiter,
            columns,
            url,
            name,
            is_one_of_many,
            rows,
        }))
    }

    /// What shows that the lines are those of a table of which nobody knows where its URLs are.
    fn unknown_table(&self) -> Result<Option<(usize, TableError)>, Unknown> {
        let before_urls = self.before_urls();
        for index in &self.telling[..before_urls] {
            for delimiter in DELIMITERS {
                if self.is_unknown_header(*index, delimiter)? {
                    return Ok(Some((*index, TableError::NoColumn)));
                }
            }
        }
        Ok(if before_urls == 0 {
            let first = self.telling.first().filter(|_| self.is_headless());
            first.map(|first| (*first, TableError::NoHeader))
        } else {
            self.row_without_header()
        })
    }

    /// The first of the rows that have URLs behind other values, if that is what the file has.
    fn row_without_header(&self) -> Option<(usize, TableError)> {
        // Such a line in a list is a note or a slip: only where most are so, and more than are URLs, it is a row.
        let rows = self
            .telling
            .iter()
            .filter(|index| has_url_in_column(self.lines[**index]));
        let (first, count) = (rows.clone().next()?, rows.count());
        let addresses = self.telling_from(0).filter(|line| is_address(line.trim()));
        let is_table = count * 2 >= self.telling.len() && count > addresses.count();
        is_table.then_some((*first, TableError::Row))
    }

    /// Whether the lines are rows of a table that has no header line: a URL, a delimiter, and values among which one is of a kind that
    /// tables have. A line like that can be read as one URL, so most have to be such, and the first.
    fn is_headless(&self) -> bool {
        DELIMITERS.into_iter().any(|delimiter| {
            let rows = || self.telling_from(0).map(|line| is_row(line, delimiter));
            let count = rows().filter(|is_row| *is_row).count();
            rows().next() == Some(true) && count * 4 >= self.telling.len() * 3
        })
    }

    /// Whether a line names columns, whatever their names, and rows with URLs follow: as many fields, several, and in most rows.
    /// Relative URLs may have delimiters, too.
    fn is_unknown_header(&self, index: usize, delimiter: char) -> Result<bool, Unknown> {
        let Some((header, lines)) = self.record(index, Some(delimiter)) else {
            return Ok(false);
        };
        let names: Vec<_> = Fields::new(&header, Some(delimiter))
            .take(MAX_COLUMNS)
            .collect();
        if names.len() < 2 || names.iter().any(|name| is_address(name.text())) {
            return Ok(false);
        }
        let rows = self.rows(lines.end, Some(delimiter))?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        let has_url = Fields::new(row, Some(delimiter)).any(|field| is_address(field.text()));
        let shows_url = has_url_in_column(row)
            || (has_url && !is_title(&header, row, delimiter) && !has_marks_of_url(&header));
        let is_alike = |row: &str| Fields::new(row, Some(delimiter)).count() == names.len();
        let alike = rows.iter().filter(|row| is_alike(row));
        Ok(shows_url && is_alike(row) && alike.count() * 2 >= rows.len())
    }

    /// The lines of a list that are no URLs, as far as its first lines tell: one that only tells a delimiter, and a word in front of
    /// absolute URLs.
    fn notes(&self) -> Vec<usize> {
        let is_word = |line: &str| !line.contains(['/', '.', '?', '=', ':']);
        let mut others = self.telling_from(1).peekable();
        let are_urls = others.peek().is_some() && others.all(begins_with_web_scheme);
        let word = self
            .telling
            .first()
            .filter(|index| is_word(self.lines[**index]) && are_urls);
        self.separator.into_iter().chain(word.copied()).collect()
    }
}

/// A column whose name says that URLs stand in it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    column: usize,
    certainty: UrlColumn,
    /// In how many of the first rows it has one.
    urls: usize,
}

impl Candidate {
    /// Its place among others, the best first: what is called so with certainty loses to no other name; of the other names those count
    /// that have URLs, and of these the surest.
    fn rank(&self) -> (bool, bool, UrlColumn) {
        let is_doubtful = self.certainty != UrlColumn::Certain;
        (is_doubtful, self.urls == 0, self.certainty)
    }
}

/// A line that names a column of URLs.
struct Header<'a> {
    lines: Range<usize>,
    text: Cow<'a, str>,
    /// `None` when it has one column.
    delimiter: Option<char>,
    columns: usize,
    /// The column of URLs and its name; others may have as good a claim.
    url: Candidate,
    name: String,
    is_one_of_many: bool,
    /// The first records behind it.
    rows: Vec<Cow<'a, str>>,
}

impl Header<'_> {
    fn form(self) -> Result<Form, Unknown> {
        if self.is_one_of_many {
            let error = TableError::SeveralColumns;
            return Err(Unknown::Refused(self.lines.start, error));
        }
        let table = Table {
            delimiter: self.delimiter,
            count: self.columns,
            url: self.url.column,
            certainty: self.url.certainty,
        };
        Ok(Form::Table {
            header: self.lines,
            columns: Columns { table: Some(table) },
        })
    }

    /// Whether it is a header line as the first line of a file.
    fn is_likely_first(&self) -> bool {
        let next = self.rows.first();
        match (self.url.certainty, self.delimiter) {
            (UrlColumn::Certain, _) => true,
            (_, Some(_)) if self.is_title() => false,
            (_, Some(_)) => {
                let has_marks = has_marks_of_url(&self.text);
                self.rows_have_columns() && (self.url.urls > 0 || !has_marks)
            }
            // Alone, such a name may be a relative URL itself.
            (certainty, None) => next.is_some_and(|next| is_url_of(certainty, next.trim())),
        }
    }

    /// Whether it is a header line behind lines that say something else.
    fn is_likely_behind<'l>(&self, mut before: impl Iterator<Item = &'l str>) -> bool {
        let next = self.rows.first();
        match (self.url.certainty, self.delimiter) {
            (UrlColumn::Certain, Some(_)) => self.rows_have_columns(),
            (UrlColumn::Likely | UrlColumn::Possible, Some(_)) => {
                self.url.urls > 0 && self.rows_have_columns() && !self.is_title()
            }
            (UrlColumn::Certain | UrlColumn::Likely, None) => {
                let are_words = before.all(|line| line.trim().contains(char::is_whitespace));
                are_words && next.is_some_and(|next| begins_with_web_scheme(next))
            }
            (UrlColumn::Possible, None) => false,
        }
    }

    /// Whether the next line has the name itself where its URL should be: both are relative URLs of a list.
    fn is_like_next(&self) -> bool {
        self.rows.first().is_some_and(|next| {
            let mut fields = Fields::new(next, self.delimiter);
            let value = fields.nth(self.url.column);
            value.is_some_and(|value| value.text() == self.name)
        })
    }

    /// Whether the next line has several fields, and most of those behind it, as far as there are any. A field that nobody closes may
    /// have the others in it.
    fn rows_have_columns(&self) -> bool {
        let is_open = |row: &str| Fields::new(row, self.delimiter).any(Field::is_open);
        let rows: Vec<_> = self.rows.iter().filter(|row| !is_open(row)).collect();
        let has_columns = |row: &str| Fields::new(row, self.delimiter).nth(1).is_some();
        let count = rows.iter().filter(|row| has_columns(row)).count();
        rows.first().is_none_or(|row| has_columns(row)) && count * 2 >= rows.len()
    }

    /// Whether it is a title that begins with such a name, and URLs with delimiters follow.
    fn is_title(&self) -> bool {
        let is_of_url = |field: Field<'_>| {
            has_marks_of_url(field.text()) && field.text().parse::<f64>().is_err()
        };
        let is_url_with_delimiters = |row: &Cow<'_, str>| {
            let others = Fields::new(row, self.delimiter).enumerate();
            let mut others = others.filter(|(column, _)| *column != self.url.column);
            Fields::new(row, self.delimiter).count() != self.columns
                || others.any(|(_, field)| is_of_url(field))
        };
        let next = self.rows.first();
        self.delimiter
            .zip(next)
            .is_some_and(|(delimiter, next)| is_title(&self.text, next, delimiter))
            && self.rows.iter().any(is_url_with_delimiters)
    }
}

/// Whether a value is a URL in a column of such a name.
fn is_url_of(certainty: UrlColumn, value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    is_address(value) || (certainty < UrlColumn::Possible && has_marks_of_url(value))
}

/// Whether a line in front of another one is words with a comma: a blank follows it, and none in the other line.
fn is_title(line: &str, next: &str, delimiter: char) -> bool {
    let has_blank_behind = |line: &str| {
        let mut parts = line.split(delimiter).skip(1);
        parts.any(|part| part.starts_with(' '))
    };
    has_blank_behind(line) && !has_blank_behind(next)
}

/// Whether a text has what relative URLs have, and names of columns seldom: no blank, but a path, a query or the ending of a file.
pub(super) fn has_marks_of_url(text: &str) -> bool {
    let mut behind_dots = text.split('.').skip(1);
    !text.contains(char::is_whitespace)
        && (text.contains(['/', '=', '?'])
            || behind_dots.any(|part| part.starts_with(|next: char| next.is_ascii_alphanumeric())))
}

fn begins_with_address(line: &str) -> bool {
    is_address(line.trim_start_matches(|first: char| first.is_whitespace() || first == '"'))
}

fn begins_with_web_scheme(line: &str) -> bool {
    has_web_scheme(line.trim_start_matches(|first: char| first.is_whitespace() || first == '"'))
}

/// Whether a line is a row of a table whose first column has URLs. Quotation marks and blanks are beyond doubt: what stands between or
/// before them is the URL.
fn is_row(line: &str, delimiter: char) -> bool {
    let line = line.trim();
    if line.starts_with('"') || line.contains(char::is_whitespace) {
        return false;
    }
    let mut fields = Fields::new(line, Some(delimiter)).filter_map(Field::sound);
    let is_date = |field: &str| field.len() >= "2026-01-02".len() && LastMod::parse(field).is_ok();
    let is_priority = |field: &str| field.contains('.') && Priority::parse(field).is_ok();
    // A pair of numbers is a place on a map.
    let ends_in_number = |url: &str| {
        let end = url.rsplit(['/', '=', '@']).next();
        end.is_some_and(|end| end.parse::<f64>().is_ok())
    };
    fields.next().is_some_and(|url| {
        is_address(url)
            && fields.any(|field| {
                is_date(field)
                    || (is_priority(field) && !ends_in_number(url))
                    || ChangeFreq::parse(field).is_ok()
                    // A query may have other URLs in it.
                    || (has_web_scheme(field) && !url.contains('?'))
            })
    })
}

/// Whether a record that is no URL itself has an absolute one behind a delimiter, and not in its query.
pub(super) fn has_url_in_column(record: &str) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        let mut fields = Fields::new(record, Some(delimiter)).map(Field::sound);
        let is_other = |first: &str| !is_address(first) && !first.contains('?');
        fields.next().flatten().is_some_and(is_other)
            && fields
                .map_while(|field| {
                    let field = field.unwrap_or_default();
                    (!field.contains('?') || has_web_scheme(field)).then_some(field)
                })
                .any(has_web_scheme)
    })
}
