//! Checks of documents together: shared URLs, links between indexes, alternates without return links (R26, R31, R40, R48,
//! R75, and the hreflang rule of Google). Forbidden URLs are in [`super::refused`], missing indexes of a site in
//! [`super::sites`], and indexes that a robots.txt does not name in [`super::unnamed`].
//!
//! The set stores of each URL a fingerprint of 64 bits; two URLs out of a million have the same one once in 37 million sets.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    num::NonZeroU32,
};

use super::{
    DocumentId, MAX_ROUTE, Problem,
    fingerprint::{fingerprint, fingerprint_of},
    place::Proofs,
};
use crate::{
    Loc, UrlEntry,
    read::{Kind, Position},
};

/// The most URLs that are compared across documents; the table takes 36 MB when it is full.
pub const MAX_COMPARED_URLS: usize = 1_800_000;

/// The most sitemaps of indexes that are remembered: twenty full indexes.
pub const MAX_CHILDREN: usize = 1_000_000;

/// Remembered facts of a document.
#[derive(Debug)]
pub(super) struct Remembered {
    pub(super) name: String,
    pub(super) place: Option<Loc>,
    /// The requested URL, if a redirect led elsewhere.
    pub(super) requested: Option<Loc>,
    pub(super) kind: Option<Kind>,
    pub(super) listed_by: Option<DocumentId>,
}

impl Remembered {
    /// The place, and its requested URL.
    pub(super) fn places(&self) -> impl Iterator<Item = &Loc> {
        [&self.place, &self.requested].into_iter().flatten()
    }
}

/// A sitemap that an index lists.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) index: DocumentId,
    /// A fingerprint of its URL.
    pub(super) child: u64,
    position: Position,
}

/// All documents so far.
#[derive(Debug, Default)]
pub(super) struct Set {
    pub(super) documents: Vec<Remembered>,
    /// Documents by the fingerprint of their place.
    by_place: HashMap<u64, DocumentId>,
    /// The document of each listed URL, and a fingerprint of its metadata; `None` where the format has none.
    urls: HashMap<u64, (u32, Option<NonZeroU32>)>,
    pub(super) listings: Vec<Listing>,
    /// Documents that list, or lead to lists of, only another origin.
    for_others: HashSet<DocumentId>,
    /// Listed sitemaps that could not be read, by the fingerprint of their place: the index for which this was reported, and the
    /// reason.
    missing: HashMap<u64, (DocumentId, String)>,
}

/// Result of looking up an entry in the table of URLs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The document was not there, and is now; or it was there with the same metadata.
    Fine,
    /// Another document lists it with other metadata.
    Otherwise(DocumentId),
    /// The table is full.
    Full,
}

impl Set {
    /// Takes a document in.
    pub(super) fn add(&mut self, document: Remembered) -> DocumentId {
        let id = DocumentId(self.documents.len());
        // An index lists it where it is asked for.
        for place in document.places() {
            self.by_place.entry(fingerprint_of(place)).or_insert(id);
        }
        self.documents.push(document);
        id
    }

    /// The document at a place, by its fingerprint.
    pub(super) fn at(&self, place: u64) -> Option<DocumentId> {
        self.by_place.get(&place).copied()
    }

    /// The place of a document and of the indexes that lead to it, nearest first; after each the URL that redirects to it, which
    /// a robots.txt may name as well.
    pub(super) fn route(&self, id: DocumentId) -> Vec<Loc> {
        let mut route = Vec::new();
        let mut next = Some(id);
        // An index that leads to itself would go on for ever.
        while let Some(document) = next.and_then(|DocumentId(index)| self.documents.get(index))
            && route.len() < MAX_ROUTE
        {
            let Some(place) = &document.place else {
                break;
            };
            route.push(place.clone());
            route.extend(document.requested.clone());
            next = document.listed_by;
        }
        route
    }

