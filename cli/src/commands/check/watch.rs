//! What a check of live sitemaps looks like while it works: which one is read, and how much was found.

use std::{
    io::{self, BufRead, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crawler::{engine::Shutdown, politeness::SharedPoliteness, url_key::HostKey};
use sitemap_core::Loc;
use tokio::time::Instant;

use crate::{
    attend::{Lines, Watched},
    human,
    live::{fit, words_of_host},
    output::Output,
};

/// How long something takes before it is said that it does.
const WORTH_A_WORD: Duration = Duration::from_secs(2);

/// How far the check is; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Figures>>);

/// The figures of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    /// What is being fetched or read.
    current: String,
    /// The host that is asked for it.
    host: Option<HostKey>,
    /// How often [`current`](Self::current) changed.
    turns: u64,
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
    pub(super) fn turn_to(&self, what: &Loc) {
        let mut figures = self.figures();
        what.as_str().clone_into(&mut figures.current);
        figures.host = Some(HostKey::new(what.host()));
        figures.turns += 1;
        figures.bytes = 0;
    }
}

impl Figures {
    /// The lines of the live view, each at most `width` characters: what is fetched or read, and for how long if that is long, the
    /// figures, and what the host is doing when it does not simply answer.
    fn lines(&self, elapsed: Duration, host: Option<&str>, width: usize) -> Vec<String> {
        let mut lines = vec![self.current_line(elapsed, width)];
        lines.push(fit(&format!("  {}", self.line()), width));
        lines.extend(host.map(|host| fit(&format!("  {host}"), width)));
        lines
    }

    /// What is being fetched or read; of a long URL the beginning.
    fn current_line(&self, elapsed: Duration, width: usize) -> String {
        let mut state = Vec::new();
        if self.bytes > 0 {
            state.push(format!("{} read", human::bytes(self.bytes)));
        }
        if elapsed >= WORTH_A_WORD {
            state.push(human::duration(Duration::from_secs(elapsed.as_secs())));
        }
        if state.is_empty() {
            return fit(&self.current, width);
        }
        let state = format!(" ({})", state.join(", "));
        let room = width.saturating_sub(state.chars().count());
        fit(&(fit(&self.current, room) + &state), width)
    }

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
    politeness: SharedPoliteness,
    /// The `delay` setting.
    delay: Option<Duration>,
    began: Instant,
    /// Since when the same is fetched or read, by the number of its turn.
    turned: (u64, Instant),
    lines: Lines,
}

impl CheckView {
    /// Of a check that begins now.
    pub(super) fn new(
        progress: &Progress,
        politeness: SharedPoliteness,
        delay: Option<Duration>,
    ) -> Self {
        let now = Instant::now();
        Self {
            progress: progress.clone(),
            politeness,
            delay,
            began: now,
            turned: (0, now),
            lines: Lines::default(),
        }
    }

    /// What the host that is asked is doing, when it is worth a word.
    fn host(&self, figures: &Figures, now: Instant) -> Option<String> {
        // What is read has been answered.
        let host = figures.host.as_ref().filter(|_| figures.bytes == 0)?;
        let clocks = self
            .politeness
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        words_of_host(clocks.state(host, now), self.delay, None)
    }
}

impl Watched for CheckView {
    fn show(&mut self, output: &Output) {
        let figures = self.progress.figures().clone();
        let now = Instant::now();
        if self.turned.0 != figures.turns {
            self.turned = (figures.turns, now);
        }
        let elapsed = now.saturating_duration_since(self.turned.1);
        let host = self.host(&figures, now);
        if output.is_terminal() {
            // One column stays free: some terminals wrap after a full line.
            let width = Output::width().saturating_sub(1);
            output.show(&figures.lines(elapsed, host.as_deref(), width));
        } else if self.lines.is_due(self.began.elapsed()) {
            let current = figures.current_line(elapsed, usize::MAX);
            let host = host.map(|host| format!("; {host}")).unwrap_or_default();
            output.say(&format!("{current}: {}{host}", figures.line()));
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
    fn the_view_fits_and_says_what_takes_long() {
        let progress = Progress::default();
        progress.turn_to(&Loc::parse("https://h.example/a-long-name/sitemap.xml").unwrap());
        let figures = || progress.figures().clone();
        let (short, long) = (Duration::from_millis(1_900), Duration::from_millis(61_500));
        let check = |elapsed, host, width, expected: &[&str]| {
            assert_eq!(figures().lines(elapsed, host, width), expected);
        };
        let line = "  0 sitemaps done, 0 queued, 0 entries";
        check(
            short,
            None,
            79,
            &["https://h.example/a-long-name/sitemap.xml", line],
        );
        let waits = "one request every 10 s: Crawl-delay";
        check(
            long,
            Some(waits),
            79,
            &[
                "https://h.example/a-long-name/sitemap.xml (1 min 1 s)",
                line,
                "  one request every 10 s: Crawl-delay",
            ],
        );
        progress.figures().bytes = 2_048;
        check(
            long,
            None,
            40,
            &["https://h.e... (2.0 KiB read, 1 min 1 s)", line],
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
