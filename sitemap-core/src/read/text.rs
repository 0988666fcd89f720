//! [`Lines`]: what the lines of a text file mean: one URL each, and nothing else (R50 to R57).
//!
//! Anything that is no markup could be such a file, so it is one only from its first URL on; what came before is held back until
//! then. A file without any near its beginning is refused as a whole.

use std::{
    collections::VecDeque,
    io::{self, BufRead},
};

use super::{
    Columns, Item, Kind, MAX_VALUE_BYTES, Position, Problem, ReadError,
    document::{Document, Place},
    draft::{Draft, Tag, Text},
    input::{Halt, Input},
};
use crate::{ChangeFreq, LastMod, Loc, LocError, Priority};

/// How many lines may come before the first URL; more are no header any more.
const MAX_HEADER_LINES: usize = 100;

/// How many bytes may come before the end of the first URL.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

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

/// A text file while it is read.
#[derive(Debug)]
pub(super) struct Lines {
    /// The first character that is not blank.
    first: Position,
    /// The memory for a line, used again for each.
    line: Vec<u8>,
    /// What comes out next, in the order of the file.
    outcomes: VecDeque<Outcome>,
    /// A URL was found, so this is such a file.
    has_url: bool,
    /// What the URL of a line ends at: more of it in a table.
    columns: Columns,
    /// Lines that are neither blank nor left out came before.
    has_line: bool,
    /// The last line that is not blank, if it is not a URL and might be a footer.
    footer: Option<Position>,
    is_at_end: bool,
}

impl Lines {
    /// The lines of a file that begins at `start`, behind its byte order mark, and with something that is not blank at `first`.
    pub(super) fn new(notes: Vec<(Problem, Position)>, start: Position, first: Position) -> Self {
        let notes = notes
            .into_iter()
            .map(|(problem, position)| Outcome::Note(problem, position));
        let mut lines = Self {
            first,
            line: Vec::new(),
            outcomes: notes.collect(),
            has_url: false,
            columns: Columns::default(),
            has_line: false,
            footer: None,
            is_at_end: false,
        };
        if first.line > start.line {
            lines.note(Problem::BlankLine, start);
        } else if first.offset > start.offset {
            lines.note(Problem::Padded { name: "line" }, start);
        }
        lines
    }

    /// Whether something comes out before more is read.
    pub(super) fn is_ready(&self) -> bool {
        self.is_at_end || (self.has_url && !self.outcomes.is_empty())
    }

    /// What comes out next.
    pub(super) fn take(&mut self, document: &mut Document) -> Result<Option<Item>, ReadError> {
        if !self.has_url {
            let is_header = self.outcomes.len() <= MAX_HEADER_LINES
                && document.token_position.offset <= MAX_HEADER_BYTES;
            if is_header && !self.is_at_end {
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

    fn note(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Note(problem, position));
    }

    fn lose(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Lost(problem, position));
    }

    /// Reads one line and looks at it.
    pub(super) fn read<R: BufRead>(
        &mut self,
        input: &mut Input<R>,
        document: &mut Document,
    ) -> io::Result<()> {
        self.line.clear();
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
                    self.note(Problem::TrailingBytes, position);
                    break false;
                }
                // The line may go on, so it is not looked at.
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break false;
            }
            let end = available
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(available.len());
            if self.line.len() + length > MAX_VALUE_BYTES {
                is_too_long = true;
            } else {
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
        self.is_at_end = !is_ended;
        let is_forbidden = input.take_forbidden_character().is_some();
        let is_malformed = input.take_malformed();
        let line = std::mem::take(&mut self.line);
        let is_last_and_empty = self.is_at_end && line.is_empty() && !is_too_long;
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
            let text = String::from_utf8_lossy(&line);
            match defect {
                Some(problem) => self.defect(&text, problem, position),
                None => self.judge(&text, position),
            }
        }
        self.line = line;
        if let Some(position) = self.footer.filter(|_| self.is_at_end) {
            self.lose(Problem::Footer, position);
        }
        Ok(())
    }

    /// A line with something in it that no URL has.
    fn defect(&mut self, line: &str, problem: Problem, position: Position) {
        self.footer();
        self.has_line = true;
        // It still says that this is a list of URLs.
        self.has_url |= has_web_scheme(line.trim());
        self.lose(problem, position);
    }

    /// The line that might have been a footer was none.
    fn footer(&mut self) {
        if let Some(position) = self.footer.take() {
            self.lose(Problem::Loc(LocError::NotAbsolute), position);
        }
    }

    fn judge(&mut self, line: &str, position: Position) {
        let content = line.trim();
        if content.is_empty() {
            return self.note(Problem::BlankLine, position);
        }
        self.footer();
        let is_first = !std::mem::replace(&mut self.has_line, true);
        if content.starts_with('#') {
            return self.lose(Problem::TextComment, position);
        }
        let mut problems = Vec::new();
        if content.len() < line.len() {
            problems.push(Problem::Padded { name: "line" });
        }
        let Some(url) = self.columns.url_in(line) else {
            return self.lose(Problem::Columns, position);
        };
        if url != content {
            problems.push(Problem::Columns);
        }
        if has_web_scheme(url) {
            self.has_url = true;
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
            return match draft.finish() {
                Ok(entry) => self
                    .outcomes
                    .push_back(Outcome::Url(entry.loc, problems, position)),
                Err((problem, position)) => self.lose(problem, position),
            };
        }
        if !self.has_url
            && let Some(columns) = Columns::of_header(line)
        {
            self.columns = columns;
            return self.lose(Problem::Header, position);
        }
        if is_like_url(url) {
            return self.lose(Problem::Loc(LocError::NotAbsolute), position);
        }
        if is_first {
            return self.lose(Problem::Header, position);
        }
        self.footer = Some(position);
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
