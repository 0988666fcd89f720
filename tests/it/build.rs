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
        self.command_to(&self.output(), base, arguments)
    }

    fn command_to(&self, output: &Path, base: &str, arguments: &[&str]) -> Command {
        let mut command = arpent(self.path());
        command
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path())
            .args(["build", "--base-url", base, "--output"])
            .arg(output)
            .arg("--json")
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

#[test]
fn compressed_list_of_a_named_format_is_piped() {
    let list = format!(
        "url;lastmod;changefreq;priority\n{BASE}a;2026-01-02;;\n\"/b?x=1&y=2\";;daily;0.8\nc%20d;2026-01-03T04:05:06Z;;\n"
    );
    let builds = Builds::new();
    builds
        .build_from(&gzip(list.as_bytes()), &["--input-format", "csv", "-"])
        .expect_code(0);
    let lines = builds.lines();
    let entries: Vec<_> = lines
        .iter()
        .map(|(url, rest)| format!("{url} {rest}"))
        .collect();
    assert_eq!(
        entries,
        [
            "/a <lastmod>2026-01-02</lastmod>",
            "/b?x=1&amp;y=2 <changefreq>daily</changefreq><priority>0.8</priority>",
            "/c%20d <lastmod>2026-01-03T04:05:06Z</lastmod>",
        ]
    );
}

#[test]
fn unchanged_set_and_its_parts_are_kept() {
    let builds = Builds::new();
    let list = lines_of((0..300).map(|number| format!("/blog/{number}\n/docs/{number}")));
    let file = builds.file("list.txt", &list);
    builds.build(&[&file, "--dry-run"]).expect_code(0);
    assert!(builds.published().files.is_empty());
    let first = builds.build(&[&file]).expect_code(0);
    assert_eq!(first.summary()["outcome"], "published");
    let before = builds.published();
    assert!(before.files.len() >= 3, "{:?}", before.files.keys());
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
    // Lists need no state: nothing is left besides the output, neither a home nor a temporary store.
    let entries = fs::read_dir(builds.path()).expect("the folder can be read");
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["list.txt", "out"]);
}

#[test]
fn urls_outside_the_base_and_excluded_are_unlisted() {
    let builds = Builds::new();
    let file = builds.file(
        "list.txt",
        "https://www.example.com/docs/a\nhttps://www.example.com/blog/b\nhttp://www.example.com/docs/c\n\
         https://example.com/docs/d\ne\n/docs\nprivate/b\nc?sort=1\n",
    );
    let base = "https://www.example.com/docs";
    let rules = ["--exclude", "/docs/private/*", "--exclude", "*sort=*"];
    let options = [&[&*file], &rules[..]].concat();
    let ran = Ran::of(builds.command(base, &options)).expect_code(0);
    let summary = ran.summary();
    assert_eq!(summary["site"], "https://www.example.com/docs/");
    assert_eq!(summary["input"]["outside"], 4);
    assert_eq!(summary["excluded"], json!({"excluded-by-rule": 2}));
    assert_eq!(summary["known"], 4);
    let message = "list.txt:2: not listed: https://www.example.com/blog/b is outside of https://www.example.com/docs/";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let docs = |path: &str| format!("https://www.example.com/docs/{path}");
    assert_eq!(builds.published().urls(), ["a", "e"].map(docs));
    let locations = &builds.published().files["sitemap.xml"].entries;
    let mut locations = locations.iter();
    assert!(locations.all(|(loc, _)| loc.starts_with(&docs(""))));
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
    let before = builds.published();
    check(&builds, &["--strict", &fewer], 2, "nothing is published");
    assert_eq!(builds.published().differences(&before), [""; 0]);
    let foreign = Builds::new();
    let list = foreign.file("list.txt", "/a\n");
    foreign.file("out/sitemap.xml", "mine");
    check(&foreign, &[&list], 4, "is not a file that arpent published");
    check(&foreign, &[&list, "--force"], 0, "");
    // A build that cannot begin prints its line of JSON.
    foreign.file("taken", "a file where a folder is needed");
    let taken = foreign.path().join("taken/out");
    let ran = Ran::of(foreign.command_to(&taken, BASE, &[&list])).expect_code(4);
    assert_eq!(ran.summary()["outcome"], "refused");
}

#[cfg(unix)]
#[test]
fn build_waiting_for_input_can_be_stopped() {
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
