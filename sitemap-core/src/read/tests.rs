//! What reading forgives, what it leaves out, and what it refuses.

use std::io::{self, BufReader, Write};

use proptest::prelude::*;

mod damage;
mod extensions;
mod feeds;
mod forgiven;
mod hostile;
mod text;

use super::*;
use crate::{
    AtomWriter, ChangeFreq, FeedInfo, GzipWriter, IndexWriter, LastMod, Limits, Loc, Priority,
    Push, RssWriter, SchemaLocation, TextWriter, UrlSetOptions, UrlSetWriter,
    extension::arbitrary,
    limits::{MAX_BYTES, NAMESPACE},
};

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

/// What a lenient reading gives: an entry as `URL|lastmod|changefreq|priority`, a lost one as `- rule`, an end as `! rule`; then the
/// findings, each with severity and rule.
fn reading(file: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(file, Limits::default());
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

#[test]
fn entries_come_with_all_their_values() {
    check_reading(
        urlset(
            "<url><loc>http://host/a?b&amp;c=&quot;&#39;&#x26;</loc><lastmod>2024-05-17</lastmod><changefreq>weekly</changefreq>\
             <priority>0.8</priority></url>\n<url><loc><![CDATA[http://host/?a&b]]></loc></url>",
        ),
        &[
            "http://host/a?b&c=%22'&|2024-05-17|weekly|0.8",
            "http://host/?a&b|||",
        ],
        &["Error R24"],
    );
    check_reading(
        index(
            "<sitemap><loc>http://host/s.xml</loc><lastmod>2024-05-17T09:30:00+00:00</lastmod></sitemap>",
        ),
        &["http://host/s.xml|2024-05-17T09:30:00+00:00"],
        &[],
    );
    check_reading(
        format!(
            "<sm:urlset xmlns:sm=\"{NAMESPACE}\"><sm:url><sm:loc>http://host/</sm:loc></sm:url></sm:urlset>"
        ),
        &["http://host/|||"],
        &[],
    );
}

#[test]
fn bad_value_is_left_out_and_the_entry_stays() {
    let check = |values: &str, expected: &str, findings: &[&str]| {
        let file = urlset(&format!("<url><loc>http://host/</loc>{values}</url>"));
        check_reading(file, &[&format!("http://host/|{expected}")], findings);
    };
    check("<lastmod>yesterday</lastmod>", "||", &["Error R13"]);
    check("<lastmod></lastmod>", "||", &["Error R13"]);
    check("<lastmod/>", "||", &["Error R13"]);
    check("<lastmod>2024-05</lastmod>", "||", &["Warning R13"]);
    check(
        "<lastmod>2024-05-17T09:30Z</lastmod>",
        "||",
        &["Warning R13"],
    );
    check(
        "<lastmod>2024-05-17T09:30:00</lastmod>",
        "2024-05-17T09:30:00Z||",
        &["Error R13"],
    );
    check(
        "<lastmod> 2024-05-17\n</lastmod>",
        "2024-05-17||",
        &["Warning R13"],
    );
    check("<lastmod>&own;2024-05-17</lastmod>", "||", &["Error R22"]);
    check(
        "<lastmod>&nbsp;2024-05-17</lastmod>",
        "2024-05-17||",
        &["Error R22", "Warning R13"],
    );
    check(
        "<lastmod>2024<b>-05</b>-17</lastmod>",
        "||",
        &["Warning R6", "Error R13"],
    );
    check(
        "<lastmod>2024<!-- x -->-05-17</lastmod>",
        "2024-05-17||",
        &[],
    );
    check(
        "<changefreq>Daily</changefreq>",
        "|daily|",
        &["Warning R16"],
    );
    check("<changefreq>newver</changefreq>", "||", &["Error R16"]);
    check("<priority>1.1</priority>", "||", &["Error R18"]);
    check("<priority>0,5</priority>", "||", &["Error R18"]);
    check("<priority>1e-1</priority>", "||", &["Error R18"]);
    check("<priority> 0.5 </priority>", "||0.5", &["Warning R18"]);
    check(
        "<priority>0.8</priority><lastmod>2024-05-17</lastmod>",
        "2024-05-17||0.8",
        &["Warning R8"],
    );
    check(
        "<priority>0.8</priority><priority>0.2</priority>",
        "||0.8",
        &["Error R8"],
    );
    check("<title>x</title>", "||", &["Warning R6"]);
    check("text", "||", &["Warning R6"]);
    check(
        "<x:t xmlns:x=\"http://host/x\"><loc>http://no/</loc></x:t>",
        "||",
        &["Note R70", "Note R71"],
    );
    check("<x:t><x:u/></x:t>", "||", &["Error R70", "Note R71"]);
    check(
        &format!("<lastmod>{}</lastmod>", "1".repeat(MAX_VALUE_BYTES + 1)),
        "||",
        &["Error R1"],
    );
}

#[test]
fn url_is_encoded_and_reported() {
    let check = |loc: &str, expected: &str, findings: &[&str]| {
        check_reading(
            urlset(&format!("<url><loc>{loc}</loc></url>")),
            &[&format!("{expected}|||")],
            findings,
        );
    };
    check("\n  http://host/a\n", "http://host/a", &["Warning R12"]);
    check(
        "\u{A0}http://host/a\u{2000}",
        "http://host/a",
        &["Warning R12"],
    );
    check("http://a.bc/", "http://a.bc/", &[]);
    check("http://a.b/", "http://a.b/", &["Warning R68"]);
    check("http://host/a b", "http://host/a%20b", &["Error R24"]);
    check("http://host/%zz", "http://host/%25zz", &["Error R24"]);
    check("http://host/a\tb", "http://host/a%09b", &["Error R12"]);
    check("http://host/a\nb", "http://host/a%0Ab", &["Error R12"]);
    check("http://host/ü", "http://host/%C3%BC", &["Warning R23"]);
    check("http://host/%FC", "http://host/%FC", &[]);
    check("http://host", "http://host/", &["Note R26"]);
    check("HTTP://HOST:80/#top", "http://host/", &["Note R26"]);
    check(
        "http://host/?a[]=1",
        "http://host/?a%5B%5D=1",
        &["Note R26"],
    );
    check(
        "http://ü.example/",
        "http://xn--tda.example/",
        &["Note R24"],
    );
    check("http://host/it's", "http://host/it's", &["Note R20"]);
    check(
        "http://host/?a=1&b=2",
        "http://host/?a=1&b=2",
        &["Error R3"],
    );
    check(
        "http://host/?a=1&b=2;c",
        "http://host/?a=1&b=2;c",
        &["Error R3"],
    );
    check("http://host/?a=1&", "http://host/?a=1&", &["Error R3"]);
    check(
        "http://host/&eacute;&hellip;",
        "http://host/%C3%A9%E2%80%A6",
        &["Error R22", "Error R22", "Warning R23"],
    );
    check(
        "http://host/?a=1&amp;amp;b=2",
        "http://host/?a=1&amp;b=2",
        &["Warning R20"],
    );
    check(
        "http://host/\u{1}",
        "http://host/%01",
        &["Error R21", "Error R12"],
    );
    check(
        "http://host/&#1;",
        "http://host/%01",
        &["Error R21", "Error R12"],
    );
}

#[test]
fn entry_without_a_usable_url_is_left_out_and_reading_goes_on() {
    let check = |entry: &str, rule: &str, findings: &[&str]| {
        let file = urlset(&format!("{entry}<url><loc>http://host/next</loc></url>"));
        check_reading(
            file,
            &[&format!("- {rule}"), "http://host/next|||"],
            findings,
        );
    };
    check("<url></url>", "R7", &[]);
    check("<url/>", "R7", &[]);
    check("<url><lastmod>2024-05-17</lastmod></url>", "R7", &[]);
    check("<url><loc> </loc></url>", "R7", &[]);
    check("<url><loc>/relative</loc></url>", "R9", &[]);
    check("<url><loc>//host/</loc></url>", "R9", &[]);
    check("<url><loc>ftp://host/</loc></url>", "R9", &[]);
    check("<url><loc>http://u:p@host/</loc></url>", "R9", &[]);
    check("<url><loc>http://host/&own;</loc></url>", "R22", &[]);
    check(
        &format!("<url><loc>http://host/{}</loc></url>", "a".repeat(2_040)),
        "R11",
        &[],
    );
    check(
        &format!(
            "<url><loc>http://host/{}</loc></url>",
            "a".repeat(MAX_VALUE_BYTES)
        ),
        "R1",
        &[],
    );
    check(
        "<sitemap><loc>http://host/s.xml</loc></sitemap>",
        "R36",
        &[],
    );
    let misplaced = urlset("<loc>http://host/a</loc><url><loc>http://host/b</loc></url>");
    check_reading(misplaced, &["http://host/b|||"], &["Error R6"]);
}

#[test]
fn index_has_its_own_rules() {
    let next = "<sitemap><loc>http://host/next</loc></sitemap>";
    check_reading(
        index(&format!("<url><loc>http://host/</loc></url>{next}")),
        &["- R36", "http://host/next|"],
        &[],
    );
    check_reading(
        index(&format!("<sitemap/>{next}")),
        &["- R36", "http://host/next|"],
        &[],
    );
    check_reading(
        index("<sitemap><loc>http://host/s.xml</loc><changefreq>daily</changefreq></sitemap>"),
        &["http://host/s.xml|"],
        &["Error R36"],
    );
    check_reading(
        index("<sitemap><loc>http://host/s.xml</loc><lastmod>yesterday</lastmod></sitemap>"),
        &["http://host/s.xml|"],
        &["Error R42"],
    );
    check_reading(index(""), &[], &["Warning R68"]);
}

#[test]
fn root_says_what_the_file_is() {
    let entry = "<url><loc>http://host/</loc></url>";
    for (namespace, findings) in [
        ("", &["Error R5"][..]),
        (
            "xmlns=\"https://www.sitemaps.org/schemas/sitemap/0.9\"",
            &["Error R5"],
        ),
        (
            "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9/\"",
            &["Error R5"],
        ),
        (
            "xmlns=\"http://www.google.com/schemas/sitemap/0.84\"",
            &["Warning R5"],
        ),
        (
            "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" lang=\"en\"",
            &["Warning R6"],
        ),
    ] {
        check_reading(
            format!("<urlset {namespace}>{entry}</urlset>"),
            &["http://host/|||"],
            findings,
        );
    }
    let located =
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"a b\"";
    check_reading(
        format!("<urlset xmlns=\"{NAMESPACE}\" {located}>{entry}</urlset>"),
        &["http://host/|||"],
        &["Warning R69"],
    );
    check_reading("<html><body/></html>", &["! R4"], &[]);
    check_reading("<!DOCTYPE html><html></html>", &["! R4"], &["Error R1"]);
    check_reading("", &["! R4"], &[]);
    check_reading(" \n ", &["! R4"], &[]);
    check_reading("{\"a\": 1}", &["! R1"], &[]);
    check_reading(
        format!("{}<html></html>", urlset(entry)),
        &["http://host/|||", "! R4"],
        &[],
    );
    check_reading(
        format!(
            "{}{}",
            urlset(entry),
            index("<sitemap><loc>http://host/s.xml</loc></sitemap>")
        ),
        &["http://host/|||", "http://host/s.xml|"],
        &["Warning R1", "Error R4"],
    );
    check_reading(
        format!("{}trailing", urlset(entry)),
        &["http://host/|||", "! R4"],
        &[],
    );
    check_reading(
        format!("{}\n<!-- generated -->\n", urlset(entry)),
        &["http://host/|||"],
        &[],
    );
}

#[test]
fn broken_document_gives_the_entries_before_the_break() {
    let whole = urlset("<url><loc>http://host/a</loc></url><url><loc>http://host/b</loc></url>");
    let check = |file: &str, rule: &str| {
        check_reading(file, &["http://host/a|||", &format!("! {rule}")], &[]);
    };
    let check_cut = |end: &str, items: &[&str]| {
        check_reading(whole.strip_suffix(end).unwrap(), items, &[]);
    };
    let both = &["http://host/a|||", "http://host/b|||", "! R1"][..];
    check_cut("</urlset>", both);
    check_cut("urlset>", both);
    // What a tag follows is whole; a text that the file ends in may go on.
    check_cut("</url></urlset>", both);
    check_cut("c></url></urlset>", both);
    check_cut("/loc></url></urlset>", both);
    check_cut("</loc></url></urlset>", &["http://host/a|||", "! R1"]);
    check_cut(
        "c>http://host/b</loc></url></urlset>",
        &["http://host/a|||", "! R1"],
    );
    check_reading(
        urlset("<url><loc>http://host/a</loc><lastmod>2024-05-1")
            .strip_suffix("</urlset>")
            .unwrap(),
        &["http://host/a|||", "! R1"],
        &[],
    );
    check_reading(
        urlset("<url><loc>http://host/a</loc><x:y><z")
            .strip_suffix("</urlset>")
            .unwrap(),
        &["http://host/a|||", "! R1"],
        &["Error R70", "Note R71"],
    );
    let nested = format!(
        "<url><loc>http://host/a</loc></url>{}",
        "<url><y>".repeat(MAX_DEPTH)
    );
    check_reading(
        urlset(&nested),
        &["http://host/a|||", "! R1"],
        &["Warning R6"],
    );
    let long_comment = format!(
        "<!--{}-->",
        " ".repeat(usize::try_from(MAX_TOKEN_BYTES).unwrap())
    );
    check(
        &whole.replace("</url><url>", &format!("</url>{long_comment}<url>")),
        "R1",
    );
}

#[test]
fn reading_goes_on_behind_an_end_tag_that_does_not_match() {
    let whole = urlset("<url><loc>http://host/a</loc></url><url><loc>http://host/b</loc></url>");
    let check = |from: &str, to: &str, items: &[&str], findings: &[&str]| {
        assert!(whole.contains(from));
        check_reading(whole.replace(from, to), items, findings);
    };
    let both = &["http://host/a|||", "http://host/b|||"][..];
    check(
        "b</loc></url>",
        "b</loc></urls>",
        both,
        &["Error R1", "Error R1"],
    );
    check("a</loc></url>", "a</url>", both, &["Error R1"]);
    check(
        "a</loc></url>",
        "a</LOC></url>",
        both,
        &["Error R1", "Error R1"],
    );
    check("a</loc></url>", "a</loc></url></url>", both, &["Error R1"]);
    check(
        "a</loc></url>",
        "a</loc><lastmod></url>",
        both,
        &["Error R1", "Error R13"],
    );
    check(
        "<url><loc>http://host/b",
        "</url><loc>http://host/b",
        &["http://host/a|||"],
        &["Error R1", "Error R6", "Error R1"],
    );
    check(
        "a</loc></url>",
        "a</loc>",
        both,
        &["Warning R6", "Error R1"],
    );
    check(
        "<url><loc>http://host/a",
        "<url><url><loc>http://host/a",
        both,
        &["Warning R6", "Error R1"],
    );
    // What stands in a namespace of its own stays in it.
    check_reading(
        urlset(
            "<x:y xmlns:x=\"http://host/x\"><x:z></x:y><url><loc>http://host/</loc></url></x:z>",
        ),
        &["http://host/|||"],
        &["Note R70", "Note R71", "Error R1", "Error R1"],
    );
}

#[test]
fn each_loc_is_an_entry() {
    check_reading(
        urlset(
            "<url><loc>http://host/a</loc><lastmod>2024-05-17</lastmod><loc>http://host/b</loc><loc>/c</loc><priority>0.5</priority>\
             <loc>http://host/d</loc><changefreq>daily</changefreq></url><url><loc>http://host/e</loc></url>",
        ),
        &[
            "http://host/a|2024-05-17||",
            "http://host/b|||",
            "- R9",
            "http://host/d||daily|",
            "http://host/e|||",
        ],
        &["Error R7", "Error R7", "Error R7"],
    );
    let file = urlset("<url>\n<loc>http://host/a</loc>\n<loc>http://host/b</loc></url>");
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    let mut lines = Vec::new();
    while let Some(item) = reader.next() {
        assert!(item.is_ok());
        lines.push((reader.entry_position().line, reader.loc_position().line));
    }
    assert_eq!(lines, [(2, 3), (4, 4)]);
    let limits = Limits {
        entries: 1,
        ..Limits::default()
    };
    let error = Reader::new(file.as_bytes(), limits)
        .find_map(Result::err)
        .unwrap();
    assert!(error.is_fatal(), "{error}");
}

#[test]
fn address_that_stands_in_an_entry_as_text_is_taken() {
    check_reading(
        index(
            "<sitemap>\nhttp://host/?a&amp;b\n</sitemap><sitemap>x</sitemap><sitemap><lastmod>2024-05-17</lastmod> http://host/c</sitemap>",
        ),
        &["http://host/?a&b|", "- R36", "http://host/c|2024-05-17"],
        &[
            "Warning R36",
            "Error R36",
            "Warning R36",
            "Warning R36",
            "Error R36",
        ],
    );
    check_reading(
        urlset("<url>http://host/no<loc>http://host/a</loc></url>"),
        &["http://host/a|||"],
        &["Warning R6"],
    );
}

#[test]
fn url_in_an_element_in_a_loc_is_taken() {
    check_reading(
        urlset(
            "<url><loc><url><![CDATA[http://host/a]]></url></loc><lastmod>2024-05-17</lastmod></url>",
        ),
        &["http://host/a|2024-05-17||"],
        &["Warning R6"],
    );
    check_reading(
        urlset("<url><loc>http://host/<b>a</b></loc></url>"),
        &["http://host/|||"],
        &["Warning R6"],
    );
}

#[test]
fn web_page_is_called_one() {
    let check = |page: &str| {
        let error = Reader::new(page.as_bytes(), Limits::default())
            .find_map(Result::err)
            .unwrap();
        assert!(error.is_fatal());
        assert!(
            error
                .to_string()
                .ends_with("file is a web page (HTML), expected a sitemap (R4)"),
            "{error}"
        );
    };
    check("<!DOCTYPE html><html lang=en><head><title>Not found</title>");
    check("<!doctype HTML>\n<meta charset=utf-8><p>Not found");
    check("<!doctype html><h1>Not found</h1>");
    check("<HTML><BODY bgcolor=white>Not found");
    check("\n\n<html xmlns=\"http://www.w3.org/1999/xhtml\"></html>");
}

#[test]
fn declaration_and_encoding_are_looked_at() {
    let file = urlset("<url><loc>http://host/</loc></url>");
    let entry = &["http://host/|||"][..];
    check_reading(format!("\u{FEFF}{file}"), entry, &["Note R2"]);
    check_reading(format!("\n{file}"), entry, &["Warning R1"]);
    check_reading(format!("<!-- x -->{file}"), entry, &["Warning R1"]);
    check_reading(file.replace("UTF-8", "utf-8"), entry, &[]);
    check_reading(file.replace("UTF-8", "ISO-8859-1"), entry, &["Error R2"]);
    check_reading(file.replace("1.0", "1.1"), entry, &["Error R1"]);
    check_reading(
        file.replace("<urlset", "<!DOCTYPE urlset [<!ENTITY a \"b\">]><urlset"),
        entry,
        &["Error R1"],
    );
    check_reading(
        file.replace("<url>", "<!-- a -- b --><url>"),
        entry,
        &["Error R1"],
    );
    check_reading(file.replace("0.9\">", "0.9\" a=1>"), entry, &["Error R1"]);
}

#[test]
fn other_encodings_are_decoded_and_told_of() {
    let file =
        |encoding: &str| urlset("<url><loc>http://host/ü</loc></url>").replace("UTF-8", encoding);
    let entry = &["http://host/%C3%BC|||"][..];
    let latin = |text: &str| -> Vec<u8> {
        text.chars()
            .map(|character| u8::try_from(character).unwrap())
            .collect()
    };
    let utf16 = |text: &str, to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    };
    let told = &["Error R2", "Warning R23"][..];
    check_reading(latin(&file("ISO-8859-1")), entry, told);
    check_reading(latin(&file("windows-1252")), entry, told);
    check_reading(gzip(&latin(&file("ISO-8859-15"))), entry, told);
    for mark in ["", "\u{FEFF}"] {
        let marked = format!("{mark}{}", file("UTF-16"));
        let told = if mark.is_empty() {
            told
        } else {
            &["Note R2", "Error R2", "Warning R23"]
        };
        check_reading(utf16(&marked, u16::to_le_bytes), entry, told);
        check_reading(utf16(&marked, u16::to_be_bytes), entry, told);
        check_reading(gzip(&utf16(&marked, u16::to_le_bytes)), entry, told);
    }
    // What the declaration says cannot be, or nobody knows it.
    check_reading(file("UTF-16"), entry, told);
    check_reading(file("klingon"), entry, told);
    check_reading(b"\xff\xfe\0\0<\0\0\0", &["! R2"], &[]);
}

