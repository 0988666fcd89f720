//! Text files that list URLs: which part of a line is the URL, for whoever reads them.
//!
//! ```text
//! lines -> Records: is it a list or a table? by its first lines (form): the line that names its columns (header), or rows without (headless)
//!       -> Record: one line, or several where a quoted field goes on (fields) -> its URL, by the Columns of the header line
//! ```
//!
//! Tables are CSV by RFC 4180, with any of four delimiters. The first line that has as many fields as most of those behind it is the
//! header line: where it names a column of URLs this is a table, and where URLs stand in a column that it names otherwise, nobody knows
//! what this is, and it is refused. Everything else is a list, each line of which is one URL. A line of names that nobody knows, which
//! could be the title of a list or a URL, is a header line only if the rows have values that are no part of a URL.

mod fields;
mod form;
mod header;
mod headless;
mod names;
mod records;

#[cfg(test)]
mod tests;

pub use fields::{Field, Fields};
pub use names::UrlColumn;
pub use records::{MAX_RECORD_BYTES, MAX_RECORD_LINES, Part, Record, Records, Refusal};

use std::borrow::Cow;

use super::text::{has_web_scheme, is_metadata};

/// What may stand between two columns, in the order in which a header line is tried with them.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Why nobody knows where the URLs of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Its header line names no column of URLs.
    #[error(
        "this begins a table, no column of which is called `url` or `loc`, expected one that is"
    )]
    NoColumn,
    /// It begins with a row, whose columns could mean anything.
    #[error(
        "this is a table without a header line, expected one that names the columns, e.g. `url,lastmod`, or `url` alone if each \
         line is one URL"
    )]
    NoHeader,
    /// A row stands in it, but no header line before it.
    #[error(
        "this is the row of a table, expected a header line that names the columns, `url` or `loc` among them"
    )]
    Row,
    /// Several columns have URLs, and none has a surer name than the others.
    #[error("several columns of URLs, expected one that is called `url` or `loc`")]
    SeveralColumns,
    /// There are words only, as far as is looked.
    #[error("no URL in the first {} KiB or {MAX_RECORD_LINES} lines, expected one", MAX_RECORD_BYTES / 1024)]
    NoUrl,
    /// It is said to be a table, and its first line names no column of URLs.
    #[error("no header line, expected one that names the columns, `url` or `loc` among them")]
    Unnamed,
}

/// Why nobody knows the URL of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// It has more columns than the header line, or ends before that of the URL.
    #[error("{}", other_fields(*fields, *columns))]
    Fields {
        /// How many it has.
        fields: usize,
        /// How many the header line has.
        columns: usize,
    },
    /// It has more columns than the others of a table without a header line.
    #[error(
        "{fields} fields, expected {columns} as in the other rows (a value that has the delimiter in it between quotation marks)"
    )]
    OtherFields {
        /// How many it has.
        fields: usize,
        /// How many the others have.
        columns: usize,
    },
    /// A quotation mark opens a field, and none closes it.
    #[error("a quoted field without its closing quote")]
    OpenQuote,
    /// The same, as far as a record may go on: [`MAX_RECORD_BYTES`], [`MAX_RECORD_LINES`].
    #[error("a quoted field without its closing quote in {} KiB or {MAX_RECORD_LINES} lines", MAX_RECORD_BYTES / 1024)]
    LongQuote,
    /// Something stands between the end of a quoted field and the delimiter.
    #[error("text behind a closing quote, expected the delimiter")]
    TextBehindQuote,
    /// A line end or the like stands in a URL. Some programs leave it out, others do not, so it would be another URL for each.
    #[error("a line end, tab or other control character in the URL, expected none")]
    ControlCharacter,
    /// A backslash stands in the path of a URL. Some programs read it as `/`, others as a character of its own.
    #[error("a backslash in the URL, expected / or %5C")]
    Backslash,
    /// A line of a list is quoted, and more fields seem to stand between its quotation marks.
    #[error("quotation marks within a quoted line, expected one URL")]
    QuotesWithin,
    /// A line of a list has something else in front of a URL.
    #[error("a URL behind another value, expected one URL")]
    UrlBehind,
    /// A line of a list has a date behind its URL, which may be a part of that, and seldom is: for those who ask whether there is such
    /// a page, it is one.
    #[error(
        "a date behind the URL, expected one URL, or a header line such as `url,lastmod` in front of such lines"
    )]
    DateBehind,
    /// A quoted field without its closing quote came before, so the line may be the rest of that.
    #[error("no whole row, behind a quoted field without its closing quote")]
    BehindOpenQuote,
}

fn other_fields(fields: usize, columns: usize) -> String {
    let ending = if fields == 1 { "" } else { "s" };
    let advice = if fields > columns {
        " (a value that has the delimiter in it between quotation marks)"
    } else {
        ""
    };
    format!("{fields} field{ending}, expected {columns} as in the header line{advice}")
}

/// Where the URL stands in the records of a text file: in a table where its header line says, in other files in all of the line, or
/// in that part of it which is one beyond doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns {
    /// `None` for a list.
    table: Option<Table>,
    /// Whether the lines of a list are URLs because somebody says so.
    is_certain_list: bool,
}

/// What a header line says, or the first rows where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    has_header: bool,
    /// `None` when there is one column only: its values may have any of them.
    delimiter: Option<char>,
    /// How many columns there are, and which of them has the URLs.
    count: usize,
    url: usize,
    certainty: UrlColumn,
}

