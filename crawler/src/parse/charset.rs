//! The character encoding of a page, and its bytes as UTF-8.
//!
//! Order of evidence: byte order mark, `Content-Type`, `<meta>` in the first 1,024 bytes by the prescan of the HTML standard, XML
//! declaration. A later `<meta>` in the first 16 KiB follows (for which a browser would begin again), then UTF-8 when these 16
//! KiB are valid UTF-8, and else windows-1252. The language is never guessed.

use encoding_rs::{
    CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED,
};

/// Number of bytes that the search for `<meta>` reads (HTML standard section 13.2.3.2).
const PRESCAN_BYTES: usize = 1_024;

/// Number of bytes that must be valid UTF-8 for the guess: enough for the first non-ASCII text of nearly every page.
pub(super) const GUESS_BYTES: usize = 16 * 1_024;

/// An encoding and the byte order mark to skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charset {
    /// The encoding of the page, and of the queries of its links.
    pub(super) encoding: &'static Encoding,
    /// Length of the byte order mark in bytes.
    bom_bytes: usize,
}

impl Charset {
    /// The encoding of a body that begins with `prefix` (its first [`GUESS_BYTES`], or all of it; three
    /// bytes are enough when there is one `declared` by its `Content-Type`).
    pub(super) fn determine(prefix: &[u8], declared: Option<&'static Encoding>) -> Self {
        if let Some((encoding, bom_bytes)) = Encoding::for_bom(prefix) {
            return Self {
                encoding,
                bom_bytes,
            };
        }
        let prefix = &prefix[..prefix.len().min(GUESS_BYTES)];
        let head = &prefix[..prefix.len().min(PRESCAN_BYTES)];
        let encoding = declared
            .or_else(|| utf_16_xml_declaration(head))
            .or_else(|| declared_by_meta(head))
            .or_else(|| xml_declaration(head))
            .or_else(|| declared_by_meta(prefix))
            .unwrap_or_else(|| guess(prefix));
        Self {
            encoding,
            bom_bytes: 0,
        }
    }
}

/// The encoding that a `<meta>` in `text` declares.
fn declared_by_meta(text: &[u8]) -> Option<&'static Encoding> {
    Prescan { text, position: 0 }.run().ok().flatten()
}

