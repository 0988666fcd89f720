//! A set that another state published, because that was lost or because the set was made without a crawl: to the first run
//! its pages are pages that were listed before.

use std::collections::BTreeSet;

use jiff::ToSpan as _;

use super::{
    nights::{Nights, date, paths},
    *,
};
use crate::{
    config::Format,
    page::Via,
    publish::{recall, recall_dates},
};

/// Pages besides those that a test is about.
const OTHERS: usize = 40;

fn with_others(own: &[&str]) -> Vec<String> {
    let own = own.iter().map(|path| (*path).to_owned());
    own.chain(paths("/p", OTHERS)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_nothing_leads_to_is_asked_for_and_stays() {
    let all = with_others(&["/old"]);
    let mut nights = Nights::new(&all);
    nights.says.link("/old", &["/deep"]);
    nights.is_page("/deep");
    nights.night().await.result.unwrap();
    let before = nights.set();
    assert_eq!(before.len(), OTHERS + 3);
    nights.lead_to(&paths("/p", OTHERS));
    for _ in 0..2 {
        nights.lose_state(recall);
        for _ in 0..2 {
            let night = nights.night().await;
            assert_eq!(night.result, Ok(()));
            assert_eq!(nights.set(), before);
            assert_eq!(night.via("/old"), Via::Earlier);
            assert_eq!(night.via("/p0"), Via::Link);
            assert_eq!(night.reason("/deep"), Reason::Listed);
            let once: BTreeSet<&String> = night.asked.iter().collect();
            assert_eq!(
                (once.len(), night.asked.len()),
                (before.len(), before.len())
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_leave_on_evidence_only() {
    let own = [
        "/404",
        "/410",
        "/503",
        "/noindex",
        "/closed",
        "/excluded",
        "/moved",
        "/list",
    ];
    let mut nights = Nights::new(&with_others(&own));
    nights.night().await.result.unwrap();
    let before = nights.set();
    let says = &nights.says;
    // Some of them are linked all the same.
    nights.lead_to(&with_others(&["/404", "/503"]));
    says.set("/404", FixturePage::status(404));
    says.set("/410", FixturePage::status(410));
    says.set("/503", FixturePage::status(503));
    says.set("/list", FixturePage::status(503));
    says.html("/noindex", "<meta name=robots content=noindex>");
    says.set("/moved", FixturePage::redirect(301, "/p1"));
    says.set(
        "/robots.txt",
        FixturePage::text("User-agent: *\nDisallow: /closed\n"),
    );
    nights.bench.config.scope.exclude = vec!["/excluded".to_owned()];
    nights.bench.config.scope.follow_only = vec!["/list".to_owned()];
    nights.lose_state(recall);
    let night = nights.night().await;
    assert_eq!(night.result, Ok(()));
    let reasons = own.map(|path| night.reason(path));
    let expected = [
        Reason::KeptGoneOnce,
        Reason::Gone,
        Reason::KeptUnreachable,
        Reason::Noindex,
        Reason::RobotsDisallowed,
        Reason::ExcludedByRule,
        Reason::Redirected,
        Reason::FollowOnly,
    ];
    assert_eq!(reasons, expected);
    let set = nights.set();
    for path in ["/404", "/503"] {
        assert_eq!(set.get(path), before.get(path), "{path}");
        assert_eq!(set[path], Some(date(path)));
    }
    assert_eq!(set.len(), before.len() - 6);
    // The second time it is one; and what fails is kept for a month from when it was seen to.
    let night = nights.night().await;
    assert_eq!(night.reason("/404"), Reason::Gone);
    assert_eq!(night.reason("/503"), Reason::KeptUnreachable);
    assert_eq!(nights.set()["/503"], Some(date("/503")));
    nights.bench.now += (24 * 28).hours();
    assert_eq!(nights.night().await.reason("/503"), Reason::ServerError);
}

#[tokio::test(start_paused = true)]
async fn what_a_limit_leaves_unasked_stays_as_it_was() {
    let mut nights = Nights::new(&with_others(&[]));
    nights.night().await.result.unwrap();
    let before = nights.set();
    // Nothing leads to half of them any more.
    nights.lead_to(&paths("/p", OTHERS / 2));
    nights.lose_state(recall);
    nights.bench.config.limits.max_pages = 11;
    let mut asked = Vec::new();
    for number in 0..5 {
        let night = nights.night().await;
        assert_eq!(night.result, Ok(()), "night {number}");
        assert_eq!(nights.set(), before, "night {number}");
        if number == 0 {
            let kept = night.with_reason(Reason::KeptNotReached);
            assert_eq!(kept.len(), before.len() - 11);
        }
        asked.extend(night.asked.into_iter().filter(|path| path != "/"));
        if night.ending == Ending::Drained {
            break;
        }
    }
    asked.sort();
    let mut all = paths("/p", OTHERS);
    all.sort();
    assert_eq!(asked, all, "each is asked for once");
}

#[tokio::test(start_paused = true)]
async fn what_a_refused_run_saw_changes_nothing() {
    let mut nights = Nights::new(&with_others(&["/old"]));
    nights.night().await.result.unwrap();
    let before = nights.set();
    let others = paths("/p", OTHERS);
    nights.lead_to(&others);
    nights.lose_state(recall);
    for path in &others {
        nights.says.set(path, FixturePage::status(410));
    }
    for _ in 0..2 {
        nights.night().await.result.unwrap_err();
        assert_eq!(nights.set(), before);
    }
    // Well again, but for one, which nothing leads to and which answers 404 for the first time.
    for path in &others {
        nights.is_page(path);
    }
    nights.says.set("/old", FixturePage::status(404));
    let night = nights.night().await;
    assert_eq!(night.result, Ok(()));
    assert_eq!(night.reason("/old"), Reason::KeptGoneOnce);
    assert_eq!(nights.set(), before);
}

#[tokio::test(start_paused = true)]
async fn a_list_tells_as_much_as_a_sitemap_and_a_feed_does_not_count() {
    for formats in [
        BTreeSet::from([Format::Text]),
        BTreeSet::from([Format::Text, Format::Rss]),
        BTreeSet::from([Format::Text, Format::Xml, Format::Atom]),
    ] {
        let mut nights = Nights::new(&with_others(&["/old"]));
        nights.bench.config.publish.formats = formats.clone();
        nights.night().await.result.unwrap();
        let before = nights.set();
        nights.lead_to(&paths("/p", OTHERS));
        nights.says.set("/p1", FixturePage::status(503));
        nights.lose_state(recall);
        let night = nights.night().await;
        assert_eq!(night.result, Ok(()), "{formats:?}");
        assert_eq!(night.reason("/old"), Reason::Listed, "{formats:?}");
        assert_eq!(night.reason("/p1"), Reason::KeptUnreachable, "{formats:?}");
        let set = nights.set();
        assert_eq!(set.len(), before.len());
        if formats.contains(&Format::Xml) {
            assert_eq!(set["/p1"], Some(date("/p1")));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_forgets_everything_forgets_what_nothing_leads_to() {
    let mut nights = Nights::new(&with_others(&["/old", "/404"]));
    nights.night().await.result.unwrap();
    nights.lead_to(&with_others(&["/404"]));
    nights.says.set("/404", FixturePage::status(404));
    nights.lose_state(recall_dates);
    let night = nights.night().await;
    assert_eq!(night.result, Ok(()));
    assert!(!night.records.contains_key("/old"));
    assert_eq!(night.reason("/404"), Reason::Gone);
    assert_eq!(nights.set()["/p0"], Some(date("/p0")));
}
