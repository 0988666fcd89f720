//! The sites of a daemon: the next one to start, and the time of the next step. One crawl per site and per host at a time, and a
//! limit to all of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;

use super::{NextRun, Schedule, ScheduleState};
use crate::url_key::HostKey;

/// A site that is to be crawled by a schedule.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The name; names are unique.
    pub name: String,
    /// The host that its requests go to.
    pub host: HostKey,
    /// The schedule.
    pub schedule: Schedule,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimetableStep {
    /// A crawl of this site starts now; [`Timetable::ended`] must be called at its end.
    Start {
        /// The site.
        name: String,
        /// The slot it is for.
        slot: Timestamp,
        /// Earlier slots that it makes up for.
        missed: u32,
    },
    /// Nothing before this time, unless a crawl ends.
    WaitUntil(Timestamp),
    /// Nothing, unless a crawl ends or the sites change.
    Wait,
}

/// Sites, the past of their schedules, and the crawls in progress.
#[derive(Debug)]
pub struct Timetable {
    sites: BTreeMap<String, TimetableSite>,
    /// The crawls in progress, by the name of their site.
    running: BTreeMap<String, Running>,
    /// Sites on which no work begins.
    paused: BTreeSet<String>,
    max_running: usize,
}

#[derive(Debug)]
struct TimetableSite {
    planned: Planned,
    past: ScheduleState,
}

/// A crawl in progress.
#[derive(Debug)]
struct Running {
    host: HostKey,
    slot: Timestamp,
    /// Last slot served before it.
    served_before: Option<Timestamp>,
}

impl TimetableSite {
    /// The past when `run` was cut short: its slot is still to be served. A schedule that is in force since later does not have
    /// the slot.
    fn past_without(&self, run: &Running) -> ScheduleState {
        let mut past = self.past.clone();
        if past.served == Some(run.slot) {
            past.served = run.served_before;
        }
        past
    }
}

impl Timetable {
    /// A timetable of nothing yet; `max_running` sites, at least one, are crawled at the same time.
    pub fn new(max_running: usize) -> Self {
        Self {
            sites: BTreeMap::new(),
            running: BTreeMap::new(),
            paused: BTreeSet::new(),
            max_running: max_running.max(1),
        }
    }

    /// Replaces the sites. The past of an unchanged schedule of a site is retained; `load_past` returns that of an earlier session.
    /// A crawl in progress continues, also of a removed site.
    pub fn set_sites(
        &mut self,
        sites: impl IntoIterator<Item = Planned>,
        mut load_past: impl FnMut(&str) -> Option<ScheduleState>,
        now: Timestamp,
    ) {
        let mut before = std::mem::take(&mut self.sites);
        for planned in sites {
            let known = before.remove(&planned.name).map(|site| site.past);
            let past = known.or_else(|| load_past(&planned.name)).map_or_else(
                || planned.schedule.begin(now),
                |past| planned.schedule.believed(&past, now),
            );
            self.sites
                .insert(planned.name.clone(), TimetableSite { planned, past });
        }
    }

    /// Replaces the names of the sites on which no work begins. Slots that pass meanwhile are missed; work in progress continues.
    pub fn set_paused(&mut self, paused: BTreeSet<String>) {
        self.paused = paused;
    }

    /// The limit to the number of crawls at the same time, at least one.
    pub fn set_max_running(&mut self, max_running: usize) {
        self.max_running = max_running.max(1);
    }

