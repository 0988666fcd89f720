//! [`Lines`]: what the lines of a text file mean: one URL each, and nothing else (R50 to R57).
//!
//! Anything that is no markup could be such a file, so it is one only from its first URL on; what came before is held back until
//! then. A file without any near its beginning is refused as a whole, and so is a table of which nobody knows where its URLs are.

use std::{
    borrow::Cow,
    collections::VecDeque,
    io::{self, BufRead},
};

use super::{
    Item, Kind, MAX_RECORD_BYTES, MAX_RECORD_LINES, MAX_VALUE_BYTES, Part, Position, Problem,
    ReadError, Record, Records, Refusal, RowError,
    document::{Document, Place},
    draft::{Draft, Tag, Text},
    input::{Halt, Input},
};
use crate::{ChangeFreq, LastMod, Loc, LocError, Priority};

/// How much may come before the first URL of a list; more is no header any more. A table with a header line is known by that.
const MAX_HEADER: Extent = Extent {
    records: 100,
    bytes: 64 * 1024,
};

/// The same of blank lines and comments.
const MAX_SILENT: Extent = Extent {
    records: MAX_RECORD_LINES,
    bytes: MAX_RECORD_BYTES,
};

/// What a file may begin with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What XML has in no text, besides control characters.
const NONCHARACTERS: [char; 2] = ['\u{fffe}', '\u{ffff}'];

/// What stands for bytes that are no text.
const NO_CHARACTER: char = char::REPLACEMENT_CHARACTER;

/// Something that comes out of a line.
#[derive(Debug)]
enum Outcome {
    /// Something that was read over.
    Note(Problem, Position),
    /// A line that is left out.
    Lost(Problem, Position),
    /// A URL, and what was wrong with it.
    Url(Loc, Vec<Problem>, Position),
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    records: usize,
    bytes: usize,
}

impl Extent {
    fn add(&mut self, record: &Record<LineNote>) {
        self.records += 1;
        self.bytes += record.text().len() + 1;
    }

    fn is_within(self, limit: Self) -> bool {
        self.records <= limit.records && self.bytes <= limit.bytes
    }
}

/// What is known of a line before it is looked at.
#[derive(Debug)]
struct LineNote {
    position: Position,
    /// Something in it that no URL has.
    defect: Option<Problem>,
    /// It begins with a byte order mark, which only the file should.
    is_marked: bool,
}

/// A text file while it is read.
#[derive(Debug)]
pub(super) struct Lines {
    /// The first character that is not blank.
    first: Position,
    /// Those in front of it in its line: the first columns of a table may be empty.
    tabs: usize,
    /// The memory for a line, used again for each.
    line: Vec<u8>,
    /// Lines that are not looked at yet.
    records: Records<LineNote>,
    /// What comes out next, in the order of the file.
    outcomes: VecDeque<Outcome>,
    /// The file is a table that nobody knows.
    refusal: Option<Refusal<LineNote>>,
    /// What the input failed with, behind all that came before, and where.
    failure: Option<(io::Error, Position)>,
    /// A URL was found, so this is such a file.
    has_url: bool,
    /// What came before that: all that say something, and the others.
    header: Extent,
    silent: Extent,
    /// Lines that are neither blank nor left out came before.
    has_line: bool,
    /// The last line that is not blank, if it is not a URL and might be a footer.
    footer: Option<Position>,
    /// The line behind which other bytes follow what was compressed.
    trailing: Option<Position>,
    is_at_end: bool,
}

