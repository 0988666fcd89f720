//! The stored form of the links of a page: one URL per line, those on the page's own origin from their
//! path on, each with its text, compressed with zlib. Neighbours have long beginnings in common, so that a list takes a
//! fifth of its text or less. The images of a page are stored in the same way, and its versions in other
//! languages with their code before each URL. A link that the caller knows by its fingerprint is skipped before its URL is made.

use std::io::{self, Cursor, Read, Write};

use flate2::{Compression, bufread::ZlibDecoder, write::ZlibEncoder};

use super::{StoreError, StoreErrorKind, ranges::origin};
use crate::{
    page::{LanguageVersion, TakenLinks},
    url_key::{UrlKey, UrlKeyError},
};

/// The fastest level: the lists are short and alike, and a higher one gains a few per cent.
const LEVEL: u32 = 1;

/// Separator before the text of a link; no URL contains it.
const BEFORE_TEXT: u8 = b'\t';

/// Turns lists of links into bytes. One encoder serves many pages: making one costs more than
/// compressing a list.
#[derive(Debug)]
pub(super) struct Encoder {
    zlib: ZlibEncoder<Vec<u8>>,
    /// The lines of the list, which are packed at once.
    lines: Vec<u8>,
}

/// Why stored bytes are not a list of links.
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

impl Encoder {
    /// An encoder without memory of any page.
    pub(super) fn new() -> Self {
        Self {
            zlib: ZlibEncoder::new(Vec::new(), Compression::new(LEVEL)),
            lines: Vec::new(),
        }
    }

    /// The stored form of the links that were taken from `page`, in their order.
    ///
    /// # Errors
    /// None is known: the bytes go to memory.
    pub(super) fn encode_taken(
        &mut self,
        page: &UrlKey,
        links: &TakenLinks,
    ) -> io::Result<Vec<u8>> {
        for (number, link) in links.urls.iter().enumerate() {
            self.line("", page, link, links.texts.get(number));
        }
        self.pack()
    }

    /// The stored form of URLs that `page` names, in their order.
    ///
    /// # Errors
    /// None is known: the bytes go to memory.
    pub(super) fn encode(&mut self, page: &UrlKey, links: &[UrlKey]) -> io::Result<Vec<u8>> {
        for link in links {
            self.line("", page, link, "");
        }
        self.pack()
    }

    /// The stored form of the versions of `page` in other languages, in their order.
    ///
    /// # Errors
    /// None is known: the bytes go to memory.
    pub(super) fn encode_versions(
        &mut self,
        page: &UrlKey,
        versions: &[LanguageVersion],
    ) -> io::Result<Vec<u8>> {
        for version in versions {
            let code = [&version.hreflang, " "].concat();
            self.line(&code, page, &version.target, "");
        }
        self.pack()
    }

    fn line(&mut self, before: &str, page: &UrlKey, link: &UrlKey, text: &str) {
        let url = link.as_str();
        let short = url
            .strip_prefix(origin(page))
            .filter(|rest| rest.starts_with('/'))
            .unwrap_or(url);
        self.lines.extend_from_slice(before.as_bytes());
        self.lines.extend_from_slice(short.as_bytes());
        if !text.is_empty() {
            self.lines.push(BEFORE_TEXT);
            self.lines.extend_from_slice(text.as_bytes());
        }
        self.lines.push(b'\n');
    }

    fn pack(&mut self) -> io::Result<Vec<u8>> {
        self.zlib.write_all(&self.lines)?;
        self.lines.clear();
        self.zlib.reset(Vec::new())
    }
}

/// The links of a page as they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredLinks {
    /// Origin of the page.
    origin: String,
    /// The bytes that [`Encoder::encode`] made; empty: there are none.
    packed: Vec<u8>,
}

/// Unpacks the links of one page after the other in the same memory.
#[derive(Debug, Default)]
pub struct LinkReader {
    zlib: Option<ZlibDecoder<Cursor<Vec<u8>>>>,
    text: String,
}

impl StoredLinks {
    /// The links of `page`, of which `packed` is stored.
    pub(super) fn new(page: &UrlKey, packed: &[u8]) -> Self {
        Self {
            origin: origin(page).to_owned(),
            packed: packed.to_owned(),
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.origin.len() + self.packed.len()
    }
}

impl LinkReader {
    /// Links among `links`, in order, whose fingerprints are `wanted`.
    ///
    /// # Errors
    /// The links cannot be unpacked, or one of these is not a URL: the state is damaged.
    pub fn keys_where(
        &mut self,
        links: StoredLinks,
        wanted: impl FnMut(u64) -> bool,
    ) -> Result<Vec<UrlKey>, StoreError> {
        let mut keys = Vec::new();
        self.each_where(links, wanted, |key, _| keys.push(key))?;
        Ok(keys)
    }

    /// Shows the same links with their texts.
    ///
    /// # Errors
    /// As [`Self::keys_where`].
    pub fn each_where(
        &mut self,
        links: StoredLinks,
        wanted: impl FnMut(u64) -> bool,
        show: impl FnMut(UrlKey, &str),
    ) -> Result<(), StoreError> {
        self.decode(links, wanted, show).map_err(|error| {
            let message = "the links of a page in the state are damaged";
            StoreError::new(StoreErrorKind::Corrupt, message).with_source(error)
        })
    }

