//! Slower when the host is in trouble, and back by time.

use super::*;

const FAILED: Signal = Signal::ServerError { retry_after: None };

/// The pace after these answers, one letter each: `F` failed, anything else is good.
fn state_after(answers: &str) -> HostState {
    let mut bench = Bench::new(&config(Rate::PerSecond(1_000.0), 4));
    for letter in answers.chars() {
        bench.answer(if letter == 'F' { FAILED } else { FINE });
    }
    bench.state()
}

/// Answers without failures until the pace is that of the settings; returns the time that this took.
fn recover(bench: &mut Bench) -> Duration {
    let begin = bench.now;
    while bench.state() != HostState::Open {
        bench.answer(FINE);
        assert!(bench.now - begin < 3_600 * SECOND, "no recovery");
    }
    bench.now - begin
}

#[test]
fn three_failures_halve_rate_and_concurrency() {
    for signal in [OVERLOADED, FAILED, Signal::Unreachable] {
        let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
        bench.answer(signal);
        bench.answer(signal);
        assert_eq!(bench.state(), HostState::Open, "{signal:?}");
        bench.answer(signal);
        assert_eq!(bench.state(), HostState::SlowedDown(2), "{signal:?}");
        assert_eq!(bench.asked_wait(), milliseconds(200), "{signal:?}");
        bench.wait(milliseconds(200));
        let _first = bench.permit();
        bench.wait(milliseconds(200));
        let _second = bench.permit();
        bench.wait(milliseconds(200));
        assert!(bench.is_busy(), "{signal:?}");
    }
}

#[test]
fn failures_are_counted_among_the_last_ten_answers() {
    let check = |answers: &str, expected| assert_eq!(state_after(answers), expected, "{answers}");
    check("F.........F.........F", HostState::Open);
    check(&"F....".repeat(100), HostState::Open);
    check("F...F...F", HostState::SlowedDown(2));
    check("FF........F", HostState::Open);
    // The window is empty after it halved the pace.
    check("FFFFF", HostState::SlowedDown(2));
    check("FFFFFF", HostState::SlowedDown(4));
}

#[test]
fn answers_without_trouble_change_nothing() {
    fn check(name: &str, answer: fn(u64) -> (Signal, Weight)) {
        let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
        for round in 0..1_000 {
            let (signal, weight) = answer(round);
            bench.answer_as(signal, weight);
            assert_eq!(bench.state(), HostState::Open, "{name}: {round}");
        }
    }
    check("neutral failures", |_| (Signal::Neutral, Weight::Counted));
    check("other tries of a URL", |_| (FAILED, Weight::Ignored));
    check("other tries without an answer", |_| {
        (Signal::Unreachable, Weight::Ignored)
    });
    check("noise on a fast server", |round| {
        let latency = 1 + (round * 7_919) % 240;
        (fine(milliseconds(latency)), Weight::Counted)
    });
    check("a few slow pages", |round| {
        let latency = if round % 3 == 0 { 20_000 } else { 50 };
        (fine(milliseconds(latency)), Weight::Counted)
    });
}

#[test]
fn requests_from_before_a_halving_do_not_count() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 7));
    let permits: Vec<Permit> = (0..7).map(|_| bench.permit()).collect();
    for permit in permits {
        bench.finish(permit, OVERLOADED);
    }
    assert_eq!(bench.state(), HostState::SlowedDown(2));
    bench.answer(OVERLOADED);
    bench.answer(OVERLOADED);
    assert_eq!(bench.state(), HostState::SlowedDown(2));
}

#[test]
fn a_slowdown_spaces_an_unlimited_rate() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 8));
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    assert_eq!(bench.asked_wait(), milliseconds(20));
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    assert_eq!(bench.asked_wait(), milliseconds(40));
}

#[test]
fn slowdown_has_a_limit() {
    let patient = PolitenessConfig {
        failures_before_pause: u32::MAX,
        ..config(Rate::PerSecond(10.0), 4)
    };
    let mut bench = Bench::new(&patient);
    for _ in 0..100 {
        bench.answer(FAILED);
    }
    assert_eq!(bench.state(), HostState::SlowedDown(16));
    assert_eq!(bench.asked_wait(), milliseconds(1_600));
    bench.wait(milliseconds(1_600));
    let _permit = bench.permit();
    assert!(bench.is_busy());
}

#[test]
fn a_slowdown_does_not_stretch_a_delay() {
    let mut bench = Bench::new(&PolitenessConfig {
        delay: Some(10 * SECOND),
        ..config(Rate::Unlimited, 4)
    });
    for _ in 0..9 {
        bench.answer(FAILED);
        assert_eq!(bench.asked_wait(), 10 * SECOND);
    }
}

#[test]
fn ten_good_seconds_double_the_pace() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    (0..6).for_each(|_| bench.answer(FAILED));
    assert_eq!(bench.state(), HostState::SlowedDown(4));
    // Time alone is not enough, nor are answers alone.
    bench.wait(60 * SECOND);
    bench.answer(FINE);
    bench.answer(FINE);
    assert_eq!(bench.state(), HostState::SlowedDown(4));
    bench.answer(FINE);
    assert_eq!(bench.state(), HostState::SlowedDown(2));
    let doubled = bench.now;
    while bench.now < doubled + 10 * SECOND {
        assert_eq!(bench.state(), HostState::SlowedDown(2));
        bench.answer(FINE);
    }
    assert_eq!(bench.state(), HostState::Open);
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
fn single_failures_do_not_delay_recovery() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    (0..3).for_each(|_| bench.answer(FAILED));
    let slowed = bench.now;
    while bench.now < slowed + 10 * SECOND {
        (0..5).for_each(|_| bench.answer(FINE));
        bench.answer(FAILED);
    }
    bench.answer(FINE);
    assert_eq!(bench.state(), HostState::Open);
}

#[test]
fn a_refusal_after_a_doubling_doubles_the_wait() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    let mut wait = 10;
    while wait <= 600 {
        (0..3).for_each(|_| bench.answer(OVERLOADED));
        let waited = recover(&mut bench).as_secs();
        assert!((wait..=wait + 1).contains(&waited), "{wait} {waited}");
        if wait == 600 {
            break;
        }
        wait = (wait * 2).min(600);
    }
    // Long after it, a refusal changes nothing.
    bench.wait(60 * SECOND);
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    assert!((600..=601).contains(&recover(&mut bench).as_secs()));
}

/// Half of the answers are failures for a minute, then none.
#[test]
fn a_host_recovers_within_a_minute() {
    for pattern in [".F", "F.", "FF..", "..FF", ".F.FF.F..F"] {
        let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
        let mut answers = pattern.chars().cycle();
        let mut count = 0;
        while bench.elapsed() < 60 * SECOND {
            bench.answer(if answers.next() == Some('F') {
                FAILED
            } else {
                FINE
            });
            count += 1;
            if count == 30 {
                assert!(bench.asked_wait() >= milliseconds(800), "{pattern}");
            }
        }
        assert!(recover(&mut bench) < 60 * SECOND, "{pattern}");
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
