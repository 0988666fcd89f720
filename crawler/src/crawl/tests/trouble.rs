//! Broken pages, broken directories and a host in trouble, under the default pace and on paused time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use super::*;
use crate::fetch::FetchErrorKind::{Dns, Local, Timeout};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A site of a start page and these pages; `answer` has the answer for a path at a time since the start, counting
/// earlier requests for it.
fn site_of(
    paths: &[String],
    answer: impl Fn(&str, usize, Duration) -> Option<FixturePage> + Send + Sync + 'static,
) -> Bench {
    let began = Instant::now();
    let site = site([("/", linking(paths))]).scripted(move |url, earlier| {
        let path = url.strip_prefix("https://site.example")?;
        if matches!(path, "/" | "/robots.txt") {
            return None;
        }
        let page = answer(path, earlier, began.elapsed());
        Some(page.unwrap_or_else(|| FixturePage::linking([])))
    });
    let mut bench = Bench::new(site);
    bench.config.politeness = Config::default().politeness;
    bench
}

fn paths(directory: &str, count: usize) -> Vec<String> {
    let numbers = 0..count;
    numbers
        .map(|number| format!("{directory}{number:03}"))
        .collect()
}

fn number_of(path: &str) -> usize {
    let digits = path.rsplit('/').next().unwrap();
    digits.parse().unwrap_or_default()
}

/// The time from the first request to the end of the last answer.
fn took(bench: &Bench) -> Duration {
    let requests = bench.site.requests();
    let ended = requests.iter().filter_map(|request| request.ended).max();
    ended.unwrap() - requests[0].begun
}

async fn healthy_time(paths: &[String]) -> Duration {
    let bench = site_of(paths, |_, _, _| None);
    bench.run().await;
    took(&bench)
}

