//! The clocks of one host: what is out, when the last start and end were, and what trouble there is.

use std::{cmp::Reverse, collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{
    Closed, HostState, HostTally, NextPermit, Settings, Signal, Weight, after, end_of_wait,
    latency::Latency,
};
use crate::url_key::Origin;

/// Rate and concurrency are divided by at most this: four steps of ten seconds lead back to the full pace.
const MAX_SLOWDOWN: u32 = 16;

/// Time between two starts that a slowdown multiplies when the rate is unlimited: 100 per second.
const UNLIMITED_INTERVAL: Duration = Duration::from_millis(10);

/// First tries whose answers are looked at together.
const WINDOW: usize = 10;

/// Failures among them that halve the pace.
const FAILURES_PER_STEP: usize = 3;

/// Time after a change of pace before the pace doubles.
const STEP_BACK: Duration = Duration::from_secs(10);

/// Good answers that doubling the pace needs beside the time.
const GOOD_PER_STEP: u32 = 3;

/// The longest that [`STEP_BACK`] becomes for a host that refuses whenever the pace has doubled.
const MAX_STEP_BACK: Duration = Duration::from_secs(10 * 60);

/// URLs at least that ask for a longer wait than the settings allow before it counts as the host's wish.
const LONG_WAITS: usize = 5;

/// The share of one more permit in the usual time of a permit.
const PERMIT_TIME_DIVISOR: u32 = 8;

/// Origins of a host (schemes and ports) whose `Crawl-delay` is kept. Two are usual.
const MAX_CRAWL_DELAYS: usize = 16;

/// The clocks of one host.
#[derive(Debug, Default)]
pub(super) struct HostClocks {
    /// When the permits that are out started.
    out: Vec<Instant>,
    /// The newest start among the permits that came back used.
    last_start: Option<Instant>,
    /// The newest end.
    last_end: Option<Instant>,
    /// How long a permit is out, smoothed.
    permit_time: Option<Duration>,
    /// The delay that each robots.txt of the host asks for; none is zero.
    crawl_delays: Vec<(Origin, Duration)>,
    wait: Option<RetryAfterWait>,
    slowdown: Slowdown,
    failures: Failures,
    latency: Latency,
    /// Waits that the last [`WINDOW`] answers asked for, where that is longer than the settings allow.
    long_waits: VecDeque<Option<Instant>>,
    /// The results of the requests since it was taken last.
    tally: HostTally,
}

/// A permit that came back used.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsedPermit {
    /// The number of the permit.
    pub(super) number: u64,
    /// The number that the next permit will get.
    pub(super) next_number: u64,
    pub(super) started: Instant,
    pub(super) ended: Instant,
    pub(super) signal: Signal,
    pub(super) weight: Weight,
}

/// A `Retry-After` in force.
#[derive(Debug, Clone, Copy)]
struct RetryAfterWait {
    until: Instant,
    /// The wait was longer than the settings allow to wait.
    is_too_long: bool,
}

/// The factor that rate and concurrency are divided by.
#[derive(Debug)]
struct Slowdown {
    /// A power of two, 1 to [`MAX_SLOWDOWN`].
    factor: u32,
    /// The last first tries, `true` for a failure, at most [`WINDOW`]; empty after each halving.
    window: VecDeque<bool>,
    /// The first permit that began after the last halving: answers to earlier ones do not count.
    from_permit: u64,
    /// When the factor changed last.
    changed_at: Option<Instant>,
    /// When it was halved last by a doubling of the pace.
    doubled_at: Option<Instant>,
    /// Good answers since the factor changed.
    good: u32,
    /// How long the pace stays before it doubles.
    step_back: Duration,
}

