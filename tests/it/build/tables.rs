//! Tables: whatever the column of URLs is called, and refused when nobody knows which one it is.

use super::Builds;

const A: &str = "https://www.example.com/x1";

#[test]
fn the_column_of_urls_is_found_by_its_names() {
    for table in [
        format!("Address,Status\n{A},200\n"),
        format!("Status,Address\n200,{A}\n"),
        format!("Status Code,Address\n200,{A}\n"),
        format!("Top pages,Clicks\n{A},20\n"),
        format!("Page;Clicks\n{A};20\n"),
        format!("\"Page URL\",\"Title\"\n\"{A}\",\"a, b\"\n"),
        format!("url|lastmod\n{A}|2026-01-01\n"),
        format!("sep=;\n\"lastmod\";\"url\"\n\"2026-01-01\";\"{A}\"\n"),
        format!("SEP=;\nlastmod;url\n2026-01-01;{A}\n"),
        format!("\"sep=;\"\n\"lastmod\";\"url\"\n\"2026-01-01\";\"{A}\"\n"),
        format!("Permalink\n{A}\n"),
        format!("Full URL,Status\n{A},200\n"),
        format!("Page,Permalink\n1,{A}\n"),
        format!("Title,Location,Permalink\nT,Berlin,{A}\n"),
        format!("| url | lastmod |\n|-----|---------|\n| {A} | 2026-01-01 |\n"),
        format!("title,url\n\"two\nlines\",{A}\n"),
        format!("\"ti\ntle\",\"url\"\nT,{A}\n"),
        format!("\"{A}\",\"a title\"\n"),
        format!("{A}\ta title\n"),
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
fn a_table_that_nobody_can_read_is_refused() {
    let check = |table: &str, line: u64, said: &str| {
        let builds = Builds::new();
        let list = builds.file("list.csv", table);
        let ran = builds.build(&[&list]).expect_code(2);
        let said = format!("list.csv:{line}: {said}");
        assert!(ran.stderr.contains(&said), "{table}: {}", ran.stderr);
        assert!(ran.stderr.contains("--input-format text"), "{}", ran.stderr);
        assert!(!builds.output().exists(), "{table}");
    };
    let no_column = "this begins a table, no column of which is called `url` or `loc`";
    let row = "this is the row of a table";
    let no_header = "this is a table without a header line";
    check(&format!("Adresse;Titel\n{A};Hallo\n"), 1, no_column);
    check(&format!("# x\n\nWas,Wo\n200,{A}\n404,{A}\n"), 3, no_column);
    check("Report\nSeite,Klicks\n/a,3\n", 2, no_column);
    check(&format!("Was,Wo\n\"a, b\",x,\"{A}\"\n"), 2, row);
    check(&format!("200,{A}\n404,{A}\n"), 1, row);
    check(
        &format!("{A},https://www.example.com/x1.png\n"),
        1,
        no_header,
    );
    check("/x1,2.1.2026\n/x2,3.1.2026\n", 1, no_header);
    check("/x1,200\n/x2,404\n", 1, no_header);
    check("/x1,First page\n/x2,Second\n", 1, no_header);
    check("/x1,2026-01-01\n/x1,2026-01-02\n", 1, no_header);
    check("1,/x1\n2,/x2\n", 1, row);
    check(
        &format!("Address,Link\n{A},{A}2\n"),
        1,
        "several columns of URLs",
    );
}

#[test]
fn rows_of_a_url_and_a_date_need_no_header_line() {
    for table in [
        "/a,2026-01-02\n/b,2026-01-03T04:05:06Z\n",
        "# ours\nhttps://www.example.com/a;2026-01-02\n/b;2026-01-03T04:05:06Z\n",
        "\"/a\"\t\"2026-01-02\"\n\"/b\"\t\"2026-01-03T04:05:06Z\"\n",
    ] {
        let builds = Builds::new();
        let list = builds.file("list.csv", table);
        let ran = builds.build(&["--strict", &list]).expect_code(0);
        assert!(
            ran.stderr.contains("list.csv: no header line"),
            "{}",
            ran.stderr
        );
        let lines = builds.lines();
        assert_eq!(lines.len(), 2, "{table}");
        assert_eq!(lines["/a"], "<lastmod>2026-01-02</lastmod>");
        assert_eq!(lines["/b"], "<lastmod>2026-01-03T04:05:06Z</lastmod>");
    }
    // In a list it is told, and no URL has a date that is none of it.
    let builds = Builds::new();
    let list = builds.file("list.txt", "/a\n/b\n/c,2026-01-02\n");
    let ran = builds.build(&[&list]).expect_code(3);
    let told = "list.txt:3: left out: a date behind the URL, expected one URL, or a header line such as `url,lastmod`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(builds.lines().len(), 2);
    builds
        .build(&["--input-format", "text", &list])
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
fn a_line_that_is_too_long_is_told_with_its_bound() {
    let builds = Builds::new();
    let long = "x".repeat(300_000);
    let list = builds.file("list.csv", format!("url,z\n/a,{long}\n/b,x\n"));
    let ran = builds.build(&[&list]).expect_code(3);
    let told = "list.csv:2: left out: a line of more than 256 KiB";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let text = "words\n".repeat(10_001);
    let list = builds.file(
        "list.csv",
        format!("url,z,priority\n/a,\"{text}\",0.5\n/b,x,0.5\n"),
    );
    let ran = builds.build(&[&list]).expect_code(3);
    let told = "list.csv:2: value left out: a quoted field without its closing quote in 256 KiB or 10000 lines";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
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
    let film = "\"thumbnail_loc\":\"/t.png\",\"title\":\"T\",\"description\":\"D\",\"content_loc\":\"/v.mp4\"";
    let list = builds.file(
        "list.ndjson",
        format!(
            "{{\"loc\":\"/a\",\"images\":[5,\"/i.png\",{{\"loc\":6}},[7]],\"alternates\":[8,{{\"hreflang\":\"de\",\"href\":9}},\
             {{\"hreflang\":\"fr\",\"href\":\"/fr\"}}],\"videos\":[true,{{{film},\"tags\":[\"x\",{{}},\"y\"],\
             \"restriction\":{{\"relationship\":\"allow\",\"countries\":[\"DE\",10,\"FR\"]}}}}]}}\n"
        ),
    );
    let ran = builds.build(&[&list]).expect_code(3);
    let told = |words: &str| {
        let words = format!("list.ndjson:1: value left out: {words}");
        assert!(ran.stderr.contains(&words), "{words}: {}", ran.stderr);
    };
    told("images[0]: expected a URL, found 5");
    told("images[2].loc: expected a URL, found 6");
    told("images[3]: expected text");
    told("alternates[0]: expected an object");
    told("alternates[1].href: expected a URL, found 9");
    told("videos[0]: expected an object");
    told("videos[1].tags[1]: expected text");
    told("videos[1].restriction.countries[1]: expected text, found 10");
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
fn what_stands_in_front_of_a_table_or_a_list_is_told() {
    for (list, line) in [
        (format!("Report, 2026-01-01\nurl;title\n{A};T\n/b;U\n"), 1),
        (format!("Webseite\n{A}\n{A}2\n"), 1),
        (format!("{A}\tT\nno url\tT\n/b\n"), 2),
    ] {
        let builds = Builds::new();
        let file = builds.file("list.csv", &list);
        let ran = builds.build(&[&file]).expect_code(3);
        let told = format!("list.csv:{line}: left out: ");
        assert!(ran.stderr.contains(&told), "{list}: {}", ran.stderr);
        assert_eq!(builds.lines().len(), 2, "{list}");
    }
}

#[test]
fn a_quotation_mark_that_none_closes_costs_no_row() {
    let builds = Builds::new();
    let table = "url\ttitle\tpriority\n/a\tT\t0.3\n/b\t\"open\t0.3\n/c\tsays \"hi\"\t0.3\n";
    let file = builds.file("list.tsv", table);
    let ran = builds.build(&[&file]).expect_code(3);
    let told = "list.tsv:3: value left out: a quoted field without its closing quote";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let lines = builds.lines();
    assert_eq!(lines.keys().collect::<Vec<_>>(), ["/a", "/b", "/c"]);
    assert!(lines["/c"].contains("<priority>0.3</priority>"));
    assert!(!lines["/b"].contains("priority"), "{}", lines["/b"]);
}

#[test]
fn a_row_that_looks_like_a_table_costs_no_list() {
    let good: Vec<String> = (0..1_500).map(|number| format!("{A}/{number}")).collect();
    let good = good.join("\n");
    for (line, listed) in [
        (format!("{A}.jpg|{A}"), 1_501),
        (format!("TODO, {A}"), 1_500),
        ("Page; all of them".to_owned(), 1_500),
    ] {
        let builds = Builds::new();
        let file = builds.file("list.txt", format!("{line}\n{good}"));
        builds
            .build(&[&file])
            .expect_code(if listed == 1_501 { 0 } else { 3 });
        assert_eq!(builds.lines().len(), listed, "{line}");
    }
}

#[test]
fn a_value_that_is_no_url_is_left_out_where_the_name_of_the_column_is_in_doubt() {
    let builds = Builds::new();
    let list = builds.file("list.csv", "Location,Name\nBerlin,x\n/a,y\n");
    let ran = builds.build(&[&list]).expect_code(3);
    let told = "list.csv:2: left out: \"Berlin\" in the column \"Location\", expected https://... or a path";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
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
        "page,1.html\npage,2.html\npage,3.html\n",
        "link,a\nlink,b\nlink,c\n",
        "go?u=1;https://other.example/\nabout\ncontact\n",
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
fn a_note_in_a_plain_list_costs_its_line_only() {
    for (list, line) in [
        (format!("Export, spring\n{A}\n/c,d,e\n"), 1),
        (format!("{A}\nTODO, {A}2\n/b\n"), 2),
        (format!("{A}\n/b\n200,{A}2\n"), 3),
    ] {
        let builds = Builds::new();
        let file = builds.file("list.txt", &list);
        let ran = builds.build(&[&file]).expect_code(3);
        let told = format!("list.txt:{line}: left out: ");
        assert!(ran.stderr.contains(&told), "{list}: {}", ran.stderr);
        assert_eq!(builds.lines().len(), 2, "{list}");
    }
}

#[test]
fn a_film_whose_picture_is_the_page_is_left_out_and_told() {
    let builds = Builds::new();
    let table = "url,video_thumbnail_loc,video_title,video_description,video_content_loc\n\
                 /v,/%76,T,D,/v.mp4\n/w,/w.png,T,D,/w.mp4\n";
    let list = builds.file("list.csv", table);
    let ran = builds.build(&[&list]).expect_code(3);
    let told = "list.csv:2: value left out: <video:thumbnail_loc> of \"T\" is the page itself";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let lines = builds.lines();
    assert!(!lines["/v"].contains("video:"), "{}", lines["/v"]);
    assert!(
        lines["/w"].contains("<video:thumbnail_loc>"),
        "{}",
        lines["/w"]
    );
}

#[test]
fn a_date_before_the_web_is_left_out_and_told() {
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
fn header_lines_that_spreadsheets_and_databases_write_are_understood() {
    for table in [
        format!("Page, CTR\n{A},5.1%\n{A}2,6.2%\n"),
        format!("Address,\"Title, first\",Canonical\n{A},T,{A}\n{A}2,U,{A}2\n"),
        format!("url\t\n{A}\tT\n{A}2\tU\n"),
        format!("#,url\n1,{A}\n2,{A}2\n"),
        format!("     url\n---------\n {A}\n {A}2\n"),
        format!("url,t,\n{A},x,\n,,\n{A}2,y,\n,,\n"),
        format!("\u{feff}url,t\n{A},x\n\u{feff}\"URL\",\"T\"\n\u{feff}{A}2,y\n"),
        format!("sep=;\nurl;t\n{A};x\nsep=;\nt;url\ny;{A}2\n"),
    ] {
        let builds = Builds::new();
        let list = builds.file("list.csv", &table);
        let ran = builds.build(&["--strict", &list]).expect_code(0);
        let lines = builds.lines();
        let urls: Vec<&String> = lines.keys().collect();
        assert_eq!(urls, ["/x1", "/x12"], "{table}: {}", ran.stderr);
    }
}

#[test]
fn the_columns_behind_another_header_line_have_its_meaning() {
    let builds = Builds::new();
    let table = "url,lastmod,x\n/a,2026-01-01,1\nlastmod,y,url\n2026-01-02,2,/b\n";
    let list = builds.file("list.csv", table);
    let ran = builds.build(&[&list]).expect_code(0);
    let lines = builds.lines();
    assert_eq!(lines["/a"], "<lastmod>2026-01-01</lastmod>");
    assert_eq!(lines["/b"], "<lastmod>2026-01-02</lastmod>");
    assert!(ran.stderr.contains("the fields x, y;"), "{}", ran.stderr);
}

#[test]
fn what_only_holds_a_url_is_left_out_and_told() {
    let builds = Builds::new();
    let list = format!(
        "/a\n({A})\n`{A}`\nhttps:/www.example.com/b\nc\\d\ngo?to={A}\n-\nwww.example.org/e\n"
    );
    let file = builds.file("list.txt", list);
    let ran = builds.build(&[&file]).expect_code(3);
    for (line, told) in [
        (2, "a URL behind other characters"),
        (3, "a URL behind other characters"),
        (4, "a URL without // behind its scheme"),
        (5, "a backslash in the URL"),
        (7, "there is no URL"),
        (8, "a URL without its scheme"),
    ] {
        let told = format!("list.txt:{line}: left out: {told}");
        assert!(ran.stderr.contains(&told), "{told}: {}", ran.stderr);
    }
    assert_eq!(builds.lines().len(), 2);
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let builds = Builds::new();
    let mut bytes = b"%PDF-1.7\n1 0 obj\n/Length 9\n".to_vec();
    bytes.extend((0..=255).cycle().take(4_096));
    bytes.extend(b"\nendobj\n");
    let file = builds.file("paper.pdf", bytes);
    let ran = builds.build(&[&file]).expect_code(2);
    let told = "paper.pdf:1: this is no text, expected a list of URLs";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}
