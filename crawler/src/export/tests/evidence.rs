//! Whose date counts, and which date a page has over several crawls.

use std::collections::BTreeMap;

use super::*;
use crate::page::{DateSource, SitemapDate, StatedDates};

/// An answer of a page in one crawl.
#[derive(Clone, Default)]
struct Seen {
    content: u128,
    dates: StatedDates,
    sitemap: Option<SitemapDate>,
    header: Option<Timestamp>,
    selected: Option<String>,
    /// `Some` for a document that is not a page: its `ETag`, or an empty text.
    document: Option<String>,
    /// The server answered 304.
    is_confirmed: bool,
}

/// An answer by its text, e.g. `1 json-ld=2026-01-01 header=2026-01-02T00:00:00Z`: the version of the content, and what is
/// stated. A `file` is a sitemap whose date is that of the file; `document` has an `ETag` or none.
fn seen(text: &str) -> Seen {
    let mut seen = Seen::default();
    for word in text.split_ascii_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let value = value.to_owned();
        match name {
            "json-ld" => seen.dates.json_ld = Some(value),
            "meta" => seen.dates.meta = Some(value),
            "published" => seen.dates.published = Some(value),
            "sitemap" | "file" => {
                seen.sitemap = Some(SitemapDate {
                    lastmod: value,
                    is_of_file: name == "file",
                });
            }
            "header" => seen.header = Some(time(&value)),
            "rule" => seen.selected = Some(value),
            "document" => seen.document = Some(value),
            "confirmed" => seen.is_confirmed = true,
            content => seen.content = content.parse().unwrap(),
        }
    }
    seen
}

impl Seen {
    /// The facts of the answer; of a 304, those of its head.
    fn facts(&self) -> PageFacts {
        let mut facts = empty_answer(304);
        if !self.is_confirmed {
            let is_page = self.document.is_none();
            facts = PageFacts {
                kind: if is_page {
                    BodyKind::Page
                } else {
                    BodyKind::Document
                },
                content_hash: is_page.then_some(ContentHash(self.content)),
                body_hash: is_page.then_some(self.content + 1_000),
                dates: self.dates.clone(),
                selected_lastmod: self.selected.clone(),
                ..whole_page()
            };
        }
        facts.last_modified = self.header;
        facts.etag = self.document.clone().filter(|etag| !etag.is_empty());
        facts
    }
}

/// Crawls `pages` at `at`, publishes, and returns the date of each page with its source.
fn crawl(bench: &mut Bench, at: &str, pages: &[(&str, Seen)]) -> BTreeMap<String, String> {
    let start = time(at);
    let found = pages.iter().map(|(path, seen)| {
        let mut record = answered(seen.facts());
        record.fetched_at = Some(start + 1.minute());
        record.sitemap_lastmod.clone_from(&seen.sitemap);
        if seen.is_confirmed {
            record.basis = Basis::Confirmed;
        }
        (*path, record)
    });
    bench.crawl_records(start, false, found.collect());
    publish(bench, start, false)
}

fn publish(bench: &mut Bench, now: Timestamp, is_drained: bool) -> BTreeMap<String, String> {
    let sources = bench.publish_at(now, is_drained).sources;
    let mut dates = BTreeMap::new();
    for (url, lastmod) in bench.entries() {
        let path = url.strip_prefix("https://h.example").unwrap();
        let known = bench.row(path).dates.unwrap();
        assert_eq!(known.lastmod, lastmod, "{path}");
        if let Some(lastmod) = lastmod {
            let source = known.source.unwrap();
            assert!(sources.contains_key(&source), "{path}");
            dates.insert(path.to_owned(), format!("{lastmod} {}", source.as_str()));
        }
    }
    dates
}

/// Checks the date that one page gets in each of several crawls. Each is a line of its own: the time, the answer, and the
/// expected date with its source, or `none`. Lines that begin with `#` are comments.
#[track_caller]
fn check(crawls: &str) {
    let mut bench = Bench::new();
    let lines = crawls.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (crawled, expected) = line.split_once(" -> ").unwrap();
        let (at, answer) = crawled.split_once(' ').unwrap();
        let dates = crawl(&mut bench, at, &[("/a", seen(answer))]);
        let date = dates.get("/a").map_or("none", String::as_str);
        assert_eq!(date, expected, "{line}");
        // Published again, when the crawl is over and without a crawl, no date moves.
        for hours in [1, 2] {
            let again = publish(&mut bench, time(at) + hours.hours(), true);
            assert_eq!(again, dates, "{line}, again");
        }
    }
}

