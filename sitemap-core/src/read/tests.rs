//! Tests of problems that reading passes over, leaves out for, or refuses.

use std::io::{BufRead, Write};

mod bytes;
mod check;
mod damage;
mod entities;
mod extensions;
mod feeds;
mod findings;
mod hostile;
mod inputs;
mod lenient;
mod markup;
mod misplaced;
mod properties;
mod schema;
mod text;
mod values;

use super::*;
use crate::{GzipWriter, Limits, Loc, limits::NAMESPACE};

/// A urlset with this between its tags.
fn urlset(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{NAMESPACE}\">{content}</urlset>"
    )
}

/// An index with this between its tags.
fn index(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"{NAMESPACE}\">{content}</sitemapindex>"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzipWriter::new(Vec::new());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Result of a lenient reading: an entry as `URL|lastmod|changefreq|priority`, a lost one as `- rule`, an end as `! rule`; then
/// the findings, each with severity and rule.
fn reading(file: &[u8]) -> (Vec<String>, Vec<String>) {
    reading_of(file)
}

fn reading_of(input: impl BufRead) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(input, Limits::default());
    let mut items = Vec::new();
    for item in &mut reader {
        items.push(match item {
            Ok(Item::Url(entry)) => format!(
                "{}|{}|{}|{}",
                entry.loc,
                entry
                    .lastmod
                    .map_or(String::new(), |value| value.to_string()),
                entry
                    .changefreq
                    .map_or(String::new(), |value| value.to_string()),
                entry
                    .priority
                    .map_or(String::new(), |value| value.to_string()),
            ),
            Ok(Item::Sitemap(entry)) => format!(
                "{}|{}",
                entry.loc,
                entry
                    .lastmod
                    .map_or(String::new(), |value| value.to_string())
            ),
            Err(ReadError::Entry(finding)) => format!("- {}", finding.rule()),
            Err(ReadError::File(finding)) => format!("! {}", finding.rule()),
            Err(ReadError::Io(error)) => format!("! {error}"),
        });
    }
    let findings = reader.findings().iter();
    (
        items,
        findings
            .map(|finding| format!("{:?} {}", finding.severity(), finding.rule()))
            .collect(),
    )
}

#[track_caller]
fn check_reading(file: impl AsRef<[u8]>, items: &[&str], findings: &[&str]) {
    let expected = (items, findings);
    let found = reading(file.as_ref());
    let found: (Vec<&str>, Vec<&str>) = (
        found.0.iter().map(String::as_str).collect(),
        found.1.iter().map(String::as_str).collect(),
    );
    assert_eq!(
        (&found.0[..], &found.1[..]),
        expected,
        "{}",
        String::from_utf8_lossy(file.as_ref())
    );
}

fn loc(text: &str) -> Loc {
    Loc::parse(text).unwrap()
}

/// Checks a file that is at the root of `http://host`.
fn checked(file: &[u8], kind: Kind) -> Result<crate::FileSummary, CheckError> {
    check(
        file,
        &Expectation::new(kind, &loc("http://host/sitemap.xml")),
    )
}