impl Lines {
    /// The lines of a file that begins at `start`, behind its byte order mark, and with something that is not blank at `first`, so
    /// many tabs behind the beginning of its line.
    pub(super) fn new(
        notes: Vec<(Problem, Position)>,
        start: Position,
        first: Position,
        tabs: usize,
    ) -> Self {
        let notes = notes
            .into_iter()
            .map(|(problem, position)| Outcome::Note(problem, position));
        let mut lines = Self {
            first,
            tabs: tabs.min(MAX_VALUE_BYTES),
            line: Vec::new(),
            records: Records::default(),
            outcomes: notes.collect(),
            refusal: None,
            failure: None,
            has_url: false,
            header: Extent::default(),
            silent: Extent::default(),
            has_line: false,
            footer: None,
            trailing: None,
            is_at_end: false,
        };
        if first.line > start.line {
            lines.note(Problem::BlankLine, start);
        } else if first.offset > start.offset {
            lines.note(Problem::Padded { name: "line" }, start);
        }
        lines
    }

    /// The same of a file that has nothing but URLs, whatever they look like.
    pub(super) fn expecting_urls(self) -> Self {
        Self {
            records: Records::of_list(),
            ..self
        }
    }

    /// Whether something comes out before more is read.
    pub(super) fn is_ready(&self) -> bool {
        self.is_at_end || (self.has_url && !self.outcomes.is_empty())
    }

    /// What the input failed with, once all that came before is out.
    pub(super) fn take_failure(&mut self, document: &mut Document) -> Option<io::Error> {
        let is_out = self.refusal.is_none() && (!self.has_url || self.outcomes.is_empty());
        let (error, position) = self.failure.take_if(|_| is_out)?;
        document.token_position = position;
        Some(error)
    }

    /// What comes out next.
    pub(super) fn take(&mut self, document: &mut Document) -> Result<Option<Item>, ReadError> {
        if let Some(refusal) = &self.refusal {
            document.token_position = refusal.place.position;
            return Err(document.fatal(Problem::Table(refusal.error)));
        }
        if !self.has_url {
            if self.is_in_header() && !self.is_at_end {
                return Ok(None);
            }
            document.token_position = self.first;
            return Err(document.fatal(Problem::NotXml));
        }
        document.kind = Some(Kind::Text);
        match self.outcomes.pop_front() {
            None => {
                if self.is_at_end {
                    document.place = Place::Done;
                }
                Ok(None)
            }
            Some(Outcome::Note(problem, position)) => {
                document.note_at(problem, position);
                Ok(None)
            }
            Some(Outcome::Lost(problem, position)) => {
                document.token_position = position;
                document.count_entry()?;
                Err(ReadError::Entry(document.finding(problem, position)))
            }
            Some(Outcome::Url(loc, problems, position)) => {
                document.token_position = position;
                document.count_entry()?;
                document.draft = Draft::new(position);
                for problem in problems {
                    document.note_at(problem, position);
                }
                Ok(Some(Item::Url(crate::UrlEntry::new(loc))))
            }
        }
    }

    /// Whether the first URL may still come.
    fn is_in_header(&self) -> bool {
        self.header.is_within(MAX_HEADER) && self.silent.is_within(MAX_SILENT)
    }

