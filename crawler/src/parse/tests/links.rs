//! Tests of the links of a page.

use super::*;

#[test]
fn links_are_taken_from_the_elements_that_lead_to_pages() {
    check_links("<a href=a>x</a>", &["/dir/a"]);
    check_links("<A HREF='/a'>x</A>", &["/a"]);
    check_links("<a>x</a><a name=x>y</a>", &[]);
    check_links("<area href=a>", &["/dir/a"]);
    check_links("<iframe src=a></iframe>", &["/dir/a"]);
    check_links("<frameset><frame src=a></frameset>", &["/dir/a"]);
    check_links(
        "<link rel=next href=a><link rel='prev' href=b>",
        &["/dir/a", "/dir/b"],
    );
    check_links(
        "<link rel=alternate hreflang=de href=a>",
        &["/dir/a alternate"],
    );
    check_links(
        "<link rel=alternate media=print href=a>",
        &["/dir/a alternate"],
    );
    check_links(
        "<link rel=alternate hreflang=de type=text/html href=a>",
        &["/dir/a alternate"],
    );
    check_links("<link rel=amphtml href=a>", &["/dir/a alternate"]);
    check_links(
        "<svg><a href=a></a><a xlink:href=b></a><a href=c xlink:href=d></a></svg>",
        &["/dir/a", "/dir/b", "/dir/c"],
    );
    check_links("<p><a href=a>unclosed<p><a href=b>", &["/dir/a", "/dir/b"]);
}

#[test]
fn links_have_their_first_text() {
    let check = |html: &str, expected: &[&str]| {
        let body = html.as_bytes();
        // In pieces of one byte too.
        for facts in [
            Answer::html(html).read(),
            Answer::html(html).read_in(body.chunks(1)),
        ] {
            let texts = (0..facts.links.len()).map(|link| facts.link_texts.get(link));
            assert_eq!(texts.collect::<Vec<_>>(), expected, "{html}");
        }
    };
    check("<a href=a>Old\n  prices</a> now", &["Old prices"]);
    check("<a href=a>A &amp; <b>B</b> &lt;</a>", &["A & B <"]);
    check("<a href=a><h3>One</h3><p>two</p></a>", &["One two"]);
    check(
        "<a href=a> </a><a href=a>x</a><a href=a>y</a><a href=/dir/a>z</a>",
        &["x"],
    );
    check("<a href=a></a><a href=/dir/a>z</a>", &["z"]);
    check("<a href=a>one<a href=b>two</a>", &["one", "two"]);
    check("<a href=a>un<p>closed", &["un closed"]);
    check(
        "<a href=a><img src=i alt='an &amp; image'></a>",
        &["an & image"],
    );
    check("<a href=a><img src=i alt=image> text</a>", &["text"]);
    check("<area href=a alt=area><p>x", &["area"]);
    check("<iframe src=a></iframe>x", &[""]);
    check("<a href=a><script>x</script><!--y-->z</a>", &["z"]);
    check(
        &format!("<a href=a>{}</a>", "ä".repeat(900)),
        &[&*"ä".repeat(40)],
    );
    check("<a href='mailto:x'>x</a><a href=a>y</a>", &["y"]);
}

#[test]
fn other_references_are_not_links() {
    check_links("<link rel=alternate href=a>", &[]);
    check_links("<link rel='alternate stylesheet' media=print href=a>", &[]);
    check_links(
        "<link rel=alternate hreflang=de type=application/rss+xml href=a>",
        &[],
    );
    check_links(
        "<link rel=stylesheet href=a><link rel=icon href=b><link rel=preconnect href=c>",
        &[],
    );
    check_links("<link rel=canonical href=a>", &[]);
    check_links(
        "<img src=a><script src=b></script><source src=c><form action=d></form><q cite=e></q>",
        &[],
    );
    check_links("<a xlink:href=a>x</a><a data-href=b>x</a><p href=c>", &[]);
    check_links(
        "<object data=a></object><embed src=b><video src=c></video>",
        &[],
    );
    check_links(
        "<a href='mailto:x'>x</a><a href='javascript:x'>x</a><a href='tel:1'>x</a>",
        &[],
    );
}

