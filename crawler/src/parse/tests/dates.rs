//! Tests of the dates that pages state.

use super::*;
use crate::page::StatedDates;

/// Checks rows of the form `html => dates`.
#[track_caller]
fn check(rows: &[&str]) {
    check_rows(rows, |html| {
        let StatedDates {
            json_ld,
            meta,
            published,
        } = Answer::html(html).read().dates;
        let dates = [
            ("json-ld", json_ld),
            ("meta", meta),
            ("published", published),
        ];
        let shown = dates
            .into_iter()
            .filter_map(|(place, date)| Some(format!("{place} {}", date?)));
        shown.collect::<Vec<_>>().join(", ")
    });
}

#[test]
fn dates_are_taken_from_their_places() {
    check(&[
        "<p>2024-05-06 =>",
        r#"<script type='application/ld+json'>{"@type":"Article","dateModified":"2024-05-06","datePublished":"2024-05-01"}</script> => json-ld 2024-05-06, published 2024-05-01"#,
        // The page itself, by a reference that is relative to it.
        r#"<script type='application/ld+json'>{"@graph":[{"@type":"WebPage","@id":"?q=1#x","dateModified":"2024-05-06"},
            {"@type":"Article","url":"/other","dateModified":"2024-06-07"}]}</script> => json-ld 2024-05-06"#,
        r#"<script type='application/ld+json'>{"@type":"Article","url":"/other","dateModified":"2024-05-06"}</script> =>"#,
        "<meta property=article:modified_time content=2024-05-06> => meta 2024-05-06",
        "<meta itemprop=dateModified content=2024-05-06> => meta 2024-05-06",
        "<meta http-equiv=Last-Modified content='Mon, 06 May 2024 10:00:00 GMT'> => meta 2024-05-06T10:00:00Z",
        "<meta name=dcterms.modified content=2024-05-06> => meta 2024-05-06",
        "<span itemprop=dateModified content=2024-05-06>May</span> => meta 2024-05-06",
        "<span itemprop=dateModified>2024-05-06</span> => meta 2024-05-06",
        "<meta property=article:published_time content=2024-05-06> => published 2024-05-06",
        "<time datetime=2024-05-06>May</time> =>",
        "<p>Last updated: <time class=updated datetime=2024-05-06>May</time> =>",
        "<time itemprop=dateModified datetime=2024-05-06>May</time> => meta 2024-05-06",
        "<footer><time itemprop=dateModified datetime=2024-05-06>x</time></footer> => meta 2024-05-06",
    ]);
}

#[test]
fn dates_of_other_things_are_not_the_pages() {
    check(&[
        "<div itemscope itemtype=https://schema.org/Comment><time itemprop=dateModified datetime=2024-05-06>x</time></div> =>",
        "<section class=comments><time itemprop=dateModified datetime=2024-05-06>x</time> =>",
        "<div id='comments'><time itemprop=dateModified datetime=2024-05-06>x</time> =>",
        "<ol class='x comment-list'><time itemprop=dateModified datetime=2024-05-06>x</time> =>",
        "<aside><time itemprop=dateModified datetime=2024-05-06>x</time></aside> =>",
        "<template><time itemprop=dateModified datetime=2024-05-06>x</time></template> =>",
        "<time itemprop=dateModified datetime=2024-05-06>x</time><time itemprop=dateModified datetime=2024-05-07>x</time> =>",
        "<div itemscope itemtype=https://schema.org/NewsArticle><meta itemprop=dateModified content=2024-05-06></div> => meta 2024-05-06",
    ]);
}
