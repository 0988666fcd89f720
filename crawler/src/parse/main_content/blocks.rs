//! The text of a page as blocks, by which pages are compared ([`PageText`]). All text counts, that of navigation too: what the
//! pages of a site share is known only to the crawl.

use xxhash_rust::xxh3::xxh3_64;

use super::{
    buffer::{MarkedWord, TextOfBlocks},
    filter::{DIGITS, OF_URL, SENTENCE_END, WordFilter},
    stream::{TextStream, join, mixed},
    words::{KnownWords, core_place},
};
use crate::{
    page::{MAX_BLOCKS, PageText, TextBlock, sample_blocks},
    url_key::UrlKey,
};

/// Weight of the address of an image, in bytes.
const IMAGE_BYTES: usize = 24;

/// Words of a query that are left out of the text at most.
const MAX_URL_WORDS: usize = 64;

/// Letters and digits of the shortest id.
const MIN_ID: usize = 16;

/// Gathers the blocks of a page.
#[derive(Debug, Default)]
pub(super) struct TextBlocks {
    /// All words so far, without times and ids.
    alike: TextStream,
    /// Hash of the times and ids.
    of_one_view: u64,
    /// Hash of the addresses of the main content.
    addresses: u64,
    sentence: Sentence,
    blocks: Vec<TextBlock>,
    /// Only blocks whose hashes have no such bit are taken.
    mask: u32,
    /// No blocks are gathered.
    is_off: bool,
    /// Words of the path and the query of the page, in lower case: a page that repeats what it was asked for adds nothing by
    /// that.
    of_url: Vec<Vec<u8>>,
    /// One of them has a digit.
    has_digits_in_url: bool,
}

/// The block that has not ended, with one sign for all digits and without words of the URL.
#[derive(Debug, Default)]
struct Sentence {
    /// Its begin in the text.
    from: usize,
    /// The end of what `text` has of it.
    taken_to: usize,
    /// Empty as long as it is as it is written.
    text: Vec<u8>,
    /// Hash of its words with digits.
    numbers: u64,
}

impl TextBlocks {
    /// No text yet, of the page at `url`.
    pub(super) fn of_page(url: &UrlKey) -> Self {
        let query = url.path_and_query().split_once('?');
        let path = url.path().trim_matches('/');
        let query = url::form_urlencoded::parse(query.map_or("", |(_, query)| query).as_bytes());
        let mut texts = vec![path.into()];
        texts.extend(query.flat_map(|(name, value)| [name, value]));
        let mut of_url: Vec<Vec<u8>> = Vec::new();
        for word in texts
            .iter()
            .flat_map(|text| text.split(|character: char| !character.is_alphanumeric()))
        {
            let word = word.as_bytes().to_ascii_lowercase();
            if !word.is_empty() && of_url.len() < MAX_URL_WORDS && !of_url.contains(&word) {
                of_url.push(word);
            }
        }
        Self {
            has_digits_in_url: of_url.iter().flatten().any(u8::is_ascii_digit),
            of_url,
            ..Self::default()
        }
    }

    /// The words that are to be read.
    pub(super) fn filter(&self) -> WordFilter {
        let mut filter = KnownWords::get().filter();
        for word in &self.of_url {
            filter.add(word, OF_URL);
        }
        if !self.of_url.is_empty() {
            // Behind another sign than those that are skipped.
            filter.add(b"", OF_URL);
        }
        filter
    }

    /// The hash of the whole text alone.
    pub(super) fn without_blocks() -> Self {
        Self {
            is_off: true,
            ..Self::default()
        }
    }

    /// Reads a text, in which these words are marked.
    pub(super) fn read(&mut self, text: &TextOfBlocks<'_>, marks: &[MarkedWord]) {
        let mut marks = marks.iter().peekable();
        let mut taken_to = 0;
        for end in text.ends {
            while let Some(mark) = marks.next_if(|mark| mark.from < *end) {
                taken_to = self.word(text, mark, taken_to);
            }
            if !self.is_off {
                self.end_sentence(text, *end);
            }
        }
        self.alike.put(text.part(taken_to, text.len()));
        self.sentence.begin(0);
    }

