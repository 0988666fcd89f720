//! URLs that no page leads to: sitemaps, feeds and lists, from the request for them to their report at the
//! end.

mod again;
mod lists;
mod manners;
mod troubles;

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use crawler::page::Reason;
use serde_json::Value;

use crate::support::{
    gzip,
    program::Bench,
    site::{Request, Response, Seen, Site},
    state::{assert_adds_up, number, records},
};

/// A start page that leads nowhere, and pages under `/p/`; the rest by `answer`.
fn site(answer: impl Fn(&Request, &str) -> Option<Response> + Send + Sync + 'static) -> Site {
    Site::start(move |request| {
        let host = request.headers.get("host").cloned().unwrap_or_default();
        let origin = format!("http://{host}");
        let told = answer(request, &origin);
        told.unwrap_or_else(|| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => Response::linking(["/"]),
            page if page.starts_with("/p/") => Response::linking(["/"]),
            _ => Response::status(404),
        })
    })
}

fn xml(body: String) -> Response {
    Response {
        headers: vec![("Content-Type".into(), "application/xml".into())],
        ..Response::html(body)
    }
}

fn gzipped(response: &Response) -> Response {
    Response {
        headers: vec![("Content-Type".into(), "application/gzip".into())],
        body: gzip(&response.body),
        ..response.clone()
    }
}

fn joined(urls: impl IntoIterator<Item = String>, entry: impl Fn(String) -> String) -> String {
    urls.into_iter().map(entry).collect()
}

fn urlset(urls: impl IntoIterator<Item = String>) -> Response {
    let entries = joined(urls, |url| format!("<url><loc>{url}</loc></url>\n"));
    xml(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
    ))
}

fn index(urls: impl IntoIterator<Item = String>) -> Response {
    let entries = joined(urls, |url| format!("<sitemap><loc>{url}</loc></sitemap>\n"));
    xml(format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n"
    ))
}

fn atom(urls: impl IntoIterator<Item = String>) -> Response {
    let entries = joined(urls, |url| {
        format!(
            "<entry><title>t</title><id>{url}</id><updated>2026-01-01T00:00:00Z</updated><link href=\"{url}\"/></entry>\n"
        )
    });
    xml(format!(
        "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>f</title><id>urn:f</id>\
         <updated>2026-01-01T00:00:00Z</updated>{entries}</feed>"
    ))
}

fn pages(origin: &str, kind: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{origin}/p/{kind}-{number}"))
        .collect()
}

fn bench() -> Bench {
    Bench::new().discovering()
}

fn crawl(bench: &Bench, site: &Site, options: &[&str]) -> Value {
    crawl_to(0, bench, site, options)
}

fn crawl_to(code: i32, bench: &Bench, site: &Site, options: &[&str]) -> Value {
    let summary = bench
        .crawl(&site.url("/"), options)
        .expect_code(code)
        .summary();
    assert_adds_up(&summary);
    summary
}

/// The problems of documents: codes by path (or file).
fn troubles(summary: &Value) -> BTreeMap<String, String> {
    let troubles = summary["seeds"]["problems"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    troubles
        .iter()
        .map(|trouble| (text(&trouble["name"]), text(&trouble["problem"])))
        .collect()
}

fn asked(site: &Site, target: &str) -> usize {
    site.log()
        .iter()
        .filter(|seen| seen.target == target)
        .count()
}

/// The same without its last bytes, with a length that matches.
fn cut(response: Response, by: usize) -> Response {
    Response {
        body: response.body[..response.body.len() - by].to_vec(),
        ..response
    }
}

/// Known URLs by the way they were found.
fn vias(bench: &Bench) -> BTreeMap<&'static str, usize> {
    let mut vias = BTreeMap::new();
    for record in records(bench).values() {
        *vias.entry(record.via.as_str()).or_default() += 1;
    }
    vias
}

