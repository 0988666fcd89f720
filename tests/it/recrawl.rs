//! Crawling a site again: what is asked, what is written, and what becomes of pages that changed, fail,
//! are gone or are not linked any more.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Request, Response, Site},
    state::{self, assert_adds_up, number},
};

/// Pages of a large site, besides its start page; a debug build crawls them in seconds.
const PAGES: usize = 1_000;

/// Sections of that site, each of which gets a file of its own.
const SECTIONS: usize = 5;

/// A page as the site has it.
#[derive(Debug, Clone)]
struct Page {
    status: u16,
    body: String,
    modified: &'static str,
}

/// The site, which tests change while it runs.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<BTreeMap<String, Page>>>);

const OLD: &str = "Sat, 02 Nov 2019 08:49:37 GMT";
const NEW: &str = "Mon, 03 Feb 2020 10:00:00 GMT";

impl Pages {
    fn set(&self, path: &str, status: u16, body: &str, modified: &'static str) {
        let page = Page {
            status,
            body: body.to_owned(),
            modified,
        };
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.insert(path.to_owned(), page);
    }

    fn html(&self, path: &str, body: &str) {
        self.set(path, 200, body, OLD);
    }

    fn link(&self, path: &str, targets: &[String]) {
        let link = |target: &String| format!("<a href=\"{target}\">{target}</a>");
        let links: String = targets.iter().map(link).collect();
        self.html(path, &format!("<title>{path}</title>{links}"));
    }

    fn get(&self, path: &str) -> Option<Page> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.get(path).cloned()
    }

    /// Serves them; `lies` to every conditional request.
    fn serve(&self, lies: bool) -> Site {
        let pages = self.clone();
        Site::start(move |request| match pages.get(&request.target) {
            Some(page) => answer(&page, request, lies),
            None => Response::status(404),
        })
    }
}

fn answer(page: &Page, request: &Request, lies: bool) -> Response {
    let tag = format!("\"{:x}\"", page.body.len());
    let asked = request.headers.get("if-none-match");
    let headers = |answer: Response| {
        answer
            .with("ETag", &tag)
            .with("Last-Modified", page.modified)
    };
    if page.status == 200 && asked.is_some_and(|asked| lies || *asked == tag) {
        assert!(request.headers.contains_key("if-modified-since"));
        return headers(Response {
            body: Vec::new(),
            headers: Vec::new(),
            ..Response::status(304)
        });
    }
    match page.status {
        200 => headers(Response::html(page.body.clone())),
        301 => Response::redirect(301, "/"),
        status => Response::status(status),
    }
}

/// A site of [`PAGES`] pages, in sections that the start page links to.
fn large() -> Pages {
    let pages = Pages::default();
    let path = |number: usize| format!("/s{}/{number}", number % SECTIONS);
    let all: Vec<String> = (0..PAGES).map(path).collect();
    pages.link("/", &all[..SECTIONS]);
    for (number, own) in all.iter().enumerate() {
        let next: Vec<String> = all
            .iter()
            .skip(number + SECTIONS)
            .take(3)
            .cloned()
            .collect();
        pages.link(own, &next);
    }
    pages
}

/// One run, some time after now.
fn crawl_later(bench: &Bench, site: &Site, ahead: &str, options: &[&str]) -> Ran {
    let mut command = bench.command(&site.url("/"), options);
    command.env("ARPENT_CLOCK_AHEAD", ahead);
    Ran::of(command)
}

#[test]
fn an_unchanged_site_sends_no_body_but_samples() {
    let site = large().serve(false);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    assert_eq!(before.entries().len(), PAGES + 1);
    site.clear_log();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    let (summary, log) = (ran.summary(), site.log());
    assert_eq!(summary["outcome"], "unchanged");
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    assert_adds_up(&summary);

    // robots.txt, the start page, and each page once.
    assert_eq!(log.len(), PAGES + 2);
    let pages = log
        .iter()
        .filter(|seen| !["/", "/robots.txt"].contains(&seen.target.as_str()));
    let (asked, samples): (Vec<_>, Vec<_>) =
        pages.partition(|seen| seen.headers.contains_key("if-none-match"));
    assert!(asked.iter().all(|seen| seen.status == 304));
    assert_eq!(number(&summary, "not_modified"), asked.len() as u64);
    // One in a hundred, as chance has it.
    assert!((1..=30).contains(&samples.len()), "{}", samples.len());
    let mut targets: Vec<_> = log.iter().map(|seen| seen.target.clone()).collect();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), log.len(), "no page is asked for twice");
}