#[test]
fn malformed_bytes_cost_the_value_they_stand_in() {
    let file = |before: &str, loc: &str, lastmod: &str| {
        let text = urlset(&format!(
            "{before}<url><loc>http://host/{loc}</loc><lastmod>2024-05-17{lastmod}</lastmod></url><url><loc>http://host/b</loc></url>"
        ));
        // It cannot stand in a `String`.
        let mut bytes = text.into_bytes();
        bytes
            .iter_mut()
            .filter(|byte| **byte == b'~')
            .for_each(|byte| *byte = 0xfc);
        bytes
    };
    let rest = "http://host/b|||";
    check_reading(file("", "~", ""), &["- R2", rest], &[]);
    check_reading(file("", "", "~"), &["http://host/|||", rest], &["Error R2"]);
    check_reading(
        file("<!-- ~ -->", "", ""),
        &["http://host/|2024-05-17||", rest],
        &["Error R2"],
    );
    check_reading(
        file("<x:y xmlns:x=\"a\">~</x:y>", "", ""),
        &["http://host/|2024-05-17||", rest],
        &["Note R70", "Note R71", "Error R2"],
    );
}

#[test]
fn positions_are_those_of_the_file_before_it_is_decoded() {
    let text = "\u{FEFF}<?xml version=\"1.0\"?>\r\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\r<url><loc>http://host/ü😀</loc></url>\n<url><loc>/a</loc></url></urlset>";
    let check = |bytes: &[u8], offset: usize| {
        let mut reader = Reader::new(bytes, Limits::default());
        let error = reader.find_map(Result::err).unwrap();
        let ReadError::Entry(finding) = error else {
            panic!("{error}")
        };
        assert_eq!(
            (finding.position.line, finding.position.offset),
            (4, offset as u64)
        );
        assert!(reader.next().is_none());
        assert_eq!(reader.bytes(), bytes.len() as u64);
    };
    let before = &text[..text.find("<loc>/a").unwrap()];
    check(text.as_bytes(), before.len());
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    check(&utf16, before.encode_utf16().count() * 2);
}

