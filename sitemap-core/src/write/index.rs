//! [`IndexWriter`]: the `<sitemapindex>` that lists sitemap files.

use std::io::{self, Write};

use super::{FileSummary, Push, SchemaLocation, SitemapFile, WriteError, opening, xml};
use crate::{IndexEntry, Limits};

const ROOT: &str = "sitemapindex";
const CLOSING: &str = "</sitemapindex>\n";
const ENTRY_OPENING: &str = "<sitemap>";
const ENTRY_CLOSING: &str = "</sitemap>\n";

/// Address of the schema of an index, for `xsi:schemaLocation` (R69).
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9/siteindex.xsd";

/// Writes an index of sitemap files, one entry per line, in the order in which they are pushed.
///
/// List urlsets, text files and feeds: an index in an index is not part of the protocol (R40).
///
/// ```
/// use sitemap_core::{IndexEntry, IndexWriter, LastMod, Limits, Loc, Push};
///
/// let mut writer = IndexWriter::new(Vec::new(), Limits::default())?;
/// let entry = IndexEntry::new(Loc::parse("https://example.com/sitemap-root.xml.gz")?)
///     .with_lastmod(LastMod::parse("2026-03-02T04:00:11Z")?);
/// assert_eq!(writer.push(&entry)?, Push::Written);
/// let (bytes, _) = writer.finish()?;
/// assert!(bytes.ends_with(b"</sitemapindex>\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IndexWriter<W> {
    document: SitemapFile<W>,
}

impl<W: Write> IndexWriter<W> {
    /// Begins an index. Limits above those of the protocol count as those of the protocol.
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn new(out: W, limits: Limits) -> Result<Self, WriteError> {
        Self::with_schema_location(out, limits, SchemaLocation::default())
    }

    /// Begins an index with or without the location of its schema (R69).
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn with_schema_location(
        out: W,
        limits: Limits,
        schema_location: SchemaLocation,
    ) -> Result<Self, WriteError> {
        let opening = opening(ROOT, SCHEMA, [], schema_location);
        let document = SitemapFile::open(out, limits, &opening, CLOSING)?;
        Ok(Self { document })
    }

    /// Adds an entry, unless the index with it would have more entries or bytes than allowed.
    ///
    /// # Errors
    /// [`WriteError::EntryTooLarge`] when the entry does not even fit into an empty index; [`WriteError::Io`] from the output.
    pub fn push(&mut self, entry: &IndexEntry) -> Result<Push, WriteError> {
        self.document
            .push(&entry.loc, entry.lastmod.as_ref(), |line| {
                write_sitemap(line, entry)
            })
    }

    /// Ends the index and gives the output back, not flushed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written; [`WriteError::Io`] from the output.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}

/// The order of the elements is that of the schema (R36).
fn write_sitemap(line: &mut impl Write, entry: &IndexEntry) -> io::Result<()> {
    line.write_all(ENTRY_OPENING.as_bytes())?;
    xml::element(line, "loc", entry.loc.as_str())?;
    if let Some(lastmod) = &entry.lastmod {
        xml::element(line, "lastmod", lastmod.as_str())?;
    }
    line.write_all(ENTRY_CLOSING.as_bytes())
}

/// The bytes that [`write_sitemap`] writes.
pub(crate) fn sitemap_len(entry: &IndexEntry) -> u64 {
    xml::written_len(|line| write_sitemap(line, entry))
}