#[test]
fn pages_of_indexes_feeds_and_lists_are_listed() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "SITEMAP:{origin}/maps/index.xml.gz\nSitemap: {origin}/news.xml\nSitemap: {origin}/all.txt\n"
            )),
            "/" => Response::html(
                "<link rel=alternate type=application/atom+xml href=/feed.atom>\
                 <link rel=alternate type=application/rss+xml href=/list.txt>",
            ),
            // The bytes of a document decide its kind.
            "/news.xml" => atom(pages(origin, "news", 2)),
            "/all.txt" => Response::text(pages(origin, "text", 3).join("\n")),
            "/list.txt" => Response::text(pages(origin, "named", 4).join("\n")),
            "/maps/index.xml.gz" => gzipped(&index(
                ["1.xml.gz", "2.xml", "gone.xml"].map(|name| format!("{origin}/maps/{name}")),
            )),
            "/maps/1.xml.gz" => gzipped(&urlset(pages(origin, "one", 60))),
            "/maps/2.xml" => urlset(pages(origin, "two", 40)),
            "/feed.atom" => atom(pages(origin, "feed", 100)),
            _ => return None,
        })
    });
    let bench = bench();
    let list = pages(&site.origin(), "list", 100).join("\n");
    fs::write(bench.path().join("list.txt"), list).unwrap();
    let summary = crawl(&bench, &site, &["--seeds", "list.txt"]);
    assert_eq!(number(&summary, "listed"), 310);
    assert_eq!(number(&summary, "orphans"), 309);
    assert_eq!(
        vias(&bench),
        BTreeMap::from([("start", 1), ("sitemap", 103), ("feed", 106), ("list", 100)])
    );
    let gone = site.url("/maps/gone.xml");
    assert_eq!(
        troubles(&summary),
        BTreeMap::from([(gone, "gone".to_owned())])
    );
    let index = site.url("/maps/index.xml.gz");
    assert_eq!(
        summary["seeds"]["problems"][0]["named_by"],
        Value::from(index)
    );
    assert_eq!(number(&summary["seeds"], "read"), 8);
    let records = records(&bench);
    let found_on = |page: &str| {
        let record = &records[page];
        assert_eq!(record.reason, Reason::Listed, "{page}");
        record.found_on.as_ref().map(|url| url.path().to_owned())
    };
    assert_eq!(found_on("/p/one-7").as_deref(), Some("/maps/1.xml.gz"));
    assert_eq!(found_on("/p/two-7").as_deref(), Some("/maps/2.xml"));
    assert_eq!(found_on("/p/feed-7").as_deref(), Some("/feed.atom"));
    assert_eq!(found_on("/p/list-7"), None);
    assert!(records.values().all(|record| record.depth <= 1));
    // /sitemap.xml is only asked for when robots.txt names none.
    assert_eq!(asked(&site, "/sitemap.xml"), 0);
    assert_eq!(asked(&site, "/feed.atom"), 1);
}

#[test]
fn start_url_may_redirect_to_sitemap_or_feed() {
    for kind in ["map", "feed"] {
        let site = site(move |request, origin| match request.target.as_str() {
            "/sitemap.xml" => Some(Response::redirect(302, "/there.xml")),
            "/there.xml" if kind == "map" => {
                Some(urlset([format!("{origin}/a"), format!("{origin}/b")]))
            }
            "/there.xml" => Some(atom([format!("{origin}/a"), format!("{origin}/b")])),
            "/a" | "/b" => Some(Response::html(format!(
                "<title>{0}</title>{0}",
                request.target
            ))),
            _ => None,
        });
        let ran = bench().crawl(&site.url("/sitemap.xml"), &[]);
        assert_eq!(ran.expect_code(0).summary()["listed"], 2, "{kind}");
    }
}

#[test]
fn a_seed_is_judged_like_any_other_url() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text("User-agent: *\nDisallow: /p/secret\n"),
            "/sitemap.xml" => urlset(
                [
                    "/p/fine",
                    "/p/secret",
                    "/p/gone",
                    "/p/noindex",
                    "/p/excluded",
                    "/p/linked",
                    "/",
                    "/p/moved",
                ]
                .map(|path| format!("{origin}{path}"))
                .into_iter()
                .chain(["http://elsewhere.example/p/1".to_owned()]),
            ),
            "/p/gone" => Response::status(404),
            "/p/noindex" => Response::html("<meta name=robots content=noindex>"),
            "/p/moved" => Response::redirect(301, "/p/target"),
            "/" => Response::linking(["/p/linked", "/p/start"]),
            _ => return None,
        })
    });
    let bench = bench();
    let summary = crawl(&bench, &site, &["--exclude", "/p/excluded"]);
    let known: Vec<_> = records(&bench)
        .into_iter()
        .map(|(path, record)| (path, record.reason))
        .collect();
    let expected = [
        ("/", Reason::Listed),
        ("/p/excluded", Reason::ExcludedByRule),
        ("/p/fine", Reason::Listed),
        ("/p/gone", Reason::Gone),
        ("/p/linked", Reason::Listed),
        ("/p/moved", Reason::Redirected),
        ("/p/noindex", Reason::Noindex),
        ("/p/secret", Reason::RobotsDisallowed),
        ("/p/start", Reason::Listed),
        ("/p/target", Reason::Listed),
    ];
    assert_eq!(
        known,
        expected.map(|(path, reason)| (path.to_owned(), reason))
    );
    // Of those that are listed, pages lead to the others: a link, the start, a redirect.
    assert_eq!(number(&summary, "orphans"), 1);
    assert_eq!(asked(&site, "/p/secret"), 0);
}

