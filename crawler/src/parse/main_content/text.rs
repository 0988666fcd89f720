//! Text as hashes of its words, with blanks for volatile parts: dates and times, spans such as "3 minutes ago", counts of
//! readers, years of copyright notices, the time it took to make the page.
//!
//! A run of words that are numbers or words of dates, times and counts ([`WordKind`]) is one blank when it has a number and a word
//! that gives its meaning, or a date by itself. Each word is read once, without a grammar.
//!
//! Words are separated by white space, control characters and tags. Text comes as bytes in pieces; how it was cut never changes
//! the result. Words in ASCII are hashed as they are; only others are decoded.

use std::borrow::Cow;

use super::{
    BODY, REGIONS, Regions,
    blocks::{BlockWord, TextBlocks},
    words::{MIXER, SpelledWord, WordKind, core_of, kind_of, kind_of_spelled},
};
use crate::html::{TextKind, TextModel, decode};

/// Longest word in bytes; a longer word is divided into pieces. Text without spaces comes in such pieces.
const MAX_WORD_BYTES: usize = 128;

/// Words of the longest run that becomes one blank; a longer one is cut.
const MAX_RUN: usize = 48;

/// Represents a run that does not count.
const BLANK: u64 = 1;

/// The words of each region: a hash of their sequence, and their number.
#[derive(Debug)]
pub(super) struct TextHashes {
    /// The beginning of a word whose end has not come.
    carry: Vec<u8>,
    run: Run,
    regions: [RegionHash; REGIONS.len()],
    /// The current regions of the text.
    current: Regions,
    blocks: TextBlocks,
}

/// The words of a region.
#[derive(Debug, Clone, Copy, Default)]
struct RegionHash {
    hash: u64,
    words: u64,
}

/// Words that may become one blank. They are in the hashes already, which go back to those before them when they do.
#[derive(Debug, Default)]
struct Run {
    before: [RegionHash; REGIONS.len()],
    words: usize,
    has_number: bool,
    has_name: bool,
    has_moment: bool,
}

impl Default for TextHashes {
    /// No words yet; the first are in the body.
    fn default() -> Self {
        Self {
            carry: Vec::new(),
            run: Run::default(),
            regions: [RegionHash::default(); REGIONS.len()],
            current: BODY,
            blocks: TextBlocks::default(),
        }
    }
}

