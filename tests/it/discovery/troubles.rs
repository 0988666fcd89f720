//! What is wrong with sitemaps, feeds and their entries: which of it is told of, and what it means for the set.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::{asked, bench, crawl, cut, gzipped, index, pages, site, troubles, urlset, xml};
use crate::support::{
    site::{Response, Site},
    state::{assert_adds_up, number, records},
};

#[test]
fn documents_that_cannot_be_read_are_told_of_and_what_came_before_is_used() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "User-agent: *\nDisallow: /secret.xml\n\nSitemap: {origin}/index.xml\n\
                 sitemap: relative.xml\nSITEMAP: {origin}/index.xml\nSitemap: ftp://files.example/a.xml\n"
            )),
            "/index.xml" => index(
                [
                    "html.xml",
                    "error.xml",
                    "cut.xml",
                    "cut.xml.gz",
                    "short.xml",
                    "secret.xml",
                    "circle.xml",
                    "nowhere.xml",
                    "drop.xml",
                    "odd.xml",
                    "index.xml",
                ]
                .map(|name| format!("{origin}/{name}")),
            ),
            "/relative.xml" => urlset(pages(origin, "relative", 3)),
            "/html.xml" => Response::html("<!doctype html><title>Not here</title><p>Sorry"),
            "/error.xml" => Response::status(500),
            "/cut.xml" => cut(urlset(pages(origin, "cut", 5)), 12),
            "/cut.xml.gz" => cut(gzipped(&urlset(pages(origin, "zip", 5))), 9),
            "/short.xml" => {
                let whole = urlset(pages(origin, "short", 5));
                Response {
                    announced: Some(whole.body.len()),
                    ..cut(whole, 12)
                }
            }
            "/circle.xml" => Response::redirect(301, "/circle.xml"),
            "/nowhere.xml" => Response::status(301),
            "/drop.xml" => Response::dropped(),
            "/odd.xml" => Response::status(418),
            _ => return None,
        })
    });
    let bench = bench();
    let config = bench.settings("max_tries = 1\nfailures_before_pause = 1000\n");
    let summary = crawl(&bench, &site, &["--config", &config]);
    let told: BTreeMap<String, String> = troubles(&summary)
        .into_iter()
        .map(|(name, problem)| (name.replace(&site.origin(), ""), problem))
        .collect();
    let expected = [
        ("/html.xml", "not-a-sitemap"),
        ("/error.xml", "server-error"),
        ("/cut.xml", "truncated"),
        ("/cut.xml.gz", "damaged"),
        ("/short.xml", "cut-short"),
        ("/secret.xml", "robots-disallowed"),
        ("/circle.xml", "bad-redirect"),
        ("/nowhere.xml", "bad-redirect"),
        ("/drop.xml", "network-error"),
        ("/odd.xml", "bad-status"),
        ("/index.xml", "loop"),
        ("/relative.xml", "relative-url"),
        ("ftp://files.example/a.xml", "bad-url"),
    ];
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(name, problem)| (name.to_owned(), problem.to_owned()))
        .collect();
    assert_eq!(told, expected);
    let found: BTreeSet<String> = records(&bench).into_keys().collect();
    assert!(found.contains("/p/cut-3"), "{found:?}");
    assert!(found.contains("/p/relative-2"), "{found:?}");
    assert_eq!(asked(&site, "/secret.xml"), 0);
    assert_eq!(asked(&site, "/index.xml"), 1);
}

#[test]
fn a_set_does_not_shrink_because_a_sitemap_could_not_be_read() {
    let is_broken = Arc::new(Mutex::new(false));
    let broken = Arc::clone(&is_broken);
    let site = site(move |request, origin| {
        let is_map = request.target == "/sitemap.xml";
        is_map.then(|| {
            if *broken.lock().unwrap() {
                Response::status(503)
            } else {
                urlset(pages(origin, "map", 50))
            }
        })
    });
    let bench = bench();
    let config = bench.settings("max_tries = 1\n");
    let options = ["--config", config.as_str()];
    assert_eq!(number(&crawl(&bench, &site, &options), "listed"), 51);
    *is_broken.lock().unwrap() = true;
    // What an earlier run knows is asked for all the same; without it the set would shrink.
    assert_eq!(number(&crawl(&bench, &site, &options), "listed"), 51);
    let fresh = [&options[..], &["--fresh"]].concat();
    let ran = bench.crawl(&site.url("/"), &fresh).expect_code(4);
    assert!(
        ran.stderr.contains("would list only 1 (-98 %)"),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.published().urls().len(), 51);
    *is_broken.lock().unwrap() = false;
    assert_eq!(number(&crawl(&bench, &site, &options), "listed"), 51);
}

#[test]
fn a_file_that_is_broken_on_the_server_does_not_hold_the_set_back() {
    // What its answer is: whole, broken off on the way, or broken where it stands.
    let answer = Arc::new(Mutex::new("whole"));
    let given = Arc::clone(&answer);
    let site = site(move |request, origin| {
        (request.target == "/sitemap.xml").then(|| {
            let whole = urlset(pages(origin, "map", 50));
            let length = whole.body.len();
            match *given.lock().unwrap() {
                "whole" => whole,
                "broken-off" => Response {
                    announced: Some(length),
                    ..cut(whole, length / 2)
                },
                _ => cut(whole, length / 2),
            }
        })
    });
    let bench = bench();
    let config = bench.settings("max_tries = 1\n");
    let options = ["--config", config.as_str()];
    assert_eq!(number(&crawl(&bench, &site, &options), "listed"), 51);
    // What an earlier run knows is asked for all the same; without it the set would shrink.
    let options = [&options[..], &["--fresh"]].concat();
    *answer.lock().unwrap() = "broken-off";
    let ran = bench.crawl(&site.url("/"), &options).expect_code(4);
    let told = troubles(&ran.summary());
    assert_eq!(told[&site.url("/sitemap.xml")], "cut-short");
    assert_eq!(bench.published().urls().len(), 51);
    *answer.lock().unwrap() = "broken";
    // It loses more than the guard lets pass.
    let options = [&options[..], &["--force"]].concat();
    let summary = crawl(&bench, &site, &options);
    assert_eq!(troubles(&summary)[&site.url("/sitemap.xml")], "truncated");
    let listed = number(&summary, "listed");
    assert!((20..30).contains(&listed), "{listed}");
}