#[test]
fn one_changed_page_moves_its_date_its_file_and_the_index() {
    let pages = large();
    let site = pages.serve(false);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    pages.set("/s3/403", 200, "<title>changed</title>", NEW);
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(ran.summary()["outcome"], "published");
    let after = bench.published();
    let changed = after.differences(&before);
    let holds = |name: &String| {
        let entries = &after.files[name].entries;
        entries.iter().any(|(loc, _)| *loc == site.url("/s3/403"))
    };
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed.contains(&"sitemap.xml".to_owned()) && changed.iter().any(holds));
    // It changed after it was seen, whatever the header says: the date is that of the crawl.
    let (mut old, mut new) = (before.entries(), after.entries());
    let dates = [&mut old, &mut new].map(|entries| entries.remove(&site.url("/s3/403")).flatten());
    assert_eq!(dates[0].as_deref(), Some("2019-11-02T08:49:37Z"));
    assert!(
        dates[1] > Some("2020-02-04T00:00:00Z".to_owned()),
        "{dates:?}"
    );
    assert_eq!(new, old);
}

#[test]
fn a_server_that_calls_everything_not_modified_hides_nothing() {
    let pages = large();
    let site = pages.serve(true);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    for number in 0..PAGES {
        let path = format!("/s{}/{number}", number % SECTIONS);
        pages.html(&path, "<meta name=robots content=noindex>");
    }
    let start = pages.get("/").expect("it is there").body;
    pages.html("/", &format!("{start}<p>new</p>"));
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(number(&ran.summary(), "listed"), 1);
    assert_eq!(state::excluded(&ran.summary())["noindex"], PAGES as u64);
    assert!(
        ran.stderr.contains("calls it not modified (304)"),
        "{}",
        ran.stderr
    );
    // The next run knows.
    site.clear_log();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let asked = site.log();
    let conditional = asked
        .iter()
        .filter(|seen| seen.headers.contains_key("if-none-match"));
    assert_eq!(conditional.count(), 0);
}

/// A settings file with which failures end soon.
const QUICK: &str = "max_tries = 1\nfailures_before_pause = 1000\n";

#[test]
fn pages_leave_the_sitemap_on_evidence_only() {
    let pages = Pages::default();
    let names = [
        "/down", "/wall", "/404", "/410", "/moved", "/noindex", "/good",
    ];
    pages.link("/", &names.map(str::to_owned));
    for name in names {
        pages.html(name, &format!("<title>{name}</title>"));
    }
    let site = pages.serve(false);
    let bench = Bench::new();
    let config = bench.settings(QUICK);
    let options = ["--config", config.as_str()];
    let crawl = |ahead: &str, code: i32| {
        let summary = crawl_later(&bench, &site, ahead, &options)
            .expect_code(code)
            .summary();
        assert_adds_up(&summary);
        summary
    };
    crawl("0s", 0);
    let whole = bench.published();
    let entries = |paths: &[&str]| -> BTreeMap<String, Option<String>> {
        let urls = paths.iter().map(|path| site.url(path));
        let known = whole.entries();
        urls.map(|url| (url.clone(), known[&url].clone())).collect()
    };
    pages.set("/404", 404, "", OLD);
    let summary = crawl("12h", 0);
    assert_eq!(summary["kept"]["kept-gone-once"], 1, "{summary}");
    assert_eq!(summary["outcome"], "unchanged");
    assert_eq!(bench.published().differences(&whole), [] as [String; 0]);

    pages.set("/down", 503, "", OLD);
    pages.set("/wall", 403, "", OLD);
    pages.set("/410", 410, "", OLD);
    pages.set("/moved", 301, "", OLD);
    pages.html("/noindex", "<meta name=robots content=noindex>");
    let summary = crawl("24h", 3);
    assert_eq!(summary["kept"]["kept-unreachable"], 2, "{summary}");
    assert_eq!(number(&summary, "failed"), 0);
    assert_eq!(summary["excluded"]["gone"], 2);
    let left = entries(&["/", "/down", "/wall", "/good"]);
    assert_eq!(bench.published().entries(), left);
    assert!(left.values().all(Option::is_some), "their dates stay too");

    crawl("29d", 3);
    assert_eq!(bench.published().entries(), left);
    // One is back; the other has failed for a month.
    pages.html("/wall", "<title>/wall</title>");
    let ran = crawl_later(
        &bench,
        &site,
        "31d 1h",
        &[&options[..], &["--force"]].concat(),
    );
    let summary = ran.expect_code(3).summary();
    assert_eq!(
        (number(&summary, "failed"), &summary["kept"]),
        (1, &serde_json::json!({}))
    );
    assert_eq!(
        bench.published().entries(),
        entries(&["/", "/wall", "/good"])
    );
}

