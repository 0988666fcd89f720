//! The times at which a host may be contacted: one set of clocks per host, for every request to it (robots.txt,
//! pages, redirects, sitemaps, retries). It knows no URLs and never sleeps: it takes the time as an argument and
//! answers when to come back.
//!
//! A [`Permit`] is given out only when all of these agree:
//! - the host is not closed, not waiting for a `Retry-After`, and not pausing after failures in a row;
//! - fewer than `concurrency` permits of the host are out, and fewer than `max_in_flight` of the process;
//! - with a `delay` or a `Crawl-delay`: no permit of the host is out, and the larger of the two has
//!   passed since the *end* of the last answer;
//! - `1 / rate` has passed since the last start (burst 1).
//!
//! Rate and concurrency halve when 3 of the last 10 first tries failed (429, 5xx, time-outs, broken connections), or the
//! latency doubled. After 10 s with 3 good answers they double again, never above the settings. A slowdown does not
//! change delays.
//!
//! Spacing is kept twice: by our own clocks, which know the factor and can take a permit back, and by a
//! `governor` limiter at the rate of the settings. The limiter is asked last, so a refusal elsewhere
//! costs it nothing, and a permit that comes back unused replaces it by a fresh one.

mod host;
mod latency;
mod rate;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    config::PolitenessConfig,
    machine::max_connections,
    retry_after::MAX_RETRY_AFTER,
    url_key::{HostKey, Origin},
};

use self::{
    host::{HostClocks, UsedPermit},
    rate::Limiter,
};

/// Waits never end later than this, so that no arithmetic on instants can overflow: 30 years.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Known hosts from which idle ones are looked for and forgotten, except those of sites with settings of
/// their own. A crawl meets a handful of hosts; each costs a few hundred bytes.
const HOSTS_BEFORE_CLEANUP: usize = 1_024;

/// The clocks of all hosts, shared by every engine of the process.
pub type SharedPoliteness = Arc<Mutex<Politeness>>;

/// The state of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HostState {
    /// Being crawled at full pace.
    #[default]
    Open,
    /// Waiting: `Retry-After`.
    RetryAfter(Duration),
    /// Waiting between requests: `Crawl-delay` or the `delay` setting.
    Delay(Duration),
    /// Slowed down after trouble: rate and concurrency divided by this.
    SlowedDown(u32),
    /// Pausing after failures in a row.
    Pausing(Duration),
    /// Given up for this session.
    Closed,
}

/// The results of the requests to a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostTally {
    /// Requests that ended.
    pub requests: u64,
    /// How often the pace was halved.
    pub slowdowns: u64,
    /// Answers whose `Retry-After` was obeyed.
    pub retry_afters: u64,
    /// Time in which no request could start, because of these and of pauses after failures.
    pub waited: Duration,
}

/// The clocks of all hosts of the process.
#[derive(Debug)]
pub struct Politeness {
    settings: Arc<Settings>,
    hosts: HashMap<HostKey, Host>,
    /// No host may be contacted before this.
    everybody_until: Option<Instant>,
    /// Permits that are out, over all hosts.
    in_flight: u32,
    /// Bound of the settings, or as few as there are file descriptors for.
    max_in_flight: u32,
    /// Sum of the waits of all hosts.
    waited: Duration,
    /// Number of the next permit: smaller numbers began before a slowdown.
    next_number: u64,
    /// Number of known hosts at which the next cleanup happens.
    cleanup_at: usize,
}

/// The settings, with the rate as a time between two starts.
#[derive(Debug)]
struct Settings {
    config: PolitenessConfig,
    /// Zero for an unlimited rate.
    interval: Duration,
}

impl Settings {
    fn new(config: &PolitenessConfig) -> Self {
        Self {
            config: config.clone(),
            interval: rate::interval(config.rate),
        }
    }
}

/// The data that is kept of one host.
#[derive(Debug, Default)]
struct Host {
    clocks: HostClocks,
    /// Settings of the site that is crawled there; `None`: those of the process.
    settings: Option<Arc<Settings>>,
    /// The second opinion on spacing; none for an unlimited rate.
    limiter: Option<Limiter>,
}

