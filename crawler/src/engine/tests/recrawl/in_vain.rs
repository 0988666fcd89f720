//! Conditional requests that have no answer, or one that is not to be believed: the page is asked for as a whole.

use super::*;

/// A bench whose site answers conditional requests below `/a/` in a way of its own.
fn bench_answering(
    answer: impl Fn(&FixturePage) -> FixturePage + Send + Sync + 'static,
) -> (Bench, Says) {
    let (mut bench, says) = bench();
    let said = says.clone();
    bench.site = bench.site.answering_conditionally(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let page = said.0.lock().unwrap().get(path).cloned()?;
        path.starts_with("/a/").then(|| answer(&page))
    });
    (bench, says)
}

#[tokio::test(start_paused = true)]
async fn a_page_is_asked_for_as_a_whole_when_the_server_has_no_answer_to_a_conditional_request() {
    for status in [400, 403, 405, 412, 428, 501] {
        let (mut bench, says) = bench_answering(move |_| FixturePage::status(status));
        directories(&says, 40, "");
        run(&mut bench).await;
        says.html("/a/7", "<meta name=robots content=noindex>");
        let second = run(&mut bench).await;
        assert_eq!(second.listed().len(), 80, "{status}");
        assert_eq!(second.reasons["/a/7"], Reason::Noindex);
        assert!(
            second
                .reasons
                .values()
                .all(|reason| *reason != Reason::KeptUnreachable)
        );
        let in_vain = |ran: &Ran| {
            let asked = ran.asked(true).into_iter();
            asked.filter(|path| path.starts_with("/a/")).count()
        };
        assert!(in_vain(&second) < 12, "{status}: {}", in_vain(&second));
        assert!(
            second
                .notices
                .iter()
                .any(|notice| notice.contains("below /a/"))
        );
        let third = run(&mut bench).await;
        assert_eq!(in_vain(&third), 0, "it is remembered");
        assert!(third.not_modified > 30, "the others are asked as ever");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_when_it_is_asked_for_changes_is_not_asked_for_them_again() {
    for (status, max_tries) in [(500, 3), (502, 2), (503, 3), (500, 1), (505, 3)] {
        let (mut bench, says) = bench_answering(move |_| FixturePage::status(status));
        bench.config.limits.max_tries = max_tries;
        directories(&says, 60, "");
        run(&mut bench).await;
        says.html("/a/7", "<meta name=robots content=noindex>");
        let second = run(&mut bench).await;
        assert_eq!(second.listed().len(), 120, "{status}");
        assert_eq!(second.reasons["/a/7"], Reason::Noindex);
        let in_vain = |ran: &Ran| {
            let asked = ran.asked(true).into_iter();
            asked.filter(|path| path.starts_with("/a/")).count()
        };
        let is_told = |notice: &String| notice.contains("below /a/");
        assert!(second.notices.iter().any(is_told), "{status}");
        let third = run(&mut bench).await;
        assert_eq!(in_vain(&third), 0, "it is remembered");
        assert!(third.not_modified > 50, "the others are asked as ever");
        assert_eq!(third.listed(), second.listed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_for_a_moment_is_believed() {
    // Whoever asks, or by accident those only that ask for changes.
    for fails_all in [true, false] {
        let (mut bench, says) = bench();
        let asked_for = std::sync::atomic::AtomicUsize::new(0);
        let fails = move |asked: &str| {
            let is_page = asked.contains("/a/");
            is_page && {
                let before = asked_for.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                (60..68).contains(&before)
            }
        };
        let said = says.clone();
        bench.site = if fails_all {
            FixtureSite::default().scripted(move |asked, _| {
                let path = asked.strip_prefix("https://site.example")?;
                let page = said.0.lock().unwrap().get(path).cloned()?;
                Some(if fails(asked) {
                    FixturePage::status(502)
                } else {
                    page
                })
            })
        } else {
            // The first run asks for whole pages only.
            for _ in 0..60 {
                fails("/a/");
            }
            bench.site.answering_conditionally(move |asked, _| {
                fails(asked).then(|| FixturePage::status(502))
            })
        };
        bench.config.limits.max_tries = 3;
        directories(&says, 60, "");
        run(&mut bench).await;
        for _ in 0..2 {
            let ran = run(&mut bench).await;
            assert_eq!(ran.listed().len(), 121);
            let is_pace = |text: &&String| text.contains("slowed down");
            assert_eq!(
                ran.notices.iter().filter(|notice| !is_pace(notice)).count(),
                0
            );
            assert!(ran.not_modified > 100);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_try_is_for_the_whole_page() {
    let (mut bench, says) = bench_answering(|_| FixturePage::status(500));
    bench.config.limits.max_tries = 2;
    directories(&says, 20, "");
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert!(ran.reasons.values().all(|reason| *reason == Reason::Listed));
    assert_eq!(ran.listed().len(), 41);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_whoever_asks_is_asked_for_once_more_and_kept() {
    let (mut bench, says) = bench();
    says.link("/", &["/closed"]);
    says.link("/closed", &[]);
    run(&mut bench).await;
    says.set("/closed", FixturePage::status(403));
    let ran = run(&mut bench).await;
    assert!(!is_tested("/closed", ran.number));
    assert_eq!(ran.reasons["/closed"], Reason::KeptUnreachable);
    let expected = (vec!["/", "/closed"], vec!["/closed"]);
    assert_eq!((ran.asked(true), ran.asked(false)), expected);
    assert_eq!(ran.notices, [""; 0]);
}

/// What a server answers that looks at dates only: not modified, with the tag of now.
fn not_modified(page: &FixturePage) -> FixturePage {
    let headers = page.headers.iter().filter(|(name, _)| name == "etag");
    FixturePage {
        headers: headers.cloned().collect(),
        ..FixturePage::status(304)
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_with_the_tag_of_another_state_is_not_believed() {
    let (mut bench, says) = bench_answering(not_modified);
    directories(&says, 40, "");
    run(&mut bench).await;
    assert!(
        run(&mut bench).await.not_modified > 70,
        "the tags are those that were asked with"
    );
    let noindex = "<meta name=robots content=noindex>";
    says.html("/a/7", noindex);
    let ran = run(&mut bench).await;
    assert_eq!(ran.reasons["/a/7"], Reason::Noindex);
    assert!(
        ran.notices[0].contains("not modified (304)"),
        "{:?}",
        ran.notices
    );
    assert!(ran.notices[0].contains("below /a/"), "{:?}", ran.notices);
    // The tag of now is that of what was read, and no other one.
    says.html("/a/8", noindex);
    assert_eq!(run(&mut bench).await.reasons["/a/8"], Reason::Noindex);
}

#[tokio::test(start_paused = true)]
async fn a_304_may_name_another_canonical_url() {
    let link = format!("<{}>; rel=\"canonical\"", url("/b/1"));
    let (mut bench, says) =
        bench_answering(move |page| not_modified(page).with_header("link", &link));
    directories(&says, 2, "");
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    for path in ["/a/0", "/a/1"]
        .into_iter()
        .filter(|path| !is_tested(path, ran.number))
    {
        assert_eq!(ran.reasons[path], Reason::CanonicalElsewhere);
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_that_contradicts_what_is_known_is_not_enough() {
    let link = format!("<{}>; rel=\"canonical\"", url("/b/1"));
    let (mut bench, says) =
        bench_answering(move |page| not_modified(page).with_header("link", &link));
    directories(&says, 30, "");
    says.html("/a/0", "<link rel=canonical href=/b/0>");
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert!(!is_tested("/a/0", ran.number));
    assert!(ran.asked(true).contains(&"/a/0") && ran.asked(false).contains(&"/a/0"));
    assert_eq!(ran.notices, [""; 0]);
}
