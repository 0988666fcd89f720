//! [`Records`]: puts the records of a text file together out of its lines.

use std::collections::VecDeque;

use super::{
    Columns, Fields, RowError, TableError,
    fields::{Further, OpenField},
    form::{self, Expected, Form, Unknown},
    is_address,
};

/// The most bytes that the lines of one record may have together. The texts of pages stand in tables, but a quotation mark that nobody
/// closes must not hold back the rest of a file.
pub const MAX_RECORD_BYTES: usize = 256 * 1024;

/// The most lines of one record, for the same reason.
pub const MAX_RECORD_LINES: usize = 10_000;

/// How many lines that say something are looked at to find out whether a file is a list or a table.
const MAX_SAMPLE_LINES: usize = 100;

/// How many bytes are looked at for the same: the header line of a table with many columns, comments in front of it.
const MAX_SAMPLE_BYTES: usize = 64 * 1024;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Nothing but blanks.
    Blank,
    /// A line that begins with `#`; in a table one that has no URL in its column.
    Comment,
    /// What spreadsheets write in front of a table: `sep=;`.
    Separator,
    /// The lines between the header and the rows of a table that is drawn with characters.
    Ruler,
    /// A line in front of the header line of a table, or of the URLs of a list, that is none of them.
    Note,
    /// The header line, which files that were put together have several times.
    Header,
    /// A row, or a line of a list.
    Entry,
}

/// One record: a line, or several of a table where a quoted field has line ends in it. `P` is what the reader knows of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<P> {
    part: Part,
    columns: Columns,
    text: String,
    place: P,
    further: Vec<P>,
    quotes: RecordQuotes,
}

/// What is known of quotation marks that open a field and are never closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordQuotes {
    Sound,
    /// One in this line.
    Open,
    /// One in a line before, of whose field this line might be a part.
    OpenBefore,
}

impl<P> Record<P> {
    /// What it is.
    pub fn part(&self) -> Part {
        self.part
    }

    /// Its lines, with a line feed between them.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the reader knows of its first line.
    pub fn place(&self) -> &P {
        &self.place
    }

    /// What the reader knows of each of its lines.
    pub fn places(&self) -> impl Iterator<Item = &P> {
        std::iter::once(&self.place).chain(&self.further)
    }

    /// Whether the file is a table.
    pub fn is_of_table(&self) -> bool {
        self.columns.url_column().is_some()
    }

    /// Its fields. A line of a list has one.
    pub fn fields(&self) -> Fields<'_> {
        self.columns.fields(&self.text)
    }

    /// Whether a quotation mark opens a field of it that none closes within [`MAX_RECORD_BYTES`]: the lines behind are read each for
    /// itself.
    pub fn has_open_quote(&self) -> bool {
        self.quotes == RecordQuotes::Open
    }

    /// The URL in it, absolute or relative: a line of a list without blanks, and what else is no part of it beyond doubt.
    ///
    /// # Errors
    /// Nobody knows which part of it is the URL.
    pub fn url(&self) -> Result<&str, RowError> {
        let url = self.columns.url_of(&self.text)?;
        if self.quotes == RecordQuotes::OpenBefore && !is_address(url) {
            return Err(RowError::BehindOpenQuote);
        }
        if url.contains(char::is_control) {
            return Err(RowError::ControlCharacter);
        }
        Ok(url)
    }
}

/// Why a file is refused, and the line that shows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Refusal<P> {
    /// Why.
    pub error: TableError,
    /// What the reader knows of the line.
    pub place: P,
}

/// The records of a text file, put together out of its lines. `P` is what the reader wants to know of each line again: its number, for
/// example.
///
/// It looks at the first lines before it gives out any, and then holds no more than one record.
///
/// ```
/// use sitemap_core::read::{Part, Records};
///
/// let table = "Title;Page\n\"Two\nlines\";https://example.com/a,b\n";
/// let mut records = Records::default();
/// for (index, line) in table.lines().enumerate() {
///     records.push(line, index + 1);
/// }
/// records.end();
/// let header = records.next().expect("a record")?;
/// assert_eq!(header.part(), Part::Header);
/// let row = records.next().expect("a record")?;
/// assert_eq!((row.url()?, *row.place()), ("https://example.com/a,b", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Records<P> {
    expected: Expected,
    /// Known once enough lines were looked at.
    form: Option<Form>,
    is_refused: bool,
    /// The header line, once it came out.
    header: String,
    /// Lines that did not come out yet.
    waiting: VecDeque<(String, P)>,
    /// The first of them in the file, from 0.
    index: usize,
    /// Lines of the sample that say something, and the bytes of all its lines.
    sample_lines: usize,
    sample_bytes: usize,
    /// How many times the usual sample is looked at, as the first row is longer than that.
    sample_size: usize,
    /// The record at the beginning of `waiting`, when one of its fields goes on.
    open: Option<OpenRecord>,
    /// So many of the next lines stand behind an open quote, and are read each for itself.
    by_lines: usize,
    is_at_end: bool,
}

