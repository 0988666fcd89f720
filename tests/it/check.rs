//! Output and exit codes of `arpent check`.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod folder;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support::{
    json_schema,
    program::{Ran, arpent},
    shared,
};

/// A folder with these files, and a program to run in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = arpent(self.0.path());
        command.arg("check").args(arguments);
        command
    }

    fn check(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }

    fn check_input(&self, arguments: &[&str], input: &str) -> Ran {
        Ran::with_input(self.command(arguments), input.as_bytes())
    }
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

fn urlset(entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}\n</urlset>\n"
    )
}

const GOOD: &str = "  <url><loc>https://h.example/a</loc></url>";

#[test]
fn text_is_like_a_compilers() {
    let entries = "  <url><loc>https://h.example/docs/a</loc><lastmod>2005-02-30</lastmod></url>\n\t<url><loc>https://h.example/b</loc><title>x</title></url>";
    let place = Place::new(&[("sitemap.xml", &urlset(entries))]);
    let ran = place
        .check(&["sitemap.xml", "--base-url", "https://h.example/docs/"])
        .expect_code(1);
    let expected = "\
sitemap.xml:3:43: error[R13]: date or time does not exist
    <url><loc>https://h.example/docs/a</loc><lastmod>2005-02-30</lastmod></url>
                                            ^
    help: write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset such as +01:00; without a date leave the element out
sitemap.xml:4:7: error[R58]: URL is outside of https://h.example/docs/, the directory of the sitemap
    <url><loc>https://h.example/b</loc><title>x</title></url>
         ^
    help: move the sitemap to https://h.example/ or above, or list the URL in a sitemap there
sitemap.xml:4:37: warning[R6]: unknown element <title> (only the schema forbids it)
    <url><loc>https://h.example/b</loc><title>x</title></url>
                                       ^
    help: put into <urlset> nothing but <url> elements, and into these only loc, lastmod, changefreq, priority and extensions
sitemap.xml: note[R61]: 1 of 2 URLs is dropped by search engines; the others count
    help: move the reported URLs to a sitemap that may list them, or take them out
sitemap.xml: note[R62]: sitemap is in https://h.example/docs/ and can list no URL outside of it
    help: a sitemap in the root directory may list every URL of its host
1 file, 2 entries: 2 errors, 1 warning, 2 notes
";
    let found: Vec<&str> = ran.stdout.lines().collect();
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(found.len(), expected.len(), "{}", ran.stdout);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert!(!ran.stdout.contains('\x1b'), "colours without a terminal");
}

