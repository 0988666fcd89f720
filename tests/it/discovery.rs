//! URLs that no page leads to: sitemaps, feeds and lists, from the request for them to what is said of
//! them at the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use crawler::page::{Reason, Via};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
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
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(&response.body)
        .expect("memory takes it all");
    Response {
        headers: vec![("Content-Type".into(), "application/gzip".into())],
        body: encoder.finish().expect("memory takes it all"),
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
    let summary = bench
        .crawl(&site.url("/"), options)
        .expect_code(0)
        .summary();
    assert_adds_up(&summary);
    summary
}

/// What is wrong with documents: codes by path (or file).
fn troubles(summary: &Value) -> BTreeMap<String, String> {
    let troubles = summary["seeds"]["troubles"].as_array().expect("a list");
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

/// Known URLs by the way they were found.
fn vias(bench: &Bench) -> BTreeMap<&'static str, usize> {
    let mut vias = BTreeMap::new();
    for record in records(bench).values() {
        *vias.entry(record.via.as_str()).or_default() += 1;
    }
    vias
}

#[test]
fn pages_of_a_zipped_index_an_atom_feed_and_a_list_are_found_and_listed() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("SITEMAP:{origin}/maps/index.xml.gz\n")),
            "/" => Response::html("<link rel=alternate type=application/atom+xml href=/feed.atom>"),
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
    assert_eq!(number(&summary, "listed"), 301);
    assert_eq!(number(&summary, "orphans"), 300);
    assert_eq!(
        vias(&bench),
        BTreeMap::from([("start", 1), ("sitemap", 100), ("feed", 100), ("list", 100)])
    );
    let gone = site.url("/maps/gone.xml");
    assert_eq!(
        troubles(&summary),
        BTreeMap::from([(gone, "gone".to_owned())])
    );
    let index = site.url("/maps/index.xml.gz");
    assert_eq!(
        summary["seeds"]["troubles"][0]["named_by"],
        Value::from(index)
    );
    assert_eq!(number(&summary["seeds"], "read"), 5);
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
fn a_document_is_what_its_bytes_say() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "Sitemap: {origin}/news.xml\nSitemap: {origin}/all.txt\n"
            )),
            "/" => Response::html("<link rel=alternate type=application/rss+xml href=/list.txt>"),
            "/news.xml" => atom(pages(origin, "news", 2)),
            "/all.txt" => Response::text(pages(origin, "text", 3).join("\n")),
            "/list.txt" => Response::text(pages(origin, "named", 4).join("\n")),
            _ => return None,
        })
    });
    let bench = bench();
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(troubles(&summary), BTreeMap::new());
    assert_eq!(number(&summary, "orphans"), 9);
    let found = BTreeMap::from([("start", 1), ("feed", 2 + 4), ("sitemap", 3)]);
    assert_eq!(vias(&bench), found);
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
    // A page leads to the others: a link, the start, a redirect.
    assert_eq!(number(&summary, "orphans"), 6);
    assert_eq!(asked(&site, "/p/secret"), 0);
    assert_eq!(troubles(&summary), BTreeMap::new());
}

#[test]
fn a_site_without_a_sitemap_has_nothing_wrong_with_it() {
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
        assert_eq!(number(&summary["seeds"], "troubled"), 0, "{shown:?}");
        assert_eq!(number(&summary, "known"), 1, "{shown:?}");
    }
}

