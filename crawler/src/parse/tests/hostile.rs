//! Pages made to break a parser, and properties of any page.

use proptest::prelude::*;

use super::*;

/// Pieces of markup that switch a tokenizer's state, in and out of order, divided by `|`.
const FRAGMENTS: &str = "\
    <a href=a>|<a href='b?c=1&amp;d' rel=nofollow>|</a>|<area href=\"/e\">|<p>|</p>|<div>|\
    </div>|<b>|</b>|<base href=/x/>|<link rel=canonical href=/c>|<link rel=next href=n>|\
    <link rel=alternate hreflang=de href=/de>|<meta name=robots content=noindex>|\
    <meta http-equiv=refresh content='0;url=r'>|<meta charset=windows-1252>|<title>|</title>|\
    <script>|<script src=x />|</script>|<style>|</style>|<textarea>|</textarea>|<noscript>|\
    </noscript>|<noframes>|</noframes>|<template>|</template>|<iframe src=i>|</iframe>|<svg>|\
    <svg/>|</svg>|<math>|</math>|<foreignObject>|</foreignObject>|<![CDATA[|]]>|<!--|-->|\
    <!DOCTYPE html>|<?xml version='1.0'?>|<select>|</select>|<option>|<table>|<tr>|<td>|\
    </table>|<head>|</head>|<body>|</body>|text é |&amp;&#x41;&notit;|<|'|\"|\0";

fn fragments() -> Vec<&'static str> {
    FRAGMENTS.split('|').collect()
}

const TYPES: [&str; 5] = [
    "text/html; charset=utf-8",
    "text/html",
    "application/xhtml+xml",
    "",
    "text/html; charset=iso-2022-jp",
];

fn any_markup() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        8 => proptest::sample::select(fragments()).prop_map(|fragment| fragment.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(fragment, 0..60).prop_map(|fragments| fragments.concat())
}

fn with_rules(mut answer: Answer<'_>) -> Answer<'_> {
    let rule = |selector: &str, action| PageRule {
        pages: "*".to_owned(),
        selector: selector.to_owned(),
        action,
    };
    answer.config.page_rules = vec![
        rule("p > b", PageAction::Exclude),
        rule("td", PageAction::Lastmod { attribute: None }),
    ];
    answer
}

proptest! {
    #[test]
    fn any_split_gives_the_same_facts(
        body in any_markup(),
        padding in prop_oneof![Just(0_usize), 1_000_usize..1_500, 16_000_usize..17_000],
        content_type in proptest::sample::select(&TYPES[..]),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
    ) {
        let mut body = body;
        let half = body.len() / 2;
        body.splice(half..half, std::iter::repeat_n(b' ', padding));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([body.len()]) {
            pieces.push(&body[start..cut]);
            start = cut;
        }
        let answer = with_rules(Answer::of_type(content_type, &body));
        prop_assert_eq!(answer.read_in(pieces), answer.read());
    }

    #[test]
    fn any_bytes_are_read(
        body in proptest::collection::vec(any::<u8>(), 0..3_000),
        content_type in proptest::sample::select(&TYPES[..]),
    ) {
        let facts = with_rules(Answer::of_type(content_type, &body)).read();
        prop_assert!(facts.end == BodyEnd::Skipped || facts.body_bytes == body.len() as u64);
    }

    #[test]
    fn any_header_is_read(value in "[ -~é]{0,80}", name in proptest::sample::select(&[
        "Content-Type", "Link", "X-Robots-Tag", "Robots-Tag", "Refresh", "Last-Modified", "Date", "ETag",
        "Location", "Content-Length",
    ][..])) {
        let mut answer = Answer::html("<a href=a>").with_header(name, &value);
        answer.read();
        answer.status = 302;
        answer.read();
    }
}

#[test]
fn single_bytes_give_the_same_facts() {
    let page = fragments().concat();
    for content_type in TYPES {
        let answer = with_rules(Answer::of_type(content_type, &page));
        assert_eq!(
            answer.read_in(page.as_bytes().chunks(1)),
            answer.read(),
            "{content_type}"
        );
    }
}

/// A piece of markup that holds a number, repeated.
fn numbered(prefix: &str, suffix: &str, count: usize) -> String {
    (0..count)
        .flat_map(|number| [prefix.to_owned(), number.to_string(), suffix.to_owned()])
        .collect()
}

/// Reads a page made of one repeated piece, in the chunks of a network.
fn read_bomb(body: &str) -> PageFacts {
    let mut answer = with_rules(Answer::html(body));
    answer.config.max_parse_time = Duration::MAX;
    answer.read_in(body.as_bytes().chunks(16 * 1_024))
}

#[test]
fn parser_bombs_never_become_trees() {
    let bombs = [
        numbered("<b id=", "><p>", 20_000),
        [
            numbered("<b id=", ">", 3_000),
            numbered("<i id=", ">", 3_000),
            "x</b>".repeat(3_000),
        ]
        .concat(),
        "<ul><li>".repeat(64_000),
        "<div>".repeat(200_000),
        ["<font>".repeat(40_000), "<p>".repeat(4_000)].concat(),
    ];
    for bomb in &bombs {
        let page = format!("{bomb}<a href=/end>");
        let facts = read_bomb(&page);
        let shown = &bomb[..40];
        assert_eq!(links(&facts), "/end", "{shown}");
        assert!(facts.warnings.page_rule_skipped, "{shown}");
        assert!(!facts.warnings.parse_cut, "{shown}");
    }
}

#[test]
fn tags_with_many_attributes_never_become_trees() {
    let page = format!("<p{}>", numbered(" a", "=b", 400_000));
    let mut answer = with_rules(Answer::html(&page));
    answer.config.max_parse_time = Duration::from_millis(100);
    assert!(answer.read().warnings.page_rule_skipped);
}

#[test]
fn unfinished_constructs_do_not_hurt() {
    for start in [
        "<a href='",
        "<!--",
        "<script>",
        "<title>",
        "<noscript>",
        "<p ",
        "<![CDATA[",
        "<svg><![CDATA[",
    ] {
        let page = format!("<a href=/before>x</a>{start}{}", "x".repeat(3_000_000));
        let facts = read_bomb(&page);
        assert_eq!(links(&facts), "/before", "{start}");
    }
}

#[test]
fn nested_fallbacks_end() {
    let page = format!(
        "{}<a href=a>{}<a href=/end>",
        "<noscript>".repeat(20),
        "</noscript>".repeat(20)
    );
    assert_eq!(links(&read_bomb(&page)), "/dir/a, /end");
}
