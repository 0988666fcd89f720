//! `arpent audit`: the crawl against sitemaps, feeds and access logs.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

use crate::support::{
    gzip, json_schema,
    program::{Bench, Ran},
    site::{Response, Site},
};

fn audit(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command
        .env("ARPENT_MAX_TRIES", "1")
        .args(["audit", "--rate", "unlimited", "--state"])
        .arg(bench.state())
        .args(arguments);
    Ran::of(command)
}

/// The paths that each kind of finding is about, of the result as JSON.
#[track_caller]
fn findings(ran: &Ran, site: &Site) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in json(ran)["findings"].as_array().expect("findings") {
        let text = |name: &str| finding[name].as_str().expect("a text").to_owned();
        let url = text("url");
        let path = url.strip_prefix(&site.origin()).unwrap_or(&url);
        found.entry(text("rule")).or_default().push(path.to_owned());
    }
    found
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

fn urlset(origin: &str, paths: &[&str]) -> String {
    let entries = paths.iter().map(|path| {
        let url = if path.starts_with('/') {
            format!("{origin}{path}")
        } else {
            (*path).to_owned()
        };
        format!("<url><loc>{url}</loc></url>")
    });
    let entries: String = entries.collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn feed(origin: &str, paths: &[&str]) -> String {
    let items = paths
        .iter()
        .map(|path| format!("<item><link>{origin}{path}</link></item>"));
    let items: String = items.collect();
    format!("<rss version=\"2.0\"><channel><title>x</title>{items}</channel></rss>")
}

/// A site with one page for each kind of finding. The crawl meets URLs that only a sitemap or feed names when it reads that document.
fn site() -> Site {
    Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        let page = |name: &str| Response::html(format!("<title>{name}</title>{name}"));
        match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "User-agent: *\nDisallow: /private\nSitemap: {origin}/map.xml\n"
            )),
            "/map.xml" => Response::text(urlset(
                &origin,
                &[
                    "/",
                    "/a",
                    "/gone",
                    "/broken",
                    "/moved",
                    "/hidden",
                    "/copy",
                    "/private",
                    "/island",
                    "/picture",
                    "http://elsewhere.example/x",
                ],
            ))
            .with("Content-Type", "application/xml"),
            "/feed.xml" => Response::text(feed(
                &origin,
                &[
                    "/a", "/gone", "/broken", "/moved", "/hidden", "/copy", "/private",
                ],
            ))
            .with("Content-Type", "application/rss+xml"),
            "/" => Response::html(
                "<link rel=alternate type=application/rss+xml href=/feed.xml><a href=/a>a</a><a href=/b>b</a><a href=/dead>x</a>",
            ),
            "/a" | "/b" | "/island" => page(&request.target),
            "/broken" => Response::status(503),
            "/moved" => Response::redirect(301, "/a"),
            "/hidden" => Response::html("<meta name=robots content=noindex>hidden"),
            "/copy" => Response::html("<link rel=canonical href=/a>copy"),
            "/picture" => Response::text("x").with("Content-Type", "image/png"),
            _ => Response::status(404),
        }
    })
}

fn crawl(bench: &Bench, site: &Site) {
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_MAX_TRIES", "1");
    Ran::of(command).expect_code(3);
}

/// Lines of the combined log format: path, status, and how often.
fn log(lines: &[(&str, u16, usize)]) -> String {
    let lines = lines.iter().map(|(path, status, times)| {
        format!("192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" {status} 1 \"-\" \"Mozilla/5.0\"\n")
            .repeat(*times)
    });
    lines.collect()
}

