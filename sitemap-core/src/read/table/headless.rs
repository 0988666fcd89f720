//! Rows without a header line: what shows that lines are such, and when it is known what their two columns mean.
//!
//! A URL may have any delimiter in it, and a date behind that. So it takes all lines to say that one is a column, and only the form of
//! dates that sitemaps have says that it is `lastmod`.

use std::collections::HashMap;

use super::{
    DELIMITERS, Field, Fields,
    header::{has_marks_of_url, has_url_in_column},
    is_address,
};
use crate::{ChangeFreq, LastMod, Priority, read::text::has_web_scheme};

/// Length of a date that names a day.
const DAY_CHARACTERS: usize = "2026-01-02".len();

/// The status codes that servers answer with; other numbers of three digits are more likely parts of a URL.
const STATUS_CODES: [&str; 25] = [
    "200", "201", "202", "203", "204", "206", "300", "301", "302", "303", "304", "307", "308",
    "400", "401", "403", "404", "405", "406", "410", "429", "500", "502", "503", "504",
];

/// Whether all lines have two columns beyond doubt, a URL and the date of its last change, if that is known.
pub(super) fn are_dated(lines: &[&str], delimiter: char) -> bool {
    let mut dates = HashMap::new();
    let mut count = 0;
    for line in lines {
        let Some((url, date)) = pair(line, delimiter) else {
            return false;
        };
        let is_known = date.is_empty() || is_day(date);
        // With the values of a query, or a date in front, it may be one URL; and so may URLs that differ in their dates only.
        let is_url = is_address(url) && !has_blank(url) && !url.contains('?') && !ends_in_date(url);
        if !is_known || !is_url || *dates.entry(url).or_insert(date) != date {
            return false;
        }
        count += usize::from(!date.is_empty());
    }
    count > 0 && count * 2 >= lines.len()
}

/// The two fields of a line, if it has no more.
fn pair(line: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut fields = Fields::new(line, Some(delimiter)).map(Field::sound);
    let pair = (fields.next()??, fields.next()??);
    // Programs add empty fields at the end.
    fields.all(|field| field == Some("")).then_some(pair)
}

/// Whether the lines are rows whose first column has URLs: a delimiter follows, and values among which one is of a kind that tables
/// have, in most of them and in the first. A single line can be read as one URL.
pub(super) fn are_rows(lines: &[&str]) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        let is_row = |line: &&str| is_row(line, delimiter);
        let rows = lines.iter().filter(|line| is_row(line)).count();
        let has_most = |count: usize| count * 4 >= lines.len() * 3;
        (lines.first().is_some_and(is_row) && has_most(rows))
            || have_words(lines, delimiter)
            || have_status(lines, delimiter)
    })
}

/// Whether a line is a row of a table whose first column has URLs. Quotation marks and blanks are beyond doubt: what stands between or
/// before them is the URL.
fn is_row(line: &str, delimiter: char) -> bool {
    let line = line.trim();
    if super::column(line).is_some() {
        return false;
    }
    let mut fields = Fields::new(line, Some(delimiter)).filter_map(Field::sound);
    let is_priority = |field: &str| field.contains('.') && Priority::parse(field).is_ok();
    fields.next().is_some_and(|url| {
        is_address(url)
            && !has_blank(url)
            && fields.any(|field| {
                is_date(field)
                    || (is_priority(field) && !ends_in_number(url))
                    || ChangeFreq::parse(field).is_ok()
                    // A query may have other URLs in it.
                    || (has_web_scheme(field) && !url.contains('?'))
            })
    })
}

/// Whether all lines have as many fields, a URL first, and words stand behind many of them: titles.
fn have_words(lines: &[&str], delimiter: char) -> bool {
    let mut columns = None;
    let mut with_words = 0;
    for line in lines {
        if super::column(line.trim()).is_some() {
            return false;
        }
        let (mut count, mut has_words) = (0, false);
        for field in Fields::new(line, Some(delimiter)) {
            let Some(text) = field.sound() else {
                return false;
            };
            if count == 0 && (!is_address(text) || has_blank(text)) {
                return false;
            }
            has_words |= has_blank(text);
            count += 1;
        }
        if count < 2 || *columns.get_or_insert(count) != count {
            return false;
        }
        with_words += usize::from(has_words);
    }
    with_words > 0 && with_words * 4 >= lines.len()
}

/// Whether several lines are all a URL and a status code; URLs that differ in such a number only are no rows.
fn have_status(lines: &[&str], delimiter: char) -> bool {
    let mut urls = HashMap::new();
    let are_rows = lines.iter().all(|line| {
        super::column(line.trim()).is_none()
            && pair(line, delimiter).is_some_and(|(url, status)| {
                is_address(url)
                    && !has_blank(url)
                    && !ends_in_number(url)
                    && STATUS_CODES.contains(&status)
                    && *urls.entry(url).or_insert(status) == status
            })
    });
    are_rows && urls.len() > 1
}

/// Whether a line of a list ends in a date behind a delimiter, which is more likely a column than a part of its URL. What stands in a
/// query is a part.
pub(super) fn has_date_behind(line: &str) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        line.rsplit_once(delimiter)
            .is_some_and(|(url, date)| is_date(date.trim()) && !url.contains('?'))
    })
}

/// Whether a line has an address behind another value that is no part of one.
pub(super) fn has_address_behind(line: &str) -> bool {
    has_url_in_column(line)
        || DELIMITERS.into_iter().any(|delimiter| {
            let mut fields = Fields::new(line, Some(delimiter)).map_while(Field::sound);
            fields
                .next()
                .is_some_and(|first| !is_address(first) && !has_marks_of_url(first))
                && fields.any(is_address)
        })
}

