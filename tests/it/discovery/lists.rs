//! `--seeds`: lists of the user, in every form, and the reports of lines that are not URLs.

use std::fs;

use super::{bench, pages, site, urlset, vias};
use crate::support::{program::Ran, state::number};

#[test]
fn a_list_comes_from_standard_input_too() {
    let site = site(|_, _| None);
    let bench = bench();
    let command = bench.command(&site.url("/"), &["--seeds", "-"]);
    let list = pages(&site.origin(), "l", 50).join("\n");
    let ran = Ran::with_input(command, list.as_bytes()).expect_code(0);
    assert_eq!(number(&ran.summary(), "listed"), 51);
    assert_eq!(vias(&bench)["list"], 50);
}

#[test]
fn a_wrong_list_is_refused_without_requests() {
    let site = site(|_, _| None);
    let bench = bench();
    fs::write(bench.path().join("list"), "\n\nftp://example.com/\n/news\n").unwrap();
    let not_read = ["--seeds", "missing.txt", "--discover", "links"];
    for (options, message) in [
        (&["--seeds", "list"][..], "the first of 2: list:3: "),
        (&["--seeds", "missing.txt"], "missing.txt"),
        (&not_read[..], "discover does not have \"list\""),
        (
            &["--discover", "sitemap"],
            "\"links\", \"sitemaps\", \"feeds\" or \"list\"",
        ),
    ] {
        let ran = bench.crawl(&site.url("/"), options).expect_code(2);
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    assert_eq!(site.log().len(), 0);
}

#[test]
fn lines_that_are_no_urls_are_reported() {
    let site = site(|_, _| None);
    let bench = bench();
    let lines = pages(&site.origin(), "l", 3).join("\nnot a url\n\n");
    let list = lines + &"\n/relative".repeat(30) + "\n" + &site.url("/p/last");
    fs::write(bench.path().join("list"), list).unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list"])
        .expect_code(0);
    let summary = ran.summary();
    assert_eq!(number(&summary, "listed"), 5);
    assert_eq!(vias(&bench)["list"], 4);
    // Two, and then 30: twenty are reported, and all are counted.
    for message in [
        "list:2: white space inside a URL",
        "list:5: white space inside a URL",
        "list: 32 lines left out",
    ] {
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("warning: list:").count(), 21);
    let rules = &summary["seeds"]["entries"];
    assert_eq!(rules[0]["rule"], "unusable-url");
    assert_eq!(number(&rules[0], "count"), 32);
}

#[test]
fn urls_outside_are_reported_with_advice() {
    let site = site(|request, origin| match request.target.as_str() {
        "/maps/all.xml" => Some(urlset(pages(origin, "l", 2))),
        _ => None,
    });
    let bench = bench();
    let list = "https://elsewhere.example/a\nhttp://elsewhere.example/b\n";
    fs::write(bench.path().join("list"), list).unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list"])
        .expect_code(0);
    let told = "list: 2 of 2 URLs are outside of ";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let outside = &ran.summary()["seeds"]["outside"][0];
    assert_eq!(number(outside, "count"), 2);
    assert_eq!(outside["example"], "https://elsewhere.example/a");
    // A list that is given twice is read and reported once.
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list", "--seeds", "list"])
        .expect_code(0);
    assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
    // Nothing of what the start URL names is in its directory.
    let bench = self::bench();
    let ran = bench.crawl(&site.url("/maps/all.xml"), &[]).expect_code(4);
    let told = format!("--scope origin takes the whole of {}", site.origin());
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    let options = ["--scope", "origin"];
    let summary = bench
        .crawl(&site.url("/maps/all.xml"), &options)
        .expect_code(0)
        .summary();
    // Both, and the start page to which they lead.
    assert_eq!(number(&summary, "listed"), 3);
}
