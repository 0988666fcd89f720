//! Explicit instants, so every wait is exact.

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

/// One host and the time, which moves only when a test says so.
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

    fn next(&mut self) -> NextTurn {
        self.politeness.next(&self.host, self.now)
    }

    /// A turn that must be ready now.
    #[track_caller]
    fn turn(&mut self) -> Turn {
        match self.next() {
            NextTurn::Ready(turn) => turn,
            other => panic!("expected a turn, got {other:?}"),
        }
    }

    /// The wait that is asked for now.
    #[track_caller]
    fn asked_wait(&mut self) -> Duration {
        match self.next() {
            NextTurn::WaitUntil(at) => at - self.now,
            other => panic!("expected a wait, got {other:?}"),
        }
    }

    #[track_caller]
    fn is_busy(&mut self) -> bool {
        matches!(self.next(), NextTurn::Busy)
    }

    #[track_caller]
    fn closed(&mut self) -> Closed {
        match self.next() {
            NextTurn::Closed(closed) => closed,
            other => panic!("expected a closed host, got {other:?}"),
        }
    }

    fn finish(&mut self, turn: Turn, signal: Signal) {
        self.politeness.finish(turn, signal, self.now);
    }

    /// Waits as asked, then makes one request that is answered at once.
    #[track_caller]
    fn answer(&mut self, signal: Signal) {
        if let NextTurn::WaitUntil(at) = self.ask_and_give_back() {
            self.now = at;
        }
        let turn = self.turn();
        self.finish(turn, signal);
    }

    fn ask_and_give_back(&mut self) -> NextTurn {
        match self.next() {
            NextTurn::Ready(turn) => {
                self.politeness.give_back(turn);
                NextTurn::Busy
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
    let first = bench.turn();
    assert_eq!(bench.asked_wait(), milliseconds(100));
    bench.wait(milliseconds(40));
    bench.finish(first, FINE);
    assert_eq!(
        bench.asked_wait(),
        milliseconds(60),
        "the end of an answer does not move the next start"
    );
    bench.wait(milliseconds(60));
    let second = bench.turn();
    bench.finish(second, FINE);
    assert_eq!(bench.asked_wait(), milliseconds(100));
}

#[test]
fn unused_time_is_not_saved_up_for_a_burst() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 100));
    let _first = bench.turn();
    bench.wait(10 * SECOND);
    let _second = bench.turn();
    assert_eq!(bench.asked_wait(), milliseconds(100));
}

#[test]
fn a_thousand_starts_take_exactly_their_time() {
    let mut bench = Bench::new(&config(Rate::PerSecond(8.0), 4));
    for _ in 0..1_001 {
        bench.answer(FINE);
    }
    assert_eq!(bench.elapsed(), milliseconds(125_000));
}

#[test]
fn concurrency_is_never_exceeded() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 3));
    let turns = [bench.turn(), bench.turn(), bench.turn()];
    assert!(bench.is_busy());
    for turn in turns {
        bench.finish(turn, FINE);
        let next = bench.turn();
        assert!(bench.is_busy());
        bench.finish(next, FINE);
        let _third = bench.turn();
        assert!(bench.is_busy());
    }
}

#[test]
fn the_process_has_a_ceiling_over_all_hosts() {
    let two = PolitenessConfig {
        max_in_flight: NonZeroU32::new(2).unwrap(),
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&two);
    let first = bench.turn();
    bench.host = HostKey::new("other.test");
    let _second = bench.turn();
    bench.host = HostKey::new("third.test");
    assert!(bench.is_busy());
    bench.finish(first, FINE);
    let _third = bench.turn();
}

#[test]
fn hosts_do_not_wait_for_each_other() {
    let mut bench = Bench::new(&config(Rate::PerSecond(1.0), 1));
    let turn = bench.turn();
    bench.finish(turn, retry_after(100 * SECOND));
    bench.host = HostKey::new("other.test");
    let _turn = bench.turn();
}

