//! The strict reading: every rule that a document, its place, or a set of documents can break.
//!
//! ```text
//! robots.txt lines -> Validator::robots        one document after the other
//! bytes + Facts    -> Validator::check   -> Report, findings while it is read
//! answers of pages -> Validator::page
//! missing children -> Validator::missing, and what cannot be had at all -> Validator::unavailable
//!                     Validator::finish  -> findings that only show in the whole set, the counts
//! ```
//!
//! [`Validator`] reads with the lenient [`Reader`](crate::read::Reader), so that one fault does not hide the next, and adds the
//! checks of the set. These are the limits of the protocol, the URLs a document may list at its place, the robots.txt that proves
//! an exception, impossible dates, and comparisons of documents. It opens nothing, follows nothing and has no clock. The caller
//! feeds documents in any order, indexes best before their sitemaps, and passes the known facts of each.
//!
//! Findings are handed over as they are found. The first few of a kind in a document are, the others are counted, so that neither
//! a terminal nor a memory is flooded. All else that is remembered has a bound: [`MAX_COMPARED_URLS`], [`MAX_COMPARED_LINKS`],
//! [`MAX_CHILDREN`], [`MAX_PROOFS`], and some hundred bytes per document.
//!
//! ```
//! use sitemap_core::{Loc, validate::{Facts, Options, Validator}};
//!
//! let file = br#"<?xml version="1.0" encoding="UTF-8"?>
//! <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//! <url><loc>https://example.com/image/a</loc><lastmod>2005-02-30</lastmod></url>
//! </urlset>"#;
//! let mut validator = Validator::new(Options::new("2026-03-01T00:00:00Z".parse()?));
//! let place = Loc::parse("https://example.com/catalog/sitemap.xml")?;
//! let mut facts = Facts::new("sitemap.xml");
//! facts.place = Some(&place);
//! let mut findings = Vec::new();
//! validator.check(&file[..], &facts, &mut |finding| findings.push(finding))?;
//! let summary = validator.finish(&mut |finding| findings.push(finding));
//! let shown: Vec<String> = findings.iter().map(|finding| format!("{}[{}]: {}", finding.severity, finding.rule, finding.message)).collect();
//! assert_eq!(shown[0], "error[R13]: date or time does not exist");
//! assert_eq!(shown[1], "error[R58]: URL is outside of https://example.com/catalog/, the directory of the sitemap");
//! assert_eq!(summary.counts.errors, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;

mod answer;
mod clusters;
mod finding;
mod fingerprint;
mod place;
mod refused;
mod set;
mod sites;
mod unnamed;

pub mod rules;

use std::{
    collections::HashSet,
    io::{self, BufRead},
};

use jiff::{Timestamp, ToSpan as _};

pub use crate::read::problem::{Problem, ProofLine, Site};

pub use self::{
    answer::{Answer, AnswerEnd, Unavailable},
    clusters::MAX_COMPARED_LINKS,
    finding::{Counts, Finding, Repeated},
    place::MAX_PROOFS,
    rules::{RULES, RuleText},
    set::{MAX_CHILDREN, MAX_COMPARED_URLS},
};
use self::{
    clusters::Clusters,
    finding::{Diagnosis, Spot, Tally},
    place::Proofs,
    set::{Remembered, Set},
};
use crate::{
    LastMod, Limits, Loc,
    limits::{MAX_BYTES, MAX_ENTRIES},
    read::{Kind, Position},
};

/// Number of findings of one kind in one document that are handed over by default.
pub const DEFAULT_REPEATS: u64 = 10;

/// Limits up to which a document is read although it breaks those of the protocol, so that its other problems are found: ten
/// times.
pub const READING_LIMITS: Limits = Limits {
    entries: 10 * MAX_ENTRIES,
    bytes: 10 * MAX_BYTES,
};

/// Largest number of children of an index in a [`Report`]: one more than the protocol allows.
const MAX_REPORTED_CHILDREN: usize = 50_001;

/// Number of indexes that are followed upwards from a document.
const MAX_ROUTE: usize = 16;

/// Two times are the same up to here: a large site takes a while to deploy, and a large set to write.
const NEAR_MINUTES: i64 = 10;

/// A document by its number, in the order in which they were fed to the [`Validator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub(self) usize);

