//! Tests of signals of a page: canonical links, refresh, directives, title, suspicions.

use super::*;

/// The canonical link of an answer, and `bad` after it where there is an unusable one.
fn canonical(answer: &Answer<'_>) -> String {
    let facts = answer.read();
    let found = match &facts.canonical {
        Canonical::Absent => "absent".to_owned(),
        Canonical::Itself => "itself".to_owned(),
        Canonical::Other(target) => short(target),
        Canonical::Conflicting => "conflicting".to_owned(),
    };
    let is_bad = facts.warnings.bad_canonical;
    let bad = if is_bad { " bad" } else { "" };
    format!("{found}{bad}")
}

#[test]
fn canonical_links_count_in_the_head_only() {
    let rows = [
        " => absent",
        "LINK => /c",
        "<html><head><title>x</title>LINK</head><body> => /c",
        "<head><script>x</script><style>x</style><meta name=x><base href=/>LINK => /c",
        "<head><noscript><img src=x></noscript>LINK => /c",
        "<head><template><p>x</p></template>LINK => /c",
        "<!-- x --> \nLINK => /c",
        "<head></head>\nLINK<body> => /c",
        "<head></head><noscript></noscript>LINK => absent",
        "<body>LINK => absent",
        "<head><img src=x>LINK => absent",
        "<head><div></div>LINK</head> => absent",
        "<head>xLINK</head> => absent",
        "<head><noscript>LINK</noscript> => absent",
        "<head><template>LINK</template> => absent",
        "<head><svg>LINK</svg> => absent",
    ];
    check_rows(&rows, |html| {
        let html = html.replace("LINK", "<link rel=canonical href=/c>");
        canonical(&Answer::html(&html))
    });
}

#[test]
fn canonical_links_are_compared_as_keys() {
    let rows = [
        "<link rel=canonical href='https://EXAMPLE.com:443/dir/page?q=1&amp;utm_source=x#y'> => itself",
        "<link rel=canonical href='?q=1'> => itself",
        "<link href=/c rel='x CANONICAL'> => /c",
        "<link rel=canonical href=/c><link rel=canonical href=/c#x> => /c",
        "<link rel=canonical href=/c><link rel=canonical href=/d> => conflicting",
        "<link rel=canonical href=c><base href=/x/> => /x/c",
        "<link rel=canonical href=''> => absent bad",
        "<link rel=canonical> => absent",
        "<link rel=canonical href='file:///x'> => absent bad",
        "<link rel=canonical href='http://'> => absent bad",
        "<link rel=canonical href=/c hreflang=de> => absent",
        "<link rel=canonical href=/c lang=de> => absent",
        "<link rel=canonical href=/c media=print> => absent",
        "<link rel=canonical href=/c type=text/html> => absent",
    ];
    check_rows(&rows, |html| canonical(&Answer::html(html)));
}

#[test]
fn canonical_links_of_head_and_headers_count_together() {
    for (html, line, expected) in [
        ("", "</c>; rel=\"canonical\"", "/c"),
        ("<base href=/x/>", "<c>; rel=canonical", "/dir/c"),
        ("<link rel=canonical href=/c>", "</c>; rel=canonical", "/c"),
        (
            "<link rel=canonical href=/c>",
            "</d>; rel=canonical",
            "conflicting",
        ),
        ("", "</c>; rel=canonical; hreflang=de", "absent"),
    ] {
        let answer = Answer::html(html).with_header("Link", line);
        assert_eq!(canonical(&answer), expected, "{html} {line}");
    }
    let pdf = Answer::of_type("application/pdf", "").with_header("Link", "</c>; rel=canonical");
    assert_eq!(canonical(&pdf), "/c");
}

#[test]
fn refresh_is_read_from_metas_and_headers() {
    let refresh = |answer: &Answer<'_>| {
        let found = answer.read().refresh;
        found.map_or_else(String::new, |found| {
            format!("{} {}", found.delay_seconds, short(&found.target))
        })
    };
    let rows = [
        "<meta http-equiv=refresh content='0;url=a'> => 0 /dir/a",
        "<META HTTP-EQUIV=Refresh CONTENT='5; URL=\"/a&amp;b\"'> => 5 /a&b",
        "<meta http-equiv=refresh content=30> => 30 /dir/page?q=1",
        "<meta http-equiv=refresh content='0;url=a'><base href=/x/> => 0 /x/a",
        "<meta http-equiv=refresh content=x><meta http-equiv=refresh content='1;a'> => 1 /dir/a",
        "<meta http-equiv=refresh content='1;a'><meta http-equiv=refresh content='0;b'> => 1 /dir/a",
        "<meta http-equiv=refresh content='0;url=mailto:x'> =>",
        "<noscript><meta http-equiv=refresh content='0;url=a'></noscript> =>",
        "<template><meta http-equiv=refresh content='0;url=a'></template> =>",
    ];
    check_rows(&rows, |html| refresh(&Answer::html(html)));
    let by_header = Answer::html("").with_header("Refresh", "3; url=/a");
    assert_eq!(refresh(&by_header), "3 /a");
}

