//! Parameters that only make copies, such as session ids and tracking parameters: a page that is the same for
//! each of their values is asked for once, without them. On servers that ignore case, capitals in paths make copies in the same way:
//! a page that was read under one spelling is not asked for under another one.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::BuildHasherDefault,
};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    PatternChanges,
    places::{CAPITALS, UrlPlaces, in_small_letters},
};
use crate::{
    page::{ClosedPattern, PageText, PatternKind},
    url_key::{FingerprintHasher, UrlKey},
};

/// Copies, each with another value, after which a parameter is left out, if each page with it was one.
const COPIES: u32 = 10;

/// URLs with a parameter that an earlier crawl left out, and that are asked for all the same.
const SAMPLES: u32 = 5;

/// Parameters that are watched at most.
const MAX_PARAMETERS: usize = 4_096;

/// Memory of the text of a page, with the free places of the table.
const TEXT_BYTES: usize = 32;

/// The data on copies.
#[derive(Debug)]
pub(super) struct CopyingParameters {
    /// Hash of the text of each URL, and of each URL without one of its parameters.
    texts: HashMap<u64, u64, BuildHasherDefault<FingerprintHasher>>,
    max_texts: usize,
    parameters: BTreeMap<String, Parameter>,
    /// Capitals in paths, as if they were a parameter whose value is the spelling.
    capitals: Parameter,
}

/// The data on a parameter.
#[derive(Debug, Default)]
struct Parameter {
    /// Values of copies, as hashes; the first [`COPIES`].
    values: HashSet<u64>,
    /// A page with it differed from one without it, or with another value.
    differs: bool,
    is_left_out: bool,
    /// URLs with it that are asked for all the same.
    samples: u32,
}

/// What a page changes for a parameter.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// It only makes copies.
    Closed,
    /// It makes other pages, too.
    Opened,
}

impl CopyingParameters {
    /// Nothing is known, and about so many bytes are taken.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            texts: HashMap::default(),
            max_texts: max_bytes / TEXT_BYTES,
            parameters: BTreeMap::new(),
            capitals: Parameter::default(),
        }
    }

    /// A parameter that an earlier session left out, or an earlier crawl. One page that differs brings it back.
    pub(super) fn remember(&mut self, closed: &ClosedPattern, is_earlier_crawl: bool) {
        let parameter = if closed.kind == PatternKind::Capitals {
            &mut self.capitals
        } else {
            let name = closed.name.trim_start_matches('?').trim_end_matches('=');
            self.parameters.entry(name.to_owned()).or_default()
        };
        parameter.is_left_out = true;
        parameter.samples = if is_earlier_crawl { SAMPLES } else { 0 };
    }

    /// The URL without the parameters that are left out; `None`: it has none of them.
    pub(super) fn without_copies(&mut self, url: &UrlKey) -> Option<UrlKey> {
        if self.parameters.is_empty() {
            return None;
        }
        without(url, |name| {
            let parameter = self.parameters.get_mut(name);
            parameter.is_some_and(|parameter| {
                let is_sample = parameter.samples > 0;
                parameter.samples = parameter.samples.saturating_sub(1);
                parameter.is_left_out && !is_sample
            })
        })
    }

    /// The same, once all samples were asked for.
    pub(super) fn copy_of(&self, url: &UrlKey) -> Option<UrlKey> {
        if self.parameters.is_empty() {
            return None;
        }
        without(url, |name| {
            let parameter = self.parameters.get(name);
            parameter.is_some_and(|parameter| parameter.is_left_out && parameter.samples == 0)
        })
    }

    /// Returns whether capitals in paths only make copies, and `url` has some and was read under another spelling.
    pub(super) fn is_other_spelling(&self, url: &UrlKey) -> bool {
        self.capitals.is_left_out
            && self.capitals.samples == 0
            && in_small_letters(url)
                .is_some_and(|small| self.texts.contains_key(&small.fingerprint()))
    }

    /// Takes a page that was read; gives the parameters that are left out from now on, or that are not any more.
    pub(super) fn take(
        &mut self,
        url: &UrlKey,
        places: &UrlPlaces,
        text: &PageText,
    ) -> PatternChanges {
        let mut changes = PatternChanges::default();
        if text.settled == 0 {
            return changes;
        }
        for name in &places.parameters {
            let Some(shorter) = without(url, |other| other == name) else {
                continue;
            };
            let Some(known) = self.note(&shorter, text.settled) else {
                continue;
            };
            if self.parameters.len() >= MAX_PARAMETERS && !self.parameters.contains_key(name) {
                continue;
            }
            let parameter = self.parameters.entry(name.clone()).or_default();
            let change = parameter.take(known == text.settled, || value_of(url, name));
            let pattern = (PatternKind::Copies, format!("?{name}="));
            add(change, pattern, url, &mut changes);
        }
        if let Some(small) = in_small_letters(url) {
            self.capitals.samples = self.capitals.samples.saturating_sub(1);
            if let Some(known) = self.note(&small, text.settled) {
                let spelling = || xxh3_64(url.path().as_bytes());
                let change = self.capitals.take(known == text.settled, spelling);
                let pattern = (PatternKind::Capitals, CAPITALS.to_owned());
                add(change, pattern, url, &mut changes);
            }
        }
        self.note(url, text.settled);
        changes
    }

    /// The text that is known of `url`, which is `text` if there was none.
    fn note(&mut self, url: &UrlKey, text: u64) -> Option<u64> {
        let key = url.fingerprint();
        let known = self.texts.get(&key).copied();
        if known.is_none() && self.texts.len() < self.max_texts {
            self.texts.insert(key, text);
        }
        known
    }
}

