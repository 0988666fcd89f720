//! `arpent pause` and `arpent resume`: sites that the daemon, or the fleet, leaves alone.

#[cfg(feature = "catalogue")]
mod fleet;

use std::sync::Arc;

use crawler::{
    driver::has_daemon,
    site_run::{Pause, Pauses, change_pauses, is_name_of},
    store::StoreError,
};
use jiff::{Timestamp, civil, tz::TimeZone};

use super::{crawl::load, dependencies};
use crate::{
    args::{PauseArgs, ResumeArgs},
    exit_code::ExitCode,
    failure::{self, Misuse},
    output::Output,
    settings::{
        CrawlSettings, Environment, Purpose, SiteSettings, duration, options::Typed, with_scheme,
    },
};

/// Runs `arpent pause`.
///
/// # Errors
/// The settings make no sense or do not name a site, or the pauses cannot be written.
pub(super) fn pause(
    args: &PauseArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = &args.settings.0;
    let settings = load(Purpose::Look, typed.clone(), environment)?;
    let now = dependencies::clock(environment).now();
    let zone = settings.shared.session.time_zone.clone();
    let until = args.until.as_deref();
    let until = until.map(|text| time_of(text, zone.unwrap_or(TimeZone::UTC), now));
    let pause = Pause {
        since: now,
        until: until.transpose()?,
        reason: args.reason.clone(),
    };
    if has_catalogue(typed, environment)? {
        return in_fleet(typed, &args.sites, Some(&pause), environment, output);
    }
    change_sites(&settings, &args.sites, Some(&pause), now, output)?;
    if !has_daemon(&settings.shared.session.state) {
        output.info(
            "no arpent daemon runs with this state; arpent crawl leaves out paused sites, unless their URLs are typed",
        );
    }
    Ok(ExitCode::Success)
}

/// Runs `arpent resume`.
///
/// # Errors
/// As [`pause`].
pub(super) fn resume(
    args: &ResumeArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = &args.settings.0;
    if has_catalogue(typed, environment)? {
        return in_fleet(typed, &args.sites, None, environment, output);
    }
    if args.set_aside {
        let message = "--set-aside: expected a catalogue, by --catalogue or the settings file";
        return Err(Misuse(message.to_owned()).into());
    }
    let settings = load(Purpose::Look, typed.clone(), environment)?;
    let now = dependencies::clock(environment).now();
    change_sites(&settings, &args.sites, None, now, output)?;
    Ok(ExitCode::Success)
}

#[cfg(feature = "catalogue")]
use self::fleet::in_fleet;

/// This program was built without the catalogue.
#[cfg(not(feature = "catalogue"))]
fn in_fleet(
    _: &Typed,
    _: &[String],
    _: Option<&Pause>,
    _: &Environment,
    _: &Output,
) -> failure::Result<ExitCode> {
    Err(super::catalogue::missing())
}

/// Returns whether the sites are those of a catalogue.
fn has_catalogue(typed: &Typed, environment: &Environment) -> failure::Result<bool> {
    let of_worker = load(Purpose::Worker, typed.clone(), environment)?;
    Ok(of_worker.shared.fleet.catalogue.is_some())
}

/// Pauses the sites with these names, or without a pause resumes them.
fn change_sites(
    settings: &CrawlSettings,
    names: &[String],
    pause: Option<&Pause>,
    now: Timestamp,
    output: &Output,
) -> failure::Result<()> {
    let sites = sites_of(settings, names)?;
    let state = &settings.shared.session.state;
    let mut lines = Vec::new();
    let change = |pauses: &mut Pauses| {
        for site in sites {
            let done = match pause {
                Some(pause) => {
                    pauses.insert(site.name.clone(), pause.clone());
                    pause.text()
                }
                None if pauses.remove(&site.name).is_some() => "resumed".to_owned(),
                None => "not paused".to_owned(),
            };
            lines.push(format!("{}: {done}", title_of(site)));
        }
    };
    change_pauses(state, now, change).map_err(|error| {
        let message = format!("failed to write the pauses in {}", state.display());
        StoreError::of_io(message, error)
    })?;
    for line in &lines {
        output.data(line);
    }
    Ok(())
}

/// The name that the settings have for a site, or its start URL.
fn title_of(site: &SiteSettings) -> &str {
    if site.name == site.foreseen().name() {
        site.start.as_str()
    } else {
        &site.name
    }
}

/// The sites that were typed.
fn sites_of<'s>(
    settings: &'s CrawlSettings,
    typed: &[String],
) -> Result<Vec<&'s Arc<SiteSettings>>, Misuse> {
    let find = |typed: &String| {
        let url = with_scheme(typed);
        let is_meant = |site: &SiteSettings| {
            let is_name = |text| is_name_of(text, &site.name, site.start.as_str());
            is_name(typed) || is_name(&url)
        };
        let mut sites = settings.sites.iter();
        sites.find(|site| is_meant(site)).ok_or_else(|| {
            let names: Vec<_> = settings.sites.iter().map(|site| title_of(site)).collect();
            let expected = match names.as_slice() {
                [] => "the settings name no site; expected --config with the file of the daemon"
                    .to_owned(),
                names => format!("expected one of {}", names.join(", ")),
            };
            Misuse(format!("{typed}: no such site; {expected}"))
        })
    };
    typed.iter().map(find).collect()
}

/// The time that was typed, in the time zone of the settings.
///
/// # Errors
/// It is no time, or one that has passed.
pub(super) fn time_of(text: &str, zone: TimeZone, now: Timestamp) -> Result<Timestamp, Misuse> {
    let wrong = |problem: &str| Misuse(format!("--until: {problem}, found \"{text}\""));
    let local = || {
        let time = text.parse::<civil::DateTime>();
        let time = time.or_else(|_| text.parse::<civil::Date>().map(|date| date.at(0, 0, 0, 0)));
        time.ok()?.to_zoned(zone).ok().map(|time| time.timestamp())
    };
    let later = || now.checked_add(duration(text)?).ok();
    let time = text.parse::<Timestamp>().ok().or_else(local).or_else(later);
    let time = time.ok_or_else(|| {
        wrong("expected a time such as 2026-12-24 or 2026-12-24T08:00, or a duration such as 3d")
    })?;
    if time <= now {
        return Err(wrong("expected a time to come"));
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_zone_of_the_settings() {
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        let check = |text: &str, expected: Option<&str>| {
            let zone = TimeZone::get("Europe/Paris").unwrap();
            let time = time_of(text, zone, now).ok().map(|time| time.to_string());
            assert_eq!(time.as_deref(), expected, "{text}");
        };
        check("2026-12-24", Some("2026-12-23T23:00:00Z"));
        check("2026-12-24T08:00", Some("2026-12-24T07:00:00Z"));
        check("2026-12-24T08:00:00+05:00", Some("2026-12-24T03:00:00Z"));
        check("3d", Some("2026-12-03T12:00:00Z"));
        check("2026-11-30", None);
        check("tomorrow", None);
    }
}
