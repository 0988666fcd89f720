//! Problems of values that cannot be used, alone or together.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

/// The cases of `problems.toml`.
#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default = "one_site")]
    arguments: Vec<String>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    file: Option<String>,
    problem: String,
}

fn one_site() -> Vec<String> {
    vec![URL.to_owned()]
}

#[test]
fn a_problem_names_its_place_and_what_was_expected() {
    let table: Table = toml::from_str(include_str!("problems.toml")).unwrap();
    for case in table.case {
        let arguments: Vec<_> = case.arguments.iter().map(String::as_str).collect();
        let variables = case.variables.iter();
        let variables: Vec<_> = variables.map(|(name, value)| (&**name, &**value)).collect();
        let error = load_sites(&arguments, &variables, case.file.as_deref()).unwrap_err();
        assert_eq!(error.to_string(), case.problem, "{case:?}");
    }
}

#[test]
fn secrets_are_not_repeated() {
    let settings = good(
        &[URL],
        &[
            ("ARPENT_BEARER_TOKEN", "hunter2"),
            ("ARPENT_HEADER", "Cookie: hunter2"),
        ],
        None,
    );
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn typed_secrets_are_warned_of() {
    fn check(arguments: &[&str], variables: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(
            good(&[&[URL], arguments].concat(), variables, None).warnings,
            expected
        );
    }
    check(
        &["--header", "Cookie: a=b"],
        &[],
        &[
            "every user of this machine can see the header Cookie in the process list; \
           write it into the settings file or the variable ARPENT_HEADER",
        ],
    );
    check(
        &["--proxy", "http://me:secret@proxy.example:3128"],
        &[],
        &[
            "every user of this machine can see the proxy's password in the process list; \
           write it into the settings file or the variable ARPENT_PROXY",
        ],
    );
    check(&[], &[("ARPENT_HEADER", "Cookie: a=b")], &[]);
    check(&["--header", "Accept-Language: fr"], &[], &[]);
}

#[test]
fn values_must_not_conflict() {
    let settings = good(
        &[URL, "https://example.com/docs/", "--header", "Cookie: a=b"],
        &[],
        None,
    );
    assert_eq!(settings.urls.len(), 2);
}

#[test]
fn globs_that_can_never_match_are_found_before_the_crawl() {
    let error = load(
        &[
            URL,
            "--exclude",
            "private",
            "--include",
            "/[a",
            "--list-only",
            "/fine*",
        ],
        &[],
        None,
    );
    let text = error.unwrap_err().to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("--include: \"/[a\" "), "{text}");
    assert!(lines[1].starts_with("--exclude: \"private\" "), "{text}");
}

#[test]
fn problems_are_reported_in_the_order_in_which_one_reads() {
    let file = "limits.max_pages = 0\nrates = 3\noutput.min_section = 0\n[[page_rule]]\nselector = \"p[\"\naction = \"exclude\"\n";
    let error = load(
        &[URL, "--rate", "x"],
        &[("ARPENT_CONCURRENCY", "0")],
        Some(file),
    )
    .unwrap_err();
    let text = error.to_string();
    let begins: Vec<_> = text
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        begins,
        [
            "config.toml:1",
            "config.toml:2",
            "config.toml:3",
            "config.toml:4",
            "ARPENT_CONCURRENCY",
            "--rate"
        ],
        "{text}"
    );
}
