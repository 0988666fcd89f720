//! Explicit instants, so every wait is exact.

mod delay;
mod hold;
mod pause;
mod slowdown;

use std::num::NonZeroU32;

use proptest::prelude::*;

use crate::config::Rate;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const FINE: Signal = Signal::Fine {
    latency: Duration::from_millis(20),
};
const OVERLOADED: Signal = Signal::Overloaded { retry_after: None };

fn config(rate: Rate, concurrency: u32) -> PolitenessConfig {
    PolitenessConfig {
        rate,
        concurrency: NonZeroU32::new(concurrency).unwrap(),
        ..PolitenessConfig::default()
    }
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn retry_after(wait: Duration) -> Signal {
    Signal::Overloaded {
        retry_after: Some(wait),
    }
}

fn fine(latency: Duration) -> Signal {
    Signal::Fine { latency }
}

/// The origin that a site on `host` usually has.
fn origin(host: &HostKey) -> Origin {
    Origin {
        scheme: "https".into(),
        host: host.as_str().into(),
        port: 443,
    }
}

/// One host and the time, which moves only when a test moves it.
struct Bench {
    politeness: Politeness,
    host: HostKey,
    begin: Instant,
    now: Instant,
}

impl Bench {
    fn new(config: &PolitenessConfig) -> Self {
        let now = Instant::now();
        Self {
            politeness: Politeness::new(config),
            host: HostKey::new("site.test"),
            begin: now,
            now,
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn next(&mut self) -> NextPermit {
        self.politeness.next(&self.host, self.now)
    }

    /// A permit that must be ready now.
    #[track_caller]
    fn permit(&mut self) -> Permit {
        match self.next() {
            NextPermit::Ready(permit) => permit,
            other => panic!("expected a permit, got {other:?}"),
        }
    }

    /// The wait that is asked for now.
    #[track_caller]
    fn asked_wait(&mut self) -> Duration {
        match self.next() {
            NextPermit::WaitUntil(at) => at - self.now,
            other => panic!("expected a wait, got {other:?}"),
        }
    }

    #[track_caller]
    fn is_busy(&mut self) -> bool {
        matches!(self.next(), NextPermit::Busy)
    }

    #[track_caller]
    fn closed(&mut self) -> Closed {
        match self.next() {
            NextPermit::Closed(closed) => closed,
            other => panic!("expected a closed host, got {other:?}"),
        }
    }

    fn finish(&mut self, permit: Permit, signal: Signal) {
        self.politeness
            .finish(permit, signal, Weight::Counted, self.now);
    }

    /// Sets the `Crawl-delay` of the host.
    fn crawl_delay(&mut self, delay: Duration) {
        self.politeness
            .set_crawl_delay(&origin(&self.host), Some(delay));
    }

    /// Remembers a `Retry-After` of an earlier run.
    fn remember_wait(&mut self, wait: Duration) {
        let until = self.now + wait;
        self.politeness.wait_until(&self.host, until, self.now);
    }

    /// One request, answered now.
    #[track_caller]
    fn request(&mut self, signal: Signal) {
        let permit = self.permit();
        self.finish(permit, signal);
    }

    /// Waits as asked, then makes one request that is answered at once.
    #[track_caller]
    fn answer(&mut self, signal: Signal) {
        self.answer_as(signal, Weight::Counted);
    }

    #[track_caller]
    fn answer_as(&mut self, signal: Signal, weight: Weight) {
        if let NextPermit::WaitUntil(at) = self.ask_and_give_back() {
            self.now = at;
        }
        let permit = self.permit();
        self.politeness.finish(permit, signal, weight, self.now);
    }

    fn ask_and_give_back(&mut self) -> NextPermit {
        match self.next() {
            NextPermit::Ready(permit) => {
                self.politeness.give_back(permit);
                NextPermit::Busy
            }
            other => other,
        }
    }

    fn state(&self) -> HostState {
        self.politeness.state(&self.host, self.now)
    }

    fn elapsed(&self) -> Duration {
        self.now - self.begin
    }
}

#[test]
fn starts_are_spaced_by_the_rate() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 100));
    let first = bench.permit();
    assert_eq!(bench.asked_wait(), milliseconds(100));
    bench.wait(milliseconds(40));
    bench.finish(first, FINE);
    assert_eq!(
        bench.asked_wait(),
        milliseconds(60),
        "the end of an answer does not move the next start"
    );
    bench.wait(milliseconds(60));
    bench.request(FINE);
    assert_eq!(bench.asked_wait(), milliseconds(100));
    // Unused time is not saved up for a burst.
    bench.wait(10 * SECOND);
    bench.request(FINE);
    assert_eq!(bench.asked_wait(), milliseconds(100));
}

