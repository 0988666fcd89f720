//! The start page in second and further runs: asked whether it changed, like any other page, although it is asked
//! before its store is open.

use super::{
    recrawl::{Ran, Says, bench, is_tested, run, run_from},
    *,
};
use crate::page::RunId;

/// A site with an entry page at `path`, and pages `/a` and `/b` behind it.
fn site_behind(says: &Says, path: &str) {
    says.link(path, &["/a", "/b"]);
    says.link("/a", &[]);
    says.link("/b", &[]);
}

/// How often `path` was asked for, conditionally and as a whole.
fn asked(ran: &Ran, path: &str) -> [usize; 2] {
    [true, false].map(|conditionally| {
        let asked = ran.asked(conditionally).into_iter();
        asked.filter(|asked| *asked == path).count()
    })
}

/// A page right in the root that is asked for as a whole in run `run` to test the server, and in none before.
fn page_tested_in(run: RunId) -> String {
    let mut paths = (0..).map(|number| format!("/entry-{number}"));
    paths.find(|path| is_tested(path, run)).unwrap()
}

/// A bench whose site answers conditional requests for `/` in a way of its own.
fn bench_answering(answer: impl Fn() -> FixturePage + Send + Sync + 'static) -> (Bench, Says) {
    let (mut bench, says) = bench();
    bench.site = bench
        .site
        .answering_conditionally(move |asked, _| (asked == START).then(&answer));
    (bench, says)
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_start_page_sends_no_body_but_in_its_turn() {
    let path = page_tested_in(4);
    let (mut bench, says) = bench();
    site_behind(&says, &path);
    let first = run_from(&mut bench, &url(&path)).await;
    for _ in 2..=5 {
        let ran = run_from(&mut bench, &url(&path)).await;
        let expected = if ran.number == 4 { [0, 1] } else { [1, 0] };
        assert_eq!(asked(&ran, &path), expected, "run {}", ran.number);
        assert_eq!((&ran.reasons, &ran.via), (&first.reasons, &first.via));
        assert_eq!(ran.requests.len(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_redirects_is_asked_where_it_leads() {
    let (mut bench, says) = bench();
    says.set("/", FixturePage::redirect(302, "/en/"));
    site_behind(&says, "/en/");
    let first = run(&mut bench).await;
    assert_eq!(first.listed(), ["/a", "/b", "/en/"]);
    let ran = run(&mut bench).await;
    assert_eq!((asked(&ran, "/"), asked(&ran, "/en/")), ([0, 1], [1, 0]));
    assert_eq!(ran.not_modified, 3);
    assert_eq!((&ran.reasons, &ran.via), (&first.reasons, &first.via));
    // It changes, and is read.
    says.link("/en/", &["/a", "/b", "/new"]);
    says.link("/new", &[]);
    let ran = run(&mut bench).await;
    assert_eq!((asked(&ran, "/"), asked(&ran, "/en/")), ([0, 1], [1, 0]));
    assert_eq!(ran.listed(), ["/a", "/b", "/en/", "/new"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_moved_since_is_followed() {
    let (mut bench, says) = bench();
    site_behind(&says, "/");
    run(&mut bench).await;
    // To a page that nobody knew, and to one that was known.
    for (target, expected) in [("/new/", [0, 1]), ("/a", [1, 0])] {
        says.set("/", FixturePage::redirect(301, target));
        says.link("/new/", &["/a", "/b"]);
        says.link("/a", &["/new/"]);
        let ran = run(&mut bench).await;
        assert_eq!(ran.reasons["/"], Reason::Redirected);
        assert_eq!(asked(&ran, target), expected, "{target}");
        assert_eq!(ran.reasons[target], Reason::Listed);
    }
    // And back.
    site_behind(&says, "/");
    assert_eq!(asked(&run(&mut bench).await, "/"), [0, 1]);
    assert_eq!(asked(&run(&mut bench).await, "/"), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lies_about_the_start_page_only_is_found_out() {
    let path = page_tested_in(4);
    let (mut bench, says) = bench();
    let lying = url(&path);
    bench.site = bench.site.answering_conditionally(move |asked, _| {
        (asked == lying).then(|| FixturePage::status(304))
    });
    site_behind(&says, &path);
    run_from(&mut bench, &url(&path)).await;
    says.link(&path, &["/a", "/b", "/hidden"]);
    says.link("/hidden", &[]);
    for _ in 2..=3 {
        let ran = run_from(&mut bench, &url(&path)).await;
        assert!(!ran.reasons.contains_key("/hidden"));
        assert_eq!(ran.notices, [""; 0]);
    }
    let ran = run_from(&mut bench, &url(&path)).await;
    assert_eq!(ran.number, 4);
    assert_eq!(ran.reasons["/hidden"], Reason::Listed);
    assert!(
        ran.notices[0].contains(&path) && ran.notices[0].contains("not modified (304)"),
        "{:?}",
        ran.notices
    );
    let ran = run_from(&mut bench, &url(&path)).await;
    assert_eq!(asked(&ran, &path), [0, 1], "it is remembered");
}

#[tokio::test(start_paused = true)]
async fn a_start_page_is_asked_for_as_a_whole_when_there_is_no_answer_to_a_conditional_request() {
    for status in [400, 403, 412, 428, 500, 501, 503] {
        for max_tries in [1, 3] {
            let (mut bench, says) = bench_answering(move || FixturePage::status(status));
            bench.config.limits.max_tries = max_tries;
            site_behind(&says, "/");
            let first = run(&mut bench).await;
            let ran = run(&mut bench).await;
            assert_eq!(asked(&ran, "/"), [1, 1], "{status}");
            assert_eq!((&ran.reasons, &ran.via), (&first.reasons, &first.via));
            says.link("/", &["/a", "/b", "/new"]);
            says.link("/new", &[]);
            let ran = run(&mut bench).await;
            assert_eq!(ran.listed(), ["/", "/a", "/b", "/new"], "{status}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_itself_is_no_answer_to_a_conditional_request() {
    for status in [301, 302, 307, 308] {
        let (mut bench, says) = bench();
        bench.site = bench.site.answering_conditionally(move |asked, _| {
            let path = asked.strip_prefix("https://site.example")?;
            ["/", "/a"]
                .contains(&path)
                .then(|| FixturePage::redirect(status, path))
        });
        site_behind(&says, "/");
        run(&mut bench).await;
        let ran = run(&mut bench).await;
        for path in ["/", "/a"] {
            assert_eq!(asked(&ran, path), [1, 1], "{status} {path}");
        }
        assert_eq!(ran.listed(), ["/", "/a", "/b"], "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_redirects_to_itself_whoever_asks_is_no_start() {
    let (mut bench, says) = bench();
    site_behind(&says, "/");
    run(&mut bench).await;
    says.set("/", FixturePage::redirect(301, "/"));
    let before = bench.site.requests().len();
    let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
    assert!(error.to_string().contains("redirects in a loop"), "{error}");
    let asked = bench.site.requests().split_off(before).into_iter();
    assert_eq!(asked.filter(|request| request.url == START).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_fails_whoever_asks_gets_as_many_requests_as_ever() {
    for max_tries in [1, 3] {
        let (mut bench, says) = bench();
        bench.config.limits.max_tries = max_tries;
        site_behind(&says, "/");
        run(&mut bench).await;
        says.set("/", FixturePage::status(500));
        let before = bench.site.requests().len();
        let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
        assert!(error.to_string().contains("answered 500"), "{error}");
        let asked = bench.site.requests().len() - before;
        assert_eq!(asked, 1 + max_tries.max(2) as usize);
        // Nothing was opened.
        assert!(bench.store.lock().unwrap().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_of_the_start_page_with_the_tag_of_another_state_is_not_believed() {
    let (mut bench, says) =
        bench_answering(|| FixturePage::status(304).with_header("etag", "\"other\""));
    site_behind(&says, "/");
    let first = run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(asked(&ran, "/"), [1, 1]);
    assert_eq!(ran.not_modified, 2, "those of /a and /b");
    assert_eq!((&ran.reasons, &ran.via), (&first.reasons, &first.via));
    // The page changes, so the server is asked about the old one once more, and is found out.
    says.link("/", &["/a"]);
    let ran = run(&mut bench).await;
    assert_eq!(asked(&ran, "/"), [2, 1]);
    assert!(
        ran.notices[0].contains("not modified (304)"),
        "{:?}",
        ran.notices
    );
    assert_eq!(ran.listed(), ["/", "/a", "/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_304_of_the_start_page_that_contradicts_what_is_known_is_not_enough() {
    let link = format!("<{}>; rel=\"canonical\"", url("/b"));
    let (mut bench, says) =
        bench_answering(move || FixturePage::status(304).with_header("link", &link));
    site_behind(&says, "/");
    says.html("/", "<link rel=canonical href=/><a href=/a>a</a>");
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(asked(&ran, "/"), [1, 1]);
    assert_eq!(ran.reasons["/"], Reason::Listed);
}

#[tokio::test(start_paused = true)]
async fn a_304_means_nothing_when_the_store_is_not_what_it_looked_like() {
    let (mut bench, says) = bench();
    site_behind(&says, "/");
    let first = run(&mut bench).await;
    // The state was set aside after the look into it.
    bench.peeked = Some(std::mem::take(&mut bench.store));
    *bench.store.lock().unwrap() = Some(Box::new(MemoryStore::default()));
    let ran = run(&mut bench).await;
    assert_eq!((ran.number, ran.not_modified), (1, 0));
    assert_eq!(asked(&ran, "/"), [1, 1]);
    assert_eq!((&ran.reasons, &ran.via), (&first.reasons, &first.via));
    // What was looked into is older than what was stored last.
    says.link("/", &["/a", "/c"]);
    says.link("/c", &[]);
    let ran = run(&mut bench).await;
    assert_eq!((asked(&ran, "/"), ran.not_modified), ([1, 0], 2));
    assert_eq!(ran.listed(), ["/", "/a", "/b", "/c"]);
    let back = says.clone();
    site_behind(&back, "/");
    let ran = run(&mut bench).await;
    // The 304 is about a page of long ago; the other question is what the server says of that of the last run.
    assert_eq!(asked(&ran, "/"), [2, 1]);
    assert_eq!(ran.via["/c"], crate::page::Via::Earlier);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_is_not_modified_and_then_elsewhere_is_no_start() {
    let (mut bench, says) = bench();
    site_behind(&says, "/");
    run(&mut bench).await;
    bench.peeked = Some(std::mem::take(&mut bench.store));
    *bench.store.lock().unwrap() = Some(Box::new(MemoryStore::default()));
    let moved = FixturePage::redirect(301, "https://www.site.example/");
    bench.site = FixtureSite::new([
        (START, moved),
        ("https://www.site.example/", FixturePage::linking([])),
    ])
    .answering_conditionally(|asked, _| (asked == START).then(|| FixturePage::status(304)));
    let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
    assert!(matches!(error, CrawlError::Start(_)), "{error}");
    assert!(error.to_string().contains("start again"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_taken_up_asks_the_start_page_whether_it_changed() {
    let (mut bench, says) = bench();
    site_behind(&says, "/");
    run(&mut bench).await;
    bench.config.limits.max_pages = 1;
    for start in 0..3 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.number, 2);
        assert_eq!(asked(&ran, "/"), [1, 0], "start {start}");
        // Only the first decides it.
        assert_eq!(ran.not_modified, 1, "start {start}");
    }
    assert_eq!(run(&mut bench).await.number, 3);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_is_a_document_is_read_again() {
    let (mut bench, says) = bench();
    bench.config.discover = DiscoverConfig::default();
    let feed = |path: &str| {
        let link = url(path);
        let feed =
            format!("<rss version='2.0'><channel><item><link>{link}</link></item></channel></rss>");
        let mut page = FixturePage::html(feed).with_header("etag", "\"feed\"");
        page.headers[0].1 = "application/rss+xml".to_owned();
        page
    };
    says.set("/feed", feed("/a"));
    says.link("/a", &[]);
    says.link("/b", &[]);
    let first = run_from(&mut bench, &url("/feed")).await;
    assert_eq!(first.listed(), ["/a"]);
    says.set("/feed", feed("/b"));
    let ran = run_from(&mut bench, &url("/feed")).await;
    assert_eq!(asked(&ran, "/feed"), [0, 1]);
    assert_eq!(ran.listed(), ["/a", "/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_site_that_stands_for_another_is_asked_as_any_other() {
    let (mut bench, says) = bench();
    let original = Identity::default().parse("https://live.example/").unwrap();
    bench.config.written_as = Some(original);
    site_behind(&says, "/");
    let first = run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(ran.asked(false), [""; 0]);
    assert_eq!(ran.reasons, first.reasons);
    // What was read in the place of another site is not what the site itself says.
    bench.config.written_as = None;
    assert_eq!(run(&mut bench).await.asked(true), [""; 0]);
}
