//! Directives of a site that `--ignore` disregards.

use super::*;

/// A site that forbids, hides and misnames its pages.
fn shy_site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\nCrawl-delay: 0.001\n"),
        "/" => Response::linking([
            "/private/a",
            "/hidden",
            "/header",
            "/expired",
            "/none",
            "/misnamed",
            "/both",
        ]),
        "/hidden" => page("<meta name=robots content=noindex>", &["/below"]),
        "/header" => page("", &[]).with("X-Robots-Tag", "noindex"),
        "/expired" => page("", &[]).with("X-Robots-Tag", "unavailable_after: 2001-01-01"),
        // nofollow is not ignored.
        "/none" => page("<meta name=robots content=none>", &["/never"]),
        "/misnamed" => page("<link rel=canonical href=\"/\">", &[]),
        "/both" => page(
            "<link rel=canonical href=\"/\"><meta name=robots content=noindex>",
            &[],
        ),
        _ => page("", &[]),
    })
}

/// Crawls the shy site; checks what is listed, and that each ignored directive is reported once.
#[track_caller]
fn check_ignored(ignored: &[&str], expected: &[&str]) {
    let site = shy_site();
    let bench = Bench::new();
    let option = ignored.join(",");
    let options = if ignored.is_empty() {
        vec![]
    } else {
        vec!["--ignore", option.as_str()]
    };
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    let set = listed(&bench.published(), &site.url("/"));
    assert_eq!(set, expected, "{ignored:?}");
    assert_adds_up(&ran.summary());
    assert_eq!(ran.summary()["ignored"], json!(ignored));
    let warnings: Vec<_> = ran.stderr.split("warning: ignoring ").skip(1).collect();
    assert_eq!(warnings.len(), usize::from(!ignored.is_empty()));
    for word in ["robots", "noindex", "canonical"] {
        let is_named = warnings
            .iter()
            .any(|text| text.contains(&format!("{word}: ")));
        assert_eq!(is_named, ignored.contains(&word), "{}", ran.stderr);
    }
}

#[test]
fn only_what_is_named_is_ignored() {
    check_ignored(&[], &["", "below"]);
    check_ignored(
        &["noindex"],
        &["", "below", "expired", "header", "hidden", "none"],
    );
    check_ignored(
        &["robots", "canonical"],
        &["", "below", "misnamed", "private/a"],
    );
    check_ignored(
        &["robots", "noindex", "canonical"],
        &[
            "",
            "below",
            "both",
            "expired",
            "header",
            "hidden",
            "misnamed",
            "none",
            "private/a",
        ],
    );
}

#[test]
fn forbidden_sites_are_crawled_when_robots_is_ignored() {
    let forbidding = Response::text("User-agent: *\nDisallow: /\nCrawl-delay: 0.2\n");
    for answer in [forbidding, Response::status(503)] {
        let is_unreadable = answer.status == 503;
        let site = Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => answer.clone(),
            "/" => Response::linking(["/a"]),
            _ => Response::linking(["/"]),
        });
        let bench = Bench::new();
        let config = bench.settings(
            "limits.max_tries = 1\nscope.ignore = [\"robots\"]\ntesting.retry_delays = [\"1ms\"]\n",
        );
        let ran = bench
            .crawl(&site.url("/"), &["--config", &config])
            .expect_code(0);
        assert_eq!(listed(&bench.published(), &site.url("/")), ["", "a"]);
        assert_eq!(
            ran.stderr.contains("cannot be read"),
            is_unreadable,
            "{}",
            ran.stderr
        );
        // Crawl-delay is not ignored.
        for pair in site.log().windows(2).filter(|_| !is_unreadable) {
            let ended = pair[0].ended.expect("it was answered");
            assert!(pair[1].begun >= ended + std::time::Duration::from_millis(190));
            assert_eq!(pair[1].in_flight, 1);
        }
    }
}

#[test]
fn stored_pages_are_judged_again_with_other_ignores() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private\n"),
        "/" => Response::linking(["/a", "/b", "/private", "/c"]),
        "/a" => page("<meta name=robots content=noindex>", &[]),
        "/b" => page("<link rel=canonical href=\"/\">", &[]),
        _ => page("", &[]),
    });
    let bench = bench_without_rate();
    let url = site.url("/");
    let one_by_one = ["--concurrency", "1"];
    bench
        .crawl(&url, &[&["--max-pages", "3"], &one_by_one[..]].concat())
        .expect_code(3);
    assert_eq!(listed(&bench.published(), &url), [""]);
    site.clear_log();
    let all = ["--ignore", "robots", "--ignore", "noindex,canonical"];
    let ran = bench
        .crawl(&url, &[&all, &one_by_one[..]].concat())
        .expect_code(0);
    assert_eq!(
        listed(&bench.published(), &url),
        ["", "a", "b", "c", "private"]
    );
    let mut asked = site.pages();
    asked.sort();
    assert_eq!(asked, ["/", "/c", "/private"], "known facts are enough");
    assert_eq!(number(&ran.summary(), "known"), 5);
}
