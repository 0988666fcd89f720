//! The reader and the writers against the official schemas of sitemaps.org and documents made for them.
//!
//! Schemas and documents are not part of this repository: the tests look for them in the folder that the environment variable
//! `ARPENT_SHARED` names, and are skipped when it is not set. Validation needs `xmllint` (Debian: libxml2-utils).

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::{
    collections::BTreeMap,
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sitemap_core::{
    ChangeFreq, IndexEntry, IndexWriter, LastMod, Limits, Loc, Priority, Push, UrlEntry,
    UrlSetWriter,
    read::{Expectation, Item, Kind, ReadError, Reader, check},
};

use crate::support::{shared, skip};

fn schemas() -> Option<PathBuf> {
    Some(shared()?.join("schemas"))
}

/// The documents of a folder that have no extension of Google, by name.
fn core_documents(folder: &Path) -> BTreeMap<String, String> {
    let mut documents = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if !text.contains("google.com/schemas") && !text.contains("www.w3.org/1999/xhtml") {
            documents.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), text);
        }
    }
    assert!(
        !documents.is_empty(),
        "no documents in {}",
        folder.display()
    );
    documents
}

/// What the reader makes of a document: the entries it yields, and the rule and severity of everything it says.
fn reading(document: &str) -> (usize, Vec<String>) {
    let mut reader = Reader::new(document.as_bytes(), Limits::default());
    let mut entries = 0;
    let mut lost = Vec::new();
    for item in &mut reader {
        match item {
            Ok(Item::Url(_) | Item::Sitemap(_)) => entries += 1,
            Err(ReadError::Entry(finding) | ReadError::File(finding)) => lost.push(finding),
            Err(error) => panic!("{error}"),
        }
    }
    let findings = reader.findings().iter().chain(&lost);
    (
        entries,
        findings
            .map(|finding| format!("{:?} {}", finding.severity(), finding.rule()))
            .collect(),
    )
}

fn passes_check(document: &str) -> bool {
    let place = Loc::parse("https://www.example.com/sitemap.xml").unwrap();
    let kind = if document.contains("<sitemapindex") {
        Kind::Index
    } else {
        Kind::UrlSet
    };
    check(document.as_bytes(), &Expectation::new(kind, &place)).is_ok()
}

#[test]
fn valid_documents_are_read_without_a_word() {
    let Some(schemas) = schemas() else { return };
    for (name, document) in core_documents(&schemas.join("examples/valid")) {
        let (entries, said) = reading(&document);
        // The schema allows one character more than the text of the protocol.
        if name == "urlset-loc-2048.xml" {
            assert_eq!(
                (entries, said),
                (0, vec!["Warning R11".to_owned()]),
                "{name}"
            );
            assert!(!passes_check(&document), "{name}");
        } else {
            assert_eq!(entries, document.matches("<loc>").count(), "{name}");
            assert_eq!(said, Vec::<String>::new(), "{name}");
            assert!(passes_check(&document), "{name}");
        }
    }
}

#[test]
fn invalid_documents_are_reported_with_their_rule() {
    let Some(schemas) = schemas() else { return };
    // Name, entries that can be used nevertheless, what is said.
    let expected = [
        ("index-bad-lastmod.xml", 1, "Error R42"),
        ("index-changefreq.xml", 1, "Error R36"),
        ("index-empty.xml", 0, "Warning R68"),
        ("index-lastmod-before-loc.xml", 1, "Warning R36"),
        ("index-no-loc.xml", 0, "Error R36"),
        ("urlset-bad-changefreq.xml", 1, "Warning R16"),
        ("urlset-bad-lastmod.xml", 1, "Error R13"),
        ("urlset-bad-priority.xml", 1, "Error R18"),
        ("urlset-empty-lastmod.xml", 1, "Error R13"),
        ("urlset-empty.xml", 0, "Warning R68"),
        ("urlset-https-namespace.xml", 1, "Error R5"),
        ("urlset-lastmod-no-seconds.xml", 1, "Warning R13"),
        ("urlset-lastmod-year.xml", 1, "Warning R13"),
        ("urlset-lastmod-yearmonth.xml", 1, "Warning R13"),
        ("urlset-loc-2049.xml", 0, "Error R11"),
        ("urlset-loc-too-short.xml", 1, "Warning R68"),
        ("urlset-no-loc.xml", 0, "Error R7"),
        ("urlset-no-namespace.xml", 1, "Error R5"),
        ("urlset-priority-exponent.xml", 1, "Error R18"),
        ("urlset-two-locs.xml", 0, "Error R7"),
        ("urlset-unescaped-amp.xml", 1, "Error R3"),
        ("urlset-unknown-child.xml", 1, "Warning R6"),
        ("urlset-unknown-extension.xml", 1, "Note R71"),
        ("urlset-wrong-order.xml", 1, "Warning R8"),
    ];
    compare(&schemas.join("examples/invalid"), &expected);
}

