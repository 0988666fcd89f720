//! [`News`]: an article for news search, `<news:news>`.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::{Text, codes::is_language};
use crate::LastMod;

/// How long an article is news.
const RECENT: SignedDuration = SignedDuration::from_hours(48);

/// An article of the last two days.
///
/// An entry has at most one, a file at most [`MAX_NEWS_PER_FILE`](super::MAX_NEWS_PER_FILE). When an article is older, its entry stays
/// and loses its news; see [`is_recent`](Self::is_recent). Source:
/// <https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap>.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct News {
    /// Name of the publication, exactly as on its pages.
    pub name: Text,
    /// Language of the publication.
    pub language: NewsLanguage,
    /// When the article was first published.
    pub publication_date: LastMod,
    /// Title of the article.
    pub title: Text,
    /// What was read of elements that search engines dropped; never written.
    pub retired: Option<Box<RetiredNews>>,
}

/// The elements of an article that search engines no longer read, as they stood there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RetiredNews {
    /// `Subscription` or `Registration`.
    pub access: Option<Text>,
    /// Kinds such as `PressRelease`, separated by commas.
    pub genres: Option<Text>,
    /// Key words, separated by commas.
    pub keywords: Option<Text>,
    /// Up to five stocks such as `NASDAQ:AMAT`, separated by commas.
    pub stock_tickers: Option<Text>,
    /// Places, from the smallest to the largest.
    pub geo_locations: Option<Text>,
}

/// The language of a publication: two or three lower case letters of ISO 639, or `zh-cn` or `zh-tw`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NewsLanguage(Box<str>);

/// A text that is no [`NewsLanguage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a language of a publication, expected two or three letters of ISO 639, zh-cn or zh-tw"
)]
pub struct NewsLanguageError;

impl News {
    /// An article with all it needs.
    pub fn new(name: Text, language: NewsLanguage, publication_date: LastMod, title: Text) -> Self {
        Self {
            name,
            language,
            publication_date,
            title,
            retired: None,
        }
    }

    /// Whether it is news at `now`: published within the last 48 hours. A date without a time counts as its last instant, in UTC, so
    /// that no article is dropped too early.
    ///
    /// ```
    /// use sitemap_core::{LastMod, extension::{News, NewsLanguage, Text}};
    ///
    /// let news = News::new(
    ///     Text::new("The Example Times")?,
    ///     NewsLanguage::parse("en")?,
    ///     LastMod::parse("2026-03-01T08:00:00Z")?,
    ///     Text::new("Companies A and B are in talks")?,
    /// );
    /// assert!(news.is_recent("2026-03-03T08:00:00Z".parse()?));
    /// assert!(!news.is_recent("2026-03-03T08:00:01Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_recent(&self, now: Timestamp) -> bool {
        now.duration_since(self.publication_date.latest_instant()) <= RECENT
    }
}

impl NewsLanguage {
    /// Reads a language in lower case. Codes of two letters must be in ISO 639-1; of codes of three letters only the form is
    /// checked.
    ///
    /// # Errors
    /// [`NewsLanguageError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, NewsLanguageError> {
        let is_code = match text.len() {
            2 => is_language(text),
            3 => text.bytes().all(|byte| byte.is_ascii_lowercase()),
            _ => matches!(text, "zh-cn" | "zh-tw"),
        };
        if is_code {
            Ok(Self(text.into()))
        } else {
            Err(NewsLanguageError)
        }
    }

    /// The value as it stands in a file.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NewsLanguage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for NewsLanguage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NewsLanguage({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_what_the_schema_and_iso_know() {
        for language in ["en", "de", "fra", "zh", "zh-cn", "zh-tw"] {
            assert_eq!(NewsLanguage::parse(language).unwrap().as_str(), language);
        }
        for refused in [
            "", "e", "EN", "uk-UA", "en-US", "zh-CN", "zh-hk", "xx", "english", "e1", "é",
        ] {
            assert_eq!(
                NewsLanguage::parse(refused),
                Err(NewsLanguageError),
                "{refused}"
            );
        }
    }

    #[test]
    fn article_is_news_for_two_days_after_its_date() {
        let check = |date: &str, now: &str, expected: bool| {
            let text = || Text::new("x").unwrap();
            let language = NewsLanguage::parse("en").unwrap();
            let news = News::new(text(), language, LastMod::parse(date).unwrap(), text());
            assert_eq!(
                news.is_recent(now.parse().unwrap()),
                expected,
                "{date} at {now}"
            );
        };
        check("2026-03-01", "2026-03-01T00:00:00Z", true);
        check("2026-03-01", "2026-03-03T23:59:59Z", true);
        check("2026-03-01", "2026-03-04T00:00:00Z", false);
        check("2026-03-01T10:00:00+02:00", "2026-03-03T08:00:00Z", true);
        check("2026-03-01T10:00:00+02:00", "2026-03-03T08:00:01Z", false);
        check("9999-12-31", "2026-03-03T08:00:01Z", true);
        check("0001-01-01", "9999-12-30T22:00:00Z", false);
    }
}
