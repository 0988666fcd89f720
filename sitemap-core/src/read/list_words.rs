//! What a word in a line of a list is: a URL, or metadata of a page.

use crate::{ChangeFreq, LastMod, Priority};

/// Returns whether a text begins like an absolute URL of the web.
pub fn has_web_scheme(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = text.as_bytes().get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns whether a text is metadata of a page: a date, a frequency or a priority.
pub(super) fn is_metadata(text: &str) -> bool {
    let is_priority = text.contains('.') && Priority::parse(text).is_ok();
    is_priority || LastMod::parse(text).is_ok() || ChangeFreq::parse(text).is_ok()
}
