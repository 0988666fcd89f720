//! Tests of the library without the program: answers of pages, redirects, repetitions, sets in memory.

mod documents;
mod refused;
mod sets;
mod values;
mod versions;

use super::*;
use crate::read::Severity;

const NOW: &str = "2026-03-02T12:00:00Z";

fn loc(url: &str) -> Loc {
    Loc::parse(url).unwrap()
}

fn validator() -> Validator {
    Validator::new(Options::new(NOW.parse().unwrap()))
}

fn urlset(entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}\n</urlset>\n"
    )
}

fn index(children: &[&str]) -> String {
    let entries = children
        .iter()
        .map(|child| format!("<sitemap><loc>{child}</loc></sitemap>\n"))
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n"
    )
}

/// A finding in short: severity, rule and line.
fn short(finding: &Finding) -> String {
    let line = finding
        .position
        .map_or_else(String::new, |position| format!(":{}", position.line));
    format!("{} {}{line}", finding.severity, finding.rule)
}

/// Checks a document at its place.
fn check_at(validator: &mut Validator, place: &str, text: &str, sink: &mut Sink<'_>) -> Report {
    let place = loc(place);
    let mut facts = Facts::new(place.as_str());
    facts.place = Some(&place);
    validator.check(text.as_bytes(), &facts, sink).unwrap()
}

/// Checks a document without a place, by itself.
fn check_alone(validator: &mut Validator, text: &str, sink: &mut Sink<'_>) -> Report {
    let facts = Facts::new("x");
    validator.check(text.as_bytes(), &facts, sink).unwrap()
}

/// Findings of one document without a place, but for those of the set.
fn findings_alone(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| findings.push(finding);
    check_alone(&mut validator(), text, &mut sink);
    findings
}

/// Checks documents at their places: the findings of each, and those at the end.
fn check_set(mut validator: Validator, documents: &[(&str, String)]) -> Vec<String> {
    let mut findings = Vec::new();
    for (place, text) in documents {
        let mut sink = |finding: Finding| findings.push(short(&finding));
        check_at(&mut validator, place, text, &mut sink);
    }
    validator.finish(&mut |finding| findings.push(short(&finding)));
    findings
}

#[test]
fn findings_are_counted_however_many_there_are() {
    let mut validator = validator();
    let text = urlset(&"<x/>".repeat(3 * crate::read::MAX_FINDINGS));
    let mut reported = 0;
    let report = check_alone(&mut validator, &text, &mut |_| reported += 1);
    // One more for the file that has no entries.
    let all = 3 * crate::read::MAX_FINDINGS as u64;
    assert_eq!(report.counts.warnings, all + 1);
    assert_eq!(reported, DEFAULT_REPEATS + 1);
    assert_eq!(report.repeated[0].more, all - DEFAULT_REPEATS);
}

#[test]
fn feeds_alone_are_reported_at_a_feed() {
    let mut validator = validator();
    let feed =
        "<rss version=\"2.0\"><channel><item><link>https://h.ex/a</link></item></channel></rss>";
    let mut findings = Vec::new();
    for text in ["<html/>", feed] {
        check_alone(&mut validator, text, &mut |_| {});
    }
    validator.finish(&mut |finding| {
        findings.push((short(&finding), finding.document.map(DocumentId::index)));
    });
    assert_eq!(findings, [("note R48".to_owned(), Some(1))]);
}

