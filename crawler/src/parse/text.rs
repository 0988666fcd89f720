//! The little that a crawler wants to know of a page's text: its title, and whether there is much of
//! it. Text arrives in pieces; how it was cut never changes the result.

use crate::html::{TextKind, TextModel, decode};

/// Longest title that is kept, in characters.
const MAX_TITLE_CHARACTERS: usize = 200;

/// Raw title text that is read, in bytes: enough for the longest title written in character references.
const MAX_RAW_TITLE_BYTES: usize = 4_096;

/// Fewer words than this on a page are few.
const FEW_WORDS: usize = 50;

/// Fewer characters than this on a page are few.
const FEW_CHARACTERS: usize = 200;

/// Counts words and characters, no further than needed to know that there are not few.
#[derive(Debug, Default)]
pub(super) struct TextCount {
    words: usize,
    characters: usize,
    in_word: bool,
}

impl TextCount {
    /// Adds a piece of a text node.
    #[inline]
    pub(super) fn add(&mut self, text: &[u8]) {
        if !self.has_few_words() && !self.has_few_characters() {
            return;
        }
        if text.is_ascii() {
            self.count(text.iter().map(|byte| matches!(byte, 9..=13 | b' ')));
        } else {
            let text = String::from_utf8_lossy(text);
            self.count(text.chars().map(char::is_whitespace));
        }
    }

    /// Counts characters, of which each is a space or not.
    fn count(&mut self, are_spaces: impl Iterator<Item = bool>) {
        for is_space in are_spaces {
            self.characters += usize::from(!is_space);
            self.words += usize::from(!is_space && !self.in_word);
            self.in_word = !is_space;
        }
    }

    /// The text node has ended.
    #[inline]
    pub(super) fn end_text(&mut self) {
        self.in_word = false;
    }

    /// Fewer than 50 words.
    pub(super) fn has_few_words(&self) -> bool {
        self.words < FEW_WORDS
    }

    /// Fewer than 200 characters, spaces not counted.
    pub(super) fn has_few_characters(&self) -> bool {
        self.characters < FEW_CHARACTERS
    }
}

/// Collects the text of the first `<title>` that has any.
#[derive(Debug, Default)]
pub(super) struct Title {
    raw: Vec<u8>,
    is_complete: bool,
}

impl Title {
    /// Adds a piece of a title's text; later titles are ignored.
    pub(super) fn add(&mut self, text: &[u8]) {
        if !self.is_complete {
            let room = MAX_RAW_TITLE_BYTES - self.raw.len();
            self.raw.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    /// The title has ended.
    pub(super) fn end(&mut self) {
        self.is_complete = !self.raw.is_empty();
    }

    /// The title as people see it: decoded, spaces collapsed, at most 200 characters.
    pub(super) fn finish(&self) -> Option<String> {
        let decoded = decode(&self.raw, TextKind::Model(TextModel::Rcdata));
        let words: Vec<&str> = decoded.split_ascii_whitespace().collect();
        let title: String = words.join(" ").chars().take(MAX_TITLE_CHARACTERS).collect();
        let title = title.trim();
        (!title.is_empty()).then(|| title.to_owned())
    }
}

/// Returns whether a title is that of an error page.
pub(super) fn is_error_title(title: &str) -> bool {
    let title = title.to_lowercase();
    let has_404 = title
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| word == "404");
    has_404 || title.contains("not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_across_pieces() {
        let check = |pieces: &[(&str, bool)], words: usize, characters: usize| {
            let mut count = TextCount::default();
            for (text, ends_node) in pieces {
                count.add(text.as_bytes());
                if *ends_node {
                    count.end_text();
                }
            }
            assert_eq!(
                (count.words, count.characters),
                (words, characters),
                "{pieces:?}"
            );
        };
        check(&[("", true)], 0, 0);
        check(&[("a b\u{a0}c", true)], 3, 3);
        check(&[("ab", false), ("cd e", true)], 2, 5);
        check(&[("ab", true), ("cd", true)], 2, 4);
    }

    #[test]
    fn title_is_decoded_collapsed_and_cut() {
        let check = |raw: &str, expected: Option<&str>| {
            let mut title = Title::default();
            title.add(raw.as_bytes());
            title.end();
            title.add(b"later");
            assert_eq!(title.finish().as_deref(), expected, "{raw}");
        };
        check(" \n\t", None);
        check(" A &amp;\n B&copy ", Some("A & B©"));
        check(&"é".repeat(3_000), Some(&*"é".repeat(200)));
    }

    #[test]
    fn error_titles_are_recognised() {
        for title in [
            "404",
            "Page Not Found - Site",
            "Error 404: gone",
            "HTTP-404",
        ] {
            assert!(is_error_title(title), "{title}");
        }
        for title in ["", "Room 4040", "Found", "1404 recipes"] {
            assert!(!is_error_title(title), "{title}");
        }
    }
}