#[test]
fn new_page_has_the_most_trusted_date() {
    let check = |row: &str| check(&format!("2026-03-01T12:00:00Z 1 {row}"));
    let all = [
        ("json-ld=2026-01-01", "2026-01-01 json-ld"),
        ("meta=2026-01-02", "2026-01-02 meta"),
        ("sitemap=2026-01-03", "2026-01-03 sitemap"),
        ("header=2026-01-04T00:00:00Z", "2026-01-04T00:00:00Z header"),
        ("", "none"),
    ];
    for (first, (_, expected)) in all.iter().enumerate() {
        let stated = all[first..].iter().map(|(stated, _)| *stated);
        let stated = stated.collect::<Vec<_>>().join(" ");
        check(&format!("{stated} -> {expected}"));
    }
    check("rule=2025-12-31 json-ld=2026-01-01 meta=2026-01-02 -> 2025-12-31 rule");
    // Bounds: no future, not the time of the request, nothing before publication or the web.
    for json_ld in [
        "2026-03-04",
        "2026-03-01T12:00:00Z",
        "1994-12-31",
        "nonsense",
        "2025-12-31 published=2026-01-01",
    ] {
        check(&format!(
            "json-ld={json_ld} meta=2026-01-02 -> 2026-01-02 meta"
        ));
    }
    check("json-ld=2026-03-01T11:59:59Z meta=2026-01-02 -> 2026-03-01T11:59:59Z json-ld");
    check("json-ld=2026-01-01 published=2026-01-01T23:00:00+02:00 -> 2026-01-01 json-ld");
}

#[test]
fn unchanged_content_keeps_its_date_whatever_is_stated() {
    check(
        "2026-03-01T02:00:00Z 1 json-ld=2026-01-01 header=2026-01-01T00:00:00Z -> 2026-01-01 json-ld
         2026-03-02T02:00:00Z 1 json-ld=2026-03-01 -> 2026-01-01 json-ld
         2026-03-03T02:00:00Z 1 -> 2026-01-01 json-ld",
    );
}

#[test]
fn unchanged_document_keeps_its_date() {
    let first = "2026-02-01T00:00:00Z header";
    for (document, answer) in [
        ("document=\"1\"", "confirmed"),
        ("document=\"1\"", ""),
        ("document", "confirmed"),
    ] {
        check(&format!(
            "2026-03-01T02:00:00Z {document} header=2026-02-01T00:00:00Z -> {first}
             2026-03-02T02:00:00Z {document} {answer} header=2026-03-02T01:55:00Z -> {first}
             2026-03-03T02:00:00Z {document} {answer} header=2026-03-03T01:55:00Z -> {first}"
        ));
    }
    // Another tag, or none, may be another document: then a date that moved is trusted.
    let moved = "2026-03-02T12:00:00Z header";
    for document in ["document=\"1\"", "document"] {
        check(&format!(
            "2026-03-01T02:00:00Z {document} header=2026-02-01T00:00:00Z -> {first}
             2026-03-02T02:00:00Z document=\"2\" header=2026-02-01T00:00:00Z -> {first}
             2026-03-03T02:00:00Z document=\"3\" header=2026-03-02T12:00:00Z -> {moved}"
        ));
    }
}

#[test]
fn moving_dates_of_documents_end_header_trust() {
    let mut bench = Bench::new();
    let documents = |answer: &str| {
        [("/a.pdf", 1), ("/b.pdf", 2)]
            .map(|(path, tag)| (path, seen(&format!("document=\"{tag}\" {answer}"))))
    };
    let first = documents("header=2026-02-01T00:00:00Z");
    crawl(&mut bench, "2026-03-01T02:00:00Z", &first);
    let mut pages = documents("confirmed header=2026-03-02T01:55:00Z").to_vec();
    pages.push(("/new", seen("1 header=2026-03-01T00:00:00Z")));
    let dates = crawl(&mut bench, "2026-03-02T02:00:00Z", &pages);
    assert_eq!(dates.get("/new"), None, "{dates:?}");
    assert_eq!(dates["/a.pdf"], "2026-02-01T00:00:00Z header");
}

#[test]
fn future_date_goes_once_the_clock_is_right() {
    check(
        "2026-03-01T02:00:00Z 1 -> none
         2026-09-01T02:00:00Z 2 -> 2026-09-01T02:01:00Z history
         2026-03-03T02:00:00Z 2 -> none
         2026-03-04T02:00:00Z 2 json-ld=2026-03-02 -> 2026-03-02 json-ld
         2026-03-05T02:00:00Z 3 -> 2026-03-05T02:01:00Z history",
    );
}

