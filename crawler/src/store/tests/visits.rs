//! Visits: found, finished, put into the queue again.

use std::collections::BTreeMap;

use super::*;
use crate::page::{SitemapDate, TextBlock};

fn visit(store: &Store, path: &str) -> Visit {
    store.visit(&url(path)).expect("it was visited")
}

#[test]
fn discovered_url_keeps_its_smallest_depth() {
    let mut store = Store::in_memory().unwrap();
    let first = Discovery {
        hops: 2,
        depth: 5,
        ..discovery("/a", 1)
    };
    let again = |sequence, depth| Discovery {
        via: Via::Sitemap,
        found_on: None,
        reason: Reason::TooDeep,
        depth,
        ..discovery("/a", sequence)
    };
    discover(&mut store, &[first.clone(), again(2, 7)]);
    assert_eq!(visit(&store, "/a"), queued_visit(&first));
    discover(&mut store, &[again(3, 4)]);
    let nearer = Discovery { depth: 4, ..first };
    assert_eq!(visit(&store, "/a"), queued_visit(&nearer));
    let queued = QueuedUrl {
        distance: 0,
        sequence: 1,
        key: nearer.key,
        depth: 4,
        hops: 2,
        earlier: None,
    };
    assert_eq!(store.queued(None, 10).unwrap(), [queued]);
    assert_eq!(store.rows_from(None).len(), 1);
    assert!(store.bytes().unwrap() > 0);
}

#[test]
fn a_verdict_without_a_request_does_not_wait() {
    let mut store = Store::in_memory().unwrap();
    let found = Discovery {
        reason: Reason::RobotsDisallowed,
        ..discovery("/a", 1)
    };
    discover(&mut store, std::slice::from_ref(&found));
    let mut expected = queued_visit(&found);
    expected.record.outcome = Some(Outcome::NotFetched(Reason::RobotsDisallowed));
    assert_eq!(visit(&store, "/a"), expected);
    assert_eq!(queue(&store), []);
}

#[test]
fn orphan_ends_when_a_page_links_it() {
    let mut store = Store::in_memory().unwrap();
    let by = |via, path, sequence| Discovery {
        via,
        ..discovery(path, sequence)
    };
    let found = [
        by(Via::Sitemap, "/a", 1),
        by(Via::Feed, "/b", 2),
        by(Via::List, "/c", 3),
        by(Via::Link, "/d", 4),
        // A page led to it before the sitemap did.
        by(Via::Sitemap, "/d", 5),
    ];
    discover(&mut store, &found);
    commit(&mut store, |commit| {
        commit.linked = vec![url("/b"), url("/d"), url("/unknown")];
        // What is decided about it does not matter.
        commit.finished = vec![finished(&found[0], record(Reason::Gone))];
    });
    let mut notes = BTreeMap::new();
    let mut show = |rows: &StoredRows<'_>| {
        notes.insert(rows.key.path().to_owned(), rows.note()?.unwrap());
        Ok(ControlFlow::Continue(()))
    };
    store.each(None, Shown::Whole, &mut show).unwrap();
    let note = |path: &str, reason, is_orphan, sequence| {
        let note = VisitNote {
            reason,
            is_orphan,
            is_declared: matches!(path, "/a" | "/c"),
            sequence,
            distance: 0,
        };
        (path.to_owned(), note)
    };
    let expected = [
        note("/a", Reason::Gone, true, 1),
        note("/b", Reason::Queued, false, 2),
        note("/c", Reason::Queued, true, 3),
        note("/d", Reason::Queued, false, 4),
    ];
    assert_eq!(notes, expected.into());
}

