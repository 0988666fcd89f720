//! The effects of a publish on the page rows and on the crawl.

use super::*;

fn phase(bench: &Bench) -> Phase {
    crawl_state::phase(&bench.store).unwrap()
}

fn visits(bench: &Bench) -> usize {
    let rows = bench.store.rows_from(None);
    rows.iter().filter(|(_, _, visit)| visit.is_some()).count()
}

/// Three pages.
fn small() -> BTreeMap<String, u64> {
    ["/", "/a", "/b"].map(|path| (path.to_owned(), 1)).into()
}

#[test]
fn drained_crawl_ends_and_limited_one_continues() {
    let mut bench = Bench::new("/");
    bench.is_drained = false;
    bench.edition(0, &small());
    assert_eq!((phase(&bench), visits(&bench)), (Phase::Open, 3));
    let visit = bench.store.visit(&key("/a")).unwrap();
    assert_eq!(visit.promotion, Some(crate::page::Promotion::default()));
    assert_eq!(bench.listed().len(), 3);
    // A second publish of the same changes nothing.
    let before = bench.listed();
    bench.wait(1);
    bench.publish().unwrap();
    assert!(bench.listed() == before);
    bench.is_drained = true;
    bench.publish().unwrap();
    assert_eq!((phase(&bench), visits(&bench)), (Phase::Finished, 0));
    assert!(bench.listed() == before);
}

#[test]
fn unlisted_url_that_crawls_meet_is_kept() {
    let mut bench = Bench::new("/");
    let mut config = Config::default();
    config.scope.exclude = vec!["/a".to_owned()];
    bench.judge = judge_of(&bench.site, &config);
    let pages = ["/", "/b"].map(|path| (path.to_owned(), 1)).into();
    // It is never asked for, so that its visit is the same in each crawl.
    for _ in 0..40 {
        bench.wait(24);
        bench.crawl(&pages);
        let discovery = Discovery {
            reason: Reason::ExcludedByRule,
            ..queued_at(1_000, key("/a"))
        };
        commit(&mut bench.store, |commit| {
            commit.discovered = vec![discovery];
        });
        bench.publish().unwrap();
        let page = bench.store.page(&key("/a")).unwrap();
        assert_eq!(page.last_seen, bench.now);
    }
    let page = bench.store.page(&key("/a")).unwrap();
    assert_eq!(page.first_seen, bench.now - (39 * 24).hours());
}

#[test]
fn refused_crawl_is_published_only_by_force() {
    let mut bench = Bench::published();
    let (before, listed) = (bench.files(), bench.listed());
    bench.config.guard = GuardConfig::default();
    bench.wait(1);
    bench.crawl(&small());
    let error = bench.publish().unwrap_err();
    assert!(matches!(error, PublishError::Refused(_)), "{error}");
    assert_eq!(phase(&bench), Phase::Refused);
    assert_eq!(bench.files(), before);
    assert!(bench.listed() == listed);
    // At rest the page rows count.
    assert_eq!(bench.publish().unwrap().listed, 273);
    assert_eq!(phase(&bench), Phase::Refused);
    bench.config.force = true;
    assert_eq!(bench.publish().unwrap().listed, 3);
    assert_eq!(phase(&bench), Phase::Finished);
    assert_eq!(bench.listed().len(), 3);
}

#[test]
fn guard_compares_with_the_set_before_the_crawl() {
    let mut bench = Bench::published();
    bench.config.guard = GuardConfig::default();
    bench.is_drained = false;
    let mut pages = shop();
    // 60 pages go, in two sessions of one crawl.
    let lose = |pages: &mut BTreeMap<String, u64>| {
        let gone: Vec<String> = pages.keys().take(30).cloned().collect();
        pages.retain(|path, _| !gone.contains(path));
    };
    lose(&mut pages);
    bench.crawl(&pages);
    assert!(bench.publish().is_ok());
    lose(&mut pages);
    bench.visit(&pages);
    let gone = bench.listed().into_keys();
    let gone = gone.filter(|path| !pages.contains_key(path));
    let gone = gone
        .zip(10_000..)
        .map(|(path, sequence)| (key(&path), sequence, empty_answer(410)));
    bench.finish(gone.collect());
    assert!(matches!(bench.publish(), Err(PublishError::Refused(_))));
}

