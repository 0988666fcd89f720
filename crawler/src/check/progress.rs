//! Progress of a check, for its display.

use std::{
    io::{self, BufRead, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sitemap_core::{Loc, read::Severity};

use crate::{client::Shutdown, url_key::HostKey};

/// Progress of a check; clones share it.
#[derive(Debug, Clone, Default)]
pub struct CheckProgress(Arc<Mutex<Figures>>);

/// The figures of a check.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// The URL that is fetched or read.
    pub current: String,
    /// The host.
    pub host: Option<HostKey>,
    /// Number of changes of [`current`](Self::current).
    pub turns: u64,
    /// Bytes of it that were read so far.
    pub bytes: u64,
    /// Documents that are done.
    pub documents: u64,
    /// Documents that wait.
    pub queued: u64,
    /// Entries of the documents that are done.
    pub entries: u64,
    /// Pages that were requested.
    pub pages: u64,
    /// Errors found so far.
    pub errors: u64,
    /// Warnings found so far.
    pub warnings: u64,
}

impl CheckProgress {
    /// The figures, to be read or changed.
    pub fn figures(&self) -> MutexGuard<'_, Figures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another URL is fetched or read.
    pub fn turn_to(&self, url: &Loc) {
        let mut figures = self.figures();
        url.as_str().clone_into(&mut figures.current);
        figures.host = Some(HostKey::new(url.host()));
        figures.turns += 1;
        figures.bytes = 0;
    }

    pub(super) fn count(&self, severity: Severity, count: u64) {
        match severity {
            Severity::Error => self.figures().errors += count,
            Severity::Warning => self.figures().warnings += count,
            Severity::Note => {}
        }
    }
}

/// A document that is being read: counts its bytes, and ends when the work is to stop.
pub(crate) struct Watched<'a, R> {
    pub(crate) input: R,
    pub(crate) progress: &'a CheckProgress,
    pub(crate) shutdown: &'a Shutdown,
}

impl<R: BufRead> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Watched<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.shutdown.is_stopping() {
            return Err(io::Error::other("stopped"));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.progress.figures().bytes += length as u64;
        self.input.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_is_counted_and_ends_when_asked() {
        let (progress, shutdown) = (CheckProgress::default(), Shutdown::default());
        let mut input = Watched {
            input: &b"some bytes"[..],
            progress: &progress,
            shutdown: &shutdown,
        };
        let mut four = [0; 4];
        input.read_exact(&mut four).unwrap();
        assert_eq!(progress.figures().bytes, 4);
        shutdown.stop();
        assert!(input.read_exact(&mut four).is_err());
    }
}
