//! The content of entries besides where a page is and when it changed.

use sitemap_core::{ChangeFreq, Loc, Priority, extension::CustomNamespace};

/// The content of entries besides `loc` and `lastmod`, taken from the pages themselves. Default: nothing. What
/// is not asked for is neither looked for nor stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent kinds, each asked for by itself"
)]
pub struct Extensions {
    /// The images of each page (`image:image`).
    pub images: bool,
    /// The versions of each page in other languages (`xhtml:link` with `hreflang`).
    pub hreflang: bool,
    /// The article that a page is, while it is news (`news:news`).
    pub news: bool,
    /// The videos of each page (`video:video`).
    pub video: bool,
}

/// A value for the entries of some pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRule<T> {
    /// Glob on path and query (see [`ScopeConfig`](super::ScopeConfig)); `*` for every page.
    pub pages: String,
    /// The value for these pages.
    pub value: T,
}

/// The content of entries besides where a page is and when it changed. Of several rules for the same thing
/// the first that matches decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryConfig {
    /// How often pages are likely to change. Default none: search engines hardly look at it.
    pub changefreq: Vec<EntryRule<ChangeFreq>>,
    /// How important pages are among those of the site. Default none, which means 0.5.
    pub priority: Vec<EntryRule<Priority>>,
    /// Own namespaces, with the elements that entries get of them. Default none.
    pub namespaces: Vec<Namespace>,
}

/// A namespace that is not the protocol's (<https://www.sitemaps.org/protocol.html#extending>).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The prefix that represents it in files: a letter or `_`, then letters, digits, `-`, `.` and `_`.
    pub prefix: String,
    /// The address: an absolute URI that is not that of a known extension.
    pub uri: String,
    /// URL of its schema, for [`PublishConfig::schema_location`](super::PublishConfig::schema_location).
    pub schema: Option<String>,
    /// The elements, in the order in which entries have them. At most [`MAX_ELEMENTS`] in all namespaces.
    pub elements: Vec<NamespaceElement>,
}

/// Own elements that may be defined at most: with the longest values an entry then has less than 1 MB.
pub const MAX_ELEMENTS: usize = 100;

/// An element of a [`Namespace`]. Of several with the same name the first that matches and has a value counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceElement {
    /// The name without prefix.
    pub name: String,
    /// The entries that have it: a glob on path and query (see [`ScopeConfig`](super::ScopeConfig)); `*` for every page.
    pub pages: String,
    /// The content.
    pub value: ElementValue,
}

/// The content of a custom element. Without a value there is no element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementValue {
    /// The same text everywhere.
    Constant(String),
    /// The field of this name in the input that an entry was made from.
    Field(String),
}

impl Namespace {
    /// As files declare it.
    ///
    /// # Errors
    /// The defect of its prefix, its address or the URL of its schema.
    pub fn to_own(&self) -> Result<CustomNamespace, String> {
        let own =
            CustomNamespace::new(&self.prefix, &self.uri).map_err(|error| error.to_string())?;
        let Some(schema) = &self.schema else {
            return Ok(own);
        };
        let schema = Loc::parse(schema).map_err(|error| format!("schema {schema}: {error}"))?;
        Ok(own.with_schema(schema))
    }
}
