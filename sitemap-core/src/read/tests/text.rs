//! Text files: one URL per line, and common other content.

use std::io::BufReader;

use super::{check_reading, check_row, gzip, reading, utf16};
use crate::{
    Limits,
    read::{Kind, MAX_RECORD_BYTES, MAX_VALUE_BYTES, Problem, ReadError, Reader},
};

#[test]
fn each_line_is_a_url() {
    let both = &["http://host/a|||", "http://host/?b&c|||"][..];
    for end in ["\n", "\r\n", "\r"] {
        let file = format!("http://host/a{end}http://host/?b&c");
        check_reading(&file, both, &[]);
        check_reading(file + end, both, &[]);
    }
    check_reading(gzip(b"http://host/a\nhttp://host/?b&c\n"), both, &[]);
    check_reading("HTTPS://HOST\n", &["https://host/|||"], &["Note R26"]);
    check_reading(
        "\u{FEFF}http://host/a\nhttp://host/?b&c\n",
        both,
        &["Warning R53"],
    );
    let wide = utf16("http://host/a\nhttp://host/?b&c\n", u16::to_le_bytes);
    check_reading(wide, both, &["Error R53"]);
    // No entities here.
    check_reading("http://host/?a&amp;b\n", &["http://host/?a&amp;b|||"], &[]);
}

#[test]
fn blank_lines_and_white_space_are_read_over() {
    check_reading(
        "\n\nhttp://host/a\n \t\nhttp://host/b\n\n",
        &["http://host/a|||", "http://host/b|||"],
        &["Warning R50", "Warning R50", "Warning R50"],
    );
    check_reading(
        "  http://host/a\nhttp://host/b \n",
        &["http://host/a|||", "http://host/b|||"],
        &["Warning R54", "Warning R54"],
    );
    check_reading("", &["! R4"], &[]);
    check_reading("\n \r\n\n", &["! R4"], &[]);
}

#[test]
fn lines_that_are_not_urls_are_left_out() {
    for row in [
        "/relative => http://host/a|||, - R51, http://host/b|||",
        "www.example.com => http://host/a|||, - R51, http://host/b|||",
        "ftp://host/ => http://host/a|||, - R51, http://host/b|||",
        "//host/a => http://host/a|||, - R51, http://host/b|||",
        "http:// => http://host/a|||, - R51, http://host/b|||",
        "http://u:p@host/ => http://host/a|||, - R51, http://host/b|||",
        "some words => http://host/a|||, - R51, http://host/b|||",
        "<b> => http://host/a|||, - R51, http://host/b|||",
        "# a comment => http://host/a|||, - R54, http://host/b|||",
        "http://host/\u{1} => http://host/a|||, - R54, http://host/b|||",
        // Text after the URL is left out.
        "http://host/c\t0.5 => http://host/a|||, http://host/c|||, http://host/b||| => Error R54",
        "http://host/c b.c => http://host/a|||, http://host/c%20b.c|||, http://host/b||| => Error R24",
        "http://host/c daily 0.5 => http://host/a|||, http://host/c|||, http://host/b||| => Error R54",
        "http://host/c http://host/d => http://host/a|||, http://host/c|||, http://host/b||| => Error R54",
        // These are good URLs, and perhaps no good ones.
        "http://host/c,b => http://host/a|||, http://host/c,b|||, http://host/b|||",
        "http://host/c, => http://host/a|||, http://host/c,|||, http://host/b|||",
        "http://host/c,2024-05-17 => http://host/a|||, http://host/c,2024-05-17|||, http://host/b||| => Warning R54",
    ] {
        check_row(row, |line| {
            format!("http://host/a\n{line}\nhttp://host/b\n")
        });
    }
}

#[test]
fn header_and_footer_are_called_so() {
    for row in [
        "Our pages\n~\nThe end\n => - R55, http://host/a|||, - R55",
        "# ours\n\nall of it\n~\nThe end\nof all\n\n => - R54, - R51, http://host/a|||, - R51, - R55 => Warning R50, Warning R50",
        // A line that was meant as a URL is not a comment.
        "/a\n~\n/b => - R51, http://host/a|||, - R51",
        "Sitemap\n~ => - R55, http://host/a|||",
        "All pages of www.host.example\n~ => - R55, http://host/a|||",
        "www.host.example\n~ => - R51, http://host/a|||",
        "/path\n~ => - R51, http://host/a|||",
        "~\nend => http://host/a|||, - R55",
    ] {
        check_row(row, |file| file.replace('~', "http://host/a"));
    }
}

#[test]
fn a_table_is_one_error() {
    let check = |file: &str, line: u64| {
        check_reading(file, &["! R54"], &[]);
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        let found = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(&found, ReadError::File(finding)
                if finding.problem == Problem::Table && finding.position.line == line),
            "{found}"
        );
        assert!(reader.next().is_none());
        assert_eq!(reader.kind(), None);
    };
    check("loc,lastmod\nhttp://host/a,2024-05-17\n", 1);
    check("# x\n\nTitle;URL\nA;http://host/a\n", 3);
    check_reading("url\nhttp://host/a\n", &["- R55", "http://host/a|||"], &[]);
}

