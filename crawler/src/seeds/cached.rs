//! Sitemaps that need not be fetched again (R43): the site's own index states when each of its files changed,
//! so a file that did not change is read from the copy that an earlier session kept. An index can be wrong, so a
//! copy is used for a limited time, and a copy that may be older than its file is not used.
//!
//! The list of copies is here; their bytes are in the store.

use std::{
    collections::HashMap,
    io::{self, BufRead, Read, Write},
    time::Duration,
};

use flate2::{Compression, bufread::ZlibDecoder, write::ZlibEncoder};
use jiff::Timestamp;
use sitemap_core::IndexEntry;

use super::MAX_DOCUMENTS;
use crate::{
    store::{CachedNote, CachedSitemap, Store, StoreError},
    url_key::UrlKey,
};

/// The most bytes of one copy, packed: a sitemap of 50,000 URLs takes about a tenth of that, and a copy is
/// whole in memory while it is stored or read.
pub const MAX_CACHED_BYTES: usize = 4 * 1024 * 1024;

/// The most bytes of all copies of a site: what a state of half a million pages takes on the disk anyway.
/// Sitemaps that find no room are fetched.
pub const MAX_CACHED_BYTES_IN_ALL: u64 = 256 * 1024 * 1024;

/// How long a copy is trusted: many a generator never moves the dates of an index. What such an index hides
/// is found after a week.
pub const CACHE_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A sitemap that changed this long before it was read may have changed once more since, under the same
/// date: a date without a time is one of a zone that nobody names, up to 12 hours behind UTC. Clocks
/// differ by less.
pub const CACHE_MARGIN: Duration = Duration::from_secs(12 * 60 * 60);

/// Bytes that are packed at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// The fastest level: URLs have long beginnings in common, and a higher one gains little.
const LEVEL: u32 = 1;

/// The copies that the store has, without their bytes.
#[derive(Debug, Default)]
pub struct CachedSitemaps {
    notes: HashMap<UrlKey, CachedNote>,
    bytes: u64,
}

impl CachedSitemaps {
    /// The copies in the store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let mut kept = Self::default();
        store.each_sitemap(&mut |url, note| {
            kept.bytes += note.bytes;
            kept.notes.insert(url.clone(), note);
        })?;
        Ok(kept)
    }

    /// Returns whether the copy of `url` is current by the `entry` of an index. An entry
    /// without a date, or with one that has no day, is not evidence.
    pub fn serves(&self, url: &UrlKey, entry: &IndexEntry, now: Timestamp) -> bool {
        let (Some(note), Some(lastmod)) = (self.current(url, now), &entry.lastmod) else {
            return false;
        };
        // A date that went back was moved by somebody, too.
        note.lastmod == lastmod.as_str()
            && note
                .read_at
                .checked_sub(CACHE_MARGIN)
                .is_ok_and(|since| !entry.changed_since(since))
    }

    /// Returns whether there is a copy of `url` that is young enough at `now`.
    pub fn is_current(&self, url: &UrlKey, now: Timestamp) -> bool {
        self.current(url, now).is_some()
    }

    fn current(&self, url: &UrlKey, now: Timestamp) -> Option<&CachedNote> {
        self.notes.get(url).filter(|note| is_young(note, now))
    }

    /// Takes note of a copy in the place of an older one; `false` when there is no room for it, and nothing
    /// changes.
    pub fn add(&mut self, url: &UrlKey, document: &CachedSitemap) -> bool {
        let note = document.note();
        let older = self.notes.get(url).map(|older| older.bytes);
        let others = self.bytes - older.unwrap_or(0);
        let is_one_too_many = older.is_none() && self.notes.len() >= MAX_DOCUMENTS;
        if is_one_too_many || others + note.bytes > MAX_CACHED_BYTES_IN_ALL {
            return false;
        }
        self.bytes = others + note.bytes;
        self.notes.insert(url.clone(), note);
        true
    }

    /// Forgets the copy of `url`; whether there was one.
    pub fn remove(&mut self, url: &UrlKey) -> bool {
        let removed = self.notes.remove(url);
        self.bytes -= removed.as_ref().map_or(0, |note| note.bytes);
        removed.is_some()
    }

    /// Forgets the copies that are of no more use, and returns their documents: those that
    /// nothing names (`is_named`). Where `all_were_read` is not set, something that may name them could not be read, and
    /// only those that are too old go as well.
    pub fn retire(
        &mut self,
        now: Timestamp,
        all_were_read: bool,
        is_named: impl Fn(&UrlKey) -> bool,
    ) -> Vec<UrlKey> {
        let is_of_use = |url: &UrlKey, note: &CachedNote| {
            is_named(url) || !all_were_read && is_young(note, now)
        };
        let retired: Vec<UrlKey> = self
            .notes
            .iter()
            .filter(|(url, note)| !is_of_use(url, note))
            .map(|(url, _)| url.clone())
            .collect();
        for url in &retired {
            self.remove(url);
        }
        retired
    }
}

/// A copy from the future was made under a clock that nobody should rely on.
fn is_young(note: &CachedNote, now: Timestamp) -> bool {
    let age = now.duration_since(note.read_at);
    !age.is_negative() && age.unsigned_abs() < CACHE_LIFETIME
}

/// The bytes of a document as they are kept; `None` when they take more than [`MAX_CACHED_BYTES`].
///
/// ```
/// use std::io::Read;
///
/// use crawler::seeds::{pack, unpack};
///
/// let packed = pack(&b"<urlset></urlset>"[..])?.expect("it is small");
/// let mut text = String::new();
/// unpack(&packed[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "<urlset></urlset>");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The body cannot be read.
pub fn pack(mut body: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let length = match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        zlib.write_all(&chunk[..length])?;
        if zlib.get_ref().len() > MAX_CACHED_BYTES {
            return Ok(None);
        }
    }
    let packed = zlib.finish()?;
    Ok((packed.len() <= MAX_CACHED_BYTES).then_some(packed))
}

