//! Bytes in, text out: undoes gzip by its magic bytes and the encoding, counts what goes through, and stops at the bounds.
//!
//! ```text
//! bytes -> Source -> Source -> Bounded -> Transcoder -> Input -> parser
//!          gzip      in gzip   bytes      UTF-8         lines, tokens
//! ```
//!
//! The parser above sees an ordinary `BufRead`. What ends the input early travels as the payload of an `io::Error` and is asked
//! back with [`Halt::of`].

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::{Decompress, FlushDecompress, Status};

use super::{
    Excerpt, MAX_GZIP_LAYERS, MAX_GZIP_MEMBERS, MAX_TOKEN_BYTES, Position,
    encoding::{Found, Transcoder},
    window::Window,
};

/// Why the input ends before its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Halt {
    #[error("zip archive")]
    Zip,
    #[error("UTF-32")]
    Utf32,
    #[error("damaged gzip stream: {0}")]
    Gzip(String),
    #[error("bytes that are not compressed behind the compressed ones")]
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

/// The first two bytes of every gzip member (RFC 1952 section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// More than is ever decompressed before it is asked for, so that a file is read up to its very limit.
const READ_AHEAD_BYTES: u64 = 64 * 1024;

/// An input with its first bytes put back in front.
type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// An input whose compression, if any, is undone. What it is shows when it is first read.
pub(super) enum Source<R> {
    /// Not looked at yet, and the most bytes it may be decompressed to; `None` while it is looked at, and after that failed.
    New(Option<R>, u64),
    Plain(Peeked<R>),
    Gzip(Box<BufReader<Members<Peeked<R>>>>),
}

impl<R: BufRead> Source<R> {
    pub(super) fn new(input: R, max_bytes: u64) -> Self {
        Self::New(Some(input), max_bytes)
    }

    /// Whether it turned out to be compressed.
    pub(super) fn is_gzip(&self) -> bool {
        matches!(self, Self::Gzip(_))
    }

    fn open(mut input: R, max_bytes: u64) -> io::Result<Self> {
        let mut head = Vec::with_capacity(4);
        input.by_ref().take(4).read_to_end(&mut head)?;
        let is_gzip = head.starts_with(&GZIP_MAGIC);
        if head == *b"PK\x03\x04" {
            return Err(Halt::Zip.into());
        }
        let input = Cursor::new(head).chain(input);
        Ok(if is_gzip {
            Self::Gzip(Box::new(BufReader::new(Members::new(input, max_bytes))))
        } else {
            Self::Plain(input)
        })
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Self::New(input, max_bytes) = self
            && let Some(input) = input.take()
        {
            *self = Self::open(input, *max_bytes)?;
        }
        match self {
            Self::New(..) => Ok(&[]),
            Self::Plain(input) => input.fill_buf(),
            Self::Gzip(input) => input.fill_buf(),
        }
    }

    fn consume(&mut self, length: usize) {
        match self {
            Self::New(..) => {}
            Self::Plain(input) => input.consume(length),
            Self::Gzip(input) => input.consume(length),
        }
    }
}

/// The largest window of deflate, as the exponent of 2: 32 KiB, which every gzip stream may use (RFC 1951 section 2).
const WINDOW_BITS: u8 = 15;

/// The members of a gzip file, one after the other.
///
/// The decompressor is driven by hand, since the readers of its crate drop what a call has decompressed when the same call comes
/// upon damage; how much that is, depends on the sizes of the buffers. Here all of it comes out, and the failure after it.
pub(super) struct Members<R> {
    input: R,
    /// The open member; `None` before the first one and behind each.
    member: Option<Decompress>,
    count: u32,
    /// How many bytes may still come out. Those who read count for themselves; this bound ends a file in a file that decompresses
    /// to ever more of nothing.
    bytes_left: u64,
}

