//! Readers of the output while a site with two faces is crawled and published again and again.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::support::{
    observer::Observer,
    program::Bench,
    site::{Response, Site},
};

/// How often the set is published.
const PUBLISHES: usize = 20;

/// Pages of each directory that both faces have.
const PAGES: usize = 150;

/// Serves one face after the other: `/a/` always, `/b/` with other dates, and either `/even/` or
/// `/odd/`, so that each publish rewrites a part, adds one and drops one.
fn serve(face: Arc<AtomicUsize>) -> Site {
    Site::start(move |request| {
        let is_odd = face.load(Ordering::SeqCst) % 2 == 1;
        let own = if is_odd { "odd" } else { "even" };
        let target = request.target.as_str();
        let directory = target.split('/').nth(1).unwrap_or_default();
        let year = if is_odd && directory == "b" {
            2023
        } else {
            2022
        };
        let page = match directory {
            "" => Response::linking(["a", "b", own].into_iter().flat_map(|directory| {
                (0..PAGES).map(move |number| format!("/{directory}/{number}"))
            })),
            "a" | "b" => Response::html(format!("<!doctype html><title>{target} {year}</title>")),
            _ if directory == own => Response::html(format!("<!doctype html><title>{own}</title>")),
            // For good: one 404 would leave the other face listed.
            _ => return Response::status(410),
        };
        page.with("Last-Modified", &format!("Mon, 02 May {year} 10:00:00 GMT"))
    })
}

fn check_readers(options: &[&str], parts: [[&str; 4]; 2]) {
    let face = Arc::new(AtomicUsize::new(0));
    let site = serve(Arc::clone(&face));
    let bench = Bench::new();
    let observer = Observer::watch(&bench.output(), &site.url("/"));
    for number in 0..PUBLISHES {
        face.store(number, Ordering::SeqCst);
        let ran = bench.crawl(&site.url("/"), options).expect_code(0);
        let listed = 1 + 3 * PAGES;
        assert_eq!(ran.summary()["listed"], listed, "publish {number}");
        let published = bench.published();
        let named: Vec<String> = published.files["sitemap.xml"]
            .entries
            .iter()
            .map(|(loc, _)| loc.replace(&site.url("/"), ""))
            .collect();
        assert_eq!(named, parts[number % 2], "publish {number}");
    }
    let seen = observer.finish();
    assert!(
        seen.indexes > 1 && seen.files > parts.len(),
        "the observer has to see some of the sets: {seen:?}"
    );
}

#[test]
fn readers_see_whole_sets_while_the_set_is_replaced() {
    check_readers(
        &[],
        [
            [
                "sitemap-root.xml.gz",
                "sitemap.a.xml.gz",
                "sitemap.b.xml.gz",
                "sitemap.even.xml.gz",
            ],
            [
                "sitemap-root.xml.gz",
                "sitemap.a.xml.gz",
                "sitemap.b.xml.gz",
                "sitemap.odd.xml.gz",
            ],
        ],
    );
}

#[test]
fn readers_see_whole_sets_in_place() {
    check_readers(
        &["--layout", "in-place", "--no-gzip"],
        [
            [
                "sitemap-root.xml",
                "a/sitemap.xml",
                "b/sitemap.xml",
                "even/sitemap.xml",
            ],
            [
                "sitemap-root.xml",
                "a/sitemap.xml",
                "b/sitemap.xml",
                "odd/sitemap.xml",
            ],
        ],
    );
}