#[tokio::test(start_paused = true)]
async fn broken_pages_slow_no_healthy_host_down() {
    for directory in ["/", "/page/"] {
        let paths = paths(directory, 600);
        let healthy = healthy_time(&paths).await;
        let bench = site_of(&paths, |path, _, _| {
            (number_of(path) % 33 == 32).then(|| FixturePage::status(500))
        });
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::ServerError).len(), 18);
        let took = took(&bench);
        assert!(took <= healthy.mul_f64(1.3), "{took:?} {healthy:?}");
        // Other tries come after all first tries.
        let pages = bench.pages();
        let last_first = pages.iter().position(|path| *path == paths[599]).unwrap();
        let asked_again = pages[..last_first]
            .iter()
            .filter(|path| number_of(path) % 33 == 32);
        assert_eq!(asked_again.count(), 18, "{directory}");
        assert_eq!(pages.len(), 601 + 36);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_directory_does_not_hold_up_others() {
    for is_known in [false, true] {
        let is_hanging = Arc::new(AtomicBool::new(!is_known));
        let hangs = Arc::clone(&is_hanging);
        let all = [paths("/hanging/", 40), paths("/good/", 20)].concat();
        let mut bench = site_of(&all, move |path, _, _| {
            let tag = FixturePage::linking([]).with_header("etag", &format!("\"{path}\""));
            let hangs = hangs.load(SeqCst) && path.starts_with("/hanging/");
            let silence = || FixturePage::failing(Timeout).after(Duration::from_secs(30));
            Some(if hangs { silence() } else { tag })
        });
        if is_known {
            let crawled = bench.run().await;
            bench.finish(crawled);
            is_hanging.store(true, SeqCst);
            bench.now += DAY;
        }
        let before = bench.site.requests().len();
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        if !is_known {
            assert_eq!(with_reason(&crawled, Reason::Listed).len(), 21);
            assert_eq!(with_reason(&crawled, Reason::NetworkError).len(), 40);
        }
        let requests = &bench.site.requests()[before..];
        let good = requests
            .iter()
            .filter(|request| request.url.contains("/good/"));
        let ended: Vec<Duration> = good
            .map(|request| request.ended.unwrap() - requests[0].begun)
            .collect();
        assert_eq!(ended.len(), 20, "{is_known}");
        let is_early = |ended: &Duration| *ended < Duration::from_secs(60);
        assert!(ended.iter().all(is_early), "{is_known}: {ended:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_fails_late_is_given_up() {
    let paths = [paths("/good/", 20), paths("/broken/", 100)].concat();
    let bench = site_of(&paths, |path, _, _| {
        path.starts_with("/broken/")
            .then(|| FixturePage::status(502))
    });
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 21);
    let failed = with_reason(&crawled, Reason::ServerError).len()
        + with_reason(&crawled, Reason::NetworkError).len();
    assert_eq!(failed, 100);
    let pages = bench.pages();
    assert_eq!(pages.iter().filter(|path| *path == "/").count(), 2);
    let asked = pages
        .iter()
        .filter(|path| path.starts_with("/broken/"))
        .count();
    assert!((30..60).contains(&asked), "{asked}");
    assert_noted(&crawled, "502 at");
}

#[tokio::test(start_paused = true)]
async fn published_pages_given_up_are_requested_next_session() {
    let paths = paths("/page/", 100);
    let is_broken = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&is_broken);
    let mut bench = site_of(&paths, move |path, _, _| {
        let fails = fails.load(SeqCst) && number_of(path) < 60;
        fails.then(|| FixturePage::status(502))
    });
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 101);
    bench.finish(crawled);
    is_broken.store(true, SeqCst);
    bench.config.scope.exclude = vec!["/nowhere/*".to_owned()];
    for night in 1..=2 {
        bench.now += DAY;
        let crawled = bench.run().await;
        if night == 1 {
            assert_eq!(crawled.ending, Ending::Deferred);
            let codes: Vec<_> = crawled.notes.iter().map(|note| note.code).collect();
            assert!(codes.contains(&"given-up"), "{codes:?}");
            assert!(!codes.contains(&"rule-without-match"), "{codes:?}");
        }
        if crawled.ending == Ending::Drained {
            bench.finish(crawled);
        } else {
            assert_eq!(crawled.ending, Ending::Deferred);
            bench.keep(crawled);
        }
    }
    // Each of the good pages was asked for again, in one of two nights.
    let pages = bench.pages();
    for path in &paths[60..] {
        let asked = pages.iter().filter(|asked| *asked == path).count();
        assert!(asked >= 2, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn slower_answers_are_named_as_the_cause() {
    let bench = site_of(&paths("/page/", 400), |_, _, since| {
        let latency = if since.as_secs() < 20 { 300 } else { 900 };
        Some(FixturePage::linking([]).after(Duration::from_millis(latency)))
    });
    let crawled = bench.run().await;
    assert_noted(&crawled, "answers take twice as long");
}

#[tokio::test(start_paused = true)]
async fn a_host_whose_start_page_fails_is_down() {
    let paths = [paths("/a/", 50), paths("/b/", 50)].concat();
    let answered = AtomicUsize::new(0);
    let site = site([("/", linking(&paths))]).scripted(move |url, _| {
        if url.ends_with("/robots.txt") {
            return None;
        }
        let page = (url != START).then(|| FixturePage::linking([]));
        let is_up = answered.fetch_add(1, SeqCst) < 30;
        if is_up {
            page
        } else {
            Some(FixturePage::status(503))
        }
    });
    let mut bench = Bench::new(site);
    bench.config.politeness = Config::default().politeness;
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::SiteDown);
    let requests = bench.site.requests().len();
    assert!(requests < 30 + 60, "{requests}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_a_year_costs_one_page() {
    for status in [503, 429, 500] {
        let folder = tempfile::tempdir().unwrap();
        let is_new_day = Arc::new(AtomicBool::new(false));
        let is_open = Arc::clone(&is_new_day);
        let mut bench = site_of(&paths("/page/", 50), move |path, _, _| {
            let asks = number_of(path) == 7 && !is_open.load(SeqCst);
            asks.then(|| FixturePage::status(status).with_header("retry-after", "31536000"))
        });
        bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 50);
        let pages = bench.pages();
        assert_eq!(pages.iter().filter(|path| *path == "/page/007").count(), 1);
        let notice = &texts(&crawled)[0];
        for word in [
            "/page/007",
            &status.to_string(),
            "2027-03-01",
            "--ignore retry-after",
        ] {
            assert!(notice.contains(word), "{notice}");
        }
        bench.finish(crawled);
        is_new_day.store(true, SeqCst);
        bench.now += DAY;
        let crawled = bench.run().await;
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 51);
        assert_eq!(texts(&crawled), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_ignored_retry_after_is_not_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = site_of(&paths("/page/", 20), |path, earlier, _| {
        let asks = number_of(path) < 3 && earlier == 0;
        asks.then(|| FixturePage::status(503).with_header("retry-after", "3600"))
    });
    bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
    let until = "2026-03-02T11:00:00Z".parse().unwrap();
    bench
        .retry_after
        .remember(&HostKey::new("site.example"), until, bench.now)
        .unwrap();
    bench.fail().await;
    assert_eq!(bench.site.requests().len(), 0);
    bench.config.ignore.retry_after = true;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 21);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_is_waited_for_a_day() {
    let asks = || FixturePage::status(503).with_header("retry-after", "31536000");
    let (own, other) = ("https://site.example/", "https://www.site.example/");
    let moved = FixturePage::redirect(301, other);
    for (pages, origin, requests) in [
        (vec![(own, asks())], own, 2),
        (vec![("/robots.txt", asks())], own, 1),
        (vec![(own, moved), (other, asks())], other, 2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = Bench::new(site(pages.clone()));
        bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
        for _ in 0..2 {
            let message = bench.fail().await.to_string();
            for word in [
                origin.trim_end_matches('/'),
                "2026-03-02T12:00:00Z",
                "--ignore retry-after",
            ] {
                assert!(message.contains(word), "{message}");
            }
            bench.now += Duration::from_secs(60 * 60);
        }
        let asked = |bench: &Bench| {
            let seen = bench.site.requests().into_iter();
            seen.filter(|seen| seen.url.starts_with(origin)).count()
        };
        assert_eq!(asked(&bench), requests, "{pages:?}");
        bench.now += Duration::from_secs(23 * 60 * 60);
        bench.fail().await;
        assert!(asked(&bench) > requests, "{pages:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_over_an_hour_is_refused() {
    let check = async |seconds: u64| {
        let robots = FixturePage::text(&format!("User-agent: *\nCrawl-delay: {seconds}\n"));
        let bench = Bench::new(site([
            ("/robots.txt", robots),
            ("/", FixturePage::linking([])),
        ]));
        let began = Instant::now();
        let crawled = bench.crawl(START, &Shutdown::default()).await;
        (crawled, began.elapsed(), bench.site.requests().len())
    };
    let (crawled, took, requests) = check(3_601).await;
    let message = crawled.unwrap_err().to_string();
    assert!(message.contains("Crawl-delay: 3601"), "{message}");
    assert!(took < Duration::from_secs(1) && requests == 1);
    let (crawled, took, requests) = check(3_600).await;
    assert_eq!(crawled.unwrap().ending, Ending::Drained);
    assert!(took >= Duration::from_secs(3_600) && requests == 2);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_this_machine_costs_no_page() {
    for (kind, until, ending) in [
        (Local, 100, Ending::Drained),
        (Dns, 100, Ending::Drained),
        (Local, u64::MAX, Ending::Deferred),
    ] {
        let bench = site_of(&paths("/page/", 60), move |_, _, since| {
            let is_off = (1..=until).contains(&since.as_secs());
            is_off.then(|| FixturePage::failing(kind))
        });
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, ending, "{kind:?} {until}");
        assert_eq!(with_reason(&crawled, Reason::NetworkError), [""; 0]);
        if ending == Ending::Deferred {
            assert!(with_reason(&crawled, Reason::Queued).len() > 40);
            continue;
        }
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 61);
        let mut pauses = texts(&crawled);
        pauses.retain(|text| text.contains("after a pause"));
        assert_eq!(pauses.len(), 1, "{:?}", texts(&crawled));
    }
}

#[tokio::test(start_paused = true)]
async fn a_local_fault_at_the_start_is_final() {
    let bench = Bench::new(site([("/robots.txt", FixturePage::failing(Local))]));
    let began = Instant::now();
    bench.fail().await;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(bench.site.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn sitemaps_of_a_failing_directory_are_given_up() {
    let sitemaps = paths("/bad/sitemap-", 100).into_iter();
    let lines = sitemaps.map(|path| format!("Sitemap: {}\n", url(&path)));
    let robots = FixturePage::text(&lines.collect::<String>());
    for pages in [
        [paths("/good/", 3), paths("/bad/", 60)].concat(),
        paths("/good/", 3),
    ] {
        let mut bench = site_of(&pages, |path, _, _| {
            let is_bad = path.starts_with("/bad/");
            is_bad.then(|| FixturePage::status(503))
        });
        let others = bench.site.script().unwrap();
        let robots = robots.clone();
        bench.site = bench.site.scripted(move |asked, earlier| {
            let is_robots = asked == url("/robots.txt");
            is_robots
                .then(|| robots.clone())
                .or_else(|| others(asked, earlier))
        });
        bench.config.discover.sitemaps = true;
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 4);
        let requests = bench.pages();
        assert_eq!(requests.iter().filter(|path| *path == "/").count(), 2);
        assert!(requests.len() < 150, "{}", requests.len());
        assert_noted(&crawled, "503");
    }
}