impl TextHashes {
    /// No words yet, of the page whose blocks are gathered here.
    pub(super) fn with_blocks(blocks: TextBlocks) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }

    /// The blocks of the page.
    pub(super) fn blocks(&mut self) -> &mut TextBlocks {
        &mut self.blocks
    }

    /// The blocks of the page.
    pub(super) fn take_blocks(&mut self) -> TextBlocks {
        std::mem::take(&mut self.blocks)
    }

    /// The next text is in these regions. Only to be called between words.
    pub(super) fn set_regions(&mut self, regions: Regions) {
        if regions != self.current {
            self.end_word();
            self.end_run();
            self.current = regions;
        }
    }

    /// Takes a piece of text as it is written; after the last, no word goes on.
    pub(super) fn add(&mut self, text: &[u8], is_last: bool) {
        let mut at = 0;
        if !self.carry.is_empty() {
            at = WordScan::of(text, 0).length;
            self.grow(&text[..at]);
            if at < text.len() || is_last {
                self.end_word();
            }
        }
        loop {
            let spaces = text[at..].iter().take_while(|byte| is_space(**byte));
            at += spaces.count();
            if at == text.len() {
                return;
            }
            let found = WordScan::of(text, at);
            let word = &text[at..at + found.length];
            at += found.length;
            let is_whole = is_last || at < text.len();
            if !is_whole || word.len() > MAX_WORD_BYTES {
                self.grow(word);
                if is_whole {
                    self.end_word();
                }
            } else if found.is_encoded {
                self.encoded_word(word);
            } else {
                self.word(word, &found);
            }
        }
    }

    /// A word never goes on after a tag.
    pub(super) fn end_word(&mut self) {
        if self.carry.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.carry);
        let found = WordScan::of(&word, 0);
        if found.is_encoded {
            self.encoded_word(&word);
        } else {
            self.word(&word, &found);
        }
        // Its memory is used again.
        self.carry = word;
        self.carry.clear();
    }

    /// There is no more text.
    pub(super) fn finish(&mut self) {
        self.end_word();
        self.end_run();
    }

    /// The hash of a region.
    pub(super) fn hash(&self, region: Regions) -> u64 {
        self.regions[region.trailing_zeros() as usize].hash
    }

    /// The number of words in a region, a blank counted as one.
    pub(super) fn words(&self, region: Regions) -> u64 {
        self.regions[region.trailing_zeros() as usize].words
    }

    /// Adds to the word that has not ended.
    fn grow(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.carry.len() + rest.len() > MAX_WORD_BYTES {
            let (taken, others) = rest.split_at(MAX_WORD_BYTES - self.carry.len());
            self.carry.extend_from_slice(taken);
            self.end_word();
            rest = others;
        }
        self.carry.extend_from_slice(rest);
    }

    /// Takes a word that is not all ASCII, or in which references may hide spaces.
    fn encoded_word(&mut self, word: &[u8]) {
        let text = decode(word, TextKind::Model(TextModel::Data));
        for word in text.split(|character: char| character.is_whitespace() || character <= ' ') {
            let word = without_east_asian_times(word);
            let rest = word.strip_prefix('©').filter(|rest| !rest.is_empty());
            if rest.is_some() {
                self.decoded_word("©".as_bytes());
            }
            let word = rest.unwrap_or(&word);
            if !word.is_empty() {
                self.decoded_word(word.as_bytes());
            }
        }
    }

    fn decoded_word(&mut self, word: &[u8]) {
        self.word(word, &WordScan::of(word, 0));
    }

    /// Takes a word, in ASCII or decoded, and what was found in it.
    #[inline]
    fn word(&mut self, word: &[u8], found: &WordScan) {
        let signs = BlockWord {
            hash: found.hash,
            has_digit: found.has_digit,
            is_plain: found.is_plain,
        };
        self.blocks.word(word, signs);
        let kind = if found.is_plain {
            kind_of_spelled(word, found.spelled)
        } else if word.eq_ignore_ascii_case(b"(c)") {
            Some(WordKind::Name)
        } else {
            kind_of(core_of(word))
        };
        match kind {
            None => self.end_run(),
            Some(kind) => {
                if self.run.words == MAX_RUN {
                    self.end_run();
                }
                if self.run.words == 0 {
                    self.run.before = self.regions;
                }
                self.run.add(kind);
            }
        }
        self.put(found.hash);
    }

    #[inline]
    fn end_run(&mut self) {
        if self.run.words == 0 {
            return;
        }
        if self.run.is_volatile() {
            self.regions = self.run.before;
            self.put(BLANK);
        }
        self.run.end();
    }

    fn put(&mut self, word: u64) {
        let mut regions = self.current;
        while regions != 0 {
            let region = &mut self.regions[regions.trailing_zeros() as usize];
            region.hash = (region.hash.rotate_left(23) ^ word).wrapping_mul(MIXER);
            region.words += 1;
            regions &= regions - 1;
        }
    }
}

impl Run {
    fn add(&mut self, kind: WordKind) {
        self.words += 1;
        match kind {
            WordKind::Number => self.has_number = true,
            WordKind::Name => self.has_name = true,
            WordKind::Moment => self.has_moment = true,
            WordKind::Part => {}
        }
    }

    fn is_volatile(&self) -> bool {
        self.has_moment || self.has_number && self.has_name
    }

    fn end(&mut self) {
        self.words = 0;
        (self.has_number, self.has_name, self.has_moment) = (false, false, false);
    }
}

/// Control characters are spaces too.
fn is_space(byte: u8) -> bool {
    byte <= b' '
}

/// A word in a text, up to a space or the end of the text.
#[derive(Debug)]
struct WordScan {
    length: usize,
    hash: u64,
    /// There is a byte that is not ASCII, or a `&`.
    is_encoded: bool,
    has_digit: bool,
    /// There are letters and digits of ASCII alone.
    is_plain: bool,
    spelled: SpelledWord,
}

