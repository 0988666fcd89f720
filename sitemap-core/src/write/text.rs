//! [`TextWriter`]: a text file that lists pages, one URL per line.

use std::io::Write;

use super::{FileSummary, Push, SitemapFile, WriteError};
use crate::{Limits, UrlEntry};

/// Writes a sitemap as text: one URL per line, nothing else (R50 to R57).
///
/// The file has addresses only; the other values of an entry are left out, so the summary has no date.
///
/// ```
/// use sitemap_core::{Limits, Loc, Push, TextWriter, UrlEntry};
///
/// let mut writer = TextWriter::new(Vec::new(), Limits::default())?;
/// let entry = UrlEntry::new(Loc::parse("https://example.com/?a=1&b=2")?);
/// assert_eq!(writer.push(&entry)?, Push::Written);
/// let (bytes, summary) = writer.finish()?;
/// assert_eq!(bytes, b"https://example.com/?a=1&b=2\n");
/// assert_eq!(summary.bytes, bytes.len() as u64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextWriter<W> {
    document: SitemapFile<W>,
}

impl<W: Write> TextWriter<W> {
    /// Begins a file. Limits above those of the protocol count as those of the protocol (R52).
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit.
    pub fn new(out: W, limits: Limits) -> Result<Self, WriteError> {
        let document = SitemapFile::open(out, limits, "", "")?;
        Ok(Self { document })
    }

    /// Adds an entry, unless the file with it would have more entries or bytes than allowed.
    ///
    /// # Errors
    /// [`WriteError::EntryTooLarge`] when the entry does not even fit into an empty file; [`WriteError::Io`] from the output.
    pub fn push(&mut self, entry: &UrlEntry) -> Result<Push, WriteError> {
        self.document.push(&entry.loc, None, |line| {
            line.extend_from_slice(entry.loc.as_str().as_bytes());
            line.push(b'\n');
            Ok(())
        })
    }

    /// Ends the file and gives the output back, not flushed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}
