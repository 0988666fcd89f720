//! [`UrlSetWriter`]: the `<urlset>` that lists pages.

use std::io::{self, Write};

use super::{
    FileSummary, Push, SchemaLocation, SitemapFile, WriteError, extensions::write_extensions,
    opening, xml,
};
use crate::{
    LastMod, Limits, UrlEntry,
    extension::{Extension, ExtensionError, MAX_NEWS_PER_FILE, Namespaces},
};

const ROOT: &str = "urlset";
const CLOSING: &str = "</urlset>\n";
const ENTRY_OPENING: &str = "<url>";
const ENTRY_CLOSING: &str = "</url>\n";

/// Address of the schema of a urlset, for `xsi:schemaLocation` (R69).
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd";

/// Writes a sitemap of pages, one entry per line, in the order in which they are pushed.
///
/// ```
/// use sitemap_core::{Limits, Loc, Push, UrlEntry, UrlSetWriter};
///
/// let mut writer = UrlSetWriter::new(Vec::new(), Limits::default())?;
/// let entry = UrlEntry::new(Loc::parse("https://example.com/")?);
/// assert_eq!(writer.push(&entry)?, Push::Written);
/// let (bytes, summary) = writer.finish()?;
/// assert_eq!(summary.entries, 1);
/// assert_eq!(summary.bytes, bytes.len() as u64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UrlSetWriter<W> {
    document: SitemapFile<W>,
    namespaces: Namespaces,
    /// Articles so far, at most [`MAX_NEWS_PER_FILE`].
    news: u64,
}

/// Options of a urlset; by default it has the limits of the protocol, no extensions and no schema location.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UrlSetOptions {
    /// The limits. Values above those of the protocol count as those of the protocol.
    pub limits: Limits,
    /// The extensions of its entries: exactly what its root declares (R70).
    pub namespaces: Namespaces,
    /// Presence of the locations of the schemas in its root (R69).
    pub schema_location: SchemaLocation,
}

impl UrlSetOptions {
    /// A urlset with these limits and no extensions.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Sets the extensions of the entries.
    #[must_use]
    pub fn with_namespaces(mut self, namespaces: Namespaces) -> Self {
        self.namespaces = namespaces;
        self
    }

    /// Sets whether the file names its schemas.
    #[must_use]
    pub fn with_schema_location(mut self, schema_location: SchemaLocation) -> Self {
        self.schema_location = schema_location;
        self
    }
}

impl<W: Write> UrlSetWriter<W> {
    /// Begins a file whose entries have no extensions. Limits above those of the protocol count as those of the protocol.
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn new(out: W, limits: Limits) -> Result<Self, WriteError> {
        Self::with_options(out, UrlSetOptions::new(limits))
    }

