//! Roots, namespaces, and markup that is not well-formed.

use super::{check_reading, index, urlset};
use crate::{
    Limits,
    limits::NAMESPACE,
    read::{Item, MAX_DEPTH, MAX_TOKEN_BYTES, Reader},
};

#[test]
fn root_element_decides_the_kind_of_a_file() {
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
fn elements_of_no_namespace_or_a_misspelled_one_are_read_and_reported_once() {
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
    let long_tag = format!(
        "<url a=\"{}\">",
        " ".repeat(usize::try_from(MAX_TOKEN_BYTES).unwrap())
    );
    check(
        &whole.replace("</url><url>", &format!("</url>{long_tag}")),
        "R1",
    );
}

#[test]
fn token_ends_the_reading_above_its_bound() {
    let entry = "<url><loc>http://host/a</loc></url>";
    let most = usize::try_from(MAX_TOKEN_BYTES).unwrap();
    let check = |text: &str, last: &str, findings: &[&str]| {
        for (length, last) in [(most / 2, "http://host/a|||"), (most + 1, last)] {
            let file = urlset(&format!(
                "{entry}{}{entry}",
                text.replace('~', &"x".repeat(length))
            ));
            check_reading(file, &["http://host/a|||", last], findings);
        }
    };
    check("<!--~-->", "! R1", &[]);
    check("<title>~</title>", "! R1", &["Warning R6"]);
}

#[test]
fn reading_goes_on_after_an_end_tag_that_does_not_match() {
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
    check("a</loc></url>", "a</loc>", both, &["Error R6", "Error R1"]);
    check(
        "<url><loc>http://host/a",
        "<url><url><loc>http://host/a",
        both,
        &["Error R6", "Error R1"],
    );
    // An element with its own namespace stays in it.
    check_reading(
        urlset(
            "<x:y xmlns:x=\"http://host/x\"><x:z></x:y><url><loc>http://host/</loc></url></x:z>",
        ),
        &["http://host/|||"],
        &["Note R70", "Note R71", "Error R1", "Error R1"],
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
fn start_tag_too_many_does_not_end_the_file() {
    check_reading(
        urlset("<url><url><loc>http://host/a</loc></url></url><url><loc>http://host/b</loc></url>"),
        &["http://host/a|||", "http://host/b|||"],
        &["Error R6"],
    );
    check_reading(
        urlset(
            "<url><url><url><loc>http://host/a</loc></url></url></url><url><loc>http://host/b</loc></url>",
        ),
        &["http://host/a|||", "http://host/b|||"],
        &["Error R6", "Error R6"],
    );
}

#[test]
fn element_of_the_protocol_in_a_wrong_place_is_an_error() {
    let check = |file: String, items: &[&str], expected: &[&str]| {
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        let read: Vec<String> = reader
            .by_ref()
            .flatten()
            .map(|item| match item {
                Item::Url(entry) => entry.loc.to_string(),
                Item::Sitemap(entry) => entry.loc.to_string(),
            })
            .collect();
        let findings = reader.findings().iter();
        let reported: Vec<String> = findings
            .map(|finding| finding.problem.to_string())
            .collect();
        assert_eq!(read, items, "{file}");
        assert_eq!(reported, expected, "{file}");
    };
    let url = "<url><loc>http://host/a</loc></url>";
    let one = &["http://host/a"][..];
    let in_url = |content: &str| urlset(&format!("<url><loc>http://host/a</loc>{content}</url>"));
    check(
        urlset("<url><loc><loc>http://host/a</loc></loc></url>"),
        one,
        &["<loc> is not allowed in <loc>"],
    );
    check(
        in_url("<lastmod><priority/>2026-01-01</lastmod>"),
        one,
        &["<priority> is not allowed in <lastmod>"],
    );
    check(
        in_url("<sitemap/><urlset/>"),
        one,
        &[
            "<sitemap> is not allowed in <url>",
            "<urlset> is not allowed in <url>",
        ],
    );
    check(
        urlset(&format!("<lastmod/><urlset>{url}</urlset>{url}")),
        one,
        &[
            "<lastmod> is not allowed in <urlset>",
            "<urlset> is not allowed in <urlset>",
            "<url> is in an element that may not contain it, and is left out with that element",
        ],
    );
    check(
        urlset(&format!(
            "<g><h>{url}</h></g><x:g xmlns:x='u:x'>{url}<x:url/></x:g>{url}"
        )),
        one,
        &[
            "unknown element <g>",
            "<url> is in an element that may not contain it, and is left out with that element",
            "namespace is declared below the root element",
            "extension <g>",
            "<url> is in an element that may not contain it, and is left out with that element",
        ],
    );
    // What others call so is theirs.
    check(
        in_url("<x:g xmlns:x='u:x'><url/><x:url/></x:g>"),
        one,
        &[
            "namespace is declared below the root element",
            "extension <g>",
        ],
    );
    let sitemap = "<sitemap><loc>http://host/s.xml</loc>";
    check(
        index(&format!(
            "{sitemap}{sitemap}</sitemap></sitemap><g>{sitemap}</sitemap></g>"
        )),
        &["http://host/s.xml", "http://host/s.xml"],
        &[
            "<sitemap> is not allowed in <sitemap>",
            "unknown element <g>",
            "<sitemap> is in an element that may not contain it, and is left out with that element",
        ],
    );
    check(
        index(&format!("{sitemap}<x xmlns='u:x'/></sitemap>")),
        &["http://host/s.xml"],
        &[
            "namespace is declared below the root element",
            "extension <x> is not allowed in an index",
        ],
    );
}

#[test]
fn broken_tag_matters_to_the_url_it_is_in_only() {
    check_reading(
        urlset(
            "<url><loc>http://host/<b><c <d></b></loc></url><url><loc>http://host/b</loc></url>",
        ),
        &["http://host/|||", "http://host/b|||"],
        &["Warning R6", "Error R1", "Error R1"],
    );
}

#[test]
fn end_tags_that_do_not_match_are_distinguished() {
    let findings = |content: &str| -> Vec<String> {
        let file = urlset(content);
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert_eq!(reader.by_ref().flatten().count(), 1);
        let findings = reader.findings().iter();
        findings
            .map(|finding| finding.problem.to_string())
            .collect()
    };
    assert_eq!(
        findings("</b><url><loc>http://host/</loc></url>"),
        ["not well-formed: end tag of an element that is not open"]
    );
    assert_eq!(
        findings("<url><loc>http://host/</url>"),
        ["not well-formed: end tag of another element than the last one that was opened"]
    );
}

#[test]
fn byte_order_mark_in_the_middle_is_read_over() {
    let entry = "<url><loc>http://host/a</loc></url>";
    check_reading(
        format!(
            "{}\u{FEFF}\n{}",
            urlset(entry),
            urlset(&entry.replace("/a", "/b"))
        ),
        &["http://host/a|||", "http://host/b|||"],
        &["Error R1", "Warning R1", "Error R4"],
    );
}

#[test]
fn broken_tag_beside_the_url_costs_itself() {
    check_reading(
        urlset("<url><loc>http://host/a</loc><b <c></b></url>"),
        &["http://host/a|||"],
        &["Error R1", "Warning R6"],
    );
}

#[test]
fn markup_that_nothing_can_be_made_of_ends_the_file() {
    let findings = |file: &str| {
        let error = Reader::new(file.as_bytes(), Limits::default())
            .find_map(Result::err)
            .unwrap();
        assert!(error.is_fatal());
        error.to_string()
    };
    let file = urlset("<url><loc>http://host/a</loc><!x></url>");
    check_reading(&file, &["! R1"], &[]);
    assert!(
        findings(&file).contains("not well-formed: "),
        "{}",
        findings(&file)
    );
    let page = "file is a web page (HTML), expected a sitemap (R4)";
    for file in [
        "<!DOCTYPE html SYSTEM 'about:legacy-compat'><h1>x</h1>",
        "<!DOCTYPE html[]><h1>x</h1>",
        "<div>x</div>",
    ] {
        assert!(findings(file).ends_with(page), "{}", findings(file));
    }
    for file in ["<!DOCTYPE htmlx><h1>x</h1>", "<foo/>"] {
        assert!(!findings(file).ends_with(page), "{}", findings(file));
    }
}

#[test]
fn prefix_that_nothing_declares_is_known_by_its_name() {
    let findings = |name: &str| -> Vec<String> {
        let file = urlset(&format!("<url><loc>http://host/</loc><{name}/></url>"));
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert_eq!(reader.by_ref().flatten().count(), 1);
        let findings = reader.findings().iter();
        findings
            .map(|finding| finding.problem.to_string())
            .collect()
    };
    let mobile = findings("mobile:mobile");
    assert_eq!(mobile[0], "prefix mobile is not declared");
    assert!(!mobile[1].starts_with("extension <"), "{mobile:?}");
    let other = findings("foo:x");
    assert_eq!(other, ["prefix foo is not declared", "extension <x>"]);
}

#[test]
fn fault_inside_a_tag_is_reported_with_its_own_line() {
    let check = |file: &str, expected: &str| {
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert_eq!(reader.by_ref().flatten().count(), 1, "{file}");
        let findings: Vec<String> = reader.findings().iter().map(ToString::to_string).collect();
        assert!(
            findings.iter().any(|finding| finding == expected),
            "{findings:#?}"
        );
        assert!(file.lines().count() > 1);
    };
    let entry = "<url><loc>http://host/a</loc></url>";
    let root = format!("<urlset xmlns=\"{NAMESPACE}\"");
    let offset = root.len();
    check(
        &format!("{root}\n xmlns:x=\"u\"xmlns:y=\"v\">{entry}</urlset>"),
        &format!(
            "line 2, byte {}: not well-formed: attribute without white space before it (R1)",
            offset + 13
        ),
    );
    check(
        &format!("{root}\r\n xmlns:x=\"u?a&b\">{entry}</urlset>"),
        &format!(
            "line 2, byte {}: ampersand is not escaped, expected &amp; (R3)",
            offset + 15
        ),
    );
    check(
        &format!("<?xml version='1.0'\n encodng='UTF-8'?>{root}>{entry}</urlset>"),
        "line 2, byte 21: not well-formed: XML declaration is not like <?xml version=\"1.0\" encoding=\"UTF-8\"?> (R1)",
    );
    check(
        &format!("{root}>{entry}</urlset>\n<!-- "),
        &format!(
            "line 2, byte {}: not well-formed: tag, comment or instruction after the root element has no end (R1)",
            offset + entry.len() + 11
        ),
    );
}
