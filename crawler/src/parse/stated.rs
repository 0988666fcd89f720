//! The dates that a page states of itself, besides its structured data: metas, microdata, `time` elements that a
//! class or the words before them call the date of an update. Never a bare `time`: it may be that of a comment or an event.
//!
//! A list of articles has a date for each. Different dates of the page cancel each other.

use super::dates::parse_stated;

/// Text before a `time` element that is kept, in bytes: enough for "last updated on".
const LABEL_BYTES: usize = 64;

/// Text that is gathered before all but its end is dropped, in bytes.
const MAX_LABEL_BYTES: usize = 1_024;

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

/// Classes of elements with the date of an update.
const UPDATED_CLASSES: [&str; 16] = [
    "updated",
    "modified",
    "datemodified",
    "date-modified",
    "date-updated",
    "dt-updated",
    "entry-modified",
    "entry-updated",
    "last-modified",
    "last-updated",
    "lastmod",
    "modified-date",
    "post-modified",
    "post-updated",
    "updated-date",
    "updated-on",
];

/// Words that end a label of the date of an update.
const UPDATED_WORDS: [&str; 30] = [
    "updated",
    "update",
    "modified",
    "edited",
    "revised",
    "changed",
    "revision",
    "lastmod",
    "aktualisiert",
    "aktualisierung",
    "geändert",
    "änderung",
    "bearbeitet",
    "überarbeitet",
    "mis à jour",
    "mise à jour",
    "modifié",
    "modification",
    "actualizado",
    "actualización",
    "modificado",
    "aggiornato",
    "aggiornamento",
    "modificato",
    "bijgewerkt",
    "gewijzigd",
    "atualizado",
    "atualização",
    "actualizada",
    "modifiée",
];

/// Words between such a word and the date.
const JOINING_WORDS: [&str; 13] = [
    "on", "at", "am", "le", "el", "il", "em", "op", "de", "date", "the", "last", "was",
];

/// Meaning of an element with a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateMeaning {
    Modified,
    Published,
    /// A `time` that is marked as an update.
    Updated,
    /// A `time` that its own text may call so.
    Perhaps,
}

/// Attributes of an element that may have a date.
#[derive(Debug, Default)]
pub(super) struct DatedElement {
    pub(super) is_time: bool,
    pub(super) itemprop: Option<String>,
    pub(super) class: Option<String>,
    /// `aria-label` or `title`.
    pub(super) label: Option<String>,
    /// `datetime` or `content`.
    pub(super) value: Option<String>,
}

/// The dates of one page as they go by.
#[derive(Debug, Default)]
pub(super) struct RawDates {
    /// By the place in [`MODIFIED_METAS`].
    meta: Option<(usize, String)>,
    microdata: Single,
    time: Single,
    published: Vec<String>,
    /// Text that came last.
    label: Vec<u8>,
    /// An element whose text may be its date, or name the meaning of its date.
    pending: Option<PendingDate>,
}

/// See [`RawDates::pending`].
#[derive(Debug)]
struct PendingDate {
    claim: DateMeaning,
    value: Option<String>,
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
    pub(super) time: Option<String>,
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

    /// Takes an element that has a date, or may have one.
    pub(super) fn element(&mut self, element: &DatedElement) {
        self.pending = None;
        let has_property = |name: &str| {
            element.itemprop.as_deref().is_some_and(|properties| {
                properties
                    .split_ascii_whitespace()
                    .any(|property| property.eq_ignore_ascii_case(name))
            })
        };
        let is_updated = || {
            let has_class = element.class.as_deref().is_some_and(|classes| {
                classes.split_ascii_whitespace().any(|class| {
                    UPDATED_CLASSES
                        .iter()
                        .any(|known| known.eq_ignore_ascii_case(class))
                })
            });
            has_class
                || is_label(&String::from_utf8_lossy(tail(&self.label)))
                || element.label.as_deref().is_some_and(begins_or_ends_label)
        };
        let claim = if has_property("dateModified") {
            DateMeaning::Modified
        } else if has_property("datePublished") {
            DateMeaning::Published
        } else if !element.is_time {
            return;
        } else if is_updated() {
            DateMeaning::Updated
        } else {
            DateMeaning::Perhaps
        };
        match (claim, &element.value) {
            (DateMeaning::Perhaps, None) => {}
            (DateMeaning::Perhaps, Some(_)) | (_, None) => {
                self.pending = Some(PendingDate {
                    claim,
                    value: element.value.clone(),
                    text: Vec::new(),
                });
            }
            (_, Some(value)) => self.claim(claim, value),
        }
    }

