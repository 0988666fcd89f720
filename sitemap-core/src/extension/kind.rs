//! [`ValueKind`]: the type of the value of an element, and its stored and written form.

use std::collections::BTreeSet;

use super::{
    CustomElementError, HreflangError, Text, TextError,
    codes::{is_country, is_language},
};
use crate::{LastMod, LastModError, Loc, LocError, entry::parse_tenths};

/// The longest video, by the schema and the text alike: eight hours.
const MAX_SECONDS: u64 = 28_800;

/// The best rating.
const MAX_RATING: u8 = 5;

/// The platforms of videos, in the order in which they are written.
const PLATFORMS: [&str; 3] = ["web", "mobile", "tv"];

/// Type of the value of an element or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A value that is not read any more.
    Retired,
    /// An absolute URL.
    Url,
    /// A text of so many characters at most.
    Text(usize),
    /// A date of the protocol.
    Date,
    /// 1 to 28,800 seconds.
    Seconds,
    /// A decimal from 0.0 to 5.0; it is kept in tenths.
    Rating,
    /// A whole number.
    Count,
    /// `yes` or `no`.
    YesNo,
    /// The language of a publication: two or three lower case letters of ISO 639, `zh-cn` or `zh-tw`.
    Language,
    /// Countries of ISO 3166-1.
    Countries,
    /// Kinds of device: `web`, `mobile`, `tv`.
    Platforms,
    /// `allow` or `deny`.
    Relationship,
}