#[test]
fn content_that_is_never_shown_is_not_searched() {
    check_links("<!-- <a href=a>x</a> -->", &[]);
    check_links(
        "<template><a href=a>x</a></template><a href=b>",
        &["/dir/b"],
    );
    // A declarative shadow root is part of the page, unless it is inside a template.
    check_links(
        "<x-a><template shadowrootmode=open><a href=a></a><template><a href=c></template></template></x-a><a href=b>",
        &["/dir/a", "/dir/b"],
    );
    check_links("<template shadowrootmode=CLOSED><a href=a>", &["/dir/a"]);
    check_links(
        "<template shadowrootmode=x><a href=a></template><a href=b>",
        &["/dir/b"],
    );
    check_links(
        "<template><template shadowrootmode=open><a href=a></template><a href=c></template><a href=b>",
        &["/dir/b"],
    );
    check_links(
        "<template><template></template><a href=a></template><a href=b>",
        &["/dir/b"],
    );
    check_links(
        "<script>'<a href=a>'</script><style><a href=b></style>",
        &[],
    );
    check_links(
        "<title><a href=a></title><textarea><a href=b></textarea>",
        &[],
    );
    check_links(
        "<xmp><a href=a></xmp><noembed><a href=b></noembed><iframe><a href=c></iframe>",
        &[],
    );
    check_links("<plaintext><a href=a>", &[]);
    check_links("<svg><![CDATA[<a href=a>]]></svg>", &[]);
    check_links("<template><noscript><a href=a></noscript></template>", &[]);
}

#[test]
fn content_for_readers_without_scripts_is_searched() {
    check_links(
        "<noscript><a href=a>x</a></noscript><a href=b>",
        &["/dir/a", "/dir/b"],
    );
    check_links("<noscript><iframe src=a></iframe></noscript>", &["/dir/a"]);
    check_links(
        "<noscript><template><a href=a></noscript><a href=b>",
        &["/dir/b"],
    );
    check_links("<noscript><!-- <a href=a> --></noscript>", &[]);
    check_links("<noframes><body><a href=a></body></noframes>", &[]);
    check_links("<noscript><a href=a>", &["/dir/a"]);
    check_links(
        "<noscript><meta http-equiv=refresh content='0;url=a'></noscript>",
        &["/dir/a refresh"],
    );
}

#[test]
fn references_are_decoded_and_trimmed() {
    check_links("<a href='a?b=1&amp;c=2'>", &["/dir/a?b=1&c=2"]);
    check_links("<a href='a?b=1&copy=2'>", &["/dir/a?b=1&copy=2"]);
    check_links("<a href='&#x2f;a&#47;'>", &["/a/"]);
    check_links("<a href=' \n a \t '>", &["/dir/a"]);
    check_links("<a href='a\n/b'>", &["/dir/a/b"]);
    check_links("<a href=''>", &["/dir/page?q=1"]);
    check_links("<a href=é>", &["/dir/%C3%A9"]);
    check_links("<a href=a href=b>", &["/dir/a"]);
    check_links("<a href=/a/>", &["/a/"]);
    check_links("<a href='a\0b'>", &["/dir/a%EF%BF%BDb"]);
}

#[test]
fn every_target_is_a_link_once() {
    check_links(
        "<a href=a>x</a><a href=b>x</a><a href=a#x>x</a>",
        &["/dir/a", "/dir/b"],
    );
    check_links("<a href=a rel=nofollow>x</a>", &["!/dir/a"]);
    check_links("<a href=a rel='noopener,UGC'>x</a>", &["!/dir/a"]);
    check_links("<area href=a rel=sponsored>", &["!/dir/a"]);
    check_links(
        "<a href=a rel=nofollow>x</a><a href=/dir/a>x</a>",
        &["/dir/a"],
    );
    check_links(
        "<a href=a>x</a><a href=/dir/a rel=nofollow>x</a>",
        &["/dir/a"],
    );
    check_links(
        "<a href=a>x</a><link rel=alternate hreflang=de href=a>",
        &["/dir/a"],
    );
}

#[test]
fn base_holds_for_the_whole_page() {
    check_links("<base href=/x/><a href=a>", &["/x/a"]);
    check_links("<a href=a><base href=/x/>", &["/x/a"]);
    check_links(
        "<base target=_top><base href=/x/><base href=/y/><a href=a>",
        &["/x/a"],
    );
    check_links(
        "<base href='javascript:x'><base href=/y/><a href=a>",
        &["/dir/a"],
    );
    check_links(
        "<base href=//other.example/y><a href=a><a href=''>",
        &["https://other.example/a", "https://other.example/y"],
    );
    check_links(
        "<template><base href=/x/></template><a href=a>",
        &["/dir/a"],
    );
}

