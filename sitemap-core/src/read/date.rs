//! The dates of RSS: RFC 822, with what RFC 2822 made of it and what people write.

use std::borrow::Cow;

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

use crate::LastMod;

/// Nothing that is longer is a date.
const MAX_DATE_BYTES: usize = 100;

const PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// What the text of a `<pubDate>` is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FeedDate {
    /// A date with time and zone, as the same instant in UTC.
    Rfc822(LastMod),
    /// Anything else.
    Unreadable,
}

/// Reads a date such as `Thu, 05 Jan 2017 13:34:51 +0100`.
///
/// The day of the week may be missing, written out or wrong, the year may have two digits (1950 to 2049: RFC 2822 section 4.3), the
/// seconds may be missing, the zone may be one of the names of RFC 822 section 5. Without a zone it is no date: it could be a day
/// off.
pub(super) fn parse(text: &str) -> FeedDate {
    read(text).map_or(FeedDate::Unreadable, |instant| {
        FeedDate::Rfc822(LastMod::from_timestamp(instant))
    })
}

fn read(text: &str) -> Option<Timestamp> {
    if text.len() > MAX_DATE_BYTES {
        return None;
    }
    let mut words: Vec<Cow<'_, str>> = text
        .split([' ', '\t', '\r', '\n', ','])
        .filter(|word| !word.is_empty())
        .map(Cow::Borrowed)
        .collect();
    // The day of the week says nothing that the date does not say.
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
    // `+01:00`, and `GMT+0100`, are what some write for `+0100`.
    let zone = zone.replace(':', "");
    let zone = match zone.find(['+', '-']) {
        Some(sign) if is_word(&zone[..sign]) => &zone[sign..],
        Some(_) | None => &zone,
    };
    PARSER
        .parse_timestamp(format!("{day} {month} {year} {time} {zone}"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match parse(text) {
            FeedDate::Rfc822(lastmod) => lastmod.to_string(),
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
            "2017-01-05T12:34:50Z",
        );
        check("Mon, 05 jan 2017 12:34:50 gmt", "2017-01-05T12:34:50Z");
        check("Thu,05 Jan 2017\n 12:34:50  +01:00", "2017-01-05T11:34:50Z");
        check(
            "Thu, 05 Sept 2017 12:34:50 GMT+0200",
            "2017-09-05T10:34:50Z",
        );
    }

    #[test]
    fn what_is_no_date_is_none() {
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
        ] {
            check(text, "");
        }
        check(&format!("05 Jan 2017 12:34:50{}GMT", " ".repeat(200)), "");
    }

    #[test]
    fn what_is_longer_than_any_date_is_none() {
        let padded = |bytes: usize| format!("05 Jan 2017 12:34:50{}GMT", " ".repeat(bytes - 23));
        check(&padded(MAX_DATE_BYTES), "2017-01-05T12:34:50Z");
        check(&padded(MAX_DATE_BYTES + 1), "");
    }
}
