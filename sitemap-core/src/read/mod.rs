//! Reading sitemap files: streaming, lenient, never past a bound.
//!
//! ```text
//! any io::BufRead -> gzip and encoding undone -> Reader -> entries, and findings about what was wrong
//!                                            -> check  -> the first thing that is not as we would write it
//! ```
//!
//! Every format of the protocol is read: urlset, index, RSS 0.90 to 2.0, Atom 0.3 and 1.0, and text with one URL per line.
//!
//! [`Reader`] takes the entries out of any file it can interpret. It reports with rule, line and offset each problem that it
//! passed over or left out for; one bad entry never costs the others. [`check()`] is the strict reading, which every file of
//! arpent must pass before it is published. Neither opens files, follows an index or looks at a page. No input makes them panic,
//! and their memory does not grow with the file.

mod check;
mod reader;

mod document;
mod draft;
mod extension;
mod feed;
mod lines;
mod list;
mod list_words;
mod text;

mod date;
mod finding;

mod encoding;
mod halt;
mod input;
mod names;
mod preamble;
pub(crate) mod problem;
mod progress;
mod schema_location;
mod stack;
mod start_tag;
mod syntax;
mod window;

pub use check::{CheckError, Expectation, Order, check};
pub use date::parse_rfc_822;
pub use finding::{Position, ReadError, ReadFinding};
pub use input::Unpacked;
pub use lines::{LineError, Lines, MAX_RECORD_BYTES};
pub use list::{ListError, ListForm, ListProblem, ListRow, RowError, UrlList};
pub use list_words::has_web_scheme;
pub use problem::{Problem, Rule, Severity, Source};
pub use reader::{Reader, Start};
pub use schema_location::SchemaLocationError;
pub use window::Excerpt;

use std::fmt;

use crate::{IndexEntry, UrlEntry};

/// The most bytes the text of one element may have; a longer one is left out and reported. A URL has 2,047 characters, each at
/// most ten bytes long when it is written as a character reference, but no one does that.
pub const MAX_VALUE_BYTES: usize = 8 * 1024;

/// The most bytes of one tag, comment or stretch of text; a longer one ends the reading. It bounds the memory of the parser. A feed
/// can have whole pages in it, with images in their text.
pub const MAX_TOKEN_BYTES: u64 = 8 * 1024 * 1024;

/// Largest depth of elements. The deepest known extension needs five levels, but an Atom feed can have whole pages in it, and
/// browsers stop at 512.
pub const MAX_DEPTH: usize = 512;

/// Largest number of compressions of a file: once by the protocol, and once more by a server that compresses all it sends.
///
/// With it, and with the limit on bytes that holds for each of the two, the work is bounded for any ratio. A bound on the ratio
/// itself would be useless: deflate ends at 1,032 to 1, and the most repetitive valid sitemap is not far from it.
pub const MAX_GZIP_LAYERS: usize = 2;

/// Largest number of members of a gzip file. `bgzip` starts one for every 64 KiB, so a list of 1 GiB has 16,384.
pub const MAX_GZIP_MEMBERS: u32 = 65_536;

/// Number of findings that are kept until they are taken; more are only counted.
pub const MAX_FINDINGS: usize = 1_000;

/// Kind of a sitemap file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A `<urlset>`: it lists pages.
    UrlSet,
    /// A `<sitemapindex>`: it lists sitemap files.
    Index,
    /// Text with one URL per line: it lists pages (R50 to R57).
    Text,
    /// An `<rss>` feed, or one of RSS 1.0: it lists the latest pages (R45 to R49).
    Rss,
    /// An Atom `<feed>`: it lists the latest pages (R45 to R49).
    Atom,
}

impl Kind {
    /// Returns whether its root element decides it.
    pub fn is_xml(self) -> bool {
        self != Self::Text
    }

    /// Returns whether it is a feed, which lists recent URLs only (R48).
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Atom)
    }

    /// The name in a sentence.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::UrlSet => "a <urlset>",
            Self::Index => "a <sitemapindex>",
            Self::Text => "a list of URLs",
            Self::Rss => "an RSS feed",
            Self::Atom => "an Atom feed",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UrlSet => "urlset",
            Self::Index => "sitemapindex",
            Self::Text => "text",
            Self::Rss => "rss",
            Self::Atom => "atom",
        })
    }
}

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A page, out of anything but an index.
    Url(UrlEntry),
    /// A sitemap file, out of an index.
    Sitemap(IndexEntry),
}

#[cfg(test)]
mod tests;
