//! Values of a video or an article under the names of the elements of a sitemap.

use jiff::{Span, SpanRelativeTo};
use sitemap_core::extension::{Element, Extension, ValueKind};

use super::dates::parse_stated;
use crate::{page::StatedElement, url_key::UrlKey};

/// Makes a URL of a reference; `None` when it leads to nothing on the web.
pub(super) type ResolveReference<'a> = dyn Fn(&str) -> Option<UrlKey> + 'a;

/// An element while its values are collected. Whether it has all that it needs is decided where it is written.
pub(super) struct ElementDraft {
    extension: Extension,
    values: StatedElement,
}

impl ElementDraft {
    pub(super) fn new(extension: Extension) -> Self {
        Self {
            extension,
            values: StatedElement::new(),
        }
    }

    /// Sets a text, cut to the characters that a sitemap may have of it.
    pub(super) fn text(&mut self, name: &'static str, text: Option<&str>) {
        let mut rows = Element::rows(self.extension);
        let row = rows.find(|row| row.local_name() == name);
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        let (Some(row), Some(text)) = (row, text) else {
            return;
        };
        let text: String = match row.kind {
            ValueKind::Text(limit) => text.chars().take(limit).collect(),
            _ => text.to_owned(),
        };
        self.values.insert(name.to_owned(), text);
    }

    /// Sets a URL.
    pub(super) fn url(
        &mut self,
        name: &'static str,
        reference: Option<&str>,
        resolve: &ResolveReference<'_>,
    ) {
        let url = reference.and_then(resolve);
        self.text(name, url.as_ref().map(UrlKey::as_str));
    }

    /// Sets a date.
    pub(super) fn date(&mut self, name: &'static str, text: Option<&str>) {
        let date = text.and_then(parse_stated);
        self.text(name, date.as_deref());
    }

    /// Sets a duration, in seconds or as ISO 8601 has it.
    pub(super) fn duration(&mut self, name: &'static str, text: Option<&str>) {
        self.text(name, text.and_then(seconds).as_deref());
    }

    /// Sets the language of a publication.
    pub(super) fn language(&mut self, name: &'static str, text: Option<&str>) {
        self.text(name, text.map(publication_language).as_deref());
    }

    pub(super) fn finish(self) -> StatedElement {
        self.values
    }
}

/// Whole seconds of a duration.
fn seconds(text: &str) -> Option<String> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.to_owned());
    }
    if !text.starts_with(['P', 'p']) {
        return None;
    }
    let span: Span = text.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Some(duration.as_secs().to_string())
}

/// The language of a publication as Google wants it: two or three letters, of Chinese the script too
/// (<https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap>).
fn publication_language(tag: &str) -> String {
    let tag = tag.trim().to_ascii_lowercase().replace('_', "-");
    let mut subtags = tag.split('-');
    let language = subtags.next().unwrap_or_default();
    if language != "zh" {
        return language.to_owned();
    }
    let is_traditional = subtags.any(|subtag| matches!(subtag, "hant" | "tw" | "hk" | "mo"));
    if is_traditional { "zh-tw" } else { "zh-cn" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(seconds(text).as_deref(), expected, "{text}");
        };
        check("93", Some("93"));
        check(" PT1M33S ", Some("93"));
        check("P0DT1H0M5.7S", Some("3605"));
        check("P1DT1S", Some("86401"));
        check("P1M", None);
        check("1:33", None);
        check("1h", None);
    }

    #[test]
    fn languages_have_no_region_but_chinese() {
        let check = |tag: &str, expected: &str| assert_eq!(publication_language(tag), expected);
        check("en", "en");
        check(" EN-us ", "en");
        check("pt_BR", "pt");
        check("zh", "zh-cn");
        check("zh-Hant-HK", "zh-tw");
        check("zh-TW", "zh-tw");
        check("", "");
    }

    #[test]
    fn texts_are_cut_to_sitemap_limits() {
        let mut draft = ElementDraft::new(Extension::Video);
        draft.text("title", Some(&"é".repeat(101)));
        draft.text("description", Some("  "));
        let values = draft.finish();
        assert_eq!(values["title"].chars().count(), 100);
        assert!(!values.contains_key("description"));
    }
}