/// Permission to contact a host once. It must come back by [`Politeness::finish`] or
/// [`Politeness::give_back`].
#[must_use]
#[derive(Debug)]
pub struct Permit {
    host: HostKey,
    number: u64,
    started: Instant,
}

impl Permit {
    /// The host that may be contacted.
    pub fn host(&self) -> &HostKey {
        &self.host
    }
}

/// When the next request to a host may start.
#[derive(Debug)]
pub enum NextPermit {
    /// Now.
    Ready(Permit),
    /// Not before this instant.
    WaitUntil(Instant),
    /// When one of the permits that are out comes back. It may be the permit of another host, when the
    /// process has `max_in_flight` of them out.
    Busy,
    /// No more in this session: a `Retry-After` beyond the limit, or the host counts as down.
    Closed(Closed),
}

/// Why a host gets no further request in this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// `Retry-After` beyond `max_retry_after`; it ends at this instant, and the host opens again.
    RetryAfter(Instant),
    /// Too many pauses after failures in a row; only [`Politeness::forget_trouble`] opens the host again.
    Down,
}

/// The evidence of an answer about the state of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// An answer that shows a healthy host (2xx, 3xx, most 4xx), after this long.
    Fine {
        /// From sending the request to the head of the answer.
        latency: Duration,
    },
    /// 429, 502, 503, 504 or 52x: the host is in trouble, or requests come too fast for it.
    Overloaded {
        /// `Retry-After`, from now on.
        retry_after: Option<Duration>,
    },
    /// Another 5xx.
    ServerError {
        /// `Retry-After`, from now on.
        retry_after: Option<Duration>,
    },
    /// A time-out, no connection, or one that broke.
    Unreachable,
    /// This machine is at fault (no network, too few file descriptors): the host pauses at once.
    Local,
    /// The request failed for reasons of its own (TLS, protocol, refused by the address guard).
    Neutral,
}

impl Signal {
    /// The `Retry-After` of the answer, from now on.
    pub fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Overloaded { retry_after } | Self::ServerError { retry_after } => retry_after,
            Self::Fine { .. } | Self::Unreachable | Self::Local | Self::Neutral => None,
        }
    }

    /// The same answer, `Retry-After` left out.
    #[must_use]
    pub fn without_retry_after(self) -> Self {
        match self {
            Self::Overloaded { .. } => Self::Overloaded { retry_after: None },
            Self::ServerError { .. } => Self::ServerError { retry_after: None },
            Self::Fine { .. } | Self::Unreachable | Self::Local | Self::Neutral => self,
        }
    }

    /// Returns whether the answer counts as a failure of the host.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Overloaded { .. } | Self::ServerError { .. } | Self::Unreachable => true,
            Self::Fine { .. } | Self::Local | Self::Neutral => false,
        }
    }
}

/// The weight of a failure as trouble of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The first try of a URL.
    Counted,
    /// Another try of a URL that counted already, or a URL of a directory that fails while others answer.
    Ignored,
}

impl Politeness {
    /// Clocks under these settings, which hold for every host that has none of its own.
    pub fn new(config: &PolitenessConfig) -> Self {
        Self {
            settings: Arc::new(Settings::new(config)),
            hosts: HashMap::new(),
            everybody_until: None,
            in_flight: 0,
            max_in_flight: max_connections(config.max_in_flight.get()),
            waited: Duration::ZERO,
            next_number: 0,
            cleanup_at: HOSTS_BEFORE_CLEANUP,
        }
    }

    /// From now on these settings hold for every host that has none of its own. What is known of the hosts
    /// stays known.
    pub fn set_shared_settings(&mut self, config: &PolitenessConfig) {
        let settings = Settings::new(config);
        if self.settings.interval != settings.interval {
            for known in self
                .hosts
                .values_mut()
                .filter(|known| known.settings.is_none())
            {
                // The next permit begins a new one; until then the clocks know when the last start was.
                known.limiter = None;
            }
        }
        self.settings = Arc::new(settings);
        self.max_in_flight = max_connections(config.max_in_flight.get());
    }

