//! A look at the first bytes of a word, by which most words are not read.

use super::stream::MIXER;

/// The word begins like one that means something.
pub(super) const KNOWN: u8 = 1;

/// The word begins like one of the URL.
pub(super) const OF_URL: u8 = 1 << 1;

/// The word has a digit.
pub(super) const DIGITS: u8 = 1 << 2;

/// The word is the last of a sentence.
pub(super) const SENTENCE_END: u8 = 1 << 4;

/// The word begins like one of a date, a time or a count.
pub(super) const OF_RUN: u8 = 1 << 5;

/// The byte may come before the first letter of a word. It is also the number of bits by which the word is shifted then.
const SKIPPED: u8 = 8;

/// What a byte is at the begin or the end of a word.
pub(super) const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = b'!';
    while byte < 0x7f {
        if !byte.is_ascii_alphanumeric() {
            classes[byte as usize] = SKIPPED;
        }
        if matches!(byte, b'.' | b'!' | b'?') {
            classes[byte as usize] |= SENTENCE_END;
        }
        byte += 1;
    }
    classes
};

/// The class of the first of eight bytes.
#[inline]
fn class(bytes: u64) -> u8 {
    CLASSES[usize::from(bytes.to_le_bytes()[0])]
}

/// Signs of words by the way they begin: that they may mean something, or be of the URL.
#[derive(Debug, Clone)]
pub(super) struct WordFilter {
    signs: Box<[u8; Self::PLACES]>,
}

impl WordFilter {
    const PLACES: usize = 1 << 12;

    /// No word.
    pub(super) fn new() -> Self {
        Self {
            signs: Box::new([0; Self::PLACES]),
        }
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: &[u8], sign: u8) {
        let bytes = word.iter().take(4).zip([0, 8, 16, 24]);
        let begin = bytes.fold(0, |begin, (byte, bits)| begin | u64::from(*byte) << bits);
        self.signs[Self::place(begin)] |= sign;
    }

    /// Place of a word by its first letters, at most four; capitals are the same as small letters.
    #[inline]
    fn place(begin: u64) -> usize {
        const HIGH: u64 = 0x8080_8080;
        let low = begin & 0x7f7f_7f7f | 0x2020_2020;
        // Of the sums of bytes below 128, the highest bits are those of bytes of at least `a`, or of more than `z`.
        let (from_a, above_z) = (low + 0x1f1f_1f1f, low + 0x0505_0505);
        let others = !(from_a & !above_z & !begin) & HIGH;
        let letters = ((others & others.wrapping_neg()) >> 7).wrapping_sub(1);
        let hash = (low & letters) << 32;
        let [.., low, high] = hash.wrapping_mul(MIXER).to_le_bytes();
        usize::from(u16::from_le_bytes([low, high]) >> 4)
    }

    /// Signs of a word by its first bytes; one or two signs in front of it are skipped.
    #[inline]
    pub(super) fn signs(&self, begin: u64) -> u8 {
        let begin = begin >> (class(begin) & SKIPPED);
        let begin = begin >> (class(begin) & SKIPPED);
        self.signs[Self::place(begin)]
    }
}
