//! The clocks of one host: what is out, when the last start and end were, and what trouble there is.

use std::{cmp::Reverse, time::Duration};

use tokio::time::Instant;

use super::{Closed, HostState, NextTurn, Settings, Signal, after, latency::Latency};
use crate::url_key::Origin;

/// Rate and concurrency are divided by at most this.
const MAX_SLOWDOWN: u32 = 64;

/// A slowdown stretches a pause to at most this; a pause that is longer by itself stays as it is.
const MAX_STRETCHED: Duration = Duration::from_secs(60);

/// Time between two starts that a slowdown multiplies when the rate is unlimited: 100 per second.
const UNLIMITED_INTERVAL: Duration = Duration::from_millis(10);

/// Fine answers in a row that take one step of slowdown back.
const ANSWERS_PER_STEP: u32 = 20;

/// Fine answers in a row that take one step back, at most: it doubles whenever a step back led into trouble again, so that a host with a
/// limit of its own is not driven against it all the time.
const MAX_ANSWERS_PER_STEP: u32 = 640;

/// The share of one more turn in the usual time of a turn.
const TURN_TIME_DIVISOR: u32 = 8;

/// Origins of a host (schemes and ports) whose `Crawl-delay` is kept. Two are usual.
const MAX_CRAWL_DELAYS: usize = 16;

/// The clocks of one host.
#[derive(Debug, Default)]
pub(super) struct HostClocks {
    /// When the turns that are out started.
    out: Vec<Instant>,
    /// The newest start among the turns that came back used.
    last_start: Option<Instant>,
    /// The newest end.
    last_end: Option<Instant>,
    /// How long a turn is out, smoothed.
    turn_time: Option<Duration>,
    /// What each robots.txt of the host asks for; none is zero.
    crawl_delays: Vec<(Origin, Duration)>,
    hold: Option<Hold>,
    slowdown: Slowdown,
    failures: Failures,
    latency: Latency,
}

/// A turn that came back used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    /// The number of the turn.
    pub(super) number: u64,
    /// The number that the next turn will get.
    pub(super) next_number: u64,
    pub(super) started: Instant,
    pub(super) ended: Instant,
    pub(super) signal: Signal,
}

/// A `Retry-After` in force.
#[derive(Debug, Clone, Copy)]
struct Hold {
    until: Instant,
    /// It was longer than the settings allow to wait.
    is_too_long: bool,
}

/// The factor that rate and concurrency are divided by.
#[derive(Debug)]
struct Slowdown {
    /// A power of two, 1 to [`MAX_SLOWDOWN`].
    factor: u32,
    /// Fine answers since the last trouble or step back.
    fine_in_row: u32,
    /// Fine answers in a row that the next step back needs.
    answers_per_step: u32,
    /// A step back was taken and has not proved itself yet.
    is_probing: bool,
    /// The first turn that began after the last slowdown: earlier ones do not slow down again.
    from_turn: u64,
}

impl Default for Slowdown {
    fn default() -> Self {
        Self {
            factor: 1,
            fine_in_row: 0,
            answers_per_step: ANSWERS_PER_STEP,
            is_probing: false,
            from_turn: 0,
        }
    }
}

/// Failures in a row, and the pauses they led to.
#[derive(Debug, Default)]
struct Failures {
    in_row: u32,
    pauses: u32,
    pause_until: Option<Instant>,
    is_down: bool,
    /// The first turn that began after the last pause was called: earlier ones do not count again.
    from_turn: u64,
}

impl HostClocks {
    /// Why no turn can be given at `now`; `None` when one can.
    pub(super) fn refusal(&mut self, settings: &Settings, now: Instant) -> Option<NextTurn> {
        self.hold = self.hold.filter(|hold| hold.until > now);
        self.failures.pause_until = self.failures.pause_until.filter(|&until| until > now);
        if self.failures.is_down {
            return Some(NextTurn::Closed(Closed::Down));
        }
        if let Some(Hold {
            until,
            is_too_long: true,
        }) = self.hold
        {
            return Some(NextTurn::Closed(Closed::RetryAfter(until)));
        }
        if self.out.len() >= self.concurrency(settings) {
            return Some(NextTurn::Busy);
        }
        self.ready_at(settings)
            .filter(|&at| at > now)
            .map(NextTurn::WaitUntil)
    }

    /// A turn was given out at `now`.
    pub(super) fn start(&mut self, now: Instant) {
        self.out.push(now);
    }