/// A record that is not put together yet.
#[derive(Debug)]
struct OpenRecord {
    field: OpenField,
    /// Its lines so far, and their bytes.
    lines: usize,
    bytes: usize,
}

impl<P> Default for Records<P> {
    fn default() -> Self {
        Self::of(Expected::Any)
    }
}

impl<P> Records<P> {
    /// The records of a file that somebody says is a table: its first line names the columns, whatever else it looks like.
    pub fn of_table() -> Self {
        Self::of(Expected::Table)
    }

    /// The records of a file that somebody says is a list: each line is one URL, whatever it looks like.
    pub fn of_list() -> Self {
        Self::of(Expected::List)
    }

    fn of(expected: Expected) -> Self {
        Self {
            expected,
            form: None,
            is_refused: false,
            header: String::new(),
            waiting: VecDeque::new(),
            index: 0,
            sample_lines: 0,
            sample_bytes: 0,
            sample_size: 1,
            open: None,
            by_lines: 0,
            is_at_end: false,
        }
    }

    /// Adds the next line of the file, without its end.
    pub fn push(&mut self, line: &str, place: P) {
        if self.is_refused {
            return;
        }
        if self.form.is_none() {
            self.sample_lines += usize::from(!form::is_silent(line));
            self.sample_bytes += line.len() + 1;
        }
        self.waiting.push_back((line.to_owned(), place));
    }

    /// No line comes any more.
    pub fn end(&mut self) {
        self.is_at_end = true;
    }

    /// Whether it is known what the file is, which needs its first lines.
    pub fn is_decided(&self) -> bool {
        self.form.is_some() || self.is_refused
    }

    /// Where the URLs of the file stand, once that is [known](Self::is_decided).
    pub fn columns(&self) -> Columns {
        match &self.form {
            Some(Form::Table { columns, .. }) => *columns,
            Some(Form::List { .. }) | None => Columns::default(),
        }
    }