/// Times a byte: eight of them.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The highest bits of eight bytes.
const HIGH: u64 = 0x80 * EACH;

/// Eight spaces.
const SPACES: u64 = b' ' as u64 * EACH;

impl WordScan {
    /// Reads the word at a place of a text, eight bytes at once.
    fn of(text: &[u8], from: usize) -> Self {
        let (mut length, mut hash, mut encoded, mut digits, mut signs) = (0, 0_u64, 0, 0, 0);
        let mut spelled = SpelledWord::default();
        loop {
            let bytes = eight_bytes(text, from + length);
            // The highest bit of each byte up to the first that is a space; after that one, of any.
            let spaces = bytes.wrapping_sub((u64::from(b' ') + 1) * EACH) & !bytes & HIGH;
            let count = spaces.trailing_zeros() / 8;
            let read = u64::MAX.checked_shr(64 - 8 * count).unwrap_or_default();
            let bytes = bytes & read;
            // A zero byte wherever there is a `&`.
            let marks = bytes ^ (u64::from(b'&') * EACH);
            encoded |= (bytes | marks.wrapping_sub(EACH) & !marks) & HIGH;
            // Of the sums of bytes below 128, the highest bits are those of bytes of at least, or more than, some value.
            let low = bytes & !HIGH;
            let value = (low ^ (u64::from(b'0') * EACH)).wrapping_add((0x7f - 9) * EACH);
            let digit = !(value | bytes) & HIGH;
            let small = low | (0x20 * EACH);
            let from_a = small.wrapping_add((0x80 - u64::from(b'a')) * EACH);
            let above_z = small.wrapping_add((0x7f - u64::from(b'z')) * EACH);
            let letter = from_a & !above_z & !bytes & HIGH;
            digits |= digit;
            signs |= !(digit | letter) & HIGH & read;
            if count > 0 {
                hash = (hash.rotate_left(23) ^ bytes).wrapping_mul(MIXER);
                if let Some(part) = spelled.get_mut(length / 8) {
                    *part = bytes;
                }
            }
            length += count as usize;
            if count < 8 {
                return Self {
                    length,
                    hash: hash ^ hash >> 32,
                    is_encoded: encoded != 0,
                    has_digit: digits != 0,
                    is_plain: signs == 0,
                    spelled,
                };
            }
        }
    }
}

/// Eight bytes from a place of a text on, as if spaces came after it.
#[inline]
fn eight_bytes(text: &[u8], from: usize) -> u64 {
    let rest = &text[from..];
    if let Some(bytes) = rest.first_chunk() {
        return u64::from_le_bytes(*bytes);
    }
    match text.last_chunk() {
        _ if rest.is_empty() => SPACES,
        Some(last) => {
            let missing = 8 * (8 - rest.len());
            u64::from_le_bytes(*last) >> missing | SPACES << (64 - missing)
        }
        None => (rest.iter().rev()).fold(SPACES, |bytes, byte| bytes << 8 | u64::from(*byte)),
    }
}

