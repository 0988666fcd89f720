//! What an unchanged site is asked, and how a run decides by a "not modified".

use super::*;

#[tokio::test(start_paused = true)]
async fn an_unchanged_site_is_asked_conditionally_and_decided_from_the_store() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/b", "/private"]);
    says.link("/a", &["/c"]);
    says.html("/b", "<meta name=robots content=noindex><a href=/d>d</a>");
    says.link("/c", &["https://other.example/"]);
    says.html("/d", "<link rel=canonical href=/a>");
    bench.config.scope.exclude = vec!["/private".to_owned()];
    let first = run(&mut bench).await;
    assert_eq!(first.asked(true), [""; 0]);
    assert_eq!((first.not_modified, first.reasons.len()), (0, 6));
    let pages = ["/", "/a", "/b", "/c", "/d"];
    for _ in 0..3 {
        let again = run(&mut bench).await;
        let expected: Vec<&str> = pages
            .into_iter()
            .filter(|path| !is_tested(path, again.number))
            .collect();
        assert_eq!(again.asked(true), expected);
        assert_eq!(again.requests.len(), 1 + pages.len());
        assert_eq!(again.not_modified, expected.len() as u64);
        assert_eq!(again.reasons, first.reasons);
        assert_eq!(again.via["/c"], Via::Link);
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_page_is_read_and_new_links_are_followed() {
    let (mut bench, says) = bench();
    says.link("/", &["/a"]);
    says.link("/a", &["/b"]);
    says.link("/b", &[]);
    run(&mut bench).await;
    says.link("/a", &["/b", "/new"]);
    says.link("/new", &[]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed(), ["/", "/a", "/b", "/new"]);
    assert_eq!(ran.asked(true), ["/", "/a", "/b"]);
    assert_eq!(ran.asked(false), ["/new"]);
    assert_eq!(ran.not_modified, 2);
    assert_eq!(run(&mut bench).await.not_modified, 4);
}

#[tokio::test(start_paused = true)]
async fn only_an_answer_that_can_stand_is_asked_to_be_confirmed() {
    let (mut bench, says) = bench();
    let date = ("date", "Sun, 01 Mar 2026 12:00:00 GMT");
    let page = |name: &str, value: &str| {
        FixturePage::linking([])
            .with_header(date.0, date.1)
            .with_header(name, value)
    };
    says.link(
        "/",
        &[
            "/etag", "/date", "/now", "/star", "/none", "/large", "/header", "/gone",
        ],
    );
    says.set("/etag", page("etag", "W/\"1\""));
    says.set(
        "/date",
        page("last-modified", "Sun, 01 Mar 2026 11:59:59 GMT"),
    );
    // It may change again within the same second.
    says.set(
        "/now",
        page("last-modified", "Sun, 01 Mar 2026 12:00:00 GMT"),
    );
    says.set("/star", page("etag", "*"));
    says.set("/none", FixturePage::linking([]));
    says.html("/large", &"x".repeat(5_000));
    says.set(
        "/header",
        page("etag", "\"1\"").with_header("x-robots-tag", "noindex"),
    );
    bench.config.fetch.max_body_bytes = 4_000;
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(ran.asked(true), ["/", "/date", "/etag"]);
    assert_eq!(ran.not_modified, 3);
    let since = ran
        .requests
        .iter()
        .find(|request| request.url.ends_with("/date"));
    let since = since.unwrap().validators.as_ref().unwrap();
    let fields: Vec<_> = since.fields().collect();
    let expected = (
        "if-modified-since",
        "Sun, 01 Mar 2026 11:59:59 GMT".to_owned(),
    );
    assert_eq!(fields, [expected]);
    // What was read in another way than now cannot be confirmed.
    bench.config.parse.robots_names.push("otherbot".to_owned());
    assert_eq!(run(&mut bench).await.asked(true), [""; 0]);
    assert_eq!(run(&mut bench).await.asked(true), ["/", "/date", "/etag"]);
    bench.config.publish.extensions.images = true;
    assert_eq!(run(&mut bench).await.asked(true), [""; 0]);
    bench.config.publish.extensions.images = false;
    assert_eq!(run(&mut bench).await.asked(true), ["/", "/date", "/etag"]);
}

#[tokio::test(start_paused = true)]
async fn changed_rules_judge_confirmed_pages_without_their_bodies() {
    let (mut bench, says) = bench();
    says.link("/", &["/noindex", "/canonical", "/out"]);
    says.html("/noindex", "<meta name=robots content=noindex>");
    says.html("/canonical", "<link rel=canonical href=/>");
    says.link("/out", &["/behind"]);
    says.link("/behind", &[]);
    let first = run(&mut bench).await;
    assert_eq!(first.listed(), ["/", "/behind", "/out"]);
    bench.config.ignore.noindex = true;
    bench.config.ignore.canonical = true;
    bench.config.scope.follow_only = vec!["/out".to_owned()];
    let second = run(&mut bench).await;
    assert_eq!(second.asked(false), [""; 0]);
    assert_eq!(second.listed(), ["/", "/behind", "/canonical", "/noindex"]);
    assert_eq!(second.reasons["/out"], Reason::FollowOnly);
    bench.config.ignore = crate::config::IgnoreConfig::default();
    bench.config.scope.follow_only.clear();
    let third = run(&mut bench).await;
    assert_eq!(third.asked(false), [""; 0]);
    assert_eq!(third.reasons, first.reasons);
}

#[tokio::test(start_paused = true)]
async fn feeds_of_confirmed_pages_are_read_again() {
    let (mut bench, says) = bench();
    bench.config.discover.feeds = true;
    says.link("/", &["/a"]);
    says.html(
        "/a",
        "<link rel=alternate type=application/rss+xml href=/feed>",
    );
    let feed = |path: &str| {
        let link = url(path);
        FixturePage::text(&format!(
            "<rss version='2.0'><channel><item><link>{link}</link></item></channel></rss>"
        ))
    };
    says.set("/feed", feed("/x"));
    says.link("/x", &[]);
    says.link("/y", &[]);
    assert_eq!(run(&mut bench).await.listed(), ["/", "/a", "/x"]);
    says.set("/feed", feed("/y"));
    let ran = run(&mut bench).await;
    assert!(ran.asked(true).contains(&"/a"));
    assert_eq!(ran.listed(), ["/", "/a", "/x", "/y"]);
    assert_eq!((ran.via["/y"], ran.via["/x"]), (Via::Feed, Via::Earlier));
}
