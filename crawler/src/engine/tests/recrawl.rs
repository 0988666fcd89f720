//! Second and further runs over a site, in virtual time: what is asked, and what becomes of pages that
//! fail, are gone, or are not linked any more.

use std::collections::BTreeMap;

use super::*;
use crate::{engine::honesty::is_sample, page::Via, testing::SeenRequest};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What the site says now, by path; everything else is gone.
#[derive(Clone, Default)]
pub(super) struct Says(pub(super) Arc<Mutex<BTreeMap<String, FixturePage>>>);

impl Says {
    pub(super) fn set(&self, path: &str, page: FixturePage) {
        self.0.lock().unwrap().insert(path.to_owned(), page);
    }

    fn remove(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }

    /// A page that links to `targets`, with a validator that is right.
    pub(super) fn link(&self, path: &str, targets: &[&str]) {
        let page = FixturePage::linking(targets.iter().copied());
        self.set(path, tagged(page));
    }

    pub(super) fn html(&self, path: &str, body: &str) {
        self.set(path, tagged(FixturePage::html(body)));
    }
}

fn tagged(page: FixturePage) -> FixturePage {
    let etag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(&page.body));
    page.with_header("etag", &etag)
}

pub(super) fn bench() -> (Bench, Says) {
    let says = Says::default();
    let said = says.clone();
    let site = FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        said.0.lock().unwrap().get(path).cloned()
    });
    let mut bench = Bench::new(site);
    bench.config.limits.max_tries = 1;
    bench.config.politeness.failures_before_pause = 1_000;
    (bench, says)
}

/// What a run did.
pub(super) struct Ran {
    pub(super) requests: Vec<SeenRequest>,
    pub(super) reasons: BTreeMap<String, Reason>,
    pub(super) via: BTreeMap<String, Via>,
    pub(super) not_modified: u64,
    pub(super) number: RunId,
    pub(super) notices: Vec<String>,
}

impl Ran {
    /// Paths that were asked conditionally, or as a whole; robots.txt left out.
    pub(super) fn asked(&self, conditionally: bool) -> Vec<&str> {
        let requests = self.requests.iter();
        let mut asked: Vec<&str> = requests
            .filter(|request| request.validators.is_some() == conditionally)
            .filter_map(|request| request.url.strip_prefix("https://site.example"))
            .filter(|path| *path != "/robots.txt")
            .collect();
        asked.sort_unstable();
        asked
    }

    pub(super) fn listed(&self) -> Vec<&str> {
        let reasons = self.reasons.iter();
        reasons
            .filter(|(_, reason)| reason.state() == State::Listed)
            .map(|(path, _)| path.as_str())
            .collect()
    }
}

/// One start of the program, a day after the last one.
pub(super) async fn run(bench: &mut Bench) -> Ran {
    run_from(bench, START).await
}

/// The same from the URL `start`.
pub(super) async fn run_from(bench: &mut Bench, start: &str) -> Ran {
    let before = bench.site.requests().len();
    let crawled = bench.crawl(start, &Shutdown::default()).await;
    let mut crawled = crawled.unwrap();
    let mut ran = Ran {
        requests: bench.site.requests().split_off(before),
        reasons: reasons(&crawled).into_iter().collect(),
        via: BTreeMap::new(),
        not_modified: crawled.not_modified,
        number: crawled.run,
        notices: crawled.notices.clone(),
    };
    let mut visit = |key: &UrlKey, record: crate::page::PageRecord| {
        ran.via.insert(key.path().to_owned(), record.via);
        std::ops::ControlFlow::Continue(())
    };
    crawled
        .store
        .visit_pages(crawled.run, None, &mut visit)
        .unwrap();
    if crawled.ending == Ending::Drained {
        runs::finish(&mut *crawled.store, crawled.run).unwrap();
    }
    bench.keep(crawled);
    bench.now += DAY;
    ran
}

