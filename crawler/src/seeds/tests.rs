use std::io::Cursor;
use std::ops::ControlFlow;

use super::*;
use crate::{store::memory::MemoryStore, url_key::Identity};

fn hash(number: usize) -> String {
    format!("{number:064x}").chars().rev().collect()
}

#[test]
fn own_files_are_known_until_there_are_too_many() {
    let mut store = MemoryStore::default();
    let mut own = OwnFiles::default();
    for number in 0..MAX_OWN_FILES + 2 {
        assert!(own.add(&hash(number)));
    }
    assert!(!own.add(&hash(7)), "it is known");
    assert!(!own.add("short"), "no hash");
    let commit = Commit {
        values: vec![own.value()],
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
    let own = OwnFiles::load(&store).unwrap();
    assert!(!own.contains(&hash(1)), "the oldest are forgotten");
    assert!(own.contains(&hash(2)));
    assert!(own.contains(&hash(MAX_OWN_FILES + 1)));
    assert!(!own.contains("") && !own.contains("0"));
}

fn put_all(store: &mut MemoryStore, documents: &[Document]) {
    let mut commit = Commit::default();
    for (number, document) in documents.iter().enumerate() {
        put(&mut commit, number, document, number + 1);
    }
    store.commit(&commit).unwrap();
}

#[test]
fn documents_come_back_and_those_of_an_earlier_run_do_not() {
    let mut store = MemoryStore::default();
    assert_eq!(take_up(&mut store, 1).unwrap(), []);
    let mut child = Document::new("https://example.com/1.xml", DocumentKind::Sitemap, 1)
        .with_problem(SeedProblem::Truncated, &"x".repeat(5_000));
    (child.parent, child.level, child.state) = (Some(0), 1, DocumentState::Failed);
    let index = Document::new("https://example.com/index.xml", DocumentKind::WellKnown, 1);
    put_all(&mut store, &[index.clone(), child.clone()]);
    assert_eq!(take_up(&mut store, 1).unwrap(), [index, child.clone()]);
    let tally = Tally::read(&store).unwrap();
    assert_eq!((tally.waiting, tally.troubled, tally.passing), (1, 1, 1));
    let trouble = &tally.troubles[0];
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
        let mut store = MemoryStore::default();
        put_all(&mut store, &[Document::new("x", DocumentKind::List, 1)]);
        let values = vec![(name.to_owned(), Some(text.to_owned()))];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
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
        SeedProblem::BadRedirect,
        SeedProblem::HostClosed,
        SeedProblem::NotASitemap,
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
fn a_list_is_read_again_and_again_in_batches() {
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
fn an_empty_list_names_nothing() {
    for text in ["", "\n\n", "\u{feff}", "  \r\n"] {
        let list = SeedList::copy("x", Cursor::new(text)).unwrap();
        list.check().unwrap();
        assert_eq!(entries(&list).0, [""; 0], "{text:?}");
    }
}

#[test]
fn what_a_list_lacks_is_told_with_its_line() {
    fn check(text: &str, expected: &str) {
        let list = SeedList::copy("urls.txt", Cursor::new(text)).unwrap();
        assert_eq!(list.check().unwrap_err().to_string(), expected);
    }
    let said = "of the URL list urls.txt";
    check(
        "/a",
        &format!("line 1 {said} is no absolute http:// or https:// URL: \"/a\""),
    );
    check(
        "https://example.com/\n\nmailto:me@example.com\n",
        &format!("line 3 {said} is no absolute http:// or https:// URL: \"mailto:me@example.com\""),
    );
    let long = format!("https://example.com/{}", "a".repeat(70_000));
    check(
        &long,
        &format!("line 1 {said} is longer than 65536 bytes, expected a URL"),
    );
}

fn reading(body: &str) -> Reading {
    let mut take = |_| ControlFlow::Continue(());
    read(
        body.as_bytes(),
        MAX_UNPACKED_BYTES,
        None,
        &Identity::default(),
        &mut take,
    )
}

#[test]
fn what_a_document_is_not_is_told() {
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
    check("", Some(SeedProblem::NotASitemap));
    check(
        "<urlset><url><loc>https://example.com/</loc></url>",
        Some(SeedProblem::Truncated),
    );
}

#[test]
fn findings_are_counted_and_the_first_is_told() {
    let found = reading(
        "<urlset><url><loc>/a</loc></url><url><loc>https://example.com/?a&b</loc></url></urlset>",
    );
    assert_eq!((found.entries, found.problem), (2, None));
    assert!(found.findings >= 2, "{}", found.findings);
    assert!(found.first_finding.is_some());
}
