//! What single words may mean: part of a date, of a count, of a notice. Looked up by lower-case ASCII
//! spelling in the languages that most pages are written in; a word that is not here means nothing.

use std::sync::LazyLock;

/// What a word may be, as bits: many words are several things.
pub(super) type Traits = u32;

/// Digits, perhaps with separators: `1,234`, `3`, `1.2k`.
pub(super) const NUMBER: Traits = 1;
/// A day of a month: `6`, `6th`.
pub(super) const DAY: Traits = 1 << 1;
/// A year from 1900 to 2099.
pub(super) const YEAR: Traits = 1 << 2;
/// Years from and to: `2019-2024`.
pub(super) const YEARS: Traits = 1 << 3;
/// A date or time by itself: `2024-05-06`, `12:34`, `yesterday`.
pub(super) const TIME: Traits = 1 << 4;
/// Name of a month.
pub(super) const MONTH: Traits = 1 << 5;
/// Name of a day of the week.
pub(super) const WEEKDAY: Traits = 1 << 6;
/// A unit of time: `minutes`.
pub(super) const UNIT: Traits = 1 << 7;
/// Behind a span of time: `ago`.
pub(super) const AGO: Traits = 1 << 8;
/// Before a span of time: `vor`.
pub(super) const BEFORE: Traits = 1 << 9;
/// Stands for one: `a`, `an`.
pub(super) const ONE: Traits = 1 << 10;
/// What is counted and grows without a change of the page: `views`.
pub(super) const COUNTED: Traits = 1 << 11;
/// Before such a count: `viewed`.
pub(super) const DONE: Traits = 1 << 12;
/// Behind it: `times`.
pub(super) const TIMES: Traits = 1 << 13;
/// Begins a notice of copyright.
pub(super) const COPYRIGHT: Traits = 1 << 14;
/// Between the parts of a date: `of`, `at`.
pub(super) const LINK: Traits = 1 << 15;
/// Half of the day or zone behind a time: `pm`, `UTC`.
pub(super) const HALF: Traits = 1 << 16;
/// How a page was made: `generated`.
pub(super) const MADE: Traits = 1 << 17;
/// Unit of what that took: `ms`.
pub(super) const SHORT: Traits = 1 << 18;
/// `just`, `il`, `y`, `now`: words of phrases.
pub(super) const JUST: Traits = 1 << 19;
/// The second word of [`JUST`].
pub(super) const NOW: Traits = 1 << 20;
/// `il` of `il y a`.
pub(super) const IL: Traits = 1 << 21;
/// `y` of `il y a`.
pub(super) const Y: Traits = 1 << 22;
/// Who is here now: `online`.
pub(super) const ONLINE: Traits = 1 << 23;
/// A span of time in one word: `3m`, `2h`.
pub(super) const SPAN: Traits = 1 << 24;
/// An English month that is a word of its own in lower case.
pub(super) const NEEDS_CAPITAL: Traits = 1 << 25;
/// Who may be counted as being here: `users`.
pub(super) const PEOPLE: Traits = 1 << 26;
/// Between those and what they do: `are`.
pub(super) const ARE: Traits = 1 << 27;
/// What they do: `viewing`. Alone it says nothing.
pub(super) const LOOKING: Traits = 1 << 28;

/// What a phrase that is masked may begin with.
pub(super) const STARTS: Traits = NUMBER
    | DAY
    | YEAR
    | YEARS
    | TIME
    | MONTH
    | WEEKDAY
    | BEFORE
    | ONE
    | COUNTED
    | DONE
    | COPYRIGHT
    | MADE
    | JUST
    | IL
    | SPAN
    | PEOPLE
    | ONLINE;

/// Longest word of the list, in bytes.
const MAX_WORD_BYTES: usize = 16;

