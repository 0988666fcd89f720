//! The merged view, one row a sentence of its description.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use super::*;
use crate::{
    clock::Clock,
    config::Config,
    page::{Basis, LedgerEntry, Page, Reading, Visit},
    robots::Rules,
};

struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

fn judge_with(edit: impl FnOnce(&mut Config)) -> Judge {
    let mut config = Config::default();
    edit(&mut config);
    let start = key("/");
    let site = site::site_of_redirects(&start, &[], ScopeWidth::Directory).unwrap();
    let scope = Scope::new(&site, &config.scope).unwrap();
    Judge::new(&config, scope, Rules::default(), 0, Arc::new(At(time(NOW))))
}

fn judge_of() -> Judge {
    judge_with(|_| {})
}

fn record(outcome: Option<Outcome>) -> PageRecord {
    PageRecord {
        reason: R::Queued,
        depth: 1,
        via: Via::Link,
        found_on: None,
        attempts: 1,
        fetched_at: outcome.is_some().then(|| time(NOW)),
        sitemap_lastmod: None,
        outcome,
        basis: Basis::Own,
        failing_since: None,
        gone_since: None,
    }
}

fn status(status: u16) -> Outcome {
    Outcome::Answered(Box::new(PageFacts { status, ..page() }))
}

/// The decision of the loop on a visit, by its words: `200`, `404`, `503`, `noindex`, `waits`, `>/b` (a redirect),
/// `canonical:/b`, `refresh:/b`, `304`, `304-noindex`.
fn visit(text: &str) -> Visit {
    let outcome = match text.split_at(text.find([':', '>']).map_or(0, |at| at + 1)) {
        (">", target) => Some(answered(redirect(301, target))),
        ("canonical:", target) => Some(answered(canonical(page(), target))),
        ("refresh:", target) => Some(answered(refresh(0, target))),
        (_, "304") => Some(answered(super::status(304))),
        (_, "304-noindex") => Some(answered(noindex(super::status(304)))),
        (_, "noindex") => Some(answered(noindex(page()))),
        (_, "no-answer") => Some(Outcome::NoAnswer {
            error: "connection refused".to_owned(),
        }),
        (_, "waits") => None,
        (_, code) => Some(status(code.parse().unwrap())),
    };
    let mut record = record(outcome);
    if text.starts_with("304") {
        record.basis = Basis::Confirmed;
    }
    record.reason = judge_of().in_view(&key("/a"), &record);
    Visit::finished(1, record, Reading::default())
}

/// A page row: `listed`, `imported`, `gone` (unlisted), `not-in-set`, or `listed` since when it fails and answers 404
/// (`listed failing=... gone=...`).
fn row(text: &str) -> Page {
    let mut words = text.split(' ');
    let (reason, outcome) = match words.next().unwrap() {
        "listed" => (R::Listed, status(200)),
        "imported" => (R::NotReached, Outcome::PUBLISHED),
        "not-in-set" => (R::NotInSet, status(200)),
        "excluded" => (R::ExcludedByRule, status(200)),
        "gone" => (R::Gone, status(404)),
        other => panic!("{other}"),
    };
    let mut page = Page {
        record: PageRecord {
            reason,
            ..record(Some(outcome))
        },
        crawl: Some(1),
        first_seen: time(NOW),
        last_seen: time(NOW),
        dates: Some(LedgerEntry::default()),
    };
    for word in words {
        let (name, at) = word.split_once('=').unwrap();
        match name {
            "failing" => page.record.failing_since = Some(time(at)),
            "gone" => page.record.gone_since = Some(time(at)),
            other => panic!("{other}"),
        }
    }
    page
}

/// The reason that the view has of the first of these URLs, each given as path, page row and visit (empty: none).
fn view(judge: &Judge, mode: Mode, urls: &[(&str, &str, &str)]) -> Option<Reason> {
    let rows: HashMap<UrlKey, Rows> = urls
        .iter()
        .map(|(path, page, visited)| {
            let rows = Rows {
                page: (!page.is_empty()).then(|| row(page)),
                visit: (!visited.is_empty()).then(|| visit(visited)),
            };
            (key(path), rows)
        })
        .collect();
    let first = key(urls[0].0);
    let merging = Merging { judge, mode };
    let merged = merging.merge(&first, &rows[&first], &mut |key| {
        Ok::<_, Infallible>(rows.get(key).cloned().unwrap_or_default())
    });
    let Ok(merged) = merged;
    merged.map(|merged| merged.record.reason)
}

fn check(mode: Mode, urls: &[(&str, &str, &str)], expected: Option<Reason>) {
    assert_eq!(view(&judge_of(), mode, urls), expected, "{mode:?} {urls:?}");
}

#[test]
fn page_rows_count_without_evidence_of_visits() {
    let check = |page, visit, expected| check(Mode::Crawl, &[("/a", page, visit)], Some(expected));
    check("", "200", R::Listed);
    check("listed", "200", R::Listed);
    check("gone", "200", R::Listed);
    check("not-in-set", "200", R::Listed);
    check("listed", "noindex", R::Noindex);
    check("listed", "304", R::Listed);
    check("listed", "304-noindex", R::Noindex);
    check("listed", "410", R::Gone);
    check("", "503", R::ServerError);
    check("gone", "503", R::ServerError);
    check("listed", "503", R::Unreachable);
    check("listed", "no-answer", R::Unreachable);
    check("imported", "503", R::Unreachable);
    check("listed", "404", R::GoneOnce);
    check("imported", "404", R::GoneOnce);
    // The second 404 an hour later, and the end of thirty days; the visits are of noon of 1 May.
    check("listed gone=2026-05-01T11:00:01Z", "404", R::GoneOnce);
    check("listed gone=2026-05-01T11:00:00Z", "404", R::Gone);
    check("listed failing=2026-04-02T12:00:00Z", "503", R::Unreachable);
    check("listed failing=2026-04-01T12:00:00Z", "503", R::ServerError);
}

