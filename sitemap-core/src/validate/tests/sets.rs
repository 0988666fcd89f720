//! Tests of documents together: indexes and their entries, and places of documents.

use super::*;

/// Findings of documents at their places, each with the time at which it changed: rule, document, line and message.
#[track_caller]
fn check_documents(documents: &[(&str, String, Option<&str>)], expected: &[&str]) {
    let mut validator = validator();
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| {
        let document = finding
            .document
            .map_or_else(String::new, |id| format!(" {}", id.index()));
        findings.push(format!(
            "{}{document}: {}",
            short(&finding),
            finding.message
        ));
    };
    for (place, text, modified) in documents {
        let place = loc(place);
        let mut facts = Facts::new(place.as_str());
        facts.place = Some(&place);
        facts.modified = modified.map(|time| time.parse().unwrap());
        validator.check(text.as_bytes(), &facts, &mut sink).unwrap();
    }
    validator.finish(&mut sink);
    assert_eq!(findings, expected);
}

fn page(name: &str) -> String {
    urlset(&format!("<url><loc>https://h.ex/{name}</loc></url>"))
}

#[test]
fn directory_below_the_root_is_a_note() {
    let documents = [
        ("https://h.ex/a/1.xml", page("a/x"), None),
        ("https://h.ex/a/2.xml", page("a/y"), None),
        ("https://h.ex/b/1.xml", page("b/x"), None),
        ("https://h.ex/1.xml", page("z"), None),
    ];
    check_documents(
        &documents,
        &["note R62 0: sitemap is in https://h.ex/a/ and can list no URL outside of it"],
    );
    // A document that an index leads to has the place in the index.
    let mut validator = validator();
    let text = index(&["https://h.ex/a/1.xml"]);
    let mut sink = |finding: Finding| panic!("{finding:?}");
    let report = check_at(&mut validator, "https://h.ex/i.xml", &text, &mut sink);
    let child = report.children[0].loc.clone();
    let mut facts = Facts::new("1.xml");
    (facts.place, facts.listed_by) = (Some(&child), Some(report.document));
    validator
        .check(page("a/x").as_bytes(), &facts, &mut sink)
        .unwrap();
}

#[test]
fn unnamed_sitemaps_are_reported_for_a_whole_set() {
    let urls = "https://h.ex/a\n".to_owned();
    let check = |documents: &[(&str, String)], named: &[&str], expected: &[&str]| {
        let mut options = Options::new(NOW.parse().unwrap());
        options.is_whole = true;
        let mut validator = Validator::new(options);
        let robots = loc("https://h.ex/robots.txt");
        validator.robots(&robots, named.iter().copied(), &mut |finding| {
            panic!("{finding:?}")
        });
        let mut findings = Vec::new();
        for (place, text) in documents {
            let mut sink = |finding: Finding| panic!("{finding:?}");
            check_at(&mut validator, place, text, &mut sink);
        }
        validator.finish(&mut |finding| {
            if finding.rule.0 == 75 {
                assert_eq!(finding.url.as_deref(), Some(robots.as_str()));
            }
            let document = finding.document.map_or(-1, |id| id.index().cast_signed());
            findings.push(format!("{document}: {}", finding.message));
        });
        assert_eq!(findings, expected);
    };
    let (i, a, b) = (
        "https://h.ex/i.xml",
        "https://h.ex/a.xml",
        "https://h.ex/b.xml",
    );
    let index = index(&[a]);
    check(
        &[(i, index.clone()), (a, page("a")), (b, page("b"))],
        &[],
        &["2: sitemap is listed by no index"],
    );
    check(
        &[(i, index.clone()), (a, page("a")), (b, page("b"))],
        &[i, b],
        &[],
    );
    check(
        &[(i, index.clone()), (a, page("a"))],
        &[i, a],
        &[
            "-1: robots.txt names https://h.ex/a.xml, which the index https://h.ex/i.xml lists already",
        ],
    );
    // A list of URLs is another form of a sitemap beside it, or the only sitemap.
    let list = "https://h.ex/list.txt";
    check(
        &[(i, index.clone()), (a, page("a")), (list, urls.clone())],
        &[],
        &[],
    );
    check(
        &[(i, index.clone()), (list, urls.clone())],
        &[],
        &["1: sitemap is listed by no index"],
    );
    let several = "-1: there are 2 sitemaps, but no index that lists them";
    check(&[(a, page("a")), (b, page("b"))], &[], &[several]);
    check(&[(a, page("a")), (list, urls.clone())], &[], &[]);
    check(&[(a, urls.clone()), (list, urls)], &[], &[several]);
    check(&[(a, page("a"))], &[], &[]);
    let feed = "<rss version=\"2.0\"><channel><title>t</title><link>https://h.ex/</link><description>d</description>\
                <item><title>a</title><link>https://h.ex/a</link></item></channel></rss>";
    check(&[(a, page("a")), (b, feed.to_owned())], &[], &[]);
}

