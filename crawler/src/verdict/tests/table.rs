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
    let new = |facts| repeating(facts, Repeat::NothingNew);
    let found = |facts| repeating(facts, Repeat::NotFound);
    let other = Repeat::DuplicateOf(key("/d/other"));
    vec![
        (new(page()), R::NothingNew, All),
        (found(page()), R::NotFoundPage, TargetOnly),
        (repeating(page(), other), R::DuplicateOf, All),
        (new(noindex(page())), R::Noindex, All),
        (found(noindex(page())), R::Noindex, TargetOnly),
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
    let error = "refused".to_owned();
    let refused = Outcome::NoAnswer { error };
    let rows = passed_on.into_iter().map(row);
    rows.chain([("/d/p", refused, R::NetworkError, Nothing)])
        .collect()
}

fn by_rules() -> Vec<Row> {
    let by_rule = Outcome::NotFetched(R::ExcludedByRule);
    let not_read = Outcome::NotFetched(R::ListOnly);
    let follow = |facts, reason, follow| ("/d/follow", answered(facts), reason, follow);
    let elsewhere = canonical(page(), "/d/q");
    let moved = redirect(301, "/d/q");
    vec![
        ("/d/excluded", by_rule.clone(), R::ExcludedByRule, Nothing),
        ("/d/list", not_read.clone(), R::ListOnly, Nothing),
        ("/d/p", given(), R::FromInput, Nothing),
        ("/d/follow", given(), R::FollowOnly, Nothing),
        ("/d/excluded", given(), R::ExcludedByRule, Nothing),
        // The rules changed since.
        ("/d/excluded", answered(page()), R::ExcludedByRule, Nothing),
        ("/d/list", answered(status(404)), R::ListOnly, Nothing),
        ("/elsewhere", answered(page()), R::ExcludedByRule, Nothing),
        ("/d/p", by_rule, R::Queued, Nothing),
        ("/d/p", not_read, R::Queued, Nothing),
        // Follow-only pages are judged by status, body and immediate refresh first.
        follow(page(), R::FollowOnly, All),
        follow(noindex(page()), R::FollowOnly, All),
        follow(nofollow(page()), R::FollowOnly, TargetOnly),
        follow(elsewhere, R::FollowOnly, All),
        follow(page_rule(page()), R::FollowOnly, All),
        follow(status(404), R::Gone, Nothing),
        follow(moved, R::Redirected, TargetOnly),
        follow(refresh(0, "/d/q"), R::RefreshRedirect, TargetOnly),
    ]
}

type AnswerRow = (PageFacts, Reason, Follow);

fn by_status() -> Vec<AnswerRow> {
    let bare = |codes: &[u16], reason| -> Vec<AnswerRow> {
        let rows = codes.iter();
        rows.map(|&code| (status(code), reason, Nothing)).collect()
    };
    let with_page = |code, reason| {
        let facts = PageFacts {
            status: code,
            ..page()
        };
        (facts, reason, Nothing)
    };
    // With a body or not, which is not read: the answer counts.
    let with_pages = [201, 202, 203, 206, 226].map(|code| with_page(code, R::OtherSuccess));
    [
        bare(&[500, 503, 429, 600, 999, 0], R::ServerError),
        bare(&[404, 410], R::Gone),
        bare(&[400, 401, 403, 408, 418, 451], R::ClientError),
        bare(&[101, 204, 205, 304], R::Empty),
        bare(&[201], R::OtherSuccess),
        with_pages.into(),
        vec![with_page(404, R::Gone)],
    ]
    .concat()
}

fn by_location() -> Vec<AnswerRow> {
    let mut rows = vec![
        (redirect(301, "/d/excluded"), R::Redirected, TargetOnly),
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
    ];
    let outside = ["/d", "/elsewhere", "http://h/d/p", "https://other/d/p"];
    let away = |target| (redirect(301, target), R::RedirectedOutOfScope, Nothing);
    rows.extend(outside.map(away));
    let moved = |code| (redirect(code, "/d/q"), R::Redirected, TargetOnly);
    rows.extend([300, 301, 302, 303, 307, 308].map(moved));
    let bad = |code| (redirect(code, "/d/q"), R::BadRedirect, Nothing);
    rows.extend([305, 306, 399].map(bad));
    rows
}

