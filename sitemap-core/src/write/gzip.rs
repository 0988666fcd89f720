//! [`GzipWriter`]: gzip whose bytes depend on the content alone.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder, write::GzEncoder};

/// The usual compromise between size and time; fixed, because another level would change the bytes of every file.
const LEVEL: u32 = 6;

/// "Unknown" in RFC 1952 section 2.3.1, so that the bytes are the same on every system.
const OPERATING_SYSTEM: u8 = 255;

/// Bytes that the compressor receives at a time. It looks for repetitions in its current input, so other pieces would give other
/// bytes.
const BLOCK_BYTES: usize = 64 * 1024;

/// Compresses what is written into it to one gzip member without name and time (R29).
///
/// The same content gives the same bytes, independent of the pieces. Call [`finish`](Self::finish) at the end; a flush would put
/// a mark into the middle of the stream, so it does nothing.
///
/// ```
/// use sitemap_core::{GzipWriter, Limits, Loc, UrlEntry, UrlSetWriter};
///
/// let mut writer = UrlSetWriter::new(GzipWriter::new(Vec::new()), Limits::default())?;
/// let _ = writer.push(&UrlEntry::new(Loc::parse("https://example.com/")?))?;
/// let (gzip, _) = writer.finish()?;
/// let bytes = gzip.finish()?;
/// assert_eq!(bytes[..2], [0x1f, 0x8b]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GzipWriter<W: Write> {
    encoder: GzEncoder<W>,
    /// Bytes of the current, incomplete block.
    block: Vec<u8>,
}

impl<W: Write> GzipWriter<W> {
    /// Begins a gzip member.
    pub fn new(out: W) -> Self {
        let encoder = GzBuilder::new()
            .mtime(0)
            .operating_system(OPERATING_SYSTEM)
            .write(out, Compression::new(LEVEL));
        Self {
            encoder,
            block: Vec::with_capacity(BLOCK_BYTES),
        }
    }

    /// Ends the member and gives the output back, not flushed.
    ///
    /// # Errors
    /// Whatever the output answers.
    pub fn finish(mut self) -> io::Result<W> {
        self.encoder.write_all(&self.block)?;
        self.encoder.finish()
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(BLOCK_BYTES - self.block.len());
        self.block.extend_from_slice(&bytes[..length]);
        if self.block.len() == BLOCK_BYTES {
            self.encoder.write_all(&self.block)?;
            self.block.clear();
        }
        Ok(length)
    }

    /// Does nothing: see [`GzipWriter`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