#[test]
fn the_process_has_a_ceiling_over_all_hosts() {
    let two = PolitenessConfig {
        max_in_flight: NonZeroU32::new(2).unwrap(),
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&two);
    let first = bench.permit();
    bench.host = HostKey::new("other.test");
    let _second = bench.permit();
    bench.host = HostKey::new("third.test");
    assert!(bench.is_busy());
    bench.finish(first, FINE);
    let _third = bench.permit();
}

#[test]
fn hosts_do_not_wait_for_each_other() {
    let mut bench = Bench::new(&config(Rate::PerSecond(1.0), 1));
    bench.request(retry_after(100 * SECOND));
    bench.host = HostKey::new("other.test");
    let _permit = bench.permit();
}

#[test]
fn a_permit_given_back_leaves_no_trace() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 2));
    let first = bench.permit();
    bench.politeness.give_back(first);
    let second = bench.permit();
    bench.wait(milliseconds(100));
    let third = bench.permit();
    bench.wait(milliseconds(10));
    bench.politeness.give_back(third);
    let fourth = bench.permit();
    assert!(bench.is_busy());
    // Older than the newest start: the newest one still counts.
    bench.politeness.give_back(second);
    assert_eq!(bench.asked_wait(), milliseconds(100));
    bench.finish(fourth, FINE);
    assert_eq!(bench.asked_wait(), milliseconds(100));
}

#[test]
fn pace_is_what_one_request_costs() {
    fn check(config: &PolitenessConfig, permit_time: u64, expected: Option<u64>) {
        let mut bench = Bench::new(config);
        let permit = bench.permit();
        bench.wait(milliseconds(permit_time));
        bench.finish(permit, FINE);
        let expected = expected.map(milliseconds);
        assert_eq!(bench.politeness.pace(&bench.host), expected, "{config:?}");
    }
    check(&config(Rate::PerSecond(10.0), 4), 40, Some(100));
    check(&config(Rate::PerSecond(10.0), 4), 800, Some(200));
    check(&config(Rate::Unlimited, 4), 40, Some(10));
    check(&config(Rate::Unlimited, 4), 0, None);
    let delayed = PolitenessConfig {
        delay: Some(2 * SECOND),
        ..config(Rate::PerSecond(10.0), 4)
    };
    check(&delayed, 1_000, Some(3_000));
    let bench = Bench::new(&config(Rate::Unlimited, 4));
    assert_eq!(bench.politeness.pace(&bench.host), None);
}

#[test]
fn absurd_settings_and_times_do_not_overflow() {
    for rate in [
        0.0,
        -1.0,
        f64::NAN,
        f64::MIN_POSITIVE,
        1e-300,
        f64::INFINITY,
        1e300,
    ] {
        let absurd = PolitenessConfig {
            delay: Some(Duration::MAX),
            pause: Duration::MAX,
            max_pause: Duration::MAX,
            max_retry_after: Duration::MAX,
            failures_before_pause: 0,
            ..config(Rate::PerSecond(rate), u32::MAX)
        };
        for signal in [
            FINE,
            fine(Duration::MAX),
            OVERLOADED,
            Signal::Unreachable,
            retry_after(Duration::MAX),
        ] {
            let mut bench = Bench::new(&absurd);
            bench.crawl_delay(Duration::MAX);
            let permit = bench.permit();
            bench.wait(SECOND);
            bench.finish(permit, signal);
            assert!(
                bench.asked_wait() >= 1_000_000 * SECOND,
                "{rate} {signal:?}"
            );
            bench.remember_wait(LONGEST_WAIT);
            assert!(bench.asked_wait() >= LONGEST_WAIT);
            assert!(bench.politeness.pace(&bench.host) >= Some(LONGEST_WAIT));
        }
    }
}

