//! Random sites: every page is recorded once, and a crawl that was stopped and continued has the result of
//! an uninterrupted one.

use super::*;

/// A small random number generator (`SplitMix64`), so that a failing case can be run again by its seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }
}

/// A random site: pages with links, redirects, failures that pass, and paths that robots.txt forbids.
pub(super) fn random_site(seed: u64) -> (FixtureSite, BTreeSet<String>) {
    let mut random = Random(seed);
    let count = 5 + random.below(60);
    let targets: Vec<Vec<u64>> = (0..count)
        .map(|_| (0..random.below(6)).map(|_| random.below(count)).collect())
        .collect();
    let kinds: Vec<u64> = (0..count)
        .map(|number| if number == 0 { 0 } else { random.below(10) })
        .collect();
    let path = move |number: u64, kinds: &[u64]| match (
        number,
        usize::try_from(number).map(|at| kinds[at]),
    ) {
        (0, _) => "/".to_owned(),
        (number, Ok(9)) => format!("/private/{number}"),
        (number, _) => format!("/{number}"),
    };
    let mut reachable = BTreeSet::new();
    let mut stack = vec![0];
    while let Some(number) = stack.pop() {
        let at = usize::try_from(number).unwrap();
        if kinds[at] == 9 || !reachable.insert(path(number, &kinds)) {
            continue;
        }
        match kinds[at] {
            8 => stack.extend(targets[at].first()),
            _ => stack.extend(&targets[at]),
        }
    }
    let mut pages = vec![(
        url("/robots.txt"),
        FixturePage::text("User-agent: *\nDisallow: /private/\n"),
    )];
    for number in 0..count {
        let at = usize::try_from(number).unwrap();
        let links: Vec<String> = targets[at]
            .iter()
            .map(|&target| path(target, &kinds))
            .collect();
        let page = match (kinds[at], links.first()) {
            (8, Some(target)) => FixturePage::redirect(302, target),
            _ => FixturePage::linking(links.iter().map(String::as_str)),
        };
        pages.push((
            url(&path(number, &kinds)),
            page.after(Duration::from_millis(random.below(400))),
        ));
    }
    let flaky: BTreeSet<String> = (1..count)
        .filter(|_| random.below(8) == 0)
        .map(|number| url(&path(number, &kinds)))
        .collect();
    let site = FixtureSite::new(pages.iter().map(|(url, page)| (url.as_str(), page.clone())));
    let site = site.scripted(move |url, earlier| {
        (earlier == 0 && flaky.contains(url)).then(|| FixturePage::failing(FetchErrorKind::Reset))
    });
    (site, reachable)
}

/// Crawls with starts that are stopped or aborted at random, until one of them comes to its end.
pub(super) async fn run_with_stops(bench: &Bench, seed: u64) -> Crawled {
    let mut random = Random(seed ^ 0xabcd);
    loop {
        let shutdown = Shutdown::default();
        let after = Duration::from_millis(1 + random.below(900));
        let aborts = random.below(2) == 0;
        let crawl = bench.crawl(START, &shutdown);
        tokio::pin!(crawl);
        let crawled = tokio::select! {
            crawled = &mut crawl => crawled,
            () = tokio::time::sleep(after) => {
                if aborts { shutdown.abort() } else { shutdown.stop() }
                crawl.await
            }
        };
        match crawled {
            Ok(crawled) if crawled.ending == Ending::Drained => break crawled,
            Ok(crawled) => bench.keep(crawled),
            Err(CrawlError::Stopped) => {
                // The opening of the store may be under way still; paused time waits for it.
                tokio::time::sleep(Duration::from_millis(1)).await;
                *bench.store.lock().unwrap() = None;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
        if bench.store.lock().unwrap().is_none() {
            // Stopped before the store was opened: nothing was written yet.
            bench.begin_anew();
        }
    }
}

fn fetched(crawled: &Crawled) -> BTreeSet<String> {
    reasons(crawled)
        .into_iter()
        .filter(|&(_, reason)| {
            reason != Reason::RobotsDisallowed && reason.state() != State::Queued
        })
        .map(|(path, _)| path)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn random_sites_are_recorded_within_the_limits() {
    for seed in 0..150 {
        let (site, reachable) = random_site(seed);
        let mut bench = Bench::new(site);
        bench.config.politeness.rate = Rate::PerSecond(20.0);
        bench.config.politeness.concurrency = std::num::NonZeroU32::new(3).unwrap();
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained, "seed {seed}");
        assert_eq!(fetched(&crawled), reachable, "seed {seed}");
        let requests = bench.site.requests();
        for request in &requests {
            assert!(request.in_flight <= 3, "seed {seed}");
            assert!(!request.url.contains("/private/"), "seed {seed}");
        }
        for pair in requests.windows(2) {
            let gap = pair[1].begun - pair[0].begun;
            assert!(gap >= Duration::from_millis(50), "seed {seed}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stopped_and_resumed_runs_equal_uninterrupted_ones() {
    for seed in 0..150 {
        let (site, _) = random_site(seed);
        let whole = Bench::new(site).run().await;
        let (site, _) = random_site(seed);
        let crawled = run_with_stops(&Bench::new(site), seed).await;
        assert_eq!(reasons(&crawled), reasons(&whole), "seed {seed}");
    }
}