    /// Takes a marked word of a text, which was taken up to some place. Returns that place.
    fn word(&mut self, text: &TextOfBlocks<'_>, mark: &MarkedWord, taken_to: usize) -> usize {
        let word = text.part(mark.from, mark.to);
        let has_digit = mark.signs & DIGITS != 0;
        let mut taken_to = taken_to;
        if has_digit && is_of_one_view(word) {
            self.alike.put(text.part(taken_to, mark.from));
            self.of_one_view = mixed(self.of_one_view, xxh3_64(word));
            taken_to = mark.to;
        }
        if self.is_off {
            return taken_to;
        }
        let may_be_of_url = mark.signs & OF_URL != 0 || has_digit && self.has_digits_in_url;
        if may_be_of_url && self.is_of_url(word) {
            self.sentence.take_to(text, mark);
            return taken_to;
        }
        if has_digit {
            self.sentence.take_to(text, mark);
            self.sentence.put_masked(word);
        }
        if mark.signs & SENTENCE_END != 0 {
            self.end_sentence(text, mark.to);
        }
        taken_to
    }

    /// Returns whether all parts of a word are words of the URL: `(/a/b)` of `/a/b` adds nothing.
    fn is_of_url(&self, word: &[u8]) -> bool {
        let core = &word[core_place(word)];
        if self.is_word_of_url(core) {
            return true;
        }
        let parts = core.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
        let mut parts = parts.filter(|part| !part.is_empty()).peekable();
        parts.peek().is_some() && parts.all(|part| self.is_word_of_url(part))
    }

    fn is_word_of_url(&self, word: &[u8]) -> bool {
        let mut known = self.of_url.iter();
        known.any(|known| known.eq_ignore_ascii_case(word))
    }

    /// Takes the addresses of the main content, as hashes in order.
    pub(super) fn addresses(&mut self, hashes: &[u64]) {
        for hash in hashes {
            self.addresses = mixed(self.addresses, *hash);
        }
    }

    /// Takes an image, a sound or a frame by the hash of its name, between two blocks.
    pub(super) fn image(&mut self, name: u64) {
        self.alike.put_bytes(&name.to_le_bytes());
        if !self.is_off {
            self.put_block(name, 0, IMAGE_BYTES);
        }
    }

    /// A block ends here.
    fn end_sentence(&mut self, text: &TextOfBlocks<'_>, end: usize) {
        let sentence = &mut self.sentence;
        let rest = text.part(sentence.taken_to, end);
        let words = if sentence.taken_to == sentence.from {
            rest.trim_ascii()
        } else {
            join(&mut sentence.text, rest);
            &sentence.text
        };
        if !words.is_empty() {
            let (hash, numbers, bytes) = (xxh3_64(words), sentence.numbers, words.len());
            self.put_block(hash, numbers, bytes);
        }
        self.sentence.begin(end);
    }

    fn put_block(&mut self, hash: u64, numbers: u64, bytes: usize) {
        let hash = u32::try_from(hash >> 32).unwrap_or_default();
        if hash & self.mask == 0 {
            self.blocks.push(TextBlock {
                hash,
                numbers: u16::try_from(numbers >> 48).unwrap_or_default(),
                weight: u8::try_from(bytes / 4 + 1).unwrap_or(u8::MAX),
            });
            if self.blocks.len() >= 2 * MAX_BLOCKS {
                self.mask = sample_blocks(&mut self.blocks, self.mask);
            }
        }
    }

    /// The text of the page.
    pub(super) fn finish(self) -> PageText {
        let alike = mixed(self.alike.hash(), self.addresses);
        let text = PageText {
            whole: mixed(alike, self.of_one_view),
            alike,
            blocks: Vec::new(),
        };
        text.with_blocks(self.blocks)
    }
}

