//! [`Progress`]: where the reading of a file is, what it has counted, and what it has found.

use super::{Kind, MAX_FINDINGS, Position, Problem, ReadError, ReadFinding, finding::line_ends};

/// Characters of a name or message in a finding.
const MAX_QUOTED_CHARACTERS: usize = 100;

/// Number of things that are remembered, so that each is reported once. Only undeclared prefixes can be more.
const MAX_SEEN: usize = 128;

/// Something that is reported once in a file, or once for each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    Retired,
    NameCase,
    UndeclaredPrefix,
    Spelling,
    DeclaredBelowRoot,
    OtherNamespace,
    UnknownExtension,
    RawCharacter,
}

/// A file while it is read, apart from what its elements mean.
#[derive(Debug)]
pub(super) struct Progress {
    max_entries: u64,
    /// The kind of the first root element, or that of a list.
    pub(super) kind: Option<Kind>,
    /// Start of the current token.
    pub(super) position: Position,
    /// Nothing more is read.
    pub(super) is_done: bool,
    /// Entries begun, with those left out.
    pub(super) entries: u64,
    pub(super) extension_elements: u64,
    pub(super) findings: Vec<ReadFinding>,
    pub(super) findings_not_kept: u64,
    seen: Vec<(Once, String)>,
}

impl Progress {
    pub(super) fn new(max_entries: u64) -> Self {
        Self {
            max_entries,
            kind: None,
            position: Position::START,
            is_done: false,
            entries: 0,
            extension_elements: 0,
            findings: Vec::new(),
            findings_not_kept: 0,
            seen: Vec::new(),
        }
    }

    /// Counts an entry that begins.
    pub(super) fn count_entry(&mut self) -> Result<(), ReadError> {
        if self.entries >= self.max_entries {
            return Err(self.fatal(Problem::TooManyEntries {
                limit: self.max_entries,
            }));
        }
        self.entries += 1;
        Ok(())
    }

    /// Returns whether this is the first time that this is met.
    pub(super) fn is_new(&mut self, what: Once, name: &str) -> bool {
        let mut seen = self.seen.iter();
        let is_new = !seen.any(|(other, known)| *other == what && known == name);
        if is_new && self.seen.len() < MAX_SEEN {
            self.seen.push((what, name.to_owned()));
        }
        is_new
    }

    fn finding(&self, problem: Problem, position: Position) -> ReadFinding {
        ReadFinding {
            problem,
            position,
            kind: self.kind,
        }
    }

    /// Reports a problem; of retired elements only the first of its kind.
    pub(super) fn note_at(&mut self, problem: Problem, position: Position) {
        if let Problem::Retired { name } = problem
            && !self.is_new(Once::Retired, name)
        {
            return;
        }
        if self.findings.len() < MAX_FINDINGS {
            let finding = self.finding(problem, position);
            self.findings.push(finding);
        } else {
            self.findings_not_kept += 1;
        }
    }

    pub(super) fn note(&mut self, problem: Problem) {
        self.note_at(problem, self.position);
    }

    pub(super) fn note_all(&mut self, problems: Vec<Problem>, position: Position) {
        for problem in problems {
            self.note_at(problem, position);
        }
    }

    /// Reports an undeclared prefix of an element or of an attribute; once for each.
    pub(super) fn undeclared_prefix(&mut self, prefix: &str) {
        if self.is_new(Once::UndeclaredPrefix, prefix) {
            self.note(Problem::UndeclaredPrefix {
                prefix: quoted(prefix),
            });
        }
    }

    /// Reports a part of the token that is not well-formed.
    pub(super) fn note_ill_formed(&mut self, what: &'static str) {
        self.note(Problem::IllFormed { what });
    }

    /// Reports a fault inside the token, which begins with `mark` and goes on with `inside`, so many bytes after the mark.
    pub(super) fn note_inside(&mut self, mark: &str, inside: &str, at: usize, problem: Problem) {
        let Position { line, offset } = self.position;
        let before = &inside[..at];
        let position = Position {
            line: line + line_ends(before.as_bytes(), &mut false),
            offset: offset + (mark.len() + at) as u64,
        };
        self.note_at(problem, position);
    }

    /// The entry is left out because of `problem`.
    pub(super) fn lost(&self, problem: Problem, position: Position) -> ReadError {
        ReadError::Entry(self.finding(problem, position))
    }

    /// The reading ends here because of `problem`.
    pub(super) fn fatal(&self, problem: Problem) -> ReadError {
        ReadError::File(self.finding(problem, self.position))
    }
}

/// As much of a text from the file as goes into a finding.
pub(super) fn quoted(text: &str) -> String {
    let end = text.char_indices().nth(MAX_QUOTED_CHARACTERS);
    text[..end.map_or(text.len(), |(end, _)| end)].to_owned()
}
