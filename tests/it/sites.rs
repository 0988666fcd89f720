//! Several sites in one settings file: each with its own settings, several hosts at the same time, one crawl
//! per host, and no site that stops another.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Arc, Barrier},
};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran, Running},
    published::Published,
    site::{Response, Site},
};

/// The settings of all sites of a test: no delays, and only links are followed.
const SHARED: &str = r#"
politeness.rate = "unlimited"
discovery.discover = ["links"]
output.output = "out"
output.state = "state"
limits.max_tries = 1
"#;

/// `arpent crawl --config` in the folder of `bench`.
fn command(bench: &Bench, file: &str, arguments: &[&str]) -> Command {
    let config = bench.settings(file);
    let mut command = bench.program();
    let fixed = ["crawl", "--json", "--config", &config];
    command.args(fixed).args(arguments);
    command
}

fn crawl(bench: &Bench, file: &str) -> Ran {
    Ran::of(command(bench, file, &[]))
}

/// The URL of `site` on a host of its own, and the line of settings that leads there.
fn on_host(site: &Site, host: &str) -> (String, String) {
    let port = site.port();
    (
        format!("http://{host}:{port}/"),
        format!("requests.resolve = [\"{host}:{port}:127.0.0.1\"]\n"),
    )
}

/// A table of the site at `url` with further lines.
fn table(url: &str, lines: &str) -> String {
    format!("\n[[site]]\nurl = \"{url}\"\n{lines}\n")
}

/// A text value of the summary of the site at `url`.
#[track_caller]
fn outcome<'r>(summaries: &'r [Value], url: &str) -> &'r str {
    let summary = summaries.iter().find(|summary| summary["site"] == *url);
    let summary = summary.unwrap_or_else(|| panic!("{url}: {summaries:?}"));
    summary["outcome"].as_str().expect("a word")
}

/// The stored data on the last session of a site.
#[track_caller]
fn last_session(bench: &Bench, name: &str) -> Value {
    let path = bench.state().join(format!("{name}.last.json"));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("it is JSON")
}

#[test]
fn several_hosts_are_crawled_at_the_same_time() {
    // Each start page is answered when all three were asked for.
    let meeting = Arc::new(Barrier::new(3));
    let sites: Vec<Site> = (0..3)
        .map(|_| {
            let meeting = Arc::clone(&meeting);
            Site::allowing(move |request| {
                if request.target == "/" && request.earlier == 0 {
                    meeting.wait();
                }
                Response::linking(["/", "/a"])
            })
        })
        .collect();
    let urls: Vec<_> = sites
        .iter()
        .zip(["one.test", "two.test", "three.test"])
        .map(|(site, host)| on_host(site, host))
        .collect();
    let tables: String = urls.iter().map(|(url, lines)| table(url, lines)).collect();
    let bench = Bench::new();
    let ran = crawl(&bench, &format!("{SHARED}{tables}")).expect_code(0);
    let summaries = ran.summaries();
    assert_eq!(summaries.len(), 3);
    for (url, _) in &urls {
        assert_eq!(outcome(&summaries, url), "published");
    }
    let folder = bench
        .output()
        .join(format!("http_one.test_{}", sites[0].port()));
    assert_eq!(Published::read(&folder).urls().len(), 2);
    assert!(
        ran.stderr.contains(&format!("crawling {} and", urls[2].0)),
        "{}",
        ran.stderr
    );
}

#[test]
fn sites_of_one_host_are_crawled_in_turn() {
    let (one, two) = (Site::of_two_pages(), Site::of_two_pages());
    let tables = [&one, &two].map(|site| table(&site.url("/"), ""));
    let bench = Bench::new();
    crawl(&bench, &format!("{SHARED}{}", tables.concat())).expect_code(0);
    let (first, second) = (one.log(), two.log());
    let end = first.iter().filter_map(|seen| seen.ended).max();
    let begin = second.iter().map(|seen| seen.begun).min();
    assert!(end < begin, "{first:?} {second:?}");
}