#[test]
fn idle_hosts_are_forgotten_except_waits() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    let [held, slow] = ["held.test", "slow.test"].map(HostKey::new);
    bench.host = held.clone();
    bench.remember_wait(100 * SECOND);
    bench.host = slow.clone();
    bench.crawl_delay(SECOND);
    for number in 0..10_000 {
        bench.host = HostKey::new(&format!("host{number}.test"));
        bench.answer(FINE);
        bench.wait(milliseconds(1));
    }
    let hosts = bench.politeness.hosts.len();
    assert!(hosts <= HOSTS_BEFORE_CLEANUP, "{hosts}");
    bench.host = held;
    assert_eq!(bench.asked_wait(), 90 * SECOND);
    bench.host = slow;
    assert_eq!(bench.state(), HostState::Delay(SECOND));
}

/// A thing that a random crawl does.
#[derive(Debug, Clone)]
enum Step {
    Ask,
    Wait(u64),
    Finish(usize, Signal),
    GiveBack(usize),
    CrawlDelay(u64),
}

fn any_signal() -> impl Strategy<Value = Signal> {
    let wait = prop_oneof![
        Just(None),
        (0..200_u64).prop_map(|seconds| Some(Duration::from_secs(seconds)))
    ];
    prop_oneof![
        4 => (0..2_000_u64).prop_map(|latency| fine(milliseconds(latency))),
        1 => wait.clone().prop_map(|retry_after| Signal::Overloaded { retry_after }),
        1 => wait.prop_map(|retry_after| Signal::ServerError { retry_after }),
        1 => Just(Signal::Unreachable),
        1 => Just(Signal::Local),
        1 => Just(Signal::Neutral),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Ask),
        3 => (0..400_u64).prop_map(Step::Wait),
        3 => (0..8_usize, any_signal()).prop_map(|(which, signal)| Step::Finish(which, signal)),
        1 => (0..8_usize).prop_map(Step::GiveBack),
        1 => (0..3_u64).prop_map(Step::CrawlDelay),
    ]
}

proptest! {
    #[test]
    fn no_signals_whatever_make_it_faster_than_allowed(
        steps in proptest::collection::vec(any_step(), 1..200),
        concurrency in 1..5_u32,
        starts_per_second in prop_oneof![Just(None), (1..50_u32).prop_map(Some)],
    ) {
        let rate = starts_per_second.map_or(Rate::Unlimited, |starts| Rate::PerSecond(f64::from(starts)));
        let interval = rate::interval(rate);
        let config = PolitenessConfig { max_retry_after: 150 * SECOND, ..config(rate, concurrency) };
        let mut bench = Bench::new(&config);
        let mut out: Vec<(Permit, Instant)> = Vec::new();
        let mut used_starts: Vec<Instant> = Vec::new();
        let mut last_end = None;
        let (mut held, mut crawl_delay) = (bench.now, Duration::ZERO);
        for step in steps {
            match step {
                Step::Ask => match bench.next() {
                    NextPermit::Ready(permit) => {
                        let now = bench.now;
                        prop_assert!(now >= held, "a start inside a wait");
                        prop_assert!(out.len() < concurrency as usize, "too many in flight");
                        for start in used_starts.iter().chain(out.iter().map(|(_, start)| start)) {
                            prop_assert!(now - *start >= interval, "two starts closer than the rate allows");
                        }
                        if !crawl_delay.is_zero() {
                            prop_assert!(out.is_empty(), "two in flight under a crawl-delay");
                            prop_assert!(last_end.is_none_or(|end| now >= end + crawl_delay), "too soon after an end");
                        }
                        out.push((permit, now));
                    }
                    NextPermit::WaitUntil(at) => {
                        prop_assert!(at > bench.now, "a wait for the past never ends");
                    }
                    NextPermit::Busy => prop_assert!(!out.is_empty(), "busy with nothing out never ends"),
                    NextPermit::Closed(_) => {}
                },
                Step::Wait(time) => bench.wait(milliseconds(time)),
                Step::Finish(which, signal) if which < out.len() => {
                    let (permit, start) = out.swap_remove(which);
                    if let Signal::Overloaded { retry_after: Some(wait) }
                        | Signal::ServerError { retry_after: Some(wait) } = signal
                        && wait <= config.max_retry_after
                    {
                        held = held.max(bench.now + wait);
                    }
                    used_starts.push(start);
                    last_end = Some(bench.now);
                    bench.finish(permit, signal);
                }
                Step::GiveBack(which) if which < out.len() => {
                    let (permit, _) = out.swap_remove(which);
                    bench.politeness.give_back(permit);
                }
                Step::CrawlDelay(seconds) => {
                    crawl_delay = Duration::from_secs(seconds);
                    bench.crawl_delay(crawl_delay);
                }
                Step::Finish(..) | Step::GiveBack(_) => {}
            }
        }
    }

    #[test]
    fn waiting_as_asked_always_leads_to_a_permit(signals in proptest::collection::vec(any_signal(), 1..60)) {
        let mut bench = Bench::new(&PolitenessConfig { max_pauses: 1_000, max_retry_after: 1_000 * SECOND, ..config(Rate::PerSecond(10.0), 2) });
        for signal in signals {
            bench.answer(signal);
        }
    }
}

