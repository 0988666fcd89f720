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
fn json_has_the_counts_of_the_summary() {
    let bench = Bench::new();
    let site = site();
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    let ran = report(&bench, &["--json", &site.url("/")]).expect_code(0);
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
    let text = |page: &str, target: &str| {
        let [page, target] = [page, target].map(|path| site.url(path));
        let link = links
            .iter()
            .find(|link| link["page"] == page.as_str() && link["target"] == target.as_str());
        link.expect("the link")["text"].clone()
    };
    assert_eq!(text("/a", "/gone"), "old prices");
    assert_eq!(text("/b", "/moved"), "y");
    assert_eq!(text("/", "/gone"), "/gone");
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
fn files_are_complete_and_nothing_in_them_runs() {
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
        "1  gone               excluded  answered 404 or 410",
        "Broken links to 1 URL",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for file in ["conflicts", "patterns", "sessions"] {
        assert_eq!(
            read(&format!("csv/{file}.csv")).lines().count(),
            rows(&read("r.ndjson"), file.trim_end_matches('s')).len() + 1
        );
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
}

#[test]
fn a_site_without_a_state_is_an_error() {
    let ran = report(&Bench::new(), &["http://unknown.example/"]).expect_code(2);
    assert!(ran.stderr.contains("no crawled site"), "{}", ran.stderr);
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
        "1 time: has noindex, and pages link to it",
        "Politeness of the last session",
        "Sessions, the newest first",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_killed_and_a_refused_session_have_rows() {
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