/// Defects of a value of an extension.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// The value is not a URL.
    #[error(transparent)]
    Loc(#[from] LocError),
    /// The value is not a text of the right length.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The value is not a date.
    #[error(transparent)]
    Date(#[from] LastModError),
    /// The value is not a language of a page.
    #[error(transparent)]
    Hreflang(#[from] HreflangError),
    /// The value is not a name, or a custom element may not have it.
    #[error(transparent)]
    Custom(#[from] CustomElementError),
    /// The value is not a language of a publication.
    #[error(
        "not a language of a publication, expected two or three letters of ISO 639, zh-cn or zh-tw"
    )]
    Language,
    /// The value is not a duration.
    #[error("not a duration, expected 1 to {MAX_SECONDS} seconds")]
    Seconds,
    /// The value is not a rating.
    #[error("not a rating, expected a decimal from 0.0 to 5.0 with a point and no exponent")]
    Rating,
    /// The value names no country.
    #[error("restriction names no country")]
    NoCountry,
    /// The value names something else than a country.
    #[error("{found:?} is not a country of ISO 3166-1, expected two upper case letters such as GB")]
    Country {
        /// The beginning of the value it names.
        found: Box<str>,
    },
    /// The value is not a list of platforms.
    #[error("not a list of platforms, expected web, mobile or tv, separated by single spaces")]
    Platforms,
    /// The value is not a count.
    #[error("not a count, expected digits only")]
    Count,
    /// The value is a larger number than is read.
    #[error("count has more than {} digits, which is more than is read", u64::MAX.ilog10())]
    LargeCount,
    /// The value is neither yes nor no.
    #[error("expected yes or no")]
    YesNo,
    /// The value is neither of the two relationships.
    #[error("expected allow or deny")]
    Relationship,
    /// The value is another relation than that to another version of the page.
    #[error("expected alternate")]
    Rel,
}

impl ValueKind {
    /// The value in the form in which it is written. White space around it is left out of texts only.
    ///
    /// # Errors
    /// [`ValueProblem`] with the expected form.
    pub fn parse(self, text: &str) -> Result<Box<str>, ValueProblem> {
        Ok(match self {
            Self::Retired => text.into(),
            Self::Url => Loc::parse(text)?.as_str().into(),
            Self::Text(limit) => Text::with_limit(text, limit)?.as_str().into(),
            Self::Date => LastMod::parse(text)?.as_str().into(),
            Self::Seconds => {
                let seconds = parse_digits(text).filter(|it| (1..=MAX_SECONDS).contains(it));
                seconds.ok_or(ValueProblem::Seconds)?.to_string().into()
            }
            Self::Rating => {
                let tenths = parse_tenths(text, MAX_RATING).ok_or(ValueProblem::Rating)?;
                format!("{}.{}", tenths / 10, tenths % 10).into()
            }
            Self::Count => parse_count(text)?.to_string().into(),
            Self::YesNo => match text {
                "yes" | "Yes" | "YES" => "yes".into(),
                "no" | "No" | "NO" => "no".into(),
                _ => return Err(ValueProblem::YesNo),
            },
            Self::Language if is_publication_language(text) => text.into(),
            Self::Language => return Err(ValueProblem::Language),
            Self::Countries => countries(text)?.into(),
            Self::Platforms => platforms(text).ok_or(ValueProblem::Platforms)?.into(),
            Self::Relationship if matches!(text, "allow" | "deny") => text.into(),
            Self::Relationship => return Err(ValueProblem::Relationship),
        })
    }
}

/// Codes of two letters must be in ISO 639-1; of codes of three letters only the form is checked.
fn is_publication_language(text: &str) -> bool {
    match text.len() {
        2 => is_language(text),
        3 => text.bytes().all(|byte| byte.is_ascii_lowercase()),
        _ => matches!(text, "zh-cn" | "zh-tw"),
    }
}

/// Each country once, in the order of the codes.
fn countries(text: &str) -> Result<String, ValueProblem> {
    let countries: BTreeSet<&str> = text.split_ascii_whitespace().collect();
    if let Some(found) = countries.iter().find(|country| !is_country(country)) {
        let found = found.chars().take(12).collect();
        return Err(ValueProblem::Country { found });
    }
    if countries.is_empty() {
        return Err(ValueProblem::NoCountry);
    }
    Ok(Vec::from_iter(countries).join(" "))
}

/// Each platform once, in their order.
fn platforms(text: &str) -> Option<String> {
    let named: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_known = |name: &&str| PLATFORMS.contains(name);
    let known: Vec<&str> = PLATFORMS
        .into_iter()
        .filter(|platform| named.contains(platform))
        .collect();
    (!named.is_empty() && named.iter().all(is_known)).then(|| known.join(" "))
}

fn parse_digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A `nonNegativeInteger` of the schema, which may have a sign and any number of digits.
fn parse_count(text: &str) -> Result<u64, ValueProblem> {
    let is_zero = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0');
    if text.strip_prefix('-').is_some_and(is_zero) {
        return Ok(0);
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match parse_digits(digits) {
        Some(count) => Ok(count),
        None if is_number => Err(ValueProblem::LargeCount),
        None => Err(ValueProblem::Count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_as_they_are_written() {
        let check = |kind: ValueKind, text: &str, expected: &str| {
            assert_eq!(
                kind.parse(text).as_deref(),
                Ok(expected),
                "{kind:?} {text:?}"
            );
        };
        check(ValueKind::Url, "HTTPS://H/a b", "https://h/a%20b");
        check(ValueKind::Text(3), " a\n b ", "a b");
        check(ValueKind::Date, "2026-01-02", "2026-01-02");
        for (text, expected) in [("1", "1"), ("28800", "28800"), ("0060", "60")] {
            check(ValueKind::Seconds, text, expected);
        }
        for (text, expected) in [
            ("0", "0.0"),
            ("4.25", "4.3"),
            ("4.96", "5.0"),
            ("-0", "0.0"),
        ] {
            check(ValueKind::Rating, text, expected);
        }
        check(ValueKind::Count, "+007", "7");
        check(ValueKind::YesNo, "YES", "yes");
        for language in ["en", "fra", "zh-cn"] {
            check(ValueKind::Language, language, language);
        }
        check(ValueKind::Countries, " US  GB\nIE GB", "GB IE US");
        check(ValueKind::Platforms, "tv web tv", "web tv");
        check(ValueKind::Relationship, "deny", "deny");
    }

    #[test]
    fn other_values_are_refused() {
        let check = |kind: ValueKind, texts: &str| {
            for text in texts.split('|') {
                assert!(kind.parse(text).is_err(), "{kind:?} {text:?}");
            }
        };
        check(ValueKind::Url, "|/a|ftp://h/");
        check(ValueKind::Text(3), "| |abcd");
        check(ValueKind::Date, "|2026|2026-01-02T03:04:05");
        let seconds = "|0|28801|-1|+1|1.5|65537|1 |99999999999999999999";
        check(ValueKind::Seconds, seconds);
        check(ValueKind::Rating, "5.01|6|15|-1||4,2|4e0|five");
        check(ValueKind::Count, "|-1|1.5|99999999999999999999");
        check(ValueKind::YesNo, "|true|nO");
        check(ValueKind::Language, "|e|EN|en-US|zh-CN|zh-hk|xx|e1|\u{e9}");
        check(ValueKind::Countries, "|IE gb|UK|IE,GB");
        check(ValueKind::Platforms, "|Web|web,tv|phone");
        check(ValueKind::Relationship, "|Allow");
        let error = ValueKind::Countries.parse("UK").unwrap_err().to_string();
        assert_eq!(
            error,
            "\"UK\" is not a country of ISO 3166-1, expected two upper case letters such as GB"
        );
    }
}
