//! Text as it is gathered: words with one space between two, in blocks; and a look at each word for those that are to be read.

use std::borrow::Cow;

use wide::u8x16;

use super::filter::{CLASSES, DIGITS, OF_RUN, SENTENCE_END, WordFilter};
use crate::html::{Text, TextKind, TextModel, decode};

/// Bytes of the longest block that is read as one. A longer one is cut at the last space before; its own length decides, never how
/// much of it has come.
const MAX_BLOCK_BYTES: usize = 4 * 1_024;

/// Bytes that are gathered: blocks that have ended are read when they have [`MAX_BLOCK_BYTES`], so that a block that fills the room is
/// too long.
const ROOM: usize = 2 * MAX_BLOCK_BYTES + 2;

/// Bytes after the text that can be read; what they are makes no difference.
const PADDING: usize = 64;

/// The text that was not read yet.
#[derive(Debug)]
pub(super) struct TextBuffer {
    /// Grows where a block is longer than it was written.
    bytes: Vec<u8>,
    length: usize,
    /// The ends of the blocks that have ended, each after a space.
    ends: Vec<usize>,
    /// A byte of the last block is not ASCII, or a `&`.
    is_encoded: bool,
    /// There may be digits.
    has_digits: bool,
}

impl Default for TextBuffer {
    fn default() -> Self {
        Self {
            // Sixteen bytes may be written where one had room, and as many again when a long block is cut; and a space.
            bytes: vec![0; ROOM + 33 + PADDING],
            length: 0,
            ends: Vec::new(),
            is_encoded: false,
            has_digits: false,
        }
    }
}

impl TextBuffer {
    /// Takes a piece of text from some place on. Returns the place up to which there was room for it.
    #[inline]
    pub(super) fn add(&mut self, text: Text<'_>, from: usize) -> usize {
        self.put(text, from, ROOM)
    }

    /// Takes text, up to sixteen bytes at a time, while there are fewer than `room` bytes.
    #[inline]
    fn put(&mut self, text: Text<'_>, from: usize, room: usize) -> usize {
        let (mut at, end) = (from, text.bytes().len());
        let mut length = self.length;
        let mut is_after_space = u32::from(self.ends_with_space());
        let (mut encoded, mut digits) = (0, 0);
        while at < end && length < room {
            let bytes = u8x16::new(text.sixteen(at));
            // Control characters are spaces too.
            let bytes = bytes.max(u8x16::splat(b' '));
            let spaces = bytes.simd_eq(u8x16::splat(b' ')).to_bitmask();
            let again = spaces & (spaces << 1 | is_after_space);
            let skipped = again.trailing_ones() as usize;
            if skipped > 0 {
                at += skipped;
                continue;
            }
            let count = (end - at).min(16).min(again.trailing_zeros() as usize);
            let taken = u32::MAX >> (32 - count);
            digits |= find_digits(bytes).to_bitmask() & taken;
            let marks = bytes.simd_eq(u8x16::splat(b'&'));
            encoded |= (bytes | marks).to_bitmask() & taken;
            is_after_space = spaces >> (count - 1) & 1;
            if let Some(place) = self.bytes[length..].first_chunk_mut() {
                *place = bytes.to_array();
            }
            length += count;
            at += count;
        }
        self.length = length;
        self.is_encoded |= encoded != 0;
        self.has_digits |= digits != 0;
        at.min(end)
    }

    /// Whatever comes next is another word.
    #[inline]
    pub(super) fn end_word(&mut self) {
        if !self.ends_with_space() {
            self.bytes[self.length] = b' ';
            self.length += 1;
        }
    }

    /// At the beginning too.
    #[inline]
    fn ends_with_space(&self) -> bool {
        self.length == 0 || self.bytes[self.length - 1] == b' '
    }

    /// Returns whether no word came after the last block.
    #[inline]
    pub(super) fn is_between_blocks(&self) -> bool {
        self.length == self.block_from()
    }

    /// The block ends here, if there is one.
    #[inline]
    pub(super) fn end_block(&mut self) {
        if !self.is_between_blocks() {
            self.end_word();
            if self.is_encoded {
                self.decode();
            }
            if !self.is_between_blocks() {
                self.ends.push(self.length);
            }
        }
    }