/// The argument of [`pack`]; reading it fails where the bytes are damaged.
pub fn unpack(packed: impl BufRead) -> impl Read {
    ZlibDecoder::new(packed)
}

#[cfg(test)]
mod tests {
    use sitemap_core::{LastMod, Loc};

    use super::*;

    const URL: &str = "https://example.com/a.xml";

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn url(text: &str) -> UrlKey {
        UrlKey::from_normalised(text).unwrap()
    }

    fn document(lastmod: &str, read_at: &str, bytes: usize) -> CachedSitemap {
        CachedSitemap {
            lastmod: lastmod.to_owned(),
            read_at: time(read_at),
            sha256: String::new(),
            body: vec![0; bytes],
        }
    }

    #[test]
    fn a_copy_is_used_for_a_week() {
        #[track_caller]
        fn check(noted: &str, stated: Option<&str>, now: &str, expected: bool) {
            let mut kept = CachedSitemaps::default();
            assert!(kept.add(&url(URL), &document(noted, "2026-03-10T12:00:00Z", 9)));
            let mut entry = IndexEntry::new(Loc::parse(URL).unwrap());
            entry.lastmod = stated.map(|text| LastMod::parse(text).unwrap());
            let serves = kept.serves(&url(URL), &entry, time(now));
            assert_eq!(serves, expected, "{noted}, {stated:?}, {now}");
        }
        let next_day = "2026-03-11T12:00:00Z";
        check("2026-03-01", Some("2026-03-01"), next_day, true);
        check("2026-03-01", Some("2026-03-02"), next_day, false);
        check("2026-03-01", Some("2026-02-27"), next_day, false);
        check("2026-03-01", None, next_day, false);
        // It may have changed later on the day it was read, or on the evening before, west of UTC.
        check("2026-03-10", Some("2026-03-10"), next_day, false);
        check("2026-03-09", Some("2026-03-09"), next_day, true);
        let (last, first) = ("2026-03-09T23:59:59Z", "2026-03-10T00:00:00Z");
        check(last, Some(last), next_day, true);
        check(first, Some(first), next_day, false);
        let tomorrow = "2026-03-12";
        check(tomorrow, Some(tomorrow), "2026-03-16T00:00:00Z", false);
        // Too old, or made under a wrong clock.
        let stated = Some("2026-03-01");
        check("2026-03-01", stated, "2026-03-17T11:59:59Z", true);
        check("2026-03-01", stated, "2026-03-17T12:00:00Z", false);
        check("2026-03-01", stated, "2026-03-10T11:59:59Z", false);
    }

    #[test]
    fn there_is_a_bound_for_all_copies_together() {
        let mut kept = CachedSitemaps::default();
        let step = u64::try_from(MAX_CACHED_BYTES).unwrap();
        let copy = document("2026-03-01", "2026-03-10T12:00:00Z", MAX_CACHED_BYTES);
        let names = |number: u64| url(&format!("https://example.com/{number}.xml"));
        let room = MAX_CACHED_BYTES_IN_ALL / step;
        for number in 0..room {
            assert!(kept.add(&names(number), &copy), "{number}");
        }
        let small = document("2026-03-01", "2026-03-10T12:00:00Z", 1);
        assert!(!kept.add(&names(room), &small));
        assert!(!kept.is_current(&names(room), time("2026-03-10T12:00:00Z")));
        // One in the place of an older one needs its room only.
        assert!(kept.add(&names(0), &copy));
        assert!(kept.add(&names(0), &small));
        assert!(kept.add(&names(room), &small));
        assert!(kept.remove(&names(1)) && !kept.remove(&names(1)));
        assert!(kept.add(&names(1), &copy));
        assert!(!kept.add(&names(0), &copy), "a byte is missing");
        assert!(kept.remove(&names(room)));
        assert!(kept.add(&names(0), &copy));
    }

    #[test]
    fn unnamed_files_are_retired() {
        let mut kept = CachedSitemaps::default();
        let [old, young, named] =
            ["old", "young", "named"].map(|name| url(&format!("https://example.com/{name}.xml")));
        for (url, read_at) in [(&old, 1), (&young, 9), (&named, 1)] {
            let read_at = format!("2026-03-{read_at:02}T00:00:00Z");
            assert!(kept.add(url, &document("2026-02-01", &read_at, 5)));
        }
        let now = time("2026-03-10T00:00:00Z");
        let retired = kept.retire(now, false, |url| *url == named);
        assert_eq!(retired, [old]);
        let retired = kept.retire(now, true, |url| *url == named);
        assert_eq!(retired, [young]);
        assert_eq!(kept.retire(now, true, |url| *url == named), []);
        assert_eq!(kept.bytes, 5);
    }

    #[test]
    fn incompressible_copies_are_not_stored() {
        let mut state = 1_u64;
        let noise = |bytes: usize, state: &mut u64| -> Vec<u8> {
            let next = |_| {
                *state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
                (*state >> 56) as u8
            };
            (0..bytes).map(next).collect()
        };
        assert_eq!(
            pack(&noise(MAX_CACHED_BYTES, &mut state)[..]).unwrap(),
            None
        );
        let text = b"<url><loc>https://example.com/a</loc></url>".repeat(500_000);
        let packed = pack(&text[..]).unwrap().expect("it packs well");
        let mut unpacked = Vec::new();
        unpack(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == text);
        let cut = &packed[..packed.len() - 3];
        unpack(cut).read_to_end(&mut Vec::new()).unwrap_err();
    }
}
