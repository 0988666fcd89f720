//! Parameters that only ever make copies, such as session ids and marks of where a visitor came from: a page that is the same for
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
    /// By the names of their patterns.
    parameters: BTreeMap<String, Parameter>,
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

impl CopyingParameters {
    /// Nothing is known, and about so many bytes are taken.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            texts: HashMap::default(),
            max_texts: max_bytes / TEXT_BYTES,
            parameters: BTreeMap::new(),
        }
    }

    /// A parameter that an earlier session left out, or an earlier crawl. One page that differs brings it back.
    pub(super) fn remember(&mut self, name: &str, is_earlier_crawl: bool) {
        let parameter = self.parameters.entry(name.to_owned()).or_default();
        parameter.is_left_out = true;
        parameter.samples = if is_earlier_crawl { SAMPLES } else { 0 };
    }

    /// The URL without the parameters that are left out; `None`: it has none of them.
    pub(super) fn without_copies(&mut self, url: &UrlKey) -> Option<UrlKey> {
        if self.parameters.is_empty() {
            return None;
        }
        without(url, |name| {
            let parameter = self.parameters.get_mut(&pattern_of(name));
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
            let parameter = self.parameters.get(&pattern_of(name));
            parameter.is_some_and(|parameter| parameter.is_left_out && parameter.samples == 0)
        })
    }

    /// Whether `url` has capitals in its path, which only make copies, and the page was read under another spelling.
    pub(super) fn is_other_spelling(&self, url: &UrlKey) -> bool {
        let capitals = self.parameters.get(CAPITALS);
        capitals.is_some_and(|capitals| capitals.is_left_out && capitals.samples == 0)
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
            let shorter = without(url, |other| other == name);
            let value = value_of(url, name);
            self.count(url, shorter, pattern_of(name), value, text, &mut changes);
        }
        let small = in_small_letters(url);
        if let Some(capitals) = self
            .parameters
            .get_mut(CAPITALS)
            .filter(|_| small.is_some())
        {
            capitals.samples = capitals.samples.saturating_sub(1);
        }
        let spelling = xxh3_64(url.path().as_bytes());
        self.count(
            url,
            small,
            CAPITALS.to_owned(),
            spelling,
            text,
            &mut changes,
        );
        self.note(url.fingerprint(), text.settled);
        changes
    }

    /// Counts a page of a pattern, which has the same text as the URL `without` the parameter, or not.
    fn count(
        &mut self,
        url: &UrlKey,
        without: Option<UrlKey>,
        pattern: String,
        value: u64,
        text: &PageText,
        changes: &mut PatternChanges,
    ) {
        let known = without.and_then(|without| self.note(without.fingerprint(), text.settled));
        let is_known = self.parameters.contains_key(&pattern);
        let Some(known) = known.filter(|_| is_known || self.parameters.len() < MAX_PARAMETERS)
        else {
            return;
        };
        let parameter = self.parameters.entry(pattern.clone()).or_default();
        if known != text.settled {
            parameter.differs = true;
            if std::mem::take(&mut parameter.is_left_out) {
                changes.opened.push(pattern);
            }
        } else if !parameter.differs && !parameter.is_left_out {
            parameter.values.insert(value);
            if parameter.values.len() >= COPIES as usize {
                parameter.values = HashSet::new();
                parameter.is_left_out = true;
                changes.closed.push(ClosedPattern {
                    kind: PatternKind::Copies,
                    name: pattern,
                    pages: COPIES,
                    new: 0,
                    example: url.clone(),
                });
            }
        }
    }

    /// The text that is known of the URL `key`, which is `text` if there was none.
    fn note(&mut self, key: u64, text: u64) -> Option<u64> {
        let known = self.texts.get(&key).copied();
        if known.is_none() && self.texts.len() < self.max_texts {
            self.texts.insert(key, text);
        }
        known
    }
}

/// The name of the pattern of all URLs with a parameter.
fn pattern_of(parameter: &str) -> String {
    format!("?{parameter}=")
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
