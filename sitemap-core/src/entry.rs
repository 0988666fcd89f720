//! Entries of a sitemap: [`UrlEntry`] for a page, [`IndexEntry`] for a sitemap file.
//!
//! Plain data made of checked values, so that every entry that exists can be written. Which pages become entries, and with
//! which values, is decided elsewhere.

use std::fmt;

use crate::{LastMod, Loc, extension::Extensions, write};

/// A page: the `<url>` of a urlset.
///
/// Only `loc` is required (R7, R8). Search engines ignore `changefreq` and `priority` or nearly so; leave them out unless the
/// site's owner asks for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UrlEntry {
    /// The address of the page, as it answers without a redirect (R10).
    pub loc: Loc,
    /// Time of the last change of the page, by evidence; never the time of the crawl (R14).
    pub lastmod: Option<LastMod>,
    /// Likely frequency of changes of the page (R16).
    pub changefreq: Option<ChangeFreq>,
    /// Importance of the page among those of its site (R18); missing means [`Priority::DEFAULT`] (R19).
    pub priority: Option<Priority>,
    /// Images, videos, news, versions in other languages, and elements of custom namespaces (R70, R71).
    pub extensions: Extensions,
}

/// A sitemap file: the `<sitemap>` of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct IndexEntry {
    /// The address of the file.
    pub loc: Loc,
    /// Time of the last change of the bytes of the file, not of its pages (R41).
    pub lastmod: Option<LastMod>,
}

impl UrlEntry {
    /// An entry with its address only.
    pub fn new(loc: Loc) -> Self {
        Self {
            loc,
            lastmod: None,
            changefreq: None,
            priority: None,
            extensions: Extensions::default(),
        }
    }

    /// The same entry with this date of change.
    #[must_use]
    pub fn with_lastmod(mut self, lastmod: LastMod) -> Self {
        self.lastmod = Some(lastmod);
        self
    }

    /// The bytes this entry takes in a file before compression: escaped, with its tags and its line end.
    ///
    /// The result is exactly the number that [`UrlSetWriter`](crate::UrlSetWriter) adds to a file.
    ///
    /// ```
    /// use sitemap_core::{Loc, UrlEntry};
    ///
    /// let entry = UrlEntry::new(Loc::parse("https://example.com/?a=1&b=2")?);
    /// let line = "<url><loc>https://example.com/?a=1&amp;b=2</loc></url>\n";
    /// assert_eq!(entry.written_len(), line.len() as u64);
    /// # Ok::<(), sitemap_core::LocError>(())
    /// ```
    pub fn written_len(&self) -> u64 {
        write::url_len(self)
    }

    /// Replaces `line` by this entry as a line of a urlset, for [`UrlSetWriter::push_line`](crate::UrlSetWriter::push_line).
    pub fn write_line(&self, line: &mut Vec<u8>) {
        line.clear();
        write::write_url_line(line, self);
    }
}

impl IndexEntry {
    /// An entry with its address only.
    pub fn new(loc: Loc) -> Self {
        Self { loc, lastmod: None }
    }

    /// The same entry with this date of change.
    #[must_use]
    pub fn with_lastmod(mut self, lastmod: LastMod) -> Self {
        self.lastmod = Some(lastmod);
        self
    }

    /// The bytes this entry takes in an index before compression: escaped, with its tags and its line end.
    pub fn written_len(&self) -> u64 {
        write::sitemap_len(self)
    }
}

/// Likely frequency of changes of a page: a hint, not a command (R16, R17).
///
/// Source: <https://www.sitemaps.org/protocol.html#xmlTagDefinitions>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeFreq {
    /// Changes each time it is accessed.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// Archived, never again.
    Never,
}

/// A value that is none of the seven of [`ChangeFreq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a change frequency, expected always, hourly, daily, weekly, monthly, yearly or never")]
pub struct ChangeFreqError;

impl ChangeFreq {
    /// All seven, from the most to the least frequent.
    pub const ALL: [Self; 7] = [
        Self::Always,
        Self::Hourly,
        Self::Daily,
        Self::Weekly,
        Self::Monthly,
        Self::Yearly,
        Self::Never,
    ];

    /// Reads one of the seven lower case values.
    ///
    /// # Errors
    /// [`ChangeFreqError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, ChangeFreqError> {
        Self::ALL
            .into_iter()
            .find(|value| value.as_str() == text)
            .ok_or(ChangeFreqError)
    }

    /// The value as a file has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }
}

