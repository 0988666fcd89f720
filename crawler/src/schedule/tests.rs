//! Slots by table, and timetables of many sites through a year.

use super::*;
use crate::url_key::HostKey;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn paris() -> TimeZone {
    zone("Europe/Paris").unwrap()
}

fn in_paris(expression: &str) -> Schedule {
    Schedule::new(expression, paris(), Duration::ZERO, "site").unwrap()
}

/// A run at its slot.
fn starts_at(time: &str) -> NextRun {
    let slot = at(time);
    NextRun::At { slot, start: slot }
}

#[test]
fn clock_changes_lose_and_repeat_no_slot() {
    // Slots in Paris within so many hours, as day of the month and time in UTC.
    fn check(expression: &str, from: &str, hours: i64, expected: &str) {
        let schedule = in_paris(expression);
        let mut slot = at(&format!("2026-{from}:00:00Z"));
        let until = slot + SignedDuration::from_hours(hours);
        let mut slots = Vec::new();
        while let Some(next) = schedule.slot_after(slot).filter(|next| *next < until) {
            slots.push(next.strftime("%dT%H:%M").to_string());
            slot = next;
        }
        assert_eq!(slots.join(" "), expected, "{expression}");
    }
    // 2026-03-29: 02:00 becomes 03:00 (01:00 UTC).
    check("30 2 * * *", "03-28T00", 72, "28T01:30 29T01:00 30T00:30");
    check("30 1 * * *", "03-28T00", 48, "28T00:30 29T00:30 29T23:30");
    // 2026-10-25: 03:00 becomes 02:00 (01:00 UTC).
    check("30 2 * * *", "10-24T00", 60, "24T00:30 25T00:30 26T01:30");
    // An hourly job is about intervals: it runs in both of the hours.
    check("0 * * * *", "10-24T23", 4, "25T00:00 25T01:00 25T02:00");
}