#[test]
fn named_and_listed_sitemap_is_reported_once() {
    let mut validator = validator();
    let (i, a) = ("https://h.ex/i.xml", "https://h.ex/a.xml");
    // The same lines in the robots.txt of another host change nothing.
    for robots in ["https://h.ex/robots.txt", "https://g.ex/robots.txt"] {
        validator.robots(&loc(robots), [i, a], &mut |_| {});
    }
    let found = check_set(validator, &[(i, index(&[a])), (a, page("a"))]);
    let notes = found.iter().filter(|found| *found == "note R75");
    assert_eq!(notes.count(), 1, "{found:?}");
}

#[test]
fn several_named_sitemaps_without_an_index_are_reported() {
    let check = |named: &[&str], expected: &[&str]| {
        let mut validator = validator();
        let robots = loc("https://h.ex/robots.txt");
        validator.robots(&robots, named.iter().copied(), &mut |_| {});
        let list = "https://h.ex/a\n";
        let documents = [
            ("https://h.ex/a.xml", page("a")),
            ("https://h.ex/b.xml", page("b")),
            // Its own robots.txt proves nothing, but it is not a sitemap of the same index either.
            ("https://other.ex/c.xml", list.to_owned()),
        ];
        let reported = check_set(validator, &documents);
        let reported: Vec<&str> = reported
            .iter()
            .map(String::as_str)
            .filter(|reported| reported.ends_with("R31"))
            .collect();
        assert_eq!(reported, expected, "{named:?}");
    };
    check(&[], &[]);
    check(&["https://h.ex/a.xml"], &[]);
    check(&["https://h.ex/a.xml", "https://h.ex/b.xml"], &["note R31"]);
    check(&["https://h.ex/a.xml", "https://other.ex/c.xml"], &[]);
}

#[test]
fn each_sitemap_is_named_without_an_index() {
    let mut validator = validator();
    let robots = loc("https://h.ex/robots.txt");
    let places =
        ["h.ex/a", "h.ex/b", "g.ex:81/c", "g.ex:81/d"].map(|at| format!("https://{at}.xml"));
    let named = places.iter().map(String::as_str);
    validator.robots(&robots, named, &mut |_| {});
    for place in &places {
        let file = page(loc(place).path().trim_matches('/'));
        check_at(&mut validator, place, &file, &mut |_| {});
    }
    let mut findings = Vec::new();
    validator.finish(&mut |finding| {
        if finding.rule == crate::read::Rule(31) {
            findings.push(finding.message);
        }
    });
    let expected = ["https://g.ex:81", "https://h.ex"]
        .map(|site| format!("{robots} names 2 sitemaps of {site}, but no index that lists them"));
    assert_eq!(findings, expected);
}

#[test]
fn sitemaps_of_an_index_are_of_one_site() {
    let check = |other: &str, expected: &[&str]| {
        let mut findings = Vec::new();
        let text = index(&["https://h.ex/a.xml", other]);
        let mut sink = |finding: Finding| findings.push(finding.message);
        let report = check_alone(&mut validator(), &text, &mut sink);
        assert_eq!(findings, expected, "{other}");
        report.common_directory
    };
    let reported = ["sitemap is not on https://h.ex, the site of its index"];
    assert_eq!(
        check("https://h.ex/deep/b.xml", &[]).as_deref(),
        Some("https://h.ex/")
    );
    check("http://h.ex/b.xml", &reported);
    check("https://other.ex/b.xml", &reported);
    check("https://h.ex:8443/b.xml", &reported);
    // The note on `www.` is one of pages.
    check("https://www.h.ex/b.xml", &reported);
}

