use std::io::{Cursor, Write as _};
use std::ops::ControlFlow;

use sitemap_core::read::MAX_RECORD_BYTES;

use super::*;
use crate::{store::Store, url_key::Identity};

fn hash(number: usize) -> String {
    format!("{number:064x}").chars().rev().collect()
}

#[test]
fn own_files_are_known_up_to_a_number() {
    let mut store = Store::in_memory().unwrap();
    let mut own = OwnFiles::default();
    for number in 0..MAX_OWN_FILES + 2 {
        assert!(own.add(&hash(number)));
    }
    assert!(!own.add(&hash(7)), "it is known");
    assert!(!own.add("short"), "no hash");
    store.commit(&[Effect::Value(own.value())]).unwrap();
    let own = OwnFiles::load(&store).unwrap();
    assert!(!own.contains(&hash(1)), "the oldest are forgotten");
    assert!(own.contains(&hash(2)));
    assert!(own.contains(&hash(MAX_OWN_FILES + 1)));
    assert!(!own.contains("") && !own.contains("0"));
}

fn put_all(store: &mut Store, documents: &[Document]) {
    let mut commit = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        put(&mut commit, number, document, number + 1);
    }
    store.commit(&commit).unwrap();
}

#[test]
fn documents_come_back_within_one_run() {
    let mut store = Store::in_memory().unwrap();
    assert_eq!(take_up(&mut store, 1).unwrap(), []);
    let mut child = Document::new("https://example.com/1.xml", DocumentKind::Sitemap, 1)
        .with_problem(SeedProblem::CutShort, &"x".repeat(5_000));
    (child.parent, child.level, child.state) = (Some(0), 1, DocumentState::Failed);
    let index = Document::new("https://example.com/index.xml", DocumentKind::WellKnown, 1);
    put_all(&mut store, &[index.clone(), child.clone()]);
    assert_eq!(take_up(&mut store, 1).unwrap(), [index, child.clone()]);
    let tally = Tally::read(&store).unwrap();
    assert_eq!(
        (tally.waiting, tally.with_problems, tally.passing),
        (1, 1, 1)
    );
    let trouble = &tally.problems[0];
    assert_eq!(
        trouble.named_by.as_deref(),
        Some("https://example.com/index.xml")
    );
    assert_eq!(trouble.detail.as_ref().map(String::len), Some(500));
    assert_eq!(take_up(&mut store, 2).unwrap(), []);
    assert_eq!(documents(&store).unwrap(), []);
    assert_eq!(store.value("seeds.0").unwrap(), None);
}

