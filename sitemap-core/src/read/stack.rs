//! [`Stack`]: the open elements of a document and what each of them means, so that reading can go on after an end tag that does not
//! match.

use std::ops::Range;

use url::Url;

use super::{MAX_DEPTH, Position, draft::Tag};
use crate::extension::Row;

/// The most bytes the start tags of all open elements may have together. It bounds their names and namespaces in memory. One tag
/// may have 256 KiB, which is more than any needs.
const MAX_OPEN_BYTES: usize = 512 * 1024;

/// Meaning of an open element: which elements it may have, and what its text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The root element of a urlset or an index, which has entries; or an entry that goes on in another one inside of it.
    Entries,
    /// An entry of a urlset or an index.
    Entry,
    /// An element of an entry.
    Value(Tag),
    /// An element in a `<loc>` whose text counts as that of the `<loc>`.
    InLoc,
    /// An element of an extension that has elements itself.
    Parts(&'static Row),
    /// An element of an extension that has a text.
    Part,
    /// A link to another version of the page, which has neither elements nor a text.
    Link,
    /// An element of a custom namespace.
    Custom,
    /// The root element of a feed.
    Feed,
    /// The `<channel>` of RSS.
    Channel,
    /// An `<item>` or `<entry>` of a feed.
    Item,
    /// An element of an entry of a feed whose text counts.
    Field(FeedField),
    /// An entry in something that is left out; it counts as lost once it has a `<loc>`.
    LostEntry(&'static str),
    /// Left out, with its content.
    Skipped,
}

/// An element of an entry of a feed whose text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeedField {
    /// The `<link>` of RSS.
    Link,
    /// The `<guid>` of RSS.
    Guid,
    /// The `<pubDate>` of RSS.
    PubDate,
    /// A date in W3C form, with its rank.
    Date(u8),
}

impl Meaning {
    /// Returns whether the text is the value of an element of a sitemap.
    pub(super) fn is_value(self) -> bool {
        matches!(
            self,
            Self::Value(_) | Self::InLoc | Self::Part | Self::Custom
        )
    }

    /// Returns whether it is an element of a sitemap that has elements or nothing, so that white space in it is ignored.
    pub(super) fn has_elements_only(self) -> bool {
        matches!(
            self,
            Self::Entries | Self::Entry | Self::Parts(_) | Self::Link
        )
    }

    /// Returns whether an entry in it would be lost without a word.
    pub(super) fn hides_entries(self) -> bool {
        self.is_left_out() || matches!(self, Self::Parts(_) | Self::Part | Self::Custom)
    }

    /// Returns whether it is left out with its content.
    pub(super) fn is_left_out(self) -> bool {
        matches!(self, Self::Skipped | Self::LostEntry(_) | Self::Link)
    }
}

/// An open element.
#[derive(Debug)]
pub(super) struct OpenElement {
    /// Its name in the names of all.
    name: Range<usize>,
    /// The length of its start tag.
    tag_bytes: usize,
    /// Start of the tag.
    pub(super) position: Position,
    pub(super) meaning: Meaning,
    /// Place in the schema of the latest of its elements.
    pub(super) latest: usize,
    /// Base of relative links in it; only in a feed.
    pub(super) base: Option<Box<Url>>,
}

/// The open elements, from the outermost to the innermost.
#[derive(Debug, Default)]
pub(super) struct Stack {
    elements: Vec<OpenElement>,
    /// The names of all, one after the other.
    names: String,
    tag_bytes: usize,
}

impl Stack {
    /// Takes in a start tag of an element that is left out until [`Self::set`]; `false` when there are too many or too long ones.
    #[must_use]
    pub(super) fn open(&mut self, name: &str, tag_bytes: usize, position: Position) -> bool {
        if self.elements.len() >= MAX_DEPTH || self.tag_bytes + tag_bytes > MAX_OPEN_BYTES {
            return false;
        }
        let start = self.names.len();
        self.names.push_str(name);
        self.elements.push(OpenElement {
            name: start..self.names.len(),
            tag_bytes,
            position,
            meaning: Meaning::Skipped,
            latest: 0,
            base: None,
        });
        self.tag_bytes += tag_bytes;
        true
    }

    /// Gives the innermost element its meaning.
    pub(super) fn set(&mut self, meaning: Meaning) {
        if let Some(element) = self.elements.last_mut() {
            element.meaning = meaning;
        }
    }

    /// Sets the base of relative links in the innermost element.
    pub(super) fn set_base(&mut self, base: Option<Url>) {
        if let Some(element) = self.elements.last_mut() {
            element.base = base.map(Box::new);
        }
    }

    /// Meaning of the innermost element; `None` outside of the root element.
    pub(super) fn meaning(&self) -> Option<Meaning> {
        self.elements.last().map(|element| element.meaning)
    }

    /// The element around the innermost one.
    pub(super) fn parent(&mut self) -> Option<&mut OpenElement> {
        self.elements.iter_mut().nth_back(1)
    }

    /// The meaning of the innermost element that is not left out.
    pub(super) fn read_meaning(&self) -> Option<Meaning> {
        let mut meanings = self.elements.iter().rev().map(|element| element.meaning);
        meanings.find(|meaning| !meaning.is_left_out())
    }

    /// Returns whether an element with this meaning is open.
    pub(super) fn has(&self, meaning: Meaning) -> bool {
        self.elements
            .iter()
            .any(|element| element.meaning == meaning)
    }

    /// Number of elements that an end tag of this name closes: the innermost open one of this name and those in it, or none.
    pub(super) fn closed_by(&self, name: &str) -> usize {
        let mut open = self.elements.iter().rev();
        open.position(|element| self.names[element.name.clone()] == *name)
            .map_or(0, |inside| inside + 1)
    }

    /// Forgets the innermost element.
    pub(super) fn pop(&mut self) -> Option<OpenElement> {
        let element = self.elements.pop()?;
        self.names.truncate(element.name.start);
        self.tag_bytes -= element.tag_bytes;
        Some(element)
    }

    /// Nothing in the open elements is read any more.
    pub(super) fn skip_all(&mut self) {
        for element in &mut self.elements {
            element.meaning = Meaning::Skipped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(stack: &mut Stack, name: &str, tag_bytes: usize) -> bool {
        stack.open(name, tag_bytes, Position::START)
    }

    #[test]
    fn end_tag_closes_what_is_in_its_element() {
        let mut stack = Stack::default();
        for name in ["urlset", "url", "loc", "url", "b"] {
            assert!(open(&mut stack, name, name.len()));
        }
        assert_eq!(stack.closed_by("b"), 1);
        assert_eq!(stack.closed_by("url"), 2);
        assert_eq!(stack.closed_by("urlset"), 5);
        assert_eq!(stack.closed_by("lo"), 0);
        stack.pop();
        stack.pop();
        assert_eq!(stack.closed_by("url"), 2);
        assert_eq!(stack.tag_bytes, "urlseturlloc".len());
    }

    #[test]
    fn depth_and_length_have_an_end() {
        let mut stack = Stack::default();
        assert!((0..MAX_DEPTH).all(|_| open(&mut stack, "a", 1)));
        assert!(!open(&mut stack, "a", 1));
        let mut stack = Stack::default();
        assert!(open(&mut stack, "a", MAX_OPEN_BYTES));
        assert!(!open(&mut stack, "a", 1));
    }
}
