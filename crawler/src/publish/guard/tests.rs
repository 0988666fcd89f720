use super::*;

/// A run over a site of 1,000 pages that is as it was.
fn healthy() -> Figures {
    Figures {
        before: 1_000,
        listed: 1_000,
        known: 1_200,
        failing: 0,
        is_complete: true,
        young: Young::default(),
        old: OldSet {
            pages: 1_000,
            heard: 1_000,
            ..OldSet::default()
        },
        last: Remembered {
            is_complete: true,
            looked_at: 1_000,
            ..Remembered::default()
        },
    }
}

fn group(sign: Sign, pages: u64) -> Group {
    Group {
        sign,
        key: 7,
        pages,
        fresh: pages,
        example: "https://example.com/x".to_owned(),
    }
}

/// Every sign with the word of the objection.
const SIGNS: [(Sign, &str); 13] = [
    (Sign::Target, "one-redirect-target"),
    (Sign::Moved, "one-redirect-target"),
    (Sign::Each, "one-redirect-target"),
    (Sign::Content, "one-content"),
    (Sign::Words, "one-text"),
    (Sign::Replaced, "one-text"),
    (Sign::Text, "one-text"),
    (Sign::FormTitle, "login-form"),
    (Sign::FormHeading, "login-form"),
    (Sign::FormText, "login-form"),
    (Sign::FormShort, "login-form"),
    (Sign::Heading, "one-title"),
    (Sign::Opening, "one-title"),
];

/// All that `sign` may be remembered by.
fn names(sign: Sign) -> Vec<String> {
    let usual = sign.usual().iter().map(|usual| usual.word().to_owned());
    usual.chain(group(sign, 1).name()).collect()
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
    for (sign, code) in SIGNS {
        let with = |pages: u64, heard: u64, before: Option<(&str, u32)>| {
            let known = before.map(|(name, before)| (name.to_owned(), share(before)));
            let last = Remembered {
                alike: known.into_iter().collect(),
                ..healthy().last
            };
            Figures {
                old: OldSet {
                    pages: 1_000,
                    heard,
                    groups: vec![group(sign, pages), group(sign, 2)],
                    ..OldSet::default()
                },
                last,
                ..healthy()
            }
        };
        check(&with(300, 1_000, None), &[]);
        check(&with(301, 1_000, None), &[code]);
        // Of those that a crawl came to which failed to get the others.
        check(&with(31, 100, None), &[code]);
        check(&with(4, 5, None), &[]);
        // One that is not over comes to more.
        let mut open = with(300, 310, None);
        open.is_complete = false;
        check(&open, &[]);
        open.old.groups[0] = group(sign, 301);
        check(&open, &[code]);
        // It was so when it was published, in any of the ways that make it usual.
        for name in names(sign) {
            let with = |pages, heard, before| with(pages, heard, Some((&name, before)));
            check(&with(301, 1_000, 290_000), &[code]);
            check(&with(420, 1_000, 400_000), &[]);
            check(&with(580, 1_000, 400_000), &[]);
            check(&with(581, 1_000, 400_000), &[code]);
            check(&with(1_000, 1_000, 1_000_000), &[]);
            // Fewer than there were, on a crawl that heard few of the others.
            check(&with(90, 100, 100_000), &[]);
            check(&with(90, 100, 80_000), &[code]);
        }
        check(
            &with(301, 1_000, Some(("something else", 400_000))),
            &[code],
        );
    }
}

#[test]
fn a_sign_is_seen_when_it_spreads() {
    for (sign, code) in SIGNS {
        let with = |pages: u64, fresh: u64| Figures {
            old: OldSet {
                groups: vec![Group {
                    fresh,
                    ..group(sign, pages)
                }],
                ..healthy().old
            },
            ..healthy()
        };
        // Whatever a site has been like, and a few pages more.
        check(&with(1_000, 0), &[]);
        check(&with(310, 100), &[]);
        // A wall that grew night by night.
        check(&with(310, 101), &[code]);
        check(&with(300, 101), &[]);
    }
}

#[test]
fn of_a_site_that_nobody_looked_at_only_what_is_certain_counts() {
    for (sign, code) in SIGNS {
        let figures = Figures {
            old: OldSet {
                groups: vec![group(sign, 900)],
                ..healthy().old
            },
            last: Remembered::default(),
            ..healthy()
        };
        let is_certain =
            matches!(code, "one-redirect-target" | "one-content") || sign == Sign::Text;
        let codes = [code];
        check(&figures, if is_certain { &codes } else { &[] });
    }
}

