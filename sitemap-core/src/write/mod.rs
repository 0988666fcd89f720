//! Writing sitemap files: streaming, counted, never over a limit, the same bytes for the same entries.
//!
//! ```text
//! entries in order -> UrlSetWriter, IndexWriter, TextWriter, RssWriter or AtomWriter -> (GzipWriter) -> any io::Write
//! entries in order -> SetWriter -> sitemaps of 50,000 entries, gzipped, and their index -> an io::Write for each name
//! ```
//!
//! Every format is a `SitemapFile`: opening bytes, one line per entry, closing bytes. It owns the counting, so a format only defines
//! its lines. The output conforms to both the text of the protocol and its schemas: the declaration at byte 0, UTF-8, one fixed
//! order of elements, never an empty file. Nothing here opens files, orders entries or chooses them. Wrap files and sockets in a
//! `BufWriter`: each entry is one small write.

mod set;

mod index;
mod urlset;

mod atom;
mod rss;
mod text;

mod extensions;
mod feed;
mod gzip;
mod refusal;
mod xml;

pub use atom::AtomWriter;
pub use feed::{FeedInfo, MAX_TITLE_CHARACTERS};
pub use gzip::GzipWriter;
pub use index::IndexWriter;
pub use rss::RssWriter;
pub use set::{Compression, SetError, SetFile, SetSummary, SetWriter};
pub use text::TextWriter;
pub use urlset::{UrlSetOptions, UrlSetWriter};

pub(crate) use index::sitemap_len;
pub(crate) use urlset::{url_len, urlset_frame_len, write_url_line};

use std::io::{self, Write};

use quick_xml::escape::escape;

use crate::{
    LastMod, Limits, Loc,
    extension::{ExtensionError, MAX_ENTRY_BYTES},
    limits::NAMESPACE,
};

/// Result of adding an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry that found the file full was not written"]
pub enum Push {
    /// The entry is in the file.
    Written,
    /// The entry would break a limit. Nothing was written; finish this file and push the entry into the next one.
    Full,
}

/// Presence of `xsi:schemaLocation` in the root of a file (R69).
///
/// Search engines ignore it; some tools that validate files need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaLocation {
    /// The file does not name its schemas.
    #[default]
    Omitted,
    /// The file names the schemas of its namespaces, as far as they are known.
    Written,
}

/// Counts of a finished file, as it was written or read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSummary {
    /// Entries in the file.
    pub entries: u64,
    /// Bytes of the file before compression.
    pub bytes: u64,
    /// The newest date among the entries, by [`LastMod::latest_instant`]; `None` if no entry has one.
    pub newest_lastmod: Option<LastMod>,
}

impl FileSummary {
    /// Counts one entry more; the bytes are counted elsewhere.
    pub(crate) fn count(&mut self, lastmod: Option<&LastMod>) {
        self.entries += 1;
        let Some(lastmod) = lastmod else { return };
        let is_newer = |newest: &LastMod| lastmod.latest_instant() > newest.latest_instant();
        if self.newest_lastmod.as_ref().is_none_or(is_newer) {
            self.newest_lastmod = Some(lastmod.clone());
        }
    }
}

/// Reason why a file cannot be written. After [`Io`](Self::Io) the output holds a broken file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output refused the bytes.
    #[error("write sitemap")]
    Io(#[from] io::Error),
    /// The file would have no entry; the schemas refuse such a file, so write none.
    #[error("sitemap has no entries, expected at least one")]
    Empty,
    /// The limits leave no room for any entry.
    #[error("limits of {} entries and {} bytes are too small for an entry", .limits.entries, .limits.bytes)]
    LimitsTooSmall {
        /// The limits, at most those of the protocol.
        limits: Limits,
    },
    /// One entry alone is larger than a file may be, so no next file helps.
    #[error("entry for {loc} makes a file of {bytes} bytes, expected at most {limit}")]
    EntryTooLarge {
        /// The address of the entry.
        loc: Loc,
        /// Bytes of a file with only this entry.
        bytes: u64,
        /// Bytes a file may have.
        limit: u64,
    },
    /// An entry without a date of change, which Atom requires. Nothing was written; other entries can follow.
    #[error("entry for {loc} has no date of change, which an Atom feed needs")]
    Undated {
        /// The address of the entry.
        loc: Loc,
    },
    /// The extensions of an entry cannot be written.
    #[error("extensions of the entry for {loc}")]
    Extension {
        /// The address of the entry.
        loc: Loc,
        /// The problem.
        source: ExtensionError,
    },
}

