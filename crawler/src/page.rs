//! The product of a crawl: the data on one URL, and the state of the URL.
//!
//! Facts and judgement are kept apart: [`PageFacts`] has the facts of an answer, [`crate::verdict`]
//! decides by these facts, and the decision is stored beside the facts only so that people can read it.
//! Changed settings judge the stored facts again.

mod closed_pattern;
mod facts;
mod ledger;
mod link_texts;
mod reason;
mod repeat;
mod supplied;
mod text;
mod text_novelty;
mod warnings;
mod words;

use jiff::Timestamp;

pub use self::closed_pattern::{ClosedPattern, PatternKind};
pub use self::facts::{
    BodyEnd, BodyKind, Canonical, ContentHash, Directives, LanguageVersion, Link, PageFacts,
    Refresh, RenderedContent, StatedDates, StatedElement,
};
pub use self::ledger::{LedgerDates, LedgerEntry};
pub use self::link_texts::{LinkTexts, TakenLinks};
pub use self::reason::{Evidence, ListingFault, Mark, Reason, State, with_code};
pub use self::repeat::Repeat;
pub use self::supplied::{InputExtensionsError, Supplied, extensions_from_json};
pub(crate) use self::text::sample as sample_blocks;
pub use self::text::{MAX_BLOCKS, PageText, TextBlock};
pub use self::text_novelty::{Reading, TextNovelty};
pub use self::warnings::Warnings;
pub(crate) use self::words::words;
use crate::url_key::UrlKey;

/// The number of a crawl of one site; the first is 1.
pub type CrawlId = u64;

words! {
    /// How a URL was found first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Via {
        /// The start URL itself.
        Start = "start",
        /// A link on a page (a, area, iframe, frame, link next/prev, `Link` header).
        Link = "link",
        /// The target of a redirect.
        Redirect = "redirect",
        /// The target of a meta refresh.
        Refresh = "refresh",
        /// The target of a canonical link.
        Canonical = "canonical",
        /// An alternate version (hreflang, amphtml).
        Alternate = "alternate",
        /// An input of the user's that names URLs.
        Input = "input",
        /// A file in the folder that the site is made of.
        File = "file",
        /// An entry of a sitemap.
        Sitemap = "sitemap",
        /// An entry of a feed.
        Feed = "feed",
        /// An entry of a list that the user gave.
        List = "list",
        /// The URL was listed before, by an earlier crawl or in the published set that another state made, and nothing of this crawl
        /// led to it.
        Earlier = "earlier",
    }
}

impl Via {
    /// Returns whether the site's own sitemap, or a list of the user's, named it: such a URL is requested also when its pattern is closed.
    pub fn is_declared(self) -> bool {
        matches!(self, Self::Sitemap | Self::List)
    }

    /// Returns whether a document named it, and not a page: without a link to it, it is an orphan.
    pub fn is_seed(self) -> bool {
        match self {
            Self::Sitemap | Self::Feed | Self::List => true,
            Self::Start
            | Self::Link
            | Self::Redirect
            | Self::Refresh
            | Self::Canonical
            | Self::Alternate
            | Self::Input
            | Self::File
            | Self::Earlier => false,
        }
    }
}

/// The answer that the facts of a record are of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Basis {
    /// The answer of the last attempt.
    #[default]
    Own,
    /// An earlier one that the last attempt confirmed: it was answered 304.
    Confirmed,
    /// The last good one, because what became of the last attempt is not evidence that the page is gone.
    Kept(Kept),
    /// That of the page row, because the crawl has not decided the URL. In the merged view only.
    NotReached,
}

/// Why a page is judged by its last good answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The reason by the last attempt alone.
    pub reason: Reason,
    /// The event, for people: `status 503`, `connection refused`.
    pub error: String,
}

impl Kept {
    /// The reason for which the page stays listed.
    pub fn listed_as(&self) -> Reason {
        match self.reason {
            Reason::Gone => Reason::GoneOnce,
            _ => Reason::Unreachable,
        }
    }
}

