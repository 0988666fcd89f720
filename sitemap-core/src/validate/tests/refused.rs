//! URLs that a document may not list (R61, R65), and an index that robots.txt does not name (R34).

use super::*;

/// Findings of documents at their places with these lines of robots.txt files: rule, document, line and message.
fn found(robots: &[(&str, &[&str])], documents: &[(&str, String)]) -> Vec<String> {
    let mut validator = validator();
    for (origin, lines) in robots {
        let robots = loc(&format!("{origin}/robots.txt"));
        validator.robots(&robots, lines.iter().copied(), &mut |_| {});
    }
    let mut found = Vec::new();
    let mut sink = |finding: Finding| {
        let document = finding.document.map_or(-1, |id| id.index().cast_signed());
        found.push(format!(
            "{} {document}: {}",
            short(&finding),
            finding.message
        ));
    };
    for (place, text) in documents {
        check_at(&mut validator, place, text, &mut sink);
    }
    validator.finish(&mut sink);
    found
}

/// Findings of one of the rules.
fn found_for(rule: &str, robots: &[(&str, &[&str])], documents: &[(&str, String)]) -> Vec<String> {
    let mut found = found(robots, documents);
    found.retain(|finding| finding.starts_with(&format!("note {rule}")));
    found
}

/// A urlset of these URLs, the first in line 3.
fn pages(urls: &[&str]) -> String {
    let entries: Vec<_> = urls
        .iter()
        .map(|url| format!("<url><loc>{url}</loc></url>"))
        .collect();
    urlset(&entries.join("\n"))
}

#[test]
fn dropped_urls_are_counted_at_a_known_place() {
    let check = |urls: &[&str], expected: &[&str]| {
        let place = "https://h.ex/a/sitemap.xml";
        assert_eq!(found_for("R61", &[], &[(place, pages(urls))]), expected);
    };
    let (inside, above, scheme, host, port) = (
        "https://h.ex/a/x",
        "https://h.ex/x",
        "http://h.ex/a/x",
        "https://www.h.ex/a/x",
        "https://h.ex:8443/a/x",
    );
    check(&[inside], &[]);
    for refused in [above, scheme, host, port] {
        check(
            &[refused],
            &["note R61 0: the only URL is dropped by search engines"],
        );
        check(
            &[inside, refused],
            &["note R61 0: 1 of 2 URLs is dropped by search engines; the others count"],
        );
    }
    check(
        &[above, scheme, inside, host, port],
        &["note R61 0: 4 of 5 URLs are dropped by search engines; the others count"],
    );
    check(
        &[above, host],
        &["note R61 0: all 2 URLs are dropped by search engines"],
    );
    // Without a place it is unknown which of two hosts is right.
    let findings = findings_alone(&pages(&[inside, "https://g.ex/a"]));
    let found: Vec<String> = findings.iter().map(short).collect();
    assert_eq!(found, ["error R60:4"]);
    // A text file has the same rules.
    let text = format!("{inside}\n{above}\n");
    let found = found_for("R61", &[], &[("https://h.ex/a/urls.txt", text)]);
    let counted = "note R61 0: 1 of 2 URLs is dropped by search engines; the others count";
    assert_eq!(found, [counted]);
}

#[test]
fn help_has_the_missing_line_of_robots_txt() {
    let help = |text: &str, rule: u8| {
        let mut help = None;
        let mut sink = |finding: Finding| {
            if finding.rule.0 == rule {
                help = Some(finding.help);
            }
        };
        check_at(&mut validator(), "https://h.ex/s.xml", text, &mut sink);
        help.unwrap()
    };
    let check = |text: String, rule: u8, host: &str| {
        let line = format!("add the line \"Sitemap: https://h.ex/s.xml\" to {host}/robots.txt");
        let help = help(&text, rule);
        assert!(help.ends_with(&line), "R{rule}: {help}");
    };
    check(pages(&["http://h.ex/x"]), 59, "http://h.ex");
    check(pages(&["https://h.ex:1/x"]), 64, "https://h.ex:1");
    check(pages(&["https://g.ex/x"]), 65, "https://g.ex");
    check(index(&["https://g.ex/a.xml"]), 37, "https://g.ex");
    // The error of a host refers to the note, which is missing where the place is not known.
    let error = help(&pages(&["https://g.ex/x"]), 60);
    assert!(error.ends_with("name this one (R65)"), "{error}");
    let findings = findings_alone(&pages(&["https://h.ex/x", "https://g.ex/x"]));
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert!(!finding.help.contains("R65"), "{}", finding.help);
}

