//! Bytes in, text out: decompresses gzip by its magic bytes, decodes the encoding, counts bytes, and stops at the bounds.
//!
//! ```text
//! bytes -> Source -> Source -> Bounded -> Transcoder -> Input -> parser
//!          gzip      in gzip   bytes      UTF-8         lines, tokens
//! ```
//!
//! The parser above sees an ordinary `BufRead`. The reason of an early end is the payload of an `io::Error`; [`Halt::of`] returns
//! it.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Cursor, Read},
};

use flate2::{Decompress, FlushDecompress, Status};

use super::{
    Excerpt, MAX_GZIP_LAYERS, MAX_GZIP_MEMBERS, MAX_TOKEN_BYTES, Position,
    encoding::{Found, Transcoder},
    finding::line_ends,
    halt::{Halt, read_buffered},
    window::Window,
};

/// The first two bytes of every gzip member (RFC 1952 section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// More than is ever decompressed in advance, so that a file is read up to its very limit.
const READ_AHEAD_BYTES: u64 = 64 * 1024;

/// An input with its first bytes put back in front.
type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// An input whose compression, if any, is undone. What it is shows when it is first read.
pub(super) enum InputSource<R> {
    /// Not looked at yet, and the most bytes that may come out; `None` while it is looked at, and after that failed.
    New(Option<R>, u64),
    Plain(Peeked<R>),
    Gzip(Box<BufReader<Members<Peeked<R>>>>),
}

impl<R: BufRead> InputSource<R> {
    fn new(input: R, max_bytes: u64) -> Self {
        Self::New(Some(input), max_bytes)
    }

    /// Returns whether it turned out to be compressed.
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

impl<R: BufRead> Read for InputSource<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

impl<R: BufRead> BufRead for InputSource<R> {
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
/// The decompressor is driven by hand, because the readers of its crate lose the output of a call that meets damage. Here all of
/// the output is passed on, and the failure after it.
pub(super) struct Members<R> {
    input: R,
    /// The open member; `None` before the first one and after each.
    member: Option<Decompress>,
    count: u32,
    /// Number of bytes that may still come out. Those who read count for themselves; this bound ends a file in a file that
    /// decompresses to ever more of nothing.
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
            // Tapes and block devices add zero bytes, and gzip ignores them.
            Some(0) if self.count > 0 => self.skip_padding(),
            Some(0x1f) if self.count < MAX_GZIP_MEMBERS => {
                self.count += 1;
                self.member = Some(Decompress::new_gzip(WINDOW_BITS));
                Ok(true)
            }
            Some(0x1f) => Err(Halt::TooManyMembers.into()),
            Some(_) => Err(Halt::TrailingBytes.into()),
        }
    }

