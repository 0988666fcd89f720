//! A text as a hash.

use xxhash_rust::xxh3::xxh3_64;

/// Odd, with half of its bits set: each member moves all bits of the hash of those before it.
pub(super) const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A text that is hashed as it grows: words with a space in front of each.
#[derive(Debug, Default)]
pub(super) struct TextStream {
    hash: u64,
    /// The end of the text, which is not in the hash.
    rest: Vec<u8>,
}

/// Bytes of a text that are hashed at once.
const PIECE_BYTES: usize = 4 * 1_024;

impl TextStream {
    /// Adds words, with one space between two.
    pub(super) fn put(&mut self, words: &[u8]) {
        let words = words.trim_ascii();
        if !words.is_empty() {
            self.put_bytes(words);
        }
    }

    /// Adds what is no text.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        if self.rest.capacity() == 0 {
            self.rest.reserve(PIECE_BYTES);
        }
        self.rest.push(b' ');
        self.rest.extend_from_slice(bytes);
        let (pieces, rest) = self.rest.as_chunks::<PIECE_BYTES>();
        if !pieces.is_empty() {
            for piece in pieces {
                self.hash = mixed(self.hash, xxh3_64(piece));
            }
            let rest = self.rest.len() - rest.len();
            self.rest.drain(..rest);
        }
    }

    /// The hash of all words so far.
    pub(super) fn hash(&self) -> u64 {
        mixed(self.hash, xxh3_64(&self.rest))
    }
}

/// A hash that has one more member.
pub(super) fn mixed(hash: u64, member: u64) -> u64 {
    (hash.rotate_left(23) ^ member).wrapping_mul(MIXER)
}

/// Adds words to others, with one space between them.
pub(super) fn join(text: &mut Vec<u8>, words: &[u8]) {
    let words = words.trim_ascii();
    if !text.is_empty() && !words.is_empty() {
        text.push(b' ');
    }
    text.extend_from_slice(words);
}
