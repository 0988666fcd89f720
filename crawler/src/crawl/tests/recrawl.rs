//! Second and further crawls of a site, in virtual time, and the bench that they run on.

mod stays;

use super::*;
use crate::{crawl::validators::is_sample, page::Via, store::StoreError, testing::SeenRequest};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The current answers of the site, by path; everything else is gone.
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

/// The work of a session.
pub(super) struct Ran {
    pub(super) requests: Vec<SeenRequest>,
    pub(super) visits: BTreeMap<String, PageRecord>,
    /// The view of each URL in the publish.
    view: BTreeMap<String, Reason>,
    pub(super) not_modified: u64,
    pub(super) number: CrawlId,
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

    pub(super) fn reason(&self, path: &str) -> Reason {
        self.visits[path].reason
    }

    pub(super) fn listed(&self) -> Vec<&str> {
        let visits = self.visits.iter();
        let listed = visits.filter(|(_, visit)| visit.reason.state() == State::Listed);
        listed.map(|(path, _)| path.as_str()).collect()
    }

    /// Paths of what is published.
    fn published(&self) -> Vec<&str> {
        let view = self.view.iter();
        let listed = view.filter(|(_, reason)| reason.state() == State::Listed);
        listed.map(|(path, _)| path.as_str()).collect()
    }
}

/// A session, a day after the last one; a crawl that is drained is published.
pub(super) async fn run(bench: &mut Bench) -> Ran {
    let before = bench.site.requests().len();
    let crawled = bench.run().await;
    let ran = Ran {
        requests: bench.site.requests().split_off(before),
        visits: visits(&crawled),
        view: view(&crawled),
        not_modified: crawled.not_modified,
        number: crawled.number,
        notices: texts(&crawled),
    };
    if crawled.ending == Ending::Drained {
        bench.finish(crawled);
    } else {
        bench.keep(crawled);
    }
    bench.now += DAY;
    ran
}

