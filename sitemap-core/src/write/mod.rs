//! Writing sitemap files: streaming, counted, never over a limit, the same bytes for the same entries.
//!
//! ```text
//! entries in order -> UrlSetWriter or IndexWriter -> (GzipWriter) -> any io::Write
//! ```
//!
//! Every format is a `Document`: opening bytes, one line per entry, closing bytes. It owns the counting, so a format only
//! says what its lines look like; `urlset` and `index` do so in XML. Only what both the text of the protocol and its schemas accept
//! comes out: the declaration at byte 0, UTF-8, one fixed order of elements, never an empty file. Nothing here opens files, orders
//! entries or chooses what is listed. Wrap files and sockets in a `BufWriter`: each entry is one small write.

mod gzip;
mod index;
mod urlset;
mod xml;

pub use gzip::GzipWriter;
pub use index::IndexWriter;
pub use urlset::UrlSetWriter;

pub(crate) use index::sitemap_len;
pub(crate) use urlset::url_len;

use std::io::{self, Write};

use crate::{LastMod, Limits, Loc};

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry that found the file full was not written"]
pub enum Push {
    /// The entry is in the file.
    Written,
    /// The entry would break a limit. Nothing was written; finish this file and push the entry into the next one.
    Full,
}

/// What a finished file holds, as it was written or read.
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

/// Why a file cannot be written. After [`Io`](Self::Io) the output holds a broken file.
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
    #[error("limits of {} entries and {} bytes leave no room for an entry", .limits.entries, .limits.bytes)]
    LimitsTooSmall {
        /// The limits, at most those of the protocol.
        limits: Limits,
    },
    /// One entry alone is larger than a file may be, so no next file helps.
    #[error("entry for {loc} makes a file of {bytes} bytes, expected at most {limit}")]
    EntryTooLarge {
        /// The address of the entry.
        loc: Loc,
        /// Bytes of a file with nothing but this entry.
        bytes: u64,
        /// Bytes a file may have.
        limit: u64,
    },
}

/// A file in the making, of whatever format: counts entries and bytes, and refuses what would break a limit.
#[derive(Debug)]
struct Document<W> {
    out: W,
    limits: Limits,
    closing: &'static str,
    /// The bytes of one entry, built here first so that they are counted before any of them is written.
    line: Vec<u8>,
    /// What is written so far, without the closing bytes.
    written: FileSummary,
}

impl<W: Write> Document<W> {
    /// Writes the opening bytes.
    fn open(
        mut out: W,
        limits: Limits,
        opening: &'static str,
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
        let bytes = self.written.bytes + self.line.len() as u64;
        let closed_bytes = bytes + self.closing.len() as u64;
        if closed_bytes > self.limits.bytes {
            if self.written.entries > 0 {
                return Ok(Push::Full);
            }
            return Err(WriteError::EntryTooLarge {
                loc: loc.clone(),
                bytes: closed_bytes,
                limit: self.limits.bytes,
            });
        }
        self.out.write_all(&self.line)?;
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

#[cfg(test)]
mod tests;