#[test]
fn an_orphaned_page_stays_listed_while_it_answers() {
    let pages = Pages::default();
    pages.link("/", &["/a".to_owned(), "/b".to_owned()]);
    pages.html("/a", "<title>a</title>");
    pages.html("/b", "<title>b</title>");
    let site = pages.serve(false);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    pages.link("/", &["/b".to_owned()]);
    for _ in 0..2 {
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        let paths = ["/", "/a", "/b"].map(|path| site.url(path));
        assert_eq!(bench.published().urls(), paths);
        assert_eq!(state::records(&bench)["/a"].via.as_str(), "earlier");
    }
    bench.crawl(&site.url("/"), &["--fresh"]).expect_code(0);
    assert_eq!(
        bench.published().urls(),
        ["/", "/b"].map(|path| site.url(path))
    );
}

/// Entries by path, so that two sites can be compared.
fn by_path(published: &Published, site: &Site) -> BTreeMap<String, Option<String>> {
    let entries = published.entries().into_iter();
    entries
        .map(|(url, lastmod)| (url.replace(&site.origin(), ""), lastmod))
        .collect()
}

#[test]
fn a_further_crawl_that_is_killed_comes_to_the_same_set() {
    let pages = large();
    let sites = [pages.serve(false), pages.serve(false)];
    let benches = [Bench::new(), Bench::new()];
    for (bench, site) in benches.iter().zip(&sites) {
        bench.crawl(&site.url("/"), &[]).expect_code(0);
    }
    // Pages that changed, are gone, fail, and are not linked any more with all that they led to.
    pages.set("/s1/11", 200, "<title>changed</title>", NEW);
    pages.set("/s2/12", 404, "", OLD);
    pages.set("/s3/13", 503, "", OLD);
    pages.set("/s4/14", 410, "", OLD);
    let settings = benches.each_ref().map(|bench| bench.settings(QUICK));
    let [whole, killed] = [0, 1].map(|number| (&benches[number], &sites[number]));
    let ran = whole
        .0
        .crawl(&whole.1.url("/"), &["--config", &settings[0]]);
    let expected = ran.expect_code(3).summary();
    let (bench, site) = killed;
    for pages_asked in [1, PAGES / 4, PAGES / 2, PAGES - 40] {
        site.clear_log();
        let mut running = bench.spawn(&site.url("/"), &["--config", &settings[1]]);
        while site.log().len() < pages_asked && !running.has_ended() {
            thread::sleep(Duration::from_micros(200));
        }
        running.kill();
    }
    let ran = bench.crawl(&site.url("/"), &["--config", &settings[1]]);
    let summary = ran.expect_code(3).summary();
    for name in ["known", "listed", "failed", "excluded", "kept"] {
        assert_eq!(summary[name], expected[name], "{name}");
    }
    let mut sets = [whole, killed].map(|(bench, site)| by_path(&bench.published(), site));
    // What changed has the date of the crawl that saw it.
    for set in &mut sets {
        let changed = set.remove("/s1/11").flatten();
        assert!(
            changed > Some("2020-02-04T00:00:00Z".to_owned()),
            "{changed:?}"
        );
    }
    assert_eq!(sets[0], sets[1]);
}
