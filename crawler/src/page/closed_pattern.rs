//! A URL pattern that is closed, because its pages have no new text.

use super::words::words;
use crate::url_key::UrlKey;

words! {
    /// The kind of a closed pattern.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PatternKind {
        /// A parameter on one path, or on all: URLs with it are not asked for.
        Parameter = "parameter",
        /// A directory: URLs in it are not asked for.
        Directory = "directory",
        /// A parameter that only makes copies: it is left out of URLs.
        Copies = "copies",
        /// Capitals in paths: a page that was read under one spelling is not asked for under another one.
        Capitals = "capitals",
    }
}

/// A pattern that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPattern {
    /// The subject.
    pub kind: PatternKind,
    /// Its name: `/agenda?month=`, `?visit=` on any path, `/guide/`.
    pub name: String,
    /// Pages that were read before it was closed.
    pub pages: u32,
    /// Pages among them that were new.
    pub new: u32,
    /// The URL of the last of them.
    pub example: UrlKey,
}