    /// Reads the zero bytes after the last member, which must be the end: `false`.
    fn skip_padding(&mut self) -> io::Result<bool> {
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(false);
            }
            if available.iter().any(|byte| *byte != 0) {
                return Err(Halt::TrailingBytes.into());
            }
            let length = available.len();
            self.input.consume(length);
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
                // A failure shows again in the next call, but the message of the decompressor does not, so it is not reported.
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

/// Used length of a buffer, by the difference of two counts.
fn narrowed(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no more than the buffer has")
}

/// The decompressed bytes of a list: the gzip half of [`Reader`](super::Reader) for lists that are not sitemaps, such as tables.
///
/// Gzip is detected by its first bytes and is decompressed up to [`MAX_GZIP_LAYERS`] times, member after member; zero bytes after
/// the last one are padding and are left out, as gzip does. Anything else passes through. The output is not bounded: the caller
/// has to have one, or must not store the output.
///
/// # Errors
/// Besides those of the input: the compressed bytes are damaged or end too early, other bytes follow them
/// ([`is_trailing`](Unpacked::is_trailing)), or the input is a zip archive. What was whole before comes out first.
///
/// ```
/// use std::io::{Read, Write};
///
/// use flate2::{Compression, write::GzEncoder};
/// use sitemap_core::read::Unpacked;
///
/// let mut packed = GzEncoder::new(Vec::new(), Compression::default());
/// packed.write_all(b"url,lastmod\n")?;
/// let mut file = packed.finish()?;
/// file.extend([0; 512]);
/// let mut list = String::new();
/// Unpacked::new(&file[..]).read_to_string(&mut list)?;
/// assert_eq!(list, "url,lastmod\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Unpacked<R: BufRead>(InputSource<InputSource<R>>);

impl<R: BufRead> Unpacked<R> {
    /// Nothing is read yet.
    pub fn new(input: R) -> Self {
        Self(InputSource::new(
            InputSource::new(input, u64::MAX),
            u64::MAX,
        ))
    }
}

impl Unpacked<io::Empty> {
    /// Returns whether an error means that uncompressed bytes follow the compressed ones. The compressed content is then complete
    /// and was read before the error.
    ///
    /// ```
    /// use std::io::{Read, Write};
    ///
    /// use flate2::{Compression, write::GzEncoder};
    /// use sitemap_core::read::Unpacked;
    ///
    /// let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    /// packed.write_all(b"https://example.com/\n")?;
    /// let mut file = packed.finish()?;
    /// file.extend(b"<!-- cached -->");
    /// let mut list = String::new();
    /// let error = Unpacked::new(&file[..]).read_to_string(&mut list).unwrap_err();
    /// assert!(Unpacked::is_trailing(&error));
    /// assert_eq!(list, "https://example.com/\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_trailing(error: &io::Error) -> bool {
        Halt::of(error) == Some(&Halt::TrailingBytes)
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl<R: BufRead> BufRead for Unpacked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.0.consume(length);
    }
}

impl<R: BufRead> fmt::Debug for Unpacked<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unpacked").finish_non_exhaustive()
    }
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
        read_buffered(self, out)
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
    text: Transcoder<Bounded<InputSource<InputSource<R>>>>,
    line: u64,
    /// True when the last byte was a carriage return, which makes one line end together with a line feed.
    is_after_return: bool,
    token_bytes_left: u64,
    forbidden_character: Option<Position>,
    /// The text read last, if it is to be shown.
    window: Option<Box<Window>>,
}

impl<R: BufRead> Input<R> {
    /// An input that ends at so many bytes after decompression.
    pub(super) fn new(input: R, max_bytes: u64) -> Self {
        Self::of(InputSource::new(input, max_bytes), max_bytes)
    }

    fn of(input: InputSource<R>, max_bytes: u64) -> Self {
        let decompressed = InputSource::new(input, max_bytes);
        Self {
            text: Transcoder::new(Bounded::new(decompressed, max_bytes)),
            line: Position::START.line,
            is_after_return: false,
            token_bytes_left: MAX_TOKEN_BYTES,
            forbidden_character: None,
            window: None,
        }
    }

    /// An input with nothing in it.
    pub(super) fn empty() -> Self {
        Self::of(InputSource::New(None, 0), 0)
    }

    /// From now on the text read last is stored.
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

    /// The encoding as found; known once something was read.
    pub(super) fn encoding(&self) -> &Found {
        self.text.found()
    }

    /// Returns whether the file was compressed twice; known once something was read.
    pub(super) fn is_compressed_twice(&self) -> bool {
        self.text.input().input.is_gzip()
    }

    /// Gives the next token its own bound.
    pub(super) fn begin_token(&mut self) {
        self.token_bytes_left = MAX_TOKEN_BYTES;
    }

    /// Counts and looks at bytes that the input holds, and gives them up.
    fn consume_bytes(&mut self, length: usize) {
        let offset = self.text.offset();
        let garbage_lines = self.text.found().garbage_lines;
        // The input holds these bytes already, so this reads nothing.
        if let Ok(available) = self.text.fill_buf() {
            let consumed = &available[..length.min(available.len())];
            if let Some(window) = &mut self.window {
                window.push(consumed, offset);
            }
            if self.forbidden_character.is_none() && has_forbidden_character(consumed) {
                let before = &consumed[..place_of_forbidden_character(consumed)];
                let mut is_after_return = self.is_after_return;
                self.forbidden_character = Some(Position {
                    line: self.line + garbage_lines + line_ends(before, &mut is_after_return),
                    offset: offset + before.len() as u64,
                });
            }
            self.line += line_ends(consumed, &mut self.is_after_return);
        }
        self.text.consume(length);
    }

