//! Which messages people get about a site: one when it begins to fail, one when it is good again, a reminder each week of the same
//! failure, and on request a summary each week. What each of them got is in the record of the last session.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::LastSession;
use crate::{
    human,
    notify::{GoogleReport, Message},
    outcome::SessionOutcome,
    page::{Mark, Reason},
    served::ServedReport,
    view::View,
};

/// Time between two messages on the same failure, and between two summaries.
const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A site that failed within the last week is reported again once it has failed for so long.
const TWO_DAYS: SignedDuration = SignedDuration::from_hours(48);

/// The messages on a site that people got, by the ids of recipients.
pub type MessageLogs = BTreeMap<String, MessageLog>;

/// The messages on a site that somebody got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageLog {
    /// Begin of the failure under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<Timestamp>,
    /// Time of the last message on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<Timestamp>,
    /// End of the last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    good_since: Option<Timestamp>,
    /// The last summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
}

/// A summary that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Digest {
    at: Timestamp,
    listed: u64,
}

/// How a site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SiteHealth {
    /// The last session does not show it: a signal ended it.
    Unknown,
    Good,
    /// What is wrong.
    Failing(String),
}

/// The news for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteNews {
    BeganToFail,
    StillFails(SignedDuration),
    GoodAgain(SignedDuration),
    Digest(Option<u64>),
}

impl SiteHealth {
    /// As the last session, and the last look at what is served, show it.
    pub(super) fn of(last: &LastSession) -> Self {
        let outcome = last.summary["outcome"].as_str();
        let is_of = |wanted: SessionOutcome| outcome == Some(wanted.as_str());
        if is_of(SessionOutcome::Interrupted) {
            return Self::Unknown;
        }
        if last.failed_in_a_row > 0 {
            let what = if is_of(SessionOutcome::Refused) {
                "the new set was refused"
            } else {
                "the crawl failed"
            };
            let why = last.message.as_deref();
            return Self::Failing(why.map_or_else(
                || what.to_owned(),
                |why| format!("{what}: {}", why.lines().next().unwrap_or_default()),
            ));
        }
        let served = served_of(last);
        match served.filter(ServedReport::is_late) {
            Some(served) => Self::Failing(served.line()),
            None => Self::Good,
        }
    }
}

fn served_of(last: &LastSession) -> Option<ServedReport> {
    let served = last.summary.get("served")?;
    ServedReport::deserialize(served).ok()
}

impl MessageLog {
    /// Takes how the site is; returns the message that is due.
    pub(super) fn take(
        &mut self,
        health: &SiteHealth,
        wants_digest: bool,
        now: Timestamp,
    ) -> Option<SiteNews> {
        let is_past = |time: Timestamp, wait| now.duration_since(time) >= wait;
        match health {
            SiteHealth::Unknown => return None,
            SiteHealth::Failing(_) => {
                let since = *self.failing_since.get_or_insert(now);
                let good = self.good_since;
                let is_again = good.is_some_and(|good| since.duration_since(good) < WEEK);
                match self.sent_at {
                    None if !is_again || is_past(since, TWO_DAYS) => {
                        return Some(SiteNews::BeganToFail);
                    }
                    Some(sent) if is_past(sent, WEEK) => {
                        return Some(SiteNews::StillFails(now.duration_since(since)));
                    }
                    None | Some(_) => {}
                }
            }
            SiteHealth::Good => {
                if let (Some(since), Some(_)) = (self.failing_since, self.sent_at) {
                    return Some(SiteNews::GoodAgain(now.duration_since(since)));
                }
                if self.failing_since.take().is_some() {
                    self.good_since = Some(now);
                }
            }
        }
        let is_due = self.digest.is_none_or(|digest| is_past(digest.at, WEEK));
        let before = self.digest.map(|digest| digest.listed);
        (wants_digest && is_due).then_some(SiteNews::Digest(before))
    }

    /// Notes that news arrived; the set of the site lists so many URLs.
    pub(super) fn note(&mut self, news: SiteNews, listed: u64, now: Timestamp) {
        match news {
            SiteNews::BeganToFail | SiteNews::StillFails(_) => self.sent_at = Some(now),
            SiteNews::GoodAgain(_) => {
                *self = Self {
                    good_since: Some(now),
                    digest: self.digest,
                    ..Self::default()
                };
            }
            SiteNews::Digest(_) => self.digest = Some(Digest { at: now, listed }),
        }
    }
}

/// The text of news about the site of `last`, which is as `health` has it.
pub(super) fn message_of(
    news: SiteNews,
    health: &SiteHealth,
    last: &LastSession,
    now: Timestamp,
) -> Message {
    let site = &last.start;
    let listed = human::count(last.listed.unwrap_or_default(), "URL");
    let after = |time: SignedDuration| human::duration(time.unsigned_abs());
    let what = match health {
        SiteHealth::Failing(what) => what,
        SiteHealth::Unknown | SiteHealth::Good => "",
    };
    let title = match news {
        SiteNews::BeganToFail => format!("{site}: {what}"),
        SiteNews::StillFails(time) => format!("{site}: for {} now, {what}", after(time)),
        SiteNews::GoodAgain(time) => {
            format!("{site}: good again after {}, {listed} listed", after(time))
        }
        SiteNews::Digest(_) => format!("{site}: the last week"),
    };
    let mut view = View::new(title);
    match news {
        SiteNews::BeganToFail | SiteNews::StillFails(_) => {
            if let Some(good) = last.last_good {
                let good = human::relative(good, now);
                view.section("set", "").line(format!(
                    "the published set stays: {listed}, last confirmed {good}"
                ));
            }
        }
        SiteNews::GoodAgain(_) => {}
        SiteNews::Digest(before) => add_digest(&mut view, health, last, before, now),
    }
    Message {
        view,
        is_bad: matches!(news, SiteNews::BeganToFail | SiteNews::StillFails(_)),
    }
}

