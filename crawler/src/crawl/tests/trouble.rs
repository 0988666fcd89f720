//! Broken pages, broken directories and a host in trouble, under the default pace and on paused time.

use super::*;
use crate::fetch::FetchErrorKind::{Dns, Local, Timeout};

/// A site of a start page and these pages; `answer` has the answer for a path at a time since the start, counting
/// earlier requests for it.
fn site_of(
    paths: &[String],
    answer: impl Fn(&str, usize, Duration) -> Option<FixturePage> + Send + Sync + 'static,
) -> Bench {
    let home = FixturePage::linking(paths.iter().map(String::as_str));
    let began = Instant::now();
    let site = FixtureSite::new([(START, home)]).scripted(move |url, earlier| {
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
async fn broken_pages_do_not_slow_down_a_healthy_host() {
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
async fn an_obeyed_retry_after_now_and_then_costs_its_waits_only() {
    for always in [false, true] {
        let paths = paths("/page/", 600);
        let healthy = healthy_time(&paths).await;
        let bench = site_of(&paths, move |path, earlier, _| {
            let is_busy = number_of(path) % 30 == 29 && (always || earlier == 0);
            is_busy.then(|| FixturePage::status(503).with_header("retry-after", "3"))
        });
        bench.run().await;
        let refusals = if always { 60 } else { 20 };
        let waits = Duration::from_secs(3 * refusals);
        let took = took(&bench);
        assert!(
            took <= healthy.mul_f64(1.2) + waits,
            "{took:?} {healthy:?} {always}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_directory_does_not_hold_up_the_others() {
    let paths = [paths("/hanging/", 40), paths("/good/", 20)].concat();
    let bench = site_of(&paths, |path, _, _| {
        let hangs = path.starts_with("/hanging/");
        hangs.then(|| FixturePage::failing(Timeout).after(Duration::from_secs(30)))
    });
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 21);
    assert_eq!(with_reason(&crawled, Reason::NetworkError).len(), 40);
    let requests = bench.site.requests();
    let good = requests
        .iter()
        .filter(|request| request.url.contains("/good/"));
    let good: Vec<Duration> = good
        .map(|request| request.ended.unwrap() - requests[0].begun)
        .collect();
    assert_eq!(good.len(), 20);
    assert!(
        good.iter().all(|ended| *ended < Duration::from_secs(60)),
        "{good:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_fails_at_the_end_is_given_up_when_the_start_page_answers() {
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
    let notice = texts(&crawled)
        .into_iter()
        .find(|notice| notice.contains("502 at"));
    assert!(notice.is_some(), "{:?}", texts(&crawled));
}

#[tokio::test(start_paused = true)]
async fn published_pages_of_a_directory_that_is_given_up_are_asked_for_by_the_next_session() {
    let paths = paths("/page/", 100);
    let night = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tonight = Arc::clone(&night);
    let mut bench = site_of(&paths, move |path, _, _| {
        let is_broken = tonight.load(std::sync::atomic::Ordering::SeqCst) > 0;
        (is_broken && number_of(path) < 60).then(|| FixturePage::status(502))
    });
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 101);
    bench.finish(crawled);
    for _ in 0..2 {
        night.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        bench.now += Duration::from_secs(24 * 60 * 60);
        let crawled = bench.run().await;
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
        assert!(
            pages.iter().filter(|asked| *asked == path).count() >= 2,
            "{path}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn rules_without_a_match_are_not_noted_while_published_pages_wait_for_the_next_session() {
    let paths = paths("/page/", 100);
    let is_broken = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let fails = Arc::clone(&is_broken);
    let mut bench = site_of(&paths, move |path, _, _| {
        let fails = fails.load(std::sync::atomic::Ordering::SeqCst) && number_of(path) < 60;
        fails.then(|| FixturePage::status(502))
    });
    let crawled = bench.run().await;
    bench.finish(crawled);
    is_broken.store(true, std::sync::atomic::Ordering::SeqCst);
    bench.now += Duration::from_secs(24 * 60 * 60);
    bench.config.scope.exclude = vec!["/nowhere/*".to_owned()];
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
    let codes: Vec<_> = crawled.notes.iter().map(|note| note.code).collect();
    assert!(
        codes.contains(&"given-up") && !codes.contains(&"rule-without-match"),
        "{codes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_hangs_does_not_hold_up_the_others_on_the_second_night_either() {
    let is_second = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hangs = Arc::clone(&is_second);
    let all = [paths("/hanging/", 40), paths("/good/", 20)].concat();
    let mut bench = site_of(&all, move |path, _, _| {
        let tag = FixturePage::linking([]).with_header("etag", &format!("\"{path}\""));
        let is_hanging = hangs.load(std::sync::atomic::Ordering::SeqCst);
        Some(if is_hanging && path.starts_with("/hanging/") {
            FixturePage::failing(Timeout).after(Duration::from_secs(30))
        } else {
            tag
        })
    });
    let crawled = bench.run().await;
    bench.finish(crawled);
    let before = bench.site.requests().len();
    is_second.store(true, std::sync::atomic::Ordering::SeqCst);
    bench.now += Duration::from_secs(24 * 60 * 60);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let requests = &bench.site.requests()[before..];
    let good = requests
        .iter()
        .filter(|request| request.url.contains("/good/"));
    let ended: Vec<Duration> = good
        .map(|request| request.ended.unwrap() - requests[0].begun)
        .collect();
    assert_eq!(ended.len(), 20);
    assert!(
        ended.iter().all(|ended| *ended < Duration::from_secs(60)),
        "{ended:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_machine_without_a_network_for_long_is_no_outage_of_the_site() {
    let bench = site_of(&paths("/page/", 60), move |_, _, since| {
        (since.as_secs() >= 1).then(|| FixturePage::failing(Local))
    });
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
    assert_eq!(with_reason(&crawled, Reason::NetworkError).len(), 0);
    assert!(with_reason(&crawled, Reason::Queued).len() > 40);
}

#[tokio::test(start_paused = true)]
async fn slower_answers_are_named_as_the_cause() {
    let bench = site_of(&paths("/page/", 400), |_, _, since| {
        let latency = if since.as_secs() < 20 { 300 } else { 900 };
        Some(FixturePage::linking([]).after(Duration::from_millis(latency)))
    });
    let crawled = bench.run().await;
    let texts = texts(&crawled);
    assert!(
        texts
            .iter()
            .any(|text| text.contains("answers take twice as long")),
        "{texts:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_host_that_fails_with_its_start_page_is_down() {
    let paths = [paths("/a/", 50), paths("/b/", 50)].concat();
    let home = FixturePage::linking(paths.iter().map(String::as_str));
    let answered = std::sync::atomic::AtomicUsize::new(0);
    let site = FixtureSite::new([(START, home.clone())]).scripted(move |url, _| {
        let is_up = answered.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 30;
        let page = if url == START {
            home.clone()
        } else {
            FixturePage::linking([])
        };
        if url.ends_with("/robots.txt") {
            return None;
        }
        Some(if is_up {
            page
        } else {
            FixturePage::status(503)
        })
    });
    let mut bench = Bench::new(site);
    bench.config.politeness = Config::default().politeness;
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::SiteDown);
    assert!(
        bench.site.requests().len() < 30 + 60,
        "{}",
        bench.site.requests().len()
    );
}

#[tokio::test(start_paused = true)]
async fn a_host_in_trouble_is_spared_and_crawled_at_full_pace_again_afterwards() {
    let minute = Duration::from_secs(60);
    for directory in ["/", "/page/", "/mixed"] {
        let mut all = paths(directory, 900);
        if directory == "/mixed" {
            all = (0..900)
                .map(|number| format!("/{}/{number:03}", number % 7))
                .collect();
        }
        let bench = site_of(&all, move |path, _, since| {
            let fails = since < minute && (number_of(path) / 2).is_multiple_of(2);
            fails.then(|| FixturePage::status(500))
        });
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        let requests = bench.site.requests();
        // From the thirtieth answer on until the minute is over, at most one request in 0.8 s.
        let slow = requests[30..]
            .windows(2)
            .take_while(|pair| pair[1].begun - requests[0].begun < minute);
        let mut count = 0;
        for pair in slow {
            count += 1;
            let gap = pair[1].begun - pair[0].begun;
            assert!(gap >= Duration::from_millis(799), "{gap:?} {directory}");
        }
        assert!(count > 10, "{count}");
        // A minute after the trouble requests come at the full pace.
        let again = requests
            .windows(11)
            .find(|pages| pages[0].begun - requests[0].begun >= 2 * minute)
            .unwrap();
        assert!(
            again[10].begun - again[0].begun <= Duration::from_millis(1_001),
            "{directory}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_asks_for_a_year_costs_itself_only() {
    for status in [503, 429, 500] {
        let folder = tempfile::tempdir().unwrap();
        let is_new_day = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_open = Arc::clone(&is_new_day);
        let mut bench = site_of(&paths("/page/", 50), move |path, _, _| {
            let asks = number_of(path) == 7 && !is_open.load(std::sync::atomic::Ordering::SeqCst);
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
        is_new_day.store(true, std::sync::atomic::Ordering::SeqCst);
        bench.now += Duration::from_secs(24 * 60 * 60);
        let crawled = bench.run().await;
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 51);
        assert_eq!(texts(&crawled), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_is_not_obeyed_where_it_is_ignored() {
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
    bench.crawl(START, &Shutdown::default()).await.unwrap_err();
    assert_eq!(bench.site.requests().len(), 0);
    bench.config.ignore.retry_after = true;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 21);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_asks_for_a_long_wait_gets_it_for_a_day_at_most() {
    for path in ["/", "/robots.txt"] {
        let folder = tempfile::tempdir().unwrap();
        let asks = FixturePage::status(503).with_header("retry-after", "31536000");
        let mut bench = Bench::new(site([(path, asks)]));
        bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
        for expected in ["2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z"] {
            let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
            let message = error.to_string();
            for word in ["https://site.example", expected, "--ignore retry-after"] {
                assert!(message.contains(word), "{message}");
            }
            bench.now += Duration::from_secs(60 * 60);
        }
        let before = bench.site.requests().len();
        assert_eq!(before, if path == "/" { 2 } else { 1 });
        bench.now += Duration::from_secs(23 * 60 * 60);
        bench.crawl(START, &Shutdown::default()).await.unwrap_err();
        assert!(bench.site.requests().len() > before);
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_beyond_an_hour_ends_the_crawl_at_once() {
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
async fn a_fault_of_this_machine_is_waited_for_and_costs_no_page() {
    for kind in [Local, Dns] {
        let bench = site_of(&paths("/page/", 60), move |_, _, since| {
            let is_off = (1..=100).contains(&since.as_secs());
            is_off.then(|| FixturePage::failing(kind))
        });
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 61);
        let said = texts(&crawled)
            .into_iter()
            .filter(|notice| notice.contains("after a pause"));
        assert_eq!(said.count(), 1, "{:?}", texts(&crawled));
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_this_machine_at_the_start_is_named_at_once() {
    let bench = Bench::new(site([("/robots.txt", FixturePage::failing(Local))]));
    let began = Instant::now();
    bench.crawl(START, &Shutdown::default()).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(bench.site.requests().len(), 1);
}

/// The site of `pages` with `sitemaps` that robots.txt names; what is below `/bad/` answers 503.
fn site_with_a_bad_directory(pages: &[String], sitemaps: &[String]) -> Bench {
    let lines = sitemaps
        .iter()
        .map(|path| format!("Sitemap: {}", url(path)));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let home = FixturePage::linking(pages.iter().map(String::as_str));
    let site = FixtureSite::new([(START, home)]).scripted(move |url, _| {
        let path = url.strip_prefix("https://site.example")?;
        match path {
            "/" => None,
            "/robots.txt" => Some(FixturePage::text(&lines)),
            _ if path.starts_with("/bad/") => Some(FixturePage::status(503)),
            _ => Some(FixturePage::linking([])),
        }
    });
    let mut bench = Bench::new(site);
    bench.config.politeness = Config::default().politeness;
    bench.config.discover.sitemaps = true;
    bench
}

#[tokio::test(start_paused = true)]
async fn sitemaps_of_a_directory_that_fails_are_given_up_with_it() {
    for pages in [
        [paths("/good/", 3), paths("/bad/", 60)].concat(),
        paths("/good/", 3),
    ] {
        let bench = site_with_a_bad_directory(&pages, &paths("/bad/sitemap-", 100));
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained);
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 4);
        let requests = bench.pages();
        assert_eq!(requests.iter().filter(|path| *path == "/").count(), 2);
        assert!(requests.len() < 150, "{}", requests.len());
        let note = |text: &String| text.contains("503");
        assert!(texts(&crawled).iter().any(note), "{:?}", texts(&crawled));
    }
}