    fn note(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Note(problem, position));
    }

    fn lose(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Lost(problem, position));
    }

    /// Reads one line, and looks at the record that is whole with it.
    pub(super) fn read<R: BufRead>(&mut self, input: &mut Input<R>, document: &mut Document) {
        self.line.clear();
        self.line.resize(std::mem::take(&mut self.tabs), b'\t');
        let position = input.position();
        document.token_position = position;
        let mut is_too_long = false;
        let is_ended = loop {
            input.begin_token();
            let available = match input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was compressed is whole, so the line is.
                Err(error) if Halt::of(&error) == Some(&Halt::TrailingBytes) => {
                    self.trailing = Some(position);
                    break false;
                }
                // The line may go on, so it is not looked at.
                Err(error) => {
                    self.failure = Some((error, position));
                    return self.end();
                }
            };
            if available.is_empty() {
                break false;
            }
            let end = available
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(available.len());
            if self.line.len() + length > MAX_RECORD_BYTES {
                is_too_long = true;
                self.line.clear();
            } else if !is_too_long {
                self.line.extend_from_slice(&available[..length]);
            }
            let Some(end) = end else {
                input.consume(length);
                continue;
            };
            let is_return = available[end] == b'\r';
            input.consume(length + 1);
            if is_return {
                skip_line_feed(input);
            }
            break true;
        };
        let is_forbidden = input.take_forbidden_character().is_some();
        let is_malformed = input.take_malformed();
        let is_last_and_empty = !is_ended && self.line.is_empty() && !is_too_long;
        if !is_last_and_empty {
            let defect = if is_malformed {
                Some(Problem::NotUtf8)
            } else if is_too_long {
                Some(Problem::ValueTooLong { name: "line" })
            } else if is_forbidden {
                Some(Problem::ForbiddenCharacter)
            } else {
                None
            };
            let text = String::from_utf8_lossy(&self.line);
            let note = LineNote {
                position,
                defect,
                is_marked: text.starts_with(BYTE_ORDER_MARK),
            };
            self.records.push(&text, note);
        }
        if is_ended {
            self.judge_records();
        } else {
            self.end();
        }
    }

    /// Nothing more is read.
    fn end(&mut self) {
        self.is_at_end = true;
        self.records.end();
        self.judge_records();
        if self.failure.is_none()
            && let Some(position) = self.footer
        {
            self.lose(Problem::Footer, position);
        }
        if let Some(position) = self.trailing {
            self.note(Problem::TrailingBytes, position);
        }
    }

    fn judge_records(&mut self) {
        loop {
            // A URL that comes too late makes no list, but in a table.
            self.has_url |= !self.is_in_header() && self.records.columns().url_column().is_some();
            if !(self.has_url || self.is_in_header()) {
                return;
            }
            let Some(record) = self.records.next() else {
                return;
            };
            match record {
                Ok(record) => {
                    self.judge(&record);
                    if !self.has_url {
                        match record.part() {
                            Part::Blank | Part::Comment => self.silent.add(&record),
                            Part::Separator
                            | Part::Ruler
                            | Part::Note
                            | Part::Header
                            | Part::Entry => self.header.add(&record),
                        }
                    }
                }
                Err(refusal) => self.refusal = Some(refusal),
            }
        }
    }

    /// A line with something in it that no URL has.
    fn defect(&mut self, record: &Record<LineNote>, problem: Problem) {
        self.footer();
        self.has_line = true;
        // It still says that this is a list of URLs.
        self.has_url |= record.fields().any(|field| has_web_scheme(field.text()));
        self.lose(problem, record.place().position);
    }

    /// The line that might have been a footer was none.
    fn footer(&mut self) {
        if let Some(position) = self.footer.take() {
            self.lose(Problem::Loc(LocError::NotAbsolute), position);
        }
    }

    fn judge(&mut self, record: &Record<LineNote>) {
        let position = record.place().position;
        // Beside the URL any character may stand, in any encoding.
        let is_sound = record.part() == Part::Entry
            && record
                .url()
                .is_ok_and(|url| !url.contains(NONCHARACTERS) && !url.contains(NO_CHARACTER));
        let is_beside_url = |defect: &Problem| {
            is_sound && matches!(defect, Problem::ForbiddenCharacter | Problem::NotUtf8)
        };
        let defect = record
            .places()
            .filter_map(|line| line.defect.clone())
            .find(|defect| !is_beside_url(defect));
        if let Some(problem) = defect {
            return self.defect(record, problem);
        }
        if record.part() == Part::Blank {
            return self.note(Problem::BlankLine, position);
        }
        self.footer();
        let is_first = !std::mem::replace(&mut self.has_line, true);
        match record.part() {
            Part::Comment => self.lose(Problem::TextComment, position),
            Part::Separator | Part::Header => self.lose(Problem::Header, position),
            Part::Entry => self.entry(record, is_first),
            Part::Blank | Part::Ruler | Part::Note => {
                self.stray(record.text().trim(), is_first, position);
            }
        }
    }

    /// A line of a list or a row of a table.
    fn entry(&mut self, record: &Record<LineNote>, is_first: bool) {
        let position = record.place().position;
        let content = record.text().trim();
        let url = match record.url() {
            Ok(url) => url,
            // To those who read a sitemap it is one URL.
            Err(RowError::DateBehind) if has_web_scheme(content) => Cow::Borrowed(content),
            Err(error) => return self.lose(Problem::Row(error), position),
        };
        let url = &*url;
        if !has_web_scheme(url) {
            return self.stray(url, is_first, position);
        }
        self.has_url = true;
        // More than a value may have, but what is wrong with it is known.
        if url.len() > MAX_VALUE_BYTES
            && let Err(error) = Loc::parse(url)
        {
            return self.lose(Problem::Loc(error), position);
        }
        let mut problems = Vec::new();
        let is_not_utf8 = |line: &LineNote| matches!(line.defect, Some(Problem::NotUtf8));
        if record.places().any(is_not_utf8) {
            problems.push(Problem::NotUtf8);
        }
        if content.len() < record.text().len() || record.places().any(|line| line.is_marked) {
            problems.push(Problem::Padded { name: "line" });
        }
        if url != content {
            problems.push(Problem::Columns);
        }
        problems.extend(record.open_quote().map(Problem::Row));
        if url.len() == content.len() {
            problems.extend(columns_behind_commas(url));
        }
        let mut text = Text::new();
        text.begin(position);
        text.push(url);
        let mut draft = Draft::new(position);
        problems.extend(
            draft
                .set(Tag::Loc, &text)
                .into_iter()
                // Text has no entities and no schema.
                .filter(|problem| {
                    !matches!(
                        problem,
                        Problem::EscapedTwice | Problem::EncodedEntity | Problem::LocShort
                    )
                }),
        );
        match draft.finish() {
            Ok(entry) => self
                .outcomes
                .push_back(Outcome::Url(entry.loc, problems, position)),
            Err((problem, position)) => self.lose(problem, position),
        }
    }

    /// Something in the place of a URL that is none.
    fn stray(&mut self, text: &str, is_first: bool, position: Position) {
        if is_like_url(text) {
            self.lose(Problem::Loc(LocError::NotAbsolute), position);
        } else if is_first {
            self.lose(Problem::Header, position);
        } else {
            self.footer = Some(position);
        }
    }
}