#[test]
fn compression_is_known_by_the_first_bytes() {
    let file = urlset("<url><loc>http://host/</loc></url>");
    let entry = &["http://host/|||"][..];
    let compressed = gzip(file.as_bytes());
    check_reading(&compressed, entry, &[]);
    check_reading(gzip(&compressed), entry, &["Warning R29"]);
    check_reading(gzip(&gzip(&compressed)), &["! R29"], &["Warning R29"]);
    let (first, second) = file.as_bytes().split_at(50);
    check_reading([gzip(first), gzip(b""), gzip(second)].concat(), entry, &[]);
    check_reading(
        [&compressed[..], b"garbage"].concat(),
        entry,
        &["Warning R29"],
    );
    check_reading(
        [&compressed[..], &[0; 512]].concat(),
        entry,
        &["Warning R29"],
    );
    check_reading([&compressed[..60], b"garbage"].concat(), &["! R29"], &[]);
    check_reading(
        &compressed[..compressed.len() - 9],
        &["http://host/|||", "! R29"],
        &[],
    );
    check_reading(&compressed[..20], &["! R29"], &[]);
    check_reading(
        [&compressed[..], &gzip(b"").repeat(2_000)].concat(),
        &["http://host/|||", "! R29"],
        &[],
    );
    check_reading(b"PK\x03\x04rest", &["! R29"], &[]);
}

