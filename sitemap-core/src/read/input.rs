//! Bytes in, bytes out: undoes gzip by its magic bytes, counts what goes through, and stops at the bounds.
//!
//! The parser above sees an ordinary `BufRead`. What ends the input early travels as the payload of an `io::Error` and is asked
//! back with [`Halt::of`].

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;

use super::{MAX_GZIP_MEMBERS, MAX_TOKEN_BYTES, Position};

/// Why the input ends before its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Halt {
    #[error("zip archive")]
    Zip,
    #[error("UTF-16")]
    Utf16,
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

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
        match head[..] {
            [b'P', b'K', 3, 4] => return Err(Halt::Zip.into()),
            [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => return Err(Halt::Utf16.into()),
            _ => {}
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

/// The members of a gzip file, one after the other.
pub(super) struct Members<R> {
    /// `None` at the end.
    decoder: Option<GzDecoder<R>>,
    count: u32,
    /// How many bytes may still come out. Those who read count for themselves; this bound ends a file in a file that decompresses
    /// to ever more of nothing.
    bytes_left: u64,
}

impl<R: BufRead> Members<R> {
    fn new(input: R, max_bytes: u64) -> Self {
        Self {
            decoder: Some(GzDecoder::new(input)),
            count: 1,
            bytes_left: max_bytes.saturating_add(READ_AHEAD_BYTES),
        }
    }

    /// Goes on to the next member, if there is one.
    fn advance(&mut self, mut input: R) -> io::Result<()> {
        let next = input.fill_buf()?.first().copied();
        match next {
            None => Ok(()),
            Some(0x1f) if self.count < MAX_GZIP_MEMBERS => {
                self.count += 1;
                self.decoder = Some(GzDecoder::new(input));
                Ok(())
            }
            Some(0x1f) => Err(Halt::TooManyMembers.into()),
            Some(_) => Err(Halt::TrailingBytes.into()),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let length = decoder.read(out).map_err(damaged)?;
            self.bytes_left = self
                .bytes_left
                .checked_sub(length as u64)
                .ok_or(Halt::TooManyBytes)?;
            if length > 0 || out.is_empty() {
                return Ok(length);
            }
            if let Some(decoder) = self.decoder.take() {
                self.advance(decoder.into_inner())?;
            }
        }
        Ok(0)
    }
}

/// Tells damage to the compressed bytes from a failure of the input below.
fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Halt::Gzip(error.to_string()).into()
        }
        _ => error,
    }
}

/// Counts bytes and lines, and ends the input at the two bounds: bytes in all, and bytes of one token.
pub(super) struct Metered<R> {
    input: R,
    max_bytes: u64,
    position: Position,
    token_end: u64,
    has_byte_order_mark: bool,
    has_forbidden_byte: bool,
}

impl<R: BufRead> Metered<R> {
    pub(super) fn new(input: R, max_bytes: u64) -> Self {
        Self {
            input,
            max_bytes,
            position: Position::START,
            token_end: MAX_TOKEN_BYTES,
            has_byte_order_mark: false,
            has_forbidden_byte: false,
        }
    }

    pub(super) fn input(&self) -> &R {
        &self.input
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Whether the input begins with a byte order mark; known once something was read.
    pub(super) fn has_byte_order_mark(&self) -> bool {
        self.has_byte_order_mark
    }

    /// Gives the next token its own bound.
    pub(super) fn begin_token(&mut self) {
        self.token_end = self.position.offset + MAX_TOKEN_BYTES;
    }

    /// Whether a control character that XML forbids went through since this was last asked.
    pub(super) fn take_forbidden_byte(&mut self) -> bool {
        std::mem::take(&mut self.has_forbidden_byte)
    }
}

impl<R: BufRead> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let offset = self.position.offset;
        let available = self.input.fill_buf()?;
        if available.is_empty() {
            return Ok(available);
        }
        if offset == 0 {
            self.has_byte_order_mark = available.starts_with(BYTE_ORDER_MARK);
            if available.starts_with(&GZIP_MAGIC) {
                return Err(Halt::Gzip("compressed more than twice".to_owned()).into());
            }
        }
        let left = self.max_bytes.saturating_sub(offset);
        if left == 0 {
            return Err(Halt::TooManyBytes.into());
        }
        let token_left = self.token_end.saturating_sub(offset);
        if token_left == 0 {
            return Err(Halt::TokenTooLong.into());
        }
        let length = usize::try_from(left.min(token_left)).unwrap_or(usize::MAX);
        Ok(&available[..available.len().min(length)])
    }

    fn consume(&mut self, length: usize) {
        // The input holds these bytes already, so this reads nothing.
        if let Ok(available) = self.input.fill_buf() {
            let consumed = &available[..length.min(available.len())];
            self.position.line += consumed
                .iter()
                .map(|byte| u64::from(*byte == b'\n'))
                .sum::<u64>();
            // No early end: without one, the loop looks at many bytes at a time.
            let is_forbidden =
                |byte: u8| byte < b' ' && byte != b'\t' && byte != b'\n' && byte != b'\r';
            self.has_forbidden_byte |= consumed
                .iter()
                .fold(false, |found, byte| found | is_forbidden(*byte));
        }
        self.position.offset += length as u64;
        self.input.consume(length);
    }
}