    /// Looks a URL up and remembers it. Only formats with the same metadata are compared: a text file has URLs only, and a feed
    /// beside a sitemap, as engines want it, has other metadata.
    pub(super) fn compare(
        &mut self,
        document: DocumentId,
        kind: Option<Kind>,
        url: u64,
        entry: &UrlEntry,
    ) -> Known {
        // The lower half is as good as any.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a shorter fingerprint will do"
        )]
        let metadata = fingerprint(&(&entry.lastmod, entry.changefreq, entry.priority)) as u32;
        let metadata =
            (kind == Some(Kind::UrlSet)).then(|| NonZeroU32::MIN.saturating_add(metadata >> 1));
        // A set has fewer than 2^32 documents.
        let number = u32::try_from(document.0).unwrap_or(u32::MAX);
        if let Some(known) = self.urls.get_mut(&url) {
            return match (*known, metadata) {
                ((other, Some(other_metadata)), Some(metadata))
                    if other != number && other_metadata != metadata =>
                {
                    Known::Otherwise(DocumentId(other as usize))
                }
                ((_, None), Some(_)) => {
                    *known = (number, metadata);
                    Known::Fine
                }
                _ => Known::Fine,
            };
        }
        if self.urls.len() >= MAX_COMPARED_URLS {
            return Known::Full;
        }
        self.urls.insert(url, (number, metadata));
        Known::Fine
    }

    /// Fills the table, so that no URL is remembered.
    #[cfg(test)]
    pub(super) fn fill(&mut self) {
        let numbers = 0..MAX_COMPARED_URLS as u64;
        self.urls.extend(numbers.map(|url| (url, (0, None))));
    }

    /// Returns whether any document lists a URL; unknown once the table is full.
    pub(super) fn lists(&self, url: u64) -> Option<bool> {
        match self.urls.contains_key(&url) {
            true => Some(true),
            false if self.urls.len() < MAX_COMPARED_URLS => Some(false),
            false => None,
        }
    }

    /// An index lists a sitemap.
    pub(super) fn list(&mut self, index: DocumentId, child: &Loc, position: Position) {
        if self.listings.len() < MAX_CHILDREN {
            self.listings.push(Listing {
                index,
                child: fingerprint_of(child),
                position,
            });
        }
    }

    /// Records a listed sitemap that could not be read, which was reported for that index.
    pub(super) fn is_missing(&mut self, index: DocumentId, child: &Loc, why: &str) {
        if self.missing.len() < MAX_CHILDREN {
            let reported = (index, why.to_owned());
            self.missing
                .entry(fingerprint_of(child))
                .or_insert(reported);
        }
    }

    /// The other indexes that list a sitemap which cannot be had (R40).
    fn conclude_missing(
        &self,
        problems: &mut Vec<(Option<DocumentId>, Option<Position>, Problem)>,
    ) {
        for listing in &self.listings {
            if let Some((reported, why)) = self.missing.get(&listing.child)
                && *reported != listing.index
            {
                let problem = Problem::ChildMissing { why: why.clone() };
                problems.push((Some(listing.index), Some(listing.position), problem));
            }
        }
    }

    /// Marks a document that lists only another origin: its place, and that of indexes of it, is intended.
    pub(super) fn is_for_others(&mut self, id: DocumentId) {
        let mut next = Some(id);
        // An index that leads to itself was marked before.
        while let Some(id) = next.filter(|id| self.for_others.insert(*id)) {
            next = self.documents[id.0].listed_by;
        }
    }

    /// Returns whether a document is [marked](Self::is_for_others) as one for other hosts.
    pub(super) fn is_for_other_hosts(&self, id: DocumentId) -> bool {
        self.for_others.contains(&id)
    }

    /// For the fingerprint of each sitemap that is listed, the index that does, the last one of several.
    pub(super) fn indexes_by_child(&self) -> HashMap<u64, DocumentId> {
        let listings = self.listings.iter();
        listings
            .map(|listing| (listing.child, listing.index))
            .collect()
    }

    /// The entries of an index. Documents are read one after the other, so they are contiguous.
    pub(super) fn listings_of(&self, index: DocumentId) -> impl Iterator<Item = &Listing> {
        let first = self
            .listings
            .partition_point(|listing| listing.index < index);
        self.listings[first..]
            .iter()
            .take_while(move |listing| listing.index == index)
    }

    /// Problems that need all documents, each with its document and position.
    pub(super) fn conclude(
        &self,
        is_whole: bool,
        proofs: &Proofs,
    ) -> Vec<(Option<DocumentId>, Option<Position>, Problem)> {
        let mut problems = Vec::new();
        self.conclude_places(proofs, &mut problems);
        self.conclude_indexes(&mut problems);
        self.conclude_missing(&mut problems);
        self.conclude_kinds(is_whole, &proofs.sitemaps(), &mut problems);
        self.conclude_unnamed(proofs, &mut problems);
        problems
    }

    /// The first sitemap of an origin that is not in its root directory (R62). One that an index lists is where the index wants it,
    /// and one for another origin has no better place.
    fn conclude_places(
        &self,
        proofs: &Proofs,
        problems: &mut Vec<(Option<DocumentId>, Option<Position>, Problem)>,
    ) {
        let mut reported: HashSet<&str> = HashSet::new();
        for (number, document) in self.documents.iter().enumerate() {
            let id = DocumentId(number);
            let Some(place) = &document.place else {
                continue;
            };
            let directory = place.directory();
            if directory.len() > place.origin().len() + 1
                && document.kind.is_some()
                && document.listed_by.is_none()
                && !reported.contains(place.origin())
                && !self.is_for_other_hosts(id)
                && !proofs.are_for_others(&self.route(id))
            {
                reported.insert(place.origin());
                let directory = directory.to_owned();
                problems.push((Some(id), None, Problem::NotAtRoot { directory }));
            }
        }
    }

    pub(super) fn kind(&self, DocumentId(index): DocumentId) -> Option<Kind> {
        self.documents.get(index).and_then(|document| document.kind)
    }

    /// Indexes in indexes, and those that lead back (R40).
    fn conclude_indexes(
        &self,
        problems: &mut Vec<(Option<DocumentId>, Option<Position>, Problem)>,
    ) {
        let nested: Vec<(&Listing, DocumentId)> = self
            .listings
            .iter()
            .filter_map(|listing| {
                let child = self.at(listing.child)?;
                let is_nested = child != listing.index && self.kind(child) == Some(Kind::Index);
                is_nested.then_some((listing, child))
            })
            .collect();
        let edges: Vec<_> = nested
            .iter()
            .map(|&(listing, child)| (listing.index, child))
            .collect();
        let components = components(&edges);
        for (listing, child) in nested {
            let name = self.documents[child.0].name.clone();
            let problem = if components.get(&listing.index) == components.get(&child) {
                Problem::Cycle { child: name }
            } else {
                Problem::NestedIndex { child: name }
            };
            problems.push((Some(listing.index), Some(listing.position), problem));
        }
    }

    /// Checks the kinds of documents of the set (R31, R48, R75).
    fn conclude_kinds(
        &self,
        is_whole: bool,
        named: &BTreeMap<Loc, Loc>,
        problems: &mut Vec<(Option<DocumentId>, Option<Position>, Problem)>,
    ) {
        let listed = self.indexes_by_child();
        for (sitemap, robots) in named {
            let place = fingerprint_of(sitemap);
            let kind = self.by_place.get(&place).and_then(|id| self.kind(*id));
            // An index that is listed by another one is reported otherwise (R40).
            if let Some(&DocumentId(index)) = listed.get(&place)
                && kind != Some(Kind::Index)
            {
                let problem = Problem::BesideIndex {
                    robots: robots.clone(),
                    sitemap: sitemap.clone(),
                    index: self.documents[index].name.clone(),
                };
                problems.push((None, None, problem));
            }
        }
        let is_feed = |kind: Option<Kind>| kind.is_some_and(Kind::is_feed);
        let known = || {
            self.documents
                .iter()
                .filter(|document| document.kind.is_some())
        };
        let first = self
            .documents
            .iter()
            .position(|document| document.kind.is_some());
        if let Some(first) = first
            && known().all(|document| is_feed(document.kind))
        {
            problems.push((Some(DocumentId(first)), None, Problem::OnlyFeeds));
        }
        if is_whole {
            self.conclude_whole(&listed, named, problems);
        } else {
            self.conclude_named(named, problems);
        }
    }

    /// Returns whether an index is here.
    pub(super) fn is_index(&self, place: &Loc) -> bool {
        let document = self.by_place.get(&fingerprint_of(place));
        document.and_then(|id| self.kind(*id)) == Some(Kind::Index)
    }
}

