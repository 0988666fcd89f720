//! Crawling a site again: what is asked, what is written, and what becomes of pages that changed, fail,
//! are gone or are not linked any more.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Request, Response, Seen, Site},
    state::{self, assert_adds_up, number},
};

/// Pages of a large site, besides its start page; a debug build crawls them in a second.
const PAGES: usize = 1_000;

/// Pages of the site that is crawled night after night.
const MANY: usize = 5_000;

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
        Site::undated(move |request| match pages.get(&request.target) {
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

/// One run, some time after now.
fn crawl_later(bench: &Bench, site: &Site, ahead: &str, options: &[&str]) -> Ran {
    let mut command = bench.command(&site.url("/"), options);
    command.env("ARPENT_CLOCK_AHEAD", ahead);
    Ran::of(command)
}

/// Every file of the output, those that are no sitemaps too, but the lock, in which its last holder stands: name,
/// bytes, modification time.
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

/// Whether a file is the one that proves the key.
fn is_key(name: &str) -> bool {
    name.len() > 20 && name.strip_suffix(".txt").is_some()
}

/// One site of [`MANY`] pages over three nights: the first, one in which nothing changed, and one in which one page did.
#[test]
fn a_night_costs_what_changed() {
    let pages = large(MANY);
    let bench = Bench::new();
    // The file that proves the key is served from the output; the sitemaps are not.
    let site = {
        let (pages, output) = (pages.clone(), bench.output());
        Site::undated(move |request| match pages.get(&request.target) {
            Some(page) => answer(&page, request, false),
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
        "resolve = [\"engine.test:{port}:127.0.0.1\"]\n[notify]\nindexnow = true\n\
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

    // Nothing changed: nothing is written, and nobody is told.
    let summary = crawl();
    assert_eq!(summary["outcome"], "unchanged");
    assert_adds_up(&summary);
    assert!(files(&bench) == files_before, "a file was written");
    assert_eq!(asked_once(&site, &summary, &[]), 0);
    assert_eq!(engine.log().len(), 0);

    // One page changed: its file and the index are written, and its URL is told.
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
    // It changed after it was seen, whatever the header says: the date is that of the crawl.
    let (mut old, mut new) = (first.entries(), after.entries());
    let dates = [&mut old, &mut new].map(|entries| entries.remove(&changed).flatten());
    assert_eq!(dates[0].as_deref(), Some("2019-11-02T08:49:37Z"));
    assert!(
        dates[1] > Some("2020-02-04T00:00:00Z".to_owned()),
        "{dates:?}"
    );
    assert_eq!(new, old);
    let told = engine.log();
    assert_eq!(told.len(), 1);
    let body: Value = serde_json::from_str(&told[0].body).expect("JSON");
    assert_eq!(body["urlList"], json!([changed]));
}

/// Checks what the site saw of a further run: each page once, conditionally but for the sample of one in a hundred, and
/// besides them robots.txt and `others`. How many pages that were asked conditionally sent a body.
fn asked_once(site: &Site, summary: &Value, others: &[&str]) -> usize {
    let log = site.log();
    let mut targets: Vec<_> = log.iter().map(|seen| seen.target.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    assert_eq!(targets.len(), log.len(), "nothing is asked for twice");
    assert_eq!(log.len(), MANY + 2 + others.len());
    let is_page = |seen: &&Seen| {
        let target = seen.target.as_str();
        target != "/robots.txt" && !others.contains(&target)
    };
    let (asked, samples): (Vec<_>, Vec<_>) = log
        .iter()
        .filter(is_page)
        .partition(|seen| seen.headers.contains_key("if-none-match"));
    let bodies = asked.iter().filter(|seen| seen.status != 304).count();
    assert!(samples.iter().all(|seen| seen.status == 200));
    let not_modified = number(summary, "not_modified");
    assert_eq!(not_modified, (asked.len() - bodies) as u64);
    // One in a hundred, as chance has it.
    assert!((10..=120).contains(&samples.len()), "{}", samples.len());
    bodies
}

#[test]
fn a_server_that_calls_everything_not_modified_hides_nothing() {
    let pages = large(PAGES);
    let site = pages.serve(true);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    for number in 0..PAGES {
        let path = format!("/s{}/{number}", number % SECTIONS);
        pages.html(&path, "<meta name=robots content=noindex>");
    }
    let start = pages.get("/").expect("it is there").body;
    pages.html("/", &format!("{start}<p>new</p>"));
    let ran = bench.crawl(&site.url("/"), &["--force"]).expect_code(0);
    assert_eq!(number(&ran.summary(), "listed"), 1);
    assert_adds_up(&ran.summary());
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
    let summary = crawl("31d 1h", 3);
    assert_eq!(
        (number(&summary, "failed"), &summary["kept"]),
        (1, &serde_json::json!({}))
    );
    assert_eq!(
        bench.published().entries(),
        entries(&["/", "/wall", "/good"])
    );
    // It fails on, and what changes elsewhere is published all the same.
    pages.html("/good", "<title>/good</title><p>better</p>");
    crawl("32d", 3);
    let now = bench.published().entries();
    assert_eq!(now.len(), 3);
    assert!(now[&site.url("/good")] > left[&site.url("/good")]);
}

#[test]
fn with_keep_failing_at_nothing_a_page_leaves_with_its_first_failure() {
    let pages = Pages::default();
    pages.link("/", &["/a".to_owned(), "/down".to_owned()]);
    pages.html("/a", "<title>a</title>");
    pages.html("/down", "<title>down</title>");
    let site = pages.serve(false);
    let bench = Bench::new();
    let config = bench.settings(&format!("{QUICK}keep_failing = \"0s\"\n"));
    let options = ["--config", config.as_str()];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    pages.set("/down", 503, "", OLD);
    for _ in 0..2 {
        bench.crawl(&site.url("/"), &options).expect_code(3);
        let paths = ["/", "/a"].map(|path| site.url(path));
        assert_eq!(bench.published().urls(), paths);
    }
}

/// A page that is moved by a server that is honest but for one thing.
fn odd(
    pages: &Pages,
    oddity: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static,
) -> Site {
    let pages = pages.clone();
    Site::undated(move |request| {
        if let Some(answer) = oddity(request) {
            return answer;
        }
        match pages.get(&request.target) {
            Some(page) => answer(&page, request, false),
            None => Response::status(404),
        }
    })
}

fn is_conditional(request: &Request) -> bool {
    request.headers.contains_key("if-none-match")
}

#[test]
fn a_server_that_refuses_conditional_requests_hides_nothing() {
    for status in [412, 500] {
        let pages = Pages::default();
        let names: Vec<String> = (0..12).map(|number| format!("/p/{number}")).collect();
        pages.link("/", &names);
        for name in &names {
            pages.html(name, &format!("<title>{name}</title>"));
        }
        let site = odd(&pages, move |request| {
            is_conditional(request).then(|| Response::status(status))
        });
        let bench = Bench::new();
        let config = bench
            .settings("max_tries = 2\nretry_delays = [\"0s\"]\nfailures_before_pause = 1000\n");
        let options = ["--config", config.as_str()];
        bench.crawl(&site.url("/"), &options).expect_code(0);
        let before = bench.published().entries();
        pages.html("/p/3", "<title>another</title>");
        let summary = crawl_later(&bench, &site, "24h", &options)
            .expect_code(0)
            .summary();
        assert_eq!(summary["kept"], serde_json::json!({}), "{status}");
        let after = bench.published().entries();
        let moved: Vec<&String> = after
            .keys()
            .filter(|url| after[*url] != before[*url])
            .collect();
        assert_eq!(moved, [&site.url("/p/3")], "{status}");
    }
}

#[test]
fn a_document_keeps_its_date_when_only_the_header_moves() {
    let pages = Pages::default();
    pages.link("/", &["/a".to_owned(), "/paper.pdf".to_owned()]);
    pages.html("/a", "<title>a</title>");
    let site = odd(&pages, |request| {
        let is_first = !is_conditional(request);
        (request.target == "/paper.pdf").then(|| {
            let answer = if is_first {
                Response::html("%PDF-1.4")
            } else {
                Response::status(304)
            };
            Response {
                headers: Vec::new(),
                ..answer
            }
            .with("Content-Type", "application/pdf")
            .with("ETag", "\"paper\"")
            .with("Last-Modified", if is_first { OLD } else { NEW })
        })
    });
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    assert!(before.entries()[&site.url("/paper.pdf")].is_some());
    for ahead in ["24h", "48h"] {
        crawl_later(&bench, &site, ahead, &[]).expect_code(0);
        assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    }
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
    let pages = large(PAGES);
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