impl<R: BufRead> Members<R> {
    fn new(input: R, max_bytes: u64) -> Self {
        Self {
            input,
            member: None,
            count: 0,
            bytes_left: max_bytes.saturating_add(READ_AHEAD_BYTES),
        }
    }

    /// Opens the next member; `false` when there is none.
    fn begin_member(&mut self) -> io::Result<bool> {
        match self.input.fill_buf()?.first() {
            None => Ok(false),
            Some(0x1f) if self.count < MAX_GZIP_MEMBERS => {
                self.count += 1;
                self.member = Some(Decompress::new_gzip(WINDOW_BITS));
                Ok(true)
            }
            Some(0x1f) => Err(Halt::TooManyMembers.into()),
            Some(_) => Err(Halt::TrailingBytes.into()),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.bytes_left).map_or(out.len(), |left| left.min(out.len()));
        if room == 0 && !out.is_empty() {
            return Err(Halt::TooManyBytes.into());
        }
        let out = &mut out[..room];
        while !out.is_empty() {
            let Some(member) = &mut self.member else {
                if self.begin_member()? {
                    continue;
                }
                break;
            };
            let available = self.input.fill_buf()?;
            let is_at_end = available.is_empty();
            let (read, written) = (member.total_in(), member.total_out());
            let outcome = member.decompress(available, out, FlushDecompress::None);
            let (read, written) = (member.total_in() - read, member.total_out() - written);
            if matches!(outcome, Ok(Status::StreamEnd)) {
                self.member = None;
            }
            self.input.consume(narrowed(read));
            self.bytes_left -= written;
            match outcome {
                // A failure shows again in the next call. What the decompressor says of it does not, so that is not told.
                _ if written > 0 => return Ok(narrowed(written)),
                Ok(Status::Ok | Status::BufError) if is_at_end => {
                    return Err(Halt::Gzip("it ends too early".to_owned()).into());
                }
                Ok(Status::Ok | Status::BufError | Status::StreamEnd) => {}
                Err(_) => {
                    let detail = "its bytes are not as they were written";
                    return Err(Halt::Gzip(detail.to_owned()).into());
                }
            }
        }
        Ok(0)
    }
}

/// How much of a buffer was used, by the difference of two counts.
fn narrowed(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no more than the buffer has")
}

/// An input that ends in [`Halt::TooManyBytes`] when it has more bytes than allowed.
pub(super) struct Bounded<R> {
    input: R,
    max_bytes: u64,
    bytes_left: u64,
}

impl<R: BufRead> Bounded<R> {
    fn new(input: R, max_bytes: u64) -> Self {
        Self {
            input,
            max_bytes,
            bytes_left: max_bytes,
        }
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let is_at_start = self.bytes_left == self.max_bytes;
        let available = self.input.fill_buf()?;
        if is_at_start && available.starts_with(&GZIP_MAGIC) {
            return Err(Halt::Gzip(format!("compressed more than {MAX_GZIP_LAYERS} times")).into());
        }
        if available.is_empty() {
            return Ok(available);
        }
        if self.bytes_left == 0 {
            return Err(Halt::TooManyBytes.into());
        }
        let length = usize::try_from(self.bytes_left).unwrap_or(usize::MAX);
        Ok(&available[..available.len().min(length)])
    }

    fn consume(&mut self, length: usize) {
        self.bytes_left -= length as u64;
        self.input.consume(length);
    }
}

/// The text of a file: decompressed, in UTF-8, with its lines counted, and with a bound for each token.
pub(super) struct Input<R> {
    text: Transcoder<Bounded<Source<Source<R>>>>,
    line: u64,
    /// Whether the last byte was a carriage return, which makes one line end together with a line feed.
    is_after_return: bool,
    token_bytes_left: u64,
    has_forbidden_byte: bool,
    /// What was read last, if it is to be shown.
    window: Option<Box<Window>>,
}