    /// Returns whether the block is too long to be read as one.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.length > self.block_from() + MAX_BLOCK_BYTES + 1
    }

    /// Returns whether the blocks that have ended are to be read.
    #[inline]
    pub(super) fn has_much(&self) -> bool {
        self.block_from() >= MAX_BLOCK_BYTES
    }

    /// Ends a block that is too long where it can be cut. Returns the rest, for [`Self::add_again`].
    pub(super) fn cut_block(&mut self) -> Vec<u8> {
        let from = self.block_from();
        let block = &self.bytes[from..=from + MAX_BLOCK_BYTES];
        let cut = memchr::memrchr(b' ', block).unwrap_or_else(|| {
            let mut back = block.iter().rev();
            let begin = back.position(|byte| byte & 0xc0 != 0x80);
            // No character is cut.
            MAX_BLOCK_BYTES - begin.filter(|begin| *begin < 4).unwrap_or_default()
        });
        let rest = self.bytes[from + cut..self.length].to_vec();
        self.length = from + cut;
        self.end_block();
        rest
    }

    /// Takes the rest of a block that was cut, all of it.
    pub(super) fn add_again(&mut self, rest: &[u8]) {
        self.put(Text::alone(rest), 0, ROOM + 16);
    }

    /// The beginning of the block that has not ended.
    #[inline]
    fn block_from(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Replaces a block that is not all ASCII, or in which references may hide spaces, by its words.
    fn decode(&mut self) {
        let (from, to) = (self.block_from(), self.length);
        let text = decode(&self.bytes[from..to], TextKind::Model(TextModel::Data));
        let has_times = self.has_digits && text.contains(is_east_asian_unit);
        let text = if has_times {
            Cow::Owned(without_east_asian_times(&text))
        } else {
            text
        };
        let mut words = Vec::with_capacity(text.len() + 16);
        put_words(&text, &mut words);
        let needed = from + words.len() + 17 + PADDING;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
        self.length = from;
        self.put(Text::alone(&words), 0, usize::MAX);
        self.end_word();
        self.is_encoded = false;
    }

    /// The blocks that have ended.
    pub(super) fn blocks(&self) -> TextOfBlocks<'_> {
        TextOfBlocks {
            bytes: &self.bytes[..self.block_from() + PADDING],
            ends: &self.ends,
        }
    }

    /// Finds the words of these blocks that are to be read; returns how many words there are.
    pub(super) fn mark_words(&self, filter: &WordFilter, marks: &mut Vec<MarkedWord>) -> usize {
        if self.has_digits {
            self.blocks().mark_words::<true>(filter, marks)
        } else {
            self.blocks().mark_words::<false>(filter, marks)
        }
    }

    /// Forgets the blocks that have ended.
    pub(super) fn remove_blocks(&mut self) {
        let from = self.block_from();
        self.bytes.copy_within(from..self.length, 0);
        self.length -= from;
        self.ends.clear();
        self.has_digits &= self.length > 0;
    }
}

/// Blocks of words, with one space after each word.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextOfBlocks<'t> {
    /// The text, and [`PADDING`].
    bytes: &'t [u8],
    /// The ends of the blocks.
    pub(super) ends: &'t [usize],
}

/// A word that is to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkedWord {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Why, as bits.
    pub(super) signs: u8,
}

