//! Undoes the encoding of a list. Spreadsheets and shells of Windows write UTF-16; what reads lists knows UTF-8
//! only, so it is undone before. Documents of XML are left to their reader.

use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

/// Bytes that are decoded at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// A byte that stands nowhere in UTF-8: the line that it is in tells that it cannot be read.
const NO_TEXT: u8 = 0xff;

/// The bytes of a list in UTF-16, in UTF-8.
pub(crate) struct Decoded<R> {
    input: R,
    decoder: Decoder,
    /// What is decoded, and how much of it was given out.
    text: Vec<u8>,
    start: usize,
    is_finished: bool,
}

impl<R: BufRead> Decoded<R> {
    pub(crate) fn new(input: R, encoding: &'static Encoding) -> Self {
        Self {
            input,
            decoder: encoding.new_decoder_with_bom_removal(),
            text: Vec::new(),
            start: 0,
            is_finished: false,
        }
    }

    /// Decodes what the input has next.
    fn fill(&mut self) -> io::Result<()> {
        let bytes = self.input.fill_buf()?;
        let is_last = bytes.is_empty();
        self.text.resize(CHUNK_BYTES, 0);
        self.start = 0;
        let (result, read, written) =
            self.decoder
                .decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
        self.input.consume(read);
        self.text.truncate(written);
        match result {
            DecoderResult::InputEmpty => self.is_finished = is_last,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => self.text.push(NO_TEXT),
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.start == self.text.len() {
            if self.is_finished {
                return Ok(0);
            }
            self.text.clear();
            self.start = 0;
            self.fill()?;
        }
        let rest = self.text.split_at(self.start).1;
        let count = rest.len().min(buffer.len());
        buffer
            .split_at_mut(count)
            .0
            .copy_from_slice(rest.split_at(count).0);
        self.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use encoding_rs::{UTF_16BE, UTF_16LE};

    use super::*;

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_is_undone() {
        let long = "/\u{e9}\u{1f600}\u{20ac}\r\n".repeat(5_000);
        for text in ["\u{feff}/a\n/\u{e9}", "/a\n/b\n", &long] {
            let text = text.to_owned();
            for (bytes, expected) in [
                (utf_16(&text, u16::to_le_bytes), UTF_16LE),
                (utf_16(&text, u16::to_be_bytes), UTF_16BE),
            ] {
                // Whatever arrives together.
                for capacity in [1, 3, 64 * 1024] {
                    let input = BufReader::with_capacity(capacity, &bytes[..]);
                    let mut decoded = String::new();
                    Decoded::new(input, expected)
                        .read_to_string(&mut decoded)
                        .unwrap();
                    assert_eq!(decoded, text.trim_start_matches('\u{feff}'));
                }
            }
        }
    }

    #[test]
    fn what_is_no_utf_16_is_no_text() {
        let mut bytes = utf_16("/a\n/", u16::to_le_bytes);
        // Half of a pair, and half of a unit.
        bytes.extend(0xd800_u16.to_le_bytes());
        bytes.extend(utf_16("x\n", u16::to_le_bytes));
        bytes.push(b'y');
        let mut decoded = Vec::new();
        Decoded::new(&bytes[..], UTF_16LE)
            .read_to_end(&mut decoded)
            .unwrap();
        assert_eq!(decoded, b"/a\n/\xffx\n\xff");
    }
}