    /// From now on `host` is contacted under the settings of the site that is crawled there, except for
    /// `max_in_flight`, which is that of the process. What is known of the host stays known.
    pub fn set_settings(&mut self, host: &HostKey, config: &PolitenessConfig) {
        let settings = Settings::new(config);
        let known = self.hosts.entry(host.clone()).or_default();
        let before = known.settings.as_ref().unwrap_or(&self.settings);
        if before.interval != settings.interval {
            // The next permit begins a new one; until then the clocks know when the last start was.
            known.limiter = None;
        }
        known.settings = Some(Arc::new(settings));
    }

    /// Resets the effects of failures at `host` (slowdown, failures in a row, pauses, counting as down), unless requests
    /// are out. A `Retry-After` and the spacing stay in force.
    pub fn forget_trouble(&mut self, host: &HostKey) {
        if let Some(known) = self.hosts.get_mut(host) {
            known.clocks.forget_trouble();
        }
    }

    /// Lets a host that counts as down be asked again, as slowly as before; returns whether it is. It is not while requests are
    /// out.
    pub fn reopen(&mut self, host: &HostKey) -> bool {
        self.hosts
            .get_mut(host)
            .is_none_or(|known| known.clocks.forget_failures())
    }

    /// The results of the requests to `host` since the last call.
    pub fn take_tally(&mut self, host: &HostKey) -> HostTally {
        let known = self.hosts.get_mut(host);
        known
            .map(|known| known.clocks.take_tally())
            .unwrap_or_default()
    }

    /// Requests in flight to all hosts.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Sum of [`HostTally::waited`] of all hosts since the process began.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Asks for a permit at `host`.
    pub fn next(&mut self, host: &HostKey, now: Instant) -> NextPermit {
        let settings = self.settings_of(host);
        if let Some(known) = self.hosts.get_mut(host)
            && let Some(refusal) = known.clocks.refusal(&settings, now)
        {
            return refusal;
        }
        if let Some(until) = self.everybody_until.filter(|&until| until > now) {
            return NextPermit::WaitUntil(until);
        }
        if self.in_flight >= self.max_in_flight {
            return NextPermit::Busy;
        }
        let number = self.next_number;
        let known = self.host(host, now);
        if let Some(Err(at)) = known.limiter.as_ref().map(|limiter| limiter.check(now)) {
            return NextPermit::WaitUntil(at);
        }
        known.clocks.start(now);
        self.next_number += 1;
        self.in_flight += 1;
        NextPermit::Ready(Permit {
            host: host.clone(),
            number,
            started: now,
        })
    }

    /// Takes a permit back after its request ended at `now`.
    pub fn finish(&mut self, permit: Permit, signal: Signal, weight: Weight, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Permit {
            host,
            number,
            started,
        } = permit;
        let settings = self.settings_of(&host);
        if let Some(known) = self.hosts.get_mut(&host) {
            let next_number = self.next_number;
            self.waited += known.clocks.finish(
                &settings,
                UsedPermit {
                    number,
                    next_number,
                    started,
                    ended: now,
                    signal,
                    weight,
                },
            );
        }
    }

