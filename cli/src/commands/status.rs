//! `arpent status`: how the last session of each site ended, and when the next one begins. It reads small files that
//! are beside the states, so it works while crawls have locked them, and changes nothing.

#[cfg(feature = "catalogue")]
mod fleet;
mod table;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use crawler::{
    schedule::NextRun,
    site_run::LastSession,
    store::{held_since, with_causes},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{
    crawl::load,
    daemon::{
        lock,
        schedule_file::{self, ScheduleRecord},
    },
    dependencies,
    names::{self, Named},
};
use crate::{
    args::StatusArgs,
    exit_code::ExitCode,
    failure::{self, Misuse},
    human,
    output::Output,
    settings::{Environment, Purpose, Settings, SiteSettings, duration},
};

/// End of the name of the file with the last session of a site, after the site's name.
const LAST_SESSION: &str = ".last.json";

/// End of the name of the state, after the site's name.
const STATE: &str = ".db";

/// End of the name of a state that `arpent build` stored: no crawl is known by that name.
const OF_BUILDS: &str = ".build";

/// Sites that are shown when the settings name none.
const MAX_SITES: usize = 10_000;

/// Status of a site.
#[derive(Debug, Default, Serialize)]
struct SiteStatus {
    /// Its name.
    name: String,
    /// Start URL of its crawl.
    start: Option<String>,
    /// Schedule of its crawls.
    schedule: Option<String>,
    /// Outcome of its last session, as in the summary; `None` when no session has ended.
    outcome: Option<String>,
    exit_code: Option<u8>,
    message: Option<String>,
    /// Sessions in a row, the last one among them, that were refused or failed.
    failed_in_a_row: Option<u32>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// Listed URLs of the set, when the last session was good.
    listed: Option<u64>,
    /// End of the last good session.
    last_good: Option<Timestamp>,
    /// Begin of the session that is under way, of the daemon or of another program with this state.
    running_since: Option<Timestamp>,
    /// Time of the next crawl by the daemon; in the past: it is due, and waits for others or for a daemon.
    next: Option<Timestamp>,
    state: Option<String>,
    output: Option<String>,
    /// The set is older than allowed; `None` without `--max-age`, or when the site does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_too_old: Option<bool>,
    /// Time at which the daemon first knew it.
    #[serde(skip)]
    since: Option<Timestamp>,
    /// The time zone that its times are shown in.
    time_zone: Zone,
}

/// The names of the times of a [`SiteStatus`] as JSON.
const TIMES: [&str; 5] = ["started", "ended", "last_good", "running_since", "next"];

/// A time zone; as JSON its name.
#[derive(Debug, Clone)]
struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.iana_name().unwrap_or("UTC"))
    }
}

impl Zone {
    fn of(settings: &Settings) -> Self {
        settings.time_zone.clone().map_or_else(Self::default, Self)
    }

    /// A minute, for people.
    fn minute(&self, time: Timestamp) -> String {
        let form = if self.0 == TimeZone::UTC {
            "%Y-%m-%d %H:%MZ"
        } else {
            "%Y-%m-%d %H:%M %Z"
        };
        time.to_zoned(self.0.clone()).strftime(form).to_string()
    }

    /// A time with its offset (RFC 3339), for programs.
    fn exact(&self, time: Timestamp) -> String {
        if self.0 == TimeZone::UTC {
            return time.to_string();
        }
        time.display_with_offset(self.0.to_offset(time)).to_string()
    }
}

/// The document of `--json`: the `sites` as they are `now`.
fn document(
    sites: &[SiteStatus],
    daemon: bool,
    now: Timestamp,
    zone: &Zone,
) -> serde_json::Result<Value> {
    let sites = sites.iter().map(|site| {
        let mut value = serde_json::to_value(site)?;
        for name in TIMES {
            let time = value[name].as_str().and_then(|time| time.parse().ok());
            if let Some(time) = time {
                value[name] = site.time_zone.exact(time).into();
            }
        }
        Ok(value)
    });
    let sites = sites.collect::<serde_json::Result<Vec<_>>>()?;
    Ok(
        serde_json::json!({ "version": 1, "now": zone.exact(now), "daemon": daemon, "sites": sites }),
    )
}

