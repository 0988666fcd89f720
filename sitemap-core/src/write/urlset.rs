//! [`UrlSetWriter`]: the `<urlset>` that lists pages.

use std::io::{self, Write};

use super::{Document, FileSummary, Push, WriteError, xml};
use crate::{Limits, UrlEntry};

// The namespace stands here and in `limits::NAMESPACE`; a test keeps the two equal.
const OPENING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
const CLOSING: &str = "</urlset>\n";
const ENTRY_OPENING: &str = "<url>";
const ENTRY_CLOSING: &str = "</url>\n";

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
    document: Document<W>,
}

impl<W: Write> UrlSetWriter<W> {
    /// Begins a file. Limits above those of the protocol count as those of the protocol.
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn new(out: W, limits: Limits) -> Result<Self, WriteError> {
        let document = Document::open(out, limits, OPENING, CLOSING)?;
        Ok(Self { document })
    }

    /// Adds an entry, unless the file with it would have more entries or bytes than allowed.
    ///
    /// # Errors
    /// [`WriteError::EntryTooLarge`] when the entry does not even fit into an empty file; [`WriteError::Io`] from the output.
    pub fn push(&mut self, entry: &UrlEntry) -> Result<Push, WriteError> {
        self.document
            .push(&entry.loc, entry.lastmod.as_ref(), |line| {
                write_url(line, entry)
            })
    }

    /// Ends the file and gives the output back, not flushed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written; [`WriteError::Io`] from the output.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}

/// The order of the elements is that of the schema (R8).
fn write_url(line: &mut Vec<u8>, entry: &UrlEntry) -> io::Result<()> {
    line.extend_from_slice(ENTRY_OPENING.as_bytes());
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
    line.extend_from_slice(ENTRY_CLOSING.as_bytes());
    Ok(())
}

/// The bytes that [`write_url`] writes.
pub(crate) fn url_len(entry: &UrlEntry) -> u64 {
    let lastmod = entry.lastmod.as_ref();
    (ENTRY_OPENING.len() + ENTRY_CLOSING.len()) as u64
        + xml::element_len("loc", entry.loc.as_str())
        + lastmod.map_or(0, |lastmod| xml::element_len("lastmod", lastmod.as_str()))
        + entry.changefreq.map_or(0, |changefreq| {
            xml::element_len("changefreq", changefreq.as_str())
        })
        + entry
            .priority
            .map_or(0, |_| xml::element_len("priority", "0.0"))
}
