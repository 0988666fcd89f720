//! A host that does not answer: pauses that grow, and an end.

use super::*;

#[test]
fn failures_make_longer_pauses_and_then_close() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for pause in [60, 120, 240] {
        for round in 0..10 {
            assert!(
                !matches!(bench.state(), HostState::Pausing(_)),
                "{pause} {round}"
            );
            bench.answer(match round % 3 {
                0 => Signal::Unreachable,
                1 => OVERLOADED,
                _ => Signal::ServerError { retry_after: None },
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
fn a_fine_answer_ends_the_row() {
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
        let first = HostState::Pausing(60 * SECOND);
        assert_eq!(bench.state(), first, "the first pause each time");
        bench.wait(60 * SECOND);
        bench.answer(FINE);
    }
}

#[test]
fn a_host_that_sends_retry_after_is_up() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for _ in 0..100 {
        bench.answer(retry_after(SECOND));
        assert!(!matches!(bench.ask_and_give_back(), NextPermit::Closed(_)));
        assert!(!matches!(bench.state(), HostState::Pausing(_)));
    }
}

#[test]
fn a_local_fault_pauses_at_once() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for pause in [60, 120, 240] {
        let permits: Vec<Permit> = (0..4).map(|_| bench.permit()).collect();
        for permit in permits {
            bench.finish(permit, Signal::Local);
        }
        assert_eq!(bench.state(), HostState::Pausing(pause * SECOND));
        bench.wait(pause * SECOND);
    }
    bench.request(FINE);
    assert_eq!(bench.state(), HostState::Open, "no slowdown");
}

#[test]
fn permits_from_before_a_pause_do_not_count() {
    let config = PolitenessConfig {
        failures_before_pause: 2,
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&config);
    let permits: Vec<Permit> = (0..4).map(|_| bench.permit()).collect();
    for permit in permits {
        bench.finish(permit, Signal::Unreachable);
    }
    assert_eq!(bench.state(), HostState::Pausing(60 * SECOND));
    bench.wait(60 * SECOND);
    bench.answer(Signal::Unreachable);
    let slowed = HostState::SlowedDown(2);
    assert_eq!(bench.state(), slowed, "one failure, no pause");
}

#[test]
fn a_new_run_opens_a_host_again() {
    let config = PolitenessConfig {
        failures_before_pause: 1,
        max_pauses: 0,
        ..config(Rate::Unlimited, 4)
    };
    let mut bench = Bench::new(&config);
    let host = bench.host.clone();
    bench.answer(Signal::Unreachable);
    assert_eq!(bench.closed(), Closed::Down);
    bench.politeness.forget_trouble(&host);
    assert_eq!(bench.state(), HostState::Open);
    bench.remember_wait(3_600 * SECOND);
    bench.politeness.forget_trouble(&host);
    let until = bench.now + 3_600 * SECOND;
    assert_eq!(bench.closed(), Closed::RetryAfter(until));
}
