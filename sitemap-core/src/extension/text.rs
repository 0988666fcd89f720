//! [`Text`]: a title, a description or a name that may be in a file.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

/// The most characters a text may have without a bound in its schema. At four bytes each they fill
/// [`MAX_VALUE_BYTES`](crate::read::MAX_VALUE_BYTES).
pub const MAX_TEXT_CHARACTERS: usize = 2_048;

/// Replacement of a character that XML cannot represent (R21).
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A text of 1 to [`MAX_TEXT_CHARACTERS`] characters, or fewer, all of them allowed by XML 1.0, without white space around it.
///
/// White space of XML (space, tab, line ends) within it is one space, as in the display of consumers; other white space, such as
/// a no-break space, stays. Two texts are equal when their characters are.
///
/// ```
/// use sitemap_core::extension::{Text, TextError};
///
/// let title = Text::new("  Dogs\n and\u{b} cats ")?;
/// assert_eq!(title.as_str(), "Dogs and\u{FFFD} cats");
/// assert_eq!(title.replaced(), 1);
/// assert_eq!(Text::with_limit("Dogs", 3), Err(TextError::TooLong { characters: 4, limit: 3 }));
/// # Ok::<(), TextError>(())
/// ```
#[derive(Clone)]
pub struct Text {
    text: Box<str>,
    /// Number of characters that were replaced; the replaced characters are not part of the value.
    replaced: usize,
}

/// Reason why a text cannot be a [`Text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text has only white space.
    #[error("text is empty")]
    Empty,
    /// The text has more characters than allowed.
    #[error("text has {characters} characters, expected at most {limit}")]
    TooLong {
        /// The characters, without white space around it.
        characters: usize,
        /// The largest number allowed.
        limit: usize,
    },
}

impl Text {
    /// Trims a text, makes one space of each stretch of XML white space, and replaces each character that XML 1.0 section 2.2
    /// forbids by U+FFFD (R21); [`replaced`](Self::replaced) counts them.
    ///
    /// # Errors
    /// [`TextError`] when it is blank or it has more than [`MAX_TEXT_CHARACTERS`].
    pub fn new(raw: &str) -> Result<Self, TextError> {
        Self::with_limit(raw, MAX_TEXT_CHARACTERS)
    }

    /// The same for a text of at most so many characters.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn with_limit(raw: &str, limit: usize) -> Result<Self, TextError> {
        let raw = raw.trim();
        let mut text = String::with_capacity(raw.len());
        let mut replaced = 0;
        for character in raw.chars() {
            match character {
                ' ' | '\t' | '\n' | '\r' => {
                    if !text.ends_with(' ') {
                        text.push(' ');
                    }
                }
                character if is_xml_character(character) => text.push(character),
                _ => {
                    text.push(REPLACEMENT);
                    replaced += 1;
                }
            }
        }
        if text.is_empty() {
            return Err(TextError::Empty);
        }
        // A character takes a byte at least, so most texts need not be counted.
        if text.len() > limit {
            let characters = text.chars().count();
            if characters > limit {
                return Err(TextError::TooLong { characters, limit });
            }
        }
        Ok(Self {
            text: text.into_boxed_str(),
            replaced,
        })
    }

    /// The text, before entity escaping.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of characters that had to be replaced by U+FFFD when it was made.
    pub fn replaced(&self) -> usize {
        self.replaced
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Text({:?})", self.text)
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Returns whether XML 1.0 section 2.2 allows a character.
pub(crate) fn is_xml_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_joined_and_repaired() {
        let check = |raw: &str, expected: &str, replaced: usize| {
            let text = Text::new(raw).unwrap();
            assert_eq!((text.as_str(), text.replaced()), (expected, replaced));
            // What it is, it stays.
            assert_eq!(Text::new(text.as_str()), Ok(text));
        };
        check("a", "a", 0);
        check(" \u{a0}a\r\n\tb \u{3000}", "a b", 0);
        check("5\u{a0}€", "5\u{a0}€", 0);
        check("\0", "\u{FFFD}", 1);
        let replaced = "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b";
        check("a\u{1}\u{1f}\u{FFFE}\u{FFFF}b", replaced, 4);
        let kept = "\u{7f}\u{9f}\u{FFFD}\u{10FFFF}";
        check(kept, kept, 0);
    }

    #[test]
    fn text_has_a_first_and_a_last_character() {
        for blank in ["", " ", "\n\t\u{a0}"] {
            assert_eq!(Text::new(blank), Err(TextError::Empty), "{blank:?}");
        }
        let limit = 3;
        assert!(Text::with_limit(" äöü ", limit).is_ok());
        let error = Text::with_limit("äöü!", limit).unwrap_err();
        let characters = 4;
        assert_eq!(error, TextError::TooLong { characters, limit });
        let message = "text has 4 characters, expected at most 3";
        assert_eq!(error.to_string(), message);
    }
}