#[test]
fn each_site_has_the_settings_of_its_table() {
    let (one, two) = (Site::of_two_pages(), Site::of_two_pages());
    let bench = Bench::new();
    let credentials = bench.path().join("credentials");
    fs::create_dir(&credentials).expect("created");
    fs::write(credentials.join("one"), "user:first secret\n").expect("written");
    fs::write(bench.path().join("two.header"), "X-Key: second secret\n").expect("written");
    let file = [
        SHARED,
        "scope.exclude = [\"/a\"]\n",
        &table(
            &one.url("/"),
            "name = \"first\"\nrequests.basic_auth = { credential = \"one\" }\noutput.output = \"first\"",
        ),
        &table(
            &two.url("/"),
            "requests.header = [{ file = \"two.header\" }]\nscope.exclude = []\noutput.state = \"other\"\noutput.no_gzip = true",
        ),
    ]
    .concat();
    let mut command = command(&bench, &file, &["-vv"]);
    command.env("CREDENTIALS_DIRECTORY", &credentials);
    let ran = Ran::of(command).expect_code(0);

    for seen in one.log() {
        let authorization = seen.headers.get("authorization").map(String::as_str);
        assert_eq!(authorization, Some("Basic dXNlcjpmaXJzdCBzZWNyZXQ="));
        assert!(!seen.headers.contains_key("x-key"));
    }
    for seen in two.log() {
        assert_eq!(seen.headers["x-key"], "second secret");
        assert!(!seen.headers.contains_key("authorization"));
    }
    let first = Published::read(&bench.path().join("first"));
    assert!(first.urls().iter().eq([&one.url("/")]), "{first:?}");
    let name = format!("http_127.0.0.1_{}", two.port());
    let second = Published::read(&bench.output().join(&name));
    assert_eq!(second.urls().len(), 2);
    assert!(second.files.contains_key("sitemap-root.xml"));
    assert!(
        bench
            .path()
            .join("other")
            .join(format!("{name}.db"))
            .exists()
    );
    // A secret is in its own place, and in no other file.
    fs::remove_dir_all(&credentials).expect("removed");
    fs::remove_file(bench.path().join("two.header")).expect("removed");
    for secret in ["first secret", "dXNlcjpmaXJzdC", "second secret"] {
        assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        assert!(!ran.stdout.contains(secret), "{}", ran.stdout);
        assert_eq!(files_with(secret, bench.path()), [""; 0]);
    }
}

/// The files below `folder` that hold `text`.
fn files_with(text: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(text, &path));
        } else {
            let bytes = fs::read(&path).expect("it can be read");
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_site_that_fails_stops_no_other() {
    let good = Site::of_two_pages();
    let gone = Site::allowing(|_| Response::status(404));
    let moved = Site::allowing(|_| Response::redirect(301, "http://elsewhere.test/"));
    let listed = Site::of_two_pages();
    let tables = [
        table(&gone.url("/"), ""),
        table(&moved.url("/"), ""),
        table(
            &listed.url("/"),
            "discovery.seeds = [\"missing.txt\"]\ndiscovery.discover = [\"list\"]",
        ),
        table(&good.url("/"), ""),
    ];
    let bench = Bench::new();
    let ran = crawl(&bench, &format!("{SHARED}{}", tables.concat())).expect_code(2);
    let summaries = ran.summaries();
    assert_eq!(listed.log().len(), 0, "the list is looked at first");
    // The end of each session is stored beside its state.
    for (site, expected, code, message) in [
        (&gone, "unreachable", 5, "answered 404"),
        (&moved, "unreachable", 5, "elsewhere.test"),
        (&listed, "settings", 2, "missing.txt"),
        (&good, "published", 0, ""),
    ] {
        assert_eq!(outcome(&summaries, &site.url("/")), expected);
        let name = format!("http_127.0.0.1_{}", site.port());
        let last = last_session(&bench, &name);
        assert_eq!(last["name"], name);
        assert_eq!(last["start"], site.url("/"));
        assert_eq!(last["exit_code"], code);
        let found = last["message"].as_str();
        assert_eq!(found.is_some(), code != 0, "{last}");
        assert!(found.unwrap_or_default().contains(message), "{last}");
        assert_eq!(last["last_good"].is_string(), code == 0, "{last}");
        let summary = summaries
            .iter()
            .find(|summary| summary["site"] == site.url("/"));
        assert_eq!(Some(&last["summary"]), summary);
    }
}

#[test]
fn a_signal_stops_all_sites() {
    let meeting = Arc::new(Barrier::new(3));
    let sites: Vec<Site> = (0..2)
        .map(|_| {
            let meeting = Arc::clone(&meeting);
            Site::allowing(move |request| {
                if request.target == "/" {
                    return Response::linking(["/a"]);
                }
                meeting.wait();
                Response {
                    stalls_in_head: true,
                    ..Response::html("")
                }
            })
        })
        .collect();
    let waiting = Site::of_two_pages();
    let mut tables = String::new();
    for (site, host) in sites.iter().zip(["one.test", "two.test"]) {
        let (url, lines) = on_host(site, host);
        tables.push_str(&table(&url, &lines));
    }
    tables.push_str(&table(&waiting.url("/"), ""));
    let bench = Bench::new();
    let file = format!("max_sites = 2{SHARED}{tables}");
    let running = Running::of(command(&bench, &file, &[]));
    // Both crawls are under way.
    meeting.wait();
    running.signal("TERM");
    running.signal("TERM");
    let summaries = running.wait().expect_code(143).summaries();
    let outcomes: Vec<&Value> = summaries.iter().map(|end| &end["outcome"]).collect();
    assert_eq!(outcomes, ["interrupted"; 3]);
    assert_eq!(waiting.log().len(), 0);
    let name = format!("http_one.test_{}", sites[0].port());
    let last = last_session(&bench, &name);
    assert_eq!(last["exit_code"], 143);
    let unbegun = format!("http_127.0.0.1_{}.last.json", waiting.port());
    assert!(!bench.state().join(unbegun).exists(), "it never ran");
}