impl DocumentId {
    /// The number, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Options of a [`Validator`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The current time; later dates are reported.
    pub now: Timestamp,
    /// Limits of reading a document; [`READING_LIMITS`] by default.
    pub limits: Limits,
    /// Number of findings of one kind in one document that are handed over, the others only counted; [`DEFAULT_REPEATS`] by
    /// default.
    pub max_repeats: u64,
    /// True when the documents are all sitemaps of a site, so that one that no index lists is worth a word; not by default.
    pub is_whole: bool,
}

impl Options {
    /// The defaults, at this time.
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            limits: READING_LIMITS,
            max_repeats: DEFAULT_REPEATS,
            is_whole: false,
        }
    }
}

/// Known facts of a document besides its bytes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Facts<'a> {
    /// The name in findings: a path or a URL.
    pub name: &'a str,
    /// The URL where it is served, after redirects; the location rules need it (R58). Without it entries are compared with each
    /// other.
    pub place: Option<&'a Loc>,
    /// The requested URL, if a redirect led elsewhere.
    pub requested: Option<&'a Loc>,
    /// Time of the last change of its bytes: that of the file, or the `Last-Modified` of the answer.
    pub modified: Option<Timestamp>,
    /// The index that led to it.
    pub listed_by: Option<DocumentId>,
    /// Answer of its server; `None` when it was read elsewhere.
    pub answer: Option<Answer<'a>>,
    /// True when robots.txt disallows a URL, if that is known (R79).
    pub is_blocked: Option<&'a dyn Fn(&Loc) -> bool>,
}

impl<'a> Facts<'a> {
    /// Nothing but a name.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            place: None,
            requested: None,
            modified: None,
            listed_by: None,
            answer: None,
            is_blocked: None,
        }
    }
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Facts")
            .field("name", &self.name)
            .field("place", &self.place)
            .field("requested", &self.requested)
            .field("modified", &self.modified)
            .field("listed_by", &self.listed_by)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// Result of checking a document.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The number.
    pub document: DocumentId,
    /// The kind; `None` when it is unknown.
    pub kind: Option<Kind>,
    /// The entries, with those that cannot be used.
    pub entries: u64,
    /// The bytes after decompression, as far as it was read.
    pub bytes: u64,
    /// The number of skipped elements of unknown extensions; only the first is a finding (R71).
    pub skipped_elements: u64,
    /// True when it was read to its end.
    pub is_complete: bool,
    /// The place when none was passed: the lowest directory that may list its entries.
    pub common_directory: Option<String>,
    /// The sitemaps it lists, if it is an index; the first 50,001.
    pub children: Vec<Child>,
    /// Number of its findings.
    pub counts: Counts,
    /// Findings that were only counted.
    pub repeated: Vec<Repeated>,
}

/// A sitemap that an index lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// The address.
    pub loc: Loc,
    /// The `lastmod`.
    pub lastmod: Option<LastMod>,
    /// The position in the index.
    pub position: Position,
}

/// Facts of a listed page from its answer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PageFacts {
    /// Reason why there was no answer, if there was none.
    pub no_answer: Option<String>,
    /// The status of the answer, unless it is 200 or a redirect.
    pub status: Option<u16>,
    /// Target of its redirect, if any (R10).
    pub redirects_to: Option<String>,
    /// True when it has `noindex`, in a meta tag or a header (R79).
    pub is_noindex: bool,
    /// The canonical address, if that is another one (R10).
    pub canonical_elsewhere: Option<String>,
    /// The `Last-Modified` header (R15).
    pub last_modified: Option<Timestamp>,
    /// The `lastmod` of its entry.
    pub lastmod: Option<LastMod>,
}

/// Result of all documents.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Number of documents.
    pub documents: usize,
    /// All findings of all documents, and of the set.
    pub counts: Counts,
    /// Findings about the set that were only counted.
    pub repeated: Vec<Repeated>,
}

/// Takes findings as they are found.
pub type Sink<'a> = dyn FnMut(Finding) + 'a;

/// Checks documents one by one, and at the end all of them together. See the [module](self).
#[derive(Debug)]
pub struct Validator {
    options: Options,
    proofs: Proofs,
    set: Set,
    clusters: Clusters,
    /// Findings about the set and about pages.
    tally: Tally,
    counts: Counts,
    /// Fingerprints of the lines for robots.txt that were reported.
    reported_lines: HashSet<u64>,
    /// True when it was reported that URLs, or links between versions, are no longer compared.
    has_reported_full: [bool; 2],
}