impl Default for Slowdown {
    fn default() -> Self {
        Self {
            factor: 1,
            window: VecDeque::new(),
            from_permit: 0,
            changed_at: None,
            doubled_at: None,
            good: 0,
            step_back: STEP_BACK,
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
    /// The first permit that began after the last pause was called: earlier ones do not count again.
    from_permit: u64,
}

impl HostClocks {
    /// Why no permit can be given at `now`; `None` when one can.
    pub(super) fn refusal(&mut self, settings: &Settings, now: Instant) -> Option<NextPermit> {
        self.wait = self.wait.filter(|wait| wait.until > now);
        self.failures.pause_until = self.failures.pause_until.filter(|&until| until > now);
        self.step_back(now);
        if self.failures.is_down {
            return Some(NextPermit::Closed(Closed::Down));
        }
        if let Some(RetryAfterWait {
            until,
            is_too_long: true,
        }) = self.wait
        {
            return Some(NextPermit::Closed(Closed::RetryAfter(until)));
        }
        if self.out.len() >= self.concurrency(settings) {
            return Some(NextPermit::Busy);
        }
        self.ready_at(settings)
            .filter(|&at| at > now)
            .map(NextPermit::WaitUntil)
    }

    /// A permit was given out at `now`.
    pub(super) fn start(&mut self, now: Instant) {
        self.out.push(now);
    }

    /// A permit came back used. Returns the wait that its answer adds to [`HostTally::waited`].
    pub(super) fn finish(&mut self, settings: &Settings, answer: UsedPermit) -> Duration {
        let UsedPermit { started, ended, .. } = answer;
        self.give_back(started);
        self.last_start = self.last_start.max(Some(started));
        self.last_end = self.last_end.max(Some(ended));
        self.note_permit_time(ended.saturating_duration_since(started));
        let blocked = self.blocked_until(ended);
        self.tally.requests += 1;
        self.note_wait(settings, answer);
        match answer.signal {
            Signal::Fine { latency } => {
                self.failures.in_row = 0;
                self.failures.pauses = 0;
                self.good_answer(answer, latency);
            }
            Signal::Overloaded { .. } | Signal::ServerError { .. } | Signal::Unreachable => {
                self.failure(settings, answer);
            }
            Signal::Local if answer.number >= self.failures.from_permit => {
                self.pause(settings, answer);
            }
            Signal::Local | Signal::Neutral => {}
        }
        let waited = self.blocked_until(ended) - blocked;
        self.tally.waited += waited;
        waited
    }

    /// The end of the waits and pauses in force after `now`, but for a wait that closes the host.
    fn blocked_until(&self, now: Instant) -> Instant {
        let wait = self.wait.filter(|wait| !wait.is_too_long);
        let until = wait.map(|wait| wait.until);
        until
            .max(self.failures.pause_until)
            .map_or(now, |until| until.max(now))
    }

    /// The results of the requests since the last call.
    pub(super) fn take_tally(&mut self) -> HostTally {
        std::mem::take(&mut self.tally)
    }

    /// Obeys a `Retry-After` up to `max_retry_after`. A longer one is about its URL, until most answers ask for one.
    fn note_wait(&mut self, settings: &Settings, answer: UsedPermit) {
        let UsedPermit { ended, signal, .. } = answer;
        let max_retry_after = settings.config.max_retry_after;
        // A `Retry-After: 0` asks for nothing.
        let wait = signal.retry_after().filter(|wait| !wait.is_zero());
        let until = wait.map(|wait| end_of_wait(wait, ended, max_retry_after));
        let is_long = wait.is_some_and(|wait| wait > max_retry_after);
        if self.long_waits.len() == WINDOW {
            self.long_waits.pop_front();
        }
        self.long_waits.push_back(until.filter(|_| is_long));
        let long = self.long_waits.iter().flatten();
        let (count, latest) = (long.clone().count(), long.max().copied());
        match until {
            Some(until) if !is_long => {
                self.tally.retry_afters += 1;
                self.wait_until(until, ended, max_retry_after);
            }
            Some(until) if count >= LONG_WAITS && count * 2 > self.long_waits.len() => {
                self.wait_until(latest.unwrap_or(until), ended, max_retry_after);
            }
            Some(_) | None => {}
        }
    }

    /// A permit that started at `started` came back unused, or is about to be counted as used.
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

    /// Lets the host wait until `until`, never shorter than it already is. One that ends later than `max_retry_after` from
    /// `now` closes the host.
    pub(super) fn wait_until(&mut self, until: Instant, now: Instant, max_retry_after: Duration) {
        let is_too_long = until.saturating_duration_since(now) > max_retry_after;
        let previous = self.wait.filter(|wait| wait.until > now);
        self.wait = Some(RetryAfterWait {
            until: previous.map_or(until, |wait| wait.until.max(until)),
            is_too_long: is_too_long || previous.is_some_and(|wait| wait.is_too_long),
        });
    }

    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.wait.map(|wait| wait.until)
    }

    /// Forgets what earlier trouble led to, except a `Retry-After`, unless permits are out.
    pub(super) fn forget_trouble(&mut self) {
        if self.forget_failures() {
            self.slowdown = Slowdown {
                from_permit: self.slowdown.from_permit,
                ..Slowdown::default()
            };
        }
    }

    /// Forgets failures in a row and pauses, unless permits are out; returns whether it did.
    pub(super) fn forget_failures(&mut self) -> bool {
        let is_idle = self.out.is_empty();
        if is_idle {
            self.failures = Failures {
                from_permit: self.failures.from_permit,
                ..Failures::default()
            };
        }
        is_idle
    }

    pub(super) fn state(&self, settings: &Settings, now: Instant) -> HostState {
        let wait = self.wait.filter(|wait| wait.until > now);
        let pause = self.failures.pause_until.filter(|&until| until > now);
        if self.failures.is_down || wait.is_some_and(|wait| wait.is_too_long) {
            HostState::Closed
        } else if let Some(wait) = wait {
            HostState::RetryAfter(wait.until - now)
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
        let permit_time = self.permit_time.unwrap_or_default();
        let at_once = u32::try_from(self.concurrency(settings)).unwrap_or(u32::MAX);
        let from_end = self.delay(settings).map_or(permit_time / at_once, |delay| {
            delay.saturating_add(permit_time)
        });
        Some(from_end.max(self.interval(settings))).filter(|pace| !pace.is_zero())
    }

    /// Returns whether forgetting the host changes nothing about when its next request may start.
    pub(super) fn is_forgettable(&self, settings: &Settings, now: Instant) -> bool {
        self.out.is_empty()
            && self.crawl_delays.is_empty()
            && self.slowdown.factor == 1
            && self.failures.in_row == 0
            && self.failures.pauses == 0
            && !self.failures.is_down
            && self.ready_at(settings).is_none_or(|at| at <= now)
    }

    /// Permits that may be out at once.
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
            factor if settings.interval.is_zero() => UNLIMITED_INTERVAL * factor,
            factor => settings.interval.saturating_mul(factor),
        }
    }

