//! Statements of pages that contradict themselves or another page: canonical links, versions in other languages, and noindex on pages
//! that other pages link to.

use std::collections::{HashMap, HashSet};

use super::{
    known::KnownReasons,
    rows::{ConflictKind, ConflictRow},
};
use crate::{
    page::{Canonical, Mark, PageFacts, PageRecord, Reason, State},
    url_key::UrlKey,
};

/// Pairs of pages that name each other as versions in other languages that are held, 16 bytes each or so; pages after them are
/// not looked at for links back.
const MAX_PAIRS: usize = 1 << 21;

/// Pairs of listed pages that name each other as versions in other languages.
#[derive(Debug, Default)]
pub(super) struct Versions {
    pairs: HashSet<u64>,
    is_full: bool,
}

impl Versions {
    /// Takes a page.
    pub(super) fn add_page(&mut self, url: &UrlKey, record: &PageRecord) {
        if record.reason.state() != State::Listed {
            return;
        }
        let versions = record.facts().and_then(|facts| facts.alternates.as_ref());
        for version in versions.into_iter().flatten() {
            self.is_full |= self.pairs.len() >= MAX_PAIRS;
            if !self.is_full {
                self.pairs
                    .insert(pair(url.fingerprint(), version.target.fingerprint()));
            }
        }
    }
}

/// Contents of listed pages that are compared, at most.
const MAX_CONTENTS: usize = 1_000_000;

/// The contents of listed pages that several pages have.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Halves of the hashes of the bodies; true: several pages have it.
    counted: HashMap<u64, bool>,
    /// The first page with each of those.
    first: HashMap<u64, UrlKey>,
}

impl Contents {
    /// Counts the content of a page.
    pub(super) fn add_page(&mut self, record: &PageRecord) {
        if let Some(half) = half_of_content(record) {
            if let Some(is_repeated) = self.counted.get_mut(&half) {
                *is_repeated = true;
            } else if self.counted.len() < MAX_CONTENTS {
                self.counted.insert(half, false);
            }
        }
    }

    /// The page that came first with the content of the page `url`, once all pages were counted; `None`: it is the first one.
    fn first_with(&mut self, url: &UrlKey, record: &PageRecord) -> Option<UrlKey> {
        let half = half_of_content(record)?;
        self.counted
            .get(&half)
            .filter(|is_repeated| **is_repeated)?;
        if let Some(first) = self.first.get(&half) {
            return Some(first.clone());
        }
        self.first.insert(half, url.clone());
        None
    }
}

/// Half of the hash of the body of a listed page.
fn half_of_content(record: &PageRecord) -> Option<u64> {
    let facts = record.facts().filter(|_| record.reason == Reason::Listed)?;
    facts.half_of_body_hash()
}

/// A pair in this order.
fn pair(from: u64, to: u64) -> u64 {
    (from.rotate_left(32) ^ to).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ from
}

/// Shows the conflicts of a page.
pub(super) fn each<E>(
    url: &UrlKey,
    record: &PageRecord,
    known: &KnownReasons,
    versions: &Versions,
    contents: &mut Contents,
    show: &mut dyn FnMut(ConflictRow) -> Result<(), E>,
) -> Result<(), E> {
    let Some(facts) = record.facts() else {
        return Ok(());
    };
    let row = |kind, target: Option<&UrlKey>, language: Option<&str>| ConflictRow {
        kind,
        url: url.to_string(),
        target: target.map(UrlKey::to_string),
        target_reason: target
            .and_then(|target| known.reason(target.fingerprint()))
            .map(Reason::code),
        language: language.map(str::to_owned),
    };
    let is_listed =
        |reason: Option<Reason>| reason.is_some_and(|reason| reason.state() == State::Listed);
    // The target of a listed page redirects back to it, or did not answer.
    let is_of_canonical =
        record.reason.has(Mark::ByCanonical) || record.reason.state() == State::Listed;
    match &facts.canonical {
        Canonical::Conflicting => show(row(ConflictKind::CanonicalSeveral, None, None))?,
        Canonical::Other(target) if is_of_canonical => {
            if !is_listed(known.reason(target.fingerprint())) {
                show(row(ConflictKind::CanonicalNotListed, Some(target), None))?;
            }
        }
        Canonical::Other(_) | Canonical::Absent | Canonical::Itself => {}
    }
    if let Some(first) = contents.first_with(url, record) {
        show(row(ConflictKind::SameContent, Some(&first), None))?;
    }
    let is_noindex = matches!(record.reason, Reason::Noindex | Reason::NoindexAndCanonical);
    if is_noindex && known.linked_from(url.fingerprint()) > 0 {
        show(row(ConflictKind::NoindexLinked, None, None))?;
    }
    if record.reason.state() == State::Listed {
        each_of_versions(
            url,
            facts,
            known,
            versions,
            &mut |kind, target, language| show(row(kind, Some(target), Some(language))),
        )?;
    }
    Ok(())
}

fn each_of_versions<E>(
    url: &UrlKey,
    facts: &PageFacts,
    known: &KnownReasons,
    versions: &Versions,
    show: &mut dyn FnMut(ConflictKind, &UrlKey, &str) -> Result<(), E>,
) -> Result<(), E> {
    // They are ordered by code.
    let mut before: Option<&str> = None;
    for version in facts.alternates.iter().flatten() {
        let (target, language) = (&version.target, version.hreflang.as_str());
        if before.replace(language) == Some(language) {
            show(ConflictKind::HreflangRepeated, target, language)?;
        }
        if target == url {
            continue;
        }
        match known.reason(target.fingerprint()) {
            // Another site, of which nothing is known.
            None => {}
            Some(reason) if reason.state() != State::Listed => {
                show(ConflictKind::HreflangNotListed, target, language)?;
            }
            Some(_) => {
                let back = pair(target.fingerprint(), url.fingerprint());
                if !versions.is_full && !versions.pairs.contains(&back) {
                    show(ConflictKind::HreflangNoReturn, target, language)?;
                }
            }
        }
    }
    Ok(())
}
