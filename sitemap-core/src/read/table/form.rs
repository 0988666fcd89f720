//! [`Form`]: whether the first lines of a text file are those of a list or of a table, and where its URLs stand then.

use std::{borrow::Cow, ops::Range};

use super::{
    Columns, DELIMITERS, Fields, Table, TableError, UrlColumn,
    fields::{Further, OpenField},
    header::{self, Header, MAX_COLUMNS, Names},
    headless, is_address,
};
use crate::read::text::has_web_scheme;

/// Rows that are looked at to find the column of URLs, and whether there are rows at all.
const EVIDENCE_ROWS: usize = 20;

/// Lines that say something in front of a header line, all of which may be one: the title of a report, its dates, its filters. Of
/// more, those that name a column of URLs are looked at, and the last ones.
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
    /// One URL in each line, but for this one, from 0.
    List { note: Option<usize> },
    /// Rows behind a header line, which may have line ends in it, and is empty where the first row says as much.
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
    /// More lines have to be looked at: the first row goes on behind these, or there is no URL in them.
    Cut,
}

/// How many lines are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// More follow, and can be looked at.
    Beginning,
    /// More follow, but as many as a record has were looked at.
    Bound,
    /// These are all.
    Whole,
}

/// What a file with these first lines is.
pub(super) fn of(lines: &[&str], expected: Expected, extent: Extent) -> Result<Form, Unknown> {
    let sample = Sample::new(lines, extent);
    let header = match expected {
        Expected::Any => sample.header()?,
        Expected::List => return Ok(Form::List { note: None }),
        Expected::Table => Some(sample.expected_header()?),
    };
    if let Some(table) = header.or_else(|| sample.dated_rows()) {
        return Ok(table);
    }
    if extent == Extent::Beginning && sample.has_few_rows() {
        return Err(Unknown::Cut);
    }
    match sample.unknown_table()? {
        Some((index, error)) => Err(Unknown::Refused(index, error)),
        None => Ok(Form::List {
            note: sample.note(),
        }),
    }
}

/// Whether a line says nothing of a file: it is blank, or a comment that is no header line.
pub(super) fn is_silent(line: &str) -> bool {
    is_blank(line) || (is_comment(line) && !header::begins_with_rank(line))
}

/// Whether a line is a comment, if there is no URL of a table in it.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Whether nothing stands in a line, or in none of its fields: spreadsheets write such rows.
pub(super) fn is_blank(line: &str) -> bool {
    line.chars()
        .all(|character| character.is_whitespace() || DELIMITERS.contains(&character))
}

/// Whether a line is what spreadsheets write in front of a table: `sep=;`, in either case, in quotation marks or not. The header line
/// tells as much.
pub(super) fn is_separator_line(line: &str) -> bool {
    let line = line.trim_matches(' ');
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

/// Whether a line is one between the rows of a drawn table, or under a title: `|---|:--|`, `----+----`, `---,---`, `=====`.
pub(super) fn is_ruler(line: &str) -> bool {
    let is_of_frame = |character: char| ('\u{2500}'..='\u{257f}').contains(&character);
    let is_drawn = line.contains("--") || line.contains("==") || line.contains(is_of_frame);
    (is_drawn || (line.contains(['-', '=']) && line.contains(['|', '+'])))
        && line
            .chars()
            .all(|character| "-=+|:,; \t".contains(character) || is_of_frame(character))
}

/// The first lines of a file.
struct Sample<'a> {
    lines: &'a [&'a str],
    extent: Extent,
    /// Those that say something, but for rulers and what only tells the delimiter.
    telling: Vec<usize>,
    /// How many of these stand before the first URL that begins a line.
    before_urls: usize,
}

