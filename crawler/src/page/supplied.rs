//! The data of an input of the user on a URL, as values and as text.

mod read;
mod write;

use std::collections::BTreeMap;

use sitemap_core::{ChangeFreq, LastMod, Priority, extension::Extensions};

pub use self::read::{InputExtensionsError, extensions_from_json};

/// The data of an input of the user on a URL, checked: it is written as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Supplied {
    /// When the page changed.
    pub lastmod: Option<LastMod>,
    /// How often it changes.
    pub changefreq: Option<ChangeFreq>,
    /// The weight within the site.
    pub priority: Option<Priority>,
    /// Pictures, videos, news, versions in other languages, custom elements. What search engines
    /// dropped of them is not kept.
    pub extensions: Extensions,
    /// Values for custom elements, by the name of the input's field.
    pub fields: BTreeMap<String, String>,
}

impl Supplied {
    /// Seconds since 1970 of the change; `None` when it is not stated.
    pub fn changed_second(&self) -> Option<i64> {
        Some(self.lastmod.as_ref()?.latest_instant().as_second())
    }

    /// The size of all values, in bytes.
    pub fn weight(texts: &[Option<String>; 4]) -> usize {
        texts.iter().flatten().map(String::len).sum()
    }

    /// All values, as text, in the order of the columns of a store: lastmod, changefreq,
    /// priority, and the extensions with the fields as a JSON object ([`extensions_from_json`]).
    pub fn texts(&self) -> [Option<String>; 4] {
        [
            self.lastmod.as_ref().map(ToString::to_string),
            self.changefreq.map(|changefreq| changefreq.to_string()),
            self.priority.map(|priority| priority.to_string()),
            write::json(&self.extensions, &self.fields),
        ]
    }
}
