//! The ends of sessions, and the next sessions, which continue their crawls.

use super::*;

#[tokio::test(start_paused = true)]
async fn max_depth_counts_the_fewest_hops() {
    // The long way /a /b /c is fast; the short way /slow is found first and answered last.
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/slow", "/a"])),
        (
            "/slow",
            FixturePage::linking(["/c"]).after(Duration::from_secs(20)),
        ),
        ("/a", FixturePage::linking(["/b"])),
        ("/b", FixturePage::linking(["/c"])),
        ("/c", FixturePage::linking(["/d"])),
        ("/d", FixturePage::linking(["/e"])),
        ("/e", FixturePage::linking([])),
    ]));
    bench.config.limits.max_depth = Some(3);
    let crawled = bench.run().await;
    assert_eq!(
        with_reason(&crawled, Reason::Listed),
        ["/", "/a", "/b", "/c", "/d", "/slow"]
    );
    assert_eq!(with_reason(&crawled, Reason::TooDeep), ["/e"]);
}

#[tokio::test(start_paused = true)]
async fn changed_rules_apply_to_a_resumed_crawl() {
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/x/1", "/y/1", "/z/1", "/z/2"])),
        ("/x/1", FixturePage::linking([])),
        ("/y/1", FixturePage::linking([])),
        ("/z/1", FixturePage::linking([])),
        ("/z/2", FixturePage::linking([])),
    ]));
    bench.config.scope.exclude = vec!["/y/*".into()];
    bench.config.limits.max_pages = 3;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::ExcludedByRule), ["/y/1"]);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/x/1", "/z/1"]);
    bench.keep(crawled);
    bench.config.scope.exclude = vec!["/x/*".into()];
    bench.config.limits.max_pages = 100;
    let crawled = bench.run().await;
    assert!(crawled.resumed);
    let listed: Vec<String> = visits(&crawled)
        .into_iter()
        .filter(|(path, visit)| {
            let key = UrlKey::from_normalised(&url(path)).unwrap();
            crawled.judge.again(&key, visit) == Reason::Listed
        })
        .map(|(path, _)| path)
        .collect();
    assert_eq!(listed, ["/", "/y/1", "/z/1", "/z/2"]);
    assert_eq!(
        bench.pages().len(),
        3 + 1 + 2,
        "what was decided is not asked for again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_store_is_a_bug() {
    // While it is opened, and on the trips of the loop: at each commit there is.
    let folder = tempfile::tempdir().unwrap();
    let mut works = BTreeSet::new();
    for commits in 0.. {
        let bench = Bench::new(site([
            ("/", FixturePage::linking(["/a"])),
            ("/a", FixturePage::linking([])),
        ]));
        let state = folder.path().join(format!("{commits}.db"));
        let panicking = Store::open(&state)
            .unwrap()
            .failing_after(commits, Fault::Panic);
        *bench.store.lock().unwrap() = Some(panicking);
        match bench.crawl(START, &Shutdown::default()).await {
            Ok(_) => break,
            Err(CrawlError::Internal { work, source }) => {
                let cause = source.to_string();
                assert!(cause.contains("a bug of the store"), "{cause}");
                works.insert(work);
            }
            Err(error) => panic!("{commits} commits: {error}"),
        }
        // What was committed stays, and the next start goes on from there.
        *bench.store.lock().unwrap() = Some(Store::open(&state).unwrap());
        let crawled = bench.run().await;
        assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
    }
    let both = ["opening the state of this site", USING_STATE];
    assert_eq!(works, BTreeSet::from(both));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_died_when_opened_is_resumed() {
    let bench = Bench::new(site([
        ("/", FixturePage::linking(["/a"])),
        ("/a", FixturePage::linking([])),
    ]));
    // Opening a crawl takes one commit, noting its rules the second; nothing after these.
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("site.db");
    let dying = Store::open(&state)
        .unwrap()
        .failing_after(2, Fault::NoSpace);
    *bench.store.lock().unwrap() = Some(dying);
    let error = bench.fail().await;
    assert!(matches!(error, CrawlError::Store(_)), "{error}");
    *bench.store.lock().unwrap() = Some(Store::open(&state).unwrap());
    let crawled = bench.run().await;
    assert!(crawled.resumed);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
}

#[tokio::test(start_paused = true)]
async fn another_start_url_joins_the_open_crawl() {
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/a", "/b"])),
        ("/a", FixturePage::linking([])),
        ("/b", FixturePage::linking([])),
        ("/island", FixturePage::linking(["/shore"])),
        ("/shore", FixturePage::linking([])),
    ]));
    bench.config.limits.max_pages = 2;
    let crawled = bench.run().await;
    bench.keep(crawled);
    bench.config.limits.max_pages = 100;
    let crawled = bench.run_from("/island").await;
    assert!(crawled.resumed);
    let listed = ["/", "/a", "/b", "/island", "/shore"];
    assert_eq!(with_reason(&crawled, Reason::Listed), listed);
}

