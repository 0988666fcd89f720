//! Reading sitemap files: streaming, lenient with what people publish, never past a bound.
//!
//! ```text
//! any io::BufRead -> gzip if its first bytes say so -> Reader -> entries, and findings about what was wrong
//!                                                   -> check  -> the first thing that is not as we would write it
//! ```
//!
//! [`Reader`] takes the entries out of any file it can make sense of and says with rule, line and offset what it had to forgive or
//! leave out; one bad entry never costs the others. [`check()`] is the strict reading: it is what a file of ours must pass before it
//! is published. Neither opens files, follows an index or looks at a page, no input makes them panic, and what they hold in memory
//! does not grow with the file.

mod check;
mod reader;

mod document;
mod draft;
mod finding;
mod input;

pub use check::{CheckError, Expectation, Order, check};
pub use finding::{Finding, Position, Problem, ReadError, Rule, Severity};
pub use reader::Reader;

use std::fmt;

use crate::{IndexEntry, UrlEntry};

/// The most bytes the text of one element may have; a longer one is left out and reported. A URL has 2,047 characters, each at
/// most ten bytes long when it is written as a character reference, but no one does that.
pub const MAX_VALUE_BYTES: usize = 8 * 1024;

/// The most bytes one tag, comment or stretch of text may have; a longer one ends the reading. It bounds the memory of the parser.
pub const MAX_TOKEN_BYTES: u64 = 256 * 1024;

/// How deep elements may stand in each other; the deepest known extension needs five levels.
pub const MAX_DEPTH: usize = 16;

/// How many members a gzip file may have. `bgzip` starts one for every 64 KiB, so the largest sitemap has 800.
pub const MAX_GZIP_MEMBERS: u32 = 1_024;

/// How many findings are kept until they are taken; more are only counted.
pub const MAX_FINDINGS: usize = 1_000;

/// What a sitemap file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A `<urlset>`: it lists pages.
    UrlSet,
    /// A `<sitemapindex>`: it lists sitemap files.
    Index,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UrlSet => "urlset",
            Self::Index => "sitemapindex",
        })
    }
}

/// One entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A page, out of a urlset.
    Url(UrlEntry),
    /// A sitemap file, out of an index.
    Sitemap(IndexEntry),
}

#[cfg(test)]
mod tests;
