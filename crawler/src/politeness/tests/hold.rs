//! `Retry-After`: it stops the whole host and is never shortened.

use super::*;

#[test]
fn retry_after_stops_the_whole_host() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second) = (bench.permit(), bench.permit());
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
    let _permit = bench.permit();
    assert_eq!(bench.state(), HostState::Open, "one failure is no trouble");
}

#[test]
fn an_obeyed_retry_after_is_a_failure() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    for _ in 0..3 {
        bench.answer(retry_after(SECOND));
        bench.answer(FINE);
    }
    assert_eq!(bench.state(), HostState::SlowedDown(2));
}

#[test]
fn retry_after_is_never_shortened() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second, third) = (bench.permit(), bench.permit(), bench.permit());
    bench.finish(first, retry_after(30 * SECOND));
    let of_error = |seconds: u32| Signal::ServerError {
        retry_after: Some(seconds * SECOND),
    };
    bench.finish(second, of_error(1));
    assert_eq!(bench.asked_wait(), 30 * SECOND);
    bench.finish(third, of_error(40));
    assert_eq!(bench.asked_wait(), 40 * SECOND);
    assert_eq!(
        bench.politeness.waits_until(&bench.host),
        Some(bench.now + 40 * SECOND)
    );
    assert_eq!(bench.politeness.waited(), 40 * SECOND);
    assert_eq!(bench.politeness.in_flight(), 0);
}

#[test]
fn long_retry_after_does_not_stop_the_host() {
    fn check(wait: Duration, stops: bool) {
        let mut bench = Bench::new(&config(Rate::Unlimited, 4));
        bench.request(retry_after(wait));
        if stops {
            assert_eq!(bench.asked_wait(), wait);
        } else {
            let _permit = bench.permit();
            assert_eq!(bench.politeness.waits_until(&bench.host), None);
        }
    }
    check(120 * SECOND, true);
    check(120 * SECOND + Duration::from_nanos(1), false);
    check(Duration::from_secs(u64::MAX), false);
    check(Duration::MAX, false);
}

#[test]
fn most_answers_with_long_waits_close_the_host() {
    /// One letter for each answer: `L` asks for an hour, anything else is good.
    fn closes(answers: &str) -> bool {
        let mut bench = Bench::new(&config(Rate::PerSecond(1_000.0), 4));
        for letter in answers.chars() {
            bench.answer(match letter {
                'L' => retry_after(3_600 * SECOND),
                _ => FINE,
            });
        }
        let is_closed = matches!(bench.next(), NextPermit::Closed(Closed::RetryAfter(_)));
        assert_eq!(is_closed, bench.state() == HostState::Closed, "{answers}");
        is_closed
    }
    assert!(!closes("LLLL"), "four URLs");
    assert!(closes("LLLLL"));
    assert!(!closes(".L.L.L.L.L"), "half of the answers");
    assert!(closes(".L.L.L.L.LL"));
    assert!(closes("..........LLLLLL"));
    assert!(!closes(
        "L.........L.........L.........L.........L........."
    ));
}

#[test]
fn the_longest_wait_closes_the_host() {
    fn check(waits: &[u64], expected: u64) {
        let mut bench = Bench::new(&config(Rate::Unlimited, 8));
        let permits: Vec<Permit> = waits.iter().map(|_| bench.permit()).collect();
        for (permit, wait) in permits.into_iter().zip(waits) {
            bench.finish(permit, retry_after(Duration::from_secs(*wait)));
        }
        let until = bench.now + Duration::from_secs(expected);
        assert_eq!(bench.closed(), Closed::RetryAfter(until), "{waits:?}");
        bench.wait(Duration::from_secs(expected));
        assert!(matches!(bench.next(), NextPermit::Ready(_)), "{waits:?}");
    }
    check(&[3_600, 7_200, 3_600, 200, 300], 7_200);
    // A day is the most, and a short wait does not open it again.
    check(&[u64::MAX; 5], 86_400);
    check(&[3_600, 3_600, 3_600, 3_600, 3_600, 1], 3_600);
}

#[test]
fn a_remembered_retry_after_is_kept() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    bench.remember_wait(Duration::ZERO);
    let until = bench.politeness.waits_until(&bench.host);
    assert_eq!(until, None, "it is over");
    bench.remember_wait(60 * SECOND);
    bench.remember_wait(30 * SECOND);
    assert_eq!(bench.asked_wait(), 60 * SECOND);
    bench.remember_wait(121 * SECOND);
    assert_eq!(bench.closed(), Closed::RetryAfter(bench.now + 121 * SECOND));
    bench.wait(121 * SECOND);
    let _permit = bench.permit();
    assert_eq!(
        bench.state(),
        HostState::Open,
        "a wait of an earlier run is no trouble of this one"
    );
}

#[test]
fn a_wait_of_unknown_hosts_stops_every_host() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    // A short wait applies only to a host that asked for it: none did.
    let until = bench.now + 600 * SECOND;
    bench.politeness.let_everybody_wait_until(until);
    bench
        .politeness
        .let_everybody_wait_until(bench.now + 10 * SECOND);
    assert_eq!(bench.asked_wait(), 600 * SECOND);
    assert_eq!(bench.state(), HostState::RetryAfter(600 * SECOND));
    bench.remember_wait(3_600 * SECOND);
    assert_eq!(bench.state(), HostState::Closed, "this one did");
    bench.wait(600 * SECOND);
    let other = HostKey::new("other.example");
    let next = bench.politeness.next(&other, bench.now);
    assert!(matches!(next, NextPermit::Ready(_)), "{next:?}");
}

#[test]
fn a_retry_after_of_zero_counts_as_none() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    for _ in 0..10 {
        bench.answer(retry_after(Duration::ZERO));
    }
    assert_eq!(bench.state(), HostState::Pausing(60 * SECOND));
}
