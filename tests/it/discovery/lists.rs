//! `--seeds`: lists of the user, in every form, and the reports of lines that are not URLs.

use std::fs;

use super::{bench, crawl, pages, site, troubles, urlset, vias};
use crate::support::{program::Ran, site::Response, state::number};

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
fn a_list_without_a_url_is_refused_before_the_first_request() {
    let site = site(|_, _| None);
    let bench = bench();
    fs::write(bench.path().join("list"), "\n\nftp://example.com/\n/news\n").unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list"])
        .expect_code(2);
    let said = "the first of 2: list:3: ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "missing.txt"])
        .expect_code(2);
    assert!(ran.stderr.contains("missing.txt"), "{}", ran.stderr);
    let options = ["--seeds", "missing.txt", "--discover", "links"];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(2);
    assert!(
        ran.stderr.contains("discover does not have \"list\""),
        "{}",
        ran.stderr
    );
    let ran = bench
        .crawl(&site.url("/"), &["--discover", "sitemap"])
        .expect_code(2);
    assert!(
        ran.stderr
            .contains("\"links\", \"sitemaps\", \"feeds\" or \"list\""),
        "{}",
        ran.stderr
    );
    assert_eq!(site.log().len(), 0);
}

#[test]
fn lines_that_are_not_urls_are_reported_with_file_and_line_and_left_out() {
    let site = site(|_, _| None);
    let bench = bench();
    let lines = pages(&site.origin(), "l", 3).join("\nnot a url\n\n");
    let mut list = lines.into_bytes();
    list.extend(b"\n\xff\xfe\n");
    list.extend(vec![b'a'; 300_000]);
    list.extend("\n/relative".repeat(30).bytes());
    list.extend(format!("\n{}\n", site.url("/p/last")).bytes());
    fs::write(bench.path().join("list"), list).unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list"])
        .expect_code(0);
    let summary = ran.summary();
    assert_eq!(number(&summary, "listed"), 5);
    assert_eq!(vias(&bench)["list"], 4);
    let told = |text: &str| assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    told("list:2: white space inside a URL");
    told("list:5: white space inside a URL");
    told("list:8: bytes that are not text");
    told("list:9: a line of more than 256 KiB");
    told("list:10: expected an absolute http:// or https:// URL, found \"/relative\"");
    told("; the line is left out");
    // Four of the others, and then 30: twenty are reported, the rest is counted.
    told("list: 14 lines more left out");
    assert_eq!(ran.stderr.matches("the line is left out").count(), 20);
    let rules = &summary["seeds"]["entries"];
    assert_eq!(rules[0]["rule"], "unusable-url");
    assert_eq!(number(&rules[0], "count"), 34);
}

#[test]
fn a_table_that_a_site_serves_as_its_list_is_reported_and_no_row_is_requested() {
    let site = site(|request, origin| match request.target.as_str() {
        "/robots.txt" => Some(Response::text(format!("Sitemap: {origin}/list.txt\n"))),
        "/list.txt" => Some(Response::text(format!("url,status\n{origin}/p/a,200\n"))),
        _ => None,
    });
    let bench = bench();
    let summary = crawl(&bench, &site, &[]);
    assert_eq!(number(&summary, "listed"), 1);
    assert_eq!(
        troubles(&summary).into_iter().collect::<Vec<_>>(),
        [(site.url("/list.txt"), "not-a-sitemap".to_owned())]
    );
    assert!(
        site.log()
            .iter()
            .all(|seen| !seen.target.starts_with("/p/"))
    );
}

#[test]
fn urls_outside_of_the_crawl_are_reported_with_advice() {
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