#[test]
fn a_missing_sitemap_is_no_problem() {
    for answer in [
        Response::status(404),
        Response::status(403),
        Response::html("<!doctype html><title>Welcome</title><p>Every URL is this page."),
        Response::redirect(302, "/"),
    ] {
        let shown = answer.clone();
        let site =
            site(move |request, _| (request.target == "/sitemap.xml").then(|| answer.clone()));
        let summary = crawl(&bench(), &site, &[]);
        assert_eq!(asked(&site, "/sitemap.xml"), 1);
        assert_eq!(number(&summary["seeds"], "with_problems"), 0, "{shown:?}");
        assert_eq!(number(&summary, "known"), 1, "{shown:?}");
    }
}

#[test]
fn nested_and_looping_indexes_are_cut() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/a.xml\n")),
            "/a.xml" => index(["a", "b"].map(|name| format!("{origin}/{name}.xml"))),
            "/b.xml" => index(["a", "c", "b2"].map(|name| format!("{origin}/{name}.xml"))),
            "/b2.xml" => urlset(pages(origin, "b", 1)),
            "/c.xml" => index(["d", "d2"].map(|name| format!("{origin}/{name}.xml"))),
            "/d.xml" => urlset(pages(origin, "d", 1)),
            "/d2.xml" => index(["e"].map(|name| format!("{origin}/{name}.xml"))),
            "/e.xml" => urlset(pages(origin, "e", 1)),
            _ => return None,
        })
    });
    let bench = bench();
    let summary = crawl(&bench, &site, &[]);
    let told: BTreeMap<_, _> = [("a", "loop"), ("b", "loop"), ("d2", "too-deep")]
        .into_iter()
        .map(|(name, problem)| (site.url(&format!("/{name}.xml")), problem.to_owned()))
        .collect();
    assert_eq!(troubles(&summary), told);
    let known: Vec<String> = records(&bench).into_keys().collect();
    assert_eq!(known, ["/", "/p/b-0", "/p/d-0"]);
    for name in ["/a.xml", "/b.xml", "/b2.xml", "/c.xml", "/d.xml", "/d2.xml"] {
        assert_eq!(asked(&site, name), 1, "{name}");
    }
    assert_eq!(asked(&site, "/e.xml"), 0);
}

#[test]
fn a_sitemap_elsewhere_obeys_rules_of_its_host() {
    let pages_at: Arc<Mutex<String>> = Arc::default();
    let listed = Arc::clone(&pages_at);
    let other = Site::start(move |request| {
        let origin = listed.lock().unwrap().clone();
        match request.target.as_str() {
            "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\n"),
            "/maps/site.xml" => urlset(
                pages(&origin, "cross", 10)
                    .into_iter()
                    .chain(["http://files.example/own".to_owned()]),
            ),
            _ => Response::status(404),
        }
    });
    let files = format!("http://files.example:{}", other.port());
    let named = files.clone();
    let site = site(move |request, _| {
        (request.target == "/robots.txt").then(|| {
            Response::text(format!(
                "Sitemap: {named}/maps/site.xml\nSitemap: {named}/private/site.xml\n"
            ))
        })
    });
    *pages_at.lock().unwrap() = site.origin();
    let bench = bench();
    let resolve = format!("files.example:{}:127.0.0.1", other.port());
    let options = ["--resolve", &resolve, "--header", "X-Key: secret"];
    let summary = crawl(&bench, &site, &options);
    assert_eq!(number(&summary, "listed"), 11);
    assert_eq!(number(&summary, "orphans"), 10);
    let private = format!("{files}/private/site.xml");
    let told = BTreeMap::from([(private, "robots-disallowed".to_owned())]);
    assert_eq!(troubles(&summary), told);
    assert_eq!(other.pages(), ["/maps/site.xml"]);
    // Headers for the start origin are sent to no other one.
    let sent = |seen: &Seen| seen.headers.contains_key("x-key");
    assert!(site.log().iter().all(sent));
    assert!(!other.log().iter().any(sent));
}

#[test]
fn only_the_chosen_sources_are_read() {
    for (source, expected) in [
        ("links", &["/", "/p/link"][..]),
        ("sitemaps", &["/", "/p/map-0", "/sitemap.xml"]),
        ("feeds", &["/", "/feed", "/p/feed-0"]),
        ("list", &["/", "/p/list-0"]),
    ] {
        let site = site(|request, origin| {
            Some(match request.target.as_str() {
                "/" => Response::html(
                    "<link rel=alternate type=application/atom+xml href=/feed><a href=/p/link>a</a>",
                ),
                "/sitemap.xml" => urlset(pages(origin, "map", 1)),
                "/feed" => atom(pages(origin, "feed", 1)),
                _ => return None,
            })
        });
        let bench = bench();
        let list = bench.path().join("list.txt");
        fs::write(&list, site.url("/p/list-0")).unwrap();
        let mut options = vec!["--discover", source];
        if source == "list" {
            options.extend(["--seeds", "list.txt"]);
        }
        crawl(&bench, &site, &options);
        let mut requested = site.pages();
        requested.sort();
        requested.dedup();
        assert_eq!(requested, expected, "{source}");
    }
}
