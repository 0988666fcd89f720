//! Published sets have no findings with any layout and options, not even notes.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::{fmt::Write as _, fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::program::{self, Ran};

/// Enough directories with files of their own that an index without dates would be reported (R43).
const SECTIONS: usize = 12;

/// Pages that a directory needs for its own file.
const PAGES_OF_A_SECTION: usize = 100;

fn arpent(folder: &Path) -> Command {
    let mut command = program::arpent(folder);
    command.env("TMPDIR", folder);
    command
}

/// Writes a list of pages of `base`: sections, one within another, and pages beside them, some with dates.
fn list(folder: &Path, base: &str) {
    let mut lines = String::from("url,lastmod\n");
    for section in 0..SECTIONS {
        for page in 0..PAGES_OF_A_SECTION {
            let deeper = if page % 2 == 0 { "deeper/" } else { "" };
            let date = if page % 3 == 0 { "2024-05-17" } else { "" };
            writeln!(lines, "{base}s{section}/{deeper}{page},{date}").unwrap();
        }
    }
    for page in 0..20 {
        writeln!(lines, "{base}{page},").unwrap();
    }
    fs::write(folder.join("list.csv"), lines).unwrap();
}

/// Builds a set of a list into `out`; returns its robots.txt lines.
fn build(folder: &Path, list: &str, base: &str, options: &[&str]) -> Vec<String> {
    let mut command = arpent(folder);
    command.args(["build", "--base-url", base, "--output", "out"]);
    command.args(["--json", list]).args(options);
    let summary = Ran::of(command).expect_code(0).summary();
    let robots = summary["robots_txt"].as_array().unwrap().iter();
    robots
        .map(|robots| robots["line"].as_str().unwrap().to_owned())
        .collect()
}

fn check(folder: &Path, arguments: &[&str]) -> (i32, Vec<Value>) {
    let mut command = arpent(folder);
    command.args(["check", "out", "--format", "json"]);
    let ran = Ran::of({
        command.args(arguments);
        command
    });
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = printed["findings"].as_array().unwrap().clone();
    (ran.code.unwrap(), findings)
}

/// The findings, but for those of these rules.
#[track_caller]
fn nothing_but(findings: &[Value], rules: &[&str], set: &str) {
    let others: Vec<_> = findings
        .iter()
        .filter(|finding| !rules.contains(&finding["rule"].as_str().unwrap()))
        .collect();
    assert!(others.is_empty(), "{set}: {others:#?}");
}

#[test]
fn published_sets_have_no_findings() {
    for base in ["https://h.example/", "https://h.example/docs/"] {
        for layout in ["root", "in-place"] {
            for format in ["xml", "txt", "xml,txt,rss,atom"] {
                for more in [&[][..], &["--no-gzip", "--schema-location"]] {
                    for index in ["always", "auto"] {
                        let folder = tempfile::tempdir().unwrap();
                        list(folder.path(), base);
                        let options = ["--layout", layout, "--format", format, "--index", index];
                        let options = [&options[..], more].concat();
                        let lines = build(folder.path(), "list.csv", base, &options);
                        fs::write(folder.path().join("robots"), lines.join("\n")).unwrap();
                        let robots = "https://h.example=robots";
                        let arguments = ["--base-url", base, "--robots", robots];
                        let (code, findings) = check(folder.path(), &arguments);
                        let set = format!("{base} {options:?}");
                        // Notes: that something is served below the root, and that all pages changed in one day.
                        nothing_but(&findings, &["R14", "R62"], &set);
                        assert_eq!(code, 0, "{set}");
                    }
                }
            }
        }
    }
}

#[test]
fn sets_with_extensions_have_no_findings() {
    let base = "https://h.example/";
    let now = jiff::Timestamp::now().to_string();
    let mut lines = String::new();
    for page in 0..PAGES_OF_A_SECTION {
        let row = json!({
            "loc": format!("/de/{page}"),
            "images": [{"loc": format!("/{page}.png")}],
            "alternates": [
                {"hreflang": "de", "href": format!("/de/{page}")},
                {"hreflang": "en", "href": format!("/en/{page}")},
            ],
            "news": {
                "publication": {"name": "The Example", "language": "de"},
                "publication_date": now,
                "title": "t",
            },
        });
        let mut english = row.clone();
        english["loc"] = json!(format!("/en/{page}"));
        writeln!(lines, "{row}\n{english}").unwrap();
    }
    for layout in ["root", "in-place"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("list.ndjson"), &lines).unwrap();
        let options = ["--layout", layout];
        build(folder.path(), "list.ndjson", base, &options);
        let (code, findings) = check(folder.path(), &["--base-url", base]);
        nothing_but(&findings, &[], layout);
        assert_eq!(code, 0);
    }
}

#[test]
fn set_for_another_host_needs_one_line() {
    let folder = tempfile::tempdir().unwrap();
    list(folder.path(), "https://h.example/");
    let base = "https://maps.example/h/";
    let lines = build(
        folder.path(),
        "list.csv",
        "https://h.example/",
        &["--public-url", base],
    );
    assert_eq!(lines, [format!("Sitemap: {base}sitemap.xml")]);
    let (code, findings) = check(folder.path(), &["--base-url", base]);
    assert_eq!(code, 1);
    let notes: Vec<_> = findings
        .iter()
        .filter(|finding| finding["rule"] == "R65")
        .map(|finding| finding["help"].as_str().unwrap())
        .collect();
    let help = format!(
        "add the line \"{}\" to https://h.example/robots.txt",
        lines[0]
    );
    assert_eq!(notes, [help]);
    fs::write(folder.path().join("robots"), &lines[0]).unwrap();
    let robots = ["--robots", "https://h.example=robots"];
    let (code, findings) = check(
        folder.path(),
        &[&["--base-url", base][..], &robots].concat(),
    );
    nothing_but(&findings, &["R67"], base);
    assert_eq!(code, 0);
}
