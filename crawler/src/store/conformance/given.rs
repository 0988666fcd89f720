//! What inputs say of URLs.

use sitemap_core::LastMod;

use super::{Bench, discover, discovery, finish, finished, page, record, walk};
use crate::{
    page::{Given, Outcome, Reason, RunId, Via},
    store::{Gave, GivenUrl, Giving, Store},
    url_key::UrlKey,
};

/// Gives `urls` one after the other, and then says `end`.
pub(super) fn give(store: &mut dyn Store, run: RunId, urls: &[GivenUrl], end: Giving) -> Gave {
    let mut urls = urls.iter().cloned().map(Giving::Url).chain([end]);
    store
        .give(run, &mut || {
            urls.next().expect("nothing is asked for behind the end")
        })
        .unwrap()
}

fn given(path: &str, lastmod: Option<&str>, priority: Option<u8>) -> GivenUrl {
    GivenUrl {
        key: discovery(path, 0).key,
        given: Given {
            lastmod: lastmod.map(|text| LastMod::parse(text).unwrap()),
            priority: priority.map(|tenths| sitemap_core::Priority::from_tenths(tenths).unwrap()),
            ..Given::default()
        },
        reason: Reason::Given,
    }
}

fn stored(store: &dyn Store, url: &GivenUrl) -> Option<Given> {
    match store.page(&url.key).unwrap()?.outcome {
        Some(Outcome::Given(given)) => Some(*given),
        _ => None,
    }
}

pub(crate) fn a_given_url_is_finished_work_of_its_run<B: Bench>() {
    let mut bench = B::new();
    let urls = [
        given("/b", None, Some(3)),
        given("/a", Some("2026-01-02"), None),
    ];
    let gave = give(bench.store(), 4, &urls, Giving::End);
    assert_eq!((gave.urls, gave.repeated), (2, 0));
    bench.reopen();
    let store = bench.store();
    let keys: Vec<UrlKey> = [1, 0]
        .map(|number: usize| urls[number].key.clone())
        .to_vec();
    assert_eq!(walk(store, 4, None), keys);
    for url in &urls {
        assert_eq!(stored(store, url).as_ref(), Some(&url.given));
        let record = store.page(&url.key).unwrap().unwrap();
        assert_eq!(
            (record.run, record.reason, record.via),
            (4, Reason::Given, Via::Input)
        );
    }
    assert_eq!(store.queue_len().unwrap(), 0);
    assert_eq!(store.counts(4).unwrap(), [(Reason::Given, 2)].into());
}

pub(crate) fn of_several_the_best_counts_whatever_the_order<B: Bench>() {
    fn check<B: Bench>(worse: &GivenUrl, better: &GivenUrl) {
        for urls in [[worse, better], [better, worse]] {
            let mut bench = B::new();
            let gave = give(bench.store(), 1, &urls.map(Clone::clone), Giving::End);
            assert_eq!((gave.urls, gave.repeated), (1, 1));
            assert_eq!(stored(bench.store(), better).as_ref(), Some(&better.given));
        }
    }
    let url = |lastmod, priority| given("/a", lastmod, priority);
    check::<B>(&url(None, Some(9)), &url(Some("1999-12-31"), None));
    check::<B>(
        &url(Some("2026-01-02"), Some(9)),
        &url(Some("2026-01-03"), None),
    );
    check::<B>(
        &url(Some("2026-01-02T22:00:00Z"), None),
        &url(Some("2026-01-02"), None),
    );
    check::<B>(&url(None, None), &url(None, Some(1)));
    check::<B>(&url(None, Some(2)), &url(None, Some(1)));
    // The same instant, said at greater length.
    check::<B>(
        &url(Some("2026-01-02T23:59:59Z"), None),
        &url(Some("2026-01-03T00:59:59+01:00"), None),
    );
}

pub(crate) fn what_this_run_knows_already_stays<B: Bench>() {
    let mut bench = B::new();
    let (known, older) = (discovery("/known", 1), discovery("/older", 1));
    discover(bench.store(), 1, std::slice::from_ref(&older));
    finish(
        bench.store(),
        1,
        finished(&older, record(1, Reason::Listed)),
    );
    bench.store().begin_run(2).unwrap();
    discover(bench.store(), 2, std::slice::from_ref(&known));
    finish(
        bench.store(),
        2,
        finished(&known, record(2, Reason::Noindex)),
    );
    let urls = [given("/known", None, None), given("/older", None, None)];
    let gave = give(bench.store(), 2, &urls, Giving::End);
    assert_eq!(gave.urls, 1);
    let store = bench.store();
    assert_eq!(page(store, &known).reason, Reason::Noindex);
    assert_eq!(page(store, &older).reason, Reason::Given);
    // What was known of it serves a conditional request yet.
    let earlier = store.earlier_facts(&older.key).unwrap().unwrap();
    assert_eq!(earlier.title.as_deref(), Some("in run 1"));
}

pub(crate) fn nothing_stays_of_what_was_given_up<B: Bench>() {
    let mut bench = B::new();
    let urls = [given("/a", None, None)];
    assert_eq!(
        give(bench.store(), 1, &urls, Giving::GiveUp),
        Gave::default()
    );
    assert_eq!(stored(bench.store(), &urls[0]), None);
    // The next one begins with nothing.
    let others = [given("/b", None, None)];
    assert_eq!(give(bench.store(), 1, &others, Giving::End).urls, 1);
    assert_eq!(stored(bench.store(), &urls[0]), None);
}