#[test]
fn crawl_delay_counts_from_the_end_of_the_last_answer() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    // As for robots.txt: its own request started before the delay was known.
    let robots = bench.turn();
    bench.wait(3 * SECOND);
    bench.finish(robots, FINE);
    bench
        .politeness
        .set_crawl_delay(&origin(&bench.host), Some(5 * SECOND));
    assert_eq!(bench.asked_wait(), 5 * SECOND);
    bench.wait(5 * SECOND);
    let page = bench.turn();
    bench.wait(60 * SECOND);
    assert!(bench.is_busy(), "one at a time, however long it takes");
    bench.finish(page, FINE);
    assert_eq!(bench.asked_wait(), 5 * SECOND);
    assert_eq!(bench.state(), HostState::Delay(5 * SECOND));
}

#[test]
fn crawl_delay_waits_for_all_turns_that_were_out() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second) = (bench.turn(), bench.turn());
    bench
        .politeness
        .set_crawl_delay(&origin(&bench.host), Some(SECOND));
    bench.wait(2 * SECOND);
    bench.finish(first, FINE);
    assert!(bench.is_busy());
    bench.wait(2 * SECOND);
    bench.finish(second, FINE);
    assert_eq!(bench.asked_wait(), SECOND);
}

#[test]
fn the_larger_of_delay_and_crawl_delay_holds() {
    fn check(delay: Option<Duration>, crawl_delay: Option<Duration>, expected: HostState) {
        let mut bench = Bench::new(&PolitenessConfig {
            delay,
            ..config(Rate::PerSecond(10.0), 4)
        });
        bench
            .politeness
            .set_crawl_delay(&origin(&bench.host), crawl_delay);
        assert_eq!(bench.state(), expected, "{delay:?} {crawl_delay:?}");
        let turn = bench.turn();
        bench.finish(turn, FINE);
        let expected_wait = match expected {
            HostState::Delay(delay) => delay,
            _ => milliseconds(100),
        };
        assert_eq!(
            bench.asked_wait(),
            expected_wait,
            "{delay:?} {crawl_delay:?}"
        );
    }
    check(None, None, HostState::Open);
    check(None, Some(Duration::ZERO), HostState::Open);
    check(Some(Duration::ZERO), None, HostState::Open);
    check(Some(2 * SECOND), None, HostState::Delay(2 * SECOND));
    check(Some(2 * SECOND), Some(SECOND), HostState::Delay(2 * SECOND));
    check(Some(SECOND), Some(2 * SECOND), HostState::Delay(2 * SECOND));
    check(
        None,
        Some(100_000 * SECOND),
        HostState::Delay(100_000 * SECOND),
    );
}

#[test]
fn a_crawl_delay_of_zero_takes_an_earlier_one_back() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 2));
    let host = bench.host.clone();
    bench
        .politeness
        .set_crawl_delay(&origin(&host), Some(SECOND));
    bench
        .politeness
        .set_crawl_delay(&origin(&host), Some(Duration::ZERO));
    let _turns = (bench.turn(), bench.turn());
}

#[test]
fn the_largest_crawl_delay_of_the_origins_of_a_host_holds() {
    fn check(delays: &[(u16, u64)], expected: HostState) {
        let mut bench = Bench::new(&config(Rate::Unlimited, 2));
        for &(port, seconds) in delays {
            let origin = Origin {
                port,
                ..origin(&bench.host)
            };
            let delay = Some(Duration::from_secs(seconds));
            bench.politeness.set_crawl_delay(&origin, delay);
        }
        assert_eq!(bench.state(), expected, "{delays:?}");
    }
    check(&[(443, 10), (80, 0)], HostState::Delay(10 * SECOND));
    check(&[(443, 2), (80, 10)], HostState::Delay(10 * SECOND));
    check(&[(443, 2), (80, 10), (80, 0)], HostState::Delay(2 * SECOND));
    check(&[(443, 2), (80, 10), (80, 0), (443, 0)], HostState::Open);
    let mut many: Vec<_> = (1_000..2_000).map(|port| (port, 1)).collect();
    many.insert(0, (443, 10));
    check(&many, HostState::Delay(10 * SECOND));
}

