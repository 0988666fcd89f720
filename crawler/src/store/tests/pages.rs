//! Page rows: promoted, kept with their links, forgotten; and walks over pages and visits together.

use std::collections::BTreeSet;

use super::*;

fn put(store: &mut Store, path: &str, reason: Reason, links: PageLinks) {
    let row = page_row(url(path), page_of(record(reason)), links);
    commit(store, |commit| commit.pages = vec![row]);
}

fn finish(store: &mut Store, found: &Discovery, links: &[&str]) {
    commit(store, |commit| {
        commit.discovered = vec![found.clone()];
        commit.finished = vec![linking(found, links)];
    });
}

fn links(store: &Store, path: &str) -> Option<Vec<String>> {
    let links = links_of(store, &url(path))?;
    Some(links.iter().map(|link| link.path().to_owned()).collect())
}

#[test]
fn a_promoted_visit_stays_and_shares_its_links() {
    let mut store = Store::in_memory().unwrap();
    let found = discovery("/a", 1);
    finish(&mut store, &found, &["/b"]);
    let promotion = Promotion {
        was_listed: true,
        content: Some(u64::MAX),
        ..Promotion::default()
    };
    let page = page_of(record(Reason::Listed));
    let promoted = PageRow {
        promotion: Some(promotion.clone()),
        ..page_row(url("/a"), page.clone(), PageLinks::OfVisit)
    };
    // It may be repeated.
    for _ in 0..2 {
        commit(&mut store, |commit| commit.pages = vec![promoted.clone()]);
        assert_eq!(store.page(&url("/a")).as_ref(), Some(&page));
        let visit = store.visit(&url("/a")).unwrap();
        assert_eq!(visit.promotion.as_ref(), Some(&promotion));
        assert_eq!(links(&store, "/a").unwrap(), ["/b"]);
        assert_eq!(stored_links(&store), 1);
    }
    // A new answer has links of its own. What was published when the crawl began is the same.
    finish(&mut store, &found, &["/c"]);
    let visit = store.visit(&url("/a")).unwrap();
    assert_eq!(visit.promotion.as_ref(), Some(&promotion));
    assert_eq!(links(&store, "/a").unwrap(), ["/c"]);
    assert_eq!(stored_links(&store), 2);
    // The visits leave, and the page has its links yet.
    commit(&mut store, |commit| commit.clears_visits = true);
    assert_eq!(store.visit(&url("/a")), None);
    assert_eq!(links(&store, "/a").unwrap(), ["/b"]);
    assert_eq!(stored_links(&store), 1);
}

#[test]
fn links_leave_with_their_last_row() {
    let mut store = Store::in_memory().unwrap();
    let found = discovery("/a", 1);
    let requeue = |store: &mut Store| {
        let again = QueuedUrl {
            distance: 0,
            sequence: 9,
            key: url("/a"),
            depth: 1,
            hops: 0,
            earlier: None,
        };
        commit(store, |commit| commit.requeued = vec![again]);
    };
    // Of a visit that waits again the page has them yet.
    finish(&mut store, &found, &["/b"]);
    put(&mut store, "/a", Reason::Listed, PageLinks::OfVisit);
    requeue(&mut store);
    assert_eq!(links(&store, "/a").unwrap(), ["/b"]);
    put(&mut store, "/a", Reason::Listed, PageLinks::Own);
    assert_eq!(links(&store, "/a").unwrap(), ["/b"]);
    // A visit without links changes nothing; one with links takes their place.
    put(&mut store, "/a", Reason::Listed, PageLinks::OfVisit);
    assert_eq!(links(&store, "/a").unwrap(), ["/b"]);
    finish(&mut store, &found, &["/c"]);
    put(&mut store, "/a", Reason::Listed, PageLinks::OfVisit);
    assert_eq!(stored_links(&store), 1);
}

#[test]
fn clearing_comes_first() {
    let mut store = Store::in_memory().unwrap();
    finish(&mut store, &discovery("/a", 1), &["/b"]);
    commit(&mut store, |commit| {
        commit.clears_visits = true;
        commit.discovered = vec![discovery("/c", 1)];
    });
    assert_eq!(queue(&store), [(1, url("/c"))]);
    assert_eq!(rows(&store, None).len(), 1);
    assert_eq!(stored_links(&store), 0);
}

