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
use crate::{GzipWriter, Limits, Loc, extension::Extension, limits::NAMESPACE};

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

/// A urlset that declares all known extensions, and this.
fn extended_urlset(declarations: &str, content: &str) -> String {
    let known = Extension::ALL
        .map(|known| format!("xmlns:{}='{}' ", known.prefix(), known.namespace()))
        .concat();
    let root = format!("<urlset {known}{declarations} ");
    urlset(content).replacen("<urlset ", &root, 1)
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    let bytes = text.chars().map(u8::try_from);
    bytes.map(Result::unwrap).collect()
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

/// Text of a value, empty where there is none.
fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn reading_of(input: impl BufRead) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(input, Limits::default());
    let mut items = Vec::new();
    for item in &mut reader {
        items.push(match item {
            Ok(Item::Url(entry)) => format!(
                "{}|{}|{}|{}",
                entry.loc,
                text(entry.lastmod),
                text(entry.changefreq),
                text(entry.priority),
            ),
            Ok(Item::Sitemap(entry)) => format!("{}|{}", entry.loc, text(entry.lastmod)),
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

/// Problems of a file that is read to its end.
fn problems(file: &str) -> Vec<String> {
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    reader.by_ref().for_each(drop);
    let findings = reader.findings().iter();
    findings
        .map(|finding| finding.problem.to_string())
        .collect()
}

#[track_caller]
fn check_reading(file: impl AsRef<[u8]>, items: &[&str], findings: &[&str]) {
    let expected = (items, findings);
    let found = reading(file.as_ref());
    let found: (Vec<&str>, Vec<&str>) = (
        found.0.iter().map(String::as_str).collect(),
        found.1.iter().map(String::as_str).collect(),
    );
    let text = String::from_utf8_lossy(file.as_ref());
    assert_eq!((&found.0[..], &found.1[..]), expected, "{text}");
}

/// Checks a row `content => items => findings` of a table, with commas in the lists; `file` puts the content in a file.
#[track_caller]
fn check_row(row: &str, file: impl FnOnce(&str) -> String) {
    let [content, items, findings] = columns(row);
    check_reading(file(content), &list(items), &list(findings));
}

/// Columns of a row of a table; the last ones may be missing.
fn columns<const COUNT: usize>(row: &str) -> [&str; COUNT] {
    let mut columns = row.split(" => ");
    let found = std::array::from_fn(|_| columns.next().unwrap_or_default());
    assert_eq!(columns.next(), None, "{row}");
    found
}

fn list(column: &str) -> Vec<&str> {
    let items = column.split(", ");
    items.filter(|item| !item.is_empty()).collect()
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