#[test]
fn finished_record_keeps_how_the_url_was_found() {
    let mut store = Store::in_memory().unwrap();
    let found = Discovery {
        via: Via::Sitemap,
        hops: 3,
        ..discovery("/a", 1)
    };
    discover(&mut store, std::slice::from_ref(&found));
    let date = |text: &str, is_of_file| SitemapDate {
        lastmod: text.to_owned(),
        is_of_file,
    };
    commit(&mut store, |commit| {
        commit.dated = vec![
            (url("/a"), date("2026-01-01", false)),
            (url("/a"), date("2026-01-02", true)),
            (url("/unknown"), date("2026-01-03", true)),
        ];
    });
    let farther = PageRecord {
        depth: 9,
        via: Via::Redirect,
        found_on: None,
        sitemap_lastmod: Some(date("2026-01-04", true)),
        ..record(Reason::Noindex)
    };
    commit(&mut store, |commit| {
        commit.finished = vec![finished(&found, farther)];
    });
    let expected = Visit {
        record: PageRecord {
            via: Via::Sitemap,
            sitemap_lastmod: Some(date("2026-01-01", false)),
            ..record(Reason::Noindex)
        },
        ..queued_visit(&found)
    };
    assert_eq!(visit(&store, "/a"), expected);
    assert_eq!(queue(&store), []);
    let nearer = PageRecord {
        depth: 0,
        ..record(Reason::Listed)
    };
    commit(&mut store, |commit| {
        commit.finished = vec![finished(&found, nearer)];
    });
    assert_eq!(visit(&store, "/a").record.depth, 0);
    assert_eq!(store.visit(&url("/unknown")), None);
}

#[test]
fn confirmed_visit_keeps_links_of_its_page() {
    let mut store = Store::in_memory().unwrap();
    make_visit_with_links(&mut store);
    let page = page_of(record(Reason::Listed));
    commit(&mut store, |commit| {
        commit.pages = vec![page_row(url("/a"), page.clone(), PageLinks::OfVisit)];
    });
    commit(&mut store, |commit| commit.clears_visits = true);
    let found = discovery("/a", 1);
    let confirmed = PageRecord {
        basis: Basis::Confirmed,
        outcome: answered(empty_answer(304)).outcome,
        ..record(Reason::Listed)
    };
    commit(&mut store, |commit| {
        commit.discovered = vec![found.clone()];
        commit.finished = vec![finished(&found, confirmed.clone())];
    });
    assert_eq!(visit(&store, "/a").record, confirmed);
    assert_eq!(store.page(&url("/a")), Some(page));
    assert_eq!(links_of(&store, &url("/a")), Some(vec![url("/b")]));
}

#[test]
fn links_not_taken_again_stay() {
    let mut store = Store::in_memory().unwrap();
    make_visit_with_links(&mut store);
    let row = page_row(
        url("/a"),
        page_of(record(Reason::Listed)),
        PageLinks::OfVisit,
    );
    commit(&mut store, |commit| commit.pages = vec![row.clone()]);
    commit(&mut store, |commit| commit.clears_visits = true);
    let block = TextBlock {
        hash: 1,
        numbers: 2,
        weight: 3,
    };
    let text = PageText {
        blocks: vec![block],
        ..PageText::default()
    };
    let facts = PageFacts {
        text: Some(Box::new(text)),
        ..empty_answer(200)
    };
    let (found, again) = (discovery("/a", 1), answered(facts));
    commit(&mut store, |commit| {
        commit.discovered = vec![found.clone()];
        commit.finished = vec![finished(&found, again)];
    });
    commit(&mut store, |commit| commit.pages = vec![row]);
    commit(&mut store, |commit| commit.clears_visits = true);
    assert_eq!(links_of(&store, &url("/a")), Some(vec![url("/b")]));
    assert_eq!(
        store.lists(&url("/a"), ListsOf::Page).unwrap().blocks,
        [block]
    );
    assert_eq!(stored_links(&store), 1);
}

fn make_visit_with_links(store: &mut Store) -> Discovery {
    let found = discovery("/a", 1);
    commit(store, |commit| {
        commit.discovered = vec![found.clone()];
        commit.finished = vec![linking(&found, &["/b"])];
    });
    found
}

fn again(path: &str, sequence: u64, depth: u32) -> QueuedUrl {
    QueuedUrl {
        distance: 0,
        sequence,
        key: url(path),
        depth,
        hops: 3,
        earlier: None,
    }
}

#[test]
fn a_requeued_url_waits_again_without_its_answer() {
    let mut store = Store::in_memory().unwrap();
    let found = make_visit_with_links(&mut store);
    let waits = discovery("/waits", 2);
    discover(&mut store, std::slice::from_ref(&waits));
    commit(&mut store, |commit| {
        commit.requeued = vec![
            again("/a", 3, 7),
            again("/waits", 4, 0),
            again("/unknown", 5, 0),
        ];
    });
    let expected = Visit {
        sequence: 3,
        hops: 3,
        ..queued_visit(&found)
    };
    assert_eq!(visit(&store, "/a"), expected);
    assert_eq!(visit(&store, "/waits"), queued_visit(&waits));
    assert_eq!(queue(&store), [(2, url("/waits")), (3, url("/a"))]);
    assert_eq!(links_of(&store, &url("/a")), None);
    assert_eq!(stored_links(&store), 0);
}

