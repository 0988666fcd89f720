//! [`UrlColumn`]: what the name of a column says of the URLs in it.

/// Names that only a column of URLs has.
const CERTAIN_NAMES: [&str; 2] = ["loc", "url"];

/// Names that say that the URLs of the pages themselves are meant. Those of other things that a page has (`Image URL`, `Redirect URL`,
/// `Canonical URL`) are not among them.
const LIKELY_NAMES: [&str; 10] = [
    "urls",
    "uri",
    "uris",
    "permalink",
    "pageurl",
    "fullurl",
    "fullpageurl",
    "websiteurl",
    "landingpageurl",
    "entrypageurl",
];

/// Names that exports give the column of their URLs, and others to columns of something else.
const POSSIBLE_NAMES: [&str; 13] = [
    "link",
    "href",
    "address",
    "landingpage",
    "landingpage+querystring",
    "toppages",
    "page",
    "pagelocation",
    "pagepath",
    "pagepath+querystring",
    "pagepathandscreenclass",
    "finalurl",
    "location",
];

/// How sure the name of a column is that URLs stand in it; the surest first.
///
/// ```
/// use sitemap_core::read::UrlColumn;
///
/// assert_eq!(UrlColumn::named("URL"), Some(UrlColumn::Certain));
/// assert_eq!(UrlColumn::named("Full URL"), Some(UrlColumn::Likely));
/// assert_eq!(UrlColumn::named("Page"), Some(UrlColumn::Possible));
/// assert_eq!(UrlColumn::named("title"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UrlColumn {
    /// No other column is called so.
    Certain,
    /// The column of another URL may be called so, but none of something else.
    Likely,
    /// It is the one if its values are URLs: `page` may be a number, `location` a town.
    Possible,
}

impl UrlColumn {
    /// What `name` says, if anything; case, blanks, `_`, `-` and `'` do not matter.
    pub fn named(name: &str) -> Option<Self> {
        let is = |known: &&str| {
            let characters = name.chars();
            characters
                .filter(|character| !character.is_whitespace() && !"_-'".contains(*character))
                .map(|character| character.to_ascii_lowercase())
                .eq(known.chars())
        };
        if CERTAIN_NAMES.iter().any(is) {
            Some(Self::Certain)
        } else if LIKELY_NAMES.iter().any(is) {
            Some(Self::Likely)
        } else {
            POSSIBLE_NAMES.iter().any(is).then_some(Self::Possible)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_however_they_are_written() {
        let check = |name: &str, expected| {
            assert_eq!(UrlColumn::named(name), expected, "{name:?}");
        };
        check("'URL'", Some(UrlColumn::Certain));
        check(" page_url ", Some(UrlColumn::Likely));
        check("Full-URL", Some(UrlColumn::Likely));
        check("Landing page URL", Some(UrlColumn::Likely));
        check("Landing page + query string", Some(UrlColumn::Possible));
        check("Page path and screen class", Some(UrlColumn::Possible));
        check("Image URL", None);
        check("Redirect URL", None);
        check("url/a", None);
        check("", None);
    }
}