impl Sentence {
    fn begin(&mut self, from: usize) {
        (self.from, self.taken_to, self.numbers) = (from, from, 0);
        self.text.clear();
    }

    /// Takes what is before a word, which is not taken as it is written.
    fn take_to(&mut self, text: &TextOfBlocks<'_>, word: &MarkedWord) {
        join(&mut self.text, text.part(self.taken_to, word.from));
        self.taken_to = word.to;
    }

    /// Adds a word, with one sign for each run of digits.
    fn put_masked(&mut self, word: &[u8]) {
        self.numbers = mixed(self.numbers, xxh3_64(word));
        if !self.text.is_empty() {
            self.text.push(b' ');
        }
        let mut last = b' ';
        for byte in word {
            let byte = if byte.is_ascii_digit() { b'0' } else { *byte };
            if (byte, last) != (b'0', b'0') {
                self.text.push(byte);
            }
            last = byte;
        }
    }
}

/// Returns whether a word with a digit may be another one on each view: a time as `12:34`, or an id of 16 and more letters and digits
/// mixed.
fn is_of_one_view(word: &[u8]) -> bool {
    let is_time = |at: usize| {
        let around = [at.wrapping_sub(1), at + 1].map(|at| word.get(at));
        around
            .iter()
            .all(|byte| byte.is_some_and(u8::is_ascii_digit))
    };
    let mut colons = memchr::memchr_iter(b':', word);
    let is_id = |part: &[u8]| part.len() >= MIN_ID && part.iter().any(u8::is_ascii_alphabetic);
    colons.any(is_time)
        || word
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|part| is_id(part) && part.iter().any(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::{super::text::TextHashes, *};
    use crate::html::Text;

    /// The hashes of the blocks of words that `|` divides, on the page at `url`.
    fn blocks(url: &str, text: &str) -> Vec<u32> {
        let url = UrlKey::from_normalised(url).unwrap();
        let mut hashes = TextHashes::with_blocks(TextBlocks::of_page(&url));
        for block in text.split('|') {
            hashes.add(Text::alone(block.as_bytes()));
            hashes.divide();
        }
        hashes.finish();
        let text = hashes.into_blocks().finish();
        text.blocks.iter().map(|block| block.hash).collect()
    }

    #[test]
    fn equal_blocks_have_equal_hashes() {
        let page = "https://h.example/a";
        for (one, other, is_same) in [
            // Digits make no difference.
            ("week 12 of 2026", "week 7 of 1999", true),
            ("week 12 of 2026", "month 12 of 2026", false),
            // Sentences are blocks.
            ("One is. Two are.", "Two are.|One is.", true),
            ("Twice.|Twice.", "Twice.", true),
        ] {
            let is_equal = blocks(page, one) == blocks(page, other);
            assert_eq!(is_equal, is_same, "{one} {other}");
        }
    }

    #[test]
    fn times_and_ids_are_of_one_view() {
        for word in ["12:34", "2026-11-27T12:34:56Z", "(id=0a1b2c3d4e5f6a7b)"] {
            assert!(is_of_one_view(word.as_bytes()), "{word}");
        }
        for word in [
            "12.34",
            "a:b",
            "1,234,567,890,123,456",
            "abcdefghijklmnopqrst",
            "0a1b2c",
        ] {
            assert!(!is_of_one_view(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn words_of_the_url_are_left_out() {
        for (path, text, expected) in [
            (
                "a?f=colour%3Ared&q=Big",
                "Things are big, red",
                "Things are",
            ),
            ("a", "Things are big, red", "Things are big, red"),
            ("shop/red/Big/", "Shop: red, big (things)", "(things)"),
            ("shop/blue/", "Shop: red", "red"),
        ] {
            let found = blocks(&format!("https://h.example/{path}"), text);
            assert_eq!(found, blocks("https://h.example/x", expected), "{path}");
        }
    }
}
