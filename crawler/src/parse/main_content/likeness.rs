//! Whether two pages of a site say nearly the same: an outline that pages share which differ in few words. A
//! login form, a maintenance notice, "not found" answered with 200: served for every URL, they repeat its path, its
//! title, a time or a number, and are one page all the same.
//!
//! Words of the page's own URL and title, words with digits, addresses and tokens do not count. Of the others the
//! smallest hashes count (a sketch as by Broder, "On the resemblance and containment of documents", 1997), and all of
//! them in their order. How the page begins counts for itself: with its main headings, or the first one of a lower rank, as
//! long as it has any, or with its first words, and with every word of these.

use xxhash_rust::xxh3::xxh3_64;

use crate::page::Likeness;

/// Words of URL and title that are left out; few pages repeat longer ones.
const MAX_OWN_WORDS: usize = 64;

/// Longer words are tokens.
const MAX_WORD_BYTES: usize = 40;

/// Words that a page without a heading begins with: as many as "Sorry, this page does".
const FIRST_WORDS: u8 = 4;

/// Raw text of headings that is kept, in bytes.
const MAX_HEADING_BYTES: usize = 1_024;

/// What is known of the words of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sketch {
    minima: [u64; Likeness::MINIMA],
    /// Of all words that count.
    words: Sequence,
    count: u32,
    first: Sequence,
    first_count: u8,
}

/// The hash of words in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sequence(u64);

impl Sequence {
    fn add(&mut self, hash: u64) {
        // An odd factor loses nothing; that of Fibonacci hashing spreads well.
        self.0 = (self.0.rotate_left(7) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// 16 bits of it; 0 for no words only.
    fn folded(self) -> u16 {
        fold(self.0)
    }
}

/// 16 bits of a hash that depend on all of it; 0 for 0 only.
fn fold(hash: u64) -> u16 {
    if hash == 0 {
        return 0;
    }
    let [high, low, ..] = xxh3_64(&hash.to_le_bytes()).to_le_bytes();
    u16::from_le_bytes([high, low]).max(1)
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            minima: [u64::MAX; Likeness::MINIMA],
            words: Sequence::default(),
            count: 0,
            first: Sequence::default(),
            first_count: 0,
        }
    }
}

impl Sketch {
    /// Takes the hash of a word that counts.
    pub(super) fn add(&mut self, hash: u64) {
        let bins = Likeness::MINIMA as u64;
        let bin = usize::try_from(hash % bins).unwrap_or_default();
        if let Some(minimum) = self.minima.get_mut(bin) {
            *minimum = (*minimum).min(hash);
        }
        self.words.add(hash);
        self.count = self.count.saturating_add(1);
    }

    /// Whether any more words are of those that the text begins with.
    pub(super) fn is_beginning(&self) -> bool {
        self.first_count < FIRST_WORDS
    }

    /// Takes the hash of one of the first words, whether it counts or not.
    pub(super) fn begin(&mut self, hash: u64) {
        self.first.add(hash);
        self.first_count += 1;
    }

    /// The outline of a page whose main text this is, with this heading, and with images of these hashes.
    pub(super) fn finish(
        self,
        heading: Option<Sequence>,
        images: impl Iterator<Item = u64>,
    ) -> Likeness {
        // Nobody cares for their order.
        let images = images.fold(0, u64::wrapping_add);
        let bits = |minimum: u64| u16::try_from(minimum & 0x3ff).unwrap_or_default();
        Likeness {
            opening: heading.unwrap_or(self.first).folded(),
            has_heading: heading.is_some(),
            words: fold(self.words.0 ^ images.rotate_left(32)),
            minima: self.minima.map(bits),
            is_short: self.count < Likeness::FEW_WORDS,
        }
    }
}

/// The text of the main headings of a page.
#[derive(Debug, Default)]
pub(super) struct Headings {
    raw: String,
}

impl Headings {
    /// Takes a piece of a text node in one; `ends_node` says that it is the last one.
    pub(super) fn add(&mut self, text: &str, ends_node: bool) {
        for character in text.chars().chain(ends_node.then_some(' ')) {
            if self.raw.len() + character.len_utf8() > MAX_HEADING_BYTES {
                return;
            }
            if !self.raw.is_empty() || !character.is_whitespace() {
                self.raw.push(character);
            }
        }
    }

