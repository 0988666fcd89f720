//! Tests that need the records of other pages, row by row and in any order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::page::Basis;

fn record(reason: Reason, next: &str) -> PageRecord {
    let facts = match Chain::of(reason) {
        Some(Chain::Redirects) => redirect(301, next),
        Some(Chain::Canonicals) => canonical(page(), next),
        None if reason == R::RefreshRedirect => refresh(0, next),
        None => page(),
    };
    PageRecord {
        reason,
        depth: 1,
        via: Via::Link,
        found_on: None,
        attempts: 1,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: match reason {
            R::Queued => None,
            R::RobotsDisallowed => Some(Outcome::NotFetched(reason)),
            R::NetworkError => Some(Outcome::NoAnswer {
                error: "refused".to_owned(),
            }),
            _ => Some(answered(facts)),
        },
        basis: Basis::Own,
        failing_since: None,
        gone_since: None,
    }
}

/// The data on pages, as `a:redirected>b b:listed`: path, reason, where it points.
fn known(pages: &str) -> Vec<(UrlKey, PageRecord)> {
    let page = |text: &str| {
        let (path, state) = text.split_once(':').unwrap();
        let (code, next) = state.split_once('>').unwrap_or((state, "none"));
        let reason = Reason::from_code(code).unwrap();
        (
            key(&format!("/d/{path}")),
            record(reason, &format!("/d/{next}")),
        )
    };
    pages.split(' ').map(page).collect()
}

/// A chain of `hops` pages that ends at a listed page.
fn chain(code: &str, hops: usize) -> String {
    let links = (0..hops).map(|at| format!("{at}:{code}>{}", at + 1));
    let pages: Vec<String> = links.chain([format!("{hops}:listed")]).collect();
    pages.join(" ")
}

/// Pages, of which the first is settled, and its reason.
const CHAINS: &str = "\
a:redirected>b b:listed = redirected
a:redirected>b b:server-error = redirected
a:redirected>b b:redirected-out-of-scope = redirected
a:redirected>b = redirected
a:redirected>a = redirect-loop
a:redirected>b b:redirected>a = redirect-loop
a:redirected>b b:redirected>c c:redirected>b = redirect-loop
a:redirected>b b:redirect-loop>b = redirect-loop
a:redirect-loop>b b:listed = redirected
a:too-many-redirects>b b:listed = redirected
a:canonical-elsewhere>b b:listed = canonical-elsewhere
a:canonical-elsewhere>b b:list-only = canonical-elsewhere
a:canonical-elsewhere>b b:queued = canonical-elsewhere
a:canonical-elsewhere>b = canonical-elsewhere
a:canonical-elsewhere>b b:gone = canonical-broken
a:canonical-elsewhere>b b:server-error = canonical-broken
a:canonical-elsewhere>b b:noindex = canonical-broken
a:canonical-elsewhere>b b:robots-disallowed = canonical-broken
a:canonical-elsewhere>b b:excluded-by-rule = canonical-broken
a:canonical-elsewhere>b b:canonical-foreign = canonical-broken
a:canonical-elsewhere>b b:redirected>c c:listed = canonical-broken
a:canonical-elsewhere>b b:redirected>a = listed
a:canonical-broken>b b:redirected>c c:redirected>a = listed
a:canonical-elsewhere>b b:refresh-redirect>a = listed
a:canonical-elsewhere>b b:canonical-elsewhere>c c:redirected>b = canonical-elsewhere
a:canonical-elsewhere>b b:redirected>c c:redirected>b = canonical-broken
a:canonical-elsewhere>a/ = listed
a:canonical-elsewhere>a/ a/:queued = listed
a:canonical-elsewhere>a/ a/:robots-disallowed = listed
a:canonical-elsewhere>a/ a/:network-error = listed
a:canonical-elsewhere>b b:redirected>a/ a/:queued = listed
a:canonical-elsewhere>a/ a/:gone = canonical-broken
a:canonical-elsewhere>a/ a/:listed = canonical-elsewhere
a:canonical-broken>b b:listed = canonical-elsewhere
a:canonical-elsewhere>b b:canonical-elsewhere>c c:listed = canonical-elsewhere
a:canonical-elsewhere>b b:canonical-broken>c c:gone = canonical-broken
a:canonical-elsewhere>b b:canonical-elsewhere>a = canonical-loop
a:canonical-elsewhere>b b:canonical-loop>c c:canonical-loop>b = canonical-loop
a:canonical-loop>b b:listed = canonical-elsewhere";

/// Each row settles its first page.
pub(super) fn rows() -> Vec<(String, Reason)> {
    let rows = CHAINS.lines().map(|line| {
        let (pages, code) = line.split_once(" = ").unwrap();
        (pages.to_owned(), Reason::from_code(code).unwrap())
    });
    let chains = [
        (chain("redirected", MAX_HOPS), R::Redirected),
        (chain("redirected", MAX_HOPS + 1), R::TooManyRedirects),
        (
            chain("canonical-elsewhere", MAX_HOPS),
            R::CanonicalElsewhere,
        ),
        (
            chain("canonical-elsewhere", MAX_HOPS + 1),
            R::CanonicalBroken,
        ),
    ];
    rows.chain(chains).collect()
}

fn settled(key: &UrlKey, records: &BTreeMap<UrlKey, PageRecord>) -> Reason {
    let mut looked_up = 0;
    let mut lookup = |key: &UrlKey| {
        looked_up += 1;
        records.get(key).map(PageSummary::of)
    };
    let reason = settle_canonicals(key, &records[key], &mut lookup).unwrap_or(records[key].reason);
    assert!(looked_up <= 2 * MAX_HOPS, "{looked_up} look-ups");
    reason
}

#[test]
fn the_table_of_chains() {
    for (pages, reason) in rows() {
        let known = known(&pages);
        let first = known[0].0.clone();
        assert_eq!(
            settled(&first, &known.into_iter().collect()),
            reason,
            "{pages}"
        );
    }
}

#[test]
fn only_another_reason_is_a_settled_one() {
    let known = record(R::Redirected, "/d/q");
    assert_eq!(settle_canonicals(&key("/d/p"), &known, &mut |_| None), None);
    assert_eq!(
        settle_canonicals(&key("/d/p"), &record(R::Listed, ""), &mut |_| None),
        None
    );
}

proptest! {
    /// Pages point anywhere; some are settled before the others are looked at, in any order.
    #[test]
    fn settling_does_not_depend_on_order(
        pages in prop::collection::vec((0_usize..4, 0_usize..14), 1..14),
        order in prop::collection::vec(0_usize..14, 0..30),
    ) {
        let path = |index: usize| format!("/d/{index}");
        let mut records: BTreeMap<UrlKey, PageRecord> = BTreeMap::new();
        for (index, (kind, next)) in pages.iter().enumerate() {
            let reason = [R::Redirected, R::CanonicalElsewhere, R::Listed, R::Gone][*kind];
            records.insert(key(&path(index)), record(reason, &path(*next)));
        }
        let expected: Vec<Reason> = records.keys().map(|key| settled(key, &records)).collect();
        for index in order {
            let page = key(&path(index));
            if records.contains_key(&page) {
                let reason = settled(&page, &records);
                records.get_mut(&page).unwrap().reason = reason;
            }
        }
        let found: Vec<Reason> = records.keys().map(|key| settled(key, &records)).collect();
        prop_assert_eq!(found, expected);
    }
}