#[test]
fn compression_that_comes_to_nothing_has_an_end() {
    // Stored blocks without content (RFC 1951 section 3.2.4), in a member that decompresses to ever more of them.
    let mut endless = gzip(b"")[..10].to_vec();
    endless.extend(b"\x00\x00\x00\xff\xff".repeat(1_000_000));
    let limits = Limits {
        entries: 1,
        bytes: 100_000,
    };
    let file = gzip(&endless);
    let error = Reader::new(&file[..], limits).next().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("more than 100000 bytes"),
        "{error}"
    );
}

#[test]
fn small_reads_change_nothing() {
    let file = urlset(
        "<url><loc>http://host/?a&amp;b</loc><lastmod>2024-05-17</lastmod></url>\n<url><loc>http://host/ü</loc></url>",
    );
    for file in [
        file.clone().into_bytes(),
        gzip(file.as_bytes()),
        format!("\u{FEFF}{file}").into_bytes(),
    ] {
        for capacity in 1..8 {
            let whole: Vec<_> = Reader::new(&file[..], Limits::default())
                .map(Result::unwrap)
                .collect();
            let small = BufReader::with_capacity(capacity, &file[..]);
            let pieces: Vec<_> = Reader::new(small, Limits::default())
                .map(Result::unwrap)
                .collect();
            assert_eq!(pieces, whole);
        }
    }
}

