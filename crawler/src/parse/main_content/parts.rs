//! The part of the page that an element is, and the parts that are open. Only elements that can be a part are followed, by their
//! tags: an end tag ends the innermost element of its name with all that is open in it, others are ignored.

use super::{AROUND, ARTICLE, BODY, MAIN, NAMED, Regions};
use crate::{html::Tag, parse::element::Element};

/// Open elements that are followed; the tags of deeper ones are counted only.
const MAX_OPEN: usize = 256;

/// Classes of elements that hold advertising, or content chosen for each reader. Whole names only.
const FOREIGN_CLASSES: WordList = WordList::new(&[
    "ad",
    "ad-banner",
    "ad-block",
    "ad-box",
    "ad-container",
    "ad-slot",
    "ad-unit",
    "ad-wrapper",
    "ads",
    "adsbygoogle",
    "advert",
    "advertisement",
    "advertising",
    "adverts",
    "banner-ad",
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "google-ad",
    "recommendations",
    "recommended",
    "related",
    "related-articles",
    "related-content",
    "related-links",
    "related-posts",
    "share-buttons",
    "sidebar",
    "social-share",
    "sponsored",
    "sponsored-content",
]);

/// Classes of asides that are part of the text: notes in documentation.
const NOTE_CLASSES: WordList = WordList::new(&[
    "admonition",
    "callout",
    "caution",
    "danger",
    "hint",
    "important",
    "info",
    "note",
    "starlight-aside",
    "tip",
    "warning",
    "pullquote",
]);

/// Landmarks (WAI-ARIA 1.2 section 5.3.4) and live regions that are not the main part.
const FOREIGN_ROLES: WordList = WordList::new(&[
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "dialog",
    "alertdialog",
    "timer",
    "marquee",
    "log",
]);

/// The role of an element on the page, other than an ordinary one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Part {
    Main,
    Article,
    Section,
    /// Left out.
    Foreign,
    /// Left out; its dates are not dates of the page.
    Aside,
    /// The same, but only because of the name of its class.
    Named,
    /// About something else than the page: its text counts, its dates do not.
    Item,
}

/// The elements that are open and can be a part of the page.
#[derive(Debug, Default)]
pub(in crate::parse) struct OpenParts {
    open: Vec<OpenPart>,
    /// Open elements beyond [`MAX_OPEN`].
    deeper: u32,
    /// Articles that are not in another one.
    articles: u32,
    /// An element that is left out was not closed, so its end is unknown.
    is_left_open: bool,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct OpenPart {
    element: Element,
    part: Option<Part>,
    place: TextPlace,
}

/// The state of a text by the elements around it.
#[derive(Debug, Clone, Copy)]
struct TextPlace {
    regions: Regions,
    /// [`AROUND`], perhaps with [`NAMED`], or nothing.
    left_out: Regions,
    may_be_dated: bool,
    is_in_sections: bool,
}

impl OpenParts {
    /// Takes a start tag.
    pub(super) fn start(&mut self, element: Element, part: Option<Part>) {
        // A list item needs no end tag.
        if element == Element::Li && self.open.last().is_some_and(|open| open.element == element) {
            self.open.pop();
        }
        if self.open.len() >= MAX_OPEN {
            self.deeper = self.deeper.saturating_add(1);
            return;
        }
        let outer = self.place();
        let is_first_article = outer.left_out == 0 && outer.regions & ARTICLE == 0;
        if part == Some(Part::Article) && is_first_article {
            self.articles = self.articles.saturating_add(1);
        }
        self.open.push(OpenPart {
            element,
            part,
            place: part.map_or(outer, |part| outer.within(part)),
        });
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, element: Element) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(place) = self.open.iter().rposition(|open| open.element == element) else {
            return;
        };
        let within = &self.open[place + 1..];
        self.is_left_open |= within.iter().any(OpenPart::is_left_out);
        self.open.truncate(place);
    }

    /// Regions of the next text.
    pub(in crate::parse) fn regions(&self) -> Regions {
        let place = self.place();
        if place.left_out == 0 {
            place.regions
        } else {
            place.left_out
        }
    }

    /// Returns whether the text here may have the date of the page.
    pub(in crate::parse) fn may_be_dated(&self) -> bool {
        self.place().may_be_dated
    }

    /// Articles that are not in another one.
    pub(super) fn articles(&self) -> u32 {
        self.articles
    }