    /// Time from the end of an answer to the next start, when the host or the settings ask for one.
    fn delay(&self, settings: &Settings) -> Option<Duration> {
        let delay = settings.config.delay.max(self.crawl_delay());
        delay.filter(|delay| !delay.is_zero())
    }

    /// The earliest instant at which only permits that are out prevent a start.
    fn ready_at(&self, settings: &Settings) -> Option<Instant> {
        let last_start = self.out.iter().copied().max().max(self.last_start);
        let spaced = last_start.map(|start| after(start, self.interval(settings)));
        let delayed = self
            .last_end
            .zip(self.delay(settings))
            .map(|(end, delay)| after(end, delay));
        let held = self.wait.map(|wait| wait.until);
        spaced.max(delayed).max(held).max(self.failures.pause_until)
    }

    fn note_permit_time(&mut self, time: Duration) {
        self.permit_time = Some(match self.permit_time {
            Some(usual) => {
                usual
                    .saturating_mul(PERMIT_TIME_DIVISOR - 1)
                    .saturating_add(time)
                    / PERMIT_TIME_DIVISOR
            }
            None => time,
        });
    }

    fn good_answer(&mut self, answer: UsedPermit, latency: Duration) {
        if answer.number < self.slowdown.from_permit {
            return;
        }
        self.note_in_window(false, answer.weight);
        if self.latency.has_doubled(latency) {
            self.halve(answer);
            return;
        }
        self.slowdown.good = self.slowdown.good.saturating_add(1);
        self.step_back(answer.ended);
    }

    /// Doubles the pace when it was kept long enough and enough answers were good.
    fn step_back(&mut self, now: Instant) {
        let slowdown = &mut self.slowdown;
        let is_due = slowdown
            .changed_at
            .is_some_and(|changed| now >= after(changed, slowdown.step_back));
        if slowdown.factor == 1 || slowdown.good < GOOD_PER_STEP || !is_due {
            return;
        }
        slowdown.factor /= 2;
        slowdown.changed_at = Some(now);
        slowdown.doubled_at = Some(now);
        slowdown.good = 0;
        self.latency.start_over();
    }

    /// The host refused a request: soon after a doubling of the pace that makes the next one wait twice as long.
    fn note_refusal(&mut self, now: Instant) {
        let slowdown = &mut self.slowdown;
        let doubled_at = slowdown.doubled_at;
        if doubled_at.is_some_and(|doubled| now <= after(doubled, STEP_BACK)) {
            slowdown.step_back = (slowdown.step_back * 2).min(MAX_STEP_BACK);
            slowdown.doubled_at = None;
        }
    }

    fn note_in_window(&mut self, is_failure: bool, weight: Weight) {
        if weight == Weight::Counted {
            let window = &mut self.slowdown.window;
            if window.len() == WINDOW {
                window.pop_front();
            }
            window.push_back(is_failure);
        }
    }

    /// Halves the pace.
    fn halve(&mut self, answer: UsedPermit) {
        self.tally.slowdowns += 1;
        let slowdown = &mut self.slowdown;
        slowdown.factor = (slowdown.factor * 2).min(MAX_SLOWDOWN);
        slowdown.window.clear();
        slowdown.from_permit = answer.next_number;
        slowdown.changed_at = Some(answer.ended);
        slowdown.good = 0;
        self.latency.start_over();
    }

    /// One more failure of the host.
    fn failure(&mut self, settings: &Settings, answer: UsedPermit) {
        if answer.weight == Weight::Ignored {
            return;
        }
        if let Signal::Overloaded { .. } = answer.signal {
            self.note_refusal(answer.ended);
        }
        if answer.number >= self.slowdown.from_permit {
            self.note_in_window(true, answer.weight);
            let window = &self.slowdown.window;
            if window.iter().filter(|failed| **failed).count() >= FAILURES_PER_STEP {
                self.halve(answer);
            }
        }
        // A host that states when to come back is up.
        let asks = answer.signal.retry_after();
        if answer.number < self.failures.from_permit || asks.is_some_and(|wait| !wait.is_zero()) {
            return;
        }
        self.failures.in_row += 1;
        if self.failures.in_row >= settings.config.failures_before_pause {
            self.pause(settings, answer);
        }
    }

    /// Pauses the host, twice as long each time; after too many pauses it is down.
    fn pause(&mut self, settings: &Settings, answer: UsedPermit) {
        let (config, failures) = (&settings.config, &mut self.failures);
        failures.in_row = 0;
        failures.from_permit = answer.next_number;
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
