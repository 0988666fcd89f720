//! The strict check of a written file.

use super::{checked, index, loc, urlset};
use crate::{
    AtomWriter, FeedInfo, LastMod, Limits, Push, RssWriter, TextWriter, UrlEntry, UrlSetWriter,
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
    refused(entry("<changefreq>Daily</changefreq>"), 16);
    refused(entry("<title/>"), 6);
    refused(entry("").replace("http://host/", "http://host"), 26);
    refused(entry("").replace("http://host/", "/a"), 9);
    refused(entry("").replace("<urlset", "<!DOCTYPE urlset><urlset"), 1);
    refused(entry("").replace("</urlset>", ""), 1);
    refused(urlset(""), 68);
}

#[test]
fn url_that_only_looks_wrong_passes_the_check() {
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
    let mut other = Expectation::new(Kind::Index, &place);
    refused(
        &file,
        &other,
        "file is a <urlset>, expected a <sitemapindex>",
    );
    other.kind = Kind::UrlSet;
    other.entries = Some(4);
    refused(&file, &other, "file has 3 entries, expected 4");
    other.entries = None;
    other.order = Order::Ascending;
    let order = "line 2, byte 134: http://host/a follows http://host/b, expected ascending URLs";
    refused(&file, &other, order);
    let twice = file.replace("http://host/a", "http://host/b");
    let listed = "line 2, byte 134: http://host/b is listed twice (R26)";
    refused(&twice, &expectation, listed);
    let mut fewer = expectation.clone();
    fewer.limits.entries = 2;
    let too_many = "line 2, byte 169: file has more than 2 entries (R27)";
    refused(&file, &fewer, too_many);
    let place = loc("http://host/c/sitemap.xml");
    refused(
        &file,
        &Expectation::new(Kind::UrlSet, &place),
        "line 2, byte 99: http://host/b is outside of http://host/c/, the directory of the sitemap (R58)",
    );
}

#[test]
fn index_lists_other_files_of_its_directory() {
    let check_child = |place: &str, child: &str, expected: bool| {
        let file = index(&format!("<sitemap><loc>{child}</loc></sitemap>"));
        let place = loc(place);
        let result = check(file.as_bytes(), &Expectation::new(Kind::Index, &place));
        assert_eq!(result.is_ok(), expected, "{child} in {place}: {result:?}");
    };
    check_child("http://host/a/sitemap.xml", "http://host/a/s.xml", true);
    check_child("http://host/a/sitemap.xml", "http://host/s.xml", false);
    let own = "http://host/a/sitemap.xml";
    check_child(own, own, false);
}
