//! The decision table, row by row.

use super::*;

type Row = (&'static str, Outcome, Reason, Follow);

/// The table: each row with its page, what it answered, and what follows from that.
pub(super) fn rows() -> Vec<Row> {
    let answers = [
        by_status(),
        by_location(),
        by_body(),
        by_refresh(),
        by_directives(),
        by_canonical(),
        by_repeat(),
    ];
    let answers = answers.into_iter().flatten();
    let rows = answers.map(|(facts, reason, follow)| ("/d/p", answered(facts), reason, follow));
    rows.chain(without_answer()).chain(by_rules()).collect()
}

/// The repetition of a page counts after the statements of the page.
fn by_repeat() -> Vec<(PageFacts, Reason, Follow)> {
    let repeating = |facts: PageFacts, repeat| PageFacts {
        repeat: Some(repeat),
        ..facts
    };
    let other = Repeat::DuplicateOf(key("/d/other"));
    vec![
        (repeating(page(), Repeat::NothingNew), R::NothingNew, All),
        (
            repeating(page(), Repeat::NotFound),
            R::NotFoundPage,
            TargetOnly,
        ),
        (repeating(page(), other), R::DuplicateOf, All),
        (
            repeating(noindex(page()), Repeat::NothingNew),
            R::Noindex,
            All,
        ),
        (
            repeating(noindex(page()), Repeat::NotFound),
            R::Noindex,
            TargetOnly,
        ),
    ]
}

fn without_answer() -> Vec<Row> {
    let passed_on = [
        R::RobotsDisallowed,
        R::NetworkError,
        R::TooDeep,
        R::InternalError,
        R::Unparsable,
        R::PatternClosed,
        R::DuplicateOf,
    ];
    let row = |reason| ("/d/p", Outcome::NotFetched(reason), reason, Nothing);
    let refused = Outcome::NoAnswer {
        error: "refused".to_owned(),
    };
    passed_on
        .into_iter()
        .map(row)
        .chain([("/d/p", refused, R::NetworkError, Nothing)])
        .collect()
}

fn by_rules() -> Vec<Row> {
    vec![
        (
            "/d/excluded",
            Outcome::NotFetched(R::ExcludedByRule),
            R::ExcludedByRule,
            Nothing,
        ),
        (
            "/d/list",
            Outcome::NotFetched(R::ListOnly),
            R::ListOnly,
            Nothing,
        ),
        ("/d/p", given(), R::FromInput, Nothing),
        ("/d/follow", given(), R::FollowOnly, Nothing),
        ("/d/excluded", given(), R::ExcludedByRule, Nothing),
        // The rules changed since.
        ("/d/excluded", answered(page()), R::ExcludedByRule, Nothing),
        ("/d/list", answered(status(404)), R::ListOnly, Nothing),
        ("/elsewhere", answered(page()), R::ExcludedByRule, Nothing),
        (
            "/d/p",
            Outcome::NotFetched(R::ExcludedByRule),
            R::Queued,
            Nothing,
        ),
        ("/d/p", Outcome::NotFetched(R::ListOnly), R::Queued, Nothing),
        // Follow-only pages are judged by status, body and immediate refresh first.
        ("/d/follow", answered(page()), R::FollowOnly, All),
        ("/d/follow", answered(noindex(page())), R::FollowOnly, All),
        (
            "/d/follow",
            answered(nofollow(page())),
            R::FollowOnly,
            TargetOnly,
        ),
        (
            "/d/follow",
            answered(canonical(page(), "/d/q")),
            R::FollowOnly,
            All,
        ),
        ("/d/follow", answered(page_rule(page())), R::FollowOnly, All),
        ("/d/follow", answered(status(404)), R::Gone, Nothing),
        (
            "/d/follow",
            answered(redirect(301, "/d/q")),
            R::Redirected,
            TargetOnly,
        ),
        (
            "/d/follow",
            answered(refresh(0, "/d/q")),
            R::RefreshRedirect,
            TargetOnly,
        ),
    ]
}

type AnswerRow = (PageFacts, Reason, Follow);

fn by_status() -> Vec<AnswerRow> {
    let bare = |code, reason| (status(code), reason, Nothing);
    let with_page = |code, reason| {
        (
            PageFacts {
                status: code,
                ..page()
            },
            reason,
            Nothing,
        )
    };
    vec![
        bare(500, R::ServerError),
        bare(503, R::ServerError),
        bare(429, R::ServerError),
        bare(600, R::ServerError),
        bare(999, R::ServerError),
        bare(0, R::ServerError),
        bare(404, R::Gone),
        bare(410, R::Gone),
        bare(400, R::ClientError),
        bare(401, R::ClientError),
        bare(403, R::ClientError),
        bare(408, R::ClientError),
        bare(418, R::ClientError),
        bare(451, R::ClientError),
        with_page(404, R::Gone),
        bare(101, R::Empty),
        bare(204, R::Empty),
        bare(205, R::Empty),
        bare(304, R::Empty),
        // With a body or not, which is not read: the answer counts.
        bare(201, R::OtherSuccess),
        with_page(201, R::OtherSuccess),
        with_page(202, R::OtherSuccess),
        with_page(203, R::OtherSuccess),
        with_page(206, R::OtherSuccess),
        with_page(226, R::OtherSuccess),
    ]
}

fn by_location() -> Vec<AnswerRow> {
    vec![
        (redirect(300, "/d/q"), R::Redirected, TargetOnly),
        (redirect(301, "/d/q"), R::Redirected, TargetOnly),
        (redirect(302, "/d/q"), R::Redirected, TargetOnly),
        (redirect(303, "/d/q"), R::Redirected, TargetOnly),
        (redirect(307, "/d/q"), R::Redirected, TargetOnly),
        (redirect(308, "/d/q"), R::Redirected, TargetOnly),
        (redirect(301, "/d/excluded"), R::Redirected, TargetOnly),
        (redirect(301, "/d"), R::RedirectedOutOfScope, Nothing),
        (
            redirect(301, "/elsewhere"),
            R::RedirectedOutOfScope,
            Nothing,
        ),
        (
            redirect(301, "http://h/d/p"),
            R::RedirectedOutOfScope,
            Nothing,
        ),
        (
            redirect(301, "https://other/d/p"),
            R::RedirectedOutOfScope,
            Nothing,
        ),
        (redirect(302, "/d/p"), R::RedirectLoop, Nothing),
        (with_cookie(redirect(302, "/d/p")), R::NeedsCookie, Nothing),
        (with_cookie(status(400)), R::NeedsCookie, Nothing),
        (with_cookie(status(403)), R::NeedsCookie, Nothing),
        (with_cookie(status(404)), R::Gone, Nothing),
        (challenge(403), R::Blocked, Nothing),
        (challenge(503), R::Blocked, Nothing),
        (with_cookie(page()), R::Listed, All),
        (status(300), R::BadRedirect, Nothing),
        (status(301), R::BadRedirect, Nothing),
        (redirect(305, "/d/q"), R::BadRedirect, Nothing),
        (redirect(306, "/d/q"), R::BadRedirect, Nothing),
        (redirect(399, "/d/q"), R::BadRedirect, Nothing),
    ]
}

fn by_body() -> Vec<AnswerRow> {
    let undecodable = || BodyEnd::Undecodable("br, gzip".to_owned());
    vec![
        (with(|facts| facts.body_bytes = 0), R::Empty, Nothing),
        (ending(BodyEnd::TooLarge, page()), R::TooLarge, All),
        (
            ending(BodyEnd::TooLarge, noindex(nofollow(page()))),
            R::TooLarge,
            TargetOnly,
        ),
        (ending(BodyEnd::CutShort, page()), R::CutShort, All),
        (ending(BodyEnd::CutShort, noindex(page())), R::CutShort, All),
        (
            ending(BodyEnd::CutShort, refresh(0, "/d/q")),
            R::CutShort,
            All,
        ),
        (ending(undecodable(), page()), R::Undecodable, Nothing),
        (ending(undecodable(), status(200)), R::Undecodable, Nothing),
        (ending(BodyEnd::Skipped, page()), R::Unparsable, Nothing),
        // Of a part of a page nothing counts but its links.
        (cut(page()), R::Unparsable, All),
        (cut(noindex(page())), R::Unparsable, All),
        (cut(nofollow(page())), R::Unparsable, TargetOnly),
        (cut(canonical(page(), "/d/q")), R::Unparsable, All),
        (cut(refresh(0, "/d/q")), R::Unparsable, All),
        (ending(BodyEnd::CutShort, cut(page())), R::CutShort, All),
        (status(200), R::NotAPage, Nothing),
        (
            PageFacts {
                kind: BodyKind::Other,
                ..page()
            },
            R::NotAPage,
            Nothing,
        ),
        (document(), R::Listed, TargetOnly),
        (ending(BodyEnd::Complete, document()), R::Empty, Nothing),
        (noindex(document()), R::Noindex, TargetOnly),
        (
            canonical(document(), "/d/q"),
            R::CanonicalElsewhere,
            TargetOnly,
        ),
    ]
}

fn by_refresh() -> Vec<AnswerRow> {
    vec![
        (refresh(0, "/d/q"), R::RefreshRedirect, TargetOnly),
        (refresh(0, "https://other/"), R::RefreshRedirect, TargetOnly),
        (noindex(refresh(0, "/d/q")), R::RefreshRedirect, TargetOnly),
        (refresh(5, "/d/q"), R::Listed, All),
        (nofollow(refresh(5, "/d/q")), R::Listed, TargetOnly),
        (refresh(0, "/d/p"), R::Listed, All),
        (refresh(5, "/d/p"), R::Listed, All),
    ]
}

fn by_directives() -> Vec<AnswerRow> {
    vec![
        (page_rule(page()), R::PageRule, All),
        (
            page_rule(noindex(nofollow(page()))),
            R::PageRule,
            TargetOnly,
        ),
        (noindex(page()), R::Noindex, All),
        (noindex(nofollow(page())), R::Noindex, TargetOnly),
        (nofollow(page()), R::Listed, TargetOnly),
        (
            noindex(canonical(page(), "/d/q")),
            R::NoindexAndCanonical,
            All,
        ),
        (
            noindex(canonical(page(), "https://other/")),
            R::NoindexAndCanonical,
            All,
        ),
        (noindex(canonical(page(), "/d/p")), R::Noindex, All),
        (
            unavailable_after("2026-05-01T11:59:59Z"),
            R::UnavailableAfter,
            All,
        ),
        (unavailable_after(NOW), R::UnavailableAfter, All),
        (unavailable_after("2026-05-01T12:00:01Z"), R::Listed, All),
        (
            canonical(unavailable_after(NOW), "/d/q"),
            R::UnavailableAfter,
            All,
        ),
    ]
}

fn by_canonical() -> Vec<AnswerRow> {
    vec![
        (page(), R::Listed, All),
        (
            with(|facts| facts.canonical = Canonical::Itself),
            R::Listed,
            All,
        ),
        (
            with(|facts| facts.canonical = Canonical::Conflicting),
            R::Listed,
            All,
        ),
        (canonical(page(), "/d/p"), R::Listed, All),
        (canonical(page(), "/d/q"), R::CanonicalElsewhere, All),
        (canonical(page(), "/d/excluded"), R::CanonicalElsewhere, All),
        (
            canonical(nofollow(page()), "/d/q"),
            R::CanonicalElsewhere,
            TargetOnly,
        ),
        (canonical(page(), "/elsewhere"), R::CanonicalForeign, All),
        (canonical(page(), "http://h/d/p"), R::CanonicalForeign, All),
        (
            canonical(page(), "https://other/d/p"),
            R::CanonicalForeign,
            All,
        ),
        // Warnings decide nothing.
        (
            with(|facts| facts.warnings.bad_canonical = true),
            R::Listed,
            All,
        ),
        (with(|facts| facts.warnings.soft_404 = true), R::Listed, All),
    ]
}

#[test]
fn the_table() {
    for (path, outcome, reason, follow) in rows() {
        let verdict = judge_at(path, &outcome, Policy::default());
        assert_eq!(
            (verdict.reason, verdict.follow),
            (reason, follow),
            "{path} {outcome:?}"
        );
    }
}