    fn decode(
        &mut self,
        StoredLinks { mut origin, packed }: StoredLinks,
        mut wanted: impl FnMut(u64) -> bool,
        mut show: impl FnMut(UrlKey, &str),
    ) -> Result<(), DecodeError> {
        if packed.is_empty() {
            return Ok(());
        }
        let packed = Cursor::new(packed);
        let zlib = match &mut self.zlib {
            Some(zlib) => {
                zlib.reset(packed);
                zlib
            }
            none => none.insert(ZlibDecoder::new(packed)),
        };
        self.text.clear();
        zlib.read_to_string(&mut self.text)?;
        let origin_end = origin.len();
        for line in lines(&self.text) {
            let end = memchr::memchr(BEFORE_TEXT, line.as_bytes()).unwrap_or(line.len());
            let (short, text) = line.split_at(end);
            let url = if short.starts_with('/') {
                origin.truncate(origin_end);
                origin.push_str(short);
                &origin
            } else {
                short
            };
            if wanted(UrlKey::fingerprint_of(url)) {
                show(decode_url(url)?, text.get(1..).unwrap_or_default());
            }
        }
        Ok(())
    }
}

/// The URLs that [`Encoder::encode`] stored for `page`.
pub(super) fn decode(page: &UrlKey, bytes: &[u8]) -> Result<Vec<UrlKey>, DecodeError> {
    let text = unpack(bytes)?;
    lines(&text).map(|line| decode_line(page, line)).collect()
}

/// The versions of `page` that [`Encoder::encode_versions`] stored.
pub(super) fn decode_versions(
    page: &UrlKey,
    bytes: &[u8],
) -> Result<Vec<LanguageVersion>, DecodeError> {
    let text = unpack(bytes)?;
    let decode_version = |line: &str| {
        // A code may hold spaces, a URL none.
        let (code, link) = line.rsplit_once(' ').ok_or_else(|| DecodeError::NoCode {
            line: line.to_owned(),
        })?;
        Ok(LanguageVersion {
            hreflang: code.to_owned(),
            target: decode_line(page, link)?,
        })
    };
    lines(&text).map(decode_version).collect()
}

fn unpack(bytes: &[u8]) -> Result<String, DecodeError> {
    let mut text = String::new();
    if bytes.is_empty() {
        return Ok(text);
    }
    ZlibDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n')
}

fn decode_line(page: &UrlKey, line: &str) -> Result<UrlKey, DecodeError> {
    if line.starts_with('/') {
        decode_url(&[origin(page), line].concat())
    } else {
        decode_url(line)
    }
}

fn decode_url(url: &str) -> Result<UrlKey, DecodeError> {
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

    fn check(page: &str, links: &[&str], stored: &str) {
        let page = key(page);
        let links: Vec<_> = links.iter().map(|link| key(link)).collect();
        let mut encoder = Encoder::new();
        let mut reader = LinkReader::default();
        for _ in 0..2 {
            let bytes = encoder.encode(&page, &links).unwrap();
            let mut text = String::new();
            ZlibDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
            assert_eq!(text, stored);
            assert_eq!(decode(&page, &bytes).unwrap(), links);
            let stored = StoredLinks::new(&page, &bytes);
            let all = reader.keys_where(stored.clone(), |_| true);
            assert_eq!(all.unwrap(), links);
            let is_last = |print| links.last().is_some_and(|last| last.fingerprint() == print);
            let last = links.last().cloned();
            assert_eq!(
                reader.keys_where(stored, is_last).unwrap(),
                Vec::from_iter(last)
            );
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
    fn texts_come_back_with_their_links() {
        let page = key("https://example.com/");
        let mut links = TakenLinks::default();
        links.push(key("https://example.com/a"), "First \t one");
        links.push(key("https://other.example/"), "");
        links.push(key("https://example.com/b"), "Zweite für Ä");
        let bytes = Encoder::new().encode_taken(&page, &links).unwrap();
        assert_eq!(
            unpack(&bytes).unwrap(),
            "/a\tFirst one\nhttps://other.example/\n/b\tZweite für Ä\n"
        );
        let mut read = TakenLinks::default();
        let stored = StoredLinks::new(&page, &bytes);
        let mut reader = LinkReader::default();
        let shown = reader.each_where(stored.clone(), |_| true, |key, text| read.push(key, text));
        shown.unwrap();
        assert_eq!(read, links);
        assert_eq!(reader.keys_where(stored, |_| true).unwrap(), links.urls);
    }

    #[test]
    fn versions_come_back_in_their_order() {
        let page = key("https://example.com/en/");
        let versions: Vec<_> = [
            ("en", "https://example.com/en/"),
            ("", "https://example.com/"),
            ("zh hant  tw", "https://example.tw/"),
        ]
        .map(|(code, target)| LanguageVersion::new(code, key(target)))
        .into();
        let bytes = Encoder::new().encode_versions(&page, &versions).unwrap();
        assert_eq!(
            unpack(&bytes).unwrap(),
            "en /en/\n /\nzh hant  tw https://example.tw/\n"
        );
        assert_eq!(decode_versions(&page, &bytes).unwrap(), versions);
        let links = Encoder::new()
            .encode(&page, std::slice::from_ref(&page))
            .unwrap();
        assert!(matches!(
            decode_versions(&page, &links),
            Err(DecodeError::NoCode { .. })
        ));
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
        let mut reader = LinkReader::default();
        let mut read = |bytes| reader.keys_where(StoredLinks::new(&page, bytes), |_| true);
        assert_eq!(read(most).unwrap_err().kind(), StoreErrorKind::Corrupt);
        assert_eq!(read(&bytes).unwrap(), [key("https://example.com/a")]);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        zlib.write_all(b"a\n").unwrap();
        assert!(matches!(
            decode(&page, &zlib.finish().unwrap()),
            Err(DecodeError::Line { .. })
        ));
    }
}