/// The words of each kind.
const WORDS: &[(Traits, &str)] = &[
    (
        MONTH,
        "january february april june july august september october november december \
         jan feb apr jun jul aug sep sept oct nov dec \
         januar februar märz maerz mai juni juli oktober dezember mär okt dez \
         janvier février avril juin juillet août septembre octobre novembre décembre mars janv févr avr juil déc \
         enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene \
         gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug ago ott dic \
         januari februari maart mei augustus \
         janeiro fevereiro março maio junho julho setembro outubro novembro dezembro",
    ),
    (MONTH | NEEDS_CAPITAL, "may march mar"),
    (
        WEEKDAY,
        "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun \
         montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag \
         lundi mardi mercredi jeudi vendredi samedi dimanche \
         lunes martes miércoles jueves viernes sábado domingo \
         lunedì martedì mercoledì giovedì venerdì sabato domenica \
         maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    ),
    (
        TIME,
        "yesterday today gestern heute hier aujourd'hui aujourd’hui ayer hoy ieri oggi gisteren vandaag ontem hoje",
    ),
    (
        UNIT,
        "second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years \
         sekunde sekunden minuten std stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren \
         seconde secondes heure heures jour jours semaine semaines mois an ans année années \
         segundo segundos minuto minutos hora horas día días dia dias semana semanas mes meses año años \
         secondo secondi minuti ora ore giorno giorni settimana settimane mese mesi anno anni \
         uur dag dagen weken maand maanden jaar mês ano anos",
    ),
    (UNIT | SHORT, "s ms millisecond milliseconds"),
    (SHORT, "second seconds sec secs"),
    (AGO, "ago atrás geleden fa zuvor"),
    (BEFORE, "vor hace há"),
    (ONE, "a an one ein eine einer einem un une una uma um een"),
    (
        COUNTED,
        "view views pageview pageviews visit visits visitor visitors hit hits impressions like likes share shares \
         retweets reactions claps downloads readers reads followers subscribers comment comments reply replies queries \
         aufrufe besucher klicks zugriffe leser kommentar kommentare \
         vue vues visite visites visiteurs lecteurs lectures commentaire commentaires \
         vistas visitas visitantes lecturas lectores comentario comentarios \
         visualizzazioni visitatori letture lettori commenti visualizações comentários weergaven bezoekers lezers reacties",
    ),
    (
        DONE,
        "viewed read seen visited downloaded shared gelesen angesehen besucht lu vu visto leído letto",
    ),
    (TIMES, "times time mal fois veces volte vezes keer"),
    (COPYRIGHT, "© (c) copyright copr"),
    (
        LINK,
        "at of de du di um à a las alle om às on and et und y e , - – — |",
    ),
    (
        HALF,
        "am pm a.m p.m uhr utc gmt cet cest est edt cst cdt mst mdt pst pdt bst",
    ),
    (
        MADE,
        "generated rendered executed loaded processed served created took generiert erzeugt généré générée",
    ),
    (JUST, "just right gerade"),
    (NOW, "now eben jetzt"),
    (IL, "il"),
    (Y, "y"),
    (ONLINE, "online watching"),
    (
        PEOPLE,
        "users user people persons visitors visitor readers viewers members guests customers shoppers players others \
         benutzer besucher gäste mitglieder personen leser kunden \
         utilisateurs visiteurs membres personnes invités usuarios visitantes miembros personas invitados \
         utenti visitatori persone ospiti membri usuários pessoas gebruikers bezoekers",
    ),
    (ARE, "are is currently now also sind sont están estão sono"),
    (
        LOOKING,
        "viewing browsing looking reading here hier ici aquí aqui qui",
    ),
];

/// The words by their length.
static BY_LENGTH: LazyLock<Vec<Words>> = LazyLock::new(|| {
    let mut lists = vec![Words::default(); MAX_WORD_BYTES + 1];
    for (traits, words) in WORDS {
        for word in words.split_ascii_whitespace() {
            let Words {
                list,
                firsts,
                lasts,
            } = &mut lists[word.len()];
            let bytes = word.as_bytes();
            *firsts |= bit_of(bytes[0]);
            *lasts |= bit_of(bytes[bytes.len() - 1]);
            match list.iter_mut().find(|(known, _)| *known == word) {
                Some((_, known)) => *known |= traits,
                None => list.push((word, *traits)),
            }
        }
    }
    for Words { list, .. } in &mut lists {
        list.sort_unstable();
    }
    lists
});

/// The words of one length in their order, with what they may be.
#[derive(Debug, Clone, Default)]
struct Words {
    list: Vec<(&'static str, Traits)>,
    /// Their first and their last bytes: most other words differ in one of them, and need not be looked for.
    firsts: u64,
    lasts: u64,
}

/// The bit of a byte, the same for capitals; a few bytes share one.
fn bit_of(byte: u8) -> u64 {
    1 << (byte.to_ascii_lowercase() & 63)
}

/// What the word `core` may be, which has no punctuation around it.
pub(super) fn traits_of(core: &str) -> Traits {
    let bytes = core.as_bytes();
    let Some(first) = bytes.first() else {
        return 0;
    };
    if first.is_ascii_digit() {
        return of_digits(bytes);
    }
    let Some(Words {
        list,
        firsts,
        lasts,
    }) = BY_LENGTH.get(bytes.len())
    else {
        return 0;
    };
    if firsts & bit_of(*first) == 0 || lasts & bit_of(bytes[bytes.len() - 1]) == 0 {
        return 0;
    }
    let mut lower = [0; MAX_WORD_BYTES];
    let lower = &mut lower[..bytes.len()];
    for (to, from) in lower.iter_mut().zip(bytes) {
        *to = from.to_ascii_lowercase();
    }
    let Ok(at) = list.binary_search_by(|(word, _)| word.as_bytes().cmp(lower)) else {
        return 0;
    };
    let traits = list[at].1;
    if traits & NEEDS_CAPITAL != 0 && !first.is_ascii_uppercase() {
        return 0;
    }
    traits
}

/// What a word may be that begins with a digit.
fn of_digits(bytes: &[u8]) -> Traits {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let rest = &bytes[digits..];
    let number = || {
        let text = std::str::from_utf8(&bytes[..digits]).ok();
        text.and_then(|text| text.parse::<u32>().ok())
    };
    if rest.is_empty() {
        let mut traits = NUMBER;
        match (digits, number()) {
            (1 | 2, Some(1..=31)) => traits |= DAY,
            (4, Some(1_900..=2_099)) => traits |= YEAR,
            _ => {}
        }
        return traits;
    }
    if is_instant(bytes) {
        return TIME;
    }
    if digits == 4 && is_years(bytes) {
        return YEARS;
    }
    let mut lower = [0; 4];
    if let Some(lower) = lower.get_mut(..rest.len()) {
        lower.copy_from_slice(rest);
        lower.make_ascii_lowercase();
        match &*lower {
            b"st" | b"nd" | b"rd" | b"th" if digits <= 2 => return DAY,
            b"am" | b"pm" if digits <= 2 => return TIME,
            b"s" | b"ms" => return SPAN | SHORT,
            b"m" | b"h" | b"d" | b"w" | b"min" | b"mo" | b"y" => return SPAN | NUMBER,
            _ => {}
        }
    }
    let is_number = rest.iter().all(|byte| {
        byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'\'' | b'k' | b'K' | b'M' | b'+')
    });
    if is_number {
        return NUMBER;
    }
    let seconds = rest.strip_suffix(b"ms").or_else(|| rest.strip_suffix(b"s"));
    let is_seconds = seconds.is_some_and(|seconds| {
        seconds
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    });
    if is_seconds { SPAN | SHORT } else { 0 }
}

/// Whether a word is a date or a time of the day in digits.
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

/// Whether a word is two years: `2019-2024`, `2019–24`.
fn is_years(bytes: &[u8]) -> bool {
    let rest = &bytes[4..];
    let end = ["-", "–", "—", "/"]
        .iter()
        .find_map(|dash| rest.strip_prefix(dash.as_bytes()));
    end.is_some_and(|end| matches!(end.len(), 2 | 4) && end.iter().all(u8::is_ascii_digit))
        && (bytes.starts_with(b"19") || bytes.starts_with(b"20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_by_their_spelling() {
        let check = |word: &str, expected: Traits| {
            assert_eq!(traits_of(word), expected, "{word}");
        };
        check("", 0);
        check("house", 0);
        check("Septembers", 0);
        check("May", MONTH | NEEDS_CAPITAL);
        check("may", 0);
        check("août", MONTH);
        check("Views", COUNTED);
        check("0", NUMBER);
        check("6", NUMBER | DAY);
        check("32", NUMBER);
        check("2024", NUMBER | YEAR);
        check("1800", NUMBER);
        check("1,234", NUMBER);
        check("1.2k", NUMBER);
        check("6th", DAY);
        check("2019-2024", YEARS);
        check("2019–24", YEARS);
        check("5pm", TIME);
        check("12:34", TIME);
        check("9:05:59", TIME);
        check("12:34pm", TIME);
        check("14h30", TIME);
        check("16:9", 0);
        check("2024-05-06", TIME);
        check("2024-05-06T10:00:00Z", TIME);
        check("06.05.2024", TIME);
        check("5/6/24", TIME);
        check("1.2.3", NUMBER);
        check("10.15.24", NUMBER);
        check("3m", SPAN | NUMBER);
        check("0.123s", SPAN | SHORT);
        check("12ms", SPAN | SHORT);
        check("3rd-party", 0);
        check("€5", 0);
    }
}
