//! What a check of live sitemaps looks like while it works: which one is read, and how much was found.

use std::{
    io::{self, BufRead, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crawler::engine::Shutdown;
use tokio::time::Instant;

use crate::{
    attend::{Lines, Watched},
    human,
    output::Output,
};

/// How far the check is; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Figures>>);

/// The figures of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    /// What is being fetched or read.
    pub(super) current: String,
    /// Bytes of it that were read so far.
    pub(super) bytes: u64,
    /// Documents that are done.
    pub(super) documents: u64,
    /// Documents that wait.
    pub(super) queued: u64,
    /// Entries of those that are done.
    pub(super) entries: u64,
    /// Pages that were asked for.
    pub(super) pages: u64,
    /// Errors found so far.
    pub(super) errors: u64,
    /// Warnings found so far.
    pub(super) warnings: u64,
}

impl Progress {
    /// The figures, to be read or changed.
    pub(super) fn figures(&self) -> MutexGuard<'_, Figures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something else is being fetched or read.
    pub(super) fn turn_to(&self, what: &str) {
        let mut figures = self.figures();
        what.clone_into(&mut figures.current);
        figures.bytes = 0;
    }
}

impl Figures {
    fn line(&self) -> String {
        let mut line = format!(
            "{} done, {} queued, {} entries",
            human::count(self.documents, "sitemap"),
            human::number(self.queued),
            human::number(self.entries),
        );
        for (amount, noun) in [
            (self.pages, "page"),
            (self.errors, "error"),
            (self.warnings, "warning"),
        ] {
            if amount > 0 {
                line.push_str(", ");
                line.push_str(&human::count(amount, noun));
            }
        }
        line
    }
}

/// Shows the progress of a check.
#[derive(Debug)]
pub(super) struct CheckView {
    progress: Progress,
    began: Instant,
    lines: Lines,
}

impl CheckView {
    /// Of a check that begins now.
    pub(super) fn new(progress: &Progress) -> Self {
        Self {
            progress: progress.clone(),
            began: Instant::now(),
            lines: Lines::default(),
        }
    }
}

impl Watched for CheckView {
    fn show(&mut self, output: &Output) {
        let figures = self.progress.figures().clone();
        if output.is_terminal() {
            // One column stays free: some terminals wrap after a full line.
            let width = Output::width().saturating_sub(1);
            let read = if figures.bytes > 0 {
                format!(" ({} read)", human::bytes(figures.bytes))
            } else {
                String::new()
            };
            let lines = [
                format!("{}{read}", figures.current),
                format!("  {}", figures.line()),
            ];
            output.show(&lines.map(|line| line.chars().take(width).collect()));
        } else if self.lines.is_due(self.began.elapsed()) {
            output.say(&format!("{}: {}", figures.current, figures.line()));
        }
    }

    fn say_news(&mut self, _output: &Output) {}
}

/// A document that is being read: tells how far, and ends when somebody asked to stop.
pub(super) struct Watching<'a, R> {
    input: R,
    progress: &'a Progress,
    shutdown: &'a Shutdown,
}

impl<'a, R: BufRead> Watching<'a, R> {
    /// Watches the reading of `input`.
    pub(super) fn new(input: R, progress: &'a Progress, shutdown: &'a Shutdown) -> Self {
        Self {
            input,
            progress,
            shutdown,
        }
    }
}

impl<R: BufRead> Read for Watching<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Watching<'_, R> {
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
    fn a_line_says_what_there_is() {
        let mut figures = Figures {
            documents: 1,
            queued: 2,
            entries: 3_000,
            ..Figures::default()
        };
        assert_eq!(figures.line(), "1 sitemap done, 2 queued, 3,000 entries");
        figures.pages = 5;
        figures.errors = 1;
        assert_eq!(
            figures.line(),
            "1 sitemap done, 2 queued, 3,000 entries, 5 pages, 1 error"
        );
    }

    #[test]
    fn reading_is_counted_and_ends_when_asked() {
        let (progress, shutdown) = (Progress::default(), Shutdown::default());
        let mut input = Watching::new(&b"some bytes"[..], &progress, &shutdown);
        let mut four = [0; 4];
        input.read_exact(&mut four).unwrap();
        assert_eq!(progress.figures().bytes, 4);
        shutdown.stop();
        assert!(input.read_exact(&mut four).is_err());
    }
}