    /// Takes a piece of text that readers see.
    pub(super) fn text(&mut self, text: &[u8]) {
        if self.label.len() + text.len() > MAX_LABEL_BYTES {
            self.label
                .drain(..self.label.len() - tail(&self.label).len());
        }
        self.label.extend_from_slice(tail(text));
        if let Some(pending) = &mut self.pending {
            pending.text.extend_from_slice(text);
            if pending.text.len() > MAX_DATE_BYTES {
                self.pending = None;
            }
        }
    }

    /// The text node has ended.
    pub(super) fn end_text(&mut self) {
        let has_text = |pending: &mut PendingDate| !pending.text.trim_ascii().is_empty();
        let Some(PendingDate { claim, value, text }) = self.pending.take_if(has_text) else {
            return;
        };
        let text = String::from_utf8_lossy(&text);
        match value {
            Some(value) if begins_or_ends_label(&text) => self.claim(DateMeaning::Updated, &value),
            Some(_) => {}
            None => self.claim(claim, &text),
        }
    }

    fn claim(&mut self, claim: DateMeaning, value: &str) {
        let Some(date) = parse_stated(value) else {
            return;
        };
        match claim {
            DateMeaning::Modified => self.microdata.add(date),
            DateMeaning::Published => self.publish(value),
            DateMeaning::Updated => self.time.add(date),
            DateMeaning::Perhaps => {}
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
            time: self.time.get(),
            published: self.published,
        }
    }
}

/// The last [`LABEL_BYTES`] of a text.
fn tail(text: &[u8]) -> &[u8] {
    &text[text.len().saturating_sub(LABEL_BYTES)..]
}

/// Returns whether a text ends with the label of a date of an update: "Last updated on:".
fn is_label(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut text = trim_marks(&text);
    while let Some((before, last)) = text.rsplit_once(char::is_whitespace) {
        if !JOINING_WORDS.contains(&last) {
            break;
        }
        text = trim_marks(before);
    }
    UPDATED_WORDS.iter().any(|word| {
        text.strip_suffix(word)
            .is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    })
}

fn trim_marks(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || matches!(character, ':' | '(' | ',' | '-' | '–' | '|' | '·')
    })
}

/// The same of a text around the date itself: "Updated May 6".
fn begins_or_ends_label(text: &str) -> bool {
    let lower = text.to_lowercase();
    let start = trim_marks(&lower);
    let start = start.strip_prefix("last ").unwrap_or(start);
    let begins = UPDATED_WORDS.iter().any(|word| {
        start
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    begins || is_label(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    fn time(value: Option<&str>) -> DatedElement {
        DatedElement {
            is_time: true,
            value: value.map(str::to_owned),
            ..DatedElement::default()
        }
    }

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
    fn a_time_needs_a_word_for_its_meaning() {
        #[track_caller]
        fn check(before: &str, inside: &str, element: &DatedElement, expected: Option<&str>) {
            let mut dates = RawDates::default();
            dates.text(before.as_bytes());
            dates.end_text();
            dates.element(element);
            dates.text(inside.as_bytes());
            dates.end_text();
            assert_eq!(
                dates.finish().time.as_deref(),
                expected,
                "{before:?} {inside:?}"
            );
        }
        let day = Some("2024-05-06");
        check("", "May 6", &time(day), None);
        check("Posted on ", "May 6", &time(day), None);
        check("Comments are not outdated", "x", &time(day), None);
        check("Last updated: ", "May 6", &time(day), day);
        check("Zuletzt geändert am ", "6. Mai", &time(day), day);
        check("Mis à jour le", "6 mai", &time(day), day);
        check("", "Updated May 6", &time(day), day);
        check("", "Updateless", &time(day), None);
        check("Updated", "2024-05-06", &time(None), day);
        check("", "2024-05-06", &time(None), None);
        let mut classed = time(day);
        classed.class = Some("entry-date updated".to_owned());
        check("", "May 6", &classed, day);
        classed.class = Some("entry-date published".to_owned());
        check("", "May 6", &classed, None);
        let mut labelled = time(day);
        labelled.label = Some("Last modified".to_owned());
        check("", "May 6", &labelled, day);
    }

    #[test]
    fn microdata_counts_when_it_is_of_one_mind() {
        let property = |name: &str, value: &str| DatedElement {
            itemprop: Some(name.to_owned()),
            value: Some(value.to_owned()),
            ..DatedElement::default()
        };
        let mut dates = RawDates::default();
        dates.element(&property("dateModified", "2024-05-06"));
        dates.element(&property("url dateModified", "2024-05-06"));
        dates.element(&property("datePublished", "2024-05-01"));
        let states = dates.finish();
        assert_eq!(states.meta.as_deref(), Some("2024-05-06"));
        assert_eq!(states.published, ["2024-05-01"]);
        let mut dates = RawDates::default();
        dates.element(&property("dateModified", "2024-05-06"));
        dates.element(&property("dateModified", "2024-05-07"));
        assert_eq!(dates.finish().meta, None);
    }
}
