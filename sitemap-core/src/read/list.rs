//! [`UrlList`]: the rows of a list of URLs that a user gives, one URL in each line or in one column of a table.
//!
//! The first line that is neither blank nor a comment decides. Where it names a column of URLs it is the header line of a table, and
//! the delimiter is the one that makes most columns of it. Otherwise each line is one URL, and a first line that is none refuses the
//! list.

use std::io::{self, BufRead};

use csv_core::ReadRecordResult;

use super::{
    LineError, Lines, MAX_RECORD_BYTES,
    list_words::{has_web_scheme, is_metadata},
};

/// Separators of columns; the first occurs in no text and serves a table of one column.
const DELIMITERS: [u8; 4] = [0, b',', b';', b'\t'];

/// Names of the column of URLs in small letters, without blanks, `_` and `-`; the first that a header line has counts. After our
/// own are those of exports: Ahrefs, Semrush, Sitebulb, Screaming Frog (`Address`), Search Console, Analytics and others.
const URL_COLUMNS: [&str; 11] = [
    "loc",
    "url",
    "urls",
    "pageurl",
    "fullurl",
    "address",
    "permalink",
    "toppages",
    "landingpage",
    "pagepath",
    "page",
];

/// Under these names a value may also be a relative URL without a `/` in front.
const OWN_NAMES: [&str; 2] = ["loc", "url"];

/// The same names of the column that has the status codes of the URLs.
const STATUS_COLUMNS: [&str; 4] = ["statuscode", "httpstatuscode", "httpstatus", "status"];

/// Names of the column that has whether a page may be indexed (Screaming Frog, Sitebulb).
const INDEXABLE_COLUMNS: [&str; 3] = ["indexability", "indexablestatus", "indexable"];

/// Names of the column that has media types.
const TYPE_COLUMNS: [&str; 2] = ["contenttype", "mimetype"];

/// Media types that are none of pages or documents, by how they begin.
const OTHER_TYPES: [&str; 8] = [
    "image/",
    "audio/",
    "video/",
    "font/",
    "text/css",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
];

/// Form of a list, as the caller declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListForm {
    /// Each line is one URL.
    Lines,
    /// A table, whose first line names the columns.
    Table,
}

/// Reason why a list cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The input failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The header line does not show where the URLs are.
    #[error("{problem}")]
    Refused {
        /// The line that shows it, from 1.
        line: u64,
        /// The reason.
        problem: ListProblem,
    },
}

/// Reason why the URLs of a list cannot be located.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListProblem {
    /// The first line is neither a URL nor a header line.
    #[error(
        "the first line is not a URL, and none of its columns is called `url` or `loc`; expected one URL per line, or a header \
         line such as `url,lastmod`"
    )]
    Start,
    /// A list declared as a table has no header line.
    #[error("no header line, expected one that names the columns, `url` or `loc` among them")]
    NoHeader,
    /// Two columns have the name that counts.
    #[error("several columns of URLs, expected one that is called `url` or `loc`")]
    SeveralColumns,
    /// A quotation mark opens a field, and none closes it.
    #[error("a quoted field without its closing quote in {} KiB", MAX_RECORD_BYTES / 1024)]
    OpenQuote,
}

/// Reason why a row has no usable URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The line cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The line has more columns than the header line, or ends before that of the URL.
    #[error(
        "{fields} field{}, expected {columns} as in the header line (a value that has the delimiter in it between quotation marks)",
        if *fields == 1 { "" } else { "s" }
    )]
    Fields {
        /// Number of its columns.
        fields: usize,
        /// Number of columns of the header line.
        columns: usize,
    },
    /// White space or a control character is in it.
    #[error("white space inside a URL, expected one URL")]
    WhiteSpace,
    /// The text is a word in a column that has absolute URLs and paths.
    #[error("not a URL, expected https://... or a path that begins with /")]
    Word,
    /// A date, a frequency, a priority or another URL follows the URL.
    #[error(
        "more than a URL, expected one URL, or a header line such as `url,lastmod` in front of such lines"
    )]
    Row,
}

/// A line of a list, or a row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRow {
    /// Line at which it begins, from 1.
    pub line: u64,
    /// The URL of the line, absolute or relative.
    pub url: Result<String, RowError>,
    /// The values of a table, in the order of [`UrlList::columns`]; programs leave out empty ones at the end.
    pub values: Vec<Result<String, LineError>>,
}

