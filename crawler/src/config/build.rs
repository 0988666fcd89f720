//! Settings for the inputs that a set is built from.

/// The format of a list of URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// One URL per line.
    Text,
    /// A header line that names columns, then one URL per record (RFC 4180).
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// A sitemap or feed in any format that is read.
    Sitemap,
}

/// At which URL a host serves `about.html` of a folder. `index.html` is always its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HtmlSuffix {
    /// At `/about` when the page names that as its canonical URL, otherwise at `/about.html`.
    #[default]
    Auto,
    /// At `/about.html`.
    Keep,
    /// At `/about`, unless there is a file of that name too.
    Drop,
}

/// How inputs are read that a set is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BuildConfig {
    /// The format of every list. Default: found out from its first bytes.
    pub format: Option<InputFormat>,
    /// `true` if `.html` is in the URLs of a folder's pages. Default: `true`, unless a page states otherwise.
    pub html_suffix: HtmlSuffix,
    /// Publish nothing when a line or a value of an input cannot be used. Default no: it is left out.
    pub strict: bool,
}