/// Strongly connected components of a graph, as a number for each node (Kosaraju's algorithm).
fn components(edges: &[(DocumentId, DocumentId)]) -> HashMap<DocumentId, usize> {
    let mut forward: HashMap<DocumentId, Vec<DocumentId>> = HashMap::new();
    let mut backward: HashMap<DocumentId, Vec<DocumentId>> = HashMap::new();
    for &(from, to) in edges {
        forward.entry(from).or_default().push(to);
        backward.entry(to).or_default().push(from);
    }
    let mut finished = Vec::new();
    let mut seen = HashSet::new();
    for &(start, _) in edges {
        // A node is waiting to be entered, or, the second time, to be left.
        let mut waiting = vec![(start, false)];
        while let Some((node, is_left)) = waiting.pop() {
            if is_left {
                finished.push(node);
            } else if seen.insert(node) {
                waiting.push((node, true));
                let next = forward.get(&node).into_iter().flatten();
                waiting.extend(next.map(|&next| (next, false)));
            }
        }
    }
    let mut components = HashMap::new();
    for (number, &start) in finished.iter().rev().enumerate() {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            if components.contains_key(&node) {
                continue;
            }
            components.insert(node, number);
            waiting.extend(backward.get(&node).into_iter().flatten());
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_what_leads_back() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (4, 5)];
        let edges = edges.map(|(from, to)| (DocumentId(from), DocumentId(to)));
        let components = components(&edges);
        let same = |one, other| components[&DocumentId(one)] == components[&DocumentId(other)];
        assert!(same(0, 1) && same(1, 2) && same(3, 4));
        assert!(!same(2, 3) && !same(4, 5));
    }

    #[test]
    fn table_of_urls_has_an_end() {
        let entry = |url: &str| UrlEntry::new(Loc::parse(url).unwrap());
        let mut set = Set::default();
        let mut compare = |url: u64| {
            set.compare(
                DocumentId(0),
                Some(Kind::UrlSet),
                url,
                &entry("https://h.ex/"),
            )
        };
        assert_eq!(compare(0), Known::Fine);
        assert_eq!((set.lists(0), set.lists(1)), (Some(true), Some(false)));
        let most = MAX_COMPARED_URLS as u64;
        set.urls.extend((1..most - 1).map(|url| (url, (0, None))));
        let mut compare = |url: u64| set.compare(DocumentId(0), None, url, &entry("https://h.ex/"));
        assert_eq!(compare(most), Known::Fine);
        assert_eq!(compare(most + 1), Known::Full);
        assert_eq!(compare(most), Known::Fine);
        assert_eq!((set.lists(most), set.lists(most + 1)), (Some(true), None));
    }

    #[test]
    fn only_other_words_in_another_urlset_contradict() {
        let mut set = Set::default();
        let mut compare = |document: usize, kind: Kind, lastmod: Option<&str>| {
            let mut entry = UrlEntry::new(Loc::parse("https://h.ex/").unwrap());
            entry.lastmod = lastmod.map(|date| crate::LastMod::parse(date).unwrap());
            set.compare(DocumentId(document), Some(kind), 7, &entry)
        };
        assert_eq!(compare(0, Kind::Text, None), Known::Fine);
        assert_eq!(compare(1, Kind::Rss, Some("2026-01-01")), Known::Fine);
        assert_eq!(compare(2, Kind::UrlSet, Some("2026-01-02")), Known::Fine);
        assert_eq!(compare(2, Kind::UrlSet, Some("2026-01-03")), Known::Fine);
        assert_eq!(compare(3, Kind::UrlSet, Some("2026-01-02")), Known::Fine);
        assert_eq!(
            compare(3, Kind::UrlSet, Some("2026-01-03")),
            Known::Otherwise(DocumentId(2))
        );
        assert_eq!(
            compare(3, Kind::UrlSet, None),
            Known::Otherwise(DocumentId(2))
        );
        assert_eq!(compare(3, Kind::Atom, None), Known::Fine);
    }

    #[test]
    fn listings_have_an_end() {
        let listing = |_| Listing {
            index: DocumentId(0),
            child: 0,
            position: Position { line: 1, offset: 0 },
        };
        let mut set = Set {
            listings: (1..MAX_CHILDREN).map(listing).collect(),
            ..Set::default()
        };
        let child = Loc::parse("https://h.ex/a.xml").unwrap();
        for _ in 0..3 {
            set.list(DocumentId(0), &child, Position { line: 2, offset: 9 });
        }
        assert_eq!(set.listings.len(), MAX_CHILDREN);
    }

    #[test]
    fn route_leads_over_a_bounded_number_of_indexes() {
        let remembered = |place: Option<&str>, listed_by: Option<usize>| Remembered {
            name: "x".to_owned(),
            place: place.map(|place| Loc::parse(place).unwrap()),
            requested: None,
            kind: None,
            listed_by: listed_by.map(DocumentId),
        };
        let mut set = Set::default();
        set.add(remembered(Some("https://h.ex/top.xml"), None));
        set.add(remembered(Some("https://h.ex/i.xml"), Some(0)));
        let leaf = set.add(remembered(Some("https://h.ex/a.xml"), Some(1)));
        let route = |set: &Set, id| -> Vec<String> {
            let route = set.route(id).into_iter();
            route.map(|loc| loc.path().to_owned()).collect()
        };
        assert_eq!(route(&set, leaf), ["/a.xml", "/i.xml", "/top.xml"]);
        let lost = set.add(remembered(None, Some(1)));
        let below = set.add(remembered(Some("https://h.ex/b.xml"), Some(lost.0)));
        assert_eq!(route(&set, below), ["/b.xml"]);
        // One that is listed by itself.
        let round = set.documents.len();
        let round = set.add(remembered(Some("https://h.ex/r.xml"), Some(round)));
        assert_eq!(route(&set, round).len(), MAX_ROUTE);
    }
}
