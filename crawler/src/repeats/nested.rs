//! The same page below itself: relative links without end lead to it at ever longer URLs.

use std::{collections::HashSet, hash::BuildHasherDefault};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{
    page::PageText,
    url_key::{FingerprintHasher, UrlKey},
};

/// Memory of the text of a page, with the free places of the table.
const TEXT_BYTES: usize = 20;

/// URLs above a page with its text that make it a page below itself: one may be chance.
const ABOVE: usize = 2;

/// The texts of the pages that were read, each with its directory.
#[derive(Debug)]
pub(super) struct NestedTexts {
    texts: HashSet<u64, BuildHasherDefault<FingerprintHasher>>,
    max_texts: usize,
}

impl NestedTexts {
    /// No text is known, and about so many bytes are taken.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            texts: HashSet::default(),
            max_texts: max_bytes / TEXT_BYTES,
        }
    }

    /// Returns whether pages at two depths above `url` have this text, or at two paths that its path ends with.
    pub(super) fn is_nested(&self, url: &UrlKey, text: &PageText) -> bool {
        let is_known = |path: &&str| self.texts.contains(&key(path, text.whole));
        let is_page = |path: &&str| self.texts.contains(&key(path, !text.whole));
        let above = directories_above(url.path()).filter(is_known);
        let ends = ends_of(url.path()).filter(is_page);
        above.take(ABOVE).count() == ABOVE || ends.take(ABOVE).count() == ABOVE
    }

    /// Takes a page.
    pub(super) fn take(&mut self, url: &UrlKey, text: &PageText) {
        if self.texts.len() < self.max_texts {
            self.texts.insert(key(directory_of(url.path()), text.whole));
            // Another key than that of a directory of this name.
            self.texts.insert(key(url.path(), !text.whole));
        }
    }
}

/// URLs with one text.
#[derive(Debug, Default)]
pub struct NestedGroup<'a> {
    directories: HashSet<&'a str>,
    paths: HashSet<&'a str>,
}

impl<'a> NestedGroup<'a> {
    /// The group of these URLs.
    pub fn new(urls: impl Iterator<Item = &'a UrlKey>) -> Self {
        let paths: HashSet<&str> = urls.map(UrlKey::path).collect();
        let directories = paths.iter().map(|path| directory_of(path)).collect();
        Self { directories, paths }
    }

    /// Returns whether one of the URLs is below two others, or its path ends with those of two others.
    pub fn is_nested(&self) -> bool {
        let is_below = |path: &&str| self.above(directory_of(path)).max(self.ends(path)) >= ABOVE;
        self.paths.iter().any(is_below)
    }

    /// Returns whether a URL is below another one, or its path ends with that of another one.
    pub fn is_below_another(&self, url: &UrlKey) -> bool {
        self.above(directory_of(url.path())) > 0 || self.ends(url.path()) > 0
    }

    /// How many others have a path that `path` ends with.
    fn ends(&self, path: &str) -> usize {
        ends_of(path).filter(|end| self.paths.contains(end)).count()
    }

    fn above(&self, directory: &str) -> usize {
        let above = directories_above(directory);
        above
            .filter(|directory| self.directories.contains(directory))
            .count()
    }
}

/// The path up to its last slash, that included.
fn directory_of(path: &str) -> &str {
    path.rfind('/').map_or("/", |slash| &path[..=slash])
}

/// The directories above that of a path.
fn directories_above(path: &str) -> impl Iterator<Item = &str> {
    let own = directory_of(path);
    let slashes = own[..own.len() - 1].match_indices('/');
    slashes.map(|(slash, _)| &path[..=slash])
}

/// The shorter paths that a path ends with, but for the root.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let last = path.len().saturating_sub(1);
    let slashes = path.match_indices('/').map(|(slash, _)| slash);
    slashes
        .filter(move |slash| (1..last).contains(slash))
        .map(|slash| &path[slash..])
}

fn key(directory: &str, text: u64) -> u64 {
    xxh3_64_with_seed(directory.as_bytes(), text)
}