#[test]
fn values_that_cannot_be_read_are_damage() {
    for (name, text) in [
        ("seeds.count", "many"),
        ("seeds.count", "99999999"),
        ("seeds.0", "{}"),
    ] {
        let mut store = Store::in_memory().unwrap();
        put_all(&mut store, &[Document::new("x", DocumentKind::List, 1)]);
        let value = (name.to_owned(), Some(text.to_owned()));
        store.commit(&[Effect::Value(value)]).unwrap();
        let error = documents(&store).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn problem_codes_are_those_of_the_store() {
    let problems = [
        SeedProblem::Gone,
        SeedProblem::ServerError,
        SeedProblem::BadStatus,
        SeedProblem::NetworkError,
        SeedProblem::RobotsDisallowed,
        SeedProblem::RobotsUnreachable,
        SeedProblem::Forbidden,
        SeedProblem::BadRedirect,
        SeedProblem::HostClosed,
        SeedProblem::NotASitemap,
        SeedProblem::CutShort,
        SeedProblem::Truncated,
        SeedProblem::TooLarge,
        SeedProblem::Damaged,
        SeedProblem::Undecodable,
        SeedProblem::TooDeep,
        SeedProblem::Loop,
        SeedProblem::TooMany,
        SeedProblem::BadUrl,
        SeedProblem::RelativeUrl,
        SeedProblem::Io,
    ];
    for problem in problems {
        let stored = serde_json::to_string(&problem).unwrap();
        assert_eq!(stored, format!("\"{}\"", problem.code()));
    }
}

/// Reads a list; its entries, and the size of its batches.
fn entries(list: &SeedList) -> (Vec<String>, Vec<usize>) {
    let (mut entries, mut sizes) = (Vec::new(), Vec::new());
    let reading = list.read(&Identity::default(), &mut |batch| {
        sizes.push(batch.pages.len());
        entries.extend(batch.pages.iter().map(|key| key.as_str().to_owned()));
        ControlFlow::Continue(())
    });
    assert_eq!(reading.problem, None);
    assert_eq!(reading.entries, entries.len() as u64);
    (entries, sizes)
}

#[test]
fn a_list_is_read_in_batches() {
    let lines: Vec<String> = (0..2_500)
        .map(|number| format!("https://example.com/{number}"))
        .collect();
    let list = SeedList::copy("standard input", Cursor::new(lines.join("\n"))).unwrap();
    list.check().unwrap();
    for _ in 0..2 {
        let (found, sizes) = entries(&list.clone());
        assert_eq!(found, lines);
        assert_eq!(sizes, [1_000, 1_000, 500]);
    }
    let mut taken = 0;
    list.read(&Identity::default(), &mut |_| {
        taken += 1;
        ControlFlow::Break(())
    });
    assert_eq!(taken, 1, "nothing more is read for a taker that has gone");
}

#[test]
fn a_list_is_read_whatever_is_around_it() {
    fn check(list: &[u8], expected: u64) {
        assert_eq!(checked(list).unwrap().entries, expected, "{list:?}");
    }
    for empty in ["", "\n\n", "\u{feff}", "  \r\n"] {
        check(empty.as_bytes(), 0);
    }
    let sitemap = "Warning: undefined index on line 3\n<?xml version='1.0'?>\n<urlset>\
                   <url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url></urlset>";
    check(sitemap.as_bytes(), 2);
    let narrow = "https://example.com/a\nhttps://example.com/b\n";
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide: Vec<u8> = narrow.encode_utf16().flat_map(bytes).collect();
        check(&wide, 2);
    }
}

fn checked(text: &[u8]) -> Result<ListCheck, SeedListError> {
    SeedList::copy("urls.txt", Cursor::new(text))
        .unwrap()
        .check()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn lists_that_are_none_are_refused() {
    fn check(list: &[u8], expected: &str) {
        let error = checked(list).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    check(
        b"<urlset><url><loc>https://example.com/a</loc></url><url><loc>",
        "the URL list urls.txt cannot be read to its end: ",
    );
    let whole = packed("https://example.com/a\n".repeat(500).as_bytes());
    check(
        &whole[..whole.len() - 12],
        "failed to read the URL list urls.txt",
    );
    // A table without a column of URLs.
    check(
        b"\nWo,Was\nhttps://example.com/a,200\n",
        "urls.txt:2: the first line is not a URL",
    );
    check(
        b"\n/a\n/b\n/c",
        "no line of the URL list urls.txt is a URL; the first of 3: urls.txt:2: ",
    );
    check(b"<html>", "neither lines of URLs");
}

#[test]
fn wrong_lines_are_reported_with_their_place() {
    fn check(line: &[u8], expected: &str) {
        let text = [
            b"https://example.com/a\n\n",
            line,
            b"\nhttps://example.com/b",
        ]
        .concat();
        let found = checked(&text).unwrap();
        assert_eq!((found.entries, found.bad_lines), (2, 1));
        assert_eq!(found.told[0].to_string(), format!("urls.txt:3: {expected}"));
        let list = SeedList::copy("urls.txt", Cursor::new(text)).unwrap();
        let mut used = Vec::new();
        let reading = list.read(&Identity::default(), &mut |batch| {
            used.extend(batch.pages);
            ControlFlow::Continue(())
        });
        assert_eq!(used.len(), 2);
        assert_eq!((reading.entries, reading.findings), (2, 1));
        let trouble = reading.troubles.first().unwrap();
        assert_eq!((trouble.rule.as_str(), trouble.count), (UNUSABLE, 1));
        assert_eq!(trouble.example, format!("line 3: {expected}"));
    }
    let url = "expected an absolute http:// or https:// URL, found";
    check(b"/a", &format!("{url} \"/a\" (not a URL)"));
    check(b"no url", "white space inside a URL, expected one URL");
    check(
        b"mailto:me@example.com",
        &format!("{url} \"mailto:me@example.com\" (not an http or https URL)"),
    );
    let not_text = "bytes that are not text, expected a list in UTF-8 (or UTF-16)";
    check(b"\xff", not_text);
    let too_long = "a line of more than 256 KiB, expected a shorter one";
    check(&vec![b'a'; MAX_RECORD_BYTES + 1], too_long);
    check(&vec![b'a'; MAX_RECORD_BYTES * 3], too_long);
    let long = [b"https://example.com/", &[b'a'; 10_000][..]].concat();
    let shown = format!("https://example.com/{}", "a".repeat(80));
    let told = format!("{url} \"{shown}\" (URL longer than 2,047 bytes)");
    check(&long, &told);
}

#[test]
fn reports_of_wrong_lines_are_bounded() {
    let text = "https://example.com/\n".to_owned() + &"no url\n".repeat(500);
    let found = checked(text.as_bytes()).unwrap();
    assert_eq!((found.entries, found.bad_lines), (1, 500));
    assert_eq!(found.told.len(), MAX_BAD_LINES_REPORTED);
    assert_eq!(found.told.last().unwrap().line, 21);
}

fn reading(body: &str) -> DocumentReading {
    let mut taken = 0;
    let found = read(
        body.as_bytes(),
        MAX_UNPACKED_BYTES,
        None,
        &Identity::default(),
        &mut |batch| {
            taken += batch.pages.len();
            ControlFlow::Continue(())
        },
    );
    let is_other = matches!(found.problem, Some((SeedProblem::NotASitemap, _)));
    assert!(!is_other || taken == 0, "{body:?}");
    found
}

#[test]
fn wrong_kind_of_document_is_reported() {
    fn check(body: &str, expected: Option<SeedProblem>) {
        let problem = reading(body).problem.map(|(problem, _)| problem);
        assert_eq!(problem, expected, "{body:?}");
    }
    check("<urlset></urlset>", None);
    check(
        "<urlset><url><loc>https://example.com/</loc></url></urlset>",
        None,
    );
    check("https://example.com/a\nhttps://example.com/b\n", None);
    check("<rss version='2.0'><channel></channel></rss>", None);
    check("<html><head></head></html>", Some(SeedProblem::NotASitemap));
    check(
        "<!doctype html><title>Hello</title>",
        Some(SeedProblem::NotASitemap),
    );
    check("Not found", Some(SeedProblem::NotASitemap));
    let table = "url,status\nhttps://example.com/a,200\n";
    check(table, Some(SeedProblem::NotASitemap));
    check("", Some(SeedProblem::NotASitemap));
    check(
        "<urlset><url><loc>https://example.com/</loc></url>",
        Some(SeedProblem::Truncated),
    );
}

#[test]
fn findings_are_counted_by_rule() {
    let entry = |lastmod: &str| {
        format!("<url><loc>https://example.com/</loc><lastmod>{lastmod}</lastmod></url>\n")
    };
    let body =
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url><loc>/a</loc></url>\n"
            .to_owned()
            + &entry("yesterday").repeat(40) + "</urlset>";
    let found = reading(&body);
    assert_eq!((found.entries, found.problem), (41, None));
    assert_eq!(found.findings, 41);
    let told: Vec<_> = found
        .troubles
        .iter()
        .map(|trouble| (trouble.count, trouble.example.split(',').next()))
        .collect();
    assert_eq!(told, [(1, Some("line 2")), (40, Some("line 3"))]);
    let rules: Vec<&str> = found
        .troubles
        .iter()
        .map(|trouble| &*trouble.rule)
        .collect();
    assert!(rules.iter().all(|rule| rule.starts_with('R')), "{rules:?}");
}

#[test]
fn troubles_of_entries_are_bounded() {
    let mut troubles = EntryTroubles::default();
    for number in 0..MAX_TROUBLED_RULES + 5 {
        troubles.add(&format!("X{number}"), || "\u{20ac}".repeat(1_000));
    }
    assert_eq!(troubles.iter().count(), MAX_TROUBLED_RULES);
    let example = &troubles.first().unwrap().example;
    assert_eq!(example.chars().count(), MAX_EXAMPLE_CHARACTERS + 1);
    assert!(example.ends_with('\u{2026}'), "{example}");
}

#[test]
fn rules_are_tallied_over_all_documents() {
    let mut store = Store::in_memory().unwrap();
    take_up(&mut store, 1).unwrap();
    let document = |name: &str, rules: &[&str]| {
        let mut document = Document::new(name, DocumentKind::Sitemap, 1);
        document.state = DocumentState::Read;
        for rule in rules {
            document.troubles.add(rule, || format!("{rule} in {name}"));
        }
        document
    };
    put_all(
        &mut store,
        &[
            document("a", &["R13", "R13", "R20"]),
            document("b", &["R13"]),
        ],
    );
    let tally = Tally::read(&store).unwrap();
    let rule = |count, documents, rule: &str| RuleTally {
        count,
        documents,
        document: "a".to_owned(),
        example: format!("{rule} in a"),
    };
    let expected = [
        ("R13".to_owned(), rule(3, 2, "R13")),
        ("R20".to_owned(), rule(1, 1, "R20")),
    ];
    assert_eq!(tally.entries, expected.into());
    assert_eq!((tally.with_problems, tally.passing), (0, 0));
}
