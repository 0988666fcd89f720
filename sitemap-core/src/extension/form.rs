//! [`Form`]: the form of a value by the schema of an extension alone.
//!
//! These are the elements that search engines dropped, and the attributes that they do not read. The others become typed data,
//! which is stricter.

use url::Url;

use super::{is_name_character, is_name_start};
use crate::{LastMod, LastModError};

/// Form of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) accepts: fn(&str) -> bool,
    /// Description for messages.
    pub(crate) expected: &'static str,
}

impl Form {
    const fn new(expected: &'static str, accepts: fn(&str) -> bool) -> Self {
        Self { accepts, expected }
    }

    /// `xs:string`.
    pub(crate) const ANY: Self = Self::new("text", |_| true);
    /// `xs:anyURI`.
    pub(crate) const URI: Self = Self::new("a URL", |text| is_uri(collapsed(text)));
    /// `tYesNo` of the schema for videos.
    pub(crate) const YES_NO: Self = Self::new("yes or no", is_yes_or_no);
    pub(crate) const SECONDS: Self = Self::new("0 to 28800 seconds", |text| {
        is_integer(text)
            && text
                .trim()
                .parse()
                .is_ok_and(|number| (0..=28_800).contains(&number))
    });
    pub(crate) const POSITIVE: Self = Self::new("a whole number from 1 on", |text| {
        let digits = collapsed(text).trim_start_matches('+');
        is_integer(text)
            && !collapsed(text).starts_with('-')
            && digits.contains(|digit| digit != '0')
    });
    /// `xs:date` or `xs:dateTime`, of which the second needs no zone.
    pub(crate) const DATE: Self = Self::new("a date", |text| {
        matches!(
            LastMod::parse(collapsed(text)),
            Ok(_) | Err(LastModError::ZoneMissing)
        )
    });
    /// The list of countries is checked where they are read.
    pub(crate) const COUNTRIES: Self = Self::new("spaces between countries", |text| {
        !collapsed(text).contains(['\t', '\n', '\r'])
    });
    /// The same of platforms.
    pub(crate) const PLATFORMS: Self = Self::new("single spaces between platforms", |text| {
        let platforms = collapsed(text);
        !platforms.contains("  ") && !platforms.contains(['\t', '\n', '\r'])
    });
    pub(crate) const CATEGORY: Self =
        Self::new("at most 256 characters", |text| text.chars().count() <= 256);
    pub(crate) const CURRENCY: Self = Self::new("three upper case letters such as EUR", |text| {
        text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
    });
    pub(crate) const PRICE_TYPE: Self = Self::new("rent or purchase", |text| {
        matches!(text, "rent" | "RENT" | "purchase" | "PURCHASE")
    });
    pub(crate) const RESOLUTION: Self =
        Self::new("hd or sd", |text| matches!(text, "hd" | "HD" | "sd" | "SD"));
    pub(crate) const VIDEO_TYPE: Self =
        Self::new("full, preview, clip, interview, news or other", |text| {
            matches!(
                text,
                "full" | "preview" | "clip" | "interview" | "news" | "other"
            )
        });
    pub(crate) const ID_TYPE: Self = Self::new(
        "tms:series, tms:program, rovi:series, rovi:program, freebase or url",
        |text| {
            let names = ["tms:series", "tms:program", "rovi:series", "rovi:program"];
            names.contains(&text) || matches!(text, "freebase" | "url")
        },
    );
    pub(crate) const ACCESS: Self = Self::new("Subscription or Registration", |text| {
        matches!(text, "Subscription" | "Registration")
    });
    pub(crate) const GENRES: Self = Self::new(
        "PressRelease, Satire, Blog, OpEd, Opinion or UserGenerated, separated by commas",
        |text| {
            let genres = [
                "PressRelease",
                "Satire",
                "Blog",
                "OpEd",
                "Opinion",
                "UserGenerated",
            ];
            list(text).all(|genre| genres.contains(&genre))
        },
    );
    pub(crate) const TICKERS: Self = Self::new(
        "at most five such as NASDAQ:AMAT, separated by commas",
        |text| text.is_empty() || (list(text).count() <= 5 && list(text).all(is_ticker)),
    );
    /// `xs:NMTOKENS`.
    pub(crate) const NAMES: Self = Self::new("names separated by spaces", |text| {
        text.split_ascii_whitespace().all(is_name_token)
    });
    /// `xs:ID`: XML Schema takes names as XML had them before its fifth edition, in which they begin with a letter.
    pub(crate) const ID: Self = Self::new("a name", |text| {
        let name = collapsed(text);
        let is_first = |first: char| {
            is_name_start(first) && (first.is_alphabetic() || matches!(first, '_' | '\u{212e}'))
        };
        name.starts_with(is_first) && name.chars().all(is_name_character)
    });
    /// `xs:language`.
    pub(crate) const LANGUAGE: Self = Self::new("a language such as en-GB", |text| {
        is_language(collapsed(text))
    });
    /// Form of `xml:lang`, which may be empty.
    pub(crate) const XML_LANGUAGE: Self = Self::new("a language such as en-GB", |text| {
        text.is_empty() || is_language(collapsed(text))
    });
    pub(crate) const DIRECTION: Self = Self::new("ltr or rtl", |text| {
        matches!(collapsed(text), "ltr" | "rtl")
    });
    pub(crate) const MEDIA: Self = Self::new("media separated by commas", |text| {
        text.split(',').all(|media| !media.is_empty())
    });
}