#[test]
fn answers_of_pages_are_judged() {
    let check = |facts: &PageFacts, expected: &[&str]| {
        let mut validator = validator();
        let mut findings = Vec::new();
        let report = check_alone(&mut validator, &urlset(""), &mut |_| {});
        let page = loc("https://h.ex/a");
        validator.page(report.document, &page, None, facts, &mut |finding| {
            assert_eq!(finding.url.as_deref(), Some("https://h.ex/a"));
            findings.push(short(&finding));
        });
        assert_eq!(findings, expected);
    };
    let facts = PageFacts::default;
    check(&facts(), &[]);
    let mut moved = facts();
    moved.redirects_to = Some("https://h.ex/b".to_owned());
    check(&moved, &["error R10"]);
    let mut gone = facts();
    gone.status = Some(404);
    check(&gone, &["error R10"]);
    let mut hidden = facts();
    hidden.is_noindex = true;
    check(&hidden, &["error R79"]);
    let dates = |lastmod: &str, server: &str| PageFacts {
        lastmod: Some(LastMod::parse(lastmod).unwrap()),
        last_modified: Some(server.parse().unwrap()),
        ..facts()
    };
    check(&dates("2026-03-01", "2026-03-02T09:00:00Z"), &["note R15"]);
    check(&dates("2026-03-01", "2026-03-01T09:00:00Z"), &[]);
    check(&dates("2026-03-01T08:55:00Z", "2026-03-01T09:00:00Z"), &[]);
    check(&dates("2026-03-02", "2026-03-01T09:00:00Z"), &[]);
}

#[test]
fn redirect_to_another_directory_is_reported() {
    let check = |requested: &str, expected: &[&str]| {
        let (place, requested) = (loc("https://h.ex/sitemap.xml"), loc(requested));
        let mut facts = Facts::new("x");
        facts.place = Some(&place);
        facts.requested = Some(&requested);
        let mut findings = Vec::new();
        let file = urlset("<url><loc>https://h.ex/a</loc></url>");
        let mut sink = |finding: Finding| findings.push(short(&finding));
        validator()
            .check(file.as_bytes(), &facts, &mut sink)
            .unwrap();
        assert_eq!(findings, expected);
    };
    check("https://h.ex/sitemap_index.xml", &[]);
    check("http://h.ex/sitemap.xml", &["warning R58"]);
    check("https://h.ex/maps/sitemap.xml", &["warning R58"]);
}

#[test]
fn cycle_of_indexes_differs_from_a_nested_one() {
    let a = index(&["https://h.ex/b.xml"]);
    let b = index(&["https://h.ex/c.xml"]);
    let words = |documents: &[(&str, String)]| {
        let mut validator = validator();
        for (place, text) in documents {
            check_at(&mut validator, place, text, &mut |_| {});
        }
        let mut findings = Vec::new();
        validator.finish(&mut |finding| findings.push(finding.message));
        findings
    };
    let c = urlset("<url><loc>https://h.ex/</loc></url>");
    let nested = [
        ("https://h.ex/a.xml", a.clone()),
        ("https://h.ex/b.xml", b.clone()),
        ("https://h.ex/c.xml", c),
    ];
    assert_eq!(words(&nested), ["index lists the index https://h.ex/b.xml"]);
    let back = index(&["https://h.ex/a.xml", "https://h.ex/c.xml"]);
    let cycle = [
        ("https://h.ex/a.xml", a),
        ("https://h.ex/b.xml", b),
        ("https://h.ex/c.xml", back),
    ];
    assert_eq!(
        words(&cycle),
        [
            "index lists the index https://h.ex/b.xml, which leads back to it",
            "index lists the index https://h.ex/c.xml, which leads back to it",
            "index lists the index https://h.ex/a.xml, which leads back to it",
        ]
    );
}