/// A file in the making, of any format: counts entries and bytes, and refuses an entry that would break a limit.
#[derive(Debug)]
struct SitemapFile<W> {
    out: W,
    limits: Limits,
    closing: &'static str,
    /// The bytes of one entry, built here first so that they are counted before any of them is written.
    line: Vec<u8>,
    /// Counts so far, without the closing bytes.
    written: FileSummary,
}

impl<W: Write> SitemapFile<W> {
    /// Writes the opening bytes.
    fn open(
        mut out: W,
        limits: Limits,
        opening: &str,
        closing: &'static str,
    ) -> Result<Self, WriteError> {
        let limits = limits.within_protocol();
        let bytes = opening.len() as u64;
        if limits.entries == 0 || limits.bytes <= bytes + closing.len() as u64 {
            return Err(WriteError::LimitsTooSmall { limits });
        }
        out.write_all(opening.as_bytes())?;
        Ok(Self {
            out,
            limits,
            closing,
            line: Vec::new(),
            written: FileSummary {
                bytes,
                ..FileSummary::default()
            },
        })
    }

    /// Writes one entry as `build` puts it into the line, if the file with its closing bytes stays within the limits.
    fn push(
        &mut self,
        loc: &Loc,
        lastmod: Option<&LastMod>,
        build: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<Push, WriteError> {
        if self.written.entries >= self.limits.entries {
            return Ok(Push::Full);
        }
        self.line.clear();
        build(&mut self.line)?;
        let entry_bytes = self.line.len() as u64;
        if entry_bytes > MAX_ENTRY_BYTES {
            return Err(WriteError::Extension {
                loc: loc.clone(),
                source: ExtensionError::TooLarge { bytes: entry_bytes },
            });
        }
        let line = std::mem::take(&mut self.line);
        let pushed = self.push_line(&line, lastmod);
        self.line = line;
        match pushed? {
            Push::Full if self.written.entries == 0 => Err(WriteError::EntryTooLarge {
                loc: loc.clone(),
                bytes: self.written.bytes + entry_bytes + self.closing.len() as u64,
                limit: self.limits.bytes,
            }),
            pushed => Ok(pushed),
        }
    }

    /// Writes the line of an entry, if the file with its closing bytes stays within the limits.
    fn push_line(&mut self, line: &[u8], lastmod: Option<&LastMod>) -> Result<Push, WriteError> {
        let bytes = self.written.bytes + line.len() as u64;
        let closed_bytes = bytes + self.closing.len() as u64;
        if self.written.entries >= self.limits.entries || closed_bytes > self.limits.bytes {
            return Ok(Push::Full);
        }
        self.out.write_all(line)?;
        self.written.bytes = bytes;
        self.written.count(lastmod);
        Ok(Push::Written)
    }

    /// Writes the closing bytes.
    fn close(mut self) -> Result<(W, FileSummary), WriteError> {
        if self.written.entries == 0 {
            return Err(WriteError::Empty);
        }
        self.out.write_all(self.closing.as_bytes())?;
        self.written.bytes += self.closing.len() as u64;
        Ok((self.out, self.written))
    }
}

/// The lines before the first entry: the XML declaration, and the root with prefix, namespace and schema of all that is declared.
fn opening<'a>(
    root: &str,
    schema: &str,
    declared: impl IntoIterator<Item = (&'a str, &'a str, Option<&'a str>)>,
    schema_location: SchemaLocation,
) -> String {
    let mut attributes = vec![format!(" xmlns=\"{NAMESPACE}\"")];
    let mut locations = vec![NAMESPACE, schema];
    for (prefix, namespace, schema) in declared {
        attributes.push(format!(" xmlns:{prefix}=\"{}\"", escape(namespace)));
        locations.extend(
            schema
                .map(|schema| [namespace, schema])
                .into_iter()
                .flatten(),
        );
    }
    match schema_location {
        SchemaLocation::Omitted => {}
        SchemaLocation::Written => {
            let locations = locations.join(" ");
            attributes.push(format!(" xmlns:xsi=\"{XSI_NAMESPACE}\""));
            attributes.push(format!(" xsi:schemaLocation=\"{}\"", escape(locations)));
        }
    }
    let attributes = attributes.concat();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root}{attributes}>\n")
}

/// The namespace of `xsi:schemaLocation` (R69).
pub(crate) const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";

#[cfg(test)]
mod tests;