impl<'t> TextOfBlocks<'t> {
    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - PADDING
    }

    /// A part of it.
    pub(super) fn part(&self, from: usize, to: usize) -> &'t [u8] {
        &self.bytes[from..to]
    }

    /// Eight bytes from a place on.
    #[inline]
    pub(super) fn eight(&self, from: usize) -> u64 {
        eight_bytes(self.bytes, from)
    }

    /// The word before a place that a word begins at, and not before `floor`.
    pub(super) fn word_before(&self, from: usize, floor: usize) -> Option<(usize, usize)> {
        let to = from.checked_sub(1)?;
        let before = self
            .bytes
            .get(floor..to)
            .filter(|before| !before.is_empty())?;
        let begin = memchr::memrchr(b' ', before).map_or(0, |space| space + 1);
        Some((floor + begin, to))
    }

    /// The word that begins at a place.
    pub(super) fn word_at(&self, from: usize) -> Option<(usize, usize)> {
        let rest = self.bytes.get(from..self.len())?;
        let length = memchr::memchr(b' ', rest)?;
        Some((from, from + length))
    }

    fn mark_words<const HAS_DIGITS: bool>(
        &self,
        filter: &WordFilter,
        marks: &mut Vec<MarkedWord>,
    ) -> usize {
        let (mut words, mut from) = (0, 0);
        // The word whose end has not come has digits.
        let mut is_carried = false;
        for at in (0..self.len()).step_by(64) {
            let mut spaces = self.find_64(at, |bytes| bytes.simd_eq(u8x16::splat(b' ')));
            spaces &= u64::MAX >> 64_usize.saturating_sub(self.len() - at);
            let mut digits = if HAS_DIGITS {
                self.find_64(at, find_digits)
            } else {
                0
            };
            words += spaces.count_ones() as usize;
            while spaces != 0 {
                let to = at + spaces.trailing_zeros() as usize;
                let mut signs = filter.signs(self.eight(from)) & !OF_RUN;
                signs |= CLASSES[usize::from(self.bytes[to - 1])] & SENTENCE_END;
                if HAS_DIGITS {
                    let after = spaces ^ spaces.wrapping_sub(1);
                    signs |= u8::from(is_carried || digits & after != 0) * DIGITS;
                    (digits, is_carried) = (digits & !after, false);
                }
                spaces &= spaces - 1;
                if signs != 0 {
                    marks.push(MarkedWord { from, to, signs });
                }
                from = to + 1;
            }
            is_carried |= digits != 0;
        }
        words
    }

    /// A bit for each of 64 bytes from a place on in which something is found.
    #[inline]
    fn find_64(&self, from: usize, find: impl Fn(u8x16) -> u8x16) -> u64 {
        let (parts, _) = self.bytes[from..from + 64].as_chunks();
        let parts = parts.iter().rev().map(|part| u8x16::new(*part));
        parts.fold(0, |found, part| {
            found << 16 | u64::from(find(part).to_bitmask())
        })
    }
}

/// Finds the digits among bytes.
#[inline]
fn find_digits(bytes: u8x16) -> u8x16 {
    let values = bytes ^ u8x16::splat(b'0');
    values.min(u8x16::splat(9)).simd_eq(values)
}

/// Eight bytes from a place of a text on.
#[inline]
fn eight_bytes(text: &[u8], from: usize) -> u64 {
    let bytes = text.get(from..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Marks the first bytes of eight.
#[inline]
pub(super) fn first_bytes(count: usize) -> u64 {
    if count < 8 {
        (1 << (8 * count)) - 1
    } else {
        u64::MAX
    }
}

/// Adds a text in which all white space but U+1680 is a space, and `©` a word of its own.
fn put_words(text: &str, words: &mut Vec<u8>) {
    let mut taken_to = 0;
    // The first bytes of such characters: U+0085, U+00A0 and U+00A9; U+2000 and its like; U+3000.
    for at in memchr::memchr3_iter(0xc2, 0xe2, 0xe3, text.as_bytes()) {
        let character = text[at..].chars().next().unwrap_or_default();
        let is_sign = character == '©';
        if character.is_whitespace() || is_sign {
            let next = at + character.len_utf8();
            let kept = if is_sign { next } else { at };
            words.extend(&text.as_bytes()[taken_to..kept]);
            words.push(b' ');
            taken_to = next;
        }
    }
    words.extend(&text.as_bytes()[taken_to..]);
}

/// Units that dates, times and counts of readers have in Chinese and Japanese.
fn is_east_asian_unit(character: char) -> bool {
    matches!(
        character,
        '年' | '月' | '日' | '時' | '时' | '分' | '秒' | '次'
    )
}

/// Numbers before [such units](is_east_asian_unit) are left out: there are no spaces that would separate words.
fn without_east_asian_times(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut digits = String::new();
    for character in text.chars() {
        if character.is_ascii_digit() || !digits.is_empty() && matches!(character, ',' | '.') {
            digits.push(character);
            continue;
        }
        if !is_east_asian_unit(character) {
            kept.push_str(&digits);
        }
        digits.clear();
        kept.push(character);
    }
    kept.push_str(&digits);
    kept
}
