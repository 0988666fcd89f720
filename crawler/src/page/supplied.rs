//! The data of an input of the user on a URL, as values and as text.

mod read;
mod write;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sitemap_core::{ChangeFreq, LastMod, Loc, Priority, extension::Extensions};

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
            self.extensions_text(),
        ]
    }

    /// The extensions and the fields as a JSON object; `None`: there are none.
    pub fn extensions_text(&self) -> Option<String> {
        write::json(&self.extensions, &self.fields)
    }

    /// The same with what [`Self::extensions_text`] wrote: all of it, or it is not such a text.
    #[must_use]
    pub fn with_extensions_text(mut self, text: &str) -> Option<Self> {
        let mut object: Map<String, Value> = serde_json::from_str(text).ok()?;
        if let Some(fields) = object.remove("fields") {
            self.fields = serde_json::from_value(fields).ok()?;
        }
        let resolve = |text: &str| Loc::parse(text).map_err(|error| error.to_string());
        let (extensions, errors) = extensions_from_json(&object, &resolve);
        self.extensions = extensions;
        errors.is_empty().then_some(self)
    }
}
