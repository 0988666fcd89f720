//! Tests of the links of a page.

use super::*;

#[test]
fn elements_that_lead_to_pages_are_links() {
    check_links(&[
        "<a href=a>x</a> => /dir/a",
        "<A HREF='/a'>x</A> => /a",
        "<a>x</a><a name=x>y</a> =>",
        "<area href=a> => /dir/a",
        "<iframe src=a></iframe> => /dir/a",
        "<frameset><frame src=a></frameset> => /dir/a",
        "<link rel=next href=a><link rel='prev' href=b> => /dir/a, /dir/b",
        "<link rel=alternate hreflang=de href=a> => /dir/a alternate",
        "<link rel=alternate media=print href=a> => /dir/a alternate",
        "<link rel=alternate hreflang=de type=text/html href=a> => /dir/a alternate",
        "<link rel=amphtml href=a> => /dir/a alternate",
        "<svg><a href=a></a><a xlink:href=b></a><a href=c xlink:href=d></a></svg> => /dir/a, /dir/b, /dir/c",
        "<p><a href=a>unclosed<p><a href=b> => /dir/a, /dir/b",
    ]);
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
    for (html, expected) in [
        ("<a href=a>Old\n  prices</a> now", "Old prices"),
        ("<a href=a>A &amp; <b>B</b> &lt;</a>", "A & B <"),
        ("<a href=a><h3>One</h3><p>two</p></a>", "One two"),
        ("<a href=a> </a><a href=a>x</a><a href=/dir/a>z</a>", "x"),
        ("<a href=a></a><a href=/dir/a>z</a>", "z"),
        ("<a href=a>un<p>closed", "un closed"),
        ("<a href=a><img src=i alt='an &amp; image'>", "an & image"),
        ("<a href=a><img src=i alt=image> text</a>", "text"),
        ("<area href=a alt=area><p>x", "area"),
        ("<iframe src=a></iframe>x", ""),
        ("<a href=a><script>x</script><!--y-->z</a>", "z"),
        ("<a href='mailto:x'>x</a><a href=a>y</a>", "y"),
    ] {
        check(html, &[expected]);
    }
    check("<a href=a>one<a href=b>two</a>", &["one", "two"]);
    let long = format!("<a href=a>{}</a>", "ä".repeat(900));
    check(&long, &[&*"ä".repeat(40)]);
}

#[test]
fn other_references_are_not_links() {
    check_links(&[
        "<link rel=alternate href=a> =>",
        "<link rel='alternate stylesheet' media=print href=a> =>",
        "<link rel=alternate hreflang=de type=application/rss+xml href=a> =>",
        "<link rel=stylesheet href=a><link rel=icon href=b><link rel=preconnect href=c> =>",
        "<link rel=canonical href=a> =>",
        // Canonical links that conflict are still discoveries.
        "<link rel=canonical href=/c><link rel=canonical href=/d> => /c canonical, /d canonical",
        "<img src=a><script src=b></script><source src=c><form action=d></form><q cite=e></q> =>",
        "<a xlink:href=a>x</a><a data-href=b>x</a><p href=c> =>",
        "<object data=a></object><embed src=b><video src=c></video> =>",
        "<a href='mailto:x'>x</a><a href='javascript:x'>x</a><a href='tel:1'>x</a> =>",
    ]);
}

#[test]
fn content_that_is_never_shown_is_not_searched() {
    check_links(&[
        "<!-- <a href=a>x</a> --> =>",
        "<template><a href=a>x</a></template><a href=b> => /dir/b",
        // A declarative shadow root is part of the page, unless it is inside a template.
        "<x-a><template shadowrootmode=open><a href=a></a><template><a href=c></template></template></x-a><a href=b> => /dir/a, /dir/b",
        "<template shadowrootmode=CLOSED><a href=a> => /dir/a",
        "<template shadowrootmode=x><a href=a></template><a href=b> => /dir/b",
        "<template><template shadowrootmode=open><a href=a></template><a href=c></template><a href=b> => /dir/b",
        "<template><template></template><a href=a></template><a href=b> => /dir/b",
        "<script>'<a href=a>'</script><style><a href=b></style> =>",
        "<title><a href=a></title><textarea><a href=b></textarea> =>",
        "<xmp><a href=a></xmp><noembed><a href=b></noembed><iframe><a href=c></iframe> =>",
        "<plaintext><a href=a> =>",
        "<svg><![CDATA[<a href=a>]]></svg> =>",
        "<template><noscript><a href=a></noscript></template> =>",
    ]);
}

#[test]
fn content_for_readers_without_scripts_is_searched() {
    check_links(&[
        "<noscript><a href=a>x</a></noscript><a href=b> => /dir/a, /dir/b",
        "<noscript><iframe src=a></iframe></noscript> => /dir/a",
        "<noscript><template><a href=a></noscript><a href=b> => /dir/b",
        "<noscript><!-- <a href=a> --></noscript> =>",
        "<noframes><body><a href=a></body></noframes> =>",
        "<noscript><a href=a> => /dir/a",
        "<noscript><meta http-equiv=refresh content='0;url=a'></noscript> => /dir/a refresh",
    ]);
}

