//! What the stages of the input have in common: [`Halt`], the reason of an early end, and how bytes and lines are counted.

use std::io::{self, BufRead, Read};

/// Reason why the input ends early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Halt {
    #[error("zip archive")]
    Zip,
    #[error("UTF-32")]
    Utf32,
    #[error("damaged gzip stream: {0}")]
    Gzip(String),
    #[error("uncompressed bytes after the compressed ones")]
    TrailingBytes,
    #[error("too many gzip members")]
    TooManyMembers,
    #[error("too many bytes")]
    TooManyBytes,
    #[error("token too long")]
    TokenTooLong,
}

impl Halt {
    /// The reason inside an error that came from here.
    pub(super) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<Halt> for io::Error {
    fn from(halt: Halt) -> Self {
        // Not `InvalidData`: the parser above takes that kind for its own.
        Self::other(halt)
    }
}

/// [`Read`] for an input that has a buffer.
pub(super) fn read_buffered(input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
    let mut available = input.fill_buf()?;
    let length = available.read(out)?;
    input.consume(length);
    Ok(length)
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
