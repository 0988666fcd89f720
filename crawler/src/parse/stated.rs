//! The dates that a page states of itself, besides its structured data: metas and microdata. Never a `time` without a
//! property: it may be that of a comment or an event, and words beside it are a guess.
//!
//! A list of articles has a date for each. Different dates of the page cancel each other.

use super::dates::parse_stated;

/// Text that may be a date, in bytes.
const MAX_DATE_BYTES: usize = 64;

/// Dates of publication that are kept; the earliest counts.
const MAX_PUBLISHED: usize = 8;

/// Metas with the date of change, the best first.
const MODIFIED_METAS: [&str; 12] = [
    "article:modified_time",
    "og:article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "last_modified",
    "lastmodified",
    "revised",
    "modified_time",
    "bt:moddate",
];

/// Metas with the date of publication.
const PUBLISHED_METAS: [&str; 6] = [
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "dcterms.issued",
    "dc.date.issued",
    "bt:pubdate",
];

/// Meaning of an element with a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateMeaning {
    Modified,
    Published,
}

/// The dates of one page as they go by.
#[derive(Debug, Default)]
pub(super) struct RawDates {
    /// By the place in [`MODIFIED_METAS`].
    meta: Option<(usize, String)>,
    microdata: Single,
    published: Vec<String>,
    /// An element whose text is its date.
    pending: Option<PendingDate>,
}

/// See [`RawDates::pending`].
#[derive(Debug)]
struct PendingDate {
    meaning: DateMeaning,
    /// Text so far.
    text: Vec<u8>,
}

/// Several values that should be one.
#[derive(Debug, Default, PartialEq, Eq)]
enum Single {
    #[default]
    None,
    One(String),
    Several,
}

impl Single {
    fn add(&mut self, date: String) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(date),
            Self::One(known) if known == date => Self::One(known),
            Self::One(_) | Self::Several => Self::Several,
        };
    }

    fn get(self) -> Option<String> {
        match self {
            Self::One(date) => Some(date),
            Self::None | Self::Several => None,
        }
    }
}

/// Dates that the page states, in W3C format.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageStates {
    pub(super) meta: Option<String>,
    /// All of them; the earliest counts.
    pub(super) published: Vec<String>,
}

impl RawDates {
    /// Takes a meta with its `name` or `property`.
    pub(super) fn meta(&mut self, name: &str, content: &str) {
        let name = name.trim();
        let place = |names: &[&str]| {
            names
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name))
        };
        if let Some(place) = place(&MODIFIED_METAS) {
            if self.meta.as_ref().is_none_or(|(best, _)| place < *best)
                && let Some(date) = parse_stated(content)
            {
                self.meta = Some((place, date));
            }
        } else if place(&PUBLISHED_METAS).is_some() {
            self.publish(content);
        }
    }

    /// Takes an element with the properties `itemprop`, whose value is in `datetime` or `content`, or else its text.
    pub(super) fn element(&mut self, itemprop: &str, value: Option<&str>) {
        self.pending = None;
        let has_property = |name: &str| {
            let mut properties = itemprop.split_ascii_whitespace();
            properties.any(|property| property.eq_ignore_ascii_case(name))
        };
        let meaning = if has_property("dateModified") {
            DateMeaning::Modified
        } else if has_property("datePublished") {
            DateMeaning::Published
        } else {
            return;
        };
        if let Some(value) = value {
            self.take(meaning, value);
        } else {
            let text = Vec::new();
            self.pending = Some(PendingDate { meaning, text });
        }
    }

    /// Takes a piece of text that readers see.
    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) {
        if let Some(pending) = &mut self.pending {
            pending.text.extend_from_slice(text);
            if pending.text.len() > MAX_DATE_BYTES {
                self.pending = None;
            }
        }
    }

    /// The text node has ended.
    #[inline]
    pub(super) fn end_text(&mut self) {
        let has_text = |pending: &mut PendingDate| !pending.text.trim_ascii().is_empty();
        if let Some(PendingDate { meaning, text }) = self.pending.take_if(has_text) {
            self.take(meaning, &String::from_utf8_lossy(&text));
        }
    }

    fn take(&mut self, meaning: DateMeaning, value: &str) {
        match meaning {
            DateMeaning::Modified => {
                if let Some(date) = parse_stated(value) {
                    self.microdata.add(date);
                }
            }
            DateMeaning::Published => self.publish(value),
        }
    }

    fn publish(&mut self, value: &str) {
        if self.published.len() < MAX_PUBLISHED {
            self.published.extend(parse_stated(value));
        }
    }

    /// The result.
    pub(super) fn finish(self) -> PageStates {
        PageStates {
            meta: self
                .meta
                .map(|(_, date)| date)
                .or_else(|| self.microdata.get()),
            published: self.published,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn the_best_meta_counts_wherever_it_is() {
        let rows = [
            " =>",
            "date 2024-01-01 =>",
            "article:published_time 2024-01-01 =>",
            "Revised 2024-01-01 => 2024-01-01",
            "og:updated_time 2024-01-02, article:modified_time 2024-01-01, last-modified 2024-01-03 => 2024-01-01",
            "article:modified_time never, og:updated_time 2024-01-02 => 2024-01-02",
        ];
        check_rows(&rows, |metas| {
            let mut dates = RawDates::default();
            for (name, content) in metas.split(", ").filter_map(|meta| meta.split_once(' ')) {
                dates.meta(name, content);
            }
            dates.finish().meta.unwrap_or_default()
        });
    }

    #[test]
    fn microdata_counts_when_it_is_of_one_mind() {
        let mut dates = RawDates::default();
        dates.element("dateModified", Some("2024-05-06"));
        dates.element("url dateModified", Some("2024-05-06"));
        dates.element("datePublished", Some("2024-05-01"));
        let states = dates.finish();
        assert_eq!(states.meta.as_deref(), Some("2024-05-06"));
        assert_eq!(states.published, ["2024-05-01"]);
        let mut dates = RawDates::default();
        dates.element("dateModified", Some("2024-05-06"));
        dates.element("dateModified", Some("2024-05-07"));
        assert_eq!(dates.finish().meta, None);
    }
}
