//! `--seeds`: lists of the user, in every form, and what becomes of lines that are no URLs.

use std::{fs, io::Write as _, process::Stdio};

use serde_json::Value;

use super::{atom, bench, crawl, gzipped, pages, site, troubles, urlset, vias};
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
        b"\n\nftp://example.com/\n/news\n",
        "the first of 2: list:3: ",
    );
    check(b"\xff\n", "list:1: bytes that are not text");
    check(&vec![b'a'; 300_000], "list:1: a line of more than 256 KiB");
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
        ran.stderr
            .contains("\"links\", \"sitemaps\", \"feeds\" or \"list\""),
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
        table += "no-url\n";
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
        let told = format!("{name}:6: expected an absolute http:// or https:// URL");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("the line is left out").count(), 1);
    }
}

#[test]
fn the_header_line_of_a_table_says_where_the_url_stands_and_where_it_ends() {
    fn check(name: &str, table: impl Fn(&str) -> String, bad_lines: usize) {
        let site = site(|_, _| None);
        let bench = bench();
        fs::write(bench.path().join(name), table(&site.origin())).unwrap();
        let ran = bench
            .crawl(&site.url("/"), &["--seeds", name])
            .expect_code(0);
        let listed = bench
            .published()
            .parts()
            .values()
            .map(|file| file.xml.clone())
            .collect::<String>();
        let expected = format!("<loc>{}/p/l/1,c.html</loc>", site.origin());
        assert!(listed.contains(&expected), "{name}: {listed}");
        assert_eq!(number(&ran.summary(), "listed"), 2, "{name}: {listed}");
        let told = ran.stderr.matches("the line is left out").count();
        assert_eq!(told, bad_lines, "{name}: {}", ran.stderr);
    }
    let url = |origin: &str| format!("{origin}/p/l/1,c.html");
    check("one column", |origin| format!("url\n{}\n", url(origin)), 0);
    check(
        "semicolons",
        |origin| format!("url;title\n{};T\n", url(origin)),
        0,
    );
    check(
        "tabs",
        |origin| format!("url\ttitle\n{}\tT\n", url(origin)),
        0,
    );
    check(
        "quoted",
        |origin| format!("url,title\n\"{}\",\"a\"\n", url(origin)),
        0,
    );
    check(
        "second",
        |origin| format!("id,url\n1,\"{}\"\n", url(origin)),
        0,
    );
    check(
        "empty first",
        |origin| format!("id\turl\n\t{}\n", url(origin)),
        0,
    );
    check(
        "other name",
        |origin| format!("Status Code;Address\n200;{}\n", url(origin)),
        0,
    );
    // Nobody knows which of its commas end the URL.
    check(
        "too many",
        |origin| {
            format!(
                "url,title\n\"{}\",T\n{origin}/p/l/2,d.html,T\n",
                url(origin)
            )
        },
        1,
    );
}

#[test]
fn a_table_without_a_column_of_urls_is_refused_before_the_first_request() {
    let site = site(|_, _| None);
    let bench = bench();
    let table = format!("Wo,Was\n{0}/p/a,200\n{0}/p/b,301\n", site.origin());
    fs::write(bench.path().join("list"), table).unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "list"])
        .expect_code(2);
    let told =
        "list:1: the first line is not a URL, and none of its columns is called `url` or `loc`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(site.log().len(), 0);
}

#[test]
fn a_table_that_a_site_serves_as_its_list_is_told_and_no_row_is_asked_for() {
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
fn what_stands_behind_a_compressed_list_is_left_out_and_told() {
    let site = site(|_, _| None);
    let list = pages(&site.origin(), "l", 3).join("\n");
    let packed = gzipped(&Response::text(list)).body;
    for behind in ["\n", "<!-- cached -->\nhttps://example.com/"] {
        let bench = bench();
        let content = [&packed, behind.as_bytes()].concat();
        fs::write(bench.path().join("list.gz"), content).unwrap();
        let summary = crawl(&bench, &site, &["--seeds", "list.gz"]);
        assert_eq!(number(&summary, "listed"), 4, "{behind:?}");
        let trouble = &summary["seeds"]["entries"][0];
        assert_eq!(trouble["rule"], "R56", "{summary}");
        assert_eq!(trouble["example"], "other bytes follow the gzip stream");
    }
    let bench = bench();
    let often = (0..3).fold(Response::text("https://example.com/\n"), |list, _| {
        gzipped(&list)
    });
    fs::write(bench.path().join("often.gz"), often.body).unwrap();
    let ran = bench
        .crawl(&site.url("/"), &["--seeds", "often.gz"])
        .expect_code(2);
    assert!(
        ran.stderr.contains("compressed more than 2 times"),
        "{}",
        ran.stderr
    );
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
    // A list that is given twice is read and told of once.
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