#[test]
fn a_host_has_the_settings_of_its_site() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    let process = bench.host.clone();
    let slow = HostKey::new("slow.test");
    let own = PolitenessConfig {
        max_in_flight: NonZeroU32::new(1).unwrap(),
        ..config(Rate::PerSecond(0.5), 1)
    };
    bench.politeness.set_settings(&slow, &own);
    let _first = bench.permit();
    bench.host = slow;
    // Its max_in_flight has no effect: that of the process holds.
    let permit = bench.permit();
    assert!(bench.is_busy(), "one at a time");
    bench.finish(permit, FINE);
    bench.wait(SECOND);
    assert_eq!(bench.asked_wait(), SECOND);
    bench.wait(SECOND);
    bench.request(FINE);
    // The other host keeps the pace of the process.
    bench.host = process;
    let _second = bench.permit();
}

#[test]
fn new_settings_of_a_host_forget_nothing() {
    let mut bench = Bench::new(&config(Rate::PerSecond(1.0), 4));
    let host = bench.host.clone();
    bench.request(FINE);
    let faster = config(Rate::PerSecond(2.0), 4);
    bench.politeness.set_settings(&host, &faster);
    assert_eq!(bench.asked_wait(), milliseconds(500));
    bench.wait(milliseconds(500));
    bench.request(retry_after(10 * SECOND));
    let unlimited = config(Rate::Unlimited, 4);
    bench.politeness.set_settings(&host, &unlimited);
    assert_eq!(bench.asked_wait(), 10 * SECOND);
}

#[test]
fn new_shared_settings_apply_without_own_ones() {
    let mut bench = Bench::new(&config(Rate::PerSecond(1.0), 4));
    let (other, own) = (bench.host.clone(), HostKey::new("own.test"));
    bench
        .politeness
        .set_settings(&own, &config(Rate::PerSecond(0.1), 4));
    for host in [&own, &other] {
        bench.host = host.clone();
        bench.request(FINE);
    }
    let slower = PolitenessConfig {
        max_in_flight: NonZeroU32::new(1).unwrap(),
        ..config(Rate::PerSecond(0.5), 4)
    };
    bench.politeness.set_shared_settings(&slower);
    assert_eq!(bench.asked_wait(), 2 * SECOND);
    bench.wait(2 * SECOND);
    let permit = bench.permit();
    bench.host = HostKey::new("third.test");
    assert!(bench.is_busy(), "one at a time now");
    bench.finish(permit, FINE);
    bench.host = own;
    assert_eq!(bench.asked_wait(), 8 * SECOND);
}