/// UTF-8 or windows-1252.
fn guess(prefix: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(prefix) {
        Ok(_) => UTF_8,
        // A character that is cut at the end is not a fault.
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

/// The encoding that a label of a `Content-Type` means; unknown labels mean nothing.
pub(super) fn encoding_of_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// Turns the chunks of a body into UTF-8, with at most one chunk in memory. UTF-8 passes through unchecked: the tokenizer
/// replaces broken sequences.
pub(super) struct Utf8Stream {
    decoder: Option<Decoder>,
    bom_bytes: usize,
    text: String,
}

impl Utf8Stream {
    /// A stream of a body in `charset`, from its first byte on.
    pub(super) fn new(charset: Charset) -> Self {
        let decoder = (charset.encoding != UTF_8)
            .then(|| charset.encoding.new_decoder_without_bom_handling());
        Self {
            decoder,
            bom_bytes: charset.bom_bytes,
            text: String::new(),
        }
    }

    /// The next chunk as UTF-8; `is_last` flushes the rest of an incomplete character.
    pub(super) fn decode<'a>(&'a mut self, bytes: &'a [u8], is_last: bool) -> &'a [u8] {
        let skipped = self.bom_bytes.min(bytes.len());
        self.bom_bytes -= skipped;
        let bytes = &bytes[skipped..];
        let Some(decoder) = &mut self.decoder else {
            return bytes;
        };
        self.text.clear();
        let mut rest = bytes;
        loop {
            let room = decoder
                .max_utf8_buffer_length(rest.len())
                .unwrap_or(rest.len());
            self.text.reserve(room);
            let (result, read, _) = decoder.decode_to_string(rest, &mut self.text, is_last);
            rest = &rest[read..];
            if result == CoderResult::InputEmpty {
                return self.text.as_bytes();
            }
        }
    }
}

/// `<?x` in UTF-16 without a byte order mark.
fn utf_16_xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// "Get an XML encoding" of the HTML standard.
fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let skip_space = |text: &[u8]| text.iter().take_while(|&&byte| byte <= b' ').count();
    let mut rest =
        &declaration[memchr::memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    rest = &rest[skip_space(rest)..];
    rest = rest.strip_prefix(b"=")?;
    rest = &rest[skip_space(rest)..];
    let (&quote, rest) = rest.split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let label = &rest[..memchr::memchr(quote, rest)?];
    label_in_markup(label)
}

/// An encoding that markup declares about itself: it was readable as ASCII, so UTF-16 is not true.
fn label_in_markup(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

/// "Prescan a byte stream to determine its encoding" of the HTML standard section 13.2.3.2.
#[derive(Debug)]
struct Prescan<'a> {
    text: &'a [u8],
    position: usize,
}

/// The bytes end inside a construct: the search finds nothing.
#[derive(Debug)]
struct EndOfBytes;

/// An attribute in lower case.
#[derive(Debug)]
struct Attribute {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Prescan<'_> {
    fn run(mut self) -> Result<Option<&'static Encoding>, EndOfBytes> {
        while self.position < self.text.len() {
            let rest = &self.text[self.position..];
            if rest.starts_with(b"<!--") {
                // The two dashes of the opening may be those of the closing.
                let end = memchr::memmem::find(&rest[2..], b"-->").ok_or(EndOfBytes)?;
                self.position += 2 + end + 2;
            } else if is_meta(rest) {
                self.position += b"<meta".len();
                if let Some(encoding) = self.read_meta()? {
                    return Ok(Some(encoding));
                }
            } else if is_tag(rest) {
                let end = rest.iter().position(|&byte| is_space(byte) || byte == b'>');
                self.position += end.ok_or(EndOfBytes)?;
                while self.read_attribute()?.is_some() {}
            } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
                self.position += memchr::memchr(b'>', rest).ok_or(EndOfBytes)?;
            }
            self.position += 1;
        }
        Ok(None)
    }

    /// The encoding that a `<meta>` declares.
    fn read_meta(&mut self) -> Result<Option<&'static Encoding>, EndOfBytes> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut has_pragma = false;
        let mut needs_pragma = false;
        let mut declared: Option<Option<&'static Encoding>> = None;
        while let Some(Attribute { name, value }) = self.read_attribute()? {
            if names.contains(&name) {
                continue;
            }
            match &*name {
                b"http-equiv" => has_pragma |= value == b"content-type",
                b"content" if declared.is_none() => {
                    if let Some(encoding) = charset_in_content(&value).and_then(label_in_markup) {
                        declared = Some(Some(encoding));
                        needs_pragma = true;
                    }
                }
                b"charset" => {
                    declared = Some(label_in_markup(&value));
                    needs_pragma = false;
                }
                _ => {}
            }
            names.push(name);
        }
        Ok(declared.flatten().filter(|_| has_pragma || !needs_pragma))
    }

    fn current(&self) -> Result<u8, EndOfBytes> {
        self.text.get(self.position).copied().ok_or(EndOfBytes)
    }

    fn skip_space(&mut self) -> Result<(), EndOfBytes> {
        while is_space(self.current()?) {
            self.position += 1;
        }
        Ok(())
    }

    /// "Get an attribute"; `None` at the end of the tag.
    fn read_attribute(&mut self) -> Result<Option<Attribute>, EndOfBytes> {
        while is_space(self.current()?) || self.current()? == b'/' {
            self.position += 1;
        }
        if self.current()? == b'>' {
            return Ok(None);
        }
        let mut name = Vec::new();
        loop {
            match self.current()? {
                b'=' if !name.is_empty() => break,
                byte if is_space(byte) || matches!(byte, b'/' | b'>') => break,
                byte => name.push(byte.to_ascii_lowercase()),
            }
            self.position += 1;
        }
        self.skip_space()?;
        if self.current()? != b'=' {
            return Ok(Some(Attribute {
                name,
                value: Vec::new(),
            }));
        }
        self.position += 1;
        self.skip_space()?;
        Ok(Some(Attribute {
            name,
            value: self.read_value()?,
        }))
    }

    fn read_value(&mut self) -> Result<Vec<u8>, EndOfBytes> {
        let mut value = Vec::new();
        let quote = Some(self.current()?).filter(|byte| matches!(byte, b'"' | b'\''));
        if quote.is_some() {
            self.position += 1;
        }
        loop {
            let byte = self.current()?;
            match quote {
                Some(quote) if byte == quote => {
                    self.position += 1;
                    return Ok(value);
                }
                None if is_space(byte) || byte == b'>' => return Ok(value),
                Some(_) | None => value.push(byte.to_ascii_lowercase()),
            }
            self.position += 1;
        }
    }
}