#[test]
fn undated_content_takes_only_an_earlier_date() {
    check(
        "2026-03-01T02:00:00Z 1 -> none
         # A deploy that gives everything a new date, also when it is long ago.
         2026-03-02T02:00:00Z 1 json-ld=2026-03-01T12:00:00Z -> none
         2026-03-09T02:00:00Z 1 json-ld=2026-03-01T12:00:00Z -> none
         # One that moved is trusted when it rests.
         2026-03-10T02:00:00Z 1 json-ld=2026-02-20 -> none
         2026-03-11T02:00:00Z 1 json-ld=2026-02-20 -> 2026-02-20 json-ld
         2026-03-12T02:00:00Z 1 json-ld=2026-02-21 -> 2026-02-20 json-ld",
    );
}

#[test]
fn changed_content_is_dated_between_the_crawls() {
    for row in [
        "-> 2026-03-02T02:01:00Z history",
        "json-ld=2026-03-01T15:00:00Z -> 2026-03-01T15:00:00Z json-ld",
        "json-ld=2026-03-01T15:00:00+02:00 -> 2026-03-01T15:00:00+02:00 json-ld",
        "json-ld=2026-03-01 -> 2026-03-01 json-ld",
        // Not between them.
        "json-ld=2026-01-01 -> 2026-03-02T02:01:00Z history",
        "json-ld=2026-02-27 -> 2026-03-02T02:01:00Z history",
        "json-ld=2026-03-01T02:00:59Z -> 2026-03-02T02:01:00Z history",
        "json-ld=2026-03-02 -> 2026-03-02T02:01:00Z history",
        // The next who is right.
        "json-ld=2026-01-01 header=2026-03-01T20:00:00Z -> 2026-03-01T20:00:00Z header",
        "meta=2026-03-01T20:00:00Z published=2026-03-01T21:00:00Z -> 2026-03-02T02:01:00Z history",
    ] {
        check(&format!(
            "2026-03-01T02:00:00Z 1 json-ld=2026-01-01 -> 2026-01-01 json-ld
             2026-03-02T02:00:00Z 2 {row}"
        ));
    }
}

#[test]
fn date_stated_before_a_change_does_not_count() {
    check(
        "2026-03-01T02:00:00Z 1 json-ld=2026-03-01 -> none
         # The day is in reach, but was stated when the page had other content.
         2026-03-01T14:00:00Z 2 json-ld=2026-03-01 -> 2026-03-01T14:01:00Z history",
    );
}

#[test]
fn a_newer_hash_is_no_change() {
    let check = |version: u32, lastmod: Option<&str>, answer: &str, expected: &str| {
        let mut bench = Bench::new();
        crawl(&mut bench, "2026-02-28T02:00:00Z", &[("/a", seen("7"))]);
        bench.set_dates("/a", |dates| {
            *dates = LedgerEntry {
                content_hash: 7,
                hash_version: version,
                lastmod: lastmod.map(str::to_owned),
                last_modified_seconds: Some(time("2026-01-01T00:00:00Z").as_second()),
                source: Some(DateSource::Header),
                ..LedgerEntry::default()
            };
        });
        let dates = crawl(&mut bench, "2026-03-01T02:00:00Z", &[("/a", seen(answer))]);
        assert_eq!(dates["/a"], expected, "{version} {lastmod:?} {answer}");
        let entry = bench.row("/a").dates.unwrap();
        let hash = (entry.content_hash, entry.hash_version);
        assert_eq!(hash, (1, ContentHash::VERSION), "{answer}");
    };
    let same = "1 header=2026-01-01T00:00:00Z";
    let kept = "2026-01-01T00:00:00Z header";
    let published = Some("2026-01-01T00:00:00Z");
    let with_json_ld = "1 header=2026-01-01T00:00:00Z json-ld=2026-02-01";
    check(1, published, same, kept);
    // A date that was not looked for before is not evidence of a change.
    check(1, published, with_json_ld, kept);
    // A header that is trusted and moved does.
    let moved = "1 header=2026-02-20T00:00:00Z";
    check(1, published, moved, "2026-02-20T00:00:00Z header");
    // There was no date.
    check(1, None, with_json_ld, "2026-02-01 json-ld");
    check(99, published, same, kept);
}