    /// Their words, if there are any.
    pub(super) fn finish(&self) -> Option<Sequence> {
        let text = htmlize::unescape(&*self.raw);
        let mut words = text.split_whitespace().filter_map(opening_word).peekable();
        words.peek()?;
        let mut sequence = Sequence::default();
        words.for_each(|word| sequence.add(word));
        Some(sequence)
    }
}

/// The text of the first heading of a lower rank: that of a page without a main one.
#[derive(Debug, Default)]
pub(super) struct Subheading {
    text: Headings,
    is_over: bool,
}

impl Subheading {
    /// Takes a piece of a text node in one; `ends_node` says that it is the last one.
    pub(super) fn add(&mut self, text: &str, ends_node: bool) {
        if !self.is_over {
            self.text.add(text, ends_node);
        }
    }

    /// One ends. The first that has text counts.
    pub(super) fn end(&mut self) {
        self.is_over = !self.text.raw.is_empty();
    }

    /// Its words, if it has any.
    pub(super) fn finish(&self) -> Option<Sequence> {
        self.text.finish()
    }
}

/// The hash of a word that a page may begin with: any but punctuation. Numbers and addresses tell headings apart.
pub(super) fn opening_word(word: &str) -> Option<u64> {
    let word = core_of(word);
    (!word.is_empty()).then(|| xxh3_64(word.to_ascii_lowercase().as_bytes()))
}

fn core_of(word: &str) -> &str {
    word.trim_matches(|character: char| !character.is_alphanumeric())
}

/// The words that count of all words.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Hashes of the words of the page's own URL and title.
    own: Vec<u64>,
    word: String,
}

impl Counting {
    /// Leaves the words of `text` out: of a path with its query, or a title.
    pub(super) fn leave_out(&mut self, text: &str) {
        let decoded = percent_decoded(text);
        let is_separator = |character: char| !character.is_alphanumeric();
        let words = decoded
            .split(['/', '?', '&', '='])
            .chain(decoded.split(is_separator))
            .chain(decoded.split_whitespace());
        for word in words {
            if self.own.len() >= MAX_OWN_WORDS {
                return;
            }
            if let Some(hash) = self.hash(word)
                && !self.own.contains(&hash)
            {
                self.own.push(hash);
            }
        }
    }

    /// The hash of a word that counts.
    pub(super) fn take(&mut self, word: &str) -> Option<u64> {
        let hash = self.hash(word)?;
        (!self.own.contains(&hash)).then_some(hash)
    }

    fn hash(&mut self, word: &str) -> Option<u64> {
        let word = core_of(word);
        let is_text = |byte: u8| !byte.is_ascii_digit() && !matches!(byte, b'/' | b'@' | b':');
        if word.is_empty() || word.len() > MAX_WORD_BYTES || !word.bytes().all(is_text) {
            return None;
        }
        self.word.clear();
        self.word.push_str(word);
        self.word.make_ascii_lowercase();
        Some(xxh3_64(self.word.as_bytes()))
    }
}