/// The rows of a list.
///
/// ```
/// use sitemap_core::read::UrlList;
///
/// let export = "Title;Status Code;Address\n\"Two\nlines\";200;https://example.com/a,b\nGone;404;https://example.com/c\n";
/// let mut list = UrlList::open(export.as_bytes(), None)?;
/// let row = list.next()?.expect("a row");
/// assert_eq!((row.line, row.url), (2, Ok("https://example.com/a,b".to_owned())));
/// assert_eq!(list.next()?, None);
/// assert_eq!(list.left_out(), 1);
/// # Ok::<(), sitemap_core::read::ListError>(())
/// ```
#[derive(Debug)]
pub struct UrlList<R> {
    lines: Lines<R>,
    form: Option<ListForm>,
    /// `None` for a list.
    table: Option<Table>,
    /// The first line, which was looked at and is a row.
    first: Option<Result<(), LineError>>,
    left_out: u64,
}

/// The columns of a table, and the record that is being read.
#[derive(Debug)]
struct Table {
    columns: Vec<String>,
    url: usize,
    status: Option<usize>,
    indexable: Option<usize>,
    media_type: Option<usize>,
    record: Record,
}

impl<R: BufRead> UrlList<R> {
    /// Reads up to the first line that is neither blank nor a comment.
    ///
    /// # Errors
    /// The input fails, or the line shows that this is not a list.
    pub fn open(input: R, form: Option<ListForm>) -> Result<Self, ListError> {
        let mut lines = Lines::new(input);
        let mut first = None;
        while let Some(line) = lines.next()? {
            let readable = line.map(|_| ());
            // Spreadsheets write, and need, a line with the delimiter in front of the table.
            let is_delimiter = lines.number() == 1 && lines.lossy().starts_with("sep=");
            if !is_silent(&lines, readable) && !is_delimiter {
                first = Some(readable);
                break;
            }
        }
        let mut list = Self {
            lines,
            form,
            table: None,
            first,
            left_out: 0,
        };
        list.decide().map_err(|problem| ListError::Refused {
            line: list.lines.number().max(1),
            problem,
        })?;
        Ok(list)
    }

    /// Decides the form by the first line.
    fn decide(&mut self) -> Result<(), ListProblem> {
        if self.form != Some(ListForm::Lines) {
            self.table = Table::of(&self.lines.lossy())?;
        }
        match (&self.table, self.form, self.first) {
            (Some(_), _, _) => self.first = None,
            (None, Some(ListForm::Table), _) => return Err(ListProblem::NoHeader),
            (None, None, Some(Ok(()))) => {
                // A word is more likely a title, or the name of a column.
                let url = url_of_line(&self.lines.lossy());
                if !url.is_ok_and(|url| url.contains(['/', '.'])) {
                    return Err(ListProblem::Start);
                }
            }
            (None, None | Some(ListForm::Lines), _) => {}
        }
        Ok(())
    }

    /// The names of the columns; none in a list.
    pub fn columns(&self) -> &[String] {
        self.table.as_ref().map_or(&[], |table| &table.columns)
    }

    /// The column that has the URLs.
    pub fn url_column(&self) -> Option<usize> {
        self.table.as_ref().map(|table| table.url)
    }

    /// Number of rows that were left out: they have a status code other than 200, are stated not to be indexable, or have the media
    /// type of a picture, a script or the like.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The lines that were read.
    pub fn lines(&self) -> &Lines<R> {
        &self.lines
    }