/// The `lastmod` that a sitemap of the site states for a URL.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SitemapDate {
    /// The value as it is there.
    pub lastmod: String,
    /// The date is the date of the sitemap file itself, which is the date of the file rather than of the page.
    pub is_of_file: bool,
}

words! {
    /// The source of the `lastmod` of an entry, in the order of trust. The words are stable:
    /// summaries, the state and scripts use them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DateSource {
        /// A page rule's selector.
        Rule = "rule",
        /// Two crawls, between which the content changed.
        History = "history",
        /// Structured data of the page.
        JsonLd = "json-ld",
        /// A meta or microdata of the page.
        Meta = "meta",
        /// A sitemap of the site.
        Sitemap = "sitemap",
        /// The header `Last-Modified`.
        Header = "header",
        /// An input of the user's.
        Input = "input",
        /// A published set that was read back.
        Imported = "imported",
    }
}

impl DateSource {
    /// The source of this code in words; a code that is no source is its own word.
    pub fn label_of(code: &str) -> &str {
        match Self::from_code(code) {
            None => code,
            Some(Self::Rule) => "a page rule",
            Some(Self::History) => "changes of content",
            Some(Self::JsonLd) => "JSON-LD",
            Some(Self::Meta) => "meta elements",
            Some(Self::Sitemap) => "sitemaps of the site",
            Some(Self::Header) => "Last-Modified",
            Some(Self::Input) => "the input",
            Some(Self::Imported) => "an earlier set",
        }
    }
}

/// How the last attempt at a URL ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// There was none: the verdict came without a request (rules, depth, robots.txt).
    NotFetched(Reason),
    /// No answer after all tries; the text has the error.
    NoAnswer {
        /// For people, e.g. `connection refused`.
        error: String,
    },
    /// An answer.
    Answered(Box<PageFacts>),
    /// There was none, and none is needed: an input of the user has the values for the sitemap.
    Supplied(Box<Supplied>),
}

impl Outcome {
    /// Nothing is known of a page but that it is in the published set, which another state made: there was no attempt,
    /// or none that decides whether it is to leave.
    pub const PUBLISHED: Self = Self::NotFetched(Reason::NotReached);
}

/// The record of one URL: of the last attempt in a [`Visit`], of the answer that counts in a [`Page`].
#[derive(Debug, Clone, PartialEq)]
pub struct PageRecord {
    /// Why the URL is in its state; [`Reason::state`] is the state.
    pub reason: Reason,
    /// Fewest known hops from the start URL (0).
    pub depth: u32,
    /// How it was found first.
    pub via: Via,
    /// On which page, or in which sitemap or feed, it was found first.
    pub found_on: Option<UrlKey>,
    /// Tries made, first included.
    pub attempts: u32,
    /// When the last attempt ended.
    pub fetched_at: Option<Timestamp>,
    /// The last change that a sitemap of the site states, in W3C format; not one that arpent published. A store
    /// keeps the first of a crawl ([`crate::store::Effect::Date`]).
    pub sitemap_lastmod: Option<SitemapDate>,
    /// How it ended; `None` while queued. The links of the facts are stored apart
    /// ([`crate::store::Store::lists`]) and are empty here.
    pub outcome: Option<Outcome>,
    /// Whose answer the outcome is. In a visit [`Basis::Confirmed`] is beside the facts of the answer 304 itself: the
    /// page row has what it confirms. [`Basis::Kept`] occurs in page rows and in the merged view only.
    pub basis: Basis,
    /// When the first attempt since the last good answer failed, if the last one did. Of a visit never.
    pub failing_since: Option<Timestamp>,
    /// When it answered 404 first since then. Of a visit never.
    pub gone_since: Option<Timestamp>,
}

