use std::collections::HashSet;

use super::*;

fn report(serving: Serving, looks: u32) -> ServedReport {
    let looked_at = "2026-06-02T12:00:00Z".parse().unwrap();
    ServedReport {
        set: "a".to_owned(),
        serving,
        looked_at,
        files: 3,
        faults: Vec::new(),
        not_served_since: None,
        looks,
        read_until: None,
    }
}

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

#[test]
fn a_set_that_is_not_served_is_looked_at_sooner() {
    let check = |looks, interval: u64, expected: &str| {
        let serving = [Serving::Missing, Serving::Served][usize::from(looks == 0)];
        let next = report(serving, looks).next_look(Duration::from_secs(interval));
        assert_eq!(next, expected.parse().unwrap(), "{looks}");
    };
    check(0, DAY, "2026-06-03T12:00:00Z");
    check(1, DAY, "2026-06-02T12:10:00Z");
    check(2, DAY, "2026-06-02T13:00:00Z");
    check(3, DAY, "2026-06-02T18:00:00Z");
    check(4, DAY, "2026-06-03T12:00:00Z");
    check(900, DAY, "2026-06-03T12:00:00Z");
    check(2, 60, "2026-06-02T12:01:00Z");
}

#[test]
fn a_set_is_late_after_a_day() {
    let late = |since: &str| {
        ServedReport {
            not_served_since: Some(since.parse().unwrap()),
            ..report(Serving::Blocked, 5)
        }
        .is_late()
    };
    assert!(late("2026-06-01T12:00:00Z"));
    assert!(!late("2026-06-01T12:00:01Z"));
    assert!(!report(Serving::Served, 0).is_late());
}

#[test]
fn looks_on_other_days_read_other_files() {
    let file = |number: usize| PublishedContent {
        url: format!("https://example.com/{number}.xml"),
        sha256: String::new(),
        file_sha256: String::new(),
        changed: None,
    };
    let files: Vec<_> = (0..10).map(file).collect();
    let all: Vec<_> = files.iter().collect();
    let mut seen = HashSet::new();
    for day in 0..4 {
        let now = Timestamp::from_second(day * 86_400).unwrap();
        seen.extend(sample(&all, now).map(|file| file.url.clone()));
    }
    assert_eq!(seen.len(), files.len());
    assert_eq!(sample(&all[..2], Timestamp::UNIX_EPOCH).count(), 2);
    assert_eq!(sample(&[], Timestamp::UNIX_EPOCH).count(), 0);
}
