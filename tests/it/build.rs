//! `arpent build`: lists of every format, and the reports of lines and values that cannot be used.

mod extensions;
mod folder;
mod memory;
mod sections;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    gzip,
    program::{Ran, arpent},
    published::Published,
};

const BASE: &str = "https://www.example.com/";

/// A folder to build in, with inputs, output and a home.
struct Builds(TempDir);

impl Builds {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes an input; returns its name.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, content).expect("an input can be written");
        name.to_owned()
    }

    fn output(&self) -> PathBuf {
        self.path().join("out")
    }

    fn published(&self) -> Published {
        Published::read(&self.output())
    }

    fn command(&self, base: &str, arguments: &[&str]) -> Command {
        self.command_to(&self.output(), base, &["--json"], arguments)
    }

    fn command_to(&self, output: &Path, base: &str, form: &[&str], arguments: &[&str]) -> Command {
        let mut command = arpent(self.path());
        command
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path())
            .args(["build", "--base-url", base, "--output"])
            .arg(output)
            .args(form)
            .args(arguments);
        command
    }

    fn build(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(BASE, arguments))
    }

    /// Builds from standard input.
    fn build_from(&self, input: &[u8], arguments: &[&str]) -> Ran {
        Ran::with_input(self.command(BASE, arguments), input)
    }

    /// A build that has made its store, and waits for standard input.
    fn start_waiting(&self) -> Child {
        let state = self.path().join("state");
        let mut command = self.command(BASE, &["-"]);
        command
            .arg("--state")
            .arg(&state)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let has_store = || fs::read_dir(&state).is_ok_and(|mut entries| entries.next().is_some());
        while !has_store() {
            let ended = child.try_wait().expect("the child can be asked");
            assert!(ended.is_none(), "{ended:?}");
            std::thread::yield_now();
        }
        child
    }

    /// All entries by URL, each as its file has it.
    fn lines(&self) -> BTreeMap<String, String> {
        let published = self.published();
        let parts = published.parts();
        let lines = parts.values().flat_map(|file| file.xml.lines());
        lines
            .filter_map(|line| {
                let (_, rest) = line.split_once("<loc>")?;
                let (loc, rest) = rest.split_once("</loc>")?;
                let rest = rest.strip_suffix("</url>")?;
                Some((loc.replace(BASE, "/"), rest.to_owned()))
            })
            .collect()
    }
}