#[test]
fn a_delay_keeps_the_rate_as_well() {
    let mut bench = Bench::new(&PolitenessConfig {
        delay: Some(milliseconds(1)),
        ..config(Rate::PerSecond(1.0), 4)
    });
    let turn = bench.turn();
    bench.finish(turn, FINE);
    assert_eq!(bench.asked_wait(), SECOND);
}

#[test]
fn retry_after_stops_the_whole_host() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second) = (bench.turn(), bench.turn());
    bench.finish(first, retry_after(30 * SECOND));
    assert_eq!(bench.asked_wait(), 30 * SECOND);
    assert_eq!(bench.state(), HostState::RetryAfter(30 * SECOND));
    bench.wait(10 * SECOND);
    bench.finish(second, FINE);
    assert_eq!(
        bench.asked_wait(),
        20 * SECOND,
        "a fine answer does not end it"
    );
    bench.wait(20 * SECOND);
    let _turn = bench.turn();
    assert_eq!(
        bench.state(),
        HostState::SlowedDown(2),
        "half the rate afterwards"
    );
}

#[test]
fn retry_after_is_never_shortened() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second, third) = (bench.turn(), bench.turn(), bench.turn());
    bench.finish(first, retry_after(30 * SECOND));
    bench.finish(
        second,
        Signal::ServerError {
            retry_after: Some(SECOND),
        },
    );
    assert_eq!(bench.asked_wait(), 30 * SECOND);
    bench.finish(
        third,
        Signal::ServerError {
            retry_after: Some(40 * SECOND),
        },
    );
    assert_eq!(bench.asked_wait(), 40 * SECOND);
    assert_eq!(
        bench.politeness.held_until(&bench.host),
        Some(bench.now + 40 * SECOND)
    );
}

#[test]
fn retry_after_beyond_the_limit_closes_the_host() {
    fn check(wait: Duration, closes: bool) {
        let mut bench = Bench::new(&config(Rate::Unlimited, 4));
        let turn = bench.turn();
        bench.finish(turn, retry_after(wait));
        if closes {
            assert!(
                matches!(bench.closed(), Closed::RetryAfter(until) if until > bench.now + 120 * SECOND)
            );
            assert_eq!(bench.state(), HostState::Closed);
        } else {
            assert_eq!(bench.asked_wait(), wait);
        }
    }
    check(120 * SECOND, false);
    check(120 * SECOND + Duration::from_nanos(1), true);
    check(Duration::from_secs(u64::MAX), true);
    check(Duration::MAX, true);
}

#[test]
fn a_closed_host_stays_closed_when_a_shorter_retry_after_follows() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second) = (bench.turn(), bench.turn());
    bench.finish(first, retry_after(3_600 * SECOND));
    bench.wait(SECOND);
    bench.finish(second, retry_after(SECOND));
    assert_eq!(
        bench.closed(),
        Closed::RetryAfter(bench.now + 3_599 * SECOND)
    );
}

#[test]
fn a_remembered_retry_after_holds_as_a_fresh_one_does() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let host = bench.host.clone();
    bench.politeness.hold_until(&host, bench.now, bench.now);
    assert_eq!(bench.politeness.held_until(&host), None, "it is over");
    bench
        .politeness
        .hold_until(&host, bench.now + 60 * SECOND, bench.now);
    bench
        .politeness
        .hold_until(&host, bench.now + 30 * SECOND, bench.now);
    assert_eq!(bench.asked_wait(), 60 * SECOND);
    bench
        .politeness
        .hold_until(&host, bench.now + 121 * SECOND, bench.now);
    assert_eq!(bench.closed(), Closed::RetryAfter(bench.now + 121 * SECOND));
    bench.wait(121 * SECOND);
    let _turn = bench.turn();
    assert_eq!(
        bench.state(),
        HostState::Open,
        "what an earlier run was told is no trouble of this one"
    );
}

