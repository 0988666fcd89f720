//! Words of dates, times and counts, and numbers. Looked up by lower-case ASCII spelling in the languages that most pages
//! are written in; a word that is not here means nothing.

use std::sync::LazyLock;

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

/// The words by their length.
static BY_LENGTH: LazyLock<Vec<WordTable>> = LazyLock::new(|| {
    let mut lists = vec![WordTable::default(); MAX_WORD_BYTES + 1];
    for (kind, words) in WORDS {
        for word in words.split_ascii_whitespace() {
            let WordTable {
                list,
                firsts,
                lasts,
            } = &mut lists[word.len()];
            let bytes = word.as_bytes();
            *firsts |= bit_of(bytes[0]);
            *lasts |= bit_of(bytes[bytes.len() - 1]);
            list.push((word, *kind));
        }
    }
    for WordTable { list, .. } in &mut lists {
        list.sort_unstable();
    }
    lists
});

/// The words of one length in their order, with their kinds.
#[derive(Debug, Clone, Default)]
struct WordTable {
    list: Vec<(&'static str, WordKind)>,
    /// Their first and their last bytes: most other words differ in one of them, and need not be looked for.
    firsts: u64,
    lasts: u64,
}

/// The bit of a byte, the same for capitals; a few bytes share one.
fn bit_of(byte: u8) -> u64 {
    1 << (byte.to_ascii_lowercase() & 63)
}

/// Kind of the word `core`, which has no punctuation around it.
pub(super) fn kind_of(core: &[u8]) -> Option<WordKind> {
    let bytes = core;
    let first = bytes.first()?;
    if first.is_ascii_digit() {
        return of_digits(bytes);
    }
    let WordTable {
        list,
        firsts,
        lasts,
    } = BY_LENGTH.get(bytes.len())?;
    if firsts & bit_of(*first) == 0 || lasts & bit_of(bytes[bytes.len() - 1]) == 0 {
        return None;
    }
    let mut lower = [0; MAX_WORD_BYTES];
    let lower = &mut lower[..bytes.len()];
    for (to, from) in lower.iter_mut().zip(bytes) {
        *to = from.to_ascii_lowercase();
    }
    let at = list.binary_search_by(|(word, _)| word.as_bytes().cmp(lower));
    at.ok().map(|at| list[at].1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_by_their_spelling() {
        #[track_caller]
        fn check(words: &str, expected: Option<WordKind>) {
            for word in words.split(' ') {
                assert_eq!(kind_of(word.as_bytes()), expected, "{word}");
            }
        }
        check("", None);
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
        for WordTable { list, .. } in &*BY_LENGTH {
            assert!(
                list.windows(2).all(|pair| pair[0].0 != pair[1].0),
                "{list:?}"
            );
        }
    }
}