#[test]
fn documents_that_cannot_be_read_are_told_of_and_what_came_before_is_used() {
    let site = site(|request, origin| {
        let cut = |response: Response, by: usize| Response {
            body: response.body[..response.body.len() - by].to_vec(),
            ..response
        };
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
fn indexes_are_followed_three_deep_and_loops_are_cut() {
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
fn a_sitemap_on_another_host_is_read_under_the_rules_of_that_host() {
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
    // What is for the start origin goes nowhere else.
    let sent = |seen: &Seen| seen.headers.contains_key("x-key");
    assert!(site.log().iter().all(sent));
    assert!(!other.log().iter().any(sent));
}

#[test]
fn only_the_chosen_sources_are_read() {
    fn check(discover: &str, expected: &[&str]) {
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
        let mut options = vec!["--discover", discover];
        if discover.contains("list") {
            options.extend(["--seeds", "list.txt"]);
        }
        crawl(&bench, &site, &options);
        let asked: BTreeSet<String> = site.pages().into_iter().collect();
        let expected: BTreeSet<String> = expected.iter().map(|&path| path.to_owned()).collect();
        assert_eq!(asked, expected, "{discover}");
    }
    check("links", &["/", "/p/link"]);
    check("sitemaps", &["/", "/sitemap.xml", "/p/map-0"]);
    check("feeds", &["/", "/feed", "/p/feed-0"]);
    check("list", &["/", "/p/list-0"]);
    let all = [
        "/",
        "/sitemap.xml",
        "/feed",
        "/p/link",
        "/p/map-0",
        "/p/feed-0",
        "/p/list-0",
    ];
    check("links,sitemaps,feeds,list", &all);
}

#[test]
fn lists_are_read_in_every_form() {
    fn check(name: &str, content: impl Fn(&str) -> Vec<u8>) {
        let site = site(|_, _| None);
        let bench = bench();
        fs::write(bench.path().join(name), content(&site.origin())).unwrap();
        let summary = crawl(&bench, &site, &["--seeds", name]);
        assert_eq!(number(&summary, "listed"), 4, "{name}");
        assert_eq!(number(&summary, "orphans"), 3, "{name}");
        assert_eq!(vias(&bench)["list"], 3, "{name}");
    }
    check("lines", |origin| {
        pages(origin, "l", 3).join("\n").into_bytes()
    });
    check("windows lines", |origin| {
        let lines = pages(origin, "l", 3).join("\r\n\r\n  ");
        format!("\u{feff}{lines}\r\n").into_bytes()
    });
    check("sitemap.xml", |origin| urlset(pages(origin, "l", 3)).body);
    check("sitemap.xml.gz", |origin| {
        gzipped(&urlset(pages(origin, "l", 3))).body
    });
    check("feed.atom", |origin| atom(pages(origin, "l", 3)).body);
    check("foreign", |origin| {
        let mut lines = pages(origin, "l", 3);
        lines.push("https://elsewhere.example/".to_owned());
        lines.join("\n").into_bytes()
    });
}

#[test]
fn a_list_comes_from_standard_input_too() {
    let site = site(|_, _| None);
    let bench = bench();
    let mut command = bench.command(&site.url("/"), &["--seeds", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let list = pages(&site.origin(), "l", 5_000).join("\n");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(list.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(number(&summary, "listed"), 5_001);
    assert_eq!(vias(&bench)["list"], 5_000);
}

#[test]
fn a_list_that_is_wrong_is_refused_before_the_first_request() {
    fn check(content: &[u8], said: &str) {
        let site = site(|_, _| None);
        let bench = bench();
        fs::write(bench.path().join("list"), content).unwrap();
        let ran = bench
            .crawl(&site.url("/"), &["--seeds", "list"])
            .expect_code(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(site.log().len(), 0);
    }
    let fine = b"https://example.com/a\n\n".as_slice();
    check(
        &[fine, b"/relative\n"].concat(),
        "line 3 of the URL list list",
    );
    check(
        &[fine, b"ftp://example.com/\n"].concat(),
        "\"ftp://example.com/\"",
    );
    check(
        &[fine, b"\xff\n"].concat(),
        "line 3 of the URL list list is not UTF-8",
    );
    check(
        &[fine, &vec![b'a'; 100_000]].concat(),
        "line 3 of the URL list list is longer",
    );
    check(
        b"<html><title>no list</title></html>",
        "neither lines of URLs nor a sitemap",
    );

    let site = site(|_, _| None);
    let ran = bench()
        .crawl(&site.url("/"), &["--seeds", "missing.txt"])
        .expect_code(2);
    assert!(ran.stderr.contains("missing.txt"), "{}", ran.stderr);
    let options = ["--seeds", "missing.txt", "--discover", "links"];
    let ran = bench().crawl(&site.url("/"), &options).expect_code(2);
    assert!(
        ran.stderr.contains("discover does not name list"),
        "{}",
        ran.stderr
    );
    let ran = bench()
        .crawl(&site.url("/"), &["--discover", "sitemap"])
        .expect_code(2);
    assert!(
        ran.stderr.contains("links, sitemaps, feeds or list"),
        "{}",
        ran.stderr
    );
    assert_eq!(site.log().len(), 0);
}

#[test]
fn depths_count_seeds_as_if_the_start_page_linked_to_them() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/sitemap.xml" => urlset([format!("{origin}/p/5")]),
            "/" => Response::linking(["/p/1"]),
            page => match page
                .strip_prefix("/p/")
                .and_then(|number| number.parse::<u32>().ok())
            {
                Some(number) => Response::linking([format!("/p/{}", 1 + number)]),
                None => return None,
            },
        })
    });
    let bench = bench();
    crawl(&bench, &site, &["--max-depth", "2"]);
    let depths: BTreeMap<String, (u32, Reason)> = records(&bench)
        .into_iter()
        .map(|(path, record)| (path, (record.depth, record.reason)))
        .collect();
    let expected = [
        ("/", 0, Reason::Listed),
        ("/p/1", 1, Reason::Listed),
        ("/p/2", 2, Reason::Listed),
        ("/p/3", 3, Reason::TooDeep),
        ("/p/5", 1, Reason::Listed),
        ("/p/6", 2, Reason::Listed),
        ("/p/7", 3, Reason::TooDeep),
    ];
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(path, depth, reason)| (path.to_owned(), (depth, reason)))
        .collect();
    assert_eq!(depths, expected);
}

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
    let check = |options: &[&str]| {
        let summary = crawl(&bench, &site, options);
        assert_eq!(number(&summary, "listed"), 2, "{options:?}: {summary}");
        assert_eq!(number(&summary, "orphans"), 0, "{options:?}");
        assert_eq!(number(&summary["seeds"], "own"), 1, "{options:?}");
        assert_eq!(troubles(&summary), BTreeMap::new(), "{options:?}");
    };
    check(&[]);
    // The first set is still served, although a second one was published since.
    check(&[]);
    check(&["--fresh"]);
    // The state is lost; the manifest in the output tells of the newest set.
    *served.lock().unwrap() = published_files(&bench);
    fs::remove_dir_all(bench.state()).unwrap();
    check(&[]);
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
    let ran = bench.crawl(&site.url("/"), &options).expect_code(4);
    assert!(ran.stderr.contains("would list 1 URLs"), "{}", ran.stderr);
    assert_eq!(bench.published().urls().len(), 51);
    *is_broken.lock().unwrap() = false;
    assert_eq!(number(&crawl(&bench, &site, &options), "listed"), 51);
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
        assert_eq!(number(&summary, "listed"), 1_561);
        let found = BTreeMap::from([("start", 1), ("sitemap", 1_560)]);
        assert_eq!(vias(&bench), found);
        let record = &records(&bench)["/p/one-7"];
        let found_on = record.found_on.as_ref().map(|url| url.path().to_owned());
        assert_eq!(found_on.as_deref(), Some("/1.xml.gz"));
        let asked: Vec<usize> = children
            .iter()
            .zip(before)
            .map(|(name, before)| asked(&site, name) - before)
            .collect();
        assert_eq!(asked, expected);
        assert_eq!(self::asked(&site, "/index.xml"), indexes + 1);
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
    let uninterrupted = self::bench();
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

#[test]
fn documents_keep_the_delay_of_their_host() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/index.xml\n")),
            "/" => Response::html("<link rel=alternate type=application/atom+xml href=/feed>"),
            "/index.xml" => index((1..=3).map(|number| format!("{origin}/{number}.xml"))),
            "/1.xml" => urlset(pages(origin, "one", 4)),
            "/2.xml" if request.earlier == 0 => Response::status(503),
            "/2.xml" => Response::redirect(301, "/two.xml"),
            "/two.xml" => urlset(pages(origin, "two", 4)),
            "/feed" => atom(pages(origin, "feed", 1)),
            _ => return None,
        })
    });
    let bench = Bench::with_options(["--delay", "40ms"]).discovering();
    let config = bench.settings("retry_delays = [\"10ms\"]\n");
    crawl(&bench, &site, &["--config", &config]);
    let log = site.log();
    let paths: Vec<&str> = log.iter().map(|seen| seen.target.as_str()).collect();
    for document in [
        "/index.xml",
        "/1.xml",
        "/2.xml",
        "/two.xml",
        "/3.xml",
        "/feed",
    ] {
        assert!(paths.contains(&document), "{document}: {paths:?}");
    }
    for pair in log.windows(2) {
        let ended = pair[0].ended.expect("it was answered");
        assert!(
            pair[1].begun >= ended + Duration::from_millis(40),
            "{} came too close to {}",
            pair[1].target,
            pair[0].target
        );
    }
}

