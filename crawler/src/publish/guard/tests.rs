use super::*;

fn baseline() -> Baseline {
    Baseline {
        crawl: 2,
        published: 1_000,
        complete: Some(1_000),
    }
}

/// The objections to a crawl of a site of 1,000 pages that is as it was, but for `change`.
fn check(change: impl FnOnce(&mut GuardCounts, &mut Baseline), expected: &[&str]) {
    let mut counts = GuardCounts {
        listed: 1_000,
        asked: 1_000,
        has_start: Some(true),
        ..GuardCounts::default()
    };
    let mut baseline = baseline();
    change(&mut counts, &mut baseline);
    let refusal = judge(&counts, &baseline, &GuardConfig::default());
    let objections = refusal.iter().flat_map(|refusal| &refusal.objections);
    let found: Vec<&str> = objections.map(Objection::code).collect();
    assert_eq!(found, expected, "{counts:?}");
}

#[test]
fn a_site_that_is_as_it_was_is_published() {
    check(|_, _| {}, &[]);
}

#[test]
fn the_start_page_must_have_content() {
    check(|counts, _| counts.has_start = Some(false), &["start-page"]);
    check(|counts, _| counts.has_start = None, &[]);
}

#[test]
fn a_fifth_of_the_urls_may_go_or_nineteen() {
    let check = |before, listed, expected: &[&str]| {
        check(
            |counts, baseline| {
                (baseline.published, counts.listed) = (before, listed);
            },
            expected,
        );
    };
    check(1_000, 800, &[]);
    check(1_000, 799, &["fewer-urls"]);
    check(50, 31, &[]);
    check(50, 30, &["fewer-urls"]);
    // Half of a small site.
    check(10, 5, &[]);
    check(10, 4, &["fewer-urls"]);
    check(5, 2, &["fewer-urls"]);
    check(4, 1, &[]);
    // The first crawl.
    check(0, 1, &[]);
}

#[test]
fn urls_removed_by_rules_are_not_lost() {
    for (reason, expected) in [
        (Reason::ExcludedByRule, &[][..]),
        (Reason::FollowOnly, &[]),
        (Reason::PageRule, &[]),
        (Reason::TooDeep, &["fewer-urls"]),
        (Reason::Noindex, &["fewer-urls"]),
        (Reason::RobotsDisallowed, &["fewer-urls"]),
    ] {
        check(
            |counts, _| {
                counts.listed = 500;
                (0..500).for_each(|_| counts.lost(reason));
            },
            expected,
        );
    }
}

#[test]
fn growth_is_compared_with_a_complete_crawl() {
    let check = |complete, listed, expected: &[&str]| {
        check(
            |counts, baseline| {
                (baseline.complete, counts.listed) = (complete, listed);
            },
            expected,
        );
    };
    check(Some(1_000), 5_000, &[]);
    check(Some(1_000), 5_001, &["many-more-urls"]);
    check(Some(10), 1_009, &[]);
    check(Some(10), 1_010, &["many-more-urls"]);
    check(None, 1_000_000, &[]);
}

#[test]
fn half_of_what_is_asked_for_may_fail_or_nineteen() {
    let check = |asked, failed, expected: &[&str]| {
        check(
            |counts, _| (counts.asked, counts.failed) = (asked, failed),
            expected,
        );
    };
    check(1_000, 500, &[]);
    check(1_000, 501, &["failing"]);
    check(20, 19, &[]);
    check(20, 20, &["failing"]);
}

#[test]
fn a_first_crawl_whose_requests_are_refused_is_refused() {
    let check = |published, asked, refused, expected: &[&str]| {
        check(
            |counts, baseline| {
                baseline.published = published;
                (counts.asked, counts.failed, counts.refused) = (asked, 5, refused);
            },
            expected,
        );
    };
    check(0, 200, 174, &[]);
    check(0, 200, 175, &["failing"]);
    check(0, 20, 14, &[]);
    check(0, 21, 15, &["failing"]);
    check(5, 200, 195, &[]);
}

#[test]
fn published_pages_that_become_one_page_are_refused() {
    let check = |pages: u64, of: u64, now: Signs, then: Signs, expected: &[&str]| {
        check(
            |counts, _| {
                for page in 0..of {
                    let own = Signs {
                        content: Some(page),
                        ..Signs::default()
                    };
                    let (now, then) = if page < pages {
                        (&now, &then)
                    } else {
                        (&own, &own)
                    };
                    counts.answered(&format!("https://h/{page}"), now, then);
                }
            },
            expected,
        );
    };
    let content = || Signs {
        content: Some(1 << 60),
        ..Signs::default()
    };
    let login = || Signs {
        login: Some(7),
        ..Signs::default()
    };
    let target = || Signs {
        target: Some(hash_of_target("https://h/login?from=/a")),
        ..Signs::default()
    };
    assert_eq!(
        target().target,
        Some(hash_of_target("https://h/login?from=/b"))
    );
    for sign in [content, login, target] {
        check(30, 100, sign(), Signs::default(), &[]);
        check(31, 100, sign(), Signs::default(), &["alike"]);
        // They were so when they were published.
        check(31, 100, sign(), sign(), &[]);
        check(4, 5, sign(), Signs::default(), &[]);
        check(5, 6, sign(), Signs::default(), &["alike"]);
        // More than are counted at once.
        check(4_000, 10_000, sign(), Signs::default(), &["alike"]);
    }
}

#[test]
fn a_refusal_names_what_speaks_against_the_crawl() {
    let mut counts = GuardCounts {
        listed: 400,
        ..GuardCounts::default()
    };
    (0..1_600).for_each(|_| counts.lost(Reason::Noindex));
    let baseline = Baseline {
        published: 2_000,
        ..baseline()
    };
    let refusal = judge(&counts, &baseline, &GuardConfig::default()).unwrap();
    assert_eq!(
        refusal.to_string(),
        "kept the published set of 2,000 URLs: this crawl would list only 400 (-80 %), without 1,600 (has noindex)"
    );
}

#[test]
fn a_first_crawl_of_one_page_at_all_urls_is_refused() {
    let codes = |pages: u64, listed: u64, published: u64| {
        let mut counts = GuardCounts {
            listed,
            ..GuardCounts::default()
        };
        let signs = Signs {
            content: Some(7),
            ..Signs::default()
        };
        for page in 0..pages {
            counts.first_listed(&format!("https://h.example/{page}"), &signs);
        }
        let baseline = Baseline {
            published,
            ..Baseline::default()
        };
        let refusal = judge(&counts, &baseline, &GuardConfig::default());
        refusal.map(|refusal| {
            refusal
                .objections
                .iter()
                .map(Objection::code)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(codes(20, 39, 0), Some(vec!["alike"]));
    assert_eq!(codes(20, 40, 0), None);
    assert_eq!(codes(19, 20, 0), None);
    assert_eq!(codes(20, 39, 39), None);
}

#[test]
fn a_first_crawl_of_a_script_shell_alone_is_refused() {
    let is_refused = |listed: u64, published: u64| {
        let counts = GuardCounts {
            listed,
            has_shell_start: true,
            ..GuardCounts::default()
        };
        let baseline = Baseline {
            published,
            ..Baseline::default()
        };
        judge(&counts, &baseline, &GuardConfig::default()).is_some()
    };
    assert!(is_refused(1, 0));
    assert!(!is_refused(2, 0));
    assert!(!is_refused(1, 1));
}