/// A text without the white space of XML around it, which many types allow.
fn collapsed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

fn is_yes_or_no(text: &str) -> bool {
    matches!(text, "yes" | "Yes" | "YES" | "no" | "No" | "NO")
}

/// A URL, absolute or relative, with any characters (XML Schema part 2 section 3.2.17), but with complete escapes.
fn is_uri(text: &str) -> bool {
    let first = &text[..text.find(['/', '?', '#']).unwrap_or(text.len())];
    let has_scheme = first.split_once(':').is_none_or(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let has_whole_escapes = text.split('%').skip(1).all(|after| {
        let digits = after.bytes().take(2);
        digits.filter(u8::is_ascii_hexdigit).count() == 2
    });
    let base = Url::parse("http://host/");
    has_scheme && has_whole_escapes && base.is_ok_and(|base| base.join(text).is_ok())
}

/// A token of name characters (`Nmtoken` of XML 1.0 section 2.3).
fn is_name_token(text: &str) -> bool {
    let is_part = |character| character == ':' || is_name_character(character);
    !text.is_empty() && text.chars().all(is_part)
}

/// `xs:integer`.
fn is_integer(text: &str) -> bool {
    let number = collapsed(text);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The parts that commas with spaces after them separate.
fn list(text: &str) -> impl Iterator<Item = &str> {
    let mut items = text.split(',');
    let first = items.next().into_iter();
    first.chain(items.map(|item| item.trim_start_matches(' ')))
}

fn is_ticker(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    text.split_once(':')
        .is_some_and(|(exchange, name)| is_word(exchange) && is_word(name))
}

fn is_language(text: &str) -> bool {
    text.split('-').enumerate().all(|(place, part)| {
        let is_letter =
            |byte: u8| byte.is_ascii_alphabetic() || (place > 0 && byte.is_ascii_digit());
        (1..=8).contains(&part.len()) && part.bytes().all(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks texts with bars between them.
    #[track_caller]
    fn check(form: Form, accepted: &str, refused: &str) {
        let accepted = accepted.split('|').map(|text| (text, true));
        let refused = refused.split('|').map(|text| (text, false));
        for (text, expected) in accepted.chain(refused) {
            let expectation = form.expected;
            assert_eq!((form.accepts)(text), expected, "{text} for {expectation}");
        }
    }

    #[test]
    fn forms_are_those_of_the_schemas() {
        assert!((Form::ANY.accepts)("") && (Form::ANY.accepts)("x"));
        let uris = "|a b|/a|?q|http://h/%20|mailto:x|a/b:c";
        check(Form::URI, uris, "%zz|http://[x|1:x|&http://h/|a%2");
        assert!((Form::URI.accepts)(" http://h/\u{fc}|[] "));
        check(Form::YES_NO, "yes|No|NO", "|nO| no|true");
        let seconds = "|28801|-1|1.0|++1|9999999999999";
        check(Form::SECONDS, "0| +1 |-0|28800|007", seconds);
        let positive = "1|+01| 99999999999999999999 ";
        check(Form::POSITIVE, positive, "|0|-1|1.5|x|+-1");
        let dates = "2026-01-01|2026-01-01T00:00:00|2026-01-01T00:00:00Z";
        check(Form::DATE, dates, "|2026|x");
        let category = "|".to_owned() + &"\u{e9}".repeat(256);
        check(Form::CATEGORY, &category, &"a".repeat(257));
        check(Form::CURRENCY, "EUR", "|eur|EURO|EU");
        check(Form::PRICE_TYPE, "rent|PURCHASE", "Rent|");
        check(Form::RESOLUTION, "hd|SD", "Hd|");
        check(Form::VIDEO_TYPE, "full|other", "Full| full|");
        check(Form::ID_TYPE, "url|tms:program", "|x");
        check(Form::ACCESS, "Subscription|Registration", "|registration");
        check(
            Form::GENRES,
            "Blog|Blog,  Satire,OpEd",
            "|Blog,|Blog ,OpEd|blog| Blog",
        );
        check(
            Form::TICKERS,
            "|A:B|A:B, C_1:D,E:F",
            "A|A:B,|A:B:C| A:B|A:1,A:2,A:3,A:4,A:5,A:6",
        );
        check(Form::NAMES, "|a 1 -x|a:b", "a,b|a/b");
        let languages = "|de_DE|1a|abcdefghi|de-|d!";
        check(Form::LANGUAGE, "de|x-default|zh-Hant-TW1", languages);
        check(Form::XML_LANGUAGE, "|de", "1| ");
        check(Form::COUNTRIES, "DE| DE  AT ", "DE\tAT|DE\nAT");
        check(Form::PLATFORMS, "web| web tv\n", "web  tv|web\ttv");
        check(Form::DIRECTION, "ltr| rtl ", "|LTR");
        check(Form::MEDIA, "screen|screen, print", "|,|a,,b|a,");
    }

    #[test]
    fn names_are_those_of_xml() {
        let refused = "|1|\u{663}|a:b|a b|\u{301}a";
        check(Form::ID, "a| _1-. |a\u{301}|\u{212e}", refused);
    }
}
