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

/// Checks the objection, if any, for each pair of numbers that `set` puts into the counts.
fn check_pairs(
    set: impl Fn(&mut GuardCounts, &mut Baseline, u64, u64),
    cases: &[(u64, u64, Option<&str>)],
) {
    for (one, other, expected) in cases {
        check(
            |counts, baseline| set(counts, baseline, *one, *other),
            expected.as_slice(),
        );
    }
}

#[test]
fn start_page_must_have_content() {
    check(|_, _| {}, &[]);
    check(|counts, _| counts.has_start = Some(false), &["start-page"]);
    check(|counts, _| counts.has_start = None, &[]);
}

#[test]
fn loss_of_a_fifth_or_nineteen_is_allowed() {
    let refused = Some("fewer-urls");
    check_pairs(
        |counts, baseline, published, listed| {
            (baseline.published, counts.listed) = (published, listed);
        },
        &[
            (1_000, 1_000, None),
            (1_000, 800, None),
            (1_000, 799, refused),
            (50, 31, None),
            (50, 30, refused),
            // Half of a small site.
            (10, 5, None),
            (10, 4, refused),
            (5, 2, refused),
            (4, 1, None),
            // The first crawl.
            (0, 1, None),
        ],
    );
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
    let refused = Some("many-more-urls");
    check_pairs(
        |counts, baseline, complete, listed| {
            let complete = Some(complete).filter(|complete| *complete > 0);
            (baseline.complete, counts.listed) = (complete, listed);
        },
        &[
            (1_000, 5_000, None),
            (1_000, 5_001, refused),
            (10, 1_009, None),
            (10, 1_010, refused),
            // None was complete.
            (0, 1_000_000, None),
        ],
    );
}

#[test]
fn half_or_nineteen_requests_may_fail() {
    let refused = Some("failing");
    check_pairs(
        |counts, _, asked, failed| (counts.asked, counts.failed) = (asked, failed),
        &[
            (1_000, 500, None),
            (1_000, 501, refused),
            (20, 19, None),
            (20, 20, refused),
        ],
    );
}

#[test]
fn first_crawl_is_judged_by_itself() {
    let set_refused = |published: u64| {
        move |counts: &mut GuardCounts, baseline: &mut Baseline, asked: u64, refused: u64| {
            baseline.published = published;
            (counts.asked, counts.failed, counts.refused) = (asked, 5, refused);
        }
    };
    let failing = Some("failing");
    check_pairs(
        set_refused(0),
        &[
            (200, 174, None),
            (200, 175, failing),
            (20, 14, None),
            (21, 15, failing),
        ],
    );
    check_pairs(set_refused(5), &[(200, 195, None)]);

    let set_alike = |published: u64| {
        move |counts: &mut GuardCounts, baseline: &mut Baseline, pages: u64, listed: u64| {
            (baseline.published, counts.listed) = (published, listed);
            let signs = Signs {
                content: Some(7),
                ..Signs::default()
            };
            for page in 0..pages {
                counts.first_listed(&format!("https://h.example/{page}"), &signs);
            }
        }
    };
    check_pairs(
        set_alike(0),
        &[(20, 39, Some("alike")), (20, 40, None), (19, 20, None)],
    );
    check_pairs(set_alike(39), &[(20, 39, None)]);

    check_pairs(
        |counts, baseline, listed, published| {
            (baseline.published, counts.listed) = (published, listed);
            counts.has_shell_start = true;
        },
        &[(1, 0, Some("script-shell")), (2, 0, None), (1, 1, None)],
    );
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
        "kept the published set of 2,000 URLs: 400 URLs instead of 2,000 (-80%); 1,600 noindex"
    );
}