#[test]
fn findings_say_where() {
    let file = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url>\n <loc>http://host/</loc>\n <lastmod>x</lastmod></url></urlset>";
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert!(matches!(reader.next(), Some(Ok(Item::Url(_)))));
    assert_eq!(
        (reader.entry_position().line, reader.entry_position().offset),
        (2, 61)
    );
    let finding = &reader.findings()[0];
    let offset = file.find("<lastmod").unwrap() as u64;
    assert_eq!(
        (finding.position.line, finding.position.offset),
        (4, offset)
    );
    assert_eq!(
        finding.to_string(),
        "line 4, byte 93: not a W3C date-time, expected YYYY-MM-DD or YYYY-MM-DDThh:mm:ss and a zone (R13)"
    );
    assert_eq!(reader.kind(), Some(Kind::UrlSet));
    assert!(reader.next().is_none());
    assert_eq!((reader.entries(), reader.bytes()), (1, file.len() as u64));
}

#[test]
fn character_that_xml_forbids_is_told_once() {
    check_reading(
        urlset("<url><loc>http://host/&#xFFFE;</loc></url>"),
        &["http://host/%EF%BF%BE|||"],
        &["Error R21", "Warning R23"],
    );
}

#[test]
fn item_without_a_link_is_told_in_words_of_feeds() {
    let feed = "<rss version='2.0'><channel><item><title>x</title></item></channel></rss>";
    let mut reader = Reader::new(feed.as_bytes(), Limits::default());
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, byte 28: item has no <link> (R46)"
    );
}

