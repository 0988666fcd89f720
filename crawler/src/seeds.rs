//! Sources of URLs besides links: sitemaps, feeds, and lists that the user gives. It owns the record of each
//! document ([`Document`], a named value of the store, so that an interrupted crawl goes on with those that were not
//! read), and the reader of its URLs ([`read`]). It never fetches, and
//! never judges a URL.
//!
//! ```text
//! robots.txt, pages, lists -> Document (waiting) -> its bytes -> read -> batches of URLs -> Document (read, failed ...)
//! ```

mod list;
mod own;
mod read;
mod trouble;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::list::decoded;
pub use self::{
    list::{
        BadLine, LineProblem, ListCheck, MAX_BAD_LINES_REPORTED, MAX_LIST_BYTES, SeedList,
        SeedListError,
    },
    own::{MAX_OWN_FILES, OwnFiles},
    read::{Batch, DocumentReading, IndexedDocument, MAX_UNPACKED_BYTES, read},
    trouble::{
        EntryTrouble, EntryTroubles, MAX_EXAMPLE_CHARACTERS, MAX_TROUBLED_RULES, RuleTally,
        UNUSABLE,
    },
};
use crate::{
    page::{CrawlId, Via},
    store::{Effect, Store, StoreError, StoreErrorKind},
};

/// How deep indexes may be in each other: an index that three others lead to is not followed.
pub const MAX_INDEX_DEPTH: u8 = 3;

/// Documents of one crawl: as many as one index may name. Each costs a row in the store and its URL in memory.
pub const MAX_DOCUMENTS: usize = 50_000;

/// `Sitemap:` lines of a robots.txt that are followed; Google reads 500 sitemaps per site at most.
pub const MAX_ROBOTS_SITEMAPS: usize = 500;

/// Feeds of one crawl. Blogs have one for the comments of every page, which have no new text.
pub const MAX_FEEDS: usize = 100;

/// Hosts besides the site's own that documents are fetched from.
pub const MAX_OTHER_HOSTS: usize = 16;

/// Documents that a [`Tally`] names: those that failed, and those with URLs outside of the crawl.
pub const MAX_FAILURES_NAMED: usize = 100;

/// Longest text that is kept of what went wrong.
const MAX_DETAIL_CHARACTERS: usize = 500;

/// Name of the store's value with the number of documents.
const COUNT: &str = crate::store::names::SEEDS_COUNT;

/// Name of the store's value with the number of the crawl that the documents are of.
const RUN: &str = crate::store::names::SEEDS_CRAWL;

/// Name of the store's value with one document.
fn name_of(number: usize) -> String {
    format!("{}{number}", crate::store::names::SEEDS)
}

/// The expected kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentKind {
    /// A sitemap or an index, named by robots.txt or an index.
    Sitemap,
    /// `/sitemap.xml`, which nobody named: it is not a fault when there is none.
    WellKnown,
    /// A feed that a page names.
    Feed,
    /// A list that the user gave.
    List,
}

impl DocumentKind {
    /// How the URLs in it were found; `is_feed` is known when it was read.
    pub fn via(self, is_feed: bool) -> Via {
        match self {
            Self::Sitemap | Self::WellKnown if !is_feed => Via::Sitemap,
            Self::Sitemap | Self::WellKnown | Self::Feed => Via::Feed,
            Self::List => Via::List,
        }
    }
}

/// The result for a document. The words are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentState {
    /// Not read yet, or not to its end.
    Waiting,
    /// Read; defects in it are reported.
    Read,
    /// A file that arpent itself published: no evidence.
    Own,
    /// The document does not exist, and nothing names it.
    Absent,
    /// Not read, or not to its end.
    Failed,
}

/// The meaning of a problem for the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// There is no document where it should be, by the answer of the site itself.
    NoDocument,
    /// The answer of the site leaves open whether there is one.
    Withheld,
    /// The host gives no usable answer; in the next session it may.
    Unanswered,
    /// The document is there, and could not be read; in the next session it may.
    Interrupted,
    /// The next session would find the same, so it is not requested again.
    Lasting,
}

macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $meaning:ident, $text:literal;)*) => {
        /// Why a document is no, or not the whole, source of URLs. The codes are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum SeedProblem { $($(#[$doc])* $name,)* }

        impl SeedProblem {
            /// The stable code.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            fn meaning(self) -> Meaning {
                match self { $(Self::$name => Meaning::$meaning,)* }
            }

            /// A line for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

problems! {
    /// 404 or 410.
    Gone = "gone", NoDocument, "does not exist";
    /// 5xx or 429 after all tries.
    ServerError = "server-error", Unanswered, "could not be fetched: its server answered 5xx or 429";
    /// Another status than 200.
    BadStatus = "bad-status", NoDocument, "did not answer 200";
    /// No answer after all tries.
    NetworkError = "network-error", Unanswered, "could not be fetched: network error or time-out";
    /// robots.txt of its origin disallows it.
    RobotsDisallowed = "robots-disallowed", Withheld, "is disallowed by robots.txt";
    /// robots.txt of its origin cannot be read.
    RobotsUnreachable = "robots-unreachable", Unanswered, "was not read, because robots.txt of its host could not be read";
    /// The URL must not be contacted: a private address, or production itself while its copy is crawled.
    Forbidden = "forbidden", Lasting, "must not be fetched";
    /// The URL redirects in a loop, too often, or nowhere.
    BadRedirect = "bad-redirect", NoDocument, "redirects in a loop, too often, or without a target";
    /// The host asks not to be contacted now, or does not answer any more.
    HostClosed = "host-closed", Unanswered, "was not read: its host gets no further request in this session";
    /// The answer is something else, e.g. an HTML page.
    NotASitemap = "not-a-sitemap", NoDocument, "is not a sitemap, feed or list";
    /// The answer broke off, or may have: an answer without a length may end anywhere.
    CutShort = "cut-short", Interrupted, "did not arrive as a whole; what came before was read";
    /// The document ends before its end on the server already: it arrived as a whole.
    Truncated = "truncated", Lasting, "ends before its end; what came before was read";
    /// More bytes than are read.
    TooLarge = "too-large", Lasting, "is larger than what is read; what came before was read";
    /// The document cannot be read any further.
    Damaged = "damaged", Lasting, "cannot be read to its end; what came before was read";
    /// The content coding is unknown or broken.
    Undecodable = "undecodable", Lasting, "has a content coding that cannot be decoded";
    /// An index to which more indexes lead than are followed.
    TooDeep = "too-deep", Lasting, "is named through too many indexes; the sitemaps that it names were not read";
    /// An index that names itself, or an index that led to it.
    Loop = "loop", Lasting, "names an index that leads back to it, which was not read again";
    /// There are more documents, feeds or hosts than are read.
    TooMany = "too-many", Lasting, "was not read: there are too many of its kind";
    /// A line of robots.txt that is not a URL.
    BadUrl = "bad-url", Lasting, "is not the URL of a sitemap";
    /// A line of robots.txt that is not absolute (it is read nevertheless).
    RelativeUrl = "relative-url", Lasting, "is named by a relative URL in robots.txt, where it must be absolute";
    /// The file could not be read, or kept while it was.
    Io = "io", Interrupted, "could not be read on this machine";
}

impl SeedProblem {
    /// Returns whether there is nothing where it should be, by the answer of the site itself.
    pub fn is_absence(self) -> bool {
        matches!(self.meaning(), Meaning::NoDocument | Meaning::Withheld)
    }

    /// Returns whether its host does not answer, or not in earnest.
    pub fn is_unanswered(self) -> bool {
        self.meaning() == Meaning::Unanswered
    }

    /// Returns whether what is there is no document at all.
    pub fn denies_document(self) -> bool {
        self.meaning() == Meaning::NoDocument
    }

    /// Returns whether nobody has seen a document there: a link to it leads to a page, which is asked for and judged like any other.
    pub fn may_be_page(self) -> bool {
        match self.meaning() {
            Meaning::NoDocument | Meaning::Withheld | Meaning::Unanswered => true,
            Meaning::Interrupted => false,
            Meaning::Lasting => matches!(self, Self::Forbidden | Self::Undecodable | Self::TooMany),
        }
    }

    /// Returns whether it may be over in the next session: the URLs of the document are then missing without evidence.
    pub fn is_passing(self) -> bool {
        matches!(self.meaning(), Meaning::Unanswered | Meaning::Interrupted)
    }
}

/// The data on one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The URL of the document, or the name of a file.
    pub name: String,
    /// The expected kind of document.
    pub kind: DocumentKind,
    /// The result.
    pub state: DocumentState,
    /// Indexes that led to it.
    pub level: u8,
    /// Depth of the URLs in it: hops from the start URL.
    pub depth: u32,
    /// Number of the index that names it; [`Document::named_by`] is then left to whoever reads all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// The last change that an index on the site itself states, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lastmod: Option<String>,
    /// The name of the document that names it, for people: robots.txt, an index, a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
    /// The defect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<SeedProblem>,
    /// The problem in its own words: status, line, what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// URLs and documents that it names.
    #[serde(default)]
    pub entries: u64,
    /// Entries that could not be used, or only in spite of a defect.
    #[serde(default)]
    pub findings: u64,
    /// The entries that could not be used, or only in spite of a defect, by rule.
    #[serde(default, skip_serializing_if = "EntryTroubles::is_empty")]
    pub troubles: EntryTroubles,
    /// The URLs that it names outside of what is crawled: they are not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// URLs of a document that are outside of what is crawled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: String,
}

impl Document {
    /// A document that waits to be read.
    pub fn new(name: &str, kind: DocumentKind, depth: u32) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            state: DocumentState::Waiting,
            level: 0,
            depth,
            parent: None,
            lastmod: None,
            named_by: None,
            problem: None,
            detail: None,
            entries: 0,
            findings: 0,
            troubles: EntryTroubles::default(),
            outside: None,
        }
    }

    /// Adds what went wrong.
    #[must_use]
    pub fn with_problem(mut self, problem: SeedProblem, detail: &str) -> Self {
        self.problem = Some(problem);
        self.detail = Some(detail.chars().take(MAX_DETAIL_CHARACTERS).collect())
            .filter(|detail: &String| !detail.is_empty());
        self
    }

    /// The defect, in a sentence without its name.
    pub fn trouble(&self) -> Option<String> {
        let problem = self.problem?;
        Some(match &self.detail {
            Some(detail) => format!("{} ({detail})", problem.text()),
            None => problem.text().to_owned(),
        })
    }
}

