//! [`TextFile`]: reading of the lines of a text file, one URL each (R50 to R57).
//!
//! Anything that is not markup could be such a file, so its first URL decides; the text before is buffered until then. A file
//! without a URL near its beginning is refused as a whole, and so is a table.

use std::{
    collections::VecDeque,
    io::{self, BufRead},
};

use super::{
    Item, Kind, MAX_RECORD_BYTES, MAX_VALUE_BYTES, Position, Problem, ReadError,
    draft::{self, Draft, Tag},
    halt::Halt,
    input::Input,
    list,
    list_words::{has_web_scheme, is_metadata},
    progress::Progress,
};
use crate::{Loc, LocError};

/// Largest header before the first URL of a list.
const MAX_HEADER: Extent = Extent {
    lines: 100,
    bytes: 64 * 1024,
};

/// The same of blank lines and comments.
const MAX_SILENT: Extent = Extent {
    lines: 10_000,
    bytes: MAX_RECORD_BYTES,
};

/// Optional first character of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Something that comes out of a line.
#[derive(Debug)]
enum Outcome {
    /// Something that was read over.
    Note(Problem, Position),
    /// A line that is left out.
    Lost(Problem, Position),
    /// A URL and its problems.
    Url(Loc, Vec<Problem>, Position),
}

/// Amount that was read.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    lines: usize,
    bytes: usize,
}

impl Extent {
    fn add(&mut self, line: &str) {
        self.lines += 1;
        self.bytes += line.len() + 1;
    }

    fn is_within(self, limit: Self) -> bool {
        self.lines <= limit.lines && self.bytes <= limit.bytes
    }
}

/// A text file while it is read.
#[derive(Debug)]
pub(super) struct TextFile {
    /// The first character that is not blank.
    first: Position,
    /// The memory for a line, used again for each.
    line: Vec<u8>,
    /// The next outcomes, in the order of the file.
    outcomes: VecDeque<Outcome>,
    /// The header line of a table.
    table: Option<Position>,
    /// The failure of the input, after everything before it, and its position.
    failure: Option<(io::Error, Position)>,
    /// A URL was found, so this is such a file.
    has_url: bool,
    /// Lines before the first URL: all lines that are not blank, and the others.
    header: Extent,
    silent: Extent,
    /// Lines that are neither blank nor left out came before.
    has_line: bool,
    /// The last line that is not blank, if it is not a URL and might be a footer.
    footer: Option<Position>,
    is_at_end: bool,
}

impl TextFile {
    /// The lines of a file that begins at `start`, after its byte order mark, and with something that is not blank at `first`.
    pub(super) fn new(notes: Vec<(Problem, Position)>, start: Position, first: Position) -> Self {
        let notes = notes
            .into_iter()
            .map(|(problem, position)| Outcome::Note(problem, position));
        let mut text = Self {
            first,
            line: Vec::new(),
            outcomes: notes.collect(),
            table: None,
            failure: None,
            has_url: false,
            header: Extent::default(),
            silent: Extent::default(),
            has_line: false,
            footer: None,
            is_at_end: false,
        };
        if first.line > start.line {
            text.note(Problem::BlankLine, start);
        } else if first.offset > start.offset {
            text.note(Problem::Padded { name: "line" }, start);
        }
        text
    }

    /// Returns whether something comes out before more is read.
    pub(super) fn is_ready(&self) -> bool {
        self.is_at_end || (self.has_url && !self.outcomes.is_empty())
    }

    /// The failure of the input, once everything before it was yielded.
    pub(super) fn take_failure(&mut self, progress: &mut Progress) -> Option<io::Error> {
        let is_out = self.table.is_none() && (!self.has_url || self.outcomes.is_empty());
        let (error, position) = self.failure.take_if(|_| is_out)?;
        progress.position = position;
        Some(error)
    }

    /// The next outcome.
    pub(super) fn next_item(
        &mut self,
        progress: &mut Progress,
        draft: &mut Draft,
    ) -> Result<Option<Item>, ReadError> {
        if let Some(position) = self.table {
            progress.position = position;
            return Err(progress.fatal(Problem::Table));
        }
        if !self.has_url {
            if self.is_in_header() && !self.is_at_end {
                return Ok(None);
            }
            progress.position = self.first;
            return Err(progress.fatal(Problem::NotXml));
        }
        progress.kind = Some(Kind::Text);
        match self.outcomes.pop_front() {
            None => {
                if self.is_at_end {
                    progress.is_done = true;
                }
                Ok(None)
            }
            Some(Outcome::Note(problem, position)) => {
                progress.note_at(problem, position);
                Ok(None)
            }
            Some(Outcome::Lost(problem, position)) => {
                progress.position = position;
                progress.count_entry()?;
                Err(progress.lost(problem, position))
            }
            Some(Outcome::Url(loc, problems, position)) => {
                progress.position = position;
                progress.count_entry()?;
                *draft = Draft::new(position);
                progress.note_all(problems, position);
                Ok(Some(Item::Url(crate::UrlEntry::new(loc))))
            }
        }
    }