impl<R: BufRead> Input<R> {
    /// An input that ends at so many bytes after decompression.
    pub(super) fn new(input: R, max_bytes: u64) -> Self {
        Self::of(Source::new(input, max_bytes), max_bytes)
    }

    fn of(input: Source<R>, max_bytes: u64) -> Self {
        let decompressed = Source::new(input, max_bytes);
        Self {
            text: Transcoder::new(Bounded::new(decompressed, max_bytes)),
            line: Position::START.line,
            is_after_return: false,
            token_bytes_left: MAX_TOKEN_BYTES,
            has_forbidden_byte: false,
            window: None,
        }
    }

    /// An input with nothing in it.
    pub(super) fn empty() -> Self {
        Self::of(Source::New(None, 0), 0)
    }

    /// From now on what was read last is kept.
    pub(super) fn keep_text(&mut self) {
        self.window = Some(Box::default());
    }

    /// The line around a place that was read not long ago.
    pub(super) fn excerpt(&mut self, position: Position) -> Option<Excerpt> {
        // A failure shows again when it is read.
        let ahead = self.text.fill_buf().unwrap_or_default();
        self.window.as_ref()?.excerpt(position, ahead)
    }

    pub(super) fn position(&self) -> Position {
        Position {
            line: self.line + self.text.found().garbage_lines,
            offset: self.text.offset(),
        }
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.text.input().max_bytes
    }

    /// What was found out about the encoding; known once something was read.
    pub(super) fn encoding(&self) -> &Found {
        self.text.found()
    }

    /// Whether the file was compressed twice; known once something was read.
    pub(super) fn is_compressed_twice(&self) -> bool {
        self.text.input().input.is_gzip()
    }

    /// Gives the next token its own bound.
    pub(super) fn begin_token(&mut self) {
        self.token_bytes_left = MAX_TOKEN_BYTES;
    }

    /// Whether a control character that XML forbids went through since this was last asked.
    pub(super) fn take_forbidden_byte(&mut self) -> bool {
        std::mem::take(&mut self.has_forbidden_byte)
    }

    /// Whether bytes that mean nothing in the encoding went through since this was last asked.
    pub(super) fn take_malformed(&mut self) -> bool {
        self.text.take_malformed()
    }
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let available = self.text.fill_buf()?;
        if available.is_empty() {
            return Ok(available);
        }
        if self.token_bytes_left == 0 {
            return Err(Halt::TokenTooLong.into());
        }
        let length = usize::try_from(self.token_bytes_left).unwrap_or(usize::MAX);
        Ok(&available[..available.len().min(length)])
    }

    fn consume(&mut self, length: usize) {
        let offset = self.text.offset();
        // The input holds these bytes already, so this reads nothing.
        if let Ok(available) = self.text.fill_buf() {
            let consumed = &available[..length.min(available.len())];
            if let Some(window) = &mut self.window {
                window.push(consumed, offset);
            }
            self.line += line_ends(consumed, &mut self.is_after_return);
            // No early end: without one, the loop looks at many bytes at a time.
            let is_forbidden =
                |byte: u8| byte < b' ' && byte != b'\t' && byte != b'\n' && byte != b'\r';
            self.has_forbidden_byte |= consumed
                .iter()
                .fold(false, |found, byte| found | is_forbidden(*byte));
        }
        self.token_bytes_left -= length as u64;
        self.text.consume(length);
    }
}

/// How many lines end: at a line feed, a carriage return, or both together.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_one_however_it_is_read() {
        let read = |max_bytes: u64| {
            let mut out = Vec::new();
            let outcome = Bounded::new(&b"0123456789"[..], max_bytes).read_to_end(&mut out);
            let halt = outcome.map_err(|error| Halt::of(&error).cloned());
            (halt, out)
        };
        assert_eq!(read(10), (Ok(10), b"0123456789".to_vec()));
        assert_eq!(
            read(9),
            (Err(Some(Halt::TooManyBytes)), b"012345678".to_vec())
        );
    }
}