fn by_body() -> Vec<AnswerRow> {
    let large = |facts| ending(BodyEnd::TooLarge, facts);
    let short = |facts| ending(BodyEnd::CutShort, facts);
    let garbled = |facts| ending(BodyEnd::Undecodable("br, gzip".to_owned()), facts);
    let away = canonical(document(), "/d/q");
    let other = with(|facts| facts.kind = BodyKind::Other);
    vec![
        (with(|facts| facts.body_bytes = 0), R::Empty, Nothing),
        (large(page()), R::TooLarge, All),
        (large(noindex(nofollow(page()))), R::TooLarge, TargetOnly),
        (short(page()), R::CutShort, All),
        (short(noindex(page())), R::CutShort, All),
        (short(refresh(0, "/d/q")), R::CutShort, All),
        (garbled(page()), R::Undecodable, Nothing),
        (garbled(status(200)), R::Undecodable, Nothing),
        (ending(BodyEnd::Skipped, page()), R::Unparsable, Nothing),
        // Of a part of a page nothing counts but its links.
        (cut(page()), R::Unparsable, All),
        (cut(noindex(page())), R::Unparsable, All),
        (cut(nofollow(page())), R::Unparsable, TargetOnly),
        (cut(canonical(page(), "/d/q")), R::Unparsable, All),
        (cut(refresh(0, "/d/q")), R::Unparsable, All),
        (short(cut(page())), R::CutShort, All),
        (status(200), R::NotAPage, Nothing),
        (other, R::NotAPage, Nothing),
        (document(), R::Listed, TargetOnly),
        (ending(BodyEnd::Complete, document()), R::Empty, Nothing),
        (noindex(document()), R::Noindex, TargetOnly),
        (away, R::CanonicalElsewhere, TargetOnly),
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
    let hidden = noindex(nofollow(page()));
    let both = |target: &str| noindex(canonical(page(), target));
    let gone = canonical(unavailable_after(NOW), "/d/q");
    let until = |second: u32| unavailable_after(&format!("2026-05-01T12:00:{second:02}Z"));
    let before = unavailable_after("2026-05-01T11:59:59Z");
    vec![
        (page_rule(page()), R::PageRule, All),
        (page_rule(hidden.clone()), R::PageRule, TargetOnly),
        (noindex(page()), R::Noindex, All),
        (hidden, R::Noindex, TargetOnly),
        (nofollow(page()), R::Listed, TargetOnly),
        (both("/d/q"), R::NoindexAndCanonical, All),
        (both("https://other/"), R::NoindexAndCanonical, All),
        (both("/d/p"), R::Noindex, All),
        (before, R::UnavailableAfter, All),
        (until(0), R::UnavailableAfter, All),
        (until(1), R::Listed, All),
        (gone, R::UnavailableAfter, All),
    ]
}

fn by_canonical() -> Vec<AnswerRow> {
    let names = |target: &str| canonical(page(), target);
    let unfollowed = nofollow(names("/d/q"));
    let conflicting = with(|facts| facts.canonical = Canonical::Conflicting);
    let own = with(|facts| facts.canonical = Canonical::Itself);
    let bad = with(|facts| facts.warnings.bad_canonical = true);
    vec![
        (page(), R::Listed, All),
        (own, R::Listed, All),
        (conflicting, R::Listed, All),
        (names("/d/p"), R::Listed, All),
        (names("/d/q"), R::CanonicalElsewhere, All),
        (names("/d/excluded"), R::CanonicalElsewhere, All),
        (unfollowed, R::CanonicalElsewhere, TargetOnly),
        (names("/elsewhere"), R::CanonicalForeign, All),
        (names("http://h/d/p"), R::CanonicalForeign, All),
        (names("https://other/d/p"), R::CanonicalForeign, All),
        // Warnings decide nothing.
        (bad, R::Listed, All),
        (with(|facts| facts.warnings.soft_404 = true), R::Listed, All),
    ]
}

#[test]
fn the_table() {
    for (path, outcome, reason, follow) in rows() {
        let verdict = judge_at(path, &outcome, Policy::default());
        let found = (verdict.reason, verdict.follow);
        assert_eq!(found, (reason, follow), "{path} {outcome:?}");
    }
}