#[test]
fn trouble_halves_rate_and_concurrency() {
    fn check(signal: Signal) {
        let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
        bench.answer(signal);
        assert_eq!(bench.state(), HostState::SlowedDown(2), "{signal:?}");
        assert_eq!(bench.asked_wait(), milliseconds(200), "{signal:?}");
        bench.wait(milliseconds(200));
        let _first = bench.turn();
        bench.wait(milliseconds(200));
        let _second = bench.turn();
        bench.wait(milliseconds(200));
        assert!(bench.is_busy(), "{signal:?}");
    }
    check(OVERLOADED);
    check(Signal::ServerError { retry_after: None });
    check(Signal::Unreachable);
}

#[test]
fn neutral_failures_change_nothing() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for _ in 0..100 {
        bench.answer(Signal::Neutral);
    }
    assert_eq!(bench.state(), HostState::Open);
}

#[test]
fn answers_of_one_round_slow_down_once() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let turns = [bench.turn(), bench.turn(), bench.turn(), bench.turn()];
    for turn in turns {
        bench.finish(turn, OVERLOADED);
    }
    assert_eq!(bench.state(), HostState::SlowedDown(2));
    bench.answer(OVERLOADED);
    assert_eq!(bench.state(), HostState::SlowedDown(4));
}

#[test]
fn an_unlimited_rate_is_spaced_once_it_slows_down() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 8));
    bench.answer(OVERLOADED);
    assert_eq!(bench.asked_wait(), milliseconds(20));
    bench.answer(OVERLOADED);
    assert_eq!(bench.asked_wait(), milliseconds(40));
}

#[test]
fn slowing_down_has_an_end_and_leaves_one_turn() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for _ in 0..100 {
        bench.answer(Signal::ServerError { retry_after: None });
    }
    assert_eq!(bench.state(), HostState::SlowedDown(64));
    assert_eq!(bench.asked_wait(), milliseconds(6_400));
    bench.wait(milliseconds(6_400));
    let _turn = bench.turn();
    assert!(bench.is_busy());
}

#[test]
fn a_slowdown_stretches_a_delay_but_not_beyond_a_minute() {
    let mut bench = Bench::new(&PolitenessConfig {
        delay: Some(10 * SECOND),
        ..config(Rate::Unlimited, 4)
    });
    for expected in [20, 40, 60, 60] {
        bench.answer(Signal::ServerError { retry_after: None });
        assert_eq!(bench.asked_wait(), expected * SECOND);
    }
}

#[test]
fn fine_answers_bring_the_pace_back_step_by_step() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    bench.answer(OVERLOADED);
    bench.answer(OVERLOADED);
    assert_eq!(bench.state(), HostState::SlowedDown(4));
    for (before, expected) in [(4, HostState::SlowedDown(2)), (2, HostState::Open)] {
        for _ in 0..19 {
            bench.answer(FINE);
            assert_eq!(bench.state(), HostState::SlowedDown(before));
        }
        bench.answer(FINE);
        assert_eq!(bench.state(), expected);
    }
    for _ in 0..100 {
        bench.answer(FINE);
    }
    assert_eq!(
        bench.asked_wait(),
        milliseconds(100),
        "never faster than the settings"
    );
}

#[test]
fn a_step_back_into_trouble_makes_the_next_one_twice_as_patient() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for needed in [20, 40, 80, 160, 320, 640, 640] {
        bench.answer(OVERLOADED);
        for _ in 1..needed {
            bench.answer(FINE);
        }
        assert_eq!(bench.state(), HostState::SlowedDown(2), "{needed}");
        bench.answer(FINE);
        assert_eq!(bench.state(), HostState::Open, "{needed}");
    }
}

#[test]
fn doubled_latency_slows_down_once_per_doubling() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for _ in 0..50 {
        bench.answer(fine(milliseconds(300)));
    }
    for _ in 0..15 {
        bench.answer(fine(milliseconds(700)));
    }
    assert_eq!(bench.state(), HostState::SlowedDown(2));
    for _ in 0..200 {
        bench.answer(fine(milliseconds(700)));
    }
    assert_eq!(
        bench.state(),
        HostState::Open,
        "pages that are simply slower are crawled at full pace again"
    );
}

