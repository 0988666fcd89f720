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

#[test]
fn three_failures_in_ten_answers_halve_rate_and_concurrency() {
    fn check(signal: Signal) {
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
    check(OVERLOADED);
    check(FAILED);
    check(Signal::Unreachable);
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
fn other_tries_of_a_url_do_not_count() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for _ in 0..100 {
        bench.answer_as(FAILED, Weight::Ignored);
        bench.answer_as(Signal::Unreachable, Weight::Ignored);
    }
    assert_eq!(bench.state(), HostState::Open);
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
fn answers_to_requests_that_began_before_a_halving_do_not_count() {
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
fn an_unlimited_rate_is_spaced_once_it_slows_down() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 8));
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    assert_eq!(bench.asked_wait(), milliseconds(20));
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    assert_eq!(bench.asked_wait(), milliseconds(40));
}

#[test]
fn slowing_down_has_an_end_and_leaves_one_permit() {
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
fn ten_seconds_with_three_good_answers_double_the_pace() {
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
fn single_failures_do_not_hold_up_the_way_back() {
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
fn a_refusal_soon_after_a_doubling_makes_the_next_one_wait_twice_as_long() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    let mut wait = 10;
    while wait <= 600 {
        (0..3).for_each(|_| bench.answer(OVERLOADED));
        let slowed = bench.now;
        while bench.state() != HostState::Open {
            bench.answer(FINE);
        }
        let waited = (bench.now - slowed).as_secs();
        assert!((wait..=wait + 1).contains(&waited), "{wait} {waited}");
        if wait == 600 {
            break;
        }
        wait = (wait * 2).min(600);
    }
    // Long after it, a refusal changes nothing.
    bench.wait(60 * SECOND);
    (0..3).for_each(|_| bench.answer(OVERLOADED));
    let slowed = bench.now;
    while bench.state() != HostState::Open {
        bench.answer(FINE);
    }
    assert!((600..=601).contains(&(bench.now - slowed).as_secs()));
}

/// Half of the answers are failures for a minute, then none.
#[test]
fn a_host_in_trouble_is_spared_at_once_and_crawled_again_within_a_minute() {
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
        let well = bench.now;
        while bench.state() != HostState::Open {
            bench.answer(FINE);
            assert!(bench.now - well < 60 * SECOND, "{pattern}");
        }
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