#[test]
fn a_few_pages_that_are_alike_are_an_edit_unless_they_are_all() {
    let of = |sign: Sign, pages: u64, alike: u64| Figures {
        before: pages,
        listed: pages,
        old: OldSet {
            pages,
            heard: pages,
            groups: vec![group(sign, alike)],
            ..OldSet::default()
        },
        ..healthy()
    };
    let with = |pages, alike| of(Sign::Text, pages, alike);
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
    // They got one name.
    for sign in [Sign::Heading, Sign::Opening] {
        check(&of(sign, 4, 4), &[]);
        check(&of(sign, 5, 4), &[]);
        check(&of(sign, 5, 5), &["one-title"]);
    }
    // Two pages that become one for good.
    check(&of(Sign::Moved, 3, 2), &[]);
    check(&of(Sign::Target, 3, 2), &["one-redirect-target"]);
    check(&of(Sign::Moved, 4, 3), &["one-redirect-target"]);
    check(&of(Sign::Moved, 5, 4), &["one-redirect-target"]);
    check(&of(Sign::Moved, 6, 5), &["one-redirect-target"]);
}

#[test]
fn pages_that_were_alike_may_be_alike_in_another_way() {
    for (sign, code) in SIGNS {
        let with = |key: u64| {
            let known = names(sign).pop().map(|name| (name, share(900_000)));
            Figures {
                old: OldSet {
                    groups: vec![Group {
                        key,
                        ..group(sign, 900)
                    }],
                    ..healthy().old
                },
                last: Remembered {
                    alike: known.into_iter().collect(),
                    ..healthy().last
                },
                ..healthy()
            }
        };
        check(&with(7), &[]);
        // One title or text, or the shell of an application, becomes another one with an edit of all pages. Where pages
        // redirect to is what it is.
        let redirects = sign.redirects().is_some();
        let codes = [code];
        check(&with(8), if redirects { &codes } else { &[] });
    }
}

#[test]
fn a_page_that_stood_there_twice_is_lost_once() {
    let with = |listed: u64, twins: u64| Figures {
        before: 62,
        listed,
        old: OldSet {
            twins,
            ..healthy().old
        },
        ..healthy()
    };
    check(&with(41, 0), &["fewer-urls"]);
    check(&with(41, 21), &[]);
    // Others are gone.
    check(&with(21, 21), &["fewer-urls"]);
}

#[test]
fn what_crawls_with_a_limit_take_out_piece_by_piece_is_counted_together() {
    let after = |whole: u64, is_complete: bool| Figures {
        before: 90,
        listed: 75,
        is_complete,
        last: Remembered {
            is_complete: false,
            whole,
            ..healthy().last
        },
        ..healthy()
    };
    check(&after(90, false), &[]);
    check(&after(100, false), &["fewer-urls"]);
    let refusal = judge(&after(100, false), &GuardConfig::default()).unwrap();
    let said = "would list only 75 (-25 %) of the 100 before crawls that ended at a limit";
    assert!(refusal.to_string().contains(said), "{refusal}");
    // A crawl of all pages has seen what is there.
    check(&after(100, true), &[]);
}

/// What one start heard of the pages of the set.
fn heard(sign: Sign, heard: u64, alike: u64) -> OldSet {
    OldSet {
        pages: 60,
        heard,
        groups: vec![group(sign, alike)],
        ..OldSet::default()
    }
}

fn doubts(old: &OldSet, last: &Remembered) -> bool {
    let group = &old.groups[0];
    assert!(!is_doubtful(group, old, last, &GuardConfig::OFF), "{old:?}");
    is_doubtful(group, old, last, &GuardConfig::default())
}

#[test]
fn of_few_pages_that_are_alike_nothing_is_believed_yet() {
    for (old, expected) in [
        (heard(Sign::Target, 5, 4), true),
        (heard(Sign::Each, 5, 2), true),
        (heard(Sign::Moved, 5, 2), true),
        (heard(Sign::Target, 5, 1), false),
        (heard(Sign::Target, 20, 6), false),
        (heard(Sign::Target, 20, 7), true),
        (heard(Sign::Text, 5, 4), true),
        (heard(Sign::Text, 5, 3), true),
        (heard(Sign::Text, 5, 2), false),
        (heard(Sign::Text, 20, 6), false),
    ] {
        assert_eq!(doubts(&old, &healthy().last), expected, "{old:?}");
    }
}