/// Numbers before the units that dates, times and counts of readers have in Chinese and Japanese are left out: there are no
/// spaces that would separate words.
fn without_east_asian_times(word: &str) -> Cow<'_, str> {
    let is_unit = |character| {
        matches!(
            character,
            '年' | '月' | '日' | '時' | '时' | '分' | '秒' | '次'
        )
    };
    if word.is_ascii() || !word.contains(is_unit) {
        return Cow::Borrowed(word);
    }
    let mut kept = String::with_capacity(word.len());
    let mut digits = String::new();
    for character in word.chars() {
        if character.is_ascii_digit() || !digits.is_empty() && matches!(character, ',' | '.') {
            digits.push(character);
            continue;
        }
        if !is_unit(character) {
            kept.push_str(&digits);
        }
        digits.clear();
        kept.push(character);
    }
    kept.push_str(&digits);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of a text that comes in pieces.
    fn hash(pieces: &[&[u8]]) -> u64 {
        let mut hashes = TextHashes::default();
        for piece in pieces {
            hashes.add(piece, false);
        }
        hashes.finish();
        hashes.hash(BODY)
    }

    #[test]
    fn volatile_parts_are_blanked() {
        /// Compares a text with one in which `T` represents each blank: a day is one.
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let blanked = expected.replace('T', "2001-01-01");
            assert_eq!(
                hash(&[text.as_bytes()]),
                hash(&[blanked.as_bytes()]),
                "{text}"
            );
        }
        // Dates and times.
        check("done 2024-05-06 here", "done T here");
        check("done 2024-05-06T10:00:00Z here", "done T here");
        check("6.5.2024, 12:34 Uhr: x", "T x");
        check("May 6, 2024 at 12:34 PM by", "T by");
        check("Monday, 6 May 2024 x", "T x");
        check("Mon 6th of May x", "T x");
        check("6 de mayo de 2024 x", "T x");
        check("6 août 2024 à 14h30 x", "T x");
        check("since May 2024 we", "since T we");
        check("Today is 5pm", "T is T");
        check("2024年5月6日 12分", "年月日 分");
        // How long ago.
        check("posted 3 minutes ago by", "posted T by");
        check("posted an hour ago by", "posted T by");
        check("posted 2 hours, 5 minutes ago by", "posted T by");
        check("posted 3m ago by", "posted T by");
        check("vor 3 Minuten x", "T x");
        check("vor einer Stunde x", "T x");
        check("il y a 3 jours x", "T x");
        check("hace 3 días x", "T x");
        check("3 giorni fa x", "T x");
        check("yesterday at 12:34 x", "T x");
        // Counts.
        check("1,234 views x", "T x");
        check("1,234&nbsp;views x", "T x");
        check("1 234 vues x", "T x");
        check("1.2k likes x", "T x");
        check("Views: 1,234 x", "T x");
        check("Comments (12) x", "T x");
        check("viewed 1,234 times x", "T x");
        check("17 Leser heute x", "T x");
        check("Besucher online: 12 x", "T x");
        // Notices.
        check("© 2024 Example", "T Example");
        check("©2024 Example", "T Example");
        check("Copyright (c) 2024 Example", "T Example");
        check("&copy; 2019–2025 Example", "T Example");
        check("Copyright © 2019 - 2025 Example", "T Example");
        check("Page generated in 0.123 seconds", "Page T");
    }

    #[test]
    fn content_stays() {
        #[track_caller]
        fn check(text: &str) {
            let mut hashes = TextHashes::default();
            hashes.add(text.as_bytes(), false);
            hashes.finish();
            let mut expected = TextHashes::default();
            text.split(' ')
                .for_each(|word| expected.put(WordScan::of(word.as_bytes(), 0).hash));
            assert_eq!(hashes.hash(BODY), expected.hash(BODY), "{text}");
        }
        check("It costs 1,234 euros");
        check("It costs €12.50 now");
        check("5 minutes to the station");
        check("wait 30 seconds");
        check("In 2024 there were 12 of them");
        check("version 1.2.3");
        check("the view from the hill");
        check("16:9");
        check("Monday is closed");
        check("3 reviews");
        check("19.99 €");
        check("17 in stock");
        check("only 3 left");
        check("4 people can sleep here");
        check("an hour");
    }

    #[test]
    fn control_characters_separate_words() {
        let spaced = hash(&[b"one two 10"]);
        assert_eq!(hash(&[b"one\x01two\x1f10"]), spaced);
        assert_eq!(hash(&[b"one&#1;two&#31;10"]), spaced);
        assert_ne!(hash(&[b"one&#1;two&#31;20"]), spaced);
    }

    #[test]
    fn how_text_was_cut_changes_nothing() {
        let text =
            "posted 3 minutes ago, 1,234&nbsp;views © 2024 über alles 6. Mai 2024 um 12:34 x"
                .as_bytes();
        let whole = hash(&[text]);
        for at in 0..text.len() {
            assert_eq!(hash(&[&text[..at], &text[at..]]), whole, "{at}");
        }
        let long = "ü".repeat(1_000);
        let long = long.as_bytes();
        let whole = hash(&[long]);
        assert_eq!(hash(&[&long[..2], &long[2..500], &long[500..]]), whole);
    }
}