#[test]
fn documents_that_only_the_schema_accepts_are_reported() {
    let Some(schemas) = schemas() else { return };
    let expected = [
        ("xsd-accepts-date-with-zone.xml", 1, "Error R13"),
        ("xsd-accepts-datetime-without-zone.xml", 1, "Error R13"),
        ("xsd-accepts-ftp-loc.xml", 0, "Error R9"),
        ("xsd-accepts-hour-24.xml", 1, "Error R13"),
        ("xsd-accepts-negative-year.xml", 1, "Error R13"),
        // Only the check knows where the file stands.
        ("xsd-accepts-other-host.xml", 2, ""),
        ("xsd-accepts-padded-loc.xml", 1, "Warning R12"),
        ("xsd-accepts-raw-non-ascii-and-space.xml", 1, "Error R24"),
        ("xsd-accepts-relative-loc.xml", 0, "Error R9"),
    ];
    compare(&schemas.join("examples/xsd-too-lenient"), &expected);
}

/// Compares every document of a folder with its row, and sees that none passes the check.
fn compare(folder: &Path, expected: &[(&str, usize, &str)]) {
    let documents = core_documents(folder);
    assert_eq!(documents.len(), expected.len(), "{:?}", documents.keys());
    for (name, entries, said) in expected {
        let document = &documents[*name];
        let said = if said.is_empty() {
            Vec::new()
        } else {
            vec![(*said).to_owned()]
        };
        assert_eq!(reading(document), (*entries, said), "{name}");
        let is_short_url = *name == "urlset-loc-too-short.xml";
        assert!(!passes_check(document) || is_short_url, "{name}");
    }
}

/// Asks `xmllint` whether a file is valid; `None` when it is not installed.
fn validate(schema: &Path, file: &[u8]) -> Option<Result<(), String>> {
    let mut command = Command::new("xmllint");
    command
        .args(["--nonet", "--noout", "--schema"])
        .arg(schema)
        .arg("-");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip("xmllint is not installed");
            return None;
        }
        Err(error) => panic!("start xmllint: {error}"),
    };
    // It says nothing but "- validates" before it has read everything, so writing first cannot block.
    child.stdin.take().unwrap().write_all(file).unwrap();
    let output = child.wait_with_output().unwrap();
    let verdict = if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    Some(verdict)
}

/// URLs with everything that may stand in one.
fn urls() -> Vec<Loc> {
    let mut urls = Vec::new();
    for code in (0..0x3000_u32).step_by(7) {
        if let Some(character) = char::from_u32(code) {
            urls.push(
                Loc::parse(&format!(
                    "https://www.example.com/{character}x?{character}&'%FC"
                ))
                .unwrap(),
            );
        }
    }
    urls.push(Loc::parse("https://[2001:db8::1]:8443/").unwrap());
    urls.push(Loc::parse("http://ümlat.example:8080/%zz?[]").unwrap());
    urls.push(Loc::parse(&format!("https://example.com/{}", "a".repeat(2_027))).unwrap());
    urls
}

#[test]
fn written_urlset_is_valid() {
    let Some(schemas) = schemas() else { return };
    let dates = [
        "2024-05-17",
        "0001-01-01",
        "9999-12-31T23:59:59.123456789-14:00",
        "2024-02-29T00:00:00Z",
        "1969-12-31T00:00:00.5+14:00",
    ];
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    for (number, loc) in urls().into_iter().enumerate() {
        let mut entry = UrlEntry::new(loc);
        entry.lastmod = dates
            .get(number % 6)
            .map(|date| LastMod::parse(date).unwrap());
        entry.changefreq = ChangeFreq::ALL.get(number % 8).copied();
        entry.priority = u8::try_from(number % 12)
            .ok()
            .and_then(|tenths| Priority::from_tenths(tenths).ok());
        assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    }
    let (file, _) = writer.finish().unwrap();
    let verdict = validate(&schemas.join("all-urlset.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}

#[test]
fn written_index_is_valid() {
    let Some(schemas) = schemas() else { return };
    let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    let lastmod = LastMod::from_timestamp("2026-03-02T04:00:11.5Z".parse().unwrap());
    for (number, loc) in urls().into_iter().enumerate() {
        let mut entry = IndexEntry::new(loc);
        entry.lastmod = (number % 2 == 0).then(|| lastmod.clone());
        assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    }
    let (file, _) = writer.finish().unwrap();
    let verdict = validate(&schemas.join("all-siteindex.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}

#[test]
fn largest_urlset_is_valid_and_passes_the_check() {
    let Some(schemas) = schemas() else { return };
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut number = 0;
    loop {
        let url = format!(
            "https://www.example.com/{number:08}?{}",
            "a&'".repeat(number % 400)
        );
        match writer
            .push(&UrlEntry::new(Loc::parse(&url).unwrap()))
            .unwrap()
        {
            Push::Written => number += 1,
            Push::Full => break,
        }
    }
    let (file, written) = writer.finish().unwrap();
    let largest_entry = 2_048 * 6;
    assert!(file.len() as u64 <= 52_428_800 && file.len() as u64 > 52_428_800 - largest_entry);
    let place = Loc::parse("https://www.example.com/sitemap.xml").unwrap();
    assert_eq!(
        check(&file[..], &Expectation::new(Kind::UrlSet, &place)).unwrap(),
        written
    );
    let verdict = validate(&schemas.join("all-urlset.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}