    /// The next record that is whole; `None` when there is none before a further line comes.
    ///
    /// # Errors
    /// The file is a table of which nobody knows where its URLs are; nothing else comes out of it.
    #[expect(
        clippy::should_implement_trait,
        reason = "it goes on behind `None`, which an iterator does not"
    )]
    pub fn next(&mut self) -> Option<Result<Record<P>, Refusal<P>>> {
        if self.is_refused || !(self.is_at_end || self.is_decided() || self.has_sample()) {
            return None;
        }
        let form = match self.form.take() {
            Some(form) => form,
            None => match self.decide() {
                Ok(form) => form,
                Err(Unknown::Cut) => {
                    self.sample_size *= 2;
                    return None;
                }
                Err(Unknown::Refused(index, error)) => {
                    self.is_refused = true;
                    let (_, place) = self.waiting.swap_remove_back(index)?;
                    self.waiting.clear();
                    return Some(Err(Refusal { error, place }));
                }
            },
        };
        let record = self.record(&form);
        self.form = Some(form);
        record.map(Ok)
    }

    fn has_sample(&self) -> bool {
        self.sample_lines >= self.sample_size * MAX_SAMPLE_LINES
            || self.sample_bytes >= self.sample_size * MAX_SAMPLE_BYTES
    }

    fn decide(&self) -> Result<Form, Unknown> {
        let lines: Vec<&str> = self.waiting.iter().map(|(line, _)| &**line).collect();
        // A record has no more, so one that is still open is none.
        let is_whole = self.is_at_end
            || self.sample_bytes > MAX_SAMPLE_BYTES + MAX_RECORD_BYTES
            || self.sample_lines > MAX_SAMPLE_LINES + MAX_RECORD_LINES;
        form::of(&lines, self.expected, is_whole)
    }

    /// The next record of a file of this form.
    fn record(&mut self, form: &Form) -> Option<Record<P>> {
        let (line, _) = self.waiting.front()?;
        match form {
            Form::List { notes } => {
                let part = if form::is_blank(line) {
                    Part::Blank
                } else if form::is_comment(line) {
                    Part::Comment
                } else if !notes.contains(&self.index) {
                    Part::Entry
                } else if form::is_separator_line(line) {
                    Part::Separator
                } else {
                    Part::Note
                };
                self.take(1, part, Columns::default())
            }
            Form::Table { header, columns } => {
                if self.index < header.start {
                    self.take(1, part_before_header(line), *columns)
                } else if self.index < header.end {
                    let record = self.take(header.len(), Part::Header, *columns)?;
                    record.text.trim().clone_into(&mut self.header);
                    Some(record)
                } else {
                    self.row(*columns)
                }
            }
        }
    }

    /// The next row of a table, as soon as all of its lines are there.
    fn row(&mut self, columns: Columns) -> Option<Record<P>> {
        let (line, _) = self.waiting.front()?;
        let is_comment = form::is_comment(line);
        if self.open.is_none()
            && self.by_lines == 0
            && let Some(table) = columns.table
        {
            self.open = OpenField::of(line, table.delimiter, table.count).map(|field| OpenRecord {
                field,
                lines: 1,
                bytes: line.len(),
            });
        }
        let quotes = match &mut self.open {
            None if self.by_lines > 0 => {
                self.by_lines -= 1;
                RecordQuotes::OpenBefore
            }
            None => RecordQuotes::Sound,
            Some(open) => match open.go_on(&self.waiting) {
                Further::Closed => {
                    let lines = open.lines;
                    self.open = None;
                    if !is_comment || self.has_address(lines, columns) {
                        return self.take(lines, Part::Entry, columns);
                    }
                    RecordQuotes::Sound
                }
                Further::Open if !self.is_at_end => return None,
                Further::Open | Further::Broken => {
                    let lines = open.lines;
                    self.open = None;
                    if is_comment && !self.has_address(1, columns) {
                        RecordQuotes::Sound
                    } else {
                        self.by_lines = lines - 1;
                        RecordQuotes::Open
                    }
                }
            },
        };
        let mut record = self.take(1, Part::Entry, columns)?;
        record.part = if record.text.trim() == self.header {
            Part::Header
        } else {
            part_of_row(&record)
        };
        record.quotes = quotes;
        Some(record)
    }

    /// Whether a record of so many of the next lines has an address where its URL should be.
    fn has_address(&self, lines: usize, columns: Columns) -> bool {
        let lines = self.waiting.iter().take(lines);
        let lines: Vec<&str> = lines.map(|(line, _)| &**line).collect();
        columns.url_of(&lines.join("\n")).is_ok_and(is_address)
    }

    /// Takes a record of so many lines.
    fn take(&mut self, lines: usize, part: Part, columns: Columns) -> Option<Record<P>> {
        let (mut text, place) = self.waiting.pop_front()?;
        let mut further = Vec::new();
        for (line, place) in self.waiting.drain(..lines - 1) {
            text.push('\n');
            text.push_str(&line);
            further.push(place);
        }
        self.index += lines;
        Some(Record {
            part,
            columns,
            text,
            place,
            further,
            quotes: RecordQuotes::Sound,
        })
    }
}

impl OpenRecord {
    /// Looks at the lines that came, as far as they may be of this record. [`Further::Open`]: it goes on behind them.
    fn go_on<P>(&mut self, waiting: &VecDeque<(String, P)>) -> Further {
        while let Some((line, _)) = waiting.get(self.lines) {
            self.bytes += line.len() + 1;
            if self.bytes > MAX_RECORD_BYTES || self.lines >= MAX_RECORD_LINES {
                return Further::Broken;
            }
            match self.field.go_on(line) {
                Further::Open => self.lines += 1,
                Further::Closed => {
                    self.lines += 1;
                    return Further::Closed;
                }
                Further::Broken => return Further::Broken,
            }
        }
        Further::Open
    }
}

/// What a line of a file is without any URL in front of the header line of a table.
fn part_before_header(line: &str) -> Part {
    if form::is_blank(line) {
        Part::Blank
    } else if form::is_silent(line) {
        Part::Comment
    } else if form::is_separator_line(line) {
        Part::Separator
    } else {
        Part::Note
    }
}

fn part_of_row<P>(record: &Record<P>) -> Part {
    let line = record.text.trim();
    if line.is_empty() {
        Part::Blank
    } else if form::is_comment(line) && !record.url().is_ok_and(is_address) {
        Part::Comment
    } else if form::is_ruler(line) {
        Part::Ruler
    } else {
        Part::Entry
    }
}
