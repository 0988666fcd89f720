//! Tests of the dates that pages state.

use super::*;
use crate::page::StatedDates;

#[track_caller]
fn check(html: &str, expected: [Option<&str>; 4]) {
    let [json_ld, meta, time_element, published] = expected.map(|text| text.map(str::to_owned));
    let expected = StatedDates {
        json_ld,
        meta,
        time_element,
        published,
    };
    assert_eq!(Answer::html(html).read().dates, expected, "{html}");
}

#[test]
fn dates_are_taken_from_their_places() {
    let day = Some("2024-05-06");
    let script = |json: &str| format!("<script type='application/ld+json'>{json}</script>");
    check("<p>2024-05-06", [None; 4]);
    check(
        &script(r#"{"@type":"Article","dateModified":"2024-05-06","datePublished":"2024-05-01"}"#),
        [day, None, None, Some("2024-05-01")],
    );
    // The page itself, by a reference that is relative to it.
    check(
        &script(
            r#"{"@graph":[{"@type":"WebPage","@id":"?q=1#x","dateModified":"2024-05-06"},
            {"@type":"Article","url":"/other","dateModified":"2024-06-07"}]}"#,
        ),
        [day, None, None, None],
    );
    check(
        &script(r#"{"@type":"Article","url":"/other","dateModified":"2024-05-06"}"#),
        [None; 4],
    );
    check(
        "<meta property=article:modified_time content=2024-05-06>",
        [None, day, None, None],
    );
    check(
        "<meta itemprop=dateModified content=2024-05-06>",
        [None, day, None, None],
    );
    check(
        "<meta http-equiv=Last-Modified content='Mon, 06 May 2024 10:00:00 GMT'>",
        [None, Some("2024-05-06T10:00:00Z"), None, None],
    );
    check(
        "<meta name=dcterms.modified content=2024-05-06>",
        [None, day, None, None],
    );
    check(
        "<span itemprop=dateModified content=2024-05-06>May</span>",
        [None, day, None, None],
    );
    check(
        "<span itemprop=dateModified>2024-05-06</span>",
        [None, day, None, None],
    );
    check(
        "<meta property=article:published_time content=2024-05-06>",
        [None, None, None, day],
    );
    check("<time datetime=2024-05-06>May</time>", [None; 4]);
    check(
        "<time class=updated datetime=2024-05-06>May</time>",
        [None, None, day, None],
    );
    check(
        "<p>Last updated: <time datetime=2024-05-06>May</time>",
        [None, None, day, None],
    );
    check(
        "<time itemprop=dateModified datetime=2024-05-06>May</time>",
        [None, day, None, None],
    );
    check(
        "<footer>Last updated <time datetime=2024-05-06>x</time></footer>",
        [None, None, day, None],
    );
}

#[test]
fn dates_of_other_things_are_not_the_pages() {
    let comment = "<div itemscope itemtype=https://schema.org/Comment>\
        <time itemprop=dateModified datetime=2024-05-06>x</time></div>";
    check(comment, [None; 4]);
    for holder in [
        "section class=comments",
        "div id='comments'",
        "ol class='x comment-list'",
    ] {
        let html = format!("<{holder}><time class=updated datetime=2024-05-06>x</time>");
        check(&html, [None; 4]);
    }
    check(
        "<aside><time class=updated datetime=2024-05-06>x</time></aside>",
        [None; 4],
    );
    check(
        "<template><time class=updated datetime=2024-05-06>x</time></template>",
        [None; 4],
    );
    check(
        "<time class=updated datetime=2024-05-06>x</time><time class=updated datetime=2024-05-07>x</time>",
        [None; 4],
    );
    let article = "<div itemscope itemtype=https://schema.org/NewsArticle>\
        <meta itemprop=dateModified content=2024-05-06></div>";
    check(article, [None, Some("2024-05-06"), None, None]);
}
