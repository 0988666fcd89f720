//! The start page in second and further crawls: it is fetched whole each time.

use super::{
    recrawl::{Ran, Says, bench, run},
    *,
};

/// A start page that leads to `/a` and `/b`.
fn site_behind(says: &Says) {
    says.link("/", &["/a", "/b"]);
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

#[tokio::test(start_paused = true)]
async fn a_start_page_that_moved_since_is_followed() {
    let (mut bench, says) = bench();
    site_behind(&says);
    run(&mut bench).await;
    says.set("/", FixturePage::redirect(302, "/en/"));
    says.link("/en/", &["/a", "/b", "/new"]);
    says.link("/new", &[]);
    let ran = run(&mut bench).await;
    assert_eq!((asked(&ran, "/"), asked(&ran, "/en/")), ([0, 1], [0, 1]));
    assert_eq!(ran.listed(), ["/a", "/b", "/en/", "/new"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_redirects_to_itself_is_no_start() {
    let (mut bench, says) = bench();
    site_behind(&says);
    run(&mut bench).await;
    says.set("/", FixturePage::redirect(301, "/"));
    let before = bench.site.requests().len();
    let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
    assert!(error.to_string().contains("redirects in a loop"), "{error}");
    let asked = bench.site.requests().split_off(before).into_iter();
    assert_eq!(asked.filter(|request| request.url == START).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_fails_ends_the_crawl_before_the_state_is_opened() {
    for max_tries in [1, 3] {
        let (mut bench, says) = bench();
        bench.config.limits.max_tries = max_tries;
        site_behind(&says);
        run(&mut bench).await;
        says.set("/", FixturePage::status(500));
        let before = bench.site.requests().len();
        let error = bench.crawl(START, &Shutdown::default()).await.unwrap_err();
        assert!(error.to_string().contains("answered 500"), "{error}");
        let asked = bench.site.requests().len() - before;
        assert_eq!(asked, 1 + max_tries as usize);
        assert!(bench.store.lock().unwrap().is_some());
    }
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
    says.set("/", feed("/a"));
    says.link("/a", &[]);
    says.link("/b", &[]);
    assert_eq!(run(&mut bench).await.listed(), ["/a"]);
    says.set("/", feed("/b"));
    let ran = run(&mut bench).await;
    assert_eq!(asked(&ran, "/"), [0, 1]);
    assert_eq!(ran.listed(), ["/a", "/b"]);
}
