//! The record of the `lastmod` of a page from one publish to the next.

use super::{ContentHash, DateSource};

/// The record of the ledger on a page's `lastmod`: once published, it moves only with the content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Hash of the content that `lastmod` belongs to, with its algorithm's version.
    pub content_hash: u128,
    /// Version of the hash algorithm.
    pub hash_version: u32,
    /// The content as a browser showed it last.
    pub shown_hash: Option<ContentHash>,
    /// Two renderings of an unchanged page had the same content: another one is a change.
    pub is_shown_steady: bool,
    /// The published value, W3C date-time.
    pub lastmod: Option<String>,
    /// The `Last-Modified` header last seen with this content, seconds since 1970.
    pub last_modified_seconds: Option<i64>,
    /// The source of [`LedgerEntry::lastmod`].
    pub source: Option<DateSource>,
    /// When this content was fetched first, seconds since 1970.
    pub since_seconds: Option<i64>,
    /// When it was fetched last, seconds since 1970.
    pub seen_seconds: Option<i64>,
    /// The dates that were stated when it was fetched last.
    pub stated: LedgerDates,
}

/// The dates that were stated when a page was fetched last: one that moves while the content does not is not
/// trusted, and a date that did not move is not evidence of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerDates {
    /// By structured data.
    pub json_ld: Option<String>,
    /// By a meta or microdata.
    pub meta: Option<String>,
    /// By a sitemap of the site.
    pub sitemap: Option<String>,
}
