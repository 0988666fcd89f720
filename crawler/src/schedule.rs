//! Which site is crawled next, and when? Pure: cron expressions, zones, what was done before and the time
//! of now go in, the next start comes out. Whoever waits, and whoever crawls, is elsewhere.
//!
//! A [`Schedule`] is the rule of one site; its *slots* are the times that its cron expression names. A
//! [`Timetable`] holds the sites of a program and says which of them starts.
//!
//! - A slot that passed while nobody looked is made up once, however many there were.
//! - A slot that comes while the site's run of an earlier one still goes on is skipped.
//! - Where a clock change takes the wall-clock time of a slot away, its run starts with the first time that
//!   exists again; where it brings one twice, a slot at a fixed time happens once.
//! - A clock that was put back by less than the time between two slots does not start a run again that was
//!   started before; put back by more, it leaves out nothing that is still to come.

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

pub use self::timetable::{Planned, Step, Timetable};

/// Missed slots are counted up to here.
const MAX_COUNTED: u32 = 1_000;

/// Jitter takes at most this part of the time to the next slot.
const JITTER_PART: i32 = 10;

/// From here on it is tried whether an expression ever names a time.
const SOME_DAY: Timestamp = Timestamp::constant(1_704_067_200, 0);

/// When a site is crawled.
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

/// Why there can be no such schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The expression has another form.
    #[error(
        "{expression:?} is no cron expression ({problem}); expected five fields (minute, hour, day of month, month, day of \
         week) such as \"30 2 * * *\", or one of @hourly, @daily, @weekly, @monthly"
    )]
    Expression {
        /// What was given.
        expression: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The expression names no time that ever comes.
    #[error("{0:?} names a time that never comes")]
    Never(String),
    /// There is no such zone.
    #[error(
        "{0:?} is no time zone; expected a name of the IANA database such as Europe/Paris, or UTC"
    )]
    Zone(String),
}

/// What was done of a schedule so far. Kept between starts of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// The schedule that it is about, as [`Schedule::text`] has it.
    pub schedule: String,
    /// Since when the schedule is in force: slots before were never its own.
    pub since: Timestamp,
    /// The newest slot that is dealt with: a run was started for it, or it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Timestamp>,
}

/// What comes next for one site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRun {
    /// A run for `slot` starts now.
    Now {
        /// The newest slot that passed.
        slot: Timestamp,
        /// Earlier slots that nobody served, at most 1,000: this run makes up for them.
        missed: u32,
    },
    /// A run for `slot` starts at `start`.
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
    /// The schedule of the site `name` by a cron expression of five fields in `zone`; `jitter` is the most by
    /// which a run starts later than its slot (default of the settings: 0), but no more than a tenth of
    /// the time to the next slot. Equal names are delayed equally.
    ///
    /// Fields are those of POSIX `crontab`, with names, steps, `L`, `#` and `W`; if both days are
    /// restricted, either of them fits.
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

    /// The expression and its zone, for people and to tell whether a schedule is another one now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first slot behind `time`.
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

    /// When the run for `slot` starts: `slot` and its part of the jitter, whole seconds.
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
    pub fn begin(&self, now: Timestamp) -> Past {
        Past {
            schedule: self.text.clone(),
            since: now,
            served: None,
        }
    }

    /// What of `past` can be true at `now`: whatever has another time than a right clock could have given it was done
    /// under a wrong one, and would stop the schedule until that time comes. A slot to come may be served already only
    /// if it is the next one. What a schedule of another text did is nothing of this one.
    ///
    /// Whoever keeps a past keeps this in its place: a schedule that begins anew at every look never comes to a slot.
    #[must_use]
    pub fn believed(&self, past: &Past, now: Timestamp) -> Past {
        let is_ahead = past.served.is_some_and(|served| {
            served > now && self.slot_after(now).is_none_or(|next| served > next)
        });
        if past.schedule != self.text || past.since > now || is_ahead {
            return self.begin(now);
        }
        past.clone()
    }

    /// What comes next, when this was done so far.
    pub fn next(&self, past: &Past, now: Timestamp) -> NextRun {
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

    /// Notes that a run for `slot` was started.
    pub fn serve(&self, past: &mut Past, slot: Timestamp) {
        past.served = Some(slot);
    }

    /// Notes that a run which began earlier has ended at `now`: slots whose runs would have started meanwhile
    /// are skipped. Says how many, at most 1,000.
    pub fn skip(&self, past: &mut Past, now: Timestamp) -> u32 {
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

impl Past {
    /// Up to when nothing is left to do.
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
