//! Lists of URLs as they are stored: one per line, compressed with zlib; versions of a page in other languages with their code
//! before each URL.

use std::{
    cell::RefCell,
    io::{self, Read as _, Write as _},
};

use flate2::{Compression, bufread::ZlibDecoder, write::ZlibEncoder};

use crate::{
    page::LanguageVersion,
    url_key::{UrlKey, UrlKeyError},
};

/// The fastest level: the lists are short and alike, and a higher one gains a few per cent.
const LEVEL: u32 = 1;

/// Turns lists into bytes. One encoder serves all lists of a thread: making one costs more than compressing a list.
struct Encoder {
    zlib: ZlibEncoder<Vec<u8>>,
    /// The lines of the list, which are packed at once.
    lines: Vec<u8>,
}

/// Memory that a thread keeps for the next list.
const MAX_KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static ENCODER: RefCell<Encoder> = RefCell::new(Encoder {
        zlib: ZlibEncoder::new(Vec::new(), Compression::new(LEVEL)),
        lines: Vec::new(),
    });
}

/// Why stored bytes are not a list.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    /// The bytes are not zlib, broken off, or not text.
    #[error("links cannot be unpacked")]
    Packing(#[from] io::Error),
    /// A line is not a URL.
    #[error("`{line}` is not a link")]
    Line {
        /// The text at the place.
        line: String,
        #[source]
        source: UrlKeyError,
    },
    /// A line has no code.
    #[error("`{line}` is not a language and a link")]
    NoCode {
        /// The text at the place.
        line: String,
    },
}

/// The stored form of URLs, in their order.
pub(super) fn pack(links: &[UrlKey]) -> Vec<u8> {
    if links.is_empty() {
        return Vec::new();
    }
    pack_lines(|lines| {
        for link in links {
            lines.extend_from_slice(link.as_str().as_bytes());
            lines.push(b'\n');
        }
    })
}

/// The stored form of versions in other languages, in their order.
pub(super) fn pack_versions(versions: &[LanguageVersion]) -> Vec<u8> {
    pack_lines(|lines| {
        for LanguageVersion { hreflang, target } in versions {
            for part in [hreflang, " ", target.as_str(), "\n"] {
                lines.extend_from_slice(part.as_bytes());
            }
        }
    })
}

/// The stored form of the lines that `put` writes.
pub(super) fn pack_lines(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    ENCODER.with_borrow_mut(|Encoder { zlib, lines }| {
        lines.clear();
        put(lines);
        let packed = zlib.write_all(lines).and_then(|()| zlib.reset(Vec::new()));
        lines.shrink_to(MAX_KEPT_BYTES);
        packed.expect("memory takes all bytes")
    })
}

/// The URLs that [`pack`] stored.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<UrlKey>, DecodeError> {
    lines(&text_of(bytes)?).map(decode_url).collect()
}

/// The versions that [`pack_versions`] stored.
pub(super) fn unpack_versions(bytes: &[u8]) -> Result<Vec<LanguageVersion>, DecodeError> {
    let decode_version = |line: &str| {
        // A code may hold spaces, a URL none.
        let (code, link) = line.rsplit_once(' ').ok_or_else(|| DecodeError::NoCode {
            line: line.to_owned(),
        })?;
        Ok(LanguageVersion {
            hreflang: code.to_owned(),
            target: decode_url(link)?,
        })
    };
    lines(&text_of(bytes)?).map(decode_version).collect()
}

pub(super) fn text_of(bytes: &[u8]) -> Result<String, DecodeError> {
    let mut text = String::new();
    if bytes.is_empty() {
        return Ok(text);
    }
    ZlibDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n')
}

pub(super) fn decode_url(url: &str) -> Result<UrlKey, DecodeError> {
    UrlKey::from_normalised(url).map_err(|source| DecodeError::Line {
        line: url.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> UrlKey {
        UrlKey::from_normalised(text).unwrap()
    }

    #[test]
    fn versions_come_back_in_their_order() {
        let versions: Vec<_> = [
            ("en", "https://example.com/en/"),
            ("", "https://example.com/"),
            ("zh hant  tw", "https://example.tw/"),
        ]
        .map(|(code, target)| LanguageVersion::new(code, key(target)))
        .into();
        let bytes = pack_versions(&versions);
        assert_eq!(
            text_of(&bytes).unwrap(),
            "en https://example.com/en/\n https://example.com/\nzh hant  tw https://example.tw/\n"
        );
        assert_eq!(unpack_versions(&bytes).unwrap(), versions);
        assert!(matches!(
            unpack_versions(&pack(&[key("https://example.com/")])),
            Err(DecodeError::NoCode { .. })
        ));
    }

    #[test]
    fn urls_come_back_in_their_order() {
        let urls = ["https://example.com/b", "http://example.com/a"].map(key);
        assert_eq!(unpack(&pack(&urls)).unwrap(), urls);
        assert_eq!(pack(&[]), b"");
        assert_eq!(unpack(b"").unwrap(), []);
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(matches!(unpack(b"/a\n"), Err(DecodeError::Packing(_))));
        let bytes = pack(&[key("https://example.com/a")]);
        let (most, _) = bytes.split_at(bytes.len() - 1);
        assert!(matches!(unpack(most), Err(DecodeError::Packing(_))));
        let bytes = pack_lines(|lines| lines.extend_from_slice(b"/a\n"));
        assert!(matches!(unpack(&bytes), Err(DecodeError::Line { .. })));
    }
}
