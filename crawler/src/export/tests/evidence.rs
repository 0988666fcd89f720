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
    header: Option<&'static str>,
    selected: Option<&'static str>,
    /// `Some` for a document that is not a page: its `ETag`, or an empty text.
    document: Option<&'static str>,
    is_confirmed: bool,
}

impl Seen {
    fn content(content: u128) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    fn document(etag: &'static str) -> Self {
        Self {
            document: Some(etag),
            ..Self::default()
        }
    }

    /// The server answered 304.
    fn confirmed(mut self) -> Self {
        self.is_confirmed = true;
        self
    }

    fn json_ld(mut self, date: &str) -> Self {
        self.dates.json_ld = Some(date.to_owned());
        self
    }

    fn meta(mut self, date: &str) -> Self {
        self.dates.meta = Some(date.to_owned());
        self
    }

    fn time_element(mut self, date: &str) -> Self {
        self.dates.time_element = Some(date.to_owned());
        self
    }

    fn published(mut self, date: &str) -> Self {
        self.dates.published = Some(date.to_owned());
        self
    }

    fn sitemap(mut self, date: &str) -> Self {
        self.sitemap = Some(SitemapDate {
            lastmod: date.to_owned(),
            is_of_file: false,
        });
        self
    }

    fn header(mut self, date: &'static str) -> Self {
        self.header = Some(date);
        self
    }

