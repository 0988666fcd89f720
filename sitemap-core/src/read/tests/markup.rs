//! Roots, namespaces, and markup that is not well-formed.

use super::{check_reading, check_row, columns, index, list, problems, reading, urlset};
use crate::{
    Limits,
    limits::NAMESPACE,
    read::{MAX_DEPTH, MAX_TOKEN_BYTES, Reader},
};

#[test]
fn root_element_decides_the_kind_of_a_file() {
    let entry = "<url><loc>http://host/</loc></url>";
    for row in [
        "<urlset>~</urlset> => http://host/||| => Error R5",
        "<urlset xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'>~</urlset> => http://host/||| => Error R5",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9/'>~</urlset> => http://host/||| => Error R5",
        "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>~</urlset> => http://host/||| => Warning R5",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' lang='en'>~</urlset> => http://host/||| => Warning R6",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
         xsi:schemaLocation='a b'>~</urlset> => http://host/||| => Warning R69",
        "<html><body/></html> => ! R4",
        "<!DOCTYPE html><html></html> => ! R4 => Error R1",
        " => ! R4",
        " \n  => ! R4",
        "{\"a\": 1} => ! R1",
    ] {
        check_row(row, |file| file.replace('~', entry));
    }
    let (file, other) = (
        urlset(entry),
        index("<sitemap><loc>http://host/s.xml</loc></sitemap>"),
    );
    for row in [
        "~<html></html> => http://host/|||, ! R4",
        "~^ => http://host/|||, http://host/s.xml| => Warning R1, Error R4",
        "~trailing => http://host/|||, ! R4",
        "~\n<!-- generated -->\n => http://host/|||",
    ] {
        check_row(row, |text| text.replace('~', &file).replace('^', &other));
    }
}

#[test]
fn web_page_is_called_one() {
    let check = |file: &str, is_page: bool| {
        let error = Reader::new(file.as_bytes(), Limits::default())
            .find_map(Result::err)
            .unwrap();
        assert!(error.is_fatal());
        let page = "file is a web page (HTML), expected a sitemap (R4)";
        assert_eq!(error.to_string().ends_with(page), is_page, "{error}");
    };
    for page in [
        "<!DOCTYPE html><html lang=en><head><title>Not found</title>",
        "<!doctype HTML>\n<meta charset=utf-8><p>Not found",
        "<!doctype html><h1>Not found</h1>",
        "<!DOCTYPE html SYSTEM 'about:legacy-compat'><h1>x</h1>",
        "<!DOCTYPE html[]><h1>x</h1>",
        "<HTML><BODY bgcolor=white>Not found",
        "\n\n<html xmlns=\"http://www.w3.org/1999/xhtml\"></html>",
        "<div>x</div>",
    ] {
        check(page, true);
    }
    for other in ["<!DOCTYPE htmlx><h1>x</h1>", "<foo/>"] {
        check(other, false);
    }
}

