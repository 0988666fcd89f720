//! The keep rules: a listed page leaves the set only on evidence that comes from the page itself or from the owner of the site. A
//! server that fails is not evidence.

use std::time::Duration;

use jiff::Timestamp;

use crate::page::{Evidence, Kept, Outcome, Reason};

/// Time between two answers 404 that together prove a page gone. A deployment, or a cache that is
/// warming up, is over by then.
pub const GONE_AGAIN_AFTER: Duration = Duration::from_secs(60 * 60);

/// A page that stays listed although the last attempt did not list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stays {
    /// What became of the last attempt.
    pub kept: Kept,
    /// When the first attempt since the last good answer failed.
    pub failing_since: Timestamp,
    /// When it answered 404 first since then.
    pub gone_since: Option<Timestamp>,
}

/// Why a page that is listed stays so although the last attempt came to `reason`; `None` when it leaves the set.
/// `failing_since` and `gone_since` are those of its page row ([`PageRecord`](crate::page::PageRecord)); `keep_failing` is the time for which a
/// page that only fails stays; 0: it does not. `now` is when the attempt ended.
pub fn stays(
    outcome: &Outcome,
    reason: Reason,
    failing_since: Option<Timestamp>,
    gone_since: Option<Timestamp>,
    keep_failing: Duration,
    now: Timestamp,
) -> Option<Stays> {
    // A clock that was put back must not keep a page for ever.
    let known = |time: Option<Timestamp>| time.map(|time| time.min(now));
    let gone_since = known(gone_since);
    let stays = Stays {
        kept: Kept {
            reason,
            error: error_of(outcome, reason),
        },
        failing_since: known(failing_since).unwrap_or(now),
        gone_since,
    };
    match evidence(reason, status_of(outcome)) {
        Evidence::Sure => None,
        Evidence::IfConfirmed => {
            let is_second =
                gone_since.is_some_and(|first| has_passed(GONE_AGAIN_AFTER, first, now));
            (!is_second).then(|| Stays {
                gone_since: gone_since.or(Some(now)),
                ..stays
            })
        }
        Evidence::Nothing => (!stays.expires(keep_failing, now)).then_some(stays),
    }
}

impl Stays {
    /// Returns whether the time is over for which the page stays listed for this reason.
    pub fn expires(&self, keep_failing: Duration, now: Timestamp) -> bool {
        self.kept.reason != Reason::Gone
            && (keep_failing.is_zero() || has_passed(keep_failing, self.failing_since, now))
    }
}

/// Returns whether an attempt that came to this is not evidence of whether the page is to be listed.
pub(super) fn is_not_evidence(outcome: Option<&Outcome>, reason: Reason) -> bool {
    evidence(reason, outcome.and_then(status_of)) == Evidence::Nothing
}

fn has_passed(time: Duration, since: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(since)).is_ok_and(|passed| passed >= time)
}

fn status_of(outcome: &Outcome) -> Option<u16> {
    match outcome {
        Outcome::Answered(facts) => Some(facts.status),
        Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Supplied(_) => None,
    }
}

fn error_of(outcome: &Outcome, reason: Reason) -> String {
    match outcome {
        Outcome::NoAnswer { error } => error.clone(),
        Outcome::Answered(facts) if facts.status == 200 && reason == Reason::Empty => {
            "the answer is empty".to_owned()
        }
        Outcome::Answered(facts) if facts.status == 200 && reason == Reason::NotAPage => {
            "the answer is not a page".to_owned()
        }
        Outcome::Answered(facts) if facts.status != 200 => format!("status {}", facts.status),
        Outcome::Answered(_) => "the body could not be read to its end".to_owned(),
        Outcome::NotFetched(reason) => reason.text().to_owned(),
        Outcome::Supplied(_) => String::new(),
    }
}

