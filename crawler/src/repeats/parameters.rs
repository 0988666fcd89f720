//! Parameters whose pages are copies of the page without them: such a parameter is left out of URLs. Every twentieth URL with it is
//! asked for all the same, and one page that has another text brings the parameter back.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::BuildHasherDefault,
};

use xxhash_rust::xxh3::xxh3_64;

use super::places;
use crate::url_key::{FingerprintHasher, UrlKey};

/// Copies to the letter, each with another value, after which a parameter is left out, if all pages with it were copies.
const COPIES: usize = 10;

/// The last pages with a parameter, of which [`NEAR_COPIES`] have to be nearly the page without it, on [`PATHS`] paths.
const LAST: u32 = 20;

/// See [`LAST`]: `?replytocom=` and `?print=` differ on a page now and then.
const NEAR_COPIES: u32 = 18;

/// See [`LAST`]: `?tab=` of one page is no pattern of a site.
const PATHS: usize = 5;

/// One URL in so many with a parameter that is left out is asked for.
const SAMPLE: u64 = 20;

/// Parameters that are watched at most.
const MAX_PARAMETERS: usize = 4_096;

/// Memory of the text of a page, with the free places of the table.
const TEXT_BYTES: usize = 32;

/// The data on copies.
#[derive(Debug)]
pub(super) struct Parameters {
    /// Hash of the text of each URL that was read and can be listed.
    texts: HashMap<u64, u64, BuildHasherDefault<FingerprintHasher>>,
    max_texts: usize,
    known: BTreeMap<String, Parameter>,
    has_left_out: bool,
}

/// The data on a parameter.
#[derive(Debug, Default)]
struct Parameter {
    /// Values of copies, as hashes; the first [`COPIES`].
    values: HashSet<u64>,
    /// A page with it differed from the one without it.
    differs: bool,
    /// The last [`LAST`] pages with it that were compared, the newest in the lowest bit: those that were nearly the same.
    near: u32,
    compared: u32,
    /// Paths of pages that were nearly the same, as hashes; the first [`PATHS`].
    paths: HashSet<u64>,
    use_of: Use,
}

/// The part of a parameter in URLs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Use {
    #[default]
    Unknown,
    /// The pages are copies.
    LeftOut,
    /// A page with it has another text, or leads on.
    Content,
}

/// A page that was read, compared with the page without one of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    /// To the letter.
    pub(super) is_same: bool,
    /// Four fifths of its text.
    pub(super) is_near: bool,
    /// The page has text that no page had before, or it led to a URL that was unknown and has not this parameter.
    pub(super) is_content: bool,
}

impl Parameters {
    /// Nothing is known, and about so many bytes are taken.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            texts: HashMap::default(),
            max_texts: max_bytes / TEXT_BYTES,
            known: BTreeMap::new(),
            has_left_out: false,
        }
    }

    /// Takes a parameter that the last crawl left out, as `?name=`.
    pub(super) fn remember(&mut self, name: &str) {
        let name = name.trim_start_matches('?').trim_end_matches('=');
        self.known.entry(name.to_owned()).or_default().use_of = Use::LeftOut;
        self.has_left_out = true;
    }

    /// The URL without the parameters that are left out; `None`: it has none of them, or is one of those that are asked for.
    pub(super) fn copy_of(&self, url: &UrlKey) -> Option<UrlKey> {
        if !self.has_left_out || url.fingerprint().is_multiple_of(SAMPLE) {
            return None;
        }
        self.without_left_out(url)
    }

    /// The same, also for those that are asked for.
    pub(super) fn without_left_out(&self, url: &UrlKey) -> Option<UrlKey> {
        if !self.has_left_out {
            return None;
        }
        places::without(url, |name| {
            let parameter = self.known.get(name);
            parameter.is_some_and(|parameter| parameter.use_of == Use::LeftOut)
        })
    }

    /// The name of the first parameter of `url` that is left out, as `?name=`.
    pub(super) fn left_out_of(&self, url: &UrlKey) -> Option<String> {
        let names = places::parameters(url).into_iter();
        let mut left_out = names.filter(|name| {
            let parameter = self.known.get(*name);
            parameter.is_some_and(|parameter| parameter.use_of == Use::LeftOut)
        });
        left_out.next().map(|name| format!("?{name}="))
    }

    /// Returns whether `url` was read as a page that can be listed.
    pub(super) fn was_read(&self, url: &UrlKey) -> bool {
        self.texts.contains_key(&url.fingerprint())
    }

    /// The hash of the text of the page at `url`, which was read and can be listed.
    pub(super) fn text_of(&self, url: &UrlKey) -> Option<u64> {
        self.texts.get(&url.fingerprint()).copied()
    }

    /// Returns whether the page at `url` has this text, to the letter.
    pub(super) fn has_text(&self, url: &UrlKey, whole: u64) -> bool {
        self.text_of(url) == Some(whole)
    }

    /// Takes the hash of the text of a page that was read and can be listed.
    pub(super) fn read(&mut self, url: &UrlKey, whole: u64) {
        if self.texts.len() < self.max_texts {
            self.texts.insert(url.fingerprint(), whole);
        }
    }

    /// Compares a page that was read, with the hash of its text. `compare` compares it with the page without the parameter of a name, whose
    /// URL and text hash it gets.
    pub(super) fn add_page(
        &mut self,
        url: &UrlKey,
        whole: u64,
        compare: impl Fn(&str, &UrlKey, bool) -> Compared,
    ) {
        for name in places::parameters(url).into_iter().filter(|_| whole != 0) {
            let shorter = places::without(url, |other| other == name);
            let known = shorter.as_ref().and_then(|shorter| {
                let text = self.texts.get(&shorter.fingerprint())?;
                Some((shorter, *text))
            });
            let Some((shorter, text)) = known else {
                continue;
            };
            if self.known.len() >= MAX_PARAMETERS && !self.known.contains_key(name) {
                continue;
            }
            let compared = compare(name, shorter, text == whole);
            let parameter = self.known.entry(name.to_owned()).or_default();
            let value = xxh3_64(places::value_of(url, name).as_bytes());
            parameter.take(compared, xxh3_64(url.path().as_bytes()), value);
            self.has_left_out |= parameter.use_of == Use::LeftOut;
        }
    }
}

impl Parameter {
    /// Takes a page with it on a path.
    fn take(&mut self, compared: Compared, path: u64, value: u64) {
        self.compared = self.compared.saturating_add(1);
        self.differs |= !compared.is_same;
        self.near = (self.near << 1 | u32::from(compared.is_near)) & ((1 << LAST) - 1);
        if compared.is_content {
            self.use_of = Use::Content;
        }
        if compared.is_same && self.values.len() < COPIES {
            self.values.insert(value);
        }
        if compared.is_near && self.paths.len() < PATHS {
            self.paths.insert(path);
        }
        let are_copies = !self.differs && self.values.len() >= COPIES;
        let are_near = self.paths.len() >= PATHS
            && self.compared >= LAST
            && self.near.count_ones() >= NEAR_COPIES;
        if self.use_of == Use::Unknown && (are_copies || are_near) {
            self.use_of = Use::LeftOut;
        }
    }
}