/// Pages in one directory, the first of which has this version of its content, and what each of them states.
fn pages_in(
    directory: &str,
    count: usize,
    first: u128,
    stated: impl Fn(usize) -> String,
) -> Vec<(String, Seen)> {
    let page = |number: usize| {
        let answer = format!("{} {}", first + number as u128, stated(number));
        (format!("{directory}{number}"), seen(&answer))
    };
    (0..count).map(page).collect()
}

/// The dates of the pages after a crawl of them.
fn dates_of(bench: &mut Bench, at: &str, pages: &[(String, Seen)]) -> BTreeMap<String, String> {
    let pages: Vec<_> = pages
        .iter()
        .map(|(path, seen)| (path.as_str(), seen.clone()))
        .collect();
    crawl(bench, at, &pages)
}

/// The number of pages whose date is one that is stated.
fn count(bench: &mut Bench, at: &str, pages: &[(String, Seen)]) -> usize {
    let dates = dates_of(bench, at, pages);
    let stated = dates.values().filter(|date| !date.ends_with("history"));
    stated.count()
}

/// The number of pages with a stated date in a first crawl of twenty pages.
fn count_twenty(stated: impl Fn(usize) -> String) -> usize {
    let pages = pages_in("/d/", 20, 100, stated);
    count(&mut Bench::new(), "2026-03-01T02:00:00Z", &pages)
}

#[test]
fn common_instant_is_the_date_of_a_file() {
    let alike = |same: usize| {
        move |number: usize| {
            if number < same {
                "sitemap=2026-02-01T10:00:00Z".to_owned()
            } else {
                format!("sitemap=2026-01-{:02}T10:00:00Z", number + 1)
            }
        }
    };
    assert_eq!(count_twenty(alike(10)), 20);
    assert_eq!(count_twenty(alike(11)), 0);
    // Fewer than twenty are not a test, and one day is not one instant.
    let at = "2026-03-01T02:00:00Z";
    let few = pages_in("/d/", 19, 100, alike(19));
    assert_eq!(count(&mut Bench::new(), at, &few), 19);
    assert_eq!(count_twenty(|_| "meta=2026-02-01".to_owned()), 20);
    // It is another source that is trusted then.
    let both = |_: usize| "json-ld=2026-02-01T10:00:00Z meta=2026-02-01".to_owned();
    let mut bench = Bench::new();
    assert_eq!(count(&mut bench, at, &pages_in("/d/", 20, 100, both)), 20);
    let entry = bench.row("/d/0").dates.unwrap();
    assert_eq!(entry.source, Some(DateSource::Meta));
}

#[test]
fn day_of_crawl_or_file_is_distrusted() {
    assert_eq!(count_twenty(|_| "json-ld=2026-03-01".to_owned()), 0);
    assert_eq!(count_twenty(|_| "file=2026-02-20".to_owned()), 0);
    let few = |number: usize| match number {
        0..10 => "json-ld=2026-03-01".to_owned(),
        _ => "json-ld=2026-02-01".to_owned(),
    };
    assert_eq!(count_twenty(few), 10);
}

#[test]
fn dates_moving_without_content_are_distrusted() {
    let mut bench = Bench::new();
    let pages = |day: u32| pages_in("/d/", 20, 100, |_| format!("meta=2026-02-{day:02}"));
    let first = count(&mut bench, "2026-03-01T02:00:00Z", &pages(1));
    assert_eq!(first, 20);
    // A deploy moves all of them; one page changed too.
    let mut pages = pages(2);
    pages[0].1 = seen("777 meta=2026-03-01");
    let dates = count(&mut bench, "2026-03-02T02:00:00Z", &pages);
    assert_eq!(dates, 19, "the one that changed has the time of the crawl");
    // After that they rest, and are trusted again.
    pages[1].1 = seen("778 meta=2026-03-02");
    assert_eq!(count(&mut bench, "2026-03-03T02:00:00Z", &pages), 19);
    let entry = bench.row("/d/1").dates.unwrap();
    assert_eq!(entry.lastmod.as_deref(), Some("2026-03-02"));
    assert_eq!(entry.source, Some(DateSource::Meta));
}

