//! References to entities and raw characters: those that are read, those that cost a value, and the position of each finding.

use super::{check_reading, reading, urlset};
use crate::{Limits, read::Reader};

#[test]
fn name_between_ampersand_and_semicolon_is_an_entity_or_an_ampersand() {
    let check = |between: &str, is_entity: bool| {
        let file = urlset(&format!("<url><loc>http://host/?a&{between};</loc></url>"));
        let url = format!("http://host/?a&{between};|||");
        if is_entity {
            check_reading(file, &["- R22"], &[]);
        } else {
            check_reading(file, &[&url], &["Error R3"]);
        }
    };
    check("own", true);
    check("_own", true);
    check("o-w.n_1", true);
    check("o:n", true);
    check("a=1", false);
    check("1a", false);
    check("-a", false);
    check("a/b", false);
    check("a+b", false);
}

#[test]
fn undefined_entity_costs_a_value_or_is_reported_outside_of_one() {
    let entry = "<url><loc>http://host/</loc></url>";
    let url = &["http://host/|||"][..];
    check_reading(urlset(&format!("&own;{entry}")), url, &["Error R22"]);
    check_reading(
        urlset("<url>&own;<loc>http://host/</loc></url>"),
        url,
        &["Error R22"],
    );
    check_reading(
        urlset("<url><loc>http://host/<b>&own;</b></loc></url>"),
        url,
        &["Warning R6", "Error R22"],
    );
    let with_image = |content: &str| {
        let content =
            format!("<url><loc>http://host/</loc><image:image>{content}</image:image></url>");
        let image = "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
        urlset(&content).replace("<urlset ", &format!("<urlset {image} "))
    };
    for content in [
        "&own;<image:loc>http://host/i</image:loc>",
        "<image:loc>http://host/i</image:loc>&own;",
    ] {
        check_reading(with_image(content), url, &["Error R22"]);
    }
    check_reading(
        with_image("<image:loc>http://host/i<b>&own;</b></image:loc>"),
        url,
        &["Warning R6", "Error R22"],
    );
    let rss = |content: &str| format!("<rss version='2.0'><channel>{content}</channel></rss>");
    let item = "<item><link>http://host/</link></item>";
    check_reading(rss(&format!("&own;{item}")), url, &["Error R22"]);
    check_reading(
        rss("<item><title>&own;</title><link>http://host/</link></item>"),
        url,
        &["Error R22"],
    );
    check_reading(
        rss("<item><link>http://host/<b>&own;</b></link></item>"),
        url,
        &["Error R22"],
    );
    check_reading(
        rss("<item><link>http://host/&own;</link></item>"),
        &["- R22"],
        &[],
    );
}

#[test]
fn raw_character_is_reported_once_with_what_to_write() {
    let check = |character: char, entity: &str| {
        let loc = format!("http://host/?{character}{character}");
        let file = urlset(&format!("<url><loc>{loc}</loc></url>"));
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert!(reader.by_ref().all(|item| item.is_ok()));
        let findings: Vec<String> = reader.findings().iter().map(ToString::to_string).collect();
        let about = findings
            .iter()
            .filter(|findings| findings.contains(entity))
            .count();
        assert_eq!(about, 1, "{entity}: {findings:?}");
    };
    check('"', "&quot;");
    check('\'', "&apos;");
    check('>', "&gt;");
}

#[test]
fn raw_character_matters_in_values_only() {
    let entry = "<url><loc>http://host/</loc></url>";
    let url = &["http://host/|||"][..];
    check_reading(urlset(&format!("it's{entry}")), url, &["Warning R6"]);
    check_reading(
        urlset("<url>it's<loc>http://host/</loc></url>"),
        url,
        &["Warning R6"],
    );
    check_reading(
        urlset("<url><loc>http://host/<b>it's</b></loc></url>"),
        url,
        &["Warning R6"],
    );
    let item = "http://host/'|||";
    check_reading(
        urlset(&entry.replace("host/", "host/'").repeat(2)),
        &[item, item],
        &["Note R20"],
    );
}

#[test]
fn end_of_a_section_in_text_is_reported() {
    let (items, findings) = reading(urlset("<url><loc>http://host/]]></loc></url>").as_bytes());
    assert_eq!(items, ["http://host/%5D%5D%3E|||"]);
    assert!(findings.contains(&"Error R1".to_owned()), "{findings:?}");
    let (_, findings) = reading(urlset("<url><loc>http://host/]]</loc></url>").as_bytes());
    assert!(!findings.contains(&"Error R1".to_owned()), "{findings:?}");
}
