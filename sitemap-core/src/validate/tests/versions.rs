//! Versions of pages for other languages (R71): each links back, each is listed, and a page is one of its own.

use super::*;

/// A urlset with an entry in each line, from the third on: a page and its versions, each by the last part of its address.
fn pages(pages: &[(&str, &[&str])]) -> String {
    let entries = pages.iter().map(|(page, versions)| {
        let links = versions.iter().map(|version| {
            format!(
                "<xhtml:link rel=\"alternate\" hreflang=\"{version}\" href=\"https://h.ex/{version}\"/>"
            )
        });
        let links = links.collect::<String>();
        format!("<url><loc>https://h.ex/{page}</loc>{links}</url>\n")
    });
    let entries = entries.collect::<String>();
    urlset(entries.trim_end()).replace(
        "<urlset ",
        "<urlset xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" ",
    )
}

/// Findings of documents, each finding as `document:line page: message`.
#[track_caller]
fn check_pages(documents: &[&[(&str, &[&str])]], expected: &[&str]) {
    let mut validator = validator();
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| {
        assert_eq!(finding.rule.0, 71, "{finding:?}");
        findings.push(format!(
            "{}:{} {}: {}",
            finding.document.unwrap().index(),
            finding.position.unwrap().line,
            finding.url.unwrap(),
            finding.message
        ));
    };
    for document in documents {
        check_alone(&mut validator, &pages(document), &mut sink);
    }
    validator.finish(&mut sink);
    assert_eq!(findings, expected);
}

#[test]
fn versions_that_list_each_other_are_fine() {
    let all = &["en", "de", "fr"][..];
    check_pages(&[&[("en", all), ("de", all), ("fr", all)]], &[]);
    check_pages(&[&[("en", all)], &[("fr", all), ("de", all)]], &[]);
    check_pages(&[&[("en", &["en"]), ("plain", &[])]], &[]);
}

#[test]
fn version_without_a_link_back_is_reported() {
    check_pages(
        &[&[("en", &["en", "de"]), ("de", &["de"])]],
        &["0:3 https://h.ex/en: version https://h.ex/de does not link back"],
    );
    // It is listed, without any version.
    check_pages(
        &[&[("de", &[]), ("en", &["en", "de"])]],
        &["0:4 https://h.ex/en: version https://h.ex/de does not link back"],
    );
    // In the order of the pages, with any order of the links.
    let (three, two) = (&["da", "es", "fr"][..], &["fr", "es"][..]);
    check_pages(
        &[&[("es", two)], &[("fr", two), ("da", three)]],
        &[
            "1:4 https://h.ex/da: version https://h.ex/es does not link back",
            "1:4 https://h.ex/da: version https://h.ex/fr does not link back",
        ],
    );
    check_pages(
        &[&[("fr", three), ("da", &["da"]), ("es", three)]],
        &[
            "0:3 https://h.ex/fr: version https://h.ex/da does not link back",
            "0:5 https://h.ex/es: version https://h.ex/da does not link back",
        ],
    );
    // Once, however often the page is listed.
    let page = &[("en", &["en", "de"][..])][..];
    check_pages(
        &[page, page, &[("de", &["de"])]],
        &["0:3 https://h.ex/en: version https://h.ex/de does not link back"],
    );
}

#[test]
fn version_without_an_entry_is_a_note() {
    check_pages(
        &[&[("en", &["en", "de"])]],
        &["0:3 https://h.ex/en: version https://h.ex/de is not an entry of the checked sitemaps"],
    );
    let mut severities = Vec::new();
    let mut validator = validator();
    let text = pages(&[("en", &["en", "de", "fr"]), ("fr", &["fr"])]);
    let mut sink = |finding: Finding| severities.push(finding.severity);
    check_alone(&mut validator, &text, &mut sink);
    let summary = validator.finish(&mut sink);
    assert_eq!(severities, [Severity::Note, Severity::Warning]);
    assert_eq!((summary.counts.warnings, summary.counts.notes), (1, 1));
}

#[test]
fn page_is_one_of_its_own_versions() {
    check_pages(
        &[&[("en", &["de"]), ("de", &["en", "de"])]],
        &["0:3 https://h.ex/en: page is not among its own versions"],
    );
}

#[test]
fn article_is_news_for_two_days() {
    let check = |published: &str, expected: &[&str]| {
        let text = format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\
             <url><loc>https://h.ex/a</loc><news:news><news:publication><news:name>N</news:name><news:language>en</news:language>\
             </news:publication><news:publication_date>{published}</news:publication_date><news:title>T</news:title></news:news></url></urlset>"
        );
        let findings = findings_alone(&text).into_iter();
        let messages: Vec<_> = findings.map(|finding| finding.message).collect();
        assert_eq!(messages, expected, "{published}");
    };
    check("2026-03-02T11:00:00Z", &[]);
    check("2026-02-28T13:00:00Z", &[]);
    let old = "article of 2026-02-27T11:00:00Z is older than two days";
    check("2026-02-27T11:00:00Z", &[old]);
}