#[test]
fn findings_are_kept_up_to_a_bound() {
    let file = urlset(&"<url><loc>http://host</loc></url>".repeat(MAX_FINDINGS + 5));
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert_eq!(reader.by_ref().count(), MAX_FINDINGS + 5);
    assert_eq!(
        (reader.findings().len(), reader.findings_not_kept()),
        (MAX_FINDINGS, 5)
    );
}

fn loc(text: &str) -> Loc {
    Loc::parse(text).unwrap()
}

/// Checks a file that stands at the root of `http://host`.
fn checked(file: &[u8], kind: Kind) -> Result<crate::FileSummary, CheckError> {
    check(
        file,
        &Expectation::new(kind, &loc("http://host/sitemap.xml")),
    )
}

#[test]
fn anything_the_reader_would_report_fails_the_check() {
    let refused = |file: String, rule: u8| {
        let error = checked(file.as_bytes(), Kind::UrlSet).unwrap_err();
        assert!(
            matches!(&error, CheckError::Finding(finding) if finding.rule() == Rule(rule)),
            "{file}: {error}"
        );
    };
    let entry = |content: &str| urlset(&format!("<url><loc>http://host/</loc>{content}</url>"));
    assert!(checked(entry("").as_bytes(), Kind::UrlSet).is_ok());
    refused(entry("<lastmod>2024</lastmod>"), 13);
    refused(entry("<lastmod>2024-05-17T00:00:00</lastmod>"), 13);
    refused(entry("<changefreq>Daily</changefreq>"), 16);
    refused(entry("<priority>1.1</priority>"), 18);
    refused(entry("<title/>"), 6);
    refused(entry("").replace("http://host/", "http://host"), 26);
    refused(entry("").replace("http://host/", "http://host/a b"), 24);
    refused(entry("").replace("http://host/", "http://host/ü"), 23);
    refused(entry("").replace("http://host/", "/a"), 9);
    refused(
        entry("").replace(NAMESPACE, "http://www.sitemaps.org/schemas/sitemap/0.9/"),
        5,
    );
    refused(entry("").replace("<urlset", "<!DOCTYPE urlset><urlset"), 1);
    refused(entry("").replace("<loc>", "<loc a=\"b\">"), 6);
    refused(entry("").replace("</urlset>", ""), 1);
    refused(urlset(""), 68);
    refused("<html/>".to_owned(), 4);
}

#[test]
fn elements_of_no_namespace_or_a_misspelled_one_are_read_and_told_once() {
    let check = |root: &str, prefix: &str, declaration: &str, findings: &[&str]| {
        let entry = |path: &str| {
            format!(
                "<{prefix}url{declaration}><{prefix}loc>http://host/{path}</{prefix}loc></{prefix}url>"
            )
        };
        let name = root.split(' ').next().unwrap();
        let file = format!("<{root}>{}{}</{name}>", entry("a"), entry("b"));
        check_reading(file, &["http://host/a|||", "http://host/b|||"], findings);
    };
    let right = format!("urlset xmlns=\"{NAMESPACE}\"");
    let prefixed = format!("s:urlset xmlns:s=\"{NAMESPACE}\"");
    // What .NET writes for children that were made without the namespace.
    check(&right, "", " xmlns=\"\"", &["Note R70", "Error R5"]);
    check(&prefixed, "", "", &["Error R5"]);
    let https = format!(" xmlns=\"{}\"", NAMESPACE.replace("http:", "https:"));
    check(&right, "", &https, &["Note R70", "Error R5"]);
    check("s:urlset", "s:", "", &["Error R5", "Error R70"]);
    check("s:urlset", "", "", &["Error R5"]);
    // Something else stays something else.
    check_reading(
        urlset("<x:url xmlns:x=\"http://example.com/\"><x:loc>http://host/</x:loc></x:url>"),
        &[],
        &["Note R70", "Note R71", "Warning R68"],
    );
}

#[test]
fn broken_tag_in_a_url_costs_the_entry_and_not_the_end_of_the_url() {
    check_reading(
        urlset(
            "<url><loc>http://host/a?x<y</loc></url><url><loc>http://host/?<3</loc></url><url><loc>http://host/b</loc></url>",
        ),
        &["- R1", "- R1", "http://host/b|||"],
        &[
            "Error R1",
            "Warning R6",
            "Error R1",
            "Error R1",
            "Warning R6",
            "Error R1",
        ],
    );
}

#[test]
fn url_that_only_looks_wrong_passes_the_check_in_every_format() {
    let entry = UrlEntry::new(loc("http://host/?a=1&amp;b=2,2024-05-17,0.5"))
        .with_lastmod(LastMod::parse("2024-05-17").unwrap());
    let info = FeedInfo::new(
        "Host",
        loc("http://host/"),
        loc("http://host/f"),
        jiff::Timestamp::UNIX_EPOCH,
    );
    let mut urlset = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut text = TextWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut rss = RssWriter::new(Vec::new(), Limits::default(), &info).unwrap();
    let mut atom = AtomWriter::new(Vec::new(), Limits::default(), &info).unwrap();
    assert_eq!(urlset.push(&entry).unwrap(), Push::Written);
    assert_eq!(text.push(&entry).unwrap(), Push::Written);
    assert_eq!(rss.push(&entry, None).unwrap(), Push::Written);
    assert_eq!(atom.push(&entry, None).unwrap(), Push::Written);
    for (kind, (file, summary)) in [
        (Kind::UrlSet, urlset.finish().unwrap()),
        (Kind::Text, text.finish().unwrap()),
        (Kind::Rss, rss.finish().unwrap()),
        (Kind::Atom, atom.finish().unwrap()),
    ] {
        assert_eq!(checked(&file, kind).unwrap(), summary, "{kind}");
    }
}

