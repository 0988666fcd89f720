//! Inputs that come in pieces, are interrupted, or are read in other ways than the parser reads them.

use std::io::{self, BufRead, Read};

use encoding_rs::Encoding;

use super::{check_reading, gzip, reading, reading_of, urlset, utf16};
use crate::{
    Limits,
    read::{Kind, Position, ReadError, Reader, Source, input::Input},
};

/// An input that is interrupted before each piece of a few bytes, as a read is by a signal.
struct Restless<'a> {
    bytes: &'a [u8],
    piece_bytes: usize,
    is_interrupted: bool,
}

impl Read for Restless<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Restless<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(&self.bytes[..self.bytes.len().min(self.piece_bytes)])
    }

    fn consume(&mut self, length: usize) {
        self.bytes = &self.bytes[length..];
    }
}

#[test]
fn interruptions_change_nothing() {
    let entry = "<url><loc>http://host/ü😀?a&amp;b</loc><lastmod>2024-05-17</lastmod></url>\r\n";
    let xml = urlset(&entry.repeat(30));
    let latin = b"<?xml version='1.0' encoding='latin1'?><urlset><url><loc>http://host/\xfc</loc></url></urlset>";
    // The first bytes are looked at as a whole, so there are enough of them to reach the later ones.
    let many = "http://host/a\r\n".repeat(100);
    let text = format!("\n{many}http://host/ü\r\nheader\r\rhttp://host/b\nfooter");
    let broken = [
        text.as_bytes(),
        b"\nhttp://host/\xe2\x82b\nhttp://host/\xff",
    ];
    let (first, second) = xml.as_bytes().split_at(500);
    let files = [
        xml.clone().into_bytes(),
        latin.to_vec(),
        text.clone().into_bytes(),
        broken.concat(),
        gzip(xml.as_bytes()),
        [gzip(first), gzip(b""), gzip(second)].concat(),
        gzip(&gzip(xml.as_bytes())),
        b"\n\n \xEF\xBB\xBF<urlset/>".to_vec(),
        ("\n ".repeat(1_000) + &xml).into_bytes(),
    ];
    for file in &files {
        let whole = reading(file);
        assert!(!whole.1.is_empty(), "{whole:?}");
        for piece_bytes in [1, 2, 3, 7, 1_000] {
            let input = Restless {
                bytes: file,
                piece_bytes,
                is_interrupted: false,
            };
            assert_eq!(reading_of(input), whole, "{piece_bytes} bytes");
        }
    }
}

#[test]
fn input_can_be_read_in_both_ways() {
    let text = "héllo\r\nwor\rld\n";
    for file in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
        let mut input = Input::new(&file[..], 1_000);
        let mut out = String::new();
        input.read_to_string(&mut out).unwrap();
        assert_eq!(out, text);
        let (line, offset) = (4, text.len() as u64);
        assert_eq!(input.position(), Position { line, offset });
    }
}

#[test]
fn lines_end_in_three_ways_whatever_the_pieces() {
    let check = |before: &str, expected: u64| {
        let file = urlset(&format!("{before}<url><loc>/a</loc></url>"));
        for capacity in [1, 2, 3, 1_000] {
            let input = io::BufReader::with_capacity(capacity, file.as_bytes());
            let error = Reader::new(input, Limits::default())
                .find_map(Result::err)
                .unwrap();
            let ReadError::Entry(finding) = error else {
                panic!("{error}")
            };
            assert_eq!(finding.position.line, expected, "{before:?} by {capacity}");
            let offset = file.find("<loc>").unwrap() as u64;
            assert_eq!(finding.position.offset, offset);
        }
    };
    // The declaration has a line of its own.
    check("", 2);
    check("\n", 3);
    check("\r", 3);
    check("\r\n", 3);
    check("\n\r", 4);
    check("\r\r\n\n", 5);
    check("\r\n\r\n", 4);
    check("\n \r \r\n ", 5);
}

#[test]
fn lines_of_every_encoding_begin_where_they_begin() {
    let check = |before: &[u8], rest: &[u8], encoding: &'static Encoding| {
        let file = [before, rest].concat();
        check_reading(&file, &["- R9"], &["Error R2", "Error R5"]);
        let mut reader = Reader::new(&file[..], Limits::default());
        let error = reader.find_map(Result::err).unwrap();
        let ReadError::Entry(finding) = error else {
            panic!("{error}")
        };
        let offset = encoding.decode_without_bom_handling(before).0.len() as u64;
        assert_eq!(finding.position, Position { line: 3, offset });
    };
    let rest = "<loc>/a</loc></url></urlset>";
    // Halves of characters that look like a line end.
    let before = "<?xml version='1.0'?><urlset>\n<!-- ĊਅĊ -->\n<url>";
    let wide = |text: &str| utf16(text, u16::to_le_bytes);
    check(&wide(before), &wide(rest), encoding_rs::UTF_16LE);
    for (encoding, characters) in [
        (encoding_rs::WINDOWS_1252, &b"\xe9\xe9\xe9"[..]),
        (encoding_rs::SHIFT_JIS, b"\x93\xfa\xb1\xb2"),
        (encoding_rs::GB18030, b"\x81\x30\x89\x37\xc8\xd5"),
    ] {
        let name = encoding.name();
        let declaration = format!("<?xml version='1.0' encoding='{name}'?><urlset>\n<!--");
        let before = [declaration.as_bytes(), characters, b"-->\n<url>"].concat();
        check(&before, rest.as_bytes(), encoding);
    }
}

#[test]
fn kinds_have_names() {
    let kinds = [
        (Kind::UrlSet, "urlset", true, false),
        (Kind::Index, "sitemapindex", true, false),
        (Kind::Text, "text", false, false),
        (Kind::Rss, "rss", true, true),
        (Kind::Atom, "atom", true, true),
    ];
    for (kind, name, is_xml, is_feed) in kinds {
        assert_eq!(kind.to_string(), name);
        assert_eq!((kind.is_xml(), kind.is_feed()), (is_xml, is_feed), "{name}");
    }
    assert_eq!(Source::Rule.to_string(), "rule");
    assert_eq!(Source::Schema.to_string(), "schema");
    let reader = Reader::new(&b""[..], Limits::default());
    assert!(format!("{reader:?}").starts_with("Reader {"));
}
