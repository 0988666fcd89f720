//! Versions of a page in other languages: `link rel=alternate hreflang` in its head and in `Link` headers. Codes are taken as
//! they are written; they are judged once all pages are known.

use encoding_rs::Encoding;
use url::Url;

use crate::{page::LanguageVersion, url_key::Identity};

use super::links::trim_reference;

/// Versions of one page that are taken: every language of ISO 639-1 (184), and some in several regions. Each page of
/// a cluster names all of them, so that the cost grows with the square of it.
pub(super) const MAX_ALTERNATES: usize = 250;

/// Versions as they are written on the page.
#[derive(Debug, Default)]
pub(super) struct RawAlternates {
    versions: Vec<(String, String)>,
    /// There were more than [`MAX_ALTERNATES`].
    cut: bool,
}

impl RawAlternates {
    /// Adds a version.
    pub(super) fn add(&mut self, hreflang: String, reference: String) {
        if self.versions.len() < MAX_ALTERNATES {
            self.versions.push((hreflang, reference));
        } else {
            self.cut = true;
        }
    }
}

/// Resolved versions, each code and target once.
#[derive(Debug, Default)]
pub(super) struct AlternateList {
    pub(super) versions: Vec<LanguageVersion>,
    pub(super) cut: bool,
}

impl AlternateList {
    /// Adds one version. One that leads to nothing on the web, such as an app, is left out.
    pub(super) fn add(
        &mut self,
        hreflang: &str,
        reference: &str,
        base: &Url,
        identity: &Identity,
        encoding: &'static Encoding,
    ) {
        let reference = trim_reference(reference);
        let Ok(target) = identity.resolve(base, reference, encoding) else {
            return;
        };
        let version = LanguageVersion::new(hreflang, target);
        if reference.is_empty() || self.versions.contains(&version) {
            return;
        }
        if self.versions.len() < MAX_ALTERNATES {
            self.versions.push(version);
        } else {
            self.cut = true;
        }
    }

    /// The versions, ordered so that pages with the same versions have equal lists.
    pub(super) fn into_ordered(mut self) -> Vec<LanguageVersion> {
        self.versions.sort_unstable();
        self.versions
    }

    /// Adds those of the page.
    pub(super) fn add_all(
        &mut self,
        raw: RawAlternates,
        base: &Url,
        identity: &Identity,
        encoding: &'static Encoding,
    ) {
        self.cut |= raw.cut;
        for (hreflang, reference) in raw.versions {
            self.add(&hreflang, &reference, base, identity, encoding);
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::UTF_8;

    use super::*;

    #[test]
    fn versions_are_resolved_and_listed_once() {
        let base = Url::parse("https://example.com/en/a").unwrap();
        let identity = Identity::default();
        let mut list = AlternateList::default();
        let mut raw = RawAlternates::default();
        for (code, reference) in [
            (" EN ", ""),
            ("EN-gb", " a "),
            ("en-GB", "/en/a#top"),
            ("de", "../de/a?utm_source=x"),
            ("de", "android-app://com.example/https/example.com"),
            ("x\n-default", "https://EXAMPLE.com/"),
            ("", "/"),
        ] {
            raw.add(code.to_owned(), reference.to_owned());
        }
        list.add_all(raw, &base, &identity, UTF_8);
        let found: Vec<_> = list
            .versions
            .iter()
            .map(|version| (version.hreflang.as_str(), version.target.as_str()))
            .collect();
        let expected = [
            ("en-gb", "https://example.com/en/a"),
            ("de", "https://example.com/de/a"),
            ("x-default", "https://example.com/"),
            ("", "https://example.com/"),
        ];
        assert_eq!(found, expected);
        assert!(!list.cut);
    }
}
