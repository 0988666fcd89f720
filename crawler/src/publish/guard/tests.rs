use super::*;

/// A run over a site of 1,000 pages that is as it was.
fn healthy() -> Figures {
    Figures {
        before: 1_000,
        listed: 1_000,
        known: 1_200,
        failing: 0,
        old: OldSet {
            pages: 1_000,
            heard: 1_000,
            ..OldSet::default()
        },
        last: Remembered {
            is_complete: true,
            ..Remembered::default()
        },
    }
}

fn group(alike: Alike, pages: u64) -> Group {
    Group {
        alike,
        key: 7,
        pages,
        example: "https://example.com/x".to_owned(),
    }
}

fn share(millionths: u32) -> Share {
    Share::millionths(millionths)
}

#[track_caller]
fn check(figures: &Figures, expected: &[&str]) {
    let refusal = judge(figures, &GuardConfig::default());
    let objections = refusal.iter().flat_map(|refusal| &refusal.objections);
    let codes: Vec<_> = objections.map(Objection::code).collect();
    assert_eq!(codes, expected, "{figures:?}");
    assert_eq!(judge(figures, &GuardConfig::OFF), None, "{figures:?}");
}

#[test]
fn a_set_loses_a_fifth_and_twenty_urls_before_it_is_refused() {
    let check = |before: u64, listed: u64, is_refused: bool| {
        let figures = Figures {
            before,
            listed,
            ..healthy()
        };
        let expected: &[_] = if is_refused { &["fewer-urls"] } else { &[] };
        check(&figures, expected);
        // It needs no memory.
        let unaware = Figures {
            last: Remembered::default(),
            ..figures
        };
        check_codes(&unaware, expected);
    };
    check(1_000, 1_000, false);
    check(1_000, 850, false);
    check(1_000, 800, false);
    check(1_000, 799, true);
    check(1_000, 1, true);
    check(99, 79, true);
    check(100, 80, false);
    check(40, 21, false);
    check(40, 20, true);
    check(20, 1, false);
    check(21, 1, true);
    check(0, 1, false);
    // Just below a share that has no end in millionths.
    check(3_000_000, 2_399_999, true);
    check(3_000_000, 2_400_000, false);
}

#[track_caller]
fn check_codes(figures: &Figures, expected: &[&str]) {
    check(figures, expected);
}

#[test]
fn a_site_that_mostly_fails_is_not_published() {
    let check = |failing: u64, before: u32, is_refused: bool| {
        let last = Remembered {
            failing: share(before),
            ..Remembered::default()
        };
        let figures = Figures {
            known: 1_000,
            failing,
            last,
            ..healthy()
        };
        check(&figures, if is_refused { &["failing"] } else { &[] });
    };
    check(0, 0, false);
    check(500, 0, false);
    check(501, 0, true);
    check(501, 500_000, true);
    // Most of it failed already when it was published: half of the rest may.
    check(800, 600_000, false);
    check(801, 600_000, true);
    check(1_000, 1_000_000, false);
    let first = Figures {
        before: 0,
        failing: 1_000,
        ..healthy()
    };
    check_codes(&first, &[]);
}

#[test]
fn pages_that_are_alike_now_are_not_published() {
    let kinds = [
        (Alike::Target, "one-redirect-target"),
        (Alike::Content, "one-content"),
        (Alike::Text, "one-text"),
        (Alike::Form, "login-form"),
        (Alike::Title, "one-title"),
    ];
    for (alike, code) in kinds {
        let with = |pages: u64, heard: u64, before: Option<u32>| {
            let groups = vec![group(alike, pages), group(alike, 2)];
            let known = before.map(|before| (group(alike, 1).name(), share(before)));
            let last = Remembered {
                alike: known.into_iter().collect(),
                ..Remembered::default()
            };
            Figures {
                old: OldSet {
                    pages: 1_000,
                    heard,
                    groups,
                    ..OldSet::default()
                },
                last,
                ..healthy()
            }
        };
        check(&with(300, 1_000, None), &[]);
        check(&with(301, 1_000, None), &[code]);
        // Of those that a crawl with a limit came to.
        check(&with(31, 100, None), &[code]);
        check(&with(4, 5, None), &[]);
        // It was so when it was published.
        check(&with(301, 1_000, Some(290_000)), &[code]);
        check(&with(420, 1_000, Some(400_000)), &[]);
        check(&with(580, 1_000, Some(400_000)), &[]);
        check(&with(581, 1_000, Some(400_000)), &[code]);
        check(&with(1_000, 1_000, Some(1_000_000)), &[]);
        // Fewer than there were, on a crawl that heard few of the others.
        check(&with(90, 100, Some(100_000)), &[]);
        check(&with(90, 100, Some(80_000)), &[code]);
    }
}