/// Runs `arpent status`.
///
/// # Errors
/// The settings make no sense.
pub(super) fn run(
    args: &StatusArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    if args.catalogue.is_some() {
        #[cfg(feature = "catalogue")]
        return fleet::run(args, environment, output);
        #[cfg(not(feature = "catalogue"))]
        return Err(super::catalogue::missing());
    }
    let settings = load(Purpose::Look, args.typed(), environment)?;
    let max_age = args.max_age.as_deref().map(max_age).transpose()?;
    let state = &settings.shared.state;
    let has_daemon = lock::is_held(state);
    let mut kept = schedule_file::read(state).unwrap_or_else(|error| {
        output.warn(&format!(
            "failed to read {}: {error}",
            schedule_file::file_in(state).display()
        ));
        ScheduleRecord::default()
    });
    if !has_daemon {
        // A killed daemon did not remove them.
        kept.running.clear();
    }
    let now = dependencies::clock(environment).now();
    let zone = Zone::of(&settings.shared);
    let mut sites: Vec<SiteStatus> = if settings.sites.is_empty() {
        let names = names_in(state)?;
        let sites = names.iter().map(|name| SiteStatus {
            time_zone: zone.clone(),
            ..known(state, name, output)
        });
        // No crawl ended by the name of what a build remembers.
        sites
            .filter(|site| site.ended.is_some() || !site.name.ends_with(OF_BUILDS))
            .collect()
    } else {
        let sites = settings.sites.iter();
        sites
            .map(|site| configured(site, &kept, now, output))
            .collect()
    };
    let mut is_good = true;
    if let Some(max_age) = max_age {
        is_good = judge_age(&mut sites, max_age, now);
    }
    if args.json {
        let document = document(&sites, has_daemon, now, &zone)?;
        output.data_json(&document.to_string());
    } else {
        table::print(&sites, now, output);
        if !has_daemon && sites.iter().any(|site| site.schedule.is_some()) {
            output.info("no arpent daemon runs with this state");
        }
    }
    if is_good {
        return Ok(ExitCode::Success);
    }
    for site in sites.iter().filter(|site| site.is_too_old == Some(true)) {
        output.error(&format!("{}: {}", site.name, site.why_too_old(now)));
    }
    if sites.is_empty() {
        output.error("no site was crawled with this state");
    }
    Ok(ExitCode::Invalid)
}

fn max_age(text: &str) -> Result<Duration, Misuse> {
    duration(text).ok_or_else(|| {
        Misuse(format!(
            "--max-age: expected a duration such as \"26h\", found \"{text}\""
        ))
    })
}

/// A site of the settings.
fn configured(
    site: &SiteSettings,
    kept: &ScheduleRecord,
    now: Timestamp,
    output: &Output,
) -> SiteStatus {
    let past = kept.sites.get(&site.name);
    let running_since = kept.running.get(&site.name).copied();
    let schedule = site.schedule.as_ref();
    let next = schedule
        .zip(past)
        .map(|(schedule, past)| match schedule.next(past, now) {
            NextRun::Now { slot, .. } => Some(schedule.start_of(slot)),
            NextRun::At { start, .. } => Some(start),
            NextRun::Never => None,
        });
    let as_typed = Named::as_typed(&site.settings, &site.start);
    let is_named = site.name != as_typed.site.name();
    let known = names::site_of(&site.settings, &site.start).unwrap_or_else(|error| {
        output.warn(&with_causes(&error));
        as_typed
    });
    let known = known.site;
    let status = SiteStatus {
        name: if is_named {
            site.name.clone()
        } else {
            known.name()
        },
        running_since,
        start: Some(site.start.to_string()),
        schedule: schedule.map(|schedule| schedule.text().to_owned()),
        next: next.flatten(),
        since: past.map(|past| past.since),
        time_zone: Zone::of(&site.settings),
        ..SiteStatus::default()
    };
    status
        .with_last_session(&site.settings.last_session_of(&known), output)
        .with_session_under_way(&site.settings.state_of(&known))
}