#[test]
fn retry_after_on_a_sitemap_holds_the_whole_host() {
    let site = site(|request, origin| {
        (request.target == "/sitemap.xml").then(|| match request.earlier {
            0 => Response::status(503).with("Retry-After", "1"),
            _ => urlset(pages(origin, "map", 20)),
        })
    });
    let bench = bench();
    assert_eq!(number(&crawl(&bench, &site, &[]), "listed"), 21);
    let log = site.log();
    let refusal = log.iter().find(|seen| seen.status == 503).unwrap();
    let until = refusal.ended.unwrap() + Duration::from_secs(1);
    let inside = |seen: &&Seen| seen.begun > refusal.ended.unwrap() && seen.begun < until;
    assert_eq!(log.iter().find(inside).map(|seen| &seen.target), None);
}

/// The most memory that a process had so far, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A sitemap of a million URLs, each of which would be fetched, then a small one: when that is asked for,
/// the large one was read to its end.
#[cfg(target_os = "linux")]
#[test]
fn a_sitemap_of_a_million_urls_costs_no_memory_of_its_size() {
    const URLS: usize = 1_000_000;
    let process: Arc<Mutex<Option<u32>>> = Arc::default();
    let peak: Arc<Mutex<Option<u64>>> = Arc::default();
    let (asked_of, noted) = (Arc::clone(&process), Arc::clone(&peak));
    let site = site(move |request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "Sitemap: {origin}/large.xml.gz\nSitemap: {origin}/small.xml\n"
            )),
            "/large.xml.gz" => gzipped(&urlset(pages(origin, "a-name-of-some-length", URLS))),
            "/small.xml" => {
                let id = *asked_of.lock().unwrap();
                *noted.lock().unwrap() = id.and_then(peak_kib);
                urlset(pages(origin, "small", 1))
            }
            _ => return None,
        })
    });
    let bench = bench();
    let config = bench.settings("head_timeout = \"10m\"\ntotal_timeout = \"10m\"\n");
    let options = ["--config", config.as_str(), "--exclude", "/p/a-name*"];
    let mut command = bench.command(&site.url("/"), &options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    *process.lock().unwrap() = Some(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(number(&summary, "known"), URLS as u64 + 2);
    assert_eq!(number(&summary, "listed"), 2);
    let peak = peak
        .lock()
        .unwrap()
        .expect("the small sitemap was asked for");
    assert!(peak < 256 * 1_024, "{peak} KiB");
}

#[test]
fn via_words_are_stable() {
    let words = [Via::Sitemap, Via::Feed, Via::List].map(Via::as_str);
    assert_eq!(words, ["sitemap", "feed", "list"]);
}