#[test]
fn what_was_usual_is_not_doubted_but_who_redirects_did_not_before() {
    let with = |sign: Sign, usual: u64| {
        let names = names(sign).into_iter();
        let last = Remembered {
            alike: names.map(|name| (name, Share::of(usual, 60))).collect(),
            ..healthy().last
        };
        doubts(&heard(sign, 5, 3), &last)
    };
    for (sign, _) in SIGNS {
        let redirects = sign.redirects().is_some();
        assert!(with(sign, 2), "{sign:?}");
        assert_eq!(with(sign, 4), redirects, "{sign:?}");
    }
}

#[test]
fn redirects_of_which_the_end_is_not_known_do_not_hide_the_others() {
    let with = |sign: Sign, open: u64| {
        let old = OldSet {
            open,
            ..heard(sign, 20, 3)
        };
        doubts(&old, &healthy().last)
    };
    assert!(!with(Sign::Each, 10));
    assert!(with(Sign::Each, 11));
    assert!(!with(Sign::Target, 11));
}

#[test]
fn new_pages_that_are_alike_are_doubted() {
    let with = |sign: Sign, alike: u64, pages: u64| Young {
        pages,
        groups: vec![group(sign, alike)],
        is_first: true,
    };
    let last = healthy().last;
    let is_doubted = |young: &Young, last: &Remembered| {
        let group = &young.groups[0];
        is_doubtful_of_new(group, young, last, &GuardConfig::default())
    };
    for sign in [Sign::Content, Sign::Text, Sign::FormShort] {
        assert!(is_doubted(&with(sign, 3, 9), &last));
        assert!(!is_doubted(&with(sign, 3, 10), &last));
        assert!(!is_doubted(&with(sign, 2, 2), &last));
    }
    // Sections have one title and heading, or say the same but for numbers.
    for sign in [Sign::Heading, Sign::Opening, Sign::Words] {
        assert!(is_doubted(&with(sign, 10, 10), &last));
        assert!(!is_doubted(&with(sign, 9, 10), &last));
    }
    let usual = Remembered {
        alike: [("heading".to_owned(), share(300_001))].into(),
        ..healthy().last
    };
    assert!(!is_doubted(&with(Sign::Heading, 10, 10), &usual));
    let mut stale = with(Sign::Text, 9, 10);
    stale.groups[0].fresh = 1;
    assert!(!is_doubted(&stale, &last));
}

#[test]
fn a_first_crawl_that_became_a_wall_is_refused_at_its_end() {
    let with = |sign: Sign, alike: u64, heard: u64| {
        let mut figures = healthy();
        figures.old.heard = heard;
        figures.young = Young {
            pages: 50,
            groups: vec![group(sign, alike)],
            is_first: true,
        };
        figures
    };
    check(&with(Sign::Text, 50, 10), &["one-text"]);
    check(&with(Sign::Content, 31, 50), &["one-content"]);
    check(&with(Sign::Content, 30, 50), &[]);
    check(&with(Sign::Heading, 50, 10), &["one-title"]);
    check(&with(Sign::Heading, 45, 10), &[]);
    let mut later = with(Sign::Text, 50, 10);
    later.young.is_first = false;
    check(&later, &[]);
    let mut open = with(Sign::Text, 50, 10);
    open.is_complete = false;
    check(&open, &[]);
    let refusal = judge(&with(Sign::Text, 50, 10), &GuardConfig::default()).unwrap();
    assert!(
        refusal
            .to_string()
            .contains("50 of 50 pages that would be new say nearly the same"),
        "{refusal}"
    );
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
    assert!(!wants_time(80, 0, vec![group(Sign::FormTitle, 15)]));
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
        group(Sign::Words, 700),
        Group {
            example: "https://example.com/login".to_owned(),
            ..group(Sign::Target, 1_234)
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
         (redirects to another URL), 700 (answered 404 or 410), 66 (nothing led to them)"
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
         pages that are not yours?"
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
        "kept the old set of 1,000 URLs: 960 pages in it answer 404 now"
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
        "kept the old set of 1,000 URLs: the start page: answered without content"
    );
}