    /// Position of the first character that XML forbids since the last call.
    pub(super) fn take_forbidden_character(&mut self) -> Option<Position> {
        self.forbidden_character.take()
    }

    /// Returns whether malformed bytes went through since the last call.
    pub(super) fn take_malformed(&mut self) -> bool {
        self.text.take_malformed()
    }
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.token_bytes_left == 0 {
            return Err(Halt::TokenTooLong.into());
        }
        let most = usize::try_from(self.token_bytes_left).unwrap_or(usize::MAX);
        let available = self.text.fill_buf()?;
        // The last character is given out as a whole, wherever the pieces end.
        let is_boundary = |place: &usize| (available[*place] & 0b1100_0000) != 0b1000_0000;
        let length = (most..available.len())
            .find(is_boundary)
            .unwrap_or(available.len());
        Ok(&available[..length])
    }

    fn consume(&mut self, length: usize) {
        self.token_bytes_left = self.token_bytes_left.saturating_sub(length as u64);
        self.consume_bytes(length);
    }
}

/// Returns whether there is a control character, U+FFFE or U+FFFF in a text (XML 1.0 section 2.2); UTF-8 has no others that XML
/// forbids.
fn has_forbidden_character(text: &[u8]) -> bool {
    // No early end: without one, the loop looks at many bytes at a time.
    let is_control = |byte: u8| byte < b' ' && byte != b'\t' && byte != b'\n' && byte != b'\r';
    let (has_control, has_lead) =
        text.iter()
            .fold((false, false), |(has_control, has_lead), byte| {
                let is_lead = *byte == NONCHARACTER_LEAD[0];
                (has_control | is_control(*byte), has_lead | is_lead)
            });
    let is_noncharacter =
        |bytes: &[u8]| bytes.starts_with(&NONCHARACTER_LEAD) && bytes[2] >= NONCHARACTER_END;
    has_control || (has_lead && text.windows(3).any(is_noncharacter))
}

/// The offset.
fn place_of_forbidden_character(text: &[u8]) -> usize {
    (1..=text.len())
        .find(|length| has_forbidden_character(&text[length.saturating_sub(3)..*length]))
        .map_or(0, |length| {
            let is_control = text[length - 1] < b' ';
            length - if is_control { 1 } else { 3 }
        })
}

/// The first bytes of U+FFFE and U+FFFF in UTF-8; their third byte follows.
const NONCHARACTER_LEAD: [u8; 2] = [0xef, 0xbf];
const NONCHARACTER_END: u8 = 0xbe;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn unpacked_are_the_bytes_of_a_list() {
        let check = |file: &[u8], expected: Result<(), Halt>| {
            let mut out = Vec::new();
            let outcome = Unpacked::new(file).read_to_end(&mut out);
            assert_eq!(out, b"/a\n/b\n");
            let halt = outcome.map(drop).map_err(|error| Halt::of(&error).cloned());
            assert_eq!(halt, expected.map_err(Some));
        };
        let list = b"/a\n/b\n";
        check(list, Ok(()));
        let whole = packed(list);
        check(&whole, Ok(()));
        check(&packed(&whole), Ok(()));
        check(&[packed(b"/a\n"), packed(b"/b\n")].concat(), Ok(()));
        // More than a buffer of padding, and padding inside.
        check(&[&whole[..], &vec![0; 100_000]].concat(), Ok(()));
        check(&packed(&[&whole[..], &[0; 3]].concat()), Ok(()));
        let trailing = || Err(Halt::TrailingBytes);
        check(&[&whole[..], b"x"].concat(), trailing());
        check(&[&whole[..], &[0; 9_000], b"x"].concat(), trailing());
        let cut = &[packed(b"/a\n/b\n"), packed(b"/c\n")].concat();
        let early = Halt::Gzip("it ends too early".to_owned());
        check(&cut[..whole.len() + 5], Err(early));
    }

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
