//! [`ReadFinding`]: a [`Problem`] and where it was found.

use std::{fmt, io};

use super::{
    Kind,
    problem::{Problem, Rule, Severity, Source},
};

/// A place in a file, after decompression and in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// Bytes before it, from 0.
    pub offset: u64,
}

impl Position {
    pub(super) const START: Self = Self { line: 1, offset: 0 };
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, byte {}", self.line, self.offset)
    }
}

/// Counts line ends: a line feed, a carriage return, or both together.
pub(super) fn line_ends(bytes: &[u8], is_after_return: &mut bool) -> u64 {
    let count = |end: u8| {
        bytes
            .iter()
            .map(|byte| u64::from(*byte == end))
            .sum::<u64>()
    };
    let returns = count(b'\r');
    let mut lines = count(b'\n') + returns;
    if *is_after_return && bytes.first() == Some(&b'\n') {
        lines -= 1;
    }
    if returns > 0 {
        lines -= bytes
            .windows(2)
            .map(|pair| u64::from(pair == b"\r\n"))
            .sum::<u64>();
    }
    if let Some(last) = bytes.last() {
        *is_after_return = *last == b'\r';
    }
    lines
}

/// A thing that is not as the protocol wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadFinding {
    /// The problem.
    pub problem: Problem,
    /// The start.
    pub position: Position,
    /// The kind of the file, if it was known by then.
    pub kind: Option<Kind>,
}

impl ReadFinding {
    /// The rule it breaks; several rules have a number of their own for an index.
    pub fn rule(&self) -> Rule {
        self.problem.rule().for_kind(self.kind)
    }

    /// The severity to a reader that goes on. The strict reading rates some higher: see [`crate::validate`].
    pub fn severity(&self) -> Severity {
        self.problem.severity_in(self.kind)
    }

    /// Returns whether a value was left out because of it. After every other problem the value is there,
    /// read as it was meant.
    pub fn costs_value(&self) -> bool {
        self.problem.costs_value()
    }

    /// Returns whether a rule of the text is broken, or the schema alone refuses it.
    pub fn source(&self) -> Source {
        self.problem.source()
    }
}

impl fmt::Display for ReadFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} ({})",
            self.position,
            self.problem,
            self.rule()
        )
    }
}

impl std::error::Error for ReadFinding {}

/// Reason why [`Reader`](super::Reader) did not yield an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// One entry is left out; reading goes on with the next.
    #[error(transparent)]
    Entry(ReadFinding),
    /// Reading ends here; the entries before it count.
    #[error(transparent)]
    File(ReadFinding),
    /// The input failed; reading ends here.
    #[error("read sitemap")]
    Io(#[source] io::Error),
}

impl ReadError {
    /// Returns whether the reader is at its end.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Entry(_) => false,
            Self::File(_) | Self::Io(_) => true,
        }
    }
}
