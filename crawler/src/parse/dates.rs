//! The dates that headers, robots directives and pages carry. Reads text only; knows no clock.

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::{Offset, TimeZone},
};
use sitemap_core::LastMod;

/// Longest text that is taken for a date, in bytes.
const MAX_STATED_BYTES: usize = 64;

/// A date of an HTTP header: IMF-fixdate, RFC 850 or asctime (RFC 9110 section 5.6.7).
pub(super) fn parse_http_date(text: &str) -> Option<Timestamp> {
    let instant = httpdate::parse_http_date(text.trim()).ok()?;
    Timestamp::try_from(instant).ok()
}

/// The date of an `unavailable_after` rule: RFC 822, RFC 850 or ISO 8601, the forms that Google
/// Search Central names. Without a zone it is UTC, without a time it is the start of the day.
pub(super) fn parse_rule_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    parse_iso_8601(text)
        .or_else(|| parse_rfc_822(text))
        .or_else(|| parse_http_date(text))
}

/// A date that a page states of itself, in W3C format and as precise as it is stated. What has a time but no zone
/// is known by its day only; years and months alone are too vague. Besides ISO 8601 (also in its basic form) the
/// dates of RFC 822 and `May 6, 2024` are read.
pub(super) fn parse_stated(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > MAX_STATED_BYTES || !text.is_ascii() {
        return None;
    }
    let date = LastMod::parse(text)
        .ok()
        .map(|date| date.as_str().to_owned());
    date.or_else(|| parse_loose_iso_8601(text))
        .or_else(|| parse_day_in_words(text))
}

/// A date, and perhaps a time and zone, in the ways in which programs write them.
fn parse_loose_iso_8601(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| {
        let part = text.get(from..to)?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| part.parse::<i16>().ok())?
    };
    let is_basic = bytes.len() == 8 || matches!(bytes.get(8), Some(b'T' | b't'));
    let (year, month, day, rest) = if is_basic {
        (digits(0, 4)?, digits(4, 6)?, digits(6, 8)?, &text[8..])
    } else {
        let separator = *bytes.get(4)?;
        if !matches!(separator, b'-' | b'/' | b'.') || *bytes.get(7)? != separator {
            return None;
        }
        (
            digits(0, 4)?,
            digits(5, 7)?,
            digits(8, 10)?,
            text.get(10..)?,
        )
    };
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let day = || Some(format!("{date}")).filter(|day| LastMod::parse(day).is_ok());
    if rest.is_empty() {
        return day();
    }
    if is_basic {
        let time = rest.get(1..7)?;
        let zone = rest.get(7..)?;
        let spread = format!("{}:{}:{}{zone}", &time[..2], &time[2..4], &time[4..]);
        return with_time(date, &spread).or_else(day);
    }
    if !matches!(rest.as_bytes()[0], b'T' | b't' | b' ') {
        return None;
    }
    with_time(date, rest[1..].trim_start()).or_else(day)
}

/// A time with its zone after a date; `None` without a zone that can be read.
fn with_time(date: Date, text: &str) -> Option<String> {
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != ':')
        .unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let fraction = rest.strip_prefix('.').map_or("", |digits| {
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        &rest[..=length]
    });
    let zone = rest[fraction.len()..].trim();
    let seconds = match clock.len() {
        5 => ":00",
        8 => "",
        _ => return None,
    };
    let zone = match zone.as_bytes() {
        b"Z" | b"z" | b"UTC" | b"GMT" => "Z".to_owned(),
        [b'+' | b'-', hours @ ..] => match hours.len() {
            2 => format!("{zone}:00"),
            4 => format!("{}:{}", &zone[..3], &zone[3..]),
            5 => zone.to_owned(),
            _ => return None,
        },
        _ => return None,
    };
    let stated = format!("{date}T{clock}{seconds}{fraction}{zone}");
    LastMod::parse(&stated).is_ok().then_some(stated)
}

