//! Runs beside the work: shows the newest progress, obeys signals. It is independent of the work.

use std::{future::Future, pin::pin, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval};

use crawler::failure::{Panicked, caught};

use crate::{
    exit_code::ExitCode,
    failure::{self, Context as _},
    output::Output,
    signal::{Reaction, Signals, Stop, StopSignal},
};

/// Time that requests in flight get to finish after the first signal.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// Time after the first signal in which the process ends in any case: service managers kill it a little later.
const STOP_TIMEOUT: Duration = Duration::from_secs(9);

/// Time between two looks at the progress on a terminal, and without one.
const TICK: Duration = Duration::from_millis(100);
const CALM_TICK: Duration = Duration::from_millis(500);

/// Without a terminal: when the first line about the progress is due, and the time between lines.
const FIRST_LINE: Duration = Duration::from_secs(5);
const LINE_GAP: Duration = Duration::from_secs(30);

/// Work whose progress can be shown.
pub(crate) trait LiveView {
    /// Redraws the live view; without a terminal, prints a line now and then.
    fn show(&mut self, output: &Output);

    /// Prints news that are reported once.
    fn print_news(&mut self, output: &Output);
}

/// Times of progress lines on an output that cannot be redrawn.
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
    /// Returns whether a line is due, `elapsed` after the beginning.
    pub(crate) fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed >= self.next;
        if is_due {
            self.next = elapsed + LINE_GAP;
        }
        is_due
    }
}

/// Supervises the work of the whole program.
#[derive(Debug)]
pub(crate) struct Supervisor {
    output: Output,
    signals: Signals,
    stop: Stop,
    /// The first signal and its time.
    stopped: Option<(Instant, StopSignal)>,
    /// The work sends requests, and messages about a stop mention them.
    sends_requests: bool,
}

impl Supervisor {
    /// Starts listening to signals; needs a running runtime.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn new(output: &Output) -> failure::Result<Self> {
        let signals = Signals::listen_beside_hangups();
        Ok(Self {
            output: output.clone(),
            signals: signals.context("failed to listen to signals")?,
            stop: Stop::default(),
            stopped: None,
            sends_requests: true,
        })
    }

    /// For work that waits for no answer of a server.
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
    /// The thread panicked.
    pub(crate) async fn run<T>(
        &mut self,
        work: impl Future<Output = T>,
        mut progress: Option<&mut dyn LiveView>,
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
                    self.watch_stop();
                }
            }
        };
        if let Some(progress) = progress {
            progress.print_news(&self.output);
        }
        self.output.hide();
        ended
    }

    fn obey(&mut self, signal: StopSignal) {
        match self.stop.obey(signal) {
            Reaction::Stopping => {
                self.stopped = Some((Instant::now(), signal));
                self.output.info(if self.sends_requests {
                    "stopping: no new requests; a second signal drops the requests in flight"
                } else {
                    "stopping; a second signal stops at once"
                });
            }
            Reaction::Aborting => self.output.info(if self.sends_requests {
                "stopping now: requests in flight are dropped"
            } else {
                "stopping now"
            }),
            Reaction::Dying => self.die("stopped at once by a third signal", signal),
        }
    }

    /// Ends the process as it is: the clean stop was not in time.
    fn die(&self, why: &str, signal: StopSignal) -> ! {
        self.output.hide();
        self.output.error(why);
        std::process::exit(ExitCode::from(signal) as i32)
    }

    fn watch_stop(&mut self) {
        let Some((began, signal)) = self.stopped else {
            return;
        };
        if began.elapsed() >= STOP_TIMEOUT {
            let why = "the work did not end in time; the next start continues as after a crash";
            self.die(why, signal);
        }
        if began.elapsed() >= STOP_GRACE && !self.stop.shutdown.is_aborting() {
            self.stop.shutdown.abort();
            self.output.info(if self.sends_requests {
                "requests in flight did not end in time and are dropped"
            } else {
                "stopping now: the work did not end in time"
            });
        }
    }
}
