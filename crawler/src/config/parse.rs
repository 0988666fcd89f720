//! Settings for reading pages.

use std::time::Duration;

use super::RenderConfig;

/// A rule for pages whose HTML matches a CSS selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRule {
    /// Glob on path and query (see [`ScopeConfig`](super::ScopeConfig)); `*` for every page.
    pub pages: String,
    /// CSS selector.
    pub selector: String,
    /// The effect of a match.
    pub action: PageAction,
}

/// The effect of a matching [`PageRule`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAction {
    /// The page is not listed.
    Exclude,
    /// The page's `lastmod` is read from the first match: from this attribute, or from its text.
    Lastmod {
        /// Attribute name; `None` reads the text.
        attribute: Option<String>,
    },
}

/// How pages are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseConfig {
    /// Meta names, and `X-Robots-Tag` tokens, whose directives are obeyed. Default `robots`, `googlebot`.
    pub robots_names: Vec<String>,
    /// Content types that are listed although they are not HTML. Default: PDF, PostScript, RTF, EPUB,
    /// Microsoft Office and `OpenDocument` files.
    pub document_types: Vec<String>,
    /// Links taken from one page. Default 50,000.
    pub max_links: usize,
    /// Bytes of these links, as absolute URLs. Default 2 MiB.
    pub max_link_bytes: usize,
    /// CPU time of the threads that parse one page, measured between chunks after its first 64 KiB. A page of which a part is
    /// left is not judged then: it failed. Default 5 s.
    pub max_parse_time: Duration,
    /// Rules by CSS selector. Default none.
    pub page_rules: Vec<PageRule>,
    /// Pages that are read as a browser shows them. Default none.
    pub render: RenderConfig,
}

impl Default for ParseConfig {
    fn default() -> Self {
        Self {
            robots_names: ["robots", "googlebot"].map(str::to_owned).to_vec(),
            document_types: [
                "application/pdf",
                "application/postscript",
                "application/rtf",
                "application/epub+zip",
                "application/msword",
                "application/vnd.ms-excel",
                "application/vnd.ms-powerpoint",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                "application/vnd.oasis.opendocument.text",
                "application/vnd.oasis.opendocument.spreadsheet",
                "application/vnd.oasis.opendocument.presentation",
            ]
            .map(str::to_owned)
            .to_vec(),
            max_links: 50_000,
            max_link_bytes: 2 << 20,
            max_parse_time: Duration::from_secs(5),
            page_rules: Vec::new(),
            render: RenderConfig::default(),
        }
    }
}
