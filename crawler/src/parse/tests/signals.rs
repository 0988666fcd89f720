//! Tests of signals of a page: canonical links, refresh, directives, title, suspicions.

use super::*;

#[track_caller]
fn check_canonical(answer: &Answer<'_>, expected: &str) {
    let facts = answer.read();
    let found = match &facts.canonical {
        Canonical::Absent => "absent",
        Canonical::Itself => "itself",
        Canonical::Other(target) => target.as_str().trim_start_matches("https://example.com"),
        Canonical::Conflicting => "conflicting",
    };
    let bad = if facts.warnings.bad_canonical {
        " bad"
    } else {
        ""
    };
    assert_eq!(
        format!("{found}{bad}"),
        expected,
        "{}",
        answer.body.escape_ascii()
    );
}

#[test]
fn canonical_links_count_in_the_head_only() {
    let check = |html: &str, expected: &str| check_canonical(&Answer::html(html), expected);
    let link = "<link rel=canonical href=/c>";
    check("", "absent");
    check(link, "/c");
    check(
        &format!("<html><head><title>x</title>{link}</head><body>"),
        "/c",
    );
    check(
        &format!("<head><script>x</script><style>x</style><meta name=x><base href=/>{link}"),
        "/c",
    );
    check(
        &format!("<head><noscript><img src=x></noscript>{link}"),
        "/c",
    );
    check(&format!("<head><template><p>x</p></template>{link}"), "/c");
    check(&format!("<!-- x --> \n{link}"), "/c");
    check(&format!("<head></head>\n{link}<body>"), "/c");
    check(
        &format!("<head></head><noscript></noscript>{link}"),
        "absent",
    );
    check(&format!("<body>{link}"), "absent");
    check(&format!("<head><img src=x>{link}"), "absent");
    check(&format!("<head><div></div>{link}</head>"), "absent");
    check(&format!("<head>x{link}</head>"), "absent");
    check(&format!("<head><noscript>{link}</noscript>"), "absent");
    check(&format!("<head><template>{link}</template>"), "absent");
    check(&format!("<head><svg>{link}</svg>"), "absent");
}

#[test]
fn canonical_links_are_compared_as_keys() {
    let check = |html: &str, expected: &str| check_canonical(&Answer::html(html), expected);
    check(
        "<link rel=canonical href='https://EXAMPLE.com:443/dir/page?q=1&amp;utm_source=x#y'>",
        "itself",
    );
    check("<link rel=canonical href='?q=1'>", "itself");
    check("<link href=/c rel='x CANONICAL'>", "/c");
    check(
        "<link rel=canonical href=/c><link rel=canonical href=/c#x>",
        "/c",
    );
    check(
        "<link rel=canonical href=/c><link rel=canonical href=/d>",
        "conflicting",
    );
    check("<link rel=canonical href=c><base href=/x/>", "/x/c");
    check("<link rel=canonical href=''>", "absent bad");
    check("<link rel=canonical>", "absent");
    check("<link rel=canonical href='file:///x'>", "absent bad");
    check("<link rel=canonical href='http://'>", "absent bad");
    for attribute in ["hreflang=de", "lang=de", "media=print", "type=text/html"] {
        check(
            &format!("<link rel=canonical href=/c {attribute}>"),
            "absent",
        );
    }
}

#[test]
fn canonical_links_of_head_and_headers_count_together() {
    let check = |html: &str, line: &str, expected: &str| {
        check_canonical(&Answer::html(html).with_header("Link", line), expected);
    };
    check("", "</c>; rel=\"canonical\"", "/c");
    check("<base href=/x/>", "<c>; rel=canonical", "/dir/c");
    check("<link rel=canonical href=/c>", "</c>; rel=canonical", "/c");
    check(
        "<link rel=canonical href=/c>",
        "</d>; rel=canonical",
        "conflicting",
    );
    check("", "</c>; rel=canonical; hreflang=de", "absent");
    let pdf = Answer::of_type("application/pdf", "").with_header("Link", "</c>; rel=canonical");
    check_canonical(&pdf, "/c");
}

#[test]
fn meta_refresh_is_read() {
    let check = |html: &str, expected: Option<(u32, &str)>| {
        let facts = Answer::html(html).read();
        let found = facts.refresh.as_ref().map(|found| {
            (
                found.delay_seconds,
                found
                    .target
                    .as_str()
                    .trim_start_matches("https://example.com"),
            )
        });
        assert_eq!(found, expected, "{html}");
    };
    check(
        "<meta http-equiv=refresh content='0;url=a'>",
        Some((0, "/dir/a")),
    );
    check(
        "<META HTTP-EQUIV=Refresh CONTENT='5; URL=\"/a&amp;b\"'>",
        Some((5, "/a&b")),
    );
    check(
        "<meta http-equiv=refresh content=30>",
        Some((30, "/dir/page?q=1")),
    );
    check(
        "<meta http-equiv=refresh content='0;url=a'><base href=/x/>",
        Some((0, "/x/a")),
    );
    check(
        "<meta http-equiv=refresh content=x><meta http-equiv=refresh content='1;a'>",
        Some((1, "/dir/a")),
    );
    check(
        "<meta http-equiv=refresh content='1;a'><meta http-equiv=refresh content='0;b'>",
        Some((1, "/dir/a")),
    );
    check("<meta http-equiv=refresh content='0;url=mailto:x'>", None);
    check(
        "<noscript><meta http-equiv=refresh content='0;url=a'></noscript>",
        None,
    );
    check(
        "<template><meta http-equiv=refresh content='0;url=a'></template>",
        None,
    );
    let by_header = Answer::html("")
        .with_header("Refresh", "3; url=/a")
        .read()
        .refresh
        .unwrap();
    assert_eq!(
        (by_header.delay_seconds, by_header.target.path()),
        (3, "/a")
    );
}

