//! A site that is crawled in the place of another one: a staging copy, whose pages name the URLs of
//! production. Both are directories, and what is below one has its counterpart below the other, so the
//! two URLs of a page are one identity: its key is the crawled one.

use super::{Origin, UrlKey, UrlKeyError};

/// The directory that is crawled, and the one that it represents.
///
/// ```
/// use crawler::url_key::{Identity, PublishAs};
///
/// let parse = |url| Identity::default().parse(url);
/// let stand_in = PublishAs::new(&parse("https://staging.example/")?, &parse("https://www.example.com/app/")?).unwrap();
/// let identity = Identity { stand_in: Some(stand_in.clone()), ..Identity::default() };
///
/// let key = identity.parse("https://www.example.com/app/about?lang=en")?;
/// assert_eq!(key.as_str(), "https://staging.example/about?lang=en");
/// assert_eq!(stand_in.original(&key)?.as_str(), "https://www.example.com/app/about?lang=en");
/// # Ok::<(), crawler::url_key::UrlKeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishAs {
    crawled: UrlKey,
    original: UrlKey,
    /// The original directory and its counterparts at the other spellings of its origin, which mean it.
    named: Vec<UrlKey>,
}

/// Two directories that cannot represent each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{original} is {crawled}, which is crawled, or a directory in it: the URLs of the two could not be distinguished"
)]
pub struct StandInError {
    crawled: UrlKey,
    original: UrlKey,
}

impl PublishAs {
    /// `crawled` represents `original`; of both, the directory counts: the path up to its last slash.
    ///
    /// # Errors
    /// `original` is `crawled` or inside of it. The other way round is fine: `/staging/` can represent `/`.
    pub fn new(crawled: &UrlKey, original: &UrlKey) -> Result<Self, StandInError> {
        let (crawled, original) = (crawled.to_directory(), original.to_directory());
        if original.as_str().starts_with(crawled.as_str()) {
            return Err(StandInError { crawled, original });
        }
        let spellings = original.origin().spellings();
        let named = spellings.iter().filter_map(|origin| original.at(origin));
        let named = named.filter(|named| !named.is_on(&crawled.origin()));
        Ok(Self {
            named: std::iter::once(original.clone()).chain(named).collect(),
            crawled,
            original,
        })
    }

    /// The key of a URL that may be either of the two: the crawled one. A URL of neither directory stays.
    ///
    /// # Errors
    /// The crawled URL would be too long to be one.
    pub fn crawled(&self, url: UrlKey) -> Result<UrlKey, UrlKeyError> {
        if url.as_str().starts_with(self.crawled.as_str()) {
            return Ok(url);
        }
        self.exchanged_back(&url).unwrap_or(Ok(url))
    }

    /// The URL that `key` represents. A URL outside the crawled directory represents itself.
    ///
    /// # Errors
    /// The URL would be too long for a URL.
    pub fn original(&self, key: &UrlKey) -> Result<UrlKey, UrlKeyError> {
        exchanged(key, &self.crawled, &self.original).unwrap_or_else(|| Ok(key.clone()))
    }

    /// The public form of `url`: its original, or itself when it is outside of both directories. `None` for a URL of the crawled
    /// origin outside of its directory, which must not be published, and for an original that would be too long.
    pub fn shown(&self, url: &UrlKey) -> Option<UrlKey> {
        let crawled = self.crawled.origin();
        match exchanged(url, &self.crawled, &self.original) {
            Some(original) => original.ok(),
            None if url.is_on(&crawled) && !self.original.is_on(&crawled) => None,
            None => Some(url.clone()),
        }
    }

    /// The way back from [`PublishAs::original`]; `None` when `original` is outside the directory that the
    /// crawled one represents, or the crawled URL would be too long.
    pub fn crawled_of(&self, original: &UrlKey) -> Option<UrlKey> {
        self.exchanged_back(original)?.ok()
    }

    /// The crawled URL of one in the original directory; `None`: it is in none.
    fn exchanged_back(&self, url: &UrlKey) -> Option<Result<UrlKey, UrlKeyError>> {
        let mut named = self.named.iter();
        named.find_map(|directory| exchanged(url, directory, &self.crawled))
    }

