//! Text as a sequence of words, in which everything that moves by itself is a blank: dates and times, spans such
//! as "3 minutes ago", counts of readers, years of copyright notices, how long the page took to make. What is left
//! goes on to whoever hashes it.
//!
//! Words are separated by white space and by the ends of text nodes. Text comes in pieces; how it was cut
//! never changes the result. Only around a number or the name of a month are words held back, a few at a time.

use std::{borrow::Cow, collections::VecDeque};

use super::words::{
    AGO, ARE, BEFORE, COPYRIGHT, COUNTED, DAY, DONE, HALF, IL, JUST, LINK, LOOKING, MADE, MONTH,
    NOW, NUMBER, ONE, ONLINE, PEOPLE, SHORT, SPAN, STARTS, TIME, TIMES, Traits, UNIT, WEEKDAY, Y,
    YEAR, YEARS, traits_of,
};

/// Longest word in bytes; what is longer goes on in pieces. Text without spaces comes in such pieces.
const MAX_WORD_BYTES: usize = 128;

/// Words that a phrase may have.
const LOOKAHEAD: usize = 9;

/// Words behind a copyright sign among which its years are looked for.
const COPYRIGHT_WORDS: u8 = 8;

/// Words between people and what they do: `are currently`.
const MAX_ARE: usize = 3;

/// Words behind `generated` among which the time that it took is looked for.
const MADE_WORDS: u8 = 6;

/// Stands for a date, a time, or how long ago.
const A_TIME: &str = "\u{1}";

/// Stands for a count.
const A_COUNT: &str = "\u{2}";

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
    /// Words that may belong to a phrase.
    waiting: VecDeque<Word>,
    /// Regions of the blank for a time that came last, with nothing behind it.
    last_time: Option<u8>,
    copyright_left: u8,
    made_left: u8,
}

#[derive(Debug)]
struct Word {
    text: Box<str>,
    traits: Traits,
    regions: u8,
}

impl Word {
    fn is(&self, traits: Traits) -> bool {
        self.traits & traits != 0
    }
}

impl Mask {
    /// Takes a piece of a text node as it is written; `ends_node` says that it is the last one.
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
        self.reduce(true, to);
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
        let core = core_of(&word);
        let mut traits = traits_of(if core.is_empty() { &word } else { core });
        if traits & NUMBER == 0 && word.eq_ignore_ascii_case("(c)") {
            traits |= COPYRIGHT;
        }
        if let Some(rest) = word.strip_prefix('©') {
            traits |= COPYRIGHT | traits_of(rest.trim_matches(is_punctuation)) & (YEAR | YEARS);
        }
        if self.waiting.is_empty() && !self.matters(traits) {
            self.last_time = None;
            self.pass(&word, regions, to);
            return;
        }
        self.waiting.push_back(Word {
            text: word.into(),
            traits,
            regions,
        });
        self.reduce(false, to);
    }

    /// Whether a word may begin a phrase, or belong to the blank before it.
    fn matters(&self, traits: Traits) -> bool {
        traits & STARTS != 0 || self.last_time.is_some() && traits & (LINK | HALF) != 0
    }

    /// Hands on one word that is not masked.
    fn pass(&mut self, word: &str, regions: u8, to: &mut impl TakeWord) {
        self.copyright_left = self.copyright_left.saturating_sub(1);
        self.made_left = self.made_left.saturating_sub(1);
        to.word(word, regions);
    }

    /// Finds the phrases at the beginning of what waits, as far as the words that are there tell.
    fn reduce(&mut self, is_end: bool, to: &mut impl TakeWord) {
        while let Some(first) = self.waiting.front() {
            let matters = self.matters(first.traits);
            if matters && self.waiting.len() < LOOKAHEAD && !is_end {
                return;
            }
            let first_traits = first.traits;
            let regions = first.regions;
            let words = &*self.waiting.make_contiguous();
            let follows_time = self.last_time == Some(regions);
            let time = time_phrase(words, follows_time);
            if time > 0 {
                self.waiting.drain(..time);
                if !follows_time {
                    to.word(A_TIME, regions);
                }
                self.last_time = Some(regions);
                continue;
            }
            let count = count_phrase(words);
            if count > 0 {
                self.waiting.drain(..count);
                to.word(A_COUNT, regions);
                self.last_time = None;
                continue;
            }
            let is_notice = self.copyright_left > 0
                || first_traits & COPYRIGHT != 0
                || words.get(1).is_some_and(|next| next.is(COPYRIGHT));
            let is_year = first_traits & (YEAR | YEARS) != 0 && is_notice;
            let is_cost = self.made_left > 0
                && (first_traits & SPAN != 0 && first_traits & SHORT != 0
                    || first_traits & NUMBER != 0
                        && words.get(1).is_some_and(|next| next.is(SHORT)));
            if first_traits & COPYRIGHT != 0 {
                self.copyright_left = COPYRIGHT_WORDS;
            }
            if first_traits & MADE != 0 {
                self.made_left = MADE_WORDS;
            }
            let Some(first) = self.waiting.pop_front() else {
                return;
            };
            self.last_time = None;
            if is_year {
                // From and to may stand apart; however many there are, they are one blank.
                while self
                    .waiting
                    .front()
                    .is_some_and(|next| next.is(YEAR | YEARS) || is_dash(&next.text))
                {
                    self.waiting.pop_front();
                }
                to.word(A_TIME, regions);
            } else if is_cost {
                to.word(A_COUNT, regions);
            } else {
                self.pass(&first.text, regions, to);
            }
        }
    }
}