/// Lines, each with its end.
fn lines_of(lines: impl Iterator<Item = String>) -> String {
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// The same three pages in every format.
fn same_pages() -> [(&'static str, String); 5] {
    let text = format!("# pages\n\n{BASE}a\n/b?x=1&y=2\r\n  c%20d  \n");
    let csv = format!(
        "url,lastmod,changefreq,priority\n{BASE}a,2026-01-02,,\n\"/b?x=1&y=2\",,daily,0.8\nc%20d,2026-01-03T04:05:06Z,,\n"
    );
    let ndjson = format!(
        "{}\n{}\n\n{}\n",
        json!({"loc": format!("{BASE}a"), "lastmod": "2026-01-02"}),
        json!({"url": "/b?x=1&y=2", "changefreq": "daily", "priority": 0.8}),
        json!({"loc": "c%20d", "lastmod": "2026-01-03T04:05:06Z", "priority": null}),
    );
    let sitemap = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <url><loc>{BASE}a</loc><lastmod>2026-01-02</lastmod></url>\n\
         <url><loc>{BASE}b?x=1&amp;y=2</loc><changefreq>daily</changefreq><priority>0.8</priority></url>\n\
         <url><loc>{BASE}c%20d</loc><lastmod>2026-01-03T04:05:06Z</lastmod></url>\n</urlset>\n"
    );
    [
        ("text", text),
        ("csv", csv.clone()),
        ("csv", csv.replace(',', ";")),
        ("ndjson", ndjson),
        ("sitemap", sitemap),
    ]
}

#[test]
fn every_format_gives_the_same_pages() {
    for (format, list) in same_pages() {
        let file = Builds::new();
        let name = file.file("list", &list);
        file.build(&[&name]).expect_code(0);
        // The same compressed, through a pipe, and named.
        let piped = Builds::new();
        piped
            .build_from(&gzip(list.as_bytes()), &["--input-format", format, "-"])
            .expect_code(0);
        let lines = file.lines();
        assert_eq!(piped.lines(), lines, "{format}");
        assert_eq!(
            lines.keys().collect::<Vec<_>>(),
            ["/a", "/b?x=1&amp;y=2", "/c%20d"],
            "{format}"
        );
        if format != "text" {
            assert_eq!(lines["/a"], "<lastmod>2026-01-02</lastmod>");
            assert_eq!(
                lines["/b?x=1&amp;y=2"],
                "<changefreq>daily</changefreq><priority>0.8</priority>"
            );
            assert_eq!(lines["/c%20d"], "<lastmod>2026-01-03T04:05:06Z</lastmod>");
        }
    }
}

#[test]
fn a_set_that_did_not_change_is_not_touched() {
    let builds = Builds::new();
    let list = lines_of((0..300).map(|number| format!("/blog/{number}\n/docs/{number}")));
    let file = builds.file("list.txt", &list);
    let first = builds.build(&[&file]).expect_code(0);
    assert_eq!(first.summary()["outcome"], "published");
    let before = builds.published();
    assert!(before.files.len() >= 3, "{:?}", before.files.keys());
    // Lists need no state: the output is enough.
    assert!(!builds.path().join("home").exists());
    let shuffled = lines_of(list.lines().rev().map(str::to_owned));
    let file = builds.file("list.txt", &shuffled);
    let second = builds.build(&[&file]).expect_code(0);
    assert_eq!(second.summary()["outcome"], "unchanged");
    assert_eq!(builds.published().differences(&before), [""; 0]);
    let file = builds.file("list.txt", list + "/docs/new\n");
    let third = builds.build(&[&file]).expect_code(0);
    let changed: Vec<Value> = third.summary()["files"]
        .as_array()
        .expect("a list of files")
        .iter()
        .filter(|file| file["changed"] == true)
        .map(|file| file["name"].clone())
        .collect();
    assert_eq!(changed, ["sitemap.xml", "sitemap.docs.xml.gz"]);
    // Nothing is left of the temporary store.
    let left = fs::read_dir(builds.path()).expect("the folder can be read");
    let left = left
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert_eq!(
        left.filter(|name| name.starts_with("arpent-build")).count(),
        0
    );
}

#[test]
fn unusable_values_are_reported_with_their_line_and_left_out() {
    let builds = Builds::new();
    let file = builds.file(
        "list.csv",
        "url,lastmod,priority\n/good,2026-01-02,0.5\nnot a url,,\nmailto:me@example.com,,\n,,\n\
         /a,yesterday,0.5\n/b,2999-01-01,\n/c,,7\n/d,,0.5,extra\n",
    );
    let ran = builds.build(&[&file]).expect_code(3);
    let summary = ran.summary();
    assert_eq!(summary["outcome"], "partial");
    assert_eq!(summary["listed"], 4);
    assert_eq!(summary["input"]["left_out"], 3);
    assert_eq!(summary["input"]["values_left_out"], 3);
    for words in [
        "list.csv:3: left out: white space inside a URL, expected one URL",
        "list.csv:4: left out: not an http or https URL: \"mailto:me@example.com\"",
        "list.csv:6: value left out: lastmod \"yesterday\": not a W3C date-time",
        "list.csv:7: value left out: lastmod 2999-01-01 is in the future",
        "list.csv:8: value left out: priority \"7\": not a priority",
        "list.csv:9: left out: 4 fields, expected 3 as in the header line",
    ] {
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
    }
    let lines = builds.lines();
    assert_eq!(lines["/a"], "<priority>0.5</priority>");
    assert_eq!((lines["/b"].as_str(), lines["/c"].as_str()), ("", ""));
}

#[test]
fn a_strict_build_publishes_nothing_of_a_faulty_input() {
    let builds = Builds::new();
    let faulty = builds.file("faulty.txt", "/a\nnot a url\n");
    let ran = builds.build(&["--strict", &faulty]).expect_code(2);
    assert_eq!(ran.summary()["outcome"], "refused");
    assert!(
        ran.stderr.contains("nothing is published"),
        "{}",
        ran.stderr
    );
    assert!(builds.published().files.is_empty());
    let good = builds.file("good.txt", "/a\n");
    builds.build(&["--strict", &good]).expect_code(0);
}

#[test]
fn urls_outside_of_the_base_are_reported_and_not_written() {
    let builds = Builds::new();
    let file = builds.file(
        "list.txt",
        "https://www.example.com/docs/a\nhttps://www.example.com/blog/b\nhttp://www.example.com/docs/c\n\
         https://example.com/docs/d\ne\n/docs\n",
    );
    let base = "https://www.example.com/docs";
    let ran = Ran::of(builds.command(base, &[&file])).expect_code(0);
    assert_eq!(ran.summary()["site"], "https://www.example.com/docs/");
    assert_eq!(ran.summary()["input"]["outside"], 4);
    let message = "list.txt:2: not listed: https://www.example.com/blog/b is outside of https://www.example.com/docs/";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(
        builds.published().urls(),
        [
            "https://www.example.com/docs/a",
            "https://www.example.com/docs/e"
        ]
    );
    let locations = &builds.published().files["sitemap.xml"].entries;
    assert!(
        locations
            .iter()
            .all(|(loc, _)| loc.starts_with("https://www.example.com/docs/"))
    );
}

#[test]
fn rules_leave_pages_out_with_their_reason() {
    let builds = Builds::new();
    let file = builds.file("list.txt", "/a\n/private/b\n/c?sort=1\n");
    let ran = builds
        .build(&[&file, "--exclude", "/private/*", "--exclude", "*sort=*"])
        .expect_code(0);
    assert_eq!(ran.summary()["excluded"], json!({"excluded-by-rule": 2}));
    assert_eq!(ran.summary()["known"], 3);
    assert_eq!(builds.lines().into_keys().collect::<Vec<_>>(), ["/a"]);
}

#[test]
fn options_of_the_output_hold_as_for_a_crawl() {
    let list = lines_of((0..150).map(|number| format!("/blog/{number}\n/{number}")));
    let names = |arguments: &[&str]| {
        let builds = Builds::new();
        let file = builds.file("list.txt", &list);
        builds
            .build(&[&[&*file], arguments].concat())
            .expect_code(0);
        builds.published().files.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["--no-gzip"]),
        ["sitemap-root.xml", "sitemap.blog.xml", "sitemap.xml"]
    );
    assert_eq!(
        names(&["--layout", "in-place"]),
        ["blog/sitemap.xml.gz", "sitemap-root.xml.gz", "sitemap.xml"]
    );
    assert_eq!(names(&["--index", "auto"]), ["sitemap.xml"]);
    assert_eq!(names(&["--dry-run"]), [""; 0]);
}

