//! [`Transcoder`]: bytes in any encoding in, UTF-8 out, a buffer at a time.
//!
//! The first bytes decide the encoding: a byte order mark, the zero bytes of UTF-16, the XML declaration, in this order. Without
//! any of them it is UTF-8. Malformed bytes become U+FFFD and are reported. Positions are those of the file in UTF-8.

use std::{
    io::{self, BufRead, Read},
    str,
};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{
    finding::line_ends,
    halt::{Halt, read_buffered},
    preamble::garbage_bytes,
};

/// Range in which the XML declaration is looked for, in bytes of UTF-8 after the byte order mark. The longest useful one has 70
/// bytes, so there is room for misplaced text before it: blank lines, or a page full of warnings.
const HEAD_TEXT_BYTES: usize = 8 * 1024;

/// Number of bytes that are looked at before the first is given out: so much text in any encoding, which is at most twice as long
/// in UTF-16, and its byte order mark.
const HEAD_BYTES: usize = 2 * HEAD_TEXT_BYTES + 3;

/// Number of bytes that are decoded at a time.
const CHUNK_BYTES: usize = 8 * 1024;

/// Replacement of a malformed byte.
const REPLACEMENT: &str = "\u{FFFD}";

/// Length of a byte order mark in UTF-8.
const BYTE_ORDER_MARK_BYTES: u64 = 3;

/// The encoding as [`Transcoder`] found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// There is a byte order mark; it is left out.
    pub(super) has_byte_order_mark: bool,
    /// Bytes of UTF-8 after it, and ends of lines, that are before the XML declaration and do not belong there; they are left
    /// out.
    pub(super) garbage_bytes: u64,
    pub(super) garbage_lines: u64,
    /// The encoding it is decoded from, if that is not UTF-8.
    pub(super) encoding: Option<&'static str>,
    /// The name in the XML declaration, if that decided.
    pub(super) declared: Option<String>,
}

impl Found {
    /// The bytes of UTF-8 that are left out at the beginning.
    pub(super) fn skipped_bytes(&self) -> u64 {
        let mark = if self.has_byte_order_mark {
            BYTE_ORDER_MARK_BYTES
        } else {
            0
        };
        mark + self.garbage_bytes
    }
}

/// An input whose encoding is undone.
pub(super) struct Transcoder<R> {
    input: R,
    /// `None` before anything was read.
    decoder: Option<Box<Decoder>>,
    /// The first bytes, which had to be looked at.
    head: Vec<u8>,
    head_start: usize,
    /// Error that came instead of more bytes while the first ones were inspected.
    head_error: Option<io::Error>,
    /// Decoded text; what is before `start` was given out.
    text: String,
    start: usize,
    /// True when U+FFFD in the text replace malformed bytes.
    is_malformed: bool,
    /// The input has ended.
    is_finished: bool,
    offset: u64,
    found: Found,
    has_malformed: bool,
}

