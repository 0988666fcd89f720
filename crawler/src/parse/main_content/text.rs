//! Text as hashes, with blanks for volatile parts: dates and times, spans such as "3 minutes ago", counts of readers, years of
//! copyright notices, the time it took to make the page.
//!
//! A run of words that are numbers or words of dates, times and counts ([`WordKind`]) is one blank when it has a number and a word
//! that gives its meaning, or a date by itself. There is no grammar.
//!
//! Words are separated by white space, control characters and tags. They are gathered in a [`TextBuffer`], and looked at together: a run can
//! only be volatile if it has a digit or a [word that means something](KnownWords). Text comes as bytes in pieces; how it was cut never changes the result.

use super::{
    BODY, NAMED, REGIONS, Regions,
    blocks::TextBlocks,
    buffer::{MarkedWord, TextBuffer, TextOfBlocks},
    filter::{DIGITS, KNOWN, WordFilter},
    stream::{TextStream, join},
    words::{KnownWords, WordKind},
};
use crate::html::Text;

/// Words of the longest run that becomes one blank; a longer one is cut.
const MAX_RUN: usize = 48;

/// Represents a run that does not count. No text has control characters.
const BLANK: &[u8] = b"\x01";

/// In what is read at once there is at least one word for so many bytes: there is text without spaces.
const BYTES_OF_WORD: usize = 128;

/// The text of each region: a hash, and the number of its words.
#[derive(Debug)]
pub(super) struct TextHashes {
    buffer: TextBuffer,
    filter: WordFilter,
    marks: Vec<MarkedWord>,
    reading: TextReading,
}

/// What was read of the text.
#[derive(Debug)]
struct TextReading {
    known: &'static KnownWords,
    regions: [Region; REGIONS.len()],
    /// The current regions of the text.
    current: Regions,
    run: Run,
    blocks: TextBlocks,
}

#[derive(Debug, Default)]
struct Region {
    text: TextStream,
    words: u64,
}

/// Words one after the other that may become one blank.
#[derive(Debug, Default)]
struct Run {
    /// Those that the buffer does not have any more.
    earlier: Vec<u8>,
    /// The place of the others.
    from: usize,
    /// Where the word after it begins.
    next: usize,
    words: usize,
    has_number: bool,
    has_name: bool,
    has_moment: bool,
}

impl TextHashes {
    /// No words yet, of the page whose blocks are gathered here; the first are in the body.
    pub(super) fn with_blocks(blocks: TextBlocks) -> Self {
        Self {
            buffer: TextBuffer::default(),
            filter: blocks.filter(),
            marks: Vec::new(),
            reading: TextReading {
                known: KnownWords::get(),
                regions: Default::default(),
                current: BODY,
                run: Run::default(),
                blocks,
            },
        }
    }

    /// The next text is in these regions.
    pub(super) fn set_regions(&mut self, regions: Regions) {
        if regions != self.reading.current {
            self.finish();
            self.reading.current = regions;
        }
    }

    /// Takes a piece of text as it is written.
    #[inline]
    pub(super) fn add(&mut self, text: Text<'_>) {
        let mut taken = self.buffer.add(text, 0);
        while taken < text.bytes().len() {
            self.cut_block();
            taken = self.buffer.add(text, taken);
        }
    }

    /// A word never goes on after a tag.
    #[inline]
    pub(super) fn end_word(&mut self) {
        self.buffer.end_word();
    }

    /// The text is divided here.
    #[inline]
    pub(super) fn divide(&mut self) {
        while self.buffer.is_long() {
            self.cut_block();
        }
        self.buffer.end_block();
        if self.buffer.has_much() {
            self.read();
        }
    }

    /// Takes an image, a sound or a frame by the hash of its name.
    pub(super) fn image(&mut self, name: u64) {
        self.divide();
        self.read();
        self.reading.blocks.image(name);
    }

    /// There is no more text.
    pub(super) fn finish(&mut self) {
        self.divide();
        self.read();
        self.reading.end_run(&[]);
    }