#[test]
fn every_end_has_its_exit_code() {
    let check = |builds: &Builds, arguments: &[&str], code: i32, words: &str| {
        let ran = builds.build(arguments).expect_code(code);
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
    };
    let builds = Builds::new();
    let list = builds.file("list.txt", "/a\n/b\n");
    check(&builds, &["missing.txt"], 2, "failed to open missing.txt");
    check(&builds, &[], 2, "inputs: no input; expected");
    check(
        &builds,
        &["-", "-"],
        2,
        "standard input (-) can be read only once",
    );
    check(&builds, &[&list, "--lastmod", "now"], 2, "--lastmod");
    let empty = builds.file("empty.txt", "# nothing\n");
    check(&builds, &[&empty], 4, "nothing to list");
    for nothing in [&b""[..], b"url,lastmod\r\n", &gzip(b"")] {
        let ran = builds.build_from(nothing, &["-"]).expect_code(4);
        assert!(ran.stderr.contains("nothing to list"), "{}", ran.stderr);
    }
    let named = builds.file("named.csv", "name,lastmod\n/a,\n");
    check(
        &builds,
        &[&named, "--input-format", "csv"],
        2,
        "named.csv:1: no header line",
    );
    let html = builds.file("page.html", "<!doctype html><title>x</title><p>y");
    check(&builds, &[&html], 2, "page.html:");
    let mut broken = gzip(format!("{}/last\n", "/a\n".repeat(100_000)).as_bytes());
    broken.truncate(broken.len() / 2);
    let broken = builds.file("broken.gz", &broken);
    check(
        &builds,
        &[&broken],
        4,
        "arpent publishes nothing from a part of an input",
    );
    assert!(builds.published().files.is_empty());
    builds.build(&[&list]).expect_code(0);
    let fewer = builds.file("fewer.txt", "/a\nnot a url\n");
    check(&builds, &[&fewer], 3, "left out");
    fs::write(builds.path().join("out/sitemap.xml"), "mine").expect("it can be written");
    let foreign = Builds::new();
    let list = foreign.file("list.txt", "/a\n");
    foreign.file("out/sitemap.xml", "mine");
    check(&foreign, &[&list], 4, "is not a file that arpent published");
    check(&foreign, &[&list, "--force"], 0, "");
}

