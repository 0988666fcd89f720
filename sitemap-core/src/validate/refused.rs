//! URLs that a document may not list at its place: the effects on the others, the line of a robots.txt that would allow them, and
//! the document that could list them (R44, R61, R63, R65). The error of each such URL is reported by [`super::place`].

use std::collections::{HashMap, HashSet};

use super::{
    DocumentId, MAX_PROOFS, Problem, ProofLine,
    set::{Set, fingerprint, fingerprint_of},
};
use crate::{
    Loc,
    read::{Kind, Position},
};

/// The most hosts of one document for which the line that would allow their URLs is reported; a sitemap may list those of one
/// (R66).
const MAX_UNPROVEN_HOSTS: usize = 20;

/// The most lines that are reported in one check: as many as are read from robots.txt files.
const MAX_LINES: usize = MAX_PROOFS;

/// The most directories of one document of which a URL is remembered until all documents are known.
const MAX_STRAYS_PER_DOCUMENT: usize = 16;

/// The most URLs outside of the directories of their documents that are remembered until all documents are known, one of each
/// directory. They take 20 MB if each is as long as a URL may be.
pub const MAX_STRAYS: usize = 10_000;

/// Refused URLs of one document.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// Number of entries.
    count: u64,
    unproven: Vec<Unproven>,
    /// One for each directory outside of the document's own.
    strays: Vec<(Position, Loc)>,
}

/// Another host, of whose URLs the document lists some without proof.
#[derive(Debug)]
struct Unproven {
    /// The first of them, and where it is.
    url: Loc,
    position: Position,
    line: ProofLine,
}

/// A URL that its document may not list, although it is of the same origin.
#[derive(Debug)]
pub(super) struct Stray {
    document: DocumentId,
    position: Position,
    url: Loc,
}

/// Problem of a stray.
#[derive(Debug)]
pub(super) struct StrayProblem {
    pub(super) document: DocumentId,
    pub(super) position: Position,
    pub(super) url: Loc,
    pub(super) problem: Problem,
}

/// Sitemaps by the fingerprint of their directory.
type SitemapsByDirectory = HashMap<u64, DocumentId>;

impl Refused {
    /// Takes in the problem of a URL at its place.
    pub(super) fn add_problem(&mut self, problem: &Problem, url: &Loc, position: Position) {
        match problem {
            Problem::OutOfScope { .. } => {
                let is_known = |(_, known): &(_, Loc)| known.directory() == url.directory();
                if self.strays.len() < MAX_STRAYS_PER_DOCUMENT && !self.strays.iter().any(is_known)
                {
                    self.strays.push((position, url.clone()));
                }
            }
            Problem::Host { missing, .. } => {
                let is_known = |known: &Unproven| known.url.origin() == url.origin();
                if let Some(line) = missing
                    && self.unproven.len() < MAX_UNPROVEN_HOSTS
                    && !self.unproven.iter().any(is_known)
                {
                    self.unproven.push(Unproven {
                        url: url.clone(),
                        position,
                        line: line.clone(),
                    });
                }
            }
            Problem::Scheme { .. } | Problem::Port { .. } => {}
            _ => return,
        }
        self.count += 1;
    }

    /// Reports the dropped entries among `of` (R61).
    pub(super) fn dropped(&self, of: u64) -> Option<Problem> {
        let count = self.count;
        (count > 0).then_some(Problem::Dropped { count, of })
    }

    /// The lines that would allow the refused URLs, each at the first URL that needs it (R65). A line is reported once.
    /// `has_others`: the document also has URLs that it may list.
    pub(super) fn lines(
        &mut self,
        has_others: bool,
        reported: &mut HashSet<u64>,
    ) -> Vec<(Position, Loc, Problem)> {
        let unproven = std::mem::take(&mut self.unproven);
        let is_alone = unproven.len() == 1 && !has_others;
        unproven
            .into_iter()
            .filter(|unproven| {
                let ProofLine { robots, sitemap } = &unproven.line;
                reported.len() < MAX_LINES
                    && reported.insert(fingerprint(&(robots, sitemap.as_str())))
            })
            .map(|unproven| {
                let problem = Problem::Unproven {
                    origin: unproven.url.origin().to_owned(),
                    line: unproven.line,
                    is_alone,
                };
                (unproven.position, unproven.url, problem)
            })
            .collect()
    }

    /// The URLs that another document may list.
    pub(super) fn into_strays(self, document: DocumentId) -> impl Iterator<Item = Stray> {
        let strays = self.strays.into_iter();
        strays.map(move |(position, url)| Stray {
            document,
            position,
            url,
        })
    }
}