    /// At the end of the page: whether the end of an element that is left out is unknown.
    pub(super) fn is_left_open(&self) -> bool {
        self.is_left_open || self.open.iter().any(OpenPart::is_left_out)
    }

    fn place(&self) -> TextPlace {
        self.open.last().map_or(TextPlace::BODY, |open| open.place)
    }
}

impl OpenPart {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "called for the items of a slice"
    )]
    fn is_left_out(&self) -> bool {
        matches!(self.part, Some(Part::Foreign | Part::Aside | Part::Named))
    }
}

impl TextPlace {
    const BODY: Self = Self {
        regions: BODY,
        left_out: 0,
        may_be_dated: true,
        is_in_sections: false,
    };

    /// The place in an element of this part.
    fn within(mut self, part: Part) -> Self {
        match part {
            // It cannot be in an element that is left out: that one was not closed.
            Part::Main => {
                self.regions |= MAIN;
                self.left_out = 0;
            }
            Part::Article => self.regions |= ARTICLE,
            // A name does not change the reason of an element that is left out already.
            Part::Named if self.left_out == 0 => self.left_out = AROUND | NAMED,
            Part::Foreign | Part::Aside => self.left_out = AROUND,
            Part::Named | Part::Section | Part::Item => {}
        }
        self.may_be_dated &= !matches!(part, Part::Aside | Part::Named | Part::Item);
        self.is_in_sections |= matches!(part, Part::Main | Part::Article | Part::Section);
        self
    }
}

/// The part that the element is, among those that are open; `None` for most.
pub(in crate::parse) fn part_of(element: Element, tag: &Tag<'_>, open: &OpenParts) -> Option<Part> {
    match element {
        Element::Main => return Some(Part::Main),
        Element::Nav | Element::Footer | Element::Dialog => return Some(Part::Foreign),
        Element::Header if !open.place().is_in_sections => return Some(Part::Foreign),
        Element::Aside => {
            return (!has_class(tag, &NOTE_CLASSES)).then_some(Part::Aside);
        }
        _ => {}
    }
    if tag.has_attributes() {
        if let Some(role) = tag.attribute("role") {
            let role = role.trim_ascii();
            if role.eq_ignore_ascii_case(b"main") {
                return Some(Part::Main);
            }
            if FOREIGN_ROLES.has(role) {
                return Some(Part::Foreign);
            }
        }
        if has_class(tag, &FOREIGN_CLASSES) {
            return Some(Part::Named);
        }
    }
    match element {
        Element::Article => Some(Part::Article),
        Element::Section => Some(Part::Section),
        _ => None,
    }
}

fn has_class(tag: &Tag<'_>, known: &WordList) -> bool {
    has_word(tag, "class", known)
}

/// Returns whether one of these words is in an attribute.
fn has_word(tag: &Tag<'_>, attribute: &str, known: &WordList) -> bool {
    let words = tag.attribute(attribute).unwrap_or_default();
    let mut words = words.split(u8::is_ascii_whitespace);
    words.any(|word| known.has(word))
}

/// Names of what holds comments, in the words of common templates.
const COMMENTS: WordList = WordList::new(&[
    "comment",
    "comments",
    "comment-list",
    "commentlist",
    "comments-area",
]);

/// Returns whether an element holds a comment of a reader, or all of them, by its class or id.
pub(in crate::parse) fn is_comment(tag: &Tag<'_>) -> bool {
    has_class(tag, &COMMENTS) || has_word(tag, "id", &COMMENTS)
}

/// Words in lower case, each with a letter first.
#[derive(Debug)]
struct WordList {
    words: &'static [&'static str],
    /// For each letter that one of them begins with, a bit for each length: most words that are looked up have another.
    lengths: [u32; 26],
}

impl WordList {
    const fn new(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; 26];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            lengths[(word[0] - b'a') as usize] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    /// Returns whether it has the word, in any case.
    fn has(&self, word: &[u8]) -> bool {
        let Some(first) = word.first().filter(|first| first.is_ascii_alphabetic()) else {
            return false;
        };
        let lengths = self.lengths[usize::from(first.to_ascii_lowercase() - b'a')];
        let length = u32::try_from(word.len()).unwrap_or(u32::MAX);
        if lengths.checked_shr(length).unwrap_or_default() & 1 == 0 {
            return false;
        }
        let mut words = self.words.iter().map(|known| known.as_bytes());
        words.any(|known| known.eq_ignore_ascii_case(word))
    }
}
