//! What happens beside the work: the newest progress is shown, signals are obeyed. It knows nothing of
//! what the work is.

use std::{future::Future, io, pin::pin, time::Duration};

use crawler::engine::Progress;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval},
};

use crate::{
    exit_code::ExitCode,
    human,
    live::{Speed, View},
    output::Output,
    panicked::{Panicked, caught},
    signal::{Reaction, Signals, Stop, StopSignal},
};

/// Time that requests in flight get to finish after the first signal.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Time between two looks at the progress on a terminal, and without one.
const TICK: Duration = Duration::from_millis(100);
const CALM_TICK: Duration = Duration::from_millis(500);

/// Without a terminal: when the first line about the progress is due, and the time between lines.
const FIRST_LINE: Duration = Duration::from_secs(5);
const LINE_GAP: Duration = Duration::from_secs(30);

/// Work whose progress can be shown.
pub(crate) trait Watched {
    /// Redraws the live view; without a terminal, says a line now and then.
    fn show(&mut self, output: &Output);

    /// Says what is told once.
    fn say_news(&mut self, output: &Output);
}

/// When lines about the progress are due where nothing can be redrawn.
#[derive(Debug)]
pub(crate) struct Lines {
    next: Duration,
}

impl Default for Lines {
    fn default() -> Self {
        Self { next: FIRST_LINE }
    }
}

impl Lines {
    /// Whether a line is due, `elapsed` after the beginning.
    pub(crate) fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed >= self.next;
        if is_due {
            self.next = elapsed + LINE_GAP;
        }
        is_due
    }
}

/// Stands beside the work of the whole program.
#[derive(Debug)]
pub(crate) struct Attendant {
    output: Output,
    signals: Signals,
    stop: Stop,
    abort_at: Option<Instant>,
    /// Servers are asked: what is said of a stop speaks of requests.
    sends_requests: bool,
}

impl Attendant {
    /// Starts listening to signals; needs a running runtime.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn new(output: &Output) -> io::Result<Self> {
        Ok(Self {
            output: output.clone(),
            signals: Signals::listen()?,
            stop: Stop::default(),
            abort_at: None,
            sends_requests: true,
        })
    }

    /// The same for work that waits for no answer of a server.
    pub(crate) fn of_work_without_requests(mut self) -> Self {
        self.sends_requests = false;
        self
    }

    /// Stops the work when a signal came.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Runs `work` to its end.
    ///
    /// # Errors
    /// It panicked.
    pub(crate) async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        mut progress: Option<&mut dyn Watched>,
    ) -> Result<T, Panicked> {
        let mut work = pin!(caught(work));
        let mut ticks = interval(if self.output.is_terminal() {
            TICK
        } else {
            CALM_TICK
        });
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let ended = loop {
            tokio::select! {
                // Dropped is only the borrow: the work goes on in the next round.
                ended = &mut work => break ended,
                // Cancel safe: a signal that was not taken stays.
                signal = self.signals.next() => self.obey(signal),
                // Cancel safe: a tick that was not taken comes again.
                _ = ticks.tick() => {
                    if let Some(progress) = &mut progress {
                        progress.show(&self.output);
                    }
                    self.abort_after_grace();
                }
            }
        };
        if let Some(progress) = progress {
            progress.say_news(&self.output);
        }
        self.output.hide();
        ended
    }

    fn obey(&mut self, signal: StopSignal) {
        match self.stop.obey(signal) {
            Reaction::Stopping => {
                self.abort_at = Some(Instant::now() + STOP_GRACE);
                self.output.say(if self.sends_requests {
                    "stopping: no new requests; a second signal drops those in flight"
                } else {
                    "stopping; a second signal does not wait"
                });
            }
            Reaction::Aborting => self.output.say(if self.sends_requests {
                "stopping now: requests in flight are dropped"
            } else {
                "stopping now"
            }),
            Reaction::Dying => {
                self.output.hide();
                self.output.error("ended at once by a third signal");
                // A clean way out was asked for twice, and did not come.
                std::process::exit(ExitCode::from(signal) as i32);
            }
        }
    }

    fn abort_after_grace(&mut self) {
        if self.abort_at.is_some_and(|due| due <= Instant::now())
            && !self.stop.shutdown.is_aborting()
        {
            self.stop.shutdown.abort();
            self.output.say(if self.sends_requests {
                "requests in flight did not end in time and are dropped"
            } else {
                "stopping now: the work did not end in time"
            });
        }
    }
}

/// Shows the progress of one crawl.
#[derive(Debug)]
pub(crate) struct ProgressView {
    newest: watch::Receiver<Progress>,
    /// The `delay` setting.
    delay: Option<Duration>,
    began: Instant,
    speed: Speed,
    lines: Lines,
    site_is_told: bool,
    resume_is_told: bool,
    notices_told: usize,
}

impl ProgressView {
    /// Of a crawl that begins now and sends its progress to `newest`.
    pub(crate) fn new(newest: watch::Receiver<Progress>, delay: Option<Duration>) -> Self {
        Self {
            newest,
            delay,
            began: Instant::now(),
            speed: Speed::default(),
            lines: Lines::default(),
            site_is_told: false,
            resume_is_told: false,
            notices_told: 0,
        }
    }

    /// The newest progress.
    pub(crate) fn newest(&self) -> Progress {
        self.newest.borrow().clone()
    }

    /// Says those of `notices`, a list that only grows, that were not said before.
    fn say_notices(&mut self, notices: &[String], output: &Output) {
        for notice in notices.iter().skip(self.notices_told) {
            output.warn(notice);
        }
        self.notices_told = self.notices_told.max(notices.len());
    }
}

impl Watched for ProgressView {
    fn show(&mut self, output: &Output) {
        self.say_news(output);
        let progress = self.newest();
        let elapsed = self.began.elapsed();
        self.speed.note(elapsed, progress.fetched);
        let view = View {
            progress: &progress,
            per_second: self.speed.per_second(),
            delay: self.delay,
        };
        if output.is_terminal() {
            // One column stays free: some terminals wrap after a full line.
            output.show(&view.lines(Output::width().saturating_sub(1)));
        } else if self.lines.is_due(elapsed) {
            output.say(&view.log_line());
        }
    }

    /// Says what is told once: the site, and each notice.
    fn say_news(&mut self, output: &Output) {
        let progress = self.newest();
        if let (Some(site), false) = (&progress.site, self.site_is_told) {
            self.site_is_told = true;
            let written_as = site
                .stand_in
                .as_ref()
                .map(|stand_in| format!(", as {}", stand_in.original_directory()))
                .unwrap_or_default();
            output.say(&format!(
                "crawling {} and everything below it{written_as}",
                site.url()
            ));
        }
        // Known a moment later: the state is opened in between.
        if let Some(resumed) = progress.resumed.filter(|_| !self.resume_is_told) {
            self.resume_is_told = true;
            output.say(&format!(
                "going on with the run that was not finished: {} known, {} waiting",
                human::count(resumed.known, "URL"),
                human::number(resumed.queued)
            ));
        }
        self.say_notices(&progress.notices, output);
    }
}
