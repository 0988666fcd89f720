//! The formats besides XML: which files there are, which the index names, and what stays untouched.

use std::{collections::BTreeSet, io::Read as _};

use flate2::read::GzDecoder;
use sitemap_core::read;

use super::*;
use crate::config::{ElementValue, EntryRule, Format, Namespace, NamespaceElement};

const ALL: [Format; 4] = [Format::Xml, Format::Text, Format::Rss, Format::Atom];

fn bench(formats: &[Format]) -> Bench {
    let mut bench = Bench::new("/");
    bench.config.formats = formats.iter().copied().collect::<BTreeSet<_>>();
    bench
}

/// The URLs of a file, read by our own reader, gzip undone.
fn urls(bench: &Bench, name: &str) -> Vec<String> {
    entries(bench, name)
        .into_iter()
        .map(|(url, _)| url)
        .collect()
}

fn entries(bench: &Bench, name: &str) -> Vec<(String, Option<String>)> {
    let file = fs::read(bench.config.output.join(name)).unwrap();
    let mut reader = read::Reader::new(file.as_slice(), sitemap_core::Limits::PROTOCOL);
    let mut entries = Vec::new();
    for item in &mut reader {
        let (loc, lastmod) = match item.unwrap() {
            read::Item::Url(entry) => (entry.loc, entry.lastmod),
            read::Item::Sitemap(entry) => (entry.loc, entry.lastmod),
        };
        let path = loc.as_str().strip_prefix("https://shop.example");
        let path = path.unwrap_or(loc.as_str()).to_owned();
        entries.push((path, lastmod.map(|lastmod| lastmod.to_string())));
    }
    assert_eq!(reader.findings(), [], "{name}");
    entries
}

/// The text of a packed file.
fn unpacked(bench: &Bench, name: &str) -> String {
    let file = fs::File::open(bench.config.output.join(name)).unwrap();
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn names(bench: &Bench) -> Vec<String> {
    bench.files().into_keys().collect()
}

#[test]
fn every_format_is_written() {
    let mut bench = bench(&ALL);
    bench.config.feed_entries = 3;
    let mut pages = shop();
    pages.insert("/blog/7".into(), 5);
    let published = bench.edition(0, &pages);
    let files: Vec<(&str, u64)> = published
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.entries))
        .collect();
    assert_eq!(
        files,
        [
            ("sitemap.xml", 5),
            ("sitemap-root.xml.gz", 3),
            ("sitemap-root.txt.gz", 3),
            ("sitemap.blog.xml.gz", 150),
            ("sitemap.blog.txt.gz", 150),
            ("sitemap.docs.xml.gz", 120),
            ("sitemap.docs.txt.gz", 120),
            ("sitemap-recent.rss", 3),
            ("sitemap-recent.atom", 3),
        ]
    );
    assert_eq!(published.sitemap_urls, ["https://shop.example/sitemap.xml"]);
    assert_eq!(published.listed, 273);
    assert_eq!(
        urls(&bench, "sitemap.xml"),
        [
            "/sitemap-root.xml.gz",
            "/sitemap.blog.xml.gz",
            "/sitemap.docs.xml.gz",
            "/sitemap-recent.rss",
            "/sitemap-recent.atom",
        ]
    );
    for part in ["sitemap-root", "sitemap.blog", "sitemap.docs"] {
        let xml = urls(&bench, &format!("{part}.xml.gz"));
        assert_eq!(urls(&bench, &format!("{part}.txt.gz")), xml, "{part}");
    }
    let newest = [
        ("/blog/7", "2026-01-01T00:00:05Z"),
        ("/", "2026-01-01T00:00:01Z"),
        ("/about", "2026-01-01T00:00:01Z"),
    ]
    .map(|(path, date)| (path.to_owned(), Some(date.to_owned())));
    assert_eq!(entries(&bench, "sitemap-recent.rss"), newest);
    assert_eq!(entries(&bench, "sitemap-recent.atom"), newest);
}