#[test]
fn check_compares_with_what_is_expected() {
    let file = urlset(
        "<url><loc>http://host/b</loc></url><url><loc>http://host/a</loc></url><url><loc>http://host/b</loc></url>",
    );
    let place = loc("http://host/sitemap.xml");
    let expectation = Expectation::new(Kind::UrlSet, &place);
    let summary = check(file.as_bytes(), &expectation).unwrap();
    assert_eq!((summary.entries, summary.bytes), (3, file.len() as u64));

    let refused = |file: &str, expectation: &Expectation<'_>, expected: &str| {
        let error = check(file.as_bytes(), expectation).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let other_kind = Expectation {
        kind: Kind::Index,
        ..expectation.clone()
    };
    refused(
        &file,
        &other_kind,
        "file is a <urlset>, expected a <sitemapindex>",
    );
    let more = Expectation {
        entries: Some(4),
        ..expectation.clone()
    };
    refused(&file, &more, "file has 3 entries, expected 4");
    let ascending = Expectation {
        order: Order::Ascending,
        ..expectation.clone()
    };
    refused(
        &file,
        &ascending,
        "line 2, byte 134: http://host/a stands behind http://host/b, expected ascending URLs",
    );
    let twice = file.replace("http://host/a", "http://host/b");
    refused(
        &twice,
        &expectation,
        "line 2, byte 134: http://host/b is listed twice (R26)",
    );
    let fewer = Limits {
        entries: 2,
        ..Limits::default()
    };
    let fewer = Expectation {
        limits: fewer,
        ..expectation.clone()
    };
    refused(
        &file,
        &fewer,
        "line 2, byte 169: file has more than 2 entries (R27)",
    );
    let place = loc("http://host/c/sitemap.xml");
    let elsewhere = Expectation {
        location: &place,
        ..expectation
    };
    refused(
        &file,
        &elsewhere,
        "line 2, byte 99: http://host/b is outside of http://host/c/, the directory of the sitemap (R58)",
    );
}

#[test]
fn index_lists_files_of_its_directory_and_not_itself() {
    let check_child = |place: &str, child: &str, expected: bool| {
        let file = index(&format!("<sitemap><loc>{child}</loc></sitemap>"));
        let place = loc(place);
        let result = check(file.as_bytes(), &Expectation::new(Kind::Index, &place));
        assert_eq!(result.is_ok(), expected, "{child} in {place}: {result:?}");
    };
    check_child("http://host/a/sitemap.xml", "http://host/a/s.xml", true);
    check_child("http://host/a/sitemap.xml", "http://host/a/b/s.xml", true);
    check_child("http://host/a/sitemap.xml", "http://host/s.xml", false);
    check_child("http://host/a/sitemap.xml", "http://host/b/s.xml", false);
    check_child("http://host/a/sitemap.xml", "https://host/a/s.xml", false);
    check_child(
        "http://host/a/sitemap.xml",
        "http://host/a/sitemap.xml",
        false,
    );
}

#[test]
fn limits_are_those_of_the_file_to_the_last_entry_and_byte() {
    let entries = |count: usize| urlset(&"<url><loc>http://host/</loc></url>\n".repeat(count));
    let count = |file: &[u8]| Reader::new(file, Limits::default()).flatten().count();
    let last = |file: &[u8]| {
        let item = Reader::new(file, Limits::default()).last().unwrap();
        item.map_err(|error| error.to_string())
    };
    let (allowed, too_many) = (entries(50_000), entries(50_001));
    assert_eq!(count(allowed.as_bytes()), 50_000);
    assert!(last(allowed.as_bytes()).is_ok());
    assert_eq!(count(too_many.as_bytes()), 50_000);
    let error = last(too_many.as_bytes()).unwrap_err();
    assert!(
        error.ends_with("file has more than 50000 entries (R27)"),
        "{error}"
    );

    // Comments fill the file up to the limit, in pieces that are no longer than a token may be.
    let max_bytes = usize::try_from(MAX_BYTES).unwrap();
    let filler = format!("<!--{}-->", " ".repeat(200_000));
    let mut full = format!("<urlset xmlns=\"{NAMESPACE}\"><url><loc>http://host/</loc></url>");
    while full.len() + filler.len() + 20 < max_bytes {
        full.push_str(&filler);
    }
    full.push_str(&" ".repeat(max_bytes - full.len() - "</urlset>".len()));
    full.push_str("</urlset>");
    assert_eq!(
        checked(full.as_bytes(), Kind::UrlSet).unwrap().bytes,
        52_428_800
    );
    assert_eq!(
        checked(&gzip(full.as_bytes()), Kind::UrlSet).unwrap().bytes,
        52_428_800
    );
    full.push('\n');
    for file in [full.as_bytes(), &gzip(full.as_bytes())] {
        let error = checked(file, Kind::UrlSet).unwrap_err().to_string();
        assert!(
            error.ends_with("file has more than 52428800 bytes uncompressed (R28)"),
            "{error}"
        );
    }
}