    /// The facts of the answer; of a 304, those of its head.
    fn facts(&self) -> PageFacts {
        let head = PageFacts {
            last_modified: self.header.map(time),
            etag: self
                .document
                .filter(|etag| !etag.is_empty())
                .map(str::to_owned),
            ..PageFacts::default()
        };
        if self.is_confirmed {
            return PageFacts {
                status: 304,
                ..head
            };
        }
        let is_page = self.document.is_none();
        PageFacts {
            status: 200,
            kind: if is_page {
                BodyKind::Page
            } else {
                BodyKind::Document
            },
            end: BodyEnd::Complete,
            body_bytes: 100,
            content_hash: is_page.then_some(ContentHash(self.content)),
            body_hash: is_page.then_some(self.content + 1_000),
            dates: self.dates.clone(),
            selected_lastmod: self.selected.map(str::to_owned),
            ..head
        }
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

/// The date that one page gets in each of several crawls.
#[track_caller]
fn check(crawls: &[(&str, Seen, Option<&str>)]) {
    let mut bench = Bench::new();
    for (number, (at, seen, expected)) in crawls.iter().enumerate() {
        let dates = crawl(&mut bench, at, &[("/a", seen.clone())]);
        assert_eq!(
            dates.get("/a").map(String::as_str),
            *expected,
            "crawl {number}"
        );
        // Published again, when the crawl is over and without a crawl, no date moves.
        for hours in [1, 2] {
            let again = publish(&mut bench, time(at) + hours.hours(), true);
            assert_eq!(again, dates, "crawl {number}, again");
        }
    }
}

#[test]
fn a_new_page_has_the_date_of_the_best_who_states_one() {
    let all = Seen::content(1)
        .json_ld("2026-01-01")
        .meta("2026-01-02")
        .sitemap("2026-01-03")
        .header("2026-01-04T00:00:00Z")
        .time_element("2026-01-05");
    let check = |seen: Seen, expected: Option<&str>| {
        check(&[("2026-03-01T12:00:00Z", seen, expected)]);
    };
    check(Seen::content(1), None);
    check(all.clone(), Some("2026-01-01 json-ld"));
    let mut less = all.clone();
    less.dates.json_ld = None;
    check(less.clone(), Some("2026-01-02 meta"));
    less.dates.meta = None;
    check(less.clone(), Some("2026-01-03 sitemap"));
    less.sitemap = None;
    check(less.clone(), Some("2026-01-04T00:00:00Z header"));
    less.header = None;
    check(less.clone(), Some("2026-01-05 time-element"));
    let mut ruled = all.clone();
    ruled.selected = Some("2025-12-31");
    check(ruled, Some("2025-12-31 rule"));
    // Bounds: no future, not the time of the request, nothing before publication or the web.
    let json_ld = |date: &str| Seen::content(1).json_ld(date).meta("2026-01-02");
    check(json_ld("2026-03-04"), Some("2026-01-02 meta"));
    check(json_ld("2026-03-01T12:00:00Z"), Some("2026-01-02 meta"));
    check(
        json_ld("2026-03-01T11:59:59Z"),
        Some("2026-03-01T11:59:59Z json-ld"),
    );
    check(json_ld("1994-12-31"), Some("2026-01-02 meta"));
    check(json_ld("nonsense"), Some("2026-01-02 meta"));
    check(
        json_ld("2025-12-31").published("2026-01-01"),
        Some("2026-01-02 meta"),
    );
    check(
        json_ld("2026-01-01").published("2026-01-01T23:00:00+02:00"),
        Some("2026-01-01 json-ld"),
    );
}

#[test]
fn unchanged_content_keeps_its_date_whatever_is_stated() {
    let first = Seen::content(1)
        .json_ld("2026-01-01")
        .header("2026-01-01T00:00:00Z");
    let kept = Some("2026-01-01 json-ld");
    check(&[
        ("2026-03-01T02:00:00Z", first, kept),
        (
            "2026-03-02T02:00:00Z",
            Seen::content(1).json_ld("2026-03-01"),
            kept,
        ),
        ("2026-03-03T02:00:00Z", Seen::content(1), kept),
    ]);
}

#[test]
fn a_document_that_is_the_same_keeps_its_date_whatever_the_header_says() {
    let first = Some("2026-02-01T00:00:00Z header");
    for (tag, is_confirmed) in [("\"1\"", true), ("\"1\"", false), ("", true)] {
        let seen = |header| Seen::document(tag).header(header);
        let later = |header| {
            if is_confirmed {
                seen(header).confirmed()
            } else {
                seen(header)
            }
        };
        check(&[
            ("2026-03-01T02:00:00Z", seen("2026-02-01T00:00:00Z"), first),
            ("2026-03-02T02:00:00Z", later("2026-03-02T01:55:00Z"), first),
            ("2026-03-03T02:00:00Z", later("2026-03-03T01:55:00Z"), first),
        ]);
    }
    // Another tag, or none, may be another document: then a date that moved is trusted.
    for tag in ["\"1\"", ""] {
        check(&[
            (
                "2026-03-01T02:00:00Z",
                Seen::document(tag).header("2026-02-01T00:00:00Z"),
                first,
            ),
            (
                "2026-03-02T02:00:00Z",
                Seen::document("\"2\"").header("2026-02-01T00:00:00Z"),
                first,
            ),
            (
                "2026-03-03T02:00:00Z",
                Seen::document("\"3\"").header("2026-03-02T12:00:00Z"),
                Some("2026-03-02T12:00:00Z header"),
            ),
        ]);
    }
}

#[test]
fn documents_whose_dates_move_alone_cost_the_header_its_trust() {
    let mut bench = Bench::new();
    let seen = |header| {
        [
            ("/a.pdf", Seen::document("\"1\"").header(header)),
            ("/b.pdf", Seen::document("\"2\"").header(header)),
        ]
    };
    crawl(
        &mut bench,
        "2026-03-01T02:00:00Z",
        &seen("2026-02-01T00:00:00Z"),
    );
    let confirmed = seen("2026-03-02T01:55:00Z").map(|(path, seen)| (path, seen.confirmed()));
    let mut pages = confirmed.to_vec();
    pages.push(("/new", Seen::content(1).header("2026-03-01T00:00:00Z")));
    let dates = crawl(&mut bench, "2026-03-02T02:00:00Z", &pages);
    assert_eq!(dates.get("/new"), None, "{dates:?}");
    assert_eq!(dates["/a.pdf"], "2026-02-01T00:00:00Z header");
}

#[test]
fn a_date_in_the_future_goes_when_the_clock_is_right_again() {
    check(&[
        ("2026-03-01T02:00:00Z", Seen::content(1), None),
        (
            "2026-09-01T02:00:00Z",
            Seen::content(2),
            Some("2026-09-01T02:01:00Z history"),
        ),
        ("2026-03-03T02:00:00Z", Seen::content(2), None),
        (
            "2026-03-04T02:00:00Z",
            Seen::content(2).json_ld("2026-03-02"),
            Some("2026-03-02 json-ld"),
        ),
        (
            "2026-03-05T02:00:00Z",
            Seen::content(3),
            Some("2026-03-05T02:01:00Z history"),
        ),
    ]);
}

#[test]
fn content_without_a_date_gets_one_only_from_before_it_was_seen() {
    let none = || Seen::content(1);
    check(&[
        ("2026-03-01T02:00:00Z", none(), None),
        // A deploy that gives everything a new date, also when it is long ago.
        (
            "2026-03-02T02:00:00Z",
            none().json_ld("2026-03-01T12:00:00Z"),
            None,
        ),
        (
            "2026-03-09T02:00:00Z",
            none().json_ld("2026-03-01T12:00:00Z"),
            None,
        ),
        // One that moved is trusted when it rests.
        ("2026-03-10T02:00:00Z", none().json_ld("2026-02-20"), None),
        (
            "2026-03-11T02:00:00Z",
            none().json_ld("2026-02-20"),
            Some("2026-02-20 json-ld"),
        ),
        (
            "2026-03-12T02:00:00Z",
            none().json_ld("2026-02-21"),
            Some("2026-02-20 json-ld"),
        ),
    ]);
}

#[test]
fn changed_content_has_the_date_between_the_crawls_or_the_second_one() {
    let (first, second) = ("2026-03-01T02:00:00Z", "2026-03-02T02:00:00Z");
    let old = || Seen::content(1).json_ld("2026-01-01");
    let old_date = Some("2026-01-01 json-ld");
    let seen = Some("2026-03-02T02:01:00Z history");
    let check = |new: Seen, expected: Option<&str>| {
        check(&[(first, old(), old_date), (second, new, expected)]);
    };
    let new = || Seen::content(2);
    check(new(), seen);
    check(
        new().json_ld("2026-03-01T15:00:00Z"),
        Some("2026-03-01T15:00:00Z json-ld"),
    );
    check(
        new().json_ld("2026-03-01T15:00:00+02:00"),
        Some("2026-03-01T15:00:00+02:00 json-ld"),
    );
    check(new().json_ld("2026-03-01"), Some("2026-03-01 json-ld"));
    // Not between them.
    check(new().json_ld("2026-01-01"), seen);
    check(new().json_ld("2026-02-27"), seen);
    check(new().json_ld("2026-03-01T02:00:59Z"), seen);
    check(new().json_ld("2026-03-02"), seen);
    // The next who is right.
    check(
        new().json_ld("2026-01-01").header("2026-03-01T20:00:00Z"),
        Some("2026-03-01T20:00:00Z header"),
    );
    check(
        new()
            .meta("2026-03-01T20:00:00Z")
            .published("2026-03-01T21:00:00Z"),
        seen,
    );
}

#[test]
fn a_date_that_was_stated_before_the_change_is_not_of_the_change() {
    let seen = |content: u128| Seen::content(content).json_ld("2026-03-01");
    check(&[
        ("2026-03-01T02:00:00Z", seen(1), None),
        // The day is in reach, but was stated when the page had other content.
        (
            "2026-03-01T14:00:00Z",
            seen(2),
            Some("2026-03-01T14:01:00Z history"),
        ),
    ]);
}

#[test]
fn a_newer_hash_is_no_change() {
    #[track_caller]
    fn check(entry: LedgerEntry, seen: &Seen, expected: Option<&str>) {
        let mut bench = Bench::new();
        crawl(
            &mut bench,
            "2026-02-28T02:00:00Z",
            &[("/a", Seen::content(7))],
        );
        bench.set_dates("/a", |dates| *dates = entry);
        let dates = crawl(&mut bench, "2026-03-01T02:00:00Z", &[("/a", seen.clone())]);
        assert_eq!(dates.get("/a").map(String::as_str), expected);
        let entry = bench.row("/a").dates.unwrap();
        assert_eq!(
            (entry.content_hash, entry.hash_version),
            (seen.content, ContentHash::VERSION)
        );
    }
    let older = |content_hash: u128, version: u32, lastmod: Option<&str>| LedgerEntry {
        content_hash,
        hash_version: version,
        lastmod: lastmod.map(str::to_owned),
        last_modified_seconds: Some(time("2026-01-01T00:00:00Z").as_second()),
        source: Some(DateSource::Header),
        ..LedgerEntry::default()
    };
    let same = Seen::content(1).header("2026-01-01T00:00:00Z");
    let kept = Some("2026-01-01T00:00:00Z header");
    let published = Some("2026-01-01T00:00:00Z");
    check(older(7, 1, published), &same, kept);
    // A date that was not looked for before is not evidence of a change.
    check(
        older(7, 1, published),
        &same.clone().json_ld("2026-02-01"),
        kept,
    );
    // A header that is trusted and moved does.
    let moved = Seen::content(1).header("2026-02-20T00:00:00Z");
    check(
        older(7, 1, published),
        &moved,
        Some("2026-02-20T00:00:00Z header"),
    );
    // There was no date.
    check(
        older(7, 1, None),
        &same.clone().json_ld("2026-02-01"),
        Some("2026-02-01 json-ld"),
    );
    check(older(7, 99, published), &same, kept);
}

/// Twenty pages in a directory, all of which state the date of `date`.
fn directory(content: u128, date: impl Fn(usize, Seen) -> Seen) -> Vec<(String, Seen)> {
    let page = |number: usize| {
        let seen = Seen::content(content * 100 + number as u128);
        (format!("/d/{number:02}"), date(number, seen))
    };
    (0..20).map(page).collect()
}

fn count(bench: &mut Bench, at: &str, pages: &[(String, Seen)]) -> usize {
    let pages: Vec<_> = pages
        .iter()
        .map(|(path, seen)| (path.as_str(), seen.clone()))
        .collect();
    let dates = crawl(bench, at, &pages);
    dates
        .values()
        .filter(|date| !date.ends_with("history"))
        .count()
}

#[test]
fn common_instant_is_the_date_of_a_file() {
    let at = "2026-03-01T02:00:00Z";
    let own = |number: usize| format!("2026-01-{:02}T10:00:00Z", number + 1);
    let alike = |same: usize| {
        move |number: usize, seen: Seen| {
            let date = if number < same {
                "2026-02-01T10:00:00Z".to_owned()
            } else {
                own(number)
            };
            seen.sitemap(&date)
        }
    };
    assert_eq!(count(&mut Bench::new(), at, &directory(1, alike(10))), 20);
    assert_eq!(count(&mut Bench::new(), at, &directory(1, alike(11))), 0);
    // Fewer than twenty are not a test, and one day is not one instant.
    assert_eq!(
        count(&mut Bench::new(), at, &directory(1, alike(20))[..19]),
        19
    );
    let day = |_: usize, seen: Seen| seen.meta("2026-02-01");
    assert_eq!(count(&mut Bench::new(), at, &directory(1, day)), 20);
    // It is another source that is trusted then.
    let both = |_: usize, seen: Seen| seen.json_ld("2026-02-01T10:00:00Z").meta("2026-02-01");
    let mut bench = Bench::new();
    assert_eq!(count(&mut bench, at, &directory(1, both)), 20);
    let entry = bench.row("/d/00").dates.unwrap();
    assert_eq!(entry.source, Some(DateSource::Meta));
}

#[test]
fn the_day_of_the_crawl_or_of_the_file_is_not_believed() {
    let at = "2026-03-01T02:00:00Z";
    let today = |_: usize, seen: Seen| seen.json_ld("2026-03-01");
    assert_eq!(count(&mut Bench::new(), at, &directory(1, today)), 0);
    let few = |number: usize, seen: Seen| match number {
        0..10 => seen.json_ld("2026-03-01"),
        _ => seen.json_ld("2026-02-01"),
    };
    assert_eq!(count(&mut Bench::new(), at, &directory(1, few)), 10);
    let of_file = |_: usize, mut seen: Seen| {
        seen = seen.sitemap("2026-02-20");
        seen.sitemap.as_mut().unwrap().is_of_file = true;
        seen
    };
    assert_eq!(count(&mut Bench::new(), at, &directory(1, of_file)), 0);
}

#[test]
fn dates_that_move_without_the_content_are_not_believed_until_they_rest() {
    let mut bench = Bench::new();
    let stated = |day: u32| move |_: usize, seen: Seen| seen.meta(&format!("2026-02-{day:02}"));
    assert_eq!(
        count(&mut bench, "2026-03-01T02:00:00Z", &directory(1, stated(1))),
        20
    );
    // A deploy moves all of them; one page changed too.
    let mut pages = directory(1, stated(2));
    pages[0].1.content = 777;
    pages[0].1 = pages[0].1.clone().meta("2026-03-01");
    let dates = count(&mut bench, "2026-03-02T02:00:00Z", &pages);
    assert_eq!(dates, 19, "the one that changed has the time of the crawl");
    // After that they rest, and are trusted again.
    pages[1].1.content = 778;
    pages[1].1 = pages[1].1.clone().meta("2026-03-02");
    assert_eq!(count(&mut bench, "2026-03-03T02:00:00Z", &pages), 19);
    let entry = bench.row("/d/01").dates.unwrap();
    assert_eq!(entry.lastmod.as_deref(), Some("2026-03-02"));
    assert_eq!(entry.source, Some(DateSource::Meta));
}

/// Some pages with what they state, one directory for each text.
fn pages_of(directories: &[(&str, usize)], seen: impl Fn(u128) -> Seen) -> Vec<(String, Seen)> {
    let mut pages = Vec::new();
    for (directory, count) in directories {
        for number in 0..*count {
            let content = pages.len() as u128;
            pages.push((format!("{directory}{number}"), seen(content)));
        }
    }
    pages
}

#[test]
fn a_template_that_says_today_is_not_believed_however_few_pages_it_has() {
    let written: [fn(u32) -> String; 2] = [
        |day| format!("2026-03-{day:02}"),
        // Where it is tomorrow already.
        |day| format!("2026-03-{:02}", day + 1),
    ];
    let stating: [fn(Seen, &str) -> Seen; 4] =
        [Seen::json_ld, Seen::meta, Seen::sitemap, Seen::time_element];
    for (written, stated) in written.iter().flat_map(|text| stating.map(|by| (text, by))) {
        for count in [1, 2, 10, 30] {
            let mut bench = Bench::new();
            let at = |day: u32| format!("2026-03-{day:02}T20:00:00Z");
            let pages = |day: u32| {
                let page = |content| stated(Seen::content(content), &written(day));
                pages_of(&[("/", count)], page)
            };
            for day in 1..=4 {
                let dates = count_all(&mut bench, &at(day), &pages(day));
                assert_eq!(dates, BTreeMap::new(), "{count} pages, day {day}");
            }
            // A page that changes has the time of the crawl, and a new one has none.
            let mut pages = pages(5);
            pages[0].1.content = 777;
            let new = stated(Seen::content(778), &written(5));
            pages.push(("/new".to_owned(), new));
            let dates = count_all(&mut bench, &at(5), &pages);
            let expected = ("/0".to_owned(), "2026-03-05T20:01:00Z history".to_owned());
            if count > 1 {
                assert_eq!(dates, BTreeMap::from([expected]), "{count} pages");
            }
        }
    }
}

fn count_all(bench: &mut Bench, at: &str, pages: &[(String, Seen)]) -> BTreeMap<String, String> {
    let pages: Vec<_> = pages
        .iter()
        .map(|(path, seen)| (path.as_str(), seen.clone()))
        .collect();
    crawl(bench, at, &pages)
}

#[test]
fn a_site_that_was_written_today_has_its_date_as_soon_as_another_day_confirms_it() {
    for count in [1, 5, 30] {
        for is_confirmed in [false, true] {
            let mut bench = Bench::new();
            let page = |content| Seen::content(content).json_ld("2026-03-01");
            let pages = pages_of(&[("/", count)], page);
            let dates = count_all(&mut bench, "2026-03-01T02:00:00Z", &pages);
            assert_eq!(dates, BTreeMap::new());
            let mut again = pages.clone();
            for (_, seen) in &mut again {
                seen.is_confirmed = is_confirmed;
            }
            // On the same day nobody knows more.
            let dates = count_all(&mut bench, "2026-03-01T03:00:00Z", &again);
            assert_eq!(dates, BTreeMap::new());
            let dates = count_all(&mut bench, "2026-03-02T02:50:00Z", &again);
            assert_eq!(dates.len(), count, "confirmed: {is_confirmed}");
            assert_eq!(dates["/0"], "2026-03-01 json-ld");
        }
    }
}

#[test]
fn incomparable_pages_did_not_change() {
    for count in [5, 30] {
        let mut bench = Bench::new();
        let pages = |date: &'static str| {
            let page = move |content| Seen::content(content).json_ld(date);
            pages_of(&[("/", count)], page)
        };
        let first = count_all(&mut bench, "2026-03-03T20:00:00Z", &pages("2026-03-01"));
        assert_eq!(first.len(), count);
        // As of a version of arpent with another hash.
        for number in 0..count {
            bench.set_dates(&format!("/{number}"), |dates| dates.hash_version = 99);
        }
        let second = count_all(&mut bench, "2026-03-04T20:00:00Z", &pages("2026-03-04"));
        assert_eq!(second, first);
    }
}

#[test]
fn a_confirmed_page_has_no_date_that_was_refused_for_another_reason() {
    let seen = Seen::content(1).json_ld("2026-03-01T02:00:30Z");
    check(&[
        ("2026-03-01T02:00:00Z", seen.clone(), None),
        ("2026-03-03T02:00:00Z", seen.confirmed(), None),
    ]);
}

#[test]
fn saved_page_keeps_the_trust_of_others() {
    for is_confirmed in [false, true] {
        let mut bench = Bench::new();
        let stated = |days: [u32; 3]| {
            let page = |content: u128| {
                let day = days[usize::try_from(content).unwrap()];
                Seen::content(content).json_ld(&format!("2026-02-{day:02}T10:00:00Z"))
            };
            pages_of(&[("/", 3)], page)
        };
        let new = |path: &str, content, date: &str| {
            (path.to_owned(), Seen::content(content).json_ld(date))
        };
        count_all(&mut bench, "2026-02-10T02:00:00Z", &stated([1, 2, 3]));
        let mut pages = stated([11, 2, 3]);
        pages.push(new("/x", 10, "2026-02-11T11:00:00Z"));
        let dates = count_all(&mut bench, "2026-02-12T02:00:00Z", &pages);
        assert_eq!(dates["/0"], "2026-02-01T10:00:00Z json-ld");
        assert_eq!(dates["/x"], "2026-02-11T11:00:00Z json-ld");
        // All of them do.
        let mut pages = stated([12, 12, 12]);
        pages.push(new("/y", 11, "2026-02-12T11:00:00Z"));
        let dates = count_all(&mut bench, "2026-02-13T02:00:00Z", &pages);
        assert_eq!(dates["/0"], "2026-02-01T10:00:00Z json-ld");
        assert_eq!(dates.get("/y"), None);
        // They rest.
        let mut pages = stated([12, 12, 12]);
        for (_, seen) in &mut pages {
            seen.is_confirmed = is_confirmed;
        }
        pages.push(new("/z", 12, "2026-02-13T11:00:00Z"));
        let dates = count_all(&mut bench, "2026-02-14T02:00:00Z", &pages);
        assert_eq!(dates["/z"], "2026-02-13T11:00:00Z json-ld");
    }
}