#[test]
fn unlisted_rows_that_nobody_met_lately_are_forgotten() {
    let mut store = Store::in_memory().unwrap();
    for (number, (path, reason, last_seen)) in (1..).zip([
        ("/listed", Reason::Listed, "2026-01-01T00:00:00Z"),
        ("/old", Reason::Gone, "2026-01-31T23:59:59.9Z"),
        ("/older", Reason::Gone, "2025-02-01T00:00:00Z"),
        ("/new", Reason::Gone, "2026-02-01T00:00:00Z"),
        ("/newer", Reason::Gone, "2026-02-01T00:00:00.5Z"),
    ]) {
        finish(&mut store, &discovery(path, number), &["/b"]);
        let page = Page {
            last_seen: time(last_seen),
            ..page_of(record(reason))
        };
        let row = page_row(url(path), page, PageLinks::OfVisit);
        commit(&mut store, |commit| commit.pages = vec![row]);
    }
    let before = time("2026-02-01T00:00:00.25Z");
    commit(&mut store, |commit| commit.forgets_before = Some(before));
    // Their visits have the links yet.
    assert_eq!(stored_links(&store), 5);
    let paths = |store: &Store| -> Vec<String> {
        let pages = rows(store, None).into_iter();
        let pages = pages.filter(|(_, page, _)| page.is_some());
        pages.map(|(key, ..)| key.path().to_owned()).collect()
    };
    assert_eq!(paths(&store), ["/listed", "/new", "/newer"]);
    commit(&mut store, |commit| {
        commit.clears_visits = true;
        commit.forgets_before = Some(time("2027-01-01T00:00:00Z"));
    });
    assert_eq!(paths(&store), ["/listed"]);
    assert_eq!(stored_links(&store), 1);
}

/// Keys whose order as keys is not that of their texts, and keys near the ends of the characters that may be
/// in a path.
fn spread_keys() -> BTreeSet<UrlKey> {
    [
        "http://example.com/",
        "https://example.com/",
        "https://example.com/!",
        "https://example.com/a",
        "https://example.com/a-b",
        "https://example.com/a/",
        "https://example.com/a/b",
        "https://example.com/a?b",
        "https://example.com/a%2Fb",
        "https://example.com/b",
        "https://example.com/B",
        "https://example.com/%E2%82%AC",
        "https://example.com/~",
        "https://example.com:8443/",
        "https://example.com:8443/a",
        "https://example.com.au/",
        "https://example.com-mail.org/",
        "https://example.co/",
    ]
    .into_iter()
    .map(key)
    .collect()
}

#[test]
fn pages_and_visits_are_merged_in_key_order() {
    let mut store = Store::in_memory().unwrap();
    let keys = spread_keys();
    let mut expected = Vec::new();
    for (key, number) in keys.iter().zip(0_u64..) {
        let page = page_of(record(Reason::Listed));
        let found = Discovery {
            key: key.clone(),
            ..discovery("/", number)
        };
        let has_page = number % 3 != 0;
        let has_visit = number % 3 != 1;
        commit(&mut store, |commit| {
            if has_page {
                commit.pages = vec![page_row(key.clone(), page.clone(), PageLinks::Own)];
            }
            if has_visit {
                commit.discovered = vec![found.clone()];
            }
        });
        let visit = has_visit.then(|| queued_visit(&found));
        expected.push((key.clone(), has_page.then_some(page), visit));
    }
    assert_eq!(rows(&store, None), expected);
    for from in keys
        .iter()
        .chain([&key("https://example.com/az"), &key("https://example.d/")])
    {
        let rest = expected.iter().filter(|(key, ..)| key >= from).cloned();
        assert_eq!(rows(&store, Some(from)), rest.collect::<Vec<_>>(), "{from}");
    }
}

#[test]
fn a_visitor_may_read_the_store_and_stop() {
    let mut store = Store::in_memory().unwrap();
    discover(
        &mut store,
        &[discovery("/a", 1), discovery("/b", 2), discovery("/c", 3)],
    );
    put(&mut store, "/b", Reason::Listed, PageLinks::Own);
    let mut seen = Vec::new();
    let mut show = |stored: &StoredRows<'_>| {
        assert_eq!(store.page(&stored.key), stored.page()?);
        assert_eq!(store.visit(&stored.key), stored.visit()?);
        seen.push(rows(&store, Some(&stored.key)).len());
        Ok(if seen.len() == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    store.each(None, Shown::Whole, &mut show).unwrap();
    assert_eq!(seen, [3, 2]);
}