    /// Takes back a permit that was not used: as if it had never been given.
    pub fn give_back(&mut self, permit: Permit) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Permit { host, started, .. } = permit;
        let interval = self.settings_of(&host).interval;
        if let Some(known) = self.hosts.get_mut(&host) {
            known.clocks.give_back(started);
            known.limiter = Limiter::new(interval, started);
        }
    }

    /// robots.txt of `origin` asks for this `Crawl-delay` (`None` or zero: for none). The largest that an
    /// origin of the host asks for holds for every request to the host from now on.
    pub fn set_crawl_delay(&mut self, origin: &Origin, delay: Option<Duration>) {
        let host = HostKey::new(&origin.host);
        let delay = delay.filter(|delay| !delay.is_zero());
        if delay.is_some() || self.hosts.contains_key(&host) {
            let known = self.hosts.entry(host).or_default();
            known.clocks.set_crawl_delay(origin, delay);
        }
    }

    /// No request to `host` before `until` (a `Retry-After` remembered from an earlier session). Never
    /// shortens such a wait; one that ends later than `max_retry_after` from `now` closes the host.
    pub fn wait_until(&mut self, host: &HostKey, until: Instant, now: Instant) {
        if until > now {
            let max_retry_after = self.settings_of(host).config.max_retry_after;
            self.host(host, now)
                .clocks
                .wait_until(until, now, max_retry_after);
        }
    }

    /// No request to any host before `until`: it is not known which of them asked to wait. Never shortens such a pause; however
    /// long it is, it is waited for.
    pub fn let_everybody_wait_until(&mut self, until: Instant) {
        self.everybody_until = self.everybody_until.max(Some(until));
    }

    /// How long a host without settings of its own pauses first after failures.
    pub fn pause(&self) -> Duration {
        self.settings.config.pause
    }

    /// The end of the `Retry-After` in force at `host`, also of one that closed it.
    pub fn waits_until(&self, host: &HostKey) -> Option<Instant> {
        self.hosts.get(host)?.clocks.waits_until()
    }

    /// The state of `host` to show.
    pub fn state(&self, host: &HostKey, now: Instant) -> HostState {
        let settings = self.settings_of(host);
        let state = match self.hosts.get(host) {
            Some(known) => known.clocks.state(&settings, now),
            None => HostClocks::default().state(&settings, now),
        };
        match (state, self.everybody_until.filter(|&until| until > now)) {
            (HostState::Closed, _) | (_, None) => state,
            (HostState::RetryAfter(wait), Some(until)) => {
                HostState::RetryAfter(wait.max(until - now))
            }
            (
                HostState::Open
                | HostState::Delay(_)
                | HostState::SlowedDown(_)
                | HostState::Pausing(_),
                Some(until),
            ) => HostState::RetryAfter(until - now),
        }
    }

    /// Time between two starts under the pauses in force, for an estimate of the time left. `None`
    /// before the first answer of a host without any pause.
    pub fn pace(&self, host: &HostKey) -> Option<Duration> {
        let settings = self.settings_of(host);
        match self.hosts.get(host) {
            Some(known) => known.clocks.pace(&settings),
            None => HostClocks::default().pace(&settings),
        }
    }

    /// The settings that hold for `host`.
    fn settings_of(&self, host: &HostKey) -> Arc<Settings> {
        let own = self
            .hosts
            .get(host)
            .and_then(|known| known.settings.as_ref());
        Arc::clone(own.unwrap_or(&self.settings))
    }

    /// The clocks of `host`, new ones if it is not known.
    fn host(&mut self, host: &HostKey, now: Instant) -> &mut Host {
        if self.hosts.len() >= self.cleanup_at && !self.hosts.contains_key(host) {
            let settings = &self.settings;
            self.hosts.retain(|_, known| {
                known.settings.is_some() || !known.clocks.is_forgettable(settings, now)
            });
            self.cleanup_at = HOSTS_BEFORE_CLEANUP.max(self.hosts.len() * 2);
        }
        let interval = self.settings_of(host).interval;
        let known = self.hosts.entry(host.clone()).or_default();
        if known.limiter.is_none() {
            known.limiter = Limiter::new(interval, now);
        }
        known
    }
}

/// When a wait ends that a host asks for `now`: it is obeyed for 24 hours, or `max_retry_after` if that is longer.
pub fn end_of_wait(wait: Duration, now: Instant, max_retry_after: Duration) -> Instant {
    after(now, wait.min(MAX_RETRY_AFTER.max(max_retry_after)))
}

/// `now + wait`, however long `wait` is.
fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait.min(LONGEST_WAIT)).unwrap_or(now)
}
