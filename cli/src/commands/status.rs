//! `arpent status`: how the last session of each site ended, and when the next one begins. It reads small files that
//! are beside the states, so it works while crawls have locked them, and changes nothing.

#[cfg(feature = "catalogue")]
mod fleet;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use crawler::{
    driver::{
        Named, Names, ScheduleRecord, SessionSettings, has_daemon, read_schedules,
        schedule_file_in, site_of_start,
    },
    schedule::NextRun,
    site_run::{LastSession, Pauses, SiteStatus, StatusReport, Zone, read_pauses},
    store::with_causes,
};
use jiff::Timestamp;

#[cfg(all(feature = "catalogue", feature = "page"))]
pub(super) use self::fleet::report_of as fleet_report;
use super::{crawl::load, dependencies};
use crate::{
    args::StatusArgs,
    exit_code::ExitCode,
    failure::{self, Misuse},
    output::Output,
    print::print_result,
    settings::{CrawlSettings, Environment, Purpose, SiteSettings, duration, with_scheme},
};

/// End of the name of the file with the last session of a site, after the site's name.
const LAST_SESSION: &str = ".last.json";

/// End of the name of the state, after the site's name.
const STATE: &str = ".db";

/// End of the name of a state that `arpent build` stored: no crawl is known by that name.
const OF_BUILDS: &str = ".build";

/// Sites that are shown when the settings name none.
const MAX_SITES: usize = 10_000;

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
    let now = dependencies::clock(environment).now();
    let mut report = report_on(&settings, args.site.as_deref(), now, output)?;
    let is_daemon_there = report.has_daemon;
    if let Some(typed) = args.site.as_ref().filter(|_| report.sites.is_empty()) {
        let message = format!("{typed}: no such site; arpent status lists the sites");
        return Err(Misuse(message).into());
    }
    let faults = max_age.map_or_else(Vec::new, |age| report.judge_age(age));
    if report.sites.is_empty() && !args.json && max_age.is_none() {
        output.info("no site was crawled with this state");
    } else {
        print_result(args.json, &report.document(), || report.view(), output)?;
    }
    if !is_daemon_there && !args.json && report.sites.iter().any(|site| site.schedule.is_some()) {
        output.info("no arpent daemon runs with this state");
    }
    Ok(report_faults(&faults, output))
}

/// The status of the sites of the settings, or of those that the folder of the states knows; `typed`: of one of them.
///
/// # Errors
/// The folder of the states cannot be read.
pub(super) fn report_on(
    settings: &CrawlSettings,
    typed: Option<&str>,
    now: Timestamp,
    output: &Output,
) -> failure::Result<StatusReport> {
    let state = &settings.shared.session.state;
    let is_daemon_there = has_daemon(state);
    let mut kept = read_schedules(state).unwrap_or_else(|error| {
        output.warn(&format!(
            "failed to read {}: {error}",
            schedule_file_in(state).display()
        ));
        ScheduleRecord::default()
    });
    if !is_daemon_there {
        // A killed daemon did not remove them.
        kept.running.clear();
    }
    let shared = &settings.shared;
    let mut report = StatusReport {
        now,
        has_daemon: is_daemon_there,
        sites: Vec::new(),
        time_zone: zone_of(&shared.session),
    };
    let pauses = read_pauses(state, report.now).unwrap_or_else(|error| {
        let state = state.display();
        output.warn(&format!("failed to read the pauses in {state}: {error}"));
        Pauses::new()
    });
    let is_wanted = |status: &SiteStatus| {
        typed.is_none_or(|typed| {
            status.is_meant_by(typed) || status.is_meant_by(&with_scheme(typed))
        })
    };
    let names = Names::read(state).unwrap_or_else(|error| {
        output.warn(&with_causes(&error));
        Names::default()
    });
    let sites = settings.sites.iter();
    report.sites = sites
        .map(|site| {
            let mut status = configured(site, (state, &names), &kept, report.now, output);
            status.paused = pauses.get(&site.name).cloned();
            if status.paused.is_some() {
                status.next = None;
            }
            status
        })
        .filter(is_wanted)
        .collect();
    if settings.sites.is_empty() || report.sites.is_empty() {
        let names = names_in(state)?;
        let sites = names
            .iter()
            .map(|name| known(&shared.session, name, output));
        // No crawl ended by the name of what a build remembers, and a mistyped host has no state.
        let has_state = |name: &str| state.join(format!("{name}{STATE}")).is_file();
        report.sites = sites
            .filter(|site| site.has_ended() || !site.name.ends_with(OF_BUILDS))
            .filter(|site| has_state(&site.name) && is_wanted(site))
            .collect();
    }
    Ok(report)
}

/// Reports what is wrong with sites.
fn report_faults(faults: &[String], output: &Output) -> ExitCode {
    for fault in faults {
        output.error(fault);
    }
    if faults.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Invalid
    }
}

fn zone_of(settings: &SessionSettings) -> Zone {
    settings.time_zone.clone().map_or_else(Zone::default, Zone)
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
    (state, names): (&Path, &Names),
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
    // A site may have a folder of its own.
    let known = if site.settings.state == *state {
        names.site_of(&site.settings, &site.start)
    } else {
        site_of_start(&site.settings, &site.start).unwrap_or_else(|error| {
            output.warn(&with_causes(&error));
            as_typed
        })
    };
    let known = known.site;
    let mut status = SiteStatus {
        name: if is_named {
            site.name.clone()
        } else {
            known.name()
        },
        running_since,
        is_named,
        start: Some(site.start.to_string()),
        schedule: schedule.map(|schedule| schedule.text().to_owned()),
        next: next.flatten(),
        since: past.map(|past| past.since),
        time_zone: zone_of(&site.settings),
        ..SiteStatus::default()
    };
    let last_session = site.settings.last_session_of(&known);
    add_files(
        &mut status,
        &last_session,
        &site.settings.state_of(&known),
        output,
    );
    status
}

/// A site that the folder of the states knows as `name`.
fn known(settings: &SessionSettings, name: &str, output: &Output) -> SiteStatus {
    let mut status = SiteStatus {
        name: name.to_owned(),
        time_zone: zone_of(settings),
        ..SiteStatus::default()
    };
    let file = |ending| settings.state.join(format!("{name}{ending}"));
    add_files(&mut status, &file(LAST_SESSION), &file(STATE), output);
    status
}

/// Adds what the files of a site have.
fn add_files(status: &mut SiteStatus, last_session: &Path, state: &Path, output: &Output) {
    if let Err(error) = status.read_last_session(last_session) {
        let path = last_session.display();
        output.warn(&format!("failed to read {path}: {error}"));
    }
    status.read_session_under_way(state);
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