#[test]
fn file_without_any_url_is_not_a_list() {
    let check = |file: &[u8]| {
        check_reading(file, &["! R1"], &[]);
        let mut reader = Reader::new(file, Limits::default());
        let error = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(&error, ReadError::File(finding) if finding.problem == Problem::NotXml),
            "{error}"
        );
        assert_eq!(reader.kind(), None);
    };
    check(b"this is a bogus sitemap");
    check(b"{\"a\": 1}");
    check(b"User-agent: *\nDisallow: /\nSitemap: /sitemap.xml\n");
    check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    check("a\n".repeat(200_000).as_bytes());
    check("a".repeat(1_000_000).as_bytes());
    let late = format!("{}http://host/\n", "words\n".repeat(200));
    check(late.as_bytes());
}

#[test]
fn malformed_bytes_cost_their_line() {
    let (a, b) = ("http://host/a|||", "http://host/b|||");
    let file = b"http://host/a\nhttp://host/\xfc\nhttp://host/b\n";
    check_reading(file, &[a, "- R53", b], &[]);
    check_reading(b"http://host/\xfc\nhttp://host/b\n", &["- R53", b], &[]);
    // A line with a defect still shows a list.
    check_reading(b"http://host/\xff", &["- R53"], &[]);
    check_reading(b"HTTPS://host/\x01", &["- R54"], &[]);
    check_reading(b"host/\xff", &["! R1"], &[]);
    let url = &["http://host/%C3%BC|||"];
    check_reading("http://host/ü\n", url, &["Warning R23"]);
}

#[test]
fn truncated_text_gives_the_lines_that_are_whole() {
    let file = gzip("http://host/some/path\n".repeat(50).as_bytes());
    let mut reader = Reader::new(&file[..file.len() - 9], Limits::default());
    let items: Vec<_> = reader.by_ref().collect();
    let (last, whole) = items.split_last().unwrap();
    assert!(matches!(last, Err(ReadError::File(finding)) if finding.rule().0 == 56));
    assert!(whole.iter().all(Result::is_ok));
    // What follows the stream does not affect the last line.
    check_reading(
        [&gzip(b"http://host/a\nhttp://host/b")[..], b"rest"].concat(),
        &["http://host/a|||", "http://host/b|||"],
        &["Warning R56"],
    );
}

#[test]
fn limits_and_positions_are_those_of_lines() {
    let file = "\nhttp://host/a\r\n/b\rhttp://host/c\nhttp://host/d";
    let limits = Limits {
        entries: 3,
        ..Limits::default()
    };
    for capacity in [1, 2, 3, 64] {
        let input = BufReader::with_capacity(capacity, file.as_bytes());
        let mut reader = Reader::new(input, limits);
        let at =
            |reader: &Reader<_>| (reader.entry_position().line, reader.entry_position().offset);
        assert!(reader.next().unwrap().is_ok());
        assert_eq!(reader.kind(), Some(Kind::Text));
        assert_eq!(at(&reader), (2, 1));
        assert_eq!(
            reader.next().unwrap().unwrap_err().to_string(),
            "line 3, byte 16: URL is not absolute, expected http:// or https:// and a host (R51)"
        );
        assert!(reader.next().unwrap().is_ok());
        assert_eq!(at(&reader), (4, 19));
        assert_eq!(
            reader.next().unwrap().unwrap_err().to_string(),
            "line 5, byte 33: file has more than 3 entries (R52)"
        );
        assert!(reader.next().is_none());
    }
    let bytes = Limits {
        bytes: 20,
        ..Limits::default()
    };
    let items: Vec<_> = Reader::new(file.as_bytes(), bytes).collect();
    assert_eq!(items.len(), 3);
    assert!(matches!(&items[2], Err(ReadError::File(finding)) if finding.rule().0 == 52));
}

#[test]
fn line_is_read_up_to_its_bound() {
    let check = |bytes: usize, rule: &str| {
        let line = format!("http://host/{}", "a".repeat(bytes - 12));
        let file = format!("http://host/\n{line}\nhttp://host/b");
        let lost = format!("- {rule}");
        check_reading(file, &["http://host/|||", &lost, "http://host/b|||"], &[]);
    };
    check(MAX_VALUE_BYTES, "R11");
    check(MAX_VALUE_BYTES + 1, "R11");
    check(MAX_RECORD_BYTES, "R11");
    check(MAX_RECORD_BYTES + 1, "R51");
    check(MAX_RECORD_BYTES * 3, "R51");
    let problem = Problem::ValueTooLong { name: "line" };
    assert_eq!(problem.to_string(), "line has more than 256 KiB");
}

#[test]
fn comments_before_the_first_url_have_a_bound() {
    let check = |lines: usize, is_read: bool| {
        let file = format!("{}http://host/\n", "# x\n".repeat(lines));
        let reader = Reader::new(file.as_bytes(), Limits::default());
        let is_found = reader.into_iter().any(|item| item.is_ok());
        assert_eq!(is_found, is_read, "{lines}");
    };
    check(10_000, true);
    check(10_001, false);
}

#[test]
fn list_may_begin_late_but_not_too_late() {
    let header = |lines: usize| format!("{}\n", "x".repeat(999)).repeat(lines);
    let count = |lines: usize| reading((header(lines) + "http://host/").as_bytes()).0.len();
    assert_eq!(count(60), 61);
    assert_eq!(count(70), 1);
}
