//! The dates that headers, robots directives and pages carry. Reads text only; knows no clock.

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::Offset,
};
use sitemap_core::{LastMod, read::parse_rfc_822};

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
        .or_else(|| Some(parse_words(text)?.0))
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
        .or_else(|| stated_in_words(text))
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

/// An instant when there is a time with its zone, else the day as it is written.
fn stated_in_words(text: &str) -> Option<String> {
    let (instant, is_exact) = parse_words(text)?;
    if is_exact {
        return Some(LastMod::from_timestamp(instant).as_str().to_owned());
    }
    Some(Offset::UTC.to_datetime(instant).date().to_string())
}

/// `Mon, 06 May 2024 10:00:00 GMT`, `06-May-2024`, `6 May 2024`, `May 6, 2024`, and whether it has a time with its zone. Without a
/// zone it is UTC, without a time it is the start of the day.
fn parse_words(text: &str) -> Option<(Timestamp, bool)> {
    let words = text.split([' ', '\t', ',']);
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    if is_word(words.first()?) {
        if words.get(2).is_some_and(|word| is_number(word)) {
            words.swap(0, 1);
        } else {
            words.remove(0);
        }
    }
    let day = words.first()?;
    if day.contains('-') {
        words.splice(0..1, day.split('-').collect::<Vec<_>>());
    }
    let has_time = words.get(3).is_some_and(|word| word.contains(':'));
    if !has_time && words.len() >= 3 {
        words.insert(3, "00:00:00");
    }
    let has_zone = words.len() > 4;
    if !has_zone {
        words.push("GMT");
    }
    Some((parse_rfc_822(&words.join(" "))?, has_time && has_zone))
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
    Offset::UTC.to_timestamp(local).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn http_dates_in_all_three_forms_are_read() {
        let rows = [
            "Sun, 06 Nov 1994 08:49:37 GMT => 1994-11-06T08:49:37Z",
            "Sunday, 06-Nov-94 08:49:37 GMT => 1994-11-06T08:49:37Z",
            "Sun Nov  6 08:49:37 1994 => 1994-11-06T08:49:37Z",
            "2024-01-01T00:00:00Z =>",
            " =>",
            "0 =>",
            "Sun, 06 Nov 99999 08:49:37 GMT =>",
        ];
        check_rows(&rows, |text| {
            parse_http_date(text).map_or_else(String::new, |date| date.to_string())
        });
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
        let fraction = "2024-05-06T10:00:00.500+02:00";
        check(fraction, Some(fraction));
        let zoned = Some("2024-05-06T10:00:00+02:00");
        check("2024-05-06T10:00:00+0200", zoned);
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
    fn rule_dates_are_read_in_many_forms() {
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