#[test]
fn each_kind_of_finding_names_its_url() {
    let bench = Bench::new().discovering();
    let site = site();
    crawl(&bench, &site);
    let write = |name: &str, bytes: &[u8]| fs::write(bench.path().join(name), bytes).unwrap();
    let lines = log(&[
        ("/a", 200, 3),
        ("/secret", 200, 2),
        ("/style.css", 200, 9),
        ("/old", 404, 12),
        ("/dead", 404, 20),
        ("/typo", 404, 9),
        ("/post", 301, 30),
    ]);
    write("access.log.gz", &gzip((lines + "garbage\n").as_bytes()));
    let host = site.origin().replace("http://", "");
    let json_line = |host: &str, uri: &str| {
        format!(
            "{{\"request\":{{\"method\":\"GET\",\"host\":\"{host}\",\"uri\":\"{uri}\"}},\"status\":200}}\n"
        )
    };
    let lines = json_line(&host, "/json?utm_source=x") + &json_line("other.example", "/x");
    write("access.json", lines.as_bytes());
    let logs = ["--log", "access.log.gz", "--log", "access.json"];
    let url = site.url("/");
    site.clear_log();
    let ran = audit(&bench, &[&["--json", &url], &logs[..]].concat()).expect_code(1);
    assert_eq!(json(&ran)["version"], 1);
    assert_eq!(site.pages(), ["/map.xml", "/feed.xml"]);
    let expected = [
        ("sitemap-dead", vec!["/gone"]),
        ("sitemap-failing", vec!["/broken"]),
        ("sitemap-redirect", vec!["/moved"]),
        ("sitemap-noindex", vec!["/hidden"]),
        ("sitemap-canonical", vec!["/copy"]),
        ("sitemap-robots", vec!["/private"]),
        ("sitemap-unknown", vec!["http://elsewhere.example/x"]),
        ("sitemap-orphan", vec!["/island"]),
        ("sitemap-left-out", vec!["/picture"]),
        ("feed-dead", vec!["/gone"]),
        ("feed-failing", vec!["/broken"]),
        ("feed-redirect", vec!["/moved"]),
        ("feed-noindex", vec!["/hidden"]),
        ("feed-canonical", vec!["/copy"]),
        ("feed-robots", vec!["/private"]),
        ("not-in-sitemap", vec!["/b"]),
        ("log-unknown", vec!["/secret", "/json"]),
        ("log-dead", vec!["/dead", "/old"]),
    ];
    let expected = expected.map(|(rule, paths)| {
        let paths = paths.into_iter().map(str::to_owned);
        (rule.to_owned(), paths.collect::<Vec<_>>())
    });
    assert_eq!(findings(&ran, &site), expected.into());
    let document = json(&ran);
    let message = |rule: &str| {
        let findings = document["findings"].as_array().unwrap();
        let found = findings.iter().find(|found| found["rule"] == rule);
        found.unwrap()["message"].as_str().unwrap().to_owned()
    };
    assert!(message("sitemap-redirect").ends_with(&format!(": to {}", site.url("/a"))));
    assert!(message("log-dead").ends_with(&format!(
        ": 20 requests answered 404 or 410; {url} links to it"
    )));
    let summary = &document["summary"];
    assert_eq!(summary["logs"]["lines"], 88);
    assert_eq!(summary["logs"]["unreadable"], 1);
    assert_eq!(summary["logs"]["other_hosts"], 1);
    assert_eq!(summary["counts"]["log-dead"], 2);
    let text = audit(&bench, &[&[&*url], &logs[..]].concat()).expect_code(1);
    let moved = format!("{}: error[sitemap-redirect]: ", site.url("/moved"));
    assert!(text.stdout.contains(&moved), "{}", text.stdout);
    let named = format!("    named by {}", site.url("/map.xml"));
    assert!(text.stdout.contains(&named), "{}", text.stdout);
    let sarif = audit(&bench, &["--format", "sarif", &url]).expect_code(1);
    json_schema::assert_valid(json_schema::SARIF, &sarif.stdout);
    let github = audit(&bench, &["--format", "github", &url]).expect_code(1);
    assert!(
        github.stdout.starts_with("::error title=sitemap-dead::"),
        "{}",
        github.stdout
    );
}

