//! The file as people read it with other tools.

use std::time::Duration;

use super::*;
use crate::page::{
    BodyEnd, BodyKind, Canonical, ContentHash, DateSource, Directives, Kept, LanguageVersion,
    LedgerEntry, LinkTexts, Refresh, RenderedContent, SitemapDate, StatedDates, Warnings,
};

#[test]
fn file_can_be_read_while_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&state(&folder)).unwrap();
    let row = |path, reason| page_row(url(path), page_of(record(reason)), PageLinks::Own);
    commit(&mut store, |commit| {
        commit.pages = vec![row("/a", Reason::Noindex), row("/b", Reason::Listed)];
        commit.discovered = vec![discovery("/c", 3)];
    });
    let tool = Connection::open(state(&folder)).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = tool.prepare(sql).unwrap();
        statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    assert_eq!(
        rows("select url from page where reason = 'noindex'"),
        ["https://example.com/a"]
    );
    assert_eq!(
        rows("select fetched_at from page where etag = '\"1\"' limit 1"),
        ["2026-05-01T10:00:00.25Z"]
    );
    assert_eq!(rows("select url from listed"), ["https://example.com/b"]);
    assert_eq!(
        rows("select state || ' ' || reason || ' ' || urls from summary"),
        ["excluded noindex 1", "listed listed 1"]
    );
    let schema = rows("select sql from sqlite_schema where name = 'page'");
    assert!(
        schema
            .iter()
            .all(|sql| sql.contains("-- reason code, as in reports")),
        "{schema:?}"
    );
    // A tool that reads does not stop the crawl.
    tool.execute_batch("BEGIN; SELECT count(*) FROM page")
        .unwrap();
    commit(&mut store, |commit| commit.clears_visits = true);
    assert_eq!(rows("select url from listed"), ["https://example.com/b"]);
}

/// A record in which every field has another value.
fn answered_in_full() -> PageRecord {
    let time = |day: u32| Some(format!("2026-02-{day:02}T00:00:00Z").parse().unwrap());
    let facts = PageFacts {
        text: Some(Box::new(PageText {
            whole: 7,
            alike: 8,
            blocks: Vec::new(),
        })),
        repeat: Some(Repeat::NotFound),
        status: 200,
        content_type: Some("text/html".to_owned()),
        kind: BodyKind::Page,
        end: BodyEnd::Undecodable("lzma".to_owned()),
        body_bytes: 4_321,
        duration: Some(Duration::from_millis(1_234)),
        content_hash: Some(ContentHash(0xabc)),
        body_hash: Some(0xdef),
        shown: Some(RenderedContent {
            hash: ContentHash(0x123),
            html_links: 31,
            links: 32,
            html_text: 33,
            text: 34,
        }),
        dates: StatedDates {
            json_ld: Some("2026-02-08".to_owned()),
            meta: Some("2026-02-09".to_owned()),
            published: Some("2026-02-11".to_owned()),
        },
        last_modified: time(2),
        date: time(3),
        etag: Some("W/\"4\"".to_owned()),
        directives: Directives {
            noindex: true,
            nofollow: false,
            unavailable_after: time(5),
            noimageindex: true,
        },
        canonical: Canonical::Other(url("/canonical")),
        refresh: Some(Refresh {
            delay_seconds: 6,
            target: url("/refresh"),
        }),
        location: Some(url("/location")),
        selected_lastmod: Some("2026-02-07".to_owned()),
        excluded_by_page_rule: true,
        links: Vec::new(),
        link_texts: LinkTexts::default(),
        links_left_out: 0,
        images: Some(vec![url("/image.png")]),
        alternates: Some(vec![LanguageVersion::new("de", url("/de"))]),
        videos: Some(vec![
            [("title".to_owned(), "a \"video\"".to_owned())].into(),
        ]),
        news: Some(Vec::new()),
        feeds: vec![url("/feed")],
        robots_by_header: true,
        read_as: Some(0xfeed),
        warnings: Warnings {
            soft_404: true,
            sniffed: true,
            ..Warnings::default()
        },
        title: Some("a title".to_owned()),
    };
    PageRecord {
        reason: Reason::CanonicalElsewhere,
        depth: 9,
        via: Via::Alternate,
        found_on: Some(url("/found-on")),
        attempts: 10,
        fetched_at: time(1),
        sitemap_lastmod: Some(SitemapDate {
            lastmod: "2026-02-12".to_owned(),
            is_of_file: true,
        }),
        outcome: Some(Outcome::Answered(Box::new(facts))),
        basis: Basis::Own,
        failing_since: None,
        gone_since: None,
    }
}

