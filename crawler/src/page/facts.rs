//! The facts of one answer, before anything is decided by them.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;

use super::{LinkTexts, PageText, Repeat, Via, warnings::Warnings, words::words};
use crate::url_key::UrlKey;

/// A 128-bit hash (XXH3) of the content of a page, with the version of the algorithm that made it: a new
/// version must not count as a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// Version of what is hashed: the text of the main part without what moves by itself, its links and images, the
    /// title, and structured data without dates. Hashes of other versions cannot be compared.
    pub const VERSION: u32 = 7;

    /// Represents what is known of a document whose body is never read: see [`PageFacts::document_tag`].
    pub const OF_DOCUMENT: u32 = 1_000;
}

/// Dates that a page states of itself, in W3C format and as precise as they are stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatedDates {
    /// `dateModified` of the page's main entity in structured data (JSON-LD).
    pub json_ld: Option<String>,
    /// The best of its metas and microdata (`article:modified_time` and its like).
    pub meta: Option<String>,
    /// The earliest date of publication: it was not changed before.
    pub published: Option<String>,
}

/// Robots directives that matter for listing and following, summed over metas and headers for
/// `robots` and the bots of the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Directives {
    /// `noindex` or `none` was stated.
    pub noindex: bool,
    /// `nofollow` or `none` was stated.
    pub nofollow: bool,
    /// The earliest `unavailable_after`.
    pub unavailable_after: Option<Timestamp>,
    /// `noimageindex` was stated: the images of the page are not for search engines.
    pub noimageindex: bool,
}

/// The canonical URL that the page states, after normalisation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Canonical {
    /// No canonical link, or one that is empty, unparsable or not http(s).
    #[default]
    Absent,
    /// The page itself.
    Itself,
    /// Another URL, in scope or not.
    Other(UrlKey),
    /// Two different ones: treated as absent, and reported.
    Conflicting,
}

impl Canonical {
    /// The other URL that the page names, where it names one.
    pub fn other(&self) -> Option<&UrlKey> {
        match self {
            Self::Other(target) => Some(target),
            Self::Absent | Self::Itself | Self::Conflicting => None,
        }
    }
}

/// A meta refresh (or `Refresh` in markup) with its resolved target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// Delay in whole seconds; 0 counts as a permanent redirect.
    pub delay_seconds: u32,
    /// The target; the page itself means a reload.
    pub target: UrlKey,
}

words! {
    /// The kind of the body.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum BodyKind {
        /// HTML or XHTML: parsed.
        Page = "page",
        /// A document of a listed type (PDF and the like): listed, not parsed.
        Document = "document",
        /// Anything else.
        #[default]
        Other = "other",
    }
}

/// How the body ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BodyEnd {
    /// All of it was read.
    Complete,
    /// Nobody wanted it (by its status or type); it was not read.
    #[default]
    Skipped,
    /// The decoded body passed the cap.
    TooLarge,
    /// The connection ended, or the coded stream broke off, before the announced end.
    CutShort,
    /// The content coding is unknown, stacked or broken; the text names it.
    Undecodable(String),
}

/// A link taken from a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The target, normalised.
    pub target: UrlKey,
    /// The kind of link.
    pub via: Via,
    /// `rel` holds nofollow, ugc or sponsored.
    pub nofollow: bool,
}

/// A version of a page in another language, or for another region, as the page names it (`hreflang`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LanguageVersion {
    /// The code as it is written: whether it is one is judged later. Trimmed, in lower case, without
    /// control characters, at most [`LanguageVersion::MAX_CODE_BYTES`] long.
    pub hreflang: String,
    /// The URL of the version, normalised; often the page itself.
    pub target: UrlKey,
}

impl LanguageVersion {
    /// Longest code that is kept: the 35 bytes that RFC 5646 section 4.4.1 asks everybody to have room for, and some,
    /// so that a longer one is not taken for a code.
    pub const MAX_CODE_BYTES: usize = 48;