impl<R: BufRead> Transcoder<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            decoder: None,
            head: Vec::new(),
            head_start: 0,
            head_error: None,
            text: String::new(),
            start: 0,
            is_malformed: false,
            is_finished: false,
            offset: 0,
            found: Found::default(),
            has_malformed: false,
        }
    }

    pub(super) fn input(&self) -> &R {
        &self.input
    }

    /// Bytes of UTF-8 before the next one that is given out, with those that are left out at the beginning.
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

    /// Looks at the first bytes, and decides how all are decoded.
    fn open(&mut self) -> io::Result<Box<Decoder>> {
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
        self.found.has_byte_order_mark = mark_bytes > 0;
        self.skip_garbage(encoding);
        self.offset = self.found.skipped_bytes();
        let declared = match encoding {
            Some(_) => None,
            None => declared_encoding(&self.head[self.head_start..]),
        };
        let encoding = encoding
            .or(declared.map(|(_, encoding)| encoding))
            .unwrap_or(UTF_8);
        if encoding != UTF_8 {
            self.found.encoding = Some(encoding.name());
            self.found.declared = declared.map(|(label, _)| label.trim().to_owned());
        }
        Ok(Box::new(encoding.new_decoder_without_bom_handling()))
    }

    /// Leaves out misplaced text before the XML declaration.
    fn skip_garbage(&mut self, encoding: Option<&'static Encoding>) {
        let head = &self.head[self.head_start..];
        let bytes_in = |text: &[u8]| garbage_bytes(&text[..text.len().min(HEAD_TEXT_BYTES)]);
        let is_other = |encoding: &&'static Encoding| *encoding != UTF_8;
        let (length, garbage) = if let Some(utf16) = encoding.filter(is_other) {
            let (text, _) = utf16.decode_without_bom_handling(head);
            let garbage = text[..bytes_in(text.as_bytes())].to_owned();
            // Malformed bytes count as one unit each, as in the decoded text.
            (2 * garbage.encode_utf16().count(), garbage.into_bytes())
        } else {
            let garbage = &head[..bytes_in(head)];
            (garbage.len(), garbage.to_vec())
        };
        self.found.garbage_bytes = garbage.len() as u64;
        self.found.garbage_lines = line_ends(&garbage, &mut false);
        self.head_start += length;
    }

    /// Decodes the next bytes, if nothing is ready.
    fn decode(&mut self) -> io::Result<()> {
        let mut decoder = match self.decoder.take() {
            Some(decoder) => decoder,
            None => self.open()?,
        };
        let outcome = self.decode_with(&mut decoder);
        self.decoder = Some(decoder);
        outcome
    }

    fn decode_with(&mut self, decoder: &mut Decoder) -> io::Result<()> {
        while self.start == self.text.len() && !self.is_finished {
            let is_in_head = self.head_start < self.head.len();
            let available = if is_in_head {
                &self.head[self.head_start..]
            } else if let Some(error) = self.head_error.take() {
                return Err(error);
            } else {
                self.input.fill_buf()?
            };
            let length = available.len().min(CHUNK_BYTES);
            self.is_finished = length == 0;
            self.text.clear();
            self.start = 0;
            let most = decoder.max_utf8_buffer_length(length);
            self.text.reserve(most.unwrap_or(4 * CHUNK_BYTES));
            let (_, read, is_malformed) =
                decoder.decode_to_string(&available[..length], &mut self.text, self.is_finished);
            self.is_malformed = is_malformed;
            if is_in_head {
                self.head_start += read;
            } else {
                self.input.consume(read);
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

impl<R: BufRead> BufRead for Transcoder<R> {
    /// Whole characters, unless only some bytes of the last one were consumed.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.decode()?;
        Ok(&self.text.as_bytes()[self.start..])
    }

    fn consume(&mut self, length: usize) {
        let rest = &self.text.as_bytes()[self.start..];
        // It counts with its first byte.
        let looked_at = &rest[..rest.len().min(length + REPLACEMENT.len() - 1)];
        self.has_malformed |=
            self.is_malformed && memchr::memmem::find(looked_at, REPLACEMENT.as_bytes()).is_some();
        self.offset += length as u64;
        self.start += length;
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
            let mark = transcoder.found().skipped_bytes();
            assert_eq!(transcoder.offset(), mark + text.len() as u64, "{text}");
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
        // One that is in the file is not a fault.
        check("a\u{FFFD}b".as_bytes(), "a\u{FFFD}b", None, false);
        let wide = b"\xff\xfea\0\0\xd8b\0c";
        check(wide, "a\u{FFFD}b\u{FFFD}", Some("UTF-16LE"), true);
    }

    #[test]
    fn characters_that_a_buffer_cuts_are_put_together() {
        // After the first bytes, which are looked at as a whole.
        let before = "x".repeat(HEAD_BYTES);
        let check_after = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let is_malformed = text.contains(REPLACEMENT);
            let text = format!("{before}{text}");
            let bytes = [before.as_bytes(), bytes].concat();
            check(&bytes, &text, None, is_malformed);
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
    fn utf16_is_known_by_its_mark_or_zeros() {
        let text = "<a>é 😀</a>\n";
        for mark in ["", "\u{FEFF}"] {
            let marked = format!("{mark}{text}");
            let little = utf16(&marked, u16::to_le_bytes);
            check(&little, text, Some("UTF-16LE"), false);
            let big = utf16(&marked, u16::to_be_bytes);
            check(&big, text, Some("UTF-16BE"), false);
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
                let text = format!("{declaration}{text}");
                check(&bytes, &text, encoding, is_malformed);
            }
        };
        check_declared("ISO-8859-1", b"\xe9\x80", "é€", Some("windows-1252"));
        check_declared("iso-8859-2", b"\xb1", "ą", Some("ISO-8859-2"));
        check_declared("windows-1251", b"\xe4\xe0", "да", Some("windows-1251"));
        let japanese = b"\x93\xfa\n\x93\xfa";
        check_declared("Shift_JIS", japanese, "日\n日", Some("Shift_JIS"));
        check_declared("gbk", b"\xc8\xd5", "日", Some("GBK"));
        check_declared("utf-8", "é".as_bytes(), "é", None);
        check_declared("US-ASCII", "é".as_bytes(), "é", None);
        // Impossible and unknown encodings.
        check_declared("UTF-16", "é".as_bytes(), "é", None);
        check_declared("iso-2022-kr", "é".as_bytes(), "é", None);
        check_declared("klingon", b"\xe9", "\u{FFFD}", None);
    }

    #[test]
    fn malformed_bytes_are_reported_at_their_place() {
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
        assert!(!reported_after("<a>".len()));
        assert!(!reported_after(1));
        assert!(reported_after(REPLACEMENT.len()));
        assert!(!reported_after(1));
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
