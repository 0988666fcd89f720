//! Slower at the first sign of trouble, and back step by step.

use super::*;

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
