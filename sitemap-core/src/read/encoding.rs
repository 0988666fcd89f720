//! [`Transcoder`]: bytes in any encoding in, UTF-8 out, a buffer at a time.
//!
//! The first bytes decide the encoding: a byte order mark, the zero bytes of UTF-16, the XML declaration, in this order. Without
//! any of them it is UTF-8, which is not copied. Malformed bytes become U+FFFD and are reported. Positions are those of the
//! input, not of the decoded text.

use std::{
    io::{self, BufRead, Read},
    str,
};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{
    input::{Halt, line_ends},
    preamble::garbage_bytes,
};

/// Range in which the XML declaration is looked for, in bytes of UTF-8 after the byte order mark. The longest useful one has 70
/// bytes, so misplaced text before it fits as well: blank lines, or a page full of warnings.
const HEAD_TEXT_BYTES: usize = 8 * 1024;

/// Number of bytes that are looked at before the first is given out: so much text in any encoding, which is at most twice as long
/// in UTF-16, and its byte order mark.
const HEAD_BYTES: usize = 2 * HEAD_TEXT_BYTES + 3;

/// Number of bytes that are checked or decoded at a time.
const CHUNK_BYTES: usize = 8 * 1024;

/// Replacement of a malformed byte.
const REPLACEMENT: &str = "\u{FFFD}";

/// The encoding as [`Transcoder`] found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Length of the byte order mark, 0 without one; it is left out.
    pub(super) byte_order_mark_bytes: u64,
    /// Bytes after it, and ends of lines, that stand before the XML declaration and do not belong there; they are left out.
    pub(super) garbage_bytes: u64,
    pub(super) garbage_lines: u64,
    /// The encoding it is decoded from, if that is not UTF-8.
    pub(super) encoding: Option<&'static str>,
    /// Its name in the XML declaration, if that decided.
    pub(super) declared: Option<String>,
}

enum Mode {
    /// Nothing was read yet.
    New,
    /// So many of the next bytes are known to be UTF-8.
    Utf8 { valid: usize },
    /// `is_finished` once the decoder knows that the input has ended.
    Other {
        encoding: &'static Encoding,
        decoder: Box<Decoder>,
        is_finished: bool,
    },
}

/// Decoded text that was not requested yet.
#[derive(Default)]
struct Chunk {
    text: String,
    start: usize,
    /// The bytes of the input it comes from, less those that were accounted for.
    source_bytes: u64,
    /// True when its U+FFFD replace malformed bytes.
    is_malformed: bool,
}

impl Chunk {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.start..]
    }
}

/// An input whose encoding is undone.
pub(super) struct Transcoder<R> {
    input: R,
    /// The first bytes, which had to be looked at.
    head: Vec<u8>,
    head_start: usize,
    /// Error that came instead of more bytes while the first ones were inspected.
    head_error: Option<io::Error>,
    mode: Mode,
    chunk: Chunk,
    offset: u64,
    found: Found,
    has_malformed: bool,
}

