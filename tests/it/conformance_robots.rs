//! robots.txt against the test suites of other projects: Google's parser, crawler-commons and reppy.
//!
//! The tables are in the folder `ARPENT_SHARED`. Rows of the classes `core` and `rfc-not-google` are requirements of RFC 9309 and
//! must pass, except those listed with a reason in `tests/data/expected_failures/robots.txt`. Rows of other classes are choices
//! of their project: they only must not panic.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crawler::robots::{Rules, agent_token};
use serde_json::Value;
use url::Url;

use crate::support::{
    self,
    expected::{ExpectedFailures, Judgement, list, same, text},
};

const TABLES: [&str; 4] = [
    "google_robots_test",
    "crawler_commons",
    "rfc9309_examples",
    "reppy",
];

const EXPECTED_FAILURES: &str = include_str!("../data/expected_failures/robots.txt");

/// Base of the rows whose URL is a path.
const SITE: &str = "http://site.test/";

#[test]
fn rules_answer_as_in_the_tables() {
    let Some(folder) = tables() else { return };
    let mut expected = ExpectedFailures::new(EXPECTED_FAILURES);
    for table in TABLES {
        for row in rows(&folder.join(format!("{table}.jsonl"))) {
            let id = text(&row, "id");
            let result = judge(&row);
            match text(&row, "class") {
                "core" | "rfc-not-google" | "delay" | "sitemaps" => expected.judge(id, result),
                "suite-only" | "prefix-agent" => {}
                other => panic!("{id}: unknown class {other}"),
            }
        }
    }
    expected.finish(300);
}

#[test]
fn units_of_google_s_parser_hold() {
    let Some(folder) = tables() else { return };
    for row in rows(&folder.join("google_units.jsonl")) {
        match text(&row, "kind") {
            // The other rows are neither URLs nor references that a page could have.
            "path" if text(&row, "url").is_empty() || text(&row, "url").contains("://") => {
                assert_eq!(
                    path_and_query(text(&row, "url")),
                    text(&row, "path"),
                    "{row}"
                );
            }
            "path" => {}
            "escape_pattern" => {
                let (pattern, escaped) = (text(&row, "pattern"), text(&row, "escaped"));
                let rules = parse(
                    format!("User-agent: foo\nDisallow: *{pattern}$").as_bytes(),
                    "foo",
                );
                assert!(!rules.allows(&format!("/{escaped}")), "{row}");
            }
            "valid_product_token" => {
                let token = text(&row, "token");
                assert_eq!(agent_token(token) == token, row["valid"] == true, "{row}");
            }
            "lines" => {
                let rules = parse(&body(&row), "bar");
                let line = rules
                    .decide("/x")
                    .line
                    .and_then(|line| u64::try_from(line).ok());
                assert_eq!(line, row["last_line"].as_u64(), "{row}");
            }
            "bom" => {
                // Both directives were read when the group is ours and the allow beats the disallow.
                let mut robots = body(&row);
                robots.extend(b"\nDisallow: /\n");
                let rules = parse(&robots, "foo");
                let both = rules.allows("/AnyValue") && !rules.allows("/other");
                assert_eq!(both, row["valid_directives"] == 2, "{row}");
            }
            other => panic!("unknown kind {other}"),
        }
    }
}

/// Compares the result of the rules with that of the row.
fn judge(row: &Value) -> Judgement {
    let rules = parse(&body(row), row["agent"].as_str().unwrap_or("agent"));
    if let Some(wanted) = row.get("crawl_delay_ms") {
        let wanted = wanted.as_u64().map(Duration::from_millis);
        return same(&rules.crawl_delay(), &wanted);
    }
    if let Some(wanted) = row.get("sitemaps") {
        let wanted: Vec<&str> = list(wanted).filter_map(Value::as_str).collect();
        let base = site();
        let urls = rules.sitemap_urls(&base);
        same(
            &rules.sitemaps().iter().map(String::as_str).collect(),
            &wanted,
        )?;
        return same(&urls.iter().map(Url::as_str).collect(), &wanted);
    }
    let path = path_and_query(text(row, "url"));
    let decision = rules.decide(&path);
    let wanted = row["allowed"].as_bool().ok_or("no verdict in the row")?;
    same(&decision.allowed, &wanted)
        .map_err(|problem| format!("{problem} for {path}, by {decision:?}"))
}

fn site() -> Url {
    Url::parse(SITE).expect("it is a URL")
}

fn parse(robots: &[u8], agent: &str) -> Rules {
    Rules::parse(robots, agent)
}

/// Path and query as the crawler asks for them: of the normalised URL.
fn path_and_query(url: &str) -> String {
    let url = site()
        .join(url)
        .expect("the URL of every row can be resolved");
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// The folder of the tables; `None` after a note that the test is skipped.
fn tables() -> Option<PathBuf> {
    support::shared().map(|shared| shared.join("conformance/robots"))
}

fn rows(path: &Path) -> Vec<Value> {
    let table =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    table
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

fn body(row: &Value) -> Vec<u8> {
    match row["robots_b64"].as_str() {
        Some(encoded) => decode_base64(encoded),
        None => text(row, "robots").into(),
    }
}

/// RFC 4648 section 4.
fn decode_base64(encoded: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut decoded) = (0_u32, 0, Vec::new());
    for byte in encoded.bytes().filter(|&byte| byte != b'=') {
        let value = ALPHABET
            .iter()
            .zip(0..)
            .find(|&(&letter, _)| letter == byte);
        bits = (bits << 6)
            | value.map_or_else(
                || panic!("not base64: {encoded}"),
                |(_, value): (_, u32)| value,
            );
        count += 6;
        if count >= 8 {
            count -= 8;
            let [.., byte] = (bits >> count).to_be_bytes();
            decoded.push(byte);
        }
    }
    decoded
}
