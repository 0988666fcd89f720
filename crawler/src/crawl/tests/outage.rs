//! A site that goes down while it is crawled, and the sessions that continue the crawl.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use super::{
    recrawl::{Says, bench, run},
    *,
};

/// A site of `count` pages, and how many of its pages answer before it goes down. Its robots.txt and its start page
/// answer all the same, as out of a cache; `/broken` never does.
fn site_with(
    count: usize,
    failure: impl Fn() -> FixturePage + Send + Sync + 'static,
) -> (FixtureSite, Arc<AtomicUsize>) {
    let good = Arc::new(AtomicUsize::new(usize::MAX));
    let left = Arc::clone(&good);
    let mut paths = vec!["/broken".to_owned()];
    paths.extend((0..count).map(|number| format!("/{number:03}")));
    let site = site([("/", linking(&paths))]).scripted(move |asked, _| {
        let path = asked.strip_prefix(START)?;
        match path {
            "" | "robots.txt" => None,
            "broken" => Some(FixturePage::status(500)),
            _ => {
                let take = |left: usize| left.checked_sub(1);
                let is_up = left.fetch_update(SeqCst, SeqCst, take).is_ok();
                Some(if is_up {
                    FixturePage::linking([])
                } else {
                    failure()
                })
            }
        }
    });
    (site, good)
}

#[tokio::test(start_paused = true)]
async fn failures_of_an_outage_are_requested_again() {
    for failure in [
        FixturePage::status(503),
        FixturePage::failing(FetchErrorKind::Reset),
        FixturePage::failing(FetchErrorKind::Timeout),
    ] {
        let (site, good) = site_with(100, move || failure.clone());
        let mut bench = Bench::new(site);
        bench.config.limits.retry_delays = vec![Duration::ZERO];
        good.store(40, SeqCst);
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::SiteDown);
        bench.keep(crawled);
        // A night later it is still down.
        good.store(0, SeqCst);
        bench.now += Duration::from_secs(24 * 60 * 60);
        let crawled = bench.run().await;
        assert!(crawled.resumed);
        assert_eq!(crawled.ending, Ending::SiteDown);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 41);
        bench.keep(crawled);
        good.store(usize::MAX, SeqCst);
        bench.now += Duration::from_secs(24 * 60 * 60);
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 101);
        // It failed while others answered: that is its own doing.
        assert_eq!(with_reason(&crawled, Reason::ServerError), ["/broken"]);
    }
}

#[tokio::test(start_paused = true)]
async fn failures_before_a_long_pause_are_requested_again() {
    let failures = AtomicU64::new(0);
    let (site, good) = site_with(60, move || match failures.fetch_add(1, SeqCst) {
        0..20 => FixturePage::status(500),
        _ => FixturePage::status(503).with_header("retry-after", "3600"),
    });
    let bench = Bench::new(site);
    good.store(15, SeqCst);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
    assert!(with_reason(&crawled, Reason::ServerError).len() > 2);
    bench.keep(crawled);
    good.store(usize::MAX, SeqCst);
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 61);
}

#[tokio::test(start_paused = true)]
async fn pages_that_always_fail_end_up_failed() {
    let (site, good) = site_with(150, || FixturePage::status(503));
    let mut bench = Bench::new(site);
    good.store(10, SeqCst);
    let mut starts = 0;
    let crawled = loop {
        starts += 1;
        assert!(starts <= 20, "the run does not end");
        bench.now += Duration::from_secs(24 * 60 * 60);
        let crawled = bench.run().await;
        if crawled.ending == Ending::Drained {
            break crawled;
        }
        assert_eq!(crawled.ending, Ending::SiteDown);
        bench.keep(crawled);
    };
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 11);
    let failed = with_reason(&crawled, Reason::ServerError).len()
        + with_reason(&crawled, Reason::NetworkError).len();
    assert_eq!(failed, 141);
}

#[tokio::test(start_paused = true)]
async fn published_pages_are_requested_after_an_outage() {
    let (mut bench, says): (Bench, Says) = bench();
    bench.config.politeness.failures_before_pause = 10;
    let paths: Vec<String> = (0..60).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = paths.iter().map(String::as_str).collect();
    says.link("/", &links);
    for path in &links {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    for path in &links[15..] {
        says.set(path, FixturePage::status(503));
    }
    let down = run(&mut bench).await;
    let failed = down.visits.values();
    assert!(
        failed
            .filter(|visit| visit.reason == Reason::ServerError)
            .count()
            > 5
    );
    says.html("/20", "<meta name=robots content=noindex>");
    for path in links[15..].iter().filter(|path| **path != "/20") {
        says.link(path, &[]);
    }
    let well = run(&mut bench).await;
    assert_eq!(well.number, down.number);
    assert_eq!(well.listed().len(), 60);
    assert_eq!(well.reason("/20"), Reason::Noindex);
    // Everything else is what it was, and a 304 confirmed it.
    assert!(well.not_modified >= 40, "{}", well.not_modified);
}