#[test]
fn a_build_that_cannot_begin_has_its_line_of_json() {
    let builds = Builds::new();
    let list = builds.file("list.txt", "/a\n");
    builds.file("taken", "a file where a folder is needed");
    let taken = builds.path().join("taken/out");
    let ran = Ran::of(builds.command_to(&taken, BASE, &["--json"], &[&list])).expect_code(4);
    assert!(
        ran.stdout.contains("\"outcome\":\"refused\""),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_text_counts_what_was_read() {
    let builds = Builds::new();
    let list = builds.file("list.txt", "/a\n/a\n/b\nhttps://elsewhere.example/\n");
    let command = builds.command_to(&builds.output(), BASE, &[], &[&list]);
    let ran = Ran::of(command).expect_code(0);
    for words in [
        "https://www.example.com/: published\n",
        "  2 listed of 2 URLs known; 4 entries read in ",
        "  1 entry that repeats the URL of another, of which the better one counts\n",
        "  1 entry outside the site, not listed\n",
        "    Sitemap: https://www.example.com/sitemap.xml\n",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_build_that_waits_for_its_input_can_be_stopped() {
    use std::io::{BufRead as _, BufReader};
    let builds = Builds::new();
    // Signals are handled before the store is made.
    let mut child = builds.start_waiting();
    let mut printed = BufReader::new(child.stderr.take().expect("it is piped"));
    for words in ["stopping; a second", "stopping now"] {
        let sent = Command::new("kill")
            .arg("-INT")
            .arg(child.id().to_string())
            .status();
        assert!(sent.expect("kill is installed").success());
        let mut line = String::new();
        printed.read_line(&mut line).expect("it prints something");
        assert!(line.starts_with(words), "{line}");
    }
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(130));
    assert!(builds.published().files.is_empty());
}

#[test]
fn a_build_without_a_state_leaves_nothing_but_its_output() {
    let builds = Builds::new();
    let list = builds.file("list.txt", "/a\n");
    builds.build(&[&list]).expect_code(0);
    let entries = fs::read_dir(builds.path()).expect("the folder can be read");
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["list.txt", "out"]);
}