#[test]
fn without_xml_the_index_names_the_text_parts() {
    let mut bench = bench(&[Format::Text]);
    bench.config.gzip = false;
    bench.edition(0, &shop());
    assert_eq!(
        names(&bench),
        [
            "sitemap-root.txt",
            "sitemap.blog.txt",
            "sitemap.docs.txt",
            "sitemap.xml"
        ]
    );
    assert_eq!(
        urls(&bench, "sitemap.xml"),
        [
            "/sitemap-root.txt",
            "/sitemap.blog.txt",
            "/sitemap.docs.txt"
        ]
    );
    assert_eq!(
        bench.read("sitemap-root.txt"),
        "https://shop.example/\nhttps://shop.example/about\nhttps://shop.example/small/1\n"
    );
}

#[test]
fn small_site_has_one_file_per_format() {
    let check = |formats: &[Format], expected: &[&str], entrances: &[&str]| {
        let mut bench = bench(formats);
        bench.config.index = IndexMode::Auto;
        let published = bench.edition(0, &shop());
        assert_eq!(names(&bench), expected, "{formats:?}");
        let urls: Vec<_> = entrances
            .iter()
            .map(|name| format!("https://shop.example/{name}"))
            .collect();
        assert_eq!(published.sitemap_urls, urls, "{formats:?}");
        assert_eq!(published.listed, 273);
        assert_eq!(entries(&bench, entrances[0]).len(), 273, "{formats:?}");
    };
    check(&[Format::Xml], &["sitemap.xml"], &["sitemap.xml"]);
    check(&[Format::Text], &["sitemap.txt"], &["sitemap.txt"]);
    check(&ALL[..2], &["sitemap.txt", "sitemap.xml"], &["sitemap.xml"]);
    // Without an index robots.txt has to name the feeds.
    check(
        &ALL,
        &[
            "sitemap-recent.atom",
            "sitemap-recent.rss",
            "sitemap.txt",
            "sitemap.xml",
        ],
        &["sitemap.xml", "sitemap-recent.rss", "sitemap-recent.atom"],
    );
}

#[test]
fn text_parts_are_in_place_feeds_in_root() {
    let mut bench = bench(&ALL);
    bench.config.layout = Layout::InPlace;
    bench.edition(0, &shop());
    assert_eq!(
        names(&bench),
        [
            "blog/sitemap.txt.gz",
            "blog/sitemap.xml.gz",
            "docs/sitemap.txt.gz",
            "docs/sitemap.xml.gz",
            "sitemap-recent.atom",
            "sitemap-recent.rss",
            "sitemap-root.txt.gz",
            "sitemap-root.xml.gz",
            "sitemap.xml",
        ]
    );
}

#[test]
fn unchanged_files_stay_in_every_format() {
    let mut bench = bench(&ALL);
    bench.config.feed_entries = 2;
    let mut pages = shop();
    pages.insert("/blog/7".into(), 8);
    pages.insert("/blog/8".into(), 9);
    bench.edition(0, &pages);
    let (before, manifest) = (bench.files(), bench.read(MANIFEST_COPY));
    assert_eq!(changed(&bench.edition(24, &pages)), [""; 0]);
    assert_eq!(bench.files(), before);
    assert_eq!(bench.read(MANIFEST_COPY), manifest);

    // A date moves, of a page that is not among the newest: no list of URLs and no feed changes.
    pages.insert("/docs/1".into(), 2);
    bench.wait(24);
    bench.crawl(&pages);
    assert_eq!(
        changed(&bench.publish().unwrap()),
        ["sitemap.xml", "sitemap.docs.xml.gz"]
    );

    // A new page changes its parts, and a new date the feeds.
    pages.insert("/docs/new".into(), 7);
    pages.insert("/docs/2".into(), 10);
    bench.wait(24);
    bench.crawl(&pages);
    assert_eq!(
        changed(&bench.publish().unwrap()),
        [
            "sitemap.xml",
            "sitemap.docs.xml.gz",
            "sitemap.docs.txt.gz",
            "sitemap-recent.rss",
            "sitemap-recent.atom"
        ]
    );
    assert_eq!(urls(&bench, "sitemap-recent.rss"), ["/docs/2", "/blog/8"]);
}