#[test]
fn the_report_counts_what_was_judged() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    let mut excluded = Config::default();
    excluded.scope.exclude = vec!["/docs/*".to_owned()];
    bench.judge = judge_of(&bench.site, &excluded);
    let Publishing { report, result } = bench.request(Mode::Crawl, true, true, publish);
    let report = report.unwrap();
    assert_eq!(result.unwrap().listed, 153);
    assert_eq!(report.listed, 153);
    assert_eq!(report.excluded, BTreeMap::from([("excluded-by-rule", 120)]));
    assert_eq!(report.known(), 273);
}

#[test]
fn limited_fresh_crawl_unlists_what_it_omits() {
    let mut bench = Bench::new("/");
    journal::adopt(&mut bench.store);
    bench.edition(0, &small());
    crawl_state::open(&mut bench.store, "", bench.now, true).unwrap();
    bench.is_drained = false;
    bench.wait(1);
    let mut pages = small();
    pages.remove("/b");
    bench.visit(&pages);
    commit(&mut bench.store, |commit| {
        commit.discovered = vec![queued_at(9, key("/b"))];
    });
    assert_eq!(bench.publish().unwrap().listed, 2);
    assert_eq!(bench.listed().len(), 2);
    let outbox = bench.store.outbox(None, 9, Timestamp::MAX).unwrap();
    let removed: Vec<&str> = outbox
        .waiting
        .iter()
        .map(|url| url.key.path_and_query())
        .collect();
    assert_eq!(removed, ["/b"]);
}

#[test]
fn pages_removed_by_rules_are_never_lost() {
    let mut bench = Bench::published();
    bench.config.guard = GuardConfig::default();
    bench.is_drained = false;
    let mut rules = Config::default();
    rules.scope.exclude = vec!["/docs/*".to_owned()];
    bench.judge = judge_of(&bench.site, &rules);
    let docs = shop().into_keys().filter(|path| path.starts_with("/docs/"));
    let docs: Vec<String> = docs.collect();
    let mut pages = shop();
    pages.retain(|path, _| !docs.contains(path));
    bench.wait(1);
    crawl_state::open(&mut bench.store, "", bench.now, false).unwrap();
    let found = docs.iter().zip(1_000..);
    let found = found.map(|(path, sequence)| queued_at(sequence, key(path)));
    let found: Vec<_> = found.collect();
    commit(&mut bench.store, |commit| {
        commit.discovered.clone_from(&found);
    });
    bench.visit(&pages);
    assert_eq!(bench.publish().unwrap().listed, 153);
    // The next session decides the visits that waited.
    let record = PageRecord {
        outcome: Some(Outcome::NotFetched(Reason::ExcludedByRule)),
        ..unfetched(Reason::ExcludedByRule)
    };
    let refused = found.iter().map(|found| finished(found, record.clone()));
    commit(&mut bench.store, |commit| {
        commit.finished = refused.collect();
    });
    bench.wait(24);
    assert_eq!(bench.publish().unwrap().listed, 153);
}

#[test]
fn page_that_failed_once_stays_until_retried() {
    let mut bench = Bench::new("/");
    bench.edition(0, &small());
    crawl_state::open(&mut bench.store, "", bench.now, false).unwrap();
    bench.is_drained = false;
    let failing = |bench: &mut Bench| {
        bench.finish(vec![(key("/a"), 1, empty_answer(503))]);
    };
    failing(&mut bench);
    assert_eq!(bench.publish().unwrap().listed, 3);
    // 31 days of sessions that do not reach it, and of publishing by hand.
    bench.wait(31 * 24);
    assert_eq!(bench.publish().unwrap().listed, 3);
    crawl_state::set_phase(&mut bench.store, Phase::Finished).unwrap();
    assert_eq!(bench.publish().unwrap().listed, 3);
    crawl_state::open(&mut bench.store, "", bench.now, false).unwrap();
    assert_eq!(bench.publish().unwrap().listed, 3);
    failing(&mut bench);
    assert_eq!(bench.publish().unwrap().listed, 2);
}
