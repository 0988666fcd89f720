//! Tables: names of the column of URLs, and tables that are refused because it is unknown.

use super::Builds;

const A: &str = "https://www.example.com/x1";

#[test]
fn the_column_of_urls_is_found_by_its_names() {
    for table in [
        format!("Address,Title\n{A},T\n"),
        format!("Status Code,Address\n200,{A}\n404,{A}2\n"),
        format!("Top pages,Clicks\n{A},20\n"),
        format!("Page;Clicks\n{A};20\n"),
        format!("\"Page URL\",\"Title\"\n\"{A}\",\"a, b\"\n"),
        format!("Permalink\n{A}\n"),
        format!("Page,Permalink\n1,{A}\n"),
        format!("title,url\n\"two\nlines\",{A}\n"),
    ] {
        let builds = Builds::new();
        let list = builds.file("list.csv", &table);
        let ran = builds.build(&["--strict", &list]).expect_code(0);
        let lines = builds.lines();
        let urls: Vec<&String> = lines.keys().collect();
        assert_eq!(urls, ["/x1"], "{table}: {}", ran.stderr);
    }
}

#[test]
fn rows_of_other_status_are_left_out_and_counted() {
    let builds = Builds::new();
    let list = builds.file(
        "list.csv",
        format!("Address,Status Code\n{A},200\n/b,404\n/c,301\n"),
    );
    let ran = builds.build(&["--strict", &list]).expect_code(0);
    assert_eq!(builds.lines().len(), 1);
    let message = "list.csv: 2 rows are left out, as their status is not 200";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn a_list_with_a_blank_first_line_is_refused() {
    let check = |list: &str, line: u64| {
        let builds = Builds::new();
        let file = builds.file("list.csv", list);
        let ran = builds.build(&[&file]).expect_code(2);
        let printed = format!(
            "list.csv:{line}: the first line is not a URL, and none of its columns is called `url` or `loc`; expected one URL \
             per line, or a header line such as `url,lastmod` (--input-format text reads each line as one URL)"
        );
        assert!(ran.stderr.contains(&printed), "{list}: {}", ran.stderr);
        assert!(!builds.output().exists(), "{list}");
    };
    check(&format!("Adresse;Titel\n{A};Hallo\n"), 1);
    check(&format!("# x\n\nWas,Wo\n200,{A}\n"), 3);
    check("/x1,2026-01-01\n/x2,2026-01-02\n", 1);
    let builds = Builds::new();
    let file = builds.file("list.txt", "/c,2026-01-02\n");
    builds
        .build(&["--input-format", "text", &file])
        .expect_code(0);
    assert!(builds.lines().contains_key("/c,2026-01-02"));
}

#[test]
fn comments_in_front_of_a_list_may_be_many_and_in_any_encoding() {
    let builds = Builds::new();
    let comments = b"# gr\xf6\xdfer\n".repeat(20_000);
    let list = builds.file("list.csv", [&comments[..], b"url,z\n/a,1\n"].concat());
    builds.build(&["--strict", &list]).expect_code(0);
    assert_eq!(builds.lines().into_keys().collect::<Vec<_>>(), ["/a"]);
    let list = builds.file(
        "list.ndjson",
        [&comments[..], b"{\"loc\":\"/b\"}\n"].concat(),
    );
    builds.build(&["--strict", &list]).expect_code(0);
    assert_eq!(builds.lines().into_keys().collect::<Vec<_>>(), ["/b"]);
}

#[test]
fn a_line_that_is_too_long_is_reported_with_its_bound() {
    let builds = Builds::new();
    let long = "x".repeat(300_000);
    let list = builds.file("list.csv", format!("url,z\n/a,{long}\n/b,x\n"));
    let ran = builds.build(&[&list]).expect_code(3);
    let message = "list.csv:2: left out: a line of more than 256 KiB";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let list = builds.file("list.csv", "url,z\n/a,x\n/b,\"open\n/c,x\n");
    let ran = builds.build(&[&list]).expect_code(2);
    let message = "list.csv:3: a quoted field without its closing quote in 256 KiB";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    // An object may have a thousand images.
    let list = builds.file(
        "list.ndjson",
        format!("{{\"loc\":\"/a\",\"x\":\"{long}\"}}\n"),
    );
    builds.build(&[&list]).expect_code(0);
}

#[test]
fn an_item_of_another_kind_costs_itself() {
    let builds = Builds::new();
    let video = "\"thumbnail_loc\":\"/t.png\",\"title\":\"T\",\"description\":\"D\",\"content_loc\":\"/v.mp4\"";
    let list = builds.file(
        "list.ndjson",
        format!(
            "{{\"loc\":\"/a\",\"images\":[5,\"/i.png\",{{\"loc\":6}},[7]],\"alternates\":[8,{{\"hreflang\":\"de\",\"href\":9}},\
             {{\"hreflang\":\"fr\",\"href\":\"/fr\"}}],\"videos\":[true,{{{video},\"tags\":[\"x\",{{}},\"y\"],\
             \"restriction\":{{\"relationship\":\"allow\",\"countries\":[\"DE\",10,\"FR\"]}}}}]}}\n"
        ),
    );
    let ran = builds.build(&[&list]).expect_code(3);
    let message = |words: &str| {
        let words = format!("list.ndjson:1: value left out: {words}");
        assert!(ran.stderr.contains(&words), "{words}: {}", ran.stderr);
    };
    message("images[0]: expected a URL, found 5");
    message("images[2].loc: expected a URL, found 6");
    message("images[3]: expected text");
    message("alternates[0]: expected an object");
    message("alternates[1].href: expected a URL, found 9");
    message("videos[0]: expected an object");
    message("videos[1].tags[1]: expected text");
    message("videos[1].restriction.countries[1]: expected text, found 10");
    assert_eq!(ran.summary()["input"]["values_left_out"], 8);
    let line = &builds.lines()["/a"];
    for kept in [
        "<image:loc>https://www.example.com/i.png</image:loc>",
        "href=\"https://www.example.com/fr\"",
        "<video:tag>x</video:tag><video:tag>y</video:tag>",
        ">DE FR</video:restriction>",
    ] {
        assert!(line.contains(kept), "{kept}: {line}");
    }
    assert_eq!(line.matches("<image:image>").count(), 1);
}

#[test]
fn a_value_under_the_name_of_an_export_has_to_be_a_url() {
    let builds = Builds::new();
    let list = builds.file("list.csv", "Page,Clicks\nTotal,5\n/a,2\n");
    let ran = builds.build(&[&list]).expect_code(3);
    let message = "list.csv:2: left out: not a URL, expected https://... or a path";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let lines = builds.lines();
    assert_eq!(lines.keys().collect::<Vec<_>>(), ["/a"]);
}

#[test]
fn a_plain_list_may_have_delimiters_in_its_urls() {
    let builds = Builds::new();
    let list = format!("{A},c.html\n/a,b;c\nabout\nproducts/1,2\n/go?to={A},{A}\n");
    let list = builds.file("list.txt", list);
    builds.build(&["--strict", &list]).expect_code(0);
    assert_eq!(builds.lines().len(), 5);
}

#[test]
fn relative_urls_with_delimiters_are_a_plain_list() {
    for list in [
        "artikel,1.html\nartikel,2.html\n/artikel,3.html\n",
        "docs/a;v=1\ndocs/b;v=2\ndocs/c;v=3\n",
        "wiki/a|x\nwiki/b|y\nwiki/c|z\n",
    ] {
        let builds = Builds::new();
        let list = builds.file("list.txt", list);
        builds.build(&["--strict", &list]).expect_code(0);
        assert_eq!(builds.lines().len(), 3, "{list}");
    }
}

#[test]
fn one_column_may_have_delimiters_in_its_urls() {
    for header in ["url", "loc", "Address"] {
        for format in [None, Some("--input-format=csv")] {
            let builds = Builds::new();
            let list = builds.file("list.csv", format!("{header}\n{A}\n{A},b.html\n{A};c\n"));
            let arguments: Vec<&str> = ["--strict", &*list].into_iter().chain(format).collect();
            builds.build(&arguments).expect_code(0);
            let lines = builds.lines();
            let urls: Vec<&String> = lines.keys().collect();
            assert_eq!(urls, ["/x1", "/x1,b.html", "/x1;c"], "{header}");
        }
    }
}

#[test]
fn a_video_whose_picture_is_the_page_is_left_out_and_reported() {
    let builds = Builds::new();
    let table = "url,video_thumbnail_loc,video_title,video_description,video_content_loc\n\
                 /v,/%76,T,D,/v.mp4\n/w,/w.png,T,D,/w.mp4\n";
    let list = builds.file("list.csv", table);
    let ran = builds.build(&[&list]).expect_code(3);
    let message = "list.csv:2: value left out: <video:thumbnail_loc> of \"T\" is the page itself";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let lines = builds.lines();
    assert!(!lines["/v"].contains("video:"), "{}", lines["/v"]);
    assert!(
        lines["/w"].contains("<video:thumbnail_loc>"),
        "{}",
        lines["/w"]
    );
}

#[test]
fn a_date_before_the_web_is_left_out_and_reported() {
    let builds = Builds::new();
    let list = builds.file(
        "list.csv",
        "url,lastmod\n/a,0001-01-01T00:00:00Z\n/b,1899-12-30\n/c,2024-05-17\n",
    );
    let ran = builds.build(&[&list]).expect_code(3);
    assert_eq!(ran.summary()["input"]["values_left_out"], 2);
    let lines = builds.lines();
    assert!(!lines["/a"].contains("lastmod") && !lines["/b"].contains("lastmod"));
    assert!(lines["/c"].contains("<lastmod>2024-05-17</lastmod>"));
}

#[test]
fn cells_with_a_url_among_text_are_left_out_and_reported() {
    let builds = Builds::new();
    let list = format!(
        "/a\n({A})\nhttps:/www.example.com/b\nc/d\\e\ngo/?to={A}\nwww.example.org/e\nabout\n"
    );
    let file = builds.file("list.txt", list);
    let ran = builds.build(&[&file]).expect_code(3);
    for (line, message) in [
        (2, "not an http or https URL"),
        (3, "not an http or https URL"),
        (4, "a backslash in the URL"),
        (6, "a URL without its scheme"),
    ] {
        let message = format!("list.txt:{line}: left out: {message}");
        assert!(ran.stderr.contains(&message), "{message}: {}", ran.stderr);
    }
    assert_eq!(builds.lines().len(), 3);
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    let builds = Builds::new();
    let mut bytes = b"%PDF-1.7\n1 0 obj\n/Length 9\n".to_vec();
    bytes.extend((0..=255).cycle().take(4_096));
    bytes.extend(b"\nendobj\n");
    let file = builds.file("paper.pdf", bytes);
    let ran = builds.build(&[&file]).expect_code(2);
    let message = "paper.pdf:1: this is no text, expected a list of URLs";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}