#[test]
fn failing_input_is_no_fault_of_the_file() {
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::ConnectionReset, "reset"))
        }
    }
    for start in [&b"<urlset>"[..], b"", &gzip(b"<urlset>")[..15]] {
        let input = BufReader::new(io::Read::chain(start, Failing));
        let mut reader = Reader::new(input, Limits::default());
        let error = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(&error, ReadError::Io(error) if error.kind() == io::ErrorKind::ConnectionReset),
            "{error:?}"
        );
        assert!(error.is_fatal() && reader.next().is_none());
    }
}

fn any_entry() -> impl Strategy<Value = UrlEntry> {
    let lastmod = prop::sample::select(vec![
        "2024-02-29",
        "2024-05-17T09:30:00.45+02:00",
        "0001-01-01T00:00:00Z",
    ]);
    let changefreq = prop::sample::select(&ChangeFreq::ALL[..]);
    let fields = (
        any::<String>(),
        prop::option::of(lastmod),
        prop::option::of(changefreq),
        prop::option::of(0..=10_u8),
    );
    fields.prop_filter_map(
        "a URL that is too long",
        |(path, lastmod, changefreq, tenths)| {
            let mut entry =
                UrlEntry::new(Loc::parse(&format!("http://host/{}", path.trim())).ok()?);
            entry.lastmod = lastmod.map(|text| LastMod::parse(text).unwrap());
            entry.changefreq = changefreq;
            entry.priority = tenths.map(|tenths| Priority::from_tenths(tenths).unwrap());
            Some(entry)
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_passes_the_check(mut entries in prop::collection::vec(any_entry(), 1..20), compress: bool) {
        entries.sort_by(|first, second| first.loc.cmp(&second.loc));
        entries.dedup_by(|first, second| first.loc == second.loc);
        let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
        for entry in &entries {
            prop_assert_eq!(writer.push(entry).unwrap(), Push::Written);
        }
        let (file, written) = writer.finish().unwrap();
        let file = if compress { gzip(&file) } else { file };
        let mut reader = Reader::new(&file[..], Limits::default());
        let read: Vec<Item> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert_eq!(read, entries.into_iter().map(Item::Url).collect::<Vec<_>>());
        let place = loc("http://host/sitemap.xml");
        let mut expectation = Expectation::new(Kind::UrlSet, &place);
        expectation.entries = Some(written.entries);
        expectation.order = Order::Ascending;
        prop_assert_eq!(check(&file[..], &expectation).unwrap(), written);
    }

    #[test]
    fn extensions_are_read_as_they_were_written(entries in prop::collection::vec(arbitrary::any_entry(), 1..5), located: bool) {
        let namespaces = arbitrary::all_namespaces();
        let schema_location = if located { SchemaLocation::Written } else { SchemaLocation::Omitted };
        let options = UrlSetOptions::default().with_namespaces(namespaces.clone()).with_schema_location(schema_location);
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
        let mut locs = Vec::new();
        for (number, mut entry) in entries.into_iter().enumerate() {
            entry.loc = loc(&format!("https://www.example.com/page{number}"));
            prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
            locs.push(entry);
        }
        let (file, written) = writer.finish().unwrap();
        let mut reader = Reader::new(&file[..], Limits::default()).with_own_namespaces(namespaces.own());
        let read: Vec<Item> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert_eq!(reader.findings(), &[]);
        prop_assert_eq!(read, locs.into_iter().map(Item::Url).collect::<Vec<_>>());
        let place = loc("https://www.example.com/sitemap.xml");
        let mut expectation = Expectation::new(Kind::UrlSet, &place);
        expectation.own_namespaces = namespaces.own();
        prop_assert_eq!(check(&file[..], &expectation).unwrap(), written);
    }

    #[test]
    fn index_is_read_as_it_was_written(names in prop::collection::btree_set("[a-z&']{1,8}", 1..20)) {
        let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
        let lastmod = LastMod::parse("2026-03-02T04:00:11Z").unwrap();
        let mut entries = Vec::new();
        for name in &names {
            let entry = IndexEntry::new(loc(&format!("http://host/{name}"))).with_lastmod(lastmod.clone());
            prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
            entries.push(Item::Sitemap(entry));
        }
        let (file, written) = writer.finish().unwrap();
        let read: Vec<Item> = Reader::new(&file[..], Limits::default()).map(Result::unwrap).collect();
        prop_assert_eq!(read, entries);
        prop_assert_eq!(checked(&file, Kind::Index).unwrap(), written);
    }

    #[test]
    fn any_bytes_come_to_an_end(
        bytes in any::<Vec<u8>>(),
        markup in "(<|>|/|!|--|\\[|\\]|\\?|&|;|url|loc|urlset|lastmod|\"|=| |a|DOCTYPE|CDATA|xmlns){0,40}",
    ) {
        let files = [
            gzip(&bytes),
            urlset(&markup).into_bytes(),
            urlset(&format!("<url><loc>{markup}</loc></url>")).into_bytes(),
            markup.into_bytes(),
            bytes,
        ];
        for file in files {
            let _ = reading(&file);
            let _ = checked(&file, Kind::UrlSet);
        }
    }

    #[test]
    fn damaged_file_comes_to_an_end(position: prop::sample::Index, byte: u8, compress: bool) {
        let file = urlset(
            "<url><loc>http://host/?a&amp;b</loc><lastmod>2024-05-17</lastmod></url><url><loc><![CDATA[http://host/]]></loc></url><!-- x -->",
        );
        let mut file = if compress { gzip(file.as_bytes()) } else { file.into_bytes() };
        let position = position.index(file.len());
        let _ = reading(&file[..position]);
        file[position] = byte;
        let _ = reading(&file);
    }
}
