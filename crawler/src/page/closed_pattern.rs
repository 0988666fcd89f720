//! A pattern of URLs of which some were not asked for, or not listed, because of what pages say.

use super::{CrawlId, words::words};
use crate::url_key::UrlKey;

words! {
    /// The kind of a pattern.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PatternKind {
        /// A place that goes on without end: URLs in it that are far from new text are not asked for.
        Place = "place",
        /// A parameter that only makes copies: it is left out of URLs.
        Parameter = "parameter",
    }
}

/// A place that was cut, or a parameter that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPattern {
    /// The subject.
    pub kind: PatternKind,
    /// The name: `/agenda?` for a path with a query, `/guide/` for a directory, `/guide/*` for all below it, `/*` for the site;
    /// `?visit=` for a parameter. A run of digits is `0`.
    pub name: String,
    /// The first of the crawls in a row that found it.
    pub crawl: CrawlId,
    /// Pages of it that were asked for.
    pub requested: u64,
    /// Requested pages that are not listed because of it.
    pub left_out: u64,
    /// URLs of it that were not asked for.
    pub not_requested: u64,
    /// One of the URLs that were left out or not asked for.
    pub example: UrlKey,
    /// A glob for the setting `exclude` that matches it, and no listed page or page by which one was found; `None`:
    /// there is none.
    pub exclude: Option<String>,
}
