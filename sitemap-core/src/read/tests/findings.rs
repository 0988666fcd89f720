//! Positions, words and number of findings.

use super::{extended_urlset, urlset};
use crate::{
    Limits,
    read::{Item, Kind, MAX_FINDINGS, ReadFinding, Reader},
};

#[test]
fn findings_have_a_position() {
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
fn findings_are_kept_up_to_a_bound() {
    let file = urlset(&"<url><loc>http://host</loc></url>".repeat(MAX_FINDINGS + 5));
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert_eq!(reader.by_ref().count(), MAX_FINDINGS + 5);
    assert_eq!(
        (reader.findings().len(), reader.findings_not_kept()),
        (MAX_FINDINGS, 5)
    );
}

#[test]
fn finding_shows_whether_a_value_was_left_out() {
    let check = |content: &str, expected: bool| {
        let content = format!("<url><loc>http://host/a</loc>{content}</url>");
        let file = extended_urlset("", &content);
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert!(matches!(reader.next(), Some(Ok(Item::Url(_)))));
        let findings = reader.findings().iter();
        let costs: Vec<bool> = findings.map(ReadFinding::costs_value).collect();
        assert_eq!(costs.contains(&true), expected, "{:?}", reader.findings());
        assert!(!costs.is_empty(), "{file}");
    };
    let video = |title: &str, rest: &str| {
        format!(
            "<video:video><video:thumbnail_loc>http://cdn/t</video:thumbnail_loc><video:title>{title}</video:title>\
             <video:description>D</video:description><video:content_loc>http://cdn/v</video:content_loc>{rest}</video:video>"
        )
    };
    let image = |loc: &str| format!("<image:image><image:loc>{loc}</image:loc></image:image>");
    // Warnings too.
    check(&video(&"a".repeat(101), ""), true);
    check(&image("http://me@cdn/a"), true);
    check(&image("a"), true);
    check("<image:image/>", true);
    check(&video("T", "<video:duration>0</video:duration>"), true);
    check("<lastmod>2026</lastmod>", true);
    // Errors that are passed over, and elements that are ignored.
    let expiration = "<video:expiration_date>2026-01-01T00:00:00</video:expiration_date>";
    check(&video("T", expiration), false);
    check(&video("T", "<video:id>x</video:id>"), false);
    check(&video("T", "<video:tvshow/>"), false);
    check(&image(" http://cdn/a "), false);
    check("<lastmod>2026-01-01T00:00:00</lastmod>", false);
}