    /// The next row that is not blank.
    ///
    /// # Errors
    /// The input fails, or a quotation mark is not closed. A row that cannot be used is not an error.
    #[expect(
        clippy::should_implement_trait,
        reason = "nothing comes after an error"
    )]
    pub fn next(&mut self) -> Result<Option<ListRow>, ListError> {
        let mut begin = None;
        loop {
            let readable = match self.first.take() {
                Some(first) => Some(first),
                None => self.lines.next()?.map(|line| line.map(|_| ())),
            };
            let line = *begin.get_or_insert(self.lines.number());
            let open_quote = || ListError::Refused {
                line,
                problem: ListProblem::OpenQuote,
            };
            let is_open = self.table.as_ref().is_some_and(|it| it.record.is_open());
            let readable = match readable {
                None if is_open => return Err(open_quote()),
                None => return Ok(None),
                Some(readable) => readable,
            };
            if !is_open && is_silent(&self.lines, readable) {
                begin = None;
                continue;
            }
            let Some(table) = &mut self.table else {
                let text = self.lines.lossy();
                let url = match (readable, self.form) {
                    (Err(error), _) => Err(error.into()),
                    (Ok(()), Some(_)) => url_of_text(&text),
                    (Ok(()), None) => url_of_line(&text),
                };
                let values = Vec::new();
                return Ok(Some(ListRow { line, url, values }));
            };
            if let Err(error @ LineError::TooLong { .. }) = readable {
                if is_open {
                    return Err(open_quote());
                }
                return Ok(Some(ListRow {
                    line,
                    url: Err(error.into()),
                    values: Vec::new(),
                }));
            }
            let is_whole = table.record.add(self.lines.raw());
            if table.record.bytes > MAX_RECORD_BYTES {
                return Err(open_quote());
            }
            if !is_whole {
                continue;
            }
            let values = table.record.take_values();
            if table.is_no_page(&values) {
                self.left_out += 1;
            } else if !table.is_blank(&values) {
                let url = table.url_of(&values);
                return Ok(Some(ListRow { line, url, values }));
            }
            begin = None;
        }
    }
}

impl Table {
    /// The table with this header line, if it is one.
    fn of(line: &str) -> Result<Option<Self>, ListProblem> {
        if is_address(line) {
            return Ok(None);
        }
        let tables = DELIMITERS
            .into_iter()
            .filter_map(|delimiter| Self::with(line, delimiter));
        // Of equal ones the first.
        let best = tables.rev().max_by_key(|table| table.columns.len());
        let Some(table) = best else {
            return Ok(None);
        };
        let name = plain(&table.columns[table.url]);
        let named = table.columns.iter().filter(|column| plain(column) == name);
        if named.count() > 1 {
            return Err(ListProblem::SeveralColumns);
        }
        Ok(Some(table))
    }

    fn with(line: &str, delimiter: u8) -> Option<Self> {
        let mut record = Record::new(delimiter);
        if !record.add(line.as_bytes()) {
            return None;
        }
        let names = record.take_values().into_iter();
        let columns: Vec<String> = names.map(Result::unwrap_or_default).collect();
        let column_of = |known: &[&str]| {
            let position = |known: &&str| columns.iter().position(|name| plain(name) == **known);
            known.iter().find_map(position)
        };
        Some(Self {
            url: column_of(&URL_COLUMNS)?,
            status: column_of(&STATUS_COLUMNS),
            indexable: column_of(&INDEXABLE_COLUMNS),
            media_type: column_of(&TYPE_COLUMNS),
            columns,
            record,
        })
    }

    /// Returns whether a row is of no page that could be listed, as its columns state.
    fn is_no_page(&self, values: &[Result<String, LineError>]) -> bool {
        let value = |column: Option<usize>| {
            let value = column.and_then(|column| values.get(column)?.as_ref().ok());
            value.map(|value| value.to_ascii_lowercase())
        };
        let code = value(self.status).and_then(|status| status.parse::<u16>().ok());
        let is_not = |value: String| {
            value.starts_with("non-")
                || value.starts_with("not ")
                || value == "no"
                || value == "false"
        };
        let is_other = |value: String| OTHER_TYPES.iter().any(|start| value.starts_with(start));
        code.is_some_and(|code| code != 200)
            || value(self.indexable).is_some_and(is_not)
            || value(self.media_type).is_some_and(is_other)
    }

    /// Returns whether a row is blank, or repeats the header line, as in concatenated files.
    fn is_blank(&self, values: &[Result<String, LineError>]) -> bool {
        let is_empty =
            |value: &Result<String, LineError>| value.as_ref().is_ok_and(String::is_empty);
        let is_name = |value: &Result<String, LineError>| {
            value
                .as_ref()
                .is_ok_and(|value| *value == self.columns[self.url])
        };
        values.iter().all(is_empty) || values.get(self.url).is_some_and(is_name)
    }