impl Columns {
    fn of(table: Table) -> Self {
        Self {
            table: Some(table),
            is_certain_list: false,
        }
    }

    fn of_list(expected: form::Expected) -> Self {
        Self {
            table: None,
            is_certain_list: expected == form::Expected::List,
        }
    }

    /// Which column has the URLs, from 0, and how sure its name is; `None` for a list.
    pub fn url_column(self) -> Option<(usize, UrlColumn)> {
        self.table.map(|table| (table.url, table.certainty))
    }

    /// Whether it is a table without a header line, whose rows are a URL and the date of its last change.
    pub fn is_headless(self) -> bool {
        self.table.is_some_and(|table| !table.has_header)
    }

    /// The fields of a record. A list has one in each line.
    pub fn fields(self, record: &str) -> Fields<'_> {
        Fields::new(record, self.table.and_then(|table| table.delimiter))
    }

    fn url_of(self, record: &str) -> Result<Cow<'_, str>, RowError> {
        Ok(match self.field_of_url(record)? {
            Cow::Borrowed(url) => Cow::Borrowed(without_apostrophes(url)),
            Cow::Owned(url) => Cow::Owned(url),
        })
    }

    /// Whether an address stands where the URL of a record should be.
    fn has_address(self, record: &str) -> bool {
        self.url_of(record).is_ok_and(|url| is_address(&url))
    }

    fn field_of_url(self, record: &str) -> Result<Cow<'_, str>, RowError> {
        let Some(table) = self.table else {
            let line = record.trim();
            if header::has_url_in_column(line) {
                return Err(RowError::UrlBehind);
            }
            let url = column(line).unwrap_or(line);
            if line.starts_with('"') && url.contains("\"\"") {
                return Err(RowError::QuotesWithin);
            }
            if !self.is_certain_list && headless::has_date_behind(url) {
                return Err(RowError::DateBehind);
            }
            return Ok(Cow::Borrowed(url));
        };
        let (mut count, mut url, mut last) = (0, None, None);
        let mut has_more = false;
        for field in self.fields(record) {
            if count == table.url {
                url = Some(field);
            }
            // Programs add empty fields at the end, but the delimiter in a value has to stand between quotation marks.
            has_more |= count >= table.count && !field.text().is_empty();
            last = Some(field);
            count += 1;
        }
        let other_columns = Err(table.other_fields(count));
        if has_more {
            return other_columns;
        }
        match (url, last) {
            // Programs leave away empty fields at the end, and a word alone is what stands behind the rows.
            (Some(url), _) if count == 1 && table.count > 1 && !is_like_url(url.text()) => {
                other_columns
            }
            (Some(url), _) => url.value(),
            (None, Some(last)) if last.is_open() => Err(RowError::OpenQuote),
            // Nothing but a URL.
            (None, Some(only)) if count == 1 && has_web_scheme(only.text()) => {
                Ok(Cow::Borrowed(only.text()))
            }
            (None, _) => other_columns,
        }
    }

    /// Whether a line is a row beyond doubt, although it may stand in a quoted field that began before: it has the fields of one, and
    /// a URL among them. A text may have lines that are nothing but URLs.
    fn is_whole_row(self, line: &str) -> bool {
        let Some(table) = self.table else {
            return false;
        };
        let (mut count, mut is_open, mut is_sound) = (0, false, true);
        for field in self.fields(line) {
            count += 1;
            is_open = field.is_open();
            is_sound &= is_open || field.sound().is_some();
        }
        let url = self.url_of(line);
        is_sound && (count >= table.count || is_open) && url.is_ok_and(|url| is_like_url(&url))
    }
}

impl Table {
    fn other_fields(self, fields: usize) -> RowError {
        let columns = self.count;
        if self.has_header {
            RowError::Fields { fields, columns }
        } else {
            RowError::OtherFields { fields, columns }
        }
    }
}

/// Whether a text begins like a URL, absolute or relative to the host.
///
/// ```
/// use sitemap_core::read::is_address;
///
/// assert!(is_address("/a") && is_address("HTTPS://example.com/"));
/// assert!(!is_address("about.html") && !is_address("ftp://example.com/"));
/// ```
pub fn is_address(text: &str) -> bool {
    text.starts_with('/') || has_web_scheme(text)
}

fn is_like_url(text: &str) -> bool {
    is_address(text) || header::has_marks_of_url(text)
}

/// A URL without the pair of `'` that some programs put around a value.
fn without_apostrophes(url: &str) -> &str {
    let quoted = url
        .strip_prefix('\'')
        .and_then(|url| url.strip_suffix('\''));
    quoted.filter(|url| is_address(url)).unwrap_or(url)
}

/// The URL in a line without header that has more columns, beyond doubt: quotation marks, a tab, or another URL or date behind a
/// blank.
fn column(line: &str) -> Option<&str> {
    part_of(line).filter(|url| is_like_url(url))
}

fn part_of(line: &str) -> Option<&str> {
    if let Some(quoted) = line.strip_prefix('"') {
        let end = fields::closing_quote(quoted).or_else(|| quoted.find('"'));
        return quoted.get(..end.unwrap_or(quoted.len())).map(str::trim);
    }
    if let Some((url, _)) = line.split_once('\t') {
        return Some(url.trim());
    }
    let (url, rest) = line.split_once(char::is_whitespace)?;
    let is_metadata = rest
        .split_whitespace()
        .any(|word| has_web_scheme(word) || is_metadata(word));
    is_metadata.then(|| url.trim_end_matches([',', ';']))
}
