//! Tests of reading answers: status, type, encoding, syntax, page rules.

use super::*;

#[test]
fn head_becomes_facts() {
    let facts = Answer::html("x")
        .with_header("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
        .with_header("Date", "Sunday, 06-Nov-94 09:49:37 GMT")
        .with_header("ETag", "W/\"abc\"")
        .read();
    assert_eq!(facts.status, 200);
    assert_eq!(facts.content_type.as_deref(), Some("text/html"));
    assert_eq!(facts.kind, BodyKind::Page);
    assert_eq!(facts.end, BodyEnd::Complete);
    assert_eq!(facts.body_bytes, 1);
    assert_eq!(facts.body_hash, Some(xxhash_rust::xxh3::xxh3_128(b"x")));
    assert!(facts.content_hash.is_some());
    assert_eq!(
        facts.last_modified,
        "1994-11-06T08:49:37Z".parse::<Timestamp>().ok()
    );
    assert_eq!(facts.date, "1994-11-06T09:49:37Z".parse::<Timestamp>().ok());
    assert_eq!(facts.etag.as_deref(), Some("W/\"abc\""));
    assert_eq!(facts.warnings, Warnings::default());
}

#[test]
fn only_pages_that_answer_200_are_read() {
    let mut answer = Answer::html("<a href=a>")
        .with_header("Location", "/new")
        .with_header("Link", "</n>; rel=next");
    answer.status = 301;
    let facts = answer.read();
    assert_eq!(facts.end, BodyEnd::Skipped);
    assert_eq!(
        facts.location.as_ref().map(UrlKey::as_str),
        Some("https://example.com/new")
    );
    assert_eq!(
        (facts.links.len(), facts.body_bytes, facts.content_hash),
        (0, 0, None)
    );
    for status in [204, 206, 304, 404, 500] {
        answer.status = status;
        let facts = answer.read();
        assert_eq!(
            (facts.status, &facts.end, facts.links.len()),
            (status, &BodyEnd::Skipped, 0)
        );
    }
}

#[test]
fn types_decide_what_is_read() {
    let long = format!("no markup {}<a href=a>", "x".repeat(3_000));
    let page = "<!DOCTYPE html><a href=a>";
    let xhtml =
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><a href='a'/></html>";
    let xml = "<a><a href='a'/></a>";
    for (content_type, body, kind, is_read, is_sniffed) in [
        ("text/html", page, BodyKind::Page, true, false),
        ("application/xhtml+xml", page, BodyKind::Page, true, false),
        ("application/pdf", page, BodyKind::Document, false, false),
        ("image/png", page, BodyKind::Other, false, false),
        ("", page, BodyKind::Page, true, true),
        ("text/plain", page, BodyKind::Page, true, true),
        ("application/octet-stream", page, BodyKind::Page, true, true),
        ("text/xml", xhtml, BodyKind::Page, true, true),
        ("application/xml; a=b", xhtml, BodyKind::Page, true, true),
        ("text/xml", xml, BodyKind::Other, true, false),
        ("text/plain", long.as_str(), BodyKind::Other, false, false),
        ("text/plain", "short", BodyKind::Other, true, false),
    ] {
        let facts = Answer::of_type(content_type, body).read();
        let end = if is_read {
            BodyEnd::Complete
        } else {
            BodyEnd::Skipped
        };
        let found = (facts.kind, facts.end, facts.warnings.sniffed);
        assert_eq!(found, (kind, end, is_sniffed), "{content_type} {body:.20}");
        let is_page = kind == BodyKind::Page;
        assert_eq!(facts.links.len(), usize::from(is_page), "{content_type}");
    }
}

#[test]
fn empty_documents_show_as_empty() {
    let pdf = |length: &'static str| {
        Answer::of_type("application/pdf", "").with_header("Content-Length", length)
    };
    for (answer, end) in [
        (pdf("0"), BodyEnd::Complete),
        (pdf("9"), BodyEnd::Skipped),
        (Answer::html(""), BodyEnd::Complete),
        (Answer::of_type("", ""), BodyEnd::Complete),
    ] {
        let facts = answer.read();
        assert_eq!((facts.end, facts.body_bytes), (end, 0));
    }
}

#[test]
fn incomplete_bodies_have_no_hash() {
    for end in [
        BodyEnd::TooLarge,
        BodyEnd::CutShort,
        BodyEnd::Undecodable("gzip".to_owned()),
    ] {
        let mut answer = Answer::html("<a href=a>");
        answer.end = end.clone();
        let facts = answer.read();
        let found = (facts.end, facts.content_hash, facts.links.len());
        assert_eq!(found, (end, None, 1));
    }
    let document = Answer::of_type("application/pdf", "%PDF").read();
    assert_eq!(document.content_hash, None);
}

#[test]
fn encoding_of_the_page_encodes_its_queries() {
    let check = |content_type: &str, body: &[u8], expected: &str| {
        let found = links(&Answer::of_type(content_type, body).read());
        assert_eq!(found, expected, "{}", body.escape_ascii());
    };
    let latin = b"<a href='/\xe9?q=\xe9'>";
    check("text/html; charset=iso-8859-1", latin, "/%C3%A9?q=%E9");
    let meta = b"<meta charset=windows-1251><a href='?q=\xff'>";
    check("text/html", meta, "/dir/page?q=%FF");
    let utf_8 = "<a href='?q=é'>".as_bytes();
    check("text/html", utf_8, "/dir/page?q=%C3%A9");
    let utf_16 = b"\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0'\0?\0q\0=\0\xe9\0'\0>\0";
    check("text/html", utf_16, "/dir/page?q=%C3%A9");
    let sjis = b"<a href='?q=\x83\x5c'>";
    check("text/html; charset=shift_jis", sjis, "/dir/page?q=%83%5C");
    let escaped = b"<a href='/\x1b$B$\"\x1b(B'>";
    check("text/html; charset=iso-2022-jp", escaped, "/%E3%81%82");
}