    /// The directory that the crawled one represents; its path ends in a slash.
    pub fn original_directory(&self) -> &UrlKey {
        &self.original
    }

    /// Returns whether requests to `origin` are forbidden: it is on the host of the original, with `www.` or without, which gets no
    /// requests with any scheme and port. Where the crawled site is on that host as well, only the origin of the original counts, and not if it is
    /// also the crawled one.
    pub fn spares(&self, origin: &Origin) -> bool {
        if self.original.host_str() == self.crawled.host_str() {
            return self.original.is_on(origin) && !self.crawled.is_on(origin);
        }
        let mut named = self.named.iter();
        self.crawled.host_str() != &*origin.host
            && named.any(|directory| directory.host_str() == &*origin.host)
    }

    /// Both directories on one line, for fingerprints.
    pub(super) fn text(&self) -> String {
        format!("{}>{}", self.crawled, self.original)
    }
}

/// `url` with the directory `to` in the place of `from`; `None` when it is not below `from`.
fn exchanged(url: &UrlKey, from: &UrlKey, to: &UrlKey) -> Option<Result<UrlKey, UrlKeyError>> {
    let below = url.as_str().strip_prefix(from.as_str())?;
    Some(UrlKey::from_parts(
        &format!("{to}{below}"),
        to.host_end.into(),
        to.path_at.into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url_key::{Identity, MAX_URL_BYTES};

    fn key(url: &str) -> UrlKey {
        UrlKey::from_normalised(url).unwrap()
    }

    fn stand_in(crawled: &str, original: &str) -> PublishAs {
        PublishAs::new(&key(crawled), &key(original)).unwrap()
    }

    #[test]
    fn urls_of_both_directories_are_counterparts() {
        fn check(crawled: &str, original: &str, rest: &str) {
            let stand_in = stand_in(crawled, original);
            let url = |directory: &str| key(&format!("{directory}{rest}"));
            let (one, other) = (url(crawled), url(original));
            assert_eq!(stand_in.original(&one), Ok(other.clone()));
            assert_eq!(stand_in.crawled(other.clone()), Ok(one.clone()));
            assert_eq!(stand_in.crawled(one.clone()), Ok(one.clone()));
            assert_eq!(stand_in.crawled_of(&other), Some(one));
        }
        let (staging, production) = ("http://127.0.0.1:8080/", "https://www.h.example/");
        for rest in ["", "?a=1", "/x/%20y?q"] {
            check(staging, production, rest);
        }
        check(staging, "https://h.example/app/", "a/b");
        check("http://s.example/x/", production, "a");
        check("http://[::1]:81/x/y/", "http://h.example:82/z/", "a");
        // A copy inside the original's own tree.
        check("https://h.example/staging/", "https://h.example/", "a");
    }

    #[test]
    fn urls_in_neither_directory_stay() {
        let stand_in = stand_in("http://s.example/x/", "https://h.example/app/");
        for url in [
            "http://s.example/",
            "http://s.example/x",
            "http://s.example/xy/",
            "https://s.example/x/a",
            "https://h.example/",
            "https://h.example/app",
            "https://h.example/application",
            "https://h.example:8443/app/a",
            "https://other.example/app/",
        ] {
            assert_eq!(stand_in.crawled(key(url)).unwrap(), key(url));
            assert_eq!(stand_in.original(&key(url)).unwrap(), key(url));
            assert_eq!(stand_in.crawled_of(&key(url)), None);
        }
        // Other names of the original mean it.
        for url in ["http://h.example/app/a", "https://www.h.example/app/a"] {
            let crawled = key("http://s.example/x/a");
            assert_eq!(stand_in.crawled(key(url)).unwrap(), crawled);
            assert_eq!(stand_in.crawled_of(&key(url)), Some(crawled));
        }
    }

    #[test]
    fn crawled_urls_inside_the_original_stay_crawled() {
        let stand_in = stand_in("https://h.example/staging/", "https://h.example/");
        let page = key("https://h.example/staging/staging/a");
        let original = key("https://h.example/staging/a");
        assert_eq!(stand_in.crawled(page.clone()), Ok(page.clone()));
        assert_eq!(stand_in.original(&page), Ok(original.clone()));
        assert_eq!(stand_in.crawled_of(&original), Some(page));
    }

    #[test]
    fn urls_of_the_crawled_origin_are_never_shown() {
        let original = "https://h.example/app/";
        let check_for = |crawled: &str, url: &str, expected: Option<&str>| {
            let shown = stand_in(crawled, original).shown(&key(url));
            assert_eq!(shown.as_ref().map(UrlKey::as_str), expected, "{url}");
        };
        let check = |url: &str, expected: Option<&str>| {
            check_for("http://s.example/x/", url, expected);
        };
        check("http://s.example/x/a", Some("https://h.example/app/a"));
        check("http://s.example/logo.png", None);
        for other in ["http://cdn.example/a.png", "https://h.example/a.png"] {
            check(other, Some(other));
        }
        // One origin, which readers know.
        let known = "https://h.example/logo.png";
        check_for("https://h.example/x/", known, Some(known));
        let path = "x".repeat(MAX_URL_BYTES - "http://s.example/x/".len());
        check(&format!("http://s.example/x/{path}"), None);
    }

    #[test]
    fn only_the_directory_of_each_counts() {
        let stand_in = stand_in("http://s.example/x/a?now", "https://h.example/app/index");
        let directory = stand_in.original_directory();
        assert_eq!(directory.as_str(), "https://h.example/app/");
        let original = stand_in.original(&key("http://s.example/x/a"));
        assert_eq!(original, Ok(key("https://h.example/app/a")));
    }

    #[test]
    fn an_original_inside_the_crawled_site_is_refused() {
        fn check(crawled: &str, original: &str) {
            let error = PublishAs::new(&key(crawled), &key(original)).unwrap_err();
            assert!(error.to_string().starts_with(original), "{error}");
        }
        check("https://h.example/", "https://h.example/");
        check("https://h.example/", "https://h.example/app/");
        check("https://h.example/app/", "https://h.example/app/v2/");
    }

    #[test]
    fn a_too_long_counterpart_is_an_error() {
        let stand_in = stand_in("http://staging.example/", "http://a.example/");
        let path = "x".repeat(MAX_URL_BYTES - "http://a.example/".len());
        let original = key(&format!("http://a.example/{path}"));
        assert_eq!(
            stand_in.crawled(original.clone()),
            Err(UrlKeyError::TooLong)
        );
        assert_eq!(stand_in.crawled_of(&original), None);
        let identity = Identity {
            stand_in: Some(stand_in),
            ..Identity::default()
        };
        assert_eq!(identity.parse(original.as_str()), Err(UrlKeyError::TooLong));
    }

    #[test]
    fn the_original_is_spared_unless_it_is_crawled() {
        fn check(crawled: &str, original: &str, urls: &[&str], expected: bool) {
            let stand_in = stand_in(crawled, original);
            for url in urls {
                assert_eq!(stand_in.spares(&key(url).origin()), expected, "{url}");
            }
        }
        let (staging, original) = ("http://s.example/", "https://h.example/app/");
        let spared = [
            "https://h.example/",
            "http://h.example/",
            "https://h.example:8443/",
            "https://www.h.example/",
        ];
        check(staging, original, &spared, true);
        check(staging, original, &["https://m.h.example/", staging], false);
        let [host, twin, inside] = [
            "https://h.example/",
            "https://www.h.example/",
            "https://h.example/staging/",
        ];
        check(twin, host, &[twin], false);
        check(inside, host, &[host], false);
        let [on_port, secure] = ["http://h.example:8080/", "https://h.example:8443/"];
        check(on_port, "http://h.example/", &[secure], false);
    }

    #[test]
    fn identity_makes_one_key_of_both() {
        let plain = Identity::default();
        let identity = Identity {
            stand_in: Some(stand_in("http://s.example/", "https://h.example/app/")),
            ..Identity::default()
        };
        let base = key("https://h.example/app/docs/").to_url();
        let resolved = identity
            .resolve(&base, "../a?utm_source=x#y", encoding_rs::UTF_8)
            .unwrap();
        assert_eq!(resolved, key("http://s.example/a"));
        assert_ne!(plain.fingerprint(), identity.fingerprint());
        assert!(!plain.to_string().contains("stand_in"));
    }
}
