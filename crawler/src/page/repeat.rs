//! The repetition of a page, when that keeps it out of the set.

use super::Reason;
use crate::url_key::UrlKey;

/// A page that answered well and is not listed, because other pages have the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// The page is in a place that was cut, and more than half of its text is at simpler URLs.
    NothingNew,
    /// The page is the page that the site answers to every URL that does not exist.
    NotFound,
    /// The page is far from new text, and a bound ended the crawl before it was known whether its part of the site has an end.
    Waits,
    /// The page is a copy of this URL.
    DuplicateOf(UrlKey),
}

impl Repeat {
    /// The word before the URL of [`Repeat::DuplicateOf`] in the state.
    const DUPLICATE_OF: &str = "duplicate-of ";

    /// The text of [`Repeat::Waits`] in the state.
    pub(crate) const WAITS: &str = "waits";

    /// The reasons by which a page that repeats something is decided.
    pub const REASONS: [Reason; 3] = [
        Reason::NothingNew,
        Reason::NotFoundPage,
        Reason::DuplicateOf,
    ];

    /// The reason that follows.
    pub fn reason(&self) -> Reason {
        match self {
            Self::NothingNew => Reason::NothingNew,
            Self::NotFound => Reason::NotFoundPage,
            Self::Waits => Reason::Queued,
            Self::DuplicateOf(_) => Reason::DuplicateOf,
        }
    }

    /// The text in the state.
    pub fn text(&self) -> String {
        match self {
            Self::NothingNew => "nothing-new".to_owned(),
            Self::NotFound => "not-found-page".to_owned(),
            Self::Waits => Self::WAITS.to_owned(),
            Self::DuplicateOf(url) => format!("{}{url}", Self::DUPLICATE_OF),
        }
    }

    /// Reads the text of [`Repeat::text`].
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "nothing-new" => Self::NothingNew,
            "not-found-page" => Self::NotFound,
            Self::WAITS => Self::Waits,
            _ => {
                let url = text.strip_prefix(Self::DUPLICATE_OF)?;
                Self::DuplicateOf(UrlKey::from_normalised(url).ok()?)
            }
        })
    }
}