#[test]
fn elements_of_a_wrong_namespace_are_read() {
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
    for row in [
        "<lastmod>2024-05-1 => http://host/a|||, ! R1",
        "<x:y><z => http://host/a|||, ! R1 => Error R70, Note R71",
    ] {
        check_row(row, |end| {
            urlset("<url><loc>http://host/a</loc>").replace("</urlset>", end)
        });
    }
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
fn reading_goes_on_after_a_wrong_end_tag() {
    let whole = urlset("<url><loc>http://host/a</loc></url><url><loc>http://host/b</loc></url>");
    for row in [
        "b</loc></url> => b</loc></urls> => http://host/a|||, http://host/b||| => Error R1, Error R1",
        "a</loc></url> => a</url> => http://host/a|||, http://host/b||| => Error R1",
        "a</loc></url> => a</LOC></url> => http://host/a|||, http://host/b||| => Error R1, Error R1",
        "a</loc></url> => a</loc></url></url> => http://host/a|||, http://host/b||| => Error R1",
        "a</loc></url> => a</loc><lastmod></url> => http://host/a|||, http://host/b||| => Error R1, Error R13",
        "<url><loc>http://host/b => </url><loc>http://host/b => http://host/a||| => Error R1, Error R6, Error R1",
        "a</loc></url> => a</loc> => http://host/a|||, http://host/b||| => Error R6, Error R1",
        "<url><loc>http://host/a => <url><url><loc>http://host/a => http://host/a|||, http://host/b||| => Error R6, Error R1",
    ] {
        let [from, to, items, findings] = columns(row);
        assert!(whole.contains(from));
        check_reading(whole.replace(from, to), &list(items), &list(findings));
    }
    // An element with its own namespace stays in it.
    check_reading(
        urlset(
            "<x:y xmlns:x=\"http://host/x\"><x:z></x:y><url><loc>http://host/</loc></url></x:z>",
        ),
        &["http://host/|||"],
        &["Note R70", "Note R71", "Error R1", "Error R1"],
    );
    let unopened = "not well-formed: end tag of an element that is not open";
    let other = "not well-formed: end tag of another element than the last one that was opened";
    for (content, expected) in [
        ("</b><url><loc>http://host/</loc></url>", unopened),
        ("<url><loc>http://host/</url>", other),
    ] {
        assert_eq!(problems(&urlset(content)), [expected]);
    }
}

#[test]
fn broken_tag_costs_its_own_url() {
    for row in [
        "<url><loc>http://host/a?x<y</loc></url><url><loc>http://host/?<3</loc></url> => - R1, - R1, http://host/b||| \
         => Error R1, Warning R6, Error R1, Error R1, Warning R6, Error R1",
        "<url><loc>http://host/<b><c <d></b></loc></url> => http://host/|||, http://host/b||| => Warning R6, Error R1, Error R1",
        "<url><loc>http://host/a</loc><b <c></b></url> => http://host/a|||, http://host/b||| => Error R1, Warning R6",
        // A start tag too many does not end the file.
        "<url><url><loc>http://host/a</loc></url></url> => http://host/a|||, http://host/b||| => Error R6",
        "<url><url><url><loc>http://host/a</loc></url></url></url> => http://host/a|||, http://host/b||| => Error R6, Error R6",
    ] {
        check_row(row, |entry| {
            urlset(&format!("{entry}<url><loc>http://host/b</loc></url>"))
        });
    }
}

#[test]
fn protocol_element_in_a_wrong_place_is_reported() {
    let entries = |file: &str| -> Vec<String> {
        let items = reading(file.as_bytes()).0.into_iter();
        let urls = items.filter(|item| !item.starts_with('-'));
        urls.filter_map(|item| Some(item.split_once('|')?.0.to_owned()))
            .collect()
    };
    let lost = "is in an element that may not contain it, and is left out with that element";
    let url = "<url><loc>http://host/a</loc></url>";
    for row in [
        "<url><loc><loc>http://host/a</loc></loc></url> => <loc> is not allowed in <loc>",
        "<url><loc>http://host/a</loc><lastmod><priority/>2026-01-01</lastmod></url> => <priority> is not allowed in <lastmod>",
        "<url><loc>http://host/a</loc><sitemap/><urlset/></url> => <sitemap> is not allowed in <url> => <urlset> is not allowed in <url>",
        "<lastmod/><urlset>^</urlset>^ => <lastmod> is not allowed in <urlset> => <urlset> is not allowed in <urlset> => <url> ~",
        "<g><h>^</h></g><x:g xmlns:x='u:x'>^<x:url/></x:g>^ => unknown element <g> => <url> ~ \
         => namespace is declared below the root element => extension <g> => <url> ~",
        // What others call so is theirs.
        "<url><loc>http://host/a</loc><x:g xmlns:x='u:x'><url/><x:url/></x:g></url> \
         => namespace is declared below the root element => extension <g>",
    ] {
        let mut columns = row.split(" => ");
        let file = urlset(&columns.next().unwrap_or_default().replace('^', url));
        assert_eq!(entries(&file), ["http://host/a"], "{file}");
        let expected: Vec<_> = columns.map(|it| it.replace('~', lost)).collect();
        assert_eq!(problems(&file), expected, "{file}");
    }
    let sitemap = "<sitemap><loc>http://host/s.xml</loc>";
    for row in [
        "2 => ^^</sitemap></sitemap><g>^</sitemap></g> => <sitemap> is not allowed in <sitemap> => unknown element <g> => <sitemap> ~",
        "1 => ^<x xmlns='u:x'/></sitemap> => namespace is declared below the root element => extension <x> is not allowed in an index",
    ] {
        let mut columns = row.split(" => ");
        let count = columns.next().unwrap_or_default();
        let file = index(&columns.next().unwrap_or_default().replace('^', sitemap));
        assert_eq!(entries(&file).len().to_string(), count, "{file}");
        let expected: Vec<_> = columns.map(|it| it.replace('~', lost)).collect();
        assert_eq!(problems(&file), expected, "{file}");
    }
}

#[test]
fn byte_order_mark_in_the_middle_is_skipped() {
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
fn markup_of_no_meaning_ends_the_file() {
    let file = urlset("<url><loc>http://host/a</loc><!x></url>");
    check_reading(&file, &["! R1"], &[]);
    let error = Reader::new(file.as_bytes(), Limits::default())
        .find_map(Result::err)
        .unwrap();
    assert!(error.to_string().contains("not well-formed: "), "{error}");
}

#[test]
fn undeclared_prefix_is_known_by_its_name() {
    let findings = |name: &str| {
        problems(&urlset(&format!(
            "<url><loc>http://host/</loc><{name}/></url>"
        )))
    };
    let mobile = findings("mobile:mobile");
    assert_eq!(mobile[0], "prefix mobile is not declared");
    assert!(!mobile[1].starts_with("extension <"), "{mobile:?}");
    let other = findings("foo:x");
    assert_eq!(other, ["prefix foo is not declared", "extension <x>"]);
}

/// A bar marks the place of the finding, which is in the second line.
#[test]
fn fault_inside_a_tag_has_its_own_line() {
    let root = format!("<urlset xmlns=\"{NAMESPACE}\"");
    let entry = "<url><loc>http://host/a</loc></url>";
    for row in [
        "~\n xmlns:x='u'|xmlns:y='v'>^</urlset> => not well-formed: attribute without white space before it (R1)",
        "~\r\n xmlns:x='u?a|&b'>^</urlset> => ampersand is not escaped, expected &amp; (R3)",
        "<?xml version='1.0'\n |encodng='UTF-8'?>~>^</urlset> \
         => not well-formed: XML declaration is not like <?xml version=\"1.0\" encoding=\"UTF-8\"?> (R1)",
        "~>^</urlset>\n|<!--  => not well-formed: tag, comment or instruction after the root element has no end (R1)",
    ] {
        let [marked, message] = columns(row);
        let marked = marked.replace('~', &root).replace('^', entry);
        let expected = format!("line 2, byte {}: {message}", marked.find('|').unwrap());
        let file = marked.replace('|', "");
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert_eq!(reader.by_ref().flatten().count(), 1, "{file}");
        let findings: Vec<String> = reader.findings().iter().map(ToString::to_string).collect();
        assert!(findings.contains(&expected), "{findings:#?}");
    }
}