/// How many words at the beginning of `words` are a date, a time, or a span that ends now. Behind
/// another such phrase (`follows`), what joins the two belongs to it.
fn time_phrase(words: &[Word], follows: bool) -> usize {
    let is = |at: usize, traits: Traits| words.get(at).is_some_and(|word| word.is(traits));
    if is(0, TIME) {
        return 1;
    }
    if is(0, JUST) && is(1, NOW) {
        return 2;
    }
    if is(0, NUMBER) && is(1, HALF) {
        return 2;
    }
    if let length @ 1.. = span(words)
        && is(length, AGO)
    {
        return length + 1;
    }
    let lead = if is(0, BEFORE) {
        1
    } else if is(0, IL) && is(1, Y) && words.get(2).is_some_and(|word| &*word.text == "a") {
        3
    } else {
        0
    };
    if lead > 0
        && let length @ 1.. = span(&words[lead..])
    {
        return lead + length;
    }
    if let length @ 1.. = calendar_date(words) {
        return length;
    }
    if is(0, WEEKDAY) {
        let rest = time_phrase(&words[1..], false);
        return if rest > 0 || follows { rest + 1 } else { 0 };
    }
    if follows && is(0, HALF) {
        return 1;
    }
    if follows && is(0, LINK) {
        let rest = time_phrase(&words[1..], false);
        return if rest > 0 { rest + 1 } else { 0 };
    }
    0
}

/// The words of a span of time: `2 hours and 5 minutes`, `an hour`, `3m`.
fn span(words: &[Word]) -> usize {
    let is = |at: usize, traits: Traits| words.get(at).is_some_and(|word| word.is(traits));
    let mut length = 0;
    loop {
        let start = if length > 0 && is(length, LINK) {
            length + 1
        } else {
            length
        };
        length = if is(start, NUMBER | ONE) && is(start + 1, UNIT) {
            start + 2
        } else if is(start, SPAN) {
            start + 1
        } else {
            return length;
        };
    }
}

/// The words of a date with the name of its month: `6 May 2024`, `May 6, 2024`, `mayo de 2024`.
fn calendar_date(words: &[Word]) -> usize {
    let is = |at: usize, traits: Traits| words.get(at).is_some_and(|word| word.is(traits));
    let joined = |at: usize| at + usize::from(is(at, LINK));
    let with_year = |at: usize| {
        let year = joined(at);
        if is(year, YEAR) { Some(year + 1) } else { None }
    };
    if is(0, DAY) && is(joined(1), MONTH) {
        let end = joined(1) + 1;
        return with_year(end).unwrap_or(end);
    }
    if !is(0, MONTH) {
        return 0;
    }
    if is(1, DAY) {
        return with_year(2).unwrap_or(2);
    }
    with_year(1).unwrap_or(0)
}

/// How many words at the beginning of `words` say how often the page was read, shared or answered.
fn count_phrase(words: &[Word]) -> usize {
    let is = |at: usize, traits: Traits| words.get(at).is_some_and(|word| word.is(traits));
    // Thousands may be set apart.
    let numbers = words.iter().take_while(|word| word.is(NUMBER)).count();
    if numbers > 0 && is(numbers, PEOPLE | COUNTED) {
        let start = numbers + 1;
        let are = words.get(start..).unwrap_or_default().iter();
        let are = are.take(MAX_ARE).take_while(|word| word.is(ARE)).count();
        if is(start + are, ONLINE) || are > 0 && is(start + are, LOOKING) {
            return start + are + 1;
        }
    }
    if numbers > 0 && is(numbers, COUNTED) {
        return numbers + 1;
    }
    let numbers_from = |at: usize| {
        let rest = words.get(at..).unwrap_or_default();
        rest.iter().take_while(|word| word.is(NUMBER)).count()
    };
    let behind = numbers_from(1);
    if is(0, DONE) && behind > 0 && is(behind + 1, TIMES) {
        return behind + 2;
    }
    let is_here = is(0, PEOPLE) && is(1, ONLINE) || is(0, ONLINE) && is(1, PEOPLE);
    if is_here {
        let is_colon = |at: usize| words.get(at).is_some_and(|word| &*word.text == ":");
        let ends = words.get(1).is_some_and(|word| word.text.ends_with(':'));
        let behind = 2 + usize::from(is_colon(2));
        let count = numbers_from(behind);
        if (ends || is_colon(2)) && count > 0 {
            return behind + count;
        }
    }
    let is_label = words.first().is_some_and(|word| word.text.ends_with(':'))
        || words.get(1).is_some_and(|word| {
            word.text.starts_with('(') && word.text.ends_with(')') || &*word.text == ":"
        });
    let colon = usize::from(words.get(1).is_some_and(|word| &*word.text == ":"));
    let behind = numbers_from(1 + colon);
    if is(0, COUNTED) && is_label && behind > 0 {
        return 1 + colon + behind;
    }
    0
}