/// `Mon, 06 May 2024 10:00:00 GMT`, `6 May 2024`, `May 6, 2024`: an instant when there is a time with its zone.
fn parse_day_in_words(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .take(7)
        .collect();
    if let [month, day, year, ..] = *words
        && let (Some(month), Ok(day), 4) = (parse_month(month), day.parse(), year.len())
    {
        let date = Date::new(parse_year(year)?, month, day).ok()?;
        return Some(date.to_string());
    }
    let has_zone = words
        .last()
        .is_some_and(|word| !word.contains(':') && parse_zone(word).is_some());
    let instant = parse_rfc_822(text)?;
    if has_zone && text.contains(':') {
        return Some(LastMod::from_timestamp(instant).as_str().to_owned());
    }
    // Without a zone it was read as UTC, so that the day is the one that is written.
    Some(Offset::UTC.to_datetime(instant).date().to_string())
}

fn parse_iso_8601(text: &str) -> Option<Timestamp> {
    // A lone date or a date with a time but no zone; a fixed shape keeps odd texts away from jiff.
    if !text
        .as_bytes()
        .get(..5)
        .is_some_and(|year| year[..4].iter().all(u8::is_ascii_digit) && year[4] == b'-')
    {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant);
    }
    // `2025-01-31 10:00:00 +01:00`: the space before the zone is not part of ISO 8601, but common.
    let joined = text
        .replacen(" +", "+", 1)
        .replacen(" -", "-", 1)
        .replacen(" Z", "Z", 1);
    if let Ok(instant) = joined.parse::<Timestamp>() {
        return Some(instant);
    }
    let local = match joined.parse::<DateTime>() {
        Ok(local) => local,
        Err(_) => joined.parse::<Date>().ok()?.to_datetime(Time::midnight()),
    };
    to_utc(local, Offset::UTC)
}

/// `[Fri, ]25 Jun 2010 15:00[:00][ PST]`, with spaces or dashes in the date (RFC 822 section 5,
/// RFC 850 section 2.1.4).
fn parse_rfc_822(text: &str) -> Option<Timestamp> {
    let text = match text.split_once(',') {
        Some((weekday, rest))
            if weekday
                .trim()
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic()) =>
        {
            rest
        }
        Some(_) | None => text,
    };
    let mut words = text.split_ascii_whitespace().peekable();
    let first = words.next()?;
    let (day, month, year) = match first.split_once('-') {
        Some((day, rest)) => {
            let (month, year) = rest.split_once('-')?;
            (day, month, year)
        }
        None => (first, words.next()?, words.next()?),
    };
    let date = Date::new(parse_year(year)?, parse_month(month)?, day.parse().ok()?).ok()?;
    let time = match words.next_if(|word| word.contains(':')) {
        Some(word) => parse_time(word)?,
        None => Time::midnight(),
    };
    let offset = match words.next() {
        Some(word) => parse_zone(word)?,
        None => Offset::UTC,
    };
    match words.next() {
        Some(_) => None,
        None => to_utc(date.to_datetime(time), offset),
    }
}

fn to_utc(local: DateTime, offset: Offset) -> Option<Timestamp> {
    Some(local.to_zoned(TimeZone::fixed(offset)).ok()?.timestamp())
}

/// Four digits, or two as RFC 6265 section 5.1.1 reads them: 70 to 99 are the last century.
fn parse_year(text: &str) -> Option<i16> {
    let year: i16 = text.parse().ok()?;
    match (text.len(), year) {
        (2, 70..=99) => Some(1_900 + year),
        (2, 0..=69) => Some(2_000 + year),
        (4, _) => Some(year),
        _ => None,
    }
}

fn parse_month(text: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let short = text.get(..3)?.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| **month == *short)?;
    i8::try_from(index + 1).ok()
}

fn parse_time(text: &str) -> Option<Time> {
    let mut parts = text.split(':').map(|part| part.parse::<i8>().ok());
    let hour = parts.next()??;
    let minute = parts.next()??;
    let second = match parts.next() {
        Some(second) => second?,
        None => 0,
    };
    // A leap second counts as the second before it.
    Time::new(hour, minute, second.min(59), 0).ok()
}

/// The zones of RFC 822 section 5.1, and `UTC`.
fn parse_zone(text: &str) -> Option<Offset> {
    let hours = match &*text.to_ascii_uppercase() {
        "GMT" | "UT" | "UTC" | "Z" => 0,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => return parse_numeric_zone(text),
    };
    Offset::from_hours(hours).ok()
}