/// The text that its percent-encoded form stands for.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
        let code = (digit(0), digit(1));
        if let (b'%', (Some(high), Some(low))) = (byte, code) {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Likeness {
        titled(path, "", "", text)
    }

    fn titled(path: &str, title: &str, heading: &str, text: &str) -> Likeness {
        let mut counting = Counting::default();
        counting.leave_out(path);
        counting.leave_out(title);
        let mut headings = Headings::default();
        headings.add(heading, true);
        let mut sketch = Sketch::default();
        for word in text.split_whitespace() {
            if sketch.is_beginning()
                && let Some(hash) = opening_word(word)
            {
                sketch.begin(hash);
            }
            if let Some(hash) = counting.take(word) {
                sketch.add(hash);
            }
        }
        sketch.finish(headings.finish(), [].into_iter())
    }

    fn text_of(likeness: Likeness) -> ([u16; Likeness::MINIMA], u16) {
        (likeness.minima, likeness.words)
    }

    #[test]
    fn what_repeats_its_url_its_title_a_time_or_a_token_is_the_same() {
        let login = text_of(of("/", "Please log in to go on"));
        for (path, text) in [
            ("/a/old-page.html", "Please log in to go on"),
            (
                "/a/old-page.html",
                "Please log in to go on: /a/old-page.html",
            ),
            (
                "/about-us",
                "please LOG in \u{201c}to go on\u{201d} (about us)",
            ),
            ("/caf%C3%A9?x=1", "Please log in to go on, café"),
            ("/b", "Please log in to go on 12:30:15 8f3ab2c19"),
            (
                "/b",
                "Please log in to go on someone@example.com https://example.com/b",
            ),
        ] {
            assert_eq!(text_of(of(path, text)), login, "{path}: {text}");
        }
        let repeated = titled(
            "/b",
            "How to sharpen - Bench",
            "",
            "Please log in to go on: how to sharpen",
        );
        // A word of the title is left out everywhere.
        let left = of("/", "Please log in go on");
        assert_eq!(text_of(repeated), text_of(left));
    }

    #[test]
    fn other_words_make_another_page() {
        let one = of("/a", "How to sharpen a plane iron by hand");
        let other = of("/b", "Where to buy oil stones and what they cost");
        assert_ne!(one.minima, other.minima);
        assert_ne!(one.words, other.words);
        assert_ne!(one.opening, other.opening);
        let none = of("/a", "");
        assert_eq!((none.words, none.opening, none.is_short), (0, 0, true));
        assert_eq!(text_of(of("/a", "a 12 /a")), text_of(none));
        // An image says as much as words.
        let with_image = |image: u64| {
            let sketch = Sketch::default();
            sketch.finish(None, [image].into_iter())
        };
        assert_ne!(with_image(1).words, 0);
        assert_ne!(with_image(1).words, with_image(2).words);
    }

    #[test]
    fn a_page_begins_with_its_heading_or_with_its_first_words() {
        let one = titled(
            "/a",
            "",
            "Not found &amp; gone",
            "You may like planes and saws",
        );
        let other = titled("/b", "", " Not  found & GONE!", "You may like stones");
        assert_eq!(one.opening, other.opening);
        assert!(one.has_heading && other.has_heading);
        let heading = |path: &str| titled(path, "", &format!("Page {path}"), "").opening;
        assert_ne!(heading("/a"), heading("/b"));
        // Numbers, and words of the URL, are of it.
        let number = |number: u32| {
            titled(
                "/b",
                "",
                &format!("Article {number}"),
                "Price and how to buy",
            )
        };
        assert_ne!(number(1).opening, number(2).opening);
        let slug = |slug: &str| titled(slug, "", "", &format!("{slug} in the cart now"));
        assert_ne!(slug("planes").opening, slug("saws").opening);
        let one = of("/a", "Sorry, this page does not exist, but planes");
        let other = of("/a", "Sorry, this page does not exist, but saws do");
        assert_eq!(one.opening, other.opening);
        assert!(!one.has_heading);
        assert_ne!(one.opening, 0);
    }

    #[test]
    fn few_words_are_told() {
        let many = "word ".repeat(15);
        assert!(!of("/", &many).is_short);
        assert!(of("/word", &many).is_short);
        assert!(of("/", &"word ".repeat(14)).is_short);
    }

    #[test]
    fn few_words_of_difference_leave_most_pages_alike() {
        let text = "The page that you asked for is not here any more, it may have moved or never been; \
                    try the search or begin at the front page of the site";
        let all = 1_000;
        let mut found = std::collections::HashMap::<_, u32>::new();
        for page in 0..all {
            // Two words of 30 that no other page has.
            let name = |number: u32| {
                let digits = number.to_string().into_bytes();
                let letters = digits
                    .into_iter()
                    .map(|digit| char::from(digit - b'0' + b'k'));
                letters.collect::<String>()
            };
            let text = format!("{text} x{} y{}", name(page), name(page));
            *found.entry(of("/", &text).minima).or_default() += 1;
        }
        let most = found.values().max().copied().unwrap_or_default();
        assert!(most > all * 6 / 10, "{most}");
    }
}
