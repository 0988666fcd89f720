//! How the last session of each site ended, and when the next one begins. Reads the small files beside the states, so that it
//! works while sessions have locked them.

use std::{collections::BTreeMap, io, path::Path, time::Duration};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::{Deserialize as _, Serialize, Serializer};
use serde_json::{Value, json};

use super::{LastSession, LiveSession, PastSession, pauses::Pause};
use crate::{
    human,
    notify::GoogleReport,
    outcome::SessionOutcome,
    served::ServedReport,
    store::held_since,
    view::{Tone, View},
};

/// The status of all sites.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct StatusReport {
    /// The time of the report.
    pub now: Timestamp,
    /// A daemon runs with this state.
    pub has_daemon: bool,
    /// The sites.
    pub sites: Vec<SiteStatus>,
    /// The time zone that the time of the report is shown in.
    pub time_zone: Zone,
}

/// Status of a site.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct SiteStatus {
    /// The name.
    pub name: String,
    /// The settings file names the site.
    #[serde(skip)]
    pub is_named: bool,
    /// Start URL of its crawl.
    pub start: Option<String>,
    /// Schedule of its crawls.
    pub schedule: Option<String>,
    /// How its last session ended.
    #[serde(flatten)]
    pub last: LastEnd,
    /// Begin of the session that is under way, of the daemon or of another program with this state.
    pub running_since: Option<Timestamp>,
    /// What that session does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<LiveSession>,
    /// The daemon leaves it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// Time of the next crawl by the daemon; in the past: it is due, and waits for others or for a daemon.
    pub next: Option<Timestamp>,
    /// The set is older than allowed; `None`: no age was asked for, or the site does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_too_old: Option<bool>,
    /// Time at which the daemon first knew the site.
    #[serde(skip)]
    pub since: Option<Timestamp>,
    /// The time zone that its times are shown in.
    pub time_zone: Zone,
}

/// How the last session of a site ended; nothing is known when no session has ended.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LastEnd {
    outcome: Option<String>,
    exit_code: Option<u8>,
    message: Option<String>,
    failed_in_a_row: Option<u32>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// URLs of the set of the last good session.
    listed: Option<u64>,
    /// URLs that came to the set and left it with the last session.
    #[serde(skip)]
    changes: Option<[u64; 2]>,
    last_good: Option<Timestamp>,
    /// The notes of the last session.
    #[serde(skip)]
    notes: Vec<String>,
    /// The ends of the last sessions, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recent: Vec<PastSession>,
    state: Option<String>,
    output: Option<String>,
    /// What is served of the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<ServedReport>,
    /// What Google has read of the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    google: Option<GoogleReport>,
}

/// The names of the times of a [`SiteStatus`] as JSON.
const TIMES: [&str; 5] = ["started", "ended", "last_good", "running_since", "next"];