/// "Extracting a character encoding from a meta element": the label in `text/html; charset=label`.
fn charset_in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let found = memchr::memmem::find(rest, b"charset")?;
        rest = rest[found + b"charset".len()..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = value.trim_ascii_start();
            break;
        }
    }
    if let (&quote @ (b'"' | b'\''), quoted) = rest.split_first()? {
        return Some(&quoted[..memchr::memchr(quote, quoted)?]);
    }
    let end = rest.iter().position(|&byte| is_space(byte) || byte == b';');
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5
        && rest[..5].eq_ignore_ascii_case(b"<meta")
        && (is_space(rest[5]) || rest[5] == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    matches!(rest, [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], declared: Option<&str>, expected: &str) {
        let found = Charset::determine(body, declared.and_then(encoding_of_label));
        assert_eq!(found.encoding.name(), expected, "{}", body.escape_ascii());
    }

    #[test]
    fn the_order_of_evidence_holds() {
        check(b"\xef\xbb\xbf<meta charset=big5>", Some("gbk"), "UTF-8");
        check(b"\xff\xfex\0", Some("gbk"), "UTF-16LE");
        check(b"\xfe\xff\0x", None, "UTF-16BE");
        check(b"<meta charset=big5>", Some("gbk"), "GBK");
        check(b"<meta charset=big5>", Some("no-such-label"), "Big5");
        check(
            b"<?xml version='1.0' encoding='gbk'?><meta charset=big5>",
            None,
            "Big5",
        );
        check(b"<?xml version='1.0' encoding='gbk'?>\xe9", None, "GBK");
        check("<p>é".as_bytes(), None, "UTF-8");
        check(b"<p>\xe9", None, "UTF-8");
        check(b"<p>\xe9 ", None, "windows-1252");
        check(b"<\0?\0x\0m\0l\0", None, "UTF-16LE");
    }

    #[test]
    fn late_meta_comes_after_other_declarations() {
        let check_after = |start: &[u8], spaces: usize, expected: &str| {
            let mut body = start.to_vec();
            body.resize(start.len() + spaces, b' ');
            body.extend_from_slice(b"<meta charset=gbk>\xff ");
            check(&body, None, expected);
        };
        let xml = b"<?xml version='1.0' encoding='big5'?>";
        check_after(b"", 1_000, "GBK");
        check_after(b"", 1_024, "GBK");
        check_after(xml, 900, "GBK");
        check_after(xml, 1_024, "Big5");
        check_after(b"", 16_366, "GBK");
        check_after(b"\xff", 16_384, "windows-1252");
    }

    #[test]
    fn any_split_decodes_to_the_same_text() {
        let bodies: [(&[u8], Option<&str>); 4] = [
            (b"\xff\xfea\0\xe9\0=\xd8\0\xde", None),
            (b"caf\xe9 \x80", Some("windows-1252")),
            (b"\x1b$B8l\x1b(B ascii \x1b$B", Some("iso-2022-jp")),
            (b"\xef\xbb\xbfcaf\xc3\xa9", None),
        ];
        for (body, declared) in bodies {
            let charset = Charset::determine(body, declared.and_then(encoding_of_label));
            let (expected, _) = charset
                .encoding
                .decode_without_bom_handling(&body[charset.bom_bytes..]);
            for at in 0..=body.len() {
                let mut stream = Utf8Stream::new(charset);
                let mut text = stream.decode(&body[..at], false).to_vec();
                text.extend_from_slice(stream.decode(&body[at..], true));
                assert_eq!(String::from_utf8(text).unwrap(), expected, "split at {at}");
            }
        }
    }
}