/// A page in which every field has another value.
fn page_in_full() -> Page {
    let mut record = answered_in_full();
    record.basis = Basis::Kept(Kept {
        reason: Reason::Gone,
        error: "status 404".to_owned(),
    });
    record.failing_since = Some(time("2026-02-08T00:00:00Z"));
    record.gone_since = Some(time("2026-02-09T00:00:00Z"));
    Page {
        crawl: Some(8),
        first_seen: time("2026-02-13T00:00:00Z"),
        last_seen: time("2026-02-14T00:00:00Z"),
        dates: Some(LedgerEntry {
            content_hash: 0x123,
            hash_version: 4,
            lastmod: Some("2026-02-15".to_owned()),
            source: Some(DateSource::JsonLd),
            ..LedgerEntry::default()
        }),
        ..page_of(record)
    }
}

#[test]
fn columns_hold_what_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&state(&folder)).unwrap();
    let found = Discovery {
        via: Via::Sitemap,
        hops: 3,
        ..discovery("/a", 11)
    };
    let end = Finished {
        links: Some(vec![url("/link")].into()),
        ..finished(&found, answered_in_full())
    };
    commit(&mut store, |commit| {
        commit.discovered = vec![found];
        commit.finished = vec![end];
        commit.pages = vec![PageRow {
            promotion: Some(Promotion::default()),
            ..page_row(url("/a"), page_in_full(), PageLinks::OfVisit)
        }];
    });
    assert_eq!(store.page(&url("/a")), Some(page_in_full()));
    let named = |table: &str, column: &str| -> String {
        let sql = format!("SELECT CAST(ifnull({column}, '-') AS TEXT) FROM {table}");
        let text = store.connection.query_row(&sql, [], |row| row.get(0));
        text.unwrap()
    };
    for (column, text) in [
        ("sequence", "11"),
        ("hops", "3"),
        ("is_orphan", "1"),
        ("links", "1"),
        ("via", "sitemap"),
        ("status", "200"),
        ("basis", "-"),
    ] {
        assert_eq!(named("visit", column), text, "{column}");
    }
    for (column, text) in [
        ("url", "https://example.com/a"),
        ("crawl", "8"),
        ("first_seen", "2026-02-13T00:00:00Z"),
        ("last_seen", "2026-02-14T00:00:00Z"),
        ("lastmod", "2026-02-15"),
        ("source", "json-ld"),
        ("dated_hash", "00000000000000000000000000000123"),
        ("dated_hash_version", "4"),
        ("state", "excluded"),
        ("reason", "canonical-elsewhere"),
        ("depth", "9"),
        ("via", "alternate"),
        ("found_on", "https://example.com/found-on"),
        ("attempts", "10"),
        ("fetched_at", "2026-02-01T00:00:00Z"),
        ("outcome", "answered"),
        ("error", "-"),
        ("basis", "gone status 404"),
        ("failing_since", "2026-02-08T00:00:00Z"),
        ("gone_since", "2026-02-09T00:00:00Z"),
        ("links", "1"),
        ("status", "200"),
        ("content_type", "text/html"),
        ("kind", "page"),
        ("body_end", "undecodable: lzma"),
        ("body_bytes", "4321"),
        ("duration_ms", "1234"),
        ("content_hash", "7:00000000000000000000000000000abc"),
        ("body_hash", "00000000000000000000000000000def"),
        ("json_ld_modified", "2026-02-08"),
        ("meta_modified", "2026-02-09"),
        ("published", "2026-02-11"),
        ("sitemap_lastmod", "2026-02-12"),
        ("sitemap_is_file", "1"),
        ("last_modified", "2026-02-02T00:00:00Z"),
        ("date", "2026-02-03T00:00:00Z"),
        ("etag", "W/\"4\""),
        ("noindex", "1"),
        ("nofollow", "-"),
        ("unavailable_after", "2026-02-05T00:00:00Z"),
        ("canonical", "https://example.com/canonical"),
        ("refresh", "6 https://example.com/refresh"),
        ("location", "https://example.com/location"),
        ("selected_lastmod", "2026-02-07"),
        ("excluded_by_page_rule", "1"),
        ("warnings", "soft-404,sniffed-html"),
        ("title", "a title"),
        ("videos", r#"[{"title":"a \"video\""}]"#),
        ("news", "[]"),
        ("noimageindex", "1"),
        ("robots_by_header", "1"),
        ("read_as", "65261"),
    ] {
        assert_eq!(named("page", column), text, "{column}");
    }
}