    /// The next step. A crawl that it starts counts as in progress at once. Of due sites the one that is due longest is first; a
    /// site whose host is being crawled waits without losing its slot.
    pub fn step(&mut self, now: Timestamp) -> TimetableStep {
        for site in self.sites.values_mut() {
            site.past = site.planned.schedule.believed(&site.past, now);
        }
        let busy: HashSet<&HostKey> = self.running.values().map(|run| &run.host).collect();
        let has_room = self.running.len() < self.max_running;
        let mut wake: Option<Timestamp> = None;
        let mut first: Option<(Timestamp, u32, &String)> = None;
        for (name, site) in &self.sites {
            if self.running.contains_key(name) || self.paused.contains(name) {
                continue;
            }
            match site.planned.schedule.next(&site.past, now) {
                NextRun::Now { slot, missed } => {
                    let is_first = first.is_none_or(|(earliest, _, _)| slot < earliest);
                    if has_room && is_first && !busy.contains(&site.planned.host) {
                        first = Some((slot, missed, name));
                    }
                }
                NextRun::At { start, .. } => {
                    wake = Some(wake.map_or(start, |earliest| earliest.min(start)));
                }
                NextRun::Never => {}
            }
        }
        let Some((slot, missed, name)) = first else {
            return wake.map_or(TimetableStep::Wait, TimetableStep::WaitUntil);
        };
        let name = name.clone();
        if let Some(site) = self.sites.get_mut(&name) {
            let run = Running {
                host: site.planned.host.clone(),
                slot,
                served_before: site.past.served,
            };
            site.planned.schedule.serve(&mut site.past, slot);
            self.running.insert(name.clone(), run);
        }
        TimetableStep::Start { name, slot, missed }
    }

    /// Begins other work on the site `name`, which no slot is for, if nothing is done there or on its host and there is room;
    /// returns whether it has begun. [`Timetable::interrupted`] must be called at its end.
    pub fn occupy(&mut self, name: &str, now: Timestamp) -> bool {
        let Some(site) = self.sites.get(name) else {
            return false;
        };
        let host = &site.planned.host;
        let is_busy = self.running.values().any(|run| run.host == *host);
        let is_busy = is_busy || self.paused.contains(name);
        let may_begin = !is_busy && self.running.len() < self.max_running;
        if may_begin {
            let run = Running {
                host: host.clone(),
                slot: now,
                served_before: site.past.served,
            };
            self.running.insert(name.to_owned(), run);
        }
        may_begin
    }

    /// Notes the end of a crawl. Returns the number of slots of the site during it: they are skipped.
    pub fn ended(&mut self, name: &str, now: Timestamp) -> u32 {
        if self.running.remove(name).is_none() {
            return 0;
        }
        self.sites
            .get_mut(name)
            .map_or(0, |site| site.planned.schedule.skip(&mut site.past, now))
    }

    /// Notes that a crawl was stopped before its end: its slot is still to be served, and due.
    pub fn interrupted(&mut self, name: &str) {
        let Some(run) = self.running.remove(name) else {
            return;
        };
        if let Some(site) = self.sites.get_mut(name) {
            site.past = site.past_without(&run);
        }
    }

    /// The past of each site, to be stored for the next session. A crawl in progress is not included: if the program ends before
    /// it, the next session continues it at once.
    pub fn pasts(&self) -> impl Iterator<Item = (&str, ScheduleState)> {
        self.sites.iter().map(|(name, site)| {
            let past = match self.running.get(name) {
                Some(run) => site.past_without(run),
                None => site.past.clone(),
            };
            (name.as_str(), past)
        })
    }

    /// Start of the next crawl of `name`; `None` for an unknown site, for one that is paused or being crawled, and for one whose
    /// schedule names no further time.
    pub fn next_start(&self, name: &str, now: Timestamp) -> Option<Timestamp> {
        let site = self.sites.get(name)?;
        if self.running.contains_key(name) || self.paused.contains(name) {
            return None;
        }
        match site.planned.schedule.next(&site.past, now) {
            NextRun::Now { .. } => Some(now),
            NextRun::At { start, .. } => Some(start),
            NextRun::Never => None,
        }
    }

    /// Names of the sites that are being crawled.
    pub fn running(&self) -> impl Iterator<Item = &str> {
        self.running.keys().map(String::as_str)
    }
}
