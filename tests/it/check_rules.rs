//! Every rule of the protocol that a document, its place or a set can break, through `arpent check`. Each case has one set of
//! files that breaks the rule, with the place of the finding, and a similar one that does not.
//!
//! The broken and obeyed rules are recorded while the cases run; [`coverage`] runs all groups and looks for rules without a case.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod document;
mod sizes_and_indexes;

mod formats;
mod places;

mod extensions;

mod served;

mod coverage;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use serde_json::Value;

use crate::support::{
    gzip,
    program::{self, Ran},
};

/// Makes a test of each group of cases, which is run once although [`coverage`] asks for all of them.
macro_rules! groups {
    ($($module:ident: $($name:ident)+;)+) => {
        mod groups {
            $(mod $module {
                $(
                    #[test]
                    pub(super) fn $name() {
                        static ONCE: std::sync::Once = std::sync::Once::new();
                        ONCE.call_once(super::super::$module::$name);
                    }
                )+
            })+

            /// Runs all that did not run yet.
            pub(super) fn all() {
                $($($module::$name();)+)+
            }
        }
    };
}

groups! {
    document: xml_and_its_root beginning_names_and_prefixes_that_are_read_all_the_same elements_of_an_entry urls escapes values_of_an_entry values_that_all_entries_share urls_are_listed_once;
    sizes_and_indexes: limits compression indexes several_indexes listed_sitemaps_are_judged_at_their_own_place sitemaps_that_are_read_again_each_time entries_of_an_index dates_of_an_index damaged_compression_is_reported_after_all_that_can_be_read;
    formats: feeds dates_of_feeds text_files;
    places: places urls_that_are_dropped_are_counted sections_have_sitemaps_of_their_own sets_for_other_hosts_may_be_below_the_root the_missing_line_is_reported sitemaps_on_other_hosts robots_of_the_folder;
    extensions: schema_and_namespaces extensions versions_in_other_languages;
    served: pages sitemaps_that_cannot_be_fetched;
}

/// Cases of a rule that were seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// A document broke it, which was reported in the right line.
    Broken,
    /// A document broke it, which was reported as another rule in the right line.
    BrokenAs(u8),
    /// A document that obeys it had no finding of it.
    Kept,
}

/// Cases of each rule that were seen.
static SEEN: Mutex<BTreeSet<(u8, Seen)>> = Mutex::new(BTreeSet::new());

fn number(rule: &str) -> u8 {
    rule.strip_prefix('R').unwrap().parse().unwrap()
}

fn record(rule: &str, seen: Seen) {
    let mut all = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert((number(rule), seen));
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Files by name, and the arguments besides the path: the file itself if there is one, else their folder.
struct Supplied {
    files: Vec<(String, Vec<u8>)>,
    arguments: Vec<String>,
}

impl Supplied {
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
        self.with("--base-url", url)
    }

    fn with(mut self, option: &str, value: &str) -> Self {
        self.arguments.extend([option.to_owned(), value.to_owned()]);
        self
    }
}

/// Findings of the program with `--format json`.
struct Found {
    code: i32,
    findings: Vec<Value>,
}

impl Found {
    /// Returns whether a rule is broken in this way, in this line.
    fn has(&self, rule: &str, severity: &str, line: Option<u64>) -> bool {
        self.findings.iter().any(|finding| {
            finding["rule"] == rule
                && finding["severity"] == severity
                && finding["line"].as_u64() == line
        })
    }
}

fn check(given: &Supplied) -> Found {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &given.files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        // Long ago, so that no date in a file is that of the file by chance.
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
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {} {}", ran.stdout, ran.stderr);
    });
    Found {
        code: ran.code.unwrap(),
        findings: printed["findings"].as_array().unwrap().clone(),
    }
}

fn command(folder: &Path, path: &str, arguments: &[String]) -> Command {
    let mut command = program::arpent(folder);
    command.args(["check", path, "--format", "json"]);
    command.args(arguments);
    command
}

/// `fail` breaks the rule in this line, `pass` does not; an error decides the exit code.
#[track_caller]
fn rule(
    rule: &str,
    severity: &str,
    line: impl Into<Option<u64>>,
    fail: &Supplied,
    pass: &Supplied,
) {
    breaks(rule, severity, line.into(), &check(fail));
    keeps(rule, &check(pass));
}

/// The same of a rule that breaks by breaking another one, which is reported.
#[track_caller]
fn rule_as(rule: &str, reported: &str, line: u64, fail: &Supplied, pass: &Supplied) {
    breaks(reported, "error", Some(line), &check(fail));
    record(rule, Seen::BrokenAs(number(reported)));
    let found = check(pass);
    keeps(rule, &found);
    keeps(reported, &found);
}

#[track_caller]
fn breaks(rule: &str, severity: &str, line: Option<u64>, found: &Found) {
    assert!(
        found.has(rule, severity, line),
        "{rule} {severity} in line {line:?} is missing: {:#?}",
        found.findings
    );
    if severity == "error" {
        assert_eq!(found.code, 1, "{rule}");
    }
    record(rule, Seen::Broken);
}

#[track_caller]
fn keeps(rule: &str, found: &Found) {
    assert!(
        found.findings.iter().all(|finding| finding["rule"] != rule),
        "{rule} is reported for an allowed document: {:#?}",
        found.findings
    );
    record(rule, Seen::Kept);
}

/// An allowed document has no findings at all.
#[track_caller]
fn allowed(rule: &str, given: &Supplied) {
    let found = check(given);
    assert_eq!(found.findings, [Value::Null; 0], "{rule}");
    assert_eq!(found.code, 0, "{rule}");
    record(rule, Seen::Kept);
}

/// The message of the first finding for a rule.
#[track_caller]
fn message<'a>(found: &'a Found, rule: &str) -> &'a str {
    let finding = found
        .findings
        .iter()
        .find(|finding| finding["rule"] == rule);
    let finding = finding.unwrap_or_else(|| panic!("no {rule}: {:#?}", found.findings));
    finding["message"].as_str().unwrap()
}

/// A urlset of these lines, of which the first is line 3.
fn urlset(lines: &str) -> Supplied {
    Supplied::file("sitemap.xml", urlset_text(lines))
}

fn urlset_text(lines: &str) -> String {
    format!("{HEAD}<urlset xmlns=\"{SITEMAP}\">\n{lines}\n</urlset>\n")
}

fn index(lines: &str) -> Supplied {
    Supplied::file("sitemap.xml", index_text(lines))
}

fn index_text(lines: &str) -> String {
    format!("{HEAD}<sitemapindex xmlns=\"{SITEMAP}\">\n{lines}\n</sitemapindex>\n")
}

/// One page with these elements after its `loc`, in line 3.
fn page(elements: &str) -> Supplied {
    urlset(&format!(
        "<url><loc>https://h.example/a</loc>{elements}</url>"
    ))
}

/// One page with this URL, in line 3.
fn loc(url: &str) -> Supplied {
    urlset(&format!("<url><loc>{url}</loc></url>"))
}

fn sitemap(elements: &str) -> Supplied {
    index(&format!(
        "<sitemap><loc>https://h.example/a.xml</loc>{elements}</sitemap>"
    ))
}

/// One page with extensions, in line 3.
fn extended(elements: &str) -> Supplied {
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
    Supplied::file("sitemap.xml", text)
}

const GOOD: &str = "<url><loc>https://h.example/a</loc></url>";

fn good() -> Supplied {
    urlset(GOOD)
}

/// The current time in the format of a sitemap.
fn now() -> String {
    sitemap_core::LastMod::from_timestamp(jiff::Timestamp::now()).to_string()
}
