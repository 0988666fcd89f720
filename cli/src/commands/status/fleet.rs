//! `arpent status --catalogue`: counts of a fleet, its workers, and the sites that need somebody.

use crawler::catalogue::{FleetStatus, SiteRow, SiteState};
use jiff::Timestamp;
use serde_json::json;

use super::{max_age, relative};
use crate::{
    args::StatusArgs,
    commands::{
        catalogue::{open, url_of},
        dependencies,
        runtime::{self, Threads},
    },
    exit_code::ExitCode,
    failure, human,
    output::{Output, Paint},
    settings::Environment,
};

/// Sites that are listed by their names, of each kind.
const MAX_NAMED: u32 = 20;

/// Runs `arpent status --catalogue`.
///
/// # Errors
/// The settings make no sense, or the catalogue cannot be reached or has other tables.
pub(super) fn run(
    args: &StatusArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let max_age = args.max_age.as_deref().map(max_age).transpose()?;
    let url = url_of(args.typed(), environment, output)?;
    let now = dependencies::clock(environment).now();
    let fleet = runtime::run(Threads::One, async {
        let catalogue = open(&url).await?;
        Ok(FleetView {
            status: catalogue.status().await?,
            set_aside: catalogue
                .list("", MAX_NAMED, Some(SiteState::SetAside))
                .await?,
            late: match max_age {
                Some(age) => Some(catalogue.late(age, MAX_NAMED).await?),
                None => None,
            },
        })
    })?;
    if args.json {
        output.data_json(&fleet.document(now).to_string());
    } else {
        fleet.print(now, output);
    }
    Ok(fleet.judge(now, output))
}

/// The shown part of a fleet.
struct FleetView {
    status: FleetStatus,
    /// The first sites that are set aside.
    set_aside: Vec<SiteRow>,
    /// The first sites that are late; `None` without `--max-age`.
    late: Option<Vec<SiteRow>>,
}

impl FleetView {
    fn count(&self) -> u64 {
        self.status.sites.values().sum()
    }

    fn document(&self, now: Timestamp) -> serde_json::Value {
        let status = &self.status;
        let sites = SiteState::ALL.map(|state| {
            let count = status.sites.get(&state).copied().unwrap_or_default();
            (state.as_str().to_owned(), count.into())
        });
        let workers = status.workers.iter().map(|worker| {
            json!({
                "name": worker.name,
                "version": worker.version,
                "began": worker.began,
                "seen": worker.seen,
                "lost": worker.is_lost,
                "sites": worker.sites,
                "draining": worker.is_draining,
                "ready": worker.is_ready,
            })
        });
        let oldest_due = status.oldest_due.as_ref();
        let oldest_due =
            oldest_due.map(|(host, since)| json!({ "host": host.as_str(), "since": since }));
        let set_aside = self.set_aside.iter();
        let set_aside =
            set_aside.map(|site| json!({ "name": site.name, "reason": site.set_aside }));
        let mut document = json!({
            "version": 1,
            "now": now,
            "sites": serde_json::Map::from_iter(sites),
            "outcomes": status.outcomes,
            "leased_hosts": status.leased_hosts,
            "oldest_due": oldest_due,
            "workers": workers.collect::<Vec<_>>(),
            "set_aside": set_aside.collect::<Vec<_>>(),
        });
        if let Some(late) = &self.late {
            let late = late.iter();
            let late = late.map(|site| json!({ "name": site.name, "last_good": site.published }));
            document["late"] = late.collect();
        }
        document
    }

    fn print(&self, now: Timestamp, output: &Output) {
        let status = &self.status;
        let of_states = status.sites.iter();
        let of_states = of_states.map(|(state, count)| (state.as_str(), *count));
        let sites = human::count(self.count(), "site");
        output.data_painted(&[(Paint::Bold, &listed(&sites, of_states))]);
        let outcomes = status.outcomes.iter();
        let outcomes = outcomes.map(|(outcome, count)| (outcome.as_str(), *count));
        if !status.outcomes.is_empty() {
            output.data(&listed("last sessions", outcomes));
        }
        let queue = match &status.oldest_due {
            Some((host, since)) => {
                format!("{} is due since {}", host.as_str(), relative(*since, now))
            }
            None => "none is due".to_owned(),
        };
        let leased = human::count(status.leased_hosts, "host");
        output.data(&format!("{leased} leased to workers; {queue}"));
        let lost = status.workers.iter().filter(|worker| worker.is_lost);
        let lost = Some(("lost", lost.count() as u64)).filter(|(_, count)| *count > 0);
        let workers = human::count(status.workers.len() as u64, "worker");
        output.data(&listed(&workers, lost.into_iter()));
        for worker in &status.workers {
            let seen = relative(worker.seen, now);
            if worker.is_lost {
                let lost = format!(
                    "  {}: lost, last seen {seen}; its hosts are free when its leases have ended",
                    worker.name
                );
                output.data_painted(&[(Paint::Error, &lost)]);
                continue;
            }
            let state = match (worker.is_draining, worker.is_ready) {
                (true, _) => ", is stopping",
                (false, true) => "",
                (false, false) => ", not ready: its storage does not answer",
            };
            output.data(&format!(
                "  {}: {}, version {}, seen {seen}{state}",
                worker.name,
                human::count(worker.sites.into(), "site"),
                worker.version,
            ));
        }
        if self.set_aside.is_empty() {
            return;
        }
        output.data_painted(&[(Paint::Error, "set aside:")]);
        for site in &self.set_aside {
            let reason = site.set_aside.as_deref().unwrap_or_default();
            output.data(&format!("  {}: {reason}", site.name));
        }
        let all = status.sites.get(&SiteState::SetAside);
        let all = all.copied().unwrap_or_default();
        let more = all.saturating_sub(self.set_aside.len() as u64);
        if more > 0 {
            output.data(&format!(
                "  and {} more; arpent catalogue list --state set-aside lists all",
                human::number(more)
            ));
        }
    }

    /// Reports the sites that are late. Without any site there is no set that could be new enough.
    fn judge(&self, now: Timestamp, output: &Output) -> ExitCode {
        let Some(late) = &self.late else {
            return ExitCode::Success;
        };
        for site in late {
            let good = match site.published {
                Some(time) => format!("the last good session ended {}", relative(time, now)),
                None => "no good session since the site was added".to_owned(),
            };
            output.error(&format!("{}: {good}", site.name));
        }
        if self.count() == 0 {
            output.error("the catalogue has no site");
        } else if late.is_empty() {
            return ExitCode::Success;
        }
        ExitCode::Invalid
    }
}

/// A line with counts by their words.
fn listed<'w>(what: &str, counts: impl Iterator<Item = (&'w str, u64)>) -> String {
    let counts = counts.map(|(word, count)| format!("{} {word}", human::number(count)));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return what.to_owned();
    }
    format!("{what}: {}", counts.join(", "))
}