/// Robots directives of an answer: `N` noindex, `F` nofollow, `I` noimageindex.
fn directives(answer: &Answer<'_>) -> String {
    let found = answer.read().directives;
    let flags = [
        (found.noindex, 'N'),
        (found.nofollow, 'F'),
        (found.noimageindex, 'I'),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    set.map(|(_, flag)| flag).collect()
}

#[test]
fn directives_of_metas_and_headers_add_up() {
    let rows = [
        " =>",
        "<meta name=robots content=noindex> => N",
        "<meta name=Robot content=noindex> => N",
        "<META NAME=' Robots ' CONTENT=NOINDEX> => N",
        "<meta name=googlebot content=none> => NF",
        "<meta name=otherbot content=none> =>",
        "<meta name=robots content='noarchive, NoImageIndex'> => I",
        "<meta name=robots content=index><meta name=robots content=noindex> => N",
        "<body><p><meta name=robots content=noindex> => N",
        "<noscript><meta name=robots content=noindex></noscript> => N",
        "<template><meta name=robots content=noindex></template> =>",
        "<!-- <meta name=robots content=noindex> --> =>",
        "<meta property=robots content=noindex><meta name=robots> =>",
    ];
    check_rows(&rows, |html| directives(&Answer::html(html)));
    for (html, lines, expected) in [
        ("", ["noimageindex", ""], "I"),
        ("", ["otherbot: noindex", "nofollow"], "F"),
        ("<meta name=robots content=nofollow>", ["noindex", ""], "NF"),
    ] {
        let [first, second] = lines;
        let answer = Answer::html(html).with_header("X-Robots-Tag", first);
        let answer = answer.with_header("X-Robots-Tag", second);
        assert_eq!(directives(&answer), expected, "{html} {lines:?}");
    }
    let mut answer = Answer::html("<meta name=OtherBot content=noindex>");
    answer.config.robots_names = vec!["otherBOT".to_owned()];
    assert!(answer.read().directives.noindex);
}

#[test]
fn unavailable_after_is_read_or_warned_about() {
    for (date, expected) in [
        ("2030-01-02", "2029-01-01T00:00:00Z"),
        ("2028-01-02", "2028-01-02T00:00:00Z"),
        ("someday", "2029-01-01T00:00:00Z"),
    ] {
        let page = format!("<meta name=robots content='unavailable_after: {date}'>");
        let facts = Answer::html(&page)
            .with_header("X-Robots-Tag", "unavailable_after: 1 Jan 2029")
            .read();
        let found = facts.directives.unavailable_after;
        assert_eq!(found, expected.parse::<Timestamp>().ok(), "{date}");
        assert_eq!(facts.warnings.bad_unavailable_after, date == "someday");
    }
}

#[test]
fn title_is_that_of_the_document() {
    let rows = [
        "<title> A &amp; <b>B\n</title> => A & <b>B",
        "<title>A</title><title>B</title> => A",
        "<title></title><title>B</title> => B",
        "<svg><title>A</title></svg><title>B</title> => B",
        "<template><title>A</title></template> =>",
        "<p>x =>",
    ];
    check_rows(&rows, |html| {
        Answer::html(html).read().title.unwrap_or_default()
    });
}

#[test]
fn pages_without_content_are_suspects() {
    let rows = [
        "<title>Page not found</title><a href=/>home</a> => soft 404",
        "<title>404</title><a href=/>home</a>WORDS =>",
        "<title>Welcome</title> =>",
        "<div id=root></div><script src=app.js></script> => script shell",
        "<noscript>You need scripts.<iframe src=//t.example></iframe></noscript><script>x</script> => script shell",
        "<a href='#main'>skip</a><script type=module src=x></script> => script shell",
        "<script type=application/ld+json>{}</script> =>",
        "<div></div><script src=x></script><a href=a>x</a> =>",
        "<script src=x></script>WORDS =>",
        "<a href=/a>a</a><div id=root> </div><script src=x></script> => empty root",
        "<a href=/a>a</a><app-root></app-root><script src=x></script>WORDS => empty root",
        "<a href=/a>a</a><div id='app'></div>WORDS =>",
        "<div id=root>WORDS</div><script src=x></script> =>",
        "<div id=root><a href=/a>a</a></div><script src=x></script> =>",
        "<div id=rooted></div><my-map></my-map><script src=x></script><a href=/a>a</a> =>",
        "<a href=/a>a</a><a href='#/about'>x</a> => hash routes",
        "<a href=/a>a</a><a href='/#!/about'>x</a> => hash routes",
        "<a href=/a>a</a><a href='#/'>x</a><a href='#!'>y</a><a href='#about'>z</a> =>",
        "<a href=/a>a</a><a href='https://app.example/#/about'>x</a> =>",
    ];
    check_rows(&rows, |html| {
        let html = html.replace("WORDS", &"word ".repeat(60));
        let warnings = Answer::html(&html).read().warnings;
        let flags = [
            (warnings.soft_404, "soft 404"),
            (warnings.script_shell, "script shell"),
            (warnings.empty_root, "empty root"),
            (warnings.hash_routes, "hash routes"),
        ];
        let words: Vec<_> = flags
            .into_iter()
            .filter_map(|(is_set, word)| is_set.then_some(word))
            .collect();
        words.join(", ")
    });
}
