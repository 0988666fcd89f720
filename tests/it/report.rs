//! `arpent report`: every URL with its reason, and the links to broken and redirected URLs.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

fn report(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command
        .arg("report")
        .arg("--state")
        .arg(bench.state())
        .args(arguments);
    Ran::of(command)
}

/// A site with broken and redirected links, copies and a hostile title.
fn site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private\n"),
        "/" => Response::linking(["/a", "/b", "/gone", "/moved", "/private/x", "/a?x=1"]),
        "/a" | "/a?x=1" => Response::html("<title>=A</title><p>one text<a href=/gone>old</a>"),
        "/b" => Response::html(
            "<title>&lt;/script>&lt;script>document.title='x'&lt;/script></title><a href=/gone>x</a><a href=/moved>y</a>",
        ),
        "/moved" => Response::redirect(301, "/b"),
        _ => Response::status(404),
    })
}

/// The rows of one kind.
fn rows(text: &str, kind: &str) -> Vec<Value> {
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    rows.filter(|row| row["type"] == kind).collect()
}

#[test]
fn rows_and_summary_agree_and_links_have_their_pages() {
    let bench = Bench::new();
    let site = site();
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    let requests = site.log().len();
    let ran = report(&bench, &["--ndjson", "-", &site.url("/")]).expect_code(0);
    let urls = rows(&ran.stdout, "url");
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for url in &urls {
        *counts.entry(url["reason"].as_str().unwrap()).or_default() += 1;
    }
    assert_eq!(counts.remove("listed"), summary["listed"].as_u64());
    let excluded = serde_json::to_value(&counts).unwrap();
    assert_eq!(excluded, summary["excluded"]);
    assert_eq!(urls.len() as u64, summary["known"].as_u64().unwrap());
    let links = rows(&ran.stdout, "link");
    let pages = |target: &str| {
        let target = site.url(target);
        let links = links
            .iter()
            .filter(|link| link["target"] == target.as_str());
        let mut pages: Vec<String> = links
            .map(|link| link["page"].as_str().unwrap().to_owned())
            .collect();
        pages.sort_unstable();
        pages
    };
    let all = ["/", "/a", "/a?x=1", "/b"].map(|path| site.url(path));
    assert_eq!(pages("/gone"), all);
    assert_eq!(pages("/moved"), [site.url("/"), site.url("/b")]);
    let copy = urls
        .iter()
        .find(|url| url["url"] == site.url("/a?x=1").as_str())
        .unwrap();
    assert_eq!(copy["duplicate_of"], site.url("/a"));
    // Each reason is the one that `why` has.
    for url in &urls {
        let mut command = bench.program();
        command.arg("why").arg("--state").arg(bench.state());
        command.args(["--json", url["url"].as_str().unwrap()]);
        let why: Value = serde_json::from_str(&Ran::of(command).expect_code(0).stdout).unwrap();
        assert_eq!(why["reason"], url["reason"]);
    }
    assert_eq!(site.log().len(), requests, "nothing is requested");
}

#[test]
fn files_are_whole_and_nothing_in_them_runs() {
    let bench = Bench::new();
    let site = site();
    drop(bench.crawl(&site.url("/"), &[]).expect_code(0));
    let url = site.url("/");
    let arguments = [
        "--html", "r.html", "--csv", "csv", "--ndjson", "r.ndjson", &url,
    ];
    let ran = report(&bench, &arguments).expect_code(0);
    assert_eq!(ran.stdout, "");
    let read = |name: &str| fs::read_to_string(bench.path().join(name)).unwrap();
    let page = read("r.html");
    assert!(!page.contains("<script>document"));
    assert_eq!(page.matches("</script").count(), 2);
    let urls = read("csv/urls.csv");
    assert!(urls.contains(",'=A,"), "{urls}");
    assert_eq!(
        urls.lines().count(),
        rows(&read("r.ndjson"), "url").len() + 1
    );
    assert_eq!(
        read("csv/links.csv").lines().count(),
        rows(&read("r.ndjson"), "link").len() + 1
    );
    let names = fs::read_dir(bench.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !names
            .into_iter()
            .any(|name| name.to_string_lossy().ends_with(".part"))
    );
    let text = report(&bench, &[&url]).expect_code(0).stdout;
    for line in [
        "3 of 7 known URLs listed",
        "1 gone: answered 404 or 410",
        "broken links: 1 URL",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ran = report(&bench, &["--html", "no/such/r.html", &url]).expect_code(2);
    report(&bench, &["--html", "/dev/null", &url]).expect_code(2);
    assert!(
        ran.stderr.contains("failed to write the report"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_site_without_a_state_is_an_error() {
    let ran = report(&Bench::new(), &["http://unknown.example/"]).expect_code(2);
    assert!(ran.stderr.contains("no crawled site"), "{}", ran.stderr);
}