#[test]
fn repetitions_are_counted_and_not_handed_over() {
    let check = |max_repeats: u64, entries: String, expected: &[&str], more: &[(u8, u64)]| {
        let mut options = Options::new(NOW.parse().unwrap());
        options.max_repeats = max_repeats;
        let mut validator = Validator::new(options);
        let mut findings = Vec::new();
        let mut sink = |finding: Finding| findings.push(short(&finding));
        let report = check_alone(&mut validator, &urlset(&entries), &mut sink);
        assert_eq!(findings, expected);
        let repeated = report.repeated.iter();
        let repeated: Vec<_> = repeated.map(|group| (group.rule.0, group.more)).collect();
        assert_eq!(repeated, more);
        let summary = validator.finish(&mut |_| {});
        let totals = |counts: Counts| (counts.errors, counts.warnings);
        assert_eq!(totals(summary.counts), totals(report.counts));
        report
    };
    let entries = "<url><loc>/a</loc></url>\n<url><loc>https://h.ex/b c</loc></url>\n".repeat(5);
    let expected = [
        "error R9:3",
        "error R24:4",
        "error R9:5",
        "error R24:6",
        "warning R26:6",
        "warning R26:8",
    ];
    let report = check(2, entries, &expected, &[(9, 3), (24, 3), (26, 2)]);
    assert_eq!((report.counts.errors, report.counts.warnings), (10, 4));
    assert_eq!(report.entries, 10);
    // R9 and R25 are remembered in the same place.
    let entries =
        "<url><loc>/a</loc></url>\n<url><loc>https://h.ex/?%26amp;</loc></url>\n".repeat(4);
    let expected = ["error R9:3", "warning R25:4", "warning R26:6"];
    let report = check(1, entries, &expected, &[(9, 3), (25, 3), (26, 2)]);
    let severities = report.repeated.iter().map(|group| group.severity);
    let expected = [Severity::Error, Severity::Warning, Severity::Warning];
    assert!(severities.eq(expected), "{:?}", report.repeated);
}

#[test]
fn sitemaps_above_the_limit_are_reported_once() {
    let mut validator = validator();
    let text = index(&["https://h/a.xml", "https://h/b.xml"]);
    let report = validator
        .check(text.as_bytes(), &Facts::new("i.xml"), &mut |finding| {
            panic!("{finding:?}")
        })
        .unwrap();
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| findings.push((short(&finding), finding.message));
    validator.not_followed(report.document, &report.children[1], 7, 100, &mut sink);
    assert_eq!(findings[0].0, "warning R40:4");
    assert_eq!(
        findings[0].1,
        "7 sitemaps from here on are not read: one check reads at most 100"
    );
    assert_eq!(findings.len(), 1);
    assert_eq!(validator.finish(&mut |_| {}).counts.warnings, 1);
}

#[test]
fn document_that_was_not_requested_has_no_error() {
    let mut validator = validator();
    let why = Unavailable::NotAsked {
        why: "the host is busy",
        help: "come again",
    };
    let mut findings = Vec::new();
    let mut sink =
        |finding: Finding| findings.push((short(&finding), finding.message, finding.help));
    validator.unavailable(&Facts::new("a.xml"), None, &why, &mut sink);
    let message = "sitemap was not read: the host is busy".to_owned();
    assert_eq!(
        findings,
        [("warning R72".to_owned(), message, "come again".to_owned())]
    );
}

#[test]
fn robots_lines_are_resolved_and_prove() {
    let mut validator = validator();
    let mut findings = Vec::new();
    let robots = loc("https://h.ex/robots.txt");
    let mut sink = |finding: Finding| {
        assert_eq!(finding.url.as_deref(), Some("https://h.ex/robots.txt"));
        findings.push(short(&finding));
    };
    let lines = ["/sitemap.xml", " https://maps.example/h.xml ", "http://"];
    let named = validator.robots(&robots, lines, &mut sink);
    let named: Vec<_> = named.iter().map(Loc::as_str).collect();
    assert_eq!(
        named,
        ["https://h.ex/sitemap.xml", "https://maps.example/h.xml"]
    );
    assert_eq!(findings, ["warning R73", "warning R73"]);
    let file = urlset("<url><loc>https://h.ex/a</loc></url>");
    let findings = check_set(validator, &[("https://maps.example/h.xml", file)]);
    assert_eq!(findings, ["note R67:3"]);
}

#[test]
fn findings_have_a_position_and_a_subject() {
    let file = urlset("<url><loc>https://h.ex/a</loc><lastmod>2999-01-01</lastmod></url>");
    let found = findings_alone(&file);
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.url.as_deref(), Some("https://h.ex/a"));
    let excerpt = finding.excerpt.as_ref().unwrap();
    assert_eq!(
        &excerpt.text[excerpt.marker..],
        "<lastmod>2999-01-01</lastmod></url>"
    );
    assert_eq!(excerpt.column, 31);
    assert_eq!(finding.help, RuleText::of(finding.rule).unwrap().help);
}