#[test]
fn json_is_one_object() {
    let broken = "<url><loc>https://h.example/\u{202e}\"x\"</loc></url>";
    let place = Place::new(&[("a.xml", &urlset(broken)), ("b.xml", &urlset(GOOD))]);
    let ran = place.check(&["a.xml", "b.xml", "--json"]).expect_code(1);
    let as_format = place.check(&["a.xml", "b.xml", "--format", "json"]);
    assert_eq!(as_format.stdout, ran.stdout);
    let printed = json(&ran);
    assert_eq!(printed["version"], 1);
    let finding = printed["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == "R24")
        .unwrap();
    assert_eq!(finding["file"], "a.xml");
    assert_eq!(finding["line"], 3);
    assert_eq!(finding["column"], 6);
    assert_eq!(finding["offset"], 105);
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["source"], "rule");
    assert_eq!(finding["url"], "https://h.example/%E2%80%AE%22x%22");
    assert!(finding["message"].is_string() && finding["help"].is_string());
    assert!(
        finding["text"]
            .as_str()
            .unwrap()
            .contains("<loc>https://h.example/")
    );
    let files = printed["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[1]["file"], "b.xml");
    assert_eq!(files[1]["kind"], "urlset");
    assert_eq!(files[1]["entries"], 1);
    assert_eq!(files[1]["errors"], 0);
    assert_eq!(files[1]["complete"], true);
    assert_eq!(files[1]["directory"], "https://h.example/");
    assert_eq!(printed["summary"]["files"], 2);
    assert_eq!(printed["summary"]["entries"], 2);
    assert_eq!(printed["summary"]["errors"], 1);
    // The output has no control characters for a terminal.
    assert!(!ran.stdout.contains('\u{202e}'));
}

#[test]
fn standard_input_is_a_file() {
    let place = Place::new(&[]);
    let ran = place
        .check_input(
            &["-", "--base-url", "https://h.example/sitemap.xml"],
            &urlset(GOOD),
        )
        .expect_code(0);
    assert_eq!(
        ran.stdout,
        "1 file, 1 entry: 0 errors, 0 warnings, 0 notes\n"
    );
    let ran = place.check_input(&["-"], "<html></html>").expect_code(1);
    assert!(
        ran.stdout.starts_with("-:1:1: error[R4]: "),
        "{}",
        ran.stdout
    );
    let ran = place.check_input(&["-", "--base-url", "https://h.example/"], &urlset(GOOD));
    assert!(
        ran.expect_code(2)
            .stderr
            .contains("--base-url: expected the whole URL of the file")
    );
}

#[test]
fn wrong_usage_names_the_expected_form() {
    let place = Place::new(&[("a.xml", &urlset(GOOD)), ("empty/readme.md", "x")]);
    let check = |arguments: &[&str], expected: &str| {
        let ran = place.check(arguments).expect_code(2);
        assert!(
            ran.stderr.contains(expected),
            "{arguments:?}: {}",
            ran.stderr
        );
    };
    check(&[], "required");
    check(&["gone.xml"], "cannot read gone.xml: ");
    check(&["empty"], "no sitemap found in empty");
    check(
        &["a.xml", "--base-url", "h.example"],
        "--base-url: URL is not absolute",
    );
    check(
        &["empty", "--base-url", "https://h.example/sitemap.xml"],
        "--base-url: expected the URL of the folder, with a / at its end",
    );
    check(
        &["-", "a.xml", "-"],
        "standard input (-) can be read only once",
    );
    check(
        &["a.xml", "a.xml", "--base-url", "https://h.example/a.xml"],
        "need the URL of a folder",
    );
    check(
        &["a.xml", "--robots", "https://h.example"],
        "--robots: expected https://HOST=FILE",
    );
    check(
        &["a.xml", "--robots", "https://h.example=gone"],
        "--robots: cannot read gone",
    );
    check(&["a.xml", "--format", "yaml"], "yaml");
    check(&["--explain", "R81"], "expected a rule from R1 to R80");
    // An empty object would not be a result.
    let ran = place.check(&["empty", "--format", "json"]).expect_code(2);
    assert_eq!(ran.stdout, "");
}

#[test]
fn unreadable_file_hides_no_other() {
    let place = Place::new(&[("b.xml", &urlset("<url/>"))]);
    let arguments = ["gone.xml", "b.xml", "--format", "json"];
    let ran = place.check(&arguments).expect_code(2);
    assert!(
        ran.stderr.contains("cannot read gone.xml"),
        "{}",
        ran.stderr
    );
    let printed = json(&ran);
    assert_eq!(printed["files"].as_array().unwrap().len(), 1);
    let finding = &printed["findings"][0];
    assert_eq!(
        (&finding["file"], &finding["rule"]),
        (&"b.xml".into(), &"R7".into())
    );
}

#[test]
fn rule_is_explained() {
    let place = Place::new(&[]);
    let ran = place.check(&["--explain", "r13"]).expect_code(0);
    assert!(
        ran.stdout
            .starts_with("R13: lastmod is a W3C date-time\n\n"),
        "{}",
        ran.stdout
    );
    for part in [
        "\n- Level: error, warning\n",
        "\n- Correction: write YYYY-MM-DD",
        "<lastmod>2005-02-30</lastmod>",
    ] {
        assert!(ran.stdout.contains(part), "{}", ran.stdout);
    }
    // The next rule is not printed.
    assert!(!ran.stdout.contains("1970-01-01"), "{}", ran.stdout);
}

#[test]
fn folder_is_served_by_its_index() {
    let index = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap><loc>https://h.example/docs/a.xml</loc></sitemap></sitemapindex>\n";
    let place = Place::new(&[
        ("set/sitemap.xml", index),
        (
            "set/a.xml",
            &urlset("<url><loc>https://h.example/docs/a</loc></url>"),
        ),
        ("set/.arpent-manifest.json", "{}"),
        ("set/page.html", "<html></html>"),
    ]);
    let ran = place.check(&["set"]).expect_code(0);
    assert!(
        ran.stderr
            .contains("set is taken to be served at https://h.example/docs/"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout
            .contains("2 files, 2 entries: 0 errors, 0 warnings, 1 note"),
        "{}",
        ran.stdout
    );
    let elsewhere = place
        .check(&["set", "--base-url", "https://h.example/other"])
        .expect_code(1);
    assert!(
        elsewhere.stdout.contains("error[R58]"),
        "{}",
        elsewhere.stdout
    );
}

/// Checks a file alone: the finding by which a rule refuses what the schema accepts, or all findings of what only the schema
/// refuses; `None` when both accept it or both refuse it.
fn difference(file: &Path, is_valid: bool) -> Option<String> {
    let place = Place::new(&[]);
    let ran = place.check(&[file.to_str().unwrap(), "--format", "json"]);
    let printed = json(&ran);
    let findings = printed["findings"].as_array().unwrap();
    let is_schema = |finding: &&Value| finding["source"] == "schema";
    let is_error = |finding: &&Value| finding["severity"] == "error";
    let short = |finding: &Value| {
        let [severity, rule] = ["severity", "rule"].map(|key| finding[key].as_str().unwrap());
        format!("{severity} {rule}")
    };
    let by_schema = findings.iter().find(is_schema);
    let refused = by_schema.or(findings.iter().find(is_error));
    match (is_valid, refused) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(finding)) => {
            assert_eq!(by_schema, None, "{}", file.display());
            Some(format!("rule: {}", short(finding)))
        }
        (false, None) => {
            let all: Vec<String> = findings.iter().map(short).collect();
            Some(format!("schema: {}", all.join(", ")))
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn documents_of_other_projects_agree_with_xmllint() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("conformance/sitemaps");
    let mut differences = BTreeMap::new();
    let mut count = 0;
    for project in files(&folder) {
        let Ok(text) = fs::read_to_string(project.join("xsd.json")) else {
            continue;
        };
        let verdicts: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
        for (name, printed) in verdicts {
            let path = project.join(&name);
            if !path.is_file() {
                continue;
            }
            count += 1;
            let key = format!("{}/{name}", project.file_name().unwrap().to_str().unwrap());
            let difference = difference(&path, printed["xsd"] == "valid");
            differences.extend(difference.map(|difference| (key, difference)));
        }
    }
    assert!(count > 30, "{count} documents");
    let table = include_str!("../data/expected_failures/check_xsd.txt");
    let expected: BTreeMap<String, String> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (name, rest) = line.split_once(" | ").unwrap();
            (
                name.to_owned(),
                rest.split(" | ").next().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(differences, expected);
}

#[test]
fn findings_of_a_baseline_do_not_count() {
    let twice = format!("{GOOD}\n{GOOD}");
    let place = Place::new(&[("a.xml", &urlset(&twice))]);
    place.check(&["a.xml"]).expect_code(0);
    let first = place
        .check(&["a.xml", "--format", "json", "--fail-on", "warning"])
        .expect_code(1);
    fs::write(place.0.path().join("known.json"), &first.stdout).unwrap();
    let options = ["a.xml", "--fail-on", "warning", "--baseline", "known.json"];
    place.check(&options).expect_code(0);
    // One more line moves the findings, and has no finding itself.
    let moved = urlset(&format!("\n{twice}"));
    fs::write(place.0.path().join("a.xml"), moved).unwrap();
    place.check(&options).expect_code(0);
    let broken = urlset(&format!("{twice}\n  <url><loc>/b</loc></url>"));
    fs::write(place.0.path().join("a.xml"), broken).unwrap();
    let ran = place
        .check(&["a.xml", "--baseline", "known.json"])
        .expect_code(1);
    assert_eq!(ran.stdout.matches("a.xml:").count(), 1, "{}", ran.stdout);
    let ran = place
        .check(&["a.xml", "--baseline", "a.xml"])
        .expect_code(2);
    assert!(
        ran.stderr
            .contains("--baseline: a.xml is not the output of --json"),
        "{}",
        ran.stderr
    );
}

#[test]
fn sarif_is_valid_with_and_without_findings() {
    // More findings of one kind than are printed.
    let broken = "  <url><loc>/b</loc></url>\n".repeat(12);
    let place = Place::new(&[("a b.xml", &urlset(&broken)), ("good.xml", &urlset(GOOD))]);
    let sarif = |file: &str, code: i32| {
        let ran = place.check(&[file, "--format", "sarif"]).expect_code(code);
        json_schema::assert_valid(json_schema::SARIF, &ran.stdout);
        ran
    };
    let log = json(&sarif("a b.xml", 1));
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let result = &run["results"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
    assert_eq!(result["level"], "error");
    let position = &result["locations"][0]["physicalLocation"];
    assert_eq!(position["artifactLocation"]["uri"], "a%20b.xml");
    assert_eq!(position["region"]["startLine"], 3);
    // The validator sees what is wrong.
    let good = sarif("good.xml", 0).stdout;
    let spoilt = good.replace("\"version\":\"2.1.0\"", "\"version\":\"2\"");
    if let Some(verdict) = json_schema::validate(json_schema::SARIF.as_ref(), &spoilt) {
        let problem = verdict.unwrap_err();
        assert!(problem.starts_with("line 1: $.version: "), "{problem}");
    }
}

#[test]
fn annotations_are_one_line_each() {
    let broken = "  <url><loc>/b</loc></url>";
    let place = Place::new(&[("a,b.xml", &urlset(broken))]);
    let ran = place
        .check(&["a,b.xml", "--format", "github"])
        .expect_code(1);
    assert!(!ran.stdout.is_empty());
    for line in ran.stdout.lines() {
        assert!(line.starts_with("::error title=R"), "{line}");
        assert!(line.contains("file=a%2Cb.xml,line=3::"), "{line}");
    }
}