#[test]
fn noise_on_a_fast_server_never_slows_down() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for round in 0..1_000 {
        bench.answer(fine(milliseconds(1 + (round * 7_919) % 240)));
        assert_eq!(bench.state(), HostState::Open);
    }
}

#[test]
fn a_few_slow_pages_do_not_slow_down() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for round in 0..1_000 {
        bench.answer(fine(if round % 3 == 0 {
            20 * SECOND
        } else {
            milliseconds(50)
        }));
        assert_eq!(bench.state(), HostState::Open);
    }
}

#[test]
fn failures_in_a_row_make_longer_and_longer_pauses_and_then_close() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for pause in [60, 120, 240] {
        for round in 0..10 {
            assert!(
                !matches!(bench.state(), HostState::Pausing(_)),
                "{pause} {round}"
            );
            bench.answer(if round % 2 == 0 {
                Signal::Unreachable
            } else {
                OVERLOADED
            });
        }
        assert_eq!(bench.state(), HostState::Pausing(pause * SECOND));
        assert_eq!(bench.asked_wait(), pause * SECOND);
        bench.wait(pause * SECOND);
    }
    for _ in 0..10 {
        bench.answer(Signal::Unreachable);
    }
    assert_eq!(bench.closed(), Closed::Down);
    assert_eq!(bench.state(), HostState::Closed);
}

#[test]
fn a_pause_is_bounded() {
    let patient = PolitenessConfig {
        max_pauses: u32::MAX,
        failures_before_pause: 1,
        max_pause: 600 * SECOND,
        ..config(Rate::Unlimited, 1)
    };
    let mut bench = Bench::new(&patient);
    for _ in 0..100 {
        bench.answer(Signal::Unreachable);
    }
    assert_eq!(bench.state(), HostState::Pausing(600 * SECOND));
}

#[test]
fn a_fine_answer_ends_the_row_of_failures_and_of_pauses() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for _ in 0..10 {
        for _ in 0..9 {
            bench.answer(Signal::Unreachable);
        }
        bench.answer(FINE);
        assert!(matches!(bench.state(), HostState::SlowedDown(_)));
    }
    for _ in 0..10 {
        for _ in 0..10 {
            bench.answer(Signal::Unreachable);
        }
        assert_eq!(
            bench.state(),
            HostState::Pausing(60 * SECOND),
            "the first pause each time"
        );
        bench.wait(60 * SECOND);
        bench.answer(FINE);
    }
}

#[test]
fn answers_with_retry_after_and_server_errors_are_no_sign_of_a_host_that_is_down() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for _ in 0..100 {
        bench.answer(retry_after(SECOND));
        bench.answer(Signal::ServerError { retry_after: None });
        assert!(!matches!(bench.ask_and_give_back(), NextTurn::Closed(_)));
        assert!(!matches!(bench.state(), HostState::Pausing(_)));
    }
}

#[test]
fn a_retry_after_of_zero_counts_as_none() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for _ in 0..10 {
        bench.answer(retry_after(Duration::ZERO));
    }
    assert_eq!(bench.state(), HostState::Pausing(60 * SECOND));
}

#[test]
fn turns_that_were_out_when_a_pause_began_do_not_count_for_the_next_one() {
    let config = PolitenessConfig {
        failures_before_pause: 2,
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&config);
    let turns = [bench.turn(), bench.turn(), bench.turn(), bench.turn()];
    for turn in turns {
        bench.finish(turn, Signal::Unreachable);
    }
    assert_eq!(bench.state(), HostState::Pausing(60 * SECOND));
    bench.wait(60 * SECOND);
    bench.answer(Signal::Unreachable);
    assert_eq!(
        bench.state(),
        HostState::SlowedDown(4),
        "one failure, no pause"
    );
}

