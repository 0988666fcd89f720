//! The contents of the output, which everybody can read, and links and hosts that lead a crawl elsewhere.

use std::{fs, os::unix::fs::symlink, path::Path};

use crawler::store::{Effect, Store};
use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    site::Site,
    state,
};

/// The texts of all files in a folder and below it, by name.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts.extend(self::texts(&path));
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
            let name = path.file_name().expect("a name").to_string_lossy();
            texts.push((name.into_owned(), text));
        }
    }
    texts.sort();
    texts
}

#[test]
fn the_output_does_not_name_the_machine() {
    let site = Site::of_two_pages();
    let bench = Bench::new();
    for options in [&[][..], &["--fresh"]] {
        bench.crawl(&site.url("/"), options).expect_code(0);
        let texts = texts(&bench.output());
        let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            ".arpent-manifest.json",
            "sitemap-root.xml.gz",
            "sitemap.xml",
        ];
        assert_eq!(names, expected);
        let place = bench.path().to_string_lossy();
        for (name, text) in &texts {
            assert!(!text.contains(&*place), "{name}: {text}");
        }
    }
}

#[test]
fn links_in_the_output_are_never_followed() {
    let site = Site::of_two_pages();
    let bench = Bench::new();
    let (precious, folder) = (bench.path().join("precious"), bench.path().join("folder"));
    fs::create_dir_all(bench.output()).expect("created");
    fs::create_dir(&folder).expect("created");
    fs::write(&precious, "precious").expect("written");
    for name in [
        ".arpent.lock",
        ".arpent-run.lock",
        ".arpent-manifest.json",
        ".arpent-probe",
    ] {
        symlink(&precious, bench.output().join(name)).expect("linked");
    }
    symlink(&folder, bench.output().join(".arpent-tmp")).expect("linked");
    for _ in 0..2 {
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        assert_eq!(fs::read_to_string(&precious).expect("read"), "precious");
        assert_eq!(fs::read_dir(&folder).expect("read").count(), 0);
    }
    assert_eq!(bench.published().urls().len(), 2);
}

/// The stored class of the network on which the last crawl began.
fn network(bench: &Bench, new: Option<&str>) -> Option<String> {
    let mut store = Store::open(&state::file(bench)).expect("a state");
    let known = store.value("crawl.network").expect("it can be read");
    if let Some(new) = new {
        let value = ("crawl.network".to_owned(), Some(new.to_owned()));
        let written = store.commit(&[Effect::Value(value)]);
        written.expect("it can be written");
    }
    known
}

#[test]
fn a_public_host_turned_private_is_not_crawled() {
    let site = Site::of_two_pages();
    let bench = Bench::new();
    let url = site.url("/");
    bench.crawl(&url, &[]).expect_code(0);
    assert_eq!(network(&bench, Some("public")).as_deref(), Some("loopback"));
    site.clear_log();
    for options in [&[][..], &["--fresh"], &["--force", "--ignore", "robots"]] {
        let ran = bench.crawl(&url, options).expect_code(5);
        for words in ["was public in the last crawl", "allow_private = true"] {
            assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
        }
    }
    assert!(site.log().is_empty(), "{:?}", site.log());
    assert_eq!(network(&bench, None).as_deref(), Some("public"));
    let config = bench.settings("requests.allow_private = true\n");
    bench.crawl(&url, &["--config", &config]).expect_code(0);
    // After that the host counts as local.
    assert_eq!(network(&bench, None).as_deref(), Some("loopback"));
    bench.crawl(&url, &[]).expect_code(0);
}

#[test]
fn log_lines_have_time_and_site() {
    let sites = [Site::of_two_pages(), Site::of_two_pages()];
    let bench = Bench::new();
    let mut command = bench.command(&sites[0].url("/"), &["-v"]);
    command.arg(sites[1].url("/"));
    let ran = Ran::of(command).expect_code(0);
    for line in ran.stderr.lines() {
        let (time, _) = line.split_once(' ').expect("a time");
        assert!(time.starts_with("20") && time.ends_with('Z'), "{line}");
        assert_eq!(time.len(), "2026-01-01T00:00:00Z".len(), "{line}");
    }
    for site in &sites {
        let (port, url) = (site.port(), site.url("/"));
        let line = format!(" http_127.0.0.1_{port}: crawling {url} and everything below it");
        assert!(ran.stderr.contains(&line), "{line}: {}", ran.stderr);
    }
    // With one site, lines do not name it.
    let ran = bench.crawl(&sites[0].url("/"), &[]).expect_code(0);
    let name = format!(" http_127.0.0.1_{}: ", sites[0].port());
    assert!(!ran.stderr.contains(&name), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("20"), "{}", ran.stderr);
}

#[test]
fn status_counts_failed_sessions_in_a_row() {
    let site = Site::of_two_pages();
    let bench = Bench::new();
    let url = site.url("/");
    let config = bench.settings(&format!(
        "urls = [\"{url}\"]\ntime_zone = \"Asia/Kolkata\"\n"
    ));
    let status = |options: &[&str]| {
        let mut command = bench.program();
        command.args(["status", "--config", &config, "--state"]);
        command.arg(bench.state()).args(options);
        Ran::of(command).expect_code(0).stdout
    };
    let json = || -> Value {
        let document: Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
        document["sites"][0].clone()
    };
    let foreign = bench.output().join("sitemap-recent.rss");
    for (formats, code, count) in [
        ("xml", 0, 0),
        ("xml,rss", 4, 1),
        ("xml,rss", 4, 2),
        ("xml", 0, 0),
    ] {
        let ran = bench.crawl(&url, &["--format", formats]);
        ran.expect_code(code);
        let seen = json();
        assert_eq!(seen["failed_in_a_row"], count);
        let ended = seen["ended"].as_str().expect("a time");
        assert!(ended.ends_with("+05:30"), "{ended}");
        assert_eq!(seen["time_zone"], "Asia/Kolkata");
        let text = status(&[]);
        let words = "the last 2 sessions were refused or failed";
        assert_eq!(text.contains(words), count == 2, "{text}");
        // A file of somebody else has the name of a new one.
        fs::write(&foreign, "mine").expect("written");
    }
}