    /// After [`Self::finish`]: the text after this is hashed and counted by itself, in the body; only the blocks go on.
    pub(super) fn begin_again(&mut self) {
        self.reading.regions = Default::default();
        self.reading.current = BODY;
    }

    /// The blocks of the page.
    pub(super) fn blocks(&mut self) -> &mut TextBlocks {
        &mut self.reading.blocks
    }

    /// The blocks, once the text has ended.
    pub(super) fn into_blocks(self) -> TextBlocks {
        self.reading.blocks
    }

    /// The hash of a region.
    pub(super) fn hash(&self, region: Regions) -> u64 {
        self.region(region).text.hash()
    }

    /// The number of words in a region, a blank counted as one.
    pub(super) fn words(&self, region: Regions) -> u64 {
        self.region(region).words
    }

    fn region(&self, region: Regions) -> &Region {
        &self.reading.regions[region.trailing_zeros() as usize]
    }

    fn cut_block(&mut self) {
        let rest = self.buffer.cut_block();
        self.read();
        self.buffer.add_again(&rest);
    }

    /// Reads the blocks that have ended.
    fn read(&mut self) {
        let text = self.buffer.blocks();
        if !text.ends.is_empty() {
            self.marks.clear();
            let words = self.buffer.mark_words(&self.filter, &mut self.marks);
            self.reading.read(&text, &self.marks, words);
            self.buffer.remove_blocks();
        }
    }
}

impl TextReading {
    /// Reads a text of so many words.
    fn read(&mut self, text: &TextOfBlocks<'_>, marks: &[MarkedWord], words: usize) {
        let words = words.max(text.len() / BYTES_OF_WORD) as u64;
        for_each_region(self.current, |region| self.regions[region].words += words);
        self.read_runs(text, marks);
        self.blocks.read(text, marks);
    }

    fn read_runs(&mut self, text: &TextOfBlocks<'_>, marks: &[MarkedWord]) {
        let mut taken_to = 0;
        if self.run.words > 0 {
            self.run.grow(self.known, text);
            taken_to = self.end_run_in(text, taken_to);
        }
        let mut read_to = self.run.next;
        for mark in marks {
            if mark.signs & (KNOWN | DIGITS) == 0 || mark.from < read_to {
                continue;
            }
            let Some(kind) = self.known.kind_of(text, (mark.from, mark.to)) else {
                continue;
            };
            (self.run.from, self.run.next) = (mark.from, mark.to + 1);
            self.run.add(kind);
            self.run.grow_back(self.known, text, read_to);
            self.run.grow(self.known, text);
            read_to = self.run.next;
            taken_to = self.end_run_in(text, taken_to);
        }
        if self.run.words == 0 {
            (self.run.from, self.run.next) = (text.len(), text.len());
            self.run.grow_back(self.known, text, read_to);
        }
        self.put(text.part(taken_to, self.run.from));
        self.run.keep(text);
    }

    /// Ends the run if it does not go to the end of the text, which the regions have up to some place. Returns that place.
    fn end_run_in(&mut self, text: &TextOfBlocks<'_>, taken_to: usize) -> usize {
        let next = self.run.next;
        let is_blank = next < text.len() && self.end_run(text.part(taken_to, self.run.from));
        if is_blank { next } else { taken_to }
    }

    /// The run is complete. Returns whether it is a blank, after the words before it; else it is words like others.
    fn end_run(&mut self, before: &[u8]) -> bool {
        let is_blank = self.run.is_volatile();
        if is_blank {
            self.put(before);
            self.put(BLANK);
            let others = self.run.words as u64 - 1;
            for_each_region(self.current, |region| self.regions[region].words -= others);
        } else if !self.run.earlier.is_empty() {
            let earlier = std::mem::take(&mut self.run.earlier);
            self.put(&earlier);
            self.run.earlier = earlier;
        }
        self.run.clear();
        is_blank
    }