/// A URL that a published crawl decided, or that an imported set lists: a row of the table `page`. Written by publishing
/// only.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The record that counts: the reason as published, and the last good answer where one is known.
    pub record: PageRecord,
    /// Number of the crawl that wrote it last; `None`: only an imported set names it.
    pub crawl: Option<CrawlId>,
    /// When a publish wrote it first.
    pub first_seen: Timestamp,
    /// When a publish wrote it last. One that meets an unlisted row writes it always; that row leaves 30 days after the last.
    pub last_seen: Timestamp,
    /// The published `lastmod` with the content that it belongs to. Of a listed URL it is always there, and its `lastmod`
    /// is what the published set states.
    pub dates: Option<LedgerEntry>,
}

impl Page {
    /// Takes into account that the crawl `published_in_part` is published, if there is one: a listed page that it did not reach
    /// stays listed for that reason.
    pub fn settle_reach(&mut self, published_in_part: Option<CrawlId>) {
        let is_reached = published_in_part.is_none_or(|crawl| self.crawl == Some(crawl));
        if self.record.reason == Reason::Listed && !is_reached {
            self.record.reason = Reason::NotReached;
        }
    }
}

/// A URL of the crawl under way: a row of the table `visit`. Written by the crawl loop only, but for the mark.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// The data of the crawl; its outcome is that of the last attempt, and its reason the verdict of the loop on that alone.
    pub record: PageRecord,
    /// The place in the queue.
    pub sequence: u64,
    /// Redirects in a row that led to it.
    pub hops: u8,
    /// A sitemap, a feed or a list named it, and no page has led to it.
    pub is_orphan: bool,
    /// A sitemap of the site, or a list of the user's, names it.
    pub is_declared: bool,
    /// The part in the growth of the site.
    pub reading: Reading,
    /// A publish of this crawl, which goes on, copied it to its page row.
    pub promotion: Option<Promotion>,
}

impl Visit {
    /// The visit of a URL of which the work has ended. How it was found is not a part of it.
    pub fn finished(sequence: u64, record: PageRecord, reading: Reading) -> Self {
        Self {
            record,
            sequence,
            hops: 0,
            is_orphan: false,
            is_declared: false,
            reading,
            promotion: None,
        }
    }
}

/// The mark of a visit that was copied to `page`: what the guard has to know of the row that was there when the crawl
/// began.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Promotion {
    /// The URL was listed.
    pub was_listed: bool,
    /// Main-content hash of the published page (lower 64 bits), where one was known.
    pub content: Option<u64>,
    /// The title.
    pub title: Option<String>,
    /// The page asked for a password.
    pub has_password: bool,
    /// The target of the redirect.
    pub target: Option<String>,
}

impl PageRecord {
    /// The record of a URL without an attempt.
    pub fn new(reason: Reason, depth: u32, via: Via) -> Self {
        Self {
            reason,
            depth,
            via,
            found_on: None,
            attempts: 0,
            fetched_at: None,
            sitemap_lastmod: None,
            outcome: None,
            basis: Basis::Own,
            failing_since: None,
            gone_since: None,
        }
    }

    /// Returns whether this is the start page: the start URL led to it, by itself or by its redirects.
    pub fn is_start(&self) -> bool {
        self.via == Via::Start || self.via == Via::Redirect && self.depth == 0
    }

    /// The error of the last attempt, when it had no answer, or none that counts.
    pub fn error(&self) -> Option<&str> {
        match (&self.basis, &self.outcome) {
            (Basis::Kept(kept), _) => Some(&kept.error),
            (_, Some(Outcome::NoAnswer { error })) => Some(error),
            _ => None,
        }
    }

    /// The facts of the answer, if there was one.
    pub fn facts(&self) -> Option<&PageFacts> {
        match &self.outcome {
            Some(Outcome::Answered(facts)) => Some(facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Supplied(_))
            | None => None,
        }
    }

    /// The target of the redirect, or of the meta refresh at once, that keeps the page from being listed.
    pub fn redirect_target(&self) -> Option<&UrlKey> {
        let facts = self.facts()?;
        if self.reason.has(Mark::ByLocation) {
            facts.location.as_ref()
        } else if self.reason.has(Mark::ByRefresh) {
            Some(&facts.refresh.as_ref()?.target)
        } else {
            None
        }
    }
}