/// A site that the folder `state` knows as `name`.
fn known(state: &Path, name: &str, output: &Output) -> SiteStatus {
    let status = SiteStatus {
        name: name.to_owned(),
        ..SiteStatus::default()
    };
    status
        .with_last_session(&state.join(format!("{name}{LAST_SESSION}")), output)
        .with_session_under_way(&state.join(format!("{name}{STATE}")))
}

/// The names of the sites that the folder `state` knows, the first [`MAX_SITES`] in order.
fn names_in(state: &Path) -> failure::Result<BTreeSet<String>> {
    let failed = |error: std::io::Error| {
        Misuse(format!(
            "failed to read the folder {}: {error}",
            state.display()
        ))
    };
    let mut names = BTreeSet::new();
    let entries = match fs::read_dir(state) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(failed(error).into()),
    };
    for entry in entries {
        // arpent writes only names in UTF-8.
        let Ok(name) = entry.map_err(failed)?.file_name().into_string() else {
            continue;
        };
        let stem = name
            .strip_suffix(LAST_SESSION)
            .or_else(|| name.strip_suffix(STATE));
        names.extend(stem.map(str::to_owned));
        if names.len() > MAX_SITES {
            names.pop_last();
        }
    }
    Ok(names)
}

/// The start URLs of the sites whose last session the folder `state` knows.
///
/// # Errors
/// The folder, or what it has of a session, cannot be read.
pub(super) fn crawled_sites(state: &Path) -> failure::Result<Vec<String>> {
    let mut starts = Vec::new();
    for name in names_in(state)? {
        let last = LastSession::read(&state.join(format!("{name}{LAST_SESSION}")))?;
        starts.extend(last.map(|last| last.start));
    }
    Ok(starts)
}

/// Judges the age of the set of each site that counts; returns true if every set is new enough. Without any site there is no
/// set that could be new enough.
fn judge_age(sites: &mut [SiteStatus], max_age: Duration, now: Timestamp) -> bool {
    let has_schedules = sites.iter().any(|site| site.schedule.is_some());
    let mut is_good = !sites.is_empty();
    for site in sites {
        // Where sites have schedules, one without is crawled by hand.
        if has_schedules && site.schedule.is_none() {
            continue;
        }
        // A site that the daemon has known for less time than that is not late yet.
        let newest = site.last_good.or(site.since);
        let max_age = SignedDuration::try_from(max_age).unwrap_or(SignedDuration::MAX);
        // After the clock was put back, the stored time may be ahead: a short time ahead counts as now, a longer time as too old.
        let is_too_old = newest.is_none_or(|newest| {
            let age = now.duration_since(newest);
            age > max_age || age < -max_age
        });
        site.is_too_old = Some(is_too_old);
        is_good &= !is_too_old;
    }
    is_good
}

impl SiteStatus {
    /// Adds the last session, from the file `path`.
    fn with_last_session(mut self, path: &Path, output: &Output) -> Self {
        let last = match LastSession::read(path) {
            Ok(Some(last)) => last,
            Ok(None) => return self,
            Err(error) => {
                output.warn(&format!("failed to read {}: {error}", path.display()));
                return self;
            }
        };
        let outcome = last.summary.get("outcome").and_then(Value::as_str);
        self.outcome = outcome.map(str::to_owned);
        // What another session would have listed, or did not come to know, is not published.
        let listed = last.summary.get("listed").and_then(Value::as_u64);
        self.listed = listed.filter(|_| last.last_good == Some(last.ended));
        self.start.get_or_insert(last.start);
        self.exit_code = Some(last.exit_code);
        self.message = last.message;
        self.failed_in_a_row = Some(last.failed_in_a_row);
        (self.started, self.ended) = (Some(last.started), Some(last.ended));
        self.last_good = last.last_good;
        (self.state, self.output) = (last.state, last.output);
        self
    }

