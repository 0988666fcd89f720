//! Text as a sequence of words with blanks for volatile parts: dates and times, spans such as "3 minutes ago", counts of
//! readers, years of copyright notices, the time it took to make the page. The other words go on to the caller.
//!
//! A run of words that are numbers or words of dates, times and counts ([`Kind`]) is one blank when it has a number and a word
//! that gives its meaning, or a date by itself. Each word is read once, without a grammar.
//!
//! Words are separated by white space and by the ends of text nodes. Text comes in pieces; how it was cut
//! never changes the result.

use std::borrow::Cow;

use super::words::{Kind, kind_of};

/// Longest word in bytes; a longer word is divided into pieces. Text without spaces comes in such pieces.
const MAX_WORD_BYTES: usize = 128;

/// Longest run that is held back, in bytes; a longer one is cut.
const MAX_RUN_BYTES: usize = 256;

/// Stands for a run that does not count.
const BLANK: &str = "\u{1}";

/// Receives words with the regions that they stand in.
pub(super) trait TakeWord {
    /// Takes the next word, a blank for one or more words included.
    fn word(&mut self, word: &str, regions: u8);
}

/// Cuts text into words, and blanks some of them.
#[derive(Debug, Default)]
pub(super) struct Mask {
    /// The beginning of a word whose end has not come.
    carry: String,
    carry_regions: u8,
    run: Run,
}

/// Words that may become one blank, each with a blank after it.
#[derive(Debug, Default)]
struct Run {
    text: String,
    regions: u8,
    has_number: bool,
    has_name: bool,
    has_moment: bool,
}

impl Run {
    fn add(&mut self, word: &str, kind: Kind, regions: u8) {
        self.regions = regions;
        self.text.push_str(word);
        self.text.push(' ');
        match kind {
            Kind::Number => self.has_number = true,
            Kind::Name => self.has_name = true,
            Kind::Moment => self.has_moment = true,
            Kind::Part => {}
        }
    }

    fn end(&mut self, to: &mut impl TakeWord) {
        if self.text.is_empty() {
            return;
        }
        if self.has_moment || self.has_number && self.has_name {
            to.word(BLANK, self.regions);
        } else {
            for word in self.text.split_ascii_whitespace() {
                to.word(word, self.regions);
            }
        }
        // Its memory is used again.
        self.text.clear();
        *self = Self {
            text: std::mem::take(&mut self.text),
            ..Self::default()
        };
    }
}

impl Mask {
    /// Takes a piece of a text node as it is written; `ends_node` marks the last one.
    pub(super) fn add(&mut self, text: &str, ends_node: bool, regions: u8, to: &mut impl TakeWord) {
        let mut rest = text;
        if !self.carry.is_empty() {
            if self.carry_regions == regions {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                self.grow(&rest[..end], regions, to);
                if end < rest.len() {
                    self.end_word(to);
                }
                rest = &rest[end..];
            } else {
                self.end_word(to);
            }
        }
        let mut words = rest.split(char::is_whitespace).peekable();
        while let Some(word) = words.next() {
            if word.is_empty() {
                continue;
            }
            if words.peek().is_none() && !ends_node || word.len() > MAX_WORD_BYTES {
                self.grow(word, regions, to);
                if words.peek().is_some() {
                    self.end_word(to);
                }
            } else {
                self.raw_word(word, regions, to);
            }
        }
        if ends_node {
            self.end_word(to);
        }
    }

    /// There is no more text.
    pub(super) fn finish(&mut self, to: &mut impl TakeWord) {
        self.end_word(to);
        self.run.end(to);
    }

    /// Adds to the word that has not ended.
    fn grow(&mut self, text: &str, regions: u8, to: &mut impl TakeWord) {
        self.carry_regions = regions;
        for character in text.chars() {
            if self.carry.len() + character.len_utf8() > MAX_WORD_BYTES {
                self.end_word(to);
            }
            self.carry.push(character);
        }
    }

    fn end_word(&mut self, to: &mut impl TakeWord) {
        if self.carry.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.carry);
        self.raw_word(&word, self.carry_regions, to);
        self.carry = word;
        self.carry.clear();
    }

    /// Takes a word as it is written: character references may hide spaces.
    fn raw_word(&mut self, word: &str, regions: u8, to: &mut impl TakeWord) {
        if !word.contains('&') {
            self.word(word, regions, to);
            return;
        }
        for word in htmlize::unescape(word).split(char::is_whitespace) {
            if !word.is_empty() {
                self.word(word, regions, to);
            }
        }
    }

    fn word(&mut self, word: &str, regions: u8, to: &mut impl TakeWord) {
        let word = without_east_asian_times(word);
        if let Some(rest) = word.strip_prefix('©').filter(|rest| !rest.is_empty()) {
            self.word("©", regions, to);
            self.word(rest, regions, to);
            return;
        }
        let kind = if word.eq_ignore_ascii_case("(c)") {
            Some(Kind::Name)
        } else {
            kind_of(core_of(&word))
        };
        if regions != self.run.regions || self.run.text.len() > MAX_RUN_BYTES {
            self.run.end(to);
        }
        if let Some(kind) = kind {
            self.run.add(&word, kind, regions);
        } else {
            self.run.end(to);
            to.word(&word, regions);
        }
    }
}

/// A word without the punctuation around it; a word of punctuation only stays as it is.
fn core_of(word: &str) -> &str {
    if let [first, .., last] = word.as_bytes()
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return word;
    }
    let core = word.trim_matches(is_punctuation);
    if core.is_empty() { word } else { core }
}

fn is_punctuation(character: char) -> bool {
    matches!(
        character,
        '(' | ')'
            | '['
            | ']'
            | '.'
            | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '"'
            | '\''
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '·'
            | '•'
            | '|'
            | '–'
            | '—'
            | '-'
            | '/'
            | '…'
            | '~'
    )
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

    #[derive(Default)]
    struct Words(Vec<String>);

    impl TakeWord for Words {
        fn word(&mut self, word: &str, _regions: u8) {
            self.0.push(word.to_owned());
        }
    }

    fn masked(pieces: &[&str]) -> String {
        let mut mask = Mask::default();
        let mut words = Words::default();
        for (at, piece) in pieces.iter().enumerate() {
            mask.add(piece, at + 1 == pieces.len(), 1, &mut words);
        }
        mask.finish(&mut words);
        words.0.join(" ").replace(BLANK, "T")
    }

    #[test]
    fn volatile_parts_are_blanked() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(masked(&[text]), expected, "{text}");
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
            assert_eq!(masked(&[text]), text, "{text}");
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
    fn how_text_was_cut_changes_nothing() {
        let text =
            "posted 3 minutes ago, 1,234&nbsp;views © 2024 über alles 6. Mai 2024 um 12:34 x";
        let whole = masked(&[text]);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            assert_eq!(masked(&[&text[..at], &text[at..]]), whole, "{at}");
        }
        let long = "ü".repeat(1_000);
        let whole = masked(&[&long]);
        assert_eq!(masked(&[&long[..2], &long[2..500], &long[500..]]), whole);
    }
}
