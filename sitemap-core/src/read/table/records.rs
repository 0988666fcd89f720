//! [`Records`]: puts the records of a text file together out of its lines.

use std::{borrow::Cow, collections::VecDeque};

use super::{
    Columns, Fields, RowError, TableError, UrlColumn,
    fields::{Further, OpenField},
    form::{self, Expected, Extent, Form, Unknown},
    header, is_address,
};

/// The most bytes that a line of a list, or the lines of one record of a table together, may have: 256 KiB, the same for all who read
/// them. The text of a page stands in a table, which is seldom longer than a tenth of that, but a quotation mark that nobody closes
/// must neither hold back the rest of a file nor be looked for in it again and again.
pub const MAX_RECORD_BYTES: usize = 256 * 1024;

/// The most lines of one record, for the same reason.
pub const MAX_RECORD_LINES: usize = 10_000;

/// How many lines that say something are looked at to find out whether a file is a list or a table.
const MAX_SAMPLE_LINES: usize = 100;

/// How many bytes are looked at for the same: the header line of a table with many columns. Comments in front of all count for nothing.
const MAX_SAMPLE_BYTES: usize = 64 * 1024;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Nothing but blanks, and delimiters.
    Blank,
    /// A line that begins with `#`; in a table one that has no URL in its column.
    Comment,
    /// What spreadsheets write in front of a table: `sep=;`.
    Separator,
    /// A line of dashes, as between the header and the rows of a table that is drawn with characters.
    Ruler,
    /// A line in front of the header line of a table, or of the URLs of a list, that is none of them.
    Note,
    /// The header line. Files that were put together have several, and the rows behind each stand in its [columns](Record::columns).
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
    /// One in this line, whose field goes on for longer than a record may.
    Long,
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

    /// Where its URL stands.
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// Whether the file is a table.
    pub fn is_of_table(&self) -> bool {
        self.columns.url_column().is_some()
    }

    /// Its fields. A line of a list has one.
    pub fn fields(&self) -> Fields<'_> {
        self.columns.fields(&self.text)
    }

    /// What is wrong when a quotation mark opens a field of it that none closes as it should, or not within [`MAX_RECORD_BYTES`]. The
    /// lines behind are read each for itself, then, up to the next whole row: such rows count, as they are more likely rows than a text
    /// that looks like them, and the others have no URL. That loses one row to a stray quotation mark, and no more.
    pub fn open_quote(&self) -> Option<RowError> {
        match self.quotes {
            RecordQuotes::Open => Some(RowError::OpenQuote),
            RecordQuotes::Long => Some(RowError::LongQuote),
            RecordQuotes::Sound | RecordQuotes::OpenBefore => None,
        }
    }

    /// The URL in it, absolute or relative: a line of a list without blanks, and what else is no part of it beyond doubt.
    ///
    /// # Errors
    /// Nobody knows which part of it is the URL.
    pub fn url(&self) -> Result<Cow<'_, str>, RowError> {
        let is_doubtful = self.quotes == RecordQuotes::OpenBefore;
        if is_doubtful && !self.columns.is_whole_row(&self.text) {
            return Err(RowError::BehindOpenQuote);
        }
        let url = self.columns.url_of(&self.text).map_err(|error| {
            let open_quote = self.open_quote();
            open_quote
                .filter(|_| error == RowError::OpenQuote)
                .unwrap_or(error)
        })?;
        if is_doubtful && !is_address(&url) {
            return Err(RowError::BehindOpenQuote);
        }
        if url.contains(char::is_control) {
            return Err(RowError::ControlCharacter);
        }
        let path = url.split(['?', '#']).next().unwrap_or_default();
        if path.contains('\\') {
            return Err(RowError::Backslash);
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
/// It looks at the first lines that say something before it gives out any of them, and then holds no more than one record.
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
/// assert_eq!((&*row.url()?, *row.place()), ("https://example.com/a,b", 2));
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
    /// How many came out since the form is known.
    index: usize,
    /// Lines of the sample that say something, and the bytes of all its lines from the first of these on.
    sample_lines: usize,
    sample_bytes: usize,
    /// How many times the usual sample is looked at, as that does not tell what the file is.
    sample_size: usize,
    /// The record at the beginning of `waiting`, when one of its fields goes on.
    open: Option<OpenRecord>,
    /// So many of the next lines stand behind an open quote, and are read each for itself.
    by_lines: usize,
    /// And so are those behind them, up to the next whole row.
    is_lost: bool,
    is_at_end: bool,
}

