//! Servers whose "not modified" is a lie: they are caught, remembered, tested and believed again.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_site_that_calls_everything_not_modified_is_found_out() {
    let (mut bench, says) = bench();
    directories(&says, 300, "");
    let first = run(&mut bench).await;
    assert_eq!(first.listed().len(), 601);
    directories(&says, 300, "<meta name=robots content=noindex>");
    bench.site.lie(true);
    let second = run(&mut bench).await;
    assert_eq!(second.listed(), ["/"], "nothing is hidden");
    assert!(second.not_modified > 0);
    let told = second
        .notices
        .iter()
        .filter(|notice| notice.contains("not modified (304)"));
    assert!(told.count() >= 1, "{:?}", second.notices);
    assert!(
        second
            .notices
            .iter()
            .any(|notice| notice.contains("on this site"))
    );

    // It is remembered.
    let third = run(&mut bench).await;
    assert_eq!((third.asked(true), third.not_modified), (vec![], 0));
    // And tested where that hides nothing.
    directories(&says, 300, "<p>told the truth</p>");
    bench.site.lie(false);
    let fourth = run(&mut bench).await;
    assert_eq!(fourth.listed().len(), 601);
    assert!(fourth.asked(true).len() >= 5);
    assert!(
        fourth
            .notices
            .iter()
            .any(|notice| notice.contains("again: it is believed")),
        "{:?}",
        fourth.notices
    );
    let fifth = run(&mut bench).await;
    assert!(fifth.not_modified > 500, "{}", fifth.not_modified);
    assert_eq!(fifth.listed().len(), 601);
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_lies_costs_the_others_nothing() {
    let (mut bench, says) = bench();
    directories(&says, 300, "");
    run(&mut bench).await;
    // The tags of one directory do not move with its content.
    for number in 0..300 {
        let path = format!("/a/{number}");
        let mut page = says.0.lock().unwrap()[&path].clone();
        page.body
            .extend_from_slice(b"<meta name=robots content=noindex>");
        says.set(&path, page);
    }
    let second = run(&mut bench).await;
    assert_eq!(second.listed().len(), 301);
    assert!(
        second.notices[0].contains("below /a/"),
        "{:?}",
        second.notices
    );
    let third = run(&mut bench).await;
    let asked = third.asked(true);
    assert!(asked.iter().all(|path| !path.starts_with("/a/")));
    assert!(third.not_modified > 280);
}

#[tokio::test(start_paused = true)]
async fn a_304_that_nobody_asked_for_is_no_evidence_against_a_page_but_against_the_server() {
    let (mut bench, says) = bench();
    directories(&says, 300, "");
    run(&mut bench).await;
    for directory in ["a", "b"] {
        for number in 0..300 {
            let page = FixturePage::status(304);
            says.set(&format!("/{directory}/{number}"), page);
        }
    }
    bench.site.lie(true);
    let before = says.0.lock().unwrap().len();
    for round in 0..3 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed().len(), before, "round {round}");
        if round > 0 {
            assert_eq!(ran.not_modified, 0, "round {round}");
        }
        let is_told = |notice: &String| notice.contains("was asked for as a whole");
        assert_eq!(
            ran.notices.iter().any(is_told),
            round == 0,
            "{:?}",
            ran.notices
        );
    }
    // It never said anything else.
    says.link("/", &["/a/0", "/new"]);
    says.set("/new", FixturePage::status(304));
    assert_eq!(run(&mut bench).await.reasons["/new"], Reason::Empty);
}

#[tokio::test(start_paused = true)]
async fn what_tested_pages_say_is_held_within_the_budget() {
    const PAGES: usize = 30;
    const LINKS: usize = 15_000;
    let (mut bench, says) = bench();
    let paths: Vec<String> = (0..PAGES).map(|number| format!("/{number}/page")).collect();
    let linked: Vec<&str> = paths.iter().map(String::as_str).collect();
    says.link("/", &linked);
    for path in &linked {
        says.html(path, "old");
    }
    run(&mut bench).await;
    // The server was caught, so all pages are asked for as a whole; all of them changed, so all are tested.
    let liar = (
        "validators.honesty".to_owned(),
        Some("liar 1 0 *".to_owned()),
    );
    let commit = crate::store::Commit {
        values: vec![liar],
        ..crate::store::Commit::default()
    };
    bench
        .store
        .lock()
        .unwrap()
        .as_mut()
        .unwrap()
        .commit(&commit)
        .unwrap();
    let targets: Vec<String> = (0..LINKS)
        .map(|number| format!("https://o.example/{number}"))
        .collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    for path in &linked {
        says.link(path, &targets);
    }
    bench.site = bench.site.clone().answering_conditionally(|_, _| {
        let slow = FixturePage::html("new").after(Duration::from_millis(500));
        Some(slow)
    });
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed().len(), PAGES + 1);
    assert_eq!(ran.asked(true).len(), PAGES, "each page is tested");
    let of_pages = |request: &&SeenRequest| request.url.ends_with("/page");
    let requests: Vec<&SeenRequest> = ran.requests.iter().filter(of_pages).collect();
    let ended_before = |now, are_tests: bool| {
        let requests = requests.iter();
        requests
            .filter(|request| request.validators.is_some() == are_tests)
            .filter(|request| request.ended.unwrap() <= now)
            .count()
    };
    let held = requests
        .iter()
        .filter(|request| request.validators.is_none())
        .map(|request| ended_before(request.begun, false) - ended_before(request.begun, true))
        .max()
        .unwrap();
    let in_flight = bench.config.politeness.concurrency.get() as usize;
    // A link takes some memory besides the twenty-odd bytes of its text.
    let budget = bench.config.limits.max_pending_bytes / (LINKS * 150);
    assert!(held <= budget + 1, "{held} pages");
    assert!(
        held + in_flight >= budget,
        "the budget was not reached: {held} pages"
    );
}
