//! Listed pages that redirect, and runs that end before they come to where that leads.

use std::collections::BTreeSet;

use super::{
    nights::{Night, Nights, paths},
    *,
};

/// Pages besides the start page.
const PAGES: usize = 40;

/// Pages that a night asks for.
const BUDGET: u64 = 15;

/// Nights after which a run is over in any case: each page is asked for twice at most, and so is what it leads to.
const MANY: usize = 20;

/// A published site, and runs that ask first for what listed pages redirect to, or take one depth after the other.
async fn published(max_depth: Option<u32>) -> (Nights, Vec<String>) {
    let pages = paths("/p", PAGES);
    let mut nights = Nights::new(&pages);
    nights.night().await.result.unwrap();
    nights.bench.config.limits.max_pages = BUDGET;
    nights.bench.config.limits.max_depth = max_depth;
    (nights, pages)
}

/// Lets each page redirect to one of its own below `place`.
fn redirect(nights: &Nights, pages: &[String], place: &str) {
    for page in pages {
        let target = format!("{place}{page}");
        nights.says.set(page, FixturePage::redirect(301, &target));
    }
}

/// Pages that the set has no more.
fn missing(nights: &Nights, pages: &[String]) -> usize {
    let set = nights.set();
    pages.iter().filter(|page| !set.contains_key(*page)).count()
}

