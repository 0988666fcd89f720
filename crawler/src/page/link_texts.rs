//! The texts of the links of a page, in one piece of memory: a link costs no allocation of its own.

use crate::url_key::UrlKey;

/// Texts by the numbers of the links that they belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkTexts {
    /// All of them, one after the other.
    text: String,
    /// Beginning and end of the text of each link, up to the last link that has one.
    ranges: Vec<(u32, u32)>,
}

/// The links that were taken from a page, with their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenLinks {
    /// The targets, in their order.
    pub urls: Vec<UrlKey>,
    /// The texts of the links.
    pub texts: LinkTexts,
}

impl LinkTexts {
    /// Longest text that is stored, in bytes.
    pub const MAX_BYTES: usize = 80;

    /// The text of link number `link`; empty where none is known.
    pub fn get(&self, link: usize) -> &str {
        let (begin, end) = self.ranges.get(link).copied().unwrap_or_default();
        &self.text[begin as usize..end as usize]
    }

    /// Gives link number `link` this text, if it has any: white space and control characters are single spaces, and what is
    /// longer than [`Self::MAX_BYTES`] is cut.
    pub fn set(&mut self, link: usize, text: &str) {
        let text = text.trim_ascii();
        if is_settled(text.as_bytes()) {
            self.put(link, text);
            return;
        }
        let begin = self.text.len();
        let is_space = |character: char| character.is_whitespace() || character.is_control();
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            if self.text.len() > begin {
                self.text.push(' ');
            }
            let room = Self::MAX_BYTES.saturating_sub(self.text.len() - begin);
            self.text.push_str(&word[..floor_char(word, room)]);
            if word.len() > room {
                break;
            }
        }
        let length = self.text[begin..].trim_end().len();
        self.text.truncate(begin + length);
        self.note(link, begin);
    }

    /// Gives link number `link` the text of a link of other texts.
    pub(crate) fn copy_text(&mut self, link: usize, of: (&Self, usize)) {
        let (texts, number) = of;
        self.put(link, texts.get(number));
    }

    fn put(&mut self, link: usize, text: &str) {
        let begin = self.text.len();
        self.text.push_str(text);
        self.note(link, begin);
    }

    /// The text of link number `link` is what was added from `begin` on.
    fn note(&mut self, link: usize, begin: usize) {
        let (Ok(begin), Ok(end)) = (u32::try_from(begin), u32::try_from(self.text.len())) else {
            return;
        };
        if begin == end {
            return;
        }
        if link == self.ranges.len() {
            // Most links come in their order.
            self.ranges.push((begin, end));
            return;
        }
        if link > self.ranges.len() {
            self.ranges.resize(link + 1, (0, 0));
        }
        self.ranges[link] = (begin, end);
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&self.ranges[..])
    }
}

impl TakenLinks {
    /// Adds a link.
    pub fn push(&mut self, url: UrlKey, text: &str) {
        if !text.is_empty() {
            self.texts.set(self.urls.len(), text);
        }
        self.urls.push(url);
    }
}

impl From<Vec<UrlKey>> for TakenLinks {
    /// Links without texts.
    fn from(urls: Vec<UrlKey>) -> Self {
        let texts = LinkTexts::default();
        Self { urls, texts }
    }
}

/// Returns whether a text is short ASCII that has single spaces between its words, as most have.
fn is_settled(text: &[u8]) -> bool {
    let mut was_space = true;
    for byte in text {
        let is_space = *byte == b' ';
        if *byte < b' ' || *byte > b'~' || is_space && was_space {
            return false;
        }
        was_space = is_space;
    }
    !was_space && text.len() <= LinkTexts::MAX_BYTES
}

/// The last place up to `most` at which a character ends.
fn floor_char(text: &str, most: usize) -> usize {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_single_spaces_and_a_bound() {
        let check = |text: &str, expected: &str| {
            let mut texts = LinkTexts::default();
            texts.set(3, text);
            assert_eq!(texts.get(3), expected, "{text:?}");
            assert_eq!((texts.get(0), texts.get(4)), ("", ""));
            assert!(texts.get(3).len() <= LinkTexts::MAX_BYTES);
        };
        check("Old prices", "Old prices");
        check(" Old \n\tprices\u{a0}\u{1b}[2J ", "Old prices [2J");
        check("", "");
        check(" \t", "");
        check(&"a".repeat(81), &"a".repeat(80));
        check(&"é".repeat(50), &"é".repeat(40));
        check(&format!("{} bc", "a".repeat(79)), &"a".repeat(79));
        check(&format!("{}ü b", "a".repeat(79)), &"a".repeat(79));
    }
}
