//! The next run, and a run that was interrupted: what need not be asked for again, and what is no evidence.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use super::{asked, bench, crawl, gzipped, index, pages, site, troubles, urlset, vias, xml};
use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
    state::{number, records},
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
fn what_arpent_published_itself_is_no_evidence() {
    let served: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
    let site = publishing_site(&served);
    let bench = bench();
    let first = crawl(&bench, &site, &[]);
    assert_eq!(number(&first, "listed"), 3);
    *served.lock().unwrap() = published_files(&bench);
    // Without an earlier run to know it from, /p/old is not found.
    let check = |options: &[&str], listed: u64| {
        let summary = crawl(&bench, &site, options);
        assert_eq!(number(&summary, "listed"), listed, "{options:?}: {summary}");
        assert_eq!(number(&summary, "orphans"), 0, "{options:?}");
        assert_eq!(number(&summary["seeds"], "own"), 1, "{options:?}");
        assert_eq!(troubles(&summary), BTreeMap::new(), "{options:?}");
    };
    check(&[], 3);
    check(&["--fresh"], 2);
    // The first set is still served, although a second one was published since.
    check(&[], 2);
    check(&["--fresh"], 2);
    // The state is lost; the manifest in the output tells of the newest set.
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

/// The same as [`index`], of files with their dates.
fn dated_index(files: &[(String, String)]) -> Response {
    let entry = |(url, lastmod): &(String, String)| {
        let lastmod = match lastmod.as_str() {
            "" => String::new(),
            date => format!("<lastmod>{date}</lastmod>"),
        };
        format!("<sitemap><loc>{url}</loc>{lastmod}</sitemap>\n")
    };
    let entries: String = files.iter().map(entry).collect();
    xml(format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n"
    ))
}

#[test]
fn sitemaps_that_did_not_change_are_not_asked_for_again() {
    let dates = Arc::new(Mutex::new([
        "2020-01-01",
        "2020-01-02T03:04:05+06:00",
        "",
        "2020-01-01",
    ]));
    let told = Arc::clone(&dates);
    let site = site(move |request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/index.xml\n")),
            "/index.xml" => {
                let dates = told.lock().unwrap();
                let to_entry = |(number, date): (usize, &&str)| {
                    let kind = if number == 1 { ".gz" } else { "" };
                    (format!("{origin}/{number}.xml{kind}"), (*date).to_owned())
                };
                dated_index(&dates.iter().enumerate().map(to_entry).collect::<Vec<_>>())
            }
            "/0.xml" => urlset(pages(origin, "zero", 1_500)),
            "/1.xml.gz" => gzipped(&urlset(pages(origin, "one", 30))),
            "/2.xml" => urlset(pages(origin, "two", 20)),
            "/3.xml" => urlset(pages(origin, &format!("at-{}", request.earlier), 10)),
            _ => return None,
        })
    });
    let bench = bench();
    let children = ["/0.xml", "/1.xml.gz", "/2.xml", "/3.xml"];
    let check = |options: &[&str], kept: u64, expected: [usize; 4]| {
        let before = children.map(|name| asked(&site, name));
        let indexes = asked(&site, "/index.xml");
        let summary = crawl(&bench, &site, options);
        assert_eq!(number(&summary["seeds"], "kept"), kept);
        assert_eq!(number(&summary["seeds"], "read"), 5);
        assert_eq!(number(&summary, "orphans"), 1_560);
        let mut found = vias(&bench);
        // What the last sitemap named before still answers.
        let earlier = found.remove("earlier").unwrap_or_default();
        assert_eq!(number(&summary, "listed"), 1_561 + earlier as u64);
        assert_eq!(found, BTreeMap::from([("start", 1), ("sitemap", 1_560)]));
        let record = &records(&bench)["/p/one-7"];
        let found_on = record.found_on.as_ref().map(|url| url.path().to_owned());
        assert_eq!(found_on.as_deref(), Some("/1.xml.gz"));
        let asked: Vec<usize> = children
            .iter()
            .zip(before)
            .map(|(name, before)| asked(&site, name) - before)
            .collect();
        assert_eq!(asked, expected);
        assert_eq!(super::asked(&site, "/index.xml"), indexes + 1);
    };
    check(&[], 0, [1, 1, 1, 1]);
    check(&[], 3, [0, 0, 1, 0]);
    dates.lock().unwrap()[3] = "2020-01-02";
    check(&[], 2, [0, 0, 1, 1]);
    check(&[], 3, [0, 0, 1, 0]);
    check(&["--fresh"], 0, [1, 1, 1, 1]);
}

