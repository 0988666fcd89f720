//! The dates of RSS: RFC 822, with the changes of RFC 2822 and common deviations.

use std::borrow::Cow;

use jiff::{Timestamp, civil::Weekday, fmt::rfc2822::DateTimeParser};

use crate::LastMod;

/// Nothing that is longer is a date.
const MAX_DATE_BYTES: usize = 100;

const PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The zones that RFC 822 section 5.1 names; RFC 2822 section 4.3 keeps all but the single letters, whose meaning is unknown. Of
/// the single letters only `Z` has one meaning.
const ZONES: [&str; 11] = [
    "ut", "gmt", "z", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt",
];

/// Result of reading the text of a `<pubDate>`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FeedDate {
    /// A date with time and zone as RFC 822 has it, as the same instant in UTC.
    Rfc822(LastMod),
    /// Something near it that means one instant only.
    Near(LastMod),
    /// Anything else.
    Unreadable,
}

/// Reads a date such as `Thu, 05 Jan 2017 13:34:51 +0100`.
///
/// The day of the week may be missing, written out or wrong, and the seconds may be missing. The year may have two digits (1950
/// to 2049: RFC 2822 section 4.3). The zone may be one of the names of RFC 822 section 5, or `UTC`. A text without a zone, or
/// with an unknown one, is not a date: it could be a day off.
pub(super) fn parse(text: &str) -> FeedDate {
    let Some((instant, weekday)) = read(text) else {
        return FeedDate::Unreadable;
    };
    let lastmod = LastMod::from_timestamp(instant);
    if is_as_written(text, weekday) {
        FeedDate::Rfc822(lastmod)
    } else {
        FeedDate::Near(lastmod)
    }
}

fn read(text: &str) -> Option<(Timestamp, Weekday)> {
    if text.len() > MAX_DATE_BYTES {
        return None;
    }
    let mut words: Vec<Cow<'_, str>> = text
        .split([' ', '\t', '\r', '\n', ','])
        .filter(|word| !word.is_empty())
        .map(Cow::Borrowed)
        .collect();
    // The date already determines the day of the week.
    let is_word = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'.')
    };
    if words.len() > 4 && is_word(&words[0]) {
        words.remove(0);
    }
    let [day, month, year, time, zone] = <[Cow<'_, str>; 5]>::try_from(words).ok()?;
    let month = MONTHS.iter().find(|name| {
        let given = month.as_bytes().get(..3);
        given.is_some_and(|given| given.eq_ignore_ascii_case(name.as_bytes()))
    })?;
    // `+01:00`, and `GMT+0100`, are common forms of `+0100`.
    let zone = zone.replace(':', "");
    let zone = match zone.find(['+', '-']) {
        Some(sign) if is_word(&zone[..sign]) => &zone[sign..],
        Some(_) => &zone,
        None if is_zone(&zone) || zone.eq_ignore_ascii_case("utc") => &zone,
        // The parser takes every word for UTC.
        None => return None,
    };
    let date = PARSER
        .parse_zoned(format!("{day} {month} {year} {time} {zone}"))
        .ok()?;
    Some((date.timestamp(), date.weekday()))
}

fn is_zone(name: &str) -> bool {
    ZONES.iter().any(|zone| zone.eq_ignore_ascii_case(name))
}

/// Returns whether a date that could be read is written as RFC 822 section 5 and RFC 1123 section 5.2.14 want it; `weekday` is
/// the true one.
fn is_as_written(text: &str, weekday: Weekday) -> bool {
    let (named, date) = match text.split_once(',') {
        Some((named, date)) => (Some(named.trim()), date),
        None => (None, text),
    };
    let words: Vec<&str> = date.split_ascii_whitespace().collect();
    let [day, month, year, time, zone] = words[..] else {
        return false;
    };
    let has_digits = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(offset) => has_digits(offset, &[4]),
        None => is_zone(zone),
    };
    let parts: Vec<&str> = time.split(':').collect();
    let is_time = matches!(parts.len(), 2 | 3) && parts.iter().all(|part| has_digits(part, &[2]));
    // A leap second cannot be kept.
    let is_time = is_time && parts.get(2) != Some(&"60");
    named.is_none_or(|named| named.eq_ignore_ascii_case(day_name(weekday)))
        && has_digits(day, &[1, 2])
        && month.len() == 3
        && has_digits(year, &[2, 4])
        && is_time
        && is_zone
}

