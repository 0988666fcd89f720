//! What becomes of pages that fail, are gone, are forbidden, or that nothing leads to any more.

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
        first.reasons["/new"],
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
                Reason::KeptUnreachable
            } else {
                reason
            }
        };
        assert_eq!(
            ran.reasons["/down"],
            expected(Reason::ServerError),
            "day {day}"
        );
        assert_eq!(
            ran.reasons["/reset"],
            expected(Reason::NetworkError),
            "day {day}"
        );
        assert_eq!(
            ran.reasons["/wall"],
            expected(Reason::ClientError),
            "day {day}"
        );
        assert_eq!(ran.reasons["/new"], Reason::ServerError);
        assert_eq!(ran.reasons["/behind"], Reason::Listed, "day {day}");
        if day == 20 {
            // Good for a day: the month begins anew.
            says.link("/wall", &["/behind"]);
            assert_eq!(run(&mut bench).await.reasons["/wall"], Reason::Listed);
            break;
        }
    }
    says.set("/wall", FixturePage::status(403));
    for _ in 0..9 {
        run(&mut bench).await;
    }
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/down"], Reason::ServerError);
    assert_eq!(ran.reasons["/wall"], Reason::KeptUnreachable);
    // A page that is back is a page like any other.
    says.link("/down", &[]);
    assert_eq!(run(&mut bench).await.reasons["/down"], Reason::Listed);
}

#[tokio::test(start_paused = true)]
async fn keeping_what_fails_can_be_switched_off() {
    let (mut bench, says) = bench();
    bench.config.removal.keep_failing = Duration::ZERO;
    says.link("/", &["/down"]);
    says.link("/down", &[]);
    run(&mut bench).await;
    says.set("/down", FixturePage::status(503));
    assert_eq!(run(&mut bench).await.reasons["/down"], Reason::ServerError);
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_leaves_on_evidence() {
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
    assert_eq!(ran.reasons["/404"], Reason::KeptGoneOnce);
    assert_eq!(ran.reasons["/410"], Reason::Gone);
    assert_eq!(ran.reasons["/moved"], Reason::Redirected);
    assert_eq!(ran.reasons["/noindex"], Reason::Noindex);
    // Less than an hour later it is still the first time.
    bench.now -= DAY;
    bench.now += Duration::from_secs(30 * 60);
    says.link("/back", &[]);
    says.set("/flaky", FixturePage::status(500));
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/404"], Reason::KeptGoneOnce);
    assert_eq!(ran.reasons["/flaky"], Reason::KeptUnreachable);
    assert_eq!(ran.reasons["/back"], Reason::Listed);
    says.remove("/back");
    says.remove("/flaky");
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/404"], Reason::Gone);
    assert_eq!(ran.reasons["/flaky"], Reason::Gone);
    assert_eq!(ran.reasons["/back"], Reason::KeptGoneOnce);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed(), ["/"]);
    assert_eq!(ran.asked(false).len() + ran.asked(true).len(), 7);
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
    assert_eq!(ran.listed(), ["/", "/c"]);
    assert_eq!(ran.reasons["/a"], Reason::RobotsDisallowed);
    assert_eq!(ran.reasons["/b"], Reason::ExcludedByRule);
    // What was taken out has no place to keep.
    says.set("/robots.txt", FixturePage::text(""));
    bench.config.scope.exclude.clear();
    says.set("/a", FixturePage::status(503));
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/a"], Reason::ServerError);
    assert_eq!(ran.listed(), ["/", "/b", "/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_nothing_leads_to_any_more_stays_while_it_answers() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/b", "/hidden"]);
    says.link("/a", &["/deep"]);
    says.link("/b", &[]);
    says.link("/deep", &[]);
    says.html("/hidden", "<meta name=robots content=noindex>");
    run(&mut bench).await;
    says.link("/", &["/b"]);
    for _ in 0..2 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed(), ["/", "/a", "/b", "/deep"]);
        assert_eq!(ran.via["/a"], Via::Earlier);
        assert_eq!(ran.via["/b"], Via::Link);
        assert!(!ran.reasons.contains_key("/hidden"), "it was not listed");
    }
    says.remove("/a");
    assert_eq!(run(&mut bench).await.reasons["/a"], Reason::KeptGoneOnce);
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/a"], Reason::Gone);
    assert_eq!(ran.listed(), ["/", "/b", "/deep"]);
    assert!(!run(&mut bench).await.reasons.contains_key("/a"));
    bench.config.limits.max_depth = Some(1);
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/deep"], Reason::TooDeep);
    assert_eq!(ran.listed(), ["/", "/b"]);
}

#[tokio::test(start_paused = true)]
async fn more_pages_than_a_portion_are_left_behind() {
    let (mut bench, says) = bench();
    let paths: Vec<String> = (0..5_000).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = paths.iter().map(String::as_str).collect();
    says.link("/", &links);
    for path in &links {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    says.link("/", &[]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed().len(), 5_001);
    assert_eq!(ran.requests.len(), 5_002);
    let earlier = ran.via.values().filter(|via| **via == Via::Earlier);
    assert_eq!(earlier.count(), 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_only_an_earlier_start_named_leaves() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/?linked"]);
    says.link("/a", &[]);
    for start in ["/?mistyped", "/?linked"] {
        says.link(start, &["/a", "/from-there"]);
    }
    says.link("/from-there", &[]);
    says.set("/old", FixturePage::redirect(301, "/?moved"));
    says.link("/?moved", &["/a"]);
    for (start, page) in [("/?mistyped", "/?mistyped"), ("/old", "/?moved")] {
        let ran = run_from(&mut bench, &url(start)).await;
        assert!(ran.listed().contains(&page), "{:?}", ran.listed());
        for _ in 0..2 {
            let ran = run(&mut bench).await;
            // A page of its own stays, by the rule for pages that nothing leads to any more.
            assert_eq!(ran.listed(), ["/", "/?linked", "/a", "/from-there"]);
            assert!(ran.requests.iter().all(|seen| seen.url != url(page)));
        }
    }
    // It is an entry of its own while something else leads to it.
    run_from(&mut bench, &url("/?linked")).await;
    assert!(run(&mut bench).await.listed().contains(&"/?linked"));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_a_limit_ends_takes_no_earlier_start_out() {
    for (start, stays) in [("/?linked", true), ("/?mistyped", false)] {
        let (mut bench, says) = bench();
        says.link("/", &["/a", "/b"]);
        says.link("/a", &[]);
        says.link("/b", &["/?linked"]);
        says.link(start, &["/a"]);
        says.link("/?linked", &[]);
        run_from(&mut bench, &url(start)).await;
        bench.config.limits.max_pages = 1;
        let ran = run(&mut bench).await;
        assert_eq!(ran.reasons[start], Reason::KeptNotReached);
        bench.config.limits.max_pages = 1_000;
        run(&mut bench).await;
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed().contains(&start), stays, "{start}");
    }
}