#[test]
fn template_that_prints_today_is_distrusted() {
    for source in ["json-ld", "meta", "sitemap"] {
        // Also where it is tomorrow already.
        for ahead in [0, 1] {
            for count in [1, 2, 10, 30] {
                let context = format!("{source}, {ahead} days ahead, {count} pages");
                let mut bench = Bench::new();
                let at = |day: u32| format!("2026-03-{day:02}T20:00:00Z");
                let stated = |day: u32| format!("{source}=2026-03-{:02}", day + ahead);
                let pages = |day: u32| pages_in("/", count, 0, |_| stated(day));
                for day in 1..=4 {
                    let dates = dates_of(&mut bench, &at(day), &pages(day));
                    assert_eq!(dates, BTreeMap::new(), "{context}, day {day}");
                }
                // A page that changes has the time of the crawl, and a new one has none.
                let mut pages = pages(5);
                pages[0].1.content = 777;
                let new = seen(&format!("778 {}", stated(5)));
                pages.push(("/new".to_owned(), new));
                let dates = dates_of(&mut bench, &at(5), &pages);
                let expected = ("/0".to_owned(), "2026-03-05T20:01:00Z history".to_owned());
                if count > 1 {
                    assert_eq!(dates, BTreeMap::from([expected]), "{context}");
                }
            }
        }
    }
}

#[test]
fn date_of_today_counts_on_another_day() {
    for count in [1, 5, 30] {
        for is_confirmed in [false, true] {
            let mut bench = Bench::new();
            let pages = pages_in("/", count, 0, |_| "json-ld=2026-03-01".to_owned());
            let dates = dates_of(&mut bench, "2026-03-01T02:00:00Z", &pages);
            assert_eq!(dates, BTreeMap::new());
            let mut again = pages.clone();
            for (_, seen) in &mut again {
                seen.is_confirmed = is_confirmed;
            }
            // On the same day nobody knows more.
            let dates = dates_of(&mut bench, "2026-03-01T03:00:00Z", &again);
            assert_eq!(dates, BTreeMap::new());
            let dates = dates_of(&mut bench, "2026-03-02T02:50:00Z", &again);
            assert_eq!(dates.len(), count, "confirmed: {is_confirmed}");
            assert_eq!(dates["/0"], "2026-03-01 json-ld");
        }
    }
}

#[test]
fn incomparable_pages_did_not_change() {
    for count in [5, 30] {
        let mut bench = Bench::new();
        let pages = |date: &str| pages_in("/", count, 0, |_| format!("json-ld={date}"));
        let first = dates_of(&mut bench, "2026-03-03T20:00:00Z", &pages("2026-03-01"));
        assert_eq!(first.len(), count);
        // As of a version of arpent with another hash.
        for number in 0..count {
            bench.set_dates(&format!("/{number}"), |dates| dates.hash_version = 99);
        }
        let second = dates_of(&mut bench, "2026-03-04T20:00:00Z", &pages("2026-03-04"));
        assert_eq!(second, first);
    }
}

#[test]
fn confirmed_page_keeps_no_refused_date() {
    check(
        "2026-03-01T02:00:00Z 1 json-ld=2026-03-01T02:00:30Z -> none
         2026-03-03T02:00:00Z 1 json-ld=2026-03-01T02:00:30Z confirmed -> none",
    );
}

#[test]
fn saved_page_keeps_the_trust_of_others() {
    for is_confirmed in [false, true] {
        let mut bench = Bench::new();
        let stated = |days: [u32; 3]| {
            pages_in("/", 3, 0, move |number| {
                format!("json-ld=2026-02-{:02}T10:00:00Z", days[number])
            })
        };
        let new = |path: &str, answer: &str| (path.to_owned(), seen(answer));
        dates_of(&mut bench, "2026-02-10T02:00:00Z", &stated([1, 2, 3]));
        let mut pages = stated([11, 2, 3]);
        pages.push(new("/x", "10 json-ld=2026-02-11T11:00:00Z"));
        let dates = dates_of(&mut bench, "2026-02-12T02:00:00Z", &pages);
        assert_eq!(dates["/0"], "2026-02-01T10:00:00Z json-ld");
        assert_eq!(dates["/x"], "2026-02-11T11:00:00Z json-ld");
        // All of them do.
        let mut pages = stated([12, 12, 12]);
        pages.push(new("/y", "11 json-ld=2026-02-12T11:00:00Z"));
        let dates = dates_of(&mut bench, "2026-02-13T02:00:00Z", &pages);
        assert_eq!(dates["/0"], "2026-02-01T10:00:00Z json-ld");
        assert_eq!(dates.get("/y"), None);
        // They rest.
        let mut pages = stated([12, 12, 12]);
        for (_, seen) in &mut pages {
            seen.is_confirmed = is_confirmed;
        }
        pages.push(new("/z", "12 json-ld=2026-02-13T11:00:00Z"));
        let dates = dates_of(&mut bench, "2026-02-14T02:00:00Z", &pages);
        assert_eq!(dates["/z"], "2026-02-13T11:00:00Z json-ld");
    }
}