/// A message that is sent to see whether it arrives.
pub(super) fn test_message() -> Message {
    let title = "arpent: a test message; failures of sites are reported here";
    Message {
        view: View::new(title.to_owned()),
        is_bad: false,
    }
}

fn add_digest(
    view: &mut View,
    health: &SiteHealth,
    last: &LastSession,
    before: Option<u64>,
    now: Timestamp,
) {
    let section = view.section("digest", "");
    let listed = last.listed.unwrap_or_default();
    let more = match before {
        Some(before) if before < listed => {
            let more = human::number(listed - before);
            format!(", {more} more than at the last summary")
        }
        Some(before) if before > listed => {
            let fewer = human::number(before - listed);
            format!(", {fewer} fewer than at the last summary")
        }
        Some(_) => ", as many as at the last summary".to_owned(),
        None => String::new(),
    };
    section.line(format!("{} listed{more}", human::count(listed, "URL")));
    let good = last.last_good.map(|good| human::relative(good, now));
    section.line(format!(
        "last good session: {}",
        good.as_deref().unwrap_or("none")
    ));
    let excluded = last.summary["excluded"].as_object().into_iter().flatten();
    let broken = excluded.filter(|(code, _)| {
        let reason = Reason::from_code(code);
        reason.is_some_and(|reason| reason.has(Mark::Broken))
    });
    let broken: u64 = broken.filter_map(|(_, count)| count.as_u64()).sum();
    section.line(format!(
        "{} that do not answer with a page",
        human::count(broken, "URL")
    ));
    let cut = last.summary["cut"].as_array().map_or(0, Vec::len);
    if cut > 0 {
        let cut = human::count(cut as u64, "place");
        section.line(format!("{cut} without an end, which the crawl cut"));
    }
    if let Some(served) = served_of(last) {
        section.line(served.line());
    }
    let google = last.summary.get("google").map(GoogleReport::deserialize);
    for line in google
        .into_iter()
        .flatten()
        .flat_map(|google| google.lines(now))
    {
        section.line(line);
    }
    if let SiteHealth::Failing(what) = health {
        section.line(what.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hour)
    }

    /// The messages on sessions at these hours: `x` fails, `o` is good, `-` is ended by a signal.
    fn messages(hours: i64, sessions: &str, wants_digest: bool) -> Vec<(i64, SiteNews)> {
        let mut log = MessageLog::default();
        let mut all = Vec::new();
        for (hour, session) in (0..)
            .step_by(usize::try_from(hours).unwrap())
            .zip(sessions.chars())
        {
            let health = match session {
                'x' => SiteHealth::Failing("the crawl failed".to_owned()),
                'o' => SiteHealth::Good,
                _ => SiteHealth::Unknown,
            };
            if let Some(news) = log.take(&health, wants_digest, at(hour)) {
                log.note(news, 10, at(hour));
                all.push((hour, news));
            }
        }
        all
    }

    #[test]
    fn failures_and_their_ends_are_told_once() {
        let days = |days: i64| SignedDuration::from_hours(days * 24);
        assert_eq!(
            messages(24, "oxx-xoo", false),
            [
                (24, SiteNews::BeganToFail),
                (120, SiteNews::GoodAgain(days(4))),
            ]
        );
        assert_eq!(
            messages(24, &"x".repeat(16), false),
            [
                (0, SiteNews::BeganToFail),
                (168, SiteNews::StillFails(days(7))),
                (336, SiteNews::StillFails(days(14))),
            ]
        );
        assert_eq!(messages(24, "ooo--o", false), []);
    }

    #[test]
    fn a_flapping_site_sends_two_messages() {
        for hours in [1, 6, 24] {
            for pattern in ["xo", "xxo", "xoo"] {
                assert_eq!(
                    messages(hours, &pattern.repeat(20), false).len(),
                    2,
                    "{hours} {pattern}"
                );
            }
        }
        // A week later a failure is news.
        let rare = format!("xo{}xo", "o".repeat(8));
        assert_eq!(messages(24, &rare, false).len(), 4);
        // Another failure that lasts is reported two days late.
        let news = messages(12, "xoxxxxxo", false);
        let hours: Vec<_> = news.iter().map(|(hour, _)| *hour).collect();
        assert_eq!(hours, [0, 12, 72, 84]);
    }

    #[test]
    fn a_summary_is_sent_once_a_week() {
        let news = messages(24, &"o".repeat(16), true);
        let expected = [
            (0, SiteNews::Digest(None)),
            (168, SiteNews::Digest(Some(10))),
            (336, SiteNews::Digest(Some(10))),
        ];
        assert_eq!(news, expected);
    }
}
