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
fn problem_names_place_and_expectation() {
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
fn sites_of_one_origin_share_headers() {
    let settings = good(
        &[URL, "https://example.com/docs/", "--header", "Cookie: a=b"],
        &[],
        None,
    );
    assert_eq!(settings.session.urls.len(), 2);
}