#[test]
fn links_that_are_too_long_are_represented_by_their_beginnings() {
    let is_cut = |length: usize| {
        let html = format!("<a href='?{}'>x</a>", "x".repeat(length));
        let links = Answer::html(&html).read().links;
        let cut = links.iter().map(|link| link.target.is_cut());
        cut.collect::<Vec<_>>()
    };
    assert_eq!(is_cut(1_900), [false]);
    assert_eq!(is_cut(2_048), [true]);
    assert_eq!(is_cut(60_000), [true]);
}

#[test]
fn links_beyond_the_limit_are_cut() {
    let html = "<a href=a><a href=b><a href=a#x><a href=mailto:x><a href=c>";
    let mut answer = Answer::html(html);
    answer.config.max_links = 3;
    assert!(!answer.read().warnings.links_cut);
    answer.config.max_links = 2;
    let facts = answer.read();
    assert!(facts.warnings.links_cut);
    assert_eq!(links(&facts), "/dir/a\n/dir/b\n");
}

#[test]
fn conflicting_canonicals_are_still_discoveries() {
    check_links(
        "<link rel=canonical href=/c><link rel=canonical href=/d>",
        &["/c canonical", "/d canonical"],
    );
}

#[test]
fn link_headers_lead_to_pages() {
    let check = |line: &str, expected: &str| {
        let facts = Answer::html("<base href=/x/><a href=/a>")
            .with_header("Link", line)
            .read();
        assert_eq!(links(&facts), expected, "{line}");
    };
    check("<n>; rel=next, <p>; rel=prev", "/dir/n\n/dir/p\n/a\n");
    check("</de>; rel=alternate; hreflang=de", "/de alternate\n/a\n");
    check("</amp>; rel=amphtml", "/amp alternate\n/a\n");
    check(
        "</style.css>; rel=preload, </feed>; rel=alternate; type=application/rss+xml",
        "/a\n",
    );
    check("</a>; rel=\"next nofollow\"", "/a\n");
}

#[test]
fn feeds_are_named_apart_from_links() {
    fn check(html: &str, expected: &[&str]) {
        let found = Answer::html(html).read();
        let feeds: Vec<&str> = found.feeds.iter().map(UrlKey::as_str).collect();
        assert_eq!(feeds, expected, "{html}");
        assert_eq!(found.links, [], "{html}");
    }
    let feed = "https://example.com/dir/feed";
    check(
        "<link rel=alternate type=application/rss+xml href=feed>",
        &[feed],
    );
    check(
        "<link rel='home Alternate' type='Application/Atom+XML; charset=utf-8' href=' feed#top '>",
        &[feed],
    );
    check(
        "<link rel=alternate type=application/rss+xml href=feed><link rel=alternate type=application/atom+xml href=feed>",
        &[feed],
    );
    // Parameters are part of a feed's place.
    check(
        "<base href=/blog/><link rel=alternate type=application/rss+xml href='?feed=rss&utm_source=x'>",
        &["https://example.com/blog/?feed=rss&utm_source=x"],
    );
    check("<link rel=alternate type=application/json href=feed>", &[]);
    check(
        "<link rel=stylesheet type=application/rss+xml href=feed>",
        &[],
    );
    check(
        "<link rel='alternate nofollow' type=application/rss+xml href=feed>",
        &[],
    );
    check(
        "<link rel=alternate type=application/rss+xml href='mailto:a@b'>",
        &[],
    );
}

#[test]
fn feeds_of_headers_count_and_all_of_them_have_a_bound() {
    let mut html = String::new();
    for number in 0..100 {
        write!(
            html,
            "<link rel=alternate type=application/rss+xml href={number}>"
        )
        .unwrap();
    }
    let value = "</h>; rel=alternate; type=\"application/atom+xml\"";
    let found = Answer::html(&html).with_header("Link", value).read();
    assert_eq!(found.feeds.len(), 16);
    assert_eq!(found.feeds[0].as_str(), "https://example.com/h");
}