/// Sitemaps with entries that have something wrong.
fn careless_site() -> Site {
    site(|request, origin| {
        let entry = |url: &str, lastmod: &str| {
            format!("<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>\n")
        };
        let file = |entries: String| {
            let start = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
            xml(format!("{start}{entries}</urlset>\n"))
        };
        let dates = |kind: &str, count| -> String {
            let urls = pages(origin, kind, count);
            urls.iter().map(|url| entry(url, "some day")).collect()
        };
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "Sitemap: {origin}/one.xml\nSitemap: {origin}/two.xml\n"
            )),
            "/one.xml" => file(dates("one", 30) + &entry("/p/relative", "2026-01-01")),
            "/two.xml" => file(dates("two", 3)),
            _ => return None,
        })
    })
}

#[test]
fn what_is_wrong_with_entries_is_counted_by_rule_with_an_example() {
    let site = careless_site();
    let summary = crawl(&bench(), &site, &[]);
    // No document failed: what can be used is.
    assert_eq!(number(&summary["seeds"], "troubled"), 0);
    assert_eq!(number(&summary, "listed"), 34);
    let rules = summary["seeds"]["entries"].as_array().unwrap();
    let counts: Vec<(u64, u64, &Value)> = rules
        .iter()
        .map(|line| {
            (
                number(line, "count"),
                number(line, "documents"),
                &line["document"],
            )
        })
        .collect();
    let one = json!(site.url("/one.xml"));
    assert_eq!(counts, [(33, 2, &one), (1, 1, &one)]);
    let example = rules[0]["example"].as_str().unwrap();
    assert!(
        example.starts_with("line 2, ") && example.contains("W3C date"),
        "{example}"
    );
    for line in rules {
        let rule = line["rule"].as_str().unwrap();
        assert!(
            line["example"]
                .as_str()
                .unwrap()
                .contains(&format!("({rule})"))
        );
    }
}

#[test]
fn our_own_index_is_no_trouble_before_it_is_up() {
    let elsewhere = Site::start(|_| Response::status(404));
    let port = elsewhere.port();
    let place = format!("http://files.example:{port}/maps/");
    let named = place.clone();
    let site = site(move |request, _| {
        let is_robots = request.target == "/robots.txt";
        is_robots.then(|| {
            Response::text(format!(
                "Sitemap: {named}sitemap.xml\nSitemap: {named}old.xml\n"
            ))
        })
    });
    let resolve = format!("files.example:{port}:127.0.0.1");
    let options = ["--public-url", place.as_str(), "--resolve", &resolve];
    let summary = crawl(&bench(), &site, &options);
    assert_eq!(summary["robots_txt"][0]["present"], json!(true));
    let old = format!("{place}old.xml");
    assert_eq!(
        troubles(&summary),
        BTreeMap::from([(old, "gone".to_owned())])
    );
}

#[test]
fn a_robots_txt_that_could_not_be_read_says_nothing_of_its_lines() {
    let statuses = [
        (503, json!(null)),
        (401, json!(null)),
        (403, json!(null)),
        (404, json!(false)),
        (410, json!(false)),
    ];
    for (status, present) in statuses {
        let site = site(move |request, _| {
            (request.target == "/robots.txt").then(|| Response::status(status))
        });
        let bench = bench();
        let config = bench.settings("max_tries = 1\n");
        let options = ["--config", config.as_str(), "--ignore", "robots"];
        let summary = crawl(&bench, &site, &options);
        assert_eq!(summary["robots_txt"][0]["present"], present, "{status}");
    }
}

#[test]
fn a_page_that_breaks_off_is_a_page_all_the_same_when_it_is_called_a_feed() {
    let site = site(|request, _| match request.target.as_str() {
        "/" => Some(Response::html(
            "<link rel=alternate type=application/rss+xml href=/news><a href=/p/late>on</a>",
        )),
        "/p/late" => Some(Response::linking(["/news"])),
        "/news" => Some(Response {
            announced: Some(1_000),
            ..Response::html("<!doctype html><title>News</title><p>Not all of it")
        }),
        _ => None,
    });
    let summary = bench().crawl(&site.url("/"), &[]).expect_code(3).summary();
    assert_adds_up(&summary);
    assert_eq!(summary["excluded"]["cut-short"], 1, "{summary}");
}

#[test]
fn a_link_to_a_feed_that_does_not_answer_fails_like_any_other_page() {
    let site = site(|request, _| match request.target.as_str() {
        "/" => Some(Response::html(
            "<link rel=alternate type=application/rss+xml href=/news><a href=/p/late>on</a>",
        )),
        "/p/late" => Some(Response::linking(["/news"])),
        "/news" => Some(Response::status(503)),
        _ => None,
    });
    let summary = bench().crawl(&site.url("/"), &[]).expect_code(3).summary();
    assert_adds_up(&summary);
    assert_eq!(
        (number(&summary, "listed"), number(&summary, "failed")),
        (2, 1)
    );
}
