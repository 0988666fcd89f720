//! `delay` and `Crawl-delay`: one request at a time, spaced from the end of the last answer.

use super::*;

#[test]
fn crawl_delay_counts_from_the_end_of_the_last_answer() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    // As for robots.txt: its own request started before the delay was known.
    let robots = bench.permit();
    bench.wait(3 * SECOND);
    bench.finish(robots, FINE);
    bench
        .politeness
        .set_crawl_delay(&origin(&bench.host), Some(5 * SECOND));
    assert_eq!(bench.asked_wait(), 5 * SECOND);
    bench.wait(5 * SECOND);
    let page = bench.permit();
    bench.wait(60 * SECOND);
    assert!(bench.is_busy(), "one at a time, however long it takes");
    bench.finish(page, FINE);
    assert_eq!(bench.asked_wait(), 5 * SECOND);
    assert_eq!(bench.state(), HostState::Delay(5 * SECOND));
}

#[test]
fn crawl_delay_waits_for_all_permits_that_were_out() {
    let mut bench = Bench::new(&config(Rate::Unlimited, 4));
    let (first, second) = (bench.permit(), bench.permit());
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
        let permit = bench.permit();
        bench.finish(permit, FINE);
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
    let _permits = (bench.permit(), bench.permit());
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
    let permit = bench.permit();
    bench.finish(permit, FINE);
    assert_eq!(bench.asked_wait(), SECOND);
}

#[test]
fn giving_back_neither_starts_nor_ends_a_delay() {
    let mut bench = Bench::new(&PolitenessConfig {
        delay: Some(10 * SECOND),
        ..config(Rate::PerSecond(10.0), 4)
    });
    let permit = bench.permit();
    bench.politeness.give_back(permit);
    bench.answer(FINE);
    assert_eq!(bench.asked_wait(), 10 * SECOND);
    bench.wait(10 * SECOND);
    let permit = bench.permit();
    bench.politeness.give_back(permit);
    let _permit = bench.permit();
}