/// The evidence of an attempt that came to `reason`.
fn evidence(reason: Reason, status: Option<u16>) -> Evidence {
    match (reason, status) {
        // 410: the page is gone for good (RFC 9110 section 15.5.11). 451: somebody had it taken down (RFC 7725).
        (Reason::Gone, Some(410)) | (Reason::ClientError, Some(451)) => Evidence::Sure,
        (_, _) => reason.evidence(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PageFacts;

    const DAY: u64 = 24 * 60 * 60;
    const MONTH: Duration = Duration::from_secs(30 * DAY);

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn noon() -> Timestamp {
        time("2026-03-01T12:00:00Z")
    }

    fn answered(status: u16) -> Outcome {
        Outcome::Answered(Box::new(PageFacts {
            status,
            ..PageFacts::default()
        }))
    }

    fn no_answer() -> Outcome {
        Outcome::NoAnswer {
            error: "connection refused".to_owned(),
        }
    }

    /// Since when a listed page fails, and answers 404.
    type Since = (Option<Timestamp>, Option<Timestamp>);

    fn listed(failing_since: Option<&str>, gone_since: Option<&str>) -> Since {
        (failing_since.map(time), gone_since.map(time))
    }

    /// As what a page stays at noon of 1 March.
    fn check(outcome: &Outcome, reason: Reason, earlier: &Since, expected: Option<Reason>) {
        let now = noon();
        let kept = stays(outcome, reason, earlier.0, earlier.1, MONTH, now);
        let found = kept.map(|stays| stays.kept.listed_as());
        assert_eq!(found, expected, "{outcome:?} {reason:?} {earlier:?}");
    }

    #[test]
    fn only_evidence_takes_a_page_out() {
        let before = listed(None, None);
        let kept = Some(Reason::Unreachable);
        check(&no_answer(), Reason::NetworkError, &before, kept);
        for status in [500, 503, 429] {
            check(&answered(status), Reason::ServerError, &before, kept);
        }
        for status in [401, 403, 407, 418] {
            check(&answered(status), Reason::ClientError, &before, kept);
        }
        for reason in [
            Reason::TooLarge,
            Reason::CutShort,
            Reason::Undecodable,
            Reason::Unparsable,
            Reason::Empty,
        ] {
            check(&answered(200), reason, &before, kept);
        }
        let internal = Outcome::NotFetched(Reason::InternalError);
        check(&internal, Reason::InternalError, &before, kept);
        check(&answered(410), Reason::Gone, &before, None);
        check(&answered(451), Reason::ClientError, &before, None);
        for reason in [
            Reason::Noindex,
            Reason::Redirected,
            Reason::CanonicalElsewhere,
            Reason::RobotsDisallowed,
            Reason::ExcludedByRule,
        ] {
            check(&answered(200), reason, &before, None);
        }
        for status in [204, 304] {
            check(&answered(status), Reason::Empty, &before, kept);
        }
        for status in [201, 202, 203, 206] {
            check(&answered(status), Reason::OtherSuccess, &before, kept);
        }
        check(&answered(302), Reason::BadRedirect, &before, kept);
        check(&answered(302), Reason::RedirectLoop, &before, kept);
    }

    #[test]
    fn a_repeated_other_document_is_proof() {
        let reason = Reason::NotAPage;
        let before = listed(None, None);
        check(&answered(200), reason, &before, Some(Reason::Unreachable));
        let since = Some("2026-02-28T12:00:00Z");
        check(&answered(200), reason, &listed(since, since), None);
    }

    #[test]
    fn a_second_404_an_hour_later_is_proof() {
        let once = Some(Reason::GoneOnce);
        let check = |since: Option<&str>, expected| {
            let since = listed(since, since);
            check(&answered(404), Reason::Gone, &since, expected);
        };
        check(None, once);
        check(Some("2026-03-01T11:00:01Z"), once);
        check(Some("2026-03-01T11:00:00Z"), None);
        check(Some("2026-01-01T00:00:00Z"), None);
        // The clock was set back since: the hour begins again.
        check(Some("2027-01-01T00:00:00Z"), once);
    }

    #[test]
    fn a_failure_between_two_404_changes_nothing() {
        let before = listed(Some("2026-02-27T12:00:00Z"), Some("2026-02-28T12:00:00Z"));
        let (outcome, reason) = (answered(503), Reason::ServerError);
        let kept = stays(&outcome, reason, before.0, before.1, MONTH, noon()).unwrap();
        assert_eq!((Some(kept.failing_since), kept.gone_since), before);
        check(&answered(404), Reason::Gone, &before, None);
    }

    #[test]
    fn a_failing_page_is_kept_for_a_month() {
        let kept = Some(Reason::Unreachable);
        for (since, expected) in [
            ("2026-02-28T12:00:00Z", kept),
            ("2026-01-30T12:00:01Z", kept),
            ("2026-01-30T12:00:00Z", None),
            ("2030-01-01T00:00:00Z", kept),
        ] {
            let before = listed(Some(since), None);
            check(&no_answer(), Reason::NetworkError, &before, expected);
        }
        let (now, off) = (noon(), Duration::ZERO);
        let reason = Reason::NetworkError;
        assert_eq!(stays(&no_answer(), reason, None, None, off, now), None);
        // It is about failures only.
        assert!(stays(&answered(404), Reason::Gone, None, None, off, now).is_some());
    }
}
