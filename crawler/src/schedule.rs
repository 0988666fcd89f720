//! Decides the next site to crawl and its time. Pure: from cron expressions, zones, the past and the current time it computes the
//! next start. Waiting and crawling are elsewhere.
//!
//! A [`Schedule`] is the rule of one site; its *slots* are the times of its cron expression. A [`Timetable`] has the sites of a
//! program and decides which of them starts.
//!
//! - Slots that passed while the program was not running are made up by one crawl.
//! - A slot that comes while the crawl of an earlier slot of the site is under way is skipped.
//! - When a clock change skips the wall-clock time of a slot, its crawl starts at the first time after the gap; when it repeats a
//!   time, a slot at a fixed time happens once.
//! - A clock that is set back by less than the time between two slots starts no crawl twice; set back by more, it skips no later
//!   slot.

mod timetable;

#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

pub use self::timetable::{Planned, Timetable, TimetableStep};

/// Missed slots are counted up to here.
const MAX_COUNTED: u32 = 1_000;

/// Jitter takes at most this part of the time to the next slot.
const JITTER_PART: i32 = 10;

/// From here on it is tried whether an expression ever names a time.
const SOME_DAY: Timestamp = Timestamp::constant(1_704_067_200, 0);

/// Times at which a site is crawled.
#[derive(Clone)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
    jitter: SignedDuration,
    /// Spreads sites with the same expression over the jitter.
    seed: u64,
    text: String,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("text", &self.text)
            .field("jitter", &self.jitter)
            .finish_non_exhaustive()
    }
}

/// Reason why a schedule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The expression has another form.
    #[error(
        "{expression:?} is not a cron expression ({problem}); expected five fields (minute, hour, day of month, month, day of \
         week) such as \"30 2 * * *\", or one of @hourly, @daily, @weekly, @monthly"
    )]
    Expression {
        /// The text that was passed.
        expression: String,
        /// The problem.
        problem: String,
    },
    /// The expression names no time that ever comes.
    #[error("{0:?} names a time that never comes")]
    Never(String),
    /// There is no such zone.
    #[error(
        "{0:?} is not a time zone; expected a name of the IANA database such as Europe/Paris, or UTC"
    )]
    Zone(String),
}

/// Progress of a schedule. It is stored between sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleState {
    /// The schedule that it is about, as [`Schedule::text`] has it.
    pub schedule: String,
    /// Since when the schedule is in force: slots before were never its own.
    pub since: Timestamp,
    /// The newest served slot: a crawl was started for it, or it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Timestamp>,
}

/// Next crawl of one site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRun {
    /// A crawl for `slot` starts now.
    Now {
        /// The newest slot that passed.
        slot: Timestamp,
        /// Earlier missed slots, at most 1,000: this crawl makes up for them.
        missed: u32,
    },
    /// A crawl for `slot` starts at `start`.
    At {
        /// The slot.
        slot: Timestamp,
        /// The slot with its jitter.
        start: Timestamp,
    },
    /// No further slot comes.
    Never,
}

impl Schedule {
    /// The schedule of the site `name` by a cron expression of five fields in `zone`. `jitter` is the most by which a crawl
    /// starts later than its slot (default of the settings: 0), but no more than a tenth of the time to the next slot. Equal
    /// names are delayed equally.
    ///
    /// Fields are those of POSIX `crontab`, with names, steps, `L`, `#` and `W`; if both days are restricted, either of them
    /// matches.
    ///
    /// # Errors
    /// See [`ScheduleError`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use crawler::schedule::{Schedule, zone};
    ///
    /// let nightly = Schedule::new("30 2 * * *", zone("Europe/Paris")?, Duration::ZERO, "site")?;
    /// let noon = "2026-06-01T12:00:00Z".parse().unwrap();
    /// assert_eq!(nightly.slot_after(noon), "2026-06-02T00:30:00Z".parse().ok());
    /// # Ok::<(), crawler::schedule::ScheduleError>(())
    /// ```
    pub fn new(
        expression: &str,
        zone: TimeZone,
        jitter: Duration,
        name: &str,
    ) -> Result<Self, ScheduleError> {
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser
            .parse(expression)
            .map_err(|error| ScheduleError::Expression {
                expression: expression.to_owned(),
                problem: error.to_string().trim_end_matches('.').to_owned(),
            })?;
        let zone_name = zone.iana_name().unwrap_or("local time");
        let schedule = Self {
            text: format!("{} {zone_name}", expression.trim()),
            cron,
            zone,
            jitter: SignedDuration::try_from(jitter).unwrap_or(SignedDuration::MAX),
            seed: xxhash_rust::xxh3::xxh3_64(name.as_bytes()),
        };
        match schedule.slot_after(SOME_DAY) {
            Some(_) => Ok(schedule),
            None => Err(ScheduleError::Never(expression.to_owned())),
        }
    }