#[test]
fn baseline_counts_beyond_shown_findings() {
    let bench = Bench::new();
    let site = Site::allowing(|request| match request.target.as_str() {
        "/" => Response::linking((0..30).map(|number| format!("/{number}"))),
        path if path.len() < 4 => Response::status(404),
        _ => Response::status(503),
    });
    bench.crawl(&site.url("/"), &[]);
    let list = |numbers: &mut dyn Iterator<Item = u32>| {
        let paths: Vec<_> = numbers.map(|number| format!("/{number}")).collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        fs::write(bench.path().join("map.xml"), urlset(&site.origin(), &paths)).unwrap();
    };
    let run = |options: &[&str]| {
        let url = site.url("/");
        audit(&bench, &[&["--sitemap", "map.xml", &url], options].concat())
    };
    list(&mut (10..30));
    let ran = run(&["--format", "json", "--repeats", "5"]).expect_code(1);
    assert_eq!(json(&ran)["summary"]["counts"]["sitemap-dead"], 20);
    fs::write(bench.path().join("base.json"), &ran.stdout).unwrap();
    let with = ["--baseline", "base.json", "--repeats", "5"];
    let ran = run(&with).expect_code(0);
    assert!(!ran.stdout.contains("error["), "{}", ran.stdout);
    assert!(ran.stderr.contains("in the baseline"), "{}", ran.stderr);
    list(&mut (9..30));
    let ran = run(&with).expect_code(1);
    assert!(ran.stdout.contains("16 more like this"), "{}", ran.stdout);
    // A new one is the first, so that one of the others is not shown any more.
    list(&mut (1..2).chain(10..30));
    let url = site.url("/1");
    let ran = run(&with).expect_code(1);
    assert!(
        ran.stdout.contains(&format!("{url}: error[sitemap-dead]")),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("more like this"), "{}", ran.stdout);
}

#[test]
fn files_are_audited_without_requests() {
    let bench = Bench::new();
    let site = Site::of_two_pages();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    fs::create_dir(bench.path().join("maps")).unwrap();
    let write = |name: &str, text: String| fs::write(bench.path().join(name), text).unwrap();
    write("maps/one.xml", urlset(&site.origin(), &["/"]));
    write("maps/two.xml", urlset(&site.origin(), &["/new"]));
    site.clear_log();
    let url = site.url("/");
    let run = |options: &[&str]| {
        audit(
            &bench,
            &[&["--sitemap", "maps", "--format", "json", &url], options].concat(),
        )
    };
    let ran = run(&[]).expect_code(0);
    let found = findings(&ran, &site);
    assert_eq!(found["sitemap-unknown"], ["/new"]);
    assert_eq!(found["not-in-sitemap"].len(), 1);
    run(&["--fail-on", "warning"]).expect_code(1);
    write("feed.xml", feed(&site.origin(), &["/newer"]));
    let found = findings(&run(&["--sitemap", "feed.xml"]).expect_code(0), &site);
    assert_eq!(found["feed-unknown"], ["/newer"]);
    assert_eq!(site.log().len(), 0);
}

#[test]
fn unreadable_sources_have_their_exit_code() {
    let bench = Bench::new();
    let site = Site::allowing(|request| match request.target.as_str() {
        "/" => Response::html("a page"),
        _ => Response::status(404),
    });
    let url = site.url("/");
    let ran = audit(&bench, &[&url]).expect_code(2);
    assert!(
        ran.stderr
            .contains(&format!("run arpent crawl {url} first")),
        "{}",
        ran.stderr
    );
    bench.crawl(&url, &[]).expect_code(0);
    let ran = audit(&bench, &[&url]).expect_code(5);
    assert!(ran.stderr.contains("names no sitemap"), "{}", ran.stderr);
    let ran = audit(&bench, &["--sitemap", &site.url("/map.xml"), &url]).expect_code(5);
    assert!(
        ran.stderr.contains("not read, or not whole: "),
        "{}",
        ran.stderr
    );
    audit(&bench, &["--log", "nothing.log", &url]).expect_code(2);
    audit(&bench, &["--baseline", "nothing.json", &url]).expect_code(2);
    // A log is enough.
    fs::write(bench.path().join("a.log"), log(&[("/x", 200, 1)])).unwrap();
    audit(&bench, &["--log", "a.log", &url]).expect_code(0);
    let state = fs::read_dir(bench.state())
        .unwrap()
        .map(|file| file.unwrap().path());
    let is_state = |path: &PathBuf| path.extension() == Some("db".as_ref());
    let state: Vec<_> = state.filter(is_state).collect();
    fs::write(&state[0], [b'x'; 9_000]).unwrap();
    audit(&bench, &["--log", "a.log", &url]).expect_code(4);
}