#[test]
fn xhtml_is_read_as_xml_means_it() {
    let page = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>\
        <script src='x' /><title/></head><body><![CDATA[<a href='no'>]]><a href='a'/></body></html>";
    let facts = Answer::of_type("application/xhtml+xml", page).read();
    assert_eq!(links(&facts), "/dir/a");
    // As `text/html` it is HTML, where everything after the tag is script text.
    let facts = Answer::html("<script src='x'/><a href='a'/>").read();
    assert_eq!(links(&facts), "");
}

fn lastmod_rule() -> PageRule {
    PageRule {
        pages: "/dir/*".to_owned(),
        selector: "time.updated".to_owned(),
        action: PageAction::Lastmod {
            attribute: Some("datetime".to_owned()),
        },
    }
}

#[test]
fn page_rules_read_trees_of_bounded_size() {
    let page = "<p><time class=updated datetime=2024-05-06>x</time>";
    let mut answer = Answer::html(page);
    answer.config.page_rules = vec![lastmod_rule()];
    let facts = answer.read();
    assert_eq!(facts.selected_lastmod.as_deref(), Some("2024-05-06"));
    assert!(!facts.warnings.page_rule_skipped && !facts.excluded_by_page_rule);

    let deep = format!("{}{page}", "<div>".repeat(600));
    answer.body = deep.as_bytes();
    let facts = answer.read();
    assert_eq!(facts.selected_lastmod, None);
    assert!(facts.warnings.page_rule_skipped);

    let drawing =
        format!("<svg><title>x</title><foreignObject><p>y</p></foreignObject></svg>{page}");
    answer.body = drawing.as_bytes();
    assert!(!answer.read().warnings.page_rule_skipped);

    answer.body = deep.as_bytes();
    answer.config.page_rules[0].pages = "/other/*".to_owned();
    assert!(!answer.read().warnings.page_rule_skipped);

    answer.config.page_rules[0].pages = "*".to_owned();
    answer.config.page_rules[0].action = PageAction::Exclude;
    answer.body = page.as_bytes();
    assert!(answer.read().excluded_by_page_rule);
}

#[test]
fn page_rules_see_text_in_any_encoding() {
    let text = "<b>2024-01-02".encode_utf16();
    let body: Vec<u8> = text.flat_map(u16::to_le_bytes).collect();
    let mut answer = Answer::of_type("text/html; charset=utf-16le", &body);
    let mut rule = lastmod_rule();
    rule.selector = "b".to_owned();
    rule.action = PageAction::Lastmod { attribute: None };
    answer.config.page_rules = vec![rule];
    let found = answer.read().selected_lastmod;
    assert_eq!(found.as_deref(), Some("2024-01-02"));
}

#[test]
fn nosniff_forbids_a_guess_and_nothing_else() {
    let page = "<!DOCTYPE html><a href=a>";
    let check = |content_type: &str, value: &str, kind: BodyKind| {
        let answer = Answer::of_type(content_type, page);
        let facts = answer.with_header("X-Content-Type-Options", value).read();
        assert_eq!(facts.kind, kind, "{content_type} {value}");
    };
    for content_type in ["", "text/plain", "application/octet-stream"] {
        check(content_type, "nosniff", BodyKind::Other);
        check(content_type, " NoSniff, x", BodyKind::Other);
        check(content_type, "x, nosniff", BodyKind::Page);
    }
    check("text/html", "nosniff", BodyKind::Page);
    check("application/pdf", "nosniff", BodyKind::Document);
}

/// A second of CPU time for each look at the clock.
fn second_by_second() -> Duration {
    thread_local! {
        static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    LOOKS.with(|looks| {
        looks.set(looks.get() + 1);
        Duration::from_secs(looks.get())
    })
}

#[test]
fn a_page_without_cpu_time_left_is_cut() {
    // The CPU time of the first bytes is not measured.
    let start = "<a href=a>".to_owned() + &" ".repeat(64 * 1_024 - 10);
    let pieces = [
        &*start,
        "<a href=b>",
        "<a href=c>",
        "<meta name=robots content=noindex>",
    ];
    // Each piece takes a second, and a piece is parsed while no more than the limit is used up.
    let check = |limit: u64, expected: &[&str], is_cut: bool| {
        let mut answer = Answer::html("");
        answer.config.max_parse_time = Duration::from_secs(limit);
        answer.cpu_clock = Some(second_by_second);
        let facts = answer.read_in(pieces.map(str::as_bytes));
        let found: Vec<&str> = facts.links.iter().map(|link| link.target.path()).collect();
        assert_eq!(
            (&*found, facts.warnings.parse_cut),
            (expected, is_cut),
            "{limit}"
        );
        assert_eq!(facts.directives.noindex, !is_cut, "{limit}");
        assert_eq!(facts.content_hash.is_some(), !is_cut, "{limit}");
    };
    check(0, &["/dir/a", "/dir/b"], true);
    check(1, &["/dir/a", "/dir/b", "/dir/c"], true);
    check(2, &["/dir/a", "/dir/b", "/dir/c"], false);
}