fn is_dash(text: &str) -> bool {
    matches!(text, "-" | "–" | "—")
}

/// A word without the punctuation around it.
fn core_of(word: &str) -> &str {
    if let [first, .., last] = word.as_bytes()
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return word;
    }
    word.trim_matches(is_punctuation)
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

/// Numbers before the units that dates, times and counts of readers have in Chinese and Japanese are left out:
/// there are no spaces that would tell words apart.
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
        words
            .0
            .join(" ")
            .replace('\u{1}', "T")
            .replace('\u{2}', "N")
    }

    #[test]
    fn what_moves_by_itself_is_blanked() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(masked(&[text]), expected, "{text}");
        }
        // Dates and times.
        check("on 2024-05-06 here", "on T here");
        check("on 2024-05-06T10:00:00Z here", "on T here");
        check("6.5.2024, 12:34 Uhr: x", "T x");
        check("May 6, 2024 at 12:34 PM by", "T by");
        check("Monday, 6 May 2024 x", "T x");
        check("Mon 6th of May x", "T x");
        check("6 de mayo de 2024 x", "T x");
        check("le 6 août 2024 à 14h30 x", "le T x");
        check("in May 2024 we", "in T we");
        check("Today is 5pm", "T is T");
        check("at 5 pm x", "at T x");
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
        check("just now x", "T x");
        check("yesterday x", "T x");
        check("yesterday at 12:34 x", "T x");
        // Counts.
        check("1,234 views x", "N x");
        check("1,234&nbsp;views x", "N x");
        check("1 234 vues x", "N x");
        check("1.2k likes x", "N x");
        check("Views: 1,234 x", "N x");
        check("Comments (12) x", "N x");
        check("viewed 1,234 times x", "N x");
        check("12 users online x", "N x");
        check("17 readers online today x", "N T x");
        check("437 readers today x", "N T x");
        check("17 Leser heute x", "N T x");
        check("Users online: 12 x", "N x");
        check("Online users : 1,204 x", "N x");
        check("Besucher online: 12 x", "N x");
        check("3 people are viewing this", "N this");
        check("3 visitors are currently looking at this", "N at this");
        check("12 visitors are online x", "N x");
        check("17 personnes sont ici x", "N x");
        check("12 people watching x", "N x");
        check("1 view", "N");
        // Notices.
        check("© 2024 Example", "© T Example");
        check("&copy; 2019–2025 Example", "© T Example");
        check("Copyright © 2019 - 2025 Example", "Copyright © T Example");
        check(
            "Copyright (c) Example Ltd. 2024 x",
            "Copyright (c) Example Ltd. T x",
        );
        check("©2024 x", "T x");
        check("2024 © x", "T © x");
        check(
            "Page generated in 0.123 seconds",
            "Page generated in N seconds",
        );
        check("generated in 12ms with 23 queries", "generated in N with N");
    }

    #[test]
    fn what_is_said_stays() {
        #[track_caller]
        fn check(text: &str) {
            assert_eq!(masked(&[text]), text, "{text}");
        }
        check("It costs 1,234 euros");
        check("It costs €12.50 now");
        check("5 minutes to the station");
        check("wait 30 seconds");
        check("In 2024 there were 12 of them");
        check("you may 5 of them");
        check("version 1.2.3");
        check("a view from the hill");
        check("16:9");
        check("Monday is closed");
        check("3 reviews");
        check("a cat");
        // Prices and what can be bought are what a page is about.
        check("19.99 € online");
        check("Order online: 19.99 €");
        check("online: 12 shops");
        check("17 in stock");
        check("only 3 left");
        check("3 people were born here");
        check("4 people can sleep here");
        check("users: 12");
        check("12 users");
        check("people online");
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
