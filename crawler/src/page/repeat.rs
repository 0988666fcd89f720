//! The repetition of a page, when that keeps it out of the set.

use super::Reason;
use crate::url_key::UrlKey;

/// A page that answered well and is not listed, because other pages have the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// It belongs to a closed pattern, and less than half of its text is its own.
    NothingNew,
    /// It is the page that the site answers to every URL that does not exist.
    NotFound,
    /// The same text is at two URLs above it in its path.
    Nested,
    /// The same text is at this URL of the same path.
    DuplicateOf(UrlKey),
}

impl Repeat {
    /// The word before the URL of [`Repeat::DuplicateOf`] in the state.
    const DUPLICATE_OF: &str = "duplicate-of ";

    /// The reasons that follow from what a page repeats.
    pub const REASONS: [Reason; 4] = [
        Reason::NothingNew,
        Reason::NotFoundPage,
        Reason::Nested,
        Reason::DuplicateOf,
    ];

    /// The reason that follows.
    pub fn reason(&self) -> Reason {
        match self {
            Self::NothingNew => Reason::NothingNew,
            Self::NotFound => Reason::NotFoundPage,
            Self::Nested => Reason::Nested,
            Self::DuplicateOf(_) => Reason::DuplicateOf,
        }
    }

    /// The text in the state.
    pub fn text(&self) -> String {
        match self {
            Self::NothingNew => "nothing-new".to_owned(),
            Self::NotFound => "not-found-page".to_owned(),
            Self::Nested => "nested".to_owned(),
            Self::DuplicateOf(url) => format!("{}{url}", Self::DUPLICATE_OF),
        }
    }

    /// Reads the text of [`Repeat::text`].
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "nothing-new" => Self::NothingNew,
            "not-found-page" => Self::NotFound,
            "nested" => Self::Nested,
            _ => {
                let url = text.strip_prefix(Self::DUPLICATE_OF)?;
                Self::DuplicateOf(UrlKey::from_normalised(url).ok()?)
            }
        })
    }
}