    fn url_of(&self, values: &[Result<String, LineError>]) -> Result<String, RowError> {
        let (fields, columns) = (values.len(), self.columns.len());
        let is_empty =
            |value: &Result<String, LineError>| value.as_ref().is_ok_and(String::is_empty);
        let has_more = !values.iter().skip(columns).all(is_empty);
        let url = values.get(self.url).filter(|_| !has_more);
        let url = url.ok_or(RowError::Fields { fields, columns })?;
        let url = url_of_text(url.as_ref().map_err(|error| *error)?)?;
        let is_own = OWN_NAMES.contains(&&*plain(&self.columns[self.url]));
        if is_own || url.is_empty() || is_address(&url) {
            Ok(url)
        } else {
            Err(RowError::Word)
        }
    }
}

/// A record of a table while its lines come.
#[derive(Debug)]
struct Record {
    parser: csv_core::Reader,
    text: Vec<u8>,
    text_length: usize,
    ends: Vec<usize>,
    fields: usize,
    /// Of its lines so far, with their ends.
    bytes: usize,
}

impl Record {
    fn new(delimiter: u8) -> Self {
        Self {
            parser: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            text: vec![0; 1_024],
            text_length: 0,
            ends: vec![0; 32],
            fields: 0,
            bytes: 0,
        }
    }

    /// Returns whether a quoted field goes on in the next line.
    fn is_open(&self) -> bool {
        self.bytes > 0
    }

    /// Adds a line; whether the record ends with it.
    fn add(&mut self, line: &[u8]) -> bool {
        self.bytes += line.len() + 1;
        // Nothing at all would be the end of the input.
        (line.is_empty() || !self.parse(line)) && self.parse(b"\n")
    }

    fn parse(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            let (result, read, written, ended) = self.parser.read_record(
                bytes,
                &mut self.text[self.text_length..],
                &mut self.ends[self.fields..],
            );
            bytes = &bytes[read..];
            self.text_length += written;
            self.fields += ended;
            match result {
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return false,
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => return true,
            }
        }
    }

    /// The values, without blanks around them.
    fn take_values(&mut self) -> Vec<Result<String, LineError>> {
        let mut start = 0;
        let values = self.ends[..self.fields].iter().map(|end| {
            let value = std::str::from_utf8(&self.text[std::mem::replace(&mut start, *end)..*end]);
            value
                .map(|value| value.trim().to_owned())
                .map_err(|_| LineError::NotText)
        });
        let values = values.collect();
        (self.text_length, self.fields, self.bytes) = (0, 0, 0);
        values
    }
}

/// Returns whether the last line is the writer's own: blank, or a comment in any encoding.
fn is_silent<R: BufRead>(lines: &Lines<R>, readable: Result<(), LineError>) -> bool {
    let text = lines.lossy();
    let line = text.trim_start();
    let is_too_long = matches!(readable, Err(LineError::TooLong { .. }));
    !is_too_long && (line.is_empty() || line.starts_with('#'))
}

/// Returns whether a text begins like a URL, absolute or relative to the host.
fn is_address(text: &str) -> bool {
    text.starts_with('/') || has_web_scheme(text)
}

/// A line of a list that is not declared to have URLs only.
fn url_of_line(line: &str) -> Result<String, RowError> {
    let url = url_of_text(line)?;
    let mut values = url.split([',', ';']).skip(1);
    if !url.contains('?') && values.any(|value| is_metadata(value) || has_web_scheme(value)) {
        Err(RowError::Row)
    } else {
        Ok(url)
    }
}

fn url_of_text(text: &str) -> Result<String, RowError> {
    let url = text.trim();
    let is_space = |character: char| character.is_whitespace() || character.is_control();
    if url.contains(is_space) {
        return Err(RowError::WhiteSpace);
    }
    Ok(url.to_owned())
}

/// Returns whether a line is the header line of a table of several columns.
pub(super) fn is_header(line: &str) -> bool {
    let table = Table::of(line);
    table.is_ok_and(|table| table.is_some_and(|table| table.columns.len() > 1))
}

/// The name of a column without characters that differ between programs.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|character| !character.is_whitespace() && !matches!(character, '_' | '-'))
        .map(|character| character.to_ascii_lowercase())
        .collect()
}
