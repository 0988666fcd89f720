//! Published pages that fail, are gone, are forbidden, or that nothing leads to any more, in the merged view.

use super::*;

#[tokio::test(start_paused = true)]
async fn failing_pages_stay_for_a_month() {
    let (mut bench, says) = bench();
    says.link("/", &["/down", "/wall", "/new"]);
    for path in ["/down", "/wall"] {
        says.link(path, &["/unlinked"]);
    }
    says.link("/unlinked", &[]);
    says.set("/new", FixturePage::status(503));
    run(&mut bench).await;
    says.set("/down", FixturePage::status(503));
    for day in 1..=30 {
        let mut wall = Reason::Unreachable;
        if day == 20 {
            // Good for a day: the month begins again.
            says.link("/wall", &["/unlinked"]);
            wall = Reason::Listed;
        } else {
            says.set("/wall", FixturePage::status(403));
        }
        let ran = run(&mut bench).await;
        assert_eq!(ran.view["/down"], Reason::Unreachable, "day {day}");
        assert_eq!(ran.view["/wall"], wall, "day {day}");
        assert_eq!(ran.view["/unlinked"], Reason::Listed, "day {day}");
        let new = ran.view["/new"];
        assert_eq!(new, Reason::ServerError, "it never was listed");
    }
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/down"], Reason::ServerError);
    assert_eq!(ran.view["/wall"], Reason::Unreachable);
    // A page that is back is a page like any other.
    says.link("/down", &[]);
    assert_eq!(run(&mut bench).await.view["/down"], Reason::Listed);
}

#[tokio::test(start_paused = true)]
async fn gone_pages_leave_on_evidence() {
    let (mut bench, says) = bench();
    let paths = ["/404", "/410", "/back", "/flaky"];
    says.link("/", &paths);
    for path in paths {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    for path in ["/404", "/back", "/flaky"] {
        says.remove(path);
    }
    says.set("/410", FixturePage::status(410));
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/404"], Reason::GoneOnce);
    assert_eq!(ran.view["/410"], Reason::Gone);
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
    assert_eq!(run(&mut bench).await.published(), ["/"]);
}

#[tokio::test(start_paused = true)]
async fn an_unlinked_page_stays_while_it_answers() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/b", "/c", "/hidden"]);
    says.link("/a", &["/deep"]);
    says.link("/b", &[]);
    says.link("/c", &[]);
    says.link("/deep", &[]);
    says.html("/hidden", "<meta name=robots content=noindex>");
    run(&mut bench).await;
    says.link("/", &["/b"]);
    for _ in 0..2 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed(), ["/", "/a", "/b", "/c", "/deep"]);
        assert_eq!(ran.published(), ran.listed());
        assert_eq!(ran.visits["/a"].via, Via::Earlier);
        assert_eq!(ran.visits["/b"].via, Via::Link);
        assert!(!ran.visits.contains_key("/hidden"), "it was not listed");
    }
    says.remove("/a");
    assert_eq!(run(&mut bench).await.view["/a"], Reason::GoneOnce);
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/a"], Reason::Gone);
    assert_eq!(ran.published(), ["/", "/b", "/c", "/deep"]);
    assert!(!run(&mut bench).await.view.contains_key("/a"));
    bench.config.limits.max_depth = Some(1);
    let ran = run(&mut bench).await;
    assert_eq!(ran.view["/deep"], Reason::TooDeep);
    assert_eq!(ran.published(), ["/", "/b", "/c"]);
    // A fresh crawl requests no page of earlier crawls.
    bench.config.fresh = true;
    bench.config.limits.max_depth = None;
    assert_eq!(run(&mut bench).await.listed(), ["/", "/b"]);
}