    /// A version; the code is cleaned as for [`LanguageVersion::hreflang`].
    pub fn new(hreflang: &str, target: UrlKey) -> Self {
        let mut code = String::new();
        for character in hreflang.trim().chars() {
            if code.len() + character.len_utf8() > Self::MAX_CODE_BYTES {
                break;
            }
            if !character.is_control() {
                code.push(character.to_ascii_lowercase());
            }
        }
        Self {
            hreflang: code,
            target,
        }
    }
}

/// Values of a video or an article as a page states them, by the names of the elements of a sitemap. Whether it has all that a
/// sitemap needs is judged where it is written.
pub type StatedElement = BTreeMap<String, String>;

/// A page as a browser shows it, beside its HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RenderedContent {
    /// Hash of the main content as it is shown.
    #[serde(skip)]
    pub hash: ContentHash,
    /// Links of its HTML.
    pub html_links: u32,
    /// Links as it is shown.
    pub links: u32,
    /// Length of the text of its HTML, in characters without white space.
    pub html_text: u32,
    /// The same as it is shown.
    pub text: u32,
}

/// All facts of an answer, and no decision on them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageFacts {
    /// HTTP status.
    pub status: u16,
    /// Essence of `Content-Type` in lower case, if any.
    pub content_type: Option<String>,
    /// The kind of the body, by type and sniffing.
    pub kind: BodyKind,
    /// How the body ended.
    pub end: BodyEnd,
    /// Decoded bytes read.
    pub body_bytes: u64,
    /// Time from sending the request to the end of the body, in whole milliseconds; `None`: not measured. Of a page that a 304
    /// confirmed that of its whole answer.
    pub duration: Option<Duration>,
    /// Hash of the main content, when the page was read to its end; `None` for a body that is not a page.
    pub content_hash: Option<ContentHash>,
    /// How a browser shows it, when all of it was shown.
    pub shown: Option<RenderedContent>,
    /// The text by which it is compared with other pages, when it was read to its end.
    pub text: Option<Box<PageText>>,
    /// The repetition; found out by the crawl, not by the answer.
    pub repeat: Option<Repeat>,
    /// XXH3 (128 bits) of the decoded body, when it was read to its end.
    pub body_hash: Option<u128>,
    /// The dates that the page states.
    pub dates: StatedDates,
    /// `Last-Modified`, when readable.
    pub last_modified: Option<Timestamp>,
    /// The server's clock (`Date`) with this answer.
    pub date: Option<Timestamp>,
    /// `ETag`, as sent.
    pub etag: Option<String>,
    /// Robots directives.
    pub directives: Directives,
    /// Some of them came with a header, which an answer 304 need not repeat.
    pub robots_by_header: bool,
    /// The canonical link.
    pub canonical: Canonical,
    /// Meta refresh.
    pub refresh: Option<Refresh>,
    /// `Location` of a 3xx, resolved and normalised; `None` when missing or unusable.
    pub location: Option<UrlKey>,
    /// Date found by a page rule's selector, W3C format, checked.
    pub selected_lastmod: Option<String>,
    /// A page rule's exclude selector matched.
    pub excluded_by_page_rule: bool,
    /// Links in document order, deduplicated.
    pub links: Vec<Link>,
    /// The texts of the links: of each the first that it has on the page.
    pub link_texts: LinkTexts,
    /// Further links, beyond the limits for one page. Not stored.
    pub links_left_out: u64,
    /// Images of the page in document order, each once; `None` when nobody asked for them.
    pub images: Option<Vec<UrlKey>>,
    /// The versions that the page and its headers state in other languages, ordered by code and target,
    /// each once; `None` when nobody asked for them.
    pub alternates: Option<Vec<LanguageVersion>>,
    /// Videos of the page, each once; `None` when nobody asked for them.
    pub videos: Option<Vec<StatedElement>>,
    /// The news article that the page is, one at most; `None` when nobody asked for it.
    pub news: Option<Vec<StatedElement>>,
    /// Feeds of the site that the page names, as far as they may be followed.
    pub feeds: Vec<UrlKey>,
    /// Things worth a warning.
    pub warnings: Warnings,
    /// Text of the first `title`, trimmed, at most 200 characters.
    pub title: Option<String>,
    /// Fingerprint of everything that decides what is read from the same bytes; `None`: not known. Facts that
    /// were read in another way than today's are not asked to be confirmed.
    pub read_as: Option<u64>,
}