impl Validator {
    /// A validator that has seen nothing.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            proofs: Proofs::default(),
            set: Set::default(),
            clusters: Clusters::default(),
            tally: Tally::new(options.max_repeats),
            counts: Counts::default(),
            reported_lines: HashSet::new(),
            has_reported_full: [false; 2],
        }
    }

    /// Takes in the `Sitemap:` lines of the robots.txt at `robots` (R65, R73). Documents that it names may list URLs of its host
    /// at any place, so this comes before their checks. Returns the sitemaps it names.
    pub fn robots<'a>(
        &mut self,
        robots: &Loc,
        values: impl IntoIterator<Item = &'a str>,
        sink: &mut Sink<'_>,
    ) -> Vec<Loc> {
        let mut named = Vec::new();
        for value in values.into_iter().take(MAX_PROOFS) {
            let value = value.trim();
            let sitemap = Loc::parse(value).ok();
            if sitemap.is_none() {
                let problem = Problem::RelativeSitemapLine {
                    value: value.chars().take(200).collect(),
                };
                let spot = Spot {
                    url: Some(robots.as_str()),
                    ..Spot::default()
                };
                self.report(problem, &spot, sink);
            }
            let resolved = || {
                let base = url::Url::parse(robots.as_str()).ok()?;
                Loc::parse(base.join(value).ok()?.as_str()).ok()
            };
            if let Some(sitemap) = sitemap.or_else(resolved) {
                self.proofs.add(robots, sitemap.clone());
                named.push(sitemap);
            }
        }
        named
    }

    /// Reads a document to its end and reports its problems.
    ///
    /// # Errors
    /// The input failed; earlier findings count.
    pub fn check(
        &mut self,
        input: impl BufRead,
        facts: &Facts<'_>,
        sink: &mut Sink<'_>,
    ) -> io::Result<Report> {
        document::check(self, input, facts, sink)
    }

    /// Reports a sitemap that `index` lists and that could not be read, with the reason (R40).
    pub fn missing(&mut self, index: DocumentId, child: &Child, why: &str, sink: &mut Sink<'_>) {
        let problem = Problem::ChildMissing {
            why: why.to_owned(),
        };
        let spot = Spot {
            document: Some(index),
            kind: Some(Kind::Index),
            position: Some(child.position),
            url: Some(child.loc.as_str()),
            ..Spot::default()
        };
        self.report(problem, &spot, sink);
    }

    /// Reports once that `count` sitemaps of `index`, from `first` on, are not read, because one check reads at most `limit` of
    /// them (R40).
    pub fn not_followed(
        &mut self,
        index: DocumentId,
        first: &Child,
        count: u64,
        limit: usize,
        sink: &mut Sink<'_>,
    ) {
        let spot = Spot {
            document: Some(index),
            kind: Some(Kind::Index),
            position: Some(first.position),
            url: Some(first.loc.as_str()),
            ..Spot::default()
        };
        self.report(Problem::NotFollowed { count, limit }, &spot, sink);
    }

    /// Takes in a document that could not be read, in its order, and reports it: at its position in an index (`child`), or by
    /// itself (R40, R72, R79).
    pub fn unavailable(
        &mut self,
        facts: &Facts<'_>,
        child: Option<&Child>,
        why: &Unavailable<'_>,
        sink: &mut Sink<'_>,
    ) -> DocumentId {
        let id = self.remember(facts);
        let listed = facts.listed_by.zip(child);
        let is_child = listed.is_some();
        if let (Unavailable::Because(why), Some((index, child))) = (why, listed) {
            self.set.is_missing(index, &child.loc, why);
        }
        let problem = match (*why, listed) {
            (Unavailable::Disallowed, _) => Problem::SitemapBlocked,
            (Unavailable::RobotsUnreachable(why), _) => Problem::RobotsUnreachable {
                why: why.to_owned(),
                is_child,
            },
            (Unavailable::NotAsked { why, help }, _) => Problem::NotAsked {
                why: why.to_owned(),
                help: help.to_owned(),
                is_child,
            },
            (Unavailable::Elsewhere(place), _) if !self.set.is_index(place) => {
                Problem::CheckedElsewhere {
                    place: place.clone(),
                    is_child,
                }
            }
            // That leads round in a circle.
            (Unavailable::Elsewhere(place), _) => {
                let why = format!("redirects to {place}, which is checked by itself");
                if is_child {
                    Problem::ChildMissing { why }
                } else {
                    Problem::Unavailable { why }
                }
            }
            (Unavailable::Because(why), Some(_)) => Problem::ChildMissing {
                why: why.to_owned(),
            },
            (Unavailable::Because(why), None) => Problem::Unavailable {
                why: why.to_owned(),
            },
        };
        let spot = match listed {
            Some((index, child)) => Spot {
                document: Some(index),
                kind: Some(Kind::Index),
                position: Some(child.position),
                url: Some(child.loc.as_str()),
                ..Spot::default()
            },
            None => Spot {
                document: Some(id),
                ..Spot::default()
            },
        };
        self.report(problem, &spot, sink);
        id
    }

    /// Reports the problems of a listed page by its answer (R10, R15, R79).
    pub fn page(
        &mut self,
        document: DocumentId,
        page: &Loc,
        position: Option<Position>,
        facts: &PageFacts,
        sink: &mut Sink<'_>,
    ) {
        let spot = Spot {
            document: Some(document),
            position,
            url: Some(page.as_str()),
            ..Spot::default()
        };
        let redirects = facts.redirects_to.clone();
        let changed_later = facts.last_modified.zip(facts.lastmod.as_ref());
        let no_answer = facts.no_answer.clone();
        let canonical = facts.canonical_elsewhere.clone();
        let problems = [
            no_answer.map(|why| Problem::NoAnswer { why }),
            facts.status.map(|status| Problem::Status { status }),
            redirects.map(|target| Problem::Redirects { target }),
            facts.is_noindex.then_some(Problem::NoIndexPage),
            canonical.map(|target| Problem::CanonicalElsewhere { target }),
            changed_later
                .filter(|(server, lastmod)| {
                    *server > lastmod.latest_instant()
                        && !is_near(*server, lastmod.latest_instant())
                })
                .map(|(server, _)| Problem::ChangedLater {
                    last_modified: LastMod::from_timestamp(server),
                }),
        ];
        for problem in problems.into_iter().flatten() {
            self.report(problem, &spot, sink);
        }
    }

    /// Reports the problems that need all documents, and returns the summary.
    pub fn finish(mut self, sink: &mut Sink<'_>) -> Summary {
        for (document, position, problem) in self.set.conclude(self.options.is_whole, &self.proofs)
        {
            let kind = document.and_then(|id| self.set.documents[id.0].kind);
            let robots = match &problem {
                Problem::BesideIndex { robots, .. } => Some(robots.clone()),
                _ => None,
            };
            let spot = Spot {
                document,
                kind,
                position,
                url: robots.as_ref().map(Loc::as_str),
                ..Spot::default()
            };
            self.report(problem, &spot, sink);
        }
        let set = std::mem::take(&mut self.set);
        for version in std::mem::take(&mut self.clusters).conclude(&set) {
            let spot = Spot {
                document: Some(version.document),
                position: Some(version.position),
                url: Some(&version.url),
                ..Spot::default()
            };
            self.report(version.problem, &spot, sink);
        }
        Summary {
            documents: set.documents.len(),
            counts: self.counts,
            repeated: self.tally.take_repeated(),
        }
    }

    /// Returns the summary when not all documents were read: problems of the whole set are not version.
    pub fn finish_early(mut self) -> Summary {
        Summary {
            documents: self.set.documents.len(),
            counts: self.counts,
            repeated: self.tally.take_repeated(),
        }
    }

    /// Reports a problem that is not found while a document is read.
    fn report(&mut self, problem: Problem, spot: &Spot<'_>, sink: &mut Sink<'_>) {
        let what = Diagnosis::from(problem);
        self.counts.add(what.severity());
        if let Some(finding) = self.tally.count_finding(&what, spot, || None) {
            sink(finding);
        }
    }

    fn remember(&mut self, facts: &Facts<'_>) -> DocumentId {
        self.set.add(Remembered {
            name: facts.name.to_owned(),
            place: facts.place.cloned(),
            requested: facts.requested.cloned(),
            kind: None,
            listed_by: facts.listed_by,
        })
    }
}

/// Returns whether two instants are minutes from each other at most.
fn is_near(one: Timestamp, other: Timestamp) -> bool {
    let distance = one.duration_since(other).abs();
    distance <= jiff::SignedDuration::from_mins(NEAR_MINUTES)
}

/// The instant after which a date lies in the future: it may be a day later in another zone.
fn tomorrow(now: Timestamp) -> Timestamp {
    now.checked_add(24.hours()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
