//! What people see in the file.

use super::*;
use crate::{
    page::{
        Basis, BodyEnd, BodyKind, Canonical, ContentHash, Directives, Kept, LanguageVersion,
        Outcome, Refresh, SitemapDate, StatedDates, Via, Warnings,
    },
    store::{
        Finished,
        conformance::{discovery, finished, key, record},
    },
};

#[test]
fn people_can_read_the_file_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let [a, b] = [discovery("/a", 1), discovery("/b", 2)];
    let commit = Commit {
        run: 1,
        discovered: vec![a.clone(), b.clone(), discovery("/c", 3)],
        finished: vec![
            finished(&a, record(1, Reason::Noindex)),
            finished(&b, record(1, Reason::Listed)),
        ],
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
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
        [a.key.as_str()]
    );
    assert_eq!(
        rows("select fetched_at from page where etag = '\"1\"' limit 1"),
        ["2026-05-01T10:00:00.25Z"]
    );
    assert_eq!(rows("select url from listed"), [b.key.as_str()]);
    assert_eq!(
        rows("select state || ' ' || reason || ' ' || urls from summary"),
        ["excluded noindex 1", "listed listed 1", "queued queued 1"]
    );
    let schema = rows("select sql from sqlite_schema where name = 'page'");
    assert!(
        schema
            .iter()
            .all(|sql| sql.contains("-- why; the codes of the report")),
        "{schema:?}"
    );
    // A tool that reads does not stop the crawl.
    tool.execute_batch("BEGIN; SELECT count(*) FROM page")
        .unwrap();
    store.begin_run(2).unwrap();
    assert_eq!(rows("select url from listed"), [b.key.as_str()]);
}

