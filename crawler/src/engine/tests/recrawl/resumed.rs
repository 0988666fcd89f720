//! Runs over a known site that are cut, and gone on with.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_again_and_again_comes_to_the_same_end() {
    let scripts = |says: &Says| {
        directories(says, 60, "<p>new</p>");
        says.remove("/a/1");
        says.set("/a/2", FixturePage::status(503));
        says.set("/a/3", FixturePage::status(410));
        says.link("/", &["/a/0", "/a/1", "/a/2", "/a/3", "/b/0"]);
    };
    for lies in [false, true] {
        let mut ends = Vec::new();
        for portion in [10_000, 1, 7, 40] {
            let (mut bench, says) = bench();
            directories(&says, 60, "");
            run(&mut bench).await;
            scripts(&says);
            bench.site.lie(lies);
            bench.config.limits.max_pages = portion;
            let number = loop {
                let ran = run(&mut bench).await;
                bench.now -= DAY;
                let is_open = ran.reasons.values().any(|reason| *reason == Reason::Queued);
                let store = bench.store.lock().unwrap();
                let state = store.as_ref().unwrap().value("run.state").unwrap();
                if state.as_deref() == Some("finished") {
                    assert!(!is_open);
                    ends.push((ran.reasons, ran.via));
                    break ran.number;
                }
            };
            assert_eq!(number, 2);
        }
        assert_eq!(ends[0].0.len(), 121);
        assert!(ends.iter().all(|end| *end == ends[0]), "lies: {lies}");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_that_change_in_an_open_run_judge_confirmed_and_kept_pages_again() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/noindex", "/down", "/z"]);
    says.link("/a", &[]);
    says.html("/noindex", "<meta name=robots content=noindex>");
    says.link("/down", &[]);
    says.link("/z", &[]);
    run(&mut bench).await;
    says.set("/down", FixturePage::status(503));
    bench.config.limits.max_pages = 4;
    let cut = run(&mut bench).await;
    assert_eq!(cut.reasons["/down"], Reason::KeptUnreachable);
    assert_eq!(cut.reasons["/z"], Reason::KeptNotReached);
    bench.config.ignore.noindex = true;
    bench.config.scope.exclude = vec!["/a".to_owned()];
    bench.config.removal.keep_failing = Duration::ZERO;
    let ran = run(&mut bench).await;
    assert_eq!(ran.number, cut.number);
    assert_eq!(
        ran.asked(true).len() + ran.asked(false).len(),
        2,
        "the start page and /z"
    );
    assert_eq!(ran.listed(), ["/", "/noindex", "/z"]);
    assert_eq!(ran.reasons["/down"], Reason::ServerError);
}
