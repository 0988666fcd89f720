//! The decision table, and the verdicts of chains of pages.

mod merge;
mod settle;
mod table;

use std::collections::BTreeSet;

use super::{
    Follow::{All, Nothing, TargetOnly},
    Reason as R, *,
};
use crate::{
    config::{ScopeConfig, ScopeWidth},
    page::{ContentHash, Link, Refresh},
    site,
    url_key::Identity,
};

const NOW: &str = "2026-05-01T12:00:00Z";

fn key(path: &str) -> UrlKey {
    let text = if path.starts_with('/') {
        format!("https://h{path}")
    } else {
        path.to_owned()
    };
    Identity::default().parse(&text).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The crawl of `https://h/d/` with a rule of each kind.
fn scope() -> Scope {
    let site = site::site_of_redirects(&key("/d/"), &[], ScopeWidth::Directory).unwrap();
    let one = |pattern: &str| vec![pattern.to_owned()];
    let config = ScopeConfig {
        exclude: one("/d/excluded*"),
        follow_only: one("/d/follow*"),
        list_only: one("/d/list*"),
        ..ScopeConfig::default()
    };
    Scope::new(&site, &config).unwrap()
}

fn status(status: u16) -> PageFacts {
    PageFacts {
        status,
        ..PageFacts::default()
    }
}

fn redirect(code: u16, target: &str) -> PageFacts {
    PageFacts {
        location: Some(key(target)),
        ..status(code)
    }
}

fn page() -> PageFacts {
    PageFacts {
        kind: BodyKind::Page,
        end: BodyEnd::Complete,
        body_bytes: 1_000,
        content_hash: Some(ContentHash(1)),
        links: vec![Link {
            target: key("/d/link"),
            via: Via::Link,
            nofollow: false,
        }],
        ..status(200)
    }
}

fn with(change: impl FnOnce(&mut PageFacts)) -> PageFacts {
    let mut facts = page();
    change(&mut facts);
    facts
}

/// The same answer with a canonical link.
fn canonical(facts: PageFacts, target: &str) -> PageFacts {
    PageFacts {
        canonical: Canonical::Other(key(target)),
        ..facts
    }
}

fn with_cookie(mut facts: PageFacts) -> PageFacts {
    facts.warnings.sets_cookie = true;
    facts
}

fn challenge(code: u16) -> PageFacts {
    let mut facts = with_cookie(status(code));
    facts.warnings.challenge = true;
    facts
}

fn refresh(delay_seconds: u32, target: &str) -> PageFacts {
    let target = key(target);
    with(|facts| {
        facts.refresh = Some(Refresh {
            delay_seconds,
            target,
        });
    })
}

fn cut(mut facts: PageFacts) -> PageFacts {
    facts.warnings.parse_cut = true;
    facts
}

fn noindex(mut facts: PageFacts) -> PageFacts {
    facts.directives.noindex = true;
    facts
}

fn nofollow(mut facts: PageFacts) -> PageFacts {
    facts.directives.nofollow = true;
    facts
}

fn unavailable_after(end: &str) -> PageFacts {
    with(|facts| facts.directives.unavailable_after = Some(time(end)))
}

fn page_rule(facts: PageFacts) -> PageFacts {
    PageFacts {
        excluded_by_page_rule: true,
        ..facts
    }
}

fn ending(end: BodyEnd, facts: PageFacts) -> PageFacts {
    PageFacts { end, ..facts }
}

fn document() -> PageFacts {
    PageFacts {
        kind: BodyKind::Document,
        ..status(200)
    }
}

fn answered(facts: PageFacts) -> Outcome {
    Outcome::Answered(Box::new(facts))
}

fn given() -> Outcome {
    Outcome::Supplied(Box::default())
}

fn judge_at(path: &str, outcome: &Outcome, policy: Policy) -> Verdict {
    judge(&key(path), outcome, &scope(), &policy, time(NOW))
}

#[test]
fn every_reason_is_reached() {
    let judged = table::rows().into_iter().map(|(_, _, reason, _)| reason);
    let settled = settle::rows().into_iter().map(|(_, reason)| reason);
    // Whether a URL can be written is decided where entries are made, whether it is a feed where it is read, and whether a link
    // changes something before it is requested.
    let exported = [
        Reason::ActionLink,
        Reason::DuplicateSpelling,
        Reason::Unwritable,
        Reason::EntryRefused,
        Reason::SeedDocument,
        Reason::NotInSet,
    ];
    // Whether a listed page stays so is asked where its history is known.
    let kept = [Reason::GoneOnce, Reason::Unreachable, Reason::NotReached];
    let decided_elsewhere = exported.into_iter().chain(kept);
    let reached: BTreeSet<Reason> = judged.chain(settled).chain(decided_elsewhere).collect();
    assert_eq!(reached, Reason::ALL.iter().copied().collect());
}

#[test]
fn policy_decides_which_statements_count() {
    let check = |policy: Policy, facts: PageFacts, reason: Reason, follow: Follow| {
        let verdict = judge_at("/d/p", &answered(facts), policy);
        assert_eq!((verdict.reason, verdict.follow), (reason, follow));
    };
    let no_noindex = Policy {
        ignore_noindex: true,
        ..Policy::default()
    };
    check(no_noindex, noindex(page()), R::Listed, All);
    check(no_noindex, noindex(nofollow(page())), R::Listed, TargetOnly);
    check(no_noindex, unavailable_after(NOW), R::Listed, All);
    let noindex_elsewhere = || noindex(canonical(page(), "/d/q"));
    check(no_noindex, noindex_elsewhere(), R::CanonicalElsewhere, All);

    let no_canonical = Policy {
        ignore_canonical: true,
        ..Policy::default()
    };
    for target in ["/d/q", "https://other/"] {
        check(no_canonical, canonical(page(), target), R::Listed, All);
    }
    check(no_canonical, noindex_elsewhere(), R::Noindex, All);
}

#[test]
fn warnings_are_passed_on_and_conflicting_canonicals_added() {
    let check = |facts: PageFacts, expected: Warnings| {
        let verdict = judge_at("/d/p", &answered(facts), Policy::default());
        assert_eq!(verdict.warnings, expected);
    };
    let sniffed = Warnings {
        sniffed: true,
        ..Warnings::default()
    };
    check(with(|facts| facts.warnings.sniffed = true), sniffed);
    let conflicting = Warnings {
        conflicting_canonicals: true,
        ..Warnings::default()
    };
    let two = with(|facts| facts.canonical = Canonical::Conflicting);
    check(two, conflicting);
}

#[test]
fn targets_are_where_readers_are_sent_and_links() {
    let mut facts = refresh(5, "/d/refresh");
    facts.canonical = Canonical::Other(key("/d/canonical"));
    facts.links.push(Link {
        target: key("/d/unendorsed"),
        via: Via::Link,
        nofollow: true,
    });
    let check =
        |facts: &PageFacts, follow: Follow, take_nofollow: bool, expected: &[(&str, Via)]| {
            let found: Vec<_> = targets(facts, follow, take_nofollow)
                .map(|(target, via, _)| (target.path(), via))
                .collect();
            assert_eq!(found, expected);
        };
    let sent_to = [
        ("/d/refresh", Via::Refresh),
        ("/d/canonical", Via::Canonical),
    ];
    let links = [("/d/link", Via::Link), ("/d/unendorsed", Via::Link)];
    let all = [sent_to, links].concat();
    check(&facts, Nothing, true, &[]);
    check(&facts, TargetOnly, true, &sent_to);
    check(&facts, All, false, &all[..3]);
    check(&facts, All, true, &all);
    let moved = redirect(301, "/d/q");
    check(&moved, TargetOnly, false, &[("/d/q", Via::Redirect)]);
}