#[test]
fn undecided_urls_count_by_their_page_row() {
    let crawl = |page, visit, expected| check(Mode::Crawl, &[("/a", page, visit)], expected);
    crawl("listed", "", Some(R::NotReached));
    crawl("listed", "waits", Some(R::NotReached));
    crawl("imported", "", Some(R::NotReached));
    crawl("gone", "", None);
    crawl("excluded", "", None);
    crawl("gone", "waits", Some(R::Queued));
    crawl("", "waits", Some(R::Queued));
}

#[test]
fn current_rules_apply_to_every_row() {
    let judge = judge_with(|config| config.scope.exclude = vec!["/a".to_owned()]);
    for (page, visit) in [
        ("listed", ""),
        ("listed", "200"),
        ("", "waits"),
        ("", "503"),
    ] {
        let found = view(&judge, Mode::Crawl, &[("/a", page, visit)]);
        assert_eq!(found, Some(R::ExcludedByRule), "{page} {visit}");
    }
    for page in ["listed", "imported", "excluded"] {
        let found = view(&judge, Mode::AtRest, &[("/a", page, "")]);
        assert_eq!(found, Some(R::ExcludedByRule), "{page}");
    }
    let judge = judge_with(|config| config.removal.keep_failing = Duration::ZERO);
    let found = view(&judge, Mode::Crawl, &[("/a", "listed", "503")]);
    assert_eq!(found, Some(R::ServerError));
}

#[test]
fn a_page_is_decided_with_its_target() {
    for from in [">/b", "canonical:/b", "refresh:/b"] {
        let alone = match from {
            ">/b" => R::Redirected,
            "refresh:/b" => R::RefreshRedirect,
            _ => R::CanonicalElsewhere,
        };
        let check = |page, (row, visit): (&str, &str), expected| {
            let urls = [("/a", page, from), ("/b", row, visit)];
            check(Mode::Crawl, &urls, Some(expected));
        };
        check("listed", ("", "200"), alone);
        check("listed", ("", "waits"), R::NotReached);
        check("listed", ("listed", ""), R::NotReached);
        check("listed", ("", "503"), R::Unreachable);
        check("listed", ("listed", "503"), R::Unreachable);
        check("listed", ("listed", "404"), R::Unreachable);
        let long_ago = "listed failing=2026-04-01T12:00:00Z";
        check(long_ago, ("listed", "503"), alone);
        // Without a page row the answer counts.
        check("", ("", "200"), alone);
        check("", ("", "waits"), alone);
        check("gone", ("", "waits"), alone);
    }
    // Through a chain, and a loop of pages that were listed, which proves nothing.
    let through = |end, expected| {
        let urls = [("/a", "listed", ">/b"), ("/b", "", ">/c"), ("/c", "", end)];
        check(Mode::Crawl, &urls, Some(expected));
    };
    through("200", R::Redirected);
    through("waits", R::NotReached);
    through("503", R::Unreachable);
    through(">/a", R::Unreachable);
    let unknown = [("/a", "listed", ">/b")];
    check(Mode::Crawl, &unknown, Some(R::Redirected));
}

#[test]
fn a_fresh_crawl_looks_at_its_visits_alone() {
    let check = |page, visit, expected| check(Mode::Fresh, &[("/a", page, visit)], expected);
    check("listed", "", None);
    check("listed", "waits", Some(R::Queued));
    check("listed", "503", Some(R::ServerError));
    check("listed", "404", Some(R::Gone));
    check("", "200", Some(R::Listed));
}

#[test]
fn page_rows_count_by_reason_at_rest() {
    let check = |page, visit, expected| check(Mode::AtRest, &[("/a", page, visit)], expected);
    check("listed", "", Some(R::Listed));
    // The visits of a refused crawl.
    check("listed", "noindex", Some(R::Listed));
    check("", "200", None);
    check("imported", "", Some(R::NotReached));
    check("gone", "", Some(R::Gone));
    check("excluded", "", Some(R::Listed));
    check("not-in-set", "", Some(R::NotInSet));
}

#[test]
fn failing_since_comes_from_the_page_row() {
    let judge = judge_of();
    let merging = Merging {
        judge: &judge,
        mode: Mode::Crawl,
    };
    let since = "2026-04-20T00:00:00Z";
    let failing = format!("listed failing={since}");
    for (page, expected) in [("listed", NOW), (failing.as_str(), since)] {
        let rows = Rows {
            page: Some(row(page)),
            visit: Some(visit("503")),
        };
        let merged = merging.merge(&key("/a"), &rows, &mut |_| {
            Ok::<_, Infallible>(Rows::default())
        });
        let Ok(merged) = merged;
        let merged = merged.unwrap();
        assert_eq!(merged.record.failing_since, Some(time(expected)));
        assert_eq!(merged.merged_by, MergedBy::Kept);
        // It is listed by its last good answer.
        assert_eq!(merged.record.facts().unwrap().status, 200);
    }
}
