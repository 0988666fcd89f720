//! Waiting for the host: `Crawl-delay`, `Retry-After`, other tries.

use super::{
    seeding::{discovering, urlset},
    *,
};

#[tokio::test(start_paused = true)]
async fn a_request_by_http1_is_no_further_try() {
    for path in ["/robots.txt", "/", "/page", "/map.xml"] {
        let map = urlset(["/listed".to_owned()]);
        let site = site([
            ("/", FixturePage::linking(["/page"])),
            ("/page", FixturePage::linking([])),
            ("/listed", FixturePage::linking([])),
            ("/map.xml", map),
            (
                "/robots.txt",
                FixturePage::text("Sitemap: https://site.example/map.xml"),
            ),
        ]);
        let site = site.scripted(move |url, earlier| {
            (earlier == 0 && url.ends_with(&format!("site.example{path}")))
                .then(|| FixturePage::failing(FetchErrorKind::Http1Next))
        });
        let mut bench = discovering(site);
        bench.config.limits.max_tries = 1;
        let crawled = bench.run().await;
        let listed = with_reason(&crawled, Reason::Listed);
        assert_eq!(listed, ["/", "/listed", "/page"], "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_asks_to_wait_is_deferred() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<String> = (0..9).map(|number| format!("/{number}")).collect();
    let site = site([("/", linking(&paths))]).scripted(|url, _| {
        let is_page = url.ends_with(|last: char| last.is_ascii_digit());
        is_page.then(|| FixturePage::status(503).with_header("retry-after", "3600"))
    });
    let mut bench = Bench::new(site);
    bench.config.politeness.concurrency = std::num::NonZeroU32::MIN;
    bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
    // robots.txt and the start page were answered well before.
    assert_eq!(with_reason(&crawled, Reason::ServerError).len(), 5);
    assert_eq!(with_reason(&crawled, Reason::Queued).len(), 4);
    bench.keep(crawled);
    let before = bench.site.requests().len();
    let error = bench.fail().await;
    assert!(
        matches!(error, CrawlError::Start(StartError::Robots(_))),
        "{error}"
    );
    assert_eq!(
        bench.site.requests().len(),
        before,
        "not one request inside the window"
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_is_stored_before_its_wait() {
    let folder = tempfile::tempdir().unwrap();
    let site =
        FixtureSite::new([(START, FixturePage::linking(["/a"]))]).scripted(|url, earlier| {
            let is_busy = url.ends_with("/a") && earlier == 0;
            is_busy.then(|| FixturePage::status(503).with_header("retry-after", "100"))
        });
    let mut bench = Bench::new(site);
    bench.retry_after = RetryAfterFile::in_file(&folder.path().join("holds"));
    let shutdown = Shutdown::default();
    let crawl = bench.crawl(START, &shutdown);
    tokio::pin!(crawl);
    tokio::select! {
        _ = &mut crawl => panic!("it waits"),
        () = tokio::time::sleep(Duration::from_secs(10)) => {}
    }
    let now = "2026-03-01T12:00:10Z".parse().unwrap();
    let held: Vec<HostKey> = bench
        .retry_after
        .load(now, Duration::ZERO)
        .unwrap()
        .hosts
        .into_iter()
        .map(|(host, _)| host)
        .collect();
    assert_eq!(held, [HostKey::new("site.example")]);
    shutdown.abort();
    crawl.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn damaged_retry_after_file_blocks_all_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holds");
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/a"])),
        ("/a", FixturePage::linking([])),
    ]));
    bench.retry_after = RetryAfterFile::in_file(&path);
    bench.config.politeness.pause = Duration::from_secs(300);
    std::fs::write(&path, "no line\n").unwrap();
    let began = Instant::now();
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
    // That is longer than a host is waited for that asks for it.
    let first = bench.site.requests()[0].begun;
    assert_eq!(first - began, Duration::from_secs(300));
    assert_noted(&crawled, "is damaged");
    // The next start has nothing to wait for, and nothing to report.
    bench.keep(crawled);
    bench.now += Duration::from_secs(300);
    let began = Instant::now();
    let crawled = bench.run().await;
    assert_eq!(texts(&crawled), [""; 0]);
    assert!(began.elapsed() < Duration::from_secs(300));
}