#[tokio::test(start_paused = true)]
async fn a_wall_with_an_address_for_each_page_is_seen() {
    for (max_depth, most_missing) in [(None, 0), (Some(10), PAGES * 3 / 10)] {
        let (mut nights, pages) = published(max_depth).await;
        redirect(&nights, &pages, "/wall");
        for page in &pages {
            let wall = "<title>Sign in</title><form><input type=password></form>";
            nights.says.html(&format!("/wall{page}"), wall);
        }
        let mut refused = None;
        for night in 0..MANY {
            let result = nights.night().await.result;
            assert!(missing(&nights, &pages) <= most_missing, "night {night}");
            if result.is_err() {
                refused = Some(night);
                break;
            }
        }
        assert!(refused.is_some());
        // Well again: what was refused says nothing.
        for page in &pages {
            nights.is_page(page);
        }
        let is_over = |night: &Night| night.ending == Ending::Drained;
        for number in 0..MANY {
            let night = nights.night().await;
            assert_eq!(night.result, Ok(()), "night {number}");
            assert!(missing(&nights, &pages) <= most_missing, "night {number}");
            if is_over(&night) {
                break;
            }
        }
        assert_eq!(missing(&nights, &pages), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wall_with_another_address_each_time_does_not_keep_a_run_open() {
    let (mut nights, pages) = published(None).await;
    let said = Arc::clone(&nights.says.0);
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let is_up = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let stands = Arc::clone(&is_up);
    nights.bench.site = FixtureSite::default().scripted(move |url, _| {
        let path = url.strip_prefix("https://site.example")?;
        if stands.load(std::sync::atomic::Ordering::Relaxed) && path.starts_with("/p") {
            let token = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return Some(FixturePage::redirect(302, &format!("/s/{token}")));
        }
        if path.starts_with("/s/") {
            return Some(FixturePage::html("<title>Wait</title><p>Checking you"));
        }
        said.lock().unwrap().get(path).cloned()
    });
    let before = nights.set();
    let mut results = Vec::new();
    for _ in 0..MANY {
        results.push(nights.night().await.result);
        assert_eq!(nights.set(), before);
    }
    assert!(results.iter().any(Result::is_err), "{results:?}");
    is_up.store(false, std::sync::atomic::Ordering::Relaxed);
    // What the run that is gone on with was told before may be refused once.
    let first = nights.night().await.result;
    for _ in 0..MANY {
        let result = nights.night().await.result;
        assert_eq!(result, Ok(()), "{first:?}");
        assert_eq!(missing(&nights, &pages), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wall_that_is_gone_the_next_night_takes_none_out() {
    let (mut nights, pages) = published(Some(10)).await;
    let before = nights.set();
    redirect(&nights, &pages, "/wall");
    let first = nights.night().await;
    assert_eq!(first.result, Ok(()));
    assert_eq!(nights.set(), before, "what they lead to waits");
    let kept = first.with_reason(Reason::KeptNotReached);
    assert_eq!(kept.len(), PAGES);
    for page in &pages {
        nights.is_page(page);
    }
    let mut is_over = false;
    for number in 0..MANY {
        let night = nights.night().await;
        assert_eq!(night.result, Ok(()), "night {number}");
        assert_eq!(nights.set(), before, "night {number}");
        if night.ending == Ending::Drained {
            is_over = true;
            let listed = night.with_reason(Reason::Listed);
            assert_eq!(listed.len(), PAGES + 1);
            break;
        }
    }
    assert!(is_over);
}

#[tokio::test(start_paused = true)]
async fn a_relaunch_takes_a_page_out_when_its_new_place_is_in() {
    for max_depth in [None, Some(10)] {
        let (mut nights, pages) = published(max_depth).await;
        redirect(&nights, &pages, "/new");
        for page in &pages {
            nights.is_page(&format!("/new{page}"));
        }
        for number in 0..MANY {
            let night = nights.night().await;
            assert_eq!(night.result, Ok(()), "night {number}");
            let set = nights.set();
            for page in &pages {
                let new = format!("/new{page}");
                let is_there = set.contains_key(page) || set.contains_key(&new);
                assert!(is_there, "night {number}: {page}");
            }
            if night.ending == Ending::Drained {
                break;
            }
        }
        let new = pages.iter().map(|page| format!("/new{page}"));
        let expected: BTreeSet<String> = new.chain(["/".to_owned()]).collect();
        assert_eq!(nights.set().into_keys().collect::<BTreeSet<_>>(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn where_the_end_is_known_a_redirect_decides_at_once() {
    let (mut nights, _) = published(Some(10)).await;
    let says = &nights.says;
    says.set("/p0", FixturePage::redirect(301, "https://other.example/"));
    says.set("/p1", FixturePage::redirect(301, "/private/1"));
    says.set("/p2", FixturePage::redirect(301, "/p3"));
    says.html("/p4", "<meta http-equiv=refresh content='0; url=/later'>");
    says.set("/p5", FixturePage::redirect(301, "/p39"));
    says.set("/p6", FixturePage::redirect(302, "/p5"));
    nights.is_page("/later");
    nights.bench.config.scope.exclude = vec!["/private/*".to_owned()];
    let night = nights.night().await;
    assert_eq!(night.result, Ok(()));
    assert_eq!(night.reason("/p0"), Reason::RedirectedOutOfScope);
    assert_eq!(night.reason("/p1"), Reason::Redirected);
    assert_eq!(night.reason("/p2"), Reason::Redirected);
    for path in ["/p4", "/p5", "/p6", "/p39"] {
        assert_eq!(night.reason(path), Reason::KeptNotReached, "{path}");
    }
    let set = nights.set();
    assert_eq!(set.len(), PAGES + 1 - 3);
    // The start that goes on with the run comes to the rest.
    nights.bench.config.limits.max_pages = 1_000;
    let night = nights.night().await;
    assert_eq!(night.ending, Ending::Drained);
    assert_eq!(night.reason("/p4"), Reason::RefreshRedirect);
    assert_eq!(night.reason("/p5"), Reason::Redirected);
    assert_eq!(night.reason("/p6"), Reason::Redirected);
    assert_eq!(nights.set().len(), PAGES + 1 - 3 - 3 + 1);
}

#[tokio::test(start_paused = true)]
async fn the_guard_sees_that_all_lead_to_one_url_before_that_is_asked() {
    let (mut nights, pages) = published(Some(10)).await;
    let before = nights.set();
    for page in &pages {
        nights.says.set(page, FixturePage::redirect(302, "/login"));
    }
    let night = nights.night().await;
    assert_eq!(night.result, Err(vec!["one-redirect-target"]));
    assert_eq!(nights.set(), before);
    for page in &pages {
        nights.is_page(page);
    }
    // Nothing of it is left to the run that begins anew.
    for number in 0..MANY {
        let night = nights.night().await;
        assert_eq!(night.result, Ok(()), "night {number}");
        assert_eq!(nights.set(), before, "night {number}");
        if night.ending == Ending::Drained {
            return;
        }
    }
    panic!("it never ends");
}
