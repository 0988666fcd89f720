//! `arpent report`: every URL with its reason, the links to broken and redirected URLs with their texts, conflicts and sessions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

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
        "/a" | "/a?x=1" => Response::html(
            "<title>=A</title><p>one text<a href=/gone>old
 prices</a>",
        ),
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
fn rows_agree_with_summary_and_why() {
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
    // The target, the page and the text of each link.
    let mut links = BTreeSet::new();
    for link in rows(&ran.stdout, "link") {
        let texts = ["target", "page", "text"].map(|name| link[name].as_str().unwrap_or("-"));
        links.insert(texts.join(" ").replace(&site.origin(), ""));
    }
    links.retain(|link| link.starts_with("/gone ") || link.starts_with("/moved "));
    let expected = [
        "/gone / /gone",
        "/gone /a old prices",
        "/gone /a?x=1 old prices",
        "/gone /b x",
        "/moved / /moved",
        "/moved /b y",
    ];
    assert_eq!(links, expected.map(str::to_owned).into());
    let row = |path: &str| {
        let url = site.url(path);
        urls.iter().find(|row| row["url"] == url.as_str()).unwrap()
    };
    assert_eq!(row("/gone")["linked_from"], 4);
    assert_eq!(row("/moved")["linked_from"], 2);
    assert!(row("/a")["duration_ms"].is_u64());
    assert!(row("/private/x")["duration_ms"].is_null());
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
fn every_form_of_report_is_complete() {
    let bench = Bench::new();
    let site = site();
    let url = site.url("/");
    let summary = bench.crawl(&url, &[]).expect_code(0).summary();
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
    for name in ["urls", "links", "conflicts", "patterns", "sessions"] {
        let lines = read(&format!("csv/{name}.csv")).lines().count();
        let kind = name.trim_end_matches('s');
        assert_eq!(lines, rows(&read("r.ndjson"), kind).len() + 1, "{name}");
    }
    let mut names = fs::read_dir(bench.path()).unwrap();
    assert!(!names.any(|entry| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().ends_with(".part")
    }));
    let text = report(&bench, &[&url]).expect_code(0).stdout;
    for line in [
        "3 of 7 known URLs listed",
        "1  gone               left out  not found, 404 or 410",
        "Links to 1 broken URL",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // The page loads nothing.
    for word in ["src=", "@import", "<link", "<base", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    let ran = report(&bench, &["--html", "no/such/r.html", &url]).expect_code(2);
    report(&bench, &["--html", "/dev/null", &url]).expect_code(2);
    assert!(
        ran.stderr.contains("failed to write the report"),
        "{}",
        ran.stderr
    );
    let ran = report(&bench, &["--json", &url]).expect_code(0);
    let document: Value = serde_json::from_str(&ran.stdout).expect("one JSON object");
    assert_eq!(document["version"], 1);
    assert_eq!(document["site"], site.url("/"));
    for name in ["known", "listed", "failed"] {
        assert_eq!(document[name], summary[name], "{name}");
    }
    for reason in document["reasons"].as_array().expect("a list") {
        let of_summary = match reason["state"].as_str() {
            Some("listed") => &summary["listed"],
            _ => &summary["excluded"][reason["reason"].as_str().expect("a code")],
        };
        assert_eq!(reason["count"], *of_summary, "{reason}");
        assert!(reason["examples"][0].is_string());
    }
    assert_eq!(document["lastmod"], serde_json::json!({"none": 3}));
    assert_eq!(document["broken_targets"], 1);
    assert_eq!(document["redirected_targets"], 1);
    assert_eq!(document["duplicates"], 1);
    assert_eq!(document["orphans"]["count"], summary["orphans"]);
    assert_eq!(document["patterns"], serde_json::json!([]));
    assert_eq!(document["conflicts"], serde_json::json!({}));
    assert_eq!(document["sections"][0]["path"], "/");
}

/// A site whose pages contradict each other, with an orphan.
fn conflicting_site() -> Site {
    Site::start(|request| {
        let host = request.headers.get("host").map_or("", String::as_str);
        match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: http://{host}/s.xml\n")),
            "/s.xml" => Response::text(format!(
                "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://{host}/orphan</loc></url></urlset>"
            )),
            "/" => Response::html(
                "<title>Start</title><a href=/en>en</a><a href=/de>de</a><a href=/hidden>hidden</a><a href=/c>c</a>",
            ),
            "/en" => Response::html(
                "<link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=fr href=/gone><p>english",
            ),
            "/de" => Response::html("<p>deutsch"),
            "/hidden" => Response::html("<meta name=robots content=noindex><p>hidden"),
            "/c" => Response::html("<link rel=canonical href=/gone><p>canonical"),
            "/orphan" => Response::html("<p>orphan"),
            _ => Response::status(404),
        }
    })
}

#[test]
fn conflicts_orphans_and_sessions_are_reported() {
    let bench = Bench::new().discovering();
    let site = conflicting_site();
    let options = ["--with", "hreflang"];
    let first = bench.crawl(&site.url("/"), &options).summary();
    let second = bench.crawl(&site.url("/"), &options).summary();
    // There is one site in the folder of the states.
    let ran = report(&bench, &["--ndjson", "-"]).expect_code(0);
    let mut conflicts = BTreeSet::new();
    for row in rows(&ran.stdout, "conflict") {
        let word = |name: &str| {
            let text = row[name].as_str().unwrap_or("-");
            text.replace(&site.url("/"), "/")
        };
        conflicts.insert(
            ["kind", "url", "target", "target_reason", "language"]
                .map(word)
                .join(" "),
        );
    }
    let expected = [
        "canonical-not-listed /c /gone gone -",
        "hreflang-no-return /en /de listed de",
        "hreflang-not-listed /en /gone gone fr",
        "noindex-linked /hidden - - -",
    ];
    assert_eq!(conflicts, expected.map(str::to_owned).into());
    let urls = rows(&ran.stdout, "url");
    let orphans = urls.iter().filter(|row| row["is_orphan"] == true);
    let orphans: Vec<_> = orphans.map(|row| row["url"].as_str().unwrap()).collect();
    assert_eq!(orphans, [site.url("/orphan")]);
    let runs = rows(&ran.stdout, "session");
    assert_eq!(runs.len(), 2);
    for (run, summary) in runs.iter().zip([&first, &second]) {
        for name in [
            "outcome",
            "known",
            "listed",
            "failed",
            "queued",
            "fetched",
            "not_modified",
            "bytes_in",
        ] {
            assert_eq!(run[name], summary[name], "{name}");
        }
        assert!(run["ended"].is_string() && run["requests"].as_u64() >= run["fetched"].as_u64());
    }
    assert_eq!([&runs[0]["crawl"], &runs[1]["crawl"]], [1, 2]);
    let text = report(&bench, &[]).expect_code(0).stdout;
    for line in [
        "Orphans: 1 URL that no page links to",
        "1 page: noindex, but linked",
        "Politeness of the last session",
        "Sessions, the newest first",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn partial_and_refused_sessions_have_rows() {
    let bench = Bench::new();
    let site = site();
    drop(bench.crawl(&site.url("/"), &["--max-pages", "1"]));
    drop(bench.crawl(&site.url("/"), &["--exclude", "/*"]));
    let ran = report(&bench, &["--ndjson", "-", &site.url("/")]).expect_code(0);
    let runs = rows(&ran.stdout, "session");
    let outcomes: Vec<_> = runs.iter().map(|run| run["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("partial"), Some("refused")]);
    assert_eq!([&runs[0]["exit_code"], &runs[1]["exit_code"]], [3, 4]);
}
