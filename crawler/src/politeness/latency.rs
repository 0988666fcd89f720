//! Detects that a host has become slow: the typical latency of the last answers against the long-term one.

use std::{collections::VecDeque, time::Duration};

/// Answers whose median is the typical latency. Odd, and large enough that a few slow pages do not
/// move it.
const WINDOW: usize = 15;

/// A rise below this is noise, however many times the baseline it is.
const SMALLEST_RISE: Duration = Duration::from_millis(250);

/// The baseline follows a slow rise by this fraction of the difference per answer ...
const RISE_DIVISOR: u32 = 1_024;

/// ... and a fall by this one.
const FALL_DIVISOR: u32 = 8;

/// The latencies of one host.
#[derive(Debug, Default)]
pub(super) struct Latency {
    /// Latencies of the last answers, at most [`WINDOW`].
    recent: VecDeque<Duration>,
    /// The usual latency of the host; known after the first full window.
    baseline: Option<Duration>,
}

impl Latency {
    /// Takes the latency of one more answer. Returns whether the typical latency has doubled; it is the
    /// new baseline then, so that pages that are simply slower cost one step and not one per answer.
    pub(super) fn has_doubled(&mut self, latency: Duration) -> bool {
        if self.recent.len() == WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(latency);
        if self.recent.len() < WINDOW {
            return false;
        }
        let typical = self.median();
        let Some(baseline) = self.baseline else {
            self.baseline = Some(typical);
            return false;
        };
        if typical >= baseline.saturating_mul(2)
            && typical >= baseline.saturating_add(SMALLEST_RISE)
        {
            self.baseline = Some(typical);
            return true;
        }
        let rise = typical.saturating_sub(baseline) / RISE_DIVISOR;
        let fall = baseline.saturating_sub(typical) / FALL_DIVISOR;
        self.baseline = Some(baseline.saturating_add(rise).saturating_sub(fall));
        false
    }

    /// Forgets the last answers, not the baseline: what comes next is measured under another pace.
    pub(super) fn start_over(&mut self) {
        self.recent.clear();
    }

    fn median(&self) -> Duration {
        let mut sorted: Vec<Duration> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}