/// Whether a path is one of those that are asked for as a whole to test the server.
pub(super) fn is_tested(path: &str, run: RunId) -> bool {
    is_sample(&UrlKey::from_normalised(&url(path)).unwrap(), run)
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_site_is_asked_conditionally_and_decided_from_the_store() {
    let (mut bench, says) = bench();
    says.link("/", &["/a", "/b", "/private"]);
    says.link("/a", &["/c"]);
    says.html("/b", "<meta name=robots content=noindex><a href=/d>d</a>");
    says.link("/c", &["https://other.example/"]);
    says.html("/d", "<link rel=canonical href=/a>");
    bench.config.scope.exclude = vec!["/private".to_owned()];
    let first = run(&mut bench).await;
    assert_eq!(first.asked(true), [""; 0]);
    assert_eq!((first.not_modified, first.reasons.len()), (0, 6));
    let pages = ["/", "/a", "/b", "/c", "/d"];
    for _ in 0..3 {
        let again = run(&mut bench).await;
        let expected: Vec<&str> = pages
            .into_iter()
            .filter(|path| !is_tested(path, again.number))
            .collect();
        assert_eq!(again.asked(true), expected);
        assert_eq!(again.requests.len(), 1 + pages.len());
        assert_eq!(again.not_modified, expected.len() as u64);
        assert_eq!(again.reasons, first.reasons);
        assert_eq!(again.via["/c"], Via::Link);
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_page_is_read_and_new_links_are_followed() {
    let (mut bench, says) = bench();
    says.link("/", &["/a"]);
    says.link("/a", &["/b"]);
    says.link("/b", &[]);
    run(&mut bench).await;
    says.link("/a", &["/b", "/new"]);
    says.link("/new", &[]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed(), ["/", "/a", "/b", "/new"]);
    assert_eq!(ran.asked(true), ["/", "/a", "/b"]);
    assert_eq!(ran.asked(false), ["/new"]);
    assert_eq!(ran.not_modified, 2);
    assert_eq!(run(&mut bench).await.not_modified, 4);
}

#[tokio::test(start_paused = true)]
async fn only_an_answer_that_can_stand_is_asked_to_be_confirmed() {
    let (mut bench, says) = bench();
    let date = ("date", "Sun, 01 Mar 2026 12:00:00 GMT");
    let page = |name: &str, value: &str| {
        FixturePage::linking([])
            .with_header(date.0, date.1)
            .with_header(name, value)
    };
    says.link(
        "/",
        &[
            "/etag", "/date", "/now", "/star", "/none", "/large", "/header", "/gone",
        ],
    );
    says.set("/etag", page("etag", "W/\"1\""));
    says.set(
        "/date",
        page("last-modified", "Sun, 01 Mar 2026 11:59:59 GMT"),
    );
    // It may change again within the same second.
    says.set(
        "/now",
        page("last-modified", "Sun, 01 Mar 2026 12:00:00 GMT"),
    );
    says.set("/star", page("etag", "*"));
    says.set("/none", FixturePage::linking([]));
    says.html("/large", &"x".repeat(5_000));
    says.set(
        "/header",
        page("etag", "\"1\"").with_header("x-robots-tag", "noindex"),
    );
    bench.config.fetch.max_body_bytes = 4_000;
    run(&mut bench).await;
    let ran = run(&mut bench).await;
    assert_eq!(ran.asked(true), ["/", "/date", "/etag"]);
    assert_eq!(ran.not_modified, 3);
    let since = ran
        .requests
        .iter()
        .find(|request| request.url.ends_with("/date"));
    let since = since.unwrap().validators.as_ref().unwrap();
    let fields: Vec<_> = since.fields().collect();
    let expected = (
        "if-modified-since",
        "Sun, 01 Mar 2026 11:59:59 GMT".to_owned(),
    );
    assert_eq!(fields, [expected]);
    // What was read in another way than now cannot be confirmed.
    bench.config.parse.robots_names.push("otherbot".to_owned());
    assert_eq!(run(&mut bench).await.asked(true), [""; 0]);
    assert_eq!(run(&mut bench).await.asked(true), ["/", "/date", "/etag"]);
    bench.config.publish.extensions.images = true;
    assert_eq!(run(&mut bench).await.asked(true), [""; 0]);
    bench.config.publish.extensions.images = false;
    assert_eq!(run(&mut bench).await.asked(true), ["/", "/date", "/etag"]);
}

#[tokio::test(start_paused = true)]
async fn changed_rules_judge_confirmed_pages_without_their_bodies() {
    let (mut bench, says) = bench();
    says.link("/", &["/noindex", "/canonical", "/out"]);
    says.html("/noindex", "<meta name=robots content=noindex>");
    says.html("/canonical", "<link rel=canonical href=/>");
    says.link("/out", &["/behind"]);
    says.link("/behind", &[]);
    let first = run(&mut bench).await;
    assert_eq!(first.listed(), ["/", "/behind", "/out"]);
    bench.config.ignore.noindex = true;
    bench.config.ignore.canonical = true;
    bench.config.scope.follow_only = vec!["/out".to_owned()];
    let second = run(&mut bench).await;
    assert_eq!(second.asked(false), [""; 0]);
    assert_eq!(second.listed(), ["/", "/behind", "/canonical", "/noindex"]);
    assert_eq!(second.reasons["/out"], Reason::FollowOnly);
    bench.config.ignore = crate::config::IgnoreConfig::default();
    bench.config.scope.follow_only.clear();
    let third = run(&mut bench).await;
    assert_eq!(third.asked(false), [""; 0]);
    assert_eq!(third.reasons, first.reasons);
}

#[tokio::test(start_paused = true)]
async fn feeds_of_confirmed_pages_are_read_again() {
    let (mut bench, says) = bench();
    bench.config.discover.feeds = true;
    says.link("/", &["/a"]);
    says.html(
        "/a",
        "<link rel=alternate type=application/rss+xml href=/feed>",
    );
    let feed = |path: &str| {
        let link = url(path);
        FixturePage::text(&format!(
            "<rss version='2.0'><channel><item><link>{link}</link></item></channel></rss>"
        ))
    };
    says.set("/feed", feed("/x"));
    says.link("/x", &[]);
    says.link("/y", &[]);
    assert_eq!(run(&mut bench).await.listed(), ["/", "/a", "/x"]);
    says.set("/feed", feed("/y"));
    let ran = run(&mut bench).await;
    assert!(ran.asked(true).contains(&"/a"));
    assert_eq!(ran.listed(), ["/", "/a", "/x", "/y"]);
    assert_eq!((ran.via["/y"], ran.via["/x"]), (Via::Feed, Via::Earlier));
}

/// A site of `count` pages in each of some directories.
fn directories(says: &Says, count: usize, body: &str) {
    let mut links = Vec::new();
    for directory in ["a", "b"] {
        for number in 0..count {
            let path = format!("/{directory}/{number}");
            says.html(&path, &format!("<title>{path}</title>{body}"));
            links.push(path);
        }
    }
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    says.link("/", &links);
}

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
            assert_eq!(ran.notices, [""; 0], "{fails_all}");
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

#[tokio::test(start_paused = true)]
async fn what_tested_pages_say_is_held_within_the_budget() {
    const PAGES: usize = 30;
    const LINKS: usize = 15_000;
    const BUDGET: usize = run::MAX_PENDING_EFFECTS;
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
    assert!(held <= BUDGET / LINKS + 1 + in_flight, "{held} pages");
    assert!(
        held >= BUDGET / LINKS,
        "the budget was not reached: {held} pages"
    );
}