    /// Begins a file.
    ///
    /// ```
    /// use sitemap_core::{Loc, Push, UrlEntry, UrlSetOptions, UrlSetWriter, extension::Element};
    ///
    /// let mut entry = UrlEntry::new(Loc::parse("https://example.com/")?);
    /// entry.extensions.add(Element::image(&Loc::parse("https://cdn.example.net/a.jpg")?))?;
    /// let mut options = UrlSetOptions::default();
    /// options.namespaces.add(&entry.extensions)?;
    /// let mut writer = UrlSetWriter::with_options(Vec::new(), options)?;
    /// assert_eq!(writer.push(&entry)?, Push::Written);
    /// let file = String::from_utf8(writer.finish()?.0)?;
    /// assert!(file.contains(" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">"));
    /// assert!(file.contains("<image:image><image:loc>https://cdn.example.net/a.jpg</image:loc></image:image></url>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn with_options(out: W, options: UrlSetOptions) -> Result<Self, WriteError> {
        let opening = urlset_opening(&options.namespaces, options.schema_location);
        Ok(Self {
            document: SitemapFile::open(out, options.limits, &opening, CLOSING)?,
            namespaces: options.namespaces,
            news: 0,
        })
    }

    /// Adds an entry, unless the file with it would have more entries, articles or bytes than allowed.
    ///
    /// # Errors
    /// [`WriteError::EntryTooLarge`] when the entry does not even fit into an empty file; [`WriteError::Extension`] when its
    /// extensions contradict it or are of a namespace that the file does not declare; [`WriteError::Io`] from the output. But for
    /// the last, nothing was written and the file can go on.
    pub fn push(&mut self, entry: &UrlEntry) -> Result<Push, WriteError> {
        let has_news = self.check_extensions(entry)?;
        if has_news && self.news >= MAX_NEWS_PER_FILE {
            return Ok(Push::Full);
        }
        let push = self
            .document
            .push(&entry.loc, entry.lastmod.as_ref(), |line| {
                write_url(line, entry)
            })?;
        if has_news && push == Push::Written {
            self.news += 1;
        }
        Ok(push)
    }

    /// Adds an entry by its line ([`UrlEntry::write_line`]) and its date, unless the file with it would have more entries or bytes than
    /// allowed. The line is not looked at: its extensions must be among those that the file declares, and articles are not counted.
    ///
    /// ```
    /// use sitemap_core::{Limits, Loc, Push, UrlEntry, UrlSetWriter};
    ///
    /// let (mut one, mut other) = (UrlSetWriter::new(Vec::new(), Limits::default())?, UrlSetWriter::new(Vec::new(), Limits::default())?);
    /// let entry = UrlEntry::new(Loc::parse("https://example.com/?a=1&b=2")?);
    /// let mut line = Vec::new();
    /// entry.write_line(&mut line);
    /// assert_eq!(one.push(&entry)?, other.push_line(&line, None)?);
    /// assert_eq!(one.finish()?, other.finish()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError::Io`] from the output.
    pub fn push_line(
        &mut self,
        line: &[u8],
        lastmod: Option<&LastMod>,
    ) -> Result<Push, WriteError> {
        self.document.push_line(line, lastmod)
    }

    /// Returns whether the entry has an article, if this file can have the entry at all.
    fn check_extensions(&self, entry: &UrlEntry) -> Result<bool, WriteError> {
        if entry.extensions.is_empty() {
            return Ok(false);
        }
        let refused = |source: ExtensionError| WriteError::Extension {
            loc: entry.loc.clone(),
            source,
        };
        if let Some(prefix) = self.namespaces.missing(&entry.extensions) {
            let prefix = prefix.into();
            return Err(refused(ExtensionError::Undeclared { prefix }));
        }
        entry.extensions.check(&entry.loc).map_err(refused)?;
        Ok(entry.extensions.has(Extension::News))
    }

    /// Ends the file and gives the output back, not flushed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written; [`WriteError::Io`] from the output.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}

/// The lines before the first entry.
fn urlset_opening(namespaces: &Namespaces, schema_location: SchemaLocation) -> String {
    let known = namespaces.known().map(|extension| {
        let (namespace, schema) = (extension.namespace(), extension.schema());
        (extension.prefix(), namespace, Some(schema))
    });
    let own = namespaces.custom().iter().map(|own| {
        let schema = own.schema().map(AsRef::as_ref);
        (own.prefix(), own.address(), schema)
    });
    opening(ROOT, SCHEMA, known.chain(own), schema_location)
}

/// The bytes of a urlset around its entries.
pub(crate) fn urlset_frame_len(namespaces: &Namespaces, schema_location: SchemaLocation) -> u64 {
    (urlset_opening(namespaces, schema_location).len() + CLOSING.len()) as u64
}

/// The order of the elements is that of the schema (R8).
fn write_url<W: Write>(line: &mut W, entry: &UrlEntry) -> io::Result<()> {
    line.write_all(ENTRY_OPENING.as_bytes())?;
    xml::element(line, "loc", entry.loc.as_str())?;
    if let Some(lastmod) = &entry.lastmod {
        xml::element(line, "lastmod", lastmod.as_str())?;
    }
    if let Some(changefreq) = entry.changefreq {
        xml::element(line, "changefreq", changefreq.as_str())?;
    }
    if let Some(priority) = entry.priority {
        xml::element(line, "priority", &priority.to_string())?;
    }
    write_extensions(line, &entry.extensions)?;
    line.write_all(ENTRY_CLOSING.as_bytes())
}

/// Adds what [`write_url`] writes.
pub(crate) fn write_url_line(line: &mut Vec<u8>, entry: &UrlEntry) {
    write_url(line, entry).expect("memory takes everything");
}

/// The bytes that [`write_url`] writes.
pub(crate) fn url_len(entry: &UrlEntry) -> u64 {
    xml::written_len(|line| write_url(line, entry))
}