    /// A turn came back used.
    pub(super) fn finish(&mut self, settings: &Settings, answer: Answer) {
        let Answer { started, ended, .. } = answer;
        let max_retry_after = settings.config.max_retry_after;
        self.give_back(started);
        self.last_start = self.last_start.max(Some(started));
        self.last_end = self.last_end.max(Some(ended));
        self.note_turn_time(ended.saturating_duration_since(started));
        match answer.signal {
            Signal::Fine { latency } => {
                self.failures.in_row = 0;
                self.failures.pauses = 0;
                self.fine_answer(answer, latency);
            }
            Signal::Overloaded { retry_after } => {
                self.slow_down(answer);
                // A `Retry-After: 0` says nothing.
                if let Some(wait) = retry_after.filter(|wait| !wait.is_zero()) {
                    self.hold_until(after(ended, wait), ended, max_retry_after);
                } else {
                    self.failure(settings, answer);
                }
            }
            Signal::ServerError { retry_after } => {
                self.slow_down(answer);
                if let Some(wait) = retry_after {
                    self.hold_until(after(ended, wait), ended, max_retry_after);
                }
            }
            Signal::Unreachable => {
                self.slow_down(answer);
                self.failure(settings, answer);
            }
            Signal::Neutral => {}
        }
    }

    /// A turn that started at `started` came back unused, or is about to be counted as used.
    pub(super) fn give_back(&mut self, started: Instant) {
        if let Some(position) = self.out.iter().position(|&start| start == started) {
            self.out.swap_remove(position);
        }
    }

    /// Sets the `Crawl-delay` of `origin`, never zero.
    pub(super) fn set_crawl_delay(&mut self, origin: &Origin, delay: Option<Duration>) {
        self.crawl_delays.retain(|(known, _)| known != origin);
        self.crawl_delays
            .extend(delay.map(|delay| (origin.clone(), delay)));
        if self.crawl_delays.len() > MAX_CRAWL_DELAYS {
            // The largest is the one that holds.
            self.crawl_delays.sort_by_key(|(_, delay)| Reverse(*delay));
            self.crawl_delays.truncate(MAX_CRAWL_DELAYS);
        }
    }

    fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delays.iter().map(|(_, delay)| *delay).max()
    }

    /// Holds the host until `until`, never shorter than it already is.
    pub(super) fn hold_until(&mut self, until: Instant, now: Instant, max_retry_after: Duration) {
        let is_too_long = until.saturating_duration_since(now) > max_retry_after;
        let previous = self.hold.filter(|hold| hold.until > now);
        self.hold = Some(Hold {
            until: previous.map_or(until, |hold| hold.until.max(until)),
            is_too_long: is_too_long || previous.is_some_and(|hold| hold.is_too_long),
        });
    }

    pub(super) fn held_until(&self) -> Option<Instant> {
        self.hold.map(|hold| hold.until)
    }

    /// Forgets what earlier trouble led to, except a `Retry-After`, unless turns are out.
    pub(super) fn forget_trouble(&mut self) {
        if self.out.is_empty() {
            self.slowdown = Slowdown {
                from_turn: self.slowdown.from_turn,
                ..Slowdown::default()
            };
            self.failures = Failures {
                from_turn: self.failures.from_turn,
                ..Failures::default()
            };
        }
    }

    pub(super) fn state(&self, settings: &Settings, now: Instant) -> HostState {
        let hold = self.hold.filter(|hold| hold.until > now);
        let pause = self.failures.pause_until.filter(|&until| until > now);
        if self.failures.is_down || hold.is_some_and(|hold| hold.is_too_long) {
            HostState::Closed
        } else if let Some(hold) = hold {
            HostState::RetryAfter(hold.until - now)
        } else if let Some(until) = pause {
            HostState::Pausing(until - now)
        } else if self.slowdown.factor > 1 {
            HostState::SlowedDown(self.slowdown.factor)
        } else if let Some(delay) = self.delay(settings) {
            HostState::Delay(delay)
        } else {
            HostState::Open
        }
    }

    /// Time from one start to the next when nothing but the pauses and the host's own slowness limits it.
    pub(super) fn pace(&self, settings: &Settings) -> Option<Duration> {
        let turn_time = self.turn_time.unwrap_or_default();
        let at_once = u32::try_from(self.concurrency(settings)).unwrap_or(u32::MAX);
        let from_end = self
            .delay(settings)
            .map_or(turn_time / at_once, |delay| delay.saturating_add(turn_time));
        Some(from_end.max(self.interval(settings))).filter(|pace| !pace.is_zero())
    }

    /// Whether forgetting the host changes nothing about when its next request may start.
    pub(super) fn is_forgettable(&self, settings: &Settings, now: Instant) -> bool {
        self.out.is_empty()
            && self.crawl_delays.is_empty()
            && self.slowdown.factor == 1
            && self.failures.in_row == 0
            && self.failures.pauses == 0
            && !self.failures.is_down
            && self.ready_at(settings).is_none_or(|at| at <= now)
    }

    /// Turns that may be out at once.
    fn concurrency(&self, settings: &Settings) -> usize {
        if self.delay(settings).is_some() {
            return 1;
        }
        let slowed = settings.config.concurrency.get() / self.slowdown.factor;
        usize::try_from(slowed.max(1)).unwrap_or(usize::MAX)
    }

    /// Time between two starts.
    fn interval(&self, settings: &Settings) -> Duration {
        match self.slowdown.factor {
            1 => settings.interval,
            factor if settings.interval.is_zero() => stretch(UNLIMITED_INTERVAL, factor),
            factor => stretch(settings.interval, factor),
        }
    }

    /// Time from the end of an answer to the next start, when the host or the settings ask for one.
    fn delay(&self, settings: &Settings) -> Option<Duration> {
        let delay = settings
            .config
            .delay
            .max(self.crawl_delay())
            .filter(|delay| !delay.is_zero())?;
        Some(stretch(delay, self.slowdown.factor))
    }

    /// The earliest instant at which nothing but turns that are out stands against a start.
    fn ready_at(&self, settings: &Settings) -> Option<Instant> {
        let last_start = self.out.iter().copied().max().max(self.last_start);
        let spaced = last_start.map(|start| after(start, self.interval(settings)));
        let delayed = self
            .last_end
            .zip(self.delay(settings))
            .map(|(end, delay)| after(end, delay));
        let held = self.hold.map(|hold| hold.until);
        spaced.max(delayed).max(held).max(self.failures.pause_until)
    }

    fn note_turn_time(&mut self, time: Duration) {
        self.turn_time = Some(match self.turn_time {
            Some(usual) => {
                usual
                    .saturating_mul(TURN_TIME_DIVISOR - 1)
                    .saturating_add(time)
                    / TURN_TIME_DIVISOR
            }
            None => time,
        });
    }

    fn fine_answer(&mut self, answer: Answer, latency: Duration) {
        if answer.number < self.slowdown.from_turn {
            return;
        }
        if self.latency.has_doubled(latency) {
            self.slow_down(answer);
            return;
        }
        let slowdown = &mut self.slowdown;
        slowdown.fine_in_row += 1;
        if slowdown.fine_in_row < slowdown.answers_per_step {
            return;
        }
        slowdown.fine_in_row = 0;
        if slowdown.factor > 1 {
            slowdown.factor /= 2;
            slowdown.is_probing = true;
            self.latency.start_over();
        } else {
            slowdown.answers_per_step = ANSWERS_PER_STEP;
            slowdown.is_probing = false;
        }
    }

    /// One step slower, unless the turn began before the last step.
    fn slow_down(&mut self, answer: Answer) {
        let slowdown = &mut self.slowdown;
        if answer.number < slowdown.from_turn {
            return;
        }
        slowdown.factor = (slowdown.factor * 2).min(MAX_SLOWDOWN);
        slowdown.fine_in_row = 0;
        slowdown.from_turn = answer.next_number;
        if slowdown.is_probing {
            slowdown.is_probing = false;
            slowdown.answers_per_step = (slowdown.answers_per_step * 2).min(MAX_ANSWERS_PER_STEP);
        }
        self.latency.start_over();
    }

    /// One more failure in a row, unless the turn began before the last pause.
    fn failure(&mut self, settings: &Settings, answer: Answer) {
        let (config, failures) = (&settings.config, &mut self.failures);
        if answer.number < failures.from_turn {
            return;
        }
        failures.in_row += 1;
        if failures.in_row < config.failures_before_pause {
            return;
        }
        failures.in_row = 0;
        failures.from_turn = answer.next_number;
        if failures.pauses >= config.max_pauses {
            failures.is_down = true;
            return;
        }
        let doublings = 2_u32.saturating_pow(failures.pauses);
        let pause = config.pause.saturating_mul(doublings).min(config.max_pause);
        failures.pause_until = failures.pause_until.max(Some(after(answer.ended, pause)));
        failures.pauses += 1;
    }
}

/// `pause` times `factor`, bounded by [`MAX_STRETCHED`], never shorter than `pause`.
fn stretch(pause: Duration, factor: u32) -> Duration {
    pause.saturating_mul(factor).min(MAX_STRETCHED).max(pause)
}