#[test]
fn feeds_alone_are_no_set() {
    let mut bench = bench(&[Format::Rss, Format::Atom]);
    bench.crawl(&shop());
    let error = bench.publish().unwrap_err().to_string();
    assert!(
        error.starts_with("format: expected \"xml\" or \"txt\""),
        "{error}"
    );
    assert_eq!(names(&bench), [""; 0]);
}

#[test]
fn feed_goes_into_the_last_index_with_room() {
    let check = |index_entries: u64, expected: &[(&str, u64)]| {
        let mut bench = bench(&ALL);
        bench.config.index_entries = index_entries;
        let published = bench.edition(0, &shop());
        let indexes: Vec<_> = published
            .files
            .iter()
            .filter(|file| published.sitemap_urls.contains(&file.url))
            .map(|file| (file.name.as_str(), file.entries))
            .collect();
        assert_eq!(indexes, expected);
        for (name, count) in expected {
            assert_eq!(entries(&bench, name).len() as u64, *count, "{name}");
        }
    };
    check(5, &[("sitemap.xml", 5)]);
    check(4, &[("sitemap.xml", 4), ("sitemap-2.xml", 1)]);
    check(3, &[("sitemap.xml", 3), ("sitemap-2.xml", 2)]);
    check(
        2,
        &[
            ("sitemap.xml", 2),
            ("sitemap-2.xml", 2),
            ("sitemap-3.xml", 1),
        ],
    );
}

#[test]
fn undated_site_has_a_note_and_no_feed() {
    let mut bench = bench(&ALL);
    // The whole site has dates that cannot be.
    let mut no_dates = shop();
    no_dates.retain(|path, _| !path.starts_with("/docs/"));
    let far = 10 * 365 * 86_400;
    for version in no_dates.values_mut() {
        *version += far;
    }
    let published = bench.edition(0, &no_dates);
    let has_feed = published
        .files
        .iter()
        .any(|file| file.name.contains("recent"));
    assert!(!has_feed, "{:?}", published.files);
    assert!(
        published
            .notes
            .iter()
            .any(|note| note.text.contains("no feed of recent changes")),
        "{:?}",
        published.notes
    );
}

#[test]
fn extensions_are_in_xml_alone_and_counted() {
    let mut bench = bench(&ALL[..2]);
    bench.config.entries.namespaces = vec![Namespace {
        prefix: "s".to_owned(),
        uri: "urn:s".to_owned(),
        schema: None,
        elements: vec![NamespaceElement {
            name: "note".to_owned(),
            pages: "/docs/*".to_owned(),
            value: ElementValue::Constant("x".repeat(1_000)),
        }],
    }];
    bench.config.entries.priority = vec![EntryRule {
        pages: "/docs/1*".to_owned(),
        value: sitemap_core::Priority::from_tenths(9).unwrap(),
    }];
    // 120 entries of a kilobyte and more go into no file of 60 kB.
    bench.config.file_bytes = 60_000;
    bench.config.min_subsection = 10;
    let published = bench.edition(0, &shop());
    let docs: Vec<_> = published
        .files
        .iter()
        .filter(|file| file.name.starts_with("sitemap.docs"))
        .collect();
    assert!(docs.len() > 4, "{docs:?}");
    for file in docs {
        let is_text = file.name.contains(".txt");
        assert!(file.bytes < 70_000, "{file:?}");
        let content = unpacked(&bench, &file.name);
        assert_eq!(content.len() as u64, file.bytes);
        assert_eq!(
            content.contains("xmlns:s=\"urn:s\""),
            !is_text,
            "{}",
            file.name
        );
        let notes = if is_text { 0 } else { file.entries };
        assert_eq!(
            content.matches("<s:note>").count() as u64,
            notes,
            "{}",
            file.name
        );
    }
    let blog = unpacked(&bench, "sitemap.blog.xml.gz");
    assert!(!blog.contains("urn:s"), "{blog}");
}