impl Parameter {
    /// Takes a page with it, which is a copy of the page without it, or differs from that; `value` is its value there.
    fn take(&mut self, is_copy: bool, value: impl FnOnce() -> u64) -> Option<Change> {
        if !is_copy {
            self.differs = true;
            return std::mem::take(&mut self.is_left_out).then_some(Change::Opened);
        }
        if self.differs || self.is_left_out {
            return None;
        }
        self.values.insert(value());
        if self.values.len() < COPIES as usize {
            return None;
        }
        self.values = HashSet::new();
        self.is_left_out = true;
        Some(Change::Closed)
    }
}

/// Adds what changed for a pattern; `url` is the page that changed it.
fn add(
    change: Option<Change>,
    (kind, name): (PatternKind, String),
    url: &UrlKey,
    changes: &mut PatternChanges,
) {
    match change {
        Some(Change::Opened) => changes.opened.push(name),
        Some(Change::Closed) => changes.closed.push(ClosedPattern {
            kind,
            name,
            pages: COPIES,
            new: 0,
            example: url.clone(),
        }),
        None => {}
    }
}

/// The URL without the parameters that are `left_out`; `None`: it has none of them.
pub(super) fn without(url: &UrlKey, mut left_out: impl FnMut(&str) -> bool) -> Option<UrlKey> {
    let (before, query) = url.as_str().split_once('?')?;
    let mut text = before.to_owned();
    let mut is_shorter = false;
    let mut separator = '?';
    for parameter in query.split('&') {
        let name = parameter.split_once('=').map_or("", |(name, _)| name);
        if left_out(name) {
            is_shorter = true;
            continue;
        }
        text.push(separator);
        text.push_str(parameter);
        separator = '&';
    }
    is_shorter
        .then(|| UrlKey::from_normalised(&text).ok())
        .flatten()
}

fn value_of(url: &UrlKey, name: &str) -> u64 {
    let query = url.path_and_query().split_once('?');
    let mut parameters = query.map_or("", |(_, query)| query).split('&');
    let value = parameters.find_map(|parameter| match parameter.split_once('=') {
        Some((other, value)) => (other == name).then_some(value),
        None => name.is_empty().then_some(parameter),
    });
    xxh3_64(value.unwrap_or_default().as_bytes())
}