/// Adds document `number` (from 0) as it is now to a commit; `count` is the number of all, the last one
/// of which must be put when it is found.
pub fn put(commit: &mut Vec<Effect>, number: usize, document: &Document, count: usize) {
    // Strings and numbers are always JSON.
    let text = serde_json::to_string(document).unwrap_or_default();
    commit.push(Effect::Value((name_of(number), Some(text))));
    if number + 1 == count {
        commit.push(Effect::value(COUNT, Some(count.to_string())));
    }
}

/// The documents that run `run` knows already. Those of an earlier crawl are forgotten.
///
/// # Errors
/// The store failed, or holds values that cannot be read.
pub fn take_up(store: &mut Store, run: CrawlId) -> Result<Vec<Document>, StoreError> {
    let now = run.to_string();
    if store.value(RUN)?.as_ref() == Some(&now) {
        return documents(store);
    }
    let count = count(store)?;
    let names = (0..count).map(name_of).chain([COUNT.to_owned()]);
    let mut values: Vec<_> = names.map(|name| (name, None)).collect();
    values.push((RUN.to_owned(), Some(now)));
    store.commit(&Effect::values(values))?;
    Ok(Vec::new())
}

/// Every document of the crawl, in the order in which they were found.
///
/// # Errors
/// The store failed, or holds values that cannot be read.
pub fn documents(store: &Store) -> Result<Vec<Document>, StoreError> {
    let read = |number| {
        let name = name_of(number);
        let text = store.value(&name)?.unwrap_or_default();
        serde_json::from_str(&text).map_err(|error| corrupt(&name, &text).with_source(error))
    };
    (0..count(store)?).map(read).collect()
}

fn count(store: &Store) -> Result<usize, StoreError> {
    let Some(text) = store.value(COUNT)? else {
        return Ok(0);
    };
    let count = text.parse().ok();
    count
        .filter(|count| *count <= MAX_DOCUMENTS)
        .ok_or_else(|| corrupt(COUNT, &text))
}

fn corrupt(name: &str, text: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state's value {name} cannot be read: {text:?}"),
    )
}

/// Documents by what became of them, and the first that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Read to the end.
    pub read: u64,
    /// Published by arpent itself.
    pub published_by_arpent: u64,
    /// Not read yet.
    pub waiting: u64,
    /// Documents that were not read, or not wholly, or in spite of a defect.
    pub with_problems: u64,
    /// Sitemaps and lists that failed in a way that may be over in the next session.
    pub passing: u64,
    /// The first [`MAX_FAILURES_NAMED`] documents with problems.
    pub problems: Vec<Document>,
    /// The defects of the entries of all of them, by rule.
    pub entries: BTreeMap<String, RuleTally>,
    /// URLs that they name outside of what is crawled.
    pub outside: u64,
    /// The first [`MAX_FAILURES_NAMED`] documents that name some.
    pub outside_in: Vec<Document>,
}

impl Tally {
    /// Counts the documents of the crawl.
    ///
    /// # Errors
    /// See [`documents`].
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let mut tally = Self::default();
        let documents = documents(store)?;
        let names: Vec<String> = documents
            .iter()
            .map(|document| document.name.clone())
            .collect();
        for mut document in documents {
            for trouble in document.troubles.iter() {
                let rule = tally.entries.entry(trouble.rule.clone()).or_default();
                rule.add(&document.name, trouble);
            }
            if let Some(outside) = &document.outside {
                tally.outside += outside.count;
                if tally.outside_in.len() < MAX_FAILURES_NAMED {
                    tally.outside_in.push(document.clone());
                }
            }
            let parent = document.parent.and_then(|parent| names.get(parent));
            document.named_by = document.named_by.or_else(|| parent.cloned());
            match document.state {
                DocumentState::Waiting => tally.waiting += 1,
                DocumentState::Read => tally.read += 1,
                DocumentState::Own => tally.published_by_arpent += 1,
                DocumentState::Absent | DocumentState::Failed => {}
            }
            if document.problem.is_some() && document.state != DocumentState::Absent {
                tally.with_problems += 1;
                // What nobody named may not exist, unless it began to arrive.
                let counts = |problem: SeedProblem| match document.kind {
                    DocumentKind::Sitemap | DocumentKind::List => problem.is_passing(),
                    DocumentKind::WellKnown => problem.is_passing() && !problem.is_unanswered(),
                    DocumentKind::Feed => false,
                };
                tally.passing += u64::from(document.problem.is_some_and(counts));
                if tally.problems.len() < MAX_FAILURES_NAMED {
                    tally.problems.push(document);
                }
            }
        }
        Ok(tally)
    }
}
