//! The common part of RSS and Atom feeds: [`FeedInfo`], titles and dates.

use jiff::Timestamp;

use crate::{LastMod, Loc};

/// Largest length of a title; a longer one is cut. Readers of feeds show one line.
pub const MAX_TITLE_CHARACTERS: usize = 1_000;

/// The digits of `YYYY-MM-DD`, which is a date without a time.
const DATE_CHARACTERS: usize = 10;

/// Metadata of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedInfo {
    /// The title, such as the name of the site.
    pub title: String,
    /// The page that it is about, such as the start page of the site.
    pub home: Loc,
    /// The URL where it is served. It is the identity of an Atom feed, so it must not change.
    pub location: Loc,
    /// Time of the last change of its content, such as the newest date of its entries, and not the time of writing.
    pub updated: Timestamp,
    /// Author of its entries, in Atom; the host of `home` by default.
    pub author: String,
    /// The description, in RSS; its title by default.
    pub description: String,
}

impl FeedInfo {
    /// A feed whose author and description are the defaults.
    pub fn new(title: &str, home: Loc, location: Loc, updated: Timestamp) -> Self {
        let origin = home.origin();
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        Self {
            title: title.to_owned(),
            author: host.to_owned(),
            description: title.to_owned(),
            home,
            location,
            updated,
        }
    }
}

/// A text as one line of characters that XML allows (R21), or `default` if it is blank. White space becomes blanks, other
/// characters become U+FFFD.
pub(super) fn one_line(text: &str, default: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().map(|character| match character {
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
            other => other,
        }));
    }
    let end = line.char_indices().nth(MAX_TITLE_CHARACTERS);
    if let Some((end, _)) = end {
        line.truncate(end);
        line.truncate(line.trim_end().len());
    }
    if line.is_empty() {
        return default.to_owned();
    }
    line
}

/// The date with a time, which feeds ask for: a day begins at midnight in UTC.
pub(super) fn with_time(lastmod: &LastMod) -> LastMod {
    let text = lastmod.as_str();
    if text.len() > DATE_CHARACTERS {
        return lastmod.clone();
    }
    // A date that exists has a midnight.
    LastMod::parse(&format!("{text}T00:00:00Z")).unwrap_or_else(|_| lastmod.clone())
}

/// An instant as RSS has it: `Mon, 02 Mar 2026 04:00:11 GMT` (RFC 822 section 5, with the four digits of RFC 2822).
pub(super) fn rfc_822(instant: Timestamp) -> String {
    instant.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_one_line_that_xml_allows() {
        assert_eq!(one_line("  a\r\n\tb\u{A0}c ", "x"), "a b c");
        assert_eq!(one_line("a\0b\u{FFFE}", "x"), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(one_line(" \n ", "x"), "x");
        let long = "é".repeat(MAX_TITLE_CHARACTERS);
        assert_eq!(one_line(&format!("{long}é"), "x"), long);
        let cut = format!("{} b", "a".repeat(MAX_TITLE_CHARACTERS - 1));
        assert_eq!(one_line(&cut, "x").len(), MAX_TITLE_CHARACTERS - 1);
    }

    #[test]
    fn date_has_a_time_and_four_year_digits() {
        let check = |text: &str, atom: &str, rss: &str| {
            let lastmod = with_time(&LastMod::parse(text).unwrap());
            assert_eq!(lastmod.as_str(), atom);
            assert_eq!(rfc_822(lastmod.latest_instant()), rss);
        };
        let (atom, rss) = ("2026-03-02T00:00:00Z", "Mon, 02 Mar 2026 00:00:00 GMT");
        check("2026-03-02", atom, rss);
        let atom = "2026-03-01T23:30:00.5-01:00";
        check(atom, atom, "Mon, 02 Mar 2026 00:30:00 GMT");
        let (atom, rss) = ("0001-01-01T00:00:00Z", "Mon, 01 Jan 0001 00:00:00 GMT");
        check("0001-01-01", atom, rss);
    }
}
