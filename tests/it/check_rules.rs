//! Every rule of the protocol that a document, its place or a set can break, through `arpent check`: one set of files that breaks
//! it, where that is said, and one that is as near to it as can be and does not.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod document;
mod sizes_and_indexes;

mod formats;
mod places;

mod extensions;

mod coverage;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::support::program::Ran;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Files by name, and what is typed besides the path: the file itself if there is one, else their folder.
struct Given {
    files: Vec<(String, Vec<u8>)>,
    arguments: Vec<String>,
}

impl Given {
    fn file(name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            files: vec![(name.to_owned(), content.into())],
            arguments: Vec::new(),
        }
    }

    fn and(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), content.into()));
        self
    }

    fn at(self, url: &str) -> Self {
        self.with("--at", url)
    }

    fn with(mut self, option: &str, value: &str) -> Self {
        self.arguments.extend([option.to_owned(), value.to_owned()]);
        self
    }
}

/// What the program found, as it says it with `--format json`.
struct Found {
    code: i32,
    findings: Vec<Value>,
}

impl Found {
    /// Whether a rule is broken in this way, in this line.
    fn has(&self, rule: &str, severity: &str, line: Option<u64>) -> bool {
        self.findings.iter().any(|finding| {
            finding["rule"] == rule
                && finding["severity"] == severity
                && finding["line"].as_u64() == line
        })
    }
}

fn check(given: &Given) -> Found {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &given.files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        // Long ago, so that no date in a file is the file's own by chance.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let sitemaps: Vec<_> = given
        .files
        .iter()
        .filter(|(name, _)| !name.ends_with("robots"))
        .collect();
    let path = match sitemaps[..] {
        [(name, _)] => name.as_str(),
        _ => ".",
    };
    run(folder.path(), path, &given.arguments)
}

fn run(folder: &Path, path: &str, arguments: &[String]) -> Found {
    let ran = Ran::of(command(folder, path, arguments));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {} {}", ran.stdout, ran.stderr);
    });
    Found {
        code: ran.code.unwrap(),
        findings: said["findings"].as_array().unwrap().clone(),
    }
}

fn command(folder: &Path, path: &str, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command.args(["check", path, "--format", "json"]);
    command.args(arguments);
    command
}

/// `fail` breaks the rule in this line, `pass` does not; an error decides the exit code.
#[track_caller]
fn rule(rule: &str, severity: &str, line: impl Into<Option<u64>>, fail: &Given, pass: &Given) {
    let line = line.into();
    let found = check(fail);
    assert!(
        found.has(rule, severity, line),
        "{rule} {severity} in line {line:?} is missing: {:#?}",
        found.findings
    );
    if severity == "error" {
        assert_eq!(found.code, 1, "{rule}");
    }
    let found = check(pass);
    assert!(
        found.findings.iter().all(|finding| finding["rule"] != rule),
        "{rule} is told of what keeps it: {:#?}",
        found.findings
    );
}

/// A urlset of these lines: the first stands in line 3.
fn urlset(lines: &str) -> Given {
    Given::file("sitemap.xml", urlset_text(lines))
}

fn urlset_text(lines: &str) -> String {
    format!("{HEAD}<urlset xmlns=\"{SITEMAP}\">\n{lines}\n</urlset>\n")
}

fn index(lines: &str) -> Given {
    Given::file("sitemap.xml", index_text(lines))
}

fn index_text(lines: &str) -> String {
    format!("{HEAD}<sitemapindex xmlns=\"{SITEMAP}\">\n{lines}\n</sitemapindex>\n")
}

/// One page with these elements behind its `loc`, in line 3.
fn page(elements: &str) -> Given {
    urlset(&format!(
        "<url><loc>https://h.example/a</loc>{elements}</url>"
    ))
}

/// One page with this URL, in line 3.
fn loc(url: &str) -> Given {
    urlset(&format!("<url><loc>{url}</loc></url>"))
}

fn sitemap(elements: &str) -> Given {
    index(&format!(
        "<sitemap><loc>https://h.example/a.xml</loc>{elements}</sitemap>"
    ))
}

/// One page with extensions, in line 3.
fn extended(elements: &str) -> Given {
    let namespaces = [
        ("image", "http://www.google.com/schemas/sitemap-image/1.1"),
        ("video", "http://www.google.com/schemas/sitemap-video/1.1"),
        ("news", "http://www.google.com/schemas/sitemap-news/0.9"),
        ("xhtml", "http://www.w3.org/1999/xhtml"),
    ]
    .map(|(prefix, uri)| format!(" xmlns:{prefix}=\"{uri}\""))
    .concat();
    let text = format!(
        "{HEAD}<urlset xmlns=\"{SITEMAP}\"{namespaces}>\n<url><loc>https://h.example/a</loc>{elements}</url>\n</urlset>\n"
    );
    Given::file("sitemap.xml", text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GOOD: &str = "<url><loc>https://h.example/a</loc></url>";

fn good() -> Given {
    urlset(GOOD)
}

/// The time it is, as a sitemap has it.
fn now() -> String {
    sitemap_core::LastMod::from_timestamp(jiff::Timestamp::now()).to_string()
}