#[test]
fn index_lists_neither_itself_nor_sitemaps_above() {
    let check = |child: &str, expected: &[&str]| {
        let place = "https://h.ex/maps/i.xml";
        let mut reported = check_set(validator(), &[(place, index(&[child]))]);
        // The directory of the set, below the root, is reported too.
        reported.retain(|finding| finding != "note R62");
        assert_eq!(reported, expected, "{child}");
    };
    check("https://h.ex/maps/i.xml", &["error R40:3"]);
    check("https://h.ex/maps/b.xml", &[]);
    check("https://h.ex/b.xml", &["warning R37:3"]);
    check("https://other.ex/b.xml", &["error R37:3"]);
}

#[test]
fn missing_sitemap_is_reported_where_it_is_listed() {
    let mut validator = validator();
    let text = index(&["https://h.ex/a.xml", "https://h.ex/b.xml"]);
    let report = check_alone(&mut validator, &text, &mut |_| {});
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| findings.push(finding);
    let child = &report.children[1];
    validator.missing(report.document, child, "status 410", &mut sink);
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(finding.document, Some(report.document));
    assert_eq!(finding.url.as_deref(), Some("https://h.ex/b.xml"));
    assert_eq!(short(finding), "error R40:4");
    assert_eq!(finding.message, "listed sitemap cannot be read: status 410");
}

#[test]
fn page_that_robots_disallows_is_reported() {
    let mut facts = Facts::new("x");
    let is_blocked = |loc: &Loc| loc.path().starts_with("/private");
    facts.is_blocked = Some(&is_blocked);
    let text = urlset(
        "<url><loc>https://h.ex/private/a</loc></url>\n<url><loc>https://h.ex/public</loc></url>",
    );
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| findings.push(short(&finding));
    validator()
        .check(text.as_bytes(), &facts, &mut sink)
        .unwrap();
    assert_eq!(findings, ["warning R79:3"]);
    let debug = format!("{facts:?}");
    assert!(
        debug.starts_with("Facts") && debug.contains("name: \"x\""),
        "{debug}"
    );
}

#[test]
fn children_of_an_index_have_a_bound() {
    let child = "<sitemap><loc>https://h.ex/a.xml</loc></sitemap>";
    let text = format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</sitemapindex>",
        child.repeat(50_003)
    );
    let report = check_alone(&mut validator(), &text, &mut |_| {});
    assert_eq!((report.entries, report.children.len()), (50_003, 50_001));
    assert_eq!(
        (report.kind, report.bytes),
        (Some(Kind::Index), text.len() as u64)
    );
}

#[test]
fn finding_names_the_url_of_its_entry() {
    let text = urlset(
        "<x/>\n<url><loc>https://h.ex/a</loc><changefreq>Daily</changefreq></url>\n<x/>\n\
         <url><priority>9</priority><loc>https://h.ex/b</loc></url>",
    );
    let findings = findings_alone(&text);
    let found = findings.iter().map(|finding| {
        let url = finding.url.as_deref().unwrap_or("-");
        format!("{} {url}", short(finding))
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            "warning R6:3 -",
            "error R16:4 https://h.ex/a",
            "warning R6:5 -",
            "error R18:6 https://h.ex/b",
            "warning R8:6 https://h.ex/b",
        ]
    );
}