    /// The expression and its zone, for messages and to detect a changed schedule.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first slot after `time`.
    pub fn slot_after(&self, time: Timestamp) -> Option<Timestamp> {
        let from = time.to_zoned(self.zone.clone());
        let found = self.cron.find_next_occurrence(&from, false).ok()?;
        Some(found.timestamp()).filter(|found| *found > time)
    }

    /// The last slot at `time` or before it.
    pub fn slot_before(&self, time: Timestamp) -> Option<Timestamp> {
        let from = time.to_zoned(self.zone.clone());
        let found = self.cron.find_previous_occurrence(&from, true).ok()?;
        Some(found.timestamp()).filter(|found| *found <= time)
    }

    /// Start of the crawl for `slot`: `slot` and its part of the jitter, whole seconds.
    pub fn start_of(&self, slot: Timestamp) -> Timestamp {
        let limit = self.slot_after(slot).map_or(self.jitter, |next| {
            self.jitter.min(next.duration_since(slot) / JITTER_PART)
        });
        let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&slot.as_second().to_le_bytes(), self.seed);
        let share = i128::from(hash % 65_537);
        let seconds = i128::from(limit.as_secs()) * share / 65_536;
        let delay = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
        slot.checked_add(delay).unwrap_or(Timestamp::MAX)
    }

    /// The past of a schedule that is in force from `now` on.
    pub fn begin(&self, now: Timestamp) -> ScheduleState {
        ScheduleState {
            schedule: self.text.clone(),
            since: now,
            served: None,
        }
    }

    /// The part of `past` that can be true at `now`. A time that a right clock could not have set is dropped, because it would
    /// stop the schedule until that time. A future slot may be served already only if it is the next one. The past of a schedule
    /// with another text is dropped.
    ///
    /// A caller that stores a past stores this in its place: a schedule that began again at each look would never reach a slot.
    #[must_use]
    pub fn believed(&self, past: &ScheduleState, now: Timestamp) -> ScheduleState {
        let is_ahead = past.served.is_some_and(|served| {
            served > now && self.slot_after(now).is_none_or(|next| served > next)
        });
        if past.schedule != self.text || past.since > now || is_ahead {
            return self.begin(now);
        }
        past.clone()
    }

    /// The next crawl after `past`.
    pub fn next(&self, past: &ScheduleState, now: Timestamp) -> NextRun {
        let past = self.believed(past, now);
        let Some(first) = self.slot_after(past.dealt_with_until()) else {
            return NextRun::Never;
        };
        let newest = self.slot_before(now).map_or(first, |slot| slot.max(first));
        let start = self.start_of(newest);
        if start > now {
            // What was missed before is made up by the slot that is about to start.
            let slot = newest;
            return NextRun::At { slot, start };
        }
        let mut missed = 0;
        let mut slot = first;
        while slot < newest && missed < MAX_COUNTED {
            missed += 1;
            slot = self.slot_after(slot).unwrap_or(newest);
        }
        NextRun::Now {
            slot: newest,
            missed,
        }
    }

    /// Notes that a crawl for `slot` was started.
    pub fn serve(&self, past: &mut ScheduleState, slot: Timestamp) {
        past.served = Some(slot);
    }

    /// Notes that an earlier crawl has ended at `now`: slots whose crawls would have started meanwhile are skipped. Returns their
    /// number, at most 1,000.
    pub fn skip(&self, past: &mut ScheduleState, now: Timestamp) -> u32 {
        *past = self.believed(past, now);
        let mut skipped = 0;
        let mut slot = past.dealt_with_until();
        while skipped < MAX_COUNTED
            && let Some(next) = self.slot_after(slot)
            && self.start_of(next) <= now
        {
            skipped += 1;
            slot = next;
        }
        if skipped == MAX_COUNTED {
            slot = self
                .slot_before(now)
                .map_or(slot, |newest| newest.max(slot));
        }
        if skipped > 0 {
            past.served = Some(slot);
        }
        skipped
    }
}

impl ScheduleState {
    /// Time up to which all slots are served.
    fn dealt_with_until(&self) -> Timestamp {
        self.served.map_or(self.since, |slot| slot.max(self.since))
    }
}

/// The zone that the IANA database calls `name`.
///
/// # Errors
/// [`ScheduleError::Zone`]: there is none.
pub fn zone(name: &str) -> Result<TimeZone, ScheduleError> {
    TimeZone::get(name).map_err(|_| ScheduleError::Zone(name.to_owned()))
}
