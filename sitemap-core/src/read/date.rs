//! The dates of RSS: RFC 822, with the changes of RFC 2822 and common deviations.

use std::borrow::Cow;

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

use crate::LastMod;

/// Nothing that is longer is a date.
const MAX_DATE_BYTES: usize = 100;

/// As RFC 2822 wants it, and with any day of the week.
const STRICT: DateTimeParser = DateTimeParser::new();
const RELAXED: DateTimeParser = STRICT.relaxed_weekday(true);

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
    let Some(instant) = parse_rfc_822(text) else {
        return FeedDate::Unreadable;
    };
    let lastmod = LastMod::from_timestamp(instant);
    if is_as_written(text) {
        FeedDate::Rfc822(lastmod)
    } else {
        FeedDate::Near(lastmod)
    }
}

/// The instant of a date as in RFC 822 section 5, with the changes of RFC 2822 and common deviations; the day of the week is not
/// compared. `None` without a time and a known zone.
///
/// ```
/// use sitemap_core::read::parse_rfc_822;
///
/// let instant = parse_rfc_822("Thu, 05 Jan 2017 13:34:51 +0100");
/// assert_eq!(instant, "2017-01-05T12:34:51Z".parse().ok());
/// ```
pub fn parse_rfc_822(text: &str) -> Option<Timestamp> {
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
    let date = RELAXED
        .parse_zoned(format!("{day} {month} {year} {time} {zone}"))
        .ok()?;
    Some(date.timestamp())
}

fn is_zone(name: &str) -> bool {
    ZONES.iter().any(|zone| zone.eq_ignore_ascii_case(name))
}

/// Returns whether a date that could be read is written as RFC 822 section 5 and RFC 1123 section 5.2.14 want it.
fn is_as_written(text: &str) -> bool {
    let zone = text.split_ascii_whitespace().next_back();
    let has_zone = zone.is_some_and(|zone| zone.starts_with(['+', '-']) || is_zone(zone));
    // A leap second cannot be kept.
    has_zone && !text.contains(":60") && STRICT.parse_zoned(text).is_ok()
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
        check("Mon, 05 jan 2017 12:34:50 gmt", "near 2017-01-05T12:34:50Z");
        let zone = "Thu,05 Jan 2017\n 12:34:50  +01:00";
        check(zone, "near 2017-01-05T11:34:50Z");
        let month = "Thu, 05 Sept 2017 12:34:50 GMT+0200";
        check(month, "near 2017-09-05T10:34:50Z");
        for near in [
            "Thursday, 05 January 2017 12:34:50 UTC",
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
        let texts = "|incorrect|05 Jan 17 12:34:55|Thu, 05 Jan 2017|Thu, 32 Jan 2017 12:34:50 GMT|Thu, 05 Foo 2017 12:34:50 GMT\
                     |Thu, 05 Jan 2017 25:34:50 GMT|2017-01-05T12:34:50Z|05 é 2017 12:34:50 GMT|05 Jan 2017 12:34:50 é+1\
                     |05 Jan 2017 12:34:50 2+0100";
        // Zones that are unknown or ambiguous.
        let zones = ["CEST", "XYZ", "A"].map(|zone| format!("Thu, 05 Jan 2017 12:34:50 {zone}"));
        for text in texts.split('|').chain(zones.iter().map(String::as_str)) {
            check(text, "");
        }
    }

    #[test]
    fn text_longer_than_any_date_is_none() {
        let padded = |bytes: usize| format!("05 Jan 2017 12:34:50{}GMT", " ".repeat(bytes - 23));
        check(&padded(MAX_DATE_BYTES), "2017-01-05T12:34:50Z");
        check(&padded(MAX_DATE_BYTES + 1), "");
    }
}
