//! [`Lines`]: the lines of a text with any line end, in bounded memory.

use std::{
    borrow::Cow,
    io::{self, BufRead},
};

use super::Unpacked;

/// The most bytes that a line, or the lines of one row of a table together, may have: the text of a page can be in a row.
pub const MAX_RECORD_BYTES: usize = 256 * 1024;

/// The byte order mark in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line after the other; `\n`, `\r\n` and `\r` end a line.
///
/// ```
/// use sitemap_core::read::Lines;
///
/// let mut lines = Lines::new(&b"/a\r\n/b"[..]);
/// assert_eq!(lines.next()?, Some(Ok("/a")));
/// assert_eq!(lines.next()?, Some(Ok("/b")));
/// assert_eq!(lines.next()?, None);
/// assert_eq!(lines.number(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    /// The line that was read last, from 1.
    number: u64,
    bytes: u64,
    line: Vec<u8>,
    /// Largest length of a line.
    max_bytes: usize,
    /// The last line ended in `\r`: a `\n` that follows belongs to it.
    skips_line_feed: bool,
    /// The input was compressed, and other bytes are after its end.
    has_trailing_bytes: bool,
}

/// Reason why a line cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is longer than a line may be.
    #[error("a line of more than {} KiB, expected a shorter one", max_bytes / 1024)]
    TooLong {
        /// The longest line that is read.
        max_bytes: usize,
    },
    /// The line is not in UTF-8.
    #[error("bytes that are not text, expected a list in UTF-8 (or UTF-16)")]
    NotText,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`, of at most [`MAX_RECORD_BYTES`] each. Nothing is read yet.
    pub fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            bytes: 0,
            line: Vec::new(),
            max_bytes: MAX_RECORD_BYTES,
            skips_line_feed: false,
            has_trailing_bytes: false,
        }
    }

    /// The same lines, each of which may have so many bytes.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Returns whether the input, which was compressed, has other bytes after its end, which are left out.
    pub fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }

    /// The line that was read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The line that was read last, with U+FFFD for bytes that are not text; empty when it was too long.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.raw())
    }

    /// The bytes of the same line, without a byte order mark: files that were put together have one in front of each.
    pub(super) fn raw(&self) -> &[u8] {
        let mut line = &*self.line;
        while let Some(rest) = line.strip_prefix(BYTE_ORDER_MARK) {
            line = rest;
        }
        line
    }

    /// The next line without its end; `None` after the last one.
    ///
    /// # Errors
    /// Those of the input. A line that cannot be read costs only itself.
    #[expect(
        clippy::should_implement_trait,
        reason = "it lends the line, which an iterator does not"
    )]
    pub fn next(&mut self) -> io::Result<Option<Result<&str, LineError>>> {
        self.line.clear();
        let mut is_too_long = false;
        let mut has_begun = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was compressed is whole.
                Err(error) if Unpacked::is_trailing(&error) => {
                    self.has_trailing_bytes = true;
                    &[]
                }
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                if !has_begun {
                    return Ok(None);
                }
                break;
            }
            if std::mem::take(&mut self.skips_line_feed) && buffer.first() == Some(&b'\n') {
                self.input.consume(1);
                self.bytes += 1;
                continue;
            }
            has_begun = true;
            let end = memchr::memchr2(b'\n', b'\r', buffer);
            let (piece, rest) = buffer.split_at(end.unwrap_or(buffer.len()));
            if self.line.len() + piece.len() > self.max_bytes {
                is_too_long = true;
                self.line.clear();
            }
            if !is_too_long {
                self.line.extend_from_slice(piece);
            }
            self.skips_line_feed = rest.first() == Some(&b'\r');
            let taken = piece.len() + usize::from(end.is_some());
            self.input.consume(taken);
            self.bytes += taken as u64;
            if end.is_some() {
                break;
            }
        }
        self.number += 1;
        if is_too_long {
            let max_bytes = self.max_bytes;
            return Ok(Some(Err(LineError::TooLong { max_bytes })));
        }
        let line = std::str::from_utf8(self.raw());
        Ok(Some(line.map_err(|_| LineError::NotText)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn check(text: &[u8], expected: &[&str]) {
        // Whatever arrives together.
        for capacity in [1, 2, 3, 100] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text));
            let mut found = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                found.push(line.map_or_else(|error| format!("{error:?}"), str::to_owned));
            }
            assert_eq!(found, expected, "{}", text.escape_ascii());
            assert_eq!(lines.bytes(), text.len() as u64);
            assert_eq!(lines.number(), expected.len() as u64);
        }
    }

    #[test]
    fn every_line_end_counts_once() {
        check(b"", &[]);
        check(b"a", &["a"]);
        check(b"a\n", &["a"]);
        check(b"a\nb", &["a", "b"]);
        check(b"a\r\nb\r\n", &["a", "b"]);
        check(b"a\rb\r", &["a", "b"]);
        check(b"a\r\r\nb\n\n", &["a", "", "b", ""]);
        check(b"\xef\xbb\xbfa\n\xef\xbb\xbfb", &["a", "b"]);
        check(b"a\n\xff\nb", &["a", "NotText", "b"]);
    }

    #[test]
    fn a_line_without_end_costs_that_line_only() {
        let max_bytes = 1_000;
        let mut text = b"first\n".to_vec();
        text.resize(text.len() + max_bytes, b'x');
        text.extend_from_slice(b"\n");
        text.resize(text.len() + max_bytes + 1, b'y');
        text.extend_from_slice(b"\nlast\n");
        let mut lines = Lines::new(&text[..]).with_max_bytes(max_bytes);
        assert_eq!(lines.next().unwrap(), Some(Ok("first")));
        let longest = lines.next().unwrap().unwrap().unwrap();
        assert_eq!(longest.len(), max_bytes);
        let too_long = Err(LineError::TooLong { max_bytes });
        assert_eq!(lines.next().unwrap(), Some(too_long));
        assert!(lines.line.capacity() <= 2 * max_bytes);
        assert_eq!(lines.next().unwrap(), Some(Ok("last")));
        assert_eq!(lines.next().unwrap(), None);
    }
}