#[test]
fn proof_line_is_reported_once_per_host() {
    let check = |documents: &[(&str, &[&str])], expected: &[&str]| {
        let mut validator = validator();
        let mut found = Vec::new();
        for (place, urls) in documents {
            let mut sink = |finding: Finding| {
                if finding.rule.0 == 65 {
                    let line = finding.position.unwrap().line;
                    let url = finding.url.unwrap();
                    found.push(format!("{line} {url}: {}", finding.help));
                }
            };
            check_at(&mut validator, place, &pages(urls), &mut sink);
        }
        assert_eq!(found, expected);
    };
    let (maps, own) = ("https://maps.ex/s.xml", "https://maps.ex/a");
    let (g, h) = ("https://g.ex/a", "https://h.ex/a");
    let line = |host: &str| {
        format!("add the line \"Sitemap: https://maps.ex/s.xml\" to https://{host}/robots.txt")
    };
    let (of_g, of_h) = (line("g.ex"), line("h.ex"));
    let alone = format!("3 https://g.ex/a: {of_g}");
    check(&[(maps, &[g, "https://g.ex/b"])], &[&alone]);
    // The line alone proves nothing where others are listed as well.
    let besides = ", and list the URLs of no other host in this sitemap (R66)";
    let with_others = |line: u8, url: &str, of: &str| format!("{line} {url}: {of}{besides}");
    check(&[(maps, &[own, g])], &[&with_others(4, g, &of_g)]);
    check(&[(maps, &[g, own])], &[&with_others(3, g, &of_g)]);
    check(
        &[(maps, &[g, h, g, h])],
        &[&with_others(3, g, &of_g), &with_others(4, h, &of_h)],
    );
    // The same line is not reported for another document; a line with another sitemap is.
    check(&[(maps, &[g]), (maps, &[g])], &[&alone]);
    let other = alone.replace("s.xml", "t.xml");
    check(
        &[(maps, &[g]), ("https://maps.ex/t.xml", &[g])],
        &[&alone, &other],
    );
    // Another scheme or port is a mistake first of all; the help of its error has the line.
    check(&[(maps, &["http://maps.ex/a", "https://maps.ex:1/a"])], &[]);
    check(&[(maps, &[own])], &[]);
}

#[test]
fn proof_line_names_the_index() {
    let listed = [("https://maps.ex/s.xml", pages(&["https://g.ex/a"]))];
    let message = "note R65:3 0: nothing proves that this sitemap may list URLs of https://g.ex";
    assert_eq!(found_for("R65", &[], &listed), [message]);
    let robots: (&str, &[&str]) = ("https://g.ex", &["https://maps.ex/s.xml"]);
    assert_eq!(found_for("R65", &[robots], &listed), [""; 0]);
    let mut validator = validator();
    let mut help = Vec::new();
    let mut sink = |finding: Finding| {
        if finding.rule.0 == 65 {
            help.push(finding.help);
        }
    };
    let text = index(&["https://maps.ex/a.xml", "https://maps.ex/b.xml"]);
    let report = check_at(&mut validator, "https://maps.ex/i.xml", &text, &mut sink);
    for child in &report.children {
        let mut facts = Facts::new("child");
        (facts.place, facts.listed_by) = (Some(&child.loc), Some(report.document));
        let text = pages(&["https://g.ex/a"]);
        validator.check(text.as_bytes(), &facts, &mut sink).unwrap();
    }
    assert_eq!(
        help,
        ["add the line \"Sitemap: https://maps.ex/i.xml\" to https://g.ex/robots.txt"]
    );
}

#[test]
fn index_missing_in_robots_txt_is_reported() {
    fn of_h<'a>(lines: &'a [&'a str]) -> (&'static str, &'a [&'a str]) {
        ("https://h.ex", lines)
    }
    let check = |robots: &[(&str, &[&str])], documents: &[(&str, String)], expected: &[&str]| {
        assert_eq!(found_for("R34", robots, documents), expected);
    };
    let (one, two) = ("https://h.ex/1.xml", "https://h.ex/2.xml");
    let (a, b) = ("https://h.ex/a.xml", "https://h.ex/b.xml");
    let both = [(one, index(&[a])), (two, index(&[a, b]))];
    let note =
        "note R34 1: https://h.ex/robots.txt names another index of this site, but not this one";
    check(&[of_h(&[one])], &both, &[note]);
    check(&[of_h(&["https://h.ex/%31.xml"])], &both, &[note]);
    // What the forgotten one lists is found through the other one.
    check(&[of_h(&[two])], &both, &[]);
    check(&[of_h(&[one, two])], &both, &[]);
    check(&[of_h(&[one, b])], &both, &[]);
    // Nothing is known, or all are announced in another way.
    check(&[], &both, &[]);
    check(&[of_h(&[])], &both, &[]);
    check(&[of_h(&[b])], &both, &[]);
    check(&[("https://g.ex", &[one])], &both, &[]);
    // One index, one of another host, and one that another one lists.
    check(&[of_h(&[one])], &both[..1], &[]);
    let elsewhere = ("https://g.ex/2.xml", index(&["https://g.ex/b.xml"]));
    check(&[of_h(&[one])], &[both[0].clone(), elsewhere], &[]);
    let nested = [(one, index(&[a, two])), (two, index(&[b]))];
    check(&[of_h(&[one])], &nested, &[]);
    let itself = [(one, index(&[a])), (two, index(&[b, two]))];
    check(&[of_h(&[one])], &itself, &[note]);
    // What is there for another host is named by that host.
    let for_other = [
        (one, index(&[a])),
        (two, index(&[b])),
        (b, pages(&["https://g.ex/"])),
    ];
    check(&[of_h(&[one]), ("https://g.ex", &[two])], &for_other, &[]);
    // A named sitemap proves nothing about indexes, and a sitemap is not an index.
    let list = (b, pages(&["https://h.ex/"]));
    check(&[of_h(&[one])], &[both[0].clone(), list.clone()], &[]);
    check(&[of_h(&[b])], &[list, both[0].clone()], &[]);
    let mut validator = validator();
    validator.robots(&loc("https://h.ex/robots.txt"), [one], &mut |_| {});
    for (place, text) in &both {
        check_at(&mut validator, place, text, &mut |_| {});
    }
    let mut help = Vec::new();
    validator.finish(&mut |finding| help.push(finding.help));
    let line = "add the line \"Sitemap: https://h.ex/2.xml\" to https://h.ex/robots.txt";
    assert_eq!(help, [line]);
}

