//! Versions of pages for other languages: whether each points back to the page that points to it, and is listed at all.
//!
//! Source: <https://developers.google.com/search/docs/specialty/international/localized-versions>, "if page X links to page Y, page Y
//! must link back to page X".

use std::collections::HashMap;

use super::{DocumentId, Problem, fingerprint::fingerprint_of, set::Set};
use crate::{Loc, UrlEntry, read::Position};

/// The most links between versions that are compared; they take 32 MB.
pub const MAX_COMPARED_LINKS: usize = 4_000_000;

/// The most bytes that the URLs of versions may take, with the facts of each.
const MAX_URL_BYTES: usize = 64 * 1024 * 1024;

/// Memory of one URL besides its text.
const BYTES_PER_URL: usize = 96;

/// All pages with versions so far.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// The number of each URL by its fingerprint.
    numbers: HashMap<u64, u32>,
    urls: Vec<(u64, Box<str>)>,
    bytes: usize,
    /// Positions of the entries of pages with versions.
    entries: HashMap<u32, (DocumentId, Position)>,
    /// From a page to a version of it.
    links: Vec<(u32, u32)>,
}

/// Problem of an entry with versions.
pub(super) struct VersionProblem {
    pub(super) document: DocumentId,
    pub(super) position: Position,
    pub(super) url: Box<str>,
    pub(super) problem: Problem,
}

impl Clusters {
    /// Takes in the versions of an entry; `false` when the limit of memory is reached.
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
        let fingerprint = fingerprint_of(url);
        // Fewer URLs fit into the bytes there are for them.
        let next = u32::try_from(self.urls.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(fingerprint).or_insert(next);
        if number == next {
            self.bytes += url.as_str().len() + BYTES_PER_URL;
            self.urls.push((fingerprint, url.as_str().into()));
        }
        number
    }

    /// Problems between the versions, in the order of the pages. They are made one by one: there can be as many as links.
    pub(super) fn conclude(mut self, set: &Set) -> impl Iterator<Item = VersionProblem> {
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
                let problems: Vec<VersionProblem> = links[first..]
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
                        Some(VersionProblem {
                            document,
                            position,
                            url: urls[page as usize].1.clone(),
                            problem,
                        })
                    })
                    .collect();
                problems
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::{Alternate, Hreflang};

    /// A page with versions at these addresses.
    fn entry(page: &str, versions: &[&str]) -> UrlEntry {
        let mut entry = UrlEntry::new(Loc::parse(page).unwrap());
        for (number, version) in versions.iter().enumerate() {
            let hreflang = Hreflang::parse(["en", "de", "fr"][number]).unwrap();
            let alternate = Alternate::new(hreflang, Loc::parse(version).unwrap());
            entry.extensions.add_alternate(alternate).unwrap();
        }
        entry
    }

    const PLACE: (DocumentId, Position) = (DocumentId(0), Position { line: 1, offset: 0 });

    #[test]
    fn each_url_takes_its_room_once() {
        let mut clusters = Clusters::default();
        let versions = ["https://h.ex/en", "https://h.ex/de"];
        for page in versions {
            assert!(clusters.add(PLACE.0, PLACE.1, &entry(page, &versions)));
        }
        assert_eq!(clusters.links, [(0, 1), (1, 0)]);
        let text: usize = versions.iter().map(|url| url.len()).sum();
        assert_eq!(clusters.bytes, text + 2 * BYTES_PER_URL);
        // A page without versions takes none.
        assert!(clusters.add(PLACE.0, PLACE.1, &entry("https://h.ex/x", &[])));
        assert_eq!(clusters.urls.len(), 2);
    }

    #[test]
    fn versions_of_a_large_site_have_room() {
        let mut clusters = Clusters::default();
        for number in 0..10_000 {
            let versions = ["en", "de"].map(|version| format!("https://h.ex/{version}/{number}"));
            let [en, de] = &versions;
            assert!(clusters.add(PLACE.0, PLACE.1, &entry(en, &[en, de])));
        }
        assert_eq!(
            (clusters.urls.len(), clusters.links.len()),
            (20_000, 10_000)
        );
    }

    #[test]
    fn links_and_their_urls_have_an_end() {
        let two = entry("https://h.ex/en", &["https://h.ex/en", "https://h.ex/de"]);
        let add = |links: usize, bytes: usize| {
            let mut clusters = Clusters {
                links: vec![(0, 0); links],
                bytes,
                ..Clusters::default()
            };
            clusters.add(PLACE.0, PLACE.1, &two)
        };
        assert!(add(MAX_COMPARED_LINKS - 2, 0));
        assert!(!add(MAX_COMPARED_LINKS - 1, 0));
        assert!(add(0, MAX_URL_BYTES));
        assert!(!add(0, MAX_URL_BYTES + 1));
        // Nothing has to be remembered of a page without versions.
        let mut full = Clusters {
            bytes: MAX_URL_BYTES + 1,
            ..Clusters::default()
        };
        assert!(full.add(PLACE.0, PLACE.1, &entry("https://h.ex/x", &[])));
    }
}