#[test]
fn looking_back_and_looking_ahead_agree() {
    for expression in [
        "30 2 * * *",
        "0 * * * *",
        "*/20 1-3 * * *",
        "0 4 * * 1",
        "0 0 29 2 *",
    ] {
        let schedule = in_paris(expression);
        for day in [
            "2026-03-28T20:00:00Z",
            "2026-10-24T20:00:00Z",
            "2026-06-01T20:00:00Z",
        ] {
            let mut time = at(day);
            for _ in 0..40 {
                time += SignedDuration::from_mins(17);
                let past = schedule.begin(time);
                match schedule.next(&past, time) {
                    NextRun::At { slot, .. } => assert!(slot > time, "{expression} {time}"),
                    other => panic!("{expression} at {time}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn invalid_schedule_is_refused_with_advice() {
    fn check(expression: &str, expected: &str) {
        let error = Schedule::new(expression, TimeZone::UTC, Duration::ZERO, "site").unwrap_err();
        assert!(
            error.to_string().contains(expected),
            "{expression}: {error}"
        );
    }
    check("", "is not a cron expression");
    check("* * * *", "is not a cron expression");
    check("0 0 3 * * *", "is not a cron expression");
    check("60 * * * *", "is not a cron expression");
    check("nightly", "expected five fields");
    check("0 0 30 2 *", "never comes");
    assert_eq!(
        zone("Europe/Pariss").unwrap_err().to_string(),
        "\"Europe/Pariss\" is not a time zone; expected a name of the IANA database such as Europe/Paris, or UTC"
    );
    for expression in [
        "@daily",
        "@hourly",
        "0 3 * * MON-FRI",
        "0 3 L * *",
        "*/15 * * * *",
    ] {
        Schedule::new(expression, TimeZone::UTC, Duration::ZERO, "site").unwrap();
    }
}

#[test]
fn missed_slots_are_made_up_once() {
    let nightly = in_paris("0 3 * * *");
    let began = at("2026-06-01T09:00:00Z");
    let mut past = nightly.begin(began);
    let first = starts_at("2026-06-02T01:00:00Z");
    assert_eq!(nightly.next(&past, began), first);
    let back = at("2026-06-05T10:00:00Z");
    let (slot, missed) = (at("2026-06-05T01:00:00Z"), 3);
    assert_eq!(nightly.next(&past, back), NextRun::Now { slot, missed });
    nightly.serve(&mut past, slot);
    let next = starts_at("2026-06-06T01:00:00Z");
    assert_eq!(nightly.next(&past, back), next);
    // Ten years of minutes are not counted one by one.
    let often = in_paris("* * * * *");
    let past = often.begin(at("2016-06-01T09:00:00Z"));
    assert!(matches!(
        often.next(&past, back),
        NextRun::Now { missed: 1_000, .. }
    ));
    // Another schedule begins at its change.
    let weekly = in_paris("0 3 * * 0");
    let mut past = weekly.begin(began);
    weekly.serve(&mut past, at("2026-06-07T01:00:00Z"));
    let wednesday = at("2026-06-10T09:00:00Z");
    let next = starts_at("2026-06-11T01:00:00Z");
    assert_eq!(nightly.next(&past, wednesday), next);
}

#[test]
fn a_clock_set_back_starts_nothing_again() {
    let nightly = in_paris("0 3 * * *");
    let mut past = nightly.begin(at("2026-06-01T09:00:00Z"));
    nightly.serve(&mut past, at("2026-06-05T01:00:00Z"));
    let earlier = at("2026-06-05T00:10:00Z");
    let next = starts_at("2026-06-06T01:00:00Z");
    assert_eq!(nightly.next(&past, earlier), next);
    // ... but a slot that was served in a wrong year does not stop the schedule until then.
    nightly.serve(&mut past, at("2036-06-05T01:00:00Z"));
    let next = starts_at("2026-06-05T01:00:00Z");
    assert_eq!(nightly.next(&past, earlier), next);
}

#[test]
fn a_corrected_clock_stops_no_schedule() {
    let now = at("2026-06-05T09:00:30Z");
    // Time by which the clock was ahead, and start of the next crawl after its correction.
    let check = |expression: &str, hours_ahead: i64, expected: &str| {
        let mut timetable = Timetable::new(1);
        let sites = planned(&[("a", "a.example", expression)]);
        let wrong = now + SignedDuration::from_hours(hours_ahead);
        timetable.set_sites(sites.clone(), |_| None, wrong);
        let TimetableStep::WaitUntil(due) = timetable.step(wrong) else {
            panic!("{expression}: a slot comes");
        };
        assert!(
            matches!(timetable.step(due), TimetableStep::Start { .. }),
            "{expression}"
        );
        timetable.ended("a", due);
        let kept: Vec<_> = timetable.pasts().map(|(_, past)| past).collect();
        // In the daemon that goes on, in one that is started again, and where the schedule was in force before.
        let mut started_again = Timetable::new(1);
        started_again.set_sites(sites.clone(), |_| kept.first().cloned(), now);
        let since = at("2026-06-01T00:00:00Z");
        let before = kept.first().map(|past| ScheduleState {
            since,
            ..past.clone()
        });
        let mut in_force = Timetable::new(1);
        in_force.set_sites(sites, |_| before.clone(), now);
        for timetable in [&mut timetable, &mut started_again, &mut in_force] {
            // Repeated steps do not move the time.
            for time in [now, at("2026-06-05T09:00:45Z")] {
                let waits = TimetableStep::WaitUntil(at(expected));
                assert_eq!(timetable.step(time), waits, "{expression}");
            }
            assert!(
                matches!(
                    timetable.step(at(expected)),
                    TimetableStep::Start { missed: 0, .. }
                ),
                "{expression}"
            );
        }
    };
    check("* * * * *", 72, "2026-06-05T09:01:00Z");
    check("* * * * *", 12, "2026-06-05T09:01:00Z");
    check("0 * * * *", 5, "2026-06-05T10:00:00Z");
    check("0 3 * * *", 100, "2026-06-06T01:00:00Z");
    // What would be the next slot is the one that was served two hours early: it does not come twice.
    let nightly = in_paris("0 3 * * *");
    let mut past = nightly.begin(at("2026-06-01T12:00:00Z"));
    nightly.serve(&mut past, at("2026-06-06T01:00:00Z"));
    let now = at("2026-06-05T23:00:30Z");
    assert_eq!(nightly.believed(&past, now), past);
    let next = starts_at("2026-06-07T01:00:00Z");
    assert_eq!(nightly.next(&past, now), next);
    // A schedule that began under a wrong clock begins when it is right.
    let past = nightly.begin(at("2036-06-05T09:00:30Z"));
    assert_eq!(nightly.believed(&past, now), nightly.begin(now));
}

#[test]
fn jitter_is_steady_bounded_and_different_by_site() {
    let hour = Duration::from_secs(3_600);
    let of = |name: &str, jitter| Schedule::new("0 3 * * *", TimeZone::UTC, jitter, name).unwrap();
    let slot = at("2026-06-02T03:00:00Z");
    let mut starts: Vec<Timestamp> = (0..50)
        .map(|number| of(&format!("site {number}"), hour).start_of(slot))
        .collect();
    assert_eq!(starts[7], of("site 7", hour).start_of(slot));
    assert!(
        starts
            .iter()
            .all(|start| *start >= slot && *start <= slot + hour)
    );
    starts.sort();
    starts.dedup();
    assert!(starts.len() > 45, "{starts:?}");
    // At most a tenth of the time to the next slot.
    let often = Schedule::new("*/10 * * * *", TimeZone::UTC, hour, "site").unwrap();
    for minutes in (0..600).step_by(10) {
        let slot = slot + SignedDuration::from_mins(minutes);
        assert!(often.start_of(slot) <= slot + SignedDuration::from_secs(60));
    }
}

#[test]
fn a_late_start_within_jitter_counts_as_slot() {
    let jitter = Duration::from_secs(3_600);
    let nightly = (0..100)
        .map(|number| {
            Schedule::new("0 3 * * *", TimeZone::UTC, jitter, &number.to_string()).unwrap()
        })
        .find(|schedule| {
            let slot = at("2026-06-05T03:00:00Z");
            schedule.start_of(slot) > slot + SignedDuration::from_mins(10)
        })
        .unwrap();
    let past = nightly.begin(at("2026-06-01T09:00:00Z"));
    let next = nightly.next(&past, at("2026-06-05T03:05:00Z"));
    let slot = at("2026-06-05T03:00:00Z");
    let start = nightly.start_of(slot);
    assert_eq!(next, NextRun::At { slot, start });
}

/// Simulates the timetable of `sites` (name, host, expression, minutes of a crawl) from `from` to `until`, with a step whenever
/// one is due: start and end of every crawl, and skipped slots.
fn play(
    timetable: &mut Timetable,
    minutes: &[(&str, i64)],
    from: Timestamp,
    until: Timestamp,
) -> Vec<String> {
    let mut events = Vec::new();
    let mut ends: Vec<(Timestamp, String)> = Vec::new();
    let mut now = from;
    loop {
        ends.sort();
        while let Some((end, name)) = ends.first().cloned()
            && end <= now
        {
            ends.remove(0);
            let skipped = timetable.ended(&name, now);
            if skipped > 0 {
                events.push(format!("{now} {name} skipped {skipped}"));
            }
        }
        let wake = match timetable.step(now) {
            TimetableStep::Start { name, missed, .. } => {
                let missed = if missed > 0 {
                    format!(" for {missed} more")
                } else {
                    String::new()
                };
                events.push(format!("{now} {name}{missed}"));
                let (_, takes) = minutes.iter().find(|(known, _)| *known == name).unwrap();
                ends.push((now + SignedDuration::from_mins(*takes), name));
                continue;
            }
            TimetableStep::WaitUntil(wake) => Some(wake),
            TimetableStep::Wait => None,
        };
        let end = ends.iter().map(|(end, _)| *end).min();
        let Some(next) = wake
            .into_iter()
            .chain(end)
            .min()
            .filter(|next| *next < until)
        else {
            return events;
        };
        assert!(next > now, "time does not move at {now}");
        now = next;
    }
}

fn planned(sites: &[(&str, &str, &str)]) -> Vec<Planned> {
    let planned = sites.iter().map(|(name, host, expression)| Planned {
        name: (*name).to_owned(),
        host: HostKey::new(host),
        schedule: Schedule::new(expression, paris(), Duration::ZERO, name).unwrap(),
    });
    planned.collect()
}

/// Five sites, of which two share a host.
const FIVE: [(&str, &str, &str); 5] = [
    ("gap", "a.example", "30 2 * * *"),
    ("early", "b.example", "15 1 * * *"),
    ("late", "b.example", "20 1 * * *"),
    ("long", "c.example", "0 0,1,2,3 * * *"),
    ("weekly", "d.example", "0 3 * * SUN"),
];
const TAKES: [(&str, i64); 5] = [
    ("gap", 10),
    ("early", 10),
    ("late", 10),
    ("long", 130),
    ("weekly", 30),
];

#[test]
fn five_sites_follow_both_clock_changes() {
    let check = |from: &str, until: &str, expected: &[&str]| {
        let mut timetable = Timetable::new(8);
        timetable.set_sites(planned(&FIVE), |_| None, at(from));
        let events = play(&mut timetable, &TAKES, at(from), at(until));
        assert_eq!(events, expected);
    };
    check(
        "2026-03-28T22:30:00Z",
        "2026-03-29T22:30:00Z",
        &[
            "2026-03-28T23:00:00Z long",
            "2026-03-29T00:15:00Z early",
            // Its host is being crawled for the other site: it waits, and keeps its slot.
            "2026-03-29T00:25:00Z late",
            "2026-03-29T01:00:00Z gap",
            "2026-03-29T01:00:00Z weekly",
            // 01:00 and 02:00 (which is 03:00 that day) came during the crawl of midnight.
            "2026-03-29T01:10:00Z long skipped 2",
            "2026-03-29T22:00:00Z long",
        ],
    );
    check(
        "2026-10-24T21:30:00Z",
        "2026-10-25T12:00:00Z",
        &[
            "2026-10-24T22:00:00Z long",
            "2026-10-24T23:15:00Z early",
            "2026-10-24T23:25:00Z late",
            "2026-10-25T00:10:00Z long skipped 2",
            "2026-10-25T00:30:00Z gap",
            // Several hours a day are an interval: the hour that comes twice counts twice.
            "2026-10-25T01:00:00Z long",
            "2026-10-25T02:00:00Z weekly",
            "2026-10-25T03:10:00Z long skipped 1",
        ],
    );
}

#[test]
fn a_limit_of_runs_keeps_the_order() {
    let from = at("2026-06-01T00:00:00Z");
    let sites = [
        ("c", "c.example", "0 3 * * *"),
        ("a", "a.example", "0 3 * * *"),
        ("b", "b.example", "59 2 * * *"),
    ];
    let mut timetable = Timetable::new(1);
    timetable.set_sites(planned(&sites), |_| None, from);
    let takes = [("a", 5), ("b", 5), ("c", 5)];
    let events = play(&mut timetable, &takes, from, at("2026-06-01T12:00:00Z"));
    assert_eq!(
        events,
        [
            "2026-06-01T00:59:00Z b",
            "2026-06-01T01:04:00Z a",
            "2026-06-01T01:09:00Z c"
        ]
    );
}

#[test]
fn sites_come_and_go_while_others_are_crawled() {
    let from = at("2026-06-01T00:59:00Z");
    let before = planned(&[
        ("a", "a.example", "0 3 * * *"),
        ("b", "b.example", "0 3 * * *"),
    ]);
    let mut timetable = Timetable::new(2);
    timetable.set_sites(before, |_| None, from);
    let three = at("2026-06-01T01:00:00Z");
    for expected in ["a", "b"] {
        assert!(
            matches!(timetable.step(three), TimetableStep::Start { name, .. } if name == expected),
            "{expected}"
        );
    }
    // Its run goes on when a site is taken out; another one on its host waits for that.
    let after = planned(&[
        ("b", "b.example", "0 3 * * *"),
        ("new", "a.example", "1 3 * * *"),
    ]);
    timetable.set_sites(after, |_| None, three);
    assert_eq!(timetable.running().collect::<Vec<_>>(), ["a", "b"]);
    timetable.set_max_running(5);
    let later = at("2026-06-01T01:01:00Z");
    assert_eq!(timetable.step(later), TimetableStep::Wait);
    assert_eq!(timetable.ended("a", later), 0);
    assert!(matches!(timetable.step(later), TimetableStep::Start { name, .. } if name == "new"));
    assert_eq!(timetable.next_start("b", later), None);
    timetable.ended("b", later);
    assert_eq!(
        timetable.next_start("b", later),
        Some(at("2026-06-02T01:00:00Z"))
    );
    assert_eq!(timetable.next_start("gone", later), None);
}

#[test]
fn only_interrupted_runs_are_due_again() {
    let from = at("2026-06-01T00:00:00Z");
    let sites = [
        ("a", "a.example", "0 3 * * *"),
        ("b", "b.example", "0 3 * * *"),
        ("c", "c.example", "0 3 * * *"),
    ];
    let three = at("2026-06-01T01:00:00Z");
    let mut timetable = Timetable::new(3);
    timetable.set_sites(planned(&sites), |_| None, from);
    while let TimetableStep::Start { .. } = timetable.step(three) {}
    assert_eq!(timetable.running().collect::<Vec<_>>(), ["a", "b", "c"]);
    timetable.ended("a", three);
    timetable.interrupted("b");
    // The program ends during the crawl of c.
    let pasts: Vec<(String, ScheduleState)> = timetable
        .pasts()
        .map(|(name, past)| (name.to_owned(), past))
        .collect();
    let recall = |name: &str| {
        let (_, past) = pasts.iter().find(|(known, _)| known == name)?;
        Some(past.clone())
    };
    let back = at("2026-06-01T01:10:00Z");
    let mut timetable = Timetable::new(3);
    timetable.set_sites(planned(&sites), recall, back);
    let mut started = Vec::new();
    while let TimetableStep::Start { name, slot, missed } = timetable.step(back) {
        assert_eq!((slot, missed), (three, 0), "{name}");
        started.push(name);
    }
    assert_eq!(started, ["b", "c"]);

    // A schedule that was changed meanwhile owes nothing.
    let mut timetable = Timetable::new(3);
    timetable.set_sites(planned(&sites[..1]), |_| None, from);
    assert!(matches!(timetable.step(three), TimetableStep::Start { .. }));
    timetable.set_sites(planned(&[("a", "a.example", "0 4 * * *")]), |_| None, three);
    timetable.interrupted("a");
    let (_, past) = timetable.pasts().next().unwrap();
    assert_eq!((past.served, past.since), (None, three));
    let four = at("2026-06-01T02:00:00Z");
    assert_eq!(timetable.step(three), TimetableStep::WaitUntil(four));
}