#[test]
fn a_few_pages_that_are_alike_are_an_edit_unless_they_are_all() {
    let with = |pages: u64, alike: u64| Figures {
        before: pages,
        listed: pages,
        old: OldSet {
            pages,
            heard: pages,
            groups: vec![group(Alike::Text, alike)],
            ..OldSet::default()
        },
        ..healthy()
    };
    check(&with(7, 4), &[]);
    check(&with(7, 5), &["one-text"]);
    check(&with(4, 4), &["one-text"]);
    check(&with(2, 2), &["one-text"]);
    // All but the start page.
    check(&with(5, 4), &["one-text"]);
    check(&with(5, 3), &[]);
    check(&with(3, 2), &["one-text"]);
    check(&with(2, 1), &[]);
    check(&with(1, 1), &[]);
}

#[test]
fn pages_that_were_alike_may_be_alike_in_another_way() {
    let with = |alike: Alike, key: u64, last: &Group| Figures {
        old: OldSet {
            pages: 1_000,
            heard: 1_000,
            groups: vec![Group {
                key,
                ..group(alike, 900)
            }],
            ..OldSet::default()
        },
        last: Remembered {
            alike: [(last.name(), share(900_000))].into(),
            ..Remembered::default()
        },
        ..healthy()
    };
    // One title or text, or the shell of an application, becomes another one with an edit of all pages.
    for alike in [Alike::Content, Alike::Text, Alike::Title] {
        let last = group(alike, 1);
        check(&with(alike, last.key, &last), &[]);
        check(&with(alike, last.key + 1, &last), &[]);
    }
    // Where pages redirect to, and that they ask for a password, is what it is.
    let last = group(Alike::Target, 1);
    check(&with(Alike::Target, last.key, &last), &[]);
    check(
        &with(Alike::Target, last.key + 1, &last),
        &["one-redirect-target"],
    );
    check(&with(Alike::Content, 7, &last), &["one-content"]);
}

#[test]
fn a_crawl_that_wants_for_time_only_is_told_apart() {
    let wants_time = |waiting: u64, unknown: u64, groups: Vec<Group>| {
        let figures = Figures {
            before: 100,
            listed: 20,
            old: OldSet {
                pages: 100,
                heard: 20,
                lost: [
                    (Reason::Queued, waiting),
                    (Reason::Gone, 80 - waiting - unknown),
                ]
                .into(),
                unknown,
                groups,
                ..OldSet::default()
            },
            ..healthy()
        };
        let config = GuardConfig::default();
        let refusal = judge(&figures, &config).unwrap();
        is_for_want_of_time(&refusal, &figures, &config)
    };
    assert!(wants_time(80, 0, Vec::new()));
    assert!(wants_time(20, 41, Vec::new()));
    assert!(!wants_time(20, 39, Vec::new()));
    assert!(!wants_time(0, 0, Vec::new()));
    assert!(!wants_time(80, 0, vec![group(Alike::Form, 15)]));
}