impl<R: BufRead> Transcoder<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            head: Vec::new(),
            head_start: 0,
            head_error: None,
            mode: Mode::New,
            chunk: Chunk::default(),
            offset: 0,
            found: Found::default(),
            has_malformed: false,
        }
    }

    pub(super) fn input(&self) -> &R {
        &self.input
    }

    /// Bytes of the input before the next one that is given out. Right after several that together mean nothing it may be a byte
    /// less, up to the next character.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The encoding as found; known once something was read.
    pub(super) fn found(&self) -> &Found {
        &self.found
    }

    /// Returns whether malformed bytes went through since the last call.
    pub(super) fn take_malformed(&mut self) -> bool {
        std::mem::take(&mut self.has_malformed)
    }

    /// Looks at the first bytes.
    fn open(&mut self) -> io::Result<()> {
        while self.head.len() < HEAD_BYTES {
            match self.input.fill_buf() {
                Ok([]) => break,
                Ok(available) => {
                    let length = available.len().min(HEAD_BYTES - self.head.len());
                    self.head.extend_from_slice(&available[..length]);
                    self.input.consume(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The bytes before it are good.
                Err(error) => {
                    self.head_error = Some(error);
                    break;
                }
            }
        }
        let (encoding, mark_bytes) = match self.head[..] {
            [0xff, 0xfe, 0, 0, ..]
            | [0, 0, 0xfe, 0xff, ..]
            | [0, 0, 0, b'<', ..]
            | [b'<', 0, 0, 0, ..] => {
                return Err(Halt::Utf32.into());
            }
            [0xef, 0xbb, 0xbf, ..] => (Some(UTF_8), 3),
            [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
            [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
            // No sitemap begins with a character beyond ASCII.
            [1..=255, 0, ..] => (Some(UTF_16LE), 0),
            [0, 1..=255, ..] => (Some(UTF_16BE), 0),
            _ => (None, 0),
        };
        self.head_start = mark_bytes;
        self.found.byte_order_mark_bytes = mark_bytes as u64;
        self.skip_garbage(encoding);
        self.offset = self.head_start as u64;
        let declared = match encoding {
            Some(_) => None,
            None => declared_encoding(&self.head[self.head_start..]),
        };
        let encoding = encoding
            .or(declared.map(|(_, encoding)| encoding))
            .unwrap_or(UTF_8);
        self.mode = if encoding == UTF_8 {
            Mode::Utf8 { valid: 0 }
        } else {
            self.found.encoding = Some(encoding.name());
            self.found.declared = declared.map(|(label, _)| label.trim().to_owned());
            Mode::Other {
                encoding,
                decoder: Box::new(encoding.new_decoder_without_bom_handling()),
                is_finished: false,
            }
        };
        Ok(())
    }

    /// Leaves out misplaced text before the XML declaration.
    fn skip_garbage(&mut self, encoding: Option<&'static Encoding>) {
        let head = &self.head[self.head_start..];
        let bytes_in = |text: &[u8]| garbage_bytes(&text[..text.len().min(HEAD_TEXT_BYTES)]);
        let is_other = |encoding: &&'static Encoding| *encoding != UTF_8;
        let (length, lines) = if let Some(utf16) = encoding.filter(is_other) {
            let (text, _) = utf16.decode_without_bom_handling(head);
            let garbage = &text[..bytes_in(text.as_bytes())];
            // Malformed bytes count as one unit each, as in the decoded text.
            let length = 2 * garbage.encode_utf16().count();
            (length, line_ends(garbage.as_bytes(), &mut false))
        } else {
            let garbage = &head[..bytes_in(head)];
            (garbage.len(), line_ends(garbage, &mut false))
        };
        self.found.garbage_bytes = length as u64;
        self.found.garbage_lines = lines;
        self.head_start += length;
    }

    fn fill_raw(&mut self) -> io::Result<&[u8]> {
        if self.head_start < self.head.len() {
            return Ok(&self.head[self.head_start..]);
        }
        match self.head_error.take() {
            Some(error) => Err(error),
            None => self.input.fill_buf(),
        }
    }

    fn consume_raw(&mut self, length: usize) {
        if self.head_start < self.head.len() {
            self.head_start += length;
        } else {
            self.input.consume(length);
        }
    }

    /// Makes the next bytes ready: finds out how many of them are UTF-8, or decodes some into the chunk.
    fn prepare(&mut self) -> io::Result<()> {
        if !self.chunk.rest().is_empty() {
            return Ok(());
        }
        match self.mode {
            Mode::New => {
                self.open()?;
                self.prepare()
            }
            Mode::Utf8 { valid: 0 } => self.prepare_utf8(),
            Mode::Utf8 { .. } => Ok(()),
            Mode::Other { .. } => self.decode(),
        }
    }

    fn prepare_utf8(&mut self) -> io::Result<()> {
        let available = self.fill_raw()?;
        let available = &available[..available.len().min(CHUNK_BYTES)];
        let error = match str::from_utf8(available) {
            Ok(text) => {
                let valid = text.len();
                self.mode = Mode::Utf8 { valid };
                return Ok(());
            }
            Err(error) => error,
        };
        if error.valid_up_to() > 0 {
            self.mode = Mode::Utf8 {
                valid: error.valid_up_to(),
            };
            return Ok(());
        }
        match error.error_len() {
            Some(length) => {
                self.consume_raw(length);
                self.replace(length);
            }
            None => self.join_character(),
        }
        Ok(())
    }

    /// Puts a character together whose bytes are at the end of one buffer and the beginning of the next.
    fn join_character(&mut self) {
        let mut bytes = Vec::with_capacity(4);
        loop {
            let next = match self.fill_raw() {
                Ok(available) => available.first().copied(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.head_error = Some(error);
                    None
                }
            };
            let Some(next) = next else {
                return self.replace(bytes.len());
            };
            bytes.push(next);
            match str::from_utf8(&bytes) {
                Ok(text) => {
                    self.chunk = Chunk {
                        text: text.to_owned(),
                        source_bytes: bytes.len() as u64,
                        ..Chunk::default()
                    };
                    return self.consume_raw(1);
                }
                Err(error) if error.error_len().is_none() => self.consume_raw(1),
                // The last byte belongs to what follows; it is not the only one, for the first one began a character.
                Err(_) => return self.replace(bytes.len() - 1),
            }
        }
    }

    /// So many bytes mean nothing.
    fn replace(&mut self, length: usize) {
        self.chunk = Chunk {
            text: REPLACEMENT.to_owned(),
            source_bytes: length as u64,
            is_malformed: true,
            ..Chunk::default()
        };
    }

    fn decode(&mut self) -> io::Result<()> {
        while self.chunk.rest().is_empty() {
            let Mode::Other {
                encoding,
                decoder,
                is_finished,
            } = &mut self.mode
            else {
                return Ok(());
            };
            if *is_finished {
                return Ok(());
            }
            // Like `fill_raw`, which would borrow the decoder as well.
            let available = if self.head_start < self.head.len() {
                &self.head[self.head_start..]
            } else if let Some(error) = self.head_error.take() {
                return Err(error);
            } else {
                self.input.fill_buf()?
            };
            let available = &available[..available.len().min(CHUNK_BYTES)];
            // Of a text in an encoding of one, two or more bytes for a character, only a stretch of ASCII shows how many bytes
            // each of its characters took. Others are decoded one by one, so that the offset does not depend on the pieces that
            // come in.
            let is_even =
                encoding.is_single_byte() || *encoding == UTF_16LE || *encoding == UTF_16BE;
            let length = if is_even {
                available.len()
            } else if self.chunk.source_bytes > 0 {
                available.len().min(1)
            } else {
                let ascii = available.iter().take_while(|byte| byte.is_ascii());
                ascii.count().max(1).min(available.len())
            };
            *is_finished = length == 0;
            let text = &mut self.chunk.text;
            text.clear();
            text.reserve(
                decoder
                    .max_utf8_buffer_length(length)
                    .unwrap_or(4 * CHUNK_BYTES),
            );
            let (result, read, is_malformed) =
                decoder.decode_to_string(&available[..length], text, *is_finished);
            debug_assert_eq!(
                result,
                CoderResult::InputEmpty,
                "the buffer is large enough"
            );
            self.chunk.start = 0;
            self.chunk.source_bytes += read as u64;
            self.chunk.is_malformed = is_malformed;
            self.consume_raw(read);
        }
        Ok(())
    }

    /// Bytes of the input that the beginning of the chunk comes from.
    fn source_bytes_of(&self, text: &[u8]) -> u64 {
        let Mode::Other { encoding, .. } = &self.mode else {
            return text.len() as u64;
        };
        let count = |is_counted: fn(u8) -> bool| {
            text.iter().filter(|byte| is_counted(**byte)).count() as u64
        };
        let characters = count(|byte| byte & 0b1100_0000 != 0b1000_0000);
        if *encoding == UTF_16LE || *encoding == UTF_16BE {
            2 * (characters + count(|byte| byte >= 0xf0))
        } else {
            // Characters of several bytes are alone in a chunk, or after others that mean nothing.
            characters
        }
    }
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Transcoder<R> {
    /// Whole characters, unless only some of the last ones were consumed.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.prepare()?;
        if !self.chunk.rest().is_empty() {
            return Ok(self.chunk.rest());
        }
        match self.mode {
            Mode::Utf8 { valid } if valid > 0 => Ok(&self.fill_raw()?[..valid]),
            Mode::Utf8 { .. } | Mode::Other { .. } | Mode::New => Ok(&[]),
        }
    }

    fn consume(&mut self, length: usize) {
        if self.chunk.rest().is_empty() {
            if let Mode::Utf8 { valid } = &mut self.mode {
                *valid -= length;
            }
            self.offset += length as u64;
            return self.consume_raw(length);
        }
        let rest = self.chunk.rest();
        let consumed = &rest[..length];
        let is_last = length == rest.len();
        // It counts with its first byte.
        let looked_at = rest.len().min(length + REPLACEMENT.len() - 1);
        self.has_malformed |= self.chunk.is_malformed
            && rest[..looked_at]
                .windows(REPLACEMENT.len())
                .any(|bytes| bytes == REPLACEMENT.as_bytes());
        // Part of a character that is not decoded yet counts with it; its size is known only in UTF-16.
        let has_part = matches!(
            self.mode,
            Mode::Other { encoding, is_finished: false, .. } if encoding == UTF_16LE || encoding == UTF_16BE
        );
        let source_bytes = if is_last && !has_part {
            self.chunk.source_bytes
        } else {
            self.source_bytes_of(consumed).min(self.chunk.source_bytes)
        };
        self.offset += source_bytes;
        self.chunk.source_bytes -= source_bytes;
        self.chunk.start += length;
    }
}

/// The encoding that the XML declaration at the beginning names, as it names it, if it can be the one it is written in.
fn declared_encoding(head: &[u8]) -> Option<(&str, &'static Encoding)> {
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = declaration.windows(2).position(|bytes| bytes == b"?>")?;
    let declaration = &declaration[..end];
    let name = b"encoding";
    let start = declaration
        .windows(name.len())
        .position(|bytes| bytes == name)?;
    let value = declaration[start + name.len()..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let length = value.iter().position(|byte| byte == quote)?;
    let label = str::from_utf8(&value[..length]).ok()?;
    Some((label, encoding_of_label(label)?))
}

/// The encoding of a name, if text that begins as ASCII can be in it. The names are those of the web
/// (<https://encoding.spec.whatwg.org/#names-and-labels>).
pub(super) fn encoding_of_label(label: &str) -> Option<&'static Encoding> {
    // A file declared as ASCII is read as UTF-8; the web would take it for windows-1252.
    if label.trim().to_ascii_lowercase().ends_with("ascii") {
        return Some(UTF_8);
    }
    Encoding::for_label_no_replacement(label.as_bytes())
        .filter(|encoding| encoding.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Checks text, encoding and malformed bytes with any size of the buffer.
    #[track_caller]
    fn check(bytes: &[u8], text: &str, encoding: Option<&str>, is_malformed: bool) {
        for capacity in [1, 2, 3, 5, 7, 4096] {
            let mut transcoder = Transcoder::new(BufReader::with_capacity(capacity, bytes));
            let mut out = String::new();
            transcoder.read_to_string(&mut out).unwrap();
            assert_eq!(out, text, "capacity {capacity}");
            assert_eq!(transcoder.found().encoding, encoding);
            assert_eq!(transcoder.take_malformed(), is_malformed, "{text}");
            assert_eq!(transcoder.offset(), bytes.len() as u64, "{text}");
        }
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn utf8_goes_through() {
        check(b"", "", None, false);
        check("<a>é 😀</a>".as_bytes(), "<a>é 😀</a>", None, false);
        check("\u{FEFF}<a/>".as_bytes(), "<a/>", None, false);
        let long = "é😀x".repeat(20_000);
        check(long.as_bytes(), &long, None, false);
    }

    #[test]
    fn malformed_bytes_are_replaced_and_reported() {
        check(b"a\xe9b", "a\u{FFFD}b", None, true);
        check(b"a\xe9", "a\u{FFFD}", None, true);
        check(b"a\xf0\x9f\x98b", "a\u{FFFD}b", None, true);
        check(b"\xf0\x9f\xc3\xa9", "\u{FFFD}é", None, true);
        check(b"ab\xc0\xafb", "ab\u{FFFD}\u{FFFD}b", None, true);
        // One that stands in the file is not a fault.
        check("a\u{FFFD}b".as_bytes(), "a\u{FFFD}b", None, false);
        check(
            b"\xff\xfea\0\0\xd8b\0c",
            "a\u{FFFD}b\u{FFFD}",
            Some("UTF-16LE"),
            true,
        );
    }

    #[test]
    fn characters_that_a_buffer_cuts_are_put_together() {
        // After the first bytes, which are looked at as a whole.
        let before = "x".repeat(HEAD_BYTES);
        let check_after = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let is_malformed = text.contains(REPLACEMENT);
            let text = format!("{before}{text}");
            check(
                &[before.as_bytes(), bytes].concat(),
                &text,
                None,
                is_malformed,
            );
        };
        check_after("é😀漢".as_bytes());
        check_after(b"\xc3");
        check_after(b"\xe9b");
        check_after(b"\xf0\x9f\x98b");
        check_after(b"\xf0\x9f\xc3\xa9");
        check_after(b"\xe2\x82\xe2\x82\xac");
        check_after(b"ab\xc0\xaf\xffb");
        check_after(b"\x80\x80");
    }

    #[test]
    fn utf16_is_known_by_its_mark_or_by_its_zeros() {
        let text = "<a>é 😀</a>\n";
        for mark in ["", "\u{FEFF}"] {
            let marked = format!("{mark}{text}");
            check(
                &utf16(&marked, u16::to_le_bytes),
                text,
                Some("UTF-16LE"),
                false,
            );
            check(
                &utf16(&marked, u16::to_be_bytes),
                text,
                Some("UTF-16BE"),
                false,
            );
        }
        let url = "http://host/";
        check(&utf16(url, u16::to_le_bytes), url, Some("UTF-16LE"), false);
    }

    #[test]
    fn declared_encoding_is_decoded() {
        let check_declared = |label: &str, bytes: &[u8], text: &str, encoding: Option<&str>| {
            for before in ["", "\n \r\n"] {
                let declaration =
                    format!("{before}<?xml version='1.0' standalone='no' encoding = '{label}'?>");
                let bytes = [declaration.as_bytes(), bytes].concat();
                let is_malformed = text.contains('\u{FFFD}');
                check(
                    &bytes,
                    &format!("{declaration}{text}"),
                    encoding,
                    is_malformed,
                );
            }
        };
        check_declared("ISO-8859-1", b"\xe9\x80", "é€", Some("windows-1252"));
        check_declared("iso-8859-2", b"\xb1", "ą", Some("ISO-8859-2"));
        check_declared("windows-1251", b"\xe4\xe0", "да", Some("windows-1251"));
        check_declared(
            "Shift_JIS",
            b"\x93\xfa\n\x93\xfa",
            "日\n日",
            Some("Shift_JIS"),
        );
        check_declared("gbk", b"\xc8\xd5", "日", Some("GBK"));
        check_declared("utf-8", "é".as_bytes(), "é", None);
        check_declared("US-ASCII", "é".as_bytes(), "é", None);
        // Impossible and unknown encodings.
        check_declared("UTF-16", "é".as_bytes(), "é", None);
        check_declared("iso-2022-kr", "é".as_bytes(), "é", None);
        check_declared("klingon", b"\xe9", "\u{FFFD}", None);
    }

    #[test]
    fn offset_is_that_of_the_input_in_the_middle_too() {
        let check_offset = |bytes: &[u8], consumed: usize, expected: u64| {
            let mut transcoder = Transcoder::new(bytes);
            let mut left = consumed;
            while left > 0 {
                let length = transcoder.fill_buf().unwrap().len().min(left);
                assert!(length > 0);
                transcoder.consume(length);
                left -= length;
            }
            assert_eq!(transcoder.offset(), expected);
        };
        check_offset("é😀<".as_bytes(), 6, 6);
        check_offset(&utf16("<é😀<", u16::to_le_bytes), "<é😀".len(), 8);
        check_offset(&utf16("\u{FEFF}<é", u16::to_be_bytes), 1, 4);
        let latin = b"<?xml version='1.0' encoding='latin1'?>\xe9\xe9<";
        check_offset(latin, latin.len() - 3 + 4, latin.len() as u64 - 1);
        let japanese = b"<?xml version='1.0' encoding='Shift_JIS'?>\x93\xfa\x93\xfa<";
        check_offset(japanese, japanese.len() - 5 + 3, japanese.len() as u64 - 3);
        check_offset(japanese, japanese.len() - 5 + 6, japanese.len() as u64 - 1);
    }

    #[test]
    fn offset_after_part_of_a_character_is_that_of_the_character() {
        let bytes = utf16(&"a😀".repeat(HEAD_BYTES), u16::to_le_bytes);
        // In the middle of a unit, and of a pair of them.
        for capacity in [5, 8, 4096] {
            let mut transcoder = Transcoder::new(BufReader::with_capacity(capacity, &bytes[..]));
            loop {
                let available = str::from_utf8(transcoder.fill_buf().unwrap()).unwrap();
                let given_out = 2 * available.encode_utf16().count() as u64;
                let length = available.len();
                if length == 0 {
                    break;
                }
                let expected = transcoder.offset() + given_out;
                transcoder.consume(length);
                assert_eq!(transcoder.offset(), expected, "capacity {capacity}");
            }
            assert_eq!(transcoder.offset(), bytes.len() as u64);
        }
    }

    #[test]
    fn offset_is_exact_in_encodings_of_one_and_more_bytes() {
        let check_encoding = |label: &str, unit: &[u8], text: &str| {
            let declaration = format!("<?xml version='1.0' encoding='{label}'?>");
            let before = "x".repeat(HEAD_BYTES);
            let bytes = [
                declaration.as_bytes(),
                before.as_bytes(),
                &unit.repeat(3000),
            ]
            .concat();
            for capacity in [1, 3, 4096] {
                let input = BufReader::with_capacity(capacity, &bytes[..]);
                let mut transcoder = Transcoder::new(input);
                let (mut out, mut offsets) = (String::new(), Vec::new());
                loop {
                    let available = str::from_utf8(transcoder.fill_buf().unwrap()).unwrap();
                    let Some(next) = available.chars().next() else {
                        break;
                    };
                    if next == '<' {
                        offsets.push(transcoder.offset());
                    }
                    out.push(next);
                    transcoder.consume(next.len_utf8());
                }
                let expected = format!("{declaration}{before}{}", text.repeat(3000));
                assert!(out == expected, "{label}, capacity {capacity}");
                let expected = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'<');
                let expected: Vec<_> = expected.map(|(place, _)| place as u64).collect();
                assert_eq!(offsets, expected, "{label}, capacity {capacity}");
            }
        };
        check_encoding("Shift_JIS", b"\x93\xfa\xb1<a", "日ｱ<a");
        check_encoding("EUC-JP", b"\x8e\xb1\x8f\xb0\xa1<", "ｱ丂<");
        check_encoding("gb18030", b"\xc8\xd5\x81\x30\x86\x30<\n", "日\u{b8}<\n");
        check_encoding("gbk", b"\xc8\xd5<\x81\x30\x81<", "日<\u{fffd}0\u{fffd}<");
        check_encoding("Big5", b"\x88\x62<", "\u{ca}\u{304}<");
        check_encoding("EUC-KR", b"\xc7\xd1<\xff<", "한<\u{fffd}<");
        check_encoding("windows-1251", b"\xe4<", "д<");
    }

    #[test]
    fn malformed_bytes_are_reported_with_their_first_byte() {
        let units = "<a>x".encode_utf16().chain([0xD800]);
        let bytes: Vec<u8> = units
            .chain("b".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let mut transcoder = Transcoder::new(&bytes[..]);
        assert_eq!(transcoder.fill_buf().unwrap(), "<a>x\u{FFFD}b".as_bytes());
        let mut reported_after = |length: usize| {
            transcoder.consume(length);
            transcoder.take_malformed()
        };
        assert!(!reported_after(3));
        assert!(!reported_after(1));
        assert!(reported_after(1));
    }

    #[test]
    fn four_bytes_for_each_character_are_not_read() {
        for start in [
            &b"\xff\xfe\0\0<\0\0\0"[..],
            b"<\0\0\0",
            b"\0\0\0<",
            b"\0\0\xfe\xff",
        ] {
            let error = Transcoder::new(start).fill_buf().unwrap_err();
            assert_eq!(Halt::of(&error), Some(&Halt::Utf32));
        }
    }
}
