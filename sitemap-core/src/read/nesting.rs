//! [`Nesting`]: the open elements, so that reading can go on after an end tag that does not match.

use super::MAX_DEPTH;

/// The most bytes the start tags of all open elements may have together. It bounds their names and namespaces in memory. One tag
/// may have 256 KiB, which is more than any needs.
const MAX_OPEN_BYTES: usize = 512 * 1024;

/// The open elements, from the outermost to the innermost.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    elements: Vec<OpenElement>,
    tag_bytes: usize,
}

#[derive(Debug)]
struct OpenElement {
    name: Box<str>,
    /// The length of its start tag.
    tag_bytes: usize,
}

impl Nesting {
    /// Takes in a start tag; `false` when there are too many or too long ones.
    #[must_use]
    pub(super) fn open(&mut self, name: &str, tag_bytes: usize) -> bool {
        if self.elements.len() >= MAX_DEPTH || self.tag_bytes + tag_bytes > MAX_OPEN_BYTES {
            return false;
        }
        self.elements.push(OpenElement {
            name: name.into(),
            tag_bytes,
        });
        self.tag_bytes += tag_bytes;
        true
    }

    /// Number of elements that an end tag of this name closes: the innermost open one of this name and those in it, or none.
    pub(super) fn closed_by(&self, name: &str) -> usize {
        let mut open = self.elements.iter().rev();
        open.position(|element| *element.name == *name)
            .map_or(0, |inside| inside + 1)
    }

    /// Forgets the innermost element.
    pub(super) fn pop(&mut self) {
        if let Some(element) = self.elements.pop() {
            self.tag_bytes -= element.tag_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_tag_closes_what_is_in_its_element() {
        let mut nesting = Nesting::default();
        for name in ["urlset", "url", "loc", "url", "b"] {
            assert!(nesting.open(name, name.len()));
        }
        assert_eq!(nesting.closed_by("b"), 1);
        assert_eq!(nesting.closed_by("url"), 2);
        assert_eq!(nesting.closed_by("urlset"), 5);
        assert_eq!(nesting.closed_by("lo"), 0);
        nesting.pop();
        nesting.pop();
        assert_eq!(nesting.closed_by("url"), 2);
        assert_eq!(nesting.tag_bytes, "urlseturlloc".len());
    }

    #[test]
    fn depth_and_length_have_an_end() {
        let mut nesting = Nesting::default();
        assert!((0..MAX_DEPTH).all(|_| nesting.open("a", 1)));
        assert!(!nesting.open("a", 1));
        let mut nesting = Nesting::default();
        assert!(nesting.open("a", MAX_OPEN_BYTES));
        assert!(!nesting.open("a", 1));
    }
}