/// Whether a text has blanks between its words.
pub(super) fn has_blank(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Whether a text is a day in the form that sitemaps have, with a time or without.
fn is_day(text: &str) -> bool {
    text.len() >= DAY_CHARACTERS && LastMod::parse(text).is_ok()
}

/// Whether a text is a day in any form that people and programs write in digits: `2.1.2026`, `01/02/2026`, `2026-01-02 03:04:05`.
fn is_date(text: &str) -> bool {
    if is_day(text) {
        return true;
    }
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "0"));
    let is_time = time.starts_with(|first: char| first.is_ascii_digit())
        && time
            .chars()
            .all(|character| character.is_ascii_digit() || ":.+- AMPampZz".contains(character));
    is_time
        && ['-', '/', '.']
            .into_iter()
            .any(|mark| is_day_of(day.split(mark)))
}

/// Whether these are the year, month and day of a date, or day, month and year in either order.
fn is_day_of<'a>(parts: impl Iterator<Item = &'a str>) -> bool {
    let number = |text: &str| {
        let is_plain = (1..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
        let number = text.parse::<u16>().ok();
        number
            .filter(|_| is_plain)
            .map(|number| (number, text.len()))
    };
    let numbers: Option<Vec<(u16, usize)>> = parts.take(4).map(number).collect();
    let is_month_and_day = |one: (u16, usize), other: (u16, usize)| {
        let are_short = one.1 <= 2 && other.1 <= 2;
        let (low, high) = (one.0.min(other.0), one.0.max(other.0));
        are_short && (1..=12).contains(&low) && high <= 31
    };
    match numbers.as_deref() {
        Some([(_, 4), one, other] | [one, other, (_, 4)]) => is_month_and_day(*one, *other),
        _ => false,
    }
}

/// Whether the last part of a URL is a date.
fn ends_in_date(url: &str) -> bool {
    let end = url
        .trim_end_matches('/')
        .rsplit(['/', '=', ';', ',', '|', '@', '_'])
        .next();
    end.is_some_and(is_date)
}

/// Whether the last part of a URL is a number: with one behind it, it is a place on a map.
fn ends_in_number(url: &str) -> bool {
    let end = url.rsplit(['/', '=', '@']).next();
    end.is_some_and(|end| end.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_known_in_every_form() {
        for text in [
            "2026-01-02",
            "2026-01-02T03:04:05Z",
            "2026-01-02 03:04:05",
            "2026-01-02T03:04",
            "2026/1/2",
            "02.01.2026",
            "2.1.2026 03:04",
            "1/31/2026",
            "31/1/2026 3:04 PM",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-01",
            "1.2",
            "1.2.3",
            "2026-13-14",
            "20260102",
            "0.10",
            "51.10.2026",
            "2026-01-02 and",
            "a-b-2026",
            "1.2.3.2026",
            "+1.2.2026",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn columns_are_known_where_every_line_is_a_url_and_a_date() {
        let check = |text: &str, delimiter: char, expected: bool| {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(are_dated(&lines, delimiter), expected, "{text:?}");
        };
        check("/a,2026-01-02\n/b,2026-01-03", ',', true);
        check("https://h/a;2026-01-02T03:04:05Z;;", ';', true);
        check("\"/a,b\",\"2026-01-02\"\n/b,", ',', true);
        check("/a\t2026-01-02\n/a\t2026-01-02", '\t', true);
        check("/a,2026-01-02", ';', false);
        check("/a,\n/b,\n/c,2026-01-02", ',', false);
        check("/a,\n/b,", ',', false);
        check("/a,2026-01-02\n/b", ',', false);
        check("/a,2026-01-02\n/b,x", ',', false);
        check("/a,2026-01-02\n/b,02.01.2026", ',', false);
        check("/a,2026-01-02\nb,2026-01-02", ',', false);
        check("/a,2026-01-02,daily", ',', false);
        check("/day,2026-01-02\n/day,2026-01-03", ',', false);
        check("/q?from=BER,2026-01-02", ',', false);
        check("/from/2026-01-01,2026-01-02", ',', false);
    }

    #[test]
    fn rows_show_what_they_are() {
        let check = |text: &str, expected: bool| {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(are_rows(&lines), expected, "{text:?}");
        };
        check("/a,daily\n/b,weekly", true);
        check("/a;2.1.2026\n/b;3.1.2026", true);
        check("/a,2026-01-02 03:04:05", true);
        check("/a,About us\n/b,Contact\n/c,Team", true);
        check("/a,200\n/b,301", true);
        check("/a,200\n/b,7", false);
        check("/a,200", false);
        check("/a,301\n/a,302", false);
        check("/a,x\n/b,y", false);
        check("/a, x.html", false);
        check("/a,1.html\n/b,2.html", false);
        check("/map/51.10,0.10\n/map/51.20,0.20", false);
        check("/my files, all\n/b", false);
    }

    #[test]
    fn a_date_behind_a_url_is_no_part_of_it() {
        for line in [
            "/a,2026-01-02",
            "/a;2.1.2026",
            "1,/a,2026-01-02",
            "/a|2026-01-02T03:04:05Z",
        ] {
            assert!(has_date_behind(line), "{line}");
        }
        for line in [
            "/a/2026-01-02",
            "/a;d=2026-01-02",
            "/a?b=c,2026-01-02",
            "/a,2026",
            "/a,daily",
        ] {
            assert!(!has_date_behind(line), "{line}");
        }
    }
}
