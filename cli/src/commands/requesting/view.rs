//! The live view of a check: which sitemap is read, and how much was found.

use std::{sync::PoisonError, time::Duration};

use crawler::{
    check::{CheckProgress, Figures},
    politeness::SharedPoliteness,
};
use tokio::time::Instant;

use crate::{
    human,
    live::{fit, words_of_host},
    output::Output,
    supervisor::{Lines, LiveView},
};

/// Time after which a slow step is shown.
const WORTH_A_WORD: Duration = Duration::from_secs(2);

/// The figures of a check as lines.
struct FiguresView<'f>(&'f Figures);

impl FiguresView<'_> {
    /// The lines of the live view, each at most `width` characters: what is fetched or read, and for how long if that is long, the
    /// figures, and what the host is doing when it does not simply answer.
    fn lines(&self, elapsed: Duration, host: Option<&str>, width: usize) -> Vec<String> {
        let mut lines = vec![self.current_line(elapsed, width)];
        let has_read = self.0.documents + self.0.queued + self.0.entries + self.0.pages > 0;
        lines.extend(has_read.then(|| fit(&format!("  {}", self.line()), width)));
        lines.extend(host.map(|host| fit(&format!("  {host}"), width)));
        lines
    }

    /// The document that is being fetched or read; of a long URL the beginning.
    fn current_line(&self, elapsed: Duration, width: usize) -> String {
        let mut state = Vec::new();
        if self.0.bytes > 0 {
            state.push(format!("{} read", human::bytes(self.0.bytes)));
        }
        if elapsed >= WORTH_A_WORD {
            state.push(human::duration(Duration::from_secs(elapsed.as_secs())));
        }
        if state.is_empty() {
            return fit(&self.0.current, width);
        }
        let state = format!(" ({})", state.join(", "));
        let room = width.saturating_sub(state.chars().count());
        let current = match &*self.0.current {
            "" => "waiting for an answer",
            current => current,
        };
        fit(&(fit(current, room) + &state), width)
    }

    fn line(&self) -> String {
        let mut line = format!(
            "{} done, {} queued, {} entries",
            human::count(self.0.documents, "sitemap"),
            human::number(self.0.queued),
            human::number(self.0.entries),
        );
        for (amount, noun) in [
            (self.0.pages, "page"),
            (self.0.errors, "error"),
            (self.0.warnings, "warning"),
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
    progress: CheckProgress,
    politeness: SharedPoliteness,
    /// The `delay` setting.
    delay: Option<Duration>,
    began: Instant,
    /// Start of the current fetch or read, with its number.
    turned: (u64, Instant),
    lines: Lines,
}

impl CheckView {
    /// The view of a check that begins now.
    pub(super) fn new(
        progress: &CheckProgress,
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

    /// The state of the current host, if it delays the requests.
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

impl LiveView for CheckView {
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
            let width = Output::size().0.saturating_sub(1);
            output.show(&FiguresView(&figures).lines(elapsed, host.as_deref(), width));
        } else if self.lines.is_due(self.began.elapsed()) {
            let current = FiguresView(&figures).current_line(elapsed, usize::MAX);
            let host = host.map(|host| format!("; {host}")).unwrap_or_default();
            output.info(&format!(
                "{current}: {}{host}",
                FiguresView(&figures).line()
            ));
        }
    }

    fn print_news(&mut self, _output: &Output) {}
}

#[cfg(test)]
mod tests {
    use sitemap_core::Loc;

    use super::*;

    #[test]
    fn line_has_the_figures() {
        let mut figures = Figures {
            documents: 1,
            queued: 2,
            entries: 3_000,
            ..Figures::default()
        };
        assert_eq!(
            FiguresView(&figures).line(),
            "1 sitemap done, 2 queued, 3,000 entries"
        );
        figures.pages = 5;
        figures.errors = 1;
        assert_eq!(
            FiguresView(&figures).line(),
            "1 sitemap done, 2 queued, 3,000 entries, 5 pages, 1 error"
        );
    }

    #[test]
    fn view_is_cut_to_the_width() {
        let progress = CheckProgress::default();
        progress.figures().queued = 1;
        progress.turn_to(&Loc::parse("https://h.example/a-long-name/sitemap.xml").unwrap());
        let figures = || progress.figures().clone();
        let (short, long) = (Duration::from_millis(1_900), Duration::from_millis(61_500));
        let check = |elapsed, host, width, expected: &[&str]| {
            assert_eq!(
                FiguresView(&figures()).lines(elapsed, host, width),
                expected
            );
        };
        let line = "  0 sitemaps done, 1 queued, 0 entries";
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
}
