//! Versions of pages for other languages: whether each points back to the page that points to it, and is listed at all.
//!
//! Source: <https://developers.google.com/search/docs/specialty/international/localized-versions>, "if page X links to page Y, page Y
//! must link back to page X".

use std::collections::HashMap;

use super::{
    DocumentId, Problem,
    set::{Set, fingerprint},
};
use crate::{Loc, UrlEntry, read::Position};

/// The most links between versions that are compared; they take 32 MB.
pub const MAX_COMPARED_LINKS: usize = 4_000_000;

/// The most bytes that the URLs of versions may take, with what is remembered of each.
const MAX_URL_BYTES: usize = 64 * 1024 * 1024;

/// What one URL takes besides its text.
const BYTES_PER_URL: usize = 96;

/// All pages with versions so far.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// The number of each URL by its fingerprint.
    numbers: HashMap<u64, u32>,
    urls: Vec<(u64, Box<str>)>,
    bytes: usize,
    /// Where the entry of a page with versions is.
    entries: HashMap<u32, (DocumentId, Position)>,
    /// From a page to a version of it.
    links: Vec<(u32, u32)>,
}

/// Something to say about an entry with versions.
pub(super) struct Told {
    pub(super) document: DocumentId,
    pub(super) position: Position,
    pub(super) url: Box<str>,
    pub(super) problem: Problem,
}

impl Clusters {
    /// Takes the versions of an entry in; `false` when there is no room for them.
    pub(super) fn add(
        &mut self,
        document: DocumentId,
        position: Position,
        entry: &UrlEntry,
    ) -> bool {
        let alternates = entry.extensions.alternates();
        if alternates.is_empty() {
            return true;
        }
        if self.links.len() + alternates.len() > MAX_COMPARED_LINKS || self.bytes > MAX_URL_BYTES {
            return false;
        }
        let page = self.number(&entry.loc);
        self.entries.entry(page).or_insert((document, position));
        for alternate in alternates {
            let version = self.number(&alternate.href);
            if version != page {
                self.links.push((page, version));
            }
        }
        true
    }

    fn number(&mut self, url: &Loc) -> u32 {
        let fingerprint = fingerprint(url);
        // Fewer URLs fit into the bytes there are for them.
        let next = u32::try_from(self.urls.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(fingerprint).or_insert(next);
        if number == next {
            self.bytes += url.as_str().len() + BYTES_PER_URL;
            self.urls.push((fingerprint, url.as_str().into()));
        }
        number
    }

    /// What is wrong between the versions, in the order of the pages. Each is made when it is asked for: there can be as many as
    /// links.
    pub(super) fn conclude(mut self, set: &Set) -> impl Iterator<Item = Told> {
        self.links.sort_unstable();
        self.links.dedup();
        let mut entries: Vec<_> = self
            .entries
            .drain()
            .map(|(page, (document, position))| (document, position, page))
            .collect();
        entries.sort_unstable();
        let Self { links, urls, .. } = self;
        entries
            .into_iter()
            .flat_map(move |(document, position, page)| {
                let first = links.partition_point(|&(from, _)| from < page);
                let told: Vec<Told> = links[first..]
                    .iter()
                    .take_while(|&&(from, _)| from == page)
                    .filter(|&&(page, version)| links.binary_search(&(version, page)).is_err())
                    .filter_map(|&(_, version)| {
                        let (fingerprint, href) = &urls[version as usize];
                        let href = href.clone();
                        let problem = if set.lists(*fingerprint)? {
                            Problem::NoReturnLink { href }
                        } else {
                            Problem::VersionNotListed { href }
                        };
                        Some(Told {
                            document,
                            position,
                            url: urls[page as usize].1.clone(),
                            problem,
                        })
                    })
                    .collect();
                told
            })
    }
}
