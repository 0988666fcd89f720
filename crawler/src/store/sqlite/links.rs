//! How the links of a page are kept: one URL per line, those on the page's own origin from their
//! path on, compressed with zlib. Neighbours have long beginnings in common, so that a list takes a
//! fifth of its text or less.

use std::io::{self, Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::ranges::origin;
use crate::url_key::{UrlKey, UrlKeyError};

/// The fastest level: the lists are short and alike, and a higher one gains a few per cent.
const LEVEL: u32 = 1;

/// Turns lists of links into bytes. One encoder serves many pages: making one costs more than
/// compressing a list.
#[derive(Debug)]
pub(super) struct Encoder {
    zlib: ZlibEncoder<Vec<u8>>,
}

/// Why stored bytes are no list of links.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    /// They are not zlib, broken off, or not text.
    #[error("links cannot be unpacked")]
    Packing(#[from] io::Error),
    /// A line is not a URL.
    #[error("`{line}` is not a link")]
    Line {
        /// What stands there.
        line: String,
        #[source]
        source: UrlKeyError,
    },
}

impl Encoder {
    /// An encoder without memory of any page.
    pub(super) fn new() -> Self {
        Self {
            zlib: ZlibEncoder::new(Vec::new(), Compression::new(LEVEL)),
        }
    }

    /// The stored form of the links of `page`, in their order.
    ///
    /// # Errors
    /// None is known: the bytes go to memory.
    pub(super) fn encode(&mut self, page: &UrlKey, links: &[UrlKey]) -> io::Result<Vec<u8>> {
        let origin = origin(page);
        for link in links {
            let text = link.as_str();
            let line = text
                .strip_prefix(origin)
                .filter(|rest| rest.starts_with('/'))
                .unwrap_or(text);
            self.zlib.write_all(line.as_bytes())?;
            self.zlib.write_all(b"\n")?;
        }
        self.zlib.reset(Vec::new())
    }
}

/// The links of `page` that [`Encoder::encode`] stored.
pub(super) fn decode(page: &UrlKey, bytes: &[u8]) -> Result<Vec<UrlKey>, DecodeError> {
    let mut text = String::new();
    ZlibDecoder::new(bytes).read_to_string(&mut text)?;
    text.lines().map(|line| decode_line(page, line)).collect()
}

fn decode_line(page: &UrlKey, line: &str) -> Result<UrlKey, DecodeError> {
    let key = if line.starts_with('/') {
        UrlKey::from_normalised(&[origin(page), line].concat())
    } else {
        UrlKey::from_normalised(line)
    };
    key.map_err(|source| DecodeError::Line {
        line: line.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> UrlKey {
        UrlKey::from_normalised(text).unwrap()
    }

    fn check(page: &str, links: &[&str], stored: &str) {
        let page = key(page);
        let links: Vec<_> = links.iter().map(|link| key(link)).collect();
        let mut encoder = Encoder::new();
        for _ in 0..2 {
            let bytes = encoder.encode(&page, &links).unwrap();
            let mut text = String::new();
            ZlibDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
            assert_eq!(text, stored);
            assert_eq!(decode(&page, &bytes).unwrap(), links);
        }
    }

    #[test]
    fn links_come_back_in_their_order() {
        check("https://example.com/", &[], "");
        check(
            "https://example.com/a",
            &["https://example.com/b", "https://example.com/a"],
            "/b\n/a\n",
        );
        check(
            "https://example.com/",
            &["https://example.com//x?y=/"],
            "//x?y=/\n",
        );
        check(
            "https://example.com/",
            &["https://example.com:8443/"],
            "https://example.com:8443/\n",
        );
        check(
            "https://example.com/",
            &["https://example.com.au/"],
            "https://example.com.au/\n",
        );
        check(
            "https://example.com/",
            &["http://example.com/"],
            "http://example.com/\n",
        );
    }

    #[test]
    fn other_bytes_are_refused() {
        let page = key("https://example.com/");
        assert!(matches!(
            decode(&page, b"/a\n"),
            Err(DecodeError::Packing(_))
        ));
        let bytes = Encoder::new()
            .encode(&page, &[key("https://example.com/a")])
            .unwrap();
        let (most, _) = bytes.split_at(bytes.len() - 1);
        assert!(matches!(decode(&page, most), Err(DecodeError::Packing(_))));
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        zlib.write_all(b"a\n").unwrap();
        assert!(matches!(
            decode(&page, &zlib.finish().unwrap()),
            Err(DecodeError::Line { .. })
        ));
    }
}
