//! The text of a page as blocks, by which pages are compared ([`PageText`]). All text counts, that of navigation too: what the
//! pages of a site share is known only to the crawl.

use super::words::{MIXER, core_of};
use crate::{
    page::{PageText, TextBlock, merge_blocks},
    url_key::UrlKey,
};

/// Blocks of a page that are compared at most; further ones are taken by their hashes.
const MAX_BLOCKS: usize = 256;

/// Weight of the address of an image, in bytes.
const IMAGE_BYTES: u32 = 24;

/// Words of a query that are left out of the text at most.
const MAX_URL_WORDS: usize = 64;

/// Letters and digits of the shortest id.
const MIN_ID: usize = 16;

/// Longest word with digits that is hashed without them; the rest of a longer one does not count.
const MAX_MASKED_BYTES: usize = 128;

/// Gathers the blocks of a page.
#[derive(Debug, Default)]
pub(super) struct TextBlocks {
    /// Hash of all words so far.
    whole: u64,
    /// The same without times and ids.
    alike: u64,
    /// The block that has not ended.
    hash: u64,
    /// Hash of its words with digits.
    numbers: u64,
    bytes: u32,
    blocks: Vec<TextBlock>,
    /// Only blocks whose hashes have no such bit are taken.
    mask: u32,
    /// No blocks are gathered.
    is_off: bool,
    /// Words of the path and the query of the page, in lower case: a page that repeats what it was asked for adds nothing by
    /// that.
    of_url: Vec<Vec<u8>>,
    /// The letters and digits they begin with.
    begin_url: u64,
    /// Their [shapes](shape).
    shapes: u64,
}

/// A word as its block takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockWord {
    pub(super) hash: u64,
    pub(super) has_digit: bool,
    /// There are letters and digits of ASCII alone.
    pub(super) is_plain: bool,
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
            begin_url: of_url.iter().fold(0, |sum, word| sum | beginning(word)),
            shapes: of_url.iter().fold(0, |sum, word| sum | shape(word)),
            of_url,
            ..Self::default()
        }
    }

    /// The hash of the whole text alone.
    pub(super) fn without_blocks() -> Self {
        Self {
            is_off: true,
            ..Self::default()
        }
    }

    /// Takes a word, in ASCII or decoded.
    #[inline]
    pub(super) fn word(&mut self, word: &[u8], signs: BlockWord) {
        let BlockWord {
            hash,
            has_digit,
            is_plain,
        } = signs;
        self.whole = mixed(self.whole, hash);
        if !has_digit || !is_of_one_view(word) {
            self.alike = mixed(self.alike, hash);
        }
        if self.is_off {
            return;
        }
        let is_of_url = if is_plain {
            self.shapes & shape(word) != 0 && self.is_word_of_url(word)
        } else {
            self.may_be_of_url(word) && self.is_of_url(word)
        };
        if is_of_url {
            return;
        }
        let hash = if has_digit {
            self.numbers = mixed(self.numbers, hash);
            masked_hash(word)
        } else {
            hash
        };
        self.hash = mixed(self.hash, hash);
        let bytes = u32::try_from(word.len()).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        if !is_plain && matches!(word, [.., b'.' | b'!' | b'?']) {
            self.end_block();
        }
    }

    /// Returns whether a word begins like one of the URL, or with a sign.
    fn may_be_of_url(&self, word: &[u8]) -> bool {
        let begins = word.first().is_some_and(u8::is_ascii_alphanumeric);
        self.begin_url & beginning(word) != 0 || !begins && self.begin_url != 0
    }

    /// Returns whether all parts of a word are words of the URL: `(/a/b)` of `/a/b` adds nothing.
    fn is_of_url(&self, word: &[u8]) -> bool {
        let core = core_of(word);
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
            self.whole = mixed(self.whole, *hash);
            self.alike = mixed(self.alike, *hash);
        }
    }

    /// Takes an image, a sound or a frame by the hash of its name.
    pub(super) fn image(&mut self, name: u64) {
        self.end_block();
        self.whole = mixed(self.whole, name);
        self.alike = mixed(self.alike, name);
        if self.is_off {
            return;
        }
        self.hash = mixed(0, name);
        self.bytes = IMAGE_BYTES;
        self.end_block();
    }

    /// The text is divided here.
    #[inline]
    pub(super) fn end_block(&mut self) {
        if self.bytes != 0 {
            self.put_block();
        }
    }

    fn put_block(&mut self) {
        let hash = folded(self.hash);
        if hash & self.mask == 0 {
            self.blocks.push(TextBlock {
                hash,
                numbers: u16::try_from(self.numbers >> 48).unwrap_or_default(),
                weight: u8::try_from(self.bytes / 4 + 1).unwrap_or(u8::MAX),
            });
            if self.blocks.len() >= 2 * MAX_BLOCKS {
                self.thin();
            }
        }
        (self.hash, self.numbers) = (0, 0);
        self.bytes = 0;
    }

    /// Leaves each block once, and at most [`MAX_BLOCKS`].
    fn thin(&mut self) {
        merge_blocks(&mut self.blocks);
        while self.blocks.len() > MAX_BLOCKS {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.blocks.retain(|block| block.hash & mask == 0);
        }
    }

    /// The text of the page.
    pub(super) fn finish(mut self) -> PageText {
        self.end_block();
        let text = PageText {
            whole: self.whole,
            alike: self.alike,
            blocks: Vec::new(),
        };
        text.with_blocks(self.blocks, MAX_BLOCKS)
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

/// A bit for the first byte of a word; capitals are the same as small letters.
fn beginning(word: &[u8]) -> u64 {
    word.first()
        .map_or(0, |byte| 1 << (byte.to_ascii_lowercase() & 63))
}

/// A bit for the first byte and the length of a word, in the same way: most other words have another one.
fn shape(word: &[u8]) -> u64 {
    let first = word.first().copied().unwrap_or_default();
    let first = usize::from(first.to_ascii_lowercase());
    1 << ((first + 11 * word.len()) & 63)
}

/// A hash of half the length.
fn folded(hash: u64) -> u32 {
    u32::try_from((hash ^ hash << 32) >> 32).unwrap_or_default()
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(MIXER)
}

/// The hash of a word in which each run of digits is one sign.
fn masked_hash(word: &[u8]) -> u64 {
    let mut masked = [0; MAX_MASKED_BYTES];
    let mut length = 0;
    for byte in word.iter().take(MAX_MASKED_BYTES) {
        let is_digit = byte.is_ascii_digit();
        if is_digit && length > 0 && masked[length - 1] == b'0' {
            continue;
        }
        masked[length] = if is_digit { b'0' } else { *byte };
        length += 1;
    }
    xxhash_rust::xxh3::xxh3_64(&masked[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes of the blocks of words that `|` divides, on the page at `url`.
    fn blocks(url: &str, text: &str) -> Vec<u32> {
        let url = UrlKey::from_normalised(url).unwrap();
        let mut blocks = TextBlocks::of_page(&url);
        for block in text.split('|') {
            for word in block.split_whitespace() {
                let signs = BlockWord {
                    hash: xxhash_rust::xxh3::xxh3_64(word.as_bytes()),
                    has_digit: word.contains(|character: char| character.is_ascii_digit()),
                    is_plain: word.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                };
                blocks.word(word.as_bytes(), signs);
            }
            blocks.end_block();
        }
        let text = blocks.finish();
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
