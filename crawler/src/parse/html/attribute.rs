//! Values of single attributes of elements.

use std::borrow::Cow;

use crate::html::{Tag, decode_attribute};

/// Longest attribute value that is read, in bytes as written. The longest URL that is followed has 2,047 bytes; the rest is for
/// character references.
const MAX_ATTRIBUTE_BYTES: usize = 4 * 1_024;

/// Longest `srcset` that is read: some twenty candidates, each as long as a URL may be.
pub(super) const MAX_SRCSET_BYTES: usize = 64 * 1_024;

/// Returns whether an alternate link leads to another version of the page, not to a feed or other data.
pub(in crate::parse) fn is_page_variant(
    has_language_or_media: bool,
    media_type: Option<&str>,
) -> bool {
    let media_type =
        media_type.map(|media_type| media_type.split(';').next().unwrap_or_default().trim());
    let is_page = media_type.is_none_or(|essence| {
        ["", "text/html", "application/xhtml+xml"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(essence))
    });
    has_language_or_media && is_page
}

/// Returns whether an alternate link leads to a feed: RSS or Atom by its type (RSS Advisory Board, "RSS Autodiscovery").
pub(in crate::parse) fn is_feed(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|media_type| media_type.split(';').next());
    essence.is_some_and(|essence| {
        ["application/rss+xml", "application/atom+xml"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(essence.trim()))
    })
}

/// Returns whether a script element of this type (in lower case) is a script, not data such as JSON-LD.
pub(super) fn is_running_script(kind: &str) -> bool {
    kind.is_empty()
        || kind == "module"
        || kind.contains("javascript")
        || kind.contains("ecmascript")
}

/// The image of an `img`; scripts load some of them from elsewhere. `None` for counting pixels.
pub(super) fn image_reference<'t>(tag: &Tag<'t>) -> Option<Cow<'t, str>> {
    let is_pixel = |name| value(tag, name).is_some_and(|length| matches!(length.trim(), "0" | "1"));
    if is_pixel("width") && is_pixel("height") {
        return None;
    }
    let is_usable = |reference: &Cow<'_, str>| {
        let reference = reference.trim();
        !reference.is_empty() && !reference.starts_with("data:")
    };
    ["src", "data-src", "data-lazy-src", "data-original"]
        .iter()
        .find_map(|name| value(tag, name).filter(is_usable))
        .or_else(|| {
            let srcset = value(tag, "srcset").or_else(|| value(tag, "data-srcset"))?;
            let first = srcset.split_ascii_whitespace().next()?;
            Some(Cow::Owned(first.trim_end_matches(',').to_owned()))
        })
}

/// The value of an attribute, with its character references decoded; `None` when absent or too long.
pub(super) fn value<'t>(tag: &Tag<'t>, name: &str) -> Option<Cow<'t, str>> {
    value_up_to(tag, name, MAX_ATTRIBUTE_BYTES)
}

/// The same of a value of at most `max_bytes`.
pub(super) fn value_up_to<'t>(tag: &Tag<'t>, name: &str, max_bytes: usize) -> Option<Cow<'t, str>> {
    let raw = tag.attribute(name)?;
    (raw.len() <= max_bytes).then(|| decode_attribute(raw))
}
