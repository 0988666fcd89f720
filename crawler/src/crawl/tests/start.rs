//! The start page in second and further crawls: it is fetched whole each time.

use super::{
    recrawl::{Ran, bench, run},
    *,
};

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
    says.link("/", &["/a", "/b"]);
    says.link("/a", &[]);
    says.link("/b", &[]);
    run(&mut bench).await;
    says.set("/", FixturePage::redirect(302, "/en/"));
    says.link("/en/", &["/a", "/b", "/new"]);
    says.link("/new", &[]);
    let ran = run(&mut bench).await;
    assert_eq!((asked(&ran, "/"), asked(&ran, "/en/")), ([0, 1], [0, 1]));
    assert_eq!(ran.listed(), ["/a", "/b", "/en/", "/new"]);
}

#[tokio::test(start_paused = true)]
async fn a_document_as_start_page_is_read_again() {
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