#[test]
fn finding_about_a_page_has_its_position() {
    let mut validator = validator();
    check_alone(&mut validator, &page("x"), &mut |_| {});
    let report = check_alone(&mut validator, &page("a"), &mut |_| {});
    let facts = PageFacts {
        no_answer: Some("timed out".to_owned()),
        canonical_elsewhere: Some("https://h.ex/b".to_owned()),
        ..PageFacts::default()
    };
    let position = Position { line: 3, offset: 9 };
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| {
        assert_eq!(finding.document, Some(report.document));
        assert_eq!(finding.url.as_deref(), Some("https://h.ex/a"));
        findings.push(format!("{} {}", short(&finding), finding.message));
    };
    let url = loc("https://h.ex/a");
    validator.page(report.document, &url, Some(position), &facts, &mut sink);
    assert_eq!(
        findings,
        [
            "warning R10:3 URL does not answer: timed out",
            "warning R10:3 page names the canonical address https://h.ex/b",
        ]
    );
}

#[test]
fn case_has_its_own_help() {
    let text = urlset("<url><loc>https://h.ex/b/x</loc><priority>2</priority></url>");
    let place = "https://h.ex/a/sitemap.xml";
    let mut helps = Vec::new();
    let mut sink = |finding: Finding| helps.push((finding.rule.0, finding.help));
    let report = check_at(&mut validator(), place, &text, &mut sink);
    let of_rule = RuleText::of(crate::read::Rule(18)).unwrap().help.clone();
    let special = "move the sitemap to https://h.ex/ or above, or list the URL in a sitemap there";
    assert_eq!(helps[0], (18, of_rule));
    assert_eq!(helps[1], (58, special.to_owned()));
    // Nothing was left out.
    assert_eq!(report.repeated, []);
}

#[test]
fn change_after_the_index_date_is_reported() {
    let check = |listed: &str, modified: &str, expected: &[&str]| {
        let listed = LastMod::parse(listed).unwrap();
        let mut facts = Facts::new("a.xml");
        facts.modified = Some(modified.parse().unwrap());
        facts.answer = Some(Answer {
            content_type: Some("text/xml"),
            listed_lastmod: Some(&listed),
            ..Answer::default()
        });
        let mut findings = Vec::new();
        let mut sink =
            |finding: Finding| findings.push(format!("{} {}", short(&finding), finding.message));
        validator()
            .check(page("a").as_bytes(), &facts, &mut sink)
            .unwrap();
        assert_eq!(findings, expected, "{listed} {modified}");
    };
    let reported = "note R41 server reports a change of the sitemap at 2026-02-01T10:11:00Z, its index lists 2026-02-01T10:00:00Z";
    check("2026-02-01T10:00:00Z", "2026-02-01T10:11:00Z", &[reported]);
    check("2026-02-01T10:00:00Z", "2026-02-01T10:10:00Z", &[]);
    check("2026-02-01T10:00:00Z", "2026-02-01T10:00:00Z", &[]);
    check("2026-02-01T10:00:00Z", "2026-01-01T10:00:00Z", &[]);
    check("2026-02-01", "2026-02-01T22:00:00Z", &[]);
}

#[test]
fn full_table_of_urls_is_reported_once() {
    let mut validator = validator();
    validator.set.fill();
    let documents = ["https://h.ex/a.xml", "https://h.ex/b.xml"].map(|place| {
        let entries = "<url><loc>https://h.ex/x</loc></url>\n<url><loc>https://h.ex/y</loc></url>";
        (place, urlset(entries))
    });
    assert_eq!(check_set(validator, &documents), ["note R26:3"]);
}

#[test]
fn formats_without_a_schema_have_rules_alone() {
    let check = |text: &str, expected: &[&str]| {
        let findings: Vec<String> = findings_alone(text).iter().map(short).collect();
        assert_eq!(findings, expected, "{text}");
    };
    check(
        "https://h.ex/a\n\nhttps://h.ex/b c\n",
        &["warning R50:2", "error R24:3"],
    );
    let item = "<item><title>t</title><link>http://a.b/</link><pubDate>2026-01-02</pubDate></item>";
    check(
        &format!(
            "<rss version=\"2.0\"><channel><title>t</title><link>http://a.b/</link><description>d</description>{item}</channel></rss>"
        ),
        &["error R47:1"],
    );
    check(
        &urlset("<url><loc>http://a.b/</loc></url>"),
        &["warning R68:3"],
    );
}
