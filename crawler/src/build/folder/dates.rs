//! Decides whether the times of the files of a folder are evidence of changes.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use super::walk::Walk;
use crate::{
    build::{BuildError, Loaded},
    notes::Note,
};

/// Files that were written within this time were written by one checkout, copy or build ...
const ONE_WRITING: Duration = Duration::from_secs(10 * 60);

/// ... and when it wrote more than half of the pages, no file's time is evidence of when its page changed.
const MOST_PERCENT: usize = 50;

/// Returns whether the times of the files are evidence: not when most were written at once. Walks through all of them.
pub(super) fn times_count(
    walk: &mut Walk<'_>,
    root: &Path,
    loaded: &mut Loaded,
) -> Result<bool, BuildError> {
    let mut times = Vec::new();
    walk.each(&mut |file| {
        if file.is_page() {
            times.push(seconds(file.modified));
        }
        Ok(())
    })?;
    let at_once = most_at_once(&mut times);
    let is_plausible = at_once * 100 <= times.len() * MOST_PERCENT;
    if !is_plausible && !times.is_empty() {
        let minutes = ONE_WRITING.as_secs() / 60;
        let note = Note::file_times_unused(&root.display(), &at_once, &times.len(), &minutes);
        loaded.notes.push(note.counting(at_once as u64));
    }
    Ok(is_plausible)
}

/// Whole seconds since 1970; a file without a time has the time 0.
fn seconds(time: Option<SystemTime>) -> u64 {
    time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_secs())
}

/// How many of these times fall into one [`ONE_WRITING`], at most.
fn most_at_once(times: &mut [u64]) -> usize {
    times.sort_unstable();
    let mut most = 0;
    let mut first = 0;
    for (last, time) in times.iter().enumerate() {
        while times
            .get(first)
            .is_some_and(|earliest| time - earliest > ONE_WRITING.as_secs())
        {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_writing_are_counted_together() {
        fn check(times: &[u64], expected: usize) {
            assert_eq!(most_at_once(&mut times.to_vec()), expected, "{times:?}");
        }
        let minutes = |number: u64| number * 60;
        check(&[], 0);
        check(&[5], 1);
        check(&[5, 5, 5], 3);
        check(&[0, minutes(10), minutes(10) + 1, minutes(21)], 2);
        check(&[minutes(30), 0, minutes(31), minutes(32), minutes(99)], 3);
    }
}
