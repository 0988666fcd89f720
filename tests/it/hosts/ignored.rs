//! Directives of a site that `--ignore` disregards.

use super::*;

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