#[test]
fn reading_that_fails_is_an_error() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no disk"))
        }
    }
    let input = io::BufReader::new(Broken);
    assert!(
        validator()
            .check(input, &Facts::new("x"), &mut |_| {})
            .is_err()
    );
}

#[test]
fn unavailable_document_is_reported_where_it_is_listed() {
    let mut validator = validator();
    let mut findings = Vec::new();
    let text = index(&["https://h/a.xml"]);
    let mut sink = |finding: Finding| panic!("{finding:?}");
    let report = check_at(&mut validator, "https://h/i.xml", &text, &mut sink);
    let child = &report.children[0];
    let mut facts = Facts::new("a.xml");
    facts.listed_by = Some(report.document);
    let because = Unavailable::Because("status 404");
    let mut sink = |finding: Finding| findings.push(finding);
    let second = validator.unavailable(&facts, Some(child), &because, &mut sink);
    validator.unavailable(&facts, Some(child), &Unavailable::Disallowed, &mut sink);
    // One that no index lists is reported by itself.
    let last = validator.unavailable(&Facts::new("b.xml"), None, &because, &mut sink);
    assert_eq!((second.index(), last.index()), (1, 3));
    let found: Vec<_> = findings
        .iter()
        .map(|finding| (short(finding), finding.document, finding.url.as_deref()))
        .collect();
    let listed = (Some(report.document), Some("https://h/a.xml"));
    let expected = [
        ("error R40:3", listed.0, listed.1),
        ("error R79:3", listed.0, listed.1),
        ("error R72", Some(last), None),
    ];
    assert_eq!(
        found,
        expected.map(|(short, document, url)| (short.to_owned(), document, url))
    );
    assert_eq!(findings[2].message, "sitemap cannot be read: status 404");
    let summary = validator.finish(&mut |finding| panic!("{finding:?}"));
    assert_eq!((summary.documents, summary.counts.errors), (4, 3));
}

#[test]
fn cut_answer_is_no_whole_document() {
    let check = |end: AnswerEnd<'_>, expected: &[&str]| {
        let text = urlset("<url><loc>https://h.example/a</loc></url>");
        let mut facts = Facts::new("a.xml");
        facts.answer = Some(Answer {
            content_type: Some("text/xml"),
            end,
            ..Answer::default()
        });
        let mut findings = Vec::new();
        let mut validator = validator();
        let report = validator.check(text.as_bytes(), &facts, &mut |finding| {
            findings.push(short(&finding));
        });
        assert_eq!(report.unwrap().is_complete, expected.is_empty());
        assert_eq!(findings, expected);
    };
    check(AnswerEnd::Complete, &[]);
    check(AnswerEnd::CutShort, &["error R1"]);
    check(AnswerEnd::TooLarge { limit: 9 }, &["error R28"]);
    check(AnswerEnd::Undecodable { coding: "br" }, &["error R29"]);
}

#[test]
fn robots_txt_may_name_a_redirecting_sitemap() {
    let check = |named: &str, expected: &[&str]| {
        let mut validator = validator();
        let mut findings = Vec::new();
        let robots = loc("https://listed/robots.txt");
        validator.robots(&robots, [named], &mut |finding| {
            findings.push(short(&finding));
        });
        let (place, requested) = (loc("https://maps/new.xml"), loc("https://maps/old.xml"));
        let mut facts = Facts::new("old.xml");
        (facts.place, facts.requested) = (Some(&place), Some(&requested));
        let text = urlset("<url><loc>https://listed/a</loc></url>");
        let report = validator.check(text.as_bytes(), &facts, &mut |finding| {
            findings.push(short(&finding));
        });
        report.unwrap();
        assert_eq!(findings, expected, "{named}");
    };
    check("https://maps/old.xml", &["note R67:3"]);
    check("https://maps/new.xml", &["note R67:3"]);
    check(
        "https://maps/else.xml",
        &["error R60:3", "note R65:3", "note R61"],
    );
}
