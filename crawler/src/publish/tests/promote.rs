//! What a publish makes of the page rows and of the crawl.

use super::*;

fn phase(bench: &Bench) -> Phase {
    runs::phase(&bench.store).unwrap()
}

fn visits(bench: &Bench) -> u64 {
    bench.store.size().unwrap().visits
}

/// Three pages.
fn small() -> BTreeMap<String, u64> {
    ["/", "/a", "/b"].map(|path| (path.to_owned(), 1)).into()
}

#[test]
fn a_drained_crawl_is_over_and_a_limited_one_goes_on() {
    let mut bench = Bench::new("/");
    bench.is_drained = false;
    bench.crawl(&small());
    bench.publish().unwrap();
    assert_eq!((phase(&bench), visits(&bench)), (Phase::Open, 3));
    let visit = bench.store.visit(&key("/a")).unwrap().unwrap();
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
fn a_refused_crawl_leaves_the_page_rows_and_is_published_by_force() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
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
fn the_guard_compares_with_what_was_published_when_the_crawl_began() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
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
    let gone = gone.zip(10_000..).map(|(path, sequence)| {
        let facts = PageFacts {
            status: 410,
            ..PageFacts::default()
        };
        (key(&path), sequence, facts)
    });
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
    let request = PublishRequest {
        site: &bench.site,
        judge: &bench.judge,
        mode: Mode::Crawl,
        is_drained: true,
        config: &bench.config,
        robots: None,
        dry_run: true,
        now: bench.now,
        is_stopped: &|| false,
    };
    let Publishing { report, result } = publish(&mut bench.store, &request);
    let report = report.unwrap();
    assert_eq!(result.unwrap().listed, 153);
    assert_eq!(report.listed, 153);
    assert_eq!(report.excluded, BTreeMap::from([("excluded-by-rule", 120)]));
    assert_eq!(report.known(), 273);
}