impl fmt::Display for ChangeFreq {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Importance of a page among those of its site: 0.0 to 1.0 in steps of a tenth (R18).
///
/// Source: <https://www.sitemaps.org/protocol.html#xmlTagDefinitions>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority {
    tenths: u8,
}

/// A value that is not a [`Priority`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a priority, expected a decimal from 0.0 to 1.0 with a point and no exponent")]
pub struct PriorityError;

impl Priority {
    /// Meaning of a missing priority: 0.5 (R19).
    pub const DEFAULT: Self = Self { tenths: 5 };

    /// A priority of so many tenths, 0 to 10.
    ///
    /// # Errors
    /// [`PriorityError`] above 10.
    pub fn from_tenths(tenths: u8) -> Result<Self, PriorityError> {
        if tenths > 10 {
            return Err(PriorityError);
        }
        Ok(Self { tenths })
    }

    /// Reads a decimal from 0 to 1 as the schema does: digits with at most one point, and possibly a sign. Further digits are
    /// rounded, halves up.
    ///
    /// # Errors
    /// [`PriorityError`] outside the range, and for a comma, an exponent, an empty text or anything else.
    pub fn parse(text: &str) -> Result<Self, PriorityError> {
        parse_tenths(text, 1)
            .map(|tenths| Self { tenths })
            .ok_or(PriorityError)
    }

    /// The priority in tenths, 0 to 10.
    pub fn tenths(self) -> u8 {
        self.tenths
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.tenths / 10, self.tenths % 10)
    }
}

/// Reads a `decimal` of the schema from 0 to `max`, one digit, in tenths: digits with at most one point, and possibly a sign.
/// Further digits are rounded, halves up.
pub(crate) fn parse_tenths(text: &str, max: u8) -> Option<u8> {
    let (negative, unsigned) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all_digits = whole
        .bytes()
        .chain(fraction.bytes())
        .all(|byte| byte.is_ascii_digit());
    if !all_digits || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = match whole.trim_start_matches('0').as_bytes() {
        [] => 0,
        [digit] => digit - b'0',
        _ => return None,
    };
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    let is_zero = whole == 0 && is_whole;
    if (negative && !is_zero) || whole > max || (whole == max && !is_whole) {
        return None;
    }
    let digit = |position: usize| {
        fraction
            .as_bytes()
            .get(position)
            .map_or(0, |digit| digit - b'0')
    };
    Some(whole * 10 + digit(0) + u8::from(digit(1) >= 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_is_a_decimal_from_zero_to_one() {
        let check = |text: &str, expected: Option<&str>| {
            let written = Priority::parse(text)
                .ok()
                .map(|priority| priority.to_string());
            assert_eq!(written.as_deref(), expected, "{text:?}");
        };
        check("0.0", Some("0.0"));
        check("0", Some("0.0"));
        check("1", Some("1.0"));
        check("1.000", Some("1.0"));
        check("0.3", Some("0.3"));
        check(".5", Some("0.5"));
        check("0.84", Some("0.8"));
        check("0.85", Some("0.9"));
        check("0.99", Some("1.0"));
        check("00.50", Some("0.5"));
        check("+0.5", Some("0.5"));
        check("-0.0", Some("0.0"));
        for refused in [
            "", ".", "-", "1.1", "2", "1.01", "-0.1", "-1", "0,5", "1e-1", "NaN", "inf", " 0.5",
            "0.5.0", "٠.٥", "0x1",
        ] {
            check(refused, None);
        }
        let one = Priority::from_tenths(10).map(|priority| priority.to_string());
        assert_eq!(one.as_deref(), Ok("1.0"));
        assert_eq!(Priority::from_tenths(11), Err(PriorityError));
        assert_eq!(Priority::DEFAULT.to_string(), "0.5");
    }

    #[test]
    fn changefreq_is_one_of_seven_lower_case_words() {
        for value in ChangeFreq::ALL {
            assert_eq!(ChangeFreq::parse(value.as_str()), Ok(value));
        }
        for refused in ["", "Daily", "DAILY", " daily", "newver", "biweekly"] {
            assert_eq!(
                ChangeFreq::parse(refused),
                Err(ChangeFreqError),
                "{refused:?}"
            );
        }
    }
}
