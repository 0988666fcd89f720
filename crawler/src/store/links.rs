//! The stored form of the links of a page: one URL per line, those on the page's own origin from their
//! path on, each with its text, compressed with zlib. Neighbours have long beginnings in common, so that a list takes a
//! fifth of its text or less. A link that the caller knows by its fingerprint is skipped before its URL is made.

use std::io::{Cursor, Read as _};

use flate2::bufread::ZlibDecoder;

use super::{
    StoreError, StoreErrorKind,
    lists::{DecodeError, decode_url, lines, pack_lines},
    ranges::origin,
};
use crate::{page::TakenLinks, url_key::UrlKey};

/// Separator before the text of a link; no URL contains it.
const BEFORE_TEXT: u8 = b'\t';

/// The stored form of the links that were taken from `page`, in their order.
pub(super) fn pack_taken(page: &UrlKey, links: &TakenLinks) -> Vec<u8> {
    let origin = origin(page);
    pack_lines(|lines| {
        for (number, link) in links.urls.iter().enumerate() {
            let url = link.as_str();
            let short = url.strip_prefix(origin);
            let short = short.filter(|rest| rest.starts_with('/'));
            lines.extend_from_slice(short.unwrap_or(url).as_bytes());
            let text = links.texts.get(number);
            if !text.is_empty() {
                lines.push(BEFORE_TEXT);
                lines.extend_from_slice(text.as_bytes());
            }
            lines.push(b'\n');
        }
    })
}

/// The links of a page as they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredLinks {
    /// Origin of the page.
    origin: String,
    /// The bytes that [`pack_taken`] made; empty: there are none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::lists::text_of;

    fn key(text: &str) -> UrlKey {
        UrlKey::from_normalised(text).unwrap()
    }

    fn check(page: &str, links: &[&str], stored: &str) {
        let page = key(page);
        let links: Vec<_> = links.iter().map(|link| key(link)).collect();
        let mut reader = LinkReader::default();
        for _ in 0..2 {
            let bytes = pack_taken(&page, &links.clone().into());
            assert_eq!(text_of(&bytes).unwrap(), stored);
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
        let bytes = pack_taken(&page, &links);
        assert_eq!(
            text_of(&bytes).unwrap(),
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
    fn other_bytes_are_refused() {
        let page = key("https://example.com/");
        let bytes = pack_taken(&page, &vec![key("https://example.com/a")].into());
        let (most, _) = bytes.split_at(bytes.len() - 1);
        let mut reader = LinkReader::default();
        let mut read = |bytes| reader.keys_where(StoredLinks::new(&page, bytes), |_| true);
        assert_eq!(read(most).unwrap_err().kind(), StoreErrorKind::Corrupt);
        assert_eq!(read(&bytes).unwrap(), [key("https://example.com/a")]);
    }
}
