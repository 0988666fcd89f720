//! Single documents: the finding that each has in its line, or the rule of which it has none.

use std::io::Write as _;

use super::*;
use crate::{GzipWriter, extension::Extension};

/// Findings of a document, with those at its end.
fn found(document: &[u8]) -> Vec<String> {
    let mut validator = validator();
    let mut found = Vec::new();
    let mut sink = |finding: Finding| found.push(short(&finding));
    validator
        .check(document, &Facts::new("x"), &mut sink)
        .unwrap();
    validator.finish(&mut sink);
    found
}

/// Checks documents with these contents: each has the `expected` finding, as in `error R9:3`, or none of a rule, as in `no R9`.
#[track_caller]
fn check_each(expected: &str, contents: &[&str], document: impl Fn(&str) -> String) {
    for content in contents {
        let found = found(document(content).as_bytes());
        let rule_of = |found: &str| found.split([' ', ':']).nth(1).map(str::to_owned);
        let is_right = match expected.strip_prefix("no ") {
            Some(rule) => found
                .iter()
                .all(|found| rule_of(found).as_deref() != Some(rule)),
            None => found.iter().any(|found| found == expected),
        };
        assert!(is_right, "{expected}: {content}: {found:?}");
    }
}

/// A urlset with one entry, in line 3.
fn page(elements: &str) -> String {
    urlset(&format!("<url><loc>https://h.ex/a</loc>{elements}</url>"))
}

/// A urlset with two entries, in lines 3 and 4.
fn two(one: &str, other: &str) -> String {
    urlset(&format!(
        "<url><loc>{one}</loc></url>\n<url><loc>{other}</loc></url>"
    ))
}

#[test]
fn url_of_an_entry_is_judged() {
    let with_url = |url: &str| urlset(&format!("<url><loc>{url}</loc></url>"));
    let with_path = |path: &str| with_url(&format!("https://h.ex/{path}"));
    let relative = ["/a", "//h.ex/a", "ftp://h.ex/a", "https:///a", "h.ex/a"];
    check_each("error R9:3", &relative, with_url);
    check_each("warning R9:3", &["https://me:you@h.ex/a"], with_url);
    let long = |characters: usize| "a".repeat(characters - "https://h.ex/".len());
    check_each("error R11:3", &[&long(2_049)], with_path);
    check_each("warning R11:3", &[&long(2_048)], with_path);
    check_each("no R11", &[&long(2_047)], with_path);
    let forbidden = [
        "a b", "a%zz", "a{b}", "a|b", "a^b", "a`b", "a\\b", "a\"b", "100%",
    ];
    check_each("error R24:3", &forbidden, with_path);
    check_each("note R24:3", &["https://bücher.example/"], with_url);
    let entity_first = ["?a=1%26amp;b", "?a=1%26amp%3Bb", "?it%26apos%3bs"];
    check_each("warning R25:3", &entity_first, with_path);
    check_each("no R25", &["?a=1%26amplitude"], with_path);
    check_each("note R26:3", &["https://h.ex:443/a"], with_url);
    check_each("note R26:3", &["%61"], with_path);
    // A needed escape is in normal form in either case of its letters.
    check_each("no R26", &["%fc", "%FC"], with_path);
}

#[test]
fn markup_is_judged_by_its_kind() {
    // The lenient reading passes over this one with a warning.
    let late = format!("\n{}", page(""));
    check_each("error R1:2", &[&late], str::to_owned);
    // An error decides, after any number of warnings.
    let flood = format!("{}<y>&nbsp;</y>", "<x/>".repeat(2_000));
    check_each("error R22:3", &[&flood], urlset);
    let in_index = |content: &str| {
        index(&[]).replace("</sitemapindex>", &format!("{content}\n</sitemapindex>"))
    };
    let listed = "<loc>https://h.ex/a.xml</loc>";
    let wrong = format!("<sitemap>{listed}<changefreq>daily</changefreq></sitemap>");
    let wrong = [listed, "<sitemap/>", &wrong];
    check_each("error R36:3", &wrong, in_index);
    let late = format!("<sitemap><lastmod>2024-05-17</lastmod>{listed}</sitemap>");
    check_each("warning R36:3", &[&late], in_index);
    let right = format!("<sitemap>{listed}<lastmod>2024-05-17</lastmod></sitemap>");
    check_each("no R36", &[&right], in_index);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzipWriter::new(Vec::new());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn compression_is_judged_by_the_kind() {
    for (text, expected) in [
        (page(""), "warning R29:1"),
        (index(&["https://h.ex/a.xml"]), "warning R33:1"),
        ("https://h.ex/a\n".to_owned(), "warning R56:1"),
    ] {
        let once = gzip(text.as_bytes());
        assert_eq!(found(&once), [""; 0], "{expected}");
        assert_eq!(found(&gzip(&once)), [expected]);
    }
    // Damage is reported after all that can be read.
    let mut damaged = gzip(page("").as_bytes());
    *damaged.last_mut().unwrap() ^= 1;
    let found = found(&damaged);
    assert!(found.contains(&"error R29:4".to_owned()), "{found:?}");
}

#[test]
fn url_is_listed_once_in_any_spelling() {
    let check = |one: &str, other: &str, is_repeated: bool| {
        let found = found(two(one, other).as_bytes());
        let has_finding = found.contains(&"warning R26:4".to_owned());
        assert_eq!(has_finding, is_repeated, "{one} {other}: {found:?}");
    };
    check("https://h.ex/a", "https://h.ex/a", true);
    check("https://h.ex/a", "https://h.ex/%61", true);
    check("https://h.ex/a?%7Eb", "https://h.ex/a?~b", true);
    check("https://h.ex/%fc", "https://h.ex/%FC", true);
    check("https://h.ex/a", "HTTPS://H.ex:443/a", true);
    // A different URL for a server is a different one here.
    check("https://h.ex/a", "https://h.ex/A", false);
    check("https://h.ex/a%2Fb", "https://h.ex/a/b", false);
}

#[test]
fn page_is_no_image_of_its_own() {
    let extended = |content: &str| {
        let known = Extension::ALL
            .map(|known| format!("xmlns:{}=\"{}\" ", known.prefix(), known.namespace()))
            .concat();
        page(content).replacen("<urlset ", &format!("<urlset {known}"), 1)
    };
    let image = |url: &str| format!("<image:image><image:loc>{url}</image:loc></image:image>");
    let video = |thumbnail: &str| {
        format!(
            "<video:video><video:thumbnail_loc>{thumbnail}</video:thumbnail_loc><video:title>T</video:title>\
             <video:description>D</video:description><video:content_loc>https://h.ex/v.mp4</video:content_loc></video:video>"
        )
    };
    let (page, picture) = ("https://h.ex/a", "https://h.ex/a.jpg");
    check_each("error R71:3", &[&video(page)], extended);
    check_each("warning R71:3", &[&image(page)], extended);
    check_each("no R71", &[&image(picture), &video(picture)], extended);
}
