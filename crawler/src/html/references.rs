//! Text as a reader has it: UTF-8, line ends and character references decoded (HTML standard sections 13.2.3.5 and 13.2.5.72).

use std::borrow::Cow;

use super::{TextKind, TextModel};

/// A piece of text of this kind, decoded.
pub(crate) fn decode(text: &[u8], kind: TextKind) -> Cow<'_, str> {
    let keeps_nul = matches!(kind, TextKind::Cdata | TextKind::Model(TextModel::Data));
    let has_references = matches!(kind, TextKind::Model(TextModel::Data | TextModel::Rcdata));
    let text = plain(text, keeps_nul);
    if has_references && text.contains('&') {
        Cow::Owned(htmlize::unescape(text).into_owned())
    } else {
        text
    }
}

/// The value of an attribute, decoded.
pub(crate) fn decode_attribute(value: &[u8]) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'\r', 0, value).is_none() {
        let valid = std::str::from_utf8(value);
        return valid.map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed);
    }
    let value = plain(value, false);
    if value.contains('&') {
        Cow::Owned(htmlize::unescape_attribute(value).into_owned())
    } else {
        value
    }
}

/// Bytes without character references, decoded.
pub(crate) fn plain(text: &[u8], keeps_nul: bool) -> Cow<'_, str> {
    let valid = std::str::from_utf8(text);
    let mut text = valid.map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        text = Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    if !keeps_nul && memchr::memchr(0, text.as_bytes()).is_some() {
        text = Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    text
}
