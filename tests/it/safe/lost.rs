//! A set whose state is lost, or that was made without a crawl: its pages are known, and leave on evidence only.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
    state::{self, assert_adds_up},
};

/// Pages besides the start page; the second half is linked in the first edition only.
const PAGES: usize = 40;

/// Pages, the start page included, that a session with a limit requests.
const BUDGET: &str = "15";

const OLD: &str = "Sat, 02 Nov 2019 08:49:37 GMT";

/// An edition of the site.
#[derive(Debug, Clone, Copy)]
enum Edition {
    /// Each page is linked.
    Linked,
    /// Half of them are, and all answer.
    Unlinked,
    /// The same, and the last ten answer 404.
    Gone,
}

/// The site, and its edition now.
fn serve() -> (Site, impl Fn(Edition)) {
    let edition = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&edition);
    let site = Site::undated(move |request| {
        let edition = current.load(Ordering::SeqCst);
        let target = request.target.as_str();
        let linked = if edition == Edition::Linked as usize {
            PAGES
        } else {
            PAGES / 2
        };
        if target == "/" {
            return Response::linking((0..linked).map(|number| format!("/p{number}")));
        }
        let number = target.strip_prefix("/p").and_then(|text| text.parse().ok());
        match number {
            Some(PAGES..) | None => Response::status(404),
            Some(number) if edition == Edition::Gone as usize && number >= PAGES - 10 => {
                Response::status(404)
            }
            Some(number) => Response::html(format!(
                "<!doctype html><title>Page {number}</title><p>Text {}</p>",
                "of its own ".repeat(number + 1)
            ))
            .with("Last-Modified", OLD),
        }
    });
    (site, move |to| edition.store(to as usize, Ordering::SeqCst))
}

/// Crawls some days later.
fn crawl_on(day: u32, bench: &Bench, site: &Site, options: &[&str]) -> Ran {
    bench.crawl_ahead(&format!("{day}d"), &site.url("/"), options)
}

#[test]
fn a_lost_state_keeps_unlinked_pages() {
    let (site, is) = serve();
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    is(Edition::Unlinked);
    fs::remove_dir_all(bench.state()).expect("the state");
    let ran = crawl_on(1, &bench, &site, &[]).expect_code(0);
    let pages = format!("imported the published set: {} pages in ", PAGES + 1);
    assert!(ran.stderr.contains(&pages), "{}", ran.stderr);
    assert_adds_up(&ran.summary());
    assert_eq!(bench.published().differences(&before), [""; 0], "{ran:?}");
    let records = state::records(&bench);
    assert_eq!(records["/p39"].via.as_str(), "earlier");
    // One 404 is not enough for the new state either, a second one on another day is.
    is(Edition::Gone);
    fs::remove_dir_all(bench.state()).expect("the state");
    let summary = crawl_on(2, &bench, &site, &[]).expect_code(3).summary();
    assert_eq!(summary["retained"]["gone-once"], 10, "{summary}");
    assert_eq!(bench.published().differences(&before), [""; 0]);
    let summary = crawl_on(3, &bench, &site, &[]).expect_code(0).summary();
    assert_eq!(summary["excluded"]["gone"], 10, "{summary}");
    assert_eq!(bench.published().entries().len(), PAGES + 1 - 10);
}

#[test]
fn crawls_with_a_limit_complete_a_lost_state() {
    for harm in [
        |bench: &Bench| fs::remove_dir_all(bench.state()).expect("the state"),
        |bench: &Bench| fs::write(state::file(bench), "no state").expect("it can be written"),
    ] {
        let (site, is) = serve();
        let bench = Bench::new();
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        let before = bench.published();
        is(Edition::Unlinked);
        harm(&bench);
        site.clear_log();
        for (day, code) in (1..).zip([3, 3, 0]) {
            let ran = crawl_on(day, &bench, &site, &["--max-pages", BUDGET]).expect_code(code);
            let summary = ran.summary();
            assert_adds_up(&summary);
            assert_eq!(summary["listed"], PAGES + 1, "{summary}");
            assert_eq!(bench.published().differences(&before), [""; 0], "{ran:?}");
        }
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for target in site.pages() {
            *asked.entry(target).or_default() += 1;
        }
        asked.remove("/");
        assert_eq!(asked.len(), PAGES);
        assert!(asked.values().all(|times| *times == 1), "{asked:?}");
    }
}

#[test]
fn a_first_crawl_knows_the_built_set() {
    let (site, is) = serve();
    let bench = Bench::new();
    let list: String = (0..PAGES)
        .map(|number| site.url(&format!("/p{number}\n")))
        .collect();
    fs::write(bench.path().join("list.txt"), list).expect("the list");
    let mut build = bench.program();
    build.args(["build", "--json", "--base-url", &site.url("/"), "list.txt"]);
    build.arg("--output").arg(bench.output());
    Ran::of(build).expect_code(0);
    is(Edition::Gone);
    let summary = crawl_on(1, &bench, &site, &[]).expect_code(3).summary();
    // All of the list, and the start page.
    assert_eq!(summary["listed"], PAGES + 1, "{summary}");
    assert_eq!(summary["retained"]["gone-once"], 10, "{summary}");
    let summary = crawl_on(2, &bench, &site, &[]).expect_code(0).summary();
    assert_eq!(summary["excluded"]["gone"], 10, "{summary}");
}

#[test]
fn a_copy_as_another_site_is_imported() {
    let (site, is) = serve();
    let bench = Bench::new();
    let options = ["--publish-as", "https://www.example.com/shop/"];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let before = bench.published();
    is(Edition::Unlinked);
    fs::remove_dir_all(bench.state()).expect("the state");
    crawl_on(1, &bench, &site, &options).expect_code(0);
    assert_eq!(bench.published().differences(&before), [""; 0]);
    let url = "https://www.example.com/shop/p39";
    assert!(before.entries().contains_key(url));
}