#[test]
fn a_new_run_gives_a_host_that_is_down_another_chance() {
    let config = PolitenessConfig {
        failures_before_pause: 1,
        max_pauses: 0,
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&config);
    let host = bench.host.clone();
    bench.answer(Signal::Unreachable);
    assert_eq!(bench.closed(), Closed::Down);
    bench.politeness.begin_run(&host);
    assert_eq!(bench.state(), HostState::Open);
    let turn = bench.turn();
    bench.finish(turn, retry_after(3_600 * SECOND));
    bench.politeness.begin_run(&host);
    assert_eq!(
        bench.closed(),
        Closed::RetryAfter(bench.now + 3_600 * SECOND)
    );
}

#[test]
fn a_turn_given_back_leaves_no_trace() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 2));
    let first = bench.turn();
    bench.politeness.give_back(first);
    let second = bench.turn();
    bench.wait(milliseconds(100));
    let third = bench.turn();
    bench.wait(milliseconds(10));
    bench.politeness.give_back(third);
    let fourth = bench.turn();
    assert!(bench.is_busy());
    // Older than the newest start: the newest one still counts.
    bench.politeness.give_back(second);
    assert_eq!(bench.asked_wait(), milliseconds(100));
    bench.finish(fourth, FINE);
    assert_eq!(bench.asked_wait(), milliseconds(100));
}

#[test]
fn giving_back_neither_starts_nor_ends_a_delay() {
    let mut bench = Bench::new(&PolitenessConfig {
        delay: Some(10 * SECOND),
        ..config(Rate::PerSecond(10.0), 4)
    });
    let turn = bench.turn();
    bench.politeness.give_back(turn);
    bench.answer(FINE);
    assert_eq!(bench.asked_wait(), 10 * SECOND);
    bench.wait(10 * SECOND);
    let turn = bench.turn();
    bench.politeness.give_back(turn);
    let _turn = bench.turn();
}

#[test]
fn pace_is_what_one_request_costs() {
    fn check(config: &PolitenessConfig, turn_time: Duration, expected: Option<Duration>) {
        let mut bench = Bench::new(config);
        let turn = bench.turn();
        bench.wait(turn_time);
        bench.finish(turn, FINE);
        assert_eq!(bench.politeness.pace(&bench.host), expected, "{config:?}");
    }
    check(
        &config(Rate::PerSecond(10.0), 4),
        milliseconds(40),
        Some(milliseconds(100)),
    );
    check(
        &config(Rate::PerSecond(10.0), 4),
        milliseconds(800),
        Some(milliseconds(200)),
    );
    check(
        &config(Rate::Unlimited, 4),
        milliseconds(40),
        Some(milliseconds(10)),
    );
    check(&config(Rate::Unlimited, 4), Duration::ZERO, None);
    let delayed = PolitenessConfig {
        delay: Some(2 * SECOND),
        ..config(Rate::PerSecond(10.0), 4)
    };
    check(&delayed, SECOND, Some(3 * SECOND));
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
            let host = bench.host.clone();
            bench
                .politeness
                .set_crawl_delay(&origin(&host), Some(Duration::MAX));
            let turn = bench.turn();
            bench.wait(SECOND);
            bench.finish(turn, signal);
            assert!(
                bench.asked_wait() >= 1_000_000 * SECOND,
                "{rate} {signal:?}"
            );
            bench
                .politeness
                .hold_until(&host, bench.now + LONGEST_WAIT, bench.now);
            assert!(bench.asked_wait() >= LONGEST_WAIT);
            assert!(bench.politeness.pace(&host) >= Some(LONGEST_WAIT));
        }
    }
}

#[test]
fn idle_hosts_are_forgotten_and_waits_in_force_are_not() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    let held = HostKey::new("held.test");
    bench
        .politeness
        .hold_until(&held, bench.now + 100 * SECOND, bench.now);
    bench
        .politeness
        .set_crawl_delay(&origin(&HostKey::new("slow.test")), Some(SECOND));
    for number in 0..10_000 {
        bench.host = HostKey::new(&format!("host{number}.test"));
        bench.answer(FINE);
        bench.wait(milliseconds(1));
    }
    assert!(
        bench.politeness.hosts.len() <= HOSTS_BEFORE_CLEANUP,
        "{}",
        bench.politeness.hosts.len()
    );
    bench.host = held;
    assert_eq!(bench.asked_wait(), 90 * SECOND);
    bench.host = HostKey::new("slow.test");
    assert_eq!(bench.state(), HostState::Delay(SECOND));
}

