//! The strict check of a written file.

use super::{checked, index, loc, urlset};
use crate::{
    AtomWriter, FeedInfo, LastMod, Limits, Push, RssWriter, TextWriter, UrlEntry, UrlSetWriter,
    limits::NAMESPACE,
    read::{CheckError, Expectation, Kind, Order, Rule, check},
};

#[test]
fn anything_the_reader_would_report_fails_the_check() {
    let refused = |file: String, rule: u8| {
        let error = checked(file.as_bytes(), Kind::UrlSet).unwrap_err();
        assert!(
            matches!(&error, CheckError::Finding(finding) if finding.rule() == Rule(rule)),
            "{file}: {error}"
        );
    };
    let entry = |content: &str| urlset(&format!("<url><loc>http://host/</loc>{content}</url>"));
    assert!(checked(entry("").as_bytes(), Kind::UrlSet).is_ok());
    refused(entry("<lastmod>2024</lastmod>"), 13);
    refused(entry("<lastmod>2024-05-17T00:00:00</lastmod>"), 13);
    refused(entry("<changefreq>Daily</changefreq>"), 16);
    refused(entry("<priority>1.1</priority>"), 18);
    refused(entry("<title/>"), 6);
    refused(entry("").replace("http://host/", "http://host"), 26);
    refused(entry("").replace("http://host/", "http://host/a b"), 24);
    refused(entry("").replace("http://host/", "http://host/ü"), 23);
    refused(entry("").replace("http://host/", "/a"), 9);
    refused(
        entry("").replace(NAMESPACE, "http://www.sitemaps.org/schemas/sitemap/0.9/"),
        5,
    );
    refused(entry("").replace("<urlset", "<!DOCTYPE urlset><urlset"), 1);
    refused(entry("").replace("<loc>", "<loc a=\"b\">"), 6);
    refused(entry("").replace("</urlset>", ""), 1);
    refused(urlset(""), 68);
    refused("<html/>".to_owned(), 4);
}

#[test]
fn url_that_only_looks_wrong_passes_the_check_in_every_format() {
    let entry = UrlEntry::new(loc("http://host/?a=1&amp;b=2,2024-05-17,0.5"))
        .with_lastmod(LastMod::parse("2024-05-17").unwrap());
    let info = FeedInfo::new(
        "Host",
        loc("http://host/"),
        loc("http://host/f"),
        jiff::Timestamp::UNIX_EPOCH,
    );
    let mut urlset = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut text = TextWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut rss = RssWriter::new(Vec::new(), Limits::default(), &info).unwrap();
    let mut atom = AtomWriter::new(Vec::new(), Limits::default(), &info).unwrap();
    assert_eq!(urlset.push(&entry).unwrap(), Push::Written);
    assert_eq!(text.push(&entry).unwrap(), Push::Written);
    assert_eq!(rss.push(&entry, None).unwrap(), Push::Written);
    assert_eq!(atom.push(&entry, None).unwrap(), Push::Written);
    for (kind, (file, summary)) in [
        (Kind::UrlSet, urlset.finish().unwrap()),
        (Kind::Text, text.finish().unwrap()),
        (Kind::Rss, rss.finish().unwrap()),
        (Kind::Atom, atom.finish().unwrap()),
    ] {
        assert_eq!(checked(&file, kind).unwrap(), summary, "{kind}");
    }
}

#[test]
fn check_compares_with_what_is_expected() {
    let file = urlset(
        "<url><loc>http://host/b</loc></url><url><loc>http://host/a</loc></url><url><loc>http://host/b</loc></url>",
    );
    let place = loc("http://host/sitemap.xml");
    let expectation = Expectation::new(Kind::UrlSet, &place);
    let summary = check(file.as_bytes(), &expectation).unwrap();
    assert_eq!((summary.entries, summary.bytes), (3, file.len() as u64));

    let refused = |file: &str, expectation: &Expectation<'_>, expected: &str| {
        let error = check(file.as_bytes(), expectation).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let other_kind = Expectation {
        kind: Kind::Index,
        ..expectation.clone()
    };
    refused(
        &file,
        &other_kind,
        "file is a <urlset>, expected a <sitemapindex>",
    );
    let more = Expectation {
        entries: Some(4),
        ..expectation.clone()
    };
    refused(&file, &more, "file has 3 entries, expected 4");
    let ascending = Expectation {
        order: Order::Ascending,
        ..expectation.clone()
    };
    refused(
        &file,
        &ascending,
        "line 2, byte 134: http://host/a follows http://host/b, expected ascending URLs",
    );
    let twice = file.replace("http://host/a", "http://host/b");
    refused(
        &twice,
        &expectation,
        "line 2, byte 134: http://host/b is listed twice (R26)",
    );
    let fewer = Limits {
        entries: 2,
        ..Limits::default()
    };
    let fewer = Expectation {
        limits: fewer,
        ..expectation.clone()
    };
    refused(
        &file,
        &fewer,
        "line 2, byte 169: file has more than 2 entries (R27)",
    );
    let place = loc("http://host/c/sitemap.xml");
    let elsewhere = Expectation {
        location: &place,
        ..expectation
    };
    refused(
        &file,
        &elsewhere,
        "line 2, byte 99: http://host/b is outside of http://host/c/, the directory of the sitemap (R58)",
    );
}

#[test]
fn index_lists_files_of_its_directory_and_not_itself() {
    let check_child = |place: &str, child: &str, expected: bool| {
        let file = index(&format!("<sitemap><loc>{child}</loc></sitemap>"));
        let place = loc(place);
        let result = check(file.as_bytes(), &Expectation::new(Kind::Index, &place));
        assert_eq!(result.is_ok(), expected, "{child} in {place}: {result:?}");
    };
    check_child("http://host/a/sitemap.xml", "http://host/a/s.xml", true);
    check_child("http://host/a/sitemap.xml", "http://host/a/b/s.xml", true);
    check_child("http://host/a/sitemap.xml", "http://host/s.xml", false);
    check_child("http://host/a/sitemap.xml", "http://host/b/s.xml", false);
    check_child("http://host/a/sitemap.xml", "https://host/a/s.xml", false);
    check_child(
        "http://host/a/sitemap.xml",
        "http://host/a/sitemap.xml",
        false,
    );
}
