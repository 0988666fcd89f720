//! Whether two pages of a site say nearly the same: a fingerprint that pages share which differ in few words. A
//! login form, a maintenance notice, "not found" answered with 200: served for every URL, they repeat its path, a
//! time or a number, and are one page all the same.
//!
//! Words of the page's own URL, words with digits, addresses and tokens do not count. Of the others the smallest
//! hashes count (a sketch as by Broder, "On the resemblance and containment of documents", 1997): when pages have
//! a share `c` of their words in common with each other, they get the same fingerprint with a probability of
//! `c` to the power of [`BINS`].

use xxhash_rust::xxh3::xxh3_64;

/// Parts of the sketch. With 3, pages that have 9 of 10 words in common are alike in 7 of 10 cases, and pages that
/// share half of them, as those of a shop do, in 1 of 8.
const BINS: usize = 3;

/// Words of the URL that are left out; longer URLs have few pages that repeat them.
const MAX_OWN_WORDS: usize = 64;

/// Longer words are tokens.
const MAX_WORD_BYTES: usize = 40;

/// The sketch of the words of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Likeness {
    minima: [u64; BINS],
}

impl Default for Likeness {
    fn default() -> Self {
        Self {
            minima: [u64::MAX; BINS],
        }
    }
}

impl Likeness {
    /// Takes the hash of a word that counts.
    pub(super) fn add(&mut self, hash: u64) {
        let bins = BINS as u64;
        let bin = usize::try_from(hash % bins).unwrap_or_default();
        if let Some(minimum) = self.minima.get_mut(bin) {
            *minimum = (*minimum).min(hash);
        }
    }

    /// The fingerprint; 0 when there was no word that counts.
    pub(super) fn finish(self) -> u64 {
        if self == Self::default() {
            return 0;
        }
        let mut bytes = [0; 8 * BINS];
        for (place, minimum) in bytes.chunks_exact_mut(8).zip(self.minima) {
            place.copy_from_slice(&minimum.to_le_bytes());
        }
        xxh3_64(&bytes).max(1)
    }
}

/// The words that count of all words.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Hashes of the words of the page's own URL.
    own: Vec<u64>,
    word: String,
}

impl Counting {
    /// Leaves the words of `path_and_query` out.
    pub(super) fn leave_out(&mut self, path_and_query: &str) {
        let decoded = percent_decoded(path_and_query);
        let is_separator = |character: char| !character.is_alphanumeric();
        let words = decoded
            .split(['/', '?', '&', '='])
            .chain(decoded.split(is_separator));
        for word in words {
            if self.own.len() >= MAX_OWN_WORDS {
                return;
            }
            if let Some(hash) = self.hash(word) {
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
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
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

    fn of(path: &str, text: &str) -> u64 {
        let mut counting = Counting::default();
        counting.leave_out(path);
        let mut likeness = Likeness::default();
        for word in text.split_whitespace() {
            if let Some(hash) = counting.take(word) {
                likeness.add(hash);
            }
        }
        likeness.finish()
    }

    #[test]
    fn what_repeats_its_url_a_time_or_a_token_is_the_same() {
        let login = of("/", "Please log in to go on");
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
            assert_eq!(of(path, text), login, "{path}: {text}");
        }
    }

    #[test]
    fn other_words_make_another_page() {
        let one = of("/a", "How to sharpen a plane iron by hand");
        let other = of("/b", "Where to buy oil stones and what they cost");
        assert_ne!(one, other);
        assert_eq!((of("/a", ""), of("/a", "a 12 /a")), (0, 0));
    }

    #[test]
    fn few_words_of_difference_leave_most_pages_alike() {
        let text = "The page that you asked for is not here any more, it may have moved or never been; \
                    try the search or begin at the front page of the site";
        let all = 1_000;
        let mut found = std::collections::HashMap::<u64, u32>::new();
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
            *found.entry(of("/", &text)).or_default() += 1;
        }
        let most = found.values().max().copied().unwrap_or_default();
        assert!(most > all * 6 / 10, "{most}");
    }
}