#[tokio::test(start_paused = true)]
async fn permits_of_a_failed_crawl_come_back() {
    let paths: Vec<String> = (0..40).map(|number| format!("/{number}")).collect();
    let mut pages = vec![("/", linking(&paths))];
    let slow = FixturePage::linking([]).after(Duration::from_millis(300));
    pages.extend(paths.iter().map(|path| (path.as_str(), slow.clone())));
    let mut bench = Bench::new(site(pages));
    let politeness = Politeness::new(&bench.config.politeness);
    bench.politeness = Some(Arc::new(Mutex::new(politeness)));
    let failing = Store::in_memory().unwrap().failing_after(3, Fault::NoSpace);
    *bench.store.lock().unwrap() = Some(failing);
    bench.fail().await;
    bench.begin_anew();
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 41);
}

#[tokio::test(start_paused = true)]
async fn a_signal_wins_over_a_limit() {
    let slow = FixturePage::linking([]).after(Duration::from_secs(5));
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/a", "/b"])),
        ("/a", slow.clone()),
        ("/b", slow),
    ]));
    bench.config.politeness.concurrency = std::num::NonZeroU32::MIN;
    bench.config.limits.max_time = Duration::from_secs(1);
    let shutdown = Shutdown::default();
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        shutdown.stop();
    };
    let (crawled, ()) = tokio::join!(bench.crawl(START, &shutdown), stopping);
    assert_eq!(crawled.unwrap().ending, Ending::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_leaves_nothing_over_is_none() {
    let mut bench = Bench::new(site([
        ("/", FixturePage::linking(["/a"])),
        ("/a", FixturePage::linking([]).after(Duration::from_secs(5))),
    ]));
    bench.config.limits.max_time = Duration::from_secs(1);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
}

#[tokio::test(start_paused = true)]
async fn max_pages_counts_pages_between_tries() {
    let paths: Vec<String> = (0..20).map(|number| format!("/{number:02}")).collect();
    let site = site([("/", linking(&paths))]).scripted(|url, earlier| {
        let is_page = url.len() > START.len() && !url.contains("robots");
        match (is_page, earlier) {
            (true, 0) => Some(FixturePage::failing(FetchErrorKind::Reset)),
            (true, _) => Some(FixturePage::linking([])),
            (false, _) => None,
        }
    });
    let mut bench = Bench::new(site);
    bench.config.limits.max_pages = 8;
    bench.config.politeness.failures_before_pause = 1_000;
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, crawled.fetched), (Ending::LimitReached, 8));
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 8);
    assert_eq!(bench.pages().len(), 1 + 7 * 2);
}

#[tokio::test(start_paused = true)]
async fn max_time_holds_before_the_site_is_known() {
    let mut bench = Bench::new(site([
        (
            "/robots.txt",
            FixturePage::text("User-agent: *\nCrawl-delay: 3600\n"),
        ),
        ("/", FixturePage::linking([])),
    ]));
    bench.config.limits.max_time = Duration::from_secs(10);
    let began = Instant::now();
    let error = bench.fail().await;
    assert!(error.to_string().contains("max_time"), "{error}");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
}