impl PageFacts {
    /// Half of the hash of the body, for tables of many pages: two of a million pages have the same by chance once in 37
    /// million sites. Of a page that was rendered that of its content, because the body is that of every page.
    pub(crate) fn half_of_body_hash(&self) -> Option<u64> {
        let shown = self.shown.map(|shown| shown.hash.0);
        shown
            .or(self.body_hash)
            .and_then(|hash| u64::try_from(hash >> 64).ok())
    }

    /// Hash of the main content as readers get it.
    pub(crate) fn content_as_shown(&self) -> Option<ContentHash> {
        self.shown.map(|shown| shown.hash).or(self.content_hash)
    }

    /// Hash of the `ETag` of a document that is not a page. The same `ETag` means the same document; another one
    /// means little, because servers make it of times and of places on disks too. 0: it has none. `None`: it is a page,
    /// or nothing that is listed.
    pub fn document_tag(&self) -> Option<u128> {
        let hash = |etag: &String| xxhash_rust::xxh3::xxh3_128(etag.as_bytes());
        (self.kind == BodyKind::Document).then(|| self.etag.as_ref().map_or(0, hash))
    }

    /// These facts after an answer 304 confirmed them: what of its head replaces the stored one does
    /// (RFC 9110 section 15.4.5, RFC 9111 section 3.2), everything else stays: the `ETag` too, because another one
    /// would be that of a state which nobody has seen (RFC 9111 section 4.3.4). Directives of its headers come on
    /// top, and so does a canonical link where none was known.
    #[must_use]
    pub fn confirmed_by(mut self, answer: &Self) -> Self {
        if self.canonical == Canonical::Absent {
            self.canonical.clone_from(&answer.canonical);
        }
        self.repeat.clone_from(&answer.repeat);
        self.last_modified = answer.last_modified.or(self.last_modified);
        self.date = answer.date.or(self.date);
        let (own, new) = (&mut self.directives, answer.directives);
        own.noindex |= new.noindex;
        own.nofollow |= new.nofollow;
        own.noimageindex |= new.noimageindex;
        let ends = [own.unavailable_after, new.unavailable_after];
        own.unavailable_after = ends.into_iter().flatten().min();
        self.robots_by_header |= answer.robots_by_header;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_304_replaces_the_facts_of_its_head() {
        let time = |day: u32| Some(format!("2026-02-{day:02}T00:00:00Z").parse().unwrap());
        let stored = PageFacts {
            status: 200,
            content_hash: Some(ContentHash(7)),
            last_modified: time(1),
            date: time(2),
            etag: Some("\"1\"".to_owned()),
            title: Some("a page".to_owned()),
            ..PageFacts::default()
        };
        let bare = PageFacts {
            status: 304,
            ..PageFacts::default()
        };
        assert_eq!(stored.clone().confirmed_by(&bare), stored);
        let informative = PageFacts {
            last_modified: time(3),
            date: time(4),
            etag: Some("\"2\"".to_owned()),
            canonical: Canonical::Itself,
            directives: Directives {
                noindex: true,
                unavailable_after: time(5),
                ..Directives::default()
            },
            robots_by_header: true,
            ..bare
        };
        let expected = PageFacts {
            last_modified: time(3),
            date: time(4),
            canonical: Canonical::Itself,
            directives: informative.directives,
            robots_by_header: true,
            ..stored.clone()
        };
        assert_eq!(stored.confirmed_by(&informative), expected);
    }
}