/// Remembers strays up to the limit.
pub(super) fn remember(strays: &mut Vec<Stray>, more: impl Iterator<Item = Stray>) {
    let room = MAX_STRAYS.saturating_sub(strays.len());
    strays.extend(more.take(room));
}

impl Set {
    /// Documents that could list the strays: an index that covers them although their sitemap does not (R44), or another sitemap
    /// (R63). Each is reported once for a document, in the order of documents.
    pub(super) fn conclude_strays(&self) -> Vec<StrayProblem> {
        let mut reported = Vec::new();
        if self.strays.is_empty() {
            return reported;
        }
        let (indexes, homes) = (self.indexes_by_child(), self.sitemaps_by_directory());
        let same = |one: &Stray, other: &Stray| one.document == other.document;
        for strays in self.strays.chunk_by(same) {
            let mut report = |stray: &Stray, problem| {
                reported.push(StrayProblem {
                    document: stray.document,
                    position: stray.position,
                    url: stray.url.clone(),
                    problem,
                });
            };
            let index = self.place_of_index(strays[0].document, &indexes);
            let is_covered = |stray: &&Stray| index.is_some_and(|index| index.may_list(&stray.url));
            if let (Some(index), Some(stray)) = (index, strays.iter().find(is_covered)) {
                let index = index.clone();
                report(stray, Problem::OnlyIndexCovers { index });
            }
            let mut homes = strays
                .iter()
                .filter_map(|stray| Some((stray, home_of(stray, &homes)?)));
            if let Some((stray, home)) = homes.next() {
                let sitemap = self.documents[home.index()].name.clone();
                report(stray, Problem::OtherCovers { sitemap });
            }
        }
        reported
    }

    /// Place of the index that led to a document, or lists it.
    fn place_of_index(&self, id: DocumentId, indexes: &HashMap<u64, DocumentId>) -> Option<&Loc> {
        let document = &self.documents[id.index()];
        let listed = || {
            let mut places = document.places();
            places.find_map(|place| indexes.get(&fingerprint_of(place)).copied())
        };
        let index = document.listed_by.or_else(listed)?;
        self.documents[index.index()].place.as_ref()
    }

    /// The sitemaps in which a URL could be listed, the first of each directory. A feed lists recent URLs only, and a sitemap for
    /// another host lists that host.
    fn sitemaps_by_directory(&self) -> SitemapsByDirectory {
        let mut homes = SitemapsByDirectory::new();
        for (number, document) in self.documents.iter().enumerate() {
            let id = DocumentId(number);
            let is_sitemap = document.kind.is_some_and(|kind| match kind {
                Kind::UrlSet | Kind::Text => true,
                Kind::Index | Kind::Rss | Kind::Atom => false,
            });
            if let Some(place) = document.place.as_ref().filter(|_| is_sitemap)
                && !self.is_for_other_hosts(id)
            {
                let path = path_of(place);
                let directory = path.rfind('/').map_or("", |slash| &path[..=slash]);
                homes.entry(fingerprint(directory)).or_insert(id);
            }
        }
        homes
    }
}

/// The sitemap in the lowest directory that covers a URL.
fn home_of(stray: &Stray, homes: &SitemapsByDirectory) -> Option<DocumentId> {
    let path = path_of(&stray.url);
    let slashes = path.rmatch_indices('/');
    let mut directories = slashes.map(|(slash, _)| &path[..=slash]);
    directories.find_map(|directory| homes.get(&fingerprint(directory)).copied())
}

/// A URL without its query, in the form in which directories are compared.
fn path_of(url: &Loc) -> String {
    let mut text = url.normalised().into_owned();
    text.truncate(text.find('?').unwrap_or(text.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_lines_are_bounded() {
        let lines = |room: usize| {
            let reported = MAX_LINES - room;
            let mut reported = (0..reported as u64).collect();
            let mut refused = Refused::default();
            for host in ["https://g.ex", "https://h.ex"] {
                let url = Loc::parse(host).unwrap();
                let line = ProofLine {
                    robots: format!("{host}/robots.txt"),
                    sitemap: Loc::parse("https://maps.ex/s.xml").unwrap(),
                };
                let problem = Problem::Host {
                    expected: "https://maps.ex".to_owned(),
                    missing: Some(line),
                };
                refused.add_problem(&problem, &url, Position { line: 1, offset: 0 });
            }
            refused.lines(false, &mut reported).len()
        };
        assert_eq!([lines(0), lines(1), lines(2)], [0, 1, 2]);
    }
}
