//! `delay` and `Crawl-delay`: one request at a time, spaced from the end of the last answer.

use super::*;

#[test]
fn crawl_delay_counts_from_the_last_answer() {
    let mut bench = Bench::new(&config(Rate::PerSecond(10.0), 4));
    // As for robots.txt: its own request started before the delay was known.
    let robots = bench.permit();
    bench.wait(3 * SECOND);
    bench.finish(robots, FINE);
    bench.crawl_delay(5 * SECOND);
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
fn the_larger_of_delay_and_crawl_delay_holds() {
    fn check(delay: Option<u64>, crawl_delay: Option<u64>, expected: Option<u64>) {
        let [delay, crawl_delay, expected] =
            [delay, crawl_delay, expected].map(|seconds| seconds.map(Duration::from_secs));
        let row = format!("{delay:?} {crawl_delay:?}");
        let mut bench = Bench::new(&PolitenessConfig {
            delay,
            ..config(Rate::PerSecond(10.0), 4)
        });
        bench
            .politeness
            .set_crawl_delay(&origin(&bench.host), crawl_delay);
        let state = expected.map_or(HostState::Open, HostState::Delay);
        assert_eq!(bench.state(), state, "{row}");
        bench.request(FINE);
        let wait = expected.unwrap_or(milliseconds(100));
        assert_eq!(bench.asked_wait(), wait, "{row}");
    }
    check(None, None, None);
    check(None, Some(0), None);
    check(Some(0), None, None);
    check(Some(2), None, Some(2));
    check(Some(2), Some(1), Some(2));
    check(Some(1), Some(2), Some(2));
    check(None, Some(100_000), Some(100_000));
}

#[test]
fn the_largest_crawl_delay_of_origins_holds() {
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
    bench.request(FINE);
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