/// `+0100` or `+01:00`.
fn parse_numeric_zone(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replacen(':', "", 1);
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i32 = digits[..2].parse().ok()?;
    let minutes: i32 = digits[2..].parse().ok()?;
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_in_all_three_forms_are_read() {
        let check = |text: &str, expected: Option<&str>| {
            let found = parse_http_date(text).map(|date| date.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check(
            "Sun, 06 Nov 1994 08:49:37 GMT",
            Some("1994-11-06T08:49:37Z"),
        );
        check(
            "Sunday, 06-Nov-94 08:49:37 GMT",
            Some("1994-11-06T08:49:37Z"),
        );
        check("Sun Nov  6 08:49:37 1994", Some("1994-11-06T08:49:37Z"));
        check("2024-01-01T00:00:00Z", None);
        check("", None);
        check("0", None);
        check("Sun, 06 Nov 99999 08:49:37 GMT", None);
    }

    #[test]
    fn stated_dates_keep_the_precision_they_have() {
        #[track_caller]
        fn check(text: &str, expected: Option<&str>) {
            assert_eq!(parse_stated(text).as_deref(), expected, "{text}");
        }
        let day = Some("2024-05-06");
        check(" 2024-05-06 ", day);
        check("2024/05/06", day);
        check("20240506", day);
        check("2024-05-06T10:00:00", day);
        check("2024-05-06 10:00", day);
        check("2024-05-06T10:00:00.123", day);
        check("2024-05-06T25:00:00Z", day);
        check("May 6, 2024", day);
        check("6 May 2024", day);
        check("Mon, 06 May 2024 10:00:00", day);
        let instant = Some("2024-05-06T10:00:00Z");
        check("2024-05-06T10:00:00Z", instant);
        check("2024-05-06T10:00Z", instant);
        check("2024-05-06 10:00:00 UTC", instant);
        check("20240506T100000Z", instant);
        check("Mon, 06 May 2024 10:00:00 GMT", instant);
        check(
            "2024-05-06T10:00:00.500+02:00",
            Some("2024-05-06T10:00:00.500+02:00"),
        );
        check(
            "2024-05-06T10:00:00+0200",
            Some("2024-05-06T10:00:00+02:00"),
        );
        check("2024-05-06 10:00:00 -05", Some("2024-05-06T10:00:00-05:00"));
        for text in [
            "",
            "2024",
            "2024-05",
            "2024-13-01",
            "05/06/2024",
            "yesterday",
            "1714989600",
            "2024-05-06x",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn rule_dates_are_read_in_the_forms_that_search_engines_name() {
        let check = |text: &str, expected: Option<&str>| {
            let found = parse_rule_date(text).map(|date| date.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        let pst = Some("2010-06-25T23:00:00Z");
        check("25 Jun 2010 15:00:00 PST", pst);
        check("25-Jun-2010 15:00:00 PST", pst);
        check("Friday, 25-Jun-10 15:00:00 PST", pst);
        check("Fri, 25 June 2010 15:00 -0800", pst);
        check("2010-06-25T15:00:00-08:00", pst);
        check("2010-06-25 15:00:00 -08:00", pst);
        check("2010-06-25T23:00:00Z", pst);
        check("2010-06-25T23:00", pst);
        check("2010-06-25 23:00:00", pst);
        check("25 Jun 2010 23:00:00", pst);
        check("2010-06-25", Some("2010-06-25T00:00:00Z"));
        check("25 Jun 2010", Some("2010-06-25T00:00:00Z"));
        check("25 Jun 2010 GMT", Some("2010-06-25T00:00:00Z"));
        check("Fri Jun 25 15:00:00 2010", Some("2010-06-25T15:00:00Z"));
        check("", None);
        check("never", None);
        check("31 Feb 2010", None);
        check("2010-13-01", None);
        check("25 Jun 2010 15:00:00 XYZ", None);
        check("25 Jun 2010 15:00:00 GMT extra", None);
        check("25-Jun", None);
        check("9999999999999", None);
    }
}