fn view(crawled: &Crawled) -> BTreeMap<String, Reason> {
    let mode = Mode::of(&crawled.store, false).unwrap();
    let now = crawled.judge.our_time();
    let mut reasons = BTreeMap::new();
    MergedView::new(&crawled.store, &crawled.judge, mode, now)
        .each::<StoreError>(None, &mut |key, _, merged| {
            let path = key.path_and_query().to_owned();
            reasons.extend(merged.map(|merged| (path, merged.record.reason)));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    reasons
}

/// A path of which crawl `crawl` asks for the whole page, and none of the three before it.
fn sampled_in(crawl: CrawlId, prefix: &str) -> String {
    let is_it = |path: &String| {
        let key = UrlKey::from_normalised(&url(path)).unwrap();
        is_sample(&key, crawl) && (1..4).all(|back| !is_sample(&key, crawl - back))
    };
    let mut paths = (0..).map(|number| format!("/{prefix}{number}"));
    paths.find(is_it).unwrap()
}

/// Paths that none of the first `crawls` crawls asks for as a whole.
fn never_sampled(count: usize, crawls: CrawlId) -> Vec<String> {
    let is_it = |path: &String| {
        let key = UrlKey::from_normalised(&url(path)).unwrap();
        (1..=crawls).all(|crawl| !is_sample(&key, crawl))
    };
    let paths = (0..).map(|number| format!("/p{number}"));
    paths.filter(is_it).take(count).collect()
}

fn link_all(says: &Says, from: &str, paths: &[String]) {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    says.link(from, &paths);
}

#[tokio::test(start_paused = true)]
async fn pages_are_requested_with_validators() {
    let (mut bench, says) = bench();
    let paths = never_sampled(5, 3);
    link_all(&says, "/", &paths);
    for path in &paths {
        says.html(path, "<p>old</p><a href=/behind>b</a>");
    }
    says.set("/behind", FixturePage::linking([]));
    let first = run(&mut bench).await;
    assert_eq!(first.asked(true), [""; 0]);
    says.html(
        &paths[0],
        "<p>new</p><a href=/behind>b</a><a href=/new>n</a>",
    );
    says.link("/new", &[]);
    says.remove(&paths[1]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.asked(true).len(), 5);
    // That one is gone is not believed before it is asked for as a whole, and of one that changed a second answer is looked at.
    let mut whole = vec!["/", "/behind", "/new", &paths[0], &paths[1]];
    whole.sort_unstable();
    assert_eq!(ran.asked(false), whole);
    assert_eq!(ran.not_modified, 3);
    assert_eq!(ran.visits[&paths[2]].basis, Basis::Confirmed);
    assert_eq!(ran.visits[&paths[2]].reason, Reason::Listed);
    assert_eq!(ran.reason(&paths[1]), Reason::Gone);
    assert_eq!(ran.reason("/new"), Reason::Listed);
    // A crawl without validators.
    bench.config.fresh = true;
    let ran = run(&mut bench).await;
    assert_eq!((ran.asked(true).len(), ran.not_modified), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn canonical_redirects_are_requested_again_sometimes() {
    let (mut bench, says) = bench();
    says.link("/", &["/a/", "/b/"]);
    let set = |text: &str| {
        for path in ["/a", "/b"] {
            let page = format!("<link rel=canonical href={path}><p>{text} of {path}</p>");
            says.html(&format!("{path}/"), &page);
        }
    };
    set("the text");
    says.set("/a", FixturePage::redirect(301, "/a/"));
    says.set("/b", FixturePage::redirect(301, "/c"));
    says.set("/c", FixturePage::redirect(301, "/b/"));
    let listed = ["/", "/a/", "/b/"];
    let first = run(&mut bench).await;
    assert_eq!(first.published(), listed);
    let redirects = ["/a", "/b", "/c"];
    let mut asked = [0; 3];
    for _ in 0..7 {
        let ran = run(&mut bench).await;
        assert_eq!(ran.published(), listed);
        for (asked, path) in asked.iter_mut().zip(redirects) {
            *asked += usize::from(ran.asked(false).contains(&path));
        }
    }
    // The last redirect of a chain is asked for with each of those before it.
    assert_eq!(asked[..2], [1, 1]);
    assert!((1..=2).contains(&asked[2]), "{asked:?}");
    set("another text");
    let ran = run(&mut bench).await;
    assert!(redirects.iter().all(|path| ran.asked(false).contains(path)));
    // The redirect becomes a page of its own.
    says.html("/a", "<p>a new page</p>");
    set("a third text");
    let ran = run(&mut bench).await;
    assert_eq!(ran.published(), ["/", "/a", "/b/"]);
}

#[tokio::test(start_paused = true)]
async fn useless_conditional_answers_lead_to_whole_requests() {
    let statuses = [400, 403, 412, 428, 500, 501, 503];
    let mut answers = statuses.map(FixturePage::status).to_vec();
    // A 304 about another page.
    let link = format!("<{}>; rel=\"canonical\"", url("/b"));
    for (name, value) in [("etag", "\"other\""), ("link", link.as_str())] {
        answers.push(FixturePage::status(304).with_header(name, value));
    }
    for answer in answers {
        for max_tries in [1, 3] {
            let (mut bench, says) = bench();
            bench.config.limits.max_tries = max_tries;
            let paths = never_sampled(3, 2);
            link_all(&says, "/", &paths);
            for path in &paths {
                says.html(path, &format!("<link rel=canonical href={path}>"));
            }
            run(&mut bench).await;
            let given = answer.clone();
            bench.site = bench
                .site
                .answering_conditionally(move |_, _| Some(given.clone()));
            let ran = run(&mut bench).await;
            assert_eq!(ran.asked(true).len(), 3, "{answer:?}");
            assert_eq!(ran.asked(false).len(), 4, "{answer:?}");
            assert_eq!((ran.listed().len(), ran.not_modified), (4, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_false_304_ends_conditional_requests() {
    let (mut bench, says) = bench();
    let sample = sampled_in(4, "s");
    let mut paths = never_sampled(3, 6);
    paths.push(sample.clone());
    link_all(&says, "/", &paths);
    let write = |text: &str| {
        for path in &paths {
            says.html(path, &format!("<p>{path} {text}</p>"));
        }
    };
    write("old");
    run(&mut bench).await;
    bench.site.lie(true);
    write("new");
    for number in 2..=3 {
        let ran = run(&mut bench).await;
        assert_eq!((ran.number, ran.not_modified), (number, 4));
        assert_eq!(ran.notices, [""; 0]);
    }
    let ran = run(&mut bench).await;
    assert_eq!(
        ran.asked(true).last(),
        Some(&sample.as_str()),
        "asked both ways"
    );
    assert!(ran.asked(false).contains(&sample.as_str()));
    assert!(
        ran.notices[0].contains("not modified (304)"),
        "{:?}",
        ran.notices
    );
    for _ in 0..2 {
        let ran = run(&mut bench).await;
        assert_eq!((ran.asked(true).len(), ran.not_modified), (0, 0));
        assert_eq!(ran.listed().len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn no_validators_are_tested_after_a_limit() {
    let (mut bench, says) = bench();
    let is_it = |path: &String| is_sample(&UrlKey::from_normalised(&url(path)).unwrap(), 2);
    let mut paths = (0..).map(|number| format!("/{number}"));
    let sample = paths.find(is_it).unwrap();
    link_all(&says, "/", &[sample.clone(), "/other".to_owned()]);
    says.html(&sample, "<p>old</p>");
    says.link("/other", &[]);
    run(&mut bench).await;
    says.html(&sample, "<p>new</p>");
    bench.config.limits.max_pages = 2;
    let ran = run(&mut bench).await;
    assert_eq!(ran.asked(false), ["/", sample.as_str()]);
    assert_eq!(ran.asked(true), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn thousands_of_unlinked_pages_are_requested() {
    let (mut bench, says) = bench();
    let paths: Vec<String> = (0..5_000).map(|number| format!("/{number}")).collect();
    link_all(&says, "/", &paths);
    for path in &paths {
        says.link(path, &[]);
    }
    run(&mut bench).await;
    says.link("/", &[]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed().len(), 5_001);
    assert_eq!(ran.requests.len(), 5_002);
    let earlier = ran
        .visits
        .values()
        .filter(|visit| visit.via == Via::Earlier);
    assert_eq!(earlier.count(), 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_in_portions_has_the_same_end() {
    for lies in [false, true] {
        let mut ends = Vec::new();
        for portion in [10_000, 1, 7, 40] {
            let (mut bench, says) = bench();
            let paths: Vec<String> = (0..120).map(|number| format!("/{number}")).collect();
            link_all(&says, "/", &paths);
            for path in &paths {
                says.html(path, &format!("<title>{path}</title><p>old</p>"));
            }
            run(&mut bench).await;
            for path in &paths[..60] {
                says.html(path, &format!("<title>{path}</title><p>new</p>"));
            }
            says.remove("/1");
            says.set("/2", FixturePage::status(503));
            says.set("/3", FixturePage::status(410));
            says.link("/", &["/0", "/1", "/2", "/3", "/60"]);
            bench.site.lie(lies);
            bench.config.limits.max_pages = portion;
            loop {
                let ran = run(&mut bench).await;
                assert_eq!(ran.number, 2);
                bench.now -= DAY;
                let store = bench.store.lock().unwrap();
                if crawl_state::phase(store.as_ref().unwrap()).unwrap() == Phase::Finished {
                    let visits = ran.visits.into_iter();
                    let end = visits.map(|(path, visit)| (path, visit.reason, visit.via));
                    ends.push(end.collect::<Vec<_>>());
                    break;
                }
            }
        }
        assert_eq!(ends[0].len(), 121);
        assert!(ends.iter().all(|end| *end == ends[0]), "lies: {lies}");
    }
}

#[tokio::test(start_paused = true)]
async fn changed_settings_request_open_pages_again() {
    let (mut bench, says) = bench();
    let paths = never_sampled(3, 2);
    link_all(&says, "/", &paths);
    for path in &paths {
        says.html(path, "<img src=/x.png>");
    }
    run(&mut bench).await;
    bench.config.limits.max_pages = 3;
    let cut = run(&mut bench).await;
    assert_eq!(cut.not_modified, 2);
    bench.config.limits.max_pages = 100;
    bench.config.publish.extensions.images = true;
    let ran = run(&mut bench).await;
    assert_eq!(ran.number, cut.number);
    // Nobody looked for the images of those that a 304 decided, nor of the start page.
    assert_eq!(ran.asked(false).len(), 1 + 4);
    assert_eq!(ran.not_modified, 0);
}