#[test]
fn references_are_decoded_and_trimmed() {
    check_links(&[
        "<a href='a?b=1&amp;c=2'> => /dir/a?b=1&c=2",
        "<a href='a?b=1&copy=2'> => /dir/a?b=1&copy=2",
        "<a href='&#x2f;a&#47;'> => /a/",
        "<a href=' \n a \t '> => /dir/a",
        "<a href='a\n/b'> => /dir/a/b",
        "<a href=''> => /dir/page?q=1",
        "<a href=é> => /dir/%C3%A9",
        "<a href=a href=b> => /dir/a",
        "<a href=/a/> => /a/",
        "<a href='a\0b'> => /dir/a%EF%BF%BDb",
    ]);
}

#[test]
fn every_target_is_a_link_once() {
    check_links(&[
        "<a href=a>x</a><a href=b>x</a><a href=a#x>x</a> => /dir/a, /dir/b",
        "<a href=a rel=nofollow>x</a> => !/dir/a",
        "<a href=a rel='noopener,UGC'>x</a> => !/dir/a",
        "<area href=a rel=sponsored> => !/dir/a",
        "<a href=a rel=nofollow>x</a><a href=/dir/a>x</a> => /dir/a",
        "<a href=a>x</a><a href=/dir/a rel=nofollow>x</a> => /dir/a",
        "<a href=a>x</a><link rel=alternate hreflang=de href=a> => /dir/a",
    ]);
}

#[test]
fn base_holds_for_the_whole_page() {
    check_links(&[
        "<base href=/x/><a href=a> => /x/a",
        "<a href=a><base href=/x/> => /x/a",
        "<base target=_top><base href=/x/><base href=/y/><a href=a> => /x/a",
        "<base href='javascript:x'><base href=/y/><a href=a> => /dir/a",
        "<base href=//other.example/y><a href=a><a href=''> => https://other.example/a, https://other.example/y",
        "<template><base href=/x/></template><a href=a> => /dir/a",
    ]);
}

#[test]
fn links_that_are_too_long_are_cut() {
    for (length, is_cut) in [(1_900, false), (2_048, true), (60_000, true)] {
        let html = format!("<a href='?{}'>x</a>", "x".repeat(length));
        let links = Answer::html(&html).read().links;
        assert_eq!(links.len(), 1, "{length}");
        assert_eq!(links[0].target.is_cut(), is_cut, "{length}");
    }
}

#[test]
fn links_beyond_the_limit_are_cut() {
    let html = "<a href=a><a href=#1><a href=#2><a href=a#x><a href=mailto:x><a href=c>";
    let mut answer = Answer::html(html);
    for (limit, found) in [
        (3, "/dir/a, /dir/page?q=1, /dir/c"),
        (2, "/dir/a, /dir/page?q=1"),
    ] {
        answer.config.max_links = limit;
        let facts = answer.read();
        assert_eq!(facts.warnings.links_cut, limit == 2);
        assert_eq!(links(&facts), found);
    }
}

#[test]
fn link_headers_lead_to_pages() {
    let find = |line: &str| {
        let answer = Answer::html("<base href=/x/><a href=/a>");
        links(&answer.with_header("Link", line).read())
    };
    let rows = [
        "<n>; rel=next, <p>; rel=prev => /dir/n, /dir/p, /a",
        "</de>; rel=alternate; hreflang=de => /de alternate, /a",
        "</amp>; rel=amphtml => /amp alternate, /a",
        "</style.css>; rel=preload, </feed>; rel=alternate; type=application/rss+xml => /a",
        "</a>; rel=\"next nofollow\" => /a",
    ];
    check_rows(&rows, find);
}

#[test]
fn feeds_are_named_apart_from_links() {
    let find = |html: &str| {
        let found = Answer::html(html).read();
        assert_eq!(found.links, [], "{html}");
        let feeds: Vec<String> = found.feeds.iter().map(short).collect();
        feeds.join(", ")
    };
    let rows = [
        "<link rel=alternate type=application/rss+xml href=feed> => /dir/feed",
        "<link rel='home Alternate' type='Application/Atom+XML; charset=utf-8' href=' feed#top '> => /dir/feed",
        "<link rel=alternate type=application/rss+xml href=feed><link rel=alternate type=application/atom+xml href=feed> => /dir/feed",
        // Parameters are part of a feed's place.
        "<base href=/blog/><link rel=alternate type=application/rss+xml href='?feed=rss&utm_source=x'> => /blog/?feed=rss&utm_source=x",
        "<link rel=alternate type=application/json href=feed> =>",
        "<link rel=stylesheet type=application/rss+xml href=feed> =>",
        "<link rel='alternate nofollow' type=application/rss+xml href=feed> =>",
        "<link rel=alternate type=application/rss+xml href='mailto:a@b'> =>",
    ];
    check_rows(&rows, find);
}

#[test]
fn feeds_of_pages_and_headers_are_bounded() {
    let html = (0..100)
        .map(|number| format!("<link rel=alternate type=application/rss+xml href={number}>"))
        .collect::<Vec<_>>()
        .concat();
    let value = "</h>; rel=alternate; type=\"application/atom+xml\"";
    let found = Answer::html(&html).with_header("Link", value).read();
    assert_eq!(found.feeds.len(), 16);
    assert_eq!(found.feeds[0].as_str(), "https://example.com/h");
}