#[test]
fn a_set_that_grows_beyond_measure_is_held() {
    let with = |before: u64, listed: u64, is_complete: bool| Figures {
        before,
        listed,
        last: Remembered {
            is_complete,
            ..Remembered::default()
        },
        ..healthy()
    };
    check(&with(300, 1_500, true), &[]);
    check(&with(300, 1_501, true), &["many-more-urls"]);
    check(&with(10, 1_010, true), &[]);
    check(&with(10, 1_011, true), &["many-more-urls"]);
    // The last crawl ended at a limit: that is how it goes on.
    check(&with(300, 100_000, false), &[]);
    let unaware = Figures {
        last: Remembered::default(),
        ..with(300, 100_000, true)
    };
    check(&unaware, &[]);
}

#[test]
fn a_refusal_says_what_speaks_against_the_run() {
    let mut figures = Figures {
        before: 2_021,
        listed: 21,
        known: 2_100,
        failing: 1_600,
        ..healthy()
    };
    figures.old.heard = 2_000;
    figures.old.groups = vec![
        group(Alike::Text, 700),
        Group {
            example: "https://example.com/login".to_owned(),
            ..group(Alike::Target, 1_234)
        },
    ];
    figures.old.lost = [
        (Reason::Redirected, 1_234),
        (Reason::Noindex, 1),
        (Reason::Gone, 700),
        (Reason::Empty, 2),
    ]
    .into();
    figures.old.unknown = 66;
    let refusal = judge(&figures, &GuardConfig::default()).unwrap();
    assert_eq!(
        refusal.to_string(),
        "kept the old set of 2,021 URLs: 1,234 of 2,000 pages in it that answered now redirect to \
         https://example.com/login (a login wall, a parked domain, maintenance, \"not found\" with status 200?); \
         1,600 of 2,100 known URLs could not be fetched; this crawl would list only 21 (-99 %), without 1,234 \
         (redirects to another URL), 700 (answered 404 or 410), 66 (nothing led to them); publish anyway with --force"
    );
    figures = Figures {
        before: 10,
        listed: 5_000,
        ..healthy()
    };
    let refusal = judge(&figures, &GuardConfig::default()).unwrap();
    assert_eq!(
        refusal.to_string(),
        "kept the old set of 10 URLs: this crawl would list 5,000, more than 5 times as many: pages without end, or \
         pages that are not yours?; publish anyway with --force"
    );
}

#[test]
fn pages_that_answer_404_once_are_judged_as_if_they_were_gone() {
    let with = |listed: u64, gone_once: u64| Figures {
        listed,
        old: OldSet {
            gone_once,
            ..healthy().old
        },
        ..healthy()
    };
    check(&with(1_000, 200), &[]);
    check(&with(1_000, 201), &["gone"]);
    check(&with(900, 101), &["gone"]);
    check(&with(799, 500), &["fewer-urls"]);
    // They were when it was published.
    let mut looked_at = with(600, 0);
    looked_at.last.gone_once = 300;
    looked_at.old.gone_again = 310;
    check(&looked_at, &[]);
    looked_at.listed = 559;
    check(&looked_at, &["fewer-urls"]);
    // Others than those are missing.
    looked_at.listed = 600;
    looked_at.old.gone_again = 100;
    check(&looked_at, &["fewer-urls"]);
    // So few passed without that anybody looked.
    let few = |gone_once: u64| {
        let mut few = with(70, 0);
        few.before = 100;
        few.last.gone_once = gone_once;
        few.old.gone_again = gone_once;
        few
    };
    check(&few(19), &["fewer-urls"]);
    check(&few(20), &[]);
    let small = Figures {
        before: 15,
        listed: 15,
        ..with(15, 14)
    };
    check(&small, &[]);
    let refusal = judge(&with(1_000, 960), &GuardConfig::default()).unwrap();
    assert_eq!(
        refusal.to_string(),
        "kept the old set of 1,000 URLs: 960 pages in it answer 404 now; publish anyway with --force"
    );
}

#[test]
fn a_start_page_without_content_is_no_start_page() {
    let mut figures = healthy();
    figures.old.start = Some(Reason::Empty);
    check(&figures, &["start-page"]);
    let refusal = judge(&figures, &GuardConfig::default()).unwrap();
    assert_eq!(
        refusal.to_string(),
        "kept the old set of 1,000 URLs: the start page: answered without content; publish anyway with --force"
    );
}