#[test]
fn the_queue_comes_in_pages() {
    let mut store = Store::in_memory().unwrap();
    let found: Vec<_> = [5, 3, 9, 1].map(|n| discovery(&format!("/{n}"), n)).into();
    discover(&mut store, &found);
    let page = |after, limit| -> Vec<u64> {
        let queued = store.queued(after, limit).unwrap().into_iter();
        queued.map(|url| url.sequence).collect()
    };
    assert_eq!(page(None, 2), [1, 3]);
    assert_eq!(page(Some(3), 2), [5, 9]);
    assert_eq!(page(Some(9), 2), [0_u64; 0]);
    assert_eq!(page(Some(u64::MAX), 2), [0_u64; 0]);
}

#[test]
fn queued_url_carries_facts_of_its_page_row() {
    let mut store = Store::in_memory().unwrap();
    let facts = PageFacts {
        status: 200,
        etag: Some("\"1\"".to_owned()),
        images: Some(Vec::new()),
        ..PageFacts::default()
    };
    let answered = |reason| PageRecord {
        outcome: Some(Outcome::Answered(Box::new(facts.clone()))),
        ..record(reason)
    };
    let imported = PageRecord {
        outcome: Some(Outcome::PUBLISHED),
        ..waiting_record(Reason::NotReached)
    };
    let row = |path, record| page_row(url(path), page_of(record), PageLinks::Own);
    commit(&mut store, |commit| {
        commit.pages = vec![
            row("/listed", answered(Reason::Listed)),
            row("/noindex", answered(Reason::Noindex)),
            row("/imported", imported),
            row("/excluded", waiting_record(Reason::TooDeep)),
        ];
        let paths = ["/listed", "/noindex", "/imported", "/excluded", "/new"];
        let found = paths.iter().zip(1..);
        commit.discovered = found.map(|(path, n)| discovery(path, n)).collect();
    });
    let earlier = |was_listed, answer| Some(Box::new(Earlier { was_listed, answer }));
    let answer = Box::new(facts.clone());
    let expected = [
        earlier(true, Some(answer.clone())),
        earlier(false, Some(answer)),
        earlier(true, None),
        None,
        None,
    ];
    let queued = store.queued(None, 10).unwrap().into_iter();
    assert_eq!(queued.map(|url| url.earlier).collect::<Vec<_>>(), expected);
}

#[test]
fn duplicate_sequence_undoes_the_whole_commit() {
    let mut store = Store::in_memory().unwrap();
    discover(&mut store, &[discovery("/a", 1)]);
    let refused = Commit {
        clears_visits: true,
        discovered: vec![discovery("/b", 2), discovery("/c", 2)],
        pages: vec![page_row(
            url("/d"),
            page_of(record(Reason::Listed)),
            PageLinks::Own,
        )],
        values: vec![("name".to_owned(), Some("value".to_owned()))],
        ..Commit::default()
    };
    store.commit(&refused.effects()).unwrap_err();
    assert_eq!(queue(&store), [(1, url("/a"))]);
    assert_eq!(rows(&store, None).len(), 1);
    assert_eq!(store.value("name").unwrap(), None);
    commit(&mut store, |commit| {
        commit.discovered = vec![discovery("/b", 2)];
    });
}

#[test]
fn values_are_set_and_removed() {
    let mut store = Store::in_memory().unwrap();
    let set = |store: &mut Store, value: Option<&str>| {
        let value = ("name".to_owned(), value.map(str::to_owned));
        commit(store, |commit| commit.values = vec![value]);
    };
    assert_eq!(store.value("name").unwrap(), None);
    for value in ["1", "", "é\0\n"] {
        set(&mut store, Some(value));
        assert_eq!(store.value("name").unwrap().as_deref(), Some(value));
    }
    set(&mut store, None);
    set(&mut store, None);
    assert_eq!(store.value("name").unwrap(), None);
}
