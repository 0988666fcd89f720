//! URL identity against the test suites of other projects: web-platform-tests, crawler-commons,
//! Nutch, `StormCrawler` and Heritrix.
//!
//! The tables are in the folder `ARPENT_SHARED`. Each is read as a table of equivalences: the expected URL of a row is another
//! spelling of its input, so both have the same key; rows with different expected URLs stay apart. A row that demands otherwise
//! is listed with its number and a reason in `tests/data/expected_failures/url_<table>.txt`; a listed row that passes is an error.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use crawler::url_key::{Identity, Normalize, UrlKey, UrlKeyError};
use serde_json::Value;
use url::Url;

use crate::support::{
    self,
    expected::{ExpectedFailures, text},
};

type Key = Result<UrlKey, UrlKeyError>;

/// One row of a table.
struct Row {
    /// Counted from 1: the line in a file of lines.
    number: usize,
    /// The rule or test it belongs to: rows of different ones are not compared with each other.
    group: String,
    text: String,
    /// The key of its input.
    found: Key,
    /// The expected URL, as written, and its key; `None` when the table expects no URL.
    expected: Option<(String, Key)>,
}

#[test]
fn wpt_references_resolve_as_in_browsers() {
    check("wpt_http_base", 200, wpt_sides);
}

#[test]
fn wpt_urls_parse_as_in_browsers() {
    check("wpt_urltestdata", 800, wpt_sides);
}

fn wpt_sides(row: &Value) -> (Key, Option<(String, Key)>) {
    let input = text(row, "input");
    let found = match row["base"].as_str().map(Url::parse) {
        None => identity().parse(input),
        Some(Ok(base)) => resolve(&base, input),
        Some(Err(_)) => Err(UrlKeyError::Syntax),
    };
    let expected = row["href"].as_str().map(without_private_parts);
    (
        found,
        expected.map(|href| (href.clone(), identity().parse(&href))),
    )
}

#[test]
fn crawler_commons_normalizes_alike() {
    let identity = normalizing(|rules| {
        rules.slashes = true;
        rules.parameter_order = true;
        rules.empty_parameters = true;
    });
    check("crawler_commons_normalizer", 110, |row| {
        sides(&identity, row)
    });
}

#[test]
fn crawler_commons_resolves_alike() {
    check("crawler_commons_resolve", 20, |row| {
        let found = match Url::parse(text(row, "base")) {
            Ok(base) => resolve(&base, text(row, "input")),
            Err(_) => identity().parse(text(row, "input")),
        };
        let expected = text(row, "expect");
        (
            found,
            Some((expected.to_owned(), identity().parse(expected))),
        )
    });
}

#[test]
fn nutch_normalizes_alike() {
    let basic = normalizing(|rules| rules.slashes = true);
    check("nutch_basic", 85, |row| sides(&basic, row));
    let sorting = normalizing(|rules| rules.parameter_order = true);
    check("nutch_querystring_sort", 5, |row| sides(&sorting, row));
    let by_expressions = Identity {
        drop_sessions: with_sessions(&["sid", "_sid", "sessionid", "_sessionid", "bv_sessionid"]),
        ..normalizing(|rules| {
            rules.slashes = true;
            rules.empty_parameters = true;
            rules.index_pages = true;
        })
    };
    check("nutch_regex_default", 60, |row| sides(&by_expressions, row));
    check("nutch_regex_scope1", 3, |row| sides(&by_expressions, row));
}

#[test]
fn stormcrawler_normalizes_alike() {
    check("stormcrawler_normalizer", 20, |row| {
        let dropped = row["options"]["queryElementsToRemove"].as_array();
        let mut identity = identity();
        identity.drop_parameters = dropped.into_iter().flatten().map(owned).collect();
        identity.normalize.parameter_order = dropped.is_some();
        sides(&identity, row)
    });
}

#[test]
fn heritrix_canonicalizes_alike() {
    let identity = Identity {
        drop_sessions: with_sessions(&["sid"]),
        ..normalizing(|rules| rules.empty_parameters = true)
    };
    check("heritrix_canonicalize", 20, |row| sides(&identity, row));
}

fn identity() -> Identity {
    Identity::default()
}