impl<'a> Sample<'a> {
    fn new(lines: &'a [&'a str], extent: Extent) -> Self {
        let says_something =
            |line: &str| !is_silent(line) && !is_ruler(line) && !is_separator_line(line);
        let telling: Vec<usize> = (0..lines.len())
            .filter(|index| says_something(lines[*index]))
            .collect();
        let is_url = |index: &usize| header::begins_with_address(lines[*index]);
        let before_urls = telling.iter().position(is_url);
        Self {
            lines,
            extent,
            before_urls: before_urls.unwrap_or(telling.len()),
            telling,
        }
    }

    /// The lines that say something, from this one of them on.
    fn telling_from(&self, first: usize) -> impl Iterator<Item = &'a str> {
        let telling = self.telling.get(first..).unwrap_or_default();
        telling.iter().map(|index| self.lines[*index])
    }

    /// Whether no line begins with a URL, or few do behind many others, among which a header line may come last.
    fn has_few_rows(&self) -> bool {
        let rows = self.telling.len() - self.before_urls;
        rows == 0 || (self.before_urls > MAX_LINES_BEFORE_HEADER / 2 && rows < EVIDENCE_ROWS)
    }

    /// Which lines may be header lines: the first that say something and stand before a URL, and of those behind them the ones that
    /// name a column of URLs.
    fn may_be_headers(&self) -> impl Iterator<Item = usize> {
        let is_named = |number: &usize| {
            let line = self.lines[self.telling[*number]];
            *number <= MAX_LINES_BEFORE_HEADER || header::names_url_column(line)
        };
        (0..self.before_urls)
            .filter(is_named)
            .take(2 * MAX_LINES_BEFORE_HEADER)
    }

    /// The record that begins with a line, and its lines; `None` when it goes on behind the last of them.
    fn record(
        &self,
        first: usize,
        delimiter: Option<char>,
    ) -> Option<(Cow<'a, str>, Range<usize>)> {
        let alone = Some((Cow::Borrowed(self.lines[first]), first..first + 1));
        let Some(open) = OpenField::of(self.lines[first], delimiter) else {
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
        // A record has no more, so one that is still open is none.
        alone.filter(|_| self.extent != Extent::Beginning)
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
            if is_blank(line) || is_ruler(line) || is_separator_line(line) {
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
        for number in self.may_be_headers() {
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
                return table_of(header).map(Some);
            }
        }
        Ok(None)
    }

    /// The same in a file that is said to be a table.
    fn expected_header(&self) -> Result<Form, Unknown> {
        if let Some(header) = self.header_at(0)? {
            return table_of(header);
        }
        let first = self.telling.first().copied();
        let first = first.or(self.lines.len().checked_sub(1)).unwrap_or(0);
        let table = self.header()?.or_else(|| self.dated_rows());
        let is_cut = self.extent == Extent::Beginning && self.has_few_rows();
        table.ok_or(if is_cut {
            Unknown::Cut
        } else {
            Unknown::Refused(first, TableError::Unnamed)
        })
    }

    /// The table that has no header line, but whose rows are all a URL and a date.
    fn dated_rows(&self) -> Option<Form> {
        let first = *self.telling.first()?;
        let lines: Vec<&str> = self.telling_from(0).collect();
        let mut delimiters = DELIMITERS.into_iter();
        let delimiter = delimiters.find(|it| headless::are_dated(&lines, *it))?;
        let table = Table {
            has_header: false,
            delimiter: Some(delimiter),
            count: 2,
            url: 0,
            certainty: UrlColumn::Possible,
        };
        Some(Form::Table {
            header: first..first,
            columns: Columns::of(table),
        })
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
            if best.as_ref().is_none_or(|best| header.is_better_than(best)) {
                best = Some(header);
            }
        }
        Ok(best)
    }

    fn header_with(&self, first: usize, delimiter: char) -> Result<Option<Header<'a>>, Unknown> {
        let Some((text, lines)) = self.record(first, Some(delimiter)) else {
            return Ok(None);
        };
        let Some(names) = Names::of(&text, delimiter) else {
            return Ok(None);
        };
        let rows = self.rows(lines.end, names.delimiter)?;
        Ok(Header::new(text, lines, names, rows))
    }

    /// What shows that the lines are those of a table of which nobody knows where its URLs are.
    fn unknown_table(&self) -> Result<Option<(usize, TableError)>, Unknown> {
        let before_urls = &self.telling[..self.before_urls];
        let first = before_urls.iter().take(MAX_LINES_BEFORE_HEADER + 1);
        let others = before_urls.iter().skip(MAX_LINES_BEFORE_HEADER + 1);
        let last = others.rev().take(EVIDENCE_ROWS);
        for index in first.chain(last) {
            for delimiter in DELIMITERS {
                if self.is_unknown_header(*index, delimiter)? {
                    return Ok(Some((*index, TableError::NoColumn)));
                }
            }
        }
        let Some(first) = self.telling.first() else {
            return Ok(None);
        };
        let lines: Vec<&str> = self.telling_from(0).collect();
        Ok(if before_urls.is_empty() {
            headless::are_rows(&lines).then_some((*first, TableError::NoHeader))
        } else if self.extent == Extent::Bound && are_words(&lines) {
            Some((*first, TableError::NoUrl))
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
            .filter(|index| headless::has_address_behind(self.lines[**index]));
        let (first, count) = (rows.clone().next()?, rows.count());
        let addresses = self.telling_from(0).filter(|line| is_address(line.trim()));
        let is_table = count * 2 >= self.telling.len() && count > addresses.count();
        is_table.then_some((*first, TableError::Row))
    }

    /// Whether a line names columns, whatever their names: most rows behind it have as many fields, or more,
    /// and URLs in one of them.
    fn is_unknown_header(&self, index: usize, delimiter: char) -> Result<bool, Unknown> {
        let Some((header, lines)) = self.record(index, Some(delimiter)) else {
            return Ok(false);
        };
        let names: Vec<_> = Fields::new(&header, Some(delimiter))
            .take(MAX_COLUMNS)
            .collect();
        if names.len() < 2
            || names.iter().any(|name| is_address(name.text()))
            || header.contains("://")
        {
            return Ok(false);
        }
        let all = self.rows(lines.end, Some(delimiter))?;
        let rows = all.iter().map(|row| Fields::new(row, Some(delimiter)));
        // A value that is not quoted may have the delimiter in it; behind the title of a list any URL may.
        let is_title = header::has_blank_behind(&header, delimiter);
        let is_alike = |count: usize| count == names.len() || (count > names.len() && !is_title);
        let rows: Vec<Fields<'_>> = rows.filter(|row| is_alike(row.clone().count())).collect();
        let shows_urls = |column| {
            let values = rows
                .iter()
                .filter_map(|row| row.clone().nth(column)?.sound());
            let (mut with_scheme, mut addresses) = (0, 0);
            for value in values {
                with_scheme += usize::from(has_web_scheme(value));
                addresses += usize::from(is_address(value));
            }
            // Paths may have delimiters in them, and one that lacks its `/` may stand before the others.
            let has_paths = if header::has_marks_of_url(&header) {
                addresses == rows.len() && addresses > 1
            } else {
                addresses * 2 >= rows.len()
            };
            with_scheme * 2 >= rows.len() || has_paths
        };
        let are_most = !rows.is_empty() && rows.len() * 2 >= all.len();
        if !are_most || !(0..names.len()).any(shows_urls) {
            return Ok(false);
        }
        // The title of a list, or its first URL, has as many delimiters as the URLs behind it by chance.
        if !is_title && !header::has_marks_of_url(&header) {
            return Ok(true);
        }
        let is_followed = self
            .lines
            .get(index + 1)
            .is_some_and(|next| !next.trim().is_empty());
        let is_sentence = header.trim_end().ends_with([':', '.']);
        let proofs = rows
            .iter()
            .filter(|row| header::has_value_of_column((*row).clone()));
        Ok(is_followed && !is_sentence && proofs.count() * 2 >= rows.len())
    }

    /// The line of a list that is no URL, as far as its first lines tell: a word in front of absolute URLs.
    fn note(&self) -> Option<usize> {
        let is_word = |line: &str| !line.contains(['/', '.', '?', '=', ':']);
        let mut others = self.telling_from(1).peekable();
        let are_urls = others.peek().is_some() && others.all(header::begins_with_web_scheme);
        let first = self.telling.first().copied();
        first.filter(|index| is_word(self.lines[*index]) && are_urls)
    }
}

/// The table with this header line, unless several columns could have its URLs.
fn table_of(header: Header<'_>) -> Result<Form, Unknown> {
    match header.columns() {
        Ok((header, columns)) => Ok(Form::Table { header, columns }),
        Err(line) => Err(Unknown::Refused(line, TableError::SeveralColumns)),
    }
}

/// Whether most lines have blanks in them, which no URL has.
fn are_words(lines: &[&str]) -> bool {
    let words = lines.iter().filter(|line| headless::has_blank(line.trim()));
    words.count() * 2 >= lines.len()
}
