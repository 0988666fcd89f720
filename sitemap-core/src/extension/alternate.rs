//! [`Alternate`]: the same page for another language or country, `<xhtml:link rel="alternate" hreflang="…" href="…"/>`.

use std::fmt;

use super::codes::{intended_country, intended_language, is_country, is_language};
use crate::Loc;

/// A version of a page, for the readers that `hreflang` names.
///
/// Every version lists all versions and itself; a link that its target does not return is ignored by search engines. Versions may be
/// on other hosts. Source: <https://developers.google.com/search/docs/specialty/international/localized-versions>.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alternate {
    /// Whom the version is for.
    pub hreflang: Hreflang,
    /// Address of the version.
    pub href: Loc,
}

/// Whom a version of a page is for: a language of ISO 639-1, with a script of ISO 15924 and a country of ISO 3166-1 or a region of
/// UN M.49 if need be (RFC 5646 section 2.2.4), or `x-default` for everybody else.
///
/// The value is kept in the usual spelling: `en`, `en-GB`, `zh-Hant-TW`. Values order by their bytes.
///
/// ```
/// use sitemap_core::extension::Hreflang;
///
/// assert_eq!(Hreflang::parse("ZH-hant-tw")?.as_str(), "zh-Hant-TW");
/// let error = Hreflang::parse("en-UK").unwrap_err();
/// assert_eq!(error.to_string(), "UK is not a country of ISO 3166-1, expected GB");
/// # Ok::<(), sitemap_core::extension::HreflangError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hreflang(Box<str>);

/// Reason why a text is not an [`Hreflang`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HreflangError {
    /// The text has the form of none.
    #[error("not a language, expected one such as en, en-GB, zh-Hant or x-default")]
    Shape,
    /// The parts are joined by underscores.
    #[error("language has an underscore, expected a hyphen as in en-GB")]
    Underscore,
    /// The language is not in the list.
    #[error("{found} is not a language of ISO 639-1{}", expected(*.intended))]
    Language {
        /// The code, two or three letters.
        found: Box<str>,
        /// The code that is usually meant by it.
        intended: Option<&'static str>,
    },
    /// The country is not in the list.
    #[error("{found} is not a country of ISO 3166-1{}", expected(*.intended))]
    Country {
        /// The code, two letters.
        found: Box<str>,
        /// The code that is usually meant by it.
        intended: Option<&'static str>,
    },
}

fn expected(intended: Option<&'static str>) -> String {
    intended.map_or_else(String::new, |intended| format!(", expected {intended}"))
}

impl Alternate {
    /// A version for `hreflang` at `href`.
    pub fn new(hreflang: Hreflang, href: Loc) -> Self {
        Self { hreflang, href }
    }
}

impl Hreflang {
    /// Reads `language`, `language-COUNTRY`, `language-Script`, `language-Script-COUNTRY` or `x-default`, in upper or lower case.
    ///
    /// # Errors
    /// [`HreflangError`] for any other form, for an underscore, and for codes that are not in the lists.
    pub fn parse(text: &str) -> Result<Self, HreflangError> {
        if text.eq_ignore_ascii_case("x-default") {
            return Ok(Self("x-default".into()));
        }
        let mut parts = text.split('-');
        let language = parts.next().unwrap_or_default().to_ascii_lowercase();
        let rest: [Option<&str>; 3] = [parts.next(), parts.next(), parts.next()];
        let is_script =
            |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let (script, country) = match rest {
            [None, ..] => (None, None),
            [Some(script), None, _] if is_script(script) => (Some(script), None),
            [Some(country), None, _] => (None, Some(country)),
            [Some(script), Some(country), None] if is_script(script) => {
                (Some(script), Some(country))
            }
            _ => return Err(shape(text)),
        };
        check_language(&language, text)?;
        let country = country
            .map(|country| check_country(country, text))
            .transpose()?;
        let mut normal = language;
        if let Some(script) = script {
            normal.push('-');
            normal.push_str(&script[..1].to_ascii_uppercase());
            normal.push_str(&script[1..].to_ascii_lowercase());
        }
        if let Some(country) = country {
            normal.push('-');
            normal.push_str(&country);
        }
        Ok(Self(normal.into_boxed_str()))
    }

    /// The value as a file has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_language(language: &str, text: &str) -> Result<(), HreflangError> {
    if is_language(language) {
        return Ok(());
    }
    if !matches!(language.len(), 2 | 3) || !language.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(shape(text));
    }
    Err(HreflangError::Language {
        intended: intended_language(language),
        found: language.into(),
    })
}

/// The country in upper case, or the region, three digits.
fn check_country(country: &str, text: &str) -> Result<String, HreflangError> {
    let country = country.to_ascii_uppercase();
    let is_region = country.len() == 3 && country.bytes().all(|byte| byte.is_ascii_digit());
    if is_region || is_country(&country) {
        return Ok(country);
    }
    if country.len() != 2 || !country.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(shape(text));
    }
    Err(HreflangError::Country {
        intended: intended_country(&country),
        found: country.into_boxed_str(),
    })
}

fn shape(text: &str) -> HreflangError {
    if text.contains('_') {
        HreflangError::Underscore
    } else {
        HreflangError::Shape
    }
}

impl fmt::Display for Hreflang {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Hreflang {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hreflang({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hreflang_is_a_language_with_script_and_country() {
        let check = |text: &str, expected: &str| {
            let hreflang = Hreflang::parse(text).unwrap();
            assert_eq!(hreflang.as_str(), expected);
            assert_eq!(Hreflang::parse(expected), Ok(hreflang));
        };
        check("en", "en");
        check("EN-gb", "en-GB");
        check("zh-hant", "zh-Hant");
        check("sr-LATN-me", "sr-Latn-ME");
        check("es-419", "es-419");
        check("X-Default", "x-default");
    }

    #[test]
    fn hreflang_that_means_nothing_is_refused_with_advice() {
        let check = |text: &str, expected: &str| {
            let error = Hreflang::parse(text).unwrap_err().to_string();
            assert_eq!(error, expected, "{text}");
        };
        let shape = "not a language, expected one such as en, en-GB, zh-Hant or x-default";
        let shapes = "|-|en-|-GB|e|engl|en--GB|en-GB-x|en-GB-Latn|en-Latn-GB-x|en-Lat|en GB| en|x-other|ü|en-GBR|en-Lätn|*|zh-Hans-zz-x-y";
        for text in shapes.split('|') {
            check(text, shape);
        }
        let underscore = "language has an underscore, expected a hyphen as in en-GB";
        check("en_US", underscore);
        check("en-UK", "UK is not a country of ISO 3166-1, expected GB");
        check("es-4190", shape);
        check("de-EU", "EU is not a country of ISO 3166-1");
        check("us", "us is not a language of ISO 639-1, expected en-US");
        check("JP", "jp is not a language of ISO 639-1, expected ja");
        check("eng-GB", "eng is not a language of ISO 639-1");
    }
}