/// The default with optional rules.
fn normalizing(change: fn(&mut Normalize)) -> Identity {
    let mut identity = identity();
    change(&mut identity.normalize);
    identity
}

fn with_sessions(names: &[&str]) -> Vec<String> {
    let names = names.iter().copied().map(str::to_owned);
    identity().drop_sessions.into_iter().chain(names).collect()
}

/// A URL without the parts that keys never have: fragment and user-info.
fn without_private_parts(href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let authority_at = href.find("://").map_or(0, |colon| colon + 3);
    let (scheme, rest) = href.split_at(authority_at);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(0));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

fn resolve(base: &Url, reference: &str) -> Result<UrlKey, UrlKeyError> {
    identity().resolve(base, reference, encoding_rs::UTF_8)
}

fn sides(identity: &Identity, row: &Value) -> (Key, Option<(String, Key)>) {
    let expected = row["expect"].as_str();
    let expected = expected.map(|text| (text.to_owned(), identity.parse(text)));
    (identity.parse(text(row, "input")), expected)
}

/// Runs a table of at least `minimum` rows; `sides` makes the two sides of a row.
fn check(table: &str, minimum: usize, sides: impl Fn(&Value) -> (Key, Option<(String, Key)>)) {
    let Some(folder) = tables() else { return };
    let row_of = |(index, row): (usize, Value)| {
        let (found, expected) = sides(&row);
        let number = index + 1;
        let group = format!("{} {}", row["rule"], row["test"]);
        Row {
            number,
            group,
            text: row.to_string(),
            found,
            expected,
        }
    };
    let rows: Vec<Row> = read(&folder, table)
        .into_iter()
        .enumerate()
        .map(row_of)
        .collect();
    let list = expected_failures(table);
    let mut expected = ExpectedFailures::new(&list);
    let mut apart = HashMap::new();
    for row in &rows {
        let result = match problem_of(row, &mut apart) {
            None => Ok(()),
            Some(problem) => Err(format!("{problem}: {}", row.text)),
        };
        expected.judge(&row.number.to_string(), result);
    }
    expected.finish(minimum);
}

/// Problem of a row; `apart` has the expected URL of the first row of its group with the same key.
fn problem_of<'a>(
    row: &'a Row,
    apart: &mut HashMap<(&'a str, &'a UrlKey), &'a str>,
) -> Option<String> {
    match (&row.found, &row.expected) {
        (Err(_), None | Some((_, Err(_)))) => None,
        (Ok(found), None | Some((_, Err(_)))) => Some(format!("expected no key, found {found}")),
        (Err(error), Some((expected, Ok(_)))) => {
            Some(format!("expected {expected}, found: {error}"))
        }
        (Ok(found), Some((_, Ok(expected)))) if found != expected => {
            Some(format!("expected {expected}, found {found}"))
        }
        (Ok(found), Some((expected, Ok(_)))) => {
            let other = *apart.entry((&row.group, found)).or_insert(expected);
            (other != expected).then(|| format!("{expected} and {other} have the same key"))
        }
    }
}

/// The folder of the tables; `None` after a note that the test is skipped.
fn tables() -> Option<PathBuf> {
    support::shared().map(|shared| shared.join("conformance/url"))
}

/// The rows of a table: a file of lines, or one JSON array, whose rows that are text are comments.
fn read(folder: &Path, table: &str) -> Vec<Value> {
    let text = |ending: &str| fs::read_to_string(folder.join(format!("{table}.{ending}")));
    let parse = |text: &str| serde_json::from_str(text).expect("a table is JSON");
    let Ok(lines) = text("jsonl") else {
        let array: Value = parse(&text("json").expect("a table can be read"));
        let rows = array.as_array().expect("a table is an array").iter();
        return rows.filter(|row| row.is_object()).cloned().collect();
    };
    lines.lines().map(parse).collect()
}

/// The list of the rows of `table` that are known to fail, by their numbers.
fn expected_failures(table: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/expected_failures");
    fs::read_to_string(folder.join(format!("url_{table}.txt"))).unwrap_or_default()
}

fn owned(name: &Value) -> String {
    name.as_str().expect("a name is text").to_owned()
}