/// A record that is not put together yet.
#[derive(Debug)]
struct OpenRecord {
    field: OpenField,
    /// Its lines so far, and their bytes.
    lines: usize,
    bytes: usize,
    is_too_long: bool,
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
            is_lost: false,
            is_at_end: false,
        }
    }

    /// Adds the next line of the file, without its end. A byte order mark at its beginning is no part of it: files that were put
    /// together of several have some.
    pub fn push(&mut self, line: &str, place: P) {
        if self.is_refused {
            return;
        }
        let line = line.trim_start_matches('\u{feff}');
        if self.form.is_none() {
            self.sample_lines += usize::from(!form::is_silent(line));
            self.sample_bytes += if self.sample_lines > 0 {
                line.len() + 1
            } else {
                0
            };
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
            Some(Form::List { .. }) | None => Columns::of_list(self.expected),
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
        if self.is_refused {
            return None;
        }
        // Whatever the file is, these say nothing of it.
        if self.form.is_none()
            && let Some((line, _)) = self.waiting.front()
            && form::is_silent(line)
        {
            let part = part_before_header(line);
            return self.take(1, part, self.columns()).map(Ok);
        }
        if !(self.is_at_end || self.is_decided() || self.has_sample()) {
            return None;
        }
        let mut form = match self.form.take() {
            Some(form) => form,
            None => match self.decide() {
                Ok(form) => {
                    self.index = 0;
                    form
                }
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
        let record = self.record(&mut form);
        self.form = Some(form);
        record.map(Ok)
    }

    fn has_sample(&self) -> bool {
        self.sample_lines >= self.sample_size * MAX_SAMPLE_LINES
            || self.sample_bytes >= self.sample_size * MAX_SAMPLE_BYTES
    }

    fn decide(&self) -> Result<Form, Unknown> {
        let lines: Vec<&str> = self.waiting.iter().map(|(line, _)| &**line).collect();
        let extent = if self.is_at_end {
            Extent::Whole
        } else if self.sample_bytes > MAX_SAMPLE_BYTES + MAX_RECORD_BYTES
            || self.sample_lines > MAX_SAMPLE_LINES + MAX_RECORD_LINES
        {
            Extent::Bound
        } else {
            Extent::Beginning
        };
        form::of(&lines, self.expected, extent)
    }

    /// The next record of a file of this form.
    fn record(&mut self, form: &mut Form) -> Option<Record<P>> {
        let (line, _) = self.waiting.front()?;
        match form {
            Form::List { note } => {
                let part = if form::is_comment(line) {
                    Part::Comment
                } else if *note == Some(self.index) {
                    Part::Note
                } else {
                    let is_certain = self.expected == Expected::List;
                    part_of_line(line)
                        .filter(|part| *part == Part::Blank || !is_certain)
                        .unwrap_or(Part::Entry)
                };
                self.take(1, part, Columns::of_list(self.expected))
            }
            Form::Table { header, columns } => {
                if self.index < header.start {
                    self.take(1, part_before_header(line), *columns)
                } else if self.index < header.end {
                    let record = self.take(header.len(), Part::Header, *columns)?;
                    self.header.clone_from(&record.text);
                    Some(record)
                } else {
                    self.row(columns)
                }
            }
        }
    }

    /// The next row of a table, as soon as all of its lines are there. One that is a header line may change the columns.
    fn row(&mut self, columns: &mut Columns) -> Option<Record<P>> {
        let (line, _) = self.waiting.front()?;
        let is_comment = form::is_comment(line);
        if self.by_lines == 0 && self.is_lost {
            self.is_lost = !columns.is_whole_row(line);
        }
        let is_behind_open = self.by_lines > 0 || self.is_lost;
        if self.open.is_none()
            && !is_behind_open
            && let Some(table) = columns.table
        {
            self.open = OpenField::of(line, table.delimiter).map(|field| OpenRecord {
                field,
                lines: 1,
                bytes: line.len(),
                is_too_long: false,
            });
        }
        let mut lines = 1;
        let quotes = match &mut self.open {
            None if is_behind_open => RecordQuotes::OpenBefore,
            None => RecordQuotes::Sound,
            Some(open) => match open.go_on(&self.waiting) {
                Further::Closed => {
                    let whole = open.lines;
                    if !is_comment || self.has_address(whole, *columns) {
                        lines = whole;
                    }
                    RecordQuotes::Sound
                }
                Further::Open if !self.is_at_end => return None,
                Further::Open | Further::Broken => {
                    let (whole, is_too_long) = (open.lines, open.is_too_long);
                    if is_comment && !self.has_address(1, *columns) {
                        RecordQuotes::Sound
                    } else {
                        self.by_lines = whole;
                        let delimiter = columns.table.and_then(|table| table.delimiter);
                        let broken = self.waiting.get(whole).filter(|_| !is_too_long);
                        let begins = broken.and_then(|(line, _)| OpenField::of(line, delimiter));
                        // What opens a quoted field itself is more likely the next record.
                        self.is_lost = begins.is_none();
                        if is_too_long {
                            RecordQuotes::Long
                        } else {
                            RecordQuotes::Open
                        }
                    }
                }
            },
        };
        if quotes == RecordQuotes::Sound {
            let again = self.header_again(lines, *columns);
            // It is put together once more, if that has to wait.
            self.open = None;
            if let Some(further) = again? {
                *columns = further;
                let record = self.take(lines, Part::Header, further)?;
                self.header.clone_from(&record.text);
                return Some(record);
            }
        }
        self.open = None;
        self.by_lines = self.by_lines.saturating_sub(1);
        let mut record = self.take(lines, Part::Entry, *columns)?;
        record.part = part_of_row(&record);
        record.quotes = quotes;
        Some(record)
    }

    /// The columns behind the next lines, if these are a header line; `None` as long as nobody knows.
    #[expect(
        clippy::option_option,
        reason = "the outer one says that more lines are needed"
    )]
    fn header_again(&self, lines: usize, columns: Columns) -> Option<Option<Columns>> {
        if self.header.is_empty() {
            return Some(None);
        }
        let text = self.text_of(lines);
        let delimiter = columns.table.and_then(|table| table.delimiter);
        if header::are_same_names(&self.header, &text, delimiter) {
            return Some(Some(columns));
        }
        if columns.has_address(&text) || !header::names_url_column(&text) {
            return Some(None);
        }
        let mut behind = self.waiting.iter().skip(lines);
        match behind.find(|(line, _)| !form::is_silent(line) && !form::is_ruler(line)) {
            Some((next, _)) => Some(header::other_columns(columns, &text, next)),
            None if self.is_at_end || self.waiting.len() > MAX_RECORD_LINES => Some(None),
            None => None,
        }
    }

    /// The next lines, with a line feed between them.
    fn text_of(&self, lines: usize) -> Cow<'_, str> {
        let mut texts = self.waiting.iter().take(lines).map(|(line, _)| &**line);
        let mut text = Cow::Borrowed(texts.next().unwrap_or_default());
        for line in texts {
            let text = text.to_mut();
            text.push('\n');
            text.push_str(line);
        }
        text
    }

    /// Whether a record of so many of the next lines has an address where its URL should be.
    fn has_address(&self, lines: usize, columns: Columns) -> bool {
        columns.has_address(&self.text_of(lines))
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
                self.is_too_long = true;
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

/// What a line is that can have no URL, wherever it stands.
fn part_of_line(line: &str) -> Option<Part> {
    if form::is_blank(line) {
        Some(Part::Blank)
    } else if form::is_separator_line(line) {
        Some(Part::Separator)
    } else {
        form::is_ruler(line).then_some(Part::Ruler)
    }
}

/// What a line of a file is without any URL in front of the header line of a table.
fn part_before_header(line: &str) -> Part {
    if form::is_comment(line) {
        Part::Comment
    } else {
        part_of_line(line).unwrap_or(Part::Note)
    }
}

fn part_of_row<P>(record: &Record<P>) -> Part {
    let text = &record.text;
    if let Some(part) = part_of_line(text) {
        part
    } else if record.fields().all(|field| field.text().is_empty()) {
        Part::Blank
    } else if form::is_comment(text) && !is_row_of_hash(record) {
        Part::Comment
    } else {
        Part::Entry
    }
}

/// Whether a row that begins like a comment has a URL all the same. Where the name of the column leaves no doubt a relative one counts,
/// too, behind a first value such as `#1`; comments have a blank there.
fn is_row_of_hash<P>(record: &Record<P>) -> bool {
    let is_value = || {
        let first = record.fields().next();
        let value = first.and_then(|first| first.text().strip_prefix('#'));
        value.is_some_and(|value| !value.starts_with([' ', '#']))
    };
    let Some(table) = record.columns.table else {
        return false;
    };
    record.url().is_ok_and(|url| {
        is_address(&url)
            || (table.certainty == UrlColumn::Certain
                && table.url > 0
                && record.fields().count() == table.count
                && !url.is_empty()
                && is_value())
    })
}