#[test]
fn directives_of_metas_and_headers_add_up() {
    let check = |html: &str, headers: &[(&str, &str)], noindex: bool, nofollow: bool| {
        let mut answer = Answer::html(html);
        answer.headers.extend(headers);
        let found = answer.read().directives;
        assert_eq!(
            (found.noindex, found.nofollow),
            (noindex, nofollow),
            "{html} {headers:?}"
        );
    };
    check("", &[], false, false);
    check("<meta name=robots content=noindex>", &[], true, false);
    check("<meta name=Robot content=noindex>", &[], true, false);
    check("<META NAME=' Robots ' CONTENT=NOINDEX>", &[], true, false);
    check("<meta name=googlebot content=none>", &[], true, true);
    check("<meta name=otherbot content=none>", &[], false, false);
    check(
        "<meta name=robots content=index><meta name=robots content=noindex>",
        &[],
        true,
        false,
    );
    check(
        "<body><p><meta name=robots content=noindex>",
        &[],
        true,
        false,
    );
    check(
        "<noscript><meta name=robots content=noindex></noscript>",
        &[],
        true,
        false,
    );
    check(
        "<template><meta name=robots content=noindex></template>",
        &[],
        false,
        false,
    );
    check(
        "<!-- <meta name=robots content=noindex> -->",
        &[],
        false,
        false,
    );
    check(
        "<meta property=robots content=noindex><meta name=robots>",
        &[],
        false,
        false,
    );
    check(
        "<meta name=robots content=nofollow>",
        &[("X-Robots-Tag", "noindex")],
        true,
        true,
    );
    check(
        "",
        &[
            ("X-Robots-Tag", "otherbot: noindex"),
            ("X-Robots-Tag", "googlebot: nofollow"),
        ],
        false,
        true,
    );
    let mut answer = Answer::html("<meta name=OtherBot content=noindex>");
    answer.config.robots_names = vec!["otherBOT".to_owned()];
    assert!(answer.read().directives.noindex);
}

#[test]
fn unavailable_after_is_read_or_warned_about() {
    let page = "<meta name=robots content='unavailable_after: 2030-01-02'>";
    let facts = Answer::html(page)
        .with_header("X-Robots-Tag", "unavailable_after: 1 Jan 2029")
        .read();
    assert_eq!(
        facts.directives.unavailable_after,
        "2029-01-01T00:00:00Z".parse::<Timestamp>().ok()
    );
    assert!(!facts.warnings.bad_unavailable_after);
    let facts = Answer::html("<meta name=robots content='unavailable_after: someday'>").read();
    assert_eq!(facts.directives.unavailable_after, None);
    assert!(facts.warnings.bad_unavailable_after);
}

#[test]
fn title_is_that_of_the_document() {
    let check = |html: &str, expected: Option<&str>| {
        assert_eq!(
            Answer::html(html).read().title.as_deref(),
            expected,
            "{html}"
        );
    };
    check("<title> A &amp; <b>B\n</title>", Some("A & <b>B"));
    check("<title>A</title><title>B</title>", Some("A"));
    check("<title></title><title>B</title>", Some("B"));
    check("<svg><title>A</title></svg><title>B</title>", Some("B"));
    check("<template><title>A</title></template>", None);
    check("<p>x", None);
}

#[test]
fn pages_without_content_are_suspects() {
    let check = |html: &str, soft_404: bool, script_shell: bool| {
        let warnings = Answer::html(html).read().warnings;
        assert_eq!(
            (warnings.soft_404, warnings.script_shell),
            (soft_404, script_shell),
            "{html:.60}"
        );
    };
    let words = "word ".repeat(60);
    check(
        "<title>Page not found</title><a href=/>home</a>",
        true,
        false,
    );
    check(
        &format!("<title>404</title><a href=/>home</a>{words}"),
        false,
        false,
    );
    check("<title>Welcome</title>", false, false);
    check(
        "<div id=root></div><script src=app.js></script>",
        false,
        true,
    );
    check(
        "<noscript>You need scripts.<iframe src=//t.example></iframe></noscript><script>x</script>",
        false,
        true,
    );
    check(
        "<a href='#main'>skip</a><script type=module src=x></script>",
        false,
        true,
    );
    check("<script type=application/ld+json>{}</script>", false, false);
    check(
        "<div></div><script src=x></script><a href=a>x</a>",
        false,
        false,
    );
    check(&format!("<script src=x></script>{words}"), false, false);
}