    /// Adds the time since when a session uses its `state`, unless the daemon recorded it.
    fn with_session_under_way(mut self, state: &Path) -> Self {
        self.running_since = self.running_since.or_else(|| held_since(state));
        if self.running_since.is_some() {
            self.next = None;
        }
        self
    }

    /// Returns whether something went wrong.
    fn has_failed(&self) -> bool {
        let is_good = self.last_good.is_some() && self.last_good == self.ended;
        self.is_too_old == Some(true) || (self.ended.is_some() && !is_good)
    }

    fn why_too_old(&self, now: Timestamp) -> String {
        match (self.last_good, self.since) {
            (Some(time), _) => format!("the last good session ended {}", relative(time, now)),
            (None, Some(time)) => {
                format!(
                    "no good session since the daemon got the site, {}",
                    relative(time, now)
                )
            }
            (None, None) => "no good session yet".to_owned(),
        }
    }
}

/// `3 h ago`, `now`, `in 3 h`: nobody waits for less than a second.
fn relative(time: Timestamp, now: Timestamp) -> String {
    let distance = Duration::from_secs(now.duration_since(time).unsigned_abs().as_secs());
    if distance.is_zero() {
        return "now".to_owned();
    }
    let distance = human::duration(distance);
    if time <= now {
        format!("{distance} ago")
    } else {
        format!("in {distance}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_set_may_be_so_old() {
        fn check(last_good: Option<&str>, since: Option<&str>, expected: bool) {
            let mut sites = [SiteStatus {
                last_good: last_good.map(at),
                since: since.map(at),
                ..SiteStatus::default()
            }];
            let now = at("2026-06-02T12:00:00Z");
            let max_age = Duration::from_secs(26 * 60 * 60);
            let is_good = judge_age(&mut sites, max_age, now);
            assert_eq!(is_good, expected, "{last_good:?} {since:?}");
            assert_eq!(sites[0].is_too_old, Some(!expected));
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
    fn a_site_that_is_crawled_by_hand_does_not_count_beside_others() {
        let now = at("2026-06-02T12:00:00Z");
        let site = |schedule: Option<&str>, last_good: Option<Timestamp>| SiteStatus {
            schedule: schedule.map(str::to_owned),
            last_good,
            ..SiteStatus::default()
        };
        let day = Duration::from_secs(24 * 60 * 60);
        let mut sites = [site(Some("@daily UTC"), Some(now)), site(None, None)];
        assert!(judge_age(&mut sites, day, now));
        assert_eq!(sites[1].is_too_old, None);
        let mut sites = [site(None, Some(now)), site(None, None)];
        assert!(!judge_age(&mut sites, day, now), "nobody has a schedule");
        assert!(!judge_age(&mut [], day, now));
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let check = |zone: &str, minute: &str, exact: &str| {
            let zone = Zone(TimeZone::get(zone).unwrap());
            let time = at("2026-06-02T02:31:40.5Z");
            assert_eq!(zone.minute(time), minute);
            assert_eq!(zone.exact(time), exact);
            let site = SiteStatus {
                ended: Some(time),
                time_zone: zone.clone(),
                ..SiteStatus::default()
            };
            let document = document(&[site], true, time, &zone).unwrap();
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
    fn distances_are_whole_seconds() {
        fn check(time: &str, expected: &str) {
            let now = at("2026-06-02T12:00:00Z");
            assert_eq!(relative(at(time), now), expected, "{time}");
        }
        check("2026-06-02T12:00:00.958Z", "now");
        check("2026-06-02T11:59:59.042Z", "now");
        check("2026-06-02T12:00:00Z", "now");
        check("2026-06-02T12:00:01.9Z", "in 1 s");
        check("2026-06-02T11:59:57.5Z", "2 s ago");
        check("2026-06-02T12:05:00Z", "in 5 min");
    }
}
