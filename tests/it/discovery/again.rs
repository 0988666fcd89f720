//! The next session, and an interrupted one: what is not requested again, and what is not evidence.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use super::{asked, bench, crawl, index, pages, site, troubles, urlset};
use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::number,
};

/// A site that serves what was published, once it was.
fn publishing_site(served: &Arc<Mutex<BTreeMap<String, Vec<u8>>>>) -> Site {
    let served = Arc::clone(served);
    site(move |request, origin| {
        let served = served.lock().expect("nobody panics holding it");
        let name = request.target.trim_start_matches('/');
        match (name, served.get(name)) {
            ("robots.txt", _) => Some(Response::text(format!("Sitemap: {origin}/sitemap.xml\n"))),
            // The second edition does not link to /p/old any more; the page still answers.
            ("", _) if served.is_empty() => Some(Response::linking(["/p/old", "/p/new"])),
            ("", _) => Some(Response::linking(["/p/new"])),
            (_, Some(file)) => Some(Response {
                headers: vec![("Content-Type".into(), "application/xml".into())],
                body: file.clone(),
                ..Response::html("")
            }),
            (_, None) => None,
        }
    })
}

fn published_files(bench: &Bench) -> BTreeMap<String, Vec<u8>> {
    let published = bench.published().files.into_iter();
    published.map(|(name, file)| (name, file.raw)).collect()
}

#[test]
fn sets_of_arpent_itself_are_not_evidence() {
    let served: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
    let site = publishing_site(&served);
    let bench = bench();
    let first = crawl(&bench, &site, &[]);
    assert_eq!(number(&first, "listed"), 3);
    *served.lock().unwrap() = published_files(&bench);
    // Without an earlier crawl /p/old is not found.
    let check = |options: &[&str], listed: u64| {
        let summary = crawl(&bench, &site, options);
        assert_eq!(number(&summary, "listed"), listed, "{options:?}: {summary}");
        assert_eq!(number(&summary, "orphans"), 0, "{options:?}");
        assert_eq!(
            number(&summary["seeds"], "published_by_arpent"),
            1,
            "{options:?}"
        );
        assert_eq!(troubles(&summary), BTreeMap::new(), "{options:?}");
    };
    check(&[], 3);
    check(&["--fresh"], 2);
    // The first set is still served, although a second one was published since.
    check(&[], 2);
    check(&["--fresh"], 2);
    // The state is lost; the manifest in the output describes the newest set.
    *served.lock().unwrap() = published_files(&bench);
    fs::remove_dir_all(bench.state()).unwrap();
    check(&[], 2);
    // Somebody else's sitemap under the same name is evidence.
    let foreign = urlset([site.url("/p/old")]).body;
    served
        .lock()
        .unwrap()
        .insert("sitemap.xml".to_owned(), foreign);
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 3);
    assert_eq!(number(&summary, "orphans"), 1);
}

/// An index of four sitemaps; the third one does not answer until the test releases it.
fn stalling_site(is_stalled: &Arc<Mutex<bool>>) -> Site {
    let is_stalled = Arc::clone(is_stalled);
    site(move |request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/index.xml\n")),
            "/index.xml" => index((1..=4).map(|number| format!("{origin}/{number}.xml"))),
            "/3.xml" if *is_stalled.lock().expect("nobody panics holding it") => Response {
                stalls_in_head: true,
                ..Response::html("")
            },
            name => match name.strip_suffix(".xml") {
                Some(name) => urlset(pages(origin, name.trim_start_matches('/'), 20)),
                None => return None,
            },
        })
    })
}

#[test]
fn an_interrupted_session_loses_no_seed() {
    for is_killed in [true, false] {
        let is_stalled = Arc::new(Mutex::new(true));
        let site = stalling_site(&is_stalled);
        let bench = bench();
        let running = bench.spawn(&site.url("/"), &[]);
        // Both sitemaps before it, their pages, and the start page.
        let is_reached = || asked(&site, "/3.xml") == 1 && site.pages().len() == 45;
        while !is_reached() {
            std::thread::yield_now();
        }
        if is_killed {
            assert!(running.kill());
        } else {
            running.signal("INT");
            let summary = running.wait().expect_code(130).summary();
            assert_eq!(number(&summary["seeds"], "waiting"), 2, "{summary}");
        }
        *is_stalled.lock().unwrap() = false;
        let summary = crawl(&bench, &site, &[]);
        assert_eq!(number(&summary, "listed"), 81);
        assert_eq!(number(&summary, "orphans"), 80);
        if !is_killed {
            // A document that was read is not read again.
            let requests = ["/index.xml", "/1.xml", "/2.xml", "/3.xml", "/4.xml"]
                .map(|name| asked(&site, name));
            assert_eq!(requests, [1, 1, 1, 2, 1]);
        }
        let uninterrupted = super::bench();
        assert_eq!(number(&crawl(&uninterrupted, &site, &[]), "listed"), 81);
        assert_eq!(bench.published().urls(), uninterrupted.published().urls());
    }
}