fn day_name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Mon",
        Weekday::Tuesday => "Tue",
        Weekday::Wednesday => "Wed",
        Weekday::Thursday => "Thu",
        Weekday::Friday => "Fri",
        Weekday::Saturday => "Sat",
        Weekday::Sunday => "Sun",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match parse(text) {
            FeedDate::Rfc822(lastmod) => lastmod.to_string(),
            FeedDate::Near(lastmod) => format!("near {lastmod}"),
            FeedDate::Unreadable => String::new(),
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn dates_of_rfc_822_and_2822_are_read() {
        check("Thu, 05 Jan 2017 12:34:50 GMT", "2017-01-05T12:34:50Z");
        check("Thu, 05 Jan 2017 13:34:51 +0100", "2017-01-05T12:34:51Z");
        check("05 Jan 2017 11:34:52 -0100", "2017-01-05T12:34:52Z");
        check("05 Jan 17 12:34:53 GMT", "2017-01-05T12:34:53Z");
        check("5 Jan 99 12:34 UT", "1999-01-05T12:34:00Z");
        check("Tue, 1 Jul 2003 10:52:37 EST", "2003-07-01T15:52:37Z");
        check("Tue, 1 Jul 2003 10:52:37 PDT", "2003-07-01T17:52:37Z");
        check("Tue, 1 Jul 2003 10:52:37 Z", "2003-07-01T10:52:37Z");
        check("1 Jul 2003 10:52:37 -0000", "2003-07-01T10:52:37Z");
    }

    #[test]
    fn near_misses_are_read() {
        check(
            "Thursday, 05 January 2017 12:34:50 UTC",
            "near 2017-01-05T12:34:50Z",
        );
        check("Mon, 05 jan 2017 12:34:50 gmt", "near 2017-01-05T12:34:50Z");
        check(
            "Thu,05 Jan 2017\n 12:34:50  +01:00",
            "near 2017-01-05T11:34:50Z",
        );
        check(
            "Thu, 05 Sept 2017 12:34:50 GMT+0200",
            "near 2017-09-05T10:34:50Z",
        );
        for near in [
            "Thu, 05 January 2017 12:34:50 GMT",
            "Thu 05 Jan 2017 12:34:50 GMT",
            "Fri, 05 Jan 2017 12:34:50 GMT",
            "Thu, 05 Jan 2017 12:34:50 UTC",
            "Thu, 05 Jan 2017 12:34:50 +00:00",
        ] {
            check(near, "near 2017-01-05T12:34:50Z");
        }
        check("Sat, 31 Dec 2016 23:59:60 GMT", "near 2016-12-31T23:59:59Z");
    }

    #[test]
    fn text_that_is_not_a_date_is_none() {
        for text in [
            "",
            "incorrect",
            "05 Jan 17 12:34:55",
            "Thu, 05 Jan 2017",
            "Thu, 32 Jan 2017 12:34:50 GMT",
            "Thu, 05 Foo 2017 12:34:50 GMT",
            "Thu, 05 Jan 2017 25:34:50 GMT",
            "2017-01-05T12:34:50Z",
            "05 é 2017 12:34:50 GMT",
            "05 Jan 2017 12:34:50 é+1",
            "05 Jan 2017 12:34:50 2+0100",
            // Zones that are unknown or ambiguous.
            "Thu, 05 Jan 2017 12:34:50 CEST",
            "Thu, 05 Jan 2017 12:34:50 XYZ",
            "Thu, 05 Jan 2017 12:34:50 A",
        ] {
            check(text, "");
        }
        check(&format!("05 Jan 2017 12:34:50{}GMT", " ".repeat(200)), "");
    }

    #[test]
    fn text_longer_than_any_date_is_none() {
        let padded = |bytes: usize| format!("05 Jan 2017 12:34:50{}GMT", " ".repeat(bytes - 23));
        check(&padded(MAX_DATE_BYTES), "2017-01-05T12:34:50Z");
        check(&padded(MAX_DATE_BYTES + 1), "");
    }
}