/// A line feed right behind a carriage return belongs to the same line end. A failure of the input shows again at the next line.
fn skip_line_feed<R: BufRead>(input: &mut Input<R>) {
    loop {
        match input.fill_buf() {
            Ok([b'\n', ..]) => return input.consume(1),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

pub(super) fn has_web_scheme(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = text.as_bytes().get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Whether somebody took a line for a URL: `/path`, `www.example.com`, `ftp://host/`.
fn is_like_url(line: &str) -> bool {
    !line.contains(char::is_whitespace) && line.contains(['/', '.'])
}

/// Whether commas separate columns in a line that is a URL as it stands. It is taken as it stands: commas are good characters of a
/// URL, and one that ends in a comma and a date exists.
fn columns_behind_commas(url: &str) -> Option<Problem> {
    let mut columns = url.split(',').skip(1).peekable();
    columns.peek()?;
    let (mut count, mut is_metadata_only) = (0, true);
    for column in columns {
        count += 1;
        is_metadata_only &= column.is_empty() || is_metadata(column);
    }
    match (is_metadata_only, count) {
        (false, _) => None,
        (true, 1) if url.ends_with(',') => None,
        (true, count) => Some(Problem::Commas { is_row: count > 1 }),
    }
}

/// Whether a text is what else is said of a page: a date, a frequency or a priority.
pub(super) fn is_metadata(text: &str) -> bool {
    let is_priority = text.contains('.') && Priority::parse(text).is_ok();
    is_priority || LastMod::parse(text).is_ok() || ChangeFreq::parse(text).is_ok()
}