    /// Adds words to the text of the current regions.
    fn put(&mut self, words: &[u8]) {
        // That of NAMED is in AROUND too.
        for_each_region(self.current & !NAMED, |region| {
            self.regions[region].text.put(words);
        });
    }
}

fn for_each_region(regions: Regions, mut take: impl FnMut(usize)) {
    let mut rest = regions;
    while rest != 0 {
        take(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

impl Run {
    /// Takes the words after it that go on with it.
    fn grow(&mut self, known: &KnownWords, text: &TextOfBlocks<'_>) {
        while self.words < MAX_RUN
            && let Some(word) = text.word_at(self.next)
            && let Some(kind) = known.kind_of(text, word)
        {
            self.add(kind);
            self.next = word.1 + 1;
        }
    }

    /// The same of the words before it, after some place.
    fn grow_back(&mut self, known: &KnownWords, text: &TextOfBlocks<'_>, floor: usize) {
        while self.words < MAX_RUN
            && let Some(word) = text.word_before(self.from, floor)
            && let Some(kind) = known.kind_of(text, word)
        {
            self.add(kind);
            self.from = word.0;
        }
    }

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

    /// The text has ended, and the run may go on in the next.
    fn keep(&mut self, text: &TextOfBlocks<'_>) {
        join(&mut self.earlier, text.part(self.from, self.next));
        (self.from, self.next) = (0, 0);
    }

    /// Ends it; its memory is used again.
    fn clear(&mut self) {
        self.earlier.clear();
        *self = Self {
            earlier: std::mem::take(&mut self.earlier),
            from: self.next,
            next: self.next,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// The hash of a text that comes in pieces.
    fn hash(pieces: &[&[u8]]) -> u64 {
        let mut hashes = TextHashes::with_blocks(TextBlocks::default());
        for piece in pieces {
            hashes.add(Text::alone(piece));
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
            let mut expected = TextStream::default();
            expected.put(text.as_bytes());
            assert_eq!(hash(&[text.as_bytes()]), expected.hash(), "{text}");
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

    /// The text of a page: blocks with an end after each.
    fn read(blocks: &[Vec<u8>], cuts: &[usize]) -> (u64, u64, crate::page::PageText) {
        let mut hashes = TextHashes::with_blocks(TextBlocks::default());
        let mut cuts = cuts.iter().cycle();
        for block in blocks {
            let mut rest = &block[..];
            while !rest.is_empty() {
                let cut = cuts.next().map_or(rest.len(), |cut| rest.len().min(*cut));
                // The tokenizer cuts no character and no reference.
                let cut = (cut..rest.len()).find(|at| rest[*at].is_ascii() && rest[*at] != b';');
                let (piece, after) = rest.split_at(cut.unwrap_or(rest.len()));
                hashes.add(Text::alone(piece));
                rest = after;
            }
            hashes.end_word();
            hashes.divide();
        }
        hashes.finish();
        let (hash, words) = (hashes.hash(BODY), hashes.words(BODY));
        (hash, words, hashes.into_blocks().finish())
    }

    proptest! {
        #[test]
        fn any_cut_of_long_blocks_changes_nothing(
            blocks in vec((0..7_usize, 1..3_000_usize), 1..8),
            cuts in vec(1..9_000_usize, 1..5),
        ) {
            const PARTS: [&[u8]; 7] = [b"x", b"y ", b"on ", b"2 views ", "©A ".as_bytes(), b"\xfc ", "日本語".as_bytes()];
            let repeat = |(part, count): &(usize, usize)| [&PARTS[*part].repeat(*count), &b"end"[..]].concat();
            let mut blocks: Vec<Vec<u8>> = blocks.iter().map(repeat).collect();
            let whole = read(&blocks, &[]);
            prop_assert_eq!(&read(&blocks, &cuts), &whole);
            // The end of each block counts.
            let last = blocks.len() / 2;
            blocks[last].pop();
            prop_assert_ne!(read(&blocks, &cuts).2.alike, whole.2.alike);
        }
    }
}