#[tokio::test(start_paused = true)]
async fn sleeping_as_told_spaces_starts_exactly() {
    let mut politeness = Politeness::new(&config(Rate::PerSecond(4.0), 1));
    let host = HostKey::new("site.test");
    let begin = Instant::now();
    let mut starts = Vec::new();
    while starts.len() < 5 {
        match politeness.next(&host, Instant::now()) {
            NextTurn::Ready(turn) => {
                starts.push(begin.elapsed());
                politeness.finish(turn, FINE, Instant::now());
            }
            NextTurn::WaitUntil(at) => tokio::time::sleep_until(at).await,
            other @ (NextTurn::Busy | NextTurn::Closed(_)) => panic!("{other:?}"),
        }
    }
    assert_eq!(starts, [0, 250, 500, 750, 1_000].map(milliseconds));
}

/// One thing that a random crawl does.
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
        let host = bench.host.clone();
        let mut out: Vec<(Turn, Instant)> = Vec::new();
        let mut used_starts: Vec<Instant> = Vec::new();
        let mut last_end = None;
        let (mut held, mut closed, mut crawl_delay) = (bench.now, false, Duration::ZERO);
        for step in steps {
            match step {
                Step::Ask => match bench.next() {
                    NextTurn::Ready(turn) => {
                        let now = bench.now;
                        prop_assert!(!closed && now >= held, "a start inside a hold");
                        prop_assert!(out.len() < concurrency as usize, "too many in flight");
                        for start in used_starts.iter().chain(out.iter().map(|(_, start)| start)) {
                            prop_assert!(now - *start >= interval, "two starts closer than the rate allows");
                        }
                        if !crawl_delay.is_zero() {
                            prop_assert!(out.is_empty(), "two in flight under a crawl-delay");
                            prop_assert!(last_end.is_none_or(|end| now >= end + crawl_delay), "too soon after an end");
                        }
                        out.push((turn, now));
                    }
                    NextTurn::WaitUntil(at) => {
                        prop_assert!(at > bench.now, "a wait for the past never ends");
                    }
                    NextTurn::Busy => prop_assert!(!out.is_empty(), "busy with nothing out never ends"),
                    NextTurn::Closed(_) => {}
                },
                Step::Wait(time) => bench.wait(milliseconds(time)),
                Step::Finish(which, signal) if which < out.len() => {
                    let (turn, start) = out.swap_remove(which);
                    if let Signal::Overloaded { retry_after: Some(wait) }
                        | Signal::ServerError { retry_after: Some(wait) } = signal
                    {
                        held = held.max(bench.now + wait);
                        closed |= wait > config.max_retry_after;
                    }
                    used_starts.push(start);
                    last_end = Some(bench.now);
                    bench.finish(turn, signal);
                }
                Step::GiveBack(which) if which < out.len() => {
                    let (turn, _) = out.swap_remove(which);
                    bench.politeness.give_back(turn);
                }
                Step::CrawlDelay(seconds) => {
                    crawl_delay = Duration::from_secs(seconds);
                    bench.politeness.set_crawl_delay(&origin(&host), Some(crawl_delay));
                }
                Step::Finish(..) | Step::GiveBack(_) => {}
            }
        }
    }

    #[test]
    fn waiting_as_told_always_leads_to_a_turn(signals in proptest::collection::vec(any_signal(), 1..60)) {
        let mut bench = Bench::new(&PolitenessConfig { max_pauses: 1_000, max_retry_after: 1_000 * SECOND, ..config(Rate::PerSecond(10.0), 2) });
        for signal in signals {
            bench.answer(signal);
        }
    }
}