/// Findings at the end of these documents, each given as its place, its requested URL, the index that led to it, its text.
fn found_at_the_end(
    named: &[&str],
    documents: &[(&str, Option<&str>, Option<usize>, String)],
) -> Vec<String> {
    let mut validator = validator();
    let robots = loc("https://h.ex/robots.txt");
    validator.robots(&robots, named.iter().copied(), &mut |_| {});
    for (place, requested, listed_by, text) in documents {
        let (place, requested) = (loc(place), requested.map(loc));
        let mut facts = Facts::new(place.as_str());
        facts.place = Some(&place);
        facts.requested = requested.as_ref();
        facts.listed_by = listed_by.map(DocumentId);
        validator
            .check(text.as_bytes(), &facts, &mut |_| {})
            .unwrap();
    }
    let mut found = Vec::new();
    validator.finish(&mut |finding| found.push(short(&finding)));
    found
}

#[test]
fn redirects_lead_to_what_is_named_and_listed() {
    let (one, old, new) = (
        "https://h.ex/1.xml",
        "https://h.ex/old.xml",
        "https://h.ex/new.xml",
    );
    let check = |named: &[&str], expected: &[&str]| {
        let documents = [
            (one, None, None, index(&["https://h.ex/a.xml"])),
            (new, Some(old), None, index(&["https://h.ex/b.xml"])),
        ];
        assert_eq!(found_at_the_end(named, &documents), expected, "{named:?}");
    };
    check(&[one], &["note R34"]);
    check(&[one, old], &[]);
    check(&[one, new], &[]);
    // The index lists the requested URL of the sitemap.
    let moved = (
        "https://h.ex/docs/s.xml",
        Some("https://h.ex/s.xml"),
        None,
        pages(&["https://h.ex/x"]),
    );
    let index = (one, None, None, index(&["https://h.ex/s.xml"]));
    let note = ["note R62"];
    assert_eq!(found_at_the_end(&[], &[index, moved]), note);
}

#[test]
fn index_for_another_host_is_named_there() {
    let check = |page: &str, expected: &[&str]| {
        let documents = [
            (
                "https://h.ex/1.xml",
                None,
                None,
                index(&["https://h.ex/a.xml"]),
            ),
            (
                "https://h.ex/2.xml",
                None,
                None,
                index(&["https://h.ex/b.xml"]),
            ),
            ("https://h.ex/b.xml", None, Some(1), pages(&[page])),
        ];
        let found = found_at_the_end(&["https://h.ex/1.xml"], &documents);
        assert_eq!(found, expected, "{page}");
    };
    check("https://h.ex/x", &["note R34"]);
    check("https://g.ex/x", &[]);
}

#[test]
fn sitemap_for_others_may_be_below_the_root() {
    let (i, s) = ("https://maps.ex/h/i.xml", "https://maps.ex/h/s.xml");
    let (own, other) = ("https://maps.ex/h/a", "https://h.ex/a");
    let check = |named: &[&str],
                 documents: &[(&str, Option<&str>, Option<usize>, String)],
                 is_noted: bool| {
        let found = found_at_the_end(named, documents);
        let has_note = found.contains(&"note R62".to_owned());
        assert_eq!(has_note, is_noted, "{named:?} {documents:?}: {found:?}");
    };
    let list = |urls: &[&str]| [(s, None, None, pages(urls))];
    check(&[], &list(&[own]), true);
    check(&[], &list(&[other]), false);
    check(&[], &list(&[other, own]), true);
    // An index leads to such a list, or is named by the other host.
    let listed = |page: &str| {
        let index = (i, None, None, index(&[s]));
        [index, (s, None, Some(0), pages(&[page]))]
    };
    check(&[], &listed(own), true);
    check(&[], &listed(other), false);
    check(&[i], &listed(own), false);
}
