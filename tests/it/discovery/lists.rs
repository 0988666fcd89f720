//! `--seeds`: lists of the user, in every form, and what becomes of lines that are no URLs.

use std::{fs, io::Write as _, process::Stdio};

use serde_json::Value;

use super::{atom, bench, crawl, gzipped, pages, site, urlset, vias};
use crate::support::{site::Response, state::number};

#[test]
fn lists_are_read_in_every_form() {
    fn check(name: &str, content: impl Fn(&str) -> Vec<u8>) {
        let site = site(|_, _| None);
        let bench = bench();
        fs::write(bench.path().join(name), content(&site.origin())).unwrap();
        let summary = crawl(&bench, &site, &["--seeds", name]);
        assert_eq!(number(&summary, "listed"), 4, "{name}");
        assert_eq!(number(&summary, "orphans"), 3, "{name}");
        assert_eq!(vias(&bench)["list"], 3, "{name}");
    }
    check("lines", |origin| {
        pages(origin, "l", 3).join("\n").into_bytes()
    });
    check("windows lines", |origin| {
        let lines = pages(origin, "l", 3).join("\r\n\r\n  ");
        format!("\u{feff}{lines}\r\n").into_bytes()
    });
    check("sitemap.xml", |origin| urlset(pages(origin, "l", 3)).body);
    check("sitemap.xml.gz", |origin| {
        gzipped(&urlset(pages(origin, "l", 3))).body
    });
    check("feed.atom", |origin| atom(pages(origin, "l", 3)).body);
    check("foreign", |origin| {
        let mut lines = pages(origin, "l", 3);
        lines.push("https://elsewhere.example/".to_owned());
        lines.join("\n").into_bytes()
    });
}

#[test]
fn a_list_comes_from_standard_input_too() {
    let site = site(|_, _| None);
    let bench = bench();
    let mut command = bench.command(&site.url("/"), &["--seeds", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let list = pages(&site.origin(), "l", 5_000).join("\n");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(list.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(number(&summary, "listed"), 5_001);
    assert_eq!(vias(&bench)["list"], 5_000);
}

#[test]
fn a_list_without_a_url_is_refused_before_the_first_request() {
    fn check(content: &[u8], said: &str) {
        let site = site(|_, _| None);
        let bench = bench();
        fs::write(bench.path().join("list"), content).unwrap();
        let ran = bench
            .crawl(&site.url("/"), &["--seeds", "list"])
            .expect_code(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(site.log().len(), 0);
    }
    check(
        b"/relative\n",
        "list:1: expected an absolute http:// or https:// URL",
    );
    check(
        b"\n\nftp://example.com/\nnews\n",
        "the first of 2: list:3: ",
    );
    check(b"\xff\n", "list:1: the line is not UTF-8");
    check(&vec![b'a'; 100_000], "list:1: the line is longer");
    check(
        b"<html><title>no list</title></html>",
        "neither lines of URLs nor a sitemap",
    );

    let site = site(|_, _| None);
    let ran = bench()
        .crawl(&site.url("/"), &["--seeds", "missing.txt"])
        .expect_code(2);
    assert!(ran.stderr.contains("missing.txt"), "{}", ran.stderr);
    let options = ["--seeds", "missing.txt", "--discover", "links"];
    let ran = bench().crawl(&site.url("/"), &options).expect_code(2);
    assert!(
        ran.stderr.contains("discover does not name list"),
        "{}",
        ran.stderr
    );
    let ran = bench()
        .crawl(&site.url("/"), &["--discover", "sitemap"])
        .expect_code(2);
    assert!(
        ran.stderr.contains("links, sitemaps, feeds or list"),
        "{}",
        ran.stderr
    );
    assert_eq!(site.log().len(), 0);
}

#[test]
fn lines_that_are_no_urls_are_told_with_file_and_line_and_the_rest_is_used() {
    let site = site(|_, _| None);
    let bench = bench();
    let lines = pages(&site.origin(), "l", 3).join("\nnot a url\n\n");
    let mut list = lines.into_bytes();
    list.extend(b"\n\xff\xfe\n");
    list.extend(vec![b'a'; 100_000]);
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
    told("list:2: expected an absolute http:// or https:// URL, found \"not a url\"");
    told("list:5: expected an absolute");
    told("list:8: the line is not UTF-8");
    told("list:9: the line is longer");
    told("; the line is left out");
    // Four of the others, and then 30: twenty are told, the rest is counted.
    told("list: 14 lines more left out");
    assert_eq!(ran.stderr.matches("the line is left out").count(), 20);
    let rules = &summary["seeds"]["entries"];
    assert_eq!(rules[0]["rule"], "unusable-url");
    assert_eq!(number(&rules[0], "count"), 34);
}

#[test]
fn a_table_names_the_same_pages_packed_or_not_and_its_bad_lines_are_told() {
    let site = site(|_, _| None);
    let table = |name: &str| {
        let mut table = "# export of today\nurl,lastmod\n".to_owned();
        for url in pages(&site.origin(), "l", 3) {
            table.extend([&url, ",2026-01-02\n"]);
        }
        table += "no url\n";
        let plain = Response::text(table.clone());
        match name {
            "table.gz" => gzipped(&plain).body,
            "table.utf16" => table.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => plain.body,
        }
    };
    for name in ["table.csv", "table.gz", "table.utf16"] {
        let bench = bench();
        fs::write(bench.path().join(name), table(name)).unwrap();
        let ran = bench
            .crawl(&site.url("/"), &["--seeds", name])
            .expect_code(0);
        assert_eq!(number(&ran.summary(), "listed"), 4, "{name}");
        let told =
            format!("{name}:6: expected an absolute http:// or https:// URL, found \"no url\"");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("the line is left out").count(), 1);
    }
}

#[test]
fn urls_outside_of_the_crawl_are_told_with_advice() {
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
    // Nothing of what the start URL names is in its directory.
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
