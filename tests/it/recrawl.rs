//! Further crawls of a site: the requests, the written files, and the set after a kill.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::support::{
    program::Bench,
    site::{Request, Response, Seen, Site},
    state::number,
};

/// Pages of the site that is crawled while the program is killed, besides its start page.
const PAGES: usize = 300;

/// Pages of the site that is crawled every night.
const MANY: usize = 1_000;

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

    fn serve(&self) -> Site {
        let pages = self.clone();
        Site::undated(move |request| match pages.get(&request.target) {
            Some(page) => answer(&page, request),
            None => Response::status(404),
        })
    }
}

fn answer(page: &Page, request: &Request) -> Response {
    let tag = format!("\"{:x}\"", page.body.len());
    let asked = request.headers.get("if-none-match");
    let headers = |answer: Response| {
        answer
            .with("ETag", &tag)
            .with("Last-Modified", page.modified)
    };
    if page.status == 200 && asked == Some(&tag) {
        assert!(request.headers.contains_key("if-modified-since"));
        return headers(Response {
            body: Vec::new(),
            headers: Vec::new(),
            ..Response::status(304)
        });
    }
    match page.status {
        200 => headers(Response::html(page.body.clone())),
        status => Response::status(status),
    }
}

/// A site of so many pages, in sections that the start page links to.
fn large(count: usize) -> Pages {
    let pages = Pages::default();
    let path = |number: usize| format!("/s{}/{number}", number % SECTIONS);
    let all: Vec<String> = (0..count).map(path).collect();
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

/// Every file of the output, except the lock, which names its last holder: name, bytes, modification time.
fn files(bench: &Bench) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let listing = fs::read_dir(bench.output()).expect("an output");
    let file = |entry: fs::DirEntry| {
        let modified = entry.metadata().and_then(|file| file.modified());
        (
            entry.file_name().into_string().expect("a name in UTF-8"),
            (
                fs::read(entry.path()).expect("a file"),
                modified.expect("a time"),
            ),
        )
    };
    listing
        .map(|entry| file(entry.expect("the folder can be read")))
        .collect()
}

/// Returns whether a file is the one that proves the key.
fn is_key(name: &str) -> bool {
    name.len() > 20 && name.strip_suffix(".txt").is_some()
}

/// One site of [`MANY`] pages over three nights: the first, one in which nothing changed, and one in which one page did.
#[test]
fn a_further_crawl_writes_only_what_changed() {
    let pages = large(MANY);
    let bench = Bench::new();
    // The file that proves the key is served from the output; the sitemaps are not.
    let site = {
        let (pages, output) = (pages.clone(), bench.output());
        Site::undated(move |request| match pages.get(&request.target) {
            Some(page) => answer(&page, request),
            None if is_key(&request.target[1..]) => {
                match fs::read_to_string(output.join(&request.target[1..])) {
                    Ok(key) => Response::text(key),
                    Err(_) => Response::status(404),
                }
            }
            None => Response::status(404),
        })
    };
    let engine = Site::start(|_| Response::status(200));
    let port = engine.port();
    let settings = bench.settings(&format!(
        "requests.resolve = [\"engine.test:{port}:127.0.0.1\"]\n[notify]\nindexnow = true\n\
         indexnow_endpoint = \"http://engine.test:{port}/indexnow\"\n"
    ));
    let crawl = || {
        site.clear_log();
        let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
        ran.expect_code(0).summary()
    };
    crawl();
    let first = bench.published();
    assert_eq!(first.entries().len(), MANY + 1);
    let files_before = files(&bench);

    // Nothing changed: nothing is written, and nobody is notified.
    let summary = crawl();
    assert_eq!(summary["outcome"], "unchanged");
    assert!(files(&bench) == files_before, "a file was written");
    assert_eq!(asked_once(&site, &summary, &[]), 0);
    assert_eq!(engine.log().len(), 0);

    // One page changed: its file and the index are written, and its URL is sent.
    let changed = site.url("/s3/403");
    pages.set("/s3/403", 200, "<title>changed</title>", NEW);
    let summary = crawl();
    assert_eq!(summary["outcome"], "published");
    let key = files(&bench).into_keys().find(|name| is_key(name));
    let key = format!("/{}", key.expect("a key"));
    assert_eq!(asked_once(&site, &summary, &[&key]), 1);
    let after = bench.published();
    let written = after.differences(&first);
    let holds = |name: &String| {
        let entries = &after.files[name].entries;
        entries.iter().any(|(loc, _)| *loc == changed)
    };
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written.contains(&"sitemap.xml".to_owned()) && written.iter().any(holds));
    // The page changed after the last crawl, and its header has an earlier date: the date is that of the crawl.
    let (mut old, mut new) = (first.entries(), after.entries());
    let dates = [&mut old, &mut new].map(|entries| entries.remove(&changed).flatten());
    assert_eq!(dates[0].as_deref(), Some("2019-11-02T08:49:37Z"));
    assert!(
        dates[1] > Some("2020-02-04T00:00:00Z".to_owned()),
        "{dates:?}"
    );
    assert_eq!(new, old);
    let notified = engine.log();
    assert_eq!(notified.len(), 1);
    let body: Value = serde_json::from_str(&notified[0].body).expect("JSON");
    assert_eq!(body["urlList"], json!([changed]));
}

/// Checks the requests of a further crawl: each page once, or twice where it changed, conditionally except for the sample of one in a hundred, and
/// besides them robots.txt and `others`. How many pages that were asked conditionally sent a body.
fn asked_once(site: &Site, summary: &Value, others: &[&str]) -> usize {
    let log = site.log();
    let mut targets: Vec<_> = log.iter().map(|seen| seen.target.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    assert_eq!(targets.len(), MANY + 2 + others.len());
    let again = log.len() - targets.len();
    let is_page = |seen: &&Seen| {
        let target = seen.target.as_str();
        target != "/robots.txt" && !others.contains(&target)
    };
    let (asked, samples): (Vec<_>, Vec<_>) = log
        .iter()
        .filter(is_page)
        .partition(|seen| seen.headers.contains_key("if-none-match"));
    let bodies = asked.iter().filter(|seen| seen.status != 304).count();
    assert_eq!(
        again, bodies,
        "what changed is asked for a second time, and nothing else"
    );
    assert!(samples.iter().all(|seen| seen.status == 200));
    let not_modified = number(summary, "not_modified");
    assert_eq!(not_modified, (asked.len() - bodies) as u64);
    // One in a hundred, by chance.
    assert!((1..=40).contains(&samples.len()), "{}", samples.len());
    bodies
}

/// A settings file with one try for each request.
const QUICK: &str = "limits.max_tries = 1\ntesting.failures_before_pause = 1000\n";

#[test]
fn a_killed_further_crawl_gives_the_same_set() {
    let pages = large(PAGES);
    let sites = [pages.serve(), pages.serve()];
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
    for name in ["known", "listed", "failed", "excluded", "retained"] {
        assert_eq!(summary[name], expected[name], "{name}");
    }
    let mut sets = [whole, killed].map(|(bench, site)| bench.published().dates(&site.origin()));
    // A changed page has the date of the crawl that saw it.
    for set in &mut sets {
        let changed = set.remove("/s1/11").flatten();
        assert!(
            changed > Some("2020-02-04T00:00:00Z".to_owned()),
            "{changed:?}"
        );
    }
    assert_eq!(sets[0], sets[1]);
}