#[test]
fn a_run_that_is_killed_goes_on_with_what_it_kept() {
    let is_stalled = Arc::new(Mutex::new(false));
    let stalled = Arc::clone(&is_stalled);
    let site = site(move |request, origin| {
        let is_stalled = || *stalled.lock().expect("nobody panics holding it");
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/index.xml\n")),
            "/index.xml" => {
                // The last one has no date.
                let dates = ["2020-01-01", "2020-01-01", ""];
                let to_entry = |(number, date): (usize, &str)| {
                    (format!("{origin}/{number}.xml"), date.to_owned())
                };
                let files: Vec<_> = dates.into_iter().enumerate().map(to_entry).collect();
                dated_index(&files)
            }
            "/2.xml" if is_stalled() => Response {
                stalls_in_head: true,
                ..Response::html("")
            },
            name => match name.strip_suffix(".xml") {
                Some(name) => urlset(pages(origin, name.trim_start_matches('/'), 100)),
                None => return None,
            },
        })
    });
    let kill = |bench: &Bench, pages: usize| {
        let (before, asked_before) = (site.pages().len(), asked(&site, "/2.xml"));
        *is_stalled.lock().unwrap() = true;
        let running = bench.spawn(&site.url("/"), &[]);
        let is_reached =
            || asked(&site, "/2.xml") > asked_before && site.pages().len() == before + pages;
        while !is_reached() {
            std::thread::yield_now();
        }
        assert!(running.kill());
        *is_stalled.lock().unwrap() = false;
    };
    let bench = bench();
    // Killed in the first run: what was kept until then is there for the second one.
    kill(&bench, 200 + 5);
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 301);
    assert_eq!(number(&summary["seeds"], "kept"), 0);
    let asked_of_both = || ["/0.xml", "/1.xml"].map(|name| asked(&site, name));
    let before = asked_of_both();
    // Killed while copies are read.
    kill(&bench, 200 + 3);
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 301);
    assert_eq!(number(&summary, "orphans"), 300);
    assert_eq!(number(&summary["seeds"], "kept"), 2);
    assert_eq!(asked_of_both(), before);
}

/// An index of four sitemaps; the third one does not answer until it is let go.
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
                Some(name) => urlset(pages(origin, name.trim_start_matches('/'), 200)),
                None => return None,
            },
        })
    })
}

#[test]
fn a_killed_run_loses_no_seed() {
    let is_stalled = Arc::new(Mutex::new(true));
    let site = stalling_site(&is_stalled);
    let bench = bench();
    let running = bench.spawn(&site.url("/"), &[]);
    // Both sitemaps before it, their pages, and the start page.
    let is_reached = || asked(&site, "/3.xml") == 1 && site.pages().len() == 405;
    while !is_reached() {
        std::thread::yield_now();
    }
    assert!(running.kill());
    *is_stalled.lock().unwrap() = false;
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 801);
    assert_eq!(number(&summary, "orphans"), 800);
    let uninterrupted = super::bench();
    assert_eq!(number(&crawl(&uninterrupted, &site, &[]), "listed"), 801);
    assert_eq!(bench.published().urls(), uninterrupted.published().urls());
}

#[test]
fn a_stopped_run_does_not_read_again_what_it_has_read() {
    let is_stalled = Arc::new(Mutex::new(true));
    let site = stalling_site(&is_stalled);
    let bench = bench();
    let running = bench.spawn(&site.url("/"), &[]);
    let is_reached = || asked(&site, "/3.xml") == 1 && site.pages().len() == 405;
    while !is_reached() {
        std::thread::yield_now();
    }
    running.signal("INT");
    let ran: Ran = running.wait().expect_code(130);
    assert_eq!(
        number(&ran.summary()["seeds"], "waiting"),
        2,
        "{}",
        ran.stdout
    );
    *is_stalled.lock().unwrap() = false;
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 801);
    let asked =
        ["/index.xml", "/1.xml", "/2.xml", "/3.xml", "/4.xml"].map(|name| asked(&site, name));
    assert_eq!(asked, [1, 1, 1, 2, 1]);
}
