//! Published pages that fail, are gone, are forbidden, or that nothing leads to any more, in the merged view.

use super::*;

#[tokio::test(start_paused = true)]
async fn pages_that_fail_keep_their_place_for_a_month() {
    let (mut bench, says) = bench();
    says.link("/", &["/down", "/reset", "/wall", "/new"]);
    for path in ["/down", "/reset", "/wall"] {
        says.link(path, &["/behind"]);
    }
    says.link("/behind", &[]);
    says.set("/new", FixturePage::status(503));
    let first = run(&mut bench).await;
    assert_eq!(
        first.view["/new"],
        Reason::ServerError,
        "it never was listed"
    );
    says.set("/down", FixturePage::status(503));
    says.set("/reset", FixturePage::failing(FetchErrorKind::Reset));
    says.set("/wall", FixturePage::status(403));
    for day in 1..=31 {
        let ran = run(&mut bench).await;
        let expected = |reason| {
            if day <= 30 {
                Reason::Unreachable
            } else {
                reason
            }
        };
        assert_eq!(
            ran.view["/down"],
            expected(Reason::ServerError),
            "day {day}"
        );
        assert_eq!(
            ran.view["/reset"],
            expected(Reason::NetworkError),
            "day {day}"
        );
        assert_eq!(
            ran.view["/wall"],
            expected(Reason::ClientError),
            "day {day}"
        );
        assert_eq!(ran.view["/new"], Reason::ServerError);
        assert_eq!(ran.view["/behind"], Reason::Listed, "day {day}");
        if day == 20 {
            // Good for a day: the month begins again.
            says.link("/wall", &["/behind"]);
            assert_eq!(run(&mut bench).await.view["/wall"], Reason::Listed);
            break;
        }
    }
    says.set("/wall", FixturePage::status(403));
    for _ in 0..9 {
        run(&mut bench).await;
    }
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/down"], Reason::ServerError);
    assert_eq!(ran.view["/wall"], Reason::Unreachable);
    // A page that is back is a page like any other.
    says.link("/down", &[]);
    assert_eq!(run(&mut bench).await.view["/down"], Reason::Listed);
}

#[tokio::test(start_paused = true)]
async fn keeping_what_fails_can_be_switched_off() {
    let (mut bench, says) = bench();
    bench.config.removal.keep_failing = Duration::ZERO;
    says.link("/", &["/down"]);
    says.link("/down", &[]);
    run(&mut bench).await;
    says.set("/down", FixturePage::status(503));
    assert_eq!(run(&mut bench).await.view["/down"], Reason::ServerError);
}

#[tokio::test(start_paused = true)]
async fn gone_pages_leave_on_evidence() {
    let (mut bench, says) = bench();
    says.link(
        "/",
        &["/404", "/410", "/moved", "/noindex", "/back", "/flaky"],
    );
    for path in ["/404", "/410", "/moved", "/noindex", "/back", "/flaky"] {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    says.remove("/404");
    says.remove("/back");
    says.remove("/flaky");
    says.set("/410", FixturePage::status(410));
    says.set("/moved", FixturePage::redirect(301, "/"));
    says.html("/noindex", "<meta name=robots content=noindex>");
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/404"], Reason::GoneOnce);
    assert_eq!(ran.view["/410"], Reason::Gone);
    assert_eq!(ran.view["/moved"], Reason::Redirected);
    assert_eq!(ran.view["/noindex"], Reason::Noindex);
    // Less than an hour later it is still the first time.
    bench.now -= DAY;
    bench.now += Duration::from_secs(30 * 60);
    says.link("/back", &[]);
    says.set("/flaky", FixturePage::status(500));
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/404"], Reason::GoneOnce);
    assert_eq!(ran.view["/flaky"], Reason::Unreachable);
    assert_eq!(ran.view["/back"], Reason::Listed);
    says.remove("/back");
    says.remove("/flaky");
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/404"], Reason::Gone);
    assert_eq!(ran.view["/flaky"], Reason::Gone);
    assert_eq!(ran.view["/back"], Reason::GoneOnce);
    let ran = run(&mut bench).await;
    assert_eq!(ran.published(), ["/"]);
    assert_eq!(ran.asked(false).len() + ran.asked(true).len(), 8);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_and_rules_take_pages_out_at_once() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    says.set(
        "/robots.txt",
        FixturePage::text("User-agent: *\nDisallow: /a\n"),
    );
    bench.config.scope.exclude = vec!["/b".to_owned()];
    says.set("/c", FixturePage::status(503));
    let ran = run(&mut bench).await;
    assert_eq!(ran.published(), ["/", "/c"]);
    assert_eq!(ran.view["/a"], Reason::RobotsDisallowed);
    assert_eq!(ran.view["/b"], Reason::ExcludedByRule);
    // What was taken out has no place to keep.
    says.set("/robots.txt", FixturePage::text(""));
    bench.config.scope.exclude.clear();
    says.set("/a", FixturePage::status(503));
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/a"], Reason::ServerError);
    assert_eq!(ran.published(), ["/", "/b", "/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_nothing_leads_to_any_more_stays_while_it_answers() {
    let (mut bench, says) = bench_of_orphans().await;
    for _ in 0..2 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.published(), ["/", "/a", "/b", "/deep"]);
    }
    says.remove("/a");
    assert_eq!(run(&mut bench).await.view["/a"], Reason::GoneOnce);
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/a"], Reason::Gone);
    assert_eq!(ran.published(), ["/", "/b", "/deep"]);
    assert!(!run(&mut bench).await.view.contains_key("/a"));
    bench.config.limits.max_depth = Some(1);
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/deep"], Reason::TooDeep);
    assert_eq!(ran.published(), ["/", "/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_mistyped_start_url_stays_while_it_answers() {
    let (mut bench, says) = bench();
    says.link("/", &["/a"]);
    says.link("/a", &[]);
    says.link("/?mistyped", &["/a", "/from-there"]);
    says.link("/from-there", &[]);
    let start = url("/?mistyped");
    let crawled = bench.crawl(&start, &Shutdown::default()).await.unwrap();
    bench.finish(crawled);
    bench.now += DAY;
    for _ in 0..2 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.published(), ["/", "/?mistyped", "/a", "/from-there"]);
    }
    says.set("/?mistyped", FixturePage::status(410));
    let ran = run(&mut bench).await;
    assert_eq!(ran.published(), ["/", "/a", "/from-there"]);
}