/// A record in which everything is said, each thing differently.
fn answered_in_full() -> PageRecord {
    let time = |day: u32| Some(format!("2026-02-{day:02}T00:00:00Z").parse().unwrap());
    let url = |path: &str| key(&format!("https://example.com/{path}"));
    let facts = PageFacts {
        status: 200,
        content_type: Some("text/html".to_owned()),
        kind: BodyKind::Page,
        end: BodyEnd::Undecodable("lzma".to_owned()),
        body_bytes: 4_321,
        content_hash: Some(ContentHash(0xabc)),
        body_hash: Some(0xdef),
        likeness: Some(0xbeef),
        dates: StatedDates {
            json_ld: Some("2026-02-08".to_owned()),
            meta: Some("2026-02-09".to_owned()),
            time_element: Some("2026-02-10".to_owned()),
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
        canonical: Canonical::Other(url("canonical")),
        refresh: Some(Refresh {
            delay_seconds: 6,
            target: url("refresh"),
        }),
        location: Some(url("location")),
        selected_lastmod: Some("2026-02-07".to_owned()),
        excluded_by_page_rule: true,
        links: Vec::new(),
        links_left_out: 0,
        images: Some(vec![url("image.png")]),
        alternates: Some(vec![LanguageVersion::new("de", url("de"))]),
        selected_values: [("s:price".to_owned(), "\"1\" €".to_owned())].into(),
        feeds: vec![url("feed")],
        robots_by_header: true,
        read_as: 0xfeed,
        warnings: Warnings {
            soft_404: true,
            sniffed: true,
            ..Warnings::default()
        },
        title: Some("a title".to_owned()),
    };
    PageRecord {
        run: 8,
        reason: Reason::CanonicalElsewhere,
        depth: 9,
        via: Via::Alternate,
        found_on: Some(url("found-on")),
        attempts: 10,
        fetched_at: time(1),
        sitemap_lastmod: Some(SitemapDate {
            lastmod: "2026-02-12".to_owned(),
            is_of_file: true,
        }),
        outcome: Some(Outcome::Answered(Box::new(facts))),
        basis: Basis::Kept(Kept {
            reason: Reason::Gone,
            since: "2026-02-08T00:00:00Z".parse().unwrap(),
            gone_since: time(9),
            error: "status 404".to_owned(),
        }),
    }
}

#[test]
fn columns_hold_what_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let finished = vec![Finished {
        links: Some(vec![key("https://example.com/link")]),
        ..finished(&discovery("/a", 11), answered_in_full())
    }];
    store
        .commit(&Commit {
            run: 8,
            finished,
            ..Commit::default()
        })
        .unwrap();
    let named = |column: &str| -> String {
        let sql = format!("SELECT CAST(ifnull({column}, '-') AS TEXT) FROM page");
        store
            .connection
            .query_row(&sql, [], |row| row.get(0))
            .unwrap()
    };
    for (column, text) in [
        ("url", "https://example.com/a"),
        ("run", "8"),
        ("state", "excluded"),
        ("reason", "canonical-elsewhere"),
        ("depth", "9"),
        ("via", "alternate"),
        ("found_on", "https://example.com/found-on"),
        ("attempts", "10"),
        ("fetched_at", "2026-02-01T00:00:00Z"),
        ("not_fetched", "-"),
        ("error", "status 404"),
        ("confirmed", "-"),
        ("kept", "gone"),
        ("failing_since", "2026-02-08T00:00:00Z"),
        ("gone_since", "2026-02-09T00:00:00Z"),
        ("listed_before", "-"),
        ("outlinks", "1"),
        ("answer_run", "8"),
        ("status", "200"),
        ("content_type", "text/html"),
        ("kind", "page"),
        ("body_end", "undecodable: lzma"),
        ("body_bytes", "4321"),
        ("content_hash", "00000000000000000000000000000abc"),
        ("hash_version", "5"),
        ("body_hash", "00000000000000000000000000000def"),
        ("likeness", "000000000000beef"),
        ("json_ld_modified", "2026-02-08"),
        ("meta_modified", "2026-02-09"),
        ("time_modified", "2026-02-10"),
        ("published", "2026-02-11"),
        ("sitemap_lastmod", "2026-02-12"),
        ("sitemap_is_file", "1"),
        ("last_modified", "2026-02-02T00:00:00Z"),
        ("date", "2026-02-03T00:00:00Z"),
        ("etag", "W/\"4\""),
        ("noindex", "1"),
        ("nofollow", "-"),
        ("unavailable_after", "2026-02-05T00:00:00Z"),
        ("canonical_is", "other"),
        ("canonical", "https://example.com/canonical"),
        ("refresh_delay", "6"),
        ("refresh_url", "https://example.com/refresh"),
        ("location", "https://example.com/location"),
        ("selected_lastmod", "2026-02-07"),
        ("excluded_by_page_rule", "1"),
        ("warnings", "soft-404,sniffed-html"),
        ("title", "a title"),
        ("selected_values", r#"{"s:price":"\"1\" €"}"#),
        ("noimageindex", "1"),
        ("robots_by_header", "1"),
        ("read_as", "000000000000feed"),
    ] {
        assert_eq!(named(column), text, "{column}");
    }
}

/// What was kept of a page before there was a second version of the hash.
#[test]
fn a_hash_of_the_body_is_not_taken_for_one_of_the_content() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let discovery = discovery("/a", 11);
    let commit = Commit {
        run: 8,
        finished: vec![finished(&discovery, answered_in_full())],
        ..Commit::default()
    };
    store.commit(&commit).unwrap();
    let older = "UPDATE page SET hash_version = 1, body_hash = NULL";
    store.connection.execute(older, []).unwrap();
    let record = store.page(&discovery.key).unwrap().unwrap();
    let facts = record.facts().unwrap();
    assert_eq!((facts.content_hash, facts.body_hash), (None, Some(0xabc)));
}

#[test]
fn lists_of_facts_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&state(&folder)).unwrap();
    let discovery = discovery("/a", 11);
    store
        .commit(&Commit {
            run: 8,
            finished: vec![finished(&discovery, answered_in_full())],
            ..Commit::default()
        })
        .unwrap();
    let record = store.page(&discovery.key).unwrap().unwrap();
    assert_eq!(record, answered_in_full());
}
