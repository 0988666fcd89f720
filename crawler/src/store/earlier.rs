//! What a URL that waits was before the work on it began: what a conditional request needs, and what
//! has to be known before a page may leave the set. Small, because it waits in memory with the URL.

use jiff::Timestamp;

use crate::page::{BodyEnd, BodyKind, Canonical, ContentHash, Directives, PageFacts};

/// What the page row of a queued URL says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// It is listed.
    pub was_listed: bool,
    /// Its last good answer in outline; [`Store::page`](super::Store::page) has it in full.
    pub answer: Option<EarlierAnswer>,
}

/// The outlines of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of an answer"
)]
pub struct EarlierAnswer {
    /// HTTP status.
    pub status: u16,
    /// What the body was.
    pub kind: BodyKind,
    /// All of the body was read.
    pub is_complete: bool,
    /// Hash of its content, when the algorithm is still the same.
    pub content_hash: Option<ContentHash>,
    /// See [`orders`].
    pub orders: u64,
    /// `Last-Modified`.
    pub last_modified: Option<Timestamp>,
    /// The server's clock with the answer.
    pub date: Option<Timestamp>,
    /// `ETag`, as sent.
    pub etag: Option<String>,
    /// See [`PageFacts::robots_by_header`].
    pub robots_by_header: bool,
    /// See [`PageFacts::read_as`].
    pub read_as: u64,
    /// Somebody looked for its images.
    pub has_images: bool,
    /// Somebody looked for its versions in other languages.
    pub has_alternates: bool,
}

/// The fingerprint of what a page asks of indexes, which is no part of its content: whether it is to be left out, and
/// under which URL it is to be known. Made anew from stored facts each time, and never stored.
pub fn orders(directives: Directives, canonical: &Canonical) -> u64 {
    let canonical = match canonical {
        Canonical::Absent => "absent",
        Canonical::Itself => "itself",
        Canonical::Other(url) => url.as_str(),
        Canonical::Conflicting => "conflicting",
    };
    let text = format!("{} {} {canonical}", directives.noindex, directives.nofollow);
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

impl EarlierAnswer {
    /// The outlines of `facts`.
    pub fn of(facts: &PageFacts) -> Self {
        Self {
            status: facts.status,
            kind: facts.kind,
            is_complete: facts.end == BodyEnd::Complete,
            content_hash: facts.content_hash,
            orders: orders(facts.directives, &facts.canonical),
            last_modified: facts.last_modified,
            date: facts.date,
            etag: facts.etag.clone(),
            robots_by_header: facts.robots_by_header,
            read_as: facts.read_as,
            has_images: facts.images.is_some(),
            has_alternates: facts.alternates.is_some(),
        }
    }
}
