//! [`Halt`]: the reason why the input ends early, which its stages hand up as an `io::Error`.

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
