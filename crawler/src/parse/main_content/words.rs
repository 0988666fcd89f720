//! Words of dates, times and counts, and numbers. Looked up by spelling, the same for capitals, in the languages that most
//! pages are written in; a word that is not here means nothing.

use std::{ops::Range, sync::LazyLock};

use super::{
    buffer::{TextOfBlocks, first_bytes},
    filter::{KNOWN, OF_RUN, WordFilter},
    stream::MIXER,
};

/// Role of a word in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordKind {
    /// Digits, perhaps with separators: `1,234`, `3`, `1.2k`, `6th`, `2019-2024`, `3m`; `einer` of `vor einer Stunde`.
    Number,
    /// Marks a number that is not content of the page: `ago`, `views`, `May`, `©`, `generated`.
    Name,
    /// A date or time by itself: `2024-05-06`, `12:34`, `yesterday`.
    Moment,
    /// May be among them: `minutes`, `of`, `pm`, `Monday`.
    Part,
}

/// Longest word of the list, in bytes.
const MAX_WORD_BYTES: usize = 16;

/// The words of each kind, without repetitions.
const WORDS: &[(WordKind, &str)] = &[
    (
        WordKind::Name,
        // Months.
        "january february march april may june july august september october november december \
         jan feb mar apr jun jul aug sep sept oct nov dec \
         januar februar märz maerz mai juni juli oktober dezember mär okt dez \
         janvier février avril juin juillet août septembre octobre novembre décembre mars janv févr avr juil déc \
         enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene \
         gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug ago ott dic \
         januari februari maart mei augustus \
         janeiro fevereiro março maio junho julho setembro outubro novembro dezembro \
         atrás geleden fa zuvor vor hace há y",
    ),
    (
        WordKind::Name,
        // What grows without a change of the page, and who is counted.
        "view views pageview pageviews visit visits visitor visitors hit hits impressions like likes share shares \
         retweets reactions claps downloads readers reads followers subscribers comment comments reply replies queries \
         users viewers guests viewed read seen visited downloaded shared \
         aufrufe besucher klicks zugriffe leser kommentar kommentare benutzer gelesen angesehen besucht \
         vue vues visite visites visiteurs lecteurs lectures commentaire commentaires \
         vistas visitas visitantes lecturas lectores comentario comentarios visto leído \
         visualizzazioni visitatori letture lettori commenti visualizações comentários weergaven bezoekers lezers reacties",
    ),
    (
        WordKind::Name,
        // Notices.
        "© copyright copr generated rendered executed loaded processed served took generiert erzeugt généré générée",
    ),
    (
        WordKind::Moment,
        "yesterday today gestern heute aujourd'hui aujourd’hui ayer hoy ieri oggi gisteren vandaag ontem hoje",
    ),
    (
        WordKind::Number,
        "a an one ein eine einer einem un une una uma um een",
    ),
    (
        WordKind::Part,
        "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun \
         montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag \
         lundi mardi mercredi jeudi vendredi samedi dimanche \
         lunes martes miércoles jueves viernes sábado domingo \
         lunedì martedì mercoledì giovedì venerdì sabato domenica \
         maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    ),
    (
        WordKind::Part,
        // Units of time.
        "second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years \
         sekunde sekunden minuten std stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren \
         seconde secondes heure heures jour jours semaine semaines mois ans année années \
         segundo segundos minuto minutos hora horas día días dia dias semana semanas mes meses año años \
         secondo secondi minuti ora ore giorno giorni settimana settimane mese mesi anno anni \
         uur dag dagen weken maand maanden jaar mês ano anos s ms millisecond milliseconds",
    ),
    (
        WordKind::Part,
        "at in of on de du di à las alle om às and et und e il online times time mal fois veces volte keer : , - – — | \
         am pm a.m p.m uhr utc gmt cet cest est edt cst cdt mst mdt pst pdt bst",
    ),
];

/// Slots of the table of words, several for each.
const SLOTS: usize = 2_048;

/// The words.
static KNOWN_WORDS: LazyLock<KnownWords> = LazyLock::new(KnownWords::new);

/// The words by their fingerprints. Two words with one fingerprint would be taken for each other.
#[derive(Debug)]
pub(super) struct KnownWords {
    filter: WordFilter,
    /// A word whose slot is taken is in the next free one.
    slots: Vec<Option<(u64, WordKind)>>,
}

impl KnownWords {
    /// All of them.
    pub(super) fn get() -> &'static Self {
        &KNOWN_WORDS
    }

    fn new() -> Self {
        let mut known = Self {
            filter: WordFilter::new(),
            slots: vec![None; SLOTS],
        };
        for (kind, words) in WORDS {
            for word in words.split_ascii_whitespace() {
                let word = word.as_bytes();
                let is_sign = matches!(kind, WordKind::Name | WordKind::Moment);
                let signs = if is_sign { KNOWN | OF_RUN } else { OF_RUN };
                known.filter.add(word, signs);
                let fingerprint = fingerprint_of(spelled(word), word.len());
                let mut slot = slot_of(fingerprint);
                while known.slots[slot].is_some() {
                    slot = (slot + 1) % SLOTS;
                }
                known.slots[slot] = Some((fingerprint, *kind));
            }
        }
        // Of `(c)`.
        known.filter.add(b"c", KNOWN | OF_RUN);
        known
    }

    /// Marks the words without which a run that has no digit is not volatile.
    pub(super) fn filter(&self) -> WordFilter {
        self.filter.clone()
    }

    /// Kind of the word at a place, perhaps with punctuation around it.
    pub(super) fn kind_of(
        &self,
        text: &TextOfBlocks<'_>,
        (from, to): (usize, usize),
    ) -> Option<WordKind> {
        let word = text.part(from, to);
        if word[0].is_ascii_alphabetic() && self.filter.signs(text.eight(from)) & OF_RUN == 0 {
            return None;
        }
        let core = core_place(word);
        if word[core.start].is_ascii_digit() {
            of_digits(&word[core])
        } else if core.len() > MAX_WORD_BYTES {
            None
        } else if word.eq_ignore_ascii_case(b"(c)") {
            Some(WordKind::Name)
        } else {
            let spelled = [0, 8].map(|at| {
                text.eight(from + core.start + at) & first_bytes(core.len().saturating_sub(at))
            });
            self.kind_of_fingerprint(fingerprint_of(spelled, core.len()))
        }
    }

    fn kind_of_fingerprint(&self, fingerprint: u64) -> Option<WordKind> {
        let mut slot = slot_of(fingerprint);
        while let Some((known, kind)) = self.slots[slot] {
            if known == fingerprint {
                return Some(kind);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }
}

/// The first [`MAX_WORD_BYTES`] bytes of a word, filled up with zeros.
type SpelledWord = [u64; MAX_WORD_BYTES / 8];

/// Fingerprint of a word of so many bytes, at most [`MAX_WORD_BYTES`], the same for capitals.
fn fingerprint_of(word: SpelledWord, length: usize) -> u64 {
    const SMALL: u64 = 0x2020_2020_2020_2020;
    let [first, second] = word.map(|part| part | SMALL);
    let mixed = first.wrapping_mul(MIXER).rotate_left(29) ^ second;
    let mixed = (mixed ^ length as u64).wrapping_mul(MIXER);
    mixed ^ mixed >> 32
}

/// The spelling of a word of at most [`MAX_WORD_BYTES`] bytes.
fn spelled(word: &[u8]) -> SpelledWord {
    let mut bytes = [0; MAX_WORD_BYTES];
    bytes[..word.len()].copy_from_slice(word);
    let (parts, _) = bytes.as_chunks();
    [parts[0], parts[1]].map(u64::from_le_bytes)
}

/// Place of a fingerprint among the slots, if it is free.
fn slot_of(fingerprint: u64) -> usize {
    let [low, high, ..] = fingerprint.to_le_bytes();
    usize::from(u16::from_le_bytes([low, high])) % SLOTS
}

/// Kind of a word that begins with a digit.
fn of_digits(bytes: &[u8]) -> Option<WordKind> {
    if is_instant(bytes) {
        return Some(WordKind::Moment);
    }
    let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'\'' | b'+');
    let end = bytes.iter().take_while(|byte| is_digit(byte)).count();
    let (number, unit) = bytes.split_at(end);
    match unit.to_ascii_lowercase().as_slice() {
        b"am" | b"pm" if number.len() <= 2 => Some(WordKind::Moment),
        b"" | b"k" | b"m" | b"st" | b"nd" | b"rd" | b"th" | b"s" | b"ms" | b"h" | b"d" | b"w"
        | b"min" | b"mo" | b"y" => Some(WordKind::Number),
        // Years from and to: `2019-2024`, `2019–24`.
        rest => {
            let dash = rest
                .iter()
                .take_while(|byte| !byte.is_ascii_digit())
                .count();
            let is_years = number.len() == 4 && matches!(rest.len() - dash, 2 | 4);
            let is_dash = matches!(&rest[..dash], b"-" | b"/" | [0xe2, 0x80, 0x93 | 0x94]);
            (is_years && is_dash && rest[dash..].iter().all(u8::is_ascii_digit))
                .then_some(WordKind::Number)
        }
    }
}

/// Returns whether a word is a date or a time of the day in digits.
fn is_instant(bytes: &[u8]) -> bool {
    let mut groups = [0_usize; 4];
    let mut separators = [0_u8; 3];
    let mut count = 0;
    let mut at = 0;
    while at < bytes.len() && count < groups.len() {
        let digits = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        groups[count] = digits;
        at += digits;
        count += 1;
        let Some(&separator) = bytes.get(at) else {
            break;
        };
        if count <= separators.len() {
            separators[count - 1] = separator;
        }
        if !matches!(separator, b'-' | b'/' | b'.' | b':') {
            break;
        }
        at += 1;
    }
    let rest = &bytes[at..];
    let is_end = rest.is_empty();
    match (groups, separators) {
        ([4, 1 | 2, 1 | 2, 0], [b'-', b'-', end] | [b'/', b'/', end] | [b'.', b'.', end]) => {
            is_end || matches!(end, b'T' | b't')
        }
        ([1 | 2, 1 | 2, 4, 0], [b'-', b'-', _] | [b'/', b'/', _] | [b'.', b'.', _])
        | ([1 | 2, 1 | 2, 2, 0], [b'/', b'/', 0]) => is_end,
        ([1 | 2, 2, 0 | 2, _], [b':', ..]) => {
            is_end || rest.first().is_some_and(u8::is_ascii_alphabetic) || groups[3] > 0
        }
        ([1 | 2, 0, 0, 0], [b'h', ..]) => {
            rest.len() == 3 && rest[1..].iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Place in a word of what is left without the punctuation around it; a word of punctuation only stays as it is.
#[inline]
pub(super) fn core_place(word: &[u8]) -> Range<usize> {
    if let [first, .., last] = word
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return 0..word.len();
    }
    core_within(word)
}

fn core_within(word: &[u8]) -> Range<usize> {
    let is_core = |byte: &u8| !is_punctuation((*byte).into());
    let first = word.iter().position(is_core);
    let last = word.iter().rposition(is_core);
    let (Some(first), Some(last)) = (first, last) else {
        return 0..word.len();
    };
    if word[first].is_ascii() && word[last].is_ascii() {
        return first..last + 1;
    }
    // The punctuation may be that of another script.
    let Ok(text) = std::str::from_utf8(word) else {
        return 0..word.len();
    };
    let from = text.len() - text.trim_start_matches(is_punctuation).len();
    let to = text.trim_end_matches(is_punctuation).len();
    if from < to { from..to } else { 0..word.len() }
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

#[cfg(test)]
mod tests {
    use super::{super::buffer::TextBuffer, *};
    use crate::html::Text;

    #[test]
    fn words_are_known_by_their_spelling() {
        #[track_caller]
        fn check(words: &str, expected: Option<WordKind>) {
            for word in words.split(' ') {
                let mut buffer = TextBuffer::default();
                buffer.add(Text::alone(word.as_bytes()), 0);
                buffer.end_block();
                let kind = KnownWords::get().kind_of(&buffer.blocks(), (0, word.len()));
                assert_eq!(kind, expected, "{word}");
            }
        }
        check("house Septembers 16:9 3rd-party €5 12x 2019-x", None);
        check("May août Views © generated", Some(WordKind::Name));
        check(
            "0 6 2024 1,234 1.2k 6th 2019-2024 2019–24 1.2.3 3m 0.123s 12ms an",
            Some(WordKind::Number),
        );
        check(
            "5pm 12:34 9:05:59 12:34pm 14h30 2024-05-06 2024-05-06T10:00:00Z 06.05.2024 5/6/24 today",
            Some(WordKind::Moment),
        );
        check("Monday minutes of PM", Some(WordKind::Part));
    }

    #[test]
    fn no_word_has_two_kinds() {
        let words = WORDS
            .iter()
            .flat_map(|(_, words)| words.split_ascii_whitespace());
        let mut fingerprints: Vec<u64> = words
            .map(|word| fingerprint_of(spelled(word.as_bytes()), word.len()))
            .collect();
        let all = fingerprints.len();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), all);
    }
}