    /// Returns whether the first URL may still come.
    fn is_in_header(&self) -> bool {
        self.header.is_within(MAX_HEADER) && self.silent.is_within(MAX_SILENT)
    }

    fn note(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Note(problem, position));
    }

    fn lose(&mut self, problem: Problem, position: Position) {
        self.outcomes.push_back(Outcome::Lost(problem, position));
    }

    /// Reads one line and judges it.
    pub(super) fn read<R: BufRead>(&mut self, input: &mut Input<R>, progress: &mut Progress) {
        self.line.clear();
        let position = input.position();
        progress.position = position;
        let mut trailing = None;
        let mut is_too_long = false;
        let is_ended = loop {
            input.begin_token();
            let available = match input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was compressed is whole, so the line is.
                Err(error) if Halt::of(&error) == Some(&Halt::TrailingBytes) => {
                    trailing = Some(position);
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
            let end = memchr::memchr2(b'\n', b'\r', available);
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
        if is_ended || is_too_long || !self.line.is_empty() {
            let defect = if is_malformed {
                Some(Problem::NotUtf8)
            } else if is_too_long {
                Some(Problem::ValueTooLong { name: "line" })
            } else if is_forbidden {
                Some(Problem::ForbiddenCharacter)
            } else {
                None
            };
            let line = std::mem::take(&mut self.line);
            self.judge(&String::from_utf8_lossy(&line), defect, position);
            self.line = line;
        }
        if !is_ended {
            self.end();
        }
        if let Some(position) = trailing {
            self.note(Problem::TrailingBytes, position);
        }
        // What has no URL yet need not be read to its end.
        self.is_at_end |= self.table.is_some();
    }

    /// Nothing more is read.
    fn end(&mut self) {
        self.is_at_end = true;
        if self.failure.is_none()
            && let Some(position) = self.footer
        {
            self.lose(Problem::Footer, position);
        }
    }

    fn judge(&mut self, line: &str, defect: Option<Problem>, position: Position) {
        let unmarked = line.trim_start_matches(BYTE_ORDER_MARK);
        let content = unmarked.trim();
        let is_silent = content.is_empty() || content.starts_with('#');
        if !self.has_url {
            let extent = if is_silent {
                &mut self.silent
            } else {
                &mut self.header
            };
            extent.add(line);
        }
        if content.is_empty() && defect.is_none() {
            return self.note(Problem::BlankLine, position);
        }
        // The line that might have been a footer was none.
        if let Some(position) = self.footer.take() {
            self.lose(Problem::Loc(LocError::NotAbsolute), position);
        }
        let is_first = !std::mem::replace(&mut self.has_line, true);
        let is_url = has_web_scheme(content);
        // A URL with a defect also shows that this is a list of URLs.
        self.has_url |= is_url && self.is_in_header();
        if let Some(problem) = defect {
            self.lose(problem, position);
        } else if is_url {
            self.url(content, content.len() < line.len(), position);
        } else if is_silent {
            self.lose(Problem::TextComment, position);
        } else if is_like_url(content) {
            self.lose(Problem::Loc(LocError::NotAbsolute), position);
        } else if !self.has_url && list::is_header(content) {
            self.table = Some(position);
        } else if is_first {
            self.lose(Problem::Header, position);
        } else {
            self.footer = Some(position);
        }
    }

    /// A line that begins with an absolute URL.
    fn url(&mut self, content: &str, is_padded: bool, position: Position) {
        let url = without_columns(content);
        // Longer than a value may be, but its problem is known.
        if url.len() > MAX_VALUE_BYTES
            && let Err(error) = Loc::parse(url)
        {
            return self.lose(Problem::Loc(error), position);
        }
        let mut problems = Vec::new();
        if is_padded {
            problems.push(Problem::Padded { name: "line" });
        }
        if url.len() < content.len() {
            problems.push(Problem::Columns);
        } else if url.split(',').skip(1).any(is_metadata) {
            problems.push(Problem::Commas);
        }
        let mut text = draft::ElementText::new();
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
}

/// The URL in front of a tab, or of blanks with a date, a frequency, a priority or a further URL after them. Other blanks are
/// taken for a part of it.
fn without_columns(line: &str) -> &str {
    let (url, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_value = |word: &str| has_web_scheme(word) || is_metadata(word);
    if line.contains('\t') || rest.split_whitespace().any(is_value) {
        url
    } else {
        line
    }
}

/// A line feed right after a carriage return belongs to the same line end. A failure of the input shows again at the next line.
fn skip_line_feed<R: BufRead>(input: &mut Input<R>) {
    loop {
        match input.fill_buf() {
            Ok([b'\n', ..]) => return input.consume(1),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Returns whether a line was meant as a URL: `/path`, `www.example.com`, `ftp://host/`.
fn is_like_url(line: &str) -> bool {
    !line.contains(char::is_whitespace) && line.contains(['/', '.'])
}
