//! The text of a page as blocks, by which pages are compared ([`PageText`]). All text counts, that of navigation too: what the
//! pages of a site share is known only to the crawl.

use super::words::{MIXER, core_of};
use crate::{
    page::{PageText, TextBlock},
    url_key::UrlKey,
};

/// Blocks of a page that are compared at most; further ones are taken by their hashes.
const MAX_BLOCKS: usize = 256;

/// Blocks that are held while a page is read; the text after them is not compared.
const MAX_HELD_BLOCKS: usize = 16_384;

/// Weight of the address of an image, in bytes.
const IMAGE_BYTES: u32 = 24;

/// Words of a query that are left out of the text at most.
const MAX_URL_WORDS: usize = 64;

/// Signs around the path of a page in its text: quotes, slashes, a full stop.
const MAX_AROUND_PATH: usize = 8;

/// Longest word with digits that is hashed without them; the rest of a longer one does not count.
const MAX_MASKED_BYTES: usize = 128;

/// Gathers the blocks of a page.
#[derive(Debug, Default)]
pub(super) struct TextBlocks {
    /// Hash of all words so far.
    whole: u64,
    /// The block that has not ended.
    hash: u64,
    bytes: u32,
    /// Its hash without the words that repeat the path of the page, where there are some.
    without_path: u64,
    names_path: bool,
    blocks: Vec<TextBlock>,
    /// Words of the path and the query of the page, in lower case: a page that repeats what it was asked for adds nothing by
    /// that.
    of_url: Vec<Vec<u8>>,
    /// The letters and digits they begin with.
    begin_url: u64,
    /// The path of the page, and the last segment of it.
    path: [Vec<u8>; 2],
}

impl TextBlocks {
    /// No text yet, of the page at `url`.
    pub(super) fn of_page(url: &UrlKey) -> Self {
        let query = url.path_and_query().split_once('?');
        let path = url.path().trim_matches('/');
        let name = path.rsplit('/').next().unwrap_or_default();
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
            of_url,
            path: [path.into(), name.into()],
            ..Self::default()
        }
    }

    /// Takes a word, in ASCII or decoded, with its hash.
    pub(super) fn word(&mut self, word: &[u8], hash: u64) {
        self.whole = mixed(self.whole, hash);
        if self.may_be_of_url(word) {
            let core = core_of(word);
            let is_core = |known: &Vec<u8>| known.eq_ignore_ascii_case(core);
            if self.of_url.iter().any(is_core) {
                return;
            }
        }
        let hash = if word.iter().any(u8::is_ascii_digit) {
            masked_hash(word)
        } else {
            hash
        };
        self.hash = mixed(self.hash, hash);
        let bytes = u32::try_from(word.len()).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.is_path(word) {
            self.names_path = true;
        } else {
            self.without_path = mixed(self.without_path, hash);
        }
        if matches!(word, [.., b'.' | b'!' | b'?']) {
            self.end_block();
        }
    }

    /// Returns whether a word begins like one of the URL, or with a sign.
    fn may_be_of_url(&self, word: &[u8]) -> bool {
        let begins = word.first().is_some_and(u8::is_ascii_alphanumeric);
        self.begin_url & beginning(word) != 0 || !begins && self.begin_url != 0
    }

    /// Returns whether a word is the path of the page, or the last segment of it.
    fn is_path(&self, word: &[u8]) -> bool {
        let [path, name] = &self.path;
        let can_be = |name: &[u8]| {
            !name.is_empty() && (name.len()..=name.len() + MAX_AROUND_PATH).contains(&word.len())
        };
        let is = |name: &[u8]| can_be(name) && core_of(word) == name;
        is(path) || is(name)
    }

    /// Takes an image, a sound or a frame by the hash of its name.
    pub(super) fn image(&mut self, name: u64) {
        self.end_block();
        self.whole = mixed(self.whole, name);
        self.hash = mixed(0, name);
        self.bytes = IMAGE_BYTES;
        self.end_block();
    }

    /// The text is divided here.
    pub(super) fn end_block(&mut self) {
        if self.bytes == 0 {
            return;
        }
        if self.blocks.len() < MAX_HELD_BLOCKS {
            self.blocks.push(TextBlock {
                hash: folded(self.hash),
                weight: u8::try_from(self.bytes / 4 + 1).unwrap_or(u8::MAX),
            });
            if self.names_path {
                self.blocks.push(TextBlock {
                    hash: folded(self.without_path),
                    weight: 0,
                });
            }
        }
        self.hash = 0;
        self.bytes = 0;
        self.without_path = 0;
        self.names_path = false;
    }

    /// The text of the page, whose hash without what moves by itself is `settled`.
    pub(super) fn finish(mut self, settled: u64) -> PageText {
        self.end_block();
        let text = PageText {
            whole: self.whole,
            settled: settled | 1,
            blocks: Vec::new(),
        };
        text.with_blocks(self.blocks, MAX_BLOCKS)
    }
}

/// A bit for the first byte of a word; capitals are the same as small letters.
fn beginning(word: &[u8]) -> u64 {
    word.first()
        .map_or(0, |byte| 1 << (byte.to_ascii_lowercase() & 63))
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
                blocks.word(word.as_bytes(), xxhash_rust::xxh3::xxh3_64(word.as_bytes()));
            }
            blocks.end_block();
        }
        let text = blocks.finish(0);
        text.blocks.iter().map(|block| block.hash).collect()
    }

    #[test]
    fn digits_make_no_difference() {
        let page = "https://h.example/a";
        assert_eq!(
            blocks(page, "week 12 of 2026"),
            blocks(page, "week 7 of 1999")
        );
        assert_ne!(
            blocks(page, "week 12 of 2026"),
            blocks(page, "month 12 of 2026")
        );
    }

    #[test]
    fn words_of_the_query_are_left_out() {
        let asked = blocks(
            "https://h.example/a?f=colour%3Ared&q=Big",
            "Things that are big, red",
        );
        assert_eq!(asked, blocks("https://h.example/a?f=x", "Things that are"));
        assert_ne!(
            asked,
            blocks("https://h.example/a", "Things that are big, red")
        );
    }

    #[test]
    fn words_of_the_path_are_left_out() {
        let filtered = blocks("https://h.example/shop/red/Big/", "Shop: red, big (things)");
        assert_eq!(filtered, blocks("https://h.example/x", "(things)"));
        let other = blocks("https://h.example/shop/blue/", "Shop: red");
        assert_eq!(other, blocks("https://h.example/x", "red"));
    }

    #[test]
    fn sentences_are_blocks() {
        let page = "https://h.example/a";
        assert_eq!(
            blocks(page, "One is. Two are."),
            blocks(page, "Two are.|One is.")
        );
        assert_eq!(blocks(page, "Twice.|Twice."), blocks(page, "Twice."));
    }
}