/// A time zone; as JSON its name.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "it is a name for another type")]
pub struct Zone(pub TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Zone {
    /// The name, such as `Europe/Paris`.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// A minute, for people.
    fn minute(&self, time: Timestamp) -> String {
        if self.0 == TimeZone::UTC {
            return human::minute(time);
        }
        let time = time.to_zoned(self.0.clone());
        time.strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// A time with its offset (RFC 3339), for programs.
    fn exact(&self, time: Timestamp) -> String {
        if self.0 == TimeZone::UTC {
            return time.to_string();
        }
        time.display_with_offset(self.0.to_offset(time)).to_string()
    }
}

impl StatusReport {
    /// A line for each site, and what went wrong below it.
    pub fn view(&self) -> View {
        let mut view = View::default();
        let section = view.section("sites", "");
        section.heads(&[
            "Site",
            "Last session",
            "Ended",
            "Listed",
            "Last good",
            "Next crawl",
        ]);
        for site in &self.sites {
            let row = section.row(site.cells(self.now).map(Into::into));
            if site.has_failed() {
                row.toned(Tone::Error);
            }
            row.below(site.lines(self.now, self.sites.len() == 1), 0);
        }
        if self.sites.len() > 1 {
            let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
            for site in &self.sites {
                let outcome = site.last.outcome.as_deref();
                *outcomes
                    .entry(outcome.unwrap_or("never crawled"))
                    .or_default() += 1;
            }
            let outcomes = outcomes.iter();
            let outcomes: Vec<String> = outcomes
                .map(|(outcome, count)| format!("{} {outcome}", human::number(*count)))
                .collect();
            let sites = human::count(self.sites.len() as u64, "site");
            section.line(format!("{sites}: {}", outcomes.join(", ")));
        }
        view
    }

    /// The report as JSON.
    pub fn document(&self) -> Value {
        let sites = self.sites.iter().map(|site| {
            let mut value = serde_json::to_value(site).unwrap_or_default();
            for name in TIMES {
                let time = value[name].as_str().and_then(|time| time.parse().ok());
                if let Some(time) = time {
                    value[name] = site.time_zone.exact(time).into();
                }
            }
            value
        });
        let now = self.time_zone.exact(self.now);
        let sites: Vec<_> = sites.collect();
        json!({ "version": 1, "now": now, "daemon": self.has_daemon, "sites": sites })
    }

    /// Judges the age of the set of each site that counts. Returns what is wrong with those that are too old; without any site there
    /// is no set that could be new enough.
    pub fn judge_age(&mut self, max_age: Duration) -> Vec<String> {
        if self.sites.is_empty() {
            return vec!["no site was crawled with this state".to_owned()];
        }
        let has_schedules = self.sites.iter().any(|site| site.schedule.is_some());
        let max_age = SignedDuration::try_from(max_age).unwrap_or(SignedDuration::MAX);
        let mut faults = Vec::new();
        for site in &mut self.sites {
            // Where sites have schedules, one without is crawled by hand.
            if site.paused.is_some() || has_schedules && site.schedule.is_none() {
                continue;
            }
            // A site that the daemon has known for less time than that is not late yet.
            let newest = site.last.last_good.or(site.since);
            // After the clock was put back, the stored time may be ahead: a short time ahead counts as now, a longer time as too old.
            let is_too_old = newest.is_none_or(|newest| {
                let age = self.now.duration_since(newest);
                age > max_age || age < -max_age
            });
            site.is_too_old = Some(is_too_old);
            if is_too_old {
                faults.push(format!("{}: {}", site.title(), site.why_too_old(self.now)));
            }
        }
        faults
    }
}

impl SiteStatus {
    /// Adds the last session from its file beside the state.
    ///
    /// # Errors
    /// See [`LastSession::read`].
    pub fn read_last_session(&mut self, path: &Path) -> io::Result<()> {
        let Some(last) = LastSession::read(path)? else {
            return Ok(());
        };
        let outcome = last.summary.get("outcome").and_then(Value::as_str);
        let (served, google) = (last.summary.get("served"), last.summary.get("google"));
        self.start.get_or_insert(last.start);
        self.last = LastEnd {
            outcome: outcome.map(str::to_owned),
            served: served.and_then(|served| ServedReport::deserialize(served).ok()),
            google: google.and_then(|google| GoogleReport::deserialize(google).ok()),
            exit_code: Some(last.exit_code),
            message: last.message,
            failed_in_a_row: Some(last.failed_in_a_row),
            started: Some(last.started),
            ended: Some(last.ended),
            listed: last.listed,
            changes: changes_of(&last.summary),
            last_good: last.last_good,
            notes: notes_of(&last.summary),
            recent: last.recent,
            state: last.state,
            output: last.output,
        };
        Ok(())
    }

    /// Adds the time since when a session uses the file `state`, unless the daemon recorded it.
    pub fn read_session_under_way(&mut self, state: &Path) {
        self.running_since = self.running_since.or_else(|| held_since(state));
        if self.running_since.is_some() {
            self.next = None;
            self.progress = LiveSession::read(state);
        }
    }

    /// Returns whether a session of the site has ended.
    pub fn has_ended(&self) -> bool {
        self.last.ended.is_some()
    }

    /// How the last session ended; "never crawled" when none has.
    pub fn outcome(&self) -> &str {
        self.last.outcome.as_deref().unwrap_or("never crawled")
    }

    /// When the last session ended.
    pub fn ended(&self) -> Option<Timestamp> {
        self.last.ended
    }

    /// Returns whether the last session published nothing because the guard objected.
    pub fn is_refused(&self) -> bool {
        self.last.exit_code == Some(SessionOutcome::Refused.exit_code())
    }

    /// What is served of the set, in a word or two; `None`: nobody looked.
    pub fn served(&self) -> Option<&'static str> {
        let served = self.last.served.as_ref();
        served.map(|served| if served.is_served() { "yes" } else { "no" })
    }

    /// What the last session changed in the set: `+2 -1`; `None`: nothing, or it is not known.
    pub fn change(&self) -> Option<String> {
        let changes = self.last.changes.filter(|changes| *changes != [0, 0]);
        changes.map(|[added, removed]| {
            format!("+{} -{}", human::number(added), human::number(removed))
        })
    }

    /// The ends of the last sessions, the oldest first.
    pub fn recent(&self) -> &[PastSession] {
        &self.last.recent
    }

    /// What the last session noted: rules that matched nothing, parts that were cut, what looked odd.
    pub fn notes(&self) -> &[String] {
        &self.last.notes
    }

    /// When Google read the index of the set that it read longest ago; `None`: nobody knows, `Some(None)`: it has not read one.
    pub fn read_by_google(&self) -> Option<Option<Timestamp>> {
        let sitemaps = &self.last.google.as_ref()?.sitemaps;
        sitemaps.iter().map(|sitemap| sitemap.read_at).min()
    }

    /// The order of sites of which the worst come first: those where something went wrong, then those whose last good session is
    /// longest ago.
    pub fn badness(&self) -> impl Ord + use<> {
        (!self.has_failed(), self.last.last_good, self.name.clone())
    }

    /// What is to be known besides the cells: why it failed, why it is paused, what is not served, what Google has; `with_served`: what
    /// is served too.
    pub fn lines(&self, now: Timestamp, with_served: bool) -> Vec<String> {
        let in_a_row = self.last.failed_in_a_row.filter(|count| *count > 1);
        let in_a_row = in_a_row.map(|count| {
            let count = human::count(count.into(), "session");
            format!("the last {count} were refused or failed")
        });
        let reason = self.paused.as_ref();
        let reason = reason.and_then(|paused| paused.reason.as_ref());
        let reason = reason.map(|reason| format!("paused: {reason}"));
        let google = self.last.google.as_ref();
        let google = google.map(|google| google.lines(now));
        let served = self.last.served.as_ref();
        let served = served.filter(|served| with_served || !served.is_served());
        let progress = self.progress.as_ref().map(|progress| progress.text.clone());
        let lines = progress
            .into_iter()
            .chain(in_a_row)
            .chain(self.last.message.clone());
        let lines = lines.chain(reason).chain(served.map(ServedReport::line));
        lines.chain(google.into_iter().flatten()).collect()
    }

    /// Returns whether something went wrong.
    pub fn has_failed(&self) -> bool {
        let LastEnd {
            last_good, ended, ..
        } = self.last;
        let is_good = last_good.is_some() && last_good == ended;
        let served = self.last.served.as_ref();
        let is_good = is_good && !served.is_some_and(ServedReport::is_late);
        self.is_too_old == Some(true) || (ended.is_some() && !is_good)
    }

    fn why_too_old(&self, now: Timestamp) -> String {
        match (self.last.last_good, self.since) {
            (Some(time), _) => {
                format!("the last good session ended {}", human::relative(time, now))
            }
            (None, Some(time)) => {
                let since = human::relative(time, now);
                format!("no good session since the daemon got the site, {since}")
            }
            (None, None) => "no good session yet".to_owned(),
        }
    }

    /// The name that the settings file has for it, or the start URL.
    fn title(&self) -> &str {
        let start = self.start.as_ref().filter(|_| !self.is_named);
        start.unwrap_or(&self.name)
    }

    /// See [`is_name_of`].
    pub fn is_meant_by(&self, typed: &str) -> bool {
        is_name_of(typed, &self.name, self.start.as_deref().unwrap_or_default())
    }

    /// The cells of the site's line: title, outcome, end of the last session, listed, last good session, next crawl.
    pub fn cells(&self, now: Timestamp) -> [Option<String>; 6] {
        let minute = |time: Timestamp| self.time_zone.minute(time);
        let at = |time: Timestamp| format!("{} ({})", minute(time), human::relative(time, now));
        let paused = self.paused.as_ref().map(|paused| match paused.until {
            Some(until) => format!("paused until {}", at(until)),
            None => "paused".to_owned(),
        });
        let next = match (self.running_since, self.next) {
            _ if paused.is_some() => paused,
            (Some(since), _) => Some(format!("under way since {}", at(since))),
            (None, Some(next)) if next <= now => Some(format!("due since {}", minute(next))),
            (None, next) => next.map(at),
        };
        let last = &self.last;
        [
            Some(self.title().to_owned()),
            last.outcome.clone(),
            last.ended.map(|ended| human::relative(ended, now)),
            last.listed.map(human::number),
            last.last_good.map(|good| human::relative(good, now)),
            next,
        ]
    }
}

/// The texts of the notes in the summary of a session.
fn notes_of(summary: &Value) -> Vec<String> {
    let notes = summary.get("notes").and_then(Value::as_array);
    let texts = notes.into_iter().flatten();
    texts
        .filter_map(|note| Some(note.get("text")?.as_str()?.to_owned()))
        .collect()
}

/// URLs that came to the set and left it, by the summary of a session.
fn changes_of(summary: &Value) -> Option<[u64; 2]> {
    let changes = summary.get("changes")?;
    let count = |name: &str| changes.get(name)?.get("count")?.as_u64();
    Some([count("added")?, count("removed")?])
}

/// Returns whether `typed` is the `name` of a site, its `start` URL, or that without a slash at its end.
pub fn is_name_of(typed: &str, name: &str, start: &str) -> bool {
    typed == name || [start, start.trim_end_matches('/')].contains(&typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn report(now: &str, sites: Vec<SiteStatus>) -> StatusReport {
        StatusReport {
            now: at(now),
            sites,
            ..StatusReport::default()
        }
    }

    fn good_until(last_good: Option<&str>) -> SiteStatus {
        let last = LastEnd {
            last_good: last_good.map(at),
            ..LastEnd::default()
        };
        SiteStatus {
            last,
            ..SiteStatus::default()
        }
    }

    #[test]
    fn age_of_sets_is_judged() {
        fn check(last_good: Option<&str>, since: Option<&str>, expected: bool) {
            let site = SiteStatus {
                since: since.map(at),
                ..good_until(last_good)
            };
            let mut report = report("2026-06-02T12:00:00Z", vec![site]);
            let faults = report.judge_age(Duration::from_secs(26 * 60 * 60));
            assert_eq!(faults.is_empty(), expected, "{last_good:?} {since:?}");
            assert_eq!(report.sites[0].is_too_old, Some(!expected));
        }
        check(Some("2026-06-02T02:00:00Z"), None, true);
        check(Some("2026-06-01T10:00:00Z"), None, true);
        check(Some("2026-06-01T09:59:59Z"), None, false);
        // What came before its schedule does not excuse it.
        check(
            Some("2026-06-01T09:59:59Z"),
            Some("2026-06-02T11:00:00Z"),
            false,
        );
        check(None, Some("2026-06-02T11:00:00Z"), true);
        check(None, Some("2026-05-02T11:00:00Z"), false);
        check(None, None, false);
        // A clock that was put back a little, and one that nothing can be known by.
        check(Some("2026-06-03T02:00:00Z"), None, true);
        check(Some("2026-06-05T02:00:00Z"), None, false);
        check(None, Some("2026-06-05T02:00:00Z"), false);
    }

    #[test]
    fn site_without_schedule_does_not_count_beside_others() {
        let now = "2026-06-02T12:00:00Z";
        let scheduled = SiteStatus {
            schedule: Some("@daily UTC".to_owned()),
            ..good_until(Some(now))
        };
        let day = Duration::from_secs(24 * 60 * 60);
        let mut by_schedule = report(now, vec![scheduled, good_until(None)]);
        assert!(by_schedule.judge_age(day).is_empty());
        assert_eq!(by_schedule.sites[1].is_too_old, None);
        let mut by_hand = report(now, vec![good_until(Some(now)), good_until(None)]);
        assert_eq!(by_hand.judge_age(day).len(), 1);
        assert_eq!(report(now, Vec::new()).judge_age(day).len(), 1);
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let check = |zone: &str, minute: &str, exact: &str| {
            let zone = Zone(TimeZone::get(zone).unwrap());
            let time = at("2026-06-02T02:31:40.5Z");
            assert_eq!(zone.minute(time), minute);
            let last = LastEnd {
                ended: Some(time),
                ..LastEnd::default()
            };
            let site = SiteStatus {
                last,
                time_zone: zone.clone(),
                ..SiteStatus::default()
            };
            let report = StatusReport {
                time_zone: zone,
                ..report("2026-06-02T02:31:40.5Z", vec![site])
            };
            let document = report.document();
            assert_eq!(document["now"], exact);
            assert_eq!(document["sites"][0]["ended"], exact);
            assert_eq!(document["sites"][0]["next"], Value::Null);
        };
        check("UTC", "2026-06-02 02:31Z", "2026-06-02T02:31:40.5Z");
        check(
            "Europe/Paris",
            "2026-06-02 04:31 CEST",
            "2026-06-02T04:31:40.5+02:00",
        );
    }

    #[test]
    fn line_of_a_site_has_its_times() {
        let site = SiteStatus {
            name: "shop".to_owned(),
            last: LastEnd {
                outcome: Some("unchanged".to_owned()),
                ended: Some(at("2026-06-02T02:31:40Z")),
                last_good: Some(at("2026-06-02T02:31:40Z")),
                listed: Some(12_345),
                ..LastEnd::default()
            },
            next: Some(at("2026-06-03T02:30:00Z")),
            ..SiteStatus::default()
        };
        let cells = |site: &SiteStatus, now| {
            let report = report(now, vec![site.clone()]);
            let view = report.view();
            let cells = view.sections[0].rows[0].cells.iter();
            cells
                .map(|cell| cell.text().into_owned())
                .collect::<Vec<_>>()
        };
        let expected = [
            "shop",
            "unchanged",
            "9 h 28 min ago",
            "12,345",
            "9 h 28 min ago",
            "2026-06-03 02:30Z (in 14 h 30 min)",
        ];
        assert_eq!(cells(&site, "2026-06-02T12:00:00Z"), expected);
        assert!(!site.has_failed());
        let now = "2026-06-03T02:31:00Z";
        assert_eq!(cells(&site, now)[5], "due since 2026-06-03 02:30Z");
        let running = SiteStatus {
            running_since: Some(at("2026-06-03T02:30:00Z")),
            ..site
        };
        let expected = "under way since 2026-06-03 02:30Z (1 min ago)";
        assert_eq!(cells(&running, now)[5], expected);
        assert_eq!(cells(&SiteStatus::default(), now)[1..], ["-"; 5]);
    }
}
